"""Motion laws of cam design: rises from 0 to 1 while x runs from 0 to 1, with two derivatives, and their peak factors.

cycloidal            sine acceleration
modified_sine        quarter sines at the ends, a slower one between: low peak speed and drive torque
modified_trapezoid   quarter sines join two constant accelerations: low peak acceleration
345, 4567            polynomials; beside a straight piece they meet its speed (`profiles`)
harmonic             half a cosine; the acceleration jumps at its ends
trapezoidal          the speed is a trapezoid of thirds; the acceleration jumps
straight             constant speed; the speed jumps at its ends unless its neighbors meet it
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.model.curves import Jet
from linkwright.numerics.scalars import real, where

PI = math.pi
GRID = 4001  # places at which peaks are looked for; their error is of the order of its inverse squared, before the parabola


def _cycloidal(x: Any) -> Jet:
    w = 2.0 * PI
    return x - np.sin(w * x) / w, 1.0 - np.cos(w * x), w * np.sin(w * x)


def _polynomial_345(x: Any) -> Jet:
    return x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2, 60 * x * (1 - 3 * x + 2 * x * x)


def _polynomial_4567(x: Any) -> Jet:
    return x**4 * (35 - 84 * x + 70 * x * x - 20 * x**3), 140 * x**3 * (1 - x) ** 3, 420 * x * x * (1 - x) ** 2 * (1 - 2 * x)


def _harmonic(x: Any) -> Jet:
    return 0.5 - 0.5 * np.cos(PI * x), 0.5 * PI * np.sin(PI * x), 0.5 * PI * PI * np.cos(PI * x)


def _straight(x: Any) -> Jet:
    return x, 1.0 + 0.0 * x, 0.0 * x


def _trapezoidal(x: Any) -> Jet:
    """Speed rises, holds and falls in thirds of the time; the top speed is 1.5."""
    up = (2.25 * x * x, 4.5 * x, 4.5 + 0.0 * x)
    hold = (1.5 * x - 0.25, 1.5 + 0.0 * x, 0.0 * x)
    down = (1.0 - 2.25 * (1 - x) ** 2, 4.5 * (1 - x), -4.5 + 0.0 * x)
    parts = [where(real(x) < 1 / 3, a, where(real(x) < 2 / 3, b, c)) for a, b, c in zip(up, hold, down, strict=True)]
    return parts[0], parts[1], parts[2]


def _modified_sine(x: Any) -> Jet:
    c, p = 1.0 / (4.0 + PI), PI

    def end(shift: float) -> Jet:
        return c * (shift + p * x - 0.25 * np.sin(4 * p * x)), c * p * (1 - np.cos(4 * p * x)), 4 * c * p * p * np.sin(4 * p * x)

    y = (4 * p * x + p) / 3
    middle = (c * (2 + p * x - 2.25 * np.sin(y)), c * p * (1 - 3 * np.cos(y)), 4 * c * p * p * np.sin(y))
    parts = [where(real(x) < 0.125, a, where(real(x) < 0.875, b, d)) for a, b, d in zip(end(0.0), middle, end(4.0), strict=True)]
    return parts[0], parts[1], parts[2]


def _modified_trapezoid(x: Any) -> Jet:
    """The first half by eighths (sine, constant, cosine); the second is the first turned about the middle."""
    top, w = 8.0 * PI / (2.0 + PI), 4.0 * PI
    late = real(x) > 0.5
    y = where(late, 1.0 - x, x)
    up = (top / w * (y - np.sin(w * y) / w), top / w * (1.0 - np.cos(w * y)), top * np.sin(w * y))
    d = y - 0.125
    hold = (top / w * (y - 1.0 / w) + 0.5 * top * d * d, top / w + top * d, top + 0.0 * y)
    e, fast = y - 0.375, top / w + 0.25 * top
    before = top / w * (0.375 - 1.0 / w) + 0.5 * top * 0.0625
    over = (before + fast * e + top / (w * w) * (1.0 - np.cos(w * e)), fast + top / w * np.sin(w * e), top * np.cos(w * e))
    s, v, a = (where(real(y) < 0.125, p, where(real(y) < 0.375, q, r)) for p, q, r in zip(up, hold, over, strict=True))
    return where(late, 1.0 - s, s), v, where(late, -a, a)


LAWS: dict[str, Callable[[Any], Jet]] = {
    "cycloidal": _cycloidal,
    "modified_sine": _modified_sine,
    "modified_trapezoid": _modified_trapezoid,
    "345": _polynomial_345,
    "4567": _polynomial_4567,
    "harmonic": _harmonic,
    "trapezoidal": _trapezoidal,
    "straight": _straight,
}
MEETING = ("345", "4567")  # laws that take the speed of a straight neighbor
JUMPS: dict[str, tuple[float, ...]] = {"trapezoidal": (0.0, 1 / 3, 2 / 3, 1.0), "harmonic": (0.0, 1.0), "straight": (0.0, 1.0)}
SYNONYMS = {
    **dict.fromkeys(("cycloid", "sine", "sinusoidal", "sinus", "bestehorn"), "cycloidal"),
    **dict.fromkeys(("modified_sinusoidal", "mod_sine", "ms", "modified_sinus", "sinoid"), "modified_sine"),
    **dict.fromkeys(("modified_trapezoidal", "mod_trap", "modtrap", "mt"), "modified_trapezoid"),
    **dict.fromkeys(("3-4-5", "poly345", "polynomial_345", "polynomial", "quintic", "poly5", "minimum_jerk"), "345"),
    **dict.fromkeys(("4-5-6-7", "poly4567", "polynomial_4567", "septic", "poly7"), "4567"),
    **dict.fromkeys(("simple_harmonic", "shm", "cosine"), "harmonic"),
    **dict.fromkeys(("trapezoid", "trap"), "trapezoidal"),
    **dict.fromkeys(("linear", "constant_velocity", "constant_speed", "uniform", "line"), "straight"),
}


@dataclass(frozen=True)
class LawFactors:
    """Peaks of a rise by h within T: velocity `velocity` h/T, acceleration `acceleration` h/T^2, jerk `jerk` h/T^3; inf at a jump."""

    law: str
    velocity: float
    acceleration: float
    jerk: float

    def over(self, rise: float, span: float) -> tuple[float, float, float]:
        """Return the peaks for a rise within a span of time or angle."""
        return self.velocity * abs(rise) / span, self.acceleration * abs(rise) / span**2, self.jerk * abs(rise) / span**3


@call_explained
def law_factors(law: str) -> LawFactors:
    """Return the peak factors of a law, computed from it. Known in textbooks as Cv, Ca and Cj."""
    if law not in LAWS:
        raise UsageError(f"there is no law {law!r:.40}.", nearest(str(law), LAWS, "Laws", SYNONYMS))
    x = np.linspace(0.0, 1.0, GRID)
    _, v, a = (np.broadcast_to(y, x.shape) for y in LAWS[law](x))
    jerk = np.imag(LAWS[law](x + 1e-30j)[2]) / 1e-30
    if law in JUMPS:
        jumps_in_speed = law == "straight"
        return LawFactors(law, _peak(v), math.inf if jumps_in_speed else _peak(a), math.inf)
    return LawFactors(law, _peak(v), _peak(a), _peak(jerk))


def _peak(y: np.ndarray) -> float:
    """The largest size, by a parabola through the largest sample and its neighbors where they lie on one."""
    size = np.abs(y)
    k = int(np.argmax(size))
    if not 0 < k < len(y) - 1:
        return float(size[k])
    left, middle, right = (float(s) for s in size[k - 1 : k + 2])
    bend = 2.0 * middle - left - right
    smooth = 0.0 < bend < 1e-4 * middle
    return middle + (right - left) ** 2 / (8.0 * bend) if smooth else middle
