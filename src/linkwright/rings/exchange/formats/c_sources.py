"""C99 sources for controllers: see `linkwright.kernels.export`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from linkwright.rings.exchange.formats.base import (
    PYTHON_ONLY,
    TRANSMISSION,
    ExportedTexts,
    ExportFormat,
    ExportOption,
    alone,
    listed,
    transmission_of,
    warn_of_losses,
)


def texts(
    mechanism: Any,
    file: str,
    folder: str | None,
    *,
    name: str | None = None,
    kernels: Any = None,
    parameters: Any = None,
    drives: Any = None,
    moved: Any = None,
    fallback: bool | None = None,
    precision: str = "double",
    motors: Any = None,
    joints: Any = None,
    tasks: Any = None,
    by: Any = None,
    points: Any = None,
    contacts: Any = None,
) -> ExportedTexts:
    """The header and the source; `file` is either of them."""
    from linkwright.api import transmission_sources
    from linkwright.kernels import c_sources

    stem = Path(file).stem
    prefix = prefix_of(stem) if name is None else name
    whole = {"kernels": kernels, "parameters": parameters, "drives": drives, "moved": moved, "fallback": fallback}
    asked = {"tasks": tasks, "by": by, "points": points, "contacts": contacts}
    terms = {key: x for key, x in asked.items() if x is not None}
    t = transmission_of(mechanism, motors, joints, {**whole, **asked})
    if terms:
        alone("terms by name", whole)
        found = getattr(mechanism, "system", mechanism).named_terms(**terms).c(prefix, precision)
    elif t is not None:
        found = transmission_sources.c(t.core.kernels, t._sides, name=prefix, precision=precision)
    else:
        warn_of_losses(mechanism, "C", laws=False)
        ways: dict[str, Any] = {"parameters": parameters, "drives": drives, "moved": moved or ()}
        options: dict[str, Any] = {**ways, "precision": precision, "fallback": fallback is not False}
        found = c_sources.c(getattr(mechanism, "system", mechanism).kernels, kernels, name=prefix, **options)
    included = f'#include "{prefix}.h"', f'#include "{stem}.h"'
    return ExportedTexts({f"{stem}{ending}": found[f"{prefix}{ending}"].replace(*included) for ending in FORMAT.endings})


def prefix_of(stem: str) -> str:
    """A file's name as the beginning of C names."""
    plain = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_") or "model"
    return f"m{plain}" if plain[0].isdigit() else plain


FORMAT = ExportFormat(
    name="c",
    endings=(".h", ".c"),
    about="C99 for controllers: a header and a source, no allocation, single or double precision",
    options=(
        ExportOption("precision", "precision: double (default) or single", metavar="NAME"),
        ExportOption("kernels", "kernels by name (default: forward and inverse dynamics and more)", metavar="A,B", read=listed),
        ExportOption("parameters", "numbers that stay inputs: names or patterns", metavar="A,B", read=listed),
        ExportOption("drives", "drives: joints and cylinders in place of the model's", metavar="A,B", read=listed),
        ExportOption("moved", "joints and cylinders whose motion is prescribed, step by step", metavar="A,B", read=listed),
        ExportOption("fallback", "False leaves out the step through singular positions", flag=PYTHON_ONLY),
        ExportOption("name", "name of files and symbols inside (default: the name of the file)", metavar="NAME"),
        *TRANSMISSION,
        ExportOption("tasks", "bodies, points or com of terms by name, which are written alone", metavar="A,B", read=listed),
        ExportOption("contacts", "points and contacts of terms by name", metavar="A,B", read=listed),
        ExportOption("by", "columns of terms by name (default: independent)", metavar="A,B", read=listed),
        ExportOption("points", "points that terms by name add to bodies", flag=PYTHON_ONLY),
    ),
    texts=texts,
)
