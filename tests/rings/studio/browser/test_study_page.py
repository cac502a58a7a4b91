"""The page of a study: its sliders choose designs, its numbers are those of the study, its sentences say what it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.studies.store import MemoryStore, Part
from linkwright.rings.design.studies.study import Study
from linkwright.rings.studio import study_page
from tests.rings.studio.browser.desk import Desk

TORQUE, SWING = "max A.torque", "range rocker.angle"
DIGITS = 5.1e-4  # of the largest value: four digits are shown
STEPS = lw.Cycle(steps=12)


def made(vary: dict[str, Any], measure: Any = (TORQUE, SWING), **options: Any) -> Study:
    return lw.study("four-bar", vary, list(measure), STEPS, progress=False, **options)


def number(text: str) -> float:
    return float(text.replace("\u2212", "-").split("\u202f")[0])


@pytest.fixture(scope="module")
def grid() -> Study:
    """L1 = 560 mm with L3 = 600 mm cannot turn fully."""
    return made({"L1": "200..560 mm / 4", "L3": "600..800 mm / 3", "L2": [0.9, 0.95]})


@pytest.fixture(scope="module")
def points() -> Study:
    return made({"L1": "250..570 mm", "L3": "600..800 mm"}, plan="latin", count=30)


def cell(study: Study, **numbers: float) -> int:
    frame = study.to_pandas()
    near = np.logical_and.reduce([np.isclose(frame[name], x) for name, x in numbers.items()])
    return int(np.flatnonzero(near)[0])


def move(here: Desk, axis: int, place: int) -> None:
    here.page.locator(f"#axis-{axis}").fill(str(place))


def shown(here: Desk) -> list[float]:
    return [number(text) for text in here.page.locator("#values td.here").all_inner_texts()]


def written(here: Desk, selector: str) -> list[str]:
    """Texts of a drawing."""
    return here.page.locator(selector).all_text_contents()


@pytest.mark.slow
def test_sliders_choose_a_cell_and_show_its_measures(grid: Study, desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(grid.show(tmp_path / "grid.html"))
    assert here.text("#what") == f"Grid of 4 \u00d7 3 \u00d7 2 \u00b7 24 designs \u00b7 {len(grid.why)} failed"
    most = [np.nanmax(grid[name]) for name in (TORQUE, SWING)]
    for place, numbers in (((1, 0, 1), (0.32, 0.6, 0.95)), ((2, 2, 0), (0.44, 0.8, 0.9))):
        for axis, k in enumerate(place):
            move(here, axis, k)
        row = cell(grid, L1=numbers[0], L3=numbers[1], L2=numbers[2])
        wanted = [grid[name][row] for name in (TORQUE, SWING)]
        assert np.all(np.abs(np.array(shown(here)) - wanted) <= DIGITS * np.array(most)), place
        assert f"row {row}" in here.text("#values caption") and here.page.locator("#reason").is_hidden()
    assert [number(t) for t in here.page.locator(".st-slider output").all_inner_texts()] == pytest.approx([440.0, 800.0, 0.9])
    # the curves are those along the slider that was moved last, L2, and the point is on the chosen cell
    assert here.text("#along") == "Curves along L2"
    assert here.page.locator("#curves .lw-plot").count() == 2
    assert number(written(here, "#curves .cursor-tag")[0].split("\u2192")[1].strip()) == pytest.approx(shown(here)[0], rel=2 * DIGITS)
    # an extreme of the table is a design of the page
    here.page.get_by_role("button", name=f"greatest of {TORQUE}").click()
    assert shown(here)[0] == pytest.approx(most[0], rel=DIGITS)
    assert here.page.url.endswith("#at=" + ",".join(map(str, here.ask("app.at"))))


def test_curves_and_map_hold_the_values_of_the_slice(grid: Study, desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(grid.show(tmp_path / "grid.html"), "#at=0,2,1")
    assert here.ask("app.at") == [0, 2, 1]
    move(here, 0, 1)
    torque = grid[TORQUE].reshape(4, 3, 2)
    assert "L1, mm" in written(here, "#curves .ticks text")
    # a click on the map chooses the cell under it: its middle is where the axes say
    where = here.ask(
        "(([i, j]) => { const b = app.map.picture.box(), a = LW.study.axes; return [b.toX(a[0].values[i]), b.toY(a[1].values[j])]; })(x)",
        [2, 1],
    )
    here.page.locator("#map canvas").click(position={"x": where[0], "y": where[1]})
    assert here.ask("app.at") == [2, 1, 1]
    assert shown(here)[0] == pytest.approx(torque[2, 1, 1], abs=DIGITS * np.nanmax(torque))
    assert here.ask("LW.study.axes.map((a, i) => LW.study.measures[0].values[app.map.cellAt(3, 2)])")[0] == pytest.approx(torque[3, 2, 1])
    # its color is that of its share of all values
    share = (torque[2, 1, 1] - np.nanmin(torque)) / (np.nanmax(torque) - np.nanmin(torque))
    color = [int(v) for v in here.ask("LW.study.color(x)", share)[4:-1].split(",")]
    seen = here.ask(
        "(([px, py]) => { const c = app.map.picture.canvas, r = c.width / app.map.picture.box().width; "
        "return Array.from(c.getContext('2d').getImageData(px * r, py * r, 1, 1).data); })(x)",
        where,
    )
    assert np.abs(np.array(seen[:3]) - color).max() <= 2  # shares of values rounded for the page
    here.page.locator("#map canvas").press("ArrowRight")
    assert here.ask("app.at") == [3, 1, 1]
    here.page.locator("#map select").nth(1).select_option("1")
    assert here.ask("[app.map.state.x, app.map.state.y]") == [1, 0], "the axes change places"


def test_a_failed_cell_says_why(grid: Study, desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(grid.show(tmp_path / "grid.html"), "#at=3,0,0", width=390, dark=True)
    row = cell(grid, L1=0.56, L3=0.6, L2=0.9)
    assert grid.why[row] in here.text("#reason")
    assert here.page.locator("#values td.here").first.inner_text() == "\u2013"
    assert "failed" in written(here, "#curves .marks text")
    assert "Failed designs on this page: " in here.text("#notes")
    assert here.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone needs no scrolling aside"


def test_points_have_their_numbers_under_the_pointer(points: Study, desk: Callable[..., Desk], tmp_path: Path) -> None:
    here = desk(points.show(tmp_path / "points.html"))
    assert here.text("#what") == "Latin hypercube \u00b7 30 designs \u00b7 1 failed" and len(points.why) == 1
    good = int(np.flatnonzero(points.ok)[7])
    for row in (good, next(iter(points.why))):
        x, y = here.ask("app.places()[x]", row)
        here.page.locator("#map canvas").hover(position={"x": x, "y": y})
        assert here.text("#values caption") == f"Design of row {row}"
        assert shown_of(here, "L1") == pytest.approx(1e3 * points.values(row)["L1"], abs=0.06)
        assert here.page.locator("#reason").is_visible() == (row != good)
    assert points.why[next(iter(points.why))] in here.text("#reason")
    assert "Crosses: 1 design that failed." in here.text("#map .lw-note")
    here.page.locator("#map select").nth(1).select_option(label=TORQUE)
    assert "1 design without a value here is not shown." in here.text("#map .lw-note")
    x, y = here.ask("app.places()[x]", good)
    here.page.locator("#map canvas").click(position={"x": x, "y": y})
    assert here.ask("[app.at, app.pinned]") == [good, True]
    assert shown_of(here, TORQUE) == pytest.approx(points[TORQUE][good], abs=DIGITS * np.nanmax(points[TORQUE]))


def shown_of(here: Desk, name: str) -> float:
    return number(here.page.locator("#values tr", has=here.page.get_by_role("rowheader", name=name)).locator("td.here").inner_text())


@pytest.mark.slow
def test_a_large_study_is_thinned_and_the_page_says_so(
    grid: Study, points: Study, desk: Callable[..., Desk], tmp_path: Path, monkeypatch: Any
) -> None:
    held = study_page.contents(grid, 8)
    lengths = [len(a["values"]) for a in held["axes"]]
    assert np.prod(lengths) <= 8 == len(held["rows"]) and held["axes"][0]["values"][0] == 200.0 and held["axes"][0]["values"][-1] == 560.0
    for k, row in enumerate(held["rows"]):
        at = np.unravel_index(k, lengths)
        assert [a["values"][i] for a, i in zip(held["axes"], at, strict=True)] == pytest.approx(
            [x * s for x, s in zip(grid.values(row).values(), (1e3, 1e3, 1.0), strict=True)]
        )
    full = study_page.contents
    monkeypatch.setattr(study_page, "contents", lambda study: full(study, 8))
    here = desk(grid.show(tmp_path / "few.html"))
    assert "The page holds 8 of 24 designs: 2 of 4 values of L1, 2 of 3 values of L3." in here.text("#notes")
    other = desk(points.show(tmp_path / "some.html"))
    assert "The page holds a sample of 8 of 30 designs." in other.text("#notes")


@pytest.mark.slow
def test_an_unfinished_grid_shows_what_is_computed(grid: Study, desk: Callable[..., Desk], tmp_path: Path) -> None:
    part, some = next(grid.parts()), MemoryStore()
    some.add(Part(0, 15, part.numbers[:15], part.values[:15], part.why[:15], {}, part.errors[:15], part.unknown[:15]))
    here = desk(replace(grid, store=some).show(tmp_path / "half.html"), "#at=2,2,1")
    assert "15 of 24 designs are computed." in here.text("#notes")
    assert here.text("#reason") == "This design is not computed yet." and here.text("#values caption") == "Design not computed"
    move(here, 0, 1)
    assert here.page.locator("#reason").is_hidden() and shown(here)[0] > 0.0
