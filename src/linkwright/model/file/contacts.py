"""Surfaces and the contacts between them, in a model file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.elements import Arc, Box, Clearance, Contact, Edges, Profile, Surface, cannot_touch
from linkwright.errors import listing, nearest
from linkwright.model.curves.tables import periodic_spline
from linkwright.model.file.channel_laws import tabulated
from linkwright.model.file.elements import Elements
from linkwright.model.file.joints_section import loose_joint
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import atan2
from linkwright.text.units import ANGLE, LENGTH

TURN_GAP = 1e-9  # of a revolution that a profile's table covers
FEWEST = 4  # rows of a profile
CORNER = 5e-3  # of its mean radius: a smaller radius of curvature is a corner
BETWEEN = 16  # places between two rows at which curvature is looked at


def read_surface(reader: Elements, name: str, entry: FileNode) -> Surface:
    """Read a surface: the key of its shape names the body's points, its numbers follow."""
    what = f"surface '{name}'"
    among = elements.kinds(Surface.section)
    planar = reader.context.planar
    shapes = {x.type: x for x in among if x.lives[0 if planar else 1]}
    away = next((x.type for x in among if x.type not in shapes and x.type in entry.mapping(what)), "")
    if away:
        lives, here = ("space", "a plane") if planar else ("a plane", "space")
        raise entry.error(
            f"{what}: a {away} is a surface in {lives}, and this model is in {here}. Give one of {listing([f'`{x}`' for x in shapes])}.",
            name=name, allowed=shapes,
        )  # fmt: skip
    given = [key for key in entry.mapping(what) if key in shapes]
    if len(given) != 1:
        has = f"has {' and '.join(f'`{x}`' for x in given)}. Keep one" if given else "has no shape. Give one"
        raise entry.error(f"{what} {has} of {listing([f'`{x}`' for x in shapes])}.", name=name, allowed=shapes)
    kind = shapes[given[0]]
    named = entry.mapping(what).get("type")
    if named is not None and named.string(f"{what}: type") != kind.type:
        raise named.error(f"{what}: its type is '{named.text}', and it has `{kind.type}`. Leave `type` out.", name=name)

    def further(keys: dict[str, FileNode]) -> dict[str, Any]:
        body, points = _points(reader, kind, keys[kind.type], f"{what}: {kind.type}")
        return {"body": body, "points": points, **_form(reader, kind, keys, entry, what)}

    made = reader.element(name, entry, [kind], further)
    turned = {field: reader.shapes[made.body].own_direction(getattr(made, field)) for field in elements.along(kind)}
    for field, x in turned.items():
        if not any(map(reader.context.numeric, x)):
            example = "[0, 1]" if planar else "[0, 0, 1]"
            raise entry.error(f"{what}: its {field} has no length. Give a direction, for example {example}.", name=name)
    made = replace(made, **turned)
    if isinstance(made, Box) and _parallel(*(reader.context.numerics(x) for x in (made.along, made.across))):
        raise entry.error(f"{what}: `along` and `across` point the same way. Give two directions of its edges.", name=name)
    if isinstance(made, Edges):
        return replace(made, **_shape(reader, made, entry, what))
    return _rotated(reader, made, entry, what) if isinstance(made, Arc) else made


def _form(reader: Elements, kind: type[Surface], keys: dict[str, FileNode], entry: FileNode, what: str) -> dict[str, Any]:
    """Fields of a profile: its radii over the angle."""
    if not issubclass(kind, Profile):
        return {}
    fault = next(filter(None, (rule.fault(keys) for rule in kind.together)), "")
    if fault:
        raise entry.error(f"{what} {fault}", name=what)
    how = FileNode(entry.where, text="periodic")
    found = tabulated(reader.context, "", {**keys, "interpolation": how}, entry, (ANGLE, LENGTH), f"{what}: table", motion=True)
    if abs(found.x[-1] - found.x[0] - 2.0 * math.pi) > TURN_GAP or len(found.x) < FEWEST:
        raise entry.error(
            f"{what}: its angles must cover one revolution with {FEWEST} rows or more, the last at the first angle plus 360 deg.", name=what
        )
    if min(found.y) <= 0.0:
        raise entry.error(f"{what}: a radius is {reader.context.shown(min(found.y), LENGTH)}, it must be greater than zero.", name=what)
    where, curvature, least = _sharpest(found.x, found.y)
    if least <= 0.0:
        raise entry.error(f"{what}: between its rows the curve passes through its center. Give more rows at its steep parts.", name=what)
    if curvature * CORNER * sum(found.y) > len(found.y):
        raise entry.error(
            f"{what}: it has a corner near {reader.context.shown(where, ANGLE)}, where its radius of curvature is "
            f"{reader.context.shown(1.0 / curvature, LENGTH)}. Round it with more rows there, or take a polygon.",
            name=what,
        )
    return {"angles": found.x, "radii": found.y}


def _sharpest(angles: Sequence[float], radii: Sequence[float]) -> tuple[float, float, float]:
    """Angle and curvature where a profile turns most sharply, and its smallest radius."""
    law, found = periodic_spline(np.array(angles), np.array(radii)), []
    for angle in (a + (b - a) * i / BETWEEN for a, b in pairwise(angles) for i in range(BETWEEN)):
        r, dr, ddr = map(float, law(angle))
        found.append((abs(r * r + 2.0 * dr * dr - r * ddr) / (r * r + dr * dr) ** 1.5, angle, r))
    curvature, where, _ = max(found)
    return where, curvature, min(r for _, _, r in found)


def _shape(reader: Elements, x: Edges, entry: FileNode, what: str) -> dict[str, Any]:
    """On which side of its edges the solid is, and which corners stick out; refuse edges that cross."""
    at = [reader.context.numerics(reader.shapes[x.body].points[name])[:2] for name in x.points]
    if x.closed:
        crossing = next(((i, j) for i, j in combinations(range(len(at)), 2) if _cross(at, x.edges[i], x.edges[j])), None)
        if crossing is not None:
            named = ["-".join(x.points[k] for k in x.edges[i]) for i in crossing]
            raise entry.error(f"{what}: its edges {named[0]} and {named[1]} cross. Name the corners in their order.", name=what)
        left = sum(_area(at[i], at[j]) for i, j in x.edges) > 0.0
        turn = 1.0 if left == (x.side == "outside") else -1.0
    else:
        turn = -1.0
    n = len(at)
    inner = range(n) if x.closed else range(1, n - 1)
    out = {i for i in inner if turn * _area(_minus(at[i], at[i - 1]), _minus(at[(i + 1) % n], at[i])) > 0.0}
    return {"turn": turn, "corners": tuple(sorted(out if x.closed else out | {0, n - 1}))}


def _area(a: Any, b: Any) -> float:
    return a[0] * b[1] - a[1] * b[0]


def _parallel(a: Any, b: Any) -> bool:
    """True for directions that differ by less than a degree."""
    aa, bb, ab = (sum(x * y for x, y in zip(*pair, strict=True)) for pair in ((a, a), (b, b), (a, b)))
    return ab * ab > math.cos(math.radians(1.0)) ** 2 * aa * bb


def _minus(a: Any, b: Any) -> tuple[float, float]:
    return (a[0] - b[0], a[1] - b[1])


def _cross(at: list[Any], first: tuple[int, int], second: tuple[int, int]) -> bool:
    """True if two edges without a common point cross or touch."""
    if set(first) & set(second):
        return False
    a, b, c, d = (at[i] for i in (*first, *second))
    if any(max(a[k], b[k]) < min(c[k], d[k]) or max(c[k], d[k]) < min(a[k], b[k]) for k in (0, 1)):
        return False  # also edges on one straight line, as the walls of opposite slots are
    sides = [_area(_minus(q, p), _minus(x, p)) for p, q, x in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
    return sides[0] * sides[1] <= 0.0 and sides[2] * sides[3] <= 0.0


def _rotated(reader: Elements, x: Arc, entry: FileNode, what: str) -> Arc:
    """An arc with its angles in the axes of the body."""
    width = reader.context.numeric(x.last) - reader.context.numeric(x.first)
    if not 0.0 < width <= 2.0 * math.pi:
        raise entry.error(
            f"{what}: it turns from `from` to `to` counterclockwise by more than 0 and at most 360 deg, not by "
            f"{reader.context.shown(width, ANGLE)}. Exchange the angles, or add 360 deg to `to`.",
            name=what,
        )
    cosine, sine, _ = reader.shapes[x.body].own_direction((1.0, 0.0, 0.0))
    by = atan2(sine, cosine)
    return x if by == 0.0 else replace(x, first=x.first + by, last=x.last + by)


def _points(reader: Elements, kind: type[Surface], node: FileNode, what: str) -> tuple[str, tuple[str, ...]]:
    """The body of a surface and its points there."""
    nodes = (node,) if kind.least == 1 else node.sequence(what, None if kind.many else kind.least)
    if len(nodes) < kind.least:
        raise node.error(f"{what} needs {kind.least} points or more, not {len(nodes)}.", name=what)
    refs = [reader.context.point_ref(n, reader.points, what) for n in nodes]
    body = refs[0][0]
    for n, (other, point) in zip(nodes, refs, strict=True):
        if other != body:
            raise n.error(f"{what}: {body}.{refs[0][1]} and {other}.{point} are on two bodies. A surface is on one.", name=other)
    names = tuple(point for _, point in refs)
    twice = next((n for n, p in zip(nodes[1:], pairwise(names), strict=True) if p[0] == p[1]), None)
    if twice is not None:
        raise twice.error(f"{what}: a point follows itself. Name it once.", name=what)
    return body, names


def read_contact(reader: Elements, name: str, entry: FileNode) -> Contact:
    """Read a contact: the surfaces of its two sides, and its numbers."""
    what = f"contact '{name}'"
    known = {x.name: x for x in reader.found.get(Surface.section, ())}

    def further(keys: dict[str, FileNode]) -> dict[str, Any]:
        first, second = (_side(node, known, f"{what}: between") for node in keys["between"].sequence(f"{what}: between", 2))
        return {"first": first, "second": second}

    made = reader.element(name, entry, [Contact], further)
    for a, b in made.pairs:
        if known[a].body == known[b].body:
            raise entry.error(f"{what}: '{a}' and '{b}' are both on body '{known[a].body}'. Name surfaces of two bodies.", name=name)
        if fault := cannot_touch(known[a], known[b]):
            raise entry.error(f"{what}: '{a}' and '{b}' {fault}", name=name)
    return made


def read_clearance(reader: Elements, name: str, entry: FileNode) -> Clearance:
    """Read the clearance of a joint, which holds nothing by then."""
    return reader.element(name, entry, [Clearance], lambda _: {"joint": loose_joint(name, entry)})


def _side(node: FileNode, known: dict[str, Any], what: str) -> tuple[str, ...]:
    names = []
    for n in (node,) if node.items is None else node.sequence(what):
        name = n.string(what)
        if name not in known:
            raise n.error(f"{what}: there is no surface '{name}'.", nearest(name, known, "Surfaces"))
        names.append(name)
    if not names:
        raise node.error(f"{what}: a side names no surface. Name one or several.", name=what)
    return tuple(names)


def check_contacts(reader: Elements, node: FileNode) -> None:
    """Refuse contacts whose channels would be those of something else, and two laws for one pair of surfaces."""
    entries, known = node.mapping(Contact.section), {}
    others = {x.name: x.word for key, found in reader.found.items() if key not in (Contact.section, Surface.section) for x in found}
    named = {**others, **dict.fromkeys(reader.shapes, "body"), **dict.fromkeys(reader.joints, "joint")}
    for x in reader.found[Contact.section]:
        if x.name in named:
            raise entries[x.name].error(
                f"contact '{x.name}' has the name of a {named[x.name]}, and channels such as '{x.name}.x' or '{x.name}.force' could mean "
                "either. Rename one.",
                name=x.name,
            )
        for pair in x.pairs:
            other = known.setdefault(frozenset(pair), x.name)
            if other != x.name or x.pairs.count(pair) > 1:
                raise entries[x.name].error(
                    f"contact '{x.name}': '{pair[0]}' and '{pair[1]}' touch in contact '{other}' already. Keep one.", name=x.name
                )
