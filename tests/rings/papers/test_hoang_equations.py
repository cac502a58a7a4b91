"""Hoang's printed equations: derivatives of the printed constraints, and items that notice a wrong term."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.papers import hoang_equations


def test_derivatives_of_the_printed_constraints() -> None:
    """Jacobian and bias by differences of f along a parabola q + v t; order four, steps of 1e-3."""
    rng = np.random.default_rng(4)
    q, v, h = hoang_equations.PRINTED_START, rng.normal(size=6), 1e-3
    f = {x: hoang_equations.phi(q + x * h * v) for x in (-2, -1, 0, 1, 2)}
    first = (8.0 * (f[1] - f[-1]) - (f[2] - f[-2])) / (12.0 * h)
    second = (16.0 * (f[1] + f[-1]) - (f[2] + f[-2]) - 30.0 * f[0]) / (12.0 * h * h)
    np.testing.assert_allclose(hoang_equations.Phi(q) @ v, first, atol=1e-10)
    np.testing.assert_allclose(hoang_equations.bias(q, v), second, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "value", "items"),
    [
        ("bias", lambda q, v: np.zeros(3), ("baumgarte", "inverse_problem")),
        ("Phi", lambda q, right=hoang_equations.Phi: 1.001 * right(q), ("smallest_singular_value", "adjusting")),
        ("M_S", 1.001 * hoang_equations.M_S, ("inverse_problem",)),
    ],
)
def test_a_wrong_term_is_noticed(name: str, value: object, items: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hoang_equations, name, value)
    for item in items:
        assert getattr(hoang_equations, item)().verdict == "differs", item


def test_a_motor_with_another_inductance_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = hoang_equations._started
    monkeypatch.setattr(hoang_equations, "_started", lambda L: right(1.01 * L if L else 0.001))
    assert hoang_equations.motor_with_inductance().verdict == hoang_equations.motor_without_inductance().verdict == "differs"
