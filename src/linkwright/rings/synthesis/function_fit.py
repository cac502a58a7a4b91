"""Least-squares and minimax problem of a function generator: output angle minus wanted angle, the start of the output being free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from linkwright.rings.synthesis.duals import Dual, dimensions
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.form_fit import ANGLE, LEAST_SIDE, exceeding
from linkwright.rings.synthesis.function_forms import FunctionForm
from linkwright.rings.synthesis.polishing import SmoothProblem

Array = np.ndarray
SHORTEST = 0.05  # over the distance of the first fixed pivots


@dataclass(frozen=True, eq=False)
class FunctionParts:
    """Errors (N, K), limited quantities with their largest size, and angles of coupled bodies."""

    errors: Dual
    limited: list[tuple[Dual, float]]
    angles: dict[str, Array]


@dataclass(frozen=True, eq=False)
class FunctionFit:
    """Candidates of one form for inputs and outputs (K,) in rad; flags `guess:<body>` (N, K) are angles of the best iterate so far."""

    form: FunctionForm
    inputs: Array
    outputs: Array
    longest: float
    cosine: float
    flags: Mapping[str, Array]
    costs: Array = field(default_factory=lambda: np.zeros(0))  # least sum of squares of each candidate so far

    def bounds(self) -> tuple[Array, Array]:
        def pair(name: str) -> tuple[float, float]:
            if name in ("start", "delta"):
                return -ANGLE, ANGLE
            return (-self.longest, self.longest) if name.endswith((".re", ".im")) else (SHORTEST, self.longest)

        pairs = np.array([pair(name) for name in self.form.columns])
        return pairs[:, 0], pairs[:, 1]

    def known(self, x: Array, rows: Array, *, slopes: bool = True, inputs: Array | None = None) -> LinkagePositions:
        """Return the poses at the inputs, or at other crank angles from the first one."""
        columns = dict(zip(self.form.columns, dimensions(x, slopes=slopes), strict=True))
        start = columns.pop("start")
        gone = (self.inputs if inputs is None else inputs) - self.inputs[0]
        theta = start + np.broadcast_to(gone, (len(x), len(gone)))
        numbers = self.form.numbers(columns, {n: f[rows] for n, f in self.flags.items()})
        return positions(self.form.steps, numbers, theta)

    def errors(self, known: LinkagePositions) -> Dual:
        """Return output minus wanted angle, up to a constant: relative to its mean direction, so that it does not wrap."""
        seen = known.poses[self.form.output].direction * np.exp(-1j * self.outputs)
        mean = seen.value.mean(1, keepdims=True)
        return (seen * np.conj(np.where(np.abs(mean) > 1e-9, mean, 1.0))).angle()

    def parts(self, x: Array, rows: Array, *, slopes: bool = True) -> FunctionParts:
        known = self.known(x, rows, slopes=slopes)
        limited = [(dual, 0.0) for dual in known.gaps.values()]
        limited += [(dual, self.cosine) for dual in known.closings.values()]
        limited += [(1.0 - dual * self.flags["side"][rows, None], 1.0 - LEAST_SIDE) for dual in known.sides.values()]
        angles = {f"guess:{b}": np.angle(known.poses[b].direction.value) for b in ("coupler", "rocker")} if self.form.coupled else {}
        return FunctionParts(self.errors(known), limited, angles)

    def __call__(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals (N, m) and their derivatives (N, m, n), as `levenberg_marquardt` calls it."""
        parts = self.parts(x, rows)
        level = parts.errors.each(lambda a: a - np.mean(a, axis=1, keepdims=True))
        beyond = [exceeding(dual, limit) for dual, limit in parts.limited]
        n = x.shape[1]
        r = np.concatenate([level.value, *(b.value for b in beyond)], axis=1)
        self._remember(parts, rows, (r * r).sum(1))
        return r, np.concatenate([level.jacobian(n), *(b.jacobian(n) for b in beyond)], axis=1)

    def sums(self, x: Array) -> Array:
        """Return the sums of squares of all candidates."""
        parts = self.parts(x, np.arange(len(x)), slopes=False)
        total = parts.errors.value.var(axis=1) * len(self.inputs)
        for dual, limit in parts.limited:
            total = total + (exceeding(dual, limit).value ** 2).sum(1)
        return np.where(np.isfinite(total), total, np.inf)

    def smooth(self, row: int) -> SmoothProblem:
        """Return one candidate as a problem under inequalities (polishing.py); its last variable is the start of the output."""
        rows = np.array([row])

        def problem(v: Array, slopes: bool) -> tuple[Array, Array, Array, Array]:
            n = len(v) - 1
            parts = self.parts(v[None, :n], rows, slopes=slopes)
            r = parts.errors.value[0] - v[n]
            self._remember(parts, rows, np.array([r @ r]))
            bounded = [(dual, limit) for dual, limit in parts.limited if limit > 0.0]
            g = np.concatenate([limit + sign * dual.value[0] for dual, limit in bounded for sign in (-1.0, 1.0)])
            if not slopes:
                return r, np.zeros(0), g, np.zeros(0)
            jacobian = np.hstack([parts.errors.jacobian(n)[0], np.full((len(r), 1), -1.0)])
            gradients = np.concatenate([sign * dual.jacobian(n)[0] for dual, _ in bounded for sign in (-1.0, 1.0)])
            return r, jacobian, g, np.hstack([gradients, np.zeros((len(g), 1))])

        return problem

    def _remember(self, parts: FunctionParts, rows: Array, cost: Array) -> None:
        """Store the angles of coupled bodies where the sum of squares has decreased, as starts of the next Newton iterations."""
        if parts.angles:
            better = cost < self.costs[rows]
            self.costs[rows[better]] = cost[better]
            for name, angle in parts.angles.items():
                self.flags[name][rows[better]] = angle[better]
