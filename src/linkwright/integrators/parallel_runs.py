"""`integrate_many`: independent runs of one problem on all cores, the same bits as one by one.

Every thread has a memory of its own and takes some runs at a time; the machine code runs outside the interpreter's lock.
Where the kernels have code for it, runs go eight at a time: each lane does one run after the other, whatever steps the others take. What is
held besides the results is a few megabytes for each thread, whatever the number of runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.compiler.callbacks import Interrupts
from linkwright.compiler.native import cores
from linkwright.compiler.record_loops import Bound
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.errors import UsageError, counted
from linkwright.integrators import integration
from linkwright.integrators import run_state as mem
from linkwright.integrators.problem import Method, Problem
from linkwright.integrators.run_state import LEAST
from linkwright.integrators.time_loop import march_many

BYTES = 4_000_000  # of output a thread holds at a time, if more than one run fits
MOST_RUNS = 64  # taken at a time
FEWEST_RUNS = 4  # for every thread: eight in lanes take as long as two to four alone, and fewer leave threads without work
STAGES_FOR_LANES = 200_000  # of all runs: below, making and loading the code may take longer than the runs
REASONS = integration.REASONS | {mem.RUNNING: ("interrupted", "interrupted by the caller")}
NOT_DONE = -1


@dataclass(frozen=True)
class Solutions:
    """Many runs at the same times; where a run did not get to a time, `y` is not a number there and `done` is smaller."""

    t: np.ndarray
    y: np.ndarray  # (runs, times, states)
    done: np.ndarray  # times a run got to
    status: tuple[str, ...]  # as of single runs; "not done" where a batch was interrupted before
    counters: dict[str, np.ndarray]
    end_time: np.ndarray
    end_state: np.ndarray
    final: np.ndarray  # index of the event that ended a run, -1 without
    error: BaseException | None = field(default=None, repr=False)  # what Python code raised in the first run that failed so

    @property
    def complete(self) -> bool:
        """True if every run came to its end, or to a terminal event."""
        return all(s in ("finished", "event") for s in self.status)

    def message(self, run: int) -> str:
        text = next((t for s, t in REASONS.values() if s == self.status[run]), "not begun before the batch was interrupted")
        return f"run {run}, t = {self.end_time[run]:.6g} s: {text}."


def integrate_many(
    problem: Problem,
    Y0: Sequence[Sequence[float]] | np.ndarray,
    t0: float,
    t1: float,
    method: str | Method = "dopri",
    *,
    samples: Sequence[float] | np.ndarray,
    parameters: np.ndarray | None = None,
    step: float | None = None,
    tolerance: float = 1e-9,
    threads: int | None = None,
    engine: str | None = None,
    progress: Callable[[int, int], Any] | None = None,
    most_steps: int | None = None,
    smallest_step: float = 0.0,
    largest_step: float = np.inf,
) -> Solutions:
    """Integrate from every row of Y0, with its row of `parameters` (default: those of the problem), output at `samples`.

    `threads` limits the cores used (default: all). `progress(done, all)` is called now and then with numbers of runs and may
    return False to stop; so does an interrupt from the keyboard: runs that were not finished say so in `status`.
    """
    chosen = integration.method_of(method)
    integration.check(chosen, t0, t1, step, tolerance, smallest_step, largest_step)
    times = integration.sample_times(samples, t0, t1)
    assert times is not None
    starts, rows = _rows("the start states", Y0, problem.n, None), len(problem.parameters)
    given = np.tile(np.asarray(problem.parameters, dtype=float), (1, 1)) if parameters is None else parameters
    values = _rows("the parameters", given, rows, None if parameters is None else len(starts))
    native = integration.is_native(engine)
    codes, backs = integration.codes_of(problem, native)
    options = integration.Options(t0, t1, step or 0.0, smallest_step, largest_step, tolerance, t0)

    used = min(threads or cores(), cores()) if native else 1

    def set_options(call: Bound) -> None:
        integration.set_options(call, problem, chosen, options, most_steps)

    def worker(lanes: int) -> _Worker:
        return _Worker(problem, chosen, codes, times, native, lanes, set_options)

    batch = _Batch(starts, values, times, backs, progress)
    wide = native and _in_lanes(problem, len(starts), used, len(times))
    batch.go(worker, used, wide, None if chosen.adaptive or step is None else chosen.table.stages * (t1 - t0) / step)
    return batch.solutions(lambda k: _error(problem, batch, k, method, step=step, tolerance=tolerance, engine=engine, t=(t0, t1)))


def _in_lanes(problem: Problem, runs: int, threads: int, times: int) -> bool:
    """True if runs can share lanes: there is code for it, and output of eight runs fits."""
    coded = all(k.eight is not None for name, k in integration.kernels_of(problem).items() if k is not None and not name.endswith("_again"))
    return coded and LANES * 8 * times * (1 + problem.n) <= BYTES and runs >= max(LEAST, FEWEST_RUNS * threads)


def _rows(what: str, given: Any, width: int, count: int | None) -> np.ndarray:
    out = np.ascontiguousarray(given, dtype=float)
    if out.ndim != 2 or out.shape[1] != width or (count is not None and len(out) != count) or not np.isfinite(out).all():
        raise UsageError(
            f"{what} need {'a row for every run' if count is None else counted(count, 'row')} of {width} finite numbers.", name=what
        )
    return out


def _error(problem: Problem, batch: _Batch, k: int, method: str | Method, t: tuple[float, float], **how: Any) -> BaseException | None:
    """Error raised in a run: threads share the place where errors are stored, so the run is done again alone."""
    own = replace(problem, parameters=tuple(batch.values[k if len(batch.values) > 1 else 0]))
    return integration.integrate(own, batch.starts[k], *t, method, samples=[], **how).error


class _Worker:
    """The memory of one thread, and calls of the loop prepared for it."""

    def __init__(
        self,
        problem: Problem,
        method: Method,
        codes: Mapping[str, Any],
        times: np.ndarray,
        native: bool,
        lanes: int,
        set_options: Callable[[Bound], None],
    ):
        self.problem, self.method, self.codes, self.times, self.native, self.lanes = problem, method, codes, times, native, lanes
        self.set_options = set_options
        n = problem.n
        self.size = max(lanes, min(MOST_RUNS, BYTES // (8 * (1 + n) * max(1, len(times)))) // lanes * lanes)
        self.rows = np.zeros((self.size * len(times), 1 + n))
        self.starts, self.ends = np.zeros((self.size, n)), np.zeros((self.size, n))
        self.parameters = np.zeros((self.size, len(problem.parameters)))
        self.codes_of_runs = np.zeros(self.size)
        self.tallies = np.zeros((self.size, len(mem.STORED)))
        self.budget = 256 if native else 8
        self.calls: dict[int, tuple[Bound, list[Any]]] = {}

    def call(self, lanes: int) -> tuple[Bound, list[Any]]:
        """The loop in so many lanes, and the record of each."""
        if lanes not in self.calls:
            none = np.zeros((0, 2 + self.problem.n))
            output = {"samples": self.times, "rows": self.rows, "seen": none, "records": none, "ticks": none}
            batch = {"starts": self.starts, "parameters": self.parameters, "codes": self.codes_of_runs}
            batch |= {"tallies": self.tallies, "ends": self.ends}
            p, table = self.problem, self.method.table
            loop = integration.loop_of(march_many, p, table, self.codes, output, sampled=True, lanes=lanes, batch=batch)
            bound = loop.bound(lanes, 0, native=self.native)
            self.set_options(bound)
            self.calls[lanes] = bound, [bound.record(k) for k in range(lanes)]
        return self.calls[lanes]

    def work(self, starts: np.ndarray, values: np.ndarray) -> Iterator[None]:
        """Do these runs, with a pause now and then."""
        self.starts[: len(starts)] = starts
        self.parameters[: len(starts)] = values
        self.codes_of_runs[:] = NOT_DONE
        used = self.lanes if len(starts) >= LEAST else 1
        call, states = self.call(used)
        for k, s in enumerate(states):
            s.batch.run, s.batch.last, s.batch.begun = k, len(starts), 0
            if k >= len(starts):  # the kernels see it; it does nothing
                s.inputs.x.state[:], s.rates.x.state[:] = starts[0], starts[0][: len(s.rates.x.state)]
                s.inputs.x.parameters[:] = s.rates.x.parameters[:] = self.parameters[0]
        while not self.timed(call, used):
            yield

    def timed(self, call: Bound, at_once: int) -> bool:
        """A call of the loop short enough to be interrupted; True if all runs have ended."""
        call.number(0, max(1, self.budget // at_once))
        begun = time.perf_counter()
        done = bool(call().all())
        taken = time.perf_counter() - begun
        longest = 1.0 if done else 4.0  # one that came to an end says nothing about longer ones
        self.budget = max(1, min(int(self.budget * min(longest, integration.SLICE_SECONDS / max(taken, 1e-9))), 1 << 40))
        return done


class _Batch:
    """All runs: handed out to threads, their results put together."""

    def __init__(self, starts: np.ndarray, values: np.ndarray, times: np.ndarray, backs: Sequence[Any], progress: Any):
        self.starts, self.values, self.times, self.backs, self.progress = starts, values, times, backs, progress
        runs, n = starts.shape
        self.y = np.full((runs, len(times), n), np.nan)
        self.codes = np.full(runs, NOT_DONE, dtype=np.int64)
        self.tallies, self.ends = np.zeros((runs, len(mem.STORED))), starts.copy()
        self.next, self.lock, self.stop = 0, threading.Lock(), False
        self.raised: list[BaseException] = []
        self.keys = Interrupts()

    def go(self, worker: Callable[[int], _Worker], threads: int, wide: bool, stages: float | None) -> None:
        """The calling thread works too, and reports progress and handles interrupts.

        `stages` of a run say whether lanes are worth their code; where steps are chosen, the first run tells, which is done before.
        """
        others: list[threading.Thread] = []
        with Interrupts() as self.keys:
            try:
                if wide and stages is None:
                    self._work(worker(1), 1, 1)
                    stages = float(self.tallies[0, mem.STORED.index("evaluations")])
                lanes = LANES if wide and (stages or 0.0) * len(self.starts) >= STAGES_FOR_LANES else 1
                first = worker(lanes)
                size = max(1, min(first.size, -(-len(self.starts) // (4 * threads * lanes)) * lanes))
                others += [threading.Thread(target=self._guarded, args=(w, size)) for w in (worker(lanes) for _ in range(threads - 1))]
                for thread in others:
                    thread.start()
                self._work(first, size, len(self.starts))
                for thread in others:
                    thread.join()
            except KeyboardInterrupt:
                self.stop = True
            except BaseException:
                self.stop = True
                raise
            finally:
                for thread in others:
                    if thread.ident is not None:
                        thread.join()
                self.keys.taken = bool((self.codes <= mem.RUNNING).any())  # runs that were not finished say so
        for error in self.raised:
            raise error

    def _work(self, worker: _Worker, size: int, most: int) -> None:
        """Runs for the calling thread, until so many have been handed out."""
        for _ in self._take(worker, size, most):
            if self.progress is not None and self.progress(int((self.codes > mem.RUNNING).sum()), len(self.starts)) is False:
                self.stop = True

    def _guarded(self, worker: _Worker, size: int) -> None:
        try:
            for _ in self._take(worker, size, len(self.starts)):
                pass
        except BaseException as error:  # raised again by the calling thread
            self.raised.append(error)
            self.stop = True

    def _take(self, worker: _Worker, size: int, most: int) -> Iterator[None]:
        """Runs for one worker until so many have been handed out or all shall stop."""
        while not self.stopping():
            with self.lock:
                first, self.next = self.next, min(self.next + size, most)
            last = min(first + size, most)
            if first == last:
                return
            try:
                for _ in worker.work(self.starts[first:last], self.values[first:last] if len(self.values) > 1 else self.values):
                    yield
                    if self.stopping():
                        break
            finally:
                self._put(worker, first, last)
            yield

    def stopping(self) -> bool:
        """True if someone said so, or a key was pressed while Python code was called back."""
        self.stop = self.stop or self.interrupted
        return self.stop

    @property
    def interrupted(self) -> bool:
        return self.keys.pressed or any(isinstance(b.error, KeyboardInterrupt) for b in self.backs)

    def _put(self, worker: _Worker, first: int, last: int) -> None:
        k = slice(0, last - first)
        begun = worker.codes_of_runs[k] != NOT_DONE
        for of, what in ((self.codes, worker.codes_of_runs), (self.tallies, worker.tallies), (self.ends, worker.ends)):
            of[first:last][begun] = what[k][begun]
        rows = worker.rows.reshape(worker.size, len(self.times), worker.rows.shape[1])
        done = np.where(begun, worker.tallies[k, mem.STORED.index("done")], 0.0).astype(int)
        if (done == len(self.times)).all():
            self.y[first:last] = rows[k, :, 1:]
            return
        for run in range(last - first):
            self.y[first + run, : done[run]] = rows[run, : done[run], 1:]

    def solutions(self, error: Callable[[int], BaseException | None]) -> Solutions:
        codes = [mem.RUNNING if k == mem.FAILED and self.interrupted else int(k) for k in self.codes]
        status = tuple("not done" if k == NOT_DONE else REASONS[k][0] for k in codes)
        failed = next((k for k, code in enumerate(codes) if code in (mem.FAILED, mem.UNANSWERED)), None)
        time, done, event = (self.tallies[:, mem.STORED.index(name)] for name in ("time", "done", "event"))
        return Solutions(
            self.times, self.y, done.astype(int), status, integration.counters_of(self.tallies), time, self.ends, event.astype(int),
            None if failed is None else error(failed),
        )  # fmt: skip
