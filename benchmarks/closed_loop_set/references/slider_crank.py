"""Spatial slider-crank: a crank about x, a rod between a ball joint and a universal joint, a slider along x. One degree of freedom.

First way: with the crank pin B(theta), the slider is at x = sqrt(l^2 - By^2 - Bz^2); about the slider the rod has the angles
phi = atan2(Bz, By) about x and eta from x, its angular velocity is phi' x + eta' e with e across x and the rod. Energy gives theta by
quadrature, and the torque that holds the speed by derivatives of M and V. Second way: absolute coordinates from the file.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp

from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative
from benchmarks.closed_loop_set.references.writing import agree, case, floats, quantity, task

SOURCE = (
    "E. J. Haug: Computer Aided Kinematics and Dynamics of Mechanical Systems, vol. I. Allyn and Bacon 1989, section 12.2",
    "IFToMM library of computational benchmark problems: spatial rigid slider-crank mechanism (R. Masoudi, T. Uchida, D. Wilson, J. "
    "McPhee)",
)
SCRIPT = "benchmarks/closed_loop_set/references/slider_crank.py"
R, ROD, AY, AZ, G, SPEED, END = "0.08", "0.3", "0.1", "0.12", "9.81", "6", "5"
CRANK, AXIAL, ACROSS, M_ROD, M_SLIDER = "0.0001", "0.0004", "0.004", "0.5", "2"


class Pose:
    """Everything at a crank angle; rates are per radian of the crank."""

    def __init__(self, theta: Any):
        r, l = mp.mpf(R), mp.mpf(ROD)
        y, z = mp.mpf(AY) - r * mp.sin(theta), mp.mpf(AZ) + r * mp.cos(theta)
        dy, dz = -r * mp.cos(theta), -r * mp.sin(theta)
        self.x = mp.sqrt(l**2 - y**2 - z**2)
        self.dx = -(y * dy + z * dz) / self.x
        rho = mp.sqrt(y**2 + z**2)
        self.B, self.dB = (mp.mpf(0), y, z), (mp.mpf(0), dy, dz)
        self.dphi = (y * dz - z * dy) / rho**2
        self.deta = self.dx / rho  # cos(eta) = -x / l, sin(eta) = rho / l
        self.u = (-self.x / l, y / l, z / l)
        self.e = (mp.mpf(0), -z / rho, y / rho)
        self.center = (self.x / 2, y / 2, z / 2)
        self.dcenter = (self.dx / 2, dy / 2, dz / 2)
        self.w = (self.dphi, self.deta * self.e[1], self.deta * self.e[2])


def inertia(theta: Any) -> Any:
    p = Pose(theta)
    spin = p.w[0] * p.u[0] + p.w[1] * p.u[1] + p.w[2] * p.u[2]
    turn = mp.fsum(x * x for x in p.w)
    rod = mp.mpf(M_ROD) * mp.fsum(x * x for x in p.dcenter) + mp.mpf(ACROSS) * (turn - spin**2) + mp.mpf(AXIAL) * spin**2
    return mp.mpf(CRANK) + rod + mp.mpf(M_SLIDER) * p.dx**2


def potential(theta: Any) -> Any:
    return mp.mpf(M_ROD) * mp.mpf(G) * Pose(theta).center[2]


def made() -> dict[str, Any]:
    with mp.workdps(30):
        p, speed = Pose(mp.mpf(0)), mp.mpf(SPEED)
        rod = [[(mp.mpf(ACROSS) if i == j else 0) + (mp.mpf(AXIAL) - mp.mpf(ACROSS)) * p.u[i] * p.u[j] for j in range(3)] for i in range(3)]
        crank, block = [1e-4, 1e-5, 1e-4], [1e-4, 1e-4, 1e-4]
        bodies = [
            {"name": "crank", "mass": 0.12, "center": [0.0, 0.1, 0.12], "inertia": _diagonal(crank), "points": {"B": floats(p.B)}},
            {"name": "rod", "mass": 0.5, "center": floats(p.center), "inertia": [floats(row) for row in rod], "points": {"B": floats(p.B)}},
            {"name": "slider", "mass": 2.0, "center": floats((p.x, 0, 0)), "inertia": _diagonal(block), "points": {}},
        ]
        joints = [
            {"name": "A", "type": "revolute", "body_a": "ground", "body_b": "crank", "point": [0.0, 0.1, 0.12], "axis": [1.0, 0.0, 0.0]},
            {"name": "B", "type": "spherical", "body_a": "crank", "body_b": "rod", "point": floats(p.B)},
            {
                "name": "C",
                "type": "universal",
                "body_a": "slider",
                "body_b": "rod",
                "point": floats((p.x, 0, 0)),
                "axes": [[1.0, 0.0, 0.0], floats(p.e)],
            },
            {
                "name": "D",
                "type": "prismatic",
                "body_a": "ground",
                "body_b": "slider",
                "point": floats((p.x, 0, 0)),
                "axis": [1.0, 0.0, 0.0],
            },
        ]
        velocities = {
            "crank": {"angular": [6.0, 0.0, 0.0], "linear": [0.0, 0.0, 0.0]},
            "rod": {"angular": floats([speed * x for x in p.w]), "linear": floats([speed * x for x in p.dcenter])},
            "slider": {"angular": [0.0, 0.0, 0.0], "linear": floats((speed * p.dx, 0, 0))},
        }
        out = case(
            "spatial-slider-crank",
            "spatial slider-crank",
            SOURCE,
            corrections=[
                "The rod's moments of inertia are printed as (0.004, 0.0004, 0.004) kg m^2 without saying which axis is the rod's: the "
                "small one is taken along the rod, as for any slender bar.",
                "The axes of the universal joint are not printed; the first is taken parallel to the slide, the second across it and the "
                "rod. They decide how the rod spins about itself: without its moment about its own axis the crank would be 0.31 rad "
                "further after 5 s.",
            ],
            notes=["The crank's center of mass is on its axis. The crank starts upright with 6 rad/s and turns over."],
            gravity=[0.0, 0.0, -9.81],
            bodies=bodies,
            joints=joints,
            forces=[],
            start={"velocities": velocities},
            tasks=[],
        )
        out["tasks"] = _tasks(out)
    return out


def _tasks(out: dict[str, Any]) -> list[dict[str, Any]]:
    zero, speed = mp.mpf(0), mp.mpf(SPEED)
    model, other = Conservative(inertia, potential, 0, speed), Absolute(out)
    begin = model.acceleration(zero, speed)
    agree("acceleration", begin, other.acceleration(other.start(), "A"), 1e-15)
    torque = -model.M(zero) * begin  # that holds the speed: what else would accelerate the crank
    agree("torque", torque, other.effort(other.start(), {"A": 0.0}, "A"), 1e-15)
    theta = model.turning(mp.mpf(END), mp.pi / 8, 2 * mp.pi)
    rate = model.speed(theta)
    p = Pose(theta)
    agree("acceleration at the end", model.acceleration(theta, rate), other.acceleration(_moving(other, theta, rate), "A"), 1e-14)
    at_end = [
        quantity("crank angle", "rad", theta, {"what": "rotation", "joint": "A"}, scale=1.0, uncertainty=1e-16),
        quantity("crank speed", "rad/s", rate, {"what": "rotation rate", "joint": "A"}, scale=1.0, uncertainty=1e-15),
        quantity("slider x", "m", p.x, {"what": "position", "body": "slider", "point": "center", "component": "x"}, scale=0.1),
        quantity(
            "slider speed", "m/s", p.dx * rate, {"what": "velocity", "body": "slider", "point": "center", "component": "x"}, scale=1.0
        ),
        quantity("B z", "m", p.B[2], {"what": "position", "body": "rod", "point": "B", "component": "z"}, scale=0.1),
    ]
    first = quantity("crank acceleration", "rad/s^2", begin, {"what": "rotation acceleration", "joint": "A"})
    hold = quantity("crank torque", "N m", torque, {"what": "effort", "joint": "A"})
    return [
        task("start", "accelerations", {}, [first], "closed form at 30 digits; absolute coordinates agree to 1e-15", SCRIPT),
        task("hold", "inverse dynamics", {"accelerations": {"A": 0.0}}, [hold], "closed form; absolute coordinates agree to 1e-15", SCRIPT),
        task(
            "run",
            "free motion",
            {"time": float(END)},
            at_end,
            "quadrature of the energy at 30 digits, 24 and 48 nodes a piece agree to 1e-19 s; accelerations at start and end agree with "
            "absolute coordinates",
            SCRIPT,
        ),
    ]


def _moving(other: Absolute, theta: Any, rate: Any) -> Any:
    p, start = Pose(theta), Pose(mp.mpf(0))
    c, s, zero, one = mp.cos(theta), mp.sin(theta), mp.mpf(0), mp.mpf(1)
    crank = [[one, zero, zero], [zero, c, -s], [zero, s, c]]
    unit = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    now, then = _frame(p), _frame(start)
    rod = [[mp.fsum(now[i][k] * then[j][k] for k in range(3)) for j in range(3)] for i in range(3)]
    centers = [[zero, mp.mpf(AY), mp.mpf(AZ)], list(p.center), [p.x, zero, zero]]
    v = [[zero] * 3, [rate * x for x in p.dcenter], [rate * p.dx, zero, zero]]
    return other.moving(centers, [crank, rod, unit], v, [[rate, zero, zero], [rate * x for x in p.w], [zero] * 3])


def _frame(p: Pose) -> list[list[Any]]:
    """Return the axes of the rod as columns: u, e, and across both."""
    u, e = p.u, p.e
    n = (u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0])
    return [[u[i], e[i], n[i]] for i in range(3)]


def _diagonal(x: list[float]) -> list[list[float]]:
    return [[x[i] if i == j else 0.0 for j in range(3)] for i in range(3)]


CASES = {"spatial-slider-crank": made}
