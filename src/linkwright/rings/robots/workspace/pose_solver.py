"""Inverse kinematics of many poses at once: Newton steps in batches of the kernels, each pose until it is there (`onto_each`).

    A dq = -F      A = [J; T; idle], F = [phi; pose - wanted; 0]        lengths by the characteristic length, rows and columns scaled

J and phi are of the loops, T the rates of the pose coordinates, idle the degrees of freedom that spin a link in place. det A = 0 is a
singularity of type I: with the pose held a drive can move. With E, the rates of the drives, `inverse Jacobian` = E A^-1 (columns of
the pose); its determinant is zero in a singularity of type II: with the drives held the pose can move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Compiled, UsageError, closing, counted, degrees_of_freedom, is_rotary, kinematics, listing
from linkwright.rings.robots.workspace.pose_coordinates import PoseCoordinates

AT_ONCE = 4096  # states in one batch: matrices of more would leave the cache
CONTRACTING = 0.5  # share of the step before that a Newton step may have: more, and the pose is not near enough to be on the same branch


class PoseRows(NamedTuple):
    """Scaled rows at states: matrix A, the drives' rows E, loops' residual, pose coordinates, and the pose of the body."""

    A: np.ndarray  # (states, nv, nv)
    E: np.ndarray  # (states, drives, nv), SI
    phi: np.ndarray
    c: np.ndarray  # (states, coordinates), SI
    R: np.ndarray
    p: np.ndarray
    twist: np.ndarray  # rows of angular velocity and velocity of the reference point, SI, (states, 6, nv)


@dataclass(frozen=True)
class PoseSolver:
    """Poses of one body of a mechanism, its drives, and their scales."""

    core: Compiled
    coordinates: PoseCoordinates
    drives: tuple[str, ...]

    @property
    def scales(self) -> np.ndarray:
        return self.coordinates.scales(self.core.loops.kappa)

    @property
    def drive_scales(self) -> np.ndarray:
        return np.array([1.0 if is_rotary(self.core.description, n) else self.core.loops.kappa for n in self.drives])

    def rows(self, q: np.ndarray) -> PoseRows:
        """All rows at states q (states, nq)."""
        core, kernels = self.core, self.core.kernels
        still = np.zeros((len(q), core.tree.nv))
        t = kernels.get("task_terms", drives=list(self.drives), tasks=(self.coordinates.body,)).batch((q, still), {})
        poses = kernels.get("poses").batch((q,), {})
        node = core.skel.node(self.coordinates.body)
        R, p = poses.R[:, node], poses.p[:, node]
        twist, columns = self.coordinates.moved_point(R, t.T), core.loops.columns
        keep = kernels.plan.keep
        J, phi = (t.J, t.phi) if keep is None else (t.J[:, list(keep)], t.phi[:, list(keep)])
        scale = core.loops.row_scale if keep is None else core.loops.row_scale[list(keep)]
        first, last = len(scale), len(scale) + len(self.coordinates.parts)
        A = np.empty((len(q), last + t.idle.shape[1], core.tree.nv))
        np.multiply(J, columns / scale[:, None], out=A[:, :first])
        np.multiply(self.coordinates.rates(R, twist), columns / self.scales[:, None], out=A[:, first:last])
        np.multiply(t.idle, columns, out=A[:, last:])
        return PoseRows(A, t.E, phi / scale, self.coordinates.values(R, p), R, p, twist)

    def residual(self, rows: PoseRows, wanted: np.ndarray) -> np.ndarray:
        """F of wanted poses."""
        off = self.coordinates.off(rows.c, wanted) / self.scales
        rest = rows.A.shape[1] - rows.phi.shape[1] - off.shape[1]
        return np.concatenate([rows.phi, off, np.zeros((len(off), rest))], axis=1)

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """States moved by a dimensionless step."""
        return kinematics.displaced(self.core.skel, q, step * self.core.loops.columns)

    def solve(self, q: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(q, ok) with the wanted poses, from near states; ok where Newton's steps contract from the first on and det A keeps its sign:
        two working modes that meet at the end of the reach differ in it."""
        q, ok = q.copy(), np.zeros(len(q), bool)
        for i in range(0, len(q), AT_ONCE):
            some = slice(i, i + AT_ONCE)
            q[some], ok[some] = self._solve(q[some], wanted[some])
        return q, ok

    def _solve(self, q: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, last = np.zeros(0), np.zeros(0)  # A at the beginning, and where it was seen last

        def steps(x: np.ndarray, at: np.ndarray) -> np.ndarray:
            nonlocal first, last
            rows = self.rows(x)
            if len(first):
                last[at] = rows.A
            else:
                first, last = rows.A, rows.A.copy()
            return solved(rows.A, -self.residual(rows, wanted[at]))

        settled = 2e-8  # step after which the next one is round-off: convergence is quadratic
        q, ok = closing.onto_each(steps, self.moved, q, closing.EachRule(most=9, last=settled, first=1.0, share=CONTRACTING))
        ok[ok] = (determinant(last[ok]) < 0.0) == (determinant(first[ok]) < 0.0)
        return q, ok

    def inverse_jacobian(self, rows: PoseRows) -> tuple[np.ndarray, np.ndarray]:
        """(N, E N): scaled motions of all joints and of the drives by each pose coordinate."""
        n, first = len(self.coordinates.parts), rows.phi.shape[1]
        unit = np.zeros((*rows.A.shape[:2], n))
        unit[:, range(first, first + n), range(n)] = 1.0
        N = solved(rows.A, unit)
        return N, (rows.E * (self.core.loops.columns / self.drive_scales[:, None])) @ N

    def determinants(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(det A, det of the inverse Jacobian) at states."""
        first, second = np.full(len(q), np.nan), np.full(len(q), np.nan)
        for i in range(0, len(q), AT_ONCE):
            rows = self.rows(q[i : i + AT_ONCE])
            first[i : i + AT_ONCE] = determinant(rows.A)
            second[i : i + AT_ONCE] = determinant(self.inverse_jacobian(rows)[1])
        return first, second

    def drives_held(self, q: np.ndarray) -> np.ndarray:
        """det A with the drives' rows in place of those of the pose: type II too, and finite at the end of the reach."""
        out = np.full(len(q), np.nan)
        for i in range(0, len(q), AT_ONCE):
            rows = self.rows(q[i : i + AT_ONCE])
            first = rows.phi.shape[1]
            rows.A[:, first : first + len(self.drives)] = rows.E * (self.core.loops.columns / self.drive_scales[:, None])
            out[i : i + AT_ONCE] = determinant(rows.A)
        return out


def pose_solver(core: Compiled, coordinates: PoseCoordinates, drives: Sequence[str], freedoms: int) -> PoseSolver:
    """Return the solver; raise UsageError unless drives and coordinates are as many as degrees of freedom and determine the motion."""
    names = coordinates.names
    if len(drives) < freedoms:
        raise UsageError(
            f"{counted(len(drives), 'drive')} ({listing(drives) or 'none'}) for {degrees_of_freedom(freedoms)} of the pose "
            f"({listing(names)}): singularities and capabilities need a drive for each. Write more drives into the model (`drive:`), or "
            "name them, drives=[...].",
            name="drives",
        )
    if len(drives) > freedoms:
        raise UsageError(
            f"{counted(len(drives), 'drive')} ({listing(drives)}) for {degrees_of_freedom(freedoms)}: the robot is redundantly "
            "driven. Name "
            f"{freedoms} of them, drives=[...].",
            name="drives",
        )
    solver = PoseSolver(core, coordinates, tuple(drives))
    rows = solver.rows(core.start.q[None])
    count, size = rows.A.shape[1:]
    s = np.linalg.svd(rows.A[0], compute_uv=False)
    independent = 1e-8  # smallest singular value of A at the start, against the largest
    if count != size or not s[-1] > independent * s[0]:
        raise UsageError(
            f"{listing(names)} do not determine the position of '{core.description.name}' at the start: the pose can stay while a joint "
            "moves, or the loops do not let it move so. Name other coordinates in over= and at=, or another start.",
            name=core.description.name,
        )
    return solver


def solved(A: Any, b: Any) -> np.ndarray:
    """x with A x = b, NaN where A is singular; b (states, n) or (states, n, columns)."""
    columns = b[..., None] if b.ndim == 2 else b
    try:
        x = np.linalg.solve(A, columns)
    except np.linalg.LinAlgError:
        bad = ~(np.abs(determinant(A)) > 0.0)
        x = np.linalg.solve(np.where(bad[:, None, None], np.eye(A.shape[-1]), A), columns)
        x[bad] = np.nan
    return x[..., 0] if b.ndim == 2 else x


def determinant(A: np.ndarray) -> np.ndarray:
    """Determinants; NaN of matrices that are not finite."""
    with np.errstate(invalid="ignore"):
        return np.linalg.det(A)
