"""Ends of the travel of the drive that leads a turn: where a rigid stop of its own coordinate ends it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.mechanics.constraints.drives import is_rotary
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.description import Description

AT = 1e-9  # share of a turn: nearer to an end than this is at the end


def stops_of(d: Description, lead: str) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends that rigid stops set to a coordinate."""
    own = [s for s in d.stops if s.stiffness is None and s.joint == lead]
    return [float(s.lower) for s in own if s.lower is not None], [float(s.upper) for s in own if s.upper is not None]


class StopTimes(NamedTuple):
    """The first and the last time of a swing, and which of them is at a stop."""

    first: float
    last: float
    stops: tuple[bool, bool]


def times_between_stops(d: Description, lead: str, law: Curve, span: float) -> StopTimes | None:
    """Return the times, on a law of constant speed, between which the lead stays within its rigid stops; None where none ends its cycle.

    A turn that meets a stop on one side only begins so much earlier; a start beyond an end passes it.
    """
    lows, highs = stops_of(d, lead)
    if not isinstance(law, Line) or not (lows or highs):
        return None
    x0, small = float(law(0.0)[0]), AT * abs(law.slope) * span
    below = min((max(x0 - x, 0.0) for x in lows if x <= x0 + small), default=np.inf) / abs(law.slope)
    above = min((max(x - x0, 0.0) for x in highs if x >= x0 - small), default=np.inf) / abs(law.slope)
    before, after = (below, above) if law.slope > 0.0 else (above, below)
    if is_rotary(d, lead):
        whole, most = after >= span * (1.0 - AT), span - after
        return None if whole else StopTimes(-min(before, most), after, (before <= most, True))
    return StopTimes(-min(before, span), min(after, span), (before <= span, after <= span))


def ends_text(stopped: tuple[bool, bool], dead: tuple[bool, bool]) -> str:
    """Text about the two ends of a swing: stops, dead centres, or neither."""
    kinds = ["a dead centre" if c else "its stop" if s else "" for s, c in zip(stopped, dead, strict=True)]
    if all(kinds):
        both = {"its stop": "its stops", "a dead centre": "dead centres"}
        return f"between {both[kinds[0]]}" if kinds[0] == kinds[1] else f"between {kinds[0]} and {kinds[1]}"
    return f"up to {kinds[0] or kinds[1]}" if any(kinds) else "in the range tried"
