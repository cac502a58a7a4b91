"""Expressions: folding, printing and reading back, values of every kind, parameters that need each other."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.errors import ModelError
from linkwright.text.expressions import Expr, atan2, cos, evaluate, evaluate_parameters, free_variables, sin, sqrt, variable
from linkwright.text.parser import parse
from tests.refusals import refused

x, y = variable("x"), variable("y")

TEXTS = [
    "2*L1 + 5",
    "-x^2",
    "(-x)^2",
    "a - (b - c)*-d/(e/f)",
    "sqrt(a^2 + b^2)*-3e-3",
    "atan2(a, b) - -2",
    "a^(b^c)",
    "(a^b)^c",
    "a/(b*c)",
    "a/b*c",
    "-(x + y)*-z",
    "min(a, max(b, 2), c)",
    "abs(-x)",
    "exp(-t)*sin(2*pi*t)",
    "log(x) + log10(y)",
    "A.v*ram.P.x",
    "1/3*x",
    "-(-x)",
    "x - -y",
    "2^x",
    "1e-300*x",
]


@pytest.mark.parametrize("text", TEXTS)
def test_print_and_read_gives_the_identical_tree(text):
    tree = parse(text)
    assert parse(str(tree)) == tree


def test_random_trees_survive_printing(rng):
    def grow(depth):
        if depth == 0 or rng.random() < 0.2:
            return variable(str(rng.choice(["x", "y", "L1"]))) if rng.random() < 0.6 else float(rng.normal())
        kind = rng.integers(7)
        a, b = grow(depth - 1), grow(depth - 1)
        if kind == 5:
            return -a
        if kind == 6:
            return sqrt(abs(a) + 1.0)
        return [a + b, a - b, a * b, a / (b * b + 2.0), (a * a + 1.0) ** 3.0][kind]

    for _ in range(300):
        tree = grow(5)
        assert parse(str(tree)) == tree


def test_constants_and_neutral_elements_fold():
    assert x * 0 == 0.0 and 0 * x == 0.0
    assert x * 1 is x and x + 0 is x and 0 + x is x and x - 0 is x and x / 1 is x and x**1 is x
    assert x**0 == 1.0 and 0 / x == 0.0 and x - x == 0.0
    negative = -x
    assert -negative is x and 0 - x == -x
    assert parse("2*3 + 4^0.5") == 8.0 and isinstance(parse("sqrt(16)"), float)
    assert sqrt(x) * sqrt(x) is x


def test_equal_expressions_are_one_object_that_hashes_and_copies():
    a, b = (x + 1) * y, (variable("x") + 1.0) * variable("y")
    assert a is b and hash(a) == hash(b) and {a: 1}[b] == 1
    assert copy.deepcopy(a) == a and pickle.loads(pickle.dumps(a)) == a
    assert a != (x + 2) * y
    with pytest.raises(AttributeError):
        a.op = "mul"


def test_numpy_code_runs_on_expressions():
    R = np.array([[cos(x), -sin(x)], [sin(x), cos(x)]], dtype=object)
    v = R @ np.array([y, 0.0], dtype=object)
    values = {"x": 0.3, "y": 2.0}
    assert [evaluate(e, values) for e in v] == pytest.approx([2 * math.cos(0.3), 2 * math.sin(0.3)], rel=1e-15)
    assert np.sqrt(np.array([x], dtype=object))[0] == sqrt(x)
    assert (x * np.array([1.0, 2.0]))[1] == x * 2.0


@pytest.mark.parametrize(
    "text",
    ["sin(x)*sqrt(x) + exp(-x)/x", "atan2(x, 2) + tan(x)", "asin(x/4) + acos(x/5)*atan(x)", "max(x, 1)*abs(-x)", "log(x)*log10(x)"],
)
def test_complex_step_gives_the_derivative(text):
    tree, at, h = parse(text), 1.7, 1e-20
    derivative = evaluate(tree, {"x": complex(at, h)}).imag / h
    d = 1e-6
    difference = (evaluate(tree, {"x": at + d}) - evaluate(tree, {"x": at - d})) / (2 * d)
    assert derivative == pytest.approx(difference, rel=1e-8)  # central differences reach about 1e-10


def test_logarithms():
    assert parse("log(2)") == math.log(2) and parse("log10(1000)") == 3.0
    assert evaluate(parse("log10(x)"), {"x": 2.0}) == pytest.approx(math.log10(2.0), rel=1e-15)
    g = TraceGraph()
    program = g.program([("f", np.array([evaluate(parse("log10(x)"), {"x": g.input("x", 1)[0]})], dtype=object))])
    assert interpret(program, np.array([[2.0]]))[0, 0] == pytest.approx(math.log10(2.0), rel=1e-15)


def test_evaluation_is_partial():
    tree = parse("k*(A - a0)")
    rest = evaluate(tree, {"k": 3.0, "a0": 1.0})
    assert isinstance(rest, Expr) and free_variables(rest) == {"A"}
    assert evaluate(rest, {"A": 5.0}) == 12.0


def test_parameters_refer_to_each_other_and_overrides_win():
    parameters = {"b": parse("2*a"), "a": 3.0, "c": parse("a + b")}
    assert evaluate_parameters(parameters, {}) == {"b": 6.0, "a": 3.0, "c": 9.0}
    assert evaluate_parameters(parameters, {"b": 1.0})["c"] == 4.0
    with refused(ModelError, name="lenght", allowed=("length",)):
        evaluate_parameters({"length": 1.0}, {"lenght": 2.0})


def test_a_circle_of_parameters_is_named():
    with refused(ModelError, name="parameters"):
        evaluate_parameters({"a": parse("b"), "b": parse("c + 1"), "c": parse("2*a")}, {})
    assert evaluate_parameters({"a": parse("b"), "b": parse("a")}, {"a": 1.0})["b"] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "1/0",
        "sqrt(-1)",
        "1/(2 - 2)",
        "exp(1000)",
        "10^400",
        "(-1)^0.5",
        "asin(2)",
        "log(0)",
        "log10(-1)",
        "nan",
        "inf",
        "1e999",
        "2 +",
        "(1",
        "foo(2)",
        "atan2(1)",
        "2 3",
        "a b",
        "__import__('os')",
        "x[0]",
        "x; y",
        "lambda: 1",
        "(" * 500 + "1" + ")" * 500,
        "1+" * 20000 + "1",
        "-" * 50 + "(" * 70 + "1" + ")" * 70,
        "2^" * 100 + "2",
        "",
    ],
)
def test_nonsense_is_refused(text):
    with pytest.raises(ModelError):
        parse(text)


def test_division_by_a_parameter_that_is_zero_is_our_error():
    with refused(ModelError, name="1.0 / 0.0"):
        evaluate(1.0 / x, {"x": 0.0})


def test_helpers_work_on_floats_and_expressions():
    assert atan2(1.0, 1.0) == math.pi / 4
    assert evaluate(atan2(x, y), {"x": 1.0, "y": 1.0}) == math.pi / 4
