"""Mechanisms with loops whose bodies may touch, for tests of gaps and rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import linkwright as lw

LEG: dict[str, Any] = {
    "name": "leg",
    "plane": "xy",
    "gravity": [0, -9.81],
    "bodies": {
        "ground": {"points": {"O": [0, 0], "P": [0.6, 0.4], "Q": [-0.5, 0.1], "R": [0.9, 0.35], "S": [-0.8, 0.6], "T": [0.1, -0.4]}},
        "trunk": {
            "points": {"H": [0, 0], "C": [0.08, 0.02], "N": [-0.1, 0.05], "M": [0.15, 0.1]},
            "mass": 4,
            "com": [0.03, 0.05],
            "inertia": 0.05,
        },
        "thigh": {"points": {"H": [0, 0], "K": [0, -0.3]}, "mass": 1.0, "com": [0, -0.15], "inertia": 0.01},
        "crank": {"points": {"C": [0, 0], "R": [0.08, 0]}, "mass": 0.2, "com": [0.04, 0], "inertia": 0.001},
        "rod": {"points": {"R": [0, 0], "S": [0, -0.32]}, "mass": 0.1, "com": [0, -0.16], "inertia": 0.001},
        "shank": {
            "points": {
                "K": [0, 0],
                "S": [0.08, 0],
                "F": [0, -0.3],
                "G": [0.06, -0.28],
                "V": [0.03, -0.15],
                "U": [1.1, 1.0],
                "W": [-1.2, 0.9],
                "X": [-1.0, -1.1],
                "Y": [1.3, -1.0],
            },
            "mass": 0.5,
            "com": [0, -0.15],
            "inertia": 0.004,
        },
        "box": {"points": {"A": [0.1, 0.06], "B": [-0.1, 0.05], "C": [-0.12, -0.06], "D": [0.09, -0.07]}, "mass": 1, "inertia": 0.01},
    },
    "joints": {
        "base": {"type": "planar", "between": ["ground", "trunk"], "at": [0, 0]},
        "hip": {"type": "revolute", "connect": ["trunk.H", "thigh.H"]},
        "cr": {"type": "revolute", "connect": ["trunk.C", "crank.C"]},
        "ro": {"type": "revolute", "connect": ["crank.R", "rod.R"]},
        "lo": {"type": "revolute", "connect": ["rod.S", "shank.S"]},
        "knee": {"type": "revolute", "connect": ["thigh.K", "shank.K"]},
    },
    "guess": {
        "trunk": {"at": [0, 0.62]},
        "thigh": {"at": [0, 0.62]},
        "crank": {"at": [0.08, 0.64]},
        "rod": {"at": [0.16, 0.64]},
        "shank": {"at": [0, 0.32]},
        "box": {"at": [-0.4, 0.3]},
    },
}
ON_LEG: dict[str, dict[str, Any]] = {  # surfaces on bodies of the leg
    "circle": {"circle": "shank.F", "radius": 0.02},
    "corner": {"circle": "shank.G", "radius": 0},
    "ring": {"ring": "shank.K", "radius": 0.9},
    "line": {"line": "shank.G", "normal": [0.3, -1]},
    "segment": {"segment": ["shank.F", "shank.G"]},
    "capsule": {"capsule": ["shank.K", "shank.F"], "radius": 0.015},
    "polygon": {"polygon": ["shank.K", "shank.F", "shank.G", "shank.S"]},
    "rounded": {"polygon": ["shank.F", "shank.G", "shank.S"], "radius": 0.01},
    "notched": {"polygon": ["shank.K", "shank.S", "shank.V", "shank.G", "shank.F"]},
    "pocket": {"polygon": ["shank.U", "shank.W", "shank.X", "shank.Y"], "side": "inside"},
    "chain": {"chain": ["shank.K", "shank.F", "shank.G", "shank.V", "shank.S"]},
    "arc": {"arc": "shank.F", "radius": 0.05, "from": "150 deg", "to": "340 deg"},
    "bowl": {"arc": "shank.K", "radius": 0.9, "from": "-60 deg", "to": "200 deg", "side": "inside"},
    "profile": {
        "profile": "shank.S",
        "table": [["0 deg", 0.05], ["80 deg", 0.06], ["170 deg", 0.055], ["250 deg", 0.04], ["360 deg", 0.05]],
    },
}
ON_BOX: dict[str, dict[str, Any]] = {  # and on the box that floats
    "circle": {"circle": "box.A", "radius": 0.03},
    "corner": {"circle": "box.A", "radius": 0},
    "ring": {"ring": "box.B", "radius": 0.8},
    "line": {"line": "box.C", "normal": [-1, 0.4]},
    "segment": {"segment": ["box.A", "box.C"]},
    "capsule": {"capsule": ["box.B", "box.D"], "radius": 0.02},
    "polygon": {"polygon": ["box.A", "box.B", "box.C", "box.D"]},
    "chain": {"chain": ["box.D", "box.A", "box.B", "box.C"], "radius": 0.01},
    "arc": {"arc": "box.A", "radius": 0.04, "from": "-30 deg", "to": "170 deg"},
    "bowl": {"arc": "box.B", "radius": 0.8, "from": "0 deg", "to": "300 deg", "side": "inside"},
    "profile": {"profile": "box.D", "table": [["0 deg", 0.05], ["90 deg", 0.07], ["180 deg", 0.06], ["270 deg", 0.05], ["360 deg", 0.05]]},
}


@cache
def leg(first: str, second: str) -> lw.System:
    """The leg with one contact between a surface of its shank and one of the box."""
    surfaces = {"a": ON_LEG[first], "b": ON_BOX[second]}
    return lw.load({**LEG, "surfaces": surfaces, "contacts": {"c": {"between": ["a", "b"], "mu": 0.3}}}).system
