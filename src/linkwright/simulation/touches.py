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
from linkwright.integrators import CONE, PUSH, ROUND_CONE, SLIDE, HeldRow, HeldWatch
from linkwright.integrators.contact.states import SLIP, STICK
from linkwright.mechanics.contact import Touch, contact_gaps, tangent_count, tangents
from linkwright.results.records import CONTACT, Column
from linkwright.results.state import State
from linkwright.simulation.events import When

if TYPE_CHECKING:
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.simulation.rigid_stops import StopPushes
    from linkwright.simulation.run import RunPiece, Simulation

BEYOND = 5e-15  # characteristic lengths: an event is that deep, so that a bounce begins on the near side; round-off is 1e-16
DEEP = 1e-6  # characteristic lengths: surfaces that overlap more than that at the start are refused
CREEP = 1e-5  # characteristic lengths a second: slower in space a touch slips as it began to
SLACK = 1e-8  # of the cone: friction that is shared may exceed it by that before it is shared anew
MOST_TOUCHES = 12  # closed at once
VERBS = {"reach": "touches", "leave": "leaves", "slip": "slips", "stick": "sticks"}


class HeldTouch(NamedTuple):
    """A touch that stays closed: it sticks, or slips a way, a unit vector along its tangents (empty: without friction).

    One that sticks with a way cannot slip by itself, because of others; it has the friction of that way, and the others have the rest. One
    that is guided cannot move along its tangents at all, so it has no friction.
    """

    name: str
    state: int  # of `integrators.contact.states`
    way: tuple[float, ...]
    guided: bool = False
    shares: tuple[float, ...] = ()  # pushes along its rows, where they are not unique: what follows stays near these

    @property
    def holds(self) -> bool:
        """Return True if it holds along its tangents too."""
        return self.state == STICK and not self.way and not self.guided


def place_of(touch: Touch) -> str:
    """Where the file has the contact of a touch, at the head of a message."""
    return f"{touch.owner.where}: " if touch.owner.where else ""


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
        elif x.state == SLIP and x.way:
            out.append(("stick", x.name))
    return out


def unchanged(touching: Sequence[HeldTouch]) -> set[str]:
    """What an event says of touches in space that are as before: others took the rest of its friction, or its slip only turned round."""
    return {f"slip {x.name}" for x in touching if x.shares and x.holds} | {f"stick {x.name}" for x in touching if len(x.way) > 1}


def held_rows(
    loops: Loops, touches: Sequence[Touch], touching: Sequence[HeldTouch], first: int, held: int
) -> tuple[list[HeldRow], list[HeldWatch]]:
    """Rows of closed touches and what is watched of them. first: row of the first touch; held: number of rows that hold before these."""
    names, rows, watches, across = [x.name for x in touches], [], [], tangent_count(loops.skel.tree.description)
    for x in touching:
        i = names.index(x.name)
        normal, mu, at = first + (1 + across) * i, float(touches[i].mu), held + len(rows)
        watches.append(HeldWatch(PUSH, at, 1.0))
        shares = x.shares or (0.0,) * (1 + across)
        if x.holds:
            rows += [HeldRow(normal + k, about=shares[k]) for k in range(1 + across)]
            bound = mu * (1.0 + SLACK) if x.shares else mu
            watches.append(HeldWatch(CONE if across == 1 else ROUND_CONE, at, bound, at + 1))
        elif not x.way:
            rows.append(HeldRow(normal, about=shares[0]))
        elif across == 1:
            rows.append(HeldRow(normal, slide=normal + 1, share=-mu * x.way[0], about=shares[0]))
            watches += [HeldWatch(SLIDE, at, x.way[0])] if x.state == SLIP else []
        else:
            way, slow = (x.way[0], x.way[1]), CREEP * loops.kappa
            rows.append(HeldRow(normal, slide=normal + 1, share=-mu, across=normal + 2, ahead=way, slow=slow, about=shares[0]))
            watches += [HeldWatch(SLIDE, at, 1.0)] if x.state == SLIP else []
    return rows, watches


def forces_of(touching: Sequence[HeldTouch], push: Any, slides: Any, held: int, across: int) -> Mapping[str, tuple[Any, list[Any]]]:
    """Normal force of every closed touch and its friction along the tangents, `across` of them, from the pushes of all rows that hold and
    what these push along the tangents as they slip."""
    out, at = {}, held
    for x in touching:
        if x.holds:
            out[x.name] = push[at], [push[at + 1 + k] for k in range(across)]
            at += 1 + across
        else:
            out[x.name] = push[at], [slides[at][k] * push[at] for k in range(across)]
            at += 1
    return out


# ---------------------------------------------------------------- over the samples of a run


def touch_columns(sim: Simulation, piece: RunPiece, pushed: StopPushes | None) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of all touches over a mode: normal force, friction, and state (0 open, 1 sticks, 2 slips).

    In a plane friction counts along the tangent. In space it is a size, and a vector in the world by its components.
    """
    n, out = len(piece.solution.t), {}
    closed = {} if pushed is None else pushed.touches
    states = {x.name: float(x.state) for x in piece.mode.touching}
    across = tangent_count(sim.system.description)
    normals = touch_terms(sim, *_motion(piece)).normal if across > 1 and closed else np.zeros((n, len(sim.touches), 3))
    for i, x in enumerate(sim.touches):
        push, friction = closed.get(x.name, (np.zeros(n), [np.zeros(n)] * across))
        out[f"{x.name}.force"] = np.asarray(push, dtype=float), "force"
        out |= friction_columns(x.name, np.array(friction, dtype=float), normals[:, i])
        out[f"{x.name}.state"] = np.full(n, states.get(x.name, 0.0)), "none"
    return out


def friction_columns(name: str, along: np.ndarray, normal: np.ndarray) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of the friction of a touch, from (tangents, samples); in space with the normals (samples, 3)."""
    if len(along) == 1:
        return {f"{name}.friction": (along[0], "force")}
    vector = np.array(sum((f * t for f, t in zip(along, tangents(normal.T), strict=True)), np.zeros(normal.T.shape)), dtype=float)
    parts = {f"{name}.friction.{axis}": (vector[k], "force") for k, axis in enumerate("xyz")}
    return {f"{name}.friction": (np.linalg.norm(vector, axis=0), "force"), **parts}


def friction_of(columns: Mapping[str, Column], name: str) -> np.ndarray:
    """(samples, axes) friction of a touch on its first surface: along the tangent in a plane, in space in the world."""
    own = [f"{name}.friction.{axis}" for axis in "xyz"]
    return np.array([columns[k].values for k in (own if own[0] in columns else [f"{name}.friction"])]).T


def _motion(piece: RunPiece) -> tuple[np.ndarray, np.ndarray]:
    p, y = piece.evaluator.setup.problem, piece.solution.y
    return np.ascontiguousarray(y[:, : p.nq]), np.ascontiguousarray(y[:, p.nq : p.nq + p.nv])


def touch_terms(sim: Simulation, q: np.ndarray, v: np.ndarray) -> Any:
    """The terms of all touches at samples."""
    more = {"parameters": np.tile(sim.parameters, (len(q), 1))} if len(sim.parameters) else {}
    return sim.system.kernels.get("contact_terms")(q, v, **more)


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
    kernels, out, planar = sim.system.kernels, {}, sim.system.description.planar
    found, poses = touch_terms(sim, q, v), kernels.get("poses")(q, **more)
    bodies = list(kernels.entries["R"])
    for i, x in enumerate(sim.touches):
        normal, rubs = found.normal[:, i], friction_of(columns, x.name)
        across = rubs * np.stack([-normal[:, 1], normal[:, 0]], axis=1) if planar else rubs
        force = _in_space(columns[f"{x.name}.force"].values[:, None] * normal + across)
        for surface, place, sign in ((x.first, found.first, 1.0), (x.second, found.second, -1.0)):
            if surface.body not in bodies:
                continue
            arm = _in_space(place[:, i]) - poses.p[:, bodies.index(surface.body)]
            if planar:
                arm[:, 2] = 0.0
            wrench = sign * np.concatenate([np.cross(arm, force), force], axis=1)
            out[f"{CONTACT}{surface.body}"] = out.get(f"{CONTACT}{surface.body}", 0.0) + wrench
    return out


def _in_space(x: np.ndarray) -> np.ndarray:
    """Vectors of a plane with a third component."""
    return x if x.shape[1] == 3 else np.pad(x, ((0, 0), (0, 1)))
