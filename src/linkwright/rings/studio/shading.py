"""Surfaces of bodies in pictures: shaded triangles in space, filled outlines in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.rings.studio.style import Theme, mixed

DARKEST = 0.2  # share of the light on a face that it only grazes
DIM = 0.3  # luminance below which borders are lighter than the color


def shaded(corners: np.ndarray, color: Any, toward: np.ndarray, look: Theme) -> np.ndarray:
    """(n, 3) colors of triangles (n, 3, 3), lit from above the viewer's shoulder; both sides alike."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    normals *= np.where(normals @ toward < 0.0, -1.0, 1.0)[:, None]
    light = toward + np.array([-0.35 * toward[1], 0.35 * toward[0], 0.75])
    light /= np.linalg.norm(light)
    bright = DARKEST + (1.0 - DARKEST) * np.clip(normals @ light, 0.0, 1.0)
    base, dark = np.array(mixed(color, "#ffffff", 0.5 * look.lighten)), np.array(mixed(color, "#101820", 0.55))
    return dark + bright[:, None] * (base - dark)


def border(color: Any) -> tuple[float, float, float]:
    """The color of a line around a surface: darker, around dark ones lighter."""
    r, g, b = mixed(color, color, 0.0)
    return mixed(color, "#ffffff", 0.3) if 0.3 * r + 0.6 * g + 0.1 * b < DIM else mixed(color, "#101820", 0.55)


def add_image(axes: Any, pixels: np.ndarray, at: tuple[float, float], size: tuple[float, float], z: float) -> None:
    """An image among the other parts of a drawing in space; the lower left corner and the size of its box in inches."""
    from matplotlib.image import BboxImage
    from matplotlib.transforms import Bbox, TransformedBbox

    box = TransformedBbox(Bbox.from_bounds(*at, *size), axes.figure.dpi_scale_trans)
    made = BboxImage(box, interpolation="antialiased", zorder=z)
    made.set_data(pixels)
    made.set_clip_on(False)
    axes.add_artist(made)


def outline_path(lines: Sequence[np.ndarray]) -> Any:
    """A matplotlib path of closed lines, which is filled by the nonzero rule."""
    from matplotlib.path import Path

    vertices, codes = [], []
    for line in lines:
        vertices += [line, line[:1]]
        codes += [Path.MOVETO, *[Path.LINETO] * (len(line) - 1), Path.CLOSEPOLY]
    return Path(np.concatenate(vertices), codes)
