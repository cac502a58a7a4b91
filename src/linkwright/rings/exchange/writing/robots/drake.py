"""Elements of Drake in URDF and SDF, which other readers leave out: springs and dampers between two points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from linkwright.api import PointRef, array, description
from linkwright.rings.exchange.writing.robots.links_and_joints import Robot

DRAKE = "http://drake.mit.edu"


class SpringLine(NamedTuple):
    """A spring with a damper: the ends (side, tag of the point, link, place in it), and its numbers by tag."""

    ends: tuple[tuple[str, str, str, np.ndarray], ...]
    values: tuple[tuple[str, float], ...]
    tag: str = "drake:linear_spring_damper"


def spring_lines(robot: Robot) -> Iterator[SpringLine]:
    """Coil springs, whose preload is a shorter free length, and dampers between points."""
    d = robot.system.description
    for x in d.springs:
        if isinstance(x, description.CoilSpring) and float(x.stiffness) > 0.0:
            k = float(x.stiffness)
            yield _line(robot, x.between, float(x.free_length) - float(x.preload) / k, k, 0.0)
    for x in d.dampers:
        if x.between:
            yield _line(robot, x.between, 1.0, 0.0, float(x.coefficient))


def _line(robot: Robot, between: tuple[PointRef, PointRef], free: float, stiffness: float, damping: float) -> SpringLine:
    d, ends = robot.system.description, []
    for side, tag, (body, point) in zip("AB", ("p_AP", "p_BQ"), between, strict=True):
        ends.append((side, tag, body, robot.links[body].X_LB.point(array(d.point((body, point)).at).astype(float))))
    return SpringLine(tuple(ends), (("free_length", free), ("stiffness", stiffness), ("damping", damping)))
