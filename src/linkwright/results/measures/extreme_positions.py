"""Place of an extreme in a motion: the position of the leading drive, ends of the motion, and other extremes of nearly the same height."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwright.results.measures.definition import Measure, shown_place

RIVAL = 0.99  # share of the highest extreme from which another one may overtake it
AT_AN_END = 1e-9  # share of the duration


@dataclass(frozen=True)
class ExtremePlace:
    """`A = 66.9 deg`; `end` if it is an end of the motion; places of rivals."""

    place: str
    end: bool
    rivals: tuple[str, ...]


def extreme_place(m: Measure, c: Any) -> ExtremePlace:
    """Place of the extreme of a trajectory; `m` is a peak, a max or a min."""
    curve, n = m.sampled(m.motions(c)), len(c)
    x, counted = curve.x[0], curve.counted
    height = np.abs(x) if m.reduction == "peak" else x if m.reduction == "max" else -x
    height = np.where(np.isnan(x) if counted is None else ~counted[0], -np.inf, height)
    k = int(np.argmax(height))
    times = np.asarray(c["t"]) if curve.place is None else curve.place[0]
    span = float(abs(c.t[-1] - c.t[0])) or 1.0
    ends = np.abs(times[k] - np.array([c.t[0], c.t[-1]])) < AT_AN_END * span
    ring = bool(c.full_turn)
    rivals = [i for i in _tops(height[:n], ring) if _apart(times[i] - times[k], span, n, ring)] if height[k] > 0.0 else []
    place = shown_place(c, float(times[k]))
    high = dict.fromkeys(shown_place(c, float(times[i])) for i in rivals if height[i] > RIVAL * height[k])
    return ExtremePlace(place, bool(ends.any()) and not ring, tuple(x for x in high if x != place))


def _tops(height: np.ndarray, ring: bool) -> list[int]:
    """Samples that are not below their neighbors; the last sample of a ring is its first."""
    own = height[:-1] if ring else height
    around = np.concatenate([own[-1:], own, own[:1]]) if ring else np.concatenate([[-np.inf], own, [-np.inf]])
    return [int(i) for i in np.flatnonzero((own >= around[:-2]) & (own >= around[2:]))]


def _apart(gap: float, span: float, n: int, ring: bool) -> bool:
    """True for times that are more than a step apart."""
    gap = abs(gap)
    return (min(gap, span - gap) if ring else gap) > 1.5 * span / max(n - 1, 1)
