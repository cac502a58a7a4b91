"""Cycles of designs as rows of numbers: what optimizers and studies call again and again, with exact derivatives.

    turned = CycleEvaluator(system, ["L1", "crank.mass"], read=["A.torque", "C.load"], derivatives=["L1", "crank.mass"])
    found = turned([[0.30, 0.4], [0.31, 0.4]])      found.values["A.torque"] (designs, samples), found.slopes["A.torque"] (..., numbers)

Names, kernels and the model's own cycle are looked up once; a call only computes and reads. Machine code is made at the first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.motion.cycle_lanes import AssemblyGaps, Gaps, lanes_of
from linkwright.motion.designs import ClosedDesign, Designs
from linkwright.results.trajectory import Trajectory
from linkwright.system import motions
from linkwright.system.compiled import compiled_of
from linkwright.system.design_channels import DesignReader, DesignTable, with_numbers

if TYPE_CHECKING:
    from linkwright.system.system import System


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

    def __call__(self, rows: Any, threads: int | None = None) -> DesignTable:
        """Compute the cycles of the designs with these values (designs, numbers)."""
        return self.reader.table(self._whole(self._given(rows)), self.read, self.by, threads, floats=self.floats)

    def blocks(self, rows: Any, most: int = 256, threads: int | None = None) -> Iterator[tuple[slice, DesignTable]]:
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
            self._stored[key] = AssemblyGaps(lanes, motions.cycle(system, **asked))
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
