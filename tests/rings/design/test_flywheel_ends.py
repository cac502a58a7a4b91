"""The torque over a cycle is closed by the mean of its two ends: the curve of the energy goes on smoothly from turn to turn."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.design.flywheel import _energy


def end_slope(x: np.ndarray, E: np.ndarray, at: float) -> float:
    """dE/dx at the end of a piece of fourth degree, by the polynomial through five of its points."""
    return float(np.polynomial.Polynomial.fit(x, E, 4).deriv()(at))


def test_ends_that_differ_a_little_are_closed_by_their_mean() -> None:
    """dE/dx = mean - torque, on both sides of the seam that of the mean of both ends. A periodic cubic spline at equal distances has the
    integral of the trapezoidal rule, which counts both ends by one half as well."""
    x = np.linspace(0.0, 2.0 * np.pi, 37)
    torque = 5.0 + 3.0 * np.sin(x) + np.cos(3.0 * x)
    torque[-1] += 6e-4  # within 1e-4 of the range, which is accepted
    places, E, mean = _energy(x, torque)
    assert mean == pytest.approx(float(np.mean(0.5 * (torque[1:] + torque[:-1]))), abs=1e-13)
    first, last = places <= x[1], places >= x[-2]
    assert min(first.sum(), last.sum()) == 5, "points of one piece"
    wanted = mean - 0.5 * (torque[0] + torque[-1])
    for part, at in ((first, x[0]), (last, x[-1])):
        assert end_slope(places[part], E[part], at) == pytest.approx(wanted, abs=1e-10)  # round-off over the distance of points
    assert abs(E[0]) + abs(E[-1]) < 1e-12
