"""`integrate`: the time stepper seen from Python. Native or as Python, cut into slices so that it can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwright.compiler import native_loops
from linkwright.compiler.callbacks import Callback, Interrupts
from linkwright.errors import UsageError, counted, nearest
from linkwright.integrators import memory_layout as mem
from linkwright.integrators.dopri import DOPRI5, DOPRI8
from linkwright.integrators.problem import Event, Method, Problem, Solution, StepKernel
from linkwright.integrators.rk4 import RK4
from linkwright.integrators.rodas import RODAS
from linkwright.integrators.time_loop import march
from linkwright.numerics.tolerances import CLOSED_RUN, OPEN_STEP

INTEGRATORS: dict[str, Method] = {"rk4": RK4, "dopri": DOPRI8, "dopri5": DOPRI5, "dopri8": DOPRI8, "rodas": RODAS}
REASONS = {
    mem.FINISHED: ("finished", "reached the end"),
    mem.EVENT: ("event", "ended by a terminal event"),
    mem.NOT_FINITE: ("not finite", "accelerations are no longer finite"),
    mem.DEGENERATE: ("degenerate", "the equations lose rank and no rank-revealing path was given"),
    mem.FAILED: ("failed", "a Python function called from the time loop raised an error"),
    mem.UNANSWERED: ("no answer", "the equations have no solution"),
    mem.OPEN: ("open", "the loops cannot be closed again after a step"),
    mem.SMALLEST_STEP: ("smallest step", "the tolerance needs steps below the smallest allowed step"),
    mem.STUCK: ("stuck", "steps have become too short to reach the end in a reasonable number of them"),
    mem.TURNED: ("turned", "a cut joint turns too far in one step to count its turns"),
    mem.TOO_MANY_STEPS: ("too many steps", "the number of steps allowed (most_steps) was used up"),
}
SLICE_SECONDS = 0.05  # between looks at the keyboard
MOST_STEPS = 1_000_000  # of adaptive runs, if nothing else is said
LOOK_AFTER = 250  # attempted steps
WINDOWS = {"steps": (3000, 2e7), "fallbacks": (2000, 4e6)}  # counted between two judgments; still ahead at this pace: hopeless
BUFFER = 4096  # rows of output or events between two calls of the loop


def integrate(
    problem: Problem,
    y0: Sequence[float] | np.ndarray,
    t0: float,
    t1: float,
    method: str | Method = "dopri",
    *,
    step: float | None = None,
    tolerance: float = 1e-9,
    samples: Sequence[float] | np.ndarray | None = None,
    engine: str | None = None,
    progress: Callable[[float, float], Any] | None = None,
    observe: Callable[[np.ndarray], Any] | None = None,
    most_steps: int | None = None,
    smallest_step: float = 0.0,
    largest_step: float = np.inf,
    slice_steps: int | None = None,
    origin: float | None = None,
) -> Solution:
    """Integrate from t0 to t1; output at `samples`, or after every step without.

    `step` is the fixed step (rk4) or the first one (adaptive; chosen if not given). `engine` is "native" or "python"; by
    default native where llvmlite is installed. `progress(t, h)` is called now and then with time and step size and may return
    False to stop. `observe(rows)` gets the start and every accepted step, as rows (t, y), some at a time. An interrupt from the
    keyboard ends the run with status "interrupted" and everything done so far. `slice_steps` fixes how many steps
    are done between two looks at the keyboard; it has no influence on the result. Fixed steps and ticks of a sampler are
    counted from `origin` (default t0), so that a run can continue where another ended.
    """
    chosen = method_of(method)
    check(chosen, t0, t1, step, tolerance, smallest_step, largest_step)
    times = sample_times(samples, t0, t1)
    begun = t0 if origin is None else origin
    if not begun <= t0:
        raise UsageError(f"the origin of steps and ticks ({begun}) lies at the start ({t0}) or before.", name="origin")
    start = np.asarray(y0, dtype=float)
    if start.shape != (problem.n,) or not np.isfinite(start).all():
        raise UsageError(f"the start state needs {counted(problem.n, 'finite number')}.", name="start")
    native = is_native(engine)
    slots, backs = slots_of(problem, native)
    plan, floats, counts = mem.layout(problem, chosen.table, slots, times is not None)
    floats[plan.y : plan.y + plan.n] = start
    floats[mem.START : mem.EVERY] = (t0, t1, step or 0.0, smallest_step, largest_step, tolerance, CLOSED_RUN, OPEN_STEP, begun)
    set_options(problem, chosen, floats, counts, most_steps)
    run = _Run(problem, plan, floats, counts, times, observe)
    loop = native_loops.native(march, (*run.arguments, 1)) if native else in_python(march)
    code, left = run.go(loop, progress, slice_steps or 0, 64 if native else 8)
    return run.solution(code, left, raised(backs, code))


def raised(backs: Sequence[Callback], code: int) -> BaseException | None:
    """The error that ended a run: errors about trial states that were dropped are none."""
    failed = next((b.error for b in backs if b.error is not None), None)
    return max(backs, key=lambda b: b.order).unanswered if failed is None and code == mem.UNANSWERED and backs else failed


def in_python(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop that runs as Python, without warnings of numpy: as in machine code, a number that overflows is found by looking at it."""
    return np.errstate(all="ignore")(loop)


def set_options(problem: Problem, chosen: Method, floats: np.ndarray, counts: np.ndarray, most_steps: int | None) -> None:
    """Set the options that follow from the problem and the method."""
    floats[mem.STEP] = floats[mem.FIXED]
    floats[mem.EVERY] = problem.every
    counts[mem.MOST] = most_steps or (MOST_STEPS if chosen.adaptive else 1 << 62)


Observer = Callable[[np.ndarray], Any]


class Headway:
    """Notices an adaptive run that makes too little way: the rest would take many times the steps, or the evaluations by the
    rank-revealing path, that anybody waits for."""

    def __init__(self, plan: mem.MemoryPlan, floats: np.ndarray, counts: np.ndarray):
        self.adaptive, self.floats, self.counts = plan.n_error > 0, floats, counts
        self.looked = 0
        start = float(floats[mem.START])
        self.since = {name: (0, start) for name in WINDOWS}  # what was counted, and the time, at the beginning of each window

    @property
    def _attempts(self) -> int:
        return int(self.counts[mem.STEPS] + self.counts[mem.REJECTIONS])

    @property
    def ahead(self) -> int:
        """Attempted steps until the next look: the loop is cut there, so that the outcome depends on steps and not on the clock."""
        return self.looked + LOOK_AFTER - self._attempts if self.adaptive else 1 << 40

    def lost(self) -> bool:
        if not self.adaptive or self.ahead > 0:
            return False
        self.looked = self._attempts
        counted, now = {"steps": self.looked, "fallbacks": int(self.counts[mem.FALLBACKS])}, float(self.floats[mem.TIME])
        hopeless = False
        for name, (window, most) in WINDOWS.items():
            before, then = self.since[name]
            if counted[name] - before >= window:
                hopeless |= (float(self.floats[mem.END]) - now) * (counted[name] - before) > most * (now - then)
                self.since[name] = counted[name], now
        return hopeless


class _Run:
    """The slices of one run and what they left behind."""

    def __init__(
        self,
        problem: Problem,
        plan: mem.MemoryPlan,
        floats: np.ndarray,
        counts: np.ndarray,
        times: np.ndarray | None,
        observe: Observer | None,
    ):
        self.problem, self.plan, self.floats, self.counts = problem, plan, floats, counts
        self.sampled, self.observe = times is not None, observe
        samples = np.zeros(0) if times is None else times
        self.rows = np.zeros((BUFFER if times is None else len(samples), 1 + plan.n))
        self.records = np.zeros((BUFFER, 2 + plan.n))
        self.seen = np.zeros((BUFFER if self.sampled and observe else 0, 1 + plan.n))
        self.ticks = np.zeros((BUFFER if plan.ticking else 0, 1 + plan.n_held))
        self.arguments = (plan, floats, counts, mem.Output(samples, self.rows, self.seen, self.records, self.ticks))
        self.held: list[np.ndarray] = []
        self.done: list[np.ndarray] = []
        self.events: list[Event] = []

    def go(self, loop: Callable[..., int], progress: Callable[[float, float], Any] | None, fixed: int, budget: int) -> tuple[int, str]:
        """Call the loop until it ends; returns (its code, "" or why it was left before)."""
        headway = Headway(self.plan, self.floats, self.counts)
        try:
            with Interrupts() as keys:
                while True:
                    begun = time.perf_counter()
                    code = int(loop(*self.arguments, min(fixed or budget, headway.ahead)))
                    taken = time.perf_counter() - begun
                    budget = max(1, min(int(budget * min(4.0, SLICE_SECONDS / max(taken, 1e-9))), 1 << 40))
                    self._drain()
                    keys.taken = keys.pressed and code in (mem.RUNNING, mem.FAILED)
                    if keys.taken:
                        return code, "interrupted"
                    if code != mem.RUNNING:
                        return code, ""
                    if headway.lost():
                        return mem.STUCK, ""
                    if progress is not None and progress(float(self.floats[mem.TIME]), float(self.floats[mem.STEP])) is False:
                        return code, "stopped"
        except KeyboardInterrupt:
            self._drain()
            return mem.RUNNING, "interrupted"

    def _drain(self) -> None:
        for record in self.records[: self.counts[mem.EVENTS]]:
            e = int(record[1])
            self.events.append(Event(float(record[0]), e, self.problem.event_specs[e].name, record[2:].copy()))
        self.held.append(self.ticks[: self.counts[mem.TICKS]].copy())
        self.counts[mem.EVENTS] = self.counts[mem.TICKS] = 0
        steps = self.seen[: self.counts[mem.SEEN]]
        if not self.sampled:
            steps = self.rows[: self.counts[mem.ROWS]].copy()
            self.done.append(steps)
            self.counts[mem.ROWS] = 0
        self.counts[mem.SEEN] = 0
        if self.observe is not None and len(steps):
            self.observe(steps.copy())

    def solution(self, code: int, left: str, error: BaseException | None) -> Solution:
        status, text = REASONS[code] if not left else (left, f"{left} by the caller")
        if isinstance(error, KeyboardInterrupt):
            status, text, error = "interrupted", "interrupted by the caller", None
        now = float(self.floats[mem.TIME])
        table = self.rows[: self.counts[mem.ROWS]].copy() if self.sampled else np.concatenate(self.done)
        message = f"t = {now:.6g} s: {text}" + (f" ({error})" if error is not None else "") + "."
        end = self.floats[self.plan.y : self.plan.y + self.plan.n].copy()
        held, events = np.concatenate(self.held), tuple(self.events)
        first = self.plan.x + self.plan.n + self.plan.near
        near = self.floats[first : first + self.plan.n_near].copy()
        return Solution(table[:, 0], table[:, 1:], events, status, message, counters(self.counts, self.floats), now, end, error, near, held)


def counters(counts: np.ndarray, floats: np.ndarray) -> dict[str, Any]:
    """How a run went, by name; of many runs if `counts` and `floats` have more axes."""
    return {
        "steps": _plain(counts[..., mem.STEPS]),
        "rejected": _plain(counts[..., mem.REJECTIONS]),
        "refused": _plain(counts[..., mem.REFUSALS]),  # of the rejected: the correction would have been a jump
        "evaluations": _plain(counts[..., mem.EVALUATIONS]),
        "jacobians": _plain(counts[..., mem.JACOBIANS]),  # of an implicit method; their evaluations are among the evaluations
        "projections": _plain(counts[..., mem.PROJECTIONS]),
        "fallbacks": _plain(counts[..., mem.FALLBACKS]),
        "break points": _plain(counts[..., mem.SWITCHES]),  # at which a step was ended
        "position residual": _plain(floats[..., mem.WORST_POSITION]),  # largest that remained
        "velocity drift": _plain(floats[..., mem.WORST_VELOCITY]),  # largest before projection
        "correction": _plain(floats[..., mem.WORST_CORRECTION]),  # largest first Newton step of a projection
    }


def _plain(x: Any) -> Any:
    return x.copy() if np.ndim(x) else x.item()


def method_of(given: str | Method) -> Method:
    """A method by name, or the object itself."""
    if isinstance(given, Method):
        return given
    if not isinstance(given, str):
        raise UsageError(
            f"an integrator is a name ({', '.join(INTEGRATORS)}) or a Method (linkwright.integrators.Method), not {type(given).__name__}.",
            value=given,
            name="integrator",
        )
    if given not in INTEGRATORS:
        raise UsageError(f"there is no integrator '{given}'.", nearest(given, INTEGRATORS, "Integrators"))
    return INTEGRATORS[given]


def is_native(engine: str | None) -> bool:
    if engine not in (None, "native", "python"):
        raise UsageError(f"engine is 'native' or 'python', not '{engine}'.", name="engine", value=engine)
    if engine == "native" and not native_loops.available():
        raise UsageError("native time loops need llvmlite: pip install llvmlite, or use engine='python'.", name="native")
    return engine != "python" and native_loops.available()


def check(method: Method, t0: float, t1: float, step: float | None, tolerance: float, smallest: float, largest: float) -> None:
    if not (np.isfinite(t0) and np.isfinite(t1) and t1 >= t0):
        raise UsageError(f"a run leads forward from a finite time to a later one, not from {t0} to {t1}.", name="end")
    if step is not None and not (np.isfinite(step) and step > 0.0):
        raise UsageError(f"the step must be a positive time, not {step}.", value=step, name="step")
    if not method.adaptive and step is None:
        raise UsageError(f"'{method.name}' needs a fixed step, such as step=0.001.", name=method.name)
    if method.adaptive and not 1e-15 <= tolerance <= 0.1:
        raise UsageError(f"the tolerance lies between 1e-15 and 0.1, not at {tolerance}.", name="tolerance")
    if not (smallest >= 0.0 and largest > smallest):
        raise UsageError(f"the largest step ({largest}) must be above the smallest ({smallest}), and neither negative.", name="largest")


def sample_times(samples: Any, t0: float, t1: float) -> np.ndarray | None:
    if samples is None:
        return None
    times = np.asarray(samples, dtype=float).ravel()
    if not np.isfinite(times).all() or np.any(np.diff(times) < 0.0):
        raise UsageError("sample times must be finite and in ascending order.", name="samples")
    if len(times) and (times[0] < t0 or times[-1] > t1 + 1e-9 * max(1.0, abs(t1))):
        raise UsageError(f"sample times must lie between {t0} and {t1}. These go from {times[0]} to {times[-1]}.", name="samples")
    return np.minimum(times, t1)


def slots_of(problem: Problem, native: bool) -> tuple[list[Any], list[Callback]]:
    """Kernels as addresses or callables, and the Python functions among them, which live as long as the loop needs them."""
    backs: list[Callback] = []

    def slot(kernel: StepKernel | None) -> Any:
        if kernel is None:
            return 0 if native else None
        used = kernel.with_address() if native else kernel
        if isinstance(used.function, Callback):
            used.function.error = used.function.unanswered = None
            used.function.order = 0
            backs.append(used.function)
        return used.address if native else used.callable

    both = (problem.rates, problem.project, problem.inputs, problem.response)
    rates, project, inputs, response = ((k, k.backup if k else None) for k in both)
    one = (problem.events, problem.sampler, problem.turns, problem.switches, problem.stops)
    kernels = (*rates, *project, problem.gap, *inputs, *one, *response)
    return [slot(k) for k in kernels], backs
