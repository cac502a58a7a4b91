"""Mistakes and malice in URDF files: one message with file and line, no traceback, no other file, in little time."""

from __future__ import annotations

import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.numerics.memory_and_threads import all_in_use
from linkwright.rings.exchange.import_report import ImportedModelWarning
from tests.rings.exchange.reading.urdf.robots import CLOSURE_FILES, LOOP_FILE, frame, joint, link, robot, tree

TWO = '<link name="a"/>\n<link name="b"/>\n'
ONE = TWO + joint("j", "a", "b", "0 0 0")
LOOP = '<loop name="C" type="revolute"><predecessor link="{}"/><successor link="{}"/></loop>\n'

WRONG = {
    "no links": ("", r":2: .*has no links"),
    "no name": ("<link/>", r':3: <link>: it needs an attribute name="..."'),
    "same name": (ONE + '<link name="b"/>', r":6: .*second link of this name"),
    "two roots": (TWO, r":2: .*falls apart: a, b are the child of no joint"),
    "circle": (ONE + joint("k", "b", "a", "0 0 0"), r":2: .*every link is the child of a joint"),
    "own parent": (ONE + joint("k", "b", "b", "0 0 0"), r":6: .*link 'b' is its own parent"),
    "no such link": (TWO + joint("j", "a", "c", "0 0 0"), r":5: .*there is no link 'c'.*Links: a, b"),
    "no parent": (TWO + '<joint name="j" type="fixed"><child link="b"/></joint>', r":5: .*needs an element <parent>"),
    "no type": (TWO + '<joint name="j"><parent link="a"/><child link="b"/></joint>', r':5: .*needs an attribute type="..."'),
    "wrong type": (TWO + joint("j", "a", "b", "0 0 0", kind="hinge"), r":5: .*type is 'hinge'.*Allowed: revolute"),
    "words": (TWO + joint("j", "a", "b", "0 zero 0"), r":5: <origin>: xyz: 'zero' is not a number"),
    "nan": (TWO + joint("j", "a", "b", "0 nan 0"), r":5: <origin>: xyz: 'nan' is not a number. Numbers must be finite"),
    "huge": (TWO + joint("j", "a", "b", "0 1e300 0"), r":5: <origin>: xyz: 1e300 is larger than any machine"),
    "two numbers": (TWO + joint("j", "a", "b", "0 0"), r":5: <origin>: xyz needs 3 numbers"),
    "zero axis": (ONE.replace('xyz="0 0 1"', 'xyz="0 0 0"'), r":5: <axis>: the axis is zero"),
    "two axes": (ONE.replace("<axis", '<axis xyz="1 0 0"/><axis'), r":5: <axis>: a second <axis>"),
    "negative mass": (ONE.replace('<link name="b"/>', link("b", -1, 0, 0).strip()), r":4: .*Mass is zero or more"),
    "no mass": (ONE.replace('<link name="b"/>', '<link name="b"><inertial/></link>'), r":4: <inertial>: it needs an element <mass>"),
    "negative damping": (TWO + joint("j", "a", "b", "0 0 0", '<dynamics damping="-1"/>'), r":5: <dynamics>: damping is -1"),
    "loop of nothing": (tree() + LOOP.format("rocker", "gone"), r":10: <loop name='C'>: there is no link 'gone'"),
    "loop of one": (tree() + LOOP.format("rocker", "rocker"), r":10: .*connects link 'rocker' with itself"),
    "loop without sides": (tree() + '<loop name="C" type="revolute"/>', r":10: .*needs an element <predecessor>"),
    "loop_joint of one side": (tree() + '<loop_joint name="C" type="fixed"><link1 link="rocker"/></loop_joint>', r":10: .*not 1 such"),
    "floating loop": (tree() + LOOP.format("rocker", "crank").replace("revolute", "floating"), r":10: .*type is 'floating'"),
    "coupling of nothing": (
        tree() + '<coupling name="g"><predecessor link="ground"/><successor link="crank"/><ratio value="2"/></coupling>',
        r":10: .*no joint moves 'ground'",
    ),
    "two parents, fixed": (tree() + joint("C", "coupler", "rocker", "0 0 0", kind="fixed"), r":10: .*fixed joint closes no loop"),
    "xacro": ('<xacro:property name="x" value="1"/>' + ONE, r":3: .*this is xacro, not URDF yet"),
    "xacro value": (ONE.replace("0 0 0", "${x} 0 0"), r":5: .*this is xacro"),
    "marked axis elsewhere": (
        tree()
        + frame("closing_C_1", "coupler", "0 0 0")
        + frame("closing_C_1_z", "rocker", "0 0 1")
        + frame("closing_C_2", "rocker", "0 0 0")
        + frame("closing_C_2_z", "rocker", "0 0 1"),
        r":13: .*are fixed to different links",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_have_one_message_with_a_line(tmp_path: Path, name: str) -> None:
    text, message = WRONG[name]
    path = tmp_path / "r.urdf"
    path.write_text(robot(text))
    with pytest.raises(lw.LinkwrightError) as problem:
        lw.load(path)
    assert re.search(message, str(problem.value)), str(problem.value)
    assert "\n" not in str(problem.value) and "r.urdf" in str(problem.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOOP_FILE.replace("'3d'", "'4d'"), r"r\.yaml:1: type of a closed loop is 3d .* not '4d'"),
        (LOOP_FILE.replace("closedloop1_B", "gone"), r"r\.yaml:1: closed_loop: there is no frame 'gone'"),
        (LOOP_FILE.replace("joint_type: []", "joint_type: ['FIXED']"), r"r\.yaml:1: joint_name has 0 entries and joint_type 1"),
        (
            LOOP_FILE.replace("joint_name: []\njoint_type: []", "joint_name: ['D']\njoint_type: ['BALL']"),
            r"r\.yaml:4: .*'BALL' is not known",
        ),
        ("closed_loop: [", r"r\.yaml:\d: this is not YAML"),
        ("closed_loop: 3", r"r\.yaml:1: closed_loop must be a list"),
        ("closed_loop: [[a]]", r"r\.yaml:1: closed_loop must have 2 entries"),
    ],
)
def test_mistakes_in_the_file_of_loops(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(tree() + frame("closedloop1_A", "coupler", "0.7 0.3 0") + frame("closedloop1_B", "rocker", "-0.1 0.6 0")))
    path.with_suffix(".yaml").write_text(text)
    with pytest.raises(lw.LinkwrightError, match=message):
        lw.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("point: [0.7, 0.6, 0.0]", "point: [0.7, 0.6]"), r"loop_closures\.yaml:4: point must have 3 entries, not 2"),
        (("point: [0.7, 0.6, 0.0]", "point: [0.7, far, 0.0]"), r"loop_closures\.yaml:4: point has three plain numbers, not 'far'"),
        (("axis: [0, 0, 2]", "axis: [0, 0, 0]"), r"loop_closures\.yaml:5: axis is a direction, not zero"),
        (("  axis: [0, 0, 2]\n", ""), r"loop_closures\.yaml:2: a closure lacks 'axis'"),
        (("link_b: rocker", "link_b: gone"), r"loop_closures\.yaml:3: loop_closures: there is no link 'gone'"),
        (("link_b: rocker", "link_b: coupler"), r"loop_closures\.yaml:2: an entry of closures joins 'coupler' with itself"),
        (("link_b: rocker", "link: rocker"), r"loop_closures\.yaml:2: an entry of closures lacks 'link_b'"),
        (("closures:", "closures: 3\nmore:"), r"loop_closures\.yaml:1: closures must be a list"),
    ],
)
def test_mistakes_in_a_file_of_closures(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(tree()))
    path.with_name("loop_closures.yaml").write_text(CLOSURE_FILES["closures of sw2robot"].replace(*change))
    with pytest.raises(lw.LinkwrightError, match=message):
        lw.load(path)


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_a_file_of_loops_of_another_robot_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(tree()))
    path.with_suffix(".yaml").write_text(LOOP_FILE)
    m = lw.load(path)
    assert m.imported is not None and any("r.yaml:1: the YAML file next to it names no frame" in x for x in m.imported.notes)


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
@all_in_use()  # what other tests hold is not collected meanwhile: the processor time is that of reading
def test_hostile_files_cost_little(tmp_path: Path) -> None:
    """Each is refused in a second of processor time: entities, depth, sizes; nothing outside is opened."""
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    secret = tmp_path / "secret"
    secret.write_text("private")
    path = tmp_path / "inner" / "r.urdf"
    path.parent.mkdir()
    texts = {
        f'<?xml version="1.0"?>{bomb}<robot name="&b;"/>': "document type",
        f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]><robot><link name="&x;"/></robot>': "document type",
        "<robot>" * 5000: "100 deep",
        "<robot>" + "<link/>" * 250_000 + "</robot>": "200000 elements",
    }
    for text, message in texts.items():
        path.write_text(text)
        began = time.thread_time()
        with pytest.raises(lw.LinkwrightError, match=message):
            lw.load(path)
        assert time.thread_time() - began < 1.0
    path.write_text(
        robot(
            TWO.replace('<link name="b"/>', '<link name="b"><visual><geometry><mesh filename="../secret"/></geometry></visual></link>')
            + joint("j", "a", "b", "0 0 0")
        )
    )
    m = lw.load(path)
    assert m.imported is not None and any("outside the folders that may be read" in x for x in m.imported.notes)
    assert not m.description.body("b").visuals


def test_long_chains_are_read(tmp_path: Path) -> None:
    """A chain of 400 links, written from its end: no recursion, in seconds."""
    n = 400
    links = "".join(link(f"l{i}", 1.0, 0.1, 0.0) for i in range(n))
    joints = "".join(joint(f"j{i}", f"l{i - 1}", f"l{i}", "0.1 0 0") for i in range(n - 1, 0, -1))
    (tmp_path / "r.urdf").write_text(robot(links + joints))
    d = lw.load(tmp_path / "r.urdf").description
    assert len(d.joints) == n - 1 and d.body(f"l{n - 1}").start.at[0] == pytest.approx(0.1 * (n - 1))


SHAPE = '<visual>{}<geometry><sphere radius="{}"/></geometry></visual>'
PICTURES = {
    "a stray quote": (SHAPE.format("", "0.1&quot;"), "is not a number"),
    "a misspelled attribute": (SHAPE.format("", "0.1").replace("radius", "radus"), "Did you mean radius"),
    "a place of two numbers": (SHAPE.format('<origin xyz="0 0"/>', "0.1"), "xyz needs 3 numbers"),
    "a color in words": (SHAPE.format('<material name="m"><color rgba="red"/></material>', "0.1"), "rgba needs 4 numbers"),
    "two shapes' places": (SHAPE.format("<origin/><origin/>", "0.1"), "a second <origin>"),
}


@pytest.mark.parametrize("case", PICTURES)
def test_a_fault_in_a_picture_costs_the_picture(case: str, tmp_path: Path) -> None:
    """The robot is read, its other shapes are drawn, and the warning has the line."""
    wrong, words = PICTURES[case]
    both = f'<link name="b">{wrong}\n{SHAPE.format("", "0.2")}</link>'
    (tmp_path / "r.urdf").write_text(robot(ONE.replace('<link name="b"/>', both)))
    with pytest.warns(ImportedModelWarning, match=rf"line 4: .*{words}.*this <visual> is not drawn"):
        m = lw.load(tmp_path / "r.urdf")
    assert [v.size[0] for v in m.description.body("b").visuals] == [0.2]
    assert m.system.mobility.freedoms == 1


def test_a_fault_in_a_material_costs_the_color(tmp_path: Path) -> None:
    wrong = '<material name="m"><color rgba="1 0"/></material>' + ONE.replace(
        '<link name="b"/>', '<link name="b">' + SHAPE.format('<material name="m"/>', "0.2") + "</link>"
    )
    (tmp_path / "r.urdf").write_text(robot(wrong))
    with pytest.warns(ImportedModelWarning, match="rgba needs 4 numbers"):
        m = lw.load(tmp_path / "r.urdf")
    assert [v.color for v in m.description.body("b").visuals] == [""]


@pytest.mark.parametrize(
    ("moments", "turned", "words"),
    [
        ((1e-3, 1e-3, 1e-2), "", "the largest exceeds the sum of the other two"),
        ((1e-3, 1e-3, 1e-2), 'rpy="0.3 0.2 0.1"', "the largest exceeds the sum of the other two"),
        ((1e-3, 1e-3, 2e-3), "", ""),  # a thin plate: the limit itself
    ],
)
def test_inertias_that_no_body_can_have(moments: tuple[float, ...], turned: str, words: str, tmp_path: Path) -> None:
    """Moments that break the triangle inequality: reported with the numbers, and kept as the file has them."""
    x, y, z = moments
    tensor = f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/>'
    heavy = f'<link name="b"><inertial><origin {turned}/><mass value="1"/>{tensor}</inertial></link>'
    (tmp_path / "r.urdf").write_text(robot(ONE.replace('<link name="b"/>', heavy)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m = lw.load(tmp_path / "r.urdf")
    assert bool(said) == bool(words) and all(words in str(w.message) for w in said)
    assert np.linalg.eigvalsh(np.array(m.description.body("b").inertia)) == pytest.approx(sorted(moments), rel=1e-12)
