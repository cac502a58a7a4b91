"""Derivatives that do not exist are NaN with the reason, and never what round-off makes of 0/0."""

import numpy as np
import pytest

import linkwright as lw
from linkwright.results.channels.derivatives import NO_DIGITS, NOT_FINITE, refused

FORCE = "D.force_transmission_angle"


def quick_return(x=0.35):
    """A block on a rocker whose slot points at the rocker's pivot where D.x is 0.35: only there the force transmission is 90 deg."""
    return lw.load(
        {
            "name": "quick return",
            "plane": "xy",
            "drawing": {"A": [0, 0], "B": [0.08, 0.05], "D": [x, 0.02]},
            "bodies": {
                "ground": {"pins": ["A", "D"]},
                "crank": {"pins": ["A", "B"], "mass": 1},
                "rocker": {"pins": ["D"], "mass": 1, "com": [0.2, 0.03], "inertia": 0.02},
                "block": {"pins": ["B"], "mass": 0.2, "inertia": 1e-4},
            },
            "joints": {"slide": {"type": "prismatic", "between": ["rocker", "block"], "at": "B", "axis": [-0.27, 0.03]}},
            "drive": {"A": 5},
        }
    )


def slider_crank():
    """In line at its start and after half a turn: the slider rests there."""
    return lw.load(
        {
            "name": "slider crank",
            "plane": "xy",
            "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.4, 0]},
            "bodies": {
                "ground": {"pins": ["A"]},
                "crank": {"pins": ["A", "B"], "mass": 1},
                "rod": {"pins": ["B", "C"], "mass": 1},
                "slider": {"pins": ["C"], "points": {"P": [0.05, 0]}, "mass": 1},
            },
            "joints": {"guide": {"type": "prismatic", "between": ["ground", "slider"], "at": "C", "axis": [1, 0]}},
            "drive": {"A": 5},
        }
    )


def test_an_angle_at_its_largest_has_a_kink_and_no_derivative():
    """It was 2.2e85. Both sides fall away from 90 deg at the same rate: differences from the two sides have opposite signs."""
    c = quick_return().cycle(steps=24)
    d, h = c.derivatives(["D.x"]), 1e-5
    left, right = ((quick_return(0.35 + s * h).cycle(steps=24)[FORCE] - c[FORCE]) / (s * h) for s in (-1.0, 1.0))
    assert (left > 0.05).any() and np.allclose(left, -right, atol=0.02)
    assert np.isnan(d[FORCE, "D.x"]).all() and d.ok.all()
    why = d.undefined(FORCE)
    assert set(why) == set(range(25)) and "kink" in why[3] and "1.571" in why[3]


def test_beside_the_kink_the_derivative_is_that_of_differences():
    h = 1e-6
    low, at, high = (quick_return(0.36 + k * h).cycle(steps=24) for k in (-1, 0, 1))
    found = at.derivatives(["D.x"])
    # central differences: h^2 times the third derivative, and round-off of an angle with eight digits over h
    np.testing.assert_allclose(found[FORCE, "D.x"], (high[FORCE] - low[FORCE]) / (2 * h), rtol=1e-4, atol=2e-3)
    assert not found.undefined(FORCE)


def test_an_optimum_at_the_kink_is_certified():
    """Its KKT residual was 3e45."""
    best = quick_return(0.352).optimize(f"max min {FORCE}", {"D.x": "+- 2 %"}, count=4, starts=1)
    assert best.numbers["D.x"] == pytest.approx(0.35, abs=1e-5) and best.kkt < 1e3


def test_tolerances_at_a_kink_leave_it_out_with_the_reason():
    s = slider_crank().tolerances(["B.x", "slider.mass"], "min slider.P.speed")
    (found,) = s.results[0].contributions
    assert found.name == "slider.mass" and found.derivative == 0.0
    assert any("left out: B.x" in n and "kink" in n for n in s.notes)


def test_a_speed_at_rest_has_no_derivative():
    """Of |v| at v = 0; elsewhere it is v.dv/|v| with the derivative of the velocity."""
    c = slider_crank().cycle(steps=24)
    d = c.derivatives(["B.x"])
    rest = c["slider.P.speed"] < 1e-12
    assert rest.sum() >= 2 and set(d.undefined("slider.P.speed")) == set(np.flatnonzero(rest).tolist())
    found, v, dv = d["slider.P.speed", "B.x"], c["slider.P.v"], d["slider.P.v", "B.x"]
    assert np.isnan(found[rest]).all() and np.isfinite(dv).all()
    np.testing.assert_allclose(found[~rest], np.sum(v * dv, axis=1)[~rest] / c["slider.P.speed"][~rest], rtol=1e-9)


def test_of_many_designs_they_are_refused_as_well():
    m = slider_crank()
    d = m.cycles({"B.x": [0.1]}, read=["slider.P.speed"], derivatives=["B.x"], steps=24).derivatives["slider.P.speed", "B.x"][0]
    alone = m.cycle(steps=24).derivatives(["B.x"])["slider.P.speed", "B.x"]
    np.testing.assert_array_equal(np.isnan(d), np.isnan(alone))


@pytest.mark.parametrize("make", [quick_return, slider_crank], ids=["quick return", "slider crank"])
def test_every_channel_has_a_derivative_of_sense_or_a_reason(make):
    c = make().cycle(steps=12)
    d = c.derivatives(["B.x"])
    for name in (*c.channels, FORCE if "D" in c.channels else "guide.force_transmission_angle"):
        try:
            x = d[name, "B.x"]
        except lw.LinkwrightError:
            continue
        lost = np.flatnonzero(~np.isfinite(x.reshape(len(x), -1)).all(axis=1))
        assert set(lost.tolist()) == set(d.undefined(name)), name
        assert np.nanmax(np.abs(x), initial=0.0) <= 1e9 * max(1.0, np.nanmax(np.abs(c[name]), initial=0.0)), name


def test_the_three_cases():
    values, sizes = np.array([1.0, 2.0, 0.5, 1e-13]), np.array([0.1])
    slopes = np.array([1.0, np.inf, 1e85, 3.0])[:, None]
    found, why = refused(values, slopes, sizes, None)
    np.testing.assert_array_equal(found[:, 0], [1.0, np.nan, np.nan, 3.0])
    assert why == {1: NOT_FINITE, 2: NO_DIGITS}
    found, why = refused(values, slopes, sizes, 0.0)
    np.testing.assert_array_equal(found[:, 0], [1.0, np.nan, np.nan, np.nan])
    assert "kink" in why[3]
