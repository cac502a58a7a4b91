"""Measurements and requests that cannot be used: errors that say what to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused
from tests.rings.robots.identification.machines import five_bar_run, measured


def data(**changes: Any) -> dict[str, Any]:
    return {**measured(five_bar_run(), 1e-3, 0), **changes}


def without(name: str) -> dict[str, Any]:
    return {k: x for k, x in data().items() if k != name}


def nan() -> dict[str, Any]:
    found = data()
    found["A"][7] = np.nan
    return found


def outlier() -> dict[str, Any]:
    found = data()
    found["A"][7] = 4.5e12
    return found


uneven = np.cumsum(np.where(np.arange(301) % 2, 0.01, 0.02))
WRONG = {
    "there is no column 'E.torque'": lambda m: lw.identify(m, without("E.torque")),
    "first: sample 7": lambda m: lw.identify(m, nan()),
    "the path of 'A' turns 7.16e.11 times between": lambda m: lw.identify(m, outlier()),
    "the times must increase": lambda m: lw.identify(m, data(t=np.zeros(301))),
    "differ in length": lambda m: lw.identify(m, data(t=np.arange(5.0))),
    "8 samples are too few": lambda m: lw.identify(m, {k: x[:8] for k, x in data().items()}),
    "too few for": lambda m: lw.identify(m, {k: x[:12] for k, x in data().items()}, friction=["A", "B", "C", "D", "E"], armature=True),
    "the time steps vary": lambda m: lw.identify(m, data(t=uneven), filter="5 Hz"),
    "half the sampling rate": lambda m: lw.identify(m, data(), filter="500 Hz"),
    "cannot be separated from the masses": lambda m: lw.identify(m, data(), gains=True),
    "there is no body 'lefft'": lambda m: lw.identify(m, data(), bodies=["lefft"]),
    "there is no joint 'Q'": lambda m: lw.identify(m, data(), friction=["Q"]),
    "there is no kind 'dry'": lambda m: lw.identify(m, data(), friction={"A": "dry"}),
    "there is no drive 'B'": lambda m: lw.identify(m, data(), armature=["B"]),
    "nothing is sought": lambda m: lw.identify(m, data(), bodies=[]),
    "E is missing": lambda m: lw.identify(m, data(), noise={"A": "1 N mm"}),
    "takes a mechanism": lambda m: lw.identify("five-bar", data()),
    "a CSV or Parquet file": lambda m: lw.identify(m, 3),
    "no motion from the start": lambda m: lw.excitation(m, limits={"A": {"position": (0.0, 0.1)}}),
    "there is no such limit": lambda m: lw.excitation(m, limits={"A": {"jerk": 1.0}}),
    "lowest position must be below": lambda m: lw.excitation(m, limits={"A": {"position": ("90 deg", "80 deg")}}),
    "zero or more": lambda m: lw.identify(m, data(), prior=-1.0),
    "harmonics must be": lambda m: lw.excitation(m, harmonics=1),
}


@pytest.mark.parametrize("text", WRONG)
def test_refused(text: str) -> None:
    with pytest.raises(lw.UsageError, match=text):
        WRONG[text](lw.load("five-bar"))


def test_data_that_excite_little_are_said_so() -> None:
    """Standing still, the five-bar shows the two torques of its weight and nothing else; in motion all 11 base parameters."""
    m, n = lw.load("five-bar"), 60
    still = {"t": np.linspace(0.0, 1.0, n), "A": np.full(n, 1.6), "E": np.full(n, 1.5), "A.torque": np.zeros(n), "E.torque": np.zeros(n)}
    found = lw.identify(m, still)
    assert len(found.names) == 2 and "the data excite 2 of 11 base parameters: move all drives" in str(found)
    whole = lw.identify(m, data())
    assert len(whole.names) == whole.possible == 11 and "excite" not in str(whole)


def test_drives_as_many_as_degrees_of_freedom() -> None:
    m = lw.load({**five_bar(), "drive": {"A": "30 rpm"}})
    with refused(lw.LinkwrightError, name="model"):
        lw.identify(m, data())


def five_bar() -> dict[str, Any]:
    bodies = {"ground": {"pins": ["A", "E"]}, "a": {"pins": ["A", "B"], "mass": 0.2}, "b": {"pins": ["B", "C"], "mass": 0.3}}
    bodies |= {"c": {"pins": ["D", "C"], "mass": 0.3}, "d": {"pins": ["E", "D"], "mass": 0.2}}
    drawing = {"A": [0, 0], "B": [0, 80], "C": [100, 275], "D": [200, 80], "E": [200, 0]}
    return {"plane": "xy", "units": ["mm", "kg"], "drawing": drawing, "bodies": bodies}
