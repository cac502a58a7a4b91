"""Function generation: four-bars and slider-cranks whose output follows a given function of the crank angle.

Designs through Chebyshev points for many start angles, all at once, give starts; the largest error of the output is then minimized over K
and both starts (`freudenstein`) by sequential quadratic programming on t >= |error| with exact derivatives of the output, with bounds
on the link ratio and the transmission angle. Ranking is by that error, never by the residual of the linear equations.
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
from linkwright.rings.synthesis.minimax import Generator, GeneratorTask, exact_generator, least_squares_generator, minimax_generator
from linkwright.rings.synthesis.results import SynthesizedLinkage

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
