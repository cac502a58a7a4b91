"""Gauss-Seidel over the blocks, each of which gets its exact answer: what it would take if all others stayed as they are.

    plane    open, sticking, or one of two slips; no answer where W_nn -+ mu W_nt <= 0 and it cannot stick (Painleve)
    space    sticking, or the root alpha = |u_t| / |p_t| of |p_t| = mu p_n with (S + alpha) p_t = -c, where p_n is eliminated by u_n = 0

The function f(alpha) = |p_t| - mu p_n is positive at 0 outside of the cone and negative at infinity, so Newton's method in a bracket
finds its root. `own` holds the block's part of W (by rows of three), its speeds b without it, and the answer.

Sweeps find who touches, sticks and slips within a few rounds. Where blocks depend on each other they creep: heavy boxes on light ones are
not solved after ten thousand sweeps. Hence the ladder (`solver`).
"""

from __future__ import annotations

import math

from linkwright.integrators.contact.problem import FRICTION, NOTHING, ONE_SIDED, PLANAR, Contacts, natural, speeds

B, P = 9, 12  # places in `own`: free speeds, answer
SINGULAR = 1e-14  # determinant of a block, relative to the product of its diagonal
NO_SLIP = 1e-12  # share of W_nn below which slipping cannot hold a push
MOST_BRACKETINGS = 200
LOOKED = 8  # sweeps between two looks at the residual


def sweeps(c: Contacts, most: int, tolerance: float) -> float:
    """Sweep at most so many times; returns the residual."""
    speeds(c)
    for sweep in range(most):
        for i in range(len(c.mu)):
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
            for r in range(len(c.p)):
                c.u[r] += c.W[r, k + s] * change
            c.p[k + s] = c.own[P + s]
    return found


def one(c: Contacts, i: int) -> int:
    """Fill own[P:] with the answer of block i from own[:P]; 0 where no state of it fits."""
    c.own[P] = 0.0
    c.own[P + 1] = 0.0
    c.own[P + 2] = 0.0
    if not c.own[0] > 0.0:  # held by given motions: nothing that it could do
        return 0
    if c.kind[i] == ONE_SIDED:
        c.own[P] = max(0.0, -c.own[B] / c.own[0])
        return 1
    if c.kind[i] == FRICTION:
        c.own[P] = min(max(-c.own[B] / c.own[0], -c.mu[i]), c.mu[i])
        return 1
    if c.own[B] >= 0.0:
        return 1
    if c.kind[i] == PLANAR:
        return planar(c, c.mu[i])
    if not c.own[4] + c.own[8] > 0.0:  # its tangents are out of the problem: a push out of the depth
        c.own[P] = -c.own[B] / c.own[0]
        return 1
    return spatial(c, c.mu[i])


def planar(c: Contacts, mu: float) -> int:
    nn = c.own[0]
    nt = c.own[1]
    tn = c.own[3]
    tt = c.own[4]
    b0 = c.own[B]
    b1 = c.own[B + 1]
    det = nn * tt - nt * tn
    if det > SINGULAR * nn * tt:
        n = -(tt * b0 - nt * b1) / det
        t = -(nn * b1 - tn * b0) / det
        if n >= 0.0 and abs(t) <= mu * n:
            c.own[P] = n
            c.own[P + 1] = t
            return 1
    for k in range(2):
        s = 1.0 - 2.0 * float(k)
        held = nn + s * mu * nt
        if held > NO_SLIP * nn:
            push = -b0 / held
            if s * (b1 + (tn + s * mu * tt) * push) <= NO_SLIP * abs(b1):
                c.own[P] = push
                c.own[P + 1] = s * mu * push
                return 1
    c.own[P] = -b0 / nn  # no state fits: the push without friction, which the residual refuses
    return 0


def spatial(c: Contacts, mu: float) -> int:
    nn = c.own[0]
    b0 = c.own[B]
    s00 = c.own[4] - c.own[3] * c.own[1] / nn
    s01 = c.own[5] - c.own[3] * c.own[2] / nn
    s11 = c.own[8] - c.own[6] * c.own[2] / nn
    c0 = c.own[B + 1] - c.own[3] * b0 / nn
    c1 = c.own[B + 2] - c.own[6] * b0 / nn
    least = SINGULAR * (c.own[4] + c.own[8])
    low = 0.0
    high = -1.0
    alpha = 0.0
    x = 0.0
    y = 0.0
    n = 0.0
    size = 0.0
    for _ in range(MOST_BRACKETINGS):
        a0 = s00 + alpha + least
        a1 = s11 + alpha + least
        det = a0 * a1 - s01 * s01
        x = -(a1 * c0 - s01 * c1) / det
        y = -(a0 * c1 - s01 * c0) / det
        n = -(b0 + c.own[1] * x + c.own[2] * y) / nn
        size = math.sqrt(x * x + y * y)
        f = size - mu * n
        if alpha == 0.0 and f <= 0.0:  # it sticks
            break
        if abs(f) <= 1e-15 * (size + mu * abs(n)):
            break
        if f > 0.0:
            low = alpha
        else:
            high = alpha
        if high > 0.0 and high - low <= 1e-16 * high:
            break
        dx = -(a1 * x - s01 * y) / det
        dy = -(a0 * y - s01 * x) / det
        slope = (x * dx + y * dy) / max(size, NOTHING) + mu * (c.own[1] * dx + c.own[2] * dy) / nn
        following = -1.0
        if slope < 0.0:
            following = alpha - f / slope
        if following <= low or (high > 0.0 and following >= high):
            following = 0.5 * (low + high)
            if high <= 0.0:
                following = 2.0 * alpha + s00 + s11
        alpha = following
    n = max(n, 0.0)
    share = 1.0
    if size > mu * n:
        share = mu * n / max(size, NOTHING)
    c.own[P] = n
    c.own[P + 1] = share * x
    c.own[P + 2] = share * y
    return 1
