"""Designs of one structure run on code that is there, and give what a model read anew gives on floats."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels import kernels
from linkwright.model import library
from linkwright.model.numbers import DesignNumbers
from linkwright.system import states
from linkwright.system.compiled import WALKS
from linkwright.system.mechanism import mechanism_of
from linkwright.text.expressions import evaluate_parameters
from tests.sweeps import sweep

# turns of 24 samples against the float path with the engine that compiles nothing. Round-off of both, amplified by the condition of
# the loops: below 2e-13 on all models of `DESIGNS` (delta, scissor-lift and 3r-slider have the worst)
AGREEMENT = 1e-12
STEPS = 24

SPRUNG = {
    "name": "sprung",
    "plane": "xy",
    "parameters": {
        "k": "800 N/m", "L": "0.3 m", "c": "3 N s/m", "F": "20 N", "kt": "2 N m/rad", "ff": "5 N/m", "r": "0.1 m",
        "gas": "40 N", "end": "0.2 rad", "g": "9.81 m/s^2",
    },
    "gravity": [0, "-g"],
    "drawing": {"A": [0, 0], "B": ["L", 0.02], "C": [0.9, 0.75], "D": [1.0, 0], "P": [0.5, 0.4], "G": [0.2, 0.9]},
    "bodies": {
        "ground": {"pins": ["A", "D"], "points": ["G"]},
        "crank": {"pins": ["A", "B"], "mass": 1},
        "coupler": {"pins": ["B", "C"], "points": ["P"], "mass": 2},
        "rocker": {"pins": ["C", "D"], "mass": 1.5},
    },
    "springs": {
        "coil": {"between": ["ground.G", "coupler.P"], "stiffness": "k", "free_length": "L"},
        "twist": {"joint": "D", "stiffness": "kt", "free_position": "0.3 rad", "preload": "r*F"},
        "strut": {"between": ["ground.G", "rocker.C"], "force": "gas", "length": "1.2 m", "stroke": "0.8 m", "progression": 1.4},
    },
    "dampers": {"d": {"between": ["ground.G", "coupler.P"], "coefficient": "c"}},
    "friction": {"D": {"coulomb": "r*F", "speed": "0.1 rad/s"}},
    "stops": {"D": {"max": "end", "stiffness": "10 N m/rad"}},
    "loads": {
        "constant": {"on": "coupler.P", "force": ["F", 0]},
        "formula": {"on": "coupler.P", "force": [0, "-ff*coupler.P.x^2/(1 m) - 2 N"]},
        "carried": {"on": "coupler.P", "force": ["F", "ff*L"], "axes": "rocker"},
    },
    "drive": {"A": "60 rpm"},
}  # fmt: skip
GEARED = {
    "name": "geared",
    "plane": "xy",
    "parameters": {"r1": "0.1 m", "r2": "0.2 m", "n": 0.5, "ring": "0.3 m", "p": "0.04 m"},
    "gravity": [0, -9.81],
    "drawing": {
        "A": [0, 0], "B": ["r1 + r2", 0], "P": [0.05, 0.05], "Q": ["r1 + r2 + 0.1 m", 0.1], "E": ["ring - r1", 0.0], "S": [0.3, 0.1],
        "T": [0, "r1"], "U": [0.1, "r1"],
    },
    "bodies": {
        "ground": {"pins": ["A", "B", "E"]},
        "one": {"pins": ["A"], "points": ["P"], "mass": 1, "com": "P", "inertia": 0.01},
        "two": {"pins": ["B"], "points": ["Q"], "mass": 2, "com": "Q", "inertia": 0.02},
        "three": {"pins": ["E"], "points": ["S"], "mass": 1, "com": "S", "inertia": 0.03},
        "rack": {"points": ["T", "U"], "mass": 1},
    },
    "joints": {"R": {"type": "prismatic", "between": ["ground", "rack"], "at": "T", "axis": [1, 0]}},
    "gears": {
        "outside": {"joints": ["A", "B"], "radii": ["r1", "r2"]},
        "inside": {"joints": ["A", "E"], "radii": ["r1", "ring"], "internal": True},
        "rack": {"pinion": "A", "rack": "R", "radius": "r1"},
    },
    "drive": {"A": "60 rpm"},
}  # fmt: skip
COUPLED = {
    **{key: GEARED[key] for key in ("plane", "gravity", "drawing", "bodies", "parameters", "drive")},
    "name": "coupled",
    "joints": {"R": {"type": "prismatic", "between": ["ground", "rack"], "at": "T", "axis": [1, 0]}},
    "couplings": {
        "belt": {"from": "A", "to": "B", "ratio": "n"},
        "shifted": {"from": "B", "to": "E", "ratio": "-2*n", "offset": "0.1 rad + 1 rad*n"},
        "cam": {"from": "A", "to": "R", "table": [[-7, 0], [0, 0.02], [4, 0.1], [7, 0.15]], "interpolation": "cubic"},
    },
}
SKEWED = {  # a rod with two ball joints spins about itself, on a crank and a rocker whose axes are turned by parameters
    "name": "skewed",
    "parameters": {"a": "0.1 m", "rise": "0.2 m", "alpha": "20 deg", "beta": "1.2 rad", "m": "0.4 kg", "g": "9.81 m/s^2"},
    "gravity": [0, 0, "-g"],
    "drawing": {"A": [0, 0, 0], "B": ["a*cos(alpha)", 0, "-a*sin(alpha)"], "C": [0.35, 0.4, "rise + 0.1 m"], "D": [0.35, 0.1, "rise"]},
    "bodies": {
        "ground": {"points": ["A", "D"]},
        "crank": {"points": ["A", "B"], "mass": 1, "bars": [["A", "B"]], "bar": {"section": {"diameter": "20 mm"}}},
        "coupler": {"pins": ["B", "C"], "mass": "m", "bar": {"section": {"diameter": "20 mm"}}},
        "rocker": {"points": ["C", "D"], "mass": 1, "bars": [["C", "D"]], "bar": {"section": {"diameter": "20 mm"}}},
    },
    "joints": {
        "A": {"type": "revolute", "between": ["ground", "crank"], "at": "A", "axis": ["sin(alpha)", 0, "cos(alpha)"]},
        "B": {"type": "spherical", "between": ["crank", "coupler"], "at": "B"},
        "C": {"type": "spherical", "between": ["coupler", "rocker"], "at": "C"},
        "D": {"type": "revolute", "between": ["ground", "rocker"], "at": "D", "axis": ["cos(beta)", "0.2*sin(beta)", "sin(beta)"]},
    },
    "drive": {"A": "60 rpm"},
}
WRITTEN = {"sprung": SPRUNG, "geared": GEARED, "coupled": COUPLED, "skewed": SKEWED}
NAMED = [n for n in library.names() if lw.load(n).description.parameters]
# a walk through singular positions or to dead centers is on floats: see docs/evidence/limits.md; its
# result then is that of the float path itself
FLOATS = ("3-rrr-motors", "bennett", "change-point-four-bar", "parallelogram-chain", "parallelogram-middle", "rssr", "slider-crank-equal")
DESIGNS = [*WRITTEN, *(n for n in NAMED if n not in FLOATS)]


def parameters(m):
    """Values of the numbers that a design may change; those that count copies belong to the structure."""
    return {k: float(x) for k, x in evaluate_parameters(dict(m.description.parameters), {}).items() if k != "N"}


def efforts(c):
    known = set(c.channels)
    return [n for d in c.drives for n in (f"{d}.torque", f"{d}.force") if n in known]


QUICK = [(name, 3) for name in (*WRITTEN, "four-bar")]  # every third parameter against floats, which take their time


@sweep("case", [*QUICK, *((name, 1) for name in DESIGNS)], now=[("geared", 3), ("coupled", 3)])
def test_every_named_number_is_an_input(case, monkeypatch):
    """No number of a model makes code of its own, and every design agrees with the model read anew."""
    model, every = WRITTEN.get(case[0], case[0]), case[1]
    m = lw.load(model)
    turned = m.cycle(steps=STEPS)
    names = efforts(turned)
    _ = turned[names[0]]
    held = dict(kernels._known)
    with monkeypatch.context() as nothing_is_made:
        nothing_is_made.setattr("linkwright.compiler.native._make", lambda *_: pytest.fail("code was made"))
        nothing_is_made.setattr("linkwright.kernels.kernels.trace", lambda *_: pytest.fail("a kernel was traced"))
        designs = {p: m.with_(**{p: 1.003 * x}) for p, x in parameters(m).items()}
        turns = {p: design.cycle(steps=STEPS) for p, design in designs.items()}
        found = {p: np.array([c[n] for n in names]) for p, c in turns.items()}
    assert kernels._known == held
    for p in list(turns)[::every]:
        assert WALKS.of(compiled_of(designs[p].system)) and turns[p]._loads.cycle is not None
        exact = mechanism_of(lw.compile(lw.load(model, **{p: 1.003 * parameters(m)[p]}), engine="python")).cycle(steps=STEPS)
        wanted = np.array([exact[n] for n in names])
        assert np.abs(found[p] - wanted).max() <= AGREEMENT * np.abs(wanted).max()
        if not compiled_of(m.system)._structure.kernels.plan.idle:  # spins of idle rods are a choice
            for mine, theirs in zip((turns[p].q, turns[p].v, turns[p].a), (exact.q, exact.v, exact.a), strict=True):
                assert np.abs(mine - theirs).max() <= AGREEMENT * (1.0 + np.abs(theirs).max())


@sweep("name", [*FLOATS, "delta", "stewart"], now=("bennett", "delta"))
def test_every_named_number_is_an_input_of_one_structure(name):
    m = lw.load(name)
    structure = compiled_of(m.system).numbers.structure
    for p, x in parameters(m).items():
        assert compiled_of(m.with_(**{p: 1.003 * x}).system).numbers.structure == structure


def test_other_zeros_are_another_structure_with_its_own_answers():
    """A platform whose legs stand along the axes of their joints has other zeros: it must not run on code that leaves them out."""
    m = lw.load("four-bar")
    special = m.with_(gravity=0), m.with_(L1=0.31), lw.load(SPRUNG).with_(F=0.0), lw.load(SPRUNG)
    structure = [compiled_of(x.system).numbers.structure for x in special]
    assert structure[0] != structure[1] and structure[2] != structure[3]
    for x in special:
        for _ in range(2):
            found = x.cycle(steps=STEPS)["A.torque"]
        exact = mechanism_of(lw.compile(lw.Mechanism(x.description), engine="python")).cycle(steps=STEPS)["A.torque"]
        assert np.abs(found - exact).max() <= AGREEMENT * (1.0 + np.abs(exact).max())


def test_points_of_turned_bodies_and_jacobians():
    """Kernels of a structure have bodies along their joints; rows of points are in the world all the same."""
    m = lw.load("3r-slider").with_(L1=0.31)
    s = m.system
    st = s.assemble(v=dict.fromkeys(compiled_of(s).drive_names, 0.3))
    bodies = [b.name for b in s.description.bodies[1:]]
    points = [f"{b.name}.{p.name}" for b in s.description.bodies[1:] for p in b.points]
    for of in (*bodies, *points):
        for _ in range(2):
            found = s.jacobian(st, of)
        assert np.abs(found - compiled_of(s).assembler.jacobian(st, of, compiled_of(s).drive_names)).max() < 1e-12


def test_many_states_with_a_rod_that_spins_are_assembled_in_lanes():
    s = lw.load(SKEWED).system
    turned = np.linspace(-0.5, 0.5, 20)
    for _ in range(2):
        found = s.assemble_batch({"A": turned}, {"A": 0.3})
    assert found.ok.all() and states.WALKS.of(compiled_of(s))["A",] is not None
    for i in (0, 7, 19):
        one = s.assemble({"A": float(turned[i])}, {"A": 0.3})
        assert np.abs(s.closure(found[i]).phi).max() < 1e-14 and np.abs(s.closure(found[i]).J @ found[i].v).max() < 1e-14
        assert abs(found[i]["D"] - one["D"]) < 1e-13 and np.abs(s.pose(found[i], "rocker").R - s.pose(one, "rocker").R).max() < 1e-13


def test_rotations_of_frames_are_two_numbers_about_an_axis_and_signs_and_zeros_are_structure():
    s = lw.load("stewart").system
    n = compiled_of(s).numbers
    sizes = {tuple(np.abs(row)) for row in n.codes}
    assert (1, 2, 0, 2, 1, 0, 0, 0, 100) in sizes  # a turn about z
    other = DesignNumbers.of(lw.load("stewart", wb="-12 deg").system.description, n.tree)
    assert other.structure != n.structure
