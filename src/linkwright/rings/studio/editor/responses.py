"""EditAnswers to the editor's page: the drawing, degrees of freedom, messages, and the kernels that suit."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from linkwright.api import (
    Description,
    Expr,
    LinkwrightError,
    ModelError,
    edit_sheet,
    elements,
    errors,
    file_nodes,
    plausibility,
    unit_kinds,
)
from linkwright.model import edits
from linkwright.model.edits.drawing_draft import Draft, DraftProblem, number_or_none, read_draft
from linkwright.model.edits.missing_parts import count, missing
from linkwright.model.file.inertia import DENSITIES
from linkwright.rings.studio.editor.drawing import drawing_json
from linkwright.rings.studio.editor.page_kernels import KernelSets, values_json
from linkwright.rings.studio.editor.parts import kinds_json
from linkwright.rings.studio.editor.session import Conflict, Session
from linkwright.rings.studio.live.page_data import units


@dataclass
class TextReading:
    """The draft of a text, and the mechanism it is; of a text that is no YAML, those of the last one that was."""

    sheet: edit_sheet.EditSheet
    draft: Draft
    known: Description | None
    problems: list[DraftProblem]
    stale: bool = False


class Reader:
    """Readings of a session's texts; the last good one is remembered."""

    def __init__(self, session: Session):
        self.session = session
        self._last: tuple[str, TextReading] | None = None
        self._good: TextReading | None = None

    def reading(self) -> TextReading:
        """Of the present text."""
        with self.session.lock:
            if self._last is None or self._last[0] != self.session.version:
                self._last = (self.session.version, self._read())
            return self._last[1]

    def _read(self) -> TextReading:
        name, folder = self.session.path.name, self.session.path.parent
        sheet = edit_sheet.EditSheet(self.session.text.removeprefix(file_nodes.ENCODING), name)
        try:
            draft = read_draft(sheet)
        except ModelError as error:
            return self._stale(error)
        found = edits.described(self.session.text, name, folder)
        if isinstance(found, ModelError) and self._lost(draft):
            return self._stale(found)
        problems = _problems(sheet, draft, found)
        known = found if isinstance(found, Description) and found.planar and len(found.bodies) > 1 else None
        self._good = TextReading(sheet, draft, known, problems)
        return self._good

    def _lost(self, draft: Draft) -> bool:
        """True if bodies name points, as the last good text did, and none of them can be read: `drawin:` for `drawing:`."""
        named = any(b.points for b in draft.bodies.values())
        return named and not draft.points and self._good is not None and bool(self._good.draft.points)

    def _stale(self, error: ModelError) -> TextReading:
        """The last good drawing, with what is wrong in the present text."""
        problem = DraftProblem("error", "unreadable", error.message, error.where.line if error.where else 0)
        if self._good is not None:
            return TextReading(self._good.sheet, self._good.draft, self._good.known, [problem], stale=True)
        empty = edit_sheet.EditSheet("", self.session.path.name)
        return TextReading(empty, read_draft(empty), None, [problem], stale=True)


def _problems(sheet: edit_sheet.EditSheet, draft: Draft, found: Description | ModelError) -> list[DraftProblem]:
    """Everything wrong or missing, each thing once."""
    out = list(draft.problems)
    if isinstance(found, ModelError) and not isinstance(found, errors.UnfinishedModel):
        line = found.where.line if found.where else 0
        if not any(p.text == found.message for p in out):
            out.append(DraftProblem("error", "unreadable", found.message, line))
    if isinstance(found, Description):
        said = [(w, _line_of(w)) for w in plausibility.implausible(found)]
        out += [DraftProblem("note", "warning", w.partition(": ")[2] if line else w, line) for w, line in said]
        out += _without_mass(draft, found)
        if not found.planar:
            out.append(DraftProblem("error", "spatial", "The editor draws planar mechanisms. This one is built in space. Edit its file."))
    return [*out, *missing(draft)]


def _without_mass(draft: Draft, d: Description) -> list[DraftProblem]:
    """Bodies whose mass is missing where loads are meant: others have one, or loads are drawn."""
    bare = [b.name for b in d.moving if b.mass is None and b.name in draft.bodies]
    if not bare or (len(bare) == len(d.moving) and not elements.from_outside(d)):
        return []
    text = f"No mass is given for {', '.join(bare)}: Move shows the motion, but no loads and no drive torque."
    return [DraftProblem("note", "no_mass", text, draft.bodies[bare[0]].line, tuple(f"body:{name}" for name in bare))]


def _line_of(warning: str) -> int:
    place = warning.partition(": ")[0].rpartition(":")[2]
    return int(place) if place.isdigit() else 0


class EditAnswers:
    """Makes the JSON of a session."""

    def __init__(self, session: Session):
        self.session = session
        self.reader = Reader(session)
        self.motions = KernelSets(lambda: session.touched)

    def state(self) -> dict[str, Any]:
        """The whole answer for the present text."""
        with self.session.lock:
            reading = self.reader.reading()
            sheet, draft, session = reading.sheet, reading.draft, self.session
            kernels = self._kernels(reading)
            stopped = [DraftProblem("error", "motion", kernels["why"])] if kernels is not None and kernels["why"] else []
            name = sheet.node("name")
            return {
                "kind": "answer",
                "version": session.version,
                "text": session.text.removeprefix(file_nodes.ENCODING),
                "name": (name.text or "").strip() if name is not None and name.text else session.path.stem,
                "axes": draft.axes,
                "planar": True,
                "units": units(_shown_units(sheet)),
                "gravity": _gravity(sheet),
                "file": self.file(),
                "history": self.history(),
                "selection": list(session.step.selection),
                "stale": reading.stale,
                "drawing": drawing_json(sheet, draft, reading.known),
                "kinds": kinds_json(),
                "mobility": _mobility(draft),
                "messages": [self._message(p) for p in (*reading.problems, *stopped)],
                "complete": reading.known is not None and not reading.stale,
                "kernels": kernels,
                "conflict": None if session.conflict is None else conflict_json(session, session.conflict),
                "materials": sorted(DENSITIES),
                "parameters": _parameters(sheet),
                "linkwright": import_module("linkwright").__version__,
            }

    def file(self) -> dict[str, Any]:
        state, text = self.session.state()
        return {"name": self.session.path.name, "state": state, "text": text}

    def history(self) -> dict[str, Any]:
        steps, at = self.session.steps, self.session.at
        following = steps[at + 1].label if at + 1 < len(steps) else ""
        return {"undo": at, "redo": len(steps) - 1 - at, "undo_label": steps[at].label if at else "", "redo_label": following}

    def _message(self, p: DraftProblem) -> dict[str, Any]:
        where = f"{self.session.path.name}:{p.line}" if p.line else ""
        return {"level": p.level, "code": p.code, "text": p.text, "where": where, "line": p.line or None, "ids": list(p.ids)}

    def _kernels(self, reading: TextReading) -> dict[str, Any] | None:
        if reading.known is None or reading.stale:
            return None
        found, values = self.motions.suiting(reading.known)
        return {"id": found.id, "values": values_json(values) if found.built else None, "ready": found.built, "why": found.why}

    def kernels(self, key: str, fresh: bool = False) -> dict[str, Any]:
        """Script and data of kernels, built now if they are not yet; of an id that is gone those of the present text."""
        with self.session.lock:
            reading = self.reader.reading()
            if reading.known is not None and (fresh or not self.motions.has(key)):
                key = self.motions.suiting(reading.known, fresh=fresh)[0].id
        found = self.motions.built(key)
        return {"kind": "kernels", "id": found.id, "script": found.script, "data": found.data}


def conflict_json(session: Session, conflict: Conflict) -> dict[str, Any]:
    """Both texts of a conflict."""
    said = f"{session.path.name} was changed by another program while you edited. Choose which text to keep. Undo brings back the others."
    texts = {
        k: None if x is None else x.removeprefix(file_nodes.ENCODING) for k, x in (("mine", conflict.mine), ("theirs", conflict.theirs))
    }
    merged = None if conflict.merged is None else conflict.merged.removeprefix(file_nodes.ENCODING)
    return {"kind": "conflict", "version": session.version, "text": said, **texts, "merged": merged}


def _mobility(draft: Draft) -> dict[str, Any]:
    found = count(draft)
    return {"count": found.freedoms, "bodies": found.bodies, "joints": found.joints, "text": found.text}


def _shown_units(sheet: edit_sheet.EditSheet) -> tuple[str, ...]:
    """Units in which a page shows numbers."""
    listed = sheet.node("show")
    if listed is not None and listed.items is not None:
        return tuple((n.text or "").strip() for n in listed.items)
    return sheet.units.units


def _gravity(sheet: edit_sheet.EditSheet) -> list[float] | None:
    node = sheet.node("gravity")
    if node is None or node.items is None:
        return None
    values = [number_or_none(sheet.context, n, unit_kinds.ACCELERATION) for n in node.items[:2]]
    return [x if x is not None else 0.0 for x in values]


def _parameters(sheet: edit_sheet.EditSheet) -> list[dict[str, Any]]:
    out = []
    for name in sheet.names("parameters"):
        node = sheet.node("parameters", name)
        if node is None:
            continue
        value = node if node.entries is None else node.entries.get("value", node)
        try:
            number: float | None = float(sheet.context.env[name])
        except (KeyError, LinkwrightError):
            number = None
        computed = isinstance(sheet.context.parameters.get(name), Expr)
        out.append({"name": name, "value": number, "written": (value.text or "").strip(), "expression": computed, "line": node.where.line})
    return out
