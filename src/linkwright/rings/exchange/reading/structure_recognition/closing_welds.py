"""Fixed joints that close loops: the halves of a split body become one body again, and joints that this leaves without effect go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkwright.api import JOINTS, Description, Joint, elements, joints, pose_of
from linkwright.rings.exchange.reading.structure_recognition.closing_points import Joined
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import size
from linkwright.rings.exchange.reading.structure_recognition.graph_paths import path
from linkwright.rings.exchange.reading.structure_recognition.rigid_groups import merged, quoted

CONSISTENT = 1e-6  # share of the mechanism's size by which a closure beside a weld may be open and still be implied by it


def welded(d: Description, closing: Sequence[str]) -> Joined:
    """Merge bodies that a fixed closure holds together, where a loop leads from one to the other."""
    sentences: list[str] = []
    left = list(closing)
    for name in closing:
        if name not in left:
            continue
        weld = d.joint(name)
        if JOINTS[weld.type].nv:
            continue
        beside = [j for j in d.joints if j.name != name and {j.first, j.second} == {weld.first, weld.second}]
        implied = [j.name for j in beside if _implied(d, weld, j)]
        holding = [j.name for j in beside if j.name not in implied]
        if holding:
            sentences.append(f"'{name}' holds '{weld.first}' and '{weld.second}', which {quoted(holding)} also joins. It stays a joint.")
            continue
        if _needed_as_cut(d, weld, left):
            sentences.append(
                f"'{weld.first}' and '{weld.second}' are halves of one body, left apart at '{name}': every joint of the loop has "
                "an armature, so that no other joint can be cut."
            )
            continue
        found = merged(d, [name], lambda body, taken, name=name: f"{quoted(taken)} and '{body}' are halves of one body ('{name}'): merged.")
        d = without_joints(found.description, implied)
        sentences += found.sentences
        sentences += [f"'{x}' follows from '{name}' and was left out." for x in implied if x in left]
        left = [x for x in left if x != name and x not in implied]
    return Joined(d, tuple(left), tuple(sentences))


def _needed_as_cut(d: Description, weld: Joint, closing: Sequence[str]) -> bool:
    """True if all joints between the two bodies have an armature, which a cut joint cannot have."""
    steps = path(d, weld.first, weld.second, closing)
    return bool(steps) and all(step.joint.armature for step in steps)


def _implied(d: Description, weld: Joint, other: Joint) -> bool:
    """True if a joint between welded bodies has no rows, or rows that the weld satisfies."""
    jt = joints.create(other.type, other.options)
    if not jt.rows:
        return True
    if other.name not in {j.name for j in d.joints} or jt.nv != 3:  # of joints beside a weld only points are closures of the same kind
        return False
    X = pose_of(weld.frame_first) @ pose_of(weld.frame_second).inverse()
    if other.first != weld.first:
        X = X.inverse()
    gap = X.point(np.array(other.frame_second.at, float)) - np.array(other.frame_first.at, float)
    return bool(np.sqrt(gap @ gap) <= CONSISTENT * size(d))


def within_one_body(d: Description, closing: Sequence[str]) -> Joined:
    """Leave out joints whose two bodies have become one."""
    inside = [j.name for j in d.joints if j.first == j.second]
    said = [f"'{name}' is between bodies that are fixed to each other and was left out." for name in inside]
    return Joined(without_joints(d, inside), tuple(x for x in closing if x not in inside), tuple(said))


def without_idle_bases(d: Description, closing: Sequence[str]) -> Joined:
    """Leave out joints that hold nothing (free) between bodies that other joints connect anyway."""
    sentences = []
    for j in d.joints:
        if not JOINTS[j.type].rows and path(d, j.first, j.second, [j.name]) is not None:
            d = without_joints(d, [j.name])
            sentences.append(f"the free joint '{j.name}' was left out: other joints connect '{j.first}' and '{j.second}'.")
    left = {j.name for j in d.joints}
    return Joined(d, tuple(x for x in closing if x in left), tuple(sentences))


def without_joints(d: Description, names: Sequence[str]) -> Description:
    """Return the description without joints and without what acts on their coordinates."""
    if not names:
        return d
    gone = set(names)

    def stays(channel: str) -> bool:
        return channel.partition(".")[0] not in gone

    return replace(
        d,
        joints=tuple(j for j in d.joints if j.name not in gone),
        **{s: tuple(x for x in getattr(d, s) if all(map(stays, elements.joint_names(x)))) for s in elements.HELD},
        drives=tuple(x for x in d.drives if stays(x.joint)),
        start=tuple((channel, x) for channel, x in d.start if stays(channel)),
    )
