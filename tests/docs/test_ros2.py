"""The how-to about ROS 2: its C++ compiles against the exported C and mock ROS headers, and translates as Python does."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests import ROOT

HEADERS = ROOT / "tests" / "docs" / "ros_headers"
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
MAIN = """
#include <cstdio>
#include "four_bar_transmission.hpp"

int main()
{
  using namespace transmission_interface;
  double a[3] = {1.3, 2.0, 5.0}, j[3] = {0, 0, 0};
  my_robot::FourBarTransmission t;
  t.configure(
    {JointHandle("D", "position", j), JointHandle("D", "velocity", j + 1), JointHandle("D", "effort", j + 2)},
    {ActuatorHandle("A", "position", a), ActuatorHandle("A", "velocity", a + 1), ActuatorHandle("A", "effort", a + 2)});
  for (double angle : {1.0, 1.3, 1.6}) {
    a[0] = angle, a[1] = 2.0, a[2] = 5.0;
    t.actuator_to_joint();
    std::printf("%.12g %.12g %.12g\\n", j[0], j[1], j[2]);
    a[0] = a[1] = a[2] = 0.0;
    t.joint_to_actuator();
    std::printf("%.12g %.12g %.12g\\n", a[0], a[1], a[2]);
  }
  j[0] = 20.0;
  t.joint_to_actuator();
  std::printf("%.12g\\n", a[0]);
  return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, and the C that its Python writes."""
    place = tmp_path_factory.mktemp("ros")
    page = (ROOT / "docs" / "howto-ros2.md").read_text(encoding="utf-8")
    for text in re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (place / text.split()[1]).write_text(text, encoding="utf-8")
    s = lw.compile("four-bar")
    for file, text in (s.c(["kinematics"], name="ahead") | s.c(["kinematics"], name="back", drives=["D"])).items():
        (place / file).write_text(text, encoding="utf-8")
    subprocess.run(["gcc", "-std=c99", "-O1", "-c", "ahead.c", "back.c"], cwd=place, check=True)
    return place


def run(folder: Path, file: str) -> np.ndarray:
    command = ["g++", *STRICT, "-I", str(HEADERS), "-o", "program", file, "ahead.o", "back.o", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout


def test_the_transmission(folder: Path) -> None:
    (folder / "main.cpp").write_text(MAIN, encoding="utf-8")
    *rows, last = [[float(x) for x in line.split()] for line in run(folder, "main.cpp").splitlines()]
    s = lw.compile("four-bar")
    for k, angle in enumerate((1.0, 1.3, 1.6)):
        st = s.assemble({"A": angle}, {"A": 2.0})
        D, speed = float(st["D"]), float(st["D.v"])
        assert np.allclose(rows[2 * k], [D, speed, 5.0 * 2.0 / speed], rtol=1e-9)  # powers are equal
        assert np.allclose(rows[2 * k + 1], [angle, 2.0, 5.0], rtol=1e-9)  # and back
    assert last[0] == rows[-1][0]  # a rocker that cannot be there changes nothing


def test_the_relay(folder: Path) -> None:
    said = dict((line.split()[0], [float(x) for x in line.split()[1:]]) for line in run(folder, "passive_joints.cpp").splitlines())
    s = lw.compile("four-bar")
    st = s.assemble({"A": 1.3}, {"A": 2.0})
    assert list(said) == ["A", "B", "D"]
    for name, (position, velocity) in said.items():
        assert math.isclose(position, float(st[name]), rel_tol=1e-9) and math.isclose(velocity, float(st[f"{name}.v"]), rel_tol=1e-9)
