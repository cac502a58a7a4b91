"""Equations of the nine-point problem: four-bars whose coupler point passes nine points, in isotropic coordinates.

Points are delta_j = P_j - P_0, j = 1..8, and their conjugates, which for path tracking are independent complex numbers; so are the unknowns
x, y (moving pivots), a, b (ground pivots), all relative to P_0 in the first position, each with its conjugate. With the coupler turned by
1 + g, of conjugate 1 + h, a dyad gives A g + B h + C = 0. Cramer's rule for two dyads, put into (1 + g)(1 + h) = 1, leaves eight
equations in eight unknowns [Wampler1992]. Each linkage comes with its two Roberts-Chebyshev cognates and with its dyads exchanged: six
solutions are one class, and generic points have 1,442 classes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from linkwright.numerics.tracking import NewtonSolve

CLASSES = 1442
FILE = Path(__file__).with_name("nine_points.npz")  # made by `tools/make_nine_points.py`
UNKNOWNS = ("x", "x^", "a", "a^", "y", "y^", "b", "b^")


def dyad_rows(m: Any, m_: Any, c: Any, c_: Any, d: Any, d_: Any) -> tuple[Any, Any, Any]:
    """A, B, C of a dyad with moving pivot m and ground pivot c at the displacement d; names with _ are conjugates."""
    return m * (c_ - d_), m_ * (c - d), d * (c_ - m_) + d_ * (c - m) - d * d_


def equations(x: Any, p: Any) -> dict[str, Any]:
    """F of eight unknowns and sixteen parameters (delta, then their conjugates), over any scalar."""
    out = np.empty(8, dtype=object)
    for j in range(8):
        d, d_ = p[j], p[8 + j]
        A1, B1, C1 = dyad_rows(*x[:4], d, d_)
        A2, B2, C2 = dyad_rows(*x[4:], d, d_)
        D, N1, N2 = A1 * B2 - A2 * B1, B1 * C2 - B2 * C1, C1 * A2 - C2 * A1
        out[j] = (N1 + N2) * D + N1 * N2
    return {"F": out}


def newton(*, compiled: bool | None = None) -> NewtonSolve:
    """Return Newton step and slope of the equations, compiled where that is possible."""
    from linkwright.compiler.analytic import newton_kernel
    from linkwright.compiler.graph import trace

    return newton_kernel(lambda: trace(equations, x=8, p=16), ["nine points", 1], compiled=compiled)


def stored(path: Path = FILE) -> tuple[np.ndarray, np.ndarray]:
    """Return the shipped solutions (1442, 8) in double precision, and their parameters (16,)."""
    with np.load(path) as data:
        x, p = data["x"].astype(complex), data["p"]
    solve = newton()
    for _ in range(4):
        x = x + solve(x, np.broadcast_to(p, (len(x), 16)), np.broadcast_to(p, (len(x), 16)))[0]
    return x, p


def rotations(X: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 + g and its conjugate (N, 9): turns of the coupler at the nine points, 1 at the first."""
    d, d_ = p[:8], p[8:]
    columns = [X[:, i : i + 1] for i in range(8)]
    A1, B1, C1 = dyad_rows(*columns[:4], d, d_)
    A2, B2, C2 = dyad_rows(*columns[4:], d, d_)
    ones = np.ones((len(X), 1))
    D = A1 * B2 - A2 * B1
    return np.hstack([ones, 1.0 + (B1 * C2 - B2 * C1) / D]), np.hstack([ones, 1.0 + (C1 * A2 - C2 * A1) / D])


def third_pivot(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ground pivot that the two cognates share, and its conjugate."""
    x, x_, a, a_, y, y_, b, b_ = X.T
    return (a * y - b * x) / (y - x), (a_ * y_ - b_ * x_) / (y_ - x_)


def exchanged(X: np.ndarray) -> np.ndarray:
    """Return the solutions with their dyads exchanged."""
    return X[:, [4, 5, 6, 7, 0, 1, 2, 3]]


def cognate(X: np.ndarray) -> np.ndarray:
    """Return the Roberts-Chebyshev cognates that share the ground pivot a: of `exchanged(X)`, those that share b."""
    x, x_, a, a_, y, y_, _, _ = X.T
    c, c_ = third_pivot(X)
    return np.stack([a - x, a_ - x_, a, a_, (a - x) * y / (y - x), (a_ - x_) * y_ / (y_ - x_), c, c_], axis=1)


def class_key(X: np.ndarray) -> np.ndarray:
    """Return the symmetric functions of the three ground pivots: equal for the six solutions of a class."""
    a, a_, b, b_ = X[:, 2], X[:, 3], X[:, 6], X[:, 7]
    c, c_ = third_pivot(X)
    return np.stack([a + b + c, a * b + b * c + c * a, a * b * c, a_ + b_ + c_, a_ * b_ + b_ * c_ + c_ * a_, a_ * b_ * c_], axis=1)


def random_problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a random complex linkage (1, 8) and nine points (16,) that it passes."""
    X = rng.standard_normal(8) + 1j * rng.standard_normal(8)
    p = np.empty(16, dtype=complex)
    for j in range(8):
        while True:
            turn = np.exp(2j * np.pi * rng.random() + 0.3 * rng.standard_normal())
            d, d_ = _displacement(X, turn, int(rng.integers(2)))
            if 0.3 < max(abs(d), abs(d_)) < 5.0 and min(abs(d), abs(d_)) > 0.1:
                p[j], p[8 + j] = d, d_
                break
    return X[None], p


def _displacement(X: np.ndarray, turn: complex, root: int) -> tuple[complex, complex]:
    """Return the displacement of the coupler point, and its conjugate, when the coupler turns.

    (d + k)(d_ + k_) = s for both dyads, k = m turn - c and s = (m - c)(m_ - c_): their difference is linear.
    """
    rows = [(m * turn - c, m_ / turn - c_, (m - c) * (m_ - c_)) for m, m_, c, c_ in (X[:4], X[4:])]
    (k, k_, s), (l, l_, q) = rows
    # (k_ - l_) d + (k - l) d_ + k k_ - l l_ - s + q = 0
    slope, offset = -(k_ - l_) / (k - l), -(k * k_ - l * l_ - s + q) / (k - l)
    d = np.roots([slope, offset + k_ + k * slope, k * offset + k * k_ - s])[root]
    return complex(d), complex(slope * d + offset)
