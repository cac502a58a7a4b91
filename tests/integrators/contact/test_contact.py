"""The contact problem: every problem is solved, by a residual that is written here once more, and as all states tried find it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linkwright.integrators.contact import FRICTION, ONE_SIDED, PLANAR, SPATIAL, ContactSolver
from linkwright.integrators.contact.solver import REFUSED
from tests.integrators.contact.problems import SETS, Problem, boxes, mechanism, rows_of
from tests.sweeps import sweep

WITHIN = 1e-9  # of the largest impulse: a hundred times the tolerance of the solver, whose residual is measured otherwise


def failures(x: Problem, p: np.ndarray) -> float:
    """The law's four sentences: no pull, no depth, the cone, against the slip; relative to the largest impulse, and to the largest part
    W_ij p_j of a speed, which is up to 250 times the speed where one box weighs a hundred others."""
    u = x.W @ p + x.b
    P, U = max(float(np.abs(p).max()), 1e-300), max(float(np.abs(x.b).max()), float(np.abs(x.W * p).max()), 1e-300)
    worst, k = 0.0, 0
    for kind, mu in zip(x.kinds, x.mu, strict=True):
        rows = rows_of([kind])
        pk, uk = p[k : k + rows], u[k : k + rows]
        if kind == FRICTION:
            worst = max(worst, (abs(pk[0]) - mu) / P, abs(mu * abs(uk[0]) + pk[0] * uk[0]) / (max(P, mu) * U))
        else:
            worst = max(worst, -pk[0] / P, -uk[0] / U, abs(pk[0] * uk[0]) / (P * U))
        if kind in (PLANAR, SPATIAL):
            push, slip = float(np.linalg.norm(pk[1:])), float(np.linalg.norm(uk[1:]))
            worst = max(worst, (push - mu * pk[0]) / P, abs(mu * pk[0] * slip + pk[1:] @ uk[1:]) / (P * U))
        k += rows
    return worst


@sweep("name", SETS, now=["space 4", "plane 8", "plane 8, half the freedoms", "stack of 2", "all kinds, redundant loops"])
def test_every_problem_is_solved(name: str) -> None:
    count, problems = SETS[name]
    assert len(problems) == count
    solver = ContactSolver(problems[0].kinds, native=True)
    for x in problems:
        found = solver.solve(x.W, x.b, x.mu)
        assert found.solved and found.residual < 1e-11 and failures(x, found.p) < WITHIN
        np.testing.assert_allclose(found.u, x.W @ found.p + x.b, rtol=0, atol=1e-13 * np.abs(x.b).max())


@pytest.mark.parametrize("name", ["space 4, half the freedoms", "plane 8, half the freedoms", "stack of 1", "all kinds, two freedoms"])
def test_python_and_machine_code_give_the_same_bits(name: str) -> None:
    x = SETS[name][1][3]
    python, code = ContactSolver(x.kinds).solve(x.W, x.b, x.mu), ContactSolver(x.kinds, native=True).solve(x.W, x.b, x.mu)
    assert python.p.tobytes() == code.p.tobytes() and python.u.tobytes() == code.u.tobytes()
    assert (python.stage, python.residual) == (code.stage, code.residual)


def test_heavy_on_light_needs_the_later_stages_and_gets_them() -> None:
    x = boxes(6, 3, 100.0)
    found = ContactSolver(x.kinds, native=True).solve(x.W, x.b, x.mu)
    assert 1 <= found.stage < REFUSED and failures(x, found.p) < WITHIN


def states(x: Problem) -> list[np.ndarray]:
    """All answers of a planar problem: every combination of open, sticking and both slips, solved and judged."""
    found, n = [], len(x.kinds)
    for states in itertools.product(("open", "stick", 1.0, -1.0), repeat=n):
        A, r = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for i, state in enumerate(states):
            k = 2 * i
            if state == "open":
                A[k, k] = A[k + 1, k + 1] = 1.0
                continue
            A[k], r[k] = x.W[k], -x.b[k]
            if state == "stick":
                A[k + 1], r[k + 1] = x.W[k + 1], -x.b[k + 1]
            else:
                A[k + 1, k + 1], A[k + 1, k] = 1.0, -state * x.mu[i]
        p = np.linalg.solve(A, r)
        if failures(x, p) < 1e-10 and not any(np.allclose(x.W @ (p - q), 0.0, atol=1e-9 * np.abs(x.b).max()) for q in found):
            found.append(p)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_answer_is_the_one_of_all_states_tried(seed: int) -> None:
    x = mechanism([PLANAR] * (1 + seed % 4), seed, 10)
    found = ContactSolver(x.kinds, native=True).solve(x.W, x.b, x.mu)
    every = states(x)
    assert every and min(float(np.abs(found.p - p).max()) for p in every) <= WITHIN * np.abs(found.p).max()


def test_disk_that_slides_and_block_that_sticks() -> None:
    """An impact of a disk with backspin, by hand: mass 2, radius 0.1, inertia 0.01, 3 m/s down."""
    m, r, J = 2.0, 0.1, 0.01
    W = np.diag([1.0 / m, 1.0 / m + r * r / J])
    slides = ContactSolver([PLANAR]).solve(W, np.array([-3.0, 4.0]), [0.2])
    np.testing.assert_allclose(slides.p, [6.0, -1.2], rtol=1e-14)  # it slides on: p_t = -mu p_n
    sticks = ContactSolver([PLANAR]).solve(W, np.array([-3.0, 0.5]), [0.2])
    np.testing.assert_allclose(sticks.p, [6.0, -0.5 / W[1, 1]], rtol=1e-14)
    opens = ContactSolver([PLANAR]).solve(W, np.array([3.0, 0.5]), [0.2])
    assert not opens.p.any()


def test_ball_in_space_slides_against_its_slip() -> None:
    """W is a multiple of one in the tangents, so the impulse is mu p_n against the slip before."""
    W, b = np.diag([0.5, 1.75, 1.75]), np.array([-2.0, 3.0, -4.0])
    found = ContactSolver([SPATIAL]).solve(W, b, [0.1])
    np.testing.assert_allclose(found.p, [4.0, -0.4 * 0.6, 0.4 * 0.8], rtol=1e-13)


def test_a_start_that_is_nearly_right_is_kept_and_one_that_is_no_number_is_not() -> None:
    x = mechanism([SPATIAL] * 4, 5, 14)
    solver = ContactSolver(x.kinds, native=True)
    cold = solver.solve(x.W, x.b, x.mu)
    warm = solver.solve(x.W, x.b, x.mu, start=cold.p)
    lost = solver.solve(x.W, x.b, x.mu, start=np.full(12, np.nan))
    for found in (warm, lost):
        assert found.solved
        np.testing.assert_allclose(found.p, cold.p, atol=1e-9 * np.abs(cold.p).max())


@pytest.mark.parametrize(
    ("W", "b"),
    [
        ([[0.0]], [-1.0]),  # a given motion drives on into an end
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -0.5]),  # two ends that exclude each other
        ([[np.nan]], [-1.0]),
    ],
)
def test_what_has_no_answer_is_refused(W: list[list[float]], b: list[float]) -> None:
    found = ContactSolver([ONE_SIDED] * len(b), native=True).solve(np.array(W), np.array(b))
    assert not found.solved and found.stage == REFUSED and not found.residual < 1e-7


def test_painleve_has_no_answer_at_the_level_of_accelerations() -> None:
    """A rod that slides into the ground: with mu above the threshold no force agrees with its sliding (W_nn - mu W_nt < 0)."""
    W = np.array([[1.0, 1.2], [1.2, 2.0]])
    slips = ContactSolver([ONE_SIDED]).solve(np.array([[W[0, 0] - 1.0 * W[0, 1]]]), np.array([-1.0]), symmetric=False)
    assert not slips.solved
    assert ContactSolver([ONE_SIDED]).solve(np.array([[W[0, 0] - 0.5 * W[0, 1]]]), np.array([-1.0]), symmetric=False).solved


def test_friction_of_a_given_bound_holds_or_slips() -> None:
    W = np.array([[0.5]])
    for b, p in ((0.3, -0.6), (-3.0, 1.0), (3.0, -1.0)):
        found = ContactSolver([FRICTION]).solve(W, np.array([b]), [1.0])
        np.testing.assert_allclose(found.p, [p], rtol=1e-14)
