"""Measures from text (`text.measures`), and the distance to points that a caller gives."""

from __future__ import annotations

from typing import Any

from linkwright.errors import UsageError, call_explained
from linkwright.results.measures.definition import Measure
from linkwright.results.measures.distances import TargetPoints, file_of, read_points
from linkwright.text.measures import EXAMPLES, measure_phrase
from linkwright.text.phrases import Amount


def measure(text: str) -> Measure:
    """Read a measure."""
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise UsageError(f"a measure is a text such as {EXAMPLES}, or a function of the result, not {text!r:.40}.", value=text)
    p = measure_phrase(text)
    limit = p.limit or Amount(0.0, "")
    target = read_points(file_of(p.file), f"'{p.text}'") if p.file else None
    by = Amount(1.0, p.by).dimension if p.by else None
    return Measure(p.text, p.reduction, p.channel, p.window, p.above, limit.si, limit.dimension, by=by, target=target, worst=p.worst)


@call_explained
def path_distance(channel: str, points: Any, *, at: Any = None, by: str = "", worst: bool = False) -> Measure:
    """Return the measure of the distance of a point's path to points, arrays in SI: root mean square, or with `worst` the largest.

    `at` are positions of the leading drive (`by` its name, or "t") at which the path should be at each point; without it the nearest
    place of the path counts. Its name in tables is "distance POINT to points". A dict of measures gives others.
    """
    target = TargetPoints.of(points, at, by)
    if (at is None) != (not by):
        raise UsageError('positions of points are given with what they are of: at=[0.1, 0.2], by="A", or by="t" for times.', name="at")
    kind = "max distance" if worst else "distance"
    return Measure(f"{kind} {channel} to points", "distance", channel, target=target, worst=worst)
