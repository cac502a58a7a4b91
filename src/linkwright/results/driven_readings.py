"""Jerk, mechanical advantage and transmission by force of a trajectory: which drives hold it, and the values over its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linkwright.errors import ChannelError, LinkwrightError
from linkwright.numerics.memory_and_threads import Store
from linkwright.results.channels import Channel
from linkwright.results.driven_channels import MotionChannels
from linkwright.results.driven_samples import PUSH, HeldMotion, independent
from linkwright.results.records import THIRD, cut_rows

if TYPE_CHECKING:
    from linkwright.results.trajectory import Trajectory

AT_ONCE = 8_000_000  # entries of the matrices of samples that are solved together


HELD: Store[tuple[str, ...], list[str]] = Store()  # drives that determine the motion, by candidates
MOVING: Store[tuple[tuple[str, ...], bool, float], MotionChannels] = Store()  # by drives, with jerks or without, and the length


class MotionReading:
    """Channels of a trajectory that need to know what holds it."""

    def __init__(self, c: Trajectory):
        self.c = c

    @property
    def is_run(self) -> bool:
        return "lam" in self.c.arrays or self.c.proof is not None

    @cached_property
    def held(self) -> list[str]:
        """Drives that determine the motion; raise ChannelError where they do not."""
        c = self.c
        candidates = tuple(dict.fromkeys([*([c.drive] if c.drive else []), *c.drives, *(d.joint for d in c.skel.tree.description.drives)]))
        tables, key = HELD.of(c.skel), candidates
        if key not in tables:
            tables[key] = independent(c.frame, c.instant(len(c) // 3), candidates)
        return tables[key]

    @cached_property
    def prescribed(self) -> list[str]:
        """Coordinates whose third derivatives are known: the drives of a cycle, what a path prescribes; empty for a run."""
        if self.is_run:
            return []
        if self.c.drive:
            return self.held
        given = [name.removeprefix(THIRD) for name in self.c.arrays if name.startswith(THIRD)]
        try:
            found = independent(self.c.frame, self.c.instant(len(self.c) // 3), given)
        except LinkwrightError:
            return []
        return found if found == given else []

    @cached_property
    def channels(self) -> Mapping[str, Channel]:
        """Channels by name; empty where nothing holds the motion, or there are no samples."""
        if not len(self.c):
            return {}
        try:
            held, jerks = self.held, bool(self.prescribed)
        except LinkwrightError:
            return {}
        tables, key = MOVING.of(self.c.skel), (tuple(held), jerks, self.c.frame.kappa)
        if key not in tables:
            tables[key] = MotionChannels(self.c.frame, held, jerks=jerks)
        return tables[key]

    def explain(self, name: str) -> None:
        """Raise ChannelError where the motion has no channels of this kind at all."""
        if not len(self.c):
            return
        held = self.held
        if not self.prescribed and name.rpartition(".")[2].startswith("j"):
            what = "a run has accelerations only" if self.is_run else "the third derivative of what prescribes it is not known"
            raise ChannelError(f"there is no channel '{name}': {what}. A cycle of {', '.join(held)} has jerks.", name=name, allowed=held)

    def read(self, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
        """Channels by name, all samples at once; NaN where they are not determined."""
        c, out = self.c, dict[str, np.ndarray]()
        for some, held, third in self.groups(channels):
            size = max(1, AT_ONCE // (c.skel.tree.nv * (len(c.frame.row_scale) + len(held))))
            if len(c) <= size:
                out |= read_held(self._motion(held, third), some)
                continue
            blocks = [slice(k, k + size) for k in range(0, len(c), size)]
            parts = [read_held(self._part(held, third, block), some) for block in blocks]
            out |= {x.name: np.concatenate([part[x.name] for part in parts]) for x in some}
        return out

    def _motion(self, held: Sequence[str], third: np.ndarray | None) -> HeldMotion:
        """All samples, with the terms that were asked for so far."""
        key = (tuple(held), third is None)
        if key not in self._motions:
            self._motions[key] = self._part(held, third, slice(None))
        return self._motions[key]

    def _part(self, held: Sequence[str], third: np.ndarray | None, some: slice) -> HeldMotion:
        rows = {name: x[some] for name, x in self.rows.items()}
        return HeldMotion(self.c.frame, rows, held, None if third is None else third[some])

    @cached_property
    def _motions(self) -> dict[tuple[tuple[str, ...], bool], HeldMotion]:
        return {}

    @property
    def rows(self) -> dict[str, np.ndarray]:
        c = self.c
        return {"q": c.q, "v": c.v, "a": c.a, "t": c.t[:, None], "near": cut_rows(c.skel, c.references)}

    def at(self, i: int) -> Mapping[str, np.ndarray]:
        """Terms of a sample, solved for when they are asked for."""
        return SampleTerms(self, i)

    def term(self, name: str) -> np.ndarray:
        """(n, entries) of a term; NaN where it is not determined."""
        return self._motion(*((self.prescribed, self.third()) if name == "jerk" else (self.held, None))).term(name)

    def groups(self, channels: Sequence[Channel]) -> list[tuple[list[Channel], list[str], np.ndarray | None]]:
        """Channels that the same coordinates hold: jerks by what is prescribed, the others by the drives."""
        jerks = [x for x in channels if "jerk" in x.needs]
        others = [x for x in channels if "jerk" not in x.needs]
        found: list[tuple[list[Channel], list[str], np.ndarray | None]] = []
        if jerks:
            found.append((jerks, self.prescribed, self.third()))
        return [*found, (others, self.held, None)] if others else found

    def third(self) -> np.ndarray:
        """(n, prescribed): third derivatives of what prescribes the motion; zero at rest."""
        c = self.c
        known = [c.arrays.get(THIRD + name, np.zeros((len(c), 1))) for name in self.prescribed]
        found = np.concatenate(known, axis=1) if known else np.zeros((len(c), 0))
        return 0.0 * found if c.static else found


class SampleTerms(Mapping[str, np.ndarray]):
    """Terms of one sample of a trajectory by name."""

    def __init__(self, of: MotionReading, i: int):
        self.of, self.i = of, i

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        return self.of.term(name)[self.i]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.of.prescribed if name == "jerk" else name == "tangent" or name.startswith(PUSH))

    def __iter__(self) -> Iterator[str]:
        return iter(("jerk", "tangent") if self.of.prescribed else ("tangent",))

    def __len__(self) -> int:
        return 2 if self.of.prescribed else 1


def read_held(motion: HeldMotion, channels: Sequence[Channel]) -> dict[str, np.ndarray]:
    """Channels over the samples of a held motion; NaN where their terms are not determined."""
    good = motion.provide(_needs(channels))
    found = motion.values({c.name: c.raw or c.read for c in channels})
    out = {c.name: found[c.name] if c.cook is None else c.cook(found[c.name]) for c in channels}
    for x in out.values() if not good.all() else ():
        x[~good] = np.nan
    return out


def _needs(channels: Sequence[Channel]) -> list[str]:
    return list(dict.fromkeys(n for c in channels for n in c.needs))


def slopes_held(motion: HeldMotion, channels: Sequence[Channel], changes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Derivatives of channels, (n, ..., directions), from those of the rows; NaN where their terms are not determined."""
    good = motion.provide(_needs(channels))
    every = motion.changes(_needs(channels), changes)
    out = motion.batch.slopes(channels, every)
    for c in channels:
        if c.name not in out:
            raise ChannelError(f"channel '{c.name}' has no derivatives here: a joint of the mechanism runs on numbers only.", name=c.name)
        out[c.name] = np.where(good.reshape(-1, *[1] * (out[c.name].ndim - 1)), out[c.name], np.nan)
    return out
