"""A mechanism as MuJoCo's XML (MJCF): one text, no other files, the same every time.

Bodies nest along our spanning tree and keep our body frames; every joint is written as its pieces (hinge, slide, ball, or one
free joint). Loops become equality constraints between sites, which MuJoCo holds softly: they are set as stiff as its time step
allows. Springs, dampers, friction and constant loads are written as far as MJCF can hold them (`mujoco_forces`); for the rest
there is a warning, and `MujocoMap.effort` gives what it does.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from linkwright import joints
from linkwright.errors import UsageError, call_explained
from linkwright.exchange import loops
from linkwright.exchange.inertia import Solid, solids
from linkwright.exchange.mujoco_forces import WORLD, MujocoForces, held, numbers
from linkwright.exchange.mujoco_map import MujocoJoint, place, placed_pieces
from linkwright.mechanics.constraints.coupling import CouplingConstraint
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.mechanics.kinematics.motion import locate, motion
from linkwright.model.curves.lines import Line
from linkwright.model.description import PointRef
from linkwright.numerics.spatial import Pose, array, rotation_quaternion
from linkwright.system.system import System

FLOOR = 1e-8  # share of the mechanism's mass (times length squared) that every body gets at least
THIN = 0.02  # radius of the drawn bars against the size of the mechanism


@call_explained
def to_mjcf(model: System | loops.HasSystem, *, timestep: float = 1e-3, floor: float = FLOOR) -> str:
    """The mechanism as MJCF text: tree, loops, rods, gears, springs, dampers, friction, constant loads, motors for the drives, and
    the start as keyframe `start`. A UserWarning lists what MJCF cannot hold."""
    if not timestep > 0.0:
        raise UsageError(f"the time step must be positive, not {timestep!r}.")
    system = loops.convertible(model, "MuJoCo", regular=True)
    system.M(system.start)  # says which masses are missing
    root = xml.Element("mujoco", model=system.description.name)
    forces = held(system)
    _head(root, system, timestep, forces)
    world = xml.SubElement(root, "worldbody")
    if forces.world:
        xml.SubElement(world, "site", name=WORLD)
    _points(world, system, system.description.bodies[0].name)
    order: list[MujocoJoint] = []
    mass = solids(system, floor, realistic=True)
    for i, n in enumerate(system.tree.nodes):
        if n.parent < 0:
            _body(world, system, i, mass, floor, order, forces)
    _tendons(root, system, forces)
    _equalities(root, system)
    _actuators(root, system, forces)
    _keyframe(root, system, order, system.start if isinstance(model, System) else model.system.start)
    xml.indent(root, "  ")
    return xml.tostring(root, encoding="unicode") + "\n"


def _numbers(values: Iterable[Any]) -> str:
    return numbers(list(values))


def _pose(X: Pose) -> dict[str, str]:
    return {"pos": _numbers(X.p), "quat": _numbers(rotation_quaternion(np.asarray(X.R, float)))}


def _note(parent: xml.Element, text: str) -> None:
    parent.append(xml.Comment(f" {text.replace('--', '- -')} "))


def _head(root: xml.Element, system: System, timestep: float, forces: MujocoForces) -> None:
    d = system.description
    _note(root, f"{d.name}: {d.about or 'a mechanism'}. Lengths in m, angles in rad, SI throughout.")
    _note(root, f"Cut joints, closed by equality constraints: {', '.join(system.tree.cuts) or 'none'}.")
    if forces.lost:
        lost = "; ".join(f"{name} ({why})" for name, why in forces.lost)
        _note(root, f"Not in this file, apply it as qfrc_applied: {lost}.")
        warnings.warn(
            f"to_mjcf: '{d.name}' loses {lost}. MujocoMap.effort(state) gives what is missing, to be applied as qfrc_applied.",
            stacklevel=4,
        )
    xml.SubElement(root, "compiler", angle="radian", autolimits="true")
    option = {"timestep": f"{timestep:.17g}", "gravity": _numbers(d.gravity), "integrator": "implicitfast", "solver": "Newton"}
    xml.SubElement(root, "option", {**option, "iterations": "100", "tolerance": "1e-14"})
    default = xml.SubElement(root, "default")
    # a time constant of two steps is the stiffest MuJoCo accepts, 0.9999 the least softness
    xml.SubElement(default, "equality", solref=f"{2.0 * timestep:.17g} 1", solimp="0.9999 0.9999 0.001 0.5 2")
    xml.SubElement(default, "geom", contype="0", conaffinity="0", rgba="0.35 0.45 0.6 1")
    xml.SubElement(default, "site", size=f"{0.5 * THIN * system.loops.kappa:.6g}")


# -------------------------------------------------------------------- bodies


def _body(
    parent: xml.Element,
    system: System,
    i: int,
    mass: list[Solid],
    floor: float,
    order: list[MujocoJoint],
    forces: MujocoForces,
    chain: tuple[tuple[int, Pose], ...] = (),
) -> None:
    """A body with everything it carries; joints of the text are noted in `order`, which is MuJoCo's order of coordinates.

    `chain`: nodes of links between the parent and this body, with their poses in the parent; the body gets their joints.
    """
    n, skel = system.tree.nodes[i], system.skel
    X_PB = skel.X_PF[i] @ skel.X_CM[i].inverse()  # pieces at zero
    X_PB = chain[-1][1] @ X_PB if chain else X_PB
    carried = [k for k, other in enumerate(system.tree.nodes) if other.parent == i]
    if _joins_next(system, i, carried):
        _body(parent, system, carried[0], mass, floor, order, forces, (*chain, (i, X_PB)))
        return
    e = xml.SubElement(parent, "body", {"name": n.body, **_pose(X_PB)})
    if mass[i].raised:
        _note(e, f"massless or thin: mass or inertia raised to the floor of {floor:g}; MuJoCo needs some inertia in every direction")
    I = mass[i].inertia
    full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    xml.SubElement(e, "inertial", pos=_numbers(mass[i].com), mass=f"{mass[i].mass:.17g}", fullinertia=_numbers(full))
    for node, X_PL in (*chain, (i, X_PB)):
        for at in placed_pieces(system, node):
            _joint(e, X_PB.inverse() @ X_PL @ skel.X_CM[node], at, forces)
            order.append(at)
    _points(e, system, n.body)
    for k in carried:
        _body(e, system, k, mass, floor, order, forces)


def _joins_next(system: System, i: int, carried: list[int]) -> bool:
    """True for a link inside a chain of hinges and sliders: MuJoCo has several joints in one body instead."""
    n = system.tree.nodes[i]
    if not system.description.body(n.body).chain or len(carried) != 1:
        return False
    every = [at for k in (i, *carried) for at in placed_pieces(system, k)]
    simple = all(at.piece is not None and at.piece.kind in ("turn", "slide") for at in every)
    return simple and all(n.body not in (c.first, c.second) for c in loops.closings(system))


def _joint(body: xml.Element, X: Pose, at: MujocoJoint, forces: MujocoForces) -> None:
    """A joint whose frame M is at `X` in the body where all coordinates are zero."""
    if at.piece is None:
        xml.SubElement(body, "freejoint", name=at.name)
        return
    where = {"pos": _numbers(X.p)}
    if at.piece.kind == "ball":
        xml.SubElement(body, "joint", {"name": at.name, "type": "ball", **where})
        return
    kind = "slide" if at.travel or at.piece.kind == "slide" else "hinge"
    acts = {k: numbers([x]) for k, x in forces.joints.get(at.name, {}).items() if x}
    axis = {"axis": _numbers(np.asarray(X.R, float) @ at.piece.axis)}
    xml.SubElement(body, "joint", {"name": at.name, "type": kind, **where, **axis, **acts})


def _points(e: xml.Element, system: System, body: str) -> None:
    """Named points as sites, both sides of the loops as sites, outlines as thin bars for the eye."""
    b = system.description.body(body)
    for p in b.points:
        xml.SubElement(e, "site", name=f"{body}.{p.name}", pos=_numbers(p.at))
    for c in loops.closings(system):
        for end, frame in ((c.first, c.at_first), (c.second, c.at_second)):
            if end == body:
                side = "first" if frame is c.at_first else "second"
                xml.SubElement(e, "site", {"name": f"loop:{c.name}:{side}", **_pose(Pose(array(frame.rotation), array(frame.at)))})
    radius = THIN * system.loops.kappa
    for line in b.outline:
        for one, two in pairwise(line):
            ends = np.array([b.point(one).at, b.point(two).at], float)
            if np.linalg.norm(ends[1] - ends[0]) > radius:
                xml.SubElement(e, "geom", type="capsule", size=f"{radius:.6g}", fromto=_numbers(ends.ravel()))


# -------------------------------------------------------------------- what holds and drives it


def _tendons(root: xml.Element, system: System, forces: MujocoForces) -> None:
    d = system.description
    lines: list[tuple[str, Any, dict[str, str]]] = [(x.name, x.between, {}) for x in (*d.rods, *d.cylinders)]
    lines += forces.tendons
    if not lines:
        return
    section = xml.SubElement(root, "tendon")
    for name, ends, acts in lines:
        e = xml.SubElement(section, "spatial", {"name": name, **acts})
        for body, point in ends:
            xml.SubElement(e, "site", site=f"{body}.{point}")


def _equalities(root: xml.Element, system: System) -> None:
    d = system.description
    section = xml.Element("equality")
    for c in loops.closings(system):
        if c.name != c.cut:
            _note(section, f"a hinge in space is held at two points of its axis; this is the second one of {c.cut}")
        xml.SubElement(section, "weld" if c.weld else "connect", name=c.name, site1=f"loop:{c.name}:first", site2=f"loop:{c.name}:second")
    for rod in d.rods:
        more = rod.length - _length(system, rod.between)
        xml.SubElement(section, "tendon", name=rod.name, tendon1=rod.name, polycoef=_numbers((more, 0, 0, 0, 0)))
    for i, n in enumerate(system.tree.nodes):
        for at in placed_pieces(system, i):
            if at.travel and at.piece:
                _tie(section, n.joint.name, at.name, at.piece.name, 0.0, at.piece.pitch)
    for c in d.couplings:
        law = CouplingConstraint.of(system.skel, c).law
        if not isinstance(law, Line):
            raise UsageError(f"MuJoCo ties joints by a polynomial, not by a table as the coupling '{c.name}' has. Give it a ratio.")
        offset, ratio, _ = law(0.0)
        _tie(section, c.name, _only(system, c.second, c.name), _only(system, c.first, c.name), offset, ratio)
    for g in d.gears:
        mesh = GearConstraint.of(system.skel, g)  # sign r q_first + factor q_second = offset
        ratio = -mesh.sign_first * mesh.r_first / mesh.factor_second
        _tie(section, g.name, _only(system, g.second, g.name), _only(system, g.first, g.name), mesh.offset / mesh.factor_second, ratio)
    if len(section):
        root.append(section)


def _tie(section: xml.Element, name: str, second: str, first: str, offset: Any, ratio: Any) -> None:
    xml.SubElement(section, "joint", name=name, joint1=second, joint2=first, polycoef=_numbers((offset, ratio, 0, 0, 0)))


def _only(system: System, joint: str, what: str) -> str:
    """MuJoCo's name of a joint's only coordinate; the joint must be in the tree."""
    j = system.description.joint(joint)
    if joint not in system.tree.node_of_joint or joints.create(j.type, j.options).nv != 1:
        raise UsageError(f"MuJoCo needs the joint '{joint}' of '{what}' in the tree, with one degree of freedom. Cut another of its loop.")
    return joint


def _length(system: System, ends: tuple[PointRef, PointRef]) -> float:
    """Distance of two points where all coordinates are zero, from which MuJoCo counts."""
    references = system.skel.start_coordinates
    zero = [
        jt.coordinates(np.eye(3), np.zeros(3), references[n.joint.name]) for jt, n in zip(system.skel.types, system.tree.nodes, strict=True)
    ]
    m = motion(system.skel, np.concatenate(zero), np.zeros(system.tree.nv))
    a, b = (locate(system.skel, m, end).position for end in ends)
    return float(np.linalg.norm(b - a))


def _actuators(root: xml.Element, system: System, forces: MujocoForces) -> None:
    d = system.description
    section = xml.Element("actuator")
    cylinders = {c.name for c in d.cylinders}
    for drive in d.drives:
        if drive.joint in cylinders:
            xml.SubElement(section, "motor", name=drive.joint, tendon=drive.joint)
        else:
            joint, i, _ = system.coordinate(drive.joint)
            if joint.name not in system.tree.node_of_joint:
                raise UsageError(f"MuJoCo cannot drive the cut joint '{joint.name}'. Cut another joint of its loop with `cuts`.")
            piece = next(at for at in placed_pieces(system, system.tree.node_of_joint[joint.name]) if at.piece and at.piece.v.start == i)
            xml.SubElement(section, "motor", name=drive.joint, joint=piece.name)
    for bias in forces.actuators:
        xml.SubElement(section, "general", bias)
    if len(section):
        root.append(section)


def _keyframe(root: xml.Element, system: System, order: list[MujocoJoint], start: Any) -> None:
    st = loops.in_tree_of(system, start)
    put = [place(system, at, st) for at in order]
    qpos, qvel = [x for p in put for x in p.qpos], [x for p in put for x in p.T @ st.v]
    section = xml.SubElement(root, "keyframe")
    xml.SubElement(section, "key", name="start", qpos=_numbers(qpos), qvel=_numbers(qvel))
