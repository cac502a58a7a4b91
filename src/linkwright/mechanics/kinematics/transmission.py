"""Transmission and pressure angles of planar mechanisms, along the way that power takes from the drives.

Ground and all bodies that the drives hold are known. The rest is taken apart in groups that close one after the other: two links on a
common pin, each joined to known bodies (a dyad), or one link with a pin and a slot, rod or cylinder. In such a group one link pushes,
the other is driven: the *transmission angle* is that between the line of the push (from the joint at which the pushing link is pushed)
and the line from the common pin to the pivot of the driven link; for a slider, the normal of its guide takes the place of that line. It
is 90 deg at best and 0 in a singular position, where the group cannot be moved by its drives.

The *pressure angle* follows from forces alone: the mechanism has no mass, the drives hold, a unit load acts on the output; it is the
angle between the force of the common pin on the driven link and the direction in which that link can move about its pivot or along its
guide. For a pushing link with two joints it is 90 deg minus the transmission angle.

Left out: mechanisms in space or with pins on curved guides, links that only close in larger groups, a driven link with several outputs
behind it (its pressure angle), statically indeterminate mechanisms and those with gears or couplings behind the drives (pressure angles).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import elements, joints
from linkwright.compiler.graph import TracingError
from linkwright.model.coordinates import lengths
from linkwright.model.description import Description, Joint
from linkwright.numerics.connected_groups import Groups
from linkwright.numerics.scalars import arctan2, is_complex

if TYPE_CHECKING:
    from linkwright.mechanics.instant import Instant

MOST_LINKS = 6  # of a group that closes at once; larger ones are not looked for
ON_CURVE = "the mechanism has a pin on a curved guide"  # reasons why a body has no transmission angle
PARALLEL = "parallel paths share the force"
LARGER = "in a group of three or more links that close together"
NOT_DETERMINED = f"the drives do not determine the motion, or more than {MOST_LINKS} links close together"


class BodyPoint(NamedTuple):
    """A point of a body, in its frame."""

    body: str
    at: tuple[float, float, float]


class Normal(NamedTuple):
    """The normal of a guide or slot that a body carries: the direction of its force."""

    body: str
    along: tuple[float, float, float]


class Element(NamedTuple):
    """Something that joins bodies: a pin (2 rows), a guide (2), a slot (1) or a rod or driven cylinder (1)."""

    kind: str  # "pin", "guide", "slot" or "line": a rod, a cylinder that is held
    name: str
    spots: tuple[BodyPoint, ...]  # of a pin one for each body; of the others two
    normal: Normal | None = None  # of guides and slots

    @property
    def rows(self) -> int:
        return 2 if self.kind in ("pin", "guide") else 1

    def on(self, body: str) -> BodyPoint:
        return next(s for s in self.spots if s.body == body)


Side = tuple[BodyPoint, BodyPoint] | Normal  # a line between two points, or the normal of a guide


@dataclass(frozen=True)
class LinkContact:
    """One place where a link pushes another: the line of the push, and the lever of the driven link."""

    name: str  # of the pin, rod or slot; with several links on a pin also the two links
    pusher: str
    driven: str
    push: Side
    lever: Side
    at: BodyPoint  # where the driven link is pushed
    joint: Element
    carrier: str  # body on which the driven link is pivoted or guided

    @property
    def channel(self) -> str:
        return self.name.replace(" ", ".")

    def crossed(self, x: Instant) -> np.ndarray:
        """(angle between the two lines, its first and second rate), not folded."""
        a, b = _direction(x, self.push), _direction(x, self.lever)
        return b - a

    def transmission(self, x: Instant) -> Any:
        """0 .. 90 deg."""
        return between(*self.sides(x))

    def sides(self, x: Instant) -> Any:
        """(2, 2): directions of the push and of the lever."""
        return np.array([vector(x, self.push)[:2], vector(x, self.lever)[:2]])


def transmission(sides: np.ndarray) -> np.ndarray:
    """Angles between the two directions of many samples (n, 2, 2), 0 .. 90 deg."""
    return between(sides[:, 0].T, sides[:, 1].T)


def between(a: Any, b: Any) -> Any:
    """Angle between the lines of two directions in the plane, 0 .. 90 deg, over any scalar; a and b may be columns of many."""
    across, along = a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]
    return arctan2(_amount(across), _amount(along))


def _amount(x: Any) -> Any:
    """|x|, analytic on both sides of zero."""
    return np.where(x.real < 0.0, -x, x) if is_complex(x) else abs(x)


def vector(x: Instant, side: Side) -> np.ndarray:
    """A line in the world: from its first point to its second, or the normal."""
    if isinstance(side, Normal):
        return x.rotation(x.skel.node(side.body)) @ np.array(side.along)
    a, b = side
    return x.point(x.skel.node(b.body), np.array(b.at)) - x.point(x.skel.node(a.body), np.array(a.at))


def _direction(x: Instant, side: Side) -> np.ndarray:
    """Angle of a line in the plane with its rates."""
    if isinstance(side, Normal):
        node = x.skel.node(side.body)
        r = vector(x, side)
        spin, bend = (0.0, 0.0) if node < 0 else (x.motion.V[node][2], x.A[node][2])
        return np.array([np.arctan2(r[1], r[0]), spin, bend])
    ends = [(x.skel.node(s.body), np.array(s.at)) for s in side]
    r, v, a = (f(*ends[1])[:2] - f(*ends[0])[:2] for f in (x.point, x.point_velocity, x.point_acceleration))
    size = r @ r
    spin = (r[0] * v[1] - r[1] * v[0]) / size
    return np.array([np.arctan2(r[1], r[0]), spin, (r[0] * a[1] - r[1] * a[0]) / size - 2.0 * (r @ v) / size * spin])


# -------------------------------------------------------------------- structure


class Structure(NamedTuple):
    """The places at which power is passed on, in its order; the index of the last one behind each (None: several, or forces are not
    decided); bodies without such a place, with the reason; and what joins the bodies that the drives do not hold."""

    passings: tuple[LinkContact, ...]
    outputs: tuple[int | None, ...]
    left_out: Mapping[str, str]
    elements: tuple[Element, ...]
    rigid: Mapping[str, str]  # body: head of its rigid cluster while the drives hold


def structure(d: Description) -> Structure:
    """Take a planar mechanism apart from its drives on; empty in space."""
    if not d.planar:
        return Structure((), (), {}, (), {})
    elements = tuple(elements_of(d, {x.joint for x in d.drives}))
    rigid = clusters(d, set(inputs(d)))
    ground = d.bodies[0].name
    level = {b.name: int(b.name != ground) for b in d.bodies if rigid[b.name] == rigid[ground]}
    if any(_other(j) and j.name not in inputs(d) for j in d.joints):
        return Structure((), (), {b.name: ON_CURVE for b in d.bodies if b.name not in level}, elements, rigid)
    search = _GroupSearch(d, elements, rigid, level)
    found: list[_ClosedGroup] = []
    while (group := search.next()) is not None:
        search.close(group)
        found.append(group)
    never = [b.name for b in d.bodies if b.name not in level]
    grouped = {c for g in found if len(g.clusters) > 2 for c in g.clusters}
    found_not = [(b.name, LARGER if b.name in level else NOT_DETERMINED) for b in d.bodies]
    left = {name: why for name, why in found_not if why == NOT_DETERMINED or rigid[name] in grouped}
    if _forces(elements, rigid) > 3 * (len(set(rigid.values())) - 1) and not never:  # parallel paths: none decides alone
        return Structure((), (), {b.name: PARALLEL for b in d.bodies if rigid[b.name] != rigid[ground]}, elements, rigid)
    passings = [g.passing for g in found if g.passing is not None]
    clear = not never and not d.ties
    last = [p for p, g in zip(_last(found, rigid), found, strict=True) if g.passing is not None]
    last = [p if clear and p is not None and (p.carrier == ground or p is own) else None for p, own in zip(last, passings, strict=True)]
    number = {id(p): k for k, p in enumerate(passings)}
    return Structure(tuple(passings), tuple(None if p is None else number[id(p)] for p in last), left, elements, rigid)


def _forces(elements: Sequence[Element], rigid: Mapping[str, str]) -> int:
    """How many components of force the elements have between rigid clusters."""
    count = 0
    for e in elements:
        n = len({rigid[s.body] for s in e.spots})
        count += 2 * (n - 1) if e.kind == "pin" else e.rows if n > 1 else 0
    return count


def pins(d: Description) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return the hinges by pin: places of all bodies that meet there, in their own frames."""
    out: dict[str, dict[str, tuple[float, float, float]]] = {}
    for j in d.joints:
        if joints.is_hinge(joints.JOINTS[j.type]):
            spots = out.setdefault(j.pin or j.name, {})
            spots.setdefault(j.first, j.frame_first.at)
            spots.setdefault(j.second, j.frame_second.at)
    return out


def elements_of(d: Description, held: Collection[str]) -> Iterator[Element]:
    """Everything in the plane that passes a force between bodies along a line that geometry gives; `held` cylinders are rods."""
    for name, spots in pins(d).items():
        yield Element("pin", name, tuple(BodyPoint(b, at) for b, at in spots.items()))
    for j in d.joints:
        if _straight(j):
            y = tuple(row[1] for row in j.frame_first.rotation)
            spots_ = (BodyPoint(j.first, j.frame_first.at), BodyPoint(j.second, j.frame_second.at))
            yield Element("guide" if joints.JOINTS[j.type].nv == 1 else "slot", j.name, spots_, Normal(j.first, (y[0], y[1], y[2])))
    lines = [(x.name, x.between) for x, _ in elements.lengths(d)] + [x for x in lengths(d).items() if x[0] in held]
    for name, between in lines:
        a, b = (BodyPoint(ref[0], d.point(ref).at) for ref in between)
        yield Element("line", name, (a, b))


def _straight(joint: Joint) -> bool:
    """True for a slider or a pin in a straight slot: its force acts along y of F. A course that depends on traced numbers is none."""
    try:
        return joints.along_x(joints.create(joint.type, joint.options))
    except TracingError:
        return False


def _other(joint: Joint) -> bool:
    """True for a joint whose force has no line of its own here: a pin on a curve."""
    jt = joints.JOINTS[joint.type]
    return jt.nv > 0 and joints.holds(jt, planar=True) and not joints.is_hinge(jt) and not _straight(joint)


def inputs(d: Description) -> list[str]:
    """Joints and cylinders that are driven; without drives the first hinge or slider on ground, as `turn` takes it."""
    if d.drives:
        return [x.joint for x in d.drives]
    ground = d.bodies[0].name
    return [j.name for j in d.joints if ground in (j.first, j.second) and joints.create(j.type, j.options).nv == 1][:1]


def clusters(d: Description, held: Collection[str]) -> dict[str, str]:
    """The head of the rigid cluster of each body while some joints hold; a gear or coupling passes a held joint on."""
    groups = Groups(b.name for b in d.bodies)
    for j in d.joints:
        if joints.JOINTS[j.type].nv == 0 or j.name in held:
            groups.join(j.first, j.second)
    pairs = [(d.joint(a), d.joint(b)) for x in elements.constraints(d) for a, b in x.passes]
    both = [*pairs, *((b, a) for a, b in pairs)]
    while any(groups.join(b.first, b.second) for a, b in both if groups.root(a.first) == groups.root(a.second)):
        pass
    return groups.roots()


class _ClosedGroup(NamedTuple):
    """Clusters that close together, the known bodies that carry them, and the angle if there is one."""

    clusters: tuple[str, ...]
    carriers: tuple[str, ...]
    held_by: tuple[Element, ...]  # elements to known bodies
    passing: LinkContact | None


class _GroupSearch:
    """Groups of unknown clusters that close on known bodies: single links first, then dyads, then larger groups; of these the first in
    the order of the bodies. After a group only its neighbors are looked at again, so the search takes time in proportion to the links."""

    def __init__(self, d: Description, elements: Sequence[Element], rigid: Mapping[str, str], level: dict[str, int]):
        self.rigid, self.level = rigid, level
        self.members: dict[str, list[str]] = {}
        for b in d.bodies:
            self.members.setdefault(rigid[b.name], []).append(b.name)
        self.touching: dict[str, list[Element]] = {u: [] for u in self.members}
        for e in elements:
            for u in dict.fromkeys(rigid[s.body] for s in e.spots):
                self.touching[u].append(e)
        self.place = {u: i for i, u in enumerate(dict.fromkeys(rigid[b.name] for b in d.bodies if b.name not in level))}
        self.unknown = list(self.place)
        self.outer = {u: self._outer(u) for u in self.unknown}
        self.singles = [i for i, u in enumerate(self.unknown) if self._firm(u)]  # heaps of places that may close
        self.pairs = [(i, k) for i, u in enumerate(self.unknown) for k in self._beside(u) if i < k]
        heapify(self.pairs)

    def next(self) -> _ClosedGroup | None:
        while self.singles:
            u = self.unknown[heappop(self.singles)]
            if u in self.outer:
                return _single(u, self.outer[u])
        while self.pairs:
            u, w = (self.unknown[i] for i in heappop(self.pairs))
            inner = self._inner(u, w) if u in self.outer and w in self.outer else []
            rows = sum(e.rows for e in inner) + sum(e.rows for x in (u, w) for e, _, _ in self.outer.get(x, ()))
            if inner and rows >= 6 and self.outer[u] and self.outer[w]:
                return _dyad(u, w, inner, self.outer, self.rigid, self.level)
        for size in range(3, min(MOST_LINKS, len(self.outer)) + 1):
            for several in sorted(self._connected(size)):
                names = tuple(self.unknown[i] for i in several)
                if self._rows(names) >= 3 * size:
                    return _ClosedGroup(names, tuple(k.body for u in names for _, _, k in self.outer[u]), (), None)
        return None

    def close(self, group: _ClosedGroup) -> None:
        """The group is known from here on."""
        new = 1 + max((self.level[b] for b in group.carriers), default=0)
        around = {k for u in group.clusters for k in self._beside(u)} - {self.place[u] for u in group.clusters}
        for u in group.clusters:
            self.level.update(dict.fromkeys(self.members[u], new))
            del self.outer[u]
        for i in around:
            u = self.unknown[i]
            self.outer[u] = self._outer(u)
            if self._firm(u):
                heappush(self.singles, i)
        for i in around:
            for k in self._beside(self.unknown[i]):
                heappush(self.pairs, (min(i, k), max(i, k)))

    def _outer(self, u: str) -> list[tuple[Element, BodyPoint, BodyPoint]]:
        return [x for x in (_to_known(e, u, self.rigid, self.level) for e in self.touching[u]) if x]

    def _firm(self, u: str) -> bool:
        return sum(e.rows for e, _, _ in self.outer[u]) >= 3

    def _beside(self, u: str) -> set[int]:
        """Places of the unknown clusters that share an element with one."""
        found = {self.rigid[s.body] for e in self.touching[u] for s in e.spots} & self.outer.keys()
        return {self.place[x] for x in found if x != u}

    def _inner(self, u: str, w: str) -> list[Element]:
        """Elements between two clusters that no known body shares."""
        own = [e for e in self.touching[u] if w in {self.rigid[s.body] for s in e.spots}]
        return [e for e in own if not any(s.body in self.level for s in e.spots)]

    def _connected(self, size: int) -> set[tuple[int, ...]]:
        """Groups of unknown clusters that hang together and on a known body: of others a part closes by itself, or nothing does."""
        found: set[tuple[int, ...]] = {(self.place[u],) for u, known in self.outer.items() if known}
        for _ in range(size - 1):
            found = {tuple(sorted((*g, k))) for g in found for i in g for k in self._beside(self.unknown[i]) if k not in g}
        return found

    def _rows(self, clusters: Sequence[str]) -> int:
        """Constraints among clusters and known bodies."""
        count = 0
        for e in {id(e): e for u in clusters for e in self.touching[u]}.values():
            own = {self.rigid[s.body] for s in e.spots} & set(clusters)
            n = len(own) + any(s.body in self.level for s in e.spots)
            count += 0 if n < 2 else e.rows * (n - 1 if e.kind == "pin" else 1)
        return count


def _to_known(e: Element, u: str, rigid: Mapping[str, str], level: Mapping[str, int]) -> tuple[Element, BodyPoint, BodyPoint] | None:
    """(element, its spot on the cluster, its spot on a known body), the latest known one; None if it does not join the two."""
    own = [s for s in e.spots if rigid[s.body] == u]
    known = sorted((s for s in e.spots if s.body in level), key=lambda s: level[s.body])
    return (e, own[0], known[-1]) if own and known else None


def _single(u: str, outer: Sequence[tuple[Element, BodyPoint, BodyPoint]]) -> _ClosedGroup:
    """One link on a pin or guide and a slot or rod: the line of the slot's or rod's force against the lever of the link."""
    carriers, held = tuple(k.body for _, _, k in outer), tuple(e for e, _, _ in outer)
    firm = [x for x in outer if x[0].rows == 2]
    loose = [x for x in outer if x[0].rows == 1]
    if len(firm) != 1 or len(loose) != 1:
        return _ClosedGroup((u,), carriers, held, None)
    (hold, own, base), (e, mine, known) = firm[0], loose[0]
    at = known if e.normal is not None and e.normal.body == mine.body else mine  # the pin of a slot, on whichever body it is
    push: Side = e.normal if e.normal is not None else (known, mine)
    lever: Side = hold.normal if hold.normal is not None else (own, at)
    return _ClosedGroup((u,), carriers, held, LinkContact(e.name, known.body, mine.body, push, lever, at, e, base.body))


def _dyad(
    u: str,
    w: str,
    inner: Sequence[Element],
    outer: dict[str, list[tuple[Element, BodyPoint, BodyPoint]]],
    rigid: Mapping[str, str],
    level: Mapping[str, int],
) -> _ClosedGroup:
    """Two links on a common pin: the one on the later body pushes."""
    carriers = tuple(k.body for x in (u, w) for _, _, k in outer[x])
    held = tuple(e for x in (u, w) for e, _, _ in outer[x])
    plain = len(inner) == 1 and inner[0].kind == "pin" and all(len(outer[x]) == 1 and outer[x][0][0].rows == 2 for x in (u, w))
    if not plain:
        return _ClosedGroup((u, w), carriers, held, None)
    one, two = sorted((u, w), key=lambda x: (outer[x][0][0].kind == "guide", -level[outer[x][0][2].body]))
    (hold_1, own_1, _), (hold_2, own_2, base) = outer[one][0], outer[two][0]
    if hold_1.kind == "guide":  # two sliders on one pin
        return _ClosedGroup((u, w), carriers, held, None)
    pin = inner[0]
    at_1, at_2 = (next(s for s in pin.spots if rigid[s.body] == x) for x in (one, two))
    lever: Side = hold_2.normal if hold_2.normal is not None else (own_2, at_2)
    pair = "-".join(sorted((at_1.body, at_2.body)))
    name = pin.name if len(pin.spots) == 2 else f"{pin.name} {pair}"
    return _ClosedGroup((u, w), carriers, held, LinkContact(name, at_1.body, at_2.body, (own_1, at_1), lever, at_2, pin, base.body))


def _last(found: Sequence[_ClosedGroup], rigid: Mapping[str, str]) -> list[LinkContact | None]:
    """For each group the angle of the only last one behind it; None where there are several, or where the power does not continue through
    the driven link (a coupler that passes it on itself, a pin that the next link shares)."""
    owner = {c: i for i, g in enumerate(found) for c in g.clusters}
    after: list[list[int]] = [[] for _ in found]
    for k, g in enumerate(found):
        for i in {owner[rigid[c]] for c in g.carriers if rigid[c] in owner}:
            after[i].append(k)

    def goes_on(i: int) -> bool:
        p = found[i].passing
        return p is not None and all(
            any(rigid[c] == rigid[p.driven] for c in found[k].carriers) and p.joint not in found[k].held_by for k in after[i]
        )

    end: list[int | None] = [None] * len(found)  # the only last group behind each
    for i in reversed(range(len(found))):  # a group closes after those that carry it
        behind = {end[k] for k in after[i]} or {i}
        end[i] = behind.pop() if len(behind) == 1 else None
    return [None if e is None or not goes_on(i) else found[e].passing for i, e in enumerate(end)]
