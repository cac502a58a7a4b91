"""`integrate`: the time loop seen from Python. Native or as Python, cut into slices so that it can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwright.compiler import numba_bridge
from linkwright.compiler.numba_bridge import Callback
from linkwright.errors import UsageError, nearest
from linkwright.integrators import memory as mem
from linkwright.integrators.dopri import DOPRI5, DOPRI8
from linkwright.integrators.march import march
from linkwright.integrators.memory import Memory, Options, Plan, aligned
from linkwright.integrators.problem import Event, Kernel, Problem, Solution
from linkwright.integrators.rk4 import RK4
from linkwright.integrators.tableaux import Method

INTEGRATORS: dict[str, Method] = {"rk4": RK4, "dopri": DOPRI8, "dopri5": DOPRI5, "dopri8": DOPRI8}
REASONS = {
    mem.FINISHED: ("finished", "reached the end"),
    mem.EVENT: ("event", "ended by a terminal event"),
    mem.NOT_FINITE: ("not finite", "accelerations are no longer finite: a load or a speed grows beyond all bounds"),
    mem.DEGENERATE: ("degenerate", "the equations lose rank and no rank-revealing path was given"),
    mem.FAILED: ("failed", "a Python function called from the time loop raised an error"),
    mem.OPEN: ("open", "the loops cannot be kept closed: the state is near a dead centre or a change of branch, or the step is too long"),
    mem.SMALLEST_STEP: ("smallest step", "the tolerance asks for steps below the smallest one: loosen it, or look for a jump in the loads"),
    mem.TOO_MANY_STEPS: ("too many steps", "the number of steps allowed was used up: raise most_steps, or loosen the tolerance"),
}
SLICE_SECONDS = 0.05  # between looks at the keyboard
BUFFER = 4096  # rows of output or events between two calls of the loop


def integrate(
    problem: Problem,
    y0: Sequence[float] | np.ndarray,
    t0: float,
    t1: float,
    method: str = "dopri",
    *,
    step: float | None = None,
    tolerance: float = 1e-9,
    samples: Sequence[float] | np.ndarray | None = None,
    engine: str | None = None,
    progress: Callable[[float], Any] | None = None,
    most_steps: int | None = None,
    smallest_step: float = 0.0,
    largest_step: float = np.inf,
    slice_steps: int | None = None,
) -> Solution:
    """Integrate from t0 to t1; output at `samples`, or after every step without.

    `step` is the fixed step (rk4) or the first one (adaptive; chosen if not given). `engine` is "native" or "python"; by
    default native where Numba is installed. `progress(t)` is called now and then and may return False to stop. An interrupt
    from the keyboard ends the run with status "interrupted" and everything done so far. `slice_steps` fixes how many
    steps are done between two looks at the keyboard; it has no influence on the result.
    """
    chosen = _method(method)
    options = _options(chosen, t0, t1, step, tolerance, samples is not None, most_steps, smallest_step, largest_step)
    memory = _memory(problem, chosen, np.asarray(y0, dtype=float), _sample_times(samples, t0, t1))
    native = _is_native(engine)
    plan, backs = _plan(problem, native)
    arguments = (plan, memory, chosen.table, options)
    loop = numba_bridge.native(march, (*arguments, 1)) if native else march
    run = _Run(problem, memory, options)
    code, left = run.go(loop, arguments, progress, slice_steps or 0, 64 if native else 8)
    return run.solution(code, left, next((b.error for b in backs if b.error is not None), None))


class _Run:
    """The slices of one run and what they left behind."""

    def __init__(self, problem: Problem, memory: Memory, options: Options):
        self.problem, self.memory, self.options = problem, memory, options
        self.t: list[np.ndarray] = []
        self.y: list[np.ndarray] = []
        self.events: list[Event] = []

    def go(self, loop: Callable[..., int], arguments: Any, progress: Any, fixed: int, budget: int) -> tuple[int, str]:
        """Call the loop until it ends; returns (its code, "" or why it was left before)."""
        try:
            while True:
                begun = time.perf_counter()
                code = int(loop(*arguments, fixed or budget))
                taken = time.perf_counter() - begun
                budget = max(1, min(int(budget * min(4.0, SLICE_SECONDS / max(taken, 1e-9))), 1 << 40))
                self._drain()
                if code != mem.RUNNING:
                    return code, ""
                if progress is not None and progress(float(self.memory.real[mem.TIME])) is False:
                    return code, "stopped"
        except KeyboardInterrupt:
            self._drain()
            return mem.RUNNING, "interrupted"

    def _drain(self) -> None:
        m, count = self.memory, self.memory.count
        names = self.problem.event_specs
        for k in range(int(count[mem.EVENTS])):
            e = int(m.event_i[k])
            self.events.append(Event(float(m.event_t[k]), e, names[e].name, m.event_y[k].copy()))
        count[mem.EVENTS] = 0
        if not self.options.sampled:
            rows = int(count[mem.ROWS])
            self.t.append(m.out_t[:rows].copy())
            self.y.append(m.out_y[:rows].copy())
            count[mem.ROWS] = 0

    def solution(self, code: int, left: str, error: BaseException | None) -> Solution:
        m = self.memory
        status, text = REASONS[code] if not left else (left, f"{left} by the caller")
        if isinstance(error, KeyboardInterrupt):
            status, text, error = "interrupted", "interrupted by the caller", None
        now = float(m.real[mem.TIME])
        if self.options.sampled:
            rows = int(m.count[mem.ROWS])
            t, y = m.out_t[:rows].copy(), m.out_y[:rows].copy()
        else:
            t, y = np.concatenate(self.t), np.concatenate(self.y)
        message = f"t = {now:.6g} s: {text}" + (f" ({error})" if error is not None else "") + "."
        return Solution(t, y, tuple(self.events), status, message, self._counters(), now, m.y.copy(), error)

    def _counters(self) -> dict[str, float]:
        c, r = self.memory.count, self.memory.real
        return {
            "steps": int(c[mem.STEPS]),
            "rejected": int(c[mem.REJECTIONS]),
            "refused": int(c[mem.REFUSALS]),  # of the rejected: the correction would have been a jump
            "evaluations": int(c[mem.EVALUATIONS]),
            "projections": int(c[mem.PROJECTIONS]),
            "fallbacks": int(c[mem.FALLBACKS]),
            "position residual": float(r[mem.WORST_POSITION]),  # largest that remained
            "velocity drift": float(r[mem.WORST_VELOCITY]),  # largest before projection
            "correction": float(r[mem.WORST_CORRECTION]),  # largest first Newton step of a projection
        }


def _method(name: str) -> Method:
    if name not in INTEGRATORS:
        raise UsageError(f"there is no integrator '{name}'. {nearest(name, INTEGRATORS, 'Integrators')}")
    return INTEGRATORS[name]


def _is_native(engine: str | None) -> bool:
    if engine not in (None, "native", "python"):
        raise UsageError(f"engine is 'native' or 'python', not '{engine}'.")
    if engine == "native" and not numba_bridge.available():
        raise UsageError("native time loops need Numba: pip install linkwright[native], or use engine='python'.")
    return engine != "python" and numba_bridge.available()


def _options(
    method: Method, t0: float, t1: float, step: float | None, tolerance: float, sampled: bool, most: int | None, smallest: float, largest: float
) -> Options:
    if not (np.isfinite(t0) and np.isfinite(t1) and t1 >= t0):
        raise UsageError(f"a run goes forward from a finite time to a later one, not from {t0} to {t1}.")
    if step is not None and not (np.isfinite(step) and step > 0.0):
        raise UsageError(f"the step must be a positive time, not {step}.")
    if not method.adaptive and step is None:
        raise UsageError(f"'{method.name}' needs a fixed step, such as step=0.001.")
    if method.adaptive and not 1e-15 <= tolerance <= 0.1:
        raise UsageError(f"the tolerance lies between 1e-15 and 0.1, not at {tolerance}.")
    if not (smallest >= 0.0 and largest > smallest):
        raise UsageError(f"the largest step ({largest}) must be above the smallest ({smallest}), and neither negative.")
    if most is None:
        most = 1_000_000 if method.adaptive else 1 << 62
    return Options(
        float(t0), float(t1), float(step or 0.0), float(smallest), float(largest), float(tolerance), 3e-13, 1e-8, int(most), bool(sampled)
    )


def _sample_times(samples: Any, t0: float, t1: float) -> np.ndarray | None:
    if samples is None:
        return None
    times = np.asarray(samples, dtype=float).ravel()
    if not np.isfinite(times).all() or np.any(np.diff(times) < 0.0):
        raise UsageError("sample times must be finite and in ascending order.")
    if len(times) and (times[0] < t0 or times[-1] > t1 + 1e-9 * max(1.0, abs(t1))):
        raise UsageError(f"sample times must lie between {t0} and {t1}; these go from {times[0]} to {times[-1]}.")
    return np.minimum(times, t1)


def _plan(problem: Problem, native: bool) -> tuple[Plan, list[Callback]]:
    """Kernels as addresses or callables, and the Python functions among them, which live as long as the loop needs them."""
    backs: list[Callback] = []

    def slot(kernel: Kernel | None) -> Any:
        if kernel is None:
            return 0 if native else None
        used = kernel.with_address() if native else kernel
        if isinstance(used.function, Callback):
            used.function.error = None
            backs.append(used.function)
        return used.address if native else used.callable

    rates, project = problem.rates, problem.project
    backups = (rates.backup, project.backup if project else None)
    slots = [slot(k) for k in (rates, backups[0], project, backups[1], problem.events)]
    sizes = (problem.n, problem.nq, problem.nv, len(problem.event_specs))
    unit = np.array(problem.quaternions, dtype=np.int64)
    return Plan(*slots, *sizes, backups[0] is not None, project is not None, backups[1] is not None, unit), backs


def _memory(problem: Problem, method: Method, y0: np.ndarray, samples: np.ndarray | None) -> Memory:
    n, table, parameters = problem.n, method.table, np.asarray(problem.parameters, dtype=float)
    if y0.shape != (n,) or not np.isfinite(y0).all():
        raise UsageError(f"the start state needs {n} finite numbers, got {y0.shape[0] if y0.ndim else 0}.")
    kernels = [k for k in (problem.rates, problem.project, problem.events) if k is not None]
    kernels += [k.backup for k in kernels if k.backup is not None]
    n_g = problem.events.n_out if problem.events else 0
    rows = BUFFER if samples is None else len(samples)
    n_p = problem.nq + problem.nv
    out = Memory(
        count=np.zeros(mem.COUNTS, dtype=np.int64),
        real=np.zeros(mem.REALS),
        y=y0.copy(),
        new=np.zeros(n),
        trial=np.zeros(n),
        K=np.zeros((len(table.c), n)),
        dense=np.zeros((4 + len(table.dense), n)),
        x=aligned(n + 1 + len(parameters)),
        rates=aligned(max([problem.rates.n_out] + ([problem.rates.backup.n_out] if problem.rates.backup else []))),
        px=aligned(n_p + 1 + len(parameters)),
        py=aligned(max([n_p + 3, n_g] + [k.n_out for k in kernels])),
        work=aligned(max([1] + [k.workspace for k in kernels])),
        scale=np.ones(n) if problem.scale is None else np.array(problem.scale, dtype=float),
        g=np.zeros(n_g),
        g_new=np.zeros(n_g),
        side=np.zeros(n_g, dtype=np.int64),
        direction=np.array([e.direction for e in problem.event_specs], dtype=np.int64),
        terminal=np.array([e.terminal for e in problem.event_specs], dtype=np.int64),
        theta=np.zeros(n_g),
        samples=np.zeros(0) if samples is None else samples,
        out_t=np.zeros(rows),
        out_y=np.zeros((rows, n)),
        event_t=np.zeros(BUFFER),
        event_i=np.zeros(BUFFER, dtype=np.int64),
        event_y=np.zeros((BUFFER, n)),
    )
    out.x[n + 1 :] = parameters
    out.px[n_p + 1 :] = parameters
    return out
