"""N four-bar windows in a row: all cranks turn alike, and the angle is an elliptic function of time.

With theta from upright, I = (N + 1)/3 + N (kg m^2: N + 1 rods about their ends, N rods that travel with the tips) and
S = (N + 1)/2 + N (kg m), energy gives theta'^2 = 1 + 4 w^2 sin(theta/2)^2, w^2 = g S / I, since the tips start upright with 1 m/s. Hence
sin(theta/2) = sn(t/2 | m = -4 w^2): the first way, by theta functions. The second is the quadrature t = integral of dtheta / theta',
inverted by Newton's method.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.references.writing import case, hinge, quantity, rod, task

SOURCE = (
    "M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado: A benchmarking system for MBS simulation software: problem standardization and "
    "performance measurement. Multibody System Dynamics 16 (2006) 179-190, problem A02",
    "IFToMM library of computational benchmark problems: N-four-bar mechanism",
)
SCRIPT = "benchmarks/closed_loop_set/references/four_bars.py"
G = "9.81"
EARLY, LATE = "0.5", "10"  # s; the first singular position is reached after 0.71 to 0.73 s


def made(N: int) -> dict[str, Any]:
    """Return the case of N windows."""
    bodies = []
    joints = []
    still = {"angular": [0.0, 0.0, 0.0], "linear": [1.0, 0.0, 0.0]}
    velocities: dict[str, Any] = {}
    for i in range(N + 1):
        bodies.append(rod(f"crank{i}", (i, 0, 0), (i, 1, 0), 1.0, {f"B{i}": (i, 1, 0)}))
        joints.append(hinge(f"A{i}", "ground", f"crank{i}", (i, 0, 0)))
        velocities[f"crank{i}"] = {"angular": [0.0, 0.0, -1.0], "linear": [0.5, 0.0, 0.0]}
    for i in range(1, N + 1):
        bodies.append(rod(f"coupler{i}", (i - 1, 1, 0), (i, 1, 0), 1.0, {}))
        joints.append(hinge(f"B{i - 1}_{i}", f"crank{i - 1}", f"coupler{i}", (i - 1, 1, 0)))
        joints.append(hinge(f"C{i}", f"coupler{i}", f"crank{i}", (i, 1, 0)))
        velocities[f"coupler{i}"] = still
    tasks = [_task(N, "early", EARLY), _task(N, "late", LATE)]
    return case(
        f"four-bars-{N}",
        f"{N} four-bar windows in a row",
        SOURCE,
        corrections=[],
        notes=[
            "One degree of freedom. Twice a turn all links lie along the ground line; all loops lose rank at once, and each window could "
            "fold. The reference continues with parallel cranks. Task 'early' ends before the first such position, 'late' passes ten."
        ],
        plane="xy",
        gravity=[0.0, -9.81, 0.0],
        bodies=bodies,
        joints=joints,
        forces=[],
        start={"velocities": velocities},
        tasks=tasks,
    )


def _task(N: int, name: str, end: str) -> dict[str, Any]:
    with mp.workdps(40):
        theta, other = by_sn(N, end), by_quadrature(N, end)
        doubt = 1e-18
        rate = speed(N, theta)
        quantities = [
            quantity("crank angle", "rad", -theta, {"what": "rotation", "joint": "A0"}, scale=1.0, other=-other, uncertainty=doubt),
            quantity("crank speed", "rad/s", -rate, {"what": "rotation rate", "joint": "A0"}, scale=1.0, other=-speed(N, other)),
            quantity("B0 x", "m", mp.sin(theta), {"what": "position", "body": "crank0", "point": "B0", "component": "x"}, scale=1.0),
            quantity("B0 y", "m", mp.cos(theta), {"what": "position", "body": "crank0", "point": "B0", "component": "y"}, scale=1.0),
        ]
    how = "closed form by Jacobi's elliptic function sn at 40 digits; quadrature of the energy at 40 digits agrees"
    return task(name, "free motion", {"time": float(end)}, quantities, how, SCRIPT)


def constant(N: int) -> Any:
    """Return w^2 = g S / I."""
    return mp.mpf(G) * (mp.mpf(N + 1) / 2 + N) / (mp.mpf(N + 1) / 3 + N)


def speed(N: int, theta: Any) -> Any:
    return mp.sqrt(1 + 4 * constant(N) * mp.sin(theta / 2) ** 2)


def by_sn(N: int, end: str) -> Any:
    """Return theta by sn, with the turns that the period counts."""
    m, t = -4 * constant(N), mp.mpf(end)
    turn = 4 * mp.ellipk(m)  # of theta by 2 pi
    turns = mp.floor(t / turn)
    half = mp.re(mp.ellipfun("sn", (t - turns * turn) / 2, m=m))
    within = 2 * mp.asin(half)
    return 2 * mp.pi * turns + (within if t - turns * turn <= turn / 2 else 2 * mp.pi - within)


def by_quadrature(N: int, end: str) -> Any:
    """Return theta from t = integral of dtheta / theta', by Newton's method."""

    def seconds(theta: Any) -> Any:
        nodes = [k * mp.pi / 4 for k in range(int(mp.floor(theta / (mp.pi / 4))) + 1)]
        return mp.quad(lambda x: 1 / speed(N, x), [*nodes, theta])

    turn = seconds(2 * mp.pi)
    t = mp.mpf(end)
    turns = mp.floor(t / turn)
    rest, theta = t - turns * turn, mp.mpf(1)
    for _ in range(60):
        step = (rest - seconds(theta)) * speed(N, theta)
        theta = min(max(theta + step, mp.mpf(0)), 2 * mp.pi)
        if abs(step) < mp.mpf(10) ** (6 - mp.mp.dps):
            return theta + 2 * mp.pi * turns
    raise ArithmeticError("Newton's method for the angle does not converge")


CASES = {f"four-bars-{N}": (lambda N=N: made(N)) for N in (2, 10, 40)}
