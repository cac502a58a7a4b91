"""Other programs on the same mechanisms: which there are, and what each offers to be timed.

`Peers` is what `linkwright bench --peers` opens; `offered(case, shop)` asks all programs. A program that is not installed, a compiler
that is missing or a failure gives a row with the reason in place of a figure.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import TracebackType
from typing import Any

from benchmarks import casadi_code, drake_steps, exudyn_steps, mujoco_loop, pinocchio_cpp, run_peers
from benchmarks.bench.cases import BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.clocks import best_call
from benchmarks.bench.free_run import FreeRun
from benchmarks.pinocchio_cpp import MU
from benchmarks.workshop import Workshop, version

PYTHON = "Pinocchio Python"


class Peers:
    """All programs and their workshop; a context manager that ends the processes it started."""

    def __init__(self, build: str | os.PathLike[str] | None, say: Callable[[str], None]):
        self.shop = Workshop(build, say)

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.shop.__exit__(kind, value, trace)

    def prepare(self) -> None:
        """Compile the programs shared by all mechanisms."""
        prepare(self.shop)

    def on_case(self, case: BenchCase) -> list[Contender | BenchRow]:
        """Return contenders on one state of a mechanism, and rows with the reason where there is none."""
        return offered(case, self.shop)

    def on_run(self, run: FreeRun, quick: bool) -> list[Contender | BenchRow]:
        """Return the same for a whole simulation."""
        return run_peers.offered(run, self.shop, quick)


def offered(case: BenchCase, shop: Workshop) -> list[Contender | BenchRow]:
    """Everything the other programs can do on a mechanism, checked and ready to be timed, and what they cannot with the reason."""
    out: list[Contender | BenchRow] = []
    accelerating = (casadi_code.contenders, pinocchio_cpp.contenders, pinocchio_python, mujoco_loop.contenders)
    for peer in (*accelerating, exudyn_steps.contenders, drake_steps.contenders):
        out += peer(case, shop)
    return out


def prepare(shop: Workshop) -> None:
    """Compile the two C++ programs side by side; a missing program is reported later, by those who need it."""
    with ThreadPoolExecutor(2) as pool:
        builds = [pool.submit(make, shop) for make in (pinocchio_cpp.timing_program, casadi_code.terms_program)]
    for build in builds:
        build.exception()


def pinocchio_python(case: BenchCase, shop: Workshop) -> list[Contender | BenchRow]:
    """Pinocchio's functions called from Python with arrays."""
    out: list[Contender | BenchRow] = []
    for algorithm in MU:
        out += attempt(f"{PYTHON} {algorithm}", case.name, ("forward call",), lambda a=algorithm: [_python_call(case, a)])
    return out


def _python_call(case: BenchCase, algorithm: str) -> Contender:
    p = pinocchio_cpp.converted(case)
    pin: Any = import_module("pinocchio")
    if not hasattr(pin, algorithm):
        raise Unavailable(f"this version of Pinocchio has no {algorithm}")
    data, settings = p.model.createData(), pin.ProximalSettings(*MU[algorithm])
    models = pin.StdVec_RigidConstraintModel(p.constraints)
    datas = pin.StdVec_RigidConstraintData([c.createData() for c in p.constraints])
    if algorithm == "lcaba":
        pin.computeJointMinimalOrdering(p.model, data, models)
    else:
        pin.initConstraintDynamics(p.model, data, models, datas)
    q, v, tau = p.q(case.state), p.v(case.state), p.effort(case.state, dict(case.tau))
    function = getattr(pin, algorithm)

    def call() -> Any:
        return function(p.model, data, q, v, tau, models, datas, settings)

    row = BenchRow(
        f"{PYTHON} {algorithm}", version("pin"), case.name, "forward call", accuracy=case.error(p.acceleration(case.state, call()))
    )
    return Contender(row, lambda seconds: best_call(call, seconds))
