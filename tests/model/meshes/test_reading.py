"""Mesh files: the same triangles in every format, no file but the named one, clear reasons for what is no mesh."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwright.files import Unreadable
from linkwright.model.meshes import reading
from linkwright.model.meshes.reading import read_corners
from tests.model.meshes.shapes import plate, written
from tests.refusals import refused


@pytest.mark.parametrize("ending", ["stl", "ascii.stl", "obj", "glb", "gltf"])
def test_every_format_holds_the_same_solid(ending: str, tmp_path: Path) -> None:
    corners = read_corners(written(tmp_path, ending))
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert corners.shape == (len(plate().faces), 3, 3)
    assert volume == pytest.approx(plate().volume, rel=1e-6)  # 32-bit coordinates; ASCII and OBJ have eight digits


def test_nodes_of_gltf_move_their_meshes(tmp_path: Path) -> None:
    import trimesh

    scene, shift = trimesh.Scene(), np.eye(4)
    shift[:3, 3] = 5.0, 6.0, 7.0
    scene.add_geometry(trimesh.creation.box((2, 2, 2)), transform=shift)
    scene.export(tmp_path / "a.glb")
    places = read_corners(tmp_path / "a.glb").reshape(-1, 3)
    np.testing.assert_allclose([places.min(axis=0), places.max(axis=0)], [[4, 5, 6], [6, 7, 8]], atol=1e-6)


BAD = {
    "no.stl": (b"nothing", "is not an STL"),
    "no.ply": (b"nothing", "OBJ, glTF and GLB are known by their endings"),
    "empty.stl": (b"\0" * 84, "holds no triangles"),
    "nan.stl": (b"\0" * 80 + b"\1\0\0\0" + np.full(12, np.nan, "<f4").tobytes() + b"\0\0", "not finite"),
    "no.obj": (b"\xff\xfe\0binary\0\0", "holds no triangles|trimesh finds no OBJ"),  # by the version of trimesh
    "empty.obj": (b"# nothing\n", "holds no triangles"),
    "no.glb": (b"glTF" + b"\0" * 8, "trimesh finds no GLB"),
    "no.gltf": (b"{}", "has no list of buffers"),
    "deep.gltf": (b"[" * 100_000, "has no list of buffers"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_mesh_is_named(name: str, tmp_path: Path) -> None:
    data, words = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable, match=words):
        read_corners(tmp_path / name)


@pytest.mark.parametrize("uri", ["../secret.bin", "/etc/passwd", "sub/part.bin", "%2e%2e/secret.bin", "http://somewhere/part.bin"])
def test_gltf_reads_nothing_but_buffers_beside_it(uri: str, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 36)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.gltf").write_text(json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": uri, "byteLength": 36}]}))
    with refused(Unreadable, file="a.gltf"):
        read_corners(tmp_path / "in" / "a.gltf")


def test_gltf_may_hold_its_buffers(tmp_path: Path) -> None:
    path = written(tmp_path, "gltf")
    model = json.loads(path.read_text())
    for b in model["buffers"]:
        data = (tmp_path / b["uri"]).read_bytes()
        b["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    path.write_text(json.dumps(model))
    assert len(read_corners(path)) == len(plate().faces)


def test_sizes_are_bounded_and_special_files_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "stl")
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    with refused(Unreadable, file="plate.stl"):
        read_corners(path)
    with refused(Unreadable, file="test_sizes_are_bounded_and_spe0"):
        read_corners(tmp_path)
    with refused(Unreadable, file="nowhere.stl"):
        read_corners(tmp_path / "nowhere.stl")


def test_without_trimesh_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = written(tmp_path, "obj"), written(tmp_path, "stl")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with refused(Unreadable, file="plate.obj"):
        read_corners(path)
    assert len(read_corners(other)) == len(plate().faces)  # STL needs no package
