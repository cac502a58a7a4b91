"""Fewer triangles by clusters of vertices: one vertex for each cell of a grid, where its triangles' planes meet.

A cluster's place minimizes the squared distances from the planes of its triangles, weighted by their areas (quadric error), so
that edges and corners stay sharp; where the planes leave a direction open it stays at the mean. Triangles with two corners in one
cell vanish.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.numerics.tolerances import SAME_POSITION

MOST_IN_A_KEY = 2_000_000  # vertices whose three indices fit into one number


class Surface(NamedTuple):
    """Vertices (n, 3) and faces (m, 3) of indices, outside where a face runs counter-clockwise."""

    vertices: np.ndarray
    faces: np.ndarray

    @property
    def corners(self) -> np.ndarray:
        return self.vertices[self.faces]

    def moved(self, R: np.ndarray, p: np.ndarray, scale: np.ndarray) -> Surface:
        """The surface scaled along its axes, then turned and shifted; a mirrored one is turned outside again."""
        faces = self.faces[:, ::-1] if np.prod(scale) < 0.0 else self.faces
        return Surface((self.vertices * scale) @ R.T + p, faces)


def simplified(corners: np.ndarray, most: int) -> Surface:
    """The surface of triangles (n, 3, 3) with at most `most` of them; equal corners become one vertex."""
    corners = np.asarray(corners, dtype=float)
    size = float(np.ptp(corners.reshape(-1, 3), axis=0).max()) or 1.0
    many = 60  # times as many triangles as wanted: fewer first by a dense grid, which is quick
    if len(corners) > many * most:
        dense = _clustered(corners, size / (3.0 * np.sqrt(most)), sharp=True)
        corners = dense.corners if len(dense.faces) > most else corners
    found = _clustered(corners, SAME_POSITION * size, sharp=False)
    cells = np.sqrt(most / 2.0)  # along the longest edge of the box
    best: Surface | None = None
    tries = 8
    for _ in range(tries):
        if len(found.faces) <= most and best is None:
            return found
        tried = _clustered(corners, size / cells, sharp=True)
        fits = len(tried.faces) <= most
        if fits and (best is None or len(tried.faces) > len(best.faces)):
            best = tried
        if fits and len(tried.faces) > 0.8 * most:
            break
        cells = max(2.0, cells * np.clip(np.sqrt(0.9 * most / max(len(tried.faces), 1)), 0.3, 3.0))
    return best if best is not None else Surface(found.vertices, found.faces[:most])


def _clustered(corners: np.ndarray, cell: float, *, sharp: bool) -> Surface:
    points = corners.reshape(-1, 3)
    low = points.min(axis=0) - 0.5 * cell
    i, j, k = np.floor((points - low) / cell).astype(np.int64).T
    keys = (i << 42) | (j << 21) | k
    _, cluster = np.unique(keys, return_inverse=True)
    count = int(np.max(cluster)) + 1
    members = np.bincount(cluster, minlength=count)
    places = np.stack([np.bincount(cluster, points[:, axis], count) for axis in range(3)], axis=1) / members[:, None]
    if sharp:
        places = _sharpened(corners, cluster, places, cell)
    faces = cluster.reshape(-1, 3)
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    if len(faces):
        a, b, c = np.sort(faces, axis=1).T  # a wall thinner than a cell has become one triangle, seen from both sides
        _, first = (
            np.unique((a * count + b) * count + c, return_index=True)
            if count < MOST_IN_A_KEY
            else np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
        )
        faces = faces[np.sort(first)]
    used, index = np.unique(faces, return_inverse=True)
    return Surface(places[used], index.reshape(-1, 3))


def _sharpened(corners: np.ndarray, cluster: np.ndarray, places: np.ndarray, cell: float) -> np.ndarray:
    """Clusters moved to where the planes of their triangles meet, at most by half a cell."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1)
    n = normals / np.where(area > 0.0, area, 1.0)[:, None]
    distance = np.einsum("ij,ij->i", n, corners[:, 0])
    every, weight = np.repeat(n, 3, axis=0), np.repeat(area, 3)
    count = len(places)
    A = np.empty((count, 3, 3))
    for r in range(3):
        for c in range(r, 3):
            A[:, r, c] = A[:, c, r] = np.bincount(cluster, weight * every[:, r] * every[:, c], count)
    b = np.stack([np.bincount(cluster, weight * np.repeat(distance, 3) * every[:, r], count) for r in range(3)], axis=1)
    total = np.bincount(cluster, weight, count)
    total[total == 0.0] = 1.0
    A, b = A / total[:, None, None], b / total[:, None]
    flat = 1e-3  # planes whose normals spread less than this do not fix a place
    step = np.einsum("ijk,ik->ij", np.linalg.pinv(A, rcond=flat, hermitian=True), b - np.einsum("ijk,ik->ij", A, places))
    length = np.linalg.norm(step, axis=1)
    return places + step * np.minimum(1.0, 0.5 * cell / np.maximum(length, 1e-300))[:, None]
