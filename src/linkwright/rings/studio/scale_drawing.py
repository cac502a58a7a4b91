"""A planar mechanism as a drawing to scale, in millimeters: paths, circles and texts on layers, which formats write as DXF or SVG.

    OUTLINES   links round their bearing eyes          LINKS    center lines through the pins, one a link
    PINS       holes                                   POINTS   marked points
    GROUND     bearings of the fixed pins              GUIDES   guides of the ground;  RODS  rods of constant length
    SPRINGS, CYLINDERS, GEARS, BELTS                   NAMES    pins and links by name
    CAMS       profiles, rollers and faces             CONSTRUCTION   base circle, pitch curve and center of a cam drawn alone
    PATHS      marked points over the cycle             POSITIONS   center lines over the cycle
    DIMENSIONS distances of pins on a link, on demand

Layers PINS, LINKS, POINTS, GROUND, GUIDES and RODS can be read back as a model (`exchange.reading.sketches`).

Dimension lines are distances of the pins of every link, at the side of the link with most room. A distance is measured along the link;
those of fixed pins along the axes of the drawing, as a plate is drilled. Numbers are in the length unit of the model. A distance that two
links share is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from linkwright.api import KINDS, UsageError, elements, quantity, unit_of, whole_number
from linkwright.rings.design.cams import designed
from linkwright.rings.design.link_dimensions import LinkDimension, link_dimensions
from linkwright.rings.studio.link_outline import Contour, circle_contour, flattened, link_outline
from linkwright.rings.studio.paper_sheet import nice_length
from linkwright.rings.studio.picture import turned
from linkwright.rings.studio.planar_drawing import coil
from linkwright.rings.studio.scene import BodyPiece, Scene, SceneGuide, Stage, dense

LAYER = "DIMENSIONS"
ROWS = (1.6, 2.9, 4.2, 5.5, 7.0, 8.5)  # distance of a dimension line from its link, widths of a link
WIDE = 0.62  # width of a letter over its height


@dataclass(frozen=True)
class DimensionLine:
    """A line from `a` to `b` (mm) with arrows, `text` along it; extension lines come from `p` and `q`."""

    p: np.ndarray
    q: np.ndarray
    a: np.ndarray
    b: np.ndarray
    text: str


def add_dimensions(out: ScaleDrawing, scene: Scene, stage: Stage, busy: np.ndarray) -> None:
    """Draw the dimensions of the links of a planar mechanism; `busy` are points on what is drawn already."""
    d = scene.skel.tree.description
    symbol_size = unit_of(d.units, "length")[1]
    taken, seen = [busy], set()
    middle = busy.mean(axis=0) if len(busy) else np.zeros(2)
    digits = 5  # of a distance
    for row in link_dimensions(d):
        node = scene.skel.node(row.body)
        p, q = (MM * stage.place(node, x)[:2] for x in (row.a, row.b))
        for direction in _directions(row, p, q, d.bodies[0].name):
            value = abs(float(direction @ (q - p)))
            key = (frozenset((tuple(np.round(p / out.width, 3)), tuple(np.round(q / out.width, 3)))), tuple(np.round(direction, 9)))
            if value < 1e-6 * out.width or key in seen:
                continue
            seen.add(key)
            text = f"{value / (MM * symbol_size):.{digits}g}"
            _draw(out, _placed(out, p, q, direction, text, middle, np.concatenate(taken)), taken)


def _directions(row: LinkDimension, p: np.ndarray, q: np.ndarray, ground: str) -> list[np.ndarray]:
    """Directions in which a distance is measured: along the link, for fixed pins along both axes."""
    if row.body != ground:
        return [(q - p) / np.linalg.norm(q - p)]
    return [np.array([1.0, 0.0]), np.array([0.0, 1.0])]


def _placed(
    out: ScaleDrawing, p: np.ndarray, q: np.ndarray, direction: np.ndarray, text: str, middle: np.ndarray, busy: np.ndarray
) -> DimensionLine:
    """The first place of those with the most room: on either side, outside first, in rows farther and farther away."""
    normal = np.array([-direction[1], direction[0]])
    outside = 1.0 if float(normal @ (0.5 * (p + q) - middle)) >= 0.0 else -1.0
    tried = []
    for row in ROWS:
        for side in (outside, -outside):
            n = side * normal
            level = max(float(n @ p), float(n @ q)) + row * out.width
            a, b = (x + n * (level - float(n @ x)) for x in (p, q))
            tried.append(DimensionLine(p, q, a, b, text))
    room = []
    for x in tried:
        away = np.linalg.norm(busy[:, None, :] - _outline(out, x)[None, :, :], axis=2).min()
        room.append(min(float(away), 0.55 * out.width))
    return tried[int(np.argmax(np.round(np.array(room) / (0.1 * out.width))))]


def _outline(out: ScaleDrawing, x: DimensionLine) -> np.ndarray:
    """Points on the line and round its text."""
    along, up = _axes(x)
    middle, half = 0.5 * (x.a + x.b) + 0.9 * out.letters * up, 0.5 * WIDE * out.letters * len(x.text)
    return np.vstack([dense(np.array([x.a, x.b]))[:, :2], middle + np.linspace(-half, half, 5)[:, None] * along])


def _axes(x: DimensionLine) -> tuple[np.ndarray, np.ndarray]:
    """Direction in which the text is read, from the left or from below, and up from it."""
    along = (x.b - x.a) / np.linalg.norm(x.b - x.a)
    if along[0] < -1e-9 or (abs(along[0]) <= 1e-9 and along[1] < 0.0):
        along = -along
    return along, np.array([-along[1], along[0]])


def _draw(out: ScaleDrawing, x: DimensionLine, taken: list[np.ndarray]) -> None:
    w = out.width
    long = float(np.linalg.norm(x.b - x.a))
    to_b = (x.b - x.a) / long
    arrow = 0.55  # length of an arrow, widths of a link
    outside = long < 3.0 * arrow * w  # no room between the extension lines: arrows point inwards from outside
    beyond = 0.35  # of an extension line past the dimension line
    for end, own, into in ((x.a, x.p, to_b), (x.b, x.q, -to_b)):
        reach = end - own
        size = float(np.linalg.norm(reach))
        if size > 0.0:
            out.line(LAYER, [own + reach * min(0.45 * w / size, 0.5), end + reach * (beyond * w / size)])
        back = end + (-into if outside else into) * arrow * w
        across = np.array([-into[1], into[0]]) * 0.16 * w
        out.line(LAYER, [end, back + across, back - across], closed=True)
    ends = [x.a - to_b * 1.8 * arrow * w, x.b + to_b * 1.8 * arrow * w] if outside else [x.a, x.b]
    out.line(LAYER, ends)
    along, up = _axes(x)
    half = 0.5 * WIDE * out.letters * len(x.text)
    at = 0.5 * (x.a + x.b) - half * along + 0.35 * out.letters * up
    out.text(at, x.text, LAYER, float(np.degrees(np.arctan2(along[1], along[0]))))
    taken.append(_outline(out, x))


STEPS = 360  # of the cycle that gives paths
WIDTH = 0.045  # of a link over the size of the mechanism
MOST_POSITIONS = 360
MM = 1e3
RIGID = {x.word for x in elements.ELEMENTS if x.constraint and x.looks.shape}  # elements that are drawn as lines of constant length

CROSS = 0.06  # half of the center's cross over the size of the profile


@dataclass(frozen=True)
class LayerStyle:
    """Look of a layer: color as #rrggbb and as DXF numbers it, line width in mm, dashes as shares of the width of a link."""

    color: str
    number: int
    weight: float
    dashes: tuple[float, ...] = ()


LAYERS: dict[str, LayerStyle] = {
    "POSITIONS": LayerStyle("#9aa3ad", 9, 0.13),
    "PATHS": LayerStyle("#1f5fae", 5, 0.25),
    "GUIDES": LayerStyle("#4d565f", 8, 0.35),
    "GROUND": LayerStyle("#4d565f", 8, 0.25),
    "SPRINGS": LayerStyle("#2f7d4f", 3, 0.25),
    "CYLINDERS": LayerStyle("#2f7d4f", 3, 0.35),
    "CONSTRUCTION": LayerStyle("#8a5a00", 30, 0.18, (0.8, 0.2, 0.1, 0.2)),
    "CAMS": LayerStyle("#202428", 7, 0.5),
    "SURFACES": LayerStyle("#202428", 7, 0.35),
    "GEARS": LayerStyle("#8a5a00", 30, 0.18, (0.8, 0.2, 0.1, 0.2)),
    "BELTS": LayerStyle("#8a5a00", 30, 0.35),
    "RODS": LayerStyle("#202428", 7, 0.35),
    "OUTLINES": LayerStyle("#202428", 7, 0.5),
    "LINKS": LayerStyle("#b3261e", 1, 0.18, (0.8, 0.2, 0.1, 0.2)),
    "PINS": LayerStyle("#202428", 7, 0.35),
    "POINTS": LayerStyle("#1f5fae", 5, 0.25),
    "DIMENSIONS": LayerStyle("#5b4a9c", 6, 0.13),
    "NAMES": LayerStyle("#202428", 7, 0.18),
}


@dataclass(frozen=True)
class DrawnPath:
    """A row of (x, y, bulge) on a layer, mm."""

    layer: str
    contour: Contour
    closed: bool
    name: str = ""


@dataclass(frozen=True)
class DrawnCircle:
    layer: str
    at: tuple[float, float]
    radius: float  # 0: a point
    name: str = ""


@dataclass(frozen=True)
class DrawnText:
    layer: str
    at: tuple[float, float]
    height: float
    text: str
    angle: float = 0.0  # degrees


@dataclass
class ScaleDrawing:
    """Things of a drawing in mm, y up; `width` is that of a link."""

    name: str
    width: float
    bore: float
    things: list[DrawnPath | DrawnCircle | DrawnText] = field(default_factory=list)

    def line(self, layer: str, points: Any, name: str = "", closed: bool = False) -> None:
        contour = [(float(p[0]), float(p[1]), 0.0) for p in np.asarray(points)]
        self.things.append(DrawnPath(layer, contour, closed, name))

    def circle(self, layer: str, at: Any, radius: float, name: str = "") -> None:
        self.things.append(DrawnCircle(layer, (float(at[0]), float(at[1])), radius, name))

    def text(self, at: Any, text: str, layer: str = "NAMES", angle: float = 0.0) -> None:
        self.things.append(DrawnText(layer, (float(at[0]), float(at[1])), self.letters, text, angle))

    @property
    def letters(self) -> float:
        """Height of letters."""
        return 0.5 * self.width

    @property
    def used_layers(self) -> list[str]:
        return [name for name in LAYERS if any(x.layer == name for x in self.things)]

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the rectangle round everything; raise UsageError where nothing is drawn."""
        if not self.things:
            raise UsageError(
                "there is nothing to draw: the model has no links, pins or points. Add `drawing:` and `bodies:`.", name="drawing"
            )
        every: list[np.ndarray] = []
        for x in self.things:
            if isinstance(x, DrawnPath):
                every.append(flattened(x.contour) if x.closed else np.array([c[:2] for c in x.contour]))
            elif isinstance(x, DrawnCircle):
                every.append(np.array(x.at) + x.radius * np.array([[1.0, 1.0], [-1.0, -1.0]]))
            else:
                a, w = np.radians(x.angle), 0.7 * len(x.text)
                corners = x.height * np.array([[0.0, 0.0], [w, 0.0], [w, 1.0], [0.0, 1.0]])
                every.append(np.array(x.at) + corners @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]))
        whole = np.concatenate(every)
        return whole.min(axis=0), whole.max(axis=0)


def scale_drawing(
    mechanism: Any,
    *,
    positions: int = 8,
    trace: Sequence[str] | None = None,
    width: Any = None,
    bore: Any = None,
    dimensions: bool = False,
    cam: str | None = None,
) -> ScaleDrawing:
    """Return the drawing of a planar Mechanism at its start, or the profile of a `cam` alone. `positions`: center lines at that many places
    of the cycle; `trace`: points whose paths are drawn (default: marked ones); `width` of the links and `bore` of their eyes (lengths;
    default by size); `dimensions`: distances of the pins of every link."""
    system = getattr(mechanism, "system", mechanism)
    if cam is not None:
        return add_profile(lambda name, wide: ScaleDrawing(name, wide, 0.5 * wide), system, cam, _length(bore, "bore"))
    if not system.description.planar:
        raise UsageError("drawings to scale are of planar mechanisms. This one is spatial. See it with m.show().", name="plane")
    whole_number(positions, "positions", 0, MOST_POSITIONS)
    turn = turned(system, STEPS) if positions or trace is None or len(trace) else None
    scene = Scene(system, turn)
    size = MM * float(np.ptp(scene.extent(scene.start, whole_turn=False)[:, :2], axis=0).max())
    shortest = min((MM * _least(p) for p in scene.pieces), default=size)
    wide = _length(width, "width") or nice_length(max(min(WIDTH * size, 0.6 * shortest), 1e-6))
    hole = _length(bore, "bore") or 0.5 * wide
    if not hole < wide:
        raise UsageError(f"the bore of an eye, {hole:.6g} mm, must be smaller than the width of a link, {wide:.6g} mm.", name="bore")
    out = ScaleDrawing(system.description.name, wide, hole)
    if turn is not None and positions:
        whole = turn.full_turn
        count = len(turn) - 1 if whole else len(turn)
        for k in dict.fromkeys(np.linspace(0, count, positions, endpoint=not whole).astype(int).clip(0, len(turn) - 1).tolist()):
            _center_lines(out, scene, Stage(scene.skel, turn._instants[k]), "POSITIONS")
    for body, path in scene.trace(trace):
        closed = turn is not None and bool(turn.full_turn)
        out.line("PATHS", MM * (path[:-1] if closed else path), body, closed)
    stage = Stage(scene.skel, scene.start)
    _surroundings(out, scene, stage)
    _links(out, scene, stage)
    busy = _names(out, scene, stage)
    if dimensions:

        add_dimensions(out, scene, stage, busy)
    return out


def _length(given: Any, what: str) -> float | None:
    """A length in mm, None where none is given; a bare number is in mm."""
    if given is None:
        return None
    plain = isinstance(given, (int, float)) or str(given).strip().replace(".", "", 1).isdigit()
    value = MM * quantity(f"{given} mm" if plain else given, KINDS["length"], what)
    if not value > 0.0:
        raise UsageError(f"{what} is a length above 0, such as 20 mm, not {given}.", name=what, value=given)
    return value


def _least(piece: BodyPiece) -> float:
    """Shortest bar of a piece."""
    steps = np.diff(np.vstack([piece.points, piece.points[:1]]) if piece.closed else piece.points, axis=0)
    return float(np.linalg.norm(steps, axis=1).min())


def _center_lines(out: ScaleDrawing, scene: Scene, stage: Stage, layer: str) -> None:
    for piece in scene.pieces:
        out.line(layer, MM * stage.place(piece.node, piece.points), piece.body, piece.closed)
    for t in scene.telescopes:
        if layer != "LINKS":
            out.line(layer, MM * np.array([stage.spot(end) for end in t.ends]))


def _links(out: ScaleDrawing, scene: Scene, stage: Stage) -> None:
    for piece in scene.pieces:
        radius = 0.0 if piece.solid else 0.5 * out.width
        for contour in link_outline(MM * stage.place(piece.node, piece.points), piece.closed, radius):
            out.things.append(DrawnPath("OUTLINES", contour, True, piece.body))
    _center_lines(out, scene, stage, "LINKS")
    drawn: list[np.ndarray] = []
    for pin in scene.pins:
        at = MM * stage.spot(pin.spot)[:2]
        if pin.joint is None or any(np.linalg.norm(at - x) < 1e-6 * out.width for x in drawn):
            continue
        drawn.append(at)
        out.circle("PINS", at, 0.5 * out.bore, pin.name)
        if pin.grounded:
            _bearing(out, at, _down(scene))
    for _, name, spot in scene.marks:
        out.circle("POINTS", MM * stage.spot(spot), 0.0, name)


def _down(scene: Scene) -> np.ndarray:
    g = np.asarray(scene.skel.gravity[:2], dtype=float)
    size = float(np.linalg.norm(g))
    return g / size if size > 0.0 else np.array([0.0, -1.0])


def _bearing(out: ScaleDrawing, at: np.ndarray, down: np.ndarray) -> None:
    """A fixed pin: a triangle with its tip at the pin, on a hatched line."""
    w, side = out.width, np.array([-down[1], down[0]])
    foot = at + 1.3 * w * down
    out.line("GROUND", [at, foot - 0.75 * w * side, foot + 0.75 * w * side], closed=True)
    out.line("GROUND", [foot - 1.15 * w * side, foot + 1.15 * w * side])
    for k in np.linspace(-0.95, 1.15, 7):
        out.line("GROUND", [foot + k * w * side, foot + (k - 0.28) * w * side + 0.3 * w * down])


def _surroundings(out: ScaleDrawing, scene: Scene, stage: Stage) -> None:
    """Guides, rods, springs, cylinders, cams, gears and belts."""
    for g in scene.guides:
        _guide(out, stage, g)
    for x in scene.lines:
        a, b = (MM * stage.spot(end) for end in x.ends)
        if x.kind in RIGID:
            out.line("RODS", [a, b], x.name)
        else:
            out.line("SPRINGS", coil(a, b, 0.3 * out.width) if x.looks.shape == "coil" else np.array([a, b]), x.name)
        for radius in (0.6, 1.1) if x.looks.shape == "ring" else ():
            out.circle("SPRINGS", 0.5 * (a + b), radius * out.width)
    for t in scene.telescopes:
        a, b = (MM * stage.spot(end)[:2] for end in t.ends)
        d = (b - a) / (float(np.linalg.norm(b - a)) or 1.0)
        n = 0.5 * out.width * np.array([-d[1], d[0]])
        end = a + MM * t.barrel * d
        out.line("CYLINDERS", [a + n, end + n, end - n, a - n], t.name, closed=True)
        out.line("CYLINDERS", [a, b], t.name)
    add_cams(out, scene, stage)
    for x in scene.outlines:
        out.line("SURFACES", MM * stage.place(x.node, x.points), x.name, x.closed)
    for wheel in scene.wheels:
        out.circle("GEARS", MM * stage.spot(wheel.spot), MM * float(wheel.radius))
    for belt in scene.belts:
        out.line("BELTS", MM * belt.path(stage), belt.name)
        for spot, radius in zip(belt.spots, belt.radii, strict=True):
            if radius > 0.0:
                out.circle("GEARS", MM * stage.spot(spot), MM * radius)


def _guide(out: ScaleDrawing, stage: Stage, g: SceneGuide) -> None:
    X = stage.pose(g.node)
    track = g.extended(1.5 * out.width / MM) @ np.asarray(g.frame.R, dtype=float).T + g.frame.p
    out.line("GUIDES" if g.node < 0 else "OUTLINES", MM * stage.place(g.node, track), g.joint.name)
    block = stage.pose(g.block) @ g.block_frame
    at = MM * block.p[:2]
    if g.turns:
        out.things.append(DrawnPath("OUTLINES", circle_contour(at, 0.5 * out.width), True, g.joint.name))
        return
    x = (X.R @ g.frame.R @ g.tangent((block.p - X.p) @ X.R @ g.frame.R))[:2]
    y = np.array([-x[1], x[0]])
    corners = [at + out.width * (0.9 * sx * x + 0.6 * sy * y) for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    out.line("OUTLINES", corners, g.joint.second, closed=True)


def _names(out: ScaleDrawing, scene: Scene, stage: Stage) -> np.ndarray:
    """Write names where there is room beside pins, and beside the middle of links; return points on all that is drawn."""
    w, busy = out.width, [MM * stage.spot(p.spot)[None, :2] for p in scene.pins]
    for p in scene.pieces:
        busy.append(MM * dense(stage.place(p.node, np.vstack([p.points, p.points[:1]]) if p.closed else p.points))[:, :2])
    seen: list[np.ndarray] = []
    places = [(p.name, MM * stage.spot(p.spot)[:2]) for p in scene.pins if p.joint is not None]
    for name, at in [*places, *((name, MM * stage.spot(spot)[:2]) for _, name, spot in scene.marks)]:
        if all(np.linalg.norm(at - x) > 1e-6 * w for x in seen):
            seen.append(at)
            half = _half(out, name)
            rays = [np.array([np.cos(a), np.sin(a)]) for a in np.radians((35, 145, 0, 180, 90, 325, 215, 60, 120))]
            _write(out, name, [at + d * (0.62 * w + abs(d[0]) * half[0] + abs(d[1]) * half[1]) for d in rays], busy)
    named: set[str] = set()
    for piece in scene.pieces:
        if piece.body in named:
            continue
        named.add(piece.body)
        points = MM * stage.place(piece.node, piece.points)[:, :2]
        half, tried = _half(out, piece.body), []
        for a, b in pairwise([*points, *(points[:1] if piece.closed else ())]):
            d = (b - a) / (float(np.linalg.norm(b - a)) or 1.0)
            n = np.array([-d[1], d[0]])
            reach = 0.6 * w + abs(n[0]) * half[0] + abs(n[1]) * half[1]
            tried += [a + s * (b - a) + side * reach * n for s in (0.5, 0.4, 0.6, 0.3, 0.7) for side in (1.0, -1.0)]
        _write(out, piece.body, tried, busy)
    return np.concatenate([np.zeros((0, 2)), *busy])


def _half(out: ScaleDrawing, text: str) -> np.ndarray:
    """Half of the sides of a text, mm."""
    return np.array([0.35 * len(text), 0.5]) * out.letters


def _write(out: ScaleDrawing, text: str, centers: Sequence[np.ndarray], busy: list[np.ndarray]) -> None:
    """Write a text at the first of the places with the most room round it."""
    half, obstacles = _half(out, text), np.concatenate([np.zeros((0, 2)), *busy])
    room = []
    for c in centers:
        away = np.maximum(np.abs(obstacles - c) - half, 0.0)
        room.append(float(np.hypot(*away.T).min(initial=0.5 * out.width)))
    best = centers[int(np.argmax(np.round(np.array(room) / (0.05 * out.width))))]
    out.text(best - half, text)
    busy.append(best + half * np.array([[-1, -1], [1, 1], [-1, 1], [1, -1], [0, 0], [0.5, 0], [-0.5, 0]]))


# Cams in drawings to scale: within the mechanism, and the profile of one alone in the axes of its disc.


def add_cams(out: Any, scene: Scene, stage: Stage) -> None:
    """Draw profiles, rollers and faces of all cams."""
    for cam in scene.cams:
        for curve in (cam.profile, cam.outer):
            if curve is not None:
                out.line("CAMS", MM * stage.place(cam.node, curve), cam.name, cam.closed)
        if cam.face is not None:
            out.line("CAMS", MM * stage.place(cam.follower_node, cam.face), cam.name)
        if cam.roller is not None:
            out.circle("CAMS", MM * stage.place(cam.follower_node, cam.roller[0]), MM * cam.radius, cam.name)


def add_profile(empty: Any, system: Any, name: str, hole: float | None) -> Any:
    """Draw the profile of a cam about the center of its hinge, with base circle, pitch curve and a `hole` (diameter, mm), on the drawing
    that `empty(name, width of a line's dashes)` makes."""
    cam = designed(system, name)
    size = MM * float(np.ptp(cam.profile, axis=0).max())
    out = empty(f"{system.description.name}, {cam.name}", nice_length(CROSS * size))
    last = -1 if cam.closed else None  # a closed line does not repeat its first point
    for curve in (cam.profile, cam.outer):
        if curve is not None:
            out.line("CAMS", MM * curve[:last], cam.name, cam.closed)
    if hole is not None:
        out.circle("CAMS", (0.0, 0.0), 0.5 * hole)
    out.circle("CONSTRUCTION", (0.0, 0.0), MM * cam.base)
    if cam.roller:
        out.line("CONSTRUCTION", MM * cam.pitch[:last], "", cam.closed)
    for axis in np.eye(2):
        out.line("CONSTRUCTION", [-CROSS * size * axis, CROSS * size * axis])
    return out
