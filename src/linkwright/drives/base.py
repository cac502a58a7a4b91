"""The contract of a drive: an object the caller writes, bound to one coordinate of one mechanism before a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright import joints
from linkwright.compiler.graph import Sym
from linkwright.errors import UsageError, counted, nearest
from linkwright.mechanics import forces
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.coordinates import Distance, JointCoordinate, coordinate, entry_of, lengths
from linkwright.model.curves import Curve
from linkwright.model.curves.formula import Formula
from linkwright.model.curves.functions import Function, takes_state
from linkwright.model.curves.piecewise import Piecewise
from linkwright.model.curves.polynomial import Constant
from linkwright.model.curves.reading import is_list, read_points, read_text, short, through_points
from linkwright.model.description import Description, Table
from linkwright.model.file import quantity
from linkwright.results.state import State
from linkwright.text.expressions import Expr, free_variables
from linkwright.text.units import KINDS, TIME, Dimension


class DriveOutput(NamedTuple):
    """Output of a drive at an instant: an effort, or a motion (value, speed, acceleration); and rates of its own states."""

    effort: Any = 0.0
    motion: tuple[Any, Any, Any] | None = None
    rates: tuple[Any, ...] = ()


class Start(NamedTuple):
    """Start of a run that drives are bound to: the model, the state a run starts from, and the size of the mechanism."""

    description: Description
    here: Instant
    kappa: float


class Bound(Protocol):
    """A drive at its place. States of its own come with names, start values and sizes; a sampled signal is held in a slot."""

    @property
    def target(self) -> DriveTarget: ...
    @property
    def moves(self) -> bool:
        """It prescribes a motion."""
        ...

    @property
    def signal(self) -> Signal: ...
    @property
    def every(self) -> float:
        """Seconds between samples; 0: it is followed at all times."""
        ...

    @property
    def states(self) -> Sequence[tuple[str, float, float]]:
        """(name, start value, size) of each."""
        ...

    @property
    def armature(self) -> float: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def channels(self) -> Mapping[str, str]:
        """Recorded channels with their dimensions, in the order of `record`."""
        ...

    def doing(self, here: Instant, x: Any, held: Any) -> DriveOutput: ...
    def record(self, here: Instant, x: Any, held: Any) -> list[Any]: ...


class DriveController(Protocol):
    """A controller with its sensors and actuators, as the drives of a run see it."""

    @property
    def targets(self) -> Sequence[DriveTarget]: ...
    @property
    def states(self) -> Sequence[tuple[str, float, float]]:
        """Of a controller that is followed at all times; a sampled one holds its own."""
        ...

    @property
    def every(self) -> float: ...
    @property
    def n_held(self) -> int: ...
    @property
    def held_at_start(self) -> Any: ...
    @property
    def longest_step(self) -> float: ...
    @property
    def traceable(self) -> bool: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def channels(self) -> Mapping[str, str]: ...
    @property
    def curves(self) -> Sequence[Any]:
        """Curves over time that it follows."""
        ...

    @property
    def functions(self) -> Sequence[Any]:
        """Functions of the caller's that it follows at all times."""
        ...

    @property
    def feels_others(self) -> bool:
        """True if it has force sensors and something else pushes."""
        ...

    def fingerprint(self) -> Any:
        """Everything its law depends on; see `law_cache`."""
        ...

    def acting(self, here: Instant, x: Mapping[str, Any], states: Any, held: Any, motions: Any, others: Any) -> ControllerOutput: ...


class ControllerOutput(Protocol):
    """Output of a controller at one instant."""

    @property
    def commands(self) -> Sequence[Any]:
        """Efforts or voltages, one a drive."""
        ...

    @property
    def rates(self) -> list[Any]: ...
    @property
    def records(self) -> Sequence[Any]: ...
    @property
    def margin(self) -> Any: ...
    def sampled(self, efforts: Any) -> Any:
        """Values held from now on, given the efforts that act just before."""
        ...


class DriveSpecification:
    """Base of all drives that a caller writes: a kind, and a short text for people."""

    kind = ""

    def __repr__(self) -> str:
        (_, first), *rest = vars(self).items()
        more = [f"{name}={shown(value)}" for name, value in rest if not _same(value, getattr(type(self), name))]
        return f"lw.drives.{self.kind}({', '.join([shown(first), *more])})"


def _same(value: Any, default: Any) -> bool:
    """True for the default; an array, whose comparison is no truth value, is none."""
    return value is default or (isinstance(value, (bool, int, float, str)) and value == default)


def shown(value: Any) -> str:
    """A value as written in a repr: arrays by their length, functions by their name."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(np.ndim(x) == 1 for x in value):
        return f"({len(value[0])} times, {counted(len(value[1]), 'value')})"
    return repr(value)


def sample_time(every: Any, what: str) -> float:
    if every is None:
        return 0.0
    seconds = quantity(every, TIME, f"{what}: every")
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise UsageError(f"{what}: every is {seconds:g} s. The time between samples must be longer than zero.", name=what, value=seconds)
    return seconds


@dataclass(frozen=True)
class Reading:
    """A signal that is followed at all times, or sampled and held."""

    signal: Signal
    every: float = 0.0

    def value(self, here: Instant, held: Any) -> Any:
        return held if self.every else value_at(self.signal, here)


class Follower:
    """A bound drive that follows a reading."""

    reading: Reading

    @property
    def signal(self) -> Signal:
        return self.reading.signal

    @property
    def every(self) -> float:
        return self.reading.every


# ----------------------------------------------------------------------------------------------------
# Coordinates that drives act on: one coordinate of a joint, cut or not, or the length of a cylinder


@dataclass(frozen=True)
class DriveTarget:
    """A driven coordinate: `entry` is its place in v, None for cut joints and cylinders."""

    on: JointCoordinate | Distance
    entry: int | None = None

    @property
    def name(self) -> str:
        return self.on.name

    @property
    def rotary(self) -> bool:
        return self.on.rotary

    @property
    def alone(self) -> bool:
        """True if it is all that its joint can do."""
        return self.on.alone

    @property
    def position_kind(self) -> str:
        return self.on.kind

    @property
    def speed_kind(self) -> str:
        return self.on.speed_kind

    @property
    def effort_kind(self) -> str:
        return self.on.effort_kind

    def dimension(self, kind: str) -> Dimension:
        """Of its position, speed or effort."""
        return KINDS[{"position": self.position_kind, "speed": self.speed_kind, "effort": self.effort_kind}[kind]]

    def position(self, here: Instant) -> Any:
        return here.travel(self.on)

    def speed(self, here: Instant) -> Any:
        if self.entry is not None:
            return here.v[self.entry]
        return here.travel_rate(self.on)

    def pushes(self, at: Instant, effort: Any) -> forces.Wrenches:
        """Wrenches of an effort that is no entry of tau."""
        return at.along(self.on, effort)


def target(skel: Skeleton, name: Any) -> DriveTarget:
    """The coordinate of that name: `A`, `C.slide` of a joint with several, a cylinder."""
    d, tree = skel.tree.description, skel.tree
    if str(name) in lengths(d):
        return DriveTarget(coordinate(d, str(name)))
    head, _, part = str(name).partition(".")
    every = {j.name: j for j in (*d.joints, *(n.joint for n in tree.nodes))}
    if head not in every:
        known = [*every, *lengths(d)]
        raise UsageError(f"drive: there is no joint or cylinder '{name}'.", nearest(str(name), known, "Joints and cylinders"))
    joint = every[head]
    jt = joints.create(joint.type, joint.options)
    plain = jt.q_names == jt.v_names  # a quaternion has no coordinate of its own to push along
    if not plain or part not in jt.q_names:
        allowed = [f"{head}.{p}" if p else head for p in jt.q_names] if plain else []
        advice = f"Use {' or '.join(allowed)}." if allowed else "Drive another joint, or push its body with a wrench."
        raise UsageError(f"drive: '{name}' is not one coordinate of the {joint.type} joint '{head}'. {advice}", name=name)
    i = jt.q_names.index(part)
    node = tree.node_of_joint.get(joint.name)
    entry = None if node is None else tree.nodes[node].v.start + i
    return DriveTarget(entry_of(joint, i, str(name)), entry)


def numbers(values: Any) -> np.ndarray:
    """An array of floats, or of objects where a value is traced."""
    entries = list(values)
    return np.array(entries, dtype=object if any(hasattr(x, "where") for x in entries) else float)


# ---------------------------------------------------------------- signals: what a drive follows over time


@dataclass(frozen=True)
class ChannelLaw:
    """An expression of channels, or a table over a channel."""

    law: Expr | Table
    what: str

    def at(self, here: Instant) -> Any:
        value = here.value(self.law)
        if type(value) is not Sym and not np.isfinite(value):
            raise UsageError(f"{self.what}: '{self.law}' is {value} at t = {float(here.t):.6g} s. It must be finite.", name=self.law)
        return value


@dataclass(frozen=True, eq=False)
class Called:
    """A Python function of t, or of t and the state."""

    function: Function
    with_state: bool

    def at(self, here: Instant) -> Any:
        return self.function(here.t, State.of(here)) if self.with_state else self.function(here.t)


@dataclass(frozen=True, eq=False)
class Commanded:
    """Command of a controller to this drive: an effort, or a motor's voltage."""

    index: int

    def at(self, here: Instant) -> Any:
        return here.acting.commands[self.index]


OfInstant = ChannelLaw | Called | Commanded
Signal = Curve | OfInstant


def value_at(signal: Signal, here: Instant) -> Any:
    return signal.at(here) if isinstance(signal, OfInstant) else signal.value(here.t)


def read_signal(given: Any, dimension: Dimension, what: str, desc: Description) -> Signal:
    """The signal a caller (or the model file) wrote."""
    if isinstance(given, Table):
        return ChannelLaw(given, what)
    if isinstance(given, Piecewise):  # the efforts of an optimal motion, with the places at which they jump
        return given
    if callable(given):
        return Called(Function(given, what), takes_state(given, what))
    value = _read_expression(given, dimension, what, desc)
    if isinstance(value, Expr):
        return Formula(value, what) if free_variables(value) <= {"t"} else ChannelLaw(value, what)
    return read_points(value, dimension, "", what) if is_list(value) else Constant(value)


def read_motion(given: Any, dimension: Dimension, motion: str, what: str, desc: Description) -> Curve | Called:
    """The `position` or `speed` a caller (or the model file) wrote, which depends on time only."""
    if isinstance(given, Table):
        _need_time([given.channel], what)
        return through_points(given.x, given.y, given.interpolation, motion, what)
    if callable(given):
        return Called(Function(given, what), takes_state(given, what, motion=True))
    value = _read_expression(given, dimension, what, desc)
    if isinstance(value, Expr):
        _need_time(sorted(free_variables(value)), what)
        return Formula(value, what)
    if isinstance(value, float):
        return Constant(value)
    return read_points(value, dimension, motion, what) if is_list(value) else Constant(value)


def _need_time(channels: list[str], what: str) -> None:
    others = [c for c in channels if c != "t"]
    if others:
        raise UsageError(f"{what} depends on '{others[0]}'. A prescribed motion depends on t only. Use a coupling instead.", name=others[0])


def _read_expression(given: Any, dimension: Dimension, what: str, desc: Description) -> Any:
    """A number in SI, an expression of channels, or points as they are."""
    if isinstance(given, Expr):
        return given
    if isinstance(given, float):
        return quantity(given, dimension, what)
    if isinstance(given, str):
        value = read_text(given, dimension, what, desc)
        return value if isinstance(value, Expr) else float(value)
    if isinstance(given, (tuple, list)) and len(given) in (2, 3) and all(is_list(x) for x in given[:2]):
        return given
    if is_list(given) or isinstance(given, bool) or given is None:
        raise UsageError(f"{what} is a number, a text with a unit, (times, values) or a function, not {short(given)}.", name=what)
    return quantity(given, dimension, what)
