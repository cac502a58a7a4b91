"""Wrench on a floating base that a known motion needs besides its drives; zero where the motion is one of free flight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwright.mechanics import forces
from linkwright.mechanics.dynamics import tree as dynamics
from linkwright.mechanics.inverse.problem import InverseProblem
from linkwright.mechanics.kinematics.base import base_joints
from linkwright.numerics.linalg import factor


class BasePush(NamedTuple):
    """Efforts along the base's velocities by name, and the wrenches on bodies that they are."""

    efforts: dict[str, float]
    pushes: tuple[tuple[int, np.ndarray], ...]


def base_push(p: InverseProblem, names: list[str]) -> BasePush:
    """The least efforts along the velocities `names` of the base that drives and loops leave to be given."""
    place = p.place
    skel, m = place.loops.skel, place.motion
    units = []
    for joint in base_joints(skel.tree):
        found = skel.tree.description.joint(joint)
        count = sum(n.startswith(f"{joint}.") for n in names)
        units += [forces.joint_effort(place, found, 1.0, i) for i in range(count)]
    columns, c = np.array([dynamics.generalized(skel, m, u) for u in units]).T, p.scales[0]
    lost = p.factors.left_null
    B = lost.T @ (columns * c[:, None])
    sizes = np.sqrt(np.sum((columns * c[:, None]) ** 2, axis=0))
    w = factor(B / sizes).solve(lost.T @ (p.g * c)) / sizes
    pushes = tuple((node, wrench * x) for unit, x in zip(units, w.tolist(), strict=True) for node, wrench in unit)
    return BasePush(dict(zip(names, w.tolist(), strict=True)), pushes)
