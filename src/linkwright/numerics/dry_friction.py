"""Efforts of dry friction that depends on the loads that it changes, in one state of sticking and slipping.

Rows have efforts p, rates u = W p + b and forces F_i = F0_i + sum_j F'_ij p_j. A row is of one kind:

    GIVEN     p_i = theta_i B_i,  B_i = c_i |F_i| + C_i         it slips (theta = -1 or 1), or turns round smoothly
    HELD      u_i = 0                                           it sticks, or an end of a stop holds it
    SHARED    p_i = theta_g d_i B_i  with one theta_g           rows that stick together: every one has the same share of its bound,
              sum of d_i u_i = 0                                signs d_i for the motion that they prevent

Newton's method; W may be singular beyond the rows that are held. Functions of the subset that `compiler.native_loops` makes native.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwright.numerics.contact.linear_solver import factor, solve

GIVEN, HELD, SHARED = 0, 1, 2
MOST_ROUNDS = 60
FROZEN_ROUNDS = 2  # with bounds of the round before: brings all rows to their side
SETTLED = 4e-16  # share of the largest effort that a round changes
ACCEPTED = 1e-11  # the same where rounds end: more has no answer
SAME = 1e-3  # of the change before: a round that gains less is the last, once the change is below ACCEPTED


class FrictionProblem(NamedTuple):
    """Memory of one problem: what is given, the answer, and working space."""

    counts: np.ndarray  # rows, groups, rounds of the last answer
    kind: np.ndarray  # of each row
    group: np.ndarray  # of each SHARED row
    theta: np.ndarray  # of GIVEN rows; signs of SHARED ones
    by_load: np.ndarray  # c
    constant: np.ndarray  # C
    W: np.ndarray
    b: np.ndarray
    F: np.ndarray  # (rows, 3)
    dF: np.ndarray  # (rows, 3 rows): by effort j in columns 3 j to 3 j + 2
    p: np.ndarray  # the answer
    share: np.ndarray  # theta of each group
    bound: np.ndarray  # B
    matrix: np.ndarray
    right: np.ndarray
    pivots: np.ndarray


def memory(n: int) -> FrictionProblem:
    """Return memory for n rows; all are GIVEN without effort."""
    words = [np.zeros(k, dtype=np.int64) for k in (3, n, n)]
    words[0][0] = n
    return FrictionProblem(
        *words, *(np.zeros(n) for _ in range(3)), np.zeros((n, n)), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3 * n)),
        *(np.zeros(n) for _ in range(3)), np.zeros((2 * n, 2 * n)), np.zeros(2 * n), np.zeros(2 * n, dtype=np.int64),
    )  # fmt: skip


def settle(m: FrictionProblem) -> int:
    """Find p, share and bound; 1 where they are found, 0 where there is no answer of this kind."""
    n, groups = m.counts[0], m.counts[1]
    for i in range(n):
        m.p[i] = 0.0
        m.share[i] = 0.0
    before = math.inf
    for k in range(MOST_ROUNDS):
        m.counts[2] = k + 1
        equations(m, k >= FROZEN_ROUNDS)
        if factor(m.matrix, m.pivots, n + groups) == 0:
            return 0
        solve(m.matrix, m.pivots, m.right, n + groups)
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
            return 0
        if change <= SETTLED * size or (change <= ACCEPTED * size and change > SAME * before and k > FROZEN_ROUNDS):
            bounds(m)
            return 1
        before = change
    return 0


def unit_of(m: FrictionProblem, i: int) -> float:
    """Square root of the rate that a unit effort makes: efforts of hinges and of sliders compare by it."""
    return math.sqrt(m.W[i, i]) if m.W[i, i] > 0.0 else 1.0


def bounds(m: FrictionProblem) -> int:
    """B at the present efforts."""
    for i in range(m.counts[0]):
        total = 0.0
        for axis in range(3):
            force = m.F[i, axis]
            for j in range(m.counts[0]):
                force += m.dF[i, 3 * j + axis] * m.p[j]
            total += force * force
        m.bound[i] = m.by_load[i] * math.sqrt(total) + m.constant[i]
    return 0


def equations(m: FrictionProblem, sharp: bool) -> int:
    """Matrix and right side of one round; not `sharp`: bounds stay as they are."""
    n, groups = m.counts[0], m.counts[1]
    bounds(m)
    for i in range(n + groups):
        m.right[i] = 0.0
        for j in range(n + groups):
            m.matrix[i, j] = 0.0
    for i in range(n):
        if m.kind[i] == HELD:
            unit = 1.0 / m.W[i, i] if m.W[i, i] > 0.0 else 1.0
            rate_row(m, i, i, unit)
            continue
        theta = m.theta[i]
        if m.kind[i] == SHARED:
            theta = m.theta[i] * m.share[m.group[i]]
            m.matrix[i, n + m.group[i]] = -m.theta[i] * m.bound[i]
            unit = m.theta[i] / unit_of(m, i)
            rate_row(m, i, n + m.group[i], unit)
        m.matrix[i, i] += 1.0
        m.right[i] = theta * m.bound[i] - m.p[i]
        if sharp and theta != 0.0 and m.by_load[i] > 0.0:
            slope_row(m, i, theta * m.by_load[i])
    return 0


def rate_row(m: FrictionProblem, i: int, row: int, unit: float) -> int:
    """Add u_i = 0 to an equation."""
    total = m.b[i]
    for j in range(m.counts[0]):
        m.matrix[row, j] += unit * m.W[i, j]
        total += m.W[i, j] * m.p[j]
    m.right[row] -= unit * total
    return 0


def slope_row(m: FrictionProblem, i: int, factor_: float) -> int:
    """Derivative of the size of F_i by all efforts, times a factor, taken off row i."""
    size = (m.bound[i] - m.constant[i]) / m.by_load[i]
    if not size > 0.0:
        return 0
    for axis in range(3):
        force = m.F[i, axis]
        for j in range(m.counts[0]):
            force += m.dF[i, 3 * j + axis] * m.p[j]
        for j in range(m.counts[0]):
            m.matrix[i, j] -= factor_ * force / size * m.dF[i, 3 * j + axis]
    return 0


def gain(m: FrictionProblem, rows: Sequence[int]) -> float:
    """Spectral radius of c |F'|: at 1 and above friction may lock what it acts on."""
    at = np.asarray(rows, dtype=int)
    P = np.array([[m.by_load[i] * np.linalg.norm(m.dF[i, 3 * j : 3 * j + 3]) for j in at] for i in at]).reshape(len(at), len(at))
    return float(np.abs(np.linalg.eigvals(P)).max(initial=0.0))
