"""Rigid-body geometry on small numpy arrays: poses, rotations, spatial 6-vectors.

Everything is written with `+ - * / @` and sin, cos, sqrt, so the entries may be floats, complex
numbers or traced symbols. Spatial vectors stack [angular; linear], in world axes, taken at a
fixed origin; `shift_*` move them. Names follow docs/explanation/notation.md: R_WB, p_WB, X_FM.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.numerics.scalars import common_type, is_symbolic, real, where


class Pose(NamedTuple):
    """A pose X_AB, frame B in frame A: columns of R are B's axes, p its origin."""

    R: Any  # (3, 3)
    p: Any  # (3,)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -(self.R.T @ self.p))

    def point(self, p: Any) -> np.ndarray:
        """Return a point given in B, in A."""
        return self.R @ p + self.p


EYE = np.eye(3)  # the object itself means "no rotation": nothing is multiplied with it
IDENTITY = Pose(EYE, np.zeros(3))


def turn(R: Any, x: Any) -> Any:
    """R x, for free where R is EYE."""
    return x if R is EYE else R if x is EYE else R @ x


def turn_back(R: Any, x: Any) -> Any:
    """R' x, for free where R is EYE."""
    return x if R is EYE else R.T @ x


def array(rows: Any) -> np.ndarray:
    """A float array where possible, complex or object where the entries ask for it."""
    a = np.asarray(rows)
    return a.astype(float) if a.dtype.kind in "iub" else a


def cross(a: Any, b: Any) -> np.ndarray:
    """a x b for 3-vectors of any scalar (np.cross is ten times slower on these)."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a: Any) -> np.ndarray:
    """[a]x, with [a]x b = a x b."""
    x, y, z = a
    return array([[0.0 * x, -z, y], [z, 0.0 * x, -x], [-y, x, 0.0 * x]])


def rotation_x(q: Any) -> np.ndarray:
    c, s = np.cos(q), np.sin(q)
    return array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(q: Any) -> np.ndarray:
    c, s = np.cos(q), np.sin(q)
    return array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(q: Any) -> np.ndarray:
    c, s = np.cos(q), np.sin(q)
    return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def normalize(a: Any) -> Any:
    """a / |a|, without `abs` or `norm` so that it stays analytic."""
    return a / np.sqrt(a @ a)


def quaternion_rotation(q: Any) -> np.ndarray:
    """Rotation matrix of a quaternion wxyz of any length."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def rotation_quaternion(R: np.ndarray) -> np.ndarray:
    """Quaternion wxyz of a rotation matrix, w >= 0; the largest component is taken first."""
    K = np.array(
        [
            [1 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - R[0, 0] + R[1, 1] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - R[0, 0] - R[1, 1] + R[2, 2]],
        ]
    )
    row, largest = K[0], K[0, 0]
    if is_symbolic(K):
        for i in range(1, 4):
            more = largest < K[i, i]
            row, largest = np.array([where(more, a, b) for a, b in zip(K[i], row, strict=True)]), where(more, K[i, i], largest)
    else:
        row = K[int(np.argmax(np.real(np.diag(K))))]
    q = normalize(row)
    return q * where(real(q[0]) < 0.0, -1.0, 1.0)


def half_angle_vector(R: Any) -> tuple[Any, Any]:
    """(s, u) of the quaternion of R with s > 0; analytic for rotations below half a turn."""
    s = 0.5 * np.sqrt(1.0 + R[0, 0] + R[1, 1] + R[2, 2])
    u = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * s)
    return s, u


def quaternion_product(a: Any, b: Any) -> np.ndarray:
    """Quaternion of the rotation a followed by b in the moving axes: R(a) R(b)."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])])


def quaternion_rate(q: Any, w: Any) -> np.ndarray:
    """dq/dt of a quaternion wxyz for the angular velocity w in the moving axes."""
    s, x, y, z = q
    return 0.5 * np.array(
        [
            -x * w[0] - y * w[1] - z * w[2],
            s * w[0] + y * w[2] - z * w[1],
            s * w[1] + z * w[0] - x * w[2],
            s * w[2] + x * w[1] - y * w[0],
        ]
    )


def shift_twist(X: Pose, S: Any) -> np.ndarray:
    """Motion vectors (columns of S, or one) given at B in B's axes, now at A in A's axes; X = X_AB."""
    w = X.R @ S[:3]
    return np.concatenate([w, X.R @ S[3:] + skew(X.p) @ w])


def shift_wrench(X: Pose, F: Any) -> np.ndarray:
    """Force vectors [moment; force] given at B in B's axes, now at A in A's axes; X = X_AB."""
    f = X.R @ F[3:]
    return np.concatenate([X.R @ F[:3] + skew(X.p) @ f, f])


def cross_wrench(V: Any, F: Any) -> np.ndarray:
    """V x* F: rate of a force vector F carried along by V  [RBDA (2.32)]."""
    return np.concatenate([cross(V[:3], F[:3]) + cross(V[3:], F[3:]), cross(V[:3], F[3:])])


def rotated_inertia(R: Any, inertia: Any) -> np.ndarray:
    """R I R' of a symmetric I, symmetric to the last bit. The isotropic part d 1 needs no turning: with d the diagonal entry
    that occurs most often a slender or flat body costs one outer product."""
    if R is EYE:
        return inertia
    diagonal = [inertia[0, 0], inertia[1, 1], inertia[2, 2]]
    d = diagonal[2] if diagonal[2] is diagonal[1] or (inertia.dtype.kind == "f" and diagonal[2] in diagonal[:2]) else diagonal[0]
    rest = inertia - d * np.eye(3)
    half = R @ rest
    out = np.zeros((3, 3), dtype=common_type(R, inertia))
    for i in range(3):
        for j in range(i + 1):
            out[i, j] = out[j, i] = half[i] @ R[j] + (d if i == j else 0.0)
    return out


def spatial_inertia(X: Pose, mass: Any, com: Any, inertia: Any) -> np.ndarray:
    """(6, 6) inertia about the origin of X's outer frame of a body with mass data in its own  [RBDA (2.63)]."""
    c = skew(X.point(com))
    I_com = X.R @ inertia @ X.R.T
    out = np.zeros((6, 6), dtype=common_type(X.R, X.p, com, inertia, np.asarray(mass)))
    out[:3, :3] = I_com + mass * (c @ c.T)
    out[:3, 3:] = mass * c
    out[3:, :3] = mass * c.T
    out[3:, 3:] = mass * np.eye(3)
    return out


def point_wrench(p: Any, force: Any, moment: Any = None) -> np.ndarray:
    """[moment; force] about the origin of a force through p and a free moment."""
    m = cross(p, force)
    return np.concatenate([m if moment is None else m + moment, np.asarray(force)])


def point_velocity(V: Any, p: Any) -> Any:
    """Velocity of the body point at p."""
    return V[3:] + cross(V[:3], p)


def point_acceleration(V: Any, A: Any, p: Any) -> Any:
    """Acceleration of the body point at p: dv/dt + alpha x p + w x (velocity)."""
    return A[3:] + cross(A[:3], p) + cross(V[:3], point_velocity(V, p))
