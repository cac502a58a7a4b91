"""The augmented Lagrangian: any penalty, redundant rows, massless motions, what its steps leave, and who answers where they are slow."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.dynamics.terms import Terms, of_matrices
from linkwright.mechanics.formulations import FORMULATIONS, AugmentedLagrangian, Kkt
from linkwright.numerics.linalg import factor


def problem(rng: np.random.Generator, n: int = 6, m: int = 3, mass: float = 1.0) -> tuple[Terms, np.ndarray]:
    """Independent rows; one coordinate of another `mass` than the rest."""
    A = rng.normal(size=(n, n))
    scale = np.array([mass, *np.ones(n - 1)])
    M = (A @ A.T + np.eye(n)) * np.sqrt(scale * scale[:, None])
    return of_matrices(M, rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=m)), rng.normal(size=n)


@pytest.mark.parametrize("mass", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("alpha", [1e2, 1e6, 1e9])
def test_accelerations_and_multipliers_are_exact_for_any_penalty(rng, alpha, mass):
    T, tau = problem(rng, mass=mass)
    found, right = AugmentedLagrangian(alpha=alpha)(T, tau), Kkt()(T, tau)
    digits = 1e-10 if alpha < 1e9 else 1e-7  # of a penalty of 1e9 by round-off times the condition, 1e-16 * 1e9
    np.testing.assert_allclose(found.a, right.a, rtol=0, atol=digits * np.abs(right.a).max())
    np.testing.assert_allclose(found.lam, right.lam, rtol=0, atol=digits * np.abs(right.lam).max())


def test_each_step_shrinks_the_gap_by_the_eigenvalues_of_the_gicm(rng):
    """(1 + J M^-1 J' A)^-n k is what n steps leave of J a + k, in closed form."""
    T, tau = problem(rng)
    how = AugmentedLagrangian(alpha=3.0)  # small: every step can be seen
    E = np.linalg.inv(np.eye(3) + T.J @ np.linalg.solve(T.M, T.J.T) * how.alpha * np.trace(T.M) / 6)
    gap = T.J @ np.linalg.solve(T.M, tau - T.h) + T.k
    for steps in range(1, 6):
        a = AugmentedLagrangian(alpha=3.0, steps=steps)(T, tau).a
        gap = E @ gap
        np.testing.assert_allclose(T.J @ a + T.k, gap, atol=1e-12 * np.abs(T.k).max())


def test_redundant_rows_get_the_least_multipliers(rng):
    T, tau = problem(rng)
    mix = rng.normal(size=(5, 3))
    double = of_matrices(T.M, T.h, mix @ T.J, mix @ T.k)
    found, right = AugmentedLagrangian()(double, tau), Kkt()(T, tau)
    np.testing.assert_allclose(found.a, right.a, atol=1e-10 * np.abs(right.a).max())
    np.testing.assert_allclose(double.J.T @ found.lam, T.J.T @ right.lam, atol=1e-9 * np.abs(right.lam).max())
    np.testing.assert_allclose(
        factor(double.J).left_null.T @ found.lam, 0.0, atol=1e-8 * np.abs(found.lam).max()
    )  # round-off of J a, times alpha


def test_a_massless_coordinate_that_a_row_holds(rng):
    M = np.diag([0.0, 2.0, 3.0])
    J, k = np.array([[1.0, 0.5, 0.0]]), np.array([0.3])
    T, tau = of_matrices(M, np.zeros(3), J, k), rng.normal(size=3)
    right = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((1, 1))]]), [*tau, *-k])
    found = AugmentedLagrangian()(T, tau)
    np.testing.assert_allclose([*found.a, *found.lam], right, rtol=1e-10)


def test_rows_that_are_nearly_lost_are_refused_with_a_remedy():
    T = of_matrices(np.eye(2), np.zeros(2), np.array([[1e-5, 0.0]]), np.array([1.0]))
    with pytest.raises(lw.SingularityError, match=r"not converged after 200 steps.*another formulation.*AugmentedLagrangian\(alpha=...\)"):
        AugmentedLagrangian()(T, np.ones(2))
    np.testing.assert_allclose(AugmentedLagrangian(alpha=1e12)(T, np.ones(2)).a, [-1e5, 1.0], rtol=1e-9)


def test_the_gain_of_a_step_has_its_lower_bound(rng):
    """1 + g with g >= alpha s^2 / n, whatever the masses are: what docs and the text at the top of the file promise."""
    for mass in (1e-6, 1.0, 1e6):
        T, tau = problem(rng, mass=mass)
        once, twice = (AugmentedLagrangian(alpha=1e3, steps=n)(T, tau).a for n in (1, 2))
        s = np.linalg.svd(T.J, compute_uv=False)[-1]
        assert np.linalg.norm(T.J @ twice + T.k) <= np.linalg.norm(T.J @ once + T.k) / (1.0 + 1e3 * s**2 / 6)


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": -1.0}, {"alpha": float("nan")}, {"steps": 0}])
def test_options_that_mean_nothing_are_refused(wrong):
    with pytest.raises(lw.UsageError, match="augmented Lagrangian"):
        AugmentedLagrangian(**wrong)


@pytest.mark.parametrize("name", [name for name, kind in FORMULATIONS.items() if kind.handles_redundant])
def test_who_handles_redundant_rows_does_so_bare(rng, name):
    T, tau = problem(rng)
    double = of_matrices(T.M, T.h, np.concatenate([T.J, T.J[:1] - T.J[1:2]]), np.concatenate([T.k, T.k[:1] - T.k[1:2]]))
    right = Kkt()(T, tau)
    for found in (x(double, tau) for x in FORMULATIONS[name]().variants().values()):
        np.testing.assert_allclose(found.a, right.a, atol=1e-10 * np.abs(right.a).max())


def test_kernels_hand_over_where_six_steps_do_not_converge():
    """Slider-crank of equal links, cos(A) the only singular value: exact next to it and in it, by kernel and interpreter alike."""
    for engine in ("native", "python"):
        s = lw.compile(lw.load("slider-crank-equal", gravity=0), engine=engine)
        near = np.array([0.3, 1e-1, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6, 1e-9, 0.0])
        A = 1.5 * np.pi + near
        Q, V = np.stack([A, 2 * np.pi - 2 * A], axis=1), np.tile([1.1, -2.2], (len(A), 1))
        right = (1.0 - 2 * np.sin(2 * A) * 1.1**2) / (3 - 2 * np.cos(2 * A))  # the one equation of motion on the branch
        found = s.kernel("forward", "augmented")(Q, V, np.array([1.0, 0.0]))
        assert found.ok.all()
        np.testing.assert_allclose(found.a, np.stack([right, -2 * right], axis=1), atol=1e-7)  # off the loops by 1e-16, over cos(A)^2


def test_it_runs_on_the_command_line(capsys):
    from linkwright.rings import cli

    assert cli.main(["simulate", "wiper", "0.05", "--formulation", "augmented", "--json"]) == 0
    assert '"formulation": "augmented"' in capsys.readouterr().out
