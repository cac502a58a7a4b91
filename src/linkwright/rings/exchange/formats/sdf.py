"""SDF: see `linkwright.rings.exchange.writing.robots.sdf`."""

from __future__ import annotations

from typing import Any

from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportedTexts, ExportFormat, ExportOption, number, tree_of


def texts(
    mechanism: Any, file: str, folder: str | None, *, alone: bool = False, motors: Any = None, joints: Any = None, **options: Any
) -> ExportedTexts:
    from linkwright.rings.exchange.writing.robots import sdf_text

    found = sdf_text(tree_of(mechanism, motors, joints), world=not alone, folder=folder, **options)
    return ExportedTexts({file: found.text}, found.lost, "SDF")


FORMAT = ExportFormat(
    name="sdf",
    endings=(".sdf",),
    about="SDF 1.11, loops as joints",
    options=(
        ExportOption("alone", "model without a world around it, and without its gravity", switch=True),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    texts=texts,
)
