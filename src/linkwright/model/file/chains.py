"""Chains: several joints between two bodies, one after the other, as `chain:` of an entry under `joints:`.

    hip: {between: [pelvis, thigh], at: H, chain: {yaw: {type: revolute, axis: [0, 0, 1]}, roll: {type: revolute, axis: [1, 0, 0]}}}

Every joint of a chain is an ordinary joint with a name of its own. Between two of them is a link without mass and without points
(`Body.chain`), which lists, pictures and tables leave out. All coordinates are zero in the drawn position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from linkwright.errors import listing
from linkwright.model.description import EYE3, ZERO3, Body, Joint, Placement, Vec3
from linkwright.model.file.body_frames import Shape
from linkwright.model.file.geometry import add, matrix, product, rotate, sub, transpose
from linkwright.model.file.reading_context import POSE_KEYS, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import LENGTH

OWN = ("between", "connect", "at", "chain")  # keys of the chain
WHOLE = ("between", "connect", "pin", "chain")  # keys that a joint of it cannot have
ReadJoint = Callable[[Context, dict[str, Shape], str, FileNode], Joint]


@dataclass(frozen=True)
class _Ends:
    """The bodies and points that a chain connects; `points` are empty where it is placed by `at`."""

    first: Shape
    second: Shape
    points: tuple[str, ...] = ()


def is_chain(node: FileNode) -> bool:
    return "chain" in (node.entries or {})


def read_chain(
    context: Context, shapes: dict[str, Shape], name: str, node: FileNode, read_joint: ReadJoint
) -> tuple[list[Joint], list[Shape]]:
    """The joints of a chain from its first to its second body, and the links between them; `read_joint` reads one joint."""
    what = f"chain '{name}'"
    keys = node.keys(what, OWN)
    pieces = keys["chain"].mapping(f"{what}: chain")
    if len(pieces) < 2:
        raise keys["chain"].error(
            f"{what} needs two or more joints, {{yaw: {{type: revolute, axis: ..}}, roll: ..}}, not {len(pieces)}.", name=what
        )
    ends = _ends(context, shapes, keys, node, what)
    links: list[Shape] = []
    found = dict(shapes)
    joints: list[Joint] = []
    here = ends.first
    for k, (joint, piece) in enumerate(pieces.items()):
        last = k == len(pieces) - 1
        entries = _piece_keys(keys, joint, piece)
        there = ends.second if last else _link(context, f"{name}:{k + 1}", here, ends, entries, piece)
        if not last:
            if there.name in found:
                raise node.error(f"{what}: its link '{there.name}' has the name of a body. Rename one of them.", name=there.name)
            links.append(there)
            found[there.name] = there
        joints.append(read_joint(context, found, joint, _between(piece, entries, here, there, ends)))
        here = there
    _need_no_shared_pin(ends, keys, node, what)
    return joints, links


def link_body(link: Shape, chain: str) -> Body:
    """The body of a link: no mass, no points, not shown."""
    return Body(link.name, mass=0.0, start=link.start, where=link.node.where, chain=chain)


def _ends(context: Context, shapes: dict[str, Shape], keys: dict[str, FileNode], node: FileNode, what: str) -> _Ends:
    if ("between" in keys) == ("connect" in keys):
        raise node.error(f"{what} must name the bodies it joins, by `between: [pelvis, thigh]` or by `connect: [pelvis.H, "
            "thigh.H]`.", name=what)
    if "connect" in keys:
        known = {b: tuple(s.points) for b, s in shapes.items()}
        (first, p), (second, q) = (context.point_ref(n, known, what) for n in keys["connect"].sequence(f"{what}: connect", 2))
        if "at" in keys:
            raise keys["at"].error(f"{what}: `connect` names the points already, take out `at`.", name=what)
        points: tuple[str, ...] = (p, q)
    else:
        first, second = (n.string(f"{what}: between") for n in keys["between"].sequence(f"{what}: between", 2))
        for body, entry in zip((first, second), keys["between"].items or (), strict=True):
            if body not in shapes:
                raise entry.error(f"{what}: there is no body '{body}'. Bodies: {listing(shapes)}.", name=body, allowed=shapes)
        points = ()
    if first == second:
        raise node.error(f"{what} joins '{first}' with itself. Name two different bodies.", name=first)
    return _Ends(shapes[first], shapes[second], points)


def _piece_keys(keys: dict[str, FileNode], joint: str, piece: FileNode) -> dict[str, FileNode]:
    """The keys of one joint, with the place of the chain where it has none."""
    entries = dict(piece.mapping(f"joint '{joint}'"))
    for key in WHOLE:
        if key in entries:
            raise entries[key].error(f"joint '{joint}' is part of a chain, which has the bodies: take out `{key}`.", name=joint)
    if "at" in entries and "connect" in keys:
        raise entries["at"].error(
            f"joint '{joint}': the chain is placed by `connect`. Take out `at`, or write the chain with `between`.", name=joint
        )
    if "at" in keys and "at" not in entries and "frames" not in entries:
        entries["at"] = keys["at"]
    return entries


def _between(piece: FileNode, entries: dict[str, FileNode], here: Shape, there: Shape, ends: _Ends) -> FileNode:
    """The joint as it would be written between two bodies."""
    own = {k: n for k, n in entries.items() if k != "guess"}

    def names(*texts: str) -> FileNode:
        return replace(piece, text=None, entries=None, items=tuple(replace(piece, text=t, entries=None, items=None) for t in texts))

    if ends.points and "frames" not in entries:
        p, q = ends.points
        own["connect"] = names(f"{here.name}.{p}", f"{there.name}.{q if there is ends.second else p}")
    else:
        own["between"] = names(here.name, there.name)
    return replace(piece, text=None, items=None, entries=own)


def _link(context: Context, name: str, here: Shape, ends: _Ends, entries: dict[str, FileNode], node: FileNode) -> Shape:
    """The link that a joint carries: its frame is at the joint, parallel to the drawing (to the first body where points are connected)."""
    what = f"chain: link '{name}'"
    link = Shape(name, node, exact=True)
    if "frames" in entries:
        _by_frames(context, link, here, entries, what)
    elif ends.points:
        point = ends.points[0]
        link.rotation, link.points = ends.first.rotation, {point: ZERO3}
        link.at = add(ends.first.at, rotate(ends.first.rotation, ends.first.points[point]))
        ends.first.turned = True
    elif "at" in entries:
        link.at = _drawn(context, ends, entries["at"], what)
        label = entries["at"].text
        if label is not None:
            link.points = {label.strip(): ZERO3}
            here.points.setdefault(label.strip(), here.to_local(link.at)) if here is not ends.first else None
    else:
        raise node.error(
            f"{what}: the joint before it needs a place: `at: H` (a drawn point), here or for the whole chain.", name=what
        )
    link.pose = Placement(link.at, link.rotation)
    link.start = Placement(context.numerics(link.at), matrix([context.numerics(row) for row in link.rotation]))
    return link


def _by_frames(context: Context, link: Shape, here: Shape, entries: dict[str, FileNode], what: str) -> None:
    """The pose of a link whose joint is given by its two frames: `guess`, else where the coordinate is zero."""
    frames = [_placement(context, n, what) for n in entries["frames"].sequence(f"{what}: frames", 2)]
    if "guess" in entries:
        pose = _placement(context, entries["guess"], f"{what}: guess")
        link.at, link.rotation = context.numerics(pose.at), matrix([context.numerics(row) for row in pose.rotation])
        return
    F, M = frames
    R = product(F.rotation, transpose(M.rotation))
    at = sub(F.at, rotate(R, M.at))
    link.rotation, link.at = product(here.rotation, R), add(here.at, rotate(here.rotation, at))


def _placement(context: Context, node: FileNode, what: str) -> Placement:
    keys = node.keys(what, POSE_KEYS)
    return Placement(context.vector(keys["at"], LENGTH, what) if "at" in keys else ZERO3, context.rotation(keys, what) or EYE3)


def _drawn(context: Context, ends: _Ends, node: FileNode, what: str) -> Vec3:
    """A place in the drawing: coordinates, a drawn point, or a point of one of the two bodies."""
    if node.text is None:
        return context.vector(node, LENGTH, f"{what}: at")
    label = node.text.strip()
    if label in context.drawing:
        return context.drawing[label]
    for shape in (ends.first, ends.second):
        if label in shape.points:
            shape.turned = True
            return add(shape.at, rotate(shape.rotation, shape.points[label]))
    raise node.error(f"{what}: '{label}' is neither drawn nor a point of '{ends.first.name}' or '{ends.second.name}'.", name=label)


def _need_no_shared_pin(ends: _Ends, keys: dict[str, FileNode], node: FileNode, what: str) -> None:
    """A pin of both bodies would hinge them a second time."""
    first, second = ends.first, ends.second
    names = ends.points or ((keys["at"].text or "").strip(),) if "at" in keys or ends.points else ()
    for pin in names:
        if pin and pin in first.pins and pin in second.pins:
            raise node.error(
                f"{what} connects {first.name} and {second.name} at {pin}, a pin that both name and that hinges them already. List it "
                "under `points` of one of them.",
                name=what,
            )
