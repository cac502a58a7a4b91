"""`Environments`: memory of many states of one problem, stepped together by the loops of `environment_steps`.

Rows of the environments are one array, which every thread works on in place; a thread has scratch memory and rank-revealing callbacks of
its own. Threads come from the pool of the compiler and stay alive between calls; machine code runs outside the interpreter's lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.callbacks import ABOUT_A_STATE, Callback
from linkwright.compiler.native import WORTH_NS, share
from linkwright.compiler.record_loops import Bound, Loop
from linkwright.compiler.records import ALL_LANES as LANES
from linkwright.compiler.records import KernelPlace, Layout
from linkwright.errors import UsageError, nearest
from linkwright.integrators import environment_steps as loops
from linkwright.integrators import run_state as mem
from linkwright.integrators.contact.problem import FRICTION, ROWS
from linkwright.integrators.contact.problem import sizes as sizes_of
from linkwright.integrators.contact.search import ContactSearch
from linkwright.integrators.environment_state import Environment
from linkwright.integrators.environment_steps import BACKED
from linkwright.integrators.integration import INTEGRATORS, REASONS, is_native, method_of
from linkwright.integrators.midpoint import TOLERANCE
from linkwright.integrators.problem import Method, Problem, StepKernel, Tableau
from linkwright.integrators.run_state import LEAST
from linkwright.properties import cached_property

MIDPOINT = "midpoint"
MARKS = ("depth", "residual", "problems", "harder")  # of an environment: the largest two so far, and how many problems of impulses
OLD_NAMES = {"euler": MIDPOINT}


class OneSided(NamedTuple):
    """What holds one way in steps by the midpoint rule: kinds of its blocks, the kernel of their gaps, the mechanism's size."""

    kinds: tuple[int, ...] = ()
    gaps: StepKernel | None = None
    size: float = 1.0

    @property
    def rows(self) -> int:
        return sum(ROWS[k] for k in self.kinds)


def scheme_of(given: Any) -> Tableau | None:
    """The table of an explicit method of fixed steps, by name or object; None for the midpoint rule."""
    if isinstance(given, str) and given == MIDPOINT:
        return None
    names = [*(n for n, x in INTEGRATORS.items() if _is_fixed(x.table)), MIDPOINT]
    allowed = f"{', '.join(names)}, or an explicit Method of fixed steps (linkwright.integrators.Method)"
    if isinstance(given, Tableau):
        name, table = "this table", given
    elif isinstance(given, Method) or (isinstance(given, str) and given in INTEGRATORS):
        name, table = f"'{method_of(given).name}'", method_of(given).table
    else:
        if isinstance(given, str) and given in OLD_NAMES:
            hint = f"integrator='{OLD_NAMES[given]}' takes its place: of second order, at about the same price."
        else:
            hint = nearest(given, names, "Integrators") if isinstance(given, str) else f"It is {allowed}."
        raise UsageError(f"there is no integrator {given!r:.60} of single steps.", hint, value=given, name="integrator")
    if not _is_fixed(table):
        why = "is implicit" if table.gamma > 0.0 else "chooses the length of its steps"
        raise UsageError(f"{name} {why}. The integrator of single steps is {allowed}.", name=name)
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
        one_sided: OneSided | None = None,
        drivers: int = 0,
        read: bool = False,
        often: bool = True,
        limit: int | None = None,
        engine: str | None = None,
    ):
        self.problem, self.table, self.n, self.limit = problem, table, n, limit
        self.qdot, self.settling, self.read, self.often = qdot, problem.project if settling is None else settling, read, read or often
        self.one_sided = one_sided = OneSided() if one_sided is None else one_sided
        self.native = is_native(engine) and all(k is None or k.address for k in (problem.project, *self._kernels))
        wide = self.native and n >= LEAST and all(k is None or k.eight is not None for k in self._kernels)
        self.lanes = LANES if wide else 1
        self.rows = np.zeros((n, problem.nq + problem.nv + 1 + len(problem.parameters)))
        self.rows[:, problem.nq + problem.nv + 1 :] = problem.parameters
        self.efforts = np.zeros((n, problem.nv))
        self.codes, self.chosen = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
        self.numbers = np.arange(n, dtype=float)
        self.motions = np.zeros((n, 2 * 3 * drivers))  # value, speed and acceleration of each, in the middle of a step and at its end
        self.impulses = np.zeros((n, one_sided.rows))  # of the last step, where the next one starts
        self.marks = np.zeros((n, len(MARKS)))
        self.h = 0.0  # the length of the last steps
        self.errors: dict[int, tuple[int, Exception]] = {}  # of an environment: the stage of its step, and what was raised there
        self._idle: list[_StepWorker] = [_StepWorker(self)]
        self._pace = 0.0  # ns of one step of one environment, as last measured

    @property
    def _kernels(self) -> tuple[StepKernel | None, ...]:
        p = self.problem
        middle = (self.qdot, p.project, self.one_sided.gaps) if self.table is None else (None, None, None)
        return (p.rates, self.settling, p.turns, *middle)

    def step(self, h: float, substeps: int) -> None:
        """So many steps of h of the chosen environments that have not failed."""
        self.h = h
        self._share(substeps, lambda worker, first, count: worker.step(first, count, h, substeps))

    def roll(self, h: float, substeps: int, given: np.ndarray, states: np.ndarray) -> None:
        """The same with efforts given (n, times, nv); states (n, times, nq + nv) are filled in."""
        self.h = h
        self._share(substeps * given.shape[1], lambda worker, first, count: worker.roll(first, count, h, substeps, given, states))

    def _share(self, steps: int, run: Callable[[_StepWorker, int, int], None]) -> None:
        """Environments over threads, where that pays."""
        if self.n <= 2 * LANES or self.limit == 1:
            run(self._idle[-1], 0, self.n)
            return

        def part(first: int, count: int) -> None:
            worker = self._idle.pop() if self._idle else _StepWorker(self)
            try:
                run(worker, first, count)
            finally:
                self._idle.append(worker)

        begun, expected = time.perf_counter_ns(), self._pace * self.n * steps
        share(part, self.n, expected, self.limit)
        if expected < WORTH_NS:
            self._pace = (time.perf_counter_ns() - begun) / (self.n * steps)

    def single(self, gaps: np.ndarray) -> Callable[[float, int], int]:
        """A call that admits the only row, does steps of h and returns its code, or REFUSED; gaps (1, 2) as by `admission`."""
        worker = self._idle[-1]
        run = worker.bound(loops.step_new, 1, *worker.given, gaps, 0.0, 0)
        last: tuple[Any, ...] = ()

        def step(length: float, substeps: int) -> int:
            nonlocal last
            if last != (length, substeps):
                last = (length, substeps)
                self.h = length
                run.number(9, length)
                run.number(10, substeps)
            code = int(run()[0])
            if code:
                last = ()  # others may step this environment now
                worker.raise_mistakes()
            return code

        return step

    @cached_property
    def candidates(self) -> tuple[np.ndarray, np.ndarray, Callable[[int], Any]]:
        """Room for new rows, for the gaps of their loops and of their rates (rows, 2), and a call that finds these for the first rows and
        counts their references of cut joints."""
        rows, gaps = np.zeros_like(self.rows), np.zeros((self.n, 2))
        run = self._idle[-1].bound(loops.admit, 1, rows, gaps)
        return rows, gaps, lambda count: run(0, count)

    def forget(self, which: Any) -> None:
        """No failure of these environments counts any longer."""
        self.codes[which] = 0
        self.impulses[which] = 0.0
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
        return f"a step of {self.h:g} s leads from here to a state without a solution, so it may be too long ({text})"


class _StepWorker:
    """The memory of one thread, its callbacks, and the loops bound to them."""

    def __init__(self, of: Environments):
        self.of, self.backs = of, list[Callback]()
        self.given = (of.numbers[:, None], of.rows, of.efforts, of.codes[:, None], of.chosen[:, None])
        self.given = (*self.given, of.motions, of.impulses, of.marks)
        again = {"rates_again": self._again(of.problem.rates), "project_again": self._again(of.settling), "hard": self._hard()}
        self.layouts = {lanes: _layout(of, lanes, again) for lanes in {1, of.lanes}}
        self._step = self.bound(loops.step, of.lanes, *self.given, 0.0, 0)
        self._length = (0.0, 0)  # of a step and how many, as it is bound

    def bound(self, function: Any, lanes: int, *arguments: Any) -> Bound:
        """A loop with its arguments, of so many lanes."""
        of = self.of
        table = of.table
        loop = Loop(function, self.layouts[lanes])
        if table is not None:
            loop.fill("a", table.a)
            loop.fill("c", table.c)
        loop.fill("unit", of.problem.quaternions)
        kinds = of.one_sided.kinds
        loop.fill("size", [of.one_sided.size])
        loop.fill("contacts.kind", np.array(kinds, dtype=np.int64))
        loop.fill("contacts.first", np.cumsum([0, *(ROWS[k] for k in kinds)]))
        return loop.bound(of.n, *arguments, native=of.native)

    def _again(self, kernel: StepKernel | None) -> Any:
        """The rank-revealing kernel behind one, which remembers errors by environment: its address, or a callable in Python."""
        if kernel is None or kernel.backup is None:
            return None
        backup, function = kernel.backup, kernel.backup.callable
        ask: Any = function.function if isinstance(function, Callback) else None
        if ask is None:
            return backup.address if self.of.native else function

        def answer(x: np.ndarray) -> Any:
            try:
                return ask(x[: backup.n_in])
            except ABOUT_A_STATE as error:
                self.of.errors[int(x[-2])] = int(x[-1]), error
                raise

        back = Callback(answer, backup.n_in + 2, backup.n_out)
        self.backs.append(back)
        return back.address if self.of.native else back

    def _hard(self) -> Any:
        """All stages of the contact solver as one call: its address, or a callable in Python."""
        own = self.of.one_sided
        if not own.kinds:
            return None
        solver, n, blocks = ContactSearch(own.kinds, native=self.of.native), own.rows, len(own.kinds)
        ends = np.cumsum([n * n, n, blocks])

        def answer(x: np.ndarray) -> np.ndarray:
            W, b, mu, p = np.split(x, ends)
            found = solver.solve(W.reshape(n, n), b, mu, p, TOLERANCE)
            return np.append(found.p, found.residual)

        back = Callback(answer, int(ends[-1]) + n, n + 1)
        self.backs.append(back)
        return back.address if self.of.native else back

    def step(self, first: int, count: int, h: float, substeps: int) -> None:
        """Steps of some environments."""
        run = self._step
        if self._length != (h, substeps):
            run.number(8, h)
            run.number(9, substeps)
            self._length = h, substeps
        run(first, count)
        self.raise_mistakes()

    def roll(self, first: int, count: int, h: float, substeps: int, given: np.ndarray, states: np.ndarray) -> None:
        """The same for several times."""
        number, row, _, *more = self.given
        run = self.bound(loops.roll, self.of.lanes, number, row, *more, given, states, h, substeps, given.shape[1])
        run(first, count)
        self.raise_mistakes()

    def raise_mistakes(self) -> None:
        """Raise what callbacks met that is no answer about a state: an interrupt, or a mistake of ours."""
        for back in self.backs:
            if back.error is not None:
                error, back.error = back.error, None
                raise error


def _layout(of: Environments, lanes: int, again: Mapping[str, Any]) -> Layout:
    """The place of an environment, or of eight."""
    problem, table = of.problem, of.table
    n, n_in = problem.nq + problem.nv, of.rows.shape[1]
    near = n + 1 + problem.near_at
    row = {"row": (0, n_in), "state": (0, n), "t": (n, 1), "tau": (n + 1, problem.nv), "near": (near, problem.n_near)}
    if problem.whole_steps:
        row["motion"] = (n + 1 + problem.nv, of.motions.shape[1] // 2)
        row |= {"interval": (n_in - problem.nv - 1, 1), "earlier": (n_in - problem.nv, problem.nv)}
    state = {"state": (0, n), "gap": (n, 1), "rate_gap": (n + 1, 1)}
    outputs = {"rates": _rates(of), "project": state, "halve": state, "turns": {"near": (0, problem.n_near)}}
    outputs |= {"qdot": {"qdot": (0, problem.nq)}, "gaps": {"gap": (0, len(of.one_sided.kinds))}}
    kernels: dict[str, KernelPlace | None] = {}
    for name, kernel in zip(("rates", "project", "turns", "qdot", "halve", "gaps"), of._kernels, strict=True):
        kernels[name] = None if kernel is None else _place(kernel, row, outputs[name], n_in, lanes, of.native)
    kernels["admit"] = None if problem.project is None or lanes > 1 else _place(problem.project, row, state, n_in, 1, of.native)
    alone = {"row": (0, n_in), "environment": (n_in, 1), "stage": (n_in + 1, 1)}
    for name, kernel in (("rates_again", problem.rates), ("project_again", of.settling)):
        code, backup = again[name], None if kernel is None else kernel.backup
        if code is None or backup is None:
            kernels[name] = None
        else:
            blocks = alone, outputs[name.removesuffix("_again")], n_in + 2, backup.n_out
            one = (code, *blocks, backup.workspace)
            kernels[name] = KernelPlace(*one) if lanes == 1 else KernelPlace(0, *blocks, 0, code, backup.workspace)
    kernels["hard"] = _hard_place(of, lanes, again["hard"])
    sizes = {
        **sizes_of(of.one_sided.kinds),
        "n": n,
        "nq": problem.nq,
        "near_at": near,
        "stages": 1 if table is None else table.stages,
        "width": 0 if table is None else len(table.c),
        "nv": problem.nv,
        "rubs": of.one_sided.kinds.count(FRICTION),
        "rubs3": 3 * of.one_sided.kinds.count(FRICTION),
        "motions": of.motions.shape[1],
        "middle": int(table is None),
        "n_unit": len(problem.quaternions),
        "read": int(of.read),
        "often": int(of.often),
        "mapped": int(of.qdot is not None),
        "projects": 0 if of.settling is None else 1 + int(again["project_again"] is not None),
        "backed": int(again["rates_again"] is not None),
    }
    return Layout(Environment, sizes, kernels, lanes, inputs=dict.fromkeys(("project", "turns", "qdot", "halve", "gaps", "admit"), "rates"))


def _rates(of: Environments) -> dict[str, tuple[int, int]]:
    """Outputs of the rates."""
    p = of.problem
    if not p.whole_steps:
        return {"rates": (0, p.nq + p.nv)}
    blocks, rows = len(of.one_sided.kinds), of.one_sided.rows
    sizes = {"rates": p.nv, "gap": blocks, "before": blocks, "free": rows, "moved": rows * p.nv, "mobility": rows * rows}
    rubs = of.one_sided.kinds.count(FRICTION)
    sizes |= {"mu": blocks, "restitution": blocks, "load": 3 * rubs, "lever": 3 * rubs * rows}
    sizes |= dict.fromkeys(("by_load", "constant", "creep"), rubs)
    ends = np.cumsum([0, *sizes.values()])
    return {name: (int(at), n) for (name, n), at in zip(sizes.items(), ends, strict=False)}


def _hard_place(of: Environments, lanes: int, code: Any) -> KernelPlace | None:
    """The contact solver by itself, for one environment."""
    if code is None:
        return None
    blocks, n = len(of.one_sided.kinds), of.one_sided.rows
    inputs = {"W": (0, n * n), "b": (n * n, n), "mu": (n * n + n, blocks), "p": (n * n + n + blocks, n)}
    given = inputs, {"p": (0, n), "residual": (n, 1)}, n * n + 2 * n + blocks, n + 1
    return KernelPlace(code, *given) if lanes == 1 else KernelPlace(0, *given, 0, code)


def _place(kernel: StepKernel, row: Any, outputs: Any, n_in: int, lanes: int, native: bool) -> KernelPlace:
    """A kernel of one state, or of eight, that reads a row."""
    blocks = row, outputs, n_in, kernel.n_out
    if lanes > 1 and kernel.eight is not None:
        address, work = kernel.eight()
        return KernelPlace(address, *blocks, work, kernel.address, kernel.workspace)
    return KernelPlace(kernel.address if native else kernel.callable, *blocks, kernel.workspace)


STATUS: Mapping[int, str] = {0: "ok", BACKED: "rank-revealing", mem.OPEN: "open"}  # of a code; others: "failed"
