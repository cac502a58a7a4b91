"""Search for the linkages that come nearest to a path: starts, batched Levenberg-Marquardt, polish of what is left.

One setting for every task: STARTS candidates of each discrete choice are screened, the best SCREENED of each are fitted for a few
iterations, the best SURVIVORS of all to the end; distinct optima at a limit are finished by sequential quadratic programming, where limits
hold exactly. Long paths are searched through some of their points and fitted through all of them.

In long paths without timing the crank angles are eliminated, so a candidate has ten variables however many points there are. For each
point the crank angle of the nearest place of the coupler curve is found inside, from the angle it had last and in the order of the
points. By the envelope theorem the derivative of a distance is that at a fixed angle; in least squares the part of the derivatives along
the curve is taken out (Kaufman's variable projection).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from linkwright.api import least_squares_fits, memory_and_threads
from linkwright.numerics.constrained_gauss_newton import Evaluated, constrained_least_squares
from linkwright.rings.synthesis.coupler_chains import Array, lengths
from linkwright.rings.synthesis.path_problem import SMALLEST_INCREMENT, TURN, WEIGHT, PathChoices, PathProblem, joined
from linkwright.rings.synthesis.path_starts import starts

INNER = 4  # steps of the angles


class AngleFollower:
    """Candidates of a path without timing whose crank angles follow from the other variables; remembers them as the next start."""

    def __init__(self, problem: PathProblem, v: Array, choices: PathChoices) -> None:
        assert problem.timing is None
        self.problem, self.choices = problem, choices
        self.core = problem.shapes + 6
        self.increments = v[:, self.core :].copy()
        self.first = v[:, self.core - 1].copy()
        self.starts_free = bool(problem.free[self.core - 1])

    def whole(self, x: Array, rows: Array) -> Array:
        """Return all variables of the candidates, with the angles of the last evaluation."""
        v = np.concatenate([x, self.increments[rows]], axis=1)
        v[:, self.core - 1] = self.first[rows]
        return v

    def evaluated(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return deviations (k, n) at the nearest angles and derivatives by the core variables at fixed angles (k, n, core), complex."""
        choices = self.choices[rows]
        direction = choices.direction[:, None]
        longest_step = 0.2  # rad
        for _ in range(INNER):
            v = self.whole(x, rows)
            at, by_v = self.problem.path(v, choices, core=True)
            missed, tangent = at - self.problem.points, by_v[..., self.core - 1]
            square = np.abs(tangent) ** 2
            step = -np.real(np.conj(tangent) * missed) / np.maximum(square, 1e-9 * square.mean(axis=1, keepdims=True))
            step = np.clip(step, -longest_step, longest_step)
            step[:, 0] *= self.starts_free
            run = direction * (self.problem.angles(v, choices) - v[:, self.core - 1, None] + step)
            run = self._ordered(run)
            if self.starts_free:
                self.first[rows] = v[:, self.core - 1] + step[:, 0]
            self.increments[rows] = np.diff(run, axis=1)
        at, derivative = self.problem.path(self.whole(x, rows), choices, core=True)
        self.tangent = derivative[..., self.core - 1].copy()
        derivative[..., self.core - 1] = 0.0  # the first angle is one of those eliminated
        return at - self.problem.points, derivative

    def _ordered(self, angle: Array) -> Array:
        """Angles in the order of the points, within one turn."""
        slope = SMALLEST_INCREMENT * np.arange(angle.shape[1])
        up = np.maximum.accumulate(angle - slope, axis=1) + slope
        return np.minimum(up, up[:, :1] + TURN)

    def across(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return deviations and the part of their derivatives across the curve."""
        missed, derivative = self.evaluated(x, rows)
        unit = (self.tangent / np.maximum(np.abs(self.tangent), 1e-300))[..., None]
        return missed, 1j * unit * np.imag(np.conj(unit) * derivative)

    def least_squares(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals and derivatives as `PathProblem.least_squares` does, of the core variables."""
        missed, derivative = self.across(x, rows)
        g, by_g = self.problem.inequalities(self.whole(x, rows), self.choices[rows])
        violated = g > 0.0
        residual = np.concatenate([missed.real, missed.imag, WEIGHT * np.where(violated, g, 0.0)], axis=1)
        penalty = WEIGHT * np.where(violated[..., None], by_g[..., : self.core], 0.0)
        return residual, np.concatenate([derivative.real, derivative.imag, penalty], axis=1)


def followed(
    problem: PathProblem, v: Array, choices: PathChoices, iterations: int, *, target: float, tolerance: float
) -> least_squares_fits.LeastSquaresFits:
    """Return candidates after this many iterations of Levenberg-Marquardt over the core variables at most."""
    follower = AngleFollower(problem, v, choices)
    core = follower.core
    lower, upper = problem.bounds(choices.kind)
    free = problem.free[:core].copy()
    free[core - 1] = False
    fits = least_squares_fits.levenberg_marquardt(
        follower.least_squares,
        v[:, :core],
        lower[:, :core],
        upper[:, :core],
        free=free,
        iterations=iterations,
        target=target,
        tolerance=tolerance,
        scaling=2 * len(problem.points),
    )
    rows = np.arange(len(v))
    cost = (follower.least_squares(fits.x, rows)[0] ** 2).sum(axis=1)
    return least_squares_fits.LeastSquaresFits(follower.whole(fits.x, rows), cost, fits.iterations, fits.evaluations * (INNER + 1))


STARTS = 4096
SCREENED = 64
SURVIVORS = 96
FIRST, LAST = 25, 400  # iterations
POLISHED = 8
EXACT = 1e-31  # sum of squares, points of size 1: rounding
SAME_OPTIMUM = 0.01  # relative difference of two optima that are alike
OUTSIDE = 1e-9  # violation of a limit that is rounding, points of size 1
MOST_POINTS = {True: 64, False: 20}  # of a search, with and without timing
DENSE = 200  # points beyond which a last stage takes all of them
MOST_ANSWERS = 64

MoreStarts = Callable[[PathProblem], tuple[Array, PathChoices] | None]

ITERATIONS = 200
SMALLEST_SCALE = 1e-2  # of a variable, points of size 1
SMALLEST_ERROR = 1e-20
ALLOWED = 1e-12  # violation that is rounding
ONE = np.zeros(1, dtype=int)


@dataclass(frozen=True, eq=False)
class PathOptimum:
    """One candidate at a local optimum: its variables, choices (of one) and sum of squared distances."""

    v: Array
    choices: PathChoices
    error: float


@dataclass(frozen=True, eq=False)
class PathSearch:
    """Optima of a search, best first, and the number of candidates evaluated."""

    optima: tuple[PathOptimum, ...]
    evaluations: int


def all_choices(problem: PathProblem, kinds: Sequence[int], sigmas: Sequence[int], directions: Sequence[int]) -> list[PathChoices]:
    """Return every combination of discrete choices, one candidate each."""
    every = product(kinds, sigmas, directions)
    return [PathChoices(np.array([k]), np.array([float(s)]), np.array([float(d)])) for k, s, d in every]


def search(
    problem: PathProblem, choices: Sequence[PathChoices], seed: int, *, closed: bool, count: int = 8, more: MoreStarts | None = None
) -> PathSearch:
    """Return up to `count` distinct optima. more: further starts, as variables and choices, beside those by variable projection."""
    levels = [m for m in (MOST_POINTS[problem.timing is not None], DENSE) if m < len(problem.points)]
    some, places = thinned(problem, levels[0]) if levels else (problem, np.arange(len(problem.points)))
    screened, evaluations = _screened(some, choices, seed, closed)
    given = None if more is None else more(some)
    if given is not None:
        screened.append(given)
    v, chosen = np.concatenate([x for x, _ in screened]), joined([c for _, c in screened])
    fits = fitted(some, v, chosen, FIRST)
    best = _distinct(some, fits, chosen, SURVIVORS)
    chosen = chosen[best]
    evaluations += fits.evaluations
    fits = fitted(some, fits.x[best], chosen, LAST)
    evaluations += fits.evaluations
    for most in (*levels[1:], *([len(problem.points)] if levels else [])):  # through more points, in the end all of them
        few = _distinct(some, fits, chosen, 2 * POLISHED)
        finer, among = thinned(problem, most)
        v, chosen = expanded(problem, finer, among, places, fits.x[few], chosen[few]), chosen[few]
        some, places = finer, among
        fits = fitted(some, v, chosen, LAST if most <= DENSE else FIRST)
        evaluations += fits.evaluations
    few = _distinct(problem, fits, chosen, max(POLISHED, min(count, MOST_ANSWERS)))
    optima, polishing = _finished(problem, fits, chosen, few)
    return PathSearch(optima[:count], evaluations + polishing)


def fitted(problem: PathProblem, v: Array, choices: PathChoices, iterations: int) -> least_squares_fits.LeastSquaresFits:
    """Return candidates after this many iterations of Levenberg-Marquardt at most."""
    idle = 1e-6  # relative decrease in an iteration; fourteen of them end a candidate
    if _is_long(problem):
        return followed(problem, v, choices, iterations, target=EXACT, tolerance=idle)
    lower, upper = problem.bounds(choices.kind)
    return least_squares_fits.levenberg_marquardt(
        lambda x, rows: problem.least_squares(x, choices[rows]),
        v,
        lower,
        upper,
        free=problem.free,
        iterations=iterations,
        target=EXACT,
        tolerance=idle,
        scaling=2 * len(problem.points),
    )


def _screened(problem: PathProblem, choices: Sequence[PathChoices], seed: int, closed: bool) -> tuple[list[tuple[Array, PathChoices]], int]:
    """The best starts of every discrete choice."""
    out = []
    for k, one in enumerate(choices):
        many = one[np.zeros(STARTS, dtype=int)]
        v = starts(problem, many, seed * 1000 + k, closed=closed)
        best = np.argsort(problem.penalized(v, many), kind="stable")[:SCREENED]
        out.append((v[best], many[best]))
    return out, STARTS * len(choices)


def thinned(problem: PathProblem, most: int) -> tuple[PathProblem, Array]:
    """Return a problem with that many points at most, and which ones of all."""
    n = len(problem.points)
    if n <= most:
        return problem, np.arange(n)
    if problem.timing is not None:
        places = np.unique(np.linspace(0, n - 1, most).round().astype(int))
    else:
        run = _run(problem.points)
        places = np.unique(np.searchsorted(run, np.linspace(0.0, run[-1], most) - 1e-12))
    timing = None if problem.timing is None else problem.timing[places]
    return problem.through(problem.points[places], timing), places


def expanded(problem: PathProblem, finer: PathProblem, among: Array, places: Array, v: Array, choices: PathChoices) -> Array:
    """Return candidates through the points `places` as candidates through those `among`; crank angles by distance along the path."""
    if problem.timing is not None:
        return v
    s, run = problem.shapes + 6, _run(problem.points)
    angle = np.concatenate([np.zeros((len(v), 1)), np.cumsum(v[:, s:], axis=1)], axis=1)
    every = np.stack([np.interp(run[among], run[places], a) for a in angle])
    return np.concatenate([v[:, :s], np.maximum(np.diff(every, axis=1), SMALLEST_INCREMENT)], axis=1)


def _is_long(problem: PathProblem) -> bool:
    """True if crank angles are eliminated instead of being variables."""
    return problem.timing is None and len(problem.points) > MOST_POINTS[False]


def _run(points: Array) -> Array:
    """Distance along the polygon."""
    return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points)))])


def features(problem: PathProblem, v: Array, choices: PathChoices) -> Array:
    """Return what two candidates are compared by (N, features): lengths, pivot, ground direction and coupler point."""
    s = problem.shapes
    size = lengths(problem.chain, v[:, :s], choices.kind)
    frame = np.exp(1j * v[:, s + 4])
    scale = np.abs(size).max(axis=1)
    return np.column_stack([size, v[:, s : s + 4], scale * frame.real, scale * frame.imag]) / (1.0 + scale)[:, None]


def _distinct(problem: PathProblem, fits: least_squares_fits.LeastSquaresFits, choices: PathChoices, count: int) -> Array:
    """Places of the best optima that differ from all better ones."""
    of = features(problem, fits.x, choices)
    left = fits.best(len(fits.cost))
    left = left[np.isfinite(fits.cost[left])]
    found: list[int] = []
    while len(left) and len(found) < count:
        found.append(int(left[0]))
        left = left[np.abs(of[left] - of[left[0]]).max(axis=1) > SAME_OPTIMUM]
    return np.array(found, dtype=int)


def _finished(
    problem: PathProblem, fits: least_squares_fits.LeastSquaresFits, choices: PathChoices, few: Array
) -> tuple[tuple[PathOptimum, ...], int]:
    """Optima whose limits hold exactly, best first; one of those that are alike."""
    found: list[PathOptimum] = []
    evaluations, polishes = 0, 0
    for k in few:
        one, v = choices[np.array([k])], fits.x[k]
        over = problem.inequalities(v[None], one)[0].max(initial=-np.inf)
        if _known(problem, v, one, found):
            continue
        if over > 0.0 or (fits.iterations[k] >= LAST and fits.cost[k] > EXACT):
            if polishes == (POLISHED if len(problem.points) <= DENSE else 2):
                continue
            polishes += 1
            v, calls = polished(problem, v, one, eliminated=_is_long(problem))
            evaluations += calls
        if problem.inequalities(v[None], one)[0].max(initial=-np.inf) <= OUTSIDE:
            found.append(PathOptimum(v, one, float(problem.errors(v[None], one)[0])))
    out: list[PathOptimum] = []
    for x in sorted(found, key=lambda x: x.error):
        if not _known(problem, x.v, x.choices, out):
            out.append(x)
    return tuple(out), evaluations


def _known(problem: PathProblem, v: Array, one: PathChoices, found: Sequence[PathOptimum]) -> bool:
    """True if a candidate is like one of those found."""
    of = features(problem, v[None], one)
    return any(np.abs(of - features(problem, x.v[None], x.choices)).max() <= SAME_OPTIMUM for x in found)


# Polish of one path candidate at its limits: Gauss-Newton with exact derivatives and exact limits, SLSQP where that does not converge.
#
# Levenberg-Marquardt with penalties stays a little outside of a limit and creeps along several of them; here they are constraints.
# Variables are scaled by their size. The crank angles of a long path without timing are eliminated (path_search.py).


def polished(problem: PathProblem, v: Array, choices: PathChoices, *, eliminated: bool = False) -> tuple[Array, int]:
    """Return the candidate at its constrained optimum and the number of evaluations; as it was if that is neither better nor allowed."""
    follower = AngleFollower(problem, v[None], choices) if eliminated else None
    movable = problem.free
    if follower is not None:
        movable[follower.core - 1 :] = False
    free = np.flatnonzero(movable)
    scale = np.maximum(np.abs(v), SMALLEST_SCALE)[free]
    lower, upper = (x[0, free] / scale for x in problem.bounds(choices.kind))

    def whole(x: Array) -> Array:
        w = v.copy()
        w[free] = x * scale
        return w[None] if follower is None else follower.whole(w[None, : follower.core], ONE)

    def evaluated(x: Array) -> tuple[Array, Array, Array, Array]:
        """Deviations, inequalities, and their derivatives."""
        w = whole(x)
        if follower is None:
            at, by_v = problem.path(w, choices)
            missed = at - problem.points
        else:
            missed, by_v = follower.across(w[:, : follower.core], ONE)
        g, by_g = problem.inequalities(whole(x), choices)
        both = np.concatenate([by_v[0].real, by_v[0].imag])[:, free] * scale
        return np.concatenate([missed[0].real, missed[0].imag]), both, g[0], by_g[0][:, free] * scale

    converged = 1e-11  # relative decrease of the sum of squares that a step of Gauss-Newton predicts
    fit = constrained_least_squares(evaluated, v[free] / scale, lower, upper, tolerance=converged)
    x, calls = fit.x, fit.evaluations
    if not (fit.converged or fit.creeping or eliminated):
        x, more = _by_quadratic_programs(evaluated, x, lower, upper)
        calls += more
    evaluated(x)
    w = whole(x)
    over, before = (problem.inequalities(y, choices)[0].max(initial=-np.inf) for y in (w, v[None]))
    allowed = over <= ALLOWED or over < before
    better = before > ALLOWED or float(problem.errors(w, choices)[0]) < float(problem.errors(v[None], choices)[0])
    return (w[0] if np.isfinite(w).all() and allowed and better else v), calls


def _by_quadratic_programs(evaluated: Evaluated, x: Array, lower: Array, upper: Array) -> tuple[Array, int]:
    """Return the optimum by SLSQP, which needs no small residuals, and the number of evaluations."""
    from scipy.optimize import minimize

    seen: list[tuple[Array, tuple[Array, Array, Array, Array]]] = []

    def at(x: Array) -> tuple[Array, Array, Array, Array]:
        """Objective and limits are asked for one after the other."""
        if not seen or not np.array_equal(seen[0][0], x):
            seen[:] = [(x.copy(), evaluated(x))]
        return seen[0][1]

    unit = max(float(at(x)[0] @ at(x)[0]), SMALLEST_ERROR)

    def objective(x: Array) -> tuple[float, Array]:
        r, J, _, _ = at(x)
        return float(r @ r) / unit, 2.0 * (r @ J) / unit

    limits = {"type": "ineq", "fun": lambda x: -at(x)[2], "jac": lambda x: -at(x)[3]}
    box = np.column_stack([lower, upper])
    tolerance = 1e-13  # relative decrease of the objective
    options = {"maxiter": ITERATIONS, "ftol": tolerance}
    with memory_and_threads.optimizing():
        done = minimize(objective, x, jac=True, bounds=box, constraints=[limits], method="SLSQP", options=options)
    return np.clip(done.x, lower, upper), int(done.nfev)
