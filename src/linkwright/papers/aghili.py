"""Aghili: direct dynamics by a projection operator, on a particle, a slider-crank through its singular positions, and bare matrices.

Fig. 4 cannot be read from the text and says neither gravity nor the initial speed; both readings are compared with the one
equation (3 - 2 cos 2 q1) q1'' + 2 sin(2 q1) q1'^2 + g cos q1 = f1 that the mechanism reduces to, integrated in many digits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwright.formulations.projection import constraint_inertia, decoupled, projector
from linkwright.forward import forward
from linkwright.linalg import factor
from linkwright.mechanism import load
from linkwright.papers import Item, aghili_control, compared
from linkwright.terms import of_matrices

# q1 at 0.5, 1, 2, 3 s, let go at rest at 2 pi / 3 and pushed by 1 N m at the crank; g = 0 and 9.81
SLIDER_CRANK = {
    0.0: (2.1259358834062110, 2.2245225450038393, 2.7287860493941545, 3.9803346332305266),
    9.81: (2.3005134238521001, 3.5808879992824195, 7.0112360170413824, 8.5804716674072725),
}


def _circle(angle: float) -> tuple[Any, np.ndarray, np.ndarray]:
    """A particle of 2 kg on a circle of 0.7 m at 1.3 m/s under a force: terms, force and tangent."""
    n, tangent = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    return of_matrices(2.0 * np.eye(2), np.zeros(2), n[None, :], np.array([1.3**2 / 0.7])), np.array([1.0, -2.0]), tangent


def particle() -> Item:
    worst = 0.0
    for angle in (0.3, 2.0, 4.4):
        terms, push, tangent = _circle(angle)
        n = np.array([tangent[1], -tangent[0]])
        out = forward(terms, push, "projection")
        worst = max(worst, float(np.abs(out.a - (tangent * (tangent @ push) / 2.0 - n * 1.3**2 / 0.7)).max()))
        worst = max(worst, float(np.abs(out.force + n * (n @ push + 2.0 * 1.3**2 / 0.7)).max()))
    return compared(
        "(33)-(35)",
        "particle on a circle: acceleration and constraint force",
        "closed forms",
        "three positions",
        worst,
        1e-12,
    )


def slider_crank() -> Item:
    worst, ends = 0.0, []
    for g, angles in SLIDER_CRANK.items():
        run = _thrown(g)
        worst = max(worst, *(abs(run["A"][i] - x) for i, x in enumerate(angles)))
        ends.append(f"{run['A'][-1]:.6f}")
    return compared(
        "Fig. 4",
        "slider-crank through its singular positions: crank angle up to 3 s",
        "curves",
        f"{' and '.join(ends)} rad after 3 s, without and with gravity",
        worst,
        1e-7,
        "the one equation of motion in many digits",
        "(37) corrects positions only: with gravity it leaves the branch in 16 of 17 step sizes; velocities must be projected too",
    )


def inertia_variants() -> Item:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(5, 5))
    M, J, push, k = A @ A.T + 0.1 * np.eye(5), rng.normal(size=(2, 5)), rng.normal(size=5), rng.normal(size=2)
    f = factor(J)
    P = projector(f.Vt, f.rank)
    exact = forward(of_matrices(M, np.zeros(5), J, k), push, "kkt").a
    worst = 0.0
    for kind in ("skew", "symmetric", "scaled"):
        # M_c a = P f + C_c qdot with -J a = k: the three matrices differ only off the null space
        normal = -np.linalg.pinv(J) @ k
        tangential = np.linalg.solve(constraint_inertia(M, P, kind), P @ (push - M @ normal))
        worst = max(worst, float(np.abs(P @ tangential + normal - exact).max()))
    return compared(
        "(22)-(25), Props. 1, 2",
        "three constraint inertia matrices",
        "the same motion",
        "random problem, 5 coordinates, 2 constraints",
        worst,
        1e-10,
        "kkt",
    )


def decoupling() -> Item:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    M, J = A @ A.T + np.eye(4), rng.normal(size=(2, 4))
    f = factor(J)
    P = projector(f.Vt, f.rank)
    blockwise = P @ M @ P + (np.eye(4) - P) @ M @ (np.eye(4) - P)
    force = forward(of_matrices(blockwise, np.zeros(4), J, np.zeros(2)), P @ rng.normal(size=4), "projection").force
    off = float(np.abs(force).max()) if decoupled(blockwise, P) and not decoupled(M, P) else math.inf
    return compared(
        "Prop. 3",
        "decoupling: constraint forces do not feel the input where the null space is invariant under M",
        "zero",
        f"{off:.1e}",
        off,
        1e-12,
        why="and only there: for a general M it does not hold",
    )


def _thrown(g: float) -> Any:
    """Fig. 4's start, 1 N m at the crank."""
    from linkwright import drives

    m = load("slider-crank", g=g)
    s = m.system
    st = s.assemble(q={"A": 2.0 * math.pi / 3.0}, v={"A": 0.0})
    return s.simulate(st, 3.0, drive={"A": drives.torque(1.0)}, output=[0.5, 1.0, 2.0, 3.0], tolerance=1e-11)


ITEMS = (particle, slider_crank, inertia_variants, decoupling, *aghili_control.ITEMS)
