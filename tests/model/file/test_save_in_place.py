"""The user's own file with new numbers in place: it reads back to them, and nothing else in it changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import files
from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.model import file as modelfile
from linkwright.model import library
from linkwright.model.description import Description
from linkwright.model.file.value_fitting import flat, missed
from linkwright.model.parameters import every_parameter, with_values
from tests.refusals import refused
from tests.sweeps import every_model

READS_BACK = 1e-12  # of the largest number of a kind: what `edited` promises

# Every section with numbers, in several styles: blocks and braces, own units, quotes, comments behind values.
RICH = """\
# A made-up machine   (comment with  spaces)
name: rich
plane: xy
units: [mm, kg, deg, rpm, N, s]

parameters:
  k1: 2 N/mm        # stiffness of the coil
  bore: {value: 30, min: 10, max: 60}   # bare: as a length in mm
  half: bore/2
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [50, 80],
          C: [ 300,210 ], D: [34 cm, 10]   , P: [180, 260], E: [200, 500], F: [210, 600], S: [-60, 40], Q: [60, 60]}
bodies:
  ground: {pins: [A, D], points: [S, Q]}
  crank: {pins: [A, B], bar: {section: {width: 10, height: 20}, material: steel}}
  coupler:
    pins: [B, C]     # a plate
    points: [P]
    plate: {thickness: 4, material: aluminum}
  rocker: {pins: [D, C], mass: "0.8 kg", com: [330, 120], inertia: 0.004 kg m^2}
  head: {pins: [E], points: [F], mass: 0.5}
  wheel:
    points: {Q: [0, 0], R: [0, 2*30 mm], T: [10, half]}
    mass: 1.5   # with its tire
    com: [0, 0]
    inertia: 0.001 kg m^2
joints:
  guide: {type: prismatic, between: [ground, head], at: E, axis: [0, 1]}
  hub: {type: revolute, connect: [ground.Q, wheel.Q]}
rods:
  tie: {between: [coupler.P, head.F]}
  bar2: {between: [wheel.R, coupler.P], length: 150}
springs:
  coil: {between: [ground.S, rocker.C], stiffness: k1}
  twist: {joint: D, stiffness: 0.5 N m/rad, free_position: 40}
  gas:
    type: gas
    between: [ground.S, head.F]
    force: 230 N
    length: 900
    stroke: 500
dampers:
  d1: {joint: A, coefficient: 0.02 N m s/rad}
friction:
  D: {coulomb: 0.1 N m, speed: 5 deg/s}
stops:
  D: {min: -200, max: 3.5 rad, stiffness: 100 N m/rad}
masses:
  tip: {body: rocker, at: [320, 60], mass: 100 g}
loads:
  push: {on: head.F, force: [1.5, -20 N]}
  twirl: {on: wheel.R, moment: 0.3 N m}
drive: {A: 60 rpm}
start: {A: 58 deg, A.v: 1 rad/s}
"""


def changed(d: Description, name: str) -> Description:
    """The model with a number that is one per cent larger, or shifted by one per cent of its size."""
    p = every_parameter(d)[name]
    return modelfile.reread(d, **{name: p.value + 0.01 * (p.value or p.size or 0.1)})


def reads_back(text: str, d: Description) -> Description:
    """The model of an edited text, in the folder of the old one."""
    old = d.document
    path = None if old.path is None else old.path.with_name("edited.yaml")
    document = type(old)(modelfile.reader.from_text(text, "edited.yaml"), old.base, old.name, {}, text, path)
    return document.with_literals({})


def numbers(d: Description) -> dict[Any, Any]:
    """All numbers but those of parameters, which stay in a description that was given other values of them."""
    return {label: x for label, x in flat(d).items() if label[0] != "parameters"}


def other_lines(old: str, new: str) -> list[str]:
    """Lines of the new text that the old one does not have; all others must be there in their order."""
    lines, out = old.splitlines(keepends=True), []
    at = 0
    for line in new.splitlines(keepends=True):
        if at < len(lines) and line == lines[at]:
            at += 1
            continue
        out.append(line)
        ahead = new.splitlines(keepends=True)
        at += line.split("#")[0].split(":")[0].strip() == (lines[at].split("#")[0].split(":")[0].strip() if at < len(lines) else None)
        assert ahead
    assert at == len(lines), "a line was lost"
    return out


def check(d: Description, name: str) -> str | None:
    """Edit one number; the new text, or None where the file has no place for it, which the message says."""
    try:
        new = changed(d, name)
    except LinkwrightError:
        return None  # impossible, or a count
    try:
        text = modelfile.edited(new)
    except UsageError as error:
        assert "instead" in str(error) or "Change" in str(error) or "Give" in str(error), error
        return None
    except ModelError as error:
        assert "cannot exist" in str(error), error  # an inertia that no body has
        return None
    p = every_parameter(d)[name]
    # a pin that leaves the line of others makes a plate of a bar, which only the reader decides
    wanted = new.numbers() if p.drawn else with_values(d, [p], [p.value + 0.01 * (p.value or p.size or 0.1)])
    assert not missed(numbers(reads_back(text, d).numbers()), numbers(wanted), READS_BACK), name
    lines = other_lines(d.document.text, text)
    followed = [x for x in lines if x.strip().startswith(("com:", "inertia:"))]  # from a place that moves: each on a line of its own
    assert 1 <= len(lines) <= (3 if len(followed) == 2 else 2), name
    return text


@pytest.mark.parametrize(("newline", "every"), [pytest.param("\n", 1, marks=pytest.mark.slow), ("\n", 7), ("\r\n", 11)])
def test_every_number_of_a_rich_file(newline: str, every: int) -> None:
    d = modelfile.read_text(RICH.replace("\n", newline), "rich.yaml")
    names = list(every_parameter(d))
    written = {name: check(d, name) for name in names[::every]}
    refused = {name for name, text in written.items() if text is None}
    points = {n for n in written if n.split(".")[0] in ("ground", "crank", "coupler", "rocker", "head") and n.split(".")[1] in "ABCDEFPQS"}
    guide = {n for n in written if ".guide." in n}
    assert refused <= {"half", "coil.stiffness", "wheel.T.x", "wheel.T.y", *points, *guide}  # they follow from the drawing or parameters
    assert all(newline == "\n" or "\n" not in text.replace("\r\n", "") for text in written.values() if text is not None)


@pytest.mark.parametrize("model", every_model("slider-crank-equal", touching=True))
def test_every_number_of_shipped_models(model: str, rng: np.random.Generator) -> None:
    d = modelfile.read(library.path(model))
    names = list(every_parameter(d))
    written = [check(d, name) for name in names]
    assert any(text is not None for text in written)


@pytest.mark.parametrize(
    ("values", "old", "new"),
    [
        ({"D.x": 0.35}, "D: [34 cm, 10]   ,", "D: [35 cm, 10]   ,"),
        ({"C.x": 0.31, "C.y": 0.2}, "C: [ 300,210 ]", "C: [ 310,200 ]"),
        ({"rocker.mass": 0.9}, 'mass: "0.8 kg"', 'mass: "0.8999999999999999 kg"'),
        ({"k1": 2500.0}, "k1: 2 N/mm        # stiffness", "k1: 2.5 N/mm        # stiffness"),
        ({"bore": 32.0}, "{value: 30, min: 10, max: 60}   #", "{value: 32, min: 10, max: 60}   #"),
        ({"twist.free_position": np.deg2rad(45.0)}, "free_position: 40}", "free_position: 45}"),
        ({"gas.length": 0.91}, "    length: 900\n", "    length: 910\n"),
        ({"D.upper": 3.4}, "max: 3.5 rad", "max: 3.4 rad"),
        ({"D.speed": np.deg2rad(6.0)}, "speed: 5 deg/s", "speed: 6 deg/s"),
        ({"bar2.length": 0.1525}, "length: 150}", "length: 152.5}"),
        ({"push.force.x": 2.0}, "force: [1.5, -20 N]", "force: [2, -20 N]"),
        ({"wheel.R.y": 0.061}, "R: [0, 2*30 mm]", "R: [0, 61]"),
        ({"d1.coefficient": 0.03}, "coefficient: 0.02 N m s/rad", "coefficient: 0.03 N m s/rad"),
        ({"gravity.y": -1.62}, "gravity: [0, -9.81 m/s^2]", "gravity: [0, -1.62 m/s^2]"),
        ({"start.A": np.deg2rad(60.0)}, "start: {A: 58 deg,", "start: {A: 60 deg,"),
        ({"drive.A": np.pi}, "drive: {A: 60 rpm}", "drive: {A: 30 rpm}"),
        ({"tie.length": 0.4}, "tie: {between: [coupler.P, head.F]}", "tie: {between: [coupler.P, head.F], length: 400}"),
        ({"coil.preload": 12.0}, "stiffness: k1}", "stiffness: k1, preload: 12}"),
        ({"gas.progression": 1.3}, "    stroke: 500\n", "    stroke: 500\n    progression: 1.3\n"),
        ({"crank.mass": 0.5, "crank.inertia": 0.001}, "material: steel}}\n", "material: steel}, mass: 0.5, inertia: 0.001 kg m^2}\n"),
        ({"crank.length": 0.1}, "crank: {pins: [A, B], bar", "crank: {pins: [A, B], along: {A: 0, B: 100}, bar"),
    ],
    ids=lambda x: ",".join(x) if isinstance(x, dict) else None,
)  # fmt: skip
def test_numbers_are_written_in_the_style_of_their_place(values: dict[str, Any], old: str, new: str) -> None:
    d = modelfile.read_text(RICH)
    text = modelfile.edited(d, values)
    assert RICH.count(old) == 1
    if "rocker.mass" not in values:  # its center and inertia include the tip's mass
        assert text == RICH.replace(old, new)
    assert not missed(flat(modelfile.read_text(text).numbers()), flat(modelfile.reread(d, **values).numbers()), READS_BACK)


def test_unchanged_models_give_their_own_text() -> None:
    assert modelfile.edited(modelfile.read_text(RICH)) == RICH


def test_a_design_of_several_numbers_at_once() -> None:
    d = modelfile.read_text(RICH)
    values = {"C.x": 0.305, "k1": 2100.0, "crank.mass": 0.2, "rocker.com.x": 0.1, "gas.force": 240.0, "A.x": 0.001}
    text = modelfile.edited(d, values)
    assert not missed(flat(modelfile.read_text(text).numbers()), flat(modelfile.reread(d, **values).numbers()), READS_BACK)
    again = modelfile.reread(modelfile.read_text(text), **values)  # the numbers are there already
    assert not missed(flat(again.numbers()), flat(modelfile.read_text(text).numbers()), READS_BACK)


def test_designs_of_redesigned_are_written_as_they_are() -> None:
    """Numbers that follow from a pin, and their own change on top of it."""
    d = modelfile.read_text(RICH)
    known = every_parameter(d)
    chosen = [known[n] for n in ("C.x", "rocker.length", "rocker.com.x", "k1")]
    values = [p.value * 1.01 for p in chosen]
    new = modelfile.redesigned(d, chosen, values)
    assert not missed(numbers(new.numbers()), numbers(with_values(d, chosen, values)), READS_BACK)
    text = modelfile.edited(new)
    assert not missed(numbers(modelfile.read_text(text).numbers()), numbers(new.numbers()), READS_BACK)


@pytest.mark.parametrize(("digits", "written"), [(None, "12.34567890123"), (3, "12.3"), (6, "12.3457")])
def test_digits(digits: int | None, written: str) -> None:
    text = modelfile.edited(modelfile.read_text(RICH), {"A.x": 0.01234567890123}, digits=digits)
    assert f"A: [{written}, 0]" in text


def test_texts_with_units_and_values_of_another_kind() -> None:
    d = modelfile.read_text(RICH)
    assert "A: [25.4, 0]" in modelfile.edited(d, {"A.x": "1 in"})
    assert "stiffness: 0.6 N m/rad" in modelfile.edited(d, {"twist.stiffness": "0.6 N m/rad"})
    with refused(ModelError, name="1 kg"):
        modelfile.edited(d, {"A.x": "1 kg"})
    with refused(UsageError, name="1 N/m"):
        modelfile.edited(d, {"twist.stiffness": "1 N/m"})
    with refused((UsageError, ModelError), name="nan"):
        modelfile.edited(d, {"A.x": float("nan")})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"half": 10.0}, "Change bore instead"),
        ({"coil.stiffness": 1.0}, "follows from k1"),
        ({"crank.B.x": 0.1}, "follows from the drawing.*A.x, A.y, B.x, B.y"),
        ({"wheel.T.y": 0.02}, "follows from half"),
        ({"nothing.mass": 1.0}, "no number 'nothing.mass'"),
        ({"C.q": 1.0}, "no number 'C.q'"),
        ({"bore": 70.0}, "outside its bounds"),
        ({"crank.mass": -1.0}, "below zero"),
        ({"cuts": ["A"]}, "Write it into the file yourself"),
        ({"drive.B": 1.0}, "drives no 'B'"),
    ],
)
def test_numbers_without_a_place(values: dict[str, Any], message: str) -> None:
    d = modelfile.read_text(RICH)
    with pytest.raises(LinkwrightError, match=message):
        modelfile.edited(d, values)


def test_a_station_has_no_second_coordinate() -> None:
    bar = "bar: {pins: [A], along: {A: 0, B: 1}, mass: 1}"
    d = modelfile.read_text(f"{{name: x, plane: xy, drawing: {{A: [0, 0], B: [1, 0]}}, bodies: {{ground: {{pins: [A]}}, {bar}}}}}")
    assert "along: {A: 0, B: 1.1}" in modelfile.edited(d, {"bar.length": 1.1})
    for name in ("bar.A.x", "bar.B.y"):
        with pytest.raises(UsageError, match="station of `along:`"):
            modelfile.edited(d, {name: 0.1})


def test_repeated_parts_are_named() -> None:
    d = modelfile.read(library.path("scissor-lift"))
    with refused(UsageError, name="up1.mass"):
        modelfile.edited(d, {"up1.mass": 9.0})
    with refused(UsageError, name="L0.x"):
        modelfile.edited(d, {"L0.x": 0.01})


def test_a_dict_is_written_anew() -> None:
    bodies = {"ground": {"pins": ["A"]}, "bar": {"pins": ["A"], "points": ["B"], "mass": 1}}
    m = lw.load({"name": "x", "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies})
    text = modelfile.edited(m.with_(**{"bar.mass": 2.0}).description)
    assert modelfile.read_text(text).numbers().body("bar").mass == 2.0


def test_files_are_written_whole_with_their_mark_of_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(("﻿" + RICH.replace("\n", "\r\n").replace("made-up", "erfundene Übung")).encode())
    before = path.read_bytes()
    m = lw.load(path, **{"A.x": 0.001})
    modelfile.save(m.description, tmp_path / "b.yaml")
    assert path.read_bytes() == before  # the file itself is not touched
    assert (tmp_path / "b.yaml").read_bytes() == before.replace(b"A: [0, 0]", b"A: [1, 0]")
    with refused(UsageError, file="b.txt"):
        modelfile.save(m.description, tmp_path / "b.txt")


def test_a_saved_model_is_signed_again(tmp_path: Path) -> None:
    path = lw.load("wiper").save(tmp_path / "a.yaml", normalized=True)
    assert files.made_by_linkwright(path)
    modelfile.save(lw.load(path, **{"crank.mass": 0.4}).description, path, force=True)
    assert files.made_by_linkwright(path) and lw.load(path).description.numbers().body("crank").mass == 0.4


def test_a_file_of_the_user_is_replaced_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(RICH, encoding="utf-8")
    m = lw.load(path, **{"A.x": 0.001})
    with refused(UsageError, file="a.yaml"):
        m.save(path)
    assert path.read_text(encoding="utf-8") == RICH
    assert m.save(path, force=True).read_text(encoding="utf-8") == RICH.replace("A: [0, 0]", "A: [1, 0]")


def test_what_has_no_place_in_the_text_is_written_on_request_without_its_comments(tmp_path: Path) -> None:
    m = lw.load("scissor-lift", **{"up1.mass": 9.0})
    with refused(UsageError, file="a.yaml"):
        m.save(tmp_path / "a.yaml")
    assert not (tmp_path / "a.yaml").exists()
    m.save(tmp_path / "a.yaml", normalized=True)
    m.save(tmp_path / "a.yaml", normalized=True)  # its own file
    assert lw.load(tmp_path / "a.yaml").description.numbers().body("up1").mass == 9.0


@pytest.mark.parametrize("changes", [{}, {"A.x": 0.001}])
def test_a_description_with_other_parts_than_its_text_is_written_in_si(tmp_path: Path, changes: dict[str, float]) -> None:
    d = modelfile.read_text(RICH, **changes)
    fewer = replace(d, drives=())
    assert modelfile.read(modelfile.save(fewer, tmp_path / "a.yaml")) == fewer != d
    heavier = replace(modelfile.read_text(RICH), bodies=tuple(replace(b, com=(0.5, 0.5, 0.0)) if b.mass else b for b in d.bodies))
    assert modelfile.read(modelfile.save(heavier, tmp_path / "b.yaml")) == heavier


def test_names_of_files_are_written_for_the_new_folder(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    (tmp_path / "from" / "lift.csv").write_text("t [s],A [deg]\n0,0\n1,5\n2,0\n", encoding="utf-8")
    (tmp_path / "from" / "part.stl").write_text("solid x\nendsolid x\n", encoding="utf-8")
    text = (
        "# mine\nplane: xy\nbackdrop: {file: 'photo of it.png'}  # taken\n"
        "bodies:\n  ground: {}\n  arm: {mass: 1, visuals: [{mesh: part.stl}, {mesh: /else/part.stl}]}\n"
        "joints: {A: {type: revolute, between: [ground, arm], at: [0, 0]}}\n"
        "drive: {A: {position: {over: t, csv: lift.csv}}}\n"
    )
    path = tmp_path / "from" / "m.yaml"
    path.write_text(text, encoding="utf-8")
    m = lw.load(path)
    moved = lw.load(m.with_(**{"arm.mass": 2.0}).save(tmp_path / "to" / "m.yaml"))
    names = [("part.stl", "../from/part.stl"), ("lift.csv", "../from/lift.csv"), ("'photo of it.png'", "../from/photo of it.png")]
    for old, new in names:
        text = text.replace(old, new, 1)
    assert (tmp_path / "to" / "m.yaml").read_text(encoding="utf-8") == text.replace("mass: 1", "mass: 2")
    assert moved.description.body("arm").visuals[0].file == "../from/part.stl" and moved.description.drives == m.description.drives


def test_sections_given_in_a_call() -> None:
    d = modelfile.read_text(RICH)
    text = modelfile.edited(modelfile.reread(d, gravity=[0, -1.0], start={"A": 1.0, "D.v": 0.5}, name="lunar"))
    new = modelfile.read_text(text)
    assert new.name == "lunar" and new.gravity[1] == -1.0
    assert dict(new.start)["D.v"] == pytest.approx(0.5, rel=1e-12)
    assert "gravity: [0, -1 m/s^2]" in text
    bodies = "bodies: {ground: {pins: [A]}, bar: {pins: [A], points: [B], mass: 1}}"
    plain = modelfile.read_text(f"name: x\nplane: xy  # flat\ndrawing: {{A: [0, 0], B: [1, 0]}}\n{bodies}\n")
    text = modelfile.edited(modelfile.reread(plain, gravity=[0, -9.81], start={"A": 0.2}))
    assert text == plain.document.text.replace("flat\n", "flat\ngravity: [0, -9.81]\n") + "start: {A: 0.2}\n"
