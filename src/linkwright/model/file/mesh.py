"""Volume, center and inertia of a closed surface from a mesh file.

Each triangle and the origin span a tetrahedron; signed volumes and second moments add up to those
of the solid (divergence theorem). The surface must be closed and turned outwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import ModelError, counted
from linkwright.model.file.geometry import matrix
from linkwright.model.file.inertia import MassProperties, from_second_moments
from linkwright.model.file.nodes import FileNode
from linkwright.model.meshes import read_corners


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
        raise node.error(f"{what} encloses no volume. Export a solid, not a surface.")
    if volume < 0.0:
        raise node.error(f"{what} is turned inside out: its triangles face inwards. Flip the normals when exporting.")
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
        raise node.error(f"{what} has no size. Export the part again.")
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
    raise ModelError(f"{what} is not a closed solid: it {reason}. Repair it (fill holes, unify normals) and export again.", node.where)
