"""Derivatives of a motion by parameters of the model: every channel, over all samples.

    d = c.derivatives(["L1", "crank.mass"])        d["A.torque", "L1"]   (n,)        d["coupler.P"]   (n, 2, 2), parameters last

How positions, velocities, accelerations and loads change is known (`q`, `v`, `a`, `lam`, `u`); a channel is a function of these and of
the numbers themselves. It is read once on symbols, and its program is differentiated in forward mode over arrays of all samples.

A formula differentiated in floating point gives a number also where the derivative does not exist: 0/0 becomes whatever round-off makes
of it. Three cases are found by the numbers themselves, for every channel alike:

    not finite      a division by zero in the derivative
    kink            the length of a vector (a speed, a force) that is zero, or an angle at the largest it can be, to round-off: slopes
                    from both sides differ, and round-off decides between them
    no digits       the channel would change by much of its size within the round-off of the number it is differentiated by
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.inverse.known_motion import Acted
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.numerics.memory_and_threads import essentials
from linkwright.numerics.tolerances import EPSILON
from linkwright.properties import cached_property
from linkwright.results.channels import Channel, Channels
from linkwright.results.channels.cycle_loads import LoadSymbols
from linkwright.results.channels.driven import MotionChannels
from linkwright.results.channels.driven_motion import HeldMotion, MotionReading
from linkwright.results.channels.graph import Batch, ChannelGraph, Structure
from linkwright.results.records import cut_rows
from linkwright.results.trajectories import NamedDerivatives

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory


KINK = 1e-11  # of its largest over the motion: a length that is zero to round-off
HALF = 2e-7  # of a value other than zero: half the digits and some, as an angle near the largest it can be has them
MUCH = 1e-3  # of the channel's size
NOT_FINITE = "its formula divides by zero there, so the derivative does not exist"
AT_KINK = "its value there, {:.4g}, is where it has a kink: the derivatives from both sides differ"
NO_DIGITS = "within the round-off of a parameter of the model the channel changes by much of its size, so the derivative has no digits"


@dataclass(frozen=True, eq=False, repr=False)
class MotionDerivatives(NamedDerivatives):
    """Derivatives of the channels of a motion. Samples without an answer (`ok` is False) are NaN; `why` has the reasons.

    A single channel may have no derivative at a sample that has others, such as a speed at rest: it is NaN, and `undefined` has the reason.
    """

    __getstate__ = essentials

    motion: Trajectory = field(repr=False)
    names: tuple[str, ...]  # of the parameters
    values: np.ndarray
    varied: Callable[[Any], Loops] = field(repr=False)  # the loops with (traced) values of the parameters
    q: np.ndarray  # (n, nv, parameters), in the space of v
    v: np.ndarray
    a: np.ndarray
    efforts: Mapping[str, np.ndarray]  # by drive, (n,): what acted
    lam_values: np.ndarray | None = None  # (n, nc)
    u: np.ndarray | None = None  # (n, drives, parameters); None where loads are not known
    lam: np.ndarray | None = None
    wrench: np.ndarray | None = None  # (n, joints, 6, parameters)
    recorded: Mapping[str, np.ndarray] = field(default_factory=dict)  # derivatives of recorded channels
    why: Mapping[int, str] = field(default_factory=dict)
    unloaded: str = "without loads"  # why u is None
    sizes: np.ndarray = field(default_factory=lambda: np.ones(1), repr=False)  # of the parameters: changes that count as one
    kernels: Any = field(default=None, repr=False)  # whose free numbers are the parameters: channels are traced once for all their motions
    strict: bool = True  # derivatives that do not exist are NaN; else of a kink some value between those of its sides

    def __repr__(self) -> str:
        return f"<Derivatives of {self.motion!r} by {', '.join(self.names)}>"

    @property
    def ok(self) -> np.ndarray:
        """Mask of the samples that have derivatives."""
        out = np.ones(len(self.motion), dtype=bool)
        out[list(self.why)] = False
        return out

    def read(self, channels: Sequence[str]) -> dict[str, np.ndarray]:
        """Derivatives of several channels, (n, ..., parameters) each."""
        wanted = {name: self._channel(name) for name in channels if name not in self._known}
        missing = [name for name in wanted if name not in self._known]
        held = [wanted[name] for name in missing if wanted[name].needs]
        if held:
            self._known.update(self._of_held(held))
            missing = [name for name in missing if name not in self._known]
        if missing:
            found = self._batch.slopes([wanted[name] for name in missing], self._changes)
            for name in missing:
                if name not in found:
                    raise UsageError(
                        f"channel '{name}' chooses between formulas and has no derivative here. Use the channels it is made of.", name=name
                    )
                self._known[name] = found[name]
        for name in (n for n in channels if self.strict and n not in self._undefined):
            self._refuse(name)
        return {name: self._known[name] for name in channels}

    def undefined(self, channel: str) -> dict[int, str]:
        """Return the samples at which a channel has no derivative, each with the reason; its derivatives are NaN there."""
        self.read([channel])
        return {**self._undefined.get(channel, {}), **self.why}

    def _refuse(self, name: str) -> None:
        """NaN where the derivative of a channel does not exist or has no digits."""
        channel = self.motion._channel(name)
        self._known[name], why = refused(self.motion.read([name])[name], self._known[name], self.sizes, channel.kink)
        self._undefined[name] = {i: f"'{name}': {text}" for i, text in why.items() if i not in self.why}

    def need(self, channels: Sequence[str]) -> None:
        """Raise UsageError for channels that have no derivatives here."""
        for name in channels:
            self._channel(name)

    def slopes(self, name: str, read: Callable[[Instant], Any]) -> np.ndarray | None:
        """Derivatives of anything that is read from an instant, (n, ..., parameters); None where that needs numbers."""
        return self._batch.slopes([Channel(name, "none", read)], self._changes).get(name)

    def _of_held(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Derivatives of jerks, advantages and transmissions by force, whose terms are solved for."""
        c, moving, out = self.motion, MotionReading(self.motion), dict[str, np.ndarray]()
        changes = {name: x for name, x in self._changes.items() if name in ("q", "v", "a", "parameters")}
        for some, held, third in moving.groups(channels):
            motion = HeldMotion(c.frame, self._rows, held, third, self._graph)
            table = MotionChannels(self._graph.loops, held)
            out |= motion.slopes([table[x.name] for x in some], changes)
        return out

    @cached_property
    def _undefined(self) -> dict[str, dict[int, str]]:
        """Samples without a derivative of the channels read so far."""
        return {}

    @cached_property
    def _known(self) -> dict[str, np.ndarray]:
        """Channels read so far."""
        return dict(self.recorded)

    def _channel(self, name: str) -> Channel:
        self.motion._channel(name)  # says what is meant, if there is none
        if name in self._table:
            return self._table[name]
        found = self.motion._channel(name)
        if found.needs:
            return found
        if name in self.motion._load_channels:
            raise UsageError(f"channel '{name}' has no derivatives here: {self.unloaded}.", name=name)
        raise UsageError(f"channel '{name}' was recorded and is not a function of the state: it has no derivative.", name=name)

    @cached_property
    def _table(self) -> Channels:
        """Channels on the skeleton whose numbers are symbols."""
        loads = {} if self.u is None else LoadSymbols.of(self._graph, self.motion.frame, tuple(self.efforts)).channels
        return Channels(self._graph.skel, {name: x for name, x in loads.items() if name in self.motion._load_channels})

    @cached_property
    def _rows(self) -> dict[str, np.ndarray]:
        c = self.motion
        rows = {"q": c.q, "v": c.v, "a": c.a, "t": c.t[:, None], "near": cut_rows(c.skel, c.references)}
        return {**rows, "parameters": np.tile(self.values, (len(c), 1))}

    @cached_property
    def _graph(self) -> ChannelGraph:
        if self.kernels is not None:
            return ChannelGraph.shared(self.motion.frame, Structure(self.kernels, self.varied, self.values), self._rows)
        return ChannelGraph(self.motion.frame, frozenset(("a", "near")), self.varied, len(self.values))

    @cached_property
    def _batch(self) -> Batch:
        acted = None if self.lam_values is None else Acted(self.lam_values, self.efforts, {})
        return Batch(self.motion.frame, self._rows, acted, self._graph)

    @cached_property
    def _changes(self) -> dict[str, np.ndarray]:
        """Derivatives of the rows, (n, entries, parameters)."""
        n, size = len(self.motion), len(self.names)
        out = {"q": self.dq, "v": self.v, "a": self.a, "parameters": np.broadcast_to(np.eye(size), (n, size, size))}
        if self.u is not None and self.lam is not None:
            out["lam"] = self.lam
            out |= {f"effort {name}": self.u[:, i : i + 1] for i, name in enumerate(self.efforts)}
        return out

    @cached_property
    def dq(self) -> np.ndarray:
        """Derivatives of the coordinates themselves, quaternions included: (n, nq, parameters)."""
        skel = self.motion.skel
        if skel.tree.nq == skel.tree.nv:
            return self.q
        moved = [[qdot(skel, q, step) for step in steps.T] for q, steps in zip(self.motion.q, self.q, strict=True)]
        return np.array(moved).transpose(0, 2, 1)


def refused(values: np.ndarray, slopes: np.ndarray, sizes: np.ndarray, kink: float | None) -> tuple[np.ndarray, dict[int, str]]:
    """Derivatives (samples, ..., numbers) of a channel (samples, ...) without those that do not exist, and why by sample.

    `sizes` of the numbers: changes that count as 1. `kink`: the value at which the channel has one.
    """
    value, flat = np.abs(values).reshape(len(values), -1), slopes.reshape(len(slopes), -1, slopes.shape[-1])
    whole = np.nanmax(np.where(np.isfinite(value), value, np.nan), initial=0.0)
    lost = ~np.isfinite(flat)
    why = dict.fromkeys(np.flatnonzero(lost.any(axis=(1, 2))).tolist(), NOT_FINITE)
    steep = np.abs(np.where(lost, 0.0, flat)) * sizes * EPSILON > MUCH * whole if whole > 0.0 else np.zeros_like(lost)
    why |= dict.fromkeys(np.flatnonzero(steep.any(axis=(1, 2))).tolist(), NO_DIGITS)
    bad = lost | steep
    if kink is not None:
        near = np.abs(value - kink) <= (KINK * whole if kink == 0.0 else HALF * kink)
        at = near[:, :, None] & ((np.abs(flat) > 0.0) | lost).any(axis=(0, 1))  # numbers that the channel depends on at all
        why |= dict.fromkeys(np.flatnonzero(at.any(axis=(1, 2))).tolist(), AT_KINK.format(kink))
        bad |= at
    return (np.where(bad, np.nan, flat).reshape(slopes.shape) if bad.any() else slopes), why
