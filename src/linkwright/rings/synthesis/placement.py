"""A linkage with a slider in its machine: turned so that the slide moves in a direction, its pin at a place, its fixed pivots in a box.

A synthesis leaves place, direction and handedness of a linkage open. The mirror image moves the slider in the same way; its crank turns
clockwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import UsageError
from linkwright.rings.synthesis.results import SynthesizedLinkage

GUIDE = "guide"
CLOCKWISE = "-60 rpm"
INSIDE = 1e-9  # m


@dataclass(frozen=True)
class SlidePlacement:
    """Direction of the travel away from the rest (rad), place of the slider's pin at rest and sides of the box (m); None: free."""

    direction: float | None = None
    at: complex | None = None
    within: tuple[float, float, float, float] | None = None  # x least, x most, y least, y most

    @classmethod
    def of(cls, direction: Any, at: Any, within: Any) -> SlidePlacement:
        """Return the placement that was asked for, checked."""
        try:
            place = None if at is None else complex(*(float(x) for x in at))
            angle = None if direction is None else float(direction)
        except (TypeError, ValueError):
            raise UsageError(
                f"at = {at!r}, direction = {direction!r}: a place is [x, y], a direction an angle such as '90 deg'.", name=at
            ) from None
        if not all(np.isfinite(x) for x in (angle or 0.0, place or 0.0)):
            raise UsageError("at and direction need finite numbers.", name="at")
        if within is not None and place is None:
            raise UsageError("pivots lie in a box of the machine: give at, the place of the slider's pin at rest, too.", name="at")
        return cls(angle, place, box_sides(within))

    @property
    def free(self) -> bool:
        return self.direction is None and self.at is None

    def outside(self, linkage: Any) -> float:
        """Return the largest distance by which a fixed pivot lies outside of the box."""
        if self.within is None:
            return 0.0
        left, right, low, high = self.within
        pivots = [linkage.pins[p] for p in linkage.bodies["ground"]]
        return max(0.0, *(max(left - z.real, z.real - right, low - z.imag, z.imag - high) for z in pivots))


def box_sides(within: Any) -> tuple[float, float, float, float] | None:
    """Return the sides of a box of ground pivots, checked; None without one."""
    if within is None:
        return None
    try:
        box = np.asarray(within, dtype=float).ravel()
    except (TypeError, ValueError):
        box = np.zeros(0)
    if box.shape != (4,) or not np.isfinite(box).all() or box[0] > box[1] or box[2] > box[3]:
        raise UsageError("within is (least x, most x, least y, most y) of the ground pivots.", name="within")
    return float(box[0]), float(box[1]), float(box[2]), float(box[3])


def placed(x: SynthesizedLinkage, away: float, wanted: SlidePlacement) -> SynthesizedLinkage:
    """Return the linkage in its place, its mirror image where that has its pivots in the box, or nearer to it; `away` is the sign of
    the guide's coordinate away from the rest."""
    if wanted.free:
        return x
    both = [(_moved(x.linkage, away, wanted), x.speed), (_moved(x.linkage.mirrored(), away, wanted), CLOCKWISE)]
    linkage, speed = min(both, key=lambda b: max(wanted.outside(b[0]), INSIDE))
    return replace(x, linkage=linkage, speed=speed)


def _moved(linkage: Any, away: float, wanted: SlidePlacement) -> Any:
    linkage = linkage.with_guide(GUIDE, np.sign(away))
    guide = linkage.guides[GUIDE]
    turned = linkage if wanted.direction is None else linkage.moved(np.exp(1j * wanted.direction) / guide.direction, 0.0)
    return turned if wanted.at is None else turned.moved(1.0, wanted.at - turned.pins[guide.at])
