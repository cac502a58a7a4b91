"""USD: see `linkwright.rings.exchange.writing.robots.usd`."""

from __future__ import annotations

from typing import Any

from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportedTexts, ExportFormat, ExportOption, number, tree_of


def texts(mechanism: Any, file: str, folder: str | None, *, motors: Any = None, joints: Any = None, **options: Any) -> ExportedTexts:
    from linkwright.rings.exchange.writing.robots.usd import usd_text

    found = usd_text(tree_of(mechanism, motors, joints), **options)
    return ExportedTexts({file: found.text}, found.lost, "USD")


FORMAT = ExportFormat(
    name="usd",
    endings=(".usda",),
    about="USD with UsdPhysics, loops as joints outside of the articulation",
    options=(
        ExportOption("floor", "least inertia of a body, as a share of the mechanism's", metavar="SHARE", read=number),
        *TRANSMISSION,
    ),
    texts=texts,
)
