"""Gauss-Seidel over the blocks, each solved exactly: it finds who touches, sticks and slips within a few sweeps.

Where blocks depend on each other it creeps: heavy boxes on light ones are not solved after ten thousand sweeps. Hence the ladder.
"""

from __future__ import annotations

from linkwright.numerics.contact.one_contact import B, P, one
from linkwright.numerics.contact.problem import Contacts
from linkwright.numerics.contact.residual import natural, speeds

LOOKED = 8  # sweeps between two looks at the residual


def sweeps(c: Contacts, most: int, tolerance: float) -> float:
    """Sweep at most so many times; returns the residual."""
    speeds(c)
    for sweep in range(most):
        for i in range(c.counts[0]):
            relax(c, i)
        if sweep % LOOKED == 0:
            speeds(c)  # the sums of small changes would drift
            if natural(c) < tolerance:
                break
    speeds(c)
    return natural(c)


def relax(c: Contacts, i: int) -> int:
    """Give block i its exact answer, and all speeds what follows."""
    k = c.first[i]
    rows = c.first[i + 1] - k
    for r in range(rows):
        free = c.u[k + r]
        for s in range(rows):
            c.own[3 * r + s] = c.W[k + r, k + s]
            free -= c.W[k + r, k + s] * c.p[k + s]
        c.own[B + r] = free
    found = one(c, i)
    for s in range(rows):
        change = c.own[P + s] - c.p[k + s]
        if change != 0.0:
            for r in range(c.counts[1]):
                c.u[r] += c.W[r, k + s] * change
            c.p[k + s] = c.own[P + s]
    return found
