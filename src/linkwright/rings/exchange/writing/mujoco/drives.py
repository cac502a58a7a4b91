"""Drives of a model as MuJoCo's actuators: a motor each, whose control is the torque or force over the gear, or a servo.

A constant torque becomes the control of the keyframe. Laws that grow linearly with coordinates and speeds are servos. Prescribed
motions, other laws and the electric side of DC motors have no place in MJCF: `lost` names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from xml.etree import ElementTree as xml

import numpy as np

from linkwright.api import SAME_NUMBER, Expr, System, UsageError, compiled_of, description, expressions, lengths
from linkwright.rings.exchange.writing.losses import Loss
from linkwright.rings.exchange.writing.mujoco.coordinate_map import placed_pieces
from linkwright.rings.exchange.writing.mujoco.forces import OPEN_END, MujocoForces, numbers

LAWS = {
    "speed": "its prescribed speed: there a motor, whose torque is the input",
    "position": "its prescribed motion: there a motor, whose torque is the input",
    "moves": "its prescribed motion: there a motor, whose torque is the input",
    "dc_motor": "a DC motor: only its torque is an input there",
}

CONTROL = "_ctrl"  # ending of a parameter that is a control

Terms = dict[tuple[str, ...], float]  # product of variables -> factor


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

    def _motor(self, system: System, drive: description.Drive) -> None:
        self.actuators.append(("motor", {"name": drive.joint, **_transmission(system, drive.joint), **_limits(drive)}))
        constant = drive.kind == "torque" and isinstance(drive.value, (int, float))
        self.start.append(float(drive.value) if constant else 0.0)
        law = "" if constant or drive.kind == "undriven" else f"its law {_over(drive.value)}: the control is an input there"
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
            why = "limits of its effort: the joints of a servo have different limits"
            self.lost.extend(Loss(x, why, "drive") for x, _ in servo.coefficients)
        elif first != (-OPEN_END, OPEN_END):
            on["forcerange"] = numbers(first)
        self.actuators.append(("general", {"name": name, **on, **_law(servo)}))
        self.start.append(servo.control)

    def controls(self, others: int) -> list[float]:
        """Controls of the keyframe: those of the drives, then as many zeros as there are other actuators."""
        return [*self.start, *([0.0] * others)]


def _over(value: Any) -> str:
    """Say what a law depends on."""
    names = {value.channel} if isinstance(value, description.Table) else expressions.free_variables(value)
    return "over time" if names <= {"t"} else f"of {', '.join(sorted(names))}"


def _can_be_held(system: System, servo: Servo) -> bool:
    """True if all coordinates of a servo are joints of the text."""
    tendons, names = lengths(system.description), [x for x, _ in servo.coefficients]
    if any(x in tendons for x in names):
        return len(names) == 1
    return all(compiled_of(system).assembler.coordinate(x)[0].name in system.tree.node_of_joint for x in names)


def _ends(drive: description.Drive, gear: float) -> tuple[float, float]:
    """Bounds of the force before a gear."""
    lower, upper = (None if x is None else float(x) / gear for x in (drive.limits if gear > 0.0 else drive.limits[::-1]))
    return -OPEN_END if lower is None else lower, OPEN_END if upper is None else upper


def _law(servo: Servo) -> dict[str, str]:
    gain = {"gaintype": "affine"} if any(servo.gain[1:]) else {"gaintype": "fixed"}
    return {**gain, "gainprm": numbers(servo.gain), "biastype": "affine", "biasprm": numbers(servo.bias)}


def _transmission(system: System, name: str) -> dict[str, str]:
    """The joint or tendon that a drive of ours means."""
    if name in lengths(system.description):
        return {"tendon": name}
    joint, i, _ = compiled_of(system).assembler.coordinate(name)
    if joint.name not in system.tree.node_of_joint:
        raise UsageError(f"MuJoCo cannot drive the cut joint '{joint.name}'. Cut another joint of its loop with `cuts`.", name=joint.name)
    node = system.tree.node_of_joint[joint.name]
    return {"joint": next(at for at in placed_pieces(system, node) if at.piece and at.piece.v.start == i).name}


def _limits(drive: description.Drive) -> dict[str, str]:
    """Gear, and the range of controls: limits of ours are at the joint, MuJoCo's before the gear."""
    gear = float(drive.gear_ratio)
    out = {} if gear == 1.0 else {"gear": numbers([gear])}
    if all(x is None for x in drive.limits):
        return out
    lower, upper = drive.limits
    ends: list[Any] = [-OPEN_END if lower is None else float(lower) / gear, OPEN_END if upper is None else float(upper) / gear]
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


# Laws of drives that are servos: efforts that grow linearly with coordinates, speeds and one control, as actuators with gain and bias.
#
# MuJoCo's force of an actuator is gain ctrl + bias, where both may be c0 + c1 length + c2 speed; at the joint acts gear times the force,
# and the length is gear times the coordinate. Laws that read several coordinates act on a fixed tendon, whose length is the sum of
# coefficient times coordinate. The control is a parameter named NAME_ctrl, as the reader of MJCF makes it, or the place or speed where the
# law vanishes.


@dataclass(frozen=True)
class Servo:
    """Force = gain ctrl + bias of one actuator: constant, by length, by speed. `coefficients` by coordinate: length and effort."""

    name: str
    coefficients: tuple[tuple[str, float], ...]
    gain: tuple[float, float, float]
    bias: tuple[float, float, float]
    control: float


def servos(drives: tuple[description.Drive, ...], parameters: Mapping[str, Any]) -> list[tuple[Servo, tuple[description.Drive, ...]]]:
    """Servos among drives whose laws name parameters, each with the drives that it stands for."""
    values = expressions.evaluate_parameters(dict(parameters), {})
    groups: dict[str, list[description.Drive]] = {}
    for drive in drives:
        if drive.kind == "torque" and isinstance(drive.value, Expr):
            controls = [x for x in expressions.free_variables(drive.value) if x in values and x.endswith(CONTROL)]
            groups.setdefault(controls[0] if len(controls) == 1 else f"{drive.joint}{CONTROL}", []).append(drive)
    out = []
    for control, several in groups.items():
        found = _servo(control, several, values)
        if found is not None:
            out.append((found, tuple(several)))
    return out


def _servo(control: str, drives: list[description.Drive], values: Mapping[str, Any]) -> Servo | None:
    others = {name: x for name, x in values.items() if name != control}
    efforts: dict[str, Terms] = {}
    for drive in drives:
        terms = _terms(expressions.evaluate(drive.value, others))
        gear = float(expressions.evaluate(drive.gear_ratio, values))
        if terms is None:
            return None
        efforts[drive.joint] = {key: gear * x for key, x in terms.items() if x}
    first = drives[0]
    alone = {first.joint: float(expressions.evaluate(first.gear_ratio, values))} if len(drives) == 1 else None
    if alone is not None and not _reads(efforts, control) <= {first.joint}:
        return None
    weights = _direction(efforts, control) if alone is None else alone
    found = None if weights is None else _along(control, weights, efforts)
    if found is None:
        return None
    found = _scaled(found) if alone is None else found
    return _with_control(found) if control not in values else replace(found, control=float(values[control]))


def _terms(x: Any) -> Terms | None:
    """An expression as a sum of products of variables; None where it is none."""
    if not isinstance(x, Expr):
        return {(): float(x)}
    if x.op == "var":
        return {(x.args[0],): 1.0}
    if x.op not in ("add", "sub", "mul", "div", "neg"):
        return None
    parts = [_terms(a) for a in x.args]
    a, b = parts[0], parts[-1]
    if a is None or b is None:
        return None
    if x.op == "neg":
        return {k: -v for k, v in a.items()}
    if x.op == "div":
        return {k: v / b[()] for k, v in a.items()} if list(b) == [()] and b[()] else None
    if x.op == "mul":
        out: Terms = {}
        for j, u in a.items():
            for k, v in b.items():
                key = tuple(sorted(j + k))
                out[key] = out.get(key, 0.0) + u * v
        return out
    sign = 1.0 if x.op == "add" else -1.0
    return {k: a.get(k, 0.0) + sign * b.get(k, 0.0) for k in (*a, *(k for k in b if k not in a))}


def _reads(efforts: Mapping[str, Terms], control: str) -> set[str]:
    """Coordinates that the laws read, by themselves or by their speed."""
    return {x.removesuffix(".v") for terms in efforts.values() for key in terms for x in key if x != control}


def _direction(efforts: Mapping[str, Terms], control: str) -> dict[str, float] | None:
    """Shares of the joints in the force of a tendon: those of the control."""
    shares = {joint: terms.get((control,), 0.0) for joint, terms in efforts.items()}
    most = max(shares.values(), key=abs)
    return {joint: x / most for joint, x in shares.items()} if all(shares.values()) else None


def _along(control: str, weights: Mapping[str, float], efforts: Mapping[str, Terms]) -> Servo | None:
    """The servo with these coefficients, if the efforts are those of one."""
    joint, at = next(iter(weights.items()))
    own = efforts[joint]

    def read(*key: str) -> float:
        return own.get(tuple(sorted(key)), 0.0) / (at if not set(key) - {control} else at * at)

    gain = (read(control), read(control, joint), read(control, f"{joint}.v"))
    bias = (read(), read(joint), read(f"{joint}.v"))
    found = Servo(control.removesuffix(CONTROL), tuple(weights.items()), gain, bias, 0.0)
    for name, terms in efforts.items():
        wanted = _written(found, control, name)
        size = max((abs(x) for x in (*wanted.values(), *terms.values())), default=0.0)
        if any(abs(wanted.get(k, 0.0) - terms.get(k, 0.0)) > SAME_NUMBER * size for k in {*wanted, *terms}):
            return None
    return found


def _written(servo: Servo, control: str, joint: str) -> Terms:
    """The effort of a servo in a joint."""
    weights = dict(servo.coefficients)
    out: Terms = {}
    for with_control, (constant, length, speed) in (((control,), servo.gain), ((), servo.bias)):
        out[with_control] = weights[joint] * constant
        for other, weight in weights.items():
            out[tuple(sorted((*with_control, other)))] = weights[joint] * weight * length
            out[tuple(sorted((*with_control, f"{other}.v")))] = weights[joint] * weight * speed
    return out


def _scaled(servo: Servo) -> Servo:
    """The same with coefficients in which the control is a length, or a speed, if it can be one."""
    by = next((-x / servo.gain[0] for x in servo.bias[1:] if x and servo.gain[0]), 1.0)
    gain, bias = ((x[0] / by, x[1] / by**2, x[2] / by**2) for x in (servo.gain, servo.bias))
    return replace(servo, coefficients=tuple((name, x * by) for name, x in servo.coefficients), gain=gain, bias=bias)


def _with_control(servo: Servo) -> Servo:
    """A law without a control as a servo that holds the place, or the speed, where it vanishes."""
    slope = next((-x for x in servo.bias[1:] if x), 0.0)
    if not slope:
        return servo
    return replace(servo, gain=(slope, 0.0, 0.0), bias=(0.0, *servo.bias[1:]), control=servo.bias[0] / slope)
