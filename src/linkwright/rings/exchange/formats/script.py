"""A script for pages and node: see `linkwright.kernels.export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, listed, transmission_of, warn_of_losses


def write(
    mechanism: Any, path: Any, *, kernels: Any = None, free: Any = None, name: str | None = None, motors: Any = None, joints: Any = None
) -> list[Path]:
    place = files.checked(path, FORMAT.endings)
    t = transmission_of(mechanism, motors, joints, {"kernels": kernels, "free": free})
    if t is not None:
        return [files.write_text(place, FORMAT.endings, t.javascript(name or "transmission"))]
    warn_of_losses(mechanism, "script", laws=False)
    text = mechanism.system.javascript(kernels, free=free, name=name or "mechanism")
    return [files.write_text(place, FORMAT.endings, text)]


FORMAT = ExportFormat(
    name="script",
    endings=(".js",),
    about="a script for pages and node that computes by itself",
    options=(
        ExportOption("kernels", "kernels by name (default: those of docs/export.md)", metavar="A,B", read=listed),
        ExportOption("free", "numbers that stay inputs: names or patterns", flag="--variable", metavar="A,B", read=listed),
        ExportOption("name", "the object that it defines (default: mechanism, or transmission)", metavar="NAME"),
        *TRANSMISSION,
    ),
    write=write,
)
