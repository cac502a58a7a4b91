"""Contacts from collision elements of URDF and SDF: gaps by hand, friction, links that stand, what has no closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.contact import contact_gaps, touches
from linkwright.rings.exchange import ImportedModelWarning
from linkwright.system.compiled import compiled_of

MASS = '<inertial><mass value="1.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'


def ball(name: str, radius: float, xyz: str = "0 0 0") -> str:
    return f'<collision name="{name}"><origin xyz="{xyz}"/><geometry><sphere radius="{radius}"/></geometry></collision>'


WALKER = f"""<robot name="walker">
  <link name="trunk">{MASS}{ball("hull", 0.1)}</link>
  <link name="leg">{MASS}{ball("knee", 0.05)}</link>
  <link name="foot">{ball("toe", 0.02, "0.1 0 0")}{ball("left", 0.02, "-0.1 0.1 0")}{ball("right", 0.02, "-0.1 -0.1 0")}
    <collision name="can"><geometry><cylinder radius="0.1" length="0.1"/></geometry></collision></link>
  <joint name="slide" type="prismatic"><parent link="trunk"/><child link="leg"/><origin xyz="0 0 -0.2"/><axis xyz="0 0 1"/>
    <limit lower="-0.01" upper="0" effort="1" velocity="1"/></joint>
  <joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/><origin xyz="0 0 -0.2"/></joint>
  <gazebo reference="foot"><mu1>0.6</mu1></gazebo>
</robot>"""


def gaps(m: lw.Mechanism) -> dict[str, float]:
    found = contact_gaps(compiled_of(m.system).skel, m.system.start.q)["g"]
    return {t.name: float(g) for t, g in zip(touches(m.description), found, strict=True)}


def test_feet_of_a_urdf_stand_on_a_floor(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(WALKER)
    with pytest.warns(ImportedModelWarning, match="cylinder and plane"):
        m = lw.load(tmp_path / "r.urdf", base="free", contacts=["foot"], start={"base.z": 0.5})
    assert [(x.name, x.first, x.second, x.mu) for x in m.description.contacts] == [
        ("foot_ground", ("toe", "left", "right"), ("floor",), 0.6)
    ]
    assert gaps(m) == {f"foot_ground.{x}": pytest.approx(0.5 - 0.4 - 0.02, abs=1e-12) for x in ("toe", "left", "right")}
    run = m.simulate(0.5)
    assert run.certificate.ok
    assert run["base.z"][-1] == pytest.approx(0.42, abs=1e-9)  # the trunk rests on the upper stop of the slide
    forces = sum(run[f"foot_ground.{x}.force"][-1] for x in ("toe", "left", "right"))
    assert forces == pytest.approx(3.0 * 9.81, rel=1e-9)  # two links of 1.5 kg at rest


def test_links_that_a_joint_connects_do_not_touch(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(WALKER)
    with pytest.warns(ImportedModelWarning):
        every = lw.load(tmp_path / "r.urdf", base="free", contacts="ground").description.contacts
    assert [(x.name, x.mu) for x in every] == [("trunk_ground", 1.0), ("leg_ground", 1.0), ("foot_ground", 0.6)]
    for pair in ("trunk with leg", "trunk with foot", "leg with foot"):
        with pytest.raises(lw.UsageError, match="can touch"):
            lw.load(tmp_path / "r.urdf", base="free", contacts=[pair])


def test_without_the_option_shapes_are_counted(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(WALKER)
    m = lw.load(tmp_path / "r.urdf")
    assert not m.description.surfaces
    assert any(x.startswith("6 collision shapes") for x in m.imported.dropped)


WORLD = """<sdf version="1.9"><world name="w"><gravity>0 0 -9.81</gravity>
  <model name="slope"><static>true</static><pose>0 0 0.3 0 0.4 0</pose><link name="plate"><collision name="top">
    <pose>0 0 0.1 0 0 0</pose><geometry><plane><normal>0 0 1</normal><size>1 1</size></plane></geometry>
    <surface><friction><ode><mu>0.9</mu></ode></friction></surface></collision></link></model>
  <model name="gripper"><pose>0.2 0 2 0.3 0 0</pose>
    <link name="finger"><collision name="pad"><pose>0.1 0 0 0 0 0.5</pose><geometry><box><size>0.2 0.1 0.06</size></box></geometry>
      <surface><friction><ode><mu>0.5</mu></ode></friction></surface></collision></link>
    <link name="ball"><pose>0.4 0.3 0.2 0 0 0</pose><collision name="skin">
      <geometry><sphere><radius>0.05</radius></sphere></geometry></collision></link>
    <link name="bar"><pose>-1 0 0 0.7 0 0</pose><collision name="rod">
      <geometry><capsule><radius>0.03</radius><length>0.4</length></capsule></geometry></collision></link>
  </model></world></sdf>"""


def rot(axis: str, a: float) -> np.ndarray:
    c, s = np.cos(a), np.sin(a)
    return np.array(
        {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]
    )


def test_gaps_and_friction_of_an_sdf_world(tmp_path: Path) -> None:
    (tmp_path / "w.sdf").write_text(WORLD)
    names = [x for x in lw.load(tmp_path / "w.sdf").system.description.bodies if x.name.endswith(("finger", "ball", "bar"))]
    finger, ball, bar = (x.name for x in names)
    m = lw.load(tmp_path / "w.sdf", contacts=["ground", f"{finger} with {ball}"])
    mus = {x.name: x.mu for x in m.description.contacts}
    assert sorted(mus.values()) == [0.5, 0.5, 0.9, 0.9]  # the smaller one of both: pad 0.5, plane 0.9, others 1
    n = rot("y", 0.4)[:, 2]
    on_plane = np.array([0, 0, 0.3]) + 0.1 * n
    R = rot("x", 0.3)
    center = np.array([0.2, 0, 2]) + R @ [0.4, 0.3, 0.2]
    found = gaps(m)
    assert found[f"{ball}_ground"] == pytest.approx((center - on_plane) @ n - 0.05, abs=1e-12)
    along = R @ rot("x", 0.7)[:, 2]
    ends = [np.array([0.2, 0, 2]) + R @ [-1, 0, 0] + s * 0.2 * along for s in (-1, 1)]
    rod = sorted(g for name, g in found.items() if name.startswith(f"{bar}_ground"))
    assert rod == pytest.approx(sorted((e - on_plane) @ n - 0.03 for e in ends), abs=1e-12)
    pad = np.array([0.2, 0, 2]) + R @ [0.1, 0, 0]
    B = R @ rot("z", 0.5)
    apart = B.T @ (center - pad)
    outside = np.linalg.norm(np.maximum(np.abs(apart) - [0.1, 0.05, 0.03], 0.0))
    assert found[f"{finger}_{ball}"] == pytest.approx(outside - 0.05, abs=1e-12)
