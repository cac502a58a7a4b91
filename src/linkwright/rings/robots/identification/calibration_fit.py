"""Calibration: geometric numbers and encoder offsets from poses, by Gauss-Newton with exact derivatives.

Unknown are the numbers p, the offsets o, and of every pose the coordinates x of the drives; loops are closed exactly at every step. With
errors weighted by their deviations, x is eliminated pose by pose (its columns are projected out), so that what remains is a small system
for p and o, solved by singular values: directions that no column depends on stay as in the model. Encoders are measurements like all
others, so that more encoders than drives calibrate a mechanism by its loops alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, counted, degrees_of_freedom, nearest
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.rings.robots.identification.calibration_result import Calibration
from linkwright.rings.robots.identification.observations import ENCODER, ClosedPoses, Observation, observations, velocity_directions
from linkwright.rings.robots.identification.tables import measured_table
from linkwright.system.system import System

MOST, NEWTON, HALVINGS = 40, 12, 10
CLOSED = 1e-10  # residual of the loops, dimensionless
OBSERVABLE = 1e-7  # singular value against the largest
CONVERGED = 1e-10  # step in units of the numbers' sizes
LENGTH, STEP = ".length", 1e-5  # of links of the drawing; of differences, in sizes
Vary = Sequence[str] | str


@dataclass(frozen=True)
class _CalibrationProblem:
    """Poses and columns, and the kernels with the numbers free."""

    system: System
    near: np.ndarray
    seen: Sequence[Observation]
    sigma: np.ndarray  # (columns,)
    offsets: Sequence[str]

    def poses(self, x: np.ndarray, q: np.ndarray, p: np.ndarray) -> ClosedPoses | None:
        """Closed states at these drive coordinates and numbers, near q; None where the loops cannot be closed."""
        s = self.system
        plain, slopes = s.kernel("kinematics"), s.kernel("kinematics", by=("drive", "free"))
        still, none, free = np.zeros((len(x), s.tree.nv)), np.zeros_like(x), np.tile(p, (len(x), 1))

        def call(kernel: Any, *arrays: np.ndarray) -> Any:
            more = {"near": self.near} if any(b.name == "near" for b in kernel.inputs) else {}
            return kernel(*arrays, free=free, **more)

        for _ in range(NEWTON):
            out = call(plain, q, still, x, none, none)
            if out.failed or not np.isfinite(out.q).all():
                return None
            q = out.q
            if np.abs(out.residual).max() < CLOSED:
                break
        else:
            return None
        at = call(slopes, q, still, x, none, none)
        points = call(s.kernel("points", by=("q", "free")), q, still)
        poses = call(s.kernel("poses", by=("q", "free")), q)
        along = (velocity_directions(s, q, slope) for slope in (at.q_drive, at.q_free))
        return ClosedPoses(x, q, at.q_drive, at.q_free, *along, points, poses)

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
    system = System(description, free=_names(vary), engine="python")
    table = measured_table(poses, columns, "poses")
    seen = observations(system, table)
    chosen = _offsets(seen, offsets)
    sigma = _deviations(seen, noise)
    x = _drive_readings(system, seen)
    _need_enough(system, seen, len(x), len(system.free) + len(chosen))
    start = System(description).assemble_batch(dict(zip(system.core.drive_names, x.T, strict=True)))
    if not start.ok.all():
        k = int(np.flatnonzero(~start.ok)[0])
        raise UsageError(f"poses: the model cannot take pose {k} at the measured positions of its drives. Check its row, or leave it out.")
    near = np.asarray(start.near) if start.near is not None and np.size(start.near) else np.zeros((len(x), 0))
    problem = _CalibrationProblem(system, near, seen, sigma, chosen)
    p0, size = (np.array([getattr(f, name) for f in system.free], dtype=float) for name in ("value", "size"))
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
        raise UsageError("poses: the loops of the model do not close at the measured positions. Check units and signs of the columns.")
    iterations, step = 0, np.inf
    while iterations < MOST and step > CONVERGED:
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
    names = tuple(f.name for f in problem.system.free)
    written, T = _as_written(d, names, u[:P], size[:P])
    u, covariance = np.append(written, u[P:]), _turned(covariance, T)
    return Calibration(names, tuple(problem.offsets), u, u0, covariance, s, Vt[rank:], residual, variance, iterations, d)


def _as_written(d: Description, names: Sequence[str], p: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as `with_` and the file take them, and their derivatives by the free ones: the length of a link between pins that move as
    well is its own, while as a free number it is the change beside that of the pins."""
    lengths = [n for n in names if n.endswith(LENGTH) and n in d.drawn_numbers]
    if not lengths or len(lengths) == len([n for n in names if n in d.drawn_numbers]):
        return p, np.eye(len(p))

    def written(values: np.ndarray) -> np.ndarray:
        found, out = d.numbers(dict(zip(names, values.tolist(), strict=True))), values.copy()
        for name in lengths:
            first, second = (np.array(x.at, dtype=float) for x in found.body(name.removesuffix(LENGTH)).points[:2])
            out[names.index(name)] = np.linalg.norm(second - first)
        return out

    hair = np.diag(STEP * size)
    return written(p), np.array([(written(p + h) - written(p - h)) / (2.0 * h.sum()) for h in hair]).T


def _turned(covariance: np.ndarray, T: np.ndarray) -> np.ndarray:
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
        raise UsageError("nothing can be calibrated: no measured column depends on the chosen numbers. Vary others, or measure more.")
    z = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    left = r - np.einsum("nmk,k->nm", scaled, z)
    dx = np.einsum("nxm,nm->nx", np.linalg.pinv(by_x), left)
    return z * size, dx, s, Vt, rank


def _names(vary: Vary) -> list[str]:
    names = [vary] if isinstance(vary, str) else list(vary)
    if not names or not all(isinstance(n, str) for n in names):
        raise UsageError('vary names the numbers that are calibrated: ["left.length", "E.x"], or patterns, "*.length".')
    return names


def _offsets(seen: Sequence[Observation], wanted: Any) -> tuple[str, ...]:
    encoders = [o.name for o in seen if o.encoder]
    chosen = encoders if wanted is True else [wanted] if isinstance(wanted, str) else list(wanted or ())
    for name in chosen:
        if name not in encoders:
            raise UsageError(f"offsets: '{name}' is no measured encoder. {nearest(str(name), encoders, 'Encoders')}")
    return tuple(chosen)


def _deviations(seen: Sequence[Observation], noise: Mapping[str, Any] | None) -> np.ndarray:
    given, names = dict(noise or {}), [o.name for o in seen]
    for name in given:
        if name not in names:
            raise UsageError(f"noise: there is no column '{name}'. {nearest(str(name), names, 'Columns')}")
    values = [quantity(given[o.name], o.dimension, f"noise of '{o.name}'") if o.name in given else ENCODER for o in seen]
    if not all(v > 0.0 for v in values):
        raise UsageError("noise: standard deviations must be positive.")
    return np.array(values)


def _drive_readings(system: System, seen: Sequence[Observation]) -> np.ndarray:
    columns = {o.name: o.measured for o in seen}
    missing = [n for n in system.core.drive_names if n not in columns]
    if missing or not system.core.drive_names:
        raise UsageError(f"poses: the positions of all drives are needed to find the states; column '{', '.join(missing)}' is missing.")
    return np.stack([columns[n] for n in system.core.drive_names], axis=1)


def _need_enough(system: System, seen: Sequence[Observation], n: int, unknowns: int) -> None:
    drives = len(system.core.drive_names)
    if len(seen) <= drives:
        raise UsageError(
            f"poses: {counted(len(seen), 'column')} for {drives} drives leave nothing to compare with. Measure points, "
            "distances, angles, or more "
            "encoders."
        )
    if n * (len(seen) - drives) < unknowns:
        least = -(-unknowns // (len(seen) - drives))
        raise UsageError(f"poses: {n} poses are too few for {unknowns} unknowns; {least} or more are needed, better many times as many.")
    if drives != system.mobility.freedoms:
        freedoms = degrees_of_freedom(system.mobility.freedoms)
        raise UsageError(f"calibrate: {drives} drives for {freedoms}; name as many drives in the model.")
