"""Running a study: chunks of rows in this process or by an executor, each stored as soon as it is done.

Chunks are whole blocks of rows, as many as take about two seconds by the time that rows took so far. How large they are has no influence
on the rows. A worker that dies loses its chunk only, which goes out again.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwright.api import UsageError, package
from linkwright.rings.design.studies.evaluation import RowResults, Work
from linkwright.rings.design.studies.plans import Plan
from linkwright.rings.design.studies.store import FolderStore, MemoryStore, Part

SECONDS = 2.0  # of a chunk
_works: dict[str, Work] = {}  # in a worker: those it has, with the code they have loaded


class Done(NamedTuple):
    """Answer of a worker."""

    outcome: RowResults
    seconds: float


@dataclass(frozen=True)
class Chunk:
    """Rows that are computed together."""

    first: int
    last: int


def compute(key: str, packed: bytes, numbers: np.ndarray, threads: int | None) -> Done:
    """Rows in a worker: the work is unpacked once in a process."""
    if key not in _works:
        _works.clear()
        _works[key] = pickle.loads(packed)
    return _timed(_works[key], numbers, threads)


def _timed(work: Work, numbers: np.ndarray, threads: int | None) -> Done:
    begin = time.perf_counter()
    block = work.block if work.lanes else len(numbers)
    parts = [work.rows(numbers[k : k + block], threads) for k in range(0, len(numbers), block)]
    if len(parts) == 1:
        return Done(parts[0], time.perf_counter() - begin)
    traces = {k * block + i: x for k, p in enumerate(parts) for i, x in p.traces.items()}
    values, errors = np.concatenate([p.values for p in parts]), np.concatenate([p.errors for p in parts])
    whole = RowResults(values, [w for p in parts for w in p.why], traces, errors, [x for p in parts for x in p.unknown])
    return Done(whole, time.perf_counter() - begin)


def gaps(spans: Sequence[tuple[int, int]], n: int, block: int) -> list[tuple[int, int]]:
    """Rows that are missing, widened to whole blocks."""
    out, at = [], 0
    for first, last in (*spans, (n, n)):
        if first > at:
            out.append((at // block * block, min(n, -(-first // block) * block)))
        at = max(at, last)
    return out


class Chunks:
    """The rows that are left, cut into chunks as their cost becomes known."""

    def __init__(self, left: Sequence[tuple[int, int]], block: int, workers: int):
        self.left, self.block, self.workers = list(left), block, workers
        self.cost: float | None = None  # seconds of a row

    def learn(self, rows: int, seconds: float) -> None:
        now = seconds / max(rows, 1)
        self.cost = now if self.cost is None else 0.5 * (self.cost + now)

    def __iter__(self) -> Iterator[Chunk]:
        most_rows = 65_536  # of a chunk
        while self.left:
            first, last = self.left[0]
            size = self.block if self.cost is None else max(1, int(SECONDS / max(self.cost, 1e-9) / self.block)) * self.block
            parts = 1 if self.workers == 1 else 3 * self.workers  # chunks become smaller toward the end, so that all workers end together
            share = -(-(last - first) // (parts * self.block)) * self.block
            size = min(size, most_rows // self.block * self.block or self.block, max(share, self.block))
            end = min(first + size, last)
            self.left[0] = (end, last)
            if end >= last:
                self.left.pop(0)
            yield Chunk(first, end)


class Progress:
    """A bar of rows done, failures and time left: on a terminal, after a second."""

    def __init__(self, total: int, done: int, show: bool | None, report: Callable[[int, int], Any] | None = None):
        self.total, self.done, self.failed, self.report = total, done, 0, report
        self.show = sys.stderr.isatty() if show is None else show
        self.begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def add(self, rows: int, failed: int) -> None:
        self.done, self.failed = self.done + rows, self.failed + failed
        if self.report is not None:
            self.report(self.done, self.total)
        patience = 1.0  # seconds before a bar appears
        if self.show and self._bar is None and time.perf_counter() - self.begun > patience:
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, failed=f"{self.failed} failed" if self.failed else "")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = [TextColumn("study"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[failed]}"), TimeRemainingColumn()]
        self._bar = Bars(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("study", total=self.total, completed=self.done, failed="")


def run(work: Work, plan: Plan, store: MemoryStore | FolderStore, key: str, executor: Any, threads: int | None, progress: Any) -> bool:
    """Compute the rows that are missing; False if the user interrupted it."""
    spans = store.spans()
    done = sum(last - first for first, last in spans)
    report = progress if callable(progress) else None
    with Progress(len(plan), done, None if report is not None else progress, report) as bar:
        left = gaps(spans, len(plan), work.block)
        try:
            if executor is None:
                _here(work, plan, store, Chunks(left, work.block, 1), threads, bar)
            else:
                _elsewhere(work, plan, store, Chunks(left, work.block, _workers(executor)), key, executor, threads, bar)
        except KeyboardInterrupt:
            return False
    return True


def _store(store: MemoryStore | FolderStore, chunk: Chunk, numbers: np.ndarray, found: RowResults, bar: Progress) -> None:
    store.add(Part(chunk.first, chunk.last, numbers, found.values, found.why, found.traces, found.errors, found.unknown))
    bar.add(chunk.last - chunk.first, sum(bool(w) for w in found.why))


def _here(work: Work, plan: Plan, store: MemoryStore | FolderStore, chunks: Chunks, threads: int | None, bar: Progress) -> None:
    for chunk in chunks:
        numbers = plan.rows(chunk.first, chunk.last)
        found = _timed(work, numbers, threads)
        chunks.learn(len(numbers), found.seconds)
        _store(store, chunk, numbers, found.outcome, bar)


def _workers(executor: Any) -> int:
    """Workers of an executor, as far as it says."""
    found = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if found is None and client is not None:
        found = sum(client.nthreads().values())
    return max(1, int(found or os.cpu_count() or 1))


def _elsewhere(
    work: Work,
    plan: Plan,
    store: MemoryStore | FolderStore,
    chunks: Chunks,
    key: str,
    executor: Executor,
    threads: int | None,
    bar: Progress,
) -> None:
    packed = _packed(work)
    waiting: dict[Future[Done], tuple[Chunk, np.ndarray, int]] = {}
    supply = iter(chunks)

    def submit(chunk: Chunk, numbers: np.ndarray, attempt: int) -> None:
        try:
            waiting[executor.submit(compute, key, packed, numbers, 1 if threads is None else threads)] = chunk, numbers, attempt
        except (RuntimeError, BrokenExecutor) as problem:
            raise UsageError(
                f"the executor refuses work: {problem}. The finished rows are stored. Run it again with another executor.", name="executor"
            ) from problem

    def more() -> None:
        while len(waiting) < 2 * chunks.workers:
            chunk = next(supply, None)
            if chunk is None:
                return
            submit(chunk, plan.rows(chunk.first, chunk.last), 1)

    attempts = 4  # of a chunk whose workers die
    try:
        more()
        while waiting:
            finished, _ = wait(list(waiting), return_when=FIRST_COMPLETED)
            for future in finished:
                chunk, numbers, attempt = waiting.pop(future)
                problem = _problem(future)
                if problem is None:
                    found = future.result()
                    chunks.learn(len(numbers), found.seconds)
                    _store(store, chunk, numbers, found.outcome, bar)
                elif _lost(problem) and attempt < attempts:
                    submit(chunk, numbers, attempt + 1)
                else:
                    raise problem
            more()
    finally:
        for future in waiting:
            future.cancel()


def _problem(future: Future[Done]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as problem:
        return problem


def _lost(problem: BaseException) -> bool:
    """True if a worker died, or its answer did not arrive: the chunk may go out again."""
    return isinstance(problem, BrokenExecutor | CancelledError) or type(problem).__name__ in (
        "KilledWorker",
        "CommClosedError",
        "FutureCancelledError",
    )


def _packed(work: Work) -> bytes:
    """The work as bytes; functions that are defined in a script need cloudpickle."""
    try:
        return pickle.dumps(work)
    except Exception as problem:
        try:
            return package("cloudpickle").dumps(work)
        except UsageError:
            raise UsageError(
                f"this study cannot be sent to other processes: {problem}. Define its functions in a module, or install cloudpickle."
            ) from problem
