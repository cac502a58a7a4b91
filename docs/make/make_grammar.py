"""Writes the lines of docs/reference/model-grammar.md on the model and its elements again, from the contracts of the elements.

    python docs/make/make_grammar.py

The text between `<!-- table: name -->` and `<!-- end -->` comes from here; a test compares it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from blocks import renewed  # beside this file

from linkwright import elements
from linkwright.elements import AxesRole, EndsRole, JointRole, Key, Needs, NumberRole, PointRole, TiedRole, Together, TurnsRole
from linkwright.elements.base import table_keys, table_together
from linkwright.model.file.channel_laws import TABLE_KEYS
from linkwright.model.file.drives import ACTUATOR_KEYS, DRIVE_KEYS, DRIVE_TOGETHER
from linkwright.model.file.moves import MOVE_KEYS, MOVE_TOGETHER
from linkwright.model.file.reader import MODEL_KEYS

PAGE = Path(__file__).resolve().parents[1] / "reference" / "model-grammar.md"
WIDTH, INDENT = 96, " " * 14
# names of dimensions that follow from the place of an element
DIMENSIONS = {
    "effort": "torque | force", "travel": "position", "rate": "speed", "effort/travel": "stiffness", "effort/rate": "damping",
    "1/rate": "time per position", "pure number": "number", "second/first": "number", "first travel": "position",
    "second travel": "position", "second/first^i": "number",
}  # fmt: skip
GENERAL = {
    "name": "text", "about": "text", "report": "report", "units": "[unit, ..]", "show": "[unit, ..]", "plane": "xy | xz | yz",
    "space": "true | false", "gravity": "vector of acceleration", "backdrop": "backdrop", "parameters": "(number | parameter)*",
    "let": "expression*", "repeat": "repeat", "drawing": "vector*", "bodies": "body*", "joints": "(joint_entry | chain)*",
    "masses": "point_mass*", "guess": "pose*", "drive": "[joint, ..] | (speed | position | torque | free | drive_entry)*",
    "start": "(position | speed)*", "cuts": "[joint, ..]",
}  # fmt: skip
FORMS = {
    "flag": "true | false", "text": "path", "joint": "joint", "joints": "[joint, joint]", "body": "body", "point": "place",
    "points": "place | [place, place]", "factors": "number*", "moves": "[move, ..]",
}  # fmt: skip
SPAN = "time | angle | length"
MOVE = {"to": "position", "in": SPAN, "law": "law", "dwell": SPAN}
DRIVE = {
    "speed": "varying", "position": "varying", "moves": "[move, ..]", "torque": "varying", "force": "varying", "dc_motor": "motor",
    "undriven": "true", "gear_ratio": "number", "limits": "torque | force | [least, most]",
}  # fmt: skip
TABLE = {"table": "[[x, y], ..]", "x": "[number, ..]", "y": "[number, ..]"}


def model() -> str:
    """Return the rule of the whole file."""
    singular = {section: f"{elements.kinds(section)[0].word}*" for section in elements.SECTIONS}
    return _fenced([_rule("model", _keys({key: GENERAL.get(key) or singular[key] for key in MODEL_KEYS}, ()))])


def parts() -> str:
    """Return the rules of all elements."""
    out = []
    for section in elements.SECTIONS:
        among = elements.kinds(section)
        word = among[0].word
        names = [f"{x.type}_{word}" for x in among] if len(among) > 1 else list(among[0].ways)
        out += [_rule(word, " | ".join(names))] if names else []
        for way, (keys, need, one) in among[0].ways.items():
            forms = {key: "number" if key in one else form for key, form in _forms(among[0]).items()}
            own = filter(None, (rule.within(keys) for rule in elements.together(among[0])))
            out.append(_rule(way, _keys({key: forms[key] for key in keys}, need), own))
        if not among[0].ways:
            named = zip(names or [word], among, strict=True)
            out += [_rule(name, _keys(_typed(x), elements.required(x)), elements.together(x)) for name, x in named]
        out += [_rule(*inner) for x in among for inner in _inner(x.further)]
    return _fenced(list(dict.fromkeys(out)))


def _typed(kind: Any) -> dict[str, str]:
    forms = _forms(kind)
    return ({"type": kind.type} if kind.type else {}) | {key: forms[key] for key in elements.keys(kind)}


def _forms(kind: Any) -> dict[str, str]:
    fields = {elements.key_of(n, r): _field(r) for n, r in elements.roles(kind).items() if n not in kind.hidden}
    return fields | {name: _key(name, key) for name, key in kind.further.items()}


def _field(role: Any) -> str:
    if isinstance(role, NumberRole):
        share = (role.least, role.most) == (0.0, 1.0)
        one = "varying" if role.varies else "0 .. 1" if share else DIMENSIONS.get(role.dimension, role.dimension)
        return {"": one, "along": f"[{one}, ..]" if role.varies else f"{one} | [{one}, ..]", "about": f"{one} | [{one}, ..]"}[role.axes]
    if isinstance(role, EndsRole):
        return "[place, place]"
    if isinstance(role, (JointRole, TiedRole)):
        return "joint | cylinder" if getattr(role, "lines", False) else "joint"
    if isinstance(role, PointRole):
        return "place | body" if role.whole else "place"
    if isinstance(role, AxesRole):
        return "world | body"
    return "[3x3, 3x3]" if isinstance(role, TurnsRole) else " | ".join(role.choices)


def _key(name: str, key: Key) -> str:
    if key.form == "number":
        return "varying" if key.channels else DIMENSIONS.get(key.dimension, key.dimension)
    if key.form == "numbers":
        word = DIMENSIONS.get(key.dimension, key.dimension)
        return f"[{word}, ..]" if key.dimension == "second/first^i" else f"[{word}, {word}]"
    if key.form == "table":
        return TABLE[name]
    if key.form == "word":
        return name if name == "interpolation" else " | ".join(key.choices)
    if key.form == "items":
        return "[pulley, ..]" if name == "around" else "[pulley | place, ..]"
    return name if key.form == "entries" else FORMS[key.form]


def laws() -> str:
    """Return the rules of moves, curves and drives, which elements and drives share."""
    table = table_keys("channel")
    curve = {"over": "channel", **{key: _key(key, table[key]) for key in TABLE_KEYS}}
    drive = {key: DRIVE[key] for key in (*DRIVE_KEYS, *ACTUATOR_KEYS)}
    return _fenced(
        [
            _rule("move", _keys({key: MOVE[key] for key in MOVE_KEYS}, ()), MOVE_TOGETHER),
            _rule("curve", _keys(curve, ("over",)), table_together(needed=True)),
            _rule("drive_entry", _keys(drive, ()), DRIVE_TOGETHER),
        ]
    )


def _inner(keys: Mapping[str, Key]) -> Iterable[tuple[str, str, Iterable[Together]]]:
    """Rules of mappings inside elements."""
    for name, key in keys.items():
        if key.of:
            need = [n for n, x in key.of.items() if x.required]
            yield "pulley" if key.form == "items" else name, _keys({n: _key(n, x) for n, x in key.of.items()}, need), key.together


def _keys(forms: Mapping[str, str], required: Iterable[str]) -> str:
    """Keys in braces."""
    needed = set(required)
    return "{" + _lines([f"{key}{'' if key in needed else '?'}: {form}" for key, form in forms.items()], ",") + "}"


def _lines(pieces: Iterable[str], sign: str) -> str:
    """Pieces with a sign between them, in lines that break between pieces."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1] + piece) + 2 > WIDTH - len(INDENT):
            lines.append("")
        lines[-1] += f"{piece}{sign} "
    return f"\n{INDENT}".join(line.rstrip() for line in lines).removesuffix(sign)


def _rule(name: str, text: str, together: Iterable[Together] = ()) -> str:
    """A rule, below it what its keys have to do with each other."""
    said = _lines(map(_said, together), ";")
    return f"{name:10s} = {text}" + (f"\n{INDENT}with {said}" if said else "")


def _said(rule: Together) -> str:
    if isinstance(rule, Needs):
        return f"{rule.key} needs {' or '.join(rule.others)}"
    sides = " | ".join(", ".join(side) for side in rule.sides)
    return f"{'some of' if len(rule.sides) == 1 else 'one of' if rule.needed else 'at most one of'} {sides}"


def _fenced(rules: list[str]) -> str:
    return "\n".join(["```text", *rules, "```"])


TABLES = {"model": model, "elements": parts, "laws": laws}


def main() -> None:
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), TABLES), encoding="utf-8")


if __name__ == "__main__":
    main()
