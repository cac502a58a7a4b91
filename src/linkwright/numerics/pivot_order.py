"""An order of rows and columns for elimination without pivoting, chosen on samples of a sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

import numpy as np

from linkwright.errors import UsageError

ALMOST = 0.999  # share of the best entry that is as good


def pivot_order(samples: Sequence[np.ndarray], structure: np.ndarray, threshold: float = 0.1) -> tuple[list[int], list[int]]:
    """Rows and columns: at every step, of the entries that are large enough in their column in every sample, the one that creates
    fewest new nonzeros (Markowitz); the larger of equals. Only entries are looked at, so the time follows their number."""
    left = _Remainder(samples, structure, threshold)
    order: tuple[list[int], list[int]] = ([], [])
    while left.rows:
        i, j = left.best()
        left.eliminate(i, j)
        order[0].append(i)
        order[1].append(j)
    return order


class _Remainder:
    """Entries an elimination has left, with their values in all samples."""

    def __init__(self, samples: Sequence[np.ndarray], structure: np.ndarray, threshold: float):
        values = np.array([np.asarray(A, dtype=float) for A in samples])
        self.threshold = threshold
        self.rows: dict[int, dict[int, np.ndarray]] = {i: {} for i in range(len(structure))}
        self.columns: dict[int, set[int]] = {j: set() for j in range(len(structure))}
        for i, j in zip(*(x.tolist() for x in np.nonzero(structure)), strict=True):
            self.rows[i][j] = values[:, i, j]
            self.columns[j].add(i)
        self.share: dict[tuple[int, int], float] = {}  # of the largest entry of the column, in the sample in which that is least
        self.heap: list[tuple[int, float, int, int]] = []  # entries that are large enough; outdated ones are left in it
        self._judge(self.columns, ())

    def _judge(self, columns: Iterable[int], rows: Iterable[int]) -> None:
        """Shares of the entries of some columns; they and the entries of some rows have a new place in the heap."""
        changed = {(i, j) for i in rows for j in self.rows[i]}
        for j in columns:
            within = sorted(self.columns[j])
            if not within:
                continue
            sizes = np.abs([self.rows[i][j] for i in within])
            shares = (sizes / np.maximum(sizes.max(axis=0), 1e-300)).min(axis=1).tolist()
            self.share.update({(i, j): share for i, share in zip(within, shares, strict=True)})
            changed.update((i, j) for i in within)
        for i, j in changed:
            if self.share[i, j] >= self.threshold:
                heappush(self.heap, self._rank(i, j))

    def _rank(self, i: int, j: int) -> tuple[int, float, int, int]:
        return (len(self.rows[i]) - 1) * (len(self.columns[j]) - 1), -self.share[i, j], i, j

    def best(self) -> tuple[int, int]:
        """The next pivot; where no entry is large enough, one as large as any."""
        most = 0.0
        while self.heap:
            found = self.heap[0]
            i, j = found[2:]
            if i in self.rows and j in self.rows[i] and found == self._rank(i, j):
                most = max(self.share[i, j], most)
                break
            heappop(self.heap)
        if self.heap and (most * ALMOST >= self.threshold or self._largest() * ALMOST >= self.threshold):
            return self.heap[0][2:]
        limit = ALMOST * self._largest()
        if not limit > 0.0:
            raise UsageError("the matrix is singular: no order of elimination exists.", name="matrix")
        return min(self._rank(i, j) for i, row in self.rows.items() for j in row if self.share[i, j] >= limit)[2:]

    def _largest(self) -> float:
        return max((self.share[i, j] for i, row in self.rows.items() for j in row), default=0.0)

    def eliminate(self, r: int, c: int) -> None:
        """Subtract multiples of a row from all others with an entry in a column; both leave."""
        pivot = self.rows.pop(r)
        for j in pivot:
            self.columns[j].discard(r)
        below = self.columns.pop(c)
        for i in below:
            row = self.rows[i]
            f = row.pop(c) / pivot[c]
            for j, x in pivot.items():
                if j != c:
                    row[j] = row.get(j, 0.0) - f * x
                    self.columns[j].add(i)
        self._judge([j for j in pivot if j != c], below)
