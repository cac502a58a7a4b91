"""Observed quantities of a calibration: encoders, points, orientations and distances, with exact derivatives.

Columns by name:   `A`, `leg1`            encoder of a drive, joint or coordinate       `tool.P.x`, `.y`, `.z`     place of a point
                   `rod.angle`            angle of a body in the plane                  `tool.P - ground.Q`        distance of two points
                   `plate.rx`, `.ry`, `.rz`   rotation vector of a body in space: all three columns
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, nearest
from linkwright.joints import JOINTS, is_hinge
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model.coordinates import is_rotary
from linkwright.rings.robots.identification.tables import MeasuredTable
from linkwright.system.system import System
from linkwright.text.units import ANGLE, LENGTH, Dimension

ENCODER = 1e-4  # rad or m: deviation of columns where none is given, scaled by the residual in the end
TURN = ("rx", "ry", "rz")


@dataclass(frozen=True)
class ClosedPoses:
    """States of all poses on the loops, with derivatives by the drives' coordinates x and the free numbers p."""

    x: np.ndarray  # (n, drives)
    q: np.ndarray  # (n, nq)
    q_x: np.ndarray  # (n, nq, drives)
    q_p: np.ndarray  # (n, nq, free)
    v_x: np.ndarray  # (n, nv, drives): the same in the directions of the velocities, by which kernels differentiate
    v_p: np.ndarray  # (n, nv, free)
    points: Any  # of kernel `points` by q and free
    poses: Any  # of kernel `poses` by q and free

    def chained(self, value_q: np.ndarray, value_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by x and p of something that depends on q and p, (n, ..)."""
        by_x = np.einsum("n...q,nqx->n...x", value_q, self.v_x)
        return by_x, np.einsum("n...q,nqp->n...p", value_q, self.v_p) + value_p


def velocity_directions(system: System, q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Derivatives of q, (n, nq, k), in the directions of the velocities, (n, nv, k); they differ where there are quaternions."""
    if q.shape[1] == system.tree.nv:
        return slopes
    maps = np.array([[qdot(system.skel, row, e) for e in np.eye(system.tree.nv)] for row in q], dtype=float).transpose(0, 2, 1)
    return np.linalg.pinv(maps) @ slopes


Prediction = tuple[np.ndarray, np.ndarray, np.ndarray]  # values (n,), by x (n, drives), by p (n, free)


@dataclass(frozen=True)
class Observation:
    """One measured column; `error` gives measured minus predicted."""

    name: str
    encoder: bool
    dimension: Dimension
    measured: np.ndarray  # (n,), or (n, 3, 3): rotation matrices
    predict: Callable[[ClosedPoses], Prediction]
    angle: bool = False  # whole turns do not count
    absolute: bool = False  # `predict` gives the difference to the measurement already

    def error(self, poses: ClosedPoses) -> Prediction:
        value, by_x, by_p = self.predict(poses)
        r = -value if self.absolute else self.measured - value
        return (r + np.pi) % (2.0 * np.pi) - np.pi if self.angle else r, by_x, by_p


def observations(system: System, table: MeasuredTable) -> list[Observation]:
    """Return what each column observes; columns of other names are an error, `t` is passed over."""
    out, done = [], set()
    points = [f"{b.name}.{p.name}" for b in system.description.bodies for p in b.points]
    for name in table.quantities:
        if name in done or name == "t":
            continue
        body, _, tail = name.rpartition(".")
        if tail in TURN and body in {b.name for b in system.description.moving}:
            done |= {f"{body}.{axis}" for axis in TURN}
            out += _turned(system, table, body)
        else:
            out.append(_observation(system, table, name, points))
    return out


def _observation(system: System, table: MeasuredTable, name: str, points: Sequence[str]) -> Observation:
    d, names, drives = system.description, list(system.names.q), list(system.core.drive_names)
    body, _, tail = name.rpartition(".")
    ends = [x.strip() for x in name.split(" - ")]
    axes = d.plane or "xyz"
    if name in drives:
        dimension = ANGLE if is_rotary(d, name) else LENGTH
        return Observation(name, True, dimension, table.column(name, dimension), _of_drive(drives.index(name)), dimension == ANGLE)
    if name in names:
        dimension = ANGLE if is_rotary(d, name) else LENGTH
        return Observation(name, True, dimension, table.column(name, dimension), _of_coordinate(names.index(name)), dimension == ANGLE)
    if name in {j.name for j in d.joints} and is_hinge(JOINTS[d.joint(name).type]):
        return Observation(name, True, ANGLE, table.column(name, ANGLE), _of_revolute(system, name), True)
    if len(ends) == 2 and all(x in points for x in ends):
        return Observation(name, False, LENGTH, table.column(name, LENGTH), _of_distance(*(points.index(x) for x in ends)))
    if body in points and tail in axes:
        return Observation(name, False, LENGTH, table.column(name, LENGTH), _of_point(points.index(body), axes.index(tail)))
    if tail == "angle" and d.planar and body in {b.name for b in d.moving}:
        return Observation(name, False, ANGLE, table.column(name, ANGLE), _of_angle(system.skel.node(body)), True)
    hinges = (j.name for j in d.joints if is_hinge(JOINTS[j.type]))
    known = dict.fromkeys([*drives, *names, *hinges, *(f"{p}.{a}" for p in points for a in axes)])
    raise UsageError(
        f"{table.what}: column '{name}' is no joint, point or distance of '{d.name}'. {nearest(name, known, 'Known')} Points have an axis "
        "(tool.P.x), distances two points (tool.P - ground.Q). Leave other columns out, or name what they hold (columns=, --column)."
    )


def _of_drive(k: int) -> Callable[[ClosedPoses], Prediction]:
    def predict(s: ClosedPoses) -> Prediction:
        by_x = np.zeros_like(s.x)
        by_x[:, k] = 1.0
        return s.x[:, k], by_x, np.zeros((len(s.x), s.q_p.shape[2]))

    return predict


def _of_coordinate(k: int) -> Callable[[ClosedPoses], Prediction]:
    return lambda s: (s.q[:, k], s.q_x[:, k], s.q_p[:, k])


def _of_point(k: int, axis: int) -> Callable[[ClosedPoses], Prediction]:
    def predict(s: ClosedPoses) -> Prediction:
        return s.points.position[:, k, axis], *s.chained(s.points.position_q[:, k, axis], s.points.position_free[:, k, axis])

    return predict


def _of_distance(first: int, second: int) -> Callable[[ClosedPoses], Prediction]:
    def predict(s: ClosedPoses) -> Prediction:
        gap = s.points.position[:, second] - s.points.position[:, first]
        length = np.linalg.norm(gap, axis=1)
        if not (length > 0.0).all():
            raise UsageError("a distance of two points is zero at a pose; measure between points apart.")
        along = gap / length[:, None]
        parts = (getattr(s.points, name) for name in ("position_q", "position_free"))
        by_q, by_p = (np.einsum("ni,nik->nk", along, x[:, second] - x[:, first]) for x in parts)
        return length, *s.chained(by_q, by_p)

    return predict


def _angle(R: np.ndarray, R_x: np.ndarray, R_p: np.ndarray) -> Prediction:
    """Angle about z of rotations, with its derivatives."""
    s, c = R[:, 1, 0], R[:, 0, 0]
    return np.arctan2(s, c), *(c[:, None] * D[:, 1, 0] - s[:, None] * D[:, 0, 0] for D in (R_x, R_p))


def _body(s: ClosedPoses, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation of a body with its derivatives; of ground constant."""
    if node >= 0:
        return s.poses.R[:, node], *s.chained(s.poses.R_q[:, node], s.poses.R_free[:, node])
    n, still = len(s.x), np.zeros((len(s.x), 3, 3, 1))
    return np.tile(np.eye(3), (n, 1, 1)), np.repeat(still, s.q_x.shape[2], 3), np.repeat(still, s.q_p.shape[2], 3)


def _of_angle(node: int) -> Callable[[ClosedPoses], Prediction]:
    return lambda s: _angle(*_body(s, node))


def _of_revolute(system: System, name: str) -> Callable[[ClosedPoses], Prediction]:
    """Coordinate of a revolute joint that closes a loop."""
    j = system.description.joint(name)
    first, second = system.skel.node(j.first), system.skel.node(j.second)
    F, M = (np.asarray(f.rotation, dtype=float) for f in (j.frame_first, j.frame_second))

    def predict(s: ClosedPoses) -> Prediction:
        (A, A_x, A_p), (B, B_x, B_p) = _body(s, first), _body(s, second)

        def turned(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
            return np.einsum("ai,nba...,nbc...,cj->nij...", F, X, Y, M)

        def slope(dA: np.ndarray, dB: np.ndarray) -> np.ndarray:
            one = np.einsum("ai,nbak,nbc,cj->nijk", F, dA, B, M)
            return one + np.einsum("ai,nba,nbck,cj->nijk", F, A, dB, M)

        return _angle(turned(A, B), slope(A_x, B_x), slope(A_p, B_p))

    return predict


def _turned(system: System, table: MeasuredTable, body: str) -> list[Observation]:
    """Three components of the difference of two rotations, seen from the measured one: zero where they agree."""
    vectors = np.stack([table.column(f"{body}.{axis}", ANGLE) for axis in TURN], axis=1)
    measured, node = rotations(vectors), system.skel.node(body)

    def of(i: int, j: int) -> Callable[[ClosedPoses], Prediction]:
        def predict(s: ClosedPoses) -> Prediction:
            R, R_x, R_p = _body(s, node)
            D, D_x, D_p = (np.einsum("nba,nb...->na...", measured, X) for X in (R, R_x, R_p))
            return 0.5 * (D[:, j, i] - D[:, i, j]), 0.5 * (D_x[:, j, i] - D_x[:, i, j]), 0.5 * (D_p[:, j, i] - D_p[:, i, j])

        return predict

    pairs = ((1, 2), (2, 0), (0, 1))
    return [Observation(f"{body}.{a}", False, ANGLE, measured, of(*ij), absolute=True) for a, ij in zip(TURN, pairs, strict=True)]


def rotations(vectors: np.ndarray) -> np.ndarray:
    """(n, 3, 3) of rotation vectors."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(vectors).as_matrix()
