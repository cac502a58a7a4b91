"""Photos and drawings behind the mechanism: images as they are, DXF and SVG as outlines."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from linkwright.api import UsageError, files
from linkwright.model.file.backdrop import DRAWINGS, FILES, IMAGES

MOST_BYTES = 20_000_000
MARKS = {  # how files of a kind begin
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".webp": (b"RIFF",),
}
TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}


def backdrop_json(folder: Path, file: str) -> dict[str, Any]:
    """The content of a file beside the model: an image, or lines in its own units (a DXF or SVG file in millimeters)."""
    if any(c in file for c in "/\\\0"):
        raise UsageError("a background picture is a file next to the model, without a folder.")
    ending = Path(file).suffix.lower()
    path = folder / file
    if ending in IMAGES:
        data = files.read_regular(path, MOST_BYTES)
        _need_mark(file, data)
        size = image_size(ending, data)
        return {"kind": "image", "data": f"data:{TYPES[ending]};base64,{base64.b64encode(data).decode('ascii')}", "size": size}
    if ending in DRAWINGS:
        return _lines(path, ending)
    raise UsageError(f"'{file}' is neither a picture nor a drawing. Use {', '.join(FILES)}.", name=file)


def _lines(path: Path, ending: str) -> dict[str, Any]:
    import numpy as np

    from linkwright.rings.exchange.reading.sketches.drawing_contents import arc_points

    if ending == ".dxf":
        from linkwright.rings.exchange.reading.sketches.dxf import read_dxf as read
    else:
        from linkwright.rings.exchange.reading.sketches.svg import read_svg as read
    sketch = read(path)
    rings = [arc_points(m.at, m.radius, 0.0, 2.0 * np.pi) for m in sketch.marks if m.radius > 0.0]
    lines = [np.vstack([s.points, s.points[:1]]) if s.closed else s.points for s in sketch.strokes] + rings
    if not lines:
        raise UsageError(f"'{path.name}' has no lines to show.", name=path.name)
    most_points = 200_000  # of outlines
    if sum(len(line) for line in lines) > most_points:
        raise UsageError(f"'{path.name}' has more than {most_points} points. Leave out layers and save it again.", name=path.name)
    every = np.concatenate(lines)
    digits = 6  # of a millimeter
    shown = [[[round(float(x), digits), round(float(y), digits)] for x, y in line] for line in lines]
    return {"kind": "lines", "lines": shown, "low": every.min(axis=0).tolist(), "high": every.max(axis=0).tolist()}


def stored(folder: Path, name: str, data: bytes) -> str:
    """Put an uploaded file beside the model; its name. The same file again is not stored twice, another one gets a number."""
    ending = Path(name).suffix.lower()
    if (
        not name
        or any(c in name for c in "/\\\0:")
        or name.startswith(".")
        or ending not in FILES
        or len(name) > 120
        or not name.isprintable()
    ):
        raise UsageError(f"'{name[:60]}' cannot be a background picture. Use a file that ends in {', '.join(FILES)}.")
    if ending in IMAGES:
        _need_mark(name, data)
    stem = name[: -len(ending)]
    for k in range(1, 1000):
        path = folder / (f"{stem}{ending}" if k == 1 else f"{stem}-{k}{ending}")
        if path.exists():
            if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
                return path.name
            continue
        with files.replacing(path, (ending,)) as temporary:
            temporary.write_bytes(data)
        return path.name
    raise UsageError(f"there are too many files called {stem}{ending}. Rename it.")


def _need_mark(name: str, data: bytes) -> None:
    ending = Path(name).suffix.lower()
    if not data.startswith(MARKS[ending]) or (ending == ".webp" and data[8:12] != b"WEBP"):
        raise UsageError(f"'{name}' does not hold the picture that its ending promises. Save it again as {', '.join(IMAGES)}.", name=name)


def image_size(ending: str, data: bytes) -> list[int] | None:
    """Width and height in pixels, where the head of the file says so; None: the page measures it."""
    if ending == ".png" and len(data) >= 24:
        return [int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")]
    if ending == ".gif" and len(data) >= 10:
        return [int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")]
    return None
