"""Points worth tracing in a mechanism without marked ones: the tip of a five-bar, where links meet that are nowhere on the ground."""

from __future__ import annotations

from linkwright.api import JOINTS, Description, PointRef, is_hinge


def tips(d: Description) -> list[PointRef]:
    """A point of the first body at every pin whose links have neither a joint on the ground nor a drive; none if there are many."""
    ground = d.bodies[0].name
    driven = {x.joint for x in d.drives}
    tied = {b for j in d.joints if ground in (j.first, j.second) or j.name in driven for b in (j.first, j.second)}
    found: dict[str, PointRef] = {}
    for j in d.joints:
        if not is_hinge(JOINTS[j.type]) or not d.planar or tied & {j.first, j.second}:
            continue
        names = [(b, p.name) for b in (j.first, j.second) for p in d.body(b).points if p.name == (j.pin or j.name)]
        if names:
            found.setdefault(j.pin or j.name, names[0])
    most = 2  # more of them are no tip, but a chain
    return list(found.values()) if len(found) <= most else []
