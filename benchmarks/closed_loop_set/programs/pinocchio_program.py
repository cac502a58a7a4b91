"""Pinocchio on the set: constraintDynamics called from Python and integrated by scipy's DOP853.

Pinocchio has no springs and no integrator: forces between points are put in by frame Jacobians, as its user would do. Loops are left alone,
and corrected by its own Baumgarte terms, without which long runs drift away.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from benchmarks import pinocchio_cpp, pinocchio_run
from benchmarks.bench.cases import BenchCase
from benchmarks.bench.clocks import again_and_again, best_call
from benchmarks.closed_loop_set.cases import Case, Task
from benchmarks.closed_loop_set.mechanism import bench_case, measured
from benchmarks.closed_loop_set.programs import NotOffered
from benchmarks.closed_loop_set.results import Answer
from benchmarks.steppers import needed
from linkwright.results.state import State

PROGRAM = "Pinocchio"
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)
CORRECTED = 100.0  # Baumgarte's rate times the duration: 10 1/s in a run of 10 s
MOST = 20.0  # processor seconds after which a run is ended; tighter tolerances are left out


def version() -> str:
    return needed("pinocchio", "pin")


class Loops:
    """A model with its constraints, ready for constraintDynamics, and the springs of a case; Baumgarte's terms of a rate in 1/s."""

    def __init__(self, bench: BenchCase, case: Case, rate: float = 0.0):
        self.pin: Any = import_module("pinocchio")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that springs are not there: they are put in below
            self.there = p = pinocchio_cpp.converted(bench)
        self.T = pinocchio_run.order(p, bench.state)
        self.model, self.data, self.settings = p.model, p.model.createData(), p.settings()
        for constraint in p.constraints:
            gains = constraint.m_baumgarte_parameters
            gains.Kp, gains.Kd = rate**2, 2 * rate
            constraint.setBaumgarteCorrectorParameters(gains)
        self.models = self.pin.StdVec_RigidConstraintModel(p.constraints)
        self.datas = self.pin.StdVec_RigidConstraintData([c.createData() for c in p.constraints])
        if p.constraints:
            self.pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)
        self.tau = np.zeros(self.model.nv)
        for name, value in bench.tau.items():
            self.tau += value * self.T @ np.eye(self.model.nv)[p.system.names.v.index(name)]
        self.drag = np.zeros((self.model.nv, self.model.nv))
        for f in case.raw.get("forces", []):
            if f["type"] == "damping":
                along = self.T @ np.eye(self.model.nv)[p.system.names.v.index(f["joint"])]
                self.drag += f["value"] * np.outer(along, along)
        self.springs = [self._spring(f) for f in case.raw.get("forces", []) if f["type"] == "spring"]

    def _spring(self, f: Any) -> tuple[Any, ...]:
        ends = [(None if e["body"] == "ground" else self.model.getFrameId(e["body"]), np.array(e["point"], float)) for e in f["between"]]
        return ends[0], ends[1], f["stiffness"], f["free_length"], f["damping"]

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = self.tau - self.drag @ v + (self._pull(q, v) if self.springs else 0.0)
        if not self.there.constraints:
            return self.pin.aba(self.model, self.data, q, v, tau)
        return self.pin.constraintDynamics(self.model, self.data, q, v, tau, self.models, self.datas, self.settings)

    def _pull(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the efforts of springs and dampers between points."""
        pin, out = self.pin, np.zeros(self.model.nv)
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        for first, second, stiffness, free, damping in self.springs:
            places, rows = zip(*(self._end(*end) for end in (first, second)), strict=True)
            d, J = places[1] - places[0], rows[1] - rows[0]
            length = np.linalg.norm(d)
            along = d / length @ J
            out -= (stiffness * (length - free) + damping * (along @ v)) * along
        return out

    def _end(self, frame: int | None, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return place and Jacobian of an end."""
        if frame is None:
            return point, np.zeros((3, self.model.nv))
        X = self.data.oMf[frame]
        J = self.pin.getFrameJacobian(self.model, self.data, frame, self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = X.rotation @ point
        return X.translation + arm, J[:3] - self.pin.skew(arm) @ J[3:]


def free_motion(case: Case, task: Task, quick: bool) -> list[Answer]:
    """Integrate at several tolerances, with and without Baumgarte's terms."""
    bench, end = bench_case(case), float(task.given["time"])
    rates = (CORRECTED / end,) if quick else (0.0, CORRECTED / end)
    loops = [(rate, Loops(bench, case, rate)) for rate in rates if not rate or bench.system.tree.cuts]
    out: list[Answer] = []
    failed = ""
    for rate, own in loops or [(0.0, Loops(bench, case))]:
        for tolerance in TOLERANCES[1:2] if quick else TOLERANCES:
            try:
                out.append(_integrated(case, task, own, rate, tolerance))
            except NotOffered as reason:
                failed = str(reason)
                if out:
                    out[-1] = replace(out[-1], note=f"{out[-1].note}; {f'Baumgarte {rate:.3g} 1/s, ' if rate else ''}{failed}")
                break
    if not out:
        raise NotOffered(failed)
    return out


def _integrated(case: Case, task: Task, loops: Loops, rate: float, tolerance: float) -> Answer:
    state, end = bench_case(case).state, float(task.given["time"])
    solve = import_module("scipy.integrate").solve_ivp
    n, p = loops.model.nv, loops.there
    start = np.concatenate([p.q(state), p.v(state)])

    began = process_time()

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        if process_time() - began > MOST:
            raise NotOffered(f"at tolerance {tolerance:g} the run is at {t:.3g} of {end:g} s after {MOST:g} s of processor time")
        return np.concatenate([y[n:], loops.accelerations(y[:n], y[n:])])

    done: list[Any] = []
    call = again_and_again(
        lambda: done.append(solve(rates, (0.0, end), start, method="DOP853", rtol=tolerance, atol=tolerance, t_eval=[end]))
    )
    seconds = call(0.0) / 1e9
    if not done[0].success:
        raise NotOffered(f"the integrator ends before the time: {done[0].message}")
    y = done[0].y[:, -1]
    values = measured(task, p.system.state(loops.T.T @ y[:n], loops.T.T @ y[n:]))
    setting = f"tolerance {tolerance:g}" + (f", Baumgarte {rate:.3g} 1/s" if rate else "")
    return Answer(case.name, task.id, setting, values, seconds, f"scipy DOP853, {done[0].nfev} evaluations from Python")


def accelerations(case: Case, task: Task, quick: bool) -> list[Answer]:
    bench = bench_case(case)
    loops = Loops(bench, case)
    p = loops.there
    q, v = p.q(bench.state), p.v(bench.state)
    state = _with(p.system.state(loops.T.T @ q, loops.T.T @ v), p.acceleration(bench.state, loops.accelerations(q, v)))
    seconds = _timed(lambda: loops.accelerations(q, v), quick)
    return [Answer(case.name, task.id, "constraintDynamics", measured(task, state), seconds, "called from Python")]


def _with(st: State, a: np.ndarray) -> State:
    return State(st.skel, st.q, st.v, st.references, 0.0, a)


def _timed(call: Callable[[], Any], quick: bool) -> float:
    return best_call(call, 0.05 if quick else 0.2) / 1e9


KINDS = {"free motion": free_motion, "accelerations": accelerations}
REASONS = {
    "inverse dynamics": "its rnea is for trees; with loops the user solves for the loop forces",
    "joint forces": "it gives the forces of loop constraints, not those of joints in the tree",
}
