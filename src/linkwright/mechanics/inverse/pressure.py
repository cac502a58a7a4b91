"""Pressure angles: forces of a unit load on the output through a planar mechanism without mass whose drives hold.

Every cluster of bodies that the drives leave free is in equilibrium under the forces of its pins (two components for each body but
one), guides (a normal force and a moment), slots and rods (one force): A f + load = 0, three equations for each cluster. Places and
directions are read at an instant (`geometry`, over any scalar), the equations are solved with numbers (`angles`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.transmission import BodyPoint, Element, LinkContact, Normal, Structure, folded, vector
from linkwright.numerics.linalg import least_squares


def geometry(s: Structure, x: Instant, k: int) -> Any:
    """(entries, 2): places of all spots, normals of all guides and slots, then levers and place of passing k and of its output."""
    p, end = s.passings[k], _output(s, k)
    places = [_place(x, spot) for e in s.elements for spot in e.spots]
    normals = [vector(x, e.normal)[:2] for e in s.elements if e.normal is not None]
    return np.array([*places, *normals, vector(x, p.lever)[:2], vector(x, end.lever)[:2], _place(x, end.at)])


def angles(s: Structure, k: int, geometries: np.ndarray) -> np.ndarray:
    """Angle between the force on the driven link of passing k and the direction in which it can move, for each geometry."""
    return np.array([_angle(s, k, g) for g in geometries])


def _angle(s: Structure, k: int, g: np.ndarray) -> float:
    p, end = s.passings[k], _output(s, k)
    free = _free(s)
    columns, on_driven = _columns(s, g, free, p)
    load = np.zeros(3 * len(free))
    i = 3 * free.index(s.rigid[end.driven])
    load[i : i + 3] = _unit_load(end, _across(g[-2]), g[-1])
    f = least_squares(np.array(columns).T, -load, 1e-13)
    force, way = on_driven.T @ f, _across(g[-3])
    return float(folded(np.arctan2(force[0] * way[1] - force[1] * way[0], force @ way)))


def _output(s: Structure, k: int) -> LinkContact:
    end = s.outputs[k]
    assert end is not None
    return s.passings[end]


def _free(s: Structure) -> list[str]:
    """Clusters that the drives do not hold; the first body is ground."""
    held = next(iter(s.rigid.values()))
    return [c for c in dict.fromkeys(s.rigid.values()) if c != held]


def _columns(s: Structure, g: np.ndarray, free: list[str], p: LinkContact) -> tuple[list[np.ndarray], np.ndarray]:
    """Wrenches (moment about the origin, force) on all free clusters of each unit force, and the force that each puts on the driven
    link at the place of passing p."""
    out: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    driven = s.rigid[p.driven]

    def add(e: Element, at: np.ndarray, from_: str, to: str, force: np.ndarray, moment: float = 0.0) -> None:
        """A force (and moment) at a place on one cluster, its opposite on another."""
        column, here = np.zeros(3 * len(free)), np.zeros(2)
        for cluster, sign in ((from_, -1.0), (to, 1.0)):
            if cluster in free:
                i = 3 * free.index(cluster)
                column[i : i + 3] += sign * np.array([at[0] * force[1] - at[1] * force[0] + moment, *force])
            if e is p.joint and cluster == driven:
                here = here + sign * force
        out.append(column)
        seen.append(here)

    spot, normal = 0, sum(len(e.spots) for e in s.elements)
    for e in s.elements:
        places = {s.rigid[x.body]: g[spot + i] for i, x in enumerate(e.spots)}
        spot += len(e.spots)
        direction = g[normal] if e.normal is not None else None
        normal += e.normal is not None
        first, *others = places
        for other in others:
            if e.kind == "pin":
                for n in np.eye(2):
                    add(e, places[other], first, other, n)
            elif direction is not None:
                add(e, places[other], first, other, direction)
                if e.kind == "guide":
                    add(e, places[other], first, other, np.zeros(2), 1.0)
            else:
                line = places[other] - places[first]
                add(e, places[other], first, other, line / np.linalg.norm(line))
    return out, np.array(seen)


def _place(x: Instant, spot: BodyPoint) -> Any:
    return x.point(x.skel.node(spot.body), np.array(spot.at))[:2]


def _across(lever: np.ndarray) -> np.ndarray:
    """The direction in which a driven link can move where it is pushed: across its lever, or along its guide."""
    return np.array([-lever[1], lever[0]])


def _unit_load(p: LinkContact, way: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(moment about the origin, force) of a unit load on the driven link: a torque, on a slider a force along its guide."""
    if not isinstance(p.lever, Normal):
        return np.array([1.0, 0.0, 0.0])
    return np.array([at[0] * way[1] - at[1] * way[0], *way])
