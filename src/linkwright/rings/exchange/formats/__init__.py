"""Formats that a mechanism is exported to, chosen by the ending of the file: `m.export("wiper.fmu")`, `linkwright export`.

Without a path the texts are returned: `m.export(format="mjcf")["model.xml"]`. A format is one file here, whose FORMAT says its endings,
its options and the function that makes its texts, and one line in `FORMATS`. What it needs is imported when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkwright.api import UsageError, errors, files, nearest
from linkwright.rings.exchange.formats import c_sources, cam_csv, dxf, fmu, mjcf, ros2, script, sdf, svg, urdf, usd
from linkwright.rings.exchange.formats.base import ExportedTexts, ExportFormat, ExportOption

_MODULES = (fmu, c_sources, script, ros2, mjcf, urdf, sdf, usd, dxf, svg, cam_csv)
FORMATS: dict[str, ExportFormat] = {x.FORMAT.name: x.FORMAT for x in _MODULES}


def format_of(path: Any, named: str | None = None, more: tuple[str, ...] = ()) -> ExportFormat:
    """The format of a file: the one named, or that of its ending. `more`: endings that the caller knows besides, for the message."""
    if named is not None:
        if named not in FORMATS:
            raise UsageError(f"there is no format '{named}'.", nearest(str(named), FORMATS, "Formats"))
        return FORMATS[named]
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"export needs the path of the file to write, not {type(path).__name__}.", value=path)
    ending = os.path.splitext(os.fspath(path))[1].lower()
    found = [x for x in FORMATS.values() if ending in x.endings]
    if not found:
        if ending in files.MODELS:
            raise UsageError(
                f"a model file ({ending}) is not an export: m.save('my{ending}') or `linkwright export MODEL -o my{ending}` writes it.",
                name="path",
            )
        every = [*more, *(e for x in FORMATS.values() for e in x.endings)]
        kind = f"unsupported file type '{ending}'" if ending else f"'{os.fspath(path)}' has no file type"
        raise UsageError(f"{kind}. Use {', '.join(every[:-1])} or {every[-1]}, or name a format: {', '.join(FORMATS)}.")
    return found[0]


def export(mechanism: Any, path: Any, named: str | None, options: Mapping[str, Any]) -> Path | dict[str, str]:
    """Write a mechanism to a file (and those that belong to it) and return its path; without a path return the texts by file name."""
    if path is None and named is None:
        some = ", ".join(FORMATS)
        raise UsageError(
            f"export needs a path, m.export('model.xml'), or a format for its texts, m.export(format='mjcf'): {some}.", name="path"
        )
    chosen = format_of(path, named)
    known = [x.keyword for x in chosen.options]
    for key in options:
        if key not in known:
            raise UsageError(errors.no_option(f"export to {chosen.name}", key, known))
    if path is None:
        return chosen.as_texts(mechanism, **options)
    chosen.write(mechanism, path, **options)
    return Path(path)


__all__ = ["FORMATS", "ExportFormat", "ExportOption", "ExportedTexts", "export", "format_of"]
