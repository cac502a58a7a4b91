"""Measures of a robot in many poses: conditioning, stiffness, drive torques and forces, speed and acceleration in every direction.

drives' speeds = G t        t = (w, v) at the reference point, columns of coordinates that the loops leave
stiffness      C = T K^-1 T', T = G^-1; 1 / the largest eigenvalue of its linear or angular block
effort         u = N'(weight - forces) - T' payload, as in `s.inverse` at rest
speed          min_i limit_i / |G_i|, the radius of the largest ball of velocities that the drives allow
acceleration   min_i (limit_i - |u_i|) / |(M G)_i|, from rest
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import is_rotary
from linkwright.rings.robots.workspace.pose_solver import AT_ONCE, PoseRows, PoseSolver

ANGULAR, LINEAR = slice(0, 3), slice(3, 6)
UNITS = {  # SI
    "condition": "",
    "dexterity": "",
    "manipulability": "",
    "stiffness": "N/m",
    "turning_stiffness": "N m/rad",
    "speed": "m/s",
    "turning_speed": "rad/s",
    "acceleration": "m/s^2",
    "turning_acceleration": "rad/s^2",
    "effort_share": "",
}
ABOUT = {
    "condition": "condition number of the Jacobian, lengths by the characteristic length",
    "dexterity": "1 / condition number: 1 isotropic, 0 singular",
    "manipulability": "determinant of the Jacobian (pose by drives), dimensionless",
    "stiffness": "least stiffness against a force, drives compliant",
    "turning_stiffness": "least stiffness against a moment, drives compliant",
    "speed": "speed that the drives allow in every direction, orientation held",
    "turning_speed": "angular speed that the drives allow about every axis, place held",
    "acceleration": "acceleration from rest that the drives allow in every direction",
    "turning_acceleration": "angular acceleration from rest that the drives allow about every axis",
    "effort_share": "largest share of its limit that a drive needs to hold the robot",
}


@dataclass(frozen=True, eq=False)
class RobotData:
    """Drives' stiffness and limits, and the payload, SI; arrays in the order of the drives."""

    stiffness: np.ndarray | None = None
    speeds: np.ndarray | None = None
    efforts: np.ndarray | None = None
    payload_mass: float = 0.0
    wrench: np.ndarray = field(default_factory=lambda: np.zeros(6))  # moment and force on the body at the reference point, world axes


def possible(data: RobotData, dynamic: bool, planar: bool, parts: tuple[str, ...]) -> list[str]:
    """Names of the measures that follow from the data."""
    turns = any(p not in ("x", "y", "z") for p in parts)
    out = ["condition", "dexterity", "manipulability"]
    out += (["stiffness"] + ["turning_stiffness"] * turns) if data.stiffness is not None else []
    out += (["speed"] + ["turning_speed"] * turns) if data.speeds is not None else []
    if data.efforts is not None:
        out += ["effort_share"] + (["acceleration"] + ["turning_acceleration"] * turns) * dynamic
    return out


def effort_names(solver: PoseSolver) -> list[str]:
    """Names of the drive torques and forces."""
    d = solver.core.description
    return [f"{n}.{'torque' if is_rotary(d, n) else 'force'}" for n in solver.drives]


def measured(solver: PoseSolver, q: np.ndarray, data: RobotData, dynamic: bool) -> dict[str, np.ndarray]:
    """All measures that follow from the data at states q; NaN in singular poses."""
    parts = [_measured(solver, q[i : i + AT_ONCE], data, dynamic) for i in range(0, len(q), AT_ONCE)]
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]} if parts else {}


def _measured(solver: PoseSolver, q: np.ndarray, data: RobotData, dynamic: bool) -> dict[str, np.ndarray]:
    rows = solver.rows(q)
    N, G = solver.inverse_jacobian(rows)
    good = _finite(G)
    G = np.where(good[:, None, None], G, np.eye(G.shape[1]))
    s = np.linalg.svd(G, compute_uv=False)
    tiny = s[:, -1] <= 1e-14 * s[:, 0]
    with np.errstate(divide="ignore"):
        condition = np.where(tiny, np.inf, s[:, 0] / s[:, -1])
        out = {"condition": condition, "dexterity": 1.0 / condition, "manipulability": 1.0 / np.abs(np.linalg.det(G))}
    G = np.where(tiny[:, None, None], np.nan, G * solver.drive_scales[:, None] / solver.scales)  # SI
    by_twist = G @ solver.coordinates.rates(rows.R, np.broadcast_to(np.eye(6), (len(q), 6, 6)))
    if data.speeds is not None:
        out |= _balls("speed", np.broadcast_to(data.speeds, G.shape[:2]), by_twist)
    back = _inverted(G)
    motion = (N * solver.core.loops.columns[:, None] / solver.scales) @ back  # velocities of all joints by each drive
    T = rows.twist @ motion
    if data.stiffness is not None:
        C = (T / data.stiffness) @ np.swapaxes(T, 1, 2)
        out |= {"stiffness": _least(C[:, LINEAR, LINEAR]), "turning_stiffness": _least(C[:, ANGULAR, ANGULAR])}
    u, M = _static(solver, q, rows, motion, T, data, dynamic)
    out |= dict(zip(effort_names(solver), u.T, strict=True))
    if data.efforts is not None:
        out["effort_share"] = (np.abs(u) / data.efforts).max(axis=1)
        if M is not None:
            spare = np.maximum(data.efforts - np.abs(u), 0.0)
            out |= _balls("acceleration", spare, M @ by_twist)
    return {name: np.where(good, x, np.nan) for name, x in out.items()}


def _static(
    solver: PoseSolver, q: np.ndarray, rows: PoseRows, motion: np.ndarray, T: np.ndarray, data: RobotData, dynamic: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """(efforts that hold the robot and its payload, inertia reduced to the drives)."""
    wrench = data.wrench.copy()
    if data.payload_mass:
        wrench[3:] += data.payload_mass * np.asarray(solver.core.skel.gravity, dtype=float)
    u = -np.swapaxes(T, 1, 2) @ wrench
    if not dynamic:
        return u, None
    kernel = solver.core.kernels.get("inertia_terms", drives=list(solver.drives))
    t: Any = kernel.batch((q, np.zeros((len(q), solver.core.tree.nv))), {})
    u = u + (np.swapaxes(motion, 1, 2) @ (t.G - t.F)[:, :, None])[:, :, 0]
    M = np.swapaxes(motion, 1, 2) @ t.M @ motion
    return u, M + data.payload_mass * np.swapaxes(T[:, LINEAR], 1, 2) @ T[:, LINEAR]


def _balls(name: str, limits: np.ndarray, by_twist: np.ndarray) -> dict[str, np.ndarray]:
    """Radii of the largest balls of linear and of angular rates within limits of the drives."""
    out = {}
    for key, part in ((name, LINEAR), (f"turning_{name}", ANGULAR)):
        size = np.sqrt((by_twist[:, :, part] ** 2).sum(axis=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            out[key] = np.where(size > 0.0, limits / size, np.where(np.isnan(size), np.nan, np.inf)).min(axis=1)
    return out


def _least(C: np.ndarray) -> np.ndarray:
    """1 / the largest eigenvalue of symmetric matrices."""
    bad = ~_finite(C)
    largest = np.linalg.eigvalsh(np.where(bad[:, None, None], 0.0, C))[:, -1]
    with np.errstate(divide="ignore"):
        return np.where(bad, np.nan, 1.0 / np.maximum(largest, 0.0))


def _finite(x: np.ndarray) -> np.ndarray:
    """Mask of matrices without NaN."""
    return np.asarray(np.isfinite(x).all(axis=(1, 2)))


def _inverted(G: np.ndarray) -> np.ndarray:
    bad = ~_finite(G)
    out = np.linalg.inv(np.where(bad[:, None, None], np.eye(G.shape[1]), G))
    out[bad] = np.nan
    return out
