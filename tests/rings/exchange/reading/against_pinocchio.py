"""A tree read by us and by Pinocchio's own parser: the same poses, mass matrix, and efforts of velocity and gravity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from linkwright.api import compiled_of
from linkwright.numerics.spatial import quaternion_rotation
from linkwright.system.system import System


def coordinates(s: System, model: pin.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Their q of ours, and T with their v = T ours."""
    theirs, T = pin.neutral(model), np.zeros((model.nv, s.tree.nv))
    for node in s.tree.nodes:
        j = node.joint
        assert not node.reversed, j.name
        own = q[node.q]
        jid = model.getJointId("root_joint" if j.type == "free" and not model.existJointName(j.name) else j.name)
        assert 0 < jid < model.njoints, j.name
        jm = model.joints[jid]
        at, to = slice(jm.idx_q, jm.idx_q + jm.nq), slice(jm.idx_v, jm.idx_v + jm.nv)
        if j.type in ("spherical", "free"):
            R = quaternion_rotation(own[:4])
            xyzw = np.array([*own[1:4], own[0]])
            theirs[at] = xyzw if j.type == "spherical" else [*own[4:], *xyzw]
            T[to, node.v] = np.eye(3) if j.type == "spherical" else np.block([[np.zeros((3, 3)), R.T], [np.eye(3), np.zeros((3, 3))]])
        elif j.type == "planar":
            c, n = np.cos(own[2]), np.sin(own[2])
            theirs[at] = [own[0], own[1], c, n]
            T[to, node.v] = [[c, n, 0.0], [-n, c, 0.0], [0.0, 0.0, 1.0]]
        else:
            theirs[at] = [np.cos(own[0]), np.sin(own[0])] if jm.nq == 2 else own
            T[to, node.v] = np.eye(len(own))
    return theirs, T


def assert_same_tree(s: System, model: pin.Model, rng: np.random.Generator, tolerance: float = 1e-12) -> None:
    """At a random state; 1e-12 of the largest entry: products of a few dozen rotations."""
    st = s.start
    v = rng.normal(size=s.tree.nv)
    for node in s.tree.nodes:
        if node.joint.type in ("free", "planar"):
            v[node.v] = 0.0  # their velocities of a floating body are in its own axes: at rest both are zero
    st = s.state(compiled_of(s).displaced(st, rng.normal(size=s.tree.nv)), v)
    q, T = coordinates(s, model, st.q)
    model.gravity.linear = np.array(s.description.gravity, float)
    data = model.createData()
    M = pin.crba(model, data, q)
    M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
    ours = s.M(st)
    np.testing.assert_allclose(ours, M, rtol=0.0, atol=tolerance * np.abs(M).max())
    h = T.T @ pin.nonLinearEffects(model, data, q, T @ v)
    np.testing.assert_allclose(s.h(st), h, rtol=0.0, atol=10.0 * tolerance * np.abs(h).max())
    pin.framesForwardKinematics(model, data, q)
    for body in s.description.bodies[1:]:
        if model.existFrame(body.name):
            X, Y = s.pose(st, body.name), data.oMf[model.getFrameId(body.name)]
            np.testing.assert_allclose(X.R, Y.rotation, atol=tolerance)
            np.testing.assert_allclose(X.p, Y.translation, atol=tolerance * 10.0)
        for p in body.points:
            if model.existFrame(p.name):
                Y = data.oMf[model.getFrameId(p.name)]
                np.testing.assert_allclose(s.point(st, f"{body.name}.{p.name}"), Y.translation, atol=tolerance * 10.0)
