"""By how much impulses fail Coulomb's law: the natural map, which is zero for answers and for nothing else.

    r = rows / trace(W_ii):    |p_n - max(0, p_n - r u_n)|,    |p_t - nearest(p_t - r u_t)|    over the largest push

`nearest` projects onto the disc of radius mu p_n. The number is relative, so that it says the same of problems of any size. The largest
push counts up to `MOST_PUSH` times what stops one block alone: where rows contradict each other pushes grow without end, and must not
make the failure look small.
"""

from __future__ import annotations

import math

from linkwright.numerics.contact.problem import FRICTION, ONE_SIDED, PLANAR, SPATIAL, Contacts

NOTHING = 1e-300  # stands for zero in divisions
NOT_FINITE = 1e300  # residual of such numbers
MOST_PUSH = 1e6  # times the push that stops one block alone
IMMOVABLE = 1e-12  # share of W's largest entry: below it a block is held by given motions


def speeds(c: Contacts) -> int:
    """u = W p + b."""
    for i in range(c.counts[1]):
        total = c.b[i]
        for j in range(c.counts[1]):
            total += c.W[i, j] * c.p[j]
        c.u[i] = total
    return 0


def steps(c: Contacts) -> int:
    """Lengths r of the natural map, one each block."""
    largest = 0.0
    for i in range(c.counts[1]):
        for j in range(c.counts[1]):
            largest = max(largest, abs(c.W[i, j]))
    if largest == 0.0:
        largest = 1.0
    for i in range(c.counts[0]):
        trace = 0.0
        for k in range(c.first[i], c.first[i + 1]):
            trace += c.W[k, k]
        c.step[i] = float(c.first[i + 1] - c.first[i]) / max(trace, IMMOVABLE * largest)
    return 0


def natural(c: Contacts) -> float:
    """The residual of c.p with c.u = W p + b and c.step at hand; NOT_FINITE where a number is not finite."""
    for i in range(c.counts[1]):
        if not abs(c.p[i] + c.u[i]) < math.inf:  # comparisons with NaN are false: max() would hide it
            return NOT_FINITE
    largest = 0.0
    alone = NOTHING
    worst = 0.0
    for i in range(c.counts[0]):
        k = c.first[i]
        r = c.step[i]
        largest = max(largest, abs(c.p[k]))
        alone = max(alone, r * abs(c.b[k]))
        worst = max(worst, failure(c, i, k, r))
    return worst / min(max(largest, alone), MOST_PUSH * alone)


def failure(c: Contacts, i: int, k: int, r: float) -> float:
    """Failure of block i, in units of p."""
    if c.kind[i] == FRICTION:
        x = c.p[k] - r * c.u[k]
        return abs(c.p[k] - min(max(x, -c.mu[i]), c.mu[i]))
    out = abs(c.p[k] - max(0.0, c.p[k] - r * c.u[k]))
    if c.kind[i] == ONE_SIDED:
        return out
    radius = c.mu[i] * max(c.p[k], 0.0)
    x = c.p[k + 1] - r * c.u[k + 1]
    y = 0.0
    if c.kind[i] == SPATIAL:
        y = c.p[k + 2] - r * c.u[k + 2]
    share = 1.0
    size = math.sqrt(x * x + y * y)
    if size > radius:
        share = radius / size
    out = max(out, abs(c.p[k + 1] - share * x))
    if c.kind[i] != PLANAR:
        out = max(out, abs(c.p[k + 2] - share * y))
    return out
