"""The strip under the time bar of a recorded run: states and impacts of every touch, as the run's channels have them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.file import read_text
from linkwright.rings.studio import live
from tests.rings.studio.browser.desk import Desk

# falls on a corner, rocks, slides and comes to rest: every state and several impacts
FALLING = """\
name: falling
plane: xy
gravity: [1.5, -9.81]
bodies:
  ground: {points: {O: [0, 0]}}
  box: {points: {a: [-0.1, 0], b: [0.1, 0], c: [0.1, 0.2], d: [-0.1, 0.2]}, mass: 2, com: [0, 0.1], inertia: 0.02}
surfaces:
  box: {polygon: [box.a, box.b, box.c, box.d]}
  floor: {line: ground.O, normal: [0, 1]}
contacts: {stand: {between: [box, floor], mu: 0.3, restitution: 0.3}}
guess: {box: {at: [0, 0.05], rpy: [0, 0, 12 deg]}}
"""
STATES = ("open", "sticks", "slips")
WIDE = 1000.0  # of the picture of a row
DRAWN = """Array.from(document.querySelectorAll("#states .state-row"), (row) => [row.dataset.touch,
  Object.fromEntries(Array.from(row.querySelectorAll("path"), (path) => [path.getAttribute("class"), path.getAttribute("d")]))])"""
HUNDREDTH = 0.011  # coordinates are written to two digits


def expected(run: lw.Trajectory, name: str) -> dict[str, np.ndarray]:
    """Share of the run's time at which a state begins and ends, by the channel of states; of impacts, by the events."""
    place = WIDE * (run.t - run.t[0]) / (run.t[-1] - run.t[0])
    keep = np.diff(run.t) > 0.0
    start, end, state = place[:-1][keep], place[1:][keep], run[f"{name}.state"][:-1][keep]
    cut = np.flatnonzero(np.diff(state)) + 1
    first, last = start[np.r_[0, cut]], end[np.r_[cut - 1, len(end) - 1]]
    kind = state[np.r_[0, cut]]
    found = {word: np.stack([first[kind == k], last[kind == k]], axis=1).ravel() for k, word in enumerate(STATES)}
    hits = [WIDE * (e.time - run.t[0]) / (run.t[-1] - run.t[0]) for e in run.events if e.name == f"{name} touches"]
    return found | {"impact": np.array(hits)}


def test_states_and_impacts_of_every_touch_under_the_time_bar(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.Mechanism(read_text(FALLING))
    run = m.simulate(1.2, sample_interval=0.01)
    here = desk(live.write(m, tmp_path / "run.html", run=run), "#mode=run&s=0&play=0")
    drawn = dict(here.ask(DRAWN))
    assert sum(d["impact"].count("M") for d in drawn.values()) == run.certificate.touch_impacts > 2
    touches = [n.removesuffix(".state") for n in run.channels if n.startswith("stand.") and n.endswith(".state")]
    assert touches and list(drawn) == touches
    seen = set()
    for name in touches:
        for word, places in expected(run, name).items():
            numbers = re.findall(r"M([\d.]+) (?:0V12|6H([\d.]+))", drawn[name][word])
            found = [float(x) for pair in numbers for x in pair if x]
            assert found == pytest.approx(list(places), abs=HUNDREDTH), (name, word)
            seen |= {word} if found else set()
    assert seen == {*STATES, "impact"}
    assert here.page.locator("#states .legend span").all_inner_texts() == [*STATES, "impact"]

    # time lies under the thumb of the bar: a click goes there, and the words say the state there
    row = here.page.locator("#states .state-row").first
    strip, bar = row.locator("svg").bounding_box(), here.page.locator("#slider").bounding_box()
    assert strip and bar
    assert (strip["x"], strip["width"]) == pytest.approx((bar["x"] + 9.0, bar["width"] - 18.0), abs=1.0)
    at = 0.9
    row.locator("svg").click(position={"x": at * strip["width"], "y": 6.0})
    assert here.ask("app.player.seconds()") == pytest.approx(at * run.t[-1], abs=run.t[-1] / strip["width"])
    k = int(np.searchsorted(run.t, at * run.t[-1])) - 1
    assert STATES[int(run[f"{touches[0]}.state"][k])] in (row.get_attribute("title") or "")

    here.page.click("#hand")
    assert not here.page.locator("#states").is_visible(), "states belong to the run"


def test_a_run_without_touches_has_no_strip(desk: Callable[..., Desk], tmp_path: Path) -> None:
    m = lw.load("door")
    here = desk(live.write(m, tmp_path / "run.html", run=m.simulate(0.1)), "#mode=run&play=0")
    assert not here.page.locator("#states").is_visible()


def test_the_page_of_a_cycle_has_ideal_joints_in_place_of_clearances(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """It turns as the mechanism without play, whose slider is at x = r cos a + sqrt(l^2 - r^2 sin^2 a)."""
    m = lw.load("slider-crank-clearance")
    here = desk(m.show(tmp_path / "cycle.html"))
    angle, travel, ok = (np.array(here.ask(f"Array.from({x})"), float) for x in ("e.cycle.x", "e.channels.read('guide')", "e.cycle.ok"))
    place = 0.05 * np.cos(angle) + np.sqrt(0.18**2 - (0.05 * np.sin(angle)) ** 2)
    assert ok.all() and np.abs(travel - travel[0] - (place - place[0])).max() < 1e-9  # round-off
    assert m.simulate(0.01).show(tmp_path / "run.html") and not desk(tmp_path / "run.html").complaints


def test_a_page_says_that_its_drives_do_not_determine_the_motion(desk: Callable[..., Desk], tmp_path: Path) -> None:
    """The part of the gripper is free: a page without touches plays no cycle of it."""
    here = desk(lw.load("gripper").show(tmp_path / "page.html"))
    assert "do not determine the motion" in here.page.inner_text("body")
