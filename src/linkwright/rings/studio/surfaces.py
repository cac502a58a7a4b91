"""Surfaces of bodies for pictures: their `visuals`, read from files or made of primitives, with a bound on the triangles.

A mesh that cannot be read costs its picture: the body is drawn by its bars, and a UserWarning says why.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import Description, Visual, contact, elements, files
from linkwright.model.meshes import Surface, outline, primitive, read_corners, simplified
from linkwright.properties import cached_property

MOST_OF_A_SHAPE = 3_000  # triangles
MOST_OF_ALL = 24_000
THIN = 0.02  # of a disc and of a plane: its thickness
POINT = 0.005  # of the size: a sharp point
RETAINED = 256  # shapes, a few hundred kilobytes each at most


@dataclass(frozen=True)
class BodySurface:
    """A surface in the frame of a body (node -1: ground)."""

    body: str
    node: int
    surface: Surface
    color: str  # "#rrggbb", or empty: that of the body

    @cached_property
    def lines(self) -> list[np.ndarray]:
        """Closed lines (n, 3) around the surface in the plane of its body, for the nonzero rule; empty if it is seen edge-on only."""
        return [np.column_stack([line, np.zeros(len(line))]) for line in outline(self.surface)]

    @property
    def corner_points(self) -> np.ndarray:
        """(n, 3): the vertices that reach farthest, enough for the extent of the surface."""
        return self.surface.vertices[np.unique(np.argmax(self.surface.vertices @ DIRECTIONS.T, axis=0))]


DIRECTIONS = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], dtype=float)


def body_surfaces(d: Description, skel: Any) -> list[BodySurface]:
    """The surfaces of all bodies; those of a body whose meshes cannot be read are missing, with a warning."""
    found: list[tuple[str, Visual, Surface]] = []
    for b in d.bodies:
        for v in b.visuals:
            surface = _surface(d, b.name, v)
            if surface is not None:
                found.append((b.name, v, surface))
    most = shared([len(s.faces) for _, _, s in found], MOST_OF_ALL)
    out = []
    for body, v, surface in found:
        fewer = surface if len(surface.faces) <= most else simplified(surface.corners, most)
        X = v.placement
        placed = fewer.moved(np.array(X.rotation, dtype=float), np.array(X.at, dtype=float), np.array(_scale(v), dtype=float))
        out.append(BodySurface(body, skel.node(body), placed, v.color))
    return out


def contact_surfaces(d: Description, skel: Any, walls: bool, size: float, middle: np.ndarray) -> list[BodySurface]:
    """Surfaces of a model in space that may touch, on bodies without pictures of their own: planes, as far as the drawing is large, or all
    others."""
    out: list[BodySurface] = []
    if d.planar:
        return out
    pictured = {b.name for b in d.bodies if b.visuals}
    for spot in contact.spots(d):
        if spot.body not in pictured and spot.surface.wall is walls:
            shape, half, R, at = _solid(spot, size, middle)
            out.append(BodySurface(spot.body, skel.node(spot.body), primitive(shape, half).moved(R, at, np.ones(3)), ""))
    return out


def _solid(spot: contact.Spot, size: float, middle: np.ndarray) -> tuple[str, Any, np.ndarray, np.ndarray]:
    """Shape, sizes, axes and place of a surface as a primitive."""
    x: Any = spot.surface
    points = [np.array(p, dtype=float) for p in spot.places]
    if isinstance(x, elements.Sphere):
        return "sphere", (max(float(x.radius), POINT * size),), np.eye(3), points[0]
    if isinstance(x, elements.Box):
        R = np.array(contact.box_axes(x), dtype=float).T
        return "box", (float(x.length), float(x.width), float(x.height)), R, points[0]
    if isinstance(x, elements.Disc):
        return "cylinder", (float(x.radius), THIN * float(x.radius)), _along(x.axis), points[0]
    if isinstance(x, elements.Plane):
        R = _along(x.normal)
        apart = middle - points[0]
        at = points[0] + apart - (apart @ R[:, 2]) * R[:, 2]
        return "box", (1.2 * size, 1.2 * size, THIN * size), R, at - 0.5 * THIN * size * R[:, 2]
    length = float(np.linalg.norm(points[1] - points[0]))
    return "capsule", (float(x.radius), length), _along(points[1] - points[0]), 0.5 * (points[0] + points[1])


def _along(axis: Any) -> np.ndarray:
    """Axes of which the third is a direction."""
    z = np.array(axis, dtype=float) / np.linalg.norm(np.array(axis, dtype=float))
    x, y = contact.tangents(z)
    return np.array([x, y, z], dtype=float).T


def shared(counts: list[int], total: int) -> int:
    """Triangles that each shape may have so that all together have at most `total`; small ones leave their share to the others."""
    left, shapes = total, len(counts)
    for count in sorted(counts):
        if count * shapes > left:
            return max(left // shapes, 8)
        left, shapes = left - count, shapes - 1
    return max(counts, default=0)


def _scale(v: Visual) -> Any:
    return v.size if v.shape == "mesh" else (1.0, 1.0, 1.0)


def _surface(d: Description, body: str, v: Visual) -> Surface | None:
    if v.shape != "mesh":
        return primitive(v.shape, v.size)
    try:
        path = mesh_path(d, v)
        return _read(str(path), *_stamp(path))
    except files.Unreadable as error:
        warnings.warn(f"body '{body}' is drawn without its mesh {files.shown(v.file)}: {error.reason}.", stacklevel=2)
        return None


def _stamp(path: Path) -> tuple[int, int]:
    """Time of change and size of a file; zeros where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def mesh_path(d: Description, v: Visual) -> Path:
    """The file of a mesh: relative to the model's file, to the current folder where there is none. Raise `files.Unreadable` in a model
    that came inside another file."""
    path = Path(v.file)
    if d.document is None or path.is_absolute():
        return path
    base = d.document.base
    if base is None:
        raise files.Unreadable(path, "the model came inside another file, which names no others")
    return base / path


@lru_cache(RETAINED)
def _read(path: str, changed: int, size: int) -> Surface:
    """A mesh as it is drawn; `changed` and `size` are those of the file, so that a new one is read again."""
    return simplified(read_corners(Path(path)), MOST_OF_A_SHAPE)
