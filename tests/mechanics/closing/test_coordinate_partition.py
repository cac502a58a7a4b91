"""Blocks of a pattern against those of scipy's graph routines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from linkwright.mechanics.closing import coordinate_partition


@pytest.mark.parametrize("n", [1, 2, 5, 12, 64, 70])
def test_blocks_are_the_strong_components_of_the_matched_pattern(n: int, rng: np.random.Generator) -> None:
    for density in (0.5 / n, 1.5 / n, 0.5):
        square = (rng.random((n, n)) < density) | np.eye(n, dtype=bool)[rng.permutation(n)]
        blocks = coordinate_partition._blocks(square, range(n), range(n))
        match = maximum_bipartite_matching(csr_matrix(square), perm_type="column")
        labels = connected_components(csr_matrix(square[np.argsort(match)]), connection="strong")[1]
        expected = {frozenset(np.flatnonzero(labels == k)) for k in set(labels)}
        assert {frozenset(b.columns) for b in blocks} == expected
        assert sorted(i for b in blocks for i in b.rows) == list(range(n))
        for b in blocks:
            assert set(match[list(b.rows)]) == set(b.columns)  # each block is matched within itself


def test_a_pattern_without_a_matching_is_one_block() -> None:
    square = np.array([[True, True, True], [False, False, True], [False, False, True]])
    assert [b.columns for b in coordinate_partition._blocks(square, range(3), range(3))] == [(0, 1, 2)]
