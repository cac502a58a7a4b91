"""`simulate`: from a state, drives and options to a Trajectory with its certificate.

A run is a sequence of modes: between two switching events the constraints and drives are the same and one native time loop
does all the work; at an event the velocity may jump and the next mode begins. Whatever ends a run, what was computed is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright import forces, stabilisers, time_loops
from linkwright.closing import GOOD_ENOUGH, close, consistent_velocity, open_error
from linkwright.drives import actuation
from linkwright.errors import UsageError, nearest
from linkwright.integrators import INTEGRATORS, Solution
from linkwright.laws import LinearLaw
from linkwright.loop_events import When
from linkwright.loop_rows import cut_row, entries
from linkwright.modelfile import quantity
from linkwright.modelfile.units import KINDS
from linkwright.plans import driven
from linkwright.simulation.evaluating import Evaluator
from linkwright.simulation.evidence import Evidence
from linkwright.simulation.progress import Bar
from linkwright.simulation.switching import Impact, Mode, Stop, jump, resolved, switchable
from linkwright.state import State
from linkwright.variants import Variant

if TYPE_CHECKING:
    from linkwright.compiled import Compiled

SAMPLES = 500  # of a run, if nothing else is said
MOST_SAMPLES = 5_000_000
MOST_MODES = 10_000
CLOSED = 1e-12  # dimensionless gap of a start that needs no closing
LOOSE = 1e-5  # tolerance from which on order 5 needs fewer evaluations than order 8


@dataclass(frozen=True)
class Options:
    """How to integrate; checked once."""

    integrator: str
    step: float | None
    tolerance: float
    stabiliser: Any
    formulation: str | None
    output: Any
    engine: str | None
    progress: Any
    limits: Mapping[str, Any]  # smallest_step, largest_step, most_steps

    @property
    def method(self) -> str:
        """`dopri` is of order 8, and of order 5 where the tolerance is loose."""
        if self.integrator == "dopri":
            return "dopri5" if self.tolerance >= LOOSE else "dopri8"
        return self.integrator

    @property
    def adaptive(self) -> bool:
        return INTEGRATORS[self.method].adaptive

    @property
    def of_the_loop(self) -> dict[str, Any]:
        return {"step": self.step, "tolerance": self.tolerance, "engine": self.engine, **self.limits}


class Piece(NamedTuple):
    """One mode of a run, done."""

    evaluator: Evaluator
    solution: Solution
    start: State
    first_x: int  # quadratures begin here in the state
    watched: tuple[When, ...]


@dataclass
class Simulation:
    """A run in the making."""

    system: Compiled = field(repr=False)
    start: State
    t_end: float
    drive: Mapping[str, Any]
    options: Options
    events: tuple[When, ...]
    off: tuple[str, ...]
    wrench: Mapping[str, Any]
    free: np.ndarray
    pieces: list[Piece] = field(default_factory=list)
    happened: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.samples = self._samples()
        self.needs_power = bool(self.drive or self.wrench) or any(
            not f.conservative for f in forces.of_description(self.system.description)
        )
        driven = tuple(self.system.kernels.entries["v"].index(n) for n in self.drive if n in self.system.kernels.entries["v"])
        named = driven or tuple(
            self.system.kernels.entries["v"].index(d.joint)
            for d in self.system.description.drives
            if d.joint in self.system.kernels.entries["v"]
        )
        self.evidence = Evidence(self.system, named, bool(driven), self.free)

    def _samples(self) -> np.ndarray | None:
        t0, t1, wanted = self.start.t, self.t_end, self.options.output
        if isinstance(wanted, str) and wanted == "steps":
            return None
        if wanted is None:
            return np.linspace(t0, t1, SAMPLES + 1)
        if np.ndim(wanted) == 0:
            every = quantity(wanted, KINDS["time"])
            if not every > 0.0:
                raise UsageError(f"output is an interval longer than zero, times, or 'steps'; not {wanted!r}.")
            count = int(np.floor((t1 - t0) / every * (1.0 + 1e-12)))
            if count > MOST_SAMPLES:
                raise UsageError(
                    f"output every {every:g} s would give {count} samples; at most {MOST_SAMPLES} are kept. Take a longer interval."
                )
            times = t0 + every * np.arange(count + 1)
            return np.append(times, t1) if t1 - times[-1] > 1e-9 * every else np.minimum(times, t1)
        times = np.asarray(wanted, dtype=float).ravel()
        if len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) < 0.0).any():
            raise UsageError("output times are finite numbers in increasing order.")
        return times

    # ---------------------------------------------------------------- modes

    def go(self) -> str:
        """Run to the end; the status of the last loop."""
        mode, st = Mode(dict(self.drive), {}, self.off), self.start
        carried: dict[str, float] = {}
        works = np.zeros(3)
        with Bar(self.start.t, self.t_end, *_shown(self.options.progress)) as bar:
            for _ in range(MOST_MODES):
                piece = self._mode(mode, st, carried, works, bar)
                solution = piece.solution
                if solution.status != "event" or solution.end_time >= self.t_end:
                    return solution.status
                when = piece.watched[solution.events[-1].index]
                if not when.do or any(isinstance(a, Stop) for a in when.do):
                    return solution.status
                st = self._reached(piece)
                carried = dict(zip(piece.evaluator.setup.actuation.x_names, solution.end_state[len(st.q) + len(st.v) :], strict=False))
                works = solution.end_state[piece.first_x :] if self.needs_power else works
                mode, st = self._switched(mode, st, when, piece)
        raise UsageError(
            f"t = {st.t:.6g} s: {MOST_MODES} switching events; constraints chatter. Let an event release what another engages later."
        )

    def _mode(self, mode: Mode, st: State, carried: Mapping[str, float], works: np.ndarray, bar: Bar) -> Piece:
        system, o = self.system, self.options
        act = actuation(system, mode.all_drives, st, wrench=self.wrench)
        self.notes += [n for n in act.notes if n not in self.notes]
        watched = tuple(w for w in self.events if mode.watches(w))
        form = Variant(act.drivers, tuple(act.armature) if np.any(act.armature) else (), mode.off, self.needs_power)
        made = time_loops.setup(
            system,
            near=st.near,
            stabiliser=o.stabiliser,
            formulation=o.formulation,
            events=watched,
            free=self.free if len(self.free) else None,
            actuation=act,
            variant=form,
        )
        x = np.array([carried.get(n, x) for n, x in zip(act.x_names, act.x0, strict=True)], dtype=float)
        x = np.concatenate([x, works]) if self.needs_power else x
        evaluator = Evaluator(made, o.method, {"tolerance": o.tolerance, "engine": o.engine})
        self.evidence.begin(evaluator, mode.off, st.near)
        within = None if self.samples is None else self.samples[self.samples > st.t] if self.pieces else self.samples
        given = {**o.of_the_loop, "progress": bar, "observe": self.evidence.add}
        solution = time_loops.go(made, st, x, self.t_end, o.method, samples=within, **given)
        piece = Piece(evaluator, solution, st, len(st.q) + len(st.v) + len(act.x0), watched)
        self.pieces.append(piece)
        for e in solution.events:
            self.happened.append((e.time, e.name, {}))
        return piece

    def _reached(self, piece: Piece) -> State:
        """The state a mode came to, turns of its cut joints counted."""
        p, end = piece.evaluator.setup.problem, piece.solution
        q, v = np.split(end.end_state[: p.nq + p.nv], [p.nq])
        cut = end.near if p.n_near else self.evidence.cut_at(len(self.pieces) - 1, np.array([end.end_time]))[0]
        return time_loops.state_of(self.system, q, v, cut, end.end_time)

    def _switched(self, mode: Mode, st: State, when: When, piece: Piece) -> tuple[Mode, State]:
        """The mode after an event, and the state after the impact it may bring."""
        new = mode.after(when.do, st)
        setup = piece.evaluator.setup
        head, _ = piece.evaluator.inputs(st.t, piece.solution.end_state, cut_row(self.system, st.near))
        moving = {n: (head["drive"][i], head["speed"][i], head["acceleration"][i]) for i, n in enumerate(setup.actuation.drivers)}
        moving = {n: x for n, x in moving.items() if n not in mode.locks}
        after, loss = jump(self.system, new, st, moving, setup.actuation.armature)
        did = ", ".join(str(a) for a in when.do)
        self.happened[-1] = (st.t, when.label, {"did": did, "energy lost": loss})
        if loss > 0.0:
            self.impacts.append(Impact(st.t, when.label, did, loss))
            self.evidence.losses.append((len(self.pieces), loss))
        return new, after


def _shown(progress: Any) -> tuple[bool | None, Any]:
    """(whether a bar is shown, the user's own function)."""
    return (False, progress) if callable(progress) else (progress, None)


def closed_for(system: Compiled, st: State, free: np.ndarray) -> State:
    """The state on the loops that free parameters make: drives stay where and as fast as they are, the rest follows."""
    if not len(free):
        return st
    loops = system.kernels.equations(free).loops
    if not len(loops.row_scale) or np.abs(loops.at(st.q, st.v, st.t, st.near).phi / loops.row_scale).max() < CLOSED:
        return st
    d, one = system.description, {j.name for j in system.description.joints}
    names = [x.joint for x in d.drives if x.joint in one and np.ndim(st[x.joint]) == 0]
    held = loops.with_([driven(d, n, LinearLaw(float(st[n]), float(st[f"{n}.v"]))) for n in names])
    for chosen in (held, loops):
        done = close(chosen, st.q, st.near)
        if done.residual < GOOD_ENOUGH:
            v = consistent_velocity(chosen, done.q, st.v, done.near)
            return State(st.skel, done.q, v, done.near, st.t)
    values = ", ".join(f"{n} = {x:.4g}" for n, x in zip(system.kernels.entries["free"], free, strict=True))
    raise open_error(loops, done, f"with {values} the mechanism cannot be closed from this state: ")


def simulation(
    system: Compiled,
    st: State,
    duration: Any,
    *,
    drive: Mapping[str, Any] | None = None,
    integrator: str = "dopri",
    step: Any = None,
    tolerance: float = 1e-9,
    stabiliser: Any = "project",
    formulation: str | None = None,
    output: Any = None,
    events: Sequence[Any] = (),
    off: Sequence[str] = (),
    wrench: Mapping[str, Any] | None = None,
    free: Any = None,
    engine: str | None = None,
    progress: Any = None,
    smallest_step: float = 0.0,
    largest_step: float = np.inf,
    most_steps: int | None = None,
) -> Simulation:
    """Everything checked, ready to go."""
    seconds = quantity(duration, KINDS["time"])
    if not (np.isfinite(seconds) and seconds >= 0.0):
        raise UsageError(f"the duration is a time of zero or more, not {duration!r}.")
    if integrator not in INTEGRATORS:
        raise UsageError(f"there is no integrator '{integrator}'. {nearest(str(integrator), INTEGRATORS, 'Integrators')}")
    keeper = stabilisers.create(stabiliser)
    h = None if step is None else quantity(step, KINDS["time"])
    if not INTEGRATORS[integrator].adaptive and h is None:
        raise UsageError(f"{integrator} has fixed steps: give step=, for example step=0.001.")
    limits = {"smallest_step": smallest_step, "largest_step": largest_step, "most_steps": most_steps}
    chosen = Options(integrator, h, tolerance, keeper, formulation, output, engine, progress, limits)
    whens = tuple(resolved(system, e) for e in ([events] if isinstance(events, (str, When)) or callable(events) else events))
    names = tuple(switchable(system, n) for n in ([off] if isinstance(off, str) else off))
    values = entries("free", free, system.kernels.entries["free"], system.kernels.defaults["free"])
    st = closed_for(system, st, values)
    return Simulation(system, st, st.t + seconds, dict(drive or {}), chosen, whens, names, dict(wrench or {}), values)
