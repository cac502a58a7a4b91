"""A script for pages and node: see `linkwright.kernels.export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.formats.base import ExportFormat, ExportOption, listed, warn_of_losses


def write(mechanism: Any, path: Any, *, kernels: Any = None, **options: Any) -> list[Path]:
    place = files.checked(path, FORMAT.endings)
    warn_of_losses(mechanism, "script", laws=False)
    return [files.write_text(place, FORMAT.endings, mechanism.system.javascript(kernels, **options))]


FORMAT = ExportFormat(
    name="script",
    endings=(".js",),
    about="a script for pages and node that computes by itself",
    options=(
        ExportOption("kernels", "kernels by name (default: those of docs/export.md)", metavar="A,B", read=listed),
        ExportOption("free", "numbers that stay inputs: names or patterns", flag="--variable", metavar="A,B", read=listed),
        ExportOption("name", "the object that it defines (default: mechanism)", metavar="NAME"),
    ),
    write=write,
)
