"""`backdrop:`, a photo or a drawing behind the mechanism: read and checked, of no concern to mechanics.

    backdrop: {file: photo.jpg, at: [-120, -40], scale: 0.25 mm, angle: 2 deg, opacity: 0.4}

`scale` is the length of a pixel, or of a millimeter of a DXF or SVG file. `at` is the place of the lower left corner of a photo and of the
origin of a drawing; `angle` turns it about that place.
"""

from __future__ import annotations

from dataclasses import dataclass

from linkwright.model.file.reading_context import Context
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import ANGLE, LENGTH, NONE, Dimension

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
DRAWINGS = (".dxf", ".svg")
FILES = (*IMAGES, *DRAWINGS)
KEYS: dict[str, Dimension] = {"scale": LENGTH, "angle": ANGLE, "opacity": NONE}
BACKDROP_KEYS = ("file", "at", *KEYS)  # the first is required
PIXEL = 0.001  # m: of an image without a scale
OPACITY = 0.5


@dataclass(frozen=True)
class Backdrop:
    """A file beside the model, and how it is drawn: SI and radians."""

    file: str
    at: tuple[float, float] = (0.0, 0.0)
    scale: float = PIXEL
    angle: float = 0.0
    opacity: float = OPACITY
    line: int = 0

    @property
    def is_image(self) -> bool:
        return self.file.lower().endswith(IMAGES)


def read_backdrop(context: Context, node: FileNode | None) -> Backdrop | None:
    """The picture behind the drawing; None if there is none. Raise ModelError for keys, numbers and files that it cannot have."""
    if node is None or node.text == "":
        return None
    keys = node.keys("backdrop", BACKDROP_KEYS, BACKDROP_KEYS[:1])
    file = keys["file"].string("backdrop: file")
    if not file.lower().endswith(FILES):
        raise keys["file"].error(f"backdrop: '{file}' is neither a picture nor a drawing. Use {', '.join(FILES)}.", name=file)
    context.files.append(keys["file"])
    values = {
        key: context.numeric(context.number(keys[key], dimension, f"backdrop: {key}")) for key, dimension in KEYS.items() if key in keys
    }
    if values.get("scale", 1.0) <= 0.0:
        raise keys["scale"].error("backdrop: the scale, the length of a pixel or unit, must be greater than zero.")
    if not 0.0 <= values.get("opacity", 1.0) <= 1.0:
        raise keys["opacity"].error("backdrop: opacity is between 0 and 1.")
    x, y, _ = context.numerics(context.vector(keys["at"], LENGTH, "backdrop: at")) if "at" in keys else (0.0, 0.0, 0.0)
    return Backdrop(file, (x, y), **values, line=node.where.line)
