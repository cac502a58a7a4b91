"""Adaptive loops of order 8(5,3) in C++ around Pinocchio: its constraintDynamics, and the C code casadi writes from its terms.

The first is the fastest an engine with loops gets without generating code, the second what an expert builds in a day. The loop
is native/adaptive_loop.hpp; the sums of its stages are written from our own table of the method, zeros left out. Step control
as in DOP853: errors against tolerance (1 + |y|), the last stage being the first of the next step. Loops are not corrected.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks import casadi_code
from benchmarks.bench.cases import BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.free_run import QUANTITY, FreeRun
from benchmarks.pinocchio_cpp import converted, model_file, program
from benchmarks.workshop import NATIVE, Conversation, Workshop, version
from linkwright.integrators import INTEGRATORS
from linkwright.results.state import State
from linkwright.rings.exchange import PinocchioModel

ENGINE, GENERATED = "Pinocchio C++ + C++ DOP853", "casadi C code + C++ DOP853"
TOLERANCES = (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)


def contenders(run: FreeRun, shop: Workshop) -> list[Contender | BenchRow]:
    """Both loops at several tolerances."""
    out = attempt(ENGINE, run.case.name, (QUANTITY,), lambda: _engine(run, shop))
    return out + attempt(GENERATED, run.case.name, (QUANTITY,), lambda: _generated(run, shop))


def _engine(run: FreeRun, shop: Workshop) -> list[Contender]:
    number, p = version("pin"), converted(run.case)
    talk = shop.talk([str(run_program(shop)), str(model_file(run.case, p, shop))])
    return _asked(run, p, talk, ENGINE, number, "")


def _generated(run: FreeRun, shop: Workshop) -> list[Contender]:
    number, p = version("casadi"), converted(run.case)
    f = casadi_code.forward_function(run.case, p, casadi_code.terms(run.case, p, shop), "best order")
    source = shop.directory / f"{run.case.name}-run.c"
    source.write_text(casadi_code.c_code(f), encoding="utf-8")
    library = shop.build("c", [source], [*casadi_code.FLAGS[0], "-shared", "-fPIC"], libraries=["-lm"], suffix=".so")
    start = [repr(float(x)) for x in (*p.q(run.case.state), *p.v(run.case.state))]
    return _asked(run, p, shop.talk([str(generated_program(shop)), str(library), *start]), GENERATED, number, "gcc -Ofast, ")


def _asked(run: FreeRun, p: PinocchioModel, talk: Conversation, engine: str, number: str, more: str) -> list[Contender]:
    n, T = p.model.nv, order(p, run.case.state)
    out = []
    for tolerance in TOLERANCES:
        question = f"{tolerance:g} {run.duration!r}"
        _, steps, evaluations, *end = talk.ask(f"{question} 0.0")
        judged = run.judged(T.T @ end[:n], T.T @ end[n:])
        row = run.row(engine, number, judged, f"{more}tolerance {tolerance:g}, {steps:.0f} steps, {evaluations:.0f} evaluations")
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
    headers = [sums_file(shop), NATIVE / "adaptive_loop.hpp"]
    return program(shop, "pinocchio_run.cpp", ["-O3", "-march=native", f"-I{shop.directory}"], headers=headers)


def generated_program(shop: Workshop) -> Path:
    sources = [NATIVE / "generated_run.cpp", NATIVE / "adaptive_loop.hpp", sums_file(shop)]
    return shop.build("c++", sources, ["-std=c++17", "-w", "-O3", "-march=native", f"-I{shop.directory}"], libraries=["-ldl"])


def sums_file(shop: Workshop) -> Path:
    header = shop.directory / "dopri8_sums.hpp"
    header.write_text(sums_text(), encoding="utf-8")
    return header


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
