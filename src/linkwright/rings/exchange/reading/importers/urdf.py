"""URDF, with loops in the dialects that people use."""

from __future__ import annotations

import os
from typing import Any

from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.importers.base import CONTACTS, ImportFormat


def _read(path: str | os.PathLike[str], folders: Any = None, **options: Any) -> Imported:
    from linkwright.rings.exchange.reading.urdf.reader import read_urdf

    return read_urdf(path, folders=folders, **options)


FORMAT = ImportFormat(
    name="URDF",
    endings=(".urdf", ".xml"),
    roots=("robot",),
    about="robots of ROS, with closed loops",
    read=_read,
    options={
        "base": "'fixed' (the root link is the ground) or 'free' (it floats)",
        "drives": "joints that are driven",
        "contacts": CONTACTS,
    },
)
