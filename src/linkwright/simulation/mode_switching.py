"""Actions of an event: stop the run, lock or free a joint, switch a constraint of a loop on or off.

A constraint that takes hold of moving parts is an inelastic impact: the velocity jumps, in the mass metric, to the nearest
one the constraints allow,

    M (v+ - v-) = J' Lam,        J v+ + b = 0,

and the kinetic energy it loses is reported. Letting go changes no velocity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.drives import position
from linkwright.errors import UsageError, call_explained, nearest
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.drives import driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.terms import terms
from linkwright.model.curves.lines import Line, Parabola
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.numerics.linalg import least_squares
from linkwright.results.state import State
from linkwright.simulation.event_watch import RunChannel
from linkwright.simulation.events import When
from linkwright.text.units import KINDS, LENGTH, shown

if TYPE_CHECKING:
    from linkwright.motion.compiled import Compiled

__all__ = ["engage", "lock", "release", "unlock", "when"]  # `lw.events`

OPEN = 1e-6  # dimensionless gap above which a constraint cannot take hold


@dataclass(frozen=True)
class Action:
    """Something an event does: stop the run; lock or unlock a joint; release or engage a constraint."""

    verb: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.name}".strip()


@call_explained
def lock(joint: str) -> Action:
    """Hold a joint where it is from the event on."""
    return Action("lock", joint)


@call_explained
def unlock(joint: str) -> Action:
    """Give a locked joint back to its drive."""
    return Action("unlock", joint)


@call_explained
def release(constraint: str) -> Action:
    """Switch a rod, coupling, gear or cut joint off."""
    return Action("release", constraint)


@call_explained
def engage(constraint: str) -> Action:
    """Switch it on; what moves relative to it stops in an inelastic impact."""
    return Action("engage", constraint)


def stops(w: When) -> bool:
    """True if an event ends the run."""
    return w.terminal and (not w.do or any(a.verb == "stop" for a in w.do))


DIRECTIONS = {"rising": 1, "falling": -1, "either": 0, 1: 1, -1: -1, 0: 0}


@call_explained
def when(what: Any, equals: Any = 0.0, *, direction: Any = "either", do: Any = (), name: str = "") -> When:
    """An event: a channel or a function passes through a value. `do` is "stop", lw.events.lock(...), lw.events.release(...), or several."""
    if direction not in DIRECTIONS:
        raise UsageError(f"direction is 'rising', 'falling' or 'either', not {direction!r}.")
    if not isinstance(what, str) and not callable(what):
        raise UsageError(f"an event watches a channel's name or a function, not {type(what).__name__}.")
    actions = tuple(do) if isinstance(do, (list, tuple)) else (do,)
    chosen = tuple(Action("stop") if a == "stop" else a for a in actions)
    for a in chosen:
        if not isinstance(a, Action):
            raise UsageError(f"an event can 'stop' the run, lock, unlock, release or engage; not {a!r}.")
    return When(what, name, DIRECTIONS[direction], bool(chosen), equals, chosen)


def resolved(system: Compiled, e: Any) -> When:
    """An event with its value as a number, checked against the mechanism."""
    if not isinstance(e, (When, str)) and not callable(e):
        raise UsageError(f"an event is lw.events.when(...), the name of a channel or a function, not {e!r}.")
    w = e if isinstance(e, When) else When(e)
    if isinstance(w.function, str) and w.function != "t" and w.function not in system.start._channels:
        w = replace(w, function=RunChannel(w.function))
    if isinstance(w.equals, str):
        kind = "time" if w.function == "t" else _dimension(system, w)
        w = replace(w, equals=quantity(w.equals, KINDS[kind]))
    elif not isinstance(w.equals, (int, float, np.floating)) or not np.isfinite(w.equals):
        raise UsageError(f"the event '{w.label}' needs one finite number or quantity to pass through, not {w.equals!r}.")
    for a in w.do:
        if a.verb in ("lock", "unlock"):
            system.assembler.coordinate(a.name)
        elif a.verb in ("release", "engage"):
            switchable(system, a.name)
    return w


def _dimension(system: Compiled, w: When) -> str:
    if isinstance(w.function, RunChannel) and w.function.kind is not None:
        return w.function.kind
    if not isinstance(w.function, str):
        raise UsageError(f"the event '{w.label}' is a function: give `equals` as a plain number in SI.")
    return system.start._channels[w.function].dimension


def switchable(system: Compiled, name: str) -> str:
    """A constraint that can be switched; joints of the tree cannot, as coordinates are counted along them."""
    names = [c.name for c in system.loops.constraints]
    if name in names:
        return name
    if any(j.name == name for j in system.description.joints):
        raise UsageError(
            f"joint '{name}' carries coordinates and cannot be switched; compile with cuts=[..., '{name}'] to make it a loop's."
        )
    raise UsageError(f"there is no constraint '{name}' to switch. {nearest(name, names, 'Constraints of loops')}")


@dataclass(frozen=True)
class RunMode:
    """Constraints that hold and drives of the joints between two events."""

    drive: Mapping[str, Any] = field(default_factory=dict)
    locks: Mapping[str, float] = field(default_factory=dict)
    off: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()  # ends of rigid stops that push, an independent set
    implied: tuple[str, ...] = ()  # ends that rest with them and move nothing: they share the load
    unstopped: frozenset[str] = frozenset()  # coordinates whose stops are not regarded

    @property
    def all_drives(self) -> dict[str, Any]:
        """The drives, with locked joints held instead."""
        return {**self.drive, **{joint: position(value) for joint, value in self.locks.items()}}

    def watches(self, when: When) -> bool:
        """True if an event can do anything here: one that would change nothing is not watched, as its function may be held at zero."""
        if when.do and when.do[0].verb == "reach" and (when.function in self.unstopped or when.function in self.locks):
            return False
        return not when.do or any(self._changed_by(a) for a in when.do)

    def _changed_by(self, a: Action) -> bool:
        if a.verb in ("lock", "unlock"):
            return (a.name in self.locks) == (a.verb == "unlock")
        if a.verb in ("release", "engage"):
            return (a.name in self.off) == (a.verb == "engage")
        if a.verb in ("reach", "leave"):
            return (a.name in self.rests) == (a.verb == "leave")
        return True

    def after(self, actions: Sequence[Action], st: State) -> RunMode:
        """The mode that actions lead to, at a state."""
        locks, off = dict(self.locks), list(self.off)
        for a in actions:
            if a.verb == "lock":
                locks[a.name] = float(st[a.name])
            elif a.verb == "unlock":
                locks.pop(a.name, None)
            elif a.verb == "release" and a.name not in off:
                off.append(a.name)
            elif a.verb == "engage" and a.name in off:
                off.remove(a.name)
        return replace(
            self,
            locks=locks,
            off=tuple(off),
            implied=(),
            rests=tuple(x for x in self.rests if not any(a.verb == "leave" and a.name == x for a in actions)),
        )


def given_motions(d: Description, mode: RunMode, moving: Mapping[str, Sequence[float]]) -> list[Constraint]:
    """Constraints of locked joints and prescribed motions."""
    extra = [driven(d, joint, Line(value, 0.0)) for joint, value in mode.locks.items()]
    return extra + [driven(d, joint, Parabola(*x)) for joint, x in moving.items() if joint not in mode.locks]


def jump(of: Loops, mode: RunMode, st: State, moving: Mapping[str, Sequence[float]], armature: np.ndarray) -> tuple[State, float]:
    """The state after the constraints of a mode took hold, and the kinetic energy lost.

    `moving` are (value, speed, acceleration) of the joints with prescribed motion.
    """
    d = of.skel.tree.description
    extra = given_motions(d, mode, moving)
    loops = replace(of, constraints=tuple(c for c in of.constraints if c.name not in mode.off)).with_(extra)
    T = terms(loops, st.q, st.v, st.t, st.references)
    place = T.place
    assert place is not None
    gap = np.abs(place.closure.phi / loops.row_scale)
    if gap.max(initial=0.0) > OPEN:
        worst = loops.constraints[next(i for i, r in enumerate(place.closure.rows) if gap[r].max(initial=0.0) == gap.max())]
        apart = shown(float(gap.max()) * loops.kappa, LENGTH, d.units, 3)
        raise UsageError(
            f"t = {st.t:.6g} s: '{worst.name}' cannot take hold, because its parts are {apart} apart. "
            "Engage it by an event on its own distance or coordinate."
        )
    c, rows = T.columns, T.row_scale
    M = (T.M + np.diag(armature)) * c * c[:, None]
    J, b = T.dimensionless_J(), place.closure.b / rows
    v = st.v / c
    size = max(float(np.abs(M).max(initial=0.0)), 1e-300)
    n, m = len(v), len(b)
    K = np.block([[M / size, J.T], [J, np.zeros((m, m))]])
    step = least_squares(K, np.concatenate([np.zeros(n), -(J @ v + b)]), 1e-11)[:n]
    after = v + step
    before = 0.5 * float(v @ M @ v)
    loss = before - 0.5 * float(after @ M @ after)
    loss = loss if abs(loss) > 1e-13 * before else 0.0  # round-off
    return State(st.skel, st.q, after * c, st.references, st.t), loss
