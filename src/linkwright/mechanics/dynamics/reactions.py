"""From multipliers to the wrench in every joint, and the choice among them where it is not unique.

Tree joints carry what their bodies and everything beyond need; cut joints, rods, gears and couplings carry their
multipliers. Where constraints are redundant, multipliers may change by any self-stress z with J' z = 0 without moving
anything. The reported ones minimize the sum over *all* joints of |F|^2 + |M|^2/kappa^2, so they do not depend on which
joints are cut; a multiplier is unique where no self-stress touches it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints import workless_wrenches
from linkwright.mechanics.constraints.loops import loop_wrenches
from linkwright.mechanics.dynamics.tree import joint_wrenches
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import joint_coordinates, node_motion, pose_of
from linkwright.model.description import Joint
from linkwright.numerics.linalg import factor
from linkwright.numerics.scalars import solve
from linkwright.numerics.spatial import cross

UNIQUE = 1e-9  # share of the largest entry below which a self-stress does not touch a component


class JointWrench(NamedTuple):
    """Wrench of the joint on its second body: moment and force at the joint point (M's origin), world axes."""

    joint: str
    moment: Any
    force: Any
    point: Any  # in the world


def every_joint_wrench(place: Instant, lam: Any, a: Any, *, inertial: bool = True, pushed: bool = False) -> list[JointWrench]:
    """Wrenches of all joints, cut or not, for multipliers lam.

    `inertial=False` leaves out motion, weight and applied wrenches; `pushed` keeps the applied wrenches of the place.
    """
    skel, m = place.loops.skel, place.motion
    pushes = loop_wrenches(skel, place.closure, lam)
    F = (
        joint_wrenches(skel, m, a, [*place.external, *pushes])
        if inertial
        else _carried(place, [*place.external, *pushes] if pushed else pushes)
    )
    out = []
    for i, n in enumerate(skel.tree.nodes):
        if n.body in skel.tree.floating:
            continue
        on_second = -F[i] if n.reversed else F[i]
        out.append(_at_joint(place, n.joint, on_second, i))
    loops = {loop.name: k for k, loop in enumerate(skel.tree.loops)}  # a driver may share its joint's name, and comes after them
    for name in skel.tree.cuts:
        if name not in loops:  # switched off: it carries nothing
            continue
        joint = skel.tree.description.joint(name)
        k = loops[name]
        second = skel.node(joint.second)
        G = dict(place.closure.parts[k].G)[second]
        out.append(_at_joint(place, joint, G.T @ lam[place.closure.rows[k]], second))
    return out


def separating(place: Instant, lam: Any) -> list[tuple[int, Any]]:
    """Wrenches that do no work: gear teeth push the wheels apart as well as around, cams push at their contact, belts have a pretension."""
    out = []
    for c, part, rows in zip(place.loops.constraints, place.closure.parts, place.closure.rows, strict=True):
        found = workless_wrenches(c, place.loops.skel, place.motion, part, lam[rows], place.references)
        out += [(n, w) for n, w in found if n >= 0]
    return out


def _carried(place: Instant, pushes: list[tuple[int, Any]]) -> list[Any]:
    """Wrenches through the tree joints that balance given wrenches on the bodies, nothing else."""
    nodes = place.loops.skel.tree.nodes
    F = [np.zeros(6) for _ in nodes]
    for node, w in pushes:
        F[node] = F[node] - w
    for i in reversed(range(len(F))):
        if nodes[i].parent >= 0:
            F[nodes[i].parent] = F[nodes[i].parent] + F[i]
    return F


def _at_joint(place: Instant, joint: Joint, wrench: Any, origin_node: int) -> JointWrench:
    """Move a wrench from a subsystem's origin to the joint point."""
    point = at_joint(place, joint.name).point
    arm = point - place.loops.skel.origin(origin_node)
    return JointWrench(joint.name, wrench[:3] - cross(arm, wrench[3:]), wrench[3:], point)


class AtJoint(NamedTuple):
    """A joint in one state, whatever acts: the axes of its first frame, its point in the world, its degrees of freedom at that point."""

    R: Any
    point: Any
    freedoms: Any  # (6, nv) in the axes R, None where there are none
    gram: Any  # their products


def at_joint(place: Instant, name: str) -> AtJoint:
    """Computed once in a state: reactions to every self-stress and every effort are taken there."""
    found = place.joint_data.get(name)
    if found is None:
        found = place.joint_data[name] = _at(place, _joint(place, name))
    return found


def _at(place: Instant, joint: Joint) -> AtJoint:
    skel = place.loops.skel
    R = (node_motion(skel, place.motion, skel.node(joint.first))[0] @ pose_of(joint.frame_first)).R
    second = skel.node(joint.second)
    point = (node_motion(skel, place.motion, second)[0] @ pose_of(joint.frame_second)).p + skel.origin(second)
    jt = joints.create(joint.type, joint.options)
    if jt.nv == 0:
        return AtJoint(R, point, None, None)
    if jt.span is not None:
        freedoms = jt.span
    else:
        q = joint_coordinates(skel, place.motion, joint, place.references[joint.name])
        S = jt.subspace(q)
        freedoms = np.concatenate([S[:3], S[3:] - cross_columns(jt.pose(q)[1], S[:3])])
    return AtJoint(R, point, freedoms, freedoms.T @ freedoms)


def constraint_part(place: Instant, w: JointWrench) -> JointWrench:
    """The wrench without its component along the joint's own degrees of freedom (that part is effort, not reaction)."""
    R, _, freedoms, gram = at_joint(place, w.joint)
    if freedoms is None:
        return w
    local = np.concatenate([R.T @ w.moment, R.T @ w.force])
    local = local - freedoms @ solve(gram, freedoms.T @ local)
    return w._replace(moment=R @ local[:3], force=R @ local[3:])


def cross_columns(p: Any, W: Any) -> np.ndarray:
    """p x w for every column w."""
    return np.array([cross(p, w) for w in W.T]).T if W.shape[1] else W


AXES = ("rx", "ry", "rz", "tx", "ty", "tz")


def labeled(place: Instant, wrenches: list[JointWrench], lam: Any) -> tuple[list[tuple[str, str]], np.ndarray]:
    """All reactions by (joint, row) as comparable numbers, in the axes of each joint's first frame.

    Forces, moments divided by kappa, and the multipliers of rods, couplings and gears. Efforts are left out.
    """
    kappa = place.loops.kappa
    names: list[tuple[str, str]] = []
    values: list[Any] = []
    for w in wrenches:
        reaction = constraint_part(place, w)
        R = at_joint(place, w.joint).R
        for axis, value in zip(AXES, np.concatenate([R.T @ reaction.moment / kappa, R.T @ reaction.force]), strict=True):
            names.append((w.joint, axis))
            values.append(value)
    cut = set(place.loops.skel.tree.cuts)
    for c, rows in zip(place.loops.constraints, place.closure.rows, strict=True):
        if c.name not in cut:
            names += [(c.name, label) for label in c.labels]
            values += [x / (kappa if kind == "angle" else 1.0) for x, kind in zip(lam[rows], c.kinds, strict=True)]
    return names, np.array(values)


def _joint(place: Instant, name: str) -> Joint:
    tree = place.loops.skel.tree
    return next(j for j in (*tree.description.joints, *(n.joint for n in tree.nodes)) if j.name == name)


class LeastReactions(NamedTuple):
    """Multipliers of least reactions, and which of them are unique."""

    lam: np.ndarray
    unique: np.ndarray  # bool for every multiplier
    self_stress: np.ndarray  # (nc, number): columns change nothing but reactions


def least_reactions(place: Instant, lam: np.ndarray, a: np.ndarray, self_stress: np.ndarray) -> LeastReactions:
    """Among lam + Z y choose the one with the smallest reactions over all joints."""
    Z = self_stress
    if Z.shape[1] == 0:
        return LeastReactions(lam, np.ones(len(lam), dtype=bool), Z)

    def reactions(multipliers: np.ndarray, inertial: bool) -> np.ndarray:
        return labeled(place, every_joint_wrench(place, multipliers, a, inertial=inertial), multipliers)[1]

    R = np.array([reactions(z, False) for z in Z.T]).T
    y = factor(R, 1e-10 * max(1.0, np.abs(R).max()), thin=True).solve(-reactions(lam, True))
    scaled = np.abs(Z / place.loops.row_scale[:, None])
    return LeastReactions(lam + Z @ y, scaled.max(axis=1) < UNIQUE * max(1.0, scaled.max()), Z)
