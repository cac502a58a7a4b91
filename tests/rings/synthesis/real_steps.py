"""The steps of a linkage in real coordinates, written a second time: analytic in every dimension, for complex steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwright.rings.synthesis.dyad_steps import Anchor, CrankStep, LinkageStep, PinDyad, SlideDyad, SlotDyad, YokeDyad

Pair = tuple[Any, Any]  # x and y, each real or with a complex step
Pose = tuple[Pair, Pair]


def add(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def times(k: Any, a: Pair) -> Pair:
    return k * a[0], k * a[1]


def turned(a: Pair, b: Pair) -> Pair:
    """Product of two complex numbers given as pairs."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def dot(a: Pair, b: Pair) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def point(poses: Mapping[str, Pose], numbers: Mapping[str, Any], anchor: Anchor) -> Pair:
    origin, direction = poses[anchor.body]
    at = numbers[anchor.at] if anchor.at else (0.0, 0.0)
    return add(origin, turned(at if isinstance(at, tuple) else (at, 0.0 * at), direction))


def real_positions(steps: Sequence[LinkageStep], numbers: Mapping[str, Any], theta: Any) -> dict[str, Pose]:
    """Return poses as pairs. Real dimensions are numbers, complex ones pairs."""
    poses: dict[str, Pose] = {"ground": ((0.0, 0.0), (1.0, 0.0))}
    for step in steps:
        if isinstance(step, CrankStep):
            angle = step.ratio * theta + (numbers[step.phase] if step.phase else 0.0)
            poses[step.body] = (point(poses, numbers, step.pivot), (np.cos(angle), np.sin(angle)))
        elif isinstance(step, PinDyad):
            a, b = point(poses, numbers, step.start), point(poses, numbers, step.end)
            r1, r2 = (numbers[n] for n in step.lengths)
            s = add(b, times(-1.0, a))
            q = dot(s, s)
            # foot of the common chord, then along it
            share = 0.5 + (r1 * r1 - r2 * r2) / (2.0 * q)
            height = numbers[step.sign] * np.sqrt(r1 * r1 / q - share * share)
            tip = add(add(a, times(share, s)), times(height, (-s[1], s[0])))
            poses[step.first] = (a, times(1.0 / r1, add(tip, times(-1.0, a))))
            poses[step.second] = (b, times(1.0 / r2, add(tip, times(-1.0, b))))
        elif isinstance(step, SlideDyad):
            a, g = point(poses, numbers, step.start), point(poses, numbers, step.guide)
            u = (np.cos(numbers[step.direction]), np.sin(numbers[step.direction]))
            away = add(a, times(-1.0, g))
            across = u[0] * away[1] - u[1] * away[0]
            travel = dot(u, away) + numbers[step.sign] * np.sqrt(numbers[step.length] ** 2 - across**2)
            poses[step.slider] = (add(g, times(travel, u)), u)
        elif isinstance(step, YokeDyad):
            p, g = point(poses, numbers, step.follows), point(poses, numbers, step.guide)
            u = (np.cos(numbers[step.direction]), np.sin(numbers[step.direction]))
            poses[step.slider] = (add(g, times(dot(u, add(p, times(-1.0, g))), u)), u)
        elif isinstance(step, SlotDyad):
            e, p = point(poses, numbers, step.pivot), point(poses, numbers, step.follows)
            away, offset = add(p, times(-1.0, e)), numbers[step.offset]
            x = numbers[step.sign] * np.sqrt(dot(away, away) - offset**2)
            poses[step.link] = (e, times(1.0 / dot(away, away), turned(away, (x, -offset))))
        else:
            raise AssertionError(step)
    return poses
