"""`lw.load` of files of other programs: a model like any other, with a report of its import."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused
from tests.rings.exchange.reading.urdf.robots import DIALECTS, link, robot, tree, written


def test_an_imported_model_is_a_model(tmp_path: Path) -> None:
    path = written(tmp_path, "loop")
    m = lw.load(path, gravity=[0, -9.81, 0], **{"rocker.mass": "0.9 kg"})
    assert m.name == "fourbar" and m.description.body("rocker").mass == 0.9
    heavier = m.with_(**{"rocker.mass": 1.0})
    assert heavier.description.body("rocker").mass == 1.0 and heavier.imported is m.imported
    assert m.description.joint("C").where == lw.errors.Source(str(path), 10)
    again = lw.load(m.save(tmp_path / "saved.yaml"))
    a, b = (x.system.forward(x.system.start).a for x in (m, again))
    assert np.array_equal(a, b) and again.imported is None
    assert m.cycle(steps=4)["D"].shape == (5,)


def test_the_root_element_decides(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(robot(DIALECTS["loop"]))
    assert lw.load(path).imported is not None
    path.write_text("<html/>")
    with refused(lw.LinkwrightError, name="html"):
        lw.load(path)
    with refused(lw.LinkwrightError, file="missing.urdf"):
        lw.load(tmp_path / "missing.urdf")


def test_wrong_values_name_the_line_of_the_original(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(tree().replace('value="0.8"', 'value="1e25"')))
    assert any(f"{path}:6" in x for x in lw.load(path).description.warnings)
    path.write_text(robot(tree() + link("loose", 1, 0, 0)))
    with refused(lw.LinkwrightError, line=2):
        lw.load(path)


def test_options_of_an_import(tmp_path: Path) -> None:
    path = written(tmp_path, "loop")
    assert lw.load(path, base="free").system.mobility.freedoms == 7
    with refused(lw.UsageError, name="base", value="floating"):
        lw.load(path, base="floating")
    with refused(lw.UsageError, name="folders"):
        lw.load("wiper", folders=[tmp_path])
    with refused(lw.LinkwrightError, name="Z", allowed=("A", "B", "D", "C")):
        lw.load(path, drives="Z")


def test_the_report_is_readable(tmp_path: Path) -> None:
    m = lw.load(written(tmp_path, "onshape hinge"))
    assert m.imported is not None
    text = str(m.imported)
    assert text.splitlines()[0].endswith("fourbar.urdf (URDF)") and "become the hinge 'C'" in text and "loop at C: closed to" in text
    assert m.imported.as_dict()["gaps"]["C"] < 1e-15


def test_one_warning_says_what_counts(tmp_path: Path) -> None:
    """Missing meshes, masses and couplings that are left out warn once, at the caller's line; inferences do not."""
    path = tmp_path / "r.urdf"
    path.write_text('<robot name="r"><link name="base"><visual><geometry><mesh filename="gone.stl"/></geometry></visual></link>'
                    '<link name="a"/><link name="b"/><joint name="A" type="continuous"><parent link="base"/><child link="a"/></joint>'
                    '<joint name="B" type="floating"><parent link="a"/><child link="b"/><mimic joint="A"/></joint></robot>')  # fmt: skip
    with pytest.warns(lw.exchange.ImportedModelWarning) as said:
        m = lw.load(path)
    assert len(said) == 1 and said[0].filename == __file__
    text = str(said[0].message)
    assert text.startswith(f"{path}: 1 mesh is not shown, there is no such file: gone.stl of base; no link has a mass")
    assert text.endswith("left out: mimic of 'B' from 'A': free and revolute joints are not coupled.")
    assert said[0].message.warnings[:2] == m.imported.notes and m.imported.moving[0] in m.imported.dropped
    assert m.imported.inferred and not any(x in text for x in m.imported.inferred)


def test_a_planar_loop_in_space_shows_no_slider(tmp_path: Path) -> None:
    """The floating bearing that closes it is no slider as long as it does not slide."""
    m = lw.load(written(tmp_path, "loop_joint"), drives=["A"])
    assert m.description.joint("C").type == "floating_bearing"
    assert m.info().strokes == () and "stroke" not in str(m.info())


def test_loops_that_cannot_close_name_their_line(tmp_path: Path) -> None:
    """A rocker of 5 m does not meet the coupler: the message has the line, the gap at best and that of the file's pose."""
    path = tmp_path / "r.urdf"
    text = robot(DIALECTS["loop"])
    rocker = text.index('<successor link="rocker"><origin xyz="')
    path.write_text(text[:rocker] + '<successor link="rocker"><origin xyz="5 0 0"/></successor><axis xyz="0 0 1"/></loop></robot>')
    line = 1 + text[: text.index("<loop")].count("\n")
    said = rf"r\.urdf: 'fourbar' cannot be assembled: the closing 'C' of .*r\.urdf:{line} stays open by"
    with pytest.raises(lw.errors.AssemblyError, match=said):
        lw.load(path).info()
