"""DC motor and gearbox against closed forms: coils, speed steps, power balance, the sizing rule of gearboxes, limits."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.mechanics.forces.dc_motor import DCMotor, flow, terminal_voltage
from linkwright.rings.design.drive_duty import DriveHistory
from linkwright.rings.design.drive_sizing import Motor, motor_torque

RNG = np.random.default_rng(7)


def random_motor(**more):
    keys = {k: float(RNG.uniform(0.1, 2.0)) for k in ("Kt", "R", "Ke", "viscous", "friction", "friction_speed", "gear_ratio")}
    return DCMotor(**{**keys, "efficiency": float(RNG.uniform(0.4, 1.0)), **more})


@pytest.mark.parametrize("L", [0.0, 0.02])
def test_power_in_is_power_out(L):
    for _ in range(50):
        m = random_motor(L=L, supply_voltage=float(RNG.uniform(5, 20)), max_current=float(RNG.uniform(1, 20)))
        u, v, i = (float(x) for x in RNG.normal(size=3) * [15.0, 5.0, 6.0])
        f = flow(m, u, v, i if m.has_current else None)
        out = f.heat + f.magnetic + f.friction + f.gearbox + f.mechanical
        assert f.electric + f.created == pytest.approx(out, rel=1e-11, abs=1e-9)
        assert f.friction >= 0.0 and f.gearbox >= 0.0
        assert f.created == pytest.approx((m.Kt - m.Ke) * f.current * f.speed)


def test_quasi_static_torque_is_a_voltage_gain_minus_a_damping():
    """The three motors of [Hoang2023 sec. 5]: k = r Km / Ra = 10 N m/V, c = r^2 Km Ke / Ra = 10 N m s/rad, r^2 J = 1 kg m^2."""
    m = DCMotor(Kt=3.0, Ke=0.1, R=3.0, J=0.01, gear_ratio=10.0)
    for u, v in RNG.normal(size=(5, 2)):
        assert flow(m, u, v).effort == pytest.approx(10.0 * u - 10.0 * v, rel=1e-12)
    assert m.armature == pytest.approx(1.0) and not m.has_current
    assert DCMotor(Kt=3.0, R=3.0).Ke == 3.0


def test_a_gearbox_loses_as_drive_sizing_says():
    """Far above the speed of smoothing the torque at the coils is the one drive sizing asks for, in all four quadrants."""
    m = DCMotor(Kt=0.8, R=1.3, viscous=0.02, friction=0.1, friction_speed=1e-3, gear_ratio=12.0, efficiency=0.7)
    sizing = Motor.of({"Kt": 0.8, "R": 1.3, "viscous": 0.02, "friction": 0.1})[0]
    for u, v in ((20.0, 0.5), (-20.0, 0.5), (20.0, -0.5), (-20.0, -0.5)):
        f = flow(m, u, v)
        one = np.ones(1)
        h = DriveHistory("A", True, 0 * one, 0 * one, v * one, 0 * one, f.effort * one)
        assert motor_torque(h, sizing, 12.0, 0.7)[0] == pytest.approx(m.Kt * f.current, rel=1e-10)
    assert flow(m, 5.0, 0.0).gearbox == 0.0 and flow(m, 5.0, 1e-9).effort == pytest.approx(flow(m, 5.0, -1e-9).effort, rel=1e-4)


def test_limits_of_voltage_and_current():
    m = DCMotor(Kt=0.1, R=2.0, supply_voltage=12.0, max_current=3.0)
    assert terminal_voltage(m, 50.0, 0.0) == 6.0 and flow(m, 50.0, 0.0).current == 3.0
    assert terminal_voltage(m, 50.0, 90.0) == 12.0 and flow(m, 50.0, 90.0).current == pytest.approx(1.5)
    assert flow(m, -50.0, 90.0).current == pytest.approx(-3.0)  # the current limit lets no brake be harder
    coil = DCMotor(Kt=0.1, R=2.0, L=0.01, max_current=3.0)
    assert flow(coil, 1e6, 0.0, 3.0).current_rate == 0.0 and flow(coil, 1e6, 0.0, 2.0).current_rate == pytest.approx(200.0)


def test_complex_step_passes():
    """d effort / d u of a motor below its limits is N Kt/R times the share the gearbox leaves; analytic code carries it."""
    m = DCMotor(Kt=0.5, R=2.0, gear_ratio=3.0, efficiency=0.8, friction_speed=1e-6, supply_voltage=24.0)
    assert flow(m, 10.0 + 1e-30j, 0.7 + 0j).effort.imag / 1e-30 == pytest.approx(3.0 * 0.5 / 2.0 * 0.8)
