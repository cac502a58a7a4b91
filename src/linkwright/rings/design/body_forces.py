"""Forces and moments on one body at one instant: pins, drives, springs and loads, gears and rods, weight and inertia.

With the inertia force -m a and the inertia moment at the center of mass (d'Alembert) they add up to zero. Free-body diagrams
draw them, load cases write them in the body's own axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import JOINTS, Description, belt_constraints, cross, dynamics, forces, inverse, joints, kinematics, lengths, spatial
from linkwright.mechanics.constraints import DrivenDistance, acting_point, workless_wrenches
from linkwright.mechanics.constraints.rod import RodConstraint


@dataclass(frozen=True)
class BodyAction:
    """One force and moment on the body, world axes, SI. `kind`: pin, drive, load, weight, inertia or link (gears, rods)."""

    name: str
    kind: str
    at: np.ndarray
    force: np.ndarray
    moment: np.ndarray

    def moment_about(self, point: np.ndarray) -> np.ndarray:
        return self.moment + cross(self.at - point, self.force)


def body_actions(loads: inverse.Loads, body: str) -> tuple[BodyAction, ...]:
    """Return everything that acts on a moving body, weight and inertia last."""
    skel = loads.problem.place.loops.skel
    d, node = skel.tree.description, skel.node(body)
    com = in_world(loads, node, np.array(skel.com[node], dtype=float))
    rows = [*_pins(loads, d, body), *_drives(loads, d, node), *_elements(loads, d, node), *_links(loads, node, com)]
    return (*rows, *_mass(loads, node, com))


def in_world(loads: inverse.Loads, node: int, p_B: np.ndarray) -> np.ndarray:
    """Return a point of a body in the world."""
    place = loads.problem.place
    skel = place.loops.skel
    return kinematics.node_motion(skel, place.motion, node)[0].point(p_B) + skel.origin(node)


def _action(loads: inverse.Loads, name: str, kind: str, node: int, wrench: Any, at: np.ndarray) -> BodyAction:
    """A wrench at a subsystem's origin, as a force at a point."""
    arm = at - loads.problem.place.loops.skel.origin(node)
    force = np.asarray(wrench[3:], dtype=float)
    return BodyAction(name, kind, at, force, np.asarray(wrench[:3], dtype=float) - cross(arm, force))


def _pins(loads: inverse.Loads, d: Description, body: str) -> Iterator[BodyAction]:
    eyes = [j.pin or j.name for j in d.joints if body in (j.first, j.second) and joints.holds(JOINTS[j.type], d.planar)]
    for eye in dict.fromkeys(eyes):
        w = loads.on(eye, body)
        yield BodyAction(eye, "pin", w.at, w.force, w.moment)


def _joint_point(loads: inverse.Loads, d: Description, name: str) -> np.ndarray:
    joint = d.joint(name)
    skel = loads.problem.place.loops.skel
    return in_world(loads, skel.node(joint.second), np.asarray(kinematics.pose_of(joint.frame_second).p, dtype=float))


def _drives(loads: inverse.Loads, d: Description, node: int) -> Iterator[BodyAction]:
    p = loads.problem
    distances = lengths(d)
    for name, push, effort in zip(p.drives, p.pushes, loads.u, strict=True):
        for n, w in push:
            if n == node:
                at = _end(loads, distances[name], node) if name in distances else _joint_point(loads, d, name)
                yield _action(loads, f"drive {name}", "drive", node, w * effort, at)


def _end(loads: inverse.Loads, between: Any, node: int) -> np.ndarray:
    place = loads.problem.place
    ends = [kinematics.locate(place.loops.skel, place.motion, ref) for ref in between]
    return next(np.asarray(e.position, dtype=float) for e in ends if e.node == node)


def _elements(loads: inverse.Loads, d: Description, node: int) -> Iterator[BodyAction]:
    """Springs, dampers, friction, stops, loads and pushing cylinders, each at its point; then what else was applied."""
    place = loads.problem.place
    rest = np.sum([w for n, w in place.external if n == node] or [np.zeros(6)], axis=0)
    size = float(np.abs(rest).max())
    for x in d.acting:
        for n, w in forces.ElementForce(x).wrenches(place):
            if n != node or not np.any(w):
                continue
            rest = rest - w
            yield _action(loads, x.name, "load", node, w, np.asarray(forces.acting_at(place, x, node), dtype=float))
    if np.abs(rest).max() > 1e-12 * max(size, 1.0):
        yield _action(loads, "friction by load, given wrenches", "load", node, rest, in_world(loads, node, np.zeros(3)))


def _links(loads: inverse.Loads, node: int, com: np.ndarray) -> Iterator[BodyAction]:
    """Gear teeth, rods and couplings: constraints that are no joints."""
    p = loads.problem
    place = p.place
    skel, cut = place.loops.skel, set(place.loops.skel.tree.cuts)
    for c, part, rows in zip(place.loops.constraints, place.closure.parts, p.terms.rows, strict=True):
        if c.name in cut:
            continue
        lam = loads.lam_all[rows]
        wrench = np.sum([G.T @ lam for n, G in part.G if n == node] or [np.zeros(6)], axis=0)
        if isinstance(c, belt_constraints.BeltConstraint):
            ends = [(w, np.asarray(at)) for n, w, at in c.wrenches(skel, place.motion, lam) if n == node]
            yield from (_action(loads, c.name, "link", node, w, at) for w, at in ends if np.any(w))
            continue
        at, touching = com, acting_point(c, skel, place.motion, place.references)
        if touching is not None:
            at = np.asarray(touching, dtype=float)
            more = workless_wrenches(c, skel, place.motion, part, lam, place.references)
            wrench = wrench + np.sum([w for n, w in more if n == node] or [np.zeros(6)], axis=0)
        elif isinstance(c, RodConstraint | DrivenDistance) and np.any(wrench):
            at = _end(loads, c.between, node)
        if np.any(wrench):
            yield _action(loads, c.name, "link", node, wrench, at)


def _mass(loads: inverse.Loads, node: int, com: np.ndarray) -> list[BodyAction]:
    """Weight, and the inertia force and moment, at the center of mass."""
    p = loads.problem
    skel, m = p.place.loops.skel, p.place.motion
    I, V, A = dynamics.body_inertias(skel, m)[node], m.V[node], kinematics.accelerations(skel, m, p.a)[node]
    weight = I @ np.concatenate([np.zeros(3), skel.gravity])
    inertia = -(I @ A + spatial.cross_wrench(V, I @ V))
    out = [_action(loads, "weight", "weight", node, weight, com), _action(loads, "inertia", "inertia", node, inertia, com)]
    return [a for a in out if np.any(a.force) or np.any(a.moment)]
