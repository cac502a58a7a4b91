"""Rank-revealing linear algebra on plain floats: ranks, null spaces, minimum-norm solves.

Rank is decided on dimensionless matrices against an absolute tolerance (a relative one would never
truncate a single vanishing row); callers scale first, see `metric`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError

RANK_TOLERANCE = 1e-9


class Factored(NamedTuple):
    """A singular value decomposition with its rank decided: A = U s Vt."""

    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray
    rank: int

    @property
    def null(self) -> np.ndarray:
        """(n, n - rank): columns span the right null space."""
        return self.Vt[self.rank :].T

    @property
    def left_null(self) -> np.ndarray:
        """(m, m - rank): columns span the left null space."""
        return self.U[:, self.rank :]

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Minimum-norm least-squares solution of A x = b."""
        r = self.rank
        y = self.U[:, :r].T @ b
        return self.Vt[:r].T @ (y / self.s[:r] if b.ndim == 1 else y / self.s[:r, None])


def factor(A: np.ndarray, tolerance: float = RANK_TOLERANCE) -> Factored:
    """SVD with full bases; entries below the absolute tolerance do not count for the rank."""
    m, n = A.shape
    if min(m, n) == 0:
        return Factored(np.eye(m), np.zeros(0), np.eye(n), 0)
    if not np.isfinite(A).all() or np.abs(A).max() > 1e150:
        raise UsageError(
            "numbers overflow in the equations: check the lengths, masses and speeds of the model (one is out of any proportion)."
        )
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    return Factored(U, s, Vt, int(np.sum(s > tolerance)))


def pivoted_columns(A: np.ndarray, tolerance: float = RANK_TOLERANCE, first: tuple[int, ...] = ()) -> list[int]:
    """Indices of independent columns by modified Gram-Schmidt with column pivoting.

    Columns in `first` are taken before any other (in the order given) as long as they are independent.
    """
    B = np.array(A, dtype=float)
    chosen: list[int] = []
    waiting = list(first)
    for _ in range(min(A.shape)):
        norms = np.sqrt(np.sum(B * B, axis=0))
        norms[chosen] = -1.0
        while waiting and norms[waiting[0]] <= tolerance:
            waiting.pop(0)
        j = waiting.pop(0) if waiting else int(np.argmax(norms))
        if norms[j] <= tolerance:
            break
        chosen.append(j)
        u = B[:, j] / norms[j]
        B = B - np.outer(u, u @ B)
        B = B - np.outer(u, u @ B)  # twice is enough
    return chosen


class Ldl(NamedTuple):
    """A = L D L' of a symmetric positive semidefinite matrix, in the given order, over any scalar.

    A pivot that vanishes against its own diagonal entry is a row implied by the rows before it: it is marked in
    `zero` and leaves the elimination; solutions have a zero there.
    """

    L: np.ndarray
    d: list[Any]
    zero: tuple[int, ...]
    smallest: float  # smallest pivot that counts, against its diagonal entry

    def solve(self, b: np.ndarray) -> np.ndarray:
        """x with A x = b; b may have several columns."""
        x = b.copy()
        n = len(self.d)
        live = [i for i in range(n) if i not in self.zero]
        for i in live:
            for j in live[: live.index(i)]:
                x[i] = x[i] - self.L[i, j] * x[j]
        for i in live:
            x[i] = x[i] / self.d[i]
        for i in reversed(live):
            for j in live[live.index(i) + 1 :]:
                x[i] = x[i] - self.L[j, i] * x[j]
        for i in self.zero:
            x[i] = x[i] * 0.0
        return x


def ldl(A: np.ndarray, tolerance: float = 1e-12, diagonal: Any = None) -> Ldl:
    """Factor without pivoting; `diagonal` are the entries pivots are measured against (default: A's own)."""
    n = len(A)
    L, d = np.zeros_like(A), [0.0] * n
    zero: list[int] = []
    smallest = 1.0
    for j in range(n):
        scale = A[j, j] if diagonal is None else diagonal[j]
        pivot = A[j, j]
        for k in range(j):
            if k not in zero:
                pivot = pivot - L[j, k] * L[j, k] * d[k]
        ratio = float(pivot) / float(scale) if float(scale) > 0.0 else 0.0
        if ratio <= tolerance:
            zero.append(j)
            continue
        smallest = min(smallest, ratio)
        d[j] = pivot
        L[j, j] = 1.0
        for i in range(j + 1, n):
            entry = A[i, j]
            for k in range(j):
                if k not in zero:
                    entry = entry - L[i, k] * L[j, k] * d[k]
            L[i, j] = entry / pivot
    return Ldl(L, d, tuple(zero), smallest)
