"""Aghili's control laws as matrices: least norm, constraint force, passive joints, and closed forms of the slider-crank.

The product computes these laws without projectors (rings/control/projected.py); here P, Lambda, H and mu are formed as printed, on random
problems, and compared with searches and full equations that know none of them. Lambda and F are in the paper's sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import compile, compiled_of, factor, load
from linkwright.mechanics.formulations.projection import constraint_inertia
from linkwright.motion.controllability import controllable_of_matrices
from linkwright.rings.control import hybrid, projected
from linkwright.rings.papers import Item, aghili_control, compared
from linkwright.rings.papers.aghili_control import ARM, TASK, crank, unaware
from linkwright.rings.papers.aghili_projection import CASES, MovingProblem, largest, problems, projector_of

FORCE = 5.0  # N, wanted of one multiplier
ANGLES = (0.7, 0.9, 1.1)  # rad: of the cart's pole


class ProjectedLaw(NamedTuple):
    """A problem with independent coordinates theta: q' = Lambda theta', and the accelerations u_p that are asked for."""

    problem: MovingProblem
    basis: np.ndarray  # Lambda: a basis of the null space that is not orthonormal
    wanted: np.ndarray  # u_p of (44)

    @property
    def f(self) -> np.ndarray:
        """f_par of (43)."""
        p = self.problem
        return p.P @ (p.h + p.M @ self.wanted)


def laws() -> Iterator[ProjectedLaw]:
    rng = np.random.default_rng(21)
    for p in problems():
        N = factor(p.A).null
        basis = N @ (np.eye(N.shape[1]) + 0.3 * rng.normal(size=(N.shape[1], N.shape[1])))
        yield ProjectedLaw(p, basis, basis @ rng.normal(size=N.shape[1]) - factor(p.A).solve(p.rate @ p.v))


# -------------------------------------------------------------------- VII-A, VII-C
def least_norm() -> Item:
    """(43) gives the motion; among all f that give it none is shorter: the least-norm solution of the affine map from f to q''."""
    motion, shorter, rank = 0.0, 0.0, 0
    for law in laws():
        p, n = law.problem, len(law.wanted)
        motion = max(motion, largest(p.acceleration(law.f) - law.wanted) / (1.0 + largest(law.wanted)))
        free = p.acceleration(np.zeros(n))
        response = np.column_stack([p.acceleration(e) - free for e in np.eye(n)])
        best = np.linalg.lstsq(response, law.wanted - free, rcond=1e-9)[0]
        shorter = max(shorter, largest(best - law.f) / (1.0 + largest(law.f)))
        rank += np.linalg.matrix_rank(p.P @ p.M @ law.basis, tol=1e-9) < law.basis.shape[1] or largest(p.A @ law.basis) > 1e-9
    return compared(
        "(38)-(46), theorem 4, App. V",
        "projected inverse dynamics: the motion that is asked for, by the force of least norm",
        "stated",
        f"{CASES} random problems: motion within {motion:.0e}, the least force of a search within {shorter:.0e}; P M Lambda has full rank",
        max(motion, shorter) + rank,
        1e-8,
        "least-norm solution of f -> q'' of the full equations",
    )


def force_law() -> Item:
    """(49) and (52) with C_c for C: the constraint force is what is asked for and the motion does not notice; (51)."""
    rng, worst, printed, bound = np.random.default_rng(22), 0.0, 0.0, 0.0
    for law in laws():
        p, n = law.problem, len(law.wanted)
        P, size = p.P, 1.0 + largest(law.f)
        mu = (np.eye(n) - P) @ p.M @ np.linalg.inv(constraint_inertia(p.M, P, "skew"))
        F_d = p.A.T @ rng.normal(size=len(p.A))
        C_c = p.M @ p.C
        across = (np.eye(n) - P) @ p.h + mu @ (law.f - P @ p.h + C_c @ p.v) + F_d  # (49)
        f = p.h + mu @ C_c @ p.v + (np.eye(n) + mu) @ P @ p.M @ law.wanted + F_d  # (52)
        a = p.acceleration(law.f + across)
        worst = max(worst, largest(f - law.f - across) / size, largest(p.acceleration(f) - law.wanted) / (1.0 + largest(law.wanted)))
        worst = max(worst, largest(law.f + across - p.h - p.M @ a - F_d) / size)
        wrong = law.f + across + mu @ (p.C - C_c) @ p.v
        printed = max(printed, largest(wrong - p.h - p.M @ p.acceleration(wrong) - F_d) / size)
        e = rng.normal(size=len(p.A))
        shortest = float(np.linalg.svd(p.A)[1][-1]) if np.linalg.matrix_rank(p.A, tol=1e-9) == len(p.A) else 0.0
        bound = max(bound, float(shortest * np.linalg.norm(e) - np.linalg.norm(p.A.T @ e)))
    return compared(
        "(49), (51), (52)",
        "hybrid law: constraint force and motion as they are asked for; sigma |e_lambda| <= |e_f|",
        "stated",
        f"{CASES} random problems, C_c for C: within {worst:.0e}; with C as printed the force is off by up to {printed:.1f} |f|",
        max(worst, bound),
        1e-9,
        "F = f - h - M q'' of the full equations",
        "(49), (52) print C, whose dimension does not fit; (51) is of the smallest eigenvalue of A A', zero where A has a redundant row",
    )


def unilateral() -> Item:
    """The multiplier of the motion controller on the slider-crank in closed form, (pi/6)(1 + 5t) exp(-5t) put into (66)."""
    run = crank("two joints", 0.0)
    t = np.asarray(run.t)
    e, w = math.pi / 6 * (1.0 + 5.0 * t) * np.exp(-5.0 * t), math.pi / 6 * 25.0 * t * np.exp(-5.0 * t)
    q, u = math.pi / 3 - e, 25.0 * e - 10.0 * w
    c2, s2 = np.cos(2.0 * q), -np.sin(2.0 * q)
    first, second = u, (c2 - 1.0) * u + s2 * w**2  # M q'' + h of (66) on q2 = 2 pi - 2 q1, velocity terms of the first cancel
    along = (first - 2.0 * second) / 5.0
    lam = (-2.0 * along - second) / np.cos(q)
    held = crank("hybrid", 0.0)
    contact = float(np.abs(held["lam.C.ty"]).max())
    return compared(
        "Sec. VII-C",
        "sign of the contact force under motion control: slider-crank, two joints, no gravity",
        "not guaranteed; unilateral constraints need force control",
        f"lambda from {lam.min():.3f} to {lam.max():.3f} N: its sign changes; hybrid control holds zero within {max(contact, 1e-12):.0e} N",
        float(np.abs(-np.asarray(run["lam.C.ty"]) - lam).max()) + contact + (0.0 if lam.min() < 0.0 < lam.max() else math.inf),
        1e-7,
        "(66), (71) in closed form along (pi/6)(1 + 5t) exp(-5t)",
        "contact that can open is in the product as stops, not as a constraint of these laws",
    )


# -------------------------------------------------------------------- VII-D
def passive_joints() -> Item:
    """(60) against the shortest f with no effort at passive joints and the same motion, by brute force."""
    rng, worst, off, able, false = np.random.default_rng(23), 0.0, 0.0, 0, 0
    for law in laws():
        p, n = law.problem, len(law.wanted)
        P, I = p.P, np.eye(n)
        B = np.diag((rng.random(n) < 0.75).astype(float))
        Q = (I - B) @ (I - P)
        H = -(I - P) @ np.linalg.pinv(Q, rcond=1e-9) @ (I - B)
        f = (I + H) @ law.f
        # every f with P f = f_par and (1 - B) f = 0, the least of them
        conditions = np.vstack([P, I - B])
        best, *_ = np.linalg.lstsq(conditions, np.concatenate([law.f, np.zeros(n)]), rcond=1e-9)
        possible = largest(conditions @ best - np.concatenate([law.f, np.zeros(n)])) < 1e-7 * (1.0 + largest(law.f))
        reachable = controllable_of_matrices(p.A, B).ok
        false += reachable and not possible
        if not reachable:
            continue
        able += 1
        size = 1.0 + largest(f)
        worst = max(worst, largest((I - B) @ f) / size, largest(P @ (f - law.f)) / size)
        off = max(off, largest(f - best) / size)
    return compared(
        "(53)-(61)",
        "passive joints: (1 + H) f_par acts at active joints only, gives the same motion, and has the least norm",
        "stated",
        f"{able} of {CASES} random problems can be controlled: passive joints free within {worst:.0e}, least norm within {off:.0e}",
        max(worst, off) + false,
        1e-8,
        "least-norm solution of P f = f_par and (1 - B) f = 0",
        "(61) argues by an upper bound, which does not show it; |(1 - P) eta| is the least because eta of (57) lies across the null space",
    )


def special_cases() -> Item:
    """Without constraints all joints must be active; where the null space lies in the actuators' space (60) is f_par."""
    rng, wrong, worst = np.random.default_rng(24), 0, 0.0
    for law in laws():
        p, n = law.problem, len(law.wanted)
        B = np.diag((rng.random(n) < 0.5).astype(float))
        wrong += controllable_of_matrices(np.zeros((1, n)), B).ok != (np.trace(B) == n)
        # constraints that hold all passive joints still: N within the range of B
        held = np.eye(n)[np.diag(B) == 0.0]
        A = np.vstack([held, p.A[:1] @ B]) if len(held) else p.A[:1]
        P, I = projector_of(A), np.eye(n)
        H = -(I - P) @ np.linalg.pinv((I - B) @ (I - P), rcond=1e-9) @ (I - B)
        wrong += not controllable_of_matrices(A, B).ok
        worst = max(worst, largest(H @ P))
    return compared(
        "(62), special cases",
        "no constraints: controllable if and only if all joints are active; N within B: always, and (60) is (43)",
        "stated",
        f"{CASES} random cases of each: {wrong} contradictions, H P within {worst:.0e}",
        wrong + worst,
        1e-12,
        "counted joints; H P = 0",
        "N_perp is the space {0} there, not empty as printed",
    )


# -------------------------------------------------------------------- VIII, IX
def closed_forms() -> Item:
    """(70) to (75) at random states of the slider-crank: matrices of (66), (67) put into (43), (49), (60)."""
    rng, worst, printed = np.random.default_rng(25), 0.0, 0.0
    g, P, H = 9.81, np.array([[1.0, -2.0], [-2.0, 4.0]]) / 5.0, np.array([[0.0, -2.0], [0.0, -1.0]])
    for _ in range(CASES):
        q, w, u, u2 = rng.uniform(-1.2, 1.2), *rng.normal(size=3)
        c1, c2, s2 = math.cos(q), math.cos(2.0 * q), -math.sin(2.0 * q)
        M = np.array([[3.0 + 2.0 * c2, 1.0 + c2], [1.0 + c2, 1.0]])
        h = np.array([3.0 * g * c1, s2 * w**2 + g * c1])  # of (66) with q2' = -2 q1'; velocity terms of the first cancel
        par = P @ (h + M @ np.array([u, -2.0 * u]))
        mu = (np.eye(2) - P) @ M @ np.linalg.inv(constraint_inertia(M, P, "skew"))
        across = (np.eye(2) - P) @ h + mu @ (par - P @ h) + np.array([1.0, 0.5]) * u2
        f71 = (3.0 - 2.0 * c2) * u / 5.0 + g * c1 / 5.0 - 0.4 * s2 * w**2
        f72 = 0.4 * (1.0 + c2) * u + u2 + 2.8 * g * c1 + 0.4 * s2 * w**2
        f75 = (3.0 - 2.0 * c2) * u + g * c1 - 2.0 * s2 * w**2
        I, B = np.eye(2), np.diag([1.0, 0.0])
        found = -(I - P) @ np.linalg.pinv((I - B) @ (I - P), rcond=1e-9) @ (I - B)
        pairs = ((par, [f71, -2.0 * f71]), (across, [f72, 0.5 * f72]), ((I + found) @ par, [f75, 0.0]), (found, H))
        worst = max(worst, *(largest(a - np.asarray(b)) for a, b in pairs))
        printed = max(printed, abs(-0.6 * (3.0 - 2.0 * c2) * u - 0.6 * g * c1 + 1.2 * s2 * w - f75))
    return compared(
        "(70)-(75)",
        "closed laws of the slider-crank for two joints, constraint force and one joint",
        "printed with q1' for q1'^2, and -3/5, -3/5, 6/5 in (75)",
        f"{CASES} random states: (71), (72), (74), (75) corrected within {worst:.0e}; (75) as printed is off by up to {printed:.0f} N m",
        worst,
        1e-11,
        "(43), (49), (59), (60) from the matrices (66), (67)",
        "H of (74) is right, and (71) needs only the square; (1 + H)(1, -2) = (5, 0) makes (75) five times (71)",
    )


def stiffness() -> Item:
    """Contact force per error of the slider's place at the start of the task: the classical law and projected control."""
    s = compile(load("3r-slider"))
    st, d = s.start, 1e-3

    def contact(law: Any) -> float:
        return float(s.forward(st, s.control(law, st)(st)).lam["tip"][0])

    off = (contact(unaware(d)) - contact(unaware(-d))) / (2.0 * d)
    terms = s.terms(st)
    expected = -ARM["P"] / float((terms.J @ np.linalg.solve(terms.M, terms.J.T))[0, 0])
    blind = contact(projected(TASK, **ARM))
    return compared(
        "Sec. IX-B",
        "stiffness along the constraint: contact force per error in the slider's place",
        "IDC is stiff in all directions, PIDC compliant along the constraint",
        f"IDC {abs(off):.1f} N/m; PIDC none, its law does not ask where the slider is ({blind:.3f} N for any place); own masses",
        abs(off / expected - 1.0),
        1e-6,  # nonlinear terms of 1 mm cancel in the difference
        "G_P (A M^-1 A')^-1",
    )


# Aghili's metric of efforts, what of a constraint force can be controlled, and the bandwidth of the arm's gains.
#
# Least efforts are chosen by inverse dynamics as well as by control, and both must choose the same. Data of the cart and of the arm are
# our own (`aghili_control`), because the paper prints none.


def least_efforts() -> Item:
    """A cart and its pole, pushed by a force and a torque, by inverse dynamics and projected control; files in meters and millimeters."""
    drives, off, shown = ["slide", "P"], 0.0, {}
    for rated in (None, {"slide": "2 N", "P": "1 N m"}):
        for unit in ("m", "mm"):
            s = compile(load(aghili_control.cart(unit)))
            for angle in ANGLES:
                st = s.assemble({"P": angle}, {"P": aghili_control.CART["speed"]})
                wanted = aghili_control.CART["wanted"]
                path = {"P": f"{angle} rad + {aghili_control.CART['speed']} rad/s*t + {wanted / 2.0} rad/s^2*t^2"}
                controlled = s.control(projected(path, drives=drives, rated=rated), st)(st)
                loads = s.inverse(st, {"P": wanted}, drives=drives, rated=rated)
                off = max(off, *(abs(loads.tau[n] - controlled[n]) for n in drives))
                shown.setdefault((angle, rated is None), [loads.tau[n] for n in drives])
                off = max(off, *(abs(x - loads.tau[n]) for x, n in zip(shown[angle, rated is None], drives, strict=True)))
    default, given = shown[0.9, True], shown[0.9, False]
    return compared(
        "(46), (47)",
        "least efforts of inverse dynamics and of projected control are the same",
        "one weighted norm",
        f"{default[0]:.4f} N, {default[1]:.4f} N m with kappa of the drawing and {given[0]:.4f} N, {given[1]:.4f} N m with kappa = 0.5 m, "
        f"by both; largest difference {max(off, 1e-16):.0e} over {4 * len(ANGLES)} cases in meters and millimeters",
        off,
        1e-10,
        "s.inverse against lw.control.projected; own data",
        "where no rated efforts are known, forces count times the characteristic length; a note names the weights",
    )


def remark_5() -> Item:
    """Three equal parallel cranks: the Jacobian has rank 3 of 4. And the slider-crank, where it has full rank."""
    s = compile(load("parallelogram-middle"))
    law = hybrid({"A": "60 deg"}, {"C.tx": FORCE}, P=25, D=10, F=1, I=20, drives=["A", "D"])
    control = s.control(law, s.start)
    found = s.forward(s.start, control(s.start))
    t = s.terms(s.start)
    lam = np.concatenate([found.lam[n] for n in t.names])
    a, other = _by_least_squares(t, s.start, control(s.start), s.names.v)
    # the constraint force and the motion are those of any other multipliers that satisfy the equations
    force = max(float(np.abs(t.J.T @ (lam - other)).max()), float(np.abs(found.a - a).max()), abs(found.lam["C"][0] - FORCE))
    row = [f"{x.name}.{label}" for x in compiled_of(s).loops.constraints for label in x.labels].index("C.tx")
    c = compile(load("slider-crank-equal"))
    st = c.assemble({"A": math.pi / 6}, {"A": 0.0})
    efforts = c.control(hybrid({"A": "60 deg"}, {"C.ty": FORCE}, P=25, D=10, F=1, I=20, drives=["A", "B"]), st)(st)
    full = abs(_by_least_squares(c.terms(st), st, efforts, c.names.v)[1][0] - FORCE)
    noted = [n for n in control.notes if "C.tx is statically indeterminate: N.tx, C.tx" in n]
    return compared(
        "remark 5",
        "constraint forces are always controllable, multipliers only where the Jacobian has full rank",
        "F always; lambda only at full rank",
        f"rank {np.linalg.matrix_rank(t.J)} of {len(t.J)}: C.tx is {found.lam['C'][0]:.4f} N with least reactions and {other[row]:.4f} N "
        f"with least multipliers, J' lambda the same within {max(force, 1e-16):.0e} N; "
        f"full rank: {FORCE:g} N within {max(full, 1e-16):.0e} N",
        force + full + (0.0 if len(noted) == 1 and abs(other[row] - FORCE) > 1e-3 else 1.0),
        1e-9,
        "least squares on [M J'; J 0]",
        "lw.control.hybrid notes a multiplier that statics leaves open, and refuses more of them than are independent",
    )


def _by_least_squares(t: Any, st: Any, efforts: Any, names: Any) -> tuple[np.ndarray, np.ndarray]:
    """(a, multipliers of least norm) of M a + h = tau + J' lam, J a + k = 0."""
    tau = np.array([efforts.get(n, 0.0) for n in names])
    n, m = t.M.shape[0], len(t.J)
    K = np.block([[t.M, -t.J.T], [t.J, np.zeros((m, m))]])
    z = np.linalg.lstsq(K, np.concatenate([tau - t.h, -t.k]), rcond=1e-10)[0]
    return z[:n], z[n:]


def bandwidth() -> Item:
    """Poles of the arm's closed loop, linearized on its trajectory with the tip on the slider."""
    s = compile(load("3r-slider"))
    poles = np.sort(np.linalg.eigvals(s.linearize(s.start, control=aghili_control.arm_law("PIDC")).A).real)
    slow, fast = poles[2:], poles[:2]  # one pair for each of the two coordinates
    frequency = np.sqrt(slow * fast)
    damping = float(-(slow + fast).mean() / (2.0 * frequency.mean()))
    held = np.linalg.eigvals(s.linearize(s.start, control=aghili_control.arm_law("hybrid")).A).real.max()
    hertz = float(frequency.mean() / (2.0 * math.pi))
    off = max(float(np.abs(frequency - math.sqrt(480.0)).max()), abs(damping - 45.0 / (2.0 * math.sqrt(480.0))), abs(held + 0.1 / 4.0))
    return compared(
        "Sec. IX",
        "bandwidth of the gains G_P = 480, G_D = 45",
        "3.5 Hz",
        f"{hertz:.4f} Hz, damping {damping:.4f} (poles {slow.mean():.3f}, {fast.mean():.3f} 1/s); force loop {held:.3f} 1/s",
        max(off, abs(hertz - 3.5) - 0.05),  # printed with two digits
        1e-8,
        "sqrt(480) rad/s, 45 / (2 sqrt(480)) and -G_I / (1 + G_F)",
        "3.5 Hz is the natural frequency of e'' + 45 e' + 480 e = 0; its poles are real, as the damping is above one",
    )
