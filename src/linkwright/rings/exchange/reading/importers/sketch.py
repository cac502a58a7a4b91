"""Sketches of planar linkages, DXF and SVG: see `linkwright.rings.exchange.reading.sketches`."""

from __future__ import annotations

import os
from typing import Any

from linkwright.api import UsageError
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.importers.base import ImportFormat

OPTIONS = {
    "pins": "layer of the pins (default: by its name, else every circle and point)",
    "links": "layers of the links (default: by their names)",
    "ground": "layer of the ground, or names of fixed pins (default: layer 'ground')",
    "gap": "distance within which a line touches a pin (default: 1/1000 of the drawing's size)",
    "unit": "unit of length, in place of the file's",
}


def _read(path: str | os.PathLike[str], folders: Any = None, **options: Any) -> Imported:
    from linkwright.rings.exchange.reading.sketches import read_sketch

    if folders is not None:
        raise UsageError("folders hold meshes and included models. A drawing names none. Leave them out.", name="folders")
    return read_sketch(path, **options).imported


FORMAT = ImportFormat(
    name="sketch",
    endings=(".dxf", ".svg"),
    roots=("svg",),
    about="drawings of planar linkages",
    read=_read,
    options=OPTIONS,
)
