"""Collision shapes of a file as surfaces and named contacts, for the pairs that a caller asks for (`contacts=`).

A file lists shapes on bodies and which of them may touch. The caller chooses among these pairs: "ground" takes every pair with something
that is fixed to the ground, a body takes its own pairs with the ground, and "finger with ball" takes those of two bodies. Shapes that have
no closed form here are listed in the report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import GROUND, Description, Pose, Source, UsageError, counted, description, elements, nearest
from linkwright.rings.exchange.reading.names import NameTable, usable
from linkwright.rings.exchange.reading.notes import ImportNotes
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import vector

HOW = 'contacts="ground" reads those that can touch the ground'
BETWEEN = " with "
LACKS = "contact pair without a closed form"


class CollisionShape(NamedTuple):
    """A shape on a body: sphere (radius), capsule (radius, length), box (three edges), plane, or another word with no closed form."""

    name: str  # in the file; may be empty
    body: str
    rigid: str  # body to which this one is fixed, the ground for everything that cannot move
    kind: str
    size: tuple[float, ...]
    pose: Pose
    where: Source | None = None


class AllowedPair(NamedTuple):
    """Two shapes by number that the file lets touch."""

    first: int
    second: int
    mu: float


@dataclass(frozen=True)
class ContactRequest:
    """Pairs that a caller asks for, as names of bodies; ("", "") stands for everything with the ground."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, contacts: Any) -> ContactRequest | None:
        """Return the request of an option, None without one."""
        if contacts is None or contacts == "none":
            return None
        items = contacts.split(",") if isinstance(contacts, str) else contacts
        if not isinstance(items, Collection) or isinstance(items, bytes):
            raise _unreadable(contacts)
        pairs = tuple(_pair(x) for x in items)
        if not pairs:
            raise _unreadable(contacts)
        return cls(pairs)

    @property
    def of_ground(self) -> bool:
        """Return True if something is asked to touch the ground."""
        return any(not any(pair) or GROUND in pair for pair in self.pairs)

    def check(self, bodies: Collection[str]) -> None:
        """Raise for a name that is no body."""
        for name in (x for pair in self.pairs for x in pair if x):
            if name not in bodies:
                raise UsageError(f"contacts: there is no body '{name}'.", nearest(name, bodies, "Bodies"))

    def takes(self, a: CollisionShape, b: CollisionShape) -> set[tuple[str, str]]:
        """Return the entries that ask for two shapes."""
        out = set()
        for pair in self.pairs:
            first, second = pair if any(pair) else ("", GROUND)
            if any(_is(x, first) and _is(y, second) for x, y in ((a, b), (b, a))):
                out.add(pair)
        return out


def _is(x: CollisionShape, name: str) -> bool:
    return name in ("", x.body, x.rigid)


def _pair(item: Any) -> tuple[str, str]:
    two = item.split(BETWEEN) if isinstance(item, str) else item
    if not isinstance(two, Sequence) or not all(isinstance(x, str) and x.strip() for x in two) or not 1 <= len(two) <= 2:
        raise _unreadable(item)
    names = tuple(x.strip() for x in two)
    return (names[0], names[1]) if len(names) == 2 else ("", "") if names[0] == GROUND else (names[0], GROUND)


def _unreadable(given: Any) -> UsageError:
    return UsageError(
        f"contacts is {given!r}. Give 'ground' for all that can touch the ground, or a list of bodies and pairs of bodies: "
        "contacts=['foot', 'finger with ball'].",
        name="contacts",
        value=given,
        allowed=("ground", "none"),
    )


# -------------------------------------------------------------------- surfaces and contacts


def with_contacts(
    d: Description, request: ContactRequest, shapes: Sequence[CollisionShape], pairs: Iterable[AllowedPair], notes: ImportNotes
) -> Description:
    """Return the description with the surfaces and contacts that a request asks for."""
    request.check([b.name for b in d.bodies])
    found, answered = list[AllowedPair](), set[tuple[str, str]]()
    for pair in pairs:
        entries = request.takes(shapes[pair.first], shapes[pair.second])
        if entries:
            answered |= entries
            found.append(_oriented(pair, shapes))
    _refuse_idle(request, answered, notes)
    held = [pair for pair in found if _has_form(pair, shapes, notes)]
    used = sorted({i for pair in held for i in (pair.first, pair.second)})
    maker = _SurfaceMaker(d, notes)
    names = {i: maker.add(shapes[i]) for i in used}
    contacts = tuple(_contacts(held, shapes, names, maker))
    if contacts:
        notes.infer(
            f"{counted(len(contacts), 'contact')} of {counted(len(used), 'surface')}: rigid, without restitution, friction of the file."
        )
    return replace(d, bodies=tuple(maker.bodies.values()), surfaces=tuple(maker.surfaces), contacts=contacts)


def _oriented(pair: AllowedPair, shapes: Sequence[CollisionShape]) -> AllowedPair:
    """The ground is the second side."""
    return AllowedPair(pair.second, pair.first, pair.mu) if shapes[pair.first].rigid == GROUND else pair


def _refuse_idle(request: ContactRequest, answered: set[tuple[str, str]], notes: ImportNotes) -> None:
    for pair in request.pairs:
        if pair in answered:
            continue
        if not any(pair):
            notes.warn("contacts: no shape in the file can touch the ground")
            continue
        raise UsageError(
            f"contacts: no shapes of '{pair[0]}' and '{pair[1]}' can touch in the file. They need collision shapes, and filters that let "
            "them touch.",
            name=pair[0],
        )


def _has_form(pair: AllowedPair, shapes: Sequence[CollisionShape], notes: ImportNotes) -> bool:
    a, b = shapes[pair.first], shapes[pair.second]
    if b.kind in elements.PARTNERS.get(a.kind, ()) and not (a.kind == b.kind == "sphere" and a.size[0] == b.size[0] == 0.0):
        return True
    notes.drop(LACKS, f"{a.body} with {b.body} ({a.kind} and {b.kind})", mechanism=True)
    return False


class _SurfaceMaker:
    """Surfaces with the points that they need on their bodies, all with names that are not taken."""

    def __init__(self, d: Description, notes: ImportNotes):
        self.bodies = {b.name: b for b in d.bodies}
        self.names = NameTable("surface", notes)
        others = [x.name for x in elements.every(d)]
        self.contact_names = NameTable("contact", notes, [*self.bodies, *(j.name for j in d.joints), *others])
        self.surfaces: list[Any] = []

    def add(self, shape: CollisionShape) -> str:
        """Make the surface of a shape and return its name."""
        name = self.names.add(shape.name) if shape.name else self.names.fresh(f"{shape.body}_{shape.kind}")
        common: dict[str, Any] = {"name": name, "body": shape.body, "where": shape.where}
        X, size = shape.pose, shape.size
        if shape.kind == "capsule":
            ends = [X.p + side * 0.5 * size[1] * X.R[:, 2] for side in (-1.0, 1.0)]
            points = tuple(self._point(shape.body, f"{name}_{i}", at) for i, at in enumerate(ends, 1))
            self.surfaces.append(elements.Capsule(**common, points=points, radius=size[0]))
            return name
        common["points"] = (self._point(shape.body, name, X.p),)
        if shape.kind == "sphere":
            self.surfaces.append(elements.Sphere(**common, radius=size[0]))
        elif shape.kind == "plane":
            self.surfaces.append(elements.Plane(**common, normal=vector(X.R[:, 2])))
        else:
            axes: dict[str, Any] = {"along": vector(X.R[:, 0]), "across": vector(X.R[:, 1])}
            self.surfaces.append(elements.Box(**common, length=size[0], width=size[1], height=size[2], **axes))
        return name

    def _point(self, body: str, wanted: str, at: np.ndarray) -> str:
        b = self.bodies[body]
        taken, name, n = {p.name for p in b.points}, usable(wanted), 1
        while name in taken:
            n += 1
            name = f"{usable(wanted)}_{n}"
        self.bodies[body] = replace(b, points=(*b.points, description.Point(name, vector(at))))
        return name


def _contacts(pairs: Sequence[AllowedPair], shapes: Sequence[CollisionShape], names: dict[int, str], maker: _SurfaceMaker) -> Iterable[Any]:
    """Contacts with the same bodies and friction; every surface of the first side may touch every one of the second."""
    groups: dict[tuple[str, str, float], dict[int, list[int]]] = {}
    for pair in pairs:
        key = (shapes[pair.first].body, shapes[pair.second].rigid, pair.mu)
        groups.setdefault(key, {}).setdefault(pair.first, []).append(pair.second)
    for (a, b, mu), partners in groups.items():
        sides: dict[tuple[int, ...], list[int]] = {}
        for first, seconds in partners.items():
            sides.setdefault(tuple(sorted(set(seconds))), []).append(first)
        for seconds, firsts in sides.items():
            first, second = (tuple(names[i] for i in side) for side in (firsts, seconds))
            yield elements.Contact(maker.contact_names.fresh(f"{a}_{b}"), first, second, mu)
