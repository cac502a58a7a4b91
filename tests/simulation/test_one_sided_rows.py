"""Rows of constraints that hold one way in a run: ropes that go slack, cams that lift off, gears and couplings with play; closed forms."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ModelError

G = 9.81
TETHERED: dict[str, Any] = {
    "plane": "xy",
    "gravity": [0, -G],
    "drawing": {"O": [0, 0], "P": [1, 0], "Q": [1.28, 0.96]},
    "bodies": {
        "ground": {"pins": ["O"]},
        "upper": {"pins": ["O", "P"], "mass": 1, "com": "P", "inertia": 0},
        "lower": {"pins": ["P"], "points": ["Q"], "along": {"P": 0, "Q": 1}, "mass": 2, "com": "Q", "inertia": 0},
    },
}
TETHER = {"between": ["ground.O", "lower.Q"], "length": 1.6}


def test_a_rope_becomes_taut_as_a_rod_that_an_event_engages():
    """Two point masses on strings: the same fall with a rod that takes hold where the distance reaches its length."""
    rod = lw.compile(lw.load({**TETHERED, "rods": {"tether": TETHER}}))
    far = lw.events.when(
        lambda st: st["lower.Q.x"] ** 2 + st["lower.Q.y"] ** 2, 1.6**2, direction="rising", do=lw.events.engage("tether")
    )
    known = rod.simulate(rod.state([0.0, -2.2], [0.0, 0.0]), 1.5, off=["tether"], events=[far], tolerance=1e-12)
    rope = lw.compile(lw.load({**TETHERED, "rods": {"tether": {**TETHER, "slack": True}}}))
    run = rope.simulate(rope.state([0.0, -2.2], [0.0, 0.0]), 1.5, tolerance=1e-12)
    (event,) = run.events
    assert event.name == "tether becomes taut" and event.time == pytest.approx(known.events[0].time, abs=1e-12)
    assert event.values["energy lost"] == pytest.approx(known.events[0].values["energy lost"], rel=1e-10)
    np.testing.assert_allclose(run.q[-1], known.q[-1], atol=1e-8)  # the estimated error of both runs
    assert run["tether"].max() < 1.6 * (1 + 1e-12) and run["tether.tension"].min() >= 0.0 and run.certificate.ok


def test_a_stone_on_a_rope_goes_slack_and_taut_again():
    """Thrown up a circle from the side at a speed v^2 = 2.2 g L it leaves it where the tension ends, at sin = 2.2 / 3, flies on a parabola,
    and is caught where that meets the circle again; the rope takes what moves outwards."""
    flying = {
        "plane": "xy",
        "gravity": [0, -G],
        "bodies": {"ground": {"points": {"O": [0, 0]}}, "stone": {"points": {"S": [0, 0]}, "mass": 1, "com": [0, 0], "inertia": 1}},
        "joints": {"base": {"type": "planar", "between": ["ground", "stone"], "at": [0, 0]}},
        "guess": {"stone": {"at": [1, 0]}},
        "rods": {"rope": {"between": ["ground.O", "stone.S"], "length": 1, "slack": True}},
    }
    s = lw.compile(lw.load(flying))
    speed = np.sqrt(2.2 * G)
    place = dict(zip(s.names.v, range(3), strict=True))
    v = np.zeros(3)
    v[place["base.y"]] = speed
    run = s.simulate(s.state(s.start.q, v), 1.2, tolerance=1e-12)
    slack, taut = run.events[:2]
    sine = 2.2 / 3.0
    assert [slack.name, taut.name] == ["rope goes slack", "rope becomes taut"]
    i = int(np.searchsorted(run.t, slack.time))
    back = run.t[i] - slack.time  # along the parabola
    assert run["stone.S.y"][i] - run["stone.S.vy"][i] * back - 0.5 * G * back**2 == pytest.approx(sine, abs=1e-9)
    cosine, left = np.sqrt(1 - sine**2), np.sqrt(G * sine)  # thrown along the circle with v^2 = g sin
    flight = 4.0 * left * cosine / G  # of a parabola back to the circle that it left in curvature
    assert taut.time - slack.time == pytest.approx(flight, abs=1e-9)
    out = run["rope.tension"]
    assert out.min() >= 0.0 and out[(run.t > slack.time) & (run.t < taut.time)].max() == 0.0


def cam(speed: float) -> dict[str, Any]:
    return {
        "plane": "xy",
        "gravity": [0, -G],
        "drawing": {"A": [0, 0], "P": [0, 0.02]},
        "bodies": {
            "ground": {"pins": ["A"]},
            "disc": {"pins": ["A"], "mass": 1, "com": "A", "inertia": 1},
            "follower": {"points": ["P"], "mass": 0.5, "com": "P", "inertia": 1},
        },
        "joints": {"y": {"type": "prismatic", "between": ["ground", "follower"], "at": "A", "axis": [0, 1]}},
        "springs": {"s": {"joint": "y", "stiffness": "2000 N/m", "free_position": -0.01}},
        "cams": {
            "cam": {
                "from": "A", "to": "y", "flat": "follower.P", "base": 0.02, "lift_off": True, "restitution": 0.3,
                "moves": [{"to": 0.02, "in": "180 deg", "law": "harmonic"}, {"to": 0, "in": "180 deg", "law": "harmonic"}],
            }
        },
        "drive": {"A": {"speed": speed}},
    }  # fmt: skip


def test_a_follower_lifts_off_where_its_force_ends():
    """Lift e (1 - cos A) with e = 10 mm: the force m (g + e w^2 cos A) + F0 + k e (1 - cos A) ends at the top first, at
    w^2 = (m g + F0 + 2 k e) / (m e), and faster at cos A = -(m g + F0 + k e) / (m e w^2 - k e)."""
    m, e, k, F0 = 0.5, 0.01, 2000.0, 20.0
    critical = float(np.sqrt((m * G + F0 + 2 * k * e) / (m * e)))
    turn = 2.0 * np.pi / critical
    assert lw.load(cam(0.9999 * critical)).simulate(turn).events == ()
    lifts = lw.load(cam(1.0001 * critical)).simulate(turn).events
    assert [x.name for x in lifts][:2] == ["cam leaves", "cam touches"]
    w = 1.1 * critical
    run = lw.load(cam(w)).simulate(1.1 * turn, tolerance=1e-11)
    angle = np.pi - np.arccos((m * G + F0 + k * e) / (m * e * w * w - k * e))
    assert run.events[0].time * w == pytest.approx(angle, abs=1e-10)
    assert run["cam.contact"].min() >= -1e-9 and run.certificate.ok
    flying = (run.t > run.events[0].time) & (run.t < run.events[1].time)
    assert flying.any() and run["cam.contact"][flying].max() == 0.0
    assert run.events[1].values["energy lost"] > 0.0


WHEELS = {
    "plane": "xy",
    "gravity": [0, 0],
    "drawing": {"A": [0, 0], "B": [0.3, 0]},
    "bodies": {
        "ground": {"pins": ["A", "B"]},
        "first": {"pins": ["A"], "mass": 1, "com": "A", "inertia": 0.01},
        "second": {"pins": ["B"], "mass": 1, "com": "B", "inertia": 0.04},
    },
}


@pytest.mark.parametrize(
    ("section", "entry", "play"),
    [
        ("gears", {"joints": ["A", "B"], "radii": [0.1, 0.2]}, 1e-3),
        ("couplings", {"from": "A", "to": "B", "ratio": -0.5}, 5e-3),
    ],
)
def test_teeth_rattle_between_their_flanks(section, entry, play):
    """Pitch speeds of 0.1 and 0 m/s, equal masses there (J / r^2 = 1 kg): every impact after the first begins 1 / e times the last interval
    later, and leaves e of the relative speed; the momentum stays."""
    e, width = 0.5, 1e-3
    s = lw.compile(lw.load({**WHEELS, section: {"mesh": {**entry, "play": play, "restitution": e}}}))
    run = s.simulate(s.state([0.0, 0.0], [1.0, 0.0]), 0.2, tolerance=1e-11)
    times = [x.time for x in run.events]
    expected = np.cumsum([0.5 * width / 0.1, *(width / (0.1 * e**k) for k in range(1, len(times)))])
    np.testing.assert_allclose(times, expected, atol=1e-10)  # events are 1e-12 of the size beyond an end
    assert [x.name for x in run.events] == [f"mesh {side} touches" for side in ("upper", "lower", "upper")][: len(times)] or len(times) == 4
    relative = 0.1 * run["A.v"][-1] + 0.2 * run["B.v"][-1]
    assert abs(relative) == pytest.approx(0.1 * e ** len(times), rel=1e-10)
    lost = [x.values["energy lost"] for x in run.events]
    np.testing.assert_allclose(lost, [0.25 * (0.1 * e**k) ** 2 * (1 - e * e) for k in range(len(times))], rtol=1e-9)
    assert all(a > b for a, b in pairwise(lost))


def test_a_driven_wheel_takes_the_other_along_on_one_flank():
    """The first flank is reached after half the play; without restitution both wheels then turn as without play."""
    driven = {**WHEELS, "gears": {"mesh": {"joints": ["A", "B"], "radii": [0.1, 0.2], "play": 1e-3}}, "drive": {"A": {"torque": "0.1 N m"}}}
    run = lw.load(driven).simulate(0.5, tolerance=1e-11)
    assert [x.name for x in run.events] == ["mesh upper touches"]
    start = np.sqrt(2 * 0.5e-3 / 0.1 / 10.0)
    assert run.events[0].time == pytest.approx(start, rel=1e-9)
    speed = 10.0 * start * 0.5 + 5.0 * (0.5 - start)  # half of the speed is left, and then half of the acceleration
    assert run["A.v"][-1] == pytest.approx(speed, rel=1e-9) and run["lam.mesh"][-1] == pytest.approx(-0.5, rel=1e-9)


HOIST = {
    "plane": "xy",
    "gravity": [0, -G],
    "drawing": {"D": [0, 1], "L": [0.1, 0.2]},
    "bodies": {
        "ground": {"pins": ["D"]},
        "drum": {"pins": ["D"], "mass": 2, "com": "D", "inertia": 0.01},
        "load": {"points": ["L"], "mass": 3, "com": "L", "inertia": 0.01},
    },
    "joints": {"lift": {"type": "prismatic", "between": ["ground", "load"], "at": "L", "axis": [0, 1]}},
    "belts": {"rope": {"path": [{"joint": "D", "radius": 0.1, "turn": "cw"}, "load.L"], "slack": True}},
}


def test_a_hoist_rope_is_slack_while_its_load_is_thrown_up():
    """Thrown up at 1 m/s the load is back after 2 v / g; the rope then joins 3 kg with the drum's 1 kg at its radius."""
    s = lw.compile(lw.load(HOIST))
    v = [1.0 if name == "lift" else 0.0 for name in s.names.v]
    run = s.simulate(s.state(s.start.q, v), 0.4, tolerance=1e-11)
    (event,) = run.events
    assert event.name == "rope becomes taut" and event.time == pytest.approx(2.0 / G, rel=1e-10)
    assert event.values["energy lost"] == pytest.approx(0.5 * 3.0 * 1.0 / 4.0, rel=1e-10)
    assert run["rope.tension.1"].min() >= 0.0 and run["rope.tension.1"][-1] == pytest.approx(3.0 * G / 4.0, rel=1e-3)
    assert run.checks().ok


@pytest.mark.parametrize(
    "changed",
    [
        {"rods": {"r": {"between": ["ground.A", "second.B"], "restitution": 0.5}}},
        {"rods": {"r": {"between": ["ground.A", "second.B"], "slack": True, "restitution": 1.5}}},
        {"gears": {"g": {"joints": ["A", "B"], "radii": [0.1, 0.2], "play": -1}}},
        {"gears": {"g": {"joints": ["A", "B"], "radii": [0.1, 0.2], "restitution": 0.5}}},
        {"belts": {"b": {"around": [{"joint": "A", "radius": 0.1}, {"joint": "B", "radius": 0.1}], "slack": True}}},
    ],
)
def test_what_contradicts_itself_is_refused(changed):
    with pytest.raises(ModelError) as caught:
        lw.load({**WHEELS, **changed})
    assert caught.value.where is not None
