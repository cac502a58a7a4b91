"""Surfaces of triangles: read from mesh files, made of primitives, with fewer triangles, and as outlines seen from above.

    corners = read_corners(path)              (n, 3, 3) of an STL, OBJ or glTF file, in the file's own unit
    surface = simplified(corners, 3000)       vertices and faces, at most that many triangles
    outline(surface)                          closed lines around its projection along z
"""

from __future__ import annotations

from linkwright.model.meshes.decimation import Surface, simplified
from linkwright.model.meshes.outlines import closed, outline
from linkwright.model.meshes.primitives import PRIMITIVES, primitive
from linkwright.model.meshes.reading import MESHES, read_corners

__all__ = ["MESHES", "PRIMITIVES", "Surface", "closed", "outline", "primitive", "read_corners", "simplified"]
