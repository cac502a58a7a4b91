"""Coefficients against the order conditions: one equation for every rooted tree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwright.integrators import INTEGRATORS, Problem, StepKernel
from linkwright.integrators.integration import loop_of
from linkwright.integrators.step import inside, prepare_inside
from linkwright.integrators.time_loop import march

METHODS = {m.name: m for m in INTEGRATORS.values() if not m.table.gamma}
ROUND_OFF = 1e-13  # coefficients up to 500 in size, sums of products of up to eight of them


@cache
def trees(order: int) -> tuple:
    """Rooted trees with that many nodes; a tree is the sorted tuple of its branches."""

    def forests(nodes: int, largest: tuple | None) -> set:
        if nodes == 0:
            return {()}
        out = set()
        for first in range(1, nodes + 1):
            for tree in trees(first):
                if largest is None or (first, tree) <= largest:
                    out |= {(tree, *rest) for rest in forests(nodes - first, (first, tree))}
        return out

    return tuple(sorted(forests(order - 1, None), key=repr))


def size(tree: tuple) -> int:
    return 1 + sum(size(t) for t in tree)


def density(tree: tuple) -> int:
    return size(tree) * int(np.prod([density(t) for t in tree], dtype=int))


def weight(tree: tuple, A: np.ndarray) -> np.ndarray:
    """Elementary weights of all stages."""
    out = np.ones(len(A))
    for t in tree:
        out = out * (A @ weight(t, A))
    return out


def worst(A: np.ndarray, b: np.ndarray, order: int, theta: float = 1.0) -> float:
    """Largest defect of the conditions of exactly that order."""
    return max(abs(b @ weight(t, A) - theta**order / density(t)) for t in trees(order))


def test_there_are_as_many_trees_as_known():
    assert [len(trees(k)) for k in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", METHODS)
def test_weights_have_the_order_they_promise_and_no_more(name):
    method = METHODS[name]
    A, b = method.table.a, method.table.a[method.table.stages]
    assert max(worst(A, b, k) for k in range(1, method.order + 1)) < ROUND_OFF
    assert worst(A, b, method.order + 1) > 1e-7
    np.testing.assert_allclose(A.sum(axis=1), method.table.c, atol=ROUND_OFF)
    assert not np.triu(A).any(), "explicit"


@pytest.mark.parametrize(("name", "orders"), [("dopri5", (4,)), ("dopri8", (5, 3))])
def test_error_estimates_compare_with_methods_of_lower_order(name, orders):
    table = METHODS[name].table
    b = table.a[table.stages]
    for row, order in zip(table.error, orders, strict=True):
        assert max(worst(table.a, b - row, k) for k in range(1, order + 1)) < ROUND_OFF
        assert worst(table.a, b - row, order + 1) > 1e-7


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.77, 1.0])
def test_states_inside_a_step_have_their_order(name, theta):
    method = METHODS[name]
    table = method.table
    rows = len(table.c)
    asked: list[int] = []

    def unit_rows(x, y, w):  # the derivative of stage k is the k-th unit vector: states are then the weights themselves
        y[:rows] = 0.0
        y[table.stages + 1 + len(asked)] = 1.0
        asked.append(1)
        return 0

    problem = Problem(StepKernel(rows + 1, rows, function=unit_rows), rows, 0)
    output = dict.fromkeys(("samples", "rows", "seen", "records", "ticks"), np.zeros(0))
    s = loop_of(march, problem, table, {"rates": unit_rows}, output, sampled=False).bound(1, 0, native=False).record()
    s.used = 1.0
    s.K[:rows] = np.eye(rows)
    s.new[:] = table.a[table.stages]
    assert prepare_inside(s) == 0
    assert inside(s, theta) == 0
    b = s.trial
    assert max(worst(table.a, b, k, theta) for k in range(1, method.dense_order + 1)) < 10 * ROUND_OFF
