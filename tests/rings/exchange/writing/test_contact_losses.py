"""Writers name every part of a model that touches, goes slack, has play or sticks: no other format holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.rings.exchange import LossWarning

LOOSE: dict[str, Any] = {
    "name": "loose", "plane": "xy", "units": ["m", "deg"], "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.3, 0], "M": [0, -0.2], "W": [0.5, -0.2], "R": [-0.1, -0.2]},
    "bodies": {
        "ground": {"pins": ["A", "M", "R"], "points": ["W"]},
        "crank": {"pins": ["A", "B"], "mass": 1, "com": "A", "inertia": 0.01},
        "rod": {"pins": ["B", "C"], "mass": 1, "com": "B", "inertia": 0.01},
        "ram": {"pins": ["C"], "mass": 1, "com": "C", "inertia": 0.01},
        "wheel": {"pins": ["M"], "mass": 1, "com": "M", "inertia": 0.01},
        "small": {"pins": ["R"], "mass": 1, "com": "R", "inertia": 0.01},
    },
    "joints": {"S": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "axis": [1, 0]}},
    "surfaces": {"tip": {"circle": "ram.C", "radius": 0.02}, "wall": {"line": "ground.W", "normal": [-1, 0]}},
    "contacts": {"hit": {"between": ["tip", "wall"], "mu": 0.3}},
    "clearances": {"B": {"clearance": 1e-4, "radius": 0.01}},
    "couplings": {"teeth": {"from": "M", "to": "R", "ratio": -1, "play": "1 deg"}},
    "friction": {"S": {"mu": 0.1}, "wet": {"joint": "M", "viscous": "0.1 N m s/rad"}, "dry": {"joint": "R", "coulomb": "0.1 N m"}},
    "rods": {"rope": {"between": ["ground.W", "ram.C"], "length": 0.6, "slack": True}},
    "stops": {"end": {"joint": "S", "max": 0.1}},
    "drive": {"A": {"speed": "60 rpm", "play": "1 deg"}},
}  # fmt: skip
ALWAYS = {"hit", "B", "teeth", "A_gearbox", "rope", "S"}


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml", "c", "js", "fmu"])
def test_writers_name_what_they_cannot_hold(ending: str, tmp_path: Path) -> None:
    with pytest.warns(LossWarning) as said:
        lw.load(LOOSE).export(tmp_path / f"loose.{ending}")
    lost = {x.name: x.why for w in said if isinstance(w.message, LossWarning) for x in w.message.lost}
    robot = ending in ("urdf", "sdf", "xml")  # which have dry friction and ends of travel
    assert ALWAYS | (set() if robot else {"dry", "end"}) <= set(lost)
    assert "wet" not in lost and ("dry" not in lost or not robot)
    assert all("both ways" in lost[x] for x in ("teeth", "A_gearbox"))
