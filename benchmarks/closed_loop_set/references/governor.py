"""Flyball governor: a shaft that turns freely, two rods with balls, a slider on the shaft; couplers are bars, or springs with dampers.

`flyball-governor-stiff` is problem A05, whose couplers are stiff springs with dampers: no loop is closed rigidly. `flyball-governor` has
bars of the same section in their place and closes two loops, whose hinges are redundant in space. Both are symmetric: coordinates are phi
(the shaft's angle), beta (of the rods below the horizontal) and, with springs, the height z of the slider; with bars z = 1 - sin(beta).

First way, bars: phi' = h / I(beta) and energy give t and phi as integrals over beta. Springs: the three equations of motion, integrated by
Gauss collocation of order 16 at 25 digits, with steps that resolve the first fast decay (c/m, 3e4 1/s). Second way: absolute coordinates
from the file have the same accelerations at start and end; with springs a second run with other steps and another order.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.collocation import Collocation
from benchmarks.closed_loop_set.references.one_degree import Conservative, integral
from benchmarks.closed_loop_set.references.writing import agree, case, floats, quantity, rod, task

SOURCE = (
    "M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado: A benchmarking system for MBS simulation software: problem standardization and "
    "performance measurement. Multibody System Dynamics 16 (2006) 179-190, problem A05",
    "IFToMM library of computational benchmark problems: stiff flyball governor",
)
SCRIPT = "benchmarks/closed_loop_set/references/governor.py"
OFFSET, WIDTH, BALL, SLIDER, ROD, COUPLER, G = "0.05", "0.01", "5", "3", "0.3", "0.15", "9.81"
STIFFNESS, DAMPING, FREE = "8e5", "4e4", "0.5"
END = "10"


def bar(mass: str, length: Any) -> tuple[Any, Any]:
    """Return moments of a bar about its axis and across it, at its centre."""
    m, w = mp.mpf(mass), mp.mpf(WIDTH)
    return m * w**2 / 6, m * (length**2 + w**2) / 12


def spin(beta: Any, couplers: bool) -> Any:
    """Return the moment of inertia of everything about the shaft."""
    o, c, s = mp.mpf(OFFSET), mp.cos(beta), mp.sin(beta)
    along, across = bar(ROD, 1)
    shaft = mp.mpf(ROD) * mp.mpf(WIDTH) ** 2 / 6 + mp.mpf(SLIDER) * mp.mpf("0.01") / 6
    arm = mp.mpf(ROD) * (o + c / 2) ** 2 + along * s**2 + across * c**2 + mp.mpf(BALL) * (o + c) ** 2
    if couplers:
        along, across = bar(COUPLER, mp.mpf("0.5"))
        arm += mp.mpf(COUPLER) * (o + c / 4) ** 2 + along * s**2 + across * c**2
    return shaft + 2 * arm


def swing() -> Any:
    """Return the moment of inertia of both rods with balls about their hinges."""
    return 2 * (bar(ROD, 1)[1] + mp.mpf(ROD) / 4 + mp.mpf(BALL))


# -------------------------------------------------------------------- bars


def momentum() -> Any:
    return 2 * mp.pi * spin(mp.pi / 6, True)


def bars_inertia(beta: Any) -> Any:
    c, s = mp.cos(beta), mp.sin(beta)
    coupler = bar(COUPLER, mp.mpf("0.5"))[1] + mp.mpf(COUPLER) * (s**2 + 9 * c**2) / 16
    return swing() + 2 * coupler + mp.mpf(SLIDER) * c**2


def bars_potential(beta: Any) -> Any:
    """Return weight and, by the conserved momentum, the energy of turning."""
    s = mp.sin(beta)
    weight = mp.mpf(SLIDER) * (1 - s) + 2 * (mp.mpf(ROD) * (1 - s / 2) + mp.mpf(BALL) * (1 - s) + mp.mpf(COUPLER) * (1 - 3 * s / 4))
    return mp.mpf(G) * weight + momentum() ** 2 / (2 * spin(beta, True))


def made_bars() -> dict[str, Any]:
    with mp.workdps(30):
        out = _case(
            "flyball-governor",
            "flyball governor with rigid couplers",
            True,
            ["Problem A05 with bars of 0.5 m and the same section and density in place of the springs: own variant with closed loops."],
        )
        out["tasks"] = _bars_tasks(out)
    return out


def _bars_tasks(out: dict[str, Any]) -> list[dict[str, Any]]:
    start, zero = mp.pi / 6, mp.mpf(0)
    model, other = Conservative(bars_inertia, bars_potential, start, 0), Absolute(out)
    begin = model.acceleration(start, zero)
    rise = -mp.cos(start) * begin
    agree("slider acceleration", rise, _slider(other, other.start()), 1e-15)
    side = 1 if begin > 0 else -1
    rest = _rest(model, start, side)
    beta, sign = model.swinging(mp.mpf(END), rest, 12)
    speed = sign * model.speed(beta)
    phi = _turned(model, rest, mp.mpf(END), beta, sign)
    z, dz = 1 - mp.sin(beta), -mp.cos(beta) * speed
    end = momentum() / spin(beta, True)
    there = mp.sin(beta) * speed**2 - mp.cos(beta) * model.acceleration(beta, speed)
    agree("slider acceleration at the end", there, _slider(other, _moving(other, phi, end, beta, speed, z, dz)), 1e-14)
    first = quantity("slider acceleration", "m/s^2", rise, {"what": "acceleration", "body": "slider", "point": "centre", "component": "z"})
    how = "quadrature of energy and momentum at 30 digits, 24 and 48 nodes a piece agree to 1e-19 s; "
    how += "accelerations agree with absolute coordinates"
    return [
        task("start", "accelerations", {}, [first], "closed form at 30 digits; absolute coordinates agree to 1e-15", SCRIPT),
        task("swing", "free motion", {"time": float(END)}, _at_end(phi, end, z, dz, 1e-17), how, SCRIPT),
    ]


def _rest(model: Conservative, start: Any, side: int) -> Any:
    s = start + side * mp.mpf("0.01")
    while model.V(s) < model.energy:
        s += side * mp.mpf("0.01")
    return mp.findroot(lambda x: model.V(x) - model.energy, (s - side * mp.mpf("0.01"), s), solver="anderson", tol=mp.mpf(10) ** -50)


def _turned(model: Conservative, rest: Any, time: Any, beta: Any, sign: Any) -> Any:
    """Return phi: the integral of h / I dt over all swings until the end."""
    middle, half, pieces = (model.start + rest) / 2, (rest - model.start) / 2, 12

    def seconds(x: Any) -> Any:
        return abs(half) * mp.sin(x) / model.speed(middle - half * mp.cos(x))

    def angle(x: Any) -> Any:
        return seconds(x) * momentum() / spin(middle - half * mp.cos(x), True)

    nodes = [k * mp.pi / pieces for k in range(pieces + 1)]
    way, turn = (mp.fsum(integral(f, a, b) for a, b in pairwise(nodes)) for f in (seconds, angle))
    swings = int(mp.floor(time / way))
    x = mp.acos((middle - beta) / half)
    part = mp.fsum(integral(angle, a, min(b, x)) for a, b in pairwise(nodes) if a < x)
    away = swings % 2 == 0
    if away != (sign * half > 0):
        raise ArithmeticError("swings were counted wrongly")
    return swings * turn + (part if away else turn - part)


# -------------------------------------------------------------------- springs


def springs_rates(y: list[Any]) -> list[Any]:
    """Return rates of (phi, beta, z, beta', z')."""
    _, beta, z, db, dz = y
    c, s = mp.cos(beta), mp.sin(beta)
    o, m, ball, g = mp.mpf(OFFSET), mp.mpf(ROD), mp.mpf(BALL), mp.mpf(G)
    along, across = bar(ROD, 1)
    turn = springs_momentum() / spin(beta, False)
    dI = 2 * (-m * (o + c / 2) * s + 2 * (along - across) * s * c - 2 * ball * (o + c) * s)
    x, h = c / 2, 1 - s / 2 - z
    length = mp.sqrt(x * x + h * h)
    by_beta, by_z = (-x * s / 2 - h * c / 2) / length, -h / length
    pull = mp.mpf(STIFFNESS) * (length - mp.mpf(FREE)) + mp.mpf(DAMPING) * (by_beta * db + by_z * dz)
    ddb = (dI * turn**2 / 2 + 2 * g * (m / 2 + ball) * c - 2 * pull * by_beta) / swing()
    return [turn, db, dz, ddb, -g - 2 * pull * by_z / mp.mpf(SLIDER)]


@cache
def _springs_momentum(digits: int) -> Any:
    return 2 * mp.pi * spin(mp.pi / 6, False)


def springs_momentum() -> Any:
    return _springs_momentum(mp.mp.dps)


def made_springs() -> dict[str, Any]:
    with mp.workdps(25):
        out = _case(
            "flyball-governor-stiff",
            "flyball governor with stiff springs as couplers",
            False,
            [
                "No loop is closed by joints: stiff springs with dampers stand for the couplers. Fast decay at 3e4 "
                "1/s, then motion in seconds."
            ],
        )
        out["corrections"] = [
            "The angle of 30 degrees is that of the rods below the horizontal: only so are the springs of 0.5 m "
            "relaxed at the start with the "
            "slider at 0.5 m, as the problem says. Hinges and springs are 0.05 m off the axis."
        ]
        out["tasks"] = _springs_tasks(out)
    return out


def _springs_tasks(out: dict[str, Any]) -> list[dict[str, Any]]:
    start = [mp.mpf(0), mp.pi / 6, mp.mpf("0.5"), mp.mpf(0), mp.mpf(0)]
    other = Absolute(out)
    begin = springs_rates(start)
    agree("slider acceleration", begin[4], _slider(other, other.start()), 1e-11)  # stiffness times rounding of the file
    y = Collocation(8, springs_rates).run(start, mp.mpf(END), mp.mpf("2e-6"), mp.mpf("1.35"), mp.mpf("0.05"))
    again = Collocation(10, springs_rates).run(start, mp.mpf(END), mp.mpf("3e-6"), mp.mpf("1.45"), mp.mpf("0.07"))
    for a, b in zip(y, again, strict=True):
        agree("two runs", a, b, 1e-15)
    rates = springs_rates(y)
    agree("slider acceleration at the end", rates[4], _slider(other, _moving(other, y[0], rates[0], y[1], y[3], y[2], y[4])), 1e-10)
    at = {"what": "acceleration", "body": "slider", "point": "centre", "component": "z"}
    first = quantity("slider acceleration", "m/s^2", begin[4], at, uncertainty=5e-12)
    how = "Gauss collocation of order 16 at 25 digits for the symmetric equations; order 20 with other steps agrees to 1e-15"
    return [
        task(
            "start",
            "accelerations",
            {},
            [first],
            "closed form (the springs are relaxed); absolute coordinates agree to the stiffness times the rounding of the file",
            SCRIPT,
        ),
        task("swing", "free motion", {"time": float(END)}, _at_end(y[0], rates[0], y[2], y[4], 1e-15), how, SCRIPT),
    ]


# -------------------------------------------------------------------- both


def _at_end(phi: Any, turn: Any, z: Any, dz: Any, doubt: float) -> list[dict[str, Any]]:
    at = {"body": "slider", "point": "centre", "component": "z"}
    return [
        quantity("shaft angle", "rad", phi, {"what": "rotation", "joint": "shaft"}, scale=1.0, uncertainty=50 * doubt),
        quantity("shaft speed", "rad/s", turn, {"what": "rotation rate", "joint": "shaft"}, scale=1.0, uncertainty=10 * doubt),
        quantity("slider z", "m", z, {"what": "position", **at}, scale=1.0, uncertainty=doubt),
        quantity("slider speed", "m/s", dz, {"what": "velocity", **at}, scale=1.0, uncertainty=10 * doubt),
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
    if other.n == 6:
        for side in (1, -1):
            parts.append((side * (o + c / 4), z + s / 4, -side * s / 4 * speed, dz + c / 4 * speed, -side * delta, -side * speed))
    for x, h, dx, dh, angle, rate in parts:
        R = [[mp.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*_y(angle), strict=True)] for row in shaft]
        across = [shaft[i][1] for i in range(3)]
        centre = [x * shaft[0][0], x * shaft[1][0], h]
        v = [dx * shaft[0][0] - turn * centre[1], dx * shaft[1][0] + turn * centre[0], dh]
        steps.append((centre, R, v, [rate * across[0], rate * across[1], turn]))
    return other.moving(*(list(x) for x in zip(*steps, strict=True)))


def _share() -> Any:
    """Return the distance of the centre of a rod with its ball from the hinge."""
    return (mp.mpf(ROD) / 2 + mp.mpf(BALL)) / (mp.mpf(ROD) + mp.mpf(BALL))


def _z(angle: Any) -> list[list[Any]]:
    c, s, zero = mp.cos(angle), mp.sin(angle), mp.mpf(0)
    return [[c, -s, zero], [s, c, zero], [zero, zero, mp.mpf(1)]]


def _y(angle: Any) -> list[list[Any]]:
    c, s, zero = mp.cos(angle), mp.sin(angle), mp.mpf(0)
    return [[c, zero, s], [zero, mp.mpf(1), zero], [-s, zero, c]]


def _case(name: str, title: str, couplers: bool, notes: list[str]) -> dict[str, Any]:
    o, c, s, w = mp.mpf(OFFSET), mp.cos(mp.pi / 6), mp.sin(mp.pi / 6), float(WIDTH)
    cube = 3 * 0.01 / 6
    bodies: list[dict[str, Any]] = [
        rod("shaft", (0, 0, 0), (0, 0, 1), float(ROD), {}, w),
        {
            "name": "slider",
            "mass": 3.0,
            "centre": [0.0, 0.0, 0.5],
            "inertia": [[cube, 0.0, 0.0], [0.0, cube, 0.0], [0.0, 0.0, cube]],
            "points": {},
        },
    ]
    joints = [_hinge("shaft", "ground", "shaft", (0, 0, 0), (0, 0, 1))]
    joints.append(
        {"name": "guide", "type": "prismatic", "body_a": "shaft", "body_b": "slider", "point": [0.0, 0.0, 0.5], "axis": [0.0, 0.0, 1.0]}
    )
    forces: list[dict[str, Any]] = []
    for k, side in ((1, 1), (2, -1)):
        hinge, ball, middle, foot = (
            (side * x, mp.mpf(0), h) for x, h in ((o, 1), (o + c, 1 - s), (o + c / 2, 1 - s / 2), (o, mp.mpf("0.5")))
        )
        bodies.append(_with_ball(rod(f"rod{k}", hinge, ball, float(ROD), {"ball": ball}, w), ball, (side * c, mp.mpf(0), -s)))
        joints.append(_hinge(f"rod{k}", "shaft", f"rod{k}", hinge, (0, 1, 0)))
        if not couplers:
            ends = [{"body": "slider", "point": floats(foot)}, {"body": f"rod{k}", "point": floats(middle)}]
            numbers = {"stiffness": float(STIFFNESS), "free_length": float(FREE), "damping": float(DAMPING)}
            forces.append({"name": f"coupler{k}", "type": "spring", "between": ends, **numbers})
    if couplers:
        for k, side in ((1, 1), (2, -1)):
            middle, foot = (side * (o + c / 2), mp.mpf(0), 1 - s / 2), (side * o, mp.mpf(0), mp.mpf("0.5"))
            bodies.append(rod(f"coupler{k}", foot, middle, float(COUPLER), {}, w))
            joints.append(_hinge(f"foot{k}", "slider", f"coupler{k}", foot, (0, 1, 0)))
            joints.append(_hinge(f"head{k}", f"rod{k}", f"coupler{k}", middle, (0, 1, 0)))
    turn = 2 * mp.pi
    velocities = {b["name"]: {"angular": floats((0, 0, turn)), "linear": floats((0, turn * mp.mpf(b["centre"][0]), 0))} for b in bodies}
    more = {
        "gravity": [0.0, 0.0, -9.81],
        "bodies": bodies,
        "joints": joints,
        "forces": forces,
        "start": {"velocities": velocities},
        "tasks": [],
    }
    return case(name, title, SOURCE, corrections=[], notes=notes, **more)


def _with_ball(body: dict[str, Any], ball: Any, u: Any) -> dict[str, Any]:
    """Return a rod with the point mass at its end: centre and moments of both."""
    along, across = bar(ROD, 1)
    m, M = mp.mpf(ROD), mp.mpf(BALL)
    apart = m * M / (m + M) / 4  # reduced mass times the square of half the length
    inertia = [[(across + apart if i == j else 0) + (along - across - apart) * u[i] * u[j] for j in range(3)] for i in range(3)]
    centre = [b - x * (1 - _share()) for b, x in zip(ball, u, strict=True)]
    return {**body, "mass": float(m + M), "centre": floats(centre), "inertia": [floats(row) for row in inertia]}


def _hinge(name: str, a: str, b: str, at: Any, axis: tuple[int, int, int]) -> dict[str, Any]:
    return {"name": name, "type": "revolute", "body_a": a, "body_b": b, "point": floats(at), "axis": [float(x) for x in axis]}


CASES = {"flyball-governor": made_bars, "flyball-governor-stiff": made_springs}
