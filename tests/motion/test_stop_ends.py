"""Turns of a drive with rigid stops of its own: it swings between them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw

FOUR_BAR = {
    "plane": "xy",
    "units": ["deg"],
    "drawing": {"A": [0, 0], "B": [0, 0.3], "C": [0.8, 0.7], "D": [0.9, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 1.0},
        "coupler": {"pins": ["B", "C"], "mass": 2.0},
        "rocker": {"pins": ["D", "C"], "mass": 1.5},
    },
}


def turned(stop, speed="60 rpm", drive="A", start=None):
    m = lw.load({**FOUR_BAR, "stops": {drive: stop}, "drive": {drive: speed}, **({"start": {drive: start}} if start is not None else {})})
    return m, m.turn(steps=60)


@pytest.mark.parametrize("speed", ["60 rpm", "-60 rpm"])
def test_a_crank_swings_between_its_stops(speed):
    m, c = turned({"between": ["30 deg", "150 deg"]}, speed)
    assert not c.full_turn and np.ptp(c["A"]) == pytest.approx(np.radians(120))
    assert min(c["A"]) == pytest.approx(np.radians(30)) and max(c["A"]) == pytest.approx(np.radians(150))
    assert c.notes == ("drive 'A' cannot turn fully: it swings 30.00 .. 150.00 deg, between its stops",)
    assert c.t[-1] - c.t[0] == pytest.approx(1.0 / 3.0)  # 120 deg at a turn a second
    st = m.system.assemble({"A": c["A"][20]})
    assert st["D"] == pytest.approx(c["D"][20], abs=1e-9) and "full turn" not in str(m.info())


def test_a_start_at_an_end_and_one_end_alone():
    _, c = turned({"between": ["90 deg", "150 deg"]})
    assert (c["A"].min(), c["A"].max()) == pytest.approx((np.pi / 2, np.radians(150)))
    _, c = turned({"max": "150 deg"})
    assert (c["A"].min(), c["A"].max()) == pytest.approx((np.radians(-210), np.radians(150))) and "up to its stop" in c.notes[0]
    for stop in ({"min": "30 deg"}, {"between": ["0 deg", "500 deg"]}, {"max": "30 deg"}):
        _, c = turned(stop)  # a whole turn ahead is free; a start beyond an end passes it
        assert c.full_turn
    _, c = turned({"between": ["80 deg", "150 deg"], "stiffness": "10 N m/rad"})
    assert c.full_turn and any("beyond its end" in n for n in c.notes)


def test_a_dead_centre_before_a_stop_still_ends_the_swing():
    """The rocker has dead centres on both sides; a stop between start and dead centre takes the place of that one."""
    free = lw.load({**FOUR_BAR, "drive": {"D": "60 rpm"}}).turn()
    x = float(lw.load({**FOUR_BAR, "drive": {"D": "60 rpm"}}).system.start["D"])
    _, c = turned({"max": f"{x + 0.05} rad"}, drive="D")
    assert c["D"].max() == pytest.approx(x + 0.05) and c["D"].min() == pytest.approx(free["D"].min(), abs=2e-3)
    assert c.notes[0].endswith("between a dead centre and its stop")


def test_a_slide_and_designs_with_other_ends():
    ram = {"plane": "xy", "drawing": {"A": [0, 0]}, "bodies": {"ground": {}, "ram": {"points": ["A"], "mass": 1, "com": "A", "inertia": 1}},
           "joints": {"G": {"type": "prismatic", "between": ["ground", "ram"], "at": "A", "axis": [1, 0]}}}  # fmt: skip
    c = lw.load({**ram, "stops": {"G": {"between": [-0.2, 0.3]}}, "drive": {"G": "1 m/s"}}).turn()
    assert (c["G"].min(), c["G"].max()) == pytest.approx((-0.2, 0.3)) and "slides" in c.notes[0] and "between its stops" in c.notes[0]
    m, _ = turned({"between": ["30 deg", "150 deg"]})
    assert m.with_(**{"A.upper": "120 deg"}).turn()["A"].max() == pytest.approx(np.radians(120))
