"""Couplings, gears, racks, driven joints and driven lengths: derivatives by complex step, forces by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwright.errors import ModelError
from linkwright.mechanics.constraints import DrivenDistance, Driver, PointTarget
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.mechanics.constraints.loops import closure, loop_wrenches, of_loops
from linkwright.mechanics.dynamics import tree as dyn
from linkwright.mechanics.kinematics.motion import motion, qdot, skeleton
from linkwright.model import description as d
from linkwright.model.curves.formula import Formula
from linkwright.model.curves.polynomial import Line
from linkwright.model.curves.tables import table
from linkwright.text.expressions import variable
from linkwright.topology import build_tree
from tests import factory
from tests.refusals import refused

STEP = 1e-30


def check_derivatives(skel, q, v, a, constraints=None, t=0.3):
    """phi' = J v + b and (J v + b)' = J a + k, at a state that need not be closed."""
    constraints = of_loops(skel) if constraints is None else constraints
    c = closure(skel, motion(skel, q, v), v, t, constraints=constraints)
    qc, vc = q + 1j * STEP * qdot(skel, q, v), v + 1j * STEP * a
    cc = closure(skel, motion(skel, qc, vc), vc, t + 1j * STEP, constraints=constraints)
    scale = 1 + np.abs(c.k).max()
    np.testing.assert_allclose(c.J @ v + c.b, cc.phi.imag / STEP, atol=1e-11 * scale)
    np.testing.assert_allclose(c.J @ a + c.k, (cc.J @ vc + cc.b).imag / STEP, atol=1e-11 * scale)
    return c


def gear_train(kind="external", carrier_moves=False, reverse=False):
    """Pinion of 20 mm at the origin, wheel of 60 mm (or ring, or rack) on one carrier."""
    internal = kind == "internal"
    center = (0.04, 0.0, 0.0) if internal else (0.08, 0.0, 0.0)
    bodies = [d.Body("ground"), d.Body("arm", mass=1.0, inertia=d.EYE3), d.Body("pinion", mass=1.0, inertia=d.EYE3)]
    bodies.append(d.Body("wheel", mass=2.0, inertia=d.EYE3, start=d.Placement(center)))
    carrier = "arm" if carrier_moves else "ground"
    joints = [d.Joint("O", "revolute", "ground", "arm")] if carrier_moves else [d.Joint("O", "fixed", "ground", "arm")]
    joints.append(d.Joint("A", "revolute", carrier, "pinion") if not reverse else d.Joint("A", "revolute", "pinion", carrier))
    if kind == "rack":
        joints.append(d.Joint("B", "prismatic", carrier, "wheel", d.Placement((0.0, -0.02, 0.0)), d.Placement()))
        bodies[-1] = replace(bodies[-1], start=d.Placement((0.0, -0.02, 0.0)))
        gear = d.Gear("G", "A", "B", 0.02, rack=True)
    else:
        joints.append(d.Joint("B", "revolute", carrier, "wheel", d.Placement(center), d.Placement()))
        gear = d.Gear("G", "A", "B", 0.02, 0.06, internal=internal)
    desc = d.Description("gears", tuple(bodies), tuple(joints), plane="xy", gears=(gear,))
    return skeleton(build_tree(desc, []))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("carrier_moves", [False, True])
@pytest.mark.parametrize("kind", ["external", "internal", "rack"])
def test_gear_rolls_and_its_derivatives_are_exact(kind, carrier_moves, reverse):
    skel = gear_train(kind, carrier_moves, reverse)
    rng = np.random.default_rng(2)
    q, v, a = (rng.normal(size=skel.tree.nv) for _ in range(3))
    c = check_derivatives(skel, q, v, a)
    # the J of the pitch-point force touches only the two wheels' own joints
    own = [skel.tree.nodes[skel.tree.node_of_joint[j]].v.start for j in "AB"]
    others = [i for i in range(skel.tree.nv) if i not in own]
    np.testing.assert_allclose(c.J[0, others], 0.0, atol=1e-16)
    sign_a = -1.0 if reverse else 1.0
    wheel = {"external": 0.06, "internal": -0.06, "rack": -1.0}[kind]  # pinion above the rack: turning ccw rolls the rack to +x
    np.testing.assert_allclose(c.J[0, own], [sign_a * 0.02, wheel], atol=1e-16)


def test_a_10_newton_meter_pinion_of_20_mm_loads_its_bearing_with_532_newton():
    """Ft = 10/0.02 = 500 N, Fr = 500 tan 20 deg = 182 N, together 532 N."""
    skel = gear_train()
    q = v = np.zeros(skel.tree.nv)
    m = motion(skel, q, v)
    constraints = of_loops(skel)
    gear = constraints[0]
    assert isinstance(gear, GearConstraint)
    c = closure(skel, m, v, constraints=constraints)
    a_row = skel.tree.nodes[skel.tree.node_of_joint["A"]].v.start
    lam = np.array([-10.0 / c.J[0, a_row]])  # static: J' lam + 10 N m = 0 at the pinion
    external = [*loop_wrenches(skel, c, lam), *gear.separating_force(skel, m, lam)]
    F = dyn.joint_wrenches(skel, m, np.zeros(skel.tree.nv), external)
    bearing = F[skel.tree.node_of_body["pinion"]]
    assert bearing[2] == pytest.approx(10.0, abs=1e-12)  # the drive torque the bearing joint must carry
    assert np.hypot(*bearing[3:5]) == pytest.approx(500.0 / np.cos(np.radians(20.0)), abs=1e-9)
    assert round(float(np.hypot(*bearing[3:5]))) == 532
    # the teeth push the two wheels apart, and the pair of forces is balanced
    wheel = F[skel.tree.node_of_body["wheel"]]
    np.testing.assert_allclose(bearing[3:] + wheel[3:], 0.0, atol=1e-9)
    assert bearing[3] > 0 > wheel[3]  # bearings hold the pinion (left) and the wheel (right) together


def test_gear_with_wrong_radii_says_what_to_correct():
    skel = gear_train()
    bad = replace(skel.tree.description, gears=(d.Gear("G", "A", "B", 0.02, 0.05),))
    with refused(ModelError, name="G"):
        of_loops(skeleton(build_tree(bad, [])))


@pytest.mark.parametrize("law", ["ratio", "table"])
def test_coupling_between_tree_and_cut_joints(law):
    rng = np.random.default_rng(4)
    tree = factory.random_tree(rng, 4, ("revolute", "prismatic"))
    mech = factory.with_loops(rng, tree, ["revolute"])
    desc = mech.skel.tree.description
    table = d.Table("J0", tuple(np.linspace(-3, 3, 7)), tuple(np.sin(np.linspace(-3, 3, 7))))
    pair = d.Coupling("K", "J0", "C0", 1.7, 0.2) if law == "ratio" else d.Coupling("K", "J0", "J2", table=table)
    skel = skeleton(build_tree(replace(desc, couplings=(pair,)), ["C0"]))
    v, a = rng.normal(size=(2, skel.tree.nv))
    if law == "ratio":  # a cut joint's reading is a function of the pose alone on the loops: check there
        c = closure(skel, motion(skel, mech.q, v), v)
        loop = c.J[:5]
        v = v - np.linalg.pinv(loop) @ (loop @ v)
        m = motion(skel, mech.q + 1j * STEP * qdot(skel, mech.q, v), v.astype(complex))
        cc = closure(skel, m, v.astype(complex))
        np.testing.assert_allclose((closure(skel, motion(skel, mech.q, v), v).J @ v)[5], cc.phi[5].imag / STEP, atol=1e-10)
    else:
        check_derivatives(skel, mech.q, v, a)


def test_driven_joint_and_driven_length_are_rheonomic_constraints():
    rng = np.random.default_rng(6)
    t = factory.random_tree(rng, 4, ("revolute", "universal", "spherical"))
    desc = t.skel.tree.description
    law = Formula(0.4 + 0.3 * (2.0 * variable("t")).sin(), "the length")
    hinge = next((j for j in desc.joints if j.type == "revolute"), None)
    drivers = [DrivenDistance("cyl", (("ground", "P"), ("b3", "Q")), law), PointTarget(("b2", "P"), (0, 0, 0), (1, 2, 3), (0, 1, 2))]
    if hinge is not None:
        drivers.append(Driver(hinge, law))
    v, a = rng.normal(size=(2, t.skel.tree.nv))
    check_derivatives(t.skel, t.q, v, a, drivers)


def test_rod_multiplier_is_its_force_and_pushes_when_positive():
    """A mass hanging on a rod from a guided block: the rod pulls with the weight, lam = -m g."""
    bodies = (
        d.Body("ground", (d.Point("O", (0.0, 0.0, 0.0)),)),
        d.Body("bob", (d.Point("C", (0.0, 0.0, 0.0)),), mass=2.0, start=d.Placement((0.0, -0.7, 0.0))),
    )
    desc = d.Description(
        "bob", bodies, (d.Joint("bob", "planar", "ground", "bob"),), plane="xy", gravity=(0.0, -9.81, 0.0),
        rods=(d.Rod("r", (("ground", "O"), ("bob", "C")), 0.7),),
    )  # fmt: skip
    skel = skeleton(build_tree(desc, []))
    q, v = np.array([0.0, -0.7, 0.0]), np.zeros(3)
    m = motion(skel, q, v)
    c = closure(skel, m, v)
    h = dyn.bias_force(skel, m)
    lam = np.linalg.lstsq(c.J.T, h, rcond=None)[0]
    assert lam[0] == pytest.approx(-2.0 * 9.81, abs=1e-12)
    check_derivatives(skel, np.array([0.3, -0.5, 1.0]), np.array([0.2, 0.4, -1.0]), np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("interpolation", ["monotone", "cubic"])
def test_table_law_is_exact_for_lines_and_twice_differentiable(interpolation):
    x = (0.0, 0.5, 1.3, 2.0)
    line = table(x, tuple(3 * v - 1 for v in x), interpolation, straight=True)
    assert line(0.9)[0] == pytest.approx(1.7, abs=1e-14) and line(0.9)[1] == pytest.approx(3.0, abs=1e-13)
    s = table(x, tuple(np.sin(x)), interpolation, straight=True)
    for at in (-0.4, 0.2, 0.5, 1.0, 1.3, 1.9, 2.0, 2.7):
        f, df, ddf = s(at + 1j * STEP)
        assert np.imag(f) / STEP == pytest.approx(np.real(df), abs=1e-12)
        assert np.imag(df) / STEP == pytest.approx(np.real(ddf), abs=1e-12)
    for knot in x:
        left, right = s(knot - 1e-9), s(knot + 1e-9)
        np.testing.assert_allclose(left, right, atol=1e-7)  # continuous up to the second derivative
    assert Line(1.0, 2.0)(3.0) == (7.0, 2.0, 0.0)
