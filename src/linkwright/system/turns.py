"""One cycle of many designs of a mechanism at once: `m.turns({"L1": [0.28, 0.30, 0.32]})`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.graph import TracingError
from linkwright.compiler.threads import cores as cores_of_machine
from linkwright.errors import ChannelError, LinkwrightError, UsageError, calls_explained
from linkwright.kernels.load_lanes import LaneLoads
from linkwright.mechanics.kinematics.motion import body_jacobian, motion
from linkwright.motion.designs import Designs
from linkwright.motion.lane_turns import LaneTurns
from linkwright.numerics.pickling import essentials
from linkwright.results.batch import UNTRACEABLE, Batch
from linkwright.results.channels import Channel, Channels
from linkwright.results.kernel_history import KernelHistory
from linkwright.results.recorded import cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.system.motions import Motions

if TYPE_CHECKING:
    from linkwright.system.system import System

MOST_NUMBERS = 250_000_000  # of a result: 2 GB
AT_ONCE = 1_500_000  # numbers of a block of designs whose channels are read before the next: it stays in the processor's caches


@calls_explained
@dataclass(frozen=True, eq=False, repr=False)
class Turns:
    """One cycle of many designs. `t["A.torque"]` has the designs' axes, then samples; designs that are not `ok` are NaN.

    `t` are the times, with the designs' axes in front where they differ; `why` has the reason by index for designs that are not `ok`.
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

    def __len__(self) -> int:
        return len(self.designs)

    def __repr__(self) -> str:
        name, samples = self.system.description.name, self.t.shape[-1]
        return f"<Turns {name!r}: {len(self)} designs of {samples} samples, {int(self.ok.sum())} ok>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the axes of the designs."""
        return self.designs.shape

    @property
    def channels(self) -> list[str]:
        """Return the names that can be read."""
        return list(self.values) if self.motions is None else self.system.turn(**self.asked).channels

    def design(self, index: Any) -> dict[str, float]:
        """Return the values of a design by name."""
        return self.designs.numbers(self._number(index))

    def turn(self, index: Any) -> Trajectory:
        """Return one design by itself, as `m.with_(...).turn()` gives it: with every channel, and a swing where there is no full turn."""
        return _alone(self.system, self.designs, self._number(index), self.asked)

    def _number(self, index: Any) -> int:
        try:
            return int(np.arange(len(self)).reshape(self.shape)[index])
        except (IndexError, TypeError, ValueError):
            raise UsageError(f"there is no design {index!r}; the designs have the shape {self.shape}.") from None

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        """`t["A.torque"]` in SI, `t["A", "deg"]` in a unit."""
        if not isinstance(key, str) and not (isinstance(key, tuple) and len(key) == 2):
            raise ChannelError(f"turns are read by a channel's name or (name, unit), not by {key!r}; t.turn(i) gives one design.")
        name, unit = (key, None) if isinstance(key, str) else key
        values = self.read([name])[name]
        return values if unit is None else values / self.system.turn(**self.asked).channel(name).size_of(unit)

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Return several channels at once, in SI."""
        wanted = [names] if isinstance(names, str) else list(names)
        if self.motions is None:
            for name in wanted:
                if name not in self.values:
                    raise ChannelError(f"'{name}' was not read. Name it in the call: read={[*self.values, name]!r}.")
            return {name: self.values[name] for name in wanted}
        reader = DesignReader(self.system, self.designs, self.asked, None)
        reader.check(wanted)
        out = ChannelTable(self.designs, wanted, self.t.shape[-1])
        rows = np.concatenate(self.motions, axis=2)
        times = self.t if self.t.ndim == 1 else self.t.reshape(len(self), -1)
        for which in _blocks(np.flatnonzero(self.ok.ravel()), rows.shape[1] * rows.shape[2]):
            reader.read(out, which, rows[which], times if times.ndim == 1 else times[which])
        return out.shaped()


def turns(system: System, given: Mapping[str, Any], asked: Mapping[str, Any], read: Any, threads: int | None) -> Turns:
    """See `Mechanism.turns`."""
    core, steps = system.core, asked["steps"]
    designs = Designs.of(core, given)
    nominal = system.turn(**asked)
    lanes = Motions(core).lanes(designs, **asked)
    names = None if read is None else [read] if isinstance(read, str) else list(read)
    reader = DesignReader(system, designs, asked, threads)
    reader.check(names or [])
    n, samples = len(designs), steps + 1
    width = core.tree.nq + 2 * core.tree.nv + core.skel.cut_size
    if n * samples * (width if names is None else max(1, len(names))) > MOST_NUMBERS:
        raise UsageError(f"{n} designs of {samples} samples do not fit into memory: name channels with read=, or call it for fewer at once.")
    out = ChannelTable(designs, names or [], samples)
    store = np.full((n, samples, width), np.nan) if names is None else None
    t, why, done = np.full((n, samples), np.nan), {}, np.zeros(n, dtype=bool)
    todo = np.arange(n)
    if lanes.walking is not None:
        for which in _blocks(np.flatnonzero(designs.possible()), samples * 4 * width):
            found = lanes(which, threads)
            good = which[found.done]
            why |= {int(which[k]): text for k, text in found.why.items()}
            done[good], t[good] = True, found.t if found.t.ndim == 1 else found.t[found.done]
            rows = found.rows if found.done.all() else found.rows[found.done]
            if store is not None:
                store[good] = rows[..., :-1]
            elif len(good):
                reader.read(out, good, rows, found.t if found.t.ndim == 1 else found.t[found.done])
        todo = np.array([i for i in todo if not done[i] and i not in why], dtype=int)
    for i in todo:
        try:
            c = _alone(system, designs, int(i), asked)
        except LinkwrightError as error:
            why[int(i)] = str(error)
            continue
        if nominal.full_turn and not c.full_turn:
            why[int(i)] = next((x for x in c.notes if "cannot turn fully" in x), "the drive does not turn fully")
            continue
        done[i], t[i] = True, c.t
        if store is not None:
            store[i] = np.concatenate([c.q, c.v, c.a, cut_rows(c.skel, c.references)], axis=1)
        else:
            out.put_one(int(i), c, out.names)
    ok = done.reshape(designs.shape)
    same = bool(done.any()) and bool((t[done] == t[done][0]).all())
    times = t[done][0] if same else nominal.t if not done.any() else t.reshape(*designs.shape, samples)
    cuts = np.cumsum([0, core.tree.nq, core.tree.nv, core.tree.nv, core.skel.cut_size])
    motions = None if store is None else tuple(store[..., a:b] for a, b in zip(cuts, cuts[1:], strict=False))
    reasons = {designs.index(i): text for i, text in sorted(why.items())}
    return Turns(system, designs, times, ok, reasons, nominal.notes, dict(asked), motions, out.shaped())


def _blocks(which: np.ndarray, numbers: int) -> list[np.ndarray]:
    """Designs in blocks of a size that stays in the caches, whole lanes each."""
    size = max(8 * cores_of_machine(), AT_ONCE // max(1, numbers) // 8 * 8)
    return [which[k : k + size] for k in range(0, len(which), size)]


def _alone(system: System, designs: Designs, i: int, asked: Mapping[str, Any]) -> Trajectory:
    """The turn of one design by its own System, in the coordinates of the model."""
    description, cuts = designs.description(i), system.tree.cuts
    c = type(system)(description, presenter=system.presenter).turn(**asked)
    return c if c.skel.tree.cuts == cuts else type(system)(description, cuts, presenter=system.presenter).turn(**asked)


class ChannelTable:
    """Channels of all designs, NaN where nothing is put."""

    def __init__(self, designs: Designs, names: Sequence[str], samples: int):
        self.designs, self.names, self.samples = designs, names, samples
        self.arrays: dict[str, np.ndarray] = {}

    def put(self, name: str, which: Any, values: np.ndarray) -> None:
        """Values (designs, samples, ...) of some designs."""
        if name not in self.arrays:
            self.arrays[name] = np.full((len(self.designs), *values.shape[1:]), np.nan)
        self.arrays[name][which] = values

    def put_one(self, i: int, c: Trajectory, names: Sequence[str]) -> None:
        """Channels of one design from its turn."""
        for name, x in c.read(names).items():
            self.put(name, [i], x[None])

    def shaped(self) -> dict[str, np.ndarray]:
        """Arrays with the axes of the designs in front."""
        empty = np.full((len(self.designs), self.samples), np.nan)
        found = {name: self.arrays.get(name, empty) for name in self.names}
        return {name: x.reshape(*self.designs.shape, *x.shape[1:]) for name, x in found.items()}


class DesignReader:
    """Channels of blocks of designs: coordinates as they are, loads by a kernel, everything else by a program of the designs' numbers."""

    def __init__(self, system: System, designs: Designs, asked: Mapping[str, Any], threads: int | None):
        self.system, self.core, self.designs, self.asked, self.threads = system, system.core, designs, asked, threads

    @cached_property
    def nominal(self) -> Trajectory:
        return self.system.turn(**self.asked)

    @cached_property
    def counted(self) -> bool:
        """True if turns of bodies are counted from the first sample."""
        return Motions(self.core).lanes(self.designs, **self.asked).counts_from_begin

    def check(self, names: Sequence[str]) -> None:
        """Raise ChannelError for names that no turn has, UsageError for loads without masses."""
        for name in names:
            self.nominal.channel(name)
        if any(name in self.nominal.load_channels for name in names):
            self.core.kernels.need_masses()

    @cached_property
    def _columns(self) -> dict[str, int]:
        """Columns of the tree's single coordinates, their speeds and accelerations."""
        tree, out = self.core.tree, {}
        for n, kind in zip(tree.nodes, self.core.skel.types, strict=True):
            if kind.q_names == ("",) and n.joint.name != n.body:
                out[n.joint.name] = n.q.start
                out[f"{n.joint.name}.v"], out[f"{n.joint.name}.a"] = tree.nq + n.v.start, tree.nq + tree.nv + n.v.start
        return out

    def read(self, out: ChannelTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray) -> None:
        """Put the channels of these designs, whose samples (q, v, a, references) are rows, into the table."""
        left = []
        for name in out.names:
            if name == "t":
                out.put(name, which, np.broadcast_to(t, rows.shape[:2]))
            elif name in self._columns:
                out.put(name, which, rows[..., self._columns[name]])
            else:
                left.append(name)
        loads = [name for name in left if name in self.nominal.load_channels]
        others = [name for name in left if name not in loads]
        done = self._traced(out, which, rows, t, others) if others else set()
        done |= self._loaded(out, which, rows, t, loads) if loads else set()
        rest = [name for name in left if name not in done]
        for i in which if rest else ():
            out.put_one(int(i), _alone(self.system, self.designs, int(i), self.asked), rest)

    # ---------------------------------------------------------------- loads

    @cached_property
    def _loads(self) -> LaneLoads | None:
        """Loads in lanes; None where some are not determinate."""
        drives = self.nominal.drives
        if list(drives) != self.core.drive_names or not self.core.determinate_loads:
            return None
        kernel = self.designs.kernel("loads")
        return None if kernel is None else LaneLoads(kernel)

    def _loaded(self, out: ChannelTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray, names: Sequence[str]) -> set[str]:
        if self._loads is None:
            return set()
        tree = self.core.tree
        u, wrench, bad = self._loads(rows, t, self.designs.values[which], self.threads)
        n, samples = rows.shape[:2]
        v = rows[..., tree.nq : tree.nq + tree.nv].reshape(n * samples, -1)
        history = KernelHistory(self.core.skel, v, self.nominal.drives, u.reshape(n * samples, -1), wrench.reshape(n * samples, -1, 6))
        found = history.read(names)
        for name, x in found.items():
            out.put(name, which, x.reshape(n, samples, *x.shape[1:]))
        for i in which[bad > 0]:  # a kernel's pivots degenerate at some sample
            out.put_one(int(i), _alone(self.system, self.designs, int(i), self.asked), list(found))
        return set(found)

    # ---------------------------------------------------------------- positions, speeds, accelerations, energies

    @cached_property
    def _program(self) -> tuple[Batch, Channels] | None:
        """The mechanism on symbols, its numbers among them; None where a part of it needs numbers."""
        tree, one = self.core.tree, np.zeros((1, len(self.designs.chosen)))
        sizes = {"q": tree.nq, "v": tree.nv, "a": tree.nv, "t": 1, "near": self.core.skel.cut_size}
        rows = {**{name: np.zeros((1, n)) for name, n in sizes.items()}, "free": one}
        kernels = self.designs.kernels
        try:
            batch = Batch(self.core.loops, rows, design=lambda free: kernels.equations(list(free)).loops)
            return batch, Channels(batch.skel)
        except (TracingError, *UNTRACEABLE):
            return None

    def _traced(self, out: ChannelTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray, names: Sequence[str]) -> set[str]:
        if self._program is None:
            return set()
        batch, channels = self._program
        wanted = [channels[name] for name in names if name in channels and (channels[name].winds is None or self.counted)]
        n, samples = rows.shape[:2]
        tree, flat = self.core.tree, rows.reshape(n * samples, -1)
        cuts = np.cumsum([0, tree.nq, tree.nv, tree.nv, self.core.skel.cut_size])
        given = {name: flat[:, a:b] for name, a, b in zip(("q", "v", "a", "near"), cuts, cuts[1:], strict=False)}
        given |= {"t": np.broadcast_to(t, (n, samples)).reshape(-1, 1), "free": np.repeat(self.designs.values[which], samples, axis=0)}
        batch.take(given)
        found = batch.read(wanted)
        for c in wanted:
            if c.name in found:
                x = found[c.name].reshape(n, samples, *found[c.name].shape[1:])
                out.put(c.name, which, x if c.winds is None else self._wound(c, x, rows[..., : tree.nq]))
        return set(found)

    def _wound(self, c: Channel, angle: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Whole turns added to the angle of a body in the plane, counted from the first sample; see `state.wound`."""
        skel, node = self.core.skel, c.winds
        assert node is not None
        m = motion(skel, self.core.start.q, np.zeros(skel.tree.nv))
        expected = angle[:, :1] + (q - q[:, :1]) @ body_jacobian(skel, m, node)[2]
        return angle + 2.0 * np.pi * np.rint((expected - angle) / (2.0 * np.pi))
