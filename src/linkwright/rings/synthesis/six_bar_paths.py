"""Paths of six-bars: Watt I and II, Stephenson I, II and III whose point passes wanted points, with or without timing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwright.rings.synthesis.form_paths import STARTS, TRANSMISSION, Found, form_paths, wanted_kinds
from linkwright.rings.synthesis.linkage_forms import SIX_BAR_FORMS


def six_bar_paths(
    points: Any,
    *,
    timing: Any = None,
    kind: str | Sequence[str] | None = None,
    closed: bool = False,
    seed: int = 0,
    count: int = 5,
    starts: int = STARTS,
    longest: float | None = None,
    shortest: float | None = None,
    within: Any = None,
    transmission: float = TRANSMISSION,
) -> Found:
    """Return six-bars whose point passes points (K, 2) or K complex numbers, in meters; the crank turns fully.

    timing: crank angles at the points in rad; only differences count. Without it the points are met in order.
    kind: "watt I", "watt II", "stephenson I", "stephenson II", "stephenson III", or several; all without it.
    closed: the points are a whole closed curve. longest, shortest: limits of the links. within: box [[x, y], [x, y]] of the fixed pivots.
    transmission: least transmission angle in rad over the whole turn, for types that consist of dyads.
    """
    kinds = wanted_kinds(kind, SIX_BAR_FORMS)
    forms = [form for k in kinds for form in SIX_BAR_FORMS[k]]
    return form_paths(
        forms, points, timing=timing, closed=closed, seed=seed, count=count, starts=starts, longest=longest, shortest=shortest,
        within=within, transmission=transmission,
    )  # fmt: skip
