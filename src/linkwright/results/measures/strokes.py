"""Stroke and time ratio: the two ends of travel of a channel, between samples where its rate is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwright.results.measures.channel_interpolation import Course, CoursePull
from linkwright.results.measures.motions import Pulls, course_of, spread_weights

if TYPE_CHECKING:
    from linkwright.results.trajectories import Trajectories

TURNS = 6  # times the direction of a point's stroke is taken anew from its ends
LOOKS = 48  # directions in half a circle in which they are looked for


def strokes(r: Trajectories, name: str, mask: np.ndarray | None) -> np.ndarray:
    """Largest less smallest value of every motion; of a point the largest distance between two of its positions."""
    if r.values[name].ndim > 2:
        return _width(course_of(r, name, along=_direction(r, name, mask)), mask)
    return _width(course_of(r, name), mask)


def _width(course: Course, mask: np.ndarray | None) -> np.ndarray:
    return course.highest(mask)[2] + course.reversed_sign().highest(mask)[2]


def stroke_pull(r: Trajectories, name: str, mask: np.ndarray | None) -> Pulls:
    """Weights of the samples of one motion: a direction that gives the largest width does not count (envelope theorem)."""
    along = _direction(r, name, mask) if r.values[name].ndim > 2 else None
    course = course_of(r, name, along=along)
    pull = CoursePull(course)
    for end, sign in ((course, 1.0), (course.reversed_sign(), -1.0)):
        k, u, _ = end.highest(mask)
        pull.add(int(k[0]), float(u[0]), sign)
    return spread_weights(r, {}, pull, name, along=along)


def _direction(r: Trajectories, name: str, mask: np.ndarray | None) -> np.ndarray:
    """(motions, components): unit vectors between the two positions of a point that are farthest apart.

    They are among the samples that lie farthest in evenly spread directions, or beside them: the direction between them is taken anew
    from the ends that it gives, between samples, until both agree.
    """
    points = r.values[name]
    ways = _spread(points.shape[2])
    out = np.full((len(points), points.shape[2]), np.nan)
    for i, p in enumerate(points):
        these = p if mask is None else p[mask[i]]
        if not len(these) or not np.isfinite(these).all():
            continue
        x = these @ ways.T
        ends = these[np.unique(np.concatenate([np.argmax(x, axis=0), np.argmin(x, axis=0)]))]
        square = ((ends[:, None] - ends[None]) ** 2).sum(axis=2)
        a, b = np.unravel_index(np.argmax(square), square.shape)
        way = ends[a] - ends[b]
        out[i] = way / np.sqrt(square[a, b]) if square[a, b] > 0.0 else ways[0]
    axes = [course_of(r, name, along=np.broadcast_to(e, out.shape)) for e in np.eye(points.shape[2])]
    for _ in range(TURNS):
        course = course_of(r, name, along=out)
        (k, u), (j, w) = (c.highest(mask)[:2] for c in (course, course.reversed_sign()))
        way = np.stack([c.at(k, u) - c.at(j, w) for c in axes], axis=1)
        length = np.linalg.norm(way, axis=1, keepdims=True)
        out = np.where(length > 0.0, way / np.where(length > 0.0, length, 1.0), out)
    return out


def _spread(axes: int) -> np.ndarray:
    """Unit vectors on half a circle, or half a sphere (Fibonacci's spiral)."""
    if axes == 2:
        angle = np.arange(LOOKS) * np.pi / LOOKS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    many = LOOKS**2 // 6
    height = (np.arange(many) + 0.5) / many
    angle, across = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(many), np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


# -------------------------------------------------------------------- time ratio


def time_ratios(r: Trajectories, name: str) -> np.ndarray:
    """Time of the slower of the two strokes of a cycle over that of the faster one; nan where the channel does not return."""
    course = course_of(r, name)
    there, back = _halves(course)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.maximum(there, back) / np.minimum(there, back)
    return np.where(course.closed & np.isfinite(found), found, np.nan)


def _halves(course: Course) -> tuple[np.ndarray, np.ndarray]:
    """Times from the smallest to the largest value, and on to the smallest again."""
    ends = [c.highest(None)[:2] for c in (course, course.reversed_sign())]
    high, low = (course.place(k, u) for k, u in ends)
    there = np.mod(high - low, course.period)
    return there, course.period - there


def time_ratio_pull(r: Trajectories, name: str) -> Pulls:
    """Weights of the samples of one motion: an end of travel moves by -dx'/x''."""
    course = course_of(r, name)
    there, back = (float(x[0]) for x in _halves(course))
    if not course.closed[0] or course.v is None or min(there, back) <= 0.0:
        return {name: np.full(course.x.shape[1], np.nan)}
    pull = CoursePull(course)
    period = there + back
    slope = period / back**2 if there >= back else -period / there**2  # of the ratio by the time there
    for end, sign in ((course, 1.0), (course.reversed_sign(), -1.0)):
        k, u, _ = end.highest(None)
        bend = float(course.at(k, u, 2)[0])
        pull.add(int(k[0]), float(u[0]), -sign * slope / bend if bend else np.nan, order=1)
    return spread_weights(r, {}, pull, name)
