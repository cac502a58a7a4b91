"""Cycles of many designs at once: each as the design alone gives it, and failures as data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ChannelError, UsageError
from tests.refusals import refused
from tests.sweeps import sweep

# Two ways of solving the same equations: round-off times the condition of the drives' and loads' systems, below 1e3 in these models.
SAME = 1e-12
VARIED = {
    "wiper": {"crank.mass": 0.1, "coupler.C.x": 0.01, "rocker.com.x": 0.1},
    "four-bar": {"L1": 0.02, "L3": 0.01, "line_mass": 0.1},
    "carpet-scraper": {"tool.mass": 0.1, "crank.A.x": 0.01, "g": 0.1},
    "stewart": {"platform.mass": 0.1, "rb": 0.01, "platform.P1.z": 0.01},
}


def designs_of(name: str, n: int = 16) -> dict[str, np.ndarray]:
    m, rng = lw.load(name), np.random.default_rng(1)
    values = {p.name: p.value for p in lw.compile(m, parameters=list(VARIED[name])).parameters}
    return {p: (values[p] or 0.01) * (1.0 + share * rng.uniform(-1.0, 1.0, n)) for p, share in VARIED[name].items()}


@sweep("name", VARIED, now=1)
def test_every_design_is_as_it_is_alone(name: str) -> None:
    m, designs = lw.load(name), designs_of(name)
    t = m.cycles(designs, steps=48)
    assert t.ok.all() and t.why == {} and len(t) == 16
    loads = [x for x in m.cycle(steps=48)._load_channels if not x.startswith("shaking")]
    body = m.description.bodies[-1].name
    names = [x for x in t.channels if x.startswith(("energy", f"{body}."))] + loads[:12] + loads[-4:] + compiled_of(m.system).drive_names
    found = t.read(names)
    for i in (0, 15):
        alone = t[i]
        assert np.array_equal(alone.t, t.t)
        for x in names:
            known = ~np.isnan(alone[x])  # a point at rest has no curvature, in a lane as well
            scale = max(1e-3, float(np.abs(alone[x][known]).max()))
            assert np.array_equal(known, ~np.isnan(found[x][i])), (x, i)
            assert known.mean() > 0.9 and np.abs(found[x][i] - alone[x])[known].max() <= 10.0 * SAME * scale, (x, i)


def test_parameters_of_the_file_are_those_of_with() -> None:
    m, lengths = lw.load("four-bar"), np.linspace(0.26, 0.34, 16)
    t = m.cycles({"L1": lengths, "L3": 0.74}, steps=36, read=["A.torque", "coupler.P.x", "rocker.angle", "C.on.rocker"])
    for i in (0, 9):
        alone = m.with_(L1=float(lengths[i]), L3=0.74).cycle(steps=36)
        for x in t.channels:
            assert np.abs(t[x][i] - alone[x]).max() <= SAME * np.abs(alone[x]).max()
    assert np.allclose(t["rocker.angle", "deg"], np.degrees(t["rocker.angle"]))


@pytest.mark.slow
def test_designs_that_need_few_steps_do_not_end_those_of_others() -> None:
    """The prediction of a crank of 1 mm is nearly exact; near the change point several Newton steps follow, in the same lanes."""
    m, lengths = lw.load("four-bar"), np.where(np.arange(16) % 2, 1e-3, np.linspace(0.5, 0.645, 16))
    t = m.cycles({"L1": lengths}, steps=144, read=["C"])
    for i in (0, 6, 14):
        alone = m.with_(L1=float(lengths[i])).cycle(steps=144)
        assert np.abs(t["C"][i] - alone["C"]).max() <= 0.1 * SAME  # both are closed to round-off


@pytest.mark.slow
def test_designs_that_fail_are_data() -> None:
    """0.65: change point, the bars can lie on one line; 0.7: the crank swings; 6: cannot be assembled; negative: no length."""
    m, lengths = lw.load("four-bar"), np.array([0.3, 0.65, 0.7, 6.0, -0.3] + [0.31] * 11)
    t = m.cycles({"L1": lengths}, steps=72, read=["A.torque", "C"])
    assert t.ok.tolist() == [True, True, False, False, False] + [True] * 11
    assert "dead center" in t.why[2] and "cannot be assembled" in t.why[3] and "negative" in t.why[4] and set(t.why) == {2, 3, 4}
    assert np.isnan(t["A.torque"][[2, 3, 4]]).all() and np.isfinite(t["A.torque"][t.ok]).all()
    change = m.with_(L1=0.65).cycle(steps=72)
    assert change.singular and np.abs(t["C"][1] - change["C"]).max() <= SAME * np.abs(change["C"]).max()
    assert "swings" in " ".join(t[2].notes)
    # the dead center by the cosine rule: crank and coupler against ground and rocker stretched or folded
    a, b, c, d = 0.7, 0.9, 0.75, 1.0
    angle = np.arccos((a * a + d * d - (b + c) ** 2) / (2 * a * d))
    assert f"{angle:.1f}" in t.why[2]


def test_stroke_of_a_slider_crank_is_twice_its_crank() -> None:
    model = {
        "plane": "xy",
        "parameters": {"r": "0.1 m", "l": "0.3 m", "n": "60 rpm"},
        "drawing": {"A": [0, 0], "B": [0.08, 0.06], "C": [0.37, 0]},
        "bodies": {
            "ground": {"pins": ["A"], "points": ["C"]},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}, "mass": 1},
            "rod": {"pins": ["B"], "points": ["C"], "along": {"B": 0, "C": "l"}, "mass": 1},
        },
        "joints": {"C": {"type": "pin_slot", "connect": ["ground.C", "rod.C"], "slot": [1, 0]}},
        "drive": {"A": "n"},
        "start": {"A": 0},
    }
    m, cranks, speeds = lw.load(model), np.linspace(0.05, 0.2, 16), np.linspace(3.0, 9.0, 16)
    t = m.cycles({"r": cranks, "n": speeds}, steps=24)
    x = t["rod.C.x"]
    assert t.ok.all() and np.abs(x.max(axis=1) - x.min(axis=1) - 2.0 * cranks).max() <= 1e-13  # ends of the stroke are samples 0 and 12
    assert t.t.shape == (16, 25) and np.allclose(t.t[:, -1], 2.0 * np.pi / speeds)
    acceleration = -(speeds**2) * cranks * (1.0 + cranks / 0.3)  # at the outer dead center, in closed form
    assert np.abs(t["rod.C.ax"][:, 0] - acceleration).max() <= 1e-12 * 100.0
    alone = m.with_(n=float(speeds[5]), r=float(cranks[5])).cycle(steps=24)
    assert np.abs(t["A.torque"][5] - alone["A.torque"]).max() <= SAME * np.abs(alone["A.torque"]).max()


def test_axes_of_designs_broadcast() -> None:
    m = lw.load("four-bar")
    L1, L3 = np.linspace(0.28, 0.32, 4)[:, None], np.linspace(0.72, 0.78, 5)
    t = m.cycles({"L1": L1, "L3": L3}, steps=24)
    assert t.shape == (4, 5) and t["A.torque"].shape == (4, 5, 25) and t["coupler.P"].shape == (4, 5, 25, 2) and t.ok.shape == (4, 5)
    assert t.design((2, 3)) == {"L1": L1[2, 0], "L3": L3[3]}
    alone = m.with_(**t.design((2, 3))).cycle(steps=24)
    assert np.abs(t["A.torque"][2, 3] - alone["A.torque"]).max() <= SAME * np.abs(alone["A.torque"]).max()


@pytest.mark.slow
def test_numbers_do_not_depend_on_neighbors_or_threads() -> None:
    m, designs = lw.load("four-bar"), designs_of("four-bar", 40)
    names = ["A.torque", "C.on.rocker.magnitude", "coupler.P.y", "A.power"]
    t = m.cycles(designs, steps=36, read=names)
    one, stored = m.cycles(designs, steps=36, read=names, threads=1), m.cycles(designs, steps=36)
    some_of_them = m.cycles({k: x[3:24] for k, x in designs.items()}, steps=36, read=names)
    for x in names:
        assert np.array_equal(t[x], one[x]) and np.array_equal(t[x], stored[x]) and np.array_equal(t[x][3:24], some_of_them[x])
    again = pickle.loads(pickle.dumps(stored))
    assert np.array_equal(again["A.torque"], t["A.torque"])


@pytest.mark.slow
def test_designs_may_differ_in_what_decides_the_laws_and_the_drawing() -> None:
    """A start and a drawing by parameters; a static analysis; without masses."""
    model = {
        "plane": "xy",
        "parameters": {"r": "0.1 m", "s": "0.5 rad", "y": "0.2 m"},
        "drawing": {"A": [0, 0], "B": [0.1, 0], "C": [0.4, "y"], "D": [0.4, 0]},
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": "r"}},
            "coupler": {"pins": ["B", "C"]},
            "rocker": {"pins": ["D", "C"]},
        },
        "drive": {"A": "60 rpm"},
        "start": {"A": "s"},
    }
    m = lw.load(model)
    t = m.cycles({"s": np.linspace(0.2, 1.4, 16), "r": 0.11, "y": 0.21}, steps=12)
    assert np.allclose(t["A"][:, 0], np.linspace(0.2, 1.4, 16), rtol=1e-15)
    alone = m.with_(**t.design(15)).cycle(steps=12)
    for x in ("A", "C.v", "rocker.angle", "coupler.C.y" if "coupler.C.y" in t.channels else "C"):
        assert np.abs(t[x][15] - alone[x]).max() <= SAME * max(1.0, np.abs(alone[x]).max())
    with pytest.raises(UsageError, match="mass"):
        t["A.torque"]
    still = lw.load("four-bar").cycles({"L1": np.linspace(0.28, 0.32, 16)}, speed=0, steps=12)
    assert not still["A.v"].any() and np.abs(still["A.torque"][2] - still.cycle(2)["A.torque"]).max() <= 1e-11


@pytest.mark.slow
def test_designs_with_other_joints_are_read_by_channel() -> None:
    m = lw.load("scissor-lift")
    n = int(dict(m.description.parameters)["N"])
    t = m.cycles({"N": [n, n - 1]}, steps=4, read=["slide.force"])
    assert t.ok.all() and np.array_equal(t["slide.force"][1], m.with_(N=n - 1).cycle(steps=4)["slide.force"])
    assert "other joints" in m.cycles({"N": [n, n - 1]}, steps=4).why[1]


def test_bad_calls_are_refused_by_name() -> None:
    m = lw.load("four-bar")
    cases = [
        ({"L9": [0.3]}, "no parameter 'L9'"),
        ({"L1": [0.3, np.nan]}, "'L1' is not a finite number in design 1"),
        ({"L1": ["long"]}, "is not a number"),
        ({"L1": []}, "no values"),
        ({"L1": [0.3, 0.3], "L2": [0.9, 0.9, 0.9]}, "do not fit each other"),
        ({}, "arrays by the names"),
        ([0.3], "arrays by the names"),
    ]
    for given, text in cases:
        with pytest.raises(UsageError, match=text):
            m.cycles(given)
    with refused(ChannelError, name="A.tork"):
        m.cycles({"L1": [0.3]}, read=["A.tork"])
    t = m.cycles({"L1": [0.3]}, steps=12, read="A.torque")
    with refused(ChannelError, name="C"):
        t["C"]
    with refused(UsageError, name="4"):
        t[4]
    with refused(UsageError, name="steps", value=1):
        m.cycles({"L1": [0.3]}, steps=1)


def test_many_designs_whose_loads_are_not_determinate_are_read_one_by_one() -> None:
    m = lw.load("bennett")
    drive, body = m.description.drives[0].joint, m.description.bodies[1].name
    found = m.cycles({f"{body}.mass": np.linspace(0.2, 0.3, 18)}, steps=24, read=[f"{drive}.torque"])
    assert found.ok.all() and np.isfinite(found[f"{drive}.torque"]).all()
