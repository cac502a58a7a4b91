"""Formats that a mechanism is read from, chosen by the ending of the file or the outermost element of its XML: `lw.load("robot.urdf")`.

A format is one file here, whose FORMAT says its endings, its elements, its options and the function that reads it, and one line in
`IMPORTERS`. What it needs is imported when it reads.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright.api import ModelError, Source, files
from linkwright.rings.exchange.reading.importers import mjcf, sdf, sketch, urdf, usd
from linkwright.rings.exchange.reading.importers.base import ImportFormat
from linkwright.rings.exchange.reading.safe_xml import root_name

IMPORTERS: dict[str, ImportFormat] = {x.name: x for x in (urdf.FORMAT, sdf.FORMAT, mjcf.FORMAT, usd.FORMAT, sketch.FORMAT)}
ENDINGS = (*files.ROBOTS, *files.SKETCHES)


def is_importable(path: Any) -> bool:
    """True if the ending of a path is one of the formats'."""
    return isinstance(path, (str, os.PathLike)) and os.path.splitext(os.fspath(path))[1].lower() in ENDINGS


def importer_of(path: Path) -> ImportFormat:
    """The format of a file, by its outermost element, whatever its ending; of drawings and USD by the ending."""
    for x in (sketch.FORMAT, usd.FORMAT):
        if path.suffix.lower() in x.endings:
            return x
    root = root_name(path)
    for x in IMPORTERS.values():
        if root in x.roots:
            return x
    every = ", ".join(f"<{r}> ({x.name})" for x in IMPORTERS.values() for r in x.roots)
    raise ModelError(f"the outermost element is <{root}>. Models begin with {every}.", Source(str(path)), name=root)


__all__ = ["ENDINGS", "IMPORTERS", "ImportFormat", "importer_of", "is_importable"]
