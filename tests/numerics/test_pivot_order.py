"""Sparse elimination and its order against the same on whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwright.compiler.graph import TraceGraph
from linkwright.errors import UsageError
from linkwright.numerics.pivot_order import pivot_order
from linkwright.numerics.scalars import eliminate
from tests.refusals import refused


def sparse(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    A = np.where(rng.random((n, n)) < share, rng.normal(size=(n, n)), 0.0)
    return A + np.diag(rng.uniform(1.0, 2.0, n))[rng.permutation(n)]


def whole(samples: list[np.ndarray], structure: np.ndarray, threshold: float) -> tuple[list[int], list[int]]:
    """The rule of `pivot_order` word by word, on whole matrices."""
    parts, there = [A.copy() for A in samples], structure.copy()
    rows, columns = list(range(len(structure))), list(range(len(structure)))
    order: tuple[list[int], list[int]] = ([], [])
    while rows:
        at = np.ix_(rows, columns)
        sizes = [np.abs(A[at]) * there[at] for A in parts]
        share = np.min([x / np.maximum(x.max(axis=0), 1e-300) for x in sizes], axis=0)
        fill = np.outer(there[at].sum(axis=1) - 1, there[at].sum(axis=0) - 1)
        good = there[at] & (share >= min(threshold, 0.999 * share.max()))
        _, _, i, j = min((fill[i, j], -share[i, j], i, j) for i, j in zip(*np.nonzero(good), strict=True))
        r, c = rows.pop(int(i)), columns.pop(int(j))
        order[0].append(r)
        order[1].append(c)
        for k in (k for k in rows if there[k, c]):
            for A in parts:
                A[k] = A[k] - A[k, c] / A[r, c] * A[r]
            there[k] |= there[r]
    return order


@pytest.mark.parametrize(("seed", "threshold"), [(0, 0.1), (1, 0.1), (2, 0.9), (3, 1.0)])
def test_the_order_is_that_of_whole_matrices(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)
    A = sparse(rng, 25, 0.12)
    samples = [A, np.where(A != 0.0, A + 0.3 * rng.normal(size=A.shape), 0.0)]
    assert pivot_order(samples, A != 0.0, threshold) == whole(samples, A != 0.0, threshold)


def test_a_singular_matrix_has_no_order() -> None:
    with refused(UsageError, name="matrix"):
        pivot_order([np.zeros((2, 2))], np.ones((2, 2), dtype=bool))


@pytest.mark.parametrize("columns", [(), (3,)])
def test_elimination_skips_zeros(columns: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    A, b = sparse(rng, 30, 0.08), rng.normal(size=(30, *columns))
    x, pivots = eliminate(A, b, pivot_order([A], A != 0.0))
    assert np.abs(A @ x - b).max() < 1e-11 and len(pivots) == 30  # condition about 1e3


def test_the_symbols_of_a_long_band_cost_in_proportion_to_its_length() -> None:
    counts = []
    for n in (20, 200):
        graph = TraceGraph()
        off, right = graph.input("off", n), graph.input("b", n)
        A: Any = np.zeros((n, n), dtype=object)
        A[np.arange(n), np.arange(n)] = 4.0
        A[np.arange(1, n), np.arange(n - 1)] = A[np.arange(n - 1), np.arange(1, n)] = off[1:]
        counts.append(graph.program([("x", eliminate(A, right)[0])]).operations)
    assert counts[1] < 11 * counts[0]
