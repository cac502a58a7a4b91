"""What equations are told before they are evaluated: a plan that numbers decided, and drives whose motion is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwright.constraints import Constraint
from linkwright.constraints.driver import DrivenDistance, Driver
from linkwright.loops import Loops

Order = tuple[tuple[int, ...], tuple[int, ...]]  # of the rows and columns of an elimination


@dataclass(frozen=True)
class Plan:
    """What numbers decided before tracing."""

    order: tuple[int, ...]  # of elimination: loops, and late subsystems as number of loops + index
    axes: str = "first"  # of which body's axes the rows of point-holding joints are taken along
    keep: tuple[int, ...] | None = None  # independent rows; None: all
    saddle: Order | None = None  # a subsystem has no inertia: order of elimination of the whole saddle-point matrix
    nominal: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # usual size of the pivots of each solve
    orders: Mapping[str, Order] = field(default_factory=dict)  # of the solves with drives
    idle: tuple[tuple[float, ...], ...] = ()  # constant directions of v that spin a link in place

    @property
    def lean(self) -> bool:
        return self.keep is None


class Given:
    """A motion law that is three arrays' entries: value, speed, acceleration."""

    def __init__(self, value: Any, speed: Any = 0.0, acceleration: Any = 0.0):
        self.values = (value, speed, acceleration)

    def __call__(self, t: Any) -> Any:
        return self.values


def driver(loops: Loops, name: str, law: Any) -> Constraint:
    """The constraint that moves a joint's single coordinate or a cylinder's length."""
    d = loops.skel.tree.description
    for cylinder in d.cylinders:
        if cylinder.name == name:
            return DrivenDistance(name, cylinder.between, law)
    return Driver(d.joint(name), law)
