"""The planar 3-RRR manipulators of Koul, Shah, Saha (falling) and of Hoang et al. (driven by DC motors).

Hoang's legs are distances with half of a rod's mass at each end, and its motors add the reflected inertia of their rotors to the cranks.
Two points of m/2 at the distance L have the mass m and the moment m L^2/4 about the middle: a body with the same motion, so that the file
needs bodies and hinges only.
"""

from __future__ import annotations

from typing import Any

from mpmath import arg, mp, mpc, mpf

from benchmarks.closed_loop_set.references import plane_cases as cases
from benchmarks.closed_loop_set.references.plane import Link, Plane
from benchmarks.closed_loop_set.references.scrapers import GRAVITY, KOUL
from benchmarks.closed_loop_set.references.writing import case

SCRIPT = "benchmarks/closed_loop_set/references/three_rrr.py"
HOANG = (
    "N. Q. Hoang, V. D. Vuong, D. V. Phong, N. T. Lam: Dynamic modeling and singularity-free simulation of closed loop multibody system "
    "driven by electric motors. Vietnam Journal of Mechanics (2023), section 5.2",
)
PINS = """
J1 ground link1 A1
J2 link1 link2 B1
J3 link2 platform P1
J4 platform link4 P2
J5 platform link5 P3
J8 ground link6 A2
J9 ground link7 A3
J6 link6 link4 B2
J7 link7 link5 B3
"""
STARTS = ("1.04", "4.1883", "5.7637")
DRAWN = {
    "A1": 0j, "A2": 1 + 0j, "A3": 0.5 + 0.866j, "B1": 0.20 + 0.34j, "B2": 0.80 - 0.35j, "B3": 0.85 + 0.67j, "P1": 0.61 - 0.093j,
    "P2": 0.81 + 0.25j, "P3": 0.41 + 0.25j,
}  # fmt: skip


def koul() -> Plane:
    root, rod = mp.sqrt(mpf(3)), cases.rod
    side = mpf("0.4")
    platform = Link(
        "platform",
        mpf(8),
        8 * side * side / 12,
        {"P1": mpc(0), "P2": mpc(side), "P3": mpc(side / 2, side * root / 2), "center": mpc(side / 2, side * root / 6)},
    )
    links = (
        rod("link1", "0.4", "3", {"A1": "0", "B1": "0.4"}), rod("link2", "0.6", "4", {"B1": "0", "P1": "0.6"}), platform,
        rod("link4", "0.6", "4", {"P2": "0", "B2": "0.6"}), rod("link5", "0.6", "4", {"P3": "0", "B3": "0.6"}),
        rod("link6", "0.4", "3", {"A2": "0", "B2": "0.4"}), rod("link7", "0.4", "3", {"A3": "0", "B3": "0.4"}),
    )  # fmt: skip
    return Plane(
        links, cases.pins(PINS), {"A1": mpc(0), "A2": mpc(1), "A3": mpc(mpf(1) / 2, root / 2)}, mpf("9.81"), ("link1", "link6", "link7")
    )


def made_koul() -> dict[str, Any]:
    """Return the fall from rest at the printed angles of the cranks."""
    with mp.workdps(cases.WORK):
        plane = koul()
        angles = [mpf(a) for a in STARTS]
        x = plane.assembled(angles, cases.guess(plane, DRAWN))
        v = [mpf(0)] * len(x)
        how = (
            "the same equations by order 16 with other steps agree; a Taylor series of order 28 in the joint angles of the cut tree, "
            "computed before, agrees to 1e-13 rad (tests/data/saha.json)"
        )
        tasks = [
            cases.accelerations(plane, x, v, SCRIPT), cases.joint_forces(plane, x, v, SCRIPT),
            *cases.runs(plane, x, v, SCRIPT, how, ("0.1", 6, 12, 1e-18), ("0.5", 50, 90, 1e-15)),
            *cases.inverse_dynamics(plane, x, v, [mpf(1), mpf(2), mpf(-1)], SCRIPT),
        ]  # fmt: skip
        return case(
            "3-rrr", "Planar 3-RRR manipulator, 7 links, 3 degrees of freedom, falling from rest", KOUL,
            corrections=[
                "The base is not printed. An equilateral triangle of side 1 m is used: with it the printed angles put the platform at "
                "59.993 deg.",
                "The platform's inertia is not printed: a uniform triangular plate of side 0.4 m is used.",
                "Appendix A.2: in J11(2,1) and J11(2,2) the term -d1 c7 must be +d1 c7.",
                "theta_6 and theta_7 belong to joints 8 and 9; joints 6 and 7 are the cut ones.",
                GRAVITY,
            ],
            notes=["Links pass each other. A second assembly closes at the same angles of the cranks, with the platform at -135.63 deg."],
            **cases.parts(plane, x, v, ["platform"]), tasks=tasks,
        )  # fmt: skip


# -------------------------------------------------------------------- motors

MOTOR_PINS = """
A1 ground crank1 O1
A2 ground crank2 O2
A3 ground crank3 O3
C1 crank1 rod1 A1
C2 crank2 rod2 A2
C3 crank3 rod3 A3
D1 rod1 platform B1
D2 rod2 platform B2
D3 rod3 platform B3
"""


def hoang() -> Plane:
    """Return the robot with motors at 5, -5, 5 V: 10 N m/V and 10 N m s/rad at the crank, 1 kg m^2 of rotor."""
    l1, l2, base = mpf("0.581"), mpf("0.62"), mpf("1.2")
    radius = mpf("0.2") / mp.sqrt(mpf(3))
    m1, m2 = mpf("2.072"), mpf("0.75")
    links = []
    for k in (1, 2, 3):
        # the rotor turns with the crank: r^2 J = 1 kg m^2
        links.append(Link(f"crank{k}", m1, mpf("0.13") + 1, {f"O{k}": mpc(0), f"A{k}": mpc(l1), "center": mpc(l1 / 2)}))
    for k in (1, 2, 3):
        links.append(Link(f"rod{k}", m2, m2 * l2 * l2 / 4, {f"A{k}": mpc(0), f"B{k}": mpc(l2), "center": mpc(l2 / 2)}))
    corners = {f"B{k}": radius * mp.expj(a) for k, a in ((1, 7 * mp.pi / 6), (2, -mp.pi / 6), (3, mp.pi / 2))}
    links.append(Link("platform", mpf("0.978"), mpf("0.007"), {**corners, "center": mpc(0)}))
    ground = {"O1": mpc(0), "O2": mpc(base), "O3": mpc(base / 2, base * mp.sqrt(mpf(3)) / 2)}
    names = ("crank1", "crank2", "crank3")
    return Plane(
        tuple(links), cases.pins(MOTOR_PINS), ground, mpf(0), names, torques=dict(zip(names, (mpf(50), mpf(-50), mpf(50)), strict=True)),
        damping={n: mpf(10) for n in names},
    )  # fmt: skip


def start_hoang(plane: Plane) -> list[Any]:
    """Return the printed start: crank angles, and the platform near its printed pose."""
    angles = [mpf(a) for a in ("-0.1259", "1.3727", "3.2675")]
    pins = {f"A{k}": complex(plane.ground[f"O{k}"] + mpf("0.581") * mp.expj(a)) for k, a in zip((1, 2, 3), angles, strict=True)}
    out: list[float] = []
    place, turn = complex(0.59363, 0.60145), complex(mp.expj(mpf("0.020707")))
    corners = {k: place + turn * complex(plane.links[-1].points[f"B{k}"]) for k in (1, 2, 3)}
    for k, a in zip((1, 2, 3), angles, strict=True):
        middle = complex(plane.ground[f"O{k}"]) + complex(mp.expj(a)) * 0.2905
        out += [middle.real, middle.imag, float(a)]
    for k in (1, 2, 3):
        along = corners[k] - pins[f"A{k}"]
        middle = 0.5 * (corners[k] + pins[f"A{k}"])
        out += [middle.real, middle.imag, float(arg(along))]
    return plane.assembled(angles, [*out, place.real, place.imag, 0.020707])


def made_hoang() -> dict[str, Any]:
    """Return case 1 of the paper: constant voltages, from rest."""
    with mp.workdps(cases.WORK):
        plane = hoang()
        x = start_hoang(plane)
        v = [mpf(0)] * len(x)
        how = (
            "the same equations by order 16 with other steps agree; at 0.1 s a run in quadruple precision in the paper's coordinates, "
            "computed before, agrees to 1e-14 rad (tests/data/aghili_hoang.json)"
        )
        tasks = [
            cases.accelerations(plane, x, v, SCRIPT), cases.joint_forces(plane, x, v, SCRIPT),
            *cases.runs(plane, x, v, SCRIPT, how, ("0.1", 8, 14, 1e-18), ("0.3", 70, 110, 1e-14)),
        ]  # fmt: skip
        made = case(
            "3-rrr-motors", "Planar 3-RRR robot with DC motors at constant voltages, from rest", HOANG,
            corrections=[
                "The cranks' bearings are not printed: O1 = (0, 0), O2 = (1.2, 0), O3 = (0.6, 1.0392) m; of 432 layouts only this one "
                "closes at the printed start.",
                "Equations (1) and (15) have different signs of Phi^T lambda; (13) reads q_a = Z q; (27) lacks the factor 1/2 of (28).",
                "c omits the term r^2 b_m of (16); with the printed data c = r^2 Km Ke / Ra = 10 N m s/rad.",
                "Km = 3 N m/A and Ke = 0.1 V s/rad do not belong to one lossless motor: these motors create energy. They are used as "
                "printed.",
                "What the paper calls singular are zeros of determinants of a coordinate partition; the constraints never lose rank.",
                "The printed start closes the legs to 4e-6 m^2: crank angles are used as printed, the platform's pose follows from them.",
            ],
            notes=[
                "A motor at u volts gives 10 u N m less 10 N m s/rad times the crank's speed; its rotor adds 10^2 x 0.01 kg m^2 to the "
                "crank.",
                "The paper's legs are distances of 0.62 m with 0.375 kg at each end: here bodies of 0.75 kg with 0.072075 kg m^2 about the "
                "middle.",
                "The crank's 0.13 kg m^2 is read as the moment about its center, in the middle of 0.581 m.",
            ],
            **cases.parts(plane, x, v, ["platform", *plane.drives]), tasks=tasks,
        )  # fmt: skip
        made["forces"] += [
            {"name": f"emf_{n}", "type": "damping", "joint": cases.ground_pin(plane, n).name, "value": float(d)}
            for n, d in plane.damping.items()
        ]
        return made


CASES = {"3-rrr": made_koul, "3-rrr-motors": made_hoang}
