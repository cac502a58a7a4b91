"""Goals and constraints as text: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.text.goals import Goal, Requirement


def test_a_goal_has_a_direction_and_a_measure() -> None:
    found = Goal.parse("min  rms A.torque")
    assert (found.sign, found.text) == (1.0, "min rms A.torque")
    assert [(t.weight, t.what) for t in found.terms] == [(1.0, "rms A.torque")]
    assert Goal.parse("max min C.transmission_angle").sign == -1.0
    assert Goal.parse("maximize mean A.power").sign == -1.0


def test_sums_have_weights_and_divisors() -> None:
    found = Goal.parse("min 2 * rms A.torque + max C.load / 200 N - 1e-3 * range guide")
    assert [t.what for t in found.terms] == ["rms A.torque", "max C.load", "range guide"]
    assert np.allclose([t.weight for t in found.terms], [2.0, 1.0 / 200.0, -1e-3], rtol=1e-15)
    assert found.terms[1].divisor is not None and found.terms[0].divisor is None


def test_ranges_of_a_window_are_no_sums() -> None:
    found = Goal.parse("min range guide while -10..180 deg")
    assert [t.what for t in found.terms] == ["range guide while -10..180 deg"]


def test_straightness_is_minimized_without_being_asked() -> None:
    assert Goal.parse("straight coupler.P while 100..180 deg").sign == 1.0
    assert Goal.parse("distance coupler.P to points.csv").sign == 1.0


@pytest.mark.parametrize(
    ("text", "what", "low", "high", "unit"),
    [
        ("C.transmission_angle > 40 deg", "C.transmission_angle", 40.0, np.inf, "deg"),
        ("range guide < 1 mm while 100..180 deg", "range guide while 100..180 deg", -np.inf, 1.0, "mm"),
        ("range guide while 100..180 deg <= 1 mm", "range guide while 100..180 deg", -np.inf, 1.0, "mm"),
        ("stroke guide = 100 mm +- 0.5 mm", "stroke guide", 99.5, 100.5, "mm"),
        ("stroke guide = 100 mm", "stroke guide", 100.0, 100.0, "mm"),
        ("stroke guide = 10 cm +- 0.5 mm", "stroke guide", 99.5, 100.5, "mm"),
        ("stroke guide = 100 mm +- 2 %", "stroke guide", 98.0, 102.0, "mm"),
        ("dwell guide within 1 mm > 80 deg", "dwell guide within 1 mm", 80.0, np.inf, "deg"),
        ("dwell guide within 1 mm >= 0.1 s while 0..0.5 s", "dwell guide within 1 mm while 0..0.5 s", 0.1, np.inf, "s"),
        ("A.torque within -5..5 N m", "A.torque", -5.0, 5.0, "N m"),
        ("crank.mass < 0.4 kg", "crank.mass", -np.inf, 0.4, "kg"),
    ],
)
def test_constraints(text: str, what: str, low: float, high: float, unit: str) -> None:
    found = Requirement.parse(text)
    assert [t.what for t in found.terms] == [what]
    assert (found.low, found.high, found.unit) == (low, high, unit)


def test_a_box_has_a_range_for_every_component() -> None:
    found = Requirement.parse("coupler.P within 0..300 x -50..200 mm while 0..90 deg")
    assert found.components == ((0.0, 300.0), (-50.0, 200.0))
    assert found.terms[0].what == "coupler.P while 0..90 deg" and found.unit == "mm"


def test_a_full_turn_is_a_constraint() -> None:
    assert Requirement.parse("full turn").full_turn and not Requirement.parse("A.torque < 1 N m").full_turn


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rms A.torque", "begins with min or max"),
        ("least A.torque", "begins with min or max"),
        ("min rms A.torque / 0 N", "positive quantity"),
        ("min rms A.torque / 3 flops", "flops"),
    ],
)
def test_goals_that_are_none(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Goal.parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("C.transmission_angle", "compare something"),
        ("guide within 10", "a range for each component"),
        ("guide within 20..10 mm", "is empty"),
        ("P within 0..1 m x 0..10 N", "is a unit of"),
        ("guide < 3 mm +- 1 mm", "belongs to an equality"),
        ("stroke guide = 3 mm +- 1 N", "is a unit of"),
        ("a + b within 0..1 x 0..1 m", "one point"),
    ],
)
def test_constraints_that_are_none(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Requirement.parse(text)
