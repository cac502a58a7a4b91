"""Limits that a controller respects: travel of joints, speeds, and torques or forces of drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright import elements
from linkwright.errors import UsageError, nearest
from linkwright.model.description import Description, Drive
from linkwright.results.labeled_arrays import Labeled

ENDS = ("lower", "upper")


@dataclass(frozen=True)
class ControllerLimits:
    """Lower and upper ends by name; infinite where there is none."""

    position: Labeled
    speed: Labeled
    effort: Labeled


def controller_limits(d: Description, names: Sequence[str], drives: Sequence[str], speed: Mapping[str, float]) -> ControllerLimits:
    """See `NamedTerms.limits`."""
    for name, value in speed.items():
        if name not in names:
            raise UsageError(f"speed: there is no velocity '{name}' here.", nearest(str(name), list(names), "Velocities"), name=str(name))
        if not float(value) > 0.0:
            raise UsageError(f"speed: the limit of '{name}' is a positive number, not {value!r}.", name=name, value=value)
    travel, fastest, most = (np.tile([-np.inf, np.inf], (len(x), 1)) for x in (names, names, drives))
    for x in elements.stopping(d):
        if x.joint in names:
            low, high = x.travel_ends
            _narrow(travel[names.index(x.joint)], low, high)
    for x in d.drives:
        name, motor = x.joint, dict(x.motor)
        if name in names and motor.get("max_speed") is not None:
            top = float(motor["max_speed"]) / abs(float(motor.get("gear_ratio") or 1.0))
            _narrow(fastest[names.index(name)], -top, top)
        if name in drives:
            _narrow(most[drives.index(name)], *_effort(x))
    for name, value in speed.items():
        _narrow(fastest[names.index(name)], -float(value), float(value))
    return ControllerLimits(Labeled(travel, names, ENDS), Labeled(fastest, names, ENDS), Labeled(most, drives, ENDS))


def _narrow(row: np.ndarray, low: Any, high: Any) -> None:
    if low is not None:
        row[0] = max(row[0], float(low))
    if high is not None:
        row[1] = min(row[1], float(high))


def _effort(x: Drive) -> tuple[Any, Any]:
    """Ends of the effort at the joint: those given, or the largest torque of the motor through its gears."""
    top = dict(x.motor).get("max_torque")
    if top is None:
        return x.limits
    through = float(top) * abs(float(dict(x.motor).get("gear_ratio") or 1.0))
    return -through, through
