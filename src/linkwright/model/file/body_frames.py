"""From the drawing to bodies: where the points of each body are in its own frame.

A shape is drawn (its points are taken from the drawing, the frame has its origin at the first pin
and x toward the second) or exact (`along`, `sides`, own `points`): then the drawing is only the
sketch that says roughly where the body starts. Coordinates stay expressions where the file has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from linkwright.errors import listing, nearest
from linkwright.model.description import EYE3, GROUND, ZERO3, Mat3, Placement, Vec3
from linkwright.model.file.geometry import add, frame_along, length, matrix, rotate, scale, sub, transpose, vector
from linkwright.model.file.reading_context import POSE_KEYS, Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import Expr, sqrt
from linkwright.text.units import LENGTH

FAR_FROM_DRAWN = 3.0  # a sketch may be rough, but not by this factor
SHAPE_KEYS = ("pins", "points", "along", "sides", "outline")


@dataclass
class Shape:
    """The points of a body, its frame in the drawing, and which points are pins."""

    name: str
    node: FileNode
    points: dict[str, Vec3] = field(default_factory=dict)  # in the body's frame
    axes: dict[str, Mat3] = field(default_factory=dict)  # of points that carry some
    pins: list[str] = field(default_factory=list)
    exact: bool = False
    stations: list[str] = field(default_factory=list)  # names of `along`, in order of station
    at: Vec3 = ZERO3  # the frame in the drawing; expressions only for drawn shapes
    rotation: Mat3 = EYE3
    start: Placement = Placement()
    pose: Placement = Placement()  # the same, in symbols with expressions of the drawing
    fitted: tuple[str, ...] = ()  # drawn points from which a pose in space was found, which has no expression
    turned: bool = False  # something was carried over from the drawing by its pose

    def to_local(self, position: Vec3) -> Vec3:
        """A drawn position in the body's frame."""
        self.turned = True
        return rotate(transpose(self.rotation), sub(position, self.at))

    def own_place(self, position: Vec3, node: FileNode, what: str) -> Vec3:
        """A place that a file gives in the drawing's axes; refuse one that could as well be in the body's."""
        if not self.points and (self.at, self.rotation) != (ZERO3, EYE3):
            raise node.error(
                f"{what}: body '{self.name}' has no points and `guess` moves it, so these coordinates could be in its own axes or in the "
                "axes of the drawing. Write `points: {}` for its own, or draw the place and name it: `points: [G]`, `com: G`.",
                name=self.name,
            )
        return self.to_local(position)

    def direction_to_local(self, direction: Vec3) -> Vec3:
        self.turned = True
        return rotate(transpose(self.rotation), direction)

    def own_direction(self, direction: Vec3) -> Vec3:
        """A direction that a file gives in the body's axes, or of a drawn body in the axes of the drawing."""
        return direction if self.exact else self.direction_to_local(direction)

    def point_axes(self, name: str) -> Mat3:
        return self.axes.get(name, EYE3)


def read_shape(context: Context, name: str, node: FileNode, entries: dict[str, FileNode]) -> Shape:
    """The shape of one body."""
    shape = Shape(name, node)
    shape.pins = _names(context, entries.get("pins"), f"{name}: pins")
    ways = [k for k in ("along", "sides") if k in entries]
    if len(ways) == 2:
        raise entries["sides"].error(
            f"body '{name}' has both `along` and `sides`. A bar has stations, a triangle has sides: keep one.", name=name
        )
    if ways and name == GROUND:
        raise entries[ways[0]].error(
            f"ground is the drawing itself: place its pins in `drawing:` or as `points: {{A: [0, 0]}}`, not by `{ways[0]}`.", name="drawing"
        )
    if "along" in entries:
        _along(context, shape, entries["along"])
    elif "sides" in entries:
        _sides(context, shape, entries)
    marked = _points(context, shape, entries.get("points"), by_sides="sides" in entries)
    if name == GROUND:
        _ground(context, shape, marked)
    elif shape.exact or any(p in shape.points for p in shape.pins) or (_listed(entries) and not shape.pins and not marked):
        _exact(context, shape, marked)
    else:
        _drawn(context, shape, marked)
    return shape


def _listed(entries: dict[str, FileNode]) -> bool:
    """True if a body lists points of its own, none perhaps: then it has coordinates of its own."""
    return "points" in entries and entries["points"].entries is not None


def _names(context: Context, node: FileNode | None, what: str) -> list[str]:
    if node is None or node.text == "":
        return []
    names: list[str] = []
    for item in node.sequence(what):
        name = item.string(what)
        if name in names:
            raise item.error(f"{what}: '{name}' is listed twice. Remove one.", name=name)
        names.append(context.check_name(name, item, "point"))
    return names


def _points(context: Context, shape: Shape, node: FileNode | None, by_sides: bool) -> list[str]:
    """Own coordinates go into the shape; the names that the drawing must place are returned."""
    if node is None or node.text == "":
        return []
    what = f"{shape.name}: points"
    if node.items is not None:
        names = _names(context, node, what)
        return [n for n in names if n not in shape.points] if not by_sides else []
    for name, entry in node.mapping(what).items():
        context.check_name(name, entry, "point")
        if name in shape.points:
            raise entry.error(f"{what}: '{name}' is placed already, by `along` or `sides`. Remove one.", name=name)
        if entry.entries is not None:
            keys = entry.keys(f"{what}: {name}", POSE_KEYS, POSE_KEYS[:1])
            shape.points[name] = context.vector(keys["at"], LENGTH, f"{what}: {name}")
            axes = context.rotation(keys, f"{what}: {name}")
            if axes is not None:
                shape.axes[name] = axes
        else:
            shape.points[name] = context.vector(entry, LENGTH, f"{what}: {name}")
    return []


def _along(context: Context, shape: Shape, node: FileNode) -> None:
    what = f"{shape.name}: along"
    stations = {context.check_name(n, e, "point"): context.number(e, LENGTH, f"{what}: {n}") for n, e in node.mapping(what).items()}
    if len(stations) < 2:
        raise node.error(f"{what} needs at least two stations, e.g. {{A: 0, B: 0.3}}.", name=what)
    numbers = {n: context.numeric(s) for n, s in stations.items()}
    first = next(iter(stations))
    ordered = sorted(stations, key=lambda n: numbers[n])
    for a, b in pairwise(ordered):
        if numbers[a] == numbers[b]:
            raise node.error(
                f"{what}: {a} and {b} are at the same station {context.shown(numbers[a], LENGTH)}. Give them different ones, or name one "
                "point only.",
                name=what,
            )
    shape.exact, shape.stations = True, ordered
    shape.points = {n: (s - stations[first], 0.0, 0.0) for n, s in stations.items()}
    if len(stations) == 2 and not any(isinstance(s, Expr) for s in stations.values()):
        other, x = list(shape.points)[1], stations[ordered[1]] - stations[ordered[0]]
        size = context.drawn_number(f"{shape.name}.length", x)
        shape.points[other] = (size if other == ordered[1] else -size, 0.0, 0.0)
    missing = [p for p in shape.pins if p not in stations]
    if missing:
        raise node.error(f"{what}: the pin '{missing[0]}' has no station.", nearest(missing[0], stations, "Stations"))


def _sides(context: Context, shape: Shape, entries: dict[str, FileNode]) -> None:
    """Points placed one after the other by two known distances; the drawing decides the side."""
    node, what = entries["sides"], f"{shape.name}: sides"
    marked = entries.get("points")
    names = shape.pins + (_names(context, marked, f"{shape.name}: points") if marked is not None and marked.items is not None else [])
    sides = _side_lengths(context, node, names, what)
    if len(names) < 3 or (names[0], names[1]) not in sides:
        first = f"{names[0]}-{names[1]}" if len(names) > 1 else "A-B"
        raise node.error(
            f"{what} needs three or more points (pins and points listed) and the side {first} between the first two.", name=what
        )
    for n in names:
        _need_drawn(context, n, node, f"{what}: the drawing shows on which side a point lies, and")
    base = sides.pop((names[0], names[1]))
    sides.pop((names[1], names[0]))
    shape.exact = True
    shape.points = {names[0]: ZERO3, names[1]: (base, 0.0, 0.0)}
    for n in names[2:]:
        known = [p for p in shape.points if (p, n) in sides]
        if len(known) != 2:
            raise node.error(
                f"{what}: '{n}' needs exactly two sides to points placed before it ({listing(shape.points)}), it has {len(known)}.", name=n
            )
        shape.points[n] = _third_corner(context, shape, known[0], known[1], n, sides, node)
        for p in known:
            sides.pop((p, n))
            sides.pop((n, p))
    if sides:
        a, b = next(iter(sides))
        raise node.error(f"{what}: {a}-{b} is one side too many. Two sides place each further point.", name=what)


def _side_lengths(context: Context, node: FileNode, names: list[str], what: str) -> dict[tuple[str, str], Vec3]:
    sides = {}
    for key, entry in node.mapping(what).items():
        pairs = [(key[:i], key[i + 1 :]) for i, c in enumerate(key) if c == "-" and key[:i] in names and key[i + 1 :] in names]
        if not pairs or pairs[0][0] == pairs[0][1]:
            raise entry.error(
                f"{what}: '{key}' must name two points of the body, like A-B. Its points: {listing(names)}.", name=key, allowed=names
            )
        value = context.number(entry, LENGTH, f"{what}: {key}")
        if context.numeric(value) <= 0.0:
            raise entry.error(f"{what}: {key} is {context.shown(value, LENGTH)} long. A side must be longer than zero.", name=what)
        if pairs[0] in sides:
            raise entry.error(f"{what}: {key} is given twice. Remove one.", name=what)
        sides[pairs[0]] = sides[pairs[0][::-1]] = value
    return sides


def _third_corner(context: Context, shape: Shape, a: str, b: str, c: str, sides: dict, node: FileNode) -> Vec3:
    """The corner at the given distances from a and b, on the side the drawing shows."""
    p, q = shape.points[a], shape.points[b]
    da, db = sides[(a, c)], sides[(b, c)]
    r = sub(q, p)
    dx, dy = context.numeric(r[0]), context.numeric(r[1])
    base, na, nb = math.hypot(dx, dy), context.numeric(da), context.numeric(db)
    if base > na + nb or na > base + nb or nb > base + na:
        ab, ac, bc = (context.shown(x, LENGTH) for x in (base, na, nb))
        raise node.error(f"{shape.name}: sides {a}-{b} {ab}, {a}-{c} {ac} and {b}-{c} {bc} form no triangle. Check them.", name=shape.name)
    s, t, u = (context.sketch[n] for n in (a, b, c))
    turn = (t[0] - s[0]) * (u[1] - s[1]) - (t[1] - s[1]) * (u[0] - s[0])
    if turn == 0.0 and na + nb > base * (1 + 1e-12):
        raise node.error(
            f"{shape.name}: {a}, {b} and {c} lie on one line in the drawing, so the side of {c} is open. Move {c} in the drawing.",
            name=shape.name,
        )
    square = r[0] * r[0] + r[1] * r[1]
    k = (da * da + square - db * db) / (2.0 * square)
    high = da * da / square - k * k
    h = sqrt(high) if context.numeric(high) > 0.0 else 0.0  # flat triangle: round-off may be negative
    side = 1.0 if turn > 0 else -1.0
    return add(p, add(scale(k, r), scale(side * h, (-r[1], r[0], 0.0))))


def _need_drawn(context: Context, name: str, node: FileNode, what: str) -> None:
    if name not in context.drawing:
        raise node.error(f"{what} '{name}' is not in the drawing.", nearest(name, context.drawing, "Drawn"))


def _ground(context: Context, shape: Shape, marked: list[str]) -> None:
    for name in [*shape.pins, *marked]:
        if name not in shape.points:
            _need_drawn(context, name, shape.node, "ground: the point")
    drawn = {n: context.drawing[n] for n in [*shape.pins, *marked] if n not in shape.points}
    shape.points = {**drawn, **shape.points}


def _drawn(context: Context, shape: Shape, marked: list[str]) -> None:
    """Origin at the first pin, x toward the second; with one pin parallel to the drawing."""
    names = [*shape.pins, *marked]
    for name in names:
        _need_drawn(context, name, shape.node, f"{shape.name}: the point")
    own = shape.points
    if names:
        origin = names[0]
        shape.at = context.drawing[origin]
    shape.points = {}
    start_rotation = EYE3
    if len(shape.pins) >= 2:
        r = sub(context.drawing[shape.pins[1]], shape.at)
        numeric = [b - a for a, b in zip(context.sketch[shape.pins[0]], context.sketch[shape.pins[1]], strict=True)]
        if not any(numeric):
            raise shape.node.error(
                f"{shape.name}: the pins {shape.pins[0]} and {shape.pins[1]} are drawn at the same place. Move one in the drawing.",
                name=shape.name,
            )
        shape.rotation = frame_along("x", r, numeric)
        start_rotation = frame_along("x", vector(numeric), numeric)
    for name in names:
        shape.points[name] = shape.to_local(context.drawing[name])
    if names:
        shape.points[names[0]] = ZERO3
    if len(shape.pins) >= 2:
        size = length(sub(context.drawing[shape.pins[1]], shape.at))
        shape.points[shape.pins[1]] = (context.drawn_number(f"{shape.name}.length", size) if len(names) == 2 else size, 0.0, 0.0)
    shape.points.update(own)
    shape.start = Placement(vector(context.sketch[names[0]]) if names else ZERO3, start_rotation)
    shape.pose = Placement(shape.at, shape.rotation) if context.in_symbols else shape.start


def _exact(context: Context, shape: Shape, marked: list[str]) -> None:
    """Own coordinates; the frame's start is fitted to whatever of it is drawn."""
    if marked:
        raise shape.node.error(
            f"{shape.name}: '{marked[0]}' is taken from the drawing but the body has an exact shape. Give it a station, sides or own "
            "coordinates.",
            name=marked[0],
        )
    missing = [p for p in shape.pins if p not in shape.points]
    if missing:
        raise shape.node.error(
            f"{shape.name}: the pin '{missing[0]}' has no coordinates of its own although other pins have.",
            nearest(missing[0], shape.points, "Its points"),
        )
    shape.exact = True
    numbers = {n: context.numerics(p) for n, p in shape.points.items()}
    if shape.stations:
        order = [n for n in shape.stations if n in context.sketch]
        drawn = [next(iter(shape.points)), order[0], order[-1]] if len(order) > 1 else order
        drawn = [n for n in dict.fromkeys(drawn) if n in context.sketch]
    else:
        drawn = [n for n in dict.fromkeys([*shape.pins, *shape.points]) if n in context.sketch]
    _compare_with_drawing(context, shape, numbers)
    shape.at, shape.rotation = fit([numbers[n] for n in drawn], [context.sketch[n] for n in drawn], planar=context.planar_drawing)
    shape.start = shape.pose = Placement(shape.at, shape.rotation)
    if not context.in_symbols or not drawn:
        return
    if context.planar_drawing or len(drawn) == 1:
        far = max(drawn[1:], key=lambda n: math.dist(numbers[n], numbers[drawn[0]]), default="")
        shape.at, shape.rotation = _fit_in_symbols(context, shape, drawn[0], far)
        shape.pose = Placement(shape.at, shape.rotation)
    else:
        shape.fitted = tuple(drawn)


Triple = tuple[float, float, float]


def _compare_with_drawing(context: Context, shape: Shape, numbers: dict[str, Triple]) -> None:
    """A warning where the exact shape is another size than the sketch: mostly a slip of the decimal point."""
    names = [n for n in numbers if n in context.sketch]
    spans = {
        (a, b): (math.dist(numbers[a], numbers[b]), math.dist(context.sketch[a], context.sketch[b])) for a, b in combinations(names, 2)
    }
    ratios = {pair: max(own / drawn, drawn / own) for pair, (own, drawn) in spans.items() if own > 0.0 and drawn > 0.0}
    worst = max(ratios, key=lambda pair: ratios[pair], default=None)
    if worst is not None and ratios[worst] > FAR_FROM_DRAWN:
        own, drawn = (context.shown(x, LENGTH) for x in spans[worst])
        context.warnings.append(
            f"{shape.node.where}: {shape.name}: {worst[0]} and {worst[1]} are {own} apart but drawn {drawn} apart. Check the length, or "
            "draw them at their places."
        )


def fit(own: list[Triple], drawn: list[Triple], planar: bool) -> tuple[Vec3, Mat3]:
    """The pose that puts own[0] on drawn[0] and turns the others toward their drawn places.

    In a plane the direction from the first to the farthest other point decides; in space the
    rotation is the least-squares one (Kabsch).
    """
    if not own:
        return ZERO3, EYE3
    rotation = EYE3
    if planar and len(own) > 1:
        a, b = own[0], max(own[1:], key=lambda p: math.dist(p, own[0]))
        c, d = drawn[0], drawn[own.index(b)]
        turn = math.atan2(d[1] - c[1], d[0] - c[0]) - math.atan2(b[1] - a[1], b[0] - a[0])
        if math.dist(a, b) > 0.0 and math.dist(c, d) > 0.0:
            cosine, sine = math.cos(turn), math.sin(turn)
            rotation = ((cosine, 0.0 - sine, 0.0), (sine, cosine, 0.0), (0.0, 0.0, 1.0))
    elif len(own) > 1:
        rotation = _kabsch(own, drawn)
    return sub(vector(drawn[0]), rotate(rotation, vector(own[0]))), rotation


def _fit_in_symbols(context: Context, shape: Shape, first: str, far: str) -> tuple[Vec3, Mat3]:
    """The pose of `fit` in a plane over expressions: cosine and sine of the turn from the own direction a to the drawn one b."""
    rotation, a, b = EYE3, ZERO3, ZERO3
    if far:
        a, b = sub(shape.points[far], shape.points[first]), sub(context.drawing[far], context.drawing[first])
    if any(context.numerics(a)) and any(context.numerics(b)):
        size = length(a) * length(b)
        cosine, sine = (a[0] * b[0] + a[1] * b[1]) / size, (a[0] * b[1] - a[1] * b[0]) / size
        rotation = ((cosine, 0.0 - sine, 0.0), (sine, cosine, 0.0), (0.0, 0.0, 1.0))
    return sub(context.drawing[first], rotate(rotation, shape.points[first])), rotation


def _kabsch(own: list[Triple], drawn: list[Triple]) -> Mat3:
    import numpy as np

    a, b = np.array(own) - own[0], np.array(drawn) - drawn[0]
    u, s, vt = np.linalg.svd(b.T @ a)
    if s[1] < 1e-9 * max(s[0], 1e-300):  # one line: the smallest turn that aligns it
        return _shortest_turn(a[np.argmax((a * a).sum(axis=1))], b[np.argmax((b * b).sum(axis=1))])
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return matrix((u @ flip @ vt).tolist())


def _shortest_turn(a: object, b: object) -> Mat3:
    import numpy as np

    p, q = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not p.any() or not q.any():
        return EYE3
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    c, w = float(p @ q), np.cross(p, q)
    if c < -1.0 + 1e-12:  # opposite: half a turn about any axis across
        axis = np.cross(p, np.eye(3)[np.argmin(np.abs(p))])
        axis /= np.linalg.norm(axis)
        return matrix((2.0 * np.outer(axis, axis) - np.eye(3)).tolist())
    K = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    return matrix((np.eye(3) + K + K @ K / (1.0 + c)).tolist())
