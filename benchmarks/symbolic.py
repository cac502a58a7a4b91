"""Sparse linear systems solved once on symbols: which unknown to eliminate when, and the elimination written out.

Matrices are dicts of nonzero entries, so the same code runs on floats and on the symbols of any package. `elimination_order`
takes pivots that touch the fewest others, as far as numbers at a sample state say they are safe: with [M J'; J 0] this
eliminates the rows of a loop as soon as the bodies of one side are gone. An expert's hand would do the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Entries = Mapping[tuple[int, int], Any]
SAFE = 1e-2  # a pivot of the scaled matrix is at least this (joints and rows are scaled to one)
THRESHOLD = 0.1  # of the largest entry left in its column, for unsymmetric systems


def saddle(M: Entries, J: Entries, nv: int) -> dict[tuple[int, int], Any]:
    """[M J'; J 0]; rows of J come after the nv of M."""
    out = dict(M)
    for (row, col), value in J.items():
        out[nv + row, col] = out[col, nv + row] = value
    return out


def elimination_order(numbers: np.ndarray, pattern: Entries, nv: int) -> list[int]:
    """Order of pivots of a symmetric saddle matrix, fewest neighbors first among those that are safe at this state."""
    n = len(numbers)
    A = _scaled(numbers, nv)
    neighbors = {i: {j for j in range(n) if j != i and (i, j) in pattern} for i in range(n)}
    left, order = set(range(n)), []
    while left:
        safe = [i for i in left if abs(A[i, i]) >= SAFE] or [max(left, key=lambda i: abs(A[i, i]))]
        pivot = min(safe, key=lambda i: (len(neighbors[i] & left), i))
        left.discard(pivot)
        order.append(pivot)
        around = neighbors[pivot] & left
        for i in around:
            neighbors[i] |= around - {i}
        A -= np.outer(A[:, pivot], A[pivot]) / A[pivot, pivot]
    return order


def inertias_first(nv: int, rows: int) -> list[int]:
    """The standard order: joints from the tips to the ground, so that the tree's zeros stay, then the loops."""
    return [*range(nv - 1, -1, -1), *range(nv, nv + rows)]


def _scaled(K: np.ndarray, nv: int) -> np.ndarray:
    d = np.ones(len(K))
    d[:nv] = 1.0 / np.sqrt(np.diag(K)[:nv])
    d[nv:] = 1.0 / np.linalg.norm(K[nv:, :nv] * d[:nv], axis=1)
    return K * d * d[:, None]


def solve_symmetric(K: Entries, b: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """x of K x = b by L D L' with the pivots in this order."""
    A, x = dict(K), list(b)
    left = set(order)
    steps: list[tuple[int, Any, dict[int, Any]]] = []
    for p in order:
        left.discard(p)
        around = sorted(i for i in left if (i, p) in A)
        inverse = 1.0 / A[p, p]
        factors = {i: A[i, p] * inverse for i in around}
        for k, i in enumerate(around):
            for j in around[k:]:
                less = factors[i] * A[j, p]
                A[i, j] = A[j, i] = A[i, j] - less if (i, j) in A else -less
            x[i] = x[i] - factors[i] * x[p]
        steps.append((p, inverse, factors))
    for p, inverse, factors in reversed(steps):
        x[p] = x[p] * inverse
        for i, factor in factors.items():
            x[p] = x[p] - factor * x[i]
    return x


def solve_general(A: Entries, b: Sequence[Any], numbers: np.ndarray) -> list[Any]:
    """x of A x = b by Gaussian elimination; pivots by Markowitz's count among entries that are large enough at a sample state."""
    E, rest, N = dict(A), list(b), numbers.astype(float).copy()
    rows, cols = set(range(len(rest))), set(range(len(rest)))
    steps: list[tuple[int, int, Any, list[int]]] = []
    while rows:
        i, j = _markowitz(E, N, rows, cols)
        rows.discard(i)
        cols.discard(j)
        inverse, others = 1.0 / E[i, j], sorted(c for c in cols if (i, c) in E)
        for r in sorted(r for r in rows if (r, j) in E):
            factor, number = E[r, j] * inverse, N[r, j] / N[i, j]
            for c in others:
                less = factor * E[i, c]
                E[r, c] = E[r, c] - less if (r, c) in E else -less
                N[r, c] -= number * N[i, c]
            rest[r] = rest[r] - factor * rest[i]
        steps.append((i, j, inverse, others))
    x: list[Any] = [None] * len(rest)
    for i, j, inverse, others in reversed(steps):
        value = rest[i]
        for c in others:
            value = value - E[i, c] * x[c]
        x[j] = value * inverse
    return x


def _markowitz(E: Entries, N: np.ndarray, rows: set[int], cols: set[int]) -> tuple[int, int]:
    in_row = {r: sum((r, c) in E for c in cols) - 1 for r in rows}
    in_col = {c: sum((r, c) in E for r in rows) - 1 for c in cols}
    largest = {c: max(abs(N[r, c]) for r in rows) for c in cols}
    good = [(r, c) for r, c in E if r in rows and c in cols and abs(N[r, c]) >= THRESHOLD * largest[c] > 0.0]
    return min(good, key=lambda rc: (in_row[rc[0]] * in_col[rc[1]], in_row[rc[0]] + in_col[rc[1]], rc))
