"""Excitation: motions of the drives that determine the base parameters best, within limits and with closed loops.

Every drive follows a Fourier series that begins and ends at rest at the start,

    x(t) = x0 + sum_k  A_k / (k w) sin(k w t) + B_k / (k w) (cos(k w t) - 1),    sum A_k = 0,  sum k B_k = 0

A search over the coefficients lowers the condition number of the base regressor. Amplitudes are scaled into the limits of position and
speed, which are linear in them, and halved until the loops close and the model's torques are within theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.api import (
    KINDS,
    System,
    Trajectory,
    UsageError,
    closing,
    compiled_of,
    counted,
    is_rotary,
    mechanism_of,
    nearest,
    quantity,
    records,
    whole_number,
)
from linkwright.rings.robots.identification.base_parameters import base_parameters
from linkwright.rings.robots.identification.regressor import Sought, TwistHistory
from linkwright.rings.robots.identification.result import condition_number

SAMPLES, A_WAVE = 120, 30  # of the search, in a period and in one of its highest harmonic
MARGIN = 0.99  # of limits: between samples a wave is higher by 0.5 %
STRIDES, HALVINGS = 12, 6
CONTRACTING = 0.5  # share of the step before that a Newton step may have: more, and the branch may be left
WAY_STEP, LAST_STEP = 0.05, 1e-6  # of Newton's method, rad or m, on the way and at its end: what is left is of the size of the square
KEYS = ("position", "speed", "torque", "force")
HOPELESS = 1e6


@dataclass(frozen=True)
class FourierMotion:
    """Periodic motion of the drives from rest."""

    start: np.ndarray  # (drives,)
    A: np.ndarray  # (drives, harmonics)
    B: np.ndarray
    frequency: float  # rad/s, of the first harmonic

    def __call__(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, speeds and accelerations, (times, drives)."""
        k = np.arange(1, self.A.shape[1] + 1) * self.frequency
        phase = np.multiply.outer(np.asarray(t, dtype=float), k)
        s, c = np.sin(phase), np.cos(phase)
        x = self.start + s @ (self.A / k).T + (c - 1.0) @ (self.B / k).T
        return x, c @ self.A.T - s @ self.B.T, -s @ (self.A * k).T - c @ (self.B * k).T

    def scaled(self, factor: float) -> FourierMotion:
        return FourierMotion(self.start, factor * self.A, factor * self.B, self.frequency)


@dataclass(frozen=True)
class Excitation:
    """Result of `lw.excitation`: `motion` is for `m.follow`. `condition` is the condition number of the base regressor."""

    drives: tuple[str, ...]
    series: FourierMotion
    duration: float
    condition: float
    first: float  # condition number of the best random motion, before the search
    groups: tuple[str, ...]
    system: System = field(repr=False, compare=False)

    @property
    def motion(self) -> dict[str, Callable[[float], tuple[float, float, float]]]:
        """Functions of time by drive, with their derivatives."""

        def of(k: int) -> Callable[[float], tuple[float, float, float]]:
            def at(t: float) -> tuple[float, float, float]:
                x, v, a = self.series(t)
                return float(x[k]), float(v[k]), float(a[k])

            return at

        return {name: of(k) for k, name in enumerate(self.drives)}

    def trajectory(self, steps: int = 400) -> Trajectory:
        """Return states and loads along the motion: `.save("excitation.csv")` writes it for a controller."""
        return mechanism_of(self.system).follow(self.motion, np.linspace(0.0, self.duration, steps + 1))

    def __repr__(self) -> str:
        what = f"condition {self.condition:.4g} for {counted(len(self.groups), 'base parameter')}"
        return f"<Excitation of {', '.join(self.drives)}: {self.duration:g} s, {what}>"


@dataclass(frozen=True)
class DriveLimits:
    """Limits of each drive, (drives,): lowest and highest position, speed, effort; infinite where there is none."""

    low: np.ndarray
    high: np.ndarray
    speed: np.ndarray
    effort: np.ndarray


def drive_limits(system: System, limits: Mapping[str, Any] | None) -> DriveLimits:
    """Read limits by drive: {"A": {"position": ("-30 deg", "60 deg"), "speed": "2 rad/s", "torque": "5 N m"}}."""
    drives, d = list(compiled_of(system).drive_names), system.description
    out = DriveLimits(*(np.full(len(drives), x) for x in (-np.inf, np.inf, np.inf, np.inf)))
    for name, given in (limits or {}).items():
        if name not in drives:
            raise UsageError(f"limits: there is no drive '{name}'.", nearest(str(name), drives, "Drives"))
        if not isinstance(given, Mapping):
            raise UsageError(f"limits of '{name}' are a dict, {{'position': ('-30 deg', '60 deg'), 'speed': '2 rad/s'}}.", name=name)
        k, turns = drives.index(name), is_rotary(d, name)
        for key, value in given.items():
            what = f"limits of '{name}', {key}"
            if key not in KEYS:
                raise UsageError(f"{what}: there is no such limit.", nearest(str(key), KEYS, "Limits"))
            if key == "position":
                if not isinstance(value, (list, tuple)) or len(value) != 2:
                    raise UsageError(f"{what}: give the lowest and the highest position as a pair.", name=what)
                out.low[k], out.high[k] = (quantity(x, KINDS["angle" if turns else "length"], what) for x in value)
                if not out.low[k] < out.high[k]:
                    raise UsageError(f"{what}: the lowest position must be below the highest, not {value!r}.", name=what, value=value)
                continue
            kind = ("angular speed" if turns else "speed") if key == "speed" else ("torque" if turns else "force")
            (out.speed if key == "speed" else out.effort)[k] = size = quantity(value, KINDS[kind], what)
            if not size > 0.0:
                raise UsageError(f"{what}: it must be positive.", name=what)
    return out


@dataclass(frozen=True)
class _Search:
    """A search for coefficients, and the judge of its candidates."""

    system: System
    sought: Sought
    limits: DriveLimits
    t: np.ndarray
    harmonics: int
    frequency: float
    chosen: tuple[int, ...] = ()

    def motion(self, z: np.ndarray) -> FourierMotion | None:
        """The series of these numbers, as large as limits of position and speed allow; None where there is no room."""
        D = len(compiled_of(self.system).drive_names)
        A, B = z.reshape(2, D, self.harmonics)
        k = np.arange(1, self.harmonics + 1)
        A, B = A - A.mean(axis=1, keepdims=True), B - np.outer(B @ k, k) / (k @ k)
        start = np.asarray(compiled_of(self.system).drive_positions(self.system.start), dtype=float)
        raw = FourierMotion(start, A, B, self.frequency)
        x, v, _ = raw(self.t)
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (x - start).max(axis=0), (start - x).max(axis=0)
            rooms = (self.limits.high - start) / up, (start - self.limits.low) / down, self.limits.speed / np.abs(v).max(axis=0)
        size = MARGIN * float(np.nanmin(np.concatenate(rooms)))
        if not size > 0.0:
            return None
        return raw.scaled(size if np.isfinite(size) else 1.0 / max(float(np.abs(x - start).max()), 1e-12))

    def states(self, series: FourierMotion) -> tuple[Any, ...] | None:
        """States on the loops at all times, by continuation from the start in the amplitude; None where they cannot be reached."""
        kernel, st = self.system.kernel("kinematics"), self.system.start
        x, v, a = series(self.t)
        q, still = np.tile(st.q, (len(x), 1)), np.zeros((len(x), len(st.v)))
        near = np.tile(records.cut_rows(compiled_of(self.system).skel, [st.references]), (len(x), 1))
        more = {"near": near} if any(b.name == "near" for b in kernel.inputs) else {}
        held, closed = np.zeros_like(x), np.ones(len(x), dtype=bool)
        on_the_way, at_end = (closing.EachRule(most=4, last=last, share=CONTRACTING) for last in (WAY_STEP, LAST_STEP))
        for s in np.linspace(0.0, 1.0, STRIDES + 1)[1:]:
            drive = series.start + s * (x - series.start)

            def steps(there: np.ndarray, at: np.ndarray, drive: np.ndarray = drive) -> np.ndarray:
                here = {name: rows[at] for name, rows in more.items()}
                out = kernel(there, still[at], drive[at], held[at], held[at], **here)
                return np.full_like(there, np.nan) if out.failed else out.q - there

            q, closed = closing.onto_each(steps, np.add, q, at_end if s == 1.0 else on_the_way)
            if not closed.all():
                return None
        moving = kernel(q, still, x, v, a, **more)
        final = kernel(q, moving.v, x, v, a, **more)
        return None if moving.failed or final.failed else (q, final.v, final.a, v, a, near)

    def regressor(self, z: np.ndarray) -> tuple[FourierMotion, np.ndarray, tuple[str, ...]] | None:
        """The motion of these numbers within all limits, its regressor and the names of its columns; None where there is none."""
        series = self.motion(z)
        for _ in range(HALVINGS):
            if series is None:
                return None
            found = self.states(series)
            if found is not None and self._strong(found):
                q, v, _, speed, acceleration, near = found
                motion = TwistHistory.of(self.system, self.t, q, v, speed, acceleration, near)
                columns, W = motion.columns(self.sought, {})
                return series, W, tuple(c.name for c in columns)
            series = series.scaled(0.5)
        return None

    def _strong(self, found: tuple[Any, ...]) -> bool:
        if not np.isfinite(self.limits.effort).any():
            return True
        q, v, a, *_, near = found
        kernel = self.system.kernel("inverse")
        out = kernel(q, v, a, **({"near": near} if any(b.name == "near" for b in kernel.inputs) else {}))
        return not out.failed and bool((np.abs(out.u) <= MARGIN * self.limits.effort).all())

    def cost(self, z: np.ndarray) -> float:
        found = self.regressor(z)
        if found is None:
            return float(np.log(HOPELESS) + np.linalg.norm(z))
        value = condition_number(found[1][:, :, list(self.chosen)])
        return float(np.log(min(value, HOPELESS)))


def excitation(
    system: System,
    sought: Sought,
    *,
    duration: Any,
    harmonics: int,
    limits: Mapping[str, Any] | None,
    tries: int,
    evaluations: int,
    seed: int,
) -> Excitation:
    """See `lw.excitation`."""
    core = compiled_of(system)
    from scipy.optimize import minimize

    core.need_motion("that could excite it")
    seconds = quantity(duration, KINDS["time"], "duration")
    if not seconds > 0.0:
        raise UsageError(f"duration must be positive, not {duration}.", name="duration", value=duration)
    whole_number(harmonics, "harmonics", 2, 20)
    if any("load" in kinds for kinds in sought.friction.values()):
        raise UsageError("friction by load depends on the loads of a known motion: leave 'load' out here, the motion serves it as well.")
    t = np.linspace(0.0, seconds, max(SAMPLES, A_WAVE * harmonics), endpoint=False)
    search = _Search(system, sought, drive_limits(system, limits), t, harmonics, 2.0 * np.pi / seconds)
    rng, size = np.random.default_rng(seed), 2 * len(core.drive_names) * harmonics
    draws = [rng.standard_normal(size) for _ in range(max(tries, 1))]
    reached = [x for x in (search.regressor(z) for z in draws[:8]) if x is not None]
    if not reached:
        raise UsageError(
            "no motion from the start is within the limits: check that the start position is inside the limits of position, that the "
            "torque limits can hold the mechanism there, and that it is not in a singular position."
        )
    base = base_parameters(np.concatenate([W.reshape(-1, W.shape[2]) for _, W, _ in reached]), reached[0][2])
    search = replace(search, chosen=base.chosen)
    best = min(draws, key=search.cost)
    first = search.cost(best)
    options = {"adaptive": True, "maxfev": max(evaluations, 1), "xatol": 1e-3, "fatol": 1e-3}
    found = minimize(search.cost, best, method="Nelder-Mead", options=options)
    z = found.x if found.fun <= first else best
    series = search.regressor(z)
    assert series is not None  # the best of candidates that were computed before
    names = tuple(core.drive_names)
    return Excitation(names, series[0], seconds, float(np.exp(min(found.fun, first))), float(np.exp(first)), base.groups, system)
