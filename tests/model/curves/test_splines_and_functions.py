"""Curves through points and derivatives of functions, against scipy and calculus; traced as on numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.model.curves.differences import Differences
from linkwright.model.curves.formula import Traced
from linkwright.model.curves.functions import differentiated
from linkwright.model.curves.tables import SPLINES, cubic_pieces, natural_spline, polyline

T = np.array([0.0, 0.3, 0.4, 1.1, 1.6])
Y = np.array([1.0, -0.5, 0.2, 2.0, 1.5])
INSIDE = np.linspace(0.0, 1.6, 41)


@pytest.mark.parametrize("ends", ["natural", "clamped", "periodic"])
def test_cubic_pieces_and_roots_are_those_of_scipy(ends):
    rng = np.random.default_rng(3)
    for n in (2, 3, 4, 7, 60):
        x, y = np.cumsum(rng.uniform(0.1, 2.0, n)), rng.normal(size=n)
        y[-1] = y[0] if ends == "periodic" else y[-1]
        known, (pieces, last) = CubicSpline(x, y, bc_type=ends), cubic_pieces(x, y, ends)
        size = np.abs(known.c).max()
        assert np.abs(pieces - known.c[::-1].T).max() <= 1e-12 * size  # round-off over widths that differ twentyfold
        assert abs(last - known(x[-1], 1)) <= 1e-12 * size
        mine = np.sort(SPLINES[ends](x, y).curve.roots() if ends == "periodic" else SPLINES[ends](x, y).roots())
        np.testing.assert_allclose(mine, np.sort(known.roots(extrapolate=False)), atol=1e-8)  # nearly double ones amplify round-off


def test_the_spline_its_derivatives_and_its_integral():
    known, mine = CubicSpline(T, Y, bc_type="natural"), natural_spline(T, Y)
    np.testing.assert_allclose(mine.value(INSIDE), known(INSIDE), atol=1e-13)
    np.testing.assert_allclose(mine(INSIDE)[1], known(INSIDE, 1), atol=1e-12)
    np.testing.assert_allclose(mine(INSIDE)[2], known(INSIDE, 2), atol=1e-11)
    np.testing.assert_allclose(mine.integral().value(INSIDE), known.antiderivative()(INSIDE), atol=1e-13)
    assert mine.value(3.6) == pytest.approx(1.5 + 2.0 * float(known(1.6, 1)))
    assert mine.value(-1.0) == pytest.approx(1.0 - float(known(0.0, 1)))


def test_straight_lines_are_constant_outside():
    x = np.linspace(-1.0, 3.0, 33)
    np.testing.assert_allclose(polyline(T, Y).value(x), np.interp(x, T, Y), atol=1e-14)


@pytest.mark.parametrize("curve", [polyline(T, Y), natural_spline(T, Y), natural_spline(T, Y).integral()])
def test_a_traced_curve_is_the_curve(curve):
    g = TraceGraph()
    program = g.program([("y", np.array(curve(g.input("t", 1)[0]), dtype=object))])
    x = np.concatenate([np.linspace(-0.5, 2.0, 51), T])
    np.testing.assert_allclose(interpret(program, x[:, None]).T, np.array(np.broadcast_arrays(*curve(x))), rtol=1e-14, atol=1e-14)


def test_derivatives_of_functions():
    exact = differentiated(lambda t: np.sin(3.0 * t) * t, 0.0, "f")
    assert isinstance(exact, Traced)
    t = 0.8
    expected = (t * np.sin(3 * t), np.sin(3 * t) + 3 * t * np.cos(3 * t), 6 * np.cos(3 * t) - 9 * t * np.sin(3 * t))
    np.testing.assert_allclose(exact(t), expected, rtol=1e-13)
    by_differences = differentiated(lambda t: math.sin(3.0 * t) * t, 0.0, "f")  # math takes no traced values
    assert isinstance(by_differences, Differences)
    np.testing.assert_allclose(by_differences(t), expected, rtol=2e-9)  # truncation h^4/90 f^(6) is 2e-11, round-off eps/h^2 1e-9


def test_a_function_is_not_asked_before_it_begins():
    """Exact for a polynomial of fourth degree, but for round-off eps/h^2 = 2e-10 times the weights of one side, up to 20."""
    begun = differentiated(lambda t: 1.0 + t - 2.0 * t**2 + 3.0 * t**3 - 5.0 * t**4 + 0.0 * math.sqrt(t), 0.0, "f")
    assert isinstance(begun, Differences)  # math.sqrt fails for what is before, and takes no traced values
    for t in (0.0, 0.0007, 0.002, 0.3):
        value, rate, acceleration = begun(t)
        assert value == 1.0 + t - 2.0 * t**2 + 3.0 * t**3 - 5.0 * t**4
        assert rate == pytest.approx(1.0 - 4.0 * t + 9.0 * t**2 - 20.0 * t**3, abs=1e-11)
        assert acceleration == pytest.approx(-4.0 + 18.0 * t - 60.0 * t**2, abs=1e-8)


def test_a_function_that_answers_traced_values_otherwise_is_not_believed():
    assert isinstance(differentiated(lambda t: t * t if isinstance(t, float) else t, 1.0, "f"), Differences)
