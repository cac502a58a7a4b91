"""Machine code against the interpreter, operation by operation and on mechanisms; one state against many, bit by bit."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from linkwright.compiler import llvm, native, state_lanes, timing
from linkwright.compiler.cache import ObjectCode, Processor, emit, host
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Block, Op, Program, interpret
from linkwright.compiler.schedule import schedule
from tests.compiler.samples import every_operation, forward_of, random_program
from tests.sweeps import sweep

MAKE = {"one": llvm.compile_one, "many": state_lanes.compile_many}


def code_for(program: Program, chosen: Processor | None = None, piece: int = 0) -> NativeCode:
    """Code for a target, cut into pieces of so many steps."""
    target = chosen or host()
    plan = schedule(program, fuse=target.fused, piece=piece, cut_above=0) if piece else None
    return NativeCode(lambda kind: MAKE[kind](program, target, plan))


def split(program: Program, X: np.ndarray) -> list[np.ndarray]:
    return [X[:, b.span].reshape(len(X), *b.shape) for b in program.inputs]


def both(code: NativeCode, program: Program, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and status of many states; one by one gives the same to the last bit."""
    outputs, status = code.call_many(split(program, X))
    Y = np.concatenate([y.reshape(len(X), b.size) for y, b in zip(outputs, program.outputs, strict=True)], axis=1)
    singly = [code.call(x) for x in X]
    assert np.array_equal(Y, np.array([y for y, _ in singly]), equal_nan=True)
    assert status.tolist() == [s for _, s in singly]
    return Y, status


def test_every_operation(rng: np.random.Generator) -> None:
    program = every_operation()
    X = rng.uniform(0.5, 1.5, (11, program.n_in))
    X[:, 3:] -= 1.0
    Y, status = both(code_for(program), program, X)
    # sine, cosine and the C library differ from numpy's by an ulp, fused products by half of one
    np.testing.assert_allclose(Y, interpret(program, X), rtol=2e-14, atol=1e-15)
    assert not status.any()


@pytest.mark.parametrize("piece", [0, 11])
@pytest.mark.parametrize("lanes", [4, 8])
def test_random_programs(piece: int, lanes: int, rng: np.random.Generator) -> None:
    for _ in range(2):
        program = random_program(rng, operations=120)
        X = rng.normal(size=(9, program.n_in))
        Y, _ = both(code_for(program, replace(host(), lanes=lanes), piece), program, X)
        np.testing.assert_allclose(Y, interpret(program, X), rtol=1e-10, atol=1e-12)


def test_a_processor_without_fused_multiply_add(rng: np.random.Generator) -> None:
    here = host()
    plain = replace(here, cpu="x86-64", features="") if here.triple.startswith("x86_64") else here
    program = random_program(rng, operations=120)
    X = rng.normal(size=(9, program.n_in))
    Y, _ = both(code_for(program, plain), program, X)
    np.testing.assert_allclose(Y, interpret(program, X), rtol=1e-10, atol=1e-12)


@sweep("name", ["four-bar", "carpet-scraper", "excavator"], now=2)
def test_mechanisms(name: str, rng: np.random.Generator) -> None:
    program, x = forward_of(name)
    X = x + 1e-3 * rng.normal(size=(13, len(x)))
    Y, status = both(code_for(program), program, X)
    expected = interpret(program, X)
    # forward dynamics loses a few digits to the conditioning of the loops, the same for every order of summation
    np.testing.assert_allclose(Y, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert not status.any()


def test_cutting_changes_no_bit(rng: np.random.Generator) -> None:
    program, x = forward_of("carpet-scraper")
    X = x + 1e-2 * rng.normal(size=(9, len(x)))
    whole, _ = both(code_for(program), program, X)
    pieces = code_for(program, piece=50)
    cut, _ = both(pieces, program, X)
    assert np.array_equal(whole, cut)
    assert pieces.meta["pieces"] > 5 and pieces.work("one") > 0


def test_the_level_of_optimization_changes_no_bit(rng: np.random.Generator) -> None:
    program, x = forward_of("four-bar")
    high = code_for(program)
    text = llvm.one_text(schedule(program, fuse=host().fused), host())
    for level in (0, 2, 3):
        other = NativeCode(lambda kind, level=level: ObjectCode(high.compiled(kind).meta, emit(text, host(), level)))
        for state in x + 1e-2 * rng.normal(size=(5, len(x))):
            assert np.array_equal(other.call(state)[0], high.call(state)[0])


def test_data_in_lanes_give_the_same_bits(rng: np.random.Generator) -> None:
    program, x = forward_of("four-bar")
    code = code_for(program)
    X = x + 1e-2 * rng.normal(size=(24, len(x)))
    Y, _ = both(code, program, X)
    xs, at_x = native.aligned(X.size)
    ys, at_y = native.aligned(24 * program.n_out)
    _, at_w = keep = native.aligned(code.work("many"))
    xs[:] = X.reshape(3, 8, -1).transpose(0, 2, 1).ravel()
    assert native.AOSOA(code.aosoa_address)(at_x, at_y, at_w, 3) == 0
    assert np.array_equal(ys.reshape(3, -1, 8).transpose(0, 2, 1).reshape(24, -1), Y) and keep[0].size == code.work("many")


def test_nothing_reassociates_or_forgets_nan() -> None:
    program = every_operation()
    plan, target = schedule(program), host()
    for text in (llvm.one_text(plan, target), state_lanes.many_text(program, plan, target)):
        assert not re.search(r"\b(?:fast|nnan|ninf|nsz|arcp|afn|reassoc|contract)\b", text)


# ---------------------------------------------------------------- special values


def of_two(op: int, third: bool = False) -> Program:
    ops = [(Op.INPUT, 0, -1, -1), (Op.INPUT, 1, -1, -1), (op, 0, 1, 0 if third else -1)]
    return Program(tuple(ops), (2,), (Block("x", (2,), 0),), (Block("y", (), 0),))


SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("op", [Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MIN, Op.MAX, Op.LT, Op.LE, Op.ATAN2, Op.POW])
def test_special_values(op: Op) -> None:
    program = of_two(op)
    X = np.array([(a, b) for a in SPECIAL for b in SPECIAL])
    Y, status = both(code_for(program), program, X)
    expected = interpret(program, X)
    np.testing.assert_array_equal(Y, expected)
    assert (status == ~np.isfinite(expected[:, 0])).all()


def test_a_number_as_a_condition_holds_unless_it_is_zero() -> None:
    program = of_two(Op.SELECT, third=True)
    X = np.array([(a, 7.0) for a in SPECIAL])
    np.testing.assert_array_equal(both(code_for(program), program, X)[0], interpret(program, X))


def test_status_tells_what_is_wrong() -> None:
    g = TraceGraph()
    a, b, c = g.input("x", 3)
    program = g.program([("y", [a * 2.0, 1.0 / b, a + b]), ("margin", c)])
    X = np.array([[1, 1, 1], [1, 0, 1], [np.nan, 1, 1], [1, 1, 0], [1, 1, -0.5], [1, 1, np.nan], [1, 0, -1], [1e308, 1, 1e-300], [1, 1, 1]])
    _, status = both(code_for(program), program, X)
    assert status.tolist() == [0, 1, 1, 2, 2, 3, 3, 1, 0]


def test_programs_without_operations_inputs_or_outputs() -> None:
    g = TraceGraph()
    x = g.input("x", (2, 3))
    cases = {"copies": g.program([("y", [x[1, 2], 4.0, x[0, 0], x[0, 0]])]), "silent": g.program([("y", np.zeros(0))])}
    X = np.arange(60.0).reshape(10, 6)
    for program in cases.values():
        Y, status = both(code_for(program), program, X)
        np.testing.assert_array_equal(Y, interpret(program, X))
        assert not status.any()
    constant = TraceGraph().program([("y", [1.5, -0.0])])
    y, status = code_for(constant).call([])
    assert y.tolist() == [1.5, 0.0] and np.signbit(y[1]) and status == 0


def test_blocks_of_every_size_are_turned_into_lanes_and_back(rng: np.random.Generator) -> None:
    sizes = [1, 2, 3, 4, 5, 7, 8, 11, 16, 21]
    g = TraceGraph()
    blocks = [g.input(f"x{n}", n) for n in sizes]
    program = g.program([(f"y{n}", block * 2.0) for n, block in zip(sizes, blocks, strict=True)])
    X = rng.normal(size=(19, program.n_in))
    np.testing.assert_array_equal(both(code_for(program), program, X)[0], 2.0 * X)


def test_times_are_measured_in_a_native_loop() -> None:
    program, x = forward_of("four-bar")
    code = code_for(program)
    one = timing.time_one(code.one_address, x, program.n_out, code.work("one"), repeats=5)
    lanes = timing.time_aosoa(code.aosoa_address, np.tile(x, (20, 1)), program.n_out, code.work("many"), repeats=5)
    assert 5 < one < 1e5 and 1 < lanes < 1e5  # nanoseconds: some hundred operations take neither less nor more
