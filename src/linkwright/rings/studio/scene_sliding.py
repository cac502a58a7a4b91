"""Sliding pairs of moving bodies: which of them are a barrel with its rod, and what joins a slot to its link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from linkwright.numerics.tolerances import AT_END
from linkwright.rings.studio.outlines import dense, inside


def distinct(places: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Places that differ by more than round-off of their size."""
    every = [np.asarray(p, dtype=float) for p in places]
    size = float(np.ptp(np.array(every), axis=0).max()) or 1.0 if every else 1.0
    out: list[np.ndarray] = []
    for p in every:
        if all(np.linalg.norm(p - q) > 1e-6 * size for q in out):
            out.append(p)
    return out


def between_ends(ends: Sequence[np.ndarray], paths: Iterable[np.ndarray]) -> bool:
    """True if places never leave the line between two ends; all are (n, 3), over the same instants."""
    base, way = ends[0], ends[1] - ends[0]
    squared = np.sum(way * way, axis=1)
    shares = [np.sum((path - base) * way, axis=1) / squared for path in paths]
    return all(share.min() >= -AT_END and share.max() <= 1.0 + AT_END for share in shares)


def arm(pieces: Sequence[tuple[np.ndarray, bool]], rail: np.ndarray) -> np.ndarray | None:
    """(2, 3): the shortest line from a corner of a link's pieces (points, closed) to a place of its rail; None if they touch."""
    if not pieces:
        return None
    outline = np.concatenate([dense(np.vstack([p, p[:1]]) if closed else p) for p, closed in pieces])
    drawn = dense(dense(rail))
    size = float(np.ptp(np.concatenate([outline, drawn]), axis=0).max())
    gap = np.linalg.norm(outline[:, None] - drawn[None], axis=2).min()
    corners = np.concatenate([p for p, _ in pieces])
    i, k = np.unravel_index(np.argmin(np.linalg.norm(corners[:, None] - rail[None], axis=2)), (len(corners), len(rail)))
    line = np.array([corners[i], rail[k]])
    apart = 0.05  # gap between a slot and its link, as a share of their size, above which an arm is drawn
    if gap <= apart * size or any(closed and len(p) > 2 and inside(line, p) for p, closed in pieces):
        return None
    return line
