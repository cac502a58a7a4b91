"""Crank-rockers and slider-cranks between dead centers: swing, stroke and time ratio read from the real engine and from closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.dead_centers import between_dead_centers
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.sweeps import sweep

DEG = np.pi / 180


def read(s: SynthesizedLinkage, steps: int = 1440) -> tuple[float, float]:
    """Travel and time ratio of one turn of the engine, ends of travel by parabolas through three samples."""
    cycle = lw.load(s.document).cycle(steps=steps)
    assert cycle.full_turn
    y = np.asarray(cycle[s.linkage.output])[:-1]
    ends = []
    for k in (int(y.argmax()), int(y.argmin())):
        before, here, after = y[k - 1], y[k], y[(k + 1) % steps]
        shift = 0.5 * (before - after) / (before - 2 * here + after)
        ends.append((k + shift, here - 0.25 * (before - after) * shift))
    part = abs(ends[0][0] - ends[1][0]) / steps
    return abs(ends[0][1] - ends[1][1]), max(part / (1 - part), (1 - part) / part)


@sweep(("swing", "ratio"), [(60.0, 1.0), (100.0, 1.1), (30.0, 2.0), (25.0, 1.0 / 1.5), (60.0, 1.2)], now=4)
def test_crank_rockers(swing: float, ratio: float) -> None:
    found, facts, _ = between_dead_centers(swing * DEG, ratio)
    assert len(found) >= 3
    for s in found[:3]:
        travel, times = read(s)
        assert travel == pytest.approx(swing * DEG, abs=1e-7)  # a parabola through samples of a quarter degree: h^4
        assert times == pytest.approx(max(ratio, 1 / ratio), abs=1e-4)
    angles = [s.measures["least transmission angle"] for s in found]
    assert angles == sorted(angles, reverse=True) and facts["angle between dead centers"] == pytest.approx(
        np.pi * abs(ratio - 1) / (ratio + 1)
    )


@sweep(("stroke", "ratio"), [(2.0, 1.05), (0.1, 1.0), (0.1, 1.3)], now=1)
def test_slider_cranks(stroke: float, ratio: float) -> None:
    found, _, _ = between_dead_centers(stroke=stroke, time_ratio=ratio)
    for s in found[:3]:
        travel, times = read(s)
        assert travel == pytest.approx(stroke, rel=1e-7) and times == pytest.approx(ratio, abs=1e-4)
        pins, a, b = s.linkage.pins, s.linkage.length("A", "B"), s.linkage.length("B", "C")
        offset = abs((pins["C"] - pins["A"]).imag)
        assert np.sqrt((b + a) ** 2 - offset**2) - np.sqrt((b - a) ** 2 - offset**2) == pytest.approx(stroke)
        assert np.cos(s.measures["least transmission angle"]) == pytest.approx((a + offset) / b)


def test_a_centric_crank_rocker_by_its_closed_form() -> None:
    # Time ratio 1: a = c sin(swing / 2) and a^2 + d^2 = b^2 + c^2.
    for s in between_dead_centers(50 * DEG, 1.0, rocker=0.2)[0]:
        a, b, c, d = (s.linkage.length(*ends) for ends in ("AB", "BC", "CD", "AD"))
        assert a == pytest.approx(0.2 * np.sin(25 * DEG)) and a * a + d * d == pytest.approx(b * b + c * c) and c == pytest.approx(0.2)


def test_the_first_has_the_best_transmission_angle() -> None:
    swing, ratio = 45 * DEG, 1.15
    best = between_dead_centers(swing, ratio)[0][0]
    # Among cranks on a dense grid none is better: the family is one curve, met again by its crank length.
    others = [s for crank in np.linspace(0.01, 0.045, 71) for s in between_dead_centers(swing, ratio, crank=float(crank))[0]]
    assert len(others) > 20
    most = max(s.measures["least transmission angle"] for s in others)
    assert most <= best.measures["least transmission angle"] + 1e-9 and most > best.measures["least transmission angle"] - 2 * DEG
    for s in others[::9]:
        assert read(s)[0] == pytest.approx(swing, abs=1e-6)


def test_a_crank_length_is_met() -> None:
    found, _, _ = between_dead_centers(60 * DEG, 1.2, crank=0.03)
    assert found and all(s.linkage.length("A", "B") == pytest.approx(0.03, rel=1e-9) for s in found)
    none, _, notes = between_dead_centers(60 * DEG, 1.2, crank=1.0)
    assert none == [] and "crank length" in notes[0]


def test_bounds() -> None:
    found, _, notes = between_dead_centers(60 * DEG, 1.0, most_ratio=4.0)
    assert all(s.measures["link ratio"] <= 4.0 for s in found) and "most_ratio" in notes[0]  # the best is at the bound, and that is said
    none, _, notes = between_dead_centers(60 * DEG, 1.2, least_transmission=80 * DEG)
    assert none == [] and "80 deg" in notes[0]
    none, _, notes = between_dead_centers(60 * DEG, 1.2, most_ratio=1.5)
    assert none == [] and "time ratio" in notes[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "swing of a rocker or the stroke"),
        ({"swing": 1.0, "stroke": 1.0}, "one of them"),
        ({"swing": 4.0}, "180 deg"),
        ({"swing": -1.0}, "above zero"),
        ({"stroke": "a"}, "above zero"),
        ({"swing": 1.0, "time_ratio": 0}, "time_ratio"),
        ({"swing": 1.0, "most_ratio": 1}, "most_ratio"),
        ({"swing": 1.0, "crank": -1}, "crank"),
    ],
)
def test_bad_input(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        between_dead_centers(**given)
