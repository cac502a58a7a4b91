"""The system that a robot format is written from: rods as links, and loops cut where other programs can close them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from linkwright.results.state import State
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.inertia import need_floor
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.pieces import refuse
from linkwright.rings.exchange.writing.robots.rods import with_rods_as_links
from linkwright.system.system import System


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
