"""Cams: a coupling with a contact. `{from: A, to: lift, roller: {at: follower.R, radius: 8 mm}, base: 30 mm, moves: [...]}`"""

from __future__ import annotations

import math
from typing import Any

from linkwright import elements
from linkwright.elements import Cam, CamContact, Coupling
from linkwright.elements.base import PointRef
from linkwright.elements.coupling import MOVES
from linkwright.model.file.channel_laws import TABLE_KEYS, tabulated
from linkwright.model.file.couplings import program
from linkwright.model.file.elements import Elements
from linkwright.model.file.text_nodes import FileNode, from_python
from linkwright.text.units import ANGLE, LENGTH, Dimension

TURN = 2.0 * math.pi
CLOSES = 1e-9  # of a turn, and of the lift: how well a law of one turn ends where it begins


def read_cam(reader: Elements, name: str, entry: FileNode) -> Cam:
    """Read a cam: its follower, and its law over the angle of the disc."""
    what = f"cam '{name}'"
    if any(c.name == name for c in reader.found.get(Coupling.section, ())):
        raise entry.error(f"{what} has the name of a coupling. Rename one.", name=what)
    keys = entry.keys(what, elements.keys(Cam), elements.required(Cam))
    first, second = reader.joint(keys["from"], f"{what}: from"), reader.joint(keys["to"], f"{what}: to")
    if reader.slides(first):
        raise keys["from"].error(f"{what}: the disc turns, but joint '{first}' slides. Name its hinge.", name=first)
    if first == second:
        raise entry.error(f"{what} names joint '{first}' twice. Name the hinge of the disc and the joint of the follower.", name=first)
    contact = _contact(reader, keys, entry, (first, second), what)
    kinds = (ANGLE, reader.coordinate(second))
    lifts = keys["lift_off"].flag(f"{what}: lift_off") if "lift_off" in keys else False
    if lifts and contact.groove:
        raise keys["lift_off"].error(f"{what}: a groove holds the roller, so that it cannot lift off. Keep one of them.", name=what)
    law = _law(reader, keys, entry, kinds, what)
    return Cam(name, first, second, where=entry.where, cam=contact, restitution=reader.restitution(keys, what), lift_off=lifts, **law)


def _law(reader: Elements, keys: dict[str, FileNode], entry: FileNode, kinds: tuple[Dimension, Dimension], what: str) -> dict[str, Any]:
    """Moves, or a table, which repeats where it covers a turn."""
    if any(k in keys for k in TABLE_KEYS):
        if any(k in keys for k in MOVES):
            raise entry.error(f"{what} has moves and a table. Keep one.", name=what)
        given = keys
        table = tabulated(reader.context, keys["from"].string(what), keys, entry, kinds, f"{what}: table", motion=True)
        span, lift = table.x[-1] - table.x[0], max(abs(y) for y in (*table.y, 1e-300))
        if "interpolation" not in keys and abs(span - TURN) < CLOSES * TURN and abs(table.y[-1] - table.y[0]) < CLOSES * lift:
            given = {**keys, "interpolation": from_python("periodic", what)}
            table = tabulated(reader.context, table.channel, given, entry, kinds, f"{what}: table", motion=True)
        if span > TURN * (1.0 + CLOSES):
            raise entry.error(
                f"{what}: the table covers {reader.context.shown(span, ANGLE)}, more than one revolution of the disc. Shorten it.",
                name=what,
            )
        return {"table": table}
    if "moves" not in keys:
        raise entry.error(
            f"{what} needs its law: `moves: [{{to: 20 mm, in: 90 deg}}, ...]`, `table: [[angle, lift], ...]` or `csv:`.", name=what
        )
    found = program(reader, keys, entry, kinds, what)
    context, moves = reader.context, found["moves"]
    covered = sum(context.numeric(m.span) for m in moves)
    if covered > TURN * (1.0 + CLOSES):
        raise keys["moves"].error(
            f"{what}: its moves cover {context.shown(covered, ANGLE)}, more than one revolution of the disc. Shorten them.", name=what
        )
    heights = [context.numeric(x) for x in (found["begin"], *(m.to for m in moves if m.to is not None))]
    if found["repeats"] and abs(heights[-1] - heights[0]) > CLOSES * max(map(abs, heights)):
        begin, end = (context.shown(x, kinds[1]) for x in (heights[0], heights[-1]))
        said = f"{what}: the profile is not closed: a revolution begins at {begin} and ends at {end}."
        raise keys["moves"].error(f"{said} Let the last move end at {begin}.", name=said)
    return found


def _contact(reader: Elements, keys: dict[str, FileNode], entry: FileNode, ends: tuple[str, str], what: str) -> CamContact:
    """Roller or flat face, base circle and groove."""
    if ("roller" in keys) == ("flat" in keys):
        raise entry.error(
            f"{what} needs its follower: `roller: {{at: follower.R, radius: 8 mm}}` or `flat: follower.P`. Give one of them.", name=what
        )
    base = reader.positive(keys, "base", LENGTH, what) if "base" in keys else None
    groove = keys["groove"].flag(f"{what}: groove") if "groove" in keys else False
    if "roller" in keys:
        own = keys["roller"].keys(f"{what}: roller", ("at", "radius"), ("at", "radius"))
        point = _of_follower(reader, own["at"], ends, f"{what}: roller")
        return CamContact(point, reader.value(own, "radius", LENGTH, f"{what}: roller", least=0.0), base=base, groove=groove)
    if groove:
        raise keys["groove"].error(f"{what}: a groove guides a roller, not a flat face. Take it out, or give `roller:`.", name=what)
    node = keys["flat"]
    if node.items is None:
        if not reader.slides(ends[1]):
            raise node.error(f"{what}: the face of a swinging follower needs two points: `flat: [follower.P, follower.Q]`.", name=what)
        return CamContact(_of_follower(reader, node, ends, f"{what}: flat"), flat=True, base=base)
    first, second = (_of_follower(reader, n, ends, f"{what}: flat") for n in node.sequence(f"{what}: flat", 2))
    places = [reader.context.numerics(reader.shapes[b].points[p]) for b, p in (first, second)]
    if first[0] != second[0] or math.dist(*places) == 0.0:
        raise node.error(f"{what}: a flat face goes through two different points of one body. Name others.", name=what)
    return CamContact(first, flat=True, face=second[1], base=base)


def _of_follower(reader: Elements, node: FileNode, ends: tuple[str, str], what: str) -> PointRef:
    """A point of the body that the disc's hinge does not hold."""
    ref = reader.context.point_ref(node, reader.points, what)
    disc, follower = (reader.joints[name] for name in ends)
    bodies = {follower.first, follower.second} - {disc.first, disc.second}
    if ref[0] not in bodies:
        named = " or ".join(f"'{b}'" for b in sorted(bodies)) or "another body than the disc's"
        raise node.error(f"{what}: '{node.text}' is not on the follower. Name a point of {named}.", name=node.text)
    return ref
