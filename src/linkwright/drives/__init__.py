"""Drives of a simulation: efforts, prescribed motions, voltages of DC motors; one file a kind.

    drive={"A": lw.drives.torque(lambda t, st: -2.0 * st["A.v"]), "lift": lw.drives.position(([0, 1, 2], ["0.4 m", "0.5 m", "0.4 m"]))}

A drive is a frozen object with a `kind` and `bind(target, start)`, which gives what `base.Bound` asks for. `actuation` binds all
drives of a run and makes the kernel that time steppers call for their inputs. Adding a kind: one file and one line in `actuation.DRIVES`.
"""

from __future__ import annotations

from typing import Any

from linkwright.drives.actuation import DRIVES, Actuation, actuation, drives_of_description, prescribed
from linkwright.drives.effort import Torque
from linkwright.drives.motion import Moves, Position, Speed
from linkwright.drives.voltage import Voltage, dc_motor
from linkwright.drives.voltage import motor_of as motor_of
from linkwright.errors import call_explained
from linkwright.mechanics.forces.dc_motor import DCMotor
from linkwright.model.curves.laws import law_factors


@call_explained
def torque(value: Any, *, every: Any = None, gear_ratio: Any = 1.0, limits: Any = None) -> Torque:
    """An effort in a joint: a torque if it turns, a force if it slides or in a cylinder.

    value: a number or text ("2 N m", "5 N m * sin(3 rad/s * t)"), (times, values), or a function of t or of (t, st) with
    st["A.v"]. (times, values) is a table: a monotone curve, constant outside; (times, values, "linear"), "cubic" or "periodic" joins
    the points in another way. every: seconds between samples ("1 ms"). The value is held in between, and the function, called once
    per sample, may remember. At the joint acts gear_ratio times the value, within limits: "20 N m" for both directions, or (low, high).
    """
    return Torque(value, every, gear_ratio, limits)


force = torque


@call_explained
def speed(value: Any) -> Speed:
    """A prescribed speed ("45 rpm") from the start position on: a number or text, (times, values) as in `torque`, or a function of t."""
    return Speed(value)


@call_explained
def position(value: Any) -> Position:
    """A prescribed position: a number ("90 deg", held there), (times, values), or a function of t.

    (times, values) is a table as in `torque`. Outside it continues at the end speed. "linear" is refused: the speed would jump.
    """
    return Position(value)


@call_explained
def moves(pieces: Any) -> Moves:
    """Moves and dwells by motion laws from the start position on, as `moves:` of the model file.

    pieces: a text ("90 deg in 0.4 s by modified_sine, dwell 0.2 s, 0 in 0.6 s") or a list of {"to": "90 deg", "in": "0.4 s", "law": "345"}
    and {"dwell": "0.2 s"}. Laws: cycloidal (default), modified_sine, modified_trapezoid, 345, 4567, harmonic, trapezoidal, straight.
    """
    return Moves(pieces)


@call_explained
def voltage(value: Any, *, every: Any = None, motor: DCMotor | Any = None, current: Any = 0.0) -> Voltage:
    """A voltage ("12 V") at the joint's DC motor: the model's `dc_motor`, or motor=lw.drives.dc_motor(Kt=..., R=...).

    value and every as in `torque`. current: at the start, of a motor with inductance.
    """
    return Voltage(value, every, motor, current)


def __getattr__(name: str) -> Any:
    if name == "motor":
        raise AttributeError("lw.drives.motor is now lw.drives.dc_motor.")
    raise AttributeError(f"module 'linkwright.drives' has no attribute '{name}'")


__all__ = [
    "DRIVES",
    "Actuation",
    "DCMotor",
    "Moves",
    "Position",
    "Speed",
    "Torque",
    "Voltage",
    "actuation",
    "dc_motor",
    "drives_of_description",
    "force",
    "law_factors",
    "moves",
    "position",
    "prescribed",
    "speed",
    "torque",
    "voltage",
]


def __dir__() -> list[str]:
    return sorted(__all__)
