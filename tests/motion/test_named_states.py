"""States by name: cylinders, joints of several coordinates, floating bases; from Python, the file and the command line, and back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.numerics.spatial import Pose, quaternion_rotation, rotation_quaternion
from linkwright.rings import cli
from tests.refusals import refused

BOOM = {
    "name": "boom", "plane": "xy", "units": ["mm", "deg"], "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "G": [600, -800], "T": [1500, 0], "S": [2500, 0]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["G"]},
        "arm": {"pins": ["A"], "points": ["T", "S"], "mass": 100, "com": "T", "inertia": "10 kg m^2"},
    },
    "cylinders": {"lift": {"between": ["ground.G", "arm.T"]}},
    "drive": {"lift": "20 mm/s"},
}  # fmt: skip
NEAR, FAR, DOWN = 1.0, 1.5, math.atan2(-0.8, 0.6)  # A-G, A-T in meters; direction of G


def angle_of(length: float) -> float:
    """Angle of the arm by the law of cosines, above the cylinder's foot."""
    return DOWN + math.acos((NEAR**2 + FAR**2 - length**2) / (2.0 * NEAR * FAR))


def rate_of(length: float, speed: float) -> float:
    """dA/dt from L dL = a b sin(angle between) dA."""
    return length * speed / (NEAR * FAR * math.sin(angle_of(length) - DOWN))


def test_a_cylinder_sets_the_position_and_the_speed() -> None:
    s = lw.load(BOOM).system
    for length in (0.7, 1.0, 1.4, 2.0):
        st = s.assemble({"lift": length}, v={"lift": 0.05})
        assert st["lift"] == pytest.approx(length, abs=1e-12)
        assert st["A"] == pytest.approx(angle_of(length), abs=1e-10)  # the root of a closed loop, to round-off
        assert st["lift.v"] == pytest.approx(0.05, abs=1e-12)
        assert st["A.v"] == pytest.approx(rate_of(length, 0.05), rel=1e-10)
    assert s.assemble({"lift": "1200 mm"}, v={"lift.v": "20 mm/s"})["lift.v"] == pytest.approx(0.02)


def test_a_cylinder_in_the_file_and_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = lw.load({**BOOM, "start": {"lift": 1200, "lift.v": "10 mm/s"}})
    assert m.system.start["A"] == pytest.approx(angle_of(1.2), abs=1e-10)
    assert m.system.start["A.v"] == pytest.approx(rate_of(1.2, 0.01), rel=1e-10)
    path = m.save(tmp_path / "boom.yaml")
    again = lw.load(path).system.start
    assert (again["lift"], again["lift.v"]) == pytest.approx((1.2, 0.01))
    assert cli.main(["simulate", str(path), "0", "--undriven", "--set", "lift=1000mm", "--json", "--channels", "A,lift"]) == 0
    assert lw.load(path).with_(start={"lift": "1000 mm"}).system.start["A"] == pytest.approx(angle_of(1.0), abs=1e-10)
    printed = capsys.readouterr().out
    assert f"{angle_of(1.0):.9f}"[:9] in printed


def test_a_cylinder_that_cannot_be_that_long() -> None:
    s = lw.load(BOOM).system
    with refused(lw.UsageError, name="lift"):
        s.assemble({"lift": -1.0})
    with refused(lw.AssemblyError, loop="lift"):
        s.assemble({"lift": 2.6})  # the arm reaches 1000 + 1500 mm from the foot
    with refused(lw.AssemblyError, loop="lift"):
        s.assemble({"lift": 0.1})
    with refused(lw.LinkwrightError, name="lfit", allowed=("A", "lift")):
        s.assemble({"lfit": 1.0})


def test_a_cylinder_and_its_hinge_that_contradict_each_other() -> None:
    """A second arm gives a second degree of freedom, so that two values are not too many; but `lift` follows from `A` alone."""
    bodies = {**BOOM["bodies"], "tip": {"pins": ["S"], "mass": 1}}
    bodies["arm"] = {**bodies["arm"], "pins": ["A", "S"], "points": ["T"]}
    s = lw.load({**BOOM, "bodies": bodies}).system
    with refused(lw.AssemblyError, loop="lift"):
        s.assemble({"lift": 1.2, "A": 0.5})
    st = s.assemble({"lift": 1.2, "S": 0.5})
    assert (st["A"], st["S"]) == pytest.approx((angle_of(1.2), 0.5), abs=1e-10)


def test_branches_and_guesses_with_a_cylinder() -> None:
    s = lw.load(BOOM).system
    angles = sorted(math.remainder(float(b["A"]), math.tau) for b in s.branches({"lift": 1.2}))
    mirrored = math.remainder(2.0 * DOWN - angle_of(1.2), math.tau)
    assert angles == pytest.approx(sorted([mirrored, angle_of(1.2)]), abs=1e-9)
    assert s.assemble({"lift": 1.2}, guess={"A": "-130 deg"})["A"] == pytest.approx(mirrored, abs=1e-9)


def on_one_joint(kind: str, **more: Any) -> dict[str, Any]:
    """A body in space carried by one joint."""
    return {
        "bodies": {
            "ground": {"points": {"O": [0.1, 0.2, 0.3]}},
            "b": {"points": {"M": [0, 0, 0], "P": [0.1, 0.2, 0.3]}, "mass": 2.0, "com": [0, 0, 0], "inertia": [0.1, 0.2, 0.25]},
        },
        "joints": {"J": {"type": kind, "connect": ["ground.O", "b.M"]}},
        **more,
    }


QUATERNION = [0.9, 0.1, -0.2, 0.3]
CASES: dict[str, tuple[list[float], list[float]]] = {
    "universal": ([0.3, -0.4], [1.0, 2.0]),
    "cylindrical": ([0.3, 0.05], [1.0, -0.2]),
    "planar": ([0.1, -0.2, 0.5], [1.0, 2.0, -3.0]),
    "spherical": ([*QUATERNION], [1.0, -2.0, 0.5]),
    "free": ([*QUATERNION, 0.4, -0.5, 0.6], [1.0, -2.0, 0.5, 0.3, 0.2, -0.1]),
}
POINT = np.array([0.1, 0.2, 0.3])


@pytest.mark.parametrize("kind", CASES)
def test_lists_for_joints_of_several_coordinates(kind: str, tmp_path: Path) -> None:
    q, v = (np.array(x) for x in CASES[kind])
    unit = np.concatenate([q[:4] / np.linalg.norm(q[:4]), q[4:]]) if kind in ("spherical", "free") else q
    s = lw.load(on_one_joint(kind)).system
    st = s.assemble({"J": q}, v={"J": v})
    file = lw.load(on_one_joint(kind, start={"J": q.tolist(), "J.v": v.tolist()}))
    saved = lw.load(file.save(tmp_path / "model.yaml"))
    for found in (st, file.system.start, saved.system.start):
        assert found["J"] == pytest.approx(unit, abs=1e-12)
        assert found["J.v"] == pytest.approx(v, abs=1e-12)
    assert s.assemble({"J": st["J"]}, v={"J.v": st["J.v"]})["J"] == pytest.approx(st["J"], abs=1e-12)
    h = 1e-6  # central difference along the motion: an error of h^2 and of round-off / h, both below 1e-9
    rate = [s.point(s.state(compiled_of(s).displaced(st, sign * h * v)), "b.P") for sign in (1.0, -1.0)]
    assert st["b.P.v"] == pytest.approx((rate[0] - rate[1]) / (2.0 * h), abs=1e-8)


def test_a_floating_base_against_the_kinematics_of_a_rigid_body() -> None:
    q, v = (np.array(x) for x in CASES["free"])
    s = lw.load(on_one_joint("free")).system
    st = s.assemble({"J": q}, v={"J": v})
    R = quaternion_rotation(q[:4] / np.linalg.norm(q[:4]))
    assert st["b.P"] == pytest.approx(np.array([0.1, 0.2, 0.3]) + q[4:] + R @ POINT, abs=1e-12)
    assert st["b.P.v"] == pytest.approx(v[3:] + R @ np.cross(v[:3], POINT), abs=1e-12)  # angular velocity in the body's axes
    posed = s.assemble({"J": Pose(R, q[4:])})
    assert posed["J"] == pytest.approx(np.concatenate([rotation_quaternion(R), q[4:]]), abs=1e-12)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"J.wy": 2.0}, [0, 2, 0, 0, 0, 0]),
        ({"J.x": "30 mm/s", "J.wz": 1.0}, [0, 0, 1, 0.03, 0, 0]),
        ({"J.z.v": 0.5}, [0, 0, 0, 0, 0, 0.5]),
        ({"J.v": [1, 2, 3, 4, 5, 6]}, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_components_of_a_floating_base(wanted: dict[str, Any], expected: list[float]) -> None:
    st = lw.load(on_one_joint("free")).system.assemble({"J.y": 0.25}, v=wanted)
    assert st["J.v"] == pytest.approx(expected, abs=1e-12)
    assert st["J.y"] == pytest.approx(0.25, abs=1e-12)
    for i, name in enumerate(("J.wx", "J.wy", "J.wz", "J.x.v", "J.y.v", "J.z.v")):
        assert st[name] == pytest.approx(expected[i], abs=1e-12)
    start = {f"{k}.v" if k in ("J.x",) else k: x for k, x in wanted.items()}
    assert lw.load(on_one_joint("free", start=start)).system.start["J.v"] == pytest.approx(expected, abs=1e-12)


def test_efforts_and_accelerations_of_a_floating_base() -> None:
    s = lw.load(on_one_joint("free")).system
    st = s.assemble()
    push = [0.1, 0.4, 0.5, 2.0, 4.0, 6.0]  # inertia 0.1, 0.2, 0.25 kg m^2, mass 2 kg
    assert s.forward(st, {"J": push})["J"] == pytest.approx([1, 2, 2, 1, 2, 3], abs=1e-12)
    assert s.forward(st, {"J.wy": 0.4, "J.z": "6 N"})["J.wy.a"] == pytest.approx(2.0)


def test_the_whole_robot_follows_its_base() -> None:
    """A leg with a closed loop on a free torso: the base moves, the loop stays closed, the joints keep their angles."""
    model = on_one_joint("free")
    model["bodies"] |= {
        "crank": {"points": {"A": [0, 0, 0], "B": [0.2, 0, 0]}, "mass": 1, "com": [0.1, 0, 0], "inertia": [1e-3, 1e-3, 1e-3]},
        "rod": {"points": {"B": [0, 0, 0], "C": [0.3, 0, 0]}, "mass": 1, "com": [0.1, 0, 0], "inertia": [1e-3, 1e-3, 1e-3]},
    }
    model["bodies"]["b"]["points"] |= {"A": [0, 0, 0], "C": [0.4, 0, 0]}
    axis = {"axis": [0, 0, 1]}
    model["joints"] |= {
        "A": {"type": "revolute", "connect": ["b.A", "crank.A"], **axis},
        "B": {"type": "revolute", "connect": ["crank.B", "rod.B"], **axis},
        "C": {"type": "pin_slot", "connect": ["b.C", "rod.C"], "axis": [1, 0, 0]},
    }
    model["guess"] = {"crank": {"at": [0.1, 0.2, 0.3]}, "rod": {"at": [0.3, 0.2, 0.3]}}
    s = lw.load(model).system
    q, v = CASES["free"]
    st = s.assemble({"J": q, "A": 0.4}, v={"J": v, "A": 3.0})
    assert np.abs(s.closure(st).phi).max() < 1e-10 and np.abs(s.closure(st).J @ st.v).max() < 1e-10
    assert st["J.v"] == pytest.approx(v, abs=1e-9)
    assert (st["A"], st["A.v"]) == pytest.approx((0.4, 3.0), abs=1e-9)


@pytest.mark.parametrize(
    ("q", "v", "name"),
    [
        ({"J": 3.0}, {}, "J"),
        ({"J": [0, 0, 0, 0, 1, 1, 1]}, {}, "J"),
        ({"J.wx": 1.0}, {}, "J.wx"),
        ({"J.q": 1.0}, {}, "J.q"),
        ({}, {"J": [1, 2, 3]}, "J"),
        ({}, {"J.wx": "3 m"}, "3 m"),
    ],
)
def test_wrong_values_of_a_floating_base(q: dict[str, Any], v: dict[str, Any], name: str) -> None:
    with refused(lw.LinkwrightError, name=name):
        lw.load(on_one_joint("free")).system.assemble(q, v)


def test_lists_and_components_of_a_call_replace_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    q, v = CASES["free"]
    whole, parts = on_one_joint("free", start={"J": q, "J.v": v}), on_one_joint("free", start={"J.x": 0.4, "J.y.v": 0.7})
    st = lw.load(whole).with_(start={"J.x": "50 mm", "J.wz.v": "2 rad/s"}).system.start
    assert st["J"][4:] == pytest.approx([0.05, -0.5, 0.6], abs=1e-12) and st["J.v"] == pytest.approx([1, -2, 2, 0.3, 0.2, -0.1], abs=1e-12)
    st = lw.load(parts).with_(start={"J": q, "J.v": v}).system.start
    assert st["J"][4:] == pytest.approx(q[4:], abs=1e-12) and st["J.v"] == pytest.approx(v, abs=1e-12)
    with refused(lw.AssemblyError, loop="J"):
        assert lw.load(on_one_joint("free", start={"J": q, "J.x": 0.5})).system.start  # twice in one file is a contradiction
    path = lw.load(whole).save(tmp_path / "m.yaml")
    words = ["--set", "J=[1, 0, 0, 0, 50 mm, 2, 3]", "--set", "J.v=[0, 0, 0, 1, 2 mm/s, 3]", "--channels", "J.x,J.y,J.z", "--json"]
    assert cli.main(["simulate", str(path), "1", "--undriven", "--sample-interval", "1", *words]) == 0
    found = json.loads(capsys.readouterr().out)["channels"]
    assert [found[k]["values"][-1] for k in ("J.x", "J.y", "J.z")] == pytest.approx([1.05, 2.002, 6.0], abs=1e-9)  # no force: straight on
    assert cli.main(["simulate", str(path), "1", "--undriven", "--set", "J=[1, 2]"]) == 1
    assert "(free: qw, qx, qy, qz, x, y, z) must have 7 entries, not 2" in capsys.readouterr().err
