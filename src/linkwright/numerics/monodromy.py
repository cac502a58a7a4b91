"""Monodromy: all solutions of an analytic system at generic parameters from one of them.

Parameters go round a loop p* -> p1 -> p2 -> p* of random complex points; each known solution comes back as some solution, and where the
solution set is irreducible every one is reached. A random loop fixes a single missing solution among n + 1 with probability 1/(n + 1), so
the search ends after k loops without a new one once (n + 1)^-k is below the accepted doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from linkwright.numerics.tracking import TOLERANCE, Key, NewtonSolve, distinct, track, untangled


@dataclass(frozen=True, eq=False)
class Monodromy:
    """Solutions at the base point, how many were known after each loop, and the doubt that remains that one is missing."""

    solutions: np.ndarray
    parameters: np.ndarray
    counts: tuple[int, ...]  # known after each loop
    lost: int  # paths that did not come back, over all loops
    doubt: float  # probability that the loops since the last new one would all have missed one more


def normal_parameters(count: int, scale: float = 1.0) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a source of complex normal parameters."""
    return lambda rng: scale * (rng.standard_normal(count) + 1j * rng.standard_normal(count))


def monodromy(
    solve: NewtonSolve,
    x: np.ndarray,
    p: np.ndarray,
    *,
    key: Key | None = None,
    parameters: Callable[[np.random.Generator], np.ndarray] | None = None,
    seed: int = 0,
    doubt: float = 1e-6,
    most_loops: int = 100,
    expected: int | None = None,
    tolerance: float = TOLERANCE,
    progress: Callable[[int, int, int], None] | None = None,
) -> Monodromy:
    """Return all solutions at p that loops of the parameters reach from the known ones x (N, n).

    `key` maps solutions that count as one (symmetries) to equal rows; `parameters(rng)` draws a random point; the search ends when the
    doubt falls below `doubt`, after `most_loops`, or when `expected` solutions are known. `progress(loop, known, lost)` is called after
    each loop.
    """
    key = key or (lambda z: z)
    p = np.asarray(p, dtype=complex)
    rng = np.random.default_rng(seed)
    draw = parameters or normal_parameters(len(p), float(np.sqrt(np.mean(np.abs(p) ** 2))) or 1.0)
    known = np.array(x, dtype=complex)
    known = known[distinct(key(known))]
    counts: list[int] = []
    lost, remaining = 0, 1.0
    for loop in range(most_loops):
        corners = [p, draw(rng), draw(rng), p]
        ends = known
        for here, there in pairwise(corners):
            paths, _ = untangled(solve, ends, here, there, key=key, tolerance=tolerance)
            ends = paths.x[paths.ok]
        missing = len(known) - len(ends)
        lost += missing
        together = np.concatenate([known, ends])
        grown = together[distinct(key(together))]
        # A path that is lost may be the one that leads to a missing solution.
        remaining = remaining * min(1.0, (1.0 + missing) / (len(known) + 1.0)) if len(grown) == len(known) else 1.0
        known = grown
        counts.append(len(known))
        if progress is not None:
            progress(loop + 1, len(known), missing)
        if remaining < doubt or (expected is not None and len(known) >= expected):
            break
    return Monodromy(known, p, tuple(counts), lost, remaining)


def trace_test(
    solve: NewtonSolve, x: np.ndarray, p: np.ndarray, direction: np.ndarray, quantity: Callable[[np.ndarray], np.ndarray] | None = None
) -> float:
    """Return the relative second difference of the sum over all solutions of a quantity along p + s direction, s = -1, 0, 1.

    Zero up to round-off for a complete set where that sum is linear in s, as that of the unknowns is if the direction only moves the
    constant terms of a linear equation, or squared legs of a platform; of the order of 1e-2 with one left out; NaN if a path is lost.
    """
    quantity = quantity or (lambda z: z)
    sides = [track(solve, x, p, np.asarray(p) + s * np.asarray(direction), tolerance=0.1 * TOLERANCE) for s in (-1.0, 1.0)]
    if not all(side.ok.all() for side in sides):
        return float("nan")
    low, here, high = (np.asarray(quantity(z)).sum(axis=0) for z in (sides[0].x, np.asarray(x), sides[1].x))
    second = np.abs(high - 2.0 * here + low).max()
    return float(second / max(np.abs(high - here).max(), np.abs(here - low).max(), np.finfo(float).tiny))


def polynomial_trace(
    solve: NewtonSolve,
    x: np.ndarray,
    p: np.ndarray,
    direction: np.ndarray,
    quantity: Callable[[np.ndarray], np.ndarray] | None = None,
    degree: int = 2,
) -> float:
    """Return how far the sum over all solutions of a quantity along p + s direction is from a polynomial of a low degree in s.

    The sum over a complete set is a polynomial where no solution runs to infinity at finite s, of a degree that the growth of the
    solutions bounds; over an incomplete one it has branch points. Relative to its change over seven values of s; NaN if a path is lost.
    """
    quantity = quantity or (lambda z: z)
    places = np.linspace(-1.0, 1.0, 7)
    sums = []
    for s in places:
        at = track(solve, x, p, np.asarray(p) + s * np.asarray(direction), tolerance=0.1 * TOLERANCE)
        if not at.ok.all():
            return float("nan")
        sums.append(np.asarray(quantity(at.x)).sum(axis=0))
    values = np.array(sums)
    powers = np.vander(places, degree + 1)
    rest = values - powers @ np.linalg.lstsq(powers, values, rcond=None)[0]
    return float(np.abs(rest).max() / max(np.abs(values - values[3]).max(), np.finfo(float).tiny))
