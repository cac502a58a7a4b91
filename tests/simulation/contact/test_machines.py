"""Machines with contact against published figures and other programs: a woodpecker toy, a six-bar with play, a ratchet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.contact.models import G
from tests.simulation.contact.stepping import march


def woodpecker() -> dict[str, Any]:
    """Glocker's equations of the toy, in which points move as linear functions of the angles, as in the example of Siconos.

    Sliders whose coordinates are sums of the fall y and the turns a and b stand for small angles, so this is his model and not the toy.
    """
    mass, inertia, bird_mass, bird_inertia = 0.0003, 5e-9, 0.0045, 7e-7
    pole, hole, edge, arm, body, beak, reach = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201

    def slider(second: str, axis: list[float], first: str = "ground") -> dict[str, Any]:
        return {"type": "prismatic", "between": [first, second], "at": [0, 0], "axis": axis}

    def tie(to: str, ratio: float, offset: float = 0.0, **plus: float) -> dict[str, Any]:
        return {"from": "a" if to.endswith("x") else "y", "to": to, "ratio": ratio, "offset": offset, **({"plus": plus} if plus else {})}

    place, none = {"points": {"O": [0, 0]}}, {"mass": 0, "com": [0, 0], "inertia": 0}
    return {
        "plane": "xy", "gravity": [0, -G],
        "bodies": {
            "ground": place, "sleeve": {**place, "mass": mass, "com": [0, 0], "inertia": 1e-9},
            "sleeve_turn": {**place, **none, "inertia": inertia}, "bird_turn": {**place, **none, "inertia": bird_inertia},
            "weight": {**place, "mass": bird_mass, "com": [0, 0], "inertia": 1e-9},
            **{name: {**place, **none} for at in ("low", "high", "beak") for name in (at, f"{at}_slide")},
        },
        "joints": {
            "y": slider("sleeve", [0, 1]), "z": slider("weight", [0, 1]),
            "a": {"type": "revolute", "between": ["ground", "sleeve_turn"], "at": [0, 0]},
            "b": {"type": "revolute", "between": ["sleeve_turn", "bird_turn"], "at": [0, 0]},
            **{f"{at}_x": slider(f"{at}_slide", [1, 0]) for at in ("low", "high", "beak")},
            **{f"{at}_y": slider(at, [0, 1], f"{at}_slide") for at in ("low", "high", "beak")},
        },
        "couplings": {
            "weight": tie("z", 1.0, a=arm + body, b=body),
            "low_x": tie("low_x", edge, hole - pole), "low_y": tie("low_y", 1.0, a=hole),
            "high_x": tie("high_x", -edge, hole - pole), "high_y": tie("high_y", 1.0, a=hole),
            "beak_x": tie("beak_x", -beak, arm + body - reach - pole, b=-beak),
            "beak_y": tie("beak_y", 1.0, a=arm + body - reach, b=body - reach),
        },
        "springs": {"coil": {"joint": "b", "stiffness": 0.0056}},
        "surfaces": {
            "pole": {"line": "ground.O", "normal": [1, 0]}, **{k: {"circle": f"{k}.O", "radius": 0} for k in ("low", "high", "beak")},
        },
        "contacts": {
            "jam": {"between": [["low", "high"], "pole"], "mu": 0.3},
            "peck": {"between": ["beak", "pole"], "mu": 0.3, "restitution": 0.5},
        },
        "start": {"y.v": -0.3411, "a": -6 / 58, "b": -0.2788 + 6 / 58, "a.v": 0.0, "b.v": -7.4583},
    }  # fmt: skip


def test_the_woodpecker_of_the_literature_keeps_its_limit_cycle():
    """Beats of another program that goes from event to event, and a point of the limit cycle that Glocker published."""
    run = lw.load(woodpecker()).simulate(0.4, sample_interval=2e-4)
    beats = [x.time for x in run.events if x.name == "peck touches"]
    np.testing.assert_allclose(beats, [0.08099, 0.22684, 0.37292], atol=1.1e-5)  # five digits are printed
    assert {x.name for x in run.events if x.time < 0.1} >= {"jam.low sticks", "jam.low leaves", "jam.high touches", "peck touches"}
    falls = -np.diff(np.interp(beats, run.t, run["y"]))
    np.testing.assert_allclose(falls, 19.45e-3, rtol=0.01)  # falls alternate by half a percent while the cycle is approached
    bird, rate = run["a"] + run["b"], run["a.v"] + run["b.v"]
    down = np.flatnonzero((bird[:-1] > -0.2788) & (bird[1:] <= -0.2788) & (run["jam.low.state"][1:] > 0))
    assert len(down) == 2
    found = [[np.interp(-0.2788, [bird[i + 1], bird[i]], [x[i + 1], x[i]]) for x in (run["y.v"], rate)] for i in down]
    np.testing.assert_allclose(found, [[-0.3411, -7.4583]] * 2, rtol=0.011)  # after one beat and two
    assert np.abs(np.array(found[1]) / [-0.3411, -7.4583] - 1.0).max() < 1e-3
    c = run.certificate
    assert c.ok and c.touch_depth < 1e-12 * c.size and c.position_residual < 1e-14 and c.least_impact_loss >= 0.0


def test_angles_alone_make_the_toy_differ_from_its_linear_equations():
    """The built-in toy with exact angles, against the same other program with these angles: it pecks faster."""
    run = lw.load("woodpecker").simulate(0.3)
    expected = {"jam.low sticks": [0.0266646041, 0.1549125611, 0.2859059533], "jam.low slips": [0.0589641918, 0.1886308783],
                "jam.low leaves": [0.0673739776, 0.1970823368], "peck touches": [0.0827047046, 0.2125209380]}  # fmt: skip
    for name, times in expected.items():
        np.testing.assert_allclose([x.time for x in run.events if x.name == name], times, atol=2e-9)
    assert run.certificate.ok


SIX_BAR = {"A": [0, 0], "B": [0.05, 0.0], "C": [0.17, 0.12], "D": [0.15, 0.0], "E": [0.2, 0.25], "F": [0.45, 0.25]}


def six_bar(play: float, mu: float = 0.0) -> dict[str, Any]:
    """A crank-rocker drives a slider through a link whose pin E has play."""
    pin: dict[str, Any] = {"pin": "E", "between": ["link", "rocker"]}
    return {
        "plane": "xy", "gravity": [0, -G], "drawing": SIX_BAR,
        "bodies": {
            "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 0.5, "com": "A", "inertia": 0.5},
            "coupler": {"pins": ["B", "C"], "mass": 0.3},
            "rocker": {"pins": ["D", "C", "E"], "mass": 0.4, "com": [0.17, 0.1], "inertia": 2e-3},
            "link": {"pins": ["F", "E"], "mass": 0.3, "com": [0.32, 0.25], "inertia": 2e-3},
            "slide": {"pins": ["F"], "mass": 0.6, "com": "F", "inertia": 1e-3},
        },
        "joints": {
            "E": pin | ({"clearance": play, "radius": 0.01, "mu": mu} if play else {}),
            "S": {"type": "prismatic", "between": ["ground", "slide"], "at": "F", "axis": [1, 0]},
        },
    }  # fmt: skip


PLAYS = [  # m, mu, by how many plays the slider is off, to which share: of runs from event to event, and of time stepping with friction
    (1e-3, 0.0, 1.3, 0.05),
    (1e-3, 0.1, 1.587, 0.02),
    pytest.param(1e-4, 0.0, 1.3, 0.05, marks=pytest.mark.slow),  # linear in the play
    pytest.param(1e-4, 0.1, 2.80, 0.07, marks=pytest.mark.slow),  # the other program took steps of 0.2 ms
]


@pytest.mark.parametrize(("play", "mu", "plays", "share"), PLAYS)
def test_a_six_bar_with_play_comes_to_its_ideal_pin(play, mu, plays, share):
    """Without friction the slider differs by 1.3 plays. With it, time stepping of another program has 1.587 and 0.280 mm."""
    s = lw.compile(lw.load(six_bar(0.0)))
    begin = s.assemble(v={"A": 10.0})
    ideal = s.simulate(begin, 0.6, tolerance=1e-11, sample_interval=0.002)
    loose = lw.compile(lw.load(six_bar(play, mu)))
    start = loose.assemble(v={"A": 10.0, "E.x": 0.0, "E.y": 0.0, "S": float(begin["S.v"])})
    run = loose.simulate(start, 0.6, sample_interval=0.002)
    c, energy = run.certificate, run["energy.total"]
    assert c.ok and c.position_residual < 1e-14 and c.touch_depth < 1e-15  # m, round-off of 0.2 m
    assert np.diff(energy).max() < 1e-9  # J of 28 J: nothing gives energy, to the tolerance of the run
    assert np.abs(run["S"] - ideal["S"]).max() == pytest.approx(plays * play, rel=share)


@pytest.mark.parametrize("torque", [0.05, -0.05])
def test_a_ratchet_turns_one_way(torque):
    """Against time stepping of the same law: it clicks on, or locks."""
    m = lw.load("ratchet", torque=torque)
    run = m.simulate(0.4, tolerance=1e-10)
    s = lw.compile(m)
    efforts = np.array([torque if name == "A" else 0.0 for name in s.names.v])
    q, _ = march(s, s.start.q, np.zeros(2), 0.4, 2000, np.full(2, 0.1), efforts=efforts)
    assert np.degrees(q[0] - run["A"][-1]) == pytest.approx(0.0, abs=0.1)  # steps of 0.2 ms locate impacts to 0.03 deg each
    assert run.certificate.ok and run.certificate.touch_depth < 4e-15  # m, round-off of several places
    if torque > 0.0:
        assert run["A"][-1] > 0.6 and [x.name for x in run.events].count("click.2 leaves") == 1
    else:
        assert abs(run["A.v"][-1]) < 1e-15 and -0.06 < run["A"][-1] < 0.0
