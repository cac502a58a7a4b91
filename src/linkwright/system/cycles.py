"""One cycle of many designs of a mechanism: `m.cycles({"L1": [0.28, 0.30, 0.32]})`, with exact derivatives on request.

    turned = CycleEvaluator(system, ["L1", "crank.mass"], read=["A.torque", "C.load"], derivatives=["L1", "crank.mass"])
    found = turned([[0.30, 0.4], [0.31, 0.4]])      found["A.torque"] (designs, samples), found.derivatives["A.torque"] (..., numbers)

Machine code reads channels and derivatives as far as it goes, the rest is read design by design. An evaluator is what optimizers and
studies call again and again: names, kernels and the model's own cycle are looked up once, and machine code is made at the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import ChannelError, LinkwrightError, UsageError, counted, whole_number
from linkwright.motion.cycle import MOST_STEPS
from linkwright.motion.cycle_derivatives import turn_derivatives, written_speeds
from linkwright.motion.cycle_lanes import AssemblyGaps, Gaps, lanes_of
from linkwright.motion.design_channels import DesignTurns, Gathered
from linkwright.motion.designs import DESIGNS_FOR_CODE, ClosedDesign, Designs
from linkwright.numerics.memory_and_threads import Store, essentials
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.channels.derivatives import refused
from linkwright.results.channels.kernel import DETERMINANT
from linkwright.results.motion_checks import singular_check
from linkwright.results.records import cut_rows
from linkwright.results.trajectories import STATE, ChannelDerivatives, MotionSource, Trajectories
from linkwright.results.trajectory import Trajectory
from linkwright.system.compiled import compiled_of
from linkwright.system.mechanism import mechanism_of

if TYPE_CHECKING:
    from linkwright.results.channels.channel_list import ChannelList
    from linkwright.system.system import System

MOST_NUMBERS = 250_000_000  # of a result: 2 GB
DESIGN_CYCLES: Store[tuple[Any, ...], DesignTurns] = Store()  # by designs, what was asked and the channels
STORED = 16  # ways of computing designs that are stored with a mechanism
NOT_TURNED = "the design cannot be reached from the model's own parameters, or passes a singular position: see m.with_(...).cycle()"


def cycles(
    system: System, given: Mapping[str, Any], asked: Mapping[str, Any], read: Any, threads: int | None, derivatives: Any = None
) -> Trajectories:
    """See `Mechanism.cycles`."""
    core, samples = compiled_of(system), whole_number(asked["steps"], "steps", 2, MOST_STEPS) + 1
    designs, reader = Designs.of(core, given), DesignReader(system, asked)
    names = None if read is None else [read] if isinstance(read, str) else list(dict.fromkeys(read))
    _ = reader.nominal  # says what is wrong
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
    sizes = np.array([p.size for p in core.chosen(list(by))] if by else [])
    found.slopes = {n: _refused(reader.nominal, n, found.values[n], x, sizes) for n, x in found.slopes.items()}
    return reader.trajectories(designs, found)


def _refused(nominal: Trajectory, name: str, values: np.ndarray, slopes: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Derivatives of a channel, NaN where they do not exist; designs and samples in front."""
    flat = (values.reshape(-1, *values.shape[2:]), slopes.reshape(-1, *slopes.shape[2:]))
    return refused(*flat, sizes, nominal._channel(name).kink)[0].reshape(slopes.shape)


@dataclass(frozen=True, eq=False)
class CycleSource(MotionSource):
    """Cycles of designs: what is not stored is read from their motions, if these are."""

    __getstate__ = essentials

    reader: DesignReader
    designs: Designs

    noun = "design"

    @property
    def name(self) -> str:
        return self.reader.system.description.name

    @property
    def drive(self) -> str:
        return self.reader.nominal.drive

    @property
    def units(self) -> tuple[str, ...]:
        return self.reader.system.description.units

    @property
    def axes(self) -> str:
        return self.reader.system.description.plane or "xyz"

    @property
    def channels(self) -> ChannelList:
        return self.reader.nominal.channels

    def channel(self, name: str) -> Channel:
        return self.reader.nominal._channel(name)

    def numbers(self, i: int) -> dict[str, float]:
        return self.designs.numbers(i)

    def one(self, i: int) -> Trajectory:
        return self.reader.alone(self.designs, i)

    def check(self, text: Any) -> None:
        from linkwright.results.measures import check

        check([text], self.reader.nominal)

    def read(self, t: Trajectories, names: list[str]) -> dict[str, np.ndarray]:
        if not STATE.keys() <= t.values.keys():
            known = [n for n in t.values if n not in STATE]
            raise ChannelError(f"'{names[0]}' was not read. Name it in the call: read={[*known, names[0]]!r}.", name=names[0])
        self.reader.check(names)
        n = len(self.designs)
        q, near = (t.values[name].reshape(n, *t.values[name].shape[len(t.shape) :]) for name in ("state q", "state near"))
        return self.reader.again(self.designs, names, q, near, t.ok.ravel()).values


@dataclass(frozen=True, eq=False)
class DesignReader:
    """How channels of cycles of designs are read; `now`: machine code is made however few designs there are."""

    system: System
    asked: Mapping[str, Any]
    now: bool = False
    fixed: bool = False  # drives begin where those of the model do, wherever pins of the drawing put them

    @cached_property
    def nominal(self) -> Trajectory:
        return mechanism_of(self.system).cycle(**self.asked)

    def check(self, names: Sequence[str]) -> None:
        """Raise ChannelError for names that no cycle has, UsageError for loads without masses."""
        for name in names:
            if name != DETERMINANT and name not in STATE:
                self.nominal._channel(name)
        if any(name in self.nominal._load_channels for name in names):
            compiled_of(self.system).kernels.need_masses()

    def turning(self, designs: Designs, names: Sequence[str], by: Sequence[str]) -> DesignTurns | None:
        """Native cycles of designs; None where there is no code for them, or they are few."""
        if not self.now and len(designs) < DESIGNS_FOR_CODE:
            if by:  # says what is wrong, and which channels have none
                self._written(designs, names, by)
                self.nominal.derivatives(list(by)).read([n for n in names if n not in ("t", DETERMINANT, *STATE)])
            return None
        core = compiled_of(self.system)
        store = DESIGN_CYCLES.of(core)
        key = (designs.key, tuple(sorted(self.asked.items())), tuple(names), tuple(by), core.start.q.tobytes(), self.fixed)
        if key not in store:
            places = tuple(designs.key.index(name) for name in by)
            lanes = replace(lanes_of(core, designs, **self.asked), now=self.now, fixed=self.fixed)
            moving = self._written(designs, names, by) if by else frozenset[str]()
            made = DesignTurns(lanes, tuple(n for n in names if n != "t"), places, moving)
            if by:  # says which channels have none
                self.nominal.derivatives(list(by)).read([n for n in names if n not in (*made.names, "t", DETERMINANT)])
            if not made.ready:
                return None
            while len(store) >= STORED:
                store.pop(next(iter(store)))
            store[key] = made
        return store[key]

    def _written(self, designs: Designs, names: Sequence[str], by: Sequence[str]) -> frozenset[str]:
        """Drives whose speeds are written with numbers; raise UsageError where derivatives do not exist."""
        c = self.nominal
        loads = [name for name in names if name in c._load_channels]
        c.derivatives(list(by)).need(loads)  # says what is wrong
        chosen = [p for p in designs.chosen if p.name in by]
        return written_speeds(compiled_of(self.system), chosen, list(c.drives), c)

    def table(
        self, designs: Designs, names: Sequence[str], by: Sequence[str] = (), threads: int | None = None, *, floats: bool = True
    ) -> Gathered:
        """Channels of all designs, and derivatives by numbers that are among theirs. Without `floats` designs that native code
        cannot compute are left, where there is any."""
        turning = self.turning(designs, names, by) if designs.alike() else None
        out = self._found(None if turning is None else turning(designs, threads), len(designs), names, by)
        if turning is not None:
            usable = designs.possible()
            out.ok &= usable
            out.why = {i: text for i, text in out.why.items() if usable[i]}
            if "t" in names:
                out.values["t"] = np.array(np.broadcast_to(out.t, (len(designs), out.samples)))
        read = {"t", *(() if turning is None else turning.names)}
        done = set(np.flatnonzero(out.ok).tolist())
        rest = [name for name in names if name not in read]
        for i in range(len(designs)):
            if i in out.why or (i in done and not rest):
                continue
            if i not in done and turning is not None and not floats:
                out.why[i] = NOT_TURNED
                continue
            self._alone(out, designs, i, rest if i in done else names, by)
        out.finish(self.nominal.t)
        return out

    def again(self, designs: Designs, names: Sequence[str], q: np.ndarray, near: np.ndarray, ok: np.ndarray) -> Gathered:
        """Channels of designs whose positions (designs, samples, ...) are known; `ok` is the mask of those that have some."""
        turning = self.turning(designs, names, ()) if designs.alike() else None
        out = self._found(None if turning is None else turning.again(designs, q, near, ok), len(designs), names)
        out.ok &= ok
        for i in np.flatnonzero(ok):
            left = [n for n in names if turning is None or not out.ok[i] or n not in (*turning.names, "t")]
            if left:
                self._alone(out, designs, int(i), left, ())
        out.finish(self.nominal.t)
        if "t" in names:
            out.values["t"] = np.where(ok[:, None], np.broadcast_to(out.t, (len(designs), out.samples)), np.nan)
        return out

    def _found(self, native: Gathered | None, n: int, names: Sequence[str], by: Sequence[str] = ()) -> Gathered:
        """What native code found, to be completed."""
        if native is None:
            return Gathered(n, self.asked["steps"] + 1, names, by)
        native.names, native.by = tuple(names), tuple(by)
        return native

    def trajectories(self, designs: Designs, found: Gathered) -> Trajectories:
        """A result of what was found."""
        shape, samples = designs.shape, found.samples

        def shaped(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {name: x.reshape(*shape, *x.shape[1:]) for name, x in arrays.items()}

        why, unknown = ({designs.index(i): text for i, text in sorted(x.items())} for x in (found.why, found.unknown))
        t = found.t if found.t.ndim == 1 else found.t.reshape(*shape, samples)
        near = None if found.near is None else found.near.reshape(*shape, samples)
        slopes = ChannelDerivatives(found.by, shaped(found.slopes))
        source, ok = CycleSource(self, designs), found.ok.reshape(shape)
        return Trajectories(source, t, ok, shaped(found.values), why, slopes, self.nominal.notes, near, unknown)

    def _alone(self, out: Gathered, designs: Designs, i: int, names: Sequence[str], by: Sequence[str]) -> None:
        """One design by its own cycle; not ok if that is no full one where the model has a full one."""
        try:
            c = self.alone(designs, i)
            if self.nominal.full_turn and not c.full_turn:
                out.why[i] = next((x for x in c.notes if "cannot turn fully" in x), f"drive '{c.drive}' does not turn fully")
            elif any(n in STATE for n in names) and not _same_joints(c, designs):
                out.why[i] = "this design has other joints than the model: its motion cannot be stored with theirs, use read="
            else:
                _put_alone(out, i, c, names, by, designs)
                return
        except LinkwrightError as error:
            out.why[i] = str(error)
        out.ok[i] = False

    def alone(self, designs: Designs, i: int) -> Trajectory:
        """The cycle of one design by its own System, in the coordinates of the model."""
        system = self.system
        description, cuts = designs.description(i), system.tree.cuts
        c = mechanism_of(type(system)(description)).cycle(**self.asked)
        if c.skel.tree.cuts == cuts or not _same_joints(c, designs):
            return c
        return mechanism_of(type(system)(description, cuts)).cycle(**self.asked)


def _put_alone(out: Gathered, i: int, c: Trajectory, names: Sequence[str], by: Sequence[str], designs: Designs) -> None:
    """Channels of one design from its cycle, and their derivatives."""
    for name in (n for n in names if n in STATE):
        out.put(out.values, name, i, cut_rows(c.skel, c.references) if STATE[name] == "near" else getattr(c, STATE[name]))
    plain = [n for n in names if n not in STATE and n != DETERMINANT]
    for name, x in c.read(plain).items():
        out.put(out.values, name, i, x)
    if by and plain:
        places = [designs.key.index(name) for name in by]
        for name, x in turn_derivatives(designs.core, c, designs.key, designs.values[i]).read(plain).items():
            out.put(out.slopes, name, i, x[..., places])
    out.put_time(i, c.t)
    if c.near_singular.any():
        if out.near is None:
            out.near = np.zeros((out.n, out.samples), dtype=bool)
        out.near[i], out.unknown[i] = c.near_singular, str(singular_check(c).text)
    out.ok[i] = True


def _same_joints(c: Trajectory, designs: Designs) -> bool:
    """True unless the parameters of a design decide how many joints there are (`repeat`)."""
    return [j.name for j in c.skel.tree.description.joints] == [j.name for j in designs.core.description.joints]


def with_numbers(designs: Designs, by: Sequence[str]) -> Designs:
    """Designs with further numbers at the values of the model: those that results are differentiated by."""
    chosen = [p for p in designs.core.chosen(list(by)) if p.name not in designs.key] if by else []
    if not chosen:
        return designs
    more = np.tile([p.value for p in chosen], (len(designs), 1))
    return Designs(designs.core, (*designs.chosen, *chosen), designs.shape, np.concatenate([designs.values, more], axis=1))


class CycleEvaluator:
    """Cycles of designs of one mechanism, given as rows of values of its `numbers`, in SI."""

    def __init__(
        self,
        system: System,
        numbers: Sequence[str],
        read: Sequence[str],
        *,
        derivatives: Sequence[str] = (),
        drive: str | None = None,
        steps: int = 360,
        speed: Any = None,
        duration: Any = None,
        start: Any = None,
        stop: Any = None,
        floats: bool = False,
        fixed: bool = False,
    ):
        """`derivatives` are numbers by which channels are differentiated, among those that vary or not; with `floats` designs that native
        code cannot move (through a change point, or far from the model's own) are computed one by one, which takes far longer. `fixed`:
        drives begin where the model's own do, wherever pins of the drawing put them."""
        asked = {"drive": drive, "steps": steps, "speed": speed, "duration": duration, "start": start, "stop": stop}
        core = compiled_of(system)
        self.reader, self.floats = DesignReader(system, asked, now=True, fixed=fixed), floats
        self.read = tuple(dict.fromkeys(read))
        own = Designs.of(core, {p.name: p.value for p in core.chosen(list(numbers))})
        self.by = tuple(p.name for p in core.chosen(list(derivatives))) if derivatives else ()
        self._designs, self._width = with_numbers(own, self.by), len(own.chosen)
        self._stored: dict[Any, AssemblyGaps] = {}
        self.reader.check(self.read)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the columns of a call's rows."""
        return self._designs.key[: self._width]

    @property
    def nominal(self) -> np.ndarray:
        """The model's own values."""
        return self._designs.nominal[: self._width]

    @property
    def cycle(self) -> Trajectory:
        """The model's own cycle."""
        return self.reader.nominal

    def based(self, closed: ClosedDesign | None) -> None:
        """Reach designs from another one than the model's own from now on."""
        self._designs = replace(self._designs, base=closed)

    def __call__(self, rows: Any, threads: int | None = None) -> Trajectories:
        """Compute the cycles of the designs with these values (designs, numbers)."""
        designs = self._whole(self._given(rows))
        return self.reader.trajectories(designs, self.reader.table(designs, self.read, self.by, threads, floats=self.floats))

    def blocks(self, rows: Any, most: int = 256, threads: int | None = None) -> Iterator[tuple[slice, Trajectories]]:
        """The same for so many designs at a time: memory does not grow with their number."""
        given = self._given(rows)
        for first in range(0, len(given), most):
            some = slice(first, min(first + most, len(given)))
            yield some, self(given[some], threads)

    def gaps(self, rows: Any, positions: int = 72, threads: int | None = None) -> Gaps:
        """Assembly gaps of the designs at so many positions of the drives over their cycles, also of those that cannot be assembled.

        Derivatives of gap^2/2 are by the numbers of `by`, or by `numbers` where there are none.
        """
        key, system = ("gaps", positions), self.reader.system
        if key not in self._stored:
            asked: dict[str, Any] = {**self.reader.asked, "steps": positions - 1}
            lanes = replace(lanes_of(compiled_of(system), self._designs, **asked), now=True)
            self._stored[key] = AssemblyGaps(lanes, mechanism_of(system).cycle(**asked))
        found = self._stored[key](self._whole(self._given(rows)), threads)
        return found._replace(slopes=found.slopes[..., [self._designs.key.index(name) for name in self.by or self.numbers]])

    def _whole(self, rows: np.ndarray) -> Designs:
        """Designs with the numbers that do not vary."""
        more = self._designs.nominal[self._width :]
        return self._designs.at(np.concatenate([rows, np.broadcast_to(more, (len(rows), len(more)))], axis=1) if len(more) else rows)

    def _given(self, rows: Any) -> np.ndarray:
        found = np.array(rows, dtype=float, ndmin=2)
        if found.ndim != 2 or found.shape[1] != self._width or not len(found):
            raise UsageError(
                f"designs are rows of {self._width} numbers ({', '.join(self.numbers)}), not an array of shape {found.shape}.",
                name="designs",
            )
        if not np.isfinite(found).all():
            raise UsageError("designs have numbers that are not finite.", name="designs")
        return found
