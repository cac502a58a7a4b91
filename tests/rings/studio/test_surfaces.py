"""Surfaces in pictures and animations: the nearest in front, outlines in a plane, a bound on triangles, missing files."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import linkwright as lw
from linkwright.model.file.reader import read_enclosed
from linkwright.model.file.writer import write
from linkwright.model.meshes import primitive
from linkwright.rings.studio.animation import animate
from linkwright.rings.studio.picture import draw
from linkwright.rings.studio.raster import Seen, image
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.surfaces import MOST_OF_A_SHAPE, MOST_OF_ALL, shared
from tests.model.meshes.shapes import written
from tests.sweeps import sweep

GREEN, RED = "#20a040", "#c02020"


def crank(visuals: Any, **more: Any) -> dict[str, Any]:
    """A crank of 1 m in the plane, or in space about the y axis."""
    return {
        "name": "crank",
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A"], "points": ["B"], "mass": 1, "visuals": visuals}},
        "drive": {"A": "60 rpm"},
        **more,
    }


def arm(**visuals: Any) -> dict[str, Any]:
    return {
        "name": "arm",
        "gravity": [0, 0, -9.81],
        "bodies": {
            "ground": {"visuals": visuals.get("ground", [])},
            "arm": {"points": {"A": [0, 0, 0], "B": [0, 0, 1]}, "mass": 1, "inertia": [1, 1, 1], "visuals": visuals.get("arm", [])},
        },
        "joints": {"A": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
        "drive": {"A": "60 rpm"},
    }


def picture(model: Any, tmp_path: Path, **options: Any) -> np.ndarray:
    path = draw(lw.load(model), tmp_path / "p.png", **options)
    return np.asarray(Image.open(io.BytesIO(Path(path).read_bytes())).convert("RGB"), dtype=int)


def pixels_like(p: np.ndarray, color: str) -> int:
    """Pixels with the hue of a color: its largest channel leads the others clearly."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    first = int(np.argmax(wanted))
    others = [i for i in range(3) if i != first]
    return int((p[..., first] - p[..., others].max(axis=-1) > 40).sum())


def test_the_nearest_triangle_is_in_front_pixel_by_pixel() -> None:
    """Two squares that cross at 45 degrees: each is in front on its side of the line where they meet."""
    square = np.array([[[0, 0], [40, 0], [40, 40]], [[0, 0], [40, 40], [0, 40]]], dtype=float)
    flat = np.concatenate([square, np.full((2, 3, 1), 20.0)], axis=2)
    tilted = np.concatenate([square, square[..., :1]], axis=2)  # depth is x
    colors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=float)
    seen = Seen(np.concatenate([flat, tilted]), colors, np.array([0, 0, 1, 1]), np.zeros((2, 3)))
    found, (x, y) = image(seen, 60, 50)
    assert (x, y) == (0, 0) and found.shape == (41, 41, 4)
    inner = found[4:-4, 3:37]
    assert (inner[:, :14, 1] == 1.0).all() and (inner[:, -14:, 0] == 1.0).all()  # green is nearer on the left, red on the right
    assert (found[:1, :, 3] == 0.0).all() and (inner[..., 3] == 1.0).all()
    assert (found[5:-5, 19:22, :3].min(axis=1) < 0.5).all()  # a dark line where the bodies meet


def test_the_image_is_cut_at_the_window() -> None:
    far = np.array([[[-1e4, -1e4, 0], [1e4, -1e4, 0], [0, 1e4, 0]]], dtype=float)
    found, at = image(Seen(far, np.ones((1, 3)), np.zeros(1, dtype=int), np.zeros((1, 3))), 30, 20)
    assert found.shape == (20, 30, 4) and at == (0, 0) and (found[..., 3] == 1.0).all()


def test_a_box_in_a_plane_is_drawn_where_it_is(tmp_path: Path) -> None:
    plain, drawn = (picture(crank(v), tmp_path, labels=False) for v in ([], [{"box": [1.2, 0.5, 0.1], "at": [0.5, 0.0], "color": GREEN}]))
    assert pixels_like(plain, GREEN) == 0
    green = drawn[..., 1] - drawn[..., [0, 2]].max(axis=-1) > 20
    rows, columns = np.nonzero(green)
    assert np.ptp(columns) / np.ptp(rows) == pytest.approx(1.2 / 0.5, rel=0.02)  # a pixel of some 300
    assert green.sum() > 0.9 * np.ptp(columns) * np.ptp(rows) * 0.95  # the pins cover the rest


def test_a_body_with_a_surface_has_no_bars_and_keeps_its_pins() -> None:
    scene = Scene(lw.load(crank([{"sphere": 0.1}])).system, None)
    assert scene.covered == {"crank"} and [p.name for p in scene.pins] == ["A"]
    (s,) = scene.surfaces
    assert len(s.lines) == 1 and np.linalg.norm(s.lines[0], axis=1) == pytest.approx(0.1)
    assert scene.extent(scene.start, whole_turn=False)[:, 0].min() == pytest.approx(-0.1)


def test_in_space_a_near_plate_hides_a_far_one(tmp_path: Path) -> None:
    """Seen from in front (-y, +x), a green plate before a red one of the same size."""
    toward = np.array([np.cos(np.radians(-58)), np.sin(np.radians(-58)), 0.0])
    plate = {"box": [0.05, 1.0, 1.0], "rpy": [0, 0, float(np.radians(-58))]}
    near, far = ([float(x) for x in s * toward] for s in (0.1, -0.1))
    red, green = {**plate, "color": RED}, {**plate, "color": GREEN}
    places = ((far, near), (near, far))
    models = [arm(ground=[{**red, "at": a}], arm=[{**green, "at": b}]) for a, b in places]
    shown, turned = (picture(x, tmp_path, trace=[], size=(4, 3)) for x in models)
    assert pixels_like(shown, GREEN) > 5 * pixels_like(shown, RED) and pixels_like(turned, RED) > 5 * pixels_like(turned, GREEN)
    assert pixels_like(turned, GREEN) > 100  # above the near plate, since one looks down on them


@sweep("ending", [".png", ".svg", ".pdf"], now=2)
def test_every_format_of_a_picture_is_written(ending: str, tmp_path: Path) -> None:
    for k, model in enumerate((crank([{"sphere": 0.1}]), arm(arm=[{"capsule": {"radius": 0.1, "length": 1}}]))):
        assert draw(lw.load(model), tmp_path / f"{k}{ending}", trace=[], size=(4, 3)).stat().st_size > 3000


def test_animations_show_surfaces(tmp_path: Path) -> None:
    m = lw.load(arm(arm=[{"box": [0.1, 0.1, 1.0], "at": [0, 0, 0.5], "color": GREEN}]))
    path = animate(m, tmp_path / "a.gif", seconds=0.6, fps=10, trace=[], width=240)
    with Image.open(path) as film:
        frames = [np.asarray((film.seek(k), film.convert("RGB"))[1], dtype=int) for k in range(film.n_frames)]
    assert len(frames) > 2 and all(pixels_like(f, GREEN) > 100 for f in frames)
    assert np.abs(frames[0] - frames[len(frames) // 2]).max() > 100


def test_a_missing_mesh_is_drawn_by_its_bars_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=r"body 'crank' is drawn without its mesh nowhere.stl: .*no such file"):
        shown = picture(crank([{"mesh": "nowhere.stl"}]), tmp_path, labels=False)
    np.testing.assert_array_equal(shown, picture(crank([]), tmp_path, labels=False))
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    with pytest.warns(UserWarning, match="is not an STL file"):
        Scene(lw.load(crank([{"mesh": "broken.stl"}])).system, None)


def test_meshes_of_a_built_description_are_relative_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "stl")
    read = lw.load(crank([{"mesh": "plate.stl"}])).description
    built = lw.compile(replace(read, document=None))
    assert len(Scene(built, None).surfaces) == 1
    with pytest.warns(UserWarning, match="came inside another file"):
        assert not Scene(lw.compile(read_enclosed(write(read), "run.npz")), None).surfaces


def test_a_changed_mesh_is_read_again(tmp_path: Path) -> None:
    import trimesh

    (tmp_path / "m.yaml").write_text(
        "plane: xy\ndrawing: {A: [0, 0], B: [1, 0]}\n"
        "bodies: {ground: {pins: [A]}, crank: {pins: [A], points: [B], visuals: [{mesh: plate.stl}]}}\n"
    )
    m = lw.load(written(tmp_path, "stl").with_name("m.yaml"))
    counts = []
    for sections in (64, 32):
        written(tmp_path, "stl", trimesh.creation.annulus(0.1, 0.3, 0.1, sections=sections))
        counts.append(len(Scene(m.system, None).surfaces[0].surface.faces))
    assert counts == [8 * 64, 8 * 32]


def test_triangles_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trimesh

    monkeypatch.chdir(tmp_path)
    written(tmp_path, "stl", trimesh.creation.icosphere(subdivisions=5, radius=0.2))  # 20,480 triangles
    scene = Scene(lw.load(crank([{"mesh": "plate.stl"}])).system, None)
    assert 1000 < len(scene.surfaces[0].surface.faces) <= MOST_OF_A_SHAPE
    many = Scene(lw.load(crank([{"mesh": "plate.stl"}] * 40 + [{"box": [1, 1, 1]}])).system, None)
    assert sum(len(s.surface.faces) for s in many.surfaces) <= MOST_OF_ALL and len(many.surfaces[-1].surface.faces) == 12


def test_small_shapes_leave_their_share_to_large_ones() -> None:
    assert shared([10, 10, 1000, 1000], 1020) == 500
    assert shared([10, 20], 100) == 20 and shared([], 100) == 0 and shared([5, 5, 5], 3) == 8


def test_no_warning_without_visuals() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Scene(lw.load("wiper").system, None).surfaces == []
    assert len(primitive("box", (1, 1, 1)).faces) == 12
