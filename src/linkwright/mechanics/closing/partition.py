"""Dependent and independent coordinates of a mechanism's loops, and the branch they determine.

The dependent coordinates are chosen once, by pivoted QR of the dimensionless J with the drives independent. Their square part
of J is sorted into irreducible blocks (block triangular form); the sign of every block's determinant is one letter of the
branch label. A sign changes only in a singular position: of J itself (a passage in which branches meet), or of the choice of
coordinates alone (the independent ones no longer determine the motion: a dead centre of the drives).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwright.numerics.linalg import factor, pivoted_columns
from linkwright.numerics.pickling import essentials

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

    def signs(self, J: np.ndarray) -> np.ndarray:
        """(positions, blocks): sign of the determinant of each block; J is (positions, rows, velocities)."""
        return np.sign(self.determinants(J))

    def determinants(self, J: np.ndarray) -> np.ndarray:
        """(positions, blocks)."""
        out = np.empty((len(J), len(self.blocks)))
        for b, block in enumerate(self.blocks):
            out[:, b] = np.linalg.det(J[:, block.rows][:, :, block.columns])
        return out

    def dependent_part(self, J: np.ndarray) -> np.ndarray:
        return J[:, self.rows][:, :, self.dependent]

    def independent_part(self, J: np.ndarray) -> np.ndarray:
        return J[:, self.rows][:, :, self.independent]


def partition(J: np.ndarray, drives: Sequence[int], generic: int) -> Partition:
    """The partition of a mechanism from its dimensionless J at several positions of a run; the best conditioned one decides.

    Rows beyond the `generic` rank are redundant, however independent they are at positions where loops have drifted open.
    """
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


def _weakest(J: np.ndarray, rank: int) -> float:
    return float(factor(J).s[rank - 1]) if rank else 0.0


def _blocks(pattern: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> tuple[DependentBlock, ...]:
    """Irreducible blocks: strong components of the matched pattern."""
    if not rows:
        return ()
    square = pattern[np.ix_(rows, columns)]
    match = _matching(square)
    if (match < 0).any():
        return (DependentBlock(tuple(rows), tuple(columns)),)
    owner = np.argsort(match)
    label = _components(square[owner])  # row i is matched with column i
    out = []
    for k in dict.fromkeys(label.tolist()):
        members = np.flatnonzero(label == k)
        out.append(DependentBlock(tuple(sorted(rows[int(owner[i])] for i in members)), tuple(columns[int(i)] for i in members)))
    return tuple(out)


def _matching(square: np.ndarray) -> np.ndarray:
    """Column matched with every row, -1 where there is none. Which perfect matching it is changes no component."""
    if square.diagonal().all():
        return np.arange(len(square))
    from scipy.sparse import csr_matrix  # here and below: importing it takes longer than a short run
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return maximum_bipartite_matching(csr_matrix(square), perm_type="column")


def _components(follows: np.ndarray) -> np.ndarray:
    """Label of the strong component of every node: nodes that reach each other."""
    if len(follows) > FEW_ROWS:
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        return connected_components(csr_matrix(follows), connection="strong")[1]
    reach = follows | np.eye(len(follows), dtype=bool)
    for _ in range(max(1, len(follows) - 1).bit_length()):  # paths of twice the length each time
        reach = (reach.astype(float) @ reach) > 0.0
    return np.argmax(reach & reach.T, axis=1)  # the first node of the component
