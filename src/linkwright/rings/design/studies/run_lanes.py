"""Simulations of a study in lanes: `simulate_batch` with the numbers that vary as free parameters.

Coordinates and speeds of the tree come from the batch itself; points, bodies and energies from programs of the mechanism with its numbers
as inputs. What only a single run records (efforts of drives, loads) and angles that count turns are left to single runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.graph import TracingError
from linkwright.errors import ChannelError, LinkwrightError, UsageError
from linkwright.results.channel_programs import UNTRACEABLE, Batch
from linkwright.results.channels import Channels
from linkwright.results.measures import Measure
from linkwright.rings.design.studies.cases import Case, Run
from linkwright.rings.design.studies.element_limits import JudgedRows, StudyLimits, measured
from linkwright.rings.design.studies.targets import VariedNumbers
from linkwright.simulation.run_batch import BatchRun
from linkwright.system.system import System

BLOCK = 64  # runs whose channels are read at a time


class BatchedRows(NamedTuple):
    """Runs: measures (rows, measures), their sampling errors, the mask of those that reached their end, reasons, and limits."""

    values: np.ndarray
    errors: np.ndarray
    done: np.ndarray
    why: list[str]
    limits: JudgedRows


@dataclass(frozen=True, eq=False)
class BatchedRuns:
    """Runs of one mechanism whose varied numbers are inputs of its code."""

    numbers: VariedNumbers
    case: Run
    measures: tuple[Measure, ...]

    @classmethod
    def of(cls, numbers: VariedNumbers, case: Case, measures: tuple[Any, ...]) -> BatchedRuns | None:
        """None where runs have to be done one by one."""
        if not isinstance(case, Run) or not numbers.plain or not all(isinstance(m, Measure) for m in measures):
            return None
        options = case.options
        sampled = getattr(options.get("control"), "every", None) is not None
        if sampled or isinstance(options.get("sample_interval"), str) or numbers.described.rigid_stops:  # which a batch does not hold
            return None
        made = cls(numbers, case, measures)
        nominal = np.array([[t.nominal for t in numbers.targets]] * 2)
        try:
            trial = made.batch(nominal, 1)
            made.channels(trial, nominal)
        except (LinkwrightError, TracingError, *UNTRACEABLE):  # among them options that a batch has not
            return None
        return made if trial.finished.all() else None

    @cached_property
    def system(self) -> System:
        return System(self.numbers.described, free=[t.inner for t in self.numbers.targets])

    def batch(self, values: np.ndarray, threads: int | None) -> BatchRun:
        drive, options = self.case.driven(self.system)
        start = self.system._starting(drive)
        return self.system.simulate_batch(start, self.case.duration, threads=threads, drive=drive, free=values, **options)

    @property
    def drive(self) -> str:
        drives = self.system.core.drive_names
        return drives[0] if len(drives) == 1 else ""

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self._program[1][name].dimension

    @cached_property
    def limits(self) -> StudyLimits:
        """Limits of elements; a run whose limits need loads is done by itself."""
        return StudyLimits(self.numbers, self.case, lambda limits: (limits, {}))

    @cached_property
    def _program(self) -> tuple[Batch, Channels]:
        """The mechanism on symbols, its numbers among them."""
        core = self.system.core
        sizes = {"q": core.tree.nq, "v": core.tree.nv, "t": 1, "free": len(core.free)}
        batch = Batch(
            core.loops, {name: np.zeros((1, n)) for name, n in sizes.items()}, design=lambda free: core.kernels.equations(list(free)).loops
        )
        batch.native = native.available()
        return batch, Channels(batch.skel)

    def channels(self, found: BatchRun, values: np.ndarray) -> dict[str, np.ndarray]:
        """Channels of all runs, (runs, samples, ...); raise ChannelError for those that only single runs have."""
        names = [n for m in self.measures for n in m.channels(self.drive, self._program[1])]
        names = list(dict.fromkeys([*names, *self.limits.channels, *([self.drive] if self.limits.limits and self.drive else [])]))
        out: dict[str, np.ndarray] = {}
        left = []
        for name in names:
            if name == "t":
                out[name] = np.broadcast_to(found.t, found.q.shape[:2])
                continue
            try:
                out[name] = found[name]
            except ChannelError:
                left.append(name)
        return {**out, **(self._computed(found, values, left) if left else {})}

    def _computed(self, found: BatchRun, values: np.ndarray, names: list[str]) -> dict[str, np.ndarray]:
        batch, table = self._program
        cuts = set(self.system.tree.cuts)
        for name in names:
            if table[name].winds is not None or name.split(".")[0] in cuts:
                raise UsageError(f"'{name}' counts turns, which a batch does not")
        runs, samples = found.q.shape[:2]
        parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
        t = np.asarray(found.t)[:, None]
        for k in range(0, runs, BLOCK):
            q, v = found.q[k : k + BLOCK], found.v[k : k + BLOCK]
            n = len(q)
            rows = {"q": q.reshape(n * samples, -1), "v": v.reshape(n * samples, -1), "t": np.tile(t, (n, 1))}
            batch.take({**rows, "free": np.repeat(values[k : k + BLOCK], samples, axis=0)})
            for name, x in batch.read([table[name] for name in names]).items():
                parts[name].append(x.reshape(n, samples, *x.shape[1:]))
        return {name: np.concatenate(x) for name, x in parts.items()}

    def rows(self, values: np.ndarray, threads: int | None) -> BatchedRows:
        """Compute runs."""
        found, given = self.batch(values, threads), values
        with np.errstate(invalid="ignore"):
            table = self.channels(found, values)
            columns = [m.numbers_over(table, found.t, self.drive, self.dimension) for m in self.measures]
            r = measured(table, found.t, self.drive, self.dimension, len(values))
        done = found.finished
        why = ["" if good else found.why.get(i, f"ended early: {found.status[i]}") for i, good in enumerate(done)]
        values, errors = (np.stack([x[k] for x in columns], axis=1) for k in (0, 1))
        return BatchedRows(values, errors, done, why, self.limits.judged(given, done, r))
