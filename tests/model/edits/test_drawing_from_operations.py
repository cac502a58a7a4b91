"""Mechanisms drawn by operations alone have the same numbers as the same mechanisms written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnfinishedModel
from linkwright.model.edits import error_of, perform
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.edits.missing_parts import count, missing
from linkwright.model.file.joints_section import LOOSE
from linkwright.model.file.reader import read_text
from linkwright.model.file.value_fitting import flat, missed
from linkwright.model.library import names
from linkwright.model.library.file_lookup import model_file
from linkwright.topology.internals import grubler_count

HEAD = "name: drawn\nplane: xy\nunits: [mm, kg, deg, rpm]\ngravity: [0, -9.81 m/s^2]\n"

FOUR_BAR = """
name: drawn
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [150, 260], C: [905, 750], D: [1000, 0], P: [600, 760]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B], bar: {section: {width: 20, height: 8}, material: steel}}
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker: {pins: [C, D], mass: 0.8}
springs: {return: {between: [ground.A, coupler.P], stiffness: 2 N/mm}}
loads: {wind: {on: coupler.P, force: [0, -20 N]}}
drive: {A: 45 rpm}
"""
FOUR_BAR_OPERATIONS: list[dict[str, Any]] = [
    {"do": "add_pin", "at": [0, 0], "ground": True},
    {"do": "add_link", "through": ["A", {"at": [0.15, 0.26]}], "name": "crank"},
    {"do": "add_link", "through": ["B", {"at": ["905", "0.75 m"]}], "name": "coupler"},
    {"do": "add_link", "through": ["C", {"at": [1, 0], "ground": True}], "name": "rocker"},
    {"do": "add_point", "body": "coupler", "at": [0.6, 0.76], "name": "P"},
    {"do": "set_mass", "body": "crank", "section": {"width": "20", "height": "8 mm"}, "material": "steel"},
    {"do": "set_mass", "body": "coupler", "mass": "0,9"},
    {"do": "set_mass", "body": "rocker", "mass": 0.8},
    {"do": "add_spring", "between": ["ground.A", "P"], "stiffness": "2 N/mm", "name": "return"},
    {"do": "add_load", "on": "coupler.P", "force": [0, "-20 N"], "name": "wind"},
    {"do": "set_drive", "joint": "A", "value": "45 rpm"},
]

SLIDER_CRANK = """
name: drawn
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [30, 40], C: [150, 10]}
bodies:
  ground: {pins: [A]}
  link1: {pins: [A, B], mass: 1}
  link2: {pins: [B, C], mass: 2}
  slider1: {pins: [C], mass: 5}
joints:
  guide1: {type: prismatic, between: [ground, slider1], at: C, axis: [cos(10 deg), sin(10 deg)]}
loads: {load1: {on: slider1.C, force: [-200 N, 0]}}
drive: {A: 60 rpm}
"""
SLIDER_CRANK_OPERATIONS: list[dict[str, Any]] = [
    {"do": "add_link", "through": [{"at": [0, 0], "ground": True}, {"at": [0.03, 0.04]}]},
    {"do": "add_link", "through": ["B", {"at": [0.15, 0.01]}]},
    {"do": "add_slider", "at": "C", "angle": "10 deg"},
    *({"do": "set_mass", "body": b, "mass": m} for b, m in (("link1", "1 kg"), ("link2", 2.0), ("slider1", "5"))),
    {"do": "add_load", "on": "slider1.C", "force": ["-200 N", 0]},
    {"do": "set_drive", "joint": "A", "value": {"speed": "60"}},
]

SIX_BAR = """
name: drawn
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [40, 60], C: [180, 130], D: [160, 0], E: [120, 190], F: [300, 170], G: [320, 20], H: [40, -60]}
bodies:
  ground: {pins: [A, D, G], points: [H]}
  link1: {pins: [A, B], mass: 0.2}
  link2: {pins: [B, C, E], mass: 0.6}
  link3: {pins: [C, D], mass: 0.4}
  link4: {pins: [E, F], mass: 0.3}
  link5: {pins: [F, G], mass: 0.5}
cylinders: {cylinder1: {between: [ground.H, link2.E], force: 50 N}}
drive: {A: 30 rpm}
"""
SIX_BAR_OPERATIONS: list[dict[str, Any]] = [
    {"do": "add_link", "through": [{"at": [0, 0], "ground": True}, {"at": [0.04, 0.06]}]},
    {"do": "add_link", "through": ["B", {"at": [0.18, 0.13]}]},
    {"do": "add_link", "through": ["C", {"at": [0.16, 0], "ground": True}]},
    {"do": "add_point", "body": "link2", "at": [0.12, 0.19]},
    {"do": "add_link", "through": ["E", {"at": [0.3, 0.17]}]},
    {"do": "add_link", "through": ["F", {"at": [0.32, 0.02], "ground": True}]},
    {"do": "add_cylinder", "between": [{"at": [0.04, -0.06], "body": "ground"}, "link2.E"], "force": "50 N"},
    *({"do": "set_mass", "body": f"link{k}", "mass": m} for k, m in enumerate((0.2, 0.6, 0.4, 0.3, 0.5), 1)),
    {"do": "set_drive", "joint": "A", "value": "30 rpm"},
]


def drawn(operations: Sequence[dict[str, Any]], text: str = HEAD) -> str:
    """The text after operations, one edit each; every text on the way can be drawn."""
    for op in operations:
        text = perform(text, "drawn.yaml", [op]).text
        read_draft(EditSheet(text, "drawn.yaml"))
        assert isinstance(error_of(text, "drawn.yaml"), UnfinishedModel | None)
    return text


@pytest.mark.parametrize(
    ("operations", "written"),
    [(FOUR_BAR_OPERATIONS, FOUR_BAR), (SLIDER_CRANK_OPERATIONS, SLIDER_CRANK), (SIX_BAR_OPERATIONS, SIX_BAR)],
    ids=["four-bar", "slider-crank", "six-bar"],
)
def test_drawn_mechanism_has_the_numbers_of_the_written_one(operations: list[dict[str, Any]], written: str) -> None:
    ours, theirs = read_text(drawn(operations), "drawn.yaml"), read_text(written, "drawn.yaml")
    assert [j.name for j in ours.joints] == [j.name for j in theirs.joints]
    assert not missed(
        flat(ours.numbers()), flat(theirs.numbers()), 1e-14
    )  # decimals that read back to 1e-13 of a coordinate are exact here
    assert count(read_draft(EditSheet(drawn(operations), "drawn.yaml"))).freedoms == 1


def test_drawn_slider_crank_moves_as_the_closed_form_says(tmp_path: Any) -> None:
    path = tmp_path / "drawn.yaml"
    path.write_text(drawn(SLIDER_CRANK_OPERATIONS))
    turn = lw.load(path).cycle(steps=24)
    a, b, alpha = 0.05, np.hypot(0.12, 0.03), np.radians(10)
    angle = turn["link1.angle"]
    u, v = np.array([np.cos(alpha), np.sin(alpha)]), np.array([-np.sin(alpha), np.cos(alpha)])
    crank = a * np.column_stack([np.cos(angle), np.sin(angle)])
    high = np.array([0.15, 0.01]) @ v - crank @ v
    travel = crank @ u + np.sqrt(b**2 - high**2)
    # the loops are closed to 1e-12 of the size, 0.2 m
    assert np.abs(turn["slider1.C.x"] * u[0] + turn["slider1.C.y"] * u[1] - travel).max() < 1e-12


@pytest.mark.parametrize("name", names())
def test_draft_of_a_shipped_model_has_its_joints_and_its_count(name: str) -> None:
    """The tolerant reading finds the joints that the strict one does, at the places of the drawing."""
    text = model_file(name).read_text(encoding="utf-8")
    sheet = EditSheet(text, f"{name}.yaml")
    found = lw.load(name).description
    if sheet.node("plane") is None or not found.planar:
        return
    draft = read_draft(sheet)
    assert set(draft.joints) == {j.name for j in found.joints}
    types = {n: (j.first, j.second, LOOSE if j.loose else j.type) for n, j in draft.joints.items()}
    assert types == {j.name: (j.first, j.second, j.type) for j in found.joints}
    assert count(draft).freedoms == grubler_count(found).mobility
    assert not [p for p in (*draft.problems, *missing(draft)) if p.level in ("error", "missing")]


@pytest.mark.parametrize("text", ["", "# mine\n", "name: x", "{}", "drawing:\nbodies:\n"])
def test_empty_files_become_planar_drawings(text: str) -> None:
    new = perform(text, "x.yaml", [{"do": "add_link", "through": [{"at": [0, 0], "ground": True}, {"at": [0.1, 0]}]}]).text
    assert read_draft(EditSheet(new, "x.yaml")).bodies["link1"].pins == ("A", "B")
    assert "plane: xy" in new


def test_messages_say_what_is_missing() -> None:
    text = HEAD
    codes: list[list[str]] = []
    for op in (None, *FOUR_BAR_OPERATIONS[:4], FOUR_BAR_OPERATIONS[-1]):
        text = perform(text, "drawn.yaml", [op]).text if op else text
        codes.append([p.code for p in missing(read_draft(EditSheet(text, "drawn.yaml")))])
    assert codes == [["empty"], ["no_link", "loose_pin"], ["loose_pin"], ["loose_pin"], ["no_drive"], []]
    apart = perform(text, "drawn.yaml", [{"do": "add_link", "through": [{"at": [2, 0]}, {"at": [2, 1]}], "name": "lost"}]).text
    found = missing(read_draft(EditSheet(apart, "drawn.yaml")))
    assert [p.code for p in found] == ["loose_pin", "loose_pin", "loose_body"]
    lines = apart.splitlines()
    assert lines[found[0].line - 1].strip() == "E: [2000, 0]" and lines[found[2].line - 1].strip() == "lost: {pins: [E, F]}"
    assert found[2].ids == ("body:lost",)


def test_pins_at_one_place_that_are_not_connected_are_joined() -> None:
    """Two pins at the place of one look like a hinge and are none: one message for both, whose operation makes the hinge."""
    crank = {"do": "add_link", "through": [{"at": [0, 0], "ground": True}, {"at": [0.1, 0]}], "name": "crank"}
    text = perform(HEAD, "drawn.yaml", [crank]).text
    text = perform(text, "drawn.yaml", [{"do": "add_link", "through": [{"at": [0.1, 0]}, {"at": [0.3, 0.1]}], "name": "rod"}]).text
    found = [p for p in missing(read_draft(EditSheet(text, "drawn.yaml"))) if p.code == "on_pin"]
    assert [p.ids for p in found] == [("point:B", "point:C")] and "B and C lie at one place" in found[0].text
    joined = read_draft(EditSheet(perform(text, "drawn.yaml", [{"do": "join", "point": "B", "to": "C"}]).text, "drawn.yaml"))
    assert {(j.first, j.second) for j in joined.joints.values()} == {("ground", "crank"), ("crank", "rod")}
    assert "on_pin" not in [p.code for p in missing(joined)]


def test_over_constrained_and_surplus_drives_are_named() -> None:
    text = drawn(FOUR_BAR_OPERATIONS)
    text = perform(text, "x", [{"do": "add_rod", "between": ["coupler.P", {"at": [0.5, -0.1], "body": "ground"}]}]).text
    draft = read_draft(EditSheet(text, "x"))
    assert count(draft).text == "0 degrees of freedom"
    assert [p.text for p in missing(draft)] == ["1 drive for 0 degrees of freedom: remove 1."]
    text = perform(text, "x", [{"do": "add_rod", "between": ["rocker.C", "ground.A"]}]).text
    assert count(read_draft(EditSheet(text, "x"))).text == "over-constrained by 1 (-1 degrees of freedom)"
