"""Surfaces, contacts and clearances in a file: what is read, and what is refused with the name of what is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ModelError
from linkwright.mechanics.contact import contact_terms, touches
from linkwright.model.file import read_text, write

MODEL = """\
name: m
plane: xy
drawing: {A: [0, 0], B: [0.3, 0.4], P: [0.1, 0.5], Q: [0.2, 0.6], R: [0, 0.6], E: [0.5, 0], F: [0.6, 0.1], G: [0.7, 0], S: [0.9, 0]}
bodies:
  ground: {pins: [A], points: [E, F, G]}
  arm: {pins: [A, B], points: [P, Q, R], mass: 1}
  rod: {pins: [B, S], mass: 1}
  ball: {points: {C: [0, 0], D: [0.1, 0]}, mass: 1, inertia: 0.01}
  block: {pins: [S], mass: 1}
joints:
  S1: {type: prismatic, between: [ground, block], at: S, axis: [1, 0]}
"""
SURFACES = "surfaces: {skin: {circle: ball.C, radius: 0.1}, floor: {line: ground.E, normal: [0, 1]}, tip: {circle: arm.P, radius: 0}}\n"
TOUCH = "contacts: {c: {between: [skin, floor]}}\n"


def test_a_body_that_only_touches_floats():
    s = lw.Mechanism(read_text(MODEL + SURFACES + TOUCH)).system
    assert sum(name.startswith("ball") for name in s.names.q) == 3
    with pytest.raises(ModelError):
        _ = lw.Mechanism(read_text(MODEL + SURFACES)).system


def test_directions_of_a_drawn_body_are_those_of_the_drawing():
    """The frame of a drawn link has x along its pins; written back, the normal is in that frame."""
    text = MODEL + "surfaces: {side: {line: arm.P, normal: [0, 2]}, rim: {arc: arm.Q, radius: 0.1, from: 0 deg, to: 90 deg}}\n"
    d = read_text(text)
    side, rim = d.surfaces
    assert np.hypot(*side.normal[:2]) == pytest.approx(2.0)
    turned = math.atan2(0.4, 0.3)
    assert math.atan2(side.normal[1], side.normal[0]) == pytest.approx(math.pi / 2 - turned)
    assert (rim.first, rim.last) == pytest.approx((-turned, math.pi / 2 - turned))
    assert read_text(write(d)) == d


def test_polygons_know_their_corners():
    def polygon(points, more=""):
        return read_text(f"{MODEL}surfaces: {{p: {{polygon: [{points}]{more}}}}}\n").surfaces[0]

    there, back = polygon("arm.A, arm.P, arm.R, arm.Q, arm.B"), polygon("arm.B, arm.Q, arm.R, arm.P, arm.A")
    assert there.turn == -back.turn
    assert {there.points[i] for i in there.corners} == {back.points[i] for i in back.corners} == {"A", "B", "Q", "R"}
    pocket = polygon("arm.A, arm.P, arm.R, arm.Q, arm.B", ", side: inside")
    assert {pocket.points[i] for i in pocket.corners} == {"P"} and pocket.turn == -there.turn


def test_pairs_of_lists_have_names():
    text = SURFACES + "contacts: {c: {between: [[skin, tip], floor]}, d: {between: [skin, tip], mu: 0.3}}\n"
    d = read_text(MODEL + text).numbers()
    assert [x.name for x in touches(d)] == ["c.skin", "c.tip", "d"]
    assert [x.mu for x in touches(d)] == [0.0, 0.0, 0.3]


@pytest.mark.parametrize("form", ["section", "joint"])
def test_a_pin_with_clearance(form):
    """The gap is the clearance less the distance of the centers: a circle in a ring."""
    section = "clearances: {B: {clearance: 0.001, radius: 0.02, mu: 0.1, restitution: 0.5}}\n"
    joint = "  B: {pin: B, between: [arm, rod], clearance: 0.001, radius: 0.02, mu: 0.1, restitution: 0.5}\n"
    model = MODEL.replace("  ball: {points: {C: [0, 0], D: [0.1, 0]}, mass: 1, inertia: 0.01}\n", "")
    s = lw.Mechanism(read_text(model + (section if form == "section" else joint))).system
    (touch,) = touches(s.description)
    assert (touch.name, touch.mu, touch.restitution) == ("B.contact", 0.1, 0.5)
    skel, names = compiled_of(s).loops.skel, list(s.names.q)
    q = np.array(s.start.q)
    if "B.x" in names:
        q[names.index("B.x")] += 3e-4
        q[names.index("B.y")] -= 4e-4
    found = contact_terms(skel, q, np.zeros(skel.tree.nv))
    assert found["g"] == pytest.approx([5e-4], rel=1e-9)
    assert np.linalg.norm(found["first"] - found["second"], axis=1) == pytest.approx([5e-4], rel=1e-9)


def test_a_block_with_clearance():
    """Turned by a small angle its corners are nearer to both walls by half its length times the sine."""
    text = MODEL.replace("  ball: {points: {C: [0, 0], D: [0.1, 0]}, mass: 1, inertia: 0.01}\n", "")
    s = lw.Mechanism(read_text(text + "clearances: {S1: {clearance: 0.002, length: 0.1, radius: 0.01}}\n")).system
    skel, names, q = compiled_of(s).loops.skel, list(s.names.q), np.array(s.start.q)
    turn = 0.01
    assert "S1.angle" in names
    q[names.index("S1.angle")] += turn
    gaps = contact_terms(skel, q, np.zeros(skel.tree.nv))["g"]
    lift, drop = 0.05 * math.sin(turn), 0.01 * (1.0 - math.cos(turn))
    assert sorted(gaps) == pytest.approx(sorted(0.002 + sign * lift + drop for sign in (-1, -1, 1, 1)), rel=1e-9)


PIN = "clearances: {B: {clearance: 0.001, radius: 0.02%s}}\n"
KINK = [0, 20, 40, 60, 80, 85, 88, 89, 89.5, 89.8, 89.9, 90, 90.1, 90.2, 90.5, 91, 92, 95, 100, *range(120, 361, 20)]
KINKED = "[" + ", ".join(f"[{a} deg, {0.08 + 0.02 * abs(min(a, 180) - 90) / 90}]" for a in KINK) + "]"
FAULTS = [
    ("surfaces: {s: {circle: arm.Z, radius: 1}}", "Z"),
    ("surfaces: {s: {circle: leg.P, radius: 1}}", "leg"),
    ("surfaces: {s: {circle: arm.P, radius: -1}}", "surface 's'"),
    ("surfaces: {s: {ring: arm.P, radius: 0}}", "surface 's'"),
    ("surfaces: {s: {line: arm.P, normal: [0, 0]}}", "s"),
    ("surfaces: {s: {segment: [arm.P, ball.C]}}", "ball"),
    ("surfaces: {s: {segment: [arm.P, arm.Q, arm.R]}}", "surface 's': segment"),
    ("surfaces: {s: {segment: [arm.P, arm.P]}}", "surface 's': segment"),
    ("surfaces: {s: {polygon: [arm.P, arm.Q]}}", "surface 's': polygon"),
    ("surfaces: {s: {polygon: [arm.A, arm.Q, arm.P, arm.B]}}", "surface 's'"),
    ("surfaces: {s: {arc: arm.P, radius: 1, from: 90 deg, to: 10 deg}}", "surface 's'"),
    ("surfaces: {s: {profile: arm.P, table: [[0 deg, 1], [90 deg, 1], [180 deg, 1], [200 deg, 1]]}}", "surface 's'"),
    ("surfaces: {s: {profile: arm.P, table: [[0 deg, 1], [90 deg, -1], [180 deg, 1], [360 deg, 1]]}}", "surface 's'"),
    ("surfaces: {s: {profile: arm.P}}", "surface 's'"),
    ("surfaces: {s: {}}", "s"),
    ("surfaces: {s: {circle: arm.P, radius: 1, line: arm.P}}", "s"),
    (SURFACES + "contacts: {c: {between: [skin, roof]}}", "roof"),
    (SURFACES + "contacts: {c: {between: [skin, skin]}}", "c"),
    (SURFACES + "contacts: {c: {between: [skin, floor], mu: -0.1}}", "contact 'c'"),
    (SURFACES + "contacts: {c: {between: [skin, floor], restitution: 1.1}}", "contact 'c'"),
    (SURFACES + "contacts: {c: {between: [skin, floor], restitution: -0.1}}", "contact 'c'"),
    (SURFACES + "contacts: {c: {between: [skin, floor], jam: never}}", "contact 'c': jam"),
    ("surfaces: {a: {line: arm.P, normal: [0, 1]}, b: {line: ground.E, normal: [0, 1]}}\ncontacts: {c: {between: [a, b]}}", "c"),
    ("surfaces: {a: {circle: arm.P, radius: 0}, b: {circle: ground.E, radius: 0}}\ncontacts: {c: {between: [a, b]}}", "c"),
    ("surfaces: {a: {circle: arm.P, radius: 0}, b: {segment: [ground.E, ground.F]}}\ncontacts: {c: {between: [a, b]}}", "c"),
    (SURFACES + "contacts: {c: {between: [[], floor]}}", "contact 'c': between"),
    (SURFACES + "contacts: {c: {between: [skin, floor]}, d: {between: [floor, [skin, tip]]}}", "d"),
    (SURFACES + "contacts: {c: {between: [[skin, skin], floor]}}", "c"),
    (SURFACES + "contacts: {B: {between: [skin, floor]}}", "B"),
    (SURFACES + "contacts: {ball: {between: [skin, floor]}}", "ball"),
    (SURFACES + "contacts: {coil: {between: [skin, floor]}}\nsprings: {coil: {joint: A, stiffness: 1 N m/rad}}", "coil"),
    ("surfaces: {s: {profile: arm.P, table: [[0 deg, 1], [90 deg, 0.2], [91 deg, 1], [180 deg, 1], [360 deg, 1]]}}", "surface 's'"),
    (f"surfaces: {{s: {{profile: arm.P, table: {KINKED}}}}}", "surface 's'"),
    (PIN % ", length: 1", "B"),
    (PIN % ", mu: -1", "clearance 'B'"),
    (PIN.replace("0.001", "0") % "", "clearance 'B'"),
    ("clearances: {B: {clearance: 0.001}}", "B"),
    ("clearances: {S1: {clearance: 0.001, radius: 0.01}}", "S1"),
    ("clearances: {K: {clearance: 0.001, radius: 0.02}}", "K"),
    ("clearances: {B: {clearance: 0.001, radius: 0.02}, C: {joint: B, clearance: 0.002, radius: 0.02}}", "B"),
]


@pytest.mark.parametrize(("text", "name"), FAULTS, ids=[text for text, _ in FAULTS])
def test_faults_are_refused_by_name(text, name):
    with pytest.raises(ModelError) as found:
        read_text(f"{MODEL}{text}\n", "m.yaml")
    assert found.value.where is not None and found.value.where.file == "m.yaml"
    assert found.value.name == name


def test_surfaces_are_in_a_plane():
    with pytest.raises(ModelError) as found:
        read_text("name: m\nbodies: {ground: {points: {O: [0, 0, 0]}}}\nsurfaces: {s: {circle: ground.O, radius: 1}}\n")
    assert found.value.name == "s"


def test_edges_on_one_straight_line_do_not_cross():
    """The walls of opposite slots, as in a Geneva wheel of even number: apart they are allowed."""
    from linkwright.model.file.contacts import _cross

    at = [(-2.0, 2.0), (-1.0, 1.0), (1.0, -1.0), (2.0, -2.0), (-1.0, -1.0), (1.0, 1.0)]
    assert not _cross(at, (0, 1), (2, 3)) and _cross(at, (1, 2), (4, 5))
