"""Belts, chains and ropes: lengths and arcs of contact in the start position, tensions over a cycle, and where they go slack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linkwright.api import Result, System, Table, Trajectory, UsageError, belt_constraints, compiled_of, elements, marked, nearest, unit_of
from linkwright.rings.design.cycle_averages import extremes
from linkwright.rings.design.drive_duty import cycle_axis

LONG_ARC = np.radians(270.0)  # of contact: more is hardly meant
SLACK = -1e-9  # of the largest tension: below it a span would have to push


@dataclass(frozen=True)
class BeltGeometry:
    """A belt in the start position, SI: length of its path (without what drums have wound up), arcs of contact, and links of a chain."""

    name: str
    closed: bool
    length: float
    arcs: tuple[tuple[str, float], ...]  # (pulley, angle) where it is bent
    links: float | None = None  # length over pitch
    pitch: float | None = None
    given: float | None = None  # length of the belt that is given, of one whose pulleys do not move
    overlaps: tuple[tuple[str, str, float, float], ...] = ()  # neighbors (pulley, pulley) with their distance and the sum of their radii

    def text(self, units: tuple[str, ...]) -> str:
        """`1459.2 mm long; on A 163.7 deg, on B 196.3 deg`."""
        (length, size), (angle, turn) = unit_of(units, "length"), unit_of(units, "angle")
        out = f"{self.length / size:.6g} {length} long"
        if self.links is not None and self.pitch is not None:
            whole = 2 * round(0.5 * self.links) or 2
            more = (whole * self.pitch - self.length) / size
            out += f", {self.links:.2f} pitches of {self.pitch / size:.6g} {length}"
            if abs(whole - self.links) > 1e-6:
                out += f" (nearest even number {whole}: {abs(more):.3g} {length} {'longer' if more > 0.0 else 'shorter'} than its path)"
        if self.given is not None:
            off = (self.given - self.length) / size
            out += f"; given {self.given / size:.6g} {length}, {abs(off):.3g} {length} {'longer' if off > 0.0 else 'shorter'} than its path"
        arcs = ", ".join(f"on {name} {x / turn:.1f} {angle}" for name, x in self.arcs)
        return f"{out}; {arcs}" if arcs else out


def belt_warnings(found: tuple[BeltGeometry, ...], units: tuple[str, ...]) -> list[str]:
    """Return warnings of what is hardly meant: neighboring pulleys that overlap, else a belt almost all the way round a pulley."""
    (symbol, size), (length, meter) = unit_of(units, "angle"), unit_of(units, "length")
    out = [
        f"belt '{g.name}': the pulleys {a} and {b} overlap: their radii add up to {radii / meter:.4g} {length}, their shafts are "
        f"{apart / meter:.4g} {length} apart"
        for g in found
        for a, b, apart, radii in g.overlaps
    ]
    arcs = [(g, name, angle) for g in found if not g.overlaps for name, angle in g.arcs if angle > LONG_ARC]
    turns = [f"belt '{g.name}' goes {angle / size:.4g} {symbol} round {name}: its `turn:` may be the wrong one" for g, name, angle in arcs]
    return out + turns


def belt_geometry(system: System) -> tuple[BeltGeometry, ...]:
    """Return lengths and arcs of contact of all belts in the start position."""
    x, out = system.start.instant, []
    for c in compiled_of(system).loops.constraints:
        if isinstance(c, belt_constraints.BeltConstraint):
            b, spans = c.belt, c.spans(compiled_of(system).skel, x.motion)
            arcs = belt_arcs(b, [np.asarray(s.u, dtype=float) for s in spans])
            length = float(sum(s.length for s in spans)) + sum(float(b.radii[i]) * angle for i, angle in arcs)
            pitch = None if b.pitch is None else float(b.pitch)
            given = None if b.length is None or not b.carrier else float(b.length)
            named = tuple((pulley_name(b, i), angle) for i, angle in arcs)
            links = None if pitch is None else length / pitch
            out.append(BeltGeometry(c.name, b.closed, length, named, links, pitch, given, _overlaps(b, spans)))
    return tuple(out)


def _overlaps(b: elements.Belt, spans: list[belt_constraints.BeltSpan]) -> tuple[tuple[str, str, float, float], ...]:
    """Neighbors that both have a radius and are closer than the two together."""
    out = {}
    for (i, j), s in zip(b.spans, spans, strict=True):
        radii, turns = (float(b.radii[i]), float(b.radii[j])), (b.pulleys[i].turn, b.pulleys[j].turn)
        across = turns[1] * radii[1] - turns[0] * radii[0]
        apart = float(np.hypot(float(s.length), across))
        if min(radii) > 0.0 and apart < sum(radii) * (1.0 - 1e-9):
            out.setdefault(frozenset((i, j)), (pulley_name(b, i), pulley_name(b, j), apart, sum(radii)))
    return tuple(out.values())


def belt_arcs(b: elements.Belt, directions: list[np.ndarray]) -> list[tuple[int, float]]:
    """(pulley, angle of contact) wherever the belt is bent between two spans."""
    inner = range(len(b.pulleys)) if b.closed else range(1, len(b.pulleys) - 1)
    out = []
    for i in inner:
        if b.pulleys[i].turn:
            (ax, ay, _), (bx, by, _) = directions[i - 1], directions[i]
            out.append((i, float(b.pulleys[i].turn * np.arctan2(ax * by - ay * bx, ax * bx + ay * by) % (2.0 * np.pi))))
    return out


def pulley_name(b: elements.Belt, i: int) -> str:
    """The joint of a pulley, or the point at which the belt runs or ends."""
    p = b.pulleys[i]
    return p.joint or f"{p.body}.{p.point}"


@dataclass(frozen=True)
class SpanDuty:
    """The tension of one span over a cycle, N; `at_*` are places of the cycle."""

    belt: str
    span: int  # counted from 1, as in the channel main.tension.1
    between: tuple[str, str]
    max: float
    at_max: float
    min: float
    at_min: float
    mean: float
    slack: bool  # somewhere it would have to push
    near_max: bool = False  # taken near a singular position
    near_min: bool = False


@dataclass(frozen=True)
class BeltTable(Result):
    """Tensions of all spans of a cycle; prints as a table in the file's units."""

    rows: tuple[SpanDuty, ...]
    over: str
    dimension: str
    units: tuple[str, ...]

    def __iter__(self) -> Iterator[SpanDuty]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: tuple[str, int]) -> SpanDuty:
        """`table["main", 1]`: a span of a belt, counted from 1."""
        for row in self.rows:
            if (row.belt, row.span) == key:
                return row
        names = [f"{r.belt}, {r.span}" for r in self.rows]
        raise UsageError(f"there is no span {key!r}.", nearest(str(key), names, "Spans"))

    def as_dict(self) -> dict[str, Any]:
        return {"belts": [asdict(r) for r in self.rows]}

    def table(self) -> Table:
        """Return the tensions in the file's units, a row for each span."""
        (force, newton), (place, size) = unit_of(self.units, "force"), unit_of(self.units, self.dimension)
        heads = [
            ("belt", ""), ("span", ""), ("max tension", force), (f"{self.over} at max", place), ("min tension", force),
            (f"{self.over} at min", place), ("mean", force),
        ]  # fmt: skip
        rows = [
            (
                r.belt, " - ".join(r.between), marked(r.max / newton, r.near_max), r.at_max / size, marked(r.min / newton, r.near_min),
                r.at_min / size, r.mean / newton,
            )
            for r in self.rows
        ]  # fmt: skip
        return Table.of(heads, rows, "belts", self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Spans that go slack."""
        (force, newton), (place, size) = unit_of(self.units, "force"), unit_of(self.units, self.dimension)
        return tuple(
            f"belt '{r.belt}' is slack between {' and '.join(r.between)}: it would have to push with {-r.min / newton:.4g} {force} at "
            f"{self.over} = {r.at_min / size:.4g} {place}"
            for r in self.rows
            if r.slack
        )


def belts(c: Trajectory) -> BeltTable:
    """Return the tensions of all belts over a cycle; needs masses."""
    d, over = c.skel.tree.description, cycle_axis(c)
    rows = []
    for b in d.belts:
        name = f"tensions of {b.name}"
        found = c._sampled({name: lambda x, n=b.name: np.array(x.loads.belt_tensions(n))}, loads=True)[name]
        least = SLACK * float(np.abs(found).max(initial=0.0))
        for k, (i, j) in enumerate(b.spans):
            y = found[:, k]
            pull = extremes(c.t, y, over.values)
            ends = pulley_name(b, i), pulley_name(b, j)
            places = pull.high, pull.at_high, pull.low, pull.at_low
            near = bool(c.near_singular[pull.sample_high]), bool(c.near_singular[pull.sample_low])
            rows.append(SpanDuty(b.name, k + 1, ends, *places, float(np.mean(y)), bool(pull.low < least), *near))
    return BeltTable(tuple(rows), over.name, over.dimension, d.units)
