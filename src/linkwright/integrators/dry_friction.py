"""Efforts of dry friction that depends on the loads that it changes, in one state of sticking and slipping.

Rows have efforts p, rates u = W p + b and forces F_i = F0_i + sum_j F'_ij p_j. A row is of one kind:

    GIVEN     p_i = theta_i B_i,  B_i = c_i |F_i| + C_i         it slips (theta = -1 or 1), or turns round smoothly
    HELD      u_i = 0                                           it sticks, or an end of a stop or a touch holds it
    SHARED    p_i = theta_g d_i B_i  with one theta_g           rows that stick together: every one has the same share of its bound,
              sum of d_i u_i = 0                                signs d_i for the motion that they prevent

Newton's method; W may be singular. A HELD row that depends on HELD rows before it is loose: it moves anyway as they do and gets no share.
Loops on records.
"""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Ints, Matrix, Record, Shared, SharedInts, sized
from linkwright.integrators.linear_solver import factor, solve
from linkwright.numerics.tolerances import DEPENDENT

GIVEN, HELD, SHARED = 0, 1, 2
MOST_ROUNDS = 60
FROZEN_ROUNDS = 2  # with bounds of the round before: brings all rows to their side
SETTLED = 4e-16  # share of the largest effort that a round changes
ACCEPTED = 1e-11  # the same where rounds end: more has no answer
SAME = 1e-3  # of the change before: a round that gains less is the last, once the change is below ACCEPTED


class FrictionProblem(Record):
    """Memory of one problem: what is given, the answer, and working space. Without rows it takes none."""

    kind: SharedInts = sized("n_friction")
    group: SharedInts = sized("n_friction")  # of each SHARED row
    by_load: Shared = sized("n_friction")  # c
    constant: Shared = sized("n_friction")  # C
    theta: Floats = sized("n_friction")  # of GIVEN rows; signs of SHARED ones
    loose: Ints = sized("n_friction")
    W: Matrix = sized("n_friction", "n_friction")
    b: Floats = sized("n_friction")
    F: Matrix = sized("n_friction", 3)
    dF: Matrix = sized("n_friction", "n_loads")  # by effort j in columns 3 j to 3 j + 2
    p: Floats = sized("n_friction")  # the answer
    bound: Floats = sized("n_friction")  # B
    share: Floats = sized("n_groups")  # theta of each group
    matrix: Matrix = sized("n_unknown", "n_unknown")
    right: Floats = sized("n_unknown")
    pivots: Ints = sized("n_unknown")


def sizes(n: int, groups: int) -> dict[str, int]:
    """Return the sizes of a problem of n rows, for a layout that has one."""
    return {"n_friction": n, "n_loads": 3 * n, "n_groups": groups, "n_unknown": n + groups}


def settle_friction(m: FrictionProblem) -> bool:
    """Find p, share and bound; False where there is no answer of this kind."""
    n, groups = len(m.p), len(m.share)
    loosen(m)
    for i in range(n):
        m.p[i] = 0.0
    for g in range(groups):
        m.share[g] = 0.0
    before = math.inf
    for k in range(MOST_ROUNDS):
        friction_equations(m, k >= FROZEN_ROUNDS)
        if not factor(m.matrix, m.pivots):
            return False
        solve(m.matrix, m.pivots, m.right)
        change = 0.0
        size = 0.0
        for i in range(n):
            m.p[i] += m.right[i]
            unit = unit_of(m, i)
            change = max(change, abs(m.right[i]) * unit)
            size = max(size, abs(m.p[i]) * unit)
        for g in range(groups):
            m.share[g] += m.right[n + g]
        if not change < math.inf:
            return False
        if change <= SETTLED * size or (change <= ACCEPTED * size and change > SAME * before and k > FROZEN_ROUNDS):
            friction_bounds(m)
            return True
        before = change
    return False


def loosen(m: FrictionProblem) -> None:
    """Find the loose rows by elimination on the diagonal of what holds."""
    n = len(m.p)
    for i in range(n):
        m.loose[i] = 0
        for j in range(n):
            m.matrix[i, j] = m.W[i, j]
    for k in range(n):
        if m.kind[k] != HELD:
            continue
        pivot = m.matrix[k, k]
        if not abs(pivot) > DEPENDENT * abs(m.W[k, k]):
            m.loose[k] = 1
            continue
        for i in range(k + 1, n):
            if m.kind[i] == HELD:
                share = m.matrix[i, k] / pivot
                for j in range(k, n):
                    m.matrix[i, j] -= share * m.matrix[k, j]


def unit_of(m: FrictionProblem, i: int) -> float:
    """Square root of the rate that a unit effort makes: efforts of hinges and of sliders compare by it."""
    return math.sqrt(m.W[i, i]) if m.W[i, i] > 0.0 else 1.0


def friction_bounds(m: FrictionProblem) -> None:
    """B at the present efforts."""
    for i in range(len(m.p)):
        total = 0.0
        for axis in range(3):
            force = m.F[i, axis]
            for j in range(len(m.p)):
                force += m.dF[i, 3 * j + axis] * m.p[j]
            total += force * force
        m.bound[i] = m.by_load[i] * math.sqrt(total) + m.constant[i]


def friction_equations(m: FrictionProblem, sharp: bool) -> None:
    """Matrix and right side of one round; not `sharp`: bounds stay as they are."""
    n, groups = len(m.p), len(m.share)
    friction_bounds(m)
    for i in range(n + groups):
        m.right[i] = 0.0
        for j in range(n + groups):
            m.matrix[i, j] = 0.0
    for i in range(n):
        if m.kind[i] == HELD and m.loose[i] == 0:
            unit = 1.0 / m.W[i, i] if m.W[i, i] > 0.0 else 1.0
            rate_row(m, i, i, unit)
            continue
        theta = m.theta[i]
        if m.kind[i] == SHARED:
            theta = m.theta[i] * m.share[m.group[i]]
            m.matrix[i, n + m.group[i]] = -m.theta[i] * m.bound[i]
            unit = m.theta[i] / unit_of(m, i)
            rate_row(m, i, n + m.group[i], unit)
        if m.kind[i] == HELD:
            theta = 0.0
        m.matrix[i, i] += 1.0
        m.right[i] = theta * m.bound[i] - m.p[i]
        if sharp and theta != 0.0 and m.by_load[i] > 0.0:
            slope_row(m, i, theta * m.by_load[i])


def rate_row(m: FrictionProblem, i: int, row: int, unit: float) -> None:
    """Add u_i = 0 to an equation."""
    total = m.b[i]
    for j in range(len(m.p)):
        m.matrix[row, j] += unit * m.W[i, j]
        total += m.W[i, j] * m.p[j]
    m.right[row] -= unit * total


def slope_row(m: FrictionProblem, i: int, part: float) -> None:
    """Derivative of the size of F_i by all efforts, times a factor, taken off row i."""
    size = (m.bound[i] - m.constant[i]) / m.by_load[i]
    if size > 0.0:
        for axis in range(3):
            force = m.F[i, axis]
            for j in range(len(m.p)):
                force += m.dF[i, 3 * j + axis] * m.p[j]
            for j in range(len(m.p)):
                m.matrix[i, j] -= part * force / size * m.dF[i, 3 * j + axis]
