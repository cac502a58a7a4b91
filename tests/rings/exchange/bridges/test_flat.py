"""A flat program on the numbers of another library: numpy's own functions give what the interpreter gives."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.numerics.scalars import maximum, minimum, where
from linkwright.rings.exchange.bridges import differentiable_kernels
from linkwright.rings.exchange.bridges.differentiable_kernels import KernelCall

FUNCTIONS = {
    "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log, "tanh": np.tanh, "atan2": np.arctan2,
    "pow": np.power, "round": np.rint, "min": np.minimum, "max": np.maximum, "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b), "select": lambda c, a, b: a if c else b,
}  # fmt: skip


def test_every_operation() -> None:
    g = TraceGraph()
    x, y = g.input("x", 2)
    results = [
        np.sqrt(x) + abs(-y) - np.sin(x) * np.cos(y), np.exp(x) / np.log(x), np.tanh(y), np.arctan2(y, x), x**y,
        minimum(x, y), maximum(x, y), where(x < y, x, 2.0 * y), where(x <= y, 3.0, y), np.rint(x),
    ]  # fmt: skip
    program = g.program([("all", np.array(results, dtype=object))])
    at = np.array([1.3, -0.4])
    assert np.allclose(differentiable_kernels.evaluate(program, at, FUNCTIONS, float), interpret(program, at), rtol=1e-15)


@pytest.mark.parametrize("measures", [False, True])
def test_only_what_is_returned_is_computed(measures: bool) -> None:
    s = lw.compile("four-bar")
    call = KernelCall(s.kernels, "projection", measures=measures)
    assert [b.name for b in call.outputs] == ["q", "v", *(["residual", "rate_residual", "correction"] if measures else [])]
    assert call.program.operations < call.kernel.program.operations
    q, v = s.start.q + 0.01, s.start.v
    found = np.array(differentiable_kernels.evaluate(call.program, np.concatenate([q, v]), FUNCTIONS, float))
    assert np.allclose(found[:3], s.kernel("projection")(q, v).q, rtol=1e-14)
