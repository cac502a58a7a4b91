"""Poses of everything in an SDF file: `relative_to` makes a graph, which is followed to the world; `attached_to` leads to a link."""

from __future__ import annotations

import math

from linkwright.api import Placement
from linkwright.rings.exchange.reading.poses import HERE, inverse, pose, pose_wxyz, times
from linkwright.rings.exchange.reading.safe_xml import XmlElement
from linkwright.rings.exchange.reading.sdf.scopes import FrameRef, Scope, find

LONGEST = 200  # frames that count from each other


def read_pose(element: XmlElement | None) -> Placement:
    """The numbers of a <pose>; empty: the identity."""
    if element is None or not element.text.strip():
        return HERE
    if element.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x, y, z, qx, qy, qz, qw = element.as_numbers(element.text, "pose", 7)
        if qx * qx + qy * qy + qz * qz + qw * qw < 1e-12:
            raise element.error("the quaternion is zero.")
        return pose_wxyz((x, y, z), qw, qx, qy, qz)
    x, y, z, roll, pitch, yaw = element.as_numbers(element.text, "pose", 6)
    unit = math.pi / 180.0 if element.flag(element.get("degrees", "false"), "degrees") else 1.0
    return pose((x, y, z), (roll * unit, pitch * unit, yaw * unit))


class PoseGraph:
    """Poses of frames in the world, or in the model that is the root of the graph."""

    def __init__(self, root: Scope):
        self.root = root
        self.known: dict[FrameRef, Placement] = {FrameRef(root): HERE}
        self.open: list[FrameRef] = []

    def of(self, frame: FrameRef) -> Placement:
        """The pose of a frame; frames that count from each other in a circle are an error."""
        if frame in self.known:
            return self.known[frame]
        if frame in self.open:
            names = [x.name or "__model__" for x in self.open[self.open.index(frame) :]]
            raise frame.element.error(f"its pose depends on itself: {' -> '.join([*names, names[0]])}.")
        if len(self.open) > LONGEST:
            raise frame.element.error(f"more than {LONGEST} frames count from each other in a chain. Such a file is not read.")
        self.open.append(frame)
        found = self._placed(frame) if frame.name else self._model(frame.scope)
        self.open.pop()
        self.known[frame] = found
        return found

    def within(self, element: XmlElement, scope: Scope, default: FrameRef) -> Placement:
        """The pose in the world of the <pose> in an element."""
        given = element.one("pose")
        base = given.get("relative_to") if given is not None else ""
        origin = find(scope, base, given or element, "relative_to") if base else default
        return times(self.of(origin), read_pose(given))

    def _placed(self, frame: FrameRef) -> Placement:
        element, scope = frame.element, frame.scope
        if element.tag == "joint":
            child = element.need("child")
            default = find(scope, child.text.strip() or child.get("link"), child, "child")
        elif element.tag == "frame" and element.get("attached_to"):
            default = find(scope, element.get("attached_to"), element, "attached_to")
        else:
            default = FrameRef(scope)
        return self.within(element, scope, default)

    def _model(self, scope: Scope) -> Placement:
        """The frame of a model: where its pose says, or so that its placement frame is there."""
        outer = scope.parent
        if outer is None:
            return HERE
        at = self.within(scope.element, outer, FrameRef(outer))
        name = scope.element.get("placement_frame")
        if not name:
            return at
        inside = PoseGraph(scope).of(find(scope, name, scope.element, "placement_frame"))
        return times(at, inverse(inside))


def link_of(frame: FrameRef, seen: tuple[FrameRef, ...] = ()) -> FrameRef:
    """The link that a frame is attached to; the world itself where it is fixed there."""
    if frame in seen or len(seen) > LONGEST:
        raise frame.element.error("it is attached to itself.")
    seen = (*seen, frame)
    if not frame.name:
        return FrameRef(frame.scope.top) if frame.is_world or frame.scope.static else link_of(canonical(frame.scope), seen)
    element, scope = frame.element, frame.scope
    if element.tag == "link":
        return frame
    if element.tag == "joint":
        child = element.need("child")
        return link_of(find(scope, child.text.strip() or child.get("link"), child, "child"), seen)
    name = element.get("attached_to")
    return link_of(find(scope, name, element, "attached_to") if name else FrameRef(scope), seen)


def canonical(scope: Scope) -> FrameRef:
    """The link that carries a model's frame: the one named, else its first, else that of its first model."""
    name = scope.element.get("canonical_link")
    if name:
        return find(scope, name, scope.element, "canonical_link")
    for link, _ in scope.all("link"):
        return FrameRef(scope, link)
    for inner in scope.models.values():
        return canonical(inner)
    raise scope.element.error("the model has no link.")
