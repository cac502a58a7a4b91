"""A model read from MJCF against MuJoCo's own compilation of the same file: coordinates, masses, poses, accelerations.

Loops are compared with an exact solve of our own, M a + J' lam = f and J a + dJ/dt v = 0 with MuJoCo's M, J and bias, because MuJoCo's
constraints are soft. dJ/dt v is a central difference of MuJoCo's J.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from linkwright.model.description import Description
from linkwright.numerics.spatial import quaternion_rotation
from linkwright.results.state import State
from linkwright.system.system import System
from tests.mujoco_terms import mass_matrix

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


class AgainstMujoco:
    """Both models; `joints` names ours in MuJoCo's order (theirs by default)."""

    def __init__(self, model: mujoco.MjModel, description: Description, joints: Sequence[str] | None = None):
        self.m, self.d = model, mujoco.MjData(model)
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        model.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
        )
        self.names = [model.joint(j).name for j in range(model.njnt)] if joints is None else list(joints)
        ours = {j.name for j in description.joints}
        self.missing = [name for name in self.names if name not in ours]
        cuts = [j.name for j in description.joints if j.name not in self.names]
        self.s = System(description, cuts)

    def order(self) -> tuple[np.ndarray, np.ndarray]:
        """Entries of MuJoCo's qpos and qvel for each entry of our q and v."""
        q, v = np.zeros(self.s.tree.nq, int), np.zeros(self.s.tree.nv, int)
        for node in self.s.tree.nodes:
            j = self.names.index(node.joint.name)
            a, b, kind = int(self.m.jnt_qposadr[j]), int(self.m.jnt_dofadr[j]), int(self.m.jnt_type[j])
            if kind == FREE:
                q[node.q], v[node.v] = [a + 3, a + 4, a + 5, a + 6, a, a + 1, a + 2], [b + 3, b + 4, b + 5, b, b + 1, b + 2]
            else:
                q[node.q], v[node.v] = range(a, a + (4 if kind == BALL else 1)), range(b, b + (3 if kind == BALL else 1))
        return q, v

    def random(self, rng: np.random.Generator, loops: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """A position and velocity of MuJoCo's tree, on the loops if asked for."""
        qpos, qvel = self.m.qpos0.copy(), rng.normal(size=self.m.nv)
        mujoco.mj_integratePos(self.m, qpos, rng.normal(size=self.m.nv), 0.7)
        return qpos, qvel

    def state(self, qpos: np.ndarray, qvel: np.ndarray) -> State:
        q, v = self.order()
        return self.s.state(qpos[q], qvel[v])

    def pose_errors(self, qpos: np.ndarray) -> float:
        """Largest difference of poses of bodies and of points with the names of sites or bodies."""
        self.d.qpos[:] = qpos
        mujoco.mj_kinematics(self.m, self.d)
        st = self.state(qpos, np.zeros(self.m.nv))
        worst = 0.0
        for body in self.s.description.bodies[1:]:
            try:
                b = self.m.body(body.name).id
            except KeyError:
                continue
            X = self.s.pose(st, body.name)
            worst = max(worst, np.abs(X.p - self.d.xpos[b]).max(), np.abs(X.R - self.d.xmat[b].reshape(3, 3)).max())
        return float(worst)

    def mass_matrices(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(ours, MuJoCo's in our order)."""
        self.d.qpos[:], self.d.qvel[:] = qpos, 0.0
        mujoco.mj_forward(self.m, self.d)
        M = mass_matrix(self.m, self.d)
        _, v = self.order()
        st = self.state(qpos, np.zeros(self.m.nv))
        return self.s.M(st), M[np.ix_(v, v)]

    def accelerations(self, qpos: np.ndarray, qvel: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(ours, from MuJoCo's terms in our order) of the mechanism with its loops; actuators off, passive forces on."""
        M, f, J, k = self._terms(qpos, qvel)
        a = constrained(M, f + tau, J, k)
        _, v = self.order()
        st = self.state(qpos, qvel)
        theirs = a[v]
        for node in self.s.tree.nodes:  # rate of a free body's velocity: both are in the world's axes, nothing to add
            assert node.joint.type in ("free", "spherical", "revolute", "prismatic")
        ours = self.s.forward(st, tau[v]).a
        return np.asarray(ours), theirs

    def _terms(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, passive minus bias forces, J of the equalities and dJ/dt v."""
        J = self._jacobian(qpos)
        k = np.zeros(len(J))
        if len(J) and qvel.any():
            h = 1e-4 / max(1.0, float(np.abs(qvel).max()))
            near = []
            for step in (h, -h, 2.0 * h, -2.0 * h):
                there = qpos.copy()
                mujoco.mj_integratePos(self.m, there, qvel, step)
                near.append(self._jacobian(there) @ qvel)
            k = (8.0 * (near[0] - near[1]) - (near[2] - near[3])) / (12.0 * h)
        self.d.qpos[:], self.d.qvel[:], self.d.ctrl[:] = qpos, qvel, 0.0
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
        mujoco.mj_forward(self.m, self.d)
        M = mass_matrix(self.m, self.d)
        return M, np.array(self.d.qfrc_passive - self.d.qfrc_bias), J, k

    def _jacobian(self, qpos: np.ndarray) -> np.ndarray:
        self.d.qpos[:], self.d.qvel[:] = qpos, 0.0
        mujoco.mj_forward(self.m, self.d)
        rows = [i for i in range(self.d.nefc) if self.d.efc_type[i] == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
        return np.array(self.d.efc_J).reshape(self.d.nefc, self.m.nv)[rows].copy() if self.d.nefc else np.zeros((0, self.m.nv))


def constrained(M: np.ndarray, f: np.ndarray, J: np.ndarray, k: np.ndarray, tolerance: float = 1e-7) -> np.ndarray:
    """Accelerations on the loops: least in the metric of M, rows of J of which some may repeat others."""
    L = np.linalg.cholesky(M)
    free = np.linalg.solve(M, f)
    if not len(J):
        return free
    A = np.linalg.solve(L, J.T).T  # J L^-T
    U, s, Vt = np.linalg.svd(A)
    r = int(np.sum(s > tolerance * s[0]))
    y = Vt[:r].T @ ((U[:, :r].T @ (-k - J @ free)) / s[:r])
    return free + np.linalg.solve(L.T, y)


def on_loops(check: AgainstMujoco, st: Any) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's qpos and qvel of one of our states."""
    q, v = check.order()
    qpos, qvel = np.zeros(check.m.nq), np.zeros(check.m.nv)
    qpos[q], qvel[v] = st.q, st.v
    return qpos, qvel


def rotation(quaternion: Any) -> np.ndarray:
    return quaternion_rotation(np.asarray(quaternion, float))
