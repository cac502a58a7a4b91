"""Ends that hold one way: of rigid stops, taut ropes, and rows of constraints with a travel (cams that lift off, play of gears).

An end is one row of a coordinate or of a constraint, with a side, the value there and a restitution. It is an event where the row reaches
that value, an impact (`impacts`), and rest until the end would have to pull (`rests`): with u the speed out of the range,

    impact    M (v+ - v-) = J' Lam,   u+ = -e u-  where an impulse acts,  u+ <= -e u-  elsewhere
    rest      M a + h = tau + J' lam, u' = 0      where the end pushes,   u' <= 0      elsewhere

over all ends that are reached at this instant. The time steppers hold an independent set in place (`integrators.stop_rests`), next to
whatever drives them; where a push passes through zero the run leaves that end. Ends that depend on the set rest with it: they move nothing
and share its load.

Bounces come to an end: impacts slower than `SLOW` do not rebound, and where the impact at one end throws a coordinate off another so
slowly that it would be back after a hop lower than `HOP`, it rests there at once (the end of a series of ever smaller hops).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import elements
from linkwright.drives.base import target
from linkwright.elements import RowTravel
from linkwright.errors import UsageError, listing
from linkwright.integrators import NEVER, PUSH, HeldRow, HeldWatch
from linkwright.mechanics import forces
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.coupling import CouplingConstraint
from linkwright.mechanics.constraints.driver import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.constraints.single_row import SingleRow, free_rows, held_row
from linkwright.mechanics.contact import tangent_count
from linkwright.mechanics.dynamics.reactions import every_joint_wrench, labeled
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import at_origin, unit_push
from linkwright.mechanics.kinematics.motion import Skeleton, motion
from linkwright.model.curves.polynomial import Line
from linkwright.numerics.constrained_gauss_newton import step_with_inequalities
from linkwright.numerics.linalg import factor
from linkwright.numerics.tolerances import ZERO_SHARE
from linkwright.results.records import Column, acting, push_name
from linkwright.results.state import State
from linkwright.simulation.events import When
from linkwright.simulation.friction_modes import FrictionFunction, watched_rows
from linkwright.simulation.touches import HeldFunction, forces_of, held_names

if TYPE_CHECKING:
    from linkwright.simulation.events import RunMode
    from linkwright.simulation.run import RunPiece, Simulation


SLOW = 1e-3  # rad/s, or characteristic lengths a second: slower impacts do not rebound
REACHED = 1e-9  # radians, or characteristic lengths: nearer than this an end is reached
BEYOND = 1e-12  # an event is that far beyond the end: a bounce begins on its near side
HOP = 1e-8  # radians, or characteristic lengths: lower hops are none
PRESCRIBED = ("speed", "position", "moves")  # kinds of drives that move a coordinate whatever stops it


@dataclass(frozen=True)
class StopEnd:
    """One end of a rigid stop, of a rope, or of the travel that a row of a constraint has in a run."""

    stop: str
    coordinate: str  # or the name of a row, `cam.ratio`
    side: float  # 1: the upper end, -1: the lower one
    at: float
    restitution: float = 0.0
    kind: str = "end"  # "end", "pull", "play", or "face" where the other side is open
    row: bool = False  # of a constraint

    @property
    def key(self) -> str:
        return self.stop if self.kind in ("pull", "face") else f"{self.stop} {'upper' if self.side > 0.0 else 'lower'}"

    @property
    def events(self) -> tuple[str, str]:
        """Names of the events in which it is reached and left."""
        if self.kind == "end":
            return f"stop {self.key}", f"off stop {self.key}"
        if self.kind == "pull":
            return f"{self.key} becomes taut", f"{self.key} goes slack"
        return f"{self.key} touches", f"{self.key} leaves"

    def constraint(self, skel: Skeleton) -> Constraint:
        """The row that holds the coordinate at the end."""
        return held_row(skel, self.coordinate, self.at)

    def value(self, st: State) -> Any:
        """Value of the coordinate or row at a state."""
        if not self.row:
            return st[self.coordinate]
        skel = st.skel
        return free_rows(skel)[self.coordinate].rows(skel, motion(skel, st.q, st.v), st.v, st.t, st.references).phi[0]


def ends_of(skel: Skeleton) -> tuple[StopEnd, ...]:
    """Ends of everything one-sided in a model of numbers: rigid stops, ropes, rows of constraints with a travel."""
    d = skel.tree.description
    ropes, out = {x.name for x in d.pulling}, []
    for s in d.rigid_stops:
        kind = "pull" if s.name in ropes else "end"
        for side, end in ((-1.0, s.lower), (1.0, s.upper)):
            if end is not None:
                out.append(StopEnd(s.name, s.joint, side, float(end), float(s.restitution), kind))
    for x in elements.constraints(d):
        travel = x.row_travel
        if travel is None:
            continue
        for name, row in free_rows(skel).items():
            if row.name == x.name:
                out += [_end(x, name, travel, *end) for end in _open_ends(skel, row, travel)]
    return tuple(out)


def _open_ends(skel: Skeleton, row: SingleRow, travel: RowTravel) -> list[tuple[float, float]]:
    """(side, end) of the ends of a row that are there."""
    ends = [(side, float(end)) for side, end in ((-1.0, travel.lower), (1.0, travel.upper)) if end is not None]
    turned = travel.lifts and isinstance(row.of, CouplingConstraint) and row.of.lifted(skel) < 0.0
    return [(-side, -end) for side, end in ends] if turned else ends


def _end(x: Any, name: str, travel: RowTravel, side: float, at: float) -> StopEnd:
    both = travel.lower is not None and travel.upper is not None
    kind = "play" if both else "face" if travel.lifts else "pull"
    own = x.name if len(x.labels) == 1 else name
    return StopEnd(own, name, side, at, float(travel.restitution), kind, True)


def released(skel: Skeleton) -> tuple[str, ...]:
    """Names of the constraints that hold one way in a run."""
    return tuple(x.name for x in elements.constraints(skel.tree.description) if x.row_travel is not None)


# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class StopAction:
    """Reach an end of a stop, or leave it."""

    verb: str  # "reach" or "leave"
    name: str  # key of the end

    def __str__(self) -> str:
        return f"{self.verb} {self.name}"


@dataclass(frozen=True)
class RowValue:
    """Value of a row of a constraint as the function of an event."""

    end: StopEnd
    kept = True  # its kernel serves every mode

    @property
    def __name__(self) -> str:
        return self.end.coordinate

    def __call__(self, st: State) -> Any:
        return self.end.value(st)


class StopPush:
    """Push of an end that is rested at, as the function of an event: the time stepper itself has it (`integrators.stop_rests`)."""

    def __init__(self, end: StopEnd):
        self.end, self.__name__ = end, f"push of {end.key}"

    def __call__(self, st: State) -> float:
        raise UsageError(f"the {self.__name__} is known to a run alone.")


def events_of(loops: Loops, ends: Sequence[StopEnd]) -> tuple[When, ...]:
    """An event where each end is reached, and one where it would have to pull."""
    out = []
    for e in ends:
        at = e.at + e.side * BEYOND * _size(loops, e)
        reached, left = e.events
        watched: Any = RowValue(e) if e.row else e.coordinate
        out.append(When(watched, reached, int(e.side), True, at, (StopAction("reach", e.key),)))
        push: Any = StopPush(e)
        out.append(When(push, left, -1, True, 0.0, (StopAction("leave", e.key),), True))
    return tuple(out)


def unstoppable(drive: Mapping[str, Any], locks: Mapping[str, float]) -> set[str]:
    """Coordinates whose motion is given: their stops are not regarded."""
    return {name for name, d in drive.items() if getattr(d, "kind", "") in PRESCRIBED} | set(locks)


def coordinates(ends: Mapping[str, StopEnd]) -> tuple[str, ...]:
    """Coordinates with rigid ends, each once."""
    return tuple(dict.fromkeys(e.coordinate for e in ends.values()))


def sizes(loops: Loops, ends: Mapping[str, StopEnd]) -> dict[str, float]:
    """1 rad or the characteristic length of each of them."""
    return {name: _size(loops, next(e for e in ends.values() if e.coordinate == name)) for name in coordinates(ends)}


def held_ends(ends: Mapping[str, StopEnd], resting: Sequence[str]) -> tuple[list[HeldRow], list[HeldWatch]]:
    """These ends as the time steppers hold them, and the events of their pushes."""
    rows = coordinates(ends)
    held = [HeldRow(rows.index(ends[key].coordinate), ends[key].at) for key in resting]
    return held, [HeldWatch(PUSH, i, -ends[key].side) for i, key in enumerate(resting)]


def watched_in(events: Sequence[When], mode: RunMode) -> tuple[When, ...]:
    """Events of a mode. Those on reaching an end are all there, so that one code serves every set of ends that hold, and left alone where
    they would change nothing; what is watched of ends and touches that hold comes last, in their order."""
    of_rows = (StopPush, HeldFunction, FrictionFunction)
    own = [w for w in events if not isinstance(w.function, of_rows) and (mode.watches(w) or reaches(w))]
    pushes = {w.function.end.key: w for w in events if isinstance(w.function, StopPush)}
    held = {(w.function.verb, w.function.touch): w for w in events if isinstance(w.function, HeldFunction)}
    watched = [held[key] for key in held_names(mode.touching)] if mode.touching else []
    rubbing = {(w.function.verb, w.function.row): w for w in events if isinstance(w.function, FrictionFunction)}
    watched += [rubbing[key] for key in watched_rows(mode.friction)] if mode.friction else []
    return (*(w if mode.watches(w) else replace(w, direction=NEVER) for w in own), *(pushes[key] for key in mode.rests), *watched)


def reaches(w: When) -> bool:
    """True for the event of an end that is reached."""
    return bool(w.do) and w.do[0].verb == "reach"


# -------------------------------------------------------------------- where ends are


def reached(loops: Loops, ends: Sequence[StopEnd], st: State) -> list[StopEnd]:
    """Ends at which a state is."""
    return [e for e in ends if abs(float(e.value(st)) - e.at) <= REACHED * _size(loops, e)]


def _size(loops: Loops, e: StopEnd) -> float:
    """A radian, or the characteristic length."""
    return loops.kappa if e.constraint(loops.skel).kinds[0] == "length" else 1.0


def beyond(loops: Loops, ends: Sequence[StopEnd], st: State) -> list[StopEnd]:
    """Ends that a state is beyond."""
    near = {e.key for e in reached(loops, ends, st)}
    return [e for e in ends if e.key not in near and e.side * (float(e.value(st)) - e.at) > 0.0]


def without(loops: Loops, off: Sequence[str]) -> Loops:
    """The loops with some closing conditions left out."""
    left = tuple(c for c in loops.constraints if c.name not in off)
    return replace(loops, constraints=left) if len(left) < len(loops.constraints) else loops


# ----------------------------------------------------------------------------------------------------
# Pushes of rigid stops over the samples of one mode, and how stops that rest together share a load
# The pushes of an independent set of stops follow from the motion. Ends that rest with them depend on that set: their rows are redundant
# like any others, and of all pushes that give the same motion those are taken that keep the reactions of all joints and the pushes
# themselves least, as `reactions.least_reactions` does, with the difference that a stop only pushes.

LEFT = 10.0 * REACHED  # radians, or characteristic lengths: farther than this from its end a coordinate does not rest there


PULL = 1e-12  # share of the largest reaction by which an end may seem to pull: round-off


class StopPushes(NamedTuple):
    """Pushes along the coordinates of ends, (samples, ends), the generalized forces of all that holds, (samples, velocities), and normal
    force and friction of closed touches."""

    ends: list[StopEnd]
    values: np.ndarray
    tau: np.ndarray
    touches: Mapping[str, tuple[np.ndarray, list[np.ndarray]]]
    friction: np.ndarray | None = None  # (samples, rows) of joints


def stop_columns(sim: Simulation) -> dict[str, str]:
    """Channels of the pushes of rigid stops, and their dimensions: of every coordinate with a rigid end that nothing moves past it."""
    skel, given = sim.system.loops.skel, unstoppable(sim.drive, {})
    own = dict.fromkeys(e.coordinate for e in sim.ends.values() if not e.row and e.coordinate not in given)
    kinds = {name: target(skel, name).effort_kind for name in own}
    return {push_name(skel.tree.description, name, kind): kind for name, kind in kinds.items()}


def pushes_of(sim: Simulation, piece: RunPiece, near: np.ndarray, head: Mapping[str, np.ndarray]) -> StopPushes:
    """Pushes of the independent set at the samples of a mode, whose inputs are known: `head`."""
    rows = piece.solution
    found = piece.evaluator.pushes_over(rows.t, rows.y, near, head)
    ends, across = [sim.ends[key] for key in piece.mode.rests], tangent_count(sim.system.description)
    pushes, tau = found.push, (found.push[:, None] @ found.J)[:, 0]
    closed = forces_of(piece.mode.touching, pushes.T, found.slides.transpose(1, 2, 0), len(ends), across) if piece.mode.touching else {}
    rubbing = None if sim.friction is None else pushes[:, pushes.shape[1] - len(sim.friction.rows) :]
    return StopPushes(ends, pushes[:, : len(ends)], tau, closed, rubbing)


def columns_of(sim: Simulation, found: StopPushes | None, n: int) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of the pushes over a mode of n samples, zero where nothing rests."""
    out, d = {name: (np.zeros(n), kind) for name, kind in stop_columns(sim).items()}, sim.system.description
    for i, e in enumerate(() if found is None else found.ends):
        names = [] if e.row else [push_name(d, e.coordinate, kind) for kind in ("force", "torque")]
        for name in names:
            if name in out and found is not None:
                out[name] = out[name][0] + (-1.0 if e.kind == "pull" else 1.0) * found.values[:, i], out[name][1]
    return out


def multipliers_of(found: StopPushes, names: Sequence[str]) -> np.ndarray:
    """Pushes of rows of constraints as their multipliers, (samples, rows of all loops)."""
    out = np.zeros((len(found.values), len(names)))
    for i, e in enumerate(found.ends):
        if e.row:
            out[:, names.index(e.coordinate)] += found.values[:, i]
    return out


# -------------------------------------------------------------------- ends that rest together


def sharing(
    sim: Simulation, piece: RunPiece, near: np.ndarray, a: np.ndarray, lam: np.ndarray, found: StopPushes, columns: Mapping[str, Any]
) -> StopPushes:
    """The pushes of all ends that rest together, of least reactions, where the mode has ends that depend on the set which holds.

    a, lam: accelerations and multipliers of the closed loops and the given motions at the samples, with the pushes found.
    """
    loops = without(sim.loops, piece.mode.off)
    d, system = loops.skel.tree.description, sim.system
    ends = [*found.ends, *(sim.ends[key] for key in piece.mode.implied)]
    given = piece.evaluator.setup.actuation.drivers
    rows, problem = piece.solution, piece.evaluator.setup.problem
    efforts, wrenches = acting(loops.skel, {name: Column(*x) for name, x in columns.items()})
    values, tau = np.zeros((len(rows.t), len(ends))), np.zeros(found.tau.shape)
    before: list[np.ndarray] = []
    for i, t in enumerate(rows.t):
        q, v = rows.y[i, : problem.nq], rows.y[i, problem.nq : problem.nq + problem.nv]
        now = [q, v / system.loops.columns, a[i], lam[i], found.values[i], np.array([x[i] for x in efforts.values()])]
        if before and not wrenches and all(_alike(x, y) for x, y in zip(now, before, strict=True)):
            values[i], tau[i] = values[i - 1], tau[i - 1]  # nothing moves and nothing changes: by far the most samples at rest
            continue
        before = now
        at = Instant(loops.skel, q, v, float(t), system.loops.skel.unpack(q, near[i]))
        pushes = [w for f in forces.of_description(d) for w in f.wrenches(at)]
        pushes += [(node, w * x[i]) for name, x in efforts.items() for node, w in unit_push(d, at, name)]
        pushes += [(loops.skel.node(body), at_origin(at, loops.skel.node(body), w[i])) for body, w in wrenches.items()]
        moved = [driven(d, name, Line(target(loops.skel, name).position(at), 0.0)) for name in given]
        tied = loops.with_([*moved, *(e.constraint(loops.skel) for e in ends)])
        place = Instant(loops.skel, q, v, float(t), at.references, loops=tied, motion=at.motion, external=pushes)
        known = np.concatenate([lam[i], found.values[i], np.zeros(len(ends) - len(found.ends))])
        chosen = least_pushes(place, known, a[i], ends)
        values[i] = chosen[len(known) - len(ends) :]
        tau[i] = values[i] @ place.closure.J[len(known) - len(ends) :]
    return found._replace(ends=ends, values=values, tau=tau)


def _alike(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.abs(x - y).max(initial=0.0) <= ZERO_SHARE * (1.0 + np.abs(y).max(initial=0.0)))


def least_pushes(place: Instant, lam: np.ndarray, a: np.ndarray, ends: Sequence[StopEnd]) -> np.ndarray:
    """Among the multipliers of all rows, those of ends last, that give the same motion: those of least reactions in which no end pulls.
    Ends that are left already have no share."""
    loops, c, first = place.loops, place.closure, len(lam) - len(ends)
    off = np.abs(c.phi[first:] / loops.row_scale[first:]) > LEFT
    J = c.J * loops.columns / loops.row_scale[:, None]
    retained = np.ones(len(lam), dtype=bool)
    retained[first:] = ~off | (lam[first:] != 0.0)
    stress = factor(J[retained]).left_null / loops.row_scale[retained, None]
    Z = np.zeros((len(lam), stress.shape[1]))
    Z[retained] = stress

    def reactions(multipliers: np.ndarray, inertial: bool) -> np.ndarray:
        return labeled(place, every_joint_wrench(place, multipliers, a, inertial=inertial), multipliers)[1]

    if not Z.shape[1]:
        return lam
    R, r0 = np.array([reactions(z, False) for z in Z.T]).T, reactions(lam, True)
    size = max(float(np.abs(r0).max(initial=0.0)), np.finfo(float).tiny)
    outward, none = np.array([e.side for e in ends]), np.full(Z.shape[1], np.inf)
    free = lam - Z @ factor(R, 1e-10 * max(1.0, np.abs(R).max()), thin=True).solve(r0)
    if np.all(outward * free[first:] <= PULL * size):
        return free
    y = step_with_inequalities(R, r0 / size, outward[:, None] * Z[first:], -outward * lam[first:] / size, -none, none, 0.0)
    return lam if y is None else lam + Z @ (size * y[0])


def sharing_note(ends: Sequence[StopEnd]) -> str:
    """Note on a run in which stops share a load that statics does not determine."""
    names = listing([f"'{e.stop}'" for e in ends])
    return (
        f"stops {names} rest together, and how they share the load does not follow from statics: their pushes, and the joint loads that "
        "depend on them, follow from least reactions and are marked as not unique"
    )
