"""Profiles of least loss: duration plus weighted integrals of squared drive efforts, a convex problem in x = s'^2 [Verscheure2009].

The unknowns are x at the grid points and in the middle of the intervals between them, in turn. s'' is constant in each half, and limits
and efforts count at its grid point: the trapezoidal rule of `reachability`. So efforts are linear in x of two neighbors, and the Hessian is
tridiagonal. Limits are logarithmic barriers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.rings.robots.time_optimal.reachability import LimitRows, SpeedProfile

INSIDE = 1.02  # times slower than the fastest motion: a start inside the limits
PRECISE = 1e-6  # of the goal: how much the barriers may cost
GROWTH = 8.0  # of the weight of the goal from one barrier problem to the next
NEWTON, HALVINGS = 40, 40
NEWTON_DECREMENT = 1e-8  # half the squared Newton decrement at which a barrier problem is solved


class EffortTerms(NamedTuple):
    """Efforts a u + b x + c of the drives, (n + 1, drives) each."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray


class IntervalTerms(NamedTuple):
    """Linear functions of x at the two ends of every half interval: value = first x[i] + second x[i + 1] + rest, (2 n, k) each."""

    first: np.ndarray
    second: np.ndarray
    rest: np.ndarray

    def value(self, x: np.ndarray) -> np.ndarray:
        return self.first * x[:-1, None] + self.second * x[1:, None] + self.rest

    def reached(self, most: np.ndarray) -> IntervalTerms:
        """Return those that can be zero for an x between zero and `most`; intervals with fewer of them are filled up by others."""
        least = self.rest + np.minimum(self.first * most[:-1, None], 0.0) + np.minimum(self.second * most[1:, None], 0.0)
        never = 1e-6  # share of a limit at rest that is left in the worst case: round-off cannot reach it
        width = max(1, int(np.max((least <= never * np.abs(self.rest)).sum(axis=1))))
        if width >= self.rest.shape[1]:
            return self
        tightest = np.argpartition(least / np.maximum(np.abs(self.rest), 1e-300), width - 1, axis=1)[:, :width]
        return IntervalTerms(*(np.take_along_axis(np.broadcast_to(x, self.rest.shape), tightest, axis=1) for x in self))


@dataclass(frozen=True)
class LossProblem:
    """Profiles on a path within limits, and the losses of the drives; see `least`."""

    s: np.ndarray
    slack: IntervalTerms  # of the limits, positive inside them; rows that no profile reaches are left out
    efforts: IntervalTerms  # at the grid point of every half

    @classmethod
    def of(cls, rows: LimitRows, efforts: EffortTerms, quick: SpeedProfile) -> LossProblem:
        """Return the problem below the fastest profile, which bounds x of every other one from above."""
        A, B, C = rows.scaled()[:3]
        slack = _at_grid(-A, -B, C, quick.s)
        return cls(quick.s, slack.reached(1.02 * quick.halves), _at_grid(*efforts, quick.s))

    def losses(self, profile: SpeedProfile) -> np.ndarray:
        """Return the integral of the squared effort of each drive over time."""
        return (self.efforts.value(profile.halves) ** 2 * profile.half_steps[:, None]).sum(axis=0)

    def _cost(self, x: np.ndarray, t: float, weights: np.ndarray) -> float:
        rest = self.slack.value(x)
        if (rest <= 0.0).any() or (x[1:-1] <= 0.0).any():
            return np.inf
        steps = np.repeat(np.diff(self.s), 2) / (np.sqrt(x[:-1]) + np.sqrt(x[1:]))
        return t * float((steps * (1.0 + self.efforts.value(x) ** 2 @ weights)).sum()) - float(np.log(rest).sum())

    def least(self, weights: np.ndarray, start: SpeedProfile) -> SpeedProfile:
        """Return the profile that minimizes duration + sum of weights * losses; `start` is strictly inside the limits."""
        x = start.halves
        count = self.slack.rest.size
        t = count / start.time / GROWTH
        while True:
            x = self._centered(x, t, weights)
            profile = SpeedProfile.of_halves(self.s, x)
            if count / t < PRECISE * profile.time:
                return profile
            t *= GROWTH

    def _centered(self, x: np.ndarray, t: float, weights: np.ndarray) -> np.ndarray:
        """The minimum of t times the goal with barriers, by Newton's method from x."""
        from scipy.linalg import solveh_banded

        ds, now = np.repeat(np.diff(self.s), 2), self._cost(x, t, weights)
        for _ in range(NEWTON):
            gradient, diagonal, off = _second_order(self.slack, self.efforts, weights, x, ds, t)
            step = -solveh_banded(np.array([np.append(0.0, off), diagonal]), gradient)
            decrement = -float(gradient @ step)
            if decrement < 2.0 * NEWTON_DECREMENT:
                break
            share = 1.0
            for _ in range(HALVINGS):
                there = x.copy()
                there[1:-1] += share * step
                value = self._cost(there, t, weights)
                if value <= now - 1e-4 * share * decrement:
                    break
                share *= 0.5
            else:
                break
            x, now = there, value
        return x


def _at_grid(a: np.ndarray, b: np.ndarray, c: np.ndarray, s: np.ndarray) -> IntervalTerms:
    """a u + b x + c of every half interval at its grid point: the first end of a first half, the last end of a second."""
    n, h = len(s) - 1, np.repeat(np.diff(s), 2)[:, None]
    grid = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).ravel()
    a, b, c = (x[grid] for x in (a, b, c))
    begins = np.tile([[1.0], [0.0]], (n, 1))
    return IntervalTerms(begins * b - a / h, (1.0 - begins) * b + a / h, c)


def _second_order(
    slack: IntervalTerms, efforts: IntervalTerms, weights: np.ndarray, x: np.ndarray, ds: np.ndarray, t: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradient, diagonal and off-diagonal of the Hessian of the barrier problem, at the inner grid points."""
    root = np.sqrt(np.maximum(x, 1e-300))
    total = root[:-1] + root[1:]
    step, ends = ds / total, (root[:-1], root[1:])
    inner = [np.where(r > 1e-100, 0.5 / np.maximum(r, 1e-100), 0.0) for r in ends]  # dr/dx; ends at rest do not move
    d1 = [-step / total * g for g in inner]
    d2 = [2.0 * step / total**2 * inner[i] * inner[j] for i, j in ((0, 0), (1, 1), (0, 1))]
    for k in (0, 1):
        r = np.maximum(ends[k], 1e-100)
        d2[k] = d2[k] + np.where(ends[k] > 1e-100, step / total * 0.25 / r**3, 0.0)
    effort = efforts.value(x)
    p, q = efforts.first, efforts.second
    loss = 1.0 + effort**2 @ weights
    e1 = [2.0 * (effort * c) @ weights for c in (p, q)]
    e2 = [2.0 * (c * d) @ weights for c, d in ((p, p), (q, q), (p, q))]
    g = [t * (loss * d1[k] + step * e1[k]) for k in (0, 1)]
    H = [t * (loss * d2[k] + 2.0 * e1[k] * d1[k] + step * e2[k]) for k in (0, 1)]
    H.append(t * (loss * d2[2] + e1[0] * d1[1] + e1[1] * d1[0] + step * e2[2]))
    inverse = 1.0 / slack.value(x)
    for k, c in enumerate((slack.first, slack.second)):
        g[k] = g[k] - (c * inverse).sum(axis=1)
        H[k] = H[k] + (c * c * inverse**2).sum(axis=1)
    H[2] = H[2] + (slack.first * slack.second * inverse**2).sum(axis=1)
    return g[0][1:] + g[1][:-1], H[0][1:] + H[1][:-1], H[2][1:-1]
