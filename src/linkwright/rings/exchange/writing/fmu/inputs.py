"""Inputs of an FMU: efforts, voltages, prescribed motions and wrenches that come from outside, and the drives that stay inside.

    torque, force   an effort in a joint or cylinder                       A.torque
    voltage         at the terminals of the joint's DC motor               A.voltage
    position        of a joint or cylinder, through a second-order filter  A.position
    speed           likewise, through a first-order filter                 A.speed
    motion          position, speed and acceleration that belong together  A.position, A.speed, A.acceleration
    wrench          moment and force on a body at its origin, world axes   platform.wrench.fx ...
    parameter       of the model, in laws of efforts, loads, springs       gripper_ctrl

A filtered input may jump: the motion that follows it has continuous speed. Its two states are the position and speed that the joint has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import Instant, LinkwrightError, State, UsageError, compiled_of, curve_lines, drive_base, movable, nearest
from linkwright.drives import DRIVES, Moves, Position, Speed, Torque, Voltage
from linkwright.drives.base import target
from linkwright.drives.effort import BoundEffort
from linkwright.drives.input_equations import InputEquations, Push, cannot_be_traced
from linkwright.drives.motion import BoundMotion
from linkwright.drives.voltage import KEYS, BoundVoltage, recorded
from linkwright.mechanics.forces.dc_motor import DCMotor, flow
from linkwright.rings.exchange.writing.fmu.laws import PARAMETER, steered_kind

FILTER = 0.01  # s: time constant of filtered motions
MOTIONS = ("position", "speed", "motion")
KINDS_OF_INPUT = ("torque", "force", "voltage", *MOTIONS, "wrench")
AXES = {"m": "torque", "f": "force"}


class FmuVariable(NamedTuple):
    """A number that comes in from outside: an input or a parameter."""

    name: str
    dimension: str  # key of the unit system; "" where it has none
    start: float
    about: str
    tunable: bool = False  # of a parameter: may change during a run
    rate: int = -1  # of an input: place of the one that is its derivative


class DriveState(NamedTuple):
    """A state that a drive brings: its name, start, size and dimension, and the input it starts from (-1: none)."""

    name: str
    start: float
    size: float
    dimension: str
    follows: int = -1


@dataclass(frozen=True, eq=False)
class ExternalValue:
    """A signal from outside: a symbol, while the equations are traced."""

    symbol: Any
    traceable = True

    def value(self, t: Any) -> Any:
        return self.symbol


@dataclass(frozen=True, eq=False)
class ExternalMotor:
    """A motor whose voltage and data come from outside; `plate` is the motor as written, on numbers."""

    plate: BoundVoltage
    signal: Any  # an ExternalValue
    motor: DCMotor
    moves = False
    every = 0.0
    notes = ()

    @property
    def target(self) -> drive_base.DriveTarget:
        return self.plate.target

    @property
    def states(self) -> tuple[tuple[str, float, float], ...]:
        return self.plate.states

    @property
    def armature(self) -> float:
        return self.plate.armature

    @property
    def channels(self) -> Mapping[str, str]:
        return self.plate.channels

    def doing(self, here: Instant, x: Any, held: Any) -> drive_base.DriveOutput:
        f = self._flow(here, x)
        return drive_base.DriveOutput(f.effort, rates=(f.current_rate,) if self.plate.motor.has_current else ())

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        return recorded(self._flow(here, x), self.plate.motor.Kt != self.plate.motor.Ke)

    def _flow(self, here: Instant, x: Any) -> Any:
        return flow(
            self.motor, drive_base.value_at(self.signal, here), self.target.speed(here), x[0] if self.plate.motor.has_current else None
        )


@dataclass(frozen=True, eq=False)
class ExternalMotion:
    """A coordinate that follows values from outside, at once or through a filter with time constant T:

    position   x'' = (u - x) / T^2 - 2 x' / T          speed   x'' = (u - x') / T
    """

    target: drive_base.DriveTarget
    kind: str
    values: Sequence[Any]
    time_constant: Any
    start: tuple[float, float]
    size: float
    moves = True
    every = 0.0
    armature = 0.0
    notes = ()
    signal = curve_lines.Constant(0.0)

    @property
    def states(self) -> tuple[tuple[str, float, float], ...]:
        if self.kind == "motion":
            return ()
        name = f"{self.target.name}.prescribed"
        return ((name, self.start[0], self.size), (f"{name}.v", self.start[1], self.size))

    @property
    def channels(self) -> dict[str, str]:
        return {f"{self.target.name}.{self.target.effort_kind}": self.target.effort_kind, f"{self.target.name}.power": "power"}

    def doing(self, here: Instant, x: Any, held: Any) -> drive_base.DriveOutput:
        if self.kind == "motion":
            return drive_base.DriveOutput(motion=(self.values[0], self.values[1], self.values[2]))
        T, (u,) = self.time_constant, self.values
        a = (u - x[0]) / (T * T) - 2.0 * x[1] / T if self.kind == "position" else (u - x[1]) / T
        return drive_base.DriveOutput(motion=(x[0], x[1], a), rates=(x[1], a))

    def record(self, here: Instant, x: Any, held: Any) -> list[Any]:
        return [1.0, self.values[1] if self.kind == "motion" else x[1]]


@dataclass(frozen=True, eq=False)
class ExternalDrive:
    """A drive whose input comes from outside, before symbols are put in."""

    target: drive_base.DriveTarget
    kind: str
    inputs: tuple[FmuVariable, ...]
    parameters: tuple[FmuVariable, ...] = ()
    plate: BoundVoltage | None = None
    start: tuple[float, float] = (0.0, 0.0)
    size: float = 1.0
    acting: BoundEffort | None = None  # gear and limits of an effort

    def bound(self, u: Sequence[Any], p: Sequence[Any]) -> drive_base.Bound:
        """The drive with values (symbols) of its inputs and parameters."""
        if self.plate is not None:
            data = dict(zip((x.name.rpartition(".")[2] for x in self.parameters), p, strict=True))
            same = self.plate.motor.Ke == self.plate.motor.Kt and "Ke" not in data
            return ExternalMotor(
                self.plate, ExternalValue(u[0]), replace(self.plate.motor, **data, **({"Ke": data["Kt"]} if same and "Kt" in data else {}))
            )
        if self.kind in MOTIONS:
            return ExternalMotion(self.target, self.kind, u, p[0] if p else FILTER, self.start, self.size)
        signal: Any = ExternalValue(u[0])
        bound = BoundEffort(self.target, drive_base.Reading(signal))
        return bound if self.acting is None else replace(self.acting, reading=bound.reading)

    def states(self, first: int) -> list[DriveState]:
        """States with the inputs they start from; `first` is the place of this drive's first input."""
        if self.plate is not None:
            return [DriveState(name, start, size, "current") for name, start, size in self.plate.states]
        bound = self.bound([0.0] * len(self.inputs), [FILTER] * len(self.parameters))
        kinds = (self.target.position_kind, self.target.speed_kind)
        follows = {"position": (first, -1), "speed": (-1, first)}.get(self.kind, (-1, -1))
        return [DriveState(*x, kind, at) for x, kind, at in zip(bound.states, kinds, follows, strict=False)]


@dataclass(frozen=True)
class ExternalWrench:
    """A wrench on a body that comes from outside; in a plane a moment and two forces."""

    body: str
    inputs: tuple[FmuVariable, ...]
    planar: bool

    def push(self, u: Sequence[Any]) -> Push:
        six = (0.0, 0.0, u[0], u[1], u[2], 0.0) if self.planar else tuple(u)
        return Push(self.body, six)


@dataclass(frozen=True, eq=False)
class InputPlan:
    """Drives and wrenches of an FMU: from outside, and inside; and the state it starts from."""

    external: tuple[ExternalDrive, ...]
    wrenches: tuple[ExternalWrench, ...]
    internal: tuple[drive_base.Bound, ...]
    start: State
    steered: tuple[FmuVariable, ...] = ()  # parameters of the model that are inputs, the last of them

    @property
    def inputs(self) -> list[FmuVariable]:
        """All inputs in order; places of derivatives count over all of them."""
        out: list[FmuVariable] = []
        for x in (*self.external, *self.wrenches):
            out += [v if v.rate < 0 else v._replace(rate=v.rate + len(out)) for v in x.inputs]
        return [*out, *self.steered]

    @property
    def parameters(self) -> list[FmuVariable]:
        return [v for x in self.external for v in x.parameters]

    @property
    def states(self) -> list[DriveState]:
        """States of all drives in the order of `bounds`."""
        out: list[DriveState] = []
        first = 0
        for x in self.external:
            out += x.states(first)
            first += len(x.inputs)
        kinds = {"current": "current", "prescribed": ""}
        for b in self.internal:
            kind = "current" if isinstance(b, BoundVoltage) else b.target.position_kind
            out += [DriveState(name, start, size, kinds.get(name.rpartition(".")[2]) or kind) for name, start, size in b.states]
        return out

    def bounds(self, u: Sequence[Any], p: Sequence[Any]) -> tuple[tuple[drive_base.Bound, ...], tuple[Push, ...]]:
        """Drives and wrenches with values (symbols) of all inputs and of the drives' parameters."""
        drives: list[drive_base.Bound] = []
        i = j = 0
        for x in self.external:
            drives.append(x.bound(u[i : i + len(x.inputs)], p[j : j + len(x.parameters)]))
            i, j = i + len(x.inputs), j + len(x.parameters)
        pushes = []
        for w in self.wrenches:
            pushes.append(w.push(u[i : i + len(w.inputs)]))
            i += len(w.inputs)
        return (*drives, *self.internal), tuple(pushes)

    @property
    def numeric(self) -> tuple[drive_base.Bound, ...]:
        """Drives with the start values of inputs and parameters."""
        return self.bounds([v.start for v in self.inputs], [v.start for v in self.parameters])[0]


# -------------------------------------------------------------------- reading


def read_inputs(system: Any, drive: Mapping[str, Any], inputs: Any, start: State | None) -> InputPlan:
    """The plan for the drives of a run, of which some become inputs: by default those with a constant value.

    inputs: a dict of kinds by joint, cylinder or body, a list of names, or None.
    """
    core = compiled_of(system)
    kinds = _kinds(system, drive, inputs)
    values = dict(system.description.parameters)
    steered = tuple(FmuVariable(n, "", float(values[n]), f"the parameter {n}") for n, kind in kinds.items() if kind == "parameter")
    kinds = {n: kind for n, kind in kinds.items() if kind != "parameter"}
    moved = {n: d for n, d in drive.items() if n not in kinds or (kinds[n] in MOTIONS and not isinstance(d, (Torque, Voltage)))}
    st = system._starting(moved) if start is None else start
    x = InputEquations(core, ()).here(_arrays(system, st))
    at = drive_base.Start(system.description, x, core.loops.kappa)
    bodies = {b.name for b in system.description.bodies[1:]}
    external, wrenches = [], []
    for name, kind in kinds.items():
        if kind == "wrench" and name in bodies:
            wrenches.append(_wrench(system, name))
        else:
            external.append(_external(target(core.loops.skel, name), kind, drive.get(name), at))
    internal = tuple(_internal(system, target(core.loops.skel, n), d, at, st) for n, d in drive.items() if n not in kinds)
    return InputPlan(tuple(external), tuple(wrenches), internal, st, steered)


def _arrays(system: Any, st: State) -> dict[str, np.ndarray]:
    parameters = np.array(system.kernels.defaults["parameters"], dtype=float)
    near = compiled_of(system).loops.skel.pack(st.references)
    return {"q": np.asarray(st.q), "v": np.asarray(st.v), "t": np.array([st.t]), "parameters": parameters, "near": near}


def _kinds(system: Any, drive: Mapping[str, Any], inputs: Any) -> dict[str, str]:
    """Kind of every input by name, checked."""
    if inputs is None:
        return {name: kind for name, d in drive.items() if (kind := _constant_kind(system, name, d))}
    if isinstance(inputs, str):
        inputs = [inputs]
    if not isinstance(inputs, (Mapping, Iterable)):
        raise UsageError(
            f"inputs is a dict, inputs={{'A': 'torque'}}, or a list of names, not {type(inputs).__name__}.", name="inputs", value=inputs
        )
    given = dict(inputs) if isinstance(inputs, Mapping) else dict.fromkeys(inputs)
    d = system.description
    bodies = [b.name for b in d.moving]
    movers = movable(d)
    out: dict[str, str] = {}
    for name, kind in given.items():
        known = str(name) in bodies or str(name).partition(".")[0] in movers
        if kind == PARAMETER or (kind is None and not known and name in dict(d.parameters)):
            out[str(name)] = steered_kind(system.kernels.described, str(name))
            continue
        if not known:
            every = [*movers, *bodies, *dict(d.parameters)]
            raise UsageError(f"inputs: there is no joint, cylinder, body or parameter '{name}'.", nearest(str(name), every, "Names"))
        found = _own_kind(system, str(name), drive, bodies) if kind is None else str(kind)
        if found not in KINDS_OF_INPUT:
            raise UsageError(f"inputs: '{name}' cannot be a {found!r}.", nearest(found, [*KINDS_OF_INPUT, PARAMETER], "Kinds"))
        if (found == "wrench") != (str(name) in bodies) and (found == "wrench" or str(name) not in movers):
            what = "a joint or cylinder, which has no wrench" if found == "wrench" else f"a body, which has no {found}"
            raise UsageError(f"inputs: '{name}' is {what}. Joints take {', '.join(KINDS_OF_INPUT[:-1])}. Bodies take wrench.", name=name)
        out[str(name)] = found
    return out


def _own_kind(system: Any, name: str, drive: Mapping[str, Any], bodies: Sequence[str]) -> str:
    """The kind of input that belongs to a drive as it is: an effort where there is none, a wrench for a body."""
    d = drive.get(name)
    if d is None and name in bodies and name not in {j.name for j in system.description.joints}:
        return "wrench"
    if isinstance(d, Voltage):
        return "voltage"
    if isinstance(d, Speed):
        return "speed"
    if isinstance(d, (Position, Moves)):
        return "motion"
    return target(compiled_of(system).loops.skel, name).effort_kind


def _constant_kind(system: Any, name: str, d: Any) -> str:
    """The kind of a drive with a constant value; empty for laws over time, which stay inside."""
    if type(d) not in DRIVES.values():
        return ""
    on = target(compiled_of(system).loops.skel, name)
    at = drive_base.Start(system.description, system.start.instant, compiled_of(system).loops.kappa)
    if isinstance(d, Moves) or not isinstance(d.bind(on, at).signal, curve_lines.Constant):
        return ""
    return "position" if isinstance(d, Position) else _own_kind(system, name, {name: d}, ())


def _external(on: drive_base.DriveTarget, kind: str, d: Any, at: drive_base.Start) -> ExternalDrive:
    name = on.name
    if kind in ("torque", "force"):
        if kind != on.effort_kind:
            raise UsageError(f"inputs: '{name}' takes a {on.effort_kind}, not a {kind}.", name=name)
        start, own = _effort_at_start(d, on, at), next((x for x in at.description.drives if x.joint == name), None)
        limits = None if own is None or own.limits == (None, None) else own.limits
        acting = d.bind(on, at) if isinstance(d, Torque) and (d.limits is not None or d.gear_ratio != 1.0) else None
        acting = Torque(0.0, gear_ratio=1.0 if own is None else own.gear_ratio, limits=limits).bind(on, at) if acting is None else acting
        note = "" if acting.gear_ratio == 1.0 else f", before the gear {acting.gear_ratio:g}"
        return ExternalDrive(on, kind, (FmuVariable(f"{name}.{kind}", kind, start, f"{kind} in {name}{note}"),), acting=acting)
    if kind == "voltage":
        plate = (d if isinstance(d, Voltage) else Voltage(0.0)).bind(on, at)
        volts = _value_at_start(plate, at)
        u = FmuVariable(f"{name}.voltage", "voltage", volts, f"voltage at the motor of {name}")
        return ExternalDrive(on, kind, (u,), tuple(_motor_data(plate)), plate)
    if not on.alone:
        raise UsageError(
            f"inputs: the motion of '{name}' cannot be prescribed: its joint has several degrees of freedom. Use an effort.", name=name
        )
    where, speed, acceleration = _motion_at_start(d, on, at)
    size = 1.0 if on.rotary else float(at.kappa)
    kinds = (on.position_kind, on.speed_kind, on.on.acceleration_kind)
    every = [
        FmuVariable(f"{name}.{part}", of, value, f"prescribed {part} of {name}")
        for part, of, value in zip(("position", "speed", "acceleration"), kinds, (where, speed, acceleration), strict=True)
    ]
    if kind == "motion":
        linked = (every[0]._replace(rate=1), every[1]._replace(rate=2), every[2])
        return ExternalDrive(on, kind, linked, start=(where, speed), size=size)
    T = FmuVariable(f"{name}.filter", "time", FILTER, f"time constant of the filter of {name}.{kind}")
    chosen = every[0] if kind == "position" else every[1]
    return ExternalDrive(on, kind, (chosen,), (T,), start=(where, 0.0 if kind == "position" else speed), size=size)


def _effort_at_start(d: Any, on: drive_base.DriveTarget, at: drive_base.Start) -> float:
    return _value_at_start(d.bind(on, at), at) if isinstance(d, Torque) else 0.0


def _value_at_start(bound: Any, at: drive_base.Start) -> float:
    """Value of a drive's law at the start; zero where it cannot be asked."""
    try:
        return float(drive_base.value_at(bound.signal, at.here))
    except (LinkwrightError, TypeError, ValueError):
        return 0.0


def _motion_at_start(d: Any, on: drive_base.DriveTarget, at: drive_base.Start) -> tuple[float, float, float]:
    """Position, speed and acceleration of a motion at the start: of its law, or of the state."""
    if isinstance(d, (Speed, Position, Moves)):
        bound = d.bind(on, at)
        value, speed, acceleration = bound.law(at.here.t, [x for _, x, _ in bound.states])
        return float(value), float(speed), float(acceleration)
    return float(on.position(at.here)), float(on.speed(at.here)), 0.0


def _motor_data(plate: BoundVoltage) -> list[FmuVariable]:
    """Numbers of the name plate that are not zero."""
    m, name = plate.motor, plate.target.name
    out = []
    for key, dimension in KEYS.items():
        value = getattr(m, key)
        rubs = m.friction or m.efficiency < 1.0
        idle = value is None or value == 0.0 or (key == "efficiency" and value == 1.0) or (key == "friction_speed" and not rubs)
        if idle or (key == "Ke" and m.Ke == m.Kt):
            continue
        shown = "" if dimension == "pure number" or (key == "gear_ratio" and not plate.target.rotary) else dimension
        out.append(
            FmuVariable(f"motor.{name}.{key}", shown, float(value), f"{key} of the motor of {name}", tunable=key not in ("J", "ratio"))
        )
    return out


def _wrench(system: Any, body: str) -> ExternalWrench:
    d = system.description
    axes = ["mz", *(f"f{a}" for a in d.plane)] if d.planar else ["mx", "my", "mz", "fx", "fy", "fz"]
    about = "of a wrench from outside at the origin of"
    inputs = (FmuVariable(f"{body}.wrench.{a}", AXES[a[0]], 0.0, f"{'moment' if a[0] == 'm' else 'force'} {about} {body}") for a in axes)
    return ExternalWrench(body, tuple(inputs), d.planar)


def _internal(system: Any, on: drive_base.DriveTarget, d: Any, at: drive_base.Start, st: State) -> drive_base.Bound:
    """A drive that stays inside: its law must be one that can be compiled."""
    if not hasattr(d, "bind"):
        raise UsageError(
            f"drive of '{on.name}' is {type(d).__name__}. It must be torque, speed, position or voltage of lw.drives.", name=on.name
        )
    bound = d.bind(on, at)
    if isinstance(bound, BoundMotion) and not on.alone:
        raise UsageError(f"drive: the motion of '{on.name}' cannot be prescribed: its joint has several degrees of freedom.", name=on.name)
    advice = f"make it an input, inputs={{'{on.name}': '{_own_kind(system, on.name, {on.name: d}, ())}'}}."
    if bound.every:
        raise UsageError(
            f"the drive of '{on.name}' is sampled every {bound.every:g} s, which an FMU cannot do: {advice}", name=on.name
        )
    alone = InputEquations(compiled_of(system), (bound,))
    if isinstance(bound.signal, drive_base.Called) and cannot_be_traced(alone, bound.signal):
        raise UsageError(f"the {bound.signal.function.label} is Python code that cannot be compiled: {advice}")
    if not isinstance(bound.signal, drive_base.OfInstant) and not bound.signal.traceable:
        raise UsageError(f"the law of '{on.name}' has too many points to be compiled: {advice}", name=on.name)
    return bound
