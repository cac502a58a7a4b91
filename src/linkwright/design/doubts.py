"""Warnings on models that are complete but doubtful: no gravity, loads that act both ways, a mass that has no room."""

from __future__ import annotations

import numpy as np

from linkwright.model.description import Description, Table
from linkwright.model.expressions import free_variables
from linkwright.motion.cycle import of_velocity
from linkwright.results.trajectory import unit_of
from linkwright.system.system import System

DENSEST = 22_600.0  # kg/m^3, osmium
AROUND = 5.0  # edge of a cube in which all bodies have room, over the longest distance of two places of one body


def doubts(system: System) -> list[str]:
    """Return what a reader of the model should check."""
    d = system.description
    gravity = ["no gravity is given, so there is none; write `gravity: [0, -9.81 m/s^2]` if there should be"]
    return [*(gravity if _lacks_gravity(system) else []), *elastic_loads(d), *_no_room(d)]


def elastic_loads(d: Description) -> list[str]:
    """Return warnings on loads that vary with position alone: they push back on the return stroke, which a sheet that is cut does not."""
    out = []
    for load in d.loads:
        seen = {v for x in (*load.force, *load.moment) for v in ([x.channel] if isinstance(x, Table) else free_variables(x))}
        if seen and not any(v == "t" or of_velocity(v) for v in seen):
            only = f"load '{load.name}' depends on position only ({', '.join(sorted(seen))})"
            out.append(f"{only}: it acts with the same force on the return stroke, as a spring does")
    return out


def _lacks_gravity(system: System) -> bool:
    return not np.any(system.skel.gravity) and any(b.mass for b in system.description.bodies)


def _no_room(d: Description) -> list[str]:
    """Return a warning where the moving bodies are heavier than osmium: lengths in metres, written where millimetres are meant."""
    places = {b.name: [p.at for p in b.points] for b in d.bodies}
    for j in d.joints:
        places[j.first].append(j.frame_first.at)
        places[j.second].append(j.frame_second.at)
    size = max((_widest(np.array(x, dtype=float)) for x in places.values() if x), default=0.0)
    mass = float(sum(b.mass or 0.0 for b in d.moving))
    if size == 0.0 or mass <= DENSEST * (AROUND * size) ** 3:
        return []
    symbol, unit = unit_of(d.units, "length")
    far = f"the largest distance on one body is {size / unit:.4g} {symbol}"
    return [f"{far}, but the moving bodies weigh {mass:.4g} kg: check the unit of lengths"]


def _widest(places: np.ndarray) -> float:
    """Return the largest distance of two places."""
    return max(float(np.linalg.norm(places - at, axis=1).max()) for at in places)
