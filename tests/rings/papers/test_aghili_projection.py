"""Aghili's projection as matrices: C = dP/dt along a motion, items that notice a wrong term, and operation counts in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.papers import aghili_cost, aghili_laws, aghili_projection
from linkwright.rings.papers.aghili_projection import largest, null_basis_rate, problems, projector_of, projector_rate


@pytest.fixture(scope="module")
def scraper() -> lw.System:
    return lw.compile(lw.load("carpet-scraper"), cuts=["J8", "J9", "J10"])


def test_C_is_the_rate_of_P_along_a_motion(scraper: lw.System) -> None:
    """[Aghili2005 (14)]: the crank at 4.7124 rad/s; P at assembled positions before and after, differences of order four."""
    speed, step = 4.7124, 1e-3

    def rows(time: float) -> np.ndarray:
        st = scraper.assemble(q={"J1": 0.7 + speed * time}, v={"J1": speed})
        return scraper.terms(st).dimensionless_J()

    def rate(of: object) -> np.ndarray:
        return (8.0 * (of(rows(step)) - of(rows(-step))) - (of(rows(2 * step)) - of(rows(-2 * step)))) / (12.0 * step)

    C = rate(projector_of)
    st = scraper.assemble(q={"J1": 0.7}, v={"J1": speed})
    V, V_rate = null_basis_rate(scraper, st)
    S = V_rate @ V.T
    assert largest(C) > 0.1, "P turns"
    np.testing.assert_allclose(S + S.T, C, atol=1e-8)  # differences of order four with (1 ms)^4
    np.testing.assert_allclose(projector_rate(rows(0.0), rate(lambda J: J)), C, atol=1e-8)
    t = scraper.terms(st)
    across = -np.linalg.pinv(t.dimensionless_J()) @ (t.k / t.row_scale)
    np.testing.assert_allclose(C @ st.v, across, atol=1e-7)  # (16): what C and S give on a motion
    np.testing.assert_allclose(S @ st.v, across, atol=1e-7)
    x = np.ones(len(st.v))
    assert largest(C @ x - S @ x) > 1e-2, "and only there: for other vectors S' counts"


def test_random_problems_are_in_motion_and_some_are_redundant() -> None:
    found = list(problems(20))
    for p in found:
        assert largest(p.A @ p.v) < 1e-12 * largest(p.A) * largest(p.v) and largest(p.rate @ p.v) > 1e-6
    assert sum(np.linalg.matrix_rank(p.A, tol=1e-9) < len(p.A) for p in found) == 10


@pytest.mark.parametrize(("item", "kind"), [("inertia_variants", "symmetric"), ("definiteness", "skew"), ("constraint_force", "skew")])
def test_a_wrong_matrix_is_noticed(item: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = aghili_projection.constraint_inertia

    def wrong(M: np.ndarray, P: np.ndarray, which: str = "scaled", gamma: float | None = None) -> np.ndarray:
        return right(M, P, which, gamma) + (0.01 * P @ M if which == kind else 0.0)

    monkeypatch.setattr(aghili_projection, "constraint_inertia", wrong)
    assert getattr(aghili_projection, item)().verdict == "differs"


@pytest.mark.parametrize("item", ["inertia_variants", "acceleration_split", "constraint_force"])
def test_motion_without_C_is_noticed(item: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C_c q' takes part: without it the motion is another."""
    monkeypatch.setattr(aghili_projection, "projector_rate", lambda A, rate: np.zeros((A.shape[1], A.shape[1])))
    assert getattr(aghili_projection, item)().verdict == "differs"


def test_forces_that_are_not_the_least_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A force across the null space leaves the motion and lengthens the effort."""
    right = aghili_laws.ProjectedLaw.f.fget
    monkeypatch.setattr(aghili_laws.ProjectedLaw, "f", property(lambda law: right(law) + 0.01 * law.problem.A[0]))
    assert aghili_laws.least_norm().verdict == "differs" and aghili_laws.passive_joints().verdict == "differs"


@pytest.mark.parametrize(("n", "m"), [(3, 1), (7, 6), (12, 5)])
def test_counts_are_those_of_the_textbook(n: int, m: int) -> None:
    """Full products take n^3 multiplications and n^2 (n - 1) additions."""
    product = n**3 + n**2 * (n - 1)
    counts = {kind: tuple(c.total for c in aghili_cost.forming(kind, n, m)) for kind in aghili_cost.KINDS}
    assert counts["skew"] == (product + 2 * n**2, n * (2 * n - 1))
    assert counts["symmetric"] == (4 * product + n**2 + n, 2 * n * (2 * n - 1) + 2 * n)  # 1 - P changes n entries
    assert counts["scaled"] == (product + 2 * n**2 + n, n)
    given, from_A = (aghili_cost.whole("scaled", n, m, from_constraints=x) for x in (False, True))
    assert (given.div, from_A.div, aghili_cost.standard(n, m).div) == (n, n + m, n + m)


def test_two_products_give_the_symmetric_matrix() -> None:
    x = aghili_cost.numbers(6, 2)
    P = aghili_cost.projector_by_rows(x.A, x.k)[0]
    np.testing.assert_allclose(aghili_cost.symmetric_by_two_products(x.M, P), aghili_cost.matrix("symmetric", x.M, P, 1.0), atol=1e-12)
