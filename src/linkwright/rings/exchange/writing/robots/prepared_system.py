"""The system that a robot format is written from: rods as links, and loops cut where other programs can close them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from linkwright.api import Body, Description, Joint, Mat3, Placement, State, System, description
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.elementary_joints import refuse
from linkwright.rings.exchange.writing.inertia import need_floor
from linkwright.rings.exchange.writing.losses import Loss


@dataclass(frozen=True)
class RobotText:
    """A mechanism as the text of a robot format. `beside`: texts of files that belong to it, by ending; `zeros`: our coordinate at the
    zero of each joint of the file."""

    text: str
    lost: tuple[Loss, ...] = ()
    zeros: Mapping[str, float] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)


class PreparedSystem(NamedTuple):
    """A system to be written, and its start."""

    system: System
    start: State


class _Mechanism(NamedTuple):
    system: System


def prepared(model: System | loops.HasSystem, program: str, floor: float = 0.0, *, closing: bool = True) -> PreparedSystem:
    """The system of a model with rods as links; `closing`: cut at joints that points, axes and welds can close."""
    need_floor(floor)
    given = loops.system_of(model)
    refuse(given.description, program)
    given.M(given.start)  # says which masses are missing
    if given.description.rods:
        model = _Mechanism(System(with_rods_as_links(given)))
    system = loops.convertible(model, program, regular=True) if closing else loops.system_of(model)
    return PreparedSystem(system, loops.in_tree_of(system, loops.system_of(model).start))


# Rods as links without mass: a distance between two points is a bar with a hinge at either end, in space a universal joint and a ball.


def with_rods_as_links(system: System) -> Description:
    """The description with a body and two joints in place of every rod, at the start of the system."""
    d = system.description
    for rod in d.rods:
        d = _replaced(d, system, rod)
    return d


def _replaced(d: Description, system: System, rod: description.Rod) -> Description:
    (first, start), (second, end) = rod.between
    ends = [system.point(system.start, f"{body}.{point}") for body, point in rod.between]
    R = _along(np.asarray(ends[1], float) - np.asarray(ends[0], float), d.planar)
    length = float(rod.length)
    tip = (length, 0.0, 0.0) if d.planar else (0.0, 0.0, length)
    name = _fresh(rod.name, {b.name for b in d.bodies} | {j.name for j in d.joints})
    link = Body(
        name,
        (description.Point("A", (0.0, 0.0, 0.0)), description.Point("B", tip)),
        mass=0.0,
        outline=(("A", "B"),),
        start=_placement(R, ends[0]),
    )
    R_first = np.asarray(system.pose(system.start, first).R, float)
    near = Placement(d.point((first, start)).at, description.EYE3 if d.planar else _rows(R_first.T @ R))
    kinds = ("revolute", "revolute") if d.planar else ("universal", "spherical")
    joints = (
        Joint(f"{name}_A", kinds[0], first, name, near, Placement()),
        Joint(f"{name}_B", kinds[1], second, name, Placement(d.point((second, end)).at), Placement(tip)),
    )
    rods = tuple(x for x in d.rods if x.name != rod.name)
    return replace(d, bodies=(*d.bodies, link), joints=(*d.joints, *joints), rods=rods, cuts=None)


def _along(direction: np.ndarray, planar: bool) -> np.ndarray:
    """Axes with x along a direction of the plane, or z along one in space."""
    u = direction / np.linalg.norm(direction)
    if planar:
        return np.array([[u[0], -u[1], 0.0], [u[1], u[0], 0.0], [0.0, 0.0, 1.0]])
    side = np.cross(u, np.eye(3)[int(np.argmin(np.abs(u)))])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(u, side), u], axis=1)


def _rows(R: np.ndarray) -> Mat3:
    a, b, c = ((float(x), float(y), float(z)) for x, y, z in R)
    return (a, b, c)


def _placement(R: np.ndarray, at: np.ndarray) -> Placement:
    return Placement((float(at[0]), float(at[1]), float(at[2])), _rows(R))


def _fresh(wanted: str, taken: set[str]) -> str:
    name, n = wanted, 1
    while name in taken:
        n += 1
        name = f"{wanted}_{n}"
    return name
