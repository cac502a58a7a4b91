"""Boxes, cylinders, spheres and capsules as surfaces of triangles about the origin, with their axis along z."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from linkwright.model.meshes.decimation import Surface

AROUND = 32  # triangles' edges around a circle
RINGS = 8  # between the equator and a pole


def primitive(shape: str, size: Sequence[float]) -> Surface:
    """The surface of a `Visual` that is no mesh; sizes as it has them."""
    return PRIMITIVES[shape](np.asarray(size, dtype=float))


def _box(size: np.ndarray) -> Surface:
    corners = 0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Surface(corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]))


def _turned(profile: Sequence[tuple[float, float]]) -> Surface:
    """The surface that a profile of (radius, height) makes about z, from bottom to top; it begins and ends on the axis."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, z)]) for r, z in profile[1:-1]]
    vertices = np.vstack([[[0.0, 0.0, profile[0][1]], [0.0, 0.0, profile[-1][1]]], *rings])
    k, after = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    first, last = 2, 2 + AROUND * (len(rings) - 1)
    faces = [np.column_stack([np.zeros(AROUND, int), first + after, first + k])]
    for i in range(len(rings) - 1):
        a, b = 2 + AROUND * i, 2 + AROUND * (i + 1)
        faces += [np.column_stack([a + k, a + after, b + after]), np.column_stack([a + k, b + after, b + k])]
    faces.append(np.column_stack([np.ones(AROUND, int), last + k, last + after]))
    return Surface(vertices, np.vstack(faces))


def _cylinder(size: np.ndarray) -> Surface:
    radius, half = float(size[0]), 0.5 * float(size[1])
    return _turned([(0.0, -half), (radius, -half), (radius, half), (0.0, half)])


def _rounded(radius: float, half: float) -> Surface:
    bend = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)
    upper = [(radius * float(np.cos(a)), half + radius * float(np.sin(a))) for a in bend]
    lower = [(r, -z) for r, z in upper[::-1]]
    return _turned(lower[:-1] + upper if half == 0.0 else lower + upper)


def _sphere(size: np.ndarray) -> Surface:
    return _rounded(float(size[0]), 0.0)


def _capsule(size: np.ndarray) -> Surface:
    return _rounded(float(size[0]), 0.5 * float(size[1]))


PRIMITIVES: dict[str, Callable[[np.ndarray], Surface]] = {"box": _box, "cylinder": _cylinder, "sphere": _sphere, "capsule": _capsule}
