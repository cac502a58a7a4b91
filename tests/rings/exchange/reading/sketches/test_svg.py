"""Drawings in SVG: units, transforms, paths, groups and hostile files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwright.errors import ModelError, UsageError
from linkwright.rings.exchange.reading.sketches import SketchModel, read_sketch
from linkwright.rings.exchange.reading.sketches.svg import Malformed, read_svg, subpaths, transform
from tests.refusals import refused

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="200mm" height="150mm" viewBox="0 0 400 300">'
PINS = '<g id="pins"><circle id="A" cx="20" cy="250" r="5"/><circle id="B" cx="50" cy="200" r="5"/>'
PINS += '<circle id="C" cx="200" cy="100" r="5"/><circle id="D" cx="220" cy="250" r="5"/></g>'
LINKS = '<g id="links"><path id="crank" d="m20 250 30-50"/><path id="coupler" d="M50,200 H200 V100"/>'
LINKS += '<line id="rocker" x1="200" y1="100" x2="220" y2="250"/></g>'
GROUND = '<g id="ground"><path d="M20 250v20h200V250"/></g>'


def read(text: str, tmp_path: Path, **options: object) -> SketchModel:
    path = tmp_path / "a.svg"
    path.write_text(text)
    return read_sketch(path, **options)


def drawn(found: SketchModel) -> dict[str, tuple[float, float]]:
    """Pins in millimeters."""
    return {name: (round(1e3 * at[0], 6), round(1e3 * at[1], 6)) for name, at in found.imported.description.drawing}


def test_a_page_in_millimeters_with_y_up(tmp_path: Path) -> None:
    found = read(f"{HEAD}{PINS}{LINKS}{GROUND}</svg>", tmp_path)
    assert drawn(found) == {"A": (10.0, 25.0), "B": (25.0, 50.0), "C": (100.0, 100.0), "D": (110.0, 25.0)}
    bodies = {b.name: [p.name for p in b.points] for b in found.imported.description.bodies}
    assert bodies == {"ground": ["A", "D"], "crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["C", "D"]}


@pytest.mark.parametrize(
    ("size", "scale", "said"),
    [
        ('width="400px" height="300px"', 25.4 / 96, "96 of them are taken as an inch"),
        ('width="100%"', 1.0, "units are taken as millimeters"),
        ("", 1.0, "units are taken as millimeters"),
        ('width="8in"', 8 * 25.4 / 400, ""),
    ],
)
def test_sizes_of_pages(size: str, scale: float, said: str, tmp_path: Path) -> None:
    head = f'<svg {size} viewBox="0,0,400,300">'
    found = read(f"{head}{PINS}{LINKS}{GROUND}</svg>", tmp_path)
    assert drawn(found)["D"] == pytest.approx((220 * scale, 50 * scale), abs=1e-5)
    assert not said or any(said in x for x in found.report.inferred)
    assert drawn(read(f"{head}{PINS}{LINKS}{GROUND}</svg>", tmp_path, unit="mm"))["D"] == (220.0, 50.0)
    with refused(UsageError, name="unit", value="furlong"):
        read(f"{head}{PINS}{LINKS}{GROUND}</svg>", tmp_path, unit="furlong")


def test_transforms_symbols_and_a_box_with_its_own_origin(tmp_path: Path) -> None:
    """The same drawing, its pins through matrix, rotation and use; a viewBox that does not begin at 0, 0 keeps the file's origin."""
    pins = '<defs><symbol id="hole"><circle r="5"/></symbol></defs><g id="pins">'
    for name, x, y in (("A", 20, 250), ("B", 50, 200), ("C", 200, 100), ("D", 220, 250)):
        pins += f'<use id="{name}" href="#hole" transform="translate({x},{y})"/>'
    turned = f'<g transform="rotate(90 7 9) rotate(-90, 7, 9) scale(2) scale(.5)">{LINKS}</g>'
    text = f'<svg width="400mm" viewBox="-10 -20 400 300">{pins}</g><g transform="matrix(1 0 0 1 0 0)">{turned}</g>{GROUND}</svg>'
    found = drawn(read(text, tmp_path))
    assert sorted(found.values()) == [(20.0, -250.0), (50.0, -200.0), (200.0, -100.0), (220.0, -250.0)]


def test_names_from_texts_and_labels(tmp_path: Path) -> None:
    pins = PINS.replace('id="B"', 'id="circle17"').replace('id="C"', 'id="path3" inkscape:label="tip"')
    text = '<text x="57" y="197" style="font-size:12px"><tspan>Q</tspan></text>'
    found = drawn(read(f"{HEAD}{pins}{LINKS}{GROUND}{text}</svg>", tmp_path))
    assert set(found) == {"A", "Q", "tip", "D"}


def test_a_group_is_a_link_and_hidden_things_are_not_there(tmp_path: Path) -> None:
    body = '<g id="g12"><line x1="50" y1="200" x2="120" y2="90"/><line x1="50" y1="200" x2="200" y2="100"/></g>'
    links = '<line x1="20" y1="250" x2="50" y2="200"/><line x1="200" y1="100" x2="220" y2="250"/>'
    hidden = '<g style="display:none"><line x1="20" y1="250" x2="200" y2="100"/></g><image href="a.png"/>'
    tip = '<g id="points"><circle id="T" cx="120" cy="90" r="4"/></g>'
    found = read(f"{HEAD}{PINS}{body}{links}{hidden}{tip}{GROUND}</svg>", tmp_path)
    assert {"B", "C", "T"} in [{p.name for p in b.points} for b in found.imported.description.bodies]
    assert found.report.dropped == ("1 <image> element",)


def test_paths_by_their_closed_forms() -> None:
    (quarter,) = subpaths("M1 0A1 1 0 0 1 0 1")
    assert np.allclose(np.linalg.norm(quarter.points, axis=1), 1.0, atol=1e-12) and np.allclose(quarter.points[-1], [0, 1])
    (packed,) = subpaths("M0,0a1,1 0 012,0")  # flags without separators
    assert np.allclose(np.linalg.norm(np.array(packed.points) - [1, 0], axis=1), 1.0, atol=1e-12)
    assert np.array(packed.points)[:, 1].min() == pytest.approx(-1.0, abs=2e-3)  # sweep 1 is clockwise with y down
    (curve,) = subpaths("M0 0C0 1 1 1 1 0S2-1 2 0")
    t = 7 / 24
    assert np.allclose(curve.points[7], [3 * (1 - t) * t**2 + t**3, 3 * (1 - t) ** 2 * t + 3 * (1 - t) * t**2])
    assert np.allclose(np.array(curve.points[25:])[:, 1], -np.array(curve.points[1:25])[:, 1])  # mirrored
    (smooth,) = subpaths("M0 0Q1 1 2 0T4 0")
    assert np.allclose(smooth.points[-1], [4, 0]) and min(p[1] for p in smooth.points) == pytest.approx(-0.5)
    two = subpaths("m0 0 1 0 0 1z m5 5 h-1 v-1")
    assert [p.closed for p in two] == [True, False] and np.allclose(two[1].points, [[5, 5], [4, 5], [4, 4]])
    assert np.allclose(transform("translate(3) rotate(90) scale(2,1)") @ [1, 0, 1], [3, 2])
    assert np.allclose(transform("skewX(45)") @ [0, 1, 1], [1, 1])
    for wrong in ("L1 1", "M1", "M0 0L1", "M0 0 X", "M0 0A1 1 0 0 1 2", "5 5", "M1e999 0L1 1"):
        with pytest.raises(Malformed):
            subpaths(wrong)
    for wrong in ("turn(3)", "rotate(1,2)", "scale(a)", "scale(2"):
        with pytest.raises(Malformed):
            transform(wrong)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}<path d='M0 0 Q'/></svg>", r"a\.svg:1: <path>: 'Q' of the path has 0 numbers"),
        (f"{HEAD}\n<circle r='a'/></svg>", r"a\.svg:2: <circle>: r='a' is not a length"),
        ("<html/>", "outermost element of an SVG file is <svg>"),
        (f"{HEAD}</svg>", "no circles and no lines"),
        (f"{HEAD}{PINS}</svg>", "no links were found: 4 pins"),
        ("<svg viewBox='0 0 0 0'><circle/></svg>", "viewBox needs a width"),
        ("<svg viewBox='0 0 1'/>", "viewBox needs 4 numbers"),
        (f"{HEAD}<g id='a'><use href='#a'/></g></svg>", "leads round in circles"),
        (f"<!DOCTYPE svg [<!ENTITY a 'b'>]>{HEAD}&a;</svg>", "document type"),
        (f"{HEAD}<circle", "malformed"),
    ],
)
def test_wrong_and_hostile_files(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=said):
        read(text, tmp_path)


def test_random_damage_never_ends_with_a_foreign_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    whole = f"{HEAD}{PINS}{LINKS}{GROUND}</svg>"
    for _ in range(60):
        text = list(whole)
        for i in rng.integers(0, len(text), 4):
            text[i] = str(rng.choice(list('0159.-eE<>"/ azMLAC')))
        try:
            read("".join(text), tmp_path)
        except (ModelError, UsageError) as problem:
            assert str(problem)


def test_a_plain_document_type_is_passed_over_and_lines_still_count(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"\n "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    assert len(drawn(read(f"{doctype}{HEAD}{PINS}{LINKS}{GROUND}</svg>", tmp_path))) == 4
    with refused(ModelError, name="'x' is not part of a path", line=3):
        read(f"{doctype}\n{HEAD}<path d='x'/></svg>", tmp_path)


def test_circles_drawn_as_paths_are_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text(f"{HEAD}<path d='M 25 250 A 5 5 0 1 1 15 250 A5 5 0 1 125 250 z'/><ellipse rx='5' ry='9'/></svg>")
    (mark,) = read_svg(path).marks
    assert mark.at == pytest.approx((10.0, 25.0), abs=0.01) and mark.radius == pytest.approx(2.5, rel=0.01)
    assert read_svg(path).dropped == ("1 ellipse that is not a circle",)
