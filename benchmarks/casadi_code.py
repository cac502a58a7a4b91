"""C code by casadi from Pinocchio's equations, as fast as an expert gets it: the strongest competitor.

Pinocchio's rnea, crba and Jacobians run on casadi's symbols (its wheel has no Python module for that, so a small C++ program
on its headers writes the expressions); the linear systems are eliminated symbolically, zeros left out; gcc -Ofast compiles
the C code for this CPU. Forward dynamics comes in two orders of elimination: inertias first, as everybody writes it, and
the order with the fewest operations. The faster of two sets of flags counts. Tests for missing arguments, which casadi
writes around every input and output, are taken out.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import symbolic
from benchmarks.bench.cases import BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.pinocchio_cpp import converted, model_file, program, their_acceleration
from benchmarks.workshop import Workshop, version
from linkwright.rings.exchange import PinocchioModel

ENGINE = "casadi"
FLAGS = (("-Ofast", "-march=native"), ("-Ofast", "-march=native", "-fno-tree-slp-vectorize"))
ORDERS = {"inertias first": "standard order", "best order": "fewest operations"}


class Terms(NamedTuple):
    """Pinocchio's equations on symbols: M a + h = tau + J' lam, J a + k = 0, and rnea(q, v, a)."""

    q: Any
    v: Any
    a: Any
    M: Any
    h: Any
    J: Any
    k: Any
    rnea: Any


def contenders(case: BenchCase, shop: Workshop) -> list[Contender | BenchRow]:
    """Forward dynamics in two orders of elimination, inverse dynamics with drive efforts and loop forces."""
    known: list[tuple[PinocchioModel, Terms]] = []

    def started() -> tuple[PinocchioModel, Terms]:
        if not known:
            p = converted(case)
            known.append((p, terms(case, p, shop)))
        return known[0]

    out: list[Contender | BenchRow] = []
    for name in ORDERS:
        out += attempt(f"{ENGINE}, {name}", case.name, ("forward",), lambda n=name: [forward(case, *started(), n, shop)])
    return out + attempt(ENGINE, case.name, ("inverse",), lambda: [inverse(case, *started(), shop)])


def terms_program(shop: Workshop) -> Path:
    """The program that writes Pinocchio's equations as casadi's expressions; it is run once, so it need not be fast."""
    spec = find_spec("casadi")
    if spec is None or spec.origin is None:
        raise Unavailable("the package 'casadi' is not installed")
    home = Path(spec.origin).parent
    include, link = f"-I{home / 'include'}", [f"-L{home}", "-lcasadi", f"-Wl,-rpath,{home}"]
    return program(shop, "pinocchio_terms.cpp", ["-O0", include], link)


def terms(case: BenchCase, p: PinocchioModel, shop: Workshop) -> Terms:
    """Expressions of a mechanism, written by native/pinocchio_terms.cpp and read here."""
    writer, ca = terms_program(shop), import_module("casadi")
    path = shop.directory / f"{case.name}.casadi"
    done = subprocess.run([str(writer), str(model_file(case, p, shop)), str(path)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Unavailable(f"Pinocchio's equations could not be written: {done.stderr.strip()[:200]}")
    f = ca.Function.load(str(path))
    q, v, a = (ca.SX.sym(name, f.size1_in(i)) for i, name in enumerate("qva"))
    M, h, J, k, rnea = f(q, v, a)
    return Terms(q, v, a, ca.sparsify(M), h, ca.sparsify(J), k, rnea)


def entries(matrix: Any) -> dict[tuple[int, int], Any]:
    """Nonzero entries of a casadi matrix."""
    rows, cols = matrix.sparsity().get_triplet()
    return {(i, j): matrix[i, j] for i, j in zip(rows, cols, strict=True)}


def column(vector: Any) -> list[Any]:
    return [vector[i] for i in range(vector.size1())]


def forward_function(case: BenchCase, p: PinocchioModel, t: Terms, order: str) -> Any:
    """(a, lam) from (q, v, tau) by elimination of [M J'; J 0]."""
    ca = import_module("casadi")
    nv, rows = t.v.size1(), t.J.size1()
    tau = ca.SX.sym("tau", nv)
    K = symbolic.saddle(entries(t.M), entries(t.J), nv)
    if order == "best order":
        numbers = ca.Function("K", [t.q], [ca.blockcat([[t.M, t.J.T], [t.J, ca.SX(rows, rows)]])])(p.q(case.state)).full()
        pivots = symbolic.elimination_order(np.asarray(numbers), K, nv)
    else:
        pivots = symbolic.inertias_first(nv, rows)
    x = symbolic.solve_symmetric(K, column(ca.vertcat(tau - t.h, -t.k)), pivots)
    return ca.Function("forward", [t.q, t.v, tau], [ca.vertcat(*x[:nv]), ca.vertcat(*x[nv:])])


def forward(case: BenchCase, p: PinocchioModel, t: Terms, order: str, shop: Workshop) -> Contender:
    """The function as machine code, to be timed."""
    f = forward_function(case, p, t, order)
    inputs = (p.q(case.state), p.v(case.state), p.effort(case.state, dict(case.tau)))
    row = BenchRow(f"{ENGINE}, {order}", version("casadi"), case.name, "forward", note="Pinocchio's terms, gcc -Ofast")
    return compiled(f, inputs, shop, row, lambda out: case.error(p.acceleration(case.state, out)))


def inverse(case: BenchCase, p: PinocchioModel, t: Terms, shop: Workshop) -> Contender:
    """(drive torques and forces, lam) from (q, v, a): J' lam balances rnea on the passive joints, the drives take the rest."""
    ca = import_module("casadi")
    driven = [p.model.joints[p.model.getJointId(name)].idx_v for name in case.tau]
    passive = [i for i in range(t.v.size1()) if i not in driven]
    if len(passive) != t.J.size1():
        raise Unavailable("the drives are not as many as the degrees of freedom")
    A = t.J[:, passive].T
    numbers = np.asarray(ca.Function("A", [t.q], [A])(p.q(case.state)).full())
    lam = ca.vertcat(*symbolic.solve_general(entries(A), column(t.rnea[passive]), numbers))
    f = ca.Function("inverse", [t.q, t.v, t.a], [t.rnea[driven] - ca.mtimes(t.J[:, driven].T, lam), lam])
    inputs = (p.q(case.state), p.v(case.state), their_acceleration(case, p))
    row = BenchRow(ENGINE, version("casadi"), case.name, "inverse", note="Pinocchio's terms, drive efforts and loop forces, gcc -Ofast")
    return compiled(f, inputs, shop, row, case.effort_error)


# -------------------------------------------------------------------- C code


def c_code(f: Any) -> str:
    """casadi's C code of a function, without its tests for missing inputs and outputs."""
    writer = import_module("casadi").CodeGenerator("code.c")
    writer.add(f)
    bare = re.sub(r"arg\[(\d+)\]\? arg\[\1\]\[(\d+)\] : 0", r"arg[\1][\2]", writer.dump())
    return re.sub(r"if \(res\[\d+\]!=0\) ", "", bare)


def compiled(f: Any, inputs: tuple[np.ndarray, ...], shop: Workshop, row: BenchRow, error: Callable[[np.ndarray], float]) -> Contender:
    """The function as machine code, the faster of the sets of flags counting; `error` judges its first output."""
    source = shop.directory / f"{row.mechanism}-{row.engine}-{row.quantity}.c".replace(", ", "-").replace(" ", "-")
    source.write_text(c_code(f), encoding="utf-8")
    given = [np.ascontiguousarray(x, dtype=float) for x in inputs]
    found = [np.zeros(f.nnz_out(i)) for i in range(f.n_out())]
    arg, res = ((ctypes.c_void_p * len(xs))(*(x.ctypes.data for x in xs)) for xs in (given, found))
    loop = shop.timing_loop("best_of_generated")
    codes = [ctypes.cast(getattr(shop.library(source, flags), f.name()), ctypes.c_void_p) for flags in FLAGS]

    def run(seconds: float, _memory: Any = (given, found)) -> float:  # the memory behind the pointers lives as long as this
        return min(loop(code, arg, res, seconds / len(codes)) for code in codes)

    run(0.0)
    return Contender(replace(row, accuracy=error(found[0]), operations=f.n_instructions()), run)
