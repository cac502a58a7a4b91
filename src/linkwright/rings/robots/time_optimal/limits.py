"""Limits of a motion, by channels: `{"A.torque": "1.5 N m", "*.load": "200 N", "tip.P.speed": "2 m/s", "rms A.torque": "0.6 N m"}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from linkwright.errors import LinkwrightError, UsageError, nearest
from linkwright.model.curves.reading import is_list
from linkwright.model.file import quantity
from linkwright.model.file.units import KINDS
from linkwright.results.trajectory import Trajectory

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
    kind: str  # "effort", "load", "speed", "acceleration", "heat", "jerk"
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
        if self.low == -self.high or self.kind not in ("effort", "acceleration"):
            return self.text(self.high)
        return f"{self.text(self.low)} .. {self.text(self.high)}"

    def use(self, value: Any) -> Any:
        """Share of the limit that a value takes."""
        return value / self.high if self.low == -self.high or self.kind in ("load", "speed", "heat", "jerk") else _share(self, value)


def _share(limit: MotionLimit, value: Any) -> Any:
    import numpy as np

    middle, half = 0.5 * (limit.low + limit.high), 0.5 * (limit.high - limit.low)
    return np.abs(value - middle) / half


def read_limits(given: Any, c: Trajectory) -> list[MotionLimit]:
    """Limits as a caller writes them, for a trajectory with these channels."""
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"limits is a dict by the names of channels, such as {EXAMPLE}, not {given!r:.60}.")
    names = [n for n in c.channels if _kind(n, c)]
    out: dict[str, MotionLimit] = {}
    for key, value in given.items():
        heat = isinstance(key, str) and key.startswith(RMS)
        pattern = key[len(RMS) :].strip() if heat else key
        found = _matching(pattern, names, c)
        for name in found:
            limit = _limit(name, "heat" if heat else _kind(name, c), value, c, str(key))
            if any(x in pattern for x in "*?") and limit.name in out:
                continue  # a name alone decides before a pattern
            out[limit.name] = limit
    exact = {k for k in given if not any(x in str(k) for x in "*?")}
    for key in exact & set(out):
        out[key] = _limit(out[key].channel, out[key].kind, given[key], c, key)
    return list(out.values())


def _matching(pattern: Any, names: Sequence[str], c: Trajectory) -> list[str]:
    if not isinstance(pattern, str):
        raise UsageError(f"limits: {pattern!r} is not the name of a channel. Limits: {WAYS}.")
    several = any(x in pattern for x in "*?")
    found = [n for n in names if (fnmatchcase(n, pattern) if several else n == pattern)]
    if several and pattern.endswith((".v", ".a", ".jerk")):  # "*.v": of the drives; other joints and points by their names
        found = [n for n in found if n.rsplit(".", 1)[0] in c.drives] or found
    if not found:
        hint = " Drives of this motion: " + ", ".join(c.drives) + "." if pattern.endswith((".torque", ".force")) and c.drives else ""
        raise UsageError(f"limits: there is no limit '{pattern}'. {nearest(pattern, names, 'Nearest')}{hint} Limits: {WAYS}.")
    return found


def _kind(name: str, c: Trajectory) -> str:
    """Kind of the limit of a channel; "" if a channel of that name cannot be limited."""
    if name.endswith((".torque", ".force")):
        return "effort" if name.rsplit(".", 1)[0] in c.drives else ""
    if name.endswith(".load") or (".on." in name and name.count(".on.") == 1 and "." not in name.split(".on.")[1]):
        return "load"
    if name.endswith((".speed", ".v")):
        return "speed"
    if name.endswith(".jerk"):
        return "jerk"
    return "acceleration" if name.endswith(".a") else ""


def _limit(name: str, kind: str, value: Any, c: Trajectory, key: str) -> MotionLimit:
    dimension, (unit, size) = c.dimension(name), c.unit(name)
    entries = list(value) if is_list(value) else [value]
    if len(entries) not in (1, 2) or (len(entries) == 2 and kind not in ("effort", "acceleration")):
        pair = " or a pair (lowest, highest)" if kind in ("effort", "acceleration") else ""
        raise UsageError(f"limits: '{key}' is a largest value such as '1.5 {unit}'{pair}, not {value!r:.60}.")
    try:
        numbers = [quantity(x, KINDS[dimension], f"limits: '{key}'") for x in entries]
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, LinkwrightError):
            raise
        raise UsageError(f"limits: '{key}' is a largest value such as '1.5 {unit}', not {value!r:.60}.") from error
    low, high = (-numbers[0], numbers[0]) if len(numbers) == 1 else numbers
    if not low < high:
        if len(numbers) == 1:
            raise UsageError(f"limits: '{key}' must be larger than zero, not {value!r}: it allows no motion.")
        raise UsageError(f"limits: '{key}': the lowest value must be below the highest, not {value!r}.")
    return MotionLimit((RMS if kind == "heat" else "") + name, kind, name, low, high, unit, size)
