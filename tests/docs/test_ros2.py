"""The how-to about ROS 2: transmission, loader and relay compile against mock ROS headers and translate as Python does."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwright as lw
from tests import ROOT

HEADERS = ROOT / "tests" / "docs" / "ros_headers"
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"]
MAIN = """
#include <cstdio>
#include "four_bar.hpp"
#include "ankle.hpp"
#include "transmission_interface/transmission_loader.hpp"

transmission_interface::TransmissionLoader * create_exported_class();

int main()
{
  using namespace transmission_interface;
  double a[6] = {1.3, 2.0, 5.0}, j[6] = {0, 0, 0};
  const std::unique_ptr<TransmissionLoader> loader(create_exported_class());
  const auto loaded = loader->load({"t", "", {{"knee", "joint1"}}, {{"motor", "actuator1"}}});
  Transmission & t = *loaded;
  t.configure(
    {JointHandle("knee", "position", j), JointHandle("knee", "velocity", j + 1), JointHandle("knee", "effort", j + 2)},
    {ActuatorHandle("motor", "position", a), ActuatorHandle("motor", "velocity", a + 1), ActuatorHandle("motor", "effort", a + 2)});
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

  my_robot::AnkleTransmission ankle;  // handles in another order than the names
  ankle.configure(
    {JointHandle("roll", "position", j + 1), JointHandle("pitch", "position", j), JointHandle("roll", "velocity", j + 3),
     JointHandle("pitch", "velocity", j + 2), JointHandle("roll", "effort", j + 5), JointHandle("pitch", "effort", j + 4)},
    {ActuatorHandle("left", "position", a), ActuatorHandle("right", "position", a + 1), ActuatorHandle("left", "velocity", a + 2),
     ActuatorHandle("right", "velocity", a + 3), ActuatorHandle("left", "effort", a + 4), ActuatorHandle("right", "effort", a + 5)});
  const double given[6] = {0.2, 0.1, 1.0, -2.0, 7.0, 3.0};
  for (int i = 0; i < 6; ++i) j[i] = given[i];
  ankle.joint_to_actuator();
  std::printf("%.12g %.12g %.12g %.12g %.12g %.12g\\n", a[0], a[1], a[2], a[3], a[4], a[5]);
  for (int i = 0; i < 6; ++i) j[i] = 0.0;
  ankle.actuator_to_joint();
  std::printf("%.12g %.12g %.12g %.12g %.12g %.12g\\n", j[0], j[1], j[2], j[3], j[4], j[5]);
  try {
    my_robot::AnkleTransmission().configure({JointHandle("roll", "position", j)}, {});
  } catch (const Exception & problem) {
    std::printf("%s\\n", problem.what());
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, those that its Python writes, and the transmission of an ankle."""
    place = tmp_path_factory.mktemp("ros")
    page = (ROOT / "docs" / "how-to" / "ros2.md").read_text(encoding="utf-8")
    for text in re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (place / text.split()[1]).write_text(text, encoding="utf-8")
    lw.load("four-bar").export(place / "four_bar.hpp", motors=["A"], joints=["D"], namespace="my_robot")
    lw.load("ankle").export(place / "ankle.hpp", motors=["left", "right"], joints=["pitch", "roll"], namespace="my_robot")
    subprocess.run(["gcc", "-std=c99", "-O0", "-c", "four_bar.c", "ankle.c"], cwd=place, check=True)
    return place


def run(folder: Path, *files: str) -> str:
    command = ["g++", *STRICT, "-I", str(HEADERS), "-o", "program", *files, "four_bar.o", "ankle.o", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True).stdout


def test_the_transmission(folder: Path) -> None:
    """A four-bar through its loader, with the names of a URDF; an ankle with two motors."""
    (folder / "main.cpp").write_text(MAIN, encoding="utf-8")
    *lines, problem = run(folder, "main.cpp", "four_bar_loader.cpp").splitlines()
    *rows, last, ahead, back = [[float(x) for x in line.split()] for line in lines]
    s = lw.compile("four-bar")
    for k, angle in enumerate((1.0, 1.3, 1.6)):
        st = s.assemble({"A": angle}, {"A": 2.0})
        D, speed = float(st["D"]), float(st["D.v"])
        assert np.allclose(rows[2 * k], [D, speed, 5.0 * 2.0 / speed], rtol=1e-9)  # powers are equal
        assert np.allclose(rows[2 * k + 1], [angle, 2.0, 5.0], rtol=1e-9)  # and back
    assert last[0] == rows[-1][0]  # a rocker that cannot be there changes nothing
    x = lw.load("ankle").system.transmission(["left", "right"], ["pitch", "roll"]).at(joints=[0.2, 0.1], v=[1.0, -2.0])
    assert np.allclose(ahead, [*x.motor, *x.motor_speed, *x.motor_torques([7.0, 3.0])], rtol=1e-9)
    assert np.allclose(back, [0.2, 0.1, 1.0, -2.0, 7.0, 3.0], rtol=1e-9)
    assert problem == "AnkleTransmission: an interface is there for some of the joints or actuators only."


def test_the_elements_of_the_urdf(folder: Path) -> None:
    """ros2_control reads names, roles and limits from the URDF, pluginlib the class from the description."""
    urdf, plugin = (ElementTree.parse(folder / f"ankle_{x}.xml").getroot() for x in ("urdf", "plugin"))
    t = urdf.find("transmission")
    assert t is not None and [(e.tag, e.get("name"), e.get("role")) for e in t[1:]] == [
        ("actuator", "left", "actuator1"), ("actuator", "right", "actuator2"), ("joint", "pitch", "joint1"), ("joint", "roll", "joint2"),
    ]  # fmt: skip
    limits = {e.get("name"): [float(p.text or "") for p in e.iter("param")] for e in urdf.findall("joint")}
    assert np.allclose(np.degrees(limits["pitch"]), [-25, 45]) and np.allclose(np.degrees(limits["roll"]), [-18, 18])
    kind = plugin.find("class")
    assert kind is not None and t[0].text == kind.get("name") == "my_robot/AnkleTransmission"
    assert kind.get("type") == "my_robot::AnkleTransmissionLoader"


def test_the_relay(folder: Path) -> None:
    said = dict((line.split()[0], [float(x) for x in line.split()[1:]]) for line in run(folder, "passive_joints.cpp").splitlines())
    s = lw.compile("four-bar")
    st = s.assemble({"A": 1.3}, {"A": 2.0})
    assert list(said) == ["A", "B", "D"]
    for name, (position, velocity) in said.items():
        assert math.isclose(position, float(st[name]), rel_tol=1e-9) and math.isclose(velocity, float(st[f"{name}.v"]), rel_tol=1e-9)
