"""Stewart platform, 6-UPS, at its home position and in motion: forces of the six legs, with the legs' own masses (own data).

Legs come in pairs. A barrel is on the base by a universal joint, whose first axis is level in the vertical plane of the leg and whose
second is level across it; a rod slides in the barrel and carries the platform by a ball joint.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

from benchmarks.closed_loop_set.references.space import Space, cross, dot, parts, plus, scaled, unit
from benchmarks.closed_loop_set.references.writing import case, floats, quantity, task

SCRIPT = "benchmarks/closed_loop_set/references/stewart.py"
TWIST = ("0.3", "-0.2", "0.5", "0.1", "0.25", "-0.15")  # of the platform: angular, then of its center
ACCELERATIONS = ("1", "-0.5", "2", "0.25", "-1.5", "0.75")  # of the legs, m/s^2


def tube(name: str, a: list[Any], b: list[Any], mass: str, outer: str, inner: str) -> dict[str, Any]:
    """Return a hollow cylinder between two points."""
    e, m = plus(b, a, -1), mpf(mass)
    L2 = dot(e, e)
    rims = (mpf(outer) ** 2 + mpf(inner) ** 2) / 4  # squares of the radii
    along, side = m * rims / 2, m * (rims / 4 + L2 / 12)
    inertia = [[side * int(i == k) + (along - side) * e[i] * e[k] / L2 for k in range(3)] for i in range(3)]
    return {"name": name, "mass": m, "center": scaled(plus(a, b), mpf(1) / 2), "inertia": inertia}


def home() -> tuple[Space, dict[str, dict[str, list[Any]]]]:
    """Return the platform at its home position, and points of its bodies."""
    h, zero = mpf("0.7"), mpf(0)
    disc = {"name": "platform", "mass": mpf(20), "center": [zero, zero, h],
            "inertia": [[mpf("0.8"), zero, zero], [zero, mpf("0.8"), zero], [zero, zero, mpf("1.6")]]}  # fmt: skip
    bodies, joints, corners = [disc], [], {}
    for k in range(3):
        for s in (0, 1):
            n = 2 * k + 1 + s
            foot, head = ((mp.pi * (120 * k + (2 * s - 1) * w) / 180) for w in (12, 48))
            a = [mpf("0.6") * mp.cos(foot), mpf("0.6") * mp.sin(foot), zero]
            b = [mpf("0.4") * mp.cos(head), mpf("0.4") * mp.sin(head), h]
            middle = scaled(plus(a, b), mpf(1) / 2)
            level = unit([b[0] - a[0], b[1] - a[1], zero])
            bodies += [tube(f"barrel{n}", a, middle, "3", "0.06", "0.04"), tube(f"rod{n}", middle, b, "1.5", "0.03", "0")]
            beside = cross([zero, zero, mpf(1)], level)
            joints += [
                {"name": f"U{n}", "type": "universal", "body_a": "ground", "body_b": f"barrel{n}", "point": a, "axes": [level, beside]},
                {"name": f"leg{n}", "type": "prismatic", "body_a": f"barrel{n}", "body_b": f"rod{n}", "point": middle,
                 "axis": unit(plus(b, a, -1))},
                {"name": f"S{n}", "type": "spherical", "body_a": f"rod{n}", "body_b": "platform", "point": b},
            ]  # fmt: skip
            corners[f"P{n}"] = b
    drives = tuple(f"leg{n}" for n in range(1, 7))
    return Space(bodies, joints, [zero, zero, -mpf("9.81")], drives), {"platform": corners}


def leg_rates(space: Space, twist: list[Any]) -> list[Any]:
    """Return the speeds of the legs of a platform's twist, by the closed form: along each leg the speed of its corner."""
    out = []
    for n in range(1, 7):
        corner = space.joint(f"S{n}")["point"]
        speed = plus(twist[3:], cross(twist[:3], plus(corner, space.bodies[0]["center"], -1)))
        out.append(dot(space.joint(f"leg{n}")["axis"], speed))
    return out


def leg_accelerations(space: Space, v: list[Any], a: list[Any]) -> list[Any]:
    """Return second derivatives of the distances from foot to corner: |d|'' = (|d'|^2 - (|d|')^2) / |d| + e . d''."""
    out = []
    w, u, turning, acceleration = v[:3], v[3:6], a[:3], a[3:6]
    for n in range(1, 7):
        corner, foot, e = space.joint(f"S{n}")["point"], space.joint(f"U{n}")["point"], space.joint(f"leg{n}")["axis"]
        r, d = plus(corner, space.bodies[0]["center"], -1), plus(corner, foot, -1)
        rate = plus(u, cross(w, r))
        second = plus(acceleration, plus(cross(turning, r), cross(w, cross(w, r))))
        along = dot(e, rate)
        out.append((dot(rate, rate) - along * along) / mp.sqrt(dot(d, d)) + dot(e, second))
    return out


def by_virtual_power(space: Space, v: list[Any], a: list[Any]) -> list[Any]:
    """Return the forces of the legs without reactions: the power of all inertia forces and weights at unit speed of each leg."""
    required = space.required(v, a)
    units = [space.speeds([mpf(int(i == k)) for k in range(6)]) for i in range(6)]
    return [sum(x * y for x, y in zip(required, u, strict=True)) for u in units]


def made() -> dict[str, Any]:
    with mp.workdps(40):
        space, points = home()
        twist, wanted = [mpf(x) for x in TWIST], [mpf(x) for x in ACCELERATIONS]
        v = space.speeds(leg_rates(space, twist))
        if max(abs(x - y) for x, y in zip(v[:6], twist, strict=True)) > mpf(10) ** -35:
            raise ArithmeticError("the rows of the joints and the legs' closed form give different speeds")
        a = space.accelerations_of(v, wanted)
        if max(abs(x - y) for x, y in zip(leg_accelerations(space, v, a), wanted, strict=True)) > mpf(10) ** -35:
            raise ArithmeticError("the rows of the joints and the legs' closed form give different accelerations")
        reactions, forces = space.inverse(v, a)
        other, size = by_virtual_power(space, v, a), float(max(abs(f) for f in forces))
        given = {"accelerations": {f"leg{n}": float(x) for n, x in enumerate(wanted, 1)}}
        legs = [
            quantity(f"leg{n} force", "N", f, {"what": "effort", "joint": f"leg{n}"}, scale=size, other=o)
            for n, (f, o) in enumerate(zip(forces, other, strict=True), 1)
        ]
        balls = [
            quantity(f"S{n} {c}", "N", reactions[f"S{n}"][0][k], {"what": "force", "joint": f"S{n}", "component": c}, scale=size)
            for n in range(1, 7) for k, c in enumerate("xyz")
        ]  # fmt: skip
        how = "all 78 Newton-Euler equations at 40 digits; speeds and accelerations of the legs agree with the distances of their ends"
        tasks = [
            task("leg forces", "inverse dynamics", given, legs,
                 f"{how}; virtual power at unit speeds of the legs, without reactions, gives the same forces", SCRIPT),
            task("joint forces of the driven motion", "inverse dynamics", given, balls,
                 f"{how}; the leg forces that belong to them agree with virtual power", SCRIPT),
        ]  # fmt: skip
        return case(
            "stewart", "Stewart platform, 6-UPS, legs with masses, driven, in motion at its home position",
            ["own data: a bench-top motion base"],
            corrections=[],
            notes=["Axes of universal joints: in the leg's vertical plane, fixed to the base; across it, fixed to the barrel, both level."],
            gravity=floats(space.gravity), **parts(space, v, points), forces=[], tasks=tasks,
        )  # fmt: skip


CASES = {"stewart": made}
