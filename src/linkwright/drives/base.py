"""The contract of a drive: an object the caller writes, bound to one coordinate of one mechanism before a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from linkwright.drives.place import DriveTarget
from linkwright.drives.signals import Signal, value_at
from linkwright.errors import UsageError, counted
from linkwright.mechanics.instant import Instant
from linkwright.model.description import Description
from linkwright.model.file import quantity
from linkwright.text.units import TIME


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
        raise UsageError(f"{what}: every is {seconds:g} s; the time between samples must be longer than zero.")
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
