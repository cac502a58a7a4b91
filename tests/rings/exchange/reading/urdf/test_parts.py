"""Links and joints of URDF: shapes, limits, friction, mimics, drives, spherical and other joints, masses that are missing or odd."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.description import Visual
from tests.refusals import refused
from tests.rings.exchange.reading.urdf.robots import INERTIA, frame, joint, link, robot


def loaded(tmp_path: Path, text: str, **options: object) -> lw.Mechanism:
    (tmp_path / "r.urdf").write_text(robot(text))
    return lw.load(tmp_path / "r.urdf", **options)


BASE = '<link name="base"/>\n'
ARM = BASE + link("arm", 2.0, 0.1, 0.0)
TRIANGLE = "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid t\n"


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_shapes(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_text(TRIANGLE)
    (tmp_path / "meshes" / "b.dae").write_text("<COLLADA/>")
    shapes = "".join(
        f'<visual><origin xyz="0 0 1"/><geometry>{x}</geometry><material name="{c}"/></visual>'
        for x, c in (
            ('<mesh filename="meshes/a.stl" scale="0.001 0.001 -0.001"/>', "red"),
            ('<mesh filename="package://gone/c.stl"/>', "red"),
            ('<mesh filename="meshes/b.dae"/>', "red"),
            ('<box size="1 2 3"/>', "none"),
            ('<cylinder radius="0.1" length="0.4"/>', "none"),
            ('<sphere radius="0"/>', "none"),
            ('<cone radius="1"/>', "none"),
        )
    )
    red = '<material name="red"><color rgba="1 0 0.5 1"/></material>'
    m = loaded(tmp_path, red + BASE + f'<link name="arm">{shapes}<collision/></link>' + joint("j", "base", "arm", "0 0 0"))
    found = m.description.body("arm").visuals
    assert [v.shape for v in found] == ["mesh", "box", "cylinder"] and found[0].placement.at == (0.0, 0.0, 1.0)
    assert found[0] == Visual("mesh", (0.001, 0.001, -0.001), found[0].placement, "meshes/a.stl", "#ff0080")
    assert found[1].size == (1.0, 2.0, 3.0) and found[2].size == (0.1, 0.4, 0.0)
    report = m.imported
    shapes = '1 collision shape (contacts="ground" reads those that can touch the ground)'
    assert report is not None and {shapes, "1 shape without a size"} <= set(report.dropped)
    assert any(x.startswith("1 <cone> shape: ") for x in report.dropped)
    assert any("no such file: package://gone/c.stl of arm" in x for x in report.notes)
    assert any("meshes/b.dae of arm" in x for x in report.notes)
    (tmp_path / "else").mkdir()
    again = lw.load(m.save(tmp_path / "else" / "r.yaml"))
    assert again.description.body("arm").visuals[0].file == "../meshes/a.stl" and not again.description.warnings


def test_fixed_links_weigh_together_and_stay_as_points(tmp_path: Path) -> None:
    """Two point masses with inertias: sums and Steiner's theorem by hand."""
    text = ARM + link("hand", 1.0, 0.0, 0.0) + joint("j", "base", "arm", "0 0 0") + joint("f", "arm", "hand", "0.4 0 0", kind="fixed")
    m = loaded(tmp_path, text + frame("tool", "hand", "0 0 0.2"))
    body = m.description.numbers().body("arm")
    assert body.mass == 3.0 and body.com == pytest.approx((0.2, 0.0, 0.0), abs=1e-16)
    steiner = 2.0 * 0.1**2 + 1.0 * 0.2**2
    assert [body.inertia[i][i] for i in range(3)] == pytest.approx([0.002, 0.002 + steiner, 0.004 + steiner], rel=1e-14)
    assert {p.name: p.at for p in body.points} == {"hand": (0.4, 0.0, 0.0), "tool": (0.4, 0.0, 0.2)}


def test_mimics_of_mimics_and_other_units(tmp_path: Path) -> None:
    text = BASE + "".join(link(x, 1.0, 0.1, 0.0) for x in "abc") + joint("ja", "base", "a", "0 0 0")
    text += joint("jb", "base", "b", "0 1 0", '<mimic joint="ja" multiplier="-2" offset="0.2"/>')
    text += joint("jc", "base", "c", "0 2 0", '<mimic joint="jb" multiplier="0.05"/>', kind="prismatic")
    m = loaded(tmp_path, text)
    s = m.system
    st = s.assemble(q={"ja": 0.3})
    assert s.mobility.freedoms == 1 and (st["jb"], st["jc"]) == pytest.approx((-0.4, -0.02), abs=1e-15)
    assert s.start["jb"] == pytest.approx(0.2) and [d.joint for d in m.description.drives] == ["ja"]
    with refused(lw.LinkwrightError, name="jc", line=9):
        loaded(tmp_path, text.replace('<axis xyz="0 0 1"/></joint>', '<axis xyz="0 0 1"/><mimic joint="jc"/></joint>', 1))


def test_damping_and_friction(tmp_path: Path) -> None:
    s = loaded(tmp_path, ARM + joint("j", "base", "arm", "0 0 0", '<dynamics damping="0.5" friction="0.2"/>')).system
    a = s.forward(s.assemble(q={"j": 0.0}, v={"j": 2.0})).a[0]
    inertia = 0.002 + 2.0 * 0.1**2
    assert a == pytest.approx(-(0.5 * 2.0 + 0.2) / inertia, rel=1e-12)  # far above the friction's speed


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_limits_are_rigid_stops(tmp_path: Path) -> None:
    limit = '<limit lower="{}" upper="{}" effort="5" velocity="2"/>'
    for text, ends, start in (
        (limit.format(-0.5, 1.0), (-0.5, 1.0), 0.0),
        (limit.format(0.5, 1.0), (0.5, 1.0), 0.5),  # zero is outside
        (limit.format(-1e31, 1.0), (None, 1.0), 0.0),
        (limit.format(0, 0), None, 0.0),
        (limit.format(2, 1), None, 0.0),
    ):
        m = loaded(tmp_path, ARM + joint("j", "base", "arm", "0 0 0", text, kind="revolute"), gravity=[0, -9.81, 0])
        stops = m.description.stops
        assert [(x.lower, x.upper, x.stiffness) for x in stops] == ([] if ends is None else [(*ends, None)])
        assert m.system.start["j"] == pytest.approx(start) and m.description.drives[0].limits == (-5.0, 5.0)
    falling = loaded(tmp_path, ARM + joint("j", "base", "arm", "0 0 0", limit.format(-0.5, 1.0), kind="revolute"), gravity=[0, -9.81, 0])
    run = falling.simulate(1.0, drive={})
    assert run["j"].min() == pytest.approx(-0.5, abs=1e-9) and run["j"][-1] == pytest.approx(-0.5, abs=1e-9)


def test_couplings_of_sums(tmp_path: Path) -> None:
    """URDF+: ratio times (j + k) is r, for a rotor on the base that turns with both joints of an arm."""
    text = ARM + link("hand", 1.0, 0.0, 0.0) + link("rotor", 0.1, 0.0, 0.0) + joint("j", "base", "arm", "0 0 0")
    text += joint("k", "arm", "hand", "0.4 0 0") + joint("r", "base", "rotor", "0 0 1")
    coupling = '<coupling name="g"><predecessor link="hand"/><successor link="rotor"/><ratio value="6"/></coupling>'
    s = loaded(tmp_path, text + coupling).system
    st = s.assemble(q={"j": 0.1, "k": 0.2})
    assert s.mobility.freedoms == 2 and st["r"] == pytest.approx(1.8, abs=1e-14)


def test_drives(tmp_path: Path) -> None:
    two = ARM + link("hand", 1.0, 0.0, 0.0) + joint("j", "base", "arm", "0 0 0") + joint("k", "arm", "hand", "0.4 0 0")
    rotor = '<drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="50"/>'
    for text, names in (
        ('<transmission name="t"><joint name="k"/><actuator name="m">' + rotor + "</actuator></transmission>", ["k"]),
        ('<ros2_control name="r"><joint name="j"><command_interface name="effort"/></joint><joint name="k"/></ros2_control>', ["j"]),
        ("", ["j", "k"]),
    ):
        m = loaded(tmp_path, two + text)
        assert [d.joint for d in m.description.drives] == names
        if "rotor" in text:
            assert m.description.joint("k").armature == pytest.approx(0.25)


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
@pytest.mark.parametrize("place", ["actuator", "joint"])
def test_gears(tmp_path: Path, place: str) -> None:
    """ROS writes the reduction in the actuator, in earlier files in the joint; empty and zero ones are none."""
    for text, gear in (("50", 50.0), ("-3.5", -3.5), (" ", 1.0), ("0", 1.0)):
        parts = {"joint": "", "actuator": "", place: f"<mechanicalReduction>{text}</mechanicalReduction>"}
        inside = f'<joint name="j">{parts["joint"]}</joint><actuator name="m">{parts["actuator"]}</actuator>'
        m = loaded(tmp_path, ARM + joint("j", "base", "arm", "0 0 0") + f'<transmission name="t">{inside}</transmission>')
        assert [d.gear_ratio for d in m.description.drives] == [gear]
        assert m.imported is not None and any("of zero" in x for x in m.imported.notes) == (text == "0")
    bodies = {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 1.0, "com": "A", "inertia": 0.5}}
    file, drive = tmp_path / "there.urdf", {"A": {"gear_ratio": 20, "limits": 3}}
    lw.load({"plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0]}, "bodies": bodies, "drive": drive}).export(file)
    again = lw.load(file).description.drives[0]
    assert (again.gear_ratio, again.limits) == (20.0, (-3.0, 3.0))


def test_other_joints(tmp_path: Path) -> None:
    """A ball, a universal (x then y), a screw with its lead in m per turn."""
    for kind, more, n in (
        ("ball", "", 3),
        ("universal", "", 2),
        ("screw", '<drake:screw_thread_pitch value="0.02"/>', 1),
        ("cylindrical", "", 2),
    ):
        text = ARM + joint("j", "base", "arm", "0 0 0.5", more, kind=kind).replace("<joint", "<drake:joint").replace(
            "</joint", "</drake:joint"
        )
        s = loaded(tmp_path, text).system
        assert s.mobility.freedoms == n
        if kind == "screw":
            assert s.pose(s.assemble(q={"j": 2.0 * math.pi}), "arm").p == pytest.approx([0.0, 0.0, 0.52], abs=1e-15)


def test_springs_of_drake(tmp_path: Path) -> None:
    tag = "drake:linear_spring_damper"
    values = (("p_AP", "0 1 0"), ("p_BQ", "0.3 0 0"), ("free_length", "0.5"), ("stiffness", "7"), ("damping", "0.3"))
    inner = f'<{tag}_body_A name="base"/><{tag}_body_B name="arm"/>' + "".join(f'<{tag}_{k} value="{v}"/>' for k, v in values)
    m = loaded(tmp_path, ARM + joint("j", "base", "arm", "0 0 0") + f"<{tag}>{inner}</{tag}>", gravity=[0, 0, 0])
    s = m.system
    a = s.forward(s.assemble(q={"j": 0.0})).a[0]
    length = math.hypot(0.3, 1.0)
    assert a == pytest.approx(7.0 * (length - 0.5) * 0.3 / length / (0.002 + 0.02), rel=1e-13)


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_links_without_masses(tmp_path: Path) -> None:
    text = ARM + '<link name="tip"/>\n' + joint("j", "base", "arm", "0 0 0") + joint("k", "arm", "tip", "0.4 0 0")
    m = loaded(tmp_path, text)
    assert m.imported is not None and any("link 'tip' has no mass, and joint 'k' alone holds it" in x for x in m.imported.notes)
    heavy = m.with_(**{"tip.mass": 0.2})
    assert heavy.description.body("tip").mass == 0.2
    none = loaded(tmp_path, BASE + '<link name="a"/>' + joint("j", "base", "a", "0 0 0"))
    assert none.imported is not None and any("kinematics only" in x for x in none.imported.notes)


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_an_inertia_that_no_body_has_is_computed_with(tmp_path: Path) -> None:
    odd = ARM.replace(INERTIA, INERTIA.replace('izz="0.002"', 'izz="0.2"'))
    m = loaded(tmp_path, odd + joint("j", "base", "arm", "0 0 0"))
    assert any("the largest exceeds the sum" in x for x in m.description.warnings)
    again = lw.load(m.save(tmp_path / "again.yaml"))
    assert np.array(again.description.body("arm").inertia)[2, 2] == 0.2
    negative = ARM.replace(INERTIA, INERTIA.replace('izz="0.002"', 'izz="-0.2"')) + joint("j", "base", "arm", "0 0 0")
    m = loaded(tmp_path, negative + '<transmission><joint name="gone"/></transmission>')
    assert m.description.body("arm").inertia == ((0.001, 0.0, 0.0), (0.0, 0.001, 0.0), (0.0, 0.0, 0.0)) and m.imported is not None
    assert any("link 'arm': a principal moment of inertia is negative (-0.2" in x for x in m.imported.notes)
    assert any("the joint 'gone', which is not there" in x for x in m.imported.notes)


def test_names_that_a_model_file_refuses(tmp_path: Path) -> None:
    text = BASE + link("arm.left 1", 1.0, 0.1, 0.0) + link("arm_left_1", 1.0, 0.1, 0.0) + link("ground", 1.0, 0.1, 0.0)
    text += joint("a b", "base", "arm.left 1", "0 0 0") + joint("c", "base", "arm_left_1", "0 0 0") + joint("d", "base", "ground", "0 0 0")
    m = loaded(tmp_path, text)
    assert [b.name for b in m.description.bodies] == ["ground", "arm_left_1", "arm_left_1_2", "ground_2"]
    assert m.imported is not None and "link 'arm.left 1' is called 'arm_left_1'" in m.imported.inferred


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
def test_gepetto_types_of_joints(tmp_path: Path) -> None:
    chain = ARM + "".join(link(f"l{i}", 1.0, 0.1, 0.0) for i in range(3))
    text = chain + joint("j", "base", "arm", "0 0 0") + joint("s", "arm", "l0", "0.4 0 0") + joint("u", "l0", "l1", "0.4 0 0")
    text += joint("f", "l1", "l2", "0.4 0 0")
    names = "joint_name: ['s', 'u', 'f', 'gone']\njoint_type: ['SPHERICAL', 'UJOINT_ZX', 'FIXED', 'FIXED']\nname_mot: ['j']\n"
    (tmp_path / "robot.yaml").write_text(f"closed_loop: []\n{names}")
    m = loaded(tmp_path, text)
    assert {j.name: j.type for j in m.description.joints} == {"j": "revolute", "s": "spherical", "u": "universal"}
    s = m.system
    st = s.assemble(q={"u.angle1": 0.3, "u.angle2": 0.5})
    c, n = math.cos, math.sin
    Rz = np.array([[c(0.3), -n(0.3), 0], [n(0.3), c(0.3), 0], [0, 0, 1]])
    Rx = np.array([[1, 0, 0], [0, c(0.5), -n(0.5)], [0, n(0.5), c(0.5)]])
    np.testing.assert_allclose(s.pose(st, "l0").R.T @ s.pose(st, "l1").R, Rz @ Rx, atol=1e-15)
    assert m.imported is not None and any("there is no joint 'gone'" in x for x in m.imported.notes)


def test_frames_that_round_off_parts_give_a_body_no_length(tmp_path: Path) -> None:
    """One place, written in two ways, 0.5 m away: no size that a center of mass or a radius of gyration could be compared with."""
    frames = frame("one", "arm", "0 0 -0.5") + frame("other", "arm", "0 4e-17 -0.5")
    made = loaded(tmp_path, ARM.replace('xyz="0.1 0.0 0"', 'xyz="0 0 -0.375"') + joint("A", "base", "arm", "0 0 0") + frames)
    assert made.description.body("arm").com == (0.0, 0.0, -0.375) and not made.description.warnings
