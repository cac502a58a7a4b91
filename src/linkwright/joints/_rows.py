"""Constraint rows shared by the joint types: translations along F's axes, rotations about them.

A row block is (residual, gradient, curvature) of X_FM = (R, p) with the relative angular velocity
w (F axes) and u = dp/dt. Derivations, with z_M the third column of R:

    axis alignment  phi = [-R_12, R_02]   d phi/dt = w . (z_M x e)      e = -y_F or x_F
    orientation     phi = 2 u_quat        d phi/dt = s w + w x u_quat   (s, u_quat) the quaternion of R
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.numerics.scalars import common_type
from linkwright.numerics.spatial import cross, half_angle_vector, skew

X, Y, Z = np.eye(3)


def translation_gradient(axes: tuple[int, ...]) -> np.ndarray:
    """D of the rows p[axes]: they just read dp/dt."""
    D = np.zeros((len(axes), 6))
    for row, axis in enumerate(axes):
        D[row, 3 + axis] = 1.0
    return D


def alignment(R: Any) -> Any:
    """(rx, ry): z of M has no components along y and x of F; first order: rotations about x and y."""
    return np.array([-R[1, 2], R[0, 2]])


def alignment_gradient(R: Any) -> np.ndarray:
    z = R[:, 2]
    D = np.zeros((2, 6), dtype=common_type(R))
    D[0, :3] = -cross(z, Y)
    D[1, :3] = cross(z, X)
    return D


def alignment_curvature(R: Any, w: Any) -> np.ndarray:
    """w x (w x z_M), the acceleration of z_M at zero angular acceleration, in the two rows."""
    a = cross(w, cross(w, R[:, 2]))
    return np.array([-a[1], a[0]])


def orientation(R: Any) -> Any:
    """(rx, ry, rz): twice the vector part of the quaternion, zero only where M is parallel to F."""
    return 2.0 * half_angle_vector(R)[1]


def orientation_gradient(R: Any) -> np.ndarray:
    s, u = half_angle_vector(R)
    D = np.zeros((3, 6), dtype=common_type(R))
    D[:, :3] = s * np.eye(3) - skew(u)
    return D


def orientation_curvature(R: Any, w: Any) -> np.ndarray:
    """ds/dt w + w x du/dt  with  ds/dt = -u.w/2,  du/dt = (s w + w x u)/2."""
    s, u = half_angle_vector(R)
    return -0.5 * (u @ w) * w + 0.5 * cross(w, s * w + cross(w, u))
