"""Function generation: four-bars and slider-cranks whose output follows a given function of the crank angle.

Designs through Chebyshev points for many start angles, all at once, give starts; the largest error of the output is then minimized over K
and both starts (`freudenstein`) by sequential quadratic programming on t >= |error| with exact derivatives of the output, with bounds
on the link ratio and the transmission angle. Ranking is by that error, never by the residual of the linear equations.

The same method gives dimensions that are exact at points, or of least squares. Unknowns are z = (K1, K2, K3, crank start, output start);
the error o(z, u) - start - v has exact derivatives from the implicit equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.api import LinkwrightError, UsageError
from linkwright.rings.synthesis.circuits import Dyads, circuits
from linkwright.rings.synthesis.freudenstein import (
    SIDES,
    AngleForm,
    GeneratorForm,
    SlideForm,
    generated_output,
    link_ratio,
    solved_for_three,
    undetermined,
)
from linkwright.rings.synthesis.linkage import Guide, Linkage
from linkwright.rings.synthesis.results import SynthesizedLinkage


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


SAMPLES = 241  # of the range, for the error that is reported
GRID = 72  # start angles in each direction
TRIED = 16  # local optima of the grid that are polished
STARTS = 3.0  # slides at the start that are tried, in wanted slides


@dataclass(frozen=True, eq=False)
class WantedFunction:
    """Crank travel u and output travel v over the range, both from 0 at the start; v is in rad, or in wanted slides."""

    x: tuple[float, float]
    y: Callable[[np.ndarray], np.ndarray]
    input: float
    output: float  # travel for the whole range of y
    start: float  # of y
    span: float  # of y, positive if it ends above its start

    @classmethod
    def of(cls, x: tuple[float, float], f: Callable[[np.ndarray], np.ndarray], turn: float, way: float) -> WantedFunction:
        y = f(np.linspace(*x, SAMPLES))
        span = float(np.ptp(y)) * (-1.0 if y[-1] < y[0] else 1.0)
        if not abs(span) > 1e-12 * (1.0 + float(np.abs(y).max())):
            raise UsageError(
                "the function is constant over the range: the output does not move. Widen x_range or choose another function.",
                name="function",
            )
        return cls(x, f, turn, way, float(y[0]), span)

    def travels(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, last = self.x
        return self.input * (x - first) / (last - first), self.output * (self.y(x) - self.start) / self.span


def generated(
    function: Any,
    x_range: Sequence[float] | None,
    input_range: Any,
    output_range: Any,
    *,
    output: str = "angle",
    precision: Any = "chebyshev",
    refine: bool | None = None,
    most_ratio: float = 10.0,
    least_transmission: float = 0.0,
    full_turn: bool = False,
    ground: float = 0.1,
    count: int = 5,
) -> tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]:
    """Return linkages whose output follows y = f(x) while the crank turns over `input_range`, least structural error first.

    function: text of x ("log10(x)"), a callable, or samples (x, y), in which case x_range may be None.
    input_range, output_range: travel in rad (slides in m), or (start, end) to fix the start angle too. y increases with the output travel.
    output: "angle" of a rocker, or "slide".
    precision: "chebyshev", or values of x where the function is met exactly (up to five), by least squares beyond.
    refine: minimize the largest error over all dimensions (default for "chebyshev"); else only what the precision points leave free.
    most_ratio: longest over shortest link.      least_transmission: bound in rad.      ground: length of the four-bar's ground in m.
    """
    form, wanted, starts, size = _task(function, x_range, input_range, output_range, output, ground)
    if not most_ratio > 1.0:
        raise UsageError("most_ratio is the longest link over the shortest: a number above 1.", name="most_ratio")
    first, last = wanted.x
    chebyshev = isinstance(precision, str)
    points = _precision(precision, wanted.x)
    fixed = sum(s is not None for s in starts)
    if refine is None:
        refine = chebyshev
    x = np.linspace(first, last, SAMPLES)
    task = GeneratorTask(form, *wanted.travels(x), *wanted.travels(points), starts, float(most_ratio), float(least_transmission))
    begun = _screened(task)
    if refine:
        found = [minimax_generator(task, g) for g in begun]
    elif len(points) <= 5 - fixed:
        found = [exact_generator(task, g) for g in begun]
    else:
        found = [least_squares_generator(task, g) for g in begun]
    best = _distinct(form, [g for g in found if g is not None])
    facts = {"starts": GRID * GRID, "polished": len(begun), "found": len(best), "precision points": points.tolist()}
    listed = [_answer(task, g, size, full_turn) for g in best]
    listed.sort(key=lambda s: (bool(s.defects), s.error))
    notes = (
        ()
        if listed
        else (
            f"No linkage with links of a ratio up to {most_ratio:g} closes over the whole range. Raise most_ratio, or change the ranges.",
        )
    )
    return listed[:count], facts, notes


# ---------------------------------------------------------------- input


def _task(
    function: Any, x_range: Any, input_range: Any, output_range: Any, output: str, ground: float
) -> tuple[GeneratorForm, WantedFunction, tuple[float | None, float | None], float]:
    """The form, the function, fixed starts of crank and output, and the size of a unit of length in m."""
    if output not in ("angle", "slide"):
        raise UsageError(f"output is 'angle' or 'slide', not {output!r}.", name="output", value=output)
    f, limits = _function(function, x_range)
    turn, crank_start = _travel(input_range, "input_range")
    way, output_start = _travel(output_range, "output_range")
    if abs(turn) > 2 * np.pi:
        raise UsageError("input_range is at most a full turn.", name="input_range")
    if output == "slide":
        starts = crank_start, None if output_start is None else output_start / abs(way)
        return SlideForm(), WantedFunction.of(limits, f, turn, float(np.sign(way))), starts, abs(way)
    if abs(way) >= 2 * np.pi:
        raise UsageError("output_range of a rocker is less than a full turn.", name="output_range")
    if not ground > 0.0 or not np.isfinite(ground):
        raise UsageError("ground is a length above zero.", name="ground")
    return AngleForm(), WantedFunction.of(limits, f, turn, way), (crank_start, output_start), float(ground)


def _travel(given: Any, name: str) -> tuple[float, float | None]:
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a travel, or (start, end).", name=name) from None
    if value.shape not in ((), (2,)) or not np.isfinite(value).all():
        raise UsageError(f"{name} is a travel, or (start, end), in finite numbers.", name=name)
    travel = float(value) if value.ndim == 0 else float(value[1] - value[0])
    if travel == 0.0:
        raise UsageError(f"{name} is zero: give a travel other than zero.", name=name)
    return travel, None if value.ndim == 0 else float(value[0])


def _function(function: Any, x_range: Any) -> tuple[Callable[[np.ndarray], np.ndarray], tuple[float, float]]:
    """The function on arrays and its range; text, a callable or samples."""
    if not isinstance(function, str) and not callable(function):
        return _samples(function, x_range)
    try:
        limits = np.asarray(x_range, dtype=float)
    except (TypeError, ValueError):
        limits = np.zeros(0)
    if limits.shape != (2,) or not np.isfinite(limits).all() or limits[0] == limits[1]:
        raise UsageError("x_range is (first x, last x), two different numbers.", name="x_range")
    f = _formula(function) if isinstance(function, str) else function
    return _finite(f), (float(limits[0]), float(limits[1]))


def _formula(text: str) -> Callable[[np.ndarray], np.ndarray]:
    from linkwright.api import Expr, expressions
    from linkwright.text.parser import parse

    expression = parse(text)
    if not isinstance(expression, Expr) or expressions.free_variables(expression) != {"x"}:
        raise UsageError(f"the function '{text}' must depend on x, and on nothing else.", name=text)
    return lambda x: np.array([expressions.evaluate(expression, {"x": float(u)}) for u in x])


def _finite(f: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The function on arrays, finite: a callable of one number is called for each."""

    def values(x: np.ndarray) -> np.ndarray:
        try:
            with np.errstate(all="ignore"):
                y = np.asarray(f(x), dtype=float)
        except LinkwrightError:
            raise
        except (TypeError, ValueError, ArithmeticError):
            try:
                y = np.array([float(f(float(u))) for u in x])
            except (TypeError, ValueError, ArithmeticError) as problem:
                raise UsageError(
                    f"the function has no value somewhere in x_range ({problem}). Change the range or the function.", name="function"
                ) from None
        if y.shape != x.shape or not np.isfinite(y).all():
            raise UsageError(
                "the function must give one finite number for every x of x_range. Change the range or the function.", name="function"
            )
        return y

    return values


def _samples(samples: Any, x_range: Any) -> tuple[Callable[[np.ndarray], np.ndarray], tuple[float, float]]:
    """A spline through samples (x, y)."""
    from scipy.interpolate import CubicSpline

    try:
        x, y = np.asarray(samples, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("function is text of x, a callable, or samples (x, y): two lists of equal length.", name="function") from None
    if x.ndim != 1 or len(x) < 4 or not np.isfinite([x, y]).all() or len(np.unique(x)) < len(x):
        raise UsageError("samples of a function are at least four finite pairs with different x.", name="samples")
    order = np.argsort(x)
    low, high = (x[order[0]], x[order[-1]]) if x_range is None else np.asarray(x_range, dtype=float)
    if not (x.min() <= min(low, high) < max(low, high) <= x.max()):
        raise UsageError(f"x_range must be inside the samples, {x.min():g} to {x.max():g}.", name="x_range")
    return CubicSpline(x[order], y[order]), (float(low), float(high))


def _precision(precision: Any, x: tuple[float, float]) -> np.ndarray:
    """Points of exact agreement; Chebyshev's for three."""
    first, last = x
    if isinstance(precision, str):
        if precision != "chebyshev":
            raise UsageError(f"precision is 'chebyshev' or a list of x, not {precision!r}.", name="precision", value=precision)
        return 0.5 * (first + last) - 0.5 * (last - first) * np.cos(np.pi * (2 * np.arange(3) + 1) / 6)
    try:
        points = np.asarray(precision, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("precision is 'chebyshev' or a list of x.", name="precision") from None
    inside = (points >= min(x)) & (points <= max(x))
    if points.ndim != 1 or len(points) < 3 or not inside.all() or len(np.unique(points)) < len(points):
        raise UsageError(f"precision is a list of at least three different x from {min(x):g} to {max(x):g}.", name="precision")
    return points


# ---------------------------------------------------------------- starts


def _screened(task: GeneratorTask) -> list[Generator]:
    """Local optima of the largest error over a grid of both starts, best first."""
    form = task.form
    turn = 2 * np.pi * np.arange(GRID) / GRID
    crank = turn if task.starts[0] is None else np.full(GRID, task.starts[0])
    way = STARTS * np.tan(np.linspace(-1.25, 1.25, GRID)) / np.tan(1.25) if form.slides else turn
    other = way if task.starts[1] is None else np.full(GRID, task.starts[1])
    phi0, o0 = (z.ravel() for z in np.meshgrid(crank, other, indexing="ij"))
    pairs = phi0[:, None] + task.at_points[0], o0[:, None] + task.at_points[1]
    with np.errstate(all="ignore"):
        K = solved_for_three(form, *pairs)
        least, side = _least_errors(task, K, phi0, o0)
        at, free = undetermined(form, *pairs, (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0))
        more, sides = _least_errors(task, free, phi0[at], o0[at])
    table = least.reshape(GRID, GRID)
    around = [np.roll(table, shift, axis=(0, 1)) for shift in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))]
    lowest = np.isfinite(least) & (table <= np.min(around, axis=0)).ravel()
    order = np.flatnonzero(lowest)[np.argsort(least[lowest], kind="stable")]
    _, first = np.unique(np.round(least[order], 12), return_index=True)  # fixed starts repeat rows of the grid
    found = [Generator(np.array([*K[k], phi0[k], o0[k]]), side[k]) for k in order[np.sort(first)][:TRIED]]
    special = [k for k in np.argsort(more, kind="stable")[:3] if np.isfinite(more[k])]
    return found + [Generator(np.array([*free[k], phi0[at[k]], o0[at[k]]]), sides[k]) for k in special]


def _least_errors(task: GeneratorTask, K: np.ndarray, phi0: np.ndarray, o0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest errors (N,) on the better closure, infinite outside the bounds, and that closure."""
    thin = slice(None, None, max(1, len(task.u) // 40))
    phi, wanted = phi0[:, None] + task.u[thin], o0[:, None] + task.v[thin]
    errors = np.full((2, len(K)), np.inf)
    for row, side in zip(errors, SIDES, strict=True):
        o, margin = generated_output(task.form, K[:, None, :], phi, wanted, side)
        row[:] = np.where(margin.min(axis=1, initial=np.inf) > 0.0, np.abs(o - wanted).max(axis=1, initial=0.0), np.inf)
    errors = np.where(np.isfinite(errors) & (link_ratio(task.form, K) <= task.most_ratio), errors, np.inf)
    return errors.min(axis=0), np.array(SIDES)[errors.argmin(axis=0)]


def _distinct(form: GeneratorForm, found: list[Generator]) -> list[Generator]:
    """Each optimum once: signs of K and turns of the starts may differ."""
    out: list[Generator] = []
    keys: list[np.ndarray] = []
    for g in sorted(found, key=lambda g: g.error):
        crank = np.exp(1j * g.z[3]) * np.sign(g.z[0])
        key = np.array([*np.sqrt(np.abs(form.squares(g.z[:3]))), crank.real, crank.imag])
        if all(np.abs(key - other).max() > 1e-2 for other in keys):
            out.append(g)
            keys.append(key)
    return out


# ---------------------------------------------------------------- linkages


def _answer(task: GeneratorTask, g: Generator, size: float, full_turn: bool) -> SynthesizedLinkage:
    """The linkage drawn at the start of the range."""
    form, (K1, K2, _, phi0, o0) = task.form, g.z
    error = task.errors(g)
    o = o0 + task.v + error
    phi = phi0 + task.u
    coupler = float(np.sqrt(form.squares(g.z[:3])[2 if not form.slides else 1]))
    if form.slides:
        a, offset = 0.5 * K1, K2 / K1
        B, C = a * np.exp(1j * phi), o + 1j * offset
        dyads = Dyads(B[None], np.zeros(1, dtype=complex)), Dyads(C[None], np.array([1j * offset]), np.ones(1, dtype=complex))
    else:
        B, C = np.exp(1j * phi) / K1, 1.0 + np.exp(1j * o) / K2
        dyads = Dyads(B[None], np.zeros(1, dtype=complex)), Dyads(C[None], np.ones(1, dtype=complex))
    places = circuits(*dyads)
    unit = size if form.slides else 1.0
    pins = {"A": 0j, "B": complex(B[0]) * size, "C": complex(C[0]) * size}
    if form.slides:
        bodies = {"ground": ("A",), "crank": ("A", "B"), "coupler": ("B", "C"), "slider": ("C",)}
        linkage = Linkage("slider-crank", pins, bodies, "A", guides={"guide": Guide("slider", "C", 1.0 + 0j)}, output="guide")
    else:
        bodies = {"ground": ("A", "D"), "crank": ("A", "B"), "coupler": ("B", "C"), "rocker": ("C", "D")}
        linkage = Linkage("four-bar", {**pins, "D": complex(size)}, bodies, "A", output="D")
    measures = {
        "largest error": float(np.abs(error).max()) * unit,
        "rms error": float(np.sqrt(np.mean(error**2))) * unit,
        "link ratio": float(link_ratio(form, g.z[:3])),
        "least transmission angle": float(np.arcsin(np.clip(task.transmission(g).min(), 0.0, 1.0))),
        "crank start": float(np.angle(B[0])),
        "output start": float(o[0]) * unit if form.slides else float(np.angle(C[0] - 1.0)),
        "gap": float(np.abs(np.abs(C - B) - coupler).max()) * size,
    }
    defects = ("grashof",) if full_turn and not places.full[0] else ()
    return SynthesizedLinkage(linkage, measures["largest error"], defects, measures)
