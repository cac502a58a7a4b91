"""MJCF files as descriptions: places, keyframes, limits, couplings, pictures, meshes, what is dropped."""

from __future__ import annotations

import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.mechanics.kinematics.skeleton import pose_of
from linkwright.rings.exchange.reading.mjcf import mujoco_compiler, read_mjcf
from linkwright.rings.exchange.reading.structure_recognition import understand
from tests.refusals import refused
from tests.rings.exchange.reading.mjcf.files import CLOSURES, FOUR_BAR, TREE, written

FOUR = FOUR_BAR.format(equality=CLOSURES["connect bodies"])


def test_places_of_bodies_and_joints(tmp_path: Path) -> None:
    written(tmp_path, '<mujocoinclude>\n\n<body name="inner">\n<joint name="J"/><geom size="1"/></body></mujocoinclude>', "part.xml")
    found = read_mjcf(written(tmp_path, '<mujoco>\n<worldbody>\n<include file="part.xml"/></worldbody></mujoco>')).description
    assert str(found.body("inner").where) == f"{tmp_path}/part.xml:3"
    assert str(found.joint("J").where) == f"{tmp_path}/part.xml:4"


def test_lw_load_gives_a_mechanism_with_its_report(tmp_path: Path) -> None:
    m = lw.load(written(tmp_path, FOUR))
    assert m.system.mobility.freedoms == 2
    assert m.imported.gaps[0][0] == "C"
    assert m.imported.gaps[0][1] < 1e-12


def test_keyframes_are_the_start(tmp_path: Path) -> None:
    keys = '<keyframe><key name="rest"/><key name="up" qpos="0.5 -0.2 0.3 0.1"/></keyframe></mujoco>'
    path = written(tmp_path, FOUR.replace("</mujoco>", keys))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 1)
    mujoco.mj_forward(model, data)
    for wanted in ("up", 1):
        found = read_mjcf(path, keyframe=wanted)
        X = pose_of(found.description.body("coupler").start)
        assert X.p == pytest.approx(data.body("coupler").xpos, abs=1e-12)
        gap = np.linalg.norm(data.site("c1").xpos - data.site("c2").xpos)
        assert dict(understand(found).report.gaps)["C"] == pytest.approx(gap, rel=1e-9)
        assert f"the start is keyframe 'up': its loops are open by up to {gap:.2g} m" in found.report.inferred[0]
    assert "keyframe 'rest'" in read_mjcf(path).report.inferred[0]
    assert not read_mjcf(path, keyframe="qpos0").report.inferred
    with refused(UsageError, name="ip", allowed=("rest", "up", "qpos0")):
        read_mjcf(path, keyframe="ip")


def test_limits_and_friction(tmp_path: Path) -> None:
    text = TREE.replace('<joint name="knee"', '<joint name="knee" frictionloss="0.4"').replace('type="ball"', 'type="ball" range="0 60"')
    found = read_mjcf(written(tmp_path, text))
    (stop,) = found.description.stops
    assert (stop.joint, stop.stiffness, stop.lower, stop.upper) == (
        "knee",
        None,
        pytest.approx(np.radians(-100)),
        pytest.approx(np.radians(20)),
    )
    (friction,) = found.description.frictions
    assert (friction.joint, friction.coulomb) == ("knee", 0.4)
    assert "1 ball joint limit: tail" in found.report.dropped


def test_an_equality_without_a_second_joint_fixes_the_first(tmp_path: Path) -> None:
    path = written(tmp_path, FOUR_BAR.format(equality='<joint joint1="D" polycoef="0.3 1 0 0 0"/>'))
    found = understand(read_mjcf(path))
    assert "D" not in {j.name for j in found.description.joints}
    assert found.description.body("ground").point("rocker").at == pytest.approx((0.8, 0.0, 0.0))
    axes = np.array(found.description.body("ground").point("rocker").rotation)
    assert np.arctan2(axes[1, 0], axes[0, 0]) == pytest.approx(0.3)


def test_springs_along_tendons_of_two_sites(tmp_path: Path) -> None:
    tendon = (
        '<tendon><spatial name="coil" stiffness="200" springlength="0.3" damping="4"><site site="c1"/><site site="c2z"/></spatial>'
        '<fixed name="sum" stiffness="3"><joint joint="A" coef="2"/></fixed></tendon></mujoco>'
    )
    found = read_mjcf(written(tmp_path, FOUR.replace("</mujoco>", tendon))).description
    coil, one = found.springs
    assert (coil.between, coil.stiffness, coil.free_length) == ((("coupler", "c1"), ("rocker", "c2z")), 200.0, 0.3)
    assert (one.joint, one.stiffness) == ("A", 12.0)
    assert one.free_position == 0.0  # without springlength it is relaxed where the joints are at their springref
    assert any(d.between == coil.between and d.coefficient == 4.0 for d in found.dampers)


def test_everything_that_is_dropped_is_listed(tmp_path: Path) -> None:
    text = FOUR.replace(
        "</mujoco>",
        '<contact><exclude body1="crank" body2="rocker"/></contact><sensor><jointpos joint="A"/><jointpos joint="B"/></sensor></mujoco>',
    ).replace(
        "</worldbody>",
        '<camera name="eye" pos="0 0 1"/><light pos="0 0 3"/><geom type="plane" size="1 1 1" contype="1" conaffinity="1"/></worldbody>',
    )
    text = text.replace('<option gravity="0 -9.81 0"/>', '<option gravity="0 -9.81 0" density="1.2"/>').replace(
        "</equality>", '<connect name="off" site1="c1" site2="c2" active="false"/></equality>'
    )
    dropped = read_mjcf(written(tmp_path, text)).report.dropped
    assert set(dropped) == {
        "1 contact pair", "2 sensors", "1 camera: eye", "1 light",
        '1 contact shape (contacts="ground" reads those that can touch the ground)', "1 switched-off constraint: off",
        "the fluid around the bodies (density, viscosity)",
    }  # fmt: skip


# -------------------------------------------------------------------- shapes


def stl(path: Path, offset: tuple[float, float, float]) -> None:
    """A tetrahedron off the origin, binary STL."""
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]) + offset
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = b"".join(struct.pack("<12fH", 0.0, 0.0, 0.0, *corners[list(f)].ravel(), 0) for f in faces)
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + body)


OFFSET = (0.5, 0.1, -0.2)
MESH = """
<mujoco><compiler meshdir="parts"/>
  <asset><mesh name="tet" file="tet.stl" scale="2 1 1"/><material name="red" rgba="1 0 0 1"/></asset>
  <worldbody><body name="b" pos="0 0 1"><joint name="J"/>{inertial}
    <geom type="mesh" mesh="tet" material="red" pos="0.1 0.2 0.3" euler="20 30 40" contype="0" conaffinity="0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.4" mass="0" group="3"/></body></worldbody></mujoco>
"""
INERTIAL = '<inertial mass="2" pos="0.1 0 0" diaginertia="1 1 1"/>'


def test_mesh_pictures_lie_where_mujoco_has_the_mesh(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    stl(tmp_path / "parts" / "tet.stl", OFFSET)
    path = written(tmp_path, MESH.format(inertial=INERTIAL))
    (visual,) = read_mjcf(path).description.body("b").visuals
    assert (visual.shape, visual.file, visual.size, visual.color) == ("mesh", "parts/tet.stl", (2.0, 1.0, 1.0), "#ff0000")
    model = mujoco.MjModel.from_xml_path(str(path))
    R, p = np.zeros(9), model.geom_pos[0]
    mujoco.mju_quat2Mat(R, model.geom_quat[0])
    theirs = model.mesh_vert @ R.reshape(3, 3).T + p
    X = pose_of(visual.placement)
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]) + np.array(OFFSET)
    ours = (corners * np.array(visual.size)) @ X.R.T + X.p
    assert max(np.abs(theirs - x).max(axis=1).min() for x in ours) < 1e-6  # vertices are single precision there


def test_inertia_from_a_mesh_is_that_of_mujoco(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    stl(tmp_path / "parts" / "tet.stl", OFFSET)
    path = written(tmp_path, MESH.format(inertial=""))
    body, theirs = read_mjcf(path).description.body("b"), mujoco.MjModel.from_xml_path(str(path)).body("b")
    assert body.mass == pytest.approx(theirs.mass[0], rel=1e-12)
    assert sorted(np.linalg.eigvalsh(np.array(body.inertia))) == pytest.approx(sorted(theirs.inertia), rel=1e-9)


def test_a_missing_mesh_costs_the_picture(tmp_path: Path) -> None:
    found = read_mjcf(written(tmp_path, MESH.format(inertial=INERTIAL)))
    assert found.description.body("b").mass == 2.0
    assert found.description.body("b").visuals == ()
    assert found.report.notes == ("1 mesh is not shown, there is no such file: parts/tet.stl of b",)


def test_a_missing_mesh_that_gives_the_mass_leaves_a_body_without_one(tmp_path: Path) -> None:
    found = read_mjcf(written(tmp_path, MESH.format(inertial="")))
    assert found.description.body("b").mass == 0.0
    assert found.report.notes[0].startswith("the mass of b leaves out missing meshes (tet): allow their folder")


def test_a_damaged_mesh_is_named_and_left_out_of_the_masses(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "tet.stl").write_bytes(bytes(80) + struct.pack("<I", 9) + b"cut off")
    found = read_mjcf(written(tmp_path, MESH.format(inertial="")))
    assert found.description.body("b").mass == 0.0
    assert found.report.notes[0].startswith("the mesh parts/tet.stl cannot be read: ")


def test_meshes_of_included_files_may_lie_beside_these(tmp_path: Path) -> None:
    """MuJoCo looks in the folder of the model first, then in that of the file which names the mesh."""
    (tmp_path / "arm" / "geometry").mkdir(parents=True)
    stl(tmp_path / "arm" / "geometry" / "tet.stl", OFFSET)
    written(tmp_path / "arm", '<mujocoinclude><mesh name="tet" file="geometry/tet.stl"/></mujocoinclude>', "assets.xml")
    body = '<body name="b"><joint/><geom type="mesh" mesh="tet"/></body>'
    text = f'<mujoco><asset><include file="arm/assets.xml"/></asset><worldbody>{body}</worldbody></mujoco>'
    path = written(tmp_path, text)
    found = read_mjcf(path).description.body("b")
    assert found.mass == pytest.approx(mujoco.MjModel.from_xml_path(str(path)).body("b").mass[0], rel=1e-12)
    assert found.visuals[0].file == "arm/geometry/tet.stl"


def test_attached_models(tmp_path: Path) -> None:
    """A model in a folder of its own, attached twice, with a mesh that gives its inertia."""
    (tmp_path / "arm" / "parts").mkdir(parents=True)
    stl(tmp_path / "arm" / "parts" / "tet.stl", OFFSET)
    written(tmp_path / "arm", MESH.format(inertial=""), "arm.xml")
    attached = "".join(
        f'<frame pos="{x} 0 0"><attach model="arm" body="b" prefix="{name}_"/></frame>' for x, name in ((0, "left"), (1, "right"))
    )
    text = f'<mujoco><asset><model name="arm" file="arm/arm.xml"/></asset><worldbody>{attached}</worldbody></mujoco>'
    path = written(tmp_path, text)
    found, model = read_mjcf(path).description, mujoco.MjModel.from_xml_path(str(path))
    for name in ("left_b", "right_b"):
        assert found.body(name).mass == pytest.approx(model.body(name).mass[0], rel=1e-12)
        assert found.body(name).visuals[0].file == "arm/parts/tet.stl"
    is_refused(tmp_path, text.replace("arm/arm.xml", "../arm.xml"), "is not read: it lies outside")
    is_refused(tmp_path, text.replace("arm/arm.xml", "model.xml"), "more than 20 models are attached")


def test_primitives_are_drawn_and_collision_shapes_only_where_nothing_else_is(tmp_path: Path) -> None:
    geoms = (
        '<geom type="box" size="1 2 3" rgba="0 0 1 1" contype="0" conaffinity="0"/>'
        '<geom type="sphere" size="0.5" contype="0" conaffinity="0"/>'
        '<geom type="cylinder" size="0.1 0.4"/>'
    )
    other = '<body name="c"><joint/><geom type="capsule" size="0.1 0.4"/></body>'
    text = f'<mujoco><worldbody><body name="b"><joint/>{geoms}</body>{other}</worldbody></mujoco>'
    found = read_mjcf(written(tmp_path, text)).description
    assert [(v.shape, v.size) for v in found.body("b").visuals] == [("box", (2.0, 4.0, 6.0)), ("sphere", (0.5, 0.0, 0.0))]
    assert found.body("b").visuals[0].color == "#0000ff"
    assert [(v.shape, v.size) for v in found.body("c").visuals] == [("capsule", (0.1, 0.8, 0.0))]


# -------------------------------------------------------------------- bad input


def is_refused(tmp_path: Path, text: str, *parts: str, error: type[LinkwrightError] = ModelError) -> None:
    with pytest.raises(error) as caught:
        read_mjcf(written(tmp_path, text))
    for part in parts:
        assert part in str(caught.value)


def test_mistakes_are_explained_with_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(tmp_path, "<mujoco>\n<worldbody>\n<bod/></worldbody></mujoco>", "model.xml:3", "unrecognized element")
    is_refused(
        tmp_path,
        '<mujoco>\n<worldbody>\n<body name="b"><joint/></body></worldbody></mujoco>',
        "model.xml:3",
        "mass and inertia of moving bodies",
    )
    is_refused(tmp_path, "<mujoco>\n<worldbody>\n</mujoco>", "model.xml:3", "malformed")
    monkeypatch.chdir(tmp_path)
    is_refused(tmp_path, '<mujoco><worldbody><body pos="nan 0 0"><joint/><geom size="1"/></body></worldbody></mujoco>', "model.xml")
    assert [p.name for p in tmp_path.iterdir()] == ["model.xml"]  # MuJoCo by itself writes its warnings into a file


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    is_refused(tmp_path, '<!DOCTYPE mujoco [<!ENTITY a "b">]><mujoco/>', "model.xml:1", "document type")
    is_refused(tmp_path, '<mujoco><include file="model.xml"/></mujoco>', "model.xml:1", "includes itself")
    is_refused(tmp_path, '<mujoco><include file="../../../../../../etc/passwd"/></mujoco>', "outside the folders that may be read")
    is_refused(tmp_path, "<mujoco>" + "<worldbody>" * 200, "deep")
    copies = '<replicate count="1000">' * 3 + '<body><joint/><geom size="1"/></body>' + "</replicate>" * 3
    is_refused(tmp_path, f"<mujoco><worldbody>{copies}</worldbody></mujoco>", "more than 100000 copies")
    is_refused(tmp_path, '<mujoco><asset><mesh name="m" builtin="sphere" params="30"/></asset></mujoco>', "that many faces")


def test_no_file_is_read_outside_of_the_folders(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    stl(tmp_path / "tet.stl", (0.0, 0.0, 0.0))
    text = MESH.format(inertial="").replace('meshdir="parts"', 'meshdir=".."')
    found = read_mjcf(written(inside, text))
    assert found.description.body("b").mass == 0.0
    assert "outside the folders that may be read" in " ".join(found.report.notes)
    allowed = read_mjcf(inside / "model.xml", folders=[tmp_path])
    assert allowed.description.body("b").mass == pytest.approx(2.0, rel=1e-6)  # 1000 kg/m^3, 0.001 m^3 scaled by 2


def test_reading_without_mujoco_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(mujoco_compiler, "import_module", missing)
    is_refused(tmp_path, FOUR, "pip install 'linkwright[mjcf]'", error=UsageError)


def test_lw_load_takes_limits_servos_and_chains(tmp_path: Path) -> None:
    """A model with everything that a model file must hold: read, written and read again."""
    actuator = '<actuator><position name="p" joint="knee" kp="20" kv="1" forcerange="-5 5"/></actuator></mujoco>'
    m = lw.load(written(tmp_path, TREE.replace("</mujoco>", actuator)), p_ctrl=0.3)
    (drive,) = m.system.description.drives
    assert str(drive.value) == "20.0*(0.3 - knee) + (-1.0)*knee.v"
    assert drive.limits == (-5.0, 5.0)
    (stop,) = m.system.description.stops
    assert (stop.stiffness, stop.upper) == (None, pytest.approx(np.radians(20)))
    again = lw.load(m.save(tmp_path / "again.yaml"))
    assert again.system.M(again.system.start) == pytest.approx(m.system.M(m.system.start), rel=1e-12, abs=1e-12)
    assert [b.name for b in again.system.description.moving] == ["base", "hip", "shin", "tail", "flap"]


@pytest.mark.parametrize("body, message", [
    ('<body name="nan">\n<joint axis="0 nan 0"/><geom size="1"/></body>', "model.xml:2: <joint>: axis: 'nan' is not a number"),
    ('<body>\n<geom size="1" mass="-inf"/></body>', "model.xml:2: <geom>: mass: '-inf' is not a number"),
    ('\n<replicate count="5000" offset="1 0 0"><body/></replicate>', "model.xml:2: <body>: with its copies the model has 5000 bodies"),
])  # fmt: skip
def test_numbers_and_sizes_that_are_no_model(tmp_path: Path, body: str, message: str) -> None:
    is_refused(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>", message)
