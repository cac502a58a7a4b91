"""A run: from a start, drives and options to a Trajectory with its certificate. Read it from top to bottom.

    simulate      start -> modes -> end: the trajectory, or the error with what was computed up to there
    go            one mode after another: between two events the constraints and drives are the same
      _begun      first mode: rigid stops that touch at the start
      _mode       bind the drives, make the problem of the time stepper, step to the next event
      _reached    the state there
      _switched   what the event does, and the impact that it may bring

Drives are bound in `drives.actuation`, kernels and the problem are made in `time_stepping`, steps are taken in `integrators`, events act in
`events` and `rigid_stops`. `run_records` makes the trajectory, and `proof` certifies it from the evidence that every step left.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.drives import actuation, drives_of_description, prescribed
from linkwright.drives.base import Bound
from linkwright.errors import LinkwrightError, ModelError, SimulationError, UsageError, listing
from linkwright.integrators import PUSH, HeldRow, HeldWatch, Solution
from linkwright.kernels.kernels import Variant
from linkwright.mechanics import forces, formulations
from linkwright.mechanics.constraints import Constraint
from linkwright.mechanics.constraints.loops import Loops
from linkwright.mechanics.contact import Touch, tangent_count, without_normal
from linkwright.mechanics.contact import touches as touches_of
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations.forward import lack_of_inertia
from linkwright.mechanics.instant import Instant
from linkwright.mechanics.kinematics.motion import Motion, motion
from linkwright.model.description import Description
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation import friction_modes, rigid_stops, time_stepping, touches
from linkwright.simulation.accuracy import Rerun
from linkwright.simulation.certificate_evidence import Evidence, within
from linkwright.simulation.events import RunChannel, RunMode, When, given_motions, jump, resolved, stops, switchable
from linkwright.simulation.failure_diagnosis import why
from linkwright.simulation.feedback.control_loop import Controlling
from linkwright.simulation.friction_modes import Before, FrictionAction, HeldFriction
from linkwright.simulation.friction_states import TURNS, RowState
from linkwright.simulation.impacts import approaches, jammed, onto, struck
from linkwright.simulation.instant_rows import InstantRows, OneSided, one_sided
from linkwright.simulation.joint_friction import JointFriction
from linkwright.simulation.kernel_rows import entries
from linkwright.simulation.options import STEPPING, Options, checked, sample_times, time_of
from linkwright.simulation.proof import ENDED, Proof
from linkwright.simulation.rests import STILL, Known, Rest, rest
from linkwright.simulation.run_records import trajectory
from linkwright.simulation.start_states import closed_for
from linkwright.simulation.stepped_run import stepped
from linkwright.simulation.time_stepping import Evaluator
from linkwright.text.units import LENGTH
from linkwright.text.units import shown as shown_kind

if TYPE_CHECKING:
    from linkwright.drives.actuation import Actuation
    from linkwright.mechanics.dynamics.coordinate_efforts import EffortTerms
    from linkwright.simulation.rigid_stops import StopEnd
    from linkwright.system.compiled import Compiled

Rubbing = Callable[[InstantRows], InstantRows]  # adds the joints with dry friction

MOST_MODES = 10_000
PULLS = 1e-9  # of the largest effort: by that much what touches may seem to pull
TOUCHES_AT_ONCE = 500  # the same of surfaces: a ball that comes to rest bounces some ten times in so short a time
AT_ONCE = 200  # reached and left ends of stops within SHORT seconds, or that share of the run: they chatter
SHORT = 0.01


def simulate(system: Compiled, st: State | None, duration: Any, options: Options) -> Trajectory:
    """Return the motion from a state, or from the start that the drives need; see `System.simulate`."""
    begin = DrivenStart(st) if st is not None else driven_start(system, options.drive or {})
    if st is None:
        system.need_masses()
    else:
        off = (options.off,) if isinstance(options.off, str) else options.off
        system.need_start(st, (*off, *rigid_stops.released(system.loops.skel)), options.parameters is None)
    return run_from(system, begin, duration, options)


def run_from(system: Compiled, begin: DrivenStart, duration: Any, options: Options) -> Trajectory:
    """The same from a start that was checked."""

    def make(other: State | None = None, **changed: Any) -> Simulation:
        return simulation(system, begin.state if other is None else other, duration, replace(options, **changed))

    run = simulation(system, begin.state, duration, options, begin.bound)
    if run.options.contact == STEPPING:
        with Bar(run.start.t, run.t_end, *shown(run.options.progress)) as bar:
            return stepped(run, bar)
    again = Rerun(make, run.options.method)
    try:
        status = run.go()
    except LinkwrightError as error:
        if not run.pieces:
            raise
        raise SimulationError(f"{error} The trajectory up to there is in the error's `run`.", _proven(run, again)) from error
    done = _proven(run, again)
    solution = run.pieces[-1].solution
    if solution.error is not None and not isinstance(solution.error, Exception):
        raise solution.error
    if status not in ENDED:
        raise SimulationError(why(run), done, name=status) from solution.error
    if status in ("interrupted", "stopped"):
        return replace(done, notes=(*done.notes, f"{status} at t = {solution.end_time:.6g} s of {run.t_end:.6g} s"))
    return done


def _proven(run: Simulation, again: Rerun) -> Trajectory:
    """The trajectory of everything computed so far, with its proof."""
    if _was_near(run) and run.evidence.may_reverse:
        run.notes += [str(x) for x in run.evidence.reversals]
    done = trajectory(run)
    return replace(done, proof=Proof(run, done.t, done.q, again, run.options.certify))


def _was_near(run: Simulation) -> bool:
    """True if the run may have come near a singular position: its kernels called the rank-revealing path, or formulations that have no
    kernel did not need to. In all other runs evidence waits until somebody asks for the certificate."""
    return not formulations.has_kernel(run.options.formulation) or any(p.solution.counters["fallbacks"] for p in run.pieces)


# ---------------------------------------------------------------- the start


class DrivenStart(NamedTuple):
    """The state in which a run starts, and its drives where they were bound to that state to find it."""

    state: State
    bound: tuple[Bound, ...] | None = None


def driven_start(system: Compiled, drive: Mapping[str, Any]) -> DrivenStart:
    """The start of the file, with prescribed motions at their own position and speed."""
    start = system.start
    moved, bound = prescribed(system, drive, start)
    if not moved:
        return DrivenStart(start)
    speeds = {k.removesuffix(".v"): v for k, v in system.description.start if k.endswith(".v")}
    now = dict(zip(moved, system.drive_positions(start, list(moved)), strict=True))
    there = {name: value for name, (value, _) in moved.items() if abs(value - float(now[name])) > 1e-12}
    st = system.assembler.assemble(there, {**speeds, **{name: speed for name, (_, speed) in moved.items()}})
    same = len(moved) == len(bound) and np.array_equal(st.q, start.q)  # motions depend on the position at the start
    return DrivenStart(st, bound if same else None)


def chosen_drives(described: Description, drive: Mapping[str, Any] | None, control: Any) -> dict[str, Any]:
    """Drives of a run: those given, or those of the file without the ones that a controller takes."""
    if drive is not None and not isinstance(drive, Mapping):
        raise UsageError(
            f"drive is a dict by joint name, drive={{'A': lw.drives.torque('2 N m')}}, not {drive!r:.60}.", name="drive", value=drive
        )
    chosen = drives_of_description(described) if drive is None else dict(drive)
    if drive is None and control is not None:
        given = getattr(control, "drives", None)
        taken = list(chosen) if given is None else [given] if isinstance(given, str) else list(given)
        chosen = {name: d for name, d in chosen.items() if name not in taken}
    return chosen


def simulation(system: Compiled, st: State, duration: Any, asked: Options, bound: tuple[Bound, ...] | None = None) -> Simulation:
    """A run with its options checked, ready to go."""
    seconds = time_of("duration", duration)
    if not (np.isfinite(seconds) and seconds >= 0.0):
        raise UsageError(f"the duration is a time of zero or more, not {duration!r}.", value=duration)
    o = checked(asked)
    events, off = o.events, o.off
    several = [events] if isinstance(events, (str, When)) or callable(events) else events
    if not isinstance(several, (list, tuple)):
        raise UsageError(
            f"events is a list of lw.events.when(...), channel names or functions, not {events!r}.", name="events", value=events
        )
    whens = tuple(resolved(system, e) for e in several)
    names = tuple(switchable(system, n) for n in ([off] if isinstance(off, str) else off))
    values = entries("parameters", o.parameters, system.kernels.entries["parameters"], system.kernels.defaults["parameters"])
    if len(values):
        st, bound = closed_for(system, st, values), None
    loop = controlling(o.control, o.actuators, o.noise, o.delay, st.t, o.encoders)
    return Simulation(system, st, st.t + seconds, dict(o.drive or {}), o, whens, names, dict(o.wrench or {}), values, loop, bound)


def controlling(control: Any, actuators: Any, noise: Any, delay: Any, origin: float, encoders: Any = None) -> Controlling | None:
    """The controller with what surrounds it; options about it without one are mistakes."""
    if control is not None:
        return Controlling.of(control, actuators, noise, delay, origin, encoders)
    for name, given in (("actuators", actuators), ("noise", noise), ("delay", delay), ("encoders", encoders)):
        if given is not None:
            raise UsageError(f"{name} belongs to a controller: control=lw.control.projected(...).", name=name)
    return None


# ---------------------------------------------------------------- modes, one after another


class RunPiece(NamedTuple):
    """One mode of a run, done."""

    evaluator: Evaluator
    solution: Solution
    start: State
    first_x: int  # quadratures begin here in the state
    watched: tuple[When, ...]
    mode: RunMode = RunMode()


@dataclass
class Simulation:
    """A run in the making: what was asked, the modes done so far, and what happened at their ends."""

    system: Compiled = field(repr=False)
    start: State
    t_end: float
    drive: Mapping[str, Any]
    options: Options
    events: tuple[When, ...]
    off: tuple[str, ...]
    wrench: Mapping[str, Any]
    parameters: np.ndarray
    control: Controlling | None = None
    bound: tuple[Bound, ...] | None = None  # drives of the first mode, where the start was found with them
    pieces: list[RunPiece] = field(default_factory=list)
    happened: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    most_modes: int = MOST_MODES
    impulses: list[tuple[float, str, float]] = field(default_factory=list)  # time, touch, N s
    residual: float = 0.0  # the largest of the contact problems
    least_loss: float = 0.0  # J, what the impulses of the impact that took least took; below 0 they gained
    shared: set[str] = field(default_factory=set)  # touches whose forces are not unique
    touch_columns: Mapping[str, Any] = field(default_factory=dict)  # of the run so far
    ends: Mapping[str, StopEnd] = field(default_factory=dict, init=False)  # of what holds one way, by key
    released: tuple[str, ...] = field(default=(), init=False)  # constraints that hold one way
    friction: JointFriction | None = field(default=None, init=False)
    before: Before = field(default=Before(), init=False)  # what the last mode says of joint friction

    def __post_init__(self) -> None:
        self.samples = sample_times(self.options.sample_interval, self.start.t, self.t_end)
        rubs = any(x.mu for x in self.system.description.touch_laws)
        self.needs_power = bool(self.drive or self.wrench or self.control or rubs) or any(
            not f.conservative for f in self.system.forces
        )
        driven = tuple(self.system.kernels.entries["v"].index(n) for n in self.driven if n in self.system.kernels.entries["v"])
        named = driven or tuple(
            self.system.kernels.entries["v"].index(d.joint)
            for d in self.system.description.drives
            if d.joint in self.system.kernels.entries["v"]
        )
        near = within(self.options.tolerance if self.options.adaptive else None)
        self.evidence = Evidence(self.system, named, bool(driven), self.parameters, near)
        skel = self.loops.skel  # with the numbers of this run
        own = skel.tree.description
        if own.one_sided:
            self.released = rigid_stops.released(skel)
            self.ends = {e.key: e for e in rigid_stops.ends_of(skel) if not e.row or e.constraint(skel).name not in self.off}
            self.events = (*self.events, *rigid_stops.events_of(self.loops, tuple(self.ends.values())))
        self.touches: tuple[Touch, ...] = touches_of(own) if own.touch_laws else ()
        if self.touches:
            self.events = (*self.events, *touches.events_of(self.loops, self.touches))
        self.slips = any(float(x.mu) > 0.0 for x in self.touches)
        if self.system.description.rubs and self.touches and not own.planar:
            left_out = ", ".join(f.name for f in self.system.description.rubbing)
            self.notes.append(f"friction in joints ({left_out}) is left out of a run with touches in space. Cycles have it")
        elif self.system.description.rubs:
            held = rigid_stops.sizes(self.loops, self.ends)
            self.friction = JointFriction.of(self.loops, self.loops_motion(self.start), held, len(self.touches))
            assert self.friction is not None
            self.events = (*self.events, *friction_modes.events_of(self.friction))
            self.needs_power = True
        keeper = self.options.stabilizer
        if keeper.corrects and not keeper.closes and self.loops.skel.tree.nc:
            self.notes.append(f"{keeper.text}: loops may be open after other steps or in velocity. The certificate has the largest gaps")

    # ---------------------------------------------------------------- the loop over modes

    def go(self) -> str:
        """Run to the end; the status of the last loop. An interrupt between two modes ends it like one within a mode."""
        try:
            return self._go()
        except KeyboardInterrupt:
            if not self.pieces:
                raise
            last = self.pieces[-1]
            now = replace(last.solution, status="interrupted", message=f"t = {last.solution.end_time:.6g} s: interrupted by the caller.")
            self.pieces[-1] = last._replace(solution=_with_end(now, last.watched))
            return "interrupted"

    def _go(self) -> str:
        off = tuple(dict.fromkeys((*self.off, *self.released)))
        mode, st = self._begun(RunMode(dict(self.drive), {}, off), self.start)
        carried: dict[str, float] = {}
        works = self.works
        with Bar(self.start.t, self.t_end, *shown(self.options.progress)) as bar:
            for _ in range(self.most_modes):
                piece = self._mode(mode, st, carried, works, bar)
                solution = piece.solution
                if solution.status != "event" or solution.end_time >= self.t_end:
                    return solution.status
                acting = _acting(piece)
                if any(stops(w) for w in acting):
                    return solution.status
                st = self._reached(piece)
                self.before = self._ended(piece, acting)
                carried = dict(zip(piece.evaluator.setup.actuation.x_names, solution.end_state[len(st.q) + len(st.v) :], strict=False))
                works = solution.end_state[piece.first_x :] if self.needs_power else works
                mode, st = self._switched(mode, st, acting, piece)
                self._need_rest(st.t)
        raise UsageError(
            f"t = {st.t:.6g} s: {self.most_modes} switching events. The constraints chatter. Let one event release constraints "
            "that another engages."
        )

    # ---------------------------------------------------------------- one mode

    def _begun(self, mode: RunMode, st: State) -> tuple[RunMode, State]:
        """The first mode and state, where rigid stops take part."""
        if not self.ends and not self.touches:
            return mode, st
        every, loops = tuple(self.ends.values()), rigid_stops.without(self.loops, mode.off)
        mode = replace(mode, unstopped=frozenset(rigid_stops.unstoppable(mode.drive, mode.locks)))
        for e in rigid_stops.beyond(loops, every, st):
            self.notes.append(f"stop '{e.stop}': '{e.coordinate}' starts beyond its end, which acts once it has come back")
        at = [e for e in rigid_stops.reached(loops, every, st) if e.coordinate not in mode.unstopped]
        touching = self._touching(st, ())
        if not at and not touching:
            return mode, st
        own = one_sided(at, touching)
        act = actuation(self.system, mode.all_drives, st, wrench=self.wrench, parameters=self.parameters if len(self.parameters) else None,
                        control=self.control, off=mode.off)  # fmt: skip
        moving = {n: (*x, 0.0) for n, x in prescribed(self.system, mode.drive, st).motions.items()}
        rows = given_motions(loops.skel.tree.description, mode, moving)
        rubbing = partial(self._rubbing_beside, mode, act, self._first_x(act))
        after, _ = self._struck(loops, rows, own, st, act.armature, rubbing)
        tau = np.asarray(act.equations.inputs(act.start)[: len(st.v)], dtype=float)
        found = self._rest(loops, rows, own, after, act.armature, tau, Known({}), rubbing)
        return self._resting(mode, found), found.state

    def _first_x(self, act: Actuation) -> np.ndarray:
        """States of drives where they begin, and works."""
        return np.concatenate([act.x0, np.zeros(len(self.works))]) if self.needs_power else np.asarray(act.x0)

    def _touching(self, st: State, held: Collection[str]) -> dict[int, Touch]:
        """Touches that are closed at a state: near, or held so far. One that is deep at the start is refused."""
        if not self.touches:
            return {}
        gaps, size = self._touch_kernel("contact_gaps")(st.q).g, self.loops.kappa
        deepest = int(np.argmin(gaps))
        if not self.pieces and gaps[deepest] < -touches.DEEP * size:
            touch, deep = self.touches[deepest], shown_kind(-float(gaps[deepest]), LENGTH, self.system.description.units, 3)
            raise UsageError(
                f"{touches.place_of(touch)}'{touch.name}' starts {deep} deep: its surfaces overlap. Move the bodies apart in the "
                "drawing or by `start:`.",
                name=touch.name,
            )
        found = {i: x for i, x in enumerate(self.touches) if gaps[i] < rigid_stops.REACHED * size or x.name in held}
        flat = next((self.touches[i] for i in without_normal(self.loops.skel, st.q) if i in found), None)
        if flat is not None:
            raise UsageError(
                f"{touches.place_of(flat)}t = {st.t:.6g} s: '{flat.name}' has no point of contact: its disc lies flat on the plane. "
                "Tilt it at the start, or give the body spheres or a box at this place.",
                name=flat.name,
            )
        if len(found) > touches.MOST_TOUCHES:
            names = listing([x.name for x in found.values()])
            raise UsageError(
                f"{touches.place_of(next(iter(found.values())))}t = {st.t:.6g} s: {len(found)} places touch at once: "
                f"{names}. A run holds {touches.MOST_TOUCHES}. Give flat parts fewer corners.",
                name=names,
            )
        return found

    def _touch_kernel(self, name: str) -> Callable[..., Any]:
        """A kernel of touches with the numbers of this run."""
        more = {"parameters": self.parameters} if len(self.parameters) else {}
        return partial(self.system.kernels.get(name), **more)

    def _contact_terms(self, st: State) -> Any:
        """Gaps, rows and rates of all touches at a state."""
        return self._touch_kernel("contact_terms")(st.q, st.v)

    def _struck(
        self, loops: Loops, given: Sequence[Constraint], own: list[OneSided], st: State, armature: np.ndarray, rubbing: Rubbing
    ) -> tuple[State, float]:
        """The state after the impacts of an instant, and the kinetic energy that they took."""
        rows = InstantRows.at(loops, given, own, st, armature, self._contact_terms)
        found = struck(rubbing(rows) if approaches(rows) else rows)
        self.notes += [x for x in found.notes if x not in self.notes]
        size = self.loops.kappa  # impulses of rows in characteristic lengths
        struck_now = [(x.name, float(p) / size) for x, p in zip(own, found.impulses, strict=True) if x.touch is not None and p > 0.0]
        self.impulses += [(st.t, *x) for x in struck_now]
        self.residual, self.least_loss = max(self.residual, found.residual), min(self.least_loss, found.least)
        return rows.state(found.v, onto(rows)), found.loss

    def _rest(
        self, loops: Loops, given: Sequence[Constraint], own: list[OneSided], st: State, armature: np.ndarray, tau: np.ndarray,
        known: Known, rubbing: Rubbing,
    ) -> Rest:  # fmt: skip
        """What stays closed from now on."""
        friction = forces.SOFT if self.friction is None else forces.VISCOUS  # as the equations of the run have it
        at = Instant(loops.skel, st.q, st.v, st.t, st.references)
        external = at.pushes(forces.of_description(loops.skel.tree.description, friction))
        found = rest(rubbing(InstantRows.at(loops, given, own, st, armature, self._contact_terms, external)), tau, known)
        self.before = self.before._replace(likely=found.begins)
        self.shared |= {x.name for x in found.touches} if found.shared else set()
        if found.jams:
            r = InstantRows.at(loops, given, own, st, armature, self._contact_terms, external)
            v = jammed(r, found.jams[0])
            self.notes.append(f"t = {st.t:.6g} s: '{found.jams[0]}' jams by an impact, since friction leaves no force that fits (Painleve)")
            after = self._rest(loops, given, own, r.state(v), armature, tau, Known({}, known.gone), rubbing)
            return replace(after, loss=after.loss + r.kinetic(r.v) - r.kinetic(v))
        self.notes += [x for x in found.notes if x not in self.notes]
        return found

    def _mode(self, mode: RunMode, st: State, carried: Mapping[str, float], works: np.ndarray, bar: Bar) -> RunPiece:
        """One mode of the run; equations that cannot be solved for want of inertia say whose it is."""
        try:
            return self._run_mode(mode, st, carried, works, bar)
        except UsageError as error:
            explain(error, self.system, st)
            raise

    def _run_mode(self, mode: RunMode, st: State, carried: Mapping[str, float], works: np.ndarray, bar: Bar) -> RunPiece:
        system, o = self.system, self.options
        parameters = self.parameters if len(self.parameters) else None
        controlled: dict[str, Any] = {"control": self.control, "off": mode.off, "first": not self.pieces}
        bound = self.bound if st is self.start and not mode.locks else None
        act = actuation(system, mode.all_drives, st, wrench=self.wrench, parameters=parameters, bound=bound, **controlled)
        if self.pieces:  # a controller continues with its held values and its sample times
            act.held.take_over(self.pieces[-1].evaluator.setup.actuation.held, st.t, self.start.t, act.every)
        self.notes += [n for n in act.notes if n not in self.notes]
        x = np.array([carried.get(n, x) for n, x in zip(act.x_names, act.x0, strict=True)], dtype=float)
        x = np.concatenate([x, works]) if self.needs_power else x
        if self.friction is not None:
            mode, st = self._rubbing(mode, st, act, x)
        watched = self._watched(mode)
        made = self._setup(mode, st, act)
        evaluator = Evaluator(made, o.method, {"tolerance": o.tolerance, "engine": o.engine})
        for w in watched:
            if isinstance(w.function, RunChannel):
                w.function.bind(self, evaluator, mode.off, st)
        self.evidence.begin(evaluator, mode.off, st.references)
        within = None if self.samples is None else self.samples[self.samples > st.t] if self.pieces else self.samples
        given = {**o.of_the_stepper, "progress": bar, "observe": self.evidence.add, "origin": self.start.t if act.n_held else None}
        if act.equations.control is not None and o.adaptive:
            given["largest_step"] = min(given["largest_step"], act.equations.control.longest_step)
        solution = _with_end(time_stepping.go(made, st, x, self.t_end, o.method, samples=within, **given), watched)
        piece = RunPiece(evaluator, solution, st, len(st.q) + len(st.v) + len(act.x0), watched, mode)
        self.pieces.append(piece)
        acting = {id(w) for w in _acting(piece)} if solution.status == "event" else set()
        for e in sorted(solution.events, key=lambda e: (e.time, id(watched[e.index]) in acting)):  # those that act come last
            self.happened.append((e.time, e.name, {}))
        return piece

    def _setup(self, mode: RunMode, st: State, act: Actuation) -> time_stepping.Setup:
        """The problem of the time stepper in a mode."""
        o = self.options
        armature = tuple(act.armature) if np.any(act.armature) else ()
        form = Variant(act.drivers, armature, mode.off, self.needs_power, self.friction is None)
        return time_stepping.setup(
            self.system,
            references=st.references,
            stabilizer=o.stabilizer,
            formulation=o.formulation,
            events=self._watched(mode),
            parameters=self.parameters if len(self.parameters) else None,
            actuation=act,
            variant=form,
            origin=self.start.t,
            rests=self._rows_held(mode),
        )

    def _rubbing(self, mode: RunMode, st: State, act: Actuation, x: np.ndarray) -> tuple[RunMode, State]:
        """The mode with the states of joint friction, and the state in which what rests has no speed.

        Friction at rest may carry what something that touches would have to pull: then that is left without a force.
        """
        friction = self.friction
        assert friction is not None
        terms_now, a = self._friction_terms(mode, st, act, x)
        while True:
            rows, watches = self._closed(mode)
            held, still, efforts = friction_modes.next_states(friction, terms_now, a, st, rows, self.before)
            normals = [w for w in watches if w.kind == PUSH]
            names = [*mode.rests, *(x.name for x in mode.touching)]
            least = -PULLS * float(np.abs(efforts).max(initial=0.0))
            off = [name for name, w in zip(names, normals, strict=True) if w.factor * efforts[w.held] < least]
            if not off:
                return replace(mode, friction=held), still
            touching = tuple(x for x in mode.touching if x.name not in off)
            mode = replace(mode, rests=tuple(x for x in mode.rests if x not in off), touching=touching)

    def _friction_terms(self, mode: RunMode, st: State, act: Actuation, x: np.ndarray) -> tuple[EffortTerms, np.ndarray]:
        """Terms of joint friction at a state, and the accelerations without it."""
        assert self.friction is not None
        any_state = tuple(HeldFriction(RowState(TURNS, speed=1.0), 0.0, row.sticks) for row in self.friction.rows)
        look = Evaluator(self._setup(replace(mode, friction=any_state), st, act), self.options.method, {})
        row = look.mechanism_row(st.t, np.concatenate([st.q, st.v, x]), self.system.loops.skel.pack(st.references))
        return look.terms(row), look.free(row)

    def _rubbing_beside(self, mode: RunMode, act: Actuation, x: np.ndarray, r: InstantRows) -> InstantRows:
        """One-sided rows at a state, with the friction of joints."""
        if self.friction is None or not r.own:
            return r
        return replace(r, joints=self.friction.beside(r, *self._friction_terms(mode, r.st, act, x), self.before))

    def _ended(self, piece: RunPiece, acting: Sequence[When]) -> Before:
        """What the events that ended a mode say of joint friction."""
        if self.friction is None:
            return Before()
        end = piece.solution
        cut = self.evidence.cut_at(len(self.pieces) - 1, np.array([end.end_time]))[0]
        answer = piece.evaluator.pushes(end.end_time, end.end_state, cut).friction
        return friction_modes.ended(piece, acting, answer)

    def _watched(self, mode: RunMode) -> tuple[When, ...]:
        """Events of a mode."""
        return rigid_stops.watched_in(self.events, mode) if self.events else ()

    def _rows_held(self, mode: RunMode) -> time_stepping.Rests | None:
        """What the time stepper holds in a mode; None where nothing can hold one way."""
        if not self.ends and not self.touches and self.friction is None:
            return None
        names, (rows, watches) = rigid_stops.coordinates(self.ends), self._closed(mode)
        if self.friction is None:
            return time_stepping.Rests(names, len(self.touches), tuple(rows), tuple(watches), self.slips)
        own, watched, law = friction_modes.held_rows(self.friction, mode.friction, len(rows))
        return time_stepping.Rests(names, len(self.touches), (*rows, *own), (*watches, *watched), self.slips, self.friction, law)

    def _closed(self, mode: RunMode) -> tuple[list[HeldRow], list[HeldWatch]]:
        """Rows of ends and touches that hold in a mode, and what is watched of them."""
        rows, watches = rigid_stops.held_ends(self.ends, mode.rests)
        if not mode.touching:
            return rows, watches
        first = len(rigid_stops.coordinates(self.ends))
        more, watched = touches.held_rows(self.loops, self.touches, mode.touching, first, len(rows))
        return [*rows, *more], [*watches, *watched]

    # ---------------------------------------------------------------- events and jumps

    def _reached(self, piece: RunPiece) -> State:
        """The state a mode came to, turns of its cut joints counted."""
        p, end = piece.evaluator.setup.problem, piece.solution
        q, v = np.split(end.end_state[: p.nq + p.nv], [p.nq])
        cut = end.near if p.n_near else self.evidence.cut_at(len(self.pieces) - 1, np.array([end.end_time]))[0]
        return time_stepping.state_of(self.system, q, v, cut, end.end_time)

    def _switched(self, mode: RunMode, st: State, acting: Sequence[When], piece: RunPiece) -> tuple[RunMode, State]:
        """The mode after events at one instant, and the state after the impact they may bring."""
        new = mode.after([a for w in acting for a in w.do], st)
        setup = piece.evaluator.setup
        head, _ = piece.evaluator.inputs(st.t, piece.solution.end_state, self.system.loops.skel.pack(st.references))
        moving = {n: (head["drive"][i], head["speed"][i], head["acceleration"][i]) for i, n in enumerate(setup.actuation.drivers)}
        moving = {n: x for n, x in moving.items() if n not in mode.locks}
        freed = {n: d for n, d in new.drive.items() if n in mode.locks and n not in new.locks}
        moving |= {n: (*x, 0.0) for n, x in prescribed(self.system, freed, st).motions.items()}  # back to a prescribed motion, at once
        if not self.ends and not self.touches:
            after, loss = jump(self.loops, new, st, moving, setup.actuation.armature)
        else:
            new, after, loss = self._stopped(new, st, acting, moving, piece)
        for w, at in zip(acting, range(-len(acting), 0), strict=True):
            did = ", ".join(str(a) for a in w.do)
            first = at == -len(acting)
            self.happened[at] = (st.t, w.label, {"did": did, "energy lost": loss if first else 0.0})
        self.happened[-len(acting) :] = [x for x in self.happened[-len(acting) :] if x[2]["did"] not in touches.unchanged(new.touching)]
        if loss != 0.0:
            self.evidence.losses.append((len(self.pieces), loss))
        return new, after

    def _stopped(
        self, new: RunMode, st: State, acting: Sequence[When], moving: Mapping[str, Any], piece: RunPiece
    ) -> tuple[RunMode, State, float]:
        """The mode, the state after the impact and the energy it took, where rigid stops take part."""
        loops = rigid_stops.without(self.loops, new.off)
        did = {(a.verb, a.name) for w in acting for a in w.do if not isinstance(a, FrictionAction)}
        left = {name for verb, name in did if verb == "leave"}
        hit = {name for verb, name in did if verb == "reach"}
        given = {*new.unstopped, *new.locks}
        held = {key: self.ends[key] for key in (*hit, *new.rests) if key in self.ends}
        at = {e.key: e for e in rigid_stops.reached(loops, tuple(self.ends.values()), st)} | held
        ends = [e for key, e in at.items() if e.coordinate not in given]
        rows = given_motions(loops.skel.tree.description, new, moving)
        act, nq = piece.evaluator.setup.actuation, len(st.q)
        if any(verb in ("lock", "engage") for verb, _ in did):
            jump(self.loops, new, st, moving, act.armature)  # says where something cannot take hold
        own = one_sided(ends, self._touching(st, {*hit, *(x.name for x in new.touching)} - left))
        known = Known(self._slipping({name for verb, name in did if verb == "slip"}, piece), left)
        st = self._stilled(loops, rows, own, st, act.armature, {name for verb, name in did if verb == "stick"})
        rubbing = self._rubbing_after(new, st, piece)
        after, loss = self._struck(loops, rows, own, st, act.armature, rubbing)
        y = np.array(piece.solution.end_state)
        y[nq : nq + len(st.v)] = after.v
        head, _ = piece.evaluator.inputs(st.t, y, self.system.loops.skel.pack(st.references))
        found = self._rest(loops, rows, own, after, act.armature, head["tau"], known, rubbing)
        return self._resting(new, found), found.state, loss + found.loss

    def _rubbing_after(self, new: RunMode, st: State, piece: RunPiece) -> Rubbing:
        """What adds joint friction to one-sided rows after an event; its drives may be others than those of the mode that ended."""
        act, x = piece.evaluator.setup.actuation, np.array(piece.solution.end_state[len(st.q) + len(st.v) :])
        if self.friction is not None and (new.drive, new.locks, new.off) != (piece.mode.drive, piece.mode.locks, piece.mode.off):
            parameters = self.parameters if len(self.parameters) else None
            act = actuation(self.system, new.all_drives, st, wrench=self.wrench, parameters=parameters, check=False, control=self.control,
                            off=new.off, first=False)  # fmt: skip
            x = self._first_x(act)
        return partial(self._rubbing_beside, new, act, x)

    def _slipping(self, names: set[str], piece: RunPiece) -> dict[str, np.ndarray]:
        """The way in which touches slip whose friction has reached its bound: against it."""
        if not names:
            return {}
        end, cut = piece.solution, self.evidence.cut_at(len(self.pieces) - 1, np.array([piece.solution.end_time]))[0]
        found, across = piece.evaluator.pushes(end.end_time, end.end_state, cut), tangent_count(self.system.description)
        forces_now = touches.forces_of(piece.mode.touching, found.push, found.slides, len(piece.mode.rests), across)
        friction = {name: np.array(forces_now[name][1]) for name in names}
        return {name: -x / np.linalg.norm(x) for name, x in friction.items()}

    def _stilled(
        self, loops: Loops, given: Sequence[Constraint], own: list[OneSided], st: State, armature: np.ndarray, names: set[str]
    ) -> State:
        """The state in which touches whose slip has ended do not slip at all."""
        if not names:
            return st
        r, across = InstantRows.at(loops, given, own, st, armature, self._contact_terms), tangent_count(self.system.description)
        size = STILL * (1.0 + float(np.abs(r.v).max(initial=0.0)))
        still = [i for i, x in enumerate(own) if x.name in names and (across == 1 or np.abs(r.slide[i] @ r.v).max() <= size)]
        rows = r.slide[still].reshape(-1, len(r.v))  # others have turned round in space
        if across > 1:  # what else touches continues to do so
            kept = np.array([x.touch is not None for x in own])
            change = np.concatenate([-(rows @ r.v), np.zeros(int(kept.sum()))])
            return r.state(r.v + r.moved(np.concatenate([rows, r.N[kept]]), change))
        return r.state(r.v + r.moved(rows, -(rows @ r.v)))

    def _resting(self, mode: RunMode, found: Rest) -> RunMode:
        """The mode with the ends that push and those that rest with them, in the order of the model."""
        rests, implied = (tuple(k for k in self.ends if k in keys) for keys in (found.ends, found.implied))
        return replace(mode, rests=rests, implied=implied, touching=tuple(found.touches))

    def _need_rest(self, now: float) -> None:
        """Raise UsageError where ends of stops or surfaces are reached and left without end."""
        most = TOUCHES_AT_ONCE if self.touches else AT_ONCE
        last = [x for x in self.happened[-most:] if str(x[2].get("did", "")).startswith(("reach", "leave"))]
        if len(last) == most and now - last[0][0] < SHORT * min(self.t_end - self.start.t, 1.0):
            names = sorted({str(x[2]["did"]).split(" ", 1)[1] for x in last})
            if self.touches:
                place = next((touches.place_of(x) for x in self.touches if x.name == names[0]), "")
                raise UsageError(
                    f"{place}t = {now:.6g} s: {listing(names)} chatter: {most} impacts within {now - last[0][0]:.2g} s. Lower a "
                    "restitution.",
                    name=names[0],
                )
            raise UsageError(
                f"t = {now:.6g} s: ends of rigid stops are reached and left {AT_ONCE} times within {now - last[0][0]:.2g} s and do not "
                f"come to rest: {listing(names)}. Give one of these stops a stiffness, or take out ends that another one implies."
            )

    # ---------------------------------------------------------------- what was asked

    @property
    def loops(self) -> Loops:
        """Those of this run's parameters."""
        return self.system.kernels.equations(self.parameters).loops if len(self.parameters) else self.system.loops

    def loops_motion(self, st: State) -> Motion:
        """Positions and velocities of all bodies, with this run's parameters."""
        return motion(self.loops.skel, st.q, st.v)

    @property
    def works(self) -> np.ndarray:
        """Works at the start, as many as there are."""
        return np.zeros(4 if self.slips else 3)

    @property
    def driven(self) -> dict[str, Any]:
        """Drive of each joint: a drive, or the controller."""
        if self.control is None:
            return dict(self.drive)
        return {**self.drive, **{name: self.control.written for name in self.control.drives(self.system.description)}}


def _acting(piece: RunPiece) -> list[When]:
    """The events that ended a mode: all that happened at its end."""
    end = piece.solution.end_time
    last = [e for e in piece.solution.events if e.time >= end - 1e-12 * max(1.0, abs(end))]
    return [piece.watched[e.index] for e in last if piece.watched[e.index].terminal]


def _with_end(solution: Solution, watched: Sequence[When]) -> Solution:
    """A run that ended early has its last state among the samples; one that only changes its mode continues."""
    last = [e for e in solution.events if e.time >= solution.end_time - 1e-12 * max(1.0, abs(solution.end_time))]
    goes_on = solution.status == "event" and not any(stops(watched[e.index]) for e in last)
    if solution.status == "finished" or goes_on or solution.error is not None or (len(solution.t) and solution.t[-1] >= solution.end_time):
        return solution
    return replace(solution, t=np.append(solution.t, solution.end_time), y=np.concatenate([solution.y, solution.end_state[None]]))


def explain(error: UsageError, system: Compiled, st: State) -> None:
    """Say an error of equations that cannot be solved in terms of the mechanism: which joint moves no inertia."""
    lack = "no order of elimination" in str(error) and lack_of_inertia(terms(system.loops, st.q, st.v, st.t, st.references))
    if lack:
        raise ModelError(lack) from error


def shown(progress: Any) -> tuple[bool | None, Any]:
    """(whether a bar is shown, the user's own function)."""
    return (False, progress) if callable(progress) else (progress, None)


# ----------------------------------------------------------------------------------------------------
# A bar for long runs: simulated time, step size, time that remains. It appears after a second, on a terminal only.

PATIENCE = 1.0  # s before a bar appears


class Bar:
    """Shows how far a run has come; use as a context."""

    def __init__(self, start: float, end: float, show: bool | None, report: Callable[[float], Any] | None = None, what: str = "simulating"):
        self.start, self.end, self.report, self.what = start, end, report, what
        self.show = sys.stderr.isatty() if show is None else show
        self.begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, t: float, h: float = 0.0) -> bool | None:
        """Called by the loop now and then; False from the user's own function stops the run."""
        if self.show and self._bar is None and (time.perf_counter() - self.begun > PATIENCE):
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=t - self.start, now=f"t = {t:.4g} s", step=f"step {h:.2g} s" if h else "")
        return None if self.report is None else self.report(t)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = [TextColumn(self.what), BarColumn(), TextColumn("{task.fields[now]}  {task.fields[step]}"), TimeRemainingColumn()]
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self.what, total=self.end - self.start, now="", step="")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
