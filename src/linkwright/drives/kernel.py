"""The input kernel: the drives' equations traced once, checked against themselves on floats, compiled for the row of a run.

A trace cannot follow a Python function that branches on its arguments or keeps something in mind. Where tracing fails, or
where the trace and the function do not agree, the function is called back in every stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.callbacks import DEGENERATE, NOT_FINITE
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, for_row, interpret
from linkwright.drives.equations import Arrays, InputEquations
from linkwright.drives.law_cache import LawCache
from linkwright.errors import LinkwrightError, UsageError
from linkwright.integrators import StepKernel, python_kernel
from linkwright.numerics.scalars import minimum, where

AGREE = 1e-9  # between a trace and the function it was made from: round-off of long sums
LOOKS = ((0.0, 0.0), (0.013, 0.01), (0.37, 0.1), (2.9, 0.3))  # (seconds later, by how much the state is shaken)
HUGE = 1e300


class DriveTraces(NamedTuple):
    """Programs of what acts and of what is recorded, None where that cannot be traced."""

    inputs: Program | None
    record: Program | None


def traces(equations: InputEquations) -> DriveTraces:
    """Both from one trace: what they share, a controller's law above all, is worked out once."""
    if not equations.traceable:
        return DriveTraces(None, None)
    graph = TraceGraph()
    arrays = {k: graph.input(k, n) for k, n in equations.sizes.items()}
    return DriveTraces(*(_traced(equations, f, graph, arrays) for f in (equations.inputs, equations.record)))


def _traced(equations: InputEquations, function: Callable[[Arrays], np.ndarray], graph: TraceGraph, arrays: Arrays) -> Program | None:
    """The program of a function of the drives' arrays, or None; its last output is a margin that falls where a result is not
    finite or cannot be trusted."""
    try:
        found = function(arrays)
    except Exception:  # code of the user's meets traced values, and may fail in any way it likes
        return None
    outputs: list[tuple[str, Any]] = [("u", found)]
    total = sum(found, start=0.0)
    finite = where(abs(total) < HUGE, 1.0, -1.0) if hasattr(total, "where") else 1.0
    outputs.append(("margin", np.array([minimum(finite, equations.margin(arrays))], dtype=object)))
    return graph.program(outputs)


def cannot_be_traced(equations: InputEquations, f: Any) -> bool:
    """True if a function refuses traced values."""
    graph = TraceGraph()
    arrays = {k: graph.input(k, n) for k, n in equations.sizes.items()}
    try:
        f.at(equations.here(arrays))
    except Exception:  # as above
        return True
    return False


def agrees(equations: InputEquations, program: Program, start: dict[str, np.ndarray]) -> bool:
    """The trace against the functions themselves, at the start and in a few states beside it."""
    rng = np.random.default_rng(5)
    for later, shake in LOOKS:
        x = {k: a + shake * rng.standard_normal(a.shape) * (k in ("q", "v", "x", "held")) for k, a in start.items()}
        x["t"] = start["t"] + later
        try:
            direct = equations.inputs(x)
        except Exception:  # a function that ends there, or knows only states on the loops, is no reason to doubt it
            if later == 0.0:
                raise
            continue
        found = interpret(program, packed(equations, x))[: len(direct)]
        if not np.allclose(found, direct, rtol=AGREE, atol=AGREE * (1.0 + np.abs(direct).max(initial=0.0))):
            return False
    return True


def packed(equations: InputEquations, x: Arrays) -> np.ndarray:
    return np.concatenate([np.asarray(x[k], dtype=float) for k in equations.sizes], axis=-1)


def named(equations: InputEquations, spans: dict[str, slice], x: np.ndarray) -> dict[str, np.ndarray]:
    """The blocks drives read, from a row of a run, which may hold more states and leaves empty blocks out."""
    return {k: x[spans[k]][:n] if k in spans else np.zeros(0) for k, n in equations.sizes.items()}


def inputs_kernel(equations: InputEquations, program: Program | None, row: Any, key: Any = None) -> StepKernel:
    """Compiled, interpreted or called back; a result that is not finite is asked for again in Python, which says whose it is.
    The code is cached with the mechanism where the trace has a key."""

    def direct(x: np.ndarray) -> np.ndarray:
        return equations.inputs(named(equations, row.spans, x))

    if program is None:
        n_out = equations.sizes["v"] + 3 * sum(b.moves for b in equations.bounds) + equations.sizes["x"]
        return python_kernel(direct, row.n, n_out)
    there = for_row(program, row)

    def anyway(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # what a formula is beyond its own end is not asked for; what is not finite is refused
            return np.concatenate([direct(x), [1.0]])

    backup = python_kernel(anyway, row.n, there.n_out)
    if is_native(equations):
        place = None if key is None else ("code", key, tuple(row.sizes.items()))
        code = LawCache.of(equations.system).get(place, lambda: native.NativeCode.of(there))
        return StepKernel(row.n, code.n_out, code.one_address, workspace=code.work("one"), owner=code, backup=backup)

    def run(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
        found = interpret(there, x[: row.n])
        y[: there.n_out] = found
        status = 0 if np.isfinite(found).all() else NOT_FINITE
        return status if found[-1] > 0.0 else status | DEGENERATE

    return StepKernel(row.n, there.n_out, function=run, backup=backup)


def is_native(equations: InputEquations) -> bool:
    return equations.system.kernels.engine == "native" and native.available()


def check_pure(equations: InputEquations, start: dict[str, np.ndarray]) -> None:
    """A function that is called in every stage must give the same for the same."""
    here = equations.here(start)
    for f in equations.functions:
        try:
            f.at(here)
        except LinkwrightError:
            raise
        except Exception as error:
            raise UsageError(f"the {f.function.label} fails at the start of the run: {type(error).__name__}: {error}.") from error
        if not np.array_equal(np.asarray(f.at(here)), np.asarray(f.at(equations.here(start)))):
            raise UsageError(
                f"the {f.function.label} gives different values for the same arguments. An integrator asks several times for every step "
                "and may ask again: it must depend on its arguments only. With every='1 ms' it is called once per sample and may remember."
            )
