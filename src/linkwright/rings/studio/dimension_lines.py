"""Dimension lines of a drawing to scale: distances of the pins of every link, at the side of the link where there is most room.

A distance is measured along the link; those of fixed pins along the axes of the drawing, as a plate is drilled. Numbers are in the length
unit of the model. A distance that two links share is written once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import unit_of
from linkwright.rings.design.link_dimensions import LinkDimension, link_dimensions
from linkwright.rings.studio.scale_drawing import MM, ScaleDrawing
from linkwright.rings.studio.scene import Scene, Stage, dense

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
