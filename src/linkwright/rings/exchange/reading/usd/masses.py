"""Mass data of bodies: as the file gives them, and the rest from the shapes that collide, as UsdPhysics has it.

A shape has the mass of its own MassAPI, or its volume times a density: its own, that of its body, or 1000 kg/m^3. The mass of a body scales
what its shapes have. Its center of mass and its inertia, where the file gives them, are taken as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Vec3, Visual, array, description
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.shapes import inertia_about
from linkwright.rings.exchange.reading.usd.prims import UsdPrim, rotation

WATER = 1000.0  # kg/m^3, of shapes without a density
TENSOR = 6  # entries of a tensor: xx, yy, zz, xy, xz, yz
SAME_TENSOR = 1e-6  # of a tensor in double precision and its principal moments in single


class UsdMass(NamedTuple):
    """Mass, center of mass, inertia about it in the axes of the body; None without a mass."""

    mass: float | None
    com: Vec3
    inertia: Any


@dataclass(frozen=True)
class Solid:
    """Mass, center and inertia about the center of one or several shapes, in the axes of the body."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def mass_of(p: UsdPrim, scale: Sequence[float], shapes: Sequence[tuple[UsdPrim, Visual | None]], notes: ImportNotes) -> UsdMass:
    """Mass data of a body; `shapes` are those of it that collide, None for one without a volume here."""
    s = p.stage
    given = p.finite("physics:mass") * s.kilograms
    if given < 0.0:
        raise s.error(f"physics:mass is {given:g}. It is zero or more.", p.prim, name=p.path)
    at, tensor = _center(p, scale), _tensor(p)
    if p.own("massless"):
        return UsdMass(0.0, description.ZERO3, description.NO_INERTIA)
    complete = given > 0.0 and (tensor is not None or bool(p.own("point"))) and (at is not None or not shapes)
    found = None if complete else _together([_solid(p, x, v) for x, v in shapes if v is not None])
    if not complete and (found is None or any(v is None for _, v in shapes)):
        what, instead = (
            ("center of mass", "its origin is taken") if given and tensor is not None else ("inertia", "it is a point mass here")
        )
        what, instead = (what, instead) if given else ("mass", "give physics:mass")
        notes.warn(f"body '{p.name}' has no {what} in the file, and no simple shapes alone that give it: {instead}")
        found = None
    mass = given or (found.mass if found is not None else 0.0)
    if not mass:
        return UsdMass(None, description.ZERO3, description.NO_INERTIA)
    com = at if at is not None else found.com if found is not None else np.zeros(3)
    if tensor is None:
        tensor = np.zeros((3, 3))
        if found is not None:
            away, share = found.com - com, mass / found.mass
            tensor = share * (found.inertia + found.mass * (away @ away * np.eye(3) - np.outer(away, away)))
    values = {f"i{'xyz'[i]}{'xyz'[j]}": float(0.5 * (tensor[i, j] + tensor[j, i])) for i in range(3) for j in range(i, 3)}
    return UsdMass(mass, (float(com[0]), float(com[1]), float(com[2])), inertia_about(p.name, description.EYE3, values, notes))


def _center(p: UsdPrim, scale: Sequence[float]) -> np.ndarray | None:
    """The center of mass that a file gives."""
    at = p.vector("physics:centerOfMass")
    if at is None or not all(math.isfinite(x) for x in at):
        return None
    return np.array([p.stage.meters * k * x for k, x in zip(scale, at, strict=True)])


def _tensor(p: UsdPrim) -> np.ndarray | None:
    """The inertia that a file gives."""
    moments = p.vector("physics:diagonalInertia") or [0.0, 0.0, 0.0]
    if not all(math.isfinite(x) and x >= 0.0 for x in moments):
        raise p.stage.error("physics:diagonalInertia needs finite numbers of zero or more.", p.prim, name=p.path)
    if not any(moments):
        return None
    R = rotation(p.quaternion("physics:principalAxes") or [1.0, 0.0, 0.0, 0.0])
    tensor = R @ np.diag(moments) @ R.T * (p.stage.kilograms * p.stage.meters**2)
    exact = p.own("inertia")
    if exact is not None and len(exact) == TENSOR:
        xx, yy, zz, xy, xz, yz = (float(x) for x in exact)
        better = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if np.abs(better - tensor).max() <= SAME_TENSOR * np.abs(tensor).max():
            return better
    return tensor


def _solid(body: UsdPrim, p: UsdPrim, shape: Visual) -> Solid:
    """A shape with its density."""
    s = p.stage
    volume, moments = _volume(shape)
    own, density = p.finite("physics:mass") * s.kilograms, s.kilograms / s.meters**3
    filled = next((x for x in (p.finite("physics:density"), body.finite("physics:density")) if x > 0.0), 0.0) * density or WATER
    mass = own if own > 0.0 else filled * volume
    R = array(shape.placement.rotation).astype(float)
    return Solid(mass, array(shape.placement.at).astype(float), R @ np.diag(moments) @ R.T * mass)


def _volume(shape: Visual) -> tuple[float, np.ndarray]:
    """Volume, and principal moments about the center of a shape of mass 1, along its own axes."""
    a, b, c = (float(x) for x in shape.size)
    if shape.shape == "box":
        return a * b * c, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 12.0
    if shape.shape == "sphere":
        return 4.0 / 3.0 * math.pi * a**3, np.full(3, 0.4 * a * a)
    tube, ball = math.pi * a * a * b, 4.0 / 3.0 * math.pi * a**3 if shape.shape == "capsule" else 0.0
    total = tube + ball
    along = (tube * 0.5 * a * a + ball * 0.4 * a * a) / total
    across = tube * (a * a / 4.0 + b * b / 12.0) + ball * (0.4 * a * a + b * b / 4.0 + 3.0 / 8.0 * a * b)
    return total, np.array([across / total, across / total, along])


def _together(solids: Sequence[Solid]) -> Solid | None:
    """Several shapes as one solid, None without a mass."""
    mass = sum(x.mass for x in solids)
    if not mass > 0.0:
        return None
    com = sum((x.mass * x.com for x in solids), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for x in solids:
        away = x.com - com
        inertia += x.inertia + x.mass * (away @ away * np.eye(3) - np.outer(away, away))
    return Solid(mass, com, inertia)
