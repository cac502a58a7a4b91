"""Four-bars from what they must do: five poses, five timed points, nine points, least squares, a straight line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpmath import arg, expj, mp, mpc, mpf, nstr

from benchmarks.closed_loop_set.references import burmester, nine_points, paths
from benchmarks.closed_loop_set.references.certificates import certified
from benchmarks.closed_loop_set.references.writing import case, numbers, quantity, task

SCRIPT = "benchmarks/closed_loop_set/references/synthesis.py"
OWN = "own data"
POSES = {
    "five-poses": (("0.1687", "0.1928", "0.7892"), ("0.1412", "0.258", "0.5056"), ("0.03", "0.26", "0.3835"), 
                   ("-0.0772", "0.1519", "0.4721"), ("-0.0757", "0.0278", "0.8385")),
    "five-poses-two-links": (("0", "0", "0"), ("0.4", "0.2", "0.4"), ("0.6", "0.6", "0.9"), ("0.5", "1", "1.4"), ("0.1", "1.3", "2.2")),
}  # fmt: skip
TIMED = (("0.169", "0.193"), ("0.123", "0.266"), ("-0.015", "0.234"), ("-0.089", "0.063"), ("-0.003", "-0.006"))
TURNS = (0, 50, 110, 190, 260)  # deg
NINE = (("0.25", "0"), ("0.52", "0.1"), ("0.8", "0.7"), ("1.2", "1"), ("1.4", "1.3"), ("1.1", "1.48"), ("0.7", "1.4"), ("0.2", "1"),
        ("0.02", "0.4"))  # fmt: skip
CLASSES = 64  # real ones of NINE, in the literature
FIVE_TIMED = (("3", "3"), ("2.759", "3.363"), ("2.372", "3.663"), ("1.89", "3.862"), ("1.355", "3.943"))
EIGHTEEN = (
    ("0.5", "1.1"), ("0.4", "1.1"), ("0.3", "1.1"), ("0.2", "1"), ("0.1", "0.9"), ("0.05", "0.75"), ("0.02", "0.6"), ("0", "0.5"),
    ("0", "0.4"), ("0.03", "0.3"), ("0.1", "0.25"), ("0.15", "0.2"), ("0.2", "0.3"), ("0.3", "0.4"), ("0.4", "0.5"), ("0.5", "0.7"),
    ("0.6", "0.9"), ("0.6", "1"),
)  # fmt: skip
NGUYEN = (
    "S. Nguyen-Van, Q. X. Lieu, N. Xuan-Mung, T. T. N. Nguyen: A New Study on Optimization of Four-Bar Mechanisms Based on a "
    "Hybrid-Combined Differential Evolution and Jaya Algorithm. Symmetry 14 (2022) 381, case {}; the case goes back to Kunjur, "
    "Krishnamurty and Cabrera"
)
BEST_KNOWN = "A local optimum, the best that is known: a linkage with a smaller sum is a better answer. Its dimensions are in data (m)."


def _task(name: str, kind: str, given: dict[str, Any], quantities: Sequence[dict[str, Any]], obtained: str) -> list[dict[str, Any]]:
    return [task(name, kind, given, quantities, obtained, SCRIPT)]


def _count(name: str, value: int) -> dict[str, Any]:
    return quantity(name, "1", mpf(value), None, scale=max(1.0, float(value)), uncertainty=0.0)


def _places(label: str, pins: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    return [
        quantity(f"{label} {name} {c}", "m", getattr(z, part), None, scale=scale)
        for name, z in pins.items() for c, part in (("x", "real"), ("y", "imag"))
    ]  # fmt: skip


def five_poses(name: str) -> dict[str, Any]:
    """Return the case of all links that guide a body through five poses."""
    with mp.workdps(40):
        poses = [(mpf(x), mpf(y), mpf(t)) for x, y, t in POSES[name]]
        links, others = burmester.dyads(poses)
        system = burmester.equations(POSES[name])
        for x, a in links:
            if not certified(system, [x.real, x.imag, a.real, a.imag], mpf("1e-10")):
                raise ArithmeticError("Krawczyk's test does not hold")
        quantities = [_count("links", len(links)), _count("four-bars", len(links) * (len(links) - 1) // 2)]
        first = mpc(poses[0][0], poses[0][1])
        for i, (x, a) in enumerate(links, 1):
            size = float(1 + abs(a))
            quantities += _places(f"link {i}", {"ground": a, "moving": first + expj(poses[0][2]) * x}, size)
        if max(burmester.deviation(poses, link) for link in links) > mpf("1e-35"):
            raise ArithmeticError("lengths are not constant to 1e-35 m")
        obtained = (
            f"elimination to a polynomial of degree four, all roots at 40 digits: {len(links)} real, {others} complex; lengths are "
            "constant to 1e-35 m; Krawczyk's test with outward rounding proves one solution in each box of radius 1e-10. No more exist "
            "(Burmester)."
        )
        return case(
            name, f"Five poses of a body, {len(links)} links", [OWN], corrections=[],
            notes=["poses: x, y, angle in rad of the body. Links are in the order of the ground pivot's x; `moving` is the pin on the body "
                   "in the first pose. Any two links are a four-bar; branch and order defects are not looked at."],
            tasks=_task("all links", "pose synthesis", {"poses": numbers(POSES[name])}, quantities, obtained),
        )  # fmt: skip


def one_branch(pins: dict[str, Any], points: Sequence[Any], turns: Sequence[Any]) -> bool:
    """True if the triangle B-C-D has the same sense at all points."""
    senses = set()
    for p, t in zip(points, turns, strict=True):
        b = pins["A"] + (pins["B"] - pins["A"]) * expj(t - turns[0])
        c = b + (p - b) / (points[0] - pins["B"]) * (pins["C"] - pins["B"])
        senses.add(((c - b).conjugate() * (pins["D"] - c)).imag > 0)
    return len(senses) == 1


def timed_points() -> dict[str, Any]:
    """Return the case of all four-bars through five points at given turns of the crank."""
    with mp.workdps(40):
        at, turns = [mpc(*p) for p in TIMED], [mp.pi * t / 180 for t in TURNS]
        every = burmester.timed([(z.real, z.imag) for z in at], turns)
        found = sorted((x for x in every if one_branch(x, at, turns)), key=lambda pins: (round(pins["A"].real, 9), pins["D"].real))
        for pins in found:
            _prove_timed(pins)
        quantities = [_count("four-bars on one branch", len(found))]
        for i, pins in enumerate(found, 1):
            quantities += _places(f"four-bar {i}", {k: pins[k] for k in "ABCD"}, float(1 + max(abs(z) for z in pins.values())))
        obtained = (
            "two eliminations to polynomials of degree four, one for cranks and one for the other link, all roots at 40 digits: "
            f"{len(every)} real four-bars, {len(found)} of them with all points on one branch; Krawczyk's test proves each link in a box "
            "of radius 1e-10"
        )
        given = {"points": numbers(TIMED), "turns": [float(t) for t in turns]}
        return case(
            "timed-points", "Five points at given turns of the crank", [OWN], corrections=[],
            notes=["turns: of the crank A-B from its position at the first point, in rad. Pins are those at the first point; A-B is the "
                   "crank, C-D the other link on the ground at D. In the order of A's x, then of D's x. Cognates are listed where they "
                   "have the same timing."],
            tasks=_task("all four-bars", "path synthesis", given, quantities, obtained),
        )  # fmt: skip


def _prove_timed(pins: dict[str, Any]) -> None:
    """Prove the crank among the links of the poses (point, turn of the crank); angles are decimals of 40 digits there."""
    angles = [nstr(mp.pi * t / 180, 40) for t in TURNS]
    system = burmester.equations([(*p, t) for p, t in zip(TIMED, angles, strict=True)])
    w = pins["A"] - pins["B"]  # with the sign of the links: x = -w
    if not certified(system, [w.real, w.imag, pins["A"].real, pins["A"].imag], mpf("1e-10")):
        raise ArithmeticError("Krawczyk's test does not hold for a crank")
    at = [mpc(*p) for p in TIMED]
    poses = []
    for p, t in zip(at, TURNS, strict=True):
        b = pins["A"] + (pins["B"] - pins["A"]) * expj(mp.pi * t / 180)
        poses.append((nstr(p.real, 12), nstr(p.imag, 12), nstr(arg(p - b), 40)))
    x = (pins["C"] - at[0]) * expj(-mpf(poses[0][2]))
    if not certified(burmester.equations(poses), [x.real, x.imag, pins["D"].real, pins["D"].imag], mpf("1e-10")):
        raise ArithmeticError("Krawczyk's test does not hold for a link")


def nine() -> dict[str, Any]:
    """Return the published problem with nine points; starts are the digits of the file itself, which are proven and counted."""
    with mp.workdps(40):
        found = nine_points.in_order(nine_points.proven(NINE, starts()))
        nine_points.all_different(found, CLASSES)
        quantities = [_count("real classes", len(found))]
        for i, pins in enumerate(found, 1):
            three = nine_points.pivots(pins)
            quantities += _places(f"class {i}", {f"pivot {k}": z for k, z in enumerate(three, 1)}, float(1 + max(abs(z) for z in three)))
        listed = [{name: [nstr(pins[name].real, 25), nstr(pins[name].imag, 25)] for name in "ABCD"} for pins in found]
        return case(
            "nine-points", "Nine points of a coupler curve, Problem 3 of Wampler, Morgan and Sommese",
            ["C. W. Wampler, A. P. Morgan, A. J. Sommese: Complete Solution of the Nine-Point Path Synthesis Problem for Four-Bar "
             "Linkages. ASME Journal of Mechanical Design 114 (1992) 153-159, Problem 3",
             "J. D. Hauenstein, F. Sottile: Algorithm 921: alphaCertified. ACM Transactions on Mathematical Software 38 (2012): certified "
             "64 real classes of 1442"],
            corrections=[],
            notes=["A class is a four-bar and its two cognates, whose ground pivots are three points in common. Classes are in the order "
                   "of the middle of these three along x, pivots of a class in the order of x.",
                   "data.linkages has one four-bar of each class, pins at the first point, with 25 digits: A-B and D-C are the links on "
                   "the ground, B-C the coupler.",
                   "One class is free of branch, circuit and order defects, as the literature says."],
            data={"linkages": listed},
            tasks=_task(
                "all real classes", "path synthesis", {"points": numbers(NINE), "exact": True}, quantities,
                "24 equations of pins and turns, refined at 40 digits; Krawczyk's test with outward rounding proves one solution in each "
                "box of radius 1e-20. That there are 64 real classes is the result of the cited papers; first approximations come from "
                "tracking all 1442 classes.",
            ),
        )  # fmt: skip


def starts() -> list[dict[str, complex]]:
    """Return approximate linkages of all classes, from the file of the case."""
    file = Path(__file__).resolve().parents[2] / "closed-loop-set" / "cases" / "nine-points.json"
    listed = json.loads(file.read_text(encoding="utf-8"))["data"]["linkages"]
    return [{name: complex(float(x), float(y)) for name, (x, y) in pins.items()} for pins in listed]


def least_squares(name: str) -> dict[str, Any]:
    """Return a case of the literature whose best linkage meets the points in the sense of least squares only."""
    five = name == "five-timed-points"
    points = FIVE_TIMED if five else EIGHTEEN
    with mp.workdps(paths.DIGITS):
        if five:
            angles = [mp.pi * k / 12 for k in range(2, 7)]
            held: dict[int, Any] = {0: mpf(0), 1: mpf(0), 3: mpf(0), 5: mpf(0)}
            near = ("3.66972834", "1.99781214", "3.99631572", "2.70488591", "1.67204624", "1.68013222")
            names = ("ground", "crank", "coupler", "rocker", "point along", "point across")
        else:
            angles, held = [mp.pi * k / 9 for k in range(18)], {}
            near = ("0.5483086155", "0.7165121014", "1.2791365757", "0.4507961516", "0.2677907989", "0.1615546667", "0.4419004440",
                    "0.6745633852", "-0.0407860658", "-0.3545633537")  # fmt: skip
            names = ("A x", "A y", "D x", "D y", "crank x", "crank y", "coupler", "rocker", "point along", "point across")
        x, value = paths.stationary(paths.misses(points, angles, 1 if five else -1, held), near)
        quantities = [quantity("sum of squares", "m^2", value, None)]
        if five:  # without a held pivot a cognate has the same timing and the same sum
            quantities += [quantity(n, "m", v, None, scale=1.0) for n, v in zip(names, x, strict=True)]
        given: dict[str, Any] = {"points": numbers(points), "least squares": True}
        given |= (
            {"angles": [float(a) for a in angles], "crank pivot": [0.0, 0.0], "ground angle": 0.0}
            if five
            else {"turns": [float(a) for a in angles]}
        )
        where = ("angles: of the crank from the ground link; the crank pivot is the origin, the ground link lies along x." if five else
                 "turns: of the crank from its position at the first point, which is free: crank x, crank y is the crank there. A cognate "
                 "has the same sum.")  # fmt: skip
        printed = "1.9239227e-06" if five else "0.016077817"
        corrections = [f"The printed sum, {printed}, is not an optimum: {nstr(value, 8)} is reached here."]
        if not five:
            corrections.append("Point 6 is (0.05, 0.75); several papers have (0.005, 0.75).")
        title = "Five points at given crank angles, least squares" if five else "Eighteen points at equal steps of the crank, least squares"
        obtained = "slopes of the sum vanish to 1e-32, by Newton's method with differences at 120 digits"
        return case(
            name, title, [NGUYEN.format(2 if five else 3)], corrections=corrections,
            notes=[BEST_KNOWN, where, "point along, point across: the coupler point from B, along and to the left of the coupler B-C.",
                   f"C lies to the {'left' if five else 'right'} of the line from B to D."],
            data={"dimensions": {n: nstr(v, 20) for n, v in zip(names, x, strict=True)}},
            tasks=_task("best known", "path synthesis", given, quantities, obtained),
        )  # fmt: skip


def straight_line() -> dict[str, Any]:
    """Return the straightest line of a lambda linkage over half a turn."""
    with mp.workdps(paths.DIGITS):
        found = paths.hoecken()
        seven = mp.sqrt(mpf(7))
        quantities = [
            quantity("width over length", "1", found["width over length"], None),
            quantity("ground over crank", "1", found["ground"], None, other=(4 + seven) / 3),
            quantity("coupler over crank", "1", found["coupler"], None, other=(3 + seven) / 2),
        ]
        given = {"straight line": "lambda linkage", "share of the turn": 0.5}
        return case(
            "straight-line", "Straight line of Chebyshev's lambda linkage over half a turn",
            ["P. L. Chebyshev: lambda linkage, proportions (4 + sqrt 7)/3 and (3 + sqrt 7)/2 of the crank", "K. Hoecken: the same linkage, "
             "straight over a share of the turn"],
            corrections=["The table of R. L. Norton, Design of Machinery, has 2.200 and 2.800 for 180 deg with 0.096 %; the optimum has "
                         "0.0893 %."],
            notes=["Crank 1; coupler, rocker and the arm of the coupler beyond its pin are equal; the point is at the end of the arm. "
                   "Wanted are ground and coupler for which the strip that holds the path over the half turn about the position away from "
                   "the ground pivot is narrowest over its length."],
            tasks=_task(
                "straightest", "path synthesis", given, quantities,
                "equal alternating extremes of the height, by Newton's method at 120 digits: four in each half, as a minimax by two "
                "proportions and a level asks; the proportions are Chebyshev's closed forms",
            ),
        )  # fmt: skip


CASES = {
    **{name: (lambda name=name: five_poses(name)) for name in POSES},
    "timed-points": timed_points,
    "nine-points": nine,
    **{name: (lambda name=name: least_squares(name)) for name in ("five-timed-points", "eighteen-points")},
    "straight-line": straight_line,
}
