"""SVG to a sketch: circles, lines, polylines, polygons, rectangles, paths and texts, with groups, transforms and `use` taken apart."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from linkwright.api import ModelError, UsageError, counted, files
from linkwright.rings.exchange.reading.safe_xml import MOST_BYTES, XmlElement, parse_xml
from linkwright.rings.exchange.reading.sketches.drawing_contents import Label, Mark, Sketch, Stroke, arc_points, as_circle
from linkwright.rings.exchange.reading.sketches.layers import OWN, role_of

MILLIMETERS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72.0, "pc": 25.4 / 6.0, "q": 0.25, "m": 1000.0}
LARGEST = 1e100  # of a length: its square is still a number
PIXEL = 25.4 / 96.0
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
LENGTH = re.compile(rf"\s*({NUMBER})\s*([A-Za-z%]*)\s*\Z")
DOCTYPE = re.compile(rb"<!DOCTYPE\s+svg\b[^\[\]<>]*>")  # without declarations of its own: nothing in it is needed, and nothing is fetched
HIDDEN = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)")
MADE_UP = re.compile(r"(circle|path|ellipse|rect|line|polyline|polygon|use|text|tspan|g|svg|layer)[-_]?\d*\Z", re.IGNORECASE)
PASSED_OVER = ("defs", "metadata", "style", "title", "desc", "symbol", "clipPath", "mask", "marker", "pattern", "linearGradient",
               "radialGradient", "filter", "script", "namedview", "page", "guide", "grid")  # fmt: skip
MOST_THINGS = 50_000
COMMAND = re.compile(rf"([MmLlHhVvCcSsQqTtAaZz])|({NUMBER})|([^\s,])")
TRANSFORM = re.compile(r"([A-Za-z]+)\s*\(([^)]*)\)\s*,?\s*")
COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
PIECES = 24  # of a flattened Bézier curve
Affine = np.ndarray  # (2, 3)
SAME: Affine = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def read_svg(path: str | os.PathLike[str], unit: str | None = None) -> Sketch:
    """Return the contents of an SVG file; `unit` is that of its user units, in place of its width in millimeters."""
    name = files.shown(path)
    try:
        content = files.read_regular(path, MOST_BYTES, "a drawing of that size is not read")
    except files.Unreadable as problem:
        raise ModelError(str(problem)) from problem
    content = DOCTYPE.sub(lambda m: re.sub(rb"[^\n]", b" ", m[0]), content, count=1)
    root = parse_xml(content, name)
    if _bare(root.tag) != "svg":
        raise root.error("the outermost element of an SVG file is <svg>.")
    frame, note = _frame(root, unit)
    reader = _SvgReader(root)
    reader.take(root, frame, "svg", ())
    layers = tuple(sorted({x.layer for x in (*reader.marks, *reader.strokes, *reader.labels)}))
    if not (reader.marks or reader.strokes):
        raise ModelError("the drawing has no circles and no lines.", root.where)
    dropped = tuple(f"{n} {kind}{'s' * (n > 1)}" for kind, n in reader.skipped.items())
    notes = (note,) if note else ()
    return Sketch(name, "SVG", tuple(reader.marks), tuple(reader.strokes), tuple(reader.labels), layers, notes, dropped)


def _bare(tag: str) -> str:
    return tag.rpartition(":")[2]


def _frame(root: XmlElement, unit: str | None) -> tuple[Affine, str]:
    """(transform from user units to millimeters with y up, how the scale was found)."""
    box = root.get("viewBox")
    x, y, width, height = root.as_numbers(box.replace(",", " "), "viewBox", 4) if box else (0.0, 0.0, 0.0, 0.0)
    scale, note = _scale(root, width, unit)
    if box and not (width > 0.0 and height > 0.0):
        raise root.error("viewBox needs a width and a height above 0.")
    if not box:
        found = LENGTH.match(root.get("height", "0"))
        size = _millimeters(found[2].lower()) if found else None
        height = float(found[1]) * (size or scale) / scale if found and found[2] != "%" else 0.0
    top = height if (x, y) == (0.0, 0.0) else 0.0  # a box from 0, 0: its lower left corner becomes the origin; else the file has one
    return np.array([[scale, 0.0, 0.0], [0.0, -scale, scale * top]]), note


def _millimeters(unit: str) -> float | None:
    return PIXEL if unit == "px" else MILLIMETERS.get(unit)


def _scale(root: XmlElement, width: float, unit: str | None) -> tuple[float, str]:
    if unit is not None:
        size = _millimeters(unit.lower())
        if size is None:
            raise UsageError(
                f"unit is one of {', '.join([*MILLIMETERS, 'px'])}, not '{unit}'.", name="unit", value=unit, allowed=[*MILLIMETERS, "px"]
            )
        return size, ""
    found = LENGTH.match(root.get("width", ""))
    size = None if found is None else _millimeters(found[2].lower())
    if found is None or size is None or not float(found[1]) > 0.0:
        return 1.0, "the file gives no width in mm. Its units are taken as millimeters"
    if not width:
        return PIXEL, "the file has no viewBox. 96 of its units are taken as an inch"
    pixels = "its width is in pixels. 96 of them are taken as an inch" if found[2].lower() == "px" else ""
    return float(found[1]) * size / width, pixels


class _SvgReader:
    """Elements of a drawing as marks, strokes and labels."""

    def __init__(self, root: XmlElement):
        self.marks: list[Mark] = []
        self.strokes: list[Stroke] = []
        self.labels: list[Label] = []
        self.skipped: Counter[str] = Counter()
        self.count = 0
        self.by_id: dict[str, XmlElement] = {}
        self._index(root)

    def _index(self, e: XmlElement) -> None:
        if e.get("id"):
            self.by_id.setdefault(e.get("id"), e)
        for child in e:
            self._index(child)

    def take(self, e: XmlElement, outer: Affine, layer: str, groups: tuple[str, ...], depth: int = 0) -> None:
        """Read an element and those in it; `outer` leads from its surroundings to millimeters."""
        self.count += 1
        deepest = 24  # `use` of `use`
        if self.count > MOST_THINGS or depth > deepest:
            raise e.error(f"the drawing has more than {MOST_THINGS:,} elements, or <use> leads round in circles. Save the linkage alone.")
        tag = _bare(e.tag)
        if tag in PASSED_OVER or HIDDEN.search(e.get("style")) or e.get("display") == "none" or e.get("visibility") == "hidden":
            return
        try:
            here = times(outer, transform(e.get("transform"))) if e.get("transform") else outer
            if tag in ("svg", "g", "a", "switch"):
                self._group(e, tag, here, layer, groups, depth)
            elif tag == "use":
                self._use(e, here, layer, groups, depth)
            else:
                self._shape(e, tag, here, layer, groups)
        except Malformed as problem:
            raise e.error(f"{problem}.", name=problem) from problem

    def _group(self, e: XmlElement, tag: str, here: Affine, layer: str, groups: tuple[str, ...], depth: int) -> None:
        name = _name(e)
        is_layer = e.get("inkscape:groupmode") == "layer" or (name and role_of(name) != OWN)  # others are links, as blocks are
        if tag == "g" and name:
            layer = name
        if tag in ("g", "a") and not is_layer:
            groups = (*groups, f"{name}#{self.count}")
        for child in e:
            self.take(child, here, layer, groups, depth)

    def _use(self, e: XmlElement, here: Affine, layer: str, groups: tuple[str, ...], depth: int) -> None:
        target = e.get("href") or e.get("xlink:href")
        found = self.by_id.get(target.removeprefix("#")) if target.startswith("#") else None
        if found is None:
            self.skipped["<use> of something outside the file" if not target.startswith("#") else "<use> of an unknown id"] += 1
            return
        moved = times(here, np.array([[1.0, 0.0, _of(e, "x")], [0.0, 1.0, _of(e, "y")]]))
        inner = (*groups, f"{_name(e) or _name(found)}#{self.count}")
        inside = found.children if _bare(found.tag) == "symbol" else (found,)
        for child in inside:
            self.take(child, moved, layer, inner, depth + 1)

    def _shape(self, e: XmlElement, tag: str, here: Affine, layer: str, groups: tuple[str, ...]) -> None:
        if tag in ("circle", "ellipse"):
            self._circle(e, tag, here, layer)
        elif tag == "line":
            self._stroke(np.array([[_of(e, "x1"), _of(e, "y1")], [_of(e, "x2"), _of(e, "y2")]]), False, e, here, layer, groups)
        elif tag in ("polyline", "polygon"):
            flat = numbers(e.get("points"))
            if len(flat) % 2:
                raise Malformed("points need an even number of coordinates")
            if len(flat) >= 4:
                self._stroke(np.array(flat).reshape(-1, 2), tag == "polygon", e, here, layer, groups)
        elif tag == "rect":
            x, y, w, h = (_of(e, k) for k in ("x", "y", "width", "height"))
            self._stroke(np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]]), True, e, here, layer, groups)
        elif tag == "path":
            self._path(e, here, layer, groups)
        elif tag == "text":
            self._text(e, here, layer)
        else:
            self.skipped[f"<{tag}> element"] += 1

    def _circle(self, e: XmlElement, tag: str, here: Affine, layer: str) -> None:
        rx, ry = (_of(e, "r"),) * 2 if tag == "circle" else (_of(e, "rx"), _of(e, "ry"))
        axes = here[:, :2] * np.array([rx, ry])
        lengths = np.linalg.norm(axes, axis=0)
        largest = float(lengths.max())
        round_ = abs(float(axes[:, 0] @ axes[:, 1])) <= 1e-3 * largest**2 and float(np.ptp(lengths)) <= 1e-3 * largest
        if not round_:
            self.skipped["ellipse that is not a circle"] += 1
            return
        at = applied(here, np.array([[_of(e, "cx"), _of(e, "cy")]]))[0]
        self.marks.append(Mark((float(at[0]), float(at[1])), largest, layer, _name(e)))

    def _path(self, e: XmlElement, here: Affine, layer: str, groups: tuple[str, ...]) -> None:
        for part in subpaths(e.get("d")):
            points = applied(here, np.array(part.points))
            closed = part.closed or bool(np.allclose(points[0], points[-1], rtol=0.0, atol=1e-9 * (1.0 + float(np.ptp(points)))))
            center = as_circle(points) if closed and part.curved else None
            if center is not None:
                self.marks.append(Mark(center[0], center[1], layer, _name(e)))
            else:
                self.strokes.append(Stroke(points, closed, layer, _name(e), groups, applied(here, np.array(part.corners))))

    def _stroke(self, points: np.ndarray, closed: bool, e: XmlElement, here: Affine, layer: str, groups: tuple[str, ...]) -> None:
        self.strokes.append(Stroke(applied(here, points), closed, layer, _name(e), groups))

    def _text(self, e: XmlElement, here: Affine, layer: str) -> None:
        line = " ".join(" ".join([e.text, *(x.text for x in e.children)]).split())
        if not line:
            return
        spans = [e, *(x for x in e.children if _bare(x.tag) == "tspan")]
        x, y = (next((_of(s, k) for s in spans if s.get(k)), 0.0) for k in ("x", "y"))
        size = next((float(m[1]) for s in spans if (m := re.search(rf"font-size\s*:\s*({NUMBER})", s.get("style")))), None)
        size = (_of(e, "font-size") or 10.0) if size is None else size
        anchor = next((a for s in spans for a in (s.get("text-anchor"), s.get("style")) if "middle" in a), "")
        center = applied(here, np.array([[x + (0.0 if anchor else 0.3 * size * len(line)), y - 0.35 * size]]))[0]
        height = 0.7 * size * float(np.sqrt(abs(np.linalg.det(here[:, :2]))))
        self.labels.append(Label((float(center[0]), float(center[1])), line, layer, height))


def _name(e: XmlElement) -> str:
    """The name that a person gave: a label, a title, or an id that no program made up."""
    title = next((x.text.strip() for x in e.children if _bare(x.tag) == "title" and x.text.strip()), "")
    own = e.get("inkscape:label") or title
    return own or ("" if MADE_UP.match(e.get("id")) else e.get("id"))


def _of(e: XmlElement, key: str) -> float:
    """A length in user units; physical units are those of a page with 96 units an inch."""
    text: Any = e.get(key)
    if not text:
        return 0.0
    found = LENGTH.match(text)
    if found is None or found[2] == "%" or (found[2] and _millimeters(found[2].lower()) is None):
        raise Malformed(f"{key}='{text[:40]}' is not a length that can be read")
    size = _millimeters(found[2].lower())
    value = float(found[1]) * (size / PIXEL if size is not None else 1.0)
    if abs(value) > LARGEST:
        raise Malformed(f"{key}='{text[:40]}' is out of any proportion")
    return value


# Transforms and paths of SVG as numbers: all commands, curves flattened.


class Malformed(ValueError):
    """A path or transform that cannot be read; the text says what."""


def times(a: Affine, b: Affine) -> Affine:
    """The transform b, then a."""
    return np.column_stack([a[:, :2] @ b[:, :2], a[:, :2] @ b[:, 2] + a[:, 2]])


def applied(a: Affine, points: np.ndarray) -> np.ndarray:
    """The points after a transformation; raise ModelError for coordinates that are no numbers any more."""
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.asarray(points, dtype=float).reshape(-1, 2) @ a[:, :2].T + a[:, 2]
    if not np.isfinite(out).all():
        raise ModelError("the drawing holds coordinates that are too large for numbers. Draw it again in sensible units.")
    return out


def transform(text: str) -> Affine:
    """Return a `transform` attribute as a matrix."""
    out, end = SAME, 0
    for found in TRANSFORM.finditer(text.strip()):
        if found.start() != end:
            break
        out, end = times(out, _one(found[1], numbers(found[2]))), found.end()
    if end != len(text.strip()):
        raise Malformed(f"transform '{text[:60]}' is not understood")
    return out


def _one(kind: str, x: list[float]) -> Affine:
    if kind == "matrix" and len(x) == 6:
        return np.array([[x[0], x[2], x[4]], [x[1], x[3], x[5]]])
    if kind == "translate" and len(x) in (1, 2):
        return np.array([[1.0, 0.0, x[0]], [0.0, 1.0, x[1] if len(x) == 2 else 0.0]])
    if kind == "scale" and len(x) in (1, 2):
        return np.array([[x[0], 0.0, 0.0], [0.0, x[-1], 0.0]])
    if kind == "rotate" and len(x) in (1, 3):
        c, s = math.cos(math.radians(x[0])), math.sin(math.radians(x[0]))
        about = np.array([[c, -s, 0.0], [s, c, 0.0]])
        if len(x) == 1:
            return about
        to, back = _one("translate", x[1:]), _one("translate", [-x[1], -x[2]])
        return times(times(to, about), back)
    if kind in ("skewX", "skewY") and len(x) == 1:
        t = math.tan(math.radians(x[0]))
        return np.array([[1.0, t, 0.0], [0.0, 1.0, 0.0]]) if kind == "skewX" else np.array([[1.0, 0.0, 0.0], [t, 1.0, 0.0]])
    raise Malformed(f"transform {kind} with {counted(len(x), 'number')} is not understood")


def numbers(text: str) -> list[float]:
    """Numbers separated by spaces or commas."""
    parts = [p for p in re.split(r"[\s,]+", text.strip()) if p]
    try:
        found = [float(p) for p in parts]
    except ValueError:
        raise Malformed(f"'{text[:60]}' is not a row of numbers") from None
    if not all(map(math.isfinite, found)):
        raise Malformed("numbers must be finite")
    return found


@dataclass
class Subpath:
    """One line of a path: all points, and the ends of its segments."""

    points: list[np.ndarray]
    corners: list[np.ndarray]
    closed: bool = False
    curved: bool = False


@dataclass
class _Pen:
    """The state of a path while it is read."""

    done: list[Subpath] = field(default_factory=list)
    at: np.ndarray = field(default_factory=lambda: np.zeros(2))
    begin: np.ndarray = field(default_factory=lambda: np.zeros(2))
    control: np.ndarray | None = None  # of the last curve
    last: str = ""
    total: int = 0

    def move(self, to: np.ndarray) -> None:
        self.at = self.begin = to
        self.done.append(Subpath([to], [to]))

    def add(self, points: np.ndarray, curved: bool) -> None:
        if not self.done or self.done[-1].closed:
            self.move(self.at)
        path = self.done[-1]
        path.points += list(points)
        path.corners.append(points[-1])
        path.curved = path.curved or curved
        self.at = points[-1]
        self.total += len(points)
        most_points = 200_000
        if self.total > most_points:
            raise Malformed("the path has too many points")


def subpaths(text: str) -> list[Subpath]:
    """Return the lines of a `d` attribute."""
    pen = _Pen()
    for command, x in _commands(text):
        if not pen.done and command.upper() != "M":
            raise Malformed("a path begins with M")
        _draw(pen, command, np.array(x))
    return [p for p in pen.done if len(p.points) > 1]


def _commands(text: str) -> list[tuple[str, list[float]]]:
    """Commands with their numbers, repeated ones written out."""
    out: list[tuple[str, list[float]]] = []
    letter, waiting = "", []

    def flush() -> None:
        count = COUNTS[letter.upper()] if letter else 0
        if not letter or (count == 0) != (not waiting) or (count and len(waiting) % count):
            raise Malformed(f"'{letter}' of the path has {counted(len(waiting), 'number')}" if letter else "a path begins with M")
        if count == 0:
            out.append((letter, []))
        for k in range(0, len(waiting), count or 1):
            repeated = letter if k == 0 or letter not in "Mm" else {"M": "L", "m": "l"}[letter]
            out.append((repeated, waiting[k : k + count]))

    for found in COMMAND.finditer(_with_flags(text)):
        if found[3]:
            raise Malformed(f"'{found[3]}' is not part of a path")
        if found[1]:
            if letter or waiting:
                flush()
            letter, waiting = found[1], []
        else:
            waiting.append(float(found[2]))
            if not math.isfinite(waiting[-1]):
                raise Malformed("numbers must be finite")
    if letter or waiting:
        flush()
    return out


def _with_flags(text: str) -> str:
    """Arcs may have their two flags written without spaces: a1 1 0 013 4 becomes a1 1 0 0 1 3 4."""
    if not re.search(r"[aA]", text):
        return text
    sep = r"[\s,]*"
    arc = re.compile(rf"({NUMBER}){sep}({NUMBER}){sep}({NUMBER}){sep}([01]){sep}([01]){sep}({NUMBER}){sep}({NUMBER})")

    def spaced(match: re.Match[str]) -> str:
        return match[1] + arc.sub(lambda m: " " + " ".join(m.groups()), match[2])

    return re.sub(r"([aA])([^A-DF-Za-df-z]*)", spaced, text)


def _draw(pen: _Pen, command: str, x: np.ndarray) -> None:
    kind, base = command.upper(), pen.at if command.islower() else np.zeros(2)
    control: np.ndarray | None = None
    if kind == "M":
        pen.move(base + x)
    elif kind == "Z":
        if not pen.done[-1].closed:
            pen.done[-1].closed = True
            pen.at = pen.begin
    elif kind == "L":
        pen.add(np.array([base + x]), False)
    elif kind == "H":
        pen.add(np.array([[base[0] + x[0], pen.at[1]]]), False)
    elif kind == "V":
        pen.add(np.array([[pen.at[0], base[1] + x[0]]]), False)
    elif kind in "CS":
        first = base + x[:2] if kind == "C" else _mirrored(pen, "CS")
        control, to = base + x[-4:-2], base + x[-2:]
        pen.add(_bezier([pen.at, first, control, to]), True)
    elif kind in "QT":
        control = base + x[:2] if kind == "Q" else _mirrored(pen, "QT")
        pen.add(_bezier([pen.at, control, base + x[-2:]]), True)
    else:
        pen.add(_arc(pen.at, x[:5], base + x[5:]), True)
    pen.control, pen.last = control, kind


def _mirrored(pen: _Pen, after: str) -> np.ndarray:
    return 2.0 * pen.at - pen.control if pen.control is not None and pen.last in after else pen.at


def _bezier(p: list[np.ndarray]) -> np.ndarray:
    t = np.linspace(0.0, 1.0, PIECES + 1)[1:, None]
    while len(p) > 1:  # de Casteljau
        p = [(1.0 - t) * a + t * b for a, b in pairwise(p)]
    return p[0]


def _arc(begin: np.ndarray, shape: np.ndarray, end: np.ndarray) -> np.ndarray:
    """An elliptical arc by its ends, in the way the SVG recommendation converts it to a center."""
    rx, ry, tilt, large, sweep = abs(shape[0]), abs(shape[1]), math.radians(shape[2]), shape[3] != 0.0, shape[4] != 0.0
    if rx == 0.0 or ry == 0.0 or np.array_equal(begin, end):
        return np.array([end])
    R = np.array([[math.cos(tilt), math.sin(tilt)], [-math.sin(tilt), math.cos(tilt)]])
    half = R @ (begin - end) / 2.0 / np.array([rx, ry])  # in units of the radii
    reach = float(half @ half)
    grow = math.sqrt(max(reach, 1.0))
    half = half / grow
    shift = math.sqrt(max(0.0, 1.0 / float(half @ half) - 1.0)) * (-1.0 if large == sweep else 1.0)
    center = shift * np.array([half[1], -half[0]])
    a, b = half - center, -half - center
    first = math.atan2(a[1], a[0])
    turn = (math.atan2(b[1], b[0]) - first) % (2.0 * math.pi)
    turn = turn if sweep else turn - 2.0 * math.pi
    unit = arc_points((float(center[0]), float(center[1])), 1.0, first, turn)
    points = (unit * np.array([rx, ry]) * grow) @ R + (begin + end) / 2.0
    points[-1] = end
    return points[1:]
