"""Ends of a travel that are rigid: steps know no impacts, so an episode ends where a coordinate passes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from linkwright.model.description import Description


class RigidEnd(NamedTuple):
    """A coordinate with the values between which it may move."""

    name: str
    lower: float
    upper: float


def rigid_ends(d: Description) -> list[RigidEnd]:
    """Rigid stops of a model."""
    return [
        RigidEnd(s.joint, -np.inf if s.lower is None else float(s.lower), np.inf if s.upper is None else float(s.upper))
        for s in d.rigid_stops
    ]


def beyond(ends: list[RigidEnd], x: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Mask of the environments in which a coordinate is beyond an end."""
    out = np.zeros(n, dtype=bool)
    for end in ends:
        out |= (x[end.name] < end.lower) | (x[end.name] > end.upper)
    return out


def reason(ends: list[RigidEnd], x: Mapping[str, np.ndarray], i: int) -> str:
    """The coordinate of an environment that is beyond an end, in a sentence; empty if none."""
    passed = (e for e in ends if not e.lower <= x[e.name][i] <= e.upper)
    found = ((e, x[e.name][i]) for e in passed)
    return next((f"{e.name} = {at:.6g} is beyond its rigid stop at {e.lower if at < e.lower else e.upper:.6g}" for e, at in found), "")
