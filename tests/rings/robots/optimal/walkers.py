"""Machines that stand, hop and roll on a floor, with the closed forms that belong to them."""

from __future__ import annotations

from typing import Any

import numpy as np

G = 9.81
TRUNK, FOOT = 3.0, 1.0  # kg, of the hopper
SPOKES, LENGTH, WHEEL, INERTIA, ROTOR, SLOPE = 8, 0.4, 2.0, 0.05, 0.5, 0.12  # of the rimless wheel
HALF = np.pi / SPOKES
STRIDE = 2.0 * LENGTH * np.sin(HALF)


def hopper(**contact: Any) -> dict[str, Any]:
    """A trunk on a foot, both on a vertical line, with a leg between them that pushes and pulls."""
    return {
        "name": "hopper", "plane": "xy", "gravity": [0, -G],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "foot": {"points": {"F": [0, 0], "T": [0, 0]}, "mass": FOOT, "com": [0, 0], "inertia": 0.01},
            "trunk": {"points": {"H": [0, 0]}, "mass": TRUNK, "com": [0, 0], "inertia": 0.01},
        },
        "joints": {
            "y": {"type": "prismatic", "connect": ["ground.O", "foot.F"], "axis": [0, 1]},
            "leg": {"type": "prismatic", "connect": ["foot.T", "trunk.H"], "axis": [0, 1]},
        },
        "surfaces": {"sole": {"circle": "foot.F", "radius": 0.0}, "floor": {"line": "ground.O", "normal": [0, 1]}},
        "contacts": {"tread": {"between": ["sole", "floor"], **contact}},
        "drive": ["leg"], "start": {"leg": 0.3},
    }  # fmt: skip


def rimless_wheel() -> dict[str, Any]:
    """Two spokes of a rimless wheel on a slope, x along the slope, with a rotor in its hub that a motor turns."""
    ends = {name: [LENGTH * np.sin(a), -LENGTH * np.cos(a)] for name, a in (("A", HALF), ("B", 3.0 * HALF))}
    return {
        "name": "rimless wheel", "plane": "xy", "gravity": [G * np.sin(SLOPE), -G * np.cos(SLOPE)],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "wheel": {"points": {"C": [0, 0], **ends}, "mass": WHEEL, "com": [0, 0], "inertia": INERTIA},
            "rotor": {"points": {"R": [0, 0]}, "mass": ROTOR, "com": [0, 0], "inertia": 0.01},
        },
        "joints": {
            "base": {"type": "planar", "connect": ["ground.O", "wheel.C"]},
            "motor": {"type": "revolute", "connect": ["wheel.C", "rotor.R"]},
        },
        "surfaces": {
            "a": {"circle": "wheel.A", "radius": 0.0}, "b": {"circle": "wheel.B", "radius": 0.0},
            "slope": {"line": "ground.O", "normal": [0, 1]},
        },
        "contacts": {name: {"between": [end, "slope"], "mu": 1.0} for name, end in (("first", "a"), ("second", "b"))},
        "drive": ["motor"], "start": {"base.y": LENGTH * np.cos(HALF), "base.x.v": 1.0, "base.angle.v": -2.5},
    }  # fmt: skip


def rolling_speeds() -> tuple[float, float]:
    """Speeds of a rimless wheel before and after every impact in its limit cycle.

    Angular momentum about the new spoke's end is kept; between impacts energy is. The rotor turns freely: it is a mass in the hub.
    """
    mass = WHEEL + ROTOR
    about = INERTIA + mass * LENGTH**2
    kept = (INERTIA + mass * LENGTH**2 * np.cos(2.0 * HALF)) / about
    before = np.sqrt(2.0 * mass * G * STRIDE * np.sin(SLOPE) / about / (1.0 - kept**2))
    return float(before), float(kept * before)


def leg_with_a_loop() -> dict[str, Any]:
    """A leg on a vertical guide, whose knee a motor in the hip turns through a four-bar linkage."""
    bent, hip = np.radians(30.0), 0.5465
    swung = [0.06 * np.sin(bent), hip - 0.06 * np.cos(bent)]
    knee = [-0.3 * np.sin(bent), hip - 0.3 * np.cos(bent)]
    return {
        "name": "leg with a loop", "plane": "xy", "gravity": [0, -G],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "trunk": {"points": {"H": [0, 0]}, "mass": 4, "com": [0, 0.05], "inertia": 0.05},
            "thigh": {"points": {"H": [0, 0], "K": [0, -0.3]}, "mass": 1, "com": [0, -0.15], "inertia": 0.01},
            "crank": {"points": {"C": [0, 0], "R": [0, -0.06]}, "mass": 0.2, "com": [0, -0.03], "inertia": 0.001},
            "rod": {"points": {"R": [0, 0], "S": [0, -0.3]}, "mass": 0.1, "com": [0, -0.15], "inertia": 0.001},
            "shank": {"points": {"K": [0, 0], "S": [0, -0.06], "F": [0, -0.3]}, "mass": 0.5, "com": [0, -0.15], "inertia": 0.004},
        },
        "joints": {
            "base": {"type": "prismatic", "connect": ["ground.O", "trunk.H"], "axis": [0, 1]},
            "hip": {"type": "revolute", "connect": ["trunk.H", "thigh.H"]},
            "motor": {"type": "revolute", "connect": ["trunk.H", "crank.C"]},
            "upper": {"type": "revolute", "connect": ["crank.R", "rod.R"]},
            "lower": {"type": "revolute", "connect": ["rod.S", "shank.S"]},
            "knee": {"type": "revolute", "connect": ["thigh.K", "shank.K"]},
        },
        "guess": {
            "trunk": {"at": [0, hip]}, "thigh": {"at": [0, hip], "angle": -bent}, "crank": {"at": [0, hip], "angle": bent},
            "rod": {"at": swung, "angle": -bent}, "shank": {"at": knee, "angle": bent},
        },
        "surfaces": {"sole": {"circle": "shank.F", "radius": 0.02}, "floor": {"line": "ground.O", "normal": [0, 1]}},
        "contacts": {"foot": {"between": ["sole", "floor"], "mu": 0.8}},
        "drive": ["hip", "motor"], "start": {"hip": "-35 deg", "motor": "35 deg", "base": 0.5115},
    }  # fmt: skip
