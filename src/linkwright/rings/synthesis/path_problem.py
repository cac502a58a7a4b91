"""Path of a coupler point through wanted points as a least-squares problem over many candidates.

    P_k = p0 + e^(i th0) (r2 e^(i theta_k) + u e^(i phi_k)),    theta_k = t1 + direction timing_k   or   t1 + direction (d_1 + ... + d_k)

Variables of a candidate: shape (see coupler_chains.py), u (2), p0 (2), th0, t1 and, without timing, the increments d > 0, whose sum
is one turn at most: the order of the points holds by construction. What is discrete (kind of linkage, sigma, direction of the crank) is
chosen for each candidate once. Inequalities g <= 0 (lengths, their ratio, pivots, transmission angle) enter least squares as
WEIGHT * max(g, 0), and the polish as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkwright.properties import cached_property
from linkwright.rings.synthesis.coupler_chains import Array, Chain, lengths

WEIGHT = 10.0
SMALLEST_INCREMENT = 1e-4  # rad, of the crank between two points
TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class PathChoices:
    """Discrete choices of the candidates: kind of linkage, sign of the branch, direction of the crank."""

    kind: Array
    sigma: Array
    direction: Array

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, rows: Array) -> PathChoices:
        return PathChoices(self.kind[rows], self.sigma[rows], self.direction[rows])


def joined(parts: list[PathChoices]) -> PathChoices:
    return PathChoices(*(np.concatenate([getattr(x, name) for x in parts]) for name in ("kind", "sigma", "direction")))


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Limits of a candidate, in the units of the problem: lengths by link, their ratio, boxes (two corners), transmission angle in rad."""

    least: tuple[float, ...]
    most: tuple[float, ...]
    ratio: float = np.inf
    point: tuple[complex, complex] | None = None  # of u, in the frame of the coupler
    crank_pivot: tuple[complex, complex] | None = None
    other_pivot: tuple[complex, complex] | None = None
    transmission: float = 0.0


@dataclass(frozen=True, eq=False)
class PathProblem:
    """Wanted points with or without timing, limits, and the variables that are held."""

    chain: Chain
    points: Array  # (n,) complex
    timing: Array | None  # (n,) rad; None: increments are variables
    limits: PathLimits
    held: tuple[tuple[str, float], ...] = ()  # "x0", "y0", "th0", "t1"
    absolute: bool = False  # t1 is measured from the x axis, not from the ground link

    @property
    def shapes(self) -> int:
        return self.chain.lengths_of.shape[2]

    @property
    def variables(self) -> int:
        return self.shapes + 6 + (len(self.points) - 1 if self.timing is None else 0)

    def place(self, name: str) -> int:
        return self.shapes + ("ux", "uy", "x0", "y0", "th0", "t1").index(name)

    @property
    def free(self) -> Array:
        movable = np.ones(self.variables, dtype=bool)
        movable[[self.place(name) for name, _ in self.held]] = False
        return movable

    def bounds(self, kind: Array) -> tuple[Array, Array]:
        """Return the lower and upper bounds of the variables (N, variables)."""
        limits, s = self.limits, self.shapes
        most = max(limits.most)
        lower = np.full((len(kind), self.variables), -np.inf)
        upper = np.full((len(kind), self.variables), np.inf)
        lower[:, :s], upper[:, :s] = 0.0, 2.0 * most
        shortest = np.array([int(np.flatnonzero(rows[:, 1:].any(axis=1) == 0)[0]) for rows in self.chain.lengths_of])[kind]
        lower[:, 0], upper[:, 0] = np.array(limits.least)[shortest], np.array(limits.most)[shortest]
        for box, first in ((limits.point, "ux"), (limits.crank_pivot, "x0")):
            if box is not None:
                k = self.place(first)
                lower[:, k : k + 2], upper[:, k : k + 2] = (box[0].real, box[0].imag), (box[1].real, box[1].imag)
        if self.timing is None:
            lower[:, s + 6 :], upper[:, s + 6 :] = SMALLEST_INCREMENT, TURN
        return lower, upper

    def angles(self, v: Array, choices: PathChoices) -> Array:
        """Return the crank angles from the ground link (N, n)."""
        s = self.shapes
        first = v[:, s + 5, None] - v[:, s + 4, None] if self.absolute else v[:, s + 5, None]
        if self.timing is not None:
            return first + choices.direction[:, None] * self.timing
        run = np.concatenate([np.zeros((len(v), 1)), np.cumsum(v[:, s + 6 :], axis=1)], axis=1)
        return first + choices.direction[:, None] * run

    def at(self, v: Array, choices: PathChoices) -> Array:
        """Return the coupler points (N, n), complex."""
        s, theta = self.shapes, self.angles(v, choices)
        r2 = lengths(self.chain, v[:, :s], choices.kind)[:, self.chain.crank, None]
        coupler = self.chain.coupler(v[:, :s], choices.kind, choices.sigma, theta)
        along = r2 * np.exp(1j * theta) + (v[:, s] + 1j * v[:, s + 1])[:, None] * coupler
        return (v[:, s + 2] + 1j * v[:, s + 3])[:, None] + np.exp(1j * v[:, s + 4])[:, None] * along

    def path(self, v: Array, choices: PathChoices, *, core: bool = False) -> tuple[Array, Array]:
        """Return the coupler points (N, n) and their derivatives (N, n, variables), both complex; core: without those by increments."""
        s, n = self.shapes, len(self.points)
        theta = self.angles(v, choices)
        crank_row = self.chain.lengths_of[choices.kind, self.chain.crank]  # (N, shape)
        r2 = lengths(self.chain, v[:, :s], choices.kind)[:, self.chain.crank, None]
        coupler = self.chain.coupler(v[:, :s], choices.kind, choices.sigma, theta)
        by_shape, by_theta = self.chain.rates(v[:, :s], choices.kind, theta, coupler)
        frame = np.exp(1j * v[:, s + 4])[:, None]
        tip = frame * coupler
        arm = (v[:, s] + 1j * v[:, s + 1])[:, None] * tip
        turn = frame * np.exp(1j * theta)
        along = r2 * turn + arm
        increments = self.timing is None and not core
        derivative = np.zeros((len(v), n, self.variables if increments else s + 6), dtype=complex)
        derivative[..., :s] = (1j * arm)[..., None] * by_shape + turn[..., None] * crank_row[:, None, :]
        derivative[..., s], derivative[..., s + 1] = tip, 1j * tip
        derivative[..., s + 2], derivative[..., s + 3] = 1.0, 1j
        by_angle = 1j * (r2 * turn + arm * by_theta)
        derivative[..., s + 4] = 1j * along - by_angle if self.absolute else 1j * along
        derivative[..., s + 5] = by_angle
        if increments:
            derivative[..., s + 6 :] = (choices.direction[:, None] * by_angle)[..., None] * np.tri(n, n - 1, -1)
        return (v[:, s + 2] + 1j * v[:, s + 3])[:, None] + along, derivative

    def inequalities(self, v: Array, choices: PathChoices) -> tuple[Array, Array]:
        """Return g (N, rows), wanted 0 or less, and its derivatives (N, rows, variables)."""
        s = self.shapes
        shape, kind = v[:, :s], choices.kind
        rows, constants = self._linear
        values = [np.einsum("nrs,ns->nr", rows[kind], shape) - constants]
        by_shape = [rows[kind]]
        if self.limits.transmission > 0.0:
            g, derivative = self.chain.transmission(shape, kind, self.limits.transmission)
            values.append(g)
            by_shape.append(derivative)
        value = np.concatenate(values, axis=1)
        derivative = np.zeros((*value.shape, self.variables))
        derivative[..., :s] = np.concatenate(by_shape, axis=1)
        parts, derivatives = [value], [derivative]
        for g, by_v in (self._turn(v), self._pivot(v, choices)):
            parts.append(g)
            derivatives.append(by_v)
        return np.concatenate(parts, axis=1), np.concatenate(derivatives, axis=1)

    @cached_property
    def _linear(self) -> tuple[Array, Array]:
        """Rows (kinds, rows, shape) and constants of the limits on lengths and on their ratio."""
        limits, of = self.limits, self.chain.lengths_of
        rows, constants = [], []
        for k, (least, most) in enumerate(zip(limits.least, limits.most, strict=True)):
            rows += [of[:, k], -of[:, k]]
            constants += [most, -least]
            if np.isfinite(limits.ratio) and self.chain.links[k] != "offset":
                rows.append(of[:, k] - limits.ratio * np.eye(self.shapes)[0])
                constants.append(0.0)
        return np.stack(rows, axis=1), np.array(constants)

    def _turn(self, v: Array) -> tuple[Array, Array]:
        """Sum of the increments: one turn at most."""
        if self.timing is not None:
            return np.zeros((len(v), 0)), np.zeros((len(v), 0, self.variables))
        derivative = np.zeros((len(v), 1, self.variables))
        derivative[..., self.shapes + 6 :] = 1.0
        return v[:, self.shapes + 6 :].sum(axis=1, keepdims=True) - TURN, derivative

    def _pivot(self, v: Array, choices: PathChoices) -> tuple[Array, Array]:
        """The other fixed pivot inside its box; a slider-crank has none."""
        box = self.limits.other_pivot
        if box is None or "ground" not in self.chain.links:
            return np.zeros((len(v), 0)), np.zeros((len(v), 0, self.variables))
        s, ground = self.shapes, self.chain.links.index("ground")
        frame = np.exp(1j * v[:, s + 4])
        span = lengths(self.chain, v[:, :s], choices.kind)[:, ground] * frame
        pivot = v[:, s + 2] + 1j * v[:, s + 3] + span
        by_v = np.zeros((len(v), self.variables), dtype=complex)
        by_v[:, :s] = frame[:, None] * self.chain.lengths_of[choices.kind, ground]
        by_v[:, s + 2], by_v[:, s + 3], by_v[:, s + 4] = 1.0, 1j, 1j * span
        g = np.stack([box[0].real - pivot.real, pivot.real - box[1].real, box[0].imag - pivot.imag, pivot.imag - box[1].imag], axis=1)
        return g, np.stack([-by_v.real, by_v.real, -by_v.imag, by_v.imag], axis=1)

    def least_squares(self, v: Array, choices: PathChoices) -> tuple[Array, Array]:
        """Return residuals and derivatives for Levenberg-Marquardt: deviations in x and y, then the weighted violations."""
        at, by_v = self.path(v, choices)
        missed = at - self.points
        g, by_g = self.inequalities(v, choices)
        violated = g > 0.0
        residual = np.concatenate([missed.real, missed.imag, WEIGHT * np.where(violated, g, 0.0)], axis=1)
        return residual, np.concatenate([by_v.real, by_v.imag, WEIGHT * np.where(violated[..., None], by_g, 0.0)], axis=1)

    def errors(self, v: Array, choices: PathChoices) -> Array:
        """Return the sums of squared distances (N,)."""
        return (np.abs(self.at(v, choices) - self.points) ** 2).sum(axis=1)

    def penalized(self, v: Array, choices: PathChoices) -> Array:
        """Return the sums of squares of `least_squares` (N,), without derivatives."""
        g = np.maximum(self.inequalities(v, choices)[0], 0.0)
        return self.errors(v, choices) + WEIGHT**2 * np.einsum("ng,ng->n", g, g)

    def through(self, points: Array, timing: Array | None) -> PathProblem:
        return replace(self, points=points, timing=timing)
