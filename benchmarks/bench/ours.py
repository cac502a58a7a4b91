"""Our own kernels as contenders: forward and inverse dynamics of one state in a native loop, per Python call, and in batches.

Everything goes through `System.kernel(name)`. A kernel on a batch is timed as a user calls it, with all cores, and once more on one
core, so that lanes and threads can be compared.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bench.cases import BenchCase, BenchRow, Contender, Unavailable, attempt
from benchmarks.bench.clocks import best_call
from linkwright import __version__
from linkwright.compiler.timing import time_aosoa
from linkwright.errors import LinkwrightError
from linkwright.system.system import System

ENGINE = "linkwright"
BATCH = 4096
LARGE_BATCH = 65_536  # for all cores: small batches are not worth a second thread
NOTES = {
    "": "",
    " call": "from Python, with arrays",
    " batch, in lanes": "per state, one core, data already in blocks of eight states",
    " batch, one core": f"per state, {BATCH} states",
    " batch": f"per state, {LARGE_BATCH} states, all cores",
}


def kernel(system: System, name: str) -> Any:
    """A kernel of a system as native code; without, there is nothing to time."""
    k = system.kernel(name)
    if not k.native:
        raise Unavailable("native code needs the package llvmlite (pip install llvmlite)")
    return k


def contenders(case: BenchCase) -> list[Contender | BenchRow]:
    """Forward and inverse dynamics of our kernels on a case."""
    out: list[Contender | BenchRow] = []
    given = {"forward": (case.state.q, case.state.v, case.efforts), "inverse": (case.state.q, case.state.v, case.a)}
    for name, inputs in given.items():
        out += attempt(ENGINE, case.name, tuple(name + kind for kind in NOTES), lambda n=name, x=inputs: _of_kernel(case, n, x))
    out += attempt(ENGINE, case.name, ("derivatives",), lambda: _derivatives(case))
    return out


def _derivatives(case: BenchCase) -> list[Contender]:
    """Values with all derivatives by q, v and tau."""
    inputs = (case.state.q, case.state.v, case.efforts)
    k = kernel(case.system, "derivatives")
    note = "a, lam and their derivatives by q, v, tau"
    row = BenchRow(ENGINE, __version__, case.name, "derivatives", accuracy=case.error(k(*inputs).a), operations=k.operations, note=note)
    return [Contender(row, lambda seconds: k.time(*inputs))]


def _of_kernel(case: BenchCase, name: str, inputs: tuple[np.ndarray, ...]) -> list[Contender]:
    k = kernel(case.system, name)
    row = BenchRow(ENGINE, __version__, case.name, name, accuracy=_error(case, name, k(*inputs)), operations=k.operations)
    many, lots = (tuple(np.tile(x, (n, 1)) for x in inputs) for n in (BATCH, LARGE_BATCH))
    values = {**case.system.kernels.defaults, "q": many[0], "v": many[1], "tau": many[2], "a": many[2]}
    every = [values[b.name] for b in k.inputs]
    row_of = np.concatenate([np.ravel(x[0] if len(x) == BATCH else x) for x in every])
    blocks = np.tile(row_of[None, :, None], (64, 1, 8))
    error = _error(case, name, type(k(*inputs))(*(y[-1] for y in k(*many))))
    clocks = {
        "": lambda seconds: k.time(*inputs),
        " call": lambda seconds: best_call(lambda: k(*inputs), seconds),
        " batch, in lanes": lambda seconds: time_aosoa(k.code.aosoa_address, blocks, k.code.n_out, k.code.work("many")),
        " batch, one core": lambda seconds: best_call(lambda: k.code.call_many(every, 1), seconds) / BATCH,
        " batch": lambda seconds: best_call(lambda: k(*lots), seconds) / LARGE_BATCH,
    }
    rows = {
        kind: replace(row, quantity=name + kind, note=note, accuracy=error if "batch" in kind else row.accuracy)
        for kind, note in NOTES.items()
    }
    return [Contender(rows[kind], clock) for kind, clock in clocks.items()]


def _error(case: BenchCase, name: str, result: Any) -> float:
    """Against the float path: accelerations, or the drive torques and forces that caused them."""
    if name == "forward":
        return case.error(result.a)
    drives = [d.joint for d in case.system.description.drives]
    return case.effort_error([result.u[drives.index(drive)] for drive in case.tau])


# -------------------------------------------------------------------- growth with the number of loops


def scaling_rows(loops: int, system: System, state: tuple[np.ndarray, np.ndarray]) -> list[BenchRow]:
    """Time per loop and compile time per loop of a chain of N loops."""
    name = f"parallelogram-chain N={loops}"
    q, v = state
    rest = np.zeros(len(v))
    try:
        start = time.perf_counter()
        k = kernel(system, "forward")
        k(q, v, rest)
        built = time.perf_counter() - start
        forward = BenchRow(ENGINE, __version__, name, "forward per loop", ns=k.time(q, v, rest) / loops, operations=k.operations)
        return [forward, BenchRow(ENGINE, __version__, name, "compile per loop", ns=1e9 * built / loops)]
    except (Unavailable, LinkwrightError) as problem:
        quantities = ("forward per loop", "compile per loop")
        return [BenchRow(ENGINE, __version__, name, quantity, note=f"not measured: {problem}") for quantity in quantities]
