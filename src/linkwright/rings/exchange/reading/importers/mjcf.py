"""MJCF, the models of MuJoCo."""

from __future__ import annotations

import os
from typing import Any

from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.importers.base import CONTACTS, ImportFormat


def _read(path: str | os.PathLike[str], folders: Any = None, **options: Any) -> Imported:
    from linkwright.rings.exchange.reading.mjcf import read_mjcf

    return read_mjcf(path, folders=folders, **options)


FORMAT = ImportFormat(
    name="MJCF",
    endings=(".xml", ".mjcf"),
    roots=("mujoco",),
    about="models of MuJoCo, with connect, weld and joint equalities (needs the package mujoco)",
    read=_read,
    options={
        "keyframe": "name or number of the keyframe to start from, 'qpos0' for none (default: the first)",
        "contacts": CONTACTS,
    },
)
