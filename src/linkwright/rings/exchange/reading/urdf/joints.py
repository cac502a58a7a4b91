"""Joints of a URDF: the tree, limits, damping and friction; a link that has two parents closes a loop."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

from linkwright.api import GROUND, Description, Joint, UsageError, description, listing, nearest
from linkwright.rings.exchange.reading.joint_frames import axes, direction, framed
from linkwright.rings.exchange.reading.poses import HERE, inverse, placed, times
from linkwright.rings.exchange.reading.robot_draft import ONE_COORDINATE, RobotDraft
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.urdf.links import origin

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "ball": "spherical",
    "spherical": "spherical",
    "universal": "universal",
    "screw": "screw",
    "cylindrical": "cylindrical",
}
JOINT_TAGS = ("joint", "drake:joint")
BASE = "base"
UNLIMITED = 1e9  # SI: limits from here on stand for none, where the format asks for a number


@dataclass(frozen=True)
class TreeJoints:
    """Joints of the file: those that carry a link, in an order in which each one's parent comes before, and those that close a loop."""

    root: str
    carrying: tuple[XmlElement, ...]
    cutting: tuple[XmlElement, ...]


def parent_of(joint: XmlElement) -> str:
    return joint.need("parent").attribute("link")


def child_of(joint: XmlElement) -> str:
    return joint.need("child").attribute("link")


def tree_of(robot: XmlElement) -> TreeJoints:
    """The tree of a robot: of several joints to one link the first in the file carries it."""
    joints, links = robot.all(*JOINT_TAGS), _names(robot)
    if not links:
        raise robot.error("the robot has no links.", name="robot")
    for j in joints:
        for link in (parent_of(j), child_of(j)):
            if link not in links:
                raise j.error(f"there is no link '{link}'.", nearest(link, links, "Links"))
        if parent_of(j) == child_of(j):
            raise j.error(f"link '{child_of(j)}' is its own parent.")
    children = {child_of(j) for j in joints}
    roots = [name for name in links if name not in children]
    if not roots:
        raise robot.error("every link is the child of a joint, so none is the root. Take out a joint of the circle.")
    if len(roots) > 1:
        raise robot.error(f"the robot falls apart: {listing(roots)} are the child of no joint. A robot has one root link.", name="robot")
    first: dict[str, XmlElement] = {}
    for j in joints:
        first.setdefault(child_of(j), j)
    carrying = _grown(roots[0], list(first.values()))
    if len(carrying) < len(links) - 1:
        carrying = _grown(roots[0], joints)
    if len(carrying) < len(links) - 1:
        reached = {roots[0], *map(child_of, carrying)}
        lost = [x for x in links if x not in reached]
        raise robot.error(f"no chain of joints leads from the root link '{roots[0]}' to {listing(lost)}.", name=roots[0])
    return TreeJoints(roots[0], tuple(carrying), tuple(j for j in joints if not any(j is x for x in carrying)))


def _names(robot: XmlElement) -> list[str]:
    """Names of the links; two of one name are an error."""
    out: dict[str, None] = {}
    for x in robot.all("link"):
        if x.attribute("name") in out:
            raise x.error("a second link of this name. Names are unique.")
        out[x.get("name")] = None
    return list(out)


def _grown(root: str, joints: Sequence[XmlElement]) -> list[XmlElement]:
    """Joints that carry the links from the root on, each after its parent's."""
    leaving: dict[str, list[int]] = {}
    for i, j in enumerate(joints):
        leaving.setdefault(parent_of(j), []).append(i)
    reached, ready, out = {root}, list(leaving.get(root, ())), []
    heapq.heapify(ready)
    while ready:
        j = joints[heapq.heappop(ready)]
        if child_of(j) in reached:
            continue
        reached.add(child_of(j))
        out.append(j)
        for i in leaving.get(child_of(j), ()):
            heapq.heappush(ready, i)
    return out


def read_joints(draft: RobotDraft, robot: XmlElement, tree: TreeJoints) -> None:
    """Add the joints of the tree in the order of the file; a root link that is not the ground floats."""
    root = draft.links.of[tree.root]
    for j in robot.all(*JOINT_TAGS):
        name = j.attribute("name")
        if name in draft.joint_names.of:
            raise j.error("a second joint of this name. Names are unique.")
        draft.joint_names.add(name)
    if root != GROUND:
        draft.add_joint(Joint(draft.joint_names.fresh(BASE), "free", GROUND, root))
    carrying = {id(j) for j in tree.carrying}
    for j in robot.all(*JOINT_TAGS):
        if id(j) in carrying:
            draft.add_joint(_joint(draft, j))
        _attached(draft, j)


def close_two_parents(draft: RobotDraft, tree: TreeJoints, at: dict[str, float]) -> None:
    """Add the joints of links that have a parent already, at the place that they have in the file's pose."""
    if not tree.cutting:
        return
    poses = placed(Description("", tuple(draft.bodies.values()), ()), tuple(draft.joints.values()), at)
    for j in tree.cutting:
        made = _joint(draft, j)
        if made.type in ("free", "fixed"):
            raise j.error(f"link '{child_of(j)}' has a parent already, and a {j.get('type')} joint closes no loop. Take it out.")
        F = times(poses[made.first], made.frame_first)
        M = times(inverse(poses[made.second]), F)
        draft.add_joint(Joint(made.name, made.type, made.first, made.second, made.frame_first, M, made.options, where=j.where), closes=True)
        draft.notes.infer(f"link '{child_of(j)}' has two parents: joint '{made.name}' closes a loop, where it is in the file's pose")


def kind_of(j: XmlElement, allowed: Sequence[str] = tuple(TYPES)) -> str:
    return TYPES[j.attribute("type", allowed)]


def _joint(draft: RobotDraft, j: XmlElement) -> Joint:
    kind = kind_of(j)
    given = j.one("axis")
    axis = (1.0, 0.0, 0.0) if given is None or kind == "fixed" else direction(given, given.numbers("xyz", 3, (1.0, 0.0, 0.0)))
    own = HERE if kind == "universal" else axes(kind, j, axis)  # Drake's: about x of the parent's side, then y of the child's
    bodies = (draft.links.of[parent_of(j)], draft.links.of[child_of(j)])
    options = ()
    if kind == "screw":
        pitch = j.need("drake:screw_thread_pitch").number("value") / (2.0 * math.pi)
        options = (("pitch", pitch),)
    return framed(draft.joint_names.of[j.get("name")], kind, bodies, (origin(j), HERE), (own, own), j, options)


# -------------------------------------------------------------------- limits, damping, other elements


def _attached(draft: RobotDraft, j: XmlElement) -> None:
    name, kind = draft.joint_names.of[j.get("name")], kind_of(j)
    if kind != "fixed":
        _limits(draft, j, name, kind)
        dynamics = j.one("dynamics")
        if dynamics is not None:
            draft.resist(name, _not_negative(dynamics, "damping"), _not_negative(dynamics, "friction"), dynamics.where)


def _not_negative(element: XmlElement, name: str) -> float:
    value = element.number(name, 0.0)
    if value < 0.0:
        raise element.error(f"{name} is {value:g}. It is zero or more.", name=name, value=value)
    return value


def _limits(draft: RobotDraft, j: XmlElement, name: str, kind: str) -> None:
    limit = j.one("limit")
    if limit is None:
        return
    effort, speed = limit.number("effort", 0.0, infinite=True), limit.number("velocity", 0.0, infinite=True)
    if 0.0 < effort < UNLIMITED:
        draft.efforts[name] = effort
    if 0.0 < speed < UNLIMITED:
        draft.notes.speed_limits[name] = speed
    if j.get("type") == "continuous" or kind not in ONE_COORDINATE:
        return
    lower, upper = (limit.number(k, 0.0, infinite=True) for k in ("lower", "upper"))
    if lower > upper:
        draft.notes.warn(f"joint '{name}': its lower limit {lower:g} is above the upper one {upper:g}. The limits are ignored")
    elif lower == upper:
        draft.notes.infer_of_joint(name, f"equal limits ({lower:g}) are none")
    else:
        ends = [None if abs(x) >= UNLIMITED else x for x in (lower, upper)]
        if any(x is not None for x in ends):
            draft.stops.append(description.Stop(name, name, None, ends[0], ends[1], where=limit.where))


# -------------------------------------------------------------------- start and base


def starting(draft: RobotDraft, in_limits: bool) -> dict[str, float]:
    """Coordinates of the file's pose: zero, into the limits if asked for, mimics as they follow."""
    at: dict[str, float] = {}
    if in_limits:
        for s in draft.stops:
            nearest = max(s.lower if s.lower is not None else -math.inf, min(s.upper if s.upper is not None else math.inf, 0.0))
            if nearest != 0.0:
                at[s.joint] = nearest
                draft.notes.infer_of_joint(s.joint, f"start at {nearest:g}, zero is outside the limits")
    for _ in draft.couplings:  # a chain of mimics is at most as long as their number
        for c in draft.couplings:
            more = sum(float(x) * at.get(name, 0.0) for name, x in c.plus)
            at[c.second] = float(c.ratio) * at.get(c.first, 0.0) + float(c.offset or 0.0) + more
    return {name: x for name, x in at.items() if x != 0.0}


def need_known_base(base: str) -> str:
    if base not in ("fixed", "free"):
        raise UsageError(f"base is 'fixed' (the root link is the ground) or 'free' (it floats), not '{base}'.", name="base", value=base)
    return base
