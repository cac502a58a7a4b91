"""A run by equal steps with impulses: `simulate(contact="stepping", step=...)`.

The midpoint rule of single steps (`integrators.midpoint`), from the start to the end of a run, with the drives of a run at the middle of
every step. Nothing is located: a touch that closes or slips within a step does so in all of it. What sliding and impacts take is what the
balance of energy leaves: E(0) + work of drives and loads - losses - E(t). So does dry friction of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.drives import actuation
from linkwright.errors import SimulationError, UsageError, counted
from linkwright.integrators.contact.states import OPEN, SLIP, STICK
from linkwright.integrators.environments import MARKS, MIDPOINT, Environments
from linkwright.kernels.kernels import Variant
from linkwright.mechanics.constraints.loops import scale
from linkwright.mechanics.contact import contact_gaps
from linkwright.mechanics.kinematics.motion import qdot
from linkwright.model.coordinates import coordinate
from linkwright.properties import cached_property
from linkwright.results.checks import Checks
from linkwright.results.cut_references import cut_references
from linkwright.results.records import Column, CountedReferences, RunEvent, RunQuality, push_name
from linkwright.results.trajectory import Trajectory
from linkwright.simulation import rigid_stops, time_stepping
from linkwright.simulation.certificate import Certificate, run_checks
from linkwright.simulation.kernel_rows import HEAD
from linkwright.simulation.options import STEPPING, Options
from linkwright.simulation.run_records import engine, settings
from linkwright.simulation.step_inputs import StepEquations, made_environments, one_sided_rows, step_equations
from linkwright.simulation.step_kernels import rows_kernel
from linkwright.simulation.time_stepping import Evaluator, energy_size
from linkwright.simulation.touches import VERBS, contact_wrenches, friction_columns, touch_terms

if TYPE_CHECKING:
    from linkwright.simulation.run import Simulation

TAKEN = ("drive", "control", "step", "sample_interval", "wrench", "parameters", "engine", "progress", "off", "certify", "contact")
LOOKED = 64  # steps between two calls of the bar
MOST_STEPS = 5_000_000
FULL = 1.0 - 1e-6  # share of the bound from which friction slips
REFINED = 2  # the estimate of the error takes so many times as many steps


@dataclass
class SteppedRun:
    """A run of equal steps, asked for and done."""

    sim: Simulation  # what was asked, checked
    count: int
    h: float
    evaluator: Evaluator
    environments: Environments
    equations: StepEquations
    t: np.ndarray = field(default_factory=lambda: np.zeros(0))  # after every step, the start first
    q: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    v: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    impulses: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    near: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    status: str = "finished"
    message: str = "reached the end"

    @classmethod
    def of(cls, sim: Simulation, finer: int = 1) -> SteppedRun:
        """Everything made ready; `finer`: with so many times as many steps."""
        o, st = sim.options, sim.start
        refuse(o)
        asked = (sim.t_end - st.t) / o.step
        count = max(1, round(asked)) if asked > 0.0 else 0
        if abs(asked - count) > 1e-6 * max(1.0, asked):
            raise UsageError(
                f"steps of {o.step:g} s do not fill {sim.t_end - st.t:g} s: {asked:.6g} of them. Choose a duration of whole steps.",
                name="step",
                value=o.step,
            )
        if count > MOST_STEPS:
            raise UsageError(f"{counted(count, 'step')} of {o.step:g} s are too many: {MOST_STEPS} are allowed.", name="step", value=o.step)
        off = tuple(dict.fromkeys((*sim.off, *sim.released)))
        act = actuation(sim.system, sim.drive, st, wrench=sim.wrench, parameters=sim.parameters if len(sim.parameters) else None,
                        control=sim.control, off=off, bound=sim.bound)  # fmt: skip
        if act.n_held or len(act.x0):
            what = "sampled controllers" if act.n_held else "drives with states of their own, such as motors with inductance"
            raise UsageError(f"contact='stepping' does not take {what}. Leave out `contact`.", name="contact", value=STEPPING)
        sim.notes += [n for n in act.notes if n not in sim.notes]
        form = Variant(act.drivers, tuple(act.armature) if np.any(act.armature) else (), off, True, False)
        made = time_stepping.setup(
            sim.system,
            references=st.references,
            parameters=sim.parameters if len(sim.parameters) else None,
            actuation=act,
            variant=form,
            origin=st.t,
        )
        evaluator = Evaluator(made, o.method, {"tolerance": o.tolerance, "engine": o.engine})
        rows = one_sided_rows(sim.system, rigid_stops.unstoppable(sim.drive, {}))
        equations = step_equations(sim.system, made.kernels, rows)
        environments = made_environments(equations, None, 1, None, o.engine, len(act.drivers))
        return cls(sim, count * finer, o.step / finer, evaluator, environments, equations)

    # ---------------------------------------------------------------- steps

    def go(self, bar: Callable[[float, float], bool | None]) -> None:
        """All steps, or those up to one without an answer."""
        sim, env, span = self.sim, self.environments, self.equations.row.spans
        st, system, n = sim.start, self.sim.system, self.count + 1
        nq, nv = len(st.q), len(st.v)
        row = env.rows[0]
        row[span["q"]], row[span["v"]], row[span["t"]] = st.q, st.v, st.t
        row[span["near"]] = system.loops.skel.pack(st.references)
        if "parameters" in span:
            row[span["parameters"]] = self.evaluator.setup.values["parameters"]
        self.t = st.t + self.h * np.arange(n)
        self.q, self.v, self.impulses = np.zeros((n, nq)), np.zeros((n, nv)), np.zeros((n, env.impulses.shape[1]))
        self.near = np.zeros((n, len(row[span["near"]])))
        for k in range(n):
            if k:
                self._step(row, float(self.t[k - 1]))
                if env.codes[0] > 0:
                    self.status, self.message = "failed", f"t = {self.t[k - 1]:.6g} s: {env.reason(0)}"
                    self._cut(k)
                    return
            self.q[k], self.v[k], self.impulses[k] = row[span["q"]], row[span["v"]], env.impulses[0]
            self.near[k] = row[span["near"]]
            if k % LOOKED == 0 and bar(float(self.t[k]), self.h) is False:
                self.status, self.message = "stopped", f"t = {self.t[k]:.6g} s: stopped by the caller"
                self._cut(k + 1)
                return

    def _cut(self, n: int) -> None:
        for name in ("t", "q", "v", "impulses", "near"):
            setattr(self, name, getattr(self, name)[:n])

    def _step(self, row: np.ndarray, t: float) -> None:
        """One step with the drives as they are in its middle."""
        span, env, h = self.equations.row.spans, self.environments, self.h
        q, v, near = row[span["q"]], row[span["v"]], row[span["near"]]
        half = q + 0.5 * h * (v if len(q) == len(v) else qdot(self.sim.system.loops.skel, q, v))
        head, _ = self.evaluator.inputs(t + 0.5 * h, np.concatenate([half, v]), near)
        env.efforts[0] = head["tau"]
        if env.motions.shape[1]:
            first, _ = self.evaluator.inputs(t, np.concatenate([q, v]), near)
            last, _ = self.evaluator.inputs(t + h, np.concatenate([q, v]), near)
            mean = (last["speed"] - first["speed"]) / h
            env.motions[0] = np.concatenate([head["drive"], head["speed"], mean, last["drive"], last["speed"], last["acceleration"]])
        env.step(h, 1)



def refuse(o: Options) -> None:
    """Raise UsageError where a run by steps cannot have what was asked."""
    if o.step is None:
        raise UsageError("contact='stepping' needs step=, for example step='1 ms'.", name="step")
    for x in fields(Options):
        given, default = getattr(o, x.name), x.default
        same = not given if x.name in ("events", "off") else getattr(given, "name", given) == default
        if x.name not in TAKEN and not same:
            raise UsageError(f"contact='stepping' has no option '{x.name}'. Leave it out.", name=x.name, allowed=TAKEN)


# ---------------------------------------------------------------- the trajectory


@dataclass(frozen=True)
class Samples:
    """What a run by steps was at its samples."""

    run: SteppedRun
    at: np.ndarray  # places of the samples among the steps

    @cached_property
    def force(self) -> np.ndarray:
        """(samples, rows): impulses since the last sample over that time; at the start those of the first interval."""
        total = np.cumsum(self.run.impulses, axis=0)[self.at]
        spans = np.diff(self.at) * self.run.h
        found = np.diff(total, axis=0) / spans[:, None] if len(self.at) > 1 else np.zeros((0, total.shape[1]))
        return np.concatenate([found[:1] if len(found) else np.zeros((1, total.shape[1])), found])

    @cached_property
    def t(self) -> np.ndarray:
        return self.run.t[self.at]

    @cached_property
    def q(self) -> np.ndarray:
        return self.run.q[self.at]

    @cached_property
    def v(self) -> np.ndarray:
        return self.run.v[self.at]

    @cached_property
    def near(self) -> np.ndarray:
        return self.run.near[self.at]

    @cached_property
    def heads(self) -> dict[str, np.ndarray]:
        """Efforts and prescribed motions."""
        setup, evaluator = self.run.evaluator.setup, self.run.evaluator
        names = [k for k in HEAD if k in setup.row.sizes]
        states = np.concatenate([self.q, self.v], axis=1)
        found = [evaluator.inputs(float(t), y, cut)[0] for t, y, cut in zip(self.t, states, self.near, strict=True)]
        return {k: np.array([f[k] for f in found]).reshape(len(self.t), setup.row.sizes[k]) for k in names}

    def call(self, kernel: Any, **more: Any) -> Any:
        """A kernel of the variant at all samples."""
        given = {"q": self.q, "v": self.v, **self.heads, "t": self.t[:, None], "near": self.near, **more}
        if len(self.run.sim.parameters):
            given["parameters"] = np.tile(self.run.sim.parameters, (len(self.t), 1))
        return kernel(**{b.name: np.ascontiguousarray(given[b.name]) for b in kernel.inputs})

    @cached_property
    def rows(self) -> Any:
        """Gaps and J of what holds one way."""
        return self.call(rows_kernel(self.run.evaluator.setup.kernels, self.run.equations.rows))

    @cached_property
    def pushed(self) -> np.ndarray:
        """(samples, nv): efforts of what holds one way."""
        if not self.run.equations.rows.blocks:
            return np.zeros(self.v.shape)
        return np.einsum("sr,srv->sv", self.force, self.rows.J)

    @cached_property
    def forward(self) -> Any:
        return self.call(self.run.evaluator.setup.kernels.get("forward"), tau=self.heads["tau"] + self.pushed)

    @cached_property
    def works(self) -> np.ndarray:
        """(samples, 4): by efforts and prescribed motions, by loads; lost in dampers and friction of elements; taken by contact.

        Summed over all steps, in each of which the forces of contact are the same, which prescribed motions have to bear.
        """
        if len(self.at) < len(self.run.t):
            return Samples(self.run, np.arange(len(self.run.t))).works[self.at]
        first, last = self._power(np.concatenate([self.force[1:], self.force[-1:]])), self._power(self.force)
        steps = np.diff(self.t)[:, None]
        done = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * steps * (first[:-1] + last[1:]), axis=0)])
        E = self.energy
        return np.column_stack([done, E[0] + done[:, 0] + done[:, 1] - done[:, 2] - E])

    def _power(self, force: np.ndarray) -> np.ndarray:
        """Powers at the samples with these forces in the rows."""
        pushed = np.einsum("sr,srv->sv", force, self.rows.J) if force.shape[1] else np.zeros(self.v.shape)
        kernel = self.run.evaluator.setup.kernels.get("rates")
        power = np.array(self.call(kernel, tau=self.heads["tau"] + pushed).power)
        power[:, 0] -= np.einsum("sv,sv->s", pushed, self.v)
        return power

    @cached_property
    def energy(self) -> np.ndarray:
        found = self.call(self.run.evaluator.setup.kernels.get("energy"))
        armature = self.run.evaluator.setup.actuation.armature
        return found.kinetic[:, 0] + found.potential[:, 0] + 0.5 * (self.v * self.v) @ armature


def samples_of(run: SteppedRun) -> Samples:
    """Every step, or the steps nearest to what was asked."""
    wanted, n = run.sim.options.sample_interval, len(run.t)
    if wanted is None or (isinstance(wanted, str) and wanted == "steps"):
        return Samples(run, np.arange(n))
    assert run.sim.samples is not None
    at = np.rint((run.sim.samples - run.sim.start.t) / run.h).astype(int)
    return Samples(run, np.unique(at[(at >= 0) & (at < n)]))


def stepped(sim: Simulation, bar: Callable[[float, float], bool | None]) -> Trajectory:
    """Run by steps from the start to the end: the trajectory, or the error with what was computed up to there."""
    run = SteppedRun.of(sim)
    run.go(bar)
    done = trajectory(run)
    if run.status == "failed":
        raise SimulationError(f"{run.message}.", done, name=run.status)
    return done


def trajectory(run: SteppedRun) -> Trajectory:
    """Everything the run computed."""
    sim, found, setup = run.sim, samples_of(run), run.evaluator.setup
    system, loops, n = sim.system, sim.loops, len(found.at)
    names = [f"{c.name}.{label}" for c in system.loops.constraints for label in c.labels]
    own, drivers = setup.kernels.entries["lam"], len(setup.actuation.drivers)
    lam = np.zeros((n, len(names)))
    forward = found.forward
    at = [names.index(name) for name in own[: len(own) - drivers]]
    if forward.lam.shape[1]:
        lam[:, at] = forward.lam[:, : len(at)]
    columns = dict(
        setup.actuation.columns(
            found.t, found.q, found.v, np.zeros((n, 0)), found.near, forward.lam[:, len(at) :], forward.a,
            parameters=setup.values.get("parameters"),
        )
    )  # fmt: skip
    columns |= _end_columns(found, lam, names) | _touch_columns(found) | _friction_columns(found)
    columns |= {name: (found.works[:, i], "energy") for i, name in enumerate(("work.in", "work.loads", "work.lost", "work.contact"))}
    recorded = {name: Column(*x) for name, x in columns.items()}
    arrays = {"lam": lam, "tau": found.heads["tau"]}
    arrays |= contact_wrenches(sim, found.q, found.v, recorded) if sim.touches else {}
    notes = (*sim.notes, *([f"{run.message}"] if run.status == "stopped" else []))
    return Trajectory(
        loops.skel,
        found.t,
        found.q,
        found.v,
        forward.a,
        CountedReferences(
            loops.skel,
            found.q,
            lambda: cut_references(loops.skel, found.t, found.q, found.v, sim.start.references, loops, origin=sim.start.q).rows,
        ),
        notes=notes,
        drive=next(iter(sim.driven), ""),
        columns=recorded,
        arrays=arrays,
        events=events_of(run),
        settings={**settings(sim, setup), "integrator": MIDPOINT, "tolerance": None, "contact": STEPPING},
        origin=sim.start.q,
        loops=loops,
        proof=SteppedProof(run, found),
    )


def _end_columns(found: Samples, lam: np.ndarray, names: Sequence[str]) -> dict[str, tuple[np.ndarray, str]]:
    """Pushes of stops and tensions of ropes; those of rows of constraints go to the multipliers."""
    run, n = found.run, len(found.at)
    rows, d = run.equations.rows, run.sim.system.description
    out = {name: (np.zeros(n), kind) for name, kind in rigid_stops.stop_columns(run.sim).items()}
    for i, (e, unit) in enumerate(zip(rows.ends, rows.units(run.sim.loops), strict=False)):
        push = -e.side * unit * found.force[:, i]
        if e.row:
            lam[:, names.index(e.coordinate)] += push
            continue
        for name in (push_name(d, e.coordinate, kind) for kind in ("force", "torque")):
            if name in out:
                out[name] = out[name][0] + (-push if e.kind == "pull" else push), out[name][1]
    return out


def _touch_columns(found: Samples) -> dict[str, tuple[np.ndarray, str]]:
    """Gap, forces, slip, state and impulse of every touch."""
    run, out = found.run, {}
    if not run.sim.touches:
        return out
    rows, every = run.equations.rows, states(run)
    normals = touch_terms(run.sim, found.q, found.v).normal
    for i, x in enumerate(run.sim.touches):
        block = len(rows.ends) + i
        k = rows.normals[block]
        tangents = slice(k + 1, k + rows.width)
        struck = np.zeros(len(run.t))
        struck[1:] = np.where(every[:-1, i] == OPEN, run.impulses[1:, k], 0.0)
        total = np.cumsum(struck)[found.at]
        slip = np.einsum("srv,sv->sr", found.rows.J[:, tangents], found.v)
        out |= {
            f"{x.name}.gap": (found.rows.gap[:, block], "length"),
            f"{x.name}.force": (found.force[:, k], "force"),
            **friction_columns(x.name, found.force[:, tangents].T, normals[:, i]),
            f"{x.name}.slip": (slip[:, 0] if slip.shape[1] == 1 else np.linalg.norm(slip, axis=1), "speed"),
            f"{x.name}.state": (every[found.at, i], "none"),
            f"{x.name}.impulse": (np.diff(total, prepend=0.0), "mixed"),
        }
    return out


def _friction_columns(found: Samples) -> dict[str, tuple[np.ndarray, str]]:
    """Friction of joints along their coordinates, and state: 1 or -1 slips in that direction, 0 sticks."""
    run, out = found.run, {}
    rows, d = run.equations.rows, run.sim.system.description
    for i, x in enumerate(rows.rubbing):
        block = rows.one_sided + i
        unit, k = rows.units(run.sim.loops)[block], rows.normals[block]
        effort, speed = unit * found.force[:, k], np.einsum("sv,sv->s", found.rows.J[:, k], found.v)
        slips = np.abs(speed) > rigid_stops.SLOW * run.sim.loops.kappa
        out[f"{x.coordinate}.friction"] = effort, coordinate(d, x.coordinate).effort_kind
        out[f"{x.coordinate}.friction.state"] = np.where(slips, np.sign(speed), 0.0), "none"
    return out


def states(run: SteppedRun) -> np.ndarray:
    """(steps, touches): 0 open, 1 sticks, 2 slips."""
    rows, out = run.equations.rows, np.zeros((len(run.t), len(run.sim.touches)))
    for i, x in enumerate(run.sim.touches):
        k = rows.normals[len(rows.ends) + i]
        push, friction = run.impulses[:, k], np.linalg.norm(run.impulses[:, k + 1 : k + rows.width], axis=1)
        slips = friction >= FULL * float(x.mu) * push
        out[:, i] = np.where(push > 0.0, np.where(slips, SLIP, STICK), OPEN)
    if len(run.t) > 1:  # what touches at the start does not begin to
        gaps = np.asarray(contact_gaps(run.sim.loops.skel, run.q[0])["g"]) if run.sim.touches else np.zeros(0)
        out[0] = np.where(gaps < rigid_stops.REACHED * run.sim.loops.kappa, out[1], OPEN)
    return out


def events_of(run: SteppedRun) -> tuple[RunEvent, ...]:
    """Steps after which something touches, leaves, slips or sticks."""
    out: list[RunEvent] = []
    rows, every = run.equations.rows, states(run)
    reached = {e.key for e in rigid_stops.reached(run.sim.loops, rows.ends, run.sim.start)}
    for i, e in enumerate(rows.ends):
        pushed = run.impulses[:, i] > 0.0
        pushed[:1] = e.key in reached and pushed[1:2]
        for k in np.flatnonzero(pushed[1:] != pushed[:-1]) + 1:
            name, verb = (e.events[0], "reach") if pushed[k] else (e.events[1], "leave")
            out.append(RunEvent(float(run.t[k]), name, {"did": f"{verb} {e.key}"}))
    verbs = {(OPEN, STICK): "reach", (OPEN, SLIP): "reach", (STICK, SLIP): "slip", (SLIP, STICK): "stick"}
    for i, x in enumerate(run.sim.touches):
        for k in np.flatnonzero(every[1:, i] != every[:-1, i]) + 1:
            verb = verbs.get((int(every[k - 1, i]), int(every[k, i])), "leave")
            out.append(RunEvent(float(run.t[k]), f"{x.name} {VERBS[verb]}", {"did": f"{verb} {x.name}"}))
    return tuple(sorted(out, key=lambda x: x.time))


# ---------------------------------------------------------------- its proof


@dataclass(frozen=True, eq=False)
class SteppedProof:
    """`certificate`, `passages` and `checks()` of a run by steps, worked out when somebody asks."""

    run: SteppedRun
    found: Samples
    passages: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the findings, not what they are computed from."""
        return RunQuality, (self.certificate, self.passages, self.checks())

    @cached_property
    def certificate(self) -> Certificate:
        run, found, sim = self.run, self.found, self.run.sim
        setup, system = run.evaluator.setup, sim.system
        marks = dict(zip(MARKS, run.environments.marks[0], strict=True))
        loops, torn = self._open()
        works, events = found.works, events_of(run)
        exchanged = max(float(np.ptp(found.energy)), float(np.abs(works).max()), 1e-9 * energy_size(system))
        gained = -float(np.diff(works[:, 3], prepend=0.0).min(initial=0.0))
        error, where = self._error()
        return Certificate(
            status=run.status,
            message=run.message,
            duration=float(run.t[-1] - run.t[0]),
            size=float(system.loops.kappa),
            position_residual=float(loops.max(initial=0.0)),
            position_residual_end=float(loops[-1]),
            velocity_residual=float(torn.max(initial=0.0)),
            velocity_residual_end=float(torn[-1]),
            energy_turned_over=exchanged,
            energy_imbalance=gained,
            energy_imbalance_end=0.0,
            energy_start=float(found.energy[0]),
            energy_end=float(found.energy[-1]),
            work_in=float(works[-1, 0]),
            work_of_loads=float(works[-1, 1]),
            lost=float(works[-1, 2]),
            impact_losses=0.0,
            smallest_singular_value=0.0,
            smallest_dependent=0.0,
            smallest_independent=0.0,
            branch_start="",
            branch_end="",
            passages=0,
            rank_passages=0,
            steps=len(run.t) - 1,
            rejected=0,
            refused=0,
            evaluations=len(run.t) - 1,
            fallbacks=0,
            integrator=MIDPOINT,
            step=run.h,
            tolerance=None,
            stabilizer=setup.stabilizer_text,
            formulation=sim.options.formulated,
            engine=engine(sim.options.engine, setup),
            inputs=setup.actuation.how,
            notes=tuple(sim.notes),
            estimated_error=error,
            estimated_error_in=where,
            estimated_by=f"a run with {REFINED} times as many steps",
            touches=run.equations.rows.blocks,
            touch_impacts=sum(str(x.values["did"]).startswith("reach") for x in events),
            touch_changes=len(events),
            touch_depth=marks["depth"],
            touch_residual=marks["residual"],
            sliding_loss=float(works[-1, 3]),
            stepping=True,
            problems=int(marks["problems"]),
            harder=int(marks["harder"]),
        )

    def checks(self) -> Checks:
        return run_checks(self.certificate, self.passages)

    def _open(self) -> tuple[np.ndarray, np.ndarray]:
        """Gaps of loops and of their rates at the samples, dimensionless."""
        kernels, n = self.run.evaluator.setup.kernels, len(self.found.at)
        if not len(kernels.loops.row_scale) + len(kernels.chosen.drivers):
            return np.zeros(n), np.zeros(n)
        x = self.found.call(kernels.get("projection"))
        speed = np.maximum(1.0, np.abs(self.found.v / self.run.sim.system.loops.columns).max(axis=1))
        return x.residual[:, 0], x.rate_residual[:, 0] / speed

    def _error(self) -> tuple[float | None, str]:
        """Twice what half of the step changes at the samples, which is the error of a method of first order."""
        run = self.run
        if run.status != "finished" or len(run.t) < 2:
            return None, ""
        fine = SteppedRun.of(replace(run.sim, pieces=[], notes=[]), REFINED)
        fine.go(lambda t, h: None)
        if fine.status != "finished":
            return None, ""
        skel = run.sim.system.loops.skel
        off = 2.0 * np.abs(fine.q[REFINED * self.found.at] - self.found.q)
        kinds = [k for jt in skel.types for k in jt.coordinate_kinds]
        sized = off / scale(kinds, run.sim.system.loops.kappa)
        i, k = np.unravel_index(int(np.argmax(sized)), sized.shape)
        name = run.sim.system.kernels.entries["q"][k]
        return float(sized[i, k]), f"({'of the size' if kinds[k] == 'length' else 'rad'}, {name}, t = {self.found.t[i]:.4g} s)"
