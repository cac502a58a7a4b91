"""Single values of the file: any number or text by its path, parameters, the picture behind the drawing, the whole text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwright.errors import UsageError, nearest
from linkwright.model.edits.edit_in_progress import Job
from linkwright.model.edits.edit_sheet import SECTIONS
from linkwright.model.file.backdrop import FILES, KEYS, read_backdrop
from linkwright.model.file.text_edits import SPECIAL, Edit, key_text, number, quantity
from linkwright.text.unit_meaning import LITERAL, is_bare
from linkwright.text.units import LENGTH, NONE

LONGEST_TEXT = 1_000_000


def set_value(job: Job, op: Mapping[str, Any]) -> None:
    """Exchange a single value by its path; null removes the entry."""
    path = op.get("path")
    if not isinstance(path, Sequence) or isinstance(path, str) or not path or not all(isinstance(k, (str, int)) for k in path):
        raise UsageError("a value is named by its path, such as ['springs', 's1', 'stiffness'].")
    if path[0] not in SECTIONS:
        raise UsageError(f"the model has no key '{path[0]}'.", nearest(str(path[0]), SECTIONS, "Keys"))
    node, value = job.sheet.node(*path), op.get("value")
    where = ".".join(map(str, path))
    if value is None:
        if node is None:
            raise UsageError(f"there is no '{where}' in the file.", name=where)
        job.sheet.remove(tuple(path))
        job.done(f"Remove {where}")
        return
    if isinstance(value, list):
        olds = [n.text for n in node.items or ()] if node is not None and node.items is not None else []
        text = f"[{', '.join(_single(job, old, x) for old, x in zip([*olds, *[None] * len(value)], value, strict=False))}]"
    else:
        text = _single(job, node.text if node is not None else None, value)
    if node is not None and (node.entries is not None or (node.items is not None) != isinstance(value, list)):
        raise UsageError(f"'{where}' is {node.kind}, which a value of this kind cannot replace. Change its parts.", name=where)
    job.sheet.put(tuple(path), text)
    job.done(f"Set {where}")


def _single(job: Job, old: str | None, value: Any) -> str:
    """A number as it is to be written, in the unit of its place in the file, or a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and math.isfinite(value):
        return _as_typed(job, old, number(float(value)))
    if isinstance(value, str) and value.strip():
        return _as_typed(job, old, value)
    raise UsageError("a value is a number, a text, or a list of them.")


def _as_typed(job: Job, old: str | None, typed: str) -> str:
    """The text as typed; a bare number takes the unit of the number that it replaces."""
    text = typed.strip()
    if is_bare(text.replace(",", ".", 1)):
        text = text.replace(",", ".", 1)
        found = LITERAL.match((old or "").strip())
        if found is not None and found["unit"]:
            text = f"{text}{found['gap']}{found['unit']}"
    return f'"{text}"' if SPECIAL.search(text) and not (text.startswith(("[", "{")) and text.endswith(("]", "}"))) else text


def set_parameter(job: Job, op: Mapping[str, Any]) -> None:
    """A parameter with another value, or a new one."""
    name, value = op.get("name"), op.get("value")
    if not isinstance(name, str) or value in (None, ""):
        raise UsageError("a parameter has a name and a value.")
    node = job.sheet.node("parameters", name)
    if node is None:
        job.usable(name, "parameters")
        job.sheet.add(("parameters", name), _as_typed(job, None, str(value)))
        job.done(f"Add parameter {name}", f"parameter:{name}")
        return
    path = ("parameters", name, "value") if node.entries is not None else ("parameters", name)
    known = (job.sheet.context.algebra.names or {}).get(name)
    if isinstance(value, str):
        old = job.sheet.node(*path)
        job.sheet.replace(path, _as_typed(job, old.text if old is not None else None, value))
    else:
        job.set_number(path, value, known.dimension if known is not None else NONE, f"parameter {name}")
    job.done(f"Set {name}", f"parameter:{name}")


def set_text(job: Job, op: Mapping[str, Any]) -> None:
    """The whole text, as a user typed it."""
    text = op.get("text")
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise UsageError(f"the text of a model is at most {LONGEST_TEXT} characters.")
    job.sheet.apply(Edit(0, len(job.sheet.text), text))
    job.done("Edit the text")


# -------------------------------------------------------------------- the picture behind the drawing


def set_backdrop(job: Job, op: Mapping[str, Any]) -> None:
    """A photo or drawing behind the mechanism; file null takes it away."""
    file = op.get("file")
    if not file and "file" in op:
        job.sheet.remove(("backdrop",))
        job.done("Remove the background picture")
        return
    if file:
        if not isinstance(file, str) or not file.lower().endswith(FILES) or any(c in file for c in "/\\\0"):
            raise UsageError(f"a background picture is a file next to the model that ends in {', '.join(FILES)}.", name="backdrop")
        if job.sheet.node("backdrop") is None:
            job.sheet.add(("backdrop", "file"), key_text(file, False))
        else:
            job.sheet.put(("backdrop", "file"), key_text(file, job.sheet.in_braces(("backdrop", "file"))))
    if job.sheet.node("backdrop") is None:
        raise UsageError("there is no background picture. Choose a file first.")
    if op.get("at") is not None:
        job.sheet.put(("backdrop", "at"), job.pair(op["at"], LENGTH, "the place of the picture"))
    for key, dimension in KEYS.items():
        if op.get(key) not in (None, ""):
            job.sheet.put(("backdrop", key), job.written(op[key], dimension, f"the {key} of the picture", positive=key == "scale"))
    job.done("Set the background picture")


def scale_backdrop(job: Job, op: Mapping[str, Any]) -> None:
    """Scale the picture so that two places on it are as far apart as the user says; the first one stays."""
    a, b = (job.place(op.get(k), "a place on the picture") for k in ("from", "to"))
    wanted = job.si(op.get("length"), LENGTH, "the distance", positive=True)
    now = math.dist(a, b)
    if now == 0.0:
        raise UsageError("the two places on the picture are the same. Choose two that are apart.")
    node = job.sheet.node("backdrop")
    found = read_backdrop(job.sheet.context, node) if node is not None else None
    if found is None:
        raise UsageError("there is no background picture. Choose a file first.")
    factor = wanted / now
    at = [p + factor * (q - p) for p, q in zip(a, found.at, strict=True)]
    units = job.sheet.units
    job.sheet.put(("backdrop", "scale"), quantity(found.scale * factor, LENGTH, units, 9))
    job.sheet.put(("backdrop", "at"), f"[{quantity(at[0], LENGTH, units, 9)}, {quantity(at[1], LENGTH, units, 9)}]")
    job.done("Scale the background picture")
