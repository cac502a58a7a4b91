"""`nullspace` and `projection` as plain loops against their float versions, on random mechanisms and at lost rank."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.compiler.loops import native
from linkwright.mechanics.dynamics.terms import of_matrices, terms
from linkwright.mechanics.formulations.dense_loops import Dense, nullspace_loop, nullspace_solve, projection_loop, projection_solve, room
from linkwright.mechanics.formulations.nullspace import Nullspace
from linkwright.mechanics.formulations.projection import Projection
from linkwright.numerics.linalg import RANK_TOLERANCE
from tests.mechanics.formulations.mechanisms import moving

PAIRS = [(nullspace_solve, Nullspace()), (projection_solve, Projection())]


def compare(solve, reference, T, tau, tolerance):
    a, lam, _ = solve(T.M, T.h, T.J, T.k, tau, T.columns, T.row_scale, RANK_TOLERANCE)
    raw = reference(T, tau)
    np.testing.assert_allclose(a / T.columns, raw.a / T.columns, rtol=0, atol=tolerance * (1.0 + np.abs(raw.a / T.columns).max()))
    np.testing.assert_allclose(lam, raw.lam, rtol=0, atol=tolerance * (1.0 + np.abs(raw.lam).max(initial=0.0)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("solve", "reference"), PAIRS)
def test_random_mechanisms(seed, solve, reference):
    loops, q, v, rng = moving(seed)
    T = terms(loops, q, v)
    M = T.M * T.columns * T.columns[:, None]
    s = np.linalg.svd(T.dimensionless_J(), compute_uv=False)
    s = s[s > 1e-9]
    condition = np.linalg.cond(M) * (s[0] / s[-1] if len(s) else 1.0)
    compare(
        solve, reference, T, rng.normal(size=T.nv), 1e-10 * max(1.0, 1e-6 * condition)
    )  # more only where digits are lost by the problem


@pytest.mark.parametrize(("solve", "reference"), PAIRS)
@pytest.mark.parametrize("case", ["duplicated", "vanishing", "none", "all"])
def test_any_rank(rng, solve, reference, case):
    n = 5
    A = rng.normal(size=(n, n))
    J = rng.normal(size=(3, n))
    k = rng.normal(size=3)
    if case == "duplicated":
        J[2], k[2] = J[0], k[0]
    elif case == "vanishing":
        J[1], k[1] = 1e-12 * J[1], 0.0
    elif case == "none":
        J, k = np.zeros((0, n)), np.zeros(0)
    else:
        J, k = rng.normal(size=(n, n)), rng.normal(size=n)
    T = of_matrices(
        A @ A.T + np.eye(n), rng.normal(size=n), J, k, columns=rng.uniform(0.5, 2.0, n), row_scale=rng.uniform(0.5, 2.0, len(k))
    )
    compare(solve, reference, T, rng.normal(size=n), 1e-11)


def test_gamma_does_not_matter(rng):
    M, J = np.diag([1.0, 2.0, 3.0]), np.array([[1.0, 1.0, 0.0]])
    h, k, tau, ones = np.zeros(3), np.array([0.3]), rng.normal(size=3), np.ones(3)
    results = [projection_solve(M, h, J, k, tau, ones, ones[:1], RANK_TOLERANCE, gamma)[0] for gamma in (0.0, 0.1, 50.0)]
    np.testing.assert_allclose(results[1], results[0], atol=1e-13)
    np.testing.assert_allclose(results[2], results[0], atol=1e-13)


def test_compiled_loops_give_the_same_bits(rng):
    small = Dense(*(np.zeros((1, 1)) if i in (0, 2) else np.zeros(1) for i in range(9)))
    nullspace = native(nullspace_loop, (small, room(1, 1), 1.0))
    projection = native(projection_loop, (small, room(1, 1), 1.0, 1.0))
    for m in (0, 2, 4):
        n = 5
        A, J = rng.normal(size=(n, n)), rng.normal(size=(m, n))
        if m == 4:
            J[3] = J[1]
        terms = (A @ A.T, rng.normal(size=n), J, rng.normal(size=m), rng.normal(size=n), np.ones(n), np.ones(m))
        for compiled, more, reference in ((nullspace, (), nullspace_solve), (projection, (0.0,), projection_solve)):
            d, space = Dense(*terms, np.zeros(n), np.zeros(m)), room(n, m)
            again = compiled.bound(d, space, RANK_TOLERANCE, *more)
            for _ in range(2):
                rank = again()
                a, lam, expected = reference(*terms, RANK_TOLERANCE, *more)
                assert rank == expected == min(m, 3)
                np.testing.assert_array_equal(d.a, a)
                np.testing.assert_array_equal(d.lam, lam)
