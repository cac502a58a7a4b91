"""Touches of surfaces in a run: the events that end a mode, and the rows that the time stepper holds in it.

    reach   the gap of an open touch falls through zero          leave   the push of a closed one does
    slip    what sticks reaches its cone, |p_t| = mu p_n         stick   the speed of what slips reaches zero
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.integrators import CONE, PUSH, SLIDE, HeldRow, HeldWatch
from linkwright.integrators.contact.states import SLIP, STICK
from linkwright.mechanics.contact import Touch, contact_gaps
from linkwright.results.records import CONTACT, Column
from linkwright.results.state import State
from linkwright.simulation.events import When

if TYPE_CHECKING:
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.simulation.rigid_stops import StopPushes
    from linkwright.simulation.run import RunPiece, Simulation

BEYOND = 5e-15  # characteristic lengths: an event is that deep, so that a bounce begins on the near side; round-off is 1e-16
DEEP = 1e-6  # characteristic lengths: surfaces that overlap more than that at the start are refused
MOST_TOUCHES = 12  # closed at once
VERBS = {"reach": "touches", "leave": "leaves", "slip": "slips", "stick": "sticks"}


class HeldTouch(NamedTuple):
    """A touch that stays closed: it sticks, or slips along its tangent in a sense (0: without friction). One that sticks with a sense
    cannot slip by itself, because of others; it has the friction of that sense, and the others have the rest. One that is guided cannot
    move along its tangent at all, so it has no friction."""

    name: str
    state: int  # of `integrators.contact.states`
    sense: float
    guided: bool = False

    @property
    def holds(self) -> bool:
        """True if it holds along its tangent too."""
        return self.state == STICK and not self.sense and not self.guided


@dataclass(frozen=True)
class TouchAction:
    """What becomes of a touch in an event: a key of `VERBS`."""

    verb: str
    name: str

    def __str__(self) -> str:
        return f"{self.verb} {self.name}"


@dataclass(frozen=True)
class Gap:
    """The gap of a touch as the function of an event."""

    index: int
    kept = True  # its kernel serves every mode

    @property
    def __name__(self) -> str:
        return f"gap {self.index}"

    def __call__(self, st: State) -> Any:
        return contact_gaps(st.skel, st.q)["g"][self.index]


class HeldFunction:
    """What is watched of a closed touch, as the function of an event: the time stepper itself has it (`integrators.stop_rests`)."""

    def __init__(self, verb: str, touch: str):
        self.verb, self.touch, self.__name__ = verb, touch, f"{touch} {VERBS[verb]}"

    def __call__(self, st: State) -> float:
        raise UsageError(f"only a run has the event '{self.__name__}'.", name=self.__name__)


def events_of(loops: Loops, touches: Sequence[Touch]) -> tuple[When, ...]:
    """Events of all touches."""
    out = []
    for i, x in enumerate(touches):
        gap: Any = Gap(i)
        out.append(When(gap, f"{x.name} touches", -1, True, -BEYOND * loops.kappa, (TouchAction("reach", x.name),), True))
        for verb in ("leave", "slip", "stick"):
            held: Any = HeldFunction(verb, x.name)
            out.append(When(held, f"{x.name} {VERBS[verb]}", -1, True, 0.0, (TouchAction(verb, x.name),), True))
    return tuple(out)


def held_names(touching: Sequence[HeldTouch]) -> list[tuple[str, str]]:
    """(verb, touch) of what is watched of closed touches, in the order of `held_rows`."""
    out = []
    for x in touching:
        out.append(("leave", x.name))
        if x.holds:
            out.append(("slip", x.name))
        elif x.state == SLIP and x.sense:
            out.append(("stick", x.name))
    return out


def held_rows(
    touches: Sequence[Touch], touching: Sequence[HeldTouch], first: int, held: int
) -> tuple[list[HeldRow], list[HeldWatch]]:
    """Rows of closed touches and what is watched of them. first: row of the first touch; held: number of rows that hold before these."""
    names, rows, watches = [x.name for x in touches], [], []
    for x in touching:
        i = names.index(x.name)
        normal, tangent, mu, at = first + 2 * i, first + 2 * i + 1, float(touches[i].mu), held + len(rows)
        watches.append(HeldWatch(PUSH, at, 1.0))
        if x.holds:
            rows += [HeldRow(normal), HeldRow(tangent)]
            watches.append(HeldWatch(CONE, at, mu, at + 1))
        elif x.sense:
            rows.append(HeldRow(normal, slide=tangent, share=-mu * x.sense))
            watches += [HeldWatch(SLIDE, at, x.sense)] if x.state == SLIP else []
        else:
            rows.append(HeldRow(normal))
    return rows, watches


def forces_of(
    touches: Sequence[Touch], touching: Sequence[HeldTouch], push: Sequence[Any], held: int
) -> Mapping[str, tuple[Any, Any]]:
    """Normal force and friction of every closed touch, from the pushes of all rows that hold."""
    mu, out, at = {x.name: float(x.mu) for x in touches}, {}, held
    for x in touching:
        if x.holds:
            out[x.name] = push[at], push[at + 1]
            at += 2
        else:
            out[x.name] = push[at], -mu[x.name] * x.sense * push[at]
            at += 1
    return out


# ---------------------------------------------------------------- over the samples of a run


def touch_columns(sim: Simulation, piece: RunPiece, pushed: StopPushes | None) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of all touches over a mode: normal force, friction along the tangent, and state (0 open, 1 sticks, 2 slips)."""
    n, out = len(piece.solution.t), {}
    closed = {} if pushed is None else pushed.touches
    states = {x.name: float(x.state) for x in piece.mode.touching}
    for x in sim.touches:
        push, friction = closed.get(x.name, (np.zeros(n), np.zeros(n)))
        out[f"{x.name}.force"] = np.asarray(push, dtype=float), "force"
        out[f"{x.name}.friction"] = np.asarray(friction, dtype=float), "force"
        out[f"{x.name}.state"] = np.full(n, states.get(x.name, 0.0)), "none"
    return out


def touch_impulses(sim: Simulation, t: np.ndarray) -> dict[str, Column]:
    """Normal impulses of the impacts, each at the first sample after it, in N s."""
    out = {}
    for x in sim.touches:
        values = np.zeros(len(t))
        for time, name, impulse in sim.impulses:
            if name == x.name and len(t):
                values[min(int(np.searchsorted(t, time - 1e-12)), len(t) - 1)] += impulse
        out[f"{x.name}.impulse"] = Column(values, "momentum")
    return out


def contact_wrenches(sim: Simulation, q: np.ndarray, v: np.ndarray, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """What touches do to bodies, (samples, 6): moment about the body's origin and force, in world axes."""
    if not sim.touches or not len(q):
        return {}
    more = {"parameters": np.tile(sim.parameters, (len(q), 1))} if len(sim.parameters) else {}
    kernels, out = sim.system.kernels, {}
    found, poses = kernels.get("contact_terms")(q, v, **more), kernels.get("poses")(q, **more)
    bodies = list(kernels.entries["R"])
    for i, x in enumerate(sim.touches):
        normal = found.normal[:, i]
        tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
        force = columns[f"{x.name}.force"].values[:, None] * normal + columns[f"{x.name}.friction"].values[:, None] * tangent
        for surface, place, sign in ((x.first, found.first, 1.0), (x.second, found.second, -1.0)):
            if surface.body not in bodies:
                continue
            arm = place[:, i] - poses.p[:, bodies.index(surface.body), :2]
            wrench = np.zeros((len(q), 6))
            wrench[:, 2] = sign * (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])
            wrench[:, 3:5] = sign * force
            out[f"{CONTACT}{surface.body}"] = out.get(f"{CONTACT}{surface.body}", 0.0) + wrench
    return out


