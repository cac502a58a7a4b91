"""Linkages that move only for exact dimensions: where digits decide, that is said, with the singular value or the gap."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import linkwright as lw
from tests.refusals import refused

PINS = {"A": ("ground", "c1"), "B": ("ground", "c2"), "C": ("ground", "c3"), "D": ("c1", "top"), "E": ("c2", "top"), "F": ("c3", "top")}


def cranks(turned: float = 0.0, longer: float = 0.0) -> dict[str, Any]:
    """Three cranks of 0.3 m at 60 deg under one coupler, the third turned by an angle about its upper pin, or longer."""
    angle = math.pi / 3.0
    top = (0.3 * math.cos(angle), 0.3 * math.sin(angle))
    third = [0.5 + top[0] - 0.3 * math.cos(angle + turned), top[1] - 0.3 * math.sin(angle + turned)]
    guess = {f"c{k}": {"at": at, "angle": angle} for k, at in ((1, [0, 0]), (2, [0.2, 0]), (3, third))}
    return {
        "name": "cranks",
        "plane": "xy",
        "bodies": {
            "ground": {"points": {"A": [0, 0], "B": [0.2, 0], "C": third}},
            "c1": {"points": {"A": [0, 0], "D": [0.3, 0]}},
            "c2": {"points": {"B": [0, 0], "E": [0.3, 0]}},
            "c3": {"points": {"C": [0, 0], "F": [0.3 + longer, 0]}},
            "top": {"points": {"D": [0, 0], "E": [0.2, 0], "F": [0.5, 0]}},
        },
        "joints": {n: {"type": "revolute", "connect": [f"{a}.{n}", f"{b}.{n}"]} for n, (a, b) in PINS.items()},
        "drive": {"A": "1 rad/s"},
        "guess": {**guess, "top": {"at": list(top), "angle": 0}},
    }


def test_parallel_cranks_move() -> None:
    found = lw.load(cranks()).system.mobility
    assert found.freedoms == 1 and not found.blocked_by_digits


@pytest.mark.parametrize("turned", [1e-7, 1e-6])
def test_digits_that_make_a_structure_are_named(turned: float) -> None:
    """The singular value grows with the angle: at 1e-7 rad the loops hold what an exact parallelogram lets go."""
    m = lw.load(cranks(turned))
    found = m.system.mobility
    assert found.freedoms == 0 and 0.05 * turned < found.smallest < 5.0 * turned  # cranks and coupler of some tenths of a meter
    words = r"smallest singular value of its loops is only \de-0\d: .*only for exact dimensions .*parallel cranks"
    assert "nothing can move" in m.info().motion
    for text in (found.blocked_by_digits, m.info().motion):
        assert re.search(words, text)
    with pytest.raises(lw.UsageError, match=f"nothing can move.*{words}"):
        m.cycle()


def test_a_plain_structure_is_called_one() -> None:
    m = lw.load(cranks(0.3))
    assert m.system.mobility.freedoms == 0 and m.info().motion == "a structure: nothing can move"


@pytest.mark.parametrize("longer", [1e-8, 1e-6])
def test_gaps_that_digits_explain_are_named(longer: float) -> None:
    with refused(lw.AssemblyError, loop="E") as caught:
        lw.load(cranks(longer=longer)).cycle()
    assert 0.0 < caught.value.gap < longer
    with refused(lw.AssemblyError, loop="E"):
        lw.load(cranks(longer=0.02)).cycle()
