"""Velocity limits of joints: written to robot formats and read back, from robot files and from motors."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.exchange import LossWarning

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINKS = "".join(f'<link name="{x}">{INERTIAL}</link>' for x in "abcd")
ROBOT = f"""<robot name="arm"><link name="base"/>{LINKS}
  <joint name="turn" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/><limit effort="5" velocity="3.3"/></joint>
  <joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.4" effort="50" velocity="0.7"/></joint>
  <joint name="bend" type="revolute"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="0" velocity="12.5"/></joint>
  <joint name="spin" type="continuous"><parent link="c"/><child link="d"/><axis xyz="0 1 0"/></joint>
</robot>"""
LIMITS = {"turn": 3.3, "lift": 0.7, "bend": 12.5}
FORMATS = ("urdf", "sdf", "usda")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.LossWarning")
def test_limits_of_a_robot_file_return(tmp_path: Path, ending: str) -> None:
    (tmp_path / "robot.urdf").write_text(ROBOT)
    m = lw.load(tmp_path / "robot.urdf")
    assert dict(m.imported.speed_limits) == LIMITS
    m.export(tmp_path / f"again.{ending}")
    again = lw.load(tmp_path / f"again.{ending}")
    assert dict(again.imported.speed_limits) == pytest.approx(LIMITS, rel=1e-15)  # degrees in USD round once
    assert {d.joint: d.limits for d in again.description.drives}["lift"] == (-50.0, 50.0)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.filterwarnings("ignore::linkwright.rings.exchange.LossWarning")
def test_the_largest_speed_of_a_motor_counts_at_the_joint(tmp_path: Path, ending: str) -> None:
    motor = {"Kt": 0.1, "R": 1, "max_speed": "3000 rpm", "gear_ratio": 20, "supply_voltage": 24}
    bodies = {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1, "com": "B", "inertia": 0.1}}
    arm = {"plane": "xy", "drawing": {"A": [0, 0], "B": [1, 0]}, "bodies": bodies, "drive": {"A": {"dc_motor": motor}}}
    lw.load(arm).export(tmp_path / f"driven.{ending}")
    limits = dict(lw.load(tmp_path / f"driven.{ending}").imported.speed_limits)
    assert limits == {"A": pytest.approx(3000 * math.tau / 60 / 20, rel=1e-15)}


def test_mjcf_reports_them_as_lost(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(ROBOT)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LossWarning)
        lw.load(tmp_path / "robot.urdf").export(tmp_path / "robot.xml")
    lost = [x.name for w in said if isinstance(w.message, LossWarning) for x in w.message.lost if "velocity" in x.why]
    assert sorted(lost) == sorted(LIMITS)
