"""One cycle of many designs of a mechanism at once: `m.cycles({"L1": [0.28, 0.30, 0.32]})`, with exact derivatives on request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ChannelError, UsageError, calls_explained, counted, nearest, whole_number
from linkwright.files.tables import Result, Table
from linkwright.motion.channel_kernels import STATE
from linkwright.motion.cycle import MOST_STEPS
from linkwright.motion.designs import Designs
from linkwright.numerics.pickling import essentials
from linkwright.results.channels import Channel
from linkwright.results.trajectory import Trajectory
from linkwright.results.undefined_derivatives import refused
from linkwright.system import motions
from linkwright.system.compiled import compiled_of
from linkwright.system.design_channels import DesignReader, with_numbers

if TYPE_CHECKING:
    from linkwright.results.channel_list import ChannelList
    from linkwright.system.system import System

MOST_NUMBERS = 250_000_000  # of a result: 2 GB


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Result):
    """One cycle of many designs. `t["A.torque"]` has the designs' axes, then samples. Designs that are not `ok` are NaN.

    `t` are the times, with the designs' axes in front if they differ. `why` has the reason by index for designs that are not `ok`.
    `unknown` has the reason for designs that pass a singular position, because their peaks depend on the samples.
    `derivatives` are the derivatives of the channels by the numbers that the call names.
    """

    __getstate__ = essentials

    system: Any
    designs: Designs
    t: np.ndarray
    ok: np.ndarray
    why: Mapping[Any, str]
    notes: tuple[str, ...]
    asked: Mapping[str, Any]
    motions: tuple[np.ndarray, ...] | None  # q, v, a, references of all designs, if they are stored
    values: Mapping[str, np.ndarray]  # channels named in the call
    derivatives: DesignDerivatives = field(default_factory=lambda: DesignDerivatives((), {}))
    near_singular: np.ndarray | None = None  # mask with the axes of t, True near a singular position; None: no design has one
    unknown: Mapping[Any, str] = field(default_factory=dict)  # reasons why peaks of a design are not known, by index

    def __len__(self) -> int:
        return len(self.designs)

    def __repr__(self) -> str:
        name, samples = self.system.description.name, self.t.shape[-1]
        return f"<Trajectories {name!r}: {counted(len(self), 'design')} of {counted(samples, 'sample')}, {int(self.ok.sum())} ok>"

    def __str__(self) -> str:
        return repr(self)

    def table(self) -> Table:
        """Return a row for each design, in SI: its numbers, `ok` and `why`. `t["A.torque"]` reads the samples."""
        numbers = [self.designs.numbers(i) for i in range(len(self))]
        places = list(np.ndindex(self.shape))
        why = [self.why.get(at if len(at) != 1 else at[0], self.why.get(at, "")) for at in places]
        varied = [(name, "SI", np.array([x[name] for x in numbers])) for name in (numbers[0] if numbers else ())]
        columns = [("design", "", np.arange(len(self))), *varied, ("ok", "", self.ok.ravel()), ("why", "", why)]
        return Table.of_columns(columns, "designs", self.notes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the axes of the designs."""
        return self.designs.shape

    @property
    def channels(self) -> ChannelList:
        """Return the names that can be read. They print as a table with units and meanings, and `t.channels("torque")` filters them."""
        every = motions.cycle(self.system, **self.asked).channels
        return every if self.motions is not None else every.of(list(self.values))

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `t["` and Tab."""
        return list(self.channels)

    def design(self, index: Any) -> dict[str, float]:
        """Return the values of a design by name."""
        return self.designs.numbers(self._number(index))

    def cycle(self, index: Any) -> Trajectory:
        """Return one design alone, as `m.with_(...).cycle()` gives it: with every channel, and a swing if there is no full turn."""
        return DesignReader(self.system, self.asked).alone(self.designs, self._number(index))

    def _number(self, index: Any) -> int:
        try:
            return int(np.arange(len(self)).reshape(self.shape)[index])
        except (IndexError, TypeError, ValueError):
            raise UsageError(f"there is no design {index!r}. The designs have the shape {self.shape}.", name=index) from None

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        """`t["A.torque"]` in SI, `t["A", "deg"]` in a unit."""
        if not isinstance(key, str) and not (isinstance(key, tuple) and len(key) == 2):
            raise ChannelError(
                f"cycles are read by a channel's name or (name, unit), not by {key!r}. t.cycle(i) gives one design.", name=key
            )
        name, unit = (key, None) if isinstance(key, str) else key
        values = self.read([name])[name]
        return values if unit is None else values / motions.cycle(self.system, **self.asked)._channel(name).size_of(unit)

    def measure(self, text: Any, unit: str | None = None) -> np.ndarray:
        """Return one number of every design, with the designs' axes, in SI or a unit: `t.measure("stroke guide", "mm")`. NaN if not ok."""
        from linkwright.results.measures import check, dimension_of_measure, measure

        m, nominal = measure(text), motions.cycle(self.system, **self.asked)
        check([m], nominal)
        found = {
            n: x.reshape(len(self), *x.shape[len(self.shape) :]) for n, x in self.read(m.channels(nominal.drive, nominal.channels)).items()
        }
        times = self.t if self.t.ndim == 1 else self.t.reshape(len(self), -1)
        ok = self.ok.ravel()
        out = np.full(len(self), np.nan)
        if ok.any():
            some = times if times.ndim == 1 else times[ok]
            out[ok] = m.over({n: x[ok] for n, x in found.items()}, some, nominal.drive, nominal.dimension)
        size = 1.0 if unit is None else Channel(m.name, dimension_of_measure(m, nominal), lambda x: None).size_of(unit)
        return out.reshape(self.shape) / size

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Return several channels at once, in SI."""
        wanted = [names] if isinstance(names, str) else list(names)
        if self.motions is None:
            for name in wanted:
                if name not in self.values:
                    raise ChannelError(f"'{name}' was not read. Name it in the call: read={[*self.values, name]!r}.", name=name)
            return {name: self.values[name] for name in wanted}
        reader = DesignReader(self.system, self.asked)
        reader.check(wanted)
        q, _, _, near = self.motions
        found = reader.again(self.designs, wanted, q, near, self.ok.ravel())
        return _shaped(found.values, self.shape)


@dataclass(frozen=True, eq=False, repr=False)
class DesignDerivatives:
    """Exact derivatives of channels of designs: `d["A.torque"]` (designs, samples, ..., numbers), `d["A.torque", "L1"]` by one number.

    They are NaN where they do not exist, such as of a speed at rest: `c.derivatives(...).undefined(channel)` of a single cycle says why.
    """

    names: tuple[str, ...]  # of the numbers
    values: Mapping[str, np.ndarray]  # by channel

    def __repr__(self) -> str:
        return f"<Derivatives of {', '.join(self.values) or 'nothing'} by {', '.join(self.names) or 'nothing'}>"

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        """`d["A.torque", "L1"]`: derivative of a channel by a number, SI; `d["A.torque"]` by all of them, the last axis."""
        channel, number = (key, None) if isinstance(key, str) else key
        if not self.names:
            raise UsageError(
                f"derivatives were not asked for: m.cycles(designs, read=[{channel!r}], derivatives=['L1', 'crank.mass']).", name=channel
            )
        if channel not in self.values:
            raise ChannelError(f"'{channel}' was not read.", nearest(str(channel), self.values, "Channels"))
        if number is None:
            return self.values[channel]
        if number not in self.names:
            raise UsageError(f"there are no derivatives by '{number}' here.", nearest(str(number), self.names, "Numbers"))
        return self.values[channel][..., self.names.index(number)]


def cycles(
    system: System, given: Mapping[str, Any], asked: Mapping[str, Any], read: Any, threads: int | None, derivatives: Any = None
) -> Trajectories:
    """See `Mechanism.cycles`."""
    core, samples = compiled_of(system), whole_number(asked["steps"], "steps", 2, MOST_STEPS) + 1
    designs, reader = Designs.of(core, given), DesignReader(system, asked)
    names = None if read is None else [read] if isinstance(read, str) else list(dict.fromkeys(read))
    nominal = reader.nominal
    by = () if derivatives is None else tuple(p.name for p in core.chosen(derivatives))
    if by and not names:
        raise UsageError("derivatives= needs the channels that are differentiated: name them with read=['A.torque'].", name="derivatives")
    reader.check(names or [])
    width = core.tree.nq + 2 * core.tree.nv + core.skel.cut_size if names is None else max(1, len(names)) * (1 + len(by))
    if len(designs) * samples * width > MOST_NUMBERS:
        raise UsageError(
            f"{counted(len(designs), 'design')} of {counted(samples, 'sample')} do not fit into memory: name channels with "
            "read=, or call it for fewer at once.",
            name="read",
        )
    found = reader.table(with_numbers(designs, by), list(STATE) if names is None else names, by, threads)
    reasons = {designs.index(i): text for i, text in sorted(found.why.items())}
    values = _shaped(found.values, designs.shape)
    motions = None if names is not None else tuple(found.values[name] for name in STATE)
    t = found.t if found.t.ndim == 1 else found.t.reshape(*designs.shape, samples)
    sizes = np.array([p.size for p in core.chosen(list(by))] if by else [])
    sound = {n: _refused(nominal, n, found.values[n], x, sizes) for n, x in found.slopes.items()}
    slopes = DesignDerivatives(by, _shaped(sound, designs.shape))
    ok = found.ok.reshape(designs.shape)
    near = None if found.near is None else found.near.reshape(*designs.shape, samples)
    unknown = {designs.index(i): text for i, text in sorted(found.unknown.items())}
    stored = {} if names is None else values
    return Trajectories(system, designs, t, ok, reasons, nominal.notes, dict(asked), motions, stored, slopes, near, unknown)


def _refused(nominal: Trajectory, name: str, values: np.ndarray, slopes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Derivatives of a channel, NaN where they do not exist; designs and samples in front."""
    flat = (values.reshape(-1, *values.shape[2:]), slopes.reshape(-1, *slopes.shape[2:]))
    return refused(*flat, sizes, nominal._channel(name).kink)[0].reshape(slopes.shape)


def _shaped(arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Arrays with the axes of the designs in front."""
    return {name: x.reshape(*shape, *x.shape[1:]) for name, x in arrays.items()}
