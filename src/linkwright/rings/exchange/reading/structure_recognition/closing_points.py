"""Points that close loops: two between the same bodies are a hinge along their line, three that are not on a line a fixed joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.api import JOINTS, Description, Joint, Pose, errors, pose_of, spatial, tolerances
from linkwright.joints import is_ball
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import axes_with_z, placement, size


@dataclass(frozen=True)
class Joined:
    """A description in which groups of points have become joints, the closures left, and sentences about it."""

    description: Description
    closing: tuple[str, ...]
    sentences: tuple[str, ...] = ()


def joined(d: Description, closing: Sequence[str]) -> Joined:
    """Replace points between the same two bodies by the one joint that they are."""
    groups: dict[frozenset[str], list[Joint]] = {}
    for name in closing:
        joint = d.joint(name)
        if is_ball(JOINTS[joint.type]):
            groups.setdefault(frozenset((joint.first, joint.second)), []).append(joint)
    new: dict[str, Joint | None] = {}
    sentences: list[str] = []
    for group in groups.values():
        if len(group) > 1:
            found, said = _group(d, group)
            new.update(found)
            sentences += said
    every = [new.get(j.name, j) for j in d.joints]
    joints = tuple(j for j in every if j is not None)
    left = {j.name for j in joints}
    return Joined(replace(d, joints=joints), tuple(name for name in closing if name in left), tuple(sentences))


def _group(d: Description, group: Sequence[Joint]) -> tuple[dict[str, Joint | None], list[str]]:
    """New joints in place of points between two bodies, by name, None for those that are left out; and sentences."""
    one = group[0]
    group = [j if j.first == one.first else _other_way(j) for j in group]
    at = np.array([j.frame_first.at for j in group], float), np.array([j.frame_second.at for j in group], float)
    least = tolerances.SAME_POSITION * size(d)
    apart = _distances(at[0]).max(), _distances(at[1]).max()
    bodies = f"'{one.first}' and '{one.second}'"
    names = ", ".join(f"'{j.name}'" for j in group)
    if max(apart) <= least:
        return {j.name: None for j in group[1:]}, [f"{bodies}: {names} are the same point, which closes the loop once ('{one.name}')."]
    equal = 1e-3  # share by which the distances of the same points on both bodies may differ
    if np.abs(_distances(at[0]) - _distances(at[1])).max() > max(equal * max(apart), least):
        return {}, [f"{bodies}: the points {names} have other distances on one body than on the other. They were left as points."]
    far = int(np.argmax(_distances(at[0])[0]))
    lines = [(p - p[0]) / apart[0] for p in at]
    z = [spatial.normalize(x[far]) for x in lines]
    off = max(float(np.sqrt(max(0.0, r @ r - (r @ axis) ** 2))) for x, axis in zip(lines, z, strict=True) for r in x)
    count = errors.NUMERALS.get(len(group), str(len(group)))
    straight = 1e-3  # sine of the angle up to which three points are on a line
    if off <= straight:
        hinge = along_axis(d, one, "revolute", z[0], z[1])
        said = f"{bodies}: {count} points on one axis ({names}) became the hinge '{one.name}'."
        return {one.name: hinge, **{j.name: None for j in group[1:]}}, [said]
    fixed = _fixed(one, at[0], at[1])
    said = f"{bodies}: {count} points that are not on one line ({names}) hold them together as the fixed joint '{one.name}'."
    return {one.name: fixed, **{j.name: None for j in group[1:]}}, [said]


def _distances(points: np.ndarray) -> np.ndarray:
    step = points[:, None, :] - points[None, :, :]
    return np.sqrt(np.sum(step * step, axis=2))


def _other_way(j: Joint) -> Joint:
    return replace(j, first=j.second, second=j.first, frame_first=j.frame_second, frame_second=j.frame_first)


def along_axis(d: Description, joint: Joint, kind: str, first: np.ndarray, second: np.ndarray) -> Joint:
    """Return a joint in place of another, with z along `first` and `second` in the bodies' axes and zero angle in the file's pose."""
    A, B = pose_of(d.body(joint.first).start).R, pose_of(d.body(joint.second).start).R
    F = axes_with_z(first, np.array(joint.frame_first.rotation, float))
    M = axes_with_z(second, B.T @ A @ F)
    return replace(
        joint,
        type=kind,
        frame_first=placement(Pose(F, np.array(joint.frame_first.at, float))),
        frame_second=placement(Pose(M, np.array(joint.frame_second.at, float))),
    )


def _fixed(joint: Joint, first: np.ndarray, second: np.ndarray) -> Joint:
    """The fixed joint that brings points of the second body onto those of the first, in the sense of least squares."""
    a, b = first - first[0], second - second[0]
    U, _, Vt = np.linalg.svd(a.T @ b)
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt  # the second body's axes in the first
    if np.abs(R - np.eye(3)).max() < 1e-15:
        R = np.eye(3)
    return replace(
        joint,
        type="fixed",
        frame_first=placement(Pose(R, np.array(joint.frame_first.at, float))),
        frame_second=placement(Pose(np.eye(3), np.array(joint.frame_second.at, float))),
    )
