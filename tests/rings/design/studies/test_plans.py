"""Plans: any stretch of rows is the same as in the whole, spaces are filled evenly, permutations are permutations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from linkwright.errors import UsageError
from linkwright.rings.design.studies.plans import Grid, permuted, plan
from linkwright.rings.design.studies.variations import variation
from tests.refusals import refused

TWO = [variation("a", "1..3 / 3", None), variation("b", "10 +- 1", None), variation("c", [4.0, 5.0], None)]


@pytest.mark.parametrize("kind", ["sobol", "latin", "random", "saltelli"])
def test_a_stretch_of_rows_is_the_same_as_in_the_whole(kind: str) -> None:
    p = plan(kind, TWO, 1500, 7)
    whole = p.rows(0, len(p))
    for first, last in ((0, 1), (1000, 1100), (1023, 1025), (len(p) - 3, len(p))):
        np.testing.assert_array_equal(p.rows(first, last), whole[first:last])
    assert not np.array_equal(plan(kind, TWO, 1500, 8).rows(0, 1500), whole[:1500])
    assert (np.abs(whole[:, 1] - 10.0) <= 1.0).all() and set(whole[:, 2]) == {4.0, 5.0}


def test_a_latin_hypercube_has_one_row_in_every_stratum() -> None:
    n = 777
    u = plan("latin", TWO, n, 3).draws(0, n)
    for column in u.T:
        assert sorted((column * n).astype(int)) == list(range(n))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 64, 1000])
def test_a_permutation_that_is_never_written_down(n: int) -> None:
    found = permuted(np.arange(n), n, [5])
    assert sorted(found) == list(range(n))
    assert n < 50 or np.abs(np.corrcoef(found, np.arange(n))[0, 1]) < 4.0 / np.sqrt(n)  # four standard deviations of chance


def test_sobol_is_the_sequence_of_scipy() -> None:
    known = qmc.Sobol(3, scramble=True, rng=np.random.default_rng(7)).random(256)
    np.testing.assert_array_equal(plan("sobol", TWO, 256, 7).draws(0, 256), known)


def test_saltelli_exchanges_one_variable_at_a_time() -> None:
    u = plan("saltelli", TWO, 16, 0).draws(0, 16 * 5).reshape(16, 5, 3)
    A, B = u[:, 0], u[:, 1]
    for i in range(3):
        mixed = u[:, 2 + i]
        assert (mixed[:, i] == B[:, i]).all()
        assert (np.delete(mixed, i, axis=1) == np.delete(A, i, axis=1)).all()


def test_a_grid_has_the_last_variable_fastest_and_one_at_a_time_its_middle_first() -> None:
    g = plan(None, [TWO[0], TWO[2]], None, 0)
    assert isinstance(g, Grid) and g.rows(0, 6).tolist() == [[1, 4], [1, 5], [2, 4], [2, 5], [3, 4], [3, 5]]
    one = plan("one at a time", TWO, None, 0)
    rows = one.rows(0, len(one))
    assert rows[0].tolist() == [2.0, 10.0, 5.0] and (np.count_nonzero(rows != rows[0], axis=1) <= 1).all()
    assert {9.0, 11.0} < set(rows[:, 1])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("grod", TWO, None, 0), "grod"),
        (("sobol", TWO, None, 0), "sobol"),
        (("sobol", TWO, 0, 0), "count"),
        (("sobol", TWO, 10, -1), "seed"),
        (("grid", TWO[:1], 10, 0), "grid"),
        (("grid", TWO, None, 0), "grid"),
    ],
)
def test_plans_that_do_not_exist_are_refused(arguments, name) -> None:
    with refused(UsageError, name=name):
        found = plan(*arguments)
        len(found)
