"""Aghili's projection operator: subspaces, acceleration, projected dynamics, the three constraint inertia matrices and decoupling.

Every equation is computed as printed, on random problems with a velocity and a real rate of A (so that C = dP/dt is not zero, a redundant
row among them) or on mechanisms in motion, and compared with a formulation that has no projector in it. Lambda and F are in the paper's
sign, M q'' + h = f - A' lambda.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import compile, compiled_of, drives, equation_terms, factor, kinematics, load
from linkwright.mechanics.formulations.forward import forward
from linkwright.mechanics.formulations.projection import Projection, constraint_inertia, decoupled, projector
from linkwright.rings.papers import Item, compared

CASES = 100  # random problems an item looks at
INERTIAS = {"skew": "M_c", "symmetric": "M_c'", "scaled": "M_c''"}


# -------------------------------------------------------------------- random problems


@dataclass(frozen=True)
class MovingProblem:
    """M, h, a force, the Jacobian A with its rate along the motion, and a velocity that the constraints allow."""

    M: np.ndarray
    h: np.ndarray
    f: np.ndarray
    A: np.ndarray
    rate: np.ndarray  # dA/dt
    v: np.ndarray

    @property
    def P(self) -> np.ndarray:
        return projector_of(self.A)

    @property
    def C(self) -> np.ndarray:
        """dP/dt of (14)."""
        return projector_rate(self.A, self.rate)

    def acceleration(self, f: np.ndarray | None = None) -> np.ndarray:
        """q'' by the full equations with multipliers, which know no projector."""
        return forward(equation_terms.of_matrices(self.M, self.h, self.A, self.rate @ self.v), self.f if f is None else f, "kkt").a


def projector_of(A: np.ndarray) -> np.ndarray:
    f = factor(A)
    return projector(f.Vt, f.rank)


def projector_rate(A: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """C = S + S' with S = -A^+ (dA/dt) P, a value of (dV_2/dt) V_2' where the rank of A does not change  [Aghili2005 (14)]."""
    S = -factor(A).solve(rate @ projector_of(A))
    return S + S.T


def problems(count: int = CASES, seed: int = 5) -> Iterator[MovingProblem]:
    """Problems with 2 to 7 coordinates under quadratic constraints b'q + q'S q/2; every other one has a row too many."""
    rng = np.random.default_rng(seed)
    for case in range(count):
        n = int(rng.integers(2, 8))
        m = int(rng.integers(1, n))
        root, bend = rng.normal(size=(n, n)), rng.normal(size=(m, n, n))
        bend = bend + bend.transpose(0, 2, 1)
        q, offset = rng.normal(size=n), rng.normal(size=(m, n))
        A = offset + bend @ q
        v = factor(A).null @ rng.normal(size=n - m)
        rate = bend @ v
        if case % 2:
            mix = rng.normal(size=m)  # one more constraint that is a sum of the others at all times
            A, rate = np.vstack([A, mix @ A]), np.vstack([rate, mix @ rate])
        yield MovingProblem(root @ root.T + 0.1 * np.eye(n), rng.normal(size=n), rng.normal(size=n), A, rate, v)


def largest(x: Any) -> float:
    return float(np.abs(np.asarray(x)).max(initial=0.0))


# -------------------------------------------------------------------- II, III


def subspaces() -> Item:
    """Ranges by QR factors and null spaces by eigenvectors, which share nothing with the singular values of (4)."""
    rng, worst, off_norm = np.random.default_rng(11), 0.0, 0.0
    for p in problems():
        P, n = p.P, len(p.v)
        values, vectors = np.linalg.eigh(p.A.T @ p.A)
        null = vectors[:, values < 1e-9 * values[-1]]
        rows = np.linalg.qr(p.A.T @ rng.normal(size=(len(p.A), n - null.shape[1])))[0]
        worst = max(worst, largest(rows.T @ null), largest(null @ null.T + rows @ rows.T - np.eye(n)), largest(P - null @ null.T))
        worst = max(worst, largest(P @ P - P), largest(P - P.T))
        x = rng.normal(size=n)
        off_norm = max(off_norm, abs(x @ x - (P @ x) @ (P @ x) - (x - P @ x) @ (x - P @ x)))
    return compared(
        "Theorem 1, (2)-(7), App. I",
        "range and null space are orthogonal complements, P = V2 V2', Pythagoras of remark 1",
        "stated",
        f"{CASES} random A, half of them with a redundant row",
        max(worst, off_norm),
        1e-8,  # eigenvectors of A'A lose half of the digits
        "null spaces by eigenvectors of A'A, ranges by QR factors",
    )


def metric() -> Item:
    """The same vectors in meters and millimeters; kappa is a length and changes with them."""
    rng, worst, without = np.random.default_rng(12), 0.0, 0.0
    for p in problems():
        n = len(p.v)
        length = rng.random(n) < 0.5
        found = []
        for unit in (1.0, 1000.0):
            c = np.where(length, unit, 1.0)  # coordinates in this unit
            root = np.where(length, 1.0 / (0.4 * unit), 1.0)  # W^(1/2), kappa = 0.4 m
            x, A = c * p.f, p.A / c
            worst = max(worst, abs(float(np.linalg.norm(root * x)) - math.sqrt(x @ (root**2 * x))))
            found.append((np.linalg.norm(root * x), projector_of(A / root), np.linalg.norm(x)))
        (norm, P, bare), (norm_mm, P_mm, bare_mm) = found
        worst = max(worst, abs(float(norm - norm_mm)), largest(P - P_mm))
        without = max(without, float(bare_mm / bare))
    return compared(
        "(8)-(10)",
        "weighted norm and the projector of A W^(-1/2) do not depend on the unit of length",
        "invariant",
        f"{CASES} random vectors and A in meters and millimeters, kappa = 0.4 m; norms without W grow up to {without:.0f} times",
        worst,
        1e-10,
        "the same in the other unit",
        "Sec. II prints A W^(1/2); W^(-1/2), as in Sec. VII-B, makes A_W x_W = A x",
    )


def acceleration_split() -> Item:
    worst = 0.0
    for p in problems():
        P, n, a = p.P, len(p.v), p.acceleration()
        across = -factor(p.A).solve(p.rate @ p.v)
        worst = max(worst, largest((np.eye(n) - P) @ p.v), largest(P - (np.eye(n) - np.linalg.pinv(p.A, rcond=1e-9) @ p.A)))
        worst = max(worst, largest((np.eye(n) - P) @ a - p.C @ p.v) / (1.0 + largest(a)), largest(p.C @ p.v - across) / (1.0 + largest(a)))
    return compared(
        "(11)-(13), (15), (16)",
        "velocity and acceleration across the null space: 0 and C q' = -A^+ (dA/dt) q'",
        "stated",
        f"{CASES} random problems, accelerations of the full equations with multipliers",
        worst,
        1e-9,
        "kkt",
    )


# -------------------------------------------------------------------- (14) on mechanisms


def _motions() -> Iterator[tuple[str, Any, Any]]:
    """Mechanisms in motion: one degree of freedom in seven velocities, three in six with lengths and angles."""
    s = compile(load("carpet-scraper"), cuts=["J8", "J9", "J10"])
    yield "carpet scraper", s, s.assemble(q={"J1": 0.7}, v={"J1": 4.7124})
    s = compile(load("3-rrr-motors"))
    yield "3-RRR", s, s.assemble(q={"A1": -0.1, "A2": 1.3, "A3": 3.3}, v={"A1": 1.0, "A2": -2.0, "A3": 0.5})


def _jacobian(s: Any, q: Any, v: Any) -> Any:
    return equation_terms.terms(compiled_of(s).loops, q, v).dimensionless_J()


def null_basis_rate(s: Any, st: Any, step: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """(V_2, dV_2/dt) of (4) along q' by differences of order four; each V_2 of a decomposition is turned onto the one at the state."""
    rate = kinematics.qdot(compiled_of(s).skel, st.q, st.v)
    V = factor(_jacobian(s, st.q, st.v)).null

    def at(x: float) -> np.ndarray:
        N = factor(_jacobian(s, st.q + x * step * rate, st.v)).null
        U, _, W = np.linalg.svd(N.T @ V)
        return N @ U @ W

    return V, (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step)


def rate_of_projector() -> Item:
    worst, on_motion, said = 0.0, 0.0, []
    for name, s, st in _motions():
        J = _jacobian(s, st.q + 1e-30j * kinematics.qdot(compiled_of(s).skel, st.q, st.v), st.v.astype(complex))
        rate = (-J.T @ np.linalg.solve(J @ J.T, J)).imag / 1e-30  # dP/dt = d(1 - J^+ J)/dt by a complex step
        V, V_rate = null_basis_rate(s, st)
        S = V_rate @ V.T
        size = largest(rate)
        worst = max(worst, largest(S + S.T - rate) / size, largest(projector_rate(J.real, J.imag / 1e-30) - rate) / size)
        w = st.v / compiled_of(s).loops.columns
        t = s.terms(st)
        across = -factor(t.dimensionless_J()).solve(t.k / t.row_scale)
        on_motion = max(on_motion, largest(rate @ w - S @ w) / largest(across), largest(rate @ w - across) / largest(across))
        said.append(f"{name} |C| = {np.linalg.norm(rate, 2):.3f}/s")
    return compared(
        "(14)",
        "C = dP/dt = S + S' with S = (dV2/dt) V2', along motions of two mechanisms",
        "stated",
        f"{', '.join(said)}; on motions S alone does: C q' = S q' = -A^+ (dA/dt) q' within {on_motion:.0e}",
        max(worst, on_motion),
        1e-8,  # differences of order four with steps of 1 ms
        "dP/dt by a complex step",
        "S' q' = 0 because q' has no part across the null space; so (16) is all that the equations of motion need of C",
    )


def bead(distance: float) -> dict[str, Any]:
    """A bead on a wire that turns in the plane; `distance` is the bead's first one from the axis."""
    return {
        "name": "bead on a wire",
        "plane": "xy",
        "gravity": [0, 0],
        "bodies": {
            "ground": {"points": {"O": [0, 0]}},
            "wire": {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 1},
            "bead": {"points": {"B": [0, 0]}, "mass": 2, "com": [0, 0], "inertia": 0.01},
        },
        "joints": {
            "turn": {"type": "revolute", "connect": ["ground.O", "wire.O"]},
            "way": {"type": "prismatic", "connect": ["wire.O", "bead.B"], "axis": [1, 0]},
        },
        "start": {"way": f"{distance} m"},
    }


def rheonomic() -> Item:
    """phi = y cos(w t) - x sin(w t) by the projector with k = (dA/dt) q' + db/dt = -2 w r', and the same bead as a mechanism."""
    w, worst = 1.7, 0.0
    matrices: list[Any] = [Projection(kind) for kind in INERTIAS]
    for rate, t in ((0.3, 0.4), (-1.1, 2.5), (2.0, 4.0)):
        along, across = np.array([math.cos(w * t), math.sin(w * t)]), np.array([-math.sin(w * t), math.cos(w * t)])
        push, terms = (
            np.array([0.7, -0.4]),
            equation_terms.of_matrices(2.0 * np.eye(2), np.zeros(2), across[None, :], np.array([-2.0 * w * rate])),
        )
        found = [forward(terms, push, by).a for by in matrices]
        worst = max(worst, *(largest(a - push @ along / 2.0 * along - 2.0 * rate * w * across) for a in found))
    s = compile(load(bead(0.3)))
    turned = {"turn": drives.speed(w)}
    end = float(s.simulate(s._starting(turned), 1.0, drive=turned, tolerance=1e-11)["way"][-1])
    return compared(
        "Sec. III",
        "constraints that depend on time: a bead on a wire turned at 1.7 rad/s",
        "the method extends to them",
        f"Coriolis acceleration 2 w r' across the wire by all three matrices; {end:.6f} m from the axis after 1 s",
        max(worst, abs(end - 0.3 * math.cosh(w))),
        1e-9,
        "2 w r', and r = r0 cosh(w t)",
        "A q' + b = 0 with b = dphi/dt; q' then has a part across the null space, and -A^+ k stays right where C q' does not",
    )


# -------------------------------------------------------------------- IV, V


def projected_dynamics() -> Item:
    """(17) to (21) with remark 2: work of F on allowed motions, P F = 0, and forces across that move nothing."""
    rng, worst = np.random.default_rng(13), 0.0
    for p in problems():
        P, n, a = p.P, len(p.v), p.acceleration()
        size = 1.0 + largest(p.M) * largest(a)
        F = p.f - p.h - p.M @ a
        lam = np.linalg.lstsq(p.A.T, F, rcond=1e-9)[0]
        worst = max(worst, largest(P @ F) / size, largest(F - p.A.T @ lam) / size, abs(p.v @ F) / size)  # (17), (18)
        worst = max(worst, largest(P @ p.M @ a - P @ (p.f - p.h)) / size)  # (21)
        across = (np.eye(n) - P) @ rng.normal(size=n)
        worst = max(worst, largest(p.acceleration(p.f + 100.0 * across) - a) / (1.0 + largest(a)) / 100.0)  # remark 2
    return compared(
        "(17)-(21), remark 2",
        "constraint forces do no work and vanish under P; forces across the null space move nothing",
        "stated",
        f"{CASES} random problems, half of them with a redundant row",
        worst,
        1e-9,
        "kkt",
    )


def inertia_variants() -> Item:
    """The right sides as printed: P (f - h) + C_c q' with C_c = M C, (1 - 2P) M C and gamma C."""
    worst = {name: 0.0 for name in INERTIAS.values()}
    for p in problems():
        P, C, n, a = p.P, p.C, len(p.v), p.acceleration()
        gamma = float(np.linalg.norm(p.M, 2))
        C_c = {"skew": p.M @ C, "symmetric": (np.eye(n) - 2.0 * P) @ p.M @ C, "scaled": gamma * C}
        for kind, name in INERTIAS.items():
            found = np.linalg.solve(constraint_inertia(p.M, P, kind, gamma), P @ (p.f - p.h) + C_c[kind] @ p.v)
            worst[name] = max(worst[name], largest(found - a) / (1.0 + largest(a)))
    return compared(
        "(22), (27), (29)",
        "three constraint inertia matrices with their C_c q', C = S + S'",
        "the same motion",
        f"{CASES} random problems in motion, half of them with a redundant row: "
        + ", ".join(f"{name} within {x:.0e}" for name, x in worst.items()),
        max(worst.values()),
        1e-9,
        "kkt",
    )


def definiteness() -> Item:
    """Theorem 2, propositions 1 and 2, remark 3, and the reflection 1 - 2P."""
    worst, least, smallest, indefinite = 0.0, math.inf, math.inf, 0
    for p in problems():
        P, size, mirror = p.P, float(np.linalg.norm(p.M, 2)), np.eye(len(p.v)) - 2.0 * p.P
        skew, symmetric, scaled, weak = (
            constraint_inertia(p.M, P, kind, share * size) for kind, share in zip((*INERTIAS, "scaled"), (1.0, 1.0, 1.0, 0.01), strict=True)
        )
        least = min(least, *(float(np.linalg.eigvalsh(X + X.T)[0]) / 2.0 / size for X in (skew, symmetric)))
        indefinite += bool(np.linalg.eigvalsh(weak + weak.T)[0] < 0.0)
        smallest = min(smallest, *(float(np.linalg.svd(X)[1][-1]) / size for X in (scaled, weak)))
        worst = max(worst, largest(skew - p.M + (skew - p.M).T) / size, largest(symmetric - symmetric.T) / size)
        worst = max(worst, largest(mirror @ mirror - np.eye(len(p.v))))
        energy = p.v @ p.M @ p.v
        worst = max(worst, *(abs(p.v @ X @ p.v - energy) / size / (p.v @ p.v) for X in (skew, symmetric, scaled)))
    return compared(
        "Theorem 2, Props. 1, 2, remark 3",
        "M_c positive definite, M_c' also symmetric, M_c'' regular; the kinetic energy stays",
        "stated",
        f"{CASES} random problems: symmetric parts of M_c and M_c' above {least:.0e} |M|; singular values of M_c'' above {smallest:.0e} "
        f"|M| for gamma = |M| and |M|/100, and indefinite in {indefinite} for the latter",
        worst if min(least, smallest) > 0.0 else math.inf,
        1e-12,
        "eigenvalues and singular values",
        "the energy v'M v/2 is the same with all three matrices where v is a motion, with M_c for any v",
    )


def constraint_force() -> Item:
    """(32) and remark 4: F from q'' of (25) without multipliers, and which part of the multipliers is left open."""
    worst, open_parts, redundant = 0.0, 0, 0
    for p in problems():
        P, n, a = p.P, len(p.v), p.acceleration()
        f, size = p.f - p.h, 1.0 + largest(p.M) * largest(a)
        mu = (np.eye(n) - P) @ p.M @ np.linalg.inv(constraint_inertia(p.M, P, "skew"))
        F = (np.eye(n) - P) @ f - mu @ P @ f - mu @ p.M @ p.C @ p.v
        worst = max(worst, largest(F - (f - p.M @ a)) / size)
        lam = np.linalg.pinv(p.A, rcond=1e-9).T @ F
        worst = max(worst, largest(p.A.T @ lam - F) / size)
        left = factor(p.A).left_null  # any of it can be added to lambda
        worst = max(worst, largest(p.A.T @ left) if left.size else 0.0)
        lost = len(p.A) > np.linalg.matrix_rank(p.A, tol=1e-9)
        open_parts, redundant = open_parts + (left.size > 0), redundant + lost
    return compared(
        "(32), remark 4, Fig. 1",
        "constraint force by mu = (1 - P) M M_c^-1, unique; multipliers unique where A has full rank, and only there",
        "stated",
        f"{CASES} random problems: lambda has an open part in {open_parts}, A has a redundant row in {redundant}",
        worst + abs(open_parts - redundant),
        1e-9,
        "f - h - M q'' of the full equations",
    )


def decoupling() -> Item:
    """mu P = 0 if and only if the null space is invariant under M; lemma 1 by the inverse of M."""
    worst, wrong, coupled = 0.0, 0, math.inf
    for case, p in enumerate(problems()):
        P, n = p.P, len(p.v)
        Q = np.eye(n) - P
        M = P @ p.M @ P + Q @ p.M @ Q if case % 2 else p.M
        mu = Q @ M @ np.linalg.inv(constraint_inertia(M, P, "skew")) @ P
        size, invariant = largest(mu), decoupled(M, P)
        if invariant:
            worst = max(worst, size, largest(Q @ np.linalg.inv(M) @ P) / largest(np.linalg.inv(M)))
            force = forward(equation_terms.of_matrices(M, np.zeros(n), p.A, np.zeros(len(p.A))), P @ p.f, "kkt").force
            worst = max(worst, largest(force) / largest(p.f))
        else:
            coupled = min(coupled, size)
        wrong += invariant != (size < 1e-9)
    return compared(
        "Prop. 3, Apps. III, IV",
        "constraint forces do not feel P f if and only if the null space is invariant under M, hence under its inverse",
        "stated",
        f"{CASES} random problems, half of them invariant: {wrong} contradictions, cross-coupling at least {coupled:.0e} in the others",
        worst + wrong,
        1e-9,
        "mu P, the inverse of M, and constraint forces of the full equations",
        "Prop. 3 prints 'if'; App. IV says iff, and its last arrow holds both ways because P M^-1 P is regular on the null space",
    )
