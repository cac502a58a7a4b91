"""Other programs on the free motion of the scraper: Pinocchio with DOP853 in Python and in C++, MuJoCo, Exudyn, Drake.

Every one gets the same start and is judged by the same reference. Pinocchio's accelerations are exact, so tolerances of the
integrator decide; loops are not corrected there, which would cost more. MuJoCo, Exudyn and Drake take fixed steps, typical ones and
such that a run takes seconds. Exudyn's error falls with the square of the step; most of Drake's is energy lost, which falls faster than
its first order.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import drake_steps, exudyn_steps, mujoco_loop, pinocchio_run
from benchmarks.bench.cases import BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.clocks import a_few_times, seconds_of, timed
from benchmarks.bench.free_run import QUANTITY, FreeRun
from benchmarks.pinocchio_cpp import MU, converted
from benchmarks.steppers import needed
from benchmarks.workshop import Workshop, version

SCIPY, MUJOCO, EXUDYN, DRAKE = "Pinocchio Python + scipy DOP853", "MuJoCo RK4", "Exudyn trapezoidal", "Drake SAP"
SCIPY_TOLERANCES = (1e-9, 1e-10)
MUJOCO_STEPS, MUJOCO_QUICK = (1e-4, 2e-5), (1e-4,)
EXUDYN_STEPS, EXUDYN_QUICK = (1e-3, 1e-4), (1e-3,)
DRAKE_STEPS, DRAKE_QUICK = (1e-3, 5e-5), (1e-3,)
REPEATS = 3  # of runs that take seconds


def offered(run: FreeRun, shop: Workshop, quick: bool = False) -> list[Contender | BenchRow]:
    """Everything others can do on the run, and why not where they cannot."""
    name = run.case.name
    out: list[Contender | BenchRow] = []
    for tolerance in SCIPY_TOLERANCES:
        out += attempt(SCIPY, name, (QUANTITY,), lambda t=tolerance: [with_scipy(run, t)])
    out += pinocchio_run.contenders(run, shop)
    for step in MUJOCO_QUICK if quick else MUJOCO_STEPS:
        out += attempt(MUJOCO, name, (QUANTITY,), lambda h=step: [with_mujoco(run, h)])
    for step in EXUDYN_QUICK if quick else EXUDYN_STEPS:
        out += attempt(EXUDYN, name, (QUANTITY,), lambda h=step: [with_exudyn(run, h)])
    for step in DRAKE_QUICK if quick else DRAKE_STEPS:
        out += attempt(DRAKE, name, (QUANTITY,), lambda h=step: [with_drake(run, h)])
    return out


def with_scipy(run: FreeRun, tolerance: float) -> Contender:
    """Pinocchio's constraintDynamics called from Python by scipy's solve_ivp."""
    version("scipy")
    p = converted(run.case)
    pin: Any = import_module("pinocchio")
    solve = import_module("scipy.integrate").solve_ivp
    model, data, settings = p.model, p.model.createData(), pin.ProximalSettings(*MU["constraintDynamics"])
    models = pin.StdVec_RigidConstraintModel(p.constraints)
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in p.constraints])
    pin.initConstraintDynamics(model, data, models, datas)
    state, n = run.case.state, model.nv
    tau, start = p.effort(state, {}), np.concatenate([p.q(state), p.v(state)])
    T = pinocchio_run.order(p, state)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        a = pin.constraintDynamics(model, data, y[:n], y[n:], tau, models, datas, settings)
        return np.concatenate([y[n:], a])

    def call() -> Any:
        return solve(rates, (0.0, run.duration), start, method="DOP853", rtol=tolerance, atol=tolerance, t_eval=[run.duration])

    done = call()
    end = done.y[:, -1]
    row = run.row(SCIPY, version("pin"), run.judged(T.T @ end[:n], T.T @ end[n:]), f"tolerance {tolerance:g}, {done.nfev} evaluations")
    return timed(row, call)


def with_mujoco(run: FreeRun, step: float) -> Contender:
    """All steps in one call of mj_step, loops as stiff as the step allows."""
    mujoco: Any = import_module("mujoco") if find_spec("mujoco") else None
    if mujoco is None:
        raise Unavailable("the package 'mujoco' is not installed")
    model, data, there = mujoco_loop.small_model(run.case, step)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    qpos, qvel, steps = data.qpos.copy(), data.qvel.copy(), round(run.duration / step)
    T, _ = there.rates(run.case.state)

    def call() -> float:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        return seconds_of(lambda: mujoco.mj_step(model, data, steps))

    first = call()
    row = run.row(MUJOCO, version("mujoco"), run.judged(T.T @ data.qpos, T.T @ data.qvel), f"step {step:g} s")
    return Contender(row, a_few_times(call, REPEATS, first))


def with_exudyn(run: FreeRun, step: float) -> Contender:
    """Constraints on velocity level, all steps in one call of the solver."""
    number, steps = needed("exudyn", "exudyn"), round(run.duration / step)
    way = exudyn_steps.fastest(run.case)
    first, built = exudyn_steps.run(run.case, steps, step, way)
    row = run.row(EXUDYN, number, run.judged(*exudyn_steps.angles(run.case, built)), f"step {step:g} s, index 2")
    return Contender(row, a_few_times(lambda: exudyn_steps.run(run.case, steps, step, way)[0], REPEATS, first))


def with_drake(run: FreeRun, step: float) -> Contender:
    """All discrete steps in one call of its simulator."""
    number, steps = needed("pydrake", "drake"), round(run.duration / step)
    plant = drake_steps.model(run.case, step)
    first, q, v = drake_steps.run(run.case, plant, steps, step)
    row = run.row(DRAKE, number, run.judged(q, v), f"step {step:g} s, first order")
    return Contender(row, a_few_times(lambda: drake_steps.run(run.case, plant, steps, step)[0], REPEATS, first))
