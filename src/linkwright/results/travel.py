"""Motions that go beyond the ends of a stop: nothing holds a prescribed motion back, so it is said."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from linkwright import elements
from linkwright.model.coordinates import slides
from linkwright.model.description import Description
from linkwright.text.units import ANGLE, LENGTH, shown

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

BEYOND = 1e-6  # radians, or shares of the travel seen: as far beyond an end is at the end


def beyond_stops(c: Trajectory, chosen: Collection[str] | None = None, *, rigid: bool | None = None) -> list[str]:
    """Return a note on every end that a motion passes; `chosen`: coordinates, all by default; `rigid`: True for rigid stops only, False
    for soft ones."""
    d: Description = c.skel.tree.description
    out = []
    for s in elements.stopping(d):
        if (chosen is not None and s.joint not in chosen) or rigid not in (None, s.acts == elements.IDLE) or not len(c):
            continue
        x = np.asarray(c[s.joint], dtype=float)
        sliding = slides(d, s.joint)
        small = BEYOND * (max(float(np.ptp(x)), 1e-3) if sliding else 1.0)
        for end, reached, side in zip(s.travel_ends, (float(x.min()), float(x.max())), (-1.0, 1.0), strict=True):
            if end is not None and side * (reached - float(end)) > small:
                at, there = (shown(y, LENGTH if sliding else ANGLE, d.units, 4) for y in (float(end), reached))
                out.append(f"{s.word} '{s.name}': '{s.joint}' goes to {there}, beyond its end at {at}")
    return out
