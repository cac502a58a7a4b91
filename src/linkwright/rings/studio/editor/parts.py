"""Elements of a model file as JSON for the editor, by their own descriptions: `linkwright.elements`.

`kinds_json` describes all kinds to the page: word, places, looks, numbers and the tool of each kind. `element_json` is one entry of the
file: where it acts, how it is drawn, and its numbers as written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from linkwright.api import ANGLE, LENGTH, NONE, Dimension, display_unit, edit_sheet, elements, joints, unit_kinds
from linkwright.model.edits.drawing_draft import At, Draft, DraftPart, number_or_none
from linkwright.model.edits.elements import addable

TAKEN = "vglpsefm"  # letters of tools that draw no element


@cache
def kinds_json() -> list[dict[str, Any]]:
    """Kinds of elements, actuators first and then constraints: the order of the tools."""
    letters = set(TAKEN) | {x.letter for x in elements.ELEMENTS}
    drawn: dict[str, Any] = {}  # kind that the tool of a word draws: between two points rather than in a joint
    for x in sorted((x for x in elements.ELEMENTS if addable(x)), key=addable):
        drawn.setdefault(x.word, x)
    out = []
    for x in sorted(elements.ELEMENTS, key=lambda x: (not x.coordinate, not x.constraint)):
        tool = None
        if drawn.get(x.word) is x:
            letter = x.letter or next((c for c in (*x.word, *"abcdefghijklmnopqrstuvwxyz") if c not in letters), "")
            letters.add(letter)
            tool = {"place": addable(x), "key": letter, "label": _title(x.word), "first": x.coordinate or bool(x.constraint)}
        numbers = [_described(n, r) for n, r in elements.numbers(x).items() if n not in x.hidden]
        out.append({"word": x.word, "section": x.section, "type": x.type, "title": _title(x.says or x.word), "form": x.form}
            | {"places": _places(x), "looks": _looks(x), "coordinate": x.coordinate, "numbers": numbers, "tool": tool})  # fmt: skip
    return out


def elements_json(sheet: edit_sheet.EditSheet, draft: Draft) -> list[dict[str, Any]]:
    """All elements that are drawn or half drawn, in the order of their sections."""
    return [element_json(sheet, draft, p) for section in elements.SECTIONS for p in draft.section(section)]


def element_json(sheet: edit_sheet.EditSheet, draft: Draft, p: DraftPart) -> dict[str, Any]:
    """An entry of the file: its kind, places, looks and numbers."""
    kind = elements.kind_of(p.kind, p.values, str(p.values.get("type", "")))
    ends = [{"body": e.body, "point": e.point, "at": listed(e.at)} for e in p.ends]
    two = len(ends) == 2
    joint = p.joints[0] if p.joints and not ends else None
    out: dict[str, Any] = {"id": f"{kind.word}:{p.name}", "name": p.name, "line": p.line, "fixed": p.fixed}
    out |= {"word": kind.word, "section": kind.section, "type": kind.type, "title": _title(kind.says or kind.word), "form": kind.form}
    out |= {"coordinate": kind.coordinate, "looks": _looks(kind), "ends": ends if two else None}
    out |= {"on": _on(draft, p) if "point" in _places(kind) else None}
    out |= {"joint": joint, "at": _joint_place(draft, joint)}
    out |= {"joints": list(p.joints), "centers": [_joint_place(draft, j) for j in p.joints], "wheels": _wheels(sheet, p, kind)}
    fields = [(n, r) for n, r in elements.numbers(kind).items() if n not in kind.hidden]
    out["numbers"] = [_number(sheet, draft, p, kind, n, r) for n, r in fields]
    out["choices"] = [
        {"key": n, "label": _title(n), "meaning": r.meaning, "choices": list(r.choices), "text": str(p.values.get(n, r.choices[0]))}
        for n, r in elements.roles(kind).items()
        if isinstance(r, elements.ChoiceRole)
    ]
    return out


def listed(x: At | None) -> list[float] | None:
    return None if x is None else list(x)


def coordinate_part(draft: Draft, name: str) -> DraftPart | None:
    """The element of this name whose travel can be driven."""
    return next((draft.parts[s, name] for s in elements.COORDINATES if (s, name) in draft.parts), None)


# -------------------------------------------------------------------- pieces of them


def _title(word: str) -> str:
    return word[:1].upper() + word[1:]


def _places(kind: Any) -> list[str]:
    names = {elements.EndsRole: "ends", elements.JointRole: "joint", elements.PointRole: "point"}
    found = [names[type(r)] for r in elements.roles(kind).values() if type(r) in names]
    return found or (["joints"] if kind.constraint else [])


def _looks(kind: Any) -> dict[str, Any]:
    return {"shape": kind.looks.shape, "width": kind.looks.width, "dashes": list(kind.looks.dashes), "mark": kind.looks.mark}


def _described(name: str, role: elements.NumberRole) -> dict[str, Any]:
    key = elements.key_of(name, role)
    out: dict[str, Any] = {"key": key, "label": _title(key.replace("_", " ")), "meaning": role.meaning, "dimension": role.dimension}
    out |= {"optional": role.optional, "preset": list(role.preset) if role.preset else None, "axes": role.axes}
    return out | {"above": role.above, "least": role.least, "drawn": role.drawn}


def _number(sheet: edit_sheet.EditSheet, draft: Draft, p: DraftPart, kind: Any, name: str, role: elements.NumberRole) -> dict[str, Any]:
    """A number with its text, its value in SI where it is constant, and the unit that a bare number would have or needs."""
    key, written = elements.key_of(name, role), p.values.get(elements.key_of(name, role))
    dimension = _dimension(draft, p, role)
    symbol, per_si = display_unit(sheet.units, dimension) if dimension != NONE else ("", 1.0)
    bare = sheet.units.bare_factor(dimension)
    value: Any = _value(sheet, dimension, p, key)
    if isinstance(written, list):
        value = [_value(sheet, dimension, p, key, i) for i in range(len(written))]
    elif written is None and role.drawn:
        places = [e.at for e in p.ends if e.at is not None]
        value = math.dist(*places) if len(places) == 2 else None
    needed = role.axes == "along" and key in kind.some_of  # a direction, which one number is not
    idle = role.preset is not None and not role.preset[0 if _slides(draft, p.joints, p.ends) else 1]  # radius of a pin, in a slider
    return _described(name, role) | {
        "text": written if isinstance(written, (str, list)) else None,
        "value": value,
        "unit": {"symbol": symbol, "size": 1.0 / per_si},
        "bare": bare is not None,
        "shown": written is not None or not (needed or idle),
    }


def _dimension(draft: Draft, p: DraftPart, role: elements.NumberRole) -> Dimension:
    """By where it acts; of what ties two joints by their coordinates."""
    if role.dimension not in unit_kinds.OF_PAIR:
        return unit_kinds.dimension_of(role.dimension, _slides(draft, p.joints, p.ends))
    first, second = (LENGTH if _slides(draft, p.joints[i : i + 1]) else ANGLE for i in range(2))
    return unit_kinds.of_pair(role.dimension, first, second)


def _value(sheet: edit_sheet.EditSheet, dimension: Dimension, p: DraftPart, *path: Any) -> float | None:
    return number_or_none(sheet.context, sheet.node(p.kind, p.name, *path), dimension)


def _slides(draft: Draft, names: Sequence[str], ends: Sequence[Any] = ()) -> bool:
    """True if the travel is a length: between points, of a slider, of an actuator between points."""
    if ends or not names:
        return True
    joint = draft.joints.get(names[0].partition(".")[0])
    return joints.is_slider(joints.JOINTS[joint.type]) if joint is not None else coordinate_part(draft, names[0]) is not None


def _joint_place(draft: Draft, name: str | None) -> list[float] | None:
    """Place of a joint, also by one of its coordinates (`hip.angle1`), or the middle of an element that is a coordinate itself."""
    found = draft.joints.get(name or "") or draft.joints.get((name or "").partition(".")[0])
    line = coordinate_part(draft, name or "")
    places = [found.at] if found else [e.at for e in line.ends] if line else []
    known = [at for at in places if at is not None]
    return [sum(x) / len(known) for x in zip(*known, strict=True)] if known and len(known) == len(places) else None


def _on(draft: Draft, p: DraftPart) -> dict[str, Any] | None:
    """Body, point and place of what acts at one point; of what acts on a whole body the middle of its points."""
    if not p.ends:
        return None
    end = p.ends[0]
    place = end.at
    if place is None and end.body in draft.bodies:
        points = [draft.points[n].at for n in draft.bodies[end.body].points if n in draft.points]
        place = (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)) if points else None
    return {"body": end.body, "point": end.point or None, "at": listed(place)}


def _wheels(sheet: edit_sheet.EditSheet, p: DraftPart, kind: Any) -> dict[str, Any] | None:
    """Pitch radii of a gear pair, or of a pinion on its rack."""
    if not kind.touching:
        return None
    rack = "rack" in p.values
    module = _value(sheet, LENGTH, p, "module")
    radii = [_value(sheet, LENGTH, p, "radii", i) for i in range(2)]
    if rack:
        radii = [_value(sheet, LENGTH, p, "radius"), None]
    elif module is not None:
        teeth = [_value(sheet, NONE, p, "teeth", i) for i in range(2)]
        radii = [None if n is None else 0.5 * module * n for n in teeth]
    return {"radii": radii, "rack": rack, "internal": str(p.values.get("internal", "")).lower() in ("true", "yes", "on")}
