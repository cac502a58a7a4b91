"""Inputs that no machine has, and inputs that do nothing, are named."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from linkwright.model import library, plausibility
from linkwright.model.file import read

ARM: dict[str, Any] = {
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [100, 0], "C": [150, 0]},
    "bodies": {"ground": {"pins": ["A"], "points": ["C"]}, "arm": {"pins": ["A"], "points": ["B", "C"], "mass": 1}},
    "drive": {"A": "60 rpm"},
}


def doubts(**changed: Any) -> list[str]:
    return plausibility.implausible(read({**ARM, **changed}))


def test_an_ordinary_model_is_not_doubted():
    assert doubts() == []
    assert [(x, y) for x in library.names() for y in plausibility.implausible(lw.load(x).description)] == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gravity": [0, "-9810 m/s^2"]}, "1000 times the Earth's"),
        ({"gravity": [0, "-9.81 mm/s^2"]}, "1/999.7 of the Earth's"),
        ({"drive": {"A": "1e6 rpm"}}, "the speed of drive 'A', 1000000 rpm, is implausibly large"),
        ({"start": {"A": "90 rad"}}, "the start of 'A', 5157 deg, is 14.32 revolutions"),
        ({"friction": {"A": {"mu": 10, "radius": 5}}}, "the friction coefficient of 'A', 10, is implausibly large"),
        ({"friction": {"A": {"coulomb": 0}}}, "friction 'A' is zero"),
        ({"friction": {"A": {"mu": 0.1, "radius": 0}}}, "friction 'A' is zero"),
        ({"loads": {"F": {"on": "ground.C", "force": [0, "5 N"]}}}, "load 'F' acts on 'ground'"),
        ({"bodies": {**ARM["bodies"], "ground": {"pins": ["A"], "points": ["C"], "mass": 3}}}, "the mass of 'ground' does nothing"),
    ],
)
def test_doubtful_inputs_are_named(changed: dict[str, Any], said: str):
    found = doubts(**changed)
    assert len(found) == 1 and said in found[0]
    assert found[0] in lw.load({**ARM, **changed}).info().notes


def test_a_missing_gravity_is_written_in_the_axes_of_the_model():
    """The hint is a line that the reader takes, in the plane and in space."""
    plane = {k: x for k, x in ARM.items() if k != "gravity"}
    arm = {"points": {"O": [0, 0, 0]}, "mass": 1, "inertia": ["1 kg m^2"] * 3}
    joint = {"type": "revolute", "connect": ["ground.O", "arm.O"], "axis": [1, 0, 0]}
    space = {"units": ["mm", "kg"], "bodies": {"ground": {"points": {"O": [0, 0, 0]}}, "arm": arm}, "joints": {"O": joint}}
    for model in (plane, space):
        (said,) = plausibility.no_gravity(read(model))
        written = said.split("gravity: ")[1].split("`")[0]
        parts = [x.strip() for x in written.strip("[]").split(",")]
        assert plausibility.no_gravity(read({**model, "gravity": parts})) == []
