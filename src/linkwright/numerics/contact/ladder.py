"""The ladder: what is quick is tried first, everything is judged by one residual, and what no stage solves is refused.

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

from linkwright.numerics.contact.admm import admm
from linkwright.numerics.contact.gauss_seidel import sweeps
from linkwright.numerics.contact.newton import newton
from linkwright.numerics.contact.problem import Contacts
from linkwright.numerics.contact.residual import NOT_FINITE, natural, speeds, steps

STAGES, REFUSED = 7, 9


def climb(c: Contacts, tolerance: float) -> int:
    """Solve c; returns the stage that did, or REFUSED. c.p and c.u have the answer, c.residual what was reached."""
    n = c.counts[1]
    c.counts[4] = 0
    steps(c)
    speeds(c)
    c.residual[0] = natural(c)
    if c.residual[0] == NOT_FINITE:  # never begin with what is not finite
        for i in range(n):
            c.p[i] = 0.0
        speeds(c)
        c.residual[0] = natural(c)
    for i in range(n):
        c.nearest[i] = c.p[i]
    for stage in range(STAGES):
        if stage == 2 or stage == 3 or stage == 5:
            if c.counts[2] == 0:
                continue
            back(c)
            keep(c, admm(c, iterations(stage), tolerance))
        else:
            keep(c, sweeps(c, iterations(stage), tolerance))
        if c.residual[0] < tolerance:
            return done(c, stage)
        hold(c)
        keep(c, newton(c, tolerance))
        if c.residual[0] < tolerance:
            return done(c, stage)
        release(c)
    return done(c, REFUSED)


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


def keep(c: Contacts, residual: float) -> int:
    """Store the answer if it is the best so far."""
    if residual < c.residual[0]:
        c.residual[0] = residual
        for i in range(c.counts[1]):
            c.nearest[i] = c.p[i]
    return 0


def back(c: Contacts) -> int:
    for i in range(c.counts[1]):
        c.p[i] = c.nearest[i]
    return 0


def hold(c: Contacts) -> int:
    """Remember where the sweeps ended: they continue there if Newton's method leads nowhere."""
    for i in range(c.counts[1]):
        c.held[i] = c.p[i]
    return 0


def release(c: Contacts) -> int:
    for i in range(c.counts[1]):
        c.p[i] = c.held[i]
    return 0


def done(c: Contacts, stage: int) -> int:
    back(c)
    speeds(c)
    c.counts[3] = stage
    return stage
