"""Sliders of a page: named parameters, masses, and where no length has a name, joint points.

A name for a length may have no unit of its own (`crank: 100` in a file in mm): it counts as one if it moves a joint's point.

A named parameter gets a slider if putting its value into the kernels does the same as reading the file again with it: counts of
`repeat`, values of the drives and the start, and names that are used nowhere are left out. For "copy changed values" every slider
has the place of its number in the model file (`yaml`), and what must be written along so that nothing else changes (`keeps`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import (
    ANGLE,
    KINDS,
    LENGTH,
    NONE,
    SAME_NUMBER,
    Body,
    Description,
    Expr,
    LinkwrightError,
    Parameter,
    Source,
    System,
    UsageError,
    compiled_of,
    display_unit,
    elements,
    every_parameter,
    expressions,
    listing,
    modelfile,
    parameters,
    trace_graph,
    unit_kinds,
    written_values,
)
from linkwright.kernels import export
from linkwright.model.file.overrides import dimension

MOST_MASSES, MOST_POINTS = 12, 14
LOW, HIGH = 0.5, 1.6  # shares of the value between which a slider moves it
SWING = np.pi / 6.0  # and an angle, to both sides
POSITIVE = ("mass", "inertia", "density", "stiffness", "torsional stiffness", "damping", "torsional damping")  # kinds without a sign
# of no concern to the kernels
OTHERWISE = ("start", "start_places", "drawing", "parameters", "bounds", "document", "where", "warnings", "outline")
PROGRAM = ("drives",)  # what Python decides before the page exists


def sliders(system: System, *, drawn: bool = False) -> list[dict[str, Any]]:
    """All sliders of a page, in the order of the parameters of its kernels. `drawn`: followed by every pin of the drawing and the mass
    properties of all bodies, without a place on the page (`hidden`): an editor changes them."""
    described, d = compiled_of(system).described, system.description
    known = every_parameter(described)
    named = _named(system, known)
    out = named + [_mass(described, known[f"{b.name}.mass"], b) for b in _weighed(described, d)]
    if drawn:
        out += [_hidden(described, known[n]) for n in _editable(described, known) if n not in {p["name"] for p in out}]
    elif not any(p["kind"] == "length" for p in named):
        out += _points(system, known)
    return out if _traceable(system, out) else [p for p in out if _traceable(system, [p])]


def _editable(described: Description, known: Mapping[str, Parameter]) -> list[str]:
    """Numbers that an editor of the drawing changes: pins, own lengths of bars, and what bodies weigh."""
    own = {
        f"{b.name}{modelfile.LINK}"
        for b in described.bodies
        if written_values.inside(written_values.root(described), "bodies", b.name, "along") is not None
    }
    pins = [n for n, p in known.items() if p.drawn and (n in own or not n.endswith(modelfile.LINK))]
    weighed = [b.name for b in described.bodies[1:] if b.mass is not None]
    inertial = [f"{b}.{k}" for b in weighed for k in ("mass", "inertia")]
    return pins + [n for n in inertial if n in known]


def _hidden(described: Description, p: Parameter) -> dict[str, Any]:
    symbol, size = unit_of_number(described, p)
    entry = {"name": p.name, "label": p.name, "kind": p.kind, "value": p.value, "low": p.value - p.size, "high": p.value + p.size}
    what = "drawn" if p.drawn else "mass"
    return {**entry, "positive": False, "symbol": symbol, "size": size, "what": what, "yaml": None, "keeps": [], "hidden": True}


def fingerprint(d: Description) -> dict[str, Any]:
    """Everything that kernels, cycle and start of a model without expressions depend on, by path."""
    found = {**_numbers(d), **{f"start.{n}": repr(x) for n, x in d.start}}
    return {k: x for k, x in found.items() if not (d.planar and ".inertia." in k and not k.endswith(".2.2"))}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if two fingerprints mean the same kernels, cycle and start."""
    return one.keys() == other.keys() and all(_close(x, other[k]) for k, x in one.items())


def between(
    system: System, ends: Mapping[str, float], bounds: Mapping[str, tuple[float | None, float | None]], was: str
) -> list[dict[str, Any]]:
    """Sliders of these numbers, whichever of the model they are, from the values of the model to `ends` and some way beyond, at most to
    their bounds; `was` is what the values of the model are called. Raise UsageError for those that the page cannot move."""
    described, own = compiled_of(system).described, {p["name"]: p for p in sliders(system)}
    known, out = every_parameter(described), []
    beyond = 0.5  # of the way between two designs, to both sides
    smallest = 0.01  # of a length or mass
    for name, end in ends.items():
        p = known[name]
        symbol, size = unit_of_number(described, p)
        low, high = sorted((p.value, end))
        margin = beyond * (high - low) or 0.5 * abs(p.value) or p.size
        limits = bounds.get(name, (None, None))
        low, high = (
            x if limit is None else pick(x, limit) for x, limit, pick in zip((low - margin, high + margin), limits, (max, min), strict=True)
        )
        positive = p.kind in POSITIVE or name.endswith(".length")
        entry: dict[str, Any] = {"name": name, "label": name, "kind": p.kind, "value": p.value, "symbol": symbol, "size": size}
        entry |= {"what": "named", "positive": positive and p.value > 0.0, "yaml": None, "keeps": []}
        entry |= {k: own[name][k] for k in ("label", "kind", "symbol", "size", "what", "yaml", "keeps", "positive") if name in own}
        if p.drawn:
            entry |= dict(zip(("yaml", "keeps"), _pin_yaml(described, name), strict=True))
        elif entry["keeps"] and any(known[n].drawn for n in ends):
            entry |= {"yaml": None, "keeps": []}  # what would be written along with it changes with the drawing
        out.append({**entry, "low": max(low, smallest * p.value) if entry["positive"] else low, "high": high, "was": was})
    if not _traceable(system, out):
        locked = [p["name"] for p in out if not _traceable(system, [p])]
        raise UsageError(f"the page cannot move {listing(locked or list(ends))}: wheels or tables are decided before it is written.")
    return out


def _pin_yaml(described: Description, name: str) -> tuple[list[Any] | None, list[Any]]:
    """Place of a pin's coordinate in the drawing, and all of them to be written together; None of a length, or one made by `repeat`."""
    pin, _, axis = name.rpartition(".")
    node, axes = written_values.inside(written_values.root(described), "drawing", pin), described.plane or "xyz"
    if node is None or node.items is None or axis not in axes:
        return None, []
    symbol, size = _shown(described, "length")
    both = [f"{x / size + 0.0:.12g} {symbol}" for x in dict(described.drawing)[pin][: len(axes)]]
    return ["drawing", pin, axes.index(axis)], [[["drawing", pin], both]]


def unit_of_number(described: Description, p: Parameter) -> tuple[str, float]:
    """Symbol and size of the unit in which a number is shown."""
    if p.name in dict(described.parameters):
        symbol, per_si = display_unit(described.units, written_values.parameter_dimension(described, p.name))
    else:
        symbol, per_si = display_unit(described.units, dimension(described.numbers(), p.name, p))
    return symbol, 1.0 / per_si


def _traceable(system: System, chosen: list[dict[str, Any]]) -> bool:
    """True if the equations can be written with these numbers left open; the distance of two gears, for one, is decided beforehand."""
    if _part_wheels(system, [p["name"] for p in chosen]):
        return False
    try:
        kernels = export.chosen(system.kernels, [p["name"] for p in chosen])
        return bool(kernels.equations(trace_graph.TraceGraph().input("parameters", len(chosen))))
    except trace_graph.TracingError:
        return False


def _part_wheels(system: System, names: Sequence[str]) -> bool:
    """True if wheels in mesh no longer touch with another value of one of these numbers."""
    described = compiled_of(system).described
    if not any(x.touching for x in elements.every(described)):
        return False
    known = every_parameter(described)
    try:
        for name in names:
            System(known[name].stepped(0.01 * known[name].size), system.tree.cuts)
    except LinkwrightError:
        return True
    return False


# -------------------------------------------------------------------- named parameters


def _named(system: System, known: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    described = compiled_of(system).described
    used = _used(described)
    plain = {name: float(x) for name, x in described.parameters if not isinstance(x, Expr) and name in used}
    here = _numbers(system.description)
    if not _acts_alike(described, here, plain):
        plain = {name: x for name, x in plain.items() if _acts_alike(described, here, {name: x})}
    out = []
    for name in plain:
        dimension = written_values.parameter_dimension(described, name)
        kind = next((k for k, x in KINDS.items() if x == dimension), "")
        if dimension == NONE and _shapes(system, name, known[name].value):
            kind = "length"  # its number stays as written: a unit in its place might not fit where it is used
        symbol, per_si = display_unit(described.units, dimension)
        low, high = _range(known[name].value, dimension, compiled_of(system).loops.kappa)
        ends = next((x[1:] for x in described.bounds if x[0] == name), (None, None))
        low, high = (end if own is None else own for end, own in zip((low, high), ends, strict=True))
        if low < high:
            path = written_values.parameter_path(described, name)
            entry = {"name": name, "label": name, "kind": kind, "value": known[name].value, "low": low, "high": high}
            positive = kind in POSITIVE or (kind == "length" and _is_distance(system, name, known[name].value))
            entry["positive"] = positive and known[name].value > 0.0
            out.append({**entry, "symbol": symbol, "size": 1.0 / per_si, "what": "named", "yaml": path, "keeps": []})
    return out


def _shapes(system: System, name: str, value: float) -> bool:
    """True if a number without a unit moves the point of a joint in one of its bodies: a dimension, whatever it is in."""
    try:
        here, there = _joint_points(system.description), _joint_points(compiled_of(system).described.numbers({name: 1.01 * value}))
    except LinkwrightError:
        return False
    return bool(np.abs(there - here).max(initial=0.0) > SAME_NUMBER * compiled_of(system).loops.kappa)


def _is_distance(system: System, name: str, value: float) -> bool:
    """True if the opposite sign only rotates moving links: a length between pins, not a coordinate or an offset, which mirrors them."""
    try:
        here, there = system.description, compiled_of(system).described.numbers({name: -value})
    except LinkwrightError:
        return True  # with this sign there is no mechanism
    small = SAME_NUMBER * compiled_of(system).loops.kappa
    if all(np.abs(_places(there, b.name) - _places(here, b.name)).max() < small for b in here.bodies):
        return True  # the length of a spring, or a radius
    links = [(_places(here, b.name, True), _places(there, b.name, True)) for b in here.bodies[1:]]
    return any(np.abs(q - p).max(initial=0.0) > small for p, q in links) and all(_misfit(p, q) < small for p, q in links)


def _places(d: Description, body: str, joined: bool = False) -> np.ndarray:
    """Points of a body at its joints, or all of them and the center of mass; two coordinates in a plane."""
    b = d.body(body)
    out = [] if joined else [b.com, *(p.at for p in b.points)]
    out += [(j.frame_first if j.first == body else j.frame_second).at for j in d.joints if body in (j.first, j.second)]
    return np.array(out, dtype=float).reshape(-1, 3)[:, : 2 if d.planar else 3]


def _misfit(p: np.ndarray, q: np.ndarray) -> float:
    """The largest distance of points p, moved and rotated (not mirrored) to fit best, from q."""
    if not len(p):
        return 0.0
    p, q = p - p.mean(axis=0), q - q.mean(axis=0)
    left, _, right = np.linalg.svd(p.T @ q)
    left[:, -1] *= np.sign(np.linalg.det(left @ right))
    return float(np.abs(q - p @ left @ right).max())


def _joint_points(d: Description) -> np.ndarray:
    return np.array([[*j.frame_first.at, *j.frame_second.at] for j in d.joints], dtype=float)


def _used(described: Description) -> set[str]:
    """Names of parameters that some parameter of the model depends on, also through other parameters."""
    found = set().union(*(expressions.free_variables(x) for x in _expressions(replace(described, parameters=(), drives=(), start=()))))
    written = dict(described.parameters)
    todo = [n for n in found if n in written]
    while todo:
        more = expressions.free_variables(written[todo.pop()]) - found
        found |= more
        todo += more
    return found


def _expressions(value: Any) -> Iterator[Expr]:
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for x in value:
            yield from _expressions(x)
    elif is_dataclass(value) and not isinstance(value, (type, Source)):
        for f in fields(value):
            if f.name not in OTHERWISE:
                yield from _expressions(getattr(value, f.name))


def _range(value: float, dimension: Any, kappa: float) -> tuple[float, float]:
    if dimension == ANGLE:
        return value - SWING, value + SWING
    if dimension == unit_kinds.ACCELERATION:
        return (min(0.0, 2.0 * value), max(0.0, 2.0 * value)) if value else (-20.0, 20.0)
    if value == 0.0:
        return (-0.3 * kappa, 0.3 * kappa) if dimension == LENGTH else (0.0, 0.0)
    low, high = sorted((LOW * value, HIGH * value))
    return low, high


def _acts_alike(described: Description, here: Mapping[str, Any], values: Mapping[str, float]) -> bool:
    """True if other values put into the kernels are the same mechanism as the file read with them, its drives as they are."""
    other = {name: (1.01 + 0.001 * i) * x if x else 0.01 for i, (name, x) in enumerate(values.items())}
    try:
        again = _numbers(modelfile.reread(described, **other).numbers())
        put_in = _numbers(described.numbers(other))
    except LinkwrightError:
        return False
    fixed = [k for k in here if k.split(".")[0] in PROGRAM]
    same = again.keys() == put_in.keys() and all(_close(again[k], put_in[k]) for k in again)
    return same and all(k in again and _close(again[k], here[k]) for k in fixed)


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= SAME_NUMBER * max(1.0, abs(a), abs(b))
    return a == b


def _numbers(value: Any) -> dict[str, Any]:
    """Everything in a description that the kernels may read, by its path."""
    return dict(_walked(value, ""))


def _walked(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value) and not isinstance(value, (type, Source)):
        for f in fields(value):
            if f.name not in OTHERWISE:
                yield from _walked(getattr(value, f.name), f"{path}.{f.name}" if path else f.name)
    elif isinstance(value, tuple):
        for i, x in enumerate(value):
            yield from _walked(x, f"{path}.{i}")
    else:
        yield path, float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


# -------------------------------------------------------------------- masses and points


def _weighed(described: Description, d: Description) -> list[Body]:
    """Bodies with a mass of their own that no parameter decides, the heaviest first if there are too many."""
    plain = {b.name for b in described.bodies if isinstance(b.mass, float)}
    found = [b for b in d.bodies[1:] if b.name in plain and b.mass]
    heaviest = sorted(found, key=lambda b: -float(b.mass or 0.0))[:MOST_MASSES]
    return [b for b in found if b in heaviest]


def _shown(described: Description, kind: str) -> tuple[str, float]:
    symbol, per_si = display_unit(described.units, KINDS[kind])
    return symbol, 1.0 / per_si


def _mass(described: Description, p: Parameter, body: Body) -> dict[str, Any]:
    symbol, size = _shown(described, "mass")
    entry = written_values.inside(written_values.root(described), "bodies", body.name)
    written = (
        entry is not None
        and written_values.inside(entry, "mass") is not None
        and written_values.inside(written_values.root(described), "masses") is None
    )
    written = written and not any(True for _ in _expressions(described.body(body.name).inertia))  # it follows another slider
    keeps = [] if written_values.inside(entry, "inertia") is not None else [[["bodies", body.name, "inertia"], _inertia(described, body)]]
    return {
        "name": p.name,
        "label": f"mass of {body.name}",
        "kind": "mass",
        "value": p.value,
        "low": LOW * p.value,
        "high": HIGH * p.value,
        "symbol": symbol,
        "size": size,
        "positive": True,
        "what": "mass",
        "yaml": ["bodies", body.name, "mass"] if written else None,
        "keeps": keeps if written else [],
    }


def _station(described: Description, body: str, point: str) -> float:
    """Position of a point on a bar as written; nan if that is no plain number."""
    node = written_values.inside(written_values.root(described), "bodies", body, "along", point)
    try:
        return float(node.text or "nan") if node is not None else float("nan")
    except ValueError:
        return float("nan")


def _inertia(described: Description, body: Body) -> Any:
    """As a file may say it: about the center of mass, in the body's axes, with its unit."""
    symbol, size = _shown(described, "inertia")

    def said(x: float) -> str:
        return f"{float(x) / size + 0.0:.12g} {symbol}"

    if described.planar:
        return said(body.inertia[2][2])
    return {key: said(body.inertia[i][j]) for key, (i, j) in parameters.PAIRS.items() if body.inertia[i][j] or i == j}


def _points(system: System, known: Mapping[str, Parameter]) -> list[dict[str, Any]]:
    """Own coordinates of joint points, those that are not zero and may change by themselves: for a bar its length."""
    described, d = compiled_of(system).described, system.description
    symbol, size = _shown(described, "length")
    out = []
    for body in d.bodies:
        eyes = [p.name for p in body.points]
        for eye, axis in ((e, a) for e in eyes for a in d.plane or "xyz"):
            p = known.get(f"{body.name}.{eye}.{axis}")
            if p is None or not p.by_default or abs(p.value) < 1e-9 * p.size or len(out) >= MOST_POINTS or not _closes(system, p):
                continue
            i = (d.plane or "xyz").index(axis)
            path, keeps = _point_yaml(described, body, eye, i)
            low, high = sorted((p.value - 0.5 * abs(p.value), p.value + 0.6 * abs(p.value)))
            label = _label(body, eye, axis, d)
            entry = {"name": p.name, "label": label, "kind": "length", "value": p.value, "low": low, "high": high}
            entry["positive"] = label != p.name and p.value > 0.0  # the length of a bar, not a coordinate
            out.append({**entry, "symbol": symbol, "size": size, "what": "point", "yaml": path, "keeps": keeps})
    return out


def _closes(system: System, p: Parameter) -> bool:
    """True if the loops still close and move with another value: where rows are redundant one length alone may lock them."""
    if system.kernels.plan.keep is None:
        return True
    try:
        return System(p.stepped(0.01 * p.size), system.tree.cuts).mobility.freedoms == system.mobility.freedoms
    except LinkwrightError:
        return False


def _label(body: Body, eye: str, axis: str, d: Description) -> str:
    """`crank A-B` for the length of a bar from its origin, else the coordinate by name."""
    first = body.points[0]
    at = body.point(eye).at
    bar = body is not d.bodies[0] and axis == (d.plane or "xyz")[0] and not any(first.at) and not any(at[1:])
    return f"{body.name} {first.name}-{eye}" if bar else f"{body.name}.{eye}.{axis}"


def _point_yaml(described: Description, body: Body, eye: str, i: int) -> tuple[list[Any] | None, list[Any]]:
    """Place of the coordinate in the file once the body's shape is written in its own coordinates."""
    entry = written_values.inside(written_values.root(described), "bodies", body.name)
    listed = written_values.inside(entry, "points")
    ways = [k for k in ("sides", "bars", "bar", "plate", "mesh") if written_values.inside(entry, k) is not None]
    follows = any(True for _ in _expressions(described.body(body.name)))  # something of it follows another slider
    if entry is None or ways or follows or written_values.inside(written_values.root(described), "masses") is not None:
        return None, []
    count = 2 if described.planar else 3
    symbol, size = _shown(described, "length")

    def said(at: Any) -> list[str]:
        return [f"{float(x) / size + 0.0:.12g} {symbol}" for x in at[:count]]

    path: list[Any] = ["bodies", body.name, "points"]
    place: list[Any]
    keeps: list[Any]
    own = listed is not None and listed.entries is not None
    if written_values.inside(entry, "along", eye) is not None:
        if any(body.points[0].at) or float(_station(described, body.name, body.points[0].name)) != 0.0:
            return None, []
        place, keeps = ["bodies", body.name, "along", eye], []
        own = True
    elif own:
        written = written_values.inside(listed, eye)
        if written is None:
            return None, []
        place = [*path, eye, "at", i] if written.entries is not None else [*path, eye, i]
        keeps = [[place[:-1], said(body.point(eye).at)]]
    else:
        place, keeps = [*path, eye, i], [[path, {p.name: said(p.at) for p in body.points}]]
    if body.mass is not None:
        if not own or written_values.inside(entry, "com") is None:
            keeps.append([["bodies", body.name, "com"], said(body.com)])
        if written_values.inside(entry, "inertia") is None:
            keeps.append([["bodies", body.name, "inertia"], _inertia(described, body)])
    return place, keeps
