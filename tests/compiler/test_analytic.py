"""Newton steps and slopes on complex lanes against numpy's complex arithmetic and LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwright.compiler.complex_newton import linearized, newton_kernel
from linkwright.compiler.derivatives import replay
from linkwright.compiler.graph import TracingError, trace
from linkwright.compiler.program import Program


def mixed(x: Any, p: Any) -> dict[str, Any]:
    """Every operation that is allowed, with zeros where a fixed order of elimination would divide."""
    return {
        "F": np.array(
            [x[1] * p[0] - np.sin(x[2]) / p[1], x[0] * x[0] + np.exp(0.3 * x[1]) - p[2], np.cos(x[0]) * p[3] - x[2] * x[1]], dtype=object
        )
    }


def program() -> Program:
    return trace(mixed, x=3, p=4)


def batch(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((count, n)) + 1j * rng.standard_normal((count, n)) for n in (3, 4, 4))


@pytest.mark.parametrize("compiled", [True, False])
def test_step_and_slope(compiled: bool) -> None:
    x, p, dp = batch(0, 77)
    step, slope = newton_kernel(program, ["test of analytic"], compiled=compiled)(x, p, dp)

    def F(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                x[:, 1] * p[:, 0] - np.sin(x[:, 2]) / p[:, 1],
                x[:, 0] ** 2 + np.exp(0.3 * x[:, 1]) - p[:, 2],
                np.cos(x[:, 0]) * p[:, 3] - x[:, 2] * x[:, 1],
            ],
            axis=1,
        )

    h = 1e-6  # central differences of analytic functions: an error of h^2 times third derivatives
    J = np.stack([(F(x + h * e, p) - F(x - h * e, p)) / (2 * h) for e in np.eye(3)], axis=2)
    along = (F(x, p + h * dp) - F(x, p - h * dp)) / (2 * h)
    for found, right in ((step, F(x, p)), (slope, along)):
        np.testing.assert_allclose((J @ found[..., None])[..., 0], -right, atol=2e-8 * np.abs(right).max())


def test_a_zero_pivot_is_exchanged() -> None:
    solve = newton_kernel(program, ["test of analytic"])
    x, p, dp = batch(1, 8)
    x[:, 0] = 0.0  # d F1 / d x0 = 0 always; here that of F2 vanishes, too, and sin(x0) = 0
    step, _ = solve(x, p, dp)
    assert not np.isfinite(step).all()  # singular: no equation contains x0 to first order
    x[:, 0] = 0.4
    assert np.isfinite(solve(x, p, dp)[0]).all()


def test_linearized_has_the_function_itself() -> None:
    x, p, dp = batch(2, 5)
    whole = linearized(program())
    values = replay(whole, [*x.T, *p.T, *dp.T])
    np.testing.assert_allclose(values[1], x[:, 0] ** 2 + np.exp(0.3 * x[:, 1]) - p[:, 2], atol=1e-13)
    assert [b.name for b in whole.outputs] == ["F", "J", "along"] and whole.outputs[1].shape == (3, 3)


def test_kinks_are_refused() -> None:
    def kinked() -> Program:
        return trace(lambda x, p: {"F": np.array([abs(x[0]) - p[0]], dtype=object)}, x=1, p=1)

    with pytest.raises(TracingError, match="not analytic"):
        newton_kernel(kinked, ["test of a kink"])(*(np.ones((1, 1), dtype=complex) for _ in range(3)))
