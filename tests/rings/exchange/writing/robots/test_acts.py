"""Springs, dampers, friction, stops, couplings and drives in URDF and SDF, counted from the start."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.model.description import Placement, Stop, Visual
from linkwright.rings.exchange import LossWarning
from linkwright.rings.exchange.writing.robots import sdf_text, urdf_text
from linkwright.system.system import System
from tests.refusals import refused
from tests.rings.exchange.writing import states
from tests.rings.exchange.writing.test_mujoco import tetrahedron

ARM = {
    "plane": "xy", "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0], "G": [0, 1]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["G"]},
        "upper": {"pins": ["A", "B"], "mass": 2},
        "lower": {"pins": ["B"], "points": {"T": [1.5, 0]}, "mass": 1, "com": [1.2, 0], "inertia": 0.1},
    },
    "springs": {"turn": {"joint": "A", "stiffness": 4, "free_position": 0.1, "preload": 2},
                "more": {"joint": "A", "stiffness": 1, "free_position": 1},
                "coil": {"between": ["ground.G", "upper.B"], "stiffness": 50, "free_length": 1, "preload": 5}},
    "dampers": {"oil": {"joint": "B", "coefficient": 0.3}},
    "friction": {"B": {"coulomb": 0.2, "viscous": 0.1}},
    "loads": {"push": {"on": "lower.T", "force": [1, 0]}},
    "drive": ["A"], "start": {"A": 0.5, "B": -0.25, "A.v": 1},
}  # fmt: skip


def arm() -> System:
    d = lw.load(ARM).description
    joints = tuple(replace(j, armature=0.02) if j.name == "A" else j for j in d.joints)
    stops = (Stop("end", "A", None, -1.0, 2.0), Stop("pad", "B", 1e4, None, 0.75))
    return System(replace(d, joints=joints, stops=stops, drives=(replace(d.drives[0], gear_ratio=5.0, limits=(-30.0, 30.0)),)))


def test_urdf_has_limits_damping_and_transmissions() -> None:
    found = urdf_text(arm())
    root = xml.fromstring(found.text)
    A, B = (next(e for e in root.findall("joint") if e.get("name") == name) for name in "AB")
    limit = A.find("limit")
    assert (
        A.get("type") == "revolute"
        and limit is not None
        and limit.attrib == {"lower": "-1.5", "upper": "1.5", "effort": "30", "velocity": "1000000000"}
    )
    dynamics = B.find("dynamics")
    assert dynamics is not None and dynamics.attrib == {"damping": "0.4", "friction": "0.2"}
    assert found.zeros == {"A": pytest.approx(0.5), "B": pytest.approx(-0.25)}
    actuator = root.find("transmission/actuator")
    assert actuator is not None and actuator.findtext("mechanicalReduction") == "5" and "rotor_inertia" in actuator[1].tag
    spring = next(e for e in root if "linear_spring_damper" in e.tag)
    assert [float(e.get("value", "")) for e in spring if "length" in e.tag] == [pytest.approx(0.9)]  # free - preload / stiffness
    assert {x.name for x in found.lost} == {
        "A",
        "B",
        "push",
    }  # spring in A and its speed; stiffness of the stop of B; load


def test_sdf_has_springs_too() -> None:
    found = sdf_text(arm())
    axis = next(e for e in xml.fromstring(found.text).iter("joint") if e.get("name") == "A").find("axis")
    assert axis is not None and axis.findtext("dynamics/spring_stiffness") == "5"
    assert float(axis.findtext("dynamics/spring_reference", "")) == pytest.approx((4 * 0.1 + 2 + 1 * 1) / 5 - 0.5)
    assert axis.findtext("limit/effort") == "30" and axis.findtext("limit/lower") == "-1.5"
    other = next(e for e in xml.fromstring(found.text).iter("joint") if e.get("name") == "B").find("axis")
    assert other is not None and other.findtext("limit/stiffness") == "10000" and other.findtext("limit/lower") is None


def test_gears_couplings_and_screws_are_mimics() -> None:
    m = lw.load(states.GEARED)
    mimic = xml.fromstring(urdf_text(m).text).find("joint/mimic")
    assert mimic is not None and mimic.attrib == {"joint": "A", "multiplier": "-0.5", "offset": "0"}
    follower = xml.fromstring(sdf_text(m).text).find("world/model/joint/axis/mimic")
    assert follower is not None and follower.findtext("multiplier") == "-0.5"
    screw = lw.load({
        "bodies": {"ground": {}, "nut": {"mass": 1, "com": [0, 0, 0], "inertia": [1, 1, 1]}},
        "joints": {"S": {"type": "screw", "between": ["ground", "nut"], "at": [0, 0, 0], "axis": [0, 0, 1], "pitch": "5 mm/turn"}},
    })  # fmt: skip
    joints = {e.get("name"): e for e in xml.fromstring(urdf_text(screw).text).findall("joint")}
    mimic = joints["S_travel"].find("mimic")
    assert mimic is not None and float(mimic.get("multiplier", "")) == pytest.approx(0.005 / 6.283185307179586)
    native = xml.fromstring(sdf_text(screw).text).find("world/model/joint")
    assert native is not None and native.get("type") == "screw" and float(native.findtext("screw_thread_pitch", "")) == pytest.approx(0.005)


def test_files_and_their_refusals(tmp_path: Path) -> None:
    m = lw.load("wiper")
    with pytest.warns(LossWarning, match="URDF: 'wiper' loses C .it closes a loop"):
        m.export(tmp_path / "a.urdf")
    with pytest.warns(LossWarning, match="only named as driven"):
        assert m.export(tmp_path / "b.urdf", dialect="gepetto") == tmp_path / "b.urdf" and (tmp_path / "b.yaml").exists()
    with pytest.warns(LossWarning):
        m.export(tmp_path / "b.urdf", dialect="gepetto")  # its own files
    (tmp_path / "c.yaml").write_text("name: mine")
    with refused(UsageError, file="c.yaml"):
        m.export(tmp_path / "c.urdf", dialect="gepetto")
    assert not (tmp_path / "c.urdf").exists() and (tmp_path / "c.yaml").read_text() == "name: mine"
    with refused(UsageError, name="urdf"):
        m.export(tmp_path / "c.urdf", dialect="urdf")
    with refused(UsageError, name="two-parents"):
        m.export(tmp_path / "c.urdf", dialect="two-parents", zero="model")
    with refused(UsageError, name="zero", value="here"):
        m.export(tmp_path / "c.urdf", zero="here")
    with pytest.warns(LossWarning, match="gravity"):
        m.export(tmp_path / "d.sdf", alone=True)
    assert "<world" not in (tmp_path / "d.sdf").read_text()


def test_zero_of_the_model() -> None:
    found = urdf_text(lw.load("four-bar"), dialect="constraint", zero="model")
    assert set(found.zeros.values()) == {0.0}


@pytest.mark.parametrize("file", ["shown.urdf", "shown.sdf", "shown.xml"])
def test_shapes_are_where_they_were(file: str, tmp_path: Path) -> None:
    """A box, a cylinder, a sphere and a mesh on a link, read again: the same shapes at the same places in the world."""
    (tmp_path / "rod.stl").write_bytes(tetrahedron())
    d = lw.load("four-bar").description
    at = Placement((0.1, 0.2, 0.3), ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    shapes = (
        Visual("box", (0.2, 0.4, 0.6), at, color="#ff0000"), Visual("cylinder", (0.1, 0.5, 0.0), at), Visual("sphere", (0.3, 0.0, 0.0)),
        Visual("mesh", (0.001, 0.001, 0.001), file=str(tmp_path / "rod.stl")),
    )  # fmt: skip
    m = lw.Mechanism(
        replace(
            d, drives=(), gravity=(0.0, 0.0, -9.81), bodies=tuple(replace(b, visuals=shapes) if b.name == "rocker" else b for b in d.bodies)
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossWarning)
        copy = lw.load(m.export(tmp_path / file, **({"dialect": "onshape"} if file.endswith(".urdf") else {})))
    found = copy.description.body("rocker").visuals
    assert [x.shape for x in found] == ["box", "cylinder", "sphere", "mesh"] and found[0].color == "#ff0000"
    for ours, theirs in zip(shapes, found, strict=True):
        if ours.shape != "mesh":
            np.testing.assert_allclose(theirs.size, ours.size)
        places = [x.system.pose(x.system.start, "rocker").point(np.array(v.placement.at, float)) for x, v in ((m, ours), (copy, theirs))]
        if ours.shape != "mesh" or not file.endswith(".xml"):  # MuJoCo moves meshes to their centers
            np.testing.assert_allclose(places[1], places[0], atol=1e-9)
    assert (tmp_path / found[3].file).resolve() == (tmp_path / "rod.stl").resolve()


def test_wrong_options(tmp_path: Path) -> None:
    m = lw.load("wiper")
    for file, options, why in (
        ("a.urdf", {"dialect": ["urdf+"]}, "no dialect"), ("a.urdf", {"floor": -1}, "from 0 to 1"),
        ("a.sdf", {"floor": "much"}, "from 0 to 1"),
        ("a.xml", {"floor": float("nan")}, "from 0 to 1"), ("a.sdf", {"dialect": "urdf+"}, "has no option 'dialect'"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=why):
            m.export(tmp_path / file, **options)
    assert not list(tmp_path.iterdir())
