"""Joints of an SDF file: frames and axes, limits, damping, springs, mimic, gearboxes, and which of them close loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from linkwright.api import GROUND, Body, Vec3, description, geometry
from linkwright.rings.exchange.reading.joint_frames import SQUARE, axes, direction, framed
from linkwright.rings.exchange.reading.names import usable
from linkwright.rings.exchange.reading.poses import HERE, Placement, axes_along, inverse, times
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.sdf.frames import PoseGraph, link_of
from linkwright.rings.exchange.reading.sdf.scopes import WORLD, FrameRef, Scope, find

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "screw",
    "fixed": "fixed",
    "gearbox": "gearbox",
}
NONE = 1e15  # a limit of this size or more is none: SDF writes 1e16


@dataclass(frozen=True)
class SdfJoint:
    """A joint of the file with its model: the bodies it connects and its pose in the world."""

    scope: Scope
    name: str
    element: XmlElement
    bodies: tuple[str, str]
    links: tuple[FrameRef, FrameRef]
    at: Placement

    @property
    def full(self) -> str:
        return self.scope.full(self.name)


def joints_of(draft: RobotDraft, scope: Scope, graph: PoseGraph) -> list[SdfJoint]:
    """The joints of one model."""
    out = []
    for name, element in scope.all("joint"):
        ends = []
        for tag in ("parent", "child"):
            given = element.need(tag)
            text = given.text.strip() or given.get("link")
            if tag == "child" and text == WORLD and WORLD not in scope.named:
                raise element.error("the world cannot be the child of a joint. Make it the parent.")
            ends.append(link_of(find(scope, text, given, tag)))
        bodies = [GROUND if x.is_world else draft.links.of[x.scope.full(x.name)] for x in ends]
        if bodies[0] == bodies[1]:
            if bodies[0] == GROUND:
                draft.notes.infer(f"joint '{scope.full(name)}' connects two parts of the ground and is left out")
                continue
            raise element.error(f"it connects link '{ends[0].name}' with itself.", name=ends[0].name)
        at = graph.of(FrameRef(scope, name))
        out.append(SdfJoint(scope, name, element, (bodies[0], bodies[1]), (ends[0], ends[1]), at))
    return out


def add_joints(draft: RobotDraft, found: Sequence[SdfJoint], graph: PoseGraph) -> None:
    """Add all joints; those that close a loop of the ones before (or must, as the file says) are closing."""
    late = [j for j in found if _must_close(j)]
    group = {name: name for name in draft.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = name = group[group[name]]
        return name

    for before in draft.joints.values():
        group[root(before.first)] = root(before.second)
    for j in found:
        draft.joint_names.add(j.full)
    for j in [*(x for x in found if x not in late), *late]:
        if j.element.attribute("type", tuple(TYPES)) == "gearbox":
            continue
        one, other = (root(x) for x in j.bodies)
        group[one] = other
        _add(draft, j, graph, closes=one == other)
    for j in found:
        if j.element.get("type") == "gearbox":
            _gearbox(draft, j, found)


def _must_close(j: SdfJoint) -> bool:
    physics = j.element.one("physics")
    for place in (j.element, *(physics.children if physics is not None else ())):
        flag = place.one("must_be_loop_joint")
        if flag is not None and flag.flag(flag.text, "must_be_loop_joint"):
            return True
    return False


def _axis(j: SdfJoint, tag: str, graph: PoseGraph) -> Vec3:
    """The direction of an axis in the joint's frame."""
    found = j.element.one(tag)
    if found is None:
        return (0.0, 0.0, 1.0)
    given = found.one("xyz")
    xyz = (0.0, 0.0, 1.0) if given is None or not given.text.strip() else given.as_numbers(given.text, "xyz", 3)
    own = direction(found, xyz)
    frame = given.get("expressed_in") if given is not None else ""
    model = found.one("use_parent_model_frame")
    if frame:
        reference = graph.of(find(j.scope, frame, given or found, "expressed_in"))
    elif model is not None and model.flag(model.text, "use_parent_model_frame"):
        reference = graph.of(FrameRef(j.scope))
    else:
        return own
    x, y, z = geometry.rotate(geometry.transpose(j.at.rotation), geometry.rotate(reference.rotation, own))
    return (x, y, z)


def _add(draft: RobotDraft, j: SdfJoint, graph: PoseGraph, *, closes: bool) -> None:
    name, kind = draft.joint_names.of[j.full], TYPES[j.element.get("type")]
    frames = tuple(times(inverse(draft.bodies[b].start), j.at) for b in j.bodies)
    both = (frames[0], frames[1])
    first = HERE if kind in ("fixed", "spherical") else _axis(j, "axis", graph)
    if kind == "universal":
        _two_axes(draft, j, name, both, (_axis(j, "axis", graph), _axis(j, "axis2", graph)), closes)
        return
    if not isinstance(first, Placement) and j.element.one("axis") is None:
        draft.notes.warn(f"{j.element.where}: joint '{j.full}' has no <axis>: SDF's default, z of the joint's frame")
    own = HERE if isinstance(first, Placement) else axes(kind, j.element, first)
    options = (("pitch", _pitch(draft, j)),) if kind == "screw" else ()
    made = framed(name, kind, j.bodies, both, (own, own), j.element, options)
    if closes and draft.repeats(made):
        return
    draft.add_joint(made, closes=closes)
    if kind in ONE_COORDINATE:
        _attached(draft, j, name, "axis")


def _pitch(draft: RobotDraft, j: SdfJoint) -> float:
    """Travel per radian: screw_thread_pitch is travel per turn, the older thread_pitch is radians per meter of a left-handed screw."""
    new, old = j.element.one("screw_thread_pitch"), j.element.one("thread_pitch")
    if new is not None:
        return new.as_number(new.text) / (2.0 * math.pi)
    if old is None:
        draft.notes.infer(f"screw '{j.full}' has no <screw_thread_pitch>: SDF's default, 1 m per turn")
        return 1.0 / (2.0 * math.pi)
    value = old.as_number(old.text)
    if value == 0.0:
        raise old.error("the pitch is zero.")
    return -1.0 / value


def _two_axes(
    draft: RobotDraft, j: SdfJoint, name: str, frames: tuple[Placement, Placement], both: tuple[Vec3, Vec3], closes: bool
) -> None:
    """A universal joint where the axes are at a right angle; two hinges in a chain where they are not, or one of them is coupled."""
    if abs(geometry.dot(*both)) <= SQUARE and not _is_coupled(j):
        own = axes("universal", j.element, both[0], both[1])
        draft.add_joint(framed(name, "universal", j.bodies, frames, (own, own), j.element), closes=closes)
        for tag, part in (("axis", "angle1"), ("axis2", "angle2")):
            _attached(draft, j, f"{name}.{part}", tag)
        return
    if abs(abs(geometry.dot(*both)) - 1.0) < SQUARE:
        raise j.element.error("the two axes are parallel.")
    link = f"{name}:1"
    draft.bodies[link] = Body(link, mass=0.0, start=j.at, where=j.element.where, chain=name)
    hinges = [draft.joint_names.fresh(f"{name}_{i}") for i in (1, 2)]
    own = [axes_along("z", x) for x in both]
    ends = ((j.bodies[0], link), (link, j.bodies[1]))
    places = ((frames[0], HERE), (HERE, frames[1]))
    for hinge, bodies, at, axis, tag in zip(hinges, ends, places, own, ("axis", "axis2"), strict=True):
        draft.add_joint(framed(hinge, "revolute", bodies, at, (axis, axis), j.element))
        _attached(draft, j, hinge, tag)
    if closes:
        draft.closing.append(hinges[1])


def _is_coupled(j: SdfJoint) -> bool:
    """True if an axis of the joint follows another joint, or a joint of its model follows it: couplings tie joints of one coordinate."""
    for name, element in j.scope.all("joint"):
        for axis in element.all("axis", "axis2"):
            if any(name == j.name or x.get("joint") == j.name for x in axis.all("mimic")):
                return True
    return False


# -------------------------------------------------------------------- limits, damping, springs


def _attached(draft: RobotDraft, j: SdfJoint, name: str, tag: str) -> None:
    axis = j.element.one(tag)
    if axis is None:
        return
    limit, dynamics = axis.one("limit"), axis.one("dynamics")
    if limit is not None:
        _limits(draft, limit, name)
    if dynamics is not None:
        damping, friction, stiffness = (_not_negative(dynamics, x) for x in ("damping", "friction", "spring_stiffness"))
        draft.resist(name, damping, friction, dynamics.where)
        draft.spring(name, stiffness, dynamics.content("spring_reference", 0.0), dynamics.where)
    rotor, gear = axis.one("drake:rotor_inertia"), axis.one("drake:gear_ratio")
    if rotor is not None and "." not in name:
        ratio = 1.0 if gear is None else gear.as_number(gear.text)
        draft.joints[name] = replace(draft.joints[name], armature=rotor.as_number(rotor.text) * ratio * ratio)


def _not_negative(element: XmlElement, tag: str) -> float:
    value = element.content(tag, 0.0)
    if value < 0.0:
        raise element.error(f"{tag} is {value:g}. It is zero or more.", name=tag, value=value)
    return value


def _limits(draft: RobotDraft, limit: XmlElement, name: str) -> None:
    lower, upper = limit.content("lower", -math.inf, infinite=True), limit.content("upper", math.inf, infinite=True)
    effort, speed = (limit.content(k, -1.0, infinite=True) for k in ("effort", "velocity"))
    if 0.0 < speed < NONE:
        draft.notes.speed_limits[name] = speed
    if 0.0 < effort < NONE:
        draft.efforts[name] = effort
    if lower > upper:
        draft.notes.warn(f"joint '{name}': its lower limit {lower:g} is above the upper one {upper:g}. The limits are ignored")
        return
    ends = [None if abs(x) >= NONE else x for x in (lower, upper)]
    if any(x is not None for x in ends) and lower < upper:
        draft.stops.append(description.Stop(usable(name), name, None, ends[0], ends[1], where=limit.where))


# -------------------------------------------------------------------- mimic and gears


def read_mimics(draft: RobotDraft, found: Sequence[SdfJoint]) -> None:
    """Add a coupling for every <mimic>: follower = multiplier (leader - reference) + offset."""
    for j in found:
        for tag, part in (("axis", "angle1"), ("axis2", "angle2")):
            axis = j.element.one(tag)
            mimic = axis.one("mimic") if axis is not None else None
            if mimic is None:
                continue
            leader = find(j.scope, mimic.attribute("joint"), mimic, "mimic")
            if not leader.name or leader.element.tag != "joint" or leader.element.get("type") in ("fixed", "ball", "gearbox"):
                raise mimic.error(f"'{mimic.get('joint')}' is not a joint with an axis, which another one could follow.")
            names = [
                _coordinate(draft, j.full, part),
                _coordinate(draft, leader.scope.full(leader.name), "angle2" if mimic.get("axis", "axis") == "axis2" else "angle1"),
            ]
            if names[0] == names[1]:
                raise mimic.error(f"joint '{j.name}' mimics itself.", name=j.name)
            ratio, offset, reference = (mimic.content(k, x) for k, x in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0)))
            draft.couple(draft.coupling_name(f"{j.full}_mimic"), names[1], names[0], ratio, offset - ratio * reference, mimic.where)


def _coordinate(draft: RobotDraft, full: str, part: str) -> str:
    """The coordinate of a joint for one of its axes."""
    name = draft.joint_names.of[full]
    return name if name in draft.joints else f"{name}_{part[-1]}"  # of two hinges in a chain


def _gearbox(draft: RobotDraft, j: SdfJoint, found: Sequence[SdfJoint]) -> None:
    """A coupling of the hinges on a common body: second angle = -ratio times the first."""
    ratio = j.element.content("gearbox_ratio", 1.0)
    given = j.element.need("gearbox_reference_body")
    reference = link_of(find(j.scope, given.text.strip(), given, "gearbox_reference_body"))
    carrier = GROUND if reference.is_world else draft.links.of[reference.scope.full(reference.name)]
    hinges = []
    for body in j.bodies:
        own = [x for x in found if set(x.bodies) == {carrier, body} and TYPES[x.element.get("type")] == "revolute"]
        if len(own) != 1:
            draft.notes.lose(f"gearbox '{j.full}': no hinge between '{carrier}' and '{body}'", mechanism=True)
            return
        hinges.append((draft.joint_names.of[own[0].full], 1.0 if own[0].bodies[0] == carrier else -1.0))
    (first, sign), (second, other) = hinges
    draft.couple(draft.coupling_name(j.full), first, second, -ratio * sign * other, 0.0, j.element.where)
