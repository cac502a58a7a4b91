"""Singular values of small matrices by one-sided Jacobi rotations: a loop for scripts, which have no library for them."""

from __future__ import annotations

import math

from linkwright.compiler.records import Floats, Matrix

TURNED = 1e-15  # cosine of the angle between two rows below which they are orthogonal
MOST_SWEEPS = 60


def orthogonalized(a: Matrix, s: Floats) -> int:
    """Turn the rows of a matrix until they are orthogonal; their lengths are the singular values s. Return the number of sweeps."""
    rows, columns = a.shape[0], a.shape[1]
    sweeps, turned = 0, 1
    while turned > 0 and sweeps < MOST_SWEEPS:
        turned = 0
        sweeps += 1
        for i in range(rows):
            for j in range(i + 1, rows):
                x, y, z = 0.0, 0.0, 0.0
                for k in range(columns):
                    x += a[i, k] * a[i, k]
                    y += a[j, k] * a[j, k]
                    z += a[i, k] * a[j, k]
                if abs(z) > TURNED * math.sqrt(x * y):
                    turned += 1
                    d = (y - x) / (2.0 * z)
                    t = (1.0 if d >= 0.0 else -1.0) / (abs(d) + math.sqrt(1.0 + d * d))
                    c = 1.0 / math.sqrt(1.0 + t * t)
                    for k in range(columns):
                        p = a[i, k]
                        a[i, k] = c * p - c * t * a[j, k]
                        a[j, k] = c * t * p + c * a[j, k]
    for i in range(rows):
        size = 0.0
        for k in range(columns):
            size += a[i, k] * a[i, k]
        s[i] = math.sqrt(size)
    return sweeps
