"""The `belts:` section: belts and chains `around:` pulleys, ropes along a `path:` with two ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from linkwright import elements
from linkwright.elements import Belt, Pulley
from linkwright.elements.belt import PULLEY
from linkwright.errors import listing
from linkwright.joints import JOINTS, is_hinge
from linkwright.model.description import GROUND, Vec3
from linkwright.model.file.elements import Elements
from linkwright.model.file.geometry import add, rotate, transpose
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import atan2, sqrt
from linkwright.text.units import FORCE, LENGTH, NONE

TURNS = {"ccw": 1.0, "cw": -1.0}
EIGHTH = math.pi / 4.0


class _Place(NamedTuple):
    """A pulley as it is written: what it is on, its radius, its center in the drawing, and its entry."""

    pulley: Pulley
    radius: Any
    center: tuple[Any, Any]
    node: FileNode


class _DrawnSpan(NamedTuple):
    """A span in the drawing."""

    length: Any
    u: tuple[Any, Any]


def read_belt(reader: Elements, name: str, entry: FileNode) -> Belt:
    """Read a belt, chain or rope."""
    if not reader.context.planar:
        raise entry.error(
            "belts are planar: write `plane: xy` (without `space: true`), or couplings with the ratio of the wheels.", name="belt"
        )
    return _BeltReader(reader, name, entry).belt()


class _BeltReader:
    """Reads one belt."""

    def __init__(self, reader: Elements, name: str, entry: FileNode):
        self.reader, self.context, self.name, self.entry = reader, reader.context, name, entry
        self.what = f"belt '{name}'"
        self.keys = entry.keys(self.what, elements.keys(Belt))
        if name in reader.joints or name in reader.shapes:
            raise entry.error(f"{self.what} has the name of a joint or body, and channels could mean either. Rename one.", name=self.what)
        if ("around" in self.keys) == ("path" in self.keys):
            raise entry.error(
                f"{self.what} runs `around:` pulleys, or is a rope along a `path:` with two ends. Give one of them.", name=self.what
            )
        self.closed = "around" in self.keys

    def _slack(self) -> bool:
        slack = self.keys["slack"].flag(f"{self.what}: slack") if "slack" in self.keys else False
        if slack and self.closed:
            raise self.keys["slack"].error(
                f"{self.what}: a closed belt is pretensioned and not slack. Give a rope by `path:`.", name=self.what
            )
        return slack

    def belt(self) -> Belt:
        key = "around" if self.closed else "path"
        items = self.keys[key].sequence(f"{self.what}: {key}")
        if len(items) < 2:
            raise self.keys[key].error(f"{self.what}: {key} needs two or more entries, not {len(items)}.", name=self.what)
        common = self._common_body(items)
        places = [self._place(x, common) for x in items]
        places = self._sided(places)
        carrier = self._carrier(places)
        numeric = [_span(self._numbers(a), self._numbers(b)) for a, b in self._pairs(places)]
        pulleys = self._directed(places, numeric)
        belt = Belt(self.name, pulleys, tuple(p.radius for p in places), (), self.closed, carrier, self._pretension(carrier),
                    self._length(carrier), self._pitch(), self.entry.where, self._slack(),
                    self.reader.restitution(self.keys, self.what))  # fmt: skip
        if carrier and not belt.rows:
            raise self.entry.error(
                f"{self.what} turns one pulley only, so it transmits nothing: name the `joint:` of two pulleys.", name=self.what
            )
        return belt if carrier else replace(belt, rests=self._rests(belt, places, numeric))

    # ---------------------------------------------------------------- pulleys

    def _common_body(self, items: Sequence[FileNode]) -> str:
        """The body that all hinges share, which carries their pulleys; empty if there is none."""
        names = [x.entries["joint"].string(self.what) for x in items if x.entries is not None and "joint" in x.entries]
        known = [self.reader.joints[n] for n in names if n in self.reader.joints]
        shared = set.intersection(*({j.first, j.second} for j in known)) if known else set()
        return shared.pop() if len(shared) == 1 else GROUND if GROUND in shared else ""

    def _place(self, node: FileNode, common: str) -> _Place:
        if node.entries is None:
            body, point = self.context.point_ref(node, self.reader.points, self.what)
            return _Place(Pulley(body, body, point=point), 0.0, self._drawn(body, self.reader.shapes[body].points[point]), node)
        keys = node.keys(f"{self.what}: a pulley", tuple(PULLEY))
        if ("joint" in keys) == ("at" in keys):
            raise node.error(
                f"{self.what}: a pulley turns on the hinge `joint:`, or is a sheave without friction `at:` a point. Give one.",
                name=self.what,
            )
        turn = self._turn(keys)
        radius = self._radius(keys, node)
        if "at" in keys:
            if "body" in keys:
                raise keys["body"].error(f"{self.what}: `at:` names the body already, take out `body`.", name=self.what)
            body, point = self.context.point_ref(keys["at"], self.reader.points, self.what)
            center = self._drawn(body, self.reader.shapes[body].points[point])
            return _Place(Pulley(body, body, point=point, turn=turn), radius, center, node)
        return self._on_hinge(keys, common, turn, radius, node)

    def _on_hinge(self, keys: dict[str, FileNode], common: str, turn: float, radius: Any, node: FileNode) -> _Place:
        name = self.reader.joint(keys["joint"], self.what)
        joint = self.reader.joints[name]
        if not is_hinge(JOINTS[joint.type]):
            raise keys["joint"].error(f"{self.what}: joint '{name}' is {joint.type}. Pulleys turn on hinges.", name=name)
        ends = (joint.first, joint.second)
        if any(body not in self.reader.shapes for body in ends):
            raise keys["joint"].error(
                f"{self.what}: joint '{name}' is inside a chain of joints. Pulleys need bodies of their own.", name=name
            )
        if "body" in keys:
            body = keys["body"].string(f"{self.what}: body")
            if body not in ends:
                raise keys["body"].error(f"{self.what}: joint '{name}' joins {listing(ends)}, not '{body}'.", name=name, value=body)
        else:
            body = next((b for b in ends if b != common), joint.second) if common in ends else joint.second
        carrier = joint.first if body == joint.second else joint.second
        frame = joint.frame_first if carrier == joint.first else joint.frame_second
        return _Place(Pulley(body, carrier, joint=name, turn=turn), radius, self._drawn(carrier, frame.at), node)

    def _turn(self, keys: dict[str, FileNode]) -> float:
        """1, -1, or 0 where it is left to the drawing."""
        if "turn" not in keys:
            return 0.0
        text = keys["turn"].string(f"{self.what}: turn")
        if text not in TURNS:
            raise keys["turn"].error(
                f"{self.what}: turn is ccw (counterclockwise) or cw as the belt runs, not '{text}'.", name=self.what, value=text
            )
        return TURNS[text]

    def _radius(self, keys: dict[str, FileNode], node: FileNode) -> Any:
        if "teeth" in keys:
            if "radius" in keys or "pitch" not in self.keys:
                raise keys["teeth"].error(f"{self.what}: `teeth` need the `pitch:` of the belt or chain, and no `radius`.", name=self.what)
            teeth = self.reader.positive(keys, "teeth", NONE, self.what)
            return teeth * self.reader.positive(self.keys, "pitch", LENGTH, self.what) / (2.0 * math.pi)
        if "radius" not in keys:
            raise node.error(
                f"{self.what}: a pulley needs its `radius:` to the middle of the belt, or `teeth:` and the belt a `pitch:`.", name=self.what
            )
        return self.reader.positive(keys, "radius", LENGTH, self.what)

    def _drawn(self, body: str, local: Vec3) -> tuple[Any, Any]:
        """A place on a body in the drawing."""
        shape = self.reader.shapes[body]
        shape.turned = True
        own = local if self.context.in_symbols else self.context.numerics(local)
        x, y, _ = add(shape.pose.at, rotate(shape.pose.rotation, own))
        return x, y

    # ---------------------------------------------------------------- sides

    def _numbers(self, p: _Place) -> _Place:
        """The place in numbers."""
        x, y = (self.context.numeric(c) for c in p.center)
        return p._replace(radius=self.context.numeric(p.radius), center=(x, y))

    def _pairs(self, places: Sequence[_Place]) -> list[tuple[_Place, _Place]]:
        following = [*places[1:], places[0]] if self.closed else places[1:]
        return list(zip(places[: len(following)], following, strict=True))

    def _sided(self, places: list[_Place]) -> list[_Place]:
        """The places with the side on which the belt passes them: as written, or as the path bends in the drawing."""
        crossed = "crossed" in self.keys and self.keys["crossed"].flag(f"{self.what}: crossed")
        if crossed and (not self.closed or len(places) != 2):
            raise self.keys["crossed"].error(
                f"{self.what}: a crossed belt runs `around:` two pulleys. Other belts have `turn:` at pulleys.", name=self.what
            )
        out = []
        for i, p in enumerate(places):
            end = not self.closed and i in (0, len(places) - 1)
            turn = p.pulley.turn
            if end and p.node.entries is not None and not turn:
                point = (
                    ""
                    if p.pulley.joint
                    else f"; a rope that is fastened at a point has no radius there: `{p.pulley.body}.{p.pulley.point}`"
                )
                raise p.node.error(
                    f"{self.what}: give the direction in which the rope is wound on the drum at its end, `turn: ccw` or `turn: cw`{point}.",
                    name=self.what,
                )
            if not turn and not end and self.context.numeric(p.radius) > 0.0:
                turn = (-1.0 if crossed and i else 1.0) if self.closed and len(places) == 2 else self._bend(places, i)
            out.append(p._replace(pulley=replace(p.pulley, turn=turn)))
        return out

    def _bend(self, places: list[_Place], i: int) -> float:
        n = len(places)
        (ax, ay), (bx, by), (cx, cy) = (self._numbers(places[k % n]).center for k in (i - 1, i, i + 1))
        bend = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
        straight = 1e-9  # share of the distances: a path that bends by less does not say on which side it passes a pulley
        if abs(bend) <= straight * (math.hypot(bx - ax, by - ay) * math.hypot(cx - bx, cy - by) + 1e-300):
            raise places[i].node.error(
                f"{self.what}: in the drawing the pulley and its neighbors are on one line, so the belt may pass it on either side. "
                "Write `turn: ccw` or `turn: cw`.",
                name=self.what,
            )
        return math.copysign(1.0, bend)

    def _carrier(self, places: Sequence[_Place]) -> str:
        """The body that carries all pulleys of a closed belt."""
        found = {p.pulley.carrier for p in places}
        return found.pop() if self.closed and len(found) == 1 else ""

    def _directed(self, places: Sequence[_Place], spans: Sequence[_DrawnSpan]) -> tuple[Pulley, ...]:
        """The pulleys with the directions of the spans before and after them, in eighths of a turn in the axes of their carriers."""
        out = []
        for i, p in enumerate(places):
            before = spans[i - 1] if i or self.closed else spans[0]
            after = spans[i] if i < len(spans) else spans[-1]
            out.append(replace(p.pulley, toward=(self._eighth(p, before), self._eighth(p, after))))
        for (a, b), span in zip(self._pairs(places), spans, strict=True):
            if not span.length > 0.0:
                one, two = (self._numbers(x) for x in (a, b))
                apart = math.dist(one.center, two.center)
                raise b.node.error(
                    f"{self.what}: two pulleys that follow each other overlap: the centers are {self.context.shown(apart, LENGTH)} apart, "
                    f"their radii {self.context.shown(a.radius, LENGTH)} and {self.context.shown(b.radius, LENGTH)}.",
                    name=self.what,
                )
        return tuple(out)

    def _eighth(self, p: _Place, span: _DrawnSpan) -> int:
        x, y = self._in_carrier(p, span.u)
        angle = math.atan2(self.context.numeric(y), self.context.numeric(x))
        return round(angle / EIGHTH) % 8

    def _in_carrier(self, p: _Place, u: tuple[Any, Any]) -> tuple[Any, Any]:
        rotation = self.reader.shapes[p.pulley.carrier].pose.rotation
        x, y, _ = rotate(transpose(rotation), (u[0], u[1], 0.0))
        return x, y

    # ---------------------------------------------------------------- numbers

    def _pretension(self, carrier: str) -> Any:
        if "pretension" not in self.keys:
            return None
        if not carrier:
            raise self.keys["pretension"].error(
                f"{self.what}: its tension follows from what hangs on it or tightens it. `pretension` is for closed belts whose pulleys "
                "one body carries.",
                name=self.what,
            )
        return self.reader.value(self.keys, "pretension", FORCE, self.what, least=0.0)

    def _length(self, carrier: str) -> Any:
        return self.reader.positive(self.keys, "length", LENGTH, self.what) if "length" in self.keys else None

    def _pitch(self) -> Any:
        return self.reader.positive(self.keys, "pitch", LENGTH, self.what) if "pitch" in self.keys else None

    def _rests(self, belt: Belt, places: Sequence[_Place], numeric: Sequence[_DrawnSpan]) -> tuple[Any, ...]:
        """Lengths of the parts in the drawing, counted from the directions of the pulleys; a given length is that of the whole belt."""
        drawn = [_span(a, b) for a, b in self._pairs(places)] if self.context.in_symbols else list(numeric)
        own = places if self.context.in_symbols else [self._numbers(p) for p in places]
        out: list[Any] = []
        for part in belt.parts:
            total: Any = 0.0
            for k in part:
                i, j = belt.spans[k]
                total = total + drawn[k].length + self._bent(belt, own, i, drawn[k].u, 1) - self._bent(belt, own, j, drawn[k].u, 0)
            out.append(total)
        if belt.length is not None:
            out[-1] = out[-1] + belt.length - self._path(belt, own, drawn)
        return tuple(out)

    def _bent(self, belt: Belt, places: Sequence[_Place], i: int, u: tuple[Any, Any], side: int) -> Any:
        p = belt.pulleys[i]
        if p.turn == 0.0:
            return 0.0
        x, y = self._in_carrier(places[i], u)
        angle = EIGHTH * p.toward[side]
        c, s = math.cos(angle), math.sin(angle)
        return p.turn * places[i].radius * atan2(c * y - s * x, c * x + s * y)

    def _path(self, belt: Belt, places: Sequence[_Place], drawn: Sequence[_DrawnSpan]) -> Any:
        """Length of the whole belt in the drawing, without what is wound on drums at its ends."""
        total: Any = sum((x.length for x in drawn), 0.0)
        for i, p in enumerate(belt.pulleys):
            if p.turn and (self.closed or 0 < i < len(places) - 1):
                (ax, ay), (bx, by) = drawn[i - 1].u, drawn[i].u
                angle = p.turn * atan2(ax * by - ay * bx, ax * bx + ay * by)
                whole = 2.0 * math.pi if self.context.numeric(angle) < 0.0 else 0.0
                total = total + places[i].radius * (angle + whole)
        return total


def _span(a: _Place, b: _Place) -> _DrawnSpan:
    """The straight piece between two pulleys; a length of zero where they overlap."""
    dx, dy = b.center[0] - a.center[0], b.center[1] - a.center[1]
    h = b.pulley.turn * b.radius - a.pulley.turn * a.radius
    square = dx * dx + dy * dy
    if isinstance(square, float) and isinstance(h, float) and square <= h * h:
        return _DrawnSpan(0.0, (1.0, 0.0))
    length = sqrt(square - h * h)
    return _DrawnSpan(length, ((length * dx + h * dy) / square, (length * dy - h * dx) / square))
