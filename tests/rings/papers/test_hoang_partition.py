"""Methods that [Hoang2023] replaces: the fixed partition next to a zero of its determinant, the augmented Lagrangian."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.formulations import Nullspace
from linkwright.numerics.tolerances import ROUND_OFF
from linkwright.rings.papers import hoang_partition as paper


@pytest.mark.slow  # verdicts of all items of the paper: test_reproduce.py
def test_the_items_and_their_verdicts():
    found = [compute() for compute in (paper.fixed_partition, paper.passing_run, paper.augmented)]
    assert [item.verdict for item in found] == ["agrees", "differs", "differs"]
    assert found[0].figure is not None and "no solution" in found[0].computed
    assert "passes 5 zeros" in found[1].computed and found[1].deviation == pytest.approx(1.0 - 0.3935, abs=1e-3)


@pytest.mark.slow
def test_the_error_of_the_fixed_partition_grows_as_the_distance_falls():
    """R has entries of 1/det: round-off times the condition of H, which is inversely proportional to the distance."""
    kappa, off, null = np.array(list(paper.approach().values())).T
    h = np.array(paper.DISTANCES)
    np.testing.assert_allclose(kappa * h, kappa[-1] * h[-1], rtol=0.02)  # farther away, other singular values add their part
    assert off[-1] > 1e4 * off[0] and (off < 100.0 * np.finfo(float).eps * kappa).all()
    assert null.max() < 1e-13, "the null space does not notice"


def test_in_the_zero_the_fixed_partition_says_what_to_do():
    said = paper.refused()
    for words in ("A1, A2, A3 do not determine", "det J_d = 0", "not singular", "Nullspace()"):
        assert words in said
    st = paper.first_zero()(0.0)
    with pytest.raises(lw.SingularityError) as info:
        paper.accelerations(st, paper.FIXED)
    assert info.value.singular_values[-1] < 1e-12
    assert paper.deviation(st, Nullspace("partitioned")) < 1e-13, "pivoting chooses other coordinates"


def test_the_penalty_alone_is_wrong_by_its_inverse_and_the_iteration_is_not():
    found = paper.penalties()
    alpha = np.array(list(found))
    once, steps, converged = np.array(list(found.values())).T
    # 1/(1 + g), g proportional to alpha; one step solves with M + alpha J' J, whose round-off eps alpha is half of the deviation at 1e8
    wanted = alpha[-3] * once[-3]
    assert (np.abs(alpha * once - wanted) < 0.1 * wanted + 0.5 * np.finfo(float).eps * alpha**2).all()
    assert converged.max() < ROUND_OFF and (np.diff(steps) <= 0).all()
