"""Measures and dwells of one trajectory, for people: numbers in units, and dwells as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.files.tables import Result, Table
from linkwright.model.file import quantity
from linkwright.results.channels import Channel
from linkwright.results.measures.channel_interpolation import Course, rate_names
from linkwright.results.measures.definition import check, dimension_of_measure
from linkwright.results.measures.dwells import DwellWindow, longest_dwells
from linkwright.results.measures.grammar import measure
from linkwright.results.measures.measured_number import MeasuredNumber
from linkwright.results.measures.motions import course_of
from linkwright.results.trajectories import Trajectories
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

MOST = 24  # dwells of a motion that are looked for
LEAST = 1.0 / 36.0  # of the motion: 10 deg of a turn
PLACES = 17  # places in the first and last interval of a dwell at which its deviation is read


def measured(c: Trajectory, text: Any, unit: str | None) -> MeasuredNumber:
    """See `Trajectory.measure`."""
    m = measure(text)
    check([m], c)
    value = m.read_from(c)
    return value if unit is None else value.in_unit(Channel(m.name, dimension_of_measure(m, c), lambda x: None).size_of(unit))


@dataclass(frozen=True)
class Dwell:
    """Part of a motion in which a channel stays in a band, in SI: positions of the leading drive (`by` its name) or times (`by` is t).

    `end` is below `start` where it goes through the end of the cycle. `value` is the middle of the channel's range there, `deviation` its
    height: largest less smallest value.
    """

    channel: str
    by: str
    start: float
    end: float
    length: float
    value: float
    deviation: float


@dataclass(frozen=True)
class Dwells(Result, Sequence[Dwell]):
    """Dwells of a motion, longest first; prints as a table in the units of the file."""

    dwells: tuple[Dwell, ...]
    units: tuple[tuple[str, float], tuple[str, float]]  # of positions and of the channel

    def __len__(self) -> int:
        return len(self.dwells)

    def __getitem__(self, i: Any) -> Any:
        return self.dwells[i]

    def __iter__(self) -> Iterator[Dwell]:
        return iter(self.dwells)

    def table(self) -> Table:
        """Return a row for each dwell, in the units of the file."""
        (place, size), (unit, height) = self.units
        channel = self.dwells[0].channel if self.dwells else "value"
        heads = [
            ("from", place, ".5g"), ("to", place, ".5g"), ("length", place, ".5g"), (channel, unit, ".6g", "middle of its range"),
            ("deviation", unit, ".6g", "largest less smallest value"),
        ]  # fmt: skip
        rows = [(*(x / size for x in (d.start, d.end, d.length)), *(x / height for x in (d.value, d.deviation))) for d in self]
        return Table.of(heads, rows, "dwells")

    def __str__(self) -> str:
        return self.table().text() if self.dwells else "no dwell"


def dwells_of(c: Trajectory, channel: str, within: Any, least: Any, by: str) -> Dwells:
    """See `Trajectory.dwells`."""
    kind = c.dimension(channel)
    if np.shape(c._channel(channel).read(c.instant(0))) or kind not in KINDS:
        raise UsageError(f"'{channel}' is not one number: a coordinate has dwells, guide or coupler.P.x.", name=channel)
    height = quantity(within, KINDS[kind], "within")
    axis = by or c.drive or "t"
    if axis not in ("t", c.drive):
        raise UsageError(f"by='{by}': dwells are measured in times, by='t', or in positions of the leading drive '{c.drive}'.", name=by)
    if not height > 0.0:
        raise UsageError(f"within must be higher than zero, not {within!r}.", name="within", value=within)
    names = [n for base in (channel, axis) if base != "t" for n in (base, *rate_names(base, c.channels)) if n]
    found = c.read([*dict.fromkeys(names), "t"])
    r = Trajectories.of({n: x[None] for n, x in found.items()}, found["t"][None], c.drive, c.dimension)
    course = course_of(r, channel, axis)
    if not np.isfinite(course.s).all():
        raise UsageError(f"the drive '{axis}' rests or reverses on the way. Measure dwells in times: by='t'.", name=axis)
    shortest = LEAST * float(course.period[0]) if least is None else quantity(least, KINDS[c.dimension(axis)], "least")
    falls = axis != "t" and bool(found[axis][-1] < found[axis][0])
    out, mask = [], np.ones(course.x.shape, dtype=bool)
    while len(out) < MOST and mask.any():
        one = longest_dwells(course, height, mask)
        if not one.length[0] >= shortest:
            break
        out.append(_dwell(c, channel, axis, course, one, falls))
        mask = mask & ~_inside(course, one)
    return Dwells(tuple(out), (c.unit(axis), c.unit(channel)))


def _run(course: Course, found: DwellWindow) -> list[int]:
    """Intervals of a dwell in their order."""
    n, first, last = course.x.shape[1] - 1, int(found.first[0]), int(found.last[0])
    whole = found.length[0] >= course.period[0] or (first == last and found.begin[0] > found.end[0])
    return [(first + k) % n for k in range(n if whole else (last - first) % n + 1)]


def _inside(course: Course, found: DwellWindow) -> np.ndarray:
    """Samples in a dwell; in a cycle the first and the last one are the same."""
    out = np.zeros(course.x.shape, dtype=bool)
    run = _run(course, found)
    out[0, run[1:]] = True
    out[0, run[0]] |= found.begin[0] == 0.0
    out[0, run[-1] + 1] |= found.end[0] == 1.0
    if course.closed[0]:
        out[0, [0, -1]] = out[0, 0] | out[0, -1]
    if not out.any():  # between two samples
        out[0, run[0]] = True
    return out


def _dwell(c: Trajectory, channel: str, axis: str, course: Course, found: DwellWindow, falls: bool) -> Dwell:
    whole = found.length[0] >= course.period[0]
    run = _run(course, found)
    ends = [float(course.place(k, u)[0]) for k, u in ((found.first, found.begin), (found.last, found.end))]
    start, end = (course.s[0, 0], course.s[0, -1]) if whole else ends
    if axis != "t":
        start, end = (float(c.place(-x if falls else x)) for x in (start, end))
    values = [course.at(np.array([k]), np.array([u]))[0] for k, u in _looks(run, found, whole)]
    inner = run[1:-1] if not whole else run
    values += [*course.tops[1][0, inner], *(-course.reversed_sign().tops[1][0, inner])]
    low, high = float(min(values)), float(max(values))
    return Dwell(channel, axis, float(start), float(end), float(found.length[0]), 0.5 * (low + high), high - low)


def _looks(run: list[int], found: DwellWindow, whole: bool) -> list[tuple[int, float]]:
    """Places in the first and last interval of a dwell."""
    if whole:
        return [(run[0], 0.0)]
    begin, end = float(found.begin[0]), float(found.end[0])
    if len(run) == 1:
        return [(run[0], u) for u in np.linspace(begin, end, PLACES)]
    return [(run[0], u) for u in np.linspace(begin, 1.0, PLACES)] + [(run[-1], u) for u in np.linspace(0.0, end, PLACES)]
