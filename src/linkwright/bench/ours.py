"""Our own kernels as contenders: forward and inverse dynamics of one state in a native loop, per Python call, and in batches.

Everything here goes through `System.kernel(name)`: called with arrays it gives its results by name, `program.operations` counts,
`time_one` times it in a loop of machine code, and rows of arrays are a batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwright import __version__
from linkwright.bench.cases import Case, Contender, Row, Unavailable, attempt
from linkwright.bench.mujoco_loop import best_call
from linkwright.errors import LinkwrightError
from linkwright.system import System

ENGINE = "linkwright"
BATCH = 4096


def kernel(system: System, name: str) -> Any:
    """A kernel of a system, or the reason why there is none."""
    make: Callable[[str], Any] | None = getattr(system, "kernel", None)
    if make is None:
        raise Unavailable("this version has no kernels")
    return make(name)


def contenders(case: Case) -> list[Contender | Row]:
    """Forward and inverse dynamics of our kernels on a case."""
    out: list[Contender | Row] = []
    quantities = {"forward": (case.state.q, case.state.v, case.efforts), "inverse": (case.state.q, case.state.v, case.a)}
    for name, inputs in quantities.items():
        names = (name, f"{name} call", f"{name} batch")
        out += attempt(ENGINE, case.name, names, lambda n=name, x=inputs: _of_kernel(case, n, x))
    return out


def _of_kernel(case: Case, name: str, inputs: tuple[np.ndarray, ...]) -> list[Contender]:
    k = kernel(case.system, name)
    error = _error(case, name, k(*inputs))
    batches = tuple(np.tile(x, (BATCH, 1)) for x in inputs)
    k(*batches)
    row = Row(ENGINE, __version__, case.name, name, accuracy=error, operations=k.program.operations)
    return [
        Contender(row, lambda seconds: k.time_one(*inputs)),
        Contender(_as(row, "call", "from Python, with arrays"), lambda seconds: best_call(lambda: k(*inputs), seconds)),
        Contender(
            _as(row, "batch", f"per state, {BATCH} states, all cores"), lambda seconds: best_call(lambda: k(*batches), seconds) / BATCH
        ),
    ]


def _as(row: Row, kind: str, note: str) -> Row:
    return Row(row.engine, row.version, row.mechanism, f"{row.quantity} {kind}", accuracy=row.accuracy, note=note)


def _error(case: Case, name: str, result: Any) -> float:
    """Against the float path: accelerations, or the efforts that caused them."""
    if name == "forward":
        return case.error(result.a)
    return case.effort_error([result.tau[drive] for drive in case.tau])


# -------------------------------------------------------------------- growth with the number of loops


def scaling_rows(loops: int, system: System, state: tuple[np.ndarray, np.ndarray]) -> list[Row]:
    """Time and compile time per loop of a chain of N loops."""
    name = f"parallelogram-chain N={loops}"
    try:
        start = time.perf_counter()
        k = kernel(system, "forward")
        q, v = state
        rest = np.zeros(len(v))
        k(q, v, rest)
        built = time.perf_counter() - start
        forward = Row(ENGINE, __version__, name, "forward per loop", ns=k.time_one(q, v, rest) / loops, operations=k.program.operations)
        return [forward, Row(ENGINE, __version__, name, "compile per loop", ns=1e9 * built / loops)]
    except (Unavailable, LinkwrightError) as problem:
        return [Row(ENGINE, __version__, name, q, note=f"not measured: {problem}") for q in ("forward per loop", "compile per loop")]
