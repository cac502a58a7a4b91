"""Planar loops in space: all axes of the loop parallel, all slides at right angles to them.

One of the three rows of a point that closes such a loop follows from the others in every position, so the point becomes a floating
bearing, which has the two rows in the plane. A hinge that closes the loop stays a hinge; of its five rows the rank test of the kernels
finds the two that are independent, but only where the axes are parallel to round-off: with axes as files give them, rounded to a
few digits, the same loop would be rigid. So axes that are parallel within `PARALLEL` are made parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import Description, Joint, Pose, cross, joints, pose_of, spatial
from linkwright.rings.exchange.reading.structure_recognition.closing_points import along_axis
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import ALIGNED, placement, sides, size, turned_onto
from linkwright.rings.exchange.reading.structure_recognition.graph_paths import Step, circuits, path
from linkwright.rings.exchange.reading.structure_recognition.rigid_groups import quoted

PARALLEL = 2e-3  # rad: axes nearer than this to one direction are meant to be parallel (three digits of a rounded axis)
SPOKEN = 1e-9  # rad or share of the size: smaller corrections are round-off
LEVEL = 1e-2  # share of the mechanism's size by which the points of a planar loop may be off its plane


@dataclass(frozen=True)
class PlanarLoops:
    """A description whose planar loops are closed by hinges with parallel axes, and sentences about it."""

    description: Description
    sentences: tuple[str, ...] = ()


def planar_loops(d: Description, closing: Sequence[str]) -> PlanarLoops:
    """Make floating bearings of the points that close planar loops, and the axes of planar loops of hinges parallel."""
    sentences: list[str] = []
    for name in closing:
        joint = d.joint(name)
        steps = path(d, joint.first, joint.second, set(closing))
        normal = None if steps is None else _normal(d, steps)
        if normal is None or steps is None:
            continue
        if joints.is_ball(joints.create(joint.type, joint.options)):
            first, second = (pose_of(d.body(b).start).R.T @ normal for b in (joint.first, joint.second))
            d = _with_joint(d, along_axis(d, joint, "floating_bearing", first, second))
            inside = quoted(s.joint.name for s in steps)
            sentences.append(f"the loop of {inside} is planar: the point '{name}' closes it in the plane only (a floating bearing).")
    d, said = _aligned(d)
    return PlanarLoops(d, (*sentences, *said))


def _with_joint(d: Description, joint: Joint) -> Description:
    return replace(d, joints=tuple(joint if j.name == joint.name else j for j in d.joints))


def _normal(d: Description, steps: Sequence[Step]) -> np.ndarray | None:
    """The direction to which the motion along a path is perpendicular, in the world in the file's pose; None if it is not planar."""
    turns, slides = [], []
    for step in steps:
        jt = joints.create(step.joint.type, step.joint.options)
        F = sides(d, step.joint)[0].R
        if _turns_in_plane(jt):
            turns.append(F[:, 2])
        elif joints.is_slider(jt):
            slides.append(F[:, 0])
        elif jt.nv:
            return None
    if turns:
        n = turns[0]
    elif len(slides) > 1:
        n = max((cross(slides[0], s) for s in slides[1:]), key=lambda w: float(w @ w))
        if n @ n < 1e-4:
            return None
        n = spatial.normalize(n)
    else:
        return None
    level = all(float(np.sqrt(np.sum(cross(n, z) ** 2))) < PARALLEL for z in turns) and all(abs(float(n @ s)) < PARALLEL for s in slides)
    return n if level else None


def _turns_in_plane(joint: Any) -> bool:
    """True if all motions of a joint are in the x-y plane of its frame, a turn among them."""
    parts = joint.pieces() or ()
    level = all(p.kind == "turn" if p.axis[2] else p.kind == "slide" for p in parts)
    return level and any(p.kind == "turn" for p in parts)


# -------------------------------------------------------------------- axes made parallel


def _aligned(d: Description) -> tuple[Description, list[str]]:
    """Turn the joint frames of planar loops so that each body has one normal for all of them."""
    sentences = []
    normals: dict[str, list[np.ndarray]] = {}
    for circuit in circuits(d):
        n = _normal(d, circuit)
        if n is None:
            continue
        off = _deviation(d, circuit, n)
        turned = 0.0
        for step in circuit:
            joint, angle = _turned(d, d.joint(step.joint.name), n, off, normals)
            d, turned = _with_joint(d, joint), max(turned, angle)
        d, shift = _leveled(d, circuit, n)
        names = quoted(s.joint.name for s in circuit)
        if turned > SPOKEN:
            sentences.append(f"the axes of the planar loop {names} were made parallel (turned by up to {turned:.2g} rad).")
        if shift > SPOKEN * size(d):
            sentences.append(f"the joints of the planar loop {names} were moved into one plane (by {shift:.2g} m).")
    return d, sentences


def _deviation(d: Description, circuit: Sequence[Step], n: np.ndarray) -> float:
    """The largest angle between normals that two joints of a circuit have on the body between them."""
    found: dict[str, list[np.ndarray]] = {}
    for step in circuit:
        j = d.joint(step.joint.name)
        for body, own in zip((j.first, j.second), _frame_normals(d, j, n), strict=True):
            found.setdefault(body, []).append(own)
    return max((_angle(a, b) for every in found.values() for a in every for b in every), default=0.0)


def _frame_normals(d: Description, j: Joint, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The plane's normal as a joint has it, on its first and on its second body, in their axes."""
    c = _joint_normal(d, j, n)
    return pose_of(j.frame_first).R @ c, pose_of(j.frame_second).R @ c


def _joint_normal(d: Description, j: Joint, n: np.ndarray) -> np.ndarray:
    """The plane's normal in the joint's own frames: z, what of it is at right angles to a slide, itself where the joint is rigid."""
    jt = joints.create(j.type, j.options)
    if jt.nv and not joints.is_slider(jt):
        return np.array([0.0, 0.0, 1.0])
    c = pose_of(j.frame_first).R.T @ (pose_of(d.body(j.first).start).R.T @ n)
    return spatial.normalize(np.array([0.0 if jt.nv else c[0], c[1], c[2]]))


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    """Sine of the angle between two lines."""
    w = cross(a, b)
    return float(np.sqrt(w @ w))


def _common(normals: dict[str, list[np.ndarray]], body: str, own: np.ndarray, off: float) -> np.ndarray:
    """The normal of a body that is nearly parallel to `own`, in the same sense. If there is none yet, an axis of the body becomes
    one where the deviation `off` of the loop explains the difference, else `own` itself."""
    known = normals.setdefault(body, [])
    for n in known:
        if _angle(n, own) < 2.0 * PARALLEL:
            return n if n @ own > 0.0 else -n
    axis = np.zeros(3)
    k = int(np.argmax(np.abs(own)))
    axis[k] = np.sign(own[k])
    known.append(axis if _angle(axis, own) <= 1.5 * off else own)
    return known[-1]


def _turned(d: Description, j: Joint, n: np.ndarray, off: float, normals: dict[str, list[np.ndarray]]) -> tuple[Joint, float]:
    """A joint whose frames have the common normals of their bodies; the largest angle by which one was turned."""
    new, angle = [], 0.0
    frames = pose_of(j.frame_first), pose_of(j.frame_second)
    for body, X, own in zip((j.first, j.second), frames, _frame_normals(d, j, n), strict=True):
        wanted = _common(normals, body, own, off)
        angle = max(angle, _angle(own, wanted))
        new.append(Pose(turned_onto(X.R, own, wanted), X.p))
    exact = 1e-14  # rad: what rotations multiplied with each other leave
    if angle <= exact:
        return j, 0.0
    return replace(j, frame_first=placement(new[0]), frame_second=placement(new[1])), angle


def _leveled(d: Description, circuit: Sequence[Step], n: np.ndarray) -> tuple[Description, float]:
    """Move the last joint of a circuit along the normal, so that the offsets along it add up to nothing."""
    off = 0.0
    for step in circuit:
        j = d.joint(step.joint.name)
        X = pose_of(d.body(step.body).start).R
        enter, leave = (j.frame_first, j.frame_second) if step.forward else (j.frame_second, j.frame_first)
        Y = pose_of(d.body(step.to).start).R
        own, other = np.array(enter.at, float), np.array(leave.at, float)
        off += float(own @ _own_normal(j, step.body, X, n)) - float(other @ _own_normal(j, step.to, Y, n))
    last = d.joint(circuit[-1].joint.name)
    if abs(off) <= ALIGNED * size(d) or abs(off) > LEVEL * size(d):
        return d, 0.0
    body, sign = (last.second, 1.0) if circuit[-1].forward else (last.second, -1.0)
    along = _own_normal(last, body, pose_of(d.body(body).start).R, n)
    M = pose_of(last.frame_second)
    return _with_joint(d, replace(last, frame_second=placement(Pose(M.R, M.p + sign * off * along)))), abs(off)


def _own_normal(j: Joint, body: str, X: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The plane's normal in a body's axes: the axis of a joint that has it, else that of the file's pose."""
    jt = joints.create(j.type, j.options)
    if not jt.nv or joints.is_slider(jt):
        return X.T @ n
    frame = j.frame_first if body == j.first else j.frame_second
    axis = np.array(frame.rotation, float)[:, 2]
    return axis if (X @ axis) @ n > 0.0 else -axis
