"""Every joint type of the registry against its own pose, by complex step: a new joint is tested at once."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.joints import JOINTS, create, grouped
from linkwright.numerics.spatial import cross, quaternion_rotation, skew

STEP = 1e-30  # complex step: no subtraction, so the derivative is exact to round-off
EXACT = 1e-12  # a few dozen roundings of numbers of order one
KINDS = sorted(JOINTS)


def joint(kind):
    return create(kind, tuple((name, 0.13) for name in JOINTS[kind].options))


def state(kind, seed):
    rng = np.random.default_rng(seed)
    j = joint(kind)
    q = rng.uniform(-1, 1, j.nq)
    if "quaternion" in j.coordinate_kinds:
        q[:4] /= np.linalg.norm(q[:4])
    return j, q, rng.normal(size=j.nv), rng


def twist_of(R, p, dR, dp):
    """[w; velocity of the point of M at F's origin] from a pose and its rate."""
    W = dR @ R.T
    w = np.array([W[2, 1], W[0, 2], W[1, 0]])
    return np.concatenate([w, dp - cross(w, p)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_subspace_is_the_derivative_of_the_pose(kind, seed):
    j, q, v, _ = state(kind, seed)
    R, p = (np.asarray(x, complex) for x in j.pose(q + 1j * STEP * j.qdot(q, v)))
    expected = twist_of(R.real, p.real, R.imag / STEP, p.imag / STEP)
    np.testing.assert_allclose(j.subspace(q) @ v, expected, atol=EXACT)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_bias_is_the_derivative_of_the_subspace(kind, seed):
    j, q, v, _ = state(kind, seed)
    S = np.asarray(j.subspace(q + 1j * STEP * j.qdot(q, v)), complex)
    np.testing.assert_allclose(j.bias(q, v), (S.imag / STEP) @ v, atol=EXACT)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_invert_the_pose(kind, seed):
    j, q, _, rng = state(kind, seed)
    if "angle" in j.coordinate_kinds and kind != "screw":
        q = np.array([x + 2 * np.pi * rng.integers(-3, 4) if k == "angle" else x for x, k in zip(q, j.coordinate_kinds, strict=True)])
    R, p = j.pose(q)
    near = q + 0.4 * rng.uniform(-1, 1, j.nq)
    np.testing.assert_allclose(j.coordinates(R, p, near), q, atol=1e-9)  # acos-free, but atan2 near its branch loses digits


@pytest.mark.parametrize("kind", KINDS)
def test_closed_joint_has_zero_residual_and_orthonormal_rows(kind):
    """At a closed joint the rows are unit directions, so multipliers are newtons and newton meters."""
    j, q, _v, _ = state(kind, 7)
    R, p = j.pose(q)
    np.testing.assert_allclose(j.residual(R, p, q), 0.0, atol=1e-12)
    rows = j.gradient(R, p)[: -1 if kind == "screw" else None]  # a screw's travel row mixes angle and length by its pitch
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)
    # rows annihilate the joint's own motion: [w; u] of M's origin from the twist at F
    S = j.subspace(q)
    motion = np.concatenate([S[:3], S[3:] - skew(p) @ S[:3]])
    np.testing.assert_allclose(j.gradient(R, p) @ motion, 0.0, atol=1e-12)
    assert len(j.rows) + j.nv == 6


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_and_curvature_are_exact_where_the_joint_is_open(kind, seed):
    """phi along a curve R(t), p(t) with w, u and their rates: first and second derivative by complex step."""
    j, _, _, rng = state(kind, seed)
    R0, p0 = quaternion_rotation(np.array([1.0, *rng.uniform(-0.4, 0.4, 3)])), rng.normal(size=3)
    w, u, dw, du = (rng.normal(size=3) for _ in range(4))
    near = rng.normal(size=max(j.nq, 1))

    def at(t):
        """Pose and velocity to second order in t; exact to the order the derivatives need."""
        W = skew(w)
        R = R0 + t * (W @ R0) + 0.5 * t * t * ((skew(dw) + W @ W) @ R0)
        return R, p0 + t * u + 0.5 * t * t * du, w + t * dw, u + t * du

    R, p, _, _ = at(1j * STEP)
    rate = np.asarray(j.residual(R, p, near), complex).imag / STEP
    np.testing.assert_allclose(j.gradient(R0, p0) @ np.concatenate([w, u]), rate, atol=EXACT)
    R, p, wt, ut = at(1j * STEP)
    second = np.asarray(j.gradient(R, p) @ np.concatenate([wt, ut]), complex).imag / STEP
    ours = j.gradient(R0, p0) @ np.concatenate([dw, du]) + j.curvature(R0, p0, w, u)
    np.testing.assert_allclose(ours, second, atol=EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_hold_each_velocity_once_and_vectors_only_whole(kind):
    every = tuple(range(JOINTS[kind].nv))
    for left_out in (None, *every):
        entries = tuple(i for i in every if i != left_out)
        groups = grouped(JOINTS[kind], entries)
        assert sorted(i for group in groups for i in group) == list(entries)
        assert all(group in JOINTS[kind].vectors for group in groups if len(group) > 1)


def test_groups_of_joints_with_vectors():
    assert grouped(JOINTS["planar"], (0, 1, 2)) == ((0, 1), (2,))
    assert grouped(JOINTS["planar"], (1, 2)) == ((1,), (2,))
    assert grouped(JOINTS["free"], (0, 1, 2, 3, 4, 5)) == ((0, 1, 2), (3, 4, 5))
    assert grouped(JOINTS["free"], (0, 1, 2, 4)) == ((0, 1, 2), (4,))
