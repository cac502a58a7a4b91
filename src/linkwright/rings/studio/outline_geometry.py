"""Places, circles and outlines of a drawing's parts: geometry without a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwright.api import joints

CURVED = 33  # points of a drawn guide that is not straight


@dataclass(frozen=True)
class ScenePoint:
    """A place on a body (node -1: ground)."""

    node: int
    at: np.ndarray


def guide_samples(joint: Any, low: float, high: float) -> np.ndarray:
    """Values of a guide's coordinate at which its curve is drawn: both ends of a straight one."""
    if joints.along_x(joint):
        return np.array([low, high])
    more = 1e-6 if low == high else 0.0  # so that it has a direction
    return np.linspace(low - more, high + more, CURVED)


def dense(points: np.ndarray) -> np.ndarray:
    """A chain with places between its points, so that distances to it can be measured."""
    return np.concatenate([points[:1], *(a + np.linspace(0.125, 1.0, 8)[:, None] * (b - a) for a, b in pairwise(points))])


def unit_circle(axis: np.ndarray, count: int = 12) -> np.ndarray:
    """(count, 3): a unit circle about an axis."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return np.outer(np.cos(angles), across) + np.outer(np.sin(angles), np.cross(axis, across))


def inside(spoke: np.ndarray, plate: np.ndarray) -> bool:
    """True if a line from a corner of a plate to a point of its plane ends inside: it would only clutter the plate."""
    if np.linalg.norm(plate - spoke[0], axis=1).min() > 1e-9:
        return False
    size = float(np.ptp(plate, axis=0).max())
    _, _, axes = np.linalg.svd(plate - plate.mean(axis=0))
    end = spoke[1] + 1e-6 * (plate.mean(axis=0) - spoke[1])  # an end on an edge counts as inside
    local = (plate - end) @ axes.T
    if abs(local[:, 2]).max() > 1e-6 * size:
        return False
    angles = np.arctan2(local[:, 1], local[:, 0])
    turns = np.roll(angles, -1) - angles
    return bool(abs(np.sum((turns + np.pi) % (2 * np.pi) - np.pi)) > np.pi)


def hull(points: np.ndarray) -> np.ndarray:
    """Points in the order of their outline, as seen across their flattest direction."""
    if len(points) < 3:
        return points
    center = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - center)
    flat = (points - center) @ axes[:2].T
    ring = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]), kind="stable")
    ring = np.roll(ring, -int(np.argmin(ring)))  # begin and sense by the points' order: the axes of a regular polygon are round-off
    return points[ring if ring[1] <= ring[-1] else np.roll(ring[::-1], 1)]
