"""Channels of cycles of many designs, with exact derivatives, in machine code: walk in lanes of designs, read in lanes of samples.

    turned = DesignTurns(lanes, names, by)(designs)        values[name] (designs, samples, ...), slopes[name] (..., numbers)

Nothing of a motion is stored but positions of a block of designs; every channel is written once, where it stays. Designs that native code
cannot be computed or read are not `done`; where it is certain that they have no cycle, `why` has the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwright.compiler.record_loops import padded
from linkwright.errors import UsageError, counted
from linkwright.kernels.channel_lanes import LaneReading
from linkwright.kernels.channel_program import hidden, slope
from linkwright.kernels.driven_motion import LaneWalking
from linkwright.mechanics.kinematics.motion import body_jacobian, motion
from linkwright.motion.channel_kernels import DETERMINANT, STATE, ChannelReading
from linkwright.motion.cycle_lanes import CycleLanes, LaneMotion
from linkwright.motion.designs import Designs
from linkwright.results.channels import Channel
from linkwright.results.composed_channels import composed, composed_slopes

MOST_NUMBERS = 500_000_000  # of a result: 4 GB


class ReadCycles(NamedTuple):
    """Channels of designs and their derivatives; of designs that are not `done` they mean nothing."""

    values: dict[str, np.ndarray]
    slopes: dict[str, np.ndarray]
    t: np.ndarray  # (samples,), or (designs, samples)
    done: np.ndarray
    why: dict[int, str]


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

    def __call__(self, designs: Designs, cores: int | None = None) -> ReadCycles:
        """All designs."""
        assert self._made is not None
        reading, samples, n = self._made[0], self.lanes.steps + 1, len(designs)
        if n * samples * reading.size > MOST_NUMBERS:
            raise UsageError(
                f"{counted(n, 'design')} of {counted(samples, 'sample')} with {reading.size} numbers each do not fit "
                "into memory: read fewer channels, "
                "differentiate by fewer numbers, or call it for fewer designs at once.",
                name="read",
            )
        out = reading.empty(n)
        done, why, times = np.zeros(n, dtype=bool), dict[int, str](), np.zeros(0)
        for first, which in self._blocks(designs):
            moved, good = self._read(designs, which, out, first, cores)
            done[which] = good
            why |= {int(which[k]): text for k, text in moved.why.items()}
            times = self._times(times, moved, which, n)
        values, slopes = self._shaped(out, done)
        return ReadCycles(values, slopes, times[..., :samples], done, why)

    def again(self, designs: Designs, q: np.ndarray, near: np.ndarray, ok: np.ndarray, cores: int | None = None) -> ReadCycles:
        """The same from positions (designs, samples, ...) that are known, of the designs that are ok."""
        assert self._made is not None
        reading, walking, _ = self._made
        n, samples = len(designs), self.lanes.steps + 1
        out, done, times = reading.empty(n), np.zeros(n, dtype=bool), np.zeros(0)
        for first, which in self._blocks(designs):
            own = np.concatenate([q[which], near[which][..., : walking.sizes.near], np.ones((len(which), samples, 1))], axis=2)
            rows = np.pad(own, ((0, 0), (0, padded(samples) - samples), (0, 0)), "edge").transpose(0, 2, 1)
            laws = self.lanes.laws(designs, which)
            moved = LaneMotion(np.ascontiguousarray(rows), laws if self.lanes.ready.plan.rate else laws.at_rest(), ok[which], {})
            done[which] = self._filled(designs, which, moved, out, first, cores)
            times = self._times(times, moved, which, n)
        return ReadCycles(*self._shaped(out, done), times[..., :samples], done, {})

    def _blocks(self, designs: Designs) -> Iterator[tuple[int, np.ndarray]]:
        for first in range(0, len(designs), self.lanes.block):
            yield first, np.arange(first, min(first + self.lanes.block, len(designs)))

    def _read(self, designs: Designs, which: np.ndarray, out: np.ndarray, offset: int, cores: int | None) -> tuple[LaneMotion, np.ndarray]:
        """Compute and read a block into `out` from design `offset` on; the mask of the designs that have all their samples."""
        assert self._made is not None
        moved = self.lanes(designs, which, self._made[1], cores)
        return moved, self._filled(designs, which, moved, out, offset, cores)

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
        samples = self.lanes.steps + 1
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
