"""Extremes between samples: curves whose extremes are known, and what is said where samples do not resolve them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.results.measures import measure
from linkwright.results.measures.extremes import SharpenedCurves, curve_extremes
from linkwright.results.measures.measured_number import MeasuredNumber
from tests.results.test_measures import offset_slider

T = np.linspace(0.0, 2.0 * np.pi, 361)
OFF = 0.004  # rad: where special places are, between two samples


def test_of_known_curves():
    t = np.linspace(0.1, 6.0, 60)
    found, top = curve_extremes(t, np.exp(-0.1 * t) * np.sin(t)), np.arctan(10.0)  # where the slope -0.1 sin + cos vanishes
    assert found.high == pytest.approx(np.exp(-0.1 * top) * np.sin(top), abs=1e-10)  # (h/2)^9 of the ninth derivative
    assert found.low == pytest.approx(-np.exp(-0.1 * (top + np.pi)) * np.sin(top), abs=1e-10)
    assert found.at_high == pytest.approx(top, abs=1e-6) and found.error_low == found.error_high == 0.0
    assert curve_extremes(t, t**2).both == pytest.approx((0.01, 36.0), abs=1e-12)  # ends are samples
    assert curve_extremes(t, 3.0 + 0.0 * t).both == (3.0, 3.0)
    assert curve_extremes(np.arange(4.0), np.array([0.0, 2.0, 1.0, 0.5])).both == (0.0, 2.0)


def test_through_the_end_of_a_cycle():
    """A peak before the first sample of a cycle lies before its last one."""
    for shift in (-0.3, 0.3):
        x = np.cos(T - shift * T[1])
        found = curve_extremes(T, x)
        assert x.max() < 1.0 - 1e-6 and found.high == pytest.approx(1.0, abs=1e-13)
        assert found.at_high == pytest.approx((shift * T[1]) % (2.0 * np.pi), abs=1e-9)


@pytest.mark.parametrize("steps", [90, 361, 1000])
def test_the_error_of_kinks_and_jumps_holds_what_is_missing(steps: int):
    """Where no polynomial fits the sample is taken; the highest value of the curve lies within the error that is said."""
    t = np.linspace(0.0, 2.0 * np.pi, steps)
    saw = -np.abs(np.sin(0.5 * (t - 2.0 - OFF)))
    jump = np.where(t < 2.0 + OFF, 0.2 * t, -1.0)
    narrow = 1.0 / (np.sin(0.5 * (t - 2.0 - OFF)) ** 2 + 0.01**2)
    for x, top in ((saw, 0.0), (jump, 0.2 * (2.0 + OFF)), (narrow, 1e4)):
        found = curve_extremes(t, x)
        assert found.high <= top + 1e-9 * abs(top) <= found.high + found.error_high + 1e-3 * abs(top) + 1e-12
    clipped = np.clip(np.sin(t), -1.0, 0.7)
    assert curve_extremes(t, clipped).high == 0.7  # a polynomial would go beyond
    step = np.where(t < 3.0, 0.0, 1.0)
    assert curve_extremes(t, step).both == (0.0, 1.0) and curve_extremes(t, step).error_high == 0.0


@pytest.mark.parametrize("shape", [lambda s: 1.0 / s, lambda s: 1.0 / abs(s), lambda s: 1.0 / s**2], ids=["odd", "size", "even"])
@pytest.mark.parametrize("place", np.linspace(2.0, 2.0 + T[1], 12))
def test_poles_are_told_from_peaks(shape, place: float):
    x = shape(np.sin(T - place))
    assert curve_extremes(T, x).error_high == np.inf
    bounded = 1.0 / (np.sin(T - place) ** 2 + 0.1)
    assert curve_extremes(T, bounded).error_high == 0.0 and curve_extremes(T, bounded).high == pytest.approx(10.0, rel=1e-6)


def test_of_many_motions_and_windows(rng: np.random.Generator):
    """The same as one by one; a window keeps what lies inside of it."""
    x = rng.normal(size=(7, 5)) @ np.array([np.cos(k * T + k) for k in range(1, 6)])
    many = SharpenedCurves.of(np.broadcast_to(T, x.shape), x).x
    for one, y in zip(many, x, strict=True):
        assert (one.min(), one.max()) == pytest.approx(curve_extremes(T, y).both, rel=1e-9)  # the first of equal peaks
    c = offset_slider().cycle(steps=90)
    top = c.measure("max slide")
    where = np.degrees(np.arcsin(0.03 / 0.25))  # crank and rod in line, between two samples
    assert c.measure(f"max slide while {where - 3.5}..{where + 0.5} deg") == pytest.approx(top, abs=1e-12)
    assert c.measure(f"max slide while {where + 0.3}..{where + 9.0} deg") < top - 1e-7


def test_derivatives_are_those_of_the_place_between_samples():
    m = offset_slider()
    for text in ("max slide", "range slide.a", "peak slide.v"):
        c = m.cycle(steps=40)
        (found,) = measure(text).slopes(c, c.derivatives(["l"]))
        h = 1e-5
        ends = [m.with_(l=0.2 + sign * h).cycle(steps=40).measure(text) for sign in (1.0, -1.0)]
        assert found == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=2e-6)  # differences over 1e-5


def test_an_advantage_grows_without_bound_at_a_dead_center():
    """Its value is that of the nearest sample, so it is marked at any number of steps; a force that stays bounded is not."""
    m = offset_slider()
    values = []
    for steps in (90, 360, 361, 720):
        x = m.cycle(steps=steps).measure("max slide.advantage")
        values.append(float(x))
        assert isinstance(x, MeasuredNumber) and x.grows and str(x).endswith("*") and "A = " in x.grows_at
        assert "grows without bound near A = " in x.note("max slide.advantage")
        assert not m.cycle(steps=steps).measure("max slide").grows
    assert max(values) > 2.0 * min(values)
    found = lw.study(m, {"l": "0.19..0.21 / 3"}, "max slide.advantage").summary()
    assert found["max slide.advantage"].growing == 3 and "* max slide.advantage grows without bound in 3 rows" in str(found)
    assert found.as_dict()["measures"]["max slide.advantage"]["grows_without_bound"] == 3


def test_an_optimum_marks_what_grows_without_bound_in_its_table():
    """Every sample is below the limit; whether the curve is, no number of samples can tell."""
    limits = ["max slide.advantage < 1e9 1/m", "max slide > 1 mm"]
    found = offset_slider().optimize("min range slide", vary={"l": "0.19..0.21 m"}, require=limits)
    t = found.table()
    rows = {name: [c.text(i) for c in t.columns] for i, name in enumerate(t["quantity"])}
    name = next(n for n in rows if "advantage" in n)
    _, before, after, _, remark = rows[name]
    assert before.endswith("*") and after.endswith("*") and remark == "not known between samples"
    other = next(row for n, row in rows.items() if n.startswith("max slide >"))
    assert "*" not in other[1] + other[2] and other[4] == "holds"
    (told,) = [x for x in found.as_dict()["limits"] if "advantage" in x["limit"]]
    assert told["grows"] is True and told["known"] is False
    assert f"{after} " in str(found) and "grows without bound near A = " in str(found)


def test_a_curve_that_rests_at_a_bound_or_turns_at_an_event_does_not_go_beyond():
    """A clipped effort stays at its bound; of an impact both sides are sampled at one time."""
    t = np.linspace(0.0, 1.0, 41)
    clipped = curve_extremes(t, np.clip(np.sin(7.0 * t), -0.7, 0.7))
    assert clipped.both == (-0.7, 0.7) and (clipped.error_low, clipped.error_high) == (0.0, 0.0)
    hit = np.sort(np.append(t, [0.512, 0.512]))
    bounce = np.where(np.arange(len(hit)) <= np.flatnonzero(hit == 0.512)[0], hit, 0.512 - 0.5 * (hit - 0.512))
    found = curve_extremes(hit, bounce)
    assert found.high == 0.512 and found.error_high == 0.0
    open_ = curve_extremes(t, np.where(t <= 0.512, t, 0.512 - 0.5 * (t - 0.512)))  # between two samples it does
    assert open_.high < 0.512 <= open_.high + open_.error_high
