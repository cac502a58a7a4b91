"""Sensitivity: which dimension or mass changes a peak torque or a bearing load most, and what tolerances do to it.

    sensitivity(m, "peak A.torque")                                   every mass, center, inertia and joint point
    sensitivity(m, "rms A.torque", ["L1", "L2"])                      parameters of the file
    sensitivity(m, "peak C.load", tolerances={"*.x": "0.1 mm", "*.mass": "2 %"})
    sensitivity(m, "dwell guide within 1 mm")                         any measure of a turn (`results.measures`)

Derivatives are exact (`derivatives`): at a fixed motion of the drives, and for a peak at its drive angle, which may shift
without changing the peak to first order. The scatter is linear: root of the sum of squares for independent deviations, plain sum
for the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.errors import UsageError, listing, nearest
from linkwright.files.tables import Result, Table
from linkwright.mechanics.closing.continuation import start as walker
from linkwright.mechanics.closing.continuation import walk
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse import Loads
from linkwright.model.coordinates import coordinate, is_rotary
from linkwright.model.curves.lines import Parabola
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.model.file.overrides import place_of
from linkwright.model.parameters import Parameter, choose, every_parameter, holes, matched
from linkwright.motion import cycle
from linkwright.numerics.tolerances import COMPLEX_STEP
from linkwright.results.measures import BEGINNINGS, Measure, check, measure, unit_of_measure
from linkwright.results.singular_positions import NEAR_PEAK, PEAKS
from linkwright.results.trajectory import Trajectory
from linkwright.rings.design.derivatives import Disturbed, Locks, Sample, slopes_by_kernel
from linkwright.system.system import System
from linkwright.text.measures import LOAD_STATISTICS, load_phrase
from linkwright.text.ranges import Range, half_width, meaning
from linkwright.text.units import KINDS

CLOSE_SECOND = 0.99  # another peak this high may overtake the first


@dataclass(frozen=True)
class Effect:
    """Effect of one parameter on the quantity. `per_milli`: per 0.001 SI, so per 1 mm or 1 g."""

    name: str
    kind: str
    value: float
    derivative: float
    per_percent: float  # per 1 % of the value; of coordinates per 1 % of the body's size
    per_milli: float
    tolerance: float | None = None

    @property
    def share(self) -> float:
        """Change by the tolerance."""
        return 0.0 if self.tolerance is None else abs(self.derivative) * self.tolerance


@dataclass(frozen=True)
class Sensitivity(Result):
    """Effects, strongest first (per 1 %), and the scatter from the tolerances given."""

    quantity: str
    value: float
    unit: str
    drive: str
    at: float | None  # drive coordinate of the peak; None for means
    effects: tuple[Effect, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Effect:
        for e in self.effects:
            if e.name == name:
                return e
        raise UsageError(f"'{name}' was not asked for. {nearest(name, [e.name for e in self.effects], 'Parameters')}")

    @property
    def scatter(self) -> float:
        """Root of the sum of squares of derivative times tolerance: independent deviations."""
        return float(np.sqrt(sum(e.share**2 for e in self.effects)))

    @property
    def worst(self) -> float:
        """Sum of |derivative| times tolerance: all deviations at their worst."""
        return float(sum(e.share for e in self.effects))

    def as_dict(self) -> dict[str, Any]:
        rows = [
            {
                "parameter": e.name,
                "value": e.value,
                "derivative": e.derivative,
                "per_percent": e.per_percent,
                "per_milli": e.per_milli,
                "tolerance": e.tolerance,
            }
            for e in self.effects
        ]
        return {
            "quantity": self.quantity,
            "value": self.value,
            "unit": self.unit,
            "drive": self.drive,
            "at": self.at,
            "effects": rows,
            "scatter": self.scatter,
            "worst": self.worst,
            "notes": list(self.notes),
        }

    def table(self) -> Table:
        """Return the effects, strongest first, in SI; tolerances only where some are given."""
        heads = [
            ("parameter", ""), ("value", "SI", ".5g"), ("derivative", "SI", ".5g"), ("per 1 %", self.unit, ".5g"),
            ("per mm, g", self.unit, ".5g"), ("tolerance", "SI", ".5g"), ("makes", self.unit, ".5g", "change by the tolerance"),
        ]  # fmt: skip
        rows = [
            (e.name, e.value, e.derivative, e.per_percent, e.per_milli, e.tolerance, None if e.tolerance is None else e.share)
            for e in self.effects
        ]
        return Table.of(heads, rows, "sensitivity", self.notes).without_empty()

    def __str__(self) -> str:
        where = "" if self.at is None else f" at {self.drive} = {self.at:.6g}"
        lines = [f"{self.quantity} = {self.value:.6g} {self.unit}{where} (SI)", self.table().text()]
        if any(e.tolerance is not None for e in self.effects):
            lines.append(f"scatter +- {self.scatter:.5g} {self.unit} (independent), worst case +- {self.worst:.5g} {self.unit}")
        return "\n".join([*lines, *self.notes])


# ---------------------------------------------------------------- what is asked for


@dataclass(frozen=True)
class LoadStatistic:
    """A statistic of a vector read from loads: its size, or for efforts its signed value."""

    text: str
    statistic: str
    unit: str
    read: Callable[[Loads], np.ndarray]
    unique: Callable[[Loads], bool]
    signed: bool


def wanted(system: System, text: str, drives: Sequence[str]) -> LoadStatistic:
    """`peak A.torque`, `rms C.load`, `peak S.load on coupler`, `max A.power`, `peak shaking.force`."""
    m = load_phrase(text)
    if m is None:
        raise UsageError(
            f"'{text}' is not a quantity. Write one of {', '.join(LOAD_STATISTICS)} and what: 'peak A.torque' of a drive, 'rms C.load' or "
            "'peak C.moment' of a joint, 'peak S.load on coupler', 'max A.power', 'peak shaking.force'; or a measure, 'stroke guide'."
        )
    statistic, name, sort, body = m.statistic, m.name, m.kind, m.body
    if name == "shaking" and sort in ("force", "moment"):
        part = 0 if sort == "force" else 1
        found = (lambda x: x.shaking()[part]), (lambda x: True)
        made = LoadStatistic(text, statistic, "N" if part == 0 else "N m", *found, False)
    elif sort in ("torque", "force", "power"):
        made = _of_drive(system, text, statistic, name, sort, drives)
    else:
        made = _of_joint(system, text, statistic, name, sort, body)
    if statistic in ("max", "min", "mean") and not made.signed:
        raise UsageError(f"'{text}': the size of a load has a peak and an rms, not '{statistic}'.")
    return made


def _of_drive(system: System, text: str, statistic: str, name: str, sort: str, drives: Sequence[str]) -> LoadStatistic:
    if name not in drives:
        raise UsageError(f"'{name}' is no drive. {nearest(name, drives, 'Drives')} The load of a joint is '{name}.load'.")
    i = list(drives).index(name)
    rotary = is_rotary(system.description, name)

    def unique(x: Loads) -> bool:
        return x.tau_unique[name]

    if sort == "power":
        return LoadStatistic(text, statistic, "W", lambda x: x.u[i : i + 1] * _speed(x, name), unique, True)
    return LoadStatistic(text, statistic, "N m" if rotary else "N", lambda x: x.u[i : i + 1], unique, True)


def _of_joint(system: System, text: str, statistic: str, name: str, sort: str, body: str | None) -> LoadStatistic:
    part = "force" if sort == "load" else "moment"
    d = system.description
    if body is None and name not in {j.name for j in d.joints}:
        pins = {j.pin for j in d.joints if j.pin}
        hint = f"'{name}' is a pin of several joints: write '{statistic} {name}.{sort} on body'. " if name in pins else ""
        raise UsageError(f"there is no joint '{name}'. {hint}{nearest(name, [j.name for j in d.joints], 'Joints')}")

    def wrench(x: Loads) -> Any:
        return x.reaction(name) if body is None else x.on(name, body)

    def unique(x: Loads) -> bool:
        return bool(getattr(wrench(x), f"unique_{part}").all())

    return LoadStatistic(text, statistic, "N" if part == "force" else "N m", lambda x: getattr(wrench(x), part), unique, False)


def _speed(loads: Loads, drive: str) -> Any:
    place = loads.problem.place
    return place.travel_rate(coordinate(place.skel.tree.description, drive))


# ---------------------------------------------------------------- the cycle


class Cycle:
    """One cycle of the drives as samples, and any instant between them."""

    def __init__(self, system: System, drive: str | None, steps: int, speed: Any):
        self.system = system
        c = system.cycle(drive, steps=steps, speed=speed)
        kind = "angular speed" if is_rotary(system.description, c.drive) else "speed"
        self.plan = cycle.plan(system.loops, system.start.instant, drive, None if speed is None else quantity(speed, KINDS[kind]))
        self.lead, self.full_turn, self.near_singular = c.drive, c.full_turn, c.near_singular
        self.notes = tuple(n for n in c.notes if n != PEAKS)
        self.x = np.array([cycle.coordinate_now(system.loops, c.drive, x) for x in c._instants])
        law = self.plan.laws[c.drive]
        begin, slope, _ = law(0.0)
        self.times = (self.x - begin) / slope if self.plan.open_ended else np.array(c.t)
        self.samples = [self._sample(*row) for row in zip(c.q, c.v, c.a, self.times, c.references, strict=True)]

    def _sample(self, q: Any, v: Any, a: Any, t: Any, near: Any) -> Sample:
        rate, t = self.plan.rate, float(t)
        laws = {}
        for name, law in self.plan.laws.items():
            x, dx, ddx = (float(y) for y in law(t))
            laws[name] = Parabola(x, rate * dx, rate * ddx)
        return Sample(self.system, Instant(self.system.skel, q, v, t, near, a), laws)

    def at(self, t: float, near_to: int) -> Sample:
        """The instant t, walked to from a sample."""
        begin = self.samples[near_to].at
        desc = self.system.description
        tied: Loops = self.system.loops.with_([cycle.driven(desc, name, law) for name, law in self.plan.laws.items()])
        x = walk(tied, walker(tied, begin.q, begin.references, begin.t), t).at
        return self._sample(x.q, self.plan.rate * x.v, self.plan.rate * x.a, x.t, x.references)

    @property
    def once(self) -> list[Sample]:
        return self.samples[:-1] if self.full_turn else self.samples


def _height(w: LoadStatistic, at: Sample) -> float:
    """Value that a peak, maximum or minimum compares."""
    value = np.real(w.read(at.loads))
    if w.statistic == "peak":
        return float(np.sqrt(value @ value))
    return float(value[0]) if w.statistic == "max" else -float(value[0])


def _peak(c: Cycle, w: LoadStatistic) -> tuple[Sample, list[str]]:
    """The instant of the peak, refined between the samples, and what should be known about it."""
    heights = np.array([_height(w, s) for s in c.once])
    n, k = len(heights), int(np.argmax(heights))
    notes = []
    if c.near_singular[k]:  # towards a pole there is no peak to be refined
        return c.samples[k], [NEAR_PEAK]
    ring = bool(c.full_turn) and c.plan.open_ended
    left, right = (heights[(k - 1) % n], heights[(k + 1) % n]) if ring else (heights[max(k - 1, 0)], heights[min(k + 1, n - 1)])
    if not ring and k in (0, n - 1):
        notes.append(f"the peak lies at an end of the motion, {c.lead} = {c.x[k]:.6g}: derivatives are taken there")
        return c.samples[k], notes
    if left == right == heights[k]:
        return c.samples[k], notes
    from scipy.optimize import minimize_scalar

    step = c.times[1] - c.times[0]
    span = (c.times[k] - step, c.times[k] + step) if ring else (c.times[k - 1], c.times[k + 1])
    options = {"xatol": 1e-7 * abs(step)}
    found: Any = minimize_scalar(lambda t: -_height(w, c.at(float(t), k)), bounds=sorted(span), method="bounded", options=options)
    at = c.at(float(found.x), k)
    best = at if _height(w, at) >= heights[k] else c.samples[k]
    others = [i for i in range(n) if abs(i - k) > 1 and abs(i - k) < n - 1 and _is_top(heights, i, ring)]
    rivals = [i for i in others if heights[k] > 0.0 and heights[i] > CLOSE_SECOND * heights[k]]
    if rivals:
        notes.append(f"at {c.lead} = {listing(f'{c.x[i]:.4g}' for i in rivals)} it is nearly as high: that peak may overtake this one")
    return best, notes


def _is_top(heights: np.ndarray, i: int, ring: bool) -> bool:
    n = len(heights)
    if not ring and i in (0, n - 1):
        return True
    return bool(heights[i] >= heights[(i - 1) % n] and heights[i] >= heights[(i + 1) % n])


# ---------------------------------------------------------------- the answer


def sensitivity(
    mechanism: Any,
    quantity: str,
    parameters: Sequence[str] | None = None,
    tolerances: Mapping[str, Any] | None = None,
    *,
    steps: int = 72,
    drive: str | None = None,
    speed: Any = None,
) -> Sensitivity:
    """Exact derivatives of a peak, rms or mean over one cycle, sorted, and the scatter from tolerances.

    `parameters` are names or patterns (see `model_parameters`; default every mass, center, inertia and joint point).
    `tolerances` maps names or patterns to half widths, as in `m.tolerances`: `"+- 0.1 mm"`, `"0.1 mm"`, a number in SI, `"2 %"`.
    """
    system: System = mechanism.system
    known = every_parameter(mechanism.description)
    finest = 360  # steps of a turn at least, where a measure of it is asked for
    if load_phrase(quantity) is None and (measured := _measure(quantity)) is not None:
        turn = system.cycle(drive, steps=max(steps, finest), speed=speed)
        return _of_measure(turn, measured, *_chosen(mechanism, known, parameters, tolerances), parameters is not None)
    c = Cycle(system, drive, steps, speed)
    w = wanted(system, quantity, list(c.plan.laws))
    chosen, widths = _chosen(mechanism, known, parameters, tolerances)
    at: float | None = None
    if w.statistic in ("rms", "mean"):
        samples = c.once
        notes = ["samples near a singular position are part of it: it depends on how close they are"] if c.near_singular.any() else []
    else:
        best, notes = _peak(c, w)
        samples = [best]
        at = float(best.laws[c.lead].f)
    for s in samples:
        _check(s, w)
    value, slope = _statistic(w, samples)
    together = slopes_by_kernel(samples, chosen, w.read, speed is not None)
    effects, skipped = [], []
    for k, p in enumerate(chosen):
        try:
            d = slope(_alone(w, samples, p, speed is not None) if together is None else list(together[..., k]))
        except Locks:
            skipped.append(p.name)
            continue
        effects.append(Effect(p.name, p.kind, p.value, d, d * p.size / 100.0, d / 1000.0, widths.get(p.name)))
    if skipped and parameters is not None:
        raise Locks(f"{listing(skipped)} cannot vary alone here: loops or wheels would no longer fit, or the position is singular.")
    if skipped:
        notes.append(f"left out, loops or wheels would no longer fit or the position is singular: {listing(skipped)}")
    effects.sort(key=lambda e: -abs(e.per_percent))
    return Sensitivity(quantity.strip(), value, w.unit, c.lead, at, tuple(effects), (*c.notes, *notes))


def _chosen(
    mechanism: Any, known: dict[str, Parameter], parameters: Sequence[str] | None, tolerances: Mapping[str, Any] | None
) -> tuple[list[Parameter], dict[str, float]]:
    """Parameters to differentiate by, and their tolerances."""
    chosen, widths = choose(known, parameters, mechanism.description), _tolerances(tolerances or {}, known, mechanism.description)
    asked = {p.name for p in chosen}
    return [*chosen, *(known[name] for name in widths if name not in asked and parameters is None)], widths


def _measure(text: str) -> Measure | None:
    """A measure of a motion; None where the text is none, and a statistic of loads is explained instead."""
    try:
        return measure(text)
    except UsageError:
        if str(text).split(" ")[0] in BEGINNINGS and str(text).split(" ")[0] not in LOAD_STATISTICS:
            raise
        return None


def _of_measure(c: Trajectory, m: Measure, chosen: Sequence[Parameter], widths: Mapping[str, float], named: bool) -> Sensitivity:
    """Derivatives of a measure of a turn; parameters that cannot vary alone are left out unless they are named."""
    check([m], c)
    value, slopes, skipped = m.read_from(c), dict[str, float](), list[str]()
    try:
        found = m.slopes(c, c.derivatives([p.name for p in chosen]))
        slopes = {p.name: float(x) for p, x in zip(chosen, found, strict=True)}
    except UsageError:
        if named:
            raise
        for p in chosen:
            try:
                slopes[p.name] = float(m.slopes(c, c.derivatives([p.name]))[0])
            except UsageError:
                skipped.append(p.name)
    lost = [name for name, d in slopes.items() if not np.isfinite(d)]
    sound = [(p, slopes[p.name]) for p in chosen if p.name in slopes and p.name not in lost]
    effects = [Effect(p.name, p.kind, p.value, d, d * p.size / 100.0, d / 1000.0, widths.get(p.name)) for p, d in sound]
    effects.sort(key=lambda e: -abs(e.per_percent))
    notes = [f"left out, they cannot vary alone: {listing(skipped)}"] if skipped else []
    if lost:
        why = next(iter(c.derivatives(lost).undefined(m.channel).values()), "it is not finite")
        notes.append(f"left out, {m.text} has no derivative by them: {listing(lost)} ({why})")
    return Sensitivity(m.text, value, unit_of_measure(m, c)[0], c.drive, None, tuple(effects), (*c.notes, *notes))


def _check(at: Sample, w: LoadStatistic) -> None:
    if not w.unique(at.loads):
        raise UsageError(f"'{w.text}' is not unique: it depends on how redundant constraints or drives share the load.")


def _alone(w: LoadStatistic, samples: Sequence[Sample], p: Parameter, speed_given: bool) -> list[np.ndarray]:
    """Derivatives of the quantity at the samples by one parameter, by an imaginary step in it."""
    x = Disturbed(samples[0].system, p, speed_given)
    return [np.imag(w.read(x.loads(s))) / COMPLEX_STEP for s in samples]


def _statistic(w: LoadStatistic, samples: Sequence[Sample]) -> tuple[float, Callable[[Sequence[np.ndarray]], float]]:
    """The value, and the function that gives its derivative from those at the samples."""
    values = [np.real(w.read(s.loads)) for s in samples]
    if w.statistic == "mean":
        return float(np.mean(values)), lambda slopes: float(np.mean(slopes))
    if w.statistic in ("max", "min"):
        return float(values[0][0]), lambda slopes: float(slopes[0][0])
    size = float(np.sqrt(np.mean([v @ v for v in values])))  # of one sample: the peak
    if size == 0.0:
        raise UsageError(f"'{w.text}' is zero over the whole cycle; a size has no derivative there.")
    return size, lambda slopes: float(np.mean([v @ d for v, d in zip(values, slopes, strict=True)]) / size)


def _tolerances(given: Mapping[str, Any], known: Mapping[str, Parameter], described: Description) -> dict[str, float]:
    """Half widths by parameter; a name goes before a pattern. Of a drawn pin they are those of the holes there."""
    out: dict[str, float] = {}
    for key in sorted(given, key=lambda k: k in known):
        hits = matched(known, key)
        if not hits:
            raise UsageError(f"there is no parameter '{key}' to have a tolerance. {nearest(key, known, 'Known')}")
        for p in (hole for hit in hits for hole in holes(known, described, hit)):
            out[p.name] = _width(given[key], p, described)
    return out


def _width(given: Any, p: Parameter, described: Description) -> float:
    """Half width of a tolerance in SI, as `m.tolerances` reads it."""
    place = place_of(described, p, f"the tolerance of '{p.name}'")
    meant = half_width(meaning(given, place.name), place.name)
    low, high = place.ends(meant) if isinstance(meant, Range) else (p.value, p.value)
    if not low <= p.value <= high:
        raise UsageError(f"{place.name} is {meant}, and its present value, {p.value:g} in SI, lies outside.")
    return place.width(meant)
