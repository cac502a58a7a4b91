"""The control laws as [Aghili2005 VII] writes them, with numpy's pseudo-inverse: nothing here knows how the product solves them.

All in the weighted metric (48): f_W = S f, v = S v_W with S = 1 for angles and the characteristic length for lengths. Signs are the
house's: M a + h = f + J' lam, J a + k = 0.
"""

from __future__ import annotations

import numpy as np

from linkwright.api import compiled_of

RANK = 1e-9  # relative: singular values below count as zero


def pinv(A: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(A, rcond=RANK)


class Paper:
    """M, h, J, k of a state in the weighted metric, and the projector P on the motions the loops allow."""

    def __init__(self, s, st):
        self.S = np.array([1.0 if kind == "angle" else compiled_of(s).loops.kappa for kind in kinds(s)])
        self.M = self.S[:, None] * s.M(st) * self.S
        self.h = self.S * s.h(st)
        self.A, self.k = s.closure(st).J * self.S, s.closure(st).k
        self.one = np.eye(len(self.h))
        self.P = self.one - pinv(self.A) @ self.A

    def acceleration(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """u_p of (44): on the loops, and with rows a = wanted; the rate of Lambda is in it."""
        stacked = np.concatenate([self.A, rows * self.S])
        a = pinv(stacked) @ np.concatenate([-self.k, wanted])
        assert np.allclose(stacked @ a, np.concatenate([-self.k, wanted]), atol=1e-7 * (1.0 + np.abs(a).max()))
        return a

    def projected(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """(43): f_par = P (h + M u_p)."""
        return self.P @ (self.h + self.M @ self.acceleration(rows, wanted))

    def passive(self, rows: np.ndarray, wanted: np.ndarray, active: list[int]) -> np.ndarray:
        """(60) with (55)-(59): f = (1 + H) f_par, efforts in the active joints alone."""
        B = np.diag([1.0 if i in active else 0.0 for i in range(len(self.h))])
        Q = self.one - B - self.P + B @ self.P
        H = -(self.one - self.P) @ pinv(Q) @ (self.one - B)
        return (self.one + H) @ self.projected(rows, wanted)

    def hybrid(self, rows: np.ndarray, wanted: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """(52) with its erratum, C_c for C: f = h + mu C_c v + (1 + mu) P M u_p + u_F, u_F = -J' lam for wanted multipliers lam.

        (23): M_c = M + P M - M P; C_c v = M C v = -M A^+ k; mu = (1 - P) M M_c^-1 of (32).
        """
        mu = (self.one - self.P) @ self.M @ np.linalg.inv(self.M + self.P @ self.M - self.M @ self.P)
        C_c_v = -self.M @ pinv(self.A) @ self.k
        along = self.P @ self.M @ self.acceleration(rows, wanted)
        return self.h + mu @ C_c_v + (self.one + mu) @ along - self.A.T @ lam


def kinds(s) -> list[str]:
    """angle or length of every entry of v."""
    from linkwright.mechanics.kinematics.skeleton import velocity_kinds

    return list(velocity_kinds(compiled_of(s).loops.skel))
