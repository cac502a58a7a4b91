"""Belts, chains and ropes over pulleys against closed forms: lengths, ratios, pulley blocks, Atwood's machine, tensions and shaft loads."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.mechanics.instant import Instant
from linkwright.rings.design.belts import belt_geometry

G = 9.81


def pulleys(belt, apart=0.5, more=None):
    """Two wheels on ground with a belt round them."""
    return {
        "plane": "xy", "drawing": {"A": [0, 0], "B": [apart, 0]},
        "bodies": {
            "ground": {"pins": ["A", "B"]}, "small": {"pins": ["A"], "mass": 0, "com": "A", "inertia": 0.01},
            "big": {"pins": ["B"], "mass": 0, "com": "B", "inertia": 0.05},
        },
        "belts": {"main": belt}, "drive": {"A": "60 rpm"}, **(more or {}),
    }  # fmt: skip


def around(*radii, **more):
    return {"around": [{"joint": j, "radius": r} for j, r in zip("AB", radii, strict=True)], **more}


def block(name, x, y, mass):
    """A body that slides vertically, with its mass at a point of its own name."""
    return {
        "drawing": {name: [x, y]},
        "bodies": {name.lower(): {"points": [name], "mass": mass, "com": name, "inertia": 1}},
        "joints": {f"{name}y": {"type": "prismatic", "between": ["ground", name.lower()], "at": name, "axis": [0, 1]}},
    }


def hoist(path, *blocks, **more):
    """Blocks on vertical guides, tied by a rope along a path."""
    out = {"plane": "xy", "gravity": [0, -G], "drawing": {}, "bodies": {"ground": {}}, "joints": {}, "belts": {"rope": {"path": path}}}
    for one in (*blocks, more):
        for section, entries in one.items():
            out[section] = {**out.get(section, {}), **entries}
    return lw.load(out)


# ---------------------------------------------------------------- geometry


@pytest.mark.parametrize(("r", "R", "a"), [(0.04, 0.1, 0.5), (0.1, 0.1, 0.3), (0.2, 0.05, 0.9)])
def test_lengths_of_open_and_crossed_belts(r, R, a):
    open_belt, crossed = (lw.load(pulleys(around(r, R, crossed=x), a)) for x in (False, True))
    (found,), (other,) = belt_geometry(open_belt.system), belt_geometry(crossed.system)
    lean = np.arcsin((R - r) / a)
    assert found.length == pytest.approx(2 * a * np.cos(lean) + np.pi * (R + r) + 2 * lean * (R - r))
    assert dict(found.arcs) == pytest.approx({"A": np.pi - 2 * lean, "B": np.pi + 2 * lean})
    lean = np.arcsin((R + r) / a)
    assert other.length == pytest.approx(2 * a * np.cos(lean) + (R + r) * (np.pi + 2 * lean))
    for m, sign in ((open_belt, 1.0), (crossed, -1.0)):
        c = m.cycle(steps=12)
        assert c["B"] - c["B"][0] == pytest.approx(sign * r / R * (c["A"] - c["A"][0])) and m.system.mobility.freedoms == 1


def test_chains_by_pitch_and_teeth():
    """The ratio is that of the teeth; the number of links that of the textbook's formula, here without its approximation."""
    p, a, z = 0.0127, 0.4, (17, 38)
    m = lw.load(pulleys({"around": [{"joint": j, "teeth": n} for j, n in zip("AB", z, strict=True)], "pitch": p}, a))
    c = m.cycle(steps=12)
    assert c["B"][-1] - c["B"][0] == pytest.approx(2 * np.pi * 17 / 38)
    (found,) = belt_geometry(m.system)
    textbook = 2 * a / p + sum(z) / 2 + ((z[1] - z[0]) / (2 * np.pi)) ** 2 * p / a
    assert found.links == pytest.approx(textbook, abs=1e-3)
    assert "90.85 pitches of 0.0127 m (nearest even number 90: 0.0108 m shorter than its path)" in str(m.info())


WHEELS = {n: {"pins": [j]} for n, j in zip(("a", "b", "c"), "ABC", strict=True)}


def test_an_idler_bends_the_belt_the_other_way():
    """Three pulleys on ground, the third pressed on from outside: it turns against the others; belt speed is the same at all."""
    m = lw.load(pulleys(
        {"around": [{"joint": "A", "radius": 0.1}, {"joint": "B", "radius": 0.1}, {"joint": "C", "radius": 0.05, "turn": "cw"}]},
        more={"drawing": {"A": [0, 0], "B": [0.5, 0], "C": [0.25, 0.12]},
              "bodies": {"ground": {"pins": ["A", "B", "C"]}, **{n: {"pins": [j]} for n, j in zip(("a", "b", "c"), "ABC", strict=True)}}},
    ))  # fmt: skip
    c = m.cycle(steps=12)
    assert c["B"] == pytest.approx(c["A"]) and np.ptp(c["C"] + 2 * c["A"]) < 1e-12 and m.system.mobility.freedoms == 1
    assert not any("`turn:`" in text for text in m.info().notes)
    away = lw.load(pulleys(
        {"around": [{"joint": "A", "radius": 0.1}, {"joint": "B", "radius": 0.1}, {"joint": "C", "radius": 0.05, "turn": "cw"}]},
        more={"drawing": {"A": [0, 0], "B": [0.5, 0], "C": [0.25, 0.3]}, "bodies": {"ground": {"pins": ["A", "B", "C"]}, **WHEELS}},
    ))  # fmt: skip
    assert any(text.endswith("round C: its `turn:` may be the wrong one") for text in away.info().notes)  # beside the straight belt
    close = lw.load(pulleys({"around": [{"joint": "A", "radius": 0.1}, {"joint": "B", "radius": 0.45}]}))  # shafts 0.5 m apart
    (said,) = (text for text in close.info().notes if "belt" in text)
    assert "the pulleys A and B overlap: their radii add up to 0.55 m, their shafts are 0.5 m apart" in said
    explicit = lw.load(pulleys({"around": [{"joint": "A", "radius": 0.1, "turn": "cw"}, {"joint": "B", "radius": 0.1, "turn": "cw"}]}))
    assert explicit.cycle(steps=4)["B.v"] == pytest.approx(2 * np.pi)


# ---------------------------------------------------------------- equations


SWINGING = {
    "plane": "xy", "gravity": [0, -G],
    "drawing": {"A": [0, 0], "B": [0.6, 0.1], "C": [0.3, 0.5], "D": [0.3, 0.9], "P": [1.2, -0.3], "E": [0.9, 0.7]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["E", "P"]}, "arm": {"pins": ["A", "B"], "mass": 1},
        "wheel": {"pins": ["B"], "mass": 1, "inertia": 0.1, "com": "B"},
        "bob": {"pins": ["D"], "points": ["C"], "mass": 2}, "drum": {"pins": ["A"], "mass": 1, "inertia": 0.1, "com": "A"},
    },
    "belts": {
        "rope": {"path": [
            {"joint": "A:drum", "radius": 0.08, "turn": "cw"}, {"at": "bob.C", "radius": 0.05}, {"joint": "B", "radius": 0.1}, "ground.P",
        ]},
        "loop": {"around": [{"joint": "A:drum", "radius": 0.07}, {"joint": "B", "radius": 0.12}, {"at": "bob.C", "radius": 0.03}]},
    },
}  # fmt: skip


def test_rows_are_the_exact_derivatives_of_the_residual():
    """d phi/dt = J v and d(J v)/dt = k at zero accelerations, by central differences along q(t) = q + v t, open and closed alike."""
    s = lw.load(SWINGING).system
    rng = np.random.default_rng(3)
    q, v, h = s.start.q + 0.1 * rng.standard_normal(s.tree.nq), rng.standard_normal(s.tree.nv), 1e-5

    def closure(t):
        x = Instant(compiled_of(s).skel, q + v * t, v, 0.0, s.start.references)
        return compiled_of(s).loops.at(x.q, v, 0.0, s.start.references, x.motion)

    before, here, after = (closure(t) for t in (-h, 0.0, h))
    assert np.abs(here.phi).max() > 1e-3  # open
    assert (after.phi - before.phi) / (2 * h) == pytest.approx(here.J @ v, abs=1e-8)
    assert (after.J @ v - before.J @ v) / (2 * h) == pytest.approx(here.k, abs=1e-7)
    assert len(here.phi) == 4 and [x.labels for x in s.tree.loops] == [("span1", "span3"), ("span1", "span2")]


def test_kernels_and_floats_agree():
    """Native code, with numbers folded or as inputs, gives the accelerations that the equations of motion on floats give."""
    model = {**SWINGING, "belts": {"rope": SWINGING["belts"]["rope"]}}
    s = lw.load(model).system
    st = s.assemble(q={"A:arm": 0.1}, v={"A:arm": 0.5})
    terms = s.terms(st)
    zero = np.zeros((2, 2))
    whole = np.block([[terms.M, terms.J.T], [terms.J, zero]])
    found = np.linalg.solve(whole, np.concatenate([-terms.h, -terms.k]))[: s.tree.nv]
    tau = np.zeros(s.tree.nv)
    assert s.kernel("forward")(st.q, st.v, tau).a == pytest.approx(found, rel=1e-9)
    free = lw.compile(lw.load(model), parameters=["bob.mass"])
    assert free.kernel("forward")(st.q, st.v, tau).a == pytest.approx(found, rel=1e-9)
    assert s.forward(st).a == pytest.approx(found, rel=1e-9) and np.abs(found).max() > 1.0


# ---------------------------------------------------------------- ropes


@pytest.mark.parametrize("inertia", [0.0, 0.02])
def test_atwoods_machine(inertia):
    r, one, two = 0.1, block("P", -0.1, -0.5, 2.0), block("Q", 0.1, -0.6, 3.0)
    m = hoist(
        ["p.P", {"joint": "A", "radius": r}, "q.Q"], one, two, drawing={"A": [0, 0]},
        bodies={"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 1, "com": "A", "inertia": inertia}},
    )  # fmt: skip
    a = (3.0 - 2.0) * G / (5.0 + inertia / r**2)
    run = m.simulate(0.3, sample_interval=0.1)
    assert run["Py.a"] == pytest.approx(np.full(4, a)) and run["Qy"][-1] == pytest.approx(-0.5 * a * 0.09) and run.checks().ok
    assert run["rope.tension.1"] == pytest.approx(2.0 * (G + a)) and run["rope.tension.2"] == pytest.approx(3.0 * (G - a))
    assert run["A.load"] == pytest.approx(2.0 * (G + a) + 3.0 * (G - a) + G)


def test_a_sheave_without_friction_is_a_wheel_without_inertia():
    m = hoist(["p.P", {"at": "ground.A", "radius": 0.1}, "q.Q"], block("P", -0.1, -0.5, 2.0), block("Q", 0.1, -0.6, 3.0),
              drawing={"A": [0, 0]}, bodies={"ground": {"points": ["A"]}})  # fmt: skip
    run = m.simulate(0.2, sample_interval=0.1)
    assert run["Py.a"] == pytest.approx(np.full(3, G / 5.0)) and run["rope.tension.1"] == pytest.approx(run["rope.tension.2"])


@pytest.mark.parametrize("falls", [2, 4])
def test_pulley_blocks(falls):
    """The hook moves by 1/2 or 1/4 of the rope's end, and the rope carries that share of the load."""
    hook = block("H", 0.0, -1.0, 100.0)
    hook["drawing"] |= {"S": [0.1, -1.0], "T": [-0.3, -1.0]}
    hook["bodies"]["h"]["points"] = ["H", "S", "T"]
    end = block("E", -0.8, -0.5, 0.0)
    wheels = ("h.S", "ground.X", "h.T", "ground.Y")[:falls]
    path = ["ground.Z", *({"at": x, "radius": 0.1, "turn": turn} for x, turn in zip(wheels, ("cw", "ccw") * 2, strict=False))]
    over = 0.0 if falls == 2 else -0.4
    top = {"drawing": {"Z": [0.2, 0.0], "X": [-0.1, 0.0], "Y": [-0.5, 0.0]}, "bodies": {"ground": {"points": ["Z", "X", "Y"]}}}
    end["drawing"]["E"] = [over - 0.2, -0.5]
    m = hoist([*path, "e.E"], hook, end, top, drive={"Ey": "-1 m/s"})
    c = m.cycle(start=0.0, stop=-0.4, steps=8)
    assert c["Hy"] == pytest.approx(0.4 * np.linspace(0, 1, 9) / falls, abs=2e-3 / falls)  # falls are vertical: as drawn they are
    assert c["rope.tension.1"] == pytest.approx(100 * G / falls, rel=1e-6) and c["Ey.force"] == pytest.approx(-100 * G / falls, rel=1e-6)


def test_a_winding_drum_and_a_length():
    """A drum of radius r lifts by r times its angle; a rope that is given longer hangs lower by that."""
    load = block("Q", 0.2, -0.6, 10.0)
    drum = {"drawing": {"A": [0, 0]}, "bodies": {"ground": {"pins": ["A"]}, "drum": {"pins": ["A"], "mass": 0, "com": "A", "inertia": 0}}}
    rope = [{"joint": "A", "radius": 0.2, "turn": "cw"}, "q.Q"]
    m = hoist(rope, load, drum, drive={"A": "1 rad/s"})
    c = m.cycle(start=0, stop=2.0, steps=6)
    assert c["Qy"] == pytest.approx(0.2 * c["A"]) and c["A.torque"] == pytest.approx(10.0 * G * 0.2)
    wound = m.cycle(start=0, stop=4.0, steps=6)  # past the axis the rope pulls from the top of the drum, at last across the guide
    (end,) = wound.singular
    assert end.at == pytest.approx((0.6 - 0.2 + 0.2 * np.pi / 2) / 0.2, rel=1e-6) and "asked to go to 4 rad" in wound.notes[0]
    longer = hoist(rope, load, drum, belts={"rope": {"path": rope, "length": 0.75}})
    assert longer.system.assemble(q={"A": 0.0})["Qy"] == pytest.approx(-0.15)


def test_a_differential_pulley():
    """Weston's hoist: a rope wound on two drums of one wheel, one way up and one down, lifts the hook by (R - r)/2 times the angle."""
    R, r, hook = 0.2, 0.15, block("H", 0.025, -1.0, 100.0)
    path = [{"joint": "A", "radius": R}, {"at": "h.H", "radius": 0.5 * (R + r)}, {"joint": "A", "radius": r}]
    wheel = {"ground": {"pins": ["A"]}, "wheel": {"pins": ["A"], "mass": 0, "com": "A", "inertia": 0}}
    path = [{**x, "turn": "ccw"} for x in path]
    m = hoist(path, hook, drawing={"A": [0, 0], "H": [-0.025, -1.0]}, bodies=wheel, drive={"A": "1 rad/s"})
    c = m.cycle(start=0, stop=6.0, steps=6)
    assert np.abs(c["Hy"] - c["Hy"][0]) == pytest.approx(0.5 * (R - r) * c["A"], abs=1e-9)
    assert np.abs(c["A.torque"]) == pytest.approx(0.5 * 100 * G * (R - r)) and c["rope.tension.1"] == pytest.approx(50 * G)


# ---------------------------------------------------------------- tensions and shaft loads


def braked(**more):
    return lw.load(pulleys(around(0.04, 0.1, **more), more={"loads": {"brake": {"on": "big", "moment": -5.0}}})).cycle(steps=12)


def test_tight_and_slack_side_and_the_load_of_the_shafts():
    """5 N m on 100 mm are 50 N between the sides: about a pretension of 200 N, or with a slack side of none; shaft loads as vectors."""
    lean = np.arcsin(0.06 / 0.5)
    up, down = np.array([np.cos(lean), np.sin(lean)]), np.array([np.cos(lean), -np.sin(lean)])
    for more, tight, slack in (({"pretension": "200 N"}, 225.0, 175.0), ({}, 50.0, 0.0)):
        c = braked(**more)
        assert c["main.tension.max"] == pytest.approx(tight) and c["main.tension.min"] == pytest.approx(slack, abs=1e-9)
        lower, upper = c["main.tension.1"][0], c["main.tension.2"][0]
        assert c["A.torque"] == pytest.approx(2.0) and abs(lower - upper) == pytest.approx(50.0)
        load = lower * down + upper * up
        assert c["A.on.ground"][0] == pytest.approx(load) and c["B.on.ground"][0] == pytest.approx(-load)
        assert c.belts()["main", 1].max == pytest.approx(lower) and not c.belts().notes


def test_a_belt_that_goes_slack_says_where():
    c = braked(pretension="20 N")
    assert c["main.tension.min"] == pytest.approx(-5.0)
    (note,) = c.belts().notes
    assert note.startswith("belt 'main' is slack between ") and "would have to push with 5 N" in note
    from linkwright.rings.design.cycle_loads import cycle_loads

    assert note in str(cycle_loads(c)) and cycle_loads(c).as_dict()["belts"][0]["belt"] == "main"


def test_a_tensioner_sets_the_tension_of_its_belt():
    """An idler on an arm with a spring: the length of the belt is a constraint, and the spring's moment gives the tension."""
    m = lw.load({
        **pulleys({"around": [{"joint": "A", "radius": 0.1}, {"joint": "B", "radius": 0.1}, {"at": "arm.C", "radius": 0.05}]}),
        "drawing": {"A": [0, 0], "B": [0.5, 0], "C": [0.25, 0.4], "D": [0.05, 0.4]},
        "bodies": {
            "ground": {"pins": ["A", "B", "D"]}, "small": {"pins": ["A"], "mass": 0, "com": "A", "inertia": 0.01},
            "big": {"pins": ["B"], "mass": 0, "com": "B", "inertia": 0.05}, "arm": {"pins": ["D"], "points": ["C"], "mass": 0.001},
        },
        "springs": {"s": {"joint": "D", "stiffness": "0 N m/rad", "preload": "8 N m"}},
    })  # fmt: skip
    assert m.system.mobility.freedoms == 1 and m.description.belts[0].carrier == ""
    c = m.cycle(steps=4)
    (geometry,) = belt_geometry(m.system)
    angle = dict(geometry.arcs)["arm.C"]
    assert c["D"] == pytest.approx(c["D"][0]) and c["main.tension.2"] == pytest.approx(c["main.tension.1"])
    assert c["main.tension.2"] * 2 * np.sin(angle / 2) * 0.2 == pytest.approx(8.0)  # the bisector of the two spans is vertical


def test_a_belt_on_a_moving_carrier():
    """A pulley fixed to ground and one on the forearm, carried by the arm: with equal radii the forearm stays parallel to itself."""
    m = lw.load({
        "plane": "xy", "gravity": [0, -G], "drawing": {"A": [0, 0], "B": [0.5, 0], "P": [0.5, -0.3]},
        "bodies": {
            "ground": {"pins": ["A"]}, "arm": {"pins": ["A", "B"], "mass": 2},
            "fore": {"pins": ["B"], "points": ["P"], "mass": 1, "com": "P"},
        },
        "belts": {"loop": {"around": [{"joint": "A", "radius": 0.05}, {"joint": "B", "radius": 0.05}]}}, "drive": {"A": "1 rad/s"},
    })  # fmt: skip
    assert m.description.belts[0].carrier == "arm" and m.description.belts[0].bodies == ("ground", "fore")
    c = m.cycle(start=0, stop=7.0, steps=70)
    assert np.ptp(c["fore.angle"]) < 1e-9
    assert c["A.torque"] == pytest.approx((2 * 0.25 + 1 * 0.5) * G * np.cos(c["A"]), abs=1e-9)  # the forearm does not turn


def test_designs_with_other_radii_and_distances():
    """Numbers of the drawing and parameters change belts as files written with them would."""
    brake = {"brake": {"on": "big", "moment": -5.0}}
    model = pulleys(around("r", 0.1, pretension="200 N"), more={"parameters": {"r": "0.04 m"}, "loads": brake})
    m = lw.load(model)
    t = m.cycles({"r": [0.04, 0.05], "B.x": [0.5, 0.6]}, steps=8, read=["B", "A.torque", "A.load"])
    for k, (r, x) in enumerate(((0.04, 0.5), (0.05, 0.6))):
        alone = lw.load({**model, "parameters": {"r": r}, "drawing": {"A": [0, 0], "B": [x, 0]}}).cycle(steps=8)
        for name in ("B", "A.torque", "A.load"):
            assert t[name][k] == pytest.approx(alone[name]), name
    rope = hoist(["q.Q", {"at": "ground.A", "radius": 0.1, "turn": "cw"}, "p.P"], block("P", 0.1, -0.5, 2.0), block("Q", -0.1, -0.6, 3.0),
                 drawing={"A": [0, 0]}, bodies={"ground": {"points": ["A"]}}, drive={"Py": "1 m/s"})  # fmt: skip
    moved = rope.with_(**{"A.y": 0.1}).cycle(start=0, stop=0.1, steps=4)
    assert moved["Qy"] == pytest.approx(-moved["Py"]) and moved["rope.tension.1"] == pytest.approx(3 * G)
