"""Misspelled tags and attributes are errors with their line; unknown ones are left out and listed."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.exchange.reading.tags import misspelled
from tests.rings.exchange.reading.urdf.robots import DIALECTS, robot

SDF = """<sdf version="1.9"><model name="m">
<link name="a"><pose>0 0 1 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child>
<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize("name, meant", [
    ("axsi", "axis"), ("loopp", "loop"), ("intertial", "inertial"), ("psoe", "pose"), ("lnk", "link"), ("Joint", "joint"),
    ("axis", ""), ("gazebo", ""), ("light", ""), ("constrain", "constraint"),
])  # fmt: skip
def test_guesses(name: str, meant: str) -> None:
    assert misspelled(name, ("axis", "loop", "inertial", "pose", "link", "joint", "constraint")) == meant


@pytest.mark.parametrize("right, wrong, message", [
    ("<axis ", "<axsi ", "<axsi>: there is no such element in <joint>. Did you mean <axis>?"),
    ("<loop ", "<loopp ", "<loopp name='C'>: there is no such element in <robot>. Did you mean <loop>?"),
    ("inertial>", "intertial>", "<intertial>: there is no such element in <link>. Did you mean <inertial>?"),
    ("<axis xyz", "<axis xzy", "<axis>: there is no attribute xzy. Did you mean xyz?"),
])  # fmt: skip
def test_a_misspelled_tag_of_urdf_is_an_error(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    text = robot(DIALECTS["loop"])
    assert right in text
    text = text.replace("</loop>", "</loopp>") if "loopp" in wrong else text
    path = tmp_path / "r.urdf"
    path.write_text(text.replace(right, wrong))
    line = 1 + text[: text.index(right)].count("\n")
    with pytest.raises(lw.errors.ModelError) as problem:
        lw.load(path)
    assert str(problem.value) == f"{path}:{line}: {message}"


@pytest.mark.parametrize("right, wrong, line, meant", [
    ("axis>", "axsi>", 4, "axis"), ("pose>", "psoe>", 2, "pose"), ("link", "lnk", 2, "link"), ("lower>", "lwoer>", 4, "lower"),
    ("mass>", "mas>", 2, "mass"),
])  # fmt: skip
def test_a_misspelled_tag_of_sdf_is_an_error(tmp_path: Path, right: str, wrong: str, line: int, meant: str) -> None:
    (tmp_path / "m.sdf").write_text(SDF.replace(right, wrong))
    with pytest.raises(lw.errors.ModelError, match=rf"m\.sdf:{line}: .*Did you mean <{meant}>\?"):
        lw.load(tmp_path / "m.sdf")


def test_other_tags_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(DIALECTS["loop"] + "\n<gazebo><mu1>1</mu1></gazebo><gazebo><mu2>1</mu2></gazebo>\n<pressure/>"))
    text = path.read_text()
    line = 1 + text[: text.index("<gazebo>")].count("\n")
    dropped = lw.load(path).imported.dropped
    assert f"2 <gazebo> elements: {path}:{line}" in dropped and f"1 <pressure> element: {path}:{line + 1}" in dropped


def test_a_joint_of_sdf_without_an_axis_turns_about_z_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "m.sdf"
    path.write_text(SDF[: SDF.index("<axis>")] + "</joint></model></sdf>")
    with pytest.warns(lw.exchange.ImportedModelWarning, match="line 3: joint 'j' has no <axis>: SDF's default, z") as said:
        m = lw.load(path)
    assert m.system.pose(m.system.start, "a").R[2, 2] == 1.0
    assert said[0].filename == __file__ and len(said) == 1
    assert said[0].message.warnings == m.imported.notes
