"""The papers' DeNOC matrices against the recursions: twists, inertia, Coriolis matrix and its skew property."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwright.mechanics.dynamics import tree as dyn
from linkwright.mechanics.kinematics.motion import motion, qdot
from linkwright.rings.papers.denoc import denoc, gravity_part, twist_propagation, twists
from tests import factory

MOVING = tuple(k for k in factory.SPATIAL if k != "fixed")
SHAPES = [("serial", 1.0), ("tree", 0.3)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("shape", "chain"), SHAPES)
def test_factors_reproduce_twists_inertia_and_bias(shape, chain, seed):
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 5, MOVING, chain=chain)
    skel, q, v = t.skel, t.q, t.v
    m = motion(skel, q, v)
    M, h = dyn.mass_matrix(skel, m), dyn.bias_force(skel, m)
    for s in skel.tree.subsystems:
        D = denoc(skel, q, v, s.index)
        qd = v[s.v]
        scale = 1 + np.abs(D.inertia).max() * (1 + np.abs(qd).max() ** 2)
        np.testing.assert_allclose(D.N_l @ D.N_d @ qd, twists(skel, m, s.index), atol=1e-10)  # twists of order 1e2
        np.testing.assert_allclose(D.inertia, M[s.v, s.v], atol=1e-12 * scale)
        np.testing.assert_allclose(D.coriolis @ qd, D.coriolis_of_the_papers @ qd, atol=1e-12 * scale)
        np.testing.assert_allclose(D.coriolis @ qd + gravity_part(skel, m, s.index), h[s.v], atol=1e-12 * scale)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("shape", "chain"), SHAPES)
def test_inertia_rate_minus_twice_coriolis_is_skew(shape, chain, seed):
    """d I/dt - 2 C skew, the rate of I taken by complex step on the mass matrix."""
    rng = np.random.default_rng(10 + seed)
    t = factory.random_tree(rng, 4, MOVING, chain=chain)
    skel, q, v = t.skel, t.q, t.v
    ahead = dyn.mass_matrix(skel, motion(skel, q + 1e-30j * qdot(skel, q, v), v.astype(complex)))
    for s in skel.tree.subsystems:
        X = ahead[s.v, s.v].imag / 1e-30 - 2 * denoc(skel, q, v, s.index).coriolis
        np.testing.assert_allclose(X + X.T, 0.0, atol=1e-11 * (1 + np.abs(X).max()))


def test_the_papers_factor_is_skew_where_origins_are_mass_centers():
    rng = np.random.default_rng(3)
    t = factory.random_tree(rng, 4, MOVING, chain=1.0)
    skel = replace(t.skel, com=tuple(np.zeros(3) for _ in t.skel.com))
    ahead = dyn.mass_matrix(skel, motion(skel, t.q + 1e-30j * qdot(skel, t.q, t.v), t.v.astype(complex)))
    X = ahead.imag / 1e-30 - 2 * denoc(skel, t.q, t.v, 0).coriolis_of_the_papers
    np.testing.assert_allclose(X + X.T, 0.0, atol=1e-11 * (1 + np.abs(X).max()))


def test_tree_subsystem_has_blocks_only_along_carriers():
    rng = np.random.default_rng(1)
    t = factory.random_tree(rng, 6, ("revolute",), chain=0.3)
    for s in t.skel.tree.subsystems:
        N_l = denoc(t.skel, t.q, t.v, s.index).N_l
        for a, i in enumerate(s.nodes):
            for b, j in enumerate(s.nodes):
                block = N_l[6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
                assert np.any(block) == (j in t.skel.tree.support(i))


def test_properties_of_twist_propagation():
    """[Chaudhary2007 (19)] for points anywhere, and what A does: velocities of two points of one turning body; powers stay."""
    rng = np.random.default_rng(7)
    i, j, k = rng.normal(size=(3, 3))

    def A(to, start):
        return twist_propagation(start, to)

    np.testing.assert_allclose(A(i, j) @ A(j, k), A(i, k), atol=1e-15)
    np.testing.assert_array_equal(A(i, i), np.eye(6))
    np.testing.assert_allclose(np.linalg.inv(A(i, j)), A(j, i), atol=1e-15)
    assert np.linalg.det(A(i, j)) == pytest.approx(1.0, abs=1e-14)
    w, v = rng.normal(size=(2, 3))
    np.testing.assert_allclose(A(i, j) @ [*w, *v], [*w, *(v + np.cross(w, i - j))], atol=1e-15)
    moment, force = rng.normal(size=(2, 3))
    moved = A(i, j).T @ [*moment, *force]  # a wrench at O_i, taken to O_j: its moment gains the lever's share  [Chaudhary2007 (12)]
    np.testing.assert_allclose(moved, [*(moment + np.cross(i - j, force)), *force], atol=1e-15)


def test_blocks_of_the_complement_are_products_along_the_chain():
    """N_l has A_ik = A_ij A_jk wherever k carries j and j carries i."""
    t = factory.random_tree(np.random.default_rng(5), 6, MOVING, chain=0.5)
    tree, D = t.skel.tree, denoc(t.skel, t.q, t.v, 0)
    nodes = tree.subsystems[0].nodes

    def block(a, b):
        i, j = nodes.index(a), nodes.index(b)
        return D.N_l[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]

    for a in nodes:
        for b in tree.support(a):
            for c in tree.support(b):
                np.testing.assert_allclose(block(a, b) @ block(b, c), block(a, c), atol=1e-12)  # places of some meters
