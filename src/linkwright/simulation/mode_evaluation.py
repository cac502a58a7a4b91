"""One mode of a run evaluated again: inputs, rates, and the way to a time inside a step; with the held values of controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler.callbacks import DEGENERATE
from linkwright.integrators import Method, StepKernel, integrate
from linkwright.numerics.linalg import least_squares
from linkwright.simulation.kernel_rows import HEAD
from linkwright.simulation.time_stepping import Setup

MOST_STEPS_WITHIN = 200  # steps at most on the way to a time inside one step


class HeldStops(NamedTuple):
    """Pushes of the stops that hold, along their coordinates, their rows, and responses [dq, dv, power] to a unit push of each."""

    push: np.ndarray
    J: np.ndarray
    responses: np.ndarray


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

    def rates(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        """dq/dt, a, rates of power."""
        row, p = self.mechanism_row(t, y, cut), self.setup.problem
        out = _called(p.rates, row)
        if p.rests:
            held = self._held(row, out)
            out = out.copy()
            out[p.nq : p.nq + p.nv] += held.push @ held.responses[:, p.nq : p.nq + p.nv]
            out[p.nq + p.nv : p.nq + p.nv + min(p.n_power, 1)] += held.push @ held.responses[:, p.nq + p.nv :]
        return out

    def pushes(self, t: float, y: np.ndarray, cut: np.ndarray) -> HeldStops:
        """Pushes of the stops that hold at a state of the run."""
        row = self.mechanism_row(t, y, cut)
        return self._held(row, _called(self.setup.problem.rates, row))

    def _held(self, row: np.ndarray, rates: np.ndarray) -> HeldStops:
        """The same as `integrators.rests.hold` at one row, from the rates without stops."""
        p = self.setup.problem
        assert p.stops is not None and p.response is not None
        n, tau = p.n_stops, self.setup.row.mechanism.spans["tau"]
        found = _called(p.stops, row)
        chosen = [e.row for e in p.rests]
        J = found[2 * n : 2 * n + n * p.nv].reshape(n, p.nv)[chosen]
        X = []
        for push in J:
            pushed = row.copy()
            pushed[tau] = push
            X.append(_called(p.response, pushed)[: p.nq + p.nv + 1])
        responses = np.array(X)
        W = J @ responses[:, p.nq : p.nq + p.nv].T
        right = -(J @ rates[p.nq : p.nq + p.nv] + found[n : 2 * n][chosen])
        size = np.sqrt(np.maximum(np.diag(W), np.finfo(float).tiny))  # meters and radians side by side
        return HeldStops(least_squares(W / size / size[:, None], right / size, 1e-10) / size, J, responses)

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
        p = replace(p, parameters=tuple(row[p.n + 1 :]))
        options: dict[str, Any] = {**self.options, "step": t - t0, "most_steps": MOST_STEPS_WITHIN}
        done = integrate(p, y, t0, t, self.method, samples=[t], **options)
        return done.end_state if done.complete else None


def _called(kernel: StepKernel, row: np.ndarray) -> np.ndarray:
    """A kernel's answer at one row; the rank-revealing one where it is degenerate."""
    y = np.zeros(kernel.n_out)
    status = kernel.callable(row, y, np.zeros(max(kernel.workspace, 1)))
    if status & DEGENERATE and kernel.backup is not None:
        y = np.zeros(kernel.backup.n_out)
        kernel.backup.callable(row, y, np.zeros(max(kernel.backup.workspace, 1)))
    return y
