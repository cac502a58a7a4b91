"""Data of the page's motion channels, which have the names of `results.channels`: coordinates, points at rest, passings of power.

Names, values and units are those of `m.cycle()[...]`; the engine (assets/engine/channels.js) computes them for the design that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwright.api import (
    PointRef,
    System,
    Trajectory,
    belt_constraints,
    compiled_of,
    coordinates,
    description,
    elements,
    joint_limits,
    line_loads,
    records,
)
from linkwright.kernels import page_motion
from linkwright.mechanics.inverse.effort_places import resting_points
from linkwright.results.channels.cylinders import areas
from linkwright.rings.studio.live.cycle_data import PageMotion, encoded


def channel_data(system: System, motion: PageMotion) -> dict[str, Any] | None:
    """Return DATA.channels; None without a cycle."""
    c = motion.turn
    if c is None:
        return None
    return {
        "coordinates": _coordinates(system),
        "rest": sorted(resting_points(system.description)),
        "passings": [{"name": p.channel, "pin": p.joint.name} for p in compiled_of(system).skel.transmission.passings],
        "cams": _cams(system),
        "cylinders": [_cylinder(system, x) for x in system.description.cylinders if x.bore is not None],
        "belts": [_belt(system, b) for b in system.description.belts],
        "lines": [{"name": name, "ends": _ends(system, between)} for name, between in line_loads.line_parts(system.description).items()],
        "first": _first_angles(system, c),
        "third": encoded(_third(c, motion)),
    }


def _cams(system: System) -> list[dict[str, Any]]:
    """Every cam: the pins of disc and follower, and whether its lift is a length or an angle."""
    d = system.description
    kinds = {x.joint.name: x.kind for x in coordinates.joint_coordinates(d)}
    pins = {j.name: j.pin or j.name for j in d.joints}
    cams = d.cams
    return [{"name": c.name, "pins": [pins[c.first], pins[c.second]], "kind": kinds[c.second]} for c in cams]


def _cylinder(system: System, c: description.Cylinder) -> dict[str, Any]:
    """Areas and ends of a cylinder with a bore; `eye` is the key of the load at its second end."""
    d = system.description
    cap, rod = areas(c)
    lows, highs = joint_limits.stops_of(d, c.name)
    eye = next(e for e in line_loads.line_eyes(d) if e.part is c and e.side > 0.0)
    low, high = max(lows, default=None), min(highs, default=None)
    whole = {"cap": float(cap), "rod": None if rod is None else float(rod), "low": low, "high": high}
    return {"name": c.name, **whole, "eye": f"{eye.pin}|{eye.body}", "ends": _ends(system, c.between)}


def _ends(system: System, between: Sequence[PointRef]) -> list[dict[str, Any]]:
    """The two places of a part between points."""
    d = system.description
    return [
        {"body": compiled_of(system).skel.node(body) + 1, "at": [float(x) for x in d.point((body, point)).at]} for body, point in between
    ]


def _belt(system: System, b: elements.Belt) -> dict[str, Any]:
    """Pulleys, spans and the rows of lam of a belt."""
    skel, d = compiled_of(system).skel, system.description
    pulleys = []
    for p, radius in zip(b.pulleys, b.radii, strict=True):
        pin = d.joint(p.joint).pin or p.joint if p.joint else ""
        at = [float(x) for x in belt_constraints.center_on(skel, p)]
        pulleys.append({"body": skel.node(p.body) + 1, "at": at, "radius": float(radius), "turn": p.turn, "pin": pin})
    rows = next(x.rows for x in system.tree.loops if (x.kind, x.name) == ("belt", b.name))
    spans, parts = [list(x) for x in b.spans], [list(x) for x in b.parts]
    tension = None if b.pretension is None else float(b.pretension)
    held = {"rows": list(range(rows.start, rows.stop)), "carried": bool(b.carrier), "pretension": tension}
    return {"name": b.name, "pulleys": pulleys, "spans": spans, "parts": parts, **held}


def _coordinates(system: System) -> list[dict[str, Any]]:
    """Every coordinate of a joint and every cylinder: where it is in q and v, or among those beside the tree."""
    skel, d = compiled_of(system).skel, system.description
    beside = {x.name: k for k, x in enumerate(page_motion.beside(skel))}
    out = []
    for x in coordinates.coordinates(d):
        entry = {"name": x.name, "pin": x.name if isinstance(x, coordinates.Distance) else x.joint.pin or x.joint.name, "kind": x.kind}
        if isinstance(x, coordinates.Distance) or x.name in beside:
            out.append({**entry, "beside": beside[x.name]})
        else:
            node = skel.tree.nodes[skel.tree.node_of_joint[x.joint.name]]
            out.append({**entry, "q": node.q.start + x.q, "v": node.v.start + x.v})
    return out


def _first_angles(system: System, c: Trajectory) -> list[float]:
    """Angles of the bodies at the first sample, whole turns counted; a planar mechanism's only."""
    d = system.description
    if not d.planar:
        return []
    return [0.0, *(float(c[0:1][f"{n.body}.angle"][0]) if f"{n.body}.angle" in c.channels else 0.0 for n in system.tree.nodes)]


def _third(c: Trajectory, motion: PageMotion) -> np.ndarray:
    """(n, drives): third derivatives of the drives' laws; zero at rest."""
    known = [c.arrays.get(records.THIRD + name, np.zeros((len(c), 1))) for name in motion.drives]
    found = np.concatenate(known, axis=1) if known else np.zeros((len(c), 0))
    return 0.0 * found if motion.still else found
