"""Joint values at the very end of a reach, where two branches meet and round-off decides on which side the wish lies."""

from __future__ import annotations

import math

import pytest

import linkwright as lw
from linkwright.errors import AssemblyError
from tests.refusals import refused
from tests.sweeps import sweep

CRANK, ROD, DRAWN = 0.1, 0.35, 0.5  # m, m, rad


def slider(angle: float) -> float:
    return CRANK * math.cos(angle) + math.sqrt(ROD**2 - (CRANK * math.sin(angle)) ** 2)


MODEL = {
    "name": "in line", "plane": "xy",
    "drawing": {"A": [0, 0], "B": [CRANK * math.cos(DRAWN), CRANK * math.sin(DRAWN)], "C": [slider(DRAWN), 0]},
    "bodies": {"ground": {"pins": ["A"], "points": ["C"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B"], "points": ["C"]}},
    "joints": {"C": {"type": "pin_slot", "connect": ["ground.C", "rod.C"], "slot": [1, 0]}},
}  # fmt: skip


@sweep(("end", "inwards"), [(0.0, -1.0), (math.pi, 1.0)], now=1)
def test_a_slider_is_put_where_crank_and_rod_are_in_line(end: float, inwards: float) -> None:
    """The slider does not move with the crank there: a gap of round-off is an angle of its root, some 1e-7. A micrometer before it
    the angle is the one of the triangle, on the side it came from; a micrometer behind it there is none."""
    s = lw.load(MODEL).system
    reach = slider(end) - slider(DRAWN)
    assert s.assemble({"C.slide": reach})["A"] == pytest.approx(end, abs=2e-6)
    near = s.assemble({"C.slide": reach + 1e-6 * inwards})["A"]
    assert slider(near) == pytest.approx(slider(end) + 1e-6 * inwards, abs=1e-10) and 0.0 < near < math.pi
    with refused(AssemblyError, loop="C"):
        s.assemble({"C.slide": reach - 1e-6 * inwards})
