"""A link alone with everything that acts on it: the free-body diagram of one body at one place of a cycle.

free_body(c, "coupler", at="60 deg")                    the data: rows of forces and moments, and their sum
free_body(c, "coupler", at="60 deg").plot("fb.png")     the drawing

Pins push with their reactions, drives and springs with their efforts, weight at the center of mass; with the inertia force
-m a and the inertia moment there (d'Alembert) everything adds up to zero, and the sum is part of the result.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import (
    ANGLE,
    KINDS,
    LENGTH,
    Cell,
    Description,
    Result,
    State,
    Table,
    Trajectory,
    UsageError,
    inverse,
    matches,
    nearest,
    parse_unit,
    quantity,
    unit_of,
)
from linkwright.rings.design.body_forces import BodyAction, body_actions, in_world
from linkwright.rings.studio.plots import natural_axis


@dataclass(frozen=True)
class FreeBody(Result):
    """Everything that acts on one body at one instant; prints as a table, draws itself."""

    body: str
    where: str  # "A = 60 deg"
    rows: tuple[BodyAction, ...]
    com: np.ndarray
    outline: tuple[tuple[np.ndarray, bool], ...] = field(repr=False)  # (points in the world, closed)
    planar: bool
    axes: str  # "xy", or "xyz" in space
    units: tuple[str, ...]
    gravity: np.ndarray = field(repr=False)
    size: float = 1.0  # of the mechanism, m: what arms of round-off are measured by

    @property
    def force(self) -> np.ndarray:
        """Sum of all forces: zero up to round-off."""
        return np.sum([r.force for r in self.rows], axis=0)

    @property
    def moment(self) -> np.ndarray:
        """Sum of all moments about the center of mass: zero up to round-off."""
        return np.sum([r.moment_about(self.com) for r in self.rows], axis=0)

    @property
    def residual(self) -> float:
        """Largest component of the sums, relative to the largest force and moment that enter."""
        largest, turning = self.scales
        parts = [float(np.abs(s).max()) / x for s, x in ((self.force, largest), (self.moment, turning)) if x > 0.0]
        return max(parts, default=0.0)

    @property
    def scales(self) -> tuple[float, float]:
        """(largest force, largest moment): what round-off is measured by."""
        largest = max(float(np.linalg.norm(r.force)) for r in self.rows)
        reach = max(float(np.linalg.norm(r.at - self.com)) for r in self.rows)
        own = max(float(np.linalg.norm(r.moment)) for r in self.rows)
        return largest, max(largest * reach, own, 1e-3 * largest * self.size)

    def table(self) -> Table:
        """Return the forces and moments on the body in the file's units; the last row is their sum."""
        force, torque = unit_of(self.units, "force"), unit_of(self.units, "torque")
        pick = (2,) if self.planar else (0, 1, 2)
        heads = [("acts", ""), *((f"F{a}", force[0]) for a in self.axes), ("|F|", force[0])]
        heads += [(f"M{'' if self.planar else 'xyz'[i]}", torque[0]) for i in pick]
        heads += [(f"M{'' if self.planar else 'xyz'[i]} about G", torque[0]) for i in pick]
        total = BodyAction("sum", "sum", self.com, self.force, self.moment)
        scale_f, scale_m = self.scales
        rows = []
        for r in (*self.rows, total):
            f = [_digits(x / force[1], scale_f / force[1]) for x in (*r.force[: len(self.axes)], float(np.linalg.norm(r.force)))]
            none = r is total or np.abs(r.moment).max() < 1e-9 * scale_m
            own = [Cell(None, "") if none else _digits(r.moment[i] / torque[1], scale_m / torque[1]) for i in pick]
            about = [_digits(r.moment_about(self.com)[i] / torque[1], scale_m / torque[1]) for i in pick]
            rows.append([r.name, *f, *own, *about])
        return Table.of(heads, rows, self.body)

    def __str__(self) -> str:
        return f"{self.body} at {self.where}: forces on it, world axes; G is its center of mass\n{self.table().text()}"

    def _repr_html_(self) -> None:
        """Notebooks show the diagram, see `_repr_png_`."""

    def as_dict(self) -> dict[str, Any]:
        rows = [
            {"name": r.name, "kind": r.kind, "at": r.at.tolist(), "force": r.force.tolist(), "moment": r.moment.tolist()} for r in self.rows
        ]
        sums = {"force": self.force.tolist(), "moment": self.moment.tolist(), "residual": self.residual}
        return {"body": self.body, "where": self.where, "com": self.com.tolist(), "actions": rows, "sum": sums}

    def plot(self, path: str | os.PathLike[str] | None = None, *, dark: bool = False) -> Any:
        """The diagram: a matplotlib Figure, or with `path` (.png, .svg, .pdf) the file written."""
        from linkwright.rings.studio.free_body_figure import draw

        return draw(self, path, dark=dark)

    def _repr_png_(self) -> bytes:
        import io

        buffer = io.BytesIO()
        self.plot().savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def _digits(x: float, scale: float) -> Cell:
    """Decimals that show five digits of the scale; round-off shows as zero."""
    decimals = int(np.clip(4 - np.floor(np.log10(scale)), 0, 6)) if scale > 0.0 else 1
    return Cell(float(x), f"{round(x, decimals) + 0.0:.{decimals}f}")


def free_body(
    c: Trajectory | inverse.Loads,
    body: str,
    at: Any = None,
) -> FreeBody:
    """The free body of a link at a place of a cycle (`at`: the drive's position, or a time), or of given Loads."""
    loads, where = (c, "the given state") if isinstance(c, inverse.Loads) else loads_at(c, at)
    return of_loads(loads, body, where)


# -------------------------------------------------------------------- where in the cycle


def loads_at(c: Trajectory, at: Any) -> tuple[inverse.Loads, str]:
    """Loads at a position of the drive (or a time), and how to call the place. None: the first sample."""
    over = natural_axis(c)
    if isinstance(at, str) and _is_time(at):
        over = "t"
    elif isinstance(at, str) and over == "t" and not _is_time(at):
        raise UsageError(
            f"the drive passes {at!r} more than once (or never) in this cycle. Give a time, for example at='0.5 s'.", name=at
        )
    x = c[over]
    symbol, size = c.unit(over)
    if at is None or len(c) == 1:
        return c._each_loads[0], f"{over} = {_clean(x[0] / size):.6g} {symbol}"
    value = quantity(at, KINDS[c.dimension(over)], "at")
    label = f"{over} = {_clean(value / size):.6g} {symbol}"
    nearest_sample, value = _nearest(x, value, winds=bool(c.full_turn) and c.dimension(over) == "angle")
    step = float(np.abs(np.diff(x)).max())
    if abs(x[nearest_sample] - value) <= 1e-9 * max(step, 1e-12):
        return c._each_loads[nearest_sample], label
    low, high = sorted((x[0], x[-1]))
    if not low <= value <= high:
        raise UsageError(
            f"at: {value / size:.6g} {symbol} is outside the cycle, which covers {low / size:.6g} .. {high / size:.6g} {symbol}.", name="at"
        )
    exact = _between_samples(c, over, nearest_sample, value)
    if exact is not None:
        return exact, label
    return c._each_loads[nearest_sample], f"{over} = {_clean(x[nearest_sample] / size):.6g} {symbol}"


def _clean(x: float) -> float:
    return 0.0 if abs(x) < 1e-12 else x


def _is_time(text: str) -> bool:
    parts_of_text = text.split()
    try:
        dimension = parse_unit(" ".join(parts_of_text[1:]))[1] if len(parts_of_text) > 1 else None
    except UsageError:
        return False
    return dimension is not None and matches(dimension, KINDS["time"]) and not matches(dimension, ANGLE) and not matches(dimension, LENGTH)


def _nearest(x: np.ndarray, value: float, winds: bool) -> tuple[int, float]:
    """(sample, value): the nearest sample; a full turn knows an angle by any number of turns."""
    if winds:
        value = value + 2.0 * np.pi * np.round((0.5 * (x[0] + x[-1]) - value) / (2.0 * np.pi))
        low, high = sorted((x[0], x[-1]))
        value = value + 2.0 * np.pi if value < low - 1e-9 else value - 2.0 * np.pi if value > high + 1e-9 else value
    return int(np.argmin(np.abs(x - value))), value


def _between_samples(c: Trajectory, over: str, i: int, value: float) -> inverse.Loads | None:
    """Loads between two samples, where a single drive runs at constant speed; None otherwise."""
    system = c.system
    if over == "t" or system is None:
        return None
    drives = list(c._each_loads[i].tau)
    joints = {j.name for j in c.skel.tree.description.joints}
    others = [d for d in drives if d != over and d in joints]
    if len(others) != len(drives) - 1 or np.ptp(c[f"{over}.v"]) > 1e-9 or any(np.any(c[f"{d}.v"]) for d in others):
        return None
    near = State(c.skel, c.q[i], c.v[i], c.references[i], float(c.t[i]))
    held = {d: float(c[d][i]) for d in others}
    speed = {d: 0.0 for d in others} | {over: float(c[f"{over}.v"][i])}
    st = system.assemble(q={over: value} | held, v=speed, guess=near)
    rate = speed[over]
    t = float(c.t[i]) + ((value - float(c[over][i])) / rate if rate else 0.0)
    return system.inverse(State(st.skel, st.q, st.v, st.references, t), dict.fromkeys(drives, 0.0), drives=drives)


# -------------------------------------------------------------------- what acts


def of_loads(loads: inverse.Loads, body: str, where: str) -> FreeBody:
    place = loads.problem.place
    skel = place.loops.skel
    d = skel.tree.description
    names = [b.name for b in d.moving]
    if body == d.bodies[0].name:
        raise UsageError(f"'{body}' is fixed. Its load is the shaking force. Moving bodies: {', '.join(names)}.", name=body, allowed=names)
    if body not in names:
        raise UsageError(f"there is no body '{body}'.", nearest(body, names, "Bodies"))
    node = skel.node(body)
    com = in_world(loads, node, np.array(skel.com[node], dtype=float))
    return FreeBody(
        body=body,
        where=where,
        rows=body_actions(loads, body),
        com=com,
        outline=_outline(loads, d, body, node),
        planar=d.planar,
        axes=d.plane or "xyz",
        units=d.units,
        gravity=np.asarray(skel.gravity, dtype=float),
        size=float(place.loops.kappa),
    )


def _outline(loads: inverse.Loads, d: Description, body: str, node: int) -> tuple[tuple[np.ndarray, bool], ...]:
    """The body's bars and plates in the world, with arms to joints that lie off them."""
    b = d.body(body)
    named = {p.name: np.array(p.at, dtype=float) for p in b.points}
    own = [np.array((j.frame_first if j.first == body else j.frame_second).at, float) for j in d.joints if body in (j.first, j.second)]
    lines = [([named[n] for n in (line[:-1] if _closed(line) else line)], _closed(line)) for line in b.outline]
    if any(closed for _, closed in lines):  # spokes of a plate to points where nothing is joined only clutter it
        lines = [(p, closed) for p, closed in lines if closed or len(p) != 2 or any(np.linalg.norm(p[1] - at) < 1e-9 for at in own)]
    if not lines:
        every = [*named.values(), *own]
        lines = [(every, False)] if every else []
    drawn = np.array([p for points, _ in lines for p in points]).reshape(-1, 3)
    for p in own:
        gaps = np.linalg.norm(drawn - p, axis=1) if len(drawn) else np.zeros(1)
        if np.min(gaps) > 1e-9:
            lines.append(([drawn[int(np.argmin(gaps))], p], False))
    return tuple((np.array([in_world(loads, node, p) for p in points]), closed) for points, closed in lines)


def _closed(line: tuple[str, ...]) -> bool:
    return len(line) > 3 and line[0] == line[-1]
