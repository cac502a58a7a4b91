"""Closed-form kinematics of dyadic planar linkages, for many candidates and positions at once, with exact derivatives.

A linkage is a list of steps: a crank (or one geared to it), then dyads that hang on two bodies whose positions are known: two links
with a pin (RRR), a rod with a slider (RRP), a slotted link (RPR), a slider with a slot across its guide (RPP). A body is an origin
and a direction; a point of it is an `Anchor`, whose coordinates in the body are a dimension, real along the direction or complex.

Every dyad has a measure of its closing, the cosine c of its transmission angle: 0 is ideal, 1 or -1 a dead center, beyond them the
dyad does not close. There the links stay on the line of the dead center and c grows with the gap, so that a search can return.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from linkwright.rings.synthesis.dual_arrays import Dual, constant

Array = np.ndarray


@dataclass(frozen=True)
class Anchor:
    """A point of a body: its pin in drawings, and the dimension of its coordinates; without one it is the body's origin."""

    body: str
    pin: str
    at: str = ""


@dataclass(frozen=True, eq=False)
class LinkPose:
    """Origin and direction (a complex number of size 1) of a body."""

    origin: Dual
    direction: Dual


@dataclass(frozen=True, eq=False)
class LinkagePositions:
    """Poses of all bodies over (candidates, positions), the closing of each dyad, travels of sliders, and pins between bodies.

    Coupled closures (non_dyad_closure.py) have gaps of their bars and a side instead of a closing.
    """

    dimensions: Mapping[str, Dual]
    theta: Dual
    poses: dict[str, LinkPose] = field(default_factory=dict)
    closings: dict[str, Dual] = field(default_factory=dict)
    travels: dict[str, Dual] = field(default_factory=dict)
    pins: dict[str, Dual] = field(default_factory=dict)
    gaps: dict[str, Dual] = field(default_factory=dict)
    sides: dict[str, Dual] = field(default_factory=dict)

    def point(self, anchor: Anchor) -> Dual:
        pose = self.poses[anchor.body]
        if not anchor.at:
            return pose.origin
        return pose.origin + self.dimensions[anchor.at] * pose.direction

    def pinned(self, anchor: Anchor) -> Dual:
        """Return a point, and remember it under the name of its pin."""
        at = self.point(anchor)
        self.pins[anchor.pin] = at
        return at


class LinkageStep(Protocol):
    """One step: poses of one or more bodies from those that are known. `joins` says which pins they have, for drawings."""

    def apply(self, known: LinkagePositions) -> None: ...

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        """(body, pin) in the order of the bodies' pins."""
        ...


@dataclass(frozen=True)
class CrankStep:
    """A crank on a pivot, at the angle of the drive, or geared to it: ratio times that angle plus a phase."""

    body: str
    pivot: Anchor
    ratio: float = 1.0
    phase: str = ""

    def apply(self, known: LinkagePositions) -> None:
        angle = known.theta * self.ratio
        if self.phase:
            angle = angle + known.dimensions[self.phase]
        base = known.poses[self.pivot.body].direction
        known.poses[self.body] = LinkPose(known.pinned(self.pivot), base * angle.turned())

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        return ((self.pivot.body, self.pivot.pin), (self.body, self.pivot.pin))


@dataclass(frozen=True)
class PinDyad:
    """Two links, pinned to two known bodies and to each other (RRR). sign: +1 where the pin is to the left of start -> end."""

    first: str
    second: str
    start: Anchor
    end: Anchor
    pin: str
    lengths: tuple[str, str]
    sign: str

    def apply(self, known: LinkagePositions) -> None:
        a, b = known.pinned(self.start), known.pinned(self.end)
        r1, r2 = (known.dimensions[n] for n in self.lengths)
        tip, closing = circles_meet(a, b, r1, r2, known.dimensions[self.sign].value)
        known.pins[self.pin] = tip
        known.closings[self.pin] = closing
        known.poses[self.first] = LinkPose(a, (tip - a) / r1)
        known.poses[self.second] = LinkPose(b, (tip - b) / r2)

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        return (
            (self.start.body, self.start.pin), (self.first, self.start.pin), (self.first, self.pin),
            (self.end.body, self.end.pin), (self.second, self.end.pin), (self.second, self.pin),
        )  # fmt: skip


@dataclass(frozen=True)
class SlideDyad:
    """A rod and a slider on a straight guide of a known body (RRP). sign: +1 where the slider is ahead of the rod's start."""

    rod: str
    slider: str
    start: Anchor
    guide: Anchor
    direction: str  # angle of the guide in its body
    pin: str
    length: str
    sign: str

    def apply(self, known: LinkagePositions) -> None:
        a, g = known.pinned(self.start), known.point(self.guide)
        length = known.dimensions[self.length]
        along = known.poses[self.guide.body].direction * known.dimensions[self.direction].turned()
        seen = (a - g) * along.conjugate()
        closing = seen.imag / length
        travel = seen.real + length * rounded_sine(closing) * known.dimensions[self.sign].value
        tip = g + along * travel
        known.pins[self.pin] = tip
        known.closings[self.pin] = closing
        known.travels[self.slider] = travel
        known.poses[self.rod] = LinkPose(a, (tip - a) / length)
        known.poses[self.slider] = LinkPose(tip, along)

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        return ((self.start.body, self.start.pin), (self.rod, self.start.pin), (self.rod, self.pin), (self.slider, self.pin))


@dataclass(frozen=True)
class SlotDyad:
    """A link on a pivot whose straight slot guides a pin of a known body (RPR); the slot passes the pivot at a distance `offset`.

    sign: +1 where the pin is ahead of the pivot along the link's direction. The closing is offset / distance.
    """

    link: str
    pivot: Anchor
    follows: Anchor
    offset: str
    sign: str

    def apply(self, known: LinkagePositions) -> None:
        e, p = known.pinned(self.pivot), known.pinned(self.follows)
        away = p - e
        distance = away.size()
        closing = known.dimensions[self.offset] / distance
        # away = (x + i offset) direction with x = sign sqrt(distance^2 - offset^2)
        seen = rounded_sine(closing) * known.dimensions[self.sign].value + closing * 1j
        known.closings[self.follows.pin] = closing
        known.travels[self.link] = (seen * distance).real
        known.poses[self.link] = LinkPose(e, away / distance * seen.conjugate())

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        return ((self.pivot.body, self.pivot.pin), (self.link, self.pivot.pin))


@dataclass(frozen=True)
class YokeDyad:
    """A slider on a guide, whose slot across the guide holds a pin of a known body (RPP, Scotch yoke): it always closes."""

    slider: str
    follows: Anchor
    guide: Anchor
    direction: str
    pin: str

    def apply(self, known: LinkagePositions) -> None:
        p, g = known.pinned(self.follows), known.point(self.guide)
        along = known.poses[self.guide.body].direction * known.dimensions[self.direction].turned()
        travel = ((p - g) * along.conjugate()).real
        tip = g + along * travel
        known.pins[self.pin] = tip
        known.travels[self.slider] = travel
        known.poses[self.slider] = LinkPose(tip, along)

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        return ((self.slider, self.pin),)


def rounded_sine(cosine: Dual) -> Dual:
    """Return sqrt(1 - c^2); near and beyond 1 an exponential takes over with the same value and slope, and tends to 0."""
    c = cosine.value
    square = 1.0 - c * c
    rounded = 1e-6  # square of the sine below which the root at a dead center is rounded off
    inside = square > rounded
    root = np.sqrt(np.where(inside, square, rounded))
    fading = np.exp(np.where(inside, 0.0, np.maximum(square / rounded - 1.0, -1e3)) / 2.0)
    value = root * fading
    slope = np.where(inside, -c / root, -c * value / rounded)
    return cosine.through(value, slope)


def circles_meet(a: Dual, b: Dual, r1: Dual, r2: Dual, sign: Any) -> tuple[Dual, Dual]:
    """Return the pin at the distances r1 from a and r2 from b, and the cosine of the angle between the two links there.

    pin = a + s h with s = b - a and h = r1/d (k + i sign sqrt(1 - k^2)), k the cosine of the angle at a: h is a function of the
    three real numbers |s|^2, r1, r2. Where the circles do not meet, the pin is on the line a-b at the distance r1 from a.
    """
    s = b - a
    square = s.squared_size()
    q, l1, l2 = square.value, r1.value, r2.value
    q = np.maximum(q, 1e-60)  # both pins at one place: finite numbers
    d = np.sqrt(q)
    k = (q + l1 * l1 - l2 * l2) / (2.0 * l1 * d)
    clipped = np.clip(k, -1.0, 1.0)
    sine = rounded_sine(Dual(k, {0: 1.0}))
    h = l1 / d * (clipped + 1j * sign * sine.value)
    by_k = l1 / d * ((np.abs(k) < 1.0) + 1j * sign * sine.slope[0])
    partial = (
        (square, -h / (2.0 * q) + by_k * (1.0 / (2.0 * l1 * d) - k / (2.0 * q))),
        (r1, h / l1 + by_k * (1.0 / d - k / l1)),
        (r2, -by_k * l2 / (l1 * d)),
    )
    tip = a + s * h
    slope = dict(tip.slope)
    for number, derivative in partial:
        turned = s.value * derivative
        for key, change in number.slope.items():
            more = turned * change
            slope[key] = slope[key] + more if key in slope else more
    cosine = (r1 * r1 + r2 * r2 - square) / (r1 * r2 * 2.0)
    return Dual(tip.value, slope), cosine


def positions(steps: Sequence[LinkageStep], numbers: Mapping[str, Dual], theta: Dual) -> LinkagePositions:
    """Return the poses of all bodies; the ground is at the origin, directed along x."""
    known = LinkagePositions(numbers, theta)
    known.poses["ground"] = LinkPose(constant([0j]), constant([1.0 + 0j]))
    for step in steps:
        step.apply(known)
    return known
