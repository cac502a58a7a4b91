"""Models of the tests of studies: a slider-crank whose stroke is twice its crank, whatever the rod."""

from __future__ import annotations

from typing import Any

SLIDER: dict[str, Any] = {
    "name": "slider",
    "plane": "xy",
    "parameters": {"r": "50 mm", "l": "200 mm"},
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.05, 0], "C": [0.25, 0]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["C"]},
        "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}, "mass": 0.4},
        "rod": {"pins": ["B", "C"], "along": {"B": 0, "C": "l"}, "mass": 0.6},
        "piston": {"pins": ["C"], "mass": 1.0},
    },
    "joints": {"slide": {"type": "prismatic", "between": ["ground", "piston"], "at": "C", "axis": [1, 0]}},
    "drive": {"A": "120 rpm"},
}
