"""Search for linkages of one form whose point passes wanted points: Sobol starts, linear least squares, Levenberg-Marquardt, SLSQP.

P = p + z D + q e with D the origin and e the direction of the traced body of a linkage of any size: linear in the complex numbers p
(place), z (size and turn) and q, once the proportions and the crank angles are chosen. A start costs microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from linkwright.api import least_squares_fits, sobol_points
from linkwright.rings.synthesis.duals import constant
from linkwright.rings.synthesis.dyad_steps import positions
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, polished
from linkwright.rings.synthesis.form_fit import LEAST_SIDE, ROUND, FormFit, FormLimits
from linkwright.rings.synthesis.linkage_forms import LinkageForm
from linkwright.rings.synthesis.non_dyad_closure import walked

Array = np.ndarray
GRID = 72  # positions of a walk over the turn, coupled closures
ROUNDS = ((96, 25), (24, 200))  # candidates and iterations of Levenberg-Marquardt: dyads
COUPLED_ROUNDS = ((64, 25), (16, 120))
POLISHED = 5
POLISHING = (200, 50)  # iterations of SLSQP for dyads, for coupled closures, which take ten times as long


@dataclass(frozen=True, eq=False)
class FormCandidate:
    """A linkage found: its columns, the problem it belongs to, its row there, and the sum of squared distances (points of size 1)."""

    fit: FormFit
    row: int
    x: Array
    cost: float
    violation: float = 0.0


@dataclass(frozen=True, eq=False)
class FormEffort:
    """How much was searched."""

    starts: int
    evaluations: int


def search(
    form: LinkageForm,
    points: Array,
    timing: Array | None,
    limits: FormLimits,
    *,
    seed: int,
    starts: int,
    closed: bool = False,
    optima: int = POLISHED,
) -> tuple[list[FormCandidate], FormEffort]:
    """Return up to `optima` distinct linkages of one form, best first; points are centered and of size 1."""
    fit, x = first_guesses(form, points, timing, limits, seed=seed, count=starts, closed=closed)
    if not len(x):
        return [], FormEffort(starts, starts)
    cost = fit.sums(x)
    evaluations = len(x)
    low, high = fit.bounds()
    exact = 1e-26  # sum of squares of points of size 1 that is round-off
    for count, iterations in ROUNDS if form.coupled is None else COUPLED_ROUNDS:
        fit, x = _chosen(fit, x, np.argsort(cost, kind="stable")[:count])
        found = least_squares_fits.levenberg_marquardt(fit, x, low, high, iterations=iterations, target=exact)
        x, cost = found.x, found.cost
        evaluations += found.evaluations
    order = [k for k in np.argsort(cost, kind="stable") if np.isfinite(cost[k])]
    ends: list[FormCandidate] = []
    for k in _distinct(fit, x, order)[:optima]:
        problem = fit.smooth(k)
        if _violation(problem, x[k]) < VIOLATED:
            ends.append(FormCandidate(fit, int(k), x[k], float(cost[k])))
            continue
        # penalties leave an optimum at a limit a little outside, and creep along several limits
        best = polished(problem, x[k], low, high, floor=0.05, iterations=POLISHING[form.coupled is not None])
        evaluations += best.evaluations
        ends.append(FormCandidate(fit, int(k), best.x, best.value, max(best.violation, 0.0)))
    return sorted(ends, key=lambda c: (c.violation > VIOLATED, c.cost)), FormEffort(starts, evaluations)


def _violation(problem: SmoothProblem, x: Array) -> float:
    return float(-problem(x, False)[2].min(initial=np.inf))


def first_guesses(
    form: LinkageForm, points: Array, timing: Array | None, limits: FormLimits, *, seed: int, count: int, closed: bool = False
) -> tuple[FormFit, Array]:
    """Return random linkages of the form, each in the size and place that fit the points best."""
    rng = np.random.default_rng(seed)
    u = sobol_points.sobol(count, form.sampled + 1, seed=seed)
    shape, flags = form.sample(u[:, : form.sampled], rng)
    start = 2.0 * np.pi * u[:, -1]
    flags["sense"] = np.ones(count) if timing is not None else rng.choice([-1.0, 1.0], count)
    steps = np.zeros((count, 0)) if timing is not None else _increments(points, count, closed, rng)
    fit = FormFit(form, points, timing, limits, flags)
    gone = timing if timing is not None else flags["sense"][:, None] * np.concatenate([np.zeros((count, 1)), np.cumsum(steps, 1)], axis=1)
    theta = start[:, None] + gone
    numbers = form.numbers({n: constant(v) for n, v in shape.items()}, flags)
    guesses: dict[str, Array] = {}
    if form.coupled is not None:
        full, grid, flags["side"] = _walks(form, numbers, flags)
        rows = np.flatnonzero(full)
        if not rows.size:
            return fit, np.zeros((0, len(fit.names)))
        fit = replace(fit, flags={n: f[rows] for n, f in flags.items() if not n.startswith("guess:")}, costs=np.full(len(rows), np.inf))
        shape, theta, start, steps = {n: v[rows] for n, v in shape.items()}, theta[rows], start[rows], steps[rows]
        turn = start[:, None] + np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
        wanted = np.concatenate([theta, turn], axis=1)
        guesses = {n: _interpolated(g[rows], wanted) for n, g in grid.items()}
        fit.guesses.update(guesses)
        numbers = form.numbers(
            {n: constant(v) for n, v in shape.items()}, {**fit.flags, **{n: g[:, : theta.shape[1]] for n, g in guesses.items()}}
        )
    known = positions(form.steps, numbers, constant(theta))
    pose = known.poses[form.path.body]
    z, w, p = _fitted(pose.origin.value, pose.direction.value, points)
    size = np.abs(z)
    longest = np.max([np.abs(known.dimensions[n].value[:, 0]) for n in form.lengths], axis=0)
    size = np.clip(size, 0.0, limits.longest / longest)
    scaled = [v if n == "phase" else v * size for n, v in ((n, shape[n]) for n in form.names)]
    placing = [(w * size).real, (w * size).imag, p.real, p.imag, np.angle(z), start]
    low, high = fit.bounds()
    return fit, np.clip(np.column_stack([*scaled, *placing, steps]), low, high)


def _fitted(origin: Array, direction: Array, points: Array) -> tuple[Array, Array, Array]:
    """Return z, w, p with p + z (origin + w direction) closest to the points, for every candidate."""
    origin = np.broadcast_to(origin, (len(direction), len(points)))
    columns = np.stack([origin - origin.mean(1, keepdims=True), direction - direction.mean(1, keepdims=True)], axis=-1)
    adjoint = np.conj(np.swapaxes(columns, 1, 2))
    normal = adjoint @ columns
    ridge = 1e-9 * np.trace(normal, axis1=1, axis2=2).real[:, None, None] * np.eye(2)
    solved = np.linalg.solve(normal + ridge, adjoint @ np.broadcast_to(points[:, None], (len(direction), len(points), 1)))[..., 0]
    z = np.where(np.abs(solved[:, 0]) > 1e-9, solved[:, 0], 1e-9)
    w = solved[:, 1] / z
    p = points.mean() - z * (origin.mean(1) + w * direction.mean(1))
    return z, w, p


def _increments(points: Array, count: int, closed: bool, rng: np.random.Generator) -> Array:
    """Return increments of the crank angle between points: powers of the chords, with noise, over a part of a turn."""
    u = rng.random((count, 3))
    chord = np.abs(np.diff(points)) + 1e-6
    last = abs(points[0] - points[-1])
    whole = 2.0 * np.pi * (1.0 - 1e-3) * chord.sum() / (chord.sum() + last)
    weight = chord ** (0.3 + 0.9 * u[:, :1]) * np.exp(0.4 * u[:, 1:2] * rng.standard_normal((len(u), len(chord))))
    span = np.full(count, whole) if closed or last < 1e-3 else 0.6 + 5.4 * u[:, 2]
    return weight / weight.sum(1, keepdims=True) * span[:, None]


def _walks(form: LinkageForm, numbers: Mapping, flags: Mapping[str, Array]) -> tuple[Array, dict[str, Array], Array]:
    """Walk coupled closures once round: True where one closes everywhere on one side and comes back; angles on the grid; sides."""
    coupled = form.coupled
    assert coupled is not None
    count = len(next(iter(flags.values())))
    angles = np.broadcast_to(np.linspace(0.0, 2.0 * np.pi, GRID + 1), (count, GRID + 1))
    found, gap = walked(form.steps, dict(numbers), angles, {b: flags[f"guess:{b}"] for b, _ in coupled.hanging})
    back = np.max([np.abs(np.exp(1j * a[:, -1]) - np.exp(1j * a[:, 0])) for a in found.values()], axis=0)
    guesses = {f"guess:{b}": a for b, a in found.items()}
    known = positions(form.steps, {**numbers, **{n: constant(g) for n, g in guesses.items()}}, constant(angles))
    (side,) = (np.broadcast_to(s.value, angles.shape) for s in known.sides.values())
    sign = np.sign(side[:, 0])
    return (gap.max(1) < 1e-9) & (back < 1e-6) & ((side * sign[:, None]).min(1) > 0.5 * LEAST_SIDE), guesses, sign


def _interpolated(grid: Array, wanted: Array) -> Array:
    """Return angles between the positions of a walk over one turn."""
    place = (wanted / (2.0 * np.pi) % 1.0) * GRID
    left = np.minimum(place.astype(int), GRID - 1)
    share = place - left
    rows = np.arange(len(grid))[:, None]
    return grid[rows, left] * (1.0 - share) + grid[rows, left + 1] * share


def _chosen(fit: FormFit, x: Array, rows: Array) -> tuple[FormFit, Array]:
    """Return the problem of some of its candidates."""
    flags = {n: f[rows] for n, f in fit.flags.items()}
    guesses = {n: g[rows] for n, g in fit.guesses.items()}
    return replace(fit, flags=flags, guesses=guesses, costs=np.full(len(rows), np.inf)), x[rows]


def _distinct(fit: FormFit, x: Array, order: list[int]) -> list[int]:
    """Return candidates whose curves over the whole turn differ, in this order."""
    chosen: list[int] = []
    curves: list[Array] = []
    same = 1e-3  # largest distance of two curves that count as one, over the size of the path
    for k in order:
        parts = fit.curve(x[k], k)
        if all(np.abs(parts - c).max() > same for c in curves):
            chosen.append(k)
            curves.append(parts)
    return chosen
