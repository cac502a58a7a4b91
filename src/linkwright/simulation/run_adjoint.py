"""The adjoint of a run: derivatives of one number of it, a channel at a time, by however many parameters of the model.

What pulls at the state at the end is followed backwards through the steps, y' = P(y + h sum b_i K_i), K_i = f(Y_i, p):

    pull on K_i    kappa_i = h b_i l' + h sum over j > i of a_ji f_y(Y_j)' kappa_j        with l' = P_y' l
    pull on y      l = l' + sum of f_y(Y_i)' kappa_i                dG/dp = G_p + l_0' S_0 + sum of f_p(Y_i)' kappa_i + P_p' l

Derivatives by the state are matrices of all steps at once; those by the numbers are taken in reverse mode, so that it hardly matters how
many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwright.compiler.derivatives import gradient, places
from linkwright.errors import UsageError
from linkwright.mechanics.constraints.loops import Loops
from linkwright.results.channels import Channels
from linkwright.results.channels.graph import ChannelGraph
from linkwright.results.records import cut_rows
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.run_derivatives import AT_ONCE, RunEquations, repeated
from linkwright.simulation.step_derivatives import StateFunction

if TYPE_CHECKING:
    from linkwright.system.compiled import Compiled

SAME_SAMPLE = 1e-9  # of the duration: a time that close to a sample is that sample


class StepRecord(NamedTuple):
    """Steps as they were, with the derivatives of their parts by the state."""

    h: np.ndarray
    stages: list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # times, states, f_y
    unit: np.ndarray  # of the quaternions' length
    calls: list[tuple[np.ndarray, np.ndarray]]  # states before each call of the projection, and its derivative
    end: np.ndarray  # times


def run_gradient(core: Compiled, run: Trajectory, by: str | Sequence[str], channel: str, at: Any = None) -> dict[str, float]:
    """Derivatives of a channel of a run at one of its samples (default the last) by parameters of the model."""
    chosen, sim, where = repeated(core, run, by)
    i = len(run) - 1 if at is None else int(np.argmin(np.abs(run.t - float(at))))
    if at is not None and abs(run.t[i] - float(at)) > SAME_SAMPLE * max(1e-300, float(run.t[-1] - run.t[0])):
        raise UsageError(f"there is no sample at t = {float(at):.6g} s. The nearest is at {run.t[i]:.6g} s.", name="t")
    adjoint = RunAdjoint(RunEquations(sim, []), RunEquations(sim, list(range(len(sim.parameters)))))
    pull, found = adjoint.channel(run, i, channel)
    found = found + adjoint.backwards(float(run.t[i]), pull)
    return {p.name: float(found[k]) for p, k in zip(chosen, where, strict=True)}


class RunAdjoint:
    """Pulls on the state of a run, followed back to its start. `eq` has no numbers, `every` has all of them."""

    def __init__(self, eq: RunEquations, every: RunEquations):
        self.eq, self.every = eq, every
        self.nf = len(every.chosen)

    # ---------------------------------------------------------------- the number that is differentiated

    def channel(self, run: Trajectory, i: int, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of a channel at a sample by the state, and by the numbers at that state."""
        eq = self.eq
        rows = {"q": run.q[i : i + 1], "v": run.v[i : i + 1], "a": run.a[i : i + 1], "t": run.t[i : i + 1, None]}
        rows |= {"near": cut_rows(run.skel, run.references)[i : i + 1], "parameters": eq.parameter_values[None]}

        def varied(x: Any) -> Loops:
            return eq.sim.system.kernels.equations(x).loops

        run._channel(name)
        graph = ChannelGraph(run.frame, frozenset(("a", "near")), varied, len(eq.parameter_values))
        table = Channels(graph.skel)
        read = graph.symbols(table[name].read, graph.instant) if name in table else None
        if read is None or read.shape != ():
            raise UsageError(
                f"'{name}' is not one number that follows from the state. Name a component, such as 'coupler.P.x' or 'A.v'.", name=name
            )
        program = graph.graph.program([(name, read)])
        found = gradient(program, [x for b in program.inputs for x in rows[b.name][0]], {0: 1.0})[1]
        slopes = {b.name: np.array(found[b.span], dtype=float) for b in program.inputs}
        t, y = run.t[i : i + 1], np.concatenate([run.q[i], run.v[i], eq.own_states(run.t[i : i + 1])[0]])[None]
        pull = np.concatenate([slopes["q"], slopes["v"], np.zeros(eq.nx)])
        if not slopes["a"].any():
            return pull, slopes["parameters"]
        a = eq.forward(t, y, rows["near"])
        pull = pull + slopes["a"] @ a.by_y[0, : eq.nv]
        return pull, slopes["parameters"] + self._of_rates(t, y, rows["near"], slopes["a"][None], np.zeros((1, eq.nx)))

    # ---------------------------------------------------------------- backwards

    def backwards(self, end: float, pull: np.ndarray) -> np.ndarray:
        """Sum of what all steps before `end` and the start add to the derivatives by the numbers."""
        eq = self.eq
        t, y = eq.steps
        last = int(np.searchsorted(t, end * (1.0 + 1e-14) + 1e-300, side="right")) - 1
        total = np.zeros(self.nf)
        if end > t[last]:
            pull, more = self._through(self.record(t[last : last + 1], np.array([end - t[last]]), y[last : last + 1], [last]), [last], pull)
            total = total + more
        for stop in range(last, 0, -AT_ONCE):
            some = list(range(max(0, stop - AT_ONCE), stop))
            pull, more = self._through(self.record(t[some], np.diff(t)[some], y[some], some), some, pull)
            total = total + more
        return total + pull @ self.every.start

    def record(self, t: np.ndarray, h: np.ndarray, y: np.ndarray, at: Sequence[int]) -> StepRecord:
        """Steps with everything that goes backwards through them."""
        eq, near = self.eq, self.eq.near[list(at)]
        a, c, n = eq.table.a, eq.table.c, eq.table.stages
        K: list[np.ndarray] = []
        stages = []
        for i in range(n):
            Y = y + sum((w * h[:, None] * k for w, k in zip(a[i], K, strict=False) if w), np.zeros_like(y))
            f = eq.rates(t + c[i] * h, Y, near)
            K.append(f.value)
            stages.append((t + c[i] * h, Y, f.by_y))
        trial = y + sum((w * h[:, None] * k for w, k in zip(a[n], K, strict=False) if w), np.zeros_like(y))
        now: StateFunction = eq.normalized(eq.itself(trial))
        unit, calls = now.by_y, []
        for call in range(eq.calls):
            before = now.value
            now = eq.projected(t + h, eq.itself(before), near, call)
            calls.append((before, now.by_y))
        return StepRecord(h, stages, unit, calls, t + h)

    def _through(self, r: StepRecord, at: Sequence[int], pull: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pull before some steps, and what they add to the derivatives by the numbers."""
        eq, n = self.eq, len(r.h)
        a, size = eq.table.a, eq.table.stages
        kappa = np.zeros((size, n, eq.n))
        pulls = np.zeros((len(r.calls), n, eq.n))
        for k in range(n - 1, -1, -1):
            for i in range(len(r.calls) - 1, -1, -1):
                pulls[i, k] = pull
                pull = r.calls[i][1][k].T @ pull
            pull = r.unit[k].T @ pull
            before, back = pull, np.zeros((size, eq.n))
            for i in range(size - 1, -1, -1):
                kappa[i, k] = r.h[k] * (a[size, i] * pull + a[i + 1 : size, i] @ back[i + 1 :])
                back[i] = r.stages[i][2][k].T @ kappa[i, k]
            pull = before + back.sum(axis=0)
        near, total = eq.near[list(at)], np.zeros(self.nf)
        for i, (t, Y, _) in enumerate(r.stages):
            total = total + self._of_rates(t, Y, near, kappa[i][:, eq.nq : eq.nq + eq.nv], kappa[i][:, eq.nq + eq.nv :])
        for i, (Y, _) in enumerate(r.calls):
            total = total + self._of_projection(r.end, Y, near, i, pulls[i])
        return pull, total

    def _of_rates(self, t: np.ndarray, y: np.ndarray, near: np.ndarray, on_a: np.ndarray, on_x: np.ndarray) -> np.ndarray:
        """Pulls on accelerations and on the rates of the drives' states as derivatives by the numbers, summed over the states."""
        eq = self.eq
        heads = eq.inputs(t, y, near)[0]
        given = {"q": y[:, : eq.nq], "v": y[:, eq.nq : eq.nq + eq.nv], "near": near, **{k: x.value for k, x in heads.items()}}
        found = eq.called("forward", ("parameters", *heads), t, {**given, "a_weight": on_a}, outputs=("a",))
        more = {k: getattr(found, f"{k}_gradient") for k in heads}
        return found.parameters_gradient.sum(axis=0) + self._of_inputs(t, y, near, [*more.values(), on_x])

    def _of_projection(self, t: np.ndarray, y: np.ndarray, near: np.ndarray, call: int, pull: np.ndarray) -> np.ndarray:
        eq = self.eq
        laws, given = eq.laws(t, y, near)
        name, span = eq.changed(call)
        found = eq.called("projection", ("parameters", *laws), t, {**given, f"{name}_weight": pull[:, span]}, outputs=(name,))
        more = [getattr(found, f"{k}_gradient") for k in laws]
        zero = [np.zeros((len(t), eq.nv)), *more, np.zeros((len(t), eq.nx))]
        return found.parameters_gradient.sum(axis=0) + (self._of_inputs(t, y, near, zero) if laws else 0.0)

    def _of_inputs(self, t: np.ndarray, y: np.ndarray, near: np.ndarray, pulls: Sequence[np.ndarray]) -> np.ndarray:
        """Pulls on efforts, prescribed motions and rates of the drives as derivatives by the numbers they are written with."""
        eq, program = self.eq, self.eq.act.program
        if not eq.act.needs_kernel or program is None:
            return np.zeros(self.nf)
        q, v, x = np.split(y, [eq.nq, eq.nq + eq.nv], axis=1)
        rows = eq.act.rows(t, q, v, x, near=near, parameters=eq.parameter_values)
        weights = dict(enumerate(np.concatenate(pulls, axis=1).T))
        found = gradient(program, list(rows.T), weights)[1]
        return np.array([np.sum(np.broadcast_to(found[k], len(t))) for k in places(program, "parameters")])
