"""Prescribed motions: value, speed and acceleration belong together; the start must lie on them; what callers get wrong is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.drives import actuation
from tests.drives.rows import Row, called, near_of
from tests.refusals import refused

T = np.linspace(0.0, 1.0, 6)


@pytest.fixture(scope="module")
def bar():
    s = lw.compile("four-bar", cuts=["C"])
    return s, s.assemble(q={"A": 0.9}, v={"A": 2.0})


def motion(a, t, x=None):
    start = {**a.start, "t": np.array([t])}
    return a.equations.inputs(start if x is None else {**start, "x": np.array([x])})


MOTIONS = {
    "speed": (lambda: lw.drives.speed("2 rad/s"), lambda t: 0.9 + 2 * t),
    "speed points": (lambda: lw.drives.speed((T, 2.0 + np.sin(3 * T))), None),
    "speed points, many": (lambda: lw.drives.speed((np.linspace(0, 1, 900), 2.0 + np.linspace(0, 1, 900) ** 2)), None),
    "position": (lambda: lw.drives.position(lambda t: 0.9 + 2 * t + np.cos(t) - 1), lambda t: 0.9 + 2 * t + np.cos(t) - 1),
    "position text": (lambda: lw.drives.position("0.9 rad + 2 rad/s * t + 5 deg/s^2 * t^2"), lambda t: 0.9 + 2 * t + np.radians(5) * t * t),
    "position points": (lambda: lw.drives.position((T, 0.9 + 2 * T)), lambda t: 0.9 + 2 * t),
    "by differences": (lambda: lw.drives.position(lambda t: 0.9 + math.sin(2 * t)), lambda t: 0.9 + np.sin(2 * t)),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_speed_and_acceleration_are_derivatives(bar, name):
    s, st = bar
    make, closed = MOTIONS[name]
    a = actuation(compiled_of(s), {"A": make()}, st)
    assert a.drivers == ("A",) and a.inputs_move and a.x_names == ()
    h, t, n = 1e-4, 0.437, s.kernels.sizes.nv
    back, here, on = (motion(a, t + k * h)[n:] for k in (-1, 0, 1))
    np.testing.assert_allclose(here[1:], (on - back)[:2] / (2 * h), rtol=0, atol=2e-6)  # of second order: h^2/6 times the third derivative
    if closed is not None:
        assert here[0] == pytest.approx(closed(t), abs=1e-12)
    np.testing.assert_allclose(motion(a, 0.0)[n : n + 2], [0.9, 2.0], atol=2e-6)
    row = Row(s, a)
    status, y = called(a.inputs(row), row, q=st.q, v=st.v, t=[t], near=near_of(s, st))
    assert status == 0
    np.testing.assert_allclose(y[n : n + 3], here, rtol=1e-9, atol=1e-9)
    assert any("fourth-order differences" in note for note in a.notes) == (name == "by differences")


def test_the_position_of_a_speed_that_is_a_function_is_a_state(bar):
    s, st = bar
    a = actuation(compiled_of(s), {"A": lw.drives.speed(lambda t: 2.0 * np.exp(-t))}, st)
    n = s.kernels.sizes.nv
    assert a.x_names == ("A.prescribed",) and a.x0.tolist() == [0.9] and a.x_scale.tolist() == [1.0]
    np.testing.assert_allclose(motion(a, 0.5, 1.3)[n:], [1.3, 2 * math.exp(-0.5), -2 * math.exp(-0.5), 2 * math.exp(-0.5)], rtol=1e-13)


def test_effort_and_power_of_a_prescribed_motion_come_from_its_multiplier(bar):
    s, st = bar
    a = actuation(compiled_of(s), {"A": lw.drives.speed(2.0), "B": lw.drives.torque(0.5)}, st)
    lam = np.array([[3.0], [-1.0]])
    found = a.columns(
        np.array([0.0, 0.1]), np.tile(st.q, (2, 1)), np.tile(st.v, (2, 1)), near=np.tile(near_of(s, st), (2, 1)), lam_drivers=lam
    )
    np.testing.assert_allclose(found["A.torque"][0], [3.0, -1.0])
    np.testing.assert_allclose(found["A.power"][0], [6.0, -2.0])
    np.testing.assert_allclose(found["B.power"][0], 0.5 * float(st["B.v"]))


def test_a_cut_joint_is_moved(bar):
    s, st = bar
    there = float(st["C"])
    a = actuation(compiled_of(s), {"C": lw.drives.position(lambda t: there + float(st["C.v"]) * t)}, st)
    assert a.drivers == ("C",) and motion(a, 0.0)[s.kernels.sizes.nv] == pytest.approx(there)


WRONG = [
    ({"A": lambda: lw.drives.speed("45 rpm")}, r"speed 4.71\d* rad/s at t = 0 s, but the state has 2 rad/s.*s.assemble\(v="),
    ({"A": lambda: lw.drives.position("0.9 rad")}, "prescribes the speed 0"),
    ({"A": lambda: lw.drives.position(lambda t: 0.9 + 2 * t + 2 * np.pi)}, "1 whole turn apart"),
    ({"AA": lambda: lw.drives.torque(1)}, "no joint or cylinder 'AA'. Did you mean 'A'"),
    ({"A": lambda: lw.drives.torque("2 N")}, "torque of 'A' must be torque"),
    ({"A": lambda: 3.0}, "must be one of lw.drives.torque"),
    ({"A": lambda: [lw.drives.torque(1), lw.drives.speed(2)]}, r"2 things at once \(torque and speed\)"),
    ({"A": lambda: lw.drives.torque([1, 2, 3])}, "a number, a text with a unit"),
    ({"A": lambda: lw.drives.torque(([0, 1, 1], [0, 1, 2]))}, "times must increase, but 1 s follows 1 s"),
    ({"A": lambda: lw.drives.torque(([0, 1], [0, 1, 2]))}, "2 times and 3 values"),
    ({"A": lambda: lw.drives.torque(([0, 1], [0, np.nan]))}, "finite numbers"),
    ({"A": lambda: lw.drives.torque(lambda t: np.zeros(2))}, r"must give one number, not an array of shape \(2,\)"),
    ({"A": lambda: lw.drives.torque(lambda t: None)}, "must give one number, not None"),
    ({"A": lambda: lw.drives.torque(lambda t: float("nan"))}, "function '<lambda>' of the torque of 'A' gave nan at t = 0 s"),
    ({"A": lambda: lw.drives.torque(lambda t, st, x: 0.0)}, "takes 3 arguments"),
    ({"A": lambda: lw.drives.position(lambda t, st: 0.0)}, "it prescribes a motion. This one takes 2"),
    ({"A": lambda: lw.drives.position("B")}, "depends on 'B'. A prescribed motion depends on t only"),
    ({"A": lambda: lw.drives.torque(lambda t: t, every="0 s")}, "longer than zero"),
    (
        {"A": lambda: lw.drives.torque(lambda t: t, every=0.002), "B": lambda: lw.drives.torque(lambda t: t, every=0.003)},
        "not a multiple of 0.002 s",
    ),
    ({"A": lambda: lw.drives.torque(np.random.default_rng(0).normal)}, "gives different values for the same arguments"),
]


@pytest.mark.parametrize(("drive", "message"), WRONG, ids=[m[:24] for _, m in WRONG])
def test_what_is_wrong_is_said(bar, drive, message):
    s, st = bar
    with pytest.raises(lw.LinkwrightError, match=message) as caught:
        actuation(compiled_of(s), {name: make() for name, make in drive.items()}, st)
    assert "\n" not in str(caught.value)


def test_joints_with_several_freedoms_are_pushed_by_coordinate():
    s = lw.compile("slider-crank-equal")
    st = s.assemble(q={"A": 0.4}, v={"A": 2.0})
    a = actuation(compiled_of(s), {"C.slide": lw.drives.force("10 N")}, st)
    assert a.equations.inputs(a.start) @ st.v == pytest.approx(10.0 * float(st["C.slide.v"]), rel=1e-10)
    for wrong, message in ((lw.drives.torque(1), "Use C.slide or C.angle"), (lw.drives.speed(1), "Use C.slide or C.angle")):
        with pytest.raises(lw.UsageError, match=message):
            actuation(compiled_of(s), {"C": wrong}, st)
    with refused(lw.UsageError, name="C.slide"):
        actuation(compiled_of(s), {"C.slide": lw.drives.speed(1)}, st)


def test_drives_print_as_they_are_written():
    def wave(t):
        return t

    written = [
        lw.drives.torque("2 N m"),
        lw.drives.torque(wave, every="1 ms"),
        lw.drives.position((T, T)),
        lw.drives.speed(2.0),
        lw.drives.voltage(12, motor=lw.drives.dc_motor(1, 2)),
    ]
    shown = [
        "lw.drives.torque('2 N m')",
        "lw.drives.torque(wave, every='1 ms')",
        "lw.drives.position((6 times, 6 values))",
        "lw.drives.speed(2.0)",
    ]
    assert [repr(d) for d in written] == [*shown, "lw.drives.voltage(12, motor=lw.drives.dc_motor(Kt=1, R=2, Ke=1))"]
    assert [d.kind for d in written] == ["torque", "torque", "position", "speed", "voltage"] and lw.drives.force is lw.drives.torque


def test_a_turn_says_what_a_duration_does_to_a_program():
    """Shown as far as asked for, at its own pace; a constant speed has its own span."""
    arm = {
        "name": "arm", "plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1}},
        "drive": {"A": {"moves": [{"to": "90 deg", "in": "1 s"}, {"dwell": "0.5 s"}]}},
    }  # fmt: skip
    m = lw.load(arm)
    whole, short, same = m.cycle(), m.cycle(duration="0.5 s"), m.cycle(duration="1.5 s")
    assert whole.t[-1] == same.t[-1] == 1.5 and not whole.notes and not same.notes
    assert short.t[-1] == 0.5 and float(short["A"][-1]) == pytest.approx(float(whole.at(0.5)["A"]), abs=1e-9)
    assert any("first 0.5 s of a program of 1.5 s. It is cut short" in n for n in short.notes)
    assert any("duration= is left aside: 'A'" in n for n in lw.load("four-bar").cycle(duration="2 s").notes)
