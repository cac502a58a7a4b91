"""From a mechanism to its time steppers: the kernels, the rank-revealing answers and the events of one run, and the run.

    run = march(system, state, 5.0, tolerance=1e-10, samples=np.linspace(0, 5, 501))
    run.t, run.q, run.v, run["A.v"], run.energy

A `Setup` holds what a run needs besides a start: kernels of the right variant, drives, stabilizer, events. Where a kernel's
pivots degenerate the loop calls back the rank-revealing path and then continues natively. `near` counts whole turns of cut
joints; where anything reads it (a spring in a cut joint, say), the loop counts on after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.errors import UsageError, nearest
from linkwright.integrators import EventSpec, HeldEnd, Method, Problem, Solution, StepKernel, integrate, python_kernel
from linkwright.kernels.equations.variants import Variant
from linkwright.kernels.kernels import Kernels
from linkwright.mechanics.closing.newton import counted_references
from linkwright.mechanics.kinematics.motion import joint_coordinates, motion
from linkwright.numerics.metric import scale
from linkwright.results.channel_programs import cut_references
from linkwright.results.state import State
from linkwright.simulation import break_points as step_switches
from linkwright.simulation import stabilizers
from linkwright.simulation.break_points import sided
from linkwright.simulation.events import When, event_kernel, interpreted_kernel, native_kernel, reads_turns
from linkwright.simulation.kernel_rows import HEAD, SIDES, RowLayout, entries
from linkwright.simulation.rest_kernels import RestKernels

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel as CompiledKernel
    from linkwright.motion.compiled import Compiled
    from linkwright.simulation.stabilizers.base import Correction


class Rests(NamedTuple):
    """Coordinates that rigid stops may hold, and the ends at which some of them rest now."""

    coordinates: tuple[str, ...]
    ends: tuple[HeldEnd, ...]


@dataclass(frozen=True)
class Setup:
    """A problem of the time steppers with what it was made from."""

    system: Compiled = field(repr=False)
    problem: Problem = field(repr=False)
    kernels: Kernels = field(repr=False)  # of the variant
    row: RowLayout  # the full one
    values: Mapping[str, np.ndarray] = field(repr=False)  # the parameters by block
    actuation: Any = None
    stabilizer: Mapping[str, Any] = field(default_factory=dict)  # names and numbers of it
    stabilizer_text: str = ""
    resting: RestKernels | None = None  # of the stops that may hold, in a mode in which some do

    def between(self, first: float, last: float, cut: np.ndarray | None = None) -> Problem:
        """The problem of a run from one time to another: steps end on corners of inputs that are called back."""
        found = self.problem if cut is None else self.with_references(cut)
        return found if self.actuation is None else replace(found, corners=self.actuation.corners(first, last))

    def with_references(self, cut: np.ndarray) -> Problem:
        """The problem with other reference coordinates of the cut joints."""
        if np.array_equal(cut, self.values["near"]):
            return self.problem
        blocks = dict(self.values) | {"near": cut}
        return replace(self.problem, parameters=tuple(np.concatenate([blocks[k] for k in self.row.parameters])))


def problem(system: Compiled, tau: Any = None, **options: Any) -> Problem:
    """The mechanism as the time steppers see it; see `setup`."""
    return setup(system, tau, **options).problem


def setup(
    system: Compiled,
    tau: Any = None,
    *,
    references: Mapping[str, Any] | None = None,
    stabilizer: Any = "project",
    gains: Sequence[float] | None = None,
    formulation: Any = None,
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
    actuation: Any = None,
    variant: Variant | None = None,
    origin: float | None = None,
    rests: Rests | None = None,
) -> Setup:
    """Kernels and parameters of runs. tau: efforts in the order of names.v, or by name; constant over the run.

    `stabilizer` "project" puts every step back onto the loops; others are in `stabilizers`; `gains` = (alpha, beta) set those
    of "baumgarte" directly. `formulation` of the rates; `events`; values of the `free` parameters; `references`, reference
    coordinates of the cut joints by name (default: those of the start). `actuation` are drives of any kind, `variant`
    switches constraints and adds what they need. Samples of a controller are counted from `origin`. `rests`: ends of rigid stops that
    hold; the last events are their pushes.
    """
    keeper = stabilizers.create(stabilizer)
    if gains is not None and keeper.gains is None:
        raise UsageError(f"gains belong to the stabilizer 'baumgarte', not to '{keeper.name}'.")
    held = keeper.gains if gains is None else gains
    form = variant or Variant()
    kernels = system.kernels.variant(form)
    extra = 0 if actuation is None else len(actuation.x0)
    power = 3 if form.power else 0
    n_held = 0 if actuation is None else actuation.n_held
    rates = rates_kernel(kernels, formulation, held is not None, keeper.closes)
    row = RowLayout.of(
        system, held is not None, drivers=len(form.drivers), x=extra + power, held=n_held, sides=step_switches.sides(rates, actuation)
    )
    default = np.zeros(row.sizes["v"]) if actuation is None else actuation.tau0
    values = {name: np.zeros(n) for name, n in row.sizes.items() if name in row.parameters}
    values |= {
        "tau": entries("tau", tau, system.kernels.entries["tau"], default),
        "near": system.loops.skel.pack(system.start.references if references is None else references),
    }
    if actuation is not None and n_held:
        values["held"] = actuation.held.values[-1] if actuation.held.t else actuation.start["held"]
    if held is not None:
        values["gains"] = entries("gains", held, ["alpha", "beta"], np.zeros(2))
    if "free" in row.sizes:
        values["free"] = entries("free", free, system.kernels.entries["free"], system.kernels.defaults["free"])
    elif free is not None:
        entries("free", free, [], np.zeros(0))
    return _assembled(system, kernels, rates, row, values, keeper, formulation, held is not None, events, actuation, power, origin, rests)


def rates_kernel(kernels: Kernels, formulation: Any, baumgarte: bool, projected: bool) -> CompiledKernel:
    """The rates by a formulation; of one that has no such kernel, those whose results it shares."""
    answer = _answering(kernels, formulation)
    return kernels.get("loop_rates", formulation if answer is None else None, baumgarte=baumgarte, projected=projected)


def _assembled(
    system: Compiled,
    kernels: Kernels,
    rates: CompiledKernel,
    row: RowLayout,
    values: dict[str, np.ndarray],
    keeper: Any,
    formulation: Any,
    baumgarte: bool,
    events: Sequence[Any],
    actuation: Any,
    power: int,
    origin: float | None,
    rests: Rests | None,
) -> Setup:
    whens = [e if isinstance(e, When) else When(e) for e in events]
    inner, skel = row.mechanism, system.loops.skel
    answer = _answering(kernels, formulation)
    drives = () if actuation is None else tuple(b.target.name for b in actuation.bounds if not b.moves)
    start = system.start
    after = keeper.correction(kernels, start.q, start.references, drives, gains=baumgarte)
    ends = () if rests is None else rests.ends
    read = whens[: len(whens) - len(ends)]
    g, g_turns = event_kernel(system, read, row) if read else (None, False)
    inputs = None if actuation is None else actuation.inputs(row)
    sampler = None if actuation is None else actuation.sampler(row, origin)
    kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
    x_scale = [] if actuation is None else list(actuation.x_scale)
    moves = row.sizes.get("drive", 0) > 0
    turns = g_turns or (actuation is not None and actuation.counts_turns)
    after_step = () if after is None else (after.kernel, after.gap)
    resting = RestKernels.of(kernels, rests.coordinates, baumgarte) if rests is not None and ends else None
    at_rest = () if resting is None else (resting.stops, resting.response)
    turns = turns or any(reads_turns(k.inputs) for k in (rates, *after_step, *at_rest) if k is not None)
    plain = step_kernel(rates, kernels.fallbacks["loop_rates"], inner) if answer is None else python_rates(rates, answer, inner)
    switches = step_switches.switching_kernel(rates, actuation, row)
    made = Problem(
        sided(rates, plain, inner) if answer is None else plain,
        row.sizes["q"],
        row.sizes["v"],
        row.sizes.get("x", 0),
        project=None if after is None else step_kernel(after.kernel, after.answer, inner),
        events=g,
        event_specs=tuple(EventSpec(w.label, w.direction, w.terminal) for w in whens),
        parameters=tuple(np.concatenate([values[k] for k in row.parameters])),
        quaternions=tuple(n.q.start for n, jt in zip(skel.tree.nodes, skel.types, strict=True) if "quaternion" in jt.coordinate_kinds),
        scale=(*scale(kinds, system.loops.kappa), *system.loops.columns, *x_scale, *([energy_size(system)] * power)),
        inputs=inputs,
        n_u=sum(row.sizes.get(k, 0) for k in HEAD) if inputs is not None else 0,
        inputs_move=moves,
        n_power=power,
        power_judged=moves,  # steps of a prescribed motion may be long, but not for the work it takes
        sampler=sampler,
        every=0.0 if sampler is None or actuation is None else actuation.every,
        n_held=row.sizes.get("held", 0),
        turns=turns_kernel(system, inner) if turns else None,
        n_near=row.sizes["near"] if turns else 0,
        near_at=inner.spans["near"].start - inner.spans["tau"].start,
        **({} if after is None else _occasions(after, keeper, inner)),
        switches=switches,
        n_switches=sum(row.sizes.get(k, 0) for k in SIDES),
        stops=None if resting is None else step_kernel(resting.stops, None, inner),
        response=None if resting is None else step_kernel(resting.response, kernels.fallbacks["response"], inner),
        n_stops=0 if resting is None else len(resting.coordinates),
        rests=tuple(ends),
    )
    settings = {**keeper.settings, **(after.settings if after else {})}
    return Setup(system, made, kernels, row, values, actuation, settings, keeper.text, resting)


def _occasions(after: Correction, keeper: Any, row: RowLayout) -> dict[str, Any]:
    """When states are corrected, and whether a large correction is refused: one after several steps is that of several errors."""
    gap = None if after.gap is None else step_kernel(after.gap, None, row)
    options = {"project_once": after.once, "project_every": after.every, "project_above": after.above or 0.0}
    return {**options, "gap": gap, "project_refuses": keeper.closes}


def _answering(kernels: Kernels, formulation: Any) -> Any:
    """Rates by a formulation that time steppers have no kernel of; None where they have one."""
    if formulation is None or isinstance(formulation, str):
        return kernels.fallbacks.get(f"loop_rates by {formulation}")
    rates: Any = kernels.fallbacks["loop_rates"]
    return partial(rates, formulation=formulation)


def python_rates(made: CompiledKernel, answer: Callable[[dict[str, np.ndarray]], dict[str, Any]], row: RowLayout) -> StepKernel:
    """Rates by a formulation that has no kernel: the float path, called back at every evaluation."""
    names = [b.name for b in made.outputs if b.name != "margin"]
    size = sum(b.size for b in made.outputs if b.name != "margin")

    def values(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # the state may be a trial out of all proportion; what is not finite is refused
            found = answer(row.named(x))
        return np.concatenate([np.ravel(found[k]) for k in names])

    return python_kernel(values, row.n, size)


def step_kernel(made: CompiledKernel, answer: Callable[[dict[str, np.ndarray]], dict[str, Any]] | None, row: RowLayout) -> StepKernel:
    """A kernel of the loop, with the rank-revealing path behind it."""
    names = [b.name for b in made.outputs]

    def anyway(x: np.ndarray) -> np.ndarray:
        assert answer is not None
        with np.errstate(all="ignore"):  # as above
            found = answer(row.named(x))
        return np.concatenate([np.ravel(found.get(k, 1.0)) for k in names])

    backup = None if answer is None else python_kernel(anyway, row.n, sum(b.size for b in made.outputs))
    if not made.native:
        return replace(interpreted_kernel(made.program, row.n), backup=backup)
    return replace(native_kernel(made.code, row.n), backup=backup)


# -------------------------------------------------------------------- the run


@dataclass(frozen=True)
class SteppedRun:
    """A run by names: times, coordinates and speeds of the tree's joints, energies. `solution` has its statistics."""

    system: Compiled = field(repr=False)
    solution: Solution
    start: State = field(repr=False)
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

    @cached_property
    def references(self) -> np.ndarray:
        """(times, coordinates of cut joints): turns counted."""
        return cut_references(
            self.system.loops.skel, self.t, self.q, self.v, self.start.references, self.system.loops, origin=self.start.q
        ).rows

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
        return self.system.kernels.get("energy")(self.q, self.v, t=self.t[:, None], near=self.references, **more)

    def state(self, i: int) -> State:
        """The state at one of the times."""
        return state_of(self.system, self.q[i], self.v[i], self.references[i], float(self.t[i]))


def state_of(system: Compiled, q: np.ndarray, v: np.ndarray, cut: np.ndarray, t: float) -> State:
    """A State of arrays, the turns of its cut joints counted from reference coordinates."""
    skel = system.loops.skel
    references = skel.unpack(q, cut)
    return State(skel, q.copy(), v.copy(), counted_references(skel, q, references), t)


def march(
    system: Compiled,
    st: State,
    t_end: float,
    *,
    tau: Any = None,
    method: str | Method = "dopri",
    stabilizer: Any = "project",
    gains: Sequence[float] | None = None,
    formulation: Any = None,
    events: Sequence[When | Callable[..., Any] | str] = (),
    free: Any = None,
    samples: Sequence[float] | np.ndarray | None = None,
    **how: Any,
) -> SteppedRun:
    """Integrate from a state to t_end; `how` are the options of `integrators.integrate`: step, tolerance, engine, progress, ..."""
    options: dict[str, Any] = {"stabilizer": stabilizer, "gains": gains, "formulation": formulation, "events": events, "free": free}
    made = setup(system, tau, references=st.references, **options)
    solution = go(made, st, np.zeros(0), t_end, method, samples=samples, **how)
    return SteppedRun(system, solution, st, made.values.get("free", np.zeros(0)))


def energy_size(system: Compiled) -> float:
    """A size of energies: what lifting or turning the whole mechanism over takes."""
    skel = system.loops.skel
    mass = float(sum(np.real(m) for m in skel.mass))
    fall = float(np.linalg.norm(np.asarray(skel.gravity, dtype=float)))
    return max(mass * system.loops.kappa * (fall + system.loops.kappa), 1e-6)


def go(made: Setup, st: State, x: np.ndarray, t_end: float, method: str | Method, **how: Any) -> Solution:
    """Run a setup from a state."""
    made_for = made.between(st.t, t_end, made.system.loops.skel.pack(st.references))
    return integrate(made_for, np.concatenate([st.q, st.v, x]), st.t, t_end, method, **how)


def turns_kernel(system: Compiled, row: RowLayout) -> StepKernel:
    """Coordinates of the cut joints, angles counted on from those of the row."""
    kernels, skel = system.kernels, system.loops.skel
    kinds = {n: joints.create(j.type, j.options).coordinate_kinds for n in skel.tree.cuts for j in [skel.tree.description.joint(n)]}

    def values(x: Mapping[str, Any]) -> Any:
        eq = kernels.equations(x.get("free", ()))
        near, m = eq.loops.skel.unpack(x["q"], x["near"]), motion(eq.loops.skel, x["q"], x["v"])
        out: list[Any] = []
        for name in skel.tree.cuts:
            if "angle" not in kinds[name]:
                out += list(near[name])
                continue
            found = joint_coordinates(eq.loops.skel, m, eq.loops.skel.tree.description.joint(name), near[name])
            out += [new if kind == "angle" else old for new, old, kind in zip(found, near[name], kinds[name], strict=True)]
        return np.array(out)

    graph = TraceGraph()
    program = graph.program([("near", values({k: graph.input(k, n) for k, n in row.sizes.items()}))])
    native = kernels.get("loop_rates").native
    return native_kernel(NativeCode.of(program), row.n) if native else interpreted_kernel(program, row.n)
