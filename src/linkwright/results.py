"""What a turn or a run gives back: samples of the state, and everything that follows from them by name.

A `Trajectory` holds t, q, v, a and reads channels on demand (grammar in `channels`): `c["A.v", "rpm"]`.
Angles of bodies are continuous over the samples. It saves to CSV (channels, in the file's units) and npz.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from linkwright.channels import Channel, Channels, Instant
from linkwright.errors import LinkwrightError, UsageError
from linkwright.kinematics import Skeleton
from linkwright.modelfile.units import KINDS, display_unit


class LoadSource(Protocol):
    """Who can compute loads for a trajectory: handed in by the System, above this layer."""

    def loads_at(self, instant: Instant) -> Any: ...
    def load_channels(self) -> Mapping[str, Channel]: ...


@dataclass(frozen=True)
class LoadHistory:
    """The force of a pin on a body over a trajectory; `frame` says whose axes."""

    pin: str
    on: str
    frame: str
    t: np.ndarray = field(repr=False)
    force: np.ndarray = field(repr=False)  # (n, 2) in a plane, (n, 3) in space
    moment: np.ndarray = field(repr=False)  # (n, 3)
    size: np.ndarray = field(repr=False)  # |force|
    unique: bool

    @property
    def max(self) -> float:
        return float(self.size.max())


@dataclass(frozen=True)
class Trajectory:
    """Samples of a motion. `notes` say what a person should know (a swing instead of a full turn)."""

    skel: Skeleton = field(repr=False)
    t: np.ndarray
    q: np.ndarray = field(repr=False)
    v: np.ndarray = field(repr=False)
    a: np.ndarray = field(repr=False)
    near: Sequence[Mapping[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()
    full_turn: bool = False
    drive: str = ""
    source: Any = field(default=None, repr=False)  # computes loads and gives their channels; see `LoadSource`

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def instants(self) -> list[Instant]:
        rows = zip(self.t, self.q, self.v, self.a, self.near, strict=True)
        solver = None if self.source is None else self.source.loads_at
        return [Instant(self.skel, q, v, a, float(t), near, solver) for t, q, v, a, near in rows]

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self.skel, None if self.source is None else self.source.load_channels())

    @cached_property
    def loads(self) -> list[Any]:
        """Drive efforts and reactions at every sample (`Loads`); needs masses."""
        return [x.loads for x in self.instants]

    def load(self, pin: str, on: str, frame: str = "world") -> LoadHistory:
        """What a pin does to a body's eye over the samples, in world axes or those of a body."""
        wrenches = [x.on(pin, on, frame) for x in self.loads]
        pick = slice(0, 2) if self.skel.tree.description.planar else slice(0, 3)
        force = np.array([w.force[pick] for w in wrenches])
        moment = np.array([w.moment for w in wrenches])
        unique = all(w.unique_force[pick].all() for w in wrenches)
        return LoadHistory(pin, on, frame, self.t, force, moment, np.sqrt(np.sum(force * force, axis=1)), bool(unique))

    def bearings(self) -> Any:
        """Per pin and body: largest, mean and equivalent load, swing, mean speed, unique or not."""
        return self._source("bearings").bearings(self)

    def drive_sizing(self, drive: str | None = None, **options: Any) -> Any:
        """Peak and RMS torque, speed, power and, for a motor and ratio, current, voltage and heat over the cycle."""
        return self._source("drive_sizing").drive_sizing(self, drive, **options)

    def free_body(self, body: str, at: Any = None, path: Any = None, **options: Any) -> Any:
        """The link alone with every force on it, drawn to scale."""
        return self._source("free_body").free_body(self, body, at, path, **options)

    def flywheel(self, fluctuation: float, **options: Any) -> Any:
        """The inertia at the drive that keeps the speed fluctuation over the cycle below a share of its mean."""
        return self._source("flywheel").flywheel(self, fluctuation, **options)

    def _source(self, verb: str) -> Any:
        if not hasattr(self.source, verb):
            raise UsageError(f"{verb} needs the mechanism's masses and drives, which this result does not carry; take it from m.turn().")
        return self.source

    @property
    def channels(self) -> list[str]:
        return ["t", *self._channels.names]

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        """`c["A"]` in SI, `c["A", "deg"]` in a unit."""
        name, unit = (key, None) if isinstance(key, str) else key
        channel = Channel("t", "time", lambda x: x.t) if name == "t" else self._channels[name]
        values = self.t if name == "t" else self._read(channel)
        return values if unit is None else values / channel.size_of(unit)

    def _read(self, channel: Channel) -> np.ndarray:
        values = np.array([channel.read(x) for x in self.instants], dtype=float)
        return np.unwrap(values) if channel.winds else values

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self._channels[name].dimension

    def unit(self, name: str) -> tuple[str, float]:
        """(symbol, size in SI) of the unit the model's file would use for a channel."""
        return unit_of(self.skel.tree.description.units, self.dimension(name))

    def table(self, names: Iterable[str] | None = None) -> tuple[list[str], np.ndarray]:
        """Columns (header with unit, values in the file's units): by default t, joints, body angles and points."""
        chosen = list(names) if names is not None else self.main_channels()
        header, columns = [], []
        for name in chosen:
            symbol, size = self.unit(name)
            values = self[name] / size
            header += [f"{name} [{symbol}]"] if values.ndim == 1 else [f"{name}[{i}] [{symbol}]" for i in range(values.shape[1])]
            columns += [values] if values.ndim == 1 else list(values.T)
        return header, np.array(columns).T

    def main_channels(self) -> list[str]:
        """t, the joints and body angles with their rates, and the components of marked points; loads only when asked for."""
        loads = set() if self.source is None else set(self.source.load_channels())
        keep = [n for n in self._channels.names if n not in loads and not n.startswith(("ground.", "energy."))]
        return ["t", *(n for n in keep if self._is_component(n))]

    def _is_component(self, name: str) -> bool:
        """A single number worth a column: no vectors, no derived sizes."""
        points = (".x", ".y", ".z", ".vx", ".vy", ".vz", ".ax", ".ay", ".az")
        if not (name.count(".") < 2 or name.endswith(points) or ".angle." in name):
            return False
        dimension = self._channels[name].dimension
        return dimension not in ("mixed", "none") and np.ndim(self._channels[name].read(self.instants[0])) == 0

    def save(self, path: str | os.PathLike[str], *, force: bool = False, channels: Iterable[str] | None = None) -> Path:
        """Write .csv (channels in the file's units) or .npz (SI arrays by channel name); never overwrites unless told."""
        if not isinstance(path, (str, os.PathLike)):
            raise UsageError(f"a file's path is needed, not {type(path).__name__}.")
        path = Path(path)
        if path.is_dir():
            raise UsageError(f"'{path}' is a folder; give the name of a file in it, ending in .csv or .npz.")
        if path.exists() and not force:
            raise UsageError(f"'{path}' exists already; choose another name or pass force=True to replace it.")
        writers = {".csv": self._write_csv, ".npz": self._write_npz}
        if path.suffix.lower() not in writers:
            raise UsageError(f"cannot write '{path.name}': the ending says the format, allowed are {', '.join(writers)}.")
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            writers[path.suffix.lower()](temporary, channels)
            os.replace(temporary, path)
        except OSError as problem:
            raise LinkwrightError(
                f"cannot write '{path}': {problem.strerror or problem}. Check the folder and its permissions."
            ) from problem
        finally:
            temporary.unlink(missing_ok=True)
        return path

    def _write_csv(self, path: Path, channels: Iterable[str] | None) -> None:
        header, values = self.table(channels)
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(header)
            writer.writerows([[repr(float(x)) for x in row] for row in values])

    def _write_npz(self, path: Path, channels: Iterable[str] | None) -> None:
        names = list(channels) if channels is not None else self.main_channels()
        with open(path, "wb") as stream:
            arrays: dict[str, Any] = {name: self[name] for name in names}
            np.savez_compressed(stream, **arrays)


def unit_of(units: tuple[str, ...], dimension: str) -> tuple[str, float]:
    """(symbol, size in SI) for people who wrote a file in these units."""
    if dimension in ("mixed", "none"):
        return "-", 1.0
    if dimension == "energy":
        return "J", 1.0
    symbol, from_si = display_unit(units, KINDS[dimension])
    return symbol, 1.0 / from_si
