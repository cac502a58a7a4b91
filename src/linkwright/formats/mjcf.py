"""MuJoCo's XML: see `linkwright.exchange.writing.mujoco.text`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.formats.base import ExportFormat, ExportOption, number


def write(mechanism: Any, path: Any, **options: Any) -> list[Path]:
    from linkwright.exchange.writing import losses
    from linkwright.exchange.writing.mujoco import text as mujoco

    place = files.checked(path, FORMAT.endings)
    found = mujoco.mjcf(mechanism, folder=os.path.dirname(os.path.abspath(place)), **options)
    written = files.write_text(place, FORMAT.endings, found.text)
    losses.warn("MJCF", mechanism.description.name, found.lost, mujoco.ADVICE)
    return [written]


FORMAT = ExportFormat(
    name="mjcf",
    endings=(".xml", ".mjcf"),
    about="MuJoCo's XML (MJCF)",
    options=(
        ExportOption("timestep", "time step in seconds (default: 1e-3); loops are as stiff as it allows", metavar="SECONDS", read=number),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
    ),
    write=write,
)
