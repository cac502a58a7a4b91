"""Approximate straight-line four-bars by name: proportions of the classical ones, and which of them may vary.

Crank O-A, coupler A-B, rocker B-C, a coupler point P; positions by the crank's angle, or by the coupler's angle where neither crank nor
rocker turns fully: A is then on a circle about O and on the circle about C, shifted back by the coupler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from linkwright.rings.synthesis.duals import Dual, constant
from linkwright.rings.synthesis.dyad_steps import circles_meet

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FourBarLine:
    """A four-bar with its point over some positions: pins A, B, C, point P, all (1, K).

    lengths: of the four links, and of the coupler's arms to P. closings: cosines of the transmission angles.
    """

    a: Dual
    b: Dual
    c: Dual
    p: Dual
    lengths: tuple[Dual, Dual, Dual, Dual, Dual, Dual]
    closings: tuple[Dual, ...]


@dataclass(frozen=True, eq=False)
class LineFamily:
    """One named linkage. names, first, low, high: proportions that vary; numbers: r2, r3, r4, C, w (P in the coupler) from them.

    by_crank: positions by the crank's angle about `middle`, else by the coupler's. sign: branch of the dyad. half: half of the range of
    angles at the start. size: longest link over the length of the line where none is given.
    """

    kind: str
    names: tuple[str, ...]
    first: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    numbers: Callable[[Mapping[str, Dual]], tuple[Dual, Dual, Dual, Dual, Dual]]
    by_crank: bool
    middle: float
    sign: float
    half: float
    size: float | None = None

    def moved(self, x: Mapping[str, Dual], angle: Dual) -> FourBarLine:
        """Return the linkage at angles (1, K) from its middle position."""
        r2, r3, r4, c, w = self.numbers(x)
        turned = (angle + self.middle).turned()
        if self.by_crank:
            a, meeting = turned * r2, None
            b, _ = circles_meet(a, c, r3, r4, self.sign)
            along = (b - a) / r3
        else:
            along = turned
            a, meeting = circles_meet(constant([0j]), c - along * r3, r2, r4, self.sign)
            b = a + along * r3
        # the crank drives: transmission angle between coupler and rocker
        closing = (r3 * r3 + r4 * r4 - (c - a).squared_size()) / (r3 * r4 * 2.0)
        lengths = (r2, r3, r4, c.size(), (w + 0j).size(), (w - r3 + 0j).size())
        return FourBarLine(a, b, c, a + along * w, lengths, (closing,) if meeting is None else (closing, meeting))


def _one() -> Dual:
    return constant([1.0])


def _hoeken(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Crank 1, ground L1, coupler = rocker = L3, and the point as far beyond B again."""
    return _one(), x["L3"], x["L3"], x["L1"] + 0j, x["L3"] * 2.0


def _chebyshev(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Ground 1, crossed rockers r, coupler k with the point in its middle."""
    return x["r"], x["k"], x["r"], _one() + 0j, x["k"] * 0.5


def _roberts(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Ground 1, rockers r, coupler k with the point at the depth h below its middle."""
    return x["r"], x["k"], x["r"], _one() + 0j, x["k"] * 0.5 - x["h"] * 1j


def _watt(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Rockers of length 1 on both sides, coupler k across with the point in its middle; C is at (d, -e)."""
    return _one(), x["k"], _one(), x["d"] - x["e"] * 1j, x["k"] * 0.5


def _evans(x: Mapping[str, Dual]) -> tuple[Dual, Dual, Dual, Dual, Dual]:
    """Crank r2, A-B of length 1 to the rocker r4, the point at the distance q from A on the other side."""
    return x["r2"], _one(), x["r4"], x["cx"] + x["cy"] * 1j, -x["q"] + 0j


def hoeken_start(share: float) -> tuple[float, float]:
    """Return ground and coupler over the crank near the optimum for a share of the turn: L3 = (3 L1 - 1)/2."""
    ground = 3.0 - 0.8 * (2.0 * share) ** 2
    return ground, (3.0 * ground - 1.0) / 2.0


LINE_FAMILIES: dict[str, LineFamily] = {
    f.kind: f
    for f in (
        LineFamily("hoeken", ("L1", "L3"), (2.2, 2.8), (1.05, 1.05), (6.0, 12.0), _hoeken, True, np.pi, 1.0, np.pi / 2.0),
        # 4 : 5 : 2; the coupler is level in the middle and upright at the ends
        LineFamily("chebyshev", ("r", "k"), (1.25, 0.5), (0.8, 0.1), (4.0, 0.95), _chebyshev, False, np.pi, 1.0, 1.0, 1.5),
        LineFamily("roberts", ("r", "k", "h"), (0.6, 0.5, 0.545), (0.2, 0.1, 0.05), (6.0, 0.95, 6.0), _roberts, False, 0.0, 1.0, 0.5, 1.25),
        LineFamily("watt", ("k", "d", "e"), (1.0, 2.0, 1.0), (0.1, 1.5, 0.1), (4.0, 2.5, 4.0), _watt, True, 0.0, -1.0, 0.4, 2.5),
        # r2 q = 1: the crank has the curvature of the ellipse that A describes where B is on a straight line
        LineFamily(
            "evans", ("r2", "r4", "cx", "cy", "q"), (2.0 / 3.0, 2.5, 5.0 / 3.0, -2.5, 1.5), (0.1, 0.5, -1.0, -8.0, 0.3),
            (4.0, 8.0, 6.0, 8.0, 6.0), _evans, True, 0.0, 1.0, 0.5, 2.0,
        ),
    )
}  # fmt: skip
