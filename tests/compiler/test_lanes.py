"""Like parts of one state in lanes: found where they are, the same numbers as without, the same bits as many states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler import llvm, state_lanes
from linkwright.compiler.cache import host
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.lanes import across, packed, spread
from linkwright.compiler.native import NativeCode
from linkwright.compiler.program import Block, Op, Program, interpret, pruned
from linkwright.compiler.schedule import Schedule, schedule
from linkwright.compiler.sums import LANE, TOTAL, arranged, operands, wide_ones
from linkwright.numerics.scalars import where
from tests.compiler.samples import forward_of, random_program
from tests.sweeps import sweep


def legs(n: int, numbers: np.ndarray, odd: int = -1, coupled: bool = False) -> Program:
    """A platform on n legs: angles, a triangular solve, sums over the legs, and back to them; leg `odd` has something of its own."""
    g = TraceGraph()
    q, v, p = g.input("q", (n, 2)), g.input("v", (n, 2)), g.input("p", 3)
    R = [p[0] * p[0] + 1.0, p[0] * p[1], p[1] * p[2] - 0.3]
    sums: list[Any] = [2.0 + 0.0 * p[0], p[2], 1.5 + p[1]]
    inside, before = [], p[0]
    for i in range(n):
        c = numbers[i]
        s1, c1, s2, c2 = np.sin(q[i, 0]), np.cos(q[i, 0]), np.sin(q[i, 1]), np.cos(q[i, 1])
        x = c[0] * s1 * c2 + c[1] * c1 - c[2] * R[0]
        y = c[3] * c1 * s2 - c[4] * s1 + R[1] * x
        if coupled:
            x = x * before
        if i == odd:
            y = y + x * x * 0.25
        d = np.sqrt(x * x + y * y + 2.0)
        z = (v[i, 0] * x - v[i, 1] * y * c[5]) / d
        before = z
        sums = [sums[0] + x * x, sums[1] - z * y + x * v[i, 0], sums[2] + y * y * d]
        inside.append((x, y, z, d))
    top = (sums[1] - R[2]) / sums[0]
    back = [[(z - top * x) / d, where(x < y, z.maximum(top), -top), abs(y) * top] for x, y, z, d in inside]
    least = 1.0 + p[0] * p[0]
    for _, _, _, d in inside:
        least = least.minimum(d)
    return g.program([("a", back), ("sums", [sums[2] * top, top]), ("margin", [least])])


def mirrored(n: int, rng: np.random.Generator) -> np.ndarray:
    """Constants of legs: the sizes partly shared by pairs of legs, the signs arbitrary, as in drawings with symmetric legs."""
    sizes = rng.uniform(0.3, 1.7, (n, 6))
    sizes[1] = sizes[0]
    return sizes * rng.choice([-1.0, 1.0], (n, 6))


def states(program: Program, rng: np.random.Generator, count: int = 9) -> np.ndarray:
    return rng.uniform(-1.2, 1.2, (count, program.n_in))


def checked(program: Program, X: np.ndarray, lanes: int = 4, plan: Schedule | None = None) -> np.ndarray:
    """Outputs of code in lanes: close to the interpreter's, and for one state the same bits and status as for many."""
    target = replace(host(), lanes=lanes)
    make = {"one": lambda: llvm.compile_one(program, target, plan), "many": lambda: state_lanes.compile_many(program, target)}
    code = NativeCode(lambda kind: make[kind]())
    outputs, status = code.call_many([X[:, b.span].reshape(len(X), *b.shape) for b in program.inputs])
    Y = np.concatenate([y.reshape(len(X), b.size) for y, b in zip(outputs, program.outputs, strict=True)], axis=1)
    for x, y, s in zip(X, Y, status, strict=True):
        one, word = code.call(x)
        assert np.array_equal(np.isnan(one), np.isnan(y))
        assert np.nan_to_num(one, nan=0.0).tobytes() == np.nan_to_num(y, nan=0.0).tobytes()
        assert word == s
    return Y


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8])
def test_legs_are_computed_side_by_side(n: int, rng: np.random.Generator) -> None:
    program = legs(n, mirrored(n, rng))
    X = states(program, rng)
    plan = schedule(program, one=True)
    assert plan.lanes == n
    # sums over legs are added in another order and products are fused: a few ulp of the largest term
    np.testing.assert_allclose(checked(program, X), interpret(program, X), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("lanes", "piece"), [(8, 0), (4, 1), (4, 7)])
def test_wide_registers_and_pieces(lanes: int, piece: int, rng: np.random.Generator) -> None:
    program = legs(6, mirrored(6, rng))
    X = states(program, rng)
    plan = schedule(program, one=True, piece=piece, cut_above=0) if piece else None
    assert plan is None or (plan.lanes == 6 and len(plan.pieces) > 5)
    np.testing.assert_allclose(checked(program, X, lanes, plan), interpret(program, X), rtol=1e-12, atol=1e-13)


def test_signs_go_into_constants_and_cost_nothing(rng: np.random.Generator) -> None:
    program = legs(6, mirrored(6, rng))
    found = packed(program)
    assert found is not None
    ops, results, _ = spread(*found)
    again = Program(tuple(ops), tuple(results), program.inputs, program.outputs)
    X = states(program, rng)
    np.testing.assert_allclose(interpret(again, X), interpret(program, X), rtol=1e-13, atol=1e-14)
    assert sum(op[0] > Op.INPUT and op[0] != Op.NEG for op in ops) <= program.operations + 12  # two values that two legs share


def test_all_that_legs_do_is_wide(rng: np.random.Generator) -> None:
    found = packed(legs(6, mirrored(6, rng)))
    assert found is not None
    ops, _ = arranged(found)
    wide = wide_ones(ops)
    narrow = [op[0] for k, op in enumerate(ops) if op[0] > Op.INPUT and not wide[k]]
    assert narrow.count(TOTAL) == 3
    assert narrow.count(LANE) == 18  # the results, and nothing on the way
    assert len(narrow) < 50


def test_legs_that_depend_on_each_other_stay_apart(rng: np.random.Generator) -> None:
    program = legs(5, mirrored(5, rng), coupled=True)
    X = states(program, rng)
    np.testing.assert_allclose(checked(program, X), interpret(program, X), rtol=1e-10, atol=1e-12)
    found = packed(program)
    after = [] if found is None else [k for k, op in enumerate(found.ops) if op[0] == Op.SQRT and wide_ones(found.ops)[k]]
    assert not after  # the length of a leg needs the leg before


def test_one_leg_with_something_of_its_own(rng: np.random.Generator) -> None:
    program = legs(6, mirrored(6, rng), odd=2)
    X = states(program, rng)
    np.testing.assert_allclose(checked(program, X), interpret(program, X), rtol=1e-12, atol=1e-13)
    found = packed(program)
    assert found is not None and found.lanes == 5  # the others
    ops, _ = arranged(found)
    assert sum(wide_ones(ops)) > 30


def copies(program: Program, n: int, rng: np.random.Generator) -> Program:
    """n times the same program on inputs of its own with other constants, and the sum and least of all results."""
    ops: list[tuple[int, Any, int, int]] = []
    places: list[list[int]] = []
    size = program.n_in
    for i in range(n):
        start = len(ops)
        for op, a, b, c in program.ops:
            if op == Op.CONST:
                ops.append((op, a * float(rng.choice([-1.0, 1.0, 0.7, -1.3])), -1, -1))
            elif op == Op.INPUT:
                ops.append((op, a + i * size, -1, -1))
            else:
                ops.append((op, a + start, b + start if b >= 0 else -1, c + start if c >= 0 else -1))
        places.append([start + r for r in program.results])
    results: list[int] = [r for row in places for r in row]
    for kind in (Op.ADD, Op.SUB, Op.MIN):
        for same in zip(*places, strict=True):
            total = same[0]
            for r in same[1:]:
                ops.append((kind, total, r, -1))
                total = len(ops) - 1
            results.append(total)
    outputs = (Block("y", (len(results),), 0),)
    return pruned(ops, results, (Block("x", (n * size,), 0),), outputs)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_any_operation_in_lanes(n: int, rng: np.random.Generator) -> None:
    program = copies(random_program(rng, operations=70, inputs=4), n, rng)
    X = rng.normal(size=(9, program.n_in))
    found = packed(program)
    assert found is not None and found.lanes == n
    ops, results, _ = spread(*found)
    again = Program(tuple(ops), tuple(results), program.inputs, program.outputs)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(interpret(again, X), interpret(program, X), rtol=1e-9, atol=1e-11)
    checked(program, X)


@sweep("place", [13, -1, 0, 20], now=2)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
def test_what_is_not_finite_or_far_is_told_alike(place: int, value: float, rng: np.random.Generator) -> None:
    program = legs(6, mirrored(6, rng))
    X = states(program, rng, 3)
    X[1, place] = value
    Y, expected = checked(program, X), interpret(program, X)
    assert np.array_equal(np.isfinite(Y), np.isfinite(expected))


@pytest.mark.parametrize("n", range(2, 9))
def test_totals_join_every_lane_once(n: int) -> None:
    values = [1 << i for i in range(n)]
    for i, j in across(n):
        values[i] += values[j]
    assert values[0] == (1 << n) - 1
    assert len(across(n)) == n - 1


@pytest.mark.slow
def test_the_legs_of_the_stewart_platform() -> None:
    system = lw.compile(lw.load("stewart"))
    program = system.kernel("forward").program
    written, kept = (_instructions(schedule(program, one=one)) for one in (False, True))
    assert schedule(program, one=True).lanes == 6
    assert kept < 0.5 * written
    rng = np.random.default_rng(1)
    x = program.pack({"q": system.start.q, "v": np.zeros(24), "tau": np.ones(24)})
    X = x + 0.05 * rng.normal(size=(3, len(x)))
    np.testing.assert_allclose(checked(program, X), interpret(program, X), rtol=1e-11, atol=1e-11)  # forces of some 100 N


def test_mechanisms_without_like_parts_are_left_alone() -> None:
    for name in ("carpet-scraper", "four-bar"):
        program, _ = forward_of(name)
        assert schedule(program, one=True).lanes == 1
        assert list(schedule(program).ops) == arranged(program)[0]


def _instructions(plan: Schedule) -> int:
    """A wide operation counts twice, six numbers are two registers; one in a series once for every repeat."""
    steps: Sequence[int] = [k for p in plan.pieces for step in p.steps for k in step for _ in range(getattr(p, "count", 1))]
    return sum(2 if plan.wide and plan.wide[k] else 1 for k in steps)


def test_urgent_steps_come_first_and_after_what_they_read(rng: np.random.Generator) -> None:
    program = legs(6, mirrored(6, rng))
    plan = schedule(program, one=True)
    done = {k for k, op in enumerate(plan.ops) if op[0] <= Op.INPUT}
    kinds = []
    for step in plan.pieces[0].steps:
        assert all(a in done for k in step for a in operands(plan.ops[k]))
        done.update(step)
        kinds.append(plan.ops[step[0]][0])
    assert kinds[0] in (Op.SIN, Op.COS)  # nothing waits longer for its results than these
