"""Assembly gaps of many designs over a turn: how far each stays open at every position of its drives, with exact derivatives.

    found = AssemblyGaps(lanes, positions=72)(designs)       found.gap (designs, positions), found.slopes (..., numbers)

At a position of the drives the gap is the least length by which the loops stay open, over all positions of the other joints: zero for a
design that closes, and a smooth measure of how far another one is from closing. The search begins at the model's own positions.
Derivatives are those of G = gap^2/2 at the least gap (envelope theorem): no singular system is solved, and they are continuous up to where
the design closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwright.errors import UsageError
from linkwright.kernels.gap_lanes import LaneGaps
from linkwright.motion.cycle_lanes import CycleLanes
from linkwright.motion.designs import Designs
from linkwright.results.records import cut_rows
from linkwright.results.trajectory import Trajectory

SWEEPS = (1, -1, 2, -2, 4, -4)  # samples by which starts of further searches are shifted: as long as they find smaller gaps
OPEN = 1e-9  # dimensionless gap of a position that is open
LOWER = 1e-6  # share by which another least gap has to be smaller


class Gaps(NamedTuple):
    """Gaps of designs at positions of the drives."""

    gap: np.ndarray  # (designs, positions), m
    square: np.ndarray  # gap^2/2
    slopes: np.ndarray  # of square, (designs, positions, numbers)
    q: np.ndarray  # (designs, positions, entries), where the gap is least
    drive: np.ndarray  # (positions, drives), or (designs, positions, drives)


@dataclass(frozen=True, eq=False)
class AssemblyGaps:
    """Gaps of designs along their turns; `nominal` is the turn of the model itself, with as many samples."""

    lanes: CycleLanes
    nominal: Trajectory

    @cached_property
    def _made(self) -> LaneGaps | None:
        designs, drives = self.lanes.designs, list(self.lanes.ready.plan.laws)
        get = designs.kernels.get
        step = designs.native(("gap_step", *drives), lambda: get("gap_step", drives=drives), True, idle=True)
        slopes = designs.native(("gap", *drives), lambda: get("gap", drives=drives, by=("free",), of=("square",)), True, idle=True)
        if step is None or slopes is None:
            return None
        return LaneGaps(step, slopes, designs.core.loops.kappa, self.lanes.steps + 1)

    @property
    def possible(self) -> bool:
        """False without machine code, or where a joint runs on numbers only."""
        return self._made is not None

    def __call__(self, designs: Designs, cores: int | None = None) -> Gaps:
        """Gaps of all designs."""
        made = self._made
        if made is None:
            raise UsageError("assembly gaps need machine code: install llvmlite, and use joints that can be traced.")
        n, nd, samples = len(designs), len(self.lanes.ready.plan.laws), self.lanes.steps + 1
        laws = self.lanes.laws(designs, np.arange(n))
        drive = laws.rows[..., :nd, :samples]
        references = cut_rows(self.nominal.skel, self.nominal.references).T
        square, slopes, q = (np.array(x) for x in made(self.nominal.q.T, references, drive, designs.values, cores))
        closed = (OPEN * made.plan.kappa) ** 2
        left = np.flatnonzero((square > closed).any(axis=1))
        for shift in SWEEPS:  # begin where neighbors ended: of several least gaps the smaller one
            if not len(left):
                break
            own = drive if drive.ndim == 2 else drive[left]
            again = made(_shifted(q[left], shift), references, own, designs.values[left], cores)
            better = (again[0] < square[left] * (1.0 - LOWER)) & (square[left] > closed)
            square[left] = np.where(better, again[0], square[left])
            for mine, other in ((slopes, again[1]), (q, again[2])):
                mine[left] = np.where(better[:, None], other, mine[left])
            left = left[better.any(axis=1)] if shift < 0 else left
        return Gaps(np.sqrt(2.0 * square), square, slopes.transpose(0, 2, 1), q.transpose(0, 2, 1), np.moveaxis(drive, -2, -1))


def _shifted(q: np.ndarray, by: int) -> np.ndarray:
    """Positions (designs, entries, positions) of the neighbors; at the ends those of their own."""
    out = q.copy()
    if by > 0:
        out[..., by:] = q[..., :-by]
    else:
        out[..., :by] = q[..., -by:]
    return np.ascontiguousarray(out)
