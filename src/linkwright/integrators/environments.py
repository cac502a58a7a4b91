"""`Environments`: memory of many states of one problem, stepped together by the loops of `environment_steps`.

Rows of the environments are one array, which every thread works on in place; a thread has scratch memory and rank-revealing callbacks of
its own. Threads come from the pool of the compiler and stay alive between calls; machine code runs outside the interpreter's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from linkwright.compiler import native_loops
from linkwright.compiler.callbacks import ABOUT_A_STATE, Callback
from linkwright.compiler.native import WORTH_NS, share
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.errors import UsageError, nearest
from linkwright.integrators import memory_layout as mem
from linkwright.integrators.environment_steps import (  # fmt: skip
    ACTIVE,
    BACKED,
    ENVIRONMENT,
    FIRST,
    LAST,
    STAGE,
    STEPS,
    TIMES,
    Scheme,
    StepLanes,
    admit,
    roll_blocks,
    step_blocks,
    step_one,
)
from linkwright.integrators.integration import INTEGRATORS, REASONS, in_python, is_native, method_of
from linkwright.integrators.lanes import LEAST
from linkwright.integrators.problem import Method, Problem, StepKernel, Tableau

EULER = "euler"


def scheme_of(given: Any) -> Tableau | None:
    """The table of an explicit method of fixed steps, by name or object; None for semi-implicit Euler."""
    if isinstance(given, str) and given == EULER:
        return None
    names = [*(n for n, x in INTEGRATORS.items() if _is_fixed(x.table)), EULER]
    allowed = f"{', '.join(names)}, or an explicit Method of fixed steps (linkwright.integrators.Method)"
    if isinstance(given, Tableau):
        name, table = "this table", given
    elif isinstance(given, Method) or (isinstance(given, str) and given in INTEGRATORS):
        name, table = f"'{method_of(given).name}'", method_of(given).table
    else:
        hint = nearest(given, names, "Integrators") if isinstance(given, str) else f"It is {allowed}."
        raise UsageError(f"there is no integrator {given!r:.60} of single steps.", hint, value=given)
    if not _is_fixed(table):
        why = "is implicit" if table.gamma > 0.0 else "chooses the length of its steps"
        raise UsageError(f"{name} {why}; the integrator of single steps is {allowed}.", name=name)
    return table


def _is_fixed(table: Tableau) -> bool:
    return len(table.error) == 0 and table.gamma == 0.0


class Environments:
    """Rows (q, v, t, tau, parameters) of n environments, the efforts of the next step, and a code for each: see `environment_steps`."""

    def __init__(
        self,
        problem: Problem,
        table: Tableau | None,
        n: int,
        *,
        qdot: StepKernel | None = None,
        settling: StepKernel | None = None,
        read: bool = False,
        often: bool = True,
        limit: int | None = None,
        engine: str | None = None,
    ):
        self.problem, self.table, self.n, self.limit = problem, table, n, limit
        self.qdot, self.settling, self.read, self.often = qdot, problem.project if settling is None else settling, read, read or often
        self.native = is_native(engine) and all(k is None or k.address for k in (problem.project, *self._kernels))
        wide = self.native and n >= LEAST and all(k is None or k.eight is not None for k in self._kernels)
        self.lanes = LANES if wide else 1
        self.blocks = -(-n // self.lanes)
        self.rows = np.zeros((n, problem.nq + problem.nv + 1 + len(problem.parameters)))
        self.rows[:, problem.nq + problem.nv + 1 :] = problem.parameters
        self.efforts = np.zeros((n, problem.nv))
        self.codes, self.chosen = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
        self.h = np.zeros(1)
        self.errors: dict[int, tuple[int, Exception]] = {}  # of an environment: the stage of its step, and what was raised there
        self._idle: list[_StepWorker] = [_StepWorker(self)]
        self._pace = 0.0  # ns of one step of one environment, as last measured

    @property
    def _kernels(self) -> tuple[StepKernel | None, ...]:
        p = self.problem
        return (p.rates, self.settling, p.turns, self.qdot if self.table is None else None)

    def step(self, h: float, substeps: int) -> None:
        """So many steps of h of the chosen environments that have not failed."""
        self.h[0] = h
        if self.n <= 2 * LANES or self.limit == 1:
            self._idle[-1].step(0, self.blocks, substeps)
        else:
            self._share(substeps, lambda worker, first, last: worker.step(first, last, substeps))

    def roll(self, h: float, substeps: int, given: np.ndarray, states: np.ndarray) -> None:
        """The same with efforts given (n, times, nv); states (n, times, nq + nv) are filled in."""
        self.h[0] = h
        times = given.shape[1]
        flat = given.reshape(-1, given.shape[2]), states.reshape(-1, states.shape[2])
        if self.n <= 2 * LANES or self.limit == 1:
            self._idle[-1].roll(0, self.blocks, substeps, times, *flat)
        else:
            self._share(substeps * times, lambda worker, first, last: worker.roll(first, last, substeps, times, *flat))

    def _share(self, steps: int, run: Callable[[_StepWorker, int, int], None]) -> None:
        """Blocks over threads, where that pays."""

        def part(first: int, count: int) -> None:
            worker = self._idle.pop() if self._idle else _StepWorker(self)
            try:
                run(worker, first // self.lanes, -(-(first + count) // self.lanes))
            finally:
                self._idle.append(worker)

        begun, expected = time.perf_counter_ns(), self._pace * self.n * steps
        share(part, self.n, expected, self.limit)
        if expected < WORTH_NS:
            self._pace = (time.perf_counter_ns() - begun) / (self.n * steps)

    def single(self, gaps: np.ndarray) -> Callable[[float, int], int]:
        """A call that admits the only row, does steps of h and returns its code, or REFUSED; gaps (1, 2) as by `admission`."""
        worker, h = self._idle[-1], self.h
        arguments = (worker.one, worker.scheme, self.rows, self.efforts, self.codes, self.chosen, gaps, worker.g, worker.d, h)
        run = native_loops.native(step_one, arguments).bound(*arguments) if self.native else lambda: in_python(step_one)(*arguments)

        last: tuple[Any, ...] = ()

        def step(length: float, substeps: int) -> int:
            nonlocal last
            if last != (length, substeps):
                h[0], worker.d[STEPS] = last = (length, substeps)
            code = run()
            if code:
                last = ()  # others may step this environment now
                worker.raise_mistakes()
            return code

        worker.d[LAST] = 1
        return step

    @cached_property
    def candidates(self) -> tuple[np.ndarray, np.ndarray, Callable[[int], Any]]:
        """Room for new rows, for the gaps of their loops and of their rates (rows, 2), and a call that finds these for the first rows and
        counts their references of cut joints."""
        worker, rows, gaps = self._idle[-1], np.zeros_like(self.rows), np.zeros((self.n, 2))
        arguments = (worker.one, worker.scheme, rows, gaps, worker.g)
        return rows, gaps, native_loops.native(admit, (*arguments, 1)).bound(*arguments) if self.native else partial(admit, *arguments)

    def forget(self, which: Any) -> None:
        """No failure of these environments counts any longer."""
        self.codes[which] = 0
        if self.errors:
            self.errors = {k: e for k, e in self.errors.items() if self.codes[k] > 0}

    def reason(self, k: int) -> str:
        """Why an environment has failed."""
        if k not in self.errors or self.codes[k] != mem.UNANSWERED:
            return REASONS[int(self.codes[k])][1]
        stage, error = self.errors[k]
        text = str(error).rstrip(".")
        if stage == 0:
            return text
        return f"a step of {self.h[0]:g} s leads from here to a state without an answer, so it may be too long ({text})"


class _StepWorker:
    """Scratch memory of one thread, its callbacks, and the loops bound to them."""

    def __init__(self, of: Environments):
        self.of, problem, table = of, of.problem, of.table
        self.d = np.zeros(ACTIVE + LANES, dtype=np.int64)
        self.backs: list[Callback] = []
        stages = 1 if table is None else table.stages
        n, n_in = problem.nq + problem.nv, of.rows.shape[1]
        self.wide, size = _layout(of, of.lanes, n, n_in, stages, 0)
        self.one, size = (self.wide, size) if of.lanes == 1 else _layout(of, 1, n, n_in, stages, size)
        self.g = mem.aligned(size)
        project = of.settling
        self.scheme = Scheme(
            self._again(problem.rates),
            self._again(project),
            _code(problem.project, of.native),
            np.zeros(1) if table is None else table.a.ravel(),
            np.zeros(1) if table is None else table.c,
            np.array([*problem.quaternions, 0], dtype=np.int64),
            stages=stages,
            width=0 if table is None else len(table.c),
            semi=int(table is None),
            n=n,
            nq=problem.nq,
            n_in=n_in,
            tau=n + 1,
            n_tau=problem.nv,
            near=n + 1 + problem.near_at,
            n_near=problem.n_near,
            n_unit=len(problem.quaternions),
            read=int(of.read),
            often=int(of.often),
            mapped=int(of.qdot is not None),
            projects=0 if project is None else 1 + int(project.backup is not None),
            backed=int(problem.rates.backup is not None),
        )
        self.arguments = arguments = (
            self.wide, self.one, self.scheme, of.rows, of.efforts, of.codes, of.chosen, self.g, self.d, of.h,
        )  # fmt: skip
        self._step: Callable[[], Any] = (
            native_loops.native(step_blocks, arguments, lanes=True).bound(*arguments)
            if of.native
            else lambda: in_python(step_blocks)(*arguments)
        )

    def _again(self, kernel: StepKernel | None) -> Any:
        """The rank-revealing kernel behind one, which remembers errors by environment; 0 (None in Python) without."""
        if kernel is None or kernel.backup is None:
            return 0 if self.of.native else None
        backup, function = kernel.backup, kernel.backup.callable
        ask: Any = function.function if isinstance(function, Callback) else None
        if ask is None:
            return backup.address if self.of.native else function

        def answer(x: np.ndarray) -> Any:
            try:
                return ask(x)
            except ABOUT_A_STATE as error:
                self.of.errors[int(self.d[ENVIRONMENT])] = int(self.d[STAGE]), error
                raise

        back = Callback(answer, backup.n_in, backup.n_out)
        self.backs.append(back)
        return back.address if self.of.native else back

    def step(self, first: int, last: int, substeps: int) -> None:
        """Steps of blocks first to last."""
        d = self.d
        d[FIRST], d[LAST], d[STEPS] = first, last, substeps
        self._step()
        self.raise_mistakes()

    def roll(self, first: int, last: int, substeps: int, times: int, given: np.ndarray, states: np.ndarray) -> None:
        """The same for several times."""
        d = self.d
        d[FIRST], d[LAST], d[STEPS], d[TIMES] = first, last, substeps, times
        self._roll(given, states)
        self.raise_mistakes()

    @cached_property
    def _roll(self) -> Callable[..., Any]:
        if not self.of.native:
            return partial(in_python(roll_blocks), *self.arguments)
        example = (*self.arguments, np.zeros((1, 1)), np.zeros((1, 1)))
        return native_loops.native(roll_blocks, example, lanes=True).bound(*self.arguments)

    def raise_mistakes(self) -> None:
        """Raise what callbacks met that is no answer about a state: an interrupt, or a mistake of ours."""
        for back in self.backs:
            if back.error is not None:
                error, back.error = back.error, None
                raise error


def _layout(of: Environments, lanes: int, n: int, n_in: int, stages: int, free: int) -> tuple[StepLanes, int]:
    """Kernels for so many lanes and where their blocks start in the scratch floats, from `free` on; its new end."""
    kernels = [k for k in of._kernels if k is not None]
    coded = {id(k): k.eight() for k in kernels if lanes > 1 and k.eight is not None}
    admission = [of.problem.project] if lanes == 1 and of.problem.project is not None else []
    work = max(coded[id(k)][1] if lanes > 1 else k.workspace for k in (*kernels, *admission))
    most = lanes * max(k.n_out for k in (*kernels, *admission))
    sizes = {"x": lanes * n_in, "y": lanes * (n + 1), "K": lanes * n * stages + most, "out": most, "work": work}
    sizes |= {"going": lanes, "before": lanes, "travel": 1}
    starts: dict[str, int] = {}
    for name, size in sizes.items():
        starts[name] = free
        free = mem.rounded(free + size)

    slots = [coded[id(k)][0] if lanes > 1 and k is not None else _code(k, of.native) for k in of._kernels]
    return StepLanes(*slots, lanes=lanes, **starts), free


def _code(kernel: StepKernel | None, native: bool) -> Any:
    """A kernel of one state as the loops call it."""
    if kernel is None:
        return 0 if native else None
    return kernel.address if native else kernel.callable


STATUS: Mapping[int, str] = {0: "ok", BACKED: "rank-revealing", mem.OPEN: "open"}  # of a code; others: "failed"
