"""The drives of one run put together: which motions are prescribed, which states they bring, the kernels, what is recorded.

a = actuation(system, {"A": lw.drives.voltage(12), "B": lw.drives.torque(f)}, st)
a.drivers, a.armature, a.x0, a.inputs(row), a.sampler(row), a.columns(...)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.program import Op, Program, interpret
from linkwright.compiler.switches import Switched, switched
from linkwright.drives.base import Bound, Called, Start, numbers, target, value_at
from linkwright.drives.effort import Torque
from linkwright.drives.input_equations import (
    DriveTraces,
    InputEquations,
    LawCache,
    agrees,
    cannot_be_traced,
    check_pure,
    inputs_kernel,
    is_native,
    key_of,
    named,
    packed,
    read_pushes,
    traces,
)
from linkwright.drives.motion import BoundMotion, Moves, Position, Speed, check_start
from linkwright.drives.voltage import Voltage, motor_of
from linkwright.errors import UsageError, counted
from linkwright.integrators import StepKernel, python_kernel
from linkwright.integrators.step import SAME_STEP
from linkwright.model.curves import MOST_TRACED
from linkwright.model.curves.piecewise import Periodic, Piecewise
from linkwright.model.description import Description
from linkwright.properties import cached_property
from linkwright.results.state import State

Column = tuple[np.ndarray, str]
DRIVES: dict[str, type] = {d.kind: d for d in (Torque, Speed, Position, Moves, Voltage)}


@dataclass(frozen=True, eq=False)
class Actuation:
    """Drives bound to a mechanism and a start."""

    equations: InputEquations
    start: dict[str, np.ndarray]  # the arrays that drives read, at the start
    every: float

    @cached_property
    def held(self) -> ZeroOrderHold:
        names = [b.target.name for b in self.equations.bounds if b.every]
        return ZeroOrderHold([*names, *(f"control {i}" for i in range(self._n_control))])

    @property
    def _n_control(self) -> int:
        """Slots of a sampled controller, which come last."""
        return 0 if self.equations.control is None else self.equations.control.n_held

    @cached_property
    def _key(self) -> Any:
        """Key of the traces and code cached with the mechanism; None if functions of the caller take part."""
        return key_of(self.equations)

    @cached_property
    def _traces(self) -> DriveTraces:
        key = None if self._key is None else ("traces", self._key)
        return LawCache.of(self.equations.system).get(key, lambda: traces(self.equations))

    @cached_property
    def program(self) -> Program | None:
        """The inputs as a program, where all functions can be traced and the trace is what they do."""
        if self.equations.constant:
            return None
        found = self._traces.inputs
        return found if found is None or not self.equations.functions or agrees(self.equations, found, self.start) else None

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Warnings, and how functions are called."""
        return tuple(_notes(self.equations, self.program))

    @property
    def how(self) -> str:
        """How the inputs are evaluated: constant, compiled, interpreted or called back."""
        if not self.needs_kernel:
            return "constant"
        if self.program is None:
            return "called back once per stage"
        return "compiled" if is_native(self.equations) else "interpreted"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return self.equations.bounds

    @property
    def drivers(self) -> tuple[str, ...]:
        """Joints and cylinders whose motion is prescribed, in the order of drive, speed and acceleration."""
        return tuple(b.target.name for b in self.bounds if b.moves)

    @cached_property
    def armature(self) -> np.ndarray:
        """Inertia of rotors, one entry for every velocity."""
        out = np.zeros(self.equations.sizes["v"])
        for b in self.bounds:
            if b.armature:
                out[b.target.entry] += b.armature
        return out

    @cached_property
    def states(self) -> list[tuple[str, float, float]]:
        control = self.equations.control
        return [*(s for b in self.bounds for s in b.states), *(() if control is None else control.states)]

    @property
    def x_names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.states)

    @property
    def x0(self) -> np.ndarray:
        return np.array([x for _, x, _ in self.states])

    @property
    def x_scale(self) -> np.ndarray:
        return np.array([size for _, _, size in self.states])

    @property
    def n_held(self) -> int:
        return self.equations.sizes["held"]

    @property
    def remembering(self) -> list[str]:
        """Drives whose functions are sampled, and so may remember what they gave."""
        return [b.target.name for b in self.bounds if b.every and isinstance(b.signal, Called)]

    @property
    def needs_kernel(self) -> bool:
        return not self.equations.constant

    @property
    def n_u(self) -> int:
        """Entries at the head of the parameters that the kernel writes: tau, drive, speed, acceleration."""
        return self.equations.sizes["v"] + 3 * len(self.drivers) if self.needs_kernel else 0

    @property
    def inputs_move(self) -> bool:
        return bool(self.drivers)

    @cached_property
    def tau0(self) -> np.ndarray:
        """Constant efforts in joints of the tree, if that is all."""
        return self.equations.inputs(self.start) if not self.needs_kernel else np.zeros(self.equations.sizes["v"])

    @property
    def counts_turns(self) -> bool:
        """True if the inputs read the reference coordinates of cut joints, and so must not turn far without renewing them."""
        if not self.needs_kernel or not self.equations.sizes["near"]:
            return False
        if self.program is None or self.n_held:
            return True
        span = next(b.span for b in self.program.inputs if b.name == "near")
        return any(op[0] == Op.INPUT and span.start <= op[1] < span.stop for op in self.program.ops)

    # ---------------------------------------------------------------- kernels

    def inputs(self, row: Any) -> StepKernel | None:
        """[tau, drive, speed, acceleration, rates of x] from a full row, with the sides of break points if the row has
        them. None if efforts are constant."""
        if not self.needs_kernel:
            return None
        sided = self.switched.program if self.switched is not None and "input sides" in row.sizes else self.program
        return inputs_kernel(self.equations, sided, row, self._key)

    @cached_property
    def switched(self) -> Switched | None:
        """The program with sides of its break points, or None without them."""
        found = None if self.program is None else switched(self.program, "input sides")
        return found if found is not None and found.count else None

    def corners(self, first: float, last: float) -> tuple[float, ...]:
        """Times between these at which curves over time have a corner, where no program has them as break points."""
        if not self.needs_kernel or self.program is not None:
            return ()
        found = [curve.corners(first, last) for curve in self.equations.curves]
        return tuple(np.unique(np.concatenate(found)).tolist()) if found else ()

    def sampler(self, row: Any, origin: float | None = None) -> StepKernel | None:
        """Held values from a full row. Called every `every` seconds from the origin (default: the start) on, it keeps what it gave."""
        if not self.n_held:
            return None
        steps = [round(every / self.every) for every in _sampled(self.equations)]
        t0 = float(self.start["t"][0]) if origin is None else origin

        def sample(x: np.ndarray) -> np.ndarray:
            there = named(self.equations, row.spans, x)
            t = float(there["t"][0])
            k = round((t - t0) / self.every)
            due = [k % n == 0 for n in steps]
            before = self.held.asked_already(t, self.every)
            there["held"] = np.array(there["held"])
            for i, slot in enumerate(self.held.slots[: len(self.held.slots) - self._n_control]):
                if slot in before:
                    there["held"][i], due[i] = before[slot], False
            values = self.equations.sample(there, due)
            self.held.note(t, values)
            return values

        return python_kernel(sample, row.n, self.n_held)

    # ---------------------------------------------------------------- what is recorded

    def columns(
        self, t: Any, q: Any, v: Any, x: Any = None, near: Any = None, lam_drivers: Any = None, a: Any = None, *, parameters: Any = None
    ) -> dict[str, Column]:
        """Return the channels of the drives over a run. Rows of all arrays belong to the times t.

        Parameters
        ----------
        t : array
            Times.
        q : array
            Positions.
        v : array
            Velocities.
        x : array, optional
            States of the drives.
        near : array, optional
            References of cut joints.
        lam_drivers : array, optional
            Multipliers of prescribed motions, which give their torques and forces. Without them these channels are left out.
        a : array, optional
            Accelerations, which give the torque on a motor's shaft.
        parameters : array, optional
            Values of the parameters that are inputs.

        Returns
        -------
        dict
            (values, dimension) by name.
        """
        n = len(t)
        rows = self._blocks(t, q, v, x, near, parameters)
        values = self._recorded(rows, n)
        out: dict[str, Column] = {}
        at = driver = 0
        for b in self.bounds:
            mine = values[:, at : at + len(b.channels)]
            at += len(b.channels)
            if b.every and not self.held.t:
                continue
            if b.moves:
                driver += 1
                if lam_drivers is None:
                    continue
                mine = mine * np.asarray(lam_drivers, dtype=float)[:, driver - 1 : driver]
            out |= {name: (mine[:, k].copy(), kind) for k, (name, kind) in enumerate(b.channels.items())}
            if b.armature and a is not None:
                effort = b.target.effort_kind
                shaft = mine[:, 0] - b.armature * np.asarray(a, dtype=float)[:, b.target.entry]
                out[f"motor.{b.target.name}.{effort}.shaft"] = (shaft, effort)
        if self.equations.control is not None:
            columns_of_control = enumerate(self.equations.control.channels.items(), start=at)
            out |= {name: (values[:, k].copy(), kind) for k, (name, kind) in columns_of_control}
        return out | self._wrenches(rows, n)

    def rows(self, t: Any, q: Any, v: Any, x: Any = None, *, near: Any = None, parameters: Any = None) -> np.ndarray:
        """Inputs of `program`, one row a time."""
        return packed(self.equations, self._blocks(t, q, v, x, near, parameters))

    def _blocks(self, t: Any, q: Any, v: Any, x: Any, near: Any, parameters: Any) -> dict[str, np.ndarray]:
        n = len(t)
        given = {"q": q, "v": v, "x": x, "t": np.asarray(t, dtype=float)[:, None], "near": near}
        given["parameters"] = self.start["parameters"] if parameters is None else parameters
        given["held"] = self.held.at(np.asarray(t)) if self.held.t else None
        return {k: self._rows(given[k], n, size) for k, size in self.equations.sizes.items()}

    def _wrenches(self, rows: dict[str, np.ndarray], n: int) -> dict[str, Column]:
        """Wrenches on bodies over a run, [moment; force] at their origins in world axes."""
        out: dict[str, Column] = {}
        for push in self.equations.pushes:
            if isinstance(push.values, tuple):
                values = np.tile(push.values, (n, 1))
            else:
                each = ({k: x[i] for k, x in rows.items()} for i in range(n))
                values = np.array([numbers(value_at(push.values, self.equations.here(x))) for x in each], dtype=float).reshape(n, 6)
            out[f"wrench.{push.body}"] = (values, "mixed")
        return out

    @staticmethod
    def _rows(values: Any, n: int, size: int) -> np.ndarray:
        if values is None or size == 0:
            return np.zeros((n, size))
        return np.broadcast_to(np.asarray(values, dtype=float)[..., :size], (n, size))

    def _recorded(self, rows: dict[str, np.ndarray], n: int) -> np.ndarray:
        if not sum(len(b.channels) for b in self.bounds) and self.equations.control is None:
            return np.zeros((n, 0))
        program = self.record_program
        if program is None:
            return np.array([self._record_at(rows, i) for i in range(n)], dtype=float).reshape(n, -1)
        found = interpret(program, packed(self.equations, rows))
        values, margin = found[:, :-1], found[:, -1]
        for i in np.flatnonzero(~(margin > 0.0)) if self.equations.control is not None else ():  # its program degenerates there
            values[i] = self._record_at(rows, int(i))
        return values

    def _record_at(self, rows: dict[str, np.ndarray], i: int) -> np.ndarray:
        return self.equations.record({k: x[i] for k, x in rows.items()})

    @cached_property
    def record_program(self) -> Program | None:
        """Program of the recorded channels, or None if the inputs are not traced."""
        if self.needs_kernel and self.program is None:
            return None
        return self._traces.record


def actuation(
    system: Any,
    drive: Mapping[str, Any] | None,
    st: State,
    *,
    wrench: Mapping[str, Any] | None = None,
    parameters: Any = None,
    check: bool = True,
    control: Any = None,
    off: Sequence[str] = (),
    first: bool = True,
    bound: tuple[Bound, ...] | None = None,
) -> Actuation:
    """Bind drives to a mechanism and the state a run starts from.

    Parameters
    ----------
    system : Compiled
        Mechanism that is driven: `lw.api.compiled_of(s)` of a System.
    drive : mapping, optional
        By joint (`A`, `C.slide`) or cylinder, one of `lw.drives` (torque, speed, position, voltage) each. Other joints move freely.
    st : State
        Start of the run.
    wrench : mapping, optional
        By body, [moment; force] at its origin in world axes: constant, or a function of t or of t and the state.
    parameters : array, optional
        Values of the parameters of `lw.compile(parameters=...)`.
    check : bool, default True
        False to accept a state off the prescribed motions, and to try no functions.
    control : BoundControl, optional
        Controller with its actuators, which drives the rest.
    off : sequence of str, default ()
        Loops that are switched off now.
    first : bool, default True
        Whether a run begins.
    bound : tuple, optional
        These drives, if they are bound to this start already.

    Returns
    -------
    Actuation
        Efforts, motions and channels of the drives.

    Examples
    --------
    >>> s = lw.api.compiled_of(lw.compile("wiper"))
    >>> lw.drives.actuation(s, {"A": lw.drives.speed("30 rpm")}, s.start, check=False).drivers
    ('A',)
    """
    equations, x = _bound(system, drive, st, wrench, parameters, check, bound)
    if control is not None:
        equations, x = _controlled(equations, x, control, st, off, first)
    if check:
        check_pure(equations, x)
        equations.inputs(x)  # what is simply wrong with a function shows here
    return Actuation(equations, x, _sampling(equations))


class Prescribed(NamedTuple):
    """Positions and speeds of coordinates whose motion is prescribed, by name, and the bound drives that they come from."""

    motions: dict[str, tuple[float, float]]
    bounds: tuple[Bound, ...]


def drives_of_description(description: Description) -> dict[str, Any]:
    """The `drive:` section of a model as drives of a simulation. A `dc_motor` without voltage has 0 V, `undriven` no effort."""
    out: dict[str, Any] = {}
    for d in description.numbers().drives:
        if d.kind == "moves":
            out[d.joint] = Moves(d.moves)
        elif d.kind == "dc_motor":
            out[d.joint] = Voltage(d.value, motor=motor_of(dict(d.motor)))
        elif d.kind == "undriven":
            out[d.joint] = Torque(0.0)
        elif d.kind == "torque":
            out[d.joint] = Torque(d.value, gear_ratio=d.gear_ratio, limits=None if d.limits == (None, None) else d.limits)
        else:
            out[d.joint] = DRIVES[d.kind](d.value)
    return out


def prescribed(system: Any, drive: Mapping[str, Any] | None, st: State) -> Prescribed:
    """Position and speed at the time of a state of every coordinate whose motion the drives prescribe."""
    equations, x = _bound(system, drive, st, None, None, False)
    out: dict[str, tuple[float, float]] = {}
    for b, (mine, _) in zip(equations.bounds, equations._places, strict=True):
        if isinstance(b, BoundMotion):
            value, speed, _ = b.law(st.t, x["x"][mine])
            if not np.isfinite([value, speed]).all():
                raise UsageError(
                    f"the prescribed motion of '{b.target.name}' is {float(value):g} at t = {float(st.t):.6g} s, its speed "
                    f"{float(speed):g}. Both must be finite.",
                    name=b.target.name,
                )
            out[b.target.name] = (float(value), float(speed))
    return Prescribed(out, equations.bounds)


def _bound(
    system: Any, drive: Any, st: State, wrench: Any, parameters: Any, check: bool, bounds: tuple[Bound, ...] | None = None
) -> tuple[InputEquations, dict[str, np.ndarray]]:
    """Drives bound to a state, and the arrays that they read there."""
    if drive is not None and not isinstance(drive, Mapping):
        raise UsageError("drive is a dict by joint name, drive={'A': lw.drives.torque('2 N m')}.", name="drive")
    skel = system.loops.skel
    targets = {name: target(skel, name) for name in drive or {}} if bounds is None else {}
    for name, d in (drive or {}).items():
        _check_drive(name, d)
    x = {
        "q": np.asarray(st.q, dtype=float),
        "v": np.asarray(st.v, dtype=float),
        "t": np.array([st.t], dtype=float),
        "parameters": np.array(system.kernels.defaults["parameters"] if parameters is None else parameters, dtype=float),
        "near": skel.pack(st.references),
    }
    start = Start(system.description, InputEquations(system, ()).here(x), system.loops.kappa)
    if bounds is None:
        bounds = tuple(d.bind(targets[name], start) for name, d in (drive or {}).items())
    equations = InputEquations(system, bounds, read_pushes(skel, wrench))
    x["x"] = np.array([value for b in bounds for _, value, _ in b.states])
    x["held"] = np.zeros(equations.sizes["held"])
    for b, (mine, _) in zip(bounds, equations._places, strict=True):
        if b.moves and not b.target.alone:
            several = "its joint has several degrees of freedom. Give an effort instead."
            raise UsageError(f"drive: the motion of '{b.target.name}' cannot be prescribed: {several}", name=b.target.name)
        if check and isinstance(b, BoundMotion):
            check_start(b, start, x["x"][mine])
    return equations, {k: x[k] for k in equations.sizes}


def _check_drive(name: str, d: Any) -> None:
    if hasattr(d, "bind"):
        return
    allowed = "lw.drives.torque, lw.drives.force, lw.drives.speed, lw.drives.position or lw.drives.voltage"
    if isinstance(d, (list, tuple)) and d and all(hasattr(x, "bind") for x in d):
        kinds = " and ".join(dict.fromkeys(x.kind for x in d))
        raise UsageError(
            f"'{name}' is driven by {len(d)} things at once ({kinds}), which contradict each other or add up: give one drive.", name=name
        )
    raise UsageError(
        f"drive of '{name}' is {type(d).__name__} {d!r:.40}. It must be one of {allowed}, such as lw.drives.torque('2 N m').", name=name
    )


def _controlled(
    equations: InputEquations, x: dict[str, np.ndarray], control: Any, st: State, off: Sequence[str], first: bool
) -> tuple[InputEquations, dict[str, np.ndarray]]:
    """The same drives with those a controller commands, and what it holds at the start."""
    system, parameters = equations.system, x["parameters"]
    armature = np.zeros(equations.sizes["v"])
    movers = []
    for b in equations.bounds:
        movers += [b.target.name] if b.moves else []
        if b.armature:
            armature[b.target.entry] += b.armature
    now = {"parameters": parameters, "drivers": movers, "armature": armature, "off": off, "first": first, "others": equations.has_others}
    loop, commanded = control.placed(system, st, **now)
    taken = {b.target.name for b in equations.bounds}
    for b in commanded:
        if b.target.name in taken:
            raise UsageError(f"'{b.target.name}' is driven by drive= and by the controller: leave it to one of them.", name=b.target.name)
    out = InputEquations(system, (*equations.bounds, *commanded), equations.pushes, loop)
    x["x"] = np.array([value for b in out.bounds for _, value, _ in b.states] + [value for _, value, _ in loop.states])
    x["held"] = np.concatenate([np.zeros(out.sizes["held"] - loop.n_held), loop.held_at_start])
    return out, {k: x[k] for k in out.sizes}


def _sampled(equations: InputEquations) -> list[float]:
    """Times between samples of everything sampled, a controller last."""
    control = equations.control
    return [*(b.every for b in equations.bounds if b.every), *([control.every] if control is not None and control.every else [])]


def _sampling(equations: InputEquations) -> float:
    """The shortest time between samples; the others are multiples of it."""
    times = {b.target.name: b.every for b in equations.bounds if b.every}
    if equations.control is not None and equations.control.every:
        times["the controller"] = equations.control.every
    if not times:
        return 0.0
    least = min(times.values())
    for name, every in times.items():
        if abs(every / least - round(every / least)) > 1e-6:
            raise UsageError(
                f"'{name}' is sampled every {every:g} s, which is not a multiple of {least:g} s, the shortest sampling time "
                "here.", name=name
            )
    return least


def _notes(equations: InputEquations, program: Program | None) -> list[str]:
    out = [note for b in equations.bounds for note in b.notes]
    if equations.control is not None:
        out += equations.control.notes
        if not equations.control.every and not equations.control.functions:
            called = "called back once per stage (its reference cannot be traced)"
            done = "compiled" if is_native(equations) else "interpreted"
            out.append(f"controller: {called if program is None else done}")
    for b in equations.bounds:
        if b.every:
            what = b.signal.function.label if isinstance(b.signal, Called) else f"drive of '{b.target.name}'"
            out.append(f"{what}: called once per sample, every {b.every:g} s")
    for s in equations.signals:
        if isinstance(s, (Piecewise, Periodic)) and not s.traceable:
            out.append(f"a drive has {counted(len(s.breaks), 'point')} (compiled up to {MOST_TRACED}): looked up in Python once per stage")
    for f in equations.functions:
        if program is not None:
            out.append(f"{f.function.label}: compiled")
        else:
            why = " (it cannot be traced)" if cannot_be_traced(equations, f) else ""
            out.append(f"{f.function.label}: called back once per stage{why}")
    return out


# ----------------------------------------------------------------------------------------------------
# Values that sampled drives and controllers hold between samples, and how a run continues with them after a switch
# Slots have names, because a switch may take a drive away (a lock) or give it back; what was held is found again by name.


class ZeroOrderHold:
    """A zero-order hold: values of a sampler and their times."""

    def __init__(self, slots: Sequence[str] = ()) -> None:
        self.slots = tuple(slots)
        self.t: list[float] = []
        self.values: list[np.ndarray] = []
        self.last: dict[str, float] = {}  # of all slots there have been in this run
        self.done: dict[str, float] = {}  # what drives gave at the instant of the switch, before it
        self.done_at = -np.inf

    def note(self, t: float, values: np.ndarray) -> None:
        while self.t and t <= self.t[-1]:  # a run that began again
            self.t.pop()
            self.values.pop()
        self.t.append(t)
        self.values.append(values)

    def take_over(self, other: ZeroOrderHold, t: float, origin: float, every: float) -> None:
        """Continue from what another one held at t.

        A sample of this very instant is taken again by a controller, from what was held before it: what it counted (integrals,
        commands on their way) must not count twice. A drive that was asked at this instant is not asked again: it may remember.
        """
        past = list(zip(other.t, other.values, strict=True))
        self.last = dict(other.last)
        if past:
            self.last |= dict(zip(other.slots, past[-1][1], strict=True))
        k = round((t - origin) / every) if every else 0
        if every and past and abs(t - origin - k * every) <= SAME_STEP * every and round((past[-1][0] - origin) / every) == k:
            self.done, self.done_at = dict(zip(other.slots, past.pop()[1], strict=True)), t
        self.t, self.values = [when for when, _ in past], [self._mine(other.slots, values) for _, values in past]
        if not past and self.slots and self.last:
            self.t, self.values = [t], [self._mine(tuple(self.last), np.array(list(self.last.values())))]

    def _mine(self, slots: Sequence[str], values: np.ndarray) -> np.ndarray:
        known = {**self.last, **dict(zip(slots, values, strict=True))}
        return np.array([known.get(name, 0.0) for name in self.slots])

    def asked_already(self, t: float, every: float) -> dict[str, float]:
        """Values of the drives at this instant before a switch."""
        return self.done if abs(t - self.done_at) <= SAME_STEP * every else {}

    def at(self, t: np.ndarray) -> np.ndarray:
        k = np.searchsorted(np.array(self.t), t, side="right") - 1
        return np.array(self.values)[np.maximum(k, 0)]
