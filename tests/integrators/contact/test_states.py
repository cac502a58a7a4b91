"""States of contacts at one instant: rows that push against all combinations of them, friction against closed forms and the ladder."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linkwright.integrators.contact import ONE_SIDED, PLANAR, ContactSolver
from linkwright.integrators.contact.one_sided import independent
from linkwright.integrators.contact.states import OPEN, SLIP, STICK, jamming, least_paradox, states


def by_trying(M, right, J, rates, G, limits):
    """The combination of rows in which all pushes push and all limits hold, and the motion."""
    n = len(M)
    for k in range(len(G) + 1):
        for chosen in itertools.combinations(range(len(G)), k):
            rows = np.vstack([J, G[list(chosen)]])
            K = np.block([[M, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
            x = np.linalg.solve(K, np.concatenate([right, rates, limits[list(chosen)]]))
            if np.all(x[n + len(J) :] <= 0.0) and np.all(G @ x[:n] <= limits + 1e-12 * np.abs(x).max()):
                return list(chosen)
    return None


def compliance(M, J):
    """A with M x = f, J x = 0 giving x = A f."""
    inner = np.linalg.inv(M)
    if not len(J):
        return inner
    return inner - inner @ J.T @ np.linalg.solve(J @ inner @ J.T, J @ inner)


def pushing(M, right, J, rates, G, limits):
    """The same by the states of one-sided blocks: u = limits - G x opens."""
    A = compliance(M, J)
    base = np.linalg.pinv(J) @ rates if len(J) else np.zeros(len(M))
    free = base + A @ (right - M @ base)
    found = states([ONE_SIDED] * len(G), G @ A @ G.T, limits - G @ free, np.zeros(len(G)))
    assert found.answers == 1
    return [i for i, p in enumerate(found.p) if p > 1e-10 * max(float(found.p.max()), 1e-300)]


@pytest.mark.parametrize("most", [5, 10])
def test_random_systems(most):
    """Few rows are tried, of many the ladder finds the answer."""
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(200 if most == 5 else 20):
        n, m, g = 7 if most == 5 else 14, int(rng.integers(0, 3)), int(rng.integers(1, 5)) if most == 5 else most
        A = rng.standard_normal((n, n))
        given = (A @ A.T + 0.1 * np.eye(n), 10.0 ** rng.integers(-6, 6) * rng.standard_normal(n), rng.standard_normal((m, n)))
        size = float(np.abs(given[1]).max())
        case = (*given, size * rng.standard_normal(m), rng.standard_normal((g, n)), 0.1 * size * rng.standard_normal(g))
        found = pushing(*case)
        assert found == by_trying(*case)
        seen.add(len(found or ()))
    assert seen >= ({0, 1, 2, 3} if most == 5 else {3, 4})


def test_rows_that_say_the_same_push_once():
    B = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert independent(B, np.array([1.0, 2.0, 0.0])) in ([0], [1])
    assert independent(B, np.array([1.0, 0.0, 2.0])) == [0, 2]


@pytest.mark.parametrize("share", [1.0 + 1e-9, 1.0 - 1e-9])
def test_a_block_on_a_slope_is_decided_at_the_tangent(share):
    slope, h, w, g = np.radians(20.0), 0.1, 0.3, 9.81
    J = np.array([[0, 1, -w], [1, 0, h], [0, 1, w], [1, 0, h]])
    A = np.diag([0.5, 0.5, 20.0])
    found = states([PLANAR] * 2, J @ A @ J.T, J @ np.array([g * np.sin(slope), -g * np.cos(slope), 0.0]), np.full(2, np.tan(slope) * share))
    assert found.answers == 1 and set(found.states) <= {STICK, SLIP}
    a = (A @ J.T @ found.p)[0] + g * np.sin(slope)
    assert a == pytest.approx(max(g * np.sin(slope) * (1.0 - share), 0.0), abs=4e-15)  # round-off of 3.4 m/s^2
    assert (STICK in found.states) == (share > 1.0)


def test_four_feet_share_their_load():
    """A table in a plane with feet on one line: the motion is unique, the forces are not."""
    J = np.array([row for x in (-0.3, -0.1, 0.1, 0.3) for row in ([0.0, 1.0, x], [1.0, 0.0, 0.2])])
    A = np.diag([1.0, 1.0, 12.0])
    found = states([PLANAR] * 4, J @ A @ J.T, J @ np.array([0.1, -9.81, 0.0]), np.full(4, 0.5))
    assert found.answers == 1 and found.shared
    np.testing.assert_allclose(found.u, 0.0, atol=1e-10)
    assert found.p[0::2].sum() == pytest.approx(9.81, rel=1e-10) and found.p[1::2].sum() == pytest.approx(-0.1, rel=1e-8)


def test_combinations_agree_with_the_ladder():
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(60):
        n = int(rng.integers(1, 5))
        J = rng.standard_normal((2 * n, 9))
        W, b, mu = J @ J.T, J @ rng.standard_normal(9), rng.uniform(0.1, 1.0, n)
        found, ladder = states([PLANAR] * n, W, b, mu), ContactSolver([PLANAR] * n).solve(W, b, mu)
        assert found.answers >= 1 and ladder.solved
        if found.answers == 1:
            np.testing.assert_allclose(found.u, ladder.u, atol=1e-8 * np.abs(b).max())
        kinds |= set(found.states)
    assert kinds == {OPEN, STICK, SLIP}


@pytest.mark.parametrize("sense", [1.0, -1.0])
@pytest.mark.parametrize("lifting", [0.0, 16.1])
def test_painleves_rod_has_no_answer_or_two(sense, lifting):
    """A slender rod slides at arctan 2 with mu = 1.5: one way there is one answer, the other way none, or two where turning lifts it."""
    lean, mu = np.arctan(2.0), 1.5
    J = np.array([[0.0, 1.0, -0.5 * np.cos(lean)], [1.0, 0.0, 0.5 * np.sin(lean)]])
    A = np.diag([1.0, 1.0, 12.0])
    W = J @ A @ J.T
    found = states([ONE_SIDED], np.array([[W[0, 0] - mu * sense * W[0, 1]]]), np.array([lifting - 9.81]), np.zeros(1))
    against = sense < 0.0
    assert found.answers == (1 if not against else 2 if lifting else 0)
    if against:
        assert least_paradox(W[0, 0], W[0, 1], sense) == pytest.approx(4.0 / 3.0, rel=1e-14)
        p = jamming(PLANAR, W, np.array([0.0, sense * 3.0]), np.array([mu]))
        assert p is not None and p[0] > 0.0 and abs(p[1]) <= mu * p[0]
        np.testing.assert_allclose(W @ p + [0.0, sense * 3.0], 0.0, atol=1e-14)
