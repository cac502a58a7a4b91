"""Armature and damping of actuators, which act on their joints times the gear squared, whatever the control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwright.rings.exchange.reading.mjcf.joints import MjcfTree
from linkwright.rings.exchange.reading.mjcf.tendons import transmission
from linkwright.rings.exchange.reading.notes import ImportNotes


@dataclass(frozen=True)
class Rotors:
    """Inertia and damping at joints, by number."""

    armature: dict[int, float]
    damping: dict[int, float]


def rotors(m: Any, notes: ImportNotes) -> Rotors:
    """Sum what the actuators of each joint carry; of transmissions over several joints it is reported as lost."""
    out = Rotors({}, {})
    for name, into in (("actuator_armature", out.armature), ("actuator_damping", out.damping)):
        values = getattr(m, name, np.zeros(len(m.actuator_trntype)))  # since MuJoCo 4
        for a in np.flatnonzero(values).tolist():
            terms = transmission(m, a)
            if len(terms) == 1:
                (j, c), gear = terms[0], float(m.actuator_gear[a][0])
                into[j] = into.get(j, 0.0) + float(values[a]) * (gear * c) ** 2
            else:
                notes.drop(f"multi-joint {name.replace('_', ' ')}", m.actuator(a).name)
    return out


def with_rotors(tree: MjcfTree, carried: Rotors) -> None:
    """Add the inertia of actuators to the armature of their joints."""
    for j, more in carried.armature.items():
        joint = tree.moving[j]
        tree.moving[j] = tree.order[tree.order.index(joint)] = replace(joint, armature=joint.armature + more)
