"""Vectors and frames as tuples over floats or expressions: the geometry a drawing needs.

Nothing here decides on values: where a choice depends on numbers (which reference axis completes
a frame), the numeric direction is handed in beside the symbolic one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from linkwright.model.description import EYE3, Mat3, Vec3
from linkwright.text.expressions import Expr, cos, sin, sqrt

STEEP = 0.9  # component of a direction above which an axis does not complete its frame
RETAINED = 2048  # results that are: a model is read again for every design, with the same expressions
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def add(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(k: Any, a: Vec3) -> Vec3:
    return (k * a[0], k * a[1], k * a[2])


def dot(a: Vec3, b: Vec3) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a: Vec3) -> Any:
    return sqrt(dot(a, a))


def unit(a: Vec3) -> Vec3:
    """The direction of a; axis-parallel vectors of floats stay exact."""
    size = length(a)
    if isinstance(size, float) and size == 0.0:  # also of numbers whose squares are none
        size = math.hypot(*a)
    return (a[0] / size, a[1] / size, a[2] / size)


def transpose(m: Mat3) -> Mat3:
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


@lru_cache(RETAINED)
def rotate(m: Mat3, a: Vec3) -> Vec3:
    """m a"""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


@lru_cache(RETAINED)
def product(a: Mat3, b: Mat3) -> Mat3:
    return matrix([[dot(row, column) for column in transpose(b)] for row in a])


def columns(x: Vec3, y: Vec3, z: Vec3) -> Mat3:
    """The rotation with these axes as columns."""
    return transpose((x, y, z))


def matrix(rows: Sequence[Sequence[Any]]) -> Mat3:
    a, b, c = (tuple(row) for row in rows)
    return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]))


def vector(values: Sequence[Any]) -> Vec3:
    return (values[0], values[1], values[2])


def frame_along(main: str, direction: Vec3, numeric: Sequence[float]) -> Mat3:
    """The frame whose `main` axis (x, y or z) has the direction, completed in one fixed way.

    For the coordinate axis itself the result is the identity, so an axis that is not worth
    mentioning gives frames that are parallel to the body's.
    """
    size = math.sqrt(sum(c * c for c in numeric))
    return _frame_along(main, direction, abs(numeric[0]) >= STEEP * size, abs(numeric[2]) >= STEEP * size)


@lru_cache(RETAINED)
def _frame_along(main: str, direction: Vec3, along_x: bool, steep: bool) -> Mat3:
    d = unit(direction)
    if main == "z":
        reference = Y if along_x else X
        x = unit(sub(reference, scale(dot(reference, d), d)))
        return columns(x, cross(d, x), d)
    if not isinstance(d[2], Expr) and d[2] == 0.0:  # in the plane: exact zeros, z stays z
        across = (0.0 - d[1], d[0], 0.0)
        return columns(d, across, Z) if main == "x" else columns((d[1], 0.0 - d[0], 0.0), d, Z)
    if main == "x":
        y = unit(cross(Z, d)) if not steep else unit(sub(Y, scale(dot(Y, d), d)))
        return columns(d, y, cross(d, y))
    x = unit(cross(d, Z)) if not steep else unit(sub(X, scale(dot(X, d), d)))
    return columns(x, d, cross(x, d))


def rotation_rpy(roll: Any, pitch: Any, yaw: Any) -> Mat3:
    """Roll about x, then pitch about y, then yaw about z, all of the fixed axes: Rz Ry Rx."""
    a, b, c = roll, pitch, yaw
    if not isinstance(a, Expr) and not isinstance(b, Expr) and a == 0.0 and b == 0.0:
        return rotation_z(c)
    rx = ((1.0, 0.0, 0.0), (0.0, cos(a), -sin(a)), (0.0, sin(a), cos(a)))
    ry = ((cos(b), 0.0, sin(b)), (0.0, 1.0, 0.0), (-sin(b), 0.0, cos(b)))
    return product(rotation_z(c), product(ry, rx))


def rotation_z(angle: Any) -> Mat3:
    if not isinstance(angle, Expr) and angle == 0.0:
        return EYE3
    return ((cos(angle), -sin(angle), 0.0), (sin(angle), cos(angle), 0.0), (0.0, 0.0, 1.0))


def rotation_quaternion(w: Any, x: Any, y: Any, z: Any) -> Mat3:
    """The rotation of a quaternion wxyz, which need not be a unit one."""
    n = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)),
        (n * (x * y + w * z), 1.0 - n * (x * x + z * z), n * (y * z - w * x)),
        (n * (x * z - w * y), n * (y * z + w * x), 1.0 - n * (x * x + y * y)),
    )
