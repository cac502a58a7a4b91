"""Surfaces of bodies on the page, in a real browser without a network: outlines in a plane, triangles in space, and what they cost."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.rings.studio.live.scene_data import meshes
from linkwright.rings.studio.scene import Scene
from linkwright.rings.studio.surfaces import MOST_OF_ALL
from tests.model.meshes.shapes import written
from tests.rings.studio.browser.desk import Desk

GREEN = "#20a040"
BOX = """(() => {
  const path = document.querySelector('path[data-mesh="1"]'), box = path.getBBox();
  return [box.width, box.height, path.getAttribute("fill")];
})()"""
PLACE = """(() => {
  const r = document.querySelectorAll('path[data-mesh="1"]')[1].getBoundingClientRect();
  return [r.x + 0.9 * r.width, r.y + r.height / 2];
})()"""


def planar(tmp_path: Path) -> Path:
    written(tmp_path, "stl", trimesh.creation.annulus(r_min=0.1, r_max=0.2, height=0.1))
    (tmp_path / "crank.yaml").write_text(
        "name: crank\nplane: xy\ngravity: [0, -9.81]\ndrawing: {A: [0, 0], B: [1, 0]}\n"
        "bodies:\n"
        "  ground: {pins: [A], visuals: [{box: [1, 0.2, 0.1], at: [0, -0.4]}]}\n"
        "  crank: {pins: [A], points: [B], mass: 1, visuals: [{box: [1.2, 0.3, 0.1], at: [0.5, 0]}, {mesh: plate.stl, at: [1.3, 0]}]}\n"
        "drive: {A: 6 rpm}\n"
    )
    return live.write(lw.load(tmp_path / "crank.yaml"), tmp_path / "crank.html")


@pytest.mark.slow
def test_in_a_plane_outlines_move_with_their_bodies(desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(planar(tmp_path), still=True)
    width, height, fill = here.ask(BOX)
    assert width / height == pytest.approx(1.2 / 0.3, rel=0.01) and fill != "none"  # written with a tenth of a pixel
    assert here.ask("document.querySelectorAll('path[data-mesh]').length") == 3
    assert here.ask("document.querySelectorAll('[data-body=crank] path').length") == 4  # two shapes: line and fill each, and no bar
    rings = here.ask("document.querySelectorAll('path[data-mesh]')[2].getAttribute('d').split('M').length - 1")
    assert rings == 2  # the plate and its hole
    first = here.ask("document.querySelector('[data-body=crank]').getAttribute('transform')")
    here.page.keyboard.press("ArrowRight")
    here.frame()
    assert here.ask("document.querySelector('[data-body=crank]').getAttribute('transform')") != first


@pytest.mark.slow
def test_a_click_on_an_outline_picks_its_body(desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(planar(tmp_path), still=True)
    x, y = here.ask(PLACE)
    here.page.mouse.click(x, y)
    here.frame()
    assert here.ask("document.querySelector('[data-body=crank]').classList.contains('lw-selected')")


def spatial(tmp_path: Path) -> tuple[Any, Path]:
    written(tmp_path, "glb", trimesh.creation.icosphere(subdivisions=5, radius=0.3))
    (tmp_path / "arm.yaml").write_text(
        "name: arm\ngravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  ground: {visuals: [{cylinder: {radius: 0.4, length: 0.1}}]}\n"
        "  arm: {points: {A: [0, 0, 0], B: [0, 0, 1]}, mass: 1, inertia: [1, 1, 1], visuals: ["
        f"{{box: [0.2, 0.2, 1], at: [0, 0, 0.5], color: '{GREEN}'}}, {{mesh: plate.glb, at: [0, 0, 1], color: '{GREEN}'}}]}}\n"
        "joints: {A: {type: revolute, between: [ground, arm], at: [0, 0, 0.1], axis: [0, 1, 0]}}\n"
        "guess: {arm: {at: [0, 0, 0.1]}}\ndrive: {A: 6 rpm}\n"
    )
    m = lw.load(tmp_path / "arm.yaml")
    return m, live.write(m, tmp_path / "arm.html")


@pytest.mark.slow
def test_in_space_surfaces_are_drawn_with_their_colors(desk: Callable[..., Desk], tmp_path: Path) -> None:
    _, page = spatial(tmp_path)
    here = desk(page, still=True)
    p = here.pixels().astype(int)
    green = (p[..., 1] - p[..., [0, 2]].max(axis=-1)) > 25
    assert green.sum() > 0.01 * green.size
    rows, columns = np.nonzero(green)
    assert np.ptp(rows) > np.ptp(columns)  # an upright arm with a ball on it


def test_the_data_of_surfaces_are_small_and_exact_to_their_steps(tmp_path: Path) -> None:
    m, page = spatial(tmp_path)
    scene = Scene(m.system, None)
    listed = meshes(scene)
    size = sum(len(x["vertices"]) + len(x["faces"]) for x in listed)
    triangles = sum(len(s.surface.faces) for s in scene.surfaces)
    assert size < 13 * triangles and 13 * MOST_OF_ALL < 320_000  # bytes: three indices of 2 and half a vertex of 6, times 4/3 by base64
    for x, s in zip(listed, scene.surfaces, strict=True):
        steps = np.frombuffer(base64.b64decode(x["vertices"]), dtype="<u2").reshape(-1, 3)
        faces = np.frombuffer(base64.b64decode(x["faces"]), dtype="<u2").reshape(-1, 3)
        np.testing.assert_allclose(steps * x["step"] + x["low"], s.surface.vertices, atol=0.6 * max(x["step"]))
        np.testing.assert_array_equal(faces, s.surface.faces)
    assert page.stat().st_size < 1_500_000
    assert all(x["rim"] for x in listed)


def test_open_surfaces_have_no_rim(tmp_path: Path) -> None:
    """What lies behind a rim's inner side would show through the openings."""
    ball = trimesh.creation.icosphere(subdivisions=3)
    half = trimesh.Trimesh(ball.vertices, ball.faces[ball.triangles_center[:, 2] > 0])
    m, _ = spatial(tmp_path)
    for mesh, rim in ((half, False), (ball, True)):
        written(tmp_path, "glb", mesh)
        assert meshes(Scene(m.system, None))[2]["rim"] is rim
