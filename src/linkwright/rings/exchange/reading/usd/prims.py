"""Values and frames of prims, in SI.

Attributes of UsdPhysics have single precision. Each is read as the shortest decimal number that rounds to it, so that 0.3 in a file is 0.3
here. Files that Linkwright wrote have the same numbers next to them in double precision, as `linkwright:` and the name of the attribute;
they count as long as the attribute still says the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Placement, geometry
from linkwright.properties import cached_property
from linkwright.rings.exchange.reading.poses import pose_wxyz
from linkwright.rings.exchange.reading.usd.stage import UsdStage, library

OWN = "linkwright:"
SINGLE = 2e-7  # relative difference of a number and its single precision
SINGLES = ("float", "float3", "point3f", "vector3f", "quatf")


@dataclass(frozen=True)
class UsdPrim:
    """A prim of a stage."""

    stage: UsdStage
    prim: Any

    @property
    def path(self) -> str:
        return str(self.prim.GetPath())

    @property
    def name(self) -> str:
        return str(self.prim.GetName())

    @cached_property
    def schemas(self) -> frozenset[str]:
        """Applied schemas, those of other programs too."""
        return frozenset(str(x) for x in self.prim.GetPrimTypeInfo().GetAppliedAPISchemas()) | frozenset(
            str(x) for x in self.prim.GetAppliedSchemas()
        )

    def has(self, schema: str) -> bool:
        return schema in self.schemas

    # ------------------------------------------------------------ values

    def value(self, name: str) -> Any:
        """The value of an attribute, None without one."""
        attribute = self.prim.GetAttribute(name)
        return attribute.Get() if attribute else None

    def number(self, name: str, default: float = 0.0) -> float:
        """A number, in double precision where the file has it; infinite where it says so."""
        given = self.value(name)
        if given is None:
            return default
        try:
            x = float(given)
        except (TypeError, ValueError):
            raise self.stage.error(f"{name} is not a number.", self.prim, name=name) from None
        if math.isnan(x):
            raise self.stage.error(f"{name} is not a number.", self.prim, name=name)
        return self._exact(name, [x])[0]

    def finite(self, name: str, default: float = 0.0) -> float:
        """A number that must be finite."""
        x = self.number(name, default)
        if not math.isfinite(x):
            raise self.stage.error(f"{name} is {x:g}. It must be finite.", self.prim, name=name)
        return x

    def flag(self, name: str, default: bool) -> bool:
        given = self.value(name)
        return default if given is None else bool(given)

    def text(self, name: str, default: str) -> str:
        given = self.value(name)
        return default if given is None else str(given)

    def vector(self, name: str, size: int = 3) -> list[float] | None:
        """Numbers of a vector, None without one."""
        given = self.value(name)
        if given is None:
            return None
        try:
            out = [float(x) for x in given]
        except (TypeError, ValueError):
            out = []
        if len(out) != size:
            raise self.stage.error(f"{name} needs {size} numbers.", self.prim, name=name)
        return self._exact(name, out)

    def quaternion(self, name: str) -> list[float] | None:
        """w, x, y, z of a rotation; None without one, or where it is zero."""
        given = self.value(name)
        if given is None:
            return None
        try:
            out = [float(given.GetReal()), *(float(x) for x in given.GetImaginary())]
        except AttributeError:
            raise self.stage.error(f"{name} is not a quaternion.", self.prim, name=name) from None
        out = self._exact(name, out)
        size = math.sqrt(sum(x * x for x in out))
        if not math.isfinite(size):
            raise self.stage.error(f"{name} is not finite.", self.prim, name=name)
        return None if size < 1e-6 else [x / size for x in out]

    def _exact(self, name: str, values: list[float]) -> list[float]:
        if str(self.prim.GetAttribute(name).GetTypeName()) in SINGLES:
            values = [float(str(np.float32(x))) for x in values]
        own = self.prim.GetAttribute(f"{OWN}{name}")
        given = own.Get() if own else None
        if given is None:
            return values
        try:
            better = [float(x) for x in given] if isinstance(given, Sequence) or hasattr(given, "__len__") else [float(given)]
        except (TypeError, ValueError):
            return values
        size = max((abs(x) for x in values if math.isfinite(x)), default=0.0)
        same = len(better) == len(values) and all(a == b or abs(a - b) <= SINGLE * size for a, b in zip(values, better, strict=True))
        return better if same else values

    def own(self, name: str) -> Any:
        """A value that only Linkwright writes, None without one."""
        return self.value(f"{OWN}{name}")

    def target(self, name: str) -> Any:
        """The prim that a relationship names, None without one."""
        relationship = self.prim.GetRelationship(name)
        targets = relationship.GetForwardedTargets() if relationship else []
        if len(targets) > 1:
            raise self.stage.error(f"{name} names {len(targets)} prims. It names one.", self.prim, name=name)
        if not targets:
            return None
        found = self.stage.stage.GetPrimAtPath(targets[0].GetPrimPath())
        if not found:
            raise self.stage.error(f"{name} names {targets[0]}, which is not there.", self.prim, name=name)
        return found

    def namespaces(self, name: str) -> list[str]:
        """Names within a namespace of attributes: `angular` and the like of `drive`."""
        found = {str(x.GetName()).split(":")[1] for x in self.prim.GetPropertiesInNamespace(name) if str(x.GetName()).count(":") >= 2}
        return sorted(found)


@dataclass(frozen=True)
class WorldFrame:
    """Frame of a prim in the world, in meters, and its scales."""

    at: Placement
    scale: tuple[float, float, float]


class Frames:
    """World frames of prims."""

    def __init__(self, stage: UsdStage):
        self.stage = stage
        self.cache = library("UsdGeom").XformCache()

    def of(self, prim: Any) -> WorldFrame:
        """The frame of a prim, or of the nearest prim around it that can be placed."""
        M = np.array(self.cache.GetLocalToWorldTransform(prim), dtype=float).T  # columns, as mathematics has them
        scale = np.sqrt(np.sum(M[:3, :3] ** 2, axis=0))
        if not np.isfinite(M).all() or scale.min() < 1e-12:
            raise self.stage.error("its transform is not finite, or has a scale of zero.", prim, name=str(prim.GetPath()))
        R = M[:3, :3] / scale
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-5:
            raise self.stage.error("its transform shears, which a rigid body cannot.", prim, name=str(prim.GetPath()))
        U, _, Vt = np.linalg.svd(R)
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-12:
            R = U @ Vt
        if np.linalg.det(R) < 0.0:
            raise self.stage.error("its transform mirrors, which a rigid body cannot.", prim, name=str(prim.GetPath()))
        p = self.stage.meters * M[:3, 3]
        rows = tuple((float(a), float(b), float(c)) for a, b, c in R)
        return WorldFrame(
            Placement((float(p[0]), float(p[1]), float(p[2])), (rows[0], rows[1], rows[2])),
            (float(scale[0]), float(scale[1]), float(scale[2])),
        )

    def placed(self, frame: WorldFrame, at: Sequence[float] | None, quaternion: Sequence[float] | None) -> Placement:
        """A local frame in the one of a prim: a position in units of the stage, stretched by the scales of the prim."""
        p = [self.stage.meters * s * x for s, x in zip(frame.scale, at or (0.0, 0.0, 0.0), strict=True)]
        if not all(math.isfinite(x) for x in p):
            raise self.stage.error("a local position is not finite.", name="localPos")
        return pose_wxyz(p, *(quaternion or (1.0, 0.0, 0.0, 0.0)))


def rotation(quaternion: Sequence[float]) -> np.ndarray:
    """The matrix of a quaternion w, x, y, z."""
    return np.array(geometry.rotation_quaternion(*quaternion), dtype=float)
