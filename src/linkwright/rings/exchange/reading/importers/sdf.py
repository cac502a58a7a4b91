"""SDF (SDFormat 1.5 to 1.11), of one model or a world."""

from __future__ import annotations

import os
from typing import Any

from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.importers.base import CONTACTS, ImportFormat


def _read(path: str | os.PathLike[str], folders: Any = None, **options: Any) -> Imported:
    from linkwright.rings.exchange.reading.sdf.reader import read_sdf

    return read_sdf(path, folders=folders, **options)


FORMAT = ImportFormat(
    name="SDF",
    endings=(".sdf", ".world", ".xml"),
    roots=("sdf",),
    about="models and worlds of Gazebo and Drake",
    read=_read,
    options={"drives": "joints that are driven", "only": "one of several models", "contacts": CONTACTS},
)
