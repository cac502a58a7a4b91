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
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import joints
from linkwright.compiler.callbacks import DEGENERATE
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Program, for_row, joined
from linkwright.errors import UsageError, nearest
from linkwright.integrators import (
    EventSpec,
    FrictionRows,
    HeldRow,
    HeldWatch,
    Method,
    Problem,
    Solution,
    StepKernel,
    integrate,
    python_kernel,
)
from linkwright.integrators.dry_friction import GIVEN
from linkwright.kernels.kernels import Kernels, Variant
from linkwright.mechanics.closing.newton import counted_references
from linkwright.mechanics.constraints.loops import scale
from linkwright.mechanics.dynamics.coordinate_efforts import EffortTerms, effort_terms
from linkwright.mechanics.kinematics.motion import joint_coordinates, motion
from linkwright.numerics.linalg import least_squares
from linkwright.properties import cached_property
from linkwright.results.cut_references import cut_references
from linkwright.results.state import State
from linkwright.simulation import stabilizers
from linkwright.simulation.events import When, event_kernel, interpreted_kernel, native_kernel, reads_turns
from linkwright.simulation.friction_states import FrictionAnswer, solved
from linkwright.simulation.joint_friction import JointFriction
from linkwright.simulation.kernel_rows import HEAD, SIDES, RowLayout, entries
from linkwright.simulation.rest_kernels import RestKernels

if TYPE_CHECKING:
    from linkwright.kernels.kernel import Kernel as CompiledKernel
    from linkwright.simulation.stabilizers.base import Correction
    from linkwright.system.compiled import Compiled


class Rests(NamedTuple):
    """What may hold one way: coordinates and rows with ends, and how many touches of surfaces; and what of it holds now."""

    coordinates: tuple[str, ...]
    touches: int
    rows: tuple[HeldRow, ...]
    watches: tuple[HeldWatch, ...]
    slips: bool = False  # what slipping loses is integrated
    rubbing: JointFriction | None = None  # of joints; its rows come last
    friction: FrictionRows = FrictionRows()


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
    parameters: Any = None,
    actuation: Any = None,
    variant: Variant | None = None,
    origin: float | None = None,
    rests: Rests | None = None,
) -> Setup:
    """Kernels and parameters of runs. tau: efforts in the order of names.v, or by name; constant over the run.

    `stabilizer` "project" puts every step back onto the loops; others are in `stabilizers`; `gains` = (alpha, beta) set those
    of "baumgarte" directly. `formulation` of the rates; `events`; values of the `parameters`; `references`, reference
    coordinates of the cut joints by name (default: those of the start). `actuation` are drives of any kind, `variant`
    switches constraints and adds what they need. Samples of a controller are counted from `origin`. `rests`: ends of rigid stops that
    hold; the last events are their pushes.
    """
    keeper = stabilizers.create(stabilizer)
    if gains is not None and keeper.gains is None:
        raise UsageError(f"gains belong to the stabilizer 'baumgarte', not to '{keeper.name}'.", name=keeper.name)
    held = keeper.gains if gains is None else gains
    form = variant or Variant()
    kernels = system.kernels.variant(form)
    extra = 0 if actuation is None else len(actuation.x0)
    slips = int(form.power and rests is not None and rests.slips)
    power = 3 + slips if form.power else 0
    n_held = 0 if actuation is None else actuation.n_held
    rates = rates_kernel(kernels, formulation, held is not None, keeper.closes)
    row = RowLayout.of(system, held is not None, drivers=len(form.drivers), x=extra + power, held=n_held, sides=sides(rates, actuation))
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
    if "parameters" in row.sizes:
        core = system.kernels
        values["parameters"] = entries("parameters", parameters, core.entries["parameters"], core.defaults["parameters"])
    elif parameters is not None:
        entries("parameters", parameters, [], np.zeros(0))
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
    held, watches = ((), ()) if rests is None else (rests.rows, rests.watches)
    read = whens[: len(whens) - len(watches)]
    g, g_turns = event_kernel(system, read, row) if read else (None, False)
    inputs = None if actuation is None else actuation.inputs(row)
    sampler = None if actuation is None else actuation.sampler(row, origin)
    kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
    x_scale = [] if actuation is None else list(actuation.x_scale)
    moves = row.sizes.get("drive", 0) > 0
    turns = g_turns or (actuation is not None and actuation.counts_turns)
    after_step = () if after is None else (after.kernel, after.gap)
    rubbing = None if rests is None or not held else rests.rubbing
    plainly = rests is not None and held and rubbing is None
    resting = RestKernels.of(kernels, rests.coordinates, rests.touches, baumgarte) if plainly and rests is not None else None
    efforts = None if rubbing is None else rubbing.kernel(kernels, baumgarte)
    at_rest: tuple[Any, ...] = (efforts,) if resting is None else (resting.stops, resting.response)
    turns = turns or any(reads_turns(k.inputs) for k in (rates, *after_step, *at_rest) if k is not None)
    plain = step_kernel(rates, kernels.fallbacks["loop_rates"], inner) if answer is None else python_rates(rates, answer, inner)
    switches = switching_kernel(rates, actuation, row)
    made = Problem(
        sided(rates, plain, inner) if answer is None else plain,
        row.sizes["q"],
        row.sizes["v"],
        row.sizes.get("x", 0),
        project=None if after is None else step_kernel(after.kernel, after.answer, inner),
        events=g,
        event_specs=tuple(EventSpec(w.label, w.direction, w.terminal, w.dips) for w in whens),
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
        terms=None if rubbing is None or efforts is None else step_kernel(efforts, rubbing.answer(kernels), inner),
        n_stops=len(rubbing.efforts.rows) if rubbing is not None else 0 if resting is None else resting.n_rows,
        friction=FrictionRows() if rests is None else rests.friction,
        answered=resting is not None and resting.answered,
        rests=tuple(held),
        watches=tuple(watches),
        n_slips=0 if rests is None else int(power > 3),
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
    parameters: np.ndarray = field(repr=False)

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
            raise UsageError(f"there is no coordinate or speed '{name}' in this run.", nearest(name, table, "Names"))
        return table[name]

    @cached_property
    def energy(self) -> Any:
        """Kinetic and potential energy, (times, 1) each, in one call of the kernel."""
        more = {"parameters": self.parameters} if len(self.parameters) else {}
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
    parameters: Any = None,
    samples: Sequence[float] | np.ndarray | None = None,
    **how: Any,
) -> SteppedRun:
    """Integrate from a state to t_end; `how` are the options of `integrators.integrate`: step, tolerance, engine, progress, ..."""
    options: dict[str, Any] = {"stabilizer": stabilizer, "gains": gains, "formulation": formulation, "events": events}
    options["parameters"] = parameters
    made = setup(system, tau, references=st.references, **options)
    solution = go(made, st, np.zeros(0), t_end, method, samples=samples, **how)
    return SteppedRun(system, solution, st, made.values.get("parameters", np.zeros(0)))


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
        eq = kernels.equations(x.get("parameters", ()))
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


# ----------------------------------------------------------------------------------------------------
# Break points of a mechanism's rates and of its inputs, as a time stepper takes them: kernels with sides, and switching functions


def sides(rates: CompiledKernel, actuation: Any) -> tuple[int, int]:
    """How many break points rates and inputs have."""
    inputs = None if actuation is None else actuation.switched
    return rates.break_points, 0 if inputs is None else inputs.count


def switching_kernel(rates: CompiledKernel, actuation: Any, row: RowLayout) -> StepKernel | None:
    """The switching functions of rates and inputs, from a full row; None where everything is smooth."""
    n_rates, n_inputs = sides(rates, actuation)
    if n_rates + n_inputs == 0:
        return None

    def program() -> Program:
        own = [for_row(rates.switched.functions, row)] if n_rates else []
        return joined([*own, *([for_row(actuation.switched.functions, row)] if n_inputs else [])])

    if not rates.native:
        return interpreted_kernel(program(), row.n)
    code = NativeCode.of(program()) if n_inputs else rates.made_from("switching functions", row, program)
    return native_kernel(code, row.n)


def sided(rates: CompiledKernel, plain: StepKernel, row: RowLayout) -> StepKernel:
    """Rates that hold the sides in the row; what answers degenerate states looks at its own."""
    if not rates.break_points:
        return plain

    def program() -> Program:
        return for_row(rates.switched.program, row)

    if not rates.native:
        return replace(interpreted_kernel(program(), row.n), backup=plain.backup)
    return replace(native_kernel(rates.made_from("rates with sides", row, program), row.n), backup=plain.backup)


# ----------------------------------------------------------------------------------------------------
# One mode of a run evaluated again: inputs, rates, and the way to a time inside a step; with the held values of controllers

MOST_STEPS_WITHIN = 200  # steps at most on the way to a time inside one step


class HeldStops(NamedTuple):
    """Pushes of the rows that hold, the efforts of a unit push of each, responses [dq, dv, power] to these, and what of such a push acts
    along the tangents where touches slip: at one state, or at several along a first axis."""

    push: np.ndarray
    J: np.ndarray
    responses: np.ndarray
    slides: np.ndarray  # (rows, 2)
    friction: FrictionAnswer | None = None  # of joints, at one state


@dataclass(frozen=True)
class Evaluator:
    """The kernels of a setup, called from Python at states of its run."""

    setup: Setup
    method: Method
    options: Mapping[str, Any]  # step, tolerance, engine

    def row(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        s = self.setup
        blocks = dict(s.values) | {"near": cut, "t": t}
        if s.row.sizes.get("held", 0):
            blocks["held"] = s.actuation.held.at(np.array([t]))[0]
        row = s.row.packed(blocks)
        row[: len(y)] = y
        return row

    @cached_property
    def _head(self) -> slice:
        spans = self.setup.row.spans
        used = [spans[k] for k in HEAD if k in spans]
        return slice(used[0].start, used[-1].stop)

    def inputs(self, t: float, y: np.ndarray, cut: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """(efforts and prescribed motions by block, rates of the drives' own states)."""
        row = self.row(t, y, cut)
        kernel = self.setup.problem.inputs
        n_u = self.setup.problem.n_u
        more = np.zeros(0)
        if kernel is not None:
            out = _called(kernel, row)
            row[self._head] = out[:n_u]
            more = out[n_u : n_u + self.setup.problem.nx - self.setup.problem.n_power]
        named = self.setup.row.named(row)
        return {k: named[k] for k in HEAD if k in named}, more

    def mechanism_row(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """Inputs of the kernel of the rates: state, efforts, prescribed motions, parameters."""
        row = self.row(t, y, cut)
        head, _ = self.inputs(t, y, cut)
        for k, x in head.items():
            row[self.setup.row.spans[k]] = x
        return self.setup.row.mechanism.packed(self.setup.row.named(row))

    def mechanism_rows(self, t: np.ndarray, y: np.ndarray, cut: np.ndarray, head: Mapping[str, np.ndarray]) -> np.ndarray:
        """The same at several states, whose inputs are known: `head`."""
        s, blocks = self.setup, self.setup.row.mechanism
        given = {"t": t[:, None], "near": cut, **head}
        if s.row.sizes.get("held", 0):
            given["held"] = s.actuation.held.at(t)
        rows = np.tile(blocks.packed(s.values), (len(t), 1))
        rows[:, : s.problem.nq + s.problem.nv] = y[:, : s.problem.nq + s.problem.nv]
        for name, values in given.items():
            if name in blocks.spans:
                rows[:, blocks.spans[name]] = values
        return rows

    def rates(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """dq/dt, a, rates of power."""
        row, p = self.mechanism_row(t, y, cut), self.setup.problem
        out = _called(p.rates, row)
        if p.rests:
            held = self._held_at(row, out)
            out = out.copy()
            out[p.nq : p.nq + p.nv] += held.push @ held.responses[:, p.nq : p.nq + p.nv]
            out[p.nq + p.nv : p.nq + p.nv + min(p.n_power, 1)] += held.push @ held.responses[:, p.nq + p.nv :]
        return out

    def pushes(self, t: float, y: np.ndarray, cut: np.ndarray) -> HeldStops:
        """Pushes of the stops that hold at a state of the run."""
        row = self.mechanism_row(t, y, cut)
        return self._held_at(row, _called(self.setup.problem.rates, row))

    def pushes_over(self, t: np.ndarray, y: np.ndarray, cut: np.ndarray, head: Mapping[str, np.ndarray]) -> HeldStops:
        """The same at several states, whose inputs are known."""
        rows, p = self.mechanism_rows(t, y, cut, head), self.setup.problem
        rates = _called_over(p.rates, rows)[0]
        if p.terms is None:
            return self._held(rows, rates)
        found = [self._rubbing(row, x) for row, x in zip(rows, rates, strict=True)]
        push, J, responses, slides = (np.array([x[k] for x in found]) for k in range(4))
        return HeldStops(push, J, responses, slides)

    def _held_at(self, row: np.ndarray, rates: np.ndarray) -> HeldStops:
        if self.setup.problem.terms is not None:
            return self._rubbing(row, rates)
        found = self._held(row[None], rates[None])
        return HeldStops(found.push[0], found.J[0], found.responses[0], found.slides[0])

    def _held(self, rows: np.ndarray, rates: np.ndarray) -> HeldStops:
        """The same as `integrators.stop_rests.hold` at some rows, from the rates without stops."""
        p = self.setup.problem
        assert p.stops is not None and p.response is not None
        n, m, nm = len(rows), p.n_stops, p.nq + p.nv
        found, degenerate = _called_over(p.stops, rows)
        every, chosen = found[:, 2 * m : 2 * m + m * p.nv].reshape(n, m, p.nv), [e.row for e in p.rests]
        J, ways = every[:, chosen], np.zeros((n, len(chosen), 2))
        slides, across, shares = (np.array([getattr(e, name) for e in p.rests]) for name in ("slide", "across", "share"))
        ways[:, :, 0] = 1.0
        for j in np.flatnonzero(across >= 0):
            ways[:, j] = [p.rests[j].along(x, row[p.nq : nm])[1] for x, row in zip(every, rows, strict=True)]
        first, second = ((ways[:, :, k] * shares * (at >= 0))[..., None] for k, at in enumerate((slides, across)))
        pushed = J + first * every[:, slides] + second * every[:, across]
        alone, responses = degenerate if p.answered else np.ones(n, dtype=bool), np.zeros((n, len(chosen), nm + 1))
        if p.answered:
            motions = found[:, (2 + p.nv) * m : (3 + p.nv + nm) * m].reshape(n, m, nm + 1)
            responses[:] = motions[:, chosen] + first * motions[:, slides] + second * motions[:, across]
        for j in range(len(chosen)):
            again = rows[alone]
            again[:, self.setup.row.mechanism.spans["tau"]] = pushed[alone, j]
            responses[alone, j] = _called_over(p.response, again)[0][:, : nm + 1]
        W, about = J @ responses[:, :, p.nq : nm].swapaxes(1, 2), np.array([e.about for e in p.rests])
        right = -((J @ rates[:, p.nq : nm, None])[..., 0] + found[:, m : 2 * m][:, chosen]) - W @ about
        size = np.sqrt(np.maximum(np.einsum("sii->si", W), np.finfo(float).tiny))  # meters and radians side by side
        push = about + least_squares(W / size[:, None] / size[..., None], right / size, 1e-10) / size
        return HeldStops(push, pushed, responses, ways * shares[:, None])

    def _going(self, t: float, y: np.ndarray, cut: np.ndarray) -> tuple[HeldRow, ...]:
        """The rows that hold, slipping in space as they do at a state of the run."""
        rests = self.setup.problem.rests
        if all(e.across < 0 for e in rests):
            return rests
        ways = self.pushes(t, y, cut).slides
        return tuple(replace(e, ahead=tuple(s / e.share)) if e.across >= 0 else e for e, s in zip(rests, ways, strict=True))

    def terms(self, row: np.ndarray) -> EffortTerms:
        """Terms of the rows of joint friction, and of what else may hold, at a mechanism row."""
        p = self.setup.problem
        assert p.terms is not None
        return effort_terms(_called(p.terms, row), p.n_stops, p.nq, p.nv)

    def free(self, row: np.ndarray) -> np.ndarray:
        """Accelerations at a mechanism row without anything that holds or rubs."""
        p = self.setup.problem
        return _called(p.rates, row)[p.nq : p.nq + p.nv]

    def _rubbing(self, row: np.ndarray, rates: np.ndarray) -> HeldStops:
        """Efforts of joint friction and pushes of what holds at one row."""
        p, law = self.setup.problem, self.setup.problem.friction
        every = self.terms(row)
        x = every.of([e.row for e in p.rests], [e.slide for e in p.rests], [e.share for e in p.rests])
        X = x.X[:, p.nq : p.nq + p.nv]
        u = x.J @ row[p.nq : p.nq + p.nv]
        w = np.array(law.speed)
        creeping = -np.clip(u / np.where(w > 0.0, w, 1.0), -1.0, 1.0)
        slides = np.where(np.array(law.kind) == GIVEN, x.turns, 1.0)
        theta = np.where(w == 0.0, law.sign * slides, np.where(w < 0.0, -x.turns, creeping))
        found = solved(law, theta, x.J @ X.T, x.J @ rates[p.nq : p.nq + p.nv] + x.k, x.F, x.dF)
        push = np.full(len(u), np.nan) if found is None else found.p
        efforts = x.J + np.array([e.share * every.J[e.slide] for e in p.rests])
        return HeldStops(push, efforts, x.X, np.array([[e.share, 0.0] for e in p.rests]), found)

    def accelerations(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        p = self.setup.problem
        return self.rates(t, y, cut)[p.nq : p.nq + p.nv]

    def reach(self, t0: float, y: np.ndarray, cut: np.ndarray, t: float) -> np.ndarray | None:
        """State at a time inside the step that begins at t0, by the integrator itself; None if it does not get there in
        a bounded number of steps."""
        if t <= t0:
            return y
        p = replace(self.setup.with_references(cut).without_events(), sampler=None, every=0.0, n_held=0)
        row = self.row(t0, y, cut)
        p = replace(p, parameters=tuple(row[p.n + 1 :]), rests=self._going(t0, y, cut))
        options: dict[str, Any] = {**self.options, "step": t - t0, "most_steps": MOST_STEPS_WITHIN}
        done = integrate(p, y, t0, t, self.method, samples=[t], **options)
        return done.end_state if done.complete else None


def _called(kernel: StepKernel, row: np.ndarray) -> np.ndarray:
    """A kernel's answer at one row; the rank-revealing one where it is degenerate."""
    return _called_over(kernel, row[None])[0][0]


def _called_over(kernel: StepKernel, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same at several rows, and a mask of those where it is degenerate."""
    out, degenerate = np.zeros((len(rows), kernel.n_out)), np.zeros(len(rows), dtype=bool)
    call, work, backup = kernel.callable, np.zeros(max(kernel.workspace, 1)), kernel.backup
    for i, row in enumerate(rows):
        degenerate[i] = bool(call(row, out[i], work) & DEGENERATE)
        if degenerate[i] and backup is not None:
            backup.callable(row, out[i, : backup.n_out], np.zeros(max(backup.workspace, 1)))
    return out, degenerate
