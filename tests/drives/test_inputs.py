"""The input kernel: compiled, interpreted and direct evaluation agree; efforts anywhere do the right work; wrenches; sampling."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.drives import actuation, drives_of_description, prescribed
from tests.drives.rows import Row, called, near_of
from tests.refusals import refused

BOOM = {
    "name": "boom", "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"O": [0, 0], "P": [2.0, 0.5], "F": [0.5, -0.8], "Q": [1.0, 0.25]},
    "bodies": {
        "ground": {"pins": ["O"], "points": ["F"]},
        "boom": {"pins": ["O"], "points": ["P", "Q"], "mass": 100, "com": "P", "inertia": 5},
    },
    "cylinders": {"lift": {"between": ["ground.F", "boom.Q"]}},
}  # fmt: skip
MOTOR = lw.drives.dc_motor(
    "0.2 N m/A", "1.5 ohm", L="3 mH", J="1e-4 kg m^2", gear_ratio=20, efficiency=0.8, friction="0.01 N m", supply_voltage="24 V"
)


@pytest.fixture(scope="module")
def scraper():
    s = lw.compile("carpet-scraper", cuts=["J8", "J9", "J10"])
    return s, s.assemble(q={"J1": 0.4}, v={"J1": 4.7})


def mixture(st):
    return {
        "J1": lw.drives.voltage(lambda t, st: 5.0 * np.sin(t) - 0.1 * st["J2.v"] + st["J9"], motor=MOTOR),
        "J2": lw.drives.torque("2 N m * sin(3 rad/s * t) - 0.1 N m s * J3.v"),
        "J3": lw.drives.torque(([0.0, "0.2 s", 0.5], ["1 N m", 2.0, -1.0])),
        "J9": lw.drives.torque(lambda t: 0.3 * t),  # a cut joint
        "J5": lw.drives.speed(lambda t: float(st["J5.v"]) + t * t),
    }


def test_compiled_interpreted_and_direct(scraper):
    s, st = scraper
    a = actuation(compiled_of(s), mixture(st), st)
    assert a.how == "compiled" and a.drivers == ("J5",) and a.n_u == 7 + 3 and a.x_names == ("motor.J1.current", "J5.prescribed")
    assert a.armature[s.names.v.index("J1")] == pytest.approx(0.04) and np.count_nonzero(a.armature) == 1
    row = Row(s, a)
    slow = lw.compile("carpet-scraper", cuts=["J8", "J9", "J10"], engine="python")
    b = actuation(compiled_of(slow), mixture(st), st)
    assert b.how == "interpreted"
    rng = np.random.default_rng(3)
    near = near_of(s, st)
    for _ in range(5):
        x = {
            "q": st.q + 0.1 * rng.normal(size=7),
            "v": rng.normal(size=7),
            "x": rng.normal(size=2),
            "t": rng.uniform(0, 0.6, 1),
            "near": near,
        }
        status, y = called(a.inputs(row), row, **x)
        direct = a.equations.inputs({**x, "parameters": np.zeros(0), "held": np.zeros(0)})
        assert status == 0 and len(y) == len(direct) + 1
        np.testing.assert_allclose(y[:-1], direct, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(called(b.inputs(row), row, **x)[1], y, rtol=1e-12, atol=1e-12)


def test_an_effort_in_a_cut_joint_does_the_work_of_that_joint(scraper):
    s, st = scraper
    a = actuation(compiled_of(s), {"J9": lw.drives.torque("2 N m")}, st)
    assert a.needs_kernel and not a.counts_turns  # a hinge pushes alike however often it has turned
    u = a.equations.inputs(a.start)
    assert u @ st.v == pytest.approx(2.0 * float(st["J9.v"]), rel=1e-10)
    assert float(a.columns([0.0], st.q[None], st.v[None], near=near_of(s, st)[None])["J9.power"][0][0]) == pytest.approx(
        u @ st.v, rel=1e-10
    )


def test_a_cylinder_is_pushed_and_moved():
    s = lw.compile(lw.load(BOOM))
    st = s.assemble(q={"O": 0.3}, v={"O": 0.7})
    a = actuation(compiled_of(s), {"lift": lw.drives.force("1.5 kN")}, st)
    assert a.equations.inputs(a.start)[0] * 0.7 == pytest.approx(1500.0 * float(st["lift.v"]), rel=1e-12)
    b = actuation(compiled_of(s), {"lift": lw.drives.speed(float(st["lift.v"]))}, st)
    np.testing.assert_allclose(b.equations.inputs(b.start)[1:], [float(st["lift"]), float(st["lift.v"]), 0.0], rtol=1e-12)
    assert prescribed(compiled_of(s), {"lift": lw.drives.speed("2 m/s")}, st).motions["lift"] == (pytest.approx(float(st["lift"])), 2.0)


def test_wrenches_push_as_in_forward_dynamics(scraper):
    s, st = scraper
    body = s.description.bodies[3].name
    w = np.array([0.0, 0.0, 1.5, 2.0, -3.0, 0.0])
    expected = s.forward(st, wrench={body: w}).a
    for given in (list(w), lambda t: w, lambda t, st: w):
        a = actuation(compiled_of(s), {}, st, wrench={body: given})
        np.testing.assert_allclose(s.forward(st, tau=a.equations.inputs(a.start)).a, expected, rtol=1e-9)
    with refused(lw.UsageError, name="function '<lambda>' of the wrench on 'coupler'"):
        actuation(compiled_of(s), {}, st, wrench={body: lambda t: [1.0, 2.0]})
    with refused(lw.UsageError, name="the wrench on 'ground'"):
        actuation(compiled_of(s), {}, st, wrench={"ground": w})


def test_constant_efforts_need_no_kernel(scraper):
    s, st = scraper
    a = actuation(compiled_of(s), {"J1": lw.drives.torque("2 N m"), "J3": lw.drives.torque(-1)}, st)
    assert not a.needs_kernel and a.how == "constant" and a.inputs(None) is None and a.n_u == 0 and a.sampler(None) is None
    assert a.tau0[s.names.v.index("J1")] == 2.0 and a.tau0[s.names.v.index("J3")] == -1.0 and np.count_nonzero(a.tau0) == 2
    assert actuation(compiled_of(s), None, st).tau0.tolist() == [0.0] * 7


def test_functions_that_cannot_be_traced_are_called_back(scraper):
    s, st = scraper

    def relay(t, st):
        return 3.0 if st["J1.v"] > 4.0 else -3.0

    many = np.linspace(0.0, 1.0, 1000)
    a = actuation(
        compiled_of(s),
        {"J1": lw.drives.torque(relay), "J2": lw.drives.torque((many, many**2)), "J3": lw.drives.torque(lambda t: math.cos(t))},
        st,
    )
    assert a.program is None and a.how.startswith("called back")
    assert any("'relay' of the torque of 'J1': called back once per stage (it cannot be traced)" in n for n in a.notes)
    row = Row(s, a)
    k = a.inputs(row)
    status, y = called(k, row, q=st.q, v=st.v, t=[0.5], near=near_of(s, st))
    assert status == 0
    i = [s.names.v.index(n) for n in ("J1", "J2", "J3")]
    np.testing.assert_allclose(y[i], [3.0, 0.25, math.cos(0.5)], atol=1e-6)  # a chord of t^2 over 1 ms is 2.5e-7 high
    columns = a.columns(np.array([0.0, 0.5]), np.tile(st.q, (2, 1)), np.tile(st.v, (2, 1)), near=np.tile(near_of(s, st), (2, 1)))
    np.testing.assert_allclose(columns["J3.torque"][0], np.cos([0.0, 0.5]), rtol=1e-14)


def test_sampled_functions_remember_and_are_held(scraper):
    s, st = scraper
    calls = []

    def integral(t, st):
        calls.append(t)
        return float(len(calls))

    a = actuation(compiled_of(s), {"J1": lw.drives.torque(integral, every="1 ms"), "J2": lw.drives.torque(lambda t: t, every="3 ms")}, st)
    assert a.n_held == 2 and a.every == 1e-3 and not calls
    row = Row(s, a)
    sampler, inputs = a.sampler(row), a.inputs(row)
    assert sampler is not None and inputs is not None
    held = np.zeros(2)
    for k in range(5):
        status, held = called(sampler, row, q=st.q, v=st.v, t=[1e-3 * k], near=near_of(s, st), held=held)
        assert status == 0
    np.testing.assert_allclose(held, [5.0, 3e-3])
    assert len(calls) == 5
    np.testing.assert_allclose(called(inputs, row, t=[4.4e-3], held=held)[1][[s.names.v.index("J1"), s.names.v.index("J2")]], held)
    t = np.array([0.0, 0.9e-3, 2e-3, 4.5e-3])
    columns = a.columns(t, np.tile(st.q, (4, 1)), np.tile(st.v, (4, 1)), near=np.tile(near_of(s, st), (4, 1)))
    np.testing.assert_allclose(columns["J1.torque"][0], [1.0, 1.0, 3.0, 5.0])
    np.testing.assert_allclose(columns["J2.torque"][0], [0.0, 0.0, 0.0, 3e-3])


def test_not_finite_numbers_are_named(scraper):
    """Compiled code reports them; asked again in Python the function is named, with the joint and the time."""
    s, st = scraper
    a = actuation(compiled_of(s), {"J1": lw.drives.torque(lambda t: 1.0 / np.sqrt(0.5 - t))}, st)
    row = Row(s, a)
    k = a.inputs(row)
    assert k is not None and a.how == "compiled" and k.backup is not None
    status, _ = called(k, row, q=st.q, t=[1.0], near=near_of(s, st))
    assert status & 2  # degenerate: the loop asks the backup
    with np.errstate(all="ignore"):
        status, _ = called(k.backup, row, q=st.q, t=[1.0], near=near_of(s, st))
    assert status & 1024 and "'<lambda>' of the torque of 'J1' gave nan at t = 1 s" in str(k.backup.owner.unanswered)


def test_free_parameters_move_the_lines_of_action():
    model = {**BOOM, "parameters": {"f": 0.5}, "drawing": {**BOOM["drawing"], "F": ["f", -0.8]}}
    push = {"lift": lw.drives.force(lambda t: 1000.0 + t)}
    s, other = lw.compile(lw.load(model), parameters=["f"]), lw.compile(lw.load(model, f=0.7))
    a, b = (actuation(compiled_of(x), push, x.assemble(q={"O": 0.3})) for x in (s, other))
    row = Row(s, a)
    y = called(a.inputs(row), row, q=a.start["q"], t=[0.0], parameters=[0.7])[1]
    np.testing.assert_allclose(y[:1], b.equations.inputs(b.start), rtol=1e-12)
    assert abs(y[0] / a.equations.inputs(a.start)[0] - 1.0) > 0.01


def test_drives_of_a_model_file():
    model = dict(BOOM, drive={"O": {"moves": [{"to": "90 deg", "in": "1 s"}, {"dwell": "0.5 s"}]}})
    s = lw.compile(lw.load(model))
    a = actuation(compiled_of(s), drives_of_description(s.description), s.start)
    begin = float(s.start["O"])
    halfway = a.equations.inputs({**a.start, "t": np.array([0.5])})[1:]
    np.testing.assert_allclose(halfway, [0.5 * (begin + np.pi / 2), 2.0 * (np.pi / 2 - begin), 0.0], atol=1e-12)  # cycloid: twice the mean
    later = actuation(compiled_of(s), drives_of_description(s.description), at(s, halfway, 0.5))
    np.testing.assert_allclose(later.equations.inputs(later.start)[1:], halfway, atol=1e-9)  # taken up in the middle of a move
    kinds = {
        "O": "2 N m",
        "lift": {"dc_motor": {"Kt": "1 N m/A", "R": "1 ohm", "gear_ratio": "600 rad/m", "voltage": "5 V*sin(2 rad/s*t)"}},
    }
    s = lw.compile(lw.load(dict(BOOM, drive=kinds)))
    a = actuation(compiled_of(s), drives_of_description(s.description), s.start)
    columns = a.columns(np.array([0.4]), s.start.q[None], s.start.v[None])
    assert columns["O.torque"][0][0] == 2.0 and columns["motor.lift.voltage"][0][0] == pytest.approx(5 * np.sin(0.8))
    assert columns["lift.force"][0][0] == pytest.approx(600 * 5 * np.sin(0.8))
    s = lw.compile(lw.load(dict(BOOM, drive=["O"])))
    assert actuation(compiled_of(s), drives_of_description(s.description), s.start).tau0.tolist() == [0.0]


def at(s, motion, t):
    return replace(s.assemble(q={"O": motion[0]}, v={"O": motion[1]}), t=t)


def test_efforts_accelerate_as_in_forward_dynamics(scraper):
    """The same efforts by s.forward, which pushes cut joints through wrenches of its own."""
    s, st = scraper
    a = actuation(compiled_of(s), {"J9": lw.drives.torque(2.0), "J1": lw.drives.torque(lambda t: 1.0)}, st)
    expected = s.forward(st, tau={"J9": 2.0, "J1": 1.0}).a
    np.testing.assert_allclose(s.forward(st, tau=a.equations.inputs(a.start)).a, expected, rtol=1e-9)
