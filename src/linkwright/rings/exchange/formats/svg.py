"""Drawings in SVG, 1:1 in millimeters, a group a layer: see `linkwright.rings.studio.scale_drawing`."""

from __future__ import annotations

from typing import Any

from linkwright.rings.exchange.formats import dxf
from linkwright.rings.exchange.formats.base import ExportedTexts, ExportFormat


def texts(mechanism: Any, file: str, folder: str | None, **options: Any) -> ExportedTexts:
    from linkwright.rings.studio.scale_drawing import scale_drawing
    from linkwright.rings.studio.scale_drawing_svg import svg_text

    return ExportedTexts({file: svg_text(scale_drawing(mechanism, **options))})


FORMAT = ExportFormat(name="svg", endings=(".svg",), about=dxf.FORMAT.about, options=dxf.FORMAT.options, texts=texts)
