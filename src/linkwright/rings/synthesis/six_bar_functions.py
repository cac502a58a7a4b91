"""Six-bar function generators: the output angle follows a wanted function of the crank angle with the least largest error.

The crank angle is the input, the angle of the last link is the output:

    watt II           two four-bars in series. Freudenstein's equation is linear in each, once the angle between them is chosen
    stephenson III    a coupler point moves the output by a rod: linear in the output's length, once the rest is chosen
    stephenson II     both ternary links by two bars (non_dyad_closure.py)

The distance of the first two fixed pivots is 1. The crank need not turn fully.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import UsageError, counted, least_squares_fits, sobol_points
from linkwright.rings.synthesis.candidate_linkages import drawn
from linkwright.rings.synthesis.dual_arrays import Dual, constant, dimensions
from linkwright.rings.synthesis.dyad_steps import Anchor, LinkagePositions, LinkageStep, PinDyad, positions
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, distinct, polished
from linkwright.rings.synthesis.form_fit import ANGLE, LEAST_SIDE, exceeding, with_limits
from linkwright.rings.synthesis.form_paths import Found, wanted_kinds
from linkwright.rings.synthesis.linkage_forms import FOUR_BAR, Columns, Flags, LinkageForm, Shapes, stephenson_two
from linkwright.rings.synthesis.non_dyad_closure import CoupledStep, walked
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked


@dataclass(frozen=True, eq=False)
class FunctionForm:
    """Steps, columns and starts of one type. names: columns besides `start`, the crank angle of the first input.

    sample(u, inputs, outputs, rng): columns with `start`, and flags, of those candidates that can be sized.
    """

    kind: str
    steps: tuple[LinkageStep, ...]
    output: str
    names: tuple[str, ...]
    lengths: tuple[str, ...]
    sampled: int
    sample: Callable[[Array, Array, Array, np.random.Generator], Shapes]
    coupled: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names, "start")

    def numbers(self, columns: Columns, flags: Flags) -> dict[str, Dual]:
        """Return all dimensions by name."""
        out = RAW.numbers(columns, flags)
        out["r1"] = constant([1.0])
        if self.kind == "watt II":
            # the second four-bar has fixed pivots at the distance 1 as well: its size does not matter
            out["x"] = out["d"] * out["delta"].turned()
            out["y"] = constant([2.0 + 0j])
        return out


RAW = LinkageForm("four-bar", FOUR_BAR, Anchor("coupler", "D"), (), 0, lambda u, rng: ({}, {}), (), slack=False)


def freudenstein(inputs: Array, outputs: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return crank, coupler and rocker of the nearest four-bar (ground 1) for angles (N, K), and turns to be added to both angles.

    cos(p - q) = K1 cos q - K2 cos p + K3, K1 = 1/crank, K2 = 1/rocker: least squares. A negative length is a positive one that points
    the other way: half a turn is added. The coupler is 0 where none exists.
    """
    matrix = np.stack([np.cos(outputs), -np.cos(inputs), np.ones_like(inputs)], axis=-1)
    transposed = np.swapaxes(matrix, 1, 2)
    normal = transposed @ matrix + 1e-10 * np.eye(3)
    k1, k2, k3 = np.linalg.solve(normal, transposed @ np.cos(inputs - outputs)[..., None])[..., 0].T
    crank, rocker = (1.0 / np.where(np.abs(k) > 1e-6, k, 1e-6) for k in (k1, k2))
    square = 1.0 + crank**2 + rocker**2 - 2.0 * crank * rocker * k3
    return np.abs(crank), np.sqrt(np.maximum(square, 0.0)), np.abs(rocker), np.pi * (crank < 0.0), np.pi * (rocker < 0.0)


def _side(start: Array, end: Array, pin: Array) -> Array:
    """Return +1 where the pin is to the left of start -> end."""
    return np.where((np.conj(end - start) * (pin - start)).imag >= 0.0, 1.0, -1.0)


def _watt() -> FunctionForm:
    step = PinDyad("rod", "link", Anchor("rocker", "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        n, k = len(u), len(inputs)
        first, between, last = (2.0 * np.pi * u[:, j] for j in range(3))
        spread = (0.3 + 1.8 * u[:, 3]) * rng.choice([-1.0, 1.0], n)
        t = (inputs - inputs[0]) / (inputs[-1] - inputs[0])
        y = (outputs - outputs[0]) / (np.abs(outputs - outputs[0]).max() or 1.0)
        phi = first[:, None] + inputs - inputs[0]
        chi = between[:, None] + spread[:, None] * (t + u[:, 4:5] * (y - t))
        r2, r3, r4, more, turned = freudenstein(phi, chi)
        phi, chi = phi + more[:, None], chi + turned[:, None]
        delta = 2.0 * np.pi * u[:, 5]
        psi = last[:, None] + outputs - outputs[0]
        d, l1, l2, more, turned = freudenstein(chi + delta[:, None], psi)
        delta, psi = delta + more, psi + turned[:, None]
        middle = k // 2
        a, b = r2 * np.exp(1j * phi[:, middle]), 1.0 + r4 * np.exp(1j * chi[:, middle])
        p, f = 1.0 + d * np.exp(1j * (chi[:, middle] + delta)), 2.0 + l2 * np.exp(1j * psi[:, middle])
        columns = {"r2": r2, "r3": r3, "r4": r4, "d": d, "delta": delta, "l1": l1, "l2": l2, "start": phi[:, 0]}
        return columns, {"s1": _side(a, np.ones(n), b), "s2": _side(p, np.full(n, 2.0), f)}

    names = ("r2", "r3", "r4", "d", "delta", "l1", "l2")
    return FunctionForm("watt II", (*FOUR_BAR, step), "link", names, ("r2", "r3", "r4", "d", "l1", "l2"), 6, sample)


def _stephenson_three() -> FunctionForm:
    step = PinDyad("rod", "link", Anchor("coupler", "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        n, k = len(u), len(inputs)
        r2, r3, r4 = (10.0 ** (1.4 * u[:, j] - 0.8) for j in range(3))
        start = 2.0 * np.pi * u[:, 3]
        x = r3 * ((4.0 * u[:, 4] - 1.5) + 1j * (4.0 * u[:, 5] - 2.0))
        y = (5.0 * u[:, 6] - 2.0) + 1j * (5.0 * u[:, 7] - 2.5)
        flags = {"s1": rng.choice([-1.0, 1.0], n)}
        given = {"r1": np.ones(1), "r2": r2, "r3": r3, "r4": r4, "s1": flags["s1"], "x": x}
        numbers = {name: constant(v) for name, v in given.items()}
        known = positions(FOUR_BAR, numbers, constant(start[:, None] + inputs - inputs[0]))
        q = known.point(Anchor("coupler", "D", "x")).value - y[:, None]
        psi = 2.0 * np.pi * u[:, 8:9] + outputs - outputs[0]
        # |q|^2 = 2 l2 Re(conj(q) exp(i psi)) - (l2^2 - l1^2): least squares in l2 and the constant
        seen, square = 2.0 * (np.conj(q) * np.exp(1j * psi)).real, np.abs(q) ** 2
        centered = seen - seen.mean(1, keepdims=True)
        l2 = (centered * square).sum(1) / np.maximum((centered * centered).sum(1), 1e-12)
        rest = (square - l2[:, None] * seen).mean(1)
        l1 = np.sqrt(np.maximum(rest + l2**2, 0.0))
        turned = np.pi * (l2 < 0.0)
        l2, middle = np.abs(l2), k // 2
        f = y + l2 * np.exp(1j * (psi[:, middle] + turned))
        flags["s2"] = _side(q[:, middle] + y, y, f)
        columns = {"r2": r2, "r3": r3, "r4": r4, "x.re": x.real, "x.im": x.imag, "y.re": y.real, "y.im": y.imag, "l1": l1, "l2": l2}
        return {**columns, "start": start}, flags

    names = ("r2", "r3", "r4", "x.re", "x.im", "y.re", "y.im", "l1", "l2")
    return FunctionForm("stephenson III", (*FOUR_BAR, step), "link", names, ("r2", "r3", "r4", "l1", "l2"), 9, sample)


def _stephenson_two() -> FunctionForm:
    form = stephenson_two("coupler")

    def sample(u: Array, inputs: Array, outputs: Array, rng: np.random.Generator) -> Shapes:
        # drawn at crank angle 0, walked to the first input and through the others
        shape, flags = form.sample(u, rng)
        n = len(u)
        start = 2.0 * np.pi * rng.random(n)
        numbers = form.numbers({name: constant(v) for name, v in shape.items()}, flags)
        there = np.linspace(0.0, 1.0, 25)[None, :] * start[:, None]
        found, gap = walked(form.steps, numbers, there, {b: flags[f"guess:{b}"] for b in ("coupler", "rocker")})
        begin = {b: a[:, -1] for b, a in found.items()}
        angles = start[:, None] + inputs - inputs[0]
        found, more = walked(form.steps, numbers, angles, begin)
        known = positions(form.steps, {**numbers, **{f"guess:{b}": constant(a) for b, a in found.items()}}, constant(angles))
        (side,) = (s.value for s in known.sides.values())
        good = (gap.max(1) < 1e-9) & (more.max(1) < 1e-9) & ((side * side[:, :1]).min(1) > 0.0)
        flags = {**{f"guess:{b}": a for b, a in found.items()}, "side": np.sign(side[:, 0])}
        shape.pop("r1")
        return {**{name: v[good] for name, v in shape.items()}, "start": start[good]}, {name: f[good] for name, f in flags.items()}

    names = tuple(name for name in form.names if name != "r1")
    lengths = ("r2", "d1", "e1", "l1", "l2")
    return FunctionForm("stephenson II", form.steps, "rocker", names, lengths, 9, sample, coupled=True)


FUNCTION_FORMS: dict[str, FunctionForm] = {f.kind: f for f in (_watt(), _stephenson_three(), _stephenson_two())}


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
        raise UsageError(f"count = {count}, starts = {starts}: give count at least 1 and starts at least 16.", name="count")
    kinds = wanted_kinds(("watt II", "stephenson III") if kind is None else kind, FUNCTION_FORMS)
    found, evaluations = [], 0
    for name in kinds:
        form = FUNCTION_FORMS[name]
        optima, tried = _search(form, given, wanted, ratio, float(np.cos(transmission)), seed, starts)
        evaluations += tried
        found += [_answer(fit, row, x, size) for fit, row, x in optima]
    facts = {"forms": len(kinds), "starts": starts * len(kinds), "evaluations": evaluations, "optima": len(found)}
    notes = () if found else ("No linkage of this type follows the function within these limits. Allow a larger ratio of lengths.",)
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
            "angles in rad each.",
            name="inputs",
        )
    if not (np.isfinite(given).all() and np.isfinite(wanted).all()):
        raise UsageError("an angle is not a finite number. Give inputs and outputs in rad.", name="angles")
    steps = np.diff(given)
    if not ((steps > 0.0).all() or (steps < 0.0).all()) or abs(given[-1] - given[0]) > 2.0 * np.pi:
        raise UsageError("inputs must increase (or decrease), within one turn of the crank.", name="inputs")
    if np.ptp(wanted) == 0.0 or np.ptp(wanted) > np.deg2rad(170.0):
        raise UsageError(
            f"outputs span {np.rad2deg(np.ptp(wanted)):g} deg. The output of a dyad must move, and by up to 170 deg.", name="outputs"
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
