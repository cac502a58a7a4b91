"""URDF: see `linkwright.rings.exchange.writing.robots.urdf`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportedTexts, ExportFormat, ExportOption, number, tree_of


def texts(mechanism: Any, file: str, folder: str | None, *, motors: Any = None, joints: Any = None, **options: Any) -> ExportedTexts:
    from linkwright.rings.exchange.writing.robots import urdf_text

    found = urdf_text(tree_of(mechanism, motors, joints), folder=folder, **options)
    beside = {f"{Path(file).stem}{ending}": text for ending, text in found.beside.items()}  # loops, in some dialects
    return ExportedTexts({file: found.text, **beside}, found.lost, "URDF")


FORMAT = ExportFormat(
    name="urdf",
    endings=(".urdf",),
    about="URDF, with its loops in one of seven dialects",
    options=(
        ExportOption(
            "dialect",
            "dialect for loops: plain (default: they are lost), urdf+, constraint, loop_joint, gepetto, onshape or two-parents",
            metavar="NAME",
        ),
        ExportOption("zero", "zero of the joints: start (default) or model, as in the model file", metavar="WHERE"),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    texts=texts,
)
