"""Analytic systems on complex lanes: Newton steps and slopes of F(x; p) = 0 in machine code, for path tracking.

F is traced once on real symbols. Its Jacobian rows come from reverse mode; every operation is then written for a pair (real and imaginary
part), and the linear system is solved by elimination with partial pivoting, whose exchanges of rows are selections, so that each of eight
paths in a lane has its own pivots. Without native code the same program is evaluated by numpy on complex arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwright.compiler import native
from linkwright.compiler.derivatives import gradient, places, replay
from linkwright.compiler.graph import Sym, TraceGraph, TracingError, trace
from linkwright.compiler.program import Op, Program
from linkwright.numerics.scalars import where
from linkwright.numerics.tracking import NewtonSolve, solved

ComplexPair = tuple[Any, Any]  # real and imaginary part: numbers or Syms

_CHUNK = 512  # paths at once in a native call: inputs and outputs stay in the cache


def linearized(program: Program, unknowns: str = "x", parameters: str = "p") -> Program:
    """The program of F, F_x and F_p dp, of inputs x, p, dp; the program given has outputs that together are F."""
    shapes = {b.name: b.size for b in program.inputs}
    n, k = shapes[unknowns], shapes[parameters]
    at_x, at_p = places(program, unknowns), places(program, parameters)

    def derived(x: np.ndarray, p: np.ndarray, dp: np.ndarray) -> dict[str, np.ndarray]:
        packed = np.empty(program.n_in, dtype=object)
        packed[at_x], packed[at_p] = x, p
        results: list[Any] = []
        jacobian, along = np.zeros((program.n_out, n), dtype=object), np.zeros(program.n_out, dtype=object)
        for i in range(program.n_out):
            results, pulls = gradient(program, packed, {i: 1.0})
            jacobian[i] = [pulls[j] for j in at_x]
            along[i] = sum((pulls[j] * d for j, d in zip(at_p, dp, strict=True) if not _is_zero(pulls[j])), 0.0)
        return {"F": np.array(results, dtype=object), "J": jacobian, "along": along}

    return trace(derived, x=n, p=k, dp=k)


def newton_program(program: Program, unknowns: str = "x", parameters: str = "p") -> Program:
    """The real program of the complex Newton step and slope: inputs x, p, dp and outputs step, slope are pairs (real, imaginary)."""
    whole = linearized(program, unknowns, parameters)
    n = program.n_out
    spans = {b.name: b.span for b in whole.outputs}
    graph = TraceGraph()
    inputs = [graph.input(b.name, (b.size, 2)) for b in whole.inputs]
    results = complexified(whole, [(row[0], row[1]) for block in inputs for row in block])
    rows = [
        [*results[spans["J"]][i * n : (i + 1) * n], results[spans["F"]][i], results[spans["along"]][i]]
        for i in range(n)
    ]  # fmt: skip
    found = pivoted_solution([_scaled_row(row, n) for row in rows], n)
    out = np.array([[[-part for part in found[i][c]] for i in range(n)] for c in (0, 1)], dtype=object)
    return graph.program([("step", out[0]), ("slope", out[1])])


def complexified(program: Program, inputs: list[ComplexPair]) -> list[ComplexPair]:
    """Results of an analytic program on complex inputs, all as pairs."""
    values: list[ComplexPair] = []
    for op, a, b, _ in program.ops:
        if op == Op.CONST:
            values.append((a, 0.0))
        elif op == Op.INPUT:
            values.append(inputs[a])
        else:
            values.append(_operation(op, values[a], values[b] if b >= 0 else (0.0, 0.0)))
    return [values[r] for r in program.results]


def _operation(op: int, u: ComplexPair, w: ComplexPair) -> ComplexPair:
    match op:
        case Op.ADD:
            return u[0] + w[0], u[1] + w[1]
        case Op.SUB:
            return u[0] - w[0], u[1] - w[1]
        case Op.NEG:
            return -u[0], -u[1]
        case Op.MUL:
            return _product(u, w)
        case Op.DIV:
            return _product(u, _reciprocal(w))
        case Op.SIN | Op.COS:
            sine, cosine = np.sin(u[0]), np.cos(u[0])
            grow, decay = np.exp(u[1]), np.exp(-u[1])
            cosh, sinh = 0.5 * (grow + decay), 0.5 * (grow - decay)
            return (sine * cosh, cosine * sinh) if op == Op.SIN else (cosine * cosh, -(sine * sinh))
        case Op.EXP:
            size = np.exp(u[0])
            return size * np.cos(u[1]), size * np.sin(u[1])
    raise TracingError(
        f"a system for path tracking is made of + - * / sin cos exp. {Op(op).name.lower()} is not analytic or not available."
    )


def _product(u: ComplexPair, w: ComplexPair) -> ComplexPair:
    return u[0] * w[0] - u[1] * w[1], u[0] * w[1] + u[1] * w[0]


def _reciprocal(w: ComplexPair) -> ComplexPair:
    inverse = 1.0 / (w[0] * w[0] + w[1] * w[1])
    return w[0] * inverse, -(w[1] * inverse)


def _is_zero(x: Any) -> bool:
    return not isinstance(x, Sym) and x == 0.0


# ---------------------------------------------------------------- elimination


def _scaled_row(row: list[ComplexPair], n: int) -> list[ComplexPair]:
    """A row divided by its largest part among the first n entries."""
    parts = [abs(part) for pair in row[:n] for part in pair if not _is_zero(part)]
    symbols, numbers = [part for part in parts if isinstance(part, Sym)], [part for part in parts if not isinstance(part, Sym)]
    largest: Any = max(numbers) if numbers and not symbols else symbols[0]
    for part in [*symbols[1:], *([max(numbers)] if numbers and symbols else [])]:
        largest = largest.maximum(part)
    scale = 1.0 / largest
    return [(u[0] * scale, u[1] * scale) for u in row]


def pivoted_solution(rows: list[list[ComplexPair]], n: int) -> list[list[ComplexPair]]:
    """The solutions of n equations, rows of n coefficients and any number of right sides, by elimination with partial pivoting."""
    rows = [list(row) for row in rows]
    inverses: list[ComplexPair] = []
    for k in range(n):
        sizes = [rows[i][k][0] * rows[i][k][0] + rows[i][k][1] * rows[i][k][1] for i in range(k, n)]
        for i in range(k + 1, n):  # the largest entry moves up to row k
            larger = sizes[0] < sizes[i - k]
            for j in range(k, len(rows[k])):
                upper, lower = rows[k][j], rows[i][j]
                rows[k][j] = (where(larger, lower[0], upper[0]), where(larger, lower[1], upper[1]))
                rows[i][j] = (where(larger, upper[0], lower[0]), where(larger, upper[1], lower[1]))
            sizes[0] = where(larger, sizes[i - k], sizes[0])
        inverse = (rows[k][k][0] / sizes[0], -(rows[k][k][1] / sizes[0]))
        inverses.append(inverse)
        for i in range(k + 1, n):
            factor = _product(rows[i][k], inverse)
            for j in range(k + 1, len(rows[k])):
                share = _product(factor, rows[k][j])
                rows[i][j] = (rows[i][j][0] - share[0], rows[i][j][1] - share[1])
    for k in reversed(range(n)):
        for j in range(n, len(rows[k])):
            total = rows[k][j]
            for i in range(k + 1, n):
                share = _product(rows[k][i], rows[i][j])
                total = (total[0] - share[0], total[1] - share[1])
            rows[k][j] = _product(total, inverses[k])
    return [row[n:] for row in rows]


# ---------------------------------------------------------------- callables for the tracker


def newton_kernel(program: Callable[[], Program], name: list[Any], *, compiled: bool | None = None) -> NewtonSolve:
    """Return the Newton step and slope of a traced system F(x; p) as `numerics.tracking` takes it.

    `program()` traces F with inputs x and p; `name` is JSON-like and identifies it in the cache of machine code. `compiled` False evaluates
    with numpy, None as available.
    """
    if not (native.available() if compiled is None else compiled):
        return _interpreted(program())
    code = native.load(["newton", 1, *name], lambda: newton_program(program()))

    def solve(x: np.ndarray, p: np.ndarray, dp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        step, slope = np.empty(x.shape, dtype=complex), np.empty(x.shape, dtype=complex)
        p, dp = np.broadcast_to(p, (len(x), p.shape[-1])), np.broadcast_to(dp, (len(x), dp.shape[-1]))
        for at in range(0, len(x), _CHUNK):
            part = slice(at, at + _CHUNK)
            found, _ = code.call_many([_pairs(x[part]), _pairs(p[part]), _pairs(dp[part])])
            step[part], slope[part] = (y.view(complex)[..., 0] for y in found)
        return step, slope

    return solve


def _pairs(z: np.ndarray) -> np.ndarray:
    z = np.ascontiguousarray(z, dtype=complex)
    return z.view(float).reshape(*z.shape, 2)


def _interpreted(program: Program) -> NewtonSolve:
    """The same by numpy and LAPACK."""
    whole, n = linearized(program), program.n_out
    spans = {b.name: b.span for b in whole.outputs}

    def solve(x: np.ndarray, p: np.ndarray, dp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, dp = np.broadcast_to(p, (len(x), p.shape[-1])), np.broadcast_to(dp, (len(x), dp.shape[-1]))
        found = replay(whole, [*x.T, *p.T, *dp.T])
        packed = np.stack([np.broadcast_to(y, len(x)) for y in found], axis=-1)
        right = np.stack([packed[:, spans["F"]], packed[:, spans["along"]]], axis=-1)
        answer = -solved(packed[:, spans["J"]].reshape(-1, n, n), right)
        return answer[..., 0], answer[..., 1]

    return solve
