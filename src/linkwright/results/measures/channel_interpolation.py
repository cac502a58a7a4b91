"""Channels between their samples: polynomials through values, rates and second rates, of many motions at once.

Between two samples a distance h apart a course is the polynomial of degree five through x, x' and x'' at both (error h^6/46080 of the
sixth derivative), of degree three where x'' is not known, a straight line where neither is. It is linear in the samples: the derivative
of a value between them by a parameter of the model is the same polynomial through the derivatives of the samples, and `CoursePull` collects
the weights of the samples in it.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from linkwright.properties import cached_property

# rows: share of x, h x', h^2 x'' at the first sample, then at the second; columns: powers of the place u between them, 0 .. 1
QUINTIC = np.array(
    [
        [1.0, 0.0, 0.0, -10.0, 15.0, -6.0],
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
    ]
)
CUBIC = np.array(
    [
        [1.0, 0.0, -3.0, 2.0, 0.0, 0.0],
        [0.0, 1.0, -2.0, 1.0, 0.0, 0.0],
        [0.0] * 6,
        [0.0, 0.0, 3.0, -2.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 1.0, 0.0, 0.0],
        [0.0] * 6,
    ]
)
LINE = np.array([[1.0, -1.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 6, [0.0] * 6, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 6, [0.0] * 6])
RETURNED = 1e-6  # share of its range by which a channel that ends where it began may differ
NEWTON = 6  # steps to a root inside an interval, from the straight line between its ends


def rate_names(name: str, known: Container[str]) -> tuple[str, str]:
    """Channels of the first and second rate of a channel; empty where there is none."""
    head, _, last = name.rpartition(".")
    if last == "v" and f"{head}.a" in known:
        return f"{head}.a", ""
    if f"{name}.v" in known:
        return f"{name}.v", f"{name}.a" if f"{name}.a" in known else ""
    if len(last) == 1 and f"{head}.v{last}" in known:  # coupler.P.x
        return f"{head}.v{last}", f"{head}.a{last}"
    if len(last) == 2 and last[0] == "v" and f"{head}.a{last[1]}" in known:
        return f"{head}.a{last[1]}", ""
    return "", ""


@dataclass(frozen=True, eq=False)
class Course:
    """A channel over an abscissa s: x (motions, samples) with its rates by s, where they are known."""

    s: np.ndarray
    x: np.ndarray
    v: np.ndarray | None = None
    a: np.ndarray | None = None

    @cached_property
    def basis(self) -> np.ndarray:
        return LINE if self.v is None else CUBIC if self.a is None else QUINTIC

    @cached_property
    def closed(self) -> np.ndarray:
        """(motions,): True where the channel ends where it began, with the same rate: a cycle."""
        ends = np.abs(self.x[:, -1] - self.x[:, 0]) <= RETURNED * np.ptp(self.x, axis=1) + 1e-300
        if self.v is None:
            return ends
        return ends & (np.abs(self.v[:, -1] - self.v[:, 0]) <= RETURNED * np.abs(self.v).max(axis=1) + 1e-300)

    @cached_property
    def period(self) -> np.ndarray:
        return self.s[:, -1] - self.s[:, 0]

    def pieces(self, motion: np.ndarray, k: np.ndarray) -> Course:
        """Single intervals as courses of two samples."""
        pairs = [None if y is None else np.stack([y[motion, k], y[motion, k + 1]], axis=1) for y in (self.s, self.x, self.v, self.a)]
        s, x, v, a = pairs
        assert s is not None and x is not None
        return Course(s, x, v, a)

    def reversed_sign(self) -> Course:
        return Course(self.s, -self.x, None if self.v is None else -self.v, None if self.a is None else -self.a)

    def width(self, k: np.ndarray) -> np.ndarray:
        """Length of interval k of every motion, (motions, ...)."""
        return _taken(self.s, k + 1) - _taken(self.s, k)

    def place(self, k: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Abscissa at share u of interval k."""
        return _taken(self.s, k) + u * self.width(k)

    def at(self, k: np.ndarray, u: np.ndarray, order: int = 0) -> np.ndarray:
        """Value, or derivative of that order, at share u of interval k of every motion, (motions, ...)."""
        h = self.width(k)
        total = 0.0
        shares = np.moveaxis(shares_at(self.basis, u, order), -1, 0)
        for j, scale in ((0, None), (1, h), (2, h * h)):
            values = (self.x, self.v, self.a)[j]
            if values is not None and (j < 2 or self.basis is QUINTIC):
                both = shares[j] * _taken(values, k) + shares[3 + j] * _taken(values, k + 1)
                total = total + (both if scale is None else scale * both)
        return total / h**order if order else np.asarray(total)

    # ---------------------------------------------------------------- extremes

    @cached_property
    def tops(self) -> tuple[np.ndarray, np.ndarray]:
        """(share u, value) of the largest value in every interval, (motions, intervals)."""
        first, second = self.x[:, :-1], self.x[:, 1:]
        u, best = np.where(second > first, 1.0, 0.0), np.maximum(first, second)
        if self.v is None:
            return u, best
        inside = (self.v[:, :-1] > 0.0) & (self.v[:, 1:] < 0.0)
        motion, k = np.nonzero(inside)
        if not len(motion):
            return u, best
        part = self.pieces(motion, k)
        first = np.zeros(len(k), dtype=int)
        at = part.stationary(first)
        found = part.at(first, at)
        better = found > best[motion, k]
        u[motion[better], k[better]], best[motion[better], k[better]] = at[better], found[better]
        return u, best

    def stationary(self, k: np.ndarray) -> np.ndarray:
        """Share u at which the rate vanishes in interval k of every motion; the rates at its ends differ in sign."""
        assert self.v is not None
        low, high = _taken(self.v, k), _taken(self.v, k + 1)
        u = np.clip(low / np.where(low == high, 1.0, low - high), 0.0, 1.0)
        for _ in range(NEWTON):
            bend = self.at(k, u, 2) * self.width(k)
            u = np.clip(u - self.at(k, u, 1) / np.where(bend == 0.0, 1.0, bend), 0.0, 1.0)
        return u

    def highest(self, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(interval, share, value) of the largest value of every motion, at the samples that count and between neighbors."""
        if mask is None:
            k = np.argmax(self.tops[1], axis=1)
            rows = np.arange(len(k))
            return k, self.tops[0][rows, k], self.tops[1][rows, k]
        rows = np.arange(len(self.x))
        counted = mask[:, :-1] & mask[:, 1:]
        best = np.where(counted, self.tops[1], -np.inf)
        k = np.argmax(best, axis=1)
        u, value = self.tops[0][rows, k], best[rows, k]
        alone = np.where(mask, self.x, -np.inf)  # a sample that counts by itself
        i = np.argmax(alone, axis=1)
        single = alone[rows, i] > value
        k = np.where(single, np.minimum(i, self.x.shape[1] - 2), k)
        u, value = np.where(single, (i - k).astype(float), u), np.where(single, alone[rows, i], value)
        return k, u, np.where(np.isfinite(value), value, np.nan)


def shares_at(basis: np.ndarray, u: np.ndarray, order: int = 0) -> np.ndarray:
    """(..., 6): shares of the samples' values at u, or of derivatives by u."""
    powers = basis
    for _ in range(order):
        powers = np.concatenate([powers[:, 1:] * np.arange(1.0, 6.0), np.zeros((6, 1))], axis=1)
    out = np.zeros((*np.shape(u), 6))
    for column in powers.T[::-1]:
        out = out * np.asarray(u)[..., None] + column
    return out


def _taken(values: np.ndarray, k: np.ndarray) -> np.ndarray:
    """values[motion, k[motion, ...]]."""
    k = np.asarray(k)
    return values[np.arange(len(values)).reshape(-1, *(1,) * (k.ndim - 1)), k]


class CoursePull:
    """Weights of the samples of one motion in a measure: what its derivative by a parameter of the model is the sum of."""

    def __init__(self, course: Course):
        self.course = course
        n = course.x.shape[1]
        self.x, self.v, self.a = np.zeros(n), np.zeros(n), np.zeros(n)

    def add(self, k: int, u: float, weight: float, order: int = 0) -> None:
        """Add a value (or derivative) at share u of interval k, times a weight."""
        h = float(self.course.s[0, k + 1] - self.course.s[0, k])
        shares = shares_at(self.course.basis, np.array(u), order) * (weight / h**order)
        for end in (0, 1):
            for j, own in enumerate((self.x, self.v, self.a)):
                own[k + end] += shares[3 * end + j] * h**j
