"""Linear systems in place: Gaussian elimination with row pivots, for the few rows of a contact problem."""

from __future__ import annotations

import numpy as np


def factor(A: np.ndarray, pivots: np.ndarray, n: int) -> int:
    """A becomes L and U; 0 where a pivot is zero."""
    for j in range(n):
        row = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[row, j]):
                row = i
        pivots[j] = row
        if not abs(A[row, j]) > 0.0:
            return 0
        if row != j:
            for k in range(n):
                swapped = A[j, k]
                A[j, k] = A[row, k]
                A[row, k] = swapped
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            share = A[i, j] * inverse
            A[i, j] = share
            if share != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= share * A[j, k]
    return 1


def solve(A: np.ndarray, pivots: np.ndarray, x: np.ndarray, n: int) -> int:
    """x becomes A^-1 x, with A from `factor`."""
    for j in range(n):
        row = pivots[j]
        if row != j:
            swapped = x[j]
            x[j] = x[row]
            x[row] = swapped
    for j in range(n):
        for i in range(j + 1, n):
            x[i] -= A[i, j] * x[j]
    for back in range(n):
        j = n - 1 - back
        total = x[j]
        for k in range(j + 1, n):
            total -= A[j, k] * x[k]
        x[j] = total / A[j, j]
    return 0
