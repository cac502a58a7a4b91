"""The scene of a drawing as plain data for a page: everything drawable in the bodies' own frames, and how to move it there.

    scene = shapes(Scene(system, turn))     JSON of bars, plates, pins, guides, telescopes, springs, wheels, cams, belts, drives
    refs = references(Scene(...))           what each numbered place of that JSON is in the model
    places(description, refs)               the numbers of all places, over any scalar: with other parameters or traced

A place is a point or a direction of one body; the shapes quote it by number (`place`) besides writing its coordinates, so
that a page whose sliders change lengths needs nothing but a new list of numbers. Bodies are counted with ground as 0.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import SAME_PLACE, Description, Joint, contact, joints
from linkwright.model.meshes import closed
from linkwright.rings.studio.outline_geometry import ScenePoint, guide_samples, hull
from linkwright.rings.studio.scene import Arrow, Pin, Scene, SceneGuide, SceneLine, Stage, Telescope
from linkwright.rings.studio.scene_belts import SceneBelt
from linkwright.rings.studio.scene_cams import CAM_PLACES, SceneCam, cam_geometry, cam_place
from linkwright.rings.studio.scene_contacts import SceneOutline, outline_places
from linkwright.rings.studio.surfaces import BodySurface

BAR = 0.10  # width of a bar as a share of the typical link


class Ref(NamedTuple):
    """Reference of a place: the `point` of a body, or a joint's frame (`first` or `second`): its origin or its axis `column`; or a place
    on a joint's `guide`, on the profile of a `cam` (the other side of its `groove`, the `rim` of its roller), on the `outline` of a
    surface."""

    kind: str  # "point", "first", "second", "guide", "cam", "groove", "rim" or "outline"
    owner: str  # body, joint, cam or surface
    name: str = ""  # of the point; number of the surface
    column: int = -1  # of the frame's rotation; -1: the origin; number of a point of an outline
    s: float = 0.0  # coordinate along the guide, or of the disc; size of the drawing


@dataclass
class Places:
    """Numbers the places of a scene, each once."""

    scene: Scene
    refs: list[Ref] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)

    def number(self, ref: Ref, node: int) -> int:
        if ref not in self.refs:
            self.refs.append(ref)
            self.bodies.append(node + 1)
        return self.refs.index(ref)

    def find(self, node: int, at: np.ndarray, joint: Joint | None = None) -> int | None:
        """The number of the place of a body with these coordinates; None for one that no point or joint stands for."""
        body = self.scene.description.bodies[0].name if node < 0 else self.scene.skel.tree.nodes[node].body
        for p in self.scene.description.body(body).points if joint is None else ():
            if np.linalg.norm(np.asarray(p.at, dtype=float) - at) < SAME_PLACE:
                return self.number(Ref("point", body, p.name), node)
        for j in self.scene.joints if joint is None else (joint,):
            for side, name, frame in (("second", j.second, j.frame_second), ("first", j.first, j.frame_first)):
                if name == body and np.linalg.norm(np.asarray(frame.at, dtype=float) - at) < SAME_PLACE:
                    return self.number(Ref(side, j.name), node)
        for g in self.scene.guides if joint is None else ():
            for s, place in zip((g.low, 0.5 * (g.low + g.high), g.high), g.rail(), strict=True):
                if g.node == node and np.linalg.norm(place - at) < SAME_PLACE:
                    return self.number(Ref("guide", g.joint.name, s=float(s)), node)
        return None

    def spot(self, spot: ScenePoint, joint: Joint | None = None) -> dict[str, Any]:
        return {"body": spot.node + 1, "at": _numbers(spot.at), "place": self.find(spot.node, spot.at, joint)}

    def axis(self, joint: Joint, side: str, column: int) -> dict[str, Any]:
        """An axis of a joint's frame, as a direction of the body that carries the frame."""
        frame, body = (joint.frame_first, joint.first) if side == "first" else (joint.frame_second, joint.second)
        node = self.scene.skel.node(body)
        direction = np.asarray(frame.rotation, dtype=float)[:, column]
        return {"body": node + 1, "at": _numbers(direction), "place": self.number(Ref(side, joint.name, "", column), node)}


def shapes(scene: Scene) -> dict[str, Any]:
    """The scene as JSON. Places are {body, at, place}: coordinates in the body's frame and the number among `places`."""
    return _listed(scene)[0]


def references(scene: Scene) -> list[Ref]:
    """References of the numbered places of `shapes(scene)`, in their order."""
    return _listed(scene)[1]


def places(description: Description, refs: Sequence[Ref]) -> list[Any]:
    """Three numbers a place, over the scalars of the description."""
    out: list[Any] = []
    cams: dict[str, Any] = {}
    outlines: dict[str, list[Any]] = {}
    for ref in refs:
        if ref.kind == "point":
            out += list(description.point((ref.owner, ref.name)).at)
            continue
        if ref.kind in CAM_PLACES:
            if ref.owner not in cams:
                cams[ref.owner] = cam_geometry(description, ref.owner)
            out += list(cam_place(description, *cams[ref.owner], ref.kind, ref.s))
            continue
        if ref.kind == "outline":
            if ref.name not in outlines:
                outlines[ref.name] = outline_places(contact.spots(description)[int(ref.name)], ref.s)[0]
            out += [*outlines[ref.name][ref.column], 0.0]
            continue
        joint = description.joint(ref.owner)
        if ref.kind == "guide":
            F, p = joint.frame_first, joints.track(joints.create(joint.type, joint.options), ref.s)
            out += [at + row[0] * p[0] + row[1] * p[1] + row[2] * p[2] for at, row in zip(F.at, F.rotation, strict=True)]
            continue
        frame = joint.frame_first if ref.kind == "first" else joint.frame_second
        out += list(frame.at) if ref.column < 0 else [row[ref.column] for row in frame.rotation]
    return out


def _listed(scene: Scene) -> tuple[dict[str, Any], list[Ref]]:
    at = Places(scene)
    points = scene.extent(scene.start, whole_turn=True)
    text = {
        "pieces": [
            {
                "body": p.node + 1,
                "points": [_numbers(x) for x in p.points],
                "places": [at.find(p.node, x) for x in p.points],
                "closed": p.closed,
                **({"solid": True} if p.solid else {}),
            }
            for p in scene.pieces
        ],
        "meshes": meshes(scene),
        "pins": [_pin(at, pin) for pin in scene.pins],
        "guides": [_guide(at, g) for g in scene.guides],
        "telescopes": [_telescope(at, t) for t in scene.telescopes],
        "lines": [_line(at, x) for x in scene.lines],
        "wheels": [{"spot": at.spot(w.spot), "axis": _numbers(w.axis), "radius": float(w.radius)} for w in scene.wheels],
        "cams": [_cam(at, c) for c in scene.cams],
        "surfaces": [_surface(at, x) for x in scene.outlines],
        "belts": [_belt(at, b) for b in scene.belts],
        "arrows": [_arrow(at, a) for a in scene.arrows],
        "marks": [{"body": body, "name": name, "spot": at.spot(spot)} for body, name, spot in scene.marks],
        "base": _base(at),
        "extent": {"low": _numbers(points.min(axis=0)), "high": _numbers(points.max(axis=0))},
        "bar": bar_width(scene),
    }
    text["places"] = at.bodies
    return text, at.refs


# -------------------------------------------------------------------- the kinds of shapes
def _line(at: Places, line: SceneLine) -> dict[str, Any]:
    looks = {"shape": line.looks.shape, "width": line.looks.width, "dashes": list(line.looks.dashes)}
    out = {"kind": line.kind, "name": line.name, **looks, "ends": [at.spot(e) for e in line.ends]}
    return out if line.about is None else {**out, "about": _numbers(line.about)}


def _pin(at: Places, pin: Pin) -> dict[str, Any]:
    joint, spot = pin.joint, pin.spot
    kinds = () if joint is None or at.scene.description.planar else joints.JOINTS[joint.type].coordinate_kinds
    if joint is not None and pin.grounded:  # on the side that is at rest, whatever the mechanism does
        still = joint.frame_first if joint.first == at.scene.description.bodies[0].name else joint.frame_second
        spot = ScenePoint(-1, np.asarray(still.at, dtype=float))
    return {
        "name": pin.name,
        "spot": at.spot(spot, joint),
        "grounded": pin.grounded,
        "type": "end" if joint is None else joint.type,
        "pin": None if joint is None else joint.pin or joint.name,
        "bodies": [] if joint is None else [at.scene.skel.node(joint.first) + 1, at.scene.skel.node(joint.second) + 1],
        "axis": at.axis(joint, "second", 2) if joint is not None and kinds.count("angle") == 1 else None,
    }


def _cam(at: Places, cam: SceneCam) -> dict[str, Any]:
    def line(kind: str, points: np.ndarray | None) -> dict[str, Any] | None:
        if points is None:
            return None
        numbers = [at.number(Ref(kind, cam.name, s=float(q)), cam.node) for q in cam.angles]
        return {"points": [_numbers(p) for p in points], "places": numbers}

    roller = None
    if cam.roller is not None:
        places = [at.find(cam.follower_node, cam.roller[0]), at.number(Ref("rim", cam.name), cam.follower_node)]
        roller = {"points": [_numbers(p) for p in cam.roller], "places": places}
    face = None if cam.face is None else [_numbers(p) for p in cam.face]
    return {
        "name": cam.name, "disc": cam.node + 1, "follower": cam.follower_node + 1, "closed": cam.closed,
        "profile": line("cam", cam.profile), "groove": line("groove", cam.outer), "roller": roller, "face": face,
    }  # fmt: skip


def _surface(at: Places, x: SceneOutline) -> dict[str, Any]:
    refs = [Ref("outline", x.name, str(x.place), i, at.scene.size) for i in range(len(x.points))]
    return {
        "name": x.name, "body": x.node + 1, "closed": x.closed, "wall": x.wall,
        "points": [_numbers(p) for p in x.points], "places": [at.number(ref, x.node) for ref in refs],
    }  # fmt: skip


def _guide(at: Places, g: SceneGuide) -> dict[str, Any]:
    joint = g.joint
    return {
        "name": joint.name,
        "pin": joint.pin or joint.name,
        "type": joint.type,
        "turns": g.turns,
        "spot": at.spot(ScenePoint(g.node, g.frame.p), joint),
        "axis": at.axis(joint, "first", 0),
        "block": at.spot(ScenePoint(g.block, g.block_frame.p), joint),
        "low": float(g.low),
        "high": float(g.high),
        "curve": _curve(at, g) if len(g.curve) > 2 else None,
    }


def _curve(at: Places, g: SceneGuide) -> list[dict[str, Any]]:
    """The places of a guide that is not straight, in its order."""
    samples = guide_samples(joints.create(g.joint.type, g.joint.options), g.low, g.high)
    points = g.curve @ g.frame.R.T + g.frame.p
    numbers = [at.number(Ref("guide", g.joint.name, s=float(s)), g.node) for s in samples]
    return [{"body": g.node + 1, "at": _numbers(p), "place": n} for p, n in zip(points, numbers, strict=True)]


def _telescope(at: Places, t: Telescope) -> dict[str, Any]:
    return {"name": t.name, "bodies": list(t.bodies), "ends": [at.spot(e) for e in t.ends], "barrel": float(t.barrel)}


def _belt(at: Places, b: SceneBelt) -> dict[str, Any]:
    spots = [at.spot(s) for s in b.spots]
    turning = [bool(body) for body in b.bodies]
    return {"name": b.name, "spots": spots, "radii": list(b.radii), "turns": list(b.turns), "closed": b.closed, "turning": turning}


def _arrow(at: Places, a: Arrow) -> dict[str, Any]:
    out = {"name": a.name, "turning": a.turning, "spot": at.spot(a.spot), "to": at.spot(a.to) if a.to else None, "sense": a.sense}
    return {**out, "axis": {"body": a.spot.node + 1, "at": _numbers(a.axis), "place": None}}


def _base(at: Places) -> list[dict[str, Any]]:
    """Places on the ground in the order of their outline: the fixed parts, where nothing else is drawn of it."""
    scene, distinct = at.scene, list[np.ndarray]()
    stage = Stage(scene.skel, scene.start)
    spots = [stage.spot(p.spot) for p in scene.pins if p.grounded]
    spots += [stage.spot(e) for t in scene.telescopes for e in t.ends if e.node < 0]
    for s in spots:
        if all(np.linalg.norm(s - d) > SAME_PLACE for d in distinct):
            distinct.append(s)
    return [at.spot(ScenePoint(-1, p)) for p in hull(np.array(distinct))] if len(distinct) > 1 else []


def bar_width(scene: Scene) -> float:
    """Width of bars: a share of the typical link, in meters."""
    stage = Stage(scene.skel, scene.start)
    lengths = [float(np.linalg.norm(np.diff(p.points, axis=0), axis=1).max()) for p in scene.pieces if len(p.points) > 1]
    lengths += [float(np.linalg.norm(stage.spot(t.ends[0]) - stage.spot(t.ends[1]))) for t in scene.telescopes]
    return BAR * float(np.median(lengths)) if lengths else 0.05 * float(np.ptp(scene.extent(scene.start, whole_turn=False), axis=0).max())


def _numbers(x: Any) -> list[float]:
    digits = 15  # after the point, meters: far below what is drawn, and it drops the noise of 1e-17
    return [round(float(v), digits) + 0.0 for v in x]


# Surfaces of bodies as data of a page: outlines in a plane; in space vertices as 16-bit numbers in their box, faces as indices.
#
# A triangle takes some 12 bytes in the page, so that all surfaces together stay below 300 kB (`surfaces.MOST_OF_ALL` triangles).


def meshes(scene: Scene) -> list[dict[str, Any]]:
    """The surfaces of a scene as JSON: {body, color, middle, corners}, in a plane {lines}, else {low, step, vertices, faces, rim}."""
    found = [s for s in scene.surfaces if s.lines] if scene.description.planar else scene.surfaces
    return [{**_head(s), **(_flat(s) if scene.description.planar else _solid(s))} for s in found]


def _head(s: BodySurface) -> dict[str, Any]:
    low, high = s.surface.vertices.min(axis=0), s.surface.vertices.max(axis=0)
    corners = [_rounded(p) for p in s.corner_points]
    return {"body": s.node + 1, "color": s.color or None, "middle": _rounded(0.5 * (low + high)), "corners": corners}


def _flat(s: BodySurface) -> dict[str, Any]:
    return {"lines": [[_rounded(p) for p in line] for line in s.lines]}


def _solid(s: BodySurface) -> dict[str, Any]:
    vertices, faces = s.surface
    low = vertices.min(axis=0)
    steps = 65535  # of the box along each axis
    step = np.maximum(np.ptp(vertices, axis=0), 1e-12) / steps
    numbers = np.round((vertices - low) / step).astype("<u2")
    return {"low": low.tolist(), "step": step.tolist(), "vertices": _text(numbers), "faces": _text(faces.astype("<u2")), "rim": _outward(s)}


def _outward(s: BodySurface) -> bool:
    """True if the surface is closed and faces outwards, so that the same surface, fatter and seen from inside, is a line around it."""
    a, b, c = np.moveaxis(s.surface.corners - s.surface.vertices.mean(axis=0), 1, 0)
    return closed(s.surface.faces) and bool(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0.0)


def _text(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode("ascii")


def _rounded(p: np.ndarray) -> list[float]:
    digits = 7  # after the point, meters: outlines are drawn, not measured
    return [round(float(x), digits) + 0.0 for x in p]
