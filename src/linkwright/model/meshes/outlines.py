"""Outline of a surface seen along z: closed lines that a drawing fills by the nonzero winding rule.

Triangles that face the viewer all run counter-clockwise on the paper, so the winding number of a place is how many of them cover
it, and the edges that no two of them share in opposite directions are the border of that sum: filled by the nonzero rule, exactly
the shadow of the surface, holes included. Of a closed surface the faces toward the viewer cover everything; of an open one those
from behind count as well, turned round.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from linkwright.model.meshes.decimation import Surface

EDGE_ON = 1e-9  # share of the size squared: triangles seen from the side
HOLES = 0.02  # share of edges without a second triangle: a surface with fewer is closed


def outline(surface: Surface) -> list[np.ndarray]:
    """Closed lines (n, 2), the largest first."""
    at, faces = surface.vertices[:, :2], surface.faces
    size = float(np.ptp(at, axis=0).max()) if len(at) else 0.0
    if size == 0.0 or not len(faces):
        return []
    a, b, c = at[faces[:, 0]], at[faces[:, 1]], at[faces[:, 2]]
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    edge_on = EDGE_ON * size * size
    lines = _borders(faces[area > edge_on])
    if not closed(faces) and (area < -edge_on).any():
        lines += _borders(faces[area < -edge_on][:, ::-1])
    straight = 5e-4  # share of the size by which a line may depart from its corners
    out = [_straightened(at[line], straight * size) for line in lines]
    sized = [(abs(_area(p)), p) for p in out if len(p) > 2]
    small = 1e-5  # share of the size squared: specks that are not drawn
    return [p for x, p in sorted(sized, key=lambda pair: -pair[0]) if x > small * size * size]


def _edges(faces: np.ndarray) -> np.ndarray:
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def closed(faces: np.ndarray) -> bool:
    """True if edges are met in both directions, all but a few where clusters of vertices have folded the surface."""
    edges = _edges(faces)
    span = int(faces.max()) + 1
    single = np.setdiff1d(edges[:, 0] * span + edges[:, 1], edges[:, 1] * span + edges[:, 0])
    return len(single) < HOLES * len(edges)


def _borders(faces: np.ndarray) -> list[list[int]]:
    """Closed lines of vertices: the directed edges that no opposite one cancels."""
    if not len(faces):
        return []
    edges = _edges(faces)
    span = int(faces.max()) + 1
    forward, counts = np.unique(edges[:, 0] * span + edges[:, 1], return_counts=True)
    backward = (forward % span) * span + forward // span
    at = np.minimum(np.searchsorted(forward, backward), len(forward) - 1)
    left = counts - np.where(forward[at] == backward, counts[at], 0)
    after: dict[int, list[int]] = defaultdict(list)
    for key, n in zip(forward[left > 0].tolist(), left[left > 0].tolist(), strict=True):
        after[key // span] += [key % span] * n
    lines = []
    for start in list(after):
        while after[start]:
            line, here = [start], after[start].pop()
            while here != start and after[here]:
                line.append(here)
                here = after[here].pop()
            lines.append(line)
    return lines


def _area(p: np.ndarray) -> float:
    x, y = p.T
    return 0.5 * float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def _straightened(points: np.ndarray, tolerance: float) -> np.ndarray:
    """A closed line without corners that depart less than `tolerance` from a straight one (Douglas and Peucker)."""
    if len(points) < 4:
        return points
    far = int(np.argmax(np.linalg.norm(points - points[0], axis=1)))
    closed = np.vstack([points, points[:1]])
    keep = np.zeros(len(closed), dtype=bool)
    keep[[0, far, len(points)]] = True
    open_parts = [(0, far), (far, len(points))]
    while open_parts:
        i, k = open_parts.pop()
        if k - i < 2:
            continue
        d = closed[k] - closed[i]
        length = float(np.hypot(*d))
        r = closed[i + 1 : k] - closed[i]
        away = np.abs(d[0] * r[:, 1] - d[1] * r[:, 0]) / length if length > 0.0 else np.hypot(r[:, 0], r[:, 1])
        worst = int(np.argmax(away))
        if away[worst] > tolerance:
            keep[i + 1 + worst] = True
            open_parts += [(i, i + 1 + worst), (i + 1 + worst, k)]
    return closed[:-1][keep[:-1]]
