"""Choice of a motor and a gearbox from a catalog for the cycle of a drive.

Every motor is combined with every gearbox, and taken without one; each combination sees the cycle as `drive_sizing` computes it: load
with the gearbox's losses, inertia of rotor and gearbox reflected, dry and viscous friction. One is suitable if the motor carries the RMS
torque for ever, the peak torque and speed for a moment, its supply has the voltage, and the gearbox carries its own torque and speed. Of
the suitable ones those stay that no other betters in heat, mass and price at once, sorted by one of these.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.api import KINDS, Result, Table, Trajectory, UsageError, counted, errors, listing, nearest, quantity, show, unit_of
from linkwright.properties import cached_property
from linkwright.rings.design.catalog import Catalog, CatalogMotor, Gearbox, read_catalog
from linkwright.rings.design.cycle_averages import time_mean
from linkwright.rings.design.drive_duty import cycle_axis, drive_history, summary
from linkwright.rings.design.drive_sizing import DriveSizing, Margin, motor_torque, shaft_load, spindle_ratio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

SORTS = ("heat", "mass", "price")
PEAKED = 3.0  # largest power over the mean: from here on a flywheel is worth a word


@dataclass(frozen=True)
class MotorChoice:
    """A motor with a gearbox (None: without one), what it sees over the cycle, and every limit with its margin."""

    motor: CatalogMotor
    gearbox: Gearbox | None
    sizing: DriveSizing

    @property
    def name(self) -> str:
        return self.motor.name if self.gearbox is None else f"{self.motor.name} + {self.gearbox.name}"

    @property
    def gear_ratio(self) -> float:
        """Speed of the motor over that of the drive; of a slider in rad/m."""
        return self.sizing.gear_ratio

    @cached_property
    def heat(self) -> float:
        """Mean copper loss, W."""
        return time_mean(self.sizing.history.t, self.sizing.heat)

    @property
    def mass(self) -> float | None:
        """Motor and gearbox, kg; None where the catalog does not give it."""
        return _sum(self.motor.mass, None if self.gearbox is None else self.gearbox.mass, self.gearbox is None)

    @property
    def price(self) -> float | None:
        """Price classes of motor and gearbox together."""
        return _sum(self.motor.price, None if self.gearbox is None else self.gearbox.price, self.gearbox is None)

    @cached_property
    def margins(self) -> tuple[Margin, ...]:
        """Limits of the motor, then of the gearbox."""
        return (*self.sizing.margins, *self.gearbox_margins)

    @property
    def gearbox_margins(self) -> tuple[Margin, ...]:
        """Limits of the gearbox; none without one."""
        if self.gearbox is None:
            return ()
        g, s = self.gearbox, self.sizing
        output = shaft_load(s.history, 1.0) * (1.0 if s.history.rotary else g.gear_ratio / s.gear_ratio)  # behind it a spindle
        out = [
            Margin("gearbox torque (RMS)", s.rms(output), g.rated_torque, "torque"),
            Margin.peak("gearbox peak torque", s.history.t, output, g.max_torque, "torque"),
        ]
        if g.max_speed is not None:
            out.append(Margin.peak("gearbox speed", s.history.t, s.motor_speed, g.max_speed, "angular speed"))
        return tuple(out)

    @property
    def ok(self) -> bool:
        """True if no limit is exceeded."""
        return all(x.ok for x in self.margins)

    @property
    def tightest(self) -> Margin:
        """The limit with the least to spare."""
        return min(self.margins, key=lambda x: x.factor)

    def as_dict(self) -> dict[str, Any]:
        gearbox = None if self.gearbox is None else self.gearbox.name
        limits = [{"what": x.what, "need": x.need, "limit": x.limit, "factor": x.factor, "ok": x.ok} for x in self.margins]
        return {
            "motor": self.motor.name, "gearbox": gearbox, "gear_ratio": self.gear_ratio, "heat": self.heat, "mass": self.mass,
            "price": self.price, "ok": self.ok, "figures": self.sizing.figures(), "margins": limits,
        }  # fmt: skip


def _sum(motor: float | None, gearbox: float | None, alone: bool) -> float | None:
    if motor is None or (gearbox is None and not alone):
        return None
    return motor + (gearbox or 0.0)


@dataclass(frozen=True)
class MotorChoices(Result):
    """Suitable motors, the best first; prints as a table."""

    rows: tuple[MotorChoice, ...]
    sort: str
    catalog: str
    tried: int
    suitable: int
    undominated: int = 0  # of the suitable ones, those that no other betters
    units: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int | str) -> MotorChoice:
        """By place, or by the name of the motor."""
        if isinstance(index, str):
            found = [x for x in self.rows if index in (x.name, x.motor.name)]
            if not found:
                raise UsageError(f"'{index}' is not among these.", nearest(index, [x.name for x in self.rows], "Motors"))
            return found[0]
        try:
            return self.rows[index]
        except IndexError:
            raise UsageError(
                f"there are {counted(len(self.rows), 'motor')} in this choice. {index} is not one of them.", name="motor"
            ) from None

    @property
    def best(self) -> MotorChoice:
        return self.rows[0]

    def as_dict(self) -> dict[str, Any]:
        return {
            "catalog": self.catalog, "sort": self.sort, "tried": self.tried, "suitable": self.suitable,
            "undominated": self.undominated, "rows": [x.as_dict() for x in self.rows],
        }  # fmt: skip

    def table(self) -> Table:
        """Return the listed combinations, the best first."""
        speed = unit_of(self.units, "angular speed")
        sort = "-" if self.best.sizing.history.rotary else "rad/m"
        heads = [
            ("motor", ""), ("gearbox", ""), ("gear ratio", sort, ".6g"), ("heat", "W", "", "mean loss in the winding"),
            ("RMS torque", "N m"), ("peak torque", "N m"), ("max speed", speed[0]), ("mass", "kg"),
            ("price", "class", "g"), ("tightest limit", ""),
            ("factor", "-", "", "what the tightest limit allows over what is needed"),
        ]  # fmt: skip
        rows = [
            (
                x.motor.name, None if x.gearbox is None else x.gearbox.name, x.gear_ratio, x.heat, x.sizing.rms(x.sizing.motor_torque),
                x.sizing.figures()["torque_peak"], x.sizing.figures()["speed_max"] / speed[1], x.mass, x.price, x.tightest.what,
                x.tightest.factor,
            )
            for x in self.rows
        ]  # fmt: skip
        return Table.of(heads, rows, "motors")

    def __str__(self) -> str:
        some = f"{self.suitable} of {self.tried} combinations of {self.catalog} are suitable"
        head = f"drive {self.best.sizing.load.drive}: {some}, the best by {self.sort} first"
        return f"{head}{self._left_out()}\n{self.table().text()}"

    def _left_out(self) -> str:
        """Why there are fewer rows than suitable combinations."""
        left = self.suitable - self.undominated
        below = f"\n{left} of them {'is' if left == 1 else 'are'} left out: a listed one is better in heat, mass and price" if left else ""
        more = self.undominated - len(self.rows)
        return below + (f"\n{more} more could be listed (top={self.undominated})" if more else "")

    def plot(self, path: str | os.PathLike[str] | None = None, *, index: int | str = 0, **options: Unpack[Paper]) -> Figure | Path:
        """Draw the cycle of a choice over its continuous and peak torque (matplotlib Figure, or with `path` the file)."""
        chosen = self[index]
        options.setdefault("title", chosen.name)
        return import_module("linkwright.rings.studio.plots.motors").torque_speed(chosen.sizing, path, **options)


def choose_motor(
    c: Trajectory,
    catalog: Catalog | str | os.PathLike[str] | None = None,
    *,
    drive: str | None = None,
    sort: str = "heat",
    gearbox: bool | float | Sequence[float] = True,
    efficiency: Any = None,
    lead: Any = None,
    top: int = 10,
) -> MotorChoices:
    """Suitable motors and gearboxes of a catalog for a drive over its cycle, sorted by "heat", "mass" or "price".

    `catalog` is a CSV file (`design.catalog`), by default the built-in one with typical data. `gearbox` True takes those of the
    catalog, False none; numbers are ratios to try, with `efficiency`. A slider or cylinder needs the `lead` of its spindle. `top`: rows.
    """
    if sort not in SORTS:
        raise UsageError(f"a choice cannot be sorted by '{sort}'.", nearest(str(sort), SORTS, "Choose from"))
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise UsageError(f"top is the number of rows, 1 or more, not {top!r}.", name="top", value=top)
    known = catalog if isinstance(catalog, Catalog) else read_catalog(catalog)
    history, over = drive_history(c, drive), cycle_axis(c)
    units = c.skel.tree.description.units
    plain = DriveSizing(summary(history, over.values, c.near_singular), history, units, (over.name, over.dimension))
    screw = 1.0 if history.rotary and lead is None else spindle_ratio(history, lead)
    boxes = _boxes(known, gearbox, efficiency)
    most = 100_000  # combinations
    if len(known.motors) * len(boxes) > most:
        raise UsageError(
            f"{counted(len(known.motors), 'motor')} with {len(boxes)} ratios are too many combinations. Take a smaller catalog."
        )
    every = [_tried(plain, m, g, screw) for m in known.motors for g in boxes]
    fit = [x for x in every if x.ok]
    suitable = len(fit)
    if not fit:
        raise errors.NoMotorError(_none_fits(every, known, turning=bool(c.full_turn)), name=history.name)
    if sort != "heat" and any(getattr(x, sort) is None for x in fit):
        some = next(x for x in fit if getattr(x, sort) is None)
        raise UsageError(f"'{some.name}' has no {sort} in {known.path}: fill the column '{sort}', or sort by heat.", name=some.name)
    fit = _undominated(fit)
    ordered = sorted(fit, key=lambda x: (getattr(x, sort), x.heat, x.mass or 0.0, x.name))
    return MotorChoices(tuple(ordered[:top]), sort, known.path, len(every), suitable, len(fit), units)


def _undominated(fit: Sequence[MotorChoice]) -> list[MotorChoice]:
    """Those that no other one betters in heat, mass and price at once; values that are not given do not count."""
    figures = [(x.heat, x.mass or 0.0, x.price or 0.0) for x in fit]
    front, n, best = np.empty((len(fit), 3)), 0, set[tuple[float, float, float]]()
    for row in sorted(set(figures)):  # none is bettered by a later one, and no two are alike
        if not (front[:n] <= row).all(axis=1).any():
            front[n], n = row, n + 1
            best.add(row)
    return [x for x, row in zip(fit, figures, strict=True) if row in best]


def _boxes(known: Catalog, wanted: Any, efficiency: Any) -> list[Gearbox | None]:
    """Gearboxes to try; None: without one."""
    if efficiency is not None and isinstance(wanted, bool):
        raise UsageError(
            "efficiency is for ratios given as numbers (gearbox=[10, 20]). Gearboxes of the catalog have their own.", name="efficiency"
        )
    if isinstance(wanted, bool):
        return [None, *known.gearboxes] if wanted else [None]
    ratios = [wanted] if isinstance(wanted, (int, float, str)) else list(wanted)
    e = 1.0 if efficiency is None else quantity(efficiency, KINDS["pure number"], "efficiency")
    if not 0.0 < e <= 1.0:
        raise UsageError(f"efficiency is {e:g}. It must be above 0 and at most 1.", name="efficiency", value=e)
    values = [quantity(x, KINDS["pure number"], "gearbox") for x in ratios]
    if not values or min(values) <= 0.0:
        raise UsageError("gearbox is True, False or ratios greater than zero, such as [5, 10, 20].", name="gearbox")
    return [Gearbox(f"ratio {show(x)}", x, e, np.inf, np.inf, mass=0.0, price=0.0) for x in values]


def _tried(plain: DriveSizing, m: CatalogMotor, g: Gearbox | None, screw: float) -> MotorChoice:
    """A motor and a gearbox over the cycle."""
    motor = m.motor if g is None else replace(m.motor, J=m.motor.J + g.J)
    gear_ratio, e = (screw, 1.0) if g is None else (screw * g.gear_ratio, g.efficiency)
    torque = motor_torque(plain.history, motor, gear_ratio, e)
    sizing = replace(plain, motor=motor, gear_ratio=gear_ratio, efficiency=e, motor_torque=torque, motor_speed=gear_ratio * plain.history.v)
    return MotorChoice(m, g, sizing)


def _none_fits(every: Sequence[MotorChoice], known: Catalog, *, turning: bool) -> str:
    """How far the nearest combination is away, and from what; where the mean power is small, that a flywheel would help."""
    best = max(every, key=lambda x: x.tightest.factor)
    off = [x for x in best.margins if not x.ok]
    units = best.sizing.units
    said = [f"{x.what} {show(x.need / u)} of {show(x.limit / u)} {s}" for x in off for s, u in [unit_of(units, x.dimension)]]
    return (
        f"no motor of {known.path} is strong enough for '{best.sizing.load.drive}' ({counted(len(every), 'combination')}): the "
        f"nearest, {best.name}, "
        f"is {show(1.0 / best.tightest.factor)} times overloaded ({listing(said)}). Add larger motors or other ratios to the catalog, or "
        f"slow the cycle down.{_flywheel_hint(best.sizing, turning=turning)}"
    )


def _flywheel_hint(sizing: DriveSizing, *, turning: bool) -> str:
    """A drive that turns fully and needs little in the mean may take its peaks from a flywheel."""
    r = sizing.load
    if not (turning and sizing.history.rotary and 0.0 < r.power_mean < r.power_max / PEAKED):
        return ""
    symbol, size = unit_of(sizing.units, "power")
    return (
        f" The drive needs {show(r.power_mean / size)} {symbol} in the mean and {show(r.power_max / size)} {symbol} at its peak: with a "
        f"flywheel (`c.flywheel(0.1)` in Python) a motor for the mean torque of {show(r.mean / unit_of(sizing.units, r.kind)[1])} "
        f"{unit_of(sizing.units, r.kind)[0]} is enough."
    )
