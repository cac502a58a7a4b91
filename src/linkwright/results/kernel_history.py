"""Loads of all samples of a turn from a kernel: drive torques and forces, and forces of pins on bodies.

Only where every effort and reaction is determinate. Other channels of loads (shaking force and moment) are solved by `turn_loads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.results.load_channels import eyes


class KernelHistory:
    """Efforts u (n, drives) and reactions (n, joints, 6) of a turn, read by the names of channels."""

    def __init__(self, skel: Skeleton, v: np.ndarray, drives: Sequence[str], u: np.ndarray, wrench: np.ndarray):
        self.v, self.u, self.wrench = v, u, wrench
        if ("history", *drives) not in skel.tables:
            skel.tables["history", *drives] = _columns(skel, drives)
        self._read: dict[str, Callable[[KernelHistory], np.ndarray]] = skel.tables["history", *drives]
        self._forces: dict[tuple[str, str], np.ndarray] = {}

    def force(self, pin: str, body: str, joints: Sequence[tuple[int, float]]) -> np.ndarray:
        """(n, 3): what a pin does to a body's eye, the sum over its joints there with their signs."""
        if (pin, body) not in self._forces:
            first, *rest = joints
            total = first[1] * self.wrench[:, first[0], 3:]
            for i, sign in rest:
                total += sign * self.wrench[:, i, 3:]
            self._forces[pin, body] = total
        return self._forces[pin, body]

    def read(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of the named channels that follow from the kernel."""
        return {name: self._read[name](self) for name in names if name in self._read}


def _columns(skel: Skeleton, drives: Sequence[str]) -> dict[str, Callable[[KernelHistory], np.ndarray]]:
    """How each channel follows from efforts and reactions."""
    out: dict[str, Callable[[KernelHistory], np.ndarray]] = {}
    for i, name in enumerate(drives):
        out |= dict.fromkeys((f"{name}.torque", f"{name}.force"), lambda x, i=i: x.u[:, i])
        node = skel.tree.node_of_joint.get(name)
        if node is not None:
            out[f"{name}.power"] = lambda x, i=i, k=skel.tree.nodes[node].v.start: x.u[:, i] * x.v[:, k]
    d = skel.tree.description
    size = 2 if d.planar else 3
    for pin, body in eyes(d):
        key = f"{pin}.on.{body}"
        there = [(i, j) for i, j in enumerate(d.joints) if pin == (j.pin or j.name) and body in (j.first, j.second)]
        at = (pin, body, [(i, 1.0 if j.second == body else -1.0) for i, j in there])
        out[key] = lambda x, at=at: x.force(*at)[:, :size]
        out[f"{key}.size"] = lambda x, at=at: np.sqrt(np.einsum("ij,ij->i", x.force(*at), x.force(*at)))
        for i, axis in enumerate(d.plane or "xyz"):
            out[f"{key}.{axis}"] = lambda x, at=at, i=i: x.force(*at)[:, i]
    return out
