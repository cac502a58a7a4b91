"""Coordinates that drives act on: one coordinate of a joint, cut or not, or the length of a cylinder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError, nearest
from linkwright.mechanics import forces
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.coordinates import Distance, JointCoordinate, coordinate, entry_of, lengths
from linkwright.text.units import KINDS, Dimension


@dataclass(frozen=True)
class DriveTarget:
    """A driven coordinate: `entry` is its place in v, None for cut joints and cylinders."""

    on: JointCoordinate | Distance
    entry: int | None = None

    @property
    def name(self) -> str:
        return self.on.name

    @property
    def rotary(self) -> bool:
        return self.on.rotary

    @property
    def alone(self) -> bool:
        """True if it is all that its joint can do."""
        return self.on.alone

    @property
    def position_kind(self) -> str:
        return self.on.kind

    @property
    def speed_kind(self) -> str:
        return self.on.speed_kind

    @property
    def effort_kind(self) -> str:
        return self.on.effort_kind

    def dimension(self, kind: str) -> Dimension:
        """Of its position, speed or effort."""
        return KINDS[{"position": self.position_kind, "speed": self.speed_kind, "effort": self.effort_kind}[kind]]

    def position(self, here: Instant) -> Any:
        return here.travel(self.on)

    def speed(self, here: Instant) -> Any:
        if self.entry is not None:
            return here.v[self.entry]
        return here.travel_rate(self.on)

    def pushes(self, at: Instant, effort: Any) -> forces.Wrenches:
        """Wrenches of an effort that is no entry of tau."""
        return at.along(self.on, effort)


def target(skel: Skeleton, name: Any) -> DriveTarget:
    """The coordinate of that name: `A`, `C.slide` of a joint with several, a cylinder."""
    d, tree = skel.tree.description, skel.tree
    if str(name) in lengths(d):
        return DriveTarget(coordinate(d, str(name)))
    head, _, part = str(name).partition(".")
    every = {j.name: j for j in (*d.joints, *(n.joint for n in tree.nodes))}
    if head not in every:
        known = [*every, *lengths(d)]
        raise UsageError(f"drive: there is no joint or cylinder '{name}'. {nearest(str(name), known, 'Joints and cylinders')}")
    joint = every[head]
    jt = joints.create(joint.type, joint.options)
    plain = jt.q_names == jt.v_names  # a quaternion has no coordinate of its own to push along
    if not plain or part not in jt.q_names:
        allowed = [f"{head}.{p}" if p else head for p in jt.q_names] if plain else []
        advice = f"Use {' or '.join(allowed)}." if allowed else "Drive another joint, or push its body with a wrench."
        raise UsageError(f"drive: '{name}' is not one coordinate of the {joint.type} joint '{head}'. {advice}")
    i = jt.q_names.index(part)
    node = tree.node_of_joint.get(joint.name)
    entry = None if node is None else tree.nodes[node].v.start + i
    return DriveTarget(entry_of(joint, i, str(name)), entry)


def numbers(values: Any) -> np.ndarray:
    """An array of floats, or of objects where a value is traced."""
    entries = list(values)
    return np.array(entries, dtype=object if any(hasattr(x, "where") for x in entries) else float)
