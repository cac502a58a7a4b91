"""Measures in words against numbers worked out from the samples, and their derivatives against differences of designs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.errors import ChannelError, UsageError
from linkwright.results.measures import check, measure
from linkwright.rings.design.studies.statistics import statistics
from tests.refusals import refused
from tests.rings.design.studies.models import SLIDER
from tests.sweeps import sweep


@pytest.fixture(scope="module")
def turn() -> lw.Trajectory:
    return lw.load(SLIDER).cycle()


def test_every_word(turn) -> None:
    x, t, angle = turn["slide"], turn["t"], np.mod(turn["A"] - 1e-12, 2 * np.pi)
    assert measure("max slide").read_from(turn) == pytest.approx(x.max(), rel=1e-12)  # dead centers are samples here
    assert measure("min slide").read_from(turn) == pytest.approx(x.min(), rel=1e-12)
    assert measure("range slide").read_from(turn) == pytest.approx(0.1, rel=1e-12)  # twice the crank
    fine = lw.load(SLIDER).cycle(steps=36_000)  # samples of 0.01 deg are within 1e-8 of the peak between them
    assert measure("peak A.torque").read_from(turn) == pytest.approx(np.abs(fine["A.torque"]).max(), rel=3e-8)
    assert np.abs(turn["A.torque"]).max() < (1.0 - 1e-6) * np.abs(fine["A.torque"]).max()
    assert measure("start slide").read_from(turn) == x[0] and measure("end slide").read_from(turn) == x[-1]
    mean = trapezoid(x, t) / (t[-1] - t[0])
    assert measure("mean slide").read_from(turn) == pytest.approx(mean, rel=1e-12)
    assert measure("rms slide").read_from(turn) == pytest.approx(np.sqrt(trapezoid(x**2, t) / (t[-1] - t[0])), rel=1e-12)
    assert measure("std slide").read_from(turn) == pytest.approx(np.sqrt(trapezoid((x - mean) ** 2, t) / (t[-1] - t[0])), rel=1e-9)
    inside = (angle >= np.radians(100) - 1e-9) & (angle <= np.radians(180) + 1e-9)
    assert measure("range slide while 100..180 deg").read_from(turn) == pytest.approx(np.ptp(x[inside]), rel=1e-12)
    assert measure("max slide while 0.1..0.2 s").read_from(turn) == x[(t >= 0.1) & (t <= 0.2)].max()
    fast = turn["slide.v"] > 0.1
    assert measure("min slide while slide.v > 0.1 m/s").read_from(turn) == x[fast].min()
    assert measure("max C.load").read_from(turn) == pytest.approx(np.linalg.norm(fine["C.on.rod"], axis=1).max(), rel=3e-8)
    when = measure("time when slide < -50 mm").read_from(turn)
    assert turn.at(when)["slide"] == pytest.approx(-0.05, abs=2e-6)  # straight lines between 361 samples
    assert np.isnan(measure("time when slide > 5 m").read_from(turn))
    assert np.isnan(measure("max slide while 3..4 s").read_from(turn))
    assert measure("end rod.C").read_from(turn) == pytest.approx(np.linalg.norm(turn["rod.C"][-1]), rel=1e-15)


WORDS = ("max slide.v", "min slide.a", "range slide", "peak A.torque", "rms A.torque", "mean C.load", "std slide", "end slide.v",
         "rms C.load while 30..140 deg", "time when slide < -50 mm", "max rod.C")  # fmt: skip


@sweep("text", WORDS, later=["min slide.a", "std slide", "mean C.load", "range slide"])
def test_derivatives_are_those_of_differences(text: str) -> None:
    m = lw.load(SLIDER)
    c, word = m.cycle(), measure(text)
    exact = word.slopes(c, c.derivatives(["r", "l"]))
    h = 1e-6  # of lengths of 0.1 m: h^2 and round-off over h are both near 1e-9
    for k, name in enumerate(("r", "l")):
        value = dict(m.description.parameters)[name]
        ends = [word.read_from(m.with_(**{name: value + s * h}).cycle()) for s in (1.0, -1.0)]
        rough = (ends[0] - ends[1]) / (2 * h)
        # the straight line between samples is differentiated at the samples' own slopes; all else exactly
        assert exact[k] == pytest.approx(rough, rel=2e-3 if "time" in text else 1e-6, abs=1e-6 * (1.0 + np.abs(exact).max()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("maxi slide", "Did you mean 'max'"),
        ("max", "is not a measure"),
        ("range slide while A 3..2 deg", "is empty"),
        ("range slide while sometimes", "after while comes"),
        ("time when slide", "is not a condition"),
        ("max slide while 1..2 zz", "'zz' is not a unit"),
        ("", "is not a measure"),
    ],
)
def test_words_that_are_no_measure(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        measure(text)


def test_measures_that_a_motion_does_not_have(turn) -> None:
    with refused(ChannelError, name="A.torqe"):
        check([measure("max A.torqe")], turn)
    with refused(UsageError, name="max slide while A 1..2 kg"):
        check([measure("max slide while A 1..2 kg")], turn)


def test_statistics_of_huge_numbers_do_not_overflow() -> None:
    """Scaling scales mean and deviation and leaves correlations."""
    x = np.array([3.0, 1.0, 2.0, 5.0])
    small, huge = (statistics("m", "", k * x, {"L": k * x[::-1]}) for k in (1.0, 2.0**1000))
    assert (huge.mean, huge.deviation) == (2.0**1000 * small.mean, 2.0**1000 * small.deviation)
    assert huge.correlations == small.correlations and huge.ranks == small.ranks
