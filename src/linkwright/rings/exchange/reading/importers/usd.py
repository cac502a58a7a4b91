"""USD with UsdPhysics."""

from __future__ import annotations

import os
from typing import Any

from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.importers.base import ImportFormat


def _read(path: str | os.PathLike[str], folders: Any = None, **options: Any) -> Imported:
    from linkwright.rings.exchange.reading.usd.reader import read_usd

    return read_usd(path, folders=folders, **options)


FORMAT = ImportFormat(
    name="USD",
    endings=(".usd", ".usda", ".usdc"),
    roots=(),
    about="stages with UsdPhysics of Isaac Sim, Newton and others (needs the package usd-core)",
    read=_read,
    options={"drives": "joints that are driven"},
)
