"""Robots of the tests: those of the library, and a 3-RPR whose legs are cylinders."""

from __future__ import annotations

from functools import cache

import numpy as np

import linkwright as lw

LEGS = (1, 2, 3)
BASE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
PLATFORM = np.array([[0.0, 0.0], [0.3, 0.0], [0.1, 0.25]])
THREE_RPR = {
    "name": "3-rpr",
    "plane": "xy",
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"O": [0, 0], "P": [0.35, 0.3]},
    "bodies": {
        "ground": {"points": {"O": [0, 0], **{f"A{k}": BASE[k - 1].tolist() for k in LEGS}}},
        "platform": {
            "points": {"P": [0, 0], **{f"P{k}": PLATFORM[k - 1].tolist() for k in LEGS}},
            "mass": 2,
            "com": [0.15, 0.1],
            "inertia": 0.02,
        },
    },
    "joints": {"base": {"type": "planar", "between": ["ground", "platform"], "at": "O"}},
    "cylinders": {f"leg{k}": {"between": [f"ground.A{k}", f"platform.P{k}"]} for k in LEGS},
    "drive": {f"leg{k}": {"moves": [{"to": "0.4 m", "in": "1 s"}]} for k in LEGS},
}


@cache
def robot(name: str) -> lw.System:
    return lw.compile(lw.load(THREE_RPR)) if name == "3-rpr" else lw.compile(name)
