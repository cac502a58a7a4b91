"""Outlines of links round their bearing eyes: a line or polygon through pins, offset by the radius of an eye, with arcs at its corners.

A contour is a closed row of (x, y, bulge); the bulge is the tangent of a quarter of the angle of the arc to the next point,
counterclockwise positive, 0 for a straight line, as DXF has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Contour = list[tuple[float, float, float]]


def link_outline(points: np.ndarray, closed: bool, radius: float) -> list[Contour]:
    """Return the outline of a chain of bars or a plate (points in the plane); of a chain too crooked for one, that of each bar."""
    p = _distinct(np.asarray(points, dtype=float)[:, :2])
    if len(p) == 1:
        return [circle_contour(p[0], radius)]
    both_sides = np.vstack([p, p[-2:0:-1]])  # there and back
    plate = p if _area(p) > 0.0 else p[::-1]
    found = _offset(plate if closed and len(p) > 2 else both_sides, radius)
    if found is not None:
        return [found]
    pairs = zip(p, np.roll(p, -1, axis=0) if closed else p[1:], strict=False)
    return [x for a, b in pairs if (x := _offset(np.array([a, b]), radius)) is not None]


def circle_contour(at: np.ndarray, radius: float) -> Contour:
    return [(float(at[0]) + radius, float(at[1]), 1.0), (float(at[0]) - radius, float(at[1]), 1.0)]


def flattened(contour: Sequence[tuple[float, float, float]], pieces: int = 16) -> np.ndarray:
    """Return points of a contour with arcs in straight pieces, for areas and extents."""
    out = []
    for (x, y, bulge), (u, v, _) in zip(contour, [*contour[1:], contour[0]], strict=True):
        out.append((x, y))
        if bulge:
            center, angle = arc_center((x, y), (u, v), bulge), 4.0 * math.atan(bulge)
            first = math.atan2(y - center[1], x - center[0])
            r = math.hypot(x - center[0], y - center[1])
            out += [(center[0] + r * math.cos(first + angle * k / pieces), center[1] + r * math.sin(first + angle * k / pieces))
                    for k in range(1, pieces)]  # fmt: skip
    return np.array(out)


def arc_center(a: tuple[float, float], b: tuple[float, float], bulge: float) -> tuple[float, float]:
    """Return the center of the arc between two points of a contour."""
    h = (1.0 - bulge**2) / (4.0 * bulge)
    return 0.5 * (a[0] + b[0]) - h * (b[1] - a[1]), 0.5 * (a[1] + b[1]) + h * (b[0] - a[0])


def arc_radius(a: tuple[float, float], b: tuple[float, float], bulge: float) -> float:
    """Return the radius of the arc between two points of a contour."""
    return math.hypot(b[0] - a[0], b[1] - a[1]) * (1.0 + bulge**2) / (4.0 * abs(bulge))


def _distinct(p: np.ndarray) -> np.ndarray:
    size = float(np.ptp(p, axis=0).max()) if len(p) else 0.0
    retained = [p[0]]
    retained += [b for b in p[1:] if all(np.linalg.norm(b - a) > 1e-9 * size for a in retained)]
    return np.array(retained)


def _area(p: np.ndarray) -> float:
    x, y = p.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def _offset(ring: np.ndarray, r: float) -> Contour | None:
    """A closed polygon offset to its right by r; None where a corner is too tight for it."""
    ahead = np.roll(ring, -1, axis=0) - ring
    lengths = np.linalg.norm(ahead, axis=1)
    directions = ahead / lengths[:, None]
    out: Contour = []
    straight = 1e-9  # rad: a smaller turn is none
    for k, p in enumerate(ring):
        d1, d2 = directions[k - 1], directions[k]
        n1, n2 = np.array([d1[1], -d1[0]]), np.array([d2[1], -d2[0]])
        turn = math.atan2(d1[0] * d2[1] - d1[1] * d2[0], float(d1 @ d2))
        if math.pi - abs(turn) < straight:
            turn = math.pi
        if turn > straight:
            a, b = p + r * n1, p + r * n2
            out += [(float(a[0]), float(a[1]), math.tan(turn / 4.0)), (float(b[0]), float(b[1]), 0.0)]
        elif turn >= -straight:
            a = p + r * n1
            out.append((float(a[0]), float(a[1]), 0.0))
        else:
            if r * math.tan(-turn / 2.0) > 0.999 * min(lengths[k - 1], lengths[k]):
                return None
            a = p + r * (n1 + n2) / (1.0 + float(n1 @ n2))
            out.append((float(a[0]), float(a[1]), 0.0))
    return out
