"""Inputs of FMUs: efforts, voltages, motions and wrenches that change with time, against our own runs and closed forms."""

from __future__ import annotations

import math

import fmpy
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from tests.refusals import refused
from tests.rings.exchange.writing.fmu.units import CS, ME, Unit, export, opened
from tests.sweeps import sweep

SAME = 1e-6


def stepped(u: Unit, values, seconds: float, h: float, names):
    """Co-simulation with inputs set at every step."""
    rows = [u.get(*names)]
    for k in range(round(seconds / h)):
        u.set(values(k * h))
        u.step(k * h, h)
        rows.append(u.get(*names))
    return np.array(rows)


@pytest.mark.slow
def test_torque_and_wrench(tmp_path):
    """Held over each step of 10 ms, as a sampled drive of ours holds them."""
    m = lw.load("five-bar")
    body = "left_rod"
    path = export(m, tmp_path / "unit.fmu", drive={}, inputs={"A": "torque", body: "wrench"}, outputs=["A", "E.v", "C.load"], version="2.0")
    names = ["A", "E.v", "C.load"]
    with opened(path) as u:
        u.begin(tolerance=1e-11)
        assert u.named(causality="input") == ["A.torque", f"{body}.wrench.mz", f"{body}.wrench.fx", f"{body}.wrench.fy"]
        found = stepped(u, lambda t: {"A.torque": math.sin(5 * t), f"{body}.wrench.fx": 2.0, f"{body}.wrench.mz": 0.1}, 0.3, 0.01, names)
    held = lw.drives.torque(lambda t: math.sin(5 * t), every=0.01)
    run = m.simulate(0.3, drive={"A": held}, wrench={body: [0, 0, 0.1, 2.0, 0, 0]}, sample_interval=0.01, tolerance=1e-11)
    ours = np.array([run[n] for n in names]).T
    assert np.abs(found[:, :2] - ours[:, :2]).max() < SAME
    # at a sample the FMU still has the old torque, our run the new one: loads are compared where the torque hardly changes
    assert np.abs(found[:, 2] - ours[:, 2]).max() < 0.05 * np.abs(ours[:, 2]).max()


def test_slopes_of_inputs(tmp_path):
    """fmi2SetRealInputDerivatives: a torque that rises linearly is followed inside the step."""
    m = lw.load("four-bar")
    path = export(m, tmp_path / "unit.fmu", drive={}, inputs={"A": "torque"}, outputs=["A", "A.v"], version="2.0", parameters=[])
    with opened(path) as u:
        u.begin(tolerance=1e-11)
        reference = u.reference["A.torque"]
        for k in range(4):
            u.set({"A.torque": 3.0 * 0.1 * k})
            u.fmu.setRealInputDerivatives([reference], [1], [3.0])
            u.step(0.1 * k, 0.1)
        found = u.get("A", "A.v")
    run = m.simulate(0.4, drive={"A": lw.drives.torque(lambda t: 3.0 * t)}, sample_interval=0.1, tolerance=1e-12)
    assert np.abs(found - [run["A"][-1], run["A.v"][-1]]).max() < SAME


@pytest.mark.slow
def test_voltages(tmp_path):
    """Three motors; amplifiers with a limit, which the voltages pass: the break points are found."""
    m = lw.load("3-rrr-motors")
    path = export(m, tmp_path / "unit.fmu", outputs=["P.x", "P.y", "motor.A1.current", "A2.torque"])
    names = ["P.x", "P.y", "motor.A1.current", "A2.torque"]
    volts = {f"A{i}": (lambda t, i=i: 50.0 * math.sin(40.0 * t + i)) for i in (1, 2, 3)}
    with opened(path) as u:
        assert u.named(causality="input") == ["A1.voltage", "A2.voltage", "A3.voltage"]
        assert u.description.numberOfEventIndicators == 6
        u.begin(tolerance=1e-11)
        found = stepped(u, lambda t: {f"{n}.voltage": f(t) for n, f in volts.items()}, 0.2, 0.005, names)
    run = m.simulate(0.2, drive={n: lw.drives.voltage(f, every=0.005) for n, f in volts.items()}, sample_interval=0.005, tolerance=1e-11)
    assert np.abs(found[:, 0] - run["P.x"]).max() < SAME and np.abs(found[:, 1] - run["P.y"]).max() < SAME


@pytest.mark.slow
def test_prescribed_motion_from_outside(tmp_path):
    """Position, speed and acceleration: exact between the steps as far as they belong together; errors of h^3 remain."""
    m = lw.load("five-bar")
    start = m.system.start
    A, E = float(start["A"]), float(start["E"])
    drive = {"A": lw.drives.position(lambda t: A + 0.3 * (1 - np.cos(2 * t))), "E": lw.drives.position(E)}
    path = export(m, tmp_path / "unit.fmu", drive=drive, inputs={"A": "motion"}, outputs=["C", "A.torque", "E.torque"])
    names = ["C", "A.torque", "E.torque"]
    with opened(path) as u:
        assert u.named(causality="input") == ["A.position", "A.speed", "A.acceleration"]  # E is held inside
        u.begin(tolerance=1e-11)
        found = stepped(u, lambda t: dict(zip(u.named(causality="input"), motion(A, t), strict=True)), 0.5, 0.001, names)[::10]
        u.set(dict(zip(u.named(causality="input"), motion(A, 0.5), strict=True)))
        last = u.get(*names)
    run = m.simulate(0.5, drive=drive, sample_interval=0.01, tolerance=1e-12)
    assert np.abs(found[:, 0] - run["C"]).max() < 1e-8
    assert np.abs(last - [run[n][-1] for n in names]).max() < 1e-5


def motion(A: float, t: float) -> tuple[float, float, float]:
    return A + 0.3 * (1 - math.cos(2 * t)), 0.6 * math.sin(2 * t), 1.2 * math.cos(2 * t)


def test_prescribed_motion_in_model_exchange(tmp_path):
    """scipy integrates the FMU's derivatives, with inputs set in every stage."""
    m = lw.load("five-bar")
    start = m.system.start
    A, E = float(start["A"]), float(start["E"])
    drive = {"A": lw.drives.position(lambda t: A + 0.3 * (1 - np.cos(2 * t))), "E": lw.drives.position(E)}
    path = export(m, tmp_path / "unit.fmu", drive=drive, inputs={"A": "motion"}, outputs=["C"], version="2.0")
    with opened(path, ME) as u:
        u.begin()
        names = u.named(causality="input")
        x0 = u.get(*u.states)

        def rates(t, x):
            u.fmu.setTime(t)
            u.set(dict(zip(names, motion(A, t), strict=True)))
            u.set(dict(zip(u.states, x, strict=True)))
            return u.get(*(f"der({n})" for n in u.states))

        done = solve_ivp(rates, (0.0, 0.5), x0, rtol=1e-10, atol=1e-10)
    run = m.simulate(0.5, drive=drive, sample_interval=0.5, tolerance=1e-12)
    found = dict(zip(u.states, done.y[:, -1], strict=True))
    assert abs(found["A"] - run["A"][-1]) < SAME and abs(found["E"] - run["E"][-1]) < SAME


@sweep("kind", ["speed", "position"], now=1)
def test_filtered_motion(kind, tmp_path):
    """A step of the input: the joint follows as the filter's closed form says, and the rest with it."""
    m = lw.load("wiper")
    path = export(m, tmp_path / "unit.fmu", inputs={"A": kind}, outputs=["A", "A.v", "D"], parameters=["crank.mass"])
    T, t = 0.05, np.arange(31) * 0.01
    with opened(path) as u:
        u.begin({"A.filter": T}, tolerance=1e-11)
        first = u.get("A", "A.v")
        level = (first[0] if kind == "position" else first[1]) + 0.7
        found = stepped(u, lambda t: {f"A.{kind}": level}, 0.3, 0.01, ["A", "A.v", "D"])
    if kind == "position":  # critically damped, from rest
        A = level - 0.7 * (1 + t / T) * np.exp(-t / T)
        v = 0.7 * t / T**2 * np.exp(-t / T)
    else:
        v = level - 0.7 * np.exp(-t / T)
        A = first[0] + level * t - 0.7 * T * (1 - np.exp(-t / T))
    assert np.abs(found[:, 0] - A).max() < 1e-8 and np.abs(found[:, 1] - v).max() < 1e-8
    for row in found[::10]:
        st = m.system.assemble({"A": row[0]}, guess=m.system.start)
        assert abs((float(st["D"]) - row[2] + math.pi) % (2 * math.pi) - math.pi) < 1e-8  # the loop is closed


def test_default_inputs_are_the_drives_of_constant_value(tmp_path):
    """A constant speed becomes an input that starts at it, a program of moves stays inside."""
    options = {"parameters": [], "platforms": []}
    wiper = fmpy.read_model_description(str(lw.load("wiper").export(tmp_path / "a.fmu", **options)))
    [speed] = [v for v in wiper.modelVariables if v.causality == "input"]
    assert speed.name == "A.speed" and float(speed.start) == pytest.approx(1.5 * math.pi)
    excavator = fmpy.read_model_description(str(lw.load("excavator").export(tmp_path / "b.fmu", **options)))
    assert not [v for v in excavator.modelVariables if v.causality == "input"]
    assert excavator.numberOfEventIndicators > 0  # moves begin and end


def test_co_simulation_holds_its_inputs(tmp_path):
    """Inputs that are not set again keep their value."""
    m = lw.load("four-bar")
    path = export(m, tmp_path / "unit.fmu", drive={"A": lw.drives.torque("2 N m")}, outputs=["A"], parameters=[])
    run = m.simulate(0.3, drive={"A": lw.drives.torque("2 N m")}, sample_interval=0.1, tolerance=1e-12)
    with opened(path, CS) as u:
        u.begin(tolerance=1e-11)
        for k in range(3):
            u.step(0.1 * k, 0.1)
        assert abs(u.get("A")[0] - run["A"][-1]) < SAME


SERVO = {
    "plane": "xy", "drawing": {"A": [0, 0]}, "parameters": {"arm_ctrl": 0.4, "k": "3 N m/rad", "n": 2.0, "most": "0.8 N m", "R": "0.3 m"},
    "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "points": {"P": ["R", 0]}, "mass": 1.0, "com": "A", "inertia": 0.5}},
    "drive": {"A": {"torque": "k * (arm_ctrl * 1 rad - A) - 2 N m s/rad * A.v", "gear_ratio": "n", "limits": ["-1.4 N m", "most"]}},
}  # fmt: skip


@sweep("version", ["3.0", "2.0"], now=1)
def test_parameters_of_laws_steer(tmp_path, version):
    """A servo goes where its control is: set before the start, changed during a run as a parameter, or an input; as m.simulate does."""
    m = lw.load(SERVO)
    path = export(m, tmp_path / "unit.fmu", outputs=["A", "A.v"], parameters=["arm_ctrl", "k", "n", "most", "R"], version=version)
    kinds = {v.name: (v.causality, v.variability) for v in fmpy.read_model_description(path).modelVariables}
    assert [kinds[x] for x in ("arm_ctrl", "k", "n", "most")] == [("parameter", "tunable")] * 4 and kinds["R"] == ("parameter", "fixed")
    with opened(path) as u:
        u.begin({"arm_ctrl": -0.5, "k": 4.0, "n": 3.0}, tolerance=1e-11)
        u.step(0.0, 0.5)
        first = u.get("A", "A.v")
        u.set({"arm_ctrl": 1.0, "most": 1.1})
        u.step(0.5, 0.5)
        second = u.get("A", "A.v")
    run = m.with_(arm_ctrl=-0.5, k="4 N m/rad", n=3.0).simulate(0.5, sample_interval=0.5, tolerance=1e-12)
    assert np.abs(first - [run["A"][-1], run["A.v"][-1]]).max() < SAME
    later = m.with_(arm_ctrl=1.0, most="1.1 N m", k="4 N m/rad", n=3.0, **{"start.A": first[0], "start.A.v": first[1]}).simulate(
        0.5, sample_interval=0.5, tolerance=1e-12
    )
    assert np.abs(second - [later["A"][-1], later["A.v"][-1]]).max() < SAME
    path = export(m, tmp_path / "other.fmu", inputs={"arm_ctrl": "parameter"}, outputs=["A", "A.v"], parameters=["k"], version=version)
    with opened(path) as u:
        assert u.named(causality="input") == ["arm_ctrl"]
        u.begin({"arm_ctrl": -0.5, "k": 4.0}, tolerance=1e-11)
        found = stepped(u, lambda t: {"arm_ctrl": -0.5}, 0.5, 0.1, ["A", "A.v"])[-1]
    run = m.with_(arm_ctrl=-0.5, k="4 N m/rad").simulate(0.5, sample_interval=0.5, tolerance=1e-12)
    assert np.abs(found - [run["A"][-1], run["A.v"][-1]]).max() < SAME


def test_inputs_that_are_parameters_move_nothing(tmp_path):
    m = lw.load(SERVO)
    for inputs, message in (
        ({"R": "parameter"}, "'R' places bodies or prescribes motions. Parameters of forces and efforts: arm_ctrl, k, most, n"),
        ({"A": "parameter"}, "'A' is not a parameter of the model"),
        ({"arm_ctr": "torque"}, "no joint, cylinder, body or parameter 'arm_ctr'. Did you mean 'arm_ctrl'"),
    ):
        with pytest.raises(lw.UsageError, match=message):
            m.export(tmp_path / "a.fmu", inputs=inputs, platforms=[])
    m.export(tmp_path / "a.fmu", inputs=["arm_ctrl"], platforms=[])
    assert [v.name for v in fmpy.read_model_description(str(tmp_path / "a.fmu")).modelVariables if v.causality == "input"] == ["arm_ctrl"]


def test_parameters_of_motions_are_left_out(tmp_path):
    """The law of a motion is inside with its numbers: a parameter of it would change nothing, so it is none of the FMU."""
    m = lw.load({**SERVO, "parameters": {**SERVO["parameters"], "rate": "2 rad/s", "twice": "2 * rate"}, "drive": {"A": "twice * 1.5"}})
    m.export(tmp_path / "a.fmu", platforms=[])
    names = {v.name for v in fmpy.read_model_description(str(tmp_path / "a.fmu")).modelVariables if v.causality == "parameter"}
    assert {"R", "disc.mass"} <= names and not names & {"rate", "twice"}
    with refused(lw.UsageError, name="twice"):
        m.export(tmp_path / "a.fmu", platforms=[], parameters=["twice", "R"])
