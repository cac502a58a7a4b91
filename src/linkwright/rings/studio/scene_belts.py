"""Belts, chains and ropes of a drawing: centers of their pulleys on bodies, and their line, which is tangents and arcs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import Description, PointRef, belt_constraints, kinematics
from linkwright.rings.studio.outline_geometry import ScenePoint, unit_circle

ARC_STEP = np.radians(6.0)


@dataclass(frozen=True)
class SceneBelt:
    """A belt round pulleys: centers, radii, and how it passes them (1, -1, 0)."""

    name: str
    spots: tuple[ScenePoint, ...]
    radii: tuple[float, ...]
    turns: tuple[float, ...]
    closed: bool
    bodies: tuple[str, ...]  # that turn with the pulley; empty for a sheave at a point and an end

    def path(self, stage: Any) -> np.ndarray:
        """(n, 2): its line at an instant, of a `Stage`."""
        return belt_path(np.array([stage.spot(s)[:2] for s in self.spots]), self.radii, self.turns, self.closed)


def scene_belts(d: Description, skel: kinematics.Skeleton) -> list[SceneBelt]:
    """Return the belts of a description."""
    out = []
    for b in d.belts:
        spots = tuple(ScenePoint(skel.node(p.body), np.asarray(belt_constraints.center_on(skel, p), dtype=float)) for p in b.pulleys)
        turns, bodies = zip(*((p.turn, p.body if p.joint else "") for p in b.pulleys), strict=True)
        out.append(SceneBelt(b.name, spots, tuple(float(r) for r in b.radii), turns, b.closed, bodies))
    return out


def belt_points(d: Description) -> list[PointRef]:
    """Return ends of ropes, and points at which they run over sheaves, each once."""
    return list(dict.fromkeys((p.body, p.point) for b in d.belts for p in b.pulleys if p.point))


def rims(belts: Iterable[SceneBelt]) -> list[tuple[int, np.ndarray]]:
    """Return (node, points on its rim) of every pulley."""
    circle = unit_circle(np.array([0.0, 0.0, 1.0]))
    return [(s.node, s.at + r * circle) for b in belts for s, r in zip(b.spots, b.radii, strict=True)]


def belt_path(centers: np.ndarray, radii: Sequence[float], turns: Sequence[float], closed: bool) -> np.ndarray:
    """Return the points (n, 2) of the line of a belt round pulleys with these centers; a closed one ends where it begins."""
    n = len(centers)
    pairs = [(i, (i + 1) % n) for i in range(n if closed else n - 1)]
    directions, ends = [], []
    for i, j in pairs:
        u, start, end = _tangent(centers[i], centers[j], turns[i] * radii[i], turns[j] * radii[j])
        directions.append(np.arctan2(u[1], u[0]))
        ends.append((start, end))
    out: list[np.ndarray] = []
    for k, (_, j) in enumerate(pairs):
        out += [ends[k][0], ends[k][1]]
        if turns[j] and (closed or k + 1 < len(pairs)):
            turn, after = turns[j], directions[(k + 1) % len(pairs)]
            angle = (turn * (after - directions[k])) % (2.0 * np.pi)
            steps = np.linspace(0.0, angle, max(2, int(angle / ARC_STEP) + 1))[1:-1]
            at = directions[k] + turn * steps - turn * 0.5 * np.pi  # from the center to the tangent point of a belt of that direction
            out += list(centers[j] + radii[j] * np.column_stack([np.cos(at), np.sin(at)]))
    return np.array([*out, out[0]]) if closed else np.array(out)


def _tangent(a: np.ndarray, b: np.ndarray, s_a: float, s_b: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Direction of a span and its tangent points; s = turn times radius."""
    d, h = b - a, s_b - s_a
    square = float(d @ d) or 1.0
    length = np.sqrt(max(square - h * h, 0.0))
    u = (length * d + h * np.array([d[1], -d[0]])) / square
    n = np.array([-u[1], u[0]])
    return u, a - s_a * n, b - s_b * n
