"""Drives of a model as MuJoCo's actuators: a motor each, whose control is the torque or force over the gear, or a servo.

A constant torque becomes the control of the keyframe. Laws that grow linearly with coordinates and speeds are servos (`servos`). Prescribed
motions, other laws and the electric side of DC motors have no place in MJCF: `lost` names them.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.coordinates import lengths
from linkwright.model.description import Drive, Table
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.mujoco.forces import OPEN, MujocoForces, numbers
from linkwright.rings.exchange.writing.mujoco.map import placed_pieces
from linkwright.rings.exchange.writing.mujoco.servos import Servo, servos
from linkwright.system.system import System
from linkwright.text.expressions import free_variables

LAWS = {
    "speed": "its prescribed speed: there a motor, whose torque is the input",
    "position": "its prescribed motion: there a motor, whose torque is the input",
    "moves": "its prescribed motion: there a motor, whose torque is the input",
    "motor_dc": "a DC motor: only its torque is an input there",
}


class Drives(NamedTuple):
    """Actuators by their element and attributes, the controls of the start, sums of coordinates that servos act on, and what is lost."""

    actuators: list[tuple[str, dict[str, str]]]
    start: list[float]
    tendons: list[tuple[str, dict[str, float]]]  # name, coefficients by joint of the text
    lost: list[Loss]

    @classmethod
    def of(cls, system: System) -> Drives:
        out, written = cls([], [], [], []), system.kernels.described
        every = [(s, some) for s, some in servos(written.drives, dict(written.parameters)) if _can_be_held(system, s)]
        of_drive = {d.joint: (servo, some) for servo, some in every for d in some}
        for drive in system.description.drives:
            servo, some = of_drive.get(drive.joint, (None, ()))
            if servo is None:
                out._motor(system, drive)
            elif some[0].joint == drive.joint:
                out._servo(system, servo)
        return out

    def _motor(self, system: System, drive: Drive) -> None:
        self.actuators.append(("motor", {"name": drive.joint, **_transmission(system, drive.joint), **_limits(drive)}))
        constant = drive.kind == "torque" and isinstance(drive.value, (int, float))
        self.start.append(float(drive.value) if constant else 0.0)
        law = "" if constant or drive.kind == "free" else f"its law {_over(drive.value)}: the control is an input there"
        why = LAWS.get(drive.kind, law)
        if why:
            self.lost.append(Loss(drive.joint, why, "drive"))

    def _servo(self, system: System, servo: Servo) -> None:
        """Write a servo with the limits of its joints, if they are those of one force."""
        taken = {d.joint for d in system.description.drives} - {x for x, _ in servo.coefficients}
        name = f"{servo.name}_servo" if servo.name in taken else servo.name
        joint, gear = servo.coefficients[0]
        on = _transmission(system, joint) | ({} if gear == 1.0 else {"gear": numbers([gear])})
        if len(servo.coefficients) > 1:
            self.tendons.append((f"sum:{name}", {_transmission(system, x)["joint"]: c for x, c in servo.coefficients}))
            on = {"tendon": f"sum:{name}"}
        drives = {d.joint: d for d in system.description.drives}
        ends = [_ends(drives[x], c) for x, c in servo.coefficients]
        first = ends[0]
        if any(not np.allclose(x, first, rtol=1e-9, atol=0.0) for x in ends):
            why = "limits of its effort: those of the joints of a servo differ"
            self.lost.extend(Loss(x, why, "drive") for x, _ in servo.coefficients)
        elif first != (-OPEN, OPEN):
            on["forcerange"] = numbers(first)
        self.actuators.append(("general", {"name": name, **on, **_law(servo)}))
        self.start.append(servo.control)

    def controls(self, others: int) -> list[float]:
        """Controls of the keyframe: those of the drives, then as many zeros as there are other actuators."""
        return [*self.start, *([0.0] * others)]


def _over(value: Any) -> str:
    """Say what a law depends on."""
    names = {value.channel} if isinstance(value, Table) else free_variables(value)
    return "over time" if names <= {"t"} else f"of {', '.join(sorted(names))}"


def _can_be_held(system: System, servo: Servo) -> bool:
    """True if all coordinates of a servo are joints of the text."""
    tendons, names = lengths(system.description), [x for x, _ in servo.coefficients]
    if any(x in tendons for x in names):
        return len(names) == 1
    return all(system.assembler.coordinate(x)[0].name in system.tree.node_of_joint for x in names)


def _ends(drive: Drive, gear: float) -> tuple[float, float]:
    """Bounds of the force before a gear."""
    lower, upper = (None if x is None else float(x) / gear for x in (drive.limits if gear > 0.0 else drive.limits[::-1]))
    return -OPEN if lower is None else lower, OPEN if upper is None else upper


def _law(servo: Servo) -> dict[str, str]:
    gain = {"gaintype": "affine"} if any(servo.gain[1:]) else {"gaintype": "fixed"}
    return {**gain, "gainprm": numbers(servo.gain), "biastype": "affine", "biasprm": numbers(servo.bias)}


def _transmission(system: System, name: str) -> dict[str, str]:
    """The joint or tendon that a drive of ours means."""
    if name in lengths(system.description):
        return {"tendon": name}
    joint, i, _ = system.assembler.coordinate(name)
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
    """Write the actuators of the drives, then the actuators that stand for forces."""
    section = xml.Element("actuator")
    for kind, attributes in drives.actuators:
        xml.SubElement(section, kind, attributes)
    for bias in forces.actuators:
        xml.SubElement(section, "general", bias)
    if len(section):
        root.append(section)
