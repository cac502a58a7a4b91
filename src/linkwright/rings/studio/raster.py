"""Triangles as an image with hidden surfaces removed: every pixel shows the nearest one (a depth buffer in numpy).

Triangles are halved until they are small, their pixels found by the signs of three edge functions, sorted by depth and written far
to near. Borders between bodies are drawn as dark lines; the image is made twice as large and averaged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CLASSES = (4, 8, 16, 26)  # pixels of the boxes in which triangles of one size are filled together
FINER = 2  # pixels of the depth buffer along an edge of one in the image


class Seen(NamedTuple):
    """Triangles on the screen: corners (n, 3, 3) in pixels (y up) with depth that grows away from the viewer, their colors and owners."""

    corners: np.ndarray
    colors: np.ndarray  # (n, 3)
    owners: np.ndarray  # (n,) numbers of bodies
    edges: np.ndarray  # (bodies, 3): colors of their borders


def image(seen: Seen, width: int, height: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The pixels (rows, columns, 4) around the triangles inside a window, the first row on top, and the lower left corner of their box."""
    flat = seen.corners[:, :, :2].reshape(-1, 2)
    low = np.clip(np.floor(flat.min(axis=0)) - 1.0, 0.0, (width - 1, height - 1)).astype(int)
    high = np.clip(np.ceil(flat.max(axis=0)) + 1.0, low + 1, (width, height)).astype(int)
    shifted = (seen.corners - np.array([*low, 0.0])) * np.array([FINER, FINER, 1.0])
    return _image(seen, shifted, *(high - low)), (int(low[0]), int(low[1]))


def _image(seen: Seen, corners: np.ndarray, width: int, height: int) -> np.ndarray:
    w, h = FINER * width, FINER * height
    corners, which = _halved(corners, np.arange(len(corners)), w, h)
    pixels, depths, shown = _filled(corners, which, w, h)
    order = np.argsort(-depths, kind="stable")
    face = np.full(w * h, -1, dtype=np.int32)
    face[pixels[order]] = shown[order]
    face = face.reshape(h, w)
    owner = np.where(face >= 0, seen.owners[face], -1)
    out = np.empty((h, w, 4), dtype=np.float32)
    out[..., :3] = seen.colors.astype(np.float32)[face]
    border = _borders(owner)
    out[border, :3] = seen.edges[owner[border]]
    out[..., 3] = face >= 0
    out[..., :3] *= out[..., 3:]
    small = out.reshape(height, FINER, width, FINER, 4).mean(axis=(1, 3))
    small[..., :3] /= np.maximum(small[..., 3:], 1e-6)
    return np.clip(small[::-1], 0.0, 1.0)


def _borders(owner: np.ndarray) -> np.ndarray:
    """Pixels of a body beside another body or nothing."""
    border = np.zeros(owner.shape, dtype=bool)
    for axis in (0, 1):
        differs = np.diff(owner, axis=axis) != 0
        first, second = [(slice(None, -1), slice(1, None))[i] for i in (0, 1)]
        a, b = ((first, slice(None)), (second, slice(None))) if axis == 0 else ((slice(None), first), (slice(None), second))
        border[a] |= differs
        border[b] |= differs
    wider = border.copy()
    wider[1:] |= border[:-1]
    wider[:, 1:] |= border[:, :-1]
    return wider & (owner >= 0)


def _halved(corners: np.ndarray, which: np.ndarray, w: int, h: int) -> tuple[np.ndarray, np.ndarray]:
    """Triangles cut across their longest edge until it is short, without those outside the window; `which` follows."""
    done: list[tuple[np.ndarray, np.ndarray]] = []
    largest = 24.0  # pixels of a triangle's longest edge
    rounds = 24  # halvings: far more than a screen needs
    for _ in range(rounds):
        low, high = corners[:, :, :2].min(axis=1), corners[:, :, :2].max(axis=1)
        inside = (high > 0.0).all(axis=1) & (low < (w, h)).all(axis=1)
        corners, which = corners[inside], which[inside]
        sides = np.linalg.norm((np.roll(corners, -1, axis=1) - corners)[:, :, :2], axis=2)
        longest = np.argmax(sides, axis=1)
        large = sides.max(axis=1, initial=0.0) > largest
        done.append((corners[~large], which[~large]))
        if not large.any():
            break
        turned = np.take_along_axis(corners[large], ((longest[large][:, None] + np.arange(3)) % 3)[:, :, None], axis=1)
        a, b, c = turned[:, 0], turned[:, 1], turned[:, 2]
        middle = 0.5 * (a + b)
        corners = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
        which = np.concatenate([which[large]] * 2)
    every, owners = zip(*done, strict=True)
    return np.concatenate(every), np.concatenate(owners)


def _filled(corners: np.ndarray, which: np.ndarray, w: int, h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(pixel, depth, triangle) of everything that the triangles cover."""
    low = np.floor(corners[:, :, :2].min(axis=1))
    size = np.ceil(corners[:, :, :2].max(axis=1) - low).max(axis=1) + 1
    parts = []
    for k, edge in enumerate(CLASSES):
        chosen = (size <= edge) & (size > (CLASSES[k - 1] if k else 0))
        if chosen.any():
            parts.append(_filled_boxes(corners[chosen], low[chosen], which[chosen], edge, w, h))
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)
    pixels, depths, shown = (np.concatenate(x) for x in zip(*parts, strict=True))
    return pixels, depths, shown


def _filled_boxes(
    corners: np.ndarray, low: np.ndarray, which: np.ndarray, edge: int, w: int, h: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    steps = np.arange(edge) + 0.5
    x = (low[:, 0, None, None] + steps[None, None, :]).astype(np.float32)
    y = (low[:, 1, None, None] + steps[None, :, None]).astype(np.float32)
    a, b, c = (corners[:, i, :, None, None].astype(np.float32) for i in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    area = np.where(np.abs(area) > 1e-6, area, np.float32(np.inf))
    u = ((c[:, 0] - b[:, 0]) * (y - b[:, 1]) - (c[:, 1] - b[:, 1]) * (x - b[:, 0])) / area
    v = ((a[:, 0] - c[:, 0]) * (y - c[:, 1]) - (a[:, 1] - c[:, 1]) * (x - c[:, 0])) / area
    t = 1.0 - u - v
    covered = (u >= -1e-4) & (v >= -1e-4) & (t >= -1e-4) & np.isfinite(area) & (x >= 0) & (x < w) & (y >= 0) & (y < h)
    n, row, column = np.nonzero(covered)
    pixels = ((low[n, 1].astype(np.int64) + row) * w + low[n, 0].astype(np.int64) + column).astype(np.int32)
    depths = u[covered] * a[n, 2, 0, 0] + v[covered] * b[n, 2, 0, 0] + t[covered] * c[n, 2, 0, 0]
    return pixels, depths, which[n]
