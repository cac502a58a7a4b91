"""Paths of linkages of given forms: input checked, points scaled, every form searched, the best answers of all.

Each form is searched by Sobol starts, linear least squares, Levenberg-Marquardt and SLSQP. The forms are six-bars (Watt I and II,
Stephenson I, II and III) and geared five-bars (two cranks in a fixed ratio of speeds, two links between them, a point of the first
link), with or without timing.

P = p + z D + q e with D the origin and e the direction of the traced body of a linkage of any size: linear in the complex numbers p
(place), z (size and turn) and q, once the proportions and the crank angles are chosen. A start costs microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, least_squares_fits, nearest, sobol_points, tolerances
from linkwright.rings.synthesis.candidate_linkages import drawn
from linkwright.rings.synthesis.dual_arrays import constant
from linkwright.rings.synthesis.dyad_steps import LinkagePositions, positions
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, polished
from linkwright.rings.synthesis.form_fit import LEAST_SIDE, ROUND, FormFit, FormLimits
from linkwright.rings.synthesis.linkage_forms import SIX_BAR_FORMS, LinkageForm, geared_five_bar
from linkwright.rings.synthesis.non_dyad_closure import walked
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked

TRANSMISSION = np.deg2rad(20.0)
STARTS = 4096

TRACED = 720  # positions of the trace over a cycle


def six_bar_paths(
    points: Any,
    *,
    timing: Any = None,
    kind: str | Sequence[str] | None = None,
    closed: bool = False,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
    longest: float | None = None,
    shortest: float | None = None,
    within: Any = None,
    transmission: float = TRANSMISSION,
) -> Found:
    """Return six-bars whose point passes points (K, 2) or K complex numbers, in meters; the crank turns fully.

    timing: crank angles at the points in rad; only differences count. Without it the points are met in order.
    kind: "watt I", "watt II", "stephenson I", "stephenson II", "stephenson III", or several; all without it.
    closed: the points are a whole closed curve. longest, shortest: limits of the links. within: box [[x, y], [x, y]] of the fixed pivots.
    transmission: least transmission angle in rad over the whole turn, for types that consist of dyads.
    """
    kinds = wanted_kinds(kind, SIX_BAR_FORMS)
    forms = [form for k in kinds for form in SIX_BAR_FORMS[k]]
    return form_paths(
        forms, points, timing=timing, closed=closed, seed=seed, count=count, starts=starts, longest=longest, shortest=shortest,
        within=within, transmission=transmission,
    )  # fmt: skip


RATIOS = (-1.0, 1.0, -2.0, 2.0)  # second crank over driven crank; whole numbers close the curve after one turn


def geared_paths(
    points: Any,
    *,
    timing: Any = None,
    ratio: float | Sequence[float] | None = None,
    closed: bool = False,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
    longest: float | None = None,
    shortest: float | None = None,
    within: Any = None,
    transmission: float = TRANSMISSION,
) -> Found:
    """Return geared five-bars whose point passes points (K, 2) or K complex numbers, in meters.

    ratio: speed of the second crank over that of the driven one, or several; by default -1, 1, -2 and 2. A fraction (-1/2) is
    allowed: the cycle then takes several turns of the driven crank. Other arguments as of `six_bar_paths`.
    """
    given: Sequence[Any] = RATIOS if ratio is None else ratio if isinstance(ratio, Sequence) else (ratio,)
    ratios = []
    for value in given:
        if not isinstance(value, (int, float)) or not np.isfinite(value) or value == 0 or abs(value) > 20:
            raise UsageError(f"ratio {value!r}: the ratio of the gears is a number between -20 and 20 without 0.", name=value)
        exact = Fraction(float(value)).limit_denominator(12)
        if abs(float(exact) - value) > 1e-9:
            raise UsageError(
                f"ratio {value:g}: give a fraction with a denominator up to 12, so that the cycle ends ({float(exact):g}).", name="ratio"
            )
        ratios.append(float(value))
    if not ratios:
        raise UsageError("no ratio is given. Allowed are numbers between -20 and 20 without 0.", name="ratio")
    forms = [geared_five_bar(r) for r in ratios]
    return form_paths(
        forms, points, timing=timing, closed=closed, seed=seed, count=count, starts=starts, longest=longest, shortest=shortest,
        within=within, transmission=transmission,
    )  # fmt: skip


GRID = 72  # positions of a walk over the cycle, coupled closures
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


Array = np.ndarray
Found = tuple[list[SynthesizedLinkage], dict[str, Any], tuple[str, ...]]

LONGEST, SHORTEST = 10.0, 0.02  # links over the size of the path


def form_paths(
    forms: Sequence[LinkageForm], points: Any, *, timing: Any, closed: bool, seed: int, count: int, starts: int, longest: float | None,
    shortest: float | None, within: Any, transmission: float,
) -> Found:  # fmt: skip
    """Search all forms for a path and return the best answers of all."""
    wanted = path_points(points)
    angles = crank_angles(timing, len(wanted))
    if count < 1 or starts < 16:
        raise UsageError(f"count = {count}, starts = {starts}: give count at least 1 and starts at least 16.", name="count")
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(
            f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.", name="transmission"
        )
    center = complex(wanted.mean())
    size = float(np.ptp(wanted.real) + np.ptp(wanted.imag))
    most = LONGEST if longest is None else longest / size
    least = min(SHORTEST, most / 50.0) if shortest is None else shortest / size
    if not 0.0 < least < most:
        raise UsageError(f"links between {least * size:g} and {most * size:g} m: give shortest > 0 and longest above it.", name="longest")
    corners = None if within is None else pivot_box(within)
    box = None if corners is None else ((corners[0] - center) / size, (corners[1] - center) / size)
    limits = FormLimits(most, least, float(np.cos(transmission)), box)
    most_points = 80  # without timing: every point has a crank angle of its own
    some = np.arange(len(wanted)) if angles is not None else np.unique(np.linspace(0, len(wanted) - 1, most_points).round().astype(int))
    found: list[FormCandidate] = []
    evaluations = 0
    each = max(2, -(-2 * POLISHED // len(forms)))
    for form in forms:
        scaled = (wanted[some] - center) / size
        optima, effort = search(form, scaled, angles, limits, seed=seed, starts=starts, closed=closed, optima=min(each, POLISHED))
        evaluations += effort.evaluations
        found += optima
    answers = ranked([answer(c, center, size) for c in sorted(found, key=lambda c: c.cost)[: 2 * count]])[:count]
    facts = {"forms": len(forms), "starts": starts * len(forms), "evaluations": evaluations, "optima": len(found)}
    thinned = () if len(some) == len(wanted) else (f"{len(some)} of the {len(wanted)} points were fitted. Give a timing to use all.",)
    return list(answers), facts, (*notes(found, answers), *thinned)


def notes(found: Sequence[FormCandidate], answers: Sequence[SynthesizedLinkage]) -> tuple[str, ...]:
    """Say what limits the best answer."""
    if not answers:
        return ("No linkage of this type closes over a whole turn near these points. Allow longer links or a smaller transmission angle.",)
    best = min(found, key=lambda c: c.cost)
    if best.violation > 1e-6:
        return ("The limits of lengths or transmission angles cannot all be met. The linkages violate them slightly.",)
    limited = [dual for dual, limit in best.fit.parts(best.x[None, :], np.array([best.row]), slopes=False).limited
               if limit > 0.0 and np.abs(dual.value).max() > limit - 1e-6]  # fmt: skip
    if limited and best.cost > 1e-20:
        return ("The best linkage is at a limit of link lengths or of the transmission angle. A wider limit gives a smaller error.",)
    return ()


def path_points(points: Any) -> Array:
    """Return wanted points as complex numbers."""
    array = np.asarray(points)
    if array.dtype.kind != "c":
        try:
            array = np.asarray(points, dtype=float)
        except (TypeError, ValueError):
            raise UsageError("points must be numbers: give a list of [x, y] in meters.", name="points") from None
        if array.ndim != 2 or array.shape[1] != 2:
            raise UsageError(f"points have the shape {array.shape}. Give a list of [x, y] in meters.", name="points")
        array = array[:, 0] + 1j * array[:, 1]
    if array.ndim != 1 or len(array) < 3:
        raise UsageError(f"{counted(array.size, 'point')}: a path needs at least 3. Fewer are met by a crank alone.", name="points")
    if not np.isfinite(array).all():
        raise UsageError("a point is not a finite number. Give every point as [x, y] in meters.", name="points")
    if np.ptp(array.real) + np.ptp(array.imag) == 0.0:
        raise UsageError("all points are the same. Give points of a path.", name="points")
    return array


def pivot_box(within: Any) -> tuple[complex, complex]:
    """Return the lower left and upper right corner of a box."""
    try:
        box = np.asarray(within, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("within must be two corners: give [[x, y], [x, y]] in meters.", name="within") from None
    if box.shape != (2, 2) or not np.isfinite(box).all() or (np.ptp(box, axis=0) <= 0.0).any():
        raise UsageError("within must be two opposite corners of a box: give [[x, y], [x, y]] in meters.", name="within")
    low, high = box.min(axis=0), box.max(axis=0)
    return complex(*low), complex(*high)


def crank_angles(timing: Any, count: int) -> Array | None:
    """Return the crank angles from the first point on, or None."""
    if timing is None:
        return None
    try:
        angles = np.asarray(timing, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("timing must be numbers: one crank angle in rad for every point.", name="timing") from None
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise UsageError(
            f"timing has {counted(angles.size, 'angle')} for {counted(count, 'point')}. Give one finite crank angle in rad for each point.",
            name="timing",
        )
    steps = np.diff(angles)
    if not ((steps > 0.0).all() or (steps < 0.0).all()) or abs(angles[-1] - angles[0]) > 2.0 * np.pi * (1.0 + 1e-9):
        raise UsageError("crank angles must increase (or decrease) from point to point, within one turn.", name="timing")
    return angles - angles[0]


def wanted_kinds(kind: str | Sequence[str] | None, known: Any) -> list[str]:
    """Return the kinds that are asked for, in the spelling of this table."""
    if kind is None:
        return list(known)
    names = [kind] if isinstance(kind, str) else list(kind)
    spelled = {k.lower().replace("-", " "): k for k in known}
    out = []
    for name in names:
        found = spelled.get(str(name).lower().replace("-", " "))
        if found is None:
            raise UsageError(f"unknown kind '{name}'.", nearest(str(name), known, "Kinds"))
        out.append(found)
    if not out:
        raise UsageError(f"no kind is given. Allowed are {', '.join(known)}.", allowed=known, name="kinds")
    return out


# Answers from candidates of a form: drawn in the first wanted position, traced over the whole cycle, measured, defects named.


@dataclass(frozen=True, eq=False)
class CycleTrace:
    """One cycle of the crank from the first wanted position: where every dyad closes, and the cosines of the transmission angles."""

    theta: Array
    known: LinkagePositions
    closes: Array
    cosine: Array | None
    angles: Mapping[str, Array] = field(default_factory=dict)  # of coupled bodies

    def guesses(self, wanted: Array) -> dict[str, Array]:
        """Return the angles of coupled bodies near crank angles of the cycle, as the trace has met them."""
        cycle = self.theta[-1] - self.theta[0]
        place = self.theta[0] + (wanted - self.theta[0]) % cycle
        return {f"guess:{b}": np.interp(place, self.theta, a)[None, :] for b, a in self.angles.items()}

    @property
    def least_transmission(self) -> float | None:
        """Least transmission angle, rad; None for linkages that close by several angles at once."""
        return None if self.cosine is None else float(np.arccos(np.clip(self.cosine.max(), 0.0, 1.0)))


def answer(candidate: FormCandidate, center: complex, size: float, *, unit: str = "m") -> SynthesizedLinkage:
    """Return one linkage in meters; points were centered and divided by size."""
    fit, x = candidate.fit, candidate.x[None, :]
    rows = np.array([candidate.row])
    theta = fit.angles(x, rows)[0]
    trace = traced(candidate)
    known = fit.known(x, rows, theta[None, :], slopes=False, guesses=trace.guesses(theta))
    path = fit.placed(known.point(fit.form.path), x, slopes=False).value[0]
    turn = float(candidate.x[fit.start - 1])
    place = complex(candidate.x[fit.start - 3], candidate.x[fit.start - 2])
    output = f"{fit.form.path.body}.{fit.form.path.pin}"
    scale = size * complex(np.exp(1j * turn))
    linkage = drawn(fit.form.kind, fit.form.steps, known, points=[fit.form.path], output=output, size=scale, place=center + size * place)
    lengths = [abs(float(known.dimensions[n].value[0, 0])) for n in fit.form.lengths]
    measures = {"largest deviation": size * float(np.abs(path - fit.points).max()), "link ratio": max(lengths) / min(lengths)}
    least = trace.least_transmission
    if least is not None:
        measures["least transmission angle"] = least
    measures["longest link"] = size * max(lengths)
    error = size**2 * float((np.abs(path - fit.points) ** 2).sum())
    speed = "60 rpm" if theta[-1] >= theta[0] else "-60 rpm"
    return SynthesizedLinkage(linkage, error, defects(trace, theta), measures, unit=unit, speed=speed)


def traced(candidate: FormCandidate) -> CycleTrace:
    """Follow one candidate over a turn of the crank."""
    fit, x, rows = candidate.fit, candidate.x[None, :], np.array([candidate.row])
    start = fit.angles(x, rows)[0, 0]
    theta = start + np.linspace(0.0, 2.0 * np.pi * fit.form.turns, TRACED * fit.form.turns + 1)
    form = fit.form
    if form.coupled is None:
        known = fit.known(x, rows, theta[None, :], slopes=False)
        cosine = np.max([np.abs(c.value[0]) * np.ones(len(theta)) for c in known.closings.values()], axis=0)
        return CycleTrace(theta, known, cosine < 1.0, cosine)
    first = {n: g[rows, :1] for n, g in fit.guesses.items()}
    begin = fit.known(x, rows, theta[None, :1], slopes=False, guesses=first)
    angles = {b: np.angle(begin.poses[b].direction.value[:, 0]) for b, _ in form.coupled.hanging}
    found, gap = walked(form.steps, dict(begin.dimensions), theta[None, :], angles)
    guessed: Mapping[str, Array] = {f"guess:{b}": a for b, a in found.items()}
    known = positions(form.steps, {**begin.dimensions, **{n: constant(g) for n, g in guessed.items()}}, constant(theta[None, :]))
    (side,) = (s.value[0] for s in known.sides.values())
    return CycleTrace(theta, known, (gap[0] < tolerances.CLOSED_GIVEN) & (side * side[0] > 0.0), None, {b: a[0] for b, a in found.items()})


def defects(trace: CycleTrace, wanted: Array) -> tuple[str, ...]:
    """Name what is wrong: the crank cannot turn fully, or the wanted crank angles are on parts of the cycle that are not connected.

    The sign of every dyad is the same at all points, so that a branch changes only where a dyad opens; increments of the crank
    angle have one sign, so that points are met in order.
    """
    if trace.closes.all():
        return ()
    last = len(trace.theta) - 1
    cycle = trace.theta[-1] - trace.theta[0]
    place = np.clip(np.rint((wanted - trace.theta[0]) % cycle / cycle * last).astype(int), 0, last)
    label = np.cumsum(~trace.closes)  # constant on every connected part; the turn is cyclic
    part = np.where(label == label[-1], 0, label)
    return ("grashof",) if len(set(part[place].tolist())) == 1 else ("grashof", "circuit")
