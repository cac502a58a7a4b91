"""Calibration: geometric numbers and encoder offsets from poses, by Gauss-Newton with exact derivatives.

Unknown are the numbers p, the offsets o, and of every pose the coordinates x of the drives; loops are closed exactly at every step. With
errors weighted by their deviations, x is eliminated pose by pose (its columns are projected out), so that what remains is a small system
for p and o, solved by singular values: directions that no column depends on stay as in the model. Encoders are measurements like all
others, so that more encoders than drives calibrate a mechanism by its loops alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    ANGLE,
    JOINTS,
    LENGTH,
    Description,
    Dimension,
    System,
    UsageError,
    closing,
    compiled_of,
    counted,
    degrees_of_freedom,
    is_hinge,
    is_rotary,
    kinematics,
    nearest,
    quantity,
)
from linkwright.rings.robots.identification.calibration_result import Calibration
from linkwright.rings.robots.identification.measured_tables import MeasuredTable, measured_table

MOST, HALVINGS = 40, 10
LAST_STEP = 1e-6  # of Newton's method, rad or m: what is left is of the size of its square
OBSERVABLE = 1e-7  # singular value against the largest
LINK_LENGTH, STEP = ".length", 1e-5  # of links of the drawing; of differences, in sizes
Vary = Sequence[str] | str

ENCODER = 1e-4  # rad or m: deviation of columns where none is given, scaled by the residual in the end
TURN = ("rx", "ry", "rz")


@dataclass(frozen=True)
class _CalibrationProblem:
    """Poses and columns, and the kernels whose inputs are the parameters."""

    system: System
    near: np.ndarray
    seen: Sequence[Observation]
    sigma: np.ndarray  # (columns,)
    offsets: Sequence[str]

    def poses(self, x: np.ndarray, q: np.ndarray, p: np.ndarray) -> ClosedPoses | None:
        """Closed states at these drive coordinates and numbers, near q; None where the loops cannot be closed."""
        s = self.system
        plain, slopes = s.kernel("kinematics"), s.kernel("kinematics", by=("drive", "parameters"))
        still, none, parameters = np.zeros((len(x), s.tree.nv)), np.zeros_like(x), np.tile(p, (len(x), 1))

        def call(kernel: Any, *arrays: np.ndarray) -> Any:
            more = {"near": self.near} if any(b.name == "near" for b in kernel.inputs) else {}
            return kernel(*arrays, parameters=parameters, **more)

        def steps(there: np.ndarray, some: np.ndarray) -> np.ndarray:
            more = {"near": self.near[some]} if any(b.name == "near" for b in plain.inputs) else {}
            out = plain(there, still[some], x[some], none[some], none[some], parameters=parameters[some], **more)
            return np.full_like(there, np.nan) if out.failed else out.q - there

        q, closed = closing.onto_each(steps, np.add, q, closing.EachRule(most=12, last=LAST_STEP))
        if not closed.all():
            return None
        at = call(slopes, q, still, x, none, none)
        points = call(s.kernel("points", by=("q", "parameters")), q, still)
        poses = call(s.kernel("poses", by=("q", "parameters")), q)
        along = (velocity_directions(s, q, slope) for slope in (at.q_drive, at.q_parameters))
        return ClosedPoses(x, q, at.q_drive, at.q_parameters, *along, points, poses)

    def rows(self, poses: ClosedPoses, o: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weighted errors (n, columns), and the derivatives of the predictions by x and by (p, o)."""
        n, P = len(poses.x), poses.q_p.shape[2]
        r = np.zeros((n, len(self.seen)))
        by_x, by_u = np.zeros((*r.shape, poses.x.shape[1])), np.zeros((*r.shape, P + len(self.offsets)))
        for k, seen in enumerate(self.seen):
            error, by_x[:, k], by_u[:, k, :P] = seen.error(poses)
            if seen.name in self.offsets:
                j = list(self.offsets).index(seen.name)
                error = error - o[j]
                by_u[:, k, P + j] = 1.0
            r[:, k] = error
        return r / self.sigma, by_x / self.sigma[:, None], by_u / self.sigma[:, None]


def calibrate(
    description: Description,
    poses: Any,
    *,
    vary: Vary,
    offsets: Any = (),
    noise: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Calibration:
    """See `lw.calibrate`."""
    system = System(description, parameters=_names(vary), engine="python")
    table = measured_table(poses, columns, "poses")
    seen = observations(system, table)
    chosen = _offsets(seen, offsets)
    sigma = _deviations(seen, noise)
    x = _drive_readings(system, seen)
    _need_enough(system, seen, len(x), len(system.parameters) + len(chosen))
    start = System(description).assemble_batch(dict(zip(compiled_of(system).drive_names, x.T, strict=True)))
    if not start.ok.all():
        k = int(np.flatnonzero(~start.ok)[0])
        raise UsageError(
            f"poses: the model cannot take pose {k} at the measured positions of its drives. Check its row, or leave it out.", name="poses"
        )
    near = np.asarray(start.near) if start.near is not None and np.size(start.near) else np.zeros((len(x), 0))
    problem = _CalibrationProblem(system, near, seen, sigma, chosen)
    p0, size = (np.array([getattr(f, name) for f in system.parameters], dtype=float) for name in ("value", "size"))
    return _solved(problem, np.array(x), np.asarray(start.q), p0, np.append(np.abs(size), np.ones(len(chosen))), description, noise)


def _solved(
    problem: _CalibrationProblem, x: np.ndarray, q: np.ndarray, p: np.ndarray, size: np.ndarray, d: Description, noise: Any
) -> Calibration:
    """Iterate to the least squares; deviations from the last Jacobian."""
    size = np.where(size > 0.0, size, 1.0)
    u0 = np.append(p, np.zeros(len(problem.offsets)))
    u, P = u0.copy(), len(p)
    poses = problem.poses(x, q, u[:P])
    if poses is None:
        raise UsageError(
            "poses: the loops of the model do not close at the measured positions. Check units and signs of the columns.", name="poses"
        )
    iterations, step = 0, np.inf
    converged = 1e-10  # step in units of the numbers' sizes
    while iterations < MOST and step > converged:
        iterations += 1
        r, by_x, by_u = problem.rows(poses, u[P:])
        du, dx, *_ = _step(r, by_x, by_u, size)
        cost, factor = float((r**2).sum()), 1.0
        for _ in range(HALVINGS):
            there = problem.poses(poses.x + factor * dx, poses.q, u[:P] + factor * du[:P])
            if there is not None and (problem.rows(there, u[P:] + factor * du[P:])[0] ** 2).sum() <= cost * (1.0 + 1e-9) + 1e-18:
                break
            factor *= 0.5
        else:
            break
        u, poses, step = u + factor * du, there, factor * float(np.abs(du / size).max())
    r, by_x, by_u = problem.rows(poses, u[P:])
    _, _, s, Vt, rank = _step(r, by_x, by_u, size)
    spare = r.size - x.size - rank
    variance = float((r**2).sum() / spare) if spare > 0 else 1.0
    V = (Vt[:rank].T / s[:rank]) * size[:, None]
    covariance = V @ V.T * (1.0 if noise is not None else variance)
    residual = dict(zip([o.name for o in problem.seen], (np.sqrt((r**2).mean(axis=0)) * problem.sigma).tolist(), strict=True))
    names = tuple(f.name for f in problem.system.parameters)
    written, T = _as_written(d, names, u[:P], size[:P])
    u, covariance = np.append(written, u[P:]), _turned_covariance(covariance, T)
    return Calibration(names, tuple(problem.offsets), u, u0, covariance, s, Vt[rank:], residual, variance, iterations, d)


def _as_written(d: Description, names: Sequence[str], p: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as `with_` and the file take them, and their derivatives by the parameters: the length of a link between pins that move as
    well is its own, while as a parameter it is the change beside that of the pins."""
    lengths = [n for n in names if n.endswith(LINK_LENGTH) and n in d.drawn_numbers]
    if not lengths or len(lengths) == len([n for n in names if n in d.drawn_numbers]):
        return p, np.eye(len(p))

    def written(values: np.ndarray) -> np.ndarray:
        found, out = d.numbers(dict(zip(names, values.tolist(), strict=True))), values.copy()
        for name in lengths:
            first, second = (np.array(x.at, dtype=float) for x in found.body(name.removesuffix(LINK_LENGTH)).points[:2])
            out[names.index(name)] = np.linalg.norm(second - first)
        return out

    hair = np.diag(STEP * size)
    return written(p), np.array([(written(p + h) - written(p - h)) / (2.0 * h.sum()) for h in hair]).T


def _turned_covariance(covariance: np.ndarray, T: np.ndarray) -> np.ndarray:
    full = np.eye(len(covariance))
    full[: len(T), : len(T)] = T
    return full @ covariance @ full.T


def _step(r: np.ndarray, by_x: np.ndarray, by_u: np.ndarray, size: np.ndarray) -> tuple[Any, ...]:
    """Changes of the unknowns and of the poses, singular values, directions and rank of the projected Jacobian."""
    Q, _ = np.linalg.qr(by_x)
    scaled = by_u * size

    def projected(a: np.ndarray) -> np.ndarray:
        return a - Q @ (Q.transpose(0, 2, 1) @ a)

    A, b = projected(scaled).reshape(-1, len(size)), projected(r[:, :, None]).ravel()
    U, s, Vt = np.linalg.svd(A, full_matrices=len(A) < len(size))
    s = np.append(s, np.zeros(max(0, len(size) - len(s))))
    rank = int((s > OBSERVABLE * s[0]).sum()) if s[0] > 0.0 else 0
    if rank == 0:
        raise UsageError(
            "nothing can be calibrated: no measured column depends on the chosen numbers. Vary others, or measure more.", name="vary"
        )
    z = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    left = r - np.einsum("nmk,k->nm", scaled, z)
    dx = np.einsum("nxm,nm->nx", np.linalg.pinv(by_x), left)
    return z * size, dx, s, Vt, rank


def _names(vary: Vary) -> list[str]:
    names = [vary] if isinstance(vary, str) else list(vary)
    if not names or not all(isinstance(n, str) for n in names):
        raise UsageError('vary names the numbers that are calibrated: ["left.length", "E.x"], or patterns, "*.length".', name="vary")
    return names


def _offsets(seen: Sequence[Observation], wanted: Any) -> tuple[str, ...]:
    encoders = [o.name for o in seen if o.encoder]
    chosen = encoders if wanted is True else [wanted] if isinstance(wanted, str) else list(wanted or ())
    for name in chosen:
        if name not in encoders:
            raise UsageError(f"offsets: '{name}' is not a measured encoder.", nearest(str(name), encoders, "Encoders"))
    return tuple(chosen)


def _deviations(seen: Sequence[Observation], noise: Mapping[str, Any] | None) -> np.ndarray:
    given, names = dict(noise or {}), [o.name for o in seen]
    for name in given:
        if name not in names:
            raise UsageError(f"noise: there is no column '{name}'.", nearest(str(name), names, "Columns"))
    values = [quantity(given[o.name], o.dimension, f"noise of '{o.name}'") if o.name in given else ENCODER for o in seen]
    if not all(v > 0.0 for v in values):
        raise UsageError("noise: standard deviations must be positive.", name="noise")
    return np.array(values)


def _drive_readings(system: System, seen: Sequence[Observation]) -> np.ndarray:
    core = compiled_of(system)
    columns = {o.name: o.measured for o in seen}
    missing = [n for n in core.drive_names if n not in columns]
    if missing or not core.drive_names:
        raise UsageError(
            f"poses: the positions of all drives are needed to find the states. Column '{', '.join(missing)}' is missing.", name="poses"
        )
    return np.stack([columns[n] for n in core.drive_names], axis=1)


def _need_enough(system: System, seen: Sequence[Observation], n: int, unknowns: int) -> None:
    drives = len(compiled_of(system).drive_names)
    if len(seen) <= drives:
        raise UsageError(
            f"poses: {counted(len(seen), 'column')} for {drives} drives leave nothing to compare with. Measure points, "
            "distances, angles, or more "
            "encoders.",
            name="poses",
        )
    if n * (len(seen) - drives) < unknowns:
        least = -(-unknowns // (len(seen) - drives))
        raise UsageError(
            f"poses: {n} poses are too few for {unknowns} unknowns. {least} or more are needed, better many times as many.", name="poses"
        )
    if drives != system.mobility.freedoms:
        freedoms = degrees_of_freedom(system.mobility.freedoms)
        raise UsageError(f"calibrate: {drives} drives for {freedoms}. Name as many drives in the model.")


# Observed quantities of a calibration: encoders, points, orientations and distances, with exact derivatives.
#
# Columns by name:   `A`, `leg1`            encoder of a drive, joint or coordinate       `tool.P.x`, `.y`, `.z`     place of a point
#                    `rod.angle`            angle of a body in the plane                  `tool.P - ground.Q`        distance of two points
#                    `plate.rx`, `.ry`, `.rz`   rotation vector of a body in space: all three columns


@dataclass(frozen=True)
class ClosedPoses:
    """States of all poses on the loops, with derivatives by the drives' coordinates x and the parameters p."""

    x: np.ndarray  # (n, drives)
    q: np.ndarray  # (n, nq)
    q_x: np.ndarray  # (n, nq, drives)
    q_p: np.ndarray  # (n, nq, parameters)
    v_x: np.ndarray  # (n, nv, drives): the same in the directions of the velocities, by which kernels differentiate
    v_p: np.ndarray  # (n, nv, parameters)
    points: Any  # of kernel `points` by q and parameters
    poses: Any  # of kernel `poses` by q and parameters

    def chained(self, value_q: np.ndarray, value_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by x and p of something that depends on q and p, (n, ..)."""
        by_x = np.einsum("n...q,nqx->n...x", value_q, self.v_x)
        return by_x, np.einsum("n...q,nqp->n...p", value_q, self.v_p) + value_p


def velocity_directions(system: System, q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Derivatives of q, (n, nq, k), in the directions of the velocities, (n, nv, k); they differ where there are quaternions."""
    if q.shape[1] == system.tree.nv:
        return slopes
    skel = compiled_of(system).skel
    maps = np.array([[kinematics.qdot(skel, row, e) for e in np.eye(system.tree.nv)] for row in q], dtype=float).transpose(0, 2, 1)
    return np.linalg.pinv(maps) @ slopes


Prediction = tuple[np.ndarray, np.ndarray, np.ndarray]  # values (n,), by x (n, drives), by p (n, parameters)


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
    d, names, drives = system.description, list(system.names.q), list(compiled_of(system).drive_names)
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
        return Observation(name, False, ANGLE, table.column(name, ANGLE), _of_angle(compiled_of(system).skel.node(body)), True)
    hinges = (j.name for j in d.joints if is_hinge(JOINTS[j.type]))
    known = dict.fromkeys([*drives, *names, *hinges, *(f"{p}.{a}" for p in points for a in axes)])
    raise UsageError(
        f"{table.what}: column '{name}' is not a joint, point or distance of '{d.name}'. {nearest(name, known, 'Known')} Points "
        "have an axis "
        "(tool.P.x), distances two points (tool.P - ground.Q). Leave other columns out, or name what they hold (columns=, --column).",
        name=name,
        allowed=known,
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
        return s.points.position[:, k, axis], *s.chained(s.points.position_q[:, k, axis], s.points.position_parameters[:, k, axis])

    return predict


def _of_distance(first: int, second: int) -> Callable[[ClosedPoses], Prediction]:
    def predict(s: ClosedPoses) -> Prediction:
        gap = s.points.position[:, second] - s.points.position[:, first]
        length = np.linalg.norm(gap, axis=1)
        if not (length > 0.0).all():
            raise UsageError("a distance of two points is zero at a pose. Measure between points apart.")
        along = gap / length[:, None]
        parts = (getattr(s.points, name) for name in ("position_q", "position_parameters"))
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
        return s.poses.R[:, node], *s.chained(s.poses.R_q[:, node], s.poses.R_parameters[:, node])
    n, still = len(s.x), np.zeros((len(s.x), 3, 3, 1))
    return np.tile(np.eye(3), (n, 1, 1)), np.repeat(still, s.q_x.shape[2], 3), np.repeat(still, s.q_p.shape[2], 3)


def _of_angle(node: int) -> Callable[[ClosedPoses], Prediction]:
    return lambda s: _angle(*_body(s, node))


def _of_revolute(system: System, name: str) -> Callable[[ClosedPoses], Prediction]:
    """Coordinate of a revolute joint that closes a loop."""
    j = system.description.joint(name)
    first, second = compiled_of(system).skel.node(j.first), compiled_of(system).skel.node(j.second)
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
    measured, node = rotations(vectors), compiled_of(system).skel.node(body)

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
