"""Springs and dampers whose ends are at one place: no direction and no force, in Python and in compiled code. Cylinders are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import live
from tests.refusals import refused

PENDULUM: dict[str, Any] = {
    "name": "pendulum",
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.3, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1.0}},
}
SAME = {"between": ["ground.A", "arm.A"]}
PARTS: dict[str, dict[str, Any]] = {
    "spring": {"springs": {"s": {**SAME, "stiffness": "100 N/m"}}},
    "damper": {"dampers": {"d": {**SAME, "coefficient": "5 N s/m"}}},
}


@pytest.mark.parametrize("part", PARTS)
def test_at_the_pin_of_a_hinge_it_does_nothing(part: str) -> None:
    plain, more = lw.load(PENDULUM), lw.load({**PENDULUM, **PARTS[part]})
    assert np.array_equal(more.simulate(0.2).q, plain.simulate(0.2).q)
    assert live.contents(more.system)[0]


def test_a_cylinder_needs_a_length() -> None:
    with refused(lw.ModelError, name="cylinder 'c'"):
        lw.load({**PENDULUM, "cylinders": {"c": {**SAME, "force": "20 N"}}})


def test_a_spring_that_passes_zero_length_is_an_oscillator() -> None:
    """Of zero free length along a slider: x = v/w sin(w t) with w^2 = k/m."""
    m = lw.load({
        "name": "slide",
        "plane": "xy",
        "gravity": [0, 0],
        "drawing": {"A": [0, 0]},
        "bodies": {"ground": {"points": ["A"]}, "slide": {"points": ["A"], "mass": 2.0}},
        "joints": {"x": {"type": "prismatic", "between": ["ground", "slide"], "at": "A", "axis": [1, 0]}},
        "springs": {"s": {"between": ["ground.A", "slide.A"], "stiffness": "800 N/m", "free_length": 0}},
        "start": {"x": 0, "x.v": "0.5 m/s"},
    })  # fmt: skip
    run = m.simulate(0.5)
    assert run["x"] == pytest.approx(0.5 / 20.0 * np.sin(20.0 * run["t"]), abs=1e-6)  # the integrator's tolerance
