"""USD read: units, frames, references, joints, loops, drives, mimics; files of strangers; texts as usd-core's physics parser reads them."""

from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

import linkwright as lw
from linkwright.errors import LinkwrightError, ModelError, UsageError
from linkwright.rings.exchange import ImportedModelWarning
from linkwright.rings.exchange.reading.usd import stage as usd_stage
from linkwright.system.mechanism import Mechanism
from tests.factory import random_tree, with_loops
from tests.rings.exchange.reading.urdf.test_dialects import OURS, accelerations
from tests.rings.exchange.reading.usd.stages import BODIES, HINGES, attribute, body, four_bar, joint, stage
from tests.rings.exchange.writing.robots.round_trip import bodies, deviation


def said(m: lw.Mechanism) -> str:
    assert m.imported is not None
    return str(m.imported)


# ---------------------------------------------------------------- loops and units


@pytest.mark.parametrize(
    "options",
    [{}, {"unit": 0.01}, {"unit": 0.0254, "kilograms": 0.45359237}, {"excluded": False}],
    ids=["SI", "cm", "inch and pound", "not excluded"],
)
def test_a_loop_moves_as_in_the_plane_in_all_units(tmp_path: Path, options: dict[str, Any]) -> None:
    """Numbers of the file have seven digits; in SI they are short, and come back exactly."""
    four_bar(tmp_path / "four.usda", **options).Save()
    m = lw.load(tmp_path / "four.usda")
    assert m.system.mobility.freedoms == 1 and [j.name for j in m.description.joints] == ["A", "B", "D", "C"]
    digits = 1e-12 if "unit" not in options else 1e-6
    assert accelerations(m) == pytest.approx(accelerations(lw.load(OURS)), rel=digits)
    assert [d.joint for d in m.description.drives] == ["A"]
    assert m.description.drives[0].limits == pytest.approx((-5.0, 5.0), rel=digits)
    assert m.imported is not None and [x for x, _ in m.imported.gaps] == ["C"] and m.imported.gaps[0][1] < 1e-6


def test_binary_files_and_references_to_other_layers(tmp_path: Path) -> None:
    """A scene that places a robot from another layer twice, as Isaac Lab does; the second one is turned and stretched."""
    four_bar(tmp_path / "parts" / "robot.usdc").Save()
    s = stage(tmp_path / "scene.usda", up="Y")
    for name in ("one", "two"):
        prim = s.DefinePrim(f"/World/{name}", "Xform")
        prim.GetReferences().AddReference("./parts/robot.usdc")
    UsdGeom.Xformable(s.GetPrimAtPath("/World/two")).AddTranslateOp().Set(Gf.Vec3d(3, 0, 0))
    for i in "AD":  # a joint to the world stays where its numbers say, so it is moved with the robot
        at = UsdPhysics.Joint(s.GetPrimAtPath(f"/World/two/joints/{i}")).GetLocalPos0Attr()
        at.Set(Gf.Vec3f(*(x + d for x, d in zip(at.Get(), (3.0, 0.0, 0.0), strict=True))))
    s.Save()
    m = lw.load(tmp_path / "scene.usda")
    assert m.system.mobility.freedoms == 2 and len(m.description.joints) == 8 and m.description.name == "scene"
    s1 = m.system
    a = s1.forward(s1.start, {"A": 0.7}).a
    b = s1.forward(s1.start, {"A_2": 0.7}).a
    names = s1.names.v
    assert a[names.index("A")] == pytest.approx(b[names.index("A_2")], rel=1e-9) != a[names.index("A_2")]


def test_places_count_from_the_prim_that_a_joint_names(tmp_path: Path) -> None:
    """A frame below a stretched and turned body: its place in the world counts, times the scale; checked by hand."""
    s = stage(tmp_path / "p.usda", up="Z")
    prim = UsdGeom.Xform.Define(s, "/arm")
    prim.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    prim.AddRotateZOp().Set(90.0)
    prim.AddScaleOp().Set(Gf.Vec3f(2, 2, 2))
    UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
    mapi = UsdPhysics.MassAPI.Apply(prim.GetPrim())
    mapi.CreateMassAttr(2.0)
    mapi.CreateCenterOfMassAttr(Gf.Vec3f(0.5, 0, 0))
    mapi.CreateDiagonalInertiaAttr(Gf.Vec3f(0.1, 0.2, 0.3))
    frame = UsdGeom.Xform.Define(s, "/arm/tip")
    frame.AddTranslateOp().Set(Gf.Vec3d(1, 0, 0))
    hinge = joint(s, "/hinge", UsdPhysics.RevoluteJoint, "", "/arm/tip", (1.0, 4.5, 3.0), (0.25, 0.0, 0.0), axis="X")
    hinge.CreateLocalRot0Attr(Gf.Quatf(math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))
    s.Save()
    m = lw.load(tmp_path / "p.usda")
    st = m.system.start
    # tip at (1, 2, 3) + Rz(90) 2 (1, 0, 0) = (1, 4, 3), the pin 2 * 0.25 beyond it; center of mass at Rz(90) 2 (0.5, 0, 0)
    np.testing.assert_allclose(m.system.pose(st, "arm").p, [1, 2, 3], atol=1e-6)  # the hinge has single precision
    np.testing.assert_allclose(m.description.body("arm").com, [1.0, 0.0, 0.0], atol=1e-12)
    joint_ = m.description.joints[0]
    np.testing.assert_allclose(joint_.frame_second.at, [2.5, 0.0, 0.0], atol=1e-12)


def test_a_pendulum_falls_as_in_books(tmp_path: Path) -> None:
    """A bar on a hinge about X, at rest and level, with gravity along -z: m g l / (I + m l^2)."""
    s = stage(tmp_path / "p.usda", up="Z")
    body(s, "/bar", (0, 0, 0), 2.0, (0.0, 0.5, 0.0), (0.3, 0.1, 0.3))
    joint(s, "/hinge", UsdPhysics.RevoluteJoint, "", "/bar", axis="X")
    s.Save()
    m = lw.load(tmp_path / "p.usda")
    a = m.system.forward(m.system.start).a
    assert a == pytest.approx([-2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.25)], rel=1e-12)


def test_principal_axes_turn_the_moments(tmp_path: Path) -> None:
    s = stage(tmp_path / "p.usda")
    prim = body(s, "/a", (0, 0, 0), 1.0, (0, 0, 0), (0.1, 0.2, 0.25))
    UsdPhysics.MassAPI(prim).CreatePrincipalAxesAttr(Gf.Quatf(math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))
    s.Save()
    m = lw.load(tmp_path / "p.usda")
    np.testing.assert_allclose(m.description.body("a").inertia, np.diag([0.2, 0.1, 0.25]), atol=1e-8)  # x and y change places
    assert m.description.joints[0].type == "free" and "floats on the free joint 'base'" in said(m)


SHAPED = """<mujoco><worldbody><body name="a"><freejoint/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.4 0 0" density="500"/>
  <geom type="sphere" size="0.15" pos="0 0.3 0.1" density="500"/>
  <geom type="cylinder" size="0.1 0.25" pos="-0.2 0.1 0" quat="0.8 0.6 0 0" density="500"/>
  <geom type="capsule" size="0.12 0.2" pos="0 0 -0.5" quat="0.6 0 0.8 0" mass="3"/>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("mass", [0.0, 7.0])
def test_masses_follow_from_shapes(tmp_path: Path, mass: float) -> None:
    """The same shapes in MuJoCo: mass, center and inertia of a body that the file leaves to its shapes, or gives the mass of."""
    model = mujoco.MjModel.from_xml_string(SHAPED)
    s = stage(tmp_path / "shapes.usda", unit=0.01)
    prim = UsdGeom.Xform.Define(s, "/a").GetPrim()
    UsdPhysics.RigidBodyAPI.Apply(prim)
    own = UsdPhysics.MassAPI.Apply(prim)
    own.CreateDensityAttr(500.0 * 1e-6)  # kg/cm^3
    own.CreateMassAttr(mass)
    shapes = (("Cube", (40, 0, 0), (1, 0, 0, 0)), ("Sphere", (0, 30, 10), (1, 0, 0, 0)), ("Cylinder", (-20, 10, 0), (0.8, 0.6, 0, 0)),
              ("Capsule", (0, 0, -50), (0.6, 0, 0.8, 0)))  # fmt: skip
    for kind, at, turned in shapes:
        shape = getattr(UsdGeom, kind).Define(s, f"/a/{kind}")
        shape.AddTranslateOp().Set(Gf.Vec3d(*at))
        shape.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(*turned))
        UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
        if kind == "Cube":
            shape.CreateSizeAttr(2.0)
            shape.AddScaleOp().Set(Gf.Vec3f(10, 20, 30))
        else:
            shape.CreateRadiusAttr({"Sphere": 15.0, "Cylinder": 10.0, "Capsule": 12.0}[kind])
        if kind in ("Cylinder", "Capsule"):
            shape.CreateHeightAttr({"Cylinder": 50.0, "Capsule": 40.0}[kind])
            shape.CreateAxisAttr("Z")
    UsdPhysics.MassAPI.Apply(s.GetPrimAtPath("/a/Capsule")).CreateMassAttr(3.0)
    s.Save()
    b = lw.load(tmp_path / "shapes.usda").description.body("a")
    share = mass / model.body_mass[1] if mass else 1.0
    assert b.mass == pytest.approx(share * model.body_mass[1], rel=1e-12)
    np.testing.assert_allclose(b.com, model.body_ipos[1], atol=1e-12)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    tensor = R.reshape(3, 3) @ np.diag(model.body_inertia[1]) @ R.reshape(3, 3).T
    np.testing.assert_allclose(np.array(b.inertia, float), share * tensor, atol=1e-11)  # MuJoCo's axes are found by iteration


def test_a_body_whose_shapes_are_meshes_is_named(tmp_path: Path) -> None:
    s = stage(tmp_path / "m.usda")
    prim = body(s, "/a", (0, 0, 0), 1.0, (0, 0, 0), (0, 0, 0))
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Mesh.Define(s, "/a/mesh").GetPrim())
    s.Save()
    with pytest.warns(ImportedModelWarning, match="body 'a' has no inertia in the file, and no simple shapes alone that give it"):
        assert lw.load(tmp_path / "m.usda").description.body("a").mass == 1.0
    UsdPhysics.MassAPI(prim).GetMassAttr().Set(0.0)
    s.Save()
    with pytest.warns(ImportedModelWarning, match="body 'a' has no mass in the file"):
        lw.load(tmp_path / "m.usda")


# ---------------------------------------------------------------- joints


FREE_OF = {
    "fixed": (), "revolute": ("rotY",), "prismatic": ("transZ",), "cylindrical": ("rotX", "transX"), "spherical": ("rotX", "rotY", "rotZ"),
    "universal": ("rotX", "rotZ"), "planar": ("transX", "transY", "rotZ"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FREE_OF)
def test_generic_joints_are_known_by_their_free_directions(tmp_path: Path, kind: str) -> None:
    s = stage(tmp_path / "d6.usda")
    body(s, "/a", (0, 0, 0), 1.0, (0.1, 0.2, 0.3))
    made = joint(s, "/j", UsdPhysics.Joint, "", "/a").GetPrim()
    for direction in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        if direction not in FREE_OF[kind]:
            limit = UsdPhysics.LimitAPI.Apply(made, direction)
            limit.CreateLowAttr(1.0)
            limit.CreateHighAttr(-1.0)
    if kind in ("revolute", "prismatic"):
        limit = UsdPhysics.LimitAPI.Apply(made, FREE_OF[kind][0])
        limit.CreateLowAttr(-30.0)
        limit.CreateHighAttr(60.0)
    s.Save()
    m = lw.load(tmp_path / "d6.usda")
    if kind == "fixed":
        assert m.system.mobility.freedoms == 0
        return
    assert [j.type for j in m.description.joints] == [kind] and m.system.mobility.freedoms == len(FREE_OF[kind])
    T = m.system.jacobian(m.system.start, "a", "coordinates")
    moved = {"rotX": 0, "rotY": 1, "rotZ": 2, "transX": 3, "transY": 4, "transZ": 5}
    assert {i for i in range(6) if np.abs(T[i]).max() > 0.5} >= {moved[x] for x in FREE_OF[kind]}
    if kind in ("revolute", "prismatic"):
        stop = m.description.stops[0]
        size = math.pi / 180.0 if kind == "revolute" else 1.0
        assert (stop.lower, stop.upper) == pytest.approx((-30.0 * size, 60.0 * size), rel=1e-12)


def test_a_distance_that_is_held_is_a_rod(tmp_path: Path) -> None:
    s = stage(tmp_path / "r.usda")
    for name, x in (("a", 0.0), ("b", 1.0)):
        body(s, f"/{name}", (x, 0, 0), 1.0, (0, 0.5, 0))
        joint(s, f"/{name}_pin", UsdPhysics.RevoluteJoint, "", f"/{name}", (x, 0, 0))
    made = joint(s, "/rod", UsdPhysics.DistanceJoint, "/a", "/b", (0, 1, 0), (0, 1, 0))
    made.CreateMinDistanceAttr(1.0)
    made.CreateMaxDistanceAttr(1.0)
    loose = joint(s, "/rope", UsdPhysics.DistanceJoint, "/a", "/b")
    loose.CreateMaxDistanceAttr(2.0)
    s.Save()
    with pytest.warns(ImportedModelWarning, match="rope"):
        m = lw.load(tmp_path / "r.usda")
    assert m.system.mobility.freedoms == 1 and [float(r.length) for r in m.description.rods] == [1.0]


def test_drives_rotors_and_limits_in_degrees(tmp_path: Path) -> None:
    s = stage(tmp_path / "d.usda", unit=0.01)
    body(s, "/a", (0, 0, 0), 1.0, (0, 0, 0), unit=0.01)
    body(s, "/b", (0, 0, 0), 1.0, (0, 0, 0), unit=0.01)
    turn = joint(s, "/turn", UsdPhysics.RevoluteJoint, "", "/a")
    turn.CreateLowerLimitAttr(-90.0)
    turn.CreateUpperLimitAttr(45.0)
    drive = UsdPhysics.DriveAPI.Apply(turn.GetPrim(), "angular")
    drive.CreateStiffnessAttr(2000.0)  # kg cm^2/s^2 per degree
    drive.CreateDampingAttr(10.0)
    drive.CreateTargetPositionAttr(30.0)
    drive.CreateMaxForceAttr(30000.0)
    attribute(turn.GetPrim(), "physxJoint:armature", 50.0)
    attribute(turn.GetPrim(), "physxJoint:maxJointVelocity", 180.0)
    slide = joint(s, "/slide", UsdPhysics.PrismaticJoint, "/a", "/b", axis="X")
    slide.CreateLowerLimitAttr(-5.0)
    linear = UsdPhysics.DriveAPI.Apply(slide.GetPrim(), "linear")
    linear.CreateStiffnessAttr(700.0)
    linear.CreateTypeAttr("acceleration")
    attribute(slide.GetPrim(), "mjc:frictionloss", 40.0)
    s.Save()
    with pytest.warns(ImportedModelWarning, match="accelerations per error"):
        m = lw.load(tmp_path / "d.usda")
    d, degree = m.description, math.pi / 180.0
    spring = d.springs[0]
    assert spring.stiffness == pytest.approx(2000.0 * 1e-4 / degree, rel=1e-12)
    assert spring.free_position == pytest.approx(30.0 * degree, rel=1e-12)
    assert d.dampers[0].coefficient == pytest.approx(10.0 * 1e-4 / degree, rel=1e-12)
    assert d.drives[0].limits == pytest.approx((-3.0, 3.0), rel=1e-12)
    assert d.joints[0].armature == pytest.approx(50e-4, rel=1e-12)
    assert dict(m.imported.speed_limits) == {"turn": pytest.approx(math.pi, rel=1e-12)}
    stops = {x.joint: (x.lower, x.upper) for x in d.stops}
    assert stops["turn"] == pytest.approx((-math.pi / 2, math.pi / 4), rel=1e-12) and stops["slide"] == (pytest.approx(-0.05), None)
    assert [f.coulomb for f in d.frictions] == [pytest.approx(0.4, rel=1e-12)] and len(d.springs) == 1


def test_what_the_converter_of_mujoco_adds(tmp_path: Path) -> None:
    """Joints inside of nested bodies, a base fixed to a plain prim, gains per radian, an actuator, and a loop closed by a point."""
    s = stage(tmp_path / "m.usda", up="Y")
    UsdGeom.Xform.Define(s, "/robot")
    for path, (at, mass, com) in zip(("/robot/crank", "/robot/crank/coupler", "/robot/rocker"), BODIES.values(), strict=True):
        place = (0.0, 0.3, 0.0) if path.endswith("coupler") else at  # in the body around it
        body(s, path, place, mass, com)
    ends = {"A": ("/robot", "/robot/crank"), "B": ("/robot/crank", "/robot/crank/coupler"), "D": ("/robot", "/robot/rocker")}
    for name, (first, second) in ends.items():
        joint(s, f"{second}/{name}", UsdPhysics.RevoluteJoint, first, second, *HINGES[name][2:])
    joint(s, "/robot/Equality", UsdPhysics.SphericalJoint, "/robot/crank/coupler", "/robot/rocker", *HINGES["C"][2:], axis="", closes=True)
    hinge = s.GetPrimAtPath("/robot/crank/A")
    for what, value in (("armature", 0.02), ("damping", 0.3), ("stiffness", 2.0), ("springref", 0.5)):
        attribute(hinge, f"mjc:{what}", value, Sdf.ValueTypeNames.Double)
    s.DefinePrim("/robot/motor", "MjcActuator").CreateRelationship("mjc:target").SetTargets(["/robot/crank/A"])
    s.DefinePrim("/robot/split", "MjcTendon")
    s.Save()
    with pytest.warns(ImportedModelWarning, match="1 tendon: split"):
        m = lw.load(tmp_path / "m.usda")
    d = m.description
    assert m.system.mobility.freedoms == 1 and [x.joint for x in d.drives] == ["A"] and "1 law of an actuator: motor" in said(m)
    assert (d.springs[0].stiffness, d.springs[0].free_position, d.dampers[0].coefficient, d.joint("A").armature) == (2.0, 0.5, 0.3, 0.02)
    a = m.system.forward(m.system.start, {"A": -2.0 * 0.5 + 0.4}).a  # with what the spring pushes at zero taken away
    with_rotor = lw.load(OURS).system
    q = with_rotor.start
    M = with_rotor.named_terms((), ["A"])(q).M[0, 0]
    free = with_rotor.forward(q, {"A": 0.4}).a[with_rotor.names.v.index("A")]
    assert a[m.system.names.v.index("A")] == pytest.approx(free * M / (M + 0.02), rel=1e-9)


@pytest.mark.parametrize("program", ["newton", "physx"])
def test_mimics_of_newton_and_physx(tmp_path: Path, program: str) -> None:
    """q = 30 deg - 0.5 q_leader."""
    s = stage(tmp_path / "m.usda")
    for i, name in enumerate("ab"):
        body(s, f"/{name}", (i, 0, 0), 1.0, (0.1, 0, 0))
        joint(s, f"/{name}_turn", UsdPhysics.RevoluteJoint, "", f"/{name}", (i, 0, 0))
    follower = s.GetPrimAtPath("/b_turn")
    if program == "newton":
        follower.AddAppliedSchema("NewtonMimicAPI")
        follower.CreateRelationship("newton:mimicJoint").SetTargets(["/a_turn"])
        attribute(follower, "newton:mimicCoef0", 30.0)
        attribute(follower, "newton:mimicCoef1", -0.5)
    else:
        follower.AddAppliedSchema("PhysxMimicJointAPI:rotZ")
        follower.CreateRelationship("physxMimicJoint:rotZ:referenceJoint").SetTargets(["/a_turn"])
        attribute(follower, "physxMimicJoint:rotZ:gearing", 0.5)
        attribute(follower, "physxMimicJoint:rotZ:offset", -30.0)
    s.Save()
    m = lw.load(tmp_path / "m.usda")
    assert m.system.mobility.freedoms == 1
    st = m.system.assemble(q={"a_turn": "40 deg"})
    assert st["b_turn", "deg"] == pytest.approx(10.0, abs=1e-9)


def test_what_holds_nothing_or_is_switched_off(tmp_path: Path) -> None:
    s = four_bar(tmp_path / "four.usda")
    joint(s, "/robot/joints/off", UsdPhysics.FixedJoint, "", "/robot/crank").CreateJointEnabledAttr(False)
    joint(s, "/robot/joints/world", UsdPhysics.FixedJoint, "", "")
    body(s, "/robot/wall", (0, 0, 5), 0.0, (0, 0, 0), (0, 0, 0))
    UsdPhysics.RigidBodyAPI(s.GetPrimAtPath("/robot/wall")).CreateKinematicEnabledAttr(True)
    UsdGeom.Mesh.Define(s, "/robot/crank/mesh")
    cube = UsdGeom.Cube.Define(s, "/robot/crank/box")
    cube.CreateSizeAttr(0.2)
    s.Save()
    with pytest.warns(ImportedModelWarning, match="body 'wall' has no mass"):
        m = lw.load(tmp_path / "four.usda")
    assert m.system.mobility.freedoms == 1 and accelerations(m) == pytest.approx(accelerations(lw.load(OURS)), rel=1e-12)
    for text in ("1 switched-off joint: off", "1 mesh", "joint 'world' connects two parts of the ground", "kinematic body 'wall'"):
        assert text in said(m)
    assert [(v.shape, v.size) for v in m.description.body("crank").visuals] == [("box", (0.2, 0.2, 0.2))]


# ---------------------------------------------------------------- own files


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_loops_come_back(seed: int, tmp_path: Path) -> None:
    """Random mechanisms in space with sliders, universal and ball joints, at a moving state: 1e-10 of every acceleration."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "prismatic", "universal", "spherical", "cylindrical"]
    m = Mechanism(with_loops(rng, random_tree(rng, 5, kinds), ["revolute", "spherical"]).skel.tree.description)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy = lw.load(m.export(tmp_path / "random.usda"))
    ours, theirs = (x.system.state(x.system.start.q) for x in (m, copy))
    assert deviation(bodies(m.system, ours), bodies(copy.system, theirs), False) < 1e-10


@pytest.mark.parametrize("name", ["ankle", "five-bar"])
def test_texts_are_what_the_physics_parser_expects(name: str, tmp_path: Path) -> None:
    """usd-core's own reading of the physics: bodies, joints with their ends, and which joints are outside of the articulation."""
    m = lw.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = m.export(tmp_path / "m.usda")
    s = Usd.Stage.Open(str(path))
    with warnings.catch_warnings():  # newer versions have another name for it
        warnings.simplefilter("ignore", DeprecationWarning)
        found = UsdPhysics.LoadUsdPhysicsFromRange(s, [s.GetPseudoRoot().GetPath()])
    kinds = UsdPhysics.ObjectType
    assert len(found[kinds.RigidBody][0]) == len(m.description.bodies) - 1 and len(found[kinds.Articulation][0]) == 1
    joints = {str(p).rpartition("/")[2]: d for k in (kinds.RevoluteJoint, kinds.SphericalJoint, kinds.D6Joint)
              for p, d in zip(*found.get(k, ((), ())), strict=True)}  # fmt: skip
    assert set(joints) == {j.name for j in m.description.joints}
    assert {n for n, d in joints.items() if d.excludeFromArticulation} == set(m.system.tree.cuts)
    assert all(d.isValid for d in joints.values()) and UsdGeom.GetStageMetersPerUnit(s) == 1.0


def test_edited_numbers_count(tmp_path: Path) -> None:
    """The double next to a single number is left out as soon as the single one says something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = lw.load("four-bar").export(tmp_path / "m.usda")
    s = Usd.Stage.Open(str(path))
    mass = s.GetPrimAtPath("/four_bar/crank").GetAttribute("physics:mass")
    mass.Set(7.25)
    s.Save()
    again = lw.load(path)
    assert again.description.body("crank").mass == 7.25
    assert again.description.body("rocker").mass == 0.75  # line_mass * L3 of the model


# ---------------------------------------------------------------- files of strangers


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    four_bar(tmp_path / "four.usda").Save()
    monkeypatch.setattr(usd_stage, "import_module", missing)
    with pytest.raises(UsageError, match=r"needs the package usd-core: pip install 'linkwright\[usd\]'"):
        lw.load(tmp_path / "four.usda")


def test_layers_outside_of_the_folders_are_not_opened(tmp_path: Path) -> None:
    four_bar(tmp_path / "elsewhere" / "robot.usda").Save()
    place = tmp_path / "here" / "scene.usda"
    s = stage(place)
    s.DefinePrim("/robot", "Xform").GetReferences().AddReference("../elsewhere/robot.usda")
    s.Save()
    with pytest.raises(ModelError, match="outside the folders"):
        lw.load(place)
    assert lw.load(place, folders=tmp_path / "elsewhere").system.mobility.freedoms == 1


@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.ImportedModelWarning")
@pytest.mark.parametrize(("name", "message"), [("https://example.org/robot.usda", "https:// is not read"), ("model.stl", "not a layer")])
def test_other_references_are_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "model.stl").write_bytes(b"solid")
    s = stage(tmp_path / "scene.usda")
    s.DefinePrim("/robot", "Xform").GetReferences().AddReference(name)
    s.Save()
    with pytest.raises(ModelError, match=message):
        lw.load(tmp_path / "scene.usda")


def test_a_missing_layer_is_a_warning(tmp_path: Path) -> None:
    s = four_bar(tmp_path / "four.usda")
    s.DefinePrim("/decoration", "Xform").GetPayloads().AddPayload("./meshes.usd")
    s.Save()
    with pytest.warns(ImportedModelWarning, match=r"'\./meshes\.usd' is not there"):
        assert lw.load(tmp_path / "four.usda").system.mobility.freedoms == 1


def test_value_clips_and_size_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s = four_bar(tmp_path / "four.usda")
    s.Save()
    monkeypatch.setattr(usd_stage, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match="more than 0 MB"):
        lw.load(tmp_path / "four.usda")
    monkeypatch.undo()
    monkeypatch.setattr(usd_stage, "MOST_PRIMS", 3)
    with pytest.raises(ModelError, match="more than 3 prims"):
        lw.load(tmp_path / "four.usda")
    monkeypatch.undo()
    Usd.ClipsAPI(s.GetPrimAtPath("/robot")).SetClipAssetPaths(Sdf.AssetPathArray([Sdf.AssetPath("/etc/clip.usda")]))
    s.Save()
    with pytest.raises(ModelError, match="value clips are not read"):
        lw.load(tmp_path / "four.usda")


def _nothing(s: Usd.Stage) -> None:
    for name in ("crank", "coupler", "rocker"):
        s.GetPrimAtPath(f"/robot/{name}").RemoveAPI(UsdPhysics.RigidBodyAPI)


def _set(path: str, name: str, value: Any) -> Callable[[Usd.Stage], Any]:
    return lambda s: s.GetPrimAtPath(f"/robot/{path}").GetAttribute(name).Set(value)


def _free_in_four(s: Usd.Stage) -> None:
    made = joint(s, "/robot/joints/four", UsdPhysics.Joint, "", "/robot/crank").GetPrim()
    for direction in ("transX", "transY"):
        limit = UsdPhysics.LimitAPI.Apply(made, direction)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_nothing, "has no rigid body"),
        (_set("joints/A", "physics:axis", "W"), "physics:axis is 'W'. It is X, Y or Z"),
        (_set("crank", "physics:mass", -1.0), "physics:mass is -1. It is zero or more"),
        (_set("crank", "physics:mass", float("nan")), "physics:mass is not a number"),
        (_set("crank", "physics:diagonalInertia", Gf.Vec3f(-1, 1, 1)), "diagonalInertia needs finite numbers"),
        (_set("joints/A", "physics:localPos0", Gf.Vec3f(float("inf"), 0, 0)), "local position is not finite"),
        (lambda s: UsdGeom.Xformable(s.GetPrimAtPath("/robot/crank")).AddScaleOp().Set(Gf.Vec3f(1, -1, 1)), "mirrors"),
        (lambda s: UsdGeom.Xformable(s.GetPrimAtPath("/robot/crank")).AddScaleOp().Set(Gf.Vec3f(0, 1, 1)), "scale of zero"),
        (lambda s: UsdPhysics.Joint(s.GetPrimAtPath("/robot/joints/B")).GetBody1Rel().SetTargets(["/robot/crank"]), "with itself"),
        (lambda s: UsdPhysics.Joint(s.GetPrimAtPath("/robot/joints/B")).GetBody1Rel().SetTargets(["/gone"]), "which is not there"),
        (_free_in_four, "make a joint that is not known here"),
        (lambda s: UsdGeom.SetStageMetersPerUnit(s, 0.0), "metersPerUnit is 0"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: Callable[[Usd.Stage], Any], message: str) -> None:
    s = four_bar(tmp_path / "four.usda")
    change(s)
    s.Save()
    with pytest.raises(LinkwrightError, match=message):
        lw.load(tmp_path / "four.usda")


def test_damaged_binary_files_ask_for_no_memory(tmp_path: Path) -> None:
    """Every number of the table of contents, and the counts that sections begin with, made large."""
    four_bar(tmp_path / "four.usdc").Save()
    sound = (tmp_path / "four.usdc").read_bytes()
    contents = struct.unpack("<q", sound[16:24])[0]
    count = struct.unpack("<Q", sound[contents : contents + 8])[0]
    assert lw.load(tmp_path / "four.usdc").system.mobility.freedoms == 1 and count == 6
    starts = [struct.unpack("<16sqq", sound[contents + 8 + 32 * i : contents + 40 + 32 * i])[1] for i in range(count)]
    places = [16, contents, *(contents + 8 + 32 * i + 16 + k for i in range(count) for k in (0, 8)), *starts, starts[0] + 8]
    for place in places:
        path = tmp_path / "damaged.usdc"
        path.write_bytes(sound[:place] + struct.pack("<Q", 1 << 40) + sound[place + 8 :])
        with pytest.raises(ModelError, match="is damaged"):
            lw.load(path)


@pytest.mark.parametrize(
    "text",
    ["", "not usd", "#usda 1.0\ndef Xform {", "#usda 1.0\n(\n  metersPerUnit = far\n)\n", "PXR-USDC" + "\0" * 90, "PXR-USDC"],
    ids=["empty", "words", "open brace", "wrong number", "zeros", "head alone"],
)
def test_texts_that_are_no_usd(tmp_path: Path, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.usd"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"USD|rigid body|damaged"):
        lw.load(path)
    assert capfd.readouterr().err == ""
