"""Programs split into values of the parameters and the rest: the same results, and what always cancels is gone."""

from __future__ import annotations

import numpy as np

from linkwright.compiler.constant_parts import hoisted, part, simplified
from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import Program, interpret
from linkwright.compiler.switches import switched
from linkwright.numerics.scalars import where


def joined(before: Program, after: Program, x: np.ndarray, p: np.ndarray, more: np.ndarray) -> np.ndarray:
    return interpret(after, np.concatenate([x, interpret(before, p), more]))


def sample() -> Program:
    """Sines, products and choices of parameters p between variables x and y."""
    g = TraceGraph()
    x, p, y = g.input("x", 2), g.input("p", 3), g.input("y", 1)
    c, s = np.cos(p[0]), np.sin(p[0])
    R = np.array([[c, -s], [s, c]], dtype=object)
    turned = R @ (R.T @ x)  # x, but for round-off
    chosen = where(p[1] < p[2], p[1] * p[2], p[1])  # of parameters alone
    return g.program([("a", turned * chosen), ("b", np.array([chosen, p[2], x[0] * y[0], 3.0], dtype=object)), ("c", R.T @ R @ x)])


def test_the_parts_do_what_the_whole_does(rng: np.random.Generator) -> None:
    program = sample()
    before, after = hoisted(program, "p", "constants")
    assert [b.name for b in after.inputs] == ["x", "constants", "y"] and before.n_in == 3
    assert not [op for op in after.ops if op[0] in (9, 10)]  # no sine is left
    for _ in range(5):
        x, p, y = rng.normal(size=2), rng.normal(size=3), rng.normal(size=1)
        assert np.array_equal(joined(before, after, x, p, y), interpret(program, np.concatenate([x, p, y])))


def test_constants_that_cancel_are_gone(rng: np.random.Generator) -> None:
    """R' R is the unit matrix whatever the angle is: two constants are 1 and two are 0."""
    split = hoisted(sample(), "p", "constants")
    short = simplified(split, rng.uniform(0.1, 1.0, (4, 3)))
    assert short.before.n_out < split.before.n_out and short.after.operations < split.after.operations
    for _ in range(5):
        x, p, y = rng.normal(size=2), rng.normal(size=3), rng.normal(size=1)
        expected = interpret(sample(), np.concatenate([x, p, y]))
        np.testing.assert_allclose(joined(*short, x, p, y), expected, rtol=1e-13, atol=1e-14)


def test_a_small_number_is_not_taken_for_none(rng: np.random.Generator) -> None:
    """A parameter of 1e-15, the inertia of a tiny part, is small beside nothing."""
    g = TraceGraph()
    x, p = g.input("x", 1), g.input("p", 2)
    program = g.program([("a", np.array([x[0] * (p[0] * p[1])], dtype=object))])
    split = simplified(hoisted(program, "p", "constants"), 1e-15 * rng.uniform(1.0, 2.0, (4, 2)))
    assert split.before.n_out == 1


def test_parameters_that_give_no_numbers_are_left_out() -> None:
    """The square root of a negative sample decides nothing; without any sample nothing is simplified."""
    g = TraceGraph()
    x, p = g.input("x", 1), g.input("p", 1)
    program = g.program([("a", np.array([x[0] * np.sqrt(p[0])], dtype=object))])
    split = hoisted(program, "p", "constants")
    assert simplified(split, -np.ones((3, 1))) is split
    assert simplified(split, np.array([[-1.0], [4.0], [9.0]])).before.n_out == 1


def test_parts_of_a_program(rng: np.random.Generator) -> None:
    program = sample()
    only = part(program, ["b"])
    x = rng.normal(size=program.n_in)
    assert np.array_equal(interpret(only, x), program.unpack(interpret(program, x))["b"]) and only.operations < program.operations
    leading = part(hoisted(program, "p", "constants").after, ["a"], 2)
    assert [b.name for b in leading.inputs] == ["x", "constants"]


def test_a_choice_by_parameters_alone_is_no_break_point() -> None:
    """Once hoisted, its condition is a number that does not change in a step."""
    g = TraceGraph()
    x, p = g.input("x", 1), g.input("p", 1)
    program = g.program([("a", np.array([where(p[0] < 1.0, x[0], 2.0 * x[0]) + abs(x[0])], dtype=object))])
    assert switched(hoisted(program, "p", "constants").after).count == 1  # |x|
    assert switched(program).count == 2
