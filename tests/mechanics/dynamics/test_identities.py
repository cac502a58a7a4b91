"""Identities on random mechanisms with loops of every joint and constraint type, by complex step."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.joints import JOINTS
from linkwright.mechanics.constraints import loops as cl
from linkwright.mechanics.dynamics import tree as dyn
from linkwright.mechanics.kinematics.motion import accelerations, joint_coordinates, joint_rate, motion, qdot
from tests import factory

STEP = 1e-30
CLOSING = [k for k in JOINTS if k != "free"]


def mechanism(kind, seed, planar=False):
    rng = np.random.default_rng(seed)
    tree = factory.random_tree(rng, 5, factory.PLANAR if planar else factory.SPATIAL, planar)
    return factory.with_loops(rng, tree, [kind, "revolute"], planar, rods=1), rng


CASES = [(k, s, False) for k in CLOSING for s in range(3)] + [(k, s, True) for k in factory.PLANAR for s in range(2)]


@pytest.mark.parametrize(("kind", "seed", "planar"), CASES)
def test_closed_by_construction(kind, seed, planar):
    mech, _ = mechanism(kind, seed, planar)
    c = cl.closure(mech.skel, motion(mech.skel, mech.q, mech.v), mech.v)
    np.testing.assert_allclose(c.phi, 0.0, atol=1e-11)  # poses of size ten, a dozen multiplications deep


@pytest.mark.parametrize(("kind", "seed", "planar"), CASES)
def test_phi_J_k_are_derivatives_where_the_loops_are_open(kind, seed, planar):
    """d phi/dt = J v and d(J v)/dt = J a + k at a state off the loops."""
    mech, rng = mechanism(kind, seed, planar)
    skel, q, v, a = mech.skel, mech.q + 0.2 * rng.normal(size=mech.skel.tree.nq), mech.v, rng.normal(size=mech.skel.tree.nv)
    q = _on_quaternions(skel, q)
    c = cl.closure(skel, motion(skel, q, v), v)
    qc, vc = q + 1j * STEP * qdot(skel, q, v), v + 1j * STEP * a
    cc = cl.closure(skel, motion(skel, qc, vc), vc)
    scale = 1 + np.abs(c.k).max()
    np.testing.assert_allclose(c.J @ v + c.b, cc.phi.imag / STEP, atol=1e-11 * scale)
    np.testing.assert_allclose(c.J @ a + c.k, (cc.J @ vc).imag / STEP, atol=1e-11 * scale)


def _on_quaternions(skel, q):
    q = q.copy()
    for jt, n in zip(skel.types, skel.tree.nodes, strict=True):
        if "quaternion" in jt.coordinate_kinds:
            part = q[n.q]
            part[:4] /= np.linalg.norm(part[:4])
            q[n.q] = part
    return q


@pytest.mark.parametrize("seed", range(6))
def test_accelerations_of_bodies_are_derivatives_of_their_twists(seed):
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 6)
    a = rng.normal(size=t.skel.tree.nv)
    m = motion(t.skel, t.q, t.v)
    mc = motion(t.skel, t.q + 1j * STEP * qdot(t.skel, t.q, t.v), t.v + 1j * STEP * a)
    for A, V in zip(accelerations(t.skel, m, a), mc.V, strict=True):
        np.testing.assert_allclose(A, V.imag / STEP, atol=1e-10)  # twists of order 1e2 in long chains


@pytest.mark.parametrize("kind", CLOSING)
def test_a_cut_joint_can_be_read(kind):
    """Coordinates and speeds of a cut joint agree with each other along the motion."""
    mech, _ = mechanism(kind, 5)
    skel, joint = mech.skel, mech.skel.tree.description.joint("C0")
    near = skel.start_coordinates["C0"]
    m = motion(skel, mech.q, mech.v)
    c = cl.closure(skel, m, mech.v)
    v = mech.v - np.linalg.pinv(c.J) @ (c.J @ mech.v)  # a velocity on the loops
    if np.linalg.norm(v) < 1e-6:
        v = mech.v  # no freedom left: the reading formula is tested off the loops below only for tree joints
        joint = skel.tree.nodes[0].joint
        near = skel.start_coordinates[joint.name]
    mc = motion(skel, mech.q + 1j * STEP * qdot(skel, mech.q, v), v.astype(complex))
    rate = joint_rate(skel, motion(skel, mech.q, v), joint, near).v
    q_rate = np.asarray(joint_coordinates(skel, mc, joint, near), complex).imag / STEP
    from linkwright.joints import create

    jt = create(joint.type, joint.options)
    q_now = joint_coordinates(skel, m, joint, near)
    np.testing.assert_allclose(jt.qdot(q_now, rate), q_rate, atol=1e-9 * (1 + np.abs(rate).max()) if jt.nv else 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_tree_dynamics_identities(seed):
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 7, chain=0.5)
    skel, q, v = t.skel, t.q, t.v
    m = motion(skel, q, v)
    M, h = dyn.mass_matrix(skel, m), dyn.bias_force(skel, m)
    scale = np.abs(M).max()
    assert np.allclose(dyn.kinetic_energy(skel, m), 0.5 * v @ M @ v, rtol=1e-12)
    np.testing.assert_allclose(M, M.T, atol=1e-12 * scale)
    tau = rng.normal(size=skel.tree.nv)
    external = [(i, rng.normal(size=6)) for i in range(len(skel.tree.nodes))]
    a = dyn.forward_tree(skel, m, tau, external)
    # the recursion and the dense solve may differ by the conditioning of M
    tol = 1e-13 * np.linalg.cond(M) * (1 + np.abs(a).max())
    np.testing.assert_allclose(a, np.linalg.solve(M, tau + dyn.generalized(skel, m, external) - h), atol=tol)
    np.testing.assert_allclose(dyn.inverse_tree(skel, m, a, external), tau, atol=1e-10 * (1 + np.abs(M @ a).max()))


@pytest.mark.parametrize("seed", range(5))
def test_power_balance(seed):
    """d/dt (T + U) = v . tau, by complex step along the motion that tau causes."""
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 6)
    skel, q, v = t.skel, t.q, t.v
    tau = rng.normal(size=skel.tree.nv)
    a = dyn.forward_tree(skel, motion(skel, q, v), tau)
    mc = motion(skel, q + 1j * STEP * qdot(skel, q, v), v + 1j * STEP * a)
    rate = (dyn.kinetic_energy(skel, mc) + dyn.potential_energy(skel, mc)).imag / STEP
    size = np.abs(dyn.mass_matrix(skel, motion(skel, q, v)) @ a).max() * np.abs(v).max()
    assert abs(rate - v @ tau) < 1e-11 * max(1.0, size)


@pytest.mark.parametrize("seed", range(3))
def test_momentum_rate_is_external_force_plus_what_ground_gives(seed):
    """A free body: linear and angular momentum change by gravity and the applied wrench only."""
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 1, ("free",))
    skel, q, v = t.skel, t.q, t.v
    m = motion(skel, q, v)
    wrench = rng.normal(size=6)
    a = dyn.forward_tree(skel, m, np.zeros(6), [(0, wrench)])
    mc = motion(skel, q + 1j * STEP * qdot(skel, q, v), v + 1j * STEP * a)
    linear, angular = (x.imag / STEP for x in dyn.momentum(skel, mc, about=skel.origins[0]))
    weight = skel.mass[0] * skel.gravity
    arm = m.X[0].point(skel.com[0])
    np.testing.assert_allclose(linear, wrench[3:] + weight, atol=1e-10)
    np.testing.assert_allclose(angular, wrench[:3] + np.cross(arm, weight), atol=1e-10)
