"""Least-squares problem of a path: a point of a linkage passes wanted points, and the crank turns fully.

Columns of a candidate: the dimensions of its form, the traced point w in its body, place and turn of the whole linkage, the crank angle
at the first point, and without timing the increments of the crank angle between points. Points are centered and of size 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from linkwright.rings.synthesis.dual_arrays import Dual, dimensions
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.final_improvement import SmoothProblem
from linkwright.rings.synthesis.linkage_forms import LinkageForm

Array = np.ndarray
ROUND = 24  # positions over a cycle at which the dyads have to close
PLACING = ("w.re", "w.im", "p.re", "p.im", "turn", "start")
LEAST_SIDE = 0.1  # of the determinant of a coupled closure, rows of size 1
ANGLE = 40.0  # bound of angles that are free, rad


@dataclass(frozen=True)
class FormLimits:
    """Largest and least length of a link over the size of the path, and the largest cosine of a transmission angle.

    within: two corners of a box for the fixed pivots, in the coordinates of the points.
    """

    longest: float
    shortest: float
    cosine: float
    within: tuple[complex, complex] | None = None


@dataclass(frozen=True, eq=False)
class FormParts:
    """Distances to the wanted points (N, K), limited quantities with their largest size, and angles of coupled bodies."""

    miss: Dual
    limited: list[tuple[Dual, float]]
    angles: dict[str, Array]


@dataclass(frozen=True, eq=False)
class FormFit:
    """Residuals of candidates of one form, with exact derivatives.

    flags: constants of all candidates. guesses: angles of coupled bodies (N, K + ROUND) at the best iterate so far, with its cost.
    """

    form: LinkageForm
    points: Array  # (K,) complex
    timing: Array | None  # (K,) crank angles from the first point, signed
    limits: FormLimits
    flags: Mapping[str, Array]
    guesses: dict[str, Array] = field(default_factory=dict)
    costs: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def fixed(self) -> int:
        """Columns before the increments."""
        return len(self.form.names) + len(PLACING)

    @property
    def start(self) -> int:
        return self.fixed - 1

    @property
    def names(self) -> tuple[str, ...]:
        more = () if self.timing is not None else tuple(f"step{k}" for k in range(len(self.points) - 1))
        return (*self.form.names, *PLACING, *more)

    def bounds(self) -> tuple[Array, Array]:
        """Return lower and upper bounds of all columns."""
        longest, shortest = self.limits.longest, self.limits.shortest

        def pair(name: str) -> tuple[float, float]:
            if name.startswith("step"):
                return 1e-4, 2.0 * np.pi
            if name in ("turn", "start", "phase"):
                return -ANGLE, ANGLE
            if name.startswith("p."):
                return -3.0 * longest, 3.0 * longest
            if name.endswith((".re", ".im")):
                return -longest, longest
            if self.form.slack and name in ("a", "b", "c"):
                return 0.0, 2.0 * longest
            return shortest, longest

        pairs = np.array([pair(name) for name in self.names])
        return pairs[:, 0], pairs[:, 1]

    def angles(self, x: Array, rows: Array) -> Array:
        """Return the crank angles (N, K) at the points."""
        start = x[:, self.start : self.start + 1]
        if self.timing is not None:
            return start + self.timing
        gone = np.concatenate([np.zeros((len(x), 1)), np.cumsum(x[:, self.fixed :], axis=1)], axis=1)
        return start + self.flags["sense"][rows, None] * gone

    def known(
        self, x: Array, rows: Array, theta: Array, *, slopes: bool = True, guesses: Mapping[str, Array] | None = None
    ) -> LinkagePositions:
        """Return the poses at crank angles theta (N, M); the derivative by theta is that by the column `start`."""
        columns = dict(zip(self.names[: self.fixed], dimensions(x[:, : self.fixed], slopes=slopes), strict=True))
        flags = {n: f[rows] for n, f in self.flags.items()} | dict(guesses or {})
        numbers = self.form.numbers({n: c for n, c in columns.items() if n not in PLACING[2:]}, flags)
        return positions(self.form.steps, numbers, Dual(theta, {self.start: np.ones_like(theta)} if slopes else {}))

    def placed(self, point: Dual, x: Array, *, slopes: bool = True) -> Dual:
        """Return a point of the linkage after its turn and its displacement."""
        one = np.ones((len(x), 1))
        p_re, p_im, turn = (Dual(x[:, k : k + 1], {k: one} if slopes else {}) for k in range(self.fixed - 4, self.fixed - 1))
        return point * turn.turned() + p_re + p_im * 1j

    def parts(self, x: Array, rows: Array, *, slopes: bool = True) -> FormParts:
        guesses = {n: g[rows] for n, g in self.guesses.items()}
        known = self.known(x, rows, self.cycle(x, rows), slopes=slopes, guesses=guesses)
        wanted = slice(0, len(self.points))
        path = self.placed(known.point(self.form.path).at(slice(None), wanted), x, slopes=slopes)
        coupled = self.form.coupled
        limited = [(dual, 0.0) for dual in known.gaps.values()]
        limited += [(dual, self.limits.cosine) for dual in known.closings.values()]
        # side * determinant >= LEAST_SIDE, as a size with a limit
        limited += [(1.0 - dual * self.flags["side"][rows, None], 1.0 - LEAST_SIDE) for dual in known.sides.values()]
        limited += [(known.dimensions[n] / self.limits.longest, 1.0) for n in self.form.lengths]
        if self.limits.within is not None:
            limited += self._boxed(known, x, slopes)
        if self.timing is None:
            steps = Dual(x[:, self.fixed :].sum(1, keepdims=True) / (2.0 * np.pi))
            limited.append((steps, 1.0))
        found = {} if coupled is None else {b: np.angle(known.poses[b].direction.value) for b, _ in coupled.hanging}
        return FormParts(path - self.points, limited, {f"guess:{b}": a for b, a in found.items()})

    def _boxed(self, known: LinkagePositions, x: Array, slopes: bool) -> list[tuple[Dual, float]]:
        """Return the fixed pivots' distances from the middle of their box over half of its sides."""
        assert self.limits.within is not None
        low, high = self.limits.within
        half, middle = (high - low) / 2.0, (high + low) / 2.0
        fixed = {pin for step in self.form.steps for body, pin in step.joins if body == "ground"}
        away = [self.placed(known.pins[pin], x, slopes=slopes) - middle for pin in sorted(fixed)]
        return [pair for a in away for pair in ((a.real * (1.0 / half.real), 1.0), (a.imag * (1.0 / half.imag), 1.0))]

    def __call__(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals (N, m) and their derivatives (N, m, n), as `levenberg_marquardt` calls it."""
        parts = self.parts(x, rows)
        beyond = [exceeding(dual, limit) for dual, limit in parts.limited]
        r = np.concatenate([parts.miss.value.real, parts.miss.value.imag, *(b.value for b in beyond)], axis=1)
        slope = self.chained(parts.miss, rows)
        slopes = [self.chained(b, rows) for b in beyond]
        if self.timing is None:
            slopes[-1][:, 0, self.fixed :] = (beyond[-1].value > 0.0) / (2.0 * np.pi)
        self._remember(parts, rows, r)
        return r, np.concatenate([slope.real, slope.imag, *slopes], axis=1)

    def curve(self, x: Array, row: int) -> Array:
        """Return the traced point of one candidate at the wanted points and over the whole turn."""
        rows = np.array([row])
        theta = self.cycle(x[None, :], rows)
        guesses = {n: g[rows] for n, g in self.guesses.items()}
        known = self.known(x[None, :], rows, theta, slopes=False, guesses=guesses)
        return self.placed(known.point(self.form.path), x[None, :], slopes=False).value[0]

    def cycle(self, x: Array, rows: Array) -> Array:
        """Return the crank angles (N, K + ROUND turns) at the points and over the whole cycle."""
        turns = self.form.turns
        turn = x[:, self.start : self.start + 1] + np.linspace(0.0, 2.0 * np.pi * turns, ROUND * turns, endpoint=False)
        return np.concatenate([self.angles(x, rows), turn], axis=1)

    def sums(self, x: Array) -> Array:
        """Return the sums of squares of all candidates."""
        parts = self.parts(x, np.arange(len(x)), slopes=False)
        sizes = [np.abs(parts.miss.value), *(exceeding(dual, limit).value for dual, limit in parts.limited)]
        total = sum((s * s).sum(1) for s in sizes)
        return np.where(np.isfinite(total), total, np.inf)

    def smooth(self, row: int) -> SmoothProblem:
        """Return one candidate as a problem under inequalities (final_improvement.py)."""
        rows = np.array([row])

        def problem(x: Array, slopes: bool) -> tuple[Array, Array, Array, Array]:
            parts = self.parts(x[None, :], rows, slopes=slopes)
            r = np.concatenate([parts.miss.value[0].real, parts.miss.value[0].imag])
            self._remember(parts, rows, r[None, :])
            bounded = [(dual, limit) for dual, limit in parts.limited if limit > 0.0]  # coupled closures are exact here
            g = np.concatenate([limit + sign * dual.value[0] for dual, limit in bounded for sign in (-1.0, 1.0)])
            if not slopes:
                return r, np.zeros(0), g, np.zeros(0)
            slope = self.chained(parts.miss, rows)[0]
            jacobians = [self.chained(dual, rows)[0] for dual, _ in bounded]
            if self.timing is None:
                jacobians[-1][:, self.fixed :] = 1.0 / (2.0 * np.pi)  # the sum of the increments
            gradients = np.concatenate([sign * j for j in jacobians for sign in (-1.0, 1.0)])
            return r, np.concatenate([slope.real, slope.imag]), g, gradients

        return problem

    def chained(self, dual: Dual, rows: Array) -> Array:
        """Return the derivatives (N, M, n) by all columns; the increments act through the crank angle."""
        whole = np.zeros((*dual.value.shape, len(self.names)), dtype=dual.value.dtype)
        whole[..., : self.fixed] = dual.jacobian(self.fixed)
        if self.timing is None and dual.value.shape[1] > 1:
            by_angle = self.flags["sense"][rows, None] * whole[..., self.start]
            for k in range(1, len(self.points)):
                whole[:, k, self.fixed : self.fixed + k] = by_angle[:, k, None]
        return whole

    def _remember(self, parts: FormParts, rows: Array, r: Array) -> None:
        """Store the angles of coupled bodies where the sum of squares has decreased, as starts of the next Newton iterations."""
        if parts.angles:
            cost = (r * r).sum(1)
            better = cost < self.costs[rows]
            self.costs[rows[better]] = cost[better]
            for name, angle in parts.angles.items():
                self.guesses[name][rows[better]] = angle[better]


def with_limits(total: Array, limited: Iterable[tuple[Dual, float]]) -> Array:
    """Return sums of squares of candidates with those of what exceeds their limits; infinite where there is no number."""
    for dual, limit in limited:
        total = total + (exceeding(dual, limit).value ** 2).sum(1)
    return np.where(np.isfinite(total), total, np.inf)


def exceeding(dual: Dual, limit: float) -> Dual:
    """Return max(0, |d| - limit), with the sign of d where the limit is 0: the residual of a limited quantity."""
    if limit == 0.0:
        return dual
    size = np.abs(dual.value) - limit
    return dual.through(np.maximum(size, 0.0), np.sign(dual.value) * (size > 0.0))
