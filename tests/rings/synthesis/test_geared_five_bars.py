"""Geared five-bars for paths: a known one is recovered, the engine's gears do what was computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.form_paths import geared_paths
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.sweeps import sweep

FIVE = np.array([(0.0, 0.0), (0.04, 0.05), (0.10, 0.06), (0.15, 0.03), (0.07, -0.03)])
RANGE = "between -20 and 20"
FIVE_TIMES = np.deg2rad([0.0, 50.0, 120.0, 180.0, 270.0])


def known_path(theta: np.ndarray, ratio: float) -> np.ndarray:
    """Point of a geared five-bar by intersection of circles, written apart from the library: cranks 30 and 20 mm, links 80 and 90 mm."""
    a = 0.03 * np.exp(1j * theta)
    b = 0.1 + 0.02 * np.exp(1j * (ratio * theta + 0.7))
    s = b - a
    along = (np.abs(s) ** 2 + 0.08**2 - 0.09**2) / (2.0 * np.abs(s))
    d = a + s / np.abs(s) * (along + 1j * np.sqrt(0.08**2 - along**2))
    return 0.2 + 0.1j + np.exp(0.4j) * (a + (d - a) / 0.08 * (0.05 + 0.03j))


def engine_path(x: SynthesizedLinkage, steps: int = 360) -> tuple[Any, np.ndarray]:
    c = lw.load(x.document).cycle(steps=steps)
    return c, c[f"{x.linkage.output}.x"] + 1j * c[f"{x.linkage.output}.y"]


@sweep("ratio", [2.0, -1.0], now=1)
def test_a_known_linkage_is_recovered(ratio: float) -> None:
    theta = 2.0 * np.pi * np.arange(24) / 24
    points = known_path(theta, ratio)
    found, _, notes = geared_paths(points, timing=theta, ratio=ratio, closed=True, transmission=0.2, count=2)
    best = found[0]
    # 48 conditions, 12 dimensions: only the linkage itself (or a cognate) meets them; round-off of points of size 0.2 remains
    assert best.error < 1e-22 and best.usable and notes == ()
    c, path = engine_path(best)
    assert c.full_turn and np.abs(path - known_path(np.deg2rad(np.arange(361)), ratio)).max() < 1e-9
    assert best.linkage.gears[0].ratio == ratio
    assert np.abs((c["C"] - c["C"][0]) - ratio * (c["O"] - c["O"][0])).max() < 1e-9


@sweep("ratio", [0.5, None], now=1)
def test_timed_points_are_met_exactly(ratio: float | None) -> None:
    found, facts, _ = geared_paths(FIVE, timing=FIVE_TIMES, ratio=ratio, starts=512, count=3)
    assert facts["forms"] == (4 if ratio is None else 1)
    best = found[0]
    assert best.error < 1e-24 and best.usable
    c, path = engine_path(best)
    assert np.abs(path[np.rint(np.rad2deg(FIVE_TIMES)).astype(int)] - FIVE @ [1.0, 1j]).max() < 1e-9
    assert c.full_turn
    # with half the speed the cycle takes two turns, and the links close in both
    assert any("cycle is longer" in note for note in c.notes) == (ratio == 0.5)


@pytest.mark.parametrize(
    ("ratio", "says"), [(0.0, "without 0"), (float("nan"), RANGE), ("2", RANGE), (0.3183, "denominator"), ((), "no ratio")]
)
def test_bad_ratios_are_explained(ratio: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        geared_paths(FIVE, timing=FIVE_TIMES, ratio=ratio)
