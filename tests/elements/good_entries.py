"""Good entries of every section of elements, in a plane and in space: the corpus of messages is made from them."""

from __future__ import annotations

from typing import NamedTuple

PLANE = """\
name: m
plane: xy
units: [mm, kg, deg]
parameters: {p: 1.5, L: 20}
drawing: {A: [0, 0], B: [60, 20], C: [250, 160], D: [300, 0], P: [160, 150], E: [100, -150], R: [0, 80], Q: [20, 80], I: [-400, -200]}
bodies:
  ground: {pins: [A, D], points: [E]}
  crank: {pins: [A, B], mass: 1}
  coupler: {pins: [B, C], points: [P], mass: 1}
  rocker: {pins: [D, C], mass: 1}
  ram: {points: [R, Q], mass: 1}
  bob: {points: [I], mass: 1}
  cap: {points: [P], mass: 1}
joints:
  lift: {type: prismatic, between: [ground, ram], at: R, axis: [0, 1]}
  swing: {type: planar, between: [ground, bob], at: I}
  weld: {type: fixed, between: [coupler, cap], at: P}
"""
SPACE = """\
name: m
units: [mm, kg, deg]
parameters: {p: 1.5, L: 20}
bodies:
  ground: {points: {A: [0, 0, 0], E: [200, 100, 0], W: [0, 500, 0], M: [600, 300, 0], N: [600, 500, 0]}}
  b: {points: {O: [0, 0, 0], P: [300, 100, 200]}, mass: 1}
  c: {points: {C: [0, 0, 0], F: [100, 200, 0]}, mass: 1}
  ball: {points: {W: [0, 0, 0], P: [0, 0, -200]}, mass: 1}
  nut: {points: {M: [0, 0, 0], P: [30, 0, 0]}, mass: 1}
  post: {points: {N: [0, 0, 0], P: [0, 40, 0]}, mass: 1}
joints:
  A: {type: revolute, connect: [ground.A, b.O], axis: [1, 2, 3]}
  knee: {type: universal, connect: [b.P, c.C], axes: [[1, 0, 0], [0, 1, 0]]}
  hip: {type: spherical, connect: [ground.W, ball.W]}
  lift: {type: prismatic, connect: [ground.M, nut.M], axis: [0, 1, 1]}
  tube: {type: cylindrical, connect: [ground.N, post.N], axis: [0, 0, 1]}
"""
BASES = {"plane": PLANE, "space": SPACE}
HELPERS = {  # of a base, unless the entry is of that section
    "plane": {"cylinders": "{jack: {between: [ground.E, coupler.P]}}"},
    "space": {"cylinders": "{jack: {between: [ground.E, b.P]}}"},
}
NEEDED = {  # by the entries of a section in a base, on top
    ("contacts", "plane"): {
        "surfaces": "{foot: {circle: bob.I, radius: 20}, hand: {circle: coupler.P, radius: 0}, wall: {line: ground.E, normal: [0, 1]}}"
    },
    ("contacts", "space"): {
        "surfaces": "{foot: {sphere: ball.P, radius: 5}, arm: {capsule: [b.O, b.P], radius: 9}, wall: {plane: ground.E, normal: [0, 0, 1]}}"
    },
}


def helpers(base: str, section: str) -> dict[str, str]:
    """Sections that an entry of a section stands next to."""
    return {key: text for key, text in (HELPERS[base] | NEEDED.get((section, base), {})).items() if key != section}


NAMELESS = "x"  # an entry whose name means nothing


class Good(NamedTuple):
    """An entry that can be read."""

    section: str
    base: str
    name: str
    pairs: tuple[tuple[str, str], ...]


def good(section: str, base: str, name: str = NAMELESS, /, **pairs: str) -> Good:
    return Good(section, base, name, tuple((key.rstrip("_"), value) for key, value in pairs.items()))


LINE = "[ground.E, coupler.P]"
ACROSS = "[ground.E, b.P]"
MOVES = "[{to: 10, in: 120}, {dwell: 60}, {to: 0, in: 180}]"
GOOD = (
    good("springs", "plane", joint="A", stiffness="3 N m/rad", free_position="20", preload="0.5 N m"),
    good("springs", "plane", type="torsion", joint="lift", stiffness="2 N/mm", preload="-5 N"),
    good("springs", "plane", type="coil", between=LINE, stiffness="p * 1 N/mm", free_length="200", preload="4 N"),
    good("springs", "plane", type="gas", between=LINE, force="60 N", length="800", stroke="500", progression="1.4"),
    good("springs", "space", joint="hip", stiffness="3 N m/rad"),
    good("springs", "space", type="coil", between=ACROSS, stiffness="2 N/mm"),
    good("springs", "plane", type="constant", between=LINE, force="7 N"),
    good(
        "springs",
        "plane",
        type="bar",
        joint="A",
        stiffness="3 N m/rad",
        end_stiffness="90 N m/rad",
        min="-20",
        max="p*20",
        free_position="5",
    ),
    good("bushings", "plane", between=LINE, stiffness="[20 N/mm, p * 5 N/mm]", damping="3 N s/m", torsion="4 N m/rad", travel="15"),
    good("bushings", "space", between=ACROSS, stiffness="20 N/mm", torsion="[4 N m/rad, 5 N m/rad, 6 N m/rad]", twist="30"),
    good("tethers", "plane", between=LINE, stiffness="2 N/mm", length="p * 100"),
    good("tethers", "space", between=ACROSS, stiffness="2 N/mm"),
    good("freewheels", "plane", joint="A", capacity="2 N m", speed="1 deg/s", drag="0.1 N m", blocks="forward"),
    good("freewheels", "space", joint="tube.travel", capacity="p * 20 N"),
    good("dampers", "plane", joint="A", coefficient="0.1 N m s/rad"),
    good("dampers", "plane", joint="lift", coefficient="30 N s/m"),
    good("dampers", "plane", between=LINE, coefficient="30 N s/m"),
    good("dampers", "space", joint="tube.travel", coefficient="30 N s/m"),
    good("dampers", "space", between=ACROSS, coefficient="p * 30 N s/m"),
    good("friction", "plane", "A", coulomb="0.2 N m", viscous="0.01 N m s/rad", speed="2 deg/s"),
    good("friction", "plane", joint="D", mu="0.1", radius="6"),
    good("friction", "plane", "lift", coulomb="3 N", speed="1 mm/s", mu="0.1"),
    good("friction", "space", joint="hip", coulomb="0.2 N m", breakaway="1.5", stribeck="1 deg/s", speed="0.1 deg/s"),
    good("friction", "space", "A", mu="0.1", radius="L/4"),
    good("stops", "plane", "A", range="[-30, 60]", restitution="0.4"),
    good("stops", "plane", joint="lift", min="-30", stiffness="20 N/mm", damping="0.2 s/m"),
    good("stops", "plane", joint="jack", max="900"),
    good("stops", "space", joint="knee.angle1", range="[-30, 60]", stiffness="40 N m/rad", damping="0.3 s/rad"),
    good("stops", "space", "lift", min="-30", max="p*30"),
    good("loads", "plane", on="coupler.P", force="[3 N, -2 N]"),
    good("loads", "plane", on="coupler.P", force='["-1.5 N s/m * coupler.P.vx", {over: A, table: [[0, 0 N], [90, 5 N]]}]', axes="body"),
    good("loads", "plane", on="coupler", moment="2 N m * sin(3 rad/s * t)"),
    good("loads", "space", on="b.P", force="[3 N, -2 N, 1 N]", axes="c"),
    good("loads", "space", on="b", moment="[0 N m, 1 N m, 0.1 N m s/rad * A.v]"),
    good("rods", "plane", between="[ground.E, bob.I]"),
    good("rods", "plane", between="[ground.E, bob.I]", length="500"),
    good("rods", "space", between="[ball.P, nut.P]", length="p * 400"),
    good("rods", "plane", between="[ground.E, bob.I]", length="700", slack="true", restitution="0.3"),
    good("rods", "space", between="[ball.P, nut.P]", slack="true"),
    good("cylinders", "plane", between=LINE, force="25 N"),
    good("cylinders", "plane", between=LINE, pressure="5 bar", bore="25", rod="12", stroke="[200, 500]"),
    good("cylinders", "plane", between=LINE, force="{over: t, table: [[0 s, 0 N], [1 s, 5 N]], interpolation: linear}"),
    good("cylinders", "space", between=ACROSS, pressure="p * 1 bar", bore="25"),
    good("gears", "plane", joints="[A, D]", radii="[100, 200]", pressure_angle="25"),
    good("gears", "plane", joints="[A, D]", teeth="[20, 50]", module="20", internal="true"),
    good("gears", "plane", pinion="A", rack="lift", radius="80"),
    good("gears", "space", pinion="A", rack="lift", teeth="20", module="4"),
    good("gears", "plane", joints="[A, D]", radii="[100, 200]", play="0.2", restitution="0.4"),
    good("couplings", "plane", from_="A", to="D", ratio="-1.5", offset="10"),
    good("couplings", "plane", from_="A", to="D", polynomial="[5, 0.5, 0.02 1/rad]", plus="{lift: 2 rad/m}"),
    good("couplings", "plane", from_="A", to="lift", table="[[0, 0], [90, 5], [180, 20]]", interpolation="cubic"),
    good("couplings", "plane", from_="A", to="lift", moves=MOVES, begin="0", phase="30"),
    good("couplings", "plane", from_="A", to="D", x="[0, 90]", y="[0, 45]"),
    good("couplings", "space", from_="A", to="lift", ratio="2 mm/rad"),
    good("couplings", "plane", from_="A", to="D", ratio="-1.5", play="2", restitution="0.1"),
    good("cams", "plane", from_="A", to="lift", roller="{at: ram.R, radius: 8}", base="40", groove="true", moves=MOVES),
    good("cams", "plane", from_="A", to="lift", flat="ram.R", base="40", table="[[0, 0], [180, 10], [360, 0]]"),
    good("cams", "plane", from_="A", to="lift", flat="[ram.R, ram.Q]", moves=MOVES, phase="10"),
    good("cams", "plane", from_="A", to="lift", flat="ram.R", base="40", moves=MOVES, lift_off="true", restitution="0.3"),
    good("cams", "space", from_="A", to="lift", roller="{at: nut.P, radius: 8}", moves=MOVES),
    good("belts", "plane", around="[{joint: A, radius: 20}, {joint: D, radius: 40}]", pretension="80 N", crossed="true"),
    good("belts", "plane", around="[{joint: A, teeth: 17}, {joint: D, teeth: 38}]", pitch="12.7", length="900"),
    good("belts", "plane", path="[{joint: A, radius: 50, turn: ccw}, {at: ground.E, radius: 40}, bob.I]", length="900"),
    good("belts", "plane", path="[{joint: A, radius: 50, turn: ccw}, {at: ground.E, radius: 40}, bob.I]", slack="true", restitution="0.2"),
    good("belts", "space", around="[{joint: A, radius: 20}, {joint: A, radius: 40}]"),
    good("surfaces", "plane", circle="coupler.P", radius="p * 10"),
    good("surfaces", "plane", ring="bob.I", radius="L"),
    good("surfaces", "plane", line="coupler.P", normal="[p, 2]"),
    good("surfaces", "plane", segment="[coupler.B, coupler.P]", radius="5"),
    good("surfaces", "plane", capsule="[coupler.B, coupler.P]", radius="p * 2"),
    good("surfaces", "plane", polygon="[coupler.B, coupler.C, coupler.P]", radius="p * 1", side="inside"),
    good("surfaces", "plane", chain="[coupler.B, coupler.C, coupler.P]", radius="2"),
    good("surfaces", "plane", arc="bob.I", radius="30", from_="-20", to="p * 50", side="inside"),
    good("surfaces", "plane", profile="crank.A", table="[[0, 20], [90, 25], [180, 30], [270, 25], [360, 20]]"),
    good("surfaces", "space", sphere="b.P", radius="p * 10"),
    good("surfaces", "space", plane="ground.E", normal="[1, p, 2]"),
    good("surfaces", "space", capsule="[b.O, b.P]", radius="L"),
    good("surfaces", "space", box="ball.P", length="p * 40", width="L", height="20", along="[1, 2, 1]", across="[1, -1, p]"),
    good("surfaces", "space", disc="c.F", radius="150", axis="[2, 1, p]"),
    good("contacts", "space", between="[[foot, arm], wall]", mu="0.3", restitution="0.5"),
    good("contacts", "plane", between="[foot, wall]", mu="0.3", restitution="0.5", jam="impact"),
    good("contacts", "plane", between="[[foot, hand], wall]", mu="p * 0.1"),
    good("clearances", "plane", "A", clearance="p * 0.1", radius="6", mu="0.1", restitution="0.3", jam="impact"),
    good("clearances", "plane", joint="lift", clearance="0.2", length="30", radius="L/4", mu="0.2"),
    good("drive", "plane", "A", speed="45 rpm"),
    good("drive", "plane", "A", torque="2 N m", gear_ratio="3", limits="[-5 N m, 20 N m]"),
    good("drive", "plane", "A", speed="60 rpm", play="1", restitution="0.2"),
    good("drive", "plane", "A", dc_motor="{Kt: 0.05 N m/A, R: 1 ohm, J: 2e-5 kg m^2, gear_ratio: 20}", play="p * 1 deg"),
    good("drive", "plane", "lift", force="2 N", limits="20 N"),
    good("drive", "plane", "jack", position="600 mm + 10 mm/s * t"),
    good("drive", "plane", "A", moves="[{to: 90, in: 2 s}, {dwell: 1 s}]"),
    good("drive", "plane", "A", dc_motor="{Kt: 0.05 N m/A, R: 1 ohm, gear_ratio: 20, voltage: 2 V}"),
    good("drive", "plane", "D", undriven="true"),
    good("drive", "space", "lift", speed="{over: t, x: [0 s, 1 s], y: [0 mm/s, 5 mm/s]}"),
)
