"""MuJoCo's XML: see `linkwright.rings.exchange.writing.mujoco.text`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, number, tree_of


def write(mechanism: Any, path: Any, *, motors: Any = None, joints: Any = None, **options: Any) -> list[Path]:
    from linkwright.rings.exchange.writing import losses
    from linkwright.rings.exchange.writing.mujoco import text as mujoco

    place, model = files.checked(path, FORMAT.endings), tree_of(mechanism, motors, joints)
    found = mujoco.mjcf(model, folder=os.path.dirname(os.path.abspath(place)), **options)
    written = files.write_text(place, FORMAT.endings, found.text)
    losses.warn("MJCF", model.description.name, found.lost, mujoco.ADVICE)
    return [written]


FORMAT = ExportFormat(
    name="mjcf",
    endings=(".xml", ".mjcf"),
    about="MuJoCo's XML (MJCF)",
    options=(
        ExportOption("timestep", "time step in seconds (default: 1e-3); loops are as stiff as it allows", metavar="SECONDS", read=number),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    write=write,
)
