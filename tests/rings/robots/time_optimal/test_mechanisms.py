"""Fastest motions of mechanisms with loops: structure, loads of the finished motion, control, stops, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused

TIP = {"left_rod.C": lambda s: (0.06 + 0.08 * s, 0.24 - 0.02 * s)}
TORQUE = {"*.torque": "1.5 N m"}


@pytest.fixture(scope="module")
def robot() -> lw.Mechanism:
    return lw.load("five-bar")


@pytest.fixture(scope="module")
def by_pins(robot: lw.Mechanism) -> lw.TimeOptimalMotion:
    return robot.time_optimal(TIP, {**TORQUE, "*.load": "15 N"}, steps=200)


def test_some_limit_decides_in_every_interval(robot: lw.Mechanism, by_pins: lw.TimeOptimalMotion) -> None:
    quick = robot.time_optimal(TIP, TORQUE, steps=200)
    assert abs(quick.time - 0.0874) < 2e-4  # an independent program on the same path: 0.08744 s
    assert set(quick.active) <= {"A.torque", "E.torque"}
    assert by_pins.time > quick.time and "" not in by_pins.active
    assert set(by_pins.active) <= {"A.load", "B.load", "C.load", "D.load", "E.load"}


def test_loads_followed_along_the_laws_of_the_drives_are_within_the_limits(robot: lw.Mechanism, by_pins: lw.TimeOptimalMotion) -> None:
    """By another way: the drives' polynomials over time, samples that are not those of the grid."""
    c = robot.follow(by_pins.drives, np.linspace(0.0, by_pins.time, 731))
    for pin in "ABCDE":
        assert c[f"{pin}.load"].max() < 15.0 * 1.01  # between grid points the path bends a little
    assert np.abs(c["A.torque"]).max() < 1.5
    across = (c["left_rod.C"] - [0.06, 0.24]) @ np.array([0.02, 0.08]) / np.hypot(0.08, 0.02)
    assert np.abs(across).max() < 1e-8  # the tip is on its line
    assert by_pins.ok and all(x.share <= 1.0 + 1e-9 for x in by_pins.used)


def test_a_controlled_run_follows_it(robot: lw.Mechanism, by_pins: lw.TimeOptimalMotion) -> None:
    start = robot.system.assemble({n: float(law(0.0)) for n, law in by_pins.drives.items()})
    control = lw.control.computed_torque(by_pins.drives, P=40000.0, D=400.0)
    run = robot.simulate(by_pins.time, start=start, control=control)
    assert np.abs(run["left_rod.C"][-1] - [0.14, 0.22]).max() < 1e-5
    want = np.array([by_pins.drives["A"](t) for t in run.t])
    assert np.abs(run["A"] - want).max() < 1e-4


def test_the_trajectory_reads_saves_and_plots(by_pins: lw.TimeOptimalMotion, tmp_path: Path) -> None:
    assert len(by_pins.s) == len(by_pins.t) == 201 and by_pins.s[-1] == 1.0
    text = str(by_pins)
    assert "E.load" in text and "15 N" in text
    assert by_pins.trajectory.save(tmp_path / "fast.csv", channels=["A", "A.torque", "path.s"]).stat().st_size > 1000
    assert by_pins.plot(path=tmp_path / "fast.png").stat().st_size > 1000
    again = lw.load_result(by_pins.trajectory.save(tmp_path / "fast.npz"))
    np.testing.assert_array_equal(again["A.torque"], by_pins["A.torque"])


def test_speeds_and_accelerations_of_points_are_limited(robot: lw.Mechanism) -> None:
    f = robot.time_optimal(TIP, {"left_rod.C.a": "20 m/s^2", "left_rod.C.speed": "1 m/s", "A.a": (-300.0, 400.0)}, steps=100)
    assert f.ok and {"left_rod.C.a", "left_rod.C.speed"} == set(f.active)
    exact = 1.0 / 20.0 + np.hypot(0.08, 0.02)  # a straight line: v / a + L / v with v = 1 m/s
    assert abs(f.time - exact) < 5e-3 * exact  # polygon with 36 sides


def test_corners_are_stops_and_can_be_rounded(robot: lw.Mechanism) -> None:
    points = [(0.06, 0.24), (0.10, 0.24), (0.10, 0.21)]
    sharp = robot.time_optimal({"left_rod.C": lw.control.polyline(points)}, TORQUE, steps=120)
    assert any("corner" in note and "0.57143" in note for note in sharp.notes)  # 40 of 70 mm
    still = np.abs(sharp["path.rate"]).argsort()[:3]
    assert sorted(np.round(sharp.s[still], 4)) == [0.0, 0.5714, 1.0]
    round_ = robot.time_optimal({"left_rod.C": lw.control.polyline(points, rounding="15 mm")}, TORQUE, steps=120)
    assert round_.notes == () and round_.time < sharp.time and round_["path.rate"][1:-1].min() > 0.0
    apart = [robot.time_optimal({"left_rod.C": lw.control.polyline(points[k : k + 2])}, TORQUE, steps=70).time for k in (0, 1)]
    assert abs(sharp.time - sum(apart)) < 2e-3 * sharp.time


def test_a_path_that_rests_and_reverses_is_traveled_from_stop_to_stop(robot: lw.Mechanism) -> None:
    there = robot.time_optimal(TIP, TORQUE, steps=100)
    timed = robot.time_optimal({"left_rod.C": lambda s: (0.06 + 0.08 * s**3, 0.24 - 0.02 * s**3)}, TORQUE, steps=100)
    assert abs(timed.time - there.time) < 1e-3 * there.time  # the same line, with a timing of its own
    both = robot.time_optimal(
        {"left_rod.C": lambda s: (0.1 - 0.04 * np.cos(2 * np.pi * s), 0.23 + 0.01 * np.cos(2 * np.pi * s))}, TORQUE, steps=200
    )
    assert any("reverses at s = 0.5" in x for x in both.notes)
    back = robot.time_optimal({"left_rod.C": lambda s: (0.14 - 0.08 * s, 0.22 + 0.02 * s)}, TORQUE, steps=100)
    assert abs(both.time - there.time - back.time) < 2e-3 * both.time


@pytest.mark.parametrize(
    ("path", "limits", "options", "text"),
    [
        (TIP, {"*.torque": "0.1 N m"}, {}, "forbid rest: at s = "),
        (TIP, {**TORQUE, "C.load": "1 N"}, {}, "'C.load' is 1.3"),
        ({"left_rod.C": lambda s: (0.1, 0.24)}, TORQUE, {}, "has no length"),
        ({"left_rod.C": lambda s: (0.1 + s, 0.24)}, TORQUE, {}, "leaves the reach at s = 0.07998"),
        ({"left_rod.C": lambda s: (0.9 + s, 0.24)}, TORQUE, {}, "cannot be reached"),
        ({"left_rod.C": lambda s: (0.1 + 0.02 * np.where(s > 0.5, 1.0, 0.0), 0.24 - 0.01 * s)}, TORQUE, {}, "jumps at s = 0.5"),
        (TIP, {"*.v": "40 rad/s"}, {}, "nothing limits the acceleration"),
        (TIP, {}, {}, "limits is a dict"),
        (TIP, {"A.tork": 3}, {}, "no limit 'A.tork'"),
        (TIP, {"A.torque": -3}, {}, "larger than zero"),
        (TIP, {"A.torque": "3 N"}, {}, "A.torque"),
        (TIP, {"A.torque": (2, 1)}, {}, "the range 2..1 SI is empty"),
        (TIP, {"C.load": (1, 2)}, {}, "largest value"),
        (TIP, {**TORQUE, "A.jerk": 100}, {}, "smooth law"),
        (TIP, {**TORQUE, "rms A.torque": "0.05 N m"}, {}, "cannot be held at any speed"),
        (TIP, TORQUE, {"law": "quick"}, "law is one of"),
        (TIP, TORQUE, {"law": "least energy"}, "needs a duration"),
        (TIP, TORQUE, {"law": "least energy", "duration": "1 ms"}, "The fastest one takes 0.08"),
        (TIP, TORQUE, {"duration": "1 s"}, "takes no duration"),
        (TIP, TORQUE, {"steps": 3}, "steps must be"),
        (TIP, TORQUE, {"span": (1, 0)}, "span is"),
        (TIP, TORQUE, {"pause": "-1 s"}, "pause is"),
        ({"A": lambda s: 1.6 + s}, TORQUE, {}, "prescribes 1 of 2 degrees of freedom"),
        ({"A": "90 deg + 20 deg * s +", "E": "90 deg"}, TORQUE, {}, "'90 deg + 20 deg * s +' is not a number"),
        ({}, TORQUE, {}, "path is a dict"),
        ({"left_rod.C": lw.control.polyline([(0.1, 0.2)])}, TORQUE, {}, "two or more points"),
        ({"left_rod.C": lw.control.polyline([(0.1, 0.2), (0.1, 0.2)])}, TORQUE, {}, "same place"),
        ({"left_rod.C": lw.control.polyline([(0.08, 0.22), (0.1, 0.22), (0.1, 0.24)], rounding="3 m")}, TORQUE, {}, "rounding is"),
    ],
)  # fmt: skip
def test_bad_input_is_said(robot: lw.Mechanism, path: Any, limits: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(lw.LinkwrightError) as found:
        robot.time_optimal(path, limits, **{"steps": 40, **options})
    assert text in str(found.value) and "t = " not in str(found.value)


def test_a_singular_position_on_the_path_is_refused() -> None:
    robot = lw.load({
        "name": "five", "plane": "xy", "gravity": [0, -9.81],
        "drawing": {"A": [0, 0], "E": [0.4, 0], "B": [-0.09, 0.285], "D": [0.49, 0.285], "P": [0.2, 0.51]},
        "bodies": {
            "ground": {"pins": ["A", "E"]},
            "left": {"along": {"A": 0, "B": 0.3}, "mass": 0.36}, "lrod": {"along": {"B": 0, "P": 0.4}, "mass": 0.48},
            "right": {"along": {"E": 0, "D": 0.3}, "mass": 0.36}, "rrod": {"along": {"D": 0, "P": 0.4}, "mass": 0.48},
        },
        "drive": ["A", "E"],
    })  # fmt: skip
    path = {"lrod.P": lambda s: (0.2, 0.45 - 0.3 * s)}
    with refused(lw.SingularityError, name="time_optimal"):
        robot.time_optimal(path, {"*.torque": "60 N m"}, steps=40)
    before = robot.time_optimal(path, {"*.torque": "60 N m"}, span=(0.0, 0.4), steps=40)
    assert before.ok and before.notes == ()
    near = robot.time_optimal(path, {"*.torque": "60 N m"}, span=(0.0, 0.74), steps=40)
    assert near.ok and "near s = 0.74 " in near.notes[0] and "slowed" in near.notes[0]
    assert near["path.rate"][-4] < 0.5 * near["path.rate"][4]  # the same distance from rest


def test_a_load_over_time_is_refused() -> None:
    timed = lw.load({
        "name": "timed", "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [0.3, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "link": {"pins": ["A"], "points": ["B"], "mass": 1.0, "com": "B", "inertia": 0.01}},
        "loads": {"push": {"on": "link.B", "force": ["3 N * sin(2 rad/s * t)", 0]}},
        "drive": ["A"],
    })  # fmt: skip
    with refused(lw.UsageError, name="A.torque"):
        timed.time_optimal({"A": lambda s: s}, {"A.torque": "9 N m"}, steps=40)


def test_a_text_is_a_formula_of_s() -> None:
    m, limits = lw.load("wiper"), {"A.v": "1 rad/s", "A.a": "3 rad/s^2"}
    text = m.time_optimal({"A": "20 deg + 30 deg * s"}, limits, steps=40)
    plain = m.time_optimal({"A": lambda s: np.radians(20.0 + 30.0 * s)}, limits, steps=40)
    assert text.time == pytest.approx(plain.time, rel=1e-6)  # rates of the function come from its samples
    way, v, a = np.radians(30.0), 1.0, 3.0  # trapezium: the limit of speed is reached
    assert text.time == pytest.approx(way / v + v / a, rel=2e-3)
