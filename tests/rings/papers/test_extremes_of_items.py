"""Extremes between samples, against curves whose extremes are known; and the items print those of the curve."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.results.measures.extremes import curve_extremes
from linkwright.rings.papers import chaudhary, chaudhary_determinacy, hoang, koul_runs


def test_extremes_of_known_curves():
    t = np.linspace(0.1, 6.0, 60)
    low, high = curve_extremes(t, np.exp(-0.1 * t) * np.sin(t)).both
    top = np.arctan(10.0)  # where the slope -0.1 sin + cos vanishes
    assert high == pytest.approx(np.exp(-0.1 * top) * np.sin(top), abs=1e-10)  # (h/2)^9 of the ninth derivative
    assert low == pytest.approx(-np.exp(-0.1 * (top + np.pi)) * np.sin(top), abs=1e-10)
    assert curve_extremes(t, t**2).both == pytest.approx((0.01, 36.0), abs=1e-12)  # ends are samples
    assert curve_extremes(t, 3.0 + 0.0 * t).both == (3.0, 3.0)
    assert curve_extremes(t, -np.cos(t)).size == pytest.approx(1.0, abs=1e-10)


def test_a_lower_sample_may_have_the_higher_peak_beside_it():
    """Of two equal peaks one is met by a sample and the other, 1 % higher, is not."""
    t = np.linspace(0.0, 4.0 * np.pi, 41)
    x = np.where(t < 2.0 * np.pi, 1.0, 1.01) * np.sin(t - np.where(t < 2.0 * np.pi, 0.0, 0.5) * (t[1] - t[0]))
    assert int(np.argmax(x)) == 5 and x.max() == pytest.approx(1.0, abs=1e-12)
    assert curve_extremes(t, x).high == pytest.approx(1.01, abs=1e-4)


def test_few_samples_are_taken_as_they_are():
    assert curve_extremes(np.arange(4.0), np.array([0.0, 2.0, 1.0, 0.5])).both == (0.0, 2.0)


@pytest.mark.slow
def test_items_print_the_extremes_of_their_curves():
    """Torques of the scraper by golden section on 21 Newton-Euler equations, of the RSSR every half degree; swing by energy."""
    torque = curve_extremes(*chaudhary.turned(9.81)).both
    assert torque == pytest.approx((-68.74736737, 100.31572850), abs=2e-7)
    assert "from -68.75 to 100.32" in chaudhary.driving_torque().computed
    assert "from -2.683 to 3.231" in chaudhary_determinacy.rssr().computed
    swing = curve_extremes(koul_runs.scraper_run().t, koul_runs.scraper_run()["J1"]).both
    assert swing == pytest.approx((-0.5300488886720508, 2.8973004639681794), abs=1e-9)
    assert "between -0.530 and 2.897 rad" in koul_runs.free_scraper().why


def test_extremes_do_not_depend_on_the_samples():
    run = hoang.exact(1)
    x = np.asarray(run.q)[:, 3]
    assert curve_extremes(run.t[::5], x[::5]).both == pytest.approx(curve_extremes(run.t, x).both, abs=1e-6)
    assert x[::5].max() < curve_extremes(run.t, x).high - 1e-7
