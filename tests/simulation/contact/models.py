"""Bodies that touch a floor, as model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import linkwright as lw

G = 9.81


def flying(
    touching: Mapping[str, Any],
    surfaces: Mapping[str, Any],
    points: Mapping[str, Sequence[float]] | None = None,
    *,
    mass: float = 1.0,
    inertia: float = 1.0,
    gravity: Sequence[float] = (0.0, -G),
) -> dict[str, Any]:
    """A body that flies in a plane over a floor, its coordinates those of its center O."""
    return {
        "plane": "xy",
        "gravity": list(map(float, gravity)),
        "bodies": {
            "ground": {"points": {"G": [0, 0]}},
            "b": {"points": {"O": [0, 0], **{k: list(map(float, x)) for k, x in (points or {}).items()}}, "mass": mass, "com": [0, 0],
                  "inertia": inertia},
        },
        "joints": {"base": {"type": "planar", "between": ["ground", "b"], "at": [0, 0]}},
        "surfaces": {"floor": {"line": "ground.G", "normal": [0, 1]}, **surfaces},
        "contacts": dict(touching),
    }  # fmt: skip


def disk(radius: float, **law: Any) -> dict[str, Any]:
    """A homogeneous disk of 1 kg."""
    return flying({"step": {"between": ["rim", "floor"], **law}}, {"rim": {"circle": "b.O", "radius": radius}}, inertia=0.5 * radius**2)


def corners(places: Mapping[str, Sequence[float]], law: Mapping[str, Any], **body: Any) -> dict[str, Any]:
    """A body whose sharp corners may touch the floor."""
    surfaces = {f"at_{name}": {"circle": f"b.{name}", "radius": 0} for name in places}
    return flying({"feet": {"between": [list(surfaces), "floor"], **law}}, surfaces, places, **body)


def run(model: Mapping[str, Any], q: Sequence[float], v: Sequence[float], seconds: float, **options: Any) -> Any:
    """A run from coordinates and speeds."""
    s = lw.compile(lw.load(dict(model)))
    return s.simulate(s.state(np.array(q, dtype=float), np.array(v, dtype=float)), seconds, **options)


def flying_in_space(
    touching: Mapping[str, Any],
    surfaces: Mapping[str, Any],
    points: Mapping[str, Sequence[float]] | None = None,
    *,
    mass: float = 1.0,
    inertia: Sequence[float] = (1.0, 1.0, 1.0),
    gravity: Sequence[float] = (0.0, 0.0, -G),
) -> dict[str, Any]:
    """A body that flies in space over a floor, its coordinates those of its center O."""
    return {
        "gravity": list(map(float, gravity)),
        "bodies": {
            "ground": {"points": {"G": [0, 0, 0]}},
            "b": {"points": {"O": [0, 0, 0], **{k: list(map(float, x)) for k, x in (points or {}).items()}}, "mass": mass, "com": [0, 0, 0],
                  "inertia": list(map(float, inertia))},
        },
        "joints": {"base": {"type": "free", "between": ["ground", "b"], "at": [0, 0, 0]}},
        "surfaces": {"floor": {"plane": "ground.G", "normal": [0, 0, 1]}, **surfaces},
        "contacts": dict(touching),
    }  # fmt: skip


def ball(radius: float, gravity: Sequence[float] = (0.0, 0.0, -G), **law: Any) -> dict[str, Any]:
    """A homogeneous ball of 1 kg."""
    own = {"skin": {"sphere": "b.O", "radius": radius}}
    return flying_in_space({"step": {"between": ["skin", "floor"], **law}}, own, inertia=[0.4 * radius**2] * 3, gravity=gravity)


def block(gravity: Sequence[float] = (0.0, 0.0, -G), **law: Any) -> dict[str, Any]:
    """A block of 2 kg, 0.6 by 0.4 by 0.2 m."""
    own = {"skin": {"box": "b.O", "length": 0.6, "width": 0.4, "height": 0.2}}
    inertia = [2.0 / 12.0 * (x**2 + y**2) for x, y in ((0.4, 0.2), (0.6, 0.2), (0.6, 0.4))]
    return flying_in_space({"feet": {"between": ["skin", "floor"], **law}}, own, mass=2.0, inertia=inertia, gravity=gravity)
