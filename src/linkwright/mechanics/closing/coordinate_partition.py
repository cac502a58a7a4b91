"""Dependent and independent coordinates of a mechanism's loops, and the branch they determine.

The dependent coordinates are chosen once, by pivoted QR of the dimensionless J with the drives independent. Their square part
of J is sorted into irreducible blocks (block triangular form); the sign of every block's determinant is one letter of the
branch label. A sign changes only in a singular position: of J itself (a passage in which branches meet), or of the choice of
coordinates alone (the independent ones no longer determine the motion: a dead center of the drives).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.numerics.linalg import LARGE, SparseStack, factor, pivoted_columns
from linkwright.numerics.memory_and_threads import essentials
from linkwright.properties import cached_property

STRUCTURE = 1e-12  # entries of the dimensionless J below this in every position are zeros
FEW_ROWS = 64  # up to these, components are found from powers of the pattern


class DependentBlock(NamedTuple):
    """An irreducible square block: rows of J against dependent coordinates."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Partition:
    """Rows of J that count, dependent and independent coordinates, blocks. All are places in names.v or rows of J."""

    __getstate__ = essentials

    rows: tuple[int, ...]
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    blocks: tuple[DependentBlock, ...]

    @cached_property
    def square(self) -> bool:
        """True if the independent coordinates make a square part as well, so that it has a determinant."""
        return 0 < len(self.rows) == len(self.independent)

    def signs(self, J: np.ndarray | SparseStack) -> np.ndarray:
        """(positions, blocks): sign of the determinant of each block; J is (positions, rows, velocities)."""
        return np.sign(self.determinants(J))

    def determinants(self, J: np.ndarray | SparseStack) -> np.ndarray:
        """(positions, blocks)."""
        out = np.empty((len(J), len(self.blocks)))
        for size, group in self._by_size.items():
            if isinstance(J, SparseStack) and size >= LARGE:
                for b in group:
                    out[:, b] = J.part(*self.blocks[b]).determinants()
                continue
            r, c = (np.array([self.blocks[b][i] for b in group]) for i in (0, 1))
            entries = J.entries(r[:, :, None], c[:, None, :]) if isinstance(J, SparseStack) else J[:, r[:, :, None], c[:, None, :]]
            out[:, group] = np.linalg.det(entries)
        return out

    @cached_property
    def _by_size(self) -> dict[int, list[int]]:
        """Blocks of the same size, which are decomposed together."""
        found: dict[int, list[int]] = {}
        for b, block in enumerate(self.blocks):
            found.setdefault(len(block.rows), []).append(b)
        return found

    def dependent_part(self, J: np.ndarray) -> np.ndarray:
        return J[:, self.rows][:, :, self.dependent]

    def independent_part(self, J: np.ndarray) -> np.ndarray:
        return J[:, self.rows][:, :, self.independent]

    def smallest(self, J: SparseStack) -> tuple[float, float, float]:
        """Smallest singular values of the rows that count, of the dependent and of the independent part, over all positions."""
        every = range(J.shape[1])
        found = [_least(J.part(self.rows, columns)) for columns in (every, self.dependent, self.independent)]
        return found[0], found[1], found[2]


def partition(J: np.ndarray | SparseStack, drives: Sequence[int], generic: int) -> Partition:
    """The partition of a mechanism from its dimensionless J at several positions of a run; the best conditioned one decides.

    Rows beyond the `generic` rank are redundant, however independent they are at positions where loops have drifted open.
    """
    if isinstance(J, SparseStack):
        found = _sparse_partition(J, drives, generic) if min(J.shape) >= LARGE else None
        if found is not None:
            return found
        J = J.dense
    ranks = [factor(x).rank for x in J]
    rank = min(max(ranks, default=0), generic)
    weakest = [_weakest(x, rank) if r >= rank else -1.0 for x, r in zip(J, ranks, strict=True)]
    best = J[int(np.argmax(weakest))]
    rows = tuple(sorted(pivoted_columns(best.T)[:rank]))
    others = [i for i in range(J.shape[2]) if i not in set(drives)]
    first = [others[i] for i in pivoted_columns(best[list(rows)][:, others], 1e-6)] if rows else []
    chosen = pivoted_columns(best[list(rows)], first=tuple(first))[:rank] if len(first) < rank else first[:rank]
    dependent = tuple(sorted(chosen))
    independent = tuple(i for i in range(J.shape[2]) if i not in dependent)
    pattern = np.max(np.abs(J), axis=0) > STRUCTURE
    return Partition(rows, dependent, independent, _blocks(pattern, rows, dependent))


def _sparse_partition(J: SparseStack, drives: Sequence[int], generic: int) -> Partition | None:
    """The same of a large mechanism without redundant rows, in proportion to its entries: dependent are the columns of a matching of
    rows and columns with large entries. None where that leaves a doubt."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    m, n = J.shape
    matrices = [J[i] for i in range(len(J))]
    factors = [factor(x) for x in matrices]
    healthy = [f.smallest if f.by_pivots and f.rank == m == generic else -1.0 for f in factors]
    if max(healthy) <= 0.0:
        return None
    best = matrices[int(np.argmax(healthy))].entries.tocoo()
    others = ~np.isin(best.col, drives)
    size = np.abs(best.data)
    weight = 1.0 + np.log(size.max() / size)  # the largest product of entries
    for some in (others, np.ones(len(size), dtype=bool)):
        try:
            columns = min_weight_full_bipartite_matching(csr_matrix((weight[some], (best.row[some], best.col[some])), shape=(m, n)))[1]
        except ValueError:  # there is none
            continue
        dependent = tuple(sorted(columns.tolist()))
        if factor(J.part(range(m), dependent)[int(np.argmax(healthy))], 1e-6).by_pivots:
            free = np.setdiff1d(np.arange(n), dependent)
            there = np.abs(J.data).max(axis=0) > STRUCTURE
            pattern = csr_matrix((np.ones(int(there.sum())), (J.rows[there], J.columns[there])), shape=(m, n))
            return Partition(tuple(range(m)), dependent, tuple(free.tolist()), _blocks(pattern, range(m), dependent))
    return None


def _least(J: SparseStack) -> float:
    """The smallest singular value of all matrices; 1 where there are none."""
    if not (min(J.shape) and len(J)):
        return 1.0
    if min(J.shape) < LARGE:
        return float(np.linalg.svd(J.dense, compute_uv=False).min())
    found = [factor(J[i]) for i in range(len(J))]
    return min(f.smallest if f.by_pivots and f.rank == min(J.shape) else float(f.s.min()) for f in found)


def _weakest(J: np.ndarray, rank: int) -> float:
    return float(factor(J).s[rank - 1]) if rank else 0.0


def _blocks(pattern: Any, rows: Sequence[int], columns: Sequence[int]) -> tuple[DependentBlock, ...]:
    """Irreducible blocks: strong components of the matched pattern."""
    if not rows:
        return ()
    square = pattern[np.ix_(rows, columns)] if isinstance(pattern, np.ndarray) else pattern[:, list(columns)].tocsr()
    match = _matching(square)
    if (match < 0).any():
        return (DependentBlock(tuple(rows), tuple(columns)),)
    owner = np.argsort(match)
    label = _components(square[owner])  # row i is matched with column i
    out = []
    by_label: dict[int, list[int]] = {}
    for i, k in enumerate(label.tolist()):
        by_label.setdefault(k, []).append(i)
    for members in by_label.values():
        out.append(DependentBlock(tuple(sorted(rows[int(owner[i])] for i in members)), tuple(columns[int(i)] for i in members)))
    return tuple(out)


def _matching(square: Any) -> np.ndarray:
    """Column matched with every row, -1 where there is none. Which perfect matching it is changes no component."""
    if square.diagonal().all():
        return np.arange(len(square))
    from scipy.sparse import csr_matrix  # here and below: importing it takes longer than a short run
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return maximum_bipartite_matching(csr_matrix(square), perm_type="column")


def _components(follows: Any) -> np.ndarray:
    """Label of the strong component of every node: nodes that reach each other."""
    if follows.shape[0] > FEW_ROWS:
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        return connected_components(csr_matrix(follows), connection="strong")[1]
    reach = follows | np.eye(len(follows), dtype=bool)
    for _ in range(max(1, len(follows) - 1).bit_length()):  # paths of twice the length each time
        reach = (reach.astype(float) @ reach) > 0.0
    return np.argmax(reach & reach.T, axis=1)  # the first node of the component
