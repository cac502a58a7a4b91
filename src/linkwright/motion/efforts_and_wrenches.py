"""Inputs of a caller: efforts by joint name, wrenches by body name, as arrays the equations take.

An effort in a tree joint is an entry of tau; in a cut joint it is the wrench pair on its two bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError
from linkwright.mechanics import forces
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.coordinates import JointCoordinate
from linkwright.model.description import Joint
from linkwright.model.file import quantity
from linkwright.motion.assembly import Assembler
from linkwright.results.state import State
from linkwright.text.units import KINDS


def efforts(assembler: Assembler, st: State, tau: Any) -> tuple[np.ndarray, list[tuple[int, Any]]]:
    """Efforts as an array over the tree joints, and as wrenches for those in cut joints."""
    tree = assembler.tree
    effort = np.zeros(tree.nv)
    if tau is None:
        return effort, []
    if not isinstance(tau, Mapping):
        array = np.asarray(tau, dtype=float)
        if array.shape != effort.shape or not all(map(isfinite, array.tolist())):
            raise UsageError(f"tau needs {tree.nv} finite entries, one for every velocity (names.v), or a dict by joint name.", name="tau")
        return array, []
    pushes: list[tuple[int, Any]] = []
    for name, value in tau.items():
        for joint, i, x in _efforts(assembler, name, value):
            if joint.name in tree.node_of_joint:
                effort[tree.nodes[tree.node_of_joint[joint.name]].v.start + i] += x
            else:
                pushes += forces.joint_effort(st.instant, joint, x, i)
    return effort, pushes


def _efforts(assembler: Assembler, name: str, value: Any) -> list[tuple[Joint, int, float]]:
    """(joint, entry of its velocity, effort): one for a coordinate, all of a joint for a list."""
    part = assembler.targets.part(name)
    if isinstance(part, JointCoordinate):
        return [(part.joint, part.v, quantity(value, KINDS[part.effort_kind], f"the effort of '{name}'"))]
    jt = joints.create(part.type, part.options)
    x = np.asarray(value, dtype=float) if not isinstance(value, str) else np.zeros(0)
    if x.shape != (jt.nv,) or not np.isfinite(x).all():
        raise UsageError(
            f"the effort of the {part.type} joint '{name}' needs {jt.nv} finite numbers, for {', '.join(jt.v_names)}.", name=name
        )
    return [(part, i, float(e)) for i, e in enumerate(x)]


def wrenches(skel: Skeleton, st: State, wrench: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """Given wrenches at body origins ([moment; force], world axes), moved to the subsystems' origins."""
    out = []
    for body, value in wrench.items():
        m, node = st.instant.motion, skel.node(body)
        w = np.asarray(value, dtype=float)
        if w.shape != (6,) or not np.isfinite(w).all():
            raise UsageError(
                f"the wrench on '{body}' needs six finite numbers, [moment; force] at the body's origin in world axes.", name=body
            )
        if node >= 0:
            out.append((node, np.concatenate([w[:3] + np.cross(m.X[node].p, w[3:]), w[3:]])))
    return out
