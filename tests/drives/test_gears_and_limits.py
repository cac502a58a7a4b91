"""Gear and limits of a drive: in a file, a call, a controller and an FMU, against closed forms and MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.integrate import trapezoid

import linkwright as lw
from linkwright.errors import ModelError, UsageError
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text

DISC = {
    "plane": "xy",
    "drawing": {"A": [0, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "disc": {"pins": ["A"], "mass": 1.0, "com": "A", "inertia": 0.5}},
}


def spun(written, **more) -> lw.Trajectory:
    return lw.load({**DISC, "drive": {"A": written}}).simulate(1.0, **more)


@pytest.mark.parametrize(
    ("drive", "effort"),
    [
        ({"torque": 2.0, "gear_ratio": 3}, 6.0),
        ({"torque": 2.0, "gear_ratio": -3}, -6.0),
        ({"torque": 2.0, "gear_ratio": 3, "limits": "5 N m"}, 5.0),
        ({"torque": -2.0, "gear_ratio": 3, "limits": [-1, 5]}, -1.0),
        ({"torque": -2.0, "gear_ratio": 3, "limits": ["none", 5]}, -6.0),
        ({"torque": "4 N m + 0 N m * t", "limits": [-1, 2.5]}, 2.5),
    ],
)
def test_the_joint_feels_gear_times_torque_within_limits(drive, effort):
    """A disc turns at T t / I."""
    run = spun(drive)
    assert run["A.v"][-1] == pytest.approx(effort / 0.5, rel=1e-8)
    np.testing.assert_allclose(run["A.torque"], effort)


def test_a_varying_torque_is_cut_off_as_in_mujoco():
    """6 sin(3 t) within -2 .. 4: the work is that of the cut curve; MuJoCo's actuator with gear and forcerange cuts it alike."""
    run = spun({"torque": "2 N m * sin(3 rad/s * t)", "gear_ratio": 3, "limits": [-2, 4]}, tolerance=1e-10)
    t = np.linspace(0.0, 1.0, 200001)
    T = np.clip(6.0 * np.sin(3.0 * t), -2.0, 4.0)
    assert run["A.v"][-1] == pytest.approx(trapezoid(T, t) / 0.5, rel=1e-7)
    text = """<mujoco><option timestep="1e-4" gravity="0 0 0"/><worldbody><body><joint name="A" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.5 0.5 0.5"/></body></worldbody>
    <actuator><motor joint="A" gear="3" forcelimited="true" forcerange="-0.6666666666666666 1.3333333333333333"/></actuator></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for i in range(10000):
        data.ctrl[0] = 2.0 * np.sin(3.0 * (i + 0.5) * 1e-4)
        mujoco.mj_step(model, data)
    assert data.qvel[0] == pytest.approx(run["A.v"][-1], rel=1e-6)


def test_in_a_call_and_of_sampled_functions():
    given = spun({"torque": 0.0}, drive={"A": lw.drives.torque(lambda t, st: 10.0, every="10 ms", gear_ratio=2.0, limits=(None, "5 N m"))})
    assert given["A.v"][-1] == pytest.approx(10.0, rel=1e-8)
    assert repr(lw.drives.torque(2.0, gear_ratio=3.0)) == "lw.drives.torque(2.0, gear_ratio=3.0)"
    for wrong, message in (({"gear_ratio": 0.0}, "other than zero"), ({"limits": -1.0}, "greater than zero"),
                           ({"limits": (2, 1)}, "not below"),
                           ({"limits": (1, 2, 3)}, "a pair")):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            spun({"torque": 0.0}, drive={"A": lw.drives.torque(1.0, **wrong)})


def test_controllers_respect_the_limits_of_the_file():
    """PD toward a far set-point: the disc accelerates with the limit, as with an actuator of that limit."""
    law = lw.control.pd({"A": lw.control.setpoint(100.0)}, P=10.0, D=1.0)
    m = lw.load({**DISC, "drive": {"A": {"limits": [-1, "3 N m"]}}})
    run = m.simulate(1.0, control=law)
    assert run["A.v"][-1] == pytest.approx(6.0, rel=1e-6)
    assert run.control().efforts.saturated == pytest.approx(1.0, abs=1e-6)
    other = lw.load({**DISC, "drive": ["A"]}).simulate(1.0, control=law, actuators=lw.control.actuator(limit=(-1, 3)))
    np.testing.assert_allclose(other["A"], run["A"])
    back = m.simulate(1.0, control=lw.control.pd({"A": lw.control.setpoint(-100.0)}, P=10.0, D=1.0))
    assert back["A.v"][-1] == pytest.approx(-2.0, rel=1e-6)


def test_an_fmu_cuts_its_input_off(tmp_path):
    """The input is the torque before the gear; a disc turns with the limit."""
    import fmpy

    path = tmp_path / "disc.fmu"
    lw.load({**DISC, "drive": {"A": {"torque": 1.0, "gear_ratio": 3, "limits": 5}}}).export(path, inputs={"A": "torque"}, interface="cs")
    for u, effort in ((1.0, 3.0), (4.0, 5.0), (-4.0, -5.0)):
        found = fmpy.simulate_fmu(str(path), stop_time=0.5, start_values={"A.torque": u}, output=["A.v"])
        assert found["A.v"][-1] == pytest.approx(effort, rel=1e-6)


def test_a_file_with_gears_and_limits_is_written_as_it_was_read():
    for drive in ({"torque": 2, "gear_ratio": 3, "limits": [-1, 5]}, {"limits": "5 N m"}, {"gear_ratio": 30},
                  {"torque": "2*t", "limits": ["none", 4]}, {"undriven": "", "gear_ratio": 2}):  # fmt: skip
        d = read({**DISC, "drive": {"A": drive}})
        assert read_text(write(d)) == d
    assert read({**DISC, "drive": {"A": {"limits": 5}}}).drives[0].limits == (-5.0, 5.0)


@pytest.mark.parametrize(
    ("drive", "message"),
    [
        ({"speed": 2, "gear_ratio": 3}, "belong to a torque or force"),
        ({"dc_motor": {"Kt": 1, "R": 1}, "limits": 3}, "A motor has a `gear_ratio`"),
        ({"torque": 2, "limits": 0}, "must be greater than zero"),
        ({"torque": 2, "limits": [3, 1]}, "not below"),
        ({"torque": 2, "gear_ratio": 0}, "gear_ratio is 0"),
        ({"torque": 2, "limits": "3 N"}, "limits must be"),
    ],
)
def test_wrong_gears_and_limits(drive, message):
    with pytest.raises(ModelError, match=message):
        read({**DISC, "drive": {"A": drive}})


def test_with_keeps_what_a_drive_has():
    m = lw.load({**DISC, "parameters": {"n": 3.0}, "drive": {"A": {"torque": 2, "gear_ratio": "n", "limits": [-1, 5]}}})
    for again in (m.with_(gravity=0), m.with_(n=4.0), m.with_(n=4.0).with_(gravity=0)):
        (drive,) = again.description.drives
        assert (str(drive.gear_ratio), drive.limits) == ("n", (-1.0, 5.0))
    assert m.with_(n=2.0).simulate(1.0)["A.v"][-1] == pytest.approx(8.0)  # 2 N m times 2 on 0.5 kg m^2
    motor = {"dc_motor": {"voltage": "12 V", "Kt": "0.1 N m/A", "R": "1 ohm"}}
    (fed,) = lw.load({**DISC, "drive": {"A": motor}}).with_(gravity=0).description.drives
    assert fed.value == 12.0
