"""`nullspace` and `projection` on bare matrices of any rank: the same motion and multipliers, whatever gamma is."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.mechanics.dynamics.terms import of_matrices
from linkwright.mechanics.formulations.nullspace import Nullspace
from linkwright.mechanics.formulations.projection import INERTIAS, Projection


@pytest.mark.parametrize("case", ["duplicated", "vanishing", "none", "all"])
def test_any_rank(rng, case):
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
    columns, row_scale = rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, len(k))
    T = of_matrices(A @ A.T + np.eye(n), rng.normal(size=n), J, k, columns=columns, row_scale=row_scale)
    tau = rng.normal(size=n)
    found = Nullspace()(T, tau)
    size, force = 1.0 + np.abs(found.a).max(), 1.0 + np.abs(found.lam).max(initial=0.0)
    np.testing.assert_allclose(J @ found.a, -k, atol=1e-11 * size)
    np.testing.assert_allclose(T.M @ found.a + T.h - tau, J.T @ found.lam, atol=1e-11 * max(size, force) * np.abs(T.M).max())
    for inertia in INERTIAS:
        other = Projection(inertia)(T, tau)
        np.testing.assert_allclose(other.a, found.a, rtol=0, atol=1e-11 * size)
        np.testing.assert_allclose(other.lam, found.lam, rtol=0, atol=1e-11 * force)


def test_gamma_does_not_matter(rng):
    T = of_matrices(np.diag([1.0, 2.0, 3.0]), np.zeros(3), np.array([[1.0, 1.0, 0.0]]), np.array([0.3]))
    tau = rng.normal(size=3)
    results = [Projection(gamma=gamma)(T, tau).a for gamma in (None, 0.1, 50.0)]
    np.testing.assert_allclose(results[1], results[0], atol=1e-13)
    np.testing.assert_allclose(results[2], results[0], atol=1e-13)
