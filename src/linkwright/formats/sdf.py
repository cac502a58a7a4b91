"""SDF: see `linkwright.exchange.writing.robots.sdf`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.formats.base import ExportFormat, ExportOption, number


def write(mechanism: Any, path: Any, *, alone: bool = False, **options: Any) -> list[Path]:
    from linkwright.exchange.writing import losses
    from linkwright.exchange.writing.robots import sdf_text

    place = files.checked(path, FORMAT.endings)
    found = sdf_text(mechanism, world=not alone, folder=os.path.dirname(os.path.abspath(place)), **options)
    written = files.write_text(place, FORMAT.endings, found.text)
    losses.warn("SDF", mechanism.description.name, found.lost)
    return [written]


FORMAT = ExportFormat(
    name="sdf",
    endings=(".sdf",),
    about="SDF 1.11, loops as joints",
    options=(
        ExportOption("alone", "a model without a world around it, and without its gravity", switch=True),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
    ),
    write=write,
)
