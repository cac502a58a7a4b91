"""Consistent start: parameters and start values changed before initialization, against models written with these values."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.rings.exchange.writing.fmu.units import CS, ME, export, opened
from tests.sweeps import sweep

SAME = 1e-6


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory):
    m = lw.load("four-bar")
    return m, export(m, tmp_path_factory.mktemp("fmu") / "unit.fmu", outputs=["*.load", "A.torque", "D"], version="2.0")


def run_of(u, seconds, names, h=0.01):
    rows = [u.get(*names)]
    for k in range(round(seconds / h)):
        u.step(k * h, h)
        rows.append(u.get(*names))
    return np.array(rows)


@sweep("change", [{"L2": 0.75, "L3": 0.62}, {"L1": 0.22}], now=1)
def test_lengths_as_parameters(change, four_bar):
    """The loop is closed again with the crank where it was: the run is that of the model with other lengths."""
    m, path = four_bar
    other = m.with_(**{k: f"{x} m" for k, x in change.items()})
    names = ["A", "D", "A.torque", "C.load"]
    with opened(path) as u:
        u.begin(change, tolerance=1e-11)
        found = run_of(u, 0.3, names)
    run = other.simulate(0.3, sample_interval=0.01, tolerance=1e-12)
    ours = np.array([run[n] for n in names]).T
    turns = 2 * np.pi * np.round((found[0] - ours[0]) / (2 * np.pi)) * [1, 1, 0, 0]  # a joint may be counted from another turn
    assert np.abs(found - ours - turns).max() < SAME * np.abs(ours).max()


def test_masses_may_change_on_the_way(four_bar):
    m, path = four_bar
    with opened(path) as u:
        u.begin(tolerance=1e-11)
        before = u.get("A.torque")[0]
        u.set({"rocker.mass": 30.0})
        heavy = u.get("A.torque")[0]
        assert abs(heavy - before) > 1.0
        u.set({"rocker.mass": float(m.description.numbers().body("rocker").mass)})
        assert u.get("A.torque")[0] == before


def test_a_fixed_parameter_is_refused_later(four_bar):
    _, path = four_bar
    with opened(path) as u:
        u.begin()
        with pytest.raises(Exception, match="status 3"):
            u.set({"L1": 0.2})
        assert "this parameter is fixed and can be set before the start only: L1" in u.messages[-1]


def test_start_values_of_states(four_bar):
    """The crank and its speed are set, the rest follows; what cannot be is closed nearby, with a warning."""
    m, path = four_bar
    with opened(path, ME) as u:
        u.begin({"A": 1.2})
        st = m.system.assemble({"A": 1.2})
        assert np.abs(u.get("A", "B", "D") - [float(st[n]) for n in ("A", "B", "D")]).max() < 1e-9 and not u.messages
    with opened(path, CS) as u:
        u.begin({"A": 1.2, "B": -3.0})
        st = m.system.state(u.get("A", "B", "D"))
        assert np.abs(m.system.closure(st).phi).max() < 1e-9
        assert any("the loops do not allow this start value" in x for x in u.messages)


def test_links_that_do_not_reach(four_bar):
    _, path = four_bar
    with opened(path) as u:
        with pytest.raises(Exception, match="status 3"):
            u.begin({"L2": 3.0})
        assert "the loops cannot be closed with these start values and parameters" in u.messages[-1]


def test_values_that_are_no_numbers(four_bar):
    _, path = four_bar
    with opened(path) as u:
        with pytest.raises(Exception, match="status 3"):
            u.set({"L3": float("nan")})
        assert "not finite" in u.messages[-1]


@pytest.mark.slow
def test_a_platform_in_space_with_another_height(tmp_path):
    """Six legs, quaternions; two parameters of the file from which dozens of coordinates follow."""
    m = lw.load("stewart")
    change = {"h": 0.72, "rp": 0.38}
    drive = {f"leg{k}": lw.drives.force(0.0) for k in range(1, 7)}
    path = export(m, tmp_path / "unit.fmu", drive=drive, parameters=["h", "rp"], outputs=["platform.C", "leg1"])
    names = ["platform.C.x", "platform.C.y", "platform.C.z", "leg1"]
    with opened(path) as u:
        u.begin(change, tolerance=1e-10)
        found = run_of(u, 0.05, names)
    other = m.with_(**{k: f"{x} m" for k, x in change.items()})
    run = other.simulate(0.05, drive=drive, sample_interval=0.01, tolerance=1e-12)
    # legs count their travel from the drawing: they hold their travel, so that the platform is where the other drawing has it
    assert np.abs(found - np.array([run[n] for n in names]).T).max() < SAME


@pytest.mark.slow
def test_a_torque_in_a_cut_joint_moves_with_the_joint(tmp_path):
    m = lw.load("four-bar")
    assert "C" in m.system.tree.cuts
    path = export(m, tmp_path / "unit.fmu", drive={}, inputs={"C": "torque"}, parameters=["L2", "L3"], outputs=["A", "C"])
    with opened(path) as u:
        u.begin({"L2": 0.8, "L3": 0.7, "C.torque": 3.0}, tolerance=1e-11)
        found = run_of(u, 0.2, ["A", "C"])
    other = m.with_(L2="0.8 m", L3="0.7 m")
    run = other.simulate(0.2, drive={"C": lw.drives.torque("3 N m")}, sample_interval=0.01, tolerance=1e-12)
    assert np.abs(found - np.array([run["A"], run["C"]]).T).max() < SAME


@pytest.mark.slow
def test_motor_data_are_parameters(tmp_path):
    motor = lw.drives.dc_motor(Kt="0.05 N m/A", R="0.4 ohm", L="1 mH", J="1e-5 kg m^2", gear_ratio=50)
    better = lw.drives.dc_motor(Kt="0.06 N m/A", R="0.3 ohm", L="1 mH", J="3e-5 kg m^2", gear_ratio=40)
    m = lw.load("wiper")
    path = export(
        m, tmp_path / "unit.fmu", drive={"A": lw.drives.voltage("12 V", motor=motor)}, parameters=[], outputs=["A.v", "motor.A.current"]
    )
    names = ["A.v", "motor.A.current"]
    with opened(path) as u:
        parameters = u.named(causality="parameter")
        assert parameters == ["motor.A.Kt", "motor.A.R", "motor.A.L", "motor.A.J", "motor.A.gear_ratio"]
        u.begin(dict(zip(parameters, (0.06, 0.3, 1e-3, 3e-5, 40.0), strict=True)), tolerance=1e-11)
        found = run_of(u, 0.2, names)
    run = m.simulate(0.2, drive={"A": lw.drives.voltage("12 V", motor=better)}, sample_interval=0.01, tolerance=1e-12)
    assert np.abs(found - np.array([run[n] for n in names]).T).max() < SAME * np.abs(run["motor.A.current"]).max()
