"""MJCF files of our own, one for each way in which loops, joints and actuators are written."""

from __future__ import annotations

from pathlib import Path

TREE = """
<mujoco model="tree">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default>
    <joint damping="0.05" armature="0.01"/>
    <default class="arm"><joint axis="0 1 0" stiffness="3" springref="20"/></default>
  </default>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.9" euler="10 20 30">
      <freejoint name="root"/>
      <inertial mass="4" pos="0.01 0.02 -0.03" fullinertia="0.05 0.06 0.07 0.001 -0.002 0.003"/>
      <site name="imu" pos="0 0 0.1" euler="0 0 45"/>
      <body name="hip" pos="0 0.1 -0.1" childclass="arm">
        <joint name="yaw" axis="0 0 1" pos="0 0 0.02" ref="15"/>
        <joint name="roll" axis="1 0.2 0" pos="0.03 0 0"/>
        <joint name="lift" type="slide" axis="0 1 1" ref="0.05" stiffness="80" springref="0.1"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0.05 -0.3" mass="1.2"/>
        <body name="cover" pos="0 0.02 -0.1" euler="5 0 0"><geom type="box" size="0.03 0.02 0.05" density="700"/></body>
        <body name="shin" pos="0 0.05 -0.3">
          <joint name="knee" ref="-30" range="-100 20"/>
          <geom type="cylinder" size="0.03 0.1" pos="0 0 -0.1" mass="0.7"/>
          <site name="toe" pos="0 0 -0.2"/>
        </body>
      </body>
      <body name="tail" pos="-0.2 0 0">
        <joint name="tail" type="ball" damping="0.2" pos="0.05 0 0"/>
        <geom type="ellipsoid" size="0.1 0.03 0.02" pos="-0.1 0 0" mass="0.4"/>
      </body>
    </body>
    <body name="flap" pos="1 0 0"><joint axis="0 0 1"/><geom type="box" size="0.1 0.2 0.01" pos="0.1 0 0" mass="0.5"/></body>
  </worldbody>
</mujoco>
"""

FOUR_BAR = """
<mujoco model="fourbar">
  <compiler angle="degree"/>
  <option gravity="0 -9.81 0"/>
  <default><joint axis="0 0 1" armature="0.001" damping="0.02"/><geom type="capsule" size="0.01" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="crank"><joint name="A" ref="10"/><geom mass="0.3" fromto="0 0 0 0 0.3 0"/>
      <body name="coupler" pos="0 0.3 0"><joint name="B"/><geom mass="0.9" fromto="0 0 0 0.7 0.3 0"/>
        <site name="c1" pos="0.7 0.3 0"/><site name="c1z" pos="0.7 0.3 0.1"/></body></body>
    <body name="rocker" pos="0.8 0 0"><joint name="D"/><geom mass="0.8" fromto="0 0 0 -0.1 0.6 0"/>
      <site name="c2" pos="-0.1 0.6 0"/><site name="c2z" pos="-0.1 0.6 0.1"/></body>
    <body name="wheel" pos="2 0 0"><joint name="E" ref="5"/><geom type="cylinder" size="0.1 0.01" mass="0.2"/></body>
  </worldbody>
  <equality>{equality}</equality>
</mujoco>
"""

CLOSURES = {
    "connect bodies": '<connect name="C" body1="coupler" body2="rocker" anchor="0.7 0.3 0"/>',
    "connect sites": '<connect name="C" site1="c1" site2="c2"/>',
    "two points": '<connect name="C" site1="c1" site2="c2"/><connect name="Cz" site1="c1z" site2="c2z"/>',
    "coupled": '<connect name="C" site1="c1" site2="c2"/><joint name="belt" joint1="E" joint2="A" polycoef="0.1 -2 0 0 0"/>',
}

COUPLED = """
<mujoco model="coupled">
  <compiler angle="radian"/>
  <default><joint axis="0 0 1" damping="0.1"/><geom type="capsule" size="0.02"/></default>
  <worldbody>
    <body name="a"><joint name="A" ref="0.2"/><geom fromto="0 0 0 0.3 0 0" mass="1"/>
      <body name="b" pos="0.3 0 0"><joint name="B" type="slide" axis="1 0 0" ref="0.1"/><geom fromto="0 0 0 0.3 0.1 0" mass="0.7"/>
        <body name="c" pos="0.3 0 0"><joint name="C" axis="0 1 0"/><geom fromto="0 0 0 0.2 0 0.1" mass="0.5"/></body></body></body>
    <body name="d" pos="0 1 0"><joint name="D" ref="-0.3"/><geom fromto="0 0 0 0.1 0.3 0" mass="0.4"/></body>
  </worldbody>
  <tendon><fixed name="sum"><joint joint="A" coef="1"/><joint joint="B" coef="-3"/><joint joint="C" coef="0.5"/></fixed>
    <fixed name="one"><joint joint="D" coef="2"/></fixed></tendon>
  <equality>{equality}</equality>
</mujoco>
"""

COUPLINGS = {
    "polynomial": '<joint name="k" joint1="D" joint2="A" polycoef="0.1 -0.7 0.4 0.2 -0.1"/>',
    "tendon": '<tendon name="k" tendon1="sum" polycoef="0.05 0 0 0 0"/>',
    "two tendons": '<tendon name="k" tendon1="sum" tendon2="one" polycoef="0.05 -1.5 0 0 0"/>',
}

SPLIT = """
<mujoco model="split">
  <option gravity="0 -9.81 0"/>
  <default><joint axis="0 0 1" damping="0.02"/><geom type="capsule" size="0.01" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="crank"><joint name="A"/><geom mass="0.3" fromto="0 0 0 0 0.3 0"/>
      <body name="coupler" pos="0 0.3 0"><joint name="B"/><geom mass="0.45" fromto="0 0 0 0.35 0.15 0"/></body></body>
    <body name="rocker" pos="0.8 0 0"><joint name="D"/><geom mass="0.8" fromto="0 0 0 -0.1 0.6 0"/>
      <body name="half" pos="-0.1 0.6 0" euler="0 0 90"><joint name="C"/><geom mass="0.45" fromto="0 0 0 -0.15 0.35 0"/></body></body>
  </worldbody>
  <equality>{weld}</equality>
</mujoco>
"""

WELDS = {
    "as at qpos0": '<weld name="W" body1="coupler" body2="half"/>',
    "with an anchor": '<weld name="W" body1="half" body2="coupler" anchor="0.2 0.1 0.3"/>',
    "with a pose": '<weld name="W" body1="coupler" body2="half" relpose="0.7 0.3 0 0.7071067811865476 0 0 0.7071067811865476"/>',
}

SPATIAL = """
<mujoco model="rssr">
  <worldbody>
    <body name="arm"><joint name="A" axis="0 0 1"/><inertial mass="1" pos="0.15 0 0" diaginertia="0.01 0.02 0.025"/>
      <body name="rod" pos="0.3 0 0.1"><joint name="S" type="ball"/>
        <inertial mass="0.5" pos="0.02 0.2 0.1" diaginertia="0.02 0.01 0.02"/>
        <body name="tip" pos="0 0.4 0.2"/></body></body>
    <body name="lever" pos="0.5 0.4 0"><joint name="D" axis="0 1 0.3"/>
      <inertial mass="2" pos="0 0 0.1" diaginertia="0.02 0.03 0.04"/></body>
  </worldbody>
  <equality><connect name="Q" body1="tip" body2="lever" anchor="0.01 0 0.02"/></equality>
</mujoco>
"""


def written(folder: Path, text: str, name: str = "model.xml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
