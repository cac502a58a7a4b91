"""Several joints between two bodies as a chain with links that have no mass: for programs that build a `Description` themselves.

A model file has `chain:` for it (`model.file.chains`). The links come last among the bodies, the joints one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwright.model.description import Body, Joint, Placement, Scalar
from linkwright.model.file.geometry import add, product, rotate


@dataclass(frozen=True)
class ChainJoint:
    """One joint of a chain: its frame is that of F and M where all coordinates are zero, in the axes of the second body."""

    name: str
    type: str
    frame: Placement = Placement()
    options: tuple[tuple[str, Scalar], ...] = ()
    armature: Scalar = 0.0


def chained(
    name: str, first: str, second: Body, pose: Placement, joints: Sequence[ChainJoint]
) -> tuple[tuple[Joint, ...], tuple[Body, ...]]:
    """Return the joints from `first` to `second` in their order, and the links between them.

    `pose` is that of the second body in the first where all coordinates are zero; links have the frame that the second body has there,
    and begin where it begins. One joint makes no link.
    """
    made: list[Joint] = []
    links = [Body(f"{name}:{k}", mass=0.0, start=second.start, where=second.where, chain=name) for k in range(1, len(joints))]
    bodies = [first, *(b.name for b in links), second.name]
    for k, j in enumerate(joints):
        F = within(pose, j.frame) if k == 0 else j.frame
        made.append(Joint(j.name, j.type, bodies[k], bodies[k + 1], F, j.frame, j.options, where=second.where, armature=j.armature))
    return tuple(made), tuple(links)


def within(outer: Placement, inner: Placement) -> Placement:
    """Return the placement of a frame that lies in a placed frame."""
    return Placement(add(outer.at, rotate(outer.rotation, inner.at)), product(outer.rotation, inner.rotation))
