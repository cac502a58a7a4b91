"""SVG to a sketch: circles, lines, polylines, polygons, rectangles, paths and texts, with groups, transforms and `use` taken apart."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

import numpy as np

from linkwright import files
from linkwright.errors import ModelError, UsageError
from linkwright.rings.exchange.reading.sketches import svg_paths
from linkwright.rings.exchange.reading.sketches.geometry import Label, Mark, Sketch, Stroke, as_circle
from linkwright.rings.exchange.reading.sketches.layers import OWN, role_of
from linkwright.rings.exchange.reading.sketches.svg_paths import Affine, Malformed, applied, numbers, subpaths, times, transform
from linkwright.rings.exchange.reading.xml_reading import MOST_BYTES, XmlElement, parse_xml

MILLIMETERS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72.0, "pc": 25.4 / 6.0, "q": 0.25, "m": 1000.0}
LARGEST = 1e100  # of a length: its square is still a number
PIXEL = 25.4 / 96.0
LENGTH = re.compile(rf"\s*({svg_paths.NUMBER})\s*([A-Za-z%]*)\s*\Z")
DOCTYPE = re.compile(rb"<!DOCTYPE\s+svg\b[^\[\]<>]*>")  # without declarations of its own: nothing in it is needed, and nothing is fetched
HIDDEN = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)")
MADE_UP = re.compile(r"(circle|path|ellipse|rect|line|polyline|polygon|use|text|tspan|g|svg|layer)[-_]?\d*\Z", re.IGNORECASE)
PASSED_OVER = ("defs", "metadata", "style", "title", "desc", "symbol", "clipPath", "mask", "marker", "pattern", "linearGradient",
               "radialGradient", "filter", "script", "namedview", "page", "guide", "grid")  # fmt: skip
DEEPEST = 24  # `use` of `use`
MOST_THINGS = 50_000


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
            raise UsageError(f"unit is one of {', '.join([*MILLIMETERS, 'px'])}, not '{unit}'.")
        return size, ""
    found = LENGTH.match(root.get("width", ""))
    size = None if found is None else _millimeters(found[2].lower())
    if found is None or size is None or not float(found[1]) > 0.0:
        return 1.0, "the file gives no width in mm; its units are taken as millimeters"
    if not width:
        return PIXEL, "the file has no viewBox; 96 of its units are taken as an inch"
    pixels = "its width is in pixels; 96 of them are taken as an inch" if found[2].lower() == "px" else ""
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
        if self.count > MOST_THINGS or depth > DEEPEST:
            raise e.error(f"the drawing has more than {MOST_THINGS:,} elements, or <use> leads round in circles; save the linkage alone.")
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
            raise e.error(f"{problem}.") from problem

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
            self.skipped["ellipse that is no circle"] += 1
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
        size = next((float(m[1]) for s in spans if (m := re.search(rf"font-size\s*:\s*({svg_paths.NUMBER})", s.get("style")))), None)
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
