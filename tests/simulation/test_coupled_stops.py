"""Rigid stops that act on each other: series of ever smaller impacts come to rest, against closed forms; a run always ends."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import SimulationError
from linkwright.simulation import accuracy, rests, run

BLOCKS = {
    "plane": "xy",
    "gravity": [0, 0],
    "drawing": {"A": [0, 0], "B": [0.5, 0]},
    "bodies": {
        "ground": {},
        "first": {"points": ["A"], "mass": 1.0, "com": "A", "inertia": 0.1},
        "second": {"points": ["B"], "mass": 1.0, "com": "B", "inertia": 0.1},
    },
    "joints": {
        "x": {"type": "prismatic", "between": ["ground", "first"], "at": "A", "axis": [1, 0]},
        "y": {"type": "prismatic", "between": ["first", "second"], "at": "B", "axis": [1, 0]},
    },
}
HEIGHT, PRESS, PULL = 0.1, 5.0, 2.0
CHATTER = {
    **BLOCKS,
    "stops": {"x": {"max": 0.0}, "y": {"min": 0.0}},
    "start": {"y": HEIGHT},
    "drive": {"x": {"force": f"{PRESS} N"}, "y": {"force": f"{-PULL} N"}},
}
ARMS = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "C": [1.8, 0]},
    "bodies": {
        "ground": {"pins": ["A"]},
        "upper": {"pins": ["A", "B"], "mass": 2.0, "com": [0.5, 0], "inertia": 0.2},
        "fore": {"pins": ["B"], "points": ["C"], "mass": 1.0, "com": [1.4, 0], "inertia": 0.05},
    },
}


@pytest.mark.slow
def test_impacts_that_throw_each_other_off_come_to_rest():
    """The second block strikes the first off its stop, which strikes it off the second's, and so on. Every round leaves the share
    r = m2 / (m1 + m2) of the speed, so the series of impacts ends after t = t0 + r v0 / (1 - r) (2 (m1 + m2) / F + 2 m2 / f)."""
    found = lw.load(CHATTER).simulate(2.0)
    r, v0 = 0.5, np.sqrt(2.0 * HEIGHT * PULL)
    end = np.sqrt(2.0 * HEIGHT / PULL) + r * v0 / (1.0 - r) * (4.0 / PRESS + 2.0 / PULL)
    last = found.events[-1]
    # hops below 1e-8 m are none: speeds of at most sqrt(2 a 1e-8 m) = 3e-4 m/s, the rest of the series takes no more than 2e-3 s
    assert end - 2e-3 < last.time <= end + 1e-9 and len(found.events) < 40
    assert sum(e.values["energy lost"] for e in found.events) == pytest.approx(PULL * HEIGHT, rel=1e-6)
    after = found.t > last.time
    np.testing.assert_allclose(found["x"][after], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["y"][after], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["x.stop.force"][after], -PRESS, rtol=1e-9)
    np.testing.assert_allclose(found["y.stop.force"][after], PULL, rtol=1e-9)
    assert found["x"].max() < 1e-9 and found["y"].min() > -1e-9 and found.certificate.ok


def test_first_impact_moves_both_blocks_together():
    """The first block is free to leave its stop: an inelastic impact of two masses, r of the speed and half of the energy."""
    found = lw.load(CHATTER).simulate(0.4)
    (event,) = found.events
    assert event.time == pytest.approx(np.sqrt(2.0 * HEIGHT / PULL)) and event.values["energy lost"] == pytest.approx(PULL * HEIGHT / 2)
    seconds = 0.4 - event.time
    assert found["x.v"][-1] == pytest.approx(-0.5 * np.sqrt(2.0 * HEIGHT * PULL) + PRESS / 2.0 * seconds)


def test_an_impact_toward_the_other_stop_is_taken_by_it():
    """Against the upper end of y the impulse presses the first block onto its stop: nothing moves, all energy is lost."""
    d = {**BLOCKS, "stops": {"x": {"max": 0.0}, "y": {"max": 0.1}}, "start": {"y.v": 2.0}, "drive": {"x": {"force": "1 N"}}}
    found = lw.load(d).simulate(0.2)
    (event,) = found.events
    assert event.time == pytest.approx(0.05) and event.values["energy lost"] == pytest.approx(2.0)
    assert abs(found["x.v"][-1]) + abs(found["y.v"][-1]) < 1e-12


def test_a_mass_between_two_ends():
    """Speeds fall by e at every end: one impact follows another after 1 m at the speed e^k, and takes (1 - e^2) / 2 e^2k of energy."""
    e = 0.8
    bodies = {k: BLOCKS["bodies"][k] for k in ("ground", "first")}
    d = {**BLOCKS, "bodies": bodies, "joints": {"x": BLOCKS["joints"]["x"]}, "start": {"x.v": 1.0}}
    found = lw.load({**d, "stops": {"x": {"range": [-0.5, 0.5], "restitution": e}}}).simulate(8.0)
    k = np.arange(len(found.events))
    np.testing.assert_allclose([x.time for x in found.events], 0.5 + np.concatenate([[0.0], np.cumsum(e ** -(k[:-1] + 1.0))]), rtol=1e-8)
    np.testing.assert_allclose([x.values["energy lost"] for x in found.events], 0.5 * (1 - e * e) * e ** (2.0 * k), rtol=1e-8)
    assert len(k) == 5 and [x.name for x in found.events][:2] == ["stop x upper", "stop x lower"]


@pytest.mark.slow
def test_ends_of_different_restitution_gain_no_energy():
    for ex, ey in ((1.0, 0.0), (0.0, 1.0), (0.3, 0.9), (1.0, 1.0)):
        stops = {"x": {"max": 0.0, "restitution": ex}, "y": {"min": 0.0, "restitution": ey}}
        for vx, vy in ((1.0, -1.0), (1.0, -0.1), (0.1, -1.0), (2.0, -3.0)):
            found = lw.load({**BLOCKS, "stops": stops, "start": {"x.v": vx, "y.v": vy}}).simulate(0.01, sample_interval=0.005)
            before = 0.5 * vx**2 + 0.5 * (vx + vy) ** 2
            assert found["energy.total"][-1] <= before * (1.0 + 1e-9)
            assert found["x"].max() < 1e-9 and found["y"].min() > -1e-9


@pytest.mark.slow
def test_a_chain_of_two_links_folds_onto_two_stops():
    """At rest at both ends each stop carries the moment of the weights beyond it."""
    found = lw.load({**ARMS, "stops": {"A": {"min": -0.6}, "B": {"min": -0.4}}}).simulate(3.0)
    assert found["A"][-1] == pytest.approx(-0.6, abs=1e-12) and found["B"][-1] == pytest.approx(-0.4, abs=1e-12)
    fore = 9.81 * 0.4 * np.cos(1.0)
    assert found["B.stop.torque"][-1] == pytest.approx(fore, rel=1e-9)
    assert found["A.stop.torque"][-1] == pytest.approx(9.81 * (2.0 * 0.5 + 1.0) * np.cos(0.6) + fore, rel=1e-9)
    assert found["A"].min() > -0.6 - 1e-9 and found["B"].min() > -0.4 - 1e-9 and found.certificate.ok


def test_endless_impacts_are_an_error_that_names_the_stops(monkeypatch):
    monkeypatch.setattr(rests, "HOP", 0.0)
    monkeypatch.setattr(run, "AT_ONCE", 30)
    with pytest.raises(SimulationError, match=r"t = .* reached and left 30 times .* x upper.* y lower.* a stiffness") as caught:
        lw.load(CHATTER).simulate(2.0)
    assert caught.value.run is not None and len(caught.value.run.t) > 10


def test_the_estimate_of_errors_has_a_budget(monkeypatch):
    monkeypatch.setattr(accuracy, "MORE_MODES", 0)
    found = lw.load(CHATTER).simulate(0.5)
    assert found.certificate.estimated_error is None and "does not come to its end" in found.certificate.estimated_by


def test_an_interrupt_between_two_modes_keeps_what_was_computed(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Simulation, "_switched", interrupted)
    found = lw.load(CHATTER).simulate(2.0)
    assert any("interrupted at t = 0.316" in n for n in found.notes) and found.certificate.status == "interrupted"
    assert found["y"][-1] == pytest.approx(0.0, abs=1e-9)


def test_an_interrupt_while_the_error_is_estimated_leaves_only_that_out(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    found = lw.load(CHATTER).simulate(0.5)
    monkeypatch.setattr(run.Simulation, "_switched", interrupted)
    assert found.certificate.status == "finished" and found.certificate.estimated_error is None
    assert found.certificate.estimated_by == "the estimate was interrupted"
