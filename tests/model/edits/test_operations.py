"""Single operations: exact texts, comments and units, questions about expressions, refusals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.model.edits import OPERATIONS, perform
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.reader import read_text
from linkwright.rings.studio.editor.drawing import drawing_json
from tests.refusals import refused

TEXT = """# the wiper of the small bus
name: wiper   # its name
plane: xy
units: [mm, kg, deg, rpm]
parameters:
  L1: 300 mm      # crank
  a: 60 deg
drawing: {A: [0, 0], B: [L1*cos(a), L1*sin(a)],   # the crank
          C: [0.905 m, 750], D: [1000, 0],  # the rocker
          P: [600, 760]}
bodies:
  ground:  {pins: [A, D]}
  # the driven one
  crank:   {pins: [A, B], mass: 0.3}   # cast
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker:
    pins: [D, C]   # long
    mass: 800 g
springs:
  back: {between: [ground.D, coupler.P], stiffness: 3 N/mm}   # soft
loads:
  wind: {on: coupler.P, force: [-2 N s/m * coupler.P.vx, 0]}
drive: {A: 45 rpm}
start: {A: 60, A.v: 45}
"""


def after(*operations: dict[str, Any], text: str = TEXT, **answers: str) -> str:
    found = perform(text, "wiper.yaml", operations, {k.replace("__", "."): v for k, v in answers.items()})
    assert not found.questions
    return found.text


def changed(new: str, old: str = TEXT) -> list[tuple[str, str]]:
    """Lines that differ, where the number of lines is the same."""
    assert len(new.splitlines()) == len(old.splitlines())
    return [(a, b) for a, b in zip(old.splitlines(), new.splitlines(), strict=True) if a != b]


def test_move_keeps_units_and_comments() -> None:
    assert changed(after({"do": "move", "points": {"C": [0.9, 0.7]}})) == [
        ("          C: [0.905 m, 750], D: [1000, 0],  # the rocker", "          C: [0.9 m, 700], D: [1000, 0],  # the rocker")
    ]
    assert after({"do": "move", "points": {"C": [0.905, 0.75]}}) == TEXT  # no change, to the letter
    assert "mass: 0.25 g" not in after({"do": "set_mass", "body": "rocker", "mass": 0.25})
    assert "    mass: 250 g\n" in after({"do": "set_mass", "body": "rocker", "mass": 0.25})


def test_expression_asks_and_the_answers_do_what_they_say() -> None:
    op = {"do": "move", "points": {"B": [0.2, 0.1]}}
    found = perform(TEXT, "wiper.yaml", [op])
    assert found.text == TEXT
    assert [q.key for q in found.questions] == ["drawing.B.0", "drawing.B.1"]
    first = found.questions[0]
    assert "`L1*cos(a)` (wiper.yaml:8)" in first.text
    assert [c.id for c in first.choices] == ["parameter:L1", "parameter:a", "replace"]
    assert first.choices[0].text == "Change L1 from 300 mm to 400 mm"  # 0.2/cos(60 deg)
    assert "Replace the expression by 200 mm" in first.choices[-1].text
    text = after(op, drawing__B__0="replace", drawing__B__1="replace")
    assert "B: [200, 100],   # the crank" in text and "L1: 300 mm      # crank" in text
    text = after(op, drawing__B__0="parameter:L1", drawing__B__1="parameter:a")
    # x first, by the length; then y by the angle, which moves x again: the user's choice
    angle = np.degrees(np.arcsin(0.1 / 0.4))
    read = dict(read_text(text, "wiper.yaml").numbers().parameters)
    assert read["L1"] == pytest.approx(0.4, rel=1e-12) and read["a"] == pytest.approx(np.radians(angle), rel=1e-11)
    assert "# crank" in text and "[L1*cos(a), L1*sin(a)]" in text


def test_parameter_choice_names_what_else_moves() -> None:
    text = TEXT.replace("P: [600, 760]", "P: [2*L1, 760]")
    found = perform(text, "wiper.yaml", [{"do": "move", "points": {"P": [0.7, 0.76]}}])
    assert found.questions[0].choices[0].text == "Change L1 from 300 mm to 350 mm (also moves B)"


def test_length_is_typed_and_measured() -> None:
    text = after({"do": "set_length", "body": "rocker", "length": "0,5 m"})
    d = dict(read_text(text, "w").drawing)
    assert np.hypot(d["C"][0] - d["D"][0], d["C"][1]) == pytest.approx(0.5, rel=1e-12)
    direction = np.array([905.0 - 1000.0, 750.0])
    assert np.cross([*direction, 0], [d["C"][0] - 1.0, d["C"][1], 0])[2] == pytest.approx(0.0, abs=1e-9)
    text = after({"do": "set_length", "body": "rocker", "length": "2*L1"})  # an expression stays one: the link gets its own length
    assert "    along: {D: 0, C: 2*L1}\n" in text
    assert read_text(text, "w").numbers().body("rocker").points[1].at[0] == pytest.approx(0.6)


def test_own_lengths_follow_the_drawing() -> None:
    text = TEXT.replace("{pins: [A, B], mass: 0.3}", "{along: {A: 0, B: L1}, mass: 0.3}").replace("[L1*cos(a), L1*sin(a)]", "[150, 259.8]")
    found = perform(text, "w", [{"do": "move", "points": {"B": [0.3, 0.5196]}}])  # twice as far
    assert [q.key for q in found.questions] == ["bodies.crank.along.B"]
    changed = perform(text, "w", [{"do": "move", "points": {"B": [0.3, 0.5196]}}], {"bodies.crank.along.B": "parameter:L1"}).text
    assert dict(read_text(changed, "w").numbers().parameters)["L1"] == pytest.approx(0.3 + np.hypot(0.15, 0.2598), rel=1e-9)
    sides = TEXT.replace("points: [P], mass: 0.9", "points: [P], sides: {B-C: 900, B-P: 700, C-P: 310}, mass: 0.9")
    sides = sides.replace("[L1*cos(a), L1*sin(a)]", "[150, 260]")
    moved = after({"do": "move", "points": {"P": [0.6, 0.8]}}, text=sides)
    b, c, old, new = (np.array(x) for x in ([150.0, 260.0], [905.0, 750.0], [600.0, 760.0], [600.0, 800.0]))
    node = EditSheet(moved, "w").node("bodies", "coupler", "sides")
    assert node is not None and node.entries is not None
    for key, end, was in (("B-P", b, 700.0), ("C-P", c, 310.0)):
        change = np.linalg.norm(new - end) - np.linalg.norm(old - end)
        assert float(node.entries[key].text or "") == pytest.approx(was + change, rel=1e-12)
    assert node.entries["B-C"].text == "900"


def test_rename_reaches_every_use() -> None:
    text = after({"do": "rename", "id": "point:P", "to": "tip"}, {"do": "rename", "id": "body:coupler", "to": "rod"})
    assert "tip: [600, 760]}" in text and "rod: {pins: [B, C], points: [tip], mass: 0.9}" in text
    assert "back: {between: [ground.D, rod.tip], stiffness: 3 N/mm}   # soft" in text
    assert "wind: {on: rod.tip, force: [-2 N s/m * rod.tip.vx, 0]}" in text
    text = after({"do": "rename", "id": "point:A", "to": "O"})
    assert "drive: {O: 45 rpm}\nstart: {O: 60, O.v: 45}" in text and "ground:  {pins: [O, D]}" in text
    text = after({"do": "rename", "id": "parameter:L1", "to": "crank_length"})
    assert "B: [crank_length*cos(a), crank_length*sin(a)],   # the crank" in text and "crank_length: 300 mm      # crank" in text
    text = after({"do": "rename", "id": "joint:A", "to": "motor"})
    assert "motor: {pin: A, between: [ground, crank]}" in text and "drive: {motor: 45 rpm}\nstart: {motor: 60, motor.v: 45}" in text
    for new in (text, after({"do": "rename", "id": "spring:back", "to": "pull"})):
        assert read_text(new, "w").joints


def test_rename_knows_names_from_units() -> None:
    """A hinge that has the name of a unit: `-2 N s/m` stays when it is renamed."""
    text = TEXT.replace("coupler.P.vx, 0]", "A.v*0.1 m, 0]")
    there = after({"do": "rename", "id": "point:A", "to": "N"}, text=text)
    assert "force: [-2 N s/m * N.v*0.1 m, 0]" in there and "drive: {N: 45 rpm}" in there
    assert after({"do": "rename", "id": "point:N", "to": "A"}, text=there) == text


def test_third_body_at_a_driven_pin_renames_its_hinge_and_back() -> None:
    text = after({"do": "add_link", "through": ["A", {"at": [-0.1, 0]}], "name": "brace"})
    assert 'drive: {"A:crank": 45 rpm}\nstart: {"A:crank": 60, "A:crank.v": 45}' in text
    assert "drive: {A: 45 rpm}\nstart: {A: 60, A.v: 45}" in after({"do": "delete", "ids": ["body:brace"]}, text=text)


def test_delete_takes_what_hangs_on_it() -> None:
    text = after({"do": "delete", "ids": ["body:coupler"]})
    assert "coupler" not in text and "springs" not in text and "loads" not in text and "P:" not in text
    assert "# the driven one" in text and "drive: {A: 45 rpm}" in text  # still hinged to the ground
    assert "drive:" not in after({"do": "delete", "ids": ["body:crank"]})
    text = after({"do": "delete", "ids": ["point:P"]})
    assert "coupler: {pins: [B, C], mass: 0.9}" in text and "springs" not in text
    text = after({"do": "delete", "ids": ["spring:back", "drive:A"]})
    assert "springs" not in text and "drive:" not in text and "start: {A: 60" in text
    text = after({"do": "delete", "ids": ["joint:C"]})  # opens the hinge
    assert "E: [0.905 m, 750]}" in text and "    pins: [D, E]   # long" in text


def test_duplicate_and_mirror() -> None:
    text = after({"do": "duplicate", "ids": ["body:coupler", "body:rocker"], "by": [1.0, 0.0]})
    d = read_draft(EditSheet(text, "w"))
    assert d.bodies["rocker1"].pins == ("H", "F") and "H" in d.bodies["ground"].pins  # the hinge to the ground is copied along
    assert d.points["F"].at == pytest.approx((1.905, 0.75)) and d.points["H"].at == pytest.approx((2.0, 0.0))
    assert d.bodies["coupler1"].points == ("E", "F", "G")
    copied = d.parts["springs", "back1"]
    assert [(e.body, e.point) for e in copied.ends] == [("ground", "H"), ("coupler1", "G")]
    mirrored = read_draft(EditSheet(after({"do": "mirror", "ids": ["body:crank"], "line": [[0, 0], [0, 1]]}), "w"))
    assert mirrored.bodies["crank1"].pins == ("A", "E")  # A is on the line and stays
    assert mirrored.points["E"].at == pytest.approx((-0.15, 0.15 * np.sqrt(3)))
    moved = read_draft(EditSheet(after({"do": "mirror", "ids": ["body:rocker"], "line": [[1, 0], [1, 1]], "copy": False}), "w"))
    assert moved.points["C"].at == pytest.approx((1.095, 0.75)) and set(moved.bodies) == {"ground", "crank", "coupler", "rocker"}


def test_masses_at_coordinates_are_moved_and_mirrored_with_their_body() -> None:
    text = TEXT + "masses: {bob: {body: rocker, at: [940, 500], mass: 1}}\n"
    moved = after({"do": "duplicate", "ids": ["body:rocker"], "by": [1.0, 0.5]}, text=text)
    assert "bob1: {body: rocker1, at: [1940, 1000], mass: 1}" in moved
    mirrored = after({"do": "mirror", "ids": ["body:rocker"], "line": [[2, 0], [2, 1]]}, text=text)
    assert "bob1: {body: rocker1, at: [3060, 500], mass: 1}" in mirrored


def test_join_makes_two_pins_one() -> None:
    text = after({"do": "add_link", "through": [{"at": [0.5, 0.9]}, {"at": [0.5, 1.2], "ground": True}], "name": "stay"})
    text = after({"do": "join", "point": "E", "to": "P"}, text=text)
    d = read_text(text, "w")
    assert {j.name for j in d.joints} == {"A", "B", "C", "D", "P", "F"}
    assert "coupler: {pins: [B, C, P], mass: 0.9}" in text and "stay: {pins: [P, F]}" in text
    with refused(UsageError, name="crank"):
        after({"do": "join", "point": "A", "to": "B"})


def test_free_end_becomes_a_marked_point_and_back() -> None:
    pendulum = after({"do": "add_link", "through": [{"at": [2, 0], "ground": True}, {"at": [2, -1]}], "name": "bob"})
    marked = after({"do": "set_pin", "point": "F", "pin": False}, text=pendulum)
    assert "bob: {pins: [E], points: [F]}" in marked and read_text(marked, "w").body("bob")
    assert "bob: {pins: [E, F]}" in after({"do": "set_pin", "point": "F", "pin": True}, text=marked)
    with refused(UsageError, name="B"):
        after({"do": "set_pin", "point": "B", "pin": False})


def test_eye_of_a_spring_on_a_ground_pin_is_a_marked_point() -> None:
    text = after({"do": "add_pin", "at": [0.5, -0.2], "ground": True}, {"do": "add_spring", "between": ["E", "P"]})
    assert "ground:  {pins: [A, D], points: [E]}" in text and "spring1: {between: [ground.E, coupler.P]" in text
    assert read_text(text, "w").springs
    hinged = after({"do": "add_link", "through": ["E", "P"]}, text=text)  # a link makes it a pin again
    assert "ground:  {pins: [A, D, E]}" in hinged and {"E", "P"} <= {j.name for j in read_text(hinged, "w").joints}


def test_values_by_path() -> None:
    assert "stiffness: 4.5 N/mm}   # soft" in after({"do": "set_value", "path": ["springs", "back", "stiffness"], "value": "4,5"})
    assert "gravity" in after({"do": "set_value", "path": ["gravity"], "value": "[0, -9.81 m/s^2]"})
    assert "L1: 350 mm      # crank" in after({"do": "set_parameter", "name": "L1", "value": "350"})
    assert "  b: 20 mm\n" in after({"do": "set_parameter", "name": "b", "value": "20 mm"})
    assert "springs" not in after({"do": "set_value", "path": ["springs", "back"], "value": None})
    assert "force: [5 N, 0]}" in after({"do": "set_value", "path": ["loads", "wind", "force"], "value": ["5 N", 0]})
    assert "between: [ground.A, coupler.P]" in after(
        {"do": "set_value", "path": ["springs", "back", "between"], "value": ["ground.A", "coupler.P"]}
    )
    assert "C: [91 m, 75]" in after({"do": "set_value", "path": ["drawing", "C"], "value": [91, "75"]})
    with refused(UsageError, name="spring"):
        after({"do": "set_value", "path": ["spring", "back"], "value": 1})


def test_backdrop_is_scaled_by_two_clicks() -> None:
    text = after({"do": "set_backdrop", "file": "photo.png", "at": [-0.1, 0.0], "scale": "0.5 mm"})
    assert read_text(text, "w").joints  # of no concern to mechanics
    text = after({"do": "scale_backdrop", "from": [0.0, 0.0], "to": [0.2, 0.0], "length": "300 mm"}, text=text)
    node = EditSheet(text, "w").node("backdrop")
    assert node is not None and node.entries is not None
    assert node.entries["scale"].text == "0.75" and [n.text for n in node.entries["at"].items or ()] == ["-150", "0"]
    assert "backdrop" not in after({"do": "set_backdrop", "file": None}, text=text)
    with refused(ModelError, line=11):
        read_text(text.replace("scale: 0.75", "scale: -1"), "wiper.yaml")


@pytest.mark.parametrize(
    ("op", "match"),
    [
        ({"do": "add_wheel"}, "there is no operation 'add_wheel'"),
        ({"do": "add_pin", "at": [0]}, r"two coordinates"),
        ({"do": "add_pin", "at": [0, float("nan")]}, "must be a number"),
        ({"do": "add_pin", "at": [0, True]}, "must be a number"),
        ({"do": "add_pin", "at": ["3 kg", 0]}, "must be length"),
        ({"do": "add_pin", "at": [0, 0], "name": "A"}, "the name 'A' is taken"),
        ({"do": "add_pin", "at": [0, 0], "name": "a b"}, "cannot be a name"),
        ({"do": "add_link", "through": ["A", "A"]}, "through A twice"),
        ({"do": "add_link", "through": ["Z"]}, "there is no point 'Z'"),
        ({"do": "add_link", "through": 3}, "one or more pins"),
        ({"do": "set_mass", "body": "crank", "mass": "-1"}, "negative"),
        ({"do": "set_mass", "body": "crank", "section": {"width": "20", "height": "-8"}}, "greater than zero"),
        ({"do": "set_mass", "body": "crank", "section": {"diameter": 1}, "material": "cheese"}, "no material 'cheese'"),
        ({"do": "set_length", "body": "crank", "length": "-150 mm"}, "greater than zero"),
        ({"do": "set_drive", "joint": "A", "value": "3 kg"}, "mass"),
        ({"do": "set_drive", "joint": "Q", "value": "3 rpm"}, "no joint 'Q'"),
        ({"do": "add_gears", "joints": ["A", "A"]}, "two different hinges"),
        ({"do": "add_spring", "between": ["crank.A", "crank.B"]}, "both ends are on"),
        ({"do": "add_load", "on": "coupler.Q"}, "no point 'Q'"),
        ({"do": "rename", "id": "body:ground", "to": "frame"}, "cannot be renamed"),
        ({"do": "rename", "id": "wheel:x", "to": "y"}, "is not an id"),
        ({"do": "rename", "id": "body:crank", "to": "x.y"}, "cannot be a name"),
        ({"do": "delete", "ids": ["body:wheel"]}, "there is no body:wheel"),
        ({"do": "mirror", "ids": ["body:crank"], "line": [[0, 0], [0, 0]]}, "two different points"),
        ({"do": "set_backdrop", "file": "../photo.png"}, "next to the model"),
    ],
)
def test_impossible_operations_are_refused_in_a_sentence(op: dict[str, Any], match: str) -> None:
    with pytest.raises(LinkwrightError, match=match):
        perform(TEXT, "wiper.yaml", [op])


def test_repeated_parts_are_edited_in_the_file_only() -> None:
    text = model_of_repeats = (
        "plane: xy\ndrawing: {P0: [0, 0]}\nrepeat: {i: 1..3, drawing: {'P{i}': [i*0.1, 0]}, bodies: {'l{i}': {pins: ['P{i-1}', 'P{i}']}}}\n"
    )
    text += "bodies: {ground: {pins: [P0, P3]}}\n"
    draft = read_draft(EditSheet(text, "chain.yaml"))
    assert draft.points["P2"].fixed and draft.bodies["l3"].fixed and model_of_repeats in text
    with refused(UsageError, name="P2"):
        perform(text, "chain.yaml", [{"do": "move", "points": {"P2": [0.2, 0.1]}}])
    assert (
        "P0: [0, 100]"
        in perform(
            text.replace("plane: xy", "plane: xy\nunits: [mm]").replace("0.1,", "100 mm,"),
            "chain.yaml",
            [{"do": "move", "points": {"P0": [0, 0.1]}}],
        ).text
    )


def test_every_operation_survives_nonsense() -> None:
    """Wrong kinds of values are refused by a sentence, never by a traceback."""
    for name in OPERATIONS:
        for wrong in (None, 3, "x", [], {}, [1, 2], {"at": 3}, ["A", 3], True):
            keys = (
                "at",
                "points",
                "ids",
                "through",
                "between",
                "joints",
                "body",
                "point",
                "to",
                "id",
                "on",
                "value",
                "path",
                "file",
                "line",
            )
            for op in ({"do": name}, {"do": name, **dict.fromkeys(keys, wrong)}):
                try:
                    perform(TEXT, "wiper.yaml", [op])
                except LinkwrightError:
                    continue


def test_a_slider_along_a_link_is_guided_by_it() -> None:
    """A crank shaper: the pin C of the crank lies on the lever A-D. Across the lever or beyond its end the ground carries the guide."""
    base = [
        {"do": "add_link", "through": [{"at": [0, 0.1], "ground": True, "name": "B"}, {"at": [0.04, 0.1], "name": "C"}], "name": "crank"},
        {"do": "add_link", "through": [{"at": [0, 0], "ground": True, "name": "A"}, {"at": [0.08, 0.2], "name": "D"}], "name": "lever"},
    ]

    def carrier(**op: object) -> str:
        text = perform("plane: xy\nunits: [mm, kg, deg, rpm]\n", "shaper.yaml", [*base, {"do": "add_slider", **op}]).text
        return text.split("between: [")[1].split(",")[0]

    assert carrier(at="C", axis=[0.4, 1.0]) == carrier(at="C", angle="248.2 deg") == "lever"
    assert carrier(at="C", axis=[1.0, 0.0]) == "ground"  # across it
    assert carrier(at="C", axis=[0.4, 1.0], on="ground") == "ground"  # as asked for
    assert carrier(at={"at": [0.1, 0.25]}, axis=[0.4, 1.0]) == "ground"  # beyond its end
    assert carrier(at="D", axis=[0.4, 1.0]) == "ground"  # hinged to it


LEVER = """\
plane: xy
units: [mm, kg]
drawing: {C: [0, 0], F: [10, 80], H: [20, 360], K: [100, 0]}
bodies:
  ground: {pins: [C, K]}
  arm: {pins: [C, F], points: [H]}
  link: {pins: [F, K]}
"""


ARMS = [([20, 360], "[[C, F], [F, H]]"), ([20, 160], "[[C, F], [F, H]]"), ([90, 20], "[[C, F], [C, H]]")]


@pytest.mark.parametrize(("far", "bars"), ARMS)
def test_a_lever_with_a_marked_point_weighs_its_arms_once(far: list[float], bars: str) -> None:
    """Mass = density x area x length of the arms; a lever in one line (160 = 2 x 80) and a bell crank alike."""
    op = {"do": "set_mass", "body": "arm", "section": {"width": "20 mm", "height": "8 mm"}, "material": "steel"}
    text = after(op, text=LEVER.replace("[20, 360]", str(far)))
    assert f"bars: {bars}" in text
    C, F, H = np.array([0.0, 0.0]), np.array([10.0, 80.0]), np.array(far)
    arms = np.linalg.norm(F - C) + np.linalg.norm(H - (C if "[C, H]" in bars else F))
    assert read_text(text, "lever").body("arm").mass == pytest.approx(7850 * 0.02 * 0.008 * arms / 1000, rel=1e-12)
    sheet = EditSheet(text, "lever")
    drawn = drawing_json(sheet, read_draft(sheet), None)["bodies"][1]
    assert str(drawn["bars"]).replace("'", "") == bars
    own = after({**op, "material": "brass"}, text=text.replace(bars, "[[C, H]]"))  # bars that somebody wrote stay
    assert "bars: [[C, H]]" in own


GUIDED = (
    TEXT.replace("springs:", "joints: {guide: {type: prismatic, between: [ground, rocker], at: C, axis: [1, 0]}}\nsprings:")
    .replace("pins: [D, C]   # long", "pins: [C]   # long")
    .replace("{pins: [A, D]}", "{pins: [A], points: [D]}")
)


@pytest.mark.parametrize(
    ("op", "text", "entry"),
    [
        ({"joint": "D"}, TEXT, "friction1: {joint: D, mu: 0.1, radius: 5}"),
        ({"joint": "D", "name": "pin", "mu": 0.2, "radius": 0.008}, TEXT, "pin: {joint: D, mu: 0.2, radius: 8}"),
        ({"joint": "A", "coulomb": "0.2 N m", "mu": None}, TEXT, "friction1: {joint: A, coulomb: 0.2 N m, mu: 0.1, radius: 5}"),
        ({"joint": "guide"}, GUIDED, "friction1: {joint: guide, mu: 0.1}"),
        (
            {"joint": "guide", "stribeck": "5 mm/s", "breakaway": "2"},
            GUIDED,
            "friction1: {joint: guide, mu: 0.1, breakaway: 2, stribeck: 5 mm/s}",
        ),
    ],
)
def test_friction_in_a_joint(op: dict[str, Any], text: str, entry: str) -> None:
    """By the load unless other numbers are given, in a slider without a radius; taken out again it leaves the text as it was."""
    new = after({"do": "add_friction", **op}, text=text)
    assert f"\nfriction:\n  {entry}\n" in new
    name = entry.partition(":")[0]
    assert after({"do": "delete", "ids": [f"friction:{name}"]}, text=new) == text
    slower = after({"do": "set_value", "path": ["friction", name, "mu"], "value": "0.25"}, text=new)
    assert [b.replace("mu: 0.25", "") for _, b in changed(slower, new)] == [re.sub(r"mu: [\d.]+", "", f"  {entry}")]
    assert [(f.name, f.joint, f.mu) for f in read_text(slower, "w").frictions] == [(name, op["joint"], 0.25)]


@pytest.mark.parametrize(
    ("op", "text"),
    [
        ({"joint": "guide", "radius": 0.01}, GUIDED),  # no lever in a slider
        ({"joint": "D", "mu": -0.1}, TEXT),
        ({"joint": "D", "breakaway": 0.5}, TEXT),
        ({"joint": "D", "stribeck": 0.1}, TEXT),  # nothing that fades
        ({"joint": "Q"}, TEXT),
        ({"between": ["crank.A", "coupler.P"]}, TEXT),
    ],
)
def test_friction_that_is_refused(op: dict[str, Any], text: str) -> None:
    with pytest.raises((UsageError, ModelError)):
        after({"do": "add_friction", **op}, text=text)
