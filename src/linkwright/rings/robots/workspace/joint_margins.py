"""Coordinates of joints and lengths of cylinders at many states, and how far they are from their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Compiled, UsageError, is_rotary, joints, kinematics, lengths, nearest


def positions(core: Compiled, name: str, q: np.ndarray) -> np.ndarray:
    """Values (states,) of a joint's coordinate, by its name (`A`, `U1.angle2`), or of a cylinder's length, SI."""
    d, entries = core.description, core.kernels.entries["q"]
    if name in entries:
        return q[:, entries.index(name)]
    between = lengths(d).get(name)
    if between is not None:
        found = core.kernels.get("points").batch((q, np.zeros((len(q), core.tree.nv))), {}).position
        names = [f"{b.name}.{p.name}" for b in d.bodies for p in b.points]
        first, second = (found[:, names.index(".".join(ref))] for ref in between)
        return np.sqrt(((second - first) ** 2).sum(axis=1))
    cut = {j.name: j for j in d.joints if j.name in core.tree.cuts}
    if name in cut:
        joint = cut[name]
        jt = joints.create(joint.type, joint.options)
        if joints.is_hinge(jt) or joints.is_slider(jt):
            poses = core.kernels.get("poses").batch((q,), {})
            (Ra, pa), (Rb, pb) = (
                joint_frame(core, poses, body, f) for body, f in ((joint.first, joint.frame_first), (joint.second, joint.frame_second))
            )
            R, p = np.swapaxes(Ra, 1, 2) @ Rb, (np.swapaxes(Ra, 1, 2) @ (pb - pa)[:, :, None])[:, :, 0]
            return np.arctan2(R[:, 1, 0], R[:, 0, 0]) if joints.is_hinge(jt) else p[:, 0]
    known = [*entries, *cut, *lengths(d)]
    raise UsageError(f"'{name}' is neither a coordinate of a joint nor a cylinder here.", nearest(name, known, "Coordinates"))


def joint_frame(core: Compiled, poses: Any, body: str, frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and origin of a joint frame at all states."""
    X, node = kinematics.pose_of(frame), core.skel.node(body)
    if node < 0:
        n = len(poses.p)
        return np.broadcast_to(X.R, (n, 3, 3)), np.broadcast_to(X.p, (n, 3))
    R, p = poses.R[:, node], poses.p[:, node]
    return R @ X.R, p + R @ X.p


@dataclass(frozen=True)
class JointLimits:
    """Ranges of joints and cylinders by name, SI; infinite where there is none."""

    core: Compiled
    ranges: Mapping[str, tuple[float, float]]

    def margins(self, q: np.ndarray) -> np.ndarray:
        """(states, names): distances to the nearer limit, dimensionless; negative beyond it."""
        out = np.empty((len(q), len(self.ranges)))
        for k, (name, (low, high)) in enumerate(self.ranges.items()):
            x = positions(self.core, name, q)
            turning = is_rotary(self.core.description, name)
            if turning and np.isfinite(low + high):  # whole turns do not count
                middle = 0.5 * (low + high)
                x = middle + (x - middle + np.pi) % (2.0 * np.pi) - np.pi
            out[:, k] = np.minimum(x - low, high - x) / (1.0 if turning else self.core.loops.kappa)
        return out

    def least(self, q: np.ndarray) -> np.ndarray:
        """The smallest margin of each state."""
        return self.margins(q).min(axis=1)
