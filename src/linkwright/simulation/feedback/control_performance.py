"""Numbers of a controlled run: norms of its efforts, errors of what it followed and of the forces it held, time at limits.

    RMS     ||u|| = sqrt(1/T int u'u dt)            [Aghili2005 VIII]
    peak    ||u|| = sup_t max_i |u_i|               [Aghili2005 IX]

Where torques and forces are mixed, forces count times the characteristic length of the mechanism  [Aghili2005 (48)], so that
the norms do not depend on the units of a model's file. Integrals over time come from `simulation.feedback.time_integrals`,
and a peak is the largest sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from linkwright.errors import LinkwrightError, UsageError, listing, nearest
from linkwright.model.file import quantity
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.feedback.time_integrals import SMOOTH, held_integral, integral
from linkwright.text.units import TIME

BAND = 0.02  # of the way, or of the largest force: what counts as settled
STAYS = 0.1  # of the farthest way of all: the least size of a coordinate, for one that is to stay where it is
HELD = 1e-9  # rad, or of the mechanism's length: no way at all
AT_LIMIT = 1.0 - 1e-9  # share of a limit from which a drive counts as saturated
OFTEN = 0.01  # share of the time at a limit from which a run notes it
EFFORTS = ("torque", "force")


# -------------------------------------------------------------------- what is known about the controller


@dataclass(frozen=True)
class Facts:
    """Facts about the controller of a run besides the channels."""

    kind: str = ""
    drives: tuple[str, ...] = ()
    every: float = 0.0  # time between samples, 0 where it is followed at all times
    origin: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)  # of efforts, by drive
    motors: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)  # supply voltage and largest current
    lower: Mapping[str, float] = field(default_factory=dict)  # least efforts, where they are not the negatives of the limits

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, as a run's settings keep them."""
        own = {"kind": self.kind, "drives": list(self.drives), "every": self.every, "origin": self.origin}
        more = {"lower": dict(self.lower)} if self.lower else {}
        return {**own, "limits": dict(self.limits), "motors": {k: dict(v) for k, v in self.motors.items()}, **more}


def facts_of(loop: Any) -> Facts:
    """Of a controller in a run (`simulation.feedback.control_loop`)."""
    acting = {a.target.name: a for a in loop.actuators}
    motors = {
        n: {"supply_voltage": a.motor.supply_voltage, "max_current": a.motor.max_current} for n, a in acting.items() if a.motor is not None
    }
    ends = {n: a.limit for n, a in acting.items() if a.limit is not None}
    limits = {n: float(high) for n, (_, high) in ends.items() if np.isfinite(high)}
    lower = {n: float(low) for n, (low, high) in ends.items() if np.isfinite(low) and low != -high}
    return Facts(loop.bound.written.kind, tuple(acting), float(loop.every), float(loop.origin), limits, motors, lower)


def facts(run: Trajectory) -> Facts:
    """Return the facts in the run's settings about its controller; of a run without one, its drives alone."""
    records = run.settings.get("control")
    if isinstance(records, Mapping):
        given: dict[str, Any] = {**records, "drives": tuple(records["drives"])}
        return Facts(**given)
    return Facts(drives=tuple(_effort_names(run)))


def _effort_names(run: Trajectory) -> dict[str, str]:
    """Channels of efforts by drive: `A.torque` of A, `C.slide.force` of C.slide."""
    ends = {n: n.rpartition(".") for n, x in run.columns.items() if x.dimension in EFFORTS and n.endswith("." + x.dimension)}
    return {head: n for n, (head, _, _) in ends.items() if not head.startswith(("motor.", "control.")) and f"{head}.power" in run.columns}


class EffortHold(NamedTuple):
    """Efforts that stay as they are for `every`, counted from `origin`."""

    every: float
    origin: float


@dataclass(frozen=True)
class Window:
    """The part of a run that is looked at."""

    t: np.ndarray = field(repr=False)
    a: float
    b: float

    @classmethod
    def of(cls, run: Trajectory, between: Any) -> Window:
        low, high = float(run.t[0]), float(run.t[-1])
        if between is None:
            a, b = low, high
        else:
            if isinstance(between, str) or not isinstance(between, Sequence) or len(between) != 2:
                raise UsageError(f"between is two times, (1, 5) or ('1 s', '5 s'), not {between!r:.60}.", name="between", value=between)
            a, b = (quantity(x, TIME, "between") for x in between)
        slack = 1e-9 * max(abs(low), abs(high))
        if not (low - slack <= a < b <= high + slack):
            raise UsageError(f"between = {a:.6g} .. {b:.6g} s does not lie in the run, {low:.6g} .. {high:.6g} s.", name="between")
        return cls(run.t, max(a, low), min(b, high))

    @property
    def span(self) -> float:
        return self.b - self.a

    @property
    def times(self) -> np.ndarray:
        """Those inside, and both ends."""
        return np.array([self.a, *self.t[(self.t > self.a) & (self.t < self.b)], self.b])

    def cut(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(times, values) inside, both ends included."""
        ends = np.interp([self.a, self.b], self.t, y)
        return self.times, np.array([ends[0], *y[(self.t > self.a) & (self.t < self.b)], ends[1]])

    def mean(self, y: np.ndarray, held: EffortHold | None = None) -> float:
        """Of what is smooth between samples, or held."""
        if held is None:
            return integral(self.t, y, self.a, self.b) / self.span
        exact = held_integral(self.t, y, held.every, held.origin, self.a, self.b)
        return (integral(self.t, y, self.a, self.b, 2) if exact is None else exact) / self.span

    def rms(self, y: np.ndarray) -> float:
        return float(np.sqrt(max(self.mean(y * y), 0.0)))

    def share(self, on: np.ndarray) -> float:
        """Of the time: an interval with one end on counts half."""
        return integral(self.t, np.asarray(on, dtype=float), self.a, self.b, 2) / self.span


# -------------------------------------------------------------------- efforts


@dataclass(frozen=True)
class DriveEffort:
    """One drive, SI: `limit` of its effort, or `supply_voltage` and `max_current` of its motor, where it has them; `saturated` is
    the share of time at one of these."""

    drive: str
    kind: str  # "torque" or "force"
    rms: float
    peak: float
    at: float  # time of the peak
    limit: float | None = None
    saturated: float = 0.0
    supply_voltage: float | None = None
    max_current: float | None = None

    @property
    def limited(self) -> bool:
        return any(x is not None for x in (self.limit, self.supply_voltage, self.max_current))


@dataclass(frozen=True)
class EffortNorms:
    """Norms of the vector of efforts. `rms` and `peak` are plain numbers in N m or N where all drives are of one kind; where
    they are mixed (`kind` is "mixed"), forces count times `length` and all is in N m, as always in `metric_rms` and
    `metric_peak`. `plain_rms` and `plain_peak` take N m and N as they are. `saturated` is the share of time in which any of the
    drives was at a limit. `doubt`: by how much of itself the RMS changes
    if every second sample is left out; 0 where held efforts are summed exactly."""

    kind: str
    rms: float
    peak: float
    by_drive: Mapping[str, DriveEffort]
    length: float
    metric_rms: float
    metric_peak: float
    plain_rms: float
    plain_peak: float
    saturated: float = 0.0
    doubt: float = 0.0

    @property
    def dimension(self) -> str:
        """Of `rms` and `peak`."""
        return "force" if self.kind == "force" else "torque"


def effort_norms(run: Trajectory, drives: Sequence[str] | str | None = None, between: Any = None) -> EffortNorms:
    """RMS and peak of the efforts of a run: those of its controller's drives, or of all where it has none, or of `drives`."""
    known, window = facts(run), Window.of(run, between)
    channels = _effort_names(run)
    named = [drives] if isinstance(drives, str) else list(known.drives if drives is None else drives)
    for name in named:
        if name not in channels:
            raise UsageError(f"no effort of '{name}' was recorded in this run.", nearest(str(name), channels, "Drives"))
    if not named:
        raise UsageError("nothing drove this run: it has no efforts to take norms of.")
    kinds = [run.dimension(channels[n]) for n in named]
    u = np.array([run[channels[n]] for n in named])
    length = float(run.frame.kappa)
    w = u * np.where(np.array(kinds) == "force", length, 1.0)[:, None]
    # a held voltage is no held effort
    held = EffortHold(known.every, known.origin) if known.every and not set(named) & set(known.motors) else None
    at_limit = np.array([_at_limit(run, known, n, x) for n, x in zip(named, u, strict=True)])
    rows = [_drive(window, known, name, kind, x, held, on) for name, kind, x, on in zip(named, kinds, u, at_limit, strict=True)]
    metric, plain = (_norms(window, x, held) for x in (w, u))
    kind = kinds[0] if len(set(kinds)) == 1 else "mixed"
    rms, peak = metric if kind == "mixed" else plain
    return EffortNorms(
        kind,
        rms,
        peak,
        {r.drive: r for r in rows},
        length,
        *metric,
        *plain,
        window.share(np.max(at_limit, axis=0)),
        _doubt(window, w, held),
    )


def _norms(window: Window, u: np.ndarray, held: EffortHold | None) -> tuple[float, float]:
    square = np.sum(u * u, axis=0)
    rms = float(np.sqrt(max(window.mean(square, held), 0.0)))
    return rms, max(float(np.abs(window.cut(x)[1]).max()) for x in u)


def _drive(window: Window, known: Facts, name: str, kind: str, u: np.ndarray, held: EffortHold | None, on: np.ndarray) -> DriveEffort:
    t, y = window.cut(u)
    rms, peak = _norms(window, u[None], held)
    at, plate = float(t[np.argmax(np.abs(y))]), known.motors.get(name, {})
    return DriveEffort(
        name, kind, rms, peak, at, known.limits.get(name), window.share(on), plate.get("supply_voltage"), plate.get("max_current")
    )


def _at_limit(run: Trajectory, known: Facts, name: str, effort: np.ndarray) -> np.ndarray:
    """Mask of the samples at which the drive is at its limit."""
    on = np.zeros(len(run), dtype=bool)
    high = known.limits.get(name)
    low = known.lower.get(name, None if high is None else -high)
    for end, side in ((high, 1.0), (low, -1.0)):
        if end is not None:
            on |= side * effort >= side * end - (1.0 - AT_LIMIT) * abs(end)
    plate = known.motors.get(name, {})
    for what, key in (("voltage", "supply_voltage"), ("current", "max_current")):
        most, channel = plate.get(key), f"motor.{name}.{what}"
        if most is not None and channel in run.columns:
            on |= np.abs(run[channel]) >= AT_LIMIT * most
    return on


def saturation_notes(run: Trajectory) -> list[str]:
    """Return a note on drives that were at their limits for more than a hundredth of the time; no note if there are no such drives."""
    known, channels = facts(run), _effort_names(run)
    window = Window.of(run, None) if len(run) > 1 and run.t[-1] > run.t[0] else None
    shares = {n: window.share(_at_limit(run, known, n, run[channels[n]])) for n in known.drives if window and n in channels}
    often = sorted((n for n, x in shares.items() if x > OFTEN), key=lambda n: -shares[n])
    if not often:
        return []
    said = listing([f"'{n}' {100.0 * shares[n]:.3g} %" for n in often], 6)
    return [f"drives at their limits, by share of the time: {said}. The reference may not be followed there (run.control() has the errors)"]


def _doubt(window: Window, u: np.ndarray, held: EffortHold | None) -> float:
    y = np.sum(u * u, axis=0)
    if held is not None and held_integral(window.t, y, held.every, held.origin, window.a, window.b) is not None:
        return 0.0
    nodes = SMOOTH if held is None else 2
    keep = np.unique([*range(0, len(y), 2), len(y) - 1])
    full, coarse = (integral(window.t[k], y[k], window.a, window.b, nodes) for k in (slice(None), keep))
    return 0.5 * abs(coarse - full) / full if full > 0.0 else 0.0


# -------------------------------------------------------------------- errors


@dataclass(frozen=True)
class Deviation:
    """How far a coordinate or a force was from what was wanted, SI. `at` is the time of the largest error; `settled` the time
    since the beginning from which on the error stays within 2 % of `size`, None where it never does. The size of a coordinate is
    the farthest that was asked for from its start (at least a tenth of what was asked for of any other, for those that are
    to stay), that of a force the largest that was wanted or occurred."""

    name: str
    kind: str
    rms: float
    largest: float
    at: float
    final: float
    settled: float | None
    size: float


def errors(run: Trajectory) -> dict[str, np.ndarray]:
    """Errors (reference less value) of the coordinates followed, by name, SI."""
    return {name: run[f"control.{name}.error"] for name in _names_with(run, "reference")}


def force_errors(run: Trajectory) -> dict[str, np.ndarray]:
    """Errors of the forces held: wanted less what really acted. What a controller sensed may be old, noisy, or what it believed."""
    return {name: run[f"control.{name}.wanted"] - force_of(run, name) for name in _names_with(run, "wanted")}


def force_of(run: Trajectory, name: str) -> np.ndarray:
    """A force that was held, as it acted; as it was sensed where the run has no record."""
    try:
        found = run[name if ".on." in name else f"lam.{name}"]
    except LinkwrightError:  # a result without masses or multipliers behind it
        return run[f"control.{name}.sensed"]
    return found if np.isfinite(found).all() else run[f"control.{name}.sensed"]


def _names_with(run: Trajectory, word: str) -> list[str]:
    head, tail = "control.", f".{word}"
    return [n[len(head) : -len(tail)] for n in run.columns if n.startswith(head) and n.endswith(tail)]


def tracking(run: Trajectory, between: Any = None) -> dict[str, Deviation]:
    """Errors of the coordinates a controller followed, by name."""
    window, found = Window.of(run, between), errors(run)
    kinds = {n: run.dimension(f"control.{n}.error") for n in found}
    units = {n: float(run.frame.kappa) if kinds[n] == "length" else 1.0 for n in found}  # lengths and angles side by side
    ways = {n: float(np.abs(run[f"control.{n}.reference"] - run[f"control.{n}.value"][0]).max()) / units[n] for n in found}
    farthest = max(ways.values(), default=0.0)
    if farthest < HELD:  # nothing was to move: what disturbed it
        farthest = max(float(np.abs(e).max()) / units[n] for n, e in found.items()) if found else 0.0
    sizes = {n: max(ways[n], STAYS * farthest, HELD) * units[n] for n in found}
    return {n: _deviation(window, n, kinds[n], e, sizes[n]) for n, e in found.items()}


def forces(run: Trajectory, between: Any = None) -> dict[str, Deviation]:
    """Errors of the forces a controller held, by name."""
    window, out = Window.of(run, between), {}
    least = 1e-9 * effort_norms(run).metric_peak
    for name, e in force_errors(run).items():
        kind = run.dimension(f"control.{name}.error")
        wanted = run[f"control.{name}.wanted"]
        floor = least / float(run.frame.kappa) if kind == "force" else least  # below that a force is round-off
        out[name] = _deviation(window, name, kind, e, max(float(np.abs([wanted, wanted - e]).max()), floor))
    return out


def _deviation(window: Window, name: str, kind: str, e: np.ndarray, size: float) -> Deviation:
    t, y = window.cut(e)
    k = int(np.argmax(np.abs(y)))
    return Deviation(name, kind, window.rms(e), float(abs(y[k])), float(t[k]), float(y[-1]), settling(t, y, BAND * size), size)


def together(
    run: Trajectory, by_name: Mapping[str, np.ndarray], found: Mapping[str, Deviation], between: Any = None
) -> dict[str, Deviation]:
    """Deviations of all coordinates or forces of one kind as a vector, by kind: RMS, largest and final are those of its Euclidean
    norm, size that of the sizes; it has settled when all have. `by_name`: errors(run) or force_errors(run), `found`: their deviations."""
    window, out = Window.of(run, between), {}
    for kind in dict.fromkeys(d.kind for d in found.values()):
        mine = [d for d in found.values() if d.kind == kind]
        y = np.linalg.norm([window.cut(by_name[d.name])[1] for d in mine], axis=0)
        k = int(np.argmax(y))
        rms, size = (float(np.linalg.norm([getattr(d, x) for d in mine])) for x in ("rms", "size"))
        times = [d.settled for d in mine]
        settled = None if None in times else max(x for x in times if x is not None)
        out[kind] = Deviation("all", kind, rms, float(y[k]), float(window.times[k]), float(y[-1]), settled, size)
    return out


def settling(t: np.ndarray, e: np.ndarray, band: float) -> float | None:
    """Time from the first sample after which |e| stays within a band; between samples on a straight line."""
    out = np.flatnonzero(np.abs(e) > band)
    if not len(out):
        return 0.0
    k = int(out[-1])
    if k == len(e) - 1:
        return None
    before, after = abs(float(e[k])), abs(float(e[k + 1]))
    return float(t[k] + (t[k + 1] - t[k]) * (before - band) / (before - after) - t[0])
