"""Distances and angles by which closures are open in the file's pose."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from linkwright.api import Description, joints
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import sides


def gap(d: Description, name: str) -> tuple[float, float]:
    """Return how far the two sides of a joint are apart in what the joint holds: distance (m) and angle (rad)."""
    joint = d.joint(name)
    F, M = sides(d, joint)
    X = F.inverse() @ M
    jt = joints.create(joint.type, joint.options)
    near = jt.coordinates(X.R, X.p, np.zeros(jt.nq))
    with np.errstate(all="ignore"):  # half a turn has no rotation vector
        rows = np.asarray(jt.residual(X.R, X.p, near), float)
    lengths = [label[0] == "t" for label in jt.rows]
    parts = rows[lengths], rows[[not x for x in lengths]]
    angle = float(np.sqrt(parts[1] @ parts[1]))
    return float(np.sqrt(parts[0] @ parts[0])), angle if math.isfinite(angle) else math.pi


def gaps(d: Description, names: Iterable[str]) -> tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]:
    """Return distances and angles of joints in the file's pose, by name; angles only of joints that hold one."""
    found = [(name, *gap(d, name)) for name in names]
    holding = {j.name for j in d.joints if any(label[0] == "r" for label in joints.JOINTS[j.type].rows)}
    return tuple((name, x) for name, x, _ in found), tuple((name, x) for name, _, x in found if name in holding)
