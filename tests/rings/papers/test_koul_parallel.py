"""What can be computed in parallel: levels against dependencies found by numbers, subsystems alone against the whole."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.papers import koul_parallel as parallel
from linkwright.rings.papers.koul_matrices import excavator, scraper


def test_levels_of_known_patterns():
    """A path from its end, from both ends inwards, and blocks that are all coupled; the depth of a path of seven is three."""
    path = {i: {k for k in (i - 1, i + 1) if 0 <= k < 7} for i in range(7)}
    assert max(parallel.levels(parallel.filled(path, range(7))).values()) == 7
    assert max(parallel.levels(parallel.filled(path, (0, 6, 1, 5, 2, 4, 3))).values()) == 4
    assert parallel.levels(parallel.filled(path, (0, 2, 4, 6, 1, 5, 3))) == {0: 1, 2: 1, 4: 1, 6: 1, 1: 2, 5: 2, 3: 3}
    every = {i: set(range(5)) - {i} for i in range(5)}
    assert max(parallel.levels(parallel.filled(every, range(5))).values()) == 5


def schur(K: np.ndarray, spans: list[slice], order: list[int]) -> dict[int, np.ndarray]:
    """Pivot of every block by plain elimination of the whole matrix."""
    K, out = K.copy(), {}
    for n, p in enumerate(order):
        out[p] = K[spans[p], spans[p]].copy()
        for i in order[n + 1 :]:
            for k in order[n + 1 :]:
                K[spans[i], spans[k]] -= K[spans[i], spans[p]] @ np.linalg.solve(K[spans[p], spans[p]], K[spans[p], spans[k]])
    return out


@pytest.mark.parametrize("which", range(3))
def test_depth_is_the_longest_chain_of_pivots_that_change_each_other(which):
    """Dependencies by numbers: a pivot waits for another one if a change of that block changes it."""
    plan = parallel.plans()[which]
    s = (excavator, parallel.stewart, parallel.stewart)[which]()
    t = s.terms(s.start)
    hub = [block - len(plan.loops) for block in plan.below if block >= len(plan.loops)]
    first = [j for j in range(len(t.I)) if j not in hub]
    K = -sum(t.J[:, t.spans[j]] @ np.linalg.solve(t.I[j], t.J[:, t.spans[j]].T) for j in first)
    spans = list(t.rows)
    for j in hub:  # I a - J' lam on the right side: its rows stay, below those of the loops
        K = np.block([[K, t.J[:, t.spans[j]]], [t.J[:, t.spans[j]].T, t.I[j]]])
        spans.append(slice(t.nc, t.nc + len(t.I[j])))
    number = {block: block if block < len(plan.loops) else len(plan.loops) for block in plan.below}
    order = [number[block] for block in plan.below]
    plain = schur(K, spans, order)
    longest = dict.fromkeys(order, 1)
    for n, p in enumerate(order):
        changed = K.copy()
        changed[spans[p], spans[p]] *= 1.5
        others = schur(changed, spans, order)
        for k in order[n + 1 :]:
            if np.abs(others[k] - plain[k]).max() > 1e-9 * np.abs(plain[k]).max():
                longest[k] = max(longest[k], longest[p] + 1)
    assert longest == {number[block]: level for block, level in plan.level.items()}
    assert plan.depth == max(longest.values()) == (4, 6, 2)[which]


def test_a_subsystem_alone_needs_nothing_of_the_others():
    """Other efforts elsewhere, the same multipliers: not one bit changes."""
    s, st = scraper()
    tau, lam = np.zeros(7), np.asarray(s.forward(st).solution.lam)
    for j, sub in enumerate(s.tree.subsystems):
        there = np.full(7, 100.0)
        there[sub.v] = 0.0
        here = parallel.alone(s, st, j, lam, tau)
        assert (parallel.alone(s, st, j, lam, there) == here).all()
        np.testing.assert_allclose(here, s.forward(st).a[sub.v], rtol=1e-10)  # the other way: blocks eliminated together
    assert np.abs(parallel.alone(s, st, 1, lam + 1.0, tau) - s.forward(st).a[s.tree.subsystems[1].v]).max() > 1.0


def test_the_item():
    item = parallel.parallel_subsystems()
    assert item.verdict == "agrees" and "4 loops in 4 levels (3 in the best order)" in item.computed
    assert parallel.fewest_levels(parallel.stewart()) == 6 and "6 loops in 6" in item.computed
