"""Joints of SDF beyond hinges: screws, gearboxes, mimics, universals, springs; frames and models that float or do not move."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.exchange.import_report import ImportedModelWarning
from tests.refusals import refused
from tests.rings.exchange.reading.sdf.models import FREE_ROCKER, LINKS, WORLD, joint, link, sdf


def loaded(tmp_path: Path, text: str, **options: object) -> lw.Mechanism:
    (tmp_path / "m.sdf").write_text(text)
    return lw.load(tmp_path / "m.sdf", **options)


BODY = link("a", ">0 0 0 0 0 0", 1.0, 0.1, 0)


@pytest.mark.parametrize(
    ("pitch", "travel"),
    [("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02), ("<thread_pitch>-100</thread_pitch>", 2.0 * math.pi / 100.0)],
)
def test_screws(tmp_path: Path, pitch: str, travel: float) -> None:
    """Travel per turn, right-handed; the older thread_pitch counts radians per meter of a left-handed thread."""
    m = loaded(tmp_path, sdf(BODY + joint("s", "world", "a", pitch, "<xyz>1 0 0</xyz>", "screw")))
    s = m.system
    turn = s.assemble(q={"s": 2.0 * math.pi})
    assert s.pose(turn, "a").p == pytest.approx([travel, 0.0, 0.0], abs=1e-15)


def test_gearboxes_and_mimics_are_couplings(tmp_path: Path) -> None:
    wheels = BODY + link("b", ">0.5 0 0 0 0 0", 1.0, 0, 0)
    hinges = joint("ja", "world", "a") + joint("jb", "world", "b")
    gearbox = (
        '<joint name="g" type="gearbox"><parent>a</parent><child>b</child><gearbox_ratio>3</gearbox_ratio>'
        "<gearbox_reference_body>world</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis></joint>"
    )
    s = loaded(tmp_path, sdf(wheels + hinges + gearbox)).system
    assert s.mobility.freedoms == 1 and s.assemble(q={"ja": 0.2})["jb"] == pytest.approx(-0.6, abs=1e-14)
    mimic = '<xyz>0 0 1</xyz><mimic joint="ja"><multiplier>2</multiplier><offset>0.1</offset><reference>0.05</reference></mimic>'
    m = loaded(tmp_path, sdf(wheels + joint("ja", "world", "a") + joint("jb", "world", "b", axis=mimic), "1.11"))
    assert m.system.assemble(q={"ja": 0.2})["jb"] == pytest.approx(2.0 * (0.2 - 0.05) + 0.1, abs=1e-14)
    assert [d.joint for d in m.description.drives] == ["ja"]


def test_mimics_of_one_axis_of_two(tmp_path: Path) -> None:
    """A hinge that follows the second of two axes, at a right angle or not."""
    for second, kind in (("0 1 0", "universal"), ("1 1 0", "revolute2")):
        axes = f"<axis><xyz>1 0 0</xyz></axis><axis2><xyz>{second}</xyz></axis2>"
        two = f'<joint name="u" type="{kind}"><parent>world</parent><child>a</child>{axes}</joint>'
        mimic = '<xyz>0 0 1</xyz><mimic joint="u" axis="axis2"><multiplier>2</multiplier></mimic>'
        s = loaded(tmp_path, sdf(BODY + link("b", ">0.5 0 0 0 0 0", 1.0, 0, 0) + two + joint("j", "world", "b", axis=mimic))).system
        assert s.mobility.freedoms == 2 and s.assemble(q={"u_2": 0.2})["j"] == pytest.approx(0.4, abs=1e-14)
    with refused(lw.LinkwrightError, line=5):
        loaded(tmp_path, sdf(BODY + joint("j", "world", "a", axis='<xyz>0 0 1</xyz><mimic joint="a"/>')))


def test_two_axes(tmp_path: Path) -> None:
    """The first axis is the parent's, the second the child's: R = R1 R2, at a right angle or not."""
    for second in ("0 1 0", "1 1 0"):
        axes = f"<xyz>1 0 0</xyz></axis><axis2><xyz>{second}</xyz></axis2><axis>".removesuffix("<axis>")
        text = (
            f'<joint name="u" type="{"universal" if second == "0 1 0" else "revolute2"}"><parent>world</parent><child>a</child><axis>{axes}'
        )
        s = loaded(tmp_path, sdf(BODY + text + "</joint>")).system
        assert s.mobility.freedoms == 2
        names = ("u.angle1", "u.angle2") if second == "0 1 0" else ("u_1", "u_2")
        st = s.assemble(q=dict(zip(names, (0.3, 0.5), strict=True)))
        b = np.array([float(x) for x in second.split()])
        R = _rotation(np.array([1.0, 0.0, 0.0]), 0.3) @ _rotation(b / np.linalg.norm(b), 0.5)
        np.testing.assert_allclose(s.pose(st, "a").R, R, atol=1e-15)


def _rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K


def test_springs_damping_and_the_effort_of_a_joint(tmp_path: Path) -> None:
    spring = "<spring_stiffness>2</spring_stiffness><spring_reference>0.3</spring_reference>"
    dynamics = f"<xyz>0 0 1</xyz><dynamics><damping>0.5</damping>{spring}</dynamics>"
    s = loaded(tmp_path, sdf(BODY + joint("j", "world", "a", axis=dynamics))).system
    st = s.assemble(q={"j": 0.1}, v={"j": 0.4})
    inertia = 0.002 + 1.0 * 0.1**2
    assert s.forward(st).a[0] == pytest.approx((-2.0 * (0.1 - 0.3) - 0.5 * 0.4) / inertia, rel=1e-14)


def test_dampers_springs_and_limits_of_two_axes(tmp_path: Path) -> None:
    """Each axis of a universal joint has its own: at zero the axes are independent, with inertias about x and y."""
    first, second = (
        f"<xyz>{xyz}</xyz><limit><lower>-1</lower><upper>{end}</upper><effort>3</effort></limit>"
        f"<dynamics><damping>{c}</damping><spring_stiffness>{k}</spring_stiffness></dynamics>"
        for xyz, end, c, k in (("1 0 0", 1e16, 0.5, 2.0), ("0 1 0", 2, 0.25, 3.0))
    )
    text = f'<joint name="u" type="universal"><parent>world</parent><child>a</child><axis>{first}</axis><axis2>{second}</axis2></joint>'
    m = loaded(tmp_path, sdf(link("a", ">0 0 0 0 0 0", 1.0, 0, 0) + text), gravity=[0, 0, 0])
    s = m.system
    st = s.assemble(q={"u.angle1": 0.0, "u.angle2": 0.0}, v={"u.angle1": 0.1, "u.angle2": 0.2})
    np.testing.assert_allclose(s.forward(st).a, [-0.5 * 0.1 / 0.001, -0.25 * 0.2 / 0.001], rtol=1e-12)
    ends = {x.joint: (x.lower, x.upper, x.stiffness) for x in m.description.stops}
    assert ends == {"u.angle1": (-1.0, None, None), "u.angle2": (-1.0, 2.0, None)}


def test_models_that_float_or_do_not_move(tmp_path: Path) -> None:
    m = loaded(tmp_path, sdf(FREE_ROCKER))
    assert m.system.mobility.freedoms == 2 + 6 and m.description.joint("base").second == "rocker"
    inertial = "<inertial><mass>2</mass></inertial>"
    stone = f'<model name="stone"><pose>0 0 3 0 0 0</pose><link name="a">{inertial}</link></model>'
    floor = f'<model name="floor"><static>true</static><link name="slab"><pose>0 0 1 0 0 0</pose>{inertial}</link></model>'
    m = loaded(tmp_path, WORLD.format(stone + floor))
    assert [b.name for b in m.description.bodies] == ["ground", "stone::a"] and m.description.gravity == (0.0, -9.81, 0.0)
    assert m.description.bodies[0].points[0].name == "floor::slab" and m.system.mobility.freedoms == 6
    assert m.system.pose(m.system.start, "stone::a").p.tolist() == [0.0, 0.0, 3.0]
    assert m.imported is not None and "1 light" in m.imported.dropped
    one = loaded(tmp_path, WORLD.format(stone + floor), only="stone")
    assert [b.name for b in one.description.bodies] == ["ground", "a"]


def test_a_placement_frame_is_where_the_pose_says(tmp_path: Path) -> None:
    inner = link("a", ">1 0 0 0 0 0", 1.0, 0, 0) + '<frame name="tip" attached_to="a"><pose>0 2 0 0 0 1.5707963267948966</pose></frame>'
    outer = f'<model name="arm" placement_frame="tip"><pose>5 5 5 0 0 0</pose>{inner}</model>' + LINKS
    m = loaded(tmp_path, sdf(outer))
    s = m.system
    np.testing.assert_allclose(s.point(s.start, "arm::a.arm::tip"), [5.0, 5.0, 5.0], atol=1e-14)
    np.testing.assert_allclose(s.pose(s.start, "arm::a").p, [3.0, 5.0, 5.0], atol=1e-14)  # 2 m along y of a frame turned by -90 deg


FRAMES = '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame><link name="l"/>'
HINGE = '<link name="l"/><joint name="j" type="revolute"><parent>world</parent><child>l</child>'
BAD = {
    '<model name="a"><link name="l"><pose relative_to="m">0 0 0 0 0 0</pose></link></model>': "there is no frame 'm'",
    FRAMES: "depends on itself: f -> g -> f",
    '<frame name="f" attached_to="f"/><link name="l"/>': "attached to itself",
    '<link name="l"><pose>0 0 0</pose></link>': "pose needs 6 numbers",
    '<link name="l"/><joint name="j" type="revolute"><parent>l</parent><child>world</child></joint>': "the world cannot be the child",
    '<link name="l"/><joint name="j" type="revolute"><parent>k</parent><child>l</child></joint>': "there is no frame 'k'",
    '<link name="l"/><joint name="j" type="hinge"><parent>world</parent><child>l</child></joint>': "type is 'hinge'",
    '<link name="l"/><link name="l"/>': "Names of links, joints, frames and models are unique",
    '<link name="l"><inertial><mass>-1</mass></inertial></link>': "Mass is zero or more",
    f"{HINGE}<axis><xyz>0 0 0</xyz></axis></joint>": "axis is zero",
    '<joint name="j" type="ball"><parent>world</parent><child>l</child></joint>': "there is no frame 'l'",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=BAD.values())
def test_mistakes_have_one_message_with_a_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=rf"m\.sdf:4: .*{BAD[text]}"):
        loaded(tmp_path, sdf(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<sdf/>", "needs an attribute version"),
        ('<sdf version="1.4"><model name="m"/></sdf>', "SDF 1.4 is not read"),
        ('<sdf version="new"><model name="m"/></sdf>', "written as 1.9"),
        ('<sdf version="1.9"/>', "no <model>"),
        ('<sdf version="1.9"><world name="a"/><world name="b"/></sdf>', "second <world>"),
    ],
)
def test_files_that_are_no_model(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=why):
        loaded(tmp_path, text)


def test_a_joint_that_repeats_another_is_left_out(tmp_path: Path) -> None:
    """Two hinges on one axis say the same: the mechanism is that of one, and a follower of the second follows the first."""
    axis = "<axis><xyz>0 1 0</xyz>{}</axis></joint>"
    hinge = '<joint name="{}" type="{}"><parent>world</parent><child>a</child>' + axis
    (tmp_path / "m.sdf").write_text(
        '<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/>\n'
        + hinge.format("A", "continuous", "") + "\n" + hinge.format("again", "revolute", "")
        + '<joint name="B" type="revolute"><parent>a</parent><child>b</child>'
        + axis.format('<mimic joint="again"><multiplier>2</multiplier></mimic>') + "</model></sdf>"
    )  # fmt: skip
    with pytest.warns(lw.exchange.ImportedModelWarning, match=r"left out: .*m.sdf:3: joint 'again', which joins 'ground' and 'a'"):
        m = lw.load(tmp_path / "m.sdf")
    assert [j.name for j in m.description.joints] == ["A", "B"] and m.system.mobility.freedoms == 1
    assert m.description.couplings[0].first == "A"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ('<visual name="v"><geometry><sphere><radius>0.1"</radius></sphere></geometry></visual>', "is not a number"),
        ('<visual name="v"><pose relative_to="nobody"/><geometry><sphere><radius>1</radius></sphere></geometry></visual>', "nobody"),
        ('<visual name="v"><geometry><sphere><radios>1</radios></sphere></geometry></visual>', "Did you mean <radius>"),
    ],
)
def test_a_fault_in_a_picture_costs_the_picture(tmp_path: Path, wrong: str, words: str) -> None:
    body = BODY.replace("</link>", f"{wrong}</link>")
    assert body != BODY
    with pytest.warns(ImportedModelWarning, match=f"{words}.*this <visual> is not drawn"):
        m = loaded(tmp_path, sdf(body + joint("j", "world", "a")))
    assert m.system.mobility.freedoms == 1 and not m.description.body("a").visuals
