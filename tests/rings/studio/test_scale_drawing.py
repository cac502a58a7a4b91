"""Drawings to scale: true lengths, outlines with closed-form areas, and files that other programs read and that can be read back."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import ezdxf
import ezdxf.path
import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.rings import cli
from linkwright.rings.exchange.reading.sketches import read_sketch
from linkwright.rings.studio.link_outline import arc_center, arc_radius, flattened, link_outline
from linkwright.rings.studio.scale_drawing import LAYERS, scale_drawing
from tests.refusals import refused
from tests.sweeps import sweep

HINGED = ["wiper", "four-bar", "carpet-scraper", "jansen-leg", "change-point-four-bar", "parallelogram-chain"]
FINE = 400  # pieces of an arc: areas of polygons in a circle are right to (pi/400)^2 / 6, 1e-5


def area(contour: Any) -> float:
    x, y = flattened(contour, FINE).T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def test_outlines_have_the_area_of_a_band_round_their_lines() -> None:
    r = 0.5
    (bar,) = link_outline(np.array([[0.0, 0.0], [3.0, 4.0]]), False, r)
    assert area(bar) == pytest.approx(2 * r * 5.0 + math.pi * r**2, rel=2e-5)
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    for points in (corners, corners[::-1]):  # whatever way round
        (plate,) = link_outline(points, True, r)
        assert area(plate) == pytest.approx(6.0 + r * 12.0 + math.pi * r**2, rel=2e-5)  # Steiner's formula
    (bent,) = link_outline(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0]]), False, r)
    # two bars and their caps, less what they share at the corner: a square inside it, and a quarter of a circle outside
    assert area(bent) == pytest.approx(2 * r * 7.0 + math.pi * r**2 - (r**2 - math.pi * r**2 / 4), rel=2e-5)
    tight = link_outline(np.array([[0.0, 0.0], [4.0, 0.0], [3.9, 0.2]]), False, r)
    assert len(tight) == 2  # a corner too tight for one outline: each bar has its own
    assert area(link_outline(np.array([[1.0, 1.0]]), False, r)[0]) == pytest.approx(math.pi * r**2, rel=2e-5)
    assert arc_center((1, 0), (0, 1), math.tan(math.pi / 8)) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert arc_radius((1, 0), (0, 1), math.tan(math.pi / 8)) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def wiper() -> lw.Mechanism:
    return lw.load("wiper")


def test_a_dxf_is_read_by_ezdxf_without_a_remark_and_in_true_lengths(wiper: lw.Mechanism, tmp_path: Path) -> None:
    path = wiper.export(tmp_path / "w.dxf", positions=6, width="40 mm", bore=16)
    document = ezdxf.readfile(path)
    auditor = document.audit()
    assert not auditor.errors and not auditor.fixes and document.units == ezdxf.units.MM
    space = document.modelspace()
    holes = space.query('CIRCLE[layer=="PINS"]')
    assert sorted(tuple(np.round(c.dxf.center, 9))[:2] for c in holes) == [(0, 0), (150, 260), (905, 750), (1000, 0)]
    assert {c.dxf.radius for c in holes} == {8.0}
    outlines = space.query('LWPOLYLINE[layer=="OUTLINES"]')
    crank = min(outlines, key=lambda e: ezdxf.path.make_path(e).control_vertices()[0].x + len(e))
    length = np.hypot(150, 260)
    boxes = [np.ptp([(v.x, v.y) for v in ezdxf.path.make_path(e).flattening(0.01)], axis=0) for e in outlines]
    assert len(outlines) == 3 and crank.closed
    assert any(np.allclose(box, [150 + 40, 260 + 40], atol=0.02) for box in boxes), (boxes, length)  # a stadium reaches 20 mm further
    assert len(space.query('*[layer=="POSITIONS"]')) == 6 * 3
    (path_of_P,) = space.query('*[layer=="PATHS"]')
    at = np.array([v[:2] for v in path_of_P.get_points()])
    assert path_of_P.closed and np.allclose(at, 1e3 * wiper.cycle(steps=360)["coupler.P"][:-1], atol=1e-6)
    assert files.made_by_linkwright(path)
    document.saveas(path)  # by another program: no longer ours
    assert not files.made_by_linkwright(path)


def test_an_svg_is_one_to_one_in_millimeters(wiper: lw.Mechanism, tmp_path: Path) -> None:
    path = wiper.export(tmp_path / "w.svg", positions=0)
    root = ET.parse(path).getroot()
    box = [float(x) for x in root.attrib["viewBox"].split()]
    assert root.attrib["width"] == f"{box[2]:g}mm" or float(root.attrib["width"].removesuffix("mm")) == pytest.approx(box[2])
    space = "{http://www.w3.org/2000/svg}"
    layers = {g.attrib["id"]: g for g in root.findall(f"{space}g")}
    assert "POSITIONS" not in layers and {"PATHS", "OUTLINES", "LINKS", "PINS", "GROUND", "NAMES"} <= set(layers) <= set(LAYERS)
    pins = {(float(c.attrib["cx"]), -float(c.attrib["cy"])) for c in layers["PINS"].findall(f"{space}circle")}
    assert pins == {(0, 0), (150, 260), (905, 750), (1000, 0)}
    assert files.made_by_linkwright(path)


@sweep("name", HINGED, now=["wiper", "jansen-leg"])
def test_drawings_are_read_back_as_the_same_linkage(name: str, tmp_path: Path) -> None:
    m = lw.load(name)
    bodies = {b.name: {p.name for p in b.points} for b in m.description.bodies}
    for ending in ("dxf", "svg"):
        found = read_sketch(m.export(tmp_path / f"m.{ending}")).imported.description
        back = {b.name: {p.name for p in b.points} for b in found.bodies}
        assert {k: v for k, v in back.items() if k != "ground"} == {k: v for k, v in bodies.items() if k != "ground"}
        assert back["ground"] <= bodies["ground"]
        for name_of, points in back.items():
            mine, theirs = m.description.numbers().body(name_of), found.body(name_of)
            for a, b in ((a, b) for a in points for b in points if a < b):
                lengths = [np.linalg.norm(np.subtract(x.point(a).at, x.point(b).at)) for x in (mine, theirs)]
                assert lengths[0] == pytest.approx(lengths[1], abs=2e-9)  # coordinates have six decimals of a millimeter


def test_a_slider_comes_back_on_its_guide(tmp_path: Path) -> None:
    m = lw.load("punch-press")
    back = lw.load(m.export(tmp_path / "p.dxf"))
    assert back.system.mobility.freedoms == 1
    assert back.cycle(steps=36).measure("stroke ram.T.y") == pytest.approx(m.cycle(steps=36).measure("stroke ram.T.y"), rel=1e-6)


def test_what_cannot_be_drawn_is_refused(wiper: lw.Mechanism, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with refused(lw.UsageError, name="plane"):
        lw.load("stewart").export(tmp_path / "s.dxf")
    for options, said in (
        ({"positions": -1}, "positions must be a whole number"),
        ({"width": "10 mm", "bore": "10 mm"}, "must be smaller than the width"),
        ({"width": 0}, "width is a length above 0"),
        ({"trace": ["P"]}, r"Write it as 'body\.point'"),
        ({"scale": 2}, "has no option 'scale'"),
    ):
        with pytest.raises(lw.LinkwrightError, match=said):
            wiper.export(tmp_path / "w.svg", **options)
    assert not list(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    with refused(lw.UsageError, name="ezdxf"):
        wiper.export(tmp_path / "w.dxf")


def test_without_a_drive_there_is_the_drawing_alone() -> None:
    bodies = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A", "B"]}, "hand": {"pins": ["B"], "points": ["C"]}}
    found = scale_drawing(lw.load({"plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0], "C": [1, 1]}, "bodies": bodies}))
    assert {"OUTLINES", "LINKS", "PINS", "GROUND"} <= set(found.used_layers) and "POSITIONS" not in found.used_layers


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["export", "wiper", "-o", "w.dxf", "--positions", "4", "--trace", "coupler.P", "--width", "30mm"]) == 0
    assert cli.main(["export", "wiper", "-o", "w.dxf"]) == 0  # our own file is replaced
    assert cli.main(["export", "w.dxf", "-o", "w.yaml"]) == 0 and lw.load("w.yaml").description.drawing
    assert cli.main(["export", "w.dxf", "-o", "w.svg"]) == 0 and lw.load("w.svg", ground=["A", "D"]).imported is not None


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    m = lw.load({"plane": "xy", "bodies": {"ground": {}}})
    for name in ("x.dxf", "x.svg"):
        with refused(lw.UsageError, name="drawing"):
            m.export(tmp_path / name)
    assert not list(tmp_path.iterdir())
