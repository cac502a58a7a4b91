"""Cases from planar mechanisms: bodies, pins and start as the files have them, and quantities with both computations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mpmath import arg, lu_solve, matrix, mp, mpc, mpf

from benchmarks.closed_loop_set.references.plane import GROUND, Link, Pin, Plane, moved
from benchmarks.closed_loop_set.references.writing import floats, hinge, quantity, task

WORK = 40  # digits
OBTAINED = {
    "accelerations": "all Newton-Euler equations in absolute coordinates at 40 digits; Lagrange's equations in the drives' angles, inertia "
    "and potential differentiated by differences at 70 digits, agree",
    "joint forces": "multipliers of the pins from all Newton-Euler equations in absolute coordinates at 40 digits; the accelerations "
    "behind them agree with Lagrange's equations",
    "inverse dynamics": "all Newton-Euler equations in absolute coordinates at 40 digits; Lagrange's equations by differences at 70 digits "
    "give the same efforts",
}


def rod(name: str, length: str, mass: str, points: Mapping[str, str], inertia: Any = None) -> Link:
    """Return a bar with its center in the middle: uniform, unless a moment of inertia about the center is given."""
    L, m = mpf(length), mpf(mass)
    own = {key: mpc(mpf(at)) for key, at in points.items()}
    return Link(name, m, m * L * L / 12 if inertia is None else inertia, {**own, "center": mpc(L / 2)})


def pins(text: str) -> tuple[Pin, ...]:
    """Return pins from lines 'name body_a body_b point'."""
    return tuple(Pin(*line.split()) for line in text.strip().splitlines())


def guess(plane: Plane, drawn: Mapping[str, complex]) -> list[float]:
    """Return places and angles of all bodies from a drawing of the points."""
    out = []
    for link in plane.links:
        first, *_, last = [key for key in link.points if key != "center" and key in drawn]
        turn = (drawn[last] - drawn[first]) / complex(link.points[last] - link.points[first])
        center = drawn[first] + turn / abs(turn) * complex(link.points["center"] - link.points[first])
        out += [center.real, center.imag, float(arg(turn))]
    return out


def parts(plane: Plane, x: Sequence[Any], v: Sequence[Any], plates: Sequence[str] = ()) -> dict[str, Any]:
    """Return the mechanism of a file at its start. Bars are thin; `plates` have half of their moment about each axis of the plane."""
    bodies, velocities = [], {}
    for k, link in enumerate(plane.links):
        bodies.append(
            {"name": link.name, "mass": float(link.mass), "center": floats([x[3 * k], x[3 * k + 1], 0]),
             "inertia": [floats(row) for row in _inertia(link, x[3 * k + 2], link.name in plates)],
             "points": {key: _flat(plane.at(x, link.name, key)) for key in link.points if key != "center"}}
        )  # fmt: skip
        velocities[link.name] = {"angular": floats([0, 0, v[3 * k + 2]]), "linear": floats([v[3 * k], v[3 * k + 1], 0])}
    joints = [hinge(p.name, p.a, p.b, _flat(plane.at(x, p.b, p.point))) for p in plane.pins]
    for name in plane.slides:
        joints.append({"name": f"{name}_guide", "type": "prismatic", "body_a": GROUND, "body_b": name,
                       "point": _flat(plane.at(x, name, "center")), "axis": [1.0, 0.0, 0.0]})  # fmt: skip
    forces = [
        {"name": f"torque_{n}", "type": "torque", "joint": ground_pin(plane, n).name, "value": float(t)} for n, t in plane.torques.items()
    ]
    return {"plane": "xy", "gravity": floats([0, -plane.gravity, 0]), "bodies": bodies, "joints": joints, "forces": forces,
            "start": {"velocities": velocities}}  # fmt: skip


def _flat(z: Any) -> list[float]:
    return floats([z.real, z.imag, 0])


def _inertia(link: Link, angle: Any, plate: bool) -> list[list[Any]]:
    if plate:
        return [[link.inertia / 2, 0, 0], [0, link.inertia / 2, 0], [0, 0, link.inertia]]
    c, s = mp.cos(angle), mp.sin(angle)
    return [[link.inertia * s * s, -link.inertia * s * c, 0], [-link.inertia * s * c, link.inertia * c * c, 0], [0, 0, link.inertia]]


def ground_pin(plane: Plane, name: str) -> Pin:
    return next(p for p in plane.pins if (p.a, p.b) == (GROUND, name))


# -------------------------------------------------------------------- tasks


def by_lagrange(plane: Plane, x: Sequence[Any], v: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return M and h of the drives' angles at a state, with 70 digits of work."""
    with mp.workdps(70):
        at = [3 * plane.index(n) + 2 for n in plane.drives]
        return plane.lagrange([x[c] for c in at], [v[c] for c in at], x)


def accelerations(plane: Plane, x: Sequence[Any], v: Sequence[Any], script: str) -> dict[str, Any]:
    """Return the task of all angular accelerations at the start; those of the drives have the second computation."""
    a, _ = plane.forward(x, v)
    M, h = by_lagrange(plane, x, v)
    acting = plane.applied(v)
    efforts = [acting[3 * plane.index(n) + 2] for n in plane.drives]
    other = dict(zip(plane.drives, lu_solve(M, matrix([t - b for t, b in zip(efforts, h, strict=True)])), strict=True))
    size = float(max(abs(a[3 * k + 2]) for k in range(len(plane.links))))
    quantities = [
        quantity(f"{p.name} acceleration", "rad/s^2", _turning(plane, a, p), {"what": "rotation acceleration", "joint": p.name}, scale=size,
                 **({"other": other[p.b]} if p.a == GROUND and p.b in other else {}))
        for p in plane.pins
    ]  # fmt: skip
    return _task("accelerations", "accelerations", {}, quantities, script)


def _turning(plane: Plane, rates: Sequence[Any], p: Pin) -> Any:
    """Return the rate of body b relative to body a."""
    return rates[3 * plane.index(p.b) + 2] - (0 if p.a == GROUND else rates[3 * plane.index(p.a) + 2])


def joint_forces(plane: Plane, x: Sequence[Any], v: Sequence[Any], script: str) -> dict[str, Any]:
    """Return the task of all forces of pins at the start, in the free motion."""
    _, lam = plane.forward(x, v)
    return _task("joint forces", "joint forces", {}, _forces(plane, lam), script)


def _forces(plane: Plane, lam: Sequence[Any]) -> list[dict[str, Any]]:
    size = float(max(abs(z) for z in lam))
    return [
        quantity(f"{p.name} {c}", "N", lam[2 * i + k], {"what": "force", "joint": p.name, "component": c}, scale=size)
        for i, p in enumerate(plane.pins) for k, c in enumerate("xy")
    ]  # fmt: skip


def inverse_dynamics(plane: Plane, x: Sequence[Any], v: Sequence[Any], given: Sequence[Any], script: str) -> list[dict[str, Any]]:
    """Return two tasks of the drives at given accelerations: their efforts, and the forces of all pins."""
    a = plane.accelerations_of(x, v, given)
    lam, tau = plane.inverse(x, v, a)
    M, h = by_lagrange(plane, x, v)
    other = [sum(M[i, k] * given[k] for k in range(len(given))) + h[i] for i in range(len(given))]
    wanted = {ground_pin(plane, n).name: float(g) for n, g in zip(plane.drives, given, strict=True)}
    size = float(max(abs(t) for t in tau))
    efforts = [
        quantity(
            f"{ground_pin(plane, n).name} torque", "N m", t, {"what": "effort", "joint": ground_pin(plane, n).name}, scale=size, other=o
        )
        for n, t, o in zip(plane.drives, tau, other, strict=True)
    ]
    return [
        _task("drive torque", "inverse dynamics", {"accelerations": wanted}, efforts, script),
        _task("joint forces of the driven motion", "inverse dynamics", {"accelerations": wanted}, _forces(plane, lam), script),
    ]


def free_motion(
    plane: Plane, x: Sequence[Any], v: Sequence[Any], end: str, steps: int, script: str, *, columns: int = 10,
    second: Callable[[], Mapping[str, tuple[Any, Any]]], how: str, doubt: float = 1e-18, tolerance: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the task of the drives' angles and speeds at the end. second: both in another way, by body.

    doubt: uncertainty of angles; that of speeds is a hundred times as large, for changes within a hundredth of a second.
    """
    X, V = moved(lambda p, q: plane.forward(p, q)[0], x, v, mpf(end), steps, columns, tolerance)
    other, quantities = second(), []
    for name in plane.drives:
        c, joint = 3 * plane.index(name) + 2, ground_pin(plane, name).name
        turned, rate = other[name]
        quantities += [
            quantity(f"{joint} rotation", "rad", X[c] - x[c], {"what": "rotation", "joint": joint}, scale=1.0, uncertainty=doubt,
                     other=turned - x[c]),
            quantity(f"{joint} speed", "rad/s", V[c], {"what": "rotation rate", "joint": joint}, scale=1.0, uncertainty=100 * doubt,
                     other=rate),
        ]  # fmt: skip
    sizes = f"{steps} steps" if tolerance is None else f"steps that keep {mp.nstr(tolerance, 1)}"
    rule = f"extrapolated midpoint rule of order {2 * columns}, {sizes} at 40 digits"
    obtained = f"all Newton-Euler equations in absolute coordinates, {rule}; {how}"
    return _task(f"free motion {end} s", "free motion", {"time": float(end)}, quantities, script) | {"obtained": obtained}


def lower_order(plane: Plane, x: Sequence[Any], v: Sequence[Any], end: str, steps: int) -> dict[str, tuple[Any, Any]]:
    """Return the drives' angles and speeds by another rule for the same equations: order 16, other steps."""
    X, V = moved(lambda p, q: plane.forward(p, q)[0], x, v, mpf(end), steps, 8)
    return {name: (X[3 * plane.index(name) + 2], V[3 * plane.index(name) + 2]) for name in plane.drives}


def runs(
    plane: Plane, x: Sequence[Any], v: Sequence[Any], script: str, how: str, *given: tuple[str, int, int, float]
) -> list[dict[str, Any]]:
    """Return tasks of free motions: end, steps of order 20, steps of order 16, uncertainty of the angles."""
    return [
        free_motion(plane, x, v, end, steps, script, how=how, doubt=doubt, second=lambda end=end, n=n: lower_order(plane, x, v, end, n))
        for end, steps, n, doubt in given
    ]


def _task(name: str, kind: str, given: dict[str, Any], quantities: list[dict[str, Any]], script: str) -> dict[str, Any]:
    return task(name, kind, given, quantities, OBTAINED.get(kind, ""), script)
