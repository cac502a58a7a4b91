"""Andrews' squeezing mechanism: seven bodies in a plane, one degree of freedom, a constant torque on the crank and a spring.

First way: the loops are three dyads (intersections of circles), so all bodies follow from the crank's angle in closed form; energy, with
the work of the torque, gives the angle by quadrature. Second way: the published equations, seven angles and six multipliers, integrated in
doubles (`published_end`); absolute coordinates from the file have the same accelerations.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative
from benchmarks.closed_loop_set.references.writing import agree, case, floats, hinge, quantity, task, turned_z

SOURCE = (
    "W. Schiehlen (ed.): Multibody Systems Handbook. Springer 1990, planar mechanism of G. C. Andrews and M. K. Ormrod",
    "E. Hairer, G. Wanner: Solving Ordinary Differential Equations II, 2nd ed. Springer 1996, VII.7",
    "F. Mazzia, C. Magherini: Test Set for Initial Value Problem Solvers, release 2.4. University of Bari 2008, problem Andrews' squeezing "
    "mechanism",
    "IFToMM library of computational benchmark problems: Andrews' mechanism",
)
SCRIPT = "benchmarks/closed_loop_set/references/andrews.py"
MASS = ("0.04325", "0.00365", "0.02373", "0.00706", "0.07050", "0.00706", "0.05498")
MOMENT = ("2.194e-6", "4.410e-7", "5.255e-6", "5.667e-7", "1.169e-5", "5.667e-7", "1.912e-5")
START = "-0.0617138900142764496358948458001"
TORQUE, STIFFNESS, FREE = "0.033", "4530", "0.07785"
END = "0.03"
PUBLISHED = {  # of the test set: accelerations and forces at the start, angles at the end
    "crank acceleration": "14222.4439199541138705911625887",
    "force x": "98.5668703962410896057654982170",
    "force y": "-6.12268834425566265503114393122",
}
PUBLISHED_END = {  # 16 digits are printed; beta is 1.15e-9 rad too large, which is 1.0e-12 s of motion, and the others accordingly
    "beta": "15.81077119629904",
    "Theta": "-15.75637105984298",
    "gamma": "0.04082224013073101",
    "Phi": "-0.5347301163226948",
    "delta": "0.5244099658805304",
    "epsilon": "1.048080741042263",
}


class Dyad:
    """Two bars from p (moving) and b (fixed) to their common pin f: places and rates per radian of the crank."""

    def __init__(self, p: Any, dp: Any, b: Any, from_p: Any, from_b: Any, side: int):
        d = b - p
        along = (abs(d) ** 2 + from_p**2 - from_b**2) / (2 * abs(d))
        across = mp.sqrt(from_p**2 - along**2)
        self.f = p + d / abs(d) * (along + side * 1j * across)
        u, w = self.f - p, self.f - b  # dp + i wp u = i wb w
        cross = mp.im(mp.conj(u) * w)
        self.wp = -mp.re(mp.conj(w) * dp) / cross
        self.wb = -mp.re(mp.conj(u) * dp) / cross
        self.df = 1j * self.wb * w


def positions(beta: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Return of K1 ... K7 as complex numbers: center, its rate, direction of the body (1 at no angle), angular rate; then pins by name."""
    mpf, i = mp.mpf, 1j
    rr, d, ss, e, zt, zf, u = (mpf(x) for x in ("0.007", "0.028", "0.035", "0.02", "0.04", "0.02", "0.04"))
    A, B = mp.mpc("-0.06934", "-0.00227"), mp.mpc("-0.03635", "0.03273")
    crank = mp.expjpi(beta / mp.pi)
    P, dP = rr * crank, i * rr * crank
    first = Dyad(P, dP, B, d, ss, SIDES[0])
    F, dF = first.f, first.df
    second, third = Dyad(F, dF, A, e, zt, SIDES[1]), Dyad(F, dF, A, zf, u, SIDES[2])
    G, H = second.f, third.f
    e2, e3, e4, e5 = (P - F) / d, (F - B) / ss * i, (F - G) / e, (G - A) / zt
    e6, e7 = (F - H) / zf, (H - A) / u * i
    out = [
        (mpf("0.00092") * crank, i * mpf("0.00092") * crank, crank, mpf(1)),
        (P - mpf("0.0115") * e2, dP - i * first.wp * mpf("0.0115") * e2, e2, first.wp),
        _about(B, (mpf("0.01043") - i * mpf("0.01874")) * e3, e3, first.wb),
        (G + (e - mpf("0.01421")) * e4, second.df + i * second.wp * (e - mpf("0.01421")) * e4, e4, second.wp),
        _about(A, (mpf("0.02308") + i * mpf("0.00916")) * e5, e5, second.wb),
        (H + (zf - mpf("0.01421")) * e6, third.df + i * third.wp * (zf - mpf("0.01421")) * e6, e6, third.wp),
        _about(A, (-mpf("0.00449") - i * mpf("0.01228")) * e7, e7, third.wb),
    ]
    D = B + (mpf("0.02") - i * mpf("0.018")) * e3
    return [*out, (P, F, G, H), (A, B, D, mp.mpc("0.014", "0.072"))]


SIDES = (1, -1, 1)  # of the pins F, G, H


def _about(pivot: Any, arm: Any, direction: Any, rate: Any) -> tuple[Any, Any, Any, Any]:
    return pivot + arm, 1j * rate * arm, direction, rate


def inertia(beta: Any) -> Any:
    """Return M: twice the kinetic energy over the square of the crank's speed."""
    parts = positions(beta)[:7]
    return mp.fsum(mp.mpf(m) * abs(dc) ** 2 + mp.mpf(I) * w**2 for m, I, (_, dc, _, w) in zip(MASS, MOMENT, parts, strict=True))


def potential(beta: Any) -> Any:
    _, _, D, C = positions(beta)[8]
    return mp.mpf(STIFFNESS) * (abs(D - C) - mp.mpf(FREE)) ** 2 / 2 - mp.mpf(TORQUE) * beta


def made() -> dict[str, Any]:
    """Return the case."""
    with mp.workdps(30):
        start = mp.mpf(START)
        parts = positions(start)
        (P, F, G, H), (A, B, D, C) = parts[7], parts[8]
        points = [{"P": P}, {"P": P, "F": F}, {"F": F, "D": D}, {"F": F, "G": G}, {"G": G}, {"F": F, "H": H}, {"H": H}]
        bodies = [_body(k, parts[k], points[k]) for k in range(7)]
        pins = [("O", "ground", "K1", 0), ("P", "K1", "K2", P), ("F3", "K2", "K3", F), ("F4", "K2", "K4", F), ("F6", "K2", "K6", F)]
        pins += [("B", "ground", "K3", B), ("G", "K4", "K5", G), ("A5", "ground", "K5", A), ("H", "K6", "K7", H), ("A7", "ground", "K7", A)]
        ends = [{"body": "ground", "point": _xyz(C)}, {"body": "K3", "point": _xyz(D)}]
        out = case(
            "andrews",
            "Andrews' squeezing mechanism (seven bodies)",
            SOURCE,
            corrections=[
                "The reference solution printed in the test set at 0.03 s is that of 0.03 s + 1.0e-12 s: its beta, 15.81077119629904, is "
                "1.15e-9 rad too large, its Theta 1.43e-9 rad too small. Quadrature and the published equations integrated again agree."
            ],
            notes=[
                "No weight. The crank starts at rest; pin F joins four bodies. beta of the test set is the rotation of O plus "
                + START
                + ".",
                "The published equations need the distances of the centers of K3, K5 and K7 from their pivots only, not the directions. "
                "The motion does not depend on these; forces of the pivots on the ground do.",
            ],
            plane="xy",
            gravity=[0.0, 0.0, 0.0],
            bodies=bodies,
            joints=[hinge(*ends, _xyz(mp.mpc(at))) for *ends, at in pins],
            forces=[
                {"name": "spring", "type": "spring", "between": ends, "stiffness": 4530.0, "free_length": 0.07785, "damping": 0.0},
                {"name": "drive", "type": "torque", "joint": "O", "value": 0.033},
            ],
            start={"velocities": {}},
            tasks=[],
        )
        out["tasks"] = _tasks(out, start)
    return out


def _tasks(out: dict[str, Any], start: Any) -> list[dict[str, Any]]:
    model = Conservative(inertia, potential, start, 0)
    other = Absolute(out)
    begin = model.acceleration(start, mp.mpf(0))
    agree("crank acceleration", begin, mp.mpf(PUBLISHED["crank acceleration"]), 1e-22)
    agree("crank acceleration", begin, other.acceleration(other.start(), "O"), 1e-14)
    force = other.force(other.start(), "F3")
    forces = [mp.mpf(PUBLISHED[f"force {c}"]) for c in "xy"]
    for value, found in zip(forces, force, strict=False):
        agree("force of pin F on K3", value, found, 1e-13)
    beta = model.from_rest(mp.mpf(END), mp.mpf("0.08"))
    speed = model.speed(beta)
    _compared_with_the_test_set(beta, speed)
    there = positions(beta)
    moving = _moving(other, start, beta, speed)
    agree("crank acceleration at the end", model.acceleration(beta, speed), other.acceleration(moving, "O"), 1e-13)
    F, gamma = there[7][1], mp.arg(there[2][2] / positions(start)[2][2])
    at_end = [
        quantity("crank angle", "rad", beta - start, {"what": "rotation", "joint": "O"}, scale=1.0, uncertainty=1e-14),
        quantity("crank speed", "rad/s", speed, {"what": "rotation rate", "joint": "O"}, uncertainty=1e-11),
        quantity("K3 angle", "rad", gamma, {"what": "rotation", "joint": "B"}, scale=1.0, uncertainty=1e-14),
        *(
            quantity(f"F {c}", "m", x, {"what": "position", "body": "K2", "point": "F", "component": c}, scale=0.01, uncertainty=1e-16)
            for c, x in zip("xy", (mp.re(F), mp.im(F)), strict=True)
        ),
    ]
    first = quantity("crank acceleration", "rad/s^2", begin, {"what": "rotation acceleration", "joint": "O"}, uncertainty=1e-12)
    loads = [
        quantity(f"pin F on K3, {c}", "N", x, {"what": "force", "joint": "F3", "component": c}, scale=98.0, uncertainty=1e-14)
        for c, x in zip("xy", forces, strict=True)
    ]
    return [
        task("start", "accelerations", {}, [first], "closed-form dyads at 30 digits; absolute coordinates and the test set agree", SCRIPT),
        task("pins", "joint forces", {}, loads, "multipliers of the test set (30 digits); absolute coordinates agree", SCRIPT),
        task(
            "squeeze",
            "free motion",
            {"time": float(END)},
            at_end,
            "quadrature of the energy over closed-form dyads at 30 digits, 24 and 48 nodes a piece agree to 1e-19 s; the published "
            "equations integrated in doubles agree to 1e-12; accelerations at start and end agree with absolute coordinates",
            SCRIPT,
        ),
    ]


def angles(beta: Any) -> dict[str, Any]:
    """Return the angles of the test set, within half a turn except beta and Theta."""
    e = [p[2] for p in positions(beta)[:7]]
    theta = mp.arg(e[1] / e[0])
    turns = mp.nint((mp.mpf(PUBLISHED_END["Theta"]) - theta) / (2 * mp.pi))
    delta, epsilon = mp.arg(e[4]), mp.arg(e[6])
    return {
        "beta": beta,
        "Theta": theta + 2 * mp.pi * turns,
        "gamma": mp.arg(e[2]),
        "Phi": mp.arg(e[3] / e[4] * 1j),
        "delta": delta,
        "epsilon": epsilon,
    }


def _compared_with_the_test_set(beta: Any, speed: Any) -> None:
    """All printed angles belong to one later instant, and the published equations, integrated again, to the instant itself."""
    late = (mp.mpf(PUBLISHED_END["beta"]) - beta) / speed
    agree("printed angles, seconds", late, mp.mpf("1.0048e-12"), 1e-16)
    for name, found in angles(beta + late * speed).items():
        agree(name, found, mp.mpf(PUBLISHED_END[name]), 1e-14)
    for name, found in published_end(1e-13).items():
        agree(name, angles(beta)[name], mp.mpf(found), 1e-12)


def published_end(tolerance: float) -> dict[str, float]:
    """Return the angles at the end by the published equations: M q'' = f + G' lam, G q'' = -g, from the printed start."""
    start = [
        float(START),
        0.0,
        0.455279819163070380,
        0.222668390165885884,
        0.487364979543842550,
        -0.222668390165885884,
        1.23054744454982119,
    ]
    y = np.array(start + [0.0] * 7)
    run = solve_ivp(_published_rates, (0.0, float(END)), y, method="DOP853", rtol=tolerance, atol=0.01 * tolerance)
    return dict(zip(("beta", "Theta", "gamma", "Phi", "delta"), run.y[:5, -1].tolist(), strict=True)) | {"epsilon": float(run.y[6, -1])}


def _published_rates(t: float, y: Any) -> Any:
    m1, m2, m3, m4, m5, m6, m7 = (float(x) for x in MASS)
    i1, i2, i3, i4, i5, i6, i7 = (float(x) for x in MOMENT)
    d, da, rr, ra, ss, zt, u = 0.028, 0.0115, 0.007, 0.00092, 0.035, 0.04, 0.04
    e4, e6, e = 0.02 - 0.01421, 0.02 - 0.01421, 0.02  # from G and H to the centers of K4 and K6; their length
    (_, th, ga, ph, de, om, ep), (bep, thp, gap, php, dep, omp, epp) = y[:7], y[7:]
    M, f = np.zeros((7, 7)), np.zeros(7)
    M[0, 0] = m1 * ra**2 + m2 * (rr**2 - 2 * da * rr * np.cos(th) + da**2) + i1 + i2
    M[0, 1] = M[1, 0] = m2 * (da**2 - da * rr * np.cos(th)) + i2
    M[1, 1], M[2, 2] = m2 * da**2 + i2, m3 * (0.01874**2 + 0.01043**2) + i3
    M[3, 3], M[5, 5] = m4 * e4**2 + i4, m6 * e6**2 + i6
    M[3, 4] = M[4, 3] = m4 * (e4**2 + zt * e4 * np.sin(ph)) + i4
    M[4, 4] = m4 * (zt**2 + 2 * zt * e4 * np.sin(ph) + e4**2) + m5 * (0.02308**2 + 0.00916**2) + i4 + i5
    M[5, 6] = M[6, 5] = m6 * (e6**2 - u * e6 * np.sin(om)) + i6
    M[6, 6] = m6 * (e6**2 - 2 * u * e6 * np.sin(om) + u**2) + m7 * (0.01228**2 + 0.00449**2) + i6 + i7
    spring = np.array([0.02 * np.cos(ga) + 0.018 * np.sin(ga) - 0.05035, 0.02 * np.sin(ga) - 0.018 * np.cos(ga) - 0.03927])
    length = np.hypot(*spring)
    pull = -float(STIFFNESS) * (length - float(FREE)) / length * spring
    f[0] = float(TORQUE) - m2 * da * rr * thp * (thp + 2 * bep) * np.sin(th)
    f[1] = m2 * da * rr * bep**2 * np.sin(th)
    f[2] = pull @ [0.018 * np.cos(ga) - 0.02 * np.sin(ga), 0.02 * np.cos(ga) + 0.018 * np.sin(ga)]
    f[3], f[4] = m4 * zt * e4 * dep**2 * np.cos(ph), -m4 * zt * e4 * php * (php + 2 * dep) * np.cos(ph)
    f[5], f[6] = -m6 * u * e6 * epp**2 * np.cos(om), m6 * u * e6 * omp * (omp + 2 * epp) * np.cos(om)
    turns = {"be": y[0], "bt": y[0] + th, "pd": ph + de, "oe": om + ep}
    (cb, sb), (ct, st), (cp, sp), (co, so) = ((np.cos(x), np.sin(x)) for x in turns.values())
    cg, sg, cd, sd, ce, se = np.cos(ga), np.sin(ga), np.cos(de), np.sin(de), np.cos(ep), np.sin(ep)
    x, z = -rr * sb + d * st, rr * cb - d * ct
    G = np.array(
        [
            [x, d * st, -ss * cg, 0, 0, 0, 0],
            [z, -d * ct, -ss * sg, 0, 0, 0, 0],
            [x, d * st, 0, -e * cp, -e * cp + zt * sd, 0, 0],
            [z, -d * ct, 0, -e * sp, -e * sp - zt * cd, 0, 0],
            [x, d * st, 0, 0, 0, e * so, e * so - u * ce],
            [z, -d * ct, 0, 0, 0, -e * co, -e * co - u * se],
        ]
    )
    common = np.array([-rr * cb * bep**2 + d * ct * (bep + thp) ** 2, -rr * sb * bep**2 + d * st * (bep + thp) ** 2])
    own = [(ss * sg * gap**2, -ss * cg * gap**2)]
    own += [(e * sp * (php + dep) ** 2 + zt * cd * dep**2, -e * cp * (php + dep) ** 2 + zt * sd * dep**2)]
    own += [(e * co * (omp + epp) ** 2 + u * se * epp**2, e * so * (omp + epp) ** 2 - u * ce * epp**2)]
    A = np.block([[M, G.T], [G, np.zeros((6, 6))]])
    right = np.concatenate([f, -np.concatenate([common + np.array(x) for x in own])])
    return np.concatenate([y[7:], np.linalg.solve(A, right)[:7]])


def _moving(other: Absolute, start: Any, beta: Any, speed: Any) -> Any:
    before, parts = positions(start), positions(beta)
    turned = [turned_z(p[2] / q[2]) for p, q in zip(parts[:7], before[:7], strict=True)]
    zero = mp.mpf(0)
    c = [[mp.re(p[0]), mp.im(p[0]), zero] for p in parts[:7]]
    v = [[mp.re(p[1]) * speed, mp.im(p[1]) * speed, zero] for p in parts[:7]]
    return other.moving(c, turned, v, [[zero, zero, p[3] * speed] for p in parts[:7]])


def _body(k: int, part: Any, points: dict[str, Any]) -> dict[str, Any]:
    flat = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, float(MOMENT[k])]]
    flat[0][0] = flat[1][1] = float(MOMENT[k])
    center = _xyz(part[0])
    return {
        "name": f"K{k + 1}",
        "mass": float(MASS[k]),
        "center": center,
        "inertia": flat,
        "points": {n: _xyz(p) for n, p in points.items()},
    }


def _xyz(p: Any) -> list[float]:
    return floats([mp.re(p), mp.im(p), 0])


CASES = {"andrews": made}
