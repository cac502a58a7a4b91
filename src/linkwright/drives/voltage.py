"""A voltage at the DC motor of a joint: the motor's equations are in `forces.dc_motor`, the rotor's inertia joins the mass matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linkwright.drives.base import DriveOutput, DriveSpecification, DriveTarget, Follower, Reading, Start, read_signal, sample_time
from linkwright.errors import UsageError, call_explained, nearest
from linkwright.mechanics.forces.dc_motor import DCMotor, Flow, flow
from linkwright.mechanics.instant import Instant
from linkwright.model.curves.polynomial import Constant
from linkwright.model.file import quantity
from linkwright.text.units import CURRENT, KINDS, VOLTAGE

KEYS = {
    "Kt": "torque constant", "R": "resistance", "Ke": "torque constant", "L": "inductance", "J": "inertia", "viscous": "torsional damping",
    "friction": "torque", "friction_speed": "angular speed", "gear_ratio": "pure number", "efficiency": "pure number",
    "supply_voltage": "voltage", "max_current": "current", "time_constant": "time",
}  # fmt: skip
SIZING = ("max_speed", "max_torque")  # on the plate, but no part of the equations
POWERS = ("electric", "mechanical", "magnetic")
MATCH = 0.01  # share by which Kt and Ke may differ on a rounded data sheet


@call_explained
def dc_motor(
    Kt: Any,
    R: Any,
    *,
    Ke: Any = None,
    L: Any = 0.0,
    J: Any = 0.0,
    viscous: Any = 0.0,
    friction: Any = 0.0,
    friction_speed: Any = 1.0,
    gear_ratio: Any = None,
    lead: Any = None,
    efficiency: Any = 1.0,
    supply_voltage: Any = None,
    max_current: Any = None,
    time_constant: Any = None,
) -> DCMotor:
    """Describe a DC motor with a gearbox, for `lw.drives.voltage(..., motor=...)`, by the keys of `dc_motor` in the model file.

    Parameters
    ----------
    Kt : float or str
        Torque constant ("0.05 N m/A").
    R : float or str
        Resistance of the winding ("1.2 ohm").
    Ke : float or str, optional
        Voltage constant (default: Kt).
    L : float or str, default 0
        Inductance of the winding.
    J : float or str, default 0
        Inertia of the rotor.
    viscous : float or str, default 0
        Viscous friction of the rotor, torque per speed.
    friction : float or str, default 0
        Coulomb friction of the rotor, as torque.
    friction_speed : float or str, default 1
        Rotor speed over which the Coulomb friction changes its sign.
    gear_ratio : float, optional
        Motor speed over joint speed.
    lead : float or str, optional
        Travel per motor revolution of the spindle of a slider or cylinder, in place of the gear ratio.
    efficiency : float, default 1
        Efficiency of the gearbox.
    supply_voltage : float or str, optional
        Limit of the voltage.
    max_current : float or str, optional
        Limit of the current.
    time_constant : float or str, optional
        Electrical time constant L/R of a motor without L. A note of the run estimates how far L would move the joint.

    Returns
    -------
    DCMotor
        Constants of the motor in SI.

    Examples
    --------
    >>> motor = lw.drives.dc_motor("0.05 N m/A", "1 ohm", gear_ratio=20, supply_voltage="24 V")
    >>> lw.load("wiper").simulate("0.1 s", drive={"A": lw.drives.voltage("12 V", motor=motor)}).certificate.status
    'finished'
    """
    given = {"Kt": Kt, "R": R, "Ke": Ke, "L": L, "J": J, "viscous": viscous, "friction": friction, "friction_speed": friction_speed}
    given |= {"gear_ratio": gear_ratio, "efficiency": efficiency, "supply_voltage": supply_voltage, "max_current": max_current}
    given["time_constant"] = time_constant
    if lead is not None:
        if gear_ratio is not None:
            raise UsageError("a motor has a gear_ratio or the lead of a spindle, not both.", name="motor")
        given["gear_ratio"] = 6.283185307179586 / _positive("lead", quantity(lead, KINDS["length"], "motor: lead"))
    return motor_of({k: x for k, x in given.items() if x is not None})


def motor_of(data: Mapping[str, Any]) -> DCMotor:
    """A motor from its keys; values may carry units."""
    for key in data:
        if key not in KEYS and key not in SIZING:
            raise UsageError(f"a motor has no '{key}'.", nearest(str(key), KEYS, "Keys"))
    x = {k: quantity(v, KINDS[KEYS[k]], f"motor: {k}") for k, v in data.items() if k in KEYS}
    for key in ("Kt", "R", "friction_speed", "gear_ratio", "efficiency", "supply_voltage", "max_current", "time_constant"):
        _positive(key, x.get(key, 1.0 if key not in ("Kt", "R") else 0.0))
    for key in ("Ke", "L", "J", "viscous", "friction"):
        if not x.get(key, 0.0) >= 0.0:
            raise UsageError(f"motor: {key} is {x[key]:g}. It must not be negative.", name="motor", value=x[key])
    if "time_constant" in x and x.get("L", 0.0) > 0.0:
        raise UsageError("a motor with an inductance L has the time constant L/R. Leave out L or time_constant.", name="motor")
    if x.get("efficiency", 1.0) > 1.0:
        raise UsageError(f"motor: efficiency is {x['efficiency']:g}. It must be at most 1.", name="motor", value=x["efficiency"])
    return DCMotor(**x)


def _positive(key: str, value: float) -> float:
    if not value > 0.0:
        raise UsageError(f"a motor needs {key} greater than zero, not {value:g}.", value=value, name=key)
    return value


def need_place_for_rotor(plate: DCMotor, target: DriveTarget) -> None:
    if plate.J > 0.0 and target.entry is None:
        raise UsageError(
            f"the motor of '{target.name}' has a rotor, whose inertia can only be added in a joint that is not cut: choose other "
            "cuts= that keep it, or give the motor J = 0 and the inertia to a body.",
            name=target.name,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Voltage(DriveSpecification):
    """`lw.drives.voltage(value, motor=...)`: a constant, (times, values), or a function. `current` at the start."""

    value: Any
    every: Any = None
    motor: Any = None
    current: Any = 0.0
    kind = "voltage"

    def bind(self, target: DriveTarget, start: Start) -> BoundVoltage:
        what = f"the voltage of '{target.name}'"
        plate = self._motor(target, start)
        need_place_for_rotor(plate, target)
        signal = read_signal(self.value, VOLTAGE, what, start.description)
        every = 0.0 if isinstance(signal, Constant) else sample_time(self.every, what)
        current = quantity(self.current, CURRENT, f"the start current of '{target.name}'")
        return BoundVoltage(target, Reading(signal, every), plate, current)

    def _motor(self, target: DriveTarget, start: Start) -> DCMotor:
        if isinstance(self.motor, DCMotor):
            return self.motor
        if isinstance(self.motor, Mapping):
            return motor_of(self.motor)
        if self.motor is not None:
            raise UsageError(
                f"motor of '{target.name}': pass lw.drives.dc_motor(Kt=..., R=...), not {type(self.motor).__name__}.",
                name=target.name,
                value=self.motor,
            )
        own = next((d for d in start.description.drives if d.joint == target.name and d.kind == "dc_motor"), None)
        if own is None:
            raise UsageError(
                f"'{target.name}' has no motor: the model gives it no `dc_motor`. Pass one, "
                "lw.drives.voltage(..., motor=lw.drives.dc_motor(Kt='0.05 N m/A', R='0.4 ohm')).",
                name=target.name,
            )
        return motor_of(dict(own.motor))


@dataclass(frozen=True, eq=False)
class BoundVoltage(Follower):
    target: DriveTarget
    reading: Reading
    motor: DCMotor
    current: float = 0.0
    moves = False

    @property
    def armature(self) -> float:
        return float(self.motor.armature)

    @property
    def states(self) -> tuple[tuple[str, float, float], ...]:
        """The current, where the motor has inductance; its size is what the plate says about currents."""
        m = self.motor
        if not m.has_current:
            return ()
        size = m.max_current if m.max_current is not None else m.supply_voltage / m.R if m.supply_voltage is not None else 1.0
        return ((f"motor.{self.target.name}.current", self.current, float(size)),)

    @property
    def notes(self) -> tuple[str, ...]:
        m = self.motor
        if abs(m.Kt - m.Ke) <= MATCH * max(m.Kt, m.Ke):
            return ()
        does = "creates" if m.Kt > m.Ke else "destroys"
        return (
            f"motor of '{self.target.name}': Kt = {m.Kt:g} N m/A and Ke = {m.Ke:g} V s/rad differ in SI: this motor {does} energy "
            f"(motor.{self.target.name}.power.created)",
        )

    @property
    def channels(self) -> dict[str, str]:
        own, effort = f"motor.{self.target.name}", self.target.effort_kind
        out = {f"{self.target.name}.{effort}": effort, f"{self.target.name}.power": "power", f"{own}.voltage": "voltage"}
        out |= {f"{own}.current": "current", f"{own}.{effort}": effort, f"{own}.speed": "angular speed"}
        out |= {f"{own}.power.{x}": "power" for x in POWERS}
        out |= {f"{own}.heat": "power", f"{own}.loss.friction": "power", f"{own}.loss.gearbox": "power"}
        return {**out, f"{own}.power.created": "power"} if self.motor.Kt != self.motor.Ke else out

    def flow(self, here: Instant, x: Any, held: Any) -> Flow:
        return flow(self.motor, self.reading.value(here, held), self.target.speed(here), x[0] if self.motor.has_current else None)

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput:
        f = self.flow(here, x, held)
        return DriveOutput(f.effort, rates=(f.current_rate,) if self.motor.has_current else ())

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        return recorded(self.flow(here, x, held), self.motor.Kt != self.motor.Ke)


def recorded(f: Flow, creates: bool) -> list[Any]:
    """Values of a motor's channels in their order; `creates`: of one whose Kt and Ke differ."""
    out = [f.effort, f.mechanical, f.voltage, f.current, f.effort, f.speed, f.electric, f.mechanical, f.magnetic]
    out += [f.heat, f.friction, f.gearbox]
    return [*out, f.created] if creates else out
