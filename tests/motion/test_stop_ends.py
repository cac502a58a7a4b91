"""Cycles of a drive with rigid stops of its own: it swings between them."""

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
    return m, m.cycle(steps=60)


@pytest.mark.parametrize("speed", ["60 rpm", "-60 rpm"])
def test_a_crank_swings_between_its_stops(speed):
    m, c = turned({"range": ["30 deg", "150 deg"]}, speed)
    assert not c.full_turn and np.ptp(c["A"]) == pytest.approx(np.radians(120))
    assert min(c["A"]) == pytest.approx(np.radians(30)) and max(c["A"]) == pytest.approx(np.radians(150))
    assert c.notes == ("drive 'A' cannot turn fully: it swings 30.00 .. 150.00 deg, between its stops",)
    assert c.t[-1] - c.t[0] == pytest.approx(1.0 / 3.0)  # 120 deg at a turn a second
    st = m.system.assemble({"A": c["A"][20]})
    assert st["D"] == pytest.approx(c["D"][20], abs=1e-9) and "full turn" not in str(m.info())


def test_a_start_at_an_end_and_one_end_alone():
    _, c = turned({"range": ["90 deg", "150 deg"]})
    assert (c["A"].min(), c["A"].max()) == pytest.approx((np.pi / 2, np.radians(150)))
    _, c = turned({"max": "150 deg"})
    assert (c["A"].min(), c["A"].max()) == pytest.approx((np.radians(-210), np.radians(150))) and "up to its stop" in c.notes[0]
    for stop in ({"min": "30 deg"}, {"range": ["0 deg", "500 deg"]}, {"max": "30 deg"}):
        _, c = turned(stop)  # a whole turn ahead is free; a start beyond an end passes it
        assert c.full_turn
    _, c = turned({"range": ["80 deg", "150 deg"], "stiffness": "10 N m/rad"})
    assert c.full_turn and any("beyond its end" in n for n in c.notes)


def test_a_dead_center_before_a_stop_still_ends_the_swing():
    """The rocker has dead centers on both sides; a stop between start and dead center takes the place of that one."""
    free = lw.load({**FOUR_BAR, "drive": {"D": "60 rpm"}}).cycle()
    x = float(lw.load({**FOUR_BAR, "drive": {"D": "60 rpm"}}).system.start["D"])
    _, c = turned({"max": f"{x + 0.05} rad"}, drive="D")
    assert c["D"].max() == pytest.approx(x + 0.05) and c["D"].min() == pytest.approx(free["D"].min(), abs=2e-3)
    assert c.notes[0].endswith("between a dead center and its stop")


def test_a_slide_and_designs_with_other_ends():
    ram = {"plane": "xy", "drawing": {"A": [0, 0]}, "bodies": {"ground": {}, "ram": {"points": ["A"], "mass": 1, "com": "A", "inertia": 1}},
           "joints": {"G": {"type": "prismatic", "between": ["ground", "ram"], "at": "A", "axis": [1, 0]}}}  # fmt: skip
    c = lw.load({**ram, "stops": {"G": {"range": [-0.2, 0.3]}}, "drive": {"G": "1 m/s"}}).cycle()
    assert (c["G"].min(), c["G"].max()) == pytest.approx((-0.2, 0.3)) and c.notes[0].endswith("between the ends of its stroke")
    m, _ = turned({"range": ["30 deg", "150 deg"]})
    assert m.with_(**{"A.upper": "120 deg"}).cycle()["A"].max() == pytest.approx(np.radians(120))


# ---------------------------------------------------------------- strokes, other coordinates' stops, ranges

BOOM = {
    "plane": "xy",
    "units": ["mm", "kg", "deg"],
    "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "L": [0, -600], "W": [900, 100], "S": [2000, 300]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["L"]},
        "boom": {"pins": ["A"], "points": ["W", "S"], "mass": 200, "com": [1000, 150], "inertia": "60 kg m^2"},
    },
    "cylinders": {"lift": {"between": ["ground.L", "boom.W"], "stroke": [870, 1300]}},
    "drive": {"lift": "20 mm/s"},
}


@pytest.fixture(scope="module")
def boom():
    return lw.load(BOOM)


def boom_angle(length):
    """Angle of the boom at a length of its cylinder, by the law of cosines."""
    a, b = 0.6, np.hypot(0.9, 0.1)
    return np.arccos((a * a + b * b - length * length) / (2 * a * b)) - np.pi / 2 - np.arctan2(0.1, 0.9)


def test_a_cylinder_goes_from_end_to_end_of_its_stroke(boom):
    c = boom.cycle(steps=40)
    assert (c["lift"][0], c["lift"][-1]) == pytest.approx((0.87, 1.3), abs=1e-9) and not c.full_turn
    assert c.notes == ("drive 'lift' slides 870.00 .. 1300.00 mm, between the ends of its stroke",)
    assert c.t[-1] - c.t[0] == pytest.approx(21.5)  # 430 mm at 20 mm/s
    assert c["A"] == pytest.approx(boom_angle(c["lift"]), abs=1e-9)
    found = boom.limits("lift")
    assert (found.low, found.high) == pytest.approx((0.87, 1.3)) and (found.stop_low, found.dead_low) == ("lift", False)
    (stroke,), (ends,) = boom.info().strokes, boom.info().ends
    assert (stroke.low, stroke.high, ends.low, ends.high) == pytest.approx((0.87, 1.3, 0.87, 1.3), abs=1e-9)
    assert "full turn" not in str(boom.info()) and "of a stroke of 870.00 .. 1300.00 mm" in str(boom.info())


def test_a_turn_ends_where_another_coordinate_meets_its_stop(boom):
    """The boom, driven at its pin, goes as far as the cylinder does: angles by the law of cosines."""
    c = boom.cycle("A", speed="1 rpm", steps=40)
    assert c["A"][[0, -1]] == pytest.approx([boom_angle(0.87), boom_angle(1.3)], abs=1e-9) and not c.full_turn
    assert c.notes[0].endswith("it swings -29.26 .. 21.65 deg, up to the stop of 'lift' both ways")
    found = boom.limits("A")
    assert (found.low, found.high) == pytest.approx((boom_angle(0.87), boom_angle(1.3))) and found.stop_high == "lift"
    crank = {"plane": "xy", "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.4, 0]}, "drive": {"A": "60 rpm"},
             "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}, "ram": {"pins": ["C"]}},
             "joints": {"G": {"type": "prismatic", "between": ["ground", "ram"], "at": "C", "stroke": [-0.1, 0.05]}}}  # fmt: skip
    c = lw.load(crank).cycle(steps=60)
    x = 0.3  # the ram at 300 mm: cos A = (r^2 + x^2 - l^2)/(2 r x)
    swing = np.arccos((0.1**2 + x * x - 0.3**2) / (2 * 0.1 * x))
    assert c["A"][[0, -1]] == pytest.approx([-swing, swing], abs=1e-9) and c["G"].min() == pytest.approx(-0.1, abs=1e-9)
    turns = lw.load(crank).cycles({"B.x": [0.1, 0.04]}, steps=20, read=["A"])
    assert turns.ok.all() and np.ptp(turns["A"], axis=1) == pytest.approx([2 * swing, 2 * np.pi])  # designs end at the stop, too


def test_a_range_is_gone_through_at_constant_speed(boom):
    c = boom.cycle(start="900 mm", stop="1100 mm", steps=20)
    assert c["lift"] == pytest.approx(np.linspace(0.9, 1.1, 21)) and c.t[-1] == pytest.approx(10.0) and c.notes == ()
    back = boom.cycle(start=1.1, stop=0.9, steps=20)
    assert back["lift"] == pytest.approx(c["lift"][::-1]) and back["lift.v"] == pytest.approx(-0.02)
    still = boom.cycle(start=0.9, stop=1.1, speed=0, steps=20)
    assert still.static and not still["A.v"].any() and still["A"] == pytest.approx(c["A"])
    pin = boom.cycle("A", start="-10 deg", stop="10 deg", speed="1 deg/s", steps=20)
    assert pin["A", "deg"] == pytest.approx(np.linspace(-10, 10, 21)) and pin.t[-1] == pytest.approx(20.0)
    turns, here = lw.load("wiper"), lw.load("wiper").cycle(steps=36)
    twice = turns.cycle(start="60 deg", stop="780 deg", steps=72)
    assert np.ptp(twice["A", "deg"]) == pytest.approx(720) and not twice.full_turn
    same = turns.cycle(start=here["A"][9], stop=here["A"][27], steps=18)
    assert same["D"] == pytest.approx(here["D"][9:28], abs=1e-9)


def test_a_range_beyond_an_end_stops_there_and_says_so(boom):
    c = boom.cycle(start="1100 mm", stop="1500 mm", steps=20)
    assert c["lift"][-1] == pytest.approx(1.3) and c.notes == (
        "drive 'lift' is asked to go to 1500.00 mm and stops at 1300.00 mm, its end of travel",
    )
    c = boom.cycle("A", start="10 deg", stop="80 deg", speed="1 deg/s", steps=20)
    assert c["A"][-1] == pytest.approx(boom_angle(1.3)) and c.notes[0].endswith("stops at 21.65 deg, at the stop of 'lift'")
    rocker = lw.load("wiper").cycle("D", start="100 deg", stop="300 deg", speed="1 deg/s", steps=20)
    assert rocker["D", "deg"].max() < 300 and "a dead center" in rocker.notes[0]
    for asked, text in (
        ({"start": "800 mm"}, "cannot begin at 800.00 mm, which is beyond its end of travel at 870.00 mm"),
        ({"start": "1 m", "stop": "1 m"}, "the same position"),
        ({"stop": "10 deg"}, "stop of the cycle"),
    ):
        with pytest.raises(lw.UsageError, match=text):
            boom.cycle(**asked)


def test_a_range_takes_the_place_of_a_program():
    m = lw.load({**BOOM, "drive": {"lift": {"moves": [{"to": "1200 mm", "in": "3 s"}]}}})
    c = m.cycle(start="900 mm", stop="1000 mm", speed="50 mm/s", steps=10)
    assert c["lift"][[0, -1]] == pytest.approx([0.9, 1.0]) and c.t[-1] == pytest.approx(2.0)
    assert c.notes == ("the range asked for takes the place of the program of 'lift'",)
    beyond = lw.load({**BOOM, "drive": {"lift": {"moves": [{"to": "1400 mm", "in": "3 s"}]}}}).cycle(steps=10)
    assert beyond.notes[-1] == "stop 'lift': 'lift' goes to 1400 mm, beyond its end at 1300 mm"


def test_rates_of_a_cylinder_by_differences(boom):
    """lift.a and lift.jerk of a boom that turns at constant speed, against central differences of lift and lift.v."""
    c = boom.cycle("A", start="-20 deg", stop="20 deg", speed="30 deg/s", steps=400)
    h = c.t[1] - c.t[0]
    assert c["lift.a"][1:-1] == pytest.approx((c["lift.v"][2:] - c["lift.v"][:-2]) / (2 * h), abs=1e-6)  # h^2 times 0.2
    assert c["lift.jerk"][1:-1] == pytest.approx((c["lift.a"][2:] - c["lift.a"][:-2]) / (2 * h), abs=1e-5)


def test_starts_by_the_length_of_a_cylinder(boom):
    m = boom.with_(start={"lift": "1000 mm"})
    assert m.system.start["lift"] == pytest.approx(1.0) and m.system.start["A"] == pytest.approx(boom_angle(1.0))
    assert m.with_(**{"start.lift": "1100 mm"}).system.start["lift"] == pytest.approx(1.1)
    assert m.cycle(stop="1.2 m", steps=4)["lift"][0] == pytest.approx(1.0)


def test_a_turn_is_part_of_a_study(boom):
    s = lw.study(boom, {"boom.mass": [100.0, 200.0]}, "max lift.force", case=lw.Cycle(start="900 mm", stop="1.1 m", speed=0, steps=20))
    alone = boom.cycle(start="900 mm", stop="1.1 m", speed=0, steps=20)["lift.force"].max()
    assert s["max lift.force"][1] == pytest.approx(alone) and s["max lift.force"][0] == pytest.approx(alone / 2)


def test_a_stroke_is_a_rigid_stop_in_simulations():
    """A ram that falls onto the end of its stroke rests there, and the energy of the fall is lost."""
    guide = {"type": "prismatic", "between": ["ground", "ram"], "at": "A", "axis": [0, 1], "stroke": [-0.2, 0.3]}
    ram = {"ground": {}, "ram": {"points": ["A"], "mass": 2, "com": "A", "inertia": 1}}
    m = lw.load({"plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0]}, "drive": {}, "bodies": ram, "joints": {"G": guide}})
    run = m.simulate(0.4, sample_interval=0.1)
    assert run["G"][-1] == pytest.approx(-0.2, abs=1e-9) and run.events[0].time == pytest.approx(np.sqrt(2 * 0.2 / 9.81), abs=1e-6)
    assert run.events[0].values["energy lost"] == pytest.approx(2 * 9.81 * 0.2, rel=1e-6)
    assert [(s.name, s.joint, s.lower, s.upper) for s in m.description.stops] == [("G", "G", -0.2, 0.3)]
