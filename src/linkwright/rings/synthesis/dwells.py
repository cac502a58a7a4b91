"""Dwell linkages from their plain description: stroke, part of the cycle in which the output rests, and how exactly.

The coupler or rocker of a four-bar moves an output that rests while the crank turns through a window:

    stephenson III slider, stephenson III   a coupler point runs along an arc; rod of its radius to a slider or rocker
    watt II slider, watt II                 rod on the rocker near the end of its swing, in line with its pivot
    slotted slider, slotted rocker          a coupler point runs along a straight line, in a slot across the slider or along the rocker

Starts use what is linear: the arc or line of a random coupler point in the window, by least squares, sizes the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwright.api import UsageError, least_squares_fits, sobol_points
from linkwright.rings.synthesis.bound_checks import RESTS
from linkwright.rings.synthesis.candidate_linkages import drawn
from linkwright.rings.synthesis.dual_arrays import Dual, constant, dimensions
from linkwright.rings.synthesis.dyad_steps import Anchor, LinkagePositions, LinkageStep, PinDyad, SlideDyad, SlotDyad, YokeDyad, positions
from linkwright.rings.synthesis.final_improvement import VIOLATED, SmoothProblem, distinct, polished
from linkwright.rings.synthesis.form_fit import ANGLE, exceeding, with_limits
from linkwright.rings.synthesis.form_paths import Found, wanted_kinds
from linkwright.rings.synthesis.linkage_forms import FOUR_BAR, Columns, Flags, LinkageForm, Shapes, four_bar_shapes
from linkwright.rings.synthesis.placement import INSIDE, SlidePlacement, placed
from linkwright.rings.synthesis.results import SynthesizedLinkage, ranked

SHAPE = ("a", "b", "c", "x.re", "x.im")  # slacks over the shortest link, traced point on coupler or rocker


@dataclass(frozen=True, eq=False)
class DwellForm:
    """Steps, columns and starts of one type; `output` is the slider or rocker that rests.

    sized(known point in the window (N, K), its pivot, u, rng): columns and flags of the output.
    """

    kind: str
    carrier: str  # body of the point: coupler or rocker
    step: LinkageStep
    names: tuple[str, ...]
    lengths: tuple[str, ...]
    output: str
    rotary: bool
    sized: Callable[[Array, Array, Array, np.random.Generator], Shapes]
    sampled: int  # numbers that `sized` takes

    @property
    def steps(self) -> tuple[LinkageStep, ...]:
        return (*FOUR_BAR, self.step)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*SHAPE, *self.names, "start")

    @property
    def all_lengths(self) -> tuple[str, ...]:
        return ("r1", "r2", "r3", "r4", *self.lengths)

    def numbers(self, columns: Columns, flags: Flags) -> dict[str, Dual]:
        """Return all dimensions by name; the shortest link is 1, the guide is at the distance `h` from the crank's pivot."""
        out = FOUR_BAR_FORM.numbers({"s": constant([1.0]), **columns}, flags)
        if "h" in out:
            out["g"] = out["phi"].turned() * 1j * out["h"]
        return out

    def sample(self, u: Array, window: Array, rng: np.random.Generator) -> Shapes:
        """Return random candidates from u (N, 6 + sampled), for crank angles of the window counted from its start."""
        shape, flags = four_bar_shapes(u[:, :3], rng)
        shape.pop("s")
        numbers = FOUR_BAR_FORM.numbers({"s": constant([1.0]), **{n: constant(v) for n, v in shape.items()}}, flags)
        size = numbers["r3" if self.carrier == "coupler" else "r4"].value[:, 0]
        shape["x.re"], shape["x.im"] = size * (3.0 * u[:, 3] - 1.0), size * (4.0 * u[:, 4] - 2.0)
        shape["start"] = 2.0 * np.pi * u[:, 5]
        numbers["x"] = constant(shape["x.re"] + 1j * shape["x.im"])
        known = positions(FOUR_BAR, numbers, constant(shape["start"][:, None] + window))
        point = known.point(Anchor(self.carrier, "D", "x")).value
        columns, more = self.sized(point, numbers["r1"].value[:, 0] + 0j, u[:, 6:], rng)
        return {**shape, **columns}, {**flags, **more}


FOUR_BAR_FORM = LinkageForm("four-bar", FOUR_BAR, Anchor("coupler", "D", "x"), ("s", "a", "b", "c"), 3, four_bar_shapes, ())


def arcs(points: Array) -> tuple[Array, Array]:
    """Return center and radius of the circle nearest to points (N, K): |p|^2 - 2 Re(conj(c) p) = constant, least squares in c."""
    middle = points.mean(1, keepdims=True)
    p = points - middle
    square = np.abs(p) ** 2
    matrix = np.stack([2.0 * p.real, 2.0 * p.imag, np.ones_like(p.real)], axis=-1)
    transposed = np.swapaxes(matrix, 1, 2)
    normal = transposed @ matrix
    scale = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    solved = np.linalg.solve(normal + 1e-12 * scale * np.eye(3), transposed @ square[..., None])[..., 0]
    center = solved[:, 0] + 1j * solved[:, 1]
    return center + middle[:, 0], np.sqrt(np.maximum(solved[:, 2] + np.abs(center) ** 2, 1e-12))


def lines(points: Array) -> tuple[Array, Array]:
    """Return middle and direction (angle) of the line nearest to points (N, K)."""
    middle = points.mean(1)
    p = points - middle[:, None]
    return middle, 0.5 * np.angle((p * p).sum(1))


def _beside(foot: Array, phi: Array) -> Array:
    """Return the signed distance h of a guide through a point from the origin: the guide contains i h exp(i phi)."""
    return (foot * np.exp(-1j * phi)).imag


def _end_of_rod(form: str, points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return where the rod's other end rests, and the rod's length: center of the arc, or in line with the rocker."""
    if form == "arc":
        return arcs(points)
    middle = points[:, points.shape[1] // 2]
    away = middle - pivot
    length = np.abs(away) * 10.0 ** (1.2 * u - 0.4)
    return middle + rng.choice([-1.0, 1.0], len(u)) * length * away / np.maximum(np.abs(away), 1e-9), length


def _slider(kind: str, carrier: str, form: str) -> DwellForm:
    step = SlideDyad("rod", "slider", Anchor(carrier, "D", "x"), Anchor("ground", "G", "g"), "phi", "F", "l1", "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        rest, length = _end_of_rod(form, points, pivot, u[:, 1], rng)
        phi = 2.0 * np.pi * u[:, 0]
        ahead = ((rest - points[:, points.shape[1] // 2]) * np.exp(-1j * phi)).real
        return {"l1": length, "phi": phi, "h": _beside(rest, phi)}, {"s2": np.where(ahead >= 0.0, 1.0, -1.0)}

    return DwellForm(kind, carrier, step, ("l1", "phi", "h"), ("l1",), "slider", False, sized, 2)


def _rocker(kind: str, carrier: str, form: str) -> DwellForm:
    step = PinDyad("rod", "output", Anchor(carrier, "D", "x"), Anchor("ground", "E", "y"), "F", ("l1", "l2"), "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        rest, length = _end_of_rod(form, points, pivot, u[:, 2], rng)
        second = length * 10.0 ** (1.2 * u[:, 1] - 0.7)
        y = rest + second * np.exp(2j * np.pi * u[:, 0])
        middle = points[:, points.shape[1] // 2]
        left = ((rest - middle) * np.conj(y - middle)).imag
        columns = {"l1": length, "l2": second, "y.re": y.real, "y.im": y.imag}
        return columns, {"s2": np.where(left >= 0.0, 1.0, -1.0)}

    return DwellForm(kind, carrier, step, ("l1", "l2", "y.re", "y.im"), ("l1", "l2"), "output", True, sized, 3)


def _slotted_slider() -> DwellForm:
    step = YokeDyad("slider", Anchor("coupler", "D", "x"), Anchor("ground", "G", "g"), "phi", "F")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        middle, along = lines(points)
        phi = along + np.pi / 2.0
        return {"phi": phi, "h": _beside(middle, phi)}, {}

    return DwellForm("slotted slider", "coupler", step, ("phi", "h"), (), "slider", False, sized, 0)


def _slotted_rocker() -> DwellForm:
    step = SlotDyad("output", Anchor("ground", "E", "y"), Anchor("coupler", "D", "x"), "offset", "s2")

    def sized(points: Array, pivot: Array, u: Array, rng: np.random.Generator) -> Shapes:
        middle, along = lines(points)
        length = np.ptp((points * np.exp(-1j * along)[:, None]).real, axis=1)
        y = middle + np.exp(1j * along) * length * (8.0 * u[:, 0] - 4.0)
        n = len(u)
        return {"y.re": y.real, "y.im": y.imag}, {"s2": np.ones(n), "offset": np.zeros(n)}

    return DwellForm("slotted rocker", "coupler", step, ("y.re", "y.im"), (), "output", True, sized, 1)


DWELL_FORMS: dict[str, DwellForm] = {
    form.kind: form
    for form in (
        _slider("stephenson III slider", "coupler", "arc"),
        _slider("watt II slider", "rocker", "reach"),
        _slotted_slider(),
        _rocker("stephenson III", "coupler", "arc"),
        _rocker("watt II", "rocker", "reach"),
        _slotted_rocker(),
    )
}


Array = np.ndarray
STARTS = 4096
ROUNDS = ((128, 20), (32, 60))  # candidates and iterations of Levenberg-Marquardt
POLISHED, TRIED = 4, 8  # answers, and attempts of one form: some runs end outside of a limit
PEAKS = (33, 96)  # samples in the window and outside for the largest deviation and the limits
DENSE = 720  # samples of the final measures over a cycle
LONGEST = 6.0  # links over the stroke of a slider
ROCKER_SIZE = 0.2  # m, longest link where only angles are given
REPOLISHED = 3  # times that an optimum is polished again, where limits are passed between the samples
TRANSMISSION = np.deg2rad(30.0)

IN_WINDOW, OUTSIDE = 21, 40  # samples of the least squares
LEAST_REACH = 0.5  # of a pin in the slot of a rocker from the rocker's pivot, over the shortest link
MOST_SWING = 1.02  # of a rocker over what is wanted
RATIO = 12.0  # largest length over the shortest link


def dwells(
    *,
    stroke: float,
    dwell_angle: float,
    tolerance: float | None = None,
    kind: str | Sequence[str] | None = None,
    start: float | None = None,
    longest: float | None = None,
    shortest: float | None = None,
    transmission: float = TRANSMISSION,
    direction: float | None = None,
    at: Sequence[float] | None = None,
    within: Sequence[float] | None = None,
    overshoot: float | None = None,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
) -> Found:
    """Return linkages whose output rests while the crank turns through `dwell_angle` (rad), and moves by `stroke` in the cycle.

    kind: "stephenson III slider", "watt II slider", "slotted slider" (stroke in m), "stephenson III", "watt II", "slotted rocker"
    (stroke in rad), or several with the same output; all sliders without it. tolerance: largest range of the output in the window, for
    a note where it is not reached. start: crank angle from the line of the fixed pivots at which the dwell begins, free without it.
    longest, shortest: limits of the links in m. transmission: least transmission angle in rad. The crank turns fully and counter-clockwise.
    Of a slider, in its machine: direction of the travel away from the rest (rad), `at` the place of its pin at rest, `within` the box (x
    least, x most, y least, y most) of the fixed pivots: the mirror image, whose crank turns clockwise, is taken where that fits better.
    overshoot: how far the output may move beyond its rest, against the stroke (0: the rest is an end of the stroke); others come last.
    """
    sliders = [k for k, f in DWELL_FORMS.items() if not f.rotary]
    kinds = wanted_kinds(sliders if kind is None else kind, DWELL_FORMS)
    forms = [DWELL_FORMS[k] for k in kinds]
    sizes = {"stroke": stroke, "dwell_angle": dwell_angle, "tolerance": tolerance, "longest": longest, "shortest": shortest}
    if overshoot is not None and not (np.isfinite(overshoot) and overshoot >= 0.0):
        raise UsageError(f"overshoot = {overshoot}: give 0 or a positive number in SI.", name="overshoot")
    _check(sizes, start, transmission, count, starts, forms)
    rotary = forms[0].rotary
    if rotary and not (direction is None and at is None and within is None):
        raise UsageError(
            "direction, at and within belong to a slider. A rocker has none. Take a kind with a slider, or leave them out.",
            name="direction",
        )
    place = SlidePlacement.of(direction, at, within)
    cosine = float(np.cos(transmission))
    if rotary:
        limits = DwellLimits(cosine, stroke, LONGEST, ratio=min(RATIO, (longest or ROCKER_SIZE) / shortest) if shortest else RATIO)
    else:
        limits = DwellLimits(cosine, stroke, longest / stroke if longest else LONGEST, shortest / stroke if shortest else 0.0)
    found: list[SynthesizedLinkage] = []
    evaluations = 0
    for form in forms:
        wanted = -(-POLISHED // len(forms)) if place.within is None and overshoot is None else TRIED
        optima, tried = _search(form, dwell_angle, limits, start, seed, starts, wanted)
        evaluations += tried
        for fit, row, x in optima:
            found.append(_answer(fit, row, x, (longest or ROCKER_SIZE) if rotary else None, stroke, place))
    most = np.inf if overshoot is None else overshoot + RESTS * stroke
    order = ranked(found)
    fitting = [x for x in order if place.outside(x.linkage) <= INSIDE and x.measures["overshoot"] <= most]
    answers = [*fitting, *(x for x in order if x not in fitting)][:count]
    facts = {"forms": len(forms), "starts": starts * len(forms), "evaluations": evaluations, "optima": len(found)}
    if not answers:
        return [], facts, ("No linkage with this stroke and these limits was found. Allow longer links or a smaller transmission angle.",)
    asked = {"have their pivots in the box": "widen the box, move the slider"} if place.within is not None else {}
    asked |= {"stay within the overshoot": "allow more overshoot"} if overshoot is not None else {}
    return answers, facts, tuple(_notes(answers[0].error, bool(fitting), asked, tolerance, "rad" if rotary else "m"))


def _notes(least: float, fitting: bool, asked: Mapping[str, str], tolerance: float | None, unit: str) -> Iterator[str]:
    """Yield what the first answer, which deviates by `least`, does not reach; `fitting`: it does what was `asked` for, with advice."""
    them = f" of linkages that {' and '.join(asked)}" if asked and fitting else ""
    if tolerance is not None and least > tolerance:
        yield (
            f"The output{them} rests within {least:.3g} {unit} at best, not within {tolerance:.3g} {unit}. "
            "Shorten the dwell, allow longer links or a smaller transmission angle."
        )
    if not fitting:
        yield f"No linkages {' and '.join(asked)}. You can {', '.join(asked.values())} or take more starts."


def _check(
    sizes: Mapping[str, float | None], start: float | None, transmission: float, count: int, starts: int, forms: Sequence[DwellForm]
) -> None:
    if len({f.rotary for f in forms}) > 1:
        raise UsageError(
            "kinds with a slider (stroke in m) and with a rocker (stroke in rad) cannot be mixed. Choose one of them.", name="kind"
        )
    for name, value in sizes.items():
        if value is not None and not (np.isfinite(value) and value > 0.0):
            raise UsageError(f"{name} = {value}: give a positive number in SI.", name=name)
    stroke, dwell_angle = sizes["stroke"], sizes["dwell_angle"]
    if stroke is None or dwell_angle is None:
        raise UsageError("a dwell is described by its stroke and by dwell_angle, the part of the turn in rad. Give both.")
    longest, shortest = sizes["longest"], sizes["shortest"]
    if longest and shortest and longest <= shortest:
        raise UsageError(f"links between {shortest:g} and {longest:g} m: give longest above shortest.", name="longest")
    if start is not None and not np.isfinite(start):
        raise UsageError(f"start = {start}: give the crank angle in rad at which the dwell begins.", name="start")
    if dwell_angle > np.deg2rad(300.0):
        raise UsageError(
            f"a dwell of {np.rad2deg(dwell_angle):g} deg leaves no time for the stroke. At most 300 deg are allowed.", name="dwell_angle"
        )
    if forms[0].rotary and stroke > np.deg2rad(150.0):
        raise UsageError(f"a swing of {np.rad2deg(stroke):g} deg is beyond the reach of a dyad. At most 150 deg are allowed.", name="swing")
    if not 0.0 <= transmission < np.pi / 2.0:
        raise UsageError(
            f"transmission = {np.rad2deg(transmission):g} deg: the least transmission angle is between 0 and 90 deg.", name="transmission"
        )
    if count < 1 or starts < 16:
        raise UsageError(f"count = {count}, starts = {starts}: give count at least 1 and starts at least 16.", name="count")


def _search(
    form: DwellForm, window: float, limits: DwellLimits, start: float | None, seed: int, count: int, wanted: int
) -> tuple[list[tuple[DwellFit, int, Array]], int]:
    """Return `wanted` optima of one form, least largest deviation first: (problem, row, columns); and the evaluations made."""
    rng = np.random.default_rng(seed)
    u = sobol_points.sobol(count, 6 + form.sampled, seed=seed)
    if start is not None:
        u[:, 5] = start / (2.0 * np.pi)
    shape, flags = form.sample(u, np.linspace(0.0, window, IN_WINDOW), rng)
    fit = DwellFit(form, window, limits.tightened, flags, start)
    low, high = fit.bounds()
    x = np.clip(np.column_stack([shape[name] for name in form.columns]), low, high)
    cost = fit.sums(x)
    evaluations = count
    for some, iterations in ROUNDS:
        rows = np.argsort(cost, kind="stable")[:some]
        fit, x = replace(fit, flags={name: f[rows] for name, f in fit.flags.items()}), x[rows]
        done = least_squares_fits.levenberg_marquardt(fit, x, low, high, iterations=iterations, tolerance=1e-4)
        x, cost, evaluations = done.x, done.cost, evaluations + done.evaluations
    optima = []
    for row in distinct(x, cost, TRIED):
        finer = replace(fit, limits=limits, inside=PEAKS[0], outside=PEAKS[1])
        level = float(fit.parts(x[row : row + 1], np.array([row]), slopes=False)[0].value[0, :IN_WINDOW].mean())
        ends = (np.append(low, -np.inf), np.append(high, np.inf))
        best = polished(finer.smooth(row), np.append(x[row], level), *ends, maximum=True, iterations=40, floor=0.1)
        evaluations += best.evaluations
        for _ in range(REPOLISHED):
            beyond = _largest_cosine(finer, row, best.x[:-1]) - limits.cosine
            if beyond <= 0.0:
                break
            drawn_in = replace(finer.limits, cosine=finer.limits.cosine - 1.1 * beyond - VIOLATED)
            finer = replace(finer, limits=drawn_in)
            best = polished(finer.smooth(row), best.x, *ends, maximum=True, iterations=10, floor=0.1)
            evaluations += best.evaluations
        if best.violation < 1e2 * VIOLATED:
            optima.append((best.value, fit, row, best.x[:-1]))
        if len(optima) == wanted:
            break
    return [(f, r, x) for _, f, r, x in sorted(optima, key=lambda o: o[0])], evaluations


def _largest_cosine(fit: DwellFit, row: int, x: Array) -> float:
    """The largest cosine of a transmission angle over a cycle, at the samples of the final measures."""
    inside = np.linspace(0.0, fit.window, DENSE // 4 + 1)
    theta = x[-1] + np.concatenate([inside, np.linspace(0.0, 2.0 * np.pi, DENSE, endpoint=False)])
    known = fit.known(x[None, :], np.array([row]), theta[None, :], slopes=False)
    return float(max(np.abs(c.value).max() for c in known.closings.values()))


def _answer(fit: DwellFit, row: int, x: Array, longest: float | None, stroke: float, place: SlidePlacement) -> SynthesizedLinkage:
    """Return one linkage in meters, drawn at the begin of its dwell in its place, measured over a whole turn."""
    form, rows = fit.form, np.array([row])
    inside = np.linspace(0.0, fit.window, DENSE // 4 + 1)
    theta = x[-1] + np.concatenate([inside, np.linspace(0.0, 2.0 * np.pi, DENSE, endpoint=False)])
    known = fit.known(x[None, :], rows, theta[None, :], slopes=False)
    y = fit.output(known, len(inside) // 2).value[0]
    travel = float(np.ptp(y))
    lengths = {n: abs(float(known.dimensions[n].value[0, 0])) for n in form.all_lengths}
    size = stroke / travel if longest is None else longest / max(lengths.values())
    unit = size if longest is None else 1.0
    cosine = np.max([np.abs(c.value[0]) * np.ones(len(theta)) for c in known.closings.values()], axis=0)
    deviation = unit * float(np.ptp(y[: len(inside)]))
    output = "guide" if not form.rotary else f"{form.output}.angle"
    linkage = drawn(form.kind, form.steps, known, output=output, size=size)
    rest = y[: len(inside)]
    away = 1.0 if float(y.mean()) > float(rest.mean()) else -1.0
    measures = {
        "dwell range": deviation,
        "largest deviation": deviation / 2.0,
        "overshoot": unit * float((away * rest).min() - (away * y).min()),  # beyond the rest, against the stroke
        "stroke": unit * travel,
        "least transmission angle": float(np.arccos(min(cosine.max(), 1.0))),
        "link ratio": max(lengths.values()) / min(lengths.values()),
        "longest link": size * max(lengths.values()),
    }
    defects = () if cosine.max() < 1.0 else ("grashof",)
    return placed(SynthesizedLinkage(linkage, deviation, defects, measures), away, place)


# Least-squares and minimax problem of a dwell: the output rests while the crank turns through a window, and has a stroke besides.
#
# A slider's travel is divided by its stroke, so that the shortest link can be 1 and the size follows at the end; a rocker's angle is
# divided by the wanted swing. Strokes are differences of the extreme samples, with the derivatives there (Danskin).


@dataclass(frozen=True)
class DwellLimits:
    """Largest cosine of a transmission angle; wanted swing in rad (rockers); limits of lengths.

    longest, shortest: over the stroke of a slider. ratio: largest length over the shortest link of the four-bar.
    """

    cosine: float
    swing: float
    longest: float
    shortest: float = 0.0
    ratio: float = RATIO
    most_swing: float = MOST_SWING

    @property
    def tightened(self) -> DwellLimits:
        """Limits of the least squares, whose penalties let candidates a little outside: those ends meet the actual limits."""
        swing = 1.0 + (MOST_SWING - 1.0) * 0.3
        lengths = {"longest": self.longest * 0.99, "shortest": self.shortest * 1.01, "ratio": self.ratio * 0.99}
        return DwellLimits(self.cosine * 0.99, self.swing * swing, most_swing=swing, **lengths)


@dataclass(frozen=True, eq=False)
class DwellFit:
    """Candidates of one form for one window (rad of the crank), with exact derivatives; start: crank angle where it has to begin."""

    form: DwellForm
    window: float
    limits: DwellLimits
    flags: Mapping[str, Array]
    start: float | None = None
    inside: int = IN_WINDOW
    outside: int = OUTSIDE

    def bounds(self) -> tuple[Array, Array]:
        table = {
            "a": (1e-3, 2.0 * RATIO), "b": (1e-3, 2.0 * RATIO), "c": (1e-3, 2.0 * RATIO), "l1": (0.3, RATIO), "l2": (0.3, RATIO),
            "phi": (-ANGLE, ANGLE), "h": (-2.0 * RATIO, 2.0 * RATIO), "start": (-ANGLE, ANGLE),
        }  # fmt: skip
        if self.start is not None:
            table["start"] = (self.start, self.start)
        pairs = np.array([table.get(name, (-2.0 * RATIO, 2.0 * RATIO)) for name in self.form.columns])
        return pairs[:, 0], pairs[:, 1]

    def angles(self, start: Array) -> Array:
        """Return crank angles (N, inside + outside) of the samples."""
        rest = self.window + (2.0 * np.pi - self.window) * (np.arange(self.outside) + 1.0) / (self.outside + 1.0)
        return start + np.concatenate([np.linspace(0.0, self.window, self.inside), rest])

    def known(self, x: Array, rows: Array, theta: Array, *, slopes: bool = True) -> LinkagePositions:
        """Return the poses at crank angles theta (N, M); the derivative by theta is that by the column `start`."""
        names = self.form.columns
        columns = dict(zip(names, dimensions(x, slopes=slopes), strict=True))
        columns.pop("start")
        numbers = self.form.numbers(columns, {n: f[rows] for n, f in self.flags.items()})
        at = names.index("start")
        return positions(self.form.steps, numbers, Dual(theta, {at: np.ones_like(theta)} if slopes else {}))

    def output(self, known: LinkagePositions, reference: int) -> Dual:
        """Return travel or angle of the output; angles are counted from that of one sample."""
        if not self.form.rotary:
            return known.travels[self.form.output]
        direction = known.poses[self.form.output].direction
        return (direction * np.conj(direction.value[:, reference : reference + 1])).angle()

    def parts(self, x: Array, rows: Array, *, slopes: bool = True) -> tuple[Dual, list[tuple[Dual, float]]]:
        """Return the output over the stroke (N, samples), and limited quantities with their largest size."""
        known = self.known(x, rows, self.angles(x[:, -1:]), slopes=slopes)
        y = self.output(known, self.inside // 2)
        stroke = stroke_of(y)
        limited = [(dual, self.limits.cosine) for dual in known.closings.values()]
        lengths = [known.dimensions[n] for n in self.form.all_lengths]
        lengths.append(known.dimensions["x"].size())
        limited += [(length / self.limits.ratio, 1.0) for length in lengths]
        if isinstance(self.form.step, SlotDyad):
            limited.append((LEAST_REACH / known.travels[self.form.output], 1.0))
        if self.form.rotary:
            limited += [(self.limits.swing / stroke, 1.0), (stroke * (1.0 / (self.limits.most_swing * self.limits.swing)), 1.0)]
            return y / self.limits.swing, limited
        limited += [(length / (stroke * self.limits.longest), 1.0) for length in lengths]
        if self.limits.shortest > 0.0:
            limited += [(stroke * self.limits.shortest / length, 1.0) for length in lengths[:-1]]
        return y / stroke, limited

    def __call__(self, x: Array, rows: Array) -> tuple[Array, Array]:
        """Return residuals (N, m) and their derivatives (N, m, n), as `levenberg_marquardt` calls it."""
        y, limited = self.parts(x, rows)
        inside = y.at(slice(None), slice(0, self.inside))
        level = inside.each(lambda a: a - np.mean(a, axis=1, keepdims=True))
        beyond = [exceeding(dual, limit) for dual, limit in limited]
        n = x.shape[1]
        r = np.concatenate([level.value, *(b.value for b in beyond)], axis=1)
        return r, np.concatenate([level.jacobian(n), *(b.jacobian(n) for b in beyond)], axis=1)

    def sums(self, x: Array) -> Array:
        """Return the sums of squares of all candidates."""
        y, limited = self.parts(x, np.arange(len(x)), slopes=False)
        return with_limits(y.value[:, : self.inside].var(axis=1) * self.inside, limited)

    def smooth(self, row: int) -> SmoothProblem:
        """Return one candidate as a problem under inequalities (final_improvement.py); its last variable is the level of rest."""
        rows = np.array([row])

        def problem(v: Array, slopes: bool) -> tuple[Array, Array, Array, Array]:
            n = len(v) - 1
            y, limited = self.parts(v[None, :n], rows, slopes=slopes)
            inside = y.at(slice(None), slice(0, self.inside))
            r = inside.value[0] - v[n]
            g = np.concatenate([limit + sign * dual.value[0] for dual, limit in limited for sign in (-1.0, 1.0)])
            if not slopes:
                return r, np.zeros(0), g, np.zeros(0)
            jacobian = np.hstack([inside.jacobian(n)[0], np.full((self.inside, 1), -1.0)])
            gradients = np.concatenate([sign * dual.jacobian(n)[0] for dual, _ in limited for sign in (-1.0, 1.0)])
            return r, jacobian, g, np.hstack([gradients, np.zeros((len(g), 1))])

        return problem


def stroke_of(y: Dual) -> Dual:
    """Return largest minus least sample (N, 1)."""
    rows = np.arange(len(y.value))
    high, low = y.value.argmax(1), y.value.argmin(1)

    def chosen(a: Array) -> Array:
        a = np.broadcast_to(a, y.value.shape)
        return (a[rows, high] - a[rows, low])[:, None]

    stroke = Dual(chosen(y.value), {k: chosen(d) for k, d in y.slope.items()})
    return Dual(np.maximum(stroke.value, 1e-9), stroke.slope)
