"""Efforts, motors, ratios and flywheels against closed forms: weights on arms, pure inertias, sinusoidal torques."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.cycle_loads import cycle_loads
from linkwright.rings.design.drive_duty import DriveHistory, drive_history, efforts
from linkwright.rings.design.drive_sizing import Motor, best_ratio, drive_sizing, motor_torque
from linkwright.rings.design.effort_jumps import jumps
from linkwright.rings.design.flywheel import flywheel
from tests.refusals import refused
from tests.sweeps import sweep

G = 9.81
MOTOR = {"Kt": "0.08 N m/A", "Ke": "0.08 V s/rad", "R": "0.5 ohm", "J": "3e-4 kg m^2"}


def arm(drive: Any = "60 rpm", *, mass: float = 2.0, gravity: float = G, **more: Any) -> lw.Mechanism:
    """A point mass 0.5 m from the hinge A."""
    bodies = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": mass, "com": "B", "inertia": 0.0}}
    model = {"name": "arm", "plane": "xy", "gravity": [0, -gravity], "drawing": {"A": [0, 0], "B": [0.5, 0]}, "bodies": bodies}
    return lw.load({**model, "drive": {"A": drive}, **more})


def history(effort: Any, v: Any, a: Any = 0.0, n: int = 400) -> DriveHistory:
    """A drive over one second from formulas of the phase."""
    phase = np.linspace(0.0, 2 * np.pi, n + 1)
    full = np.ones(n + 1)
    return DriveHistory("A", True, phase / (2 * np.pi), phase, v(phase) * full, a * full if not callable(a) else a(phase), effort(phase))


# ---------------------------------------------------------------- efforts


def test_torque_of_a_weight_on_an_arm() -> None:
    """T = m g r cos q; RMS m g r / sqrt 2; no work over a cycle."""
    e = efforts(arm().cycle(steps=72))["A"]
    top = 2.0 * G * 0.5
    assert e.kind == "torque" and (e.max, e.min) == (pytest.approx(top, rel=1e-9), pytest.approx(-top, rel=1e-9))
    assert e.at_max % (2 * np.pi) == pytest.approx(0.0, abs=1e-9) and e.at_min == pytest.approx(np.pi)
    assert e.rms == pytest.approx(top / np.sqrt(2), rel=1e-9)
    assert abs(e.mean) < 1e-12 * top and abs(e.work) < 1e-11 * top  # conservative: exact on a period
    assert e.power_max == pytest.approx(top * 2 * np.pi, rel=1e-9) and e.speed_max == pytest.approx(2 * np.pi)
    assert e.braked == pytest.approx(2 * top, rel=1e-3)  # half a turn downhill gives back m g 2 r; clipped curve: second order


@pytest.mark.parametrize("name", ["wiper", "carpet-scraper", "four-bar", "jansen-leg"])
def test_a_conservative_cycle_needs_no_work(name: str) -> None:
    """Weight and inertia only: the mean torque of a cycle at constant speed is zero."""
    e = efforts(lw.load(name).cycle(steps=120)).rows[0]
    # the torque is smooth and periodic, so 120 samples integrate it to better than 1e-6 of its peak even with sharp peaks
    assert abs(e.mean) < 1e-6 * max(e.max, -e.min)


def test_work_of_the_drive_is_what_is_dissipated() -> None:
    """Wiper with a damper in C and dry friction in D: energy balance over a cycle."""
    c = wiper_with_losses().cycle(steps=360)
    damped = 0.3 * c["C.v"] ** 2
    rubbed = (0.5 * np.tanh(c["D.v"] / 0.05) + 0.02 * c["D.v"]) * c["D.v"]
    lost = np.sum(0.5 * (damped + rubbed)[1:] + 0.5 * (damped + rubbed)[:-1]) * (c.t[1] - c.t[0])
    e = efforts(c)["A"]
    # tanh makes the integrand steep where D reverses; both integrals have that same error, so they agree far better
    assert lost > 1.0 and e.work == pytest.approx(lost, rel=1e-6)


def wiper_with_losses() -> lw.Mechanism:
    return lw.load(
        {
            "name": "wiper",
            "plane": "xy",
            "gravity": [0, -G],
            "drawing": {"A": [0, 0], "B": [0.15, 0.26], "C": [0.905, 0.75], "D": [1, 0]},
            "bodies": {
                "ground": {"pins": ["A", "D"]},
                "crank": {"pins": ["A", "B"], "mass": 0.3},
                "coupler": {"pins": ["B", "C"], "mass": 0.9},
                "rocker": {"pins": ["D", "C"], "mass": 0.8},
            },
            "dampers": {"seal": {"joint": "C", "coefficient": "0.3 N m s/rad"}},
            "friction": {"bush": {"joint": "D", "coulomb": "0.5 N m", "viscous": "0.02 N m s/rad", "speed": "0.05 rad/s"}},
            "drive": {"A": "45 rpm"},
        }
    )


def test_cylinders_have_length_rate_and_acceleration() -> None:
    """A driven cylinder's motion against differences of its length, and its force against the lever arm of a weight."""
    model = {
        "name": "ramp",
        "plane": "xy",
        "gravity": [0, -G],
        "drawing": {"A": [0, 0], "B": [1, 0.2], "C": [0.3, -0.5], "K": [0.5, 0.1]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["C"]},
            "ramp": {"pins": ["A"], "points": ["B", "K"], "mass": 5, "com": "B", "inertia": 0},
        },
        "cylinders": {"lift": {"between": ["ground.C", "ramp.K"]}},
        "drive": {"lift": {"moves": [{"to": "0.75 m", "in": "1 s"}]}},
    }
    c = lw.load(model).cycle(steps=200)
    h = drive_history(c, "lift")
    assert not h.rotary and h.x[-1] == pytest.approx(0.75)
    dt = h.t[1] - h.t[0]
    # central differences: dt^2/6 times the third derivative (about 20 m/s^3) is 1e-4
    np.testing.assert_allclose(h.v[1:-1], (h.x[2:] - h.x[:-2]) / (2 * dt), atol=2e-4)
    np.testing.assert_allclose(h.a[1:-1], (h.v[2:] - h.v[:-2]) / (2 * dt), atol=5e-3)
    still = lw.load({**model, "drive": {"lift": "10 mm/s"}})
    st = still.system.start
    B, C, K = np.array([1, 0.2]), np.array([0.3, -0.5]), np.array([0.5, 0.1])
    n = (K - C) / np.linalg.norm(K - C)
    needed = 5 * G * B[0] / (K[0] * n[1] - K[1] * n[0])
    assert still.system.inverse(st).tau["lift"] == pytest.approx(needed, rel=1e-9)


# ---------------------------------------------------------------- motors


def test_motor_of_a_weight_with_efficiency() -> None:
    """Lifting costs T / (N e), lowering gives back T e / N; the rotor is idle at constant speed."""
    c = arm().cycle(steps=72)
    d = c.drive_sizing(motor=MOTOR, gear_ratio=20, efficiency=0.8)
    load = 2.0 * G * 0.5 * np.cos(c["A"])
    expected = np.where(load >= 0, load / (20 * 0.8), load * 0.8 / 20)
    np.testing.assert_allclose(d.motor_torque, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(d.motor_speed, 20 * 2 * np.pi, rtol=1e-12)
    np.testing.assert_allclose(d.current, expected / 0.08, atol=1e-9)
    np.testing.assert_allclose(d.voltage, 0.5 * expected / 0.08 + 0.08 * 40 * np.pi, atol=1e-9)
    x = d.figures()
    assert x["current_rms"] == pytest.approx(np.sqrt(np.mean((expected[1:] / 0.08) ** 2)), rel=1e-9)
    assert x["heat_mean"] == pytest.approx(0.5 * x["current_rms"] ** 2, rel=1e-12)
    # with a cycle that returns to where it began the electricity pays for the losses: gearbox and copper
    gearbox = np.mean((expected * 20 - load)[1:] * 2 * np.pi)
    assert gearbox > 0 and x["electric_power_mean"] == pytest.approx(gearbox + x["heat_mean"], rel=1e-9)


def test_losses_act_against_the_flow_of_power_in_both_senses() -> None:
    """Four quadrants: a positive or negative load moved either way; the motor always pays or loses."""
    motor = Motor.of({"Kt": 1.0, "R": 1.0})[0]
    for v in (1.0, -1.0):
        for load in (3.0, -3.0):
            h = history(lambda x, load=load: np.full_like(x, load), lambda x, v=v: np.full_like(x, v))
            T = motor_torque(h, motor, 1.0, 0.5)
            assert np.all((6.0 if load * v > 0 else 1.5) * np.sign(load) == T)
            # power into the gearbox minus power out of it is lost, never gained
            assert np.all(T * v - load * v > 0)


def test_rotor_friction_and_viscosity_sit_on_the_motors_side() -> None:
    """A bare shaft (no load) that swings: T = N (J a + b v) + friction sign v, untouched by the gearbox's efficiency."""
    motor = Motor.of({**MOTOR, "viscous": "1e-4 N m s/rad", "friction": "0.02 N m"})[0]
    h = history(lambda x: 0.0 * x, lambda x: 5 * np.cos(x), lambda x: -5 * np.sin(x) * 2 * np.pi)
    T = motor_torque(h, motor, 12.0, 0.7)
    expected = 12 * (3e-4 * h.a + 1e-4 * h.v) + 0.02 * np.where(np.abs(h.v) > 1e-8, np.sign(h.v), 0.0)  # at rest there is no direction
    np.testing.assert_allclose(T, expected, rtol=0, atol=1e-15)


def test_best_ratio_of_a_pure_inertia() -> None:
    """Inertia matching: N = sqrt(J_load / J_rotor), from a mechanism without gravity that swings."""
    m = arm({"position": "0.5*sin(6.283185307179586 rad/s*t)"}, gravity=0.0)
    d = m.cycle(steps=100).drive_sizing(motor=MOTOR, gear_ratio=30)
    assert d.best is not None and d.best.unlimited == pytest.approx(np.sqrt(2.0 * 0.25 / 3e-4), rel=1e-8)
    # at the optimum load and rotor take the same torque: twice the rotor's alone
    rotor = d.best.unlimited * 3e-4 * d.history.a / 0.08
    assert d.best.rms_current == pytest.approx(2 * d.rms(rotor), rel=1e-8)


@sweep("efficiency", [0.75, 1.0], now=1)
@sweep("friction", [0.05, 0.0], now=1)
def test_best_ratio_against_a_scan(efficiency: float, friction: float) -> None:
    """The closed form (a quartic with dry friction) against brute force on a cycle with everything in it."""
    motor = Motor.of({**MOTOR, "friction": friction, "viscous": 2e-4})[0]
    h = history(lambda x: 6 * np.sin(x) + 4 * np.cos(2 * x) + 3, lambda x: 8 * np.cos(x) + 1, lambda x: -16 * np.pi * np.sin(x))
    best = best_ratio(h, motor, efficiency)
    assert best.unlimited is not None and best.rms_current is not None

    def rms(N: float) -> float:
        T = motor_torque(h, motor, N, efficiency) / motor.Kt
        return float(np.sqrt(np.sum(0.5 * (T[1:] ** 2 + T[:-1] ** 2)) / (len(T) - 1)))

    scan = np.geomspace(1.0, 1000.0, 4001)
    values = [rms(N) for N in scan]
    assert rms(best.unlimited) == pytest.approx(best.rms_current, rel=1e-12)
    assert best.rms_current <= min(values) * (1 + 1e-12)
    assert abs(np.log(best.unlimited / scan[int(np.argmin(values))])) < 2 * np.log(scan[1] / scan[0])


def test_the_motors_speed_bounds_the_ratio() -> None:
    c = arm().cycle(steps=36)
    d = c.drive_sizing(motor={**MOTOR, "max_speed": "3000 rpm"}, gear_ratio=20)
    assert d.best is not None and d.best.unlimited is None  # constant speed, no friction: the larger the better
    assert d.best.most == pytest.approx(50.0) and d.best.gear_ratio == d.best.most
    assert d.best.rms_current == pytest.approx(d.figures()["current_rms"] * 20 / 50, rel=1e-9)
    free = c.drive_sizing(motor=MOTOR, gear_ratio=20).best
    assert free is not None and free.gear_ratio is None and "the larger the ratio the better" in str(c.drive_sizing(motor=MOTOR))


def test_margins() -> None:
    limits = {"rated_current": "5 A", "max_current": "12 A", "supply_voltage": "24 V", "max_speed": "1500 rpm", "rated_speed": "1300 rpm"}
    d = arm().cycle(steps=72).drive_sizing(motor={**MOTOR, **limits}, gear_ratio=20)
    peak = 2 * G * 0.5 / 20
    found = {m.what: m for m in d.margins}
    assert found["peak torque"].factor == pytest.approx(12 * 0.08 / peak)
    assert found["continuous torque (RMS)"].factor == pytest.approx(5 * 0.08 / (peak / np.sqrt(2)))
    assert found["largest speed"].factor == pytest.approx(1500 / 1200) and found["continuous speed (mean)"].factor == pytest.approx(
        1300 / 1200
    )
    assert found["voltage"].need == pytest.approx(0.5 * peak / 0.08 + 0.08 * 40 * np.pi)
    assert d.ok and "ok" in str(d) and "EXCEEDED" not in str(d)
    weak = arm().cycle(steps=72).drive_sizing(motor={**MOTOR, "max_current": "3 A"}, gear_ratio=20)
    assert not weak.ok and "EXCEEDED" in str(weak) and weak.as_dict()["ok"] is False


def test_peak_curve_is_the_voltage_line_under_the_current_limit() -> None:
    motor = Motor.of({"Kt": 0.1, "R": 0.5, "supply_voltage": 24.0, "max_current": 20.0})[0]
    w = np.array([0.0, 140.0, 200.0, 240.0])
    np.testing.assert_allclose(motor.peak_curve(w), [2.0, 2.0, 0.8, 0.0], atol=1e-12)


def test_a_spindle_by_its_lead() -> None:
    """A slider lifted by a spindle of 10 mm lead: torque = force lead / 2 pi."""
    model = {
        "name": "lift",
        "plane": "xy",
        "gravity": [0, -G],
        "drawing": {"S": [0, 0]},
        "bodies": {"ground": {"points": ["S"]}, "table": {"pins": ["S"], "mass": 40}},
        "joints": {"lift": {"type": "prismatic", "between": ["ground", "table"], "at": "S", "axis": [0, 1]}},
        "drive": {"lift": {"moves": [{"to": "0.2 m", "in": "1 s"}, {"to": "0 m", "in": "1 s"}]}},
    }
    c = lw.load(model).cycle(steps=100)
    d = c.drive_sizing(motor=MOTOR, lead="10 mm", efficiency=0.9)
    force = 40 * (G + c["lift.a"])
    N = 2 * np.pi / 0.01
    expected = np.where(force * c["lift.v"] >= 0, force / 0.9, force * 0.9) / N + 3e-4 * N * c["lift.a"]
    np.testing.assert_allclose(d.motor_torque, expected, atol=1e-9)
    assert d.load.kind == "force" and "rad/m" in str(d)
    with refused(lw.LinkwrightError, name="lift"):
        c.drive_sizing(motor=MOTOR)


def test_the_models_own_motor() -> None:
    d = lw.load("3-rrr-motors").cycle(steps=6).drive_sizing("A2")
    assert d.motor is not None and (d.motor.Kt, d.motor.Ke, d.motor.R, d.gear_ratio, d.motor.supply_voltage) == (3.0, 0.1, 3.0, 10.0, 34.0)
    assert arm().cycle(steps=4).drive_sizing().motor is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"motor": {"Kt": 1}}, "needs R"),
        ({"motor": {"Kt": 1, "R": 1, "frction": 2}}, "Did you mean 'friction'"),
        ({"motor": {"Kt": "1 V", "R": 1}}, "torque constant"),
        ({"motor": MOTOR, "gear_ratio": -3}, "greater than zero"),
        ({"motor": MOTOR, "efficiency": 1.2}, "at most 1"),
        ({"motor": {**MOTOR, "J": -1}}, "not be negative"),
        ({"motor": MOTOR, "lead": "5 mm"}, "`lead` is for sliders"),
        ({"gear_ratio": 5}, "need a motor"),
        ({"drive": "Q"}, "no drive 'Q'"),
    ],
)
def test_wrong_requests_are_answered(options: dict[str, Any], said: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=said):
        drive_sizing(arm().cycle(steps=4), **options)


def test_no_motor_no_current() -> None:
    d = arm().cycle(steps=4).drive_sizing()
    assert str(d).startswith("drive A: peak torque") and "\n" not in str(d)
    with refused(lw.LinkwrightError, name="motor"):
        _ = d.current
    with refused(lw.LinkwrightError, name="motor"):
        _ = d.ok
    # T = m g r cos A at 60 rpm: four samples show both ends
    figures, top = d.figures(), 2.0 * G * 0.5
    assert d.margins == () and figures["torque_peak"] == pytest.approx(top) and figures["torque_rms"] == pytest.approx(top / np.sqrt(2.0))
    assert figures["speed_max"] == pytest.approx(2 * np.pi) and figures["power_max"] == pytest.approx(2 * np.pi * top)
    assert abs(figures["torque_mean"]) < 1e-12 and figures["energy_returned"] > 0.0
    assert figures["energy_drawn"] == pytest.approx(figures["energy_returned"])
    press = lw.load("scissor-lift").cycle(steps=4).drive_sizing().figures()
    assert {"force_peak", "force_rms", "force_mean"} <= set(press) and "torque_peak" not in press


# ---------------------------------------------------------------- jumps


def switched(width: str) -> lw.Mechanism:
    """A moment of 30 N m from 0.7 rad to 2.1 rad, switched within `width`, beside one of 5 N m sin A."""
    on = f"max(0, min(1, (A - 0.7 rad)/({width}))) * max(0, min(1, (2.1 rad - A)/({width})))"
    return arm(mass=0.0, loads={"work": {"on": "arm.B", "moment": f"-30 N m * {on} - 5 N m * sin(A)"}})


@sweep("width", ["1e-9 rad", "0.004 rad"], now=1)  # at once, and within a quarter of a step
def test_a_switched_load_is_told_with_a_bound(width: str) -> None:
    """T = 5 sin A + 30 between 0.7 and 2.1 rad: the mean over a cycle is 30 * 1.4/(2 pi)."""
    exact = 30.0 * 1.4 / (2.0 * np.pi)
    for steps in (36, 360):
        c = switched(width).cycle(steps=steps)
        loads = cycle_loads(c)
        step = 2.0 * np.pi / steps
        assert [round(x.low / step) for x in loads.jumps] == [int(x / step) for x in (0.7, 2.1)]
        # the sine changes by a step's worth of it within the step
        assert all(x.high - x.low == pytest.approx(step) and abs(x.size - 30.0) < 5.0 * step for x in loads.jumps)
        off, share = abs(drive_history(c).effort[:-1].mean() - exact) / exact, loads.jumps[0].share
        assert off < share < 30.0 / steps / exact + 0.05, "a bound, and no wild one: both jumps and the samples' peak"
        assert loads.as_dict()["jumps"][0]["drive"] == "A" and "figures are good to about" in str(loads)


@pytest.mark.parametrize(
    "torque",
    ["30 N m/(0.0004 + (sin(A/2) - 0.6)^2)", "20 N m * max(0, sin(A) - 0.5)", "10 N m * sin(3*A)", "30 N m * exp(-900*(A - 1)^2)"],
)  # a sharp peak, a kink, waves, and a bump of two steps' width
def test_what_is_steep_or_bent_is_no_jump(torque: str) -> None:
    for steps in (36, 180):
        assert jumps(arm(mass=0.0, loads={"work": {"on": "arm.B", "moment": torque}}).cycle(steps=steps)) == ()


# ---------------------------------------------------------------- flywheels


def massless_crank(torque: str) -> lw.Mechanism:
    """A shaft without inertia that is loaded by a moment over its angle."""
    return arm(mass=0.0, loads={"work": {"on": "arm.B", "moment": torque}})


@pytest.mark.parametrize("waves", [1, 3])
def test_flywheel_of_a_sinusoidal_torque(waves: int) -> None:
    """T = T0 + T1 sin(k q): the energy swings by 2 T1/k, and w^2 = c - (2 T1/(k I)) cos(k q) with mean speed w."""
    c = massless_crank(f"-(30 + 12*sin({waves}*A)) * 1 N m").cycle(steps=180)
    f = flywheel(c, 0.05)
    w = 2 * np.pi
    assert f.mean_torque == pytest.approx(30.0, rel=1e-9)
    # a cubic spline of 180 points: (2 pi k/180)^4 / 100 of the torque
    assert f.energy == pytest.approx(2 * 12 / waves, rel=1e-6)
    assert f.classical == pytest.approx(2 * 12 / waves / (0.05 * w**2), rel=1e-6)
    # I (w_max^2 - w_min^2)/2 = energy, and for a fluctuation of 5 % the mean of the speed is the middle within 0.05^2/16
    assert f.inertia == pytest.approx(f.classical, rel=5e-4) and f.own == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(f.speeds) / w == pytest.approx(0.05, rel=1e-6)
    assert (f.inertia / 2) * (f.speeds.max() ** 2 - f.speeds.min() ** 2) == pytest.approx(f.energy, rel=1e-9)


def test_flywheel_holds_in_a_simulated_turn() -> None:
    """Integrate I(q) w dw/dq = T_m - T directly, for an arm with a weight: the fluctuation is what was asked for."""
    from scipy.integrate import solve_ivp

    c = arm("90 rpm").cycle(steps=180)
    f = flywheel(c, 0.08)
    J = f.inertia + 2.0 * 0.25
    start = float(np.interp(c["A"][0], f.position, f.speeds))
    run = solve_ivp(
        lambda q, y: (f.mean_torque - 2 * G * 0.5 * np.cos(q)) / (J * y), (0, 2 * np.pi), [start], rtol=1e-10, dense_output=True
    )
    w = run.sol(np.linspace(0, 2 * np.pi, 2001))[0]
    assert np.ptp(w) / (3 * np.pi) == pytest.approx(0.08, rel=1e-4)  # samples of the extremes: (pi/1000)^2
    assert f.own == pytest.approx(0.5, rel=1e-9) and f.inertia == pytest.approx(f.classical - 0.5, rel=5e-3)
    assert f.as_dict()["fluctuation"] == 0.08 and "flywheel of" in str(f)


def test_no_flywheel_is_needed_where_the_machine_is_heavy_enough() -> None:
    f = flywheel(arm("3000 rpm").cycle(steps=90), 0.05)
    assert f.inertia == 0.0 and f.fluctuation_without < 0.05


def test_slow_machines_say_their_speed() -> None:
    c = massless_crank("-(30 + 12*sin(A)) * 1 N m").cycle(steps=120, speed=0)
    with refused(lw.LinkwrightError, name="speed"):
        flywheel(c, 0.05)
    assert flywheel(c, 0.05, speed="60 rpm").classical == pytest.approx(24 / (0.05 * (2 * np.pi) ** 2), rel=1e-6)


def test_flywheels_need_a_full_turn() -> None:
    with refused(lw.LinkwrightError, name="A"):
        flywheel(lw.load("four-bar", L1="0.8 m").cycle(steps=12), 0.05)
    with refused(lw.LinkwrightError, name="cycle"):
        flywheel(massless_crank("-(30 + 12*cos(A/2)) * 1 N m").cycle(steps=12), 0.05)
    with refused(lw.LinkwrightError, name="fluctuation", value=5):
        flywheel(arm().cycle(steps=12), 5)
