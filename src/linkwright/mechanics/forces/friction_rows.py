"""Dry friction as rows: the coordinate, the joint whose load counts, and the bound c |F| + C."""

from __future__ import annotations

from typing import Any, NamedTuple

from linkwright.elements.friction import falling
from linkwright.model.coordinates import joint_part
from linkwright.model.description import Description, Friction


class FrictionRow(NamedTuple):
    """Dry friction along one coordinate of a joint."""

    name: str  # of the coordinate, as the model has it
    joint: str
    by_load: Any  # c: mu times the lever, at rest
    constant: Any  # C, at rest
    speed: Any  # over which it turns round, and never sticks; 0: it sticks
    breakaway: Any = 1.0  # both over their values in fast sliding
    stribeck: Any = 0.0  # over which they fall; 0: at once

    def sliding(self, v: Any) -> Any:
        """Share of its bound at rest with which it slides at a speed."""
        return falling(v, self.breakaway, self.stribeck) / self.breakaway

    @property
    def sticks(self) -> bool:
        return isinstance(self.speed, (int, float)) and self.speed == 0.0


def friction_row(d: Description, f: Friction) -> FrictionRow | None:
    """The row of a friction; None if it acts in several directions of a joint at once."""
    part = joint_part(d, f.joint)
    if len(part.entries) > 1:
        return None
    lever = f.radius if part.kinds == {"angle"} else 1.0
    more = f.breakaway
    return FrictionRow(f.joint, part.joint.name, f.mu * lever * more, f.coulomb * more, f.speed, more, f.stribeck)


def friction_rows(d: Description) -> tuple[FrictionRow, ...]:
    """Dry friction that no law of a travel has: by load, and constant where it sticks. Friction in several directions of a joint at once
    is smooth, and a force like any other."""
    found = (friction_row(d, f) for f in d.frictions)
    rows = (x if x.sticks else x._replace(constant=0.0) for x in found if x is not None)
    return tuple(x for x in rows if _there(x.by_load) or _there(x.constant))


def _there(x: Any) -> bool:
    """True for a number that is not zero, and for one that is an input of code."""
    return not (isinstance(x, (int, float)) and x == 0.0)
