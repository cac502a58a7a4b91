"""A drawing to scale as SVG, 1:1 in millimeters, a group a layer."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from linkwright.api import files
from linkwright.rings.studio.link_outline import arc_radius
from linkwright.rings.studio.scale_drawing import LAYERS, DrawnCircle, DrawnPath, ScaleDrawing


def svg_text(drawing: ScaleDrawing) -> str:
    """Return the drawing as the text of an SVG file."""
    low, (w, h) = _window(drawing)
    high = low + np.array([w, h])
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" version="1.1" '
        f'width="{_n(w)}mm" height="{_n(h)}mm" viewBox="{_n(low[0])} {_n(-high[1])} {_n(w)} {_n(h)}">',
        f"<title>{escape(drawing.name)}</title>",
        '<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:cc="http://creativecommons.org/ns#"><cc:Work><dc:creator><cc:Agent>'
        f"<dc:title>{files.OWNER}</dc:title></cc:Agent></dc:creator></cc:Work></rdf:RDF></metadata>",
    ]
    for name in drawing.used_layers:
        look = LAYERS[name]
        dashes = f' stroke-dasharray="{" ".join(_n(2.0 * drawing.width * x) for x in look.dashes)}"' if look.dashes else ""
        paint = f'fill="none" stroke="{look.color}" stroke-width="{_weight(look, drawing)}"{dashes} stroke-linejoin="round"'
        lines.append(f'<g id="{name}" inkscape:groupmode="layer" inkscape:label="{name}" {paint}>')
        lines += [_element(x, drawing) for x in drawing.things if x.layer == name]
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def sheet_scale(drawing: ScaleDrawing, sheet: tuple[float, float]) -> float:
    """Return the scale at which the drawing fills a sheet (width and height in mm)."""
    _, (w, h) = _window(drawing)
    return min(sheet[0] / w, sheet[1] / h)


def svg_figure(drawing: ScaleDrawing, sheet: tuple[float, float], alt: str) -> str:
    """Return the drawing as an element of an HTML page, scaled to a sheet, with line widths as on paper."""
    scale = sheet_scale(drawing, sheet)
    low, (w, h) = _window(drawing)
    lines = [
        f'<svg role="img" aria-label="{escape(alt)}" style="width:{_n(scale * w)}mm;max-width:100%" '
        f'viewBox="0 0 {_n(scale * w)} {_n(scale * h)}"><g transform="scale({_n(scale)}) translate({_n(-low[0])} {_n(low[1] + h)})">'
    ]
    for name in drawing.used_layers:
        look = LAYERS[name]
        dashes = f' stroke-dasharray="{" ".join(_n(2.0 * drawing.width * x) for x in look.dashes)}"' if look.dashes else ""
        lines.append(f'<g fill="none" stroke="{look.color}" stroke-width="{_n(look.weight / scale)}"{dashes} stroke-linejoin="round">')
        lines += [_element(x, drawing, named=False) for x in drawing.things if x.layer == name]
        lines.append("</g>")
    return "\n".join([*lines, "</g></svg>"])


def _window(drawing: ScaleDrawing) -> tuple[np.ndarray, np.ndarray]:
    """Lower corner and sides of the drawing with a margin, mm."""
    low, high = drawing.box
    margin = 1.5  # widths of a link round the drawing
    edge = margin * drawing.width
    return low - edge, high - low + 2.0 * edge


def _weight(look: Any, drawing: Any) -> str:
    """Line width in mm: that of a sheet of paper, in proportion on large and small drawings, which are seen scaled."""
    return _n(look.weight * min(max(drawing.width / 8.0, 0.2), 4.0))


def _element(x: Any, drawing: Any, named: bool = True) -> str:
    label = f' inkscape:label="{escape(x.name)}"' if named and getattr(x, "name", "") else ""
    if isinstance(x, DrawnPath):
        return f'<path{label} d="{_path(x.contour, x.closed)}"/>'
    if isinstance(x, DrawnCircle):
        radius = x.radius or 0.1 * drawing.width
        return f'<circle{label} cx="{_n(x.at[0])}" cy="{_n(-x.at[1])}" r="{_n(radius)}"/>'
    at = f'x="{_n(x.at[0])}" y="{_n(-x.at[1])}"'
    turned = f' transform="rotate({_n(-x.angle)} {_n(x.at[0])} {_n(-x.at[1])})"' if x.angle else ""
    paint = f'fill="{LAYERS[x.layer].color}" stroke="none"'
    letters = 0.7  # height of a capital over the size of its font
    return f'<text {at}{turned} {paint} font-size="{_n(x.height / letters)}" font-family="sans-serif">{escape(x.text)}</text>'


def _path(contour: Any, closed: bool) -> str:
    parts = [f"M{_n(contour[0][0])} {_n(-contour[0][1])}"]
    rest = [*contour[1:], contour[0]] if closed else contour[1:]
    for (x, y, bulge), (u, v, _) in zip(contour, rest, strict=False):
        end = f"{_n(u)} {_n(-v)}"
        if bulge:
            r = _n(arc_radius((x, y), (u, v), bulge))
            large, sweep = int(4.0 * math.atan(abs(bulge)) > math.pi), int(bulge < 0.0)  # y points down: counterclockwise is sweep 0
            parts.append(f"A{r} {r} 0 {large} {sweep} {end}")
        else:
            parts.append(f"L{end}")
    return "".join(parts) + ("Z" if closed else "")


def _n(x: float) -> str:
    digits = 6  # decimals of a coordinate in mm
    return f"{round(float(x), digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".")
