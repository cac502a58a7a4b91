"""Gear pairs and cams whose joints share no body are refused with the names of both."""

from __future__ import annotations

from typing import Any

import pytest

import linkwright as lw
from tests.refusals import refused

APART: dict[str, Any] = {
    "plane": "xy", "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.2, 0], "D": [0.3, 0.1]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A", "B"]},
               "link": {"pins": ["B", "C"]}, "wheel": {"pins": ["C"], "points": ["D"]}},
}  # fmt: skip


RISE = [{"to": 0.1, "in": "180 deg"}, {"to": 0.0, "in": "180 deg"}]
CAM = {"from": "A", "to": "C", "base": 0.05, "roller": {"radius": 0.01, "at": "wheel.D"}, "moves": RISE}


@pytest.mark.parametrize(
    ("section", "entry", "carried"),
    [("gears", {"joints": ["A", "C"], "radii": [0.05, 0.15]}, "both wheels"), ("cams", CAM, "disc and follower")],
)
def test_joints_that_share_no_body(section: str, entry: dict[str, Any], carried: str) -> None:
    with refused(lw.ModelError, name="A"):
        lw.compile(lw.load({**APART, section: {"pair": entry}}))
