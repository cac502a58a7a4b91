"""One cycle of many designs of a mechanism at once: `m.turns({"L1": [0.28, 0.30, 0.32]})`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.graph import TracingError
from linkwright.errors import ChannelError, LinkwrightError, UsageError, calls_explained
from linkwright.kernels.load_lanes import LaneLoads
from linkwright.mechanics.kinematics.motion import body_jacobian, motion
from linkwright.motion.designs import WORTH, Designs
from linkwright.motion.lane_turns import LaneTurns
from linkwright.numerics.pickling import essentials
from linkwright.results.batch import UNTRACEABLE, Batch
from linkwright.results.channels import Channel, Channels
from linkwright.results.held_motion import FixedOrder, HeldMotion
from linkwright.results.kernel_history import load_terms
from linkwright.results.motion_channels import MotionChannels
from linkwright.results.motion_reading import MotionReading, pushed, read_held
from linkwright.results.recorded import THIRD, cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.system.motions import Motions

if TYPE_CHECKING:
    from linkwright.system.system import System

MOST_NUMBERS = 250_000_000  # of a result: 2 GB
BLOCK = 64  # designs whose channels are read at a time
ORDERED = 5  # samples of the model's turn by which an order of elimination is chosen


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

    def measure(self, text: Any, unit: str | None = None) -> np.ndarray:
        """Return one number of every design, with the designs' axes, in SI or a unit: `t.measure("stroke guide", "mm")`; NaN if not ok."""
        from linkwright.results.measures import check, dimension_of_measure, measure

        m, nominal = measure(text), self.system.turn(**self.asked)
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
                    raise ChannelError(f"'{name}' was not read. Name it in the call: read={[*self.values, name]!r}.")
            return {name: self.values[name] for name in wanted}
        reader = DesignReader(self.system, self.designs, self.asked, None)
        reader.check(wanted)
        out = TurnTable(self.designs, wanted, self.t.shape[-1], 0)
        out.ok[:] = self.ok.ravel()
        times = self.t if self.t.ndim == 1 else self.t.reshape(len(self), -1)
        which = np.flatnonzero(out.ok)
        for block in (which[k : k + BLOCK] for k in range(0, len(which), BLOCK)):
            rows = np.concatenate([x[block] for x in self.motions], axis=2)
            reader.read(out, block, rows, times if times.ndim == 1 else times[block])
        return out.shaped()


def turns(system: System, given: Mapping[str, Any], asked: Mapping[str, Any], read: Any, threads: int | None) -> Turns:
    """See `Mechanism.turns`."""
    core, samples = system.core, asked["steps"] + 1
    designs, nominal = Designs.of(core, given), system.turn(**asked)
    names = None if read is None else [read] if isinstance(read, str) else list(read)
    reader = DesignReader(system, designs, asked, threads)
    reader.check(names or [])
    n, width = len(designs), core.tree.nq + 2 * core.tree.nv + core.skel.cut_size
    if n * samples * (width if names is None else max(1, len(names))) > MOST_NUMBERS:
        raise UsageError(
            f"{n} designs of {samples} samples do not fit into memory: name channels with read=, or call it for fewer at once."
        )
    found = TurnTable(designs, names, samples, width)
    _in_lanes(Motions(core).lanes(designs, **asked), found, reader, threads)
    for i in np.flatnonzero(~found.ok):
        if int(i) not in found.why:
            try:
                found.put_turn(int(i), _alone(system, designs, int(i), asked), nominal.full_turn)
            except LinkwrightError as error:
                found.why[int(i)] = str(error)
    cuts = np.cumsum([0, core.tree.nq, core.tree.nv, core.tree.nv, core.skel.cut_size])
    motions = None if found.motions is None else tuple(found.motions[..., a:b] for a, b in pairwise(cuts))
    reasons = {designs.index(i): text for i, text in sorted(found.why.items())}
    ok = found.ok.reshape(designs.shape)
    return Turns(system, designs, found.times(nominal.t), ok, reasons, nominal.notes, dict(asked), motions, found.shaped())


def _in_lanes(lanes: LaneTurns, found: TurnTable, reader: DesignReader, threads: int | None) -> None:
    """Turn the designs that can be, and put them into the table; `why` gets those that certainly cannot."""
    if lanes.walking is None:
        return
    which, size = np.flatnonzero(lanes.designs.possible()), lanes.walking.most
    for block in (which[k : k + size] for k in range(0, len(which), size)):
        motion = lanes(block, threads)
        found.why |= {int(block[k]): text for k, text in motion.why.items()}
        every = bool(motion.done.all())
        good, rows = (block, motion.rows) if every else (block[motion.done], motion.rows[motion.done])
        times = motion.t if motion.t.ndim == 1 else motion.t[motion.done]
        if len(good):
            found.put_motions(good, rows, times)
            reader.read(found, good, rows, times)


def _alone(system: System, designs: Designs, i: int, asked: Mapping[str, Any]) -> Trajectory:
    """The turn of one design by its own System, in the coordinates of the model."""
    description, cuts = designs.description(i), system.tree.cuts
    c = type(system)(description, presenter=system.presenter).turn(**asked)
    if c.skel.tree.cuts == cuts or not _same_joints(c, designs):
        return c
    return type(system)(description, cuts, presenter=system.presenter).turn(**asked)


def _same_joints(c: Trajectory, designs: Designs) -> bool:
    """True unless the numbers of a design decide how many joints there are (`repeat`)."""
    return [j.name for j in c.skel.tree.description.joints] == [j.name for j in designs.core.description.joints]


class TurnTable:
    """Results of all designs: channels, or motions where no channels are named; NaN for designs that are not ok."""

    def __init__(self, designs: Designs, names: Sequence[str] | None, samples: int, width: int):
        self.designs, self.names, self.samples = designs, names or [], samples
        self.motions = np.empty((len(designs), samples, width)) if names is None else None
        self.arrays: dict[str, np.ndarray] = {}
        self.ok, self.why = np.zeros(len(designs), dtype=bool), dict[int, str]()
        self.t: list[tuple[Any, np.ndarray]] = []

    def put(self, name: str, which: Any, values: np.ndarray) -> None:
        """Values (designs, samples, ...) of a channel of some designs."""
        if name not in self.arrays:
            self.arrays[name] = np.empty((len(self.designs), *values.shape[1:]))
        self.arrays[name][_range(which)] = values

    def put_motions(self, which: np.ndarray, rows: np.ndarray, t: np.ndarray) -> None:
        """Motions of some designs, which are ok, at times t."""
        self.ok[which] = True
        self.t.append((which, t))
        if self.motions is not None:
            self.motions[_range(which)] = rows[..., : self.motions.shape[2]]

    def put_turn(self, i: int, c: Trajectory, full: bool) -> None:
        """The turn of one design; not ok if it is no full one where the model has a `full` one."""
        if full and not c.full_turn:
            self.why[i] = next((x for x in c.notes if "cannot turn fully" in x), f"drive '{c.drive}' does not turn fully")
            return
        if self.motions is not None and not _same_joints(c, self.designs):
            self.why[i] = "this design has other joints than the model: its motion cannot be stored with theirs, name channels with read="
            return
        self.put_motions(np.array([i]), np.concatenate([c.q, c.v, c.a, cut_rows(c.skel, c.references)], axis=1)[None], c.t)
        self.put_one(i, c, self.names)

    def put_one(self, i: int, c: Trajectory, names: Sequence[str]) -> None:
        """Channels of one design from its turn."""
        for name, x in c.read(names).items():
            self.put(name, np.array([i]), x[None])

    def times(self, default: np.ndarray) -> np.ndarray:
        """Times of the samples: of all designs, or with their axes in front."""
        first = self.t[0][1] if self.t else default
        if first.ndim == 1 and all(t is first or np.array_equal(t, first) for _, t in self.t):
            return first
        out = np.full((len(self.designs), self.samples), np.nan)
        for which, t in self.t:
            out[which] = t
        return out.reshape(*self.designs.shape, self.samples)

    def shaped(self) -> dict[str, np.ndarray]:
        """Channels with the axes of the designs in front."""
        lost = np.flatnonzero(~self.ok)
        for x in (*self.arrays.values(), *(() if self.motions is None else (self.motions,))):
            x[lost] = np.nan
        empty = np.full((len(self.designs), self.samples), np.nan)
        found = {name: self.arrays.get(name, empty) for name in self.names}
        return {name: x.reshape(*self.designs.shape, *x.shape[1:]) for name, x in found.items()}


def _range(which: np.ndarray) -> Any:
    """A slice for numbers that follow each other: copied in one piece."""
    return slice(int(which[0]), int(which[-1]) + 1) if which[-1] - which[0] == len(which) - 1 else which


class DesignReader:
    """Channels of blocks of designs: coordinates as they are, loads by a kernel, everything else by a program of the designs' numbers."""

    def __init__(self, system: System, designs: Designs, asked: Mapping[str, Any], threads: int | None):
        self.system, self.core, self.designs, self.asked, self.threads = system, system.core, designs, asked, threads
        self._made: dict[tuple[str, ...], Any] = {}

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

    def read(self, out: TurnTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray) -> None:
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
        held = [name for name in left if self.nominal.channel(name).needs]
        others = [name for name in left if name not in loads and name not in held and not self._of_path(name)]
        done = self._traced(out, which, rows, t, others) if others else set()
        done |= self._held(out, which, rows, t, held) if held else set()
        done |= self._loaded(out, which, rows, t, loads) if loads else set()
        rest = [name for name in left if name not in done]
        for i in which if rest else ():
            out.put_one(int(i), _alone(self.system, self.designs, int(i), self.asked), rest)

    def _of_path(self, name: str) -> bool:
        """True for the curvature of a path in a static analysis, which needs the motion behind it."""
        return self.nominal.static and self.nominal.dimension(name) == "curvature"

    # ---------------------------------------------------------------- jerk, advantage, transmission by force

    def _held_motion(self, names: Sequence[str], rows: Mapping[str, np.ndarray]) -> tuple[HeldMotion, list[Channel], np.ndarray] | None:
        """The motion that these channels read, and the third derivatives of its drives; None where designs are read one by one."""
        reading = MotionReading(self.nominal)
        groups = reading.groups([self.nominal.channel(name) for name in names])
        bent = any(name.startswith(THIRD) for name in self.nominal.arrays)
        if len(groups) > 1 or (bent and self.designs.drives_change):
            return None
        some, held, third = groups[0]
        kernels = self.designs.kernels
        try:
            fast = native.available() and len(self.designs) >= WORTH
            looks = [self.nominal.instant(i * (len(self.nominal) - 1) // ORDERED) for i in range(ORDERED)]
            order = FixedOrder.of(self.core.loops, held, looks) if fast else None
            motion = HeldMotion(self.core.loops, rows, held, None, pushed(some), lambda free: kernels.equations(list(free)).loops, order)
            motion.batch.native, motion.batch.cores = fast, self.threads
        except (TracingError, *UNTRACEABLE):
            return None
        table = MotionChannels(motion.batch.loops, held)
        zero = np.zeros((self.nominal.t.shape[0], len(held)))
        return motion, [table[name] for name in names], zero if third is None else third

    def _held(self, out: TurnTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray, names: Sequence[str]) -> set[str]:
        """Jerks are held by what is prescribed, the others by the drives: two groups where both are asked for."""
        groups = (
            [n for n in names if "jerk" in self.nominal.channel(n).needs],
            [n for n in names if "jerk" not in self.nominal.channel(n).needs],
        )
        done = set[str]()
        n, samples = rows.shape[:2]
        for some in (g for g in groups if g):
            key, given = ("held", *some), self._rows_given(which, rows, t)
            if key not in self._made:
                self._made[key] = self._held_motion(some, given)
            if self._made[key] is None:
                continue
            motion, channels, third = self._made[key]
            motion.take(given, np.tile(third, (n, 1)))
            try:
                found = read_held(motion, channels)
            except ChannelError:  # a joint that runs on numbers only
                self._made[key] = None
                continue
            for name, x in found.items():
                out.put(name, which, x.reshape(n, samples, *x.shape[1:]))
            done |= set(found)
        return done

    # ---------------------------------------------------------------- loads

    def _lane_loads(self, names: Sequence[str], samples: int, most: int) -> tuple[LaneLoads, dict[Any, int]] | None:
        """Loads in lanes with the columns of these channels; None where some loads are not determinate."""
        if list(self.nominal.drives) != self.core.drive_names or not self.core.determinate_loads:
            return None
        kernel = self.designs.kernel("loads")
        if kernel is None:
            return None
        terms = load_terms(self.core.skel, self.nominal.drives)
        columns = {c: None for name in names if name in terms for c in terms[name].components}
        return (LaneLoads(kernel, samples, most, list(columns)), {c: k for k, c in enumerate(columns)}) if columns else None

    def _loaded(self, out: TurnTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray, names: Sequence[str]) -> set[str]:
        made = self._made.get(tuple(names), ())
        if made == () or (made is not None and made[0].most < len(rows)):  # blocks differ by the designs in them that failed
            made = self._made[tuple(names)] = self._lane_loads(names, rows.shape[1], len(rows))
        if made is None:
            return set()
        lanes, places = made
        columns, bad = lanes(rows, t, self.designs.values[which], self.threads)
        terms, tree = load_terms(self.core.skel, self.nominal.drives), self.core.tree
        found = [name for name in names if name in terms]
        for name in found:
            parts = [columns[places[c]] for c in terms[name].components]
            out.put(name, which, terms[name].combined(parts, rows[..., tree.nq : tree.nq + tree.nv]))
        for i in which[bad]:  # a kernel's pivots degenerate at some sample
            out.put_one(int(i), _alone(self.system, self.designs, int(i), self.asked), found)
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
            batch.native, batch.cores = native.available() and len(self.designs) >= WORTH, self.threads
            return batch, Channels(batch.skel)
        except (TracingError, *UNTRACEABLE):
            return None

    def _rows_given(self, which: np.ndarray, rows: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
        """All samples of these designs as arrays of a Batch."""
        n, samples = rows.shape[:2]
        tree, flat = self.core.tree, rows.reshape(n * samples, -1)
        cuts = np.cumsum([0, tree.nq, tree.nv, tree.nv, self.core.skel.cut_size])
        given = {name: flat[:, a:b] for name, a, b in zip(("q", "v", "a", "near"), cuts[:-1], cuts[1:], strict=True)}
        return given | {
            "t": np.broadcast_to(t, (n, samples)).reshape(-1, 1),
            "free": np.repeat(self.designs.values[which], samples, axis=0),
        }

    def _traced(self, out: TurnTable, which: np.ndarray, rows: np.ndarray, t: np.ndarray, names: Sequence[str]) -> set[str]:
        if self._program is None:
            return set()
        batch, channels = self._program
        wanted = [channels[name] for name in names if name in channels and (channels[name].winds is None or self.counted)]
        n, samples = rows.shape[:2]
        tree = self.core.tree
        batch.take(self._rows_given(which, rows, t))
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
