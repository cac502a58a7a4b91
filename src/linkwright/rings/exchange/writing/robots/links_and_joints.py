"""Links and elementary joints of a mechanism at the zero of a file.

Every frame is given in the world at that pose, so a format takes from it what it wants: an origin in the parent, or a pose in the
model. A joint of several coordinates is a chain of elementary ones with links between them that have no mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import Joint, Placement, Pose, State, System, array, compiled_of, joints, kinematics, quaternion_rotation, spatial
from linkwright.rings.exchange.writing.elementary_joints import JointPiece, is_free, pieces
from linkwright.rings.exchange.writing.inertia import Solid, solids

AXES = np.eye(3)
DUST = 1e-14  # meters or radians: round-off of a few products of poses, nothing of the mechanism


@dataclass(frozen=True)
class RobotLink:
    """A link; `body` is empty for one inside a chain of joints. `X_WL` is its frame in the world, `X_LB` the body's frame in it."""

    name: str
    body: str
    X_WL: Pose
    X_LB: Pose = spatial.IDENTITY
    solid: Solid | None = None


@dataclass(frozen=True)
class RobotJoint:
    """A joint of the file between two links. `entry` is the velocity of our joint that it stands for, None without one."""

    name: str
    kind: str  # "turn", "slide", "screw", "universal", "ball", "free" or "fixed"
    parent: str
    child: str
    X_WJ: Pose
    axis: np.ndarray  # in the joint's frame
    of: str  # our joint
    entry: int | None = None
    zero: float = 0.0  # our coordinate where that of the file is zero
    pitch: float = 0.0  # m/rad
    follows: str = ""  # of a slide that stands for the travel of a screw: the turn, times `pitch`
    axis2: np.ndarray = field(default_factory=lambda: np.zeros(3))
    closes: bool = False


@dataclass
class Robot:
    """A mechanism as links and joints. `whole`: kinds that the format has besides turns and slides, the others are written as chains."""

    system: System
    state: State
    X_0: Pose  # our world in that of the file
    whole: frozenset[str]
    floor: float = 0.0
    apart: bool = True  # links and joints may have the same name
    links: dict[str, RobotLink] = field(default_factory=dict)  # bodies by their names
    inner: dict[str, RobotLink] = field(default_factory=dict)
    joints: list[RobotJoint] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, system: System, state: State, X_0: Pose, whole: frozenset[str], floor: float = 0.0, apart: bool = True) -> Robot:
        """The tree of a mechanism; cut joints are added by `close`."""
        self = cls(system, state, X_0, whole, floor, apart)
        self.names |= {b.name for b in system.description.bodies} | {j.name for j in system.description.joints}
        ground = system.description.bodies[0].name
        self.links[ground] = RobotLink(ground, ground, spatial.IDENTITY, X_0)
        mass = solids(system, floor, realistic=system.description.planar)
        for i, n in enumerate(system.tree.nodes):
            X_WB = self.world(n.body)
            last = self._chain(n.joint, n.reversed)[-1]
            X_WL = _link_frame(X_WB, last)
            X_LB = spatial.IDENTITY if X_WL is X_WB else Pose(np.eye(3), X_WB.R.T @ (X_WB.p - X_WL.p))  # a link has the axes of its body
            self.links[n.body] = RobotLink(n.body, n.body, X_WL, X_LB, mass[i])
            self._add(n.joint, n.reversed, closes=False)
        return self

    def close(self, name: str) -> None:
        """Add a cut joint as joints of the file, the last one of which ends at a body that the tree holds already; never at the ground."""
        joint = self.system.description.joint(name)
        self._add(joint, joint.second == self.system.description.bodies[0].name, closes=True)

    def world(self, body: str) -> Pose:
        """Pose of a body at the zero of the file."""
        if body == self.system.description.bodies[0].name:
            return self.X_0
        X = self.system.pose(self.state, body)
        return self.X_0 @ Pose(np.asarray(X.R, float), np.asarray(X.p, float))

    def in_link(self, body: str, at: Placement) -> Pose:
        """A frame of a body in its link."""
        return self.links[body].X_LB @ Pose(array(at.rotation).astype(float), array(at.at).astype(float))

    def coordinate(self, joint: str, entry: int) -> RobotJoint | None:
        """The joint of the file for a coordinate of ours; None where the file has others."""
        return next((j for j in self.joints if j.of == joint and j.entry == entry), None)

    def fresh(self, wanted: str) -> str:
        """A name that nothing else has, without dots and spaces."""
        plain = wanted.replace(".", "_").replace(" ", "_")
        name, n = plain, 1
        while name in self.names:
            n += 1
            name = f"{plain}_{n}"
        self.names.add(name)
        return name

    # ------------------------------------------------------------ chains

    def _add(self, joint: Joint, reversed: bool, *, closes: bool) -> None:
        carrier, carried = (joint.second, joint.first) if reversed else (joint.first, joint.second)
        steps = self._chain(joint, reversed)
        parent, turned = carrier, ""
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            name = self._joint_name(step.name, joint)
            X = step.X_WJ
            if last:
                child = carried
                X = X if closes else self.links[carried].X_WL
            else:
                child = self.fresh(f"{name}_link")
                self.inner[child] = RobotLink(child, "", X)
            made = _expressed(step, X)
            self.joints.append(
                replace(made, name=name, parent=parent, child=child, follows=turned if step.follows else "", closes=closes and last)
            )
            parent, turned = child, name

    def _joint_name(self, wanted: str, joint: Joint) -> str:
        """Our joint's own name where it can have it."""
        if wanted != joint.name:
            return self.fresh(wanted)
        return wanted if self.apart or wanted not in {b.name for b in self.system.description.bodies} else self.fresh(f"{wanted}_joint")

    def _chain(self, joint: Joint, reversed: bool) -> list[RobotJoint]:
        """Joints of the file for a joint of ours, without the names of links; frames are those after each motion, axes in the world."""
        q = joint_coordinates(self.system, self.state, joint)
        frame = joint.frame_second if reversed else joint.frame_first
        X = self.world(joint.second if reversed else joint.first) @ Pose(array(frame.rotation).astype(float), array(frame.at).astype(float))
        if is_free(joint):
            end = joint.first if reversed else joint.second
            return [RobotJoint(joint.name, "free", "", "", self.world(end), np.zeros(3), joint.name)]
        out: list[RobotJoint] = []
        parts = pieces(joint, reversed)
        for p in parts:
            X = X @ _motion(p, q)
            out += self._elementary(joint, p, X, q)
        if not parts:
            return [RobotJoint(joint.name, "fixed", "", "", X, np.zeros(3), joint.name)]
        turning = [x.kind for x in out] == ["turn", "turn"] and np.allclose(out[0].X_WJ.p, out[1].X_WJ.p, atol=1e-12)
        if "universal" in self.whole and turning and len(parts) == 2:
            return [replace(out[1], name=joint.name, kind="universal", axis=out[0].axis, axis2=out[1].axis, entry=None, zero=0.0)]
        return out

    def _elementary(self, joint: Joint, p: JointPiece, X: Pose, q: np.ndarray) -> Iterator[RobotJoint]:
        """One piece as joints of the file; axes in the world."""
        R = np.asarray(X.R, float)
        if p.kind == "ball" and "ball" not in self.whole:
            for k, letter in enumerate("xyz"):
                yield RobotJoint(f"{p.name}_{letter}", "turn", "", "", X, R[:, k], joint.name)
            return
        zero = 0.0 if p.kind == "ball" else float(q[p.q][0])
        entry = None if p.kind == "ball" else p.v.start
        made = RobotJoint(p.name, p.kind, "", "", X, R @ p.axis, joint.name, entry, zero, p.pitch)
        if p.kind == "screw" and "screw" not in self.whole:
            yield replace(made, kind="turn")
            yield replace(made, name=f"{p.name}_travel", kind="slide", entry=None, follows=p.name)
            return
        yield made


def _expressed(step: RobotJoint, X: Pose) -> RobotJoint:
    """The joint with its frame at X, axes in it; an axis along x, y or z up to round-off is exactly that."""
    R = np.asarray(X.R, float)
    return replace(step, X_WJ=X, axis=_tidy(R.T @ step.axis), axis2=_tidy(R.T @ step.axis2))


def _tidy(axis: np.ndarray) -> np.ndarray:
    near = np.round(axis)
    return near if np.abs(axis - near).max() < DUST else axis


def _link_frame(X_WB: Pose, last: RobotJoint) -> Pose:
    """The frame of a link: the body's, moved to the nearest point of the axis that the link turns about, or to the center of a ball."""
    if last.kind in ("slide", "fixed", "free"):
        return X_WB
    away = X_WB.p - last.X_WJ.p
    centered = last.kind in ("ball", "universal") or (last.kind == "turn" and last.entry is None)  # the last hinge of a ball has no entry
    along = 0.0 if centered else float(away @ last.axis)
    at = last.X_WJ.p + along * last.axis
    return X_WB if np.abs(at - X_WB.p).max() < DUST else Pose(X_WB.R, at)


def _motion(p: JointPiece, q: np.ndarray) -> Pose:
    """Pose of the carried side of a piece in the carrying one."""
    if p.kind == "ball":
        R = quaternion_rotation(q[p.q])
        return Pose(R.T if p.reversed else R, np.zeros(3))
    x = float(q[p.q][0])
    turn = rotation_about(p.axis, x) if p.kind in ("turn", "screw") else AXES
    travel = {"slide": x, "screw": p.pitch * x}.get(p.kind, 0.0)
    return Pose(turn, travel * p.axis)


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation matrix about a unit axis."""
    K = spatial.skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def joint_coordinates(system: System, state: State, joint: Joint) -> np.ndarray:
    """Coordinates of a joint, in the tree or cut, at a state."""
    if joint.name in system.tree.node_of_joint:
        return np.asarray(state.q[system.tree.nodes[system.tree.node_of_joint[joint.name]].q], float)
    return np.asarray(kinematics.joint_rate(compiled_of(system).skel, system.motion(state), joint, state.references[joint.name]).q, float)


def zero_state(system: System) -> State:
    """The state in which all coordinates of the tree are zero; its loops are open."""
    references = compiled_of(system).skel.start_coordinates
    q = [joints.create(n.joint.type, n.joint.options).coordinates(AXES, np.zeros(3), references[n.joint.name]) for n in system.tree.nodes]
    return system.state(np.concatenate(q) if q else np.zeros(0))


def numbers(values: Any) -> str:
    """Numbers as text, each the shortest that reads back as the same float."""
    return " ".join(repr(float(x) + 0.0).removesuffix(".0") for x in values)


def placing(X: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Position, and roll, pitch and yaw of a pose, without the dust of round-off about zero."""
    p, angles = np.asarray(X.p, float), np.array(roll_pitch_yaw(np.asarray(X.R, float)))
    angles = np.where(np.abs(angles) < DUST, 0.0, np.where(angles + np.pi < DUST, np.pi, angles))  # half a turn has one sign
    return np.where(np.abs(p) < DUST, 0.0, p), angles


def roll_pitch_yaw(R: Any) -> tuple[float, float, float]:
    """Angles of R = Rz(yaw) Ry(pitch) Rx(roll); exact to round-off also where pitch is a right angle, because roll is taken after yaw."""
    yaw = float(np.arctan2(R[1, 0], R[0, 0])) if np.hypot(R[0, 0], R[1, 0]) > 1e-12 else 0.0
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = float(np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0]))
    roll = float(np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1]))
    return roll, pitch, yaw
