"""The page of two designs in a real browser: both drawn, sliders between them, curves and tables of both, the model file after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.model import file as modelfile
from linkwright.rings.studio import compare_page
from tests.rings.studio.browser import reading
from tests.rings.studio.browser.desk import Desk

Pair = tuple[lw.Mechanism, lw.Mechanism]
AFTER = {"C.x": 0.86, "C.y": 0.70, "B.x": 0.13, "crank.mass": 0.2}
ROWS = [("max A.torque", "3.88 N m", "3.56 N m", "goal"), ("C.transmission_angle > 40 deg", "36.1 deg", "40.0 deg", "binds")]
EQUAL = 1e-9  # of the largest value: round-off of two ways to compute the same
PUT = "(x, value) => { x.value = value; x.dispatchEvent(new Event('input', {bubbles: true})); }"
PIXELS = 1.5  # by which a curve that is read off the screen may be off: half a line, and rounded coordinates


@pytest.fixture(scope="module")
def designs() -> Pair:
    m = lw.load("wiper")
    return m, m.with_(**AFTER)


@pytest.fixture(scope="module")
def path(designs: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compare") / "designs.html"
    bounds = {"C.x": (0.8, 1.0)}
    return compare_page.write(*designs, out, names=list(AFTER), title="two wipers", table=ROWS, channel="rocker.angle", bounds=bounds)


def torque(m: lw.Mechanism, start: float) -> np.ndarray:
    """Drive torque at the drive angles of the page, which are those of the design before."""
    return m.with_(**{"start.A": start}).cycle()["A.torque"]


@pytest.mark.slow
def test_it_opens_with_the_design_after_and_the_one_before_in_gray(path: Path, designs: Pair, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0&s=60")
    assert here.text("h1") == "two wipers" and here.ask("app.state.tab") == "compare"
    assert here.ask("app.values") == AFTER
    start = float(designs[0].cycle()["A"][0])
    for name, mine in (("e.original", designs[0]), ("e.cycle", designs[1])):
        wanted = torque(mine, start)
        assert np.abs(np.array(here.ask(f"Array.from({name}.u[0])")) - wanted).max() < EQUAL * np.abs(wanted).max()
    ghost = here.page.locator("path.lw-ghost")
    assert ghost.get_attribute("visibility") == "visible"
    # a corner of the gray lines is the pin C of the design before
    c = designs[0].cycle()["coupler.C"][60]
    corner = np.array(here.ask("app.view.screen([x[0], x[1], 0])", [float(x) for x in c]))
    box = here.page.locator("#stage svg").first.bounding_box()
    drawn = reading.vertices(ghost.get_attribute("d") or "") + np.array([box["x"], box["y"]])
    assert np.linalg.norm(drawn - corner, axis=1).min() < PIXELS


@pytest.mark.slow
def test_curves_of_a_chosen_channel_of_both(path: Path, designs: Pair, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0")
    start = float(designs[0].cycle()["A"][0])
    for channel in ("rocker.angle", "coupler.P.y", "C.on.rocker.magnitude"):
        here.page.select_option("#compare select", channel)
        here.frame()
        drawn = here.page.evaluate(reading.DRAWN, "#compare")
        assert len(drawn["curves"]) == len(drawn["faint"]) == 1 and here.text("#compare .lw-plot-title h3") == channel
    found = reading.plot(here, "#compare")  # of the last one, in newtons
    for curve, m in ((found.curves[0], designs[1]), (found.faint[0], designs[0])):
        wanted = m.with_(**{"start.A": start}).cycle()["C.on.rocker.magnitude"]
        assert abs(curve[:, 1].max() - wanted.max()) < PIXELS * found.pixel[1]
    angles = np.array(here.ask("Array.from(app.engine.cycle.x)"))
    assert np.abs(angles - designs[0].cycle()["A"]).max() < EQUAL


@pytest.mark.slow
def test_buttons_and_the_slider_between_move_all_numbers(path: Path, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0&s=60")
    own = here.ask("Object.fromEntries(DATA.parameters.map((p) => [p.name, p.value]))")
    buttons = here.page.locator("#compare .segments button")
    assert buttons.all_inner_texts() == ["Before", "After"] and buttons.nth(1).get_attribute("aria-pressed") == "true"
    buttons.nth(0).click()
    here.frame()
    assert here.ask("app.values") == own and here.ask("e.changed") is False
    assert here.page.locator("path.lw-ghost").get_attribute("visibility") == "hidden"
    assert here.text("#compare output.share") == "0\u202f%" and buttons.nth(0).get_attribute("aria-pressed") == "true"
    here.page.locator("#compare .lw-designs input").evaluate(PUT, "500")
    here.frame()
    half = here.ask("app.values")
    assert all(abs(half[k] - 0.5 * (own[k] + AFTER[k])) < 1e-12 for k in AFTER)
    assert here.text("#compare output.share") == "50.0\u202f%"
    assert here.page.locator("path.lw-ghost").get_attribute("visibility") == "visible"
    buttons.nth(1).click()
    assert here.ask("app.values") == AFTER


@pytest.mark.slow
def test_single_sliders_go_beyond_both_within_their_bounds(path: Path, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0&tab=parameters")
    rows = here.page.locator("#parameters .lw-parameter")
    assert rows.count() == len(AFTER) and "before: 905\u202fmm" in rows.nth(0).inner_text()
    ranges = here.ask("DATA.parameters.map((p) => [p.name, p.low, p.value, p.high])")
    for name, low, value, high in ranges:
        assert low < min(value, AFTER[name]) and (high > max(value, AFTER[name]) or name == "C.x")
    assert ranges[0][1:] == [pytest.approx(0.8375), pytest.approx(0.905), pytest.approx(0.9275)]
    least = rows.nth(0).locator("input[type=range]")
    least.evaluate(PUT, least.get_attribute("min"))
    here.frame()
    assert here.ask("app.values['C.x']") < 0.84
    here.page.locator("#tab-compare").click()
    assert here.text("#compare output.share") == "other values"


@pytest.mark.slow
def test_tables_say_what_changed_and_what_binds(path: Path, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0")
    tables = here.page.locator("#compare table")
    first = [row.split("\t") for row in tables.nth(0).inner_text().splitlines()]
    assert ["C.x", "905\u202fmm", "860\u202fmm", "\u22124.97\u202f%"] in [[x.strip() for x in row] for row in first]
    second = tables.nth(1).inner_text()
    assert all(cell in second for row in ROWS for cell in row)


@pytest.mark.slow
def test_the_model_file_of_the_design_after(path: Path, designs: Pair, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0")
    text = here.ask("LW.changedModel(DATA, app.values).text")
    assert text == modelfile.edited(designs[1].description)
    fragment = here.ask("LW.changedYaml(DATA, {...app.values, 'crank.mass': 0.3})")
    assert "C: [860 mm, 700 mm]" in fragment and "B: [130 mm, 260 mm]" in fragment
    pins = here.ask("LW.changedModel(DATA, {...app.values, 'crank.mass': 0.3}).text")  # numbers with a place each: in the page itself
    again = modelfile.read_text(pins)
    assert again.numbers().bodies == designs[0].with_(**{k: x for k, x in AFTER.items() if k != "crank.mass"}).description.numbers().bodies


@pytest.mark.slow
def test_a_design_that_cannot_turn_says_so_and_a_link_restores_values(path: Path, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0&p.C.x=0.9&tab=compare")
    values = here.ask("app.values")
    assert values["C.x"] == 0.9 and values["C.y"] == 0.75  # what the link does not name is as before


@pytest.mark.slow
def test_in_space_with_lengths(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load("rssr")
    name, value = "coupler.B.x", float(m.description.numbers().body("coupler").point("B").at[0])
    out = compare_page.write(m, m.with_(**{name: 1.03 * value}), tmp_path / "space.html", names=[name], steps=120)
    here = desk(out, "#play=0&s=20")
    assert here.ask(f"app.values['{name}']") == pytest.approx(1.03 * value)
    assert here.page.locator("path.lw-ghost").get_attribute("visibility") == "visible"


@pytest.mark.slow
def test_narrow_and_dark(path: Path, desk: Callable[..., Desk]) -> None:
    here = desk(path, "#play=0", width=390, height=844, dark=True, touch=True)
    assert here.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert here.page.locator("#compare .segments").is_visible()
