"""The numbers that a study can change, by name, and a design with other values of them.

rod, C.x, crank.mass, coupler.P.x, coil.stiffness, gravity.y every number that has a name (`model.parameters`)
start.A, start.A.v                                           where a motion begins
drive.A                                                      speed, torque, force or voltage of a drive of the file
control.P                                                    an option of the controller of a simulation
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    NONE,
    Description,
    Dimension,
    Parameter,
    UsageError,
    coordinates,
    every_parameter,
    is_rotary,
    modelfile,
    movable,
    nearest,
    parameters,
    patterns,
    ranges,
)
from linkwright.model.file.overrides import place_of
from linkwright.rings.design.studies.analyses import Case

DRIVE_KINDS = {  # of drives along and about an axis
    "speed": ("speed", "angular speed"), "position": ("length", "angle"), "torque": ("force", "torque"), "dc_motor": ("voltage", "voltage"),
}  # fmt: skip
START, DRIVE, CONTROL = "start.", "drive.", "control."


@dataclass(frozen=True)
class Target:
    """A parameter of a design: `where` is "" for a parameter, else start, drive or control."""

    name: str
    where: str
    inner: str  # the name inside `where`
    nominal: float
    dimension: Dimension | None
    bare: bool = False  # a parameter that the file writes without a unit: a number in the file's units


def target(name: str, described: Description, case: Case) -> Target:
    """Find a number by its name."""
    known = every_parameter(described)
    if name in known:
        p = known[name]
        dimension = place_of(described, p).dimension
        return Target(name, "", name, p.value, dimension, bare=dimension is None and name in dict(described.parameters))
    if name.startswith(START):
        return _of_start(name, described)
    if name.startswith(DRIVE):
        return _of_drive(name, described)
    if name.startswith(CONTROL):
        return _of_control(name, case)
    others = [*(f"{START}{j.name}" for j in described.joints), *(f"{DRIVE}{d.joint}" for d in described.drives)]
    raise UsageError(f"vary: there is no number '{name}'.", nearest(name, [*known, *others], "Known"))


def expanded(vary: Mapping[Any, Any], described: Description, *, parts: bool = True) -> dict[str, Any]:
    """Return `vary` with pins of the drawing as their coordinates (`C`) and patterns (`*.length`) as the numbers they match.

    A tolerance of a drawn pin is one of the holes of every body there, each with its own: `parts` are made one by one. A search for a
    better design moves the drawing instead.
    """
    known = every_parameter(described)
    out: dict[str, Any] = {}
    for key, given in vary.items():
        names = _components(str(key), known)
        tolerance = ranges.tolerance_in(given) if parts else None
        of_parts = tolerance is not None
        if of_parts and names == [str(key)] and str(key) not in known:  # a pin that the file does not draw
            names = [n for b in described.bodies for n in (p.name for p in parameters.matched(known, f"{b.name}.{key}"))] or names
        if tolerance is not None:
            names = [hole for name in names for hole in _holes(name, known, described, tolerance)]
        for name in names:
            if name in out:
                raise UsageError(f"vary: '{name}' is named more than once.", name=name)
            out[name] = given
    return out


def _components(name: str, known: Mapping[str, Parameter]) -> list[str]:
    """Return the numbers that a name of `vary` means; the name itself if it may be one of a start, a drive or a controller."""
    found = [p.name for p in parameters.matched(known, name)]
    if not found and patterns.is_pattern(name):
        raise UsageError(f"vary: no number matches '{name}'.", nearest(name, list(known), "Known"))
    return found or [name]


def _holes(name: str, known: Mapping[str, Parameter], described: Description, given: ranges.Tolerance) -> list[str]:
    """Return the numbers of which a tolerance is one: of a coordinate of a drawn pin those of the holes there, else the name itself."""
    p, pin = known.get(name), name.rpartition(".")[0]
    found = [name] if p is None else [x.name for x in parameters.holes(known, described, p)]
    if found == [name]:
        return found
    if not found:
        raise UsageError(
            f"vary: {name} = {given}: a tolerance is one of a part, and no part has a hole or point '{pin}'.",
            nearest(name, [n for n, x in known.items() if not x.drawn], "Numbers of parts"),
        )
    if given.about is not None:
        raise UsageError(
            f"vary: {name} = {given}: a tolerance of a drawn pin is one of the holes of {', '.join(n.split('.')[0] for n in found)} there, "
            f"about their own places: write '+- 0.1 mm', or name a hole, {found[0]}.",
            name="vary",
        )
    return found


def _of_start(name: str, described: Description) -> Target:
    inner = name.removeprefix(START)
    several = coordinates.start_channel(described, inner)
    if several is not None:
        given = dict(described.numbers().start).get(several[0])
        return Target(name, "start", several[0], 0.0 if given is None else float(given), KINDS[several[1]])
    joint, rate = (inner.removesuffix(".v"), True) if inner.endswith(".v") else (inner, False)
    names = movable(described)
    if joint not in names:
        raise UsageError(f"vary: start: there is no joint '{joint}'.", nearest(joint, names, "Joints"))
    on = coordinates.coordinate(described, joint)
    kind = on.speed_kind if rate else on.kind
    given = dict(described.numbers().start).get(inner)
    return Target(name, "start", inner, 0.0 if given is None else float(given), KINDS[kind])


def _of_drive(name: str, described: Description) -> Target:
    inner = name.removeprefix(DRIVE)
    drives = {d.joint: d for d in described.numbers().drives}
    if inner not in drives:
        raise UsageError(f"vary: the file drives no '{inner}'.", nearest(inner, list(drives), "Drives"))
    value = drives[inner].value
    if not isinstance(value, int | float):
        raise UsageError(
            f"vary: the drive of '{inner}' is not a single number ({drives[inner].kind}). Vary a parameter it is written with.", name=inner
        )
    turns = is_rotary(described, inner)
    kind = DRIVE_KINDS.get(drives[inner].kind)
    return Target(name, "drive", inner, float(value), None if kind is None else KINDS[kind[turns]])


def _of_control(name: str, case: Case) -> Target:
    inner, control = name.removeprefix(CONTROL), getattr(case, "options", {}).get("control")
    if control is None:
        raise UsageError(f"vary: '{name}' needs a simulation with a controller: case=lw.Run('1 s', control=lw.control.pd(...)).", name=name)
    known = [f.name for f in fields(control) if isinstance(getattr(control, f.name), int | float)] if is_dataclass(control) else []
    if inner not in known:
        raise UsageError(f"vary: the controller has no number '{inner}'.", nearest(inner, known, "Its numbers"))
    return Target(name, "control", inner, float(getattr(control, inner)), NONE)


@dataclass(frozen=True)
class VariedNumbers:
    """All parameters that vary, and how a design gets its own."""

    described: Description
    targets: tuple[Target, ...]

    @property
    def plain(self) -> bool:
        """True if all are parameters of the mechanism."""
        return all(not t.where for t in self.targets)

    def design(self, case: Case, row: np.ndarray) -> tuple[Description, Case]:
        """The model and the case with the numbers of a row; raise ModelError where they are impossible."""
        values = {t: float(x) for t, x in zip(self.targets, row, strict=True)}
        described = self._with_parameters({t.inner: x for t, x in values.items() if not t.where})
        drives = {t.inner: x for t, x in values.items() if t.where == "drive"}
        if drives:
            described = replace(
                described, drives=tuple(replace(d, value=drives[d.joint]) if d.joint in drives else d for d in described.drives)
            )
        start = {t.inner: x for t, x in values.items() if t.where == "start"}
        if start:
            old = tuple((name, x) for name, x in described.start if name not in start)
            described = replace(described, start=(*old, *start.items()))
        gains = {t.inner: x for t, x in values.items() if t.where == "control"}
        return described, case.with_control(gains) if gains else case

    def _with_parameters(self, given: dict[str, float]) -> Description:
        if not given:
            return self.described
        known = every_parameter(self.described)
        return modelfile.redesigned(self.described, [known[name] for name in given], list(given.values()))


def need_different(names: Sequence[str]) -> None:
    """Raise UsageError if a name is there twice."""
    twice = sorted({n for n in names if list(names).count(n) > 1})
    if twice:
        raise UsageError(f"vary: {', '.join(map(repr, twice))} is named more than once.", name="vary")
