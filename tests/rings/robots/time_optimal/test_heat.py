"""Search of the weight of losses, and RMS limits of two drives of which one is cool only in motion."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.robots.time_optimal.least_energy import EffortTerms
from linkwright.rings.robots.time_optimal.path_segment import MET_SHARE, _cool, _weighed
from linkwright.rings.robots.time_optimal.reachability import LimitRows, SpeedProfile, fastest_profile
from tests.refusals import refused


@pytest.mark.parametrize("root", [-6.3, -0.4, 0.2, 2.9, 10.0])
def test_search_of_a_weight_solves_no_problem_twice(root: float) -> None:
    """A value that is steep on one side of its root, as durations over weights are; the profile returned is the one of that value."""
    asked: list[float] = []

    def grows(exponent: float) -> tuple[float, SpeedProfile]:
        asked.append(exponent)
        x = np.array([exponent])
        return float(np.expm1(0.7 * (exponent - root))), SpeedProfile(x, x, x, x)

    value, found = _weighed(grows)
    assert 0.0 <= value < MET_SHARE and value == pytest.approx(np.expm1(0.7 * (found.x[0] - root)))
    assert len(asked) == len(set(asked)) and len(asked) < 20


def cooled(allowed: tuple[float, float]) -> SpeedProfile:
    """A path of length 1 with |s''| <= 10. Efforts: s'' of the first drive, 1 - 0.2 s'^2 of the second, which is warmest at rest."""
    s = np.linspace(0.0, 1.0, 81)
    one, zero = np.ones((81, 1)), np.zeros((81, 1))
    rows = LimitRows(np.hstack([one, -one]), np.hstack([zero, zero]), np.hstack([10.0 * one, 10.0 * one]), np.array([0, 0]))
    e = EffortTerms(np.hstack([one, zero]), np.hstack([zero, -0.2 * one]), np.hstack([zero, one]))
    return _cool(rows, e, fastest_profile(rows, s, 1e6), np.array(allowed), 0.0, ["first", "second"])


def test_a_drive_that_is_warm_at_rest_does_not_forbid_a_motion() -> None:
    """Least loss of the first drive: s'' linear in time, RMS sqrt(12) / T^2. At 6 the RMS of the second is 0.64, at rest 1."""
    found = cooled((6.0, 0.8))
    assert found.time == pytest.approx((12.0 / 36.0) ** 0.25, rel=5e-3)  # 80 intervals


def test_a_drive_that_is_too_warm_in_every_motion_is_named() -> None:
    with refused(lw.UsageError, name="second"):
        cooled((6.0, 0.3))
