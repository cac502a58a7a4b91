"""One mode of a run evaluated again: inputs, rates, and the way to a time inside a step; with the held values of controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwright.compiler.callbacks import DEGENERATE
from linkwright.integrators import Method, StepKernel, integrate
from linkwright.simulation.rows import HEAD
from linkwright.simulation.time_stepping import Setup

MOST_STEPS_WITHIN = 200  # steps at most on the way to a time inside one step


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
        return _called(self.setup.problem.rates, self.mechanism_row(t, y, cut))

    def accelerations(self, t: float, y: np.ndarray, cut: np.ndarray) -> np.ndarray:
        p = self.setup.problem
        return self.rates(t, y, cut)[p.nq : p.nq + p.nv]

    def reach(self, t0: float, y: np.ndarray, cut: np.ndarray, t: float) -> np.ndarray | None:
        """State at a time inside the step that begins at t0, by the integrator itself; None if it does not get there in
        a bounded number of steps."""
        if t <= t0:
            return y
        p = replace(self.setup.with_references(cut), events=None, event_specs=(), sampler=None, every=0.0, n_held=0)
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
