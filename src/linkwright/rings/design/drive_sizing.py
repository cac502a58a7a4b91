"""Drive sizing: what a motor and a gearbox see over a cycle, against what they may carry, and which ratio suits.

With the effort T and motion (v, a) at the drive, ratio N and efficiency e of the gearbox, the motor's shaft needs

    T_m = T e^-s / N  +  J N a  +  b N v  +  T_c sign(v),        s = +1 while the motor drives (T v >= 0), -1 while it is driven

The losses of the gearbox always act against the flow of power; rotor inertia J, viscous (b) and dry friction (T_c) of the
motor sit on its own side. Current i = T_m / Kt, voltage u = R i + Ke N v (the inductance is left out), heat R i^2.
For a slider or cylinder N is in motor radians per meter, 2 pi / lead of a spindle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from linkwright.api import (
    KINDS,
    NEGLIGIBLE,
    Cell,
    Result,
    Table,
    Trajectory,
    UsageError,
    curve_extremes,
    nearest,
    quantity,
    show,
    singular_positions,
    unit_of,
)
from linkwright.rings.design.cycle_averages import integral, time_mean
from linkwright.rings.design.drive_duty import DriveHistory, Effort, cycle_axis, drive_history, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwright.rings.studio.plots.common_parts import Paper

MOTOR_KINDS = {
    "Kt": "torque constant", "Ke": "torque constant", "R": "resistance", "L": "inductance", "J": "inertia", "friction": "torque",
    "friction_speed": "angular speed", "viscous": "torsional damping", "supply_voltage": "voltage",
    "rated_torque": "torque", "rated_current": "current", "rated_speed": "angular speed", "max_torque": "torque",
    "max_current": "current", "max_speed": "angular speed", "gear_ratio": "pure number", "efficiency": "pure number",
}  # fmt: skip


@dataclass(frozen=True)
class Motor:
    """A DC (or field-oriented) motor: constants at the terminals and what it may carry, SI; None: not given, not checked."""

    Kt: float
    R: float
    Ke: float
    J: float = 0.0
    friction: float = 0.0
    viscous: float = 0.0
    supply_voltage: float | None = None
    rated_torque: float | None = None
    rated_speed: float | None = None
    max_torque: float | None = None
    max_speed: float | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> tuple[Motor, float | None, float | None]:
        """(motor, gear_ratio, efficiency) from keys as in the model's `dc_motor`; values may carry units."""
        if not isinstance(data, Mapping):
            raise UsageError(
                f"motor is a dict such as {{'Kt': '0.05 N m/A', 'R': '0.4 ohm'}}, not {type(data).__name__}.", name="motor", value=data
            )
        for key in data:
            if key not in MOTOR_KINDS:
                raise UsageError(f"a motor has no '{key}'.", nearest(str(key), MOTOR_KINDS, "Keys"))
        x = {k: quantity(v, KINDS[MOTOR_KINDS[k]], f"motor: {k}") for k, v in data.items()}
        for key in ("Kt", "R"):
            if x.get(key, 0.0) <= 0.0:
                raise UsageError(
                    f"a motor needs {key} greater than zero, for example {{'Kt': '0.05 N m/A', 'R': '0.4 ohm'}}.", name="motor"
                )
        for key, value in x.items():
            if value < 0.0:
                raise UsageError(f"motor: {key} is {value:g}. It must not be negative.", name="motor", value=value)
        motor = cls(
            Kt=x["Kt"],
            R=x["R"],
            Ke=x.get("Ke", x["Kt"]),
            J=x.get("J", 0.0),
            friction=x.get("friction", 0.0),
            viscous=x.get("viscous", 0.0),
            supply_voltage=x.get("supply_voltage"),
            rated_torque=_least(x.get("rated_torque"), x["Kt"] * x["rated_current"] if "rated_current" in x else None),
            rated_speed=x.get("rated_speed"),
            max_torque=_least(x.get("max_torque"), x["Kt"] * x["max_current"] if "max_current" in x else None),
            max_speed=x.get("max_speed"),
        )
        return motor, x.get("gear_ratio"), x.get("efficiency")

    def peak_curve(self, speed: np.ndarray) -> np.ndarray:
        """Largest torque the motor can give at a speed of the same sense: current limit and voltage limit; inf where unlimited."""
        top = np.full(np.shape(speed), np.inf if self.max_torque is None else self.max_torque)
        if self.supply_voltage is not None:
            top = np.minimum(top, self.Kt * (self.supply_voltage - self.Ke * np.asarray(speed)) / self.R)
        return top


def _least(*values: float | None) -> float | None:
    given = [v for v in values if v is not None]
    return min(given) if given else None


@dataclass(frozen=True)
class Margin:
    """How far a limit is away: `limit / need`; above 1 it is met."""

    what: str
    need: float
    limit: float
    dimension: str
    error: float = 0.0  # how far the need may go beyond between samples

    @classmethod
    def peak(cls, what: str, t: np.ndarray, y: np.ndarray, limit: float, dimension: str) -> Margin:
        """Margin of the largest amount of a curve, between its samples."""
        e = curve_extremes(t, y)
        return cls(what, e.size, limit, dimension, max(e.high + e.error_high, e.error_low - e.low) - e.size)

    @property
    def factor(self) -> float:
        return self.limit / self.need if self.need > 0.0 else float("inf")

    @property
    def ok(self) -> bool:
        return self.need <= self.limit

    @property
    def known(self) -> bool:
        """False where a limit that holds at the samples may be exceeded between them."""
        return not self.ok or self.need + self.error <= self.limit


@dataclass(frozen=True)
class BestRatio:
    """The ratio of least RMS current. `unlimited` by the closed form (None: the larger the better), `most` what the motor's
    largest speed allows, `gear_ratio` the better of what is allowed, with its RMS current beside the present one's."""

    gear_ratio: float | None
    unlimited: float | None
    most: float | None
    rms_current: float | None


@dataclass(frozen=True)
class DriveSizing(Result):
    """A drive's needs over the cycle (`load`) and, with a motor, what the motor sees (arrays over the samples, SI)."""

    load: Effort
    history: DriveHistory = field(repr=False)
    units: tuple[str, ...] = ()
    over: tuple[str, str] = ("t", "time")
    motor: Motor | None = None
    gear_ratio: float = 1.0
    efficiency: float = 1.0
    motor_torque: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    motor_speed: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    best: BestRatio | None = None

    @property
    def current(self) -> np.ndarray:
        return self.motor_torque / self._motor.Kt

    @property
    def voltage(self) -> np.ndarray:
        return self._motor.R * self.current + self._motor.Ke * self.motor_speed

    @property
    def heat(self) -> np.ndarray:
        """Copper loss, W."""
        return self._motor.R * self.current**2

    @property
    def electric_power(self) -> np.ndarray:
        return self.voltage * self.current

    @property
    def _motor(self) -> Motor:
        if self.motor is None:
            raise UsageError("no motor is given: pass motor={'Kt': ..., 'R': ..., 'J': ...} (and ratio=) to drive_sizing.", name="motor")
        return self.motor

    def rms(self, values: np.ndarray) -> float:
        return float(np.sqrt(time_mean(self.history.t, values**2)))

    @property
    def margins(self) -> tuple[Margin, ...]:
        """Every limit that is given, with what the cycle needs; none without a motor."""
        if self.motor is None:
            return ()
        m = self._motor
        t, torque, speed = self.history.t, self.motor_torque, self.motor_speed
        out = []
        if m.rated_torque is not None:
            out.append(Margin("continuous torque (RMS)", self.rms(torque), m.rated_torque, "torque"))
        if m.rated_speed is not None:
            out.append(Margin("continuous speed (mean)", time_mean(t, np.abs(speed)), m.rated_speed, "angular speed"))
        if m.max_torque is not None:
            out.append(Margin.peak("peak torque", t, torque, m.max_torque, "torque"))
        if m.max_speed is not None:
            out.append(Margin.peak("largest speed", t, speed, m.max_speed, "angular speed"))
        if m.supply_voltage is not None:
            out.append(Margin.peak("voltage", t, self.voltage, m.supply_voltage, "voltage"))
        return tuple(out)

    @property
    def ok(self) -> bool:
        """True if every given limit of the motor is met; without a motor there is nothing to say."""
        return self._motor is not None and all(x.ok for x in self.margins)

    def figures(self) -> dict[str, float]:
        """Peaks, RMS values and energies of the motor over the cycle, SI; without a motor those of the drive itself."""
        if self.motor is None:
            return self._drive_figures()
        t, power = self.history.t, self.electric_power
        return {
            "torque_peak": curve_extremes(t, self.motor_torque).size,
            "torque_rms": self.rms(self.motor_torque),
            "speed_max": curve_extremes(t, self.motor_speed).size,
            "current_peak": curve_extremes(t, self.current).size,
            "current_rms": self.rms(self.current),
            "voltage_max": curve_extremes(t, self.voltage).size,
            "heat_mean": time_mean(t, self.heat),
            "electric_power_max": curve_extremes(t, power).high,
            "electric_power_mean": time_mean(t, power),
            "energy_drawn": integral(t, np.maximum(power, 0.0)),
            "energy_returned": integral(t, np.maximum(-power, 0.0)),
        }

    def _drive_figures(self) -> dict[str, float]:
        """Figures without a motor: a slider or cylinder has `force_peak` and so on in place of `torque_peak`."""
        r = self.load
        return {
            f"{r.kind}_peak": max(abs(r.min), abs(r.max)),
            f"{r.kind}_rms": r.rms,
            f"{r.kind}_mean": r.mean,
            "speed_max": r.speed_max,
            "power_max": r.power_max,
            "power_min": r.power_min,
            "power_mean": r.power_mean,
            "energy_drawn": r.work + r.braked,
            "energy_returned": r.braked,
        }

    def as_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"load": self.load.as_dict()}
        if self.motor is not None:
            out["motor"] = {f.name: getattr(self.motor, f.name) for f in fields(Motor)}
            out |= {"gear_ratio": self.gear_ratio, "efficiency": self.efficiency, "figures": self.figures(), "ok": self.ok}
            out["margins"] = [{"what": x.what, "need": x.need, "limit": x.limit, "ok": x.ok} for x in self.margins]
            if self.best is not None:
                out["best_ratio"] = {f.name: getattr(self.best, f.name) for f in fields(BestRatio)}
        return out

    def plot(self, path: str | os.PathLike[str] | None = None, **options: Unpack[Paper]) -> Figure | Path:
        """Draw the cycle over the continuous and peak region of the motor (matplotlib Figure, or with `path` the file)."""
        return import_module("linkwright.rings.studio.plots.motors").torque_speed(self, path, **options)

    def table(self) -> Table:
        """Return peaks, RMS values and energies of the motor (without one, of the drive); its limits are a part of the table."""
        units = {k: self._unit(k) for k in self.figures()}
        rows = [(k.replace("_", " "), x / units[k][1], units[k][0]) for k, x in self.figures().items()]
        return Table.of(["figure", "value", "unit"], rows, f"drive {self.load.drive}", parts=(self._limits(),) if self.margins else ())

    def _unit(self, figure: str) -> tuple[str, float]:
        """Unit of one of `figures` and its size: those of the motor's shaft are rotary."""
        word = figure.partition("_")[0]
        speed = "angular speed" if self.motor is not None or self.history.rotary else "speed"
        kinds = {"speed": speed, "heat": "power", "electric": "power"}
        return {"current": ("A", 1.0), "voltage": ("V", 1.0)}.get(word) or unit_of(self.units, kinds.get(word, word))

    def _limits(self) -> Table:
        rows = []
        for m in self.margins:
            symbol, size = unit_of(self.units, m.dimension)
            met = Cell(m.ok, "ok" if m.ok else "EXCEEDED") if m.known else Cell(None, "not known between samples")
            rows.append((m.what, m.need / size, m.limit / size, symbol, m.factor, met))
        return Table.of(["limit", "needed", "allowed", "unit", ("factor", "-"), "met"], rows, "limits")

    def __str__(self) -> str:
        effort, power = unit_of(self.units, self.load.kind), unit_of(self.units, "power")
        speed = unit_of(self.units, "angular speed" if self.history.rotary else "speed")
        r = self.load
        peak = max(abs(r.min), abs(r.max))
        moving = (
            f", speed up to {show(r.speed_max / speed[1])} {speed[0]}, power {show(r.power_min / power[1])} .. "
            f"{show(r.power_max / power[1])} {power[0]}"
        )
        lines = [
            f"drive {r.drive}: peak {r.kind} {show(peak / effort[1])} {effort[0]}, RMS {show(r.rms / effort[1])} {effort[0]}"
            + (moving if r.speed_max else ", held")
        ]
        if r.near_peak:
            lines.append(f"  {singular_positions.NEAR_PEAK}")
        if self.motor is None:
            return "\n".join(lines)
        return "\n".join([*lines, *self._motor_lines()])

    def _motor_lines(self) -> list[str]:
        x, turning = self.figures(), unit_of(self.units, "angular speed")
        sort = "" if self.history.rotary else " rad/m"
        lines = [
            f"motor at ratio {show(self.gear_ratio)}{sort}, efficiency {show(self.efficiency)}: torque up to {show(x['torque_peak'])} N m, "
            f"RMS {show(x['torque_rms'])} N m, speed up to {show(x['speed_max'] / turning[1])} {turning[0]}",
            f"  current up to {show(x['current_peak'])} A, RMS {show(x['current_rms'])} A; voltage up to {show(x['voltage_max'])} V; "
            f"heat in the winding {show(x['heat_mean'])} W",
        ]
        if self.margins:
            lines.append(self._limits().text())
        if self.best is not None:
            lines.append(_best_text(self.best, self.rms(self.current), sort))
        return lines


def _best_text(best: BestRatio, now: float, sort: str) -> str:
    if best.gear_ratio is None:
        return "least RMS current: the larger the ratio the better (in this motion the rotor costs nothing, and no largest speed is given)"
    why = "" if best.unlimited is not None and best.gear_ratio == best.unlimited else " (the most the motor's speed allows)"
    return f"least RMS current at ratio {show(best.gear_ratio)}{sort}{why}: {show(best.rms_current)} A instead of {show(now)} A"


def drive_sizing(
    c: Trajectory,
    drive: str | None = None,
    *,
    motor: Mapping[str, Any] | Motor | None = None,
    gear_ratio: Any = None,
    efficiency: Any = None,
    lead: Any = None,
) -> DriveSizing:
    """Peak and RMS effort, speed and power of a drive; with a motor also current, voltage, heat, margins and the best ratio.

    `motor` holds the keys of the model's `dc_motor` (and `rated_torque`, `rated_current`, `rated_speed`), or is one of those that
    `c.choose_motor()` found; without it the model's own motor is taken, if it has one. `gear_ratio` is motor speed over drive speed; for a
    slider give the spindle's `lead` (travel of one motor turn) instead, or `gear_ratio` in rad/m. `efficiency` is the gearbox's, at most 1.
    """
    history = drive_history(c, drive)
    over = cycle_axis(c)
    units = c.skel.tree.description.units
    load = summary(history, over.values, c.near_singular)
    given, N, e = _motor_of(c, history, motor)
    plain = DriveSizing(load, history, units, (over.name, over.dimension))
    if given is None:
        if gear_ratio is not None or lead is not None or efficiency is not None:
            raise UsageError("ratio, lead and efficiency need a motor: pass motor={'Kt': ..., 'R': ...} as well.", name="motor")
        return plain
    N = _ratio(history, gear_ratio, lead, N)
    e = quantity(efficiency, KINDS["pure number"], "efficiency") if efficiency is not None else e or 1.0
    if not 0.0 < e <= 1.0:
        raise UsageError(f"efficiency is {e:g}. It must be above 0 and at most 1.", name="efficiency", value=e)
    torque = motor_torque(history, given, N, e)
    best = best_ratio(history, given, e)
    return DriveSizing(load, history, units, (over.name, over.dimension), given, N, e, torque, N * history.v, best)


def _motor_of(c: Trajectory, h: DriveHistory, motor: Any) -> tuple[Motor | None, float | None, float | None]:
    if isinstance(motor, Motor):
        return motor, None, None
    if hasattr(motor, "sizing"):  # one of `choose_motor`, with its gearbox
        return motor.sizing.motor, motor.sizing.gear_ratio, motor.sizing.efficiency
    if motor is not None:
        return Motor.of(motor)
    own = next((dict(d.motor) for d in c.skel.tree.description.drives if d.joint == h.name and d.motor), None)
    return Motor.of(own) if own else (None, None, None)


def spindle_ratio(h: DriveHistory, lead: Any) -> float:
    """Radians of the motor per meter of a slider or cylinder, from the lead of its spindle."""
    if h.rotary:
        raise UsageError("`lead` is for sliders and cylinders, in place of `gear_ratio`. A turning drive takes `gear_ratio`.", name="lead")
    if lead is None:
        raise UsageError(f"'{h.name}' slides: give the spindle's lead='5 mm' (travel of one motor turn).", name=h.name)
    pitch = quantity(lead, KINDS["length"], "lead")
    if pitch <= 0.0:
        raise UsageError("lead must be greater than zero: the travel of one turn of the motor.", name="lead")
    return 2.0 * np.pi / pitch


def _ratio(h: DriveHistory, gear_ratio: Any, lead: Any, own: float | None) -> float:
    if lead is not None:
        if gear_ratio is not None:
            raise UsageError("`lead` is for sliders and cylinders, in place of `gear_ratio`. A turning drive takes `gear_ratio`.")
        return spindle_ratio(h, lead)
    value = own if gear_ratio is None else quantity(gear_ratio, KINDS["pure number"] if h.rotary else (-1, 0, 0, 1, 0), "gear_ratio")
    if value is None and not h.rotary:
        raise UsageError(f"'{h.name}' slides: give the spindle's lead='5 mm' (travel of one motor turn), or ratio in rad/m.", name=h.name)
    value = 1.0 if value is None else value
    if value <= 0.0:
        raise UsageError(f"ratio is {value:g}. It must be greater than zero.", value=value, name="ratio")
    return value


def shaft_load(h: DriveHistory, efficiency: float) -> np.ndarray:
    """The drive's effort with the gearbox's losses, which act against the flow of power; at rest it is taken as driving."""
    return np.where(h.effort * direction(h) >= 0.0, h.effort / efficiency, h.effort * efficiency)


def direction(h: DriveHistory) -> np.ndarray:
    """Sign of the speed over the cycle; 0 in a dwell, where it is round-off."""
    return np.where(np.abs(h.v) > NEGLIGIBLE * np.abs(h.v).max(initial=0.0), np.sign(h.v), 0.0)


def motor_torque(h: DriveHistory, motor: Motor, gear_ratio: float, efficiency: float) -> np.ndarray:
    """T_m over the cycle; see the module's text."""
    own = motor.J * h.a + motor.viscous * h.v
    return shaft_load(h, efficiency) / gear_ratio + gear_ratio * own + motor.friction * direction(h)


def best_ratio(h: DriveHistory, motor: Motor, efficiency: float) -> BestRatio:
    """The ratio N that minimizes the RMS of A/N + N B + C, in closed form.

    A is the load with the gearbox's losses, B = J a + b v the motor's own, C its dry friction. The mean square is
    <AA>/N^2 + N^2 <BB> + 2 <AC>/N + 2 N <BC> + const; its derivative times N^3 is a quartic. Without dry friction
    N^4 = <AA>/<BB>: for a pure inertia N = sqrt(J_load / J).
    """
    A, B, C = shaft_load(h, efficiency), motor.J * h.a + motor.viscous * h.v, motor.friction * direction(h)
    mean = {x + y: time_mean(h.t, u * w) for x, u in zip("ABC", (A, B, C), strict=True) for y, w in zip("ABC", (A, B, C), strict=True)}

    def rms_current(N: float) -> float:
        return float(np.sqrt(max(0.0, time_mean(h.t, (A / N + N * B + C) ** 2)))) / motor.Kt

    fastest = curve_extremes(h.t, h.v).size
    most = motor.max_speed / fastest if motor.max_speed is not None and fastest > 0.0 else None
    unlimited = _positive_minimum((mean["BB"], mean["BC"], 0.0, -mean["AC"], -mean["AA"]), rms_current)
    gear_ratio = most if unlimited is None else unlimited if most is None else min(unlimited, most)
    return BestRatio(gear_ratio, unlimited, most, None if gear_ratio is None else rms_current(gear_ratio))


def _positive_minimum(quartic: tuple[float, ...], value: Any) -> float | None:
    """The positive root of the derivative with the least value; None if there is none (the more the better)."""
    leading = max(abs(x) for x in quartic)
    if leading == 0.0 or quartic[0] <= 1e-14 * leading:
        return None
    roots = np.roots(quartic)
    real = [float(r.real) for r in roots if abs(r.imag) < 1e-7 * abs(r) and r.real > 0.0]
    return min(real, key=value) if real else None
