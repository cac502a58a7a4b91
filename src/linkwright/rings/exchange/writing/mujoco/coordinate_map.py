"""Between MuJoCo's coordinates of a converted mechanism and ours.

A hinge or a slide has our coordinate. A ball has our quaternion (wxyz) and angular velocity turned into the body's axes. A free
joint has position and velocity of the body's origin in the world, its attitude as wxyz and its angular velocity in the body's
axes. A screw is a hinge and a slide tied together. So qvel = T v and qacc = T a + drift, T depending on the position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    JOINTS,
    Joint,
    State,
    System,
    UsageError,
    compiled_of,
    cross,
    kinematics,
    linalg,
    listing,
    quaternion_rotation,
    spatial,
)
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.elementary_joints import JointPiece, ball_position, ball_rates, is_free, pieces
from linkwright.rings.exchange.writing.mujoco.forces import held


class MujocoJoint(NamedTuple):
    """A MuJoCo joint: the node and piece it stands for. `piece` None: a whole free joint; `travel`: the slide of a screw."""

    node: int
    piece: JointPiece | None
    name: str
    travel: bool = False


class Put(NamedTuple):
    """Coordinates of one MuJoCo joint at a state: qpos, qvel = T v, qacc = T a + drift."""

    qpos: np.ndarray
    T: np.ndarray
    drift: np.ndarray


def placed_pieces(system: System, i: int) -> list[MujocoJoint]:
    """The MuJoCo joints of a node, in order."""
    n = system.tree.nodes[i]
    if is_free(n.joint) and n.parent < 0:
        return [MujocoJoint(i, None, n.joint.name)]
    out = []
    for p in pieces(_carrier_first(n.joint), False) if is_free(n.joint) else pieces(n.joint, n.reversed):
        out.append(MujocoJoint(i, p, p.name))
        if p.kind == "screw":
            out.append(MujocoJoint(i, p, f"{p.name}.travel", travel=True))
    return out


def _carrier_first(joint: Joint) -> Joint:
    """A reversed free joint written the other way round: it holds nothing, and a ball before slides is more than MuJoCo differentiates."""
    return Joint(joint.name, joint.type, joint.second, joint.first, joint.frame_second, joint.frame_first)


class Local(NamedTuple):
    """Coordinates of a node's joint as MuJoCo's pieces read them: q, v = T v_tree, and dv/dt = T a_tree + bias."""

    q: np.ndarray
    v: np.ndarray
    T: np.ndarray
    bias: np.ndarray


def _local(system: System, i: int, st: State) -> Local:
    core = compiled_of(system)
    n = system.tree.nodes[i]
    if is_free(n.joint) and n.reversed:
        m = system.motion(st)
        r = kinematics.joint_rate(core.skel, m, _carrier_first(n.joint), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
        T = r.G_first @ kinematics.body_jacobian(core.skel, m, r.first) + r.G_second @ kinematics.body_jacobian(
            core.skel, m, r.second
        )
        return Local(r.q, r.v, T, r.bias)
    size = n.v.stop - n.v.start
    T = np.zeros((size, system.tree.nv))
    T[:, n.v] = np.eye(size)
    return Local(st.q[n.q], st.v[n.v], T, np.zeros(size))


def place(system: System, at: MujocoJoint, st: State) -> Put:
    """Coordinates of one MuJoCo joint."""
    here, X_BM = _local(system, at.node, st), compiled_of(system).skel.X_CM[at.node]
    if at.piece is None:
        qpos, T, drift = _free(system, at.node, here.q, here.v)
        return Put(qpos, T @ here.T, T @ here.bias + drift)
    own = at.piece.v
    if at.piece.kind == "ball":
        w, *u = ball_position(at.piece, here.q)
        T = X_BM.R @ ball_rates(at.piece, here.q)
        return Put(np.array([w, *(X_BM.R @ np.array(u))]), T @ here.T[own], T @ here.bias[own])
    factor = at.piece.pitch if at.travel else 1.0
    return Put(factor * here.q[at.piece.q], factor * here.T[own], factor * here.bias[own])


def _free(system: System, node: int, q: np.ndarray, v: np.ndarray) -> Put:
    """The body's origin lies at r from M in M's axes, so its velocity is R_WF (v + R (w x r)); R = R_FM."""
    X_WF, X_BM = compiled_of(system).skel.X_PF[node], compiled_of(system).skel.X_CM[node]
    r = X_BM.inverse().p
    R_WM = X_WF.R @ quaternion_rotation(q[:4])
    T = np.zeros((6, 6))
    T[:3, :3], T[:3, 3:], T[3:, :3] = -R_WM @ spatial.skew(r), X_WF.R, X_BM.R
    drift = np.concatenate([R_WM @ cross(v[:3], cross(v[:3], r)), np.zeros(3)])
    origin = X_WF.point(q[4:]) + R_WM @ r
    return Put(np.array([*origin, *spatial.rotation_quaternion(R_WM @ X_BM.R.T)]), T, drift)


@dataclass(frozen=True)
class MujocoMap:
    """States, accelerations and efforts between an MjModel read from an exported MJCF and the mechanism it came from."""

    model: Any
    system: System  # ours with the model's tree: `names.v` orders accelerations and efforts
    placed: tuple[MujocoJoint, ...] = field(repr=False)  # in the model's order of joints

    @classmethod
    def of(cls, model: Any, system: System) -> MujocoMap:
        tree = _tree_of_model(model, system)
        known = {at.name: at for i in range(len(tree.tree.nodes)) for at in placed_pieces(tree, i)}
        names = [model.joint(k).name for k in range(model.njnt)]
        if sorted(names) != sorted(known):
            name = system.description.name
            raise UsageError(f"the MuJoCo model was not exported from '{name}': its joints are {listing(names)}.", name=name, allowed=names)
        return cls(model, tree, tuple(known[name] for name in names))

    def qpos(self, state: State) -> np.ndarray:
        return self._change(self._here(state))[0]

    def qvel(self, state: State) -> np.ndarray:
        st = self._here(state)
        return self._change(st)[1] @ st.v

    def acceleration(self, state: State, qacc: Any) -> np.ndarray:
        """MuJoCo's accelerations in the order of `names.v`."""
        _, T, drift = self._change(self._here(state))
        return linalg.least_squares(T, np.asarray(qacc, float) - drift)

    def effort(self, state: State, tau: Mapping[str, Any] | Any = None) -> np.ndarray:
        """qfrc_applied for our efforts and for springs, dampers and loads of the model that MJCF cannot hold."""
        st = self._here(state)
        there = held(self.system)
        forces = [*(f for f in compiled_of(self.system).forces if f not in there.written), *there.rests]
        return linalg.least_squares(self._change(st)[1].T, loops.efforts(self.system, st, tau, forces))

    def rates(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """(T, drift): qvel = T v, qacc = T a + drift."""
        return self._change(self._here(state))[1:]

    def _here(self, state: State) -> State:
        return loops.in_tree_of(self.system, state)

    def _change(self, st: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        put = [place(self.system, at, st) for at in self.placed]
        if not put:
            return np.zeros(0), np.zeros((0, self.system.tree.nv)), np.zeros(0)
        return np.concatenate([p.qpos for p in put]), np.concatenate([p.T for p in put]), np.concatenate([p.drift for p in put])


def _tree_of_model(model: Any, system: System) -> System:
    """The system with the cuts of the model: all joints that are not between a body there and its parent."""
    d = system.description
    names = {0: d.bodies[0].name, **{k: model.body(k).name for k in range(1, model.nbody)}}
    held = {model.joint(k).name.split(".")[0] for k in range(model.njnt)}
    welded = {frozenset((names[k], names[int(model.body_parentid[k])])) for k in range(1, model.nbody) if model.body_jntnum[k] == 0}

    def in_tree(name: str) -> bool:
        j = d.joint(name)
        return name in held or (JOINTS[j.type].nv == 0 and frozenset((j.first, j.second)) in welded)

    cuts = [j.name for j in d.joints if not in_tree(j.name)]
    return system if set(cuts) == set(system.tree.cuts) else System(d, cuts)


def mujoco_state(model: Any, system: System | loops.HasSystem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(qpos, qvel) of a state for a model read from an exported MJCF."""
    there = MujocoMap.of(model, system if isinstance(system, System) else system.system)
    return there.qpos(state), there.qvel(state)
