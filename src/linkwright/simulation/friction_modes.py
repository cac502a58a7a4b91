"""Dry friction of joints in a run: the events that end a mode, what the time stepper holds in it, and the states of the next one.

    slip    what sticks reaches its bound        stick   the speed of what slips reaches zero        leave   a row without a state moves

The transition of the event itself is known, and is not decided again: at the boundary both of its sides fit within round-off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.integrators import BOUND, LEAVES, SHARE, SPEED, FrictionRows, HeldRow, HeldWatch
from linkwright.integrators.dry_friction import HELD
from linkwright.model.coordinates import coordinate
from linkwright.results.state import State
from linkwright.simulation.events import When
from linkwright.simulation.friction_states import HOLDS, SHARES, SLIPS, TURNS, FrictionAnswer, FrictionLaw, RowState

if TYPE_CHECKING:
    from linkwright.mechanics.dynamics.coordinate_efforts import EffortTerms
    from linkwright.simulation.joint_friction import JointFriction
    from linkwright.simulation.run import RunPiece, Simulation

LABELS = {"slip": "slips", "stick": "sticks", "leave": "moves"}
WATCHED = {SLIPS: ("stick", SPEED), HOLDS: ("slip", BOUND), SHARES: ("slip", SHARE), TURNS: ("leave", LEAVES)}
MOVES = 1e-7  # rad/s, or characteristic lengths a second: at this speed a row has a state of its own


class HeldFriction(NamedTuple):
    """A row in its state; one at rest holds the coordinate at a value."""

    state: RowState
    at: float = 0.0
    sticks: bool = True  # False: it is smooth


@dataclass(frozen=True)
class FrictionAction:
    """What becomes of a row in an event: a key of `LABELS`."""

    verb: str
    name: str
    row: int

    def __str__(self) -> str:
        return f"{self.verb} {self.name}"


class FrictionFunction:
    """What is watched of a row, as the function of an event: the time stepper itself has it (`integrators.stop_rests`)."""

    def __init__(self, verb: str, row: int, name: str):
        self.verb, self.row, self.__name__ = verb, row, f"{name} {LABELS[verb]}"

    def __call__(self, st: State) -> float:
        raise UsageError(f"only a run has the event '{self.__name__}'.", name=self.__name__)


def events_of(friction: JointFriction) -> tuple[When, ...]:
    """Events of all rows that may stick."""
    out = []
    for i, row in enumerate(friction.rows):
        for verb, said in LABELS.items():
            function: Any = FrictionFunction(verb, i, row.name)
            out.append(When(function, f"{row.name} {said}", -1, True, 0.0, (FrictionAction(verb, row.name, i),), verb != "leave"))
    return tuple(out)


def watched_rows(held: Sequence[HeldFriction]) -> list[tuple[str, int]]:
    """(verb, row) of what is watched, in the order of `held_rows`; of rows that share their state the first one speaks."""
    out, groups = [], set()
    for i, x in enumerate(held):
        s = x.state
        if x.sticks and not (s.does == SHARES and s.group in groups):
            out.append((WATCHED[s.does][0], i))
        groups |= {s.group} if s.does == SHARES else set()
    return out


def held_rows(friction: JointFriction, held: Sequence[HeldFriction], ends: int) -> tuple[list[HeldRow], list[HeldWatch], FrictionRows]:
    """Rows of the friction after `ends` rows that hold already, what is watched of them, and the law of all."""
    first, unit = friction.first, friction.unit[friction.first :]
    rows = [HeldRow(first + i, x.at) for i, x in enumerate(held)]
    factors = {SLIPS: lambda i: held[i].state.sign, TURNS: lambda i: MOVES * float(unit[i])}
    watches = []
    for _, i in watched_rows(held):
        does = held[i].state.does
        watches.append(HeldWatch(WATCHED[does][1], ends + i, factors[does](i) if does in factors else 1.0))
    law, none = FrictionLaw.of(friction.rows, [x.state for x in held]), (0.0,) * ends
    kind, group = ((value,) * ends for value in (HELD, 0))
    return rows, watches, FrictionRows(
        (*kind, *law.kind), (*group, *law.group), (*none, *law.theta), (*none, *law.by_load), (*none, *law.constant), (*none, *law.speed)
    )  # fmt: skip


# ---------------------------------------------------------------- the states of the next mode


def next_states(
    friction: JointFriction, terms: EffortTerms, a: np.ndarray, st: State, closed: Sequence[HeldRow], before: Before
) -> tuple[tuple[HeldFriction, ...], State, np.ndarray]:
    """States of all rows from now on, the state in which rows at rest, and those that have just stopped, have no speed at all, and the
    efforts of what else holds (`closed`)."""
    at = friction.at(terms, a, st.v, closed)
    slips, stopped = before.slipping, before.stopped
    kept = {i: x.state for i, x in enumerate(before.held)} if slips and not stopped and not before.others else {}
    states = None
    if kept:
        states = [RowState(SLIPS, slips[i]) if i in slips else kept[i] for i in range(len(before.held))]
        states = states if at.solve(states) is not None else None
    if states is None:
        states = at.choose(stopped, before.likely)
    still = [i for i, s in enumerate(states) if (s.rests or i in stopped) and at.movable[i]]
    v = _stilled(terms, st.v, [friction.first + i for i in still], [x.row for x in closed])
    values = terms.value[friction.first :]
    held = []
    for i, s in enumerate(states):
        old = before.held[i] if before.held else None
        at_value = old.at if old is not None and old.state.rests and s.rests else float(values[i])
        held.append(HeldFriction(s, at_value, friction.rows[i].sticks))
    answer = at.solve(states)
    assert answer is not None  # states that were chosen have an answer
    return tuple(held), State(st.skel, st.q, v, st.references, st.t), answer.p[len(states) :]


def _stilled(terms: EffortTerms, v: np.ndarray, rows: Sequence[int], ends: Sequence[int]) -> np.ndarray:
    """The velocity without any speed along some rows, the least change in the mass metric."""
    every = [*ends, *rows]
    if not rows:
        return v
    J, X = terms.J[every], terms.X[every][:, -len(v) - 1 : -1]
    W, u = J @ X.T, J @ v
    u[: len(ends)] = 0.0
    size = np.sqrt(np.maximum(np.diag(W), 1e-300))
    return v - np.linalg.lstsq(W / size / size[:, None], u / size, rcond=1e-10)[0] / size @ X


class Before(NamedTuple):
    """What the mode before was, and what ended it."""

    held: tuple[HeldFriction, ...] = ()
    slipping: Mapping[int, float] = {}  # rows that reached their bound, and the directions in which they slip now
    stopped: Mapping[int, float] = {}  # rows whose slip ended, and its direction
    others: bool = False  # something else happened as well
    likely: Mapping[int, float] = {}  # rows at rest that begin to slip, as what touches now has it, and their directions


def ended(piece: RunPiece, acting: Sequence[When], answer: FrictionAnswer | None) -> Before:
    """What events at one instant say of friction. answer: the efforts there."""
    held, first = piece.mode.friction, first_of(piece)
    did = [a for w in acting for a in w.do]
    own = [a for a in did if isinstance(a, FrictionAction)]
    slipping: dict[int, float] = {}
    for a in (x for x in own if x.verb == "slip"):
        s = held[a.row].state
        if answer is not None and s.does == HOLDS:
            slipping[a.row] = -float(np.sign(answer.p[first + a.row]))
        elif answer is not None and s.does == SHARES:
            way = float(np.sign(answer.share[s.group]))
            slipping |= {i: x.state.sign * way for i, x in enumerate(held) if x.state.does == SHARES and x.state.group == s.group}
    stopped = {a.row: held[a.row].state.sign for a in own if a.verb == "stick"}
    return Before(held, slipping, stopped, len(own) < len(did) or any(a.verb == "leave" for a in own))


def first_of(piece: RunPiece) -> int:
    """Place of the friction among the rows that hold."""
    return len(piece.evaluator.setup.problem.rests) - len(piece.mode.friction)


# ---------------------------------------------------------------- over the samples of a run


def friction_columns(
    sim: Simulation, friction: JointFriction, piece: RunPiece, efforts: np.ndarray | None
) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of the friction over a mode: effort along the coordinate, and state (1 or -1 slips in that direction, 0 else)."""
    n, d, out = len(piece.solution.t), sim.system.description, {}
    states = [x.state.number for x in piece.mode.friction] or [0.0] * len(friction.rows)  # of one sample nobody knows them
    for i, (row, state) in enumerate(zip(friction.rows, states, strict=True)):
        values = np.zeros(n) if efforts is None else efforts[:, i]
        known = out.get(f"{row.name}.friction", (np.zeros(n), ""))[0]
        out[f"{row.name}.friction"] = known + values, coordinate(d, row.name).effort_kind
        if row.sticks:
            out[f"{row.name}.friction.state"] = np.full(n, state), "none"
    return out


# ---------------------------------------------------------------- for the certificate

LOOKED_AT = 64  # samples at most


def friction_findings(sim: Simulation) -> dict[str, Any]:
    """Fields of the certificate about joint friction: by how much efforts fail Coulomb's law at samples of the run."""
    if sim.friction is None:
        return {}
    rows = [(p, i) for p in sim.pieces for i in range(len(p.solution.t))]
    excess = 0.0
    for p, i in rows[:: max(1, len(rows) // LOOKED_AT)]:
        excess = max(excess, _beyond_the_law(sim, p, i))
    shared = {sim.friction.rows[i].name for p in sim.pieces for i, x in enumerate(p.mode.friction) if x.state.does == SHARES}
    changes = sum(str(x[2].get("did", "")).startswith(("slip", "stick")) for x in sim.happened)
    return {
        "rubbing": len(sim.friction.rows),
        "friction_changes": changes,
        "friction_excess": excess,
        "friction_shared": ", ".join(sorted(shared)),
    }


def _beyond_the_law(sim: Simulation, piece: RunPiece, i: int) -> float:
    """The largest failure of a row at a sample, relative to its bound: beyond it, or along the speed."""
    y, t = piece.solution.y[i], float(piece.solution.t[i])
    found = piece.evaluator.pushes(t, y, sim.evidence.cut_at(sim.pieces.index(piece), np.array([t]))[0])
    if found.friction is None:
        return 1.0
    p = piece.evaluator.setup.problem
    u, first = found.J @ y[p.nq : p.nq + p.nv], first_of(piece)
    worst = 0.0
    for k, x in enumerate(piece.mode.friction):
        effort, bound = found.friction.p[first + k], max(float(found.friction.bound[first + k]), 1e-300)
        along = effort * np.sign(u[first + k]) if abs(u[first + k]) > MOVES else 0.0
        worst = max(worst, (abs(effort) - bound) / bound if x.sticks else 0.0, float(along) / bound)
    return worst
