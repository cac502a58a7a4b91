"""Aghili's simulation of the slider-crank as published: Runge-Kutta 4, (25) with M_c'', and the correction (37) of positions.

Written out for this one mechanism (l = m = 1, two angles, one constraint) in plain numbers, so that many runs cost little. A
singular value below an absolute tolerance counts as zero; a relative one would never do so with a single row.
"""

from __future__ import annotations

from math import cos, inf, pi, sin

TOLERANCE = 1e-12
State = tuple[float, float, float, float]  # q1, q2, and their rates


def _row(q1: float, q2: float) -> tuple[float, float, float]:
    """A of (67), and its square."""
    a = cos(q1) + cos(q1 + q2), cos(q1 + q2)
    return *a, a[0] ** 2 + a[1] ** 2


def rates(x: State, g: float, torque: float) -> State:
    """(25) with M_c'' of (29), gamma = 1."""
    q1, q2, w1, w2 = x
    c2, s2, c12 = cos(q2), sin(q2), cos(q1 + q2)
    f1 = torque + s2 * (w2 * w2 + 2.0 * w1 * w2) - g * (c12 + 2.0 * cos(q1))
    f2 = -s2 * w1 * w1 - g * c12
    m11, m12, m22 = 3.0 + 2.0 * c2, 1.0 + c2, 1.0
    A1, A2, square = _row(q1, q2)
    if square > TOLERANCE**2:
        n11, n12, n22 = A1 * A1 / square, A1 * A2 / square, A2 * A2 / square  # 1 - P
        w12, s12 = w1 + w2, sin(q1 + q2)
        normal = (sin(q1) * w1 * w1 + s12 * w12 * w12) / square  # of A^+ (-dA/dt q')
        p11, p12, p22 = 1.0 - n11, -n12, 1.0 - n22
        f1, f2 = p11 * f1 + p12 * f2 + A1 * normal, p12 * f1 + p22 * f2 + A2 * normal
        first = p11 * m11 + p12 * m12 + n11, p11 * m12 + p12 * m22 + n12
        second = p12 * m11 + p22 * m12 + n12, p12 * m12 + p22 * m22 + n22
    else:
        first, second = (m11, m12), (m12, m22)
    (m11, m12), (m21, m22) = first, second
    det = m11 * m22 - m12 * m21
    return w1, w2, (m22 * f1 - m12 * f2) / det, (m11 * f2 - m21 * f1) / det


def _step(x: State, dt: float, g: float, torque: float) -> State:
    def ahead(k: State, h: float) -> State:
        return x[0] + h * k[0], x[1] + h * k[1], x[2] + h * k[2], x[3] + h * k[3]

    k1 = rates(x, g, torque)
    k2 = rates(ahead(k1, 0.5 * dt), g, torque)
    k3 = rates(ahead(k2, 0.5 * dt), g, torque)
    k4 = rates(ahead(k3, dt), g, torque)
    mean = [(a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
    return ahead((mean[0], mean[1], mean[2], mean[3]), dt)


def _corrected(x: State, velocities: bool) -> State:
    """(37), one iteration after every step; and if asked for the same of velocities, which the paper leaves alone."""
    q1, q2, w1, w2 = x
    A1, A2, square = _row(q1, q2)
    if square > TOLERANCE**2:
        gap = (sin(q1) + sin(q1 + q2)) / square
        q1, q2 = q1 - A1 * gap, q2 - A2 * gap
    A1, A2, square = _row(q1, q2)
    if velocities and square > TOLERANCE**2:
        gap = (A1 * w1 + A2 * w2) / square
        w1, w2 = w1 - A1 * gap, w2 - A2 * gap
    return q1, q2, w1, w2


def end(steps: int, g: float, *, velocities: bool, duration: float = 5.0, torque: float = 1.0) -> float:
    """q1 after `duration`, from rest at 2 pi/3; infinite for a run that bursts."""
    x: State = (2.0 * pi / 3.0, 2.0 * pi / 3.0, 0.0, 0.0)
    for _ in range(steps):
        x = _corrected(_step(x, duration / steps, g, torque), velocities)
        if not abs(x[2]) + abs(x[3]) < 1e4:
            return inf
    return x[0]
