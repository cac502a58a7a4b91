"""Drives read from actuators: their laws against MuJoCo's own forces at the joints, at random positions, speeds and controls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.model.description import Drive
from linkwright.rings.exchange.import_report import Imported
from linkwright.rings.exchange.reading.mjcf import read_mjcf
from linkwright.rings.exchange.writing.mujoco.text import mjcf
from linkwright.text.expressions import Expr, evaluate
from tests.rings.exchange.reading.mjcf.files import written

MODEL = """
<mujoco model="arm">
  <worldbody>
    <body name="a"><joint name="A" axis="0 0 1" actuatorfrcrange="-5 4"/><geom size="0.1" mass="1"/>
      <body name="b" pos="0.3 0 0"><joint name="B" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/>
        <body name="c" pos="0.3 0 0"><joint name="left-C" axis="0 0 1"/><geom size="0.1" mass="1"/>
          <site name="s" pos="0 0 0.1" euler="90 0 0"/></body>
      </body></body>
    <body name="ball" pos="0 0 1"><joint name="S" type="ball"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="B" coef="0.5"/><joint joint="left-C" coef="-2"/></fixed>
    <spatial name="cord"><site site="s"/><site site="anchor"/></spatial></tendon>
  <actuator>{actuators}</actuator>
  <keyframe><key name="home" ctrl="{ctrl}"/></keyframe>
</mujoco>
""".replace("</worldbody>", '<site name="anchor" pos="0 1 0"/></worldbody>')

LAWS = {
    "motor": '<motor name="m" joint="A" gear="10"/>',
    "position": '<position name="p" joint="A" kp="30" kv="2" gear="3"/>',
    "velocity": '<velocity name="v" joint="B" kv="7"/>',
    "general": '<general name="g" joint="left-C" gaintype="affine" gainprm="3 0.5 -0.2" biastype="affine" biasprm="1 -4 -0.3" gear="-2"/>',
    "tendon": '<position name="t" tendon="both" kp="20" kv="1.5" gear="2"/>',
    "two on one joint": '<motor name="m" joint="A" gear="10"/><position name="p" joint="A" kp="30"/>',
}


def read(tmp_path: Path, actuators: str, ctrl: str) -> tuple[Imported, Path]:
    path = written(tmp_path, MODEL.format(actuators=actuators, ctrl=ctrl))
    return read_mjcf(path), path


def effort(drive: Drive, values: dict[str, float]) -> float:
    value: Any = drive.value
    found = float(evaluate(value, values)) if isinstance(value, Expr) else float(value)
    low, high = drive.limits
    out = float(drive.gear_ratio) * found
    out = out if low is None else max(out, float(low))
    return out if high is None else min(out, float(high))


@pytest.mark.parametrize("limits", ["", ' forcelimited="true" forcerange="-3 2"', ' ctrllimited="true" ctrlrange="-0.1 0.2"'])
@pytest.mark.parametrize("law", LAWS)
def test_efforts_are_those_of_mujoco(tmp_path: Path, law: str, limits: str) -> None:
    actuators = LAWS[law].replace("/>", f"{limits}/>")
    rng = np.random.default_rng(7)
    control = rng.normal(size=LAWS[law].count("name="))
    found, path = read(tmp_path, actuators, " ".join(str(x) for x in control))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    names = {"A": "A", "B": "B", "left_C" if law in ("general", "tendon") else "left-C": "left-C"}
    for _ in range(4):
        data.qpos[:3], data.qvel[:], data.ctrl[:] = rng.normal(size=3), rng.normal(size=model.nv), control
        mujoco.mj_forward(model, data)
        values = dict(found.description.parameters)
        for ours, theirs in names.items():
            j = model.joint(theirs)
            values |= {ours: float(data.qpos[j.qposadr[0]]), f"{ours}.v": float(data.qvel[j.dofadr[0]])}
        drives = {d.joint: d for d in found.description.drives}
        for ours, theirs in names.items():
            wanted = float(data.qfrc_actuator[model.joint(theirs).dofadr[0]])
            if ours not in drives:
                assert wanted == 0.0
            elif law == "two on one joint" and limits:
                assert abs(effort(drives[ours], values)) <= 10.0 * 3.0 + 3.0  # each is bounded in MuJoCo, here their sum
            else:
                assert effort(drives[ours], values) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_motor_has_gear_and_limits_of_the_smallest_range(tmp_path: Path) -> None:
    found, _ = read(tmp_path, '<motor name="m" joint="A" gear="10" ctrllimited="true" ctrlrange="-0.6 0.3"/>', "0.2")
    (drive,) = found.description.drives
    assert (drive.joint, drive.kind, drive.value, drive.gear_ratio) == ("A", "torque", pytest.approx(0.2), 10.0)
    assert drive.limits == (-5.0, pytest.approx(3.0))  # actuatorfrcrange -5, ctrlrange 0.3 times the gear
    assert drive.where is not None
    assert drive.where.line == 13


def test_servo_targets_are_parameters(tmp_path: Path) -> None:
    found, _ = read(tmp_path, LAWS["position"] + LAWS["tendon"], "0.4 -0.1")
    assert found.description.parameters == (("p_ctrl", 0.4), ("t_ctrl", -0.1))
    assert "the servo 'p' became a torque law. Its control is the parameter 'p_ctrl' = 0.4." in found.report.inferred
    assert "joint 'left-C' is called 'left_C', because a law names it" in found.report.inferred
    assert str(found.description.drives[0].value) == "30.0*(p_ctrl - 3.0*A) + (-6.0)*A.v"


def test_a_force_at_a_site_is_a_load_in_the_axes_of_its_body(tmp_path: Path) -> None:
    found, path = read(tmp_path, '<general name="jet" site="s" gear="1 2 3 0.1 0.2 0.3"/>', "0.5")
    (load,) = found.description.loads
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.5
    mujoco.mj_forward(model, data)
    values = dict(found.description.parameters)
    force, moment = (np.array([float(evaluate(x, values)) for x in part]) for part in (load.force, load.moment))
    site, body = data.site("s"), data.body("c")
    jp, jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_jacSite(model, data, jp, jr, site.id)
    R = body.xmat.reshape(3, 3)
    assert jp.T @ (R @ force) + jr.T @ (R @ moment) == pytest.approx(data.qfrc_actuator, abs=1e-12)


def test_actuators_without_a_counterpart_are_listed(tmp_path: Path) -> None:
    actuators = (
        '<motor name="m" joint="S" gear="1 0 0"/><motor name="c" tendon="cord"/><muscle name="biceps" joint="A" lengthrange="0 1"/>'
        '<position name="slow" joint="A" kp="3" timeconst="0.1"/>'
    )
    found, _ = read(tmp_path, actuators, "0 0 0 0")
    assert "1 muscle: biceps" in found.report.dropped
    assert "2 unsupported actuators: m, c" in found.report.dropped
    assert "the activation dynamics of 'slow': its control acts at once" in found.report.dropped


@pytest.mark.parametrize("limits", ["", ' forcelimited="true" forcerange="-3 2"'])
@pytest.mark.parametrize("law", ["motor", "position", "velocity", "general", "tendon"])
def test_actuators_are_written_as_they_were_read(tmp_path: Path, law: str, limits: str) -> None:
    """MJCF to MJCF: the same efforts at the controls of the keyframe and at others, and no loss of a drive."""
    actuators = LAWS[law].replace("/>", f"{limits}/>")
    path = written(tmp_path, MODEL.format(actuators=actuators, ctrl="0.3"))
    found = mjcf(lw.load(path))
    assert not [x for x in found.lost if x.part == "drive"]
    first, second = mujoco.MjModel.from_xml_path(str(path)), mujoco.MjModel.from_xml_string(found.text)
    assert second.key_ctrl[0] == pytest.approx(first.key_ctrl[0])
    names = {"A": "A", "B": "B", "left_C" if law in ("general", "tendon") else "left-C": "left-C"}
    one, other = mujoco.MjData(first), mujoco.MjData(second)
    rng = np.random.default_rng(3)
    for control in (0.3, -0.7, 0.05):
        one.ctrl[:], other.ctrl[:] = control, control
        for ours, theirs in names.items():
            a, b = first.joint(theirs), second.joint(ours)
            one.qpos[a.qposadr], one.qvel[a.dofadr] = rng.normal(), rng.normal()
            other.qpos[b.qposadr], other.qvel[b.dofadr] = one.qpos[a.qposadr], one.qvel[a.dofadr]
        mujoco.mj_forward(first, one)
        mujoco.mj_forward(second, other)
        for ours, theirs in names.items():
            wanted, there = one.qfrc_actuator[first.joint(theirs).dofadr], other.qfrc_actuator[second.joint(ours).dofadr]
            assert there == pytest.approx(wanted, rel=1e-9, abs=1e-9)
