"""Actuators between a controller and a joint: an ideal drive, perhaps with a limit, or a DC motor that is given a voltage.

    lw.control.actuator(limit="20 N m")              efforts beyond are cut off; also (low, high). By default the drive's `limits:`
    lw.control.actuator(motor=lw.drives.dc_motor(...))  the voltage that makes the effort: coils, back-EMF, friction, gearbox made good
    lw.control.actuator(motor=True, back_emf=False)  the model's own motor, back-EMF is not compensated

A motor's own limits (`supply_voltage`, `max_current`) hold as everywhere; its rotor is part of the mechanism and of the controller's model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.drives.base import Bound, Commanded, DriveTarget, Reading
from linkwright.drives.effort import BoundEffort, effort_limits, limited
from linkwright.drives.voltage import BoundVoltage, motor_of, need_place_for_rotor
from linkwright.errors import UsageError
from linkwright.mechanics.forces.dc_motor import DCMotor, flow, gearbox_loss, terminal_voltage
from linkwright.mechanics.inverse.effort_weights import largest_effort
from linkwright.model.description import Description
from linkwright.numerics.scalars import real, where

CUT = 0.05  # share of a command that is missing where integrals are frozen
HUGE = 1e9  # N m, N or V: more than anything gives
ZERO_COMMAND = 1e-12  # N m, N or V: commands below count as this


@dataclass(frozen=True)
class Actuator:
    """`lw.control.actuator(limit=..., motor=..., back_emf=...)`."""

    limit: Any = None
    motor: Any = None
    back_emf: bool = True  # made good by the controller

    def bind(self, target: DriveTarget, index: int, description: Description) -> PlacedActuator:
        if self.motor is None or self.motor is False:
            own = next((d.limits for d in description.drives if d.joint == target.name and d.limits != (None, None)), None)
            return PlacedActuator(target, index, effort_limits(own if self.limit is None else self.limit, target))
        if self.limit is not None:
            raise UsageError(
                f"the motor of '{target.name}' is limited by its plate, "
                "lw.drives.dc_motor(supply_voltage='24 V', max_current='10 A'): drop limit=.",
                name=target.name,
            )
        plate = _plate(self.motor, target, description)
        need_place_for_rotor(plate, target)
        return PlacedActuator(target, index, None, plate, self.back_emf)


@dataclass(frozen=True)
class PlacedActuator:
    """An actuator at its joint."""

    target: DriveTarget
    index: int
    limit: tuple[float, float] | None = None  # the least and the largest effort
    motor: DCMotor | None = None
    back_emf: bool = True

    def drive(self) -> Bound:
        """The drive that a controller's command acts through."""
        reading = Reading(Commanded(self.index))
        return BoundEffort(self.target, reading) if self.motor is None else BoundVoltage(self.target, reading, self.motor)

    @property
    def armature(self) -> float:
        return 0.0 if self.motor is None else float(self.motor.armature)

    def command(self, effort: Any, speed: Any) -> tuple[Any, Any]:
        """(effort or voltage to command, 1 where it can be given in full, falling to 0 where a limit cuts off a share of it)."""
        if self.motor is not None:
            wanted = voltage_for(self.motor, effort, speed, self.back_emf)
            given = terminal_voltage(self.motor, wanted, self.motor.gear_ratio * speed)
            return given, _in_full(wanted, given)
        if self.limit is None:
            return effort, 1.0
        given = limited(effort, self.limit)
        return given, _in_full(effort, given)

    @property
    def limits(self) -> bool:
        """True if it may give less than is asked for."""
        return self.limit is not None or self.motor is not None

    @property
    def rating(self) -> float | None:
        """The largest effort at rest; None where nothing limits it."""
        if self.motor is None:
            return largest_effort(self.limit)
        torque = self.motor.torque_at_rest
        return None if torque is None else float(torque * abs(self.motor.gear_ratio))

    def span(self, speed: Any) -> tuple[Any, Any]:
        """The least and the largest effort it can give at this speed."""
        if self.motor is None:
            low, high = (-HUGE, HUGE) if self.limit is None else self.limit
            return max(low, -HUGE), min(high, HUGE)
        if self.motor.supply_voltage is None and self.motor.max_current is None:
            return -HUGE, HUGE
        ends = [flow(self.motor, terminal_voltage(self.motor, v, self.motor.gear_ratio * speed), speed).effort for v in (-HUGE, HUGE)]
        return (ends[0], ends[1]) if self.motor.gear_ratio > 0.0 else (ends[1], ends[0])

    def given(self, effort: Any, speed: Any) -> Any:
        """The effort at the joint when this one is asked for; a motor's current is taken as settled."""
        command, _ = self.command(effort, speed)
        return command if self.motor is None else flow(self.motor, command, speed).effort


def _in_full(wanted: Any, given: Any) -> Any:
    """1 where all is given, 0 where more than `CUT` is missing, straight between: an integral that stopped at once would chatter."""
    missing = wanted - given
    missing = where(real(missing) < 0.0, -missing, missing)
    size = where(real(wanted) < 0.0, -wanted, wanted)
    share = missing / where(real(size) > ZERO_COMMAND, size, ZERO_COMMAND)
    return where(real(share) < CUT, 1.0 - share / CUT, 0.0)


def voltage_for(m: DCMotor, effort: Any, speed: Any, back_emf: bool = True) -> Any:
    """The voltage at which a motor gives an effort at its joint, its inductance left aside: `forces.dc_motor.flow` turned round."""
    w = m.gear_ratio * speed
    slip = np.tanh(w / m.friction_speed)
    at_load = effort / m.gear_ratio
    # the gearbox takes a share of T_s that depends on its sign alone, which is that of the effort
    share = where(real(at_load) < 0.0, -gearbox_loss(m.efficiency, -1.0, slip), gearbox_loss(m.efficiency, 1.0, slip))
    T_s = at_load / (1.0 - share)
    current = (T_s + m.viscous * w + m.friction * slip) / m.Kt if back_emf else T_s / m.Kt
    return m.R * current + (m.Ke * w if back_emf else 0.0)


def _plate(given: Any, target: DriveTarget, description: Description) -> DCMotor:
    if isinstance(given, DCMotor):
        return given
    if isinstance(given, Mapping):
        return motor_of(given)
    if given is not True:
        raise UsageError(
            f"motor of '{target.name}': pass lw.drives.dc_motor(Kt=..., R=...), or True for the model's own, not {type(given).__name__}.",
            name=target.name,
            value=given,
        )
    own = next((d for d in description.drives if d.joint == target.name and d.kind == "dc_motor"), None)
    if own is None:
        raise UsageError(
            f"'{target.name}' has no motor: the model gives it no `dc_motor`. Pass motor=lw.drives.dc_motor(...).", name=target.name
        )
    return motor_of(dict(own.motor))
