"""Reading drawings: hinges from pins, joints by position and by points, repeat, overrides, everything attached."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwright.errors import ModelError, UsageError
from linkwright.model.description import CoilSpring, GasSpring, Table, TorsionSpring
from linkwright.model.file import read, read_text, reread
from linkwright.text.expressions import Expr
from tests.refusals import refused

WIPER = """\
name: wiper
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [150, 260], C: [905, 750], D: [1000, 0], P: [600, 760]}
bodies:
  ground:  {pins: [A, D]}
  crank:   {pins: [A, B], mass: 0.3}
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker:  {pins: [D, C], mass: 0.8, com: [950, 380], inertia: 0.04 kg m^2}
drive: {A: 45 rpm}
"""
SCRAPER = """\
name: carpet-scraper
plane: xy
drawing: {O1: [0, 0], O2: [-0.089, 0], O4: [0.038, 0.41], A: [0.04, 0], B: [-0.03, 0.1], S: [-0.09, 0.19],
          P: [0.1, 0.34], Q: [0.26, 0.16], R: [0.07, 0.01], T: [-0.41, -0.35]}
bodies:
  ground:  {pins: [O1, O2, O4]}
  crank:   {along: {O1: 0, A: 0.038}, mass: 1.5}
  rocker:  {along: {O2: 0, B: 0.1152}, mass: 3}
  coupler: {along: {A: 0, B: 0.1152, S: 0.2304}, mass: 5}
  arm:     {along: {O4: 0, P: 0.0956, Q: 0.3346}, mass: 4.2}
  link5:   {along: {P: 0, S: 0.239}, mass: 3}
  tool:    {along: {Q: 0, R: 0.239, T: 0.8365}, mass: 10.5}
  link7:   {along: {R: 0, S: 0.239}, mass: 3}
drive: {O1: 45 rpm}
"""


def world(description, joint, side):
    """Where a joint's frame is at the start placements."""
    j = description.joint(joint)
    body, frame = (j.first, j.frame_first) if side == "F" else (j.second, j.frame_second)
    start = description.body(body).start
    R = np.array(start.rotation, dtype=float)
    return R @ np.array(frame.at, dtype=float) + start.at, R @ np.array(frame.rotation, dtype=float)


def test_the_wiper():
    d = read_text(WIPER)
    assert [b.name for b in d.bodies] == ["ground", "crank", "coupler", "rocker"] and d.plane == "xy"
    assert [(j.name, j.type, j.first, j.second) for j in d.joints] == [
        ("A", "revolute", "ground", "crank"),
        ("B", "revolute", "crank", "coupler"),
        ("C", "revolute", "coupler", "rocker"),
        ("D", "revolute", "ground", "rocker"),
    ]
    for joint, place in (("A", (0, 0, 0)), ("B", (0.15, 0.26, 0)), ("C", (0.905, 0.75, 0)), ("D", (1, 0, 0))):
        for side in "FM":
            assert world(d, joint, side)[0] == pytest.approx(place, abs=1e-15)
    rocker = d.body("rocker")
    R = np.array(rocker.start.rotation)
    assert R @ rocker.com + rocker.start.at == pytest.approx([0.95, 0.38, 0])
    assert math.atan2(R[1, 0], R[0, 0]) == pytest.approx(math.atan2(0.75, -0.095))
    (drive,) = d.drives
    assert (drive.joint, drive.kind) == ("A", "speed") and drive.value == pytest.approx(1.5 * math.pi)
    assert d.gravity == (0.0, -9.81, 0.0) and d.units == ("mm", "kg", "deg", "rpm")


def test_the_scraper():
    d = read_text(SCRAPER)
    names = {j.name: (j.first, j.second, j.pin) for j in d.joints}
    assert len(names) == 10
    assert names["S:link5"] == ("coupler", "link5", "S") and names["S:link7"] == ("coupler", "link7", "S")
    assert names["B"] == ("rocker", "coupler", "B")
    assert d.body("tool").point("T").at == (0.8365, 0.0, 0.0) and "T" not in names
    for name, inertia in (("crank", 1.5 * 0.038**2 / 12), ("arm", 4.2 * 0.3346**2 / 12), ("tool", 10.5 * 0.8365**2 / 12)):
        assert d.body(name).inertia[2][2] == pytest.approx(inertia, rel=1e-14)
    # the sketch is drawn to two digits: joints are open by about that
    for j in d.joints:
        assert np.linalg.norm(world(d, j.name, "F")[0] - world(d, j.name, "M")[0]) < 0.02


def test_a_pin_of_three_bodies_is_split_by_name():
    joints = "joints: {J9: {pin: S, between: [link5, coupler]}, J10: {pin: S, between: [link5, link7]}, "
    joints += "J1: {pin: O1, between: [ground, crank]}}\n"
    d = read_text(SCRAPER.replace("drive: {O1", "drive: {J1") + joints)
    assert {j.name for j in d.joints} == {"J1", "O2", "O4", "A", "B", "P", "Q", "R", "J9", "J10"}
    assert (d.joint("J9").first, d.joint("J9").second) == ("link5", "coupler") and d.joint("J9").pin == "S"
    with refused(ModelError, name="S", line=15):
        read_text(SCRAPER + "joints: {J9: {pin: S, between: [link5, coupler]}}\n")


def test_the_hub_of_a_pin_is_ground():
    d = read(
        {
            "plane": "xy",
            "drawing": {"A": [0, 0], "B": [1, 0], "C": [0, 1]},
            "bodies": {"a": {"along": {"A": 0, "B": 1}}, "b": {"along": {"A": 0, "C": 1}}, "ground": {"pins": ["A"]}},
        }
    )
    assert [(j.name, j.first, j.second) for j in d.joints] == [("A:a", "ground", "a"), ("A:b", "ground", "b")]


SLIDER = {
    "plane": "xy",
    "drawing": {"A": [0, 0], "B": [0.3, 0.4], "C": [1, 0.1]},
    "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}, "slider": {"pins": ["C"], "mass": 2}},
}


def test_a_slider_by_drawing_position_and_axis():
    d = read({**SLIDER, "joints": {"guide": {"type": "prismatic", "between": ["ground", "slider"], "at": "C", "axis": [3, 4]}}})
    guide = d.joint("guide")
    assert guide.frame_first.at == (1.0, 0.1, 0.0) and guide.frame_second.at == (0.0, 0.0, 0.0)
    expected = [[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]]
    assert np.array(guide.frame_first.rotation) == pytest.approx(np.array(expected))
    assert np.array(guide.frame_second.rotation) == pytest.approx(np.array(expected))
    assert d.joint("C").first == "rod" and d.body("slider").mass == 2.0 and d.body("slider").inertia[2][2] == 0.0


def test_axes_of_a_slider_on_a_turned_body_agree_at_the_start():
    d = read({**SLIDER, "joints": {"guide": {"type": "prismatic", "between": ["crank", "slider"], "at": "C", "axis": [1, 0]}}})
    assert np.array(world(d, "guide", "F")[1]) == pytest.approx(np.eye(3), abs=1e-15)
    assert np.array(world(d, "guide", "M")[1]) == pytest.approx(np.eye(3), abs=1e-15)


def test_a_pin_slot_replaces_the_hinge_at_its_pin():
    joints = {"C": {"type": "pin-slot", "connect": ["ground.C", "rod.C"], "slot": [1, 0]}}
    bodies = {"ground": {"pins": ["A", "C"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B", "C"]}}
    d = read({**SLIDER, "bodies": bodies, "joints": joints})
    assert [(j.name, j.type) for j in d.joints] == [("A", "revolute"), ("B", "revolute"), ("C", "pin_slot")]


def test_own_points_are_hinged_where_pins_say_so():
    bodies = {
        "ground": {"pins": ["A"]},
        "crank": {"points": {"A": [0.1, 0], "B": [0.6, 0]}, "pins": ["A", "B"]},
        "rod": {"pins": ["B", "C"]},
        "slider": {"pins": ["C"]},
    }
    d = read({**SLIDER, "bodies": bodies})
    assert d.joint("A").frame_second.at == (0.1, 0.0, 0.0)
    assert world(d, "A", "M")[0] == pytest.approx([0, 0, 0], abs=1e-15)
    assert np.array(d.body("crank").start.rotation)[:2, 0] == pytest.approx([0.6, 0.8])


def test_space_true_lifts_the_drawing():
    d = read_text(WIPER + "space: true\n")
    assert d.plane is None and len(d.joints) == 4 and d.gravity == (0.0, -9.81, 0.0)
    assert read_text(WIPER, space=True).plane is None and read_text(WIPER, space=False).plane == "xy"


SPACE = {
    "bodies": {
        "ground": {"points": {"O": [0, 0, 0]}},
        "arm": {"points": {"O": [0, 0, 0], "B": {"at": [1, 0, 0], "rpy": ["90 deg", 0, 0]}}},
        "tool": {"points": {"B": [0, 0, 0]}},
    },
    "guess": {"arm": {"at": [0, 0, 0], "rpy": [0, 0, "30 deg"]}, "tool": {"at": [0, 0, 1], "quat": [1, 0, 0, 0]}},
}


def test_axes_by_connect():
    joints = {
        "Z": {"type": "revolute", "connect": ["ground.O", "arm.O"], "axis": [0, 3, 4]},
        "own": {"type": "revolute", "connect": ["arm.B", "tool.B"]},
        "U": {"type": "universal", "connect": ["arm.B", "tool.B"], "axes": [[0, 0.6, 0.8], [0, 0, 2]]},
        "S": {"type": "screw", "connect": ["ground.O", "tool.B"], "axis": [1, 0, 0], "pitch": "5 mm/rad"},
    }
    d = read({**SPACE, "joints": joints})
    F, M = world(d, "Z", "F")[1], world(d, "Z", "M")[1]
    assert F[:, 2] == pytest.approx([0, 0.6, 0.8]) and pytest.approx(M, abs=1e-15) == F
    own = np.array(d.joint("own").frame_first.rotation)
    assert own == pytest.approx(np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]), abs=1e-15)
    U = d.joint("U")
    assert np.array(U.frame_first.rotation)[:, 0] == pytest.approx([0, 0.6, 0.8])
    assert np.array(U.frame_second.rotation)[:, 1] == pytest.approx([0, 0, 1])
    for j in d.joints:
        for frame in (j.frame_first, j.frame_second):
            R = np.array(frame.rotation)
            assert pytest.approx(np.eye(3), abs=1e-14) == R.T @ R and np.linalg.det(R) == pytest.approx(1.0)
    assert d.joint("S").options == (("pitch", 0.005),)


def test_repeat_writes_stages_out():
    text = """\
plane: xy
parameters: {N: 3, a: 0.5}
drawing: {P0: [0, 0]}
bodies:
  ground: {pins: [P0]}
repeat:
  i: 1..N
  drawing: {"P{i}": [i*a, 0]}
  bodies:
    "link{i}": {pins: ["P{i-1}", "P{i}"], mass: i}
  joints:
    "F{i}": {type: fixed, between: [ground, "link{i}"], at: "P{i}"}
"""
    d = read_text(text)
    assert [b.name for b in d.bodies] == ["ground", "link1", "link2", "link3"] and d.body("link3").mass == 3.0
    assert [j.name for j in d.joints if j.type == "revolute"] == ["P0", "P1", "P2"]
    assert d.numbers({"a": 2.0}).body("link2").point("P2").at == (2.0, 0.0, 0.0)
    assert len(read_text(text, N=7).bodies) == 8
    assert len(reread(reread(d, N=2), a=1).bodies) == 3
    assert len(read_text(text.replace("1..N", "1..2*N")).bodies) == 7


def test_repeat_adds_to_what_is_there():
    d = read(
        {
            "plane": "xy",
            "drawing": {"O": [0, 0]},
            "bodies": {"ground": {"pins": ["O"]}, "bar": {"pins": ["O"]}},
            "repeat": [
                {"i": "1..2", "drawing": {"A{i}": ["i", 0]}, "bodies": {"ground": {"pins": ["A{i}"]}, "leg{i}": {"pins": ["A{i}"]}}}
            ],
        }
    )
    assert [j.name for j in d.joints] == ["O", "A1", "A2"]


def test_a_thousand_stages_are_read_in_seconds():
    repeat = {
        "i": "1..1000",
        "drawing": {"P{i}": ["i", 0]},
        "bodies": {"l{i}": {"pins": ["P{i-1}", "P{i}"], "mass": 1}},
        "joints": {"F{i}": {"type": "fixed", "between": ["ground", "l{i}"], "at": "P{i}"}},
    }
    d = read({"plane": "xy", "drawing": {"P0": [0, 0]}, "bodies": {"ground": {"pins": ["P0"]}}, "repeat": repeat})
    assert len(d.bodies) == 1001


def test_overrides():
    text = WIPER.replace(
        "drive:", "parameters: {L: 300 mm, n: 45 rpm, q: 2}\nmasses: {m: {body: crank, at: B, mass: q}}\nstart: {A: 60, A.v: 45}\ndrive:"
    )
    d = read_text(text, L="0.4 m", gravity=0, cuts=["C"], name="other", start={"A": 0.5})
    assert dict(d.parameters)["L"] == 0.4 and d.gravity == (0.0, 0.0, 0.0) and d.cuts == ("C",) and d.name == "other"
    assert d.start == (("A", 0.5), ("A.v", pytest.approx(1.5 * math.pi)))
    assert read_text(text).start[0] == ("A", pytest.approx(math.pi / 3))
    # bare numbers in a call are SI, whatever the file's units
    assert dict(read_text(text, L=0.4).parameters)["L"] == 0.4
    assert read_text(text, gravity=[0, -1.62]).gravity == (0.0, -1.62, 0.0)
    again = reread(d, gravity=[0, -9.81])
    assert again.gravity == (0.0, -9.81, 0.0) and dict(again.parameters)["L"] == 0.4 and again.cuts == ("C",)
    with refused(UsageError, name="gravty"):
        read_text(text, gravty=0)


def test_scalars_are_honest():
    d = read_text("plane: xy\ndrawing: {on: [1e-3, 0], no: [1_0, 0]}\nbodies: {ground: {pins: []}}\n".replace("1_0", "10"))
    assert dict(d.drawing) == {"on": (1e-3, 0.0, 0.0), "no": (10.0, 0.0, 0.0)}
    with pytest.raises(ModelError):
        read_text("plane: xy\ndrawing: {A: ['1:30', 0]}\nbodies: {ground: {pins: [A]}}\n")


def test_functions_with_commas_need_no_quotes():
    d = read_text("plane: xy\nparameters: {a: atan2(1, 1), b: 2}\nbodies: {ground: {points: {A: [max(1, b), min(3, 4, 5)]}}}\n")
    assert dict(d.parameters) == {"a": math.pi / 4, "b": 2.0} and d.numbers().point(("ground", "A")).at == (2.0, 3.0, 0.0)


def test_everything_attached():
    attached = """
rods: {r: {between: [coupler.P, ground.A]}, s: {between: [coupler.P, ground.D], length: 2*L}}
couplings: {c: {from: A, to: D, ratio: 2, offset: 10}, cam: {from: A, to: D, table: [[0, 0], [90, 30], [180, 0]]}}
gears: {g: {joints: [A, D], radii: [20, 60], internal: true}, w: {joints: [A, D], teeth: [20, 40], module: 2}}
springs:
  torsion: {joint: A, stiffness: 2 N m/rad, free_position: 90}
  coil: {between: [ground.A, coupler.P], stiffness: 3 N/mm, free_length: 500, preload: 4 N}
  gas: {between: [ground.A, coupler.P], force: 300 N, length: 500, stroke: 200, progression: 1.4}
dampers: {d: {joint: A, coefficient: 0.1 N m s/rad}, e: {between: [ground.A, coupler.P], coefficient: 50 N s/m}}
friction: {A: {coulomb: 0.2 N m, viscous: 0.01 N m s, speed: 1 rpm}, f: {joint: D, mu: 0.1, radius: 10}}
cylinders: {cyl: {between: [ground.A, coupler.P], pressure: 6 bar, bore: 50}, pull: {between: [ground.D, coupler.P], force: -200 N}}
loads:
  cut: {on: coupler.P, force: [-200 N, 0], axes: coupler}
  drag: {on: coupler.P, force: [-5 N s/m * coupler.P.vx, 0], moment: {over: A, table: [[0, 0 N m], [180, 5 N m]]}}
  wave: {on: crank, moment: 2 N m * sin(3 rad/s * t)}
start: {A: 60, A.v: 10 rpm}
"""
    d = read_text(
        WIPER.replace("drive:", "parameters: {L: 300}\ndrive:").replace(
            "{A: 45 rpm}", "{cyl: 20 mm/s, A: {moves: [{to: 90, in: 0.4 s}, {dwell: 200 ms}]}}"
        )
        + attached
    ).numbers()
    assert d.rods[0].length == pytest.approx(math.hypot(0.6, 0.76)) and d.rods[1].length == pytest.approx(0.6)
    assert d.couplings[0].offset == pytest.approx(math.radians(10)) and d.couplings[1].table is not None
    assert d.couplings[1].table.x[2] == pytest.approx(math.pi)
    assert (d.gears[0].radius_second, d.gears[0].internal, d.gears[1].radius_first) == (0.06, True, 0.02)
    torsion, coil, gas = d.springs
    assert isinstance(torsion, TorsionSpring) and torsion.free_position == pytest.approx(math.pi / 2)
    assert isinstance(coil, CoilSpring) and (coil.stiffness, coil.free_length, coil.preload) == (3000.0, 0.5, 4.0)
    assert isinstance(gas, GasSpring) and (gas.force, gas.stroke, gas.progression) == (300.0, 0.2, 1.4)
    assert d.dampers[1].coefficient == 50.0 and d.frictions[0].joint == "A" and d.frictions[1].radius == 0.01
    assert d.cylinders[0].force == pytest.approx(6e5 * math.pi / 4 * 0.05**2) and d.cylinders[1].force == -200.0
    cut, drag, wave = d.loads
    assert cut.force == (-200.0, 0.0, 0.0) and cut.axes == "coupler"
    assert isinstance(drag.force[0], Expr) and str(drag.force[0]) == "-5.0*coupler.P.vx".replace("-5.0*", "(-5.0)*")
    assert isinstance(drag.moment[2], Table) and drag.moment[2].channel == "A"
    assert str(wave.moment[2]) == "2.0*sin(3.0*t)" and wave.point == "A"
    assert d.drives[0].kind == "speed" and d.drives[0].value == 0.02
    assert [(m.span, m.law) for m in d.drives[1].moves] == [(0.4, "cycloidal"), (0.2, "cycloidal")] and d.drives[1].moves[1].to is None


@pytest.mark.parametrize(
    ("drive", "kind", "expected"),
    [
        ("45 rpm", "speed", 1.5 * math.pi),
        ("3 rad/s", "speed", 3.0),
        ("60 1/min", "speed", 2 * math.pi),
        ("1 Hz", "speed", 2 * math.pi),
        ("90 deg", "position", math.pi / 2),
        ("2 N m", "torque", 2.0),
        ("undriven", "undriven", 0.0),
        ("10", "speed", math.pi / 3),
        ({"speed": "30 rpm"}, "speed", math.pi),
        ({"torque": "2 N m"}, "torque", 2.0),
    ],
)
def test_a_drive_is_known_by_its_dimension(drive, kind, expected):
    (d,) = read_text(WIPER.replace("{A: 45 rpm}", "{}")).drives or read({**_as_dict(), "drive": {"A": drive}}).drives
    assert d.kind == kind and d.value == pytest.approx(expected)


def _as_dict():
    return {
        "plane": "xy",
        "units": ["mm", "kg", "deg", "rpm"],
        "drawing": {"A": [0, 0], "B": [150, 260]},
        "bodies": {"ground": {"pins": ["A"]}, "crank": {"pins": ["A", "B"]}},
        "joints": {"F": {"type": "fixed", "between": ["ground", "crank"], "at": "B"}},
    }


def test_position_laws_and_names_only():
    (d,) = read({**_as_dict(), "drive": {"A": {"position": "30 deg * sin(2 rad/s * t)"}}}).drives
    assert d.kind == "position" and str(d.value).endswith("sin(2.0*t)")
    (n,) = read({**_as_dict(), "drive": ["A"]}).drives
    assert (n.joint, n.kind) == ("A", "undriven")


def test_loads_in_si_need_no_units():
    model = {**_as_dict(), "units": [], "loads": {"l": {"on": "crank.B", "force": ["-5*crank.B.vx", "3*t"]}}}
    assert str(read(model).loads[0].force[0]) == "(-5.0)*crank.B.vx"
