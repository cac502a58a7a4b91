"""Drawings in DXF become the linkage that they show: the wiper's, in the ways people draw it, moves as the built-in model does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ModelError, UsageError
from linkwright.model import file as modelfile
from linkwright.rings import cli
from linkwright.rings.exchange.reading.sketches import SketchModel, read_sketch
from tests.refusals import refused
from tests.rings.cli.schemas import disagreements
from tests.rings.exchange.reading.sketches.drawings import PINS, new, on, saved, stadium, wiper


def bodies(found: SketchModel) -> dict[str, set[str]]:
    """Points of every body, pins and marked ones."""
    return {b.name: {p.name for p in b.points} for b in found.imported.description.bodies}


def same_motion(found: SketchModel) -> None:
    """The rocker swings as that of the built-in wiper: positions to round-off of coordinates with six decimals of a millimeter."""
    m = lw.Mechanism(found.imported.description)
    c, expected = m.cycle(steps=12), lw.load("wiper").cycle(steps=12)
    name = next(b.name for b in m.description.bodies[1:] if {p.name for p in b.points} == {"C", "D"})
    swing = np.ptp(c[f"{name}.angle"])
    assert swing == pytest.approx(float(np.ptp(expected["rocker.angle"])), abs=1e-8)


def test_a_drawing_with_layers_is_the_wiper(tmp_path: Path) -> None:
    found = read_sketch(saved(wiper(), tmp_path / "wiper.dxf"))
    assert bodies(found) == {"ground": {"A", "D"}, "link1": {"A", "B"}, "link2": {"B", "C", "P"}, "link3": {"C", "D"}}
    d = found.imported.description
    assert {j.name for j in d.joints} == set("ABCD") and d.units == ("mm", "kg", "deg", "rpm")
    assert all(b.mass is None for b in d.bodies) and "A drawing has no masses" in found.text
    assert dict(d.drawing)["C"][:2] == pytest.approx((0.905, 0.75)) and not found.report.dropped
    assert "marked points: P" in found.report.inferred and "fixed pins: A, D" in found.report.inferred
    same_motion(found)


@pytest.mark.parametrize(
    ("unit", "scale", "said"), [(1, 1 / 25.4, "in, is 25.4 mm"), (6, 1e-3, "m, is 1000 mm"), (0, 1.0, "Millimeters are assumed")]
)
def test_units_of_the_file(unit: int, scale: float, said: str, tmp_path: Path) -> None:
    found = read_sketch(saved(wiper(unit, scale), tmp_path / "w.dxf"))
    assert any(said in x for x in found.report.inferred)
    same_motion(found)


def test_another_unit_and_names_along_the_linkage(tmp_path: Path) -> None:
    path = saved(wiper(0, 0.1, names=False), tmp_path / "w.dxf")
    found = read_sketch(path, "mine", unit="cm")
    assert bodies(found)["link2"] == {"B", "C", "P"} and found.imported.description.name == "mine"
    same_motion(found)
    with refused(UsageError, name="unit", value="kg"):
        read_sketch(path, unit="kg")


def test_lines_blocks_and_mirrored_entities(tmp_path: Path) -> None:
    """A block for each link, placed, turned and scaled; a circle with the extrusion (0, 0, -1), which mirrors x."""
    document, space = new()
    bar = document.blocks.new("bar")
    bar.add_line((0, 0), (1, 0))
    for a, b in ("AB", "DC"):
        (x, y), (u, v) = PINS[a], PINS[b]
        length, angle = np.hypot(u - x, v - y), np.degrees(np.arctan2(v - y, u - x))
        space.add_blockref("bar", (x, y), dxfattribs={"xscale": length, "yscale": length, "rotation": angle, "layer": "links"})
    triangle = document.blocks.new("triangle")
    corners = [PINS[k] for k in "BCP"]
    for k in range(3):
        triangle.add_line(corners[k], corners[(k + 1) % 3])
    space.add_blockref("triangle", (0, 0), dxfattribs={"layer": "links"})
    for name, (x, y) in PINS.items():
        mirrored = name in "BD"
        extra = {"extrusion": (0, 0, -1)} if mirrored else {}
        space.add_circle((-x if mirrored else x, y), 10, dxfattribs={"layer": "ground" if name in "AD" else "pins", **extra})
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert sorted(map(len, bodies(found).values())) == [2, 2, 2, 3]
    same_motion(found)


def test_single_lines_on_one_layer_make_a_triangle_one_link(tmp_path: Path) -> None:
    document, space = new()
    for x in PINS.values():
        space.add_point(x)
    for a, b in ("AB", "BC", "CP", "PB", "CD"):
        space.add_line(PINS[a], PINS[b])
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert sorted(map(len, bodies(found).values())) == [2, 2, 2, 3]
    assert any("no layer marks the ground" in x for x in found.report.inferred)
    same_motion(found)


def test_layers_that_name_bodies(tmp_path: Path) -> None:
    document, space = new()
    for name, x in PINS.items():
        space.add_circle(x, 8, **on("fixed pivots" if name in "AD" else "pins"))
    for layer, lines in {"crank": ["AB"], "coupler": ["BC", "CP"], "rocker": ["CD"]}.items():
        for a, b in lines:
            space.add_line(PINS[a], PINS[b], **on(layer))
    space.add_line((0, -100), (1000, -100), **on("dimensions"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert bodies(found) == {"ground": {"A", "D"}, "crank": {"A", "B"}, "coupler": {"B", "C", "P"}, "rocker": {"C", "D"}}
    assert found.report.dropped == ("1 line on layer 'dimensions'",)


def test_outlines_with_holes(tmp_path: Path) -> None:
    """Contours of lines and arcs round circles, as projected from a solid model; a wheel is no pin."""
    document, space = new()
    for name in "ABCD":
        space.add_circle(PINS[name], 8, **on("0"))
    for a, b in ("AB", "BC", "CD"):
        stadium(space, PINS[a], PINS[b], 20, "0")
    space.add_circle((500, 300), 200, **on("0"))
    space.add_circle(PINS["A"], 9, **on("ground"))
    space.add_circle(PINS["D"], 9, **on("ground"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert sorted(map(sorted, bodies(found).values())) == [["A", "B"], ["A", "D"], ["B", "C"], ["C", "D"]]
    assert len(found.report.dropped) == 1 and "radius 200 mm" in found.report.dropped[0]
    same_motion(found)


def test_a_slider_on_its_guide(tmp_path: Path) -> None:
    document, space = new()
    crank, rod = 50.0, 180.0
    end = (float(np.sqrt(rod**2 - 30.0**2)) + 40.0, 0.0)
    for at in ((0, 0), (40, 30), end):
        space.add_circle(at, 4, **on("pins"))
    space.add_line((0, 0), (40, 30), **on("links"))
    space.add_line((40, 30), end, **on("links"))
    space.add_line((100, 0), (300, 0), **on("guides"))
    space.add_line((0, 0), (0, -20), **on("ground"))
    m = lw.Mechanism(read_sketch(saved(document, tmp_path / "s.dxf")).imported.description)
    assert m.cycle(steps=72).measure("stroke guide") == pytest.approx(2e-3 * crank, rel=1e-9)  # of a centric slider-crank


def test_a_pin_on_a_line_belongs_to_the_link(tmp_path: Path) -> None:
    """Hoecken's linkage with its coupler as one line: crank 1, ground 2, rocker and both halves of the coupler 2.5. Its point draws a
    line that is straight over half a turn of the crank."""
    document, space = new()
    at = {"A": (0.0, 0.0), "D": (200.0, 0.0), "B": (0.0, 100.0)}
    middle, half = np.array([100.0, 50.0]), np.hypot(200.0, 100.0) / 2
    normal = np.array([100.0, 200.0]) / np.hypot(100.0, 200.0)
    joint = middle + np.sqrt(250.0**2 - half**2) * normal
    at["C"], at["P"] = tuple(joint), tuple(2 * joint - np.array(at["B"]))
    for name in "ABCD":
        space.add_circle(at[name], 6, **on("ground" if name in "AD" else "pins"))
    space.add_point(at["P"], **on("points"))
    for a, b in ("AB", "BP", "DC"):
        space.add_line(at[a], at[b], **on("links"))
    found = read_sketch(saved(document, tmp_path / "h.dxf"))
    assert any("on the line of a link, between its vertices" in x for x in found.report.inferred)
    m = lw.Mechanism(found.imported.description)
    assert m.system.mobility.freedoms == 1
    c = m.cycle(steps=360)
    body = next(b.name for b in m.description.bodies if any(p.name == "P" for p in b.points))
    x, y = c[f"{body}.P.x"], c[f"{body}.P.y"]
    half_turn = np.cos(c["A"]) < 0.0  # the crank away from the rocker
    half_turn = half_turn if np.ptp(y[half_turn]) < np.ptp(y[~half_turn]) else ~half_turn
    length = float(np.ptp(x[half_turn]))
    assert length == pytest.approx(0.4, rel=0.01) and np.ptp(y[half_turn]) < 0.01 * length  # four cranks, sampled every degree


def test_a_lever_with_its_pivot_on_its_line(tmp_path: Path) -> None:
    document, space = new()
    for at in ((-100, 0), (0, 0), (150, 0)):
        space.add_circle(at, 4, **on("pins"))
    space.add_line((-100, 0), (150, 0), **on("links"))
    space.add_line((0, 0), (0, -30), **on("ground"))
    found = read_sketch(saved(document, tmp_path / "l.dxf"))
    (ground, lever) = found.imported.description.bodies
    assert len(ground.points) == 1 and len(lever.points) == 3 and len(found.imported.description.joints) == 1


def test_loose_ends_are_named(tmp_path: Path) -> None:
    document = wiper()
    space = document.modelspace()
    space.add_line((300, 100), (400, 100), **on("links"))
    space.add_circle((700, 100), 10, **on("pins"))
    space.add_line(PINS["D"], (1200, 100), **on("links"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert any("it touches no pin" in x and "(300, 100) mm" in x for x in found.report.dropped)
    assert any("pin at (700, 100) mm: no link touches it" in x for x in found.report.dropped)
    assert any("end or corner at (1200, 100) mm without a pin" in x for x in found.report.inferred)


@pytest.mark.parametrize("drawn", ["closed", "open", "lines"])
def test_the_corner_of_a_coupler_triangle_is_a_point(drawn: str, tmp_path: Path) -> None:
    document, space = new()
    a, b, c, d, tip = (0, 0), (50, 80), (240, 150), (260, 0), (150, 260)
    for at in (a, b, c, d):
        space.add_circle(at, 5, **on("pins"))
    space.add_line(a, b, **on("links"))
    space.add_line(c, d, **on("links"))
    if drawn == "lines":
        for one, two in ((b, c), (c, tip), (tip, b)):
            space.add_line(one, two, **on("links"))
    else:
        space.add_lwpolyline([b, c, tip] if drawn == "closed" else [b, c, tip, b], close=drawn == "closed", **on("links"))
    found = read_sketch(saved(document, tmp_path / "t.dxf"))
    coupler = max(found.imported.description.bodies, key=lambda body: len(body.points))
    assert len(coupler.points) == 3
    assert sorted((round(1e3 * x), round(1e3 * y)) for _, (x, y, _z) in found.imported.description.drawing) == sorted([a, b, c, d, tip])
    assert sum("corner at (150, 260) mm" in x for x in found.report.inferred) == 1


def test_a_line_that_ends_beside_its_pin_is_named(tmp_path: Path) -> None:
    """The report says how far the line is from the pin that it was meant for."""
    document = wiper()
    space = document.modelspace()
    space.add_circle((700, 100), 10, **on("pins"))
    space.add_line(PINS["D"], (708.5, 120), **on("links"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert any("pin at (700, 100) mm: no link touches it; the nearest line ends 21.7 mm away" in x for x in found.report.dropped)


def test_long_lists_are_shortened(tmp_path: Path) -> None:
    document = wiper()
    for k in range(40):
        document.modelspace().add_line((300, 100 + 3 * k), (400, 100 + 3 * k), **on("links"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert len(found.report.dropped) == 21 and found.report.dropped[-1] == "20 more of the kind"
    same_motion(found)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    document, space = new()
    space.add_line((0, 0), (1, 1), **on("links"))
    path = saved(document, tmp_path / "a.dxf")
    with refused(ModelError, name="pins"):
        read_sketch(path)
    with refused(UsageError, name="pivots", allowed=("links",)):
        read_sketch(path, pins="pivots")
    space.add_circle((50, 50), 1, **on("pins"))
    with refused(ModelError, name="links"):
        read_sketch(saved(document, path))
    document, space = new()
    for k in range(3):
        space.add_circle((k * 10, k * k), 0.5)
        space.add_lwpolyline([(k * 10, k * k), ((k + 1) % 3 * 10, ((k + 1) % 3) ** 2), (5, 20 + k)], **on(f"body{k}"))
    with refused(ModelError, name="ground"):
        read_sketch(saved(document, path))
    empty, _ = new()
    with refused(ModelError, name="model space"):
        read_sketch(saved(empty, path))
    with refused(UsageError, name="gap", value="0 mm"):
        read_sketch(saved(wiper(), path), gap="0 mm")


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    path = saved(wiper(), tmp_path / "w.dxf")
    text = path.read_text()
    at = text.index("ENTITIES")
    cut, wrong = tmp_path / "cut.dxf", tmp_path / "wrong.dxf"
    cut.write_text(text[: text.index("ENDSEC", at) + 2])  # the end of the file is missing
    wrong.write_text(text[:at] + text[at:].replace("\n12.0\n", "\n12.0mm\n"))  # no numbers, as careless programs write them
    for broken in (cut, wrong):
        found = read_sketch(broken)
        assert any("was damaged" in x for x in found.report.inferred)
        same_motion(found)
    cases: dict[str, tuple[bytes, str]] = {
        "dwg.dxf": (b"AC1032\0\0", "DWG, not DXF"),
        "text.dxf": (b"hello\n" * 50, "cannot be read as DXF"),
        "empty.dxf": (b"", "model space has no circles"),
        "noise.dxf": (bytes(range(256)) * 20, "cannot be read as DXF"),
    }
    for name, (data, said) in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelError, match=said):
            read_sketch(tmp_path / name)
    with refused(UsageError, file="a.step"):
        read_sketch(tmp_path / "a.step")
    with refused(ModelError, file="absent.dxf"):
        read_sketch(tmp_path / "absent.dxf")


def test_layers_that_are_off_and_blocks_that_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwright.rings.exchange.reading.sketches import dxf

    document = wiper()
    space = document.modelspace()
    space.add_circle((1, 300), 5, **on("old"))
    document.layers.add("old").off()
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert found.report.dropped == ("1 entity on layer 'old', which is off",)
    monkeypatch.setattr(dxf, "MOST_ENTITIES", 10)
    with refused(ModelError, name="entities"):
        read_sketch(tmp_path / "w.dxf")


def test_crosses_on_the_layer_of_the_pins_are_no_links(tmp_path: Path) -> None:
    document = wiper()
    for x, y in PINS.values():
        document.modelspace().add_line((x - 20, y), (x + 20, y), **on("pins"))
        document.modelspace().add_line((x, y - 20), (x, y + 20), **on("pins"))
    found = read_sketch(saved(document, tmp_path / "w.dxf"))
    assert len(found.imported.description.bodies) == 4
    same_motion(found)


def test_a_plan_of_a_building_is_refused(tmp_path: Path) -> None:
    """Hundreds of lines and circles on one layer: a message in seconds, not a mechanism of hundreds of links."""
    rng = np.random.default_rng(3)
    document, space = new()
    for at in (places := rng.uniform(0.0, 1000.0, (400, 2))):
        space.add_circle(at, 0.5)
    for a, b in rng.integers(0, 400, (900, 2)):
        space.add_line(places[a], places[b])
    with pytest.raises(ModelError, match=r"the drawing has [\d,]+ links, a linkage at most 500"):
        read_sketch(saved(document, tmp_path / "plan.dxf"))


def test_random_damage_never_ends_with_a_foreign_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    data = bytearray(saved(wiper(), tmp_path / "w.dxf").read_bytes())
    begin = data.index(b"ENTITIES")
    for k in range(12):
        broken = bytearray(data)
        for i in rng.integers(begin, len(data), 30):
            broken[i] = int(rng.integers(32, 127))
        path = tmp_path / f"b{k}.dxf"
        path.write_bytes(broken)
        try:
            read_sketch(path)
        except (ModelError, UsageError) as problem:
            assert str(problem)


def test_the_command_line_writes_a_file_that_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    saved(wiper(), tmp_path / "sketch.dxf")
    assert cli.main(["new", "my.yaml", "--from", "sketch.dxf"]) == 0
    said = capsys.readouterr().out
    assert "link link2: one polyline on layer 'links' through B, C, P" in said and "wrote my.yaml" in said
    assert "note: no masses: a drawing has none" in said
    assert modelfile.read("my.yaml").name == "my"
    assert cli.main(["new", "my.yaml", "--from", "sketch.dxf", "--ground", "ground", "--json"]) == 0
    assert disagreements("new", json.loads(capsys.readouterr().out)) == []
    assert cli.main(["new", "my.yaml", "--from", "sketch.dxf"]) == 0  # not edited since: replaced
    Path("my.yaml").write_text(Path("my.yaml").read_text() + "# mine\n")
    assert cli.main(["new", "my.yaml", "--from", "sketch.dxf"]) != 0 and "--force" in capsys.readouterr().err
    assert cli.main(["new", "a.yaml", "--pins", "x"]) != 0 and "is for drawings" in capsys.readouterr().err
    assert cli.main(["cycle", "my.yaml", "--steps", "12"]) == 0


def test_without_ezdxf_the_answer_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(wiper(), tmp_path / "w.dxf")
    monkeypatch.setitem(sys.modules, "ezdxf", None)
    with refused(UsageError, name="ezdxf"):
        read_sketch(path)
