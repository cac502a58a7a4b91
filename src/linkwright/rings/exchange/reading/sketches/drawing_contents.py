"""Contents of a drawing, whatever its format: marks, strokes and labels on layers, in millimeters with y up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwright.api import Source
from linkwright.properties import cached_property

Place = tuple[float, float]
MOST_PIECES = 300  # of an outline
FINEST = 1e-3  # share of its radius by which a flattened arc may leave the curve


@dataclass(frozen=True)
class Mark:
    """A circle (or a point, radius 0) that may be a pin."""

    at: Place
    radius: float
    layer: str
    name: str = ""


@dataclass(frozen=True, eq=False)
class Stroke:
    """A polyline; `corners` are the vertices that may touch pins, `points` all of them (arcs flattened). `groups`: blocks or groups of
    the file that it belongs to, outermost first, each by a key of its own."""

    points: np.ndarray  # (n, 2)
    closed: bool
    layer: str
    name: str = ""
    groups: tuple[str, ...] = ()
    corners: np.ndarray | None = None

    @property
    def vertices(self) -> np.ndarray:
        return self.points if self.corners is None else self.corners


@dataclass(frozen=True)
class Label:
    """A text that may name what is beside it."""

    at: Place
    text: str
    layer: str
    height: float


@dataclass(frozen=True)
class Sketch:
    """The contents of a drawing in millimeters. `notes`: inferences of the reader, `dropped`: kinds of entities left out."""

    file: str
    format: str
    marks: tuple[Mark, ...]
    strokes: tuple[Stroke, ...]
    labels: tuple[Label, ...]
    layers: tuple[str, ...]
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        return Source(self.file)

    @cached_property
    def size(self) -> float:
        """Larger side of the box around marks and strokes."""
        places = [np.array([m.at for m in self.marks]).reshape(-1, 2), *(s.points for s in self.strokes)]
        every = np.concatenate(places)
        return float(np.ptp(every, axis=0).max()) if len(every) else 0.0


def arc_points(center: Place, radius: float, begin: float, sweep: float) -> np.ndarray:
    """Points on an arc from the angle `begin` over `sweep` (rad), ends included."""
    step = 2.0 * np.arccos(1.0 - FINEST)
    angles = begin + np.linspace(0.0, sweep, max(2, int(np.ceil(abs(sweep) / step)) + 1))
    return np.asarray(center) + radius * np.column_stack([np.cos(angles), np.sin(angles)])


def as_circle(points: np.ndarray) -> tuple[Place, float] | None:
    """(center, radius) of a closed curve that is a circle, else None."""
    ring = points[:-1] if np.linalg.norm(points[0] - points[-1]) < 1e-9 * (1.0 + float(np.ptp(points))) else points
    if len(ring) < 8:
        return None
    center = 0.5 * (ring.min(axis=0) + ring.max(axis=0))
    radii = np.linalg.norm(ring - center, axis=1)
    radius = float(radii.mean())
    return ((float(center[0]), float(center[1])), radius) if radius > 0.0 and float(np.ptp(radii)) <= 0.01 * radius else None


def encloses(ring: np.ndarray, at: Place) -> bool:
    """True if a point is inside a closed polygon (even-odd rule)."""
    x, y = ring[:, 0], ring[:, 1]
    x2, y2 = np.roll(x, -1), np.roll(y, -1)
    crosses = (y > at[1]) != (y2 > at[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = x + (at[1] - y) * (x2 - x) / np.where(y2 == y, 1.0, y2 - y)
    return bool(np.count_nonzero(crosses & (at[0] < reach)) % 2)


def from_segment(points: np.ndarray, at: Place) -> float:
    """Distance of a point from a polyline."""
    a, b, p = points[:-1], points[1:], np.asarray(at)
    d = b - a
    length = np.maximum(np.sum(d * d, axis=1), 1e-300)
    t = np.clip(np.sum((p - a) * d, axis=1) / length, 0.0, 1.0)
    return float(np.linalg.norm(a + t[:, None] * d - p, axis=1).min())


def joined(pieces: list[np.ndarray], tolerance: float) -> np.ndarray | None:
    """One closed ring of polylines that meet end to end, or None."""
    rest = [p for p in pieces if len(p) > 1]
    if not 0 < len(rest) <= MOST_PIECES:
        return None
    ring = rest.pop(0)
    while rest:
        gaps = [(np.linalg.norm(ring[-1] - end), k, flip) for k, p in enumerate(rest) for end, flip in ((p[0], False), (p[-1], True))]
        gap, k, flip = min(gaps)
        if gap > tolerance:
            return None
        piece = rest.pop(k)
        ring = np.vstack([ring, (piece[::-1] if flip else piece)[1:]])
    return ring[:-1] if len(ring) > 3 and np.linalg.norm(ring[0] - ring[-1]) <= tolerance else None
