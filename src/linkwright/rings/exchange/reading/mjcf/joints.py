"""Joints of a compiled model. Coordinates are those of the file: angles and travels are its qpos, `ref` included.

A body on several joints hangs on a chain of them, with links that have no mass; a body without joints is fixed to its parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import GROUND, Body, Joint, Pose, geometry, joints, pose_of, spatial
from linkwright.rings.exchange.reading.mjcf.bodies import pose
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import MjcfNames
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import placement, vector

TYPES = ("free", "spherical", "prismatic", "revolute")  # in the order of mjtJoint


@dataclass
class MjcfTree:
    """Joints of the tree by number in the compiled model, those that fix bodies, and the links of chains."""

    moving: dict[int, Joint] = field(default_factory=dict)
    order: list[Joint] = field(default_factory=list)  # from the ground outwards
    links: list[Body] = field(default_factory=list)


def tree(there: CompiledMjcf, names: MjcfNames) -> MjcfTree:
    """All joints between bodies and their parents."""
    m, out = there.model, MjcfTree()
    for b in range(1, m.nbody):
        parent = names.bodies.get(int(m.body_parentid[b]), GROUND)
        X = pose(m.body_pos[b], m.body_quat[b])
        first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
        where = there.place(there.bodies_of_spec[b])
        name = names.bodies[b]
        if count == 0:
            out.order.append(Joint(_free_name(f"{name}_fixed", names), "fixed", parent, name, placement(X), where=where))
            continue
        chain = [parent, *(f"{name}:{k}" for k in range(1, count)), name]
        out.links += [Body(link, mass=0.0, where=where, chain=name) for link in chain[1:-1]]
        for k in range(count):
            made = _joint(there, first + k, names.joints[first + k], (chain[k], chain[k + 1]), X if k == 0 else spatial.IDENTITY)
            out.moving[first + k] = made
            out.order.append(made)
    return out


def _free_name(wanted: str, names: MjcfNames) -> str:
    taken = {*names.joints.values(), *names.equalities.values()}
    while wanted in taken:
        wanted += "_"
    return wanted


def _joint(there: CompiledMjcf, j: int, name: str, ends: tuple[str, str], X: Pose) -> Joint:
    """A joint; X is the frame of its second body in the first at qpos0."""
    m = there.model
    kind = TYPES[int(m.jnt_type[j])]
    jt = joints.create(kind)
    where = there.place(there.joints_of_spec[j])
    armature = float(m.dof_armature[int(m.jnt_dofadr[j])])
    if jt.floats:
        return Joint(name, kind, *ends, where=where, armature=armature)  # its coordinates are the pose in the world
    at = np.array(m.jnt_pos[j], float)
    if joints.is_ball(jt):
        return Joint(name, kind, *ends, placement(X @ Pose(np.eye(3), at)), placement(Pose(np.eye(3), at)), where=where, armature=armature)
    axis = vector(m.jnt_axis[j])
    M = Pose(np.array(geometry.frame_along("z" if joints.is_hinge(jt) else "x", axis, axis), float), at)
    zero = float(m.qpos0[int(m.jnt_qposadr[j])])
    back = spatial.IDENTITY if zero == 0.0 else moved(jt, -zero)
    return Joint(name, kind, *ends, placement(X @ M @ back), placement(M), where=where, armature=armature)


def moved(jt: Any, q: float) -> Pose:
    """The pose X_FM of a joint of one coordinate."""
    return Pose(*(np.asarray(x, float) for x in jt.pose(np.array([q]))))


# -------------------------------------------------------------------- poses


def coordinates(m: Any, j: int, qpos: np.ndarray) -> np.ndarray:
    """Coordinates of one joint in our order: a free joint has its quaternion first."""
    at, jt = int(m.jnt_qposadr[j]), joints.JOINTS[TYPES[int(m.jnt_type[j])]]
    if jt.floats:
        return np.concatenate([_unit(qpos[at + 3 : at + 7]), qpos[at : at + 3]])
    return np.array(qpos[at : at + 1]) if jt.nq == 1 else _unit(qpos[at : at + 4])


def _unit(q: np.ndarray) -> np.ndarray:
    size = float(np.sqrt(q @ q))
    return q / size if size > 1e-10 else np.array([1.0, 0.0, 0.0, 0.0])


def poses(there: CompiledMjcf, found: MjcfTree, qpos: np.ndarray) -> dict[str, Pose]:
    """Poses of all bodies and links at a position of the file."""
    number = {joint.name: j for j, joint in found.moving.items()}
    out = {GROUND: spatial.IDENTITY}
    for joint in found.order:
        X = pose_of(joint.frame_first)
        if joint.name in number:
            q = coordinates(there.model, number[joint.name], qpos)
            X = X @ Pose(*joints.create(joint.type, joint.options).pose(q))
        out[joint.second] = out[joint.first] @ X @ pose_of(joint.frame_second).inverse()
    return out


def is_hinge_or_slide(m: Any, j: int) -> bool:
    """True for joints of one coordinate."""
    mj = mujoco()
    return int(m.jnt_type[j]) in (int(mj.mjtJoint.mjJNT_HINGE), int(mj.mjtJoint.mjJNT_SLIDE))
