"""From a sketch to a linkage: marks become pins, strokes become links through the pins that they touch.

a vertex touches a pin    within the pin's circle, or within the tolerance
one link                  strokes that meet where no pin is, a block, a group, or all that meet on a layer that names a body; bars that
                          share two pins, and three bars that make a triangle on one layer
ground                    pins and strokes on a layer `ground`; without one, ends of bars where no other bar is
a closed outline          without a vertex on a pin is the link through the pins inside it
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from linkwright.api import ModelError, counted
from linkwright.numerics.connected_groups import Groups
from linkwright.properties import cached_property
from linkwright.rings.exchange.reading.sketches import layers as layer_roles
from linkwright.rings.exchange.reading.sketches.drawing_contents import Mark, Place, Sketch, Stroke, encloses, from_segment, joined
from linkwright.rings.exchange.reading.sketches.layers import GROUND, GUIDES, LINKS, OTHER, OWN, PINS, POINTS, Roles, listed

TOLERANCE = 1e-3  # of the drawing's size
LARGEST_PIN = 0.08  # radius over the drawing's size above which a circle is a wheel or a part, not a pin
MOST_PINS = 1000
MOST_CORNERS = 6  # of a polygon whose corners are points of the link
PIN_DISTANCE = 0.1  # of the drawing's size: a line end that may have been meant for a pin
HOLE = 1.15  # radii within which a vertex is at a pin


@dataclass
class SketchPin:
    """A pin or a marked point; `name` as the file has it, if it does."""

    at: Place
    radius: float
    name: str = ""
    grounded: bool = False
    marked: bool = False  # a point that is only marked


@dataclass(eq=False)
class SketchLink:
    """A link: its strokes and the pins that they touch (numbers)."""

    strokes: list[Stroke]
    pins: list[int]
    name: str = ""
    enclosing: bool = False  # pins lie inside its outline
    ends: list[Place] = field(default_factory=list)  # ends that touch no pin


@dataclass
class SketchGuide:
    """A straight guide of the ground through a pin; `link` slides on it, or where it is None a block hinged at the pin."""

    pin: int
    axis: Place
    link: SketchLink | None = None


@dataclass
class SketchLinkage:
    """Pins, links and guides, with sentences about what was inferred and what was left out."""

    sketch: Sketch
    tolerance: float
    pins: list[SketchPin] = field(default_factory=list)
    links: list[SketchLink] = field(default_factory=list)
    guides: list[SketchGuide] = field(default_factory=list)
    inferred: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @cached_property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """(places of the pins, how near a vertex must be to touch them); the pins are all found by then."""
        radii = np.array([max(self.tolerance, HOLE * p.radius) for p in self.pins])
        return np.array([p.at for p in self.pins]).reshape(-1, 2), radii

    @property
    def ground(self) -> list[int]:
        return [i for i, p in enumerate(self.pins) if p.grounded]

    def shown(self, at: Place) -> str:
        return f"({at[0]:.6g}, {at[1]:.6g}) mm"


def linkage_of(sketch: Sketch, *, pins: Any = None, links: Any = None, ground: Any = None, tolerance: float | None = None) -> SketchLinkage:
    """Return the linkage that a sketch shows; raise ModelError where it shows none."""
    roles = layer_roles.roles(sketch, pins, links, ground)
    out = SketchLinkage(sketch, TOLERANCE * sketch.size if tolerance is None else tolerance)
    out.inferred += sketch.notes
    out.dropped += sketch.dropped
    _find_pins(out, roles)
    _check_count(out, len(out.pins), MOST_PINS, "pins", "--pins")
    if not out.pins:
        raise ModelError(
            f"no pins were found: circles or points mark them, on a layer 'pins' or any layer that is not ignored. "
            f"Layers: {listed(sketch.layers)}. Name the layer of the pins: --pins LAYER.",
            sketch.source,
            name="pins",
        )
    _find_links(out, roles)
    if not out.links:
        raise ModelError(
            f"no links were found: {counted(len(out.pins), 'pin')}, but no line or polyline touches one within {out.tolerance:.3g} mm. "
            f"Layers: {listed(sketch.layers)}. Name the layers of links (--links LAYER), or give a larger --gap.",
            sketch.source,
            name="links",
        )
    _mark_ground(out, roles, ground)
    _join_on_lines(out)
    _find_guides(out, roles)
    _find_ground(out)
    _settle(out)
    return out


def _check_count(out: SketchLinkage, found: int, most: int, what: str, option: str) -> None:
    if found > most:
        raise ModelError(
            f"the drawing has {found:,} {what}, a linkage at most {most:,}. Name their layer ({option} LAYER) or save the linkage alone. "
            f"Layers: {listed(out.sketch.layers)}.",
            out.sketch.source,
            name=what,
        )


# -------------------------------------------------------------------- pins


def _find_pins(out: SketchLinkage, roles: Roles) -> None:
    sketch = out.sketch
    pin_layers = {m.layer for m in sketch.marks if roles.of[m.layer] == PINS}
    left: dict[str, int] = {}
    for m in sorted(sketch.marks, key=lambda x: x.radius):
        role = roles.of[m.layer]
        wanted = role in (PINS, POINTS, GROUND) or (not pin_layers and role not in (OTHER, GUIDES))
        if wanted and m.radius > LARGEST_PIN * sketch.size and role != PINS:
            out.dropped.append(f"circle of radius {m.radius:.4g} mm at {out.shown(m.at)} on layer '{m.layer}': too large for a pin")
        elif wanted:
            _add_pin(out, m, role)
        else:
            left[m.layer] = left.get(m.layer, 0) + 1
    out.dropped += [f"{counted(n, 'circle')} or points on layer '{layer}'" for layer, n in left.items()]


def _add_pin(out: SketchLinkage, m: Mark, role: str) -> None:
    """Concentric circles are one pin."""
    for p in out.pins[: 2 * MOST_PINS]:
        if math.hypot(p.at[0] - m.at[0], p.at[1] - m.at[1]) <= out.tolerance:
            p.radius, p.name = max(p.radius, m.radius), p.name or m.name
            p.grounded, p.marked = p.grounded or role == GROUND, p.marked and role == POINTS
            return
    out.pins.append(SketchPin(m.at, m.radius, m.name, role == GROUND, role == POINTS))


def _touched(out: SketchLinkage, at: Sequence[float]) -> int | None:
    """The pin at a vertex."""
    places, reach = out.reach
    gaps = np.hypot(places[:, 0] - at[0], places[:, 1] - at[1]) - reach
    best = int(np.argmin(gaps))
    return best if gaps[best] <= 0.0 else None


# -------------------------------------------------------------------- links


def _find_links(out: SketchLinkage, roles: Roles) -> None:
    strokes = [s for s in out.sketch.strokes if roles.of[s.layer] in (LINKS, OWN)]
    if not strokes:  # all on the layer of the pins; beside other lines those there are crosses and center lines
        strokes = [s for s in out.sketch.strokes if roles.of[s.layer] in (PINS, POINTS)]
    unused: dict[str, int] = {}
    for s in out.sketch.strokes:
        if roles.of[s.layer] == OTHER:
            unused[s.layer] = unused.get(s.layer, 0) + 1
    out.dropped += [f"{counted(n, 'line')} on layer '{layer}'" for layer, n in unused.items()]
    every = _joined_strokes(out, strokes, roles)
    most_links = 500
    _check_count(out, len(every), 20 * most_links, "lines that may be links", "--links")
    for members in every:
        own = [strokes[i] for i in members]
        _add_link(out, own, next((s.name for s in own if s.name), own[0].layer if roles.of[own[0].layer] == OWN else ""))
    _merge_rigid(out)
    for x in out.links:
        x.ends += [] if x.enclosing else _free_corners(out, x.strokes)
    _check_count(out, len(out.links), most_links, "links", "--links")


def _joined_strokes(out: SketchLinkage, strokes: list[Stroke], roles: Roles) -> list[list[int]]:
    """Numbers of the strokes of each link."""
    from scipy.spatial import KDTree

    groups = Groups(range(len(strokes)))
    touched = [[_touched(out, v) for v in s.vertices] for s in strokes]
    loose = [(k, v) for k, s in enumerate(strokes) for v, pin in zip(s.vertices, touched[k], strict=True) if pin is None]
    if loose:
        for a, b in KDTree(np.array([v for _, v in loose])).query_pairs(out.tolerance):
            groups.join(loose[a][0], loose[b][0])
    common = _common([s.groups for s in strokes])
    blocks: dict[str, int] = {}
    for k, s in enumerate(strokes):
        if len(s.groups) > common:
            groups.join(k, blocks.setdefault(s.groups[common], k))
    named: dict[tuple[str, str], int] = {}
    for k, s in enumerate(strokes):
        if s.name:
            groups.join(k, named.setdefault((s.layer, s.name), k))
    at_pin: dict[tuple[str, int], int] = {}
    for k, s in enumerate(strokes):
        for pin in touched[k]:
            if pin is not None and roles.of[s.layer] == OWN:
                groups.join(k, at_pin.setdefault((s.layer, pin), k))
    return groups.members()


def _common(paths: list[tuple[str, ...]]) -> int:
    """Length of the beginning that all paths share: a group round everything is no link."""
    n = 0
    while paths and all(len(p) > n for p in paths) and len({p[n] for p in paths}) == 1:
        n += 1
    return n


def _add_link(out: SketchLinkage, strokes: list[Stroke], name: str) -> None:
    found = [(_touched(out, v), (float(v[0]), float(v[1]))) for s in strokes for v in s.vertices]
    pins = list(dict.fromkeys(pin for pin, _ in found if pin is not None))
    link = SketchLink(strokes, pins, name)
    if not pins:
        ring = strokes[0].points if len(strokes) == 1 and strokes[0].closed else joined([s.points for s in strokes], out.tolerance)
        if ring is not None:
            link.pins = [i for i, p in enumerate(out.pins) if encloses(ring, p.at)]
            link.enclosing = True
    else:
        link.ends = _free_ends(out, strokes)
    if link.pins:
        out.links.append(link)
        return
    first, last = strokes[0].vertices[0], strokes[-1].vertices[-1]
    near = min(out.pins, key=lambda p: min(np.hypot(*(np.asarray(p.at) - e)) for e in (first, last)))
    gap = min(float(np.hypot(*(np.asarray(near.at) - e))) for e in (first, last))
    what = "polyline" if len(strokes[0].vertices) > 2 else "line"
    out.dropped.append(
        f"{what} on layer '{strokes[0].layer}' from {out.shown((first[0], first[1]))} to {out.shown((last[0], last[1]))}: "
        f"it touches no pin, the nearest is {gap:.3g} mm away"
    )


def _free_ends(out: SketchLinkage, strokes: list[Stroke]) -> list[Place]:
    """Ends of open strokes where no pin and no other end is."""
    open_ends = [(float(end[0]), float(end[1])) for s in strokes if not s.closed for end in (s.vertices[0], s.vertices[-1])]
    free = [at for at in open_ends if _touched(out, at) is None]
    return [at for at in free if sum(math.dist(at, b) <= out.tolerance for b in free) == 1]


def _free_corners(out: SketchLinkage, strokes: list[Stroke]) -> list[Place]:
    """Corners without a pin of a link drawn as a polygon: the coupler point of a triangle. Outlines with many vertices have none."""
    ring = joined([s.points for s in strokes], out.tolerance) if not any(s.closed for s in strokes) else None
    polygons = [s.vertices for s in strokes if s.closed and len(s.points) == len(s.vertices)]
    polygons += [] if ring is None else [ring]
    found: list[Place] = []
    for polygon in polygons:
        for x, y in polygon if len(polygon) <= MOST_CORNERS + 1 else ():  # closed ones may have their first vertex twice
            at = float(x), float(y)
            if _touched(out, at) is None and all(math.dist(at, b) > out.tolerance for b in found):
                found.append(at)
    return found


def _merge_rigid(out: SketchLinkage) -> None:
    """Links that share two pins are one; so are three bars of one layer that make a triangle."""
    while (found := _sharing_two(out.links) or _triangle(out.links)) is not None:
        first, *others = found
        for other in others:
            first.strokes += other.strokes
            first.pins += [p for p in other.pins if p not in first.pins]
            first.ends += other.ends
            first.name = first.name or other.name
            out.links.remove(other)


def _sharing_two(links: list[SketchLink]) -> tuple[SketchLink, ...] | None:
    seen: dict[tuple[int, int], SketchLink] = {}
    for x in links:
        for pair in combinations(sorted(x.pins), 2):
            if seen.setdefault(pair, x) is not x:
                return seen[pair], x
    return None


def _triangle(links: list[SketchLink]) -> tuple[SketchLink, ...] | None:
    """Three bars without names, on one layer, between three pins."""
    bars = {tuple(sorted(x.pins)): x for x in links if len(x.pins) == 2 and not x.name and len({s.layer for s in x.strokes}) == 1}
    beside: dict[int, set[int]] = {}
    for a, b in bars:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    for (a, b), x in bars.items():
        for c in sorted(beside[a] & beside[b]):
            three = x, bars[_ordered(a, c)], bars[_ordered(b, c)]
            if len({y.strokes[0].layer for y in three}) == 1:
                return three
    return None


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _join_on_lines(out: SketchLinkage) -> None:
    """Pins that hinge nothing yet and lie on the line of one link, between its vertices, belong to that link."""
    for i, p in enumerate(out.pins):
        if _users(out, i) + p.grounded > 1 or (p.marked and _users(out, i)):
            continue
        on = [x for x in out.links if i not in x.pins and not x.enclosing and _passes(x, p.at, out.tolerance)]
        if len(on) == 1:
            on[0].pins.append(i)
            out.inferred.append(f"the pin at {out.shown(p.at)} is on the line of a link, between its vertices: it belongs to that link")
        elif on:
            out.inferred.append(
                f"the pin at {out.shown(p.at)} is on the lines of {counted(len(on), 'link')}. Give the right one a vertex there"
            )
    _merge_rigid(out)


def _passes(link: SketchLink, at: Place, tolerance: float) -> bool:
    """True if a line of the link passes through a place."""
    for s in link.strokes:
        points = np.vstack([s.points, s.points[:1]]) if s.closed else s.points
        if from_segment(points, at) <= tolerance:
            return True
    return False


# -------------------------------------------------------------------- guides and ground


def _find_guides(out: SketchLinkage, roles: Roles) -> None:
    for s in out.sketch.strokes:
        if roles.of[s.layer] != GUIDES:
            continue
        d = s.points[-1] - s.points[0]
        length = float(np.linalg.norm(d))
        straight = length > 0.0 and max(from_segment(np.array([s.points[0], s.points[-1]]), tuple(p)) for p in s.points) <= out.tolerance
        on = [i for i, p in enumerate(out.pins) if straight and from_segment(s.points, p.at) <= max(out.tolerance, p.radius)]
        if not out.ground:  # pins where one bar ends are slid; others may be fixed
            on = [i for i in on if _users(out, i) == 1] if len(on) > 1 else on
        for i in on:
            if _users(out, i) and not out.pins[i].grounded and not any(g.pin == i for g in out.guides):
                axis = float(d[0] / length), float(d[1] / length)
                slid = _along(out, i, axis)
                if slid is None or all(g.link is not slid for g in out.guides):
                    out.guides.append(SketchGuide(i, axis, slid))
        if not straight:
            out.dropped.append(f"a guide on layer '{s.layer}' that is not straight. Add it to the file by hand")


def _along(out: SketchLinkage, pin: int, axis: Place) -> SketchLink | None:
    """A link through a pin whose pins and ends all lie along an axis: a ram or piston drawn in line with its guide."""
    x, y = out.pins[pin].at

    def off(at: Place) -> float:
        return abs((at[0] - x) * axis[1] - (at[1] - y) * axis[0])

    for link in out.links:
        places = [*(out.pins[i].at for i in link.pins), *link.ends]
        if pin in link.pins and len(places) > 1 and all(off(at) <= out.tolerance for at in places):
            return link
    return None


def _mark_ground(out: SketchLinkage, roles: Roles, given: Any) -> None:
    """Pins that lines of the ground touch, and those named."""
    for s in out.sketch.strokes:
        if roles.of[s.layer] == GROUND:
            for v in s.vertices:
                pin = _touched(out, v)
                if pin is not None:
                    out.pins[pin].grounded = True
    wanted = [] if given is None else [given] if isinstance(given, str) else [str(x) for x in given]
    for p in out.pins:
        p.grounded = p.grounded or p.name in wanted


def _find_ground(out: SketchLinkage) -> None:
    """Take ends of bars where no other bar is as fixed, if no ground is marked."""
    if out.ground:
        return
    slid = {g.pin for g in out.guides}
    ends = [i for x in out.links if len(x.pins) == 2 for i in x.pins if _users(out, i) == 1 and i not in slid and not out.pins[i].marked]
    if not ends:
        raise ModelError(
            "no ground was found: put the fixed pins (or a line that touches them) on a layer 'ground', or name their layer or pins: "
            f"--ground LAYER. Layers: {listed(out.sketch.layers)}.",
            out.sketch.source,
            name="ground",
        )
    for i in ends:
        out.pins[i].grounded = True
    out.inferred.append(
        f"no layer marks the ground. The {counted(len(set(ends)), 'end')} of bars with no other bar are taken as fixed pins"
    )


def _users(out: SketchLinkage, pin: int) -> int:
    return sum(pin in x.pins for x in out.links)


def _settle(out: SketchLinkage) -> None:
    """Links that cannot move belong to the ground; pins of one link alone are marked points; pins of none are left out."""
    fixed_only: set[int] = set()
    for x in list(out.links):
        fixed = [i for i in x.pins if out.pins[i].grounded]
        if len(fixed) > 1:
            for i in x.pins:
                out.pins[i].grounded = True
            fixed_only |= set(x.pins)
            out.links.remove(x)
            out.inferred.append(f"a link between fixed pins at {out.shown(out.pins[fixed[0]].at)} and {out.shown(out.pins[fixed[1]].at)} "
                                "is part of the ground")  # fmt: skip
    slid = {g.pin for g in out.guides}
    for i, p in enumerate(out.pins):
        if _users(out, i) == 0:
            what = "marked point" if p.marked else "pin"
            why = "only fixed links touch it" if i in fixed_only else f"no link touches it{_nearest_end(out, p.at)}"
            out.dropped.append(f"{what} at {out.shown(p.at)}{f' ({p.name})' if p.name else ''}: {why}")
        elif _users(out, i) == 1 and not p.grounded and i not in slid:
            p.marked = True
        elif p.marked:
            p.marked = False
            out.inferred.append(f"the marked point at {out.shown(p.at)} is touched by {_users(out, i)} links and hinges them")
    if not out.links:
        raise ModelError("all links are fixed: every one touches two pins of the ground.", out.sketch.source, name="links")


def _nearest_end(out: SketchLinkage, at: Place) -> str:
    """The line end that may have been meant to touch a pin, as the rest of a sentence."""
    gap = min((math.dist(at, v) for x in out.links for s in x.strokes for v in s.vertices), default=math.inf)
    near = gap <= PIN_DISTANCE * out.sketch.size
    return f"; the nearest line ends {gap:.3g} mm away (move it, or give a larger --tolerance)" if near else ""


def used_pins(out: SketchLinkage) -> Iterable[int]:
    return dict.fromkeys(i for x in out.links for i in x.pins)
