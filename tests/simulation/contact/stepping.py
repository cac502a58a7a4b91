"""Time stepping of the same law, for comparison: impulses and velocities at the end of a step, forces at its middle; of first order.

Written for tests, apart from everything that `simulate` does: no events, no states, no accelerations of contacts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SWEEPS = 400


def march(system: Any, q: np.ndarray, v: np.ndarray, seconds: float, steps: int, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds after so many equal steps, without restitution."""
    kernels = {name: system.kernel(name) for name in ("derivatives", "projection", "contact_terms")}
    dt, none = seconds / steps, np.zeros(len(v))
    p = np.zeros(2 * len(mu))
    for _ in range(steps):
        half, _ = closed(kernels["projection"], q + 0.5 * dt * v, v)
        x = kernels["derivatives"](half, v, none)
        free = v + dt * x.a
        rows = kernels["contact_terms"](half, v)
        near = np.flatnonzero(rows.g + 0.5 * dt * np.minimum(rows.J[0::2] @ free, rows.J[0::2] @ v) < 0.0)
        if len(near):
            picked = np.ravel([[2 * i, 2 * i + 1] for i in near])
            J = rows.J[picked]
            b = J @ free
            b[0::2] += np.maximum(rows.g[near], 0.0) / (0.5 * dt)
            p[picked] = impulses(J @ x.a_tau @ J.T, b, mu[near], p[picked])
            free = free + x.a_tau @ (J.T @ p[picked])
        q, v = closed(kernels["projection"], half + 0.5 * dt * free, free)
    return q, v


def closed(project: Any, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The state on the loops."""
    for _ in range(3):
        x = project(q, v)
        q, v = x.q, x.v
    return q, v


def impulses(W: np.ndarray, b: np.ndarray, mu: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Projected Gauss-Seidel on normal and tangent in turn."""
    p = p.copy()
    for _ in range(SWEEPS):
        before = p.copy()
        for i in range(len(mu)):
            n, t = 2 * i, 2 * i + 1
            p[n] = max(0.0, p[n] - (W[n] @ p + b[n]) / W[n, n])
            p[t] = np.clip(p[t] - (W[t] @ p + b[t]) / W[t, t], -mu[i] * p[n], mu[i] * p[n])
        if np.abs(p - before).max() < 1e-13 * (1e-12 + np.abs(p).max()):
            break
    return p
