"""Actuators of a compiled model: motors as torques with gear and limits, servos as laws of the coordinates they read.

MuJoCo's effort at a joint is gear times (gain times ctrl + bias), where gain and bias may depend on length and speed of the transmission,
gear times the coordinate. `forcerange` bounds the force before the gear, `ctrlrange` the control, `actfrcrange` the effort at the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwright.api import description, expressions, quaternion_rotation
from linkwright.rings.exchange.reading.mjcf.joints import MjcfTree
from linkwright.rings.exchange.reading.mjcf.mujoco_compiler import CompiledMjcf, mujoco
from linkwright.rings.exchange.reading.mjcf.names import IDENTIFIER, MjcfNames
from linkwright.rings.exchange.reading.mjcf.tendons import LineTendon, line_ends, tendon, transmission
from linkwright.rings.exchange.reading.notes import ImportNotes

OURS = "force:"  # begin of the names that the MJCF writer gives them


@dataclass
class MjcfDrives:
    """Drives by joint, loads of actuators at sites, forces along lines, and the targets and controls they name."""

    drives: dict[str, description.Drive] = field(default_factory=dict)
    loads: list[description.Load] = field(default_factory=list)
    cylinders: list[description.Cylinder] = field(default_factory=list)
    springs: list[description.CoilSpring] = field(default_factory=list)
    parameters: list[tuple[str, float]] = field(default_factory=list)

    def add(self, steady: description.Load | description.Cylinder | description.CoilSpring) -> None:
        """Add a force that needs no control."""
        if isinstance(steady, description.Load):
            self.loads.append(steady)
        elif isinstance(steady, description.Cylinder):
            self.cylinders.append(steady)
        else:
            self.springs.append(steady)


@dataclass(frozen=True)
class MjcfActuator:
    """An actuator of the simple kinds: force = gain ctrl + bias, on joints with coefficients, or at a site."""

    name: str
    gear: float
    gain: tuple[float, float, float]  # constant, by length, by speed
    bias: tuple[float, float, float]
    force: tuple[float | None, float | None]
    control: float
    control_range: tuple[float | None, float | None]
    terms: tuple[tuple[int, float], ...] = ()

    @property
    def is_motor(self) -> bool:
        return not any((*self.gain[1:], *self.bias))


def acting_joints(there: CompiledMjcf) -> set[int]:
    """Joints that laws of servos read: their names must be usable in expressions."""
    out: set[int] = set()
    for a in range(len(there.model.actuator_trntype)):
        terms = transmission(there.model, a)
        if terms and (len(terms) > 1 or np.any(there.model.actuator_biasprm[a]) or np.any(there.model.actuator_gainprm[a][1:3])):
            out |= {j for j, _ in terms}
    return out


def drives(there: CompiledMjcf, names: MjcfNames, tree: MjcfTree, control: np.ndarray, notes: ImportNotes) -> MjcfDrives:
    """Drives of all actuators that have a counterpart; `control` is ctrl at the start."""
    m, out = there.model, MjcfDrives()
    if m.opt.disableflags & mujoco().mjtDisableBit.mjDSBL_ACTUATION:
        notes.lose("all actuators, which the file switches off")
        return out
    by_joint: dict[int, list[tuple[MjcfActuator, float]]] = {}
    for a in range(len(m.actuator_trntype)):
        alone = steady(m, a, names)
        if alone is not None:
            out.add(alone)
            continue
        made = _actuator(m, a, names.actuators[a], control, notes)
        if made is None:
            continue
        if not made.terms:
            _site(m, a, made, names, out, notes)
        elif not all(j in tree.moving for j, _ in made.terms):
            notes.drop("held-joint actuator", made.name)
        else:
            for j, c in made.terms:
                by_joint.setdefault(j, []).append((made, c))
    places = {x.id: there.place(x) for x in there.spec.actuators}
    number = {name: a for a, name in names.actuators.items()}
    for j, several in by_joint.items():
        drive = _drive(m, j, several, names, out, notes)
        out.drives[drive.joint] = _replaced(drive, places.get(number[several[0][0].name]))
    return out


def _replaced(drive: description.Drive, where: Any) -> description.Drive:
    return description.Drive(drive.joint, drive.kind, drive.value, where=where, gear_ratio=drive.gear_ratio, limits=drive.limits)


# -------------------------------------------------------------------- what an actuator is
def _actuator(m: Any, a: int, name: str, control: np.ndarray, notes: ImportNotes) -> MjcfActuator | None:
    mj = mujoco()
    gains, biases, dynamics = mj.mjtGain, mj.mjtBias, mj.mjtDyn
    kind = int(m.actuator_gaintype[a]), int(m.actuator_biastype[a]), int(m.actuator_dyntype[a])
    simple = kind[0] in (gains.mjGAIN_FIXED, gains.mjGAIN_AFFINE) and kind[1] in (biases.mjBIAS_NONE, biases.mjBIAS_AFFINE)
    filters = (dynamics.mjDYN_INTEGRATOR, dynamics.mjDYN_FILTER, dynamics.mjDYN_FILTEREXACT)
    terms = transmission(m, a)
    at_site = int(m.actuator_trntype[a]) == mj.mjtTrn.mjTRN_SITE and int(m.actuator_trnid[a][1]) < 0
    if not simple or kind[2] not in (dynamics.mjDYN_NONE, *filters) or (not terms and not at_site):
        notes.drop("unsupported actuator", name)
        return None
    if kind[2] in filters:
        notes.lose(f"the activation dynamics of '{name}': its control acts at once")
    gain = [float(x) for x in m.actuator_gainprm[a][:3]]
    bias = [float(x) for x in m.actuator_biasprm[a][:3]] if kind[1] == biases.mjBIAS_AFFINE else [0.0, 0.0, 0.0]
    if kind[0] == gains.mjGAIN_FIXED:
        gain[1:] = [0.0, 0.0]
    between = _range(m.actuator_ctrllimited[a], m.actuator_ctrlrange[a])
    held = _clamped(float(control[a]) if a < len(control) else 0.0, between)
    return MjcfActuator(
        name,
        float(m.actuator_gear[a][0]),
        (gain[0], gain[1], gain[2]),
        (bias[0], bias[1], bias[2]),
        _range(m.actuator_forcelimited[a], m.actuator_forcerange[a]),
        held,
        between,
        terms,
    )


def _range(limited: Any, values: Any) -> tuple[float | None, float | None]:
    return (float(values[0]), float(values[1])) if limited else (None, None)


def _clamped(x: float, between: tuple[float | None, float | None]) -> float:
    low, high = between
    x = x if low is None else max(x, low)
    return x if high is None else min(x, high)


# -------------------------------------------------------------------- drives
def _drive(
    m: Any, j: int, several: list[tuple[MjcfActuator, float]], names: MjcfNames, out: MjcfDrives, notes: ImportNotes
) -> description.Drive:
    """The drive of a joint: one actuator with its gear, or the sum of several at the joint."""
    joint = names.joints[j]
    actuator, c = several[0]
    if len(several) == 1 and c == 1.0:
        value, gear = _force(actuator, names, out, notes), actuator.gear
    else:
        value, gear = 0.0, 1.0
        for one, coefficient in several:
            value = value + one.gear * coefficient * _force(one, names, out, notes)
        if len(several) > 1:
            notes.infer(f"the actuators {', '.join(x.name for x, _ in several)} act on '{joint}' together.")
    limits = _sum([_scaled(_force_limits(one), one.gear * coefficient) for one, coefficient in several])
    if m.jnt_actfrclimited[j]:
        limits = _within(limits, (float(m.jnt_actfrcrange[j][0]), float(m.jnt_actfrcrange[j][1])))
    return description.Drive(joint, "torque", value, gear_ratio=gear, limits=limits)


def _force(a: MjcfActuator, names: MjcfNames, out: MjcfDrives, notes: ImportNotes) -> Any:
    """The force of an actuator before its gear, as a number or as a law of coordinates."""
    if a.is_motor:
        return a.gain[0] * a.control
    target = _target(a, out, notes)
    if a.gain[0] and a.bias[1] == -a.gain[0] and not any(a.gain[1:]):
        return a.gain[0] * (target - _length(a, names, 1.0)) + a.bias[0] + _length(a, names, a.bias[2], ".v")
    gain = a.gain[0] + _length(a, names, a.gain[1]) + _length(a, names, a.gain[2], ".v")
    return gain * target + a.bias[0] + _length(a, names, a.bias[1]) + _length(a, names, a.bias[2], ".v")


def _length(a: MjcfActuator, names: MjcfNames, factor: float, rate: str = "") -> Any:
    """A factor times length or speed of the transmission: the gear times the sum of coordinates."""
    out: Any = 0.0
    for j, c in a.terms if factor else ():
        out = out + factor * a.gear * c * expressions.variable(f"{names.joints[j]}{rate}")
    return out


def _target(a: MjcfActuator, out: MjcfDrives, notes: ImportNotes) -> Any:
    """The control of a servo as a parameter, where its name can be one."""
    if not any(a.gain):
        return 0.0
    name = f"{a.name}_ctrl"
    if not IDENTIFIER.match(name):
        notes.infer(f"the servo '{a.name}' holds its control at {a.control:g}.")
        return a.control
    if name not in dict(out.parameters):
        out.parameters.append((name, a.control))
        notes.infer(f"the servo '{a.name}' became a torque law. Its control is the parameter '{name}' = {a.control:g}.")
    return expressions.variable(name)


# -------------------------------------------------------------------- limits
Range = tuple[float | None, float | None]


def _force_limits(a: MjcfActuator) -> Range:
    """Bounds of the force: forcerange, and ctrlrange of a motor."""
    return _within(a.force, _scaled(a.control_range, a.gain[0])) if a.is_motor else a.force


def _scaled(x: Range, by: float) -> Range:
    low, high = (None if value is None else by * value for value in x)
    return (low, high) if by >= 0.0 else (high, low)


def _within(a: Range, b: Range) -> Range:
    low = max((x for x in (a[0], b[0]) if x is not None), default=None)
    high = min((x for x in (a[1], b[1]) if x is not None), default=None)
    return low, high


def _sum(every: list[Range]) -> Range:
    low, high = ([x[i] for x in every] for i in (0, 1))
    return (
        None if any(x is None for x in low) else sum(x for x in low if x is not None),
        None if any(x is None for x in high) else sum(x for x in high if x is not None),
    )


# -------------------------------------------------------------------- sites
def _site(m: Any, a: int, made: MjcfActuator, names: MjcfNames, out: MjcfDrives, notes: ImportNotes) -> None:
    """A force and moment at a site, in the axes of its body."""
    s = int(m.actuator_trnid[a][0])
    body = names.bodies.get(int(m.site_bodyid[s]))
    if body is None or not made.is_motor:
        notes.drop("unsupported actuator", made.name)
        return
    R = quaternion_rotation(m.site_quat[s])
    gear = np.array(m.actuator_gear[a], float)
    parameter = f"{made.name}_ctrl"
    control: Any = made.control
    if IDENTIFIER.match(parameter):
        out.parameters.append((parameter, made.control))
        control = expressions.variable(parameter)
    force, moment = (tuple(float(x) * made.gain[0] * control for x in R @ part) for part in (gear[:3], gear[3:]))
    out.loads.append(
        description.Load(made.name, body, names.sites[s], (force[0], force[1], force[2]), (moment[0], moment[1], moment[2]), body)
    )
    notes.infer(f"the actuator '{made.name}' at the site '{names.sites[s]}' became a load on '{body}'.")
    if made.force != (None, None):
        notes.lose(f"the force limits of '{made.name}'")


# Actuators that push by themselves, whatever their control: loads at sites, forces and springs along the line between two sites.


def steady(m: Any, a: int, names: MjcfNames) -> description.Load | description.Cylinder | description.CoilSpring | None:
    """A load, a cylinder of constant force or a spring for an actuator without gain; None for all others."""
    mj = mujoco()
    kinds, name = mj.mjtTrn, names.actuators[a].removeprefix(OURS)
    idle = int(m.actuator_gaintype[a]) == mj.mjtGain.mjGAIN_FIXED and not m.actuator_gainprm[a][0]
    if not idle or int(m.actuator_biastype[a]) != mj.mjtBias.mjBIAS_AFFINE or int(m.actuator_dyntype[a]) != mj.mjtDyn.mjDYN_NONE:
        return None
    b = [float(x) for x in m.actuator_biasprm[a][:3]]
    kind, limited = int(m.actuator_trntype[a]), bool(m.actuator_forcelimited[a])
    if kind == kinds.mjTRN_SITE and not any(b[1:]) and not limited:
        return _load(m, a, name, b[0], names)
    found = tendon(m, int(m.actuator_trnid[a][0])) if kind == kinds.mjTRN_TENDON else None
    if not isinstance(found, LineTendon) or b[2] or limited:
        return None
    ends, gear = line_ends(m, found, names), float(m.actuator_gear[a][0])
    if not b[1]:
        return description.Cylinder(name, ends, gear * b[0])
    # push = gear (b0 + b1 gear L) = k (free - L)
    k = -b[1] * gear * gear
    return description.CoilSpring(name, ends, k, gear * b[0] / k) if k > 0.0 else None


def _load(m: Any, a: int, name: str, size: float, names: MjcfNames) -> description.Load | None:
    """A constant force and moment at a site, in axes of its body or of the world."""
    site, other = (int(x) for x in m.actuator_trnid[a][:2])
    body = names.bodies.get(int(m.site_bodyid[site]))
    if body is None or (other >= 0 and int(m.site_bodyid[other]) != 0):
        return None
    R = quaternion_rotation(m.site_quat[site if other < 0 else other])
    force, moment = (tuple(float(x) for x in size * (R @ part)) for part in np.array(m.actuator_gear[a], float).reshape(2, 3))
    axes = body if other < 0 else "world"
    return description.Load(name, body, names.sites[site], (force[0], force[1], force[2]), (moment[0], moment[1], moment[2]), axes)
