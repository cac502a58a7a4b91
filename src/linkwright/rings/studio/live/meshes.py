"""Surfaces of bodies as data of a page: outlines in a plane; in space vertices as 16-bit numbers in their box, faces as indices.

A triangle takes some 12 bytes in the page, so that all surfaces together stay below 300 kB (`surfaces.MOST_OF_ALL` triangles).
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from linkwright.model.meshes import closed
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.surfaces import BodySurface


def meshes(scene: Scene) -> list[dict[str, Any]]:
    """The surfaces of a scene as JSON: {body, color, middle, corners}, in a plane {lines}, else {low, step, vertices, faces, rim}."""
    found = [s for s in scene.surfaces if s.lines] if scene.description.planar else scene.surfaces
    return [{**_head(s), **(_flat(s) if scene.description.planar else _solid(s))} for s in found]


def _head(s: BodySurface) -> dict[str, Any]:
    low, high = s.surface.vertices.min(axis=0), s.surface.vertices.max(axis=0)
    corners = [_rounded(p) for p in s.corner_points]
    return {"body": s.node + 1, "color": s.color or None, "middle": _rounded(0.5 * (low + high)), "corners": corners}


def _flat(s: BodySurface) -> dict[str, Any]:
    return {"lines": [[_rounded(p) for p in line] for line in s.lines]}


def _solid(s: BodySurface) -> dict[str, Any]:
    vertices, faces = s.surface
    low = vertices.min(axis=0)
    steps = 65535  # of the box along each axis
    step = np.maximum(np.ptp(vertices, axis=0), 1e-12) / steps
    numbers = np.round((vertices - low) / step).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "vertices": _text(numbers), "faces": _text(faces.astype("<u2")), "rim": _outward(s)}


def _outward(s: BodySurface) -> bool:
    """True if the surface is closed and faces outwards, so that the same surface, fatter and seen from inside, is a line around it."""
    a, b, c = np.moveaxis(s.surface.corners - s.surface.vertices.mean(axis=0), 1, 0)
    return closed(s.surface.faces) and bool(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0.0)


def _text(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode("ascii")


def _rounded(p: np.ndarray) -> list[float]:
    digits = 7  # after the point, meters: outlines are drawn, not measured
    return [round(float(x), digits) + 0.0 for x in p]
