"""The traced scalar: it computes what a float does, folds what it promises, and refuses what it cannot record."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwright.compiler.graph import Sym, TraceGraph, TracingError, trace
from linkwright.compiler.program import Op, interpret
from linkwright.errors import UsageError
from linkwright.model.curves.tables import table
from linkwright.numerics import scalars
from linkwright.numerics.scalars import where
from tests.refusals import refused


def three() -> tuple[TraceGraph, Sym, Sym, Sym]:
    g = TraceGraph()
    a, b, c = g.input("x", 3)
    return g, a, b, c


def negated(a: Any) -> Any:
    return -a


def on(g: TraceGraph, results: Any, x: Any) -> np.ndarray:
    return interpret(g.program([("y", results)]), np.asarray(x, dtype=float))


# ---------------------------------------------------------------- sharing and folding


def test_equal_subexpressions_are_one_node() -> None:
    g, a, b, c = three()
    assert (a + b) is (a + b) and (a + b) is (b + a) and (a * b) is (b * a)
    assert np.sin(a + b * c) is np.sin(b * c + a)
    program = g.program([("y", [np.sin(a * b) + np.cos(a * b), a * b])])
    assert program.counts() == {"mul": 1, "sin": 1, "cos": 1, "add": 1}


@pytest.mark.parametrize(
    "fold",
    [
        lambda a: a + 0, lambda a: 0.0 + a, lambda a: a - 0.0, lambda a: a * 1, lambda a: 1.0 * a, lambda a: a / 1.0,
        lambda a: negated(negated(a)), lambda a: +a, lambda a: a**1, lambda a: (a * 2.0) * 0.5, lambda a: a * -1 * -1,
        lambda a: np.float64(0.0) + a, lambda a: a.conjugate(),
    ],
)  # fmt: skip
def test_what_changes_nothing_leaves_the_value(fold: Callable[[Any], Any]) -> None:
    g, a, _, _ = three()
    assert fold(a).i == a.i
    assert g.program([("y", [fold(a)])]).operations == 0


@pytest.mark.parametrize(
    ("fold", "number"),
    [
        (lambda a: a * 0, 0.0), (lambda a: 0.0 * a, 0.0), (lambda a: a - a, 0.0), (lambda a: a + -a, 0.0), (lambda a: 0 / a, 0.0),
        (lambda a: a / a, 1.0), (lambda a: a**0, 1.0), (lambda a: a * 2.0 - 2.0 * a, 0.0),
    ],
)  # fmt: skip
def test_what_is_a_number_becomes_one(fold: Callable[[Any], Any], number: float) -> None:
    _, a, _, _ = three()
    assert isinstance(fold(a), float) and fold(a) == number


def test_signs_move_outwards_so_that_both_signs_share() -> None:
    g, a, b, c = three()
    assert (-a) * (-b) is a * b
    assert ((-a) * b).i == (-(a * b)).i == (a * -b).i
    assert (a + -b).i == (a - b).i and (-b + a).i == (a - b).i and (a - -b).i == (a + b).i
    assert np.cos(-a) is np.cos(a) and np.sin(-a).i == (-np.sin(a)).i
    assert (a / -b).i == (-(a / b)).i
    program = g.program([("y", [c + -(a - b), 2.0 - -a])])
    assert "neg" not in program.counts()


def test_constants_of_a_product_are_collected() -> None:
    g, a, _, _ = three()
    assert g.program([("y", [3.0 * (a * 0.5) / 4.0])]).counts() == {"mul": 1}
    assert g.program([("y", [a**2, a**4, a**8, a**3])]).counts() == {"mul": 4}
    assert g.program([("y", [a**0.5])]).counts() == {"sqrt": 1}


def test_minus_zero_is_a_constant_of_its_own() -> None:
    g, a, _, _ = three()
    y = on(g, [-0.0, 0.0, a.arctan2(-0.0), a.arctan2(0.0)], [0.0, 0.0, 0.0])
    assert math.copysign(1, y[0]) == -1 and math.copysign(1, y[1]) == 1
    np.testing.assert_array_equal(y[2:], [math.pi, 0.0])


# ---------------------------------------------------------------- what a float does


LEAVES = (0.5, -2.0, 3.0, -0.25)
UNARY: list[Callable[[Any], Any]] = [
    operator.neg, np.sin, np.cos, np.tanh, abs, np.rint, lambda u: np.exp(np.tanh(u)), lambda u: np.sqrt(u * u + 0.5),
    lambda u: np.log(u * u + 0.5), lambda u: np.tan(0.5 * np.tanh(u)), lambda u: np.arctan(u), lambda u: np.arcsin(0.9 * np.tanh(u)),
    lambda u: np.arccos(0.9 * np.tanh(u)), lambda u: u**2, lambda u: (u * u + 1.0) ** -1, lambda u: (u * u + 1.0) ** 0.3,
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, lambda u, w: u / (w * w + 0.5), lambda u, w: where(u < w, u, w),
    lambda u, w: where(u >= 0.1, w, u - w), lambda u, w: where(u <= w, 1.0, u), lambda u, w: where(u > w, w, 0.0),
    lambda u, w: (u * u + 0.5) ** np.tanh(w),
]  # fmt: skip


def random_expression(rng: np.random.Generator, variables: list[Any], depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.1:
        return variables[rng.integers(len(variables))] if rng.random() < 0.8 else float(rng.choice(LEAVES))
    if kind < 0.5:
        return UNARY[rng.integers(len(UNARY))](random_expression(rng, variables, depth - 1))
    function = BINARY[rng.integers(len(BINARY))]
    return function(random_expression(rng, variables, depth - 1), random_expression(rng, variables, depth - 1))


def test_traced_expressions_equal_the_float_path(rng: np.random.Generator) -> None:
    """The same source on floats and on Syms. Folding may round once more (division by a number), so a few ulps."""
    for seed in rng.integers(2**31, size=120):
        x = rng.normal(size=4)
        with np.errstate(over="ignore"):
            expected = random_expression(np.random.default_rng(seed), list(x), 6)
        g = TraceGraph()
        traced = random_expression(np.random.default_rng(seed), list(g.input("x", 4)), 6)
        np.testing.assert_allclose(on(g, [traced], x), [expected], rtol=1e-11, atol=1e-11)


def test_beside_numpy_numbers_and_arrays() -> None:
    g, a, b, c = three()
    x = np.array([a, b, c])
    A = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 0.5]])
    two = np.float64(2.0)
    results = [
        two * a, two + a, two - a, two / a, a * two, a / two, two**b, *(A @ x), *(x @ A.T), x @ x, np.ones(2) @ np.array([a, 3.0]), x.sum(),
        *np.cross(x, [1.0, 2.0, 3.0]), *np.sin(x), *np.sqrt(x * x), *np.abs(-x), *(x**2), *(a ** np.array([1.0, 2.0])), *(a * np.ones(2)),
        *(np.full(2, 3.0) / a), *(np.eye(2) * a - b).ravel(), np.linalg.norm(x), np.square(b), np.int64(3) * a,
    ]  # fmt: skip
    v = np.array([0.7, -1.3, 0.4])
    expected = [
        2 * v[0], 2 + v[0], 2 - v[0], 2 / v[0], 2 * v[0], v[0] / 2, 2 ** v[1], *(A @ v), *(A @ v), v @ v, v[0] + 3, v.sum(),
        *np.cross(v, [1.0, 2.0, 3.0]), *np.sin(v), *np.abs(v), *np.abs(v), *v**2, v[0], v[0] ** 2, v[0], v[0],
        3 / v[0], 3 / v[0], v[0] - v[1], -v[1], -v[1], v[0] - v[1], np.linalg.norm(v), v[1] ** 2, 3 * v[0],
    ]  # fmt: skip
    np.testing.assert_allclose(on(g, results, v), expected, rtol=1e-15, atol=1e-15)


def test_conditions_beside_numbers() -> None:
    g, a, b, _ = three()
    conditions = [a < b, a <= 1, a > np.float64(0.5), np.float64(0.5) < a, operator.ge(2, b), b >= a]
    y = on(g, [where(k, 1.0, -1.0) for k in conditions], [[0.7, 0.9, 0.0], [2.0, 2.0, 0.0]])
    np.testing.assert_array_equal(y, [[1, 1, 1, 1, 1, 1], [-1, -1, 1, 1, 1, 1]])
    assert where(a < b, a, a) is a and where(True, a, b) is a and where(np.bool_(False), a, b) is b


def test_scalars_module_on_traced_values(rng: np.random.Generator) -> None:
    curve = table((0.0, 1.0, 2.5), (1.0, 3.0, -2.0), "linear")

    def all_of(u: Any, w: Any) -> list[Any]:
        A = np.array([[2.0 + u * u, u], [u, 3.0 + w * w]])
        solved = scalars.solve(A, np.array([w, 1.0 + 0.0 * w]))
        return [curve.value(u), scalars.arctan2(u, w), scalars.unwrap(u, 30.0 * w), scalars.real(u) * 1.0, *solved]

    g = TraceGraph()
    u, w = g.input("x", 2)
    program = g.program([("y", all_of(u, w))])
    x = rng.normal(size=(20, 2)) * 2.0
    np.testing.assert_allclose(interpret(program, x), [all_of(*row) for row in x], rtol=1e-13, atol=1e-13)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("action", "named"),
    [
        (lambda a, b: 1 if a < b else 2, "if, and, or"), (lambda a, b: max(a, b), "max()"), (lambda a, b: a and b, "and"),
        (lambda a, b: not a, "not"), (lambda a, b: a == b, "=="), (lambda a, b: a != 0.0, "=="), (lambda a, b: a in [b], "=="),
        (lambda a, b: float(a), "float()"), (lambda a, b: math.sin(a), "float()"), (lambda a, b: int(a), "int()"),
        (lambda a, b: np.where(a < b, a, b), "if, and"), (lambda a, b: np.minimum(a, b), "min()"), (lambda a, b: np.max([a, b]), "max()"),
        (lambda a, b: np.ones(2) < a, "if, and"), (lambda a, b: a < np.ones(2), "if, and"), (lambda a, b: np.sign(a), "if, and"),
        (lambda a, b: np.floor(a), "float()"),
    ],
)  # fmt: skip
def test_what_needs_the_number_is_refused_with_advice(action: Callable[[Any, Any], Any], named: str) -> None:
    _, a, b, _ = three()
    with pytest.raises(TracingError, match="was applied to a traced value") as caught:
        action(a, b)
    assert named in str(caught.value) and "linkwright.numerics.scalars.where(condition, a, b)" in str(caught.value)
    assert isinstance(caught.value, UsageError)


def test_a_value_equals_itself_only() -> None:
    _, a, b, _ = three()
    again = negated(negated(a))
    assert a == again and not operator.ne(a, again) and len({a, again, b}) == 2


def test_division_by_zero_and_wrong_conditions_are_refused() -> None:
    _, a, b, _ = three()
    with pytest.raises(TracingError, match="divided by zero: a length or mass"):
        a / 0
    with refused(TracingError, name="where"):
        where(a, 1.0, b)


@pytest.mark.parametrize("other", ["text", None, 1j, [1.0]])
@pytest.mark.parametrize("function", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt, operator.ge])
def test_foreign_operands_are_python_type_errors(function: Callable[[Any, Any], Any], other: Any) -> None:
    _, a, _, _ = three()
    with pytest.raises(TypeError):
        function(a, other)
    with pytest.raises(TypeError):
        function(other, a)


# ---------------------------------------------------------------- trace


def test_trace_names_inputs_and_results() -> None:
    program = trace(lambda A, x, t: {"y": A @ x + t, "s": x.sum()}, A=(2, 3), x=3, t=())
    assert [(b.name, b.shape, b.start) for b in program.inputs] == [("A", (2, 3), 0), ("x", (3,), 6), ("t", (), 9)]
    assert [(b.name, b.shape, b.start) for b in program.outputs] == [("y", (2,), 0), ("s", (), 2)]
    values = {"A": np.arange(6.0).reshape(2, 3), "x": [1.0, 0.5, -1.0], "t": 10.0}
    found = program.unpack(interpret(program, program.pack(values)))
    np.testing.assert_allclose(found["y"], values["A"] @ values["x"] + 10.0)
    assert found["s"].shape == () and found["s"] == 0.5


def test_a_node_shows_what_it_is() -> None:
    _, a, b, _ = three()
    assert repr(a) == "Sym(input #0)" and repr(a * b).startswith("Sym(mul #") and Op(a.g.op[(a * b).i]) is Op.MUL
