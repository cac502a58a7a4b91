"""Gaps, rows and rates of all touches of a mechanism, over any scalar."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import traced_rates
from linkwright.mechanics.contact.nearest import Found, vector
from linkwright.mechanics.contact.pairs import touches
from linkwright.mechanics.contact.shapes import Placed, Spot, found
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
    J = _rows(skel, m, here)
    dq = qdot(skel, q, v)
    if is_symbolic(q):
        k = traced_rates(J @ v, list(zip(q, dq, strict=True)))
    else:
        moved = motion(skel, q + 1j * COMPLEX_STEP * dq, v)
        k = np.imag(_rows(skel, moved, located(skel, moved)) @ v) / COMPLEX_STEP
    origins = [skel.origin(x.second)[:2] for x in here]
    return {
        "g": _array([x.found.gap for x in here]),
        "J": J,
        "k": k,
        **{
            name: _array([getattr(x.found, name) + o for x, o in zip(here, origins, strict=True)]).reshape(-1, 2)
            for name in ("first", "second")
        },
        "normal": _array([x.found.normal for x in here]).reshape(-1, 2),
    }


def contact_pushes(skel: Skeleton, terms: Arrays) -> list[list[tuple[int, Any]]]:
    """Wrenches on bodies of a unit push along every row of J, from the terms of all touches."""
    out = []
    for i, x in enumerate(touches(skel.tree.description)):
        n = terms["normal"][i]
        for way in (n, vector(-n[1], n[0])):
            pushes = []
            for body, place, sign in ((x.first.body, terms["first"][i], 1.0), (x.second.body, terms["second"][i], -1.0)):
                node = skel.node(body)
                if node >= 0:
                    pushes.append((node, sign * _wrench(place - skel.origin(node)[:2], way)))
            out.append(pushes)
    return out


def _wrench(arm: Any, force: Any) -> Any:
    """Moment and force of a push in the plane, `arm` from the origin of a body's subsystem."""
    none = 0.0 * force[0]
    return np.array([none, none, arm[0] * force[1] - arm[1] * force[0], force[0], force[1], none])


def contact_gaps(skel: Skeleton, q: Any) -> Arrays:
    """The gaps of all touches."""
    here = located(skel, motion(skel, q, np.zeros(skel.tree.nv)))
    return {"g": _array([x.found.gap for x in here])}


def _array(values: list[Any]) -> Any:
    return np.array(values) if values else np.zeros(0)


def located(skel: Skeleton, m: Motion) -> list[Located]:
    """Nearest points of all touches; places that are far from the world's origin keep their digits."""
    d, known, out = skel.tree.description, {}, []
    for touch in touches(d):
        pair = tuple((x.surface.name, x.part) for x in (touch.first, touch.second))
        a, b = skel.node(touch.first.body), skel.node(touch.second.body)
        if pair not in known:
            apart = skel.origin(a) - skel.origin(b)
            known[pair] = found(_placed(skel, m, touch.first, a, apart), _placed(skel, m, touch.second, b, 0.0 * apart))
        out.append(Located(known[pair][touch.place], a, b))
    return out


def _placed(skel: Skeleton, m: Motion, spot: Spot, node: int, by: Any) -> Placed:
    X = node_motion(skel, m, node)[0]
    return Placed(spot, X.R[:2, :2], (X.p + by)[:2])


def _rows(skel: Skeleton, m: Motion, here: list[Located]) -> Any:
    """(2n, nv): relative speeds of the nearest points along n and t."""
    rows = []
    for x, a, b in here:
        apart = (skel.origin(a) - skel.origin(b))[:2]
        relative = _point_rows(skel, m, a, x.first - apart) - _point_rows(skel, m, b, x.second)
        n = x.normal
        rows += [n @ relative, vector(-n[1], n[0]) @ relative]
    return np.array(rows).reshape(2 * len(here), skel.tree.nv)


def _point_rows(skel: Skeleton, m: Motion, node: int, arm: Any) -> Any:
    """(2, nv): velocity of a body's point, `arm` from the origin of its subsystem."""
    if node < 0:
        return np.zeros((2, skel.tree.nv))
    T = body_jacobian(skel, m, node)
    return np.array([T[3] - arm[1] * T[2], T[4] + arm[0] * T[2]])
