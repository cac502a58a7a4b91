"""URDF: see `linkwright.rings.exchange.writing.robots.urdf`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.errors import UsageError
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, number, tree_of


def write(mechanism: Any, path: Any, *, motors: Any = None, joints: Any = None, **options: Any) -> list[Path]:
    from linkwright.rings.exchange.writing import losses
    from linkwright.rings.exchange.writing.robots import urdf_text

    place, model = files.checked(path, FORMAT.endings), tree_of(mechanism, motors, joints)
    found = urdf_text(model, folder=os.path.dirname(os.path.abspath(place)), **options)
    beside = {place.with_suffix(ending): text for ending, text in found.beside.items()}
    for other in beside:
        if other.exists() and not files.made_by_linkwright(other):
            raise UsageError(
                f"the loops of '{files.shown(place)}' belong into '{files.shown(other)}', which exists and was not made by Linkwright. "
                "Give the URDF another name."
            )
    written = [files.write_text(place, FORMAT.endings, found.text)]
    written += [files.write_text(other, (other.suffix,), text) for other, text in beside.items()]
    losses.warn("URDF", model.description.name, found.lost)
    return written


FORMAT = ExportFormat(
    name="urdf",
    endings=(".urdf",),
    about="URDF, with its loops in one of seven dialects",
    options=(
        ExportOption(
            "dialect",
            "how loops are written: plain (default: they are lost), urdf+, constraint, loop_joint, gepetto, onshape or two-parents",
            metavar="NAME",
        ),
        ExportOption("zero", "where joints are zero: start (default) or model, as in the model file", metavar="WHERE"),
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    write=write,
)
