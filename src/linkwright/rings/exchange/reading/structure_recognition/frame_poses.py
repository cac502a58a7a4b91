"""Frames of an imported description as numbers: poses of joint frames in the file's pose, rotations about a given axis, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import Description, Joint, Placement, Pose, cross, pose_of, spatial

ALIGNED = 4e-16  # sine of an angle between axes that round-off explains


def placement(X: Pose) -> Placement:
    """Return a pose as plain data."""
    return Placement(vector(X.p), (vector(X.R[0]), vector(X.R[1]), vector(X.R[2])))


def vector(x: Any) -> tuple[float, float, float]:
    a, b, c = (float(value) for value in x)
    return a, b, c


def sides(d: Description, joint: Joint) -> tuple[Pose, Pose]:
    """Return frames F and M of a joint in the world, in the file's pose."""
    first, second = pose_of(d.body(joint.first).start), pose_of(d.body(joint.second).start)
    return first @ pose_of(joint.frame_first), second @ pose_of(joint.frame_second)


def axes_with_z(z: Any, like: Any) -> np.ndarray:
    """Return axes with the given z whose x is as near as possible to that of the axes `like`."""
    z = spatial.normalize(np.asarray(z, float))
    x = like[:, 0] - (like[:, 0] @ z) * z
    if np.sqrt(x @ x) < 0.1:
        y = spatial.normalize(like[:, 1] - (like[:, 1] @ z) * z)
        return np.column_stack([cross(y, z), y, z])
    x = spatial.normalize(x)
    return np.column_stack([x, cross(z, x), z])


def turned_onto(R: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the axes R turned the shortest way that takes the unit vector a onto b; R itself where they agree to round-off."""
    w = cross(a, b)
    s, c = float(np.sqrt(w @ w)), float(a @ b)
    if s <= ALIGNED:
        return R
    K = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    return (np.eye(3) + K + K @ K / (1.0 + c)) @ R


def size(d: Description) -> float:
    """Return a typical length: the largest distance between joint frames on one body, or between bodies in the file's pose."""
    places: dict[str, list[np.ndarray]] = {}
    for j in d.joints:
        places.setdefault(j.first, []).append(np.array(j.frame_first.at, float))
        places.setdefault(j.second, []).append(np.array(j.frame_second.at, float))
    spans = [float(np.ptp(np.array(every), axis=0).max()) for every in places.values()]
    origins = np.array([b.start.at for b in d.bodies], float)
    return max([*spans, float(np.ptp(origins, axis=0).max(initial=0.0)) if len(origins) else 0.0]) or 1.0
