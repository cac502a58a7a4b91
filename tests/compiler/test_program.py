"""The flat program: pruning, packing, counting, and the interpreter on one state and on batches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Block, Op, interpret, pruned
from tests.compiler.samples import every_operation, forward_of, random_program


def test_only_what_results_need_is_kept() -> None:
    g = TraceGraph()
    a, b, c = g.input("x", 3)
    useless = np.sin(c) * 7.0
    program = g.program([("y", [a * b, 2.0])])
    assert program.counts() == {"mul": 1} and program.operations == 1
    assert sum(op[0] == Op.CONST for op in program.ops) == 1
    assert program.n_in == 3  # the layout does not depend on what is used
    assert g.program([("y", useless)]).counts() == {"sin": 1, "mul": 1}


def test_operands_come_before_their_use(rng: np.random.Generator) -> None:
    for program in (every_operation(), random_program(rng), forward_of("four-bar")[0]):
        for k, (op, a, b, c) in enumerate(program.ops):
            if op > Op.INPUT:
                assert 0 <= a < k and -1 <= b < k and -1 <= c < k
        assert all(0 <= r < len(program.ops) for r in program.results)


def test_pruning_renumbers_and_keeps_the_results(rng: np.random.Generator) -> None:
    ops = [(Op.INPUT, 0, -1, -1), (Op.CONST, 3.0, -1, -1), (Op.SIN, 0, -1, -1), (Op.MUL, 0, 1, -1), (Op.LT, 0, 3, -1), (Op.SELECT, 4, 3, 2)]
    blocks = ((Block("x", (1,), 0),), (Block("y", (2,), 0),))
    whole = pruned(ops, [5, 3], *blocks)
    assert whole.ops == tuple(ops) and whole.results == (5, 3)
    part = pruned(ops, [3, 3], *blocks)
    assert part.ops == ((Op.INPUT, 0, -1, -1), (Op.CONST, 3.0, -1, -1), (Op.MUL, 0, 1, -1)) and part.results == (2, 2)
    np.testing.assert_array_equal(interpret(whole, np.array([[2.0], [-1.0]])), [[6.0, 6.0], [math.sin(-1.0), -3.0]])


def test_every_operation_by_hand() -> None:
    g = TraceGraph()
    u, w = g.input("x", 2)
    binary = [u + w, u - w, u * w, u / w, u.arctan2(w), abs(u) ** w, u.minimum(w), u.maximum(w), u < w, u <= w, (u < w).where(u, w)]
    unary = [-u, np.sqrt(abs(u)), abs(u), np.sin(u), np.cos(u), np.exp(u), np.log(abs(u)), np.tanh(u), np.rint(u)]
    program = g.program([("y", [*binary, *unary])])
    assert set(program.counts()) == {op.name.lower() for op in Op if op > Op.INPUT}

    def by_hand(a: float, b: float) -> list[float]:
        pairs = [a + b, a - b, a * b, a / b, math.atan2(a, b), abs(a) ** b, min(a, b), max(a, b), a < b, a <= b, a if a < b else b]
        p = abs(a)
        return [*map(float, pairs), -a, math.sqrt(p), p, math.sin(a), math.cos(a), math.exp(a), math.log(p), math.tanh(a), float(round(a))]

    for a, b in [(0.3, -1.7), (-2.5, 0.4), (1.5, 1.5), (3.5, 2.0)]:
        np.testing.assert_allclose(interpret(program, np.array([a, b])), by_hand(a, b), rtol=1e-15, atol=1e-16)


def test_conditions_are_numbers() -> None:
    g = TraceGraph()
    u, w = g.input("x", 2)
    program = g.program([("y", [(u < 1.0) + (w < 1.0), -(u < 1.0), (u < 1.0) - (w < 1.0), (u <= w) * 3.0])])
    np.testing.assert_array_equal(interpret(program, np.array([[0.0, 0.0], [0.0, 2.0]])), [[2, -1, 0, 3], [1, -1, 1, 3]])


def test_batches_equal_single_states(rng: np.random.Generator) -> None:
    program = random_program(rng)
    x = rng.normal(size=(2, 3, 6))
    y = interpret(program, x)
    assert y.shape == (2, 3, program.n_out)
    for i in np.ndindex(2, 3):
        # numpy's functions on arrays and on numbers may take different code: an ulp apart, magnified a little
        np.testing.assert_allclose(interpret(program, x[i]), y[i], rtol=1e-12, atol=1e-13)
    assert interpret(program, np.zeros((0, 6))).shape == (0, program.n_out)


def test_constants_alone_fill_a_batch() -> None:
    g = TraceGraph()
    g.input("x", 2)
    program = g.program([("y", [1.0, 2.0])])
    np.testing.assert_array_equal(interpret(program, np.zeros((3, 2))), [[1.0, 2.0]] * 3)


def test_trouble_passes_silently_as_nan_and_infinity() -> None:
    g = TraceGraph()
    u, w = g.input("x", 2)
    program = g.program([("y", [u / w, np.sqrt(-abs(u) - 1.0), np.log(w), np.exp(1e6 * u), u.minimum(np.log(-u))])])
    np.testing.assert_array_equal(interpret(program, np.array([1.0, 0.0])), [np.inf, np.nan, -np.inf, np.inf, np.nan])


def test_pack_and_unpack_by_name(rng: np.random.Generator) -> None:
    g = TraceGraph()
    A, t, x = g.input("A", (2, 3)), g.input("t", ()), g.input("x", 3)
    program = g.program([("y", A @ x), ("t2", t * 2.0), ("A", A.T)])
    values = {"x": rng.normal(size=3), "A": rng.normal(size=(2, 3)), "t": 0.5}
    packed = program.pack(values)
    np.testing.assert_array_equal(packed, [*values["A"].ravel(), 0.5, *values["x"]])
    found = program.unpack(interpret(program, packed))
    np.testing.assert_allclose(found["y"], values["A"] @ values["x"], rtol=1e-14)
    np.testing.assert_array_equal(found["A"], values["A"].T)
    assert found["t2"] == 1.0 and found["t2"].shape == ()
    batch = program.unpack(interpret(program, np.stack([packed, packed])))
    assert batch["A"].shape == (2, 3, 2) and batch["t2"].shape == (2,)
    assert TraceGraph().program([("y", [])]).pack({}).shape == (0,)


@pytest.mark.parametrize("name", ["four-bar", "carpet-scraper"])
def test_operation_counts_add_up(name: str) -> None:
    program, _ = forward_of(name)
    assert program.operations == sum(program.counts().values()) == sum(op[0] > Op.INPUT for op in program.ops)
    assert program.n_out == sum(b.size for b in program.outputs)
    assert [b.span.start for b in program.outputs] == [0, program.outputs[0].size]
