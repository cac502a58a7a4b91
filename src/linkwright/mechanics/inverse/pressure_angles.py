"""Pressure angles: forces of a unit load on the output through a planar mechanism without mass whose drives hold.

Every cluster of bodies that the drives leave free is in equilibrium under the forces of its pins (two components for each body but
one), guides (a normal force and a moment), slots and rods (one force): A f + load = 0, three equations for each cluster. Places and
directions are read at an instant (`geometry`, over any scalar), the equations are solved with numbers (`angles`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.transmission import BodyPoint, Element, LinkContact, Normal, Structure, between, vector
from linkwright.numerics.linalg import least_squares
from linkwright.numerics.scalars import is_complex
from linkwright.numerics.tolerances import ZERO_SHARE


def geometry(s: Structure, x: Instant, k: int) -> Any:
    """(entries, 2): places of all spots, normals of all guides and slots, then levers and place of passing k and of its output."""
    p, end = s.passings[k], _output(s, k)
    places = [_place(x, spot) for e in s.elements for spot in e.spots]
    normals = [vector(x, e.normal)[:2] for e in s.elements if e.normal is not None]
    return np.array([*places, *normals, vector(x, p.lever)[:2], vector(x, end.lever)[:2], _place(x, end.at)])


def angles(s: Structure, k: int, geometries: np.ndarray) -> np.ndarray:
    """Angles between the force on the driven link of passing k and the direction in which it can move, for geometries (n, entries, 2).

    Analytic: small imaginary parts carry derivatives.
    """
    p, end = s.passings[k], _output(s, k)
    free, g = _free(s), np.moveaxis(geometries, 0, -1)  # samples last: (entries, 2, n)
    columns, on_driven = _columns(s, g, free, p)
    load = np.zeros((3 * len(free), g.shape[-1]), dtype=g.dtype)
    i = 3 * free.index(s.rigid[end.driven])
    load[i : i + 3] = _unit_load(end, _across(g[-2]), g[-1])
    f = _solved(np.moveaxis(np.array(columns), -1, 0).transpose(0, 2, 1), -load.T)
    force = np.einsum("cin,nc->in", np.array(on_driven), f)
    return between(force, _across(g[-3]))


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x of A x = b for many samples: of least norm where A is singular; imaginary parts by x' = A^-1 (b' - A' x)."""
    real = A.real
    x = _least(real, b.real)
    if not is_complex(A):
        return x
    return x + 1j * _least(real, b.imag - np.einsum("nij,nj->ni", A.imag, x))


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x of A x = b for many samples, of least norm in those where A is singular or not square."""
    n, m = A.shape[1:]
    good = np.zeros(len(A), dtype=bool)
    out = np.zeros((len(A), m))
    if n == m:
        try:
            out = np.linalg.solve(A, b[..., None])[..., 0]
            size = np.abs(A).max(axis=(1, 2)) * np.abs(out).max(axis=1)
            good = size * ZERO_SHARE <= np.abs(b).max(axis=1)  # also False for NaN
        except np.linalg.LinAlgError:  # one of them is singular to the last digit
            pass
    for i in np.flatnonzero(~good):
        out[i] = least_squares(A[i], b[i], ZERO_SHARE)
    return out


def _output(s: Structure, k: int) -> LinkContact:
    end = s.outputs[k]
    assert end is not None
    return s.passings[end]


def _free(s: Structure) -> list[str]:
    """Clusters that the drives do not hold; the first body is ground."""
    held = next(iter(s.rigid.values()))
    return [c for c in dict.fromkeys(s.rigid.values()) if c != held]


def _columns(s: Structure, g: np.ndarray, free: list[str], p: LinkContact) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Wrenches (moment about the origin, force) on all free clusters of each unit force, and the force that each puts on the driven
    link at the place of passing p; samples are the last axis."""
    out: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    driven = s.rigid[p.driven]

    def add(e: Element, at: np.ndarray, from_: str, to: str, force: np.ndarray, moment: float = 0.0) -> None:
        """A force (and moment) at a place on one cluster, its opposite on another."""
        column, here = np.zeros((3 * len(free), *at.shape[1:]), dtype=g.dtype), np.zeros(at.shape, dtype=g.dtype)
        for cluster, sign in ((from_, -1.0), (to, 1.0)):
            if cluster in free:
                i = 3 * free.index(cluster)
                column[i] += sign * (at[0] * force[1] - at[1] * force[0] + moment)
                column[i + 1 : i + 3] += sign * force
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
                    add(e, places[other], first, other, np.broadcast_to(n[:, None], places[other].shape))
            elif direction is not None:
                add(e, places[other], first, other, direction)
                if e.kind == "guide":
                    add(e, places[other], first, other, np.zeros(places[other].shape), 1.0)
            else:
                line = places[other] - places[first]
                add(e, places[other], first, other, line / np.sqrt(np.sum(line * line, axis=0)))
    return out, seen


def _place(x: Instant, spot: BodyPoint) -> Any:
    return x.point(x.skel.node(spot.body), np.array(spot.at))[:2]


def _across(lever: np.ndarray) -> np.ndarray:
    """The direction in which a driven link can move where it is pushed: across its lever, or along its guide."""
    return np.array([-lever[1], lever[0]])


def _unit_load(p: LinkContact, way: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(moment about the origin, force) of a unit load on the driven link: a torque, on a slider a force along its guide."""
    if not isinstance(p.lever, Normal):
        return np.array([1.0, 0.0, 0.0])[:, None]
    return np.array([at[0] * way[1] - at[1] * way[0], *way])
