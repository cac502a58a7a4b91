"""Tolerances: both estimates answer one question, on built-in and random mechanisms; pins mean holes; round-off has no ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.design.studies.tolerances import ToleranceAnalysis
from tests.refusals import refused

CUT = 0.98658  # standard deviation of a normal law that is cut off at three, over that of the whole law
BUILT_IN = [
    ("wiper", ["A", "D"], "mean rocker.angle"),
    ("four-bar", ["B", "C"], "start rocker.angle"),
    ("four-bar", ["L1", "L3"], "start coupler.P.x"),
    ("jansen-leg", ["crank.length", "thigh.length"], "start shoulder.angle"),
    ("boot-lid", ["B", "front.length"], "start lid.angle"),
    ("carpet-scraper", ["crank.length", "link5.length"], "start arm.angle"),
    ("five-bar", ["B", "C"], "start left_rod.angle"),
    ("rssr", ["coupler.A.x", "rocker.B"], "mean rocker"),
]


def four_bar(rng: np.random.Generator) -> lw.Mechanism:
    """A crank-rocker whose drawing has random places (Grashof's rule holds for these), and a parameter that the drawing is written with."""
    crank, ground = rng.uniform(0.03, 0.05), rng.uniform(0.18, 0.22)
    angle = rng.uniform(0.5, 2.0)
    at = crank * np.array([np.cos(angle), np.sin(angle)])
    top = np.array([rng.uniform(0.12, 0.18), rng.uniform(0.12, 0.16)])
    return lw.load(
        {
            "name": "random",
            "plane": "xy",
            "parameters": {"g": float(ground)},
            "drawing": {"A": [0, 0], "B": [float(at[0]), float(at[1])], "C": [float(top[0]), float(top[1])], "D": ["g", 0]},
            "bodies": {
                "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"]},
                "coupler": {"pins": ["B", "C"]}, "rocker": {"pins": ["C", "D"]},
            },
            "drive": {"A": "60 rpm"},
        }
    )  # fmt: skip


def compared(t: ToleranceAnalysis) -> None:
    """The linear and the drawn spread of the same deviations; 256 rows of a Sobol sequence find a deviation to some 3 %."""
    for r in t.results:
        assert r.deviation > 0.0 and r.drawn_deviation == pytest.approx(CUT * r.deviation, rel=0.05), r.measure
        assert r.drawn_mean == pytest.approx(r.nominal, abs=0.1 * r.deviation)


def check_four_bar(seed: int) -> None:
    m = four_bar(np.random.default_rng(seed))
    options: dict[str, Any] = {"count": 256, "case": lw.Cycle(steps=24)}
    compared(m.tolerances({"B": "+- 0.02 mm", "D": "+- 0.02 mm"}, ["start rocker.angle", "mean rocker.angle"], **options))
    t = m.tolerances({"g": "+- 0.02 mm"}, "start rocker.angle", **options)  # the drawing moves with it, the drive does not
    compared(t)
    assert t.held.startswith("A = ") and "held in every design" in str(t) and t.as_dict()["held"] == t.held


def test_both_estimates_agree_on_a_random_four_bar() -> None:
    check_four_bar(0)


@pytest.mark.slow
def test_both_estimates_agree_on_the_wiper() -> None:
    compared(lw.load("wiper").tolerances({"B": "+- 0.02 mm", "C": "+- 0.02 mm"}, "end rocker.angle", count=256, case=lw.Cycle(steps=24)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_both_estimates_agree_on_random_four_bars(seed: int) -> None:
    check_four_bar(seed)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "vary", "text"), BUILT_IN)
def test_both_estimates_agree_on_built_in_mechanisms(name: str, vary: list[str], text: str) -> None:
    compared(lw.load(name).tolerances(dict.fromkeys(vary, "+- 0.01 mm"), text, count=256, case=lw.Cycle(steps=24)))


def test_a_tolerance_of_a_pin_is_one_of_the_holes_there() -> None:
    """By hand: with the crank held, a hole of the crank moves B as the hole of the coupler moves it the other way."""
    m = four_bar(np.random.default_rng(1))
    t = m.tolerances({"B": "+- 0.02 mm"}, "start rocker.angle", count=16, case=lw.Cycle(steps=24))
    assert set(t.study.names) == {"crank.B.x", "crank.B.y", "coupler.B.x", "coupler.B.y"}
    alone = m.tolerances({"crank.B": "+- 0.02 mm", "coupler.B": "+- 0.02 mm"}, "start rocker.angle", count=16, case=lw.Cycle(steps=24))
    assert t["start rocker.angle"].deviation == pytest.approx(alone["start rocker.angle"].deviation, rel=1e-12)
    of = {c.name: c.derivative for c in t["start rocker.angle"].contributions}
    assert np.hypot(of["crank.B.x"], of["crank.B.y"]) == pytest.approx(np.hypot(of["coupler.B.x"], of["coupler.B.y"]), rel=1e-9)
    with refused(UsageError, name="vary"):
        m.tolerances({"B.x": "30 +- 0.02 mm"}, "start rocker.angle", count=8)
    assert lw.study(m, {"B.x": "0.03..0.04 / 2"}, "start rocker.angle").names == ("B.x",)  # a range is a variation of the drawing


def test_round_off_has_no_ranking() -> None:
    """A coordinate that is zero and does not depend on what varies: its spread is round-off."""
    m = four_bar(np.random.default_rng(2))
    found = lw.study(m, {"coupler.B": "+- 0.2 mm"}, "start crank.A.x", plan="sobol", count=8).summary()
    assert all(np.isnan(x) for x in found["start crank.A.x"].ranks.values()) and "goes with" not in str(found)
    (r,) = m.tolerances({"coupler.B": "+- 0.2 mm"}, "start crank.A.x", count=8).results
    assert all(c.share == 0.0 for c in r.contributions)
