"""Third derivatives of curves: the jerk of a prescribed motion."""

from __future__ import annotations

import numpy as np

from linkwright.model.curves import Curve
from linkwright.model.curves.piecewise import Periodic, Piecewise
from linkwright.numerics.tolerances import COMPLEX_STEP


def third_derivatives(curve: Curve, t: np.ndarray) -> np.ndarray | None:
    """(n, components) by a complex step of f'', exact to round-off; None for a curve that runs on numbers only.

    At a corner of f'' it is that of one side.
    """
    if not curve.traceable and not isinstance(curve, (Piecewise, Periodic)):  # long tables are analytic, but not compiled
        return None
    found = curve(t + 1j * COMPLEX_STEP)[2]
    rows = [np.broadcast_to(np.imag(x) / COMPLEX_STEP, t.shape) for x in (found if curve.size else [found])]
    out = np.stack(rows, axis=1)
    return out if np.isfinite(out).all() else None
