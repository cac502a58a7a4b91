"""A contact problem with its memory, as callers see it: the same answer in Python and in machine code, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.numerics.contact.ladder import REFUSED, climb
from linkwright.numerics.contact.problem import Contacts, memory

TOLERANCE = 1e-11  # of the residual: round-off times a condition of 1e4


@dataclass(frozen=True, eq=False)
class ContactAnswer:
    """Impulses or forces p, what they make of the speeds or accelerations u, and how they were found."""

    p: np.ndarray
    u: np.ndarray
    residual: float
    stage: int  # of the ladder
    solved: bool


class ContactSolver:
    """Problems of blocks of the same kinds, one after the other in one memory.

    run: `climb` as machine code for this memory; without it the loops run as Python, with the same bits.
    """

    def __init__(self, kinds: Sequence[int], run: Callable[[Contacts], Callable[[float], int]] | None = None):
        self.memory = memory(kinds)
        self._climb = run(self.memory) if run is not None else lambda tolerance: climb(self.memory, tolerance)

    def solve(
        self,
        W: np.ndarray,
        b: np.ndarray,
        mu: np.ndarray | Sequence[float] = (),
        start: np.ndarray | None = None,
        *,
        symmetric: bool = True,
        tolerance: float = TOLERANCE,
    ) -> ContactAnswer:
        """Solve one problem. start: the answer of a like problem. symmetric: False where contacts slip with forces of their own."""
        c = self.memory
        c.W[:], c.b[:], c.mu[:] = W, b, mu if len(mu) else 0.0
        c.p[:] = 0.0 if start is None else start
        c.counts[2] = symmetric
        stage = self._climb(tolerance)
        return ContactAnswer(c.p.copy(), c.u.copy(), float(c.residual[0]), stage, stage != REFUSED)
