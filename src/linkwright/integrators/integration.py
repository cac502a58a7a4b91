"""`integrate`: the time stepper seen from Python. As machine code or as Python, cut into slices so that it can be interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native as machine_code
from linkwright.compiler.callbacks import Callback, Interrupts
from linkwright.compiler.record_loops import Bound, Loop
from linkwright.compiler.records import KernelPlace, Layout
from linkwright.errors import UsageError, counted, nearest
from linkwright.integrators import run_state as mem
from linkwright.integrators.dopri import DOPRI5, DOPRI8
from linkwright.integrators.dry_friction import sizes as friction_sizes
from linkwright.integrators.problem import Event, Method, Problem, Solution, StepKernel, Tableau
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
    mem.UNSOLVED: ("impulses", "the impulses of contacts and stops were not found"),
    mem.DEEP: ("deep", "surfaces or stops overlap after a step, and no motion takes them apart"),
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
    codes, backs = codes_of(problem, native)
    run = _Run(problem, chosen, codes, times, observe, native)
    run.state.y[:] = start
    clock = Options(t0, t1, step or 0.0, smallest_step, largest_step, tolerance, begun)
    set_options(run.call, problem, chosen, clock, most_steps)
    code, left = run.go(progress, slice_steps or 0, 64 if native else 8)
    return run.solution(code, left, raised(backs, code))


def raised(backs: Sequence[Callback], code: int) -> BaseException | None:
    """The error that ended a run: errors about trial states that were dropped are none."""
    failed = next((b.error for b in backs if b.error is not None), None)
    return max(backs, key=lambda b: b.order).unanswered if failed is None and code == mem.UNANSWERED and backs else failed


class Options(NamedTuple):
    """What a run is told besides its problem and its method."""

    start: float
    end: float
    fixed: float  # the step, or 0 where it is chosen
    smallest: float
    largest: float
    tolerance: float
    origin: float


def set_options(call: Bound, problem: Problem, chosen: Method, options: Options, most_steps: int | None) -> None:
    """Set the options in the record of a run, and what follows from problem and method."""
    for name, value in options._asdict().items():
        call.put(name, value)
    for name, value in (("closed", CLOSED_RUN), ("widest", OPEN_STEP), ("every", problem.every), ("above", problem.project_above)):
        call.put(name, value)
    call.put("step", options.fixed)
    call.put("most", most_steps or (MOST_STEPS if chosen.adaptive else 1 << 62))
    for name in ("gamma", "exponent", "shrink", "grow", "safety"):
        call.put(f"table.{name}", getattr(chosen.table, name))


Observer = Callable[[np.ndarray], Any]


class Headway:
    """Notices an adaptive run that makes too little way: the rest would take many times the steps, or the evaluations by the
    rank-revealing path, that anybody waits for."""

    def __init__(self, run: Bound, adaptive: bool):
        self.adaptive, self.run = adaptive, run
        self.looked = 0
        start = float(run.get("start"))
        self.since = {name: (0, start) for name in WINDOWS}  # what was counted, and the time, at the beginning of each window

    @property
    def _attempts(self) -> int:
        return int(self.run.get("tally.steps") + self.run.get("tally.rejected"))

    @property
    def ahead(self) -> int:
        """Attempted steps until the next look: the loop is cut there, so that the outcome depends on steps and not on the clock."""
        return self.looked + LOOK_AFTER - self._attempts if self.adaptive else 1 << 40

    def lost(self) -> bool:
        if not self.adaptive or self.ahead > 0:
            return False
        self.looked = self._attempts
        counted = {"steps": self.looked, "fallbacks": fallbacks(self.run)}
        now, end = float(self.run.get("time")), float(self.run.get("end"))
        hopeless = False
        for name, (window, most) in WINDOWS.items():
            before, then = self.since[name]
            if counted[name] - before >= window:
                hopeless |= (end - now) * (counted[name] - before) > most * (now - then)
                self.since[name] = counted[name], now
        return hopeless


def fallbacks(run: Bound) -> int:
    """Return how many evaluations the rank-revealing path has answered."""
    return int(run.get("tally.fallbacks") + run.get("rests.fallbacks"))


class _Run:
    """The slices of one run and what they left behind."""

    def __init__(
        self, problem: Problem, method: Method, codes: dict[str, Any], times: np.ndarray | None, observe: Observer | None, native: bool
    ):
        self.problem, self.adaptive, n = problem, method.adaptive, problem.n
        self.sampled, self.observe = times is not None, observe
        samples = np.zeros(0) if times is None else times
        self.rows = np.zeros((BUFFER if times is None else len(samples), 1 + n))
        self.records = np.zeros((BUFFER if problem.event_specs else 0, 2 + n))
        self.seen = np.zeros((BUFFER if self.sampled and observe else 0, 1 + n))
        self.ticks = np.zeros((BUFFER if problem.sampler else 0, 1 + problem.n_held))
        output = {"samples": samples, "rows": self.rows, "seen": self.seen, "records": self.records, "ticks": self.ticks}
        loop = loop_of(march, problem, method.table, codes, output, sampled=self.sampled)
        self.call: Bound = loop.bound(1, 0, native=native)
        self.state = self.call.record()
        self.held: list[np.ndarray] = []
        self.done: list[np.ndarray] = []
        self.events: list[Event] = []

    def go(self, progress: Callable[[float, float], Any] | None, fixed: int, budget: int) -> tuple[int, str]:
        """Call the loop until it ends; returns (its code, "" or why it was left before)."""
        headway = Headway(self.call, self.adaptive)
        try:
            with Interrupts() as keys:
                while True:
                    begun = time.perf_counter()
                    self.call.number(0, min(fixed or budget, headway.ahead))
                    code = int(self.call()[0])
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
                    if progress is not None and progress(float(self.call.get("time")), float(self.call.get("step"))) is False:
                        return code, "stopped"
        except KeyboardInterrupt:
            self._drain()
            return mem.RUNNING, "interrupted"

    def _drain(self) -> None:
        out = self.state.out
        for record in self.records[: out.event]:
            e = int(record[1])
            self.events.append(Event(float(record[0]), e, self.problem.event_specs[e].name, record[2:].copy()))
        self.held.append(self.ticks[: out.tick].copy())
        out.event = out.tick = 0
        steps = self.seen[: out.see]
        if not self.sampled:
            steps = self.rows[: out.row].copy()
            self.done.append(steps)
            out.row = 0
        out.see = 0
        if self.observe is not None and len(steps):
            self.observe(steps.copy())

    def solution(self, code: int, left: str, error: BaseException | None) -> Solution:
        status, text = REASONS[code] if not left else (left, f"{left} by the caller")
        if isinstance(error, KeyboardInterrupt):
            status, text, error = "interrupted", "interrupted by the caller", None
        s = self.state
        now = float(self.call.get("time"))
        table = self.rows[: s.out.row].copy() if self.sampled else np.concatenate(self.done)
        message = f"t = {now:.6g} s: {text}" + (f" ({error})" if error is not None else "") + "."
        held, events, near = np.concatenate(self.held), tuple(self.events), s.inputs.x.near.copy()
        counters = counters_of([self.call.get(f"tally.{name}") for name in mem.TALLIED]) | {"fallbacks": fallbacks(self.call)}
        return Solution(table[:, 0], table[:, 1:], events, status, message, counters, now, s.y.copy(), error, near, held)


COUNTERS = {
    "steps": "steps",
    "rejected": "rejected",
    "refused": "refused",  # of the rejected: the correction would have been a jump
    "evaluations": "evaluations",
    "jacobians": "jacobians",  # of an implicit method; their evaluations are among the evaluations
    "projections": "projections",
    "fallbacks": "fallbacks",
    "break points": "break_points",  # at which a step was ended
    "position residual": "worst_position",  # largest that remained
    "velocity drift": "worst_velocity",  # largest before projection
    "correction": "worst_correction",  # largest first Newton step of a projection
}


def counters_of(tallies: Any) -> dict[str, Any]:
    """Return how a run went, by name, from the numbers of `run_state.TALLIED` in their order; of many runs from a row each."""
    values = np.asarray(tallies, dtype=float)
    out: dict[str, Any] = {}
    for name, field in COUNTERS.items():
        x = values[..., mem.TALLIED.index(field)]
        x = x if field.startswith("worst") else x.astype(int)
        out[name] = x.copy() if x.ndim else x.item()
    return out


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
    if engine == "native" and not machine_code.available():
        raise UsageError("native time loops need llvmlite: pip install llvmlite, or use engine='python'.", name="native")
    return engine != "python" and machine_code.available()


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


def codes_of(problem: Problem, native: bool) -> tuple[dict[str, Any], list[Callback]]:
    """Return kernels by name as addresses or callables, and the Python functions among them, which live as long as the loop needs them."""
    backs: list[Callback] = []

    def code(kernel: StepKernel) -> Any:
        used = kernel.with_address() if native else kernel
        if isinstance(used.function, Callback):
            used.function.error = used.function.unanswered = None
            used.function.order = 0
            backs.append(used.function)
        return used.address if native else used.callable

    return {name: code(kernel) for name, kernel in kernels_of(problem).items() if kernel is not None}, backs


# -------------------------------------------------------------------- the record of a run for a problem

MECHANISM = ("rates_again", "project", "project_again", "gap", "turns", "rests.stops", "rests.response", "rests.response_again",
             "rests.terms", "rests.terms_again")  # fmt: skip
FULL = ("inputs_again", "events", "switches", "sampler")


def kernels_of(problem: Problem) -> dict[str, StepKernel | None]:
    """Return the kernels of a problem by their places in the record."""
    p = problem
    both = {"rates": p.rates, "project": p.project, "inputs": p.inputs, "rests.response": p.response, "rests.terms": p.terms}
    again = {f"{name}_again": None if k is None else k.backup for name, k in both.items()}
    others = {"gap": p.gap, "turns": p.turns, "events": p.events, "switches": p.switches, "sampler": p.sampler, "rests.stops": p.stops}
    return both | again | others


def _rows(problem: Problem) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Return the blocks of the mechanism row and of the full row."""
    p, many = problem, len(problem.parameters)
    tail = many - p.n_switches - p.n_held
    out = []
    for n in (p.nq + p.nv, p.n):
        row = {"state": (0, n), "t": (n, 1), "parameters": (n + 1, many), "u": (n + 1, p.n_u), "near": (n + 1 + p.near_at, p.n_near)}
        row |= {"held": (n + 1 + tail, p.n_held), "sides": (n + 1 + tail + p.n_held, p.n_switches)}
        out.append(row | {"efforts": (n + 1, p.nv if p.rests else 0)})
    return out[0], out[1]


def _outputs(problem: Problem) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the blocks of outputs of all kernels, by the first part of their names."""
    p = problem
    nm, rests = p.nq + p.nv, p.n_stops if p.rests else 0
    state = {"q": (0, p.nq), "v": (p.nq, p.nv), "residual": (nm, 1), "drift": (nm + 1, 1), "correction": (nm + 2, 1)}
    return {
        "rates": {"rates": (0, nm), "powers": (nm, p.n_power - p.n_slips)},
        "inputs": {"u": (0, p.n_u), "rates": (p.n_u, p.nx - p.n_power)},
        "project": state,
        "gap": {"residual": (0, 1)},
        "turns": {"values": (0, p.n_near)},
        "events": {"values": (0, len(p.event_specs) - len(p.watches))},
        "switches": {"values": (0, p.n_switches)},
        "sampler": {"values": (0, p.n_held)},
        "rests.stops": {
            "values": (0, rests),
            "k": (rests, rests),
            "rows": (2 * rests, rests * p.nv),
            "motions": ((2 + p.nv) * rests, rests * (nm + 1) * p.answered),
        },
        "rests.response": {"motion": (0, nm), "power": (nm, 1)},
        "rests.terms": _terms(p),
    }


def _terms(p: Problem) -> dict[str, tuple[int, int]]:
    """Return the blocks of the terms of joint friction."""
    n, out, at = p.n_stops, {}, 0
    width = {"values": 1, "k": 1, "rows": p.nv, "responses": p.nq + p.nv + 1, "F": 3, "dF": 3 * n, "turns": 1}
    for name, size in width.items():
        out[name] = (at, n * size)
        at += n * size
    return out


_layouts: dict[Any, Layout] = {}
MOST_LAYOUTS = 256


def layout_of(problem: Problem, table: Tableau, codes: Mapping[str, Any], sizes: Mapping[str, int], lanes: int = 1) -> Layout:
    """Return the layout of a run. `codes` are addresses of kernels or callables by name, `sizes` those of the output.

    Problems of one structure have one layout, which is made once; only the code of their kernels differs.
    """
    kernels, given = kernels_of(problem), _sizes(problem, table) | dict(sizes)
    eight = {name: k.eight() if lanes > 1 and k is not None and k.eight is not None else (0, 0) for name, k in kernels.items()}
    alone = {name for name in kernels if name.endswith("_again")}
    room = tuple(None if k is None else (k.n_out, k.workspace, eight[name][1]) for name, k in kernels.items())
    key = (lanes, *given.values(), problem.n_u, problem.n_held, problem.near_at, len(problem.parameters), room)
    if key not in _layouts:
        if len(_layouts) >= MOST_LAYOUTS:
            _layouts.clear()
        _layouts[key] = _layout(problem, kernels, given, eight, lanes)
    code = {
        name: (codes[name], 0) if lanes == 1 else (0 if name in alone else eight[name][0], codes[name])
        for name, kernel in kernels.items()
        if kernel is not None
    }
    return _layouts[key].coded(code)


def _layout(
    p: Problem, kernels: Mapping[str, StepKernel | None], sizes: Mapping[str, int], eight: Mapping[str, tuple[int, int]], lanes: int
) -> Layout:
    """The layout of a run without the code of its kernels."""
    nm, n_in = p.nq + p.nv, 1 + len(p.parameters)
    mechanism, full = _rows(p)
    outputs = _outputs(p)
    places: dict[str, KernelPlace | None] = {}
    for name, kernel in kernels.items():
        row, n = (full, p.n) if name == "inputs" or name in FULL else (mechanism, nm)
        if kernel is None:
            places[name] = None
            continue
        work = (kernel.workspace,) if lanes == 1 else (eight[name][1], 1, kernel.workspace)
        places[name] = KernelPlace(0, row, outputs[name.removesuffix("_again")], n + n_in, kernel.n_out, *work)
    if places["inputs"] is None:
        places["inputs"] = KernelPlace(0, full, {}, p.n + n_in, 0)  # its row is there for the others
    if places["rests.stops"] is None and p.terms is not None:
        places["rests.stops"] = KernelPlace(0, mechanism, {}, nm + n_in, 0)  # as well
    shared = dict.fromkeys(MECHANISM, "rates") | dict.fromkeys(FULL, "inputs") | ({} if p.nx else {"inputs": "rates"})
    return Layout(mem.RunState, sizes, places, lanes, inputs=shared)


def _sizes(p: Problem, table: Tableau) -> dict[str, int]:
    n_watched = len(p.event_specs) + p.n_switches
    rows, implicit = len(table.c), int(table.gamma > 0.0)

    def ways(kernel: StepKernel | None) -> int:
        return 0 if kernel is None else 1 + int(kernel.backup is not None)

    return {
        "n": p.n,
        "nq": p.nq,
        "nv": p.nv,
        "counted": p.n - p.n_power,
        "judged": p.n if p.power_judged else p.n - p.n_power,
        "rows": rows,
        "K_rows": rows + 1,
        "spare": rows,
        "stages": table.stages,
        "implicit": implicit,
        "closing": int(table.error[:, table.stages].any()),
        "n_error": len(table.error),
        "n_dense": len(table.dense),
        "n_inner": 4 + len(table.dense),
        "n_coupling": len(table.coupling),
        "n_slope": len(table.slope),
        "n_implicit": implicit * p.n,
        "backed": ways(p.rates) - 1,
        "projects": ways(p.project),
        "once": int(p.project_once),
        "often": p.project_every,
        "gated": int(p.gap is not None),
        "refuses": int(p.project_refuses),
        "driven": ways(p.inputs),
        "wary": int(any(k is not None and k.function is not None for k in (p.rates, p.inputs))),
        "moved": int(p.inputs_move and p.inputs is not None),
        "ticking": int(p.sampler is not None),
        "responds": ways(p.response),
        "n_events": len(p.event_specs),
        "n_watched": n_watched,
        "n_quarters": 3 if any(e.dips for e in p.event_specs) else 0,
        "n_switches": p.n_switches,
        "n_near": p.n_near,
        "n_corners": len(p.corners) + 1,
        "n_unit": len(p.quaternions),
        "n_rests": len(p.rests),
        "n_watches": len(p.watches),
        "revealing": ways(p.terms) - 1,
        **friction_sizes(len(p.friction.kind), p.friction.groups),
        "slips": p.n_slips,
        "n_response": p.nq + p.nv + 1,
    }


def loop_of(
    function: Any,
    problem: Problem,
    table: Tableau,
    codes: Mapping[str, Any],
    output: Mapping[str, np.ndarray],
    *,
    sampled: bool,
    lanes: int = 1,
    batch: Mapping[str, np.ndarray] | None = None,
) -> Loop:
    """Return a loop of the time stepper with all that belongs to problem and method, its output and its batch of runs."""
    p = problem
    sizes = {"sampled": int(sampled), "stride": lanes} | {f"n_{name}": len(array) for name, array in output.items()}
    loop = Loop(function, layout_of(p, table, codes, sizes, lanes), sliced=True)
    for name in ("a", "c", "error", "dense", "slope"):
        loop.fill(f"table.{name}", getattr(table, name))
    loop.fill("table.coupling", table.coupling.reshape(-1, len(table.c)))
    loop.fill("watched.direction", [e.direction for e in p.event_specs] + [0] * p.n_switches)
    loop.fill("watched.terminal", [int(e.terminal) for e in p.event_specs] + [0] * p.n_switches)
    loop.fill("watched.dips", [int(e.dips) for e in p.event_specs] + [0] * p.n_switches)
    loop.fill("corners", [*p.corners, np.inf])
    loop.fill("unit", p.quaternions)
    loop.fill("scale", np.ones(p.n) if p.scale is None else p.scale)
    loop.fill("rests.place", [e.row for e in p.rests])
    loop.fill("rests.end", [e.at for e in p.rests])
    loop.fill("rests.slide", [e.slide for e in p.rests])
    loop.fill("rests.share", [e.share for e in p.rests])
    loop.fill("rests.across", [e.across for e in p.rests])
    loop.fill("rests.about", [e.about for e in p.rests])
    loop.fill("rests.slow", [e.slow for e in p.rests])
    loop.fill("rests.begins", [e.ahead for e in p.rests])
    for name in ("kind", "group", "by_load", "constant"):
        loop.fill(f"rests.friction.{name}", getattr(p.friction, name))
    loop.fill("rests.sign", p.friction.sign)
    loop.fill("rests.turn", p.friction.speed)
    for name in ("kind", "held", "other", "factor"):
        loop.fill(f"rests.{name}", [getattr(e, name) for e in p.watches])
    for row in ("rates", "inputs") if p.nx else ("rates",):
        loop.fill(f"{row}.x.parameters", p.parameters)
    for name, array in output.items():
        if len(array):
            loop.attach(f"out.{name}", array)
    for name, array in (batch or {}).items():
        loop.attach(f"batch.{name}", array)
    return loop
