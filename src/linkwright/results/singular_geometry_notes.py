"""Singular positions of a turn with what is special about the links there, read from the self-stress (`singular_geometry`).

A turn stores the positions next to them and what its drives were; the text is made on demand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import at_dead_center, geometry_text
from linkwright.results.singular_positions import SingularPlace

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

PLACES, NEXT_TO = "singular", "next_to_singular"  # settings of a turn


def stored(places: Sequence[SingularPlace], next_to: Sequence[tuple[np.ndarray, Mapping[str, float]]]) -> dict[str, Any]:
    """Settings of a turn: its places, and for each a position q next to it with the positions of the drives."""
    near = [{"q": [float(x) for x in q], "drives": dict(drives)} for q, drives in next_to]
    return {PLACES: [asdict(x) for x in places], NEXT_TO: near}


def places_of(settings: Mapping[str, Any]) -> tuple[SingularPlace, ...]:
    """The places alone."""
    return tuple(SingularPlace(**x) for x in settings.get(PLACES, ()))


def described_places(c: Trajectory) -> tuple[SingularPlace, ...]:
    """The singular positions of a turn, described where they have such a reading."""
    places, next_to = places_of(c.settings), c.settings.get(NEXT_TO, ())
    if not next_to:
        return places
    units, ordinary = c.skel.tree.description.units, _ordinary(c)
    out = []
    for place, near in zip(places, next_to, strict=True):
        here = Instant(c.skel, np.array(near["q"]), np.zeros(c.skel.tree.nv), 0.0, c.references[int(np.abs(c.t - place.t).argmin())])
        found = at_dead_center(c.frame, near["drives"], place.drive, here, ordinary)
        out.append(replace(place, geometry=geometry_text(found, units)))
    return tuple(out)


def _ordinary(c: Trajectory) -> Instant:
    """The sample that is farthest from singular positions."""
    times = np.array([x.t for x in places_of(c.settings)])
    i = int(np.abs(c.t[:, None] - times).min(axis=1).argmax())
    return Instant(c.skel, c.q[i], np.zeros(c.skel.tree.nv), 0.0, c.references[i])
