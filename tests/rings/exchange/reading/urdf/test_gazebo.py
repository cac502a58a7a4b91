"""Contents of <gazebo>: joints that close loops (test_dialects.py compares them), springs, joints that follow others, parts left out."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.exchange.import_report import ImportedModelWarning
from tests.refusals import refused
from tests.rings.exchange.reading.urdf.robots import DIALECTS, joint, link, robot, tree


def loaded(tmp_path: Path, body: str, **options: object) -> lw.Mechanism:
    path = tmp_path / "robot.urdf"
    path.write_text(robot(body))
    return lw.load(path, **options)


def test_a_weld_of_gazebo_joins_two_halves(tmp_path: Path) -> None:
    """The coupler cut in two at (0.3, 0.1) of its frame, as Gazebo's own tutorial does: one degree of freedom, one coupler."""
    half = link("half", 0.4, -0.2, -0.1)
    weld = "<gazebo><joint name='E' type='fixed'><parent>coupler</parent><child>half</child></joint></gazebo>"
    m = loaded(tmp_path, tree() + half + joint("C", "rocker", "half", "-0.1 0.6 0") + weld)
    assert m.system.mobility.freedoms == 1 and len(m.description.bodies) == 4 and not m.description.drives
    assert m.imported is not None and "joint 'E': closes a loop, as in <gazebo>" in m.imported.inferred
    assert dict(m.imported.gaps) == pytest.approx({"E": 0.0}, abs=1e-15)


def test_a_joint_to_the_world_closes_a_loop(tmp_path: Path) -> None:
    """The rocker's own pin as Gazebo's joint: a chain A, B, C that ends at D; fixed, and with a root link that floats."""
    chain = tree().replace(joint("D", "ground", "rocker", "0.8 0 0"), joint("C", "coupler", "rocker", "0.8 -0.3 0"))
    pin = (
        "<gazebo><joint name='D' type='revolute'><parent>world</parent><child>rocker</child><axis><xyz>0 0 1</xyz></axis></joint></gazebo>"
    )
    assert loaded(tmp_path, chain + pin).system.mobility.freedoms == 1
    heavy = chain.replace('<link name="ground"/>\n', link("ground", 1.0, 0.4, 0.0))
    assert loaded(tmp_path, heavy + pin, base="free").system.mobility.freedoms == 4  # an open chain on the four hinges D, C, B, A


def test_springs_and_mimics_of_programs(tmp_path: Path) -> None:
    """Springs of a joint; ros2_control and plugins tie joints as <mimic> does, which comes first."""
    spring = "<gazebo reference='B'><springStiffness>3.5</springStiffness><springReference>0.2</springReference></gazebo>"
    control = (
        "<ros2_control name='r' type='system'><joint name='A'><command_interface name='effort'/></joint>"
        "<joint name='B'><param name='mimic'>A</param><param name='multiplier'>-2</param></joint></ros2_control>"
    )
    plugin = (
        "<gazebo><plugin name='m' filename='libmimic.so'><joint>A</joint><mimicJoint>{}</mimicJoint><multiplier>3</multiplier>"
        "<offset>0.1</offset></plugin><plugin filename='libother.so'/></gazebo>"
    )
    m = loaded(tmp_path, tree() + spring + control + plugin.format("D") + plugin.format("B"))
    (s,) = m.description.springs
    assert (s.joint, s.stiffness, s.free_position) == ("B", 3.5, 0.2)
    assert [(c.first, c.second, c.ratio, c.offset) for c in m.description.couplings] == [("A", "B", -2.0, 0.0), ("A", "D", 3.0, 0.1)]
    assert [d.joint for d in m.description.drives] == ["A"] and m.system.mobility.freedoms == 1
    assert m.imported is not None and m.imported.dropped == ("2 Gazebo plugins: libother.so",)


def test_other_plugins_may_name_several_joints(tmp_path: Path) -> None:
    harness = "<gazebo><plugin filename='libharness.so'><joint name='s'/><joint name='t'/></plugin></gazebo>"
    m = loaded(tmp_path, tree() + harness)
    assert m.imported is not None and m.imported.dropped == ("1 Gazebo plugin: libharness.so",)
    two = "<gazebo><plugin filename='m.so'><joint>A</joint><joint>B</joint><mimicJoint>D</mimicJoint></plugin></gazebo>"
    with refused(lw.ModelError, line=10):
        loaded(tmp_path, tree() + two)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("<gazebo reference='b'><springStiffness>3</springStiffness></gazebo>", "spring of 'b', which is not a joint with one coordinate"),
        ("<gazebo reference='crank'><joint name='E' type='fixed'/></gazebo>", "<joint name='E'> in <gazebo>, which is not read"),
    ],
)
def test_springs_and_joints_without_a_place_are_listed(tmp_path: Path, block: str, said: str) -> None:
    with pytest.warns(ImportedModelWarning, match=said):
        m = loaded(tmp_path, tree() + block)
    assert m.imported is not None and any(said in x for x in m.imported.dropped) and not m.description.springs


def test_parts_that_gazebo_alone_has_are_warned_of(tmp_path: Path) -> None:
    with pytest.warns(ImportedModelWarning, match=r"<link name='tray'> in <gazebo>, which is not read"):
        loaded(tmp_path, tree() + "<gazebo><link name='tray'/></gazebo>")
    with refused(lw.ModelError, name="coupler2", line=10):
        loaded(tmp_path, DIALECTS["gazebo"].replace("<parent>coupler<", "<parent>coupler2<"))
    with refused(lw.ModelError, line=10):
        loaded(tmp_path, DIALECTS["gazebo"].replace("<axis>", "<axsi>").replace("</axis></joint></gazebo>", "</axsi></joint></gazebo>"))
