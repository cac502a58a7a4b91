"""Loads a controller does not know: its model of the mechanism without some named elements.

`off=["wall"]` leaves out a closing condition (rod, cut joint, coupling, gear), a spring, damper, friction, stop, load, the force of
a cylinder, the mass of a body (`"payload"`), or `"gravity"`. The mechanism that is simulated has all of them. Friction and stops have the
names of their joints: `"A"` means both where A closes no loop, `"friction.A"` and `"stop.A"` one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwright.elements import ACTING, held
from linkwright.errors import UsageError, nearest
from linkwright.model.description import NO_INERTIA, ZERO3, Description

# fields of a description that may be switched off -> kind of the part
LISTS = {f: held(f)[0].word for f in ACTING if not held(f)[0].coordinate}
DRIVABLE = [f for f in ACTING if held(f)[0].coordinate]  # they stay, without their force
GRAVITY = "gravity"


def elements(d: Description) -> list[str]:
    """Names of loads and masses that a model can be without."""
    listed = [text for k, kind in LISTS.items() for x in getattr(d, k) for text in (x.name, f"{kind}.{x.name}")]
    heavy = [b.name for b in d.bodies if b.mass is not None]
    return [*listed, *(x.name for f in DRIVABLE for x in getattr(d, f)), *heavy, GRAVITY]


def without(d: Description, names: Sequence[str]) -> Description:
    """The description without these elements; names it does not have are ignored."""
    if not names:
        return d
    changed: dict[str, Any] = {
        k: tuple(x for x in getattr(d, k) if x.name not in names and f"{kind}.{x.name}" not in names) for k, kind in LISTS.items()
    }
    for f in DRIVABLE:
        changed[f] = tuple(replace(x, force=0.0) if x.name in names else x for x in getattr(d, f))
    changed["bodies"] = tuple(replace(b, mass=0.0, inertia=NO_INERTIA) if b.name in names else b for b in d.bodies)
    if GRAVITY in names:
        changed["gravity"] = ZERO3
    return replace(d, **changed)


def sorted_out(names: Sequence[str], d: Description, closing: Sequence[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(closing conditions, loads and masses) among the names that a controller's model is without."""
    known = elements(d)
    for name in names:
        if name not in closing and name not in known:
            tree = f" Joint '{name}' is in the spanning tree; cuts=['{name}'] makes it one." if name in [j.name for j in d.joints] else ""
            raise UsageError(
                f"{what}: '{name}' is no closing condition, load or mass. {nearest(name, [*closing, *known], 'Known')}{tree}",
                name=name,
                allowed=[*closing, *known],
            )
    return tuple(n for n in names if n in closing), tuple(n for n in names if n not in closing)
