"""Ends of the reach between two poses: the straight line between them is followed by arc length until it turns back.

    [A  -g] y' = 0        y = (q, s), g the direction of the line; s' = 0 where det A = 0: type I

The curve y is smooth there, so that the point is found to round-off, and lines whose steps were too long for Newton are followed to
their end. All lines move together, each with its own step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.api import closing
from linkwright.rings.robots.workspace.pose_solver import PoseSolver, determinant, solved

FIRST_CORRECTION = 0.2  # first correction of a step, against its length: more, and it is tried again with half of it
BENT = 0.7  # cosine of the angle between tangents before and behind a step, at least
LOCATED = 1e-7  # s' above which a point is not located: the reach ends there in another way


class LineEnds(NamedTuple):
    """Ends of lines: share of the line, states, and what was found there."""

    s: np.ndarray
    q: np.ndarray
    reached: np.ndarray  # the other pose
    folded: np.ndarray  # the end of the reach


@dataclass
class _Front:
    """Points on the lines that are being followed."""

    q: np.ndarray
    s: np.ndarray  # dimensionless length along the line
    t: np.ndarray  # unit tangent (lines, nv + 1)


class PoseLines:
    """Straight lines from poses `a`, whose states q are known, to poses `b`."""

    def __init__(self, solver: PoseSolver, q: np.ndarray, a: np.ndarray, b: np.ndarray):
        self.solver, self.q, self.a = solver, q, a
        self.way = solver.coordinates.off(b.copy(), a)  # the shorter way of angles
        self.length = np.sqrt(((self.way / solver.scales) ** 2).sum(axis=1))
        self.along = self.way / np.maximum(self.length, 1e-300)[:, None]  # pose by unit of s

    def _bordered(self, i: np.ndarray, q: np.ndarray, s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """([A -g; t'], F) at points of the lines i."""
        rows = self.solver.rows(q)
        F = self.solver.residual(rows, self.a[i] + s[:, None] * self.along[i])
        n, first, k = rows.A.shape[1], rows.phi.shape[1], self.along.shape[1]
        B = np.zeros((len(q), n + 1, n + 1))
        B[:, :n, :n] = rows.A
        B[:, first : first + k, n] = -self.along[i] / self.solver.scales
        B[:, n] = t
        return B, F

    def tangents(self, i: np.ndarray, q: np.ndarray, s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(unit tangents that point as t does, signs of the bordered determinant: constant along a smooth curve)."""
        B, F = self._bordered(i, q, s, t)
        right = np.zeros((len(q), F.shape[1] + 1))
        right[:, -1] = 1.0
        x = solved(B, right)
        return x / np.sqrt((x * x).sum(axis=1))[:, None], determinant(B) < 0.0

    def first_tangents(self) -> tuple[np.ndarray, np.ndarray]:
        t = np.zeros((len(self.q), self.solver.core.tree.nv + 1))
        t[:, -1] = 1.0
        return self.tangents(np.arange(len(t)), self.q, np.zeros(len(t)), t)

    def corrected(self, i: np.ndarray, at: _Front, step: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(q, s, ok): points on the curve in the planes t.(y - y_at) = step, from y_at + guess."""
        nq = at.q.shape[1]

        def displaced(y: np.ndarray, x: np.ndarray) -> np.ndarray:
            return np.column_stack([self.solver.moved(y[:, :nq], x[:, :-1]), y[:, nq] + x[:, -1], y[:, nq + 1 :] + x])

        def steps(y: np.ndarray, some: np.ndarray) -> np.ndarray:
            B, F = self._bordered(i[some], y[:, :nq], y[:, nq], at.t[some])
            off = (at.t[some] * y[:, nq + 1 :]).sum(axis=1) - step[some]
            return solved(B, -np.concatenate([F, off[:, None]], axis=1))

        start = displaced(np.column_stack([at.q, at.s, np.zeros_like(guess)]), guess)
        rule = closing.EachRule(most=6, last=1e-10, first=FIRST_CORRECTION * np.abs(step) + 1e-12)
        y, ok = closing.onto_each(steps, displaced, start, rule)
        return y[:, :nq], y[:, nq], ok


def line_ends(solver: PoseSolver, q: np.ndarray, a: np.ndarray, b: np.ndarray) -> LineEnds:
    """Follow all lines to the other pose or to the end of the reach."""
    lines, n = PoseLines(solver, q, a, b), len(q)
    first, negative = lines.first_tangents()
    now = _Front(q.copy(), np.zeros(n), first)
    longest = 0.25  # dimensionless step
    step = np.minimum(0.5 * lines.length, longest)
    reached, bracketed = np.zeros(n, bool), np.zeros(n, bool)
    beyond = np.zeros(n)  # step over the end of the reach, from the point before it
    left = np.flatnonzero(np.isfinite(now.t).all(axis=1) & (lines.length > 0.0))
    most_steps = 200  # along a line
    smallest = 1e-9  # dimensionless step at which a line is given up
    straight = 0.995  # the same where the bordered determinant changes its sign: a singular point that the curve passes straight on
    for _ in range(most_steps):
        if not len(left):
            break
        here = _Front(now.q[left], now.s[left], now.t[left])
        to_end = (lines.length[left] - here.s) / np.maximum(here.t[:, -1], 1e-300)
        taken = np.minimum(step[left], np.maximum(to_end, 1e-12))
        x, s, ok = lines.corrected(left, here, taken, taken[:, None] * here.t)
        t, side = np.full_like(here.t, np.nan), np.zeros(len(left), bool)
        t[ok], side[ok] = lines.tangents(left[ok], x[ok], s[ok], here.t[ok])
        ok &= np.isfinite(t).all(axis=1)
        bend = (here.t * np.where(ok[:, None], t, 0.0)).sum(axis=1)
        ok &= bend > np.where(side == negative[left], BENT, straight)  # else a shorter step, or another curve
        negative[left[ok]] = side[ok]
        turned = ok & (t[:, -1] <= 0.0)
        bracketed[left[turned]], beyond[left[turned]] = True, taken[turned]
        on = ok & ~turned
        now.q[left[on]], now.s[left[on]], now.t[left[on]] = x[on], s[on], t[on]
        there = on & (s >= lines.length[left] * (1.0 - 1e-9))
        reached[left[there]] = True
        step[left] = np.where(on, np.minimum(1.6 * step[left], longest), 0.5 * taken)
        left = left[~turned & ~there & (step[left] > smallest)]
    share = np.where(lines.length > 0.0, now.s / np.maximum(lines.length, 1e-300), 1.0)
    some = np.flatnonzero(bracketed)
    bracketed[some] = _refine(lines, some, now, beyond[some]) < LOCATED
    share[some] = now.s[some] / lines.length[some]
    some = np.flatnonzero(reached)
    now.q[some], found = solver.solve(now.q[some], b[some])
    reached[some] = found
    return LineEnds(share, now.q, reached, bracketed)


def _refine(lines: PoseLines, i: np.ndarray, now: _Front, beyond: np.ndarray) -> np.ndarray:
    """Move the points to where s' = 0, between them and steps `beyond` the end of the reach: Illinois steps of all lines. Return |s'|."""
    left_over = np.full(len(i), np.inf)
    at = _Front(now.q[i], now.s[i], now.t[i])
    low, high = np.zeros(len(i)), beyond.copy()
    rate_low, rate_high = at.t[:, -1].copy(), np.full(len(i), np.nan)
    left, last = np.arange(len(i)), np.zeros(len(i))
    refined = 60  # steps of the bracketed search
    flat = 1e-14  # s' of a located point
    for k in range(refined):
        if not len(left):
            break
        middle = np.where(
            np.isfinite(rate_high[left]), (low * rate_high - high * rate_low)[left] / (rate_high - rate_low)[left], high[left]
        )
        here = _Front(at.q[left], at.s[left], at.t[left])
        q, s, ok = lines.corrected(i[left], here, middle, middle[:, None] * here.t)
        t = np.full_like(here.t, np.nan)
        t[ok] = lines.tangents(i[left[ok]], q[ok], s[ok], here.t[ok])[0]
        rate = t[:, -1]
        ok &= np.isfinite(rate)
        failed, tried = left[~ok], middle[~ok]
        high[failed], rate_high[failed] = 0.5 * (low[failed] + tried), np.nan  # nearer to the last good point
        waiting = failed[high[failed] - low[failed] > 1e-9]
        left, q, s, rate, middle = left[ok], q[ok], s[ok], rate[ok], middle[ok]
        now.q[i[left]], now.s[i[left]], left_over[left] = q, s, np.abs(rate)
        up = rate > 0.0
        side = np.where(up, 1.0, -1.0)
        again = (side == last[left]) & (k > 1)
        rate_high[left] = np.where(up, np.where(again, 0.5, 1.0) * rate_high[left], rate)
        rate_low[left] = np.where(up, rate, np.where(again, 0.5, 1.0) * rate_low[left])
        high[left], low[left] = np.where(up, high[left], middle), np.where(up, middle, low[left])
        last[left] = side
        unknown = up & ~np.isfinite(rate_high[left])
        high[left] = np.where(unknown, 0.5 * (low[left] + beyond[left]), high[left])
        left = left[(np.abs(rate) > flat) & (high[left] - low[left] > 1e-15)]
        left = np.concatenate([left, waiting])
    return left_over
