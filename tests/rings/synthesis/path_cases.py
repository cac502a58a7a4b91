"""Known linkages and independent computations for the tests of synthesis: closures in real arithmetic, a tracer in configuration space."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwright as lw

VERTICAL = [(20, 20), (20, 25), (20, 30), (20, 35), (20, 40), (20, 45)]
FIVE_TIMED = [(3, 3), (2.759, 3.363), (2.372, 3.663), (1.89, 3.862), (1.355, 3.943)]
EIGHTEEN = [
    (0.5, 1.1), (0.4, 1.1), (0.3, 1.1), (0.2, 1.0), (0.1, 0.9), (0.05, 0.75), (0.02, 0.6), (0, 0.5), (0, 0.4), (0.03, 0.3), (0.1, 0.25),
    (0.15, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.7), (0.6, 0.9), (0.6, 1.0),
]  # fmt: skip


def coupler_point(r: Any, u: Any, place: Any, th0: Any, theta: Any, sigma: float) -> tuple[Any, Any]:
    """Coupler point of a four-bar r = (ground, crank, coupler, rocker) by real functions that continue to complex numbers."""
    r1, r2, r3, r4 = r
    bx, by = r2 * np.cos(theta), r2 * np.sin(theta)
    dx, dy = r1 - bx, -by
    square = dx * dx + dy * dy
    share = (r3 * r3 - r4 * r4 + square) / (2.0 * square)
    height = sigma * np.sqrt(r3 * r3 / square - share * share)
    cx, cy = (share * dx - height * dy) / r3, (share * dy + height * dx) / r3  # direction of the coupler
    x, y = bx + u[0] * cx - u[1] * cy, by + u[0] * cy + u[1] * cx
    return place[0] + np.cos(th0) * x - np.sin(th0) * y, place[1] + np.sin(th0) * x + np.cos(th0) * y


def slider_point(r: Any, u: Any, place: Any, th0: Any, theta: Any, sigma: float) -> tuple[Any, Any]:
    """The same of a slider-crank r = (crank, coupler, offset)."""
    r2, r3, offset = r
    sine = (offset - r2 * np.sin(theta)) / r3
    cosine = sigma * np.sqrt(1.0 - sine * sine)
    x, y = r2 * np.cos(theta) + u[0] * cosine - u[1] * sine, r2 * np.sin(theta) + u[0] * sine + u[1] * cosine
    return place[0] + np.cos(th0) * x - np.sin(th0) * y, place[1] + np.sin(th0) * x + np.cos(th0) * y


def engine_path(document: dict[str, Any], steps: int = 360) -> np.ndarray:
    """Path of the coupler point over a cycle, by the engine, complex."""
    at = lw.load(document).cycle(steps=steps)["coupler.P"]
    return at[:, 0] + 1j * at[:, 1]


def missed_in_the_engine(answer: Any) -> np.ndarray:
    """Distances of the wanted points from the path that the engine computes, at the crank angles of the answer.

    The cycle starts at the drawn position; between samples of 0.25 deg the path is interpolated by cubics, good to 1e-9 of its size.
    """
    from scipy.interpolate import CubicSpline

    steps = 1440
    path = engine_path(answer.document, steps)
    spline = CubicSpline(np.arange(steps + 1), path[: steps + 1])
    at = np.mod(np.abs(np.array(answer.at)) / (2.0 * np.pi), 1.0) * steps
    return np.abs(spline(at) - np.array(answer.wanted))


def configuration_trace(a: complex, b: complex, c: complex, d: complex, p: complex, step: float = 0.005) -> tuple[np.ndarray, np.ndarray]:
    """Coupler points and crank angles of the circuit through a drawn four-bar, by continuation in (crank, coupler, rocker) angles."""
    lengths = np.array([abs(b - a), abs(c - b), abs(c - d)])
    q = np.array([np.angle(b - a), np.angle(c - b), np.angle(c - d)])
    apart = d - a

    def loop(q: np.ndarray) -> np.ndarray:
        z = lengths[0] * np.exp(1j * q[0]) + lengths[1] * np.exp(1j * q[1]) - lengths[2] * np.exp(1j * q[2]) - apart
        return np.array([z.real, z.imag])

    def jacobian(q: np.ndarray) -> np.ndarray:
        z = 1j * lengths * np.exp(1j * q) * np.array([1.0, 1.0, -1.0])
        return np.array([z.real, z.imag])

    start, before, out = q.copy(), None, [q.copy()]
    for k in range(20_000):
        J = jacobian(q)
        tangent = np.cross(J[0], J[1])
        tangent /= np.linalg.norm(tangent)
        tangent *= 1.0 if before is None or tangent @ before > 0.0 else -1.0
        q, before = q + step * tangent, tangent
        for _ in range(3):
            J = jacobian(q)
            q = q - J.T @ np.linalg.solve(J @ J.T, loop(q))
        out.append(q.copy())
        if k > 20 and np.abs(np.exp(1j * q) - np.exp(1j * start)).max() < 0.9 * step:
            break
    q = np.array(out)
    u = (p - b) / (c - b)
    return a + lengths[0] * np.exp(1j * q[:, 0]) + u * lengths[1] * np.exp(1j * q[:, 1]), q[:, 0]
