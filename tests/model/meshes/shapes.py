"""Mesh files of the tests, made here: a plate with a hole in STL, OBJ, GLB and glTF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trimesh

PLATE = (2.0, 0.6, 1.0)  # outer and inner radius, height


def plate(sections: int = 64) -> trimesh.Trimesh:
    return trimesh.creation.annulus(r_min=PLATE[1], r_max=PLATE[0], height=PLATE[2], sections=sections)


def written(folder: Path, ending: str, mesh: trimesh.Trimesh | None = None) -> Path:
    """The mesh as a file of that format."""
    mesh = plate() if mesh is None else mesh
    path = folder / f"plate.{ending}"
    if ending == "gltf":
        for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(mesh)).items():
            (folder / name).write_bytes(data)
        return (folder / "model.gltf").rename(path)
    if ending == "ascii.stl":
        path.write_text(trimesh.exchange.stl.export_stl_ascii(mesh))
        return path
    mesh.export(path)
    return path


def covers(corners: np.ndarray, places: np.ndarray) -> np.ndarray:
    """True for places (n, 2) that lie under one of the triangles (m, 3, 2 or 3): by the signs of their edges, one triangle at a time."""
    out = np.zeros(len(places), dtype=bool)
    for t in corners[:, :, :2]:
        sides = [
            (t[(i + 1) % 3, 0] - t[i, 0]) * (places[:, 1] - t[i, 1]) - (t[(i + 1) % 3, 1] - t[i, 1]) * (places[:, 0] - t[i, 0])
            for i in range(3)
        ]
        out |= (np.array(sides) > 0).all(axis=0) | (np.array(sides) < 0).all(axis=0)
    return out


def winding(lines: list[np.ndarray], places: np.ndarray) -> np.ndarray:
    """Winding numbers of closed lines about places, by the sum of the angles under which their edges are seen."""
    total = np.zeros(len(places))
    for line in lines:
        d = line[None, :, :2] - places[:, None, :]
        after = np.roll(d, -1, axis=1)
        cross = d[..., 0] * after[..., 1] - d[..., 1] * after[..., 0]
        total += np.arctan2(cross, (d * after).sum(axis=-1)).sum(axis=1)
    return np.rint(total / (2 * np.pi)).astype(int)
