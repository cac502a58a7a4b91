"""Six-bar function generators: the output angle follows a wanted function of the crank angle with the least largest error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, least_squares_fits, sobol_points
from linkwright.rings.synthesis.drawings import drawn
from linkwright.rings.synthesis.duals import Dual, dimensions
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, distinct, polished
from linkwright.rings.synthesis.form_fit import ANGLE, LEAST_SIDE, exceeding, with_limits
from linkwright.rings.synthesis.form_paths import Found, wanted_kinds
from linkwright.rings.synthesis.function_forms import FUNCTION_FORMS, FunctionForm
from linkwright.rings.synthesis.non_dyad_closure import CoupledStep, walked
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked

Array = np.ndarray
STARTS = 4096
ROUNDS = ((128, 25), (32, 120))  # candidates and iterations of Levenberg-Marquardt
POLISHED, TRIED = 3, 8
RATIO = 10.0  # longest link over the distance of the first fixed pivots
TRANSMISSION = np.deg2rad(20.0)
BETWEEN = 8  # positions traced between two inputs


def six_bar_functions(
    inputs: Any,
    outputs: Any,
    *,
    kind: str | Sequence[str] | None = None,
    size: float = 0.1,
    ratio: float = RATIO,
    transmission: float = TRANSMISSION,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
) -> Found:
    """Return six-bars whose output angle follows `outputs` over the crank angles `inputs`, both in rad; both may start anywhere.

    kind: "watt II", "stephenson III", "stephenson II", or several; the first two without it. size: distance in m of the first two
    fixed pivots; ratio: longest link over it. transmission: least transmission angle in rad over the range. The error is the largest
    |output - wanted| in rad at the inputs, so give as many as the function needs.
    """
    given, wanted = _angles(inputs, outputs)
    if not (np.isfinite(size) and size > 0.0 and 1.0 < ratio <= 1e3):
        raise UsageError(
            f"size = {size}, ratio = {ratio}: give a positive distance of the fixed pivots in m and a ratio above 1.", name="size"
        )
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(
            f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.", name="transmission"
        )
    if count < 1 or starts < 16:
        raise UsageError(f"count = {count}, starts = {starts}: ask for at least 1 answer and 16 starts.", name="count")
    kinds = wanted_kinds(("watt II", "stephenson III") if kind is None else kind, FUNCTION_FORMS)
    found, evaluations = [], 0
    for name in kinds:
        form = FUNCTION_FORMS[name]
        optima, tried = _search(form, given, wanted, ratio, float(np.cos(transmission)), seed, starts)
        evaluations += tried
        found += [_answer(fit, row, x, size) for fit, row, x in optima]
    facts = {"forms": len(kinds), "starts": starts * len(kinds), "evaluations": evaluations, "optima": len(found)}
    notes = () if found else ("No linkage of this type follows the function within these limits; allow a larger ratio of lengths.",)
    return list(ranked(found)[:count]), facts, notes


def _angles(inputs: Any, outputs: Any) -> tuple[Array, Array]:
    """Return both lists as arrays, or say what is wrong."""
    try:
        given, wanted = np.asarray(inputs, dtype=float), np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("inputs and outputs must be numbers: angles in rad.", name="inputs") from None
    if given.ndim != 1 or given.shape != wanted.shape or len(given) < 4:
        raise UsageError(
            f"{counted(given.size, 'input')}, {counted(wanted.size, 'output')}: give two lists of the same length, at least 4 "
            "angles in rad each."
        )
    if not (np.isfinite(given).all() and np.isfinite(wanted).all()):
        raise UsageError("an angle is not a finite number; give inputs and outputs in rad.", name="angles")
    steps = np.diff(given)
    if not ((steps > 0.0).all() or (steps < 0.0).all()) or abs(given[-1] - given[0]) > 2.0 * np.pi:
        raise UsageError("inputs must increase (or decrease), within one turn of the crank.", name="inputs")
    if np.ptp(wanted) == 0.0 or np.ptp(wanted) > np.deg2rad(170.0):
        raise UsageError(
            f"outputs span {np.rad2deg(np.ptp(wanted)):g} deg; the output of a dyad must move, and by up to 170 deg.", name="outputs"
        )
    return given, wanted


def _search(
    form: FunctionForm, inputs: Array, outputs: Array, ratio: float, cosine: float, seed: int, count: int
) -> tuple[list[tuple[FunctionFit, int, Array]], int]:
    """Return optima of one form, least largest error first: (problem, row, columns); and the evaluations made."""
    rng = np.random.default_rng(seed)
    shape, flags = form.sample(sobol_points.sobol(count, form.sampled, seed=seed), inputs, outputs, rng)
    x = np.column_stack([shape[name] for name in form.columns])
    fit = FunctionFit(form, inputs, outputs, ratio, cosine, flags, np.full(len(x), np.inf))
    low, high = fit.bounds()
    x = np.clip(x, low, high)
    if not len(x):
        return [], count
    cost, evaluations = fit.sums(x), count
    for some, iterations in ROUNDS:
        rows = np.argsort(cost, kind="stable")[:some]
        fit = replace(fit, flags={name: f[rows] for name, f in fit.flags.items()}, costs=np.full(len(rows), np.inf))
        done = least_squares_fits.levenberg_marquardt(fit, x[rows], low, high, iterations=iterations, tolerance=1e-5)
        x, cost, evaluations = done.x, done.cost, evaluations + done.evaluations
    optima = []
    for row in distinct(x, cost, TRIED):
        fit.costs[row] = np.inf
        level = float(fit.parts(x[row : row + 1], np.array([row]), slopes=False).errors.value[0].mean())
        ends = (np.append(low, -np.inf), np.append(high, np.inf))
        best = polished(fit.smooth(row), np.append(x[row], level), *ends, maximum=True, iterations=100, floor=0.1)
        evaluations += best.evaluations
        if best.violation < 1e2 * VIOLATED:
            optima.append((best.value, fit, row, best.x[:-1]))
        if len(optima) == POLISHED:
            break
    return [(f, r, x) for _, f, r, x in sorted(optima, key=lambda o: o[0])], evaluations


def _answer(fit: FunctionFit, row: int, x: Array, size: float) -> SynthesizedLinkage:
    """Return one linkage in meters, drawn at the first input, traced through all inputs and between them."""
    form, rows = fit.form, np.array([row])
    known = fit.known(x[None, :], rows, slopes=False)
    error = fit.errors(known).value[0]
    largest = float(np.ptp(error)) / 2.0
    linkage = drawn(form.kind, form.steps, known, output=f"{form.output}.angle", size=size)
    lengths = [1.0, *(abs(float(known.dimensions[n].value[0, 0])) for n in form.lengths)]
    measures = {
        "largest deviation": largest,
        "rms deviation": float(error.std()),
        "link ratio": max(lengths) / min(lengths),
        "longest link": size * max(lengths),
    }
    closes, least = _traced(fit, row, x)
    if least is not None:
        measures["least transmission angle"] = least
    forwards = fit.inputs[-1] > fit.inputs[0]
    return SynthesizedLinkage(linkage, largest, () if closes else ("circuit",), measures, speed="60 rpm" if forwards else "-60 rpm")


def _traced(fit: FunctionFit, row: int, x: Array) -> tuple[bool, float | None]:
    """Follow one candidate from the first input to the last: True where all loops close on one branch; least transmission angle."""
    rows = np.array([row])
    place = np.arange(len(fit.inputs))
    between = np.interp(np.linspace(0.0, place[-1], place[-1] * BETWEEN + 1), place, fit.inputs)
    if not fit.form.coupled:
        known = fit.known(x[None, :], rows, slopes=False, inputs=between)
        largest = max(float(np.abs(c.value).max()) for c in known.closings.values())
        return largest < 1.0, float(np.arccos(min(1.0, largest)))
    (step,) = (s for s in fit.form.steps if isinstance(s, CoupledStep))
    begin = fit.known(x[None, :], rows, slopes=False)
    angles = (x[-1] + between - between[0])[None, :]
    start = {b: np.angle(begin.poses[b].direction.value[:, 0]) for b, _ in step.hanging}
    found, gap = walked(fit.form.steps, dict(begin.dimensions), angles, start)
    ends = [np.abs(np.exp(1j * a[0, ::BETWEEN]) - begin.poses[b].direction.value[0]).max() for b, a in found.items()]
    return bool(gap.max() < 1e-9 and max(ends) < 1e-6), None


# Least-squares and minimax problem of a function generator: output angle minus wanted angle, the start of the output being free.


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
        shortest = 0.05  # over the distance of the first fixed pivots

        def pair(name: str) -> tuple[float, float]:
            if name in ("start", "delta"):
                return -ANGLE, ANGLE
            return (-self.longest, self.longest) if name.endswith((".re", ".im")) else (shortest, self.longest)

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
        return with_limits(parts.errors.value.var(axis=1) * len(self.inputs), parts.limited)

    def smooth(self, row: int) -> SmoothProblem:
        """Return one candidate as a problem under inequalities (final_improvement.py); its last variable is the start of the output."""
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
