"""Coordinates that differ by the round-off of the drawing only become one number.

Points of a body are differences of drawn places: far from the origin like parts (bays of a lift, cells of a chain) come out with 1.2 and
1.2000000000000002, with 0 and 1e-16. The model means one number by both, but code made of them would differ: zeros cost nothing,
and parts with the same numbers share their code.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite, sqrt
from typing import Any

from linkwright.model.description import Body, Description, Joint, Mat3, Placement, Vec3

ULPS = 8  # of the largest drawn coordinate: a difference of two places, turned into a body's axes
SHARE = 1e-12  # of a typical length, at most
EPSILON = sys.float_info.epsilon


def without_round_off(d: Description) -> Description:
    """The description with one number for all lengths that agree within round-off; the same object if there is nothing to do."""
    lengths = sorted([abs(x) for x in _lengths(d) if type(x) is float and x and isfinite(x)])
    places = [abs(x) for b in d.bodies for x in b.start.at if type(x) is float]
    if not lengths:
        return d
    middle = 0.5 * (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2])
    tolerance = min(ULPS * EPSILON * max([*places, lengths[-1]]), SHARE * middle)
    known = merged(lengths, tolerance)
    bodies = tuple(_body(b, known) for b in d.bodies)
    radii = _radii(bodies, tolerance)
    bodies = tuple(_turned(b, radii) for b in bodies) if radii else bodies
    joints = tuple(_joint(j, known) for j in d.joints) if known else d.joints
    same = all(a is b for a, b in zip((*bodies, *joints), (*d.bodies, *d.joints), strict=True))
    return d if same else replace(d, bodies=bodies, joints=joints)


def merged(values: Sequence[float], tolerance: float) -> dict[float, float]:
    """For every positive value that changes the one in its place: 0, or the shortest decimal among its neighbors,
    of these the one met most often."""
    counts = Counter(values)
    found = sorted(counts)
    known: dict[float, float] = {}
    ends = [i for i, (a, b) in enumerate(pairwise(found), start=1) if b - a > tolerance]
    for first, last in zip([0, *ends], [*ends, len(found)], strict=True):
        if first == last or (last - first == 1 and found[first] > tolerance):
            continue
        group = found[first:last]
        if group[0] <= tolerance:
            known.update({x: 0.0 for x in group if x <= 2.0 * tolerance})
        elif group[-1] - group[0] <= 4.0 * tolerance:  # longer rows of neighbors are no round-off
            best = min(group, key=lambda x: (len(repr(x)), -counts[x]))
            known.update({x: best for x in group if x != best})
    return known


def _lengths(d: Description) -> Iterable[Any]:
    for b in d.bodies:
        yield from b.com
        for p in b.points:
            yield from p.at
    for j in d.joints:
        yield from j.frame_first.at
        yield from j.frame_second.at


def _changed(x: Any, known: dict[float, float]) -> Any:
    if type(x) is not float:
        return x
    new = known.get(abs(x))
    return x if new is None else new if x > 0.0 or not new else -new


def _vector(at: Vec3, known: dict[float, float]) -> Vec3:
    a, b, c = at
    new = (_changed(a, known), _changed(b, known), _changed(c, known))
    return at if new[0] is a and new[1] is b and new[2] is c else new


def _body(b: Body, known: dict[float, float]) -> Body:
    if not known:
        return b
    com = _vector(b.com, known)
    every = [(p, _vector(p.at, known)) for p in b.points]
    if com is b.com and all(at is p.at for p, at in every):
        return b
    return replace(b, com=com, points=tuple(p if at is p.at else replace(p, at=at) for p, at in every))


def _joint(j: Joint, known: dict[float, float]) -> Joint:
    first, second = _frame(j.frame_first, known), _frame(j.frame_second, known)
    return j if first is j.frame_first and second is j.frame_second else replace(j, frame_first=first, frame_second=second)


def _frame(x: Placement, known: dict[float, float]) -> Placement:
    at = _vector(x.at, known)
    return x if at is x.at else replace(x, at=at)


def _radii(bodies: Iterable[Body], tolerance: float) -> dict[float, dict[float, float]]:
    """Inertias to be exchanged, by mass: those whose radii of gyration agree within the tolerance of lengths. Products of inertia
    that a turn by the tolerance over the radius would make are zero."""
    entries: dict[float, set[float]] = {}
    out: dict[float, dict[float, float]] = {}
    for b in bodies:
        if type(b.mass) is float and b.mass > 0.0:
            sizes = {abs(x) for row in b.inertia for x in row if type(x) is float and x}
            least = 2.0 * tolerance * sqrt(b.mass * max(sizes, default=0.0))
            out.setdefault(b.mass, {}).update({x: 0.0 for x in sizes if x < least})
            entries.setdefault(b.mass, set()).update(x for x in sizes if x >= least)
    for mass, found in entries.items():
        back: dict[float, list[float]] = {}
        for x in sorted(found, key=lambda x: len(repr(x))):
            back.setdefault(sqrt(x / mass), []).append(x)
        known = merged(list(back), tolerance)
        every = [(x, back.get(known.get(r, r), [x])[0]) for r, some in back.items() for x in some]  # radii near zero stay as they are
        out[mass].update({x: new for x, new in every if new != x})
    return {mass: known for mass, known in out.items() if known}


def _turned(b: Body, radii: dict[float, dict[float, float]]) -> Body:
    known = radii.get(b.mass) if type(b.mass) is float else None
    if not known:
        return b
    x, y, z = b.inertia
    inertia: Mat3 = (_vector(x, known), _vector(y, known), _vector(z, known))
    return b if all(new is old for new, old in zip(inertia, b.inertia, strict=True)) else replace(b, inertia=inertia)
