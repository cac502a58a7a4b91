"""`write`: a description as a normalized model file, in SI, that reads back to the same description.

Bodies carry their own points, mass, center and inertia; joints their two frames. Expressions of
parameters are preserved. Bare numbers are SI (there is no `units:`); `show:` keeps the units in which
results are shown. The first line of a saved file is a checksum, which shows whether the file was edited since.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from linkwright import elements
from linkwright.elements import (
    AxesRole,
    Belt,
    Cam,
    CamContact,
    ChoiceRole,
    Contact,
    Coupling,
    Cylinder,
    EndsRole,
    Gear,
    NumberRole,
    PointRole,
    Profile,
    Rope,
    Stop,
    Surface,
    TurnsRole,
)
from linkwright.model.coordinates import movable
from linkwright.model.description import (
    EYE3,
    NO_INERTIA,
    ZERO3,
    Body,
    Description,
    Drive,
    Joint,
    Move,
    Placement,
    Point,
    Table,
    Visual,
)
from linkwright.model.file.inertia import is_positive, why_impossible
from linkwright.model.file.visuals import written
from linkwright.model.report_block import TEXTS, ReportBlock
from linkwright.text.expressions import Expr, variable
from linkwright.text.units import UnitSystem

_PLAIN = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.\- +*/^()]*[A-Za-z0-9_.\-+*/^()])?\Z")  # no colon, comma, hash or bracket
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*\Z")


class RawYaml(str):
    """Text that is already YAML."""


def write(description: Description) -> str:
    """The model file of a description; `read` gives the same description back."""
    d = description.with_clearances
    flat = 2 if d.planar else 3
    sections: dict[str, Any] = {"name": d.name}
    if d.about:
        sections["about"] = d.about
    sections["report"] = _report(d.report)
    if d.plane:
        sections["plane"] = d.plane
    if d.units:
        sections["show"] = list(d.units)
    if d.gravity != ZERO3:
        sections["gravity"] = list(d.gravity[:flat])
    sections["parameters"] = {name: _bounded(d, name, x) for name, x in d.parameters}
    sections["drawing"] = {name: list(at[:flat]) for name, at in d.drawing}
    sections["bodies"] = {b.name: _body(b, flat) for b in d.bodies if not b.chain}
    sections["joints"] = _joints(d, flat)
    sections |= {section: {} for section in elements.SECTIONS}
    for x in elements.every(d):
        sections[x.section][x.name] = FORMS[x.form](x) if x.form else _element(x, flat)
    sections["drive"] = {x.joint: _drive(x) for x in d.drives}
    sections["start"] = {channel: list(v) if isinstance(v, tuple) else v for channel, v in d.start}
    sections["guess"] = {b.name: _pose(b.start, flat) for b in d.moving}
    shared = _shared(sections, d)
    if shared:
        items = [(k, v if k == "parameters" else _abbreviate(v, shared)) for k, v in sections.items()]
        position = [k for k, _ in items].index("parameters") + 1
        named = {name: RawYaml(_quoted(text)) for name, text in shared.values()}
        sections = dict([*items[:position], ("let", named), *items[position:]])
    lines: list[str] = []
    for key, value in sections.items():
        if value not in ({}, None):
            lines.extend(_section(key, value))
    if d.cuts is not None:
        lines.append(f"cuts: {_flow(list(d.cuts))}")
    return "\n".join(lines) + "\n"


def _report(block: ReportBlock) -> dict[str, Any]:
    texts = {name: getattr(block, name) for name in TEXTS if getattr(block, name)}
    return {**texts, **({"curves": list(block.curves)} if block.curves else {})}


def with_meshes_from(d: Description, folder: Path) -> Description:
    """The description with paths of meshes that are relative to another folder."""
    base = Path() if d.document is None else d.document.base
    if base is None or not any(v.file for b in d.bodies for v in b.visuals):
        return d

    def moved(v: Visual) -> Visual:
        if not v.file or os.path.isabs(v.file):
            return v
        try:
            return replace(v, file=Path(os.path.relpath(base / v.file, folder)).as_posix())
        except ValueError:  # another drive of Windows
            return replace(v, file=(base / v.file).resolve().as_posix())

    return replace(d, bodies=tuple(replace(b, visuals=tuple(map(moved, b.visuals))) for b in d.bodies))


# ---------------------------------------------------------------- expressions too long to print


def _expressions(value: Any) -> Iterator[Expr]:
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for entry in value.values() if isinstance(value, dict) else value:
            if entry.__class__ is not float and entry.__class__ is not str:  # most of a file: no generator for each
                yield from _expressions(entry)


def _shared(sections: dict[str, Any], d: Description) -> dict[Expr, tuple[str, str]]:
    """Parts that several long expressions have in common: expression -> (name, text), inner ones first.

    Printing a shared part everywhere would make some texts grow without bound, so it gets a name
    under `let:`. Short expressions are left as they are.
    """
    roots = list(_expressions({k: v for k, v in sections.items() if k != "parameters"}))
    size: dict[Expr, int] = {}
    uses: Counter[Expr] = Counter()
    order: list[Expr] = []
    for root in roots:
        _visit(root, size, uses, order)
    long = 200  # nodes of an expression that is printed in one piece
    if all(size[r] <= long for r in roots):
        return {}
    taken = {*dict(d.parameters), *movable(d), *(b.name for b in d.bodies)}
    prefix = "_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    shared: dict[Expr, tuple[str, str]] = {}
    for node in order:
        if uses[node] > 1 and size[node] > 4:
            shared[node] = (f"{prefix}{len(shared) + 1}", str(_replaced(node, shared, top=True)))
    return shared


def _visit(node: Expr, size: dict[Expr, int], uses: Counter[Expr], order: list[Expr]) -> None:
    """Count how often each part is used, and its size as a tree; parts before wholes."""
    uses[node] += 1
    if node in size:
        return
    total = 1
    for arg in node.args:
        if isinstance(arg, Expr):
            _visit(arg, size, uses, order)
            total += size[arg]
    size[node] = total
    order.append(node)


def _replaced(node: Any, shared: dict[Expr, tuple[str, str]], top: bool = False) -> Any:
    if not isinstance(node, Expr) or node.op == "var":
        return node
    if not top and node in shared:
        return variable(shared[node][0])
    return Expr(node.op, tuple(_replaced(a, shared) for a in node.args))


def _abbreviate(value: Any, shared: dict[Expr, tuple[str, str]]) -> Any:
    if isinstance(value, Expr):
        return _replaced(value, shared)
    if isinstance(value, dict):
        return {k: _abbreviate(v, shared) for k, v in value.items()}
    return [_abbreviate(v, shared) for v in value] if isinstance(value, (list, tuple)) else value


# ---------------------------------------------------------------- YAML text


def _section(key: str, value: Any) -> list[str]:
    """One line a named thing, the rest in flow style."""
    if isinstance(value, dict):
        return [f"{key}:", *(f"  {_key(name)}: {_flow(entry)}" for name, entry in value.items())]
    return [f"{key}: {_flow(value)}"]


def _flow(value: Any) -> str:
    if value.__class__ is float:
        return repr(value + 0.0)  # no negative zeros
    if isinstance(value, RawYaml):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(float(value) + 0.0)  # no negative zeros
    text = str(value)
    return text if _PLAIN.match(text) else _quoted(text)


def _key(text: str) -> str:
    return text if _PLAIN_KEY.match(text) else _quoted(text)


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar. What is not printable is escaped: YAML refuses control characters, and takes U+0085, U+2028
    and U+2029 for line breaks."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else _escape(c) for c in text) + '"'


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\{c}" if c in '"\\' else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _bounded(d: Description, name: str, value: Any) -> Any:
    """A parameter, with its bounds where it has some."""
    ends = next(((low, high) for n, low, high in d.bounds if n == name), (None, None))
    found = {key: x for key, x in zip(("min", "max"), ends, strict=True) if x is not None}
    return {"value": value, **found} if found else value


def _ends(between: Any) -> list[str]:
    return [f"{body}.{point}" for body, point in between]


def _vector(at: Any, flat: int) -> list[Any]:
    """Two components in a plane; the third is written only where it is not zero."""
    return list(at[:flat]) if not isinstance(at[2], Expr) and at[2] == 0.0 else list(at)


def _placement(placement: Placement, flat: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if placement.at != ZERO3:
        out["at"] = _vector(placement.at, flat)
    if placement.rotation != EYE3:
        out["rotation"] = [list(row) for row in placement.rotation]
    return out


def _pose(placement: Placement, flat: int) -> dict[str, Any]:
    """Both parts, also when they are nothing: the drawing would say otherwise."""
    return {"at": _vector(placement.at, flat), "rotation": [list(row) for row in placement.rotation]}


def _varying(value: Any) -> Any:
    if isinstance(value, Table):
        how = {} if value.interpolation == Table.interpolation else {"interpolation": value.interpolation}
        return {"over": value.channel, "table": [list(row) for row in zip(value.x, value.y, strict=True)], **how}
    return value


# ---------------------------------------------------------------- one function a kind of thing


def _point(point: Point, flat: int) -> Any:
    if point.rotation == EYE3:
        return _vector(point.at, flat)
    return {"at": _vector(point.at, flat), "rotation": [list(row) for row in point.rotation]}


def _body(body: Body, flat: int) -> dict[str, Any]:
    out: dict[str, Any] = {"points": {p.name: _point(p, flat) for p in body.points}}
    if body.outline:
        out["outline"] = [list(line) for line in body.outline]
    if body.mass is not None:
        out["mass"] = body.mass
        out["com"] = _vector(body.com, flat)
        I = body.inertia
        diagonal = all(I[i][j] == 0.0 for i in range(3) for j in range(3) if i != j)
        out["inertia"] = [I[i][i] for i in range(3)] if diagonal else [list(row) for row in I]
        if NO_INERTIA == I:
            out["inertia"] = [0.0, 0.0, 0.0]
        numeric = not any(isinstance(x, Expr) for row in I for x in row)
        if flat == 3 and numeric and is_positive(I) and why_impossible(I, False, UnitSystem([])):
            out["physical"] = False
    if body.visuals:
        out["visuals"] = [written(v) for v in body.visuals]
    return out


def _joints(d: Description, flat: int) -> dict[str, Any]:
    """Joints by name; those of a chain together, from its first to its second body."""
    links = {b.name: b for b in d.bodies if b.chain}
    out: dict[str, Any] = {}
    for j in d.joints:
        carried, carrier = links.get(j.second), links.get(j.first)
        link = carried or carrier
        if link is None:
            out[j.name] = _joint(j, flat)
            continue
        chain = out.setdefault(link.chain, {"between": [j.first, j.second], "chain": {}})
        chain["between"][1] = j.second
        piece = {k: x for k, x in _joint(j, flat).items() if k != "between"}
        chain["chain"][j.name] = piece if carried is None else {**piece, "guess": _pose(carried.start, flat)}
    return out


def _joint(joint: Joint, flat: int) -> dict[str, Any]:
    out: dict[str, Any] = {"type": joint.type, "between": [joint.first, joint.second]}
    if joint.pin:
        out["pin"] = joint.pin
    out.update(dict(joint.options))
    if isinstance(joint.armature, Expr) or joint.armature != 0.0:
        out["armature"] = joint.armature
    out["frames"] = [_placement(joint.frame_first, flat), _placement(joint.frame_second, flat)]
    return out


def _given(x: Any, *names: str) -> dict[str, Any]:
    """Numbers of an element that are not what they are when they are left out."""
    own = ((name, getattr(x, name)) for name in names)
    return {name: value for name, value in own if isinstance(value, Expr) or value != getattr(type(x), name)}


def _coupling(c: Coupling) -> dict[str, Any]:
    out: dict[str, Any] = {"from": c.first, "to": c.second, **_given(c, "play", "restitution")}
    if c.plus:
        out["plus"] = dict(c.plus)
    if c.table is not None:
        return {**out, **{k: x for k, x in _varying(c.table).items() if k != "over"}}
    if c.polynomial:
        return {**out, "polynomial": list(c.polynomial)}
    if c.moves:
        return {**out, "moves": _moves(c.moves), "begin": c.begin, "phase": c.phase}
    out["ratio"] = c.ratio
    return out if c.offset is None else {**out, "offset": c.offset}


def _cam(c: Cam) -> dict[str, Any]:
    assert c.cam is not None
    return {**_coupling(c), **_contact(c.cam), **({"lift_off": True} if c.lift_off else {})}


def _contact(cam: CamContact) -> dict[str, Any]:
    body, point = cam.point
    if cam.flat:
        out: dict[str, Any] = {"flat": [f"{body}.{point}", f"{body}.{cam.face}"] if cam.face else f"{body}.{point}"}
    else:
        out = {"roller": {"at": f"{body}.{point}", "radius": cam.radius}}
    out |= {} if cam.base is None else {"base": cam.base}
    return {**out, "groove": True} if cam.groove else out


def _gear(g: Gear) -> dict[str, Any]:
    free = _given(g, "play", "restitution")
    if g.rack:
        return {"pinion": g.first, "rack": g.second, "radius": g.radius_first, "pressure_angle": g.pressure_angle, **free}
    radii = [g.radius_first, g.radius_second]
    return {"joints": [g.first, g.second], "radii": radii, "internal": g.internal, "pressure_angle": g.pressure_angle, **free}


@cache
def _steps(kind: Any) -> tuple[tuple[str, str, Any, bool], ...]:
    """(field, key, role, whether it is a single number) of every role of a kind, in the order of writing."""
    pairs = elements.roles(kind).items()
    return tuple((n, elements.key_of(n, r), r, isinstance(r, NumberRole) and not r.axes) for n, r in pairs)


def _element(x: Any, flat: int) -> dict[str, Any]:
    """An element of `linkwright.elements`: its type, where it acts, its numbers."""
    out: dict[str, Any] = {"type": x.type} if x.type else {}
    for field, key, role, single in _steps(type(x)):
        value = getattr(x, field)
        if single:
            if value is not None and not (role.absent and value == getattr(type(x), field)):
                out[key] = value
        elif isinstance(role, EndsRole):
            if value:
                out[key] = _ends(value)
        elif isinstance(role, NumberRole):
            if value is not None and value != ZERO3:
                out[key] = _of_axes(value, role.axes, flat)
        elif isinstance(role, TurnsRole):
            out[key] = [[list(row) for row in R] for R in value]
        elif isinstance(role, PointRole):
            out[key] = f"{value}.{x.point}"
        elif isinstance(role, AxesRole):
            out |= {} if value == "world" else {key: value}
        elif isinstance(role, ChoiceRole):
            out |= {} if value == role.choices[0] else {key: value}
        elif value:
            out[key] = value
    if x.some_of and not any(key in out for key in x.some_of):
        out[x.some_of[0]] = [0.0] * flat
    return out


def _of_axes(value: Any, axes: str, flat: int) -> Any:
    return _varying(value[2]) if flat == 2 and axes == "about" else [_varying(v) for v in value[:flat]]


def _stop(stop: Stop) -> dict[str, Any]:
    ends = {k: x for k, x in (("min", stop.lower), ("max", stop.upper)) if x is not None}
    if stop.stiffness is None:
        return {"joint": stop.joint, **ends, "restitution": stop.restitution}
    return {"joint": stop.joint, **ends, "stiffness": stop.stiffness, "damping": stop.damping}


def _belt(b: Belt) -> dict[str, Any]:
    places: list[Any] = []
    for i, (p, radius) in enumerate(zip(b.pulleys, b.radii, strict=True)):
        at = f"{p.body}.{p.point}"
        own = {"joint": p.joint, "body": p.body} if p.joint else {"at": at}
        turn = {"turn": "ccw" if p.turn > 0.0 else "cw"} if p.turn else {}
        end = not b.closed and i in (0, len(b.pulleys) - 1)
        places.append(at if end and not p.turn else {**own, "radius": radius, **turn})
    given = {k: x for k, x in (("pretension", b.pretension), ("pitch", b.pitch), ("length", b.length)) if x is not None}
    return {"around" if b.closed else "path": places, **given, **({"slack": True} if b.slack else {}), **_given(b, "restitution")}


def _cylinder(c: Cylinder) -> dict[str, Any]:
    diameters = {k: x for k, x in (("bore", c.bore), ("rod", c.rod)) if x is not None}
    return {"between": _ends(c.between), "force": _varying(c.force), **diameters}


def _surface(x: Surface) -> dict[str, Any]:
    places = [f"{x.body}.{point}" for point in x.points]
    numbers = _element(x, 2 if x.lives[0] else 3)
    numbers.pop("type")
    rows = {"table": [list(row) for row in zip(x.angles, x.radii, strict=True)]} if isinstance(x, Profile) else {}
    return {x.type: places[0] if x.least == 1 else places, **numbers, **rows}


def _touching(x: Contact) -> dict[str, Any]:
    return {"between": [_names(x.first), _names(x.second)], **_element(x, 2)}


def _names(side: Sequence[str]) -> Any:
    return side[0] if len(side) == 1 else list(side)


def _rope(x: Rope) -> dict[str, Any]:
    return {"between": _ends(x.between), "length": x.length, "slack": True, **_given(x, "restitution")}


# `form` of an element -> how it is written
FORMS: dict[str, Any] = {
    "belt": _belt,
    "cam": _cam,
    "clearance": lambda x: _element(x, 2),
    "contact": _touching,
    "coupling": _coupling,
    "cylinder": _cylinder,
    "gear": _gear,
    "rope": _rope,
    "stop": _stop,
    "surface": _surface,
}


def _moves(moves: Sequence[Move]) -> list[dict[str, Any]]:
    return [{"dwell": m.span} if m.to is None else {"to": m.to, "in": m.span, "law": m.law} for m in moves]


def _drive(drive: Drive) -> Any:
    ends = ["none" if x is None else x for x in drive.limits]
    acting = {} if not isinstance(drive.gear_ratio, Expr) and drive.gear_ratio == 1.0 else {"gear_ratio": drive.gear_ratio}
    acting |= {} if drive.limits == (None, None) else {"limits": ends}
    if drive.kind == "undriven":
        return acting or RawYaml("undriven")
    if drive.kind == "dc_motor":
        fed = {} if not isinstance(drive.value, (Expr, Table)) and drive.value == 0.0 else {"voltage": _varying(drive.value)}
        return {"dc_motor": {**dict(drive.motor), **fed}}
    if drive.kind == "moves":
        return {"moves": _moves(drive.moves)}
    return {drive.kind: _varying(drive.value), **acting}
