"""Excitation: within limits, loops closed, better conditioned than random motions, and good for an identification."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw

LIMITS = {n: {"position": ("40 deg", "140 deg"), "speed": "3 rad/s", "torque": "0.6 N m"} for n in ("A", "E")}


def test_limits_hold_and_the_condition_falls() -> None:
    m = lw.load("five-bar")
    e = lw.excitation(m, duration="3 s", harmonics=3, limits=LIMITS, tries=10, evaluations=80)
    c = e.trajectory(300)
    for name in ("A", "E"):
        assert np.radians(40.0) < c[name].min() < c[name].max() < np.radians(140.0)
        assert np.abs(c[f"{name}.v"]).max() < 3.0
        assert np.abs(c[f"{name}.torque"]).max() < 0.6
        assert np.abs([c[f"{name}.v"][0], c[f"{name}.a"][0], c[f"{name}.v"][-1]]).max() < 1e-9  # from rest to rest
    assert e.condition < e.first
    found = lw.identify(m, c)
    assert found.condition == pytest.approx(e.condition, rel=0.05)  # the same motion at other samples
    assert found.names and len(found.names) == len(e.groups)


def test_same_seed_same_motion() -> None:
    m = lw.load("five-bar")
    one, two = (lw.excitation(m, duration=2.0, harmonics=2, tries=3, evaluations=5, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.series.A, two.series.A)
