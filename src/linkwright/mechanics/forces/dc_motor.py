"""DC motor with a gearbox: voltage in, effort at the joint out, and where the power goes.

With the joint's speed v, ratio N, the motor's shaft turns at w = N v:

    L di/dt = u - R i - Ke w                 (L = 0: the current follows at once, R i = u - Ke w)  [Hoang2023 (4)-(7)]
    T_s = Kt i - b w - T_c tanh(w / w_s)     what the coils leave after the motor's own friction
    T = N (T_s - lost)                       at the joint; the rotor's inertia is N^2 J in the mass matrix

A gearbox of efficiency e loses 1 - e of what the motor sends to the load and, driven by it, 1/e - 1 of what arrives: always
against the flow of power. With s = tanh(w / w_s) both are one smooth function of speed,

    lost = |T_s| s (1/e - e)/2 - T_s s^2 (1 - e)^2/(2 e)

The power u i equals heat R i^2, magnetic L i di/dt, friction, gearbox loss and mechanical T v, less (Kt - Ke) i w, which is
zero for a motor that exists. What accelerates the rotor counts as mechanical and passes without loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.numerics.scalars import real, where


@dataclass(frozen=True, repr=False)
class DCMotor:
    """Data of the name plate, SI. `gear_ratio` is motor speed over joint speed (rad/m if the joint slides)."""

    Kt: Any
    R: Any
    Ke: Any = None  # the same as Kt
    L: Any = 0.0
    J: Any = 0.0
    viscous: Any = 0.0
    friction: Any = 0.0
    friction_speed: Any = 1.0
    gear_ratio: Any = 1.0
    efficiency: Any = 1.0
    supply_voltage: Any = None  # volts
    max_current: Any = None
    time_constant: Any = None  # L/R of a motor whose L is left out, s: no part of the equations

    def __post_init__(self) -> None:
        if self.Ke is None:
            object.__setattr__(self, "Ke", self.Kt)

    def __repr__(self) -> str:
        given = [f"{name}={value:g}" for name, value in vars(self).items() if value != getattr(type(self), name, None)]
        return f"lw.drives.dc_motor({', '.join(given)})"

    @property
    def armature(self) -> float:
        """Inertia of the rotor as the joint feels it."""
        return self.gear_ratio * self.gear_ratio * self.J

    @property
    def torque_at_rest(self) -> float | None:
        """Largest torque of the shaft at rest, at the rated voltage or the largest current. None if neither limits it."""
        currents = [x for x in (None if self.supply_voltage is None else self.supply_voltage / self.R, self.max_current) if x is not None]
        return self.Kt * min(currents) if currents else None

    @property
    def has_current(self) -> bool:
        """True if the current is a state of its own."""
        return bool(self.L > 0.0)


class Flow(NamedTuple):
    """A motor at one instant: voltage at its terminals, current and its rate, effort at the joint, speed of its shaft, powers."""

    voltage: Any
    current: Any
    current_rate: Any
    effort: Any
    speed: Any
    electric: Any
    heat: Any
    magnetic: Any
    friction: Any
    gearbox: Any
    mechanical: Any
    created: Any


def terminal_voltage(m: DCMotor, u: Any, w: Any) -> Any:
    """Voltage of an amplifier with limits: within the rated voltage, and not more than drives `max_current` through the coils.

    The current limit goes before the voltage limit. With inductance the current then approaches its limit and stays within.
    """
    if m.supply_voltage is not None:
        u = _within(u, -m.supply_voltage, m.supply_voltage)
    if m.max_current is not None:
        u = _within(u, m.Ke * w - m.R * m.max_current, m.Ke * w + m.R * m.max_current)
    return u


def flow(m: DCMotor, u: Any, v: Any, i: Any = None) -> Flow:
    """Everything about a motor at voltage u and joint speed v; `i` is the current where it is a state."""
    w = m.gear_ratio * v
    u = terminal_voltage(m, u, w)
    rate: Any = 0.0
    if i is None:
        i = (u - m.Ke * w) / m.R
    else:
        rate = (u - m.R * i - m.Ke * w) / m.L
    slip = np.tanh(w / m.friction_speed)
    rubbing = m.viscous * w + m.friction * slip
    T_s = m.Kt * i - rubbing
    lost = gearbox_loss(m.efficiency, T_s, slip)
    effort = m.gear_ratio * (T_s - lost)
    return Flow(
        voltage=u,
        current=i,
        current_rate=rate,
        effort=effort,
        speed=w,
        electric=u * i,
        heat=m.R * i * i,
        magnetic=m.L * i * rate,
        friction=rubbing * w,
        gearbox=lost * w,
        mechanical=effort * v,
        created=(m.Kt - m.Ke) * i * w,
    )


def gearbox_loss(efficiency: Any, torque: Any, slip: Any) -> Any:
    """Torque on the motor's side that a gearbox takes, against the motion; slip = tanh(w / w_s)."""
    e = efficiency
    size = where(real(torque) < 0.0, -torque, torque)
    return size * slip * (0.5 * (1.0 / e - e)) - torque * slip * slip * (0.5 * (1.0 - e) * (1.0 - e) / e)


def _within(x: Any, low: Any, high: Any) -> Any:
    x = where(real(x) < real(low), low, x)
    return where(real(x) > real(high), high, x)
