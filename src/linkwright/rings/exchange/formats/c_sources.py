"""C99 sources for controllers: see `linkwright.kernels.export`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from linkwright import files
from linkwright.rings.exchange.formats.base import TRANSMISSION, ExportFormat, ExportOption, listed, transmission_of, warn_of_losses


def write(
    mechanism: Any,
    path: Any,
    *,
    name: str | None = None,
    kernels: Any = None,
    free: Any = None,
    precision: str = "double",
    motors: Any = None,
    joints: Any = None,
) -> list[Path]:
    """Write the header and the source beside each other; `path` is either of them."""
    place = files.checked(path, FORMAT.endings)
    prefix = prefix_of(place.stem) if name is None else name
    t = transmission_of(mechanism, motors, joints, {"kernels": kernels, "free": free})
    if t is None:
        warn_of_losses(mechanism, "C", laws=False)
    texts = mechanism.system.c(kernels, name=prefix, free=free, precision=precision) if t is None else t.c(prefix, precision=precision)
    out = []
    for ending in FORMAT.endings:
        text = texts[f"{prefix}{ending}"].replace(f'#include "{prefix}.h"', f'#include "{place.stem}.h"')
        out.append(files.write_text(place.with_suffix(ending), FORMAT.endings, text))
    return out


def prefix_of(stem: str) -> str:
    """A file's name as the beginning of C names."""
    plain = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_") or "model"
    return f"m{plain}" if plain[0].isdigit() else plain


FORMAT = ExportFormat(
    name="c",
    endings=(".h", ".c"),
    about="C99 for controllers: a header and a source, no allocation, single or double precision",
    options=(
        ExportOption("precision", "double (default) or single", metavar="KIND"),
        ExportOption("kernels", "kernels by name (default: those of docs/export.md)", metavar="A,B", read=listed),
        ExportOption("free", "numbers that stay inputs: names or patterns", flag="--variable", metavar="A,B", read=listed),
        ExportOption("name", "beginning of all C names (default: that of the file)", metavar="NAME"),
        *TRANSMISSION,
    ),
    write=write,
)
