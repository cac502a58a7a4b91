"""How far a coordinate can go from a position: up to dead centers, rigid stops or, for angles, a full turn, where that is certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.mechanics.closing.continuation import Walker, dead_center, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import at_dead_center, geometry_text
from linkwright.model.coordinates import is_rotary, lengths
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.description import Description
from linkwright.motion import change_points
from linkwright.motion.native_walks import Walking, goes_all_the_way, native_walk
from linkwright.motion.stop_limits import StopTimes, coordinate_now, others_end, stops_of, times_between_stops

REACH_STEP = 1e-7  # how finely a dead center is located, as a share of the range tried
SHORTEST = 1e-3  # share of its length at the start to which a cylinder may shrink
LONGEST_SLIDE = 4.0  # multiples of kappa: how far a slide without an end of its own is tried


@dataclass(frozen=True)
class Limits:
    """The positions between which a coordinate can move from the start."""

    joint: str
    low: float
    high: float
    full_turn: bool | None  # None: it cannot be determined, so near is a change point
    dead_low: bool  # low is a dead center, not just the end of the search
    dead_high: bool
    stop_low: str = ""  # low is at a rigid stop: of this coordinate
    stop_high: str = ""
    geometry_low: str = ""  # of a dead center: what is special about the links there, where it has such a reading
    geometry_high: str = ""
    slack: float | None = None  # m: by how much the links are long enough (or, negative, too short) to pass that change point


class _Reached(NamedTuple):
    """How far a coordinate goes one way, as a share of the range tried, and what ends it."""

    share: float
    dead: bool
    stop: str
    geometry: str = ""  # of a dead center


def limits(loops: Loops, here: Instant, joint: str, held: Sequence[str] = (), walking: Walking | None = None) -> Limits:
    """Walk a coordinate both ways from here until a dead center, a rigid stop or, for angles, a full turn."""
    desc = loops.skel.tree.description
    x0 = coordinate_now(loops, joint, here)
    rest = {h: Line(coordinate_now(loops, h, here), 0.0) for h in held if h != joint}
    still = [driven(desc, h, law) for h, law in rest.items()]
    span = longest_way(loops, joint)
    path: list[Walker] = []  # upwards, where machine code did not do it

    def reached(sign: float) -> _Reached:
        law = Line(x0, sign * span)
        own = times_between_stops(desc, joint, law, 1.0) or StopTimes(-1.0, 1.0, (False, False))
        tied, end = loops.with_([*still, driven(desc, joint, law)]), before_zero(desc, joint, law, own.last)
        native = native_walk(loops, {**rest, joint: law}, {}, walking)
        begin = walker(tied, here.q, here.references)
        other = others_end(loops, tied, begin, end, joint, native)
        if other.name:
            return _Reached(other.t, False, other.name)
        stop = joint if own.stops[1] and end == own.last else ""
        if goes_all_the_way(here, end, native):
            return _Reached(end, False, stop)
        steps = [begin]
        last = walk(tied, begin, end, smallest_step=REACH_STEP, steps=steps).at
        there = dead_center(tied, last, end)
        path.extend(steps if sign > 0.0 else [])
        if there >= end:
            return _Reached(there, False, stop)
        positions = {joint: float(law(there)[0]), **{h: float(x(0.0)[0]) for h, x in rest.items()}}
        return _Reached(there, True, "", geometry_text(at_dead_center(loops, positions, joint, last, here), desc.units))

    up, rotary = reached(1.0), is_rotary(desc, joint)
    if rotary and up.share >= 1.0 and not path:
        return Limits(joint, x0, x0 + span, True, False, False)
    down = reached(-1.0)
    if rotary and path and not up.stop and not down.stop:
        tied = loops.with_([*still, driven(desc, joint, Line(x0, span))])
        near = change_points.doubt(tied, path, 1.0, -down.share, up.share)
        if near is not None:
            low, high = x0 + near.low * span, x0 + near.high * span
            return Limits(joint, low, high, near.full_turn, False, False, slack=near.near.slack)
    if rotary and up.share >= 1.0:
        return Limits(joint, x0, x0 + span, True, False, False)
    low, high = x0 - down.share * span, x0 + up.share * span
    return Limits(joint, low, high, False, down.dead, up.dead, down.stop, up.stop, down.geometry, up.geometry)


def longest_way(loops: Loops, joint: str) -> float:
    """The range of a coordinate that is tried: a turn, or a slide that is long for this mechanism and no shorter than its stroke."""
    desc = loops.skel.tree.description
    lows, highs = stops_of(desc, joint)
    stroke = max(highs) - min(lows) if lows and highs else 0.0
    return 2.0 * np.pi if is_rotary(desc, joint) else max(LONGEST_SLIDE * loops.kappa, 1.01 * stroke)


def before_zero(desc: Description, drive: str, law: Curve, end: float) -> float:
    """`end`, or the time shortly before a cylinder of constant speed has no length: a negative one closes the loops as well."""
    start, slope, _ = law(0.0)
    if drive not in lengths(desc) or start + slope * end > 0.0:
        return end
    return (SHORTEST - 1.0) * start / slope
