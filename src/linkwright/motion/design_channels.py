"""Channels of cycles of many designs, with exact derivatives, in machine code: walk in lanes of designs, read in lanes of samples.

    turned = DesignTurns(lanes, names, by)(designs)        values[name] (designs, samples, ...), slopes[name] (..., numbers)

Nothing of a motion is stored but positions of a block of designs; every channel is written once, where it stays. Designs that native code
cannot be computed or read are not `done`; where it is certain that they have no cycle, `why` has the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwright.compiler.record_loops import padded
from linkwright.errors import UsageError, counted
from linkwright.kernels.driven_motion import LaneWalking
from linkwright.mechanics.kinematics.motion import body_jacobian, motion
from linkwright.motion.cycle_lanes import CycleLanes, LaneMotion
from linkwright.motion.designs import Designs
from linkwright.properties import cached_property
from linkwright.results.channels import Channel
from linkwright.results.channels.graph import composed, composed_slopes
from linkwright.results.channels.kernel import DETERMINANT, ChannelReading, hidden, slope
from linkwright.results.channels.lanes import LaneReading
from linkwright.results.trajectories import STATE

MOST_NUMBERS = 500_000_000  # of a result: 4 GB


class Gathered:
    """Channels of designs, (designs, samples, ...), and their derivatives, as they are found: by native code, then design by design."""

    def __init__(self, n: int, samples: int, names: Sequence[str], by: Sequence[str] = ()):
        self.n, self.samples, self.names, self.by = n, samples, tuple(names), tuple(by)
        self.values: dict[str, np.ndarray] = {}
        self.slopes: dict[str, np.ndarray] = {}
        self.ok, self.why = np.zeros(n, dtype=bool), dict[int, str]()
        self.t = np.zeros(0)  # of all designs, or of each; empty until it is known
        self.near: np.ndarray | None = None  # (designs, samples): True near a singular position; native code computes no such design
        self.unknown = dict[int, str]()  # what cannot be known of designs near a singular position

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

    def finish(self, nominal: np.ndarray) -> None:
        """NaN for the designs that failed, and times for all."""
        lost, shape = np.flatnonzero(~self.ok), (self.n, self.samples)
        self.values = {name: self.values[name] if name in self.values else np.full(shape, np.nan) for name in self.names}
        for x in (*self.values.values(), *self.slopes.values()) if len(lost) else ():
            x[lost] = np.nan
        if self.by:
            shapes = {name: (*x.shape, len(self.by)) for name, x in self.values.items() if name != "t"}
            self.slopes = {name: self.slopes[name] if name in self.slopes else np.full(shape, np.nan) for name, shape in shapes.items()}
        self.t = self.t if self.t.size else nominal
        if self.t.ndim > 1 and (self.t == self.t[0]).all():
            self.t = self.t[0].copy()


@dataclass(frozen=True, eq=False)
class DesignTurns:
    """Named channels of cycles, and the places of the parameters by which they are differentiated."""

    lanes: CycleLanes
    asked: tuple[str, ...]
    by: tuple[int, ...] = ()
    moving: frozenset[str] = frozenset()  # drives whose speeds are written with these numbers

    @cached_property
    def _made(self) -> tuple[LaneReading, LaneWalking, tuple[str, ...]] | None:
        """The kernels in lanes, and the channels that they read."""
        lanes, designs = self.lanes, self.lanes.designs
        if not self.lanes.possible:
            return None
        reading, names = self._reading, self.asked
        if not self._loaded:
            names = tuple(name for name in names if name not in reading.load_names)
        if not names:
            return None
        kernel = designs.native(("reading", reading.drives, names, self.by, self.moving), lambda: reading.kernel(names), lanes.now)
        walking = None if kernel is None else lanes.walking(counted="near" in kernel.reads)
        if kernel is None or walking is None:
            return None
        values = {b.name: b for b in kernel.code.outputs}
        read = tuple(name for name in names if name in values)
        size = sum(values[name].size for name in read)
        return LaneReading(kernel, lanes.steps + 1, size), walking, read

    @cached_property
    def _reading(self) -> ChannelReading:
        designs, laws = self.lanes.designs, self.lanes.ready.plan.laws
        return ChannelReading(designs.kernels, designs.chosen, tuple(laws), self.by, self.moving)

    @property
    def _loaded(self) -> bool:
        """True if loads of these drives are determinate."""
        core = self.lanes.designs.core
        return list(self.lanes.ready.plan.laws) == core.drive_names and core.determinate_loads

    @property
    def ready(self) -> bool:
        """True if machine code is at hand."""
        return self._made is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Channels that are read. Others have to be read design by design."""
        return () if self._made is None else self._made[2]

    @cached_property
    def _channels(self) -> dict[str, Channel]:
        table = self._reading.channels(self.lanes.designs.core.loops)
        return {name: table[name] for name in self.names if name not in STATE and name != DETERMINANT}

    # ---------------------------------------------------------------- calls

    def __call__(self, designs: Designs, cores: int | None = None) -> Gathered:
        """All designs; those that native code did not compute are not ok."""
        assert self._made is not None
        reading, walking, _ = self._made
        n = len(designs)
        if n * self.samples * reading.size > MOST_NUMBERS:
            raise UsageError(
                f"{counted(n, 'design')} of {counted(self.samples, 'sample')} with {reading.size} numbers each do not fit "
                "into memory: read fewer channels, "
                "differentiate by fewer numbers, or call it for fewer designs at once.",
                name="read",
            )
        return self._gathered(designs, lambda which: self.lanes(designs, which, walking, cores), cores)

    def again(self, designs: Designs, q: np.ndarray, near: np.ndarray, ok: np.ndarray, cores: int | None = None) -> Gathered:
        """The same from positions (designs, samples, ...) that are known, of the designs that are ok."""
        assert self._made is not None
        sizes, samples = self._made[1].sizes, self.samples

        def moved(which: np.ndarray) -> LaneMotion:
            own = np.concatenate([q[which], near[which][..., : sizes.near], np.ones((len(which), samples, 1))], axis=2)
            rows = np.pad(own, ((0, 0), (0, padded(samples) - samples), (0, 0)), "edge").transpose(0, 2, 1)
            laws = self.lanes.laws(designs, which)
            return LaneMotion(np.ascontiguousarray(rows), laws if self.lanes.ready.plan.rate else laws.at_rest(), ok[which], {})

        return self._gathered(designs, moved, cores)

    @property
    def samples(self) -> int:
        """Samples of a motion."""
        return self.lanes.steps + 1

    def _gathered(self, designs: Designs, moved: Callable[[np.ndarray], LaneMotion], cores: int | None) -> Gathered:
        """Channels of designs, a block of motions at a time."""
        assert self._made is not None
        n, found = len(designs), Gathered(len(designs), self.samples, self.names)
        out, times = self._made[0].empty(n), np.zeros(0)
        for first in range(0, n, self.lanes.block):
            which = np.arange(first, min(first + self.lanes.block, n))
            block = moved(which)
            found.ok[which] = self._filled(designs, which, block, out, first, cores)
            found.why |= {int(which[k]): text for k, text in block.why.items()}
            times = self._times(times, block, which, n)
        found.values, found.slopes = self._shaped(out, found.ok)
        found.t = times[..., : self.samples]
        return found

    def _filled(
        self, designs: Designs, which: np.ndarray, moved: LaneMotion, out: np.ndarray, offset: int, cores: int | None
    ) -> np.ndarray:
        """Read a block that is computed."""
        assert self._made is not None
        reading, walking, _ = self._made
        numbers = designs.values[which]
        bad = reading(moved.rows, moved.laws.t, moved.laws.rows, numbers, ~moved.done, out, offset, cores)
        for b in reading.outputs:
            c = self._channels.get(b.name)
            if c is not None and c.winds is not None:
                part = out[b.start, offset : offset + len(which)]
                part += self._turns(c.winds, part, moved.rows[:, : walking.sizes.nq])
        return moved.done & ~bad

    def _times(self, times: np.ndarray, moved: LaneMotion, which: np.ndarray, n: int) -> np.ndarray:
        """Times of all designs, or of each where they differ."""
        own = moved.laws.t
        if own.ndim == 1 and n > 1 and self.lanes.designs.drives_change:
            own = np.broadcast_to(own, (len(which), len(own)))
        if own.ndim == 1:
            return own
        every = times if times.size else np.full((n, own.shape[1]), np.nan)
        every[which] = own
        return every

    def _shaped(self, out: np.ndarray, done: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Channels and derivatives with designs and samples in front: views, but for those that are made of others."""
        assert self._made is not None
        samples = self.samples
        blocks = {b.name: b for b in self._made[0].outputs}

        def view(name: str) -> np.ndarray:
            b = blocks[name]
            x = out[b.start : b.start + b.size, :, :samples].reshape(*b.shape, out.shape[1], samples)
            return np.moveaxis(x, (-2, -1), (0, 1))

        values, slopes = {}, {}
        for name in self.names:
            c, raw = self._channels.get(name), view(name)
            made = c is not None and c.cook is not None
            clean = np.where(done.reshape(-1, *[1] * (raw.ndim - 1)), raw, 1.0) if made else raw
            values[name] = composed(c, clean, 2)
            if self.by:
                direct = slope(hidden(name))
                slopes[name] = view(direct) if direct in blocks else composed_slopes(c, clean, view(slope(name)), 2)
        return values, slopes

    def _turns(self, node: int, angle: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Whole turns of a body in the plane, counted from the first sample; see `state.wound`."""
        skel = self.lanes.designs.core.skel
        m = motion(skel, self.lanes.designs.core.start.q, np.zeros(skel.tree.nv))
        shares = body_jacobian(skel, m, node)[2]
        expected = angle[:, :1] + np.einsum("dis,i->ds", q - q[:, :, :1], shares)
        with np.errstate(invalid="ignore"):
            return 2.0 * np.pi * np.rint((expected - angle) / (2.0 * np.pi))
