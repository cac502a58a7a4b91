"""Parallel cranks: three or more links of one length between the same two bodies, at corresponding places.

The third link repeats what the first two hold, in every position, but only if lengths and places agree to round-off. Files have them
with a few digits, and the same mechanism would be rigid. Where they agree within `ALIKE` they are made equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from linkwright.api import Description, Joint, Pose, cross, joints, pose_of
from linkwright.rings.exchange.reading.structure_recognition.frame_poses import axes_with_z, placement, sides, size
from linkwright.rings.exchange.reading.structure_recognition.rigid_groups import quoted

ALIKE = 1e-3  # share of the links' length by which lengths and places may differ and be meant as equal
SPOKEN = 1e-9  # share of the mechanism's size: smaller corrections are not reported


@dataclass(frozen=True)
class ParallelCranks:
    """A description in which parallel cranks are exactly parallel, and sentences about it."""

    description: Description
    sentences: tuple[str, ...] = ()


class Crank(NamedTuple):
    """A link between two bodies, with the names of its hinges on them."""

    link: str
    on_first: str
    on_second: str


def parallel_cranks(d: Description) -> ParallelCranks:
    """Make lengths and places of parallel cranks equal."""
    sentences = []
    for first, second, cranks in list(_families(d)):
        found = _corrected(d, first, second, cranks)
        if found is not None:
            d, change = found
            names = quoted(c.link for c in cranks)
            if change > SPOKEN * size(d):
                sentences.append(f"{names} are parallel cranks between '{first}' and '{second}': made equal, by up to {change:.2g} m.")
    return ParallelCranks(d, tuple(sentences))


def _families(d: Description) -> Iterator[tuple[str, str, list[Crank]]]:
    """Pairs of bodies with three links or more between them, each link by a pin at either end."""
    pins: dict[str, dict[str, str]] = {}
    for j in d.joints:
        if _is_pin(j) and j.first != j.second:
            pins.setdefault(j.first, {})[j.second] = j.name
            pins.setdefault(j.second, {})[j.first] = j.name
    for first, second in combinations(pins, 2):
        shared = [link for link in pins[first] if link in pins[second] and link not in (first, second)]
        if len(shared) > 2:
            yield first, second, [Crank(link, pins[first][link], pins[second][link]) for link in shared]


def _is_pin(j: Joint) -> bool:
    """True if the joint holds a point in the x-y plane of its frame."""
    return {"tx", "ty"} <= set(joints.create(j.type, j.options).rows) and "rz" not in joints.create(j.type, j.options).rows


def _corrected(d: Description, first: str, second: str, cranks: Sequence[Crank]) -> tuple[Description, float] | None:
    """The description with exact cranks and the largest change; None if they are not parallel cranks, or are exact already."""
    n = sides(d, d.joint(cranks[0].on_first))[0].R[:, 2]
    every = [name for c in cranks for name in (c.on_first, c.on_second)]
    parallel = 1e-9  # sine of the angle between axes
    if any(float(np.sum(cross(n, sides(d, d.joint(name))[0].R[:, 2]) ** 2)) > parallel**2 for name in every):
        return None
    E = axes_with_z(n, np.eye(3))[:, :2].T  # (2, 3): two directions of the plane, in the world
    A = np.array([_place(d, c.on_first, first, E) for c in cranks])
    B = np.array([_place(d, c.on_second, second, E) for c in cranks])
    along = [_place(d, c.on_second, c.link, E) - _place(d, c.on_first, c.link, E) for c in cranks]
    lengths = np.array([float(np.sqrt(x @ x)) for x in along])
    a, b = A - A[0], B - B[0]
    R = _rotation(float(np.sum(b[:, 0] * a[:, 1] - b[:, 1] * a[:, 0])), float(np.sum(a * b)))
    off = R.T @ a.T - b.T  # what the places on the second body lack
    worst = max(float(np.abs(off).max()), float(np.abs(lengths - lengths[0]).max()))
    round_off = 1e-15  # share of the length that is not worth a correction
    if lengths[0] <= 0.0 or worst > ALIKE * lengths[0] or worst <= round_off * lengths[0]:
        return None
    for c, step, x, length in zip(cranks, off.T, along, lengths, strict=True):
        d = _shifted(d, c.on_second, second, E.T @ step)
        d = _shifted(d, c.on_second, c.link, E.T @ (x * (lengths[0] / length - 1.0)))
    return d, worst


def _rotation(s: float, c: float) -> np.ndarray:
    """The plane rotation that takes places on the second body to those on the first."""
    r = float(np.hypot(s, c)) or 1.0
    return np.array([[c, -s], [s, c]]) / r


def _place(d: Description, name: str, body: str, E: np.ndarray) -> np.ndarray:
    """The place of a joint on a body, in the plane, from the body's origin."""
    j = d.joint(name)
    at = np.array((j.frame_first if j.first == body else j.frame_second).at, float)
    return E @ (pose_of(d.body(body).start).R @ at)


def _shifted(d: Description, name: str, body: str, step: np.ndarray) -> Description:
    """The description with a joint moved on a body by a step in the world's axes."""
    j = d.joint(name)
    own = pose_of(d.body(body).start).R.T @ step
    X = pose_of(j.frame_first if j.first == body else j.frame_second)
    moved = placement(Pose(X.R, X.p + own))
    changed = replace(j, frame_first=moved) if j.first == body else replace(j, frame_second=moved)
    return replace(d, joints=tuple(changed if x.name == name else x for x in d.joints))
