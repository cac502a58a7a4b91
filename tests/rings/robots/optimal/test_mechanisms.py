"""Optimal motions of closed loops: the same by simulation, by the fastest motion along a path, and within every limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of

CART = {
    "name": "cart and pole", "plane": "xy", "gravity": [0, -9.81], "drawing": {"C": [0, 0], "P": [0, -0.5]},
    "bodies": {
        "ground": {"points": ["C"]}, "cart": {"pins": ["C"], "mass": 1.0},
        "pole": {"pins": ["C"], "points": ["P"], "mass": 0.3, "com": "P", "inertia": 0.0},
    },
    "joints": {"S": {"type": "prismatic", "between": ["ground", "cart"], "at": "C", "axis": [1, 0]}},
    "drive": ["S"],
}  # fmt: skip
TO = {"A": "100 deg", "E": "60 deg"}


@pytest.fixture(scope="module")
def five_bar() -> lw.Mechanism:
    return lw.load("five-bar")


@pytest.fixture(scope="module")
def quick(five_bar: lw.Mechanism) -> Any:
    return five_bar.optimal("least time", TO, limits={"*.torque": "1.5 N m"}, steps=20)


def test_the_replay_by_the_simulation_ends_there(quick: Any) -> None:
    replay = quick.replay()
    assert max(map(abs, replay.deviation.values())) < 1e-5  # rad: open loop, with errors of 1e-6 between nodes
    assert replay.run.certificate is not None and abs(replay.run["A.v"][-1]) < 1e-3


def test_loops_are_closed_at_every_node(quick: Any, five_bar: lw.Mechanism) -> None:
    c, loops = quick.trajectory, compiled_of(five_bar.system).loops
    for q, v, refs in zip(c.q, c.v, c.references, strict=True):
        at = loops.at(q, v, 0.0, refs)
        assert np.abs(at.phi).max() < 1e-13 and np.abs(at.J @ v).max() < 1e-12  # m and m/s at 70 rad/s: round-off


def test_both_motors_of_a_fastest_five_bar_are_at_their_limits(quick: Any) -> None:
    for name in ("A.torque", "E.torque"):
        np.testing.assert_allclose(np.abs(quick[name]), 1.5, rtol=1e-9)
    assert len(quick.switches) == 3  # four ends to meet, the duration and three switches


def test_a_controller_follows_its_laws(quick: Any, five_bar: lw.Mechanism) -> None:
    law = lw.control.computed_torque(quick.drives, P=40000, D=400)
    run = five_bar.simulate(quick.time, start=quick.start, control=law)
    assert abs(run["A"][-1] - np.radians(100)) < 1e-4 and abs(run["E"][-1] - np.radians(60)) < 1e-4


def test_pin_loads_and_speeds_are_limited(five_bar: lw.Mechanism, quick: Any) -> None:
    limits = {"*.torque": "1.5 N m", "C.load": "15 N", "left_rod.C.speed": "1 m/s"}
    f = five_bar.optimal("least time", TO, limits=limits, steps=24, tolerance=1e-3)
    assert f.ok and f.time > quick.time
    run = f.replay().run
    assert run["C.load"].max() < 15.0 * 1.02 and run["left_rod.C.speed"].max() < 1.02  # between nodes the limits are not rows
    assert quick["left_rod.C.speed"].max() > 1.1 and f["left_rod.C.speed"].max() > 0.999
    assert {x.name for x in f.checks() if x.verdict != "passed"} == set()


def test_one_freedom_along_its_path_is_the_fastest_motion() -> None:
    m, limits = lw.load("four-bar"), {"A.torque": "20 N m", "A.v": "15 rad/s"}
    first, last = np.radians([60.0, 200.0])
    along = m.time_optimal({"A": lambda s: first + (last - first) * s}, limits, steps=400)
    f = m.optimal("least time", {"A": last}, start={"A": first}, limits=limits, steps=40)
    assert abs(f.time / along.time - 1.0) < 1e-4  # the speed limit begins and ends within an interval
    assert f["A.v"].max() > 15.0 * (1.0 - 1e-6)  # the speed limit decides in the middle


def test_a_pole_swings_up() -> None:
    m = lw.load(CART)
    f = m.optimal("least effort", {"S": "1 m", "C": "180 deg"}, duration="2 s", limits={"S.force": "20 N", "S": "-2..2 m"}, steps=24)
    assert set(f.coordinates) == {"S", "C"} and f.residuals["optimality"] < 1e-6
    assert abs(f["P" if "P" in f.trajectory.channels else "pole.P.y"][-1] - 0.5) < 1e-9
    E = f["energy.total"]
    assert abs((E[-1] - E[0]) - np.trapezoid(f["S.force"] * f["S.v"], f.t)) < 1e-2 * (E[-1] - E[0])  # work of the motor, trapezium rule
    other = m.optimal("least effort", {"S": "1 m", "C": "180 deg"}, duration="2 s", guess=f, limits={"S.force": "20 N"}, steps=24)
    assert abs(other.value / f.value - 1.0) < 1e-3 and other.iterations < f.iterations


def test_a_point_is_an_end(five_bar: lw.Mechanism) -> None:
    goal = {"left_rod.C.x": "60 mm", "left_rod.C.y": "240 mm"}
    f = five_bar.optimal("least effort", goal, duration="0.3 s", limits={"*.torque": "1.5 N m"}, steps=16, tolerance=1e-4)
    np.testing.assert_allclose(f["left_rod.C"][-1], [0.06, 0.24], atol=1e-9)
    assert np.abs(f["A.v"][-1]) < 1e-9


def test_a_range_of_durations_and_of_positions(five_bar: lw.Mechanism) -> None:
    to = {"A": "95..100 deg", "E": "60 deg"}
    f = five_bar.optimal("least effort", to, duration="0.2..0.3 s", limits={"*.torque": "1.5 N m"}, steps=12, tolerance=1e-3)
    fixed = five_bar.optimal("least effort", TO, duration="0.2 s", limits={"*.torque": "1.5 N m"}, steps=12, tolerance=1e-3)
    assert 0.2 - 1e-9 <= f.time <= 0.3 + 1e-9 and f.value <= fixed.value * (1.0 + 1e-9)
    assert np.radians(95) - 1e-9 <= f["A"][-1] <= np.radians(100) + 1e-9
