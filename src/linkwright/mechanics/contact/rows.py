"""Gaps, rows and rates of all touches of a mechanism, over any scalar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import traced_rates
from linkwright.mechanics.contact import shapes, solids
from linkwright.mechanics.contact.nearest import Found, vector
from linkwright.mechanics.contact.pairs import tangent_count, touches
from linkwright.mechanics.contact.shapes import Placed, Spot
from linkwright.mechanics.contact.solids import PlacedSolid, cross, lies_flat, tangents
from linkwright.mechanics.kinematics.motion import Motion, Skeleton, body_jacobian, motion, node_motion, qdot
from linkwright.numerics.scalars import is_symbolic
from linkwright.numerics.tolerances import COMPLEX_STEP

Arrays = dict[str, Any]


class Located(NamedTuple):
    """Nearest points of a touch, seen from the origin of B's subsystem, and the nodes of both bodies."""

    found: Found
    first: int
    second: int


def contact_terms(skel: Skeleton, q: Any, v: Any) -> Arrays:
    """g, J, k, first, second and normal of all touches, as the text at the top of `mechanics.contact` says."""
    m = motion(skel, q, v)
    here = located(skel, m)
    axes = _axes(skel)
    J = _rows(skel, m, here)
    dq = qdot(skel, q, v)
    if is_symbolic(q):
        k = traced_rates(J @ v, list(zip(q, dq, strict=True)))
    else:
        moved = motion(skel, q + 1j * COMPLEX_STEP * dq, v)
        k = np.imag(_rows(skel, moved, located(skel, moved)) @ v) / COMPLEX_STEP
    origins = [skel.origin(x.second)[:axes] for x in here]
    return {
        "g": _array([x.found.gap for x in here]),
        "J": J,
        "k": k,
        **{
            name: _array([getattr(x.found, name) + o for x, o in zip(here, origins, strict=True)]).reshape(-1, axes)
            for name in ("first", "second")
        },
        "normal": _array([x.found.normal for x in here]).reshape(-1, axes),
    }


def contact_pushes(skel: Skeleton, terms: Arrays) -> list[list[tuple[int, Any]]]:
    """Wrenches on bodies of a unit push along every row of J, from the terms of all touches."""
    out, axes = [], _axes(skel)
    for i, x in enumerate(touches(skel.tree.description)):
        for way in _ways(terms["normal"][i]):
            pushes = []
            for body, place, sign in ((x.first.body, terms["first"][i], 1.0), (x.second.body, terms["second"][i], -1.0)):
                node = skel.node(body)
                if node >= 0:
                    pushes.append((node, sign * _wrench(place - skel.origin(node)[:axes], way)))
            out.append(pushes)
    return out


def _ways(n: Any) -> tuple[Any, ...]:
    """The normal of a touch, and the directions across it."""
    return (n, vector(-n[1], n[0])) if len(n) == 2 else (n, *tangents(n))


def _wrench(arm: Any, force: Any) -> Any:
    """Moment and force of a push, `arm` from the origin of a body's subsystem."""
    none = 0.0 * force[0]
    if len(force) == 2:
        return np.array([none, none, arm[0] * force[1] - arm[1] * force[0], force[0], force[1], none])
    return np.array([*cross(arm, force), *force])


def contact_gaps(skel: Skeleton, q: Any) -> Arrays:
    """The gaps of all touches."""
    here = located(skel, motion(skel, q, np.zeros(skel.tree.nv)))
    return {"g": _array([x.found.gap for x in here])}


def without_normal(skel: Skeleton, q: Any) -> list[int]:
    """Touches whose surfaces have no nearest points at a position of numbers: discs that lie flat."""
    d = skel.tree.description
    if d.planar:
        return []
    m = motion(skel, q, np.zeros(skel.tree.nv))
    return [i for i, x in enumerate(touches(d)) if lies_flat(*_both(skel, m, x.first, x.second))]


def _array(values: list[Any]) -> Any:
    return np.array(values) if values else np.zeros(0)


def _axes(skel: Skeleton) -> int:
    """Number of axes of places."""
    return tangent_count(skel.tree.description) + 1


def located(skel: Skeleton, m: Motion) -> list[Located]:
    """Nearest points of all touches; places that are far from the world's origin keep their digits."""
    d, known, out = skel.tree.description, {}, []
    found = shapes.found if d.planar else solids.found
    for touch in touches(d):
        pair = tuple((x.surface.name, x.part) for x in (touch.first, touch.second))
        if pair not in known:
            known[pair] = found(*_both(skel, m, touch.first, touch.second))
        out.append(Located(known[pair][touch.place], skel.node(touch.first.body), skel.node(touch.second.body)))
    return out


def _both(skel: Skeleton, m: Motion, first: Spot, second: Spot) -> tuple[Any, Any]:
    """Two surfaces at their poses, seen from the origin of the second one's subsystem."""
    a, b = skel.node(first.body), skel.node(second.body)
    apart = skel.origin(a) - skel.origin(b)
    return _placed(skel, m, first, a, apart), _placed(skel, m, second, b, 0.0 * apart)


def _placed(skel: Skeleton, m: Motion, spot: Spot, node: int, by: Any) -> Placed | PlacedSolid:
    X = node_motion(skel, m, node)[0]
    if skel.tree.description.planar:
        return Placed(spot, X.R[:2, :2], (X.p + by)[:2])
    return PlacedSolid(spot, X.R, X.p + by)


def _rows(skel: Skeleton, m: Motion, here: list[Located]) -> Any:
    """(axes n, nv): relative speeds of the nearest points along n and across it."""
    rows, axes = [], _axes(skel)
    for x, a, b in here:
        apart = (skel.origin(a) - skel.origin(b))[:axes]
        relative = _point_rows(skel, m, a, x.first - apart) - _point_rows(skel, m, b, x.second)
        rows += [way @ relative for way in _ways(x.normal)]
    return np.array(rows).reshape(axes * len(here), skel.tree.nv)


def _point_rows(skel: Skeleton, m: Motion, node: int, arm: Any) -> Any:
    """(axes, nv): velocity of a body's point, `arm` from the origin of its subsystem."""
    axes = _axes(skel)
    if node < 0:
        return np.zeros((axes, skel.tree.nv))
    T = body_jacobian(skel, m, node)
    if axes == 2:
        return np.array([T[3] - arm[1] * T[2], T[4] + arm[0] * T[2]])
    return np.array([T[3 + i] + turned for i, turned in enumerate(cross(T[:3], arm))])
