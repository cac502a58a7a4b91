"""Pinocchio's constraintDynamics inside a DOP853 loop, all in C++: the fastest an engine with loops gets without generating code.

The loop is native/pinocchio_run.cpp; the sums of its stages are written from our own table of the method, zeros left out.
Step control as in DOP853: errors against tolerance (1 + |y|), the last stage being the first of the next step.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from linkwright.bench.cases import Contender, Row, Unavailable, attempt
from linkwright.bench.free_run import QUANTITY, FreeRun
from linkwright.bench.pinocchio_cpp import converted, model_file, program
from linkwright.bench.workshop import Workshop, version
from linkwright.converters import PinocchioModel
from linkwright.integrators import INTEGRATORS
from linkwright.state import State

ENGINE = "Pinocchio C++ + C++ DOP853"
TOLERANCES = (1e-8, 1e-9, 1e-10, 1e-12)


def contenders(run: FreeRun, shop: Workshop) -> list[Contender | Row]:
    return attempt(ENGINE, run.case.name, (QUANTITY,), lambda: _all(run, shop))


def _all(run: FreeRun, shop: Workshop) -> list[Contender]:
    number, p = version("pin"), converted(run.case)
    n, T = p.model.nv, order(p, run.case.state)
    talk = shop.talk([str(run_program(shop)), str(model_file(run.case, p, shop))])
    out = []
    for tolerance in TOLERANCES:
        question = f"{tolerance:g} {run.duration!r}"
        _, steps, evaluations, *end = talk.ask(f"{question} 0.0")
        judged = run.judged(T.T @ end[:n], T.T @ end[n:])
        row = run.row(ENGINE, number, judged, f"tolerance {tolerance:g}, {steps:.0f} steps, {evaluations:.0f} evaluations")
        out.append(Contender(row, lambda seconds, q=question: talk.ask(f"{q} {seconds}")[0]))
    return out


def order(p: PinocchioModel, state: State) -> np.ndarray:
    """The matrix that puts our coordinates into Pinocchio's order, where they differ in nothing else."""
    T = np.array([p.v(p.system.state(state.q, e)) for e in np.eye(p.system.tree.nv)]).T
    if (
        p.model.nq != p.model.nv
        or not np.array_equal(np.abs(T).sum(axis=0), np.ones(len(T)))
        or not np.array_equal(T @ state.q, p.q(state))
    ):
        raise Unavailable("only mechanisms of pins and slides are integrated")
    return T


def run_program(shop: Workshop) -> Path:
    header = shop.directory / "dopri8_sums.hpp"
    text = sums_text()
    if not header.exists() or header.read_text(encoding="utf-8") != text:
        header.write_text(text, encoding="utf-8")
    return program(shop, "pinocchio_run.cpp", ["-O3", "-march=native", f"-I{shop.directory}"], headers=[header])


# -------------------------------------------------------------------- the method as C++


def sums_text() -> str:
    """One function per row of the table: what is added to the state, and both estimates of the error."""
    t = INTEGRATORS["dopri8"].table
    fifth, third = t.error
    cases = [f"    case {i}: LINKWRIGHT_SUM({_sum(t.a[i])}) break;" for i in range(1, t.stages + 1)]
    lines = [
        "// Sums of the stages of Dormand and Prince's method 8(5,3), written from linkwright.integrators.dopri.",
        "#pragma once",
        f"constexpr int STAGES = {t.stages};",
        f"constexpr double NODES[] = {{{', '.join(repr(float(x)) for x in t.c[: t.stages + 1])}}};",
        "#define LINKWRIGHT_SUM(expression) for (int i = 0; i < n; ++i) x[i] = y[i] + h * (expression);",
        "static inline void stage(int row, int n, double h, const double * y, double (*k)[WIDTH], double * x)",
        *("{", "  switch (row)", "  {", *cases, "  }", "}"),
        f"static inline double error_fifth(double (*k)[WIDTH], int i) {{ return {_sum(fifth)}; }}",
        f"static inline double error_third(double (*k)[WIDTH], int i) {{ return {_sum(third)}; }}",
    ]
    return "\n".join(lines) + "\n"


def _sum(row: Iterable[float]) -> str:
    return " + ".join(f"{float(x)!r} * k[{j}][i]" for j, x in enumerate(row) if x)
