"""Derivatives of a simulated run by parameters of the model: forward sensitivities through the steps of its integrator.

With the steps of the run known, all of them are differentiated at once (`step_derivatives`), and S = dy/dp follows from step to step. It
begins with the start, which moves with the lengths: drives stay where and as fast as they are, the rest follows. Lengths of steps are those
of the run: the result is the derivative of the numerical solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwright.compiler.derivatives import jacobian, places
from linkwright.errors import SimulationError, UsageError, listing
from linkwright.kernels.kernels import Kernels
from linkwright.model.curves.polynomial import Parabola
from linkwright.model.parameters import Parameter
from linkwright.numerics.linalg import factor
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import LOOP_CHANGE, SAME_TIME
from linkwright.properties import cached_property
from linkwright.results.channels.derivatives import MotionDerivatives
from linkwright.results.records import acting, cut_rows, multipliers
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.kernel_rows import HEAD
from linkwright.simulation.run import Simulation, simulation
from linkwright.simulation.run_records import near_of
from linkwright.simulation.stabilizers import Nothing, Project
from linkwright.simulation.step_derivatives import StateFunction, StepDerivatives

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.simulation.proof import Proof
    from linkwright.system.compiled import Compiled

WITH_INPUTS: Store[tuple[str, ...], Compiled] = Store()  # the mechanism whose inputs are these parameters
FORMS: Store[Any, Kernels] = Store()  # kernels by the variant of the equations
AT_ONCE = 256  # steps differentiated together


def repeated(core: Compiled, run: Trajectory, by: str | Sequence[str]) -> tuple[list[Parameter], Simulation, list[int]]:
    """The numbers to differentiate by, the run with them as inputs, and their places among its parameters."""
    chosen = core.chosen(by)
    if not chosen:
        raise UsageError("name the parameters of the model to differentiate by: run.derivatives(['L1', 'crank.mass']).", name="by")
    names = [p.name for p in chosen]
    sim = _again(core, _simulation_of(run), names)
    return chosen, sim, [list(sim.system.kernels.entries["parameters"]).index(n) for n in names]


def run_derivatives(core: Compiled, run: Trajectory, by: str | Sequence[str]) -> MotionDerivatives:
    """Derivatives of the samples of a run; see `Trajectory.derivatives`."""
    chosen, sim, at = repeated(core, run, by)
    eq, names = RunEquations(sim, at), [p.name for p in chosen]
    S = eq.at(run.t)
    nq, nv, nc = eq.nq, eq.nv, sim.system.tree.nc
    near = cut_rows(run.skel, run.references)
    y = np.concatenate([run.q, run.v, eq.own_states(run.t)], axis=1)
    forward = eq.forward(run.t, y, near)
    total = forward.by_y @ S + forward.by_p
    a, lam = total[:, :nv], total[:, nv:]
    columns = eq.columns(run.t, y, near, S, forward.value[:, nv + nc :], lam[:, nc:])
    each = [multipliers(run.skel, lam[:, :nc, k]) for k in range(len(names))]
    columns |= {name: np.stack([x[name].values for x in each], axis=-1) for name in each[0]}
    efforts, wrenches = acting(run.skel, run.columns)
    names_of = {n: f"{n}.torque" if f"{n}.torque" in run.columns else f"{n}.force" for n in efforts}
    loads: dict[str, Any] = {"unloaded": "wrenches or efforts of this run cannot be differentiated. d.lam has the multipliers"}
    if not wrenches and all(n in columns for n in names_of.values()):
        u = np.stack([columns[n] for n in names_of.values()], axis=1) if efforts else np.zeros((len(run), 0, len(names)))
        loads = {"u": u, "lam_values": run.arrays["lam"][:, :nc]}
    varied = partial(_loops_with, sim.system.kernels, eq.parameter_values, eq.chosen)
    return MotionDerivatives(
        run, tuple(names), np.array([p.value for p in chosen]), varied, eq.in_velocities(run.q, S[:, :nq]), S[:, nq : nq + nv], a,
        efforts, lam=lam[:, :nc], recorded=columns, sizes=np.array([p.size for p in chosen]), **loads,
    )  # fmt: skip


def _loops_with(kernels: Kernels, parameters: np.ndarray, chosen: Sequence[int], x: Any) -> Loops:
    """The loops with (traced) values of some of the parameters."""
    every = np.array(parameters, dtype=object)
    every[list(chosen)] = x
    return kernels.varied_loops(every)


def _simulation_of(run: Trajectory) -> Simulation:
    proof: Proof | None = run.proof
    sim = getattr(proof, "sim", None)
    if sim is None:
        raise UsageError("this run was read from a file or another process. Simulate it again to differentiate it.", name="run")
    return sim


def _held(sim: Simulation) -> bool:
    """True if something holds one way in the first mode of a run, or is let go in it."""
    mode = sim.pieces[0].mode
    return bool(mode.off or mode.rests or mode.touching or mode.friction)


def _again(core: Compiled, sim: Simulation, names: Sequence[str]) -> Simulation:
    """The same run with these parameters as inputs, all of its steps recorded."""
    o = sim.options
    if o.method.table.gamma or o.stabilizer not in (Project(), Nothing()):
        raise UsageError(
            "derivatives of a run need an explicit integrator (rk4, dopri) and the stabilizer 'project' or 'none', without options.",
            name="integrator",
        )
    if len(sim.pieces) != 1 or _held(sim) or o.formulation not in (None, "sslm"):
        one = "no switching events, nothing that touches or holds one way, no constraints off, formulation sslm"
        sticks = [x.name for x in core.description.frictions if not x.smooth and (x.coulomb or x.mu)]
        way = f" Friction of {listing(sticks)} sticks: give it a `speed:` over which it turns round." if sticks else ""
        raise UsageError(f"derivatives of a run need one mode of motion: {one}.{way}", name=sticks[0] if sticks else "")
    act = sim.pieces[0].evaluator.setup.actuation
    if act.n_held or (act.needs_kernel and act.program is None):
        raise UsageError("derivatives of a run need drives and controllers that can be traced. Sampled or called functions cannot.")
    system = core
    if core.parameters:
        missing = [n for n in names if n not in core.kernels.entries["parameters"]]
        if missing:
            raise UsageError(f"{listing(missing)} cannot be varied: name them in lw.compile(..., parameters=[...]).", name="parameters")
    else:
        key, known = tuple(names), WITH_INPUTS.of(core)
        if key not in known:
            known[key] = core.with_parameters(names)
        system = known[key]
    st = sim.start
    start = State(system.skel, st.q, st.v, st.references, st.t)
    parameters = sim.parameters if core.parameters else None
    made = simulation(
        system, start, sim.t_end - st.t,
        replace(o, sample_interval="steps", events=(), certify=False, progress=False, parameters=parameters),
    )
    if made.go() != "finished":
        raise SimulationError("the run did not reach its end when it was repeated for its derivatives.")
    return made


class RunEquations(StepDerivatives):
    """The equations of a run and its steps; `chosen` are the places of the numbers among the parameters."""

    def __init__(self, sim: Simulation, chosen: Sequence[int]):
        piece = sim.pieces[0]
        self.sim, self.setup, self.chosen = sim, piece.evaluator.setup, list(chosen)
        self.act, self.solution = self.setup.actuation, piece.solution
        self.nq, self.nv, self.nx = self.setup.problem.nq, self.setup.problem.nv, len(self.act.x0)
        self.varied, self.numbers = len(self.chosen), ("parameters",) if self.chosen else ()
        self.quaternions, self.projects = self.setup.problem.quaternions, self.setup.problem.project is not None
        self.parameter_values = self.setup.values["parameters"]
        self.near = near_of(sim, piece, True)
        self.table = sim.options.method.table
        form = replace(self.setup.kernels.chosen, power=False)
        stores, key = FORMS.of(sim.system), form
        if key not in stores:
            stores[key] = sim.system.kernels.variant(form)
        self.kernels = stores[key]

    # ---------------------------------------------------------------- right sides

    def inputs(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> tuple[dict[str, StateFunction], StateFunction]:
        """Efforts and prescribed motions by name, and the rates of the drives' own states."""
        q, v, x = np.split(y, [self.nq, self.nq + self.nv], axis=1)
        sizes = {k: self.setup.row.sizes[k] for k in HEAD if k in self.setup.row.sizes}
        ends = np.cumsum([0, *sizes.values(), self.nx])
        if not self.act.needs_kernel:
            value = np.tile(self.act.tau0, (len(t), 1))
            D = np.zeros((len(t), int(ends[-1]), self.n + len(self.chosen)))
        else:
            program = self.act.program
            rows = self.act.rows(t, q, v, x, near=near, parameters=self.parameter_values)
            parameters = places(program, "parameters")
            found = jacobian(program, list(rows.T), [*places(program, "q", "v", "x"), *(parameters[i] for i in self.chosen)])
            value = np.stack([np.broadcast_to(r, len(t)) for r in found.results[: int(ends[-1])]], axis=1)
            D = np.broadcast_to(found.dense(), (len(t), len(found.results), self.n + len(self.chosen)))
        parts = [StateFunction(value[:, a:b], D[:, a:b, : self.n], D[:, a:b, self.n :]) for a, b in pairwise(ends)]
        return dict(zip(sizes, parts[:-1], strict=True)), parts[-1]

    def columns(
        self, t: np.ndarray, y: np.ndarray, near: np.ndarray, S: np.ndarray, pushes: np.ndarray, change: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Derivatives of the channels that the drives record; `pushes` and `change` are the multipliers of prescribed motions."""
        program = self.act.record_program
        if program is None:
            return {}
        q, v, x = np.split(y, [self.nq, self.nq + self.nv], axis=1)
        parameters = places(program, "parameters")
        rows = self.act.rows(t, q, v, x, near=near, parameters=self.parameter_values)
        found = jacobian(program, list(rows.T), [*places(program, "q", "v", "x"), *(parameters[i] for i in self.chosen)])
        D = np.broadcast_to(found.dense(), (len(t), len(found.results), self.n + len(self.chosen)))
        total, out, at, driver = D[:, :, : self.n] @ S + D[:, :, self.n :], {}, 0, 0
        for b in self.act.bounds:
            for k, name in enumerate(b.channels, start=at):
                out[name] = total[:, k]
                if b.moves:  # factors of the multiplier
                    value = np.broadcast_to(found.results[k], len(t))[:, None]
                    out[name] = total[:, k] * pushes[:, driver : driver + 1] + value * change[:, driver]
            at, driver = at + len(b.channels), driver + bool(b.moves)
        return out

    # ---------------------------------------------------------------- the run

    @cached_property
    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and states (q, v, x) of the start and after every step."""
        t, y = self.solution.t, self.solution.y[:, : self.n]
        st = self.sim.start
        if not len(t) or t[0] > st.t:
            first = np.concatenate([st.q, st.v, self.act.x0])
            t, y = np.append(st.t, t), np.concatenate([first[None], y])
            self.near = np.concatenate([self.near[:1], self.near])
        return t, y

    def own_states(self, times: np.ndarray) -> np.ndarray:
        """States of the drives themselves at times, from the steps around them."""
        t, y = self.steps
        own = y[:, self.nq + self.nv :]
        return np.stack([np.interp(times, t, column) for column in own.T], axis=1) if self.nx else np.zeros((len(times), 0))

    def at(self, times: np.ndarray) -> np.ndarray:
        """dy/dp at times, (n, y, parameters): from step to step, and by a part of a step to a time inside it."""
        t, y = self.steps
        tiny = SAME_TIME * max(1e-300, float(t[-1] - t[0]))
        where = np.clip(np.searchsorted(t, times + tiny, side="right") - 1, 0, len(t) - 1)
        S = self.all_steps[where]
        inside = np.flatnonzero(times - t[where] > tiny)
        for some in np.array_split(inside, max(1, -(-len(inside) // AT_ONCE))):
            if len(some):
                k = where[some]
                part = self.step(t[k], times[some] - t[k], y[k], self.near[k])
                S[some] = part.by_y @ S[some] + part.by_p
        return S

    @cached_property
    def all_steps(self) -> np.ndarray:
        """dy/dp at the start and after every step."""
        t, y = self.steps
        out = np.zeros((len(t), self.n, len(self.chosen)))
        out[0] = self.start
        for first in range(0, len(t) - 1, AT_ONCE):
            some = slice(first, min(first + AT_ONCE, len(t) - 1))
            one = self.step(t[some], np.diff(t)[some], y[some], self.near[some])
            for i, (D, p) in enumerate(zip(one.by_y, one.by_p, strict=True), start=first):
                out[i + 1] = D @ out[i] + p
        return out

    @cached_property
    def start(self) -> np.ndarray:
        """dy/dp of the start, closed for other parameters: drives stay where and as fast as they are, the rest follows."""
        core, st = self.sim.system, self.sim.start
        out = np.zeros((self.n, len(self.chosen)))
        if not core.tree.nc:
            return out
        joints = {j.name for j in core.description.joints}
        drives = [d.joint for d in core.description.drives if d.joint in joints and np.ndim(st[d.joint]) == 0]
        for held in (drives, []):
            moved = self._followed(st, held)
            if moved is not None:
                out[: self.nq], out[self.nq : self.nq + self.nv] = self.in_coordinates(st.q, moved[0]), moved[1]
                return out
        raise UsageError("these numbers cannot vary from this start: the loops would no longer close.")

    def _followed(self, st: State, drives: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
        """q_p (in the space of v) and v_p of least size with these drives held; None where the loops cannot follow."""
        core = self.sim.system
        kernels = replace(core.kernels, drives=tuple(drives), plans={}, made={})
        near = core.skel.pack(st.references)
        given = {
            "q": st.q,
            "v": st.v,
            "near": near,
            "drive": [float(st[d]) for d in drives],
            "speed": [float(st[f"{d}.v"]) for d in drives],
        }
        eq = kernels.equations(self.parameter_values)
        seen = []
        for name, by in (("driven_positions", ("q", "parameters")), ("driven_velocities", ("q", "parameters"))):
            kernel = kernels.get(name, by=by).interpreted()
            seen.append(kernel(**{b.name: given.get(b.name, self.parameter_values) for b in kernel.inputs}))
        tied = eq.tied([Parabola(0.0, 0.0, 0.0)] * len(drives))
        f = factor(seen[0].phi_q * core.loops.columns / tied.row_scale[:, None], 1e-9)

        def solved(right: np.ndarray) -> np.ndarray | None:
            scaled = right / tied.row_scale[:, None]
            if np.abs(f.left_null.T @ scaled).max(initial=0.0) > LOOP_CHANGE * max(1e-300, np.abs(scaled).max(initial=0.0)):
                return None
            return -f.solve(scaled) * core.loops.columns[:, None]

        q = solved(seen[0].phi_parameters[:, self.chosen])
        v = None if q is None else solved(seen[1].velocity_parameters[:, self.chosen] + seen[1].velocity_q @ q)
        return None if q is None or v is None else (q, v)
