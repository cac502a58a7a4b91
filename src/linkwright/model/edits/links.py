"""Links: bodies through pins, their dimensions and their masses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwright.errors import UsageError, listing, nearest
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import At
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.points import make_pin, move_points, where
from linkwright.model.file.inertia import DENSITIES
from linkwright.model.file.text_edits import key_text
from linkwright.model.file.text_nodes import FileNode
from linkwright.text.expressions import Expr
from linkwright.text.unit_meaning import is_bare, with_point
from linkwright.text.units import LENGTH, MASS

MASS_KEYS = ("mass", "com", "inertia", "physical", "bar", "bars", "plate", "mesh")
SECTIONS = ({"width", "height"}, {"diameter"}, {"diameter", "inner"})


def add_link(job: Job, op: Mapping[str, Any]) -> None:
    """A body through pins, which exist or are drawn with it."""
    given = op.get("through")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise UsageError("a link goes through one or more pins: names of points, or {'at': [x, y]} for new ones.", name="pins")
    name = job.new_name(op.get("name"), "bodies", "link")
    job.sheet.add(("bodies", name), "{}")
    pins = _through(job, name, given)
    if len(pins) == 2 and op.get("length") not in (None, ""):
        dimension(job, name, pins[0], pins[1], op["length"])
    job.done(f"Add link {name}", f"body:{name}")


def extend_link(job: Job, op: Mapping[str, Any]) -> None:
    """Further pins on a body."""
    body = job.body(op.get("body")).name
    given = op.get("through")
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise UsageError("name the pins that the body goes through, or give {'at': [x, y]} for new ones.")
    pins = _through(job, body, given)
    job.done(f"Extend {body} to {listing(pins)}", f"body:{body}")


def _through(job: Job, body: str, given: Sequence[Any]) -> list[str]:
    """Make these points pins of a body; of bodies that only marked them, too."""
    pins: list[str] = []
    for one in given:
        pin = where(job, one)
        if pin in pins:
            raise UsageError(f"the link would go through {pin} twice. Choose another pin.")
        marking = [b for b in job.draft.bodies_at(pin) if b != body and pin not in job.draft.bodies[b].pins]
        for other in marking:
            make_pin(job, other, pin)
        make_pin(job, body, pin)
        pins.append(pin)
    return pins


# -------------------------------------------------------------------- dimensions


def set_length(job: Job, op: Mapping[str, Any]) -> None:
    """A dimension between two points of a body: the second one moves along the line, or the one named by `moves`."""
    between = op.get("between")
    body = job.body(op["body"]) if op.get("body") else None
    if between is None:
        if body is None or len(body.points) < 2:
            raise UsageError("name a body with two points, or the two points: {'between': ['A', 'B'], 'length': '150 mm'}.")
        between = body.points[:2]
    if not isinstance(between, Sequence) or len(between) != 2:
        raise UsageError("a length is between two points, ['A', 'B'].", name="length")
    a, b = (job.point(n).name for n in between)
    if op.get("moves") == a:
        a, b = b, a
    dimension(job, body.name if body else "", a, b, op.get("length"))
    job.done(f"Set the length {a}-{b}", *((f"body:{body.name}",) if body else (f"point:{b}",)))


def dimension(job: Job, body: str, a: str, b: str, length: Any) -> None:
    """Move b along the line from a to this distance. A length with parameters in it becomes the body's own, as `along:`."""
    size = job.si(length, LENGTH, f"the length {a}-{b}", positive=True)
    shape = job.draft.bodies[body].shape if body else ""
    if isinstance(length, str) and not is_bare(with_point(length)) and body and _has_names(job, with_point(length)):
        if shape == "drawn" and len(job.draft.bodies[body].points) == 2:
            job.sheet.add(
                ("bodies", body, "along"), f"{{{key_text(a, True)}: 0, {key_text(b, True)}: {job.written(length, LENGTH, 'the length')}}}"
            )
            move_only(job, a, b, size)
            return
        if shape == "along" and len(job.draft.bodies[body].points) == 2:
            stations = list((job.sheet.node("bodies", body, "along") or FileNode(job.sheet.root.where)).entries or {})
            if stations == [a, b]:
                job.set_number(("bodies", body, "along", b), length, LENGTH, f"the length of {body}")
                move_only(job, a, b, size)
                return
        raise UsageError(
            f"the length of '{body}' cannot be an expression: only a link with two points has a single length. Give a number.", name=body
        )
    move_points(job, {b: _away(job, a, b, size)})


def move_only(job: Job, a: str, b: str, size: float) -> None:
    """Draw b at a distance from a; where its coordinates are expressions the drawing stays as the sketch it is."""
    point = job.draft.points[b]
    if not any(point.expression):
        for i, x in enumerate(_away(job, a, b, size)):
            job.set_number(("drawing", b, i), x, LENGTH, b)


def _away(job: Job, a: str, b: str, size: float) -> At:
    p, q = job.draft.points[a].at, job.draft.points[b].at
    now = math.dist(p, q)
    u = ((q[0] - p[0]) / now, (q[1] - p[1]) / now) if now > 0.0 else (1.0, 0.0)
    return (p[0] + size * u[0], p[1] + size * u[1])


def _has_names(job: Job, text: str) -> bool:
    context = job.sheet.context
    return isinstance(context.number(FileNode(job.sheet.root.where, text=text), LENGTH, "the length"), Expr)


# -------------------------------------------------------------------- masses


def set_mass(job: Job, op: Mapping[str, Any]) -> None:
    """Mass of a body: a number, or a section or thickness with a material; nothing given takes it away."""
    body = job.body(op.get("body"))
    if body.name == GROUND:
        raise UsageError("the ground does not move, so its mass means nothing.")
    path = ("bodies", body.name)
    given = {k: op[k] for k in ("mass", "section", "thickness", "material") if op.get(k) not in (None, "")}
    if "mass" in given:
        if job.si(given["mass"], MASS, f"the mass of {body.name}") < 0.0:
            raise UsageError(f"the mass of {body.name} is negative. Mass is zero or more.")
        for key in ("bar", "bars", "plate", "mesh"):
            job.sheet.remove((*path, key))
        job.set_number((*path, "mass"), given["mass"], MASS, f"the mass of {body.name}")
        job.done(f"Set the mass of {body.name}", f"body:{body.name}")
        return
    if not given:
        for key in MASS_KEYS:
            job.sheet.remove((*path, key))
        job.done(f"Take the mass off {body.name}", f"body:{body.name}")
        return
    text = _from_shape(job, body.name, given)
    for key in MASS_KEYS:
        if key != text[0]:
            job.sheet.remove((*path, key))
    job.sheet.put((*path, text[0]), text[1])
    if text[2]:
        job.sheet.put((*path, "bars"), text[2])
    job.done(f"Set the mass of {body.name} by its {'plate' if text[0] == 'plate' else 'section'}", f"body:{body.name}")


def _from_shape(job: Job, body: str, given: Mapping[str, Any]) -> tuple[str, str, str]:
    """Key and value of a bar or plate, and its bars where there are several."""
    material = str(given.get("material", "steel"))
    if material not in DENSITIES:
        raise UsageError(f"there is no material '{material}'.", nearest(material, DENSITIES, "Materials"))
    points = job.draft.bodies[body].points
    if "section" not in given:
        if "thickness" not in given:
            raise UsageError(
                "a mass from a material needs a section, {'width': .., 'height': ..} or {'diameter': ..}, or a plate's thickness."
            )
        if len(points) < 3:
            raise UsageError(f"'{body}' has fewer than three points, so it is not a plate. Give a section.", name=body)
        return (
            "plate",
            f"{{thickness: {job.written(given['thickness'], LENGTH, 'the thickness', positive=True)}, material: {material}}}",
            "",
        )
    section = given["section"]
    if not isinstance(section, Mapping) or set(section) not in SECTIONS:
        raise UsageError("a section is {'width': .., 'height': ..}, {'diameter': ..}, or {'diameter': .., 'inner': ..} of a tube.")
    if len(points) < 2:
        raise UsageError(f"'{body}' has only one point: a bar runs between two. Give its mass as a number.", name=body)
    sizes = ", ".join(f"{k}: {job.written(x, LENGTH, f'the {k} of the section', positive=True)}" for k, x in section.items())
    value = f"{{section: {{{sizes}}}, material: {material}}}"
    several = _bars(job, body) if len(points) > 2 else []
    return "bar", value, f"[{', '.join(f'[{a}, {b}]' for a, b in several)}]"[: None if several else 0]


def _bars(job: Job, body: str) -> list[tuple[str, str]]:
    """Bars of a body with several points: those of the file, else stations in their order, else the shortest that join all points.

    These are the two arms of a bell crank, and one line for a lever. A closed triangle would weigh a lever twice.
    """
    found = job.draft.bodies[body]
    if job.sheet.node("bodies", body, "bars") is not None or job.sheet.node("bodies", body, "along") is not None:
        return [pair for part in found.outline for pair in itertools.pairwise(part)]
    places = {n: at for n in found.points if (at := job.draft.place(body, n)) is not None}
    joined, out = list(places)[:1], []
    while len(joined) < len(places):
        pairs = ((a, b) for a in joined for b in places if b not in joined)
        a, b = min(pairs, key=lambda p: math.dist(places[p[0]], places[p[1]]))
        joined.append(b)
        out.append((a, b))
    return out
