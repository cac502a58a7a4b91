"""Mass, center and inertia of rods, bars, plates and point masses, over floats or expressions.

Every function returns `MassProperties`: inertia about the center of mass, in the axes of the
points it was given. They add up with `together` (parallel axes).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import ModelError, counted
from linkwright.model.description import NO_INERTIA, ZERO3, Mat3, Vec3
from linkwright.model.file.geometry import add, cross, dot, length, matrix, scale, sub
from linkwright.model.file.text_nodes import FileNode
from linkwright.model.meshes import read_corners
from linkwright.text.expressions import Expr
from linkwright.text.units import INERTIA, LENGTH, UnitSystem, display_unit, shown

DENSITIES = {  # kg/m^3, standard handbook values
    "steel": 7850.0, "stainless": 7900.0, "cast-iron": 7200.0, "aluminum": 2700.0, "aluminium": 2700.0, "brass": 8500.0, "bronze": 8800.0,
    "copper": 8960.0, "titanium": 4500.0, "magnesium": 1800.0, "pom": 1410.0, "pa6": 1140.0, "abs": 1050.0, "pla": 1240.0, "pvc": 1400.0,
    "ptfe": 2200.0, "cfrp": 1600.0, "gfrp": 1900.0, "oak": 700.0, "pine": 500.0, "plywood": 650.0,
}  # fmt: skip
RETAINED = 1024  # bars whose expressions are: a model is read again for every design, with the same ones


@dataclass(frozen=True)
class MassProperties:
    mass: Any
    com: Vec3 = ZERO3
    inertia: Mat3 = NO_INERTIA  # about the com


def point_mass(mass: Any, at: Vec3) -> MassProperties:
    return MassProperties(mass, at)


def from_second_moments(S: Mat3) -> Mat3:
    """Inertia tr(S) 1 - S of the second moments S = integral of r r' dm."""
    trace = S[0][0] + S[1][1] + S[2][2]
    return matrix([[trace - S[i][j] if i == j else _minus(S[i][j]) for j in range(3)] for i in range(3)])


def _minus(x: Any) -> Any:
    return 0.0 if not isinstance(x, Expr) and x == 0.0 else -x


def outer(k: Any, a: Vec3, b: Vec3) -> Mat3:
    return matrix([[k * (x * y) for y in b] for x in a])


def plus(*parts: Mat3) -> Mat3:
    total = parts[0]
    for part in parts[1:]:
        total = matrix([[total[i][j] + part[i][j] for j in range(3)] for i in range(3)])
    return total


@lru_cache(RETAINED)
def rod(mass: Any, a: Vec3, b: Vec3) -> MassProperties:
    """A thin uniform rod from a to b: no inertia about its own line."""
    r = sub(b, a)
    return MassProperties(mass, scale(0.5, add(a, b)), from_second_moments(outer(mass / 12.0, r, r)))


@lru_cache(RETAINED)
def box_bar(mass: Any, a: Vec3, b: Vec3, width: Any, height: Any, across: Vec3, normal: Vec3) -> MassProperties:
    """A bar of rectangular section: `height` along `across`, `width` along `normal` (unit vectors)."""
    r = sub(b, a)
    S = plus(
        outer(mass / 12.0, r, r), outer(mass * height * height / 12.0, across, across), outer(mass * width * width / 12.0, normal, normal)
    )
    return MassProperties(mass, scale(0.5, add(a, b)), from_second_moments(S))


@lru_cache(RETAINED)
def round_bar(mass: Any, a: Vec3, b: Vec3, diameter: Any, inner: Any, across: Vec3, normal: Vec3) -> MassProperties:
    """A round bar or tube."""
    r = sub(b, a)
    k = mass * (diameter * diameter + inner * inner) / 16.0
    S = plus(outer(mass / 12.0, r, r), outer(k, across, across), outer(k, normal, normal))
    return MassProperties(mass, scale(0.5, add(a, b)), from_second_moments(S))


def polygon_area_vector(corners: Sequence[Vec3]) -> Vec3:
    """Twice the area of a plane polygon, along its normal."""
    total = ZERO3
    for b, c in pairwise(corners[1:]):
        total = add(total, cross(sub(b, corners[0]), sub(c, corners[0])))
    return total


def plate(mass: Any, corners: Sequence[Vec3], thickness: Any = 0.0) -> MassProperties:
    return _plate(mass, tuple(corners), thickness)


@lru_cache(RETAINED)
def _plate(mass: Any, corners: tuple[Vec3, ...], thickness: Any) -> MassProperties:
    """A uniform plane plate: the fan of triangles from its first corner, weighted by signed area."""
    normal = polygon_area_vector(corners)
    square = dot(normal, normal)
    com, S = ZERO3, NO_INERTIA
    for b, c in pairwise(corners[1:]):
        a = corners[0]
        share = dot(cross(sub(b, a), sub(c, a)), normal) / square
        part, s = mass * share, add(add(a, b), c)
        com = add(com, scale(share / 3.0, s))
        # second moments of a triangle: m/12 (aa' + bb' + cc' + ss'), s = a + b + c
        S = plus(S, *(outer(part / 12.0, v, v) for v in (a, b, c, s)))
    S = plus(S, outer(-mass, com, com))
    if isinstance(thickness, Expr) or thickness != 0.0:
        S = plus(S, outer(mass * thickness * thickness / (12.0 * square), normal, normal))
    return MassProperties(mass, com, from_second_moments(S))


def plate_area(corners: Sequence[Vec3]) -> Any:
    return 0.5 * length(polygon_area_vector(corners))


def together(parts: Iterable[MassProperties]) -> MassProperties:
    """Several rigid parts as one."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else _together(parts)


@lru_cache(RETAINED)
def _together(parts: tuple[MassProperties, ...]) -> MassProperties:
    mass = parts[0].mass
    moment = scale(parts[0].mass, parts[0].com)
    for p in parts[1:]:
        mass, moment = mass + p.mass, add(moment, scale(p.mass, p.com))
    if not isinstance(mass, Expr) and mass == 0.0:
        return MassProperties(0.0)
    com = scale(1.0 / mass, moment)
    inertia = NO_INERTIA
    for p in parts:
        r = sub(p.com, com)
        inertia = plus(inertia, p.inertia, from_second_moments(outer(p.mass, r, r)))
    return MassProperties(mass, com, inertia)


def principal(inertia: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Principal moments, ascending."""
    if not any(x for i, row in enumerate(inertia) for j, x in enumerate(row) if i != j):
        a, b, c = sorted(inertia[i][i] for i in range(3))
        return (a, b, c)
    import numpy as np

    a, b, c = (float(v) for v in np.linalg.eigvalsh(np.array(inertia, dtype=float)))
    return (a, b, c)


def why_impossible(inertia: Sequence[Sequence[float]], planar: bool, units: UnitSystem) -> str:
    """Why no body can have this inertia; empty if one can. Round-off of 1e-9 is forgiven."""
    if planar:
        return f"its moment of inertia {shown(inertia[2][2], INERTIA, units)} is negative" if inertia[2][2] < 0.0 else ""
    size = max(abs(v) for row in inertia for v in row)
    if not _symmetric(inertia, size):
        return "its inertia matrix is not symmetric"
    a, b, c = principal(inertia)
    negative = a < -1e-9 * size
    if not negative and c <= (a + b) * (1.0 + 1e-6) + 1e-9 * size:
        return ""
    symbol, per_si = display_unit(units, INERTIA)
    moments = f"principal moments {a * per_si:.4g}, {b * per_si:.4g}, {c * per_si:.4g} {symbol}"
    return f"one of its {moments} is negative" if negative else f"of its {moments} the largest exceeds the sum of the other two"


def is_positive(inertia: Sequence[Sequence[float]]) -> bool:
    """True if an inertia is symmetric and no principal moment is negative, whether or not a body can have it."""
    size = max(abs(v) for row in inertia for v in row)
    return _symmetric(inertia, size) and principal(inertia)[0] >= -1e-9 * size


def _symmetric(inertia: Sequence[Sequence[float]], size: float) -> bool:
    return all(abs(inertia[i][j] - inertia[j][i]) <= 1e-9 * size for i in range(3) for j in range(i))


def odd_gyration(mass: float, inertia: Sequence[Sequence[float]], extent: float, planar: bool, units: UnitSystem) -> str:
    """A remark when the radius of gyration does not fit the size of the body; empty if it does."""
    largest = inertia[2][2] if planar else principal(inertia)[2]
    if mass <= 0.0 or extent <= 0.0 or largest <= 0.0:
        return ""
    radius = math.sqrt(largest / mass)
    if extent / 50.0 <= radius <= 3.0 * extent:
        return ""
    gyration, size = (shown(x, LENGTH, units, 3) for x in (radius, extent))
    return f"radius of gyration {gyration} does not fit its size of {size}: check the unit of inertia and mass"


# Volume, center and inertia of a closed surface from a mesh file.
#
# Each triangle and the origin span a tetrahedron; signed volumes and second moments add up to those
# of the solid (divergence theorem). The surface must be closed and turned outwards.


def read_mesh(path: Path, node: FileNode) -> MassProperties:
    """The solid of density one inside a closed surface, in the file's own unit."""
    return solid(triangles(path, node), f"mesh {path.name}", node)


def triangles(path: Path, node: FileNode) -> Any:
    """The corners, an array (n, 3, 3)."""
    try:
        return read_corners(path)
    except files.Unreadable as error:
        raise node.error(f"mesh {files.shown(path)} cannot be read: {error.reason}. The path is relative to the model file.") from error


def solid(corners: Any, what: str, node: FileNode) -> MassProperties:
    """Mass properties of density one of the volume that triangles (n, 3, 3) enclose."""
    import numpy as np

    _check_closed(corners, what, node)
    shift = corners.reshape(-1, 3).mean(axis=0)  # sums near the origin keep their digits
    local = corners - shift
    a, b, c = local[:, 0], local[:, 1], local[:, 2]
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    size = float(np.ptp(local.reshape(-1, 3), axis=0).max())
    if abs(volume) < 1e-12 * size**3:
        raise node.error(f"{what} encloses no volume. Export a solid, not a surface.", name=what)
    if volume < 0.0:
        raise node.error(f"{what} is turned inside out: its triangles face inwards. Flip the normals when exporting.", name=what)
    s = a + b + c
    com = (volumes[:, None] * s).sum(axis=0) / (4.0 * volume)
    # second moments of a tetrahedron with one corner at the origin: V/20 (aa' + bb' + cc' + ss')
    S = sum(np.einsum("i,ij,ik->jk", volumes, v, v) for v in (a, b, c, s)) / 20.0 - volume * np.outer(com, com)
    S = (S + S.T) / 2.0
    x, y, z = (float(v) for v in com + shift)
    return MassProperties(volume, (x, y, z), from_second_moments(matrix(S.tolist())))


def _check_closed(corners: Any, what: str, node: FileNode) -> None:
    """Every edge must be met once in each direction."""
    import numpy as np

    size = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
    if size == 0.0:
        raise node.error(f"{what} has no size. Export the part again.", name=what)
    rounded = np.round(corners.reshape(-1, 3) / (size * 1e-6)).astype(np.int64)
    _, index = np.unique(rounded, axis=0, return_inverse=True)
    index = index.reshape(-1, 3)
    keep = (index[:, 0] != index[:, 1]) & (index[:, 1] != index[:, 2]) & (index[:, 2] != index[:, 0])
    index = index[keep]  # slivers without area carry no edges
    edges = np.concatenate([index[:, [0, 1]], index[:, [1, 2]], index[:, [2, 0]]])
    span = int(index.max()) + 1 if len(index) else 1
    forward = np.sort(edges[:, 0] * span + edges[:, 1])
    backward = np.sort(edges[:, 1] * span + edges[:, 0])
    if len(index) and np.array_equal(forward, backward):
        return
    open_edges = len(np.setdiff1d(forward, backward))
    reason = f"has {counted(open_edges, 'open edge')}" if open_edges else "has edges that more than two triangles share"
    raise ModelError(
        f"{what} is not a closed solid: it {reason}. Repair it (fill holes, unify normals) and export again.", node.where, name=what
    )
