"""A degree of freedom without a drive: inverse dynamics needs a motion that its springs and weight allow."""

from __future__ import annotations

import math

import pytest

import linkwright as lw
from linkwright.system.mechanism import mechanism_of
from tests.refusals import refused

ARM = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "C": [2, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "upper": {"pins": ["A", "B"], "mass": 1}, "lower": {"pins": ["B"], "points": ["C"], "mass": 1}},
    "springs": {"S": {"joint": "B", "stiffness": "100 N m/rad", "free_position": 0}},
    "drive": {"A": {"torque": 0}},
}


def test_the_ways_that_the_message_names_work() -> None:
    """Two rods of 1 m, 1 kg, level, a spring of 100 N m/rad between them: it sags until 100 x = 9.81 / 2 cos x."""
    s = lw.load(ARM).system
    with refused(lw.UsageError, name="drives"):
        s.inverse(s.start, {})
    st = mechanism_of(s).settle(hold=["A"])
    x = -float(st["B"])
    assert 100.0 * x == pytest.approx(9.81 / 2 * math.cos(x), rel=1e-9)
    assert s.inverse(st, {}).tau["A"] == pytest.approx(9.81 * (0.5 + 1.0 + 0.5 * math.cos(x)), rel=1e-9)
    assert s.inverse(s.start, s.forward(s.start, {"A": 2.0}).a).tau["A"] == pytest.approx(2.0, rel=1e-12)
