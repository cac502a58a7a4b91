"""Rank-revealing linear algebra on plain floats: ranks, null spaces, minimum-norm solves.

Rank is decided on dimensionless matrices against an absolute tolerance (a relative one would never
truncate a single vanishing row); callers scale first, see `metric`. Large sparse matrices are judged by pivots, see `sparse`. `ldl`
stays beside `scalars.eliminate`: it keeps factors for several right sides, at half the operations, and drops implied rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from linkwright.errors import UsageError
from linkwright.numerics.memory_and_threads import essentials, one_thread
from linkwright.properties import cached_property

RANK_TOLERANCE = 1e-9
LARGEST_PIVOT_TOLERANCE = 2e-3  # tolerances up to this are those healthy pivots answer for


class Factored:
    """A = U s Vt with its rank decided; of a stack of matrices, `rank` has an entry for each. Of a large sparse matrix the rank comes
    from pivots (`sparse`), and the singular value decomposition is made where U, s or Vt are asked for."""

    __getstate__ = essentials

    def __init__(self, A: np.ndarray | SparseMatrix, tolerance: Any, thin: bool, most: int):
        self.A, self.tolerance, self.thin, self.most = A, tolerance, thin, most

    @cached_property
    def _sparse(self) -> SparseRows | None:
        found = sparse_rows(self.A) if self.A.ndim == 2 and 0.0 < self.tolerance <= LARGEST_PIVOT_TOLERANCE else None
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

    def above(self, tolerances: np.ndarray) -> Factored:
        """The same of a stack with a tolerance for each matrix, as (matrices, 1)."""
        found = Factored(self.A, tolerances, self.thin, self.most)
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
    """Minimum-norm least-squares solution of A x = b with units of any kind: singular values below a share of the largest do not count.
    Of a stack of matrices and of right-hand sides, those of each."""
    f = factor(A, 0.0, thin=True)
    if A.ndim > 2:
        return f.above(share * f.s.max(axis=-1, initial=0.0, keepdims=True)).solve(b)
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


# ----------------------------------------------------------------------------------------------------
# Ranks and minimum-norm solutions of large sparse matrices by the pivots of A A' = L D L', in time proportional to the entries
# Rows are scaled to length 1, so a pivot is the squared distance of a row from those eliminated before it. Rows with healthy pivots are
# independent. A row whose pivot vanishes is compared with all others by projection: only these few rows are decomposed. Whatever is neither
# independent nor implied beyond doubt is left to the singular value decomposition of the whole matrix (`linalg.factor`).

LARGE = 150  # rows and columns from which sparse elimination is quicker than a decomposition
SPARSE = 0.1  # share of nonzero entries
HEALTHY = 1e-5  # pivots above this: singular values of about 3e-3 and more
SOUND = 1e-8  # a pivot below this, a distance of 1e-4 from the rows before, is doubtful: those of long slender mechanisms come near it
IMPLIED = 1e-9  # distance of a row of length 1 from the others at which it is one of their combinations
SHIFT = 1e-13  # added to the unit diagonal: an implied row gets some of these as its pivot instead of a division by zero
ITERATIONS = 12  # of the inverse power method


class SparseMatrix(NDArrayOperatorsMixin):
    """A large matrix of few entries in place of an array: it multiplies vectors as it is, and becomes dense for whatever else is asked."""

    ndim = 2

    def __init__(self, entries: Any):
        self.entries = entries  # scipy's csr_matrix
        self.shape: tuple[int, int] = entries.shape

    @classmethod
    def of(cls, data: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> SparseMatrix:
        """The matrix with these entries; equal places add up."""
        from scipy.sparse import csr_matrix  # here and below, because only large mechanisms need it

        found = csr_matrix((data, (rows, columns)), shape=shape)
        found.eliminate_zeros()
        return cls(found)

    @cached_property
    def dense(self) -> np.ndarray:
        return self.entries.toarray()

    @property
    def dtype(self) -> np.dtype:
        return self.entries.dtype

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def T(self) -> SparseMatrix:
        return SparseMatrix(self.entries.T.tocsr())

    def scaled(self, rows: np.ndarray, columns: np.ndarray) -> SparseMatrix:
        """Rows and columns times these numbers."""
        from scipy.sparse import diags

        return SparseMatrix((diags(rows) @ self.entries @ diags(columns)).tocsr())

    def first_rows(self, n: int) -> SparseMatrix:
        return SparseMatrix(self.entries[:n])

    def largest(self) -> float:
        return float(np.abs(self.entries.data).max(initial=0.0))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.dense, dtype=dtype, copy=True if copy is None else copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc is np.matmul and method == "__call__" and inputs[0] is self and isinstance(inputs[1], np.ndarray):
            return self.entries @ inputs[1]
        return getattr(ufunc, method)(*(x.dense if isinstance(x, SparseMatrix) else x for x in inputs), **options)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: Any) -> Any:
        return self.dense[at]


@dataclass(frozen=True, eq=False)
class SparseStack:
    """Matrices with entries at the same places, one a sample: `data` has a row for each, in the order of `rows` and `columns`."""

    data: np.ndarray  # (samples, entries)
    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, at: Any) -> Any:
        """One matrix, dense if it is small; or the stack of some samples."""
        if not isinstance(at, (int, np.integer)):
            return replace(self, data=self.data[at])
        if min(self.shape) < LARGE:
            return replace(self, data=self.data[[at]]).dense[0]
        return SparseMatrix.of(self.data[at], self.rows, self.columns, self.shape)

    @property
    def dense(self) -> np.ndarray:
        """(samples, rows, columns)."""
        out = np.zeros((len(self.data), *self.shape))
        out[:, self.rows, self.columns] = self.data
        return out

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """Each matrix times its row of x."""
        out = np.zeros((self.shape[0], len(self.data)))
        np.add.at(out, self.rows, (self.data * x[:, self.columns]).T)
        return out.T

    def scaled(self, rows: np.ndarray, columns: np.ndarray) -> SparseStack:
        """Rows and columns times these numbers."""
        return replace(self, data=self.data * columns[self.columns] * rows[self.rows])

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> SparseStack:
        """Some rows and columns, in this order."""
        place = [np.full(n, -1) for n in self.shape]
        for at, some in zip(place, (rows, columns), strict=True):
            at[list(some)] = np.arange(len(some))
        r, c = place[0][self.rows], place[1][self.columns]
        there = (r >= 0) & (c >= 0)
        return SparseStack(self.data[:, there], r[there], c[there], (len(rows), len(columns)))

    def entries(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """(samples, ...): entries at places, those that are not stored are zeros."""
        n = self.shape[1]
        known = self.rows * n + self.columns
        order = np.argsort(known)
        wanted = rows * n + columns
        at = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
        return np.where(known[order][at] == wanted, self.data[:, order[at]], 0.0)

    def determinants(self) -> np.ndarray:
        """Of every matrix; of large ones one after the other."""
        if self.shape[0] < LARGE:
            return np.linalg.det(self.dense)
        return np.array([np.linalg.det(self[[i]].dense[0]) for i in range(len(self))])


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Independent rows of a sparse matrix with their factors, and the rows they imply."""

    A: Any  # all rows
    retained: np.ndarray  # places of the independent rows
    B: Any  # the independent rows, each of length 1
    lengths: np.ndarray  # they have in A
    factors: Any  # of B B'
    left: np.ndarray  # orthonormal combinations of rows of A that vanish, in columns
    healthy: bool  # all pivots are

    @property
    def rank(self) -> int:
        return len(self.retained)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Minimum-norm least-squares solution of A x = b; b may have several columns."""
        b = b - self.left @ (self.left.T @ b)
        right = (b[self.retained].T / self.lengths).T
        x = self.B.T @ self.factors.solve(right)
        return x + self.B.T @ self.factors.solve(right - self.B @ x)  # refined: B B' has the square of B's condition

    def damped(self, b: np.ndarray, damping: float) -> np.ndarray:
        """(A'A + damping)^-1 A' b."""
        from scipy.sparse import identity

        return self.A.T @ _eliminated(self.A @ self.A.T + damping * identity(self.A.shape[0])).solve(b)

    def tangential(self, x: np.ndarray) -> np.ndarray:
        """The part of x that no row sees, found twice for the sake of round-off."""
        for _ in range(2):
            x = x - self.B.T @ self.factors.solve(self.B @ x)
        return x

    def null(self) -> np.ndarray:
        """Orthonormal basis of the null space, in columns."""
        n = self.A.shape[1]
        random = np.random.default_rng(0).normal(size=(n, n - self.rank))
        for _ in range(2):
            random = np.linalg.qr(self.tangential(random))[0]
        return random

    def all_stronger(self, limit: float) -> bool:
        """Return True if no singular value but those that are zero can be below a limit."""
        return self.healthy or self.smallest() > 2.0 * limit

    def smallest(self) -> float:
        """The smallest singular value that is not zero, from above and within some per cent, by inverse iteration."""
        x = np.random.default_rng(0).normal(size=self.rank)
        for _ in range(ITERATIONS):
            x = self.factors.solve(x / self.lengths) / self.lengths
            x = x / np.linalg.norm(x)
        return float(np.linalg.norm(self.B.T @ (self.lengths * x)))


def sparse_rows(A: np.ndarray | SparseMatrix) -> SparseRows | None:
    """Factors of a large sparse matrix; None if it is small, full, or its rank is doubtful."""
    m, n = A.shape
    if min(m, n) < LARGE or (A.entries.nnz if isinstance(A, SparseMatrix) else np.count_nonzero(A)) > SPARSE * A.size:
        return None
    from scipy.sparse import csr_matrix, diags

    every: Any = A.entries if isinstance(A, SparseMatrix) else csr_matrix(A)
    lengths = np.sqrt(np.asarray(every.multiply(every).sum(axis=1)).ravel())
    if not lengths.max() <= 1e150 or lengths.min() < IMPLIED * lengths.max():  # also NaN
        return None
    unit: Any = diags(1.0 / lengths) @ every
    factors = _eliminated(unit @ unit.T, SHIFT)
    pivots = _pivots(factors)
    weak = np.flatnonzero(pivots < SOUND)
    retained = np.setdiff1d(np.arange(m), weak)
    if len(weak) > SPARSE * m or len(retained) > n:
        return None
    independent, least = unit.tocsr()[retained], float(pivots.min(initial=1.0))
    if least < HEALTHY:  # else the shift is nothing beside the pivots
        factors = _eliminated(independent @ independent.T)
        least = float(_pivots(factors).min(initial=1.0))
    if least < 0.5 * SOUND:
        return None
    found = SparseRows(every, retained, independent, lengths[retained], factors, np.zeros((m, 0)), bool(least >= HEALTHY))
    if not len(weak):
        return found
    if np.abs(found.tangential(unit[weak].toarray().T)).max() > IMPLIED:
        return None
    return replace(found, left=_vanishing(found, weak))


def _vanishing(found: SparseRows, implied: np.ndarray) -> np.ndarray:
    """Orthonormal combinations of rows that vanish: each implied row without what the independent ones make of it."""
    rows = found.A[implied].toarray().T
    share = found.factors.solve(found.B @ rows)
    share = share + found.factors.solve(found.B @ (rows - found.B.T @ share))
    Z = np.zeros((found.A.shape[0], len(implied)))
    Z[implied, np.arange(len(implied))] = 1.0
    Z[found.retained] = -(share.T / found.lengths).T
    return np.linalg.qr(Z)[0]


def _eliminated(G: Any, shift: float = 0.0) -> Any:
    """L D L' of a positive semi-definite matrix in a fill-reducing order."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    shifted = (G + shift * identity(G.shape[0])).tocsc()
    return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _pivots(factors: Any) -> np.ndarray:
    """Pivots by row of the matrix."""
    return factors.U.diagonal()[factors.perm_c]
