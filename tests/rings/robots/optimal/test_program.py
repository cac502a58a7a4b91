"""The nonlinear program and its solver: derivatives against differences, and problems with published solutions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

import linkwright as lw
from linkwright.rings.robots.optimal import _task
from linkwright.rings.robots.optimal.contact_phases import schedule_of
from linkwright.rings.robots.optimal.interior_point import InteriorPoint
from linkwright.rings.robots.optimal.request import Setting, duration_of, ends_of, limits_of
from linkwright.rings.robots.optimal.search import first_guess
from linkwright.rings.robots.optimal.transcription import Collocation, Mesh
from tests.rings.robots.optimal.walkers import STRIDE, rimless_wheel


def collocation(goal: str) -> Collocation:
    """The program of a five-bar with a pin load, a speed and a free duration, on an uneven mesh of two phases."""
    m = lw.load("five-bar")
    limits = {"*.torque": "1.5 N m", "C.load": "15 N", "left_rod.C.speed": "1 m/s"}
    setting = Setting.of(m.system, None, None, None)
    ends = ends_of(setting, None, {"A": "100 deg", "left_rod.C.x": "60..80 mm"}, None)
    span = duration_of(goal, "0.3..0.6 s")
    task = _task(setting, goal, ends, limits_of(setting, limits), span, None)
    begin = first_guess(task, setting.values(setting.start), setting.start.q, ends.target, 5, 0.4)
    begin.durations = np.array([0.16, 0.24])
    return Collocation(task, Mesh(np.array([0, 0, 1, 1, 1]), np.array([0.5, 0.5, 0.2, 0.4, 0.4])), begin)


def rolling() -> Collocation:
    """The program of a rimless wheel that rolls on two spokes, one after the other, with an impact at the beginning of each phase."""
    setting = Setting.of(lw.load(rimless_wheel()).system, None, None, None)
    schedule = schedule_of(setting.core, [{"hold": "first", "duration": "0.1..1 s"}, {"hold": "second"}], setting.start, True)
    ends = ends_of(setting, None, None, {"base.x": STRIDE, "base.angle": "free"})
    task = _task(setting, "effort", ends, limits_of(setting, {"motor.torque": "1 N m"}), (0.1, 2.0), schedule)
    begin = first_guess(task, setting.values(setting.start), setting.start.q, None, 8, 0.4)
    return Collocation(task, task.mesh(8), begin)


@pytest.mark.parametrize("goal", ["time", "effort", "energy", "phases"])
def test_derivatives_of_a_motion_are_those_of_differences(goal: str) -> None:
    program, rng = rolling() if goal == "phases" else collocation(goal), np.random.default_rng(5)
    x = program.packed(program.begin)
    x = np.clip(x + 1e-2 * rng.standard_normal(len(x)), program.lower + 1e-3, program.upper - 1e-3)
    found = program.value(x)
    assert found is not None
    y = rng.standard_normal(len(found[1]))
    g, J = program.slopes(x)
    W = program.curvature(x, y).toarray()

    def lagrangian(z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        there = program.value(z)
        assert there is not None
        slope, rows = program.slopes(z)
        return there[0], there[1], slope + rows.T @ y

    h = 1e-6
    for d in rng.standard_normal((4, len(x))):
        ahead, back = lagrangian(x + h * d), lagrangian(x - h * d)
        f, c, slope = ((a - b) / (2.0 * h) for a, b in zip(ahead, back, strict=True))
        assert abs(f - g @ d) < 1e-8 * (1.0 + abs(f))  # central differences: h^2 and round-off over h
        np.testing.assert_allclose(J @ d, c, atol=1e-7 * (1.0 + np.abs(c).max()))
        np.testing.assert_allclose(W @ d, slope, atol=2e-5 * np.abs(slope).max())  # W: forward differences of exact slopes
    np.testing.assert_allclose(W, W.T, atol=1e-12 * np.abs(W).max())


class Problem:
    """A small program by functions of x."""

    def __init__(self, f: Any, g: Any, c: Any, J: Any, W: Any, lower: Any, upper: Any):
        self.f, self.g, self.c, self.J, self.W = f, g, c, J, W
        self.lower, self.upper = np.array(lower, dtype=float), np.array(upper, dtype=float)

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray] | None:
        return float(self.f(x)), np.array(self.c(x), dtype=float)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, Any]:
        return np.array(self.g(x), dtype=float), csc_array(np.array(self.J(x), dtype=float))

    def curvature(self, x: np.ndarray, y: np.ndarray) -> Any:
        return csc_array(np.array(self.W(x, y), dtype=float))


def hock_schittkowski_71() -> Problem:
    """Problem 71 of Hock and Schittkowski: min a d (a + b + c) + c, a b c d >= 25, a^2 + b^2 + c^2 + d^2 = 40; all in 1..5, slack e."""

    def W(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        a, b, c, d, _ = x
        H = np.zeros((5, 5))
        H[:4, :4] = [[2 * d, d, d, 2 * a + b + c], [d, 0, 0, a], [d, 0, 0, a], [2 * a + b + c, a, a, 0]]
        products = [[0, c * d, b * d, b * c], [c * d, 0, a * d, a * c], [b * d, a * d, 0, a * b], [b * c, a * c, a * b, 0]]
        H[:4, :4] += y[0] * np.array(products) + 2.0 * y[1] * np.eye(4)
        return H

    return Problem(
        lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        lambda x: [x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1.0, x[0] * (x[0] + x[1] + x[2]), 0.0],
        lambda x: [x[0] * x[1] * x[2] * x[3] - x[4], x[:4] @ x[:4] - 40.0],
        lambda x: [[*(np.prod(x[:4]) / x[:4]), -1.0], [*(2.0 * x[:4]), 0.0]],
        W,
        [1.0, 1.0, 1.0, 1.0, 25.0],
        [5.0, 5.0, 5.0, 5.0, np.inf],
    )


def test_a_published_problem_has_its_published_solution() -> None:
    p = hock_schittkowski_71()
    found = InteriorPoint(p, tolerance=1e-9, most=100).solve(np.array([1.0, 5.0, 5.0, 1.0, 25.0]))
    assert found.converged and found.iterations < 30
    np.testing.assert_allclose(found.x[:4], [1.0, 4.7429994, 3.8211503, 1.3794082], atol=1e-6)  # as printed
    assert abs(p.f(found.x) - 17.0140173) < 1e-6


def test_a_saddle_is_left_for_the_minimum() -> None:
    """min (x^2 - 1)^2 + y^2 from x near the saddle at zero, y = x - 0.1 x: the matrix has the wrong inertia there."""
    p = Problem(
        lambda x: (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2,
        lambda x: [4.0 * x[0] * (x[0] ** 2 - 1.0), 2.0 * x[1]],
        lambda x: [x[1] - 0.9 * x[0]],
        lambda x: [[-0.9, 1.0]],
        lambda x, y: [[12.0 * x[0] ** 2 - 4.0, 0.0], [0.0, 2.0]],
        [-np.inf, -np.inf],
        [np.inf, np.inf],
    )
    found = InteriorPoint(p, tolerance=1e-10, most=100).solve(np.array([0.01, 0.3]))
    assert found.converged
    assert abs(abs(found.x[0]) - np.sqrt((4.0 - 2.0 * 0.81) / 4.0)) < 1e-8  # 4 x (x^2 - 1) + 2 0.81 x = 0


def test_what_cannot_be_met_is_no_solution() -> None:
    """x^2 = -1: the violation cannot fall below one."""
    square = (lambda x: [x[0] ** 2 + 1.0]), (lambda x: [[2.0 * x[0]]]), (lambda x, y: [[2.0 * y[0]]])
    p = Problem(lambda x: x[0], lambda x: [1.0], *square, [-9.0], [9.0])
    found = InteriorPoint(p, tolerance=1e-9, most=100).solve(np.array([0.5]))
    assert not found.converged and found.residuals.feasibility >= 1.0 and found.iterations <= 100
