"""Extremes of sampled curves between their samples, of many motions at once: one location for every number that is an extreme.

A peak is not where a sample happens to lie: over 120 positions of a cycle a torque seems to end at 99.87 N m, its curve goes to 100.32.
Around every local extreme that may be the outermost one, the polynomial through up to nine samples (Newton's form, nodes from the center
out) is followed to its stationary point. Its coefficients also say whether samples resolve the curve. If they do not, the extreme is the
sample, and `error` says how far the curve may go beyond it:

    resolved       c3 and c4 small against c2; pairs of higher terms are taken as long as each is below half of the one before
    kink, jump     straight lines from both sides as far as both continue, at a jump each of them; not less than the arc of a parabola
    pole           1/x goes straight through zero: the curve grows without bound, `error` is infinite

The polynomial is linear in the samples, and its slope at the extreme is zero: the derivative of an extreme by a parameter of the model is
the same polynomial through the derivatives of the samples (`weights`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwright.properties import cached_property

NODES = 9  # samples of a polynomial of degree 8
FEWEST = 5  # samples below which nothing can be said between them
RIVAL = 0.05  # share of the range within which another local extreme may be the outer one between samples
RETURNED = 1e-6  # share of its range by which a curve that ends where it began may differ: a cycle
ASYMMETRIC, BENT = 1.0 / 6.0, 1.0 / 24.0  # c3/c2 and c4/c2 at most: third and fourth differences below half of the second ones
NEWTON = 5  # steps from the vertex of the parabola; three do
JUMP = 2.0  # times both neighboring differences: a step that is larger is a jump
THROUGH, FOLDED = 2.0, 1.3  # step of 1/x through a pole over the smaller one next to it, at most; of a size, whose sign is lost
SHARP = 0.02  # of the lower neighbor: 1/x of an even pole, or of a peak much narrower than a step


class CurveExtremes(NamedTuple):
    """Lowest and highest value of a curve, where they are, and how far the curve may go beyond (infinite: without bound)."""

    low: float
    high: float
    at_low: float
    at_high: float
    error_low: float = 0.0
    error_high: float = 0.0

    @property
    def both(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return self.low, self.high

    @property
    def size(self) -> float:
        """Largest absolute value."""
        return max(abs(self.low), abs(self.high))


def curve_extremes(s: np.ndarray, x: np.ndarray) -> CurveExtremes:
    """Locate the lowest and the highest value of one curve x over its abscissa s."""
    found = SharpenedCurves.of(np.asarray(s, dtype=float)[None], np.asarray(x, dtype=float)[None])
    i, j = first_extremes(found.x[0])
    ends = (found.place[0, i], found.place[0, j], found.error[0, i], found.error[0, j])
    return CurveExtremes(float(found.x[0, i]), float(found.x[0, j]), *(float(y) for y in ends))


def first_extremes(y: np.ndarray) -> tuple[int, int]:
    """Samples of the least and the largest value; of values that are equal up to round-off the first, which is the beginning of a dwell."""
    near = 1e-10 * float(np.abs(y[np.isfinite(y)]).max(initial=0.0))
    return int(np.argmax(y <= np.nanmin(y) + near)), int(np.argmax(y >= np.nanmax(y) - near))


@dataclass(frozen=True, eq=False)
class SharpenedCurves:
    """Curves at their samples, (motions, samples), with local extremes moved to where they are.

    Both samples next to an extreme have its value and its place; other samples are as they were. `error` is 0 but at samples that are
    extremes and not resolved.
    """

    x: np.ndarray
    place: np.ndarray
    tops: LocalExtremes
    counted: np.ndarray

    @classmethod
    def of(cls, s: np.ndarray, x: np.ndarray, mask: np.ndarray | None = None, cut: np.ndarray | None = None) -> SharpenedCurves:
        """Sharpen curves x (motions, samples) over s; with a mask only in steps whose samples count, and in those cut by an end of the
        window (`cut`: share at which a step is cut, NaN elsewhere) on the side that counts."""
        counted = np.isfinite(x) if mask is None else mask & np.isfinite(x)
        out, place = x.copy(), np.array(np.broadcast_to(s, x.shape))
        tops = LocalExtremes.of(np.broadcast_to(s, x.shape), x, counted)
        inner = np.isfinite(tops.value)
        motion, k, u = tops.motion[inner], tops.step[inner], tops.share[inner]
        first, second = counted[motion, k], counted[motion, k + 1]
        inside = first & second
        if cut is not None:
            at = cut[motion, k]
            inside |= np.isfinite(at) & np.where(first, u <= at, u >= at) & (first | second)
        for shift, there in ((0, first), (1, second)):
            own = inside & there
            out[motion[own], k[own] + shift] = tops.value[inner][own]
            place[motion[own], k[own] + shift] = tops.place[inner][own]
        return cls(out, place, tops, counted)

    @cached_property
    def error(self) -> np.ndarray:
        """How far the curve may go beyond each sample. Read after a search, not for every design in it: it takes half of the time."""
        out, tops = np.zeros(self.x.shape), self.tops
        rough = ~np.isfinite(tops.value) & self.counted[tops.motion, tops.sample]
        out[tops.motion[rough], tops.sample[rough]] = tops.error[rough]
        out[np.isinf(self.x)] = np.inf
        return out

    def each(self) -> list[SharpenedCurves]:
        """Every motion by itself."""
        rows = range(len(self.x))
        return [SharpenedCurves(self.x[i : i + 1], self.place[i : i + 1], self.tops.of_one(i), self.counted[i : i + 1]) for i in rows]

    def folded(self, weights: np.ndarray) -> np.ndarray:
        """Weights of the sharpened samples of the first motion, (samples, ...), as those of its samples."""
        out = weights.copy()
        for k, i, nodes, share in self._moved:
            for j in (k, k + 1):
                if weights[j].any() and self.place[0, j] == self.tops.place[i]:
                    out[j] -= weights[j]
                    np.add.at(out, nodes, np.multiply.outer(share, weights[j]))
        return out

    def values(self, y: np.ndarray) -> np.ndarray:
        """Another channel (samples, ...) of the first motion at the places of its sharpened samples: derivatives of these."""
        out = y.copy()
        for k, i, nodes, share in self._moved:
            own = [j for j in (k, k + 1) if self.place[0, j] == self.tops.place[i]]
            if own:
                out[own] = np.tensordot(share, y[nodes], axes=1)
        return out

    @cached_property
    def _moved(self) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
        """(step, number of the extreme, samples, their shares) of the extremes of the first motion that lie between samples."""
        which = np.flatnonzero((self.tops.motion == 0) & np.isfinite(self.tops.value))
        return [(int(self.tops.step[i]), int(i), *self.tops.weights(int(i))) for i in which]


@dataclass(frozen=True, eq=False)
class LocalExtremes:
    """Local extremes near the outermost ones, of all motions one after the other; `value` is NaN where samples do not resolve it."""

    motion: np.ndarray
    sample: np.ndarray  # the outermost sample
    step: np.ndarray  # the step between samples that holds the extreme
    share: np.ndarray  # of that step
    value: np.ndarray
    place: np.ndarray
    nodes: np.ndarray  # (extremes, nodes): samples of the polynomial, the outermost one first
    w: np.ndarray  # their places, in steps from the outermost sample
    u: np.ndarray  # place of the extreme, in the same steps
    degree: np.ndarray
    estimate: Callable[[], np.ndarray]

    @cached_property
    def error(self) -> np.ndarray:
        """How far the curve may go beyond: beyond the sample where it is not resolved."""
        return self.estimate()

    @classmethod
    def of(cls, s: np.ndarray, x: np.ndarray, counted: np.ndarray) -> LocalExtremes:
        n = x.shape[1]
        closed = _closed(x)
        motion, sample, sign = _candidates(x, counted, closed)
        if n < FEWEST:
            none, empty = np.zeros(0, dtype=int), np.zeros(0)
            return cls(none, none, none, empty, empty, empty, np.zeros((0, 1), dtype=int), np.zeros((0, 1)), empty, none, lambda: empty)
        around = _Around.of(s, x, motion, sample, closed[motion])
        with np.errstate(all="ignore"):
            c = around.coefficients()
            degree, last = _degrees(c, around.w)
            c[np.arange(c.shape[1]) > degree[:, None]] = 0.0
            u = _stationary(c, around.w)
            value = _newton_form(c, around.w, u)[0]
            beyond, bend = sign * (value - around.x[:, 0]), np.abs(c[:, 2])
            good = (degree >= 4) & (sign * c[:, 2] < 0.0) & (np.abs(u) < 1.0) & (beyond >= 0.0) & (beyond <= 0.5 * bend)
            good &= np.where(u < 0.0, around.has_left, around.has_right)
        place = around.s0 + u * around.h
        ring = closed[motion]  # an extreme before the first sample lies before the last one
        i = np.where(ring & (sample == n - 1) & (u >= 0.0), 0, np.where(ring & (sample == 0) & (u < 0.0), n - 1, sample))
        step = np.clip(np.where(u < 0.0, i - 1, i), 0, n - 2)
        place = np.where(i == sample, place, place + s[motion, i] - s[motion, sample])
        share = (place - s[motion, step]) / (s[motion, step + 1] - s[motion, step])
        value = np.where(good, value, np.nan)

        def estimate() -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.where(good, last, _beyond(s, x, motion, sample, sign, closed))

        return cls(motion, sample, step, share, value, place, around.nodes, around.w, u, degree, estimate)

    def of_one(self, motion: int) -> LocalExtremes:
        """Those of one motion, as of the only one."""
        some = np.flatnonzero(self.motion == motion)
        parts = (self.sample, self.step, self.share, self.value, self.place, self.nodes, self.w, self.u, self.degree)
        return LocalExtremes(np.zeros_like(some), *(x[some] for x in parts), lambda: self.error[some])

    def weights(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples and their shares in the value of an extreme (Lagrange)."""
        some = int(self.degree[i]) + 1
        w, u = self.w[i, :some], self.u[i]
        gaps = w[:, None] - w[None] + np.eye(some)
        above = np.where(np.eye(some, dtype=bool), 1.0, u - w[None])
        return self.nodes[i, :some], above.prod(axis=1) / gaps.prod(axis=1)


def _closed(x: np.ndarray) -> np.ndarray:
    """(motions,): True where a curve ends where it began."""
    return np.abs(x[:, -1] - x[:, 0]) <= RETURNED * np.ptp(x, axis=1) if x.shape[1] >= FEWEST else np.zeros(len(x), dtype=bool)


def _candidates(x: np.ndarray, counted: np.ndarray, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(motion, sample, sign) of local extremes next to samples that count, near the outermost of these; sign -1 of lowest ones."""
    nan = np.full((len(x), 1), np.nan)
    left = np.concatenate([np.where(closed[:, None], x[:, -2:-1], nan) if x.shape[1] > 1 else nan, x[:, :-1]], axis=1)
    right = np.concatenate([x[:, 1:], np.where(closed[:, None], x[:, 1:2], nan) if x.shape[1] > 1 else nan], axis=1)
    beside = counted.copy()
    beside[:, 1:] |= counted[:, :-1]
    beside[:, :-1] |= counted[:, 1:]
    high, low = np.where(counted, x, -np.inf).max(axis=1), np.where(counted, x, np.inf).min(axis=1)
    near = RIVAL * (high - low)
    with np.errstate(invalid="ignore"):
        tops = ~((left > x) | (right > x)) & (x >= (high - near)[:, None])
        bottoms = ~((left < x) | (right < x)) & (x <= (low + near)[:, None])
    flat = tops & bottoms  # both neighbors are equal
    found = [np.nonzero(some & beside & ~flat & np.isfinite(x)) for some in (tops, bottoms)]
    sign = np.concatenate([np.ones(len(found[0][0])), -np.ones(len(found[1][0]))])
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found]), sign


class _Around(NamedTuple):
    """Samples around local extremes, (extremes, nodes), from the center out; of a cycle through its end."""

    nodes: np.ndarray
    w: np.ndarray
    x: np.ndarray
    s0: np.ndarray
    h: np.ndarray
    has_left: np.ndarray
    has_right: np.ndarray

    @classmethod
    def of(cls, s: np.ndarray, x: np.ndarray, motion: np.ndarray, sample: np.ndarray, closed: np.ndarray) -> _Around:
        n = x.shape[1]
        count = min(NODES, n)
        half = count // 2
        first = np.where(closed, sample - half, np.clip(sample - half, 0, max(n - count, 0)))
        number = first[:, None] + np.arange(count)
        order = np.argsort(np.abs(number - sample[:, None]) - 0.25 * (number > sample[:, None]), axis=1, kind="stable")
        number = np.take_along_axis(number, order, axis=1)
        laps, nodes = np.divmod(number, max(n - 1, 1)) if n > 1 else (number, number)
        laps, nodes = np.where(closed[:, None], laps, 0), np.where(closed[:, None], nodes, number)
        period = s[motion, -1] - s[motion, 0]
        places = s[motion[:, None], nodes] + laps * period[:, None]
        s0 = places[:, 0]
        ends = np.abs(places - s0[:, None])[:, 1:3]
        h = ends.mean(axis=1) if count > 2 else np.ones(len(motion))
        h = np.where(h > 0.0, h, np.nan) * np.where(period < 0.0, -1.0, 1.0)
        w = (places - s0[:, None]) / h[:, None]
        return cls(nodes, w, x[motion[:, None], nodes], s[motion, sample], h, closed | (sample > 0), closed | (sample < n - 1))

    def coefficients(self) -> np.ndarray:
        """Divided differences, (extremes, nodes)."""
        c = self.x.copy()
        for j in range(1, c.shape[1]):
            c[:, j:] = (c[:, j:] - c[:, j - 1 : -1]) / (self.w[:, j:] - self.w[:, :-j])
        return c


def _degrees(c: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Degree of the polynomial that samples resolve, 2 if they do not; and the size of its last terms."""
    reach = np.cumprod(np.abs(w) + 0.5, axis=1)
    size = np.abs(c[:, 1:]) * reach[:, :-1]  # of terms 1, 2, ...
    resolved = (np.abs(c[:, 3]) <= ASYMMETRIC * np.abs(c[:, 2])) & (np.abs(c[:, 4]) <= BENT * np.abs(c[:, 2]))
    degree, last = np.where(resolved, 4, 2), np.maximum(size[:, 2], size[:, 3])
    for top in (6, 8):
        if c.shape[1] > top:
            pair = np.maximum(size[:, top - 2], size[:, top - 1])
            more = (degree == top - 2) & (pair <= 0.5 * last)
            degree, last = np.where(more, top, degree), np.where(more, pair, last)
    return degree, last


def _newton_form(c: np.ndarray, w: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, slope and bend of the polynomials at u, (extremes,) each."""
    value, slope, bend = c[:, -1].copy(), np.zeros(len(c)), np.zeros(len(c))
    for j in range(c.shape[1] - 2, -1, -1):
        d = u - w[:, j]
        bend, slope, value = bend * d + 2.0 * slope, slope * d + value, value * d + c[:, j]
    return value, slope, bend


def _stationary(c: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return where the slope vanishes, from the vertex of the parabola through the first three nodes."""
    u = np.clip(0.5 * (w[:, 1] - c[:, 1] / c[:, 2]), -1.0, 1.0)
    for _ in range(NEWTON):
        _, slope, bend = _newton_form(c, w, u)
        u = np.clip(u - slope / np.where(bend == 0.0, 1.0, bend), -1.0, 1.0)
    return u


def _beyond(s: np.ndarray, x: np.ndarray, motion: np.ndarray, sample: np.ndarray, sign: np.ndarray, closed: np.ndarray) -> np.ndarray:
    """How far curves that samples do not resolve may go beyond their outermost samples; infinite at a pole.

    Two samples at one place are the sides of an event: nothing lies between them, and a line from one side ends there.
    """
    n, last = x.shape[1], x.shape[1] - 1
    if not len(motion):
        return np.zeros(0)
    number = sample[:, None] + np.arange(-3, 4)
    wrapped = np.where(closed[motion][:, None], np.mod(number, max(last, 1)), number)
    inside = (wrapped >= 0) & (wrapped <= last)
    y = np.where(inside, sign[:, None] * x[motion[:, None], np.clip(wrapped, 0, n - 1)], np.nan)
    places = s[motion[:, None], np.clip(wrapped, 0, n - 1)]
    same = (np.diff(places, axis=1) == 0.0) & inside[:, 1:] & inside[:, :-1]
    for outwards in ([2, 1, 0], [4, 5, 6]):
        crossed = np.cumsum(same[:, [k if k < 3 else k - 1 for k in outwards]], axis=1) > 0
        y[:, outwards] = np.where(crossed, np.nan, y[:, outwards])
    out, jumps = np.zeros(len(motion)), np.zeros(len(motion), dtype=bool)
    for a in (2, 3):  # the steps before and after the sample, in y[3]
        step, left, right = y[:, a + 1] - y[:, a], y[:, a] - y[:, a - 1], y[:, a + 1] - y[:, a + 2]
        ends = np.stack([y[:, a] + left, y[:, a + 1] + right], axis=1)
        jump = np.abs(step) > JUMP * (np.nan_to_num(np.abs(left)) + np.nan_to_num(np.abs(right)))
        reach = np.where(jump, np.fmax(ends[:, 0], ends[:, 1]), np.minimum(ends[:, 0], ends[:, 1]))
        out = np.fmax(out, np.where(np.isfinite(step), np.nan_to_num(reach - y[:, 3]), 0.0))
        jumps |= jump
    arc = np.nan_to_num(np.abs(y[:, 2] - 2.0 * y[:, 3] + y[:, 4]) / 8.0)  # of a parabola whose vertex is half a step away
    rests = ((y[:, 3] == y[:, 4]) & (y[:, 4] == y[:, 5])) | ((y[:, 3] == y[:, 2]) & (y[:, 2] == y[:, 1]))  # at a bound of its own
    out = np.where(jumps | rests, out, np.maximum(out, arc))
    return np.where(_is_pole(y), np.inf, np.maximum(out, 0.0))


def _is_pole(y: np.ndarray) -> np.ndarray:
    """True where 1/y goes through zero next to the middle of seven samples: straight, straight in its size, or like a square."""
    z = 1.0 / y
    root = np.sign(z) * np.sqrt(np.abs(z))
    out = np.zeros(len(y), dtype=bool)
    for a in (2, 3):  # the step in which it may be
        for flip, inverse, most in ((1.0, z, THROUGH), (-1.0, z, FOLDED), (-1.0, root, FOLDED)):  # a size, a square: positive on both sides
            own = np.concatenate([flip * inverse[:, a - 1 : a + 1], inverse[:, a + 1 : a + 3]], axis=1)
            d = np.diff(own, axis=1)
            crossed = own[:, 1] * own[:, 2] < 0.0
            one_way = (d[:, 0] * d[:, 1] > 0.0) & (d[:, 1] * d[:, 2] > 0.0)
            out |= crossed & one_way & (np.abs(d[:, 1]) <= most * np.minimum(np.abs(d[:, 0]), np.abs(d[:, 2])))
    beside = np.fmin(np.abs(z[:, 2]), np.abs(z[:, 4]))
    return out | (np.abs(z[:, 3]) <= SHARP * beside)
