"""Transmission by force: which share of the forces on an output's body does work when it moves.

A mechanism without mass, springs and friction is held by its drives, and a unit load acts in one coordinate of a joint, the output.
Joints, rods, gears and cylinders then put forces F_i at points p_i and moments M_i on the output's body. When the output moves at unit
rate, that body has the angular velocity w and the points have velocities v_i (relative to the body on the other side of the output
joint), and the powers F_i.v_i + M_i.w sum up to that of the load. The share

    s = load / sum(|F_i| |v_i| + |M_i| |w|)        0 <= s <= 1

is the power over what the same forces could do if they all acted along the motion. With one pushing joint and no moment it is the sine
of the angle between force and lever: s = sin(mu) with the transmission angle mu of the textbooks, whichever links are drawn as coupler
and follower. No convention is needed, in the plane or in space. Forces of redundant constraints are those of least norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.constraints.rod import RodConstraint
from linkwright.mechanics.dynamics.reactions import at_joint, constraint_part, every_joint_wrench
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.effort_places import EffortPlace, effort_place
from linkwright.mechanics.kinematics.motion import locate
from linkwright.model.coordinates import Distance, JointCoordinate, coordinate, coordinate_or_none
from linkwright.model.description import Description, Joint
from linkwright.numerics.connected_groups import Groups
from linkwright.numerics.scalars import arctan2
from linkwright.numerics.spatial import cross
from linkwright.numerics.tolerances import SQUARE_FLOOR


class Contact(NamedTuple):
    """A force and a moment on the output's body at a point of the world."""

    force: Any
    moment: Any
    at: Any


def share_terms(x: Instant, loops: Loops, output: str, held: Sequence[str], y: Any) -> Any:
    """(load, sum of |F| |v| + |M| |w|); y are multipliers, efforts of the held coordinates, and the load, which balance each other."""
    d = x.skel.tree.description
    joint, i = _output(d, output)
    rigid = _rigid(d)
    body = joint.first if rigid[joint.second] == rigid[d.bodies[0].name] else joint.second
    inside = {b.name for b in d.bodies if rigid[b.name] == rigid[body]}
    place = Instant(x.skel, x.q, x.v, x.t, x.references, loops=loops, motion=x.motion)
    lam, u, load = y[: len(loops.row_scale)], y[len(loops.row_scale) : -1], y[-1]
    pushes = [(effort_place(d, name), effort) for name, effort in zip(held, u, strict=True)]
    R, point, freedoms, _ = at_joint(place, joint.name)
    w, v = R @ freedoms[:3, i], R @ freedoms[3:, i]
    total: Any = 0.0
    for c in _contacts(place, joint, inside, pushes, (effort_place(d, output), load), lam):
        total = total + _size(c.force) * _size(v + cross(w, c.at - point)) + _size(c.moment) * _size(w)
    return np.array([load, total])


def transmission_by_force(terms: Any) -> Any:
    """The share as an angle, 0 .. 90 deg, of (load, total). Its derivative at 90 deg, the largest it can be, is zero."""
    load, total = terms
    square = 1e-8  # rad: a share of 1 has no more digits of its angle, and there the root of 1 - s^2 is all round-off
    return arctan2(load, np.sqrt(abs(total * total - load * load) + square**2 * (total * total) + SQUARE_FLOOR))


def transmissions_by_force(terms: np.ndarray) -> np.ndarray:
    """The same of many samples (n, 2); 0 where forces grow beyond bounds."""
    load, total = terms.T
    return np.arcsin(np.clip(load / np.where(total > 0.0, total, 1.0), 0.0, 1.0))


def _output(d: Description, name: str) -> tuple[Joint, int]:
    found = coordinate(d, name)
    assert isinstance(found, JointCoordinate)
    return found.joint, found.v


def _rigid(d: Description) -> dict[str, str]:
    """The head of every group of bodies that fixed joints hold together."""
    groups = Groups(b.name for b in d.bodies)
    for j in d.joints:
        if joints.JOINTS[j.type].nv == 0:
            groups.join(j.first, j.second)
    return groups.roots()


def _size(x: Any) -> Any:
    return np.sqrt(x @ x + SQUARE_FLOOR)


def _contacts(
    place: Instant,
    output: Joint,
    inside: set[str],
    held: Sequence[tuple[EffortPlace | None, Any]],
    load: tuple[EffortPlace | None, Any],
    lam: Any,
) -> list[Contact]:
    """Everything that touches the output's body but the output joint itself; joints at one pin together."""
    skel, d = place.skel, place.skel.tree.description
    pushes = [(node, e * w) for p, e in (*held, load) if p is not None for node, w in p.pushes(place)[0]]
    at_pin: dict[str, Contact] = {}
    for w in every_joint_wrench(place.with_external(pushes), lam, None, inertial=False, pushed=True):
        j = d.joint(w.joint)
        if w.joint == output.name or (j.first in inside) == (j.second in inside):
            continue
        w, sign = constraint_part(place, w), 1.0 if j.second in inside else -1.0
        found = Contact(sign * w.force, sign * w.moment, w.point)
        known = at_pin.get(j.pin or j.name)
        at_pin[j.pin or j.name] = _pressed(place, j, found) if known is None else _sum(known, found)
    nodes = {skel.node(b): b for b in inside if skel.node(b) >= 0}
    out = list(at_pin.values())
    loops = place.loops
    for c, rows, part in zip(loops.constraints, place.closure.rows, place.closure.parts, strict=True):
        if c.name not in skel.tree.cuts:
            out += [_moved(place, node, G.T @ lam[rows], c, nodes, output) for node, G in part.G if node in nodes]
    for p, effort in held:
        if p is not None:
            own = [(node, w) for node, w in p.pushes(place)[0] if node in nodes]
            out += [_moved(place, node, effort * w, p, nodes, output) for node, w in own] if len(own) == 1 else []
    return out


def _sum(a: Contact, b: Contact) -> Contact:
    return Contact(a.force + b.force, a.moment + b.moment + cross(b.at - a.at, b.force), a.at)


def _moved(place: Instant, node: int, w: Any, by: Any, nodes: dict[int, str], output: Joint) -> Contact:
    """A wrench at a body's subsystem origin, at the point where it acts: the end of a rod or cylinder, the point of a joint."""
    skel = place.skel
    found = coordinate_or_none(skel.tree.description, by.name)
    between = by.between if isinstance(by, RodConstraint) else found.between if isinstance(found, Distance) else None
    joint = found.joint if isinstance(by, EffortPlace) and isinstance(found, JointCoordinate) else None
    if between is not None:
        arm = locate(skel, place.motion, next(ref for ref in between if skel.node(ref[0]) == node)).arm
    else:
        arm = at_joint(place, output.name if joint is None else joint.name).point - skel.origin(node)
    return Contact(w[3:], w[:3] - cross(arm, w[3:]), arm + skel.origin(node))


def _pressed(place: Instant, j: Joint, c: Contact) -> Contact:
    """The force of a guide where it presses: at the point of its line with the least moment."""
    R, _, freedoms, _ = at_joint(place, j.name)
    along = [k for k in range(freedoms.shape[1]) if not _turns(freedoms[:3, k])] if freedoms is not None else []
    if len(along) != 1:
        return c
    lever = cross(R @ freedoms[3:, along[0]], c.force)
    shift = (lever @ c.moment) / (lever @ lever + SQUARE_FLOOR)
    arm = shift * (R @ freedoms[3:, along[0]])
    return Contact(c.force, c.moment - cross(arm, c.force), c.at + arm)


def _turns(column: Any) -> bool:
    """True for a degree of freedom that turns; what is no number turns."""
    return any(not isinstance(x, (int, float, np.floating)) or x != 0.0 for x in column)
