"""How far a coordinate can go from a position: up to dead centers, rigid stops or, for angles, a full turn, where that is certain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.errors import UsageError, counted, degrees_of_freedom, listing
from linkwright.mechanics.closing.continuation import Walker, dead_center, walk
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.closing.mobility import digits_decide
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.singular_geometry import at_dead_center, geometry_text
from linkwright.mechanics.kinematics.motion import body_jacobian, joint_rate, locate, motion
from linkwright.model.coordinates import Distance, coordinate, is_rotary, lengths, slides
from linkwright.model.curves import Curve
from linkwright.model.curves.polynomial import Line
from linkwright.model.description import Description, Stop
from linkwright.motion import change_points
from linkwright.motion.cycle_samples import Walk, Walking, goes_all_the_way, native_walk, sampled, swept
from linkwright.numerics.linalg import factor
from linkwright.numerics.tolerances import AT_END
from linkwright.results.trajectory import Trajectory
from linkwright.text.units import ANGLE, LENGTH, shown

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled


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


def limits_of(core: Compiled, joint: str) -> Limits:
    """See `Mechanism.limits`: the other drives are held."""
    core.need_drive(joint)
    others = [name for name in core.drive_names if name != joint]
    held = others[: max(0, core.mobility.freedoms - 1)]
    return limits(core.loops, core.start.instant, joint, held, core.walking)


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


# ---------------------------------------------------------------- rigid stops of a coordinate and of others

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

    A cycle that meets a stop on one side only begins so much earlier; a start beyond an end passes it.
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


# ----------------------------------------------------------------------------------------------------
# Degrees of freedom that no drive moves: what a cycle, or a position of the drives, cannot decide


def check_driven(loops: Loops, tied: Loops, here: Instant, drives: Sequence[str]) -> None:
    """Every degree of freedom that moves something must be driven; idle spins do not count."""
    zero = np.zeros(loops.skel.tree.nv)
    c = tied.at(here.q, zero, 0.0, here.references)
    f, free = tied.factored(c), loops.factored(loops.at(here.q, zero, 0.0, here.references))
    freedoms = free.null.shape[1]
    if f.rank - free.rank < len(drives) and len(drives) > freedoms:
        raise _too_many(loops, here, drives, freedoms, free.smallest if free.rank else 1.0)
    undriven = _undriven(loops, here, f.null)
    names = _moving_joints(loops, here, undriven)
    if names:
        more, touches = undriven.shape[1], loops.skel.tree.description.touch_laws
        raise UsageError(
            f"{counted(more, 'more degree')} of freedom than drives: {f'with {listing(drives)} held, ' if drives else ''}"
            f"joint{'s' if len(names) > 1 else ''} {listing(names)} can still move. "
            + (
                "Contact moves them in a run, by `simulate`; a cycle does not hold contact."
                if touches
                else "Drive one of them, or fix its position by a spring, coupling or another joint."
            ),
            name=names[0],
        )


def _too_many(loops: Loops, here: Instant, drives: Sequence[str], freedoms: int, smallest: float) -> UsageError:
    """More drives than degrees of freedom; without any degree of freedom it is the mechanism that is wrong."""
    desc = loops.skel.tree.description
    place = next((f"{d.where}: " for d in reversed(desc.drives) if d.joint in drives and d.where is not None), "")
    if freedoms:
        return UsageError(
            f"{place}{counted(len(drives), 'drive')} ({listing(drives)}) for {degrees_of_freedom(freedoms)}: they contradict each "
            "other. Remove drives, or move one by name: the others then follow or are held."
        )
    held = [x for x in elements.constraints(desc) if _frees(loops, here, x.name)]
    extra = [f"{x.constraint} '{x.name}'" + (f" ({x.where})" if x.where else "") for x in held]
    remedy = f"Without {' or without '.join(extra)} it can move." if extra else "Take out a body, a joint or a rod."
    digits = digits_decide(smallest)
    cannot = f"nothing can move (mobility 0), so {listing(drives)} cannot turn"
    return UsageError(f"{place}this is a structure, not a mechanism: {cannot}{f', {digits}' if digits else f'. {remedy}'}")


def _frees(loops: Loops, here: Instant, name: str) -> bool:
    """True if something could move if this constraint were not there."""
    c = loops.at(here.q, np.zeros(loops.skel.tree.nv), 0.0, here.references)
    rows = [r for con, span in zip(loops.constraints, c.rows, strict=True) if con.name != name for r in range(span.start, span.stop)]
    J = loops.dimensionless(c)[1]
    return len(rows) < len(J) and factor(J[rows], 1e-9).null.shape[1] > 0


def _undriven(loops: Loops, here: Instant, null: np.ndarray) -> np.ndarray:
    """Motions among the columns of `null` that are no idle spins: those orthogonal to all of them."""
    spins = np.array([v for _, v in idle_motions(loops, here.q, null)])
    return null @ factor(spins.reshape(-1, len(null)) @ null).null if len(spins) else null


def _moving_joints(loops: Loops, here: Instant, null: np.ndarray) -> list[str]:
    """Joints that move in the given motions; none if no joint point moves (a wheel that spins on its own axle)."""
    skel = loops.skel
    m = motion(skel, here.q, np.zeros(skel.tree.nv))
    V = loops.columns[:, None] * null
    twists, shift = [], 0.0
    for i, n in enumerate(skel.tree.nodes):
        X = m.X[i] @ skel.X_CM[i]
        J = body_jacobian(skel, m, i) @ V
        twists.append(J)
        others = [m.X[i].point(np.asarray(p.at, dtype=float)) for p in skel.tree.description.body(n.body).points]
        shift = max(shift, *(np.abs(J[3:] - np.cross(p, J[:3], axisb=0).T).max(initial=0.0) for p in (X.p, *others)))
    if shift <= 1e-6 * loops.kappa:
        return []
    out = []
    for j in skel.tree.description.joints:
        r = joint_rate(skel, m, j, here.references[j.name])
        rate = sum((G @ twists[i] for i, G in ((r.first, r.G_first), (r.second, r.G_second)) if i >= 0), np.zeros((1, null.shape[1])))
        if np.abs(rate).max(initial=0.0) > 1e-6 * min(1.0, loops.kappa):
            out.append(j.name)
    return out


# ----------------------------------------------------------------------------------------------------
# Motions that go beyond the ends of a stop: nothing holds a prescribed motion back, so it is said


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
        small = AT_END * (max(float(np.ptp(x)), 1e-3) if sliding else 1.0)
        for end, reached, side in zip(s.travel_ends, (float(x.min()), float(x.max())), (-1.0, 1.0), strict=True):
            if end is not None and side * (reached - float(end)) > small:
                at, there = (shown(y, LENGTH if sliding else ANGLE, d.units, 4) for y in (float(end), reached))
                out.append(f"{s.word} '{s.name}': '{s.joint}' goes to {there}, beyond its end at {at}")
    return out
