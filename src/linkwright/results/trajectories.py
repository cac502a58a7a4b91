"""Many motions of one mechanism: cycles of designs, or runs. The same words as of a `Trajectory`, with the motions' axes in front.

    t["A.torque"]      (motions, samples)        t["A", "deg"]        t.read(names)        t.measure("stroke guide", "mm")
    t[3], t[2, 1]      one of them as a Trajectory, with every channel

Arrays are what there is: a hundred thousand motions need no hundred thousand objects. What is not among the arrays is asked of the
`source`, which knows where the motions come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from linkwright.errors import ChannelError, UsageError, calls_explained, counted, nearest
from linkwright.errors.arguments import Names
from linkwright.files.tables import Result, Table
from linkwright.numerics.memory_and_threads import essentials
from linkwright.results import tables as table_views
from linkwright.results.channels import Channel

if TYPE_CHECKING:
    from xarray import Dataset

    from linkwright.results.channels.channel_list import ChannelList
    from linkwright.results.trajectory import Trajectory

STATE = {"state q": "q", "state v": "v", "state a": "a", "state near": "near"}  # names of the motion itself: no channel has a blank


class MotionSource:
    """Where motions come from, as far as it is known. Numbers of motions count along all their axes."""

    noun = "motion"  # of one of them

    @property
    def name(self) -> str:
        """Of the mechanism."""
        return ""

    @property
    def drive(self) -> str:
        """The leading drive."""
        return ""

    def channel(self, name: str) -> Channel:
        """A channel by name; raise ChannelError where there is none."""
        raise ChannelError(f"'{name}' is not among these channels.", name=name)

    def dimension(self, name: str) -> str:
        return self.channel(name).dimension

    @property
    def channels(self) -> ChannelList:
        """All names that can be read."""
        raise NotImplementedError

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the model's file."""
        return ()

    @property
    def axes(self) -> str:
        """Names of the components of a position."""
        return "xyz"

    def read(self, t: Trajectories, names: list[str]) -> dict[str, np.ndarray]:
        """Channels (motions, samples, ...) that are not stored."""
        raise ChannelError(f"'{names[0]}' was not read.", name=names[0])

    def one(self, i: int) -> Trajectory:
        """A motion by itself, with every channel."""
        raise UsageError("these motions are channels only.")

    def numbers(self, i: int) -> dict[str, float]:
        """Parameters of a motion that differ among them."""
        return {}

    def quick(self, name: str) -> bool:
        """Return True if a channel is read for all motions at once, False if single motions are computed again for it."""
        return True

    def check(self, text: Any) -> None:
        """Raise ChannelError or UsageError for a measure that these motions do not have."""


@dataclass(frozen=True)
class KnownChannels(MotionSource):
    """Channels alone, with their leading drive and their dimensions."""

    lead: str
    dimensions: Callable[[str], str]

    @property
    def drive(self) -> str:
        return self.lead

    def dimension(self, name: str) -> str:
        return self.dimensions(name)


class NamedDerivatives:
    """Derivatives of channels by parameters, read by their names."""

    names: tuple[str, ...]  # of the parameters

    def read(self, channels: Sequence[str]) -> Mapping[str, np.ndarray]:
        """Derivatives of several channels, parameters on the last axis."""
        raise NotImplementedError

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        """`d["A.torque", "L1"]`: derivative of a channel by a parameter, SI; `d["A.torque"]` by all of them, the last axis."""
        channel, parameter = (key, None) if isinstance(key, str) else key
        if parameter is not None and parameter not in self.names and self.names:
            raise UsageError(f"there are no derivatives by '{parameter}' here.", nearest(str(parameter), self.names, "Parameters"))
        found = self.read([channel])[channel]
        return found if parameter is None else found[..., self.names.index(parameter)]


@dataclass(frozen=True, eq=False, repr=False)
class ChannelDerivatives(NamedDerivatives):
    """Exact derivatives of channels of many motions: `d["A.torque"]` (motions, samples, ..., parameters), `d["A.torque", "L1"]` by one.

    They are NaN where they do not exist, such as of a speed at rest: `c.derivatives(...).undefined(channel)` of a single cycle says why.
    """

    names: tuple[str, ...] = ()
    values: Mapping[str, np.ndarray] = field(default_factory=dict)  # by channel

    def __repr__(self) -> str:
        return f"<Derivatives of {', '.join(self.values) or 'nothing'} by {', '.join(self.names) or 'nothing'}>"

    def read(self, channels: Sequence[str]) -> Mapping[str, np.ndarray]:
        for name in channels:
            if not self.names:
                raise UsageError(
                    f"derivatives were not asked for: m.cycles(designs, read=[{name!r}], derivatives=['L1', 'crank.mass']).", name=name
                )
            if name not in self.values:
                raise ChannelError(f"'{name}' was not read.", nearest(str(name), self.values, "Channels"))
        return self.values


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Result):
    """Many motions. `t["A.torque"]` has the motions' axes, then samples. Motions that are not `ok` are NaN, or end early.

    `t` are the times, with the motions' axes in front if they differ. `why` has the reason by index for motions that are not `ok`.
    `unknown` has the reason for cycles that pass a singular position, because their peaks depend on the samples.
    `derivatives` are the derivatives of the channels by the parameters that the call names.
    """

    __getstate__ = essentials

    source: MotionSource
    t: np.ndarray
    ok: np.ndarray
    values: Mapping[str, np.ndarray]  # channels that are stored, and `STATE`
    why: Mapping[Any, str] = field(default_factory=dict)
    derivatives: ChannelDerivatives = field(default_factory=ChannelDerivatives)
    notes: tuple[str, ...] = ()
    near_singular: np.ndarray | None = None  # mask with the axes of t, True near a singular position; None: no motion has one
    unknown: Mapping[Any, str] = field(default_factory=dict)  # reasons why peaks of a motion are not known, by index

    @classmethod
    def of(
        cls, values: Mapping[str, np.ndarray], t: np.ndarray, drive: str, dimension: Callable[[str], str], near: np.ndarray | None = None
    ) -> Trajectories:
        """Channels (motions, samples, ...) alone; times (motions, samples), or (samples,)."""
        n, samples = next(iter(values.values())).shape[:2] if values else np.shape(t)
        times = np.broadcast_to(t, (n, samples))
        return cls(KnownChannels(drive, dimension), times, np.ones(n, dtype=bool), values, near_singular=near)

    @classmethod
    def of_one(cls, c: Any, names: Iterable[str]) -> Trajectories:
        """Channels of a Trajectory, as of one motion."""
        found, near = c.read([*names, "t"]), getattr(c, "near_singular", None)
        values = {name: x[None] for name, x in found.items()}
        return cls.of(values, found["t"][None], c.drive, c.dimension, None if near is None else near[None])

    def __len__(self) -> int:
        return self.ok.size

    def __repr__(self) -> str:
        number, samples = counted(len(self), self.source.noun), counted(self.t.shape[-1], "sample")
        return f"<Trajectories {self.source.name!r}: {number} of {samples}, {int(self.ok.sum())} ok>"

    def __str__(self) -> str:
        return repr(self)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self.source.one(i) for i in range(len(self)))

    def table(self) -> Table:
        """Return a row for each motion, in SI: its parameters, `ok` and `why`. `t["A.torque"]` reads the samples."""
        numbers = [self.source.numbers(i) for i in range(len(self))]
        places = list(np.ndindex(self.shape))
        why = [self.why.get(at if len(at) != 1 else at[0], self.why.get(at, "")) for at in places]
        varied = [(name, "SI", np.array([x[name] for x in numbers])) for name in (numbers[0] if numbers else ())]
        columns = [(self.source.noun, "", np.arange(len(self))), *varied, ("ok", "", self.ok.ravel()), ("why", "", why)]
        return Table.of_columns(columns, f"{self.source.noun}s", self.notes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the axes of the motions."""
        return self.ok.shape

    @property
    def drive(self) -> str:
        """Return the leading drive."""
        return self.source.drive

    @property
    def channels(self) -> ChannelList:
        """Return the names that can be read. They print as a table with units and meanings, and `t.channels("torque")` filters them."""
        every = self.source.channels
        return every if STATE.keys() & self.values.keys() else every.of(list(self.values))

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `t["` and Tab."""
        return list(self.channels)

    def design(self, index: Any) -> dict[str, float]:
        """Return the parameters of a motion by name."""
        return self.source.numbers(self._number(index))

    def _number(self, index: Any) -> int:
        try:
            return int(np.arange(len(self)).reshape(self.shape)[index])
        except (IndexError, TypeError, ValueError):
            raise UsageError(
                f"there is no {self.source.noun} {index!r}. The {self.source.noun}s have the shape {self.shape}.", name=index
            ) from None

    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: int | tuple[int, ...]) -> Trajectory: ...
    def __getitem__(self, key: Any) -> np.ndarray | Trajectory:
        """`t["A.torque"]` in SI, `t["A", "deg"]` in a unit. `t[3]`, `t[2, 1]` one of the motions, with every channel."""
        parts = key if isinstance(key, tuple) else (key,)
        if parts and all(isinstance(x, (int, np.integer)) for x in parts):
            return self.source.one(self._number(key))
        if not isinstance(key, str) and not (len(parts) == 2 and all(isinstance(x, str) for x in parts)):
            raise ChannelError(
                f"motions are read by a channel's name or (name, unit), not by {key!r}. t[i] gives one of the {self.source.noun}s.",
                name=key,
            )
        values = self.read([parts[0]])[parts[0]]
        return values if len(parts) == 1 else values / self._channel(parts[0]).size_of(parts[1])

    def _channel(self, name: str) -> Channel:
        return self.source.channel(name)

    def dimension(self, name: str) -> str:
        return self.source.dimension(name)

    def unit(self, name: str) -> tuple[str, float]:
        """Return the symbol of a channel's unit in the model's file, and its size in SI."""
        return table_views.unit_of(self.source.units, self.dimension(name))

    def read(self, names: Names) -> dict[str, np.ndarray]:
        """Return several channels at once, in SI."""
        wanted = list(dict.fromkeys([names] if isinstance(names, str) else names))
        left = [name for name in wanted if name not in self.values]
        found = _shaped(self.source.read(self, left), self.shape) if left else {}
        return {name: self.values[name] if name in self.values else found[name] for name in wanted}

    def to_xarray(self, channels: Iterable[str] | None = None, units: table_views.Units = None) -> Dataset:
        """Return a Dataset with the motions' axes, t and components. Units are in every variable's attributes."""
        return table_views.many_to_xarray(self, channels, units)

    def measure(self, text: Any, unit: str | None = None) -> np.ndarray:
        """Return one number of every motion, with the motions' axes, in SI or a unit: `t.measure("stroke guide", "mm")`. NaN if not ok."""
        from linkwright.results.measures import dimension_of_measure, measure

        m = measure(text)
        self.source.check(m)
        out = np.full(len(self), np.nan)
        if self.ok.any():
            out[self.ok.ravel()] = m.over(self.rows(m.channels(self.drive, self.source.channels), self.ok.ravel()))
        size = 1.0 if unit is None else Channel(m.name, dimension_of_measure(m, self), lambda x: None).size_of(unit)
        return out.reshape(self.shape) / size

    def rows(self, names: Iterable[str], some: np.ndarray | slice = slice(None)) -> Trajectories:
        """Return channels of some of the motions as arrays (motions, samples, ...), as measures take them."""
        n, samples = len(self), self.t.shape[-1]
        values = {name: x.reshape(n, *x.shape[len(self.shape) :])[some] for name, x in self.read(list(names)).items()}
        times = np.broadcast_to(self.t if self.t.ndim == 1 else self.t.reshape(n, samples), (n, samples))[some]
        near = None if self.near_singular is None else self.near_singular.reshape(n, samples)[some]
        return replace(Trajectories.of(values, times, self.drive, self.dimension, near), ok=self.ok.ravel()[some])


def _shaped(arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Arrays with the axes of the motions in front."""
    return {name: x.reshape(*shape, *x.shape[1:]) for name, x in arrays.items()}
