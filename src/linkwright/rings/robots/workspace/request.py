"""A map as a caller asks for it: axes, fixed coordinates, drives' data, payload, limits; in SI, with reasons where it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    Compiled,
    Description,
    Place,
    UsageError,
    elements,
    is_rotary,
    listing,
    meaning,
    nearest,
    parse_unit,
    ranges,
    readings,
    unit_kinds,
    written_values,
)
from linkwright.rings.robots.workspace.joint_margins import positions
from linkwright.rings.robots.workspace.measures import RobotData

COUNTS = {1: 400, 2: 100, 3: 30, 4: 16}  # values of an axis, by the number of axes
MOST_POSES = 2_000_000
MOST_AXES = 4


def names_over(over: Any) -> list[str]:
    """Names in `over`: of a dict, a list, or one name."""
    if isinstance(over, str):
        return [over]
    if isinstance(over, (Mapping, Sequence)) and len(over):
        return [str(x) for x in over]
    raise UsageError(
        f"over names the coordinates of the map: a body ('platform'), coordinates (['platform.x', 'platform.y']), or a dict of ranges "
        f"({{'platform.x': '-0.5..1.3 m / 100'}}), not {over!r:.60}.",
        value=over,
        name="over",
    )


def axis_values(name: str, given: Any, kind: str, axes: int, d: Description, present: float | None = None) -> np.ndarray | None:
    """Increasing values of an axis, SI; None where the range is left open (given None or "auto"). A tolerance is about the present
    value."""
    if given is None or (isinstance(given, str) and given.strip() == "auto"):
        return None
    place = _place(f"over: '{name}'", kind, d, present)
    if kind == "angle" and isinstance(given, tuple | list):
        for end in given[:2] if isinstance(given, tuple) else given:
            if isinstance(end, int):
                readings.typed_angle(end, place.name)
    meant = meaning(given, place.name)
    if isinstance(meant, ranges.Values) and meant.single:
        raise place.refused(meant, "a range")
    if not isinstance(meant, ranges.Values):
        count = (isinstance(meant, ranges.Range) and meant.count) or COUNTS[axes]
        return np.linspace(*place.ends(meant), count)
    values = np.array(place.values(meant))
    if len(values) < 2 or not (np.diff(values) > 0.0).all():
        raise UsageError(f"{place.name}: a list of values needs two at least, each larger than the last.", name=place.name)
    return values


def _place(what: str, kind: str, d: Description, present: float | None = None) -> Place:
    return Place(what, KINDS[kind], partial(written_values.bare_size, d), present)


def by_drive(drives: Sequence[str], d: Description, given: Any, kinds: tuple[str, str], what: str) -> np.ndarray | None:
    """Positive numbers of all drives from one for all, or a dict; `kinds` of rotary and of other drives. None if none is given."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        for name in given:
            if name not in drives:
                raise UsageError(f"{what}: '{name}' is not a drive.", nearest(str(name), drives, "Drives"))
        missing = [n for n in drives if n not in given]
        if missing:
            raise UsageError(f"{what} of {listing(missing)} is missing: give all drives, or one value for all of them.", name=what)
    out = []
    for name in drives:
        kind = kinds[0 if is_rotary(d, name) else 1]
        x = given[name] if isinstance(given, Mapping) else given
        value = unit_kinds.quantity(x, KINDS[kind], f"{what} of '{name}'")
        if not value > 0.0:
            raise UsageError(f"{what} of '{name}' must be positive, not {x!r}.", name=name, value=x)
        out.append(value)
    return np.array(out)


def robot_data(core: Compiled, drives: Sequence[str], stiffness: Any, speeds: Any, efforts: Any, payload: Any) -> RobotData:
    """Data of the drives and the payload."""
    d = core.description
    mass, wrench = _payload(payload)
    return RobotData(
        by_drive(drives, d, stiffness, ("torsional stiffness", "stiffness"), "stiffness"),
        by_drive(drives, d, speeds, ("angular speed", "speed"), "speeds"),
        by_drive(drives, d, efforts, ("torque", "force"), "efforts"),
        mass,
        wrench,
    )


def _payload(given: Any) -> tuple[float, np.ndarray]:
    """(mass, [moment; force]) of a payload: "5 kg", or a dict with mass, force, moment."""
    wrench = np.zeros(6)
    if given is None:
        return 0.0, wrench
    parts = given if isinstance(given, Mapping) else {"mass": given}
    for name in parts:
        if name not in ("mass", "force", "moment"):
            raise UsageError(f"payload has no '{name}'.", nearest(str(name), ["mass", "force", "moment"], "Parts"))
    mass = unit_kinds.quantity(parts.get("mass", 0.0), KINDS["mass"], "payload: mass")
    if mass < 0.0:
        raise UsageError(f"payload: mass must not be negative, not {parts['mass']!r}.", name="payload", value=parts["mass"])
    for name, at, kind in (("moment", 0, "torque"), ("force", 3, "force")):
        if name in parts:
            items = parts[name]
            if isinstance(items, str) or not isinstance(items, (Sequence, np.ndarray)) or len(items) != 3:
                raise UsageError(
                    f"payload: {name} needs three components in world axes, such as [0, 0, '-50 N'], not {items!r:.40}.",
                    name="payload",
                    value=items,
                )
            wrench[at : at + 3] = [unit_kinds.quantity(x, KINDS[kind], f"payload: {name}") for x in items]
    return mass, wrench


def joint_ranges(core: Compiled, given: Any) -> dict[str, tuple[float, float]]:
    """Ranges by name of joints and cylinders, SI; by default those of the model's stops."""
    if given is None:
        ends = [(x.joint, *x.travel_ends) for x in elements.stopping(core.description)]
        return {n: (-np.inf if a is None else float(a), np.inf if b is None else float(b)) for n, a, b in ends}
    if not isinstance(given, Mapping):
        raise UsageError(
            f"limits is a dict of ranges by joint or cylinder, {{'leg1': ('-0.1 m', '0.1 m')}}, not {given!r:.60}.", value=given,
            name="limits",
        )
    out = {}
    for name, ends in given.items():
        present = float(positions(core, str(name), core.start.q[None])[0])
        kind = "angle" if is_rotary(core.description, str(name)) else "length"
        out[str(name)] = ranges.open_ends(ends, _place(f"limits: '{name}'", kind, core.described, present))
    return out


def wanted(what: Any, known: Sequence[str], efforts: Sequence[str], missing: Callable[[str], str]) -> list[str]:
    """Names of the measures asked for: "all" that the data allow, one, or several. "efforts" are those of all drives."""
    if isinstance(what, str) and what == "all":
        return [*known, *efforts]
    out: list[str] = []
    for name in [what] if isinstance(what, str) else list(what):
        if name == "reach":
            continue
        if name == "efforts":
            out += efforts
        elif name in known or name in efforts:
            out.append(str(name))
        else:
            raise UsageError(missing(str(name)), name=str(name))
    return list(dict.fromkeys(out))


def unit_factor(unit: str) -> float:
    """Size of a unit in SI."""
    return parse_unit(unit)[0] if unit else 1.0
