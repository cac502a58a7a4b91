"""Loads of samples from a kernel: drive torques and forces, and forces of pins on bodies.

Only where every effort and reaction is determinate. Other channels of loads (shaking force and moment) are solved by `cycle_loads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.mechanics.kinematics.skeleton import Skeleton
from linkwright.numerics.result_stores import Store
from linkwright.results.load_channels import eyes

Component = tuple[tuple[str, int, float], ...]  # a sum: output of kernel `loads` ("u", "wrench"), entry, factor


class LoadTerms(NamedTuple):
    """How a channel follows from a kernel's outputs: from sums of them, and for a power from a velocity."""

    components: tuple[Component, ...]
    kind: str  # "value", "vector", "magnitude", "power"
    speed: int = 0  # place in v

    def combined(self, parts: Sequence[np.ndarray], v: np.ndarray) -> np.ndarray:
        """The channel, from its components and the velocities (..., nv) of the same samples."""
        if self.kind == "vector":
            return np.stack(parts, axis=-1)
        if self.kind == "magnitude":
            return np.sqrt(sum(x * x for x in parts))
        return parts[0] * v[..., self.speed] if self.kind == "power" else parts[0]


class KernelHistory:
    """Efforts u (n, drives) and reactions (n, joints, 6) of a cycle, read by the names of channels."""

    def __init__(self, skel: Skeleton, v: np.ndarray, drives: Sequence[str], u: np.ndarray, wrench: np.ndarray):
        self.v, self._outputs = v, {"u": u, "wrench": wrench.reshape(len(wrench), -1)}
        self._terms = load_terms(skel, drives)
        self._components: dict[Component, np.ndarray] = {}

    def component(self, sums: Component) -> np.ndarray:
        """(n,): a sum of the kernel's outputs."""
        if sums not in self._components:
            (block, i, factor), *rest = sums
            total = factor * self._outputs[block][:, i]
            for block, i, factor in rest:
                total += factor * self._outputs[block][:, i]
            self._components[sums] = total
        return self._components[sums]

    def read(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of the named channels that follow from the kernel."""
        found = {name: self._terms[name] for name in names if name in self._terms}
        return {name: x.combined([self.component(c) for c in x.components], self.v) for name, x in found.items()}


TERMS: Store[tuple[str, ...], dict[str, LoadTerms]] = Store()  # by drives


def load_terms(skel: Skeleton, drives: Sequence[str]) -> Mapping[str, LoadTerms]:
    """How each channel follows from efforts and reactions."""
    known, key = TERMS.of(skel), tuple(drives)
    if key not in known:
        known[key] = _terms(skel, drives)
    return known[key]


def _terms(skel: Skeleton, drives: Sequence[str]) -> dict[str, LoadTerms]:
    out: dict[str, LoadTerms] = {}
    for i, name in enumerate(drives):
        effort = ((("u", i, 1.0),),)
        out |= dict.fromkeys((f"{name}.torque", f"{name}.force"), LoadTerms(effort, "value"))
        node = skel.tree.node_of_joint.get(name)
        if node is not None:
            out[f"{name}.power"] = LoadTerms(effort, "power", skel.tree.nodes[node].v.start)
    d = skel.tree.description
    size = 2 if d.planar else 3
    for pin, body in eyes(d):
        key = f"{pin}.on.{body}"
        there = [
            (i, 1.0 if j.second == body else -1.0)
            for i, j in enumerate(d.joints)
            if pin == (j.pin or j.name) and body in (j.first, j.second)
        ]
        force = tuple(tuple(("wrench", 6 * i + 3 + axis, sign) for i, sign in there) for axis in range(3))
        out[key], out[f"{key}.magnitude"] = LoadTerms(force[:size], "vector"), LoadTerms(force, "magnitude")
        for i, axis in enumerate(d.plane or "xyz"):
            out[f"{key}.{axis}"] = LoadTerms(force[i : i + 1], "value")
    for i, j in enumerate(d.joints):
        out[f"{j.name}.load"] = LoadTerms(tuple(((("wrench", 6 * i + 3 + axis, 1.0),)) for axis in range(3)), "magnitude")
    return out
