"""Result of a cycle or a run: samples of the state, and everything that follows from them by name.

A `Trajectory` holds t, q, v, a and what was recorded, and reads channels on demand (grammar in `channels`), whole runs at
once: `run["A.v", "rpm"]`, `run["coupler.S"]`, `run["C.on.rocker"]`. It can be cut (`run[10:200]`, `run.between(1, 2)`), asked
between its samples (`run.at(0.123)`), seen as numpy, pandas or xarray, saved, and opened again with `lw.load_result`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from linkwright.errors import ChannelError, UsageError, calls_explained, counted
from linkwright.errors.arguments import Names
from linkwright.files.tables import Result, Table
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Skeleton
from linkwright.model.file import quantity
from linkwright.numerics.memory_and_threads import essentials
from linkwright.properties import cached_property
from linkwright.results import files as run_files
from linkwright.results import tables as table_views
from linkwright.results.channels import Channel
from linkwright.results.channels.channel_list import ChannelList
from linkwright.results.channels.readings import Readings
from linkwright.results.channels.sample_loads import EachLoads, LoadHistory, SampleLoads
from linkwright.results.checks import Checks
from linkwright.results.measure_tables import Dwells, dwells_of, measured
from linkwright.results.motion_checks import motion_checks
from linkwright.results.records import Column, RunEvent, RunQuality, checked_arrays, checked_columns, plain
from linkwright.results.sample_interpolation import at_times
from linkwright.results.singular_positions import SingularPlace, described_places
from linkwright.results.state import State
from linkwright.results.tables import unit_of
from linkwright.text.units import KINDS

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from linkwright.results.channels.derivatives import MotionDerivatives
    from linkwright.rings.verbs import TrajectoryVerbs
    from linkwright.simulation.certificate import Certificate
    from linkwright.simulation.singularity_crossings import Passage
    from linkwright.system.system import System
else:
    from linkwright.verbs import RingVerbs as TrajectoryVerbs

NEAR_SINGULAR = "near_singular"  # array of a cycle: 1 at samples near a singular position
PATH_V, PATH_A = "path.v", "path.a"  # arrays of a static analysis: rates of its positions over t

__all__ = ["Column", "LoadHistory", "RunEvent", "RunQuality", "Trajectory", "unit_of"]


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(TrajectoryVerbs, Result):
    """A motion in samples. `notes` report anything unusual (a swing instead of a full turn).

    `columns` are recorded channels. They come before computed ones of the same name. An effort recorded as `A.torque` or
    `C.force` is one that acted in that joint or cylinder, `wrench.rocker` (n, 6) one on a body. `arrays` are stored but not
    listed: `lam`, multipliers of the tree's loops (loads then belong to the motion as it was), `closed` (samples, loops), 0
    where a loop was switched off, and other data of a run.
    """

    __getstate__ = essentials

    skel: Skeleton
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    references: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...] = ()
    full_turn: bool | None = False  # None: so near to a change point that it cannot be determined
    drive: str = ""
    system: Any = None  # the System it comes from, which computes its loads
    drives: tuple[str, ...] = ()  # drives whose efforts the loads of a cycle are solved for
    columns: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[RunEvent, ...] = ()
    proof: Any = None  # of a run: `.certificate`, `.passages`, `.checks()`, worked out when somebody asks
    origin: np.ndarray | None = None  # q from which turns of bodies are counted; default the first
    loops: Loops | None = None  # if they have a characteristic length of their own

    def __post_init__(self) -> None:
        put = {
            "columns": checked_columns(self.columns, len(self.t)),
            "arrays": checked_arrays(self.arrays, len(self.t)),
            "settings": plain(self.settings),
            "events": tuple(RunEvent(float(e.time), str(e.name), plain(e.values, "events")) for e in self.events),
        }
        for name, value in put.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        range_ = f", t = {self.t[0]:.6g} .. {self.t[-1]:.6g} s" if len(self) else ""
        return f"<Trajectory {self.skel.tree.description.name!r}: {counted(len(self), 'sample')}{range_}>"

    def __str__(self) -> str:
        return repr(self)

    @property
    def static(self) -> bool:
        """True for a static analysis: velocities, accelerations and powers are zero, and t only numbers the positions."""
        return bool(self.settings.get("static"))

    def _at_rest(self) -> Trajectory:
        """Return a static analysis of the same positions: velocities and accelerations are zero."""
        if self.static:
            return self
        zero = {"v": np.zeros_like(self.v), "a": np.zeros_like(self.a)}
        along = {PATH_V: self.v, PATH_A: self.a}
        return replace(self, **zero, arrays={**self.arrays, **along}, settings={**self.settings, "static": True})

    def in_motion(self) -> Trajectory:
        """Return the motion of a static analysis, with the velocities and accelerations of its drives."""
        if not self.static:
            return self
        rest = {k: x for k, x in self.arrays.items() if k not in (PATH_V, PATH_A)}
        settings = {k: x for k, x in self.settings.items() if k != "static"}
        return replace(self, v=self.arrays[PATH_V], a=self.arrays[PATH_A], arrays=rest, settings=settings)

    @cached_property
    def singular(self) -> tuple[SingularPlace, ...]:
        """Return the singular positions of a cycle: dead centers at its ends, and positions that it passes."""
        return described_places(self)

    @property
    def near_singular(self) -> np.ndarray:
        """Return a mask of the samples near a singular position: peak loads there depend on how close they are to it."""
        found = self.arrays.get(NEAR_SINGULAR)
        return np.zeros(len(self), dtype=bool) if found is None else found[:, 0] > 0.0

    @overload
    def place(self, x: float) -> float: ...
    @overload
    def place(self, x: np.ndarray) -> np.ndarray: ...
    def place(self, x: float | np.ndarray) -> float | np.ndarray:
        """Return a position of the leading drive as a place in the cycle: in a full turn an angle from 0 to 360 deg, else as it is."""
        if not (self.full_turn and self.drive and self.dimension(self.drive) == "angle"):
            return x
        y = np.mod(x, 2.0 * np.pi)
        return np.where(2.0 * np.pi - y < 1e-9, 0.0, y)[()]

    @property
    def certificate(self) -> Certificate | None:
        """None for a cycle. For a run, the certificate: residuals of loops, energy and branch."""
        return None if self.proof is None else self.proof.certificate

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the singular positions a run passed."""
        return () if self.proof is None else tuple(self.proof.passages)

    def checks(self) -> Checks:
        """Return the checks of this motion, each passed, failed or unknown: true if all passed, printed as text."""
        return motion_checks(self)

    # ---------------------------------------------------------------- instants and states

    def instant(self, i: int) -> Instant:
        """The mechanism at a sample, for reading anything."""
        self._need_sample(i)
        out = Instant(self.skel, self.q[i], self.v[i], float(self.t[i]), self.references[i], self.a[i], solver=self._loads.solver(i))
        out.terms = self._readings.moving.at(i)
        return out

    @cached_property
    def _instants(self) -> list[Instant]:
        return [self.instant(i) for i in range(len(self))]

    def state(self, i: int) -> State:
        """Return the state at a sample."""
        self._need_sample(i)
        return State(
            self.skel, self.q[i].copy(), self.v[i].copy(), self.references[i], float(self.t[i]), self.a[i].copy(), self._counted_from
        )

    def _need_sample(self, i: int = 0) -> None:
        """Raise UsageError if there is no sample of that number; a run that could not start has none."""
        if not len(self):
            raise UsageError(
                f"this run of '{self.skel.tree.description.name}' has no samples: it ended at its start.",
                name=self.skel.tree.description.name,
            )
        if not -len(self) <= i < len(self):
            raise UsageError(f"there is no sample {i}. This result has {len(self)}.", name="sample")

    @overload
    def at(self, t: float | str) -> State: ...
    @overload
    def at(self, t: Sequence[float] | np.ndarray) -> Trajectory: ...
    def at(self, t: str | float | Sequence[float] | np.ndarray) -> State | Trajectory:
        """Return the state at a time in the range, on the loops, or a Trajectory for an array of times. Accuracy: `interpolation`."""
        return at_times(self, t)

    @property
    def _counted_from(self) -> np.ndarray:
        """q at which the turns of bodies begin to count: the first of the whole run, for parts of it too."""
        if self.origin is not None:
            return self.origin
        self._need_sample()
        return self.q[0]

    def between(self, t0: Any, t1: Any) -> Trajectory:
        """Return the samples from t0 to t1, both included."""
        low, high = sorted(quantity(x, KINDS["time"], "t") for x in (t0, t1))
        self._need_sample()
        inside = np.flatnonzero((self.t >= low) & (self.t <= high))
        if not len(inside):
            raise UsageError(f"there is no sample between t = {low:.9g} and {high:.9g} s. run.at(t) reads between samples.", name="t")
        return self._cut(slice(int(inside[0]), int(inside[-1]) + 1))

    def _cut(self, rows: slice) -> Trajectory:
        self._need_sample()
        t = self.t[rows]
        if not len(t):
            raise UsageError(f"no sample is left in [{rows.start}:{rows.stop}:{rows.step}]. This result has {len(self)}.", name="sample")
        inside = [e for e in self.events if min(t[0], t[-1]) <= e.time <= max(t[0], t[-1])]
        motion = {"t": t, "q": self.q[rows], "v": self.v[rows], "a": self.a[rows], "references": self.references[rows]}
        return replace(
            self,
            **motion,
            full_turn=self.full_turn and bool(t[0] == self.t[0] and t[-1] == self.t[-1]),
            columns={name: Column(x.values[rows], x.dimension) for name, x in self.columns.items()},
            arrays={name: x[rows] for name, x in self.arrays.items()},
            events=tuple(inside),
            origin=self._counted_from,
        )

    # ---------------------------------------------------------------- channels

    @cached_property
    def _readings(self) -> Readings:
        return Readings(self, self._loads)

    @property
    def channels(self) -> ChannelList:
        """Return the names that can be read. They print as a table with units and meanings, and `c.channels("torque")` filters them."""
        return self._readings.listed

    def _ipython_key_completions_(self) -> list[str]:
        """Names after `c["` and Tab."""
        return list(self.channels)

    def _channel(self, name: str) -> Channel:
        return self._readings.channel(name)

    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: slice) -> Trajectory: ...
    @overload
    def __getitem__(self, key: int) -> State: ...
    def __getitem__(self, key: str | tuple[str, str] | slice | int) -> np.ndarray | Trajectory | State:
        """`c["A"]` in SI, `c["A", "deg"]` in a unit. `c[10:200]`, `c[::2]` some of the samples, `c[5]` the state at one."""
        if isinstance(key, slice):
            return self._cut(key)
        if isinstance(key, (int, np.integer)):
            return self.state(int(key))
        if not isinstance(key, str) and not (isinstance(key, tuple) and len(key) == 2):
            raise ChannelError(f"a run is read by a channel's name, (name, unit), a sample's number or a slice, not by {key!r}.", name=key)
        name, unit = (key, None) if isinstance(key, str) else key
        values = self.read([name])[name]
        return values if unit is None else values / self._channel(name).size_of(unit)

    def read(self, names: Names | None = None, units: table_views.Units = None) -> dict[str, np.ndarray]:
        """Return channels by name as arrays, the main ones by default. One reading of many is faster than one after the other.

        Parameters
        ----------
        names : str or sequence of str, optional
            Channels, by default the time, joints, body angles and marked points.
        units : "file" or dict, optional
            "file" for the units of the model's file, or a unit by channel or dimension, `{"A.v": "rpm", "length": "mm"}`. By default SI.

        Returns
        -------
        dict[str, numpy.ndarray]
            Arrays of shape (samples,) or (samples, components).
        """
        chosen = self._main_channels() if names is None else [names] if isinstance(names, str) else names
        if units is None:
            return self._readings.read(chosen)
        return {v.name: v.values for v in table_views.variables(self, chosen, units)}

    def measure(self, text: Any, unit: str | None = None) -> float:
        """Return one number of this motion, in SI or a unit: `c.measure("dwell guide within 1 mm", "deg")`. Text as in `lw.study`."""
        return measured(self, text, unit)

    def dwells(self, channel: str, within: Any, *, least: Any = None, by: str = "") -> Dwells:
        """Return the dwells of a channel, longest first: stretches in which it stays within a band of the height `within` ("1 mm").

        Dwells do not overlap. Those shorter than `least` (default 10 deg of the leading drive, or a 36th of the time) are left out.
        Measured in positions of the leading drive, or with by="t" in times.
        """
        return dwells_of(self, channel, within, least, by)

    @overload
    def derivatives(self, by: str | Sequence[str], *, channel: None = ..., at: None = ...) -> MotionDerivatives: ...
    @overload
    def derivatives(self, by: str | Sequence[str], *, channel: str, at: float | str | None = ...) -> dict[str, float]: ...
    def derivatives(
        self, by: str | Sequence[str], *, channel: str | None = None, at: float | str | None = None
    ) -> MotionDerivatives | dict[str, float]:
        """Return the exact derivatives of all channels by parameters of the model: `c.derivatives(["L1", "*.mass"])["A.torque", "L1"]`.

        Drives of a cycle move as they do, the rest follows. A run is differentiated through its steps. Names as in
        `lw.compile(parameters=...)`.
        `channel`, `at`: one channel of a run at a sample (default the last) by many numbers, backwards: {number: derivative}.
        """
        if self.system is None:
            raise UsageError("derivatives need the mechanism of this motion. Take it from m.cycle().")
        return self.system._derivatives_of(self, by, channel, at)

    def dimension(self, name: str) -> str:
        return self._channel(name).dimension

    def unit(self, name: str) -> tuple[str, float]:
        """Return (symbol, size in SI) of the unit the model's file would use for a channel."""
        return unit_of(self.skel.tree.description.units, self.dimension(name))

    # ---------------------------------------------------------------- loads

    @cached_property
    def frame(self) -> Loops:
        """The loops with their scales."""
        return self.loops or Loops.of(self.skel, None if self.system is None else self.system._core.loops.kappa)

    @cached_property
    def _loads(self) -> SampleLoads:
        return SampleLoads(self)

    @property
    def _each_loads(self) -> Sequence[Any]:
        """Drive efforts and reactions at every sample (`Loads`), each solved when it is asked for; needs masses."""
        return EachLoads(self._instants)

    @property
    def _load_channels(self) -> Mapping[str, Channel]:
        """Channels of loads: of the motion as it was, or for the drives of a cycle."""
        return self._loads.channels

    @property
    def _one_by_one(self) -> list[Instant]:
        """The samples whose loads are solved singly: few of most cycles, none of a run, all where joints are redundant."""
        return self._loads.one_by_one

    @property
    def _judges(self) -> list[Instant]:
        """Samples at which uniqueness is tested: evenly spaced for a run, the rank outliers for a cycle; none near a singular position."""
        return self._loads.judges

    def load(self, pin: str, on: str | None = None, frame: str = "world") -> LoadHistory:
        """Return the force of a pin on a body's eye over the samples, in world axes or in the axes of a body."""
        return self._loads.history(pin, on, frame)

    def _sampled(
        self, named: Mapping[str, Callable[[Instant], Any]], *, loads: bool = False, stored: bool = False
    ) -> dict[str, np.ndarray]:
        """Anything that can be read off an instant, over all samples: at once where it can be traced. `loads`: it needs them; `stored`:
        these very functions are asked for again."""
        return self._loads.sampled(named, loads, stored)

    # ---------------------------------------------------------------- tables and files

    def table(self, channels: Iterable[str] | None = None) -> Table:
        """Return channels in the file's units, a row for each sample: by default t, joints, body angles and points."""
        chosen = self._main_channels() if channels is None else [channels] if isinstance(channels, str) else list(channels)
        columns: list[tuple[str, str, np.ndarray]] = []
        found = self.read(chosen)
        for name in chosen:
            symbol, size = self.unit(name)
            values = found[name] / size
            parts = [(name, values)] if values.ndim == 1 else [(f"{name}[{i}]", x) for i, x in enumerate(values.T)]
            columns += [(part, symbol, x) for part, x in parts]
        return Table.of_columns(columns, "run" if self.proof is not None else "cycle", self.notes)

    def as_dict(self) -> dict[str, Any]:
        """Return the table of the main channels as plain data."""
        return self.table().as_dict()

    def _main_channels(self) -> list[str]:
        """t, the joints and body angles with their rates, the components of marked points, and what was recorded; loads,
        multipliers and energies only when asked for."""
        return self._readings.main()

    def to_pandas(self, channels: Iterable[str] | None = None, units: table_views.Units = None) -> DataFrame:
        """Return a DataFrame over t. Vectors become columns `name[0]`, .... Units in `.attrs["units"]`."""
        return table_views.to_pandas(self, channels, units)

    def to_xarray(self, channels: Iterable[str] | None = None, units: table_views.Units = None) -> Dataset:
        """Return a Dataset over the coordinate t. Vectors have a dimension of components. Units in every variable's attributes."""
        return table_views.to_xarray(self, channels, units)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        channels: Iterable[str] | None = None,
        sep: str | None = None,
        decimal: str | None = None,
    ) -> Path:
        """Write .npz or .parquet (everything; `lw.load_result` gives it back), .csv or .xlsx (channels in the file's units).

        `channels` are those written by name for other programs. `sep` (",", ";", "tab") and `decimal` (".", ",") are of CSV files. An
        existing file is replaced, atomically.
        """
        return run_files.save(self, path, channels, sep=sep, decimal=decimal)

    def identical(self, other: Trajectory) -> bool:
        """Return True if two results hold the same bits: states, columns, arrays, events, settings, and the mechanism."""
        return run_files.identical(self, other)


def with_mechanism(c: Trajectory, verb: str) -> System:
    """Return the System of a result; raise UsageError for one without samples or without a mechanism, which the verb needs."""
    c._need_sample()
    if c.system is None:
        raise UsageError(
            f"{verb} needs the mechanism's masses and drives, which this result does not carry. Take it from m.cycle().", name=verb
        )
    return c.system
