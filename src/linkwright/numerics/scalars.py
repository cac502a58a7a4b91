"""What numpy cannot do for every scalar: solve, branch, arctan2.

The algorithms run on arrays of floats, complex numbers (complex-step derivatives) or traced
symbols (`dtype=object`). numpy's operators and its sin, cos, sqrt, exp, tanh serve all three;
the few operations below need a case distinction and have their only home here.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_symbolic(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def common_type(*arrays: Any) -> Any:
    """The dtype that holds all of them: object if any is traced, else complex or float."""
    return np.result_type(*[np.asarray(a).dtype for a in arrays], np.float64)


def eliminate(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Gaussian elimination without pivoting, over any scalar; b may have several columns."""
    A, b = A.copy(), b.copy()
    n = len(A)
    for k in range(n):
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] = A[i, k:] - f * A[k, k:]
            b[i] = b[i] - f * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - A[k, k + 1 :] @ b[k + 1 :]) / A[k, k]
    return b


def solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A x = b: LAPACK for numbers, elimination in the given order for symbols."""
    if is_symbolic(A) or is_symbolic(b):
        return eliminate(A, b)
    return np.linalg.solve(A, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b. Python's `if` cannot branch on a symbol."""
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    return condition.where(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two scalars; numpy's function for numbers, a node for symbols."""
    if hasattr(a, "minimum"):
        return a.minimum(b)
    return b.minimum(a) if hasattr(b, "minimum") else min(a, b)


def real(x: Any) -> Any:
    """The real part: what comparisons look at on the complex-step path."""
    return x.real if isinstance(x, (complex, np.complexfloating)) else x


def arctan2(y: Any, x: Any) -> Any:
    """Angle of (x, y) in (-pi, pi], analytic in both (complex step passes through)."""
    if isinstance(y, (complex, np.complexfloating)) or isinstance(x, (complex, np.complexfloating)):
        a = np.arctan2(real(y), real(x))
        c, s = np.cos(a), np.sin(a)
        return a + np.arctan((c * y - s * x) / (c * x + s * y))
    return np.arctan2(y, x)


def unwrap(angle: Any, near: Any) -> Any:
    """The angle plus the whole turns that bring it closest to `near`."""
    turns = np.round((real(near) - real(angle)) / (2 * np.pi))
    return angle + 2 * np.pi * turns
