"""Semi-smooth Newton on the natural map of Alart and Curnier, made proximal.

    F(p) = p - nearest(p - rho u),   u = (W + eps) p + b - eps p_before

Contacts that depend on each other (four feet of a table) make W singular. The shift eps = 1e-7 of its largest entry makes every system
regular, and vanishes from step to step because it acts on the change of p alone; no pseudo-inverse is needed. The line search judges the
shifted problem, acceptance the problem itself.
"""

from __future__ import annotations

import math

from linkwright.integrators.contact.problem import FRICTION, NOTHING, ONE_SIDED, PLANAR, SPATIAL, Contacts, natural, speeds
from linkwright.integrators.linear_solver import factor, solve

SHIFT = 1e-7  # of the largest diagonal entry of W. Of problems with dependent blocks 1e-6 to 1e-8 solve most in the first stage
MOST_SHIFTS, MOST_STEPS, MOST_HALVINGS = 6, 12, 12
DECREASE = 0.02  # least share of the promised decrease
LAST_MAP = 0.01  # a step is the last where the map is below this share of the tolerance


def newton(c: Contacts, tolerance: float) -> float:
    """Improve c.p; returns the residual of the problem itself."""
    n = len(c.p)
    largest = 0.0
    for i in range(n):
        largest = max(largest, c.W[i, i])
    shift = SHIFT * largest
    reached = math.inf
    for _ in range(MOST_SHIFTS):
        for i in range(n):
            c.shifted[i] = c.b[i] - shift * c.p[i]
        proximal(c, shift, tolerance)
        speeds(c)
        reached = natural(c)
        if not reached >= tolerance or not reached < math.inf:
            return reached
    return reached


def proximal(c: Contacts, shift: float, tolerance: float) -> int:
    """Newton's steps on the shifted problem."""
    n = len(c.p)
    shifted_speeds(c, shift)
    error = mapped(c)
    for _ in range(MOST_STEPS):
        size = NOTHING
        for i in range(n):
            size = max(size, abs(c.p[i]))
        if math.sqrt(error) <= LAST_MAP * tolerance * size:
            return 1
        c.newton_steps += 1
        for i in range(len(c.mu)):
            slopes(c, i, shift)
        if not factor(c.matrix, c.pivots):
            return 0
        for i in range(n):
            c.change[i] = -c.value[i]
        solve(c.matrix, c.pivots, c.change)
        for i in range(n):
            c.start[i] = c.p[i]
            total = shift * c.change[i]
            for j in range(n):
                total += c.W[i, j] * c.change[j]
            c.before[i] = total  # change of u
            c.trial_u[i] = c.u[i]
        length = 1.0
        found = False
        for _halving in range(MOST_HALVINGS):
            for i in range(n):
                c.p[i] = c.start[i] + length * c.change[i]
                c.u[i] = c.trial_u[i] + length * c.before[i]
            trial = mapped(c)
            if trial <= (1.0 - DECREASE * length) * error or trial < 1e-30 * size * size:
                error = trial
                found = True
                break
            length *= 0.5
        if not found:
            return 0
    return 0


def shifted_speeds(c: Contacts, shift: float) -> None:
    for i in range(len(c.p)):
        total = c.shifted[i] + shift * c.p[i]
        for j in range(len(c.p)):
            total += c.W[i, j] * c.p[j]
        c.u[i] = total


def mapped(c: Contacts) -> float:
    """Fill c.value with the map at c.p and c.u; returns its sum of squares."""
    total = 0.0
    for i in range(len(c.mu)):
        k = c.first[i]
        r = c.step[i]
        push = c.p[k] - r * c.u[k]
        if c.kind[i] == FRICTION:
            c.value[k] = c.p[k] - min(max(push, -c.mu[i]), c.mu[i])
            total += c.value[k] * c.value[k]
            continue
        c.value[k] = c.p[k] - max(0.0, push)
        total += c.value[k] * c.value[k]
        if c.kind[i] == ONE_SIDED:
            continue
        radius = c.mu[i] * max(0.0, push)
        x = c.p[k + 1] - r * c.u[k + 1]
        y = 0.0
        if c.kind[i] == SPATIAL:
            y = c.p[k + 2] - r * c.u[k + 2]
        size = math.sqrt(x * x + y * y)
        share = 1.0
        if size > radius:
            share = radius / size
        c.value[k + 1] = c.p[k + 1] - share * x
        total += c.value[k + 1] * c.value[k + 1]
        if c.kind[i] == SPATIAL:
            c.value[k + 2] = c.p[k + 2] - share * y
            total += c.value[k + 2] * c.value[k + 2]
    return total


def identity_row(c: Contacts, k: int) -> int:
    for j in range(len(c.p)):
        c.matrix[k, j] = 0.0
    c.matrix[k, k] = 1.0
    return 0


def speed_row(c: Contacts, k: int, r: float, shift: float) -> int:
    """The row of a component whose speed has to be zero."""
    for j in range(len(c.p)):
        c.matrix[k, j] = r * c.W[k, j]
    c.matrix[k, k] += r * shift
    return 0


def slopes(c: Contacts, i: int, shift: float) -> int:
    """Rows of block i of the map's generalized derivative by p."""
    k = c.first[i]
    r = c.step[i]
    push = c.p[k] - r * c.u[k]
    if c.kind[i] == FRICTION:
        if abs(push) > c.mu[i]:
            return identity_row(c, k)
        return speed_row(c, k, r, shift)
    if push <= 0.0:
        for row in range(c.first[i], c.first[i + 1]):
            identity_row(c, row)
        return 0
    speed_row(c, k, r, shift)
    if c.kind[i] == ONE_SIDED:
        return 0
    radius = c.mu[i] * push
    x = c.p[k + 1] - r * c.u[k + 1]
    y = 0.0
    if c.kind[i] == SPATIAL:
        y = c.p[k + 2] - r * c.u[k + 2]
    size = math.sqrt(x * x + y * y)
    if size <= radius:
        for row in range(k + 1, c.first[i + 1]):
            speed_row(c, row, r, shift)
        return 0
    if c.kind[i] == PLANAR:
        return slip_row(c, i, k, r, shift, x / size, 0.0, radius / size, 1)
    slip_row(c, i, k, r, shift, x / size, y / size, radius / size, 1)
    return slip_row(c, i, k, r, shift, x / size, y / size, radius / size, 2)


def slip_row(c: Contacts, i: int, k: int, r: float, shift: float, x: float, y: float, share: float, which: int) -> int:
    """Derivative of p_t - mu max(0, p_n - r u_n) e in a direction: e moves with the slip, its length with the push."""
    spatial = c.kind[i] == SPATIAL
    e = x
    if which == 2:
        e = y
    for j in range(len(c.p)):
        d_push = -r * c.W[k, j]
        if j == k:
            d_push += 1.0 - r * shift
        value = -c.mu[i] * e * d_push
        if spatial:
            dx = -r * c.W[k + 1, j]
            dy = -r * c.W[k + 2, j]
            if j == k + 1:
                dx += 1.0 - r * shift
            if j == k + 2:
                dy += 1.0 - r * shift
            along = x * dx + y * dy
            own = dx
            if which == 2:
                own = dy
            value -= share * (own - e * along)
        if j == k + which:
            value += 1.0
        c.matrix[k + which, j] = value
    return 0
