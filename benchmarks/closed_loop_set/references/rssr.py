"""Spatial RSSR four-bar: driven crank, coupler on a ball and a universal joint, rocker on a skew axis (Chaudhary and Saha, 6.2)."""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

from benchmarks.closed_loop_set.references.scrapers import CHAUDHARY
from benchmarks.closed_loop_set.references.space import Space, cross, dot, parts, plus, scaled, unit
from benchmarks.closed_loop_set.references.writing import case, quantity, task

SCRIPT = "benchmarks/closed_loop_set/references/rssr.py"


def positions(theta: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return A, B and the pivot of the rocker at a crank angle, by the circle of B about the rocker's axis."""
    a, b, c = mpf("0.1"), mpf("0.4"), mpf("0.25")
    A = [a * mp.cos(theta), a * mp.sin(theta), mpf(0)]
    pivot = [mpf("0.35"), mpf("0.1"), mpf("0.2")]
    u1, u2 = [mpf(1), mpf(0), mpf(0)], [mpf(0), mpf("0.8"), mpf("-0.6")]
    d = plus(pivot, A, -1)
    K1, K2, K3 = 2 * c * dot(d, u1), 2 * c * dot(d, u2), b * b - dot(d, d) - c * c
    psi = mp.atan2(K2, K1) + mp.acos(K3 / mp.sqrt(K1 * K1 + K2 * K2))
    return A, plus(pivot, plus(scaled(u1, c * mp.cos(psi)), u2, c * mp.sin(psi))), pivot


def bar(name: str, a: list[Any], b: list[Any], mass: str, width: Any) -> dict[str, Any]:
    """Return a uniform bar of square section, with numbers of mpmath."""
    e = plus(b, a, -1)
    L2, m = dot(e, e), mpf(mass)
    along, side = m * width * width / 6, m * (L2 + width * width) / 12
    inertia = [[side * int(i == k) + (along - side) * e[i] * e[k] / L2 for k in range(3)] for i in range(3)]
    return {"name": name, "mass": m, "center": scaled(plus(a, b), mpf(1) / 2), "inertia": inertia}


def instant(theta: Any, width: Any) -> tuple[Space, dict[str, dict[str, list[Any]]]]:
    """Return the mechanism at a crank angle, and the points of its bodies."""
    A, B, pivot = positions(theta)
    axis = [mpf(0), mpf("0.6"), mpf("0.8")]
    second = unit(cross(axis, plus(B, A, -1)))
    bodies = [bar("crank", [mpf(0)] * 3, A, "0.5", width), bar("coupler", A, B, "2", width), bar("rocker", pivot, B, "1.25", width)]
    joints = [
        {
            "name": "crank",
            "type": "revolute",
            "body_a": "ground",
            "body_b": "crank",
            "point": [mpf(0)] * 3,
            "axis": [mpf(0), mpf(0), mpf(1)],
        },
        {"name": "rocker", "type": "revolute", "body_a": "ground", "body_b": "rocker", "point": pivot, "axis": axis},
        {"name": "U", "type": "universal", "body_a": "rocker", "body_b": "coupler", "point": B, "axes": [axis, second]},
        {"name": "S", "type": "spherical", "body_a": "coupler", "body_b": "crank", "point": A},
    ]
    points = {"crank": {"A": A}, "coupler": {"A": A, "B": B}, "rocker": {"B": B}}
    return Space(bodies, joints, [mpf(0), -mpf("9.81"), mpf(0)], ("crank",)), points


def by_power(theta: Any, rate: Any, given: Any, width: Any) -> Any:
    """Return the crank's torque by Lagrange's equation, inertia and potential differentiated by differences."""
    step = mpf(10) ** -20
    with mp.workdps(70):
        ends = []
        for sign in (1, -1):
            space, _ = instant(theta + sign * step, width)
            ends.append((space.inertia(space.speeds([mpf(1)])), space.potential()))
        slope, fall = ((p - q) / (2 * step) for p, q in zip(*ends, strict=True))
        space, _ = instant(theta, width)
        return space.inertia(space.speeds([mpf(1)])) * given + slope * rate * rate / 2 + fall


def made(degrees: int) -> dict[str, Any]:
    with mp.workdps(40):
        theta, rate, width = mp.pi * degrees / 180, 10 * mp.pi / 3, mpf("0.02")  # a turn in 0.6 s
        space, points = instant(theta, width)
        v = space.speeds([rate])
        a = space.accelerations_of(v, [mpf(0)])
        reactions, (tau,) = space.inverse(v, a)
        given = {"accelerations": {"crank": 0.0}}
        torque = quantity("crank torque", "N m", tau, {"what": "effort", "joint": "crank"}, other=by_power(theta, rate, mpf(0), width))
        both = [reactions["S"][0], reactions["U"][0]]
        size = float(max(abs(x) for f in both for x in f))
        forces = [
            quantity(f"{joint} {c}", "N", reactions[joint][0][k], {"what": "force", "joint": joint, "component": c}, scale=size)
            for joint in ("S", "U", "rocker") for k, c in enumerate("xyz")
        ]  # fmt: skip
        how = "all 18 Newton-Euler equations at 40 digits"
        tasks = [
            task("drive torque", "inverse dynamics", given, [torque],
                 f"{how}; Lagrange's equation by differences at 70 digits agrees", SCRIPT),
            task("joint forces of the driven motion", "inverse dynamics", given, forces,
                 f"{how}; the torque that belongs to them agrees with Lagrange's equation", SCRIPT),
        ]  # fmt: skip
        return case(
            f"rssr-{degrees}", f"Spatial RSSR four-bar, driven, crank at {degrees} deg", [*CHAUDHARY[:1]],
            corrections=[
                "No dimensions are printed; those of the set are its own: crank 0.1 m about z, coupler 0.4 m, rocker 0.25 m about (0, 0.6, "
                "0.8) through (0.35, 0.1, 0.2) m, bars of 5 kg/m with a square section of 20 mm. Its full turn is proven (the closure's "
                "discriminant has no real root).",
                "The driven link is #6, of Subsystem I; #2 is massless too; rows 4 and 5 of Subsystem II are 0 = 0 and must be left out.",
                "Table 3: 18^3/3 is 1944, printed 1994.",
                "Gravity is not stated; 9.81 m/s^2 along -y is assumed.",
            ],
            notes=["As in the paper the ball joint at the rocker is a universal joint: its first axis is parallel to the rocker's, its "
                   "second lies across the coupler."],
            gravity=[0.0, -9.81, 0.0], **parts(space, v, points), forces=[], tasks=tasks,
        )  # fmt: skip


CASES = {f"rssr-{d}": (lambda d=d: made(d)) for d in (0, 270)}
