"""Surfaces, contacts and clearances as JSON for the editor: outlines and nearest points where the bodies are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.api import Description, contact, elements
from linkwright.rings.studio.scene_contacts import outline_places


def contacts_json(known: Description | None, size: float) -> dict[str, Any]:
    """Outlines and, between each two surfaces, a line of their smallest gap; nothing of a file that cannot be read."""
    if known is None or not known.planar:
        return {"surfaces": [], "touches": []}
    d = known.numbers()
    return {"surfaces": _outlines(d, size), "touches": _gaps(d)}


def _outlines(d: Description, size: float) -> list[dict[str, Any]]:
    words = {x.name: x.word for x in elements.every(d) if x.meets}
    out = []
    for spot in contact.spots(d):
        R, p = _pose(d, spot.body)
        points, closed = outline_places(spot, size)
        word = spot.surface.word if spot.surface.points else words[spot.surface.name]
        if len(points) > 1:
            placed = [[float(x) for x in R @ point + p] for point in points]
            name = spot.surface.name
            shape = {"points": placed, "closed": closed, "wall": spot.surface.wall}
            out.append({"id": f"{word}:{name}", "name": name, "body": spot.body, **shape})
    return out


def _gaps(d: Description) -> list[dict[str, Any]]:
    """Nearest points of every two surfaces, at the place of theirs that is closest."""
    closest: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
    for touch in contact.touches(d):
        sides = [contact.Placed(x, *_pose(d, x.body)) for x in (touch.first, touch.second)]
        here = contact.found(*sides)[touch.place]
        key, gap = (touch.owner.name, f"{touch.first.surface.name} {touch.second.surface.name}"), float(here.gap)
        if key not in closest or gap < closest[key][0]:
            ends = [[float(c) for c in x] for x in (here.first, here.second)]
            closest[key] = gap, {"id": f"{touch.owner.word}:{touch.owner.name}", "name": touch.owner.name, "ends": ends}
    return [line for _, line in closest.values()]


def _pose(d: Description, body: str) -> tuple[Any, Any]:
    """Where a body is drawn: rotation and origin in the plane."""
    start = d.body(body).start
    return np.array(start.rotation, dtype=float)[:2, :2], np.array(start.at, dtype=float)[:2]
