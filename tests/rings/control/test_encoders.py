"""Encoders: counts, speeds by differences and by an observer against closed forms, and the state that follows through the loops."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError

T = 1e-3


@pytest.fixture(scope="module")
def crank():
    s = lw.load("slider-crank-equal").system
    return s, s.assemble({"A": "30 deg"}, {"A": 1.0})


def measured(s, st, names, effort, drives, duration=0.1, **options):
    """Samples of what a sampled function reads, and the run."""
    seen = []

    def law(t, now):
        seen.append([float(now[n]) for n in names])
        return effort

    run = s.simulate(st, duration, control=lw.control.control_law(law, drives=drives, every=T), sample_interval=T, **options)
    return dict(zip(names, np.array(seen).T, strict=True)), run


@pytest.mark.parametrize("engine", ["native", "python"])
def test_positions_are_whole_counts_and_the_state_lies_on_the_loops(engine):
    """A = 2 pi n / 1024 within half a count; B = 2 pi - 2 A and C on its slot, as the geometry has it, speeds likewise."""
    s = lw.compile(lw.load("slider-crank-equal"), engine=engine)
    st = s.assemble({"A": "30 deg"}, {"A": 1.0})
    names = ["A", "A.v", "B", "B.v", "rod.C.y"]
    got, run = measured(s, st, names, 20.0, ["A"], 0.05, encoders=lw.control.encoder(1024))
    count = 2 * np.pi / 1024
    n = got["A"] / count
    assert np.abs(n - np.round(n)).max() < 1e-9
    assert 0.3 * count < np.abs(got["A"] - run["A"][:-1]).max() <= 0.5 * count * (1 + 1e-9)
    assert np.abs(got["B"] + 2 * got["A"] - 2 * np.pi).max() < 1e-12 and np.abs(got["rod.C.y"]).max() < 1e-12
    assert np.abs(got["B.v"] + 2 * got["A.v"]).max() < 1e-11
    steps = got["A.v"] * T / count
    assert np.abs(steps - np.round(steps)).max() < 1e-9, "differences are whole counts over a sample"
    assert np.allclose(got["A.v"][1:], np.diff(got["A"]) / T, atol=1e-9)


@pytest.fixture(scope="module")
def cart():
    model = {
        "plane": "xy",
        "drawing": {"O": [0, 0]},
        "bodies": {"ground": {"points": ["O"]}, "cart": {"points": ["O"], "mass": "2 kg", "com": "O"}},
        "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "O", "axis": [1, 0]}},
        "drive": {"X": {"force": 0}},
    }
    return lw.load(model).system


def test_speeds_lag_as_the_filters_do(cart):
    """Constant acceleration a, counts of 1 pm: a difference lags by a T/2, an alpha-beta filter by a T (alpha/beta - 1/2) once it has
    settled; at constant speed both are exact from the first sample on. Round-off of a count over T is 1e-9 m/s."""
    a = 5.0
    fine = {"length": 1e-12}
    got, run = measured(cart, cart.start, ["X", "X.v"], 2 * a, ["X"], encoders=lw.control.encoder(**fine))
    assert np.abs(got["X.v"][1:] - (run["X.v"][1:-1] - a * T / 2)).max() < 1e-8
    observer = lw.control.encoder(**fine, speed="observer", bandwidth="60 Hz")
    got, run = measured(cart, cart.start, ["X.v"], 2 * a, ["X"], encoders=observer)
    p = np.exp(-2 * np.pi * 60 * T)
    lag = a * T * ((1 - p * p) / (1 - p) ** 2 - 0.5)
    assert np.abs(got["X.v"][-10:] - (run["X.v"][-11:-1] - lag)).max() < 1e-8
    moving = cart.assemble({}, {"X": 0.7})
    for kind in (lw.control.encoder(**fine), observer, lw.control.encoder(**fine, speed="exact")):
        got, _ = measured(cart, moving, ["X.v"], 0.0, ["X"], 0.01, encoders=kind)
        assert np.abs(got["X.v"] - 0.7).max() < 1e-8


def test_an_observer_is_calmer_than_differences(crank):
    s, st = crank
    spread = {}
    for name, more in (("difference", {}), ("observer", {"bandwidth": "40 Hz"})):
        got, run = measured(s, st, ["A.v"], 5.0, ["A"], encoders=lw.control.encoder(4096, speed=name, **more))
        spread[name] = np.std(got["A.v"][50:] - run["A.v"][50:-1])
    assert spread["observer"] < 0.2 * spread["difference"]


def test_encoders_at_cut_joints_and_redundant_ones(crank):
    """The slot C closes the loop: its travel in counts of 1 mm, and A = acos(x / 2) through the loop. With encoders at A and B as well no
    state shows all readings: it lies on the loop, within a count of each."""
    s, st = crank
    got, run = measured(s, st, ["C.slide", "A", "B"], 10.0, ["A"], 0.05, encoders={"C.slide": lw.control.encoder(length="1 mm")})
    n = got["C.slide"] / 1e-3
    assert np.abs(n - np.round(n)).max() < 1e-6 and np.abs(got["C.slide"] - run["C.slide"][:-1]).max() <= 0.5e-3 + 1e-9
    assert np.abs(np.cos(got["A"]) - np.cos(run["A"][:-1]) - (got["C.slide"] - run["C.slide"][:-1]) / 2).max() < 1e-9
    both = {"A": lw.control.encoder(500), "B": lw.control.encoder(720)}
    got, run = measured(s, st, ["A", "B"], 10.0, ["A"], 0.05, encoders=both)
    assert np.abs(got["B"] + 2 * got["A"] - 2 * np.pi).max() < 1e-10
    assert np.abs(got["A"] - run["A"][:-1]).max() < 2 * np.pi / 500


def test_encoders_beside_noise_and_delay_repeat_and_continue_after_a_switch(crank):
    s, st = crank
    law = lw.control.pd({"A": "40 deg"}, P=60, D=6, drives=["A"], every=T)
    around = {
        "encoders": lw.control.encoder(2000),
        "noise": lw.control.noise(angle="0.05 deg", seed=2),
        "delay": 2 * T,
        "sample_interval": T,
    }
    a, b = (s.simulate(st, 0.05, control=law, **around) for _ in range(2))
    assert np.array_equal(a["A.torque"], b["A.torque"]) and (a["A.torque"][:2] == 0).all()
    switched = s.simulate(st, 0.05, control=law, events=[lw.events.when("t", 0.02, do=lw.events.unlock("B"))], **around)
    assert np.abs(switched["A.torque"] - a["A.torque"]).max() < 1e-6, "an event at a sample does not count anything twice"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: lw.control.encoder(), "resolution"),
        (lambda: lw.control.encoder(0), "whole number"),
        (lambda: lw.control.encoder(100, angle="1 deg"), "not both"),
        (lambda: lw.control.encoder(angle="-1 deg"), "positive"),
        (lambda: lw.control.encoder(100, speed="guess"), "difference"),
        (lambda: lw.control.encoder(100, speed="observer"), "bandwidth"),
        (lambda: lw.control.encoder(100, bandwidth="3 Hz"), "bandwidth"),
        (lambda: lw.control.encoder(100, speed="observer", bandwidth=3), "Hz"),
    ],
)
def test_encoders_that_cannot_be_are_refused(make, said):
    with pytest.raises(UsageError, match=said):
        make()


def test_encoders_where_they_cannot_be_are_refused(crank):
    s, st = crank
    sampled, always = (lw.control.pd({"A": 1.0}, drives=["A"], every=every) for every in ("1 ms", None))
    fast = lw.control.encoder(100, speed="observer", bandwidth="1000 Hz")
    for law, given, said in (
        (always, lw.control.encoder(100), "sampled"),
        (sampled, lw.control.encoder(length="1 mm"), "counts="),
        (sampled, {"Z": lw.control.encoder(100)}, "Z"),
        (sampled, {"A": 100}, "int"),
        (sampled, fast, "too fast"),
        (None, lw.control.encoder(100), "belongs to a controller"),
    ):
        with pytest.raises(UsageError, match=said):
            s.simulate(st, 0.01, control=law, encoders=given)
