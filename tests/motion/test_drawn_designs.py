"""Pins of the drawing and lengths of links as numbers that vary: equal to a model file edited by hand, in lanes and one by one."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.model import file as modelfile
from linkwright.motion.designs import Designs
from tests.sweeps import sweep

STEPS = 24
N = 16  # designs for which code is made
CHANNELS = ("A", "A.v", "A.torque", "rocker.angle", "rocker.angle.a", "coupler.P", "coupler.C.a", "C.load", "B.load", "D.load")

# A text with everything that follows from pins: a center in the drawing's coordinates, a bar by its section, a plate, a spring relaxed as
# drawn, a slider whose axis is drawn, a rod as drawn.
RICH = """
name: rich
plane: xy
units: [mm, kg, deg, rpm]
gravity: [0, -9.81 m/s^2]
drawing: {A: [0, 0], B: [50, 80], C: [300, 210], D: [340, 10], P: [180, 260], E: [200, 500], F: [210, 600], S: [-60, 40]}
bodies:
  ground: {pins: [A, D], points: [S]}
  crank: {pins: [A, B], bar: {section: {width: 10, height: 20}, material: steel}}
  coupler: {pins: [B, C], points: [P], plate: {thickness: 4, material: aluminum}}
  rocker: {pins: [D, C], mass: 0.8, com: [330, 120], inertia: 0.004 kg m^2}
  head: {pins: [E], points: [F], mass: 0.5}
joints:
  guide: {type: prismatic, between: [ground, head], at: E, axis: [0, 1]}
rods:
  tie: {between: [coupler.P, head.F]}
springs:
  coil: {between: [ground.S, rocker.C], stiffness: 2 N/mm}
drive: {A: 60 rpm}
"""


def edited(text: str, name: str, value: float) -> lw.Mechanism:
    """The model of the text with the coordinate of a pin exchanged by hand."""
    pin, axis = name.split(".")
    d = modelfile.read_text(text)
    at = [1e3 * x for x in dict(d.drawing)[pin][:2]]
    old = f"{pin}: [{at[0]:g}, {at[1]:g}]"
    assert text.count(old) == 1
    at["xy".index(axis)] = 1e3 * value
    return lw.Mechanism(modelfile.read_text(text.replace(old, f"{pin}: [{at[0]!r}, {at[1]!r}]")))


def close(a: Any, b: Any, size: float = 0.0) -> bool:
    """Round-off of two walks, of accelerations: 1e-10 of the largest value; of zeros 1e-9."""
    return bool(np.abs(a - b).max() <= 1e-10 * np.abs(b).max() + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["A.y", "B.x", "C.x", "C.y", "D.x", "P.x", "E.x", "F.y", "S.x"])
def test_designs_are_those_of_the_file_edited_by_hand(name: str) -> None:
    m = lw.Mechanism(modelfile.read_text(RICH))
    x = m.description.drawn_numbers[name]
    values = x + 1e-3 * np.linspace(-4.0, 4.0, N)
    t = m.cycles({name: values}, steps=STEPS)
    assert t.ok.all() and Designs.of(compiled_of(m.system), {name: values}).alike()
    for i in (0, N - 1):
        c = edited(RICH, name, float(values[i])).cycle(steps=STEPS)
        for channel in (*CHANNELS, "guide", "guide.load"):
            assert close(t[channel][i], c[channel]), channel


@pytest.mark.slow
def test_drives_begin_where_the_moved_pins_put_them() -> None:
    """The start of the crank is its drawn direction; a quarter turn of B about A is a quarter turn of the start."""
    m = lw.load("wiper")
    angles = np.linspace(0.0, 0.5 * np.pi, N)
    x, y = 0.15, 0.26
    t = m.cycles({"B.x": x * np.cos(angles) - y * np.sin(angles), "B.y": x * np.sin(angles) + y * np.cos(angles)}, steps=STEPS)
    assert np.abs(t["A"][:, 0] - (np.arctan2(y, x) + angles)).max() < 1e-12
    c = m.with_(**{"B.x": -y, "B.y": x}).cycle(steps=STEPS)
    assert all(close(t[channel][-1], c[channel]) for channel in CHANNELS)


@pytest.mark.slow
def test_a_drive_drawn_beyond_half_a_turn_is_counted_as_the_file_would() -> None:
    m = lw.load("wiper", **{"B.x": -0.2, "B.y": 0.05})  # crank at 166 deg; below the axis a file counts it negative
    values = np.linspace(0.05, -0.05, N)
    t = m.cycles({"B.y": values}, steps=STEPS)
    for i in (0, N - 3, N - 1):
        c = m.with_(**{"B.y": float(values[i])}).cycle(steps=STEPS)
        assert t.ok[i] and (c["A"][0] < 0.0) == (values[i] < 0.0)
        assert all(close(t[channel][i], c[channel]) for channel in CHANNELS)


@pytest.mark.slow
def test_programs_begin_where_the_pins_put_the_drive() -> None:
    m = lw.load("boot-lid")
    values = m.description.drawn_numbers["B.x"] + 1e-3 * np.linspace(-2.0, 2.0, N)
    t = m.cycles({"B.x": values}, steps=STEPS)
    for i in (0, N - 1):
        c = m.with_(**{"B.x": float(values[i])}).cycle(steps=STEPS)
        assert t.ok[i]
        for channel in ("A", "A.torque", "lid.H", "C.load", "D.load"):
            assert close(t[channel][i], c[channel]), channel


COUPLED = {  # a five-bar whose second crank is coupled to the first from where both are drawn
    "name": "coupled", "plane": "xy", "gravity": [0, "-9.81 m/s^2"],
    "drawing": {"A": [0, 0], "B": [0.1, 0.15], "C": [0.3, 0.4], "D": [0.5, 0.2], "E": [0.4, 0]},
    "bodies": {
        "ground": {"pins": ["A", "E"]}, "left": {"pins": ["A", "B"], "mass": 0.2}, "up": {"pins": ["B", "C"], "mass": 0.4},
        "down": {"pins": ["C", "D"], "mass": 0.4}, "right": {"pins": ["D", "E"], "mass": 0.2},
    },
    "couplings": {"belt": {"from": "A", "to": "E", "ratio": 1}},
    "drive": {"A": "60 rpm"},
}  # fmt: skip


@sweep("name", ["D.x", "B.y"], now=1)
def test_couplings_count_from_where_the_pins_are_drawn(name: str) -> None:
    m = lw.load(COUPLED)
    values = m.description.drawn_numbers[name] + 1e-3 * np.linspace(-3.0, 3.0, N)
    t = m.cycles({name: values}, steps=STEPS)
    for i in (0, N - 1):
        c = m.with_(**{name: float(values[i])}).cycle(steps=STEPS)
        assert t.ok[i] and all(close(t[channel][i], c[channel]) for channel in ("A", "E", "A.torque", "C.load", "up.C"))


@sweep("name", ["C.y", "crank.length", "E.x", "B.x", "S.y", "rocker.length"], now=2)
def test_derivatives_are_those_of_edited_files(name: str) -> None:
    """At fixed drive angles, as all derivatives of turns: differences of order four, h^4 and round-off over h are below 1e-7."""
    m = lw.Mechanism(modelfile.read_text(RICH))
    c = m.cycle(steps=STEPS)
    d = c.derivatives([name])
    x, h = m.description.drawn_numbers[name], 1e-4
    start = {"start.A": float(c["A"][0])}
    for channel in ("A.torque", "rocker.angle", "C.on.rocker", "guide"):
        at = [m.with_(**{name: x + k * h, **start}).cycle(steps=STEPS)[channel] for k in (-2, -1, 1, 2)]
        slope = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)
        assert np.abs(d[channel][..., 0] - slope).max() <= 1e-7 * (1.0 + np.abs(slope).max()), channel


def test_derivatives_by_a_pin_and_a_length_do_not_depend_on_each_other() -> None:
    """A length that follows from pins changes with them, its own change comes on top."""
    c = lw.load("wiper").cycle(steps=STEPS)
    both, alone = c.derivatives(["C.y", "rocker.length"]), [c.derivatives([n]) for n in ("C.y", "rocker.length")]
    for k in range(2):
        assert np.abs(both["A.torque"][:, k] - alone[k]["A.torque"][:, 0]).max() < 1e-10


def test_kernels_take_pins_as_free_numbers() -> None:
    m = lw.load("wiper")
    s = lw.compile(m, parameters=["C", "D.x"])
    assert [p.name for p in compiled_of(s).parameters] == ["C.x", "C.y", "D.x"]
    there = {"C.x": 0.91, "C.y": 0.74, "D.x": 1.02}
    other = m.with_(**there).system
    st = other.assemble({"A": 1.2}, {"A": 3.0})
    near = compiled_of(other).skel.pack(st.references)
    a = s.kernel("forward")(st.q, st.v, np.zeros(len(st.v)), near=near, parameters=list(there.values())).a
    b = other.kernel("forward")(st.q, st.v, np.zeros(len(st.v)), near=compiled_of(other).skel.pack(st.references)).a
    assert np.abs(a - b).max() < 1e-10 * np.abs(b).max()


@pytest.mark.slow
def test_models_with_the_same_numbers_written_otherwise_do_not_share_code() -> None:
    """A center in the drawing stays there when pins move; one in the body moves along: the same numbers, other code."""
    text = (
        "{name: x, plane: xy, drawing: {A: [0, 0], B: [0.3, 0], C: [0.5, 0.4], D: [0.8, 0]}, drive: {A: 60 rpm}, bodies: {ground: {pins: "
    )
    text += "[A, D]}, crank: {pins: [A, B], mass: 1, COM}, coupler: {pins: [B, C], mass: 1}, rocker: {pins: [D, C], mass: 1}}}"
    models = [lw.Mechanism(modelfile.read_text(text.replace("COM", com))) for com in ("com: [0.1, 0], inertia: 1", "com: A, inertia: 1")]
    models[1] = models[1].with_(**{"crank.com.x": 0.1})
    assert models[0].description.numbers().bodies == models[1].description.numbers().bodies
    kernels = [lw.compile(m, parameters=["B.y"]).kernels for m in models]
    assert kernels[0].model_key != kernels[1].model_key
    for m in models:
        t = m.cycles({"B.y": np.linspace(0.0, 0.02, N)}, steps=STEPS)
        c = m.with_(**{"B.y": 0.02}).cycle(steps=STEPS)
        assert close(t["A.torque"][-1], c["A.torque"])


@pytest.mark.slow
def test_studies_and_derivatives_know_pins() -> None:
    m = lw.load("wiper")
    s = lw.study(m, {"C.x": "900..910 mm / 3", "crank.length": ["290 mm", "310 mm"]}, "max A.torque")
    assert len(s) == 6 and s.ok.all()
    last = m.with_(**{"C.x": 0.91, "crank.length": 0.31}).cycle().measure("max A.torque")  # also a peak between samples
    assert abs(float(s["max A.torque"][-1]) - last) < 1e-9 * abs(last)
    names = [e.name for e in m.tolerances(["C", "crank.length"], "peak A.torque").results[0].contributions]
    assert sorted(names) == ["C.x", "C.y", "crank.length"]
    assert not any(e.name in names for e in m.tolerances(None, "peak A.torque").results[0].contributions)


def test_pickled_parameters_still_work() -> None:
    m = lw.load("wiper")
    p = pickle.loads(pickle.dumps(compiled_of(m.system).chosen("C.x")[0]))
    assert p.stepped(0.005).body("rocker").points != m.description.body("rocker").points
