"""Channels of a run that measure how near it is to singular positions.

singular.J            smallest singular value of the dimensionless J (of its independent rows)
singular.dependent    of its part of the dependent coordinates; singular.independent: of that of the independent ones
det.dependent         determinant of that part, in SI; det.independent where that part is square
                      [Hoang2023 Figs. 2(b), 3(b)]: det Phi_x and det Phi_theta with the drives independent
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.errors import ChannelError, counted
from linkwright.mechanics.closing.coordinate_partition import Partition, partition
from linkwright.mechanics.closing.mobility import mobility
from linkwright.mechanics.constraints.loops import Loops
from linkwright.numerics.linalg import factor
from linkwright.properties import cached_property
from linkwright.results.records import Column

NAMES = {
    "singular.J": "smallest singular value of the dimensionless loop Jacobian",
    "singular.dependent": "smallest singular value of its part of the dependent coordinates",
    "singular.independent": "smallest singular value of its part of the independent coordinates",
    "det.dependent": "determinant of the loop Jacobian of the dependent coordinates",
    "det.independent": "determinant of the loop Jacobian of the independent coordinates",
}
LOOKED_AT = 40  # samples from which the dependent coordinates are chosen


class Singularity:
    """J over the samples of a run, and its parts."""

    def __init__(
        self, loops: Loops, t: np.ndarray, q: np.ndarray, references: Sequence[Any], drives: Sequence[int], closed: np.ndarray | None = None
    ):
        self.loops, self.t, self.q, self.references, self.drives = loops, t, q, references, tuple(drives)
        self.closed = np.ones((len(q), len(loops.constraints))) if closed is None else closed  # (samples, loops)

    @cached_property
    def J(self) -> np.ndarray:
        """(samples, rows, velocities), in SI."""
        rest = np.zeros(self.loops.skel.tree.nv)
        return np.array(
            [self.loops.at(q, rest, float(t), references).J for q, t, references in zip(self.q, self.t, self.references, strict=True)]
        )

    @cached_property
    def scaled(self) -> np.ndarray:
        return self.J * self.loops.columns / self.loops.row_scale[:, None]

    @cached_property
    def modes(self) -> list[tuple[np.ndarray, np.ndarray, Partition]]:
        """(samples, rows, partition) for every set of loops that are closed together: those switched off have no rows."""
        sizes = [len(c.kinds) for c in self.loops.constraints]
        patterns, which = np.unique(self.closed > 0.0, axis=0, return_inverse=True)
        out = []
        for k, pattern in enumerate(patterns):
            samples, rows = np.flatnonzero(which.ravel() == k), np.flatnonzero(np.repeat(pattern, sizes))
            looked = self.scaled[samples[:: max(1, len(samples) // LOOKED_AT)]][:, rows]
            generic = mobility(self.loops, self.q[0], dict(self.references[0])).rank if pattern.all() else len(rows)
            out.append((samples, rows, partition(looked, self.drives, generic)))
        return out

    @property
    def names(self) -> tuple[str, ...]:
        """Those this mechanism has: a part that is not square has no determinant."""
        rank = factor(
            self.loops.dimensionless(self.loops.at(self.q[len(self.q) // 2], np.zeros(self.loops.skel.tree.nv), 0.0, self.references[0]))[1]
        ).rank
        square = 2 * rank == self.loops.skel.tree.nv
        return tuple(n for n in NAMES if square or n != "det.independent")

    def column(self, name: str) -> Column:
        """Values of one of NAMES."""
        kind, _, which = name.partition(".")
        out = np.ones(len(self.q))  # without any loop nothing can be lost
        for samples, rows, parts in self.modes:
            J = (self.J if kind == "det" else self.scaled)[samples][:, rows]
            picked = {"J": J[:, parts.rows], "dependent": parts.dependent_part(J), "independent": parts.independent_part(J)}[which]
            if kind == "det":
                out[samples] = self._determinants(name, picked)
            elif parts.rows:
                values = np.linalg.svd(picked, compute_uv=False)
                out[samples] = values.min(axis=1) if values.shape[1] else 0.0
        return Column(out, "none")

    def _determinants(self, name: str, picked: np.ndarray) -> np.ndarray:
        if picked.shape[1] != picked.shape[2]:
            raise ChannelError(
                f"'{name}' has no determinant: {counted(picked.shape[2], 'independent coordinate')} for {counted(picked.shape[1], 'row')}. "
                "singular.independent measures how near that part is to losing rank.",
                name=name,
            )
        return np.linalg.det(picked)
