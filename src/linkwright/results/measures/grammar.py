"""Measures as text: what is read, of which channel, and when it counts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from linkwright.errors import UsageError, call_explained, nearest
from linkwright.results.measures.definition import REDUCTIONS, Measure
from linkwright.results.measures.distances import TargetPoints, file_of, read_points
from linkwright.results.measures.motions import MeasureWindow
from linkwright.text.readings import channel_unit
from linkwright.text.units import ANGLE, LENGTH, TIME

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_WHILE = re.compile(r"^(.*?)\s+while\s+(.+)$")
_MEASURE = re.compile(r"^(\w+)\s+(?!when\b|ratio\b)(\S+)(?:\s+in\s+(\S.*?))?$")
_WHEN = re.compile(r"^time\s+when\s+(.+)$")
_RATIO = re.compile(r"^time\s+ratio\s+(\S+)$")
_DWELL = re.compile(rf"^dwell\s+(\S+)\s+within\s+({NUMBER})\s*(.*?)(?:\s+in\s+(\S+))?$")
_DISTANCE = re.compile(r"^(?:(max|rms)\s+)?distance\s+(?:of\s+)?(\S+)\s+to\s+(.+)$")
_RANGE = re.compile(rf"^(?:(\S+)\s+)?({NUMBER})\s*\.\.\s*({NUMBER})\s*(.*)$")
_CONDITION = re.compile(rf"^(\S+)\s*(>=|<=|>|<)\s*({NUMBER})\s*(.*)$")
BEGINNINGS = (*REDUCTIONS, "stroke", "time ratio", "dwell", "straightness", "distance", "time when")
EXAMPLES = (
    '"max A.torque", "range guide while 100..180 deg", "stroke guide", "time ratio guide", "dwell guide within 1 mm", '
    '"straightness coupler.P while 90..180 deg", "distance coupler.P to points.csv", "time when tool.T.x > 0.2 m"'
)
FORMS = {
    "dwell": "dwell CHANNEL within VALUE UNIT",
    "distance": "distance POINT to FILE.csv, or max distance POINT to FILE.csv",
    "time": "time when CHANNEL > VALUE UNIT, or time ratio CHANNEL",
}


def measure(text: str) -> Measure:
    """Read a measure."""
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise UsageError(f"a measure is a text such as {EXAMPLES}, or a function of the result, not {text!r:.40}.")
    name = " ".join(text.split())
    found = _WHILE.match(name)
    body, window = (name, None) if found is None else (found[1], _window(found[2], name))
    made = _when(body, name) or _dwell(body, name) or _distance(body, name)
    if made is None and (found := _RATIO.match(body)):
        made = Measure(name, "time ratio", found[1])
    if made is not None and made.reduction in ("when", "time ratio") and window is not None:
        raise UsageError(
            f"'{name}': a {'time when' if made.reduction == 'when' else 'time ratio'} is that of the whole motion, without while."
        )
    if made is None:
        made = _reduction(body, name)
    return made if window is None else replace(made, window=window)


@call_explained
def path_distance(channel: str, points: Any, *, at: Any = None, by: str = "", worst: bool = False) -> Measure:
    """Return the measure of the distance of a point's path to points, arrays in SI: root mean square, or with `worst` the largest.

    `at` are positions of the leading drive (`by` its name, or "t") at which the path should be at each point; without it the nearest
    place of the path counts. Its name in tables is "distance POINT to points"; a dict of measures gives others.
    """
    target = TargetPoints.of(points, at, by)
    if (at is None) != (not by):
        raise UsageError('positions of points are given with what they are of: at=[0.1, 0.2], by="A", or by="t" for times.')
    kind = "max distance" if worst else "distance"
    return Measure(f"{kind} {channel} to points", "distance", channel, target=target, worst=worst)


def _reduction(body: str, name: str) -> Measure:
    found = _MEASURE.match(body)
    word = body.split(" ")[0] if body else ""
    if found is None or found[1] not in (*REDUCTIONS, "stroke", "straightness"):
        known = word in FORMS or word in BEGINNINGS
        hint = f"Write {FORMS.get(word, word + ' CHANNEL')}." if known else nearest(word, BEGINNINGS, "They begin with")
        raise UsageError(f"'{name}' is no measure. {hint} Examples: {EXAMPLES}.")
    return Measure(name, found[1], found[2])


def _when(body: str, name: str) -> Measure | None:
    found = _WHEN.match(body)
    if found is None:
        return None
    w = _CONDITION.match(found[1])
    if w is None:
        raise UsageError(f"'{name}' is no condition: write time when CHANNEL > VALUE UNIT.")
    return Measure(name, "when", w[1], above=w[2].startswith(">"), limit=_si(w[3], w[4], name), unit=_dimension(w[4]))


def _dwell(body: str, name: str) -> Measure | None:
    found = _DWELL.match(body)
    if found is None:
        return None
    height = _si(found[2], found[3], name)
    if not height > 0.0:
        raise UsageError(f"'{name}': the band of a dwell must be higher than zero.")
    by = None
    if found[4] is not None:
        _si("1", found[4], name)
        by = _dimension(found[4])
        if by not in (TIME, ANGLE, LENGTH):
            raise UsageError(f"'{name}': a dwell is measured in s or in a unit of the drive, such as deg, not in '{found[4]}'.")
    return Measure(name, "dwell", found[1], limit=height, unit=_dimension(found[3]), by=by)


def _distance(body: str, name: str) -> Measure | None:
    found = _DISTANCE.match(body)
    if found is None:
        return None
    return Measure(name, "distance", found[2], target=read_points(file_of(found[3]), f"'{name}'"), worst=found[1] == "max")


def _window(text: str, name: str) -> MeasureWindow:
    found = _RANGE.match(text)
    if found is not None:
        low, high, unit = _si(found[2], found[4], name), _si(found[3], found[4], name), _dimension(found[4])
        through = not found[1] and unit in (ANGLE, TIME)  # 300..60 deg goes through the end of the cycle
        if low == high or (not low < high and not through):
            raise UsageError(f"'{name}': the range {text} is empty: its first number must be the smaller one.")
        return MeasureWindow(found[1] or "", low, high, unit)
    found = _CONDITION.match(text)
    if found is None:
        raise UsageError(f"'{name}': after while comes a range, 100..180 deg, or a condition, A.v > 2 rad/s, not '{text}'.")
    limit = _si(found[3], found[4], name)
    ends = (limit, np.inf) if found[2].startswith(">") else (-np.inf, limit)
    return MeasureWindow(found[1], *ends, _dimension(found[4]))


def _dimension(unit: str) -> Any:
    return channel_unit(unit)[1] if unit.strip() else None


def _si(number: str, unit: str, name: str) -> float:
    try:
        return float(number) * (channel_unit(unit)[0] if unit.strip() else 1.0)
    except UsageError as problem:
        raise UsageError(f"'{name}': {problem}") from None


__all__ = ["BEGINNINGS", "EXAMPLES", "measure", "path_distance"]
