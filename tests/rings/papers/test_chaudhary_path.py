"""Straight part of the scraper's path: widths against many samples of the closed form, lengths against the pantograph's ratio."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.results.measures.straightness import straightness
from linkwright.rings.papers import chaudhary_path as paper
from tests.sweeps import sweep


def points(path):
    return np.stack([path.real, path.imag], axis=1)


@sweep("model", paper.LENGTHS, now=1)
def test_the_strip_touches_between_samples(model):
    """The narrowest strip of 7,201 samples of two circles; that of the cycle's own samples is narrower."""
    fine = paper.hoeken_point(model, np.radians(np.linspace(-90.0, 90.0, 7_201)))
    width = paper.parts(model)["S"].width
    assert width == pytest.approx(straightness(points(fine)), rel=1e-6)
    assert straightness(points(paper.paths(model)["S"])) < (1.0 - 1e-5) * width
    assert paper.parts(model)["S"].length == pytest.approx(np.ptp(fine.real), rel=1e-4)  # along the strip, which is nearly level


def test_enlarged():
    """Exactly 3.5 times with four digits; with three the ratio of the strokes lies between those of the arms."""
    four, three = paper.parts("carpet-scraper"), paper.parts("carpet-scraper-2007")
    assert four["T"].width == pytest.approx(3.5 * four["S"].width, rel=1e-9)
    assert four["T"].length == pytest.approx(3.5 * four["S"].length, rel=1e-12)
    assert paper.ARMS["carpet-scraper-2007"][0] < three["T"].length / three["S"].length < paper.ARMS["carpet-scraper-2007"][1]
    item = paper.straight_line()
    assert item.verdict == "agrees" and "574.7 mm straight within 0.879 mm" in item.computed
    assert "tool 572.4 mm straight within 0.922 mm" in item.computed


def test_other_lengths_would_be_noticed(monkeypatch):
    monkeypatch.setitem(paper.LENGTHS, "carpet-scraper", (0.038, 0.1153, 0.089))
    assert paper.straight_line().verdict == "differs"
