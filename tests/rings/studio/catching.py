"""A run that switches a rod: a load of 1 kg falls 50 mm and is caught by a rope, which pulls another kilogram along."""

from __future__ import annotations

import numpy as np

import linkwright as lw


def caught() -> tuple[lw.Mechanism, lw.Trajectory]:
    """The mechanism, and its run that begins without the rope."""
    sliding = {"type": "prismatic", "axis": [0, 1]}
    m = lw.load({
        "name": "catch", "plane": "xy", "units": ["mm", "kg"], "gravity": [0, "-9.81 m/s^2"],
        "drawing": {"H": [0, 0], "G": [50, 150]},
        "bodies": {
            "ground": {"points": ["H", "G"]},
            "low": {"points": {"Q": [0, 0]}, "mass": 1, "inertia": "0.001 kg m^2"},
            "high": {"points": {"Q": [50, 150]}, "mass": 1, "inertia": "0.001 kg m^2"},
        },
        "joints": {"fall": {**sliding, "connect": ["ground.H", "low.Q"]}, "rise": {**sliding, "connect": ["ground.G", "high.Q"]}},
        "rods": {"rope": {"between": ["low.Q", "high.Q"], "length": float(np.hypot(50, 150))}},
    })  # fmt: skip
    s = m.system
    taut = lw.events.when(lambda st: st["high.Q.y"] - st["low.Q.y"], 0.15, direction="rising", name="taut", do=lw.events.engage("rope"))
    start = s.state([0.05 if name == "fall" else 0.0 for name in s.names.q], [0.0, 0.0])
    run = s.simulate(start, 0.13, off=["rope"], events=[taut], sample_interval=0.01, drive={"rise": lw.drives.force("9.81 N")})
    return m, run
