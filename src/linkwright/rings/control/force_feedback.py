"""Stability of sampled force feedback, and the filter that makes it stable.

A sampled controller senses the force that its last efforts made. With the gains G_F and G_I, the time between samples T and a
filter that takes in the share a = 1 - exp(-T / T_f) of every reading, the filtered error m and the integral s obey

    e = -(G_F m + G_I s)          the force error that the new efforts make
    m+ = m + a (e - m)            sensed at the next sample
    s+ = s + T m+

Without a filter and integral e+ = -G_F e: unstable from G_F = 1 on. The loop is stable where both eigenvalues of this map lie
inside the unit circle; with G_I = 0 that is a (1 + G_F) < 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.errors import UsageError
from linkwright.model.file import quantity
from linkwright.simulation.feedback.base import taken_in
from linkwright.text.units import TIME

CALM = 0.5  # of the largest share that is stable: what is chosen where nothing is said


def growth(F: float, I: float, every: float, lag: float) -> float:
    """The largest eigenvalue of a sampled force loop, in size: above 1 it grows."""
    a = taken_in(every, lag)
    row = np.array([1.0 - a * (1.0 + F), -a * I])
    return float(np.abs(np.linalg.eigvals(np.array([row, [every * row[0], 1.0 + every * row[1]]]))).max())


def stable(F: float, I: float, every: float, lag: float) -> bool:
    """An integral without gain stays where it is: 1 is stable then."""
    return growth(F, I, every, lag) < 1.0 or (I == 0.0 and abs(1.0 - taken_in(every, lag) * (1.0 + F)) < 1.0)


def filter_for(given: Any, F: Any, I: Any, every: float) -> tuple[float, list[str]]:
    """The filter's time constant and what a person should know about it."""
    if given is not None:
        lag = quantity(given, TIME, "hybrid: filter")
        if not (np.isfinite(lag) and lag >= 0.0):
            raise UsageError(f"hybrid: the filter's time constant is {lag:g} s; it must be zero or more.")
        bad = [(f, i) for f, i in zip(F, I, strict=True) if every and not stable(f, i, every, lag)]
        return lag, [_warning(*bad[0], every, lag)] if bad else []
    if not every or all(stable(f, i, every, 0.0) for f, i in zip(F, I, strict=True)):
        return 0.0, []
    lag = chosen(F, I, every)
    worst = max(zip(F, I, strict=True))
    return lag, [
        f"force loop: F = {worst[0]:g} with one sample of delay ({every:g} s) grows {growth(*worst, every, 0.0):.3g} times a sample "
        f"without a filter (stable where F < 1); a filter of {lag:.3g} s is put in. filter=... chooses another one."
    ]


def chosen(F: Any, I: Any, every: float) -> float:
    """A filter with room to spare: half of the share that would just be stable, and more where the integral asks for it."""
    share = CALM * 2.0 / (1.0 + float(np.max(F)))
    for _ in range(60):
        lag = -every / float(np.log(1.0 - min(share, 0.99)))
        if all(stable(f, i, every, lag) for f, i in zip(F, I, strict=True)):
            return lag
        share *= 0.7
    raise UsageError(
        f"hybrid: no filter makes this force loop stable: I = {float(np.max(I)):g} 1/s is too much for samples every {every:g} s. "
        f"Take I below {1.0 / every:.3g} 1/s."
    )


def _warning(F: float, I: float, every: float, lag: float) -> str:
    with_filter = f"a filter of {lag:g} s" if lag else "no filter"
    least = chosen([F], [I], every)
    return (
        f"force loop unstable: F = {F:g} at samples every {every:g} s with {with_filter} grows {growth(F, I, every, lag):.3g} times a "
        f"sample; stable where (1 - exp(-T / T_f)) (1 + F) < 2. Take filter={least:.2g} s or more, or F below 1."
    )
