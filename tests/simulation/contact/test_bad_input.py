"""Bad input of contacts: one clear message in bounded time, with what was computed until then."""

from __future__ import annotations

import time
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import SimulationError, UsageError
from linkwright.simulation import run as runs
from linkwright.simulation import touches
from tests.simulation.contact.models import corners, disk, run

PRESS = """\
name: press
plane: xy
bodies:
  ground: {points: {O: [0, 0]}}
  press: {points: {P: [0, 0]}, mass: 1, com: [0, 0], inertia: 1}
  ball: {points: {C: [0, 0]}, mass: 0.1, com: [0, 0], inertia: 1}
joints:
  y: {type: prismatic, between: [ground, press], at: [0, 0], axis: [0, 1]}
  b: {type: prismatic, between: [ground, ball], at: [0, 0], axis: [0, 1]}
surfaces:
  floor: {line: ground.O, normal: [0, 1]}
  plate: {line: press.P, normal: [0, -1]}
  skin: {circle: ball.C, radius: 0.05}
contacts:
  low: {between: [skin, floor], restitution: 1}
  high: {between: [skin, plate], restitution: 1}
drive: {y: {speed: -1}}
start: {y: 0.5, b: 0.1, b.v: 1}
"""
LINES = {"low": 15, "high": 16}  # of its contacts


def loaded(tmp_path, text: str) -> Any:
    path = tmp_path / "press.yaml"
    path.write_text(text, encoding="utf-8")
    return lw.load(path)


def test_a_squeezed_ball_that_bounces_without_end_is_named_in_bounded_time(tmp_path, monkeypatch):
    """It gains speed without end between plates that close: 2 t v impacts a second, until the gap is closed at 0.4 s."""
    monkeypatch.setattr(runs, "TOUCHES_AT_ONCE", 60)
    begun = time.process_time()
    with pytest.raises(SimulationError) as caught:
        loaded(tmp_path, PRESS).simulate(1.0)
    assert f"press.yaml:{LINES[caught.value.name]}" in str(caught.value)
    assert time.process_time() - begun < 20.0  # s; as a rule 2 s
    partial = caught.value.run
    assert 0.35 < partial.t[-1] < 0.4 and len(partial.events) > 60  # the gap of 0.4 m closes at 1 m/s


def test_a_drive_that_squeezes_a_part_is_named_with_its_contact(tmp_path):
    with pytest.raises(SimulationError) as caught:
        loaded(tmp_path, PRESS.replace("restitution: 1", "restitution: 0")).simulate(1.0)
    assert f"press.yaml:{LINES[caught.value.name]}: " in str(caught.value) and "'y'" in str(caught.value)
    assert caught.value.run.t[-1] == pytest.approx(0.4, abs=1e-9)


def test_surfaces_that_overlap_at_the_start_are_named_with_their_line(tmp_path):
    with pytest.raises(UsageError) as caught:
        loaded(tmp_path, PRESS.replace("b: 0.1,", "b: 0.02,")).simulate(1.0)
    assert caught.value.name == "low" and "press.yaml:15" in str(caught.value)
    touching = loaded(tmp_path, PRESS.replace("b: 0.1, b.v: 1", "b: 0.05, b.v: 0")).simulate(0.1)
    assert touching.certificate.ok


def test_more_places_than_a_run_holds_are_named():
    places = {f"p{i}": [0.02 * i, 0.0] for i in range(touches.MOST_TOUCHES + 2)}
    with pytest.raises(SimulationError) as caught:
        run(corners(places, {"mu": 0.5}), [0, 0.01, 0], [0, 0, 0], 0.2)
    assert caught.value.name.startswith("feet.at_p0") and 0.04 < caught.value.run.t[-1] < 0.0452  # it falls for 0.0452 s


def test_centers_that_coincide_take_some_normal():
    """A disk in the middle of a hole has no nearest point: it takes the first axis and goes on."""
    model = disk(0.1)
    model["surfaces"]["floor"] = {"ring": "ground.G", "radius": 0.2}
    found = run(model, [0, 0, 0], [0, 0, 0], 0.3)
    assert found.events[0].time == pytest.approx((0.2 / 9.81) ** 0.5, rel=1e-12)  # it falls by 0.1 m
    assert found.certificate.ok


def test_a_pin_outside_of_its_hole_is_refused():
    model = {
        "plane": "xy",
        "drawing": {"A": [0, 0], "B": [0.1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1}},
        "joints": {"A": {"pin": "A", "between": ["ground", "arm"], "clearance": 1e-4, "radius": 0.01}},
        "start": {"A.x": 1e-3},
    }
    with pytest.raises(UsageError) as caught:
        lw.load(model).simulate(0.1)
    assert caught.value.name == "A.contact"
