"""Time stepping of the same law, for comparison: impulses and velocities at the end of a step, forces at its middle; of first order.

Written for tests, apart from everything that `simulate` does: no events, no states, no accelerations of contacts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

SWEEPS = 400


class Rub(NamedTuple):
    """Dry friction of a tree joint: |s| <= by_load |F| + constant; touches act on bodies beyond the joint, which carries their pushes."""

    by_load: float
    constant: float
    beyond: Sequence[int]


def march(
    system: Any,
    q: np.ndarray,
    v: np.ndarray,
    seconds: float,
    steps: int,
    mu: np.ndarray,
    rubs: Mapping[str, Rub] | None = None,
    efforts: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds after so many equal steps, without restitution. rubs: friction of joints, of which the model has none;
    efforts: constant ones, where no joint rubs."""
    if rubs:
        assert efforts is None
        return march_with_joints(system, q, v, seconds, steps, mu, rubs)
    kernels = {name: system.kernel(name) for name in ("derivatives", "projection", "contact_terms")}
    dt, constant = seconds / steps, np.zeros(len(v)) if efforts is None else efforts
    p = np.zeros(2 * len(mu))
    for _ in range(steps):
        half, _ = closed(kernels["projection"], q + 0.5 * dt * v, v)
        x = kernels["derivatives"](half, v, constant)
        free = v + dt * x.a
        rows, near = reached(kernels["contact_terms"], half, v, free, dt)
        if len(near):
            picked = np.ravel([[2 * i, 2 * i + 1] for i in near])
            J = rows.J[picked]
            b = J @ free
            b[0::2] += np.maximum(rows.g[near], 0.0) / (0.5 * dt)
            p[picked] = impulses(J @ x.a_tau @ J.T, b, mu[near], p[picked])
            free = free + x.a_tau @ (J.T @ p[picked])
        q, v = closed(kernels["projection"], half + 0.5 * dt * free, free)
    return q, v


def reached(terms: Any, half: np.ndarray, v: np.ndarray, free: np.ndarray, dt: float) -> tuple[Any, np.ndarray]:
    """Rows of all touches, and those that close within half a step."""
    rows = terms(half, v)
    return rows, np.flatnonzero(rows.g + 0.5 * dt * np.minimum(rows.J[0::2] @ free, rows.J[0::2] @ v) < 0.0)


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


def march_with_joints(
    system: Any, q: np.ndarray, v: np.ndarray, seconds: float, steps: int, mu: np.ndarray, rubs: Mapping[str, Rub]
) -> tuple[np.ndarray, np.ndarray]:
    """The same with impulses of friction in joints; the force of a joint is that of the kernel `reactions`, less what touches beyond it."""
    kernels = {name: system.kernel(name) for name in ("derivatives", "projection", "contact_terms", "reactions")}
    dt, none, n = seconds / steps, np.zeros(len(v)), len(mu)
    at = [system.names.v.index(name) for name in rubs]
    places = [kernels["reactions"].names["wrench"].index(name) for name in rubs]
    E, p = np.eye(len(v))[at], np.zeros(2 * n + len(rubs))
    for _ in range(steps):
        half, _ = closed(kernels["projection"], q + 0.5 * dt * v, v)
        x = kernels["derivatives"](half, v, none)
        free = v + dt * x.a
        rows, near = reached(kernels["contact_terms"], half, v, free, dt)
        picked = [2 * i + k for i in near for k in (0, 1)]
        J = np.concatenate([rows.J[picked], E])
        b = J @ free
        b[0 : 2 * len(near) : 2] += np.maximum(rows.g[near], 0.0) / (0.5 * dt)

        def forces(a: np.ndarray, lam: np.ndarray, speed: np.ndarray, half: np.ndarray = half) -> np.ndarray:
            wrench = kernels["reactions"](half, speed, a, lam).wrench
            return np.array([wrench[i][3:5] for i in places])

        calm = forces(none, 0.0 * x.lam, none)  # weight
        F, dF = dt * forces(x.a, x.lam, v), []
        for i, row in enumerate(J):
            change = forces(x.a_tau @ row, x.lam_tau @ row, none) - calm
            if i < len(picked):
                touch, way = divmod(picked[i], 2)
                normal = rows.normal[touch]
                push = normal if way == 0 else np.array([-normal[1], normal[0]])
                change -= np.array([push if touch in rub.beyond else 0.0 * push for rub in rubs.values()])
            dF.append(change)
        by_load, constant = (np.array([getattr(rub, part) for rub in rubs.values()]) for part in ("by_load", "constant"))
        law = by_load, dt * constant, F, np.array(dF)
        chosen = [*picked, *range(2 * n, 2 * n + len(rubs))]
        p[chosen] = impulses_with_joints(J @ x.a_tau @ J.T, b, mu[near], p[chosen], law)
        free = free + x.a_tau @ (J.T @ p[chosen])
        q, v = closed(kernels["projection"], half + 0.5 * dt * free, free)
    return q, v


def impulses_with_joints(W: np.ndarray, b: np.ndarray, mu: np.ndarray, p: np.ndarray, law: Any) -> np.ndarray:
    """Projected Gauss-Seidel; bounds of joints follow the impulses as they are."""
    p, (by_load, constant, F, dF), first = p.copy(), law, 2 * len(mu)
    for _ in range(SWEEPS):
        before = p.copy()
        for i in range(len(mu)):
            n, t = 2 * i, 2 * i + 1
            p[n] = max(0.0, p[n] - (W[n] @ p + b[n]) / W[n, n])
            p[t] = np.clip(p[t] - (W[t] @ p + b[t]) / W[t, t], -mu[i] * p[n], mu[i] * p[n])
        for i in range(len(by_load)):
            k, most = first + i, by_load[i] * np.linalg.norm(F[i] + p @ dF[:, i]) + constant[i]
            p[k] = np.clip(p[k] - (W[k] @ p + b[k]) / W[k, k], -most, most)
        if np.abs(p - before).max() < 1e-13 * (1e-12 + np.abs(p).max()):
            break
    return p
