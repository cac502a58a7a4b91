"""Drawings in SVG, 1:1 in millimetres, a group a layer: see `linkwright.views.scale_drawing`."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.formats import dxf
from linkwright.formats.base import ExportFormat

MARGIN = 1.5  # widths of a link round the drawing
DIGITS = 6  # decimals of a coordinate in mm


def write(mechanism: Any, path: Any, **options: Any) -> list[Path]:
    place = files.checked(path, FORMAT.endings)
    from linkwright.views.scale_drawing import LAYERS, scale_drawing

    drawing = scale_drawing(mechanism, **options)
    low, high = drawing.box
    low, high = low - MARGIN * drawing.width, high + MARGIN * drawing.width
    w, h = high - low
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
        paint = f'fill="none" stroke="{look.colour}" stroke-width="{_weight(look, drawing)}"{dashes} stroke-linejoin="round"'
        paint = f'fill="{look.colour}" stroke="none"' if name == "NAMES" else paint
        lines.append(f'<g id="{name}" inkscape:groupmode="layer" inkscape:label="{name}" {paint}>')
        lines += [_element(x, drawing) for x in drawing.things if x.layer == name]
        lines.append("</g>")
    return [files.write_text(place, FORMAT.endings, "\n".join([*lines, "</svg>", ""]))]


def _weight(look: Any, drawing: Any) -> str:
    """Line width in mm: that of a sheet of paper, in proportion on large and small drawings, which are seen scaled."""
    return _n(look.weight * min(max(drawing.width / 8.0, 0.2), 4.0))


def _element(x: Any, drawing: Any) -> str:
    from linkwright.views.scale_drawing import DrawnCircle, DrawnPath

    label = f' inkscape:label="{escape(x.name)}"' if getattr(x, "name", "") else ""
    if isinstance(x, DrawnPath):
        return f'<path{label} d="{_path(x.contour, x.closed)}"/>'
    if isinstance(x, DrawnCircle):
        radius = x.radius or 0.1 * drawing.width
        return f'<circle{label} cx="{_n(x.at[0])}" cy="{_n(-x.at[1])}" r="{_n(radius)}"/>'
    return f'<text x="{_n(x.at[0])}" y="{_n(-x.at[1])}" font-size="{_n(x.height / 0.7)}" font-family="sans-serif">{escape(x.text)}</text>'


def _path(contour: Any, closed: bool) -> str:
    from linkwright.views.link_outline import arc_radius

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
    return f"{round(float(x), DIGITS) + 0.0:.{DIGITS}f}".rstrip("0").rstrip(".")


FORMAT = ExportFormat(name="svg", endings=(".svg",), about=dxf.FORMAT.about, options=dxf.FORMAT.options, write=write)
