"""Motors through the input kernel against closed forms: coil, speed step, the robot of Hoang; powers over a run; sampled voltage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.drives import actuation
from tests.drives.rows import Row, called, near_of
from tests.refusals import refused

INERTIA = 0.04
WHEEL = {
    "name": "wheel", "plane": "xy", "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "disk": {"pins": ["A"], "mass": 1.0, "inertia": INERTIA}},
}  # fmt: skip


def run(motor, volts, times):
    """(speed, current) of a wheel on a motor, by its input kernel and an integrator of scipy's."""
    s = lw.compile(lw.load(WHEEL))
    a = actuation(compiled_of(s), {"A": lw.drives.voltage(volts, motor=motor)}, s.start)
    row = Row(s, a)
    kernel = a.inputs(row)

    def rates(t, y):
        u = called(kernel, row, q=y[:1], v=y[1:2], x=y[2:], t=[t])[1]
        return [y[1], u[0] / (INERTIA + a.armature[0]), *u[1 : 1 + len(a.x0)]]

    start = np.concatenate([[0.0, 0.0], a.x0])
    found = solve_ivp(rates, (0.0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-12, method="DOP853").y.T
    rows = a.columns(times, found[:, :1], found[:, 1:2], found[:, 2:], np.zeros((len(times), 0)), a=np.zeros((len(times), 1)))
    return a, found, rows


def test_speed_step_with_inductance():
    """L i' = u - R i - K N w, (I + N^2 J) w' = N K i: linear, so the matrix exponential is the answer."""
    K, R, L, J, N, u = 0.08, 0.5, 0.02, 2e-4, 12.0, 9.0
    times = np.linspace(0.0, 0.4, 9)
    a, found, rows = run(lw.drives.dc_motor(K, R, L=L, J=J, gear_ratio=N), u, times)
    A = np.array([[-R / L, -K * N / L, u / L], [N * K / (INERTIA + N * N * J), 0.0, 0.0], [0.0, 0.0, 0.0]])
    exact = np.array([expm(A * t) @ [0.0, 0.0, 1.0] for t in times])
    np.testing.assert_allclose(found[:, 1], exact[:, 1], atol=1e-8)
    np.testing.assert_allclose(found[:, 2], exact[:, 0], atol=1e-7)
    np.testing.assert_allclose(rows["motor.A.current"][0], found[:, 2])
    assert a.x_names == ("motor.A.current",) and not a.notes


def test_a_stalled_coil_and_a_quasi_static_step():
    times = np.linspace(0.0, 0.3, 7)
    heavy = lw.drives.dc_motor(1e-9, 2.0, L=0.1)  # hardly a motor: i = u/R (1 - exp(-R t/L))
    _, found, _ = run(heavy, "6 V", times)
    np.testing.assert_allclose(found[:, 2], 3.0 * (1.0 - np.exp(-20.0 * times)), atol=1e-8)
    K, R, N, b = 0.08, 0.5, 12.0, 1e-3
    _, found, _ = run(lw.drives.dc_motor(K, R, gear_ratio=N, viscous=b), "6 V", times)
    top, rate = (N * K * 6.0 / R) / (N * N * (K * K / R + b)), N * N * (K * K / R + b) / INERTIA
    np.testing.assert_allclose(found[:, 1], top * (1.0 - np.exp(-rate * times)), atol=1e-8)


def test_the_current_stays_within_its_limit():
    times = np.linspace(0.0, 0.5, 201)
    _, found, rows = run(
        lw.drives.dc_motor(0.08, 0.5, L=5e-3, gear_ratio=12, max_current="4 A", supply_voltage="24 V"),
        lambda t: 40.0 * np.sin(30.0 * t),
        times,
    )
    assert 3.9 < np.abs(found[:, 2]).max() <= 4.0 + 1e-9
    assert np.abs(rows["motor.A.voltage"][0]).max() <= 24.0


def test_powers_of_a_run_balance():
    motor = lw.drives.dc_motor(
        "3 N m/A", "3 ohm", Ke="0.1 V s/rad", L="0.2 H", J="0.01 kg m^2", gear_ratio=10, efficiency=0.7, viscous=0.02, friction=0.5
    )
    times = np.linspace(0.0, 0.5, 101)
    a, _, rows = run(motor, lambda t: 5.0 * np.cos(20.0 * t), times)
    x = {k.removeprefix("motor.A."): values for k, (values, _) in rows.items()}
    out = x["heat"] + x["power.magnetic"] + x["power.mechanical"] + x["loss.friction"] + x["loss.gearbox"]
    np.testing.assert_allclose(x["power.electric"] + x["power.created"], out, atol=1e-10 * np.abs(out).max())
    assert x["loss.gearbox"].min() >= 0.0 and x["loss.gearbox"].max() > 0.0
    np.testing.assert_allclose(rows["A.power"][0], x["power.mechanical"])
    np.testing.assert_allclose(rows["motor.A.torque.shaft"][0], x["torque"])  # no acceleration was given
    assert "differ in SI: this motor creates energy" in a.notes[0] and "called" not in "".join(a.notes)
    assert rows["motor.A.current"][1] == "current" and rows["motor.A.speed"][1] == "angular speed"


def test_the_robot_with_three_motors():
    """[Hoang2023 sec. 5]: torque k u - c w with k = c = 10 in each crank, and 1 kg m^2 of rotor on it; voltage within 34 V."""
    s = lw.compile("3-rrr-motors")
    gains = {"A1": lambda t, st: 150.0 * (0.4 - st["A1"]) - 50.0 * st["A1.v"], "A2": -5.0, "A3": 100.0}
    a = actuation(compiled_of(s), {n: lw.drives.voltage(u) for n, u in gains.items()}, s.start)
    assert a.how == "compiled" and a.armature.tolist()[:3] == [1.0, 1.0, 1.0]
    row = Row(s, a)
    rng = np.random.default_rng(0)
    q, v = s.start.q + 0.05 * rng.normal(size=6), 0.1 * rng.normal(size=6)
    u = called(a.inputs(row), row, q=q, v=v, t=[0.0], near=near_of(s, s.start))[1]
    expected = [np.clip(150.0 * (0.4 - q[0]) - 50.0 * v[0], -34, 34), -5.0, 34.0]
    np.testing.assert_allclose(u[:3], 10.0 * np.array(expected) - 10.0 * v[:3], rtol=1e-12)
    assert not u[3:6].any()


def test_a_sampled_voltage_is_held_while_the_back_emf_is_not():
    s = lw.compile(lw.load(WHEEL))
    a = actuation(compiled_of(s), {"A": lw.drives.voltage(lambda t: 1.0, every=0.01, motor=lw.drives.dc_motor(0.1, 0.5))}, s.start)
    row = Row(s, a)
    effort = [called(a.inputs(row), row, v=[w], held=[2.0])[1][0] for w in (0.0, 10.0)]
    np.testing.assert_allclose(effort, [0.1 * 2.0 / 0.5, 0.1 * (2.0 - 1.0) / 0.5])


@pytest.mark.parametrize(
    ("drive", "name"),
    [
        (lambda: lw.drives.voltage(3.0), "A"),
        (lambda: lw.drives.voltage("3 A", motor=lw.drives.dc_motor(1, 1)), "3 A"),
        (lambda: lw.drives.voltage(3.0, motor=7), "A"),
        (lambda: lw.drives.dc_motor("0.1 N m/A", 0), "R"),
        (lambda: lw.drives.dc_motor("0.1 N m", 1), "0.1 N m"),
        (lambda: lw.drives.dc_motor(0.1, 1, efficiency=1.1), "motor"),
        (lambda: lw.drives.dc_motor(0.1, 1, J=-1), "motor"),
        (lambda: lw.drives.dc_motor(0.1, 1, lead="5 mm", gear_ratio=3), "motor"),
        (lambda: lw.drives.voltage(3.0, motor={"Kt": 1, "R": 1, "Kf": 1}), "Kf"),
    ],
)
def test_what_is_wrong_with_a_motor(drive, name):
    s = lw.compile(lw.load(WHEEL))
    with refused(lw.UsageError, name=name):
        actuation(compiled_of(s), {"A": drive()}, s.start)


def test_a_rotor_needs_a_joint_of_the_tree():
    s = lw.compile("four-bar", cuts=["C"])
    with refused(lw.UsageError, name="C"):
        actuation(compiled_of(s), {"C": lw.drives.voltage(1.0, motor=lw.drives.dc_motor(1, 1, J=0.1))}, s.start)
    assert repr(lw.drives.dc_motor(1, 2, J=0.1)) == "lw.drives.dc_motor(Kt=1, R=2, Ke=1, J=0.1)"
    assert lw.drives.dc_motor(1, 2, lead="10 mm").gear_ratio == pytest.approx(200 * np.pi)
