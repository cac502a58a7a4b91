"""Closures of other formats as joints: compared with the same mechanism written in the plane, or with sums by hand."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.model.description import GROUND, Body, Damper, Description, Joint, Placement, Point, Rod, Visual
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.structure_recognition import understand
from linkwright.system.system import System
from tests import exports
from tests.refusals import refused
from tests.rings.exchange.reading.structure_recognition.linkages import (
    C_COUPLER,
    C_ROCKER,
    about_x,
    closure,
    four_bar,
    planar_four_bar,
    rod,
)

DOWN_THE_TREE = {"A": 2.0, "D": -0.7}  # N m


def understood(d: Description, *closing: str, points_only: tuple[str, ...] = ()) -> Imported:
    return understand(Imported(d, closing), points_only=points_only)


def accelerations(d: Description) -> np.ndarray:
    """Accelerations of A, B and D from the drawn position, moving."""
    s = System(d)
    st = s.assemble(v={"A": 1.7})
    acc = s.forward(st, DOWN_THE_TREE)
    return np.array([acc["A"], acc["B"], acc["D"]])


def same_as_planar(d: Description, tolerance: float = 1e-11) -> None:
    wanted = accelerations(planar_four_bar())
    assert np.abs(accelerations(d) - wanted).max() <= tolerance * np.abs(wanted).max()


def test_a_point_that_closes_a_planar_loop_has_two_rows() -> None:
    found = understood(four_bar(closure("C", "spherical")), "C")
    assert found.description.joint("C").type == "floating_bearing"
    assert found.closing == ("C",)
    assert found.report.inferred == (
        "the loop of 'B', 'A', 'D' is planar: the point 'C' closes it in the plane only (a floating bearing).",
    )
    s = System(found.description)
    assert (s.mobility.freedoms, s.mobility.redundant, s.tree.cuts) == (1, (), ("C",))
    same_as_planar(found.description)


@pytest.mark.parametrize("tilt", [1e-9, 1e-6, 5e-4])
def test_axes_with_few_digits_do_not_lock_a_planar_loop(tilt: float) -> None:
    d = four_bar(closure("C", "spherical"), tilt=tilt)
    assert System(d).mobility.freedoms == 0  # as the file has it: rigid
    found = understood(d, "C")
    assert System(found.description).mobility.freedoms == 1
    assert found.description.joint("B") == d.joint("B")  # the tree is that of the file
    same_as_planar(found.description, max(1e-11, 10.0 * tilt))  # as far from the plane as the axis


@pytest.mark.parametrize("tilt", [1e-9, 1e-6, 5e-4])
def test_axes_of_planar_loops_of_hinges_are_made_parallel(tilt: float) -> None:
    d = four_bar(closure("C", "revolute"), tilt=tilt)
    assert System(d).mobility.freedoms == 0
    found = understood(d, "C")
    s = System(found.description)
    assert s.mobility.freedoms == 1
    assert any("made parallel" in x for x in found.report.inferred) == (tilt > 1e-9)
    same_as_planar(found.description)  # the axes of the bodies are the nearest ones
    exact = System(understood(four_bar(closure("C", "revolute")), "C").description)
    assert s.kernel("forward").program.operations == exact.kernel("forward").program.operations


def test_axes_that_are_not_parallel_are_left() -> None:
    d = four_bar(closure("C", "spherical"), tilt=0.05)
    found = understood(d, "C")
    assert found.description == d
    assert found.report.inferred == ()


@pytest.mark.parametrize("kind", ["spherical", "revolute"])
def test_joints_off_the_plane(kind: str) -> None:
    """A floating bearing does not see the offset, a hinge is moved."""
    off = replace(closure("C", kind), frame_second=Placement((-0.1, 0.6, 1e-5)))
    found = understood(four_bar(off), "C")
    assert found.report.gaps == (("C", pytest.approx(1e-5)),)
    assert ("moved into one plane (by 1e-05 m)" in found.report.inferred[-1] if found.report.inferred else False) == (kind == "revolute")
    same_as_planar(found.description)


@pytest.mark.parametrize("offset", [0.0, 1e-16, 0.05])
def test_hinges_in_the_plane_or_far_off_it_are_left(offset: float) -> None:
    """Round-off needs no mending; a twentieth of the size is no rounding of a file."""
    off = replace(closure("C", "revolute"), frame_second=Placement((-0.1, 0.6, offset)))
    d = four_bar(off)
    found = understood(d, "C")
    assert found.description == d
    assert found.report.inferred == ()


def test_two_points_are_a_hinge_along_their_line() -> None:
    d = four_bar(closure("C", "spherical"), closure("C_z", "spherical", (0.0, 0.0, 0.1)))
    found = understood(d, "C", "C_z")
    assert [j.name for j in found.description.joints] == ["A", "B", "D", "C"]
    assert found.report.inferred == ("'coupler' and 'rocker': two points on one axis ('C', 'C_z') became the hinge 'C'.",)
    assert found.report.gaps == (("C", pytest.approx(0.0, abs=1e-15)), ("C_z", pytest.approx(0.0, abs=1e-15)))
    same_as_planar(found.description)


def test_two_points_the_other_way_round_are_a_hinge_too() -> None:
    turned = Joint("C_z", "spherical", "rocker", "coupler", Placement((-0.1, 0.6, 0.1)), Placement((0.7, 0.3, 0.1)))
    found = understood(four_bar(closure("C", "spherical"), turned), "C", "C_z")
    same_as_planar(found.description)


def test_a_hinge_of_two_points_may_point_anywhere() -> None:
    """A door on a frame: two points are its axis, in each body's own axes."""
    tilted = about_x(0.4)
    door = Body("door", (), 1.0, (0.2, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)), Placement((0.0, 0.0, 0.0), tilted))
    up = np.array(tilted).T @ [0.0, 0.3, 0.4]
    d = Description(
        "door",
        (Body(GROUND), door),
        (
            Joint("base", "free", GROUND, "door"),
            Joint("low", "spherical", GROUND, "door"),
            Joint("high", "spherical", GROUND, "door", Placement((0.0, 0.3, 0.4)), Placement((float(up[0]), float(up[1]), float(up[2])))),
        ),
    )
    found = understood(d, "low", "high")
    hinge = found.description.joint("low")
    assert hinge.type == "revolute"
    assert np.array(hinge.frame_first.rotation)[:, 2] == pytest.approx([0.0, 0.6, 0.8], abs=1e-15)
    assert [j.name for j in found.description.joints] == ["low"]
    assert "the free joint 'base' was left out" in found.report.inferred[-1]


def test_three_points_that_are_not_on_a_line_are_fixed_and_make_one_body() -> None:
    half, whole = rod("half", (0.35, 0.15, 0.0), 0.45, (0.0, 0.3, 0.0)), four_bar()
    d = replace(
        whole,
        bodies=(*whole.bodies, half),
        joints=(
            *whole.joints,
            Joint("C", "revolute", "rocker", "half", Placement(C_ROCKER), Placement(C_COUPLER)),
            *(
                Joint(n, "spherical", "coupler", "half", Placement(p), Placement(p))
                for n, p in (("p", (0.1, 0.0, 0.0)), ("q", (0.2, 0.1, 0.0)))
            ),
            Joint("r", "spherical", "half", "coupler", Placement((0.0, 0.0, 0.3)), Placement((0.0, 0.0, 0.3))),
        ),
    )
    found = understood(d, "p", "q", "r")
    assert [b.name for b in found.description.bodies] == [GROUND, "crank", "coupler", "rocker"]
    assert "three points that are not on one line" in found.report.inferred[0]
    assert found.description.body("coupler").mass == pytest.approx(1.35)
    assert System(found.description).mobility.freedoms == 1


def test_points_that_disagree_are_left_and_reported() -> None:
    other = replace(closure("C_z", "spherical", (0.0, 0.0, 0.1)), frame_second=Placement((-0.1, 0.6, 0.2)))
    found = understood(four_bar(closure("C", "spherical"), other), "C", "C_z")
    assert "other distances" in found.report.inferred[0]
    assert dict(found.report.gaps)["C_z"] == pytest.approx(0.1)


def test_the_same_point_twice_closes_once() -> None:
    found = understood(four_bar(closure("C", "spherical"), closure("again", "spherical")), "C", "again")
    assert "the same point" in found.report.inferred[0]
    same_as_planar(found.description)


def split(relative: Placement, weld: Joint) -> Description:
    """The four-bar with its coupler in two halves, one on the crank and one on the rocker, in a frame of its own."""
    whole = four_bar()
    R, p = np.array(relative.rotation), np.array(relative.at)
    first = rod("coupler", (0.35, 0.15, 0.0), 0.45, (0.0, 0.3, 0.0))
    far = rod("far", (0.35, 0.15, 0.0), 0.45, (0.0, 0.0, 0.0))
    com = R.T @ (np.array([0.525, 0.225, 0.0]) - p)
    inertia = R.T @ np.array(far.inertia) @ R
    start = Placement((p[0], 0.3 + p[1], p[2]), relative.rotation)
    far = replace(
        far,
        com=tuple(com),
        inertia=tuple(tuple(row) for row in inertia),
        start=start,
        points=(Point("tip", tuple(R.T @ (np.array(C_COUPLER) - p))),),
    )
    hinge = Joint(
        "C",
        "revolute",
        "rocker",
        "far",
        Placement(C_ROCKER),
        Placement(tuple(R.T @ (np.array(C_COUPLER) - p)), tuple(tuple(r) for r in R.T)),
    )
    bodies = (*whole.bodies[:2], first, whole.bodies[3], far)
    return replace(whole, bodies=bodies, joints=(*whole.joints, hinge, weld))


def test_welded_halves_are_one_body_with_the_sum_of_their_inertias() -> None:
    relative = Placement((0.2, -0.1, 0.05), about_x(0.3))
    d = split(relative, Joint("weld", "fixed", "coupler", "far", relative))
    d = replace(d, rods=(Rod("tie", (("far", "tip"), ("rocker", "end")), 0.5),), dampers=(Damper("d", 0.0, "C"),))
    d = replace(d, bodies=tuple(replace(b, points=(Point("end", (0.0, 0.0, 0.0)),)) if b.name == "rocker" else b for b in d.bodies))
    found = understood(d, "weld")
    assert found.closing == ()
    assert found.report.inferred == ("'far' and 'coupler' are halves of one body ('weld'): merged.",)
    assert found.report.angles == (("weld", pytest.approx(0.0, abs=1e-12)),)
    coupler = found.description.body("coupler")
    # two equal rods end to end: mass 0.9, center in the middle, inertia of the whole rod (0.7, 0.3, 0) with the thickness of both
    whole = rod("coupler", C_COUPLER, 0.9, (0.0, 0.3, 0.0))
    assert coupler.mass == pytest.approx(0.9)
    assert coupler.com == pytest.approx(whole.com, abs=1e-15)
    assert np.array(coupler.inertia) == pytest.approx(np.array(whole.inertia), abs=1e-15)
    assert coupler.point("tip").at == pytest.approx(C_COUPLER, abs=1e-15)
    assert np.array(coupler.point("far").rotation) == pytest.approx(np.array(about_x(0.3)), abs=1e-15)
    assert found.description.rods[0].between == (("coupler", "tip"), ("rocker", "end"))
    same_as_planar(replace(found.description, rods=()))


def test_a_weld_beside_a_joint_is_left() -> None:
    d = four_bar(Joint("lock", "fixed", "crank", "coupler", Placement((0.0, 0.3, 0.0))))
    found = understood(d, "lock")
    assert found.description.joints == d.joints
    assert "It stays a joint" in found.report.inferred[0]


def test_a_point_beside_a_weld_follows_from_it() -> None:
    relative = Placement((0.2, -0.1, 0.05), about_x(0.3))
    d = split(relative, Joint("weld", "fixed", "coupler", "far", relative))
    point = Joint("extra", "spherical", "coupler", "far", Placement(relative.at))
    found = understood(replace(d, joints=(*d.joints, point)), "weld", "extra")
    assert found.report.inferred[-1] == "'extra' follows from 'weld' and was left out."
    same_as_planar(found.description)


def test_a_body_welded_to_ground_loses_its_free_joint_and_what_acts_on_it() -> None:
    box = rod("box", (0.1, 0.0, 0.0), 1.0, (0.0, 0.0, 1.0))
    arm = rod("arm", (0.4, 0.0, 0.0), 1.0, (0.1, 0.0, 1.0))
    joints = (
        Joint("base", "free", GROUND, "box"),
        Joint("A", "revolute", "box", "arm", Placement((0.1, 0.0, 0.0))),
        Joint("hold", "fixed", GROUND, "box", Placement((0.0, 0.0, 1.0))),
    )
    d = Description("held", (Body(GROUND), box, arm), joints, dampers=(Damper("air", 0.1, "base"), Damper("b", 0.2, "A")))
    found = understood(d, "hold").description
    assert [j.name for j in found.joints] == ["A"]
    assert found.joint("A").first == GROUND
    assert found.joint("A").frame_first.at == pytest.approx((0.1, 0.0, 1.0))
    assert [x.name for x in found.dampers] == ["b"]


def test_fixed_joints_of_the_tree_merge_bodies_and_leave_their_frames_as_points() -> None:
    d = four_bar(closure("C", "revolute"))
    tip = Body("tool", (Point("tip", (0.0, 0.0, 0.1)),), 0.2, (0.0, 0.0, 0.05), ((1e-4, 0.0, 0.0), (0.0, 2e-4, 0.0), (0.0, 0.0, 3e-4)))
    tip = replace(tip, visuals=(Visual("sphere", (0.01, 0.0, 0.0), Placement((0.0, 0.0, 0.1))),))
    flange = Body("flange", (Point("tip", (0.0, 0.0, 0.0)),))
    mount = Body("mount", (), 3.0)
    joints = (
        *d.joints,
        Joint("f1", "fixed", "coupler", "flange", Placement((0.3, 0.2, 0.0), about_x(np.pi / 2))),
        Joint("f2", "fixed", "flange", "tool", Placement((0.0, 0.0, 0.02))),
        Joint("f3", "fixed", GROUND, "mount", Placement((0.0, 0.0, -1.0))),
    )
    found = understood(replace(d, bodies=(*d.bodies, flange, tip, mount), joints=joints), "C")
    assert [b.name for b in found.description.bodies] == [b.name for b in d.bodies]
    assert found.report.inferred == (
        "'flange', 'tool' are fixed to 'coupler' and became part of it.",
        "'mount' is fixed to 'ground' and became part of it.",
    )
    coupler = found.description.body("coupler")
    assert [p.name for p in coupler.points] == ["flange", "tip", "tool", "tool_tip"]
    assert coupler.point("tool_tip").at == pytest.approx((0.3, 0.08, 0.0), abs=1e-15)  # z of the flange is -y
    assert coupler.visuals[0].placement.at == pytest.approx((0.3, 0.08, 0.0), abs=1e-15)
    assert coupler.mass == pytest.approx(1.1)
    assert found.description.body(GROUND).mass is None  # what stands on the ground does not move
    assert coupler.com == pytest.approx((0.9 * np.array([0.35, 0.15, 0.0]) + 0.2 * np.array([0.3, 0.13, 0.0])) / 1.1, abs=1e-15)


def test_a_hinge_whose_reference_closes_the_point_only_is_reported_where_it_matters() -> None:
    flat = understood(four_bar(closure("C", "revolute")), "C", points_only=("C",))
    assert flat.report.inferred == ()
    d = four_bar(closure("C", "revolute"))
    joints = tuple(replace(j, type="spherical") if j.name == "D" else j for j in d.joints)
    tilted = understood(replace(d, joints=joints), "C", points_only=("C",))  # the ball turns about x and y: one such motion moves C
    assert tilted.report.inferred == (
        "the hinge 'C' holds its axis too (1 row more). Other readers of this format close the point alone.",
    )  # fmt: skip


def test_gaps_are_those_of_the_file() -> None:
    """The closing point of the rocker is 3 mm and 4 mm off, its axes turned by 0.1 rad."""
    weld = replace(closure("C", "fixed"), frame_second=Placement((-0.097, 0.604, 0.0), about_x(0.1)))
    found = understood(four_bar(weld), "C")
    assert found.report.gaps == (("C", pytest.approx(0.005)),)
    assert found.report.angles == (("C", pytest.approx(0.1, rel=2e-3)),)  # half-angle measure of the rows: 2 sin(angle/2) or less


def test_a_floating_bearing_of_a_planar_loop_is_one_point_in_mujoco() -> None:
    """Its sides are 3 mm apart along the axis, which a point must not see."""
    shifted = replace(closure("C", "floating_bearing"), frame_second=Placement((C_ROCKER[0], C_ROCKER[1], 0.003)))
    model = mujoco.MjModel.from_xml_string(exports.mjcf(System(four_bar(shifted))))
    assert (model.neq, model.eq_type[0]) == (1, mujoco.mjtEq.mjEQ_CONNECT)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12


def test_a_floating_bearing_in_space_is_not_a_point() -> None:
    d = four_bar(closure("C", "floating_bearing"))
    joints = tuple(replace(j, type="spherical") if j.name == "D" else j for j in d.joints)
    with refused(UsageError, name="C"):
        exports.mjcf(System(replace(d, joints=joints), ["C"]))


@pytest.mark.parametrize(("error", "freedoms"), [(0.0, 1), (1e-8, 1), (1e-4, 1), (0.01, 0)])
def test_parallel_cranks_with_rounded_lengths_move(error: float, freedoms: int) -> None:
    """Three cranks between ground and a table; the third is longer by `error`. Up to a thousandth that is meant as equal."""
    cranks = [("left", 0.0, 0.3), ("middle", 0.4, 0.3), ("right", 0.7, 0.3 + error)]
    bodies = [Body(GROUND), *(rod(name, (0.1, y, 0.0), 0.3, (x, 0.0, 0.0)) for name, x, y in cranks)]
    table = rod("table", (0.7, 0.0, 0.0), 2.0, (0.1, 0.3, 0.0))
    joints = [Joint(f"{name}_foot", "revolute", GROUND, name, Placement((x, 0.0, 0.0))) for name, x, _ in cranks]
    joints += [
        Joint(f"{name}_head", "revolute", name, "table", Placement((0.1, y, 0.0)), Placement((x, 0.0, 0.0))) for name, x, y in cranks
    ]
    d = Description("table", (*bodies, table), tuple(joints))
    found = understood(d, "middle_head", "right_head")
    assert any("are parallel cranks" in x for x in found.report.inferred) == (error in (1e-8, 1e-4))
    s = System(found.description) if freedoms else None
    assert s is None or s.mobility.freedoms == 1
    if s is None:
        assert found.description == d
    else:
        lengths = [np.linalg.norm(found.description.joint(f"{name}_head").frame_first.at) for name, _, _ in cranks]
        assert np.ptp(lengths) < 1e-15
