"""Rank-revealing linear algebra on plain floats: ranks, null spaces, minimum-norm solves.

Rank is decided on dimensionless matrices against an absolute tolerance (a relative one would never
truncate a single vanishing row); callers scale first, see `metric`. Large sparse matrices are judged by pivots, see `sparse`. `ldl`
stays beside `scalars.eliminate`: it keeps factors for several right sides, at half the operations, and drops implied rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.numerics.blas import one_thread
from linkwright.numerics.pickling import essentials
from linkwright.numerics.sparse import SparseMatrix, SparseRows, sparse_rows

RANK_TOLERANCE = 1e-9
SURE = 2e-3  # tolerances up to this are those healthy pivots answer for


class Factored:
    """A = U s Vt with its rank decided; of a stack of matrices, `rank` has an entry for each. Of a large sparse matrix the rank comes
    from pivots (`sparse`), and the singular value decomposition is made where U, s or Vt are asked for."""

    __getstate__ = essentials

    def __init__(self, A: np.ndarray | SparseMatrix, tolerance: float, thin: bool, most: int):
        self.A, self.tolerance, self.thin, self.most = A, tolerance, thin, most

    @cached_property
    def _sparse(self) -> SparseRows | None:
        found = sparse_rows(self.A) if self.A.ndim == 2 and 0.0 < self.tolerance <= SURE else None
        return found if found is not None and found.rank <= self.most else None

    @property
    def by_pivots(self) -> bool:
        """True if the rank comes from the pivots of a large matrix."""
        return self._sparse is not None

    @cached_property
    def _decomposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        *stack, m, n = self.A.shape
        if min(m, n) == 0:
            return np.broadcast_to(np.eye(m), (*stack, m, m)), np.zeros((*stack, 0)), np.broadcast_to(np.eye(n), (*stack, n, n))
        with one_thread(max(m, n)):
            return np.linalg.svd(np.asarray(self.A), full_matrices=not self.thin)

    @property
    def U(self) -> np.ndarray:
        return self._decomposed[0]

    @property
    def s(self) -> np.ndarray:
        """All singular values, largest first."""
        return self._decomposed[1]

    @property
    def Vt(self) -> np.ndarray:
        return self._decomposed[2]

    @cached_property
    def rank(self) -> Any:
        if self._sparse is not None:
            return self._sparse.rank
        found = np.minimum(np.count_nonzero(self.s > self.tolerance, axis=-1), self.most)
        return int(found) if self.A.ndim == 2 else found

    @cached_property
    def null(self) -> np.ndarray:
        """(n, n - rank): columns span the right null space."""
        return self.Vt[self.rank :].T if self._sparse is None else self._sparse.null()

    @property
    def left_null(self) -> np.ndarray:
        """(m, m - rank): columns span the left null space."""
        return self.U[:, self.rank :] if self._sparse is None else self._sparse.left

    @cached_property
    def smallest(self) -> float:
        """The smallest singular value that counts; 0 if none does."""
        if self._sparse is not None:
            return self._sparse.smallest()
        return float(self.s[self.rank - 1]) if self.rank else 0.0

    def regular(self, limit: float) -> bool:
        """Return True if every row counts, by singular values of at least `limit` or by the pivots of a large matrix."""
        rows = len(self.A)
        if self._sparse is not None and self._sparse.all_stronger(limit):
            return self._sparse.rank == rows
        return len(self.s) == rows and bool((self.s >= limit).all())

    def strong(self, limit: float) -> int:
        """Directions stronger than a limit; of a large matrix all whose pivots are healthy."""
        if self._sparse is not None and self._sparse.all_stronger(limit):
            return self._sparse.rank
        return int(np.count_nonzero(self.s > limit))

    def at_most(self, rank: int) -> Factored:
        """The same with no more directions than these."""
        found = Factored(self.A, self.tolerance, self.thin, min(self.most, rank))
        if "_decomposed" in vars(self):
            found._decomposed = self._decomposed
        return found

    def solve(self, b: np.ndarray, damping: Any = 0.0) -> np.ndarray:
        """Minimum-norm least-squares solution of A x = b; damped, of (A'A + damping) x = A'b, in the directions that count.

        b is a vector or several columns; of a stack of matrices, a stack of these, with one damping or one for each.
        """
        if self._sparse is not None:
            return self._sparse.damped(b, damping) if damping else self._sparse.solve(b)
        single = self.A.ndim == 2
        r = self.rank if single else int(self.rank.max(initial=0))
        U, s, Vt = self.U[..., :r], self.s[..., :r], self.Vt[..., :r, :]
        if single:
            s = s + damping / s if damping else s
            return Vt.T @ (U.T @ b / (s if b.ndim == 1 else s[:, None]))
        s = np.where(np.arange(r) < self.rank[:, None], s, np.inf)
        s, columns = s + np.asarray(damping)[..., None] / s, b if b.ndim == 3 else b[..., None]
        x = Vt.swapaxes(1, 2) @ (U.swapaxes(1, 2) @ columns / s[..., None])
        return x if b.ndim == 3 else x[..., 0]


def factor(A: np.ndarray | SparseMatrix, tolerance: float = RANK_TOLERANCE, *, thin: bool = False) -> Factored:
    """Decompose a matrix or a stack with full bases; singular values below the absolute tolerance do not count for the rank.

    `thin` leaves out what only null spaces need: enough to `solve`, and much less work for a few long columns.
    """
    largest = A.largest() if isinstance(A, SparseMatrix) else np.abs(A).max(initial=0.0)
    if not largest <= 1e150:  # also true for NaN
        raise UsageError(
            "numbers overflow in the equations: check the lengths, masses and speeds of the model (one is out of any proportion)."
        )
    return Factored(A, tolerance, thin, min(A.shape[-2:]))


def least_squares(A: np.ndarray, b: np.ndarray, share: float = 1e-14) -> np.ndarray:
    """Minimum-norm least-squares solution of A x = b with units of any kind: singular values below a share of the largest do not count."""
    f = factor(A, 0.0, thin=True)
    return f.at_most(int(np.count_nonzero(f.s > share * f.s.max(initial=0.0)))).solve(b)


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
    """A = L D L' of a symmetric matrix that is definite as far as it has rank, in the given order, over any scalar.

    A pivot that vanishes against its own diagonal entry is a row implied by the rows before it: it is marked in
    `zero` and leaves the elimination; solutions have a zero there. Traced pivots are not judged here: they are listed
    in `watch` with what they are measured against.
    """

    L: np.ndarray
    inverse: list[Any]  # 1 / pivot
    zero: tuple[int, ...]
    smallest: float  # smallest pivot that counts, against its diagonal entry
    watch: tuple[tuple[Any, Any], ...] = ()  # (pivot, scale)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """x with A x = b; b may have several columns."""
        return self.backward(self.divided(self.forward(b)))

    def forward(self, b: np.ndarray) -> np.ndarray:
        """y with L y = b."""
        y = b.copy()
        for i in self.zero:
            y[i] = y[i] * 0.0
        for at, i in enumerate(self._live):
            for j in self._live[:at]:
                y[i] = y[i] - self.L[i, j] * y[j]
        return y

    def divided(self, y: np.ndarray) -> np.ndarray:
        """D^-1 y."""
        z = y.copy()
        for i in self._live:
            z[i] = z[i] * self.inverse[i]
        return z

    def backward(self, z: np.ndarray) -> np.ndarray:
        """x with L' x = z."""
        x = z.copy()
        for at, i in reversed(list(enumerate(self._live))):
            for j in self._live[at + 1 :]:
                x[i] = x[i] - self.L[j, i] * x[j]
        return x

    @property
    def _live(self) -> list[int]:
        return [i for i in range(len(self.inverse)) if i not in self.zero]


def ldl(A: np.ndarray, tolerance: float = 1e-12, diagonal: Any = None, leading: int = 0) -> Ldl:
    """Factor without pivoting; `diagonal` are the entries pivots are measured against (default: A's own). Rows after the
    first `leading` ones are measured against what those leave of them (a saddle-point matrix has zeros there)."""
    n = len(A)
    traced = A.dtype.kind == "O"
    L, D = np.zeros_like(A), np.zeros_like(A)  # D holds L d, so that an inner step is one multiplication and one subtraction
    inverse: list[Any] = [0.0] * n
    zero: list[int] = []
    watch: list[tuple[Any, Any]] = []
    smallest = 1.0
    for j in range(n):
        done = [k for k in range(j) if k not in zero]
        pivot = A[j, j]
        scale = pivot if diagonal is None else diagonal[j]
        for at, k in enumerate(done):
            pivot = pivot - D[j, k] * L[j, k]
            if at + 1 == leading and j >= leading:
                scale = pivot
        watch.append((pivot, scale))
        if not traced:
            ratio = float(np.real(pivot / scale)) if scale != 0.0 else 0.0  # a complex step does not decide a rank
            if not ratio > tolerance:
                zero.append(j)
                continue
            smallest = min(smallest, ratio)
        inverse[j] = 1.0 / pivot
        L[j, j] = 1.0
        for i in range(j + 1, n):
            entry = A[i, j]
            for k in done:
                entry = entry - D[i, k] * L[j, k]
            D[i, j] = entry
            L[i, j] = entry * inverse[j]
    return Ldl(L, inverse, tuple(zero), smallest, tuple(watch))
