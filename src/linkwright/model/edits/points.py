"""Points: ground pins, pins and marked points of bodies; moved, joined, made part of a body."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwright.errors import UsageError, listing
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import At, DraftBody, number_or_none
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.references import POINT, references
from linkwright.model.file.body_frames import read_shape
from linkwright.model.file.text_edits import Edit, key_text, quantity
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.units import LENGTH


def new_point(job: Job, at: Any, name: Any = None) -> str:
    """Draw a point; its name is returned."""
    chosen = job.new_name(name, "drawing")
    job.place(at)
    job.sheet.add(("drawing", chosen), job.pair(at, LENGTH, f"the position of {chosen}"))
    return chosen


def where(job: Job, given: Any) -> str:
    """An existing point by name, or a new one: {at: [x, y], name, ground}."""
    if isinstance(given, Mapping):
        if "at" not in given:
            raise UsageError("a new point needs its position, {'at': [x, y]}.", name="new")
        name = new_point(job, given["at"], given.get("name"))
        if given.get("ground"):
            make_pin(job, GROUND, name)
        return name
    return job.point(given).name


def make_pin(job: Job, body: str, point: str) -> None:
    """Hinge a body at a drawn point: the point becomes one of its pins."""
    found = job.draft.bodies.get(body)
    if found is None:
        job.sheet.add(("bodies", body, "pins"), f"[{key_text(point, True)}]")
        return
    job.body(body)
    if point in found.pins:
        return
    if point in found.points:
        _unmark(job, body, point)
    else:
        _placed(job, found, point)
    if found.shape != "along":
        job.sheet.append(("bodies", body, "pins"), key_text(point, True))


def mark(job: Job, body: str, point: str) -> None:
    """Add a drawn point to a body without a hinge."""
    found = job.body(body)
    if point in found.points:
        return
    if found.shape == "own":
        _placed(job, found, point)
    elif found.shape != "drawn":
        _placed(job, found, point)
        if found.shape == "sides":
            job.sheet.append(("bodies", body, "points"), key_text(point, True))
    else:
        job.sheet.append(("bodies", body, "points"), key_text(point, True))


def _unmark(job: Job, body: str, point: str) -> None:
    """Take a point out of the list of a body's marked points; it is about to become a pin."""
    node = job.sheet.node("bodies", body, "points")
    for i, item in enumerate(node.items or () if node is not None else ()):
        if (item.text or "").strip() == point:
            job.sheet.remove(("bodies", body, "points", i))
            return


def _placed(job: Job, body: DraftBody, point: str) -> None:
    """Give a drawn point its place in a body with dimensions of its own."""
    drawn, sheet = job.draft.points.get(point), job.sheet
    if drawn is None:
        raise UsageError(f"{point} on '{body.name}' has no place that can be drawn. Check its coordinates and their unit.", name=body.name)
    at = drawn.at
    path = ("bodies", body.name)
    on_line = 1e-6  # of a bar's length: how far from its line a station may be drawn
    if body.shape == "along":
        names = list((sheet.node(*path, "along") or FileNode(sheet.root.where)).entries or {})
        if len(names) < 2:
            raise UsageError(f"'{body.name}' has fewer than two stations in `along:`. Correct that first.", name=body.name)
        a, b = (_drawn(job, body.name, n) for n in names[:2])
        size = math.dist(a, b)
        u = ((b[0] - a[0]) / size, (b[1] - a[1]) / size) if size > 0.0 else (1.0, 0.0)
        r = (at[0] - a[0], at[1] - a[1])
        if abs(r[0] * u[1] - r[1] * u[0]) > on_line * max(size, 1e-9):
            raise UsageError(
                f"'{body.name}' is a straight bar (`along:`), and {point} is not on its line. Draw it there, or use a second body.",
                name=body.name,
            )
        first = number_or_none(sheet.context, sheet.node(*path, "along", names[0]), LENGTH) or 0.0
        sheet.add((*path, "along", point), quantity(first + r[0] * u[0] + r[1] * u[1], LENGTH, sheet.units))
    elif body.shape == "sides":
        for other in body.points[:2]:
            size = math.dist(_drawn(job, body.name, other), at)
            sheet.add((*path, "sides", f"{other}-{point}"), quantity(size, LENGTH, sheet.units))
    elif body.shape == "own":
        x, y = local(job, body.name, at)
        sheet.add((*path, "points", point), f"[{quantity(x, LENGTH, sheet.units)}, {quantity(y, LENGTH, sheet.units)}]")


def _drawn(job: Job, body: str, point: str) -> At:
    found = job.draft.place(body, point)
    if found is None:
        raise UsageError(
            f"the point {point} of '{body}' is not in the drawing, so nothing can be placed next to it. Correct that first.", name=body
        )
    return found


def local(job: Job, body: str, at: At) -> At:
    """A place of the drawing in a body's own axes."""
    node = job.sheet.node("bodies", body)
    assert node is not None and body in job.draft.bodies  # the draft has put the drawing into the context
    context = job.sheet.context
    shape = read_shape(context, body, node, dict(node.entries or {}))
    r = [[context.numeric(v) for v in row] for row in shape.start.rotation]
    d = [p - context.numeric(o) for p, o in zip((*at, 0.0), shape.start.at, strict=True)]
    return (sum(r[i][0] * d[i] for i in range(3)), sum(r[i][1] * d[i] for i in range(3)))


# -------------------------------------------------------------------- operations


def add_pin(job: Job, op: Mapping[str, Any]) -> None:
    """A ground pin, a pin of a body, or a loose one."""
    name = new_point(job, op.get("at"), op.get("name"))
    if op.get("ground"):
        make_pin(job, GROUND, name)
    if op.get("body"):
        make_pin(job, job.body(op["body"]).name, name)
    job.done(f"Add {'ground ' if op.get('ground') else ''}pin {name}", f"point:{name}")


def add_point(job: Job, op: Mapping[str, Any]) -> None:
    """A marked point on a body."""
    body = job.body(op.get("body")).name
    name = new_point(job, op.get("at"), op.get("name"))
    mark(job, body, name)
    job.done(f"Add point {name} on {body}", f"point:{name}")


def set_ground(job: Job, op: Mapping[str, Any]) -> None:
    """Fix a pin to the ground, or release it."""
    name = job.point(op.get("point")).name
    if op.get("ground", True):
        make_pin(job, GROUND, name)
        job.done(f"Fix {name} to the ground", f"point:{name}")
        return
    for key in ("pins", "points"):
        node = job.sheet.node("bodies", GROUND, key)
        found = [i for i, n in enumerate(node.items or () if node is not None else ()) if (n.text or "").strip() == name]
        if found:
            job.sheet.remove(("bodies", GROUND, key, found[0]))
    job.done(f"Release {name} from the ground", f"point:{name}")


def set_pin(job: Job, op: Mapping[str, Any]) -> None:
    """Make a marked point of a body a pin, or a pin that nothing else uses a marked point."""
    name = job.point(op.get("point")).name
    bodies = job.draft.bodies_at(name)
    if not bodies:
        raise UsageError(f"{name} belongs to no body: draw a link through it first.", name=name)
    if op.get("pin", True):
        for body in bodies:
            make_pin(job, body, name)
        job.done(f"Make {name} a pin", f"point:{name}")
        return
    if len(bodies) > 1 or any(j.point == name for j in job.draft.joints.values()):
        raise UsageError(f"{name} is a joint of {listing(bodies)}: open the joint first, or delete one of them.", name=name)
    unpin(job, bodies[0], name)
    job.done(f"Make {name} a marked point", f"point:{name}")


def unpin(job: Job, body: str, point: str) -> None:
    """Make a pin of a body one of its marked points."""
    node = job.sheet.node("bodies", body, "pins")
    for i, item in enumerate(node.items or () if node is not None else ()):
        if (item.text or "").strip() == point:
            job.sheet.remove(("bodies", body, "pins", i))
            mark(job, body, point)
            return


def move(job: Job, op: Mapping[str, Any]) -> None:
    """Move points to places, or parts by a distance; dimensions of bodies follow the drawing."""
    if "points" in op:
        if not isinstance(op["points"], Mapping) or not op["points"]:
            raise UsageError("move takes points and their new places: {'B': [0.1, 0.2]}.")
        goals = {job.point(n).name: at for n, at in op["points"].items()}
        whole: list[str] = []
    else:
        by = job.place(op.get("by"), "the distance of a move")
        names, whole = _points_of(job, op.get("ids"))
        goals = {n: tuple(a + b for a, b in zip(job.draft.points[n].at, by, strict=True)) for n in names}
        _shift_centers(job, whole, by)
    move_points(job, goals)
    job.done(
        f"Move {', '.join([*whole, *(n for n in goals if not whole)][:4])}",
        *(f"body:{b}" for b in whole),
        *(f"point:{n}" for n in goals if not whole),
    )


def _points_of(job: Job, ids: Any) -> tuple[list[str], list[str]]:
    """Points of the parts with these ids, and the bodies among them."""
    if not isinstance(ids, Sequence) or isinstance(ids, str) or not ids:
        raise UsageError("name the parts to move by their ids, such as ['body:crank', 'point:P'].")
    names: dict[str, None] = {}
    bodies = []
    for given in ids:
        kind, _, name = str(given).partition(":")
        if kind == "point":
            names[job.point(name).name] = None
        elif kind == "body":
            bodies.append(job.body(name).name)
            names |= dict.fromkeys(p for p in job.body(name).points if p in job.draft.points)
        elif kind == "joint" and name in job.draft.joints and job.draft.joints[name].point in job.draft.points:
            names[job.draft.joints[name].point] = None
    if not names:
        raise UsageError("there is nothing here that can be moved alone: move the points or bodies it is attached to.")
    return list(names), bodies


def _shift_centers(job: Job, bodies: Sequence[str], by: At) -> None:
    """Centers of mass that are given in the drawing go with a body that moves as a whole."""
    for body in bodies:
        node = job.sheet.node("bodies", body, "com")
        if node is None or node.items is None or job.draft.bodies[body].shape != "drawn":
            continue
        for i in range(2):
            path = ("bodies", body, "com", i)
            old = number_or_none(job.sheet.context, job.sheet.node(*path), LENGTH)
            if old is not None:
                job.set_number(path, old + by[i], LENGTH, f"the center of mass of {body}")


def move_points(job: Job, goals: Mapping[str, Any]) -> None:
    """Draw points elsewhere; lengths, sides and own coordinates of bodies change by as much as the drawing does."""
    before = job.draft
    old = {n: p.at for n, p in before.points.items()}
    new = old | {n: job.place(at, f"the position of {n}") for n, at in goals.items()}
    own = next((n for n in goals if before.points[n].own), None)
    if own is not None:
        raise UsageError(f"'{own}' has coordinates of its body's own: change them in the file.", name=own)
    touched = [b for b in before.bodies.values() if not b.fixed and any(n in goals for n in b.points)]
    following = [target for body in touched for target in _following(job, body, old, new)]
    for name, at in goals.items():
        for i, axis in enumerate(before.axes):
            job.set_number(("drawing", name, i), at[i], LENGTH, f"{name}.{axis}")
    if not job.questions:  # a parameter that changes there may be the one that these depend on
        for path, value, what in following:
            job.set_number(path, value, LENGTH, what, positive="sides" in path)


def _following(job: Job, body: DraftBody, old: Mapping[str, At], new: Mapping[str, At]) -> list[tuple[tuple[Any, ...], float, str]]:
    """Paths and values of the dimensions that a body has of its own, after its points have moved in the drawing."""
    path: tuple[Any, ...] = ("bodies", body.name)
    out: list[tuple[tuple[Any, ...], float, str]] = []

    def number(*more: Any) -> float | None:
        return number_or_none(job.sheet.context, job.sheet.node(*path, *more), LENGTH)

    def keys(name: str) -> list[str]:
        node = job.sheet.node(*path, name)
        return [] if node is None or node.entries is None else list(node.entries)

    def stretched(a: str, b: str) -> float:
        return math.dist(new[a], new[b]) - math.dist(old[a], old[b]) if {a, b} <= set(old) else 0.0

    if body.shape == "along":
        first, *rest = keys("along")
        start = number("along", first) or 0.0
        for n in rest:
            was, change = number("along", n), stretched(first, n)
            if was is not None and change:
                out.append(((*path, "along", n), was + (change if was >= start else -change), f"the station of {n} on {body.name}"))
    elif body.shape == "sides":
        for key in keys("sides"):
            ends = next(((key[:i], key[i + 1 :]) for i, c in enumerate(key) if c == "-" and key[:i] in old and key[i + 1 :] in old), None)
            was = number("sides", key)
            if ends is not None and was is not None and stretched(*ends):
                out.append(((*path, "sides", key), was + stretched(*ends), f"the side {key} of {body.name}"))
    elif body.shape == "own":
        for n in (n for n in keys("points") if n in old and old[n] != new[n]):
            here, there = local(job, body.name, old[n]), local(job, body.name, new[n])
            was = [number("points", n, i) for i in range(2)]
            out += [
                ((*path, "points", n, i), x + there[i] - here[i], f"{body.name}.{n}.{'xy'[i]}") for i, x in enumerate(was) if x is not None
            ]
    return out


def join(job: Job, op: Mapping[str, Any]) -> None:
    """Make two pins one: everything at the first is at the second now."""
    gone, to = job.point(op.get("point")), job.point(op.get("to"))
    if gone.name == to.name:
        raise UsageError("a pin cannot be joined with itself.")
    both = [b.name for b in job.draft.bodies.values() if gone.name in b.points and to.name in b.points]
    if both:
        raise UsageError(
            f"{gone.name} and {to.name} are both on '{both[0]}', which would have no length. Delete the body or choose another pin.",
            name=both[0],
        )
    hinged = {*job.draft.pinned_at(gone.name), *job.draft.pinned_at(to.name)}
    bodies = [*job.draft.bodies_at(gone.name), *job.draft.bodies_at(to.name)]
    move_points(job, {gone.name: to.at})
    found = [r for r in references(job.sheet) if r.kind == POINT and r.name == gone.name]
    job.sheet.apply(*(Edit(r.first, r.end, to.name) for r in found))
    job.sheet.remove(("drawing", gone.name))
    if len(bodies) > 1 and hinged:
        for body in bodies:
            make_pin(job, body, to.name)
    job.done(f"Join {gone.name} with {to.name}", f"point:{to.name}")
