"""Functions of one variable with exact first and second derivatives: drives, couplings, cams.

A law is called with x and returns (f, f', f''), over any scalar. Drives follow laws of time,
couplings laws of another joint's coordinate. Piecewise laws list their `breaks`: where, and which derivative jumps there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.curves import through
from linkwright.model.expressions import Expr, cos, evaluate, sin, sqrt
from linkwright.numerics.scalars import real, where

Law = Callable[[Any], tuple[Any, Any, Any]]


@dataclass(frozen=True)
class LinearLaw:
    """f = offset + slope x: constant speed, or a gear ratio."""

    offset: Any
    slope: Any

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        return self.offset + self.slope * x, self.slope, 0.0


@dataclass(frozen=True)
class TableLaw:
    """A curve through points (`curves.through`), straight beyond its ends."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    interpolation: str = "monotone"

    @property
    def breaks(self) -> tuple[tuple[float, int], ...]:
        """(place, lowest derivative that may jump there); of a periodic curve those of one period."""
        curve = through(self.x, self.y, self.interpolation, straight=True)
        return tuple((x, curve.order) for x in self.x)

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        return through(self.x, self.y, self.interpolation, straight=True).jet(x)


@dataclass(frozen=True)
class ExpressionLaw:
    """A formula of one variable, differentiated by rule."""

    variable: str
    f: Any
    df: Any
    ddf: Any

    @classmethod
    def of(cls, f: Any, variable: str = "t") -> ExpressionLaw:
        df = derivative(f, variable)
        return cls(variable, f, df, derivative(df, variable))

    def __call__(self, x: Any) -> tuple[Any, Any, Any]:
        env = {self.variable: x}
        return evaluate(self.f, env), evaluate(self.df, env), evaluate(self.ddf, env)


def derivative(f: Any, x: str) -> Any:
    """d f / d x of an expression, by the rules of calculus."""
    if not isinstance(f, Expr):
        return 0.0
    if f.op == "var":
        return 1.0 if f.args[0] == x else 0.0
    a = f.args[0]
    da = derivative(a, x)
    if len(f.args) == 1:
        if f.op not in _CHAIN:
            raise UsageError(f"'{f.op}' in '{f}' has a corner and cannot drive a motion; use sin, cos, sqrt, exp or powers.")
        return _CHAIN[f.op](a) * da
    b = f.args[1]
    db = derivative(b, x)
    if f.op in ("add", "sub"):
        return da + db if f.op == "add" else da - db
    if f.op == "mul":
        return da * b + a * db
    if f.op == "div":
        return (da - f * db) / b
    if f.op == "pow" and not isinstance(b, Expr):
        return b * a ** (b - 1.0) * da
    if f.op == "atan2":
        return (b * da - a * db) / (a * a + b * b)
    raise UsageError(f"'{f}' cannot be differentiated; use sums, products, constant powers, sin, cos, sqrt and exp.")


_CHAIN: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -1.0,
    "sqrt": lambda a: 0.5 / sqrt(a),
    "sin": lambda a: cos(a),
    "cos": lambda a: -sin(a),
    "tan": lambda a: 1.0 / (cos(a) * cos(a)),
    "exp": lambda a: a.exp(),
    "asin": lambda a: 1.0 / sqrt(1.0 - a * a),
    "acos": lambda a: -1.0 / sqrt(1.0 - a * a),
    "atan": lambda a: 1.0 / (1.0 + a * a),
}


def _cycloidal(x: Any) -> tuple[Any, Any, Any]:
    w = 2.0 * np.pi
    return x - np.sin(w * x) / w, 1.0 - np.cos(w * x), w * np.sin(w * x)


def _polynomial_345(x: Any) -> tuple[Any, Any, Any]:
    return x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2, 60 * x * (1 - 3 * x + 2 * x * x)


def _polynomial_4567(x: Any) -> tuple[Any, Any, Any]:
    return x**4 * (35 - 84 * x + 70 * x * x - 20 * x**3), 140 * x**3 * (1 - x) ** 3, 420 * x * x * (1 - x) ** 2 * (1 - 2 * x)


def _trapezoidal(x: Any) -> tuple[Any, Any, Any]:
    """Speed rises, holds and falls in thirds of the time; the top speed is 1.5."""
    up = (2.25 * x * x, 4.5 * x, 4.5 + 0.0 * x)
    hold = (1.5 * x - 0.25, 1.5 + 0.0 * x, 0.0 * x)
    down = (1.0 - 2.25 * (1 - x) ** 2, 4.5 * (1 - x), -4.5 + 0.0 * x)
    parts = [where(real(x) < 1 / 3, a, where(real(x) < 2 / 3, b, c)) for a, b, c in zip(up, hold, down, strict=True)]
    return parts[0], parts[1], parts[2]


def _modified_sine(x: Any) -> tuple[Any, Any, Any]:
    """Quarter sines at the ends, a three times longer one between: low peak speed and smooth jerk."""
    c, p = 1.0 / (4.0 + np.pi), np.pi

    def end(shift: float) -> tuple[Any, Any, Any]:
        return c * (shift + p * x - 0.25 * np.sin(4 * p * x)), c * p * (1 - np.cos(4 * p * x)), 4 * c * p * p * np.sin(4 * p * x)

    y = (4 * p * x + p) / 3
    middle = (c * (2 + p * x - 2.25 * np.sin(y)), c * p * (1 - 3 * np.cos(y)), 4 * c * p * p * np.sin(y))
    parts = [where(real(x) < 0.125, a, where(real(x) < 0.875, b, d)) for a, b, d in zip(end(0.0), middle, end(4.0), strict=True)]
    return parts[0], parts[1], parts[2]


# rise from 0 to 1 while x runs from 0 to 1, with zero speed at both ends
RISES: dict[str, Law] = {
    "cycloidal": _cycloidal,
    "modified_sine": _modified_sine,
    "345": _polynomial_345,
    "4567": _polynomial_4567,
    "trapezoidal": _trapezoidal,
}


# (share of the rise, lowest derivative that jumps there)
JOINS: dict[str, tuple[tuple[float, int], ...]] = {"modified_sine": ((0.125, 3), (0.875, 3)), "trapezoidal": ((1 / 3, 2), (2 / 3, 2))}


@dataclass(frozen=True)
class MovesLaw:
    """Moves and dwells one after the other, starting at `begin`; constant before and after."""

    begin: float
    pieces: tuple[tuple[float, float, str], ...]  # (duration, end position, law)

    @property
    def duration(self) -> float:
        return sum(p[0] for p in self.pieces)

    @property
    def breaks(self) -> tuple[tuple[float, int], ...]:
        """(time, lowest derivative that may jump there): the ends of moves, and the joins inside a rise."""
        laws = ["", *(law for _, _, law in self.pieces), ""]
        since, out = 0.0, []
        for i, (duration, _, law) in enumerate(self.pieces):
            out.append((since, 2 if "trapezoidal" in laws[i : i + 2] else 3))
            out += [(since + share * duration, order) for share, order in JOINS.get(law, ())]
            since += duration
        out.append((since, 2 if laws[-2] == "trapezoidal" else 3))
        return tuple(out)

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        value = (self.begin + 0.0 * t, 0.0 * t, 0.0 * t)
        since, here = 0.0, self.begin
        for duration, there, law in self.pieces:
            s, ds, dds = RISES[law]((t - since) / duration)
            stroke = there - here
            move = (here + stroke * s, stroke * ds / duration, stroke * dds / duration**2)
            value = tuple(where(real(t) >= since, a, b) for a, b in zip(move, value, strict=True))
            since, here = since + duration, there
        rest = (here + 0.0 * t, 0.0 * t, 0.0 * t)
        value = tuple(where(real(t) >= since, a, b) for a, b in zip(rest, value, strict=True))
        return value[0], value[1], value[2]
