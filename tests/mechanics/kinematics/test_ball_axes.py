"""Ball joints whose bodies have axes of their own: the same motion and the same equations as in the joint's frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.kinematics.motion import motion, turned_axes
from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.numerics.spatial import quaternion_product, quaternion_rotation

DIGITS = 1e-13  # lengths of a meter, some dozen operations an entry


@pytest.fixture(scope="module")
def skel() -> Skeleton:
    return compiled_of(lw.load("delta").system).loops.skel


@pytest.fixture(scope="module")
def state(skel: Skeleton) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = rng.normal(size=skel.tree.nq)
    balls = skel.turns[0]
    q[balls] /= np.linalg.norm(q[balls], axis=1, keepdims=True)
    return q, rng.normal(size=skel.tree.nv)


def test_rods_have_their_own_axes_and_others_the_joints(skel: Skeleton) -> None:
    assert [n.body for n, x in zip(skel.tree.nodes, skel.ball_axes, strict=True) if x is not None] == [f"rod{i}" for i in range(1, 7)]
    for i, axes in enumerate(skel.ball_axes):
        if axes is not None:
            np.testing.assert_array_equal(skel.com_N[i][1:], 0.0)
            np.testing.assert_array_equal(skel.inertia_N[i], np.diag(np.diag(skel.inertia_N[i])))
            np.testing.assert_allclose(quaternion_rotation(axes.q), axes.R, atol=DIGITS)
    assert all(x is None for x in compiled_of(lw.load("stewart").system).loops.skel.ball_axes)  # universal joints, and cut balls


def test_motion_and_inertia_are_those_in_the_joints_frames(skel: Skeleton, state: tuple[np.ndarray, np.ndarray]) -> None:
    plain = replace(skel, ball_axes=(None,) * len(skel.types))
    here, there = motion(skel, *state), motion(plain, *state)
    for i in range(len(skel.types)):
        for a, b in zip((*here.X[i], here.V[i], here.A[i], here.S[i]), (*there.X[i], there.V[i], there.A[i], there.S[i]), strict=True):
            np.testing.assert_allclose(a, b, atol=DIGITS * max(1.0, np.abs(b).max()))
    np.testing.assert_allclose(dynamics.mass_matrix(skel, here), dynamics.mass_matrix(plain, there), atol=DIGITS)
    np.testing.assert_allclose(dynamics.bias_force(skel, here), dynamics.bias_force(plain, there), atol=100 * DIGITS)  # speeds squared


def test_turned_axes_lead_from_the_joints_to_their_own(skel: Skeleton, state: tuple[np.ndarray, np.ndarray]) -> None:
    q, v = state
    here, there = motion(skel, q, v, world_axes=True), motion(skel, q, v)
    turned = np.eye(skel.tree.nv)
    for span, R in turned_axes(skel, here):
        turned[span, span] = R
    economical, standard = dynamics.mass_matrix(skel, here), dynamics.mass_matrix(skel, there)
    np.testing.assert_allclose(turned.T @ economical @ turned, standard, atol=DIGITS)


def test_a_product_of_quaternions_is_one_rotation_after_the_other() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 4))
    product = quaternion_rotation(quaternion_product(a, b))
    np.testing.assert_allclose(product, quaternion_rotation(a) @ quaternion_rotation(b), atol=1e-14)
