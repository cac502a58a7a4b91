"""Multipliers of least reactions from any others of the same motion, where rows of J are redundant in every position.

J_d = c J for a row d that is left out: its multiplier is moved onto the kept rows by c, and of the self-stresses that are
then free those are chosen that load the joints least. All of it straight-line, with the elimination of the kept rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwright.kernels.equations.dynamic import Equations


def least(eq: Equations, q: Any, v: Any, a: Any, lam: Any, t: Any, near: Any) -> dict[str, Any]:
    """lam of least reactions for accelerations a and multipliers lam with M a + h - tau = J' lam."""
    T = eq._terms(q, v, t, near, lean=False)
    assert T.place is not None
    keep = list(range(T.nc) if eq.plan.keep is None else eq.plan.keep)
    kept = T.select(keep)
    calm = replace(kept, k_parts=tuple(0.0 * k for k in kept.k_parts))
    watch: list[Any] = []

    def weights(row: Any) -> Any:
        raw = eq._solve(calm, row + T.h, "sslm")
        watch[:] = raw.watch
        return -raw.lam

    J, folded = T.place.closure.J, lam[keep]
    for i in range(T.nc):
        if i not in keep:
            folded = folded + weights(J[i]) * lam[i]
    found, more = eq._least(T.place, folded, a, weights)
    return {"lam": found, "margin": eq.margin("saddle" if eq.plan.saddle is not None else "sslm", (*watch, *more))}
