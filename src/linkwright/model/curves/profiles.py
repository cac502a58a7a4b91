"""Moves by the motion laws of cam design (`laws`), and programs of moves and dwells, once or again and again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.model.curves import Curve, Jet
from linkwright.model.curves.laws import JUMPS, LAWS, MEETING
from linkwright.model.curves.piecewise import Periodic, Piecewise, derived_row, polynomial_value
from linkwright.model.curves.tables import polyline
from linkwright.model.description import Move
from linkwright.numerics.scalars import real, where
from linkwright.properties import cached_property

DWELL = "dwell"  # the law of a piece that rests
RETURNS = 1e-12  # of its largest value: what a repeating program may miss its beginning by


class _Rows(NamedTuple):
    """Pieces as columns, the first before and the last after the program: f = sum c_k u^k + factor law(u), u = (x - since)/span."""

    since: np.ndarray
    span: np.ndarray
    c: np.ndarray  # (pieces + 2, degree + 1)
    factors: dict[str, np.ndarray]  # law -> factor of each piece; polynomials are in c


@dataclass(frozen=True)
class Program(Curve):
    """Moves and dwells one after the other from x = `first` on, starting at `begin`; it continues at its end speeds.

    Spans and positions may be any scalar. `repeats`: the last piece is followed by the first.
    """

    begin: Any
    pieces: tuple[tuple[Any, Any, str], ...]  # (span, end position, law or DWELL)
    first: Any = 0.0
    repeats: bool = False

    @classmethod
    def of(cls, begin: Any, moves: Sequence[Move], first: Any = 0.0, *, repeats: bool = False) -> Program:
        """The moves of a drive or coupling of the model file; one without an end is a dwell."""
        pieces, here = [], begin
        for move in moves:
            here = here if move.to is None else move.to
            pieces.append((move.span, here, DWELL if move.to is None else move.law))
        return cls(begin, tuple(pieces), first, repeats)

    @property
    def duration(self) -> Any:
        return sum(p[0] for p in self.pieces)

    @cached_property
    def breaks(self) -> np.ndarray:
        """Begin of every piece, and the end of the last."""
        return np.array(list(itertools.accumulate((p[0] for p in self.pieces), initial=self.first)))

    def corners(self, first: float, last: float, /) -> np.ndarray:
        """Jumps of the acceleration: at the ends of harmonic, trapezoidal and straight moves, and inside trapezoidal ones."""
        found = [
            since + share * span for since, (span, _, law) in zip(self.breaks, self.pieces, strict=False) for share in JUMPS.get(law, ())
        ]
        return np.unique([t for t in found if first < t < last])

    # ------------------------------------------------------------ pieces as rows

    @cached_property
    def _speeds(self) -> tuple[Any, ...]:
        """The speed of straight pieces; zero of the others."""
        return tuple((there - here) / span if law == "straight" else 0.0 for here, (span, there, law) in self._moves())

    def _moves(self) -> Iterator[tuple[Any, tuple[Any, Any, str]]]:
        """Every piece with the position where it begins."""
        here = self.begin
        for piece in self.pieces:
            yield here, piece
            here = piece[1]

    @cached_property
    def _rows(self) -> _Rows:
        n, speeds = len(self.pieces), self._speeds
        rows, factors = (
            [],
            {law: [0.0] for law in dict.fromkeys(p[2] for p in self.pieces) if law in LAWS and law not in (*MEETING, "straight")},
        )
        for i, (here, (span, there, law)) in enumerate(self._moves()):
            before = speeds[i - 1] if i or self.repeats else 0.0
            after = speeds[(i + 1) % n] if i + 1 < n or self.repeats else 0.0
            rows.append(_row(here, there - here, span, law, before, after))
            for name, column in factors.items():
                column.append(there - here if name == law else 0.0)
        end, spans, since = self.pieces[-1][1], [p[0] for p in self.pieces], list(self.breaks)
        if self.repeats:  # rounding may put a place at the seam on either side, where its neighbor continues
            gain = end - self.begin
            outside = [rows[-1][0] - gain, *rows[-1][1:]], [rows[0][0] + gain, *rows[0][1:]]
            since, spans = [since[0] - spans[-1], *since], [spans[-1], *spans, spans[0]]
            factors = {name: [column[-1], *column[1:], column[1]] for name, column in factors.items()}
        else:
            outside = [self.begin, speeds[0]], [end, speeds[-1]]
            since, spans = [since[0], *since], [1.0, *spans, 1.0]
            factors = {name: [*column, 0.0] for name, column in factors.items()}
        every = [outside[0], *rows, outside[1]]
        wide = max(len(r) for r in every)
        c = np.array([[*r, *[0.0] * (wide - len(r))] for r in every])
        return _Rows(np.array(since), np.array(spans), c, {name: np.array(column) for name, column in factors.items()})

    def __call__(self, x: Any, /) -> Jet:
        """f, f', f'' at once; a traced value chooses the numbers of its piece first, and evaluates every law once."""
        rows = self._rows
        columns = [rows.since, rows.span, *rows.c.T, *rows.factors.values()]
        if hasattr(x, "where") or self.breaks.dtype.kind == "O":  # traced
            chosen = [_chosen(x, self.breaks, column) for column in columns]
        else:
            j = np.searchsorted(np.real(self.breaks), real(x), side="right")
            chosen = [column[j] for column in columns]
        since, span, c, factors = chosen[0], chosen[1], chosen[2 : 2 + rows.c.shape[1]], chosen[2 + rows.c.shape[1] :]
        u = (x - since) / span
        first = derived_row(c)
        f, df, ddf = polynomial_value(c, u), polynomial_value(first, u), polynomial_value(derived_row(first), u)
        for law, factor in zip(rows.factors, factors, strict=True):
            s, ds, dds = LAWS[law](u)
            f, df, ddf = f + factor * s, df + factor * ds, ddf + factor * dds
        zero = 0.0 * u
        return f + zero, df / span + zero, ddf / (span * span) + zero


def _chosen(x: Any, breaks: np.ndarray, column: np.ndarray) -> Any:
    """The entry of the piece that a traced value lies in."""
    entries = [float(a) if isinstance(a, (int, float)) else a for a in column.tolist()]
    out = entries[0]
    for at, entry in zip(breaks.tolist(), entries[1:], strict=True):
        out = out if isinstance(entry, float) and isinstance(out, float) and entry == out else where(x >= at, entry, out)
    return out


def _row(here: Any, stroke: Any, span: Any, law: str, before: Any, after: Any) -> list[Any]:
    """Coefficients of a piece over u from 0 to 1; polynomials meet the speeds before and after without acceleration."""
    if law == "straight":
        return [here, stroke]
    if law not in MEETING:
        return [here]
    v0, v1 = before * span, after * span
    if law == "345":
        return [here, v0, 0.0, 10 * stroke - 4 * v1 - 6 * v0, 7 * v1 + 8 * v0 - 15 * stroke, 6 * stroke - 3 * (v0 + v1)]
    rest, gain = stroke - v0, v1 - v0
    top = [35 * rest - 15 * gain, 39 * gain - 84 * rest, 70 * rest - 34 * gain, 10 * gain - 20 * rest]
    return [here, v0, 0.0, 0.0, *top]


def repeated(program: Program) -> Periodic:
    """The program again and again; what it gains in a period adds up, as an indexing table's angle does."""
    gain = program.pieces[-1][1] - program.begin
    sizes = [abs(p[1]) for p in program.pieces if isinstance(p[1], (int, float))]
    returns = isinstance(gain, (int, float)) and abs(gain) <= RETURNS * max(sizes, default=0.0)
    return Periodic(program, 0.0 if returns else gain)


# ---------------------------------------------------------------- one rise from 0 to 1, constant before and after


@dataclass(frozen=True)
class MinimumJerkRise(Curve):
    """The polynomial of degree five between two rests; before and after, where all its derivatives used here vanish, it is constant."""

    at: float
    duration: float

    def __call__(self, x: Any, /) -> Jet:
        u = (x - self.at) / self.duration
        done = u.maximum(0.0).minimum(1.0) if hasattr(u, "maximum") else np.clip(u, 0.0, 1.0)
        s, ds, dds = LAWS["345"](done)
        return s, ds / self.duration, dds / self.duration**2


def trapezoidal_rise(at: float, ramp: float, hold: float) -> Piecewise:
    """The speed rises, holds and falls in straight lines; it is a triangle where it holds for no time."""
    times = at + np.array([0.0, ramp, ramp + hold, 2.0 * ramp + hold])
    used = [0, 1, 2, 3] if times[2] > times[1] else [0, 1, 3]
    return polyline(times[used], np.array([0.0, 1.0, 1.0, 0.0])[used] / (ramp + hold)).integral()


def synchronized(strokes: Sequence[float], speeds: Sequence[float], accelerations: Sequence[float]) -> tuple[float, float]:
    """Ramp and hold of the quickest trapezoid (or triangle) in which no component exceeds its top speed and acceleration."""
    moving = [(abs(s), v, a) for s, v, a in zip(strokes, speeds, accelerations, strict=True) if s != 0.0]
    speed, acceleration = min(v / s for s, v, _ in moving), min(a / s for s, _, a in moving)
    ramp = speed / acceleration
    if speed * ramp >= 1.0:  # never at top speed: half the way up, half down
        return math.sqrt(1.0 / acceleration), 0.0
    return ramp, 1.0 / speed - ramp
