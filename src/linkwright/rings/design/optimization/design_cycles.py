"""Cycles of designs in machine code: one with exact gradients, or thousands, all on the code of the mechanism itself.

A design is a row of numbers, which are inputs of the code; nothing is read, cut or compiled again. A design that cannot be reached from the
file's own by moving its numbers is said to have no motion, and how far it is from one is a matter of `run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.api import LinkwrightError, Measure, System, Trajectory, compiled_of
from linkwright.motion.channel_kernels import DETERMINANT
from linkwright.motion.designs import ClosedDesign
from linkwright.system.cycle_evaluator import CycleEvaluator

POSITION = ("state q", "state near")  # coordinates, references of cut joints
NO_MOTION = "it has no motion"


@dataclass(frozen=True)
class DesignCycle:
    """The turn of one design, as far as goals and limits read it: what `Measure` asks of a motion."""

    found: Any
    nominal: Trajectory

    @property
    def drive(self) -> str:
        return self.nominal.drive

    @property
    def channels(self) -> Sequence[str]:
        return self.nominal.channels

    def __len__(self) -> int:
        return len(self._times)

    @property
    def static(self) -> bool:
        return self.nominal.static

    @property
    def t(self) -> np.ndarray:
        return self._times

    def __getitem__(self, name: str) -> np.ndarray:
        """A channel; of those that no measure reads (the speed of a drive) that of the file's own design."""
        return self.found.values[name][0] if name in self.found.values else self.nominal[name]

    @property
    def determinant(self) -> np.ndarray | None:
        """The determinant of the loops with the drives held, at the samples; None of mechanisms without loops."""
        return self.found.values[DETERMINANT][0] if DETERMINANT in self.found.values else None

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self.nominal.dimension(name)

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        return {name: self._times if name == "t" else self.found.values[name][0] for name in names}

    @property
    def _times(self) -> np.ndarray:
        return self.found.t if self.found.t.ndim == 1 else self.found.t[0]


@dataclass(frozen=True)
class TurnedSlopes:
    """Derivatives of the channels of one design."""

    found: Any
    names: tuple[str, ...]

    @property
    def determinant(self) -> np.ndarray:
        return self.found.slopes[DETERMINANT][0]

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        return {name: self.found.slopes[name][0] for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        """Derivatives of a channel; none of those that no measure reads."""
        return self.found.slopes[name][0] if name in self.found.slopes else np.zeros((1, len(self.names)))


@dataclass(frozen=True, eq=False)
class MeasuredCycles:
    """Cycles of designs whose numbers of these names vary, with the channels that measures read."""

    system: System
    asked: dict[str, Any]
    names: tuple[str, ...]
    measures: tuple[Measure, ...]

    @cached_property
    def nominal(self) -> Trajectory:
        return self.system.cycle(**self.asked)

    @cached_property
    def channels(self) -> tuple[str, ...]:
        found = [name for m in self.measures for name in m.channels(self.nominal.drive, self.nominal.channels)]
        return tuple(dict.fromkeys(name for name in found if name != "t"))

    @cached_property
    def _differentiated(self) -> CycleEvaluator:
        """With derivatives, and the determinant, whose zeros are dead centers and borders of assembly."""
        read = [*self.channels, *([DETERMINANT] if compiled_of(self.system).tree.nc else [])]
        return CycleEvaluator(self.system, list(self.names), read, derivatives=list(self.names), fixed=True, **self.asked)

    @cached_property
    def _plain(self) -> CycleEvaluator:
        return CycleEvaluator(self.system, list(self.names), list(self.channels), fixed=True, **self.asked)

    @cached_property
    def _positions(self) -> CycleEvaluator:
        return CycleEvaluator(self.system, list(self.names), list(POSITION), fixed=True, **self.asked)

    def rebase(self, x: np.ndarray | None) -> bool:
        """Reach designs from this one from now on (None: from the file's own); False if it has no motion itself."""
        closed = None
        if x is not None:
            found = self._positions(np.asarray(x)[None], threads=1)
            if not found.ok[0]:
                return False
            q, near = (found.values[name][0, 0] for name in POSITION)
            closed = ClosedDesign(q, near, self._drives, np.asarray(x))
        for turned in (self._differentiated, self._positions):
            turned.based(closed)
        return True

    @cached_property
    def _drives(self) -> np.ndarray:
        """Coordinates of the drives at the first sample."""
        return np.array([float(self.nominal[name][0]) for name in self.nominal.drives])

    @cached_property
    def available(self) -> bool:
        """True if the mechanism has code that turns its designs, and all that is measured can be read and differentiated by it."""
        try:
            found = self._differentiated(self._differentiated.nominal, threads=1)
        except LinkwrightError:
            return False
        return bool(found.ok.all()) and all(np.isfinite(x).all() for x in found.slopes.values())

    def one(self, x: np.ndarray) -> tuple[DesignCycle, TurnedSlopes, str]:
        """Motion and derivatives of a design, and why it has none."""
        found = self._differentiated(np.asarray(x)[None], threads=1)
        return DesignCycle(found, self.nominal), TurnedSlopes(found, self.names), "" if found.ok[0] else found.why.get(0, NO_MOTION)

    def many(self, x: np.ndarray, threads: int | None) -> tuple[np.ndarray, list[str]]:
        """Measures of many designs, (designs, measures), nan where there is none, and the reasons."""
        out, why = np.full((len(x), len(self.measures)), np.nan), [""] * len(x)
        drive = self.nominal.drive
        block = 512  # candidates whose samples are in memory at a time
        for some, found in self._plain.blocks(x, most=block, threads=threads):
            rows = np.arange(len(x))[some]
            values = {**found.values, "t": np.broadcast_to(found.t, (len(rows), found.t.shape[-1]))}
            with np.errstate(invalid="ignore"):
                columns = [m.over(values, found.t, drive, DesignCycle(found, self.nominal).dimension) for m in self.measures]
            if columns:
                out[rows] = np.where(found.ok[:, None], np.stack(columns, axis=1), np.nan)
            for i in np.flatnonzero(~found.ok):
                why[rows[i]] = found.why.get(int(i), NO_MOTION)
        return out, why
