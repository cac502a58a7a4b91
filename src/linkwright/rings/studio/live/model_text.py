"""The model's text in a page, and the places of its numbers in it, so that an export can write changed values into the text.

    model(described, sliders)     {"text", "file", "places", "plain"}

`places` is the tree of the sections `parameters`, `drawing` and `bodies` of the user's own file, with the span of every value: a page
changes the numbers in place and leaves comments, units and order as they are. `plain` is the model written out, for numbers without a
single place in the file (bodies made by `repeat`, masses that decide an inertia) and for models that are no file: there every slider has
its list of numbers and how fast they change with it. Spans count UTF-16 units, as JavaScript does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linkwright.api import Description, LinkwrightError, Parameter, every_parameter, file_nodes, modelfile

SECTIONS = ("parameters", "drawing", "bodies")  # where sliders write
LINEAR = 1e-9  # of a number's change: it follows the slider linearly


def model(described: Description, sliders: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The file's own text where the model is as the file says, else the model written out."""
    document = described.document
    where = getattr(getattr(document, "root", None), "where", None)
    file = Path(where.file) if where is not None else Path("model")
    overrides = dict(getattr(document, "overrides", {}) or {})
    text = getattr(document, "text", None)  # as it was read: the file may have changed since
    if file.suffix in (".yaml", ".yml") and not overrides and file.is_file() and text is not None:
        text = text.removeprefix(file_nodes.ENCODING)
        unplaced = any(not p["yaml"] for p in sliders)
        return {"text": text, "file": file.name, "places": places(text), "plain": plain(described, sliders) if unplaced else None}
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in described.name) or "model"
    written = plain(described, sliders)
    return {"text": written["text"], "file": f"{name}.yaml", "places": None, "plain": written}


# -------------------------------------------------------------------- spans in the user's file


def places(text: str) -> dict[str, Any] | None:
    """The sections that sliders write into: {at: [start, end], entries} or {at, items} or {at}, `flow` where it is in brackets."""
    root = _composed(text)
    if root is None:
        return None
    count = _counter(text)
    out = _place(root, count)
    out["entries"] = {key: node for key, node in out.get("entries", {}).items() if key in SECTIONS}
    return out


def _composed(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _counter(text: str) -> Any:
    """From characters to UTF-16 units: letters beyond the first plane count twice."""
    wide = [i for i, c in enumerate(text) if ord(c) > 0xFFFF]
    return lambda i: i + sum(w < i for w in wide) if wide else i


def _place(node: Any, count: Any) -> dict[str, Any]:
    import yaml

    out: dict[str, Any] = {
        "at": [count(node.start_mark.index), count(node.end_mark.index)],
        "flow": bool(getattr(node, "flow_style", False)),
    }
    if isinstance(node, yaml.MappingNode):
        out["entries"] = {str(key.value): _place(value, count) for key, value in node.value}
        out["column"] = node.value[0][0].start_mark.column if node.value else 0
    elif isinstance(node, yaml.SequenceNode):
        out["items"] = [_place(value, count) for value in node.value]
    return out


# -------------------------------------------------------------------- the model written out


def plain(described: Description, sliders: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The model written out: {text, edits: {slider: [[start, end, number, slope]]}}; None for a slider that is no number there."""
    try:
        text = modelfile.write(described)
        known = every_parameter(described)
    except LinkwrightError as problem:
        return {"text": f"# {problem}\n", "edits": {}}
    here = _leaves(text)
    return {"text": text, "edits": {p["name"]: _edits(described, here, known[p["name"]], p) for p in sliders}}


def _edits(described: Description, here: Mapping[str, Leaf], known: Parameter, slider: Mapping[str, Any]) -> list[list[float]] | None:
    """Numbers of the written model that change with a slider: their places, their values and slopes."""
    if known.placed is None or known.kind == "mass":
        leaf = here.get(f"/parameters/{known.name}" if known.placed is None else f"/bodies/{known.name.removesuffix('.mass')}/mass")
        return None if leaf is None or leaf.number is None else [[leaf.start, leaf.end, leaf.number, 1.0]]
    step = 0.01 * (abs(known.value) or float(slider["size"]))
    try:
        once, twice = (_leaves(modelfile.write(known.placed(described, k * step))) for k in (1, 2))
    except (LinkwrightError, TypeError):  # there is a formula in place of the number
        return None
    if here.keys() != once.keys() or here.keys() != twice.keys():
        return None
    out = []
    for path, leaf in here.items():
        first, second = once[path], twice[path]
        if leaf.text == first.text == second.text:
            continue
        if leaf.number is None or first.number is None or second.number is None:
            return None
        slope = (first.number - leaf.number) / step
        if abs(second.number - leaf.number - 2.0 * step * slope) > LINEAR * (abs(second.number) + abs(leaf.number)):
            return None
        out.append([leaf.start, leaf.end, leaf.number, round(slope, 9)])
    return out or None


class Leaf(NamedTuple):
    """A scalar of a YAML text."""

    start: int
    end: int
    text: str
    number: float | None


def _number(text: str) -> float | None:
    """Return a number in decimals; None for other notations of YAML (0x1F, 1:30)."""
    try:
        return float(text)
    except ValueError:
        return None


def _leaves(text: str) -> dict[str, Leaf]:
    """Every scalar of a YAML text by its path."""
    count, out = _counter(text), dict[str, Leaf]()
    todo = [("", _composed(text))]
    while todo:
        path, node = todo.pop()
        if node.id == "mapping":
            todo += [(f"{path}/{key.value}", value) for key, value in node.value]
        elif node.id == "sequence":
            todo += [(f"{path}/{i}", value) for i, value in enumerate(node.value)]
        else:
            number = _number(node.value) if node.tag.endswith((":float", ":int")) else None
            out[path] = Leaf(count(node.start_mark.index), count(node.end_mark.index), node.value, number)
    return out
