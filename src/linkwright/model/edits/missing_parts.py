"""Missing parts of a half-drawn mechanism, and its degrees of freedom as they are counted while it is drawn.

count(draft)        Gruebler-Kutzbach: bodies, joints and mobility, also while parts are loose
missing(draft)      sentences: no ground, loose bodies and pins, parts that are not connected, no drive
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linkwright import elements
from linkwright.errors import counted, degrees_of_freedom, listing
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import Draft, DraftPart, DraftProblem
from linkwright.numerics.connected_groups import Groups

ONE_PLACE = 1e-6  # m between pins that look like one
PLANE = 3  # degrees of freedom of a body in the plane


@dataclass(frozen=True)
class DraftMobility:
    """The structural count of a draft in the plane."""

    bodies: int
    joints: int
    rows: int  # of rods, couplings, cams, gears and belts

    freedoms: int

    @property
    def text(self) -> str:
        if not self.bodies:
            return "nothing moves yet"
        if self.freedoms < 0:
            return f"over-constrained by {-self.freedoms} ({self.freedoms} degrees of freedom)"
        return degrees_of_freedom(self.freedoms)


def count(draft: Draft) -> DraftMobility:
    """Degrees of freedom by counting: 3 a body, less what joints, rods, couplings and gears hold."""
    moving = [b for b in draft.bodies.values() if not b.ground]
    held = sum(PLANE - j.freedoms for j in draft.joints.values())
    rows = sum(_rows(draft, x) for x in draft.parts.values() if x.kind in elements.GROUPS["constraints"])
    return DraftMobility(len(moving), len(draft.joints), rows, PLANE * len(moving) - held - rows)


def _rows(draft: Draft, belt: DraftPart) -> int:
    """Conditions of a constraint: one; of a belt one for each piece between pulleys on hinges, and one less if a body carries all pulleys
    of a closed one."""
    if not {"around", "path"} & belt.values.keys():
        return 1
    wheels = len(belt.joints)
    if "path" in belt.values:
        return max(1, wheels + 1)
    known = [draft.joints[j] for j in belt.joints if j in draft.joints]
    shared = set.intersection(*({j.first, j.second} for j in known)) if known else set()
    return max(0, wheels - 1) if shared else max(1, wheels)


def loose_pins(draft: Draft) -> list[str]:
    """Pins that one body names and no joint uses, and points that belong to nothing."""
    used = {j.point for j in draft.joints.values()}
    ends = {e.point for part in draft.parts.values() for e in part.ends}
    out = []
    for name, point in draft.points.items():
        if point.own or name in used:
            continue
        bodies = draft.bodies_at(name)
        pinned = [b for b in draft.pinned_at(name) if name not in draft.bodies[b].stations]
        if (not bodies and name not in ends) or (len(bodies) == 1 and pinned == bodies):
            out.append(name)
    return out


def missing(draft: Draft) -> list[DraftProblem]:
    """Everything that still has to be drawn, the first thing first."""
    if not draft.points and not draft.bodies:
        return [DraftProblem("missing", "empty", "Nothing is drawn yet: begin with a ground pin, then draw links through pins.")]
    out: list[DraftProblem] = []
    ground = draft.bodies.get(GROUND)
    moving = [b for b in draft.bodies.values() if not b.ground]
    if ground is None or not (ground.points or any(GROUND in (j.first, j.second) for j in draft.joints.values())):
        out.append(
            DraftProblem(
                "missing", "no_ground", "Nothing is fixed: make one or more pins ground pins.", 0, _ids("point", list(draft.points)[:1])
            )
        )
    if not moving:
        out.append(DraftProblem("missing", "no_link", "There is no moving body yet: draw a link through pins."))
    out += _loose(draft)
    out += _apart(draft)
    freedoms = count(draft).freedoms
    drives = draft.section("drive")
    if moving and freedoms > 0 and not drives and not any(p.level == "missing" for p in out):
        touch = draft.section(elements.Contact.section)  # weight and springs move such a mechanism until its parts touch
        text = f"{degrees_of_freedom(freedoms)} and no drive: put a motor on a hinge, slider or cylinder."
        out.append(DraftProblem("note" if touch else "missing", "no_drive", text))
    elif moving and drives and 0 <= freedoms < len(drives):
        text = f"{counted(len(drives), 'drive')} for {degrees_of_freedom(freedoms)}: remove {len(drives) - freedoms}."
        out.append(DraftProblem("note", "too_many_drives", text, drives[-1].line, _ids("drive", [d.name for d in drives])))
    elif moving and drives and freedoms > len(drives) and not any(p.level == "missing" for p in out):
        text = f"{degrees_of_freedom(freedoms)} and {counted(len(drives), 'drive')}: the other motions are free."
        out.append(DraftProblem("note", "too_few_drives", text, drives[-1].line))
    return out


def _ids(kind: str, names: list[str]) -> tuple[str, ...]:
    return tuple(f"{kind}:{n}" for n in names)


def _loose(draft: Draft) -> list[DraftProblem]:
    """Ends of links that are hinged to nothing."""
    out, paired = [], set()
    for name in loose_pins(draft):
        if name in paired:
            continue
        bodies, line = draft.bodies_at(name), draft.points[name].line
        under = _under(draft, name)
        if under:
            paired.add(under)
            text = f"{name} and {under} lie at one place and are not connected: join them, or move one of them."
            out.append(DraftProblem("missing", "on_pin", text, line, _ids("point", [name, under])))
            continue
        if not bodies:
            text = f"Pin {name} belongs to no body: draw a link through it, or fix it to the ground."
        elif bodies == [GROUND]:
            text = f"Nothing is hinged to the ground pin {name}: draw a link through it."
        else:
            text = f"The end {name} of {bodies[0]} is loose: draw a link through it, fix it to the ground, or make it a marked point."
        out.append(DraftProblem("missing", "loose_pin", text, line, _ids("point", [name])))
    return out


def _under(draft: Draft, name: str) -> str:
    """Return another point of the drawing at the same place, on other bodies; empty: there is none."""
    here, mine = draft.points[name].at, set(draft.bodies_at(name))
    for other in draft.points.values():
        if other.name == name or other.own or mine & set(draft.bodies_at(other.name)):
            continue
        if max(abs(a - b) for a, b in zip(here, other.at, strict=True)) < ONE_PLACE:
            return other.name
    return ""


def _touching(draft: Draft) -> Iterator[tuple[str, str]]:
    """Pairs of bodies whose surfaces may touch, as far as they can be read."""
    on: dict[str, str] = {}
    for part in draft.section(elements.Surface.section):
        shape = part.values.get(elements.kind_of(part.kind, part.values).type)
        place = shape[0] if isinstance(shape, list) and shape else shape
        body = place.partition(".")[0] if isinstance(place, str) else ""
        on |= {part.name: body} if body in draft.bodies else {}
    for part in draft.section(elements.Contact.section):
        between = part.values.get("between")
        sides = [x if isinstance(x, list) else [x] for x in between] if isinstance(between, list) else []
        if len(sides) == 2:
            known = [[on[x] for x in side if isinstance(x, str) and x in on] for side in sides]
            yield from ((a, b) for a in known[0] for b in known[1])


def _apart(draft: Draft) -> list[DraftProblem]:
    """Bodies that nothing connects with the ground."""
    names = list(draft.bodies)
    if GROUND not in names or len(names) < 2:
        return []
    groups = Groups(names)
    for j in draft.joints.values():
        groups.join(j.first, j.second)
    for part in draft.parts.values():
        ends = [e.body for e in part.ends if e.body in draft.bodies]
        if len(ends) == 2 and part.kind in elements.SECTIONS and elements.kinds(part.kind)[0].joins:
            groups.join(*ends)
    for one, other in _touching(draft):
        groups.join(one, other)
    parts: dict[str, list[str]] = {}
    for name in names:
        parts.setdefault(groups.root(name), []).append(name)
    out = []
    for root, bodies in parts.items():
        if root == groups.root(GROUND):
            continue
        line = draft.bodies[bodies[0]].line
        what = f"{bodies[0]} is" if len(bodies) == 1 else f"{listing(bodies)} are"
        code = "loose_body" if len(bodies) == 1 else "apart"
        out.append(
            DraftProblem(
                "missing",
                code,
                f"{what} not connected with the ground: hinge one end to it or to another link.",
                line,
                _ids("body", bodies),
            )
        )
    return out
