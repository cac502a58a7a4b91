"""The counting scalar: it counts what a compiler would emit and nothing else, and computes what floats compute."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.numerics.linalg import ldl
from linkwright.numerics.scalars import eliminate
from linkwright.rings.papers.operation_counts import Counted, Counts, Tally, count, run, values, variables

FREE = {
    "0 x": lambda x: 0 * x + x * 0.0,
    "1 x": lambda x: 1.0 * x * 1,
    "-1 x": lambda x: -1.0 * x * -1,
    "x + 0": lambda x: (0.0 + x) - 0 + np.float64(0.0),
    "0 - x": lambda x: 0.0 - x,
    "x / 1": lambda x: x / 1.0,
    "0 / x": lambda x: 0.0 / x,
    "constants": lambda x: x * (np.cos(0.0) * 2.0 - 1.0),
    "comparison": lambda x: x > 1.0 or x <= np.float64(0.5) or float(x) == 2.0,
}
COSTS = {
    "x + y - 2": (lambda x, y: x + y - 2.0, Counts(add=2)),
    "3 - x": (lambda x, y: 3.0 - x, Counts(add=1)),
    "2 x y": (lambda x, y: 2.0 * x * y, Counts(mul=2)),
    "x / 3": (lambda x, y: x / 3.0, Counts(mul=1)),
    "x / y": (lambda x, y: x / y, Counts(div=1)),
    "1 / x": (lambda x, y: 1.0 / x, Counts(div=1)),
    "x^3": (lambda x, y: x**3, Counts(mul=2)),
    "sqrt": (lambda x, y: np.sqrt(x) + y**0.5, Counts(add=1, sqrt=2)),
    "functions": (lambda x, y: np.sin(x) * np.cos(y) + np.exp(-x) - np.tanh(y), Counts(add=2, mul=1, trig=4)),
    "angle": (lambda x, y: np.arctan2(y, x), Counts(trig=1)),
}


@pytest.mark.parametrize("name", FREE)
def test_what_a_compiler_folds_is_free(name: str) -> None:
    assert count(lambda x: FREE[name](x[0]), [1.7]) == Counts()


@pytest.mark.parametrize("name", COSTS)
def test_what_is_left_is_counted_and_computed(name: str) -> None:
    function, cost = COSTS[name]
    done = run(lambda x: function(x[0], x[1]), [1.7, 0.6])
    assert done.counts == cost
    # x / 3 is x times the rounded reciprocal: one unit in the last place
    assert float(done.result) == pytest.approx(float(function(1.7, 0.6)), rel=3e-16)


def test_products_of_full_matrices_cost_the_textbook_number(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(4, 5)), rng.normal(size=(5, 3))
    done = run(lambda a, b: a @ b, A, B)
    assert done.counts == Counts(add=4 * 3 * 4, mul=4 * 3 * 5)
    np.testing.assert_allclose(values(done.result), A @ B, rtol=1e-13)


def test_a_constant_matrix_costs_only_its_entries_that_are_not_0_or_1() -> None:
    A = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 3.0]])
    assert count(lambda x: A @ x, np.ones(3)) == Counts(add=1, mul=2)


def test_elimination_costs_the_textbook_number(rng: np.random.Generator) -> None:
    n = 6
    A = rng.normal(size=(n, n)) + n * np.eye(n)
    done = run(lambda A, b: eliminate(A, b, quotients=True)[0], A, A @ np.arange(n))
    # below each pivot: one quotient a row, and products for the row and the right side
    below = sum((n - 1 - k) * (n - k) for k in range(n))
    assert done.counts.mul == below + n * (n - 1) // 2
    assert done.counts.div == n * (n - 1) // 2 + n
    np.testing.assert_allclose(values(done.result), np.arange(n), atol=1e-13)


def test_zeros_of_an_arrow_matrix_cost_nothing(rng: np.random.Generator) -> None:
    """Tip last, an arrow matrix factors without fill: linear in its size though the code loops over all entries."""

    def arrow(n: int) -> Counts:
        tally = Tally()
        A = np.zeros((n, n), dtype=object)
        for i in range(n):
            A[i, i] = Counted(4.0 + n, tally)
            A[-1, i] = A[i, -1] = Counted(float(rng.normal()) if i < n - 1 else 4.0 + n, tally)
        ldl(A)
        return tally.counts()

    assert arrow(20).total - arrow(10).total == arrow(30).total - arrow(20).total


def test_numbers_keep_their_tally_and_arrays_answer_entry_by_entry() -> None:
    tally = Tally()
    x = variables([1.0, 2.0], tally)
    assert variables(x, Tally())[0] is x[0]
    assert isinstance((x[0] * np.ones(3))[2], Counted) and isinstance((np.ones(3) / x[1])[0], Counted)
    assert values(x[0] - np.array([1.0, 4.0])).tolist() == [0.0, -3.0]
    with pytest.raises(TypeError):
        x[0] + "a"
