"""Mistakes of first tries: units, names, values that are not there; each is refused, or said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from tests.refusals import refused
from tests.rings.design.studies.models import SLIDER
from tests.rings.design.studies.test_bounds import BARE

DEGREES: dict[str, Any] = {**BARE, "units": ["mm", "kg", "deg", "rpm"], "drive": {"A": 120}}
HALVED: dict[str, Any] = {**SLIDER, "parameters": {**SLIDER["parameters"], "half": "l/2"}}
HALVED["bodies"] = {**SLIDER["bodies"], "rod": {**SLIDER["bodies"]["rod"], "points": {"G": ["half", 0]}}}


def test_a_parameter_that_is_an_expression_has_a_unit() -> None:
    m = lw.load(HALVED)
    for given in ("90 mm", 0.09, "9 cm"):
        s = lw.study(m, {"half": [given]}, "start rod.G.x")
        assert s["half"][0] == pytest.approx(0.09) and s["start rod.G.x"][0] == pytest.approx(0.05 + 0.09, abs=1e-9)


@pytest.mark.slow
def test_text_without_a_unit_means_what_it_does_in_the_file() -> None:
    m = lw.load(DEGREES)
    s = lw.study(m, {"drive.A": ["60", "90 rpm", np.pi]}, "max A.v")
    np.testing.assert_allclose(s["max A.v"], [2 * np.pi, 3 * np.pi, np.pi], rtol=1e-12)
    s = lw.study(m, {"start.A": "10..30 / 3", "l": ["190", "200 mm"]}, "start A", case=lw.Run("1 ms", drive={}))
    np.testing.assert_allclose(np.unique(np.round(s["start A"], 12)), np.round(np.radians([10, 20, 30]), 12))
    np.testing.assert_allclose(np.unique(s["l"]), [0.19, 0.2])


def test_bounds_without_a_unit_hold_for_values_with_one() -> None:
    m = lw.load({**BARE, "parameters": {"r": {"value": 50, "min": 20, "max": 60}, "l": "200 mm"}})
    np.testing.assert_allclose(lw.study(m, {"r": "30..60 mm / 2"}, "range slide")["range slide"], [0.06, 0.12], rtol=1e-9)
    assert np.ptp(m.with_(r="30 mm").cycle()["slide"]) == pytest.approx(0.06)
    with refused(LinkwrightError, name="r"):
        m.with_(r="70 mm")


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("range slide while 100..180", "Write the unit of the number after while"),
        ("time when slide < -50", "Write the unit of the number after when"),
        ("time when slide > 2 kg", "has another unit"),
        ("max slide while slide.v > 20 N", "has another unit"),
        ({"r": "range slide"}, "name of another column"),
        ({"ok": "range slide"}, "name of another column"),
        ({"bad": lambda c: 1 / 0}, "measure 'bad': ZeroDivisionError"),
    ],
)
def test_measures_that_mean_something_else_are_refused(measure: Any, words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        s = lw.study(lw.load(SLIDER), {"r": ["50 mm"]}, measure)
        raise LinkwrightError(s.why[0])  # of a function: the row has the reason


def test_masses_below_zero_are_failed_rows() -> None:
    s = lw.study(lw.load(SLIDER), {"rod.mass": [-0.5, 0.5]}, "max A.torque")
    assert s.ok.tolist() == [False, True] and "cannot be below zero" in s.why[0]


def test_values_that_are_not_there_are_counted() -> None:
    s = lw.study(lw.load(SLIDER), {"r": ["40 mm", "60 mm"]}, ["time when slide < -100 mm", "max slide while 3..4 s"])
    text = str(s.summary())
    assert s.ok.all() and "1 row without a value of time when slide < -100 mm" in text and "2 rows without a value" in text
    with refused(LinkwrightError, name="max slide while 3..4 s"):
        s.best("min max slide while 3..4 s")


def test_reductions_of_an_equilibrium() -> None:
    s = lw.study("four-bar", {"L1": [0.3]}, ["end A", "max A", "range A", "std A", "rms A", "peak A"], case="settle")
    a = s["end A"][0]
    assert [float(s[m][0]) for m in s.measures] == [a, a, 0.0, 0.0, abs(a), abs(a)] and a < 0


def test_tolerances_of_ranges_and_laws_have_their_own_ends() -> None:
    m = lw.load(SLIDER)
    r = m.tolerances({"r": "40..60 mm"}, "range slide", count=256)["range slide"]
    assert r.worst == pytest.approx(0.02, rel=1e-6) and r.deviation == pytest.approx(0.04 / np.sqrt(12), rel=1e-6)
    assert m.tolerances({"r": "normal(50 mm, 0.1 mm)"}, "range slide", count=16)["range slide"].deviation == pytest.approx(2e-4, rel=1e-6)
    with refused(LinkwrightError, name="r"):
        m.tolerances({"r": [0.04, 0.05]}, "range slide")


def test_round_off_has_no_shares_and_no_correlation() -> None:
    s = lw.study(lw.load(SLIDER), {"l": "190..210 mm"}, "range slide", plan="saltelli", count=16)
    assert np.isnan(s.indices().first).all() and np.isnan(s.summary()["range slide"].ranks["l"])


@pytest.mark.slow
def test_blocks_of_designs_that_grow_have_room() -> None:
    """The first blocks lose designs, later ones do not: memory is that of the largest."""
    lengths = np.full(1400, 0.3)
    lengths[:40:2] = 5.0
    t = lw.load("four-bar").cycles({"L1": lengths}, read=["A.torque", "C.load"])
    assert (t.ok == (lengths < 1.0)).all()
    good = t["C.load"][t.ok]
    assert np.isfinite(good).all() and (good == good[-1]).all(axis=1).mean() > 0.9 and np.abs(good - good[-1]).max() < 1e-9 * good.max()
