"""Paths of geared five-bars: two cranks in a fixed ratio of speeds, two links between them, a point of the first link."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from linkwright.api import UsageError
from linkwright.rings.synthesis.form_paths import STARTS, TRANSMISSION, Found, form_paths
from linkwright.rings.synthesis.linkage_forms import geared_five_bar

RATIOS = (-1.0, 1.0, -2.0, 2.0)  # second crank over driven crank; whole numbers close the curve after one turn


def geared_paths(
    points: Any,
    *,
    timing: Any = None,
    ratio: float | Sequence[float] | None = None,
    closed: bool = False,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
    longest: float | None = None,
    shortest: float | None = None,
    within: Any = None,
    transmission: float = TRANSMISSION,
) -> Found:
    """Return geared five-bars whose point passes points (K, 2) or K complex numbers, in meters.

    ratio: speed of the second crank over that of the driven one, or several; by default -1, 1, -2 and 2. A fraction (-1/2) is
    allowed: the cycle then takes several turns of the driven crank. Other arguments as of `six_bar_paths`.
    """
    given: Sequence[Any] = RATIOS if ratio is None else ratio if isinstance(ratio, Sequence) else (ratio,)
    ratios = []
    for value in given:
        if not isinstance(value, (int, float)) or not np.isfinite(value) or value == 0 or abs(value) > 20:
            raise UsageError(f"ratio {value!r}: the ratio of the gears is a number between -20 and 20 without 0.", name=value)
        exact = Fraction(float(value)).limit_denominator(12)
        if abs(float(exact) - value) > 1e-9:
            raise UsageError(
                f"ratio {value:g}: give a fraction with a denominator up to 12, so that the cycle ends ({float(exact):g}).", name="ratio"
            )
        ratios.append(float(value))
    if not ratios:
        raise UsageError("no ratio is given; allowed are numbers between -20 and 20 without 0.", name="ratio")
    forms = [geared_five_bar(r) for r in ratios]
    return form_paths(
        forms, points, timing=timing, closed=closed, seed=seed, count=count, starts=starts, longest=longest, shortest=shortest,
        within=within, transmission=transmission,
    )  # fmt: skip
