"""Rows of a study, computed: designs in lanes where that is possible, else one after the other.

A `Work` is what another process needs. It is small: code is found there in the cache on disk, or made once. How rows are computed depends
on the work and on aligned blocks of rows only, never on who computes them or on what was computed before, so results agree to the bit.

Simulations of a study are one batch of runs from many starts, with the parameters that vary as inputs. Coordinates and speeds of the tree
come from the batch itself; points, bodies and energies from programs of the mechanism with its numbers as inputs. What only a single run
records (efforts of drives, loads) and angles that count turns are left to single runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import (
    Description,
    LinkwrightError,
    Measure,
    State,
    System,
    Trajectories,
    Trajectory,
    UsageError,
    channel_graph,
    check_results,
    compiled_of,
    element_limits,
    essentials,
    every_parameter,
    mechanism_of,
    motion_checks,
    trace_graph,
)
from linkwright.compiler import native
from linkwright.drives import prescribed
from linkwright.properties import cached_property
from linkwright.rings.design.studies.analyses import Case, Cycle, Equilibrium, Run, source_of
from linkwright.rings.design.studies.element_limits import JudgedRows, StudyLimits, failure, has_motor_plate, named
from linkwright.rings.design.studies.varied_numbers import VariedNumbers
from linkwright.simulation.run_batch import run_batch
from linkwright.system.cycles import cycles


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
        alone = numbers.described.one_sided or numbers.described.rubs  # which a batch does not hold
        if sampled or isinstance(options.get("sample_interval"), str) or alone:
            return None
        made = cls(numbers, case, measures)
        trials = np.array([[t.nominal for t in numbers.targets]] * 2)
        apart = 1e-3  # in SI, between the two starts of the trial
        trials[1, [t.where == "start" for t in numbers.targets]] += apart  # motions that are prescribed need one start
        try:
            trial = made.batch(trials, 1)
            if not all(map(trial.source.quick, made.names(trial))):  # a run by itself has loads, and checks that lanes have not
                return None
            made.channels(trial)
        except (LinkwrightError, trace_graph.TracingError, *channel_graph.UNTRACEABLE):  # among them options that a batch has not
            return None
        return made if trial.ok.all() else None

    @cached_property
    def system(self) -> System:
        return System(self.numbers.described, parameters=[t.inner for t in self.numbers.targets if not t.where])

    @cached_property
    def _parameters(self) -> list[int]:
        """Columns that are inputs of the code; the others are of starts."""
        return [k for k, t in enumerate(self.numbers.targets) if not t.where]

    def batch(self, values: np.ndarray, threads: int | None) -> Trajectories:
        """Run rows; raise LinkwrightError where a start does not exist."""
        return self._begun([self._start(row) for row in values] if self._starts_vary else None, values, threads)

    def _begun(self, starts: list[State] | None, values: np.ndarray, threads: int | None) -> Trajectories:
        drive, options = self.case.driven(self.system)
        begin = self.system._starting(drive) if starts is None else starts
        own: dict[str, Any] = {"parameters": values[:, self._parameters]} if self._parameters else {}
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

    @cached_property
    def limits(self) -> StudyLimits:
        """Limits of elements; a run whose limits need loads is done by itself."""
        return StudyLimits(self.numbers, self.case, lambda limits: (limits, {}))

    def channels(self, found: Trajectories) -> Trajectories:
        """Channels of all runs that measures and limits read."""
        return found.rows(self.names(found))

    def names(self, found: Trajectories) -> list[str]:
        """Names of these channels."""
        names = [n for m in self.measures for n in m.channels(found.drive, found.channels)]
        return list(dict.fromkeys([*names, *self.limits.channels, *([found.drive] if self.limits.limits and found.drive else [])]))

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
            r = self.channels(found)
            columns = [m.numbers_over(r) for m in self.measures]
        done = found.ok & ~np.isin(np.arange(len(values)), list(lost))
        why = ["" if good else lost.get(i, found.why.get(i, "")) for i, good in enumerate(done)]
        values, errors = (np.stack([x[k] for x in columns], axis=1) for k in (0, 1))
        return BatchedRows(values, errors, done, why, self.limits.judged(given, done, r))


RUN_ALONE = ("loops", "velocities", "energy", "branch", "estimated error")  # checks of the certificate, which runs in lanes have none of


@dataclass(frozen=True)
class MeasureFunction:
    """A measure given as a Python function of the result."""

    name: str
    call: Callable[[Any], Any]


class RowResults(NamedTuple):
    """Results of some rows: measures (rows, measures), nan where there is none, and the reasons of rows that failed ("" of the others).

    `unknown` has the checks of a row that are unknown, with their reasons; "" of rows that failed, or passed every check.
    """

    values: np.ndarray
    why: list[str]
    traces: dict[int, dict[str, np.ndarray]]  # thinned trajectories by row, where they are stored
    errors: np.ndarray  # (rows, measures): how far extremes may go beyond between samples; infinite where they grow without bound
    unknown: list[str]


class RowResult(NamedTuple):
    """The same of one row."""

    values: list[float]
    why: str
    unknown: str = ""
    trace: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True)
class Work:
    """Everything a row follows from but its numbers."""

    __getstate__ = essentials

    numbers: VariedNumbers
    case: Case
    measures: tuple[Measure | MeasureFunction, ...]
    traced: tuple[str, ...] = ()  # channels whose thinned samples are stored
    thinned: int = 100  # samples of these

    def rows(self, values: np.ndarray, threads: int | None = None) -> RowResults:
        """Compute rows; the first of them begins an aligned block."""
        found = self._way(values, threads)
        for i, text in self._outside(values).items():
            found.values[i], found.why[i], found.unknown[i] = np.nan, text, ""
        return found

    def _outside(self, values: np.ndarray) -> dict[int, str]:
        """Rows outside the bounds of the file, with what is outside: draws of a distribution without ends may be."""
        out: dict[int, str] = {}
        for name, low, high in self.numbers.described.bounds:
            for k, t in enumerate(self.numbers.targets):
                if t.inner == name and not t.where:
                    x = values[:, k]
                    bad = (x < (-np.inf if low is None else low)) | (x > (np.inf if high is None else high))
                    ends = " .. ".join("" if end is None else f"{end:.6g}" for end in (low, high))
                    out |= {int(i): f"{name} = {x[i]:.6g} is outside the bounds of the file, {ends}" for i in np.flatnonzero(bad)}
        return out

    @property
    def block(self) -> int:
        """Rows that belong together: those that share lanes; single rows where none do."""
        lanes = 1024  # rows that are computed together; a whole number of these begins at every aligned block
        return lanes if self.lanes else 1

    @cached_property
    def lanes(self) -> str:
        """How rows share lanes: "cycles", "runs", or "" where they do not."""
        if self.traced or not all(isinstance(m, Measure) for m in self.measures) or has_motor_plate(self.numbers.described):
            return ""
        if isinstance(self.case, Cycle):
            return "cycles" if self.numbers.plain else ""
        return "runs" if self._batched is not None else ""

    @cached_property
    def _batched(self) -> BatchedRuns | None:
        return BatchedRuns.of(self.numbers, self.case, self.measures)

    def _way(self, values: np.ndarray, threads: int | None) -> RowResults:
        if self.lanes == "cycles":
            return self._turns(values, threads)
        if self._batched is not None and self.lanes:
            found = self._batched.rows(values, threads)
            return self._judged(found.values, found.errors, found.done, found.why, found.limits, {})
        return self._singly(values, threads)

    @cached_property
    def system(self) -> System:
        """The mechanism with the values of the file."""
        return System(self.numbers.described)

    # ---------------------------------------------------------------- many cycles at once

    def _turns(self, values: np.ndarray, threads: int | None) -> RowResults:
        assert isinstance(self.case, Cycle)
        measures = [m for m in self.measures if isinstance(m, Measure)]
        nominal = mechanism_of(self.system).cycle(**self.case.asked)
        known = frozenset(nominal.channels)
        names = list(dict.fromkeys(n for m in measures for n in m.channels(nominal.drive, known)))
        limits = self._limits
        lead = [nominal.drive] if limits.limits and nominal.drive in known else []
        names = list(dict.fromkeys([*names, *limits.channels, *lead]))
        given = {t.inner: values[:, i] for i, t in enumerate(self.numbers.targets)}
        found = cycles(self.system, given, self.case.asked, names, threads)
        r, ok = found.rows(names), found.ok
        with np.errstate(invalid="ignore"):
            columns = [m.numbers_over(r) for m in measures]
        both = [np.stack([x[k] for x in columns], axis=1) if columns else np.zeros((len(ok), 0)) for k in (0, 1)]
        why = ["" if good else found.why.get(i, "not computed") for i, good in enumerate(ok)]
        judged = JudgedRows({}, {})
        if limits.limits:
            judged = limits.judged(values, ok, r, nominal.place, partial(self._closer, values, threads))
        return self._judged(*both, ok, why, judged, {int(i): {motion_checks.SINGULAR: text} for i, text in found.unknown.items()})

    def _closer(self, values: np.ndarray, threads: int | None, rows: np.ndarray, channel: str) -> Trajectories | None:
        """A channel of the cycles of some rows with more samples; None if one of them has none."""
        assert isinstance(self.case, Cycle)
        asked, given = self.case.asked, {t.inner: values[rows, i] for i, t in enumerate(self.numbers.targets)}
        try:
            found = cycles(self.system, given, {**asked, "steps": element_limits.FINER * asked["steps"]}, [channel], threads)
        except LinkwrightError:  # too many samples
            return None
        return found.rows([channel]) if found.ok.all() else None

    def _judged(
        self,
        values: np.ndarray,
        errors: np.ndarray,
        done: np.ndarray,
        why: list[str],
        limits: JudgedRows,
        unknown: Mapping[int, Mapping[str, str]],
    ) -> RowResults:
        """Rows of lanes with their verdicts: those that failed have no numbers."""
        why = [failure(limits.failed[i]) if i in limits.failed else text for i, text in enumerate(why)]
        ok = done & np.array([i not in limits.failed for i in range(len(done))], dtype=bool)
        said = []
        for i, good in enumerate(ok):
            mine, more = {**self._limits.not_known}, limits.unknown.get(i, {})
            mine |= {name: f"{mine[name]}; {text}" if name in mine else text for name, text in more.items()}
            said.append(named({**unknown.get(i, {}), **mine, **self._shared}) if good else "")
        return RowResults(np.where(ok[:, None], values, np.nan), why, {}, np.where(ok[:, None], errors, 0.0), said)

    @cached_property
    def _shared(self) -> dict[str, str]:
        """Unknown checks that rows in lanes share: loads that are not unique in the mechanism, inputs of the file that are doubtful."""
        found = [motion_checks.inputs_check(self.numbers.described)]
        if isinstance(self.case, Cycle):
            loads = self._loads_check(mechanism_of(self.system).cycle(**self.case.asked))
            found = [loads, *found] if loads is not None else found
        return {x.name: x.text for x in found if not x}

    def _loads_check(self, c: Trajectory) -> check_results.Check | None:
        """The check on the loads that are measured."""
        known = frozenset(c.channels)
        return motion_checks.measured_loads_check(
            c, [n for m in self.measures if isinstance(m, Measure) for n in m.channels(c.drive, known)]
        )

    @cached_property
    def _limits(self) -> StudyLimits:
        """Limits of elements that motions of this study have channels for."""
        if self._batched is not None:
            return self._batched.limits
        assert isinstance(self.case, Cycle)
        nominal = mechanism_of(self.system).cycle(**self.case.asked)
        why = motion_checks.why_no_loads(nominal)
        return StudyLimits(self.numbers, self.case, lambda limits: element_limits.known_limits(limits, nominal.channels, why))

    @cached_property
    def not_checked(self) -> tuple[str, ...]:
        """Checks of a single motion that rows of this study do not have."""
        if isinstance(self.case, Equilibrium):
            return ("equilibria have no list of checks",)
        out = list(RUN_ALONE) if self.lanes == "runs" else []
        out += ["plausibility of single designs"] if self.lanes else []
        functions = any(isinstance(m, MeasureFunction) for m in self.measures)
        return (*out, *(("uniqueness of loads that functions read",) if functions else ()))

    # ---------------------------------------------------------------- one by one

    def _singly(self, values: np.ndarray, threads: int | None) -> RowResults:
        def one(i: int) -> RowResult:
            return self.row(values[i])

        if threads == 1 or len(values) == 1:
            found = [one(i) for i in range(len(values))]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(one, range(len(values))))
        numbers = np.array([x.values for x in found]).reshape(len(values), len(self.measures))
        errors = np.array([[getattr(y, "error", 0.0) for y in x.values] for x in found]).reshape(numbers.shape)
        traces = {i: dict(x.trace) for i, x in enumerate(found) if x.trace}
        return RowResults(numbers, [x.why for x in found], traces, errors, [x.unknown for x in found])

    def row(self, numbers: np.ndarray) -> RowResult:
        """Measures of one row, the reason if it failed or is not known to be right, and its thinned samples."""
        nothing = [float("nan")] * len(self.measures)
        try:
            result = self.result(numbers)
        except LinkwrightError as problem:
            return RowResult(nothing, str(problem))
        why, unknown = self._doubts(result)
        if why:
            return RowResult(nothing, why)
        try:
            measured = [_read(m, result) for m in self.measures]
        except LinkwrightError as problem:
            return RowResult(nothing, str(problem))
        return RowResult(measured, "", unknown, self._trace(result))

    def _doubts(self, result: Trajectory | State) -> tuple[str, str]:
        """Checks of a motion that failed, and those that are unknown, with their texts; "" if there are none."""
        if not isinstance(result, Trajectory):
            return "", ""
        found, loads = motion_checks.motion_checks(result, loads=False), self._loads_check(result)
        every = [*found[:-1], *([] if loads is None else [loads]), found[-1]]  # inputs are the last
        failed, unknown = ({x.name: x.text for x in every if x.verdict == v} for v in ("failed", "unknown"))
        return failure(failed) if failed else "", named(unknown)

    @cached_property
    def of_file(self) -> Trajectory | State:
        """The cycle, run or state with the values of the file."""
        return self.result(np.array([t.nominal for t in self.numbers.targets]))

    def measured(self, result: Trajectory | State) -> list[float]:
        """Every measure of a result."""
        return [_read(m, result) for m in self.measures]

    def result(self, numbers: np.ndarray) -> Trajectory | State:
        """The cycle, run or state of one row."""
        described, case = self.numbers.design(self.case, numbers)
        if isinstance(case, Run) and self._varied is not None:
            return self._simulated(self._varied, described, case, numbers)
        return case.run(System(described))

    @cached_property
    def _varied(self) -> System | None:
        """The mechanism whose parameters that vary are inputs of its code, so that runs of all designs share it; None without any."""
        names = [t.inner for t in self.numbers.targets if not t.where]
        if not names or not isinstance(self.case, Run) or self.case.options.get("parameters") is not None:
            return None
        found = System(self.numbers.described, parameters=names)
        return found if native.available() else None

    def _simulated(self, shared: System, described: Description, case: Run, numbers: np.ndarray) -> Trajectory:
        """A run of a design from its own start, on the code that all designs share."""
        own = System(described, shared.tree.cuts)
        drive, options = case.driven(own)
        there = own._starting(drive)
        st = State(compiled_of(shared).skel, there.q, there.v, there.references, there.t)
        values = np.array([x for t, x in zip(self.numbers.targets, numbers, strict=True) if not t.where])
        return shared.simulate(st, case.duration, drive=drive, parameters=values, **options)

    def _trace(self, result: Trajectory | State) -> dict[str, np.ndarray]:
        if not self.traced or not isinstance(result, Trajectory):
            return {}
        at = np.unique(np.linspace(0, len(result) - 1, self.thinned).round().astype(int))
        found = result.read(["t", *self.traced])
        return {name: np.asarray(x)[at] for name, x in found.items()}

    def described(self) -> dict[str, Any]:
        """Return everything the rows follow from, as text."""
        measures = [{"name": m.name, "is": m.described if isinstance(m, Measure) else source_of(m.call)} for m in self.measures]
        return {**self.case.described(), "measure": measures, "traces": list(self.traced), "thinned": self.thinned if self.traced else 0}


def _read(m: Measure | MeasureFunction, result: Trajectory | State) -> float:
    if isinstance(m, MeasureFunction):
        try:
            found = np.asarray(m.call(result), dtype=float)
        except LinkwrightError:
            raise
        except Exception as problem:  # whatever a user's function raises
            raise UsageError(f"measure '{m.name}': {type(problem).__name__}: {problem}", name=m.name) from problem
        if found.shape:
            raise UsageError(f"measure '{m.name}' gave an array of shape {found.shape}. One number is needed.", name=m.name)
        return float(found)
    if isinstance(result, State):
        x = np.atleast_1d(np.asarray(result[m.channel], dtype=float))
        still = {m.channel: x.reshape(1, 1, -1) if len(x) > 1 else x[None]}
        return float(m.over(Trajectories.of(still, np.zeros(1), "", lambda name: "none"))[0])
    return m.read_from(result)


def digest(text: Mapping[str, Any] | Sequence[Any]) -> str:
    """Hash of a description in JSON."""
    import json

    return hashlib.sha256(json.dumps(text, sort_keys=True, default=str).encode()).hexdigest()
