"""Smooth laws from rest to rest over the whole path: polynomials, and the S-curve of bounded jerk; as quick as the limits allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from linkwright.rings.robots.time_optimal.reachability import LimitRows


class LawRates(NamedTuple):
    """Share of the path, and its first three rates, at shares of the duration."""

    z: np.ndarray
    d1: np.ndarray
    d2: np.ndarray
    d3: np.ndarray


def _polynomial(*coefficients: float) -> Callable[[np.ndarray], LawRates]:
    p = Polynomial(coefficients)
    return lambda z: LawRates(p(z), p.deriv(1)(z), p.deriv(2)(z), p.deriv(3)(z))


def _s_curve(z: np.ndarray) -> LawRates:
    """Jerk of one size in four quarters of the duration, + - - +: acceleration is two triangles, the speed has its peak in the middle."""
    y = np.where(z <= 0.5, z, 1.0 - z)
    early = y <= 0.25
    w = y - 0.25
    d3 = np.where(early, 32.0, -32.0)
    d2 = np.where(early, 32.0 * y, 8.0 - 32.0 * w)
    d1 = np.where(early, 16.0 * y * y, 1.0 + 8.0 * w - 16.0 * w * w)
    f = np.where(early, 16.0 / 3.0 * y**3, 1.0 / 12.0 + w + 4.0 * w * w - 16.0 / 3.0 * w**3)
    late = z > 0.5
    return LawRates(np.where(late, 1.0 - f, f), d1, np.where(late, -d2, d2), d3)


LAWS: dict[str, Callable[[np.ndarray], LawRates]] = {
    "quintic": _polynomial(0, 0, 0, 10, -15, 6),
    "septic": _polynomial(0, 0, 0, 0, 35, -84, 70, -20),
    "s-curve": _s_curve,
}


def grid(name: str, steps: int) -> np.ndarray:
    """Shares of the path, close together at its ends, where a motion is slow: those of a law at equal steps of its duration."""
    z = np.linspace(0.0, 1.0, steps + 1)
    out = LAWS[name](z).z if name in LAWS else 0.5 * (1.0 - np.cos(np.pi * z))
    out[0], out[-1] = 0.0, 1.0
    return out


def law_at(name: str, shares: np.ndarray) -> tuple[np.ndarray, LawRates]:
    """Shares of the duration at which a law has covered these shares of the path, by bisection, and the law there."""
    law = LAWS[name]
    low, high = np.zeros(len(shares)), np.ones(len(shares))
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = law(middle).z < shares
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    z = 0.5 * (low + high)
    z[0], z[-1] = 0.0, 1.0
    return z, law(z)


def shortest(rows: LimitRows, law: LawRates, length: float) -> tuple[float, int]:
    """The shortest duration of a law within the rows, and the number of the limit that decides it."""
    need = rows.A * (length * law.d2)[:, None] + rows.B * ((length * law.d1) ** 2)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.where(need > 0.0, need / np.maximum(rows.C, 1e-300), 0.0)
    i, j = np.unravel_index(int(np.argmax(square)), square.shape)
    return float(np.sqrt(square[i, j])), int(rows.label[j])
