"""Touches of a description: which surfaces may touch, in which order, and by which law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwright.elements import Surface
from linkwright.mechanics.contact.shapes import touch_count
from linkwright.model.description import Description


@dataclass(frozen=True)
class Touch:
    """A place where two surfaces may touch."""

    name: str  # of its channels: `step`; `grip.left` where a side lists surfaces; `box.1` where a pair has several places
    owner: Any  # the contact or clearance that it belongs to, with mu, restitution and jam
    first: Surface  # A
    second: Surface  # B, from which the normal points
    place: int = 0  # which of the places of these two surfaces

    @property
    def mu(self) -> float:
        return self.owner.mu

    @property
    def restitution(self) -> float:
        return self.owner.restitution

    @property
    def jam(self) -> str:
        return self.owner.jam


def touches(d: Description) -> tuple[Touch, ...]:
    """Return all touches of a description, in the order of the rows of kernel `contact_terms`."""
    surfaces = {x.name: x for x in d.surfaces}
    found: list[Touch] = []
    for owner in d.contacts:
        for a, b in owner.pairs:
            first, second = surfaces[a], surfaces[b]
            listed = [x for x, side in ((a, owner.first), (b, owner.second)) if len(side) > 1]
            name, count = ".".join([owner.name, *listed]), touch_count(first, second)
            found += [Touch(f"{name}.{i + 1}" if count > 1 else name, owner, first, second, i) for i in range(count)]
    return tuple(found)
