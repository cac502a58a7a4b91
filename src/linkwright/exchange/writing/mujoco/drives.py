"""Drives of a model as MuJoCo's actuators: a motor each, whose control is the torque or force over the gear.

A constant torque becomes the control of the keyframe. Prescribed motions, laws over time and the electric side of DC motors have
no place in MJCF: `lost` names them.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.etree import ElementTree as xml

from linkwright.errors import UsageError
from linkwright.exchange.writing.losses import Loss
from linkwright.exchange.writing.mujoco.forces import OPEN, MujocoForces, numbers
from linkwright.exchange.writing.mujoco.map import placed_pieces
from linkwright.model.description import Drive
from linkwright.system.system import System

LAWS = {
    "speed": "its prescribed speed: there a motor, whose torque is the input",
    "position": "its prescribed motion: there a motor, whose torque is the input",
    "moves": "its prescribed motion: there a motor, whose torque is the input",
    "motor_dc": "a DC motor: only its torque is an input there",
}


class Drives(NamedTuple):
    """Motors by their attributes, the controls of the start, and what is lost."""

    motors: list[dict[str, str]]
    start: list[float]
    lost: list[Loss]

    @classmethod
    def of(cls, system: System) -> Drives:
        out = cls([], [], [])
        for drive in system.description.drives:
            out.motors.append({"name": drive.joint, **_transmission(system, drive.joint), **_limits(drive)})
            constant = drive.kind == "torque" and isinstance(drive.value, (int, float))
            out.start.append(float(drive.value) if constant else 0.0)
            why = LAWS.get(drive.kind, "" if constant or drive.kind == "free" else "its law over time: the control is an input there")
            if why:
                out.lost.append(Loss(drive.joint, why, "drive"))
        return out

    def controls(self, others: int) -> list[float]:
        """Controls of the keyframe: those of the motors, then as many zeros as there are other actuators."""
        return [*self.start, *([0.0] * others)]


def _transmission(system: System, name: str) -> dict[str, str]:
    """The joint or tendon that a drive of ours means."""
    if name in {c.name for c in system.description.cylinders}:
        return {"tendon": name}
    joint, i, _ = system.coordinate(name)
    if joint.name not in system.tree.node_of_joint:
        raise UsageError(f"MuJoCo cannot drive the cut joint '{joint.name}'. Cut another joint of its loop with `cuts`.")
    node = system.tree.node_of_joint[joint.name]
    return {"joint": next(at for at in placed_pieces(system, node) if at.piece and at.piece.v.start == i).name}


def _limits(drive: Drive) -> dict[str, str]:
    """Gear, and the range of controls: limits of ours are at the joint, MuJoCo's before the gear."""
    gear = float(drive.gear)
    out = {} if gear == 1.0 else {"gear": numbers([gear])}
    if all(x is None for x in drive.limits):
        return out
    lower, upper = drive.limits
    ends: list[Any] = [-OPEN if lower is None else float(lower) / gear, OPEN if upper is None else float(upper) / gear]
    return {**out, "ctrlrange": numbers(sorted(ends)), "forcerange": numbers(sorted(ends))}


def actuators(root: xml.Element, drives: Drives, forces: MujocoForces) -> None:
    """Write the motors of the drives, then the actuators that stand for forces."""
    section = xml.Element("actuator")
    for motor in drives.motors:
        xml.SubElement(section, "motor", motor)
    for bias in forces.actuators:
        xml.SubElement(section, "general", bias)
    if len(section):
        root.append(section)
