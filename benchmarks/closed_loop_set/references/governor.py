"""Flyball governor: a shaft that turns freely, two rods with balls, a slider on the shaft, two couplers. Problem A05 with rigid couplers.

Two loops are closed, and their hinges are redundant in space. The motion is symmetric: coordinates are phi (the shaft's angle) and beta (of
the rods below the horizontal); the slider's height is z = 1 - sin(beta).

First way: phi' = h / I(beta) and energy give t and phi as integrals over beta. Second way: absolute coordinates from the file have the
same accelerations at start and end.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative, integral
from benchmarks.closed_loop_set.references.writing import agree, case, floats, hinge, quantity, rod, task

SOURCE = (
    "M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado: A benchmarking system for MBS simulation software: problem standardization and "
    "performance measurement. Multibody System Dynamics 16 (2006) 179-190, problem A05",
    "IFToMM library of computational benchmark problems: stiff flyball governor",
)
SCRIPT = "benchmarks/closed_loop_set/references/governor.py"
OFFSET, WIDTH, BALL, SLIDER, ROD, COUPLER, G = "0.05", "0.01", "5", "3", "0.3", "0.15", "9.81"
END = "10"
DOUBT = 1e-17  # m: uncertainty of the slider's height at the end


def bar(mass: str, length: Any) -> tuple[Any, Any]:
    """Return moments of a bar about its axis and across it, at its center."""
    m, w = mp.mpf(mass), mp.mpf(WIDTH)
    return m * w**2 / 6, m * (length**2 + w**2) / 12


def spin(beta: Any) -> Any:
    """Return the moment of inertia of everything about the shaft."""
    o, c, s = mp.mpf(OFFSET), mp.cos(beta), mp.sin(beta)
    along, across = bar(ROD, 1)
    shaft = mp.mpf(ROD) * mp.mpf(WIDTH) ** 2 / 6 + mp.mpf(SLIDER) * mp.mpf("0.01") / 6
    arm = mp.mpf(ROD) * (o + c / 2) ** 2 + along * s**2 + across * c**2 + mp.mpf(BALL) * (o + c) ** 2
    along, across = bar(COUPLER, mp.mpf("0.5"))
    arm += mp.mpf(COUPLER) * (o + c / 4) ** 2 + along * s**2 + across * c**2
    return shaft + 2 * arm


def swing() -> Any:
    """Return the moment of inertia of both rods with balls about their hinges."""
    return 2 * (bar(ROD, 1)[1] + mp.mpf(ROD) / 4 + mp.mpf(BALL))


def momentum() -> Any:
    return 2 * mp.pi * spin(mp.pi / 6)


def inertia(beta: Any) -> Any:
    c, s = mp.cos(beta), mp.sin(beta)
    coupler = bar(COUPLER, mp.mpf("0.5"))[1] + mp.mpf(COUPLER) * (s**2 + 9 * c**2) / 16
    return swing() + 2 * coupler + mp.mpf(SLIDER) * c**2


def potential(beta: Any) -> Any:
    """Return weight and, by the conserved momentum, the energy of turning."""
    s = mp.sin(beta)
    weight = mp.mpf(SLIDER) * (1 - s) + 2 * (mp.mpf(ROD) * (1 - s / 2) + mp.mpf(BALL) * (1 - s) + mp.mpf(COUPLER) * (1 - 3 * s / 4))
    return mp.mpf(G) * weight + momentum() ** 2 / (2 * spin(beta))


def made() -> dict[str, Any]:
    with mp.workdps(30):
        out = _case()
        out["tasks"] = _tasks(out)
    return out


def _tasks(out: dict[str, Any]) -> list[dict[str, Any]]:
    start, zero = mp.pi / 6, mp.mpf(0)
    model, other = Conservative(inertia, potential, start, 0), Absolute(out)
    begin = model.acceleration(start, zero)
    rise = -mp.cos(start) * begin
    agree("slider acceleration", rise, _slider(other, other.start()), 1e-15)
    side = 1 if begin > 0 else -1
    rest = model.rest(side, mp.mpf("0.01"))
    beta, sign = model.swinging(mp.mpf(END), rest, 12)
    speed = sign * model.speed(beta)
    phi = _turned(model, rest, mp.mpf(END), beta, sign)
    z, dz = 1 - mp.sin(beta), -mp.cos(beta) * speed
    end = momentum() / spin(beta)
    there = mp.sin(beta) * speed**2 - mp.cos(beta) * model.acceleration(beta, speed)
    agree("slider acceleration at the end", there, _slider(other, _moving(other, phi, end, beta, speed, z, dz)), 1e-14)
    first = quantity("slider acceleration", "m/s^2", rise, {"what": "acceleration", "body": "slider", "point": "center", "component": "z"})
    how = "quadrature of energy and momentum at 30 digits, 24 and 48 nodes a piece agree to 1e-19 s; "
    how += "accelerations agree with absolute coordinates"
    return [
        task("start", "accelerations", {}, [first], "closed form at 30 digits; absolute coordinates agree to 1e-15", SCRIPT),
        task("swing", "free motion", {"time": float(END)}, _at_end(phi, end, z, dz), how, SCRIPT),
    ]


def _turned(model: Conservative, rest: Any, time: Any, beta: Any, sign: Any) -> Any:
    """Return phi: the integral of h / I dt over all swings until the end."""
    middle, half, pieces = (model.start + rest) / 2, (rest - model.start) / 2, 12

    def seconds(x: Any) -> Any:
        return abs(half) * mp.sin(x) / model.speed(middle - half * mp.cos(x))

    def angle(x: Any) -> Any:
        return seconds(x) * momentum() / spin(middle - half * mp.cos(x))

    nodes = [k * mp.pi / pieces for k in range(pieces + 1)]
    way, turn = (mp.fsum(integral(f, a, b) for a, b in pairwise(nodes)) for f in (seconds, angle))
    swings = int(mp.floor(time / way))
    x = mp.acos((middle - beta) / half)
    part = mp.fsum(integral(angle, a, min(b, x)) for a, b in pairwise(nodes) if a < x)
    away = swings % 2 == 0
    if away != (sign * half > 0):
        raise ArithmeticError("swings were counted wrongly")
    return swings * turn + (part if away else turn - part)


def _at_end(phi: Any, turn: Any, z: Any, dz: Any) -> list[dict[str, Any]]:
    at = {"body": "slider", "point": "center", "component": "z"}
    return [
        quantity("shaft angle", "rad", phi, {"what": "rotation", "joint": "shaft"}, scale=1.0, uncertainty=50 * DOUBT),
        quantity("shaft speed", "rad/s", turn, {"what": "rotation rate", "joint": "shaft"}, scale=1.0, uncertainty=10 * DOUBT),
        quantity("slider z", "m", z, {"what": "position", **at}, scale=1.0, uncertainty=DOUBT),
        quantity("slider speed", "m/s", dz, {"what": "velocity", **at}, scale=1.0, uncertainty=10 * DOUBT),
    ]


def _slider(other: Absolute, moving: Any) -> Any:
    return other.solved(moving)[0].reshape(other.n, 6)[other.index("slider"), 2]


def _moving(other: Absolute, phi: Any, turn: Any, beta: Any, speed: Any, z: Any, dz: Any) -> Any:
    """Return all bodies from the symmetric coordinates: turned about the shaft, rods and couplers about hinges across it."""
    c, s, zero = mp.cos(beta), mp.sin(beta), mp.mpf(0)
    o, share = mp.mpf(OFFSET), _share()
    shaft, steps = _z(phi), []
    delta = beta - mp.pi / 6
    parts = [(zero, mp.mpf("0.5"), zero, zero, zero, zero), (zero, z, zero, dz, zero, zero)]
    for side in (1, -1):
        parts.append((side * (o + share * c), 1 - share * s, -side * share * s * speed, -share * c * speed, side * delta, side * speed))
    for side in (1, -1):
        parts.append((side * (o + c / 4), z + s / 4, -side * s / 4 * speed, dz + c / 4 * speed, -side * delta, -side * speed))
    for x, h, dx, dh, angle, rate in parts:
        R = [[mp.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*_y(angle), strict=True)] for row in shaft]
        across = [shaft[i][1] for i in range(3)]
        center = [x * shaft[0][0], x * shaft[1][0], h]
        v = [dx * shaft[0][0] - turn * center[1], dx * shaft[1][0] + turn * center[0], dh]
        steps.append((center, R, v, [rate * across[0], rate * across[1], turn]))
    return other.moving(*(list(x) for x in zip(*steps, strict=True)))


def _share() -> Any:
    """Return the distance of the center of a rod with its ball from the hinge."""
    return (mp.mpf(ROD) / 2 + mp.mpf(BALL)) / (mp.mpf(ROD) + mp.mpf(BALL))


def _z(angle: Any) -> list[list[Any]]:
    c, s, zero = mp.cos(angle), mp.sin(angle), mp.mpf(0)
    return [[c, -s, zero], [s, c, zero], [zero, zero, mp.mpf(1)]]


def _y(angle: Any) -> list[list[Any]]:
    c, s, zero = mp.cos(angle), mp.sin(angle), mp.mpf(0)
    return [[c, zero, s], [zero, mp.mpf(1), zero], [-s, zero, c]]


def _case() -> dict[str, Any]:
    o, c, s, w = mp.mpf(OFFSET), mp.cos(mp.pi / 6), mp.sin(mp.pi / 6), float(WIDTH)
    cube = 3 * 0.01 / 6
    bodies: list[dict[str, Any]] = [
        rod("shaft", (0, 0, 0), (0, 0, 1), float(ROD), {}, w),
        {
            "name": "slider",
            "mass": 3.0,
            "center": [0.0, 0.0, 0.5],
            "inertia": [[cube, 0.0, 0.0], [0.0, cube, 0.0], [0.0, 0.0, cube]],
            "points": {},
        },
    ]
    joints = [hinge("shaft", "ground", "shaft", (0, 0, 0), (0, 0, 1))]
    joints.append(
        {"name": "guide", "type": "prismatic", "body_a": "shaft", "body_b": "slider", "point": [0.0, 0.0, 0.5], "axis": [0.0, 0.0, 1.0]}
    )
    for k, side in ((1, 1), (2, -1)):
        pivot, ball = ((side * x, mp.mpf(0), h) for x, h in ((o, 1), (o + c, 1 - s)))
        bodies.append(_with_ball(rod(f"rod{k}", pivot, ball, float(ROD), {"ball": ball}, w), ball, (side * c, mp.mpf(0), -s)))
        joints.append(hinge(f"rod{k}", "shaft", f"rod{k}", pivot, (0, 1, 0)))
    for k, side in ((1, 1), (2, -1)):
        middle, foot = (side * (o + c / 2), mp.mpf(0), 1 - s / 2), (side * o, mp.mpf(0), mp.mpf("0.5"))
        bodies.append(rod(f"coupler{k}", foot, middle, float(COUPLER), {}, w))
        joints.append(hinge(f"foot{k}", "slider", f"coupler{k}", foot, (0, 1, 0)))
        joints.append(hinge(f"head{k}", f"rod{k}", f"coupler{k}", middle, (0, 1, 0)))
    turn = 2 * mp.pi
    velocities = {b["name"]: {"angular": floats((0, 0, turn)), "linear": floats((0, turn * mp.mpf(b["center"][0]), 0))} for b in bodies}
    more = {
        "gravity": [0.0, 0.0, -9.81],
        "bodies": bodies,
        "joints": joints,
        "forces": [],
        "start": {"velocities": velocities},
        "tasks": [],
    }
    variant = "Problem A05 with bars of 0.5 m and the same section and density in place of the springs: own variant with closed loops."
    return case("flyball-governor", "flyball governor with rigid couplers", SOURCE, corrections=[], notes=[variant], **more)


def _with_ball(body: dict[str, Any], ball: Any, u: Any) -> dict[str, Any]:
    """Return a rod with the point mass at its end: center and moments of both."""
    along, across = bar(ROD, 1)
    m, M = mp.mpf(ROD), mp.mpf(BALL)
    apart = m * M / (m + M) / 4  # reduced mass times the square of half the length
    inertia = [[(across + apart if i == j else 0) + (along - across - apart) * u[i] * u[j] for j in range(3)] for i in range(3)]
    center = [b - x * (1 - _share()) for b, x in zip(ball, u, strict=True)]
    return {**body, "mass": float(m + M), "center": floats(center), "inertia": [floats(row) for row in inertia]}


CASES = {"flyball-governor": made}
