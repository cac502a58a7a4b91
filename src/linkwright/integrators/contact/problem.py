"""A contact problem in memory: blocks of rows, each of a kind, and the arrays that the loops work in.

    kind        rows          law
    ONE_SIDED   [n]           pushes or opens: 0 <= u  _|_  p >= 0          rigid stops, ropes, cams
    PLANAR      [n, t]        contact in a plane, Coulomb's friction mu
    SPATIAL     [n, t1, t2]   contact in space
    FRICTION    [t]           friction of a given bound: |p| <= mu, p = -mu sign(u) where it slips

A block whose part of W and b is zero is out of the problem, so one memory serves all steps of a run whatever touches. By how much p fails
the law is one number, the natural map, which is zero for answers and for nothing else:

    r = rows / trace(W_ii):    |p_n - max(0, p_n - r u_n)|,    |p_t - nearest(p_t - r u_t)|    over the largest push

`nearest` projects onto the disc of radius mu p_n. The number is relative, so that it says the same of problems of any size. The largest
push counts up to `MOST_PUSH` times what stops one block alone: where rows contradict each other pushes grow without end, and must not
make the failure look small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.compiler.record_loops import Loop
from linkwright.compiler.records import Count, Floats, Ints, Layout, Matrix, Record, SharedInts, sized

ONE_SIDED, PLANAR, SPATIAL, FRICTION = 0, 1, 2, 3
ROWS = (1, 2, 3, 1)  # of a block of each kind
NOTHING = 1e-300  # stands for zero in divisions
NOT_FINITE = 1e300  # residual of such numbers
MOST_PUSH = 1e6  # times the push that stops one block alone
IMMOVABLE = 1e-12  # share of W's largest entry: below it a block is held by given motions


class Contacts(Record):
    """Memory of one problem."""

    kind: SharedInts = sized("blocks")
    first: SharedInts = sized("edges")  # row of each block, and the number of rows at the end
    symmetric: Count  # 1: W is symmetric
    mu: Floats = sized("blocks")  # of FRICTION the bound itself
    W: Matrix = sized("rows", "rows")
    b: Floats = sized("rows")
    p: Floats = sized("rows")  # start and answer
    u: Floats = sized("rows")  # W p + b
    residual: float  # that was reached
    stage: Count  # of the ladder that solved it
    newton_steps: Count
    step: Floats = sized("blocks")  # of the natural map
    matrix: Matrix = sized("rows", "rows")  # of the linear systems
    pivots: Ints = sized("rows")
    shifted: Floats = sized("rows")  # right side of the proximal problem
    value: Floats = sized("rows")
    change: Floats = sized("rows")
    trial_p: Floats = sized("rows")
    trial_u: Floats = sized("rows")
    nearest: Floats = sized("rows")  # best answer so far
    held: Floats = sized("rows")  # where the sweeps ended
    start: Floats = sized("rows")  # of one step of Newton's method
    z: Floats = sized("rows")  # of ADMM: speeds
    y: Floats = sized("rows")  # of ADMM: impulses in the cones
    before: Floats = sized("rows")
    own: Floats = sized(15)  # of one block: its part of W (9), its free speeds (3), its answer (3)


def sizes(kinds: Sequence[int]) -> dict[str, int]:
    """Return the sizes of a problem with blocks of these kinds, for a layout that has one."""
    return {"blocks": len(kinds), "edges": len(kinds) + 1, "rows": sum(ROWS[k] for k in kinds)}


def loop_of(function: Any, kinds: Sequence[int]) -> Loop:
    """Return a loop on problems with blocks of these kinds."""
    loop = Loop(function, Layout(Contacts, sizes(kinds)))
    loop.fill("kind", kinds)
    loop.fill("first", np.cumsum([0, *(ROWS[k] for k in kinds)]))
    return loop


def speeds(c: Contacts) -> None:
    """u = W p + b."""
    for i in range(len(c.p)):
        total = c.b[i]
        for j in range(len(c.p)):
            total += c.W[i, j] * c.p[j]
        c.u[i] = total


def steps(c: Contacts) -> None:
    """Lengths r of the natural map, one each block."""
    largest = 0.0
    for i in range(len(c.p)):
        for j in range(len(c.p)):
            largest = max(largest, abs(c.W[i, j]))
    if largest == 0.0:
        largest = 1.0
    for i in range(len(c.mu)):
        trace = 0.0
        for k in range(c.first[i], c.first[i + 1]):
            trace += c.W[k, k]
        c.step[i] = float(c.first[i + 1] - c.first[i]) / max(trace, IMMOVABLE * largest)


def natural(c: Contacts) -> float:
    """The residual of c.p with c.u = W p + b and c.step at hand; NOT_FINITE where a number is not finite."""
    for i in range(len(c.p)):
        if not abs(c.p[i] + c.u[i]) < math.inf:  # comparisons with NaN are false: max() would hide it
            return NOT_FINITE
    largest = 0.0
    alone = NOTHING
    worst = 0.0
    for i in range(len(c.mu)):
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
