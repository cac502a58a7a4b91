"""The solver: a ladder. what is quick is tried first, everything is judged by one residual, and what no stage solves is refused.

    stage 0    4 sweeps of Gauss-Seidel, Newton           most problems, in microseconds
    stage 1    16 sweeps, Newton
    stage 2    100 iterations of ADMM, Newton             hyperstatic, heavy on light
    stage 3    400 iterations, Newton
    stage 4    256 sweeps, Newton
    stage 5    2,000 iterations, Newton
    stage 6    2,000 sweeps, Newton
    REFUSED    no stage reached the tolerance

Every stage begins where the last one ended, ADMM at the best so far. c.p holds the start, from a step before if there was one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.integrators.contact.admm import admm
from linkwright.integrators.contact.gauss_seidel import sweeps
from linkwright.integrators.contact.newton import newton
from linkwright.integrators.contact.problem import NOT_FINITE, Contacts, loop_of, natural, speeds, steps

TOLERANCE = 1e-11  # of the residual: round-off times a condition of 1e4
STAGES, REFUSED = 7, 9


def climb(c: Contacts, tolerance: float) -> int:
    """Solve c; returns the stage that did, or REFUSED. c.p and c.u have the answer, c.residual what was reached."""
    begun(c)
    for stage in range(STAGES):
        if stage == 2 or stage == 3 or stage == 5:
            if c.symmetric == 0:
                continue
            back(c)
            keep(c, admm(c, iterations(stage), tolerance))
            if finished(c, tolerance):
                return done(c, stage)
        elif attempt(c, iterations(stage), tolerance):
            return done(c, stage)
    return done(c, REFUSED)


def begun(c: Contacts) -> None:
    """The start judged, or zero where it is not finite."""
    c.newton_steps = 0
    steps(c)
    speeds(c)
    c.residual = natural(c)
    if c.residual == NOT_FINITE:  # never begin with what is not finite
        for i in range(len(c.p)):
            c.p[i] = 0.0
        speeds(c)
        c.residual = natural(c)
    for i in range(len(c.p)):
        c.nearest[i] = c.p[i]


def attempt(c: Contacts, most: int, tolerance: float) -> bool:
    """So many sweeps and Newton's method: what runs in lanes. True if c.p is the answer."""
    keep(c, sweeps(c, most, tolerance))
    if not finished(c, tolerance):
        return False
    back(c)
    return True


def finished(c: Contacts, tolerance: float) -> bool:
    """True if the last stage, or Newton's method from where it ended, reached the tolerance."""
    if c.residual < tolerance:
        return True
    hold(c)
    keep(c, newton(c, tolerance))
    if c.residual < tolerance:
        return True
    release(c)
    return False


def iterations(stage: int) -> int:
    """Sweeps or iterations of ADMM of a stage."""
    if stage == 0:
        return 4
    if stage == 1:
        return 16
    if stage == 2:
        return 100
    if stage == 3:
        return 400
    if stage == 4:
        return 256
    return 2000


def keep(c: Contacts, residual: float) -> None:
    """Store the answer if it is the best so far."""
    if residual < c.residual:
        c.residual = residual
        for i in range(len(c.p)):
            c.nearest[i] = c.p[i]


def back(c: Contacts) -> None:
    for i in range(len(c.p)):
        c.p[i] = c.nearest[i]


def hold(c: Contacts) -> None:
    """Remember where the sweeps ended: they continue there if Newton's method leads nowhere."""
    for i in range(len(c.p)):
        c.held[i] = c.p[i]


def release(c: Contacts) -> None:
    for i in range(len(c.p)):
        c.p[i] = c.held[i]


def done(c: Contacts, stage: int) -> int:
    back(c)
    speeds(c)
    c.stage = stage
    return stage


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

    native: run the loops as machine code, which is made when it is first needed. As Python they give the same bits.
    """

    def __init__(self, kinds: Sequence[int], *, native: bool = False):
        self._run = loop_of(climb, kinds).bound(1, 0.0, native=native)
        self.memory: Any = self._run.record()  # as `Contacts`, of numpy arrays

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
        c.symmetric = int(symmetric)
        self._run.number(0, tolerance)
        stage = int(self._run()[0])
        return ContactAnswer(np.array(c.p), np.array(c.u), float(c.residual), stage, stage != REFUSED)
