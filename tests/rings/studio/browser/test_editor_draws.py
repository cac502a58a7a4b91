"""Mechanisms drawn from nothing with mouse or finger: the file that is written gives the same numbers as one written by hand."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests import ROOT
from tests.rings.studio.browser.desk import Desk
from tests.rings.studio.browser.pencil import EMPTY, FingerPencil, Pencil, edited

MINUTE = 60.0  # s of scripted clicks
SAME = 1e-9  # m, rad: a turn closes its loops to some 1e-10; coordinates of the file are those that were clicked and typed, to 1e-14 m
FIRST = "plane: xy\nunits: [mm, kg, deg, rpm]\n"


def check_same_motion(file: Path, text: str, channels: dict[str, str], folder: Path) -> None:
    """The drawn file and one written by hand: the same channels over the whole turn; `channels` by their names in the two."""
    (folder / "by_hand.yaml").write_text(FIRST + text, encoding="utf-8")
    drawn, written = lw.load(file).cycle(steps=36), lw.load(folder / "by_hand.yaml").cycle(steps=36)
    for ours, theirs in channels.items():
        assert np.ptp(written[theirs]) > 1e-3, "a channel that does not move compares nothing"
        assert np.abs(drawn[ours] - written[theirs]).max() < SAME, ours


def check_page_moves_like_python(pencil: Pencil, file: Path, point: str) -> None:
    """The page's own kernels, sample by sample, against Python."""
    pencil.moving()
    turn = lw.load(file).cycle()
    where = f"((p) => Array.from(LW.app.engine.trace(p.body, p.at)))(LW.app.DATA.points.find((p) => p.name === '{point}'))"
    path = np.array(pencil.ask(where)).reshape(-1, 3)
    assert len(path) == len(turn.t)
    assert np.abs(path[:, 0] - turn[f"{point}.x"]).max() < 1e-9 and np.abs(path[:, 1] - turn[f"{point}.y"]).max() < 1e-9


@pytest.fixture
def opened(tmp_path: Path, desk: Callable[..., Desk]) -> Any:
    """Opens the editor of a new file: (file, pencil)."""
    servers, pencils = [], []

    def open_editor(text: str = EMPTY, pen: type[Pencil] = Pencil, **options: Any) -> tuple[Path, Pencil]:
        file = tmp_path / "machine.yaml"
        file.write_text(text, encoding="utf-8")
        servers.append(edited(file))
        server = servers[-1].__enter__()
        pencils.append(pen(desk(server.address, ready=False, online=True, **options)))
        return file, pencils[-1]

    yield open_editor
    for one in pencils:
        one.leave()
    for one in servers:
        one.__exit__(None, None, None)


def test_a_four_bar_with_the_mouse(opened: Any, tmp_path: Path) -> None:
    file, pencil = opened()
    began = time.perf_counter()
    pencil.tool("pin").click((0, 0), (200, 0))
    assert "no moving body" in pencil.page.inner_text("#ed-messages")
    pencil.tool("link").drag((0, 0), (30, 60))
    assert pencil.ask("d.points.filter((p) => p.loose).map((p) => p.name)") == ["B", "C"], "ends that are joined to nothing"
    pencil.click((30, 60))
    pencil.hover(120, 110)
    pencil.type("180,5<20").key("Enter")  # a decimal comma, a direction, Enter ends the link
    pencil.drag((200, 0), pencil.at("D"))
    pencil.tool("motor").type("45").click((0, 0))
    assert pencil.ask("a.mobility.count") == 1 and pencil.ask("a.complete")
    pencil.tool("point").click((110, 90)).click((90, 140))
    pencil.tool("select")
    assert time.perf_counter() - began < MINUTE
    assert pencil.page.inner_text("#ed-mobility") == "1 degree of freedom"
    assert file.read_text(encoding="utf-8").startswith(EMPTY), "comments and units of the file stay"
    x, y = (float(p + 180.5 * f(np.radians(20))) for p, f in ((30, np.cos), (60, np.sin)))
    by_hand = f"""
drawing: {{A: [0, 0], B: [200, 0], C: [30, 60], D: [{x!r}, {y!r}], E: [90, 140]}}
bodies:
  ground: {{pins: [A, B]}}
  crank: {{pins: [A, C]}}
  coupler: {{pins: [C, D], points: [E]}}
  rocker: {{pins: [B, D]}}
drive: {{A: 45 rpm}}
"""
    names = {"link2.E.x": "coupler.E.x", "link2.E.y": "coupler.E.y", "link3.angle": "rocker.angle"}
    check_same_motion(file, by_hand, names, tmp_path)
    check_page_moves_like_python(pencil, file, "link2.E")


def test_a_slider_crank_with_a_finger(opened: Any, tmp_path: Path) -> None:
    file, pencil = opened(pen=FingerPencil, touch=True, width=800, height=1000)
    began = time.perf_counter()
    pencil.tool("pin").click((0, 0))
    scale = pencil.ask("ed.sheet.scale()")
    pencil.pinch((50, 50), 100, 120)
    assert abs(pencil.ask("ed.sheet.scale()") / scale - 1.2) < 0.01 and len(pencil.ask("d.points")) == 1, "two fingers draw nothing"
    pencil.tool("link").drag((0, 0), (30, 40)).drag((30, 40), (150, 0))
    pencil.tool("slider").click((150, 0), (200, 0))
    pencil.tool("load").click((150, 0), (110, 0))
    pencil.tool("motor").click((0, 0))
    pencil.tool("select").click((15, 20))
    pencil.choose("Mass", "bar").field("Width", "12,5 mm")
    pencil.click((90, 20)).choose("Mass", "round").choose("Material", "aluminum")
    slider = pencil.ask("d.joints.find((j) => j.kind === 'slider').name")
    ram = pencil.ask("d.joints.find((j) => j.kind === 'slider').second")
    pencil.ask(f"ed.select(['body:{ram}'])")
    pencil.choose("Mass", "given").field("Mass value", "2,5")
    assert time.perf_counter() - began < MINUTE
    assert pencil.ask("a.complete") and pencil.ask("a.mobility.count") == 1
    by_hand = """
drawing: {A: [0, 0], B: [30, 40], C: [150, 0]}
bodies:
  ground: {pins: [A]}
  crank: {pins: [A, B], bar: {section: {width: 12.5, height: 8}, material: steel}}
  rod: {pins: [B, C], bar: {section: {diameter: 10}, material: aluminum}}
  ram: {pins: [C], mass: 2.5}
joints:
  guide: {type: prismatic, between: [ground, ram], at: C, axis: [1, 0]}
loads: {work: {on: ram.C, force: [-100 N, 0 N]}}
drive: {A: 60 rpm}
"""
    check_same_motion(file, by_hand, {slider: "guide", "link2.angle": "rod.angle"}, tmp_path)
    drawn, written = lw.load(file), lw.load(tmp_path / "by_hand.yaml")
    torque = written.cycle(steps=36)["A.torque"]
    assert np.ptp(torque) > 1 and np.abs(drawn.cycle(steps=36)["A.torque"] - torque).max() < 1e-9


@pytest.mark.slow
def test_a_six_bar_with_the_mouse(opened: Any, tmp_path: Path) -> None:
    file, pencil = opened()
    began = time.perf_counter()
    pencil.tool("pin").click((0, 0), (150, -20), (250, 60))
    pencil.tool("link").drag((0, 0), (0, 40)).drag((0, 40), (120, 120))
    pencil.click((150, -20), (120, 120), (170, 140)).key("Enter")  # three pins, by clicks
    pencil.drag((170, 140), (270, 150)).drag((250, 60), (270, 150))
    pencil.tool("motor").type("30 rpm").click((0, 0))
    assert time.perf_counter() - began < MINUTE
    assert pencil.ask("a.complete") and pencil.ask("a.mobility.count") == 1
    assert pencil.ask("d.bodies.find((b) => b.name === 'link3').points.length") == 3
    by_hand = """
drawing: {A: [0, 0], B: [150, -20], C: [250, 60], D: [0, 40], E: [120, 120], F: [170, 140], G: [270, 150]}
bodies:
  ground: {pins: [A, B, C]}
  link1: {pins: [A, D]}
  link2: {pins: [D, E]}
  link3: {pins: [B, E, F]}
  link4: {pins: [F, G]}
  link5: {pins: [C, G]}
drive: {A: 30 rpm}
"""
    check_same_motion(file, by_hand, {f"link{k}.angle": f"link{k}.angle" for k in (2, 3, 4, 5)}, tmp_path)


@pytest.mark.slow
def test_the_clicks_of_the_tutorial_give_the_file_it_shows(opened: Any) -> None:
    spec = importlib.util.spec_from_file_location("editor_pictures", ROOT / "docs" / "make" / "editor_pictures.py")
    assert spec and spec.loader
    tutorial = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tutorial)
    file, pencil = opened(tutorial.EMPTY.format(name="my"))
    photographed: list[str] = []
    tutorial.draw(pencil.page, photographed.append)
    text = (ROOT / "docs" / "start" / "draw.md").read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8") in text
    assert photographed and all(name in tutorial.NAMES for name in photographed)
