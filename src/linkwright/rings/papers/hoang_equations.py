"""Equations of Hoang et al., each against another way: motion with motors, Christoffel symbols, ranks, stabilization, voltages.

They are compared with the printed equations in the paper's coordinates and units, which the end of this module has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwright.api import compile, compiled_of, drives, dynamics, linalg, load, motion, stabilizers, tolerances
from linkwright.mechanics.formulations.nullspace import partitioned
from linkwright.rings.papers import Item, compared
from linkwright.rings.papers.aghili_projection import CASES, largest, problems, projector_of
from linkwright.rings.papers.denoc import denoc
from linkwright.rings.papers.hoang_runs import ARM, BASE, GAIN, LINK, RADIUS, STEP, WANTED, as_published, drive, exact, gaps, robot, zeros

RATED = 34.0  # V of the model; the law of case 2 asks for 34.01 V in the first instant
MOTOR: dict[str, float] = {"Kt": 0.4, "Ke": 0.4, "R": 2.0, "J": 0.01, "gear_ratio": 10.0, "viscous": 0.002}  # own data
LOAD = 0.5  # kg m^2

PRINTED_START = np.array([-0.1259, 1.3727, 3.2675, 0.59363, 0.60145, 0.020707])
HALF_DIGIT = np.array([0.5e-4] * 3 + [0.5e-5] * 2 + [0.5e-6])
DAMPING = 10.0  # c = r^2 Km Ke / Ra, N m s/rad
ROTOR = 1.0  # r^2 J_m, kg m^2
M_S = np.array(
    [ROTOR + 0.13 + 2.072 * ARM**2 / 4.0 + 0.75 * ARM**2 / 2.0] * 3 + [0.978 + 1.5 * 0.75] * 2 + [0.007 + 1.5 * 0.75 * RADIUS**2]
)


# -------------------------------------------------------------------- Sec. 2
def _volts(case: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    if case == 1:
        return np.array([5.0, -5.0, 5.0])
    return np.clip((150.0 * (np.array(list(WANTED.values())) - q[:3]) - 50.0 * v[:3]) / GAIN, -RATED, RATED)


def equations_of_motion() -> Item:
    worst, count = 0.0, 0
    for case in (1, 2):
        run = exact(case)
        for i in range(0, 3001, 150):
            a = accelerations(run.q[i], run.v[i], _volts(case, run.q[i], run.v[i]))
            worst, count = max(worst, largest(run.a[i] - a) / (1.0 + largest(a))), count + 1
    return compared(
        "(1), (2), (15)-(18), (35)",
        "equations of the robot with its motors: accelerations along both runs",
        "the equations",
        f"{count} states of three seconds, M_s, D_s, B_s of (16) and Phi_q' lambda with the sign of (15)",
        worst,
        1e-8,  # samples close their loops to some 1e-12, accelerations are hundreds of rad/s^2
        "nine equations (17), (19) with derivatives of the printed f",
        "(1) has the other sign of lambda, which leaves the motion as it is",
    )


def _rates_of_mass(s: Any, q: np.ndarray) -> np.ndarray:
    """dM/dq_k for every k, by complex steps."""
    still = np.zeros(s.tree.nv, dtype=complex)
    return (
        np.array(
            [
                np.imag(dynamics.mass_matrix(compiled_of(s).skel, motion(compiled_of(s).skel, q + tolerances.COMPLEX_STEP * 1j * e, still)))
                for e in np.eye(len(q))
            ]
        )
        / tolerances.COMPLEX_STEP
    )


def christoffel() -> Item:
    """The symbols on trees whose masses move, in the plane and in space; angles are their coordinates."""
    worst, apart, largest_entry = 0.0, 0.0, 0.0
    for name, cuts in (("3-rrr", ["J6", "J7"]), ("carpet-scraper", ["J8", "J9", "J10"]), ("rssr-7r", None)):
        s = compile(load(name), cuts=cuts)
        q, v = s.start.q, np.linspace(-1.0, 2.0, s.tree.nv)
        d = _rates_of_mass(s, q)  # d[k, i, j] = dM_ij / dq_k
        C = 0.5 * (np.einsum("kij,k->ij", d, v) + np.einsum("jik,k->ij", d, v) - np.einsum("ijk,k->ij", d, v))
        forces = s.h(s.state(q, v)) - s.h(s.state(q, np.zeros_like(v)))  # without weight
        X = np.einsum("kij,k->ij", d, v) - 2.0 * C
        worst, largest_entry = max(worst, largest(C @ v - forces), largest(X + X.T)), max(largest_entry, largest(C))
        for sub in compiled_of(s).skel.tree.subsystems:
            apart = max(apart, largest(C[sub.v, sub.v] - denoc(compiled_of(s).skel, q, v, sub.index).coriolis))
    return compared(
        "(3)",
        "C by Christoffel's formula: C q', the skew dM/dt - 2 C, and the C of the DeNOC matrices",
        "stated",
        f"trees of a 3-RRR, the scraper and an RSSR in space, entries up to {largest_entry:.2f} N m s: the DeNOC matrices give the same C "
        f"within {max(apart, 1e-16):.0e}",
        max(worst, apart),
        1e-11,
        "velocity terms of the recursive dynamics, and N'(M dN/dt + B N) of the DeNOC matrices",
        "rotors add a constant diagonal to M and nothing to C",
    )


def _wheel(inertia: float) -> Any:
    """One body on a hinge, no weight: with a motor everything is linear."""
    bodies = {"ground": {"points": {"O": [0, 0]}}, "wheel": {"points": {"O": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": inertia}}
    hinge = {"A": {"type": "revolute", "connect": ["ground.O", "wheel.O"]}}
    return compile(load({"name": "wheel", "plane": "xy", "gravity": [0, 0], "bodies": bodies, "joints": hinge}))


def _started(L: float) -> Any:
    s = _wheel(LOAD)
    turned = {"A": drives.voltage(5.0, motor=drives.dc_motor(**MOTOR, L=L))}
    return s.simulate(s.start, 1.0, drive=turned, tolerance=1e-11, sample_interval=0.05)


def motor_with_inductance() -> Item:
    """L i' = u - R i - Ke N w, (I + N^2 J) w' = N Kt i - N^2 b w: eigenvalues and eigenvectors of a matrix of two."""
    N, b, L = MOTOR["gear_ratio"], MOTOR["viscous"], 0.05
    inertia = LOAD + N**2 * MOTOR["J"]
    A = np.array([[-MOTOR["R"] / L, -MOTOR["Ke"] * N / L], [N * MOTOR["Kt"] / inertia, -(N**2) * b / inertia]])
    end = np.linalg.solve(A, np.array([-5.0 / L, 0.0]))
    values, vectors = np.linalg.eig(A)
    run = _started(L)
    parts = np.linalg.solve(vectors, -end)
    found = np.array([(end + vectors @ (parts * np.exp(values * t))).real for t in run.t])
    off = max(largest(run["motor.A.current"] - found[:, 0]), largest(run["A.v"] - found[:, 1]))
    return compared(
        "(4)-(7)",
        "DC motor with gearbox, rotor and inductance at 5 V: current and speed from rest",
        "the equations",
        f"L = 50 mH: {run['A.v'][-1]:.6f} rad/s and {run['motor.A.current'][-1]:.6f} A after 1 s",
        off,
        1e-8,
        "the linear equations by eigenvectors; own data",
    )


def motor_without_inductance() -> Item:
    """(8) to (14): one time constant, (I + N^2 J) / (N^2 (b + Kt Ke / R))."""
    N, gain = MOTOR["gear_ratio"], MOTOR["gear_ratio"] * MOTOR["Kt"] / MOTOR["R"]
    damping = N**2 * (MOTOR["viscous"] + MOTOR["Kt"] * MOTOR["Ke"] / MOTOR["R"])
    run = _started(0.0)
    t = np.asarray(run.t)
    w = gain * 5.0 / damping * (1.0 - np.exp(-damping * t / (LOAD + N**2 * MOTOR["J"])))
    current = (5.0 - MOTOR["Ke"] * N * w) / MOTOR["R"]
    return compared(
        "(8)-(14)",
        "the motor with L di/dt = 0: voltage gain, damping N^2 (b + Kt Ke/R), inertia N^2 J",
        "the equations",
        f"{run['A.v'][-1]:.6f} rad/s after 1 s; time constant {(LOAD + N**2 * MOTOR['J']) / damping:.4f} s",
        max(largest(run["A.v"] - w), largest(run["motor.A.current"] - current)),
        1e-8,
        "1 - exp(-t/T); own data",
        "(13): the first is q_a = Z q; the zero block of Z has n rows",
    )


# -------------------------------------------------------------------- Sec. 3
def ranks() -> Item:
    """rank Phi + rank R = m and rank H = m, with R of (21), at regular positions, at zeros of det Phi_x, and with redundant rows."""
    wrong, worst, states = 0, 0.0, 0
    run = exact(1)
    for i in (0, 300, 600, 900, *(int(1000 * z) for z in zeros(1) if z < 1.0)):
        J, volts = Phi(run.q[i]), np.array([5.0, -5.0, 5.0])
        R = projector_of(J)
        H = np.vstack([R @ np.diag(M_S), J])
        push = np.concatenate([GAIN * volts - DAMPING * run.v[i][:3], np.zeros(3)])
        a = np.linalg.pinv(H) @ np.concatenate([R @ push, -bias(run.q[i], run.v[i])])
        worst = max(worst, largest(a - accelerations(run.q[i], run.v[i], volts)) / (1.0 + largest(a)))
        rank = [int(np.linalg.matrix_rank(X, tol=1e-9)) for X in (J, R, H)]
        wrong, states = wrong + (rank[0] + rank[1] != 6) + (rank[2] != 6) + (H.shape != (9, 6)), states + 1
    for p in problems():
        R = projector_of(p.A)
        rank = [int(np.linalg.matrix_rank(X, tol=1e-9)) for X in (p.A, R, np.vstack([R @ p.M, p.A]))]
        wrong += (rank[0] + rank[1] != len(p.v)) + (rank[2] != len(p.v))
    return compared(
        "(21)-(23)",
        "ranks of Phi, R and H, and q'' = H^+ h",
        "rank Phi + rank R = m, rank H = m everywhere",
        f"{states} states of case 1, five of them next to zeros of det Phi_x, and {CASES} random problems, half of them with a redundant "
        f"row: {wrong} contradictions",
        worst + wrong,
        1e-9,
        "nine equations (17), (19)",
        "H is 9 x 6 in all of them, so H^+ is an inverse nowhere",
    )


def fewer_rows() -> Item:
    """H made square: R of (20) with as many columns as degrees of freedom, and only independent rows of Phi."""
    worst, deleted, square = 0.0, 0, 0
    for p in problems():
        rows = sorted(linalg.pivoted_columns(p.A.T))
        R = partitioned(p.A, linalg.pivoted_columns(p.A))
        H = np.vstack([R.T @ p.M, p.A[rows]])
        square, deleted = square + (H.shape == (len(p.v), len(p.v))), deleted + len(p.A) - len(rows)
        a = np.linalg.solve(H, np.concatenate([R.T @ (p.f - p.h), -(p.rate @ p.v)[rows]]))
        worst = max(worst, largest(a - p.acceleration()) / (1.0 + largest(a)))
    return compared(
        "Sec. 3, after (23)",
        "rows of Phi deleted until H is square",
        "possible, at the price of a search in every step",
        f"{CASES} random problems, {deleted} rows deleted, {square} square H: the same accelerations",
        worst + (CASES - square),
        1e-8,  # pivots of random R may be small
        "kkt",
        "the product keeps independent rows first where a loop has more than it needs",
    )


def smallest_singular_value() -> Item:
    """Phi_q of (36) in SI units at all samples of five seconds; the product's J is f / (2 l2)."""
    least, off = {}, 0.0
    for case in (1, 2):
        run = exact(case)
        seen = range(0, 5001, 10)
        for _ in range(2):  # every tenth sample, then all around the least
            values = [float(np.linalg.svd(Phi(run.q[i]))[1][-1]) for i in seen]
            at = seen[int(np.argmin(values))]
            seen = range(max(at - 10, 0), min(at + 11, 5001))
        least[case] = min(values)
        off = max(off, abs(least[case] - np.linalg.svd(2.0 * LINK * robot().closure(run.state(at)).J)[1][-1]))
    return compared(
        "Sec. 5.1",
        "smallest singular value of Phi_q, SI units, five seconds",
        "not printed",
        f"{least[1]:.4f} in case 1 and {least[2]:.4f} in case 2: the rank never decreases",
        off,
        1e-9,
        "Phi_q by complex steps of the printed f",
        "the determinants of Phi_theta and Phi_x vanish, each alone; together their columns keep rank three",
    )


# -------------------------------------------------------------------- Sec. 4
def open_loops(omega: float, step: float, count: int) -> np.ndarray:
    """f after steps of Runge-Kutta 4 with delta = 1, from rest with a crank 1 microrad off and no voltages, over f of the start."""
    rates, gains, tau = robot().kernel("rates", baumgarte=True), np.array([2.0 * omega, omega**2]), np.zeros(6)

    def rate(y: np.ndarray) -> np.ndarray:
        found = rates(y[:6], y[6:], tau, gains)
        return np.concatenate([found.qdot, found.a])

    y = np.concatenate([robot().start.q + np.array([1e-6, 0, 0, 0, 0, 0]), np.zeros(6)])
    begin = phi(y[:6])
    for _ in range(count):
        k1 = rate(y)
        k2 = rate(y + 0.5 * step * k1)
        k3 = rate(y + 0.5 * step * k2)
        y = y + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(y + step * k3))
        if not largest(phi(y[:6])) < 1.0:
            break
    return phi(y[:6]) / largest(begin)


def baumgarte() -> Item:
    """(25) at states off the loops, and the decay of (24) in a run that starts there."""
    s, omega = robot(), 100.0 * math.sqrt(2.0)
    rates, gains = s.kernel("rates", baumgarte=True), np.array([2.0 * omega, omega**2])
    rng, worst = np.random.default_rng(31), 0.0
    for _ in range(20):
        q, v = s.start.q + 0.01 * rng.normal(size=6), rng.normal(size=6)
        J = Phi(q)
        left = J @ rates(q, v, np.zeros(6), gains).a + bias(q, v) + 2.0 * omega * J @ v + omega**2 * phi(q)
        worst = max(worst, largest(left) / (omega**2 * largest(phi(q))))
    after, decay = largest(open_loops(omega, 1e-4, 200)), (1.0 + omega * 0.02) * math.exp(-omega * 0.02)
    return compared(
        "(24), (25)",
        "Baumgarte's terms: the equation off the loops, and how a gap closes",
        "f'' + 2 delta omega0 f' + omega0^2 f = 0",
        f"20 states off the loops; a crank 1 microrad off: {after:.6f} of the gap is left after 20 ms",
        max(worst, abs(after - decay)),
        1e-6,  # the gap's own square, and round-off in a gap of 1e-6
        "printed f, and (1 + omega0 t) exp(-omega0 t)",
    )


def baumgarte_through_zeros() -> Item:
    run = as_published(1, False)
    f = gaps(run)
    count = int(np.count_nonzero(zeros(1) < 3.0))
    early, late = float(np.median(f[1:251])), float(np.median(f[1250:]))
    return compared(
        "Sec. 4, after (25)",
        "Baumgarte's terms alone through the zeros of det Phi_x, case 1, 3 s",
        "not stable through singular configurations",
        f"largest |f| {f.max():.1e} m^2 over {count} zeros; medians of the first and last half second {early:.0e} and {late:.0e} m^2",
        early / late,
        1e-3,
        "an instability: the first median over the last would be small",
        "the terms act on f and f', and Phi_q keeps its rank: a partition takes no part in them",
    )


def adjusting() -> Item:
    """(26) to (34) by the printed algorithm, to the end, against two steps of the product."""
    s, mass, penalty = robot(), 0.1, 100.0
    keep = stabilizers.PostAdjust(M=mass, A=penalty * (2.0 * LINK) ** 2)
    correction = keep.correction(s.kernels, s.start.q, s.start.references, list(WANTED))
    assert correction is not None, "the robot has loops"
    rng, worst, left, iterations = np.random.default_rng(32), 0.0, 0.0, 0
    run = exact(1)
    for i in range(0, 1001, 100):
        star, v = run.q[i] + 1e-5 * rng.normal(size=6), run.v[i] + 1e-4 * rng.normal(size=6)
        q = star.copy()
        for k in range(50):
            J_d = Phi(q)[:, 3:]
            h = mass * (q - star)[3:] + penalty * J_d.T @ phi(q)
            if np.linalg.norm(h) < 1e-13:
                iterations = max(iterations, k)
                break
            q[3:] -= np.linalg.solve(mass * np.eye(3) + penalty * J_d.T @ J_d, h)
        J = Phi(q)
        H = mass * np.eye(3) + penalty * J[:, 3:].T @ J[:, 3:]
        speeds = np.linalg.solve(H, mass * v[3:] - penalty * J[:, 3:].T @ J[:, :3] @ v[:3])
        found = correction.kernel(star, v, tau=np.zeros(6))
        worst = max(worst, largest(found.q[3:] - q[3:]), 1e-2 * largest(found.v[3:] - speeds), largest(found.q[:3] - star[:3]))
        left = max(left, largest(phi(q)) / largest(phi(star)))
    return compared(
        "(26)-(34)",
        "post-adjusting: positions and velocities after the algorithm, cranks untouched",
        "the algorithm with N and epsilon",
        f"11 states of case 1 shifted by 1e-5: the printed steps end at |h| < 1e-13 after {iterations} or fewer, and two of them do; up to "
        f"{100.0 * left:.1f} % of the gap is left",
        worst,
        1e-9,
        "the printed algorithm in numpy, derivatives by complex steps",
        "(27) lacks the 1/2 that (28) has; a penalty leaves a part of the gap, all of it where det Phi_x = 0",
    )


# -------------------------------------------------------------------- Sec. 5
def closure() -> Item:
    """The printed start in (36), and the start of the model in the digits that are printed."""
    left, s = phi(PRINTED_START), robot()
    moved = np.abs(s.start.q - PRINTED_START) / HALF_DIGIT
    found = s.M(s.start)
    inertia = largest(found + np.diag([ROTOR] * 3 + [0.0] * 3) - np.diag(M_S))
    return compared(
        "(35), (36), parameters",
        "printed dimensions, masses and start position",
        "q(0) closes the legs",
        f"|f| of the printed start up to {largest(left):.1e} m^2; to close, the platform moves by {moved[3:].max():.2f} of half a digit",
        float(moved.max()),
        1.0,
        "half of the last printed digit",
        f"bearings are not printed: of 432 layouts only this one closes; M_s of (35) within {max(inertia, 1e-16):.0e} kg m^2",
    )


def choice_of_omega() -> Item:
    """Baumgarte alone, Runge-Kutta 4 of 0.002 s, case 1, one second: residual and error over omega0, and where a gap grows."""
    s, right = robot(), np.asarray(exact(1).q)[1000]

    def run(omega: float) -> Any:
        return s.simulate(
            s.start, 1.0, drive=drive(1), integrator="rk4", step=STEP, stabilizer=stabilizers.Baumgarte(1.0, omega), sample_interval=STEP
        )

    said = []
    for omega in (10.0, 45.0, 100.0 * math.sqrt(2.0), 500.0, 1000.0):
        found = run(omega)
        said.append(f"{omega:.0f}/s {gaps(found).max():.0e} m^2, {largest(found.q[-1] - right):.0e}")
    low, high = 1000.0, 2000.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if largest(open_loops(middle, STEP, 300)) > 1.0 else (middle, high)
    limit = 2.785294 / STEP  # real stability interval of Runge-Kutta 4
    return compared(
        "Sec. 5.2",
        "choice of omega0 with delta = 1: largest residual and error after 1 s, and the omega0 that is too much",
        "omega0 = 100 sqrt(2); the choice is not considered",
        f"{'; '.join(said)}; a gap grows from {high:.0f}/s on",
        abs(0.5 * (low + high) / limit - 1.0),
        0.02,  # 300 steps: a double root grows a little earlier
        f"2.785/step = {limit:.0f}/s, the stability limit of the method",
    )


def inverse_problem() -> Item:
    """Voltages for given accelerations of the cranks: drive torques of the product, and six equations (17) for u and lambda."""
    s, worst, said = robot(), 0.0, ""
    wanted = np.array([3.0, -2.0, 1.0])
    run = exact(1)
    for i in (50, 150, 350):
        st, J = s.state(run.q[i], run.v[i]), Phi(run.q[i])
        a = np.concatenate([wanted, -np.linalg.solve(J[:, 3:], J[:, :3] @ wanted + bias(run.q[i], run.v[i]))])
        torque = np.asarray(s.inverse(st, dict(zip(WANTED, wanted, strict=True)), drives=list(WANTED)).u)
        volts = (torque + ROTOR * wanted + DAMPING * run.v[i][:3]) / GAIN
        whole = np.hstack([GAIN * np.eye(6)[:, :3], J.T])
        exactly = np.linalg.solve(whole, M_S * a + np.concatenate([DAMPING * run.v[i][:3], np.zeros(3)]))[:3]
        worst = max(worst, largest(volts - exactly), 1e-2 * largest(accelerations(run.q[i], run.v[i], volts)[:3] - wanted))
        said = ", ".join(f"{u:.3f}" for u in volts)
    return compared(
        "Sec. 2.3, end",
        "inverse problem of (17): voltages that give the cranks 3, -2, 1 rad/s^2",
        "the equations serve it",
        f"{said} V at the last of three states",
        worst,
        1e-7,
        "six equations for u and lambda, and the motion they give",
        "torques come from inverse dynamics, u = (tau + r^2 J a + c v)/k; sizing of drives does this over a motion",
    )


# Equations (17), (35) and (36) of Hoang et al. as printed, with numpy alone: what items about them are compared with.
#
# Coordinates and units are the paper's (f in m^2); first derivatives are complex steps. Rows of rods in the product are f / (2 l2).


def rods(q: Any) -> tuple[Any, Any, Any]:
    """Rods of (36) as (2, 3), and the vectors of their ends from the cranks' bearings and the platform's center; over any scalar."""
    corners = np.array([[0.0, BASE, BASE / 2.0], [0.0, 0.0, BASE * math.sqrt(3.0) / 2.0]])
    turn = q[5] + np.array([7.0 * math.pi / 6.0, -math.pi / 6.0, math.pi / 2.0])
    a, b = ARM * np.array([np.cos(q[:3]), np.sin(q[:3])]), RADIUS * np.array([np.cos(turn), np.sin(turn)])
    return q[3:5, None] + b - corners - a, a, b


def phi(q: Any) -> Any:
    """f of (36), m^2."""
    return (rods(q)[0] ** 2).sum(axis=0) - LINK**2


def Phi(q: np.ndarray) -> np.ndarray:
    """Phi_q by complex steps of f."""
    return np.column_stack([phi(q + tolerances.COMPLEX_STEP * 1j * e).imag for e in np.eye(6)]) / tolerances.COMPLEX_STEP


def bias(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(dPhi/dt) q' = 2 r'.r' + 2 r.r'' of the rods r, where only the circles of their ends have a second derivative along q'."""
    r, a, b = rods(q)
    rate = rods(q + tolerances.COMPLEX_STEP * 1j * v)[0].imag / tolerances.COMPLEX_STEP
    return 2.0 * (rate**2).sum(axis=0) + 2.0 * (r * (a * v[:3] ** 2 - b * v[5] ** 2)).sum(axis=0)


def accelerations(q: np.ndarray, v: np.ndarray, volts: np.ndarray) -> np.ndarray:
    """q'' of (17), (19): nine equations for q'' and lambda."""
    J = Phi(q)
    push = np.concatenate([GAIN * volts - DAMPING * v[:3], np.zeros(3)])
    whole = np.block([[np.diag(M_S), -J.T], [J, np.zeros((3, 3))]])
    return np.linalg.solve(whole, np.concatenate([push, -bias(q, v)]))[:6]
