"""Moments of inertia that no body can have: the smallest is raised by what is missing, the others and all axes stay."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from linkwright.rings.exchange.writing.inertia import _raised


def body(I: np.ndarray) -> np.ndarray:
    """Principal moments as MuJoCo takes them, largest first; it refuses A + B < C."""
    entries = " ".join(repr(float(I[i, j])) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    text = f'<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" fullinertia="{entries}"/></body></worldbody></mujoco>'
    return mujoco.MjModel.from_xml_string(text).body_inertia[1]


def test_the_smallest_moment_is_raised_by_what_is_missing(rng: np.random.Generator) -> None:
    """1 + 2 < 4: the least change of the moments' largest error that leaves C, the best known of a flat body, is A = C - B."""
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    I = (axes * [1.0, 2.0, 4.0]) @ axes.T
    with pytest.raises(ValueError, match="inertia"):
        body(I)
    mass, found, raised = _raised(1.0, I, 0.0, 0.0, True)
    np.testing.assert_allclose(body(found), [4.0, 2.0, 2.0], rtol=1e-9)
    np.testing.assert_allclose(np.diag(axes.T @ found @ axes), [2.0, 2.0, 4.0], rtol=1e-9)
    np.testing.assert_allclose(found - I, np.outer(axes[:, 0], axes[:, 0]), atol=1e-9)  # only about its own axis
    assert mass == 1.0 and not raised


def test_moments_that_a_body_can_have_stay() -> None:
    I = np.diag([3.0, 2.0, 4.0])
    assert _raised(1.0, I, 0.0, 0.0, True)[1] is I
    assert _raised(1.0, np.diag([1.0, 2.0, 4.0]), 0.0, 0.0, False)[1].tolist() == np.diag([1.0, 2.0, 4.0]).tolist()
