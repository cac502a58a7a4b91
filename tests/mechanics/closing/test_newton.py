"""Newton's method onto the loops: one position or many, and a search that must not leave its branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.closing.newton import Bounds, EachRule, PositionRows, Rule, close, onto, onto_each
from linkwright.numerics.tolerances import CLOSED_AT_BEST
from tests.sweeps import sweep


def rows_of(s: Any) -> Any:
    """Rows at a position or at several."""
    loops, zero = compiled_of(s).loops, np.zeros(s.tree.nv)

    def rows(q: np.ndarray) -> PositionRows:
        if q.ndim == 2:
            return PositionRows(*(np.array(x) for x in zip(*(rows(one) for one in q), strict=True)))
        c = loops.at(q, zero, 0.0, s.start.references)
        return PositionRows(*loops.dimensionless(c), c.b / loops.row_scale)

    return rows


@sweep("name", ["wiper", "bennett", "stewart"], now=2)
def test_many_positions_end_where_each_ends_alone(rng: np.random.Generator, name: str) -> None:
    """Some begin closed, some a little off, some far enough off to be damped or shortened."""
    s = lw.compile(name)
    sizes = np.array([0.0, 1e-9, 1e-4, 1e-2, 0.3, 1.5])
    q = compiled_of(s).loops.displaced(s.start.q, sizes[:, None] * rng.normal(size=(len(sizes), s.tree.nv)))
    found = onto(rows_of(s), compiled_of(s).loops.displaced, q, Rule())
    for i, begin in enumerate(q):
        alone = close(compiled_of(s).loops, begin, s.start.references)
        assert found.residual[i] == pytest.approx(alone.residual, abs=1e-13)
        np.testing.assert_allclose(found.q[i], alone.at.q, atol=1e-9)
        assert found.moved[i] == pytest.approx(alone.moved, abs=1e-9)
    assert (found.residual[:4] < CLOSED_AT_BEST).all() and found.moved[0] == 0.0


def test_a_bounded_search_gives_up_rather_than_jump(rng: np.random.Generator) -> None:
    s = lw.compile("wiper")
    rank, q = len(compiled_of(s).loops.row_scale), compiled_of(s).loops.displaced(s.start.q, 1e-3 * rng.normal(size=s.tree.nv))
    rule = Rule(8, bounds=Bounds(rank, lambda s, before: 0.1, lambda s: 1e-13))
    found = onto(rows_of(s), compiled_of(s).loops.displaced, q, rule)
    assert found.settled and np.abs(rows_of(s)(found.q).phi).max() < 1e-14
    np.testing.assert_allclose(compiled_of(s).loops.displaced(q, found.e), found.q, atol=1e-12)
    first = float(np.linalg.norm(found.e))
    short = onto(
        rows_of(s), compiled_of(s).loops.displaced, q, Rule(8, bounds=Bounds(rank, lambda s, before: 0.5 * first, lambda s: 1e-13))
    )
    assert not short.settled and not short.e.any()
    weak = onto(
        rows_of(s),
        compiled_of(s).loops.displaced,
        q,
        Rule(8, bounds=Bounds(rank, lambda s, before: 0.1, lambda s: 1e-13, lambda s: s > 1e3)),
    )
    assert not weak.settled and not weak.e.any()


def test_a_search_stays_within_its_reach(rng: np.random.Generator) -> None:
    s = lw.compile("wiper")
    begin = compiled_of(s).loops.displaced(s.start.q, 0.2 * rng.normal(size=s.tree.nv))
    whole = close(compiled_of(s).loops, begin, s.start.references)
    part = close(compiled_of(s).loops, begin, s.start.references, reach=0.5 * whole.moved)
    assert part.moved <= 0.5 * whole.moved and part.residual > CLOSED_AT_BEST > whole.residual


def test_each_position_ends_as_it_would_alone() -> None:
    """Roots of x^2 = a by Newton steps: what one start does changes no bit of another, and those that leave the rule are given up."""
    a = np.array([4.0, 9.0, -1.0, 2.0, 0.25, 3.0])
    begin = np.array([2.0001, 2.5, 1.1, -1.3, 40.0, np.nan])[:, None]

    def steps(x: np.ndarray, at: np.ndarray) -> np.ndarray:
        return (a[at, None] - x * x) / (2.0 * x)

    rule = EachRule(most=30, last=1e-8, share=0.9)
    found, settled = onto_each(steps, np.add, begin, rule)
    assert settled.tolist() == [True, True, False, True, True, False]
    np.testing.assert_allclose(found[settled, 0], [2.0, 3.0, -np.sqrt(2.0), 0.5], rtol=1e-15)
    for i in range(len(a)):
        alone, there = onto_each(lambda x, at, i=i: steps(x, at + i), np.add, begin[i : i + 1], rule)
        np.testing.assert_array_equal(alone[0], found[i])
        assert there[0] == settled[i]
    assert not onto_each(steps, np.add, begin, rule._replace(most=2))[1][4]  # 40 -> 20 -> 10
    far, _ = onto_each(steps, np.add, begin[:5], rule._replace(first=np.full(5, 10.0)))
    assert far[4, 0] == 40.0, "a first step of 20 is not taken"
    short, _ = onto_each(steps, np.add, begin[:5], rule._replace(most=1, longest=0.1))
    assert short[4, 0] == 40.0 - 0.1 and np.isclose(short[1, 0], 2.6)
