"""Dimensions of a function generator by sequential quadratic programming: least largest error, exact at points, or least squares.

Unknowns z = (K1, K2, K3, crank start, output start); the error o(z, u) - start - v has exact derivatives from the implicit equation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.rings.synthesis.freudenstein import GeneratorForm, generated_output, link_ratio


@dataclass(frozen=True, eq=False)
class Generator:
    """Dimensions, the closure, and the largest error over the samples."""

    z: np.ndarray
    side: float
    error: float = float("inf")


@dataclass(frozen=True, eq=False)
class GeneratorTask:
    """Wanted travels of crank and output at samples and at precision points, fixed starts, and bounds."""

    form: GeneratorForm
    u: np.ndarray
    v: np.ndarray
    points_u: np.ndarray
    points_v: np.ndarray
    starts: tuple[float | None, float | None]
    most_ratio: float
    least_transmission: float

    @property
    def at_points(self) -> tuple[np.ndarray, np.ndarray]:
        return self.points_u, self.points_v

    def error_at(self, g: Generator, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        wanted = g.z[4] + v
        return generated_output(self.form, g.z[:3], g.z[3] + u, wanted, g.side)[0] - wanted

    def errors(self, g: Generator) -> np.ndarray:
        return self.error_at(g, self.u, self.v)

    def jacobian(self, g: Generator, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Derivatives (n, 5) of the error: -F_z / F_o, and -1 by the output start."""
        phi = g.z[3] + u
        o = generated_output(self.form, g.z[:3], phi, g.z[4] + v, g.side)[0]
        by_phi, by_o = self.form.slopes(g.z[:3], phi, o)
        by_o = np.where(np.abs(by_o) > 1e-12, by_o, 1e-12)
        rows = self.form.rows(phi, o)[0]
        return np.column_stack([-rows / by_o[:, None], -by_phi / by_o, -np.ones(len(u))])

    def transmission(self, g: Generator) -> np.ndarray:
        """Sine of the transmission angle at all samples."""
        phi = g.z[3] + self.u
        o = generated_output(self.form, g.z[:3], phi, g.z[4] + self.v, g.side)[0]
        return self.form.transmission(g.z[:3], self.form.slopes(g.z[:3], phi, o)[1])

    def admitted(self, g: Generator) -> bool:
        """True if the linkage closes over the whole range within its bounds, up to the tolerance of the search."""
        phi, wanted = g.z[3] + self.u, g.z[4] + self.v
        margin = generated_output(self.form, g.z[:3], phi, wanted, g.side)[1]
        good = np.isfinite(g.z).all() and margin.min() > 0.0 and link_ratio(self.form, g.z[:3]) <= self.most_ratio * (1 + 1e-6)
        return bool(good and self.transmission(g).min() >= np.sin(self.least_transmission) - 1e-6)


def minimax_generator(task: GeneratorTask, g: Generator) -> Generator | None:
    """Return the design of least largest error from a start; None if it leaves its bounds."""
    return _programmed(task, g, exact=False)


def exact_generator(task: GeneratorTask, g: Generator) -> Generator | None:
    """Return the design that meets the precision points exactly, of least largest error in what they leave free."""
    return _programmed(task, g, exact=True)


def least_squares_generator(task: GeneratorTask, g: Generator) -> Generator | None:
    """Return the design of least squares of the error at the precision points."""
    from scipy.optimize import least_squares

    free = _free(task)

    def at(w: np.ndarray) -> Generator:
        z = g.z.copy()
        z[free] = w
        return Generator(z, g.side)

    found = least_squares(
        lambda w: task.error_at(at(w), *task.at_points),
        g.z[free],
        jac=lambda w: task.jacobian(at(w), *task.at_points)[:, free],
        x_scale="jac",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    return _checked(task, at(found.x))


def _free(task: GeneratorTask) -> np.ndarray:
    return np.flatnonzero([True, True, True, *(s is None for s in task.starts)])


def _checked(task: GeneratorTask, g: Generator) -> Generator | None:
    return Generator(g.z, g.side, float(np.abs(task.errors(g)).max())) if task.admitted(g) else None


def _programmed(task: GeneratorTask, g: Generator, *, exact: bool) -> Generator | None:
    """min t subject to -t <= error <= t at samples, the bounds, and with `exact` error = 0 at the precision points."""
    from scipy.optimize import minimize

    free = _free(task)
    count = len(free)
    scale = np.maximum(np.abs(g.z[free]), 0.1)
    last = len(task.u) - 1
    working = np.unique(np.round(0.5 * last * (1.0 - np.cos(np.linspace(0.0, np.pi, 13)))).astype(int))  # grows by peaks between
    at, best = g, None
    for _ in range(6):
        unit = max(float(np.abs(task.errors(at)).max()), 1e-9)
        problem = _Program(task, at, free, scale, unit, working)
        constraints: list[dict[str, Any]] = [{"type": "ineq", "fun": problem.bounds, "jac": problem.bounds_slope}]
        if exact:
            constraints.append({"type": "eq", "fun": problem.met, "jac": problem.met_slope})
        with np.errstate(all="ignore"):
            found = minimize(
                lambda w: w[-1],
                np.r_[at.z[free] / scale, 1.0],
                jac=lambda w: np.eye(count + 1)[-1],
                constraints=constraints,
                method="SLSQP",
                options={"maxiter": 100, "ftol": 1e-10},
            )
            trial = _checked(task, problem.at(found.x)) if np.isfinite(found.x).all() else None
        if trial is None:
            break
        at = trial
        if (best is None or trial.error < best.error) and not (exact and np.abs(task.error_at(trial, *task.at_points)).max() > 1e-9):
            best = trial
        size = np.abs(task.errors(trial))
        inner = np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:])) + 1
        peaks = np.setdiff1d(inner[size[inner] > size[working].max() * (1 + 1e-6)], working)
        if not peaks.size:
            break
        working = np.union1d(working, peaks)
    return best


class _Program:
    """Constraints of the epigraph form in scaled variables w = (z / scale, t / unit)."""

    def __init__(self, task: GeneratorTask, g: Generator, free: np.ndarray, scale: np.ndarray, unit: float, thin: np.ndarray):
        self.task, self.start, self.free, self.scale, self.unit = task, g, free, scale, unit
        self.u, self.v = task.u[thin], task.v[thin]
        self.sign = float(np.sign(self._slope_o(g).sum())) or 1.0

    def at(self, w: np.ndarray) -> Generator:
        z = self.start.z.copy()
        z[self.free] = w[:-1] * self.scale
        return Generator(z, self.start.side)

    def _slope_o(self, g: Generator) -> np.ndarray:
        phi = g.z[3] + self.u
        o = generated_output(self.task.form, g.z[:3], phi, g.z[4] + self.v, g.side)[0]
        return self.task.form.slopes(g.z[:3], phi, o)[1]

    def bounds(self, w: np.ndarray) -> np.ndarray:
        g = self.at(w)
        error = self.task.error_at(g, self.u, self.v) / self.unit
        square = self.task.form.squares(g.z[:3])
        i, j = self._pairs(len(square))
        ratio = 1.0 - square[i] / (self.task.most_ratio**2 * np.maximum(square[j], 1e-12))
        parts = [w[-1] - error, w[-1] + error, ratio]
        if self.task.least_transmission > 0.0:
            parts.append(self._sine(g) - np.sin(self.task.least_transmission))
        return np.concatenate(parts)

    def bounds_slope(self, w: np.ndarray) -> np.ndarray:
        g = self.at(w)
        J = self.task.jacobian(g, self.u, self.v)[:, self.free] * self.scale / self.unit
        ones = np.ones((len(J), 1))
        square, by = self.task.form.squares(g.z[:3]), self.task.form.squares_slope(g.z[:3])
        i, j = self._pairs(len(square))
        below = np.maximum(square[j], 1e-12)[:, None]
        ratio = np.zeros((len(i), 5))
        ratio[:, :3] = -(by[i] / below - square[i][:, None] * by[j] / below**2) / self.task.most_ratio**2
        rows = [np.hstack([-J, ones]), np.hstack([J, ones]), np.hstack([ratio[:, self.free] * self.scale, np.zeros((len(i), 1))])]
        if self.task.least_transmission > 0.0:
            rows.append(self._sine_slope(w))
        return np.vstack(rows)

    def met(self, w: np.ndarray) -> np.ndarray:
        return self.task.error_at(self.at(w), *self.task.at_points) / self.unit

    def met_slope(self, w: np.ndarray) -> np.ndarray:
        J = self.task.jacobian(self.at(w), *self.task.at_points)[:, self.free] * self.scale / self.unit
        return np.hstack([J, np.zeros((len(J), 1))])

    def _pairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        i, j = np.nonzero(~np.eye(count, dtype=bool))
        return i, j

    def _sine(self, g: Generator) -> np.ndarray:
        return self.task.form.transmission(g.z[:3], self._slope_o(g))

    def _sine_slope(self, w: np.ndarray) -> np.ndarray:
        """By central differences: a bound that is rarely active, on a smooth function of five numbers."""
        out = np.zeros((len(self.u), len(w)))
        for k in range(len(w) - 1):
            step = np.zeros(len(w))
            step[k] = 1e-6
            out[:, k] = (self._sine(self.at(w + step)) - self._sine(self.at(w - step))) / 2e-6
        return out
