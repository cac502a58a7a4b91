"""Path tracking and monodromy against systems whose number of solutions is known."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from linkwright.compiler.complex_newton import newton_kernel
from linkwright.compiler.graph import trace
from linkwright.numerics import tracking
from linkwright.numerics.monodromy import monodromy, normal_parameters, trace_test
from linkwright.numerics.tracking import NewtonSolve, distinct, homotopy, newton_solve, same_as, solved, track, untangled

Monomials = list[list[tuple[int, ...]]]  # by equation: exponents


def system(monomials: Monomials) -> NewtonSolve:
    """Polynomials whose coefficients are the parameters, with their Jacobians, written out as powers."""
    n = len(monomials[0][0])
    flat = np.array([m for row in monomials for m in row])
    ends = np.cumsum([0, *(len(row) for row in monomials)])

    def powers(x: np.ndarray) -> np.ndarray:
        return np.prod(x[:, None, :] ** flat, axis=-1)

    def residual(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        terms = p * powers(x)
        return np.stack([terms[:, a:b].sum(axis=1) for a, b in pairwise(ends)], axis=1)

    def by_unknowns(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        out = np.empty((len(x), n, n), dtype=complex)
        for j in range(n):
            lower = np.maximum(flat - np.eye(n, dtype=int)[j], 0)
            terms = p * flat[:, j] * np.prod(x[:, None, :] ** lower, axis=-1)
            out[:, :, j] = np.stack([terms[:, a:b].sum(axis=1) for a, b in pairwise(ends)], axis=1)
        return out

    def by_parameters(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        out = np.zeros((len(x), n, len(flat)), dtype=complex)
        for i, (a, b) in enumerate(pairwise(ends)):
            out[:, i, a:b] = powers(x)[:, a:b]
        return out

    return newton_solve(residual, by_unknowns, by_parameters)


def generic(monomials: Monomials, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random point, and coefficients with which it is a solution."""
    rng = np.random.default_rng(seed)
    n = len(monomials[0][0])
    x = np.exp(2j * np.pi * rng.random(n))
    rows = []
    for row in monomials:
        value = np.prod(x ** np.array(row), axis=-1)
        c = rng.standard_normal(len(row)) + 1j * rng.standard_normal(len(row))
        c[-1] = -(c[:-1] @ value[:-1]) / value[-1]
        rows.append(c)
    return x[None], np.concatenate(rows)


def cyclic(n: int) -> tuple[Monomials, np.ndarray]:
    """The cyclic n-roots: sums of products of k neighbors, and the product of all is 1."""
    rows = [[tuple(1 if (j - i) % n < k else 0 for j in range(n)) for i in range(n)] for k in range(1, n)]
    rows.append([(1,) * n, (0,) * n])
    return rows, np.concatenate([np.ones(n * (n - 1)), [1.0, -1.0]])


def katsura(n: int) -> tuple[Monomials, np.ndarray]:
    """Katsura-n: n + 1 unknowns, 2^n solutions."""
    one = np.eye(n + 1, dtype=int)
    rows, values = [], []
    for m in range(n):
        terms: dict[tuple[int, ...], float] = {}
        for i in range(-n, n + 1):
            if abs(m - i) <= n:
                key = tuple(one[abs(i)] + one[abs(m - i)])
                terms[key] = terms.get(key, 0.0) + 1.0
        key = tuple(one[m])
        terms[key] = terms.get(key, 0.0) - 1.0
        rows.append(list(terms))
        values += list(terms.values())
    rows.append([tuple(one[i]) for i in range(n + 1)] + [(0,) * (n + 1)])
    return rows, np.array([*values, 1.0, *[2.0] * n, -1.0])


def compiled(monomials: Monomials) -> NewtonSolve:
    """The same system as native code."""

    def equations(x: Any, p: Any) -> dict[str, Any]:
        out, place = [], 0
        for row in monomials:
            terms = [p[place + k] * np.prod([x[i] ** m for i, m in enumerate(monomial) if m] or [1.0]) for k, monomial in enumerate(row)]
            out.append(sum(terms[1:], terms[0]))
            place += len(row)
        return {"F": np.array(out, dtype=object)}

    count = sum(map(len, monomials))
    return newton_kernel(lambda: trace(equations, x=len(monomials), p=count), ["test of tracking", str(monomials)])


def widened(monomials: Monomials, coefficients: np.ndarray) -> tuple[Monomials, np.ndarray]:
    """The same polynomials among all of their degrees."""
    rows, values, place = [], [], 0
    n = len(monomials[0][0])
    for row in monomials:
        degree = max(map(sum, row))
        every = [m for m in product(range(degree + 1), repeat=n) if sum(m) <= degree]
        known = {tuple(map(int, m)): c for m, c in zip(row, coefficients[place : place + len(row)], strict=True)}
        rows.append(every)
        values += [known.get(m, 0.0) for m in every]
        place += len(row)
    return rows, np.array(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "native", "count"), [(cyclic(5), True, 70), (widened(*katsura(3)), False, 8)], ids=["cyclic-5", "katsura-3"]
)
def test_all_roots_of_known_systems(made: tuple[Monomials, np.ndarray], native: bool, count: int) -> None:
    monomials, wanted = made
    solve = compiled(monomials) if native else system(monomials)
    x, p = generic(monomials)
    found = monodromy(solve, x, p, parameters=normal_parameters(len(p)), seed=1, doubt=1e-4)
    assert len(found.solutions) == count and found.doubt < 1e-4 and found.counts[-1] == count
    ends = homotopy(solve, found.solutions, p, wanted, seed=2)
    assert len(ends.solutions) == count and ends.lost == 0
    steps = solve(ends.solutions, np.broadcast_to(wanted, (count, len(p))), np.zeros((count, len(p))))[0]
    assert np.abs(steps).max() < 1e-10  # simple roots, to round-off times the condition
    conjugate = np.abs(ends.solutions.conj()[:, None] - ends.solutions).max(axis=-1).min(axis=1)
    assert conjugate.max() < 1e-9  # real equations: roots come in conjugate pairs


def test_a_quadratic_comes_back_exchanged_round_its_branch_point() -> None:
    solve = newton_solve(lambda x, p: x * x - p, lambda x, p: 2.0 * x[..., None], lambda x, p: -np.ones((*x.shape, 1)))
    x = np.array([[1.0], [-1.0]], dtype=complex)
    corners = [np.array([z]) for z in (1.0, 1j, -1.0, -1j, 1.0)]
    ends = x
    for here, there in pairwise(corners):
        ends = track(solve, ends, here, there).x
    np.testing.assert_allclose(ends, -x, atol=1e-12)
    found = monodromy(solve, x[:1], np.array([1.0]), seed=0)
    assert len(found.solutions) == 2


def test_paths_to_infinity_and_to_a_double_root_are_lost_and_counted() -> None:
    # p x^2 - x + 1: at p = 0 one of two roots is at infinity; at p = 1/4 both are 2.
    solve = newton_solve(lambda x, p: p * x * x - x + 1.0, lambda x, p: (2.0 * p * x - 1.0)[..., None], lambda x, p: (x * x)[..., None])
    x = np.roots([1.0 + 1j, -1.0, 1.0])[:, None]
    far = track(solve, x, np.array([1.0 + 1j]), np.array([0.0]))
    assert sorted(far.ok) == [False, True] and np.abs(far.x[~far.ok]).max() > 1e4
    np.testing.assert_allclose(far.x[far.ok], 1.0, atol=1e-12)
    double = track(solve, x, np.array([1.0 + 1j]), np.array([0.25]))
    assert not double.ok.any() or np.abs(double.x[double.ok] - 2.0).max() < 1e-3


def test_paths_that_jump_are_tracked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the rule of the second correction, and with a tolerance of one half, paths of a polynomial of degree 8 jump.
    monkeypatch.setattr(tracking, "SHRINK", 10.0)
    solve = system([[(k,) for k in range(9)]])
    mended = met = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        first, last = rng.standard_normal(9) + 1j * rng.standard_normal(9), rng.standard_normal(9) + 0j
        x = np.roots(first[::-1])[:, None]
        ends = track(solve, x, first, last, tolerance=0.5)
        shared = len(distinct(ends.x[ends.ok])) < ends.ok.sum()
        again, retracked = untangled(solve, x, first, last, key=lambda z: z, tolerance=0.5)
        assert (retracked > 0) == shared
        met += shared
        mended += shared and len(distinct(again.x[again.ok])) == 8
    assert met >= 3 and mended >= 0.8 * met


def test_a_detour_finds_what_the_straight_line_loses() -> None:
    # x^2 = p from 1 to -1 runs through the branch point at 0.
    solve = newton_solve(lambda x, p: x * x - p, lambda x, p: 2.0 * x[..., None], lambda x, p: -np.ones((*x.shape, 1)))
    x = np.array([[1.0], [-1.0]], dtype=complex)
    straight = homotopy(solve, x, np.array([1.0]), np.array([-1.0]), detours=0)
    around = homotopy(solve, x, np.array([1.0]), np.array([-1.0]), detours=2)
    assert straight.lost == 2 and straight.direct == 0
    assert around.lost == 0 and around.detours == 1
    np.testing.assert_allclose(sorted(around.solutions[:, 0].imag), [-1.0, 1.0], atol=1e-12)


def test_equal_rows_against_all_pairs() -> None:
    rng = np.random.default_rng(3)
    keys = rng.standard_normal((40, 3)) + 1j * rng.standard_normal((40, 3))
    keys *= 10.0 ** rng.integers(-3, 7, (40, 1))
    keys = np.concatenate([keys, keys[::3] * (1 + 1e-9)])
    near = np.linalg.norm(keys[:, None] - keys, axis=-1) <= 1e-6 * (1.0 + np.linalg.norm(keys, axis=-1))
    np.testing.assert_array_equal(same_as(keys), near.argmax(axis=1))
    assert len(same_as(keys[:0])) == 0 and len(distinct(keys[:1])) == 1


def test_rows_of_any_size_are_solved(rng: np.random.Generator) -> None:
    """Each equation is scaled by its largest coefficient: a factor of a row changes nothing, from the smallest to the largest numbers."""
    A, x = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3, 2))
    b = A @ x
    rows = np.array([1e-200, 1.0, 1e200])[:, None]
    assert np.allclose(solved(A * rows, b * rows), x, rtol=1e-10, atol=0.0)  # conditions of random matrices are below 1e5


def test_singular_systems_are_nan_and_others_are_solved() -> None:
    A = np.array([np.eye(2), np.ones((2, 2)), [[0.0, 2.0], [4.0, 0.0]]])
    found = solved(A, np.ones((3, 2, 1)))
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2], :, 0], [[1.0, 1.0], [0.25, 0.5]])


@pytest.mark.slow
def test_the_trace_of_a_complete_set_is_linear() -> None:
    # A cubic cut by a line that moves parallel to itself: the sum of the three points is linear in its offset.
    cubic = [(i, j) for i in range(4) for j in range(4 - i)]
    solve = system([cubic, [(1, 0), (0, 1), (0, 0)]])
    x, p = generic([cubic, [(1, 0), (0, 1), (0, 0)]], 5)
    found = monodromy(solve, x, p, seed=4)
    direction = np.zeros(len(p), dtype=complex)
    direction[-1] = 0.3 + 0.2j
    assert len(found.solutions) == 3
    assert trace_test(solve, found.solutions, p, direction) < 1e-9  # round-off over a difference of the order of one
    assert trace_test(solve, found.solutions[:2], p, direction) > 1e-4
