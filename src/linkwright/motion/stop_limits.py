"""Ends of a turn at rigid stops (`stops:` without stiffness, `stroke:`): of the drive that leads it, and of all other coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.mechanics.closing.continuation import Walker, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import locate
from linkwright.model.coordinates import Distance, coordinate, is_rotary
from linkwright.model.curves import Curve
from linkwright.model.curves.lines import Line
from linkwright.model.description import Description, Stop
from linkwright.motion.cycle_samples import Walk, sampled, swept
from linkwright.results.trajectory import Trajectory

LOOKS = 360  # samples on the way to an end at which other coordinates are compared with their stops
AT = 1e-9  # share of a turn: nearer to an end than this is at the end


def coordinate_now(loops: Loops, name: str, here: Instant) -> float:
    """Position of a cylinder, of a joint with one coordinate, or of one coordinate of a joint (`C.slide`)."""
    on = coordinate(loops.skel.tree.description, name)
    if isinstance(on, Distance):
        a, b = (locate(loops.skel, here.motion, ref).position for ref in on.between)
        return float(np.linalg.norm(b - a))
    return float(here.references[on.joint.name][on.q or 0])


def stops_of(d: Description, lead: str) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends that rigid stops set to a coordinate."""
    own = [s for s in d.rigid_stops if s.joint == lead]
    return [float(s.lower) for s in own if s.lower is not None], [float(s.upper) for s in own if s.upper is not None]


def others_of(d: Description, lead: str) -> list[Stop]:
    """Return the rigid stops of other coordinates."""
    return [s for s in d.rigid_stops if s.joint != lead]


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


class OtherEnd(NamedTuple):
    """The end of a motion in which a coordinate that does not lead it meets its stop; `name` is empty where none does."""

    t: float
    name: str


def others_end(loops: Loops, tied: Loops, begin: Walker, end: float, lead: str, native: Walk | None) -> OtherEnd:
    """Return the first time on the way from `begin` to t = `end` at which another coordinate than the lead meets a rigid stop.

    A start beyond an end passes it. Coordinates are compared at samples: one that goes beyond its end and back between two of them is
    not seen.
    """
    stops = others_of(loops.skel.tree.description, lead)
    if not stops or end == begin.at.t:
        return OtherEnd(end, "")
    times = np.linspace(begin.at.t, end, LOOKS + 1)
    found = swept(tied, begin.at.q, begin.at.references, times, native) or sampled(loops, tied, begin, times)
    if found is None:
        return OtherEnd(end, "")
    c = Trajectory(tied.skel, times, found.q, found.v, found.a, found.references)
    first = OtherEnd(end, "")
    for s in stops:
        small = AT * max(1.0, loops.kappa)
        beyond = _beyond(s, np.asarray(c[s.joint], dtype=float))
        met = np.flatnonzero(beyond > small)
        if not len(met) or met[0] == 0:
            continue
        k = int(met[0])
        near = walker(tied, found.q[k - 1], found.references[k - 1], float(times[k - 1]))
        t = _root(loops, tied, near._replace(strong=max(near.strong, begin.strong), calm=max(near.calm, begin.calm)), float(times[k]), s)
        if abs(t - begin.at.t) < abs(first.t - begin.at.t):
            first = OtherEnd(t, s.joint)
    return first


def _beyond(s: Stop, x: np.ndarray) -> np.ndarray:
    """How far positions are beyond the nearer end, negative between the ends."""
    ends = [side * (x - float(end)) for side, end in ((-1.0, s.lower), (1.0, s.upper)) if end is not None]
    return np.max(ends, axis=0)


def _root(loops: Loops, tied: Loops, near: Walker, far: float, s: Stop) -> float:
    """The time between a state within the stop and one beyond it at which the coordinate is at the end."""
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        return float(_beyond(s, np.array([coordinate_now(loops, s.joint, walk(tied, near, t).at)]))[0])

    if excess(near.at.t) >= 0.0:
        return near.at.t
    return float(brentq(excess, near.at.t, far, xtol=1e-14 * max(1.0, abs(far)), rtol=1e-14))


def ends_text(slides: bool, stopped: tuple[bool, bool], dead: tuple[bool, bool], others: tuple[str, str] = ("", "")) -> str:
    """Text about the two ends of a motion: stops of the drive or of `others`, dead centers, or neither."""
    own = "the end of its stroke" if slides else "its stop"
    named = zip(stopped, dead, others, strict=True)
    kinds = [f"the stop of '{o}'" if o else "a dead center" if c else own if s else "" for s, c, o in named]
    if all(kinds):
        both = {"its stop": "its stops", "the end of its stroke": "the ends of its stroke", "a dead center": "dead centers"}
        if kinds[0] == kinds[1]:
            return f"between {both[kinds[0]]}" if kinds[0] in both else f"up to {kinds[0]} both ways"
        return f"between {kinds[0]} and {kinds[1]}"
    return f"up to {kinds[0] or kinds[1]}" if any(kinds) else "in the range tried"
