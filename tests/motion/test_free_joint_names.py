"""Positions and velocities of free and ball joints by name: in `start:`, calls, results and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import ModelError, UsageError
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text
from linkwright.rings.cli import main
from tests.refusals import refused

FLIGHT = {
    "gravity": [0, 0, -9.81],
    "bodies": {
        "ground": {"points": {"O": [0, 0, 0]}},
        "torso": {"points": {"O": [0, 0, 0], "E": [0.3, 0, 0]}, "mass": 1.2, "com": [0, 0, 0], "inertia": [0.01, 0.02, 0.03]},
        "arm": {"points": {"O": [0, 0, 0]}, "mass": 0.0, "com": [0, 0, 0], "inertia": [0, 0, 0]},
    },
    "joints": {"base": {"type": "free", "connect": ["ground.O", "torso.O"]}, "S": {"type": "fixed", "connect": ["torso.E", "arm.O"]}},
}


def test_velocities_by_name_are_those_of_the_flight():
    """A thrown body: x = vx t, z = vz t - g t^2/2, and a turn about a principal axis at a constant rate."""
    m = lw.load(FLIGHT, start={"base.vx": "2 m/s", "base.vz": 3.0, "base.wz": "1 rad/s", "base.y": 0.25})
    run = m.simulate(0.5)
    assert run["base.x"][-1] == pytest.approx(1.0) and run["base.z"][-1] == pytest.approx(1.5 - 9.81 / 8)
    assert run["base.vx"][-1] == pytest.approx(2.0) and run["base.vz"][-1] == pytest.approx(3.0 - 9.81 / 2)
    assert run["base.wz"][-1] == pytest.approx(1.0) and run["base.y"][-1] == pytest.approx(0.25)
    np.testing.assert_allclose(run["base.rpy"][-1], [0, 0, 0.5], atol=1e-8)
    assert run["base.vx", "mm/s"][0] == pytest.approx(2000.0)
    again = lw.load(FLIGHT).simulate(0.5, start={"base.vx": 2.0, "base.vz": 3.0, "base.wz": 1.0, "base.y": 0.25})
    np.testing.assert_allclose(again[-1].q, run[-1].q, atol=1e-12)


@pytest.mark.parametrize("v", [{"base": [1, 2, 3, 4, 5, 6]}, {"base.v": [1, 2, 3, 4, 5, 6]},
                               {"base.wx": 1, "base.wy": 2, "base.wz": 3, "base.vx": 4, "base.vy": 5, "base.vz": 6},
                               {"base.wx.v": 1, "base.wy.v": 2, "base.wz.v": 3, "base.x.v": 4, "base.y.v": 5, "base.z.v": 6}])  # fmt: skip
def test_every_way_to_give_them(v):
    st = lw.compile(lw.load(FLIGHT)).assemble(v=v)
    np.testing.assert_allclose(st.v, [1, 2, 3, 4, 5, 6], atol=1e-12)
    assert [float(st[f"base.{n}"]) for n in ("wx", "wy", "wz", "vx", "vy", "vz")] == pytest.approx([1, 2, 3, 4, 5, 6])


def test_rotations_by_angles_and_quaternions():
    """Roll, pitch and yaw about fixed axes, as scipy's lower case xyz."""
    angles = np.array([0.3, -0.7, 1.1])
    x, y, z, w = Rotation.from_euler("xyz", angles).as_quat()
    s = lw.compile(lw.load(FLIGHT))
    for given in ({"base.rpy": angles}, {"base.quat": [w, x, y, z]}, {"base.rpy": [f"{np.degrees(a)} deg" for a in angles]}):
        st = s.assemble({**given, "base.x": 0.4})
        np.testing.assert_allclose(st["base.quat"] * np.sign(st["base.quat"][0]), np.array([w, x, y, z]) * np.sign(w), atol=1e-9)
        np.testing.assert_allclose(st["base.rpy"], angles, atol=1e-9)
        assert st["base.x"] == pytest.approx(0.4)
    m = lw.load(FLIGHT, start={"base.rpy": list(angles), "base.z": 1.0})
    np.testing.assert_allclose(m.system.start["base.rpy"], angles, atol=1e-9)
    guessed = s.assemble(guess={"base.rpy": list(angles)})
    np.testing.assert_allclose(guessed["base.rpy"], angles, atol=1e-9)
    for start in ({"base.rpy": [0.1, 0, 0.2], "base.vx": 1.0}, {"base.quat": [1, 0, 0, 1], "base.wy": 2.0}):
        d = read({**FLIGHT, "start": start})
        assert read_text(write(d)) == d


def test_loads_depend_on_them():
    """Drag -0.6 v along x: the speed decays as exp(-0.6 t / 1.2)."""
    d = {**FLIGHT, "loads": {"drag": {"on": "torso.O", "force": ["-0.6 N s/m * base.vx", 0, "2 N/m * base.x * 0"]}}}
    run = lw.load(d, start={"base.vx": 2.0}).simulate(1.0)
    assert run["base.vx"][-1] == pytest.approx(2.0 * np.exp(-0.5), rel=1e-8)
    with refused(ModelError, name="base.vq"):
        lw.load({**FLIGHT, "loads": {"drag": {"on": "torso.O", "force": ["-0.6 * base.vq", 0, 0]}}})


def test_efforts_by_these_names():
    s = lw.compile(lw.load({**FLIGHT, "gravity": [0, 0, 0]}))
    np.testing.assert_allclose(s.forward(s.start, {"base.vx": 2.4, "base.wz": 0.03}).a, [0, 0, 1, 2, 0, 0], atol=1e-12)


def test_on_the_command_line_and_in_a_study(tmp_path, capsys):
    path = tmp_path / "flight.yaml"
    path.write_text(write(read(FLIGHT)))
    out = tmp_path / "run.csv"
    given = ["--set", "base.vx=2", "--set", "base.wz=60 rpm", "--set", "base.rpy=[0, 0, 0.5]"]
    assert main(["simulate", str(path), "0.1", *given, "--channels", "base.x,base.wz", "-o", str(out)]) == 0
    last = np.genfromtxt(out, delimiter=",", names=True, deletechars="")[-1]
    assert float(last[1]) == pytest.approx(0.2, rel=1e-6) and float(last[2]) == pytest.approx(2 * np.pi, rel=1e-6)
    study = lw.study(lw.load(path), {"start.base.vx": [1.0, 3.0]}, {"far": "max base.x"}, case=lw.Run("0.1 s"))
    np.testing.assert_allclose(study["far"], [0.1, 0.3], rtol=1e-6)


def test_wrong_names():
    s = lw.compile(lw.load(FLIGHT))
    with refused(lw.errors.LinkwrightError, name="base.vq"):
        s.assemble(v={"base.vq": 1.0})
    with refused(UsageError, name="base.vx"):
        s.assemble({"base.vx": 1.0})
    with refused(UsageError, name="base.rpy"):
        s.assemble({"base.rpy": [1.0, 2.0]})
    with refused(ModelError, name="start of 'base.quat'"):
        lw.load(FLIGHT, start={"base.quat": [0, 0, 0, 0]})
    with refused(ModelError, name="base.vxx"):
        lw.load(FLIGHT, start={"base.vxx": 1})
