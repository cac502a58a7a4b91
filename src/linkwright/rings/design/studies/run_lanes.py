"""Simulations of a study in lanes: one batch of runs from many starts, with the parameters that vary as inputs.

Coordinates and speeds of the tree come from the batch itself; points, bodies and energies from programs of the mechanism with its numbers
as inputs. What only a single run records (efforts of drives, loads) and angles that count turns are left to single runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    ChannelError,
    LinkwrightError,
    Measure,
    State,
    System,
    UsageError,
    channel_kinds,
    compiled_of,
    every_parameter,
    trace_graph,
)
from linkwright.compiler import native
from linkwright.drives import prescribed
from linkwright.results.channel_programs import UNTRACEABLE, Batch
from linkwright.rings.design.studies.cases import Case, Run
from linkwright.rings.design.studies.element_limits import JudgedRows, StudyLimits, measured
from linkwright.rings.design.studies.targets import VariedNumbers
from linkwright.simulation.run_batch import BatchRun, run_batch


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
        lanes = isinstance(case, Run) and {t.where for t in numbers.targets} <= {"", "start"}
        if not isinstance(case, Run) or not lanes or not all(isinstance(m, Measure) for m in measures):
            return None
        options = case.options
        sampled = getattr(options.get("control"), "every", None) is not None
        if sampled or isinstance(options.get("sample_interval"), str) or numbers.described.rigid_stops:  # which a batch does not hold
            return None
        made = cls(numbers, case, measures)
        trials = np.array([[t.nominal for t in numbers.targets]] * 2)
        apart = 1e-3  # in SI, between the two starts of the trial
        trials[1, [t.where == "start" for t in numbers.targets]] += apart  # motions that are prescribed need one start
        try:
            trial = made.batch(trials, 1)
            made.channels(trial, trials)
        except (LinkwrightError, trace_graph.TracingError, *UNTRACEABLE):  # among them options that a batch has not
            return None
        return made if trial.finished.all() else None

    @cached_property
    def system(self) -> System:
        return System(self.numbers.described, free=[t.inner for t in self.numbers.targets if not t.where])

    @cached_property
    def _parameters(self) -> list[int]:
        """Columns that are inputs of the code; the others are of starts."""
        return [k for k, t in enumerate(self.numbers.targets) if not t.where]

    def batch(self, values: np.ndarray, threads: int | None) -> BatchRun:
        """Run rows; raise LinkwrightError where a start does not exist."""
        return self._begun([self._start(row) for row in values] if self._starts_vary else None, values, threads)

    def _begun(self, starts: list[State] | None, values: np.ndarray, threads: int | None) -> BatchRun:
        drive, options = self.case.driven(self.system)
        begin = self.system._starting(drive) if starts is None else starts
        own: dict[str, Any] = {"free": values[:, self._parameters]} if self._parameters else {}
        return run_batch(compiled_of(self.system), begin, self.case.duration, threads=threads, drive=drive, **own, **options)

    @property
    def _starts_vary(self) -> bool:
        return len(self._parameters) < len(self.numbers.targets)

    @cached_property
    def _starts_depend(self) -> bool:
        """True if dimensions or prescribed motions decide about starts as well."""
        known = every_parameter(self.numbers.described)
        if any(known[self.numbers.targets[k].inner].geometry for k in self._parameters):
            return True
        return bool(prescribed(compiled_of(self.system), self.case.driven(self.system)[0], compiled_of(self.system).start))

    def _start(self, row: np.ndarray) -> State:
        """The start of a row, as a run of it alone has it."""
        described, case = self.numbers.design(self.case, row)
        assert isinstance(case, Run)
        if not self._starts_depend:
            return compiled_of(self.system).assembler.started(dict(described.start))
        own = System(described, self.system.tree.cuts)
        there = own._starting(case.driven(own)[0])
        return State(compiled_of(self.system).skel, there.q, there.v, there.references, there.t)

    @property
    def drive(self) -> str:
        drives = compiled_of(self.system).drive_names
        return drives[0] if len(drives) == 1 else ""

    def dimension(self, name: str) -> str:
        return "time" if name == "t" else self._program[1][name].dimension

    @cached_property
    def limits(self) -> StudyLimits:
        """Limits of elements; a run whose limits need loads is done by itself."""
        return StudyLimits(self.numbers, self.case, lambda limits: (limits, {}))

    @cached_property
    def _program(self) -> tuple[Batch, channel_kinds.Channels]:
        """The mechanism on symbols, its numbers among them."""
        core = compiled_of(self.system)
        sizes = {"q": core.tree.nq, "v": core.tree.nv, "t": 1, "free": len(core.free)}
        batch = Batch(
            core.loops, {name: np.zeros((1, n)) for name, n in sizes.items()}, design=lambda free: core.kernels.equations(list(free)).loops
        )
        batch.native = native.available()
        return batch, channel_kinds.Channels(batch.skel)

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
                raise UsageError(f"'{name}' counts turns, which a batch does not", name=name)
        runs, samples = found.q.shape[:2]
        parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
        t = np.asarray(found.t)[:, None]
        block = 64  # runs whose channels are read at a time
        for k in range(0, runs, block):
            q, v = found.q[k : k + block], found.v[k : k + block]
            n = len(q)
            rows = {"q": q.reshape(n * samples, -1), "v": v.reshape(n * samples, -1), "t": np.tile(t, (n, 1))}
            batch.take({**rows, "free": np.repeat(values[k : k + block][:, self._parameters], samples, axis=0)})
            for name, x in batch.read([table[name] for name in names]).items():
                parts[name].append(x.reshape(n, samples, *x.shape[1:]))
        return {name: np.concatenate(x) for name, x in parts.items()}

    def _tried(self, row: np.ndarray) -> State | str:
        """The start of a row, or the reason why there is none."""
        try:
            return self._start(row)
        except LinkwrightError as problem:
            return str(problem)

    def rows(self, values: np.ndarray, threads: int | None) -> BatchedRows:
        """Compute runs; rows whose start does not exist have its reason."""
        lost: dict[int, str] = {}
        starts: list[State] | None = None
        if self._starts_vary:
            there = [self._tried(row) for row in values]
            lost = {i: st for i, st in enumerate(there) if isinstance(st, str)}
            if len(lost) == len(values):
                nothing = np.full((len(values), len(self.measures)), np.nan)
                return BatchedRows(nothing, np.zeros_like(nothing), np.zeros(len(values), dtype=bool), [*lost.values()], JudgedRows({}, {}))
            some = next(st for st in there if isinstance(st, State))
            starts = [st if isinstance(st, State) else some for st in there]
        found, given = self._begun(starts, values, threads), values
        with np.errstate(invalid="ignore"):
            table = self.channels(found, values)
            columns = [m.numbers_over(table, found.t, self.drive, self.dimension) for m in self.measures]
            r = measured(table, found.t, self.drive, self.dimension, len(values))
        done = found.finished & ~np.isin(np.arange(len(values)), list(lost))
        why = ["" if good else lost.get(i, found.why.get(i, f"ended early: {found.status[i]}")) for i, good in enumerate(done)]
        values, errors = (np.stack([x[k] for x in columns], axis=1) for k in (0, 1))
        return BatchedRows(values, errors, done, why, self.limits.judged(given, done, r))
