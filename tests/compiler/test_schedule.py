"""The order of machine code: complete, every value before its use, slots never overwritten too early, sums the same sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkwright.compiler.graph import TraceGraph, trace
from linkwright.compiler.program import Op, Program, interpret
from linkwright.compiler.schedule import ANGLES, Schedule, schedule
from linkwright.compiler.sums import FMA, FMS, FNMA, arranged, operands
from tests.compiler.samples import every_operation, forward_of, random_program

FUSED = {FMA: lambda a, b, c: a * b + c, FMS: lambda a, b, c: a * b - c, FNMA: lambda a, b, c: c - a * b}


def single(op: int, *values: float) -> Any:
    """One operation on numbers, by the interpreter."""
    if op in FUSED:
        return FUSED[op](*values)
    ops = [(Op.INPUT, i, -1, -1) for i in range(len(values))]
    places = [*range(len(values)), -1, -1][:3]
    program = Program((*ops, (op, *places)), (len(values),), (), ())
    return interpret(program, np.array(values))[0]


def executed(plan: Schedule, x: np.ndarray) -> np.ndarray:
    """Run a schedule piece by piece; each piece knows only constants, inputs, its own values and the slots."""
    slots = [math.nan] * plan.slots
    y = np.full(plan.n_out, math.nan)
    for piece in plan.pieces:
        values = {k: slots[s] for k, s in piece.loads.items()}

        def value(k: int, values: dict[int, Any] = values) -> Any:
            kind, a, _, _ = plan.ops[k]
            return a if kind == Op.CONST else x[a] if kind == Op.INPUT else values[k]

        for step in piece.steps:
            arguments = [[value(a) for a in operands(plan.ops[k])] for k in step]  # all before any: a step is done at once
            for k, given in zip(step, arguments, strict=True):
                values[k] = single(plan.ops[k][0], *given)
                if k in piece.stores:
                    slots[piece.stores[k]] = values[k]
        for k, places in piece.results.items():
            for j in places:
                y[j] = value(k)
    return y


@pytest.mark.parametrize("piece", [1, 3, 25, 10_000])
@pytest.mark.parametrize("fuse", [True, False])
def test_pieces_compute_what_the_program_says(piece: int, fuse: bool, rng: np.random.Generator) -> None:
    program = random_program(rng, operations=90)
    x = rng.normal(size=program.n_in)
    plan = schedule(program, fuse=fuse, piece=piece, cut_above=0)
    # the same operations, sums in another order: rounding only
    np.testing.assert_allclose(executed(plan, x), interpret(program, x), rtol=1e-10, atol=1e-12)
    assert all(len(p.steps) <= piece for p in plan.pieces)


def test_every_operation_is_scheduled(rng: np.random.Generator) -> None:
    program = every_operation()
    x = rng.uniform(0.5, 1.5, program.n_in)
    plan = schedule(program, piece=4, cut_above=0)
    np.testing.assert_allclose(executed(plan, x), interpret(program, x), rtol=1e-12)


def test_short_programs_stay_whole_and_need_no_slots() -> None:
    plan = schedule(forward_of("carpet-scraper")[0])
    assert len(plan.pieces) == 1 and plan.slots == 0


def test_slots_are_used_again() -> None:
    program, x = forward_of("carpet-scraper")
    plan = schedule(program, piece=40, cut_above=0)
    crossing = sum(len(p.stores) for p in plan.pieces)
    assert len(plan.pieces) > 8 and plan.slots < 0.7 * crossing
    np.testing.assert_allclose(executed(plan, x), interpret(program, x), rtol=1e-9)


def test_angles_come_first_and_together() -> None:
    program, _ = forward_of("carpet-scraper")
    plan = schedule(program)
    steps = plan.pieces[0].steps
    angles = [k for k, op in enumerate(plan.ops) if op[0] in (Op.SIN, Op.COS)]
    assert sorted(steps[0]) == sorted(angles)  # relative angles are the inputs themselves


def test_angles_that_depend_on_others_come_later() -> None:
    def nested(x: Any) -> dict[str, Any]:
        inner = np.sin(x)
        return {"y": np.cos(inner + x) * inner}

    program = trace(nested, x=ANGLES + 3)
    plan = schedule(program)
    groups = [s for s in plan.pieces[0].steps if plan.ops[s[0]][0] in (Op.SIN, Op.COS)]
    assert [len(g) for g in groups] == [ANGLES, ANGLES, 3, 3]
    x = np.linspace(-2, 2, ANGLES + 3)
    np.testing.assert_allclose(executed(plan, x), np.cos(np.sin(x) + x) * np.sin(x), rtol=1e-14)


def exactly(ops: list[Any], results: list[int], x: list[Fraction]) -> list[Fraction]:
    """Sums and products in rational numbers."""
    rational = {Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b, Op.NEG: lambda a: -a, **FUSED}
    values: list[Fraction] = []
    for op in ops:
        kind, a, _, _ = op
        if kind == Op.CONST:
            values.append(Fraction(a))
        elif kind == Op.INPUT:
            values.append(x[a])
        else:
            values.append(rational[kind](*[values[k] for k in operands(op)]))
    return [values[r] for r in results]


def test_rearranged_sums_are_the_same_sums_exactly(rng: np.random.Generator) -> None:
    for _ in range(30):
        g = TraceGraph()
        values: list[Any] = list(g.input("x", 5))
        for _ in range(40):
            a, b = (values[i] for i in rng.integers(max(0, len(values) - 8), len(values), 2))
            made = [a + b, a - b, a * b, -a, a - b * 0.5][rng.integers(5)]
            values.append(made if not isinstance(made, float) else a + 1.0)
        program = g.program([("y", values[-6:])])
        x = [Fraction(int(n), 7) for n in rng.integers(-9, 9, 5)]
        ops, results = arranged(program)
        assert exactly(ops, results, x) == exactly(list(program.ops), list(program.results), x)


def test_products_that_only_sums_use_are_fused() -> None:
    g = TraceGraph()
    a, b, c, d, e = g.input("x", 5)
    program = g.program([("y", [a * b + c * d - e, e - a * c, a * e * 2.0])])
    plan = schedule(program)
    kinds = [plan.ops[k][0] for s in plan.pieces[0].steps for k in s]
    assert sorted(kinds) == [Op.MUL, Op.MUL, FMA, FMS, FNMA]  # a b - e, then + c d;  e - a c;  (a e) 2


def test_the_margin_is_found() -> None:
    g = TraceGraph()
    x = g.input("x", 3)
    assert schedule(g.program([("y", x), ("margin", x[1] * 2.0)])).margin == 3
    assert schedule(g.program([("y", x)])).margin == -1
