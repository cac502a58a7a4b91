"""Singular values by rotations, as a script has them, against those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.kernels.singular_value_loops import orthogonalized
from tests import exports
from tests.kernels.test_export import run


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (5, 5), (8, 9), (4, 20)])
def test_singular_values(shape: tuple[int, int], rng: np.random.Generator) -> None:
    """Also of a matrix that has lost a row."""
    A = rng.normal(size=shape)
    if shape[0] > 1:
        A[-1] = A[0] - A[-2]
    exact, s = np.sort(np.linalg.svd(A, compute_uv=False)), np.zeros(shape[0])
    assert orthogonalized(A.copy(), s) < 12
    np.testing.assert_allclose(np.sort(s), exact, atol=1e-14 * exact[-1])
    script = exports.script(lw.compile("wiper"), ["closure"], name="m")
    [found] = run({"m": script}, [("m", "return m.singularValues(Float64Array.from(x.a),x.rows)", {"a": A.ravel(), "rows": shape[0]})])
    np.testing.assert_allclose(found, exact, atol=1e-14 * exact[-1])
