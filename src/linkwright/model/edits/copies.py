"""Copies of bodies, beside themselves or mirrored: with their points, the joints and parts between them, and hinges to the ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwright import elements
from linkwright.elements import AxesRole, EndsRole, PointRole
from linkwright.errors import UsageError
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import At, number_or_none
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.points import make_pin, move_points
from linkwright.model.edits.references import BODY, JOINT, POINT, NameUse, references
from linkwright.model.edits.rename_and_delete import COORDINATES, KINDS, split
from linkwright.model.file.text_edits import Edit, apply, key_text, quantity
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import KINDS as KINDS_OF_NUMBERS
from linkwright.text.units import LENGTH, NONE, Dimension

COPIED = ("joints", *elements.SECTIONS, "masses")  # sections whose entries can be copied
ALONG = ("joints", *elements.sections_with(EndsRole, PointRole), "masses")  # of those, the ones that go with their bodies
Transform = Callable[[At], At]


def duplicate(job: Job, op: Mapping[str, Any]) -> None:
    """A copy of bodies and of what is between them, moved by a distance."""
    by = job.place(op.get("by"), "the distance of the copy")
    bodies, parts = _chosen(job, op.get("ids"))
    copies = _copy(job, bodies, parts, lambda p: (p[0] + by[0], p[1] + by[1]), lambda v: v, set())
    job.done(f"Duplicate {', '.join([*bodies, *(n for _, n in parts)][:4])}", *copies)


def mirror(job: Job, op: Mapping[str, Any]) -> None:
    """Bodies mirrored at a line: as a copy, or moved there."""
    line = op.get("line")
    if not isinstance(line, Sequence) or len(line) != 2:
        raise UsageError("the mirror is a line through two points, [[x, y], [x, y]].")
    a, b = (job.place(p, "the mirror's line") for p in line)
    size = math.dist(a, b)
    if size == 0.0:
        raise UsageError("the mirror's line goes through two different points.", name="mirror")
    u = ((b[0] - a[0]) / size, (b[1] - a[1]) / size)

    def direction(v: At) -> At:
        along = v[0] * u[0] + v[1] * u[1]
        return (2.0 * along * u[0] - v[0], 2.0 * along * u[1] - v[1])

    def place(p: At) -> At:
        x, y = direction((p[0] - a[0], p[1] - a[1]))
        return (_round(a[0] + x, size), _round(a[1] + y, size))

    bodies, parts = _chosen(job, op.get("ids"))
    on_line = 1e-9  # m: a point so near to the mirror's line stays where it is
    if op.get("copy", True):
        staying = {n for n, p in job.draft.points.items() if math.dist(place(p.at), p.at) < on_line}
        copies = _copy(job, bodies, parts, place, direction, staying)
        job.done(f"Mirror {', '.join(bodies[:4])}", *copies)
        return
    points = dict.fromkeys(p for b in bodies for p in job.draft.bodies[b].points if p in job.draft.points)
    for body in bodies:
        if job.draft.bodies[body].shape == "own":
            raise UsageError(
                f"'{body}' has coordinates of its own, which a mirror would turn over: mirror a copy, or edit the file.", name=body
            )
        _move_list(job, ("bodies", body, "com"), place, LENGTH)
    for j in [j for j in job.draft.joints.values() if not j.implicit and j.second in bodies]:
        for key in ("axis", "slot"):
            _move_list(job, ("joints", j.name, key), direction, NONE)
    move_points(job, {n: place(job.draft.points[n].at) for n in points})
    job.done(f"Mirror {', '.join(bodies[:4])}", *(f"body:{b}" for b in bodies))


def _round(x: float, size: float) -> float:
    """Without the last digits, which are noise of the reflection."""
    return float(f"{x:.13g}") if abs(x) > 1e-13 * size else 0.0


def _move_list(job: Job, path: tuple[Any, ...], change: Transform, dimension: Dimension) -> None:
    """Two numbers of the file, as they are after a transformation."""
    values = [number_or_none(job.sheet.context, job.sheet.node(*path, i), dimension) for i in range(2)]
    if values[0] is not None and values[1] is not None:
        for i, x in enumerate(change((values[0], values[1]))):
            job.set_number((*path, i), x, dimension, ".".join(map(str, path)))


def _chosen(job: Job, ids: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Bodies with these ids, and entries of other sections."""
    if not isinstance(ids, Sequence) or isinstance(ids, str) or not ids:
        raise UsageError("name the parts to copy by their ids, such as ['body:crank', 'spring:s1'].")
    found = [split(x) for x in ids]
    bodies = list(dict.fromkeys(job.body(n).name for k, n in found if k == "body" and n != GROUND))
    parts = [(KINDS[k], n) for k, n in found if KINDS[k] in COPIED and job.sheet.node(KINDS[k], n) is not None]
    if not bodies and not parts:
        raise UsageError("choose bodies to copy. Points go with their bodies.")
    return bodies, parts


def _copy(
    job: Job, bodies: Sequence[str], parts: Sequence[tuple[str, str]], place: Transform, direction: Transform, staying: set[str]
) -> list[str]:
    """Copies of bodies and parts; ids of what was made."""
    draft, sheet = job.draft, job.sheet
    text, known = sheet.text, references(sheet)
    inner = [
        (s, n) for s in ALONG for n in sheet.names(s)
        if (s, n) not in parts and _inside(known, (s, n), bodies, draft.bodies)
    ]  # fmt: skip
    entries = {("bodies", b): sheet.node("bodies", b) for b in bodies} | {e: sheet.node(*e) for e in (*parts, *inner)}
    points = list(dict.fromkeys(p for b in bodies for p in draft.bodies[b].points if p in draft.points and not draft.points[p].own))
    names: dict[tuple[str, str], str] = {}
    for point in points:
        if point not in staying:
            names[POINT, point] = job.free_point()
            _draw(job, names[POINT, point], place(draft.points[point].at))
    made = []
    for section, name in entries:
        fresh = job.free_name(_stem(name))
        names[BODY if section == "bodies" else JOINT if section in COORDINATES else section, name] = fresh
        job.sheet.add((section, fresh), "{}")  # the name is taken from now on
        made.append((section, name, fresh))
    for j in draft.joints.values():  # hinges of copied pins are called after them
        if j.implicit and (POINT, j.point) in names and j.name == j.point:
            names[JOINT, j.name] = names[POINT, j.point]
    for section, name, fresh in made:
        job.sheet.replace((section, fresh), _renamed(text, known, entries[section, name], names))
        _transformed(job, section, fresh, place, direction)
    for point in points:
        if GROUND in draft.pinned_at(point) and (POINT, point) in names:
            make_pin(job, GROUND, names[POINT, point])
    back = {section: kind for kind, section in KINDS.items()}
    return [f"{back[section]}:{fresh}" for section, _, fresh in made]


def _draw(job: Job, name: str, at: At) -> None:
    units = job.sheet.units
    job.sheet.add(("drawing", name), f"[{quantity(at[0], LENGTH, units)}, {quantity(at[1], LENGTH, units)}]")


def _stem(name: str) -> str:
    """link1 gives link2, crank gives crank1."""
    return name.rstrip("0123456789") or name


def _inside(known: Sequence[NameUse], entry: tuple[str, str], bodies: Sequence[str], every: Mapping[str, Any]) -> bool:
    """True if an entry joins chosen bodies with each other or with the ground."""
    named = {r.name for r in known if r.owner[:2] == entry and r.kind == BODY and r.name in every}
    return bool(named & set(bodies)) and named <= {*bodies, GROUND}


def _renamed(text: str, known: Sequence[NameUse], node: FileNode | None, names: Mapping[tuple[str, str], str]) -> str:
    """The text of a value with new names in it, on one line."""
    assert node is not None
    span = node.span
    assert span is not None
    inside = {(r.first, r.end): r for r in known if span.first <= r.first and r.end <= span.end and (r.kind, r.name) in names}
    edits = [Edit(r.first - span.first, r.end - span.first, names[r.kind, r.name]) for r in inside.values()]
    if span.style == "flow" or node.text is not None:
        return apply(text[span.first : span.end], edits)
    return _flow(node, {(r.first, r.end): names[r.kind, r.name] for r in inside.values()}, text)


def _flow(node: FileNode, changed: Mapping[tuple[int, int], str], text: str) -> str:
    """A block as a value in braces; comments in it stay with the original."""
    if node.text is not None:
        span = node.span
        assert span is not None
        edits = [Edit(a - span.first, b - span.first, x) for (a, b), x in changed.items() if span.first <= a and b <= span.end]
        return apply(text[span.first : span.end], edits)
    if node.items is not None:
        return f"[{', '.join(_flow(n, changed, text) for n in node.items)}]"
    out = []
    for key, n in (node.entries or {}).items():
        at = n.span.key if n.span is not None else -1
        name = next((x for (a, b), x in changed.items() if a == at and text[a:b] == key), key)
        if name == key and n.span is not None:
            parts = sorted((a, b, x) for (a, b), x in changed.items() if at <= a and b <= at + len(key))
            name = apply(key, [Edit(a - at, b - at, x) for a, b, x in parts])
        out.append(f"{key_text(name, True)}: {_flow(n, changed, text)}")
    return f"{{{', '.join(out)}}}"


def _transformed(job: Job, section: str, name: str, place: Transform, direction: Transform) -> None:
    """Positions and directions that a copied entry has of its own."""
    if section == "bodies":
        drawn = job.draft.bodies[name].shape == "drawn"
        if drawn:
            _move_list(job, ("bodies", name, "com"), place, LENGTH)
        elif direction((0.3, 0.7)) != (0.3, 0.7) and job.draft.bodies[name].shape == "own":
            node = job.sheet.node("bodies", name, "points")
            for point in (node.entries or {}) if node is not None else ():
                _move_list(job, ("bodies", name, "points", point), lambda p: (p[0], -p[1]), LENGTH)
    elif section == "joints":
        for key in ("axis", "slot"):
            _move_list(job, ("joints", name, key), direction, NONE)
        _move_list(job, ("joints", name, "at"), place, LENGTH)
    elif section in elements.sections_with(AxesRole):
        for key, role in elements.directions(section):
            _move_list(job, (section, name, key), direction, KINDS_OF_NUMBERS[role.dimension])
    elif section == "masses":
        _move_list(job, ("masses", name, "at"), place, LENGTH)
