"""Controllability of motions: the condition that no motion of the loops leaves every drive at rest.

    N = {v : J v = 0},   B_perp = {v : E v = 0},   controllable:  N and B_perp share only v = 0      [Aghili2005 (62)]

E has a row for each drive: its speed is E v, and B = E' is how its effort pushes. All is dimensionless (lengths in kappa), so
the smallest singular value of E on N does not depend on units. Where the loops lose rank N grows and may hold motions that no
drive sees; where the drives are at a dead center N is as large as ever, but one of its motions leaves them at rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.drives.base import DriveTarget, target
from linkwright.errors import UsageError, counted, degrees_of_freedom
from linkwright.files.tables import Result, Table
from linkwright.mechanics.closing.idle_motions import idle_motions
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.driver import DrivenDistance, Driver
from linkwright.mechanics.constraints.loops import Loops, closure, scale
from linkwright.mechanics.kinematics.floating_base import base_entries
from linkwright.mechanics.kinematics.skeleton import velocity_kinds
from linkwright.model.coordinates import Distance
from linkwright.model.curves.polynomial import Line
from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.tolerances import SAME_NUMBER
from linkwright.results.state import State

TOLERANCE = 1e-8  # smallest singular value below which a motion counts as out of reach: what a closed state leaves of a zero, with room
NEARLY = 1e-3  # below it drives have to push a thousand times as hard as an ordinary motion asks for
SMALL = 0.02  # entries below this share of the largest are not listed
WORTHWHILE = 0.1  # share of a motion that a drive should see to be proposed
MOST_LISTED = 4  # entries of a motion in a message


class Reach(NamedTuple):
    """Reach of pushes B on the null space of J."""

    ok: bool
    smallest: float  # infinite where nothing can move
    singular_values: np.ndarray  # of B' on the null space, largest first, with zeros where pushes are missing
    weakest: np.ndarray  # (n, k): the motions pushed least, orthonormal; all that are out of reach where any is
    null: np.ndarray  # (n, degrees of freedom): motions that were asked for, orthonormal
    seen: np.ndarray  # (p, degrees of freedom): speeds of the drives in these motions


@dataclass(frozen=True)
class Controllability(Result):
    """The verdict at one state; true where every motion of the loops can be pushed."""

    ok: bool
    smallest: float
    freedoms: int  # idle ones not counted
    drives: tuple[str, ...]
    singular_values: np.ndarray
    direction: Mapping[str, float]  # the motion that is hardest to push: speeds by coordinate; the largest dimensionless one is 1
    motion: str  # the same as a sentence
    missing: int  # degrees of freedom without control authority
    advice: tuple[str, ...]  # coordinates at which drives would reach them
    text: str
    beside_base: bool | None = None  # of a floating base: True if the drives move everything but it; None of a mechanism on ground

    @property
    def nearly_lost(self) -> bool:
        """True close to a position where control is lost: efforts of a thousand times the typical size and more."""
        return self.ok and self.smallest < NEARLY

    @property
    def excess(self) -> int:
        """Drives beyond the degrees of freedom."""
        return max(0, len(self.drives) - self.freedoms)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def why(self) -> str:
        """The reason where control is lost; empty where it is not."""
        return "" if self.ok else self.text

    def __str__(self) -> str:
        return self.text

    def table(self) -> Table:
        """Return the motions of the loops, best controlled first: the speed of the drives in each, dimensionless."""
        values = np.asarray(self.singular_values, float)
        columns = [("motion", "", np.arange(1, len(values) + 1)), ("singular value", "-", values), ("controlled", "", values > TOLERANCE)]
        return Table.of_columns(columns, "controllability")

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""
        found: dict[str, Any] = {"ok": self.ok, "why": self.why, "smallest": self.smallest if np.isfinite(self.smallest) else None}
        found |= {"freedoms": self.freedoms, "missing": self.missing, "motion": self.motion, "direction": dict(self.direction)}
        return {**found, "singular_values": np.asarray(self.singular_values).tolist(), "advice": list(self.advice), "text": self.text}


def controllable_of_matrices(J: np.ndarray, B: np.ndarray, tolerance: float = TOLERANCE, idle: np.ndarray | None = None) -> Reach:
    """Test whether pushes along the columns of B (n, p) can drive every v with J v = 0; columns of `idle` (n, k) are not to be driven.

    B may also be the projector of [Aghili2005 (53)]. Both matrices are dimensionless: ranks are decided absolutely.
    """
    tolerance = _positive(tolerance)
    null = factor(J).null
    if idle is not None and idle.shape[1]:
        idle = idle @ factor(B.T @ idle, tolerance).null  # one that a drive does move is not idle
        null = null @ factor(idle.T @ null, tolerance).null
    seen = B.T @ null
    f = factor(seen, tolerance)
    n = null.shape[1]
    values = np.concatenate([f.s[:n], np.zeros(n - len(f.s[:n]))])
    smallest = float(values[-1]) if n else np.inf
    weak = values <= max(tolerance, smallest * (1.0 + SAME_NUMBER))
    return Reach(smallest > tolerance, smallest, values, null @ f.Vt[weak].T, null, seen)


def controllable(
    loops: Loops,
    st: State,
    rows: np.ndarray,
    names: Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    idle: Sequence[np.ndarray] | None = None,
) -> Controllability:
    """Test whether drives can push every motion of the loops at a state.

    rows (p, nv): the speed of drive j is rows[j] @ v (see `drive_rows`). idle: dimensionless velocities without
    a drive; found here if not given (rods that spin between ball joints).
    """
    reach = reach_of(loops, st, rows, names, tolerance=tolerance, idle=idle)
    freedoms = reach.null.shape[1]
    missing = int(np.count_nonzero(reach.singular_values <= tolerance))
    coordinates = coordinate_names(loops)
    direction = _weakest_motion(reach.weakest)
    records = dict(zip(coordinates, (direction * loops.columns).tolist(), strict=True)) if freedoms else {}
    advice = _places(loops, coordinates, reach.weakest) if missing else ()
    motion = _motion_text(loops, coordinates, direction)
    given, names = names, tuple(target(loops.skel, name).name for name in names)
    beside = _beside_base(loops, st, rows, given, tolerance) if missing else None
    text = _text(reach, names, missing, motion, advice) if not beside else _floating_text(names, freedoms, missing)
    return Controllability(reach.ok, reach.smallest, freedoms, names, reach.singular_values, records, motion, missing, advice, text, beside)


def _beside_base(loops: Loops, st: State, rows: np.ndarray, names: Sequence[str], tolerance: float) -> bool | None:
    """True if the drives move all that a floating base leaves; None where nothing floats."""
    entries = base_entries(loops.skel.tree)
    if not entries:
        return None
    kinds = [target(loops.skel, name).position_kind for name in names]
    E = rows * loops.columns / scale(kinds, loops.kappa)[:, None]
    c = loops.at(st.q, st.v, st.t, st.references, st.instant.motion)
    J = loops.dimensionless(c)[1]
    spins = [v for _, v in idle_motions(loops, st.q, loops.factored(c).null, st.instant.motion)]
    both = np.concatenate([E, np.eye(loops.skel.tree.nv)[entries]])
    return controllable_of_matrices(J, both.T, tolerance, np.array(spins).reshape(-1, loops.skel.tree.nv).T).ok


def _floating_text(names: Sequence[str], freedoms: int, missing: int) -> str:
    moved = freedoms - missing
    return (
        f"{_count(len(names), 'drive')} move{'s' * (len(names) == 1)} {degrees_of_freedom(moved)} of {freedoms}. The other "
        f"{missing} belong "
        "to the floating base, whose momentum only weight, contacts and loads change."
    )


def reach_of(
    loops: Loops,
    st: State,
    rows: np.ndarray,
    names: Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    idle: Sequence[np.ndarray] | None = None,
) -> Reach:
    """The numbers of `controllable`, without text."""
    targets = [target(loops.skel, name) for name in names]
    c = loops.at(st.q, st.v, st.t, st.references, st.instant.motion)
    if idle is None:
        idle = [v for _, v in idle_motions(loops, st.q, loops.factored(c).null, st.instant.motion)]
    spins = np.array(idle).reshape(len(idle), loops.skel.tree.nv).T
    E = rows * loops.columns / scale([x.position_kind for x in targets], loops.kappa)[:, None]
    return controllable_of_matrices(loops.dimensionless(c)[1], E.T, tolerance, spins)


def drive_rows(loops: Loops, st: State, names: Sequence[str]) -> np.ndarray:
    """(p, nv): the speed of drive j is rows[j] @ v. Joints of the tree, cut joints, coordinates such as `C.slide`, cylinders."""
    skel, targets = loops.skel, [target(loops.skel, name) for name in names]
    rows = np.zeros((len(targets), skel.tree.nv))
    elsewhere = [j for j, x in enumerate(targets) if x.entry is None]
    for j, x in enumerate(targets):
        if x.entry is not None:
            rows[j, x.entry] = 1.0
    if elsewhere:
        readers = [_reader(targets[j], st) for j in elsewhere]
        rows[elsewhere] = closure(skel, st.instant.motion, st.v, st.t, constraints=readers, references=st.references).J
    return rows


def coordinate_names(loops: Loops) -> list[str]:
    """Names of the entries of v."""
    skel = loops.skel
    parts = [(n.joint.name, kind.v_names) for n, kind in zip(skel.tree.nodes, skel.types, strict=True)]
    return [f"{name}.{p}" if p else name for name, entries in parts for p in entries]


def _reader(x: DriveTarget, st: State) -> Constraint:
    """A constraint whose J is the row of a coordinate that is no entry of v."""
    here = Line(float(x.position(st.instant)), 0.0)
    return DrivenDistance(x.name, x.on.between, here) if isinstance(x.on, Distance) else Driver(x.on.joint, here, x.on.v)


def _positive(tolerance: float) -> float:
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0.0 < tolerance < 1.0:
        raise UsageError(
            f"tolerance must be a number between 0 and 1 (such as 1e-8), not {tolerance!r}.", name="tolerance", value=tolerance
        )
    return float(tolerance)


def _weakest_motion(space: np.ndarray) -> np.ndarray:
    """One motion of a space that does not depend on its basis: toward the coordinate that takes part most, which gets 1."""
    if not space.shape[1]:
        return np.zeros(len(space))
    lead = int(np.argmax(np.round(np.linalg.norm(space, axis=1), 9)))
    motion = space @ space[lead]
    motion = motion / motion[np.argmax(np.abs(motion))]
    return np.where(np.abs(motion) < 1e-13, 0.0, motion)


def _places(loops: Loops, coordinates: Sequence[str], space: np.ndarray) -> tuple[str, ...]:
    """Coordinates at which drives would reach the space, the most effective first: hinges and slides before joints that do more."""
    able = {i: x for i, name in enumerate(coordinates) if (x := _as_drive(loops, name)) is not None}
    for places, least in (([i for i, x in able.items() if x.alone], WORTHWHILE), (list(able), 1e-6)):
        chosen = pivoted_columns(space[places].T, least) if places else []
        if len(chosen) == space.shape[1]:
            return tuple(coordinates[places[k]] for k in chosen)
    return ()


def _as_drive(loops: Loops, name: str) -> DriveTarget | None:
    try:
        return target(loops.skel, name)
    except UsageError:
        return None


def _motion_text(loops: Loops, coordinates: Sequence[str], motion: np.ndarray) -> str:
    """`J2 and J3 turn against each other (J2 1 rad/s, J3 -0.8 rad/s)`; the largest entries only."""
    order = [int(i) for i in np.argsort(-np.abs(motion), kind="stable") if abs(motion[i]) > SMALL]
    if not order:
        return ""
    slides = [velocity_kinds(loops.skel)[i] == "length" for i in order]
    verb = ("move" if any(slides) else "turn") + "s" * (len(order) == 1)
    if len(order) == 2 and not any(slides):
        verb += " against each other" if motion[order[1]] < 0.0 else " the same way"
    parts = [f"{coordinates[i]} {motion[i] * loops.columns[i]:.3g} {'m/s' if s else 'rad/s'}" for i, s in zip(order, slides, strict=True)]
    rest = [f"{len(order) - MOST_LISTED} more"] if len(order) > MOST_LISTED else []
    records = ", ".join([*parts[:MOST_LISTED], *("..." for _ in rest)])
    return f"{_joined([*(coordinates[i] for i in order[:MOST_LISTED]), *rest])} {verb} ({records})"


def _text(reach: Reach, names: Sequence[str], missing: int, motion: str, advice: Sequence[str]) -> str:
    n, p = len(reach.singular_values), len(names)
    drives, freedoms = _count(p, "drive"), degrees_of_freedom(n)
    if not n:
        return f"nothing can move here: the loops leave no degree of freedom to {drives}."
    if reach.ok and reach.smallest < NEARLY:
        return (
            f"{drives} move{'s' * (p == 1)} {freedoms}, but nearly not: smallest singular value {reach.smallest:.3g}. "
            f"The motion in which {motion} takes efforts about {1.0 / reach.smallest:.0e} times as large as elsewhere. "
            "They grow without bound toward the position in which control is lost."
        )
    if reach.ok:
        return f"{drives} move{'s' * (p == 1)} {freedoms}; smallest singular value {reach.smallest:.3g}."
    beside = f", nor {_count(missing - 1, 'motion')} beside it" if missing > 1 else ""
    lost = f"no drive acts on the motion in which {motion}{beside}"
    places = f" {'A drive' if missing == 1 else 'Drives'} at {_joined(advice)} would." if advice else ""
    if p < n:
        short = f"{drives} cannot move {freedoms}, {missing} more {'is' if missing == 1 else 'are'} needed"
        return f"{short if p else freedoms + ' and no drive'}: {lost}.{places}"
    return f"{lost}: drive{'s' * (p != 1)} {_joined(names)} lose{'s' * (p == 1)} control authority here (s = {reach.smallest:.2g}).{places}"


def _count(n: int, thing: str) -> str:
    return counted(n, thing) if n else f"no {thing}s"


def _joined(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
