"""Which one-sided rows push, against all combinations of them."""

from __future__ import annotations

import itertools

import numpy as np

from linkwright.integrators.contact.one_sided import pushing_rows


def by_trying(M, right, J, rates, G, limits):
    """The combination in which all pushes push and all limits hold."""
    n = len(M)
    for k in range(len(G) + 1):
        for chosen in itertools.combinations(range(len(G)), k):
            rows = np.vstack([J, G[list(chosen)]])
            K = np.block([[M, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
            x = np.linalg.solve(K, np.concatenate([right, rates, limits[list(chosen)]]))
            if np.all(x[n + len(J) :] <= 0.0) and np.all(G @ x[:n] <= limits + 1e-12 * np.abs(x).max()):
                return list(chosen)
    return None


def test_random_systems():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(200):
        n, m, g = 7, int(rng.integers(0, 3)), int(rng.integers(1, 5))
        A = rng.standard_normal((n, n))
        given = (A @ A.T + 0.1 * np.eye(n), 10.0 ** rng.integers(-6, 6) * rng.standard_normal(n), rng.standard_normal((m, n)))
        size = float(np.abs(given[1]).max())
        case = (*given, size * rng.standard_normal(m), rng.standard_normal((g, n)), 0.1 * size * rng.standard_normal(g))
        found = pushing_rows(*case)
        assert found == by_trying(*case)
        seen.add(len(found or ()))
    assert seen >= {0, 1, 2, 3}


def test_no_rows_no_push_and_rows_that_are_held():
    M, none = np.eye(2), np.zeros((0, 2))
    assert pushing_rows(M, np.ones(2), none, np.zeros(0), none, np.zeros(0)) == []
    held = np.array([[1.0, 0.0]])
    assert pushing_rows(M, np.ones(2), held, np.array([1.0]), held, np.array([0.5])) is None  # a given motion drives it on
    assert pushing_rows(M, np.ones(2), held, np.array([1.0]), held, np.array([2.0])) == []


def test_rows_that_say_the_same_push_once():
    G = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    found = pushing_rows(np.eye(2), np.array([3.0, -1.0]), np.zeros((0, 2)), np.zeros(0), G, np.zeros(3))
    assert found in ([0], [1])
