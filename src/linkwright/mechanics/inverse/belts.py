"""Tensions of belts from the loads of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwright.mechanics.constraints.belt import BeltConstraint

if TYPE_CHECKING:
    from linkwright.mechanics.inverse.loads import Loads


def belt_tensions(loads: Loads, name: str) -> list[Any]:
    """Return the tension of every span of a belt, negative where it would have to push; see `BeltConstraint.tensions`."""
    place, terms = loads.problem.place, loads.problem.terms
    for c, rows in zip(place.loops.constraints, terms.rows, strict=True):
        if isinstance(c, BeltConstraint) and c.name == name:
            return c.tensions(place.loops.skel, place.motion, loads.lam_all[rows])
    raise KeyError(name)
