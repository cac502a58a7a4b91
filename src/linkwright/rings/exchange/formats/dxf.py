"""Drawings in DXF, 1:1 in millimeters, on layers: see `linkwright.rings.studio.scale_drawing`."""

from __future__ import annotations

import io
from typing import Any

from linkwright.api import files
from linkwright.rings.exchange.formats.base import ExportedTexts, ExportFormat, ExportOption, listed

OWN_DATA = "LINKWRIGHT"  # application whose data name pins and links, so that a drawing can be read back
WEIGHTS = (0, 5, 9, 13, 15, 18, 20, 25, 30, 35, 40, 50, 53, 60, 70)  # hundredths of mm that DXF has


def texts(mechanism: Any, file: str, folder: str | None, **options: Any) -> ExportedTexts:
    from linkwright.api import package
    from linkwright.rings.studio.scale_drawing import LAYERS, scale_drawing

    ezdxf = package("ezdxf", "cad")
    drawing = scale_drawing(mechanism, **options)
    document = ezdxf.new("R2010", setup=False)
    document.units = 4  # millimeters
    document.header["$MEASUREMENT"] = 1
    document.header["$LWDISPLAY"] = 1
    document.header["$PDMODE"], document.header["$PDSIZE"] = 33, 0.25 * drawing.width  # points are seen as small circles
    document.appids.add(OWN_DATA)
    for name in drawing.used_layers:
        _add_layer(document, name, LAYERS[name], drawing.width)
    _fill(document.modelspace(), drawing)
    low, high = drawing.box
    document.header["$EXTMIN"], document.header["$EXTMAX"] = (*low.tolist(), 0.0), (*high.tolist(), 0.0)
    document.set_modelspace_vport(height=1.1 * float(max(high - low)), center=tuple((0.5 * (low + high)).tolist()))
    stream = io.StringIO()
    document.write(stream)
    return ExportedTexts({file: f"999\nWritten by {files.OWNER}\n{stream.getvalue()}"})


def _add_layer(document: Any, name: str, look: Any, width: float) -> None:
    """A layer with color, line width and line type; number 7 leaves black or white to the background of the screen."""
    made = document.layers.add(name, color=look.number, lineweight=min(WEIGHTS, key=lambda w: abs(w - 100 * look.weight)))
    if look.number != 7:
        made.rgb = tuple(int(look.color[k : k + 2], 16) for k in (1, 3, 5))
    if look.dashes:
        dashes = [2.0 * width * x * (-1.0 if k % 2 else 1.0) for k, x in enumerate(look.dashes)]
        document.linetypes.add(f"{name}_LINE", [sum(map(abs, dashes)), *dashes], description="center line")
        made.dxf.linetype = f"{name}_LINE"


def _fill(space: Any, drawing: Any) -> None:
    from linkwright.rings.studio.scale_drawing import DrawnCircle, DrawnPath

    for x in drawing.things:
        attributes = {"layer": x.layer}
        if isinstance(x, DrawnPath):
            bulged = any(c[2] for c in x.contour)
            if len(x.contour) == 2 and not bulged:
                made = space.add_line(x.contour[0][:2], x.contour[1][:2], dxfattribs=attributes)
            else:
                made = space.add_lwpolyline(x.contour, format="xyb", close=x.closed, dxfattribs=attributes)
        elif isinstance(x, DrawnCircle):
            made = space.add_circle(x.at, x.radius, dxfattribs=attributes) if x.radius else space.add_point(x.at, dxfattribs=attributes)
        else:
            space.add_text(x.text, height=x.height, rotation=x.angle, dxfattribs=attributes).set_placement(x.at)
            continue
        if x.name:
            made.set_xdata(OWN_DATA, [(1000, x.name[:250])])


FORMAT = ExportFormat(
    name="dxf",
    endings=(".dxf",),
    about="a drawing 1:1 in millimeters, on layers: links with bearing eyes, positions over the cycle, coupler curves",
    options=(
        ExportOption("positions", "positions over the cycle that are drawn (default 8, 0 for none)", metavar="N", read=int),
        ExportOption("trace", "points whose paths are drawn: coupler.P,... (default: marked points)", metavar="A,B", read=listed),
        ExportOption("width", "width of the links (default: by the size of the mechanism)", metavar="LENGTH"),
        ExportOption("dimensions", "distances of the pins of every link", switch=True),
        ExportOption("bore", "bore of the bearing eyes (default: half the width), or hole of a cam", metavar="LENGTH"),
        ExportOption("cam", "cam of which only the profile is drawn, with base circle and pitch curve", metavar="NAME"),
    ),
    texts=texts,
)
