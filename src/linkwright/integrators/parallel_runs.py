"""`integrate_many`: independent runs of one problem on all cores, the same bits as one by one.

Every thread has a memory of its own and takes some runs at a time; the machine code runs outside the interpreter's lock.
Plain runs of fixed steps go eight in lockstep where the kernels have code for it (`lanes`). What is held besides the results
is a few megabytes for each thread, whatever the number of runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwright.compiler import native_loops
from linkwright.compiler.callbacks import Interrupts
from linkwright.compiler.native import cores
from linkwright.errors import UsageError, counted
from linkwright.integrators import integration, lanes
from linkwright.integrators import memory_layout as mem
from linkwright.integrators.problem import Method, Problem, Tableau
from linkwright.integrators.run_queue import RunBatch, march_many
from linkwright.numerics.tolerances import CLOSED_RUN, OPEN_STEP

BYTES = 4_000_000  # of output a thread holds at a time, if more than one run fits
MOST_RUNS = 64  # taken at a time
RECORDS = 64  # events between two looks
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
    slots, backs = integration.slots_of(problem, native)

    def worker() -> _Worker:
        plan, floats, counts = mem.layout(problem, chosen.table, slots, True)
        gaps = CLOSED_RUN, OPEN_STEP
        floats[mem.START : mem.EVERY] = (t0, t1, step or 0.0, smallest_step, largest_step, tolerance, *gaps, t0)
        integration.set_options(problem, chosen, floats, counts, most_steps)
        return _Worker(plan, floats, counts, times, rows, native, (problem, chosen.table) if lockstep else None)

    used = min(threads or cores(), cores()) if native else 1
    eight_fit = lanes.LANES * 8 * len(times) * (1 + problem.n) <= BYTES
    lockstep = native and eight_fit and lanes.suits(problem, chosen.table, len(starts), used, t1 - t0, step)
    batch = _Batch(starts, values, times, backs, progress)
    batch.go(worker, used)
    return batch.solutions(lambda k: _error(problem, batch, k, method, step=step, tolerance=tolerance, engine=engine, t=(t0, t1)))


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
    """The memory of one thread, and a call of the loop prepared for it."""

    def __init__(
        self,
        plan: mem.MemoryPlan,
        floats: np.ndarray,
        counts: np.ndarray,
        times: np.ndarray,
        n_parameters: int,
        native: bool,
        lockstep: tuple[Problem, Tableau] | None,
    ):
        n, self.step = plan.n, 1 if lockstep is None else lanes.LANES
        self.size = max(self.step, min(MOST_RUNS, BYTES // (8 * (1 + n) * max(1, len(times)))) // self.step * self.step)
        rows, records = np.zeros((self.size * len(times), 1 + n)), np.zeros((max(RECORDS, plan.n_events), 2 + n))
        self.out = mem.Output(times, rows, np.zeros((0, 1 + n)), records, np.zeros((RECORDS, 1 + plan.n_held)))
        self.floats, self.counts, self.native = floats, counts, native
        self.runs = RunBatch(
            *(
                np.zeros((self.size, n)),
                np.zeros((self.size, n_parameters)),
                floats[: mem.REALS].copy(),
                np.zeros(self.size, dtype=np.int64),
            ),
            *(np.zeros((self.size, mem.COUNTS), dtype=np.int64), np.zeros((self.size, mem.REALS)), np.zeros((self.size, n))),
            *(np.zeros(self.size, dtype=np.int64), np.zeros(2, dtype=np.int64)),
        )
        self.budget, self.most = 256 if native else 8, np.zeros(1, dtype=np.int64)
        arguments = (plan, floats, counts, self.out, self.runs, self.most)
        self.march: Callable[[], int] = (
            native_loops.native(march_many, arguments).bound(*arguments)
            if native
            else lambda: int(integration.in_python(march_many)(*arguments))
        )
        most = int(counts[mem.MOST])
        self.block = None if lockstep is None else lanes.LaneBlock(*lockstep, plan, most, self.out, self.runs)

    def work(self, starts: np.ndarray, values: np.ndarray) -> Iterator[None]:
        """Do these runs, with a pause now and then."""
        self.runs.starts[: len(starts)] = starts
        self.runs.parameters[: len(starts)] = values
        self.runs.codes[:] = NOT_DONE
        first = 0
        while self.block is not None and len(starts) - first >= lanes.LEAST:
            count = min(lanes.LANES, len(starts) - first)
            yield from self.block.work(first, count, self.timed)
            first += count
        self.counts[mem.STARTED] = 0
        yield from self.singly(first, len(starts))

    def singly(self, first: int, last: int) -> Iterator[None]:
        """Runs one after the other; the first one continues if it has begun."""
        self.runs.place[:] = (first, last)
        while not self.timed(self.march, self.most, 1):
            yield

    def timed(self, march: Callable[[], int], most: np.ndarray, at_once: int) -> int:
        """A call of a loop short enough to be interrupted."""
        most[0] = max(1, self.budget // at_once)
        begun = time.perf_counter()
        code = march()
        taken = time.perf_counter() - begun
        longest = 4.0 if code == mem.RUNNING else 1.0  # one that came to an end says nothing about longer ones
        self.budget = max(1, min(int(self.budget * min(longest, integration.SLICE_SECONDS / max(taken, 1e-9))), 1 << 40))
        return code


class _Batch:
    """All runs: handed out to threads, their results put together."""

    def __init__(self, starts: np.ndarray, values: np.ndarray, times: np.ndarray, backs: Sequence[Any], progress: Any):
        self.starts, self.values, self.times, self.backs, self.progress = starts, values, times, backs, progress
        runs, n = starts.shape
        self.y = np.full((runs, len(times), n), np.nan)
        self.codes = np.full(runs, NOT_DONE, dtype=np.int64)
        self.counts = np.zeros((runs, mem.COUNTS), dtype=np.int64)
        self.reals, self.ends, self.final = np.zeros((runs, mem.REALS)), starts.copy(), np.full(runs, -1)
        self.next, self.lock, self.stop = 0, threading.Lock(), False
        self.raised: list[BaseException] = []
        self.keys = Interrupts()

    def go(self, worker: Callable[[], _Worker], threads: int) -> None:
        """The calling thread works too, and reports progress and handles interrupts."""
        first = worker()
        size = max(1, min(first.size, -(-len(self.starts) // (4 * threads * first.step)) * first.step))
        others = [threading.Thread(target=self._guarded, args=(w, size)) for w in (worker() for _ in range(threads - 1))]
        with Interrupts() as self.keys:
            try:
                for thread in others:
                    thread.start()
                for _ in self._take(first, size):
                    if self.progress is not None and self.progress(int((self.codes > mem.RUNNING).sum()), len(self.starts)) is False:
                        self.stop = True
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

    def _guarded(self, worker: _Worker, size: int) -> None:
        try:
            for _ in self._take(worker, size):
                pass
        except BaseException as error:  # raised again by the calling thread
            self.raised.append(error)
            self.stop = True

    def _take(self, worker: _Worker, size: int) -> Iterator[None]:
        """Runs for one worker until none are left or all shall stop."""
        while not self.stopping():
            with self.lock:
                first, self.next = self.next, min(self.next + size, len(self.starts))
            last = min(first + size, len(self.starts))
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
        r, k = worker.runs, slice(0, last - first)
        begun = r.codes[k] != NOT_DONE
        for name in ("codes", "counts", "reals", "ends", "final"):
            getattr(self, name)[first:last][begun] = getattr(r, name)[k][begun]
        rows = worker.out.rows.reshape(worker.size, len(self.times), worker.out.rows.shape[1])
        done = np.where(begun, r.counts[k, mem.ROWS], 0)
        if (done == len(self.times)).all():
            self.y[first:last] = rows[k, :, 1:]
            return
        for run in range(last - first):
            self.y[first + run, : done[run]] = rows[run, : done[run], 1:]

    def solutions(self, error: Callable[[int], BaseException | None]) -> Solutions:
        codes = [mem.RUNNING if k == mem.FAILED and self.interrupted else int(k) for k in self.codes]
        status = tuple("not done" if k == NOT_DONE else REASONS[k][0] for k in codes)
        failed = next((k for k, code in enumerate(codes) if code in (mem.FAILED, mem.UNANSWERED)), None)
        return Solutions(
            self.times, self.y, self.counts[:, mem.ROWS], status, integration.counters(self.counts, self.reals), self.reals[:, mem.TIME],
            self.ends, self.final, None if failed is None else error(failed),
        )  # fmt: skip
