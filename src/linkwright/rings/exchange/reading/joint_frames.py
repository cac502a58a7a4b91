"""Joints of files that give one frame and its axes, as joints with two frames of our conventions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from linkwright.api import JOINTS, Joint, Placement, Vec3, description, geometry
from linkwright.rings.exchange.reading.poses import axes_along, times
from linkwright.rings.exchange.reading.safe_xml import XmlElement

SQUARE = 1e-6  # cosine of the angle between two axes of a universal joint that counts as a right angle
WITHOUT_AXIS = ("fixed", "free", "spherical")
Z: Vec3 = (0.0, 0.0, 1.0)


def direction(element: XmlElement, values: Sequence[float]) -> Vec3:
    """A unit vector; zero is an error of the element."""
    size = math.sqrt(sum(x * x for x in values))
    if size < 1e-9:
        raise element.error("the axis is zero. Give a direction such as 0 0 1.")
    if abs(size - 1.0) < 1e-12:
        return (values[0], values[1], values[2])
    return (values[0] / size, values[1] / size, values[2] / size)


def axes(kind: str, element: XmlElement, first: Vec3 = Z, second: Vec3 | None = None) -> Placement:
    """The frame of a joint type that has these axes: the first is the one that it turns about or slides along."""
    if kind in WITHOUT_AXIS:
        return Placement()
    main = JOINTS[kind].axes[0]
    if kind != "universal" or second is None:
        return axes_along(main, first)
    if abs(geometry.dot(first, second)) > SQUARE:
        raise element.error("the two axes of a universal joint must be at a right angle.")
    y = geometry.unit(geometry.sub(second, geometry.scale(geometry.dot(first, second), first)))
    return Placement((0.0, 0.0, 0.0), geometry.columns(first, y, geometry.cross(first, y)))


def framed(
    name: str,
    kind: str,
    bodies: tuple[str, str],
    frames: tuple[Placement, Placement],
    own: tuple[Placement, Placement],
    element: XmlElement,
    options: tuple[tuple[str, description.Scalar], ...] = (),
) -> Joint:
    """A joint between frames of two bodies; `own` are its axes in these frames, alike where the frames coincide at its zero."""
    F, M = times(frames[0], own[0]), times(frames[1], own[1])
    return Joint(name, kind, bodies[0], bodies[1], F, M, options, where=element.where)
