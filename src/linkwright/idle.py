"""Idle freedoms: motions of links between ball joints that spin in place while everything else rests."""

from __future__ import annotations

import numpy as np

from linkwright import joints
from linkwright.kinematics import Motion, body_jacobian, motion
from linkwright.linalg import factor
from linkwright.loops import Loops


def idle_motions(loops: Loops, q: np.ndarray, null: np.ndarray, m: Motion | None = None) -> list[tuple[tuple[str, ...], np.ndarray]]:
    """(bodies, dimensionless velocity) of every motion of bodies between spherical joints while all others rest; `m` is a
    motion at q, where one is known already."""
    skel = loops.skel
    groups = _between_spherical_joints(loops)
    if not groups or null.shape[1] == 0:
        return []
    m = motion(skel, q, np.zeros(skel.tree.nv)) if m is None else m
    jacobians = {n.body: body_jacobian(skel, m, i) @ (loops.columns[:, None] * null) for i, n in enumerate(skel.tree.nodes)}
    out: list[tuple[tuple[str, ...], np.ndarray]] = []
    for group in groups:
        others = [J for body, J in jacobians.items() if body not in group]
        free = factor(np.concatenate(others), 1e-8).null if others else np.zeros((null.shape[1], 0))
        out += [(tuple(group), null @ y) for y in free.T]
    return out


def _between_spherical_joints(loops: Loops) -> list[list[str]]:
    """Connected groups of bodies after taking spherical joints away; only groups held at two joints or more."""
    d = loops.skel.tree.description
    names = [b.name for b in d.bodies]
    group = {name: name for name in names}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    balls = [j for j in d.joints if j.type == "spherical"]
    for j in d.joints:
        if j.type != "spherical" and joints.create(j.type, j.options).rows:
            group[root(j.second)] = root(j.first)
    ground = root(names[0])
    out = []
    for head in dict.fromkeys(root(n) for n in names):
        held = sum((root(j.first) == head) != (root(j.second) == head) for j in balls)
        if head != ground and held >= 2:
            out.append([n for n in names if root(n) == head])
    return out
