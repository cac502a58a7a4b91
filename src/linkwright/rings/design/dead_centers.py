"""Dead centers of a cycle, described: singular positions of the drives, and the ends of swings and strokes inside the cycle.

Where an output of a mechanism with one degree of freedom turns back while its drive continues, the loops with the output held lose rank.
What is special about the links there is read as at any singular position (`mechanics.inverse.singular_geometry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    Description,
    Instant,
    System,
    Trajectory,
    compiled_of,
    curve_lines,
    cycles,
    driven_constraints,
    factor,
    is_rotary,
    joint_limits,
    joints,
    tolerances,
)
from linkwright.mechanics.closing.singular_position import LostRank, singular_position
from linkwright.mechanics.inverse.singular_geometry import geometry_text, read_geometry


@dataclass(frozen=True)
class DescribedPosition:
    """A position of the cycle with what is special about the links there."""

    drive: str
    at: float  # position of the leading drive, SI
    position: str  # the same in the file's unit: "30.14 deg"
    what: str  # "dead center of A", "passage" or "rocker.angle is largest"
    geometry: str

    def __str__(self) -> str:
        return f"{self.drive} = {self.position}, {self.what}: {self.geometry}"


def dead_centers(system: System, c: Trajectory, ends: Sequence[tuple[str, float, float]]) -> tuple[DescribedPosition, ...]:
    """Described positions, in the order of the drive; `ends`: (name of a swing or stroke, places of its smallest and largest value)."""
    d = system.description
    kinds = {"dead center": f"dead center of {c.drive}", "passage": "passage"}
    found = [(float(c.place(x.at)), kinds[x.kind], x.geometry) for x in c.singular if x.geometry]
    if d.planar and system.mobility.freedoms == 1 and c.drive in c.channels and c[c.drive].ndim == 1:
        for name, *places in ends:
            output = _coordinate(d, name)
            if output and output != c.drive:
                geometry = [(at, _turning_back(system, c, output, at)) for at in places]
                found += [(at, f"{name} is {how}", said) for (at, said), how in zip(geometry, ("smallest", "largest"), strict=True) if said]
    merged: dict[tuple[str, str], tuple[float, list[str]]] = {}
    for at, what, geometry in sorted(found, key=lambda x: x[0]):
        merged.setdefault((cycles.position_text(d, c.drive, at), geometry), (at, []))[1].append(what)
    rows = [DescribedPosition(c.drive, at, text, " and ".join(what), geometry) for (text, geometry), (at, what) in merged.items()]
    most = 12  # positions that are listed
    return tuple(rows[:most])


def _coordinate(d: Description, name: str) -> str:
    """The joint or cylinder whose coordinate a swing or stroke is; empty for a link that is not hinged on ground."""
    body, _, rest = name.rpartition(".")
    if rest != "angle" or all(b.name != body for b in d.bodies):
        return name
    ground = d.bodies[0].name
    hinges = (j for j in d.joints if {j.first, j.second} == {ground, body} and joints.is_hinge(joints.JOINTS[j.type]))
    return next((j.name for j in hinges), "")


def _turning_back(system: System, c: Trajectory, output: str, place: float) -> str:
    """Text about the links where an output turns back at a place of the drive; empty where it does not, or nothing is."""
    loops, d = compiled_of(system).loops, system.description
    i = int(_apart(d, c.drive, c[c.drive], place).argmin())
    near = Instant(c.skel, c.q[i], np.zeros(system.tree.nv), 0.0, c.references[i])
    hold = driven_constraints.driven(d, output, curve_lines.Line(joint_limits.coordinate_now(loops, output, near), 0.0))
    lost = LostRank(loops.with_([hold]), closed=len(loops.row_scale))
    looked_at = 8  # samples among which the one farthest from any dead center is taken for an ordinary position
    still = [Instant(c.skel, c.q[i], np.zeros(system.tree.nv), 0.0, c.references[i]) for i in range(0, len(c), max(1, len(c) // looked_at))]
    ordinary = max(still, key=lambda x: float(factor(lost.evaluated(x.q, 0.0, x.references)[1]).smallest))
    at = singular_position(lost, near, ordinary)
    if at is None:
        return ""
    there = Instant(c.skel, at.q, at.v, 0.0, loops.counted_references(at.q, at.references))
    if _apart(d, c.drive, joint_limits.coordinate_now(loops, c.drive, there), place) > tolerances.SAME_POSITION * max(1.0, loops.kappa):
        return ""
    return geometry_text(read_geometry(lost, at, ordinary), d.units)


def _apart(d: Description, drive: str, x: Any, place: float) -> Any:
    """Distances of positions of a drive; those of an angle within a turn."""
    away = np.abs(np.asarray(x) - place)
    return np.abs((away + np.pi) % (2.0 * np.pi) - np.pi) if is_rotary(d, drive) else away
