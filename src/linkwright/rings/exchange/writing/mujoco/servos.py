"""Laws of drives that are servos: efforts that grow linearly with coordinates, speeds and one control, as actuators with gain and bias.

MuJoCo's force of an actuator is gain ctrl + bias, where both may be c0 + c1 length + c2 speed; at the joint acts gear times the force, and
the length is gear times the coordinate. Laws that read several coordinates act on a fixed tendon, whose length is the sum of coefficient
times coordinate. The control is a parameter named NAME_ctrl, as the reader of MJCF makes it, or the place or speed where the law vanishes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from linkwright.model.description import Drive
from linkwright.text.expressions import Expr, evaluate, evaluate_parameters, free_variables

CONTROL = "_ctrl"  # ending of a parameter that is a control
SAME = 1e-9  # share by which the laws of a tendon's joints may differ

Terms = dict[tuple[str, ...], float]  # product of variables -> factor


@dataclass(frozen=True)
class Servo:
    """Force = gain ctrl + bias of one actuator: constant, by length, by speed. `coefficients` by coordinate: length and effort."""

    name: str
    coefficients: tuple[tuple[str, float], ...]
    gain: tuple[float, float, float]
    bias: tuple[float, float, float]
    control: float


def servos(drives: tuple[Drive, ...], parameters: Mapping[str, Any]) -> list[tuple[Servo, tuple[Drive, ...]]]:
    """Servos among drives whose laws name parameters, each with the drives that it stands for."""
    values = evaluate_parameters(dict(parameters), {})
    groups: dict[str, list[Drive]] = {}
    for drive in drives:
        if drive.kind == "torque" and isinstance(drive.value, Expr):
            controls = [x for x in free_variables(drive.value) if x in values and x.endswith(CONTROL)]
            groups.setdefault(controls[0] if len(controls) == 1 else f"{drive.joint}{CONTROL}", []).append(drive)
    out = []
    for control, several in groups.items():
        found = _servo(control, several, values)
        if found is not None:
            out.append((found, tuple(several)))
    return out


def _servo(control: str, drives: list[Drive], values: Mapping[str, Any]) -> Servo | None:
    others = {name: x for name, x in values.items() if name != control}
    efforts: dict[str, Terms] = {}
    for drive in drives:
        terms = _terms(evaluate(drive.value, others))
        gear = float(evaluate(drive.gear, values))
        if terms is None:
            return None
        efforts[drive.joint] = {key: gear * x for key, x in terms.items() if x}
    first = drives[0]
    alone = {first.joint: float(evaluate(first.gear, values))} if len(drives) == 1 else None
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
        if any(abs(wanted.get(k, 0.0) - terms.get(k, 0.0)) > SAME * size for k in {*wanted, *terms}):
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
