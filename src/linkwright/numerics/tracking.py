"""Path tracking: solutions of an analytic system F(x; p) = 0 followed while the parameters move from p0 to p1, many paths at once.

A system is one callable, `NewtonSolve`: (x, p, dp) -> (-F_x^-1 F, -F_x^-1 F_p dp), the Newton step and the slope dx/dt along p' = dp, for a
batch of complex x and p. `newton_solve` makes one of F and its two Jacobians; compiled ones come from `compiler.complex_newton`.

Predictor: Runge-Kutta of fourth order on x' = -F_x^-1 F_p p'. Corrector: two Newton steps. Every path has a step of its own: it is accepted
if the first correction is small and the second one much smaller, and its length follows from the fifth root of the first correction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkwright.numerics.tolerances import SAME_POSITION

NewtonSolve = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
Key = Callable[[np.ndarray], np.ndarray]

TOLERANCE = 3e-4  # of the first correction, relative to 1 + |x|
SHRINK = 0.05  # the second correction over the first one: quadratic convergence


@dataclass(frozen=True, eq=False)
class Paths:
    """Ends of tracked paths; where `ok` is False x is the last point that was reached, at `t` in [0, 1)."""

    x: np.ndarray
    ok: np.ndarray
    t: np.ndarray


@dataclass(frozen=True, eq=False)
class TrackedSolutions:
    """All solutions at the wanted parameters that the paths gave, and how complete they are."""

    solutions: np.ndarray
    paths: int
    direct: int  # paths that arrived at distinct ends
    detours: int  # ways through a random point that were tried for the others
    retracked: int  # paths that met another one's end and were tracked again

    @property
    def lost(self) -> int:
        return self.paths - len(self.solutions)


def newton_solve(
    residual: Callable[[np.ndarray, np.ndarray], np.ndarray],
    by_unknowns: Callable[[np.ndarray, np.ndarray], np.ndarray],
    by_parameters: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> NewtonSolve:
    """Return the Newton step and the slope of F (N, n), F_x (N, n, n) and F_p (N, n, k), functions of x (N, n) and p (N, k).

    Rows are scaled by their largest entry; where F_x is singular the answer is NaN.
    """

    def solve(x: np.ndarray, p: np.ndarray, dp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        right = np.stack([residual(x, p), (by_parameters(x, p) @ dp[..., None])[..., 0]], axis=-1)
        found = -solved(by_unknowns(x, p), right)
        return found[..., 0], found[..., 1]

    return solve


def solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a stack of square systems with scaled rows: NaN for those that are singular or not finite."""
    with np.errstate(all="ignore"):
        scale = 1.0 / np.abs(A).max(axis=-1, keepdims=True)
        A, b = A * scale, b * scale
        good = np.isfinite(A).all(axis=(-2, -1)) & np.isfinite(b).all(axis=(-2, -1))
        A = np.where(good[..., None, None], A, np.eye(A.shape[-1]))
        b = np.where(good[..., None, None], b, np.nan)
        try:
            return np.linalg.solve(A, b)
        except np.linalg.LinAlgError:  # one of them is singular: leave those out
            regular = np.linalg.cond(A, 1) < 1e300
            A = np.where(regular[..., None, None], A, np.eye(A.shape[-1]))
            return np.where(regular[..., None, None], np.linalg.solve(A, b), np.nan)


def size(x: np.ndarray) -> np.ndarray:
    """Return the Euclidean norm of every row."""
    return np.sqrt((x.real * x.real + x.imag * x.imag).sum(axis=-1))


def track(
    solve: NewtonSolve,
    x: np.ndarray,
    p0: np.ndarray,
    p1: np.ndarray,
    *,
    tolerance: float = TOLERANCE,
    shortest: float = 1e-10,
    farthest: float = 1e8,
) -> Paths:
    """Follow the solutions x (N, n) at p0 along the straight line to p1; paths whose step falls below `shortest` or that leave the ball
    of radius `farthest` are lost."""
    x, p0, p1 = np.array(x, dtype=complex), np.asarray(p0, dtype=complex), np.asarray(p1, dtype=complex)
    dp = p1 - p0
    count = len(x)
    t, step, ok = np.zeros(count), np.full(count, 0.02), np.ones(count, dtype=bool)
    round_off = 1e-7  # a second correction this small is accepted whatever the first one was: far solutions are ill-conditioned
    with np.errstate(all="ignore"):
        slope = solve(x, _at(p0, dp, t), _same(dp, count))[1] if count else np.zeros_like(x)
        while True:
            live = np.flatnonzero(ok & (t < 1.0))
            if not live.size:
                break
            h = np.minimum(step[live], 1.0 - t[live])
            after = t[live] + h
            y, first, second, rate = _stepped(solve, x[live], slope[live], p0, dp, t[live], h)
            good = np.isfinite(first) & np.isfinite(second) & (first < tolerance) & (second < np.maximum(SHRINK * first, round_off))
            good &= np.isfinite(rate).all(axis=-1) | (after >= 1.0)
            to = live[good]
            x[to], slope[to], t[to] = y[good], rate[good], np.where(1.0 - after[good] < 1e-14, 1.0, after[good])
            # The error of the predictor is O(h^5); a tenth of the tolerance is aimed at.
            factor = np.clip(0.8 * (0.1 * tolerance / np.maximum(np.where(np.isfinite(first), first, 1e9), 1e-16)) ** 0.2, 0.3, 2.5)
            step[live] = np.where(good, h * factor, np.minimum(0.4 * h, h * factor))
            ok[live] &= (step[live] >= shortest) & (size(x[live]) <= farthest)
            ok[live] |= t[live] >= 1.0
        for _ in range(3):  # to round-off
            at = np.flatnonzero(ok)
            correction = solve(x[at], _same(p1, at.size), _same(dp, at.size))[0] if at.size else x[at]
            x[at] += np.where(np.isfinite(correction).all(axis=-1, keepdims=True), correction, 0.0)
    return Paths(x, ok, t)


def _at(p0: np.ndarray, dp: np.ndarray, t: np.ndarray) -> np.ndarray:
    return p0 + t[:, None] * dp


def _same(p: np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(p, (count, len(p)))


def _stepped(
    solve: NewtonSolve, x: np.ndarray, slope: np.ndarray, p0: np.ndarray, dp: np.ndarray, t: np.ndarray, h: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One step of every path: the new point, the relative sizes of its two corrections and the slope for the next step.

    The slope is that at the point before the second correction: one solve less, and the difference is below the tolerance squared.
    """
    direction = _same(dp, len(x))
    column, half = h[:, None], 0.5 * h[:, None]
    middle, end = _at(p0, dp, t + 0.5 * h), _at(p0, dp, t + h)
    k2 = solve(x + half * slope, middle, direction)[1]
    k3 = solve(x + half * k2, middle, direction)[1]
    k4 = solve(x + column * k3, end, direction)[1]
    y = x + column / 6.0 * (slope + 2.0 * (k2 + k3) + k4)
    first = solve(y, end, direction)[0]
    y = y + first
    second, rate = solve(y, end, direction)
    y = y + second
    scale = 1.0 + size(y)
    return y, size(first) / scale, size(second) / scale, rate


def same_as(keys: np.ndarray, tolerance: float = SAME_POSITION) -> np.ndarray:
    """Return for every row the index of the first row that equals it within a relative tolerance (its own index if it is the first).

    Rows are sorted by a random projection, so that only neighbors are compared.
    """
    keys = np.asarray(keys, dtype=complex)
    count = len(keys)
    first = np.arange(count)
    if count < 2:
        return first
    direction = np.random.default_rng(1442).standard_normal((keys.shape[1], 2)) @ np.array([1.0, 1j])
    place = (keys @ (direction / size(direction))).real
    order = np.argsort(place, kind="stable")
    place, sorted_keys = place[order], keys[order]
    reach = tolerance * (1.0 + size(sorted_keys))
    for shift in range(1, count):
        near = place[shift:] - place[:-shift] <= np.maximum(reach[shift:], reach[:-shift])
        if not near.any():
            break
        i = np.flatnonzero(near)
        equal = i[size(sorted_keys[i] - sorted_keys[i + shift]) <= np.maximum(reach[i], reach[i + shift])]
        for a, b in zip(order[equal], order[equal + shift], strict=True):
            low, high = sorted((_root(first, int(a)), _root(first, int(b))))
            first[high] = low
    return np.array([_root(first, k) for k in range(count)])


def _root(first: np.ndarray, k: int) -> int:
    while first[k] != k:
        k = int(first[k])
    return k


def distinct(keys: np.ndarray, tolerance: float = SAME_POSITION) -> np.ndarray:
    """Return the indices of the first of every group of equal rows."""
    return np.flatnonzero(same_as(keys, tolerance) == np.arange(len(keys)))


def homotopy(
    solve: NewtonSolve,
    x: np.ndarray,
    p0: np.ndarray,
    p1: np.ndarray,
    *,
    key: Key | None = None,
    between: Callable[[np.random.Generator], np.ndarray] | None = None,
    seed: int = 0,
    detours: int = 2,
    tolerance: float = TOLERANCE,
    farthest: float = 1e8,
) -> TrackedSolutions:
    """Return the solutions at p1 of all generic solutions x at p0.

    Paths that end at one solution (by `key`, which is equal for solutions that count as one) have jumped: they are tracked again with
    a tenth of the tolerance. Where paths are lost all of them are tracked once more through a random point `between(rng)`, at most
    `detours` times, and ends that are new are added: on another way another path is the difficult one.
    """
    key = key or (lambda z: z)
    rng = np.random.default_rng(seed)
    ends, retracked = untangled(solve, x, p0, p1, key=key, tolerance=tolerance, farthest=farthest)
    found = ends.x[ends.ok]
    found = found[distinct(key(found))]
    direct, tried = len(found), 0
    spread = np.sqrt(np.mean(np.abs(np.asarray(p0)) ** 2))
    while len(found) < len(x) and tried < detours:
        tried += 1
        middle = between(rng) if between is not None else spread * (rng.standard_normal(len(p0)) + 1j * rng.standard_normal(len(p0)))
        there, more = untangled(solve, x, p0, middle, key=key, tolerance=tolerance, farthest=farthest)
        back, again = untangled(solve, there.x[there.ok], middle, p1, key=key, tolerance=tolerance, farthest=farthest)
        retracked += more + again
        together = np.concatenate([found, back.x[back.ok]])
        found = together[distinct(key(together))]
    return TrackedSolutions(found, len(x), direct, tried, retracked)


def untangled(
    solve: NewtonSolve, x: np.ndarray, p0: np.ndarray, p1: np.ndarray, *, key: Key, tolerance: float, farthest: float = 1e8
) -> tuple[Paths, int]:
    """Track, and track those again with a tenth of the tolerance that ended at one solution with another one; with their number."""
    ends = track(solve, x, p0, p1, tolerance=tolerance, farthest=farthest)
    at = np.flatnonzero(ends.ok)
    groups = same_as(key(ends.x[at]))
    shared = at[np.bincount(groups, minlength=at.size)[groups] > 1]
    if shared.size:
        again = track(solve, np.asarray(x)[shared], p0, p1, tolerance=0.1 * tolerance, shortest=1e-12, farthest=farthest)
        ends.x[shared], ends.ok[shared], ends.t[shared] = again.x, again.ok, again.t
    return ends, int(shared.size)
