"""The nonlinear program of a goal at chosen samples.

    min  sum c_i t_i + sum c_j f_j(u)         t_i >= x_k(u) for samples k of an extreme that is minimized (epigraph)
    s.t. low <= g(u) <= high,  0 <= u <= 1

An extreme jumps from sample to sample and has kinks there; every single sample is smooth. So the program has a row for each sample of a
working set: local peaks, and those that were violated later (`widen`). A range has two further variables, its lower end and its width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linkwright.api import SAME_NUMBER
from linkwright.rings.design.optimization.dwell_bands import OfRest
from linkwright.rings.design.optimization.problem import DesignPoint, DesignProblem, Limit
from linkwright.rings.design.optimization.quantities import MeasuredValue, OfBranch, SampleCurve

WORKING_PEAKS = 0.1  # of the range of a curve: peaks so near the extreme belong to the first working set
MOST_PEAKS = 12  # of a curve in it
SPREAD = 16  # samples at equal distances in the first working set


@dataclass
class SampleFamily:
    """Rows of one extreme: `sides` +1 for samples below a bound, -1 for samples above one."""

    quantity: MeasuredValue
    scale: float
    sides: tuple[int, ...]
    upper: int = -1  # auxiliary variable that is the bound above (or the size of a peak); -1: `high`
    lower: int = -1  # auxiliary variable that is the bound below; -1: `low`
    width: bool = False  # upper is counted from lower
    low: float = -np.inf
    high: float = np.inf
    samples: dict[int, set[int]] = field(default_factory=dict)  # by side

    def bounds(self, aux: np.ndarray) -> tuple[float, float]:
        """Bounds below and above at values of the auxiliary variables, over the scale."""
        low = aux[self.lower] if self.lower >= 0 else self.low / self.scale
        high = aux[self.upper] if self.upper >= 0 else self.high / self.scale
        if self.width:
            high = low + high
        elif self.quantity.extreme == "peak":
            low = -high
        return float(low), float(high)

    def curve(self, p: DesignPoint) -> SampleCurve:
        return self.quantity.curve(p)

    def widen(self, p: DesignPoint, aux: np.ndarray) -> bool:
        """Add the worst violated samples, one of every stretch; True if there are any."""
        c = self.curve(p)
        low, high = self.bounds(aux)
        more = False
        for side in self.sides:
            over = side * c.x / self.scale - (high if side > 0 else -low)
            tops = _peaks(over)
            for k in tops[over[tops] > SAME_NUMBER * max(1.0, abs(high if side > 0 else low))]:
                if int(c.at[k]) not in self.samples.setdefault(side, set()):
                    self.samples[side].add(int(c.at[k]))
                    more = True
        return more

    def begin(self, p: DesignPoint) -> None:
        """Choose the first working set: peaks near the extreme."""
        c = self.curve(p)
        for side in self.sides:
            y = side * c.x
            tops = _peaks(y)
            near = tops[y[tops] >= y.max() - WORKING_PEAKS * max(float(np.ptp(y)), 1e-300)] if len(y) else tops
            order = near[np.argsort(-y[near], kind="stable")][:MOST_PEAKS]
            spread = np.unique(np.linspace(0, len(y) - 1, SPREAD).round().astype(int)) if len(y) else []
            self.samples.setdefault(side, set()).update(int(c.at[k]) for k in (*order, *spread))


def _peaks(y: np.ndarray) -> np.ndarray:
    """Places of local maxima, ends included."""
    if len(y) < 3:
        return np.arange(len(y))
    left, right = np.r_[-np.inf, y[:-1]], np.r_[y[1:], -np.inf]
    return np.flatnonzero((y >= left) & (y >= right))


@dataclass(frozen=True)
class RowBlock:
    """Rows g(z) >= 0 (or = 0): values, gradients by all variables, and whose they are (empty: rows of an epigraph)."""

    values: np.ndarray
    slopes: np.ndarray
    equality: np.ndarray
    owners: list[str]

    @classmethod
    def joined(cls, parts: Sequence[RowBlock], size: int) -> RowBlock:
        """All rows of several blocks."""
        if not parts:
            return cls(np.zeros(0), np.zeros((0, size)), np.zeros(0, dtype=bool), [])
        values, slopes, equality = (np.concatenate([getattr(p, name) for p in parts]) for name in ("values", "slopes", "equality"))
        return cls(values, slopes, equality, [o for p in parts for o in p.owners])

    def some(self, mask: np.ndarray) -> RowBlock:
        """Those rows of a mask."""
        return RowBlock(self.values[mask], self.slopes[mask], self.equality[mask], [o for o, m in zip(self.owners, mask, strict=True) if m])


class GoalProgram:
    """The program of weighted goals: variables z = (u, auxiliary ones)."""

    def __init__(
        self,
        problem: DesignProblem,
        terms: Sequence[tuple[float, MeasuredValue]],
        p: DesignPoint,
        *,
        limits: Sequence[Limit] | None = None,
        elastic: bool = False,
    ):
        """`elastic`: limits may be violated, and the sum of the violations is minimized with the goal."""
        self.problem, self.n = problem, len(problem.variables)
        self.limits = problem.sought if limits is None else tuple(limits)
        self.direct: list[tuple[float, MeasuredValue]] = []
        self.families: list[SampleFamily] = []
        self.owners: list[str] = []
        self.linear: list[tuple[float, int]] = []  # coefficient and auxiliary variable, times a scale
        self.aux = 0
        for weight, q in terms:
            self._goal(weight, q, p)
        for lim in self.limits:
            self._limit(lim, p)
        branch = OfBranch.at(p)
        margin = 0.02  # of the largest determinant of the loops: least distance from a dead center
        if branch is not None:
            least = min(margin, 0.9 * branch.value(p))
            self._family(SampleFamily(branch, 1.0, (-1,), low=least), branch.name)
        self.slacks = {lim.text: self._new(1.0) for lim in self.limits} if elastic else {}
        for f in self.families:
            f.begin(p)
        value = sum(w * q.value(p) for w, q in terms)
        parts = [abs(w * q.value(p)) for w, q in terms]
        self.scale = max(abs(value), 1e-3 * max(parts, default=0.0), 1e-12) if terms else 1.0
        self.squared = len(terms) == 1 and terms[0][1].root_of_squares and terms[0][0] > 0.0
        self.terms = tuple(terms)

    def _goal(self, weight: float, q: MeasuredValue, p: DesignPoint) -> None:
        scale = max(abs(q.value(p)), 1e-12)
        down = weight > 0.0
        if q.extreme == "max" and down:
            self._family(SampleFamily(q, scale, (1,), upper=self._new(weight * scale)))
        elif q.extreme == "min" and not down:
            self._family(SampleFamily(q, scale, (-1,), lower=self._new(weight * scale)))
        elif q.extreme == "peak" and down:
            self._family(SampleFamily(q, scale, (1, -1), upper=self._new(weight * scale)))
        elif q.extreme == "range" and down:
            width = self._new(weight * scale)
            self._family(SampleFamily(q, scale, (1, -1), upper=width, lower=self._new(0.0), width=True))
        else:
            self.direct.append((weight, q))

    def _limit(self, lim: Limit, p: DesignPoint) -> None:
        if len(lim.terms) != 1 or lim.equality:
            return
        weight, q = lim.terms[0]
        q = q.at(p) if isinstance(q, OfRest) else q  # the window stays while a method works on the program
        low, high = (lim.low / weight, lim.high / weight) if weight > 0.0 else (lim.high / weight, lim.low / weight)
        bounded_above, bounded_below = np.isfinite(high), np.isfinite(low)
        if q.extreme == "max" and bounded_above:
            self._family(SampleFamily(q, lim.scale, (1,), high=high), lim.text)
        elif q.extreme == "min" and bounded_below:
            self._family(SampleFamily(q, lim.scale, (-1,), low=low), lim.text)
        elif q.extreme == "peak" and bounded_above:
            self._family(SampleFamily(q, lim.scale, (1, -1), high=high), lim.text)
        elif q.extreme == "range" and bounded_above:
            self._family(SampleFamily(q, lim.scale, (1, -1), high=high, lower=self._new(0.0), width=True), lim.text)

    def _family(self, f: SampleFamily, owner: str = "") -> None:
        self.families.append(f)
        self.owners.append(owner)

    def _new(self, coefficient: float) -> int:
        self.linear.append((coefficient, self.aux))
        self.aux += 1
        return self.aux - 1

    def start(self, p: DesignPoint) -> np.ndarray:
        """Variables at a design: auxiliary ones as its samples need them."""
        aux = np.zeros(self.aux)
        for f in self.families:
            x = f.curve(p).x / f.scale
            if not len(x):
                continue
            if f.width:
                aux[f.lower] = x.min()
                if f.upper >= 0:
                    aux[f.upper] = np.ptp(x)
            elif f.upper >= 0:
                aux[f.upper] = np.abs(x).max() if f.quantity.extreme == "peak" else x.max()
            elif f.lower >= 0:
                aux[f.lower] = x.min()
        for lim in self.limits if self.slacks else ():
            aux[self.slacks[lim.text]] = float(lim.violation(lim.value(p)))
        return np.concatenate([p.u, aux])

    @property
    def low(self) -> np.ndarray:
        """Lower bounds of the auxiliary variables: only slacks have one."""
        out = np.full(self.aux, -np.inf)
        out[list(self.slacks.values())] = 0.0
        return out

    def objective(self, p: DesignPoint, z: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient, over the scale. A root of squares alone is squared: it has a kink where it vanishes."""
        value, slope = 0.0, np.zeros(len(z))
        if self.squared:
            w, q = self.direct[0]
            x = w * q.value(p) / self.scale
            slope[: self.n] = 2.0 * x * w * q.gradient(p) * self.problem.span / self.scale if x > 0.0 else 0.0
            return x * x, slope
        for w, q in self.direct:
            value += w * q.value(p)
            slope[: self.n] += w * q.gradient(p) * self.problem.span
        for c, k in self.linear:
            value += c * z[self.n + k]
            slope[self.n + k] += c
        return value / self.scale, slope / self.scale

    def rows(self, p: DesignPoint, z: np.ndarray) -> RowBlock:
        """All rows at a design."""
        parts = [self._family_rows(f, owner, p, z) for f, owner in zip(self.families, self.owners, strict=True)]
        parts += [block for lim in self.limits for block in self._direct_rows(lim, p, len(z))]
        out = RowBlock.joined(parts, len(z))
        for text, k in self.slacks.items():  # every row of a limit gets its slack
            mine = np.array([o == text for o in out.owners], dtype=bool) & ~out.equality
            out.values[mine] += z[self.n + k]
            out.slopes[mine, self.n + k] += 1.0
        return out

    def _family_rows(self, f: SampleFamily, owner: str, p: DesignPoint, z: np.ndarray) -> RowBlock:
        c = f.curve(p)
        low, high = f.bounds(z[self.n :])
        parts = []
        for side, chosen in f.samples.items():
            there = np.zeros(max(int(c.at.max(initial=0)), *chosen, 0) + 1, dtype=bool)
            there[list(chosen)] = True
            at = np.flatnonzero(there[c.at])  # a window may move with the design
            slopes = np.zeros((len(at), len(z)))
            slopes[:, : self.n] = -side * c.dx[at] * self.problem.span / f.scale
            values = high - c.x[at] / f.scale if side > 0 else c.x[at] / f.scale - low
            for aux, x in self._of_auxiliary(f, side):
                slopes[:, self.n + aux] += x
            parts.append(RowBlock(values, slopes, np.zeros(len(at), dtype=bool), [owner] * len(at)))
        return RowBlock.joined(parts, len(z))

    def _of_auxiliary(self, f: SampleFamily, side: int) -> list[tuple[int, float]]:
        """Auxiliary variables in the rows of one side, with their coefficients."""
        if side > 0:
            found = [(f.upper, 1.0), (f.lower if f.width else -1, 1.0)]
        else:
            found = [(f.lower, -1.0), (f.upper if f.quantity.extreme == "peak" else -1, 1.0)]
        return [(k, x) for k, x in found if k >= 0]

    def _direct_rows(self, lim: Limit, p: DesignPoint, size: int) -> list[RowBlock]:
        """Rows of limits that no samples stand for: sums, smooth measures, extremes limited on their other side."""
        held = _sides_held(lim)
        wanted = [side for side, end in ((-1, lim.low), (1, lim.high)) if np.isfinite(end) and side not in held]
        if not wanted:
            return []
        value = lim.value(p)
        slope = np.zeros((1, size))
        slope[0, : self.n] = sum(w * q.gradient(p) for w, q in lim.terms) * self.problem.span / lim.scale
        if lim.equality:
            return [RowBlock(np.array([(value - lim.low) / lim.scale]), slope, np.array([True]), [lim.text])]
        ends = {1: (lim.high - value, -1.0), -1: (value - lim.low, 1.0)}
        return [RowBlock(np.array([ends[s][0] / lim.scale]), ends[s][1] * slope, np.array([False]), [lim.text]) for s in wanted]

    @property
    def extremes(self) -> bool:
        """True if the goal has extremes over samples."""
        return any(not owner for owner in self.owners)

    def moved(self, p: DesignPoint) -> bool:
        """True if a dwell of this design has another window than the program holds."""
        held = [f.quantity for f in self.families if isinstance(f.quantity, OfRest)]
        return any(q.at(p).window != q.window for q in held)

    def with_every_sample(self, p: DesignPoint) -> None:
        """Take all samples into the working set."""
        for f in self.families:
            every = {int(k) for k in f.curve(p).at}
            f.samples = {side: set(every) for side in f.sides}

    def widen(self, p: DesignPoint, z: np.ndarray) -> bool:
        """Add violated samples; True if there are any."""
        return any([f.widen(p, z[self.n :]) for f in self.families])


def _sides_held(lim: Limit) -> set[int]:
    """Ends of a limit that samples stand for: 1 the upper, -1 the lower."""
    if len(lim.terms) != 1 or lim.equality:
        return set()
    weight, q = lim.terms[0]
    side = {"max": 1, "peak": 1, "range": 1, "min": -1}.get(q.extreme, 0)
    return {side if weight > 0.0 else -side} - {0}
