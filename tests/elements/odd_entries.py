"""Entries whose keys and values are good one by one and not together, or inside lists: each is taken as it is."""

from __future__ import annotations

from tests.elements.good_entries import ACROSS, LINE, MOVES, Good, good

TURNS = "[{to: 10, in: 200}, {to: 0, in: 200}]"
STRAIGHT = "[{to: 10, in: 120, law: straight}, {dwell: 60}, {to: 0, in: 180}]"
LAW = "[{to: 10, in: 120, law: cycloid}]"


def _pulleys(first: str, second: str, **more: str) -> Good:
    return good("belts", "plane", around=f"[{first}, {second}]", **more)


def _cam(**pairs: str) -> Good:
    return good("cams", "plane", **{"from_": "A", "to": "lift", "roller": "{at: ram.R, radius: 8}", **pairs})


def _coupling(**pairs: str) -> Good:
    return good("couplings", "plane", **{"from_": "A", "to": "lift", **pairs})


def _motor(more: str, base: str = "plane") -> Good:
    return good("drive", base, "A", dc_motor=f"{{Kt: 0.05 N m/A, R: 1 ohm, {more}}}")


SPRINGS = (
    good("springs", "plane", between=LINE, force="60 N", length="800", stroke="900"),
    good("springs", "plane", between=LINE, force="60 N", length="800", stroke="800", progression="0.5"),
    good("springs", "plane", joint="weld", stiffness="3 N m/rad"),
    good("springs", "plane", joint="swing", stiffness="3 N m/rad"),
    good("springs", "plane", joint="swing.x", stiffness="3 N/m"),
    good("springs", "plane", joint="swing.z", stiffness="3 N/m"),
    good("springs", "space", joint="hip", stiffness="3 N m/rad", free_position="20"),
    good("springs", "space", joint="hip.wx", stiffness="3 N m/rad"),
    good("springs", "space", joint="tube", stiffness="3 N m/rad"),
    good("springs", "plane", type="leaf", joint="A", stiffness="3 N m/rad"),
    good("springs", "plane", type="coil", joint="A", stiffness="3 N m/rad"),
    good("springs", "plane", type="torsion", between=LINE, stiffness="3 N m/rad"),
    good("springs", "plane", joint="A", between=LINE, stiffness="3 N m/rad"),
)
IN_JOINTS = (
    good("dampers", "plane", joint="weld", coefficient="1 N s/m"),
    good("dampers", "plane", joint="swing", coefficient="1 N s/m"),
    good("dampers", "plane", joint="swing.linear", coefficient="1 N s/m"),
    good("dampers", "space", joint="hip.wx", coefficient="1 N m s/rad"),
    good("dampers", "space", joint="tube", coefficient="1 N m s/rad"),
    good("friction", "plane", joint="swing.linear", mu="0.1"),
    good("friction", "plane", "lift", mu="0.1", radius="5"),
    good("friction", "plane", "lift", mu="0.1", breakaway="0.9"),
    good("friction", "plane", "lift", viscous="1 N s/m", breakaway="1.2"),
    good("friction", "plane", "lift", mu="0.1", stribeck="1 mm/s"),
    good("friction", "plane", "A", viscous="1 N m s/rad", speed="1"),
    good("friction", "space", "hip", mu="0.1", radius="5"),
    good("friction", "space", "tube.travel", coulomb="2 N"),
    good("stops", "plane", "A", range="[60, -30]"),
    good("stops", "plane", "A", min="60", max="60"),
    good("stops", "plane", "A", min="-10", restitution="1.5"),
    good("stops", "plane", "A", min="-10", restitution="0.5", stiffness="1 N m/rad"),
    good("stops", "plane", "swing", min="-10"),
    good("stops", "plane", joint="jack", min="200 deg"),
    good("stops", "plane", "jack", range="[100, 900]", stiffness="20 N/mm"),
    good("stops", "space", "hip", min="-10", stiffness="1 N m/rad"),
    good("stops", "space", "hip.wx", min="-10"),
    good("stops", "space", "knee.angle2", max="10"),
)
LOADS = (
    good("loads", "plane", on="coupler.P", moment="[0 N m, 0 N m, 1 N m]"),
    good("loads", "plane", on="coupler.P", force="[1 N, 2 N, 3 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: Z, table: [[0, 0 N], [1, 1 N]]}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, table: [[0, 0 N]]}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, table: [[0, 0 N], [0, 1 N]]}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, table: [[0, 0 N], [1, 1 N]], interpolation: spline}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, table: [[0, 0 N], [1, 1 N]], interpolation: periodic}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, table: [[0, 0 N], [1, 1 N]], x: [1]}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[{over: A, csv: nowhere.csv}, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[1 N / (p - 1.5), 0 N]"),
    good("loads", "plane", on="coupler.P", force="[2 N * Z.v, 0 N]"),
    good("loads", "plane", on="coupler.P", force="[2 N * A.v, 0 N]"),
    good("loads", "plane", on="coupler", force="[2 N, 0 N]"),
    good("loads", "plane", on="nobody", moment="1 N m"),
    good("loads", "space", on="b", moment="1 N m"),
    good("loads", "space", on="b.P", force="[1 N, 2 N]"),
    good("loads", "space", on="b.P", force="[1 N, 2 N, 0 N]", axes="nobody"),
)
LINES = (
    good("rods", "plane", between="[ground.A, crank.A]"),
    good("rods", "plane", between="[ground.A, crank.A]", length="0"),
    good("rods", "plane", between="[ground.A, ground.E]"),
    good("rods", "space", between="[ground.M, nut.M]"),
    good("cylinders", "plane", between="[ground.A, crank.A]", force="2 N"),
    good("cylinders", "plane", between=LINE, bore="20", rod="20", pressure="1 bar"),
    good("cylinders", "plane", between=LINE, rod="20"),
    good("cylinders", "plane", between=LINE, pressure="1 bar"),
    good("cylinders", "plane", between=LINE, pressure="1 bar", force="2 N", bore="20"),
    good("cylinders", "plane", between=LINE, stroke="[0, 500]"),
    good("cylinders", "plane", between=LINE, stroke="[500, 200]"),
    good("cylinders", "plane", between=LINE, stroke="[2 deg, 500]"),
    good("cylinders", "plane", between=LINE, pressure="{over: t, table: [[0 s, 0 bar], [1 s, 5 bar]]}", bore="20"),
    good("cylinders", "plane", "lift", between=LINE),
    good("cylinders", "space", between=ACROSS, force="2 N s/m * jack.v"),
)
TIES = (
    good("gears", "plane", joints="[A, D]", radii="[100, 200]", pressure_angle="70"),
    good("gears", "plane", joints="[A, A]", radii="[100, 200]"),
    good("gears", "plane", joints="[A, lift]", radii="[100, 200]"),
    good("gears", "plane", joints="[A, swing]", radii="[100, 200]"),
    good("gears", "plane", joints="[A, D]", radii="[100, 0]"),
    good("gears", "plane", joints="[A, D]", radii="[100, 200]", teeth="[20, 50]", module="20"),
    good("gears", "plane", pinion="lift", rack="A", radius="80"),
    good("gears", "plane", pinion="A", rack="D", radius="80"),
    good("gears", "plane", pinion="A", rack="lift", radius="80", internal="true"),
    _coupling(ratio="0"),
    _coupling(ratio="0 mm/deg"),
    _coupling(ratio="0 mm/deg", offset="1", table="[[0, 0], [90, 5]]"),
    _coupling(polynomial="[5]"),
    _coupling(polynomial="[5, 0 mm/deg]"),
    _coupling(polynomial="[5, 1 mm/deg]", ratio="1 mm/deg"),
    _coupling(plus="{D: 1 mm/deg, lift: 2}"),
    _coupling(plus="{A: 1 mm/deg}"),
    _coupling(plus="{Z: 1 mm/deg}"),
    _coupling(table="[[0, 0], [90, 5]]", interpolation="linear"),
    _coupling(table="[[0, 0], [360, 5]]", interpolation="periodic"),
    _coupling(table="[[0, 0]]"),
    _coupling(csv="nowhere.csv"),
    _coupling(moves=MOVES, ratio="1 mm/deg"),
    _coupling(moves=STRAIGHT),
    _coupling(moves=LAW),
    _coupling(moves="[{dwell: 20, law: 345}]"),
    _coupling(moves="[{to: 20}]"),
    _coupling(moves="[{to: 20, in: 0}]"),
    _coupling(moves="[{to: 20, in: 90, dwell: 3}]"),
    _coupling(from_="swing"),
    _coupling(to="weld"),
    good("couplings", "space", from_="hip", to="lift"),
)
CAMS = (
    _cam(moves=TURNS),
    _cam(moves="[{to: 10, in: 360}]"),
    _cam(moves=STRAIGHT),
    _cam(table="[[0, 0], [400, 0]]"),
    _cam(table="[[0, 0], [360, 5]]"),
    _cam(table="[[0, 0], [180, 5]]", interpolation="linear"),
    _cam(from_="lift", moves=MOVES),
    _cam(to="A", moves=MOVES),
    _cam(roller="{at: crank.B, radius: 8}", moves=MOVES),
    _cam(roller="{at: ram.R, radius: -8}", moves=MOVES),
    _cam(roller="{at: ram.R}", moves=MOVES),
    _cam(roller="{at: ram.R, radius: 8, width: 3}", moves=MOVES),
    good("cams", "plane", from_="A", to="lift", flat="[ram.R, ram.R]", moves=MOVES),
    good("cams", "plane", from_="A", to="lift", flat="ram.R", groove="true", moves=MOVES),
    good("cams", "plane", from_="A", to="D", flat="rocker.C", moves=MOVES),
    good("cams", "plane", from_="A", to="D", flat="[rocker.C, rocker.D]", moves=MOVES),
)
BELTS = (
    _pulleys("{joint: A, radius: 20}", "{at: ground.E, radius: 40}"),
    _pulleys("{joint: A, radius: 20, at: ground.E}", "{joint: D, radius: 40}"),
    _pulleys("{joint: lift, radius: 20}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A, radius: 20, turn: left}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A, radius: 20}", "{joint: D, radius: 400}"),
    _pulleys("{joint: A, radius: 20, body: rocker}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A, radius: 20, body: ground}", "{joint: D, radius: 40}"),
    _pulleys("{at: ground.E, radius: 20, body: ground}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A, radius: 20, teeth: 5}", "{joint: D, radius: 40}", pitch="5"),
    _pulleys("{joint: A, teeth: 5}", "{joint: D, radius: 40}"),
    _pulleys("{joint: A, radius: 20}", "{joint: D, radius: 40}, {at: ground.E, radius: 9}", crossed="true"),
    _pulleys("{joint: A, radius: 20}", "{joint: D, radius: 40}, {at: ground.E, radius: 9}", pretension="5 N"),
    _pulleys("{joint: A, radius: 20}", "{joint: D, radius: 40}, bob.I", pretension="5 N"),
    good("belts", "plane", path="[{joint: A, radius: 50}, bob.I]"),
    good("belts", "plane", path="[{at: ground.E, radius: 50}, bob.I]"),
    good("belts", "plane", path="[ground.A, bob.I]", pretension="5 N"),
    good("belts", "plane", path="[ground.A, {at: crank.A, radius: 5}, bob.I]"),
    good("belts", "plane", path="[ground.A]"),
    good("belts", "plane", "crank", path="[ground.A, bob.I]"),
)
DRIVES = (
    good("drive", "plane", "A", force="2 N"),
    good("drive", "plane", "A", torque="2 N m", gear_ratio="0"),
    good("drive", "plane", "A", torque="2 N m", play="1"),
    good("drive", "plane", "A", speed="60 rpm", play="-1"),
    good("drive", "plane", "A", speed="60 rpm", restitution="0.5"),
    good("drive", "plane", "A", torque="2 N m", limits="-2 N m"),
    good("drive", "plane", "A", torque="2 N m", limits="[5 N m, -5 N m]"),
    good("drive", "plane", "A", torque="2 N m", limits="[none, 5 N m]"),
    good("drive", "plane", "A", speed="2 rpm", limits="5 N m"),
    good("drive", "plane", "A", position="{over: t, table: [[0 s, 0], [1 s, 90]], interpolation: linear}"),
    good("drive", "plane", "A", moves="[{to: 90}]"),
    good("drive", "plane", "swing", speed="2 rpm"),
    good("drive", "plane", "weld", speed="2 rpm"),
    good("drive", "space", "hip", torque="2 N m"),
    _motor("gear_ratio: 0"),
    _motor("L: -1 mH"),
    _motor("L: 1 mH, time_constant: 1 ms"),
    _motor("efficiency: 1.2"),
    _motor("efficiency: 0.8, voltage: 12 V * sin(t * 1 rad/s)"),
    _motor("speed: 5 rpm"),
    _motor("gear_ratio: 20 rad/mm", "space"),
)
ODD_ENTRIES = (*SPRINGS, *IN_JOINTS, *LOADS, *LINES, *TIES, *CAMS, *BELTS, *DRIVES)
WHOLE = (  # two sections, or an entry that is a text: section it belongs to, base, lines
    ("drive", "plane", "drive: A"),
    ("drive", "plane", "drive: [A, D]"),
    ("drive", "plane", "drive: [A, A]"),
    *(("drive", "plane", f"drive: {{A: {x}}}") for x in ("45 rpm", "90 deg", "2 N m", "3 N", "4 kg", "5", "undriven", "t", "p * 2 rpm")),
    *(("drive", "plane", f"drive: {{lift: {x}}}") for x in ("20 mm/s", "50 mm", "100 N", "3 N m", "45 rpm")),
    ("drive", "plane", "drive: {jack: 20 mm/s}"),
    ("drive", "plane", "drive: {A: 45 rpm}\nstart: {A: 20, Z: 3, A.v: 4}"),
    ("cams", "plane", f"couplings: {{x: {{from: A, to: D}}}}\ncams: {{x: {{from: A, to: lift, flat: ram.R, moves: {MOVES}}}}}"),
    ("stops", "plane", "stops: {lift: {max: 5}}\nrepeat: {i: 1..2, stops: {'lift': {min: -5}}}"),
    ("cylinders", "plane", f"cylinders: {{c: {{between: {LINE}, stroke: [100, 500]}}}}\nstops: {{c: {{max: 400}}}}"),
    ("springs", "plane", "springs: {x: {joint: A, stiffness: 1 N m/rad}}\nbushings: {y: {between: [ground.E, coupler.P]}}"),
    ("friction", "plane", "frictions: {A: {coulomb: 1 N m}}"),
    ("drive", "plane", "drives: {A: 45 rpm}"),
    ("drive", "plane", "motors: {A: 45 rpm}"),
)
