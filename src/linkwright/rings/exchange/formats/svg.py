"""Drawings in SVG, 1:1 in millimeters, a group a layer: see `linkwright.rings.studio.scale_drawing`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.rings.exchange.formats import dxf
from linkwright.rings.exchange.formats.base import ExportFormat


def write(mechanism: Any, path: Any, **options: Any) -> list[Path]:
    place = files.checked(path, FORMAT.endings)
    from linkwright.rings.studio.scale_drawing import scale_drawing
    from linkwright.rings.studio.scale_drawing_svg import svg_text

    return [files.write_text(place, FORMAT.endings, svg_text(scale_drawing(mechanism, **options)))]


FORMAT = ExportFormat(name="svg", endings=(".svg",), about=dxf.FORMAT.about, options=dxf.FORMAT.options, write=write)
