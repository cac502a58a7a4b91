"""What cannot be asked of an optimal motion: one message with the name of what is wrong, in bounded time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused

TO = {"A": "100 deg", "E": "60 deg"}
LIMITS = {"*.torque": "1.5 N m"}


@pytest.fixture(scope="module")
def m() -> lw.Mechanism:
    return lw.load("five-bar")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"goal": "least noise"}, "goal"),
        ({"goal": "least effort"}, "duration"),
        ({"duration": "-1 s"}, "duration"),
        ({"steps": 3}, "steps"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"to": None}, "to"),
        ({"to": "100 deg"}, "to"),
        ({"to": {"Q": "100 deg"}}, None),
        ({"to": {"left_rod.C": "1 m"}}, "left_rod.C"),
        ({"to": {"left_rod.angle": "free"}}, "left_rod.angle"),
        ({"limits": None}, "A"),
        ({"limits": {"A.torque": "2 N m"}}, "E"),
        ({"limits": {**LIMITS, "rms A.torque": "1 N m"}}, "rms A.torque"),
        ({"limits": {**LIMITS, "A": "80..95 deg"}}, "A"),
        ({"start": "here"}, "start"),
        ({"periodic": "yes"}, "periodic"),
        ({"coordinates": ["A"]}, "coordinates"),
        ({"coordinates": ["A", "E.q"]}, None),
        ({"guess": 1}, None),
    ],
)
def test_requests_are_refused(m: lw.Mechanism, options: dict[str, Any], name: str | None) -> None:
    given = {"goal": "least time", "to": TO, "limits": LIMITS, **options}
    if name is None:
        with pytest.raises(lw.UsageError):
            m.optimal(**given)
    else:
        with refused(lw.UsageError, name=name):
            m.optimal(**given)


def test_wrong_units_are_refused(m: lw.Mechanism) -> None:
    for options in ({"to": {"A": "1 m"}}, {"limits": {"A.torque": "3 m"}}, {"duration": "3 kg", "goal": "least effort"}):
        with pytest.raises(lw.UsageError):
            m.optimal(**{"goal": "least time", "to": TO, "limits": LIMITS, **options})


def test_a_duration_that_is_too_short_names_the_fastest(m: lw.Mechanism) -> None:
    with refused(lw.UsageError, name="optimal") as found:
        m.optimal("least effort", TO, duration="0.03 s", limits=LIMITS, steps=12)
    assert "0.056" in str(found.value)  # s, of the fastest motion


def test_a_motor_too_weak_for_the_weight_is_named() -> None:
    """A link held out by a torque below its weight: m g l = 1.3 9.81 0.6 = 7.65 N m."""
    link = {
        "name": "link", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [0.6, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "link": {"pins": ["A"], "points": ["B"], "mass": 1.3, "com": "B", "inertia": 0.0}},
        "drive": ["A"],
    }  # fmt: skip
    with refused(lw.UsageError, name="optimal") as found:
        lw.load(link).optimal("least time", {"A": "10 deg"}, start={"A": "0 deg"}, duration="0.2 s", limits={"A.torque": "1 N m"}, steps=8)
    assert "7.652 N m of 'A.torque', and 1 N m is allowed" in str(found.value)


def test_loads_that_are_functions_of_the_time_are_refused() -> None:
    pulled = {
        "name": "mass", "plane": "xy", "drawing": {"A": [0, 0]},
        "bodies": {"ground": {"points": ["A"]}, "mass": {"points": ["A"], "mass": 1.0, "com": "A", "inertia": 0.1}},
        "joints": {"x": {"type": "prismatic", "between": ["ground", "mass"], "at": "A", "axis": [1, 0]}},
        "loads": {"pull": {"on": "mass.A", "force": ["1 N * sin(3 rad/s * t)", 0]}}, "drive": ["x"],
    }  # fmt: skip
    with refused(lw.UsageError, name="t"):
        lw.load(pulled).optimal("least time", {"x": 1.0}, limits={"x.force": 5.0})


def test_progress_is_told(m: lw.Mechanism) -> None:
    lines: list[str] = []
    f = m.optimal("least effort", TO, duration="0.3 s", limits=LIMITS, steps=8, progress=lines.append)
    assert lines and "8 intervals" in lines[0]
    assert np.isfinite(f.value)


@pytest.mark.slow
def test_a_load_that_jumps_gives_no_rough_motion() -> None:
    """The force on a slider-crank's slider changes its sign within 20 mm/s: a coarse mesh steps over it."""
    with refused(lw.UsageError, name="steps"):
        lw.load("slider-crank").optimal("least effort", periodic={"A": "360 deg"}, duration="0.5 s", limits={"A.torque": "30 N m"}, steps=6)
