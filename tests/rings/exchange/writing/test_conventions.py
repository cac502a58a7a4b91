"""The conventions of docs/explanation/conventions.md against Pinocchio and MuJoCo themselves, by models written in their own words.

No converter is used: the lines of the page's table are applied by hand.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwright as lw
from linkwright.numerics.spatial import cross, quaternion_rotation

MASS, COM, INERTIA = 2.0, np.array([0.1, -0.2, 0.05]), np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.5]])
G = np.array([0.0, 0.0, -9.81])
Q = np.array([0.8, 0.36, -0.48, 0.0, 0.1, 0.2, 0.3])  # wxyz, position
V = np.array([0.5, -1.0, 2.0, 0.3, 0.2, -0.1])  # angular velocity in the body's axes, velocity in the world's
R = quaternion_rotation(Q[:4])
P = np.array([0.3, 0.4, -0.2])  # a point of the body

OURS = {
    "gravity": G.tolist(),
    "bodies": {
        "ground": {"points": {"O": [0, 0, 0]}},
        "stone": {"points": {"O": [0, 0, 0], "P": P.tolist()}, "mass": MASS, "com": COM.tolist(), "inertia": INERTIA.tolist()},
    },
    "joints": {"F": {"type": "free", "connect": ["ground.O", "stone.O"]}},
}
FULL = " ".join(str(INERTIA[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
THEIRS = f"""<mujoco><worldbody><body name="stone"><freejoint/>
<inertial pos="{COM[0]} {COM[1]} {COM[2]}" mass="{MASS}" fullinertia="{FULL}"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def ours() -> tuple[lw.System, lw.State]:
    s = lw.load(OURS).system
    return s, s.state(Q, V)


def pinocchio_stone() -> pin.Model:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "F")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, COM, INERTIA), pin.SE3.Identity())
    return model


def test_a_free_body_in_pinocchio(ours: tuple[lw.System, lw.State]) -> None:
    """Position and xyzw, both velocities in moving axes, six-vectors with the linear part first, gravity of the same sign."""
    s, st = ours
    model = pinocchio_stone()
    data = model.createData()
    q, v = np.r_[Q[4:], Q[1:4], Q[0]], np.r_[R.T @ V[3:], V[:3]]
    pin.forwardKinematics(model, data, q, v)
    X = s.pose(st, "stone")
    np.testing.assert_allclose(data.oMi[1].rotation, X.R, atol=1e-14)
    np.testing.assert_allclose(data.oMi[1].translation, X.p, atol=1e-14)
    twist = pin.getVelocity(model, data, 1, pin.LOCAL_WORLD_ALIGNED).vector  # [linear; angular] at the body's origin
    np.testing.assert_allclose(twist[:3] + cross(twist[3:], X.R @ P), st["stone.P.v"], atol=1e-14)
    np.testing.assert_allclose(model.gravity.linear, G)  # its default
    force, moment = np.array([4.0, 5.0, 6.0]), np.array([0.1, 0.2, 0.3])
    for push in (0.0, 1.0):
        a = s.forward(st, wrench={"stone": [*(push * moment), *(push * force)]}).a  # [moment; force] at the origin, world axes
        there = pin.aba(model, data, q, v, np.zeros(6), [pin.Force.Zero(), pin.Force(push * R.T @ force, push * R.T @ moment)])
        np.testing.assert_allclose(there, np.r_[R.T @ a[3:] - cross(V[:3], R.T @ V[3:]), a[:3]], atol=1e-12)
    bias = pin.nle(model, data, q, np.zeros(6))  # at rest gravity alone: held against its weight a body has h upwards
    np.testing.assert_allclose(np.r_[bias[3:], R @ bias[:3]], s.h(s.state(Q)), atol=1e-12)
    assert s.h(s.state(Q))[5] > 0.0


def test_a_free_body_in_mujoco(ours: tuple[lw.System, lw.State]) -> None:
    """Position and wxyz, velocity in the world and angular velocity in the body's axes, six-vectors with the angular part first."""
    s, st = ours
    model = mujoco.MjModel.from_xml_string(THEIRS)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = np.r_[Q[4:], Q[:4]], np.r_[V[3:], V[:3]]
    mujoco.mj_forward(model, data)
    X = s.pose(st, "stone")
    np.testing.assert_allclose(data.body("stone").xmat.reshape(3, 3), X.R, atol=1e-14)
    twist = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, twist, 0)  # [angular; linear] at the body's origin, world axes
    np.testing.assert_allclose(twist[3:] + cross(twist[:3], X.R @ P), st["stone.P.v"], atol=1e-14)
    np.testing.assert_allclose(model.opt.gravity, G)  # its default
    a = s.forward(st).a
    np.testing.assert_allclose(data.qacc, np.r_[a[3:], a[:3]], atol=1e-11)
    np.testing.assert_allclose(data.qfrc_bias, np.r_[s.h(st)[3:], s.h(st)[:3]], atol=1e-12)
    force, moment = np.array([4.0, 5.0, 6.0]), np.array([0.1, 0.2, 0.3])
    data.xfrc_applied[1] = np.r_[force, moment - cross(R @ COM, force)]  # theirs: [force; torque] at the center of mass
    mujoco.mj_forward(model, data)
    a = s.forward(st, wrench={"stone": [*moment, *force]}).a
    np.testing.assert_allclose(data.qacc, np.r_[a[3:], a[:3]], atol=1e-11)


HELD = {
    "gravity": G.tolist(),
    "bodies": {
        "ground": {"points": {"O": [0, 0, 0], "P": [0.1, 0, 0]}},
        "plate": {"points": {"O": [0, 0, 0], "P": [0.1, 0, 0]}, "mass": MASS, "com": [0, 0, 0], "inertia": [0.3, 0.4, 0.5]},
    },
    "joints": {
        "guide": {"type": "prismatic", "connect": ["ground.O", "plate.O"], "axis": [0, 0, 1]},
        "pin": {"type": "spherical", "connect": ["ground.P", "plate.P"]},
    },
}
HELD_THERE = f"""<mujoco><option timestep="1e-3"/><default><equality solref="0.002 1" solimp="0.9999 0.9999 1"/></default><worldbody>
<site name="one" pos="0.1 0 0"/>
<body><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{MASS}" diaginertia="0.3 0.4 0.5"/>
<site name="two" pos="0.1 0 0"/></body>
</worldbody><equality><connect site1="one" site2="two"/></equality></mujoco>"""


def test_who_pushes_whom_in_a_loop() -> None:
    """A plate on a vertical guide hangs by a pin, written (ground, plate): ours carries its weight, theirs press on ground."""
    s = lw.compile(lw.load(HELD), cuts=["pin"])
    acc = s.forward(s.start)
    np.testing.assert_allclose(acc.joint_force("pin"), -MASS * G, atol=1e-10)
    np.testing.assert_allclose(s.M(s.start) @ acc.a + s.h(s.start), s.closure(s.start).J.T @ acc.solution.lam, atol=1e-10)

    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "guide")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, np.zeros(3), np.diag([0.3, 0.4, 0.5])), pin.SE3.Identity())
    at = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))
    held = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 0, at, joint, at, pin.ReferenceFrame.LOCAL)
    data, models, datas = model.createData(), pin.StdVec_RigidConstraintModel([held]), pin.StdVec_RigidConstraintData([held.createData()])
    pin.initConstraintDynamics(model, data, models, datas)
    pin.constraintDynamics(model, data, np.zeros(1), np.zeros(1), np.zeros(1), models, datas, pin.ProximalSettings(1e-13, 1e-10, 20))
    np.testing.assert_allclose(datas[0].contact_force.linear, MASS * G, atol=1e-6)  # what mu = 1e-10 leaves of two empty rows

    soft = mujoco.MjModel.from_xml_string(HELD_THERE)
    there = mujoco.MjData(soft)
    mujoco.mj_forward(soft, there)
    np.testing.assert_allclose(there.efc_force, MASS * G, atol=1e-3 * MASS * 9.81)  # an impedance of 0.9999 lets 1e-4 of it go
