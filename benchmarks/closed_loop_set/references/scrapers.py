"""The carpet scraping machine of Koul, Shah, Saha (free motion) and of Chaudhary, Saha (driven), with data that papers lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpmath import mp, mpc, mpf, nstr

from benchmarks.closed_loop_set.references import plane_cases as cases
from benchmarks.closed_loop_set.references.plane import Plane
from benchmarks.closed_loop_set.references.scraper_energy import swing
from benchmarks.closed_loop_set.references.writing import case

SCRIPT = "benchmarks/closed_loop_set/references/scrapers.py"
KOUL = (
    "M. H. Koul, S. V. Shah, S. K. Saha, M. Manivannan: Reduced-order forward dynamics of multiclosed-loop systems. Multibody System "
    "Dynamics (2013), Tables 1 and 2",
)
CHAUDHARY = (
    "H. Chaudhary, S. K. Saha: Constraint Wrench Formulation for Closed-Loop Systems Using Two-Level Recursions. Journal of Mechanical "
    "Design 129 (2007), Table 1",
)
PINS = """
J1 ground crank O1
J2 ground rocker O2
J3 rocker coupler B
J4 ground arm O4
J5 arm link5 P
J6 arm tool Q
J7 tool link7 R
J8 crank coupler A
"""
DRAWN = {
    "O1": 0j, "O2": -0.089 + 0j, "O4": 0.038 + 0.41j, "A": 0.038 + 0j, "B": -0.026 + 0.096j, "S": -0.089 + 0.19j, "P": 0.10 + 0.34j,
    "Q": 0.26 + 0.16j, "R": 0.067 + 0.012j, "T": -0.41 - 0.35j,
}  # fmt: skip
BRANCH = (
    "Two assemblies of the pantograph close at every crank angle, with the same path of the tool and other forces. The files have the one "
    "with link 5 clockwise from the arm, for which the angles of Koul et al. need exactly the offsets that they print."
)
GRAVITY = "Neither the size nor the direction of gravity is printed; 9.81 m/s^2 along -y is assumed."
PIVOTS = "The ground pivots O1 = (0, 0), O2 = (-0.089, 0), O4 = (0.038, 0.410) m are those of Chaudhary and Saha, Table 1."


def ground() -> dict[str, Any]:
    return {"O1": mpc(0), "O2": mpc("-0.089"), "O4": mpc("0.038", "0.41")}


def koul() -> Plane:
    """Return the machine with the four-digit lengths and uniform rods."""
    rod = cases.rod
    links = (
        rod("crank", "0.038", "1.5", {"O1": "0", "A": "0.038"}),
        rod("rocker", "0.1152", "3", {"O2": "0", "B": "0.1152"}),
        rod("coupler", "0.2304", "5", {"A": "0", "B": "0.1152", "S": "0.2304"}),
        rod("arm", "0.3346", "4.2", {"O4": "0", "P": "0.0956", "Q": "0.3346"}),
        rod("link5", "0.239", "3", {"P": "0", "S": "0.239"}),
        rod("tool", "0.8365", "10.5", {"Q": "0", "R": "0.239", "T": "0.8365"}),
        rod("link7", "0.239", "3", {"R": "0", "S": "0.239"}),
    )
    return Plane(links, cases.pins(f"{PINS}J9 link5 coupler S\nJ10 link5 link7 S"), ground(), mpf("9.81"), ("crank",))


def chaudhary() -> Plane:
    """Return the machine with the lengths and inertias of Table 1: moments about the first pin, of the coupler about its middle."""

    def link(name: str, length: str, mass: str, about_end: str, points: Mapping[str, str]) -> Any:
        m, half = mpf(mass), mpf(length) / 2
        return cases.rod(name, length, mass, points, mpf(about_end) - m * half * half)

    links = (
        link("crank", "0.038", "1.5", "0.73e-3", {"O1": "0", "A": "0.038"}),
        link("rocker", "0.115", "3", "13.30e-3", {"O2": "0", "B": "0.115"}),
        cases.rod("coupler", "0.23", "5", {"A": "0", "B": "0.115", "S": "0.23"}, mpf("22.12e-3")),
        link("arm", "0.335", "4.2", "157e-3", {"O4": "0", "P": "0.096", "Q": "0.335"}),
        link("link5", "0.239", "3", "57e-3", {"P": "0", "S": "0.239"}),
        link("tool", "0.836", "10.5", "2449e-3", {"Q": "0", "R": "0.239", "T": "0.836"}),
        link("link7", "0.239", "3", "57e-3", {"R": "0", "S": "0.239"}),
    )
    return Plane(links, cases.pins(f"{PINS}J9 coupler link5 S\nJ10 coupler link7 S"), ground(), mpf("9.81"), ("crank",))


def at(plane: Plane, degrees: int, rate: str) -> tuple[list[Any], list[Any]]:
    """Return the state with the crank at an angle, reached from the drawing in steps."""
    x = plane.assembled([mpf(0)], cases.guess(plane, DRAWN))
    for k in range(1, degrees // 10 + 1):
        x = plane.assembled([mp.pi * k / 18], x)
    return x, plane.speeds(x, [mpf(rate)])


def made_koul() -> dict[str, Any]:
    """Return the free motion from crank angle 0 with 4.7124 rad/s."""
    with mp.workdps(cases.WORK):
        plane = koul()
        x, v = at(plane, 0, "4.7124")
        energy = swing(plane, v[3 * plane.index("crank") + 2])
        how = "quadrature of the energy at 40 digits with positions in closed form (scraper_energy.py) agrees"
        tasks = [
            cases.accelerations(plane, x, v, SCRIPT),
            cases.joint_forces(plane, x, v, SCRIPT),
            *(cases.free_motion(plane, x, v, end, steps, SCRIPT, how=how, doubt=1e-17, tolerance=mpf("1e-22"),
                                second=lambda end=end: {"crank": energy.at(mpf(end))})
              for end, steps in (("0.5", 24), ("1", 48))),
        ]  # fmt: skip
        return case(
            "carpet-scraper", "Carpet scraping machine, 7 links, 3 loops, free motion", [*KOUL, *CHAUDHARY],
            corrections=[
                "O4-P = 0.0956 m is printed nowhere; it is 0.3346 - 0.239 m, which makes the pantograph enlarge 3.5 times.",
                PIVOTS,
                "Moments of inertia are not printed by Koul et al.: uniform rods, which Table 1 of Chaudhary and Saha confirms within 0.2 "
                "% but for the crank.",
                GRAVITY, BRANCH,
                "Appendix A.1: the entry J22(2,1) is +a2 c2 - a39 c3, printed -a2 c2 - a39 c3; as printed, accelerations at the start are "
                "wrong by 10 rad/s^2.",
                "Appendix A.1: a3 means 0.1152 m (not 0.2304 m of Table 1), a6 means 0.239 m (not 0.8365 m), a9 means a97 = 0.239 m.",
                "The first loop's rows have different signs: the printed lambda_1x is the force on the coupler, lambda_1y its negative.",
            ],
            notes=[f"The crank does not turn over: it swings between {nstr(energy.low, 15)} and {nstr(energy.high, 15)} rad, period "
                   f"{nstr(energy.period, 15)} s."],
            **cases.parts(plane, x, v), tasks=tasks,
        )  # fmt: skip


def made_chaudhary(degrees: int) -> dict[str, Any]:
    """Return the driven machine at a crank angle, 4.712 rad/s."""
    with mp.workdps(cases.WORK):
        plane = chaudhary()
        x, v = at(plane, degrees, "4.712")
        return case(
            f"carpet-scraper-2007-{degrees}", f"Carpet scraping machine of 2007, driven, crank at {degrees} deg", [*CHAUDHARY, *KOUL],
            corrections=[
                "Table 1, footnote: the tool's extension of 0.597 m lies beyond joint III-3^0 (R), not III-2^0: only so has the rod the "
                "printed 2449e-3 kg m^2.",
                "Table 1: a_{2,B} = 0.115 m is half of the coupler; the inertia beside it is that of the whole coupler about its middle.",
                "Table 1: the crank's 0.73e-3 kg m^2 is 1.1 % more than a uniform rod's; it is used as printed.",
                "Section 6.1: 'theta_1 and theta_2 of Subsystem II, theta_1 of Subsystem I' is exchanged.",
                "45 rpm is printed as 4.712 rad/s, which is used.",
                GRAVITY, BRANCH,
            ],
            notes=["Centers of mass are in the middle of the rods; moments of inertia about them follow from those printed about the "
                   "ends."],
            **cases.parts(plane, x, v), tasks=cases.inverse_dynamics(plane, x, v, [mpf(0)], SCRIPT),
        )  # fmt: skip


CASES = {"carpet-scraper": made_koul, **{f"carpet-scraper-2007-{d}": (lambda d=d: made_chaudhary(d)) for d in (0, 150)}}
