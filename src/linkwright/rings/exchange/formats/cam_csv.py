"""The profile of a cam as a table, 1:1: coordinates in millimeters in the axes of its disc, angles in degrees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwright.rings.exchange.formats.base import ExportedTexts, ExportFormat, ExportOption

DIGITS = 9


def texts(mechanism: Any, file: str, folder: str | None, cam: str | None = None, steps: int = 1440) -> ExportedTexts:
    design = mechanism.cam(cam, steps=steps)
    table = replace(design, units=("mm", "deg")).table()
    lines = [f"# linkwright: profile of cam '{design.name}' about the center of joint '{design.disc}'"]
    lines += [",".join(c.head for c in table.columns)]
    lines += [",".join(f"{x:.{DIGITS}g}" for x in row) for row in table.rows]
    return ExportedTexts({file: "\n".join([*lines, ""])})


FORMAT = ExportFormat(
    name="cam",
    endings=(".csv",),
    about="the profile of a cam as a table: angle, lift, profile and pitch curve in mm, pressure angle, curvature",
    options=(
        ExportOption("cam", "cam, if there are several", metavar="NAME"),
        ExportOption("steps", "number of equal steps: samples of the profile (default 1440)", metavar="N", read=int),
    ),
    texts=texts,
)
