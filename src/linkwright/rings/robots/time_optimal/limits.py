"""Limits of a motion, by channels: `{"A.torque": "1.5 N m", "*.load": "200 N", "tip.P.speed": "2 m/s", "rms A.torque": "0.6 N m"}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from linkwright.api import KINDS, Place, Trajectory, UsageError, meaning, nearest, patterns, ranges, unit_kinds, written_values

RMS = "rms "
EXAMPLE = "{'A.torque': '1.5 N m', 'A.v': '300 rpm', '*.load': '200 N'}"
WAYS = (
    "A.torque or A.force (of a drive), A.v and A.a (speed and acceleration of a joint), P.speed and P.a (of a point), "
    "C.load (force in a joint), C.on.rocker (of a pin on a body), rms A.torque (heat of the motor), A.jerk (smooth laws)"
)


@dataclass(frozen=True)
class MotionLimit:
    """A limit of one channel: low <= value <= high; of a vector its size is at most `high`."""

    name: str
    kind: str  # "effort", "load", "speed", "acceleration", "heat", "jerk", "position"
    channel: str  # whose value it limits; of a heat limit the effort
    low: float
    high: float
    unit: str  # symbol of the model's unit
    size: float  # of that unit in SI

    def text(self, value: float) -> str:
        """A value in the model's units."""
        return f"{value / self.size:.4g} {self.unit}"

    @property
    def range(self) -> str:
        """The limit in the model's units."""
        if self.low == -self.high or self.kind not in ("effort", "acceleration", "position"):
            return self.text(self.high)
        ends = [self.text(x) if abs(x) < float("inf") else "any" for x in (self.low, self.high)]
        return " .. ".join(ends)

    def use(self, value: Any) -> Any:
        """Share of the limit that a value takes."""
        if float("inf") in (self.high, -self.low):  # one end is open: how far the value is beyond the other
            end = self.low if self.high == float("inf") else self.high
            beyond = (end - value if end == self.low else value - end) / (abs(end) or 1.0)
            return 1.0 + beyond * (beyond > 0.0)
        return value / self.high if self.low == -self.high or self.kind in ("load", "speed", "heat", "jerk") else _share(self, value)


def _share(limit: MotionLimit, value: Any) -> Any:
    import numpy as np

    middle, half = 0.5 * (limit.low + limit.high), 0.5 * (limit.high - limit.low)
    return np.abs(value - middle) / half


def read_limits(given: Any, c: Trajectory, *, positions: bool = False) -> list[MotionLimit]:
    """Limits as a caller writes them, for a trajectory with these channels; with `positions` also ranges of every other channel."""
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"limits is a dict by the names of channels, such as {EXAMPLE}, not {given!r:.60}.", value=given)
    names = [n for n in c.channels if _kind(n, c, positions)]
    out: dict[str, MotionLimit] = {}
    for key, value in given.items():
        heat = isinstance(key, str) and key.startswith(RMS)
        pattern = key[len(RMS) :].strip() if heat else key
        found = _matching(pattern, names, c)
        for name in found:
            limit = _limit(name, "heat" if heat else _kind(name, c, positions), value, c, str(key))
            if patterns.is_pattern(pattern) and limit.name in out:
                continue  # a name alone decides before a pattern
            out[limit.name] = limit
    exact = {k for k in given if not patterns.is_pattern(str(k))}
    for key in exact & set(out):
        out[key] = _limit(out[key].channel, out[key].kind, given[key], c, key)
    return list(out.values())


def place_of(name: str, dimension: str, value: Any, c: Trajectory) -> Place:
    """The place of a value of a channel; raise UsageError for a unit that is no energy where an energy is needed."""
    bare = partial(written_values.bare_size, c.skel.tree.description)
    if dimension != "energy":
        return Place(name, KINDS.get(dimension), bare)
    written = ranges.unit_written(value)
    if written and unit_kinds.parse_unit(written)[1] != KINDS["torque"]:
        raise UsageError(f"{name} must be an energy, such as '2 J', not {value!r:.40}.", name=name, value=value)
    return Place(name)


def _matching(pattern: Any, names: Sequence[str], c: Trajectory) -> list[str]:
    if not isinstance(pattern, str):
        raise UsageError(f"limits: {pattern!r} is not the name of a channel. Limits: {WAYS}.", name=pattern)
    several, found = patterns.is_pattern(pattern), patterns.matching(pattern, names)
    if several and pattern.endswith((".v", ".a", ".jerk")):  # "*.v": of the drives; other joints and points by their names
        found = [n for n in found if n.rsplit(".", 1)[0] in c.drives] or found
    if not found:
        hint = " Drives of this motion: " + ", ".join(c.drives) + "." if pattern.endswith((".torque", ".force")) and c.drives else ""
        raise UsageError(
            f"limits: there is no limit '{pattern}'. {nearest(pattern, names, 'Nearest')}{hint} Limits: {WAYS}.",
            name=pattern,
            allowed=names,
        )
    return found


def _kind(name: str, c: Trajectory, positions: bool = False) -> str:
    """Kind of the limit of a channel; "" if a channel of that name cannot be limited."""
    if name.endswith((".torque", ".force")):
        return "effort" if name.rsplit(".", 1)[0] in c.drives else ""
    if name.endswith(".load") or (".on." in name and name.count(".on.") == 1 and "." not in name.split(".on.")[1]):
        return "load"
    if name.endswith((".speed", ".v")):
        return "speed"
    if name.endswith(".jerk"):
        return "jerk"
    if name.endswith(".a"):
        return "acceleration"
    return "position" if positions and name != "t" else ""


def _limit(name: str, kind: str, value: Any, c: Trajectory, key: str) -> MotionLimit:
    dimension, (unit, size) = c.dimension(name), c.unit(name)
    place = place_of(f"limits: '{key}'", dimension, value, c)
    if kind == "position" and isinstance(value, (tuple, list)) and None in value:
        return MotionLimit(name, kind, name, *ranges.open_ends(value, place), unit, size)
    meant = meaning(value, place.name)
    if isinstance(meant, ranges.Range) and kind not in ("effort", "acceleration", "position"):
        raise UsageError(f"{place.name} is a largest value such as '1.5 {unit}', not {meant}.", name=place.name, value=meant)
    low, high = ranges.limits(meant, place)
    return MotionLimit((RMS if kind == "heat" else "") + name, kind, name, low, high, unit, size)
