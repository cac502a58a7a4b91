"""Static lost motion: how far an output moves within all plays while the drives hold, at every position of a cycle.

The cycle is one of the ideal mechanism. Clearances are held at the middle of their play. There, every play is an offset e in a row that
would be zero: x and y of a pin in its hole, y and angle of a block in its guide, the residual of gears or of a coupling. With loops J,
rows P of the plays and rows D of the drives,

    [J; P; D] v = [0; e; 0]        change of the output = dy/dq v = g e

The output moves by the support function of the plays in g, which is a sum over them: c |g| of a round hole, max(c |g_y|, 2 c |g_angle| / L)
of a block of length L whose corners touch, half the play times |g| of a row. It is of first order in the plays.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from linkwright.api import (
    Cell,
    Description,
    Mechanism,
    Result,
    Table,
    Trajectory,
    UsageError,
    channel_graph,
    compiled_of,
    counted,
    curve_lines,
    description,
    driven_constraints,
    elements,
    factor,
    is_rotary,
    kinematics,
    linalg,
    listing,
    show,
    unit_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

INDEPENDENT = 1e-9  # dimensionless size of what the rows before leave of a row, below which it follows from them
IDLE = 1e-7  # share of the largest effect below which a free motion does not move the output
POSITIONS = ("angle", "length")  # dimensions of channels that can be an output


@dataclass(frozen=True)
class LostMotion(Result):
    """How far an output moves to each side within all plays, over the positions of a drive, SI.

    `contributions` (positions, plays) are those of each play, and `half` is their sum. Both are infinite where nothing holds the output.
    """

    output: str
    drive: str
    plays: tuple[str, ...]
    position: np.ndarray = field(repr=False)
    nominal: np.ndarray = field(repr=False)
    contributions: np.ndarray = field(repr=False)
    notes: tuple[str, ...]
    unit: tuple[tuple[str, float], tuple[str, float]]  # of positions and of the output

    @property
    def ok(self) -> bool:
        """True if the lost motion is bounded at every position."""
        return bool(np.isfinite(self.contributions).all())

    @property
    def half(self) -> np.ndarray:
        """How far the output moves to each side of its nominal position."""
        return self.contributions.sum(axis=1)

    @property
    def largest(self) -> float:
        """Largest lost motion to one side."""
        return float(self.half.max())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data in SI. None stands for a lost motion that is not bounded."""
        plays = [{"play": name, "half": [_finite(x) for x in self.contributions[:, i]]} for i, name in enumerate(self.plays)]
        return {
            "output": self.output, "drive": self.drive, "ok": self.ok, "position": self.position.tolist(), "nominal": self.nominal.tolist(),
            "half": [_finite(x) for x in self.half], "plays": plays, "notes": list(self.notes),
        }  # fmt: skip

    def table(self) -> Table:
        """Return the lost motion at every position with the contribution of each play. The plays are a part of the table."""
        (where, turn), (what, size) = self.unit
        heads = [(self.drive, where, ".5g"), (self.output, what), ("lost motion +-", what), *((name, what) for name in self.plays)]
        rows = [
            (x / turn, y / size, _cell(half / size), *(_cell(c / size) for c in each))
            for x, y, half, each in zip(self.position, self.nominal, self.half, self.contributions, strict=True)
        ]
        return Table.of(heads, rows, "lost motion", self.notes, parts=(self._plays(),))

    def _plays(self) -> Table:
        (where, turn), (what, size) = self.unit
        rows = []
        for i, name in enumerate(self.plays):
            each, k = self.contributions[:, i] / size, int(self.contributions[:, i].argmax())
            finite = each[np.isfinite(each)]
            rows.append((name, float(finite.mean()) if len(finite) else None, _cell(float(each[k])), self.position[k] / turn))
        return Table.of(["play", ("mean +-", what), ("largest +-", what), ("at", where, ".5g")], rows, "plays")

    def __str__(self) -> str:
        (where, turn), (what, size) = self.unit
        k, bounded = int(self.half.argmax()), np.isfinite(self.half)
        lines = [f"lost motion of {self.output}, {counted(len(self.position), 'position')} of {self.drive}"]
        if bounded.any():
            least = f"smallest: +- {show(float(self.half[bounded].min()) / size)} {what}"
            most = f"+- {show(self.largest / size)} {what}" if bounded.all() else "unbounded"
            lines.append(f"{least}, largest: {most} at {show(self.position[k] / turn)} {where}")
        return "\n".join([*lines, self._plays().text(), *(f"note: {x}" for x in self.notes)])

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Plot the lost motion over the positions of the drive, by plays (matplotlib Figure, or a file)."""
        return import_module("linkwright.rings.studio.plots.lost_motion").lost_motion(self, path, **options)


def _cell(x: float) -> Any:
    return float(x) if np.isfinite(x) else Cell(float(x), "unbounded")


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


# -------------------------------------------------------------------- plays


class Play(NamedTuple):
    """A play: the rows it leaves free, as coordinates or rows of constraints by name, and half its size."""

    name: str
    rows: tuple[str, ...]
    half: float
    length: float | None = None  # of a block in a guide

    def support(self, g: np.ndarray) -> np.ndarray:
        """How far the output moves within the play, (n,), from the derivatives (n, rows) by its offsets."""
        if self.length is not None:  # |y +- angle L/2| <= half: the corners of a rhombus
            return self.half * np.maximum(np.abs(g[:, 0]), 2.0 / self.length * np.abs(g[:, 1]))
        return self.half * np.linalg.norm(g, axis=1)


def plays_of(d: Description) -> tuple[Play, ...]:
    """Return the plays of a model: clearances of its joints, and those of rows that have one."""
    out = []
    for x in d.clearances:
        rows = ("y", "angle") if x.slides else ("x", "y")
        out.append(Play(x.name, tuple(f"{x.joint}.{k}" for k in rows), float(x.clearance), float(x.length) if x.length else None))
    for x in elements.constraints(d):
        travel = x.row_travel
        if travel is not None and travel.lower is not None and travel.upper is not None:
            half = 0.5 * (float(travel.upper) - float(travel.lower))
            out += [Play(x.name, (f"{x.name}.{label}",), half) for label in x.labels]
    return tuple(out)


def with_ideal_joints(m: Mechanism) -> Mechanism:
    """Return the mechanism with the clearances of its joints held at the middle of their play."""
    held = [row for x in plays_of(m.description) for row in x.rows if _is_coordinate(m.description, row)]
    return Mechanism(replace(m.description, drives=(*m.description.drives, *(description.Drive(name, "position", 0.0) for name in held))))


def _is_coordinate(d: Description, row: str) -> bool:
    return row.partition(".")[0] in {x.joint for x in d.clearances}


# -------------------------------------------------------------------- computing


def lost_motion(m: Mechanism, output: str, drive: str | None, *, steps: int, start: Any, stop: Any) -> LostMotion:
    """Compute the lost motion of an output over the cycle of a drive."""
    plays = plays_of(m.description)
    if not plays:
        raise UsageError(
            "the model has no play, so no motion is lost. Give a joint a clearance, `clearances: {B: {clearance: 0.05 mm, radius: 1 cm}}`, "
            "or `play:` to gears or a coupling.",
            name="clearances",
        )
    touches = [f"{x.name}.contact" if isinstance(x, elements.Clearance) else x.name for x in m.description.touch_laws]
    if any(output.startswith(f"{name}.") for name in touches):  # the ideal joint has no gap that could change
        raise UsageError(f"'{output}' belongs to a contact. Lost motion is one of a joint, a body or a point of a body.", name=output)
    ideal = with_ideal_joints(m)
    c = ideal.cycle(drive or _lead(m.description), steps=steps, speed=0, start=start, stop=stop)
    dimension = c.dimension(output)
    if dimension not in POSITIONS:
        raise UsageError(
            f"'{output}' is no position, but a channel of dimension {dimension}. Lost motion is one of an angle or a length, such as a "
            "joint's coordinate, the angle of a body or a coordinate of a point.",
            name=output,
        )
    g, free = _Offsets(ideal, c, plays).derivatives(output)
    ends = np.cumsum([0, *(len(x.rows) for x in plays)])
    each = np.array([x.support(g[:, a:b]) for x, a, b in zip(plays, ends[:-1], ends[1:], strict=True)]).T
    each[free] = np.inf
    notes = (f"Near {counted(int(free.sum()), 'position')} of the drive nothing holds the output: a dead center.",) if free.any() else ()
    units = m.description.units
    unit = (unit_of(units, "angle" if is_rotary(m.description, c.drive) else "length"), unit_of(units, dimension))
    return LostMotion(output, c.drive, tuple(x.name for x in plays), c[c.drive], c[output], each, notes, unit)


def _lead(d: Description) -> str | None:
    return d.drives[0].joint if d.drives else None


class _Offsets:
    """The mechanism with ideal joints along a cycle, and its motions by offsets in the rows of its plays."""

    def __init__(self, ideal: Mechanism, c: Trajectory, plays: Sequence[Play]):
        self.core, self.c = compiled_of(ideal.system), c
        self.rows = [row for x in plays for row in x.rows]
        self.drives = [name for name in dict.fromkeys([c.drive, *c.drives]) if name not in self.rows]

    @cached_property
    def constraints(self) -> Any:
        """The loops, then the plays that are coordinates, then the drives."""
        d, loops = self.core.description, self.core.loops
        names = [*(x for x in self.rows if _is_coordinate(d, x)), *self.drives]
        law = curve_lines.Line(loops.kappa, 0.0)  # only scales the row of a cylinder: the offsets are differences
        return loops.with_([driven_constraints.driven(d, name, law) for name in names])

    @cached_property
    def order(self) -> tuple[list[int], list[int], list[int]]:
        """Rows of the loops that hold, of the plays and of the drives."""
        places, at = dict[str, int](), 0
        inner = len(self.core.loops.constraints)
        for i, x in enumerate(self.constraints.constraints):
            for label in x.labels:
                key = f"{x.name}.{label}"
                if i < inner:
                    places |= {key: at} if key in self.rows else {}
                at += 1
        first = at - len([x for x in self.rows if x not in places]) - len(self.drives)
        later = iter(range(first, at))
        plays = [places[x] if x in places else next(later) for x in self.rows]
        return [i for i in range(first) if i not in plays], plays, list(later)

    def derivatives(self, output: str) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of an output by the offsets (n, rows), and a mask of the samples in which a free motion moves it."""
        n, nv = len(self.c), self.core.tree.nv
        motions, free = np.zeros((n, nv, len(self.rows))), []
        spare = np.zeros((n, len(self.rows)), dtype=bool)
        for i in range(n):
            motions[i], null, spare[i] = self._at(i)
            free.append(null)
        self._need_independent(spare)
        width = max(x.shape[1] for x in free)
        every = np.concatenate([motions, np.array([np.pad(x, ((0, 0), (0, width - x.shape[1]))) for x in free])], axis=2)
        found = self._slopes(output, every)
        g, loose = found[:, : len(self.rows)], found[:, len(self.rows) :]
        scale = np.abs(found).max() * np.ones(n)
        return g, spare.any(axis=1) | (np.abs(loose).max(axis=1, initial=0.0) > IDLE * scale)

    def _at(self, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Motions by unit offsets, motions that nothing holds, and which rows of plays follow from the loops, at a sample."""
        loops, st = self.constraints, self.c.state(i)
        closed = loops.at(st.q, np.zeros(self.core.tree.nv), st.t, st.references)
        A = np.asarray(loops.dimensionless(closed)[1])
        held, plays, drives = self.order
        order = [*held, *plays, *drives]
        kept = [order[k] for k in linalg.pivoted_columns(A[order].T, INDEPENDENT, first=tuple(range(len(order))))]
        f = factor(A[kept], INDEPENDENT)
        unit = (np.array(kept)[:, None] == np.array(plays)) / loops.row_scale[kept][:, None]
        columns = np.asarray(loops.columns)[:, None] if np.ndim(loops.columns) else loops.columns
        return columns * f.solve(unit), columns * f.null, ~np.isin(plays, kept)

    def _need_independent(self, spare: np.ndarray) -> None:
        """Raise UsageError for plays that redundant constraints tie to each other."""
        tied = [name for i, name in enumerate(self.rows) if spare[:, i].all()]
        if tied:
            raise UsageError(
                f"the constraints are redundant: {listing(tied)} cannot move alone, because the other joints hold it. Lost motion needs "
                "plays that do not depend on each other. Give more joints a clearance, or take this one out.",
                name=tied[0].partition(".")[0],
            )

    def _slopes(self, output: str, motions: np.ndarray) -> np.ndarray:
        """Derivatives of the output along motions (n, nv, directions)."""
        c, skel = self.c, self.core.skel
        dq = motions
        if skel.tree.nq != skel.tree.nv:
            dq = np.array([[kinematics.qdot(skel, q, x) for x in each.T] for q, each in zip(c.q, motions, strict=True)]).transpose(0, 2, 1)
        rest = np.zeros_like(c.v)
        near = np.array([skel.pack(x) for x in c.references]).reshape(len(c), skel.cut_size)
        batch = channel_graph.Batch(self.core.loops, {"q": c.q, "v": rest, "a": rest, "near": near})
        found = batch.slopes([c._channel(output)], {"q": dq}).get(output)
        if found is None or found.ndim != 2:
            raise UsageError(
                f"'{output}' has no single value that is a smooth function of positions. Name an angle or one coordinate.", name=output
            )
        return found
