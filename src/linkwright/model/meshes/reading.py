"""Triangles of a mesh file: STL (binary or ASCII) by our own reader, OBJ and glTF through trimesh, without textures or materials.

Only the file itself is read, and of a .gltf the buffers beside it. Errors are `files.Unreadable`: what the file is good for (a
picture, a mass) decides how bad that is.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import counted

MOST_BYTES = 200_000_000
MOST_BUFFERS = 16  # of a .gltf
MESHES = (".stl", ".obj", ".glb", ".gltf")
_NUMBER = rb"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_VERTEX = re.compile(rb"vertex\s+" + _NUMBER + rb"\s+" + _NUMBER + rb"\s+" + _NUMBER, re.IGNORECASE)


def read_corners(path: Path) -> np.ndarray:
    """The corners of all triangles, (n, 3, 3); raise `files.Unreadable` for what is no mesh."""
    kind = path.suffix.lower()
    data = files.read_regular(path, MOST_BYTES, "export it with fewer triangles")
    corners = _stl(path, data) if kind not in MESHES[1:] else _by_trimesh(path, data, kind[1:])
    if not len(corners):
        raise files.Unreadable(path, "it holds no triangles. Export the part again")
    if not np.isfinite(corners).all():
        raise files.Unreadable(path, "it holds coordinates that are not finite. Export the part again")
    return corners


def _stl(path: Path, data: bytes) -> np.ndarray:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count and count >= 0:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        facets: Any = np.frombuffer(data, dtype=record, count=count, offset=84)
        with np.errstate(invalid="ignore"):  # NaN, refused later
            return facets["corners"].astype(float)
    numbers = _VERTEX.findall(data)
    if len(numbers) % 3 or not numbers:
        raise files.Unreadable(path, f"it is not an STL file. Export the part as STL (binary or ASCII){_others(path)}")
    return np.array(numbers, dtype=float).reshape(-1, 3, 3)


def _others(path: Path) -> str:
    return "" if path.suffix.lower() == ".stl" else "; OBJ, glTF and GLB are known by their endings"


def _by_trimesh(path: Path, data: bytes, kind: str) -> np.ndarray:
    try:
        import trimesh
    except ImportError:
        raise files.Unreadable(path, f"reading {kind.upper()} needs the package trimesh: pip install 'linkwright[mesh]'") from None
    beside = _buffers(path, data) if kind == "gltf" else {}
    options: dict[str, Any] = {"skip_materials": True, "process": False}
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=beside, **options)
        return np.asarray(scene.to_mesh().triangles, dtype=float).reshape(-1, 3, 3)
    except Exception as error:  # a parser of many formats raises what it likes
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise files.Unreadable(path, f"trimesh finds no {kind.upper()} in it ({why}). Export the part again") from error


def _buffers(path: Path, data: bytes) -> dict[str, bytes]:
    """The binary files of a .gltf, which must be beside it."""
    try:
        listed = json.loads(data.decode("utf-8"))["buffers"]
        names = [b["uri"] for b in listed if not str(b["uri"]).startswith("data:")]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise files.Unreadable(path, "it is not a glTF file: it has no list of buffers. Export the part again, best as .glb") from error
    if len(names) > MOST_BUFFERS:
        raise files.Unreadable(
            path, f"it names {counted(len(names), 'other file')}, at most {MOST_BUFFERS} are read. Export the part as .glb"
        )
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or "%" in name:
            raise files.Unreadable(path, f"its buffer '{str(name)[:40]}' is not next to it. Export the part as .glb")
    return {name: files.read_regular(path.parent / name, MOST_BYTES, "export it with fewer triangles") for name in names}
