"""Channels and derivatives of cycles of many designs: in machine code as far as it goes, the rest design by design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.motion.channel_kernels import DETERMINANT, STATE
from linkwright.motion.cycle_derivatives import turn_derivatives, written_speeds
from linkwright.motion.cycle_lanes import lanes_of
from linkwright.motion.design_channels import DesignTurns, ReadCycles
from linkwright.motion.designs import DESIGNS_FOR_CODE, Designs
from linkwright.numerics.result_stores import Store
from linkwright.results.motion_checks import singular_check
from linkwright.results.records import cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.system import motions
from linkwright.system.compiled import compiled_of

if TYPE_CHECKING:
    from linkwright.system.system import System

DESIGN_CYCLES: Store[tuple[Any, ...], DesignTurns] = Store()  # by designs, what was asked and the channels
STORED = 16  # ways of computing designs that are stored with a mechanism
NOT_TURNED = "the design cannot be reached from the model's own parameters, or passes a singular position: see m.with_(...).cycle()"


class DesignTable:
    """Results of designs by channel, (designs, samples, ...); NaN for designs that are not ok."""

    def __init__(self, n: int, samples: int, names: Sequence[str], by: int):
        self.n, self.samples, self.names, self.by = n, samples, tuple(names), by
        self.values: dict[str, np.ndarray] = {}
        self.slopes: dict[str, np.ndarray] = {}
        self.ok, self.why = np.zeros(n, dtype=bool), dict[int, str]()
        self.t = np.zeros(0)  # of all designs, or of each; empty until it is known
        self.near: np.ndarray | None = None  # (designs, samples): True near a singular position; native code computes no such design
        self.unknown = dict[int, str]()  # what cannot be known of designs near a singular position

    def take(self, found: ReadCycles, usable: np.ndarray) -> None:
        """Everything that native code found, of the designs that are usable."""
        self.values, self.slopes = dict(found.values), dict(found.slopes)
        self.ok[:] = found.done & usable
        self.why |= {i: text for i, text in found.why.items() if usable[i]}
        self.t = found.t

    def put(self, where: dict[str, np.ndarray], name: str, i: int, value: np.ndarray) -> None:
        """A channel, or its derivatives, of one design."""
        if name not in where:
            where[name] = np.full((self.n, *value.shape), np.nan)
        where[name][i] = value

    def put_time(self, i: int, t: np.ndarray) -> None:
        """Times of a design that native code did not compute."""
        if not self.t.size:
            self.t = t if self.n == 1 else np.full((self.n, self.samples), np.nan)
        if self.t.ndim == 1 and not np.array_equal(self.t, t):
            self.t = np.tile(self.t, (self.n, 1))
        if self.t.ndim > 1:
            self.t[i] = t

    def put_singular(self, i: int, c: Trajectory) -> None:
        """Samples of one design near a singular position."""
        if c.near_singular.any():
            if self.near is None:
                self.near = np.zeros((self.n, self.samples), dtype=bool)
            self.near[i], self.unknown[i] = c.near_singular, str(singular_check(c).text)

    def put_alone(self, i: int, c: Trajectory, names: Sequence[str], by: Sequence[str], designs: Designs) -> None:
        """Channels of one design from its cycle, and their derivatives."""
        for name in (n for n in names if n in STATE):
            self.put(self.values, name, i, cut_rows(c.skel, c.references) if STATE[name] == "near" else getattr(c, STATE[name]))
        plain = [n for n in names if n not in STATE and n != DETERMINANT]
        for name, x in c.read(plain).items():
            self.put(self.values, name, i, x)
        if by and plain:
            places = [designs.key.index(name) for name in by]
            for name, x in turn_derivatives(designs.core, c, designs.key, designs.values[i]).read(plain).items():
                self.put(self.slopes, name, i, x[..., places])

    def finish(self, nominal: np.ndarray) -> None:
        """NaN for the designs that failed, and times for all."""
        lost, shape = np.flatnonzero(~self.ok), (self.n, self.samples)
        self.values = {name: self.values[name] if name in self.values else np.full(shape, np.nan) for name in self.names}
        for x in (*self.values.values(), *self.slopes.values()) if len(lost) else ():
            x[lost] = np.nan
        if self.by:
            shapes = {name: (*x.shape, self.by) for name, x in self.values.items() if name != "t"}
            self.slopes = {name: self.slopes[name] if name in self.slopes else np.full(shape, np.nan) for name, shape in shapes.items()}
        self.t = self.t if self.t.size else nominal
        if self.t.ndim > 1 and (self.t == self.t[0]).all():
            self.t = self.t[0].copy()


@dataclass(frozen=True, eq=False)
class DesignReader:
    """How channels of cycles of designs are read; `now`: machine code is made however few designs there are."""

    system: System
    asked: Mapping[str, Any]
    now: bool = False
    fixed: bool = False  # drives begin where those of the model do, wherever pins of the drawing put them

    @cached_property
    def nominal(self) -> Trajectory:
        return motions.cycle(self.system, **self.asked)

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
    ) -> DesignTable:
        """Channels of all designs, and derivatives by numbers that are among theirs. Without `floats` designs that native code
        cannot compute are left, where there is any."""
        out = DesignTable(len(designs), self.asked["steps"] + 1, names, len(by))
        turning = self.turning(designs, names, by) if designs.alike() else None
        if turning is not None:
            out.take(turning(designs, threads), designs.possible())
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

    def again(self, designs: Designs, names: Sequence[str], q: np.ndarray, near: np.ndarray, ok: np.ndarray) -> DesignTable:
        """Channels of designs whose positions (designs, samples, ...) are known; `ok` is the mask of those that have some."""
        out = DesignTable(len(designs), self.asked["steps"] + 1, names, 0)
        turning = self.turning(designs, names, ()) if designs.alike() else None
        if turning is not None:
            out.take(turning.again(designs, q, near, ok), ok)
        for i in np.flatnonzero(ok):
            left = [n for n in names if turning is None or not out.ok[i] or n not in (*turning.names, "t")]
            if left:
                self._alone(out, designs, int(i), left, ())
        out.finish(self.nominal.t)
        if "t" in names:
            out.values["t"] = np.where(ok[:, None], np.broadcast_to(out.t, (len(designs), out.samples)), np.nan)
        return out

    def _alone(self, out: DesignTable, designs: Designs, i: int, names: Sequence[str], by: Sequence[str]) -> None:
        """One design by its own cycle; not ok if that is no full one where the model has a full one."""
        try:
            c = self.alone(designs, i)
            if self.nominal.full_turn and not c.full_turn:
                out.why[i] = next((x for x in c.notes if "cannot turn fully" in x), f"drive '{c.drive}' does not turn fully")
            elif any(n in STATE for n in names) and not _same_joints(c, designs):
                out.why[i] = "this design has other joints than the model: its motion cannot be stored with theirs, use read="
            else:
                out.put_alone(i, c, names, by, designs)
                out.put_time(i, c.t)
                out.put_singular(i, c)
                out.ok[i] = True
                return
        except LinkwrightError as error:
            out.why[i] = str(error)
        out.ok[i] = False

    def alone(self, designs: Designs, i: int) -> Trajectory:
        """The cycle of one design by its own System, in the coordinates of the model."""
        system = self.system
        description, cuts = designs.description(i), system.tree.cuts
        c = motions.cycle(type(system)(description), **self.asked)
        if c.skel.tree.cuts == cuts or not _same_joints(c, designs):
            return c
        return motions.cycle(type(system)(description, cuts), **self.asked)


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
