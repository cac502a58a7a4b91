"""Joints of a compiled model. Coordinates are those of the file: angles and travels are its qpos, `ref` included.

A body on several joints hangs on a chain of them, with links that have no mass; a body without joints is fixed to its parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.exchange.mjcf.bodies import pose
from linkwright.exchange.mjcf.compiling import CompiledMjcf, mujoco
from linkwright.exchange.mjcf.naming import MjcfNames
from linkwright.exchange.understanding.geometry import placement, vector
from linkwright.mechanics.kinematics.skeleton import pose_of
from linkwright.model.description import GROUND, Body, Joint
from linkwright.model.file.geometry import frame_along
from linkwright.numerics.spatial import IDENTITY, Pose, rotation_z

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
            made = _joint(there, first + k, names.joints[first + k], (chain[k], chain[k + 1]), X if k == 0 else IDENTITY)
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
    where = there.place(there.joints_of_spec[j])
    armature = float(m.dof_armature[int(m.jnt_dofadr[j])])
    if kind == "free":
        return Joint(name, kind, *ends, where=where, armature=armature)  # its coordinates are the pose in the world
    at = np.array(m.jnt_pos[j], float)
    if kind == "spherical":
        M, back = Pose(np.eye(3), at), IDENTITY
    else:
        axis = vector(m.jnt_axis[j])
        main = "z" if kind == "revolute" else "x"
        M = Pose(np.array(frame_along(main, axis, axis), float), at)
        zero = float(m.qpos0[int(m.jnt_qposadr[j])])
        back = IDENTITY if zero == 0.0 else _back(kind, zero)
    return Joint(name, kind, *ends, placement(X @ M @ back), placement(M), where=where, armature=armature)


def _back(kind: str, zero: float) -> Pose:
    return Pose(rotation_z(-zero), np.zeros(3)) if kind == "revolute" else Pose(np.eye(3), np.array([-zero, 0.0, 0.0]))


# -------------------------------------------------------------------- poses


def coordinates(m: Any, j: int, qpos: np.ndarray) -> np.ndarray:
    """Coordinates of one joint in our order: a free joint has its quaternion first."""
    at, kind = int(m.jnt_qposadr[j]), TYPES[int(m.jnt_type[j])]
    if kind == "free":
        return np.concatenate([_unit(qpos[at + 3 : at + 7]), qpos[at : at + 3]])
    return _unit(qpos[at : at + 4]) if kind == "spherical" else np.array(qpos[at : at + 1])


def _unit(q: np.ndarray) -> np.ndarray:
    size = float(np.sqrt(q @ q))
    return q / size if size > 1e-10 else np.array([1.0, 0.0, 0.0, 0.0])


def poses(there: CompiledMjcf, found: MjcfTree, qpos: np.ndarray) -> dict[str, Pose]:
    """Poses of all bodies and links at a position of the file."""
    number = {joint.name: j for j, joint in found.moving.items()}
    out = {GROUND: IDENTITY}
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
