"""Geometry of a singular position as text: links in line, lines that meet in one point or are parallel, a link across a guide.

Where rows of constraints lose rank there is a self-stress: forces in the joints that balance each other without any load. They show which
links the lost rank is about, and equilibrium shows what is special about these links [Hoang2023 sec. 5.1]:

    a link with two pins carries a force along the line of the pins, so two such links on a common pin are in line: stretched or folded
    a link with a pin and a guide carries a force across the guide: a link on the same pin is perpendicular to the guide
    a body under three forces has them concurrent or parallel

Lines count only if geometry alone gives them: the line of two pins, of a rod, of a held cylinder, the normal of a slot, the normal of a
guide through a pin. Each statement is tested at the position (`EXACT`) and must not hold elsewhere. Mechanisms in space, forces of gears,
belts, cams and pins on curves, bodies under four forces and more have no such reading, and nothing is said of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.errors import listing
from linkwright.mechanics.closing.singular_position import REACH, LostRank, SelfStress, self_stresses, singular_position
from linkwright.mechanics.constraints.driver import DrivenDistance, Driver, driven
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.dynamics.reactions import constraint_part, every_joint_wrench
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.transmission import BodyPoint, Element, Normal, clusters, elements_of, vector
from linkwright.model.curves.polynomial import Line
from linkwright.numerics.tolerances import SAME_POSITION
from linkwright.text.units import KINDS, display_unit

EXACT = 1e-9  # sine of an angle, or distance over the size: positions are exact to 1e-13 and the geometry to some thousand times that
LISTED = 4  # statements about one position that are written out


class Spot(NamedTuple):
    """A named point of a body."""

    name: str
    at: BodyPoint


class GivenLine(NamedTuple):
    """A line of force that geometry gives, through one or more spots; with a normal along it where there are fewer than two."""

    links: tuple[str, ...]
    spots: tuple[Spot, ...]
    across: tuple[tuple[str, str, Normal], ...] = ()  # ("guide" or "slot", its joint, its normal)

    def drawn(self, x: Instant, size: float) -> tuple[np.ndarray, np.ndarray]:
        """(point, unit direction); the direction is that of the farthest spots, or of the normal."""
        points = [_point(x, s) for s in self.spots]
        if len(points) > 1:
            a, b = max(((a, b) for i, a in enumerate(points) for b in points[:i]), key=lambda ab: float(np.linalg.norm(ab[1] - ab[0])))
            if np.linalg.norm(b - a) > SAME_POSITION * size:
                return a, (b - a) / np.linalg.norm(b - a)
        if not self.across:
            return points[0], np.zeros(2)
        along = vector(x, self.across[0][2])[:2]
        return points[0], along / np.linalg.norm(along)

    def off(self, x: Instant, size: float) -> float:
        """How far it is from being one line: the largest sine to a normal and distance of a spot (over the size)."""
        at, along = self.drawn(x, size)
        if not along.any():
            return np.inf
        sines = [_cross(along, _unit(vector(x, n)[:2])) for _, _, n in self.across]
        return float(max((abs(s) for s in (*sines, *(_cross(along, _point(x, s) - at) / size for s in self.spots))), default=0.0))


@dataclass(frozen=True)
class SingularGeometry:
    """One statement about a singular position."""

    kind: str  # "in line", "stretched", "folded", "across", "concurrent" or "parallel"
    lines: tuple[GivenLine, ...]  # one of links in line, three of a body
    off: float  # how far from exact it is: a sine, or a distance over the size
    body: str = ""  # under three forces
    point: tuple[float, float] | None = None  # in which they meet, m

    def text(self, units: Sequence[str]) -> str:
        """`coupler and rocker are in line (B, C, D stretched)`."""
        if self.body:
            lines = f"the lines of {_and(['-'.join(x.links) for x in self.lines])}"
            if self.point is None:
                return f"{lines} are parallel"
            symbol, per_si = display_unit(units, KINDS["length"])
            x, y = (f"{v * per_si + 0.0:.4g}" for v in self.point)
            return f"{lines} meet in one point, ({x}, {y}) {symbol}"
        (line,) = self.lines
        links, spots = list(line.links), listing([s.name for s in line.spots])
        how = "" if self.kind in ("in line", "across") else f" {self.kind}"
        in_line = f"{_and(links)} are in line ({spots}{how})" if len(links) > 1 else ""
        if self.kind == "across" or line.across:
            what = _and([f"the {kind} of {name}" for kind, name, _ in line.across])
            return f"{in_line}, perpendicular to {what}" if in_line else f"{links[0]} is perpendicular to {what} ({spots})"
        return in_line


def geometry_text(found: Sequence[SingularGeometry], units: Sequence[str]) -> str:
    """The first few statements as one phrase; empty without any."""
    more = [f"and {len(found) - LISTED} more"] if len(found) > LISTED else []
    return "; ".join([*(x.text(units) for x in found[:LISTED]), *more])


def at_dead_center(
    loops: Loops, positions: Mapping[str, float], lead: str, near: Instant, elsewhere: Instant, *, reach: float = REACH
) -> tuple[SingularGeometry, ...]:
    """Statements where drives are at `positions` and the lead, close to its own, can move no further, or the loops lose rank."""
    d = loops.skel.tree.description
    if not d.planar:
        return ()
    drives = [driven(d, name, Line(x, 1.0 if name == lead else 0.0)) for name, x in positions.items()]
    tied = LostRank(loops.with_(drives))
    at = singular_position(tied, Instant(near.skel, near.q, np.zeros(loops.skel.tree.nv), 0.0, near.references), elsewhere, reach=reach)
    if at is None:
        return ()
    alone = LostRank(loops)  # where the loops lose rank by themselves, the links concerned may include those that are driven
    there = singular_position(alone, at, elsewhere, reach=SAME_POSITION) if loops.constraints else None
    return read_geometry(tied, at, elsewhere) if there is None else read_geometry(alone, there, elsewhere)


def singular_geometry(lost: LostRank, near: Instant, elsewhere: Instant, *, reach: float = REACH) -> tuple[SingularGeometry, ...]:
    """Statements about the singular position next to a state; empty where that has no reading. `elsewhere`: see `LostRank`."""
    if not lost.loops.skel.tree.description.planar:
        return ()
    at = singular_position(lost, near, elsewhere, reach=reach)
    return () if at is None else read_geometry(lost, at, elsewhere)


def read_geometry(lost: LostRank, at: Instant, elsewhere: Instant) -> tuple[SingularGeometry, ...]:
    """The same at an exact position; empty at any other."""
    stress = self_stresses(lost, at)
    if stress is None or not lost.loops.skel.tree.description.planar:
        return ()
    size = lost.loops.kappa
    found: dict[Any, SingularGeometry] = {}
    for lam in stress.multipliers:
        for x in _Frame(lost, stress, lam).statements():
            if x.off <= EXACT and _measured(x, elsewhere, size).off > EXACT:
                found.setdefault((x.kind, x.body, x.lines), x)
    return tuple(sorted(found.values(), key=lambda x: x.text(())))


# -------------------------------------------------------------------- forces in the plane


class LinkTouch(NamedTuple):
    """A touch of a link: the element, the other link ("" of a joint that carries force between three), and the spot if it has one."""

    element: Element
    other: str
    spot: Spot | None


def _held(lost: LostRank) -> tuple[set[str], set[str]]:
    """Joints and cylinders that do not move, and slots in which the pin may turn and not slide."""
    tree = lost.loops.skel.tree
    fixed: dict[str, set[int]] = {}
    cylinders = set()
    for c in lost.loops.constraints[len(tree.loops) :]:
        if isinstance(c, Driver):
            fixed.setdefault(c.joint.name, set()).add(c.coordinate)
        elif isinstance(c, DrivenDistance):
            cylinders.add(c.name)
    for n in tree.nodes:
        fixed.setdefault(n.joint.name, set()).update(i - n.v.start for i in lost.held if n.v.start <= i < n.v.stop)
    types = {j.name: joints.JOINTS[j.type] for j in (*tree.description.joints, *(n.joint for n in tree.nodes))}
    whole = {name for name, some in fixed.items() if some and len(some) == types[name].nv}
    return whole | cylinders, {name for name, some in fixed.items() if name not in whole and some == {types[name].guide}}


class _Frame:
    """Links under one self-stress: rigid clusters of bodies, rods and held cylinders, with the contacts that carry force."""

    def __init__(self, lost: LostRank, stress: SelfStress, lam: np.ndarray):
        self.x, self.lam, self.size = stress.at, lam, lost.loops.kappa
        tree = self.x.skel.tree
        self.d = tree.description
        held, self.pinned = _held(lost)
        self.rigid = clusters(self.d, held)
        self.ground = self.rigid[self.d.bodies[0].name]
        self.floating = {n.body for n in tree.nodes if n.joint.name in held and n.body in tree.floating}
        self.rigid |= dict.fromkeys(self.floating, self.ground)
        self.elements = {e.name: self._pinned(e) for e in elements_of(self.d, held)}
        self.opaque: set[str] = set()  # links under forces without a line
        self.contacts = self._contacts()

    def _contacts(self) -> dict[str, list[LinkTouch]]:
        forces = self._forces()
        most = max((f for at in forces.values() for f in at.values()), default=0.0)
        out: dict[str, list[LinkTouch]] = {}
        carries = 1e-7  # share of the largest force from which a joint carries one: self-stresses are exact to 1e-9
        for name, at in forces.items():
            links = [u for u, f in at.items() if f > carries * most]
            e = self.elements.get(name)
            if e is None or (e.kind != "pin" and len(links) > 2):
                self.opaque |= set(links)
                continue
            if e.kind == "line":
                for s in e.spots if links else ():
                    spot = Spot(_end_name(self.d, s), s)
                    for one, other in ((name, self.rigid[s.body]), (self.rigid[s.body], name)):
                        out.setdefault(one, []).append(LinkTouch(e, other, spot))
                continue
            for u in links:
                others = [w for w in links if w != u]
                mine = next((s for s in e.spots if self.rigid[s.body] == u), e.spots[0])
                spot = Spot(name, mine) if e.kind == "pin" else Spot(name, self._slot_pin(e)) if e.kind == "slot" else None
                out.setdefault(u, []).append(LinkTouch(e, others[0] if len(others) == 1 else "", spot))
        return out

    def _pinned(self, e: Element) -> Element:
        """A slot in which the pin does not slide is a pin."""
        return Element("pin", e.name, (self._slot_pin(e),)) if e.kind == "slot" and e.name in self.pinned else e

    def _slot_pin(self, e: Element) -> BodyPoint:
        """The point of the pin in a slot: on the body that does not carry the slot."""
        return next(s for s in e.spots if e.normal is None or s.body != e.normal.body)

    def _forces(self) -> dict[str, dict[str, float]]:
        """Size of the force of every element on each link, moments over the size; a name without an element has no line."""
        wrenches: dict[str, dict[str, np.ndarray]] = {}

        def put(name: str, body: str, w: np.ndarray) -> None:
            at = wrenches.setdefault(name, {})
            at[self.rigid[body]] = at.get(self.rigid[body], 0.0) + w

        for w in every_joint_wrench(self.x, self.lam, None, inertial=False):
            j, held = self.d.joint(w.joint), constraint_part(self.x, w)
            name = (j.pin or j.name) if (j.pin or j.name) in self.elements else j.name
            effort = w._replace(moment=w.moment - held.moment, force=w.force - held.force)
            for part, key in ((held, name), (effort, self._effort(j.name))):
                put(key, j.second, self._planar(part.moment, part.force))
                put(key, j.first, -self._planar(part.moment, part.force))
        skel, closure = self.x.skel, self.x.closure
        for k, (c, rows, part) in enumerate(zip(self.x.loops.constraints, closure.rows, closure.parts, strict=True)):
            if k < len(skel.tree.loops) and c.name in skel.tree.cuts:
                continue
            key = c.name if k < len(skel.tree.loops) or isinstance(c, DrivenDistance) else self._effort(c.name)
            for node, G in part.G:
                w = G.T @ self.lam[rows]
                put(key, skel.tree.nodes[node].body if node >= 0 else self.ground, self._planar(w[:3], w[3:]))
        return {name: {u: float(np.abs(w).max()) for u, w in at.items()} for name, at in wrenches.items()}

    def _effort(self, joint: str) -> str:
        """Under which name the force that holds a joint acts: together with that of a slot it is the force of a pin."""
        return joint if joint in self.pinned else f"effort of {joint}"

    def _planar(self, moment: Any, force: Any) -> np.ndarray:
        """(Fx, Fy, M / size) of a wrench at its own point."""
        return np.array([force[0], force[1], moment[2] / self.size], dtype=float)

    # ---------------------------------------------------------------- statements

    def _two_force(self, u: str) -> bool:
        at = self.contacts.get(u, [])
        return u != self.ground and u not in self.opaque and len(at) == 2 and any(c.spot is not None for c in at)

    def _chains(self) -> list[tuple[str, ...]]:
        """Links in series that carry the same force, from end to end."""
        links = [u for u in self.contacts if self._two_force(u)]
        beside = {u: [c.other for c in self.contacts[u] if c.other in links] for u in links}
        out, seen = [], set()
        for begin in sorted(links, key=lambda u: len(beside[u])):  # ends first; what is left are rings
            chain: list[str] = []
            u: str | None = begin
            while u is not None and u not in seen:
                seen.add(u)
                chain.append(u)
                u = next((w for w in beside[u] if w not in seen), None)
            if chain:
                out.append(tuple(chain))
        order = {u: i for i, u in enumerate([*(self.rigid[b.name] for b in self.d.bodies), *self.elements])}
        return [c if order[c[0]] <= order[c[-1]] else c[::-1] for c in out]

    def _line(self, chain: Sequence[str]) -> GivenLine:
        contacts = list(dict.fromkeys(c for u in self._in_order(chain) for c in u))
        spots = tuple(dict.fromkeys(c.spot for c in contacts if c.spot is not None))
        named = {s.name: s for s in reversed(spots)}  # a pin between two links once
        across = tuple(dict.fromkeys((e.kind, e.name, e.normal) for e in (c.element for c in contacts) if e.normal is not None))
        names = [u for u in chain if not self._block(u)]
        return GivenLine(tuple(self._name(u) for u in names or chain), tuple(dict.fromkeys(named[s.name] for s in spots)), across)

    def _in_order(self, chain: Sequence[str]) -> Iterator[list[LinkTouch]]:
        """The two contacts of every link of a chain, the one toward the link before it first."""
        before, *after = "", *chain[1:], ""
        for u, behind in zip(chain, after, strict=True):
            a, b = self.contacts[u]
            turned = b.other == before != a.other if before else a.other == behind != b.other
            yield [b, a] if turned else [a, b]
            before = u

    def _block(self, u: str) -> bool:
        """True for a link with a pin and a guide: a sliding block, which has no line of two pins."""
        return u in self.contacts and any(c.element.kind == "guide" for c in self.contacts[u])

    def _name(self, u: str) -> str:
        """The bodies of a rigid link that are touched: `leg1+ram1`; a rod or cylinder by its name."""
        if u in self.elements and self.elements[u].kind == "line":
            return u
        touched = {s.body for c in self.contacts[u] for s in c.element.spots if self.rigid[s.body] == u}
        return "+".join(b.name for b in self.d.bodies if b.name in touched)

    def statements(self) -> Iterator[SingularGeometry]:
        """Everything that equilibrium says, not yet judged."""
        chains = self._chains()
        lines = {u: self._line(c) for c in chains for u in c}
        for chain in chains:
            line = lines[chain[0]]
            if len(line.spots) + len(line.across) > 2:
                yield _measured(SingularGeometry("in line", (line,), np.inf), self.x, self.size)
        for u, at in self.contacts.items():
            if u != self.ground and u not in self.opaque and u not in lines and len(at) == 3:
                three = [lines.get(c.other) or self._slot_line(c) for c in at]
                if all(x is not None for x in three):
                    found = SingularGeometry("concurrent", tuple(x for x in three if x is not None), np.inf, self._name(u))
                    yield _measured(found, self.x, self.size)

    def _slot_line(self, c: LinkTouch) -> GivenLine | None:
        e = c.element
        if e.kind != "slot" or e.normal is None:
            return None
        return GivenLine((f"the slot {e.name}",), (Spot(e.name, self._slot_pin(e)),), ((e.kind, e.name, e.normal),))


def _measured(g: SingularGeometry, x: Instant, size: float) -> SingularGeometry:
    """The statement with what it is and how exact at a position."""
    if g.body:
        return _of_three(g, x, size)
    (line,) = g.lines
    off = line.off(x, size)
    points = [_point(x, s) for s in line.spots]
    turns = [float((b - a) @ (c - b)) for (a, b), (_, c) in pairwise(pairwise(points))]
    kind = "across" if len(line.links) == 1 else "in line"
    if turns and len(line.links) > 1:
        kind = "stretched" if min(turns) > 0.0 else "folded" if len(turns) == 1 else kind
    return replace(g, kind=kind, off=off)


def _of_three(g: SingularGeometry, x: Instant, size: float) -> SingularGeometry:
    """The statement about three lines: they meet in one point, or are parallel."""
    drawn = [line.drawn(x, size) for line in g.lines]
    if not all(along.any() for _, along in drawn):
        return replace(g, off=np.inf)
    own = max(line.off(x, size) for line in g.lines)
    sines = [abs(_cross(a, b)) for (_, a), (_, b) in pairwise([*drawn, drawn[0]])]
    if max(sines) <= EXACT:
        return replace(g, kind="parallel", off=max(*sines, own), point=None)
    normals = np.array([[-along[1], along[0]] for _, along in drawn])
    middle = np.mean([at for at, _ in drawn], axis=0)
    meets = np.array([n @ (at - middle) for n, (at, _) in zip(normals, drawn, strict=True)])
    det = float(np.linalg.det(np.column_stack([normals, meets / size])))  # of three unit normals and distances: 0 where they meet
    point = middle + np.linalg.lstsq(normals, meets, rcond=None)[0]
    return replace(g, kind="concurrent", off=max(abs(det), own), point=(float(point[0]), float(point[1])))


def _point(x: Instant, s: Spot) -> np.ndarray:
    return np.asarray(x.point(x.skel.node(s.at.body), np.array(s.at.at))[:2], dtype=float)


def _end_name(d: Any, s: BodyPoint) -> str:
    """The name of the end of a rod: `crank1.A`."""
    points = next(b for b in d.bodies if b.name == s.body).points
    return next((f"{s.body}.{p.name}" for p in points if tuple(p.at) == tuple(s.at)), s.body)


def _cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
