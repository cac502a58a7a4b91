"""Structural edits of a model file: operations on its text that keep comments, order, units and expressions.

    edited = perform(text, "my.yaml", [{"do": "add_link", "through": ["A", {"at": [0.1, 0.2]}]}])
    edited.text, edited.label, edited.selection        or edited.questions, where a number is an expression

An operation is a mapping with its name under `do`; docs/reference/edits.md lists them.
Numbers are SI, or texts as people type them. `perform`
raises UsageError or ModelError where an operation cannot be done; the text is then as it was. A half-drawn mechanism is a legal result:
`drawing_draft.py` reads it, `missing.py` says what it lacks.

    edit_sheet.py  the text and its tree; entries added, exchanged, removed
    references.py  where the file names its own parts
    drawing_draft.py what is drawn, whatever is missing
    edit_in_progress.py one edit under way: numbers, names, questions
    points.py, links.py, elements.py, rename_and_delete.py, copies.py, single_values.py    the operations
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from linkwright.elements import ELEMENTS
from linkwright.errors import ModelError, UnfinishedModel, UsageError, nearest
from linkwright.model.description import Description
from linkwright.model.edits import copies, elements, links, points, rename_and_delete, single_values
from linkwright.model.edits.edit_in_progress import Job, Question
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.model.file.reader import Document, describe
from linkwright.model.file.text_nodes import ENCODING

MOST_OPERATIONS = 1000  # in one edit
OPERATIONS: dict[str, Callable[[Job, Mapping[str, Any]], None]] = {
    "add_pin": points.add_pin,
    "add_point": points.add_point,
    "set_ground": points.set_ground,
    "set_pin": points.set_pin,
    "move": points.move,
    "join": points.join,
    "add_link": links.add_link,
    "extend_link": links.extend_link,
    "set_length": links.set_length,
    "set_mass": links.set_mass,
    "add_slider": elements.add_slider,
    "add_slot": elements.add_slot,
    **{f"add_{x.word}": partial(elements.add_element, x.section) for x in ELEMENTS if elements.addable(x)},
    **{f"add_{x.word}": partial(elements.add_load, x) for x in ELEMENTS if x.from_outside},
    **{f"add_{x.section}": partial(elements.FORMS[x.form], x) for x in ELEMENTS if x.form in elements.FORMS},
    "set_drive": elements.set_drive,
    "rename": rename_and_delete.rename,
    "delete": rename_and_delete.delete,
    "duplicate": copies.duplicate,
    "mirror": copies.mirror,
    "set_value": single_values.set_value,
    "set_parameter": single_values.set_parameter,
    "set_backdrop": single_values.set_backdrop,
    "scale_backdrop": single_values.scale_backdrop,
    "set_text": single_values.set_text,
}
OTHER_FILES = (".csv", ".stl", ".obj", ".glb", ".gltf")  # endings of files that a model reads along
WHOLE = ("set_text",)  # operations whose text may be anything


@dataclass(frozen=True)
class Edited:
    """The result of operations: a new text, or questions that must be answered first."""

    text: str
    label: str
    selection: tuple[str, ...]
    questions: tuple[Question, ...] = ()


def perform(
    text: str,
    file: str,
    operations: Sequence[Mapping[str, Any]],
    answers: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
) -> Edited:
    """Return the text after all operations; raise UsageError or ModelError if one of them cannot be done.

    `answers` are those to questions of an earlier call, by their keys; `folder` is where files that the model names are.
    """
    if not operations or len(operations) > MOST_OPERATIONS:
        raise UsageError(f"an edit has 1 to {MOST_OPERATIONS} operations.")
    plain = text.removeprefix(ENCODING)
    job = Job(EditSheet(plain, file), dict(answers or {}))
    before = error_of(plain, file, folder)
    for op in operations:
        function = operation(op)
        if not _is_whole(op) and job.sheet.node("plane") is None and not (job.sheet.names("drawing") or job.sheet.names("bodies")):
            job.sheet.add(("plane",), "xy")  # nothing is drawn: a drawing has two coordinates
        known = rename_and_delete.hinges(job.draft) if not _is_whole(op) else {}
        function(job, op)
        if job.questions:
            return Edited(text, "", (), tuple(job.questions))
        if not _is_whole(op):
            rename_and_delete.follow(job, known, _joined(op), {})
    mark = text[: len(text) - len(plain)]
    if job.sheet.text != plain and not any(_is_whole(op) for op in operations):
        _refuse_new_error(before, error_of(job.sheet.text, file, folder))
    label = job.labels[0] if len(job.labels) == 1 else "; ".join(job.labels[:3])
    return Edited(mark + job.sheet.text, label, tuple(dict.fromkeys(job.selection)))


def operation(op: Any) -> Callable[[Job, Mapping[str, Any]], None]:
    """The function of an operation; raise UsageError if there is none."""
    name = op.get("do") if isinstance(op, Mapping) else None
    if not isinstance(name, str) or name not in OPERATIONS:
        raise UsageError(f"there is no operation '{str(name)[:40]}'.", nearest(str(name), OPERATIONS, "Operations"))
    return OPERATIONS[name]


def _is_whole(op: Mapping[str, Any]) -> bool:
    return op.get("do") in WHOLE


def _joined(op: Mapping[str, Any]) -> dict[str, str]:
    """Pins that have another name after an operation."""
    return {str(op["point"]): str(op["to"])} if op.get("do") == "join" else {}


def described(text: str, file: str, folder: Path | None = None) -> Description | ModelError:
    """The mechanism of a text, or why it is none: UnfinishedModel where something is still missing. Of a text without files of its own
    the last results are remembered."""
    named = any(ending in text for ending in OTHER_FILES)
    return _described.__wrapped__(text, file, folder) if named else _described(text, file, folder)


@lru_cache(maxsize=16)
def _described(text: str, file: str, folder: Path | None) -> Description | ModelError:
    plain = text.removeprefix(ENCODING)
    try:
        sheet = EditSheet(plain, file)
        if not sheet.root.entries:
            return UnfinishedModel("nothing is drawn yet.", sheet.root.where)
        return describe(Document(sheet.root, folder, Path(file).stem, {}, text, None if folder is None else folder / file))
    except ModelError as error:
        return error


def error_of(text: str, file: str, folder: Path | None = None) -> ModelError | None:
    """Why a text is no mechanism; None if it is one."""
    found = described(text, file, folder)
    return found if isinstance(found, ModelError) else None


def _refuse_new_error(before: ModelError | None, after: ModelError | None) -> None:
    """Raise what is wrong with a text if it was not wrong before, and is more than something missing."""
    if after is None or isinstance(after, UnfinishedModel) or (before is not None and not isinstance(before, UnfinishedModel)):
        return
    raise after
