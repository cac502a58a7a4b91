"""Writes the tables of docs/reference/model-file.md again: keys from the JSON Schema of the model file, which elements, joints and readers
make, and materials, units, motion laws and interpolations.

    python docs/make/make_model_file.py
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from blocks import renewed, table  # beside this file

import linkwright as lw
from linkwright import elements
from linkwright.joints import JOINTS
from linkwright.model.curves.laws import LAWS
from linkwright.model.file import schema as shapes
from linkwright.model.file.inertia import DENSITIES

PAGE = Path(__file__).resolve().parents[1] / "reference" / "model-file.md"
SCHEMA = lw.schema()
FORMS = {
    "number": "number", "name": "name", "flag": "true", "place": "body.point", "ends": "[body.point, body.point]", "pair": "[name, name]",
    "names": "[name, ..]", "range": "[low, high]", "vector": "[x, y]", "matrix": "3x3", "pose": "{..}", "points": "[name, ..]",
    "varying": "law", "moves": "[{..}, ..]", "curve": "{..}",
}  # fmt: skip
OBJECTS = {  # table -> the way to an object of the schema
    "body": "body", "bar": "body bar", "plate": "body plate", "mesh": "body mesh", "drive": "drive",
    "motor": "drive dc_motor", "curve": "curve", "parameter": "parameters", "report": "report", "backdrop": "backdrop", "pose": "pose",
}  # fmt: skip
LAW = {"moves", "begin", "phase", "table", "x", "y", "csv", "interpolation"}  # keys of couplings and cams, explained once
SPATIAL = tuple(name for name, joint in JOINTS.items() if not joint.in_plane)


def model() -> str:
    """All keys of a file."""
    defs = SCHEMA["$defs"]
    resolved = {key: form if "description" in form else defs[form["$ref"].split("/")[-1]] for key, form in SCHEMA["properties"].items()}
    meanings = {key: form["description"] for key, form in resolved.items()}
    words = {key: f"{elements.kinds(key)[0].word}s by name".replace("frictions by name", "friction by joint") for key in elements.SECTIONS}
    lines = [(f"[`{key}`](#{key})" if key in words else f"`{key}`", words.get(key, first(text))) for key, text in meanings.items()]
    return table(("key", "meaning"), lines)


def first(text: str) -> str:
    """First sentence, with dashes of Markdown tables escaped."""
    return re.split(r"(?<=\w\w)\.\s", text, maxsplit=1)[0].rstrip(".").replace("|", "\\|")


def keys(form: Mapping[str, Any], without: Collection[str] = ()) -> str:
    """Keys of an object, those that are needed first, and the rules between them."""
    needed = form.get("required", [])
    names = [*needed, *(key for key in form["properties"] if key not in needed)]
    lines = []
    for key in names:
        found = form["properties"][key]
        if "const" in found or key in without:
            continue
        text = re.sub(r"^([\w ]+); (?=\1 \()", "", first(found.get("description", "")) or value(found))
        lines.append((f"`{key}: {value(found)}`", f"**required** {text}" if key in needed else text))
    return "\n\n".join([table(("key", "meaning"), lines), *([] if without else rules(form))])


def value(form: Mapping[str, Any]) -> str:
    """How the value of a key is written."""
    if "$ref" in form:
        return FORMS.get(form["$ref"].split("/")[-1], "..")
    if "enum" in form and "material" in form.get("description", ""):
        return "material"
    if "enum" in form:
        return " \\| ".join(dict.fromkeys(str(x) for x in form["enum"]))
    if "anyOf" in form:
        return " \\| ".join(dict.fromkeys(value(x) for x in form["anyOf"]))
    if form.get("type") == "array":
        one = value(form["items"]) if "items" in form else ".."
        size = form.get("maxItems")
        return f"[{', '.join([one] * size)}]" if size and size == form.get("minItems") else f"[{one}, ..]"
    kinds = form.get("type", "boolean")
    return {"string": "text", "boolean": "true", "number": "number"}.get(kinds[0] if isinstance(kinds, list) else kinds, "{..}")


def rules(form: Mapping[str, Any]) -> list[str]:
    """What keys have to do with each other, as a sentence."""
    said = []
    for one in form.get("allOf", [form]):
        if "oneOf" in one:
            sides = [needs(x) for x in one["oneOf"]]
            optional = any("not" in x for x in one["oneOf"])
            said.append(f"Write {'at most' if optional else 'exactly'} one of {' | '.join(x for x in sides if x)}.".replace("|", "or"))
        elif "required" in one and one is not form:
            said.append(f"Write {needs(one)}.")
    said += [f"`{key}` needs {' and '.join(f'`{x}`' for x in others)}." for key, others in form.get("dependentRequired", {}).items()]
    said += [f"`{key}` needs {needs(x)}." for key, x in form.get("dependentSchemas", {}).items()]
    return [" ".join(said)] if said else []


def needs(form: Mapping[str, Any]) -> str:
    if "anyOf" in form:
        return ", ".join(needs(x) for x in form["anyOf"])
    return "" if "not" in form else " and ".join(f"`{x}`" for x in form["required"])


def section(name: str) -> str:
    """Every kind of element of a section."""
    kinds = elements.kinds(name)
    out = []
    for kind in kinds:
        forms = [(way, shapes._way(kind, way)) for way in kind.ways] or [(kind.type, shapes._element(kind))]
        for way, form in forms:
            several = f"**`type: {kind.type}`**" if kind.type else f"**{kind.says or kind.word}**"
            heading = [several] if len(kinds) > 1 else [f"**{way}**"] if kind.ways else []
            out.append("\n\n".join([*heading, keys(form, LAW if set(form["properties"]) >= LAW else ())]))
    return "\n\n".join(out)


def types() -> str:
    """Types of joints with their coordinates."""
    lines = []
    for name, joint in JOINTS.items():
        about = first(" ".join((joint.__doc__ or "").split()))
        lines.append((f"`{name}`", ", ".join(x for x in joint.q_names if x) or "-", "space" if name in SPATIAL else "plane, space", about))
    return table(("type", "coordinates", "in", "meaning"), lines)


def joint() -> str:
    form = SCHEMA["$defs"]["joints"]["patternProperties"][shapes.NAME]["else"]
    return keys({"properties": form["properties"]})


def at(*path: str, without: Collection[str] = ()) -> str:
    """Keys of an object that is reached by these keys."""
    form = SCHEMA["$defs"].get(path[0]) or SCHEMA["properties"][path[0]]
    for step in (*path[1:], None):
        form = form.get("items", form)
        if "patternProperties" in form:
            form = next(iter(form["patternProperties"].values()))
        form = next((x for x in form.get("anyOf", ()) if "properties" in x), form)
        if step is not None:
            form = form["properties"][step]
    return keys(form, without)


def move() -> str:
    return keys(SCHEMA["$defs"]["moves"]["items"])


def laws() -> str:
    """Motion laws with their peaks for a rise of one within a time of one."""
    lines = []
    for name in LAWS:
        peaks = (getattr(lw.drives.law_factors(name), x) for x in ("velocity", "acceleration", "jerk"))
        lines.append((f"`{name}`", *("jumps" if x is None or x > 1e6 else f"{x:.4f}" for x in peaks)))
    return table(("law", "velocity", "acceleration", "jerk"), lines)


def materials() -> str:
    """Materials with their densities."""
    found = [f"`{name}` {density:g}" for name, density in DENSITIES.items() if name != "aluminium"]
    return "\n".join(textwrap.wrap(", ".join(found) + " kg/m³.", 100, break_on_hyphens=False))


TABLES: Mapping[str, Callable[[], str]] = {
    "model": model,
    **{name: partial(section, name) for name in elements.SECTIONS},
    "joint-types": types,
    "joint": joint,
    **{name: partial(at, *path.split()) for name, path in OBJECTS.items()},
    "visual": partial(at, "body", "visuals", without=set(SCHEMA["$defs"]["pose"]["properties"])),
    "move": move,
    "laws": laws,
    "materials": materials,
}


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")


if __name__ == "__main__":
    main()
