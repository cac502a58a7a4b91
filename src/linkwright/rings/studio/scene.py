"""Drawable parts of a mechanism: bodies, pins, guides, telescopes and lines, in the bodies' own frames.

A `Scene` is geometry without any graphics: it is made once from a System and a cycle (which says how far sliders
travel), and a `Stage` puts it into the world at one instant. Drawings in the plane and in space read the same scene.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import (
    JOINTS,
    Body,
    ChannelError,
    Description,
    Instant,
    Joint,
    PointRef,
    Pose,
    System,
    Trajectory,
    array,
    compiled_of,
    elements,
    joints,
    kinematics,
    lengths,
    tolerances,
)
from linkwright.properties import cached_property
from linkwright.rings.studio.outline_geometry import ScenePoint, dense, guide_samples, hull, inside, unit_circle
from linkwright.rings.studio.scene_belts import belt_points, rims, scene_belts
from linkwright.rings.studio.scene_cams import scene_cams
from linkwright.rings.studio.scene_contacts import SceneOutline, TouchForces, scene_outlines
from linkwright.rings.studio.surfaces import body_surfaces, contact_surfaces
from linkwright.rings.studio.traced_points import tips

COUPLED = elements.Looks("line", 1.0, (7.0, 2.5, 1.5, 2.5))
BARREL = 0.58  # length of a drawn barrel as a share of the shortest length of its telescope


@dataclass(frozen=True)
class BodyPiece:
    """A bar or chain of bars (`closed`: a plate) of a body; a `solid` plate has no bars along its rim."""

    body: str
    node: int
    points: np.ndarray  # (n, 3)
    closed: bool
    solid: bool = False


@dataclass(frozen=True)
class Pin:
    """A joint's place, with a name for people; `grounded`: fixed to the ground."""

    name: str
    spot: ScenePoint
    grounded: bool
    joint: Joint | None  # None: the end of a spring, rod or cylinder


@dataclass(frozen=True)
class SceneGuide:
    """A guide on one body for a block or a pin of another, with its travel: x of `frame`, or a curve in it."""

    joint: Joint
    turns: bool  # a pin, which turns on the guide, instead of a block
    node: int
    frame: Pose
    block: int
    block_frame: Pose
    low: float
    high: float
    curve: np.ndarray  # (n, 3) in `frame`, from `low` to `high`; two points if straight

    def tangent(self, at: np.ndarray) -> np.ndarray:
        """Direction of the guide in `frame`, where it is closest to a place in `frame`."""
        if len(self.curve) == 2:
            return np.array([1.0, 0.0, 0.0])
        middles, steps = 0.5 * (self.curve[1:] + self.curve[:-1]), np.diff(self.curve, axis=0)
        step = steps[int(np.argmin(np.linalg.norm(middles - at, axis=1)))]
        return step / (float(np.linalg.norm(step)) or 1.0)

    def rail(self) -> np.ndarray:
        """(3, 3): both ends and the middle of the guide, in the body that carries it."""
        joint = joints.create(self.joint.type, self.joint.options)
        places = np.array([joints.track(joint, s) for s in (self.low, 0.5 * (self.low + self.high), self.high)], dtype=float)
        return places @ self.frame.R.T + self.frame.p

    def extended(self, margin: float) -> np.ndarray:
        """The curve, longer by a margin at either end."""
        first, last = (self.tangent(end) for end in (self.curve[0], self.curve[-1]))
        if len(self.curve) == 2:
            return np.array([self.curve[0] - margin * first, self.curve[1] + margin * last])
        return np.vstack([self.curve[0] - margin * first, self.curve, self.curve[-1] + margin * last])


@dataclass(frozen=True)
class Telescope:
    """A barrel and a rod between two places: cylinders, gas springs, sliding pairs on one line."""

    name: str  # of the sliding joint, cylinder or gas spring
    bodies: tuple[str, str]  # barrel's and rod's body, or "" where it is a force element
    ends: tuple[ScenePoint, ScenePoint]
    barrel: float


@dataclass(frozen=True)
class SceneLine:
    """A rod (constant distance), coil spring or damper between two places."""

    kind: str
    ends: tuple[ScenePoint, ScenePoint]
    name: str = ""
    looks: elements.Looks = elements.Looks("line")
    about: np.ndarray | None = None  # in the frame of the first end's node: axis of a shape that is round, where it is not its line


@dataclass(frozen=True)
class Wheel:
    """A pitch circle about a joint."""

    spot: ScenePoint
    axis: np.ndarray
    radius: float


@dataclass(frozen=True)
class Arrow:
    """A drive: about a pin (`turning`), or along a line; `sense` +1, -1, or 0 for both ways."""

    name: str
    turning: bool
    spot: ScenePoint
    axis: np.ndarray  # in the frame of the spot's node
    to: ScenePoint | None
    sense: int


class Stage:
    """The scene's frames at one instant: places of any node in the world."""

    def __init__(self, skel: kinematics.Skeleton, instant: Instant):
        self.skel, self.motion = skel, instant.motion

    def pose(self, node: int) -> Pose:
        X = kinematics.node_motion(self.skel, self.motion, node)[0]
        return Pose(X.R, X.p + self.skel.origin(node))

    def place(self, node: int, points: Any) -> np.ndarray:
        """World positions of points (n, 3) or of one point of a node."""
        X = self.pose(node)
        return np.asarray(points, dtype=float) @ X.R.T + X.p

    def spot(self, spot: ScenePoint) -> np.ndarray:
        return self.place(spot.node, spot.at)


def off_at(c: Trajectory, sample: int) -> list[str]:
    """Rods and joints that a run is without at a sample."""
    held = c.arrays.get("closed")
    return [] if held is None else [x.name for x, on in zip(c.skel.tree.loops, held[sample], strict=True) if not on]


class Scene:
    """Everything drawable of a mechanism; `turn` (its cycle, if there is one) gives travels, traces and extents."""

    def __init__(self, system: System, turn: Trajectory | None):
        self.skel = compiled_of(system).skel
        self.description: Description = system.description
        self.start = system.start.instant
        self.turn = turn
        self.joints: tuple[Joint, ...] = self.description.joints
        self.telescopes = [*self._sliding_pairs(), *self._struts()]
        hidden = {name for t in self.telescopes for name in t.bodies if name}
        self.pieces = [p for b in self.description.bodies[1:] if b.name not in hidden for p in self._pieces(b)]
        self.surfaces = body_surfaces(self.description, self.skel)
        self.covered = {s.body for s in self.surfaces}  # bodies that are not drawn as bars
        for walls in (False, True):  # which reach as far as everything else
            self.surfaces += contact_surfaces(self.description, self.skel, walls, *self._span())
        self.guides = self._guides()
        self.pieces += self._arms()
        self.pins = self._pins()
        self.marks = self._marks()
        self.lines = self._lines()
        self.absent: Collection[str] = ()  # rods that are not there at the instant that is drawn
        self.wheels = self._wheels()
        self.cams = scene_cams(self.description, self.skel)
        self.belts = scene_belts(self.description, self.skel)
        self.outlines: list[SceneOutline] = []
        self.touch_forces: TouchForces | None = None  # over the run that is drawn
        self.pushes: Sequence[tuple[np.ndarray, int]] | None = None  # force and state of each touch at the instant that is drawn
        self.outlines = scene_outlines(self.description, self.skel, lambda: self.size)
        self.arrows = [a for d in self.description.drives for a in self._arrow(d)]
        self.driven = self._driven_bodies()
        self.pieces.sort(key=lambda p: p.body in self.driven)  # what is driven is on top

    @cached_property
    def size(self) -> float:
        """Larger side of the drawing, without walls."""
        return float(np.ptp(self.extent(self.start, whole_turn=True), axis=0).max()) or 1.0

    def _span(self) -> tuple[float, np.ndarray]:
        """Larger side and middle of all named points at the start, before anything else is known."""
        stage = Stage(self.skel, self.start)
        points = [stage.place(self.skel.node(b.name), array(p.at)[None]) for b in self.description.bodies for p in b.points]
        every = np.concatenate([*points, *(stage.place(s.node, s.corner_points) for s in self.surfaces), np.zeros((0, 3))])
        if not len(every):
            return 1.0, np.zeros(3)
        return float(np.ptp(every, axis=0).max()) or 1.0, 0.5 * (every.min(axis=0) + every.max(axis=0))

    # ---------------------------------------------------------------- bodies

    def _joint_spots(self, body: Body) -> list[tuple[Joint, np.ndarray]]:
        out = []
        for j in self.joints:
            if j.first == body.name:
                out.append((j, array(j.frame_first.at)))
            if j.second == body.name:
                out.append((j, array(j.frame_second.at)))
        return out

    def _places(self, body: Body) -> np.ndarray:
        """All distinct places of a body: its points and its joints."""
        every = [array(p.at) for p in body.points] + [at for _, at in self._joint_spots(body)]
        return np.array(distinct(every), dtype=float).reshape(-1, 3)

    @staticmethod
    def _size(points: list[np.ndarray]) -> float:
        return float(np.ptp(np.array(points), axis=0).max()) or 1.0 if points else 1.0

    def _pieces(self, body: Body) -> list[BodyPiece]:
        node = self.skel.node(body.name)
        named = {p.name: array(p.at) for p in body.points}
        out = [BodyPiece(body.name, node, np.array([named[n] for n in x.points]), True, True) for x in self._solids(body)]
        for line in () if out else body.outline:
            closed = len(line) > 3 and line[0] == line[-1]
            names = line[:-1] if closed else line
            out.append(BodyPiece(body.name, node, np.array([named[n] for n in names]), closed))
        plates = [p.points for p in out if p.closed]
        out = [p for p in out if p.closed or len(p.points) != 2 or not any(inside(p.points, plate) for plate in plates)]
        if not out:
            places = self._places(body)
            return [BodyPiece(body.name, node, hull(places), len(places) > 2)] if len(places) > 1 else []
        drawn = np.concatenate([p.points for p in out])
        size = self._size(list(drawn))
        for joint, at in self._joint_spots(body):
            rail = JOINTS[joint.type].guide is not None and joint.first == body.name
            near = drawn[np.argmin(np.linalg.norm(drawn - at, axis=1))]
            arm = np.array([near, at])
            if not rail and np.linalg.norm(near - at) > 1e-6 * size and not any(inside(arm, plate) for plate in plates):
                out.append(BodyPiece(body.name, node, arm, False))
        return out

    def _solids(self, body: Body) -> list[elements.Surface]:
        """Polygons that others touch from outside: they are the shape of their body."""
        return [x for x in elements.every(self.description) if isinstance(x, elements.Surface) and x.solid and x.body == body.name]

    def _driven_bodies(self) -> set[str]:
        out: set[str] = set()
        for d in self.description.drives:
            for j in self.joints:
                if j.name == d.joint:
                    out.add(self.shown_body(j.second if j.second != self.description.bodies[0].name else j.first))
        return out

    def shown_body(self, name: str) -> str:
        """The body that a link inside a chain of joints leads to; any other body itself."""
        while self.description.body(name).chain:
            name = next(j.second for j in self.joints if j.first == name)
        return name

    # ---------------------------------------------------------------- joints

    def _on_axis(self, body: str, frame: Pose) -> bool:
        """True if every place of a body lies on the x axis of a joint's frame."""
        places = self._places(self.description.body(body))
        local = (places - frame.p) @ frame.R
        return bool(np.abs(local[:, 1:]).max(initial=0.0) < 1e-6 * max(self._size(list(places)), np.abs(local).max(initial=0.0)))

    def _sliding_pairs(self) -> list[Telescope]:
        """Sliders of two moving bodies that lie along the joint's axis: a cylinder with its rod."""
        ground = self.description.bodies[0].name
        out = []
        for j in self.joints:
            first, second = kinematics.pose_of(j.frame_first), kinematics.pose_of(j.frame_second)
            if (
                not joints.is_slider(joints.create(j.type, j.options))
                or ground in (j.first, j.second)
                or any(self.description.body(name).chain for name in (j.first, j.second))
                or not (self._on_axis(j.first, first) and self._on_axis(j.second, second))
            ):
                continue
            a, b = self.skel.node(j.first), self.skel.node(j.second)
            stage = Stage(self.skel, self.start)
            ends = [(p, q) for p in self._places(self.description.body(j.first)) for q in self._places(self.description.body(j.second))]
            base, tip = max(ends, key=lambda e: float(np.linalg.norm(stage.place(a, e[0]) - stage.place(b, e[1]))))
            pair = (ScenePoint(a, base), ScenePoint(b, tip))
            if np.linalg.norm(stage.spot(pair[0]) - stage.spot(pair[1])) > 0.0 and self._barrel_and_rod(j, pair):
                out.append(Telescope(j.name, (j.first, j.second), pair, BARREL * self._shortest(pair)))
        return out

    def _barrel_and_rod(self, joint: Joint, ends: tuple[ScenePoint, ScenePoint]) -> bool:
        """True if each body is joined to others at one place at most, and no point of theirs ever lies beyond the ends.

        A lever with a slot for a block is no barrel, although all its places lie on one line."""
        spots = []
        for body in (self.description.body(joint.first), self.description.body(joint.second)):
            joined = [at for j, at in self._joint_spots(body) if j is not joint]
            joined += [self._ref(ref).at for pair in self._between() for ref in pair if ref[0] == body.name]
            if len(distinct(joined)) > 1:
                return False
            node = self.skel.node(body.name)
            spots += [ScenePoint(node, at) for at in distinct([*joined, *(array(p.at) for p in body.points)])]
        now = Stage(self.skel, self.start)
        paths = [np.vstack([now.spot(spot), self._path(spot)]) for spot in (*ends, *spots)]
        return between_ends(paths[:2], paths[2:])

    def _struts(self) -> list[Telescope]:
        d = self.description
        telescopes = sorted((x for x in elements.every(d) if x.looks.shape == "telescope"), key=lambda x: not x.coordinate)
        pairs = [(e.name, (self._ref(e.between[0]), self._ref(e.between[1]))) for e in telescopes]
        return [Telescope(name, ("", ""), pair, BARREL * self._shortest(pair)) for name, pair in pairs]

    def _shortest(self, ends: tuple[ScenePoint, ScenePoint]) -> float:
        """The smallest distance of two places over the cycle."""
        now = Stage(self.skel, self.start)
        first, second = (np.vstack([now.spot(end), self._path(end)]) for end in ends)
        return float(np.linalg.norm(first - second, axis=1).min())

    def _path(self, spot: ScenePoint) -> np.ndarray:
        """(n, 3): where a place goes in the cycle."""
        if self.turn is None:
            return np.zeros((0, 3))
        name = f"place {spot.node} {spot.at.tolist()}"
        return self.turn._sampled({name: lambda x: Stage(self.skel, x).spot(spot)})[name]

    def _ref(self, ref: PointRef) -> ScenePoint:
        return ScenePoint(self.skel.node(ref[0]), array(self.description.point(ref).at))

    def _travel(self, joint: Joint, i: int) -> tuple[float, float]:
        now = float(self.start.coordinates(joint)[i])
        if self.turn is None:
            return now, now
        values = self.turn._sampled({f"travel of {joint.name}": lambda x: x.coordinates(joint)[i]})[f"travel of {joint.name}"]
        return min(now, float(values.min())), max(now, float(values.max()))

    def _guides(self) -> list[SceneGuide]:
        paired = {t.bodies for t in self.telescopes}
        out = []
        for j in self.joints:
            jt = joints.create(j.type, j.options)
            if jt.guide is not None and (j.first, j.second) not in paired:
                frames = kinematics.pose_of(j.frame_first), kinematics.pose_of(j.frame_second)
                nodes = self.skel.node(j.first), self.skel.node(j.second)
                low, high = self._travel(j, jt.guide)
                curve = np.array([joints.track(jt, s) for s in guide_samples(jt, low, high)], dtype=float)
                out.append(SceneGuide(j, "angle" in jt.coordinate_kinds, nodes[0], frames[0], nodes[1], frames[1], low, high, curve))
        return out

    def _arms(self) -> list[BodyPiece]:
        """Bars from links to slots of theirs that lie apart from what is drawn of them."""
        out = []
        for g in self.guides:
            drawn = [(p.points, p.closed) for p in self.pieces if p.node == g.node]
            line = arm(drawn, g.rail()) if g.node >= 0 else None
            if line is not None:
                out.append(BodyPiece(self.skel.tree.nodes[g.node].body, g.node, line, False))
        return out

    def _pins(self) -> list[Pin]:
        ground = self.description.bodies[0].name
        out = []
        for j in self.joints:
            jt = JOINTS[j.type]
            if jt.floats or set(jt.coordinate_kinds) <= {"length"}:  # nothing turns there
                continue
            node = self.skel.node(j.second)
            named = [
                p.name for p in self.description.body(j.second).points if np.linalg.norm(array(p.at) - array(j.frame_second.at)) < 1e-9
            ]
            grounded = ground in (j.first, j.second) and jt.guide is None
            out.append(Pin(j.pin or (named or [j.name])[0], ScenePoint(node, array(j.frame_second.at)), grounded, j))
        ends = [ref for refs in self._between() for ref in refs]
        ends += [ref for ref in belt_points(self.description) if ref not in ends]
        return out + [Pin(ref[1], self._ref(ref), ref[0] == ground, None) for ref in ends]

    def _between(self) -> list[tuple[PointRef, PointRef]]:
        """Ends of everything that acts between two points."""
        d = self.description
        lines = [x for x in elements.every(d) if x.acts in (elements.LINE, elements.FRAMES)]
        return [x.between for x in sorted(lines, key=lambda x: x.coordinate)]

    def _marks(self) -> list[tuple[str, str, ScenePoint]]:
        """(body, name, place) of marked points of moving bodies: those that no joint, rod, spring or outline uses."""
        used = {ref for pair in self._between() for ref in pair} | set(belt_points(self.description))
        drawn = (x for x in elements.every(self.description) if isinstance(x, elements.Edges | elements.Arc))
        used |= {(x.body, name) for x in drawn for name in x.points}
        out = []
        for body in self.description.moving:
            joined = [at for _, at in self._joint_spots(body)]
            for p in body.points:
                if (body.name, p.name) not in used and all(np.linalg.norm(array(p.at) - at) > 1e-9 for at in joined):
                    out.append((body.name, p.name, ScenePoint(self.skel.node(body.name), array(p.at))))
        return out

    def _lines(self) -> list[SceneLine]:
        d = self.description
        drawn = [x for x in elements.every(d) if x.looks.shape in ("line", "rope", "coil", "ring") and x.between]
        out = []
        for x in drawn:
            kind = x.word if x.looks.shape == "line" else x.looks.shape
            about = None if d.planar or x.drawn_about is None else array(x.drawn_about)
            out.append(SceneLine(kind, (self._ref(x.between[0]), self._ref(x.between[1])), x.name, x.looks, about))
        return [*out, *(line for c in d.ties if c.hides_contact for line in self._coupled(c))]

    def _coupled(self, coupling: Any) -> list[SceneLine]:
        """Lines between the joints that a coupling ties, where they are apart."""
        stage = Stage(self.skel, self.start)
        spots = []
        for name in coupling.joints:
            j = next((x for x in self.joints if x.name == name.partition(".")[0]), None)
            if j is not None:
                spots.append(ScenePoint(self.skel.node(j.first), array(j.frame_first.at)))
        apart = [x for x in spots[1:] if np.linalg.norm(stage.spot(spots[0]) - stage.spot(x)) > 0.0]
        return [SceneLine(coupling.word, (spots[0], x), coupling.name, COUPLED) for x in apart]

    def _wheels(self) -> list[Wheel]:
        out = []
        for g in (x for x in self.description.ties if x.touching):
            for name, radius in g.wheels:
                j = self.description.joint(name)
                X = kinematics.pose_of(j.frame_second)
                if JOINTS[j.type].coordinate_kinds == ("angle",) and float(radius) > 0.0:
                    out.append(Wheel(ScenePoint(self.skel.node(j.second), X.p), X.R[:, 2], float(radius)))
        return out

    def _arrow(self, drive: Any) -> list[Arrow]:
        value = drive.value if drive.kind == "speed" and isinstance(drive.value, float | int) else 0.0
        sense = int(np.sign(value))
        between = lengths(self.description).get(drive.joint)
        if between is not None:
            a, b = (self._ref(r) for r in between)
            return [Arrow(drive.joint, False, a, np.zeros(3), b, sense)]
        j = self.description.joint(drive.joint)
        X = kinematics.pose_of(j.frame_first)
        node = self.skel.node(j.first)
        if JOINTS[j.type].coordinate_kinds == ("length",):
            for t in self.telescopes:
                if t.bodies == (j.first, j.second):
                    return [Arrow(j.name, False, t.ends[0], X.R[:, 0], t.ends[1], sense)]
            Y = kinematics.pose_of(j.frame_second)
            return [Arrow(j.name, False, ScenePoint(self.skel.node(j.second), Y.p), Y.R[:, 0], None, sense)]
        return [Arrow(j.name, True, ScenePoint(node, X.p), X.R[:, 2], None, sense)]

    # ---------------------------------------------------------------- over the cycle

    def trace(self, names: Any) -> list[tuple[str, np.ndarray]]:
        """(body, (n, 3) world positions over the cycle) of the points named `body.point`; None: those worth it."""
        chosen = [(body, spot) for body, _, spot in self.marks if body not in self.driven]
        if not self.marks:
            chosen = [(ref[0], self._ref(ref)) for ref in tips(self.description)]
        if names is not None:
            refs = [n.partition(".") for n in names]
            wrong = [n for n in names if "." not in n]
            if wrong:
                raise ChannelError(f"'{wrong[0]}' is not a point to trace. Write it as 'body.point'.", name=wrong[0])
            chosen = [(body, self._ref((body, point))) for body, _, point in refs]
        return [] if self.turn is None else [(body, self._path(spot)) for body, spot in chosen]

    def extent(self, at: Instant, *, whole_turn: bool) -> np.ndarray:
        """(n, 3): every place that is drawn, now or also over the cycle (thinned out)."""
        instants = [at, *self.turn._instants[:: max(1, len(self.turn) // 48)]] if whole_turn and self.turn is not None else [at]
        nodes: list[tuple[int, np.ndarray]] = [(p.node, dense(p.points)) for p in self.pieces]
        nodes += [(s.node, s.corner_points) for s in self.surfaces]
        nodes += [(w.spot.node, w.spot.at + w.radius * unit_circle(w.axis)) for w in self.wheels]
        nodes += [(c.node, p) for c in self.cams for p in (c.profile, c.outer) if p is not None]
        nodes += [(c.follower_node, c.rim) for c in self.cams]
        nodes += rims(self.belts)
        nodes += [(x.node, x.points) for x in self.outlines if not x.wall or len(x.points) > 2]
        nodes += [(s.node, s.at[None]) for t in self.telescopes for s in t.ends]
        nodes += [(s.node, s.at[None]) for t in self.lines for s in t.ends]
        nodes += [(p.spot.node, p.spot.at[None]) for p in self.pins]
        nodes += [(s.node, s.at[None]) for _, _, s in self.marks]
        nodes += [(g.node, dense(g.curve) @ g.frame.R.T + g.frame.p) for g in self.guides]
        stages = [Stage(self.skel, x) for x in instants]
        return np.concatenate([stage.place(node, points) for stage in stages for node, points in nodes] or [np.zeros((1, 3))])


# Sliding pairs of moving bodies: which of them are a barrel with its rod, and what joins a slot to its link.


def distinct(places: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Places that differ by more than round-off of their size."""
    every = [np.asarray(p, dtype=float) for p in places]
    size = float(np.ptp(np.array(every), axis=0).max()) or 1.0 if every else 1.0
    out: list[np.ndarray] = []
    for p in every:
        if all(np.linalg.norm(p - q) > 1e-6 * size for q in out):
            out.append(p)
    return out


def between_ends(ends: Sequence[np.ndarray], paths: Iterable[np.ndarray]) -> bool:
    """True if places never leave the line between two ends; all are (n, 3), over the same instants."""
    base, way = ends[0], ends[1] - ends[0]
    squared = np.sum(way * way, axis=1)
    shares = [np.sum((path - base) * way, axis=1) / squared for path in paths]
    return all(share.min() >= -tolerances.AT_END and share.max() <= 1.0 + tolerances.AT_END for share in shares)


def arm(pieces: Sequence[tuple[np.ndarray, bool]], rail: np.ndarray) -> np.ndarray | None:
    """(2, 3): the shortest line from a corner of a link's pieces (points, closed) to a place of its rail; None if they touch."""
    if not pieces:
        return None
    outline = np.concatenate([dense(np.vstack([p, p[:1]]) if closed else p) for p, closed in pieces])
    drawn = dense(dense(rail))
    size = float(np.ptp(np.concatenate([outline, drawn]), axis=0).max())
    gap = np.linalg.norm(outline[:, None] - drawn[None], axis=2).min()
    corners = np.concatenate([p for p, _ in pieces])
    i, k = np.unravel_index(np.argmin(np.linalg.norm(corners[:, None] - rail[None], axis=2)), (len(corners), len(rail)))
    line = np.array([corners[i], rail[k]])
    apart = 0.05  # gap between a slot and its link, as a share of their size, above which an arm is drawn
    if gap <= apart * size or any(closed and len(p) > 2 and inside(line, p) for p, closed in pieces):
        return None
    return line
