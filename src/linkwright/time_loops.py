"""From a mechanism to its time loops: the kernels, the rank-revealing answers and the events of one run, and the run.

    run = march(system, state, 5.0, tolerance=1e-10, samples=np.linspace(0, 5, 501))
    run.t, run.q, run.v, run["A.v"], run.energy

A `Setup` holds what a run needs besides a start: kernels of the right variant, drives, stabiliser, events. Where a kernel's
pivots degenerate the loop calls back the rank-revealing path and then goes on natively. `near` counts whole turns of cut
joints; where anything reads it (a spring in a cut joint, say), the run is done in slices in which no cut joint turns far
enough to be misread, and `near` is taken from the state after each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright import joints, stabilisers
from linkwright.closing import references
from linkwright.compiler.kernels import Kernels
from linkwright.errors import UsageError, nearest
from linkwright.integrators import INTEGRATORS, EventSpec, Kernel, Problem, Solution, integrate, python_kernel
from linkwright.kinematics import joint_rate, motion
from linkwright.loop_events import When, event_kernel, interpreted_kernel, native_kernel, reads_turns
from linkwright.loop_rows import HEAD, Row, by_cut, cut_row, entries
from linkwright.metric import scale
from linkwright.state import State
from linkwright.variants import Variant

if TYPE_CHECKING:
    from linkwright.compiled import Compiled
    from linkwright.compiler.kernel import Kernel as CompiledKernel

TURN = 1.0  # rad a cut joint shall turn in one slice
TOO_FAR = 2.0  # rad after which a slice is done again, shorter: beyond pi turns would be miscounted


@dataclass(frozen=True)
class Setup:
    """A problem of the time loops with what it was made from."""

    system: Compiled = field(repr=False)
    problem: Problem = field(repr=False)
    kernels: Kernels = field(repr=False)  # of the variant
    row: Row  # the full one
    values: Mapping[str, np.ndarray] = field(repr=False)  # the parameters by block
    actuation: Any = None
    turns_count: bool = False  # something reads the turns of cut joints
    stabiliser: Mapping[str, Any] = field(default_factory=dict)  # names and numbers of it
    stabiliser_text: str = ""

    def near(self, cut: np.ndarray) -> Problem:
        """The problem with other reference coordinates of the cut joints."""
        if np.array_equal(cut, self.values["near"]):
            return self.problem
        blocks = dict(self.values) | {"near": cut}
        return replace(self.problem, parameters=tuple(np.concatenate([blocks[k] for k in self.row.parameters])))


def problem(system: Compiled, tau: Any = None, **options: Any) -> Problem:
    """The mechanism as the time loops see it; see `setup`."""
    return setup(system, tau, **options).problem


def setup(
    system: Compiled,
    tau: Any = None,
    *,
    near: Mapping[str, Any] | None = None,
    stabiliser: Any = "project",
    gains: Sequence[float] | None = None,
    formulation: str | None = None,
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
    actuation: Any = None,
    variant: Variant | None = None,
) -> Setup:
    """Kernels and parameters of runs. tau: efforts in the order of names.v, or by name; constant over the run.

    `stabiliser` "project" puts every step back onto the loops; others are in `stabilisers`; `gains` = (alpha, beta) set those
    of "baumgarte" directly. `formulation` of the rates; `events`; values of the `free` parameters; `near`, reference
    coordinates of the cut joints by name (default: those of the start). `actuation` are drives of any kind, `variant`
    switches constraints and adds what they need.
    """
    keeper = stabilisers.create(stabiliser)
    if gains is not None and keeper.gains is None:
        raise UsageError(f"gains belong to the stabiliser 'baumgarte', not to '{keeper.name}'.")
    held = keeper.gains if gains is None else gains
    form = variant or Variant()
    kernels = system.kernels.variant(form)
    extra = 0 if actuation is None else len(actuation.x0)
    power = 3 if form.power else 0
    n_held = 0 if actuation is None else actuation.n_held
    row = Row.of(system, held is not None, drivers=len(form.drivers), x=extra + power, held=n_held)
    default = np.zeros(row.sizes["v"]) if actuation is None else actuation.tau0
    values = {name: np.zeros(n) for name, n in row.sizes.items() if name in row.parameters}
    values |= {
        "tau": entries("tau", tau, system.kernels.entries["tau"], default),
        "near": cut_row(system, system.start.near if near is None else near),
    }
    if held is not None:
        values["gains"] = entries("gains", held, ["alpha", "beta"], np.zeros(2))
    if "free" in row.sizes:
        values["free"] = entries("free", free, system.kernels.entries["free"], system.kernels.defaults["free"])
    elif free is not None:
        entries("free", free, [], np.zeros(0))
    return _assembled(system, kernels, row, values, keeper, formulation, held is not None, events, actuation, power)


def _assembled(
    system: Compiled,
    kernels: Kernels,
    row: Row,
    values: dict[str, np.ndarray],
    keeper: Any,
    formulation: str | None,
    baumgarte: bool,
    events: Sequence[Any],
    actuation: Any,
    power: int,
) -> Setup:
    whens = [e if isinstance(e, When) else When(e) for e in events]
    inner, skel = row.mechanism, system.loops.skel
    rates = kernels.get("loop_rates", formulation, baumgarte=baumgarte)
    drives = () if actuation is None else tuple(b.target.name for b in actuation.bounds if not b.moves)
    start = system.start
    after = keeper.correction(kernels, start.q, start.near, drives, gains=baumgarte)
    g, g_turns = event_kernel(system, whens, row) if whens else (None, False)
    inputs = None if actuation is None else actuation.inputs(row)
    sampler = None if actuation is None else actuation.sampler(row)
    kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
    x_scale = [] if actuation is None else list(actuation.x_scale)
    moves = row.sizes.get("drive", 0) > 0
    made = Problem(
        loop_kernel(rates, kernels.fallbacks["loop_rates"], inner),
        row.sizes["q"],
        row.sizes["v"],
        row.sizes.get("x", 0),
        project=None if after is None else loop_kernel(after.kernel, after.answer, inner),
        events=g,
        event_specs=tuple(EventSpec(w.label, w.direction, w.terminal) for w in whens),
        parameters=tuple(np.concatenate([values[k] for k in row.parameters])),
        quaternions=tuple(n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds),
        scale=(*scale(kinds, system.loops.kappa), *system.loops.columns, *x_scale, *([1.0] * power)),
        inputs=inputs,
        n_u=sum(row.sizes.get(k, 0) for k in HEAD) if inputs is not None else 0,
        inputs_move=moves,
        n_power=power,
        sampler=sampler,
        every=0.0 if sampler is None or actuation is None else actuation.every,
        n_held=row.sizes.get("held", 0),
        project_once=after is not None and after.once,
    )
    turns = g_turns or (actuation is not None and actuation.counts_turns)
    turns = turns or any(reads_turns(k.inputs) for k in (rates, after.kernel if after else None) if k is not None)
    settings = {**keeper.settings, **(after.settings if after else {})}
    return Setup(system, made, kernels, row, values, actuation, turns, settings, keeper.text)


def loop_kernel(made: CompiledKernel, answer: Callable[[dict[str, np.ndarray]], dict[str, Any]] | None, row: Row) -> Kernel:
    """A kernel of the loop, with the rank-revealing path behind it."""
    names = [b.name for b in made.outputs]

    def anyway(x: np.ndarray) -> np.ndarray:
        assert answer is not None
        found = answer(row.named(x))
        return np.concatenate([np.ravel(found.get(k, 1.0)) for k in names])

    backup = None if answer is None else python_kernel(anyway, row.n, sum(b.size for b in made.outputs))
    if not made.native:
        return replace(interpreted_kernel(made.program, row.n), backup=backup)
    return replace(native_kernel(made.code, row.n), backup=backup)


# -------------------------------------------------------------------- the run


@dataclass(frozen=True)
class Run:
    """A run by names: times, coordinates and speeds of the tree's joints, energies. `solution` tells how it went."""

    system: Compiled = field(repr=False)
    solution: Solution
    near: np.ndarray = field(repr=False)  # (times, coordinates of cut joints): to count turns
    free: np.ndarray = field(repr=False)

    @property
    def t(self) -> np.ndarray:
        return self.solution.t

    @property
    def q(self) -> np.ndarray:
        return self.solution.y[:, : self.system.kernels.sizes.nq]

    @property
    def v(self) -> np.ndarray:
        s = self.system.kernels.sizes
        return self.solution.y[:, s.nq : s.nq + s.nv]

    def __getitem__(self, name: str) -> np.ndarray:
        """A coordinate by its name in names.q, or a speed: `run["A"]`, `run["A.v"]`."""
        names = self.system.kernels.entries
        table = {**{f"{n}.v": self.v[:, i] for i, n in enumerate(names["v"])}, **{n: self.q[:, i] for i, n in enumerate(names["q"])}}
        if name not in table:
            raise UsageError(f"there is no coordinate or speed '{name}' in this run. {nearest(name, table, 'Names')}")
        return table[name]

    @cached_property
    def energy(self) -> Any:
        """Kinetic and potential energy, (times, 1) each, in one call of the kernel."""
        more = {"free": self.free} if len(self.free) else {}
        return self.system.kernel("energy")(self.q, self.v, t=self.t[:, None], near=self.near, **more)

    def state(self, i: int) -> State:
        """The state at one of the times."""
        return state_of(self.system, self.q[i], self.v[i], self.near[i], float(self.t[i]))


def state_of(system: Compiled, q: np.ndarray, v: np.ndarray, cut: np.ndarray, t: float) -> State:
    """A State of arrays, the turns of its cut joints counted from reference coordinates."""
    skel = system.loops.skel
    near = {**{n.joint.name: q[n.q] for n in skel.tree.nodes}, **by_cut(system, cut)}
    return State(skel, q.copy(), v.copy(), references(skel, q, near), t)


def march(
    system: Compiled,
    st: State,
    t_end: float,
    *,
    tau: Any = None,
    method: str = "dopri",
    stabiliser: Any = "project",
    gains: Sequence[float] | None = None,
    formulation: str | None = None,
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
    samples: Sequence[float] | np.ndarray | None = None,
    **how: Any,
) -> Run:
    """Integrate from a state to t_end; `how` are the options of `integrators.integrate`: step, tolerance, engine, progress, ..."""
    options: dict[str, Any] = {"stabiliser": stabiliser, "gains": gains, "formulation": formulation, "events": events, "free": free}
    made = setup(system, tau, near=st.near, **options)
    solution, near, _ = go(made, st, np.zeros(0), t_end, method, samples=samples, **how)
    return Run(system, solution, near, made.values.get("free", np.zeros(0)))


Gone = tuple[Solution, np.ndarray, Mapping[str, Any]]


def go(made: Setup, st: State, x: np.ndarray, t_end: float, method: str, *, samples: Any = None, **how: Any) -> Gone:
    """Run a setup from a state; (what came out, reference coordinates of the cut joints in every row of it, and at its end)."""
    y = np.concatenate([st.q, st.v, x])
    if made.turns_count and t_end > st.t:
        return _in_slices(made, y, st, t_end, method, samples, how)
    cut = cut_row(made.system, st.near)
    observe = how.pop("observe", None)
    watch = None if observe is None else (lambda rows: observe(rows, cut))
    solution = integrate(made.near(cut), y, st.t, t_end, method, samples=samples, observe=watch, **how)
    return solution, np.tile(cut, (len(solution.t), 1)), st.near


def state_at_end(made: Setup, solution: Solution, near: Mapping[str, Any]) -> State:
    """The State a run came to."""
    q, v = np.split(solution.end_state[: made.problem.nq + made.problem.nv], [made.problem.nq])
    return State(made.system.loops.skel, q, v, references(made.system.loops.skel, q, near), solution.end_time)


def _in_slices(made: Setup, y: np.ndarray, st: State, t_end: float, method: str, samples: Any, how: Mapping[str, Any]) -> Gone:
    """The run in slices with `near` renewed after each; (all of it, near of every row)."""
    system, nq = made.system, made.problem.nq
    times = None if samples is None else np.asarray(samples, dtype=float).ravel()
    near, t, length = dict(st.near), st.t, np.inf
    step = how.get("step") if method in INTEGRATORS and not INTEGRATORS[method].adaptive else None  # fixed steps are not cut
    grid = made.problem.every or step  # slices end on samples of a controller
    observe = how.get("observe")
    done: list[Solution] = []
    rows: list[np.ndarray] = []
    while True:
        cut = cut_row(system, near)
        length = _slice_length(system, y, near, length, grid)
        stop = t_end if t + 1.1 * length >= t_end else t + length
        within = None if times is None else times[((times <= stop) | (stop == t_end)) & ((times > t) | (not done))]
        seen: list[np.ndarray] = []
        given = {**how, "observe": None if observe is None else seen.append}
        part = integrate(made.near(cut), y, t, stop, method, samples=within, **given)
        after = references(system.loops.skel, part.end_state[:nq], near)
        if _turned(system, near, after) > TOO_FAR and stop - t > (grid or 0.0):
            length = 0.25 * (stop - t)
            continue
        first = 1 if done else 0  # the start of a slice is the end of the one before
        if observe is not None and seen:
            observe(np.concatenate(seen)[first:], cut)
        first = first if times is None else 0
        done.append(replace(part, t=part.t[first:], y=part.y[first:]))
        rows.append(np.tile(cut, (len(done[-1].t), 1)))
        y, t, near, length = part.end_state, part.end_time, after, 2.0 * (stop - t)
        if part.status != "finished" or t >= t_end:
            return _joined(done), np.concatenate(rows), near


def _slice_length(system: Compiled, y: np.ndarray, near: Mapping[str, Any], most: float, grid: float | None) -> float:
    """Time in which the fastest cut joint turns about one radian; whole steps where they are fixed."""
    skel = system.loops.skel
    q, v = y[: skel.tree.nq], y[skel.tree.nq : skel.tree.nq + skel.tree.nv]
    m = motion(skel, q, v)
    speeds = [np.abs(joint_rate(skel, m, skel.tree.description.joint(n), near[n]).v).max(initial=0.0) for n in skel.tree.cuts]
    length = min(TURN / max(max(speeds, default=0.0), 1e-3), most)
    return length if grid is None else max(1.0, np.floor(length / grid)) * grid


def _turned(system: Compiled, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
    """Largest angle by which a cut joint turned."""
    skel = system.loops.skel
    out = 0.0
    for name in skel.tree.cuts:
        joint = skel.tree.description.joint(name)
        kinds = joints.create(joint.type, joint.options).coordinate_kinds
        out = max([out, *(abs(a - b) for a, b, k in zip(before[name], after[name], kinds, strict=True) if k == "angle")])
    return out


def _joined(parts: Sequence[Solution]) -> Solution:
    """Slices as one run."""
    worst = ("position residual", "velocity drift", "correction")
    counters = {k: (max if k in worst else sum)(p.counters[k] for p in parts) for k in parts[0].counters}
    t, y = (np.concatenate([getattr(p, name) for p in parts]) for name in ("t", "y"))
    return replace(parts[-1], t=t, y=y, events=tuple(e for p in parts for e in p.events), counters=counters)
