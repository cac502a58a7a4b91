"""Motion of a delta with R-U-U legs by equations that are regular where its loops lose rank.

The platform only translates. With its attitude held constant every leg has three angles: theta of the arm and alpha of the forearm
about the leg's axis u, beta about the forearm's own axis w; the closing condition knee + forearm = platform has three rows a leg, which are
independent as long as the forearm does not lie along u. Bodies contribute by the rows of their velocities and their
acceleration at rest of the angles.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

ORIGIN = np.zeros(3)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As numpy.cross, which takes twenty times as long for two vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Delta:
    """`model` is the mapping of the YAML file: points a, k, p and bodies arm, fore of the legs 0, 1, 2; body plat."""

    def __init__(self, model: dict) -> None:
        self.points = {name: np.array(p, dtype=float) for name, p in model["drawing"].items()}
        self.bodies = {
            name: (b["mass"], np.array(b["com"], dtype=float), np.array(b["inertia"], dtype=float))
            for name, b in model["bodies"].items()
            if "mass" in b
        }
        axes = [np.array(model["joints"][f"K{i}"]["axes"], dtype=float) for i in range(3)]
        self.axes = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in axes]
        self.gravity = np.array(model["gravity"], dtype=float)

    def terms(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """M, h, J, k of the coordinates (theta, alpha, beta of each leg, platform displacement); phi is added by `gap`."""
        M, h, J, k, phi = np.zeros((12, 12)), np.zeros(12), np.zeros((9, 12)), np.zeros(9), np.zeros(9)
        mass, _, _ = self.bodies["plat"]
        M[9:, 9:] += mass * np.eye(3)
        h[9:] -= mass * self.gravity
        for i in range(3):
            span, (u, w) = slice(3 * i, 3 * i + 3), self.axes[i]
            (theta, alpha, beta), (dt, da, db) = x[span], v[span]
            a, knee, hand = (self.points[f"{n}{i}"] for n in "akp")
            R = turned(u, theta)
            arm = R @ (knee - a)
            S = turned(u, alpha) @ turned(w, beta)
            wn = turned(u, alpha) @ w
            spin, turning = da * u + db * wn, cross(da * u, db * wn)
            Jw = np.stack([ORIGIN, u, wn], axis=1)
            knee_rows = np.stack([cross(u, arm), ORIGIN, ORIGIN], axis=1)
            knee_bias = cross(dt * u, cross(dt * u, arm))

            def fore(r, knee_rows=knee_rows, knee_bias=knee_bias, u=u, wn=wn, spin=spin, turning=turning):
                rows = knee_rows + np.stack([ORIGIN, cross(u, r), cross(wn, r)], axis=1)
                return rows, knee_bias + cross(turning, r) + cross(spin, cross(spin, r))

            m, com, inertia = self.bodies[f"arm{i}"]
            r = R @ (com - a)
            rows = np.stack([cross(u, r), ORIGIN, ORIGIN], axis=1)
            along = np.stack([u, ORIGIN, ORIGIN], axis=1)
            self._add(M, h, span, m, rows, cross(dt * u, cross(dt * u, r)), along, ORIGIN, dt * u, R @ inertia @ R.T)
            m, com, inertia = self.bodies[f"fore{i}"]
            self._add(M, h, span, m, *fore(S @ (com - knee)), Jw, turning, spin, S @ inertia @ S.T)
            rows, bias = fore(S @ (hand - knee))
            J[span, span], J[span, 9:], k[span] = rows, -np.eye(3), bias
            phi[span] = a + arm + S @ (hand - knee) - hand - x[9:]
        return M, h, J, k, phi

    def _add(self, M, h, span, mass, rows, bias, Jw, turning, spin, inertia) -> None:
        M[span, span] += mass * rows.T @ rows + Jw.T @ inertia @ Jw
        h[span] += mass * rows.T @ (bias - self.gravity) + Jw.T @ (inertia @ turning + cross(spin, inertia @ spin))

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        M, h, J, k, _ = self.terms(y[:12], y[12:])
        S = np.block([[M, J.T], [J, np.zeros((9, 9))]])
        return np.concatenate([y[12:], np.linalg.solve(S, np.concatenate([-h, -k]))[:12]])

    def started(self, speeds: np.ndarray) -> np.ndarray:
        """State as drawn with these speeds of the three arms."""
        J = self.terms(np.zeros(12), np.zeros(12))[2]
        held = np.zeros((3, 12))
        held[range(3), (0, 3, 6)] = 1.0
        v = np.linalg.solve(np.concatenate([J, held]), np.concatenate([np.zeros(9), speeds]))
        return np.concatenate([np.zeros(12), v])

    def displacement(self, speeds: np.ndarray, seconds: float) -> np.ndarray:
        """Displacement of the platform."""
        done = solve_ivp(self.rates, (0.0, seconds), self.started(speeds), method="DOP853", rtol=1e-11, atol=1e-12)
        return done.y[9:12, -1]
