"""Eyes of cylinders, springs and rods in the page's table, strokes under its hand, and belts: the engine against Python."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.studio import live
from linkwright.rings.studio.scene_belts import belt_path
from tests.compiler.samples import node
from tests.mechanics.constraints.test_belt import around, block, hoist, pulleys
from tests.motion.test_stop_ends import BOOM
from tests.rings.studio.live.engine_runs import made, run
from tests.sweeps import sweep

G = 9.81
LIFTED = {
    "name": "lifted", "plane": "xy", "units": ["mm", "kg", "deg"], "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "L": [0, -600], "W": [900, 100], "S": [2000, 300], "R": [1500, -700], "E": [2600, 300], "D": [2600, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["L", "R"]}, "boom": {"pins": ["A"], "points": ["W", "S"], "mass": 200},
        "tail": {"pins": ["D"], "points": ["E"], "mass": 10},
    },
    "cylinders": {"lift": {"between": ["ground.L", "boom.W"], "stroke": [870, 1300]}},
    "springs": {"coil": {"between": ["ground.R", "boom.S"], "stiffness": "3 N/mm", "free_length": 800}},
    "rods": {"strut": {"between": ["boom.S", "tail.E"]}},
    "drive": {"lift": "50 mm/s"},
}  # fmt: skip
HAND = """
e.go(0);
const up=e.nudge(0,x[0]),high=e.state.drive[0],down=e.nudge(0,-x[0]),low=e.state.drive[0];
const far=e.drag(D.bodies[x[1]].name,D.bodies[x[1]].points.find(p=>p.name===x[2]).at,x[3]);
let pulled=far;
for(let i=0;i<40;i++)pulled=e.drag(D.bodies[x[1]].name,D.bodies[x[1]].points.find(p=>p.name===x[2]).at,x[3]);
return{up,high,down,low,pulled,end:e.state.drive[0]};
"""
READ = "return Object.fromEntries(e.channels.list.map(({name, kind}) => [name, [kind, e.channels.read(name)]]))"
PINS = "return Object.fromEntries(Object.entries(e.cycle.pins).map(([k,v])=>[k,v.force]));"


@pytest.mark.slow
def test_eyes_over_the_cycle_are_those_of_python():
    page = made(lw.load(LIFTED).system)
    (pins,) = run({"p": page}, [("p", PINS, None)])
    turn = page.motion.turn
    for eye in page.data["eyes"]:
        found = np.array(pins[f"{eye['pin']}|{eye['body']}"]).reshape(-1, 3)[:, :2]
        assert found == pytest.approx(turn[f"{eye['pin']}.on.{eye['body']}"], rel=1e-9, abs=1e-7), eye
    assert {e["pin"] for e in page.data["eyes"]} == {"strut.S", "strut.E", "coil.R", "coil.S", "lift.L", "lift.W"}
    assert all(e["unique"] and e["rows"] for e in page.data["eyes"])


def test_a_hand_ends_at_the_ends_of_the_stroke():
    """Nudged far up and down, and pulled by the tip of the boom, the cylinder stays within its stroke, and the label says why."""
    page = made(lw.load(BOOM).system)
    (got,) = run({"p": page}, [("p", HAND, [5.0, 1, "S", [0.2, 3.0, 0.0]])])
    assert got["high"] == pytest.approx(1.3, abs=1e-3) and got["high"] <= 1.3 + 1e-9 and got["up"]["stopped"] == "end of travel of lift"
    assert got["low"] == pytest.approx(0.87, abs=1e-3) and got["low"] >= 0.87 - 1e-9 and got["down"]["stopped"] == "end of travel of lift"
    assert got["pulled"]["stopped"] == "end of travel of lift" and got["end"] == pytest.approx(1.3, abs=1e-3)


def test_the_line_of_a_belt_is_that_of_the_pictures():
    """The same tangents and arcs as in Python's pictures; arcs have other points, so lengths are compared, and every tangent point."""
    page = made(lw.load(pulleys(around(0.04, 0.1, crossed=True))).system)
    (belt,) = page.data["scene"]["belts"]
    code = [live.asset(live.FIRST), "LW.draw={};", live.asset("drawing/belts.js")]
    centers = [[0.0, 0.0], [0.5, 0.1]]
    script = "\n".join([*code, f"process.stdout.write(JSON.stringify(LW.draw.beltPath({json.dumps(centers)},{json.dumps(belt)})))"])
    done = subprocess.run([*node(), "-e", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    theirs = np.array(json.loads(done.stdout))
    ours = belt_path(np.array(centers), belt["radii"], belt["turns"], True)
    length = [float(np.linalg.norm(np.diff(np.vstack([x, x[:1]]), axis=0), axis=1).sum()) for x in (theirs, ours[:-1])]
    assert length[0] == pytest.approx(length[1], rel=1e-3)
    lean = np.arcsin(0.14 / np.hypot(0.5, 0.1))
    assert length[1] == pytest.approx(2 * np.hypot(0.5, 0.1) * np.cos(lean) + 0.14 * (np.pi + 2 * lean), rel=1e-3)


def boom_with_a_bore():
    return lw.load({**LIFTED, "cylinders": {"lift": {**LIFTED["cylinders"]["lift"], "bore": 80, "rod": 45}}})


def belt_with_an_idler():
    three = {"around": [*around(0.04, 0.1)["around"], {"joint": "C", "radius": 0.05, "turn": "cw"}], "pretension": "200 N"}
    wheels = {n: {"pins": [j], "mass": 1, "com": j, "inertia": 0.01} for n, j in (("small", "A"), ("big", "B"), ("idler", "C"))}
    more = {"bodies": {"ground": {"pins": ["A", "B", "C"]}, **wheels}, "loads": {"brake": {"on": "big", "moment": -5.0}}}
    return lw.load(pulleys(three, more={"drawing": {"A": [0, 0], "B": [0.5, 0], "C": [0.25, 0.1]}, **more}))


def rope_over_a_sheave():
    rope, one = ["q.Q", {"at": "ground.A", "radius": 0.1, "turn": "cw"}, "p.P"], block("P", 0.1, -0.5, 2.0)
    one["joints"]["Py"]["stroke"] = [-0.3, 0.2]
    top = {"drawing": {"A": [0, 0]}, "bodies": {"ground": {"points": ["A"]}}}
    return hoist(rope, one, block("Q", -0.1, -0.6, 3.0), top, drive={"Py": "0.1 m/s"})


MACHINES = {"boom": boom_with_a_bore, "idler": belt_with_an_idler, "rope": rope_over_a_sheave}


@sweep("name", MACHINES, now=1)
def test_channels_of_machine_parts_are_those_of_the_turn(name):
    """Pressures, flows, eyes and tensions: every channel that the page lists for them has Python's values."""
    page = made(MACHINES[name]().system)
    (found,) = run({"p": page}, [("p", READ, None)])
    turn = page.motion.turn
    parts = [n for n in turn.channels if any(x in n for x in (".tension.", ".cap.", ".rod.", ".pump."))]
    parts += [f"{e['pin']}.on.{e['body']}.magnitude" for e in page.data["eyes"]]
    assert parts and set(parts) <= set(found), sorted(set(parts) - set(found))
    for n in parts:
        kind, values = found[n]
        assert kind == turn.dimension(n)
        assert np.array(values, dtype=float) == pytest.approx(turn[n], rel=1e-8, abs=1e-8 * max(1.0, float(np.abs(turn[n]).max()))), n


def test_loads_of_a_belt_in_the_page():
    """Shaft loads, pretension included, by the page's own kernels."""
    page = made(lw.load(pulleys(around(0.04, 0.1, pretension="200 N"), more={"loads": {"brake": {"on": "big", "moment": -5.0}}})).system)
    code = "return Object.fromEntries(Object.entries(e.cycle.pins).map(([k,v])=>[k,v.max]));"
    (got,) = run({"p": page}, [("p", code, None)])
    turn = page.motion.turn
    assert got["A|ground"] == pytest.approx(turn["A.on.ground.magnitude"].max(), rel=1e-9) and got["B|big"] > 390.0
