"""Curves of the cycle in the page: every channel over the drive, time or another channel, pinned, compared, saved; in a real Chromium."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.rings.studio.browser.desk import Desk

EQUAL = 1e-9  # of the largest value: round-off of two ways to compute the same
DIGITS = 6e-4  # of a number: four digits are shown
PATHS = """Array.from(document.querySelectorAll("#motion .lw-motion-plot, #pinned .lw-motion-plot"), (node) => [node.dataset.kind,
  node.querySelector("h3").textContent, node.querySelectorAll("path.curve:not(.faint):not(.target)").length,
  node.querySelectorAll("path.curve.faint").length, node.querySelectorAll("path.curve.target").length])"""


def shown(here: Desk) -> list[tuple[str, str, int, int, int]]:
    """Kind, title and numbers of curves, gray ones and targets of every plot."""
    return [tuple(x) for x in here.ask(PATHS)]


def numbers(text: str) -> list[float]:
    return [float(x.replace("\u2212", "-")) for x in re.findall(r"[\u2212-]?\d+\.?\d*", text)]


def test_curves_are_those_of_python_and_can_be_chosen_pinned_compared_and_saved(
    page_of: Callable[[str], Path], desk: Callable[..., Desk], tmp_path: Path
) -> None:
    turn = lw.load("punch-press").cycle()
    here = desk(page_of("punch-press"), "#play=0&s=40", height=1400)
    tabs = here.page.locator("#tabs [role=tab]:not([hidden])").all_inner_texts()
    assert tabs == ["Motion", "Loads", "Drive", "Dimensions", "Internals"]

    # the slider's travel and velocity are there from the start, with the values of the cycle and their extremes
    assert [x[0:3] for x in shown(here)] == [("length", "Travel of slide", 1), ("speed", "Velocity of slide", 1)]
    names = [
        "slide",
        "slide.v",
        "slide.a",
        "slide.jerk",
        "slide.advantage",
        "R.transmission_angle",
        "K.on.lower.magnitude",
        "E.power",
        "ram.T.y",
    ]
    for name, values in zip(names, here.ask("x.map((n) => Array.from(e.channels.read(n)))", names), strict=True):
        assert np.abs(np.array(values) - turn[name]).max() <= EQUAL * np.abs(turn[name]).max(), name
    low, at_low, high, at_high = numbers(here.text("#motion [data-kind=length] .lw-plot-stats"))
    where = np.degrees(turn["E"]) % 360.0
    assert np.allclose([low, high], 1e3 * np.array([turn["slide"].min(), turn["slide"].max()]), rtol=DIGITS)
    assert abs(at_low - where[turn["slide"].argmin()]) < 0.6 and abs(at_high - where[turn["slide"].argmax()]) < 0.6
    assert here.page.locator("#motion [data-kind=length] .peaks circle").count() == 2

    # several of one kind share a plot; another channel and time as the axis; the cursor follows the sample
    here.page.click("#motion .lw-chooser summary")
    here.page.fill("#motion .lw-search", "ram.t position")
    here.page.get_by_role("button", name="ram.T.y", exact=True).click()
    assert shown(here)[0][0:3] == ("length", "Travel", 2)
    here.page.select_option("#motion select", "slide")
    places = here.page.locator("#motion [data-kind=speed] .cursor-tag")
    here.ask("app.player.seek(100)")
    here.frame()
    travel, speed = numbers(places.text_content() or "")
    assert abs(travel - 1e3 * turn["slide"][100]) < 6e-3 and abs(speed - 1e3 * turn["slide.v"][100]) < 0.06
    here.page.select_option("#motion select", "t")
    assert here.page.locator("#motion [data-kind=speed] .ticks text").last.text_content() == "time, s"
    here.page.select_option("#motion select", "")

    # pinned: above the tabs, also while dimensions change; the file's own curve is gray
    here.page.click("#motion [data-kind=speed] .lw-fix")
    here.page.click("#tab-parameters")
    assert here.page.locator("#pinned [data-kind=speed]").is_visible() and not here.page.locator("#motion").is_visible()
    first = "ground.E.x"
    before = here.page.locator("#pinned path.curve:not(.faint)").get_attribute("d")
    here.ask("app.set({[x]: 1.03 * DATA.parameters.find((p) => p.name === x).value})", first)
    here.frame()
    now = here.page.locator("#pinned path.curve:not(.faint)").get_attribute("d")
    assert now != before and here.page.locator("#pinned path.curve.faint").get_attribute("d") != now
    here.page.wait_for_function("/pinned=speed/.test(location.hash) && /curves=slide,/.test(decodeURIComponent(location.hash))")

    # a target with decimal commas: as a curve and in words
    here.page.click("#tab-motion")
    here.ask("app.reset()")
    wanted = zip(np.degrees(turn["E"])[::10], 1e3 * turn["slide"][::10] + 2.0, strict=True)
    rows = "\n".join(f"{a:.1f};{y:.3f}".replace(".", ",") for a, y in wanted)
    wish = tmp_path / "wish.csv"
    wish.write_text("E [deg];slide [mm]\n" + rows, encoding="utf-8")
    here.page.set_input_files("#motion input[type=file]", wish)
    here.page.wait_for_selector("#motion path.curve.target", state="attached")
    colors = here.ask("[...document.querySelectorAll('#motion [data-kind=length] path.curve')].map((p) => getComputedStyle(p).stroke)")
    assert len(set(colors)) == len(colors), "a target is told from the curves by its color"
    said = here.text("#motion .lw-deviation")
    assert "slide of wish.csv" in said and "37 points" in said and numbers(said)[0] == 2.0, said
    (tmp_path / "wrong.csv").write_text("E [deg],nothing\n0,1\n90,2\n", encoding="utf-8")
    here.page.set_input_files("#motion input[type=file]", tmp_path / "wrong.csv")
    here.page.wait_for_function("document.querySelector('#motion .problem').textContent")
    assert "there is no channel 'nothing'" in here.text("#motion .problem").lower()

    # what is shown as numbers, with positions, and as a picture
    with here.page.expect_download() as saved:
        here.page.click("#motion-csv")
    table = list(csv.reader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8"))))
    head = table[0]
    assert {"t [s]", "E [deg]", "O [deg]", "slide [mm]", "ram.T.x [mm]", "slide.v [mm/s]", "slide target [mm]"} <= set(head)
    column = np.array([float(row[head.index("slide.v [mm/s]")]) for row in table[1:]])
    assert len(column) == 361 and np.abs(column - 1e3 * turn["slide.v"]).max() < EQUAL * np.abs(column).max()
    with here.page.expect_download() as saved:
        here.page.click("#motion-png")
    from PIL import Image

    with Image.open(saved.value.path()) as picture:
        assert picture.size[0] > 800 and picture.size[1] > 700


@pytest.mark.slow
def test_what_is_clicked_offers_its_curves_and_the_drive_has_its_figures(page_of: Callable[[str], Path], desk: Callable[..., Desk]) -> None:
    here = desk(page_of("wiper"), "#play=0&s=40&pick=point:coupler.P")
    offered = here.page.locator("#card .lw-card-curves button").all_inner_texts()
    assert offered[:2] == ["position along x", "position along y"] and offered[-1].endswith("more")
    here.page.get_by_role("button", name="velocity along x: curve of coupler.P.vx").click()
    here.ask("app.pick({kind: 'body', name: 'rocker', body: ''})")
    here.page.get_by_role("button", name="angular velocity: curve of rocker.angle.v").click()
    here.ask("app.pick({kind: 'pin', name: 'C', body: 'rocker'})")
    assert here.page.get_by_role("button", name="load on rocker: curve of C.on.rocker.magnitude").is_visible()
    here.ask("app.unpick()")
    here.page.click("#tab-motion")
    assert {x[0] for x in shown(here)} >= {"speed", "angular_speed"} and "coupler.P.vx" in here.ask("app.motion.shown()")

    turn = lw.load("wiper").cycle()
    here.page.click("#tab-drive")
    rows = {x.split("\t")[0]: numbers(x.split("\t")[1])[0] for x in here.text("#drive tbody").split("\n")}
    power = turn["A.power"]
    work = np.trapezoid(power, turn.t)
    assert abs(rows["Largest torque"]) == float(f"{np.abs(turn['A.torque']).max():.4g}")
    assert abs(rows["Largest power"] - power.max()) < DIGITS * power.max()
    assert abs(rows["Energy to brake"] + np.trapezoid(np.minimum(power, 0.0), turn.t)) < DIGITS * rows["Energy to brake"]
    assert abs(work) < EQUAL * np.abs(power).max() and rows["Work in one cycle"] == 0.0, "nothing is lost in the wiper"
    here.page.get_by_role("button", name="Show curves of A").click()
    assert here.page.locator("#motion").is_visible() and {"A.torque", "A.power"} <= set(here.ask("app.motion.shown()"))
