"""MuJoCo's XML: see `linkwright.rings.exchange.writing.mujoco.text`."""

from __future__ import annotations

from typing import Any

from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportedTexts, ExportFormat, ExportOption, number, tree_of


def texts(mechanism: Any, file: str, folder: str | None, *, motors: Any = None, joints: Any = None, **options: Any) -> ExportedTexts:
    from linkwright.rings.exchange.writing.mujoco import text as mujoco

    found = mujoco.mjcf(tree_of(mechanism, motors, joints), folder=folder, **options)
    return ExportedTexts({file: found.text}, found.lost, "MJCF", mujoco.ADVICE)


FORMAT = ExportFormat(
    name="mjcf",
    endings=(".xml", ".mjcf"),
    about="MuJoCo's XML (MJCF)",
    options=(
        ExportOption("timestep", "time step in seconds (default: 1e-3, loops are as stiff as it allows)", metavar="SECONDS", read=number),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    texts=texts,
)
