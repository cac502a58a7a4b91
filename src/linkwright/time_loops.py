"""From a mechanism to its time loops: the kernels, the rank-revealing answers and the events of one run, and the run.

    run = march(system, state, 5.0, tolerance=1e-10, samples=np.linspace(0, 5, 501))
    run.t, run.q, run.v, run["A.v"], run.energy

Both kernels of a loop read one row, q, v, t, parameters, with the parameters tau, gains (Baumgarte only), free, near. Where
a kernel's pivots degenerate the loop calls back the rank-revealing float path and then goes on natively. `near` counts whole
turns of cut joints; where anything reads it (a spring in a cut joint, say), the run is done in slices in which no cut joint
turns far enough to be misread, and `near` is taken from the state after each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.closing import references
from linkwright.compiler.callbacks import DEGENERATE, NOT_FINITE
from linkwright.compiler.graph import Graph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, interpret
from linkwright.compiler.tracing import without_unused
from linkwright.errors import UsageError, nearest
from linkwright.integrators import INTEGRATORS, EventSpec, Kernel, Problem, Solution, integrate, python_kernel
from linkwright.kinematics import joint_rate, motion
from linkwright.metric import scale
from linkwright.state import State

if TYPE_CHECKING:
    from linkwright.compiled import Compiled
    from linkwright.compiler.kernel import Kernel as CompiledKernel

STABILISERS = ("project", "baumgarte", "none")
GAINS = (20.0, 100.0)  # of Baumgarte, 1/s and 1/s^2: an open loop closes like a critically damped oscillator of 10 rad/s
TURN = 1.0  # rad a cut joint shall turn in one slice
TOO_FAR = 2.0  # rad after which a slice is done again, shorter: beyond pi turns would be miscounted


@dataclass(frozen=True)
class When:
    """An event: its function changes sign (direction +1: rises, -1: falls); a terminal one ends the run.

    `function` is the name of a channel ("rocker.P.x"), a function of one State, or a function of the arrays t, q, v.
    """

    function: Callable[..., Any] | str
    name: str = ""
    direction: int = 0
    terminal: bool = False

    def value(self, st: State) -> Any:
        if isinstance(self.function, str):
            return st[self.function]
        return self.function(st.t, st.q, st.v) if self._arrays else self.function(st)

    @cached_property
    def _arrays(self) -> bool:
        assert callable(self.function)
        wanted = [
            p for p in inspect.signature(self.function).parameters.values() if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD
        ]
        if len(wanted) not in (1, 3):
            raise UsageError(f"the event function '{self.label}' takes one State, or t, q, v; this one takes {len(wanted)} arguments.")
        return len(wanted) == 3

    @property
    def label(self) -> str:
        return self.name or (self.function if isinstance(self.function, str) else getattr(self.function, "__name__", "event"))


@dataclass(frozen=True)
class Row:
    """What stands where in the row the kernels of one mechanism read; what comes after v and t are the parameters."""

    sizes: dict[str, int]

    @classmethod
    def of(cls, system: Compiled, baumgarte: bool) -> Row:
        s = system.kernels.sizes
        sizes = {"q": s.nq, "v": s.nv, "t": 1, "tau": s.nv, "gains": 2 if baumgarte else 0, "free": s.free, "near": s.near}
        return cls({k: n for k, n in sizes.items() if k in ("q", "v", "t", "tau", "near") or n})

    @cached_property
    def n(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def spans(self) -> dict[str, slice]:
        ends = np.cumsum([0, *self.sizes.values()])
        return {k: slice(int(a), int(b)) for k, a, b in zip(self.sizes, ends[:-1], ends[1:], strict=True)}

    def named(self, x: np.ndarray) -> dict[str, np.ndarray]:
        return {k: x[s] for k, s in self.spans.items()}


# -------------------------------------------------------------------- the bridge


def problem(system: Compiled, tau: Any = None, **options: Any) -> Problem:
    """The mechanism as the time loops see it. tau: efforts in the order of names.v, or by name; constant over the run.

    Options: `stabiliser` "project" puts every step back onto the loops, "baumgarte" adds `gains` = (alpha, beta) to the
    equations, "none" lets the loops drift; `formulation` sslm, slm or kkt; `events`; values of the `free` parameters;
    `near`, reference coordinates of the cut joints by name (default: those of the start), constant in one run of the loop.
    """
    return _bridge(system, tau, **options).problem


class Bridge(NamedTuple):
    """A problem, and whether anything in it reads the turns of cut joints."""

    problem: Problem
    turns_count: bool


def _bridge(
    system: Compiled,
    tau: Any = None,
    *,
    near: Mapping[str, Any] | None = None,
    stabiliser: str = "project",
    gains: Sequence[float] | None = None,
    formulation: str = "sslm",
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
) -> Bridge:
    if stabiliser not in STABILISERS:
        raise UsageError(f"there is no stabiliser '{stabiliser}'. {nearest(stabiliser, STABILISERS, 'Stabilisers')}")
    if gains is not None and stabiliser != "baumgarte":
        raise UsageError(f"gains belong to the stabiliser 'baumgarte', not to '{stabiliser}'.")
    baumgarte = stabiliser == "baumgarte"
    row, kernels, skel = Row.of(system, baumgarte), system.kernels, system.loops.skel
    values = {
        "tau": _entries("tau", tau, kernels.entries["tau"], np.zeros(kernels.sizes.nv)),
        "gains": _entries("gains", gains, ["alpha", "beta"], np.array(GAINS)),
        "free": _entries("free", free, kernels.entries["free"], kernels.defaults["free"]),
        "near": _cut_row(system, system.start.near if near is None else near),
    }
    whens = [e if isinstance(e, When) else When(e) for e in events]
    rates = kernels.get("loop_rates", formulation, baumgarte=baumgarte)
    project = kernels.get("loop_projection") if stabiliser == "project" and kernels.sizes.nc else None
    g, g_turns = _event_kernel(system, whens, row) if whens else (None, False)
    kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
    made = Problem(
        _kernel(rates, kernels.fallbacks["loop_rates"], row),
        row.sizes["q"],
        row.sizes["v"],
        project=None if project is None else _kernel(project, kernels.fallbacks["loop_projection"], row),
        events=g,
        event_specs=tuple(EventSpec(w.label, w.direction, w.terminal) for w in whens),
        parameters=tuple(np.concatenate([values[k] for k in row.sizes if k in values])),
        quaternions=tuple(n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds),
        scale=(*scale(kinds, system.loops.kappa), *system.loops.columns),
    )
    return Bridge(made, g_turns or any(_reads_turns(k.inputs) for k in (rates, project) if k is not None))


def _kernel(made: CompiledKernel, answer: Callable[[dict[str, np.ndarray]], dict[str, Any]], row: Row) -> Kernel:
    """A kernel of the loop, with the rank-revealing path behind it."""
    names = [b.name for b in made.outputs]

    def anyway(x: np.ndarray) -> np.ndarray:
        found = answer(row.named(x))
        return np.concatenate([np.ravel(found[k]) for k in names])

    backup = python_kernel(anyway, row.n, sum(b.size for b in made.outputs))
    if not made.native:
        return replace(_interpreted(made.program, row.n), backup=backup)
    return replace(_native(made.code, row.n), backup=backup)


def _native(code: NativeCode, n_in: int) -> Kernel:
    return Kernel(n_in, code.n_out, code.one_address, workspace=code.work("one"), owner=code)


def _interpreted(program: Program, n_in: int) -> Kernel:
    """A program as a kernel in Python; a margin that is not positive is a degenerate pivot."""
    reads = sum(b.size for b in program.inputs)
    n_out = sum(b.size for b in program.outputs)
    margin = next((b.start for b in program.outputs if b.name == "margin"), None)

    def run(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        found = interpret(program, x[:reads])
        y[:n_out] = found
        status = 0 if np.isfinite(found).all() else NOT_FINITE
        return status if margin is None or found[margin] > 0.0 else status | DEGENERATE

    return Kernel(n_in, n_out, function=run)


def _event_kernel(system: Compiled, whens: Sequence[When], row: Row) -> tuple[Kernel, bool]:
    """The event functions: traced and compiled if they can be, else called back; and whether they may count turns."""
    kernels = system.kernels

    def values(x: Mapping[str, Any]) -> np.ndarray:
        eq = kernels.equations(x.get("free", ()))
        st = State(eq.loops.skel, x["q"], x["v"], eq.near(x["q"], x["near"]), x["t"][0])
        return np.array([_scalar(w, w.value(st)) for w in whens])

    start = {k: np.zeros(n) for k, n in row.sizes.items()} | {"free": kernels.defaults["free"]}
    values(start | {"q": system.start.q, "near": _cut_row(system, system.start.near)})  # what is simply wrong with them shows here
    graph = Graph()
    try:
        found = values({k: graph.input(k, n) for k, n in row.sizes.items()})
        program = without_unused(graph.program([("g", found)]), ("near",))
    except Exception:  # code of the user's meets traced values, and may fail in any way it likes
        return python_kernel(lambda x: values(row.named(x)), row.n, len(whens)), row.sizes["near"] > 0
    native = kernels.get("loop_rates").native
    return _native(NativeCode.of(program), row.n) if native else _interpreted(program, row.n), _reads_turns(program.inputs)


def _scalar(w: When, value: Any) -> Any:
    if np.ndim(value) != 0:
        raise UsageError(f"the event function '{w.label}' must give one number, not an array of shape {np.shape(value)}.")
    return value


def _reads_turns(blocks: Any) -> bool:
    return any(b.name == "near" for b in blocks)


def _entries(what: str, value: Any, names: Sequence[str], default: np.ndarray) -> np.ndarray:
    """An array, or some entries by name, as all entries in order."""
    out = np.array(default, dtype=float)
    if isinstance(value, Mapping):
        for key, x in value.items():
            if key not in names:
                raise UsageError(f"'{key}' is not an entry of '{what}'. {nearest(str(key), list(names), 'Entries')}")
            out[list(names).index(key)] = x
    elif value is not None:
        given = np.asarray(value, dtype=float)
        if given.shape != out.shape:
            raise UsageError(f"'{what}' needs {len(out)} entries: {', '.join(names)}.")
        out = given
    if not np.isfinite(out).all():
        raise UsageError(f"'{what}' has entries that are not finite numbers.")
    return out


def _cut_row(system: Compiled, near: Mapping[str, Any]) -> np.ndarray:
    parts = [np.asarray(near[name], dtype=float) for name in system.loops.skel.tree.cuts]
    return np.concatenate(parts) if parts else np.zeros(0)


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
        skel = self.system.loops.skel
        near = {**{n.joint.name: self.q[i, n.q] for n in skel.tree.nodes}, **_by_cut(self.system, self.near[i])}
        return State(skel, self.q[i].copy(), self.v[i].copy(), references(skel, self.q[i], near), float(self.t[i]))


def march(
    system: Compiled,
    st: State,
    t_end: float,
    *,
    tau: Any = None,
    method: str = "dopri",
    stabiliser: str = "project",
    gains: Sequence[float] | None = None,
    formulation: str = "sslm",
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
    samples: Sequence[float] | np.ndarray | None = None,
    **how: Any,
) -> Run:
    """Integrate from a state to t_end; `how` are the options of `integrators.integrate`: step, tolerance, engine, progress, ..."""
    options: dict[str, Any] = {"stabiliser": stabiliser, "gains": gains, "formulation": formulation, "events": events, "free": free}
    made, turns_count = _bridge(system, tau, near=st.near, **options)
    start = np.concatenate([st.q, st.v])
    values = _entries("free", free, system.kernels.entries["free"], system.kernels.defaults["free"])
    if turns_count and t_end > st.t:
        return Run(system, *_in_slices(system, made, start, st, t_end, method, samples, how), values)
    solution = integrate(made, start, st.t, t_end, method, samples=samples, **how)
    return Run(system, solution, np.tile(_cut_row(system, st.near), (len(solution.t), 1)), values)


def _by_cut(system: Compiled, row: np.ndarray) -> dict[str, np.ndarray]:
    skel, out, at = system.loops.skel, {}, 0
    for name in skel.tree.cuts:
        size = len(skel.start_coordinates[name])
        out[name] = row[at : at + size]
        at += size
    return out


def _in_slices(
    system: Compiled, made: Problem, y: np.ndarray, st: State, t_end: float, method: str, samples: Any, how: Mapping[str, Any]
) -> tuple[Solution, np.ndarray]:
    """The run in slices with `near` renewed after each; (all of it, near of every row)."""
    times = None if samples is None else np.asarray(samples, dtype=float).ravel()
    near, t, length = dict(st.near), st.t, np.inf
    step = how.get("step") if method in INTEGRATORS and not INTEGRATORS[method].adaptive else None  # fixed steps are not cut
    done: list[Solution] = []
    rows: list[np.ndarray] = []
    while True:
        cut = _cut_row(system, near)
        length = _slice_length(system, y, near, length, step)
        stop = t_end if t + 1.1 * length >= t_end else t + length
        within = None if times is None else times[((times <= stop) | (stop == t_end)) & ((times > t) | (not done))]
        there = replace(made, parameters=(*made.parameters[: len(made.parameters) - len(cut)], *cut))
        part = integrate(there, y, t, stop, method, samples=within, **how)
        after = references(system.loops.skel, part.end_state[: made.nq], near)
        if _turned(system, near, after) > TOO_FAR and stop - t > (step or 0.0):
            length = 0.25 * (stop - t)
            continue
        first = 1 if done and times is None else 0  # the start of a slice is the end of the one before
        done.append(replace(part, t=part.t[first:], y=part.y[first:]))
        rows.append(np.tile(cut, (len(done[-1].t), 1)))
        y, t, near, length = part.end_state, part.end_time, after, 2.0 * (stop - t)
        if part.status != "finished" or t >= t_end:
            return _joined(done), np.concatenate(rows)


def _slice_length(system: Compiled, y: np.ndarray, near: Mapping[str, Any], most: float, step: float | None) -> float:
    """Time in which the fastest cut joint turns about one radian; whole steps where they are fixed."""
    skel = system.loops.skel
    q, v = y[: skel.tree.nq], y[skel.tree.nq :]
    m = motion(skel, q, v)
    speeds = [np.abs(joint_rate(skel, m, skel.tree.description.joint(n), near[n]).v).max(initial=0.0) for n in skel.tree.cuts]
    length = min(TURN / max(max(speeds, default=0.0), 1e-3), most)
    return length if step is None else max(1.0, np.floor(length / step)) * step


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
