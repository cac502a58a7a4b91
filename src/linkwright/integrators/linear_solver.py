"""Linear systems in place: Gaussian elimination with row pivots, for the few rows of a contact problem or of a stiff step.

Loops on arrays of records; rows are exchanged, which `scalars.eliminate` does not do.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Ints, Matrix


def factor(A: Matrix, pivots: Ints) -> bool:
    """A becomes L and U; False where a pivot vanishes or is not finite."""
    n = len(pivots)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        pivots[k] = best
        if best != k:
            for j in range(n):
                kept = A[k, j]
                A[k, j] = A[best, j]
                A[best, j] = kept
        pivot = A[k, k]
        if not 0.0 < abs(pivot) < math.inf:
            return False
        for i in range(k + 1, n):
            share = A[i, k] / pivot
            A[i, k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= share * A[k, j]
    return True


def solve(A: Matrix, pivots: Ints, x: Floats) -> None:
    """x becomes A^-1 x, with A from `factor`."""
    n = len(pivots)
    for k in range(n):
        best = pivots[k]
        kept = x[k]
        x[k] = x[best]
        x[best] = kept
    for i in range(n):
        left = x[i]
        for j in range(i):
            left -= A[i, j] * x[j]
        x[i] = left
    for i in range(n - 1, -1, -1):
        left = x[i]
        for j in range(i + 1, n):
            left -= A[i, j] * x[j]
        x[i] = left / A[i, i]
