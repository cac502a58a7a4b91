"""Derivatives that do not exist, or have no digits: refused as NaN, with the reason.

A formula differentiated in floating point gives a number also where the derivative does not exist: 0/0 becomes whatever round-off makes
of it. Three cases are found by the numbers themselves, for every channel alike:

    not finite      a division by zero in the derivative
    kink            the length of a vector (a speed, a force) that is zero, or an angle at the largest it can be, to round-off: slopes
                    from both sides differ, and round-off decides between them
    no digits       the channel would change by much of its size within the round-off of the number it is differentiated by
"""

from __future__ import annotations

import numpy as np

from linkwright.numerics.tolerances import EPSILON

KINK = 1e-11  # of its largest over the motion: a length that is zero to round-off
HALF = 2e-7  # of a value other than zero: half the digits and some, as an angle near the largest it can be has them
MUCH = 1e-3  # of the channel's size
NOT_FINITE = "its formula divides by zero there, so the derivative does not exist"
AT_KINK = "its value there, {:.4g}, is where it has a kink: the derivatives from both sides differ"
NO_DIGITS = "within the round-off of a parameter of the model the channel changes by much of its size, so the derivative has no digits"


def refused(values: np.ndarray, slopes: np.ndarray, sizes: np.ndarray, kink: float | None) -> tuple[np.ndarray, dict[int, str]]:
    """Derivatives (samples, ..., numbers) of a channel (samples, ...) without those that do not exist, and why by sample.

    `sizes` of the numbers: changes that count as 1. `kink`: the value at which the channel has one.
    """
    value, flat = np.abs(values).reshape(len(values), -1), slopes.reshape(len(slopes), -1, slopes.shape[-1])
    whole = np.nanmax(np.where(np.isfinite(value), value, np.nan), initial=0.0)
    lost = ~np.isfinite(flat)
    why = dict.fromkeys(np.flatnonzero(lost.any(axis=(1, 2))).tolist(), NOT_FINITE)
    steep = np.abs(np.where(lost, 0.0, flat)) * sizes * EPSILON > MUCH * whole if whole > 0.0 else np.zeros_like(lost)
    why |= dict.fromkeys(np.flatnonzero(steep.any(axis=(1, 2))).tolist(), NO_DIGITS)
    bad = lost | steep
    if kink is not None:
        near = np.abs(value - kink) <= (KINK * whole if kink == 0.0 else HALF * kink)
        at = near[:, :, None] & ((np.abs(flat) > 0.0) | lost).any(axis=(0, 1))  # numbers that the channel depends on at all
        why |= dict.fromkeys(np.flatnonzero(at.any(axis=(1, 2))).tolist(), AT_KINK.format(kink))
        bad |= at
    return (np.where(bad, np.nan, flat).reshape(slopes.shape) if bad.any() else slopes), why
