"""Tree dynamics against Pinocchio on random trees of every joint type it has."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from linkwright.mechanics.dynamics import tree as dyn
from linkwright.mechanics.kinematics.motion import motion
from linkwright.numerics.spatial import Pose
from tests import factory

# our type -> (its joint model, our q -> its q, our v -> its v); angles and travels agree, quaternions are xyzw there
SHARED = ("revolute", "prismatic", "spherical", "free", "fixed", "universal", "screw", "cylindrical", "planar", "pin_slot")


def pin_joints(kind, options):
    """A chain of Pinocchio joints (with placements identity between them) equal to one of ours."""
    if kind == "revolute":
        return [pin.JointModelRZ()]
    if kind == "prismatic":
        return [pin.JointModelPX()]
    if kind == "spherical":
        return [pin.JointModelSpherical()]
    if kind == "free":
        return [pin.JointModelFreeFlyer()]
    if kind == "universal":
        return [pin.JointModelRX(), pin.JointModelRY()]
    if kind == "screw":
        return [pin.JointModelHZ(dict(options)["pitch"])]
    if kind == "cylindrical":
        return [pin.JointModelRZ(), pin.JointModelPZ()]
    if kind == "pin_slot":
        return [pin.JointModelPX(), pin.JointModelRZ()]
    if kind == "planar":
        return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
    raise AssertionError(kind)


def se3(X: Pose):
    return pin.SE3(np.asarray(X.R, float), np.asarray(X.p, float))


def build(skel):
    """The same tree there; massless helper links carry joints made of several of its joints."""
    model = pin.Model()
    model.gravity.linear = np.asarray(skel.gravity)
    at = {-1: (0, pin.SE3.Identity())}  # node -> (joint id, placement of the body in it)
    for i, n in enumerate(skel.tree.nodes):
        parent, X_JP = at[n.parent]
        place = X_JP * se3(skel.X_PF[i])
        if n.joint.type == "fixed":
            at[i] = (parent, place * se3(skel.X_CM[i]).inverse())
        else:
            ids = parent
            for k, jm in enumerate(pin_joints(n.joint.type, n.joint.options)):
                ids = model.addJoint(ids, jm, place, f"{n.joint.name}_{k}")
                place = pin.SE3.Identity()
            at[i] = (ids, se3(skel.X_CM[i]).inverse())
        joint, X_JB = at[i]
        inertia = pin.Inertia(float(skel.mass[i]), np.asarray(skel.com[i]), np.asarray(skel.inertia[i]))
        model.appendBodyToJoint(joint, inertia, X_JB)
    return model


def to_pin(skel, q, v, a):
    """Its coordinates, and the matrix T(q) with v_pin = T v plus its rate term for free joints."""
    Q, blocks, drift = [], [], []
    for n in skel.tree.nodes:
        qj, vj = q[n.q], v[n.v]
        if n.joint.type == "spherical":
            Q += [*qj[1:], qj[0]]
            blocks.append(np.eye(3))
            drift.append(np.zeros(3))
        elif n.joint.type == "free":
            Q += [*qj[4:], *qj[1:4], qj[0]]
            R = pin.Quaternion(*qj[:4]).toRotationMatrix()
            # theirs: [velocity in M axes; angular in M axes]; ours: [angular in M axes; velocity in F axes]
            T = np.zeros((6, 6))
            T[:3, 3:], T[3:, :3] = R.T, np.eye(3)
            blocks.append(T)
            drift.append(np.concatenate([-np.cross(vj[:3], R.T @ vj[3:]), np.zeros(3)]))
        else:
            Q += list(qj)
            blocks.append(np.eye(len(vj)))
            drift.append(np.zeros(len(vj)))
    T = np.zeros((len(v), len(v)))
    at = 0
    for B in blocks:
        T[at : at + len(B), at : at + len(B)] = B
        at += len(B)
    return np.array(Q), T, np.concatenate(drift) if drift else np.zeros(0)


@pytest.mark.parametrize("seed", range(12))
def test_mass_matrix_bias_and_recursion(seed):
    rng = np.random.default_rng(seed)
    t = factory.random_tree(rng, 6, SHARED, chain=0.6, forward=True)
    skel, q, v = t.skel, t.q, t.v
    model = build(skel)
    data = model.createData()
    Q, T, drift = to_pin(skel, q, v, None)
    m = motion(skel, q, v)
    M, h = dyn.mass_matrix(skel, m), dyn.bias_force(skel, m)
    M_pin = pin.crba(model, data, Q)
    M_pin = np.triu(M_pin) + np.triu(M_pin, 1).T
    h_pin = pin.nonLinearEffects(model, data, Q, T @ v)
    scale = np.abs(M).max() * (1 + np.abs(v).max() ** 2)
    np.testing.assert_allclose(T.T @ M_pin @ T, M, atol=1e-10 * np.abs(M).max())
    np.testing.assert_allclose(T.T @ (h_pin + M_pin @ drift), h, atol=1e-10 * scale)
    tau = rng.normal(size=skel.tree.nv)
    a = dyn.forward_tree(skel, m, tau)
    a_pin = pin.aba(model, data, Q, T @ v, np.linalg.solve(T.T, tau))
    np.testing.assert_allclose(T @ a + drift, a_pin, atol=1e-10 * np.linalg.cond(M) ** 0.5 * (1 + np.abs(a).max()))
