"""Alternating directions on the cones, with De Saxce's shift mu |z_t|, which makes their fixed points Coulomb's law itself.

    x = argmin of the quadratic, penalized to be near y;    y = x projected onto the cones;    z: their multipliers, the speeds

It is slow to the last digits and blind to bad conditioning: what Newton's method cannot find from a cold start (heavy on light) it finds
roughly, and Newton finishes. For a symmetric W only.
"""

from __future__ import annotations

import math

from linkwright.integrators.contact.problem import FRICTION, NOTHING, ONE_SIDED, SPATIAL, Contacts, natural, speeds
from linkwright.integrators.linear_solver import factor, solve

LOOKED = 10  # iterations between two looks at the residual and at the balance of both errors
BALANCE = 10.0  # of the relative errors, beyond which the penalty is doubled or halved
PROXIMAL = 1e-9  # of the largest eigenvalue of W
LEAST_PENALTY = 1e-3  # sqrt of the smallest eigenvalue that counts, over the largest


def admm(c: Contacts, most: int, tolerance: float) -> float:
    """Improve c.p; returns the residual."""
    n = len(c.p)
    top = 0.0
    for i in range(n):
        top += c.W[i, i]
    near = PROXIMAL * top
    penalty = LEAST_PENALTY * top
    speeds(c)
    for i in range(n):
        c.y[i] = c.p[i]
        c.trial_p[i] = c.p[i]  # x
        c.z[i] = c.u[i]
    made = factored(c, near + penalty)
    for iteration in range(1, most + 1):
        if not made:
            break
        shifted_right(c, near, penalty)
        solve(c.matrix, c.pivots, c.change)
        for i in range(n):
            c.trial_p[i] = c.change[i]
            c.before[i] = c.y[i]
        for i in range(len(c.mu)):
            project(c, i, penalty)
        primal = 0.0
        dual = 0.0
        size = NOTHING
        speed = NOTHING
        for i in range(n):
            c.z[i] -= penalty * (c.trial_p[i] - c.y[i])
            primal = max(primal, abs(c.trial_p[i] - c.y[i]))
            dual = max(dual, penalty * abs(c.y[i] - c.before[i]))
            size = max(size, abs(c.y[i]))
            speed = max(speed, abs(c.z[i]))
        if iteration % LOOKED == 0:
            for i in range(n):
                c.p[i] = c.y[i]
            speeds(c)
            if natural(c) < tolerance:
                break
            if primal / size > BALANCE * dual / speed:
                penalty *= 2.0
                made = factored(c, near + penalty)
            elif dual / speed > BALANCE * primal / size:
                penalty *= 0.5
                made = factored(c, near + penalty)
    for i in range(n):
        c.p[i] = c.y[i]
    speeds(c)
    return natural(c)


def factored(c: Contacts, added: float) -> bool:
    for i in range(len(c.p)):
        for j in range(len(c.p)):
            c.matrix[i, j] = c.W[i, j]
        c.matrix[i, i] += added
    return factor(c.matrix, c.pivots)


def shifted_right(c: Contacts, near: float, penalty: float) -> None:
    """Right side for x, with the shift of the normals."""
    for i in range(len(c.p)):
        c.change[i] = -c.b[i] + near * c.trial_p[i] + penalty * c.y[i] + c.z[i]
    for i in range(len(c.mu)):
        k = c.first[i]
        if c.first[i + 1] - k > 1:
            slip = c.z[k + 1] * c.z[k + 1]
            if c.kind[i] == SPATIAL:
                slip += c.z[k + 2] * c.z[k + 2]
            c.change[k] -= c.mu[i] * math.sqrt(slip)


def project(c: Contacts, i: int, penalty: float) -> None:
    """y of block i: x - z / penalty projected onto its cone."""
    k = c.first[i]
    a = c.trial_p[k] - c.z[k] / penalty
    if c.kind[i] == FRICTION:
        c.y[k] = min(max(a, -c.mu[i]), c.mu[i])
        return
    if c.kind[i] == ONE_SIDED:
        c.y[k] = max(0.0, a)
        return
    x = c.trial_p[k + 1] - c.z[k + 1] / penalty
    y = 0.0
    if c.kind[i] == SPATIAL:
        y = c.trial_p[k + 2] - c.z[k + 2] / penalty
    mu = c.mu[i]
    size = math.sqrt(x * x + y * y)
    share = 1.0
    if mu * size <= -a:
        a = 0.0
        share = 0.0
    elif size > mu * a:
        a = (a + mu * size) / (1.0 + mu * mu)
        share = mu * a / size
    c.y[k] = a
    c.y[k + 1] = share * x
    if c.kind[i] == SPATIAL:
        c.y[k + 2] = share * y