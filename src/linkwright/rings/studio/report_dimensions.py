"""Dimensions in the report: the drawing with distances of pins, to scale, and the table of all links."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import SAME_NUMBER, System, counted, unit_of
from linkwright.rings.design.link_dimensions import LinkDimension, WheelRadius, link_dimensions, wheel_radii
from linkwright.rings.studio.report_parts import note, part, table
from linkwright.rings.studio.scale_drawing import scale_drawing
from linkwright.rings.studio.scale_drawing_svg import sheet_scale, svg_figure

SHEET, BESIDE_TABLE = (178.0, 88.0), (104.0, 68.0)  # mm of paper: over the whole width, and where the table is beside the drawing
BESIDE = 14  # rows of a table beside a drawing
MOST_LINES = 36  # dimension lines that can be distinguished on paper
MOST_ROWS = 60


def section(system: System) -> str:
    """Return the part with the drawing of a planar mechanism and the table of its links; "" where there are no lengths."""
    d = system.description
    rows, wheels = link_dimensions(d), wheel_radii(d)
    if not rows:
        return part("Dimensions", _wheels(system, wheels))
    drawn = _drawing(system, len(rows)) if d.planar else ""
    listed = _table(system, rows) + _wheels(system, wheels)
    text = note(_explained(d, bool(drawn)))
    if drawn and len(rows) <= BESIDE:
        return part("Dimensions", f'<div class="rp-dimensions">{drawn}<div>{listed}{text}</div></div>')
    return part("Dimensions", drawn, listed, text)


def _explained(d: Any, drawn: bool) -> str:
    unit = unit_of(d.units, "length")[0]
    said = "x and y of a place are seen from the first one of its link, x towards the second; of the ground along the axes of the drawing."
    return (f"Drawn to scale, numbers in {unit}. " if drawn else "") + said


def _drawing(system: System, count: int) -> str:
    """The drawing as SVG in the page, as large as the sheet allows."""
    if count > MOST_LINES:
        return ""
    sheet = BESIDE_TABLE if count <= BESIDE else SHEET
    wide = None
    letters = 1.9  # mm, height of capitals on paper
    for _ in range(2):  # letters have their size on paper, and what is written decides the scale
        drawing = scale_drawing(system, positions=0, trace=[], dimensions=True, width=wide)
        wide = f"{2.0 * letters / sheet_scale(drawing, sheet)} mm"
    drawing = scale_drawing(system, positions=0, trace=[], dimensions=True, width=wide)
    alt = f"{system.description.name} to scale, with the distances of the pins of every link"
    return f'<figure class="rp-figure">{svg_figure(drawing, sheet, alt)}</figure>\n'


def _table(system: System, rows: tuple[LinkDimension, ...]) -> str:
    """One row a distance; links that are alike in one row."""
    d = system.description
    symbol, size = unit_of(d.units, "length")
    axes = "xy" if d.planar else "xyz"
    groups: dict[tuple[Any, ...], list[str]] = {}
    by_body: dict[str, list[LinkDimension]] = {}
    for row in rows:
        by_body.setdefault(row.body, []).append(row)
    for body, own in by_body.items():
        key = tuple((r.first, r.second) if body == d.bodies[0].name else tuple(np.round([r.distance, *r.along], 12)) for r in own)
        groups.setdefault(key, []).append(body)
    out: list[tuple[Any, ...]] = []
    for bodies in groups.values():
        own = by_body[bodies[0]]
        origin = own[0].first
        for k, r in enumerate(own):
            of = (", ".join(bodies) if len(bodies) <= 3 else f"{bodies[0]} and {len(bodies) - 1} alike") if k == 0 else ""
            place = [_clean(x, r.distance) / size for x in r.along[: len(axes)]] if r.first == origin else [None] * len(axes)
            out.append((of, f"{r.first} – {r.second}", r.distance / size, *place))
    shown = out[:MOST_ROWS]
    header = [("link", ""), ("between", ""), ("distance", symbol), *((x, symbol) for x in axes)]
    more = note(f"and {counted(len(out) - len(shown), 'more distance')}") if len(out) > len(shown) else ""
    return table(header, shown, left=2) + more


def _wheels(system: System, rows: tuple[WheelRadius, ...]) -> str:
    """Radii of pulleys, sprockets and gears."""
    symbol, size = unit_of(system.description.units, "length")
    body = [(r.wheel, r.of, r.radius / size) for r in rows[:MOST_ROWS]]
    more = note(f"and {counted(len(rows) - len(body), 'more wheel')}") if len(rows) > len(body) else ""
    return table([("wheel", ""), ("of", ""), ("radius", symbol)], body, left=2) + more


def _clean(x: float, size: float) -> float:
    return 0.0 if abs(x) < SAME_NUMBER * size else float(x)
