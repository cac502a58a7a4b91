"""A mechanism as MuJoCo's XML (MJCF): one text, no other files, the same every time.

Bodies nest along our spanning tree and keep our body frames; every joint is written as its pieces (hinge, slide, ball, or one
free joint). Loops become equality constraints between sites, which MuJoCo holds softly: they are set as stiff as its time step
allows. Springs, dampers, friction and constant loads are written as far as MJCF can hold them (`mujoco_forces`); for the rest
there is a LossWarning, and `MujocoMap.effort` gives what it does.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import (
    PointRef,
    Pose,
    System,
    UsageError,
    Visual,
    array,
    belt_constraints,
    compiled_of,
    coupling_constraints,
    curve_lines,
    files,
    joints,
    kinematics,
    motion,
    spatial,
)
from linkwright.mechanics.constraints.gear import GearConstraint
from linkwright.rings.exchange.writing import loops
from linkwright.rings.exchange.writing.inertia import Solid, need_floor, solids
from linkwright.rings.exchange.writing.losses import Loss, speed_limits, tree_losses, two_sided
from linkwright.rings.exchange.writing.mujoco.contacts import ContactGeoms
from linkwright.rings.exchange.writing.mujoco.coordinate_map import MujocoJoint, place, placed_pieces
from linkwright.rings.exchange.writing.mujoco.drives import Drives, actuators
from linkwright.rings.exchange.writing.mujoco.forces import WORLD, MujocoForces, held, numbers
from linkwright.rings.exchange.writing.visuals import THIN, Shapes, rgba
from linkwright.rings.robots.transmission.equivalent_tree import EquivalentTree

MOST_TERMS = 5  # coefficients of a polynomial that ties joints
FLOOR = 1e-8  # share of the mechanism's mass (times length squared) that every body gets at least
ADVICE = "MujocoMap.effort(state) gives the forces that are missing, to be applied as qfrc_applied."
_RAISED = "massless or thin: raised to {floor:g} of the mechanism's inertia"


class MujocoText(NamedTuple):
    """A mechanism as MJCF, and what the format cannot hold."""

    text: str
    lost: tuple[Loss, ...]


def mjcf(model: System | loops.HasSystem, *, timestep: float = 1e-3, floor: float = FLOOR, folder: str | None = None) -> MujocoText:
    """The mechanism as MJCF text with its losses. Mesh files are named relative to `folder`, or by their whole path."""
    need_floor(floor)
    if not timestep > 0.0:
        raise UsageError(f"the time step must be positive, not {timestep!r}.", value=timestep)
    system = loops.convertible(model, "MuJoCo", regular=True)
    system.M(system.start)  # says which masses are missing
    root = xml.Element("mujoco", model=system.description.name)
    forces = held(system)
    if isinstance(model, EquivalentTree):
        _matrix(model, forces)
    drives = Drives.of(system)
    shapes = Shapes(system.description, folder, [".obj", ".stl", ".msh"])
    mass = solids(system, floor, realistic=True)
    contacts = ContactGeoms.of(system.description)
    _head(root, system, timestep)
    assets(root, shapes)
    world = xml.SubElement(root, "worldbody")
    if forces.world:
        xml.SubElement(world, "site", name=WORLD)
    _points(world, system, system.description.bodies[0].name, shapes, contacts)
    order: list[MujocoJoint] = []
    text = _Text(system, mass, order, forces, shapes, contacts, [])
    for i, n in enumerate(system.tree.nodes):
        if n.parent < 0:
            _body(world, text, i)
    _tendons(root, system, forces, drives)
    _equalities(root, system)
    contacts.pairs(root, timestep)
    actuators(root, drives, forces)
    _keyframe(root, system, order, loops.system_of(model).start, drives.controls(len(forces.actuators)))
    xml.indent(root, "  ")
    lost = (
        *tree_losses(model, matrix=True),
        *contacts.left(forces.lost),
        *drives.lost,
        *shapes.lost,
        *(Loss(x, "its velocity limit", "drive") for x in speed_limits(system.description)),
        *(Loss(x, _RAISED.format(floor=floor)) for x in text.raised),
    )
    return MujocoText(xml.tostring(root, encoding="unicode") + "\n", (*lost, *two_sided(system.description, lost)))


def _matrix(tree: EquivalentTree, forces: MujocoForces) -> None:
    """The armature matrix of a tree: diagonal in the joints, the rest as armatures of fixed tendons."""
    single, sums = tree.rotors
    for name, value in single.items():
        forces.joints.setdefault(name, {})["armature"] = value
    forces.rotors.extend((f"armature:{i}", x.weights, x.inertia) for i, x in enumerate(sums, start=1))


class _Text(NamedTuple):
    """Parts of the text that the writers of bodies share; `order` notes the joints in MuJoCo's order of coordinates, `raised` the bodies
    whose inertia is more than the model's."""

    system: System
    mass: list[Solid]
    order: list[MujocoJoint]
    forces: MujocoForces
    shapes: Shapes
    contacts: ContactGeoms
    raised: list[str]


def _pose(X: Pose) -> dict[str, str]:
    return {"pos": numbers(X.p), "quat": numbers(spatial.rotation_quaternion(np.asarray(X.R, float)))}


def _note(parent: xml.Element, text: str) -> None:
    parent.append(xml.Comment(f" {text.replace('--', '- -')} "))


def _head(root: xml.Element, system: System, timestep: float) -> None:
    d = system.description
    _note(root, f"Written by {files.OWNER}. {d.name}: {d.about or 'a mechanism'}. Lengths in m, angles in rad, SI throughout.")
    _note(root, f"Cut joints, closed by equality constraints: {', '.join(system.tree.cuts) or 'none'}.")
    xml.SubElement(root, "compiler", angle="radian", autolimits="true")
    option = {"timestep": f"{timestep:.17g}", "gravity": numbers(d.gravity), "integrator": "implicitfast", "solver": "Newton"}
    xml.SubElement(root, "option", {**option, "iterations": "100", "tolerance": "1e-14"})
    default = xml.SubElement(root, "default")
    # a time constant of two steps is the stiffest MuJoCo accepts, 0.9999 the least softness
    xml.SubElement(default, "equality", solref=f"{2.0 * timestep:.17g} 1", solimp="0.9999 0.9999 0.001 0.5 2")
    xml.SubElement(default, "geom", contype="0", conaffinity="0", rgba="0.35 0.45 0.6 1")
    xml.SubElement(default, "site", size=f"{0.5 * THIN * compiled_of(system).loops.kappa:.6g}")


# -------------------------------------------------------------------- bodies
def _body(parent: xml.Element, text: _Text, i: int, chain: tuple[tuple[int, Pose], ...] = ()) -> None:
    """Write a body with everything it carries.

    `chain`: nodes of links between the parent and this body, with their poses in the parent; the body gets their joints.
    """
    system, solid = text.system, text.mass[i]
    n, skel = system.tree.nodes[i], compiled_of(system).skel
    X_PB = skel.X_PF[i] @ skel.X_CM[i].inverse()  # pieces at zero
    X_PB = chain[-1][1] @ X_PB if chain else X_PB
    carried = [k for k, other in enumerate(system.tree.nodes) if other.parent == i]
    if _joins_next(system, i, carried):
        _body(parent, text, carried[0], (*chain, (i, X_PB)))
        return
    e = xml.SubElement(parent, "body", {"name": n.body, **_pose(X_PB)})
    if solid.raised:
        text.raised.append(n.body)
    I = solid.inertia
    full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    xml.SubElement(e, "inertial", pos=numbers(solid.com), mass=f"{solid.mass:.17g}", fullinertia=numbers(full))
    for node, X_PL in (*chain, (i, X_PB)):
        for at in placed_pieces(system, node):
            _joint(e, X_PB.inverse() @ X_PL @ skel.X_CM[node], at, text.forces)
            text.order.append(at)
    _points(e, system, n.body, text.shapes, text.contacts)
    for k in carried:
        _body(e, text, k)


def _joins_next(system: System, i: int, carried: list[int]) -> bool:
    """True for a link without mass inside a chain of hinges and sliders: MuJoCo has several joints in one body instead."""
    n = system.tree.nodes[i]
    b = system.description.body(n.body)
    plain = not (
        b.points or b.visuals or float(compiled_of(system).skel.mass[i]) or np.any(np.asarray(compiled_of(system).skel.inertia[i], float))
    )
    if not (b.chain or plain) or len(carried) != 1:
        return False
    every = [at for k in (i, *carried) for at in placed_pieces(system, k)]
    simple = all(at.piece is not None and at.piece.kind in ("turn", "slide") for at in every)
    return simple and all(n.body not in (c.first, c.second) for c in loops.closings(system))


def _joint(body: xml.Element, X: Pose, at: MujocoJoint, forces: MujocoForces) -> None:
    """A joint whose frame M is at `X` in the body where all coordinates are zero."""
    if at.piece is None:
        xml.SubElement(body, "freejoint", name=at.name)
        return
    where = {"pos": numbers(X.p)}
    acts = {k: numbers([x]) for k, x in forces.joints.get(at.name, {}).items() if x}
    if at.name in forces.ranges:
        acts["range"] = numbers(forces.ranges[at.name])
    if at.piece.kind == "ball":
        xml.SubElement(body, "joint", {"name": at.name, "type": "ball", **where, **acts})
        return
    kind = "slide" if at.travel or at.piece.kind == "slide" else "hinge"
    axis = {"axis": numbers(np.asarray(X.R, float) @ at.piece.axis)}
    xml.SubElement(body, "joint", {"name": at.name, "type": kind, **where, **axis, **acts})


def _points(e: xml.Element, system: System, body: str, shapes: Shapes, contacts: ContactGeoms) -> None:
    """Named points as sites, both sides of the loops as sites, shapes, or outlines as thin bars, for the eye."""
    b = system.description.body(body)
    for p in b.points:
        xml.SubElement(e, "site", name=f"{body}.{p.name}", pos=numbers(p.at))
    for c in loops.closings(system):
        for side, end, frame in (("first", c.first, c.at_first), ("second", c.second, c.at_second)):
            if end == body:
                xml.SubElement(e, "site", {"name": f"loop:{c.name}:{side}", **_pose(Pose(array(frame.rotation), array(frame.at)))})
    for shape in shapes.of(body):
        geom(e, shape)
    contacts.geoms(e, body)
    radius = THIN * compiled_of(system).loops.kappa
    for line in b.outline if not b.visuals else ():
        for one, two in pairwise(line):
            ends = np.array([b.point(one).at, b.point(two).at], float)
            if np.linalg.norm(ends[1] - ends[0]) > radius:
                xml.SubElement(e, "geom", type="capsule", size=f"{radius:.6g}", fromto=numbers(ends.ravel()))


# -------------------------------------------------------------------- what holds and drives it
def _tendons(root: xml.Element, system: System, forces: MujocoForces, drives: Drives) -> None:
    d = system.description
    ranges = {name: {"range": numbers(x)} for name, x in forces.ranges.items()}
    lines: list[tuple[str, Any, dict[str, str]]] = [(x.name, x.between, ranges.get(x.name, {})) for x in (*d.rods, *d.cylinders)]
    lines += forces.tendons
    sums = [c for c in d.couplings if c.plus]
    if not lines and not sums and not drives.tendons and not forces.rotors:
        return
    section = xml.SubElement(root, "tendon")
    for c in sums:  # q_second - ratio q_first - sum of c q
        e = xml.SubElement(section, "fixed", name=f"tie:{c.name}")
        for joint, factor in ((c.second, 1.0), (c.first, -float(c.ratio)), *((name, -float(x)) for name, x in c.plus)):
            xml.SubElement(e, "joint", joint=_only(system, joint, c.name), coef=numbers([factor]))
    plain = [(name, weights, {}) for name, weights in drives.tendons]
    for name, weights, acts in (*plain, *((name, weights, {"armature": numbers([x])}) for name, weights, x in forces.rotors)):
        e = xml.SubElement(section, "fixed", {"name": name, **acts})
        for joint, factor in weights.items():
            xml.SubElement(e, "joint", joint=joint, coef=numbers([factor]))
    for name, ends, acts in lines:
        e = xml.SubElement(section, "spatial", {"name": name, **acts})
        for body, point in ends:
            xml.SubElement(e, "site", site=f"{body}.{point}")


def _equalities(root: xml.Element, system: System) -> None:
    core = compiled_of(system)
    d = system.description
    section = xml.Element("equality")
    for c in loops.closings(system):
        if c.name != c.cut:
            _note(section, f"a hinge in space is held at two points of its axis. This is the second point of {c.cut}")
        xml.SubElement(section, "weld" if c.weld else "connect", name=c.name, site1=f"loop:{c.name}:first", site2=f"loop:{c.name}:second")
    for rod in d.rods:
        more = rod.length - _length(system, rod.between)
        xml.SubElement(section, "tendon", name=rod.name, tendon1=rod.name, polycoef=numbers((more, 0, 0, 0, 0)))
    for i, n in enumerate(system.tree.nodes):
        for at in placed_pieces(system, i):
            if at.travel and at.piece:
                _tie(section, n.joint.name, at.name, at.piece.name, 0.0, at.piece.pitch)
    for c in d.couplings:
        law = coupling_constraints.CouplingConstraint.of(core.skel, c).law
        terms = law.coefficients if isinstance(law, curve_lines.Polynomial) else law(0.0)[:2] if isinstance(law, curve_lines.Line) else ()
        if not 0 < len(terms) <= MOST_TERMS or (c.plus and not isinstance(law, curve_lines.Line)):
            more = " and more joints" if c.plus else ""
            law_text = f"a polynomial of degree {len(terms) - 1}{more}" if terms else "motion laws" if c.moves else "a table"
            kind = "coupling" if c.cam is None else "cam"
            raise UsageError(
                f"MuJoCo ties two joints by a polynomial of degree 4, not by {law_text} as the {kind} '{c.name}' does.", name=c.name
            )
        if c.plus:
            xml.SubElement(section, "tendon", name=c.name, tendon1=f"tie:{c.name}", polycoef=numbers((terms[0], 0, 0, 0, 0)))
            continue
        _tie(section, c.name, _only(system, c.second, c.name), _only(system, c.first, c.name), *terms)
    for g in d.gears:
        mesh = GearConstraint.of(core.skel, g)  # sign r q_first + factor q_second = offset
        ratio = -mesh.sign_first * mesh.r_first / mesh.factor_second
        _tie(section, g.name, _only(system, g.second, g.name), _only(system, g.first, g.name), mesh.offset / mesh.factor_second, ratio)
    for b in d.belts:
        if not b.carrier:
            raise UsageError(
                f"the belt '{b.name}' is a rope, or runs over moving pulleys: MJCF gets closed belts on one carrier only.", name=b.name
            )
        for k, (first, second, ratio, offset) in enumerate(belt_constraints.BeltConstraint.of(core.skel, b).ties(core.skel)):
            follower, leader = (_only(system, joint, b.name) for joint in (second, first))
            _tie(section, b.name if not k else f"{b.name}:{k + 1}", follower, leader, offset, ratio)
    if len(section):
        root.append(section)


def _tie(section: xml.Element, name: str, second: str, first: str, *terms: Any) -> None:
    filled = (*terms, *([0.0] * (MOST_TERMS - len(terms))))
    xml.SubElement(section, "joint", name=name, joint1=second, joint2=first, polycoef=numbers(filled))


def _only(system: System, joint: str, what: str) -> str:
    """MuJoCo's name of a joint's only coordinate; the joint must be in the tree."""
    j = system.description.joint(joint)
    if joint not in system.tree.node_of_joint or joints.create(j.type, j.options).nv != 1:
        raise UsageError(
            f"MuJoCo needs the joint '{joint}' of '{what}' in the tree, with one degree of freedom. Cut another of its loop.", name=joint
        )
    return joint


def _length(system: System, ends: tuple[PointRef, PointRef]) -> float:
    """Distance of two points where all coordinates are zero, from which MuJoCo counts."""
    core = compiled_of(system)
    references = core.skel.start_coordinates
    zero = [
        jt.coordinates(np.eye(3), np.zeros(3), references[n.joint.name])
        for jt, n in zip(core.skel.types, system.tree.nodes, strict=True)
    ]
    m = motion(core.skel, np.concatenate(zero), np.zeros(system.tree.nv))
    a, b = (kinematics.locate(core.skel, m, end).position for end in ends)
    return float(np.linalg.norm(b - a))


def _keyframe(root: xml.Element, system: System, order: list[MujocoJoint], start: Any, controls: list[float]) -> None:
    st = loops.in_tree_of(system, start)
    put = [place(system, at, st) for at in order]
    qpos, qvel = [x for p in put for x in p.qpos], [x for p in put for x in p.T @ st.v]
    section = xml.SubElement(root, "keyframe")
    ctrl = {"ctrl": numbers(controls)} if any(controls) else {}
    xml.SubElement(section, "key", {"name": "start", "qpos": numbers(qpos), "qvel": numbers(qvel), **ctrl})


# Shapes of bodies as MuJoCo's geoms, which touch nothing and have no mass.


def assets(root: xml.Element, shapes: Shapes) -> None:
    """Write the mesh files of all bodies, each scale of each file once."""
    every = [x for b in shapes.description.bodies for x in shapes.of(b.name) if x.shape == "mesh"]
    if every:
        section = xml.SubElement(root, "asset")
        for name, x in {mesh_name(x): x for x in every}.items():
            xml.SubElement(section, "mesh", name=name, file=x.file, scale=numbers(x.size))


def mesh_name(shape: Visual) -> str:
    """Return the name of a mesh among the assets."""
    return f"{shape.file} {numbers(shape.size)}"


def geom(body: xml.Element, shape: Visual) -> None:
    """Write one shape; sizes are halves there."""
    a, b, c = (float(x) for x in shape.size)
    sizes = {"box": (a / 2, b / 2, c / 2), "cylinder": (a, b / 2), "capsule": (a, b / 2), "sphere": (a,)}
    form = {"mesh": mesh_name(shape)} if shape.shape == "mesh" else {"size": numbers(sizes[shape.shape])}
    X = shape.placement
    at = {"pos": numbers(X.at), "quat": numbers(spatial.rotation_quaternion(array(X.rotation)))}
    color = {"rgba": numbers(rgba(shape.color))} if shape.color else {}
    xml.SubElement(body, "geom", {"type": shape.shape, **form, **at, **color})
