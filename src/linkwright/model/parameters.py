"""Every parameter of a model that may vary: named parameters, masses, centers, inertias, points, rods, springs, dampers, gravity.

    L1                        a parameter of the model file, everything written with it moves along
    C.x                       a pin in the drawing: everything drawn with it moves along, as if the file had been edited
    crank.length              of a link with two points, drawn or `along`; what the file derives from it (mass, inertia) moves along
    crank.mass                crank.com.x, crank.inertia (in space crank.inertia.xx ... yz), about the center of mass
    crank.B.x                 the joint point B on the crank, in the crank's own frame: one eye, all joints of the pin in it
    coupler.P.x               a marked point without a joint; springs, rods and loads there move along
    knee.armature             of a joint that has one
    rod.length                of a massless rod
    coil.stiffness            numbers of springs, dampers, friction, stops, couplings; of loads and cylinders where they are constant
    gravity.y

A dimension alone moves no mass: `crank.B.x` leaves the crank's center and inertia where they are. A `Parameter` gives the
model's parameters with a step added, over any scalar; a complex step carries a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.errors import ModelError, UsageError, nearest
from linkwright.joints import JOINTS
from linkwright.model.description import Body, Description, Joint, Placement
from linkwright.text.patterns import is_pattern, matching

PAIRS = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True)
class Parameter:
    """One number: its value, what one per cent of it means, and how to change it."""

    name: str
    kind: str  # "length", "mass", "inertia", or "" where a tolerance may have any unit
    value: float
    size: float  # 1 % is a hundredth of this: the value, or for coordinates the body's size
    geometry: bool  # bodies move when it changes
    stepped: Callable[[Any], Description]  # the model's parameters with this step added
    placed: Callable[[Description, Any], Description] | None = None  # any numbers with this step added; None: a named parameter
    by_default: bool = True  # among those of m.tolerances in which none is named
    drawn: bool = False  # a number of the drawing: as a named parameter, but under the name of a pin or link


Placed = Callable[[Description, Any], Description]


def _parameter(
    numbers: Description, name: str, kind: str, value: float, size: float, geometry: bool, placed: Placed, by_default: bool = True
) -> Parameter:
    return Parameter(name, kind, value, size, geometry, partial(placed, numbers), placed, by_default)


def any_drawn(chosen: Sequence[Any]) -> bool:
    """True if pins of the drawing, or lengths of links, are among these parameters."""
    return any(getattr(p, "drawn", False) for p in chosen)


def with_values(described: Description, chosen: Sequence[Parameter], values: Sequence[Any]) -> Description:
    """The model's parameters with these parameters at these values, over any scalar. Named parameters move everything written
    with them first; the others change one number each."""
    pairs = list(zip(chosen, values, strict=True))
    numbers = described.numbers({p.name: x for p, x in pairs if p.placed is None})
    for p, x in pairs:
        if p.placed is not None:
            numbers = p.placed(numbers, x - p.value)
    return numbers


def need_possible_masses(d: Description) -> Description:
    """Raise ModelError where a mass or a moment of inertia is negative; a file is checked when it is read, single numbers here."""
    for b in d.bodies[1:]:
        if b.mass is not None and (b.mass < 0.0 or any(b.inertia[i][i] < 0.0 for i in range(3))):
            what = f"the mass of '{b.name}' is {float(b.mass):.6g} kg" if b.mass < 0.0 else f"a moment of inertia of '{b.name}' is negative"
            raise ModelError(f"{what}: it cannot be below zero.", name=what)
    for j in d.joints:
        if j.armature < 0.0:
            raise ModelError(f"the armature of '{j.name}' is {float(j.armature):.6g}: it cannot be below zero.", name=j.name)
    return d


def every_parameter(described: Description) -> dict[str, Parameter]:
    """Named parameters first, then pins and lengths of the drawing, then those of every body, then the joint points and rods, then
    marked points, forces and gravity."""
    found = {p.name: p for p in (*_named(described), *_of_drawing(described))}
    return {**found, **{name: p for name, p in single_parameters(described).items() if name not in found}}


def single_parameters(described: Description) -> dict[str, Parameter]:
    """Numbers that change alone, nothing else with them: of bodies, joint points, rods, forces, gravity."""
    numbers = described.numbers()
    out: list[Parameter] = []
    for body in numbers.moving:
        out += _of_masses(numbers, body)
    shown = [b for b in numbers.bodies if not b.chain]
    for body in shown:
        out += _of_points(numbers, body)
    for x, name in elements.lengths(numbers):
        size, longer = float(getattr(x, name)), partial(_with_field, elements.held_in(x), x.name, name, -1)
        out.append(_parameter(numbers, f"{x.name}.{name}", "length", size, size, True, longer))
    for joint in numbers.joints:
        if joint.armature != 0.0:
            heavier = partial(_with_armature, joint.name)
            kinds, size = {k == "length" for k in JOINTS[joint.type].coordinate_kinds}, float(joint.armature)
            kind = "" if len(kinds) == 2 else "mass" if True in kinds else "inertia"
            out.append(_parameter(numbers, f"{joint.name}.armature", kind, size, size, False, heavier, False))
    for body in shown:
        out += _of_marked_points(numbers, body)
    for section, names in elements.NAMED.items():
        out += [p for thing in getattr(numbers, section) for name in names for p in _of_field(numbers, section, thing, name)]
    fall = float(np.linalg.norm([float(x) for x in numbers.gravity])) or 1.0
    for i, axis in enumerate(numbers.plane or "xyz"):
        out.append(_parameter(numbers, f"gravity.{axis}", "", float(numbers.gravity[i]), fall, False, partial(_with_gravity, i), False))
    found: dict[str, Parameter] = {}
    for p in out:
        found.setdefault(p.name, p)
    return found


def matched(known: Mapping[str, Parameter], name: str) -> list[Parameter]:
    """Return the parameters that a name means: its own, those of a pattern (`*.mass`), the coordinates of a place (`C`, `ground.D`); [] if
    there are none."""
    if name in known:
        return [known[name]]
    if is_pattern(name):
        return [known[key] for key in matching(name, known)]
    return [known[f"{name}.{axis}"] for axis in "xyz" if f"{name}.{axis}" in known]


def holes(known: Mapping[str, Parameter], described: Description, p: Parameter) -> list[Parameter]:
    """Return the numbers that a tolerance of a parameter is one of: of a coordinate of a drawn pin the holes and points of every body
    there, since parts are made one by one; else the parameter itself."""
    if not p.drawn or p.name.endswith(".length"):
        return [p]
    return [known[key] for b in described.bodies if (key := f"{b.name}.{p.name}") in known]


def choose(known: Mapping[str, Parameter], wanted: Sequence[str] | None, described: Description) -> list[Parameter]:
    """Return parameters as `matched` finds them; None: masses, joint points and rods, without the named parameters and the drawing, which
    would count them twice. Raise UsageError for a name without any."""
    if wanted is None:
        named = {name for name, _ in described.parameters}
        return [p for name, p in known.items() if name not in named and p.by_default]
    if isinstance(wanted, str):
        wanted = [wanted]
    out: dict[str, Parameter] = {}
    for name in wanted:
        hits = matched(known, name)
        if not hits:
            raise UsageError(
                f"there is no parameter '{name}'. {nearest(name, known, 'Known')} Patterns such as '*.mass' choose several.",
                name=name,
                allowed=known,
            )
        out.update({p.name: p for p in hits})
    return list(out.values())


def _named(described: Description) -> list[Parameter]:
    from linkwright.text.expressions import evaluate_parameters

    values = evaluate_parameters(dict(described.parameters), {})
    return [Parameter(n, "", float(x), float(x), True, partial(_with_named, described, n, float(x))) for n, x in values.items()]


def _of_drawing(described: Description) -> list[Parameter]:
    drawn = described.drawn_numbers
    places = np.array([at for _, at in described.drawing], dtype=float).reshape(-1, 3)
    size = float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0  # of the drawing, from corner to corner
    size, out = size or 1.0, []
    for name, x in drawn.items():
        moved = partial(_with_named, described, name, x)
        out.append(Parameter(name, "length", x, x if name.endswith(".length") else size, True, moved, by_default=False, drawn=True))
    return out


# Changes of one number: functions of (which one, the model's parameters, the step), so that a parameter can be pickled.


def _with_named(described: Description, name: str, value: float, step: Any) -> Description:
    return described.numbers({name: value + step})


def _with_armature(name: str, d: Description, step: Any) -> Description:
    return replace(d, joints=tuple(replace(j, armature=j.armature + step) if j.name == name else j for j in d.joints))


def _with_mass(body: str, d: Description, step: Any) -> Description:
    b = d.body(body)
    return _with_body(d, replace(b, mass=b.mass + step))


def _with_com(body: str, i: int, d: Description, step: Any) -> Description:
    b = d.body(body)
    return _with_body(d, replace(b, com=_moved(b.com, i, step)))


def _with_inertia(body: str, i: int, j: int, d: Description, step: Any) -> Description:
    pairs, b = {(i, j), (j, i)}, d.body(body)
    rows = tuple(tuple(x + step if (r, c) in pairs else x for c, x in enumerate(row)) for r, row in enumerate(b.inertia))
    return _with_body(d, replace(b, inertia=rows))


def _with_body(d: Description, body: Body) -> Description:
    return replace(d, bodies=tuple(body if b.name == body.name else b for b in d.bodies))


def _of_masses(d: Description, body: Body) -> list[Parameter]:
    if body.mass is None:
        return []
    name, size = body.name, _size(d, body.name)
    out = [_parameter(d, f"{name}.mass", "mass", float(body.mass), float(body.mass), False, partial(_with_mass, name))]
    for i, axis in enumerate(d.plane or "xyz"):
        out.append(_parameter(d, f"{name}.com.{axis}", "length", float(body.com[i]), size, False, partial(_with_com, name, i)))
    moments = {"": (2, 2)} if d.planar else {f".{k}": ij for k, ij in PAIRS.items()}
    largest = max(float(np.abs(body.inertia).max()), 0.0)
    for tail, (i, j) in moments.items():
        moment = partial(_with_inertia, name, i, j)
        out.append(_parameter(d, f"{name}.inertia{tail}", "inertia", float(body.inertia[i][j]), largest, False, moment))
    return out


def _moved(at: Any, i: int, step: Any) -> Any:
    return tuple(x + step if k == i else x for k, x in enumerate(at))


def _eyes(d: Description, body: Body) -> dict[str, list[Joint]]:
    """Joints of a body by the name of their common point on it: the pin, else a point of the body there, else the joint."""
    out: dict[str, list[Joint]] = {}
    for j in d.joints:
        if body.name in (j.first, j.second):
            at = (j.frame_first if j.first == body.name else j.frame_second).at
            there = [p.name for p in body.points if p.at == at]
            out.setdefault(j.pin or (there[0] if there else j.name), []).append(j)
    return out


def _size(d: Description, body: str) -> float:
    """Largest distance between the joints of a body, else 1 m."""
    mine = [j for j in d.joints if body in (j.first, j.second)]
    ends = [np.array((j.frame_first if j.first == body else j.frame_second).at, dtype=float) for j in mine]
    largest = max((float(np.linalg.norm(a - b)) for a in ends for b in ends), default=0.0)
    return largest if largest > 0.0 else 1.0


def _of_points(d: Description, body: Body) -> list[Parameter]:
    out = []
    size = _size(d, body.name)
    for eye, joints in _eyes(d, body).items():
        at = (joints[0].frame_first if joints[0].first == body.name else joints[0].frame_second).at
        for i, axis in enumerate(d.plane or "xyz"):
            moved = partial(_with_eye, body.name, eye, frozenset(j.name for j in joints), i)
            out.append(_parameter(d, f"{body.name}.{eye}.{axis}", "length", float(at[i]), size, True, moved))
    return out


def _of_marked_points(d: Description, body: Body) -> list[Parameter]:
    """Points of a body that no joint holds."""
    held, size, out = set(_eyes(d, body)), _size(d, body.name), []
    for p in (p for p in body.points if p.name not in held):
        for i, axis in enumerate(d.plane or "xyz"):
            moved = partial(_with_eye, body.name, p.name, frozenset(), i)
            out.append(_parameter(d, f"{body.name}.{p.name}.{axis}", "length", float(p.at[i]), size, True, moved, False))
    return out


def _of_field(d: Description, section: str, thing: Any, name: str) -> list[Parameter]:
    """A number of a spring, damper and so on, or the components of a vector; none where it is not given, not used, or varies."""
    if name not in elements.inputs(type(thing)) or not thing.uses(name):
        return []
    value, role = getattr(thing, name), elements.numbers(type(thing))[name]
    parts = {f".{axis}": (i, value[i]) for i, axis in enumerate(d.plane or "xyz")} if isinstance(value, tuple) else {"": (-1, value)}
    if d.planar and isinstance(value, tuple) and role.axes == "about":
        parts = {"": (2, value[2])}
    out = []
    for tail, (i, x) in parts.items():
        if isinstance(x, (int, float)) and (x != 0.0 or not (i >= 0 or role.absent)):
            changed = partial(_with_field, section, thing.name, name, i)
            key, size = f"{thing.name}.{name}{tail}", abs(float(x)) or 1.0
            out.append(_parameter(d, key, "", float(x), size, role.geometry, changed, False))
    return out


def _with_field(section: str, thing: str, name: str, i: int, d: Description, step: Any) -> Description:
    def changed(x: Any) -> Any:
        value = getattr(x, name)
        return replace(x, **{name: value + step if i < 0 else _moved(value, i, step)})

    return replace(d, **{section: tuple(changed(x) if x.name == thing else x for x in getattr(d, section))})


def _with_gravity(i: int, d: Description, step: Any) -> Description:
    return replace(d, gravity=_moved(d.gravity, i, step))


def _with_eye(name: str, eye: str, names: frozenset[str], i: int, d: Description, step: Any) -> Description:
    body = d.body(name)

    def frame(f: Placement) -> Placement:
        return replace(f, at=_moved(f.at, i, step))

    def joint(j: Joint) -> Joint:
        if j.name not in names:
            return j
        return replace(j, frame_first=frame(j.frame_first)) if j.first == body.name else replace(j, frame_second=frame(j.frame_second))

    points = tuple(replace(p, at=_moved(p.at, i, step)) if p.name == eye else p for p in body.points)
    moved = _with_body(d, replace(body, points=points))
    return replace(moved, joints=tuple(joint(j) for j in d.joints))
