"""The drawing of a model file as JSON for the editor: points, bodies, joints and parts, in the drawing's coordinates, SI.

Whatever is written is there, also half drawn; numbers that cannot be read are null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from linkwright.api import ANGLE, LENGTH, NONE, Description, Dimension, LinkwrightError, edit_sheet, joints, matches, unit_kinds
from linkwright.model.edits.drawing_draft import Draft, DraftPart, dimension_or_none, number_or_none
from linkwright.model.edits.missing_parts import loose_pins
from linkwright.model.edits.rename_and_delete import KINDS
from linkwright.model.file.backdrop import read_backdrop
from linkwright.rings.studio.editor.contacts import contacts_json
from linkwright.rings.studio.editor.parts import coordinate_part, elements_json, listed
from linkwright.rings.studio.style import DRIVEN, PALETTE

GROUND_COLOR = "#8593a0"
DRIVE_KINDS = ("speed", "position", "moves", "torque", "force", "dc_motor", "undriven")
FORMS = {"hinge": joints.is_hinge, "slider": joints.is_slider}


def drawing_json(sheet: edit_sheet.EditSheet, draft: Draft, known: Description | None) -> dict[str, Any]:
    """Everything that is drawn; `known` is the mechanism, where there is one, for masses and lengths that follow from others."""
    return {
        "points": _points(draft),
        "bodies": _bodies(sheet, draft, known),
        "joints": [_joint(draft, name) for name in draft.joints],
        "elements": elements_json(sheet, draft),
        "drives": [_drive(sheet, draft, p) for p in draft.section("drive")],
        "masses": [_mass(sheet, draft, p) for p in draft.section("masses")],
        "extent": _extent(draft),
        **contacts_json(known, _size(draft)),
        "backdrop": _backdrop(sheet),
    }


def _points(draft: Draft) -> list[dict[str, Any]]:
    loose = set(loose_pins(draft))
    out = []
    for p in draft.points.values():
        body, dot, _point = p.name.partition(".")
        bodies = [body] if p.own and dot else draft.bodies_at(p.name)
        pinned = draft.pinned_at(p.name)
        out.append(
            {
                "id": f"point:{p.name}",
                "name": p.name,
                "at": list(p.at),
                "written": list(p.written),
                "expression": list(p.expression),
                "bodies": bodies,
                "pin": bool(pinned) or not bodies,
                "grounded": (bool(pinned) and draft.bodies[pinned[0]].ground) or any(draft.bodies[b].ground for b in pinned),
                "loose": p.name in loose,
                "fixed": p.fixed or p.own,
                "line": p.line,
            }
        )
    return out


def _bodies(sheet: edit_sheet.EditSheet, draft: Draft, known: Description | None) -> list[dict[str, Any]]:
    masses = {} if known is None else {b.name: b for b in known.bodies}
    driven = {draft.joints[d.name].second for d in draft.section("drive") if d.name in draft.joints}
    joined = {b for j in draft.joints.values() for b in (j.first, j.second)}
    out, shade = [], 0
    for b in draft.bodies.values():
        own = masses.get(b.name)
        names = {n: f"{b.name}.{n}" if f"{b.name}.{n}" in draft.points else n for n in b.points}
        section, material = _section(sheet, b.name)
        color = GROUND_COLOR if b.ground else DRIVEN if b.name in driven else PALETTE[shade % len(PALETTE)]
        shade += color not in (GROUND_COLOR, DRIVEN)
        ends = [draft.points[names[n]].at for n in b.points if names[n] in draft.points]
        mass = (
            float(own.mass)
            if own is not None and isinstance(own.mass, (int, float))
            else _number(sheet, unit_kinds.MASS, "bodies", b.name, "mass")
        )
        out.append(
            {
                "id": f"body:{b.name}",
                "name": b.name,
                "ground": b.ground,
                "points": [names[n] for n in b.points],
                "pins": [names.get(n, n) for n in b.pins],
                "outline": [list(line) for line in b.outline],
                "shape": b.shape,
                "length": _own_length(sheet, b.name, b.points) or (math.dist(*ends) if len(ends) == 2 else None),
                "mass": None if b.ground else mass,
                "com": _com(known, b.name),
                "section": section,
                "material": material,
                "bars": _bars(sheet, b.name),
                "color": color,
                "loose": not b.ground and b.name not in joined,
                "fixed": b.fixed,
                "line": b.line,
            }
        )
    return out


def _own_length(sheet: edit_sheet.EditSheet, body: str, points: Sequence[str]) -> float | None:
    """Length of a bar by its stations."""
    node = sheet.node("bodies", body, "along")
    if node is None or node.entries is None or len(node.entries) != 2:
        return None
    ends = [number_or_none(sheet.context, n, LENGTH) for n in node.entries.values()]
    return None if ends[0] is None or ends[1] is None else abs(ends[1] - ends[0])


def _section(sheet: edit_sheet.EditSheet, body: str) -> tuple[dict[str, str] | None, str | None]:
    """Section and material as typed; the thickness of a plate counts as one."""
    for key in ("bar", "plate"):
        node = sheet.node("bodies", body, key)
        if node is None or node.entries is None:
            continue
        material = (node.entries["material"].text or "").strip() if "material" in node.entries else None
        section = node.entries.get("section")
        if section is not None and section.entries is not None:
            return {k: (n.text or "").strip() for k, n in section.entries.items()}, material
        if "thickness" in node.entries:
            return {"thickness": (node.entries["thickness"].text or "").strip()}, material
        return None, material
    return None, None


def _bars(sheet: edit_sheet.EditSheet, body: str) -> list[list[str]]:
    """Ends of the bars along which the file puts the body's mass."""
    node = sheet.node("bodies", body, "bars")
    rows = () if node is None else node.items or ()
    return [[(n.text or "").strip() for n in row.items or ()] for row in rows]


def _com(known: Description | None, body: str) -> list[float] | None:
    """Center of mass as the body is drawn."""
    if known is None:
        return None
    try:
        b = known.numbers().body(body)
    except LinkwrightError:
        return None
    if b.mass is None or body == known.bodies[0].name:
        return None
    R, p = b.start.rotation, b.start.at
    return [float(p[i]) + sum(float(R[i][k]) * float(b.com[k]) for k in range(3)) for i in range(2)]


def _joint(draft: Draft, name: str) -> dict[str, Any]:
    j = draft.joints[name]
    jt = joints.JOINTS[j.type]
    form = next((form for form, test in FORMS.items() if test(jt)), None) or (
        "slot" if jt.guide is not None else "fixed" if not jt.nv else "other"
    )
    out: dict[str, Any] = {"id": f"joint:{name}", "name": name, "type": j.type, "kind": form, "first": j.first, "second": j.second}
    out |= {"at": listed(j.at), "point": j.point or None, "axis": listed(j.axis), "implicit": j.implicit, "line": j.line}
    return out


# -------------------------------------------------------------------- parts


def _part(p: DraftPart) -> dict[str, Any]:
    kind = next(kind for kind, section in KINDS.items() if section == p.kind)
    return {"id": f"{kind}:{p.name}", "name": p.name, "line": p.line, "fixed": p.fixed}


def _drive(sheet: edit_sheet.EditSheet, draft: Draft, p: DraftPart) -> dict[str, Any]:
    """The drive of a joint or of an element between two points; `value` in SI where it is constant."""
    joint = draft.joints.get(p.name)
    line = coordinate_part(draft, p.name)
    slides = line is not None or (joint is not None and joints.is_slider(joints.JOINTS[joint.type]))
    kind = next((k for k in DRIVE_KINDS if k in p.values), "")
    node = sheet.node("drive", p.name, kind) if kind else sheet.node("drive", p.name)
    written = (node.text or "").strip() if node is not None and node.text is not None else ""
    rates: dict[str, Dimension] = (
        {"speed": unit_kinds.SPEED, "position": LENGTH, "torque": unit_kinds.FORCE}
        if slides
        else {"speed": unit_kinds.ANGULAR_SPEED, "position": ANGLE, "torque": unit_kinds.TORQUE}
    )
    if not kind and written and written != "undriven":
        found = dimension_or_none(sheet.context, node)
        kind = "speed" if found in (None, NONE) else next((k for k, d in rates.items() if matches(found, d)), "")
    elif not kind:
        kind = "undriven"
    kind = "torque" if kind == "force" else kind
    value = number_or_none(sheet.context, node, rates[kind]) if kind in rates else None
    if joint is not None:
        place = joint.at
    else:
        ends = [e.at for e in line.ends if e.at is not None] if line is not None else []
        place = ((ends[0][0] + ends[-1][0]) / 2.0, (ends[0][1] + ends[-1][1]) / 2.0) if ends else None
    return _part(p) | {"joint": p.name, "kind": kind, "value": value, "written": written, "at": listed(place), "slides": slides}


def _mass(sheet: edit_sheet.EditSheet, draft: Draft, p: DraftPart) -> dict[str, Any]:
    body, at = str(p.values.get("body", "")), p.values.get("at")
    place = draft.place(body, at) if isinstance(at, str) else None
    if isinstance(at, list):
        x, y = (_number(sheet, LENGTH, "masses", p.name, "at", i) for i in range(2))
        place = (x, y) if x is not None and y is not None else None
    return _part(p) | {"body": body, "at": listed(place), "mass": _number(sheet, unit_kinds.MASS, "masses", p.name, "mass")}


def _number(sheet: edit_sheet.EditSheet, dimension: Dimension, *path: Any) -> float | None:
    return number_or_none(sheet.context, sheet.node(*path), dimension)


def _extent(draft: Draft) -> dict[str, Any] | None:
    if not draft.points:
        return None
    places = [p.at for p in draft.points.values()]
    return {"low": [min(p[i] for p in places) for i in range(2)], "high": [max(p[i] for p in places) for i in range(2)]}


def _size(draft: Draft) -> float:
    """Larger side of the drawing."""
    box = _extent(draft)
    return 1.0 if box is None else max(high - low for low, high in zip(box["low"], box["high"], strict=True)) or 1.0


def _backdrop(sheet: edit_sheet.EditSheet) -> dict[str, Any] | None:
    try:
        found = read_backdrop(sheet.context, sheet.node("backdrop"))
    except LinkwrightError:
        return None
    if found is None:
        return None
    return {
        "file": found.file,
        "at": list(found.at),
        "scale": found.scale,
        "angle": found.angle,
        "opacity": found.opacity,
        "line": found.line,
    }
