"""Base parameters: the combinations of unknowns that a motion determines, by QR with pivoting of the regressor, with names.

    W theta = B beta,   beta = theta_1 + C theta_2,   W P = [B, B C]

Columns are scaled to unit length first, so that the rank does not depend on units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.api import UsageError, tolerances

SPARE = 10  # torques more than groups, from which the noise is estimated
ZERO_COEFFICIENT = 1e-8  # coefficient of a group, in scaled columns, that is round-off
ALIKE = 1e-6  # share by which rests of columns may differ and still be the same size


@dataclass(frozen=True)
class BaseParameters:
    """Independent columns, and the groups they stand for: beta = G theta."""

    names: tuple[str, ...]  # of all unknowns
    chosen: tuple[int, ...]  # columns of the base regressor
    G: np.ndarray  # (base, all)
    diagonal: np.ndarray  # of R, scaled: sizes by which the rank was decided

    @property
    def groups(self) -> tuple[str, ...]:
        """A readable name for each base parameter: `left.mx + 0.08 left_rod.m`."""
        return tuple(self._group(i) for i in range(len(self.chosen)))

    def _group(self, i: int) -> str:
        first = self.chosen[i]
        terms = [(k, g) for k, g in enumerate(self.G[i]) if k != first and g != 0.0]
        sizes = ["" if abs(abs(g) - 1.0) < ZERO_COEFFICIENT else f"{abs(g):.4g} " for _, g in terms]
        signed = [f" {'+' if g > 0.0 else '-'} {size}{self.names[k]}" for (k, g), size in zip(terms, sizes, strict=True)]
        return self.names[first] + "".join(signed)

    @property
    def alone(self) -> tuple[str, ...]:
        """Unknowns that are determined by themselves."""
        return tuple(self.names[k] for i, k in enumerate(self.chosen) if np.count_nonzero(self.G[i]) == 1)

    @property
    def grouped(self) -> tuple[str, ...]:
        """Unknowns that are determined in a group only."""
        used = np.flatnonzero(np.abs(self.G).sum(axis=0))
        return tuple(self.names[k] for k in used if self.names[k] not in self.alone)

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Unknowns that no measured torque depends on."""
        return tuple(n for n, size in zip(self.names, np.abs(self.G).sum(axis=0), strict=True) if size == 0.0)


def base_parameters(W: np.ndarray, names: Sequence[str]) -> BaseParameters:
    """Return the base parameters of a stacked regressor (rows, unknowns); raise UsageError where it has too few rows."""
    from scipy.linalg import solve_triangular

    size = np.linalg.norm(W, axis=0)
    size[size <= tolerances.RANK * size.max(initial=0.0)] = np.inf  # columns of round-off
    if not np.isfinite(size).any():
        raise UsageError("the measured motion excites nothing: all columns of the regressor are zero. Move the drives.")
    R, order = _triangular(np.asarray(np.linalg.qr(W / size, mode="r")))
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > tolerances.RANK * diagonal[0]).sum())
    if len(W) < rank + SPARE:
        raise UsageError(
            f"{len(W)} measured torques are too few for {rank} unknown groups. Measure more samples, or seek less.", name="seek"
        )
    C = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    C[np.abs(C) < ZERO_COEFFICIENT] = 0.0
    G = np.zeros((rank, len(names)))
    G[np.arange(rank), order[:rank]] = 1.0
    back = np.where(np.isfinite(size), size, 0.0)
    G[:, order[rank:]] = C * back[order[rank:]] / size[order[:rank], None]
    return BaseParameters(tuple(names), tuple(int(k) for k in order[:rank]), G, diagonal)


def _triangular(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R of A P = Q R and the order P of the columns: the next one is the first of those whose rest is the longest but for ALIKE.

    Columns of equal rests are common (like links, symmetric motions); among them the longest would be chosen by the last digit of the data.
    """
    R, order = np.array(A, dtype=float), np.arange(A.shape[1])
    for k in range(min(R.shape)):
        rest = np.linalg.norm(R[k:, k:], axis=0)
        j = k + int(np.argmax(rest >= (1.0 - ALIKE) * rest.max()))
        moved = [*range(k), j, *(i for i in range(k, R.shape[1]) if i != j)]
        R, order = R[:, moved], order[moved]
        length = float(np.linalg.norm(R[k:, k]))
        if length == 0.0:
            break
        v = R[k:, k].copy()
        v[0] += np.copysign(length, v[0])
        R[k:, k:] -= np.outer(v, (2.0 / float(v @ v)) * (v @ R[k:, k:]))
        R[k + 1 :, k] = 0.0
    return R, order
