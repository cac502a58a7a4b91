"""Surfaces of bodies for pictures: their `visuals`, read from files or made of primitives, with a bound on the triangles.

A mesh that cannot be read costs its picture: the body is drawn by its bars, and a UserWarning says why.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linkwright.api import Description, Visual, files
from linkwright.model.meshes import Surface, outline, primitive, read_corners, simplified

MOST_OF_A_SHAPE = 3_000  # triangles
MOST_OF_ALL = 24_000
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
