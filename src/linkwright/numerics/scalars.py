"""Operations that numpy lacks for some scalars: solve, branch, arctan2.

The algorithms run on arrays of floats, complex numbers (complex-step derivatives) or traced
symbols (`dtype=object`). numpy's operators and its sin, cos, sqrt, exp, tanh serve all three;
the few operations below need a case distinction and have their only home here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def is_symbolic(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def common_type(*arrays: Any) -> Any:
    """The dtype that holds all of them: object if any is traced, else complex or float."""
    return np.result_type(*[np.asarray(a).dtype for a in arrays], np.float64)


def eliminate(
    A: np.ndarray,
    b: np.ndarray,
    order: tuple[Sequence[int], Sequence[int]] | None = None,
    *,
    mended: Callable[[int, Any], Any] | None = None,
    quotients: bool = False,
) -> tuple[np.ndarray, list[Any]]:
    """A x = b by Gaussian elimination in a fixed order of rows and columns, over any scalar: (x, pivots).

    Without `order` rows and columns are taken as they come; b may have several columns. `mended(k, pivot)` takes the place of the
    k-th pivot. `quotients` are what operations are counted with by hand, zeros included; otherwise a pivot is divided by once, and
    entries that are zeros take no part, so that the time follows the entries.
    """
    n = len(A)
    rows, columns = (list(x) for x in order or (range(n), range(n)))
    A, b = A[np.ix_(rows, columns)], np.array(b[rows], dtype=common_type(A, b))
    pivots: list[Any] = []
    divisors: list[Any] = []

    def divided(x: Any, k: int) -> Any:
        return x / divisors[k] if quotients else x * divisors[k]

    there = np.ones((n, n), dtype=bool) if quotients else _entries(A)
    right = [set(np.flatnonzero(row).tolist()) for row in there]  # columns of each row's entries
    below = [set(np.flatnonzero(column).tolist()) for column in there.T]
    for k in range(n):
        pivots.append(A[k, k])
        used = A[k, k] if mended is None else mended(k, A[k, k])
        divisors.append(used if quotients else 1.0 / used)
        after = sorted(j for j in right[k] if j > k)
        for i in sorted(i for i in below[k] if i > k):
            f = divided(A[i, k], k)
            A[i, after] = A[i, after] - f * A[k, after]
            b[i] = b[i] - f * b[k]
            for j in right[k] - right[i]:
                right[i].add(j)
                below[j].add(i)
    x = np.zeros_like(b)
    for k in reversed(range(n)):
        x[columns[k]] = divided(b[k] - sum((A[k, i] * x[columns[i]] for i in sorted(right[k]) if i > k), 0.0), k)
    return x, pivots


def _entries(A: np.ndarray) -> np.ndarray:
    """True for what is not the number zero."""
    if A.dtype.kind != "O":
        return A != 0.0
    known = [not (isinstance(x, (int, float)) and x == 0) for x in A.ravel().tolist()]
    return np.array(known, dtype=bool).reshape(A.shape)


def solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A x = b: LAPACK for numbers, elimination in the given order for symbols."""
    if is_symbolic(A) or is_symbolic(b):
        return eliminate(A, b)[0]
    return np.linalg.solve(A, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b. Python's `if` cannot branch on a symbol."""
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else condition.where(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two scalars; numpy's function for numbers, a node for symbols."""
    if hasattr(a, "minimum"):
        return a.minimum(b)
    return b.minimum(a) if hasattr(b, "minimum") else min(a, b)


def is_complex(x: Any) -> bool:
    """True for a complex number or an array of them."""
    return isinstance(x, (complex, np.complexfloating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "c")


def maximum(a: Any, b: Any) -> Any:
    """The larger of two scalars, as `minimum`."""
    if hasattr(a, "maximum"):
        return a.maximum(b)
    return b.maximum(a) if hasattr(b, "maximum") else max(a, b)


def real(x: Any) -> Any:
    """The real part: what comparisons look at on the complex-step path."""
    return x.real if is_complex(x) else x


def arctan2(y: Any, x: Any) -> Any:
    """Angle of (x, y) in (-pi, pi], analytic in both (complex step passes through)."""
    if is_complex(y) or is_complex(x):
        a = np.arctan2(real(y), real(x))
        c, s = np.cos(a), np.sin(a)
        return a + np.arctan((c * y - s * x) / (c * x + s * y))
    if hasattr(x, "lifted") and not hasattr(y, "lifted"):  # numpy asks the first operand, which may be a number beside a symbol
        y = x.lifted(y)
    return np.arctan2(y, x)


def unwrap(angle: Any, near: Any) -> Any:
    """The angle plus the whole turns that bring it closest to `near`."""
    turns = np.round((real(near) - real(angle)) / (2 * np.pi))
    return angle + 2 * np.pi * turns
