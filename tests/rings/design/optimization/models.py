"""Models of the tests of optimization, small enough for closed forms."""

from __future__ import annotations

from typing import Any

SLIDER_CRANK: dict[str, Any] = {
    "name": "slider-crank",
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "parameters": {"r": {"value": "40 mm", "min": "20 mm", "max": "80 mm"}, "rod": "200 mm", "e": "0 mm"},
    "drawing": {"A": [0, 0], "B": [0, "r"], "C": ["sqrt(rod^2 - (r - e)^2)", "e"]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "crank": {"pins": ["A", "B"], "mass": 0.2},
        "rod": {"pins": ["B", "C"], "mass": 0.5},
        "slider": {"pins": ["C"], "mass": 1.0},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "slider"], "at": "C", "axis": [1, 0]}},
    "drive": {"A": "300 rpm"},
}

DWELL: dict[str, Any] = {
    "name": "dwell pusher",
    "plane": "xy",
    "units": ["mm", "kg", "deg", "rpm"],
    "drawing": {"A": [0, 0], "B": [0, 60], "C": [240, 160], "D": [200, 0], "E": [420, 150]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"]},
        "coupler": {"pins": ["B", "C"]},
        "rocker": {"pins": ["D", "C"]},
        "rod": {"pins": ["C", "E"]},
        "pusher": {"pins": ["E"]},
    },
    "joints": {"guide": {"type": "prismatic", "between": ["ground", "pusher"], "at": "E", "axis": [1, 0]}},
    "drive": {"A": "60 rpm"},
}

# An arm of mass m, center l from its pivot, swings in the vertical plane; a spring of free length 0 from b above the pivot to a along
# the arm balances it in every position if k a b = m g l.
ARM: dict[str, Any] = {
    "name": "balanced arm",
    "plane": "xy",
    "gravity": [0, -9.81],
    "parameters": {"k": {"value": "100 N/m", "min": "0 N/m", "max": "2000 N/m"}, "b": "0.3 m"},
    "drawing": {"O": [0, 0], "T": [0.8, 0], "S": [0.2, 0], "U": [0, "b"]},
    "bodies": {
        "ground": {"pins": ["O"], "points": ["U"]},
        "arm": {"pins": ["O"], "points": ["T", "S"], "mass": 4, "com": [0.4, 0], "inertia": 0.3},
    },
    "springs": {"coil": {"between": ["ground.U", "arm.S"], "stiffness": "k", "free_length": 0}},
    "drive": {"O": {"moves": [{"to": 1.2, "in": "1 s"}]}},
}
BALANCED = 4 * 9.81 * 0.4 / (0.2 * 0.3)
