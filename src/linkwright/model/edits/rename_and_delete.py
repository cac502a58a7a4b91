"""Names: parts renamed wherever the file uses them, and hinges whose names follow from their pins.

A hinge has the name of its pin, with three bodies there `pin:body`. When bodies come to a pin or leave it, drives, springs and all others
that name the hinge are written with its new name (`settle`); what named a part that is gone is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from linkwright import elements
from linkwright.errors import UsageError
from linkwright.model.description import GROUND
from linkwright.model.edits.drawing_draft import Draft
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.edits.references import BODY, JOINT, PARAMETER, POINT, SURFACE, NameUse, references
from linkwright.model.file.reading_context import IDENTIFIER
from linkwright.model.file.text_edits import SPECIAL, Edit, key_text

KINDS = {
    **elements.PARTS, "mass": "masses", "drive": "drive",
    "joint": "joints", "body": "bodies", "point": "drawing", "parameter": "parameters",
}  # fmt: skip
NAMED = {"point": POINT, "body": BODY, "parameter": PARAMETER, "surface": SURFACE}  # kinds of parts that others name
COORDINATES = ("joints", *elements.COORDINATES)  # sections whose names drives, stops and starts use


def split(given: Any) -> tuple[str, str]:
    """Kind and name of an id such as `body:crank`."""
    kind, colon, name = str(given).partition(":")
    if not colon or kind not in KINDS or not name:
        raise UsageError(f"'{str(given)[:60]}' is not an id of a part. Ids are such as body:crank, point:A, "
            "spring:s1.", name=str(given)[:60])
    return kind, name


def hinges(draft: Draft) -> dict[tuple[str, str], str]:
    """Names of the hinges of shared pins, by pin and second body."""
    return {(j.point, j.second): j.name for j in draft.joints.values() if j.implicit}


# -------------------------------------------------------------------- rename


def rename(job: Job, op: Mapping[str, Any]) -> None:
    """Another name for a part, everywhere in the file."""
    kind, name = split(op.get("id"))
    to = job.usable(op.get("to"), KINDS[kind]) if str(op.get("to", "")).strip() != name else name
    if to == name:
        job.done(f"Rename {name}", f"{kind}:{name}")
        return
    if name == GROUND and kind == "body":
        raise UsageError("the body 'ground' is the fixed one by its name: it cannot be renamed.")
    sheet = job.sheet
    own = kind == "point" and "." in name
    joint = job.draft.joints.get(name) if kind == "joint" else None
    if joint is not None and joint.implicit:
        _named_hinge(job, name, to)
        return
    section = KINDS[kind]
    if kind == "drive":
        raise UsageError("a drive has the name of its joint: rename the joint or pin.")
    if not own and sheet.node(section, name) is None:
        raise UsageError(
            f"there is no {kind} '{name}' of its own in the file. Rename parts of a `repeat:` block there.", name=name
        )
    if kind == "parameter" and not IDENTIFIER.match(to):
        raise UsageError(f"'{to}' cannot be a parameter: use letters, digits and _, beginning with a letter.", name=to)
    _not_repeated(job, kind, name)
    before = hinges(job.draft)
    edits = [Edit(r.first, r.end, to) for r in references(sheet) if _means(r, kind, name)]
    if not own:
        first, end = sheet.key_span((section, name))
        edits.append(Edit(first, end, key_text(to, sheet.in_braces((section, name)))))
    sheet.apply(*_single(edits))
    follow(job, before, {name: to} if kind == "point" else {}, {name: to} if kind == "body" else {})
    job.done(f"Rename {name} to {to}", f"{kind}:{name.rpartition('.')[0] + '.' + to if own else to}")


def _means(r: NameUse, kind: str, name: str) -> bool:
    if kind == "point":
        body, dot, point = name.rpartition(".")
        return r.kind == POINT and r.name == point and (not dot or r.body == body)
    if KINDS[kind] in COORDINATES:
        return r.kind == JOINT and r.name == name
    return NAMED.get(kind) == r.kind and r.name == name


def _single(edits: Sequence[Edit]) -> list[Edit]:
    """Edits without those that were found twice."""
    return list({(e.first, e.end): e for e in edits}.values())


def _named_hinge(job: Job, name: str, to: str) -> None:
    """Give the hinge of a pin a name of its own."""
    j = job.draft.joints[name]
    if name != j.point:
        raise UsageError(f"several bodies are hinged at {j.point}, so the hinge is called {name}. Rename the pin or the body.")
    ends = f"[{key_text(j.first, True)}, {key_text(j.second, True)}]"
    edits = [Edit(r.first, r.end, to) for r in references(job.sheet) if r.kind == JOINT and r.name == name]
    job.sheet.apply(*_single(edits))
    job.sheet.add(("joints", to), f"{{pin: {key_text(j.point, True)}, between: {ends}}}")
    job.done(f"Rename hinge {name} to {to}", f"joint:{to}")


def _not_repeated(job: Job, kind: str, name: str) -> None:
    """Raise UsageError for a part that a `repeat:` block uses, by its name or by one with an index in it."""
    sheet, draft = job.sheet, job.draft
    node = sheet.node("repeat")
    if node is None or node.span is None:
        return
    block = sheet.text[node.span.first : node.span.end]
    lines = range(node.where.line, node.where.line + block.count("\n") + 2)
    used = re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", block) is not None
    used |= kind == "point" and any(b.fixed and name in b.points for b in draft.bodies.values())
    used |= kind == "body" and any(j.line in lines and name in (j.first, j.second) for j in draft.joints.values())
    used |= any(
        p.fixed and (kind, name) in {("body", e.body) for e in p.ends} | {("point", e.point) for e in p.ends} for p in draft.parts.values()
    )
    if used:
        raise UsageError(
            f"'{name}' is used in a `repeat:` block ({sheet.file}:{node.where.line}), which is edited in the file only.", name=name
        )


# -------------------------------------------------------------------- hinges that are called otherwise now


def follow(job: Job, before: Mapping[tuple[str, str], str], pins: Mapping[str, str], bodies: Mapping[str, str]) -> None:
    """Write new names of hinges wherever the old ones are used. `pins`, `bodies`: those renamed in the meantime."""
    after = hinges(job.draft)
    renamed = {}
    for (pin, body), name in before.items():
        now = after.get((pins.get(pin, pin), bodies.get(body, body)))
        if now is None and name == pin:  # the other body of a simple hinge may be the second one now
            at = [(k, n) for k, n in after.items() if k[0] == pins.get(pin, pin)]
            now = at[0][1] if len(at) == 1 and (pins.get(pin, pin), body) not in after and at[0][0][1] in bodies.values() else None
        if now is not None and now != name:
            renamed[name] = now
    if not renamed:
        return
    edits = []
    for r in references(job.sheet):
        if r.kind == JOINT and r.name in renamed:
            edits.append(_in_place(job.sheet, r, renamed[r.name]))
    job.sheet.apply(*_single(edits))


def _in_place(sheet: EditSheet, r: NameUse, to: str) -> Edit:
    """A new name in the place of another one; in quotes where YAML needs them, without where it does not."""
    mark = sheet.text[r.first - 1 : r.first]
    end = r.end
    while end < len(sheet.text) and (sheet.text[end].isalnum() or sheet.text[end] in "._"):  # of a channel, A.v
        end += 1
    tail = sheet.text[r.end : end]
    quoted = mark in ("'", '"') and sheet.text[end : end + 1] == mark
    special = SPECIAL.search(to) is not None
    if special and not quoted and _inside_braces(sheet, r):
        return Edit(r.first, end, f'"{to}{tail}"')
    if quoted and not special:
        return Edit(r.first - 1, end + 1, f"{to}{tail}")
    return Edit(r.first, r.end, to)


def _inside_braces(sheet: EditSheet, r: NameUse) -> bool:
    before = sheet.text[: r.first]
    depth = 0
    for line in before.splitlines()[-1:]:
        depth = line.count("{") + line.count("[") - line.count("}") - line.count("]")
    parent = sheet.node(*r.owner[:-1])
    return depth > 0 or (parent is not None and parent.span is not None and parent.span.style == "flow")


# -------------------------------------------------------------------- removal


def delete(job: Job, op: Mapping[str, Any]) -> None:
    """Remove parts, with all that hangs on them."""
    ids = op.get("ids")
    if not isinstance(ids, Sequence) or isinstance(ids, str) or not ids:
        raise UsageError("name the parts to remove by their ids, such as ['body:crank', 'point:P'].")
    chosen = [split(x) for x in ids]
    gone: list[str] = []
    for kind, name in chosen:
        gone += _remove(job, kind, name)
    if not gone:
        raise UsageError(f"there is no {listing_ids(ids)} in the file.")
    job.done(f"Delete {', '.join(dict.fromkeys(gone))}")


def listing_ids(ids: Sequence[Any]) -> str:
    return ", ".join(str(x) for x in ids[:4])


def _remove(job: Job, kind: str, name: str) -> list[str]:
    """Take out a part; names of what went."""
    sheet, draft = job.sheet, job.draft
    before = hinges(draft)
    if kind == "joint" and name in draft.joints and draft.joints[name].implicit:
        return _open_hinge(job, name)
    if kind == "drive" and (sheet.node("drive") is not None) and sheet.node("drive", name) is None:
        return _remove_listed(job, name)
    section = KINDS[kind]
    if kind == "point" and "." in name:
        raise UsageError(f"'{name}' has coordinates of its body's own: remove it in the file.", name=name)
    if sheet.node(section, name) is None:
        return []  # it went with another one
    (job.point if kind == "point" else job.body if kind == "body" else str)(name)
    _not_repeated(job, kind, name)
    only = [p for p in draft.bodies[name].points if draft.bodies_at(p) == [name]] if kind == "body" else []
    sheet.remove((section, name))
    gone = [name]
    gone += _dependents(job, before, {name}, NAMED.get(kind, JOINT if section in COORDINATES else ""))
    for point in only:
        used = any(r.kind == POINT and r.name == point for r in references(job.sheet))
        if not used and job.sheet.node("drawing", point) is not None:
            job.sheet.remove(("drawing", point))
    if kind == "point":
        gone += _empty_bodies(job)
    return gone


def _dependents(job: Job, before: Mapping[tuple[str, str], str], names: set[str], kind: str) -> list[str]:
    """Remove what names parts that are gone, and what names those, until nothing does; rename hinges that are called otherwise now."""
    out: list[str] = []
    todo = {(kind, n) for n in names if kind}
    follow(job, before, {}, {})
    todo |= {(JOINT, n) for n in set(before.values()) - set(job.draft.joints)}
    most_rounds = 20  # of parts that hang on parts that hang on what was removed
    for _ in range(most_rounds):
        found = [r for r in references(job.sheet) if (r.kind, r.name) in todo]
        if not found:
            break
        owner = max({r.owner for r in found}, key=_order)
        known = hinges(job.draft)
        if len(owner) == 2:
            out.append(str(owner[1]))
            if owner[0] in COORDINATES:
                todo.add((JOINT, str(owner[1])))
        job.sheet.remove(owner)
        follow(job, known, {}, {})
        todo |= {(JOINT, n) for n in set(known.values()) - set(job.draft.joints)}
    return [n for n in out if n not in names]


def _order(owner: tuple[Any, ...]) -> tuple[int, int, str]:
    """Items of lists from the last to the first, so that indices stay right."""
    return (len(owner), owner[-1] if isinstance(owner[-1], int) else -1, str(owner))


def _empty_bodies(job: Job) -> list[str]:
    """Bodies that lost their last point, and links that lost all but one of theirs and are held by nothing else."""
    out = []
    for body in list(job.draft.bodies.values()):
        if body.ground or body.fixed or body.points or job.sheet.node("bodies", body.name) is None:
            continue
        out += _remove(job, "body", body.name)
    return out


def _open_hinge(job: Job, name: str) -> list[str]:
    """Take the second body off a pin: it gets an end of its own at the same place."""
    j = job.draft.joints[name]
    body = job.body(j.second).name
    before = hinges(job.draft)
    at = job.point(j.point)
    fresh = job.free_point()
    job.sheet.add(("drawing", fresh), f"[{', '.join(at.written)}]")
    edits = [Edit(r.first, r.end, fresh) for r in references(job.sheet) if r.kind == POINT and r.name == j.point and r.body == body]
    job.sheet.apply(*_single(edits))
    _dependents(job, before, set(), "")
    return [f"hinge {name}"]


def _remove_listed(job: Job, name: str) -> list[str]:
    """A name of `drive: [A, B]`."""
    node = job.sheet.node("drive")
    for i, item in enumerate(node.items or () if node is not None else ()):
        if (item.text or "").strip() == name:
            job.sheet.remove(("drive", i))
            return [name]
    if node is not None and (node.text or "").strip() == name:
        job.sheet.remove(("drive",))
        return [name]
    return []
