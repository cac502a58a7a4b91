"""Dwells: the longest part of a motion in which a channel stays within a band of a given height.

The band [b, b + height] is free. Whole intervals between samples, with the extremes between them, are put together as far as their
range allows (range queries by doubling); then both ends continue into the next interval until the channel leaves the band, and b takes the
value for which they are farthest apart. In a cycle a dwell may go through its end.

That value of b is one at which an extreme touches a border of the band, or one at which both ends move equally fast with b. Derivatives
follow: at an end x(e) = border, so de = (db - dx)/x'; db is that of the extreme that holds the band, or does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwright.results.measures.channel_interpolation import Course, CoursePull
from linkwright.results.measures.motions import Pulls, course_of, spread_weights

if TYPE_CHECKING:
    from linkwright.results.trajectories import Trajectories

CANDIDATES = 6  # starts of the longest runs of whole intervals, whose ends are refined; also of runs with an interval less
HALVINGS = 30  # of the range of b, where its best value is inside
ROOT = 60  # steps of a safeguarded Newton iteration at most; some six are taken
END_WIDTH = 1e-12  # share of an interval to which an end is found
TOUCHES = 1e-7  # share of the height: an extreme that is so near to a border holds the band


class DwellWindow(NamedTuple):
    """Dwells of all motions, or of all motions and candidates: intervals of the ends and shares in them, and the lower border."""

    first: np.ndarray  # interval of the beginning
    begin: np.ndarray  # share in it
    last: np.ndarray
    end: np.ndarray
    low: np.ndarray
    length: np.ndarray  # nan where there is none


@dataclass(frozen=True, eq=False)
class CycleLayout:
    """Intervals of a course laid out one after the other, twice where it is a cycle; those that do not count end every run."""

    course: Course
    usable: np.ndarray  # (motions, intervals of the layout)
    tops: np.ndarray  # largest value in each, infinite where it is not usable
    bottoms: np.ndarray
    s: np.ndarray  # (motions, samples of the layout)
    x: np.ndarray

    @classmethod
    def of(cls, course: Course, mask: np.ndarray | None) -> CycleLayout:
        counted = np.ones(course.x.shape, dtype=bool) if mask is None else mask
        usable = counted[:, :-1] & counted[:, 1:] & np.isfinite(course.s[:, :-1]) & np.isfinite(course.x[:, :-1] + course.x[:, 1:])
        twice = np.concatenate([usable, usable & course.closed[:, None]], axis=1)
        tops, bottoms = np.tile(course.tops[1], 2), -np.tile(course.reversed_sign().tops[1], 2)
        return cls(
            course,
            twice,
            np.where(twice, tops, np.inf),
            np.where(twice, bottoms, -np.inf),
            np.concatenate([course.s, course.s[:, 1:] + course.period[:, None]], axis=1),
            np.concatenate([course.x, course.x[:, 1:]], axis=1),
        )

    @property
    def intervals(self) -> int:
        """Of the course itself."""
        return self.course.x.shape[1] - 1

    @property
    def everything(self) -> np.ndarray:
        """(motions,): range of a cycle that counts throughout; infinite elsewhere."""
        n = self.intervals
        with np.errstate(invalid="ignore"):
            found = self.tops[:, :n].max(axis=1) - self.bottoms[:, :n].min(axis=1)
        return np.where(self.course.closed & self.usable[:, :n].all(axis=1), found, np.inf)


def longest_dwells(course: Course, height: float, mask: np.ndarray | None) -> DwellWindow:
    """The longest dwell of every motion.

    Its whole intervals are the most that fit from their first one on, or one less: with two less, those that fit were longer already.
    """
    layout = CycleLayout.of(course, mask)
    runs, high, low = _runs(layout, height)
    chosen = np.argsort(-_estimated(layout, height, runs, high, low), axis=1, kind="stable")[:, :CANDIDATES]
    first, most = np.tile(chosen, 2), np.take_along_axis(runs, chosen, axis=1)
    last = first + np.concatenate([most, np.maximum(most - 1, 0)], axis=1)
    found = _refined(layout, height, (first, last), _range(layout, first, last))
    best = np.argmax(np.where(np.isfinite(found.length), found.length, -np.inf), axis=1)
    one = DwellWindow(*(x[np.arange(len(best)), best] for x in found))
    period = course.period
    return one._replace(length=np.where(layout.everything <= height, period, np.minimum(one.length, period)))


def _runs(layout: CycleLayout, height: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(motions, samples): intervals from each sample on that fit into one band, at most a cycle; their largest and smallest value."""
    n, tops, bottoms = layout.intervals, [layout.tops], [layout.bottoms]
    while 2 ** len(tops) <= n:
        step = 2 ** (len(tops) - 1)
        for tables, pick, void in ((tops, np.maximum, np.inf), (bottoms, np.minimum, -np.inf)):
            more = np.full_like(tables[-1], void)
            more[:, :-step] = pick(tables[-1][:, :-step], tables[-1][:, step:])
            tables.append(more)
    start = np.broadcast_to(np.arange(n + 1), (len(layout.x), n + 1))
    length = np.zeros(start.shape, dtype=int)
    high, low = np.full(start.shape, -np.inf), np.full(start.shape, np.inf)
    size = layout.tops.shape[1]
    for k in reversed(range(len(tops))):
        at = start + length
        place = np.minimum(at, size - 1)
        top = np.maximum(high, np.take_along_axis(tops[k], place, axis=1))
        bottom = np.minimum(low, np.take_along_axis(bottoms[k], place, axis=1))
        fits = (at + 2**k <= size) & (length + 2**k <= n) & (top - bottom <= height)
        high, low, length = np.where(fits, top, high), np.where(fits, bottom, low), np.where(fits, length + 2**k, length)
    x = layout.x[:, : n + 1]  # of a run of no interval the sample
    return length, np.where(length > 0, high, x), np.where(length > 0, low, x)


def _estimated(layout: CycleLayout, height: float, runs: np.ndarray, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Lengths of runs with their ends taken on by straight lines, in the highest and in the lowest band that holds them."""
    course, n = layout.course, layout.intervals
    i, closed = np.broadcast_to(np.arange(n + 1), runs.shape), course.closed[:, None]
    j = i + runs
    s, x = (np.take_along_axis(y, j, 1) - (np.take_along_axis(y, i, 1) if y is layout.s else 0.0) for y in (layout.s, layout.x))
    out = np.full(s.shape, -np.inf)
    sides = []
    for k, near, exists in ((_before(i, n, closed), layout.x[:, : n + 1], i > 0), (_after(j, n, closed), x, j < n)):
        at = np.clip(k, 0, n - 1)
        usable = (exists | closed) & np.take_along_axis(layout.usable, at, 1)
        far = np.take_along_axis(course.x, at if near is not x else at + 1, 1)
        sides.append((near, far, np.where(usable, course.width(at), 0.0)))
    for b in (high - height, low):
        total = s
        for near, far, width in sides:
            way, border = far - near, np.where(far > near, b + height, b)
            share = np.clip((border - near) / np.where(way == 0.0, np.inf, way), 0.0, 1.0)
            total = total + np.where(width > 0.0, np.where(way == 0.0, 1.0, share) * width, 0.0)
        out = np.maximum(out, np.where(np.isfinite(total), total, -np.inf))
    return out


def _before(i: np.ndarray, n: int, closed: np.ndarray) -> np.ndarray:
    """The interval before sample i; -1 where there is none."""
    return np.where((i == 0) & closed, n - 1, i - 1)


def _after(j: np.ndarray, n: int, closed: np.ndarray) -> np.ndarray:
    """The interval after sample j; n where there is none."""
    return np.where(closed, np.mod(j, n), j)


# -------------------------------------------------------------------- ends between samples


@dataclass(frozen=True, eq=False)
class _Piece:
    """One interval of every motion and candidate, (n,), as a polynomial of the share u in it, with its extremes."""

    c: np.ndarray  # (6, n): coefficients of powers of u
    h: np.ndarray
    u_top: np.ndarray
    top: np.ndarray
    u_bottom: np.ndarray
    bottom: np.ndarray
    usable: np.ndarray
    inside: float  # share of the end that is in the band

    @classmethod
    def of(cls, course: Course, k: np.ndarray, usable: np.ndarray, inside: float) -> _Piece:
        h, known = course.width(k), (course.x, course.v, course.a)
        data = [0.0 * h if y is None else h**j * np.take_along_axis(y, k + end, 1) for end in (0, 1) for j, y in enumerate(known)]
        c = np.einsum("jmc,jp->pmc", np.array(data), course.basis).reshape(6, -1)
        u, top = (np.take_along_axis(y, k, 1).ravel() for y in course.tops)
        w, bottom = (np.take_along_axis(y, k, 1).ravel() for y in course.reversed_sign().tops)
        return cls(c, h.ravel(), u, top, w, -bottom, usable.ravel(), inside)

    def part(self, which: np.ndarray) -> _Piece:
        own = (y[which] for y in (self.h, self.u_top, self.top, self.u_bottom, self.bottom, self.usable))
        return _Piece(self.c[:, which], *own, self.inside)

    def value(self, u: np.ndarray) -> np.ndarray:
        out = self.c[5]
        for p in self.c[4::-1]:
            out = out * u + p
        return out

    def rate(self, u: np.ndarray) -> np.ndarray:
        """By u."""
        out = 5.0 * self.c[5]
        for p in (4, 3, 2, 1):
            out = out * u + p * self.c[p]
        return out

    def leaving(self, b: np.ndarray, height: float) -> np.ndarray:
        """Share at which the course, coming from inside, leaves the band; the far end of the interval where it does not."""
        up, down = self.top > b + height, self.bottom < b
        rises = up & (~down | (np.abs(self.u_top - self.inside) < np.abs(self.u_bottom - self.inside)))
        border, side = np.where(rises, b + height, b), np.where(rises, 1.0, -1.0)
        near, far = np.full(b.shape, self.inside), np.where(rises, self.u_top, self.u_bottom)
        x = 0.5 * (near + far)
        for _ in range(ROOT):
            gap = self.value(x) - border
            beyond = gap * side > 0.0
            far, near = np.where(beyond, x, far), np.where(beyond, near, x)
            rate = self.rate(x)
            step = x - gap / np.where(rate == 0.0, np.inf, rate)
            following = np.where((step - near) * (step - far) < 0.0, step, 0.5 * (near + far))
            if not (np.abs(following - x)[up | down] > END_WIDTH).any():
                break
            x = following
        return np.where(self.usable, np.where(up | down, x, 1.0 - self.inside), self.inside)

    def extent(self, u: np.ndarray) -> np.ndarray:
        """Length between the inner end and u."""
        return np.abs(u - self.inside) * self.h


def _refined(layout: CycleLayout, height: float, run: tuple[np.ndarray, np.ndarray], range_: tuple[np.ndarray, np.ndarray]) -> DwellWindow:
    """Both ends of runs from sample i to sample j (motions, candidates), taken as far as a band allows, and the best band."""
    course, n, (i, j) = layout.course, layout.intervals, run
    before, after = _before(i, n, course.closed[:, None]), _after(j, n, course.closed[:, None])
    k = np.clip(before, 0, n - 1), np.clip(after, 0, n - 1)
    usable = (before >= 0) & np.take_along_axis(layout.usable, k[0], 1), (after < n) & np.take_along_axis(layout.usable, k[1], 1)
    left, right = _Piece.of(course, k[0], usable[0], 1.0), _Piece.of(course, k[1], usable[1], 0.0)
    inner = (np.take_along_axis(layout.s, j, 1) - np.take_along_axis(layout.s, i, 1)).ravel()

    def length(b: np.ndarray) -> np.ndarray:
        return inner + left.extent(left.leaving(b, height)) + right.extent(right.leaving(b, height))

    bounds = range_[0].ravel() - height, range_[1].ravel()  # of b: the run's largest and smallest value stay in the band
    tried = [*bounds, *(np.clip(x, *bounds) for p in (left, right) for x in (p.top - height, p.bottom))]
    tried.append(_balanced(left, right, bounds, height))
    lengths = np.array([length(b) for b in tried])
    best = np.argmax(np.where(np.isfinite(lengths), lengths, -np.inf), axis=0)[None]
    b, total = (np.take_along_axis(np.array(y), best, 0)[0] for y in (tried, lengths))
    begin, end = (p.leaving(b, height).reshape(i.shape) for p in (left, right))
    at, back = np.clip(i, 0, n - 1), np.clip(np.mod(j - 1, n), 0, n - 1)  # of an end that stays at its sample
    first, begin = np.where(usable[0], k[0], at), np.where(usable[0], begin, (i - at).astype(float))
    last, end = np.where(usable[1], k[1], np.where(j > 0, back, 0)), np.where(usable[1], end, np.where(j > 0, 1.0, 0.0))
    return DwellWindow(first, begin, last, end, b.reshape(i.shape), total.reshape(i.shape))


def _range(layout: CycleLayout, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest value of runs; of a run of no interval the sample."""
    high = np.take_along_axis(layout.x, i, axis=1)
    low = high.copy()
    for m, c in np.argwhere(j > i):
        some = slice(int(i[m, c]), int(j[m, c]))
        high[m, c], low[m, c] = layout.tops[m, some].max(), layout.bottoms[m, some].min()
    return high, low


def _balanced(left: _Piece, right: _Piece, bounds: Sequence[np.ndarray], height: float) -> np.ndarray:
    """b at which both ends move equally fast with it, where the length grows at the lower bound and falls at the upper one."""

    def grows(a: _Piece, z: _Piece, b: np.ndarray) -> np.ndarray:
        rates = [p.rate(p.leaving(b, height)) / p.h for p in (a, z)]
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1.0 / rates[1] - 1.0 / rates[0] > 0.0

    out = bounds[0].copy()
    inner = np.flatnonzero(grows(left, right, bounds[0]) & ~grows(left, right, bounds[1]) & (bounds[1] > bounds[0]))
    if not len(inner):
        return out
    a, z, low, high = left.part(inner), right.part(inner), bounds[0][inner], bounds[1][inner]
    for _ in range(HALVINGS):
        b = 0.5 * (low + high)
        more = grows(a, z, b)
        low, high = np.where(more, b, low), np.where(more, high, b)
    out[inner] = 0.5 * (low + high)
    return out


# -------------------------------------------------------------------- derivatives


def dwell_pull(r: Trajectories, name: str, axis: str, height: float, mask: np.ndarray | None) -> Pulls:
    """Weights of the samples of one motion in the length of its longest dwell."""
    course = course_of(r, name, axis)
    found = DwellWindow(*(x[0] for x in longest_dwells(course, height, mask)))
    pull, zero = CoursePull(course), {name: np.zeros(course.x.shape[1])}
    if not np.isfinite(found.length):
        return {name: zero[name] + np.nan}
    if found.length >= course.period[0]:
        return zero
    middle, moving = float(found.low) + 0.5 * height, 0.0  # by how much the length grows with b
    for k, u, sign in ((int(found.first), float(found.begin), -1.0), (int(found.last), float(found.end), 1.0)):
        value, rate = (float(course.at(np.array([k]), np.array([u]), order)[0]) for order in (0, 1))
        if abs(abs(value - middle) - 0.5 * height) > TOUCHES * height:  # the end of the motion or of the window
            continue
        share = sign / rate if rate else np.nan
        moving += share
        pull.add(k, u, -share)
    holder = _holder(course, found, height)
    if holder is not None:
        pull.add(*holder, moving)
    return spread_weights(r, {}, pull, name, axis) or zero


def _holder(course: Course, found: DwellWindow, height: float) -> tuple[int, float] | None:
    """(interval, share) of the extreme inside a dwell that touches a border of its band."""
    n, first, last = course.x.shape[1] - 1, int(found.first), int(found.last)
    run = (
        [first + k for k in range((last - first) % n + 1)]
        if first != last or found.begin <= found.end
        else list(range(first, first + n + 1))
    )
    best: tuple[float, int, float] | None = None
    for side, border in ((course, float(found.low) + height), (course.reversed_sign(), -float(found.low))):
        for at, k in enumerate(run):
            u, value = float(side.tops[0][0, k % n]), float(side.tops[1][0, k % n])
            inside = (at > 0 or u > found.begin) and (at < len(run) - 1 or u < found.end)
            gap = abs(value - border)
            ends = at in (0, len(run) - 1) and min(abs(u - found.begin), abs(u - found.end)) < 1e-9
            if inside and not ends and gap <= TOUCHES * height and (best is None or gap < best[0]):
                best = gap, k % n, u
    return None if best is None else (best[1], best[2])
