"""Bad models: every one is a ModelError of one paragraph with file:line and a remedy, at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linkwright.errors import LinkwrightError, ModelError
from linkwright.model.file import read
from tests.refusals import refused

GOOD = """\
name: four-bar
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
parameters: {L: 300, k: 2 N/mm, A: 1}
drawing: {A: [0, 0], B: [150, 260], C: [905, 750], D: [1000, 0], P: [600, 760]}
bodies:
  ground: {pins: [A, D]}
  crank: {pins: [A, B], mass: 0.3}
  coupler: {pins: [B, C], points: [P], mass: 0.9}
  rocker: {pins: [D, C], mass: 0.8, com: [950, 380], inertia: 0.04 kg m^2}
drive: {A: 45 rpm}
"""

CYLINDER = "cylinders: {c: {between: [ground.A, coupler.P], "

WHEELS = "belts: {b: {around: [{joint: A, radius: 5}, {joint: D, radius: 9}"

# (what is wrong, text in GOOD, replacement, line of the error, part of the message)
CASES = [
    ("unknown key", "drive:", "drives:", 12, "Did you mean 'drive'"),
    ("unknown body key", "mass: 0.3", "masss: 0.3", 9, "Did you mean 'mass'"),
    ("pin named once", "pins: [A, B], mass", "pins: [A, X], mass", 9, "not in the drawing"),
    ("pin nobody shares", "pins: [A, B], mass", "pins: [A, P], mass", 9, "only body 'crank' names the pin 'P'"),
    ("pin with a point namesake", "{pins: [A, B], mass: 0.3}", "{pins: [A], points: [B], mass: 0.3}", 10, r"add `pins: \[B\]`"),
    ("mu without a radius", "drive:", "friction: {A: {mu: 0.1}}\ndrive:", 12, "`mu` alone does nothing in a hinge.*radius: 10 mm"),
    ("radius without mu", "drive:", "friction: {A: {coulomb: 1 N m, radius: 5}}\ndrive:", 12, "it belongs to `mu`"),
    ("friction of nothing", "drive:", "friction: {A: {}}\ndrive:", 12, "nothing that brakes"),
    ("speed of no dry friction", "drive:", "friction: {A: {viscous: 1 N m s/rad, speed: 1}}\ndrive:", 12, "neither is given"),
    ("stop without ends", "drive:", "stops: {A: {stiffness: 1 N m/rad}}\ndrive:", 12, "has no ends"),
    (
        "stop ends swapped",
        "drive:",
        "stops: {A: {range: [60, -30], stiffness: 1 N m/rad}}\ndrive:",
        12,
        "60 deg is not below the upper -30 deg",
    ),
    ("stop given twice", "drive:", "stops: {A: {range: [0, 1], max: 2, stiffness: 1 N m/rad}}\ndrive:", 12, "Keep one way"),
    ("stop of nothing", "drive:", "stops: {Z: {max: 2, stiffness: 1 N m/rad}}\ndrive:", 12, "no joint 'Z'"),
    ("stop that pulls", "drive:", "stops: {A: {max: 2, stiffness: -1 N m/rad}}\ndrive:", 12, "greater than zero"),
    (
        "stop damping of another kind",
        "drive:",
        "stops: {A: {max: 2, stiffness: 1 N m/rad, damping: 5 N m s/rad}}\ndrive:",
        12,
        "must be s/rad",
    ),
    ("stroke of a hinge", "drive:", "joints: {H: {pin: A, between: [ground, crank], stroke: [0, 5]}}\ndrive:", 12, "has no stroke, prism"),
    ("stroke swapped", "drive:", CYLINDER + "stroke: [9, 5]}}\ndrive:", 12, "9 mm, which is not below its end 5"),
    ("stroke of nothing", "drive:", CYLINDER + "stroke: [0, 5]}}\ndrive:", 12, "The shortest must be positive"),
    ("stroke of one number", "drive:", CYLINDER + "stroke: 5}}\ndrive:", 12, "stroke"),
    ("stroke of an angle", "drive:", CYLINDER + "stroke: [5 deg, 9]}}\ndrive:", 12, "length"),
    (
        "stroke and stop",
        "drive:",
        CYLINDER + "stroke: [5, 9]}}\nstops: {c: {max: 9}}\ndrive:",
        13,
        r"has a `stroke` \(.*:12\), which is a rigid stop already",
    ),
    ("rod without a bore", "drive:", CYLINDER + "rod: 5}}\ndrive:", 12, "a `rod` and no `bore:`"),
    ("rod as thick as its bore", "drive:", CYLINDER + "rod: 5, bore: 5}}\ndrive:", 12, "must be thinner"),
    ("belt of nothing", "drive:", "belts: {b: {pitch: 5}}\ndrive:", 12, "`around:` pulleys, or is a rope"),
    ("belt on one pulley", "drive:", "belts: {b: {around: [{joint: A, radius: 5}]}}\ndrive:", 12, "two or more entries, not 1"),
    ("belt of unknown joint", "drive:", WHEELS.replace("D,", "Z,") + "]}}\ndrive:", 12, "no joint 'Z'"),
    ("belt without radius", "drive:", "belts: {b: {around: [{joint: A}, {joint: D, radius: 5}]}}\ndrive:", 12, "needs its `radius:`"),
    ("belt of negative radius", "drive:", "belts: {b: {around: [{joint: A, radius: -5}, ground.D]}}\ndrive:", 12, "greater than zero"),
    ("teeth without pitch", "drive:", "belts: {b: {around: [{joint: A, teeth: 5}, ground.D]}}\ndrive:", 12, "need the `pitch:`"),
    ("pulleys that overlap", "drive:", WHEELS.replace("radius: 5", "radius: 1500") + "]}}\ndrive:", 12, "centers are 1000 mm apart"),
    ("rope without a side", "drive:", "belts: {b: {path: [{joint: A, radius: 5}, rocker.C]}}\ndrive:", 12, "`turn: ccw` or `turn: cw`"),
    ("rope to no body", "drive:", "belts: {b: {path: [ground.A, rocker.X]}}\ndrive:", 12, "has no point 'X'"),
    ("tension of a rope", "drive:", "belts: {b: {path: [ground.A, rocker.C], pretension: 5 N}}\ndrive:", 12, "`pretension` is for closed"),
    ("belt of three, crossed", "drive:", WHEELS + ", ground.A], crossed: true}}\ndrive:", 12, "a crossed belt runs `around:` two"),
    ("belt with a name of a joint", "drive:", WHEELS.replace("b:", "A:", 1) + "]}}\ndrive:", 12, "the name of a joint or body"),
    ("straight path", "drive:", "belts: {b: {path: [ground.A, {at: ground.D, radius: 5}, ground.A]}}\ndrive:", 12, "on one line"),
    ("efficient gearbox", "{A: 45 rpm}", "{A: {dc_motor: {Kt: 1 V s/rad, R: 1 ohm, efficiency: 1.2}}}", 12, "at most 1"),
    ("motor without friction", "{A: 45 rpm}", "{A: {dc_motor: {Kt: 1 V s/rad, R: 1 ohm, friction: -1 N m}}}", 12, "not be negative"),
    ("pin listed twice", "pins: [A, B], mass", "pins: [A, A], mass", 9, "listed twice"),
    ("zero-length bar", "B: [150, 260]", "B: [0, 0]", 9, "drawn at the same place"),
    ("negative mass", "mass: 0.3", "mass: -0.3", 9, "negative mass"),
    ("negative inertia", "inertia: 0.04 kg m^2", "inertia: -0.04 kg m^2", 11, "negative"),
    ("inertia without mass", "mass: 0.8, com", "com", 11, "no mass"),
    ("impossible inertia", "inertia: 0.04 kg m^2", "inertia: [1 kg m^2, 1 kg m^2, -3 kg m^2]", 11, "cannot exist"),
    ("wrong vector length", "B: [150, 260]", "B: [150, 260, 0]", 6, "must have 2 components, not 3"),
    ("vector that is a number", "B: [150, 260]", "B: 150", 6, "must be a list"),
    ("duplicate key", "  crank: {pins", "  ground: {pins: [A]}\n  crank: {pins", 9, "given twice"),
    ("duplicate section", "drive: {A: 45 rpm}", "drive: {A: 45 rpm}\nname: again", 13, "given twice"),
    ("cyclic parameters", "{L: 300, k: 2 N/mm, A: 1}", "{L: 2*M, M: L/3}", 5, "L -> M -> L"),
    ("unknown parameter", "B: [150, 260]", "B: [LL, 260]", 6, "Did you mean 'L'"),
    ("unit mismatch", "mass: 0.3", "mass: 0.3 mm", 9, "mass .*length"),
    ("unknown unit", "45 rpm", "45 rpmm", 12, "Did you mean 'rpm'"),
    ("bare inertia in a mm file", "0.04 kg m^2", "0.04", 11, "0.04 kg mm\\^2 \\(4e-08 kg m\\^2\\)"),
    ("bare gravity in a mm file", "-9.81 m/s^2", "-9.81", 4, "could mean"),
    ("bare added to a length", "B: [150, 260]", "B: [150 mm + 3, 260]", 6, "Give it a unit"),
    ("two units of length", "[mm, kg, deg, rpm]", "[mm, m]", 3, "keep one"),
    ("not a unit", "[mm, kg, deg, rpm]", "[mm, kilos]", 3, "not a unit"),
    ("NaN", "mass: 0.3", "mass: .nan", 9, "not a number"),
    ("nan", "mass: 0.3", "mass: nan", 9, "finite"),
    ("out of proportion", "mass: 0.3", "mass: 1e308", 9, "1e\\+308 kg is out of any proportion"),
    ("drive out of proportion", "{A: 45 rpm}", "{A: 1e200 rpm}", 12, "1e\\+200 rpm is out of any proportion"),
    ("parameter without a unit", "mass: 0.3", "mass: 2 kg/m*L", 9, "parameter L has no unit. Write `L: 300 mm`"),
    ("infinite", "mass: 0.3", "mass: 1e999", 9, "too large"),
    ("division by zero", "mass: 0.3", "mass: 1/(L - 300)", 9, "zero"),
    ("constant division by zero", "mass: 0.3", "mass: 1/0", 9, "zero"),
    ("name with a dot", "  crank: {pins", "  crank.a: {pins", 9, "holds a dot"),
    ("empty name", "  crank: {pins", "  '': {pins", 9, "empty name"),
    ("no ground", "ground: {pins", "gruond: {pins", 7, "Did you mean 'gruond'|no body 'ground'"),
    ("bad plane", "plane: xy", "plane: xyz", 2, "xy, xz, yz"),
    ("two components in space", "plane: xy\n", "", 5, "plane: xy"),
    ("unknown drive target", "{A: 45 rpm}", "{E: 45 rpm}", 12, "no joint or cylinder 'E'"),
    ("drive of the wrong dimension", "{A: 45 rpm}", "{A: 45 mm}", 12, "hinge takes"),
    ("drive with two laws", "{A: 45 rpm}", "{A: {speed: 1 rpm, torque: 2 N m}}", 12, "exactly one"),
    ("unknown law", "{A: 45 rpm}", "{A: {moves: [{to: 90, in: 1, law: cyclodal}]}}", 12, "cycloidal"),
    ("move without time", "{A: 45 rpm}", "{A: {moves: [{to: 90}]}}", 12, "in: 0.4 s"),
    ("tag", "mass: 0.3", "mass: !!python/object:os.system 0.3", 9, "tags"),
    ("anchor", "{pins: [A, D]}", "&a {pins: [A, D]}", 8, "anchors"),
    ("alias", "drive: {A: 45 rpm}", "drive: *a", 12, "aliases"),
    ("two documents", "drive:", "---\ndrive:", 12, "second document"),
    ("broken YAML", "pins: [A, D]}", "pins: [A, D}", 8, "not YAML"),
    ("tabs", "  ground: {pins", "\tground: {pins", 8, "line 8 begins with a tab, but YAML needs spaces"),
    ("list as a key", "drive:", "? [a, b]\n: 3\ndrive:", 12, "cannot be a key"),
    ("bodies as a list", "bodies:\n  ground: {pins: [A, D]}\n", "bodies: [ground]\nmasses:\n", 7, "must be a mapping"),
    ("code", "mass: 0.3", "mass: __import__('os').getcwd()", 9, "not allowed"),
    ("deep brackets", "mass: 0.3", "mass: " + "(" * 300 + "1" + ")" * 300, 9, "nests deeper"),
    ("long expression", "mass: 0.3", "mass: 1" + "+1" * 30_000, 9, "characters"),
    ("deep nesting", "drive: {A: 45 rpm}", "drive: " + "[" * 20_000 + "]" * 20_000, 12, "nests deeper"),
    ("power tower", "mass: 0.3", "mass: 9^9^9^9^9", 9, "too large"),
]
ADDITIONS = [
    ("unknown joint type", "joints: {J: {type: revolut, between: [ground, crank], at: P}}", "Did you mean 'revolute'"),
    ("joint without type", "joints: {J: {between: [ground, crank], at: P}}", "needs a `type:`"),
    ("joint of one body", "joints: {J: {type: fixed, between: [crank, crank], at: P}}", "itself"),
    ("joint with an unknown body", "joints: {J: {type: fixed, between: [ground, copler], at: P}}", "Did you mean 'coupler'"),
    ("joint nowhere", "joints: {J: {type: fixed, between: [ground, crank], at: Q}}", "neither drawn"),
    ("joint out of the plane", "joints: {J: {type: spherical, connect: [crank.B, coupler.P]}}", "does not fit into a plane"),
    ("axis zero", "joints: {J: {type: prismatic, between: [ground, crank], at: P, axis: [0, 0]}}", "is zero"),
    ("axis with one component", "joints: {J: {type: prismatic, between: [ground, crank], at: P, axis: [1]}}", "components"),
    ("pitch of a hinge", "joints: {J: {pin: A, between: [ground, crank], pitch: 3}}", "only a screw"),
    ("split of a pin that is not there", "joints: {J: {pin: A, between: [ground, coupler]}}", "has no pin 'A'"),
    ("pin joined twice", "joints: {J: {pin: A, between: [ground, crank]}, K: {pin: A, between: [crank, ground]}}", "second time"),
    ("point without body", "rods: {r: {between: [P, ground.A]}}", "body.point"),
    ("unknown point", "rods: {r: {between: [coupler.Q, ground.A]}}", "no point 'Q'"),
    ("drawn but not listed", "rods: {r: {between: [coupler.P, ground.P]}}", "add it to `points` of ground"),
    ("rod without length", "rods: {r: {between: [coupler.B, crank.B]}}", "no length"),
    ("rod of length zero", "rods: {r: {between: [coupler.P, ground.A], length: 0}}", "greater than zero"),
    ("bare stiffness in a mm file", "springs: {s: {joint: A, stiffness: 2}}", "could mean"),
    ("stiffness of a coil on a hinge", "springs: {s: {joint: A, stiffness: 2 N/mm}}", "torsional stiffness"),
    ("unknown spring", "springs: {s: {type: leaf, joint: A, stiffness: 2 N m}}", "torsion, coil, gas"),
    ("stroke longer than the spring", "springs: {s: {between: [ground.A, coupler.P], force: 3 N, length: 10, stroke: 20}}", "shorter"),
    ("damper on nothing", "dampers: {d: {coefficient: 2 N s/m}}", "`joint:` or `between:`"),
    ("negative damping", "dampers: {d: {joint: A, coefficient: -2 N m s/rad}}", "0 or more"),
    ("gear on one hinge", "gears: {g: {joints: [A, A], radii: [20, 60]}}", "two different hinges"),
    ("gear of negative radius", "gears: {g: {joints: [A, D], radii: [-20, 60]}}", "radius is -20 mm"),
    ("gear without radii", "gears: {g: {joints: [A, D]}}", "teeth"),
    ("coupling to itself", "couplings: {c: {from: A, to: A}}", "itself"),
    ("load on nothing", "loads: {l: {on: coupler.P}}", "neither `force` nor `moment`"),
    ("load of bare newtons in a mm file", "loads: {l: {on: coupler.P, force: [200, 0]}}", "200 N or 200 kg mm"),
    ("load over an unknown channel", "loads: {l: {on: coupler.P, force: [-2 N s/m * coupler.Q.vx, 0]}}", "no channel"),
    (
        "load over an axis that a plane has not",
        "loads: {l: {on: coupler.P, force: [1 N s/m*coupler.P.vz, 0]}}",
        "no channel 'coupler.P.vz'",
    ),
    ("table out of order", "loads: {l: {on: coupler.P, force: [{over: A, table: [[0, 0 N], [90, 5 N], [45, 0 N]]}, 0]}}", "must increase"),
    ("table of one row", "loads: {l: {on: coupler.P, force: [{over: A, table: [[0, 0 N]]}, 0]}}", "at least two"),
    ("mass on an unknown body", "masses: {m: {body: crnk, at: B, mass: 1}}", "Did you mean 'crank'"),
    ("mass at an unknown point", "masses: {m: {body: crank, at: Z, mass: 1}}", "mass 'm': at: 'Z' is not a point of the body 'crank'"),
    ("start of an unknown joint", "start: {Q: 3}", "no such joint"),
    ("guess for ground", "guess: {ground: {at: [0, 0]}}", "no moving body"),
    ("cut of an unknown joint", "cuts: [J9]", "no joint 'J9'"),
    ("repeat too large", "repeat: {i: 1..1000000, drawing: {'Z{i}': [i, 0]}}", "At most"),
    ("repeat without index", "repeat: {drawing: {Z: [0, 0]}}", "needs an index"),
    ("repeat of the same name", "repeat: {i: 1..3, drawing: {Z: [i, 0]}}", "there already"),
    ("repeat with a fraction", "repeat: {i: 1..L/7, drawing: {'Z{i}': [i, 0]}}", "whole number"),
    ("missing mesh", "guess: {}\nrods: {}\nmasses: {m: {body: coupler, at: Q, mass: 1}}", "not a point of the body"),
    ("channel that loads cannot have", "loads: {l: {on: coupler.P, moment: C.torque*2}}", "there is no channel 'C.torque'. Channels: t, A"),
    ("name of a parameter and a joint", "let: {}\nrods: {}\nloads: {l: {on: coupler.P, moment: A*2 N m}}\nmasses: {}", "at once"),
    ("radians in a file of degrees", "start: {A: pi/2}", "looks like radians"),
    ("let that shadows a parameter", "let: {L: 3}", "parameter has it"),
    ("let in a circle", "let: {p: q, q: p}", "circle"),
]


def check(path: Path, message: str, line: int | None) -> None:
    began = time.thread_time()
    with pytest.raises(ModelError, match=message) as caught:
        read(path)
    assert time.thread_time() - began < 1.0
    text = str(caught.value)
    place = f"{path}:{line}: " if line else f"{path}:"
    assert text.startswith(place), text
    assert "\n" not in text and len(text) < 900 and text.rstrip().endswith((".", ")"))
    assert caught.value.where is not None and caught.value.where.line > 0


@pytest.mark.parametrize(("old", "new", "line", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_slip_in_a_good_model(tmp_path, old, new, line, message):
    assert GOOD.count(old) == 1, "the case must change one place"
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    check(path, message, line)


@pytest.mark.parametrize(("section", "message"), [c[1:] for c in ADDITIONS], ids=[c[0] for c in ADDITIONS])
def test_a_bad_section(tmp_path, section, message):
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD + section + "\n", encoding="utf-8")
    check(path, message, None)


def test_the_model_they_are_made_from_is_good(tmp_path):
    path = tmp_path / "good.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert read(path).name == "four-bar" and not read(path).warnings


DOUBTFUL = [
    ("C-B 900 drawn, 90 given", "pins: [B, C], points: [P], mass", "along: {B: 0, C: 90}, mass", 10, "90 mm apart but drawn 900.069 mm"),
    (
        "center 1000 km away",
        "com: [950, 380]",
        "com: [1e9, 380]",
        11,
        "center of mass is .* from its nearest point, but the body is only 755.993 mm",
    ),
    (
        "triangle that weighs on one side",
        "points: [P], mass",
        "points: [P], sides: {B-C: 900, B-P: 670, C-P: 300}, mass",
        10,
        "its mass lies on the line B-C between its pins, nothing toward P. .*plate: {}",
    ),
    (
        "hinge again",
        "drive:",
        "joints: {X: {type: revolute, between: [coupler, rocker], at: C}}\ndrive:",
        12,
        "at pin 'C', under this name",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), [c[1:] for c in DOUBTFUL], ids=[c[0] for c in DOUBTFUL])
def test_a_doubtful_model_is_read_with_a_warning(tmp_path, old, new, line, message):
    path = tmp_path / "doubtful.yaml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    warning = read(path).warnings[-1]  # 1000 km are also an implausible length, which is said first
    assert warning.startswith(f"{path}:{line}: ") and re.search(message, warning)


def test_a_triangle_that_says_how_it_weighs_has_no_warning(tmp_path):
    path = tmp_path / "plate.yaml"
    sides = "points: [P], sides: {B-C: 900, B-P: 670, C-P: 300}, plate: {}, mass"
    path.write_text(GOOD.replace("points: [P], mass", sides), encoding="utf-8")
    d = read(path)
    corners = [p.at for p in d.body("coupler").points]
    assert not d.warnings and d.body("coupler").com[:2] == pytest.approx([sum(c[i] for c in corners) / 3 for i in (0, 1)])


def test_parameters_that_leave_a_body_without_mass(tmp_path):
    path = tmp_path / "light.yaml"
    text = GOOD.replace("A: 1}", "A: 1, m: 0.2 kg}").replace("mass: 0.3", "mass: m") + "masses: {tip: {body: crank, at: B, mass: 2*m}}\n"
    path.write_text(text, encoding="utf-8")
    assert read(path).numbers().body("crank").mass == pytest.approx(0.6)
    with refused(ModelError, name="crank", allowed=("m",), line=9):
        read(path, m=0)


BYTES = {
    "empty": (b"", "empty"),
    "only a comment": (b"# nothing\n", "empty"),
    "not UTF-8": (b"name: four-bar\nabout: sch\xf6n\n", ":2: .*UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "UTF-8"),
    "binary": (bytes(range(256)), "UTF-8|not YAML"),
    "control characters": (b"name: a\x07b\n", "not YAML"),
    "huge": (b"# " + b"x" * 5_100_000, "MB"),
    "bomb": (b"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n", "anchors"),
    "a list": (b"- a\n- b\n", "must be a mapping"),
    "a word": (b"hello\n", "must be a mapping"),
    "many brackets": (b"[" * 100_000, "nests deeper|not YAML"),
}


@pytest.mark.parametrize(("data", "message"), BYTES.values(), ids=BYTES)
def test_a_file_that_is_no_model(tmp_path, data, message):
    path = tmp_path / "bad.yaml"
    path.write_bytes(data)
    check(path, message, None)


SPACE = "bodies:\n  ground: {points: {A: [0, 0, 0]}}\n"
IN_SPACE = [
    ("triangle inequality", "  b: {points: {A: [0, 0, 0]}, mass: 1, inertia: [1, 1, 3]}\n", "exceeds the sum"),
    ("not symmetric", "  b: {points: {A: [0, 0, 0]}, mass: 1, inertia: [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}\n", "symmetric"),
    ("scalar inertia", "  b: {points: {A: [0, 0, 0]}, mass: 1, inertia: 2}\n", "Ixx"),
    ("pins without an axis", "  b: {pins: [A], points: {A: [0, 0, 0]}}\n  c: {pins: [A], points: {A: [0, 0, 0]}}\n", "needs an axis"),
    ("no rotation", "  b: {points: {A: {at: [0, 0, 0], rotation: [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}}}\n", "not a rotation"),
    ("left-handed", "  b: {points: {A: {at: [0, 0, 0], rotation: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}}\n", "left-handed"),
    ("zero quaternion", "  b: {points: {A: {at: [0, 0, 0], quat: [0, 0, 0, 0]}}}\n", "not a rotation"),
    ("screw without pitch", "  b: {points: {A: [0, 0, 0]}}\njoints: {S: {type: screw, connect: [ground.A, b.A]}}\n", "pitch"),
    ("missing mesh", "  b: {points: {A: [0, 0, 0]}, mesh: {file: nowhere.stl, density: 1}}\n", "cannot be read"),
    (
        "unknown material",
        "  b: {points: {A: [0, 0, 0], B: [1, 0, 0]}, bar: {section: {diameter: 0.1}, material: stele}}\n",
        "Did you mean 'steel'",
    ),
    ("bar without section", "  b: {points: {A: [0, 0, 0], B: [1, 0, 0]}, bar: {material: steel}}\n", "section"),
    ("equal stations", "  b: {along: {A: 0, B: 1, C: 1}}\n", "same station"),
    ("plate without area", "  b: {points: {A: [0, 0, 0], B: [1, 0, 0], C: [2, 0, 0]}, mass: 1, plate: {points: [A, B, C]}}\n", "no area"),
]


@pytest.mark.parametrize(("body", "message"), [c[1:] for c in IN_SPACE], ids=[c[0] for c in IN_SPACE])
def test_a_bad_body_in_space(tmp_path, body, message):
    path = tmp_path / "bad.yaml"
    path.write_text(SPACE + body, encoding="utf-8")
    check(path, message, None)


def test_no_triangle(tmp_path):
    path = tmp_path / "bad.yaml"
    text = GOOD.replace("pins: [B, C], points: [P], mass: 0.9", "pins: [B, C], points: [P], sides: {B-C: 900, B-P: 100, C-P: 200}")
    path.write_text(text, encoding="utf-8")
    check(path, "form no triangle", 10)


@pytest.mark.parametrize("source", ["nowhere.yaml", "."])
def test_no_file(source):
    with refused(ModelError, line=1):
        read(source)


@pytest.mark.parametrize(
    "overrides", [{"LL": 3}, {"gravty": 0}, {"L": "3 kg m"}, {"L": float("nan")}, {"L": object()}, {"cuts": ["Z"]}, {"start": {"Q": 1}}]
)
def test_bad_overrides(tmp_path, overrides):
    path = tmp_path / "m.yaml"
    path.write_text(GOOD.replace("B: [150, 260]", "B: [L/2, 260]"), encoding="utf-8")
    with pytest.raises(LinkwrightError):
        read(path, **overrides)


@pytest.mark.parametrize(
    "value", [{"bodies": {1: {2: object()}}}, {"bodies": [1, 2]}, {"name": ["x"]}, {"bodies": {"ground": {"mass": float("inf")}}}]
)
def test_bad_dicts(value):
    with pytest.raises(ModelError, match="model dict"):
        read(value)


def test_a_dict_that_contains_itself():
    loop: dict = {"bodies": {}}
    loop["bodies"]["ground"] = loop
    with pytest.raises(ModelError, match="contain itself"):
        read(loop)


def test_messages_work_in_the_c_locale(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(GOOD.replace("mass: 0.3", "mass: 3 kgµ").replace("name: four-bar", "about: schönes Getriebe"), encoding="utf-8")
    program = f"from linkwright.model.file import read\ntry: read({str(path)!r})\nexcept Exception as e: print(ascii(str(e)))"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert "is not a unit" in done.stdout and not done.stderr
