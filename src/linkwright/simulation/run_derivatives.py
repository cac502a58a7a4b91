"""Derivatives of a simulated run by parameters of the model: forward sensitivities through the steps of its integrator.

A step is y' = project(y + h sum b_i K_i), K_i = f(t_i, y + h sum a_ij K_j, p). With the steps of the run known, all of them are
differentiated at once over arrays, stage by stage, with the exact derivatives of the kernels,

    dK_i = f_y dY_i + f_p        S' = P_y (dy + h sum b_i dK_i) + P_p

and S = dy/dp follows from step to step. It begins with the start, which moves with the lengths: drives stay where and as fast as they are,
the rest follows. Lengths of steps are those of the run: the result is the derivative of the numerical solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import jacobian, places
from linkwright.errors import SimulationError, UsageError, listing
from linkwright.kernels.kernels import Kernels
from linkwright.model.curves.polynomial import Parabola
from linkwright.model.parameters import Parameter
from linkwright.numerics.linalg import factor
from linkwright.numerics.memory_and_threads import Store
from linkwright.numerics.tolerances import LOOP_CHANGE, SAME_TIME
from linkwright.results.channels.derivatives import MotionDerivatives
from linkwright.results.records import acting, cut_rows, multipliers
from linkwright.results.state import State
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.kernel_rows import HEAD
from linkwright.simulation.run import Simulation, simulation
from linkwright.simulation.run_records import near_of
from linkwright.simulation.stabilizers import Nothing, Project

if TYPE_CHECKING:
    from linkwright.kernels.kernels import Kernels
    from linkwright.mechanics.constraints.loops import Loops
    from linkwright.simulation.proof import Proof
    from linkwright.system.compiled import Compiled

WITH_INPUTS: Store[tuple[str, ...], Compiled] = Store()  # the mechanism whose inputs are these parameters
FORMS: Store[Any, Kernels] = Store()  # kernels by the variant of the equations
AT_ONCE = 256  # steps differentiated together
NEWTON = 2  # steps of the projection: the first leaves the square of a gap of the order of the method's error


class StateFunction(NamedTuple):
    """A function of y = (q, v, x) at many states, with its derivatives by y and by the numbers."""

    value: np.ndarray  # (n, entries)
    by_y: np.ndarray  # (n, entries, y)
    by_p: np.ndarray  # (n, entries, parameters)


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
        raise UsageError(f"derivatives of a run need one mode of motion: {one}.")
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


class RunEquations:
    """The equations of a run and its steps, differentiated; `chosen` are the places of the numbers among the parameters."""

    def __init__(self, sim: Simulation, chosen: Sequence[int]):
        piece = sim.pieces[0]
        self.sim, self.setup, self.chosen = sim, piece.evaluator.setup, list(chosen)
        self.act, self.solution = self.setup.actuation, piece.solution
        self.nq, self.nv, self.nx = self.setup.problem.nq, self.setup.problem.nv, len(self.act.x0)
        self.n = self.nq + self.nv + self.nx
        self.numbers = ("parameters",) if self.chosen else ()
        self.parameter_values = self.setup.values["parameters"]
        self.near = near_of(sim, piece, True)
        self.table = sim.options.method.table
        form = replace(self.setup.kernels.chosen, power=False)
        stores, key = FORMS.of(sim.system), form
        if key not in stores:
            stores[key] = sim.system.kernels.variant(form)
        self.kernels: Kernels = stores[key]

    # ---------------------------------------------------------------- right sides

    def called(self, name: str, by: tuple[str, ...], t: np.ndarray, given: dict[str, Any], outputs: tuple[str, ...] = ()) -> Any:
        """A kernel with derivatives at all states."""
        kernel = self.kernels.get(name, by=by, outputs=outputs)
        every = {**given, "t": t[:, None], "parameters": self.parameter_values}
        found = kernel(**{b.name: every[b.name] for b in kernel.inputs})
        if found.failed:
            (i, *_), error = next(iter(found.failed.items()))
            raise SimulationError(f"t = {t[i]:.6g} s: the run has no derivatives beyond here: {error}")
        return found

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

    def forward(self, t: np.ndarray, y: np.ndarray, near: np.ndarray, heads: dict[str, StateFunction] | None = None) -> StateFunction:
        """Accelerations, then the multipliers of all rows."""
        heads = self.inputs(t, y, near)[0] if heads is None else heads
        given = {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv], "near": near, **{k: x.value for k, x in heads.items()}}
        found = self.called("forward", ("coordinates", "v", *heads, *self.numbers), t, given)

        def both(by: str) -> np.ndarray:
            return np.concatenate([getattr(found, f"a_{by}"), getattr(found, f"lam_{by}")], axis=1)

        by_y = np.concatenate([both("coordinates"), both("v"), np.zeros((len(t), found.a.shape[1] + found.lam.shape[1], self.nx))], axis=2)
        by_p = both("parameters")[:, :, self.chosen] if self.numbers else np.zeros((*by_y.shape[:2], 0))
        for name, head in heads.items():
            by_y, by_p = by_y + both(name) @ head.by_y, by_p + both(name) @ head.by_p
        return StateFunction(np.concatenate([found.a, found.lam], axis=1), by_y, by_p)

    def rates(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> StateFunction:
        """dy/dt."""
        heads, own = self.inputs(t, y, near)
        a = self.forward(t, y, near, heads)
        moved = self.called("velocities", ("coordinates", "v"), t, {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv]})
        by_q = np.concatenate([moved.qdot_coordinates, moved.qdot_v, np.zeros((len(t), self.nq, self.nx))], axis=2)
        return StateFunction(
            np.concatenate([moved.qdot, a.value[:, : self.nv], own.value], axis=1),
            np.concatenate([by_q, a.by_y[:, : self.nv], own.by_y], axis=1),
            np.concatenate([np.zeros((len(t), self.nq, len(self.chosen))), a.by_p[:, : self.nv], own.by_p], axis=1),
        )

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

    # ---------------------------------------------------------------- steps

    def step(self, t: np.ndarray, h: np.ndarray, y: np.ndarray, near: np.ndarray) -> StateFunction:
        """States after steps of length h from y, and their derivatives by y and by the numbers."""
        a, c, stages = self.table.a, self.table.c, self.table.stages
        start, K = self.itself(y), []
        for i in range(stages):
            Y = _moved(start, h, a[i], K)
            f = self.rates(t + c[i] * h, Y.value, near)
            K.append(StateFunction(f.value, f.by_y @ Y.by_y, f.by_y @ Y.by_p + f.by_p))
        return self._settled(t + h, self.normalized(_moved(start, h, a[stages], K)), near)

    def itself(self, y: np.ndarray) -> StateFunction:
        """y as a function of y."""
        return StateFunction(y, np.broadcast_to(np.eye(self.n), (len(y), self.n, self.n)), np.zeros((len(y), self.n, len(self.chosen))))

    def normalized(self, y: StateFunction) -> StateFunction:
        """Quaternions of length one again: d(q/|q|) = (I - q q'/|q|^2) dq/|q|."""
        if not self.setup.problem.quaternions:
            return y
        value, by_y, by_p = (x.copy() for x in y)
        for first in self.setup.problem.quaternions:
            s = slice(first, first + 4)
            size = np.sqrt(np.sum(value[:, s] ** 2, axis=1))[:, None]
            unit = value[:, s] / size
            turn = (np.eye(4) - unit[:, :, None] * unit[:, None, :]) / size[:, :, None]
            value[:, s], by_y[:, s], by_p[:, s] = unit, turn @ by_y[:, s], turn @ by_p[:, s]
        return StateFunction(value, by_y, by_p)

    def _settled(self, t: np.ndarray, y: StateFunction, near: np.ndarray) -> StateFunction:
        """On the loops: Newton steps for q, then the velocity of the last call, as the time stepper does."""
        for call in range(self.calls):
            y = self.projected(t, y, near, call)
        return y

    @property
    def calls(self) -> int:
        """Calls of the projection after a step."""
        return 0 if self.setup.problem.project is None else NEWTON + 1

    def laws(self, t: np.ndarray, y: np.ndarray, near: np.ndarray) -> tuple[dict[str, StateFunction], dict[str, np.ndarray]]:
        """Prescribed motions, and the inputs of the projection."""
        laws = {k: x for k, x in self.inputs(t, y, near)[0].items() if k != "tau"}
        given = {"q": y[:, : self.nq], "v": y[:, self.nq : self.nq + self.nv], "near": near, **{k: x.value for k, x in laws.items()}}
        return laws, given

    def changed(self, call: int) -> tuple[str, slice]:
        """Output of the projection that a call takes over, and its place in y."""
        return ("q", slice(0, self.nq)) if call < NEWTON else ("v", slice(self.nq, self.nq + self.nv))

    def projected(self, t: np.ndarray, y: StateFunction, near: np.ndarray, call: int) -> StateFunction:
        """One call of the projection."""
        nq, nv = self.nq, self.nv
        laws, given = self.laws(t, y.value, near)
        found = self.called("projection", ("coordinates", "v", *laws, *self.numbers), t, given)
        name, span = self.changed(call)
        value, by_y, by_p = (x.copy() for x in y)
        D = {by: getattr(found, f"{name}_{by}") for by in ("coordinates", "v", *laws, *self.numbers)}
        moved = [D["coordinates"] @ x[:, :nq] + D["v"] @ x[:, nq : nq + nv] for x in (y.by_y, y.by_p)]
        for key, law in laws.items():
            moved[0], moved[1] = moved[0] + D[key] @ (law.by_y @ y.by_y), moved[1] + D[key] @ (law.by_y @ y.by_p + law.by_p)
        if self.numbers:
            moved[1] = moved[1] + D["parameters"][:, :, self.chosen]
        value[:, span], by_y[:, span], by_p[:, span] = getattr(found, name), moved[0], moved[1]
        return StateFunction(value, by_y, by_p)

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
                out[: self.nq], out[self.nq : self.nq + self.nv] = self._coordinates(st.q, moved[0]), moved[1]
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

    # ---------------------------------------------------------------- quaternions

    def _coordinates(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Changes of coordinates from those in the space of v."""
        return self.called("velocities", ("v",), np.zeros(1), {"q": q[None], "v": np.zeros((1, self.nv))}).qdot_v[0] @ step

    def in_velocities(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Changes of coordinates (n, nq, parameters) in the space of v."""
        if self.nq == self.nv:
            return change
        N = self.called("velocities", ("v",), np.zeros(len(q)), {"q": q, "v": np.zeros((len(q), self.nv))}).qdot_v
        return np.linalg.pinv(N) @ change


def _moved(y: StateFunction, h: np.ndarray, weights: np.ndarray, K: Sequence[StateFunction]) -> StateFunction:
    """y + h sum of weighted rates."""
    parts = []
    for k, x in enumerate(y):
        total = x
        for weight, rate in zip(weights, K, strict=False):
            if weight:
                total = total + (weight * h).reshape(-1, *[1] * (x.ndim - 1)) * rate[k]
        parts.append(total)
    return StateFunction(*parts)
