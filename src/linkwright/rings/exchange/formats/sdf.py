"""SDF: see `linkwright.rings.exchange.writing.robots.sdf`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, number, tree_of


def write(mechanism: Any, path: Any, *, alone: bool = False, motors: Any = None, joints: Any = None, **options: Any) -> list[Path]:
    from linkwright.rings.exchange.writing import losses
    from linkwright.rings.exchange.writing.robots import sdf_text

    place, model = files.checked(path, FORMAT.endings), tree_of(mechanism, motors, joints)
    found = sdf_text(model, world=not alone, folder=os.path.dirname(os.path.abspath(place)), **options)
    written = files.write_text(place, FORMAT.endings, found.text)
    losses.warn("SDF", model.description.name, found.lost)
    return [written]


FORMAT = ExportFormat(
    name="sdf",
    endings=(".sdf",),
    about="SDF 1.11, loops as joints",
    options=(
        ExportOption("alone", "a model without a world around it, and without its gravity", switch=True),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    write=write,
)
