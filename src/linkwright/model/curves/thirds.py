"""Third derivatives of curves: the jerk of a prescribed motion."""

from __future__ import annotations

import numpy as np

from linkwright.errors import LinkwrightError
from linkwright.model.curves import Curve

STEP = 1e-30  # imaginary: its square vanishes beside every number that matters


def third_derivatives(curve: Curve, t: np.ndarray) -> np.ndarray | None:
    """(n, components) by a complex step of f'', exact to round-off; None for a curve whose f'' is numerical or runs on numbers only.

    At a corner of f'' it is that of one side.
    """
    doubt = np.asarray(curve.doubt(t), dtype=float)
    if np.any(doubt != 0.0):
        return None
    try:
        found = curve(t + 1j * STEP)[2]
    except (TypeError, ValueError, AttributeError, LinkwrightError):
        return None
    rows = [np.broadcast_to(np.imag(x) / STEP, t.shape) for x in (found if curve.size else [found])]
    out = np.stack(rows, axis=1)
    return out if np.isfinite(out).all() else None
