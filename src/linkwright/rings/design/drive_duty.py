"""Duty of a drive over a cycle: its motion and effort, their extremes, power and work."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from linkwright.api import Result, Table, Trajectory, UsageError, curve_extremes, is_rotary, marked, nearest, unit_of
from linkwright.rings.design.cycle_averages import extremes, integral, time_mean


@dataclass(frozen=True)
class DriveHistory:
    """A drive over the samples: position x, speed v, acceleration a (rad or m) and effort (N m or N)."""

    name: str
    rotary: bool
    t: np.ndarray = field(repr=False)
    x: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    a: np.ndarray = field(repr=False)
    effort: np.ndarray = field(repr=False)
    unique: bool = True

    @property
    def power(self) -> np.ndarray:
        return self.effort * self.v


@dataclass(frozen=True)
class Effort:
    """A drive's cycle in figures, SI; `at_*` are places of the cycle (see `Axis`). `work` is net, `braked` what comes back."""

    drive: str
    kind: str  # "torque" or "force"
    min: float
    max: float
    at_min: float
    at_max: float
    mean: float
    rms: float
    speed_max: float
    speed_rms: float
    power_min: float
    power_max: float
    power_mean: float
    work: float
    braked: float
    unique: bool
    near_min: bool = False  # taken near a singular position: depends on how close the nearest sample is to it
    near_max: bool = False
    near_power_min: bool = False
    near_power_max: bool = False

    @property
    def near_peak(self) -> bool:
        return self.near_max if abs(self.max) >= abs(self.min) else self.near_min

    @property
    def peak(self) -> float:
        """The effort of largest amount, with its sign: what sizes the drive."""
        return self.max if abs(self.max) >= abs(self.min) else self.min

    @property
    def at_peak(self) -> float:
        return self.at_max if abs(self.max) >= abs(self.min) else self.at_min

    @property
    def power_peak(self) -> float:
        """The power of largest amount: negative where braking takes more than driving."""
        return self.power_max if abs(self.power_max) >= abs(self.power_min) else self.power_min

    @property
    def near_power_peak(self) -> bool:
        return self.near_power_max if abs(self.power_max) >= abs(self.power_min) else self.near_power_min

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Efforts(Result):
    """The efforts of all drives over a cycle; prints as a table in the file's units."""

    rows: tuple[Effort, ...]
    over: str
    dimension: str
    units: tuple[str, ...]

    def __getitem__(self, drive: str) -> Effort:
        for row in self.rows:
            if row.drive == drive:
                return row
        raise UsageError(f"there is no drive '{drive}'.", nearest(drive, [r.drive for r in self.rows], "Drives"))

    def as_dict(self) -> dict[str, Any]:
        return {"over": self.over, "drives": [r.as_dict() for r in self.rows]}

    def __str__(self) -> str:
        parts = [self._table(kind).text() for kind in ("torque", "force") if any(r.kind == kind for r in self.rows)]
        return "\n".join(parts) or "no drives"

    def table(self) -> Table:
        """Return the efforts in the file's units, a row for each drive; torques and forces are in columns of their own."""
        found = [self._table(kind) for kind in ("torque", "force") if any(r.kind == kind for r in self.rows)]
        return Table.stacked(found, "drives") if found else Table.of(["drive"], [], "drives")

    def _table(self, kind: str) -> Table:
        effort, x, power = (unit_of(self.units, y) for y in (kind, self.dimension, "power"))
        heads = [
            ("drive", ""), (f"min {kind}", effort[0]), (f"{self.over} at min", x[0]), (f"max {kind}", effort[0]),
            (f"{self.over} at max", x[0]), ("mean", effort[0]), ("RMS", effort[0]),
            ("min power", power[0]), ("max power", power[0]), ("mean power", power[0]),
        ]  # fmt: skip
        moving = any(r.speed_max for r in self.rows)  # in a static analysis every power is zero
        rows = [
            (
                r.drive, marked(r.min / effort[1], r.near_min), r.at_min / x[1], marked(r.max / effort[1], r.near_max), r.at_max / x[1],
                marked(_clean(r.mean, r.rms) / effort[1], r.near_peak), marked(r.rms / effort[1], r.near_peak),
                marked(r.power_min / power[1], r.near_power_min), marked(r.power_max / power[1], r.near_power_max),
                marked(_clean(r.power_mean, abs(r.power_peak)) / power[1], r.near_power_peak),
            )
            for r in self.rows if r.kind == kind
        ]  # fmt: skip
        return Table.of(heads, rows, "drives") if moving else Table.of(heads[:-3], [row[:-3] for row in rows], "drives")


def _clean(x: float, scale: float) -> float:
    """Zero for what is round-off of the scale (the mean torque of a conservative cycle)."""
    return 0.0 if abs(x) < 1e-9 * scale else x


def efforts(c: Trajectory) -> Efforts:
    """Extremes, RMS, power and work of every drive of a cycle."""
    over = cycle_axis(c)
    rows = tuple(summary(drive_history(c, name), over.values, c.near_singular) for name in drive_names(c))
    return Efforts(rows, over.name, over.dimension, c.skel.tree.description.units)


@dataclass(frozen=True)
class Axis:
    """Places of a cycle: the leading drive's coordinate where it only goes one way (in a full turn from 0 to 360 deg), else time."""

    name: str
    dimension: str
    values: np.ndarray


def cycle_axis(c: Trajectory) -> Axis:
    if c.drive in c.channels and c[c.drive].ndim == 1:
        steps = np.diff(c[c.drive])
        if np.all(steps > 0.0) or np.all(steps < 0.0):
            return Axis(c.drive, c.dimension(c.drive), c.place(c[c.drive]))
    return Axis("t", "time", c.t)


def drive_names(c: Trajectory) -> list[str]:
    return list(c._each_loads[0].tau)


def drive_history(c: Trajectory, drive: str | None = None) -> DriveHistory:
    """Motion and effort of one drive (default: the leading one of the cycle)."""
    names = drive_names(c)
    name = drive or (c.drive if c.drive in names else names[0] if names else "")
    if name not in names:
        raise UsageError(f"there is no drive '{name}'.", nearest(name, names, "Drives"))
    d = c.skel.tree.description
    effort = c._sampled({f"effort of {name}": lambda x: x.loads.tau[name]}, loads=True)[f"effort of {name}"]
    unique = all(x.loads.tau_unique[name] for x in c._judges)
    x, v, a = c[name], c[f"{name}.v"], c[f"{name}.a"]
    rotary = is_rotary(d, name)
    held = 1e-12  # of the largest speed in the mechanism: a drive below it is held, its speed is round-off
    if np.abs(v).max(initial=0.0) <= held * np.abs(c.v / c.frame.columns).max(initial=0.0) * (1.0 if rotary else c.frame.kappa):
        v, a = np.zeros_like(v), np.zeros_like(a)
    return DriveHistory(name, rotary, c.t, x, v, a, effort, unique)


def summary(h: DriveHistory, place: np.ndarray, near: np.ndarray) -> Effort:
    """The figures of a drive's cycle; `place` is the place of each sample in the cycle, `near` true near a singular position."""
    power = h.power
    effort, work = extremes(h.t, h.effort, place), extremes(h.t, power, place)
    return Effort(
        drive=h.name,
        kind="torque" if h.rotary else "force",
        min=effort.low,
        max=effort.high,
        at_min=effort.at_low,
        at_max=effort.at_high,
        mean=time_mean(h.t, h.effort),
        rms=float(np.sqrt(time_mean(h.t, h.effort**2))),
        speed_max=curve_extremes(h.t, h.v).size,
        speed_rms=float(np.sqrt(time_mean(h.t, h.v**2))),
        power_min=work.low,
        power_max=work.high,
        power_mean=time_mean(h.t, power),
        work=integral(h.t, power),
        braked=integral(h.t, np.maximum(-power, 0.0)),
        unique=h.unique,
        near_min=bool(near[effort.sample_low]),
        near_max=bool(near[effort.sample_high]),
        near_power_min=bool(near[work.sample_low]),
        near_power_max=bool(near[work.sample_high]),
    )
