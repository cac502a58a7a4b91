"""Rigid stops: impacts and rest against closed forms, energy, momentum balance, and motions that only pass an end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import linkwright as lw
from linkwright.errors import ModelError, SimulationError
from linkwright.model.file import read, write
from linkwright.model.file.reader import read_text
from linkwright.rings.exchange.writing.losses import LossWarning
from tests.refusals import refused

PENDULUM = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [1, 0]},
    "bodies": {"ground": {"pins": ["A"]}, "arm": {"pins": ["A"], "points": ["B"], "mass": 1.0, "com": "B", "inertia": 0.0}},
}
LOOP = {
    "plane": "xy",
    "gravity": [0, -9.81],
    "drawing": {"A": [0, 0], "B": [0, 0.3], "C": [0.8, 0.7], "D": [0.9, 0]},
    "bodies": {
        "ground": {"pins": ["A", "D"]},
        "crank": {"pins": ["A", "B"], "mass": 1.0, "com": [0.05, 0.15], "inertia": 0.02},
        "coupler": {"pins": ["B", "C"], "mass": 2.0},
        "rocker": {"pins": ["D", "C"], "mass": 1.5},
    },
}


def pendulum(**stop):
    return lw.load({**PENDULUM, "stops": {"A": stop}})


def fall(angle: float) -> float:
    """Seconds from rest at the horizontal to an angle below it: dt = da / sqrt(2 g sin a)."""
    return quad(lambda x: 2.0 / np.sqrt(2 * 9.81 * np.sin(x * x) / (x * x)), 0.0, np.sqrt(angle))[0]


def test_a_pendulum_falls_onto_its_stop_and_rests():
    run = pendulum(min="-1 rad").simulate(2.0)
    (event,) = run.events
    assert event.time == pytest.approx(fall(1.0), rel=1e-8)
    assert event.values["energy lost"] == pytest.approx(9.81 * np.sin(1.0), rel=1e-8)
    after = run.t > event.time
    np.testing.assert_allclose(run["A"][after], -1.0, atol=1e-12)
    np.testing.assert_allclose(run["A.stop.torque"][after], 9.81 * np.cos(1.0), rtol=1e-9)
    assert not run["A.stop.torque"][~after].any()
    np.testing.assert_allclose(run["A.load"][after], 9.81, rtol=1e-9)  # the bearing carries the weight, the stop is a pure torque
    assert run.certificate.ok


def test_restitution_bounces_and_comes_to_rest():
    """Speeds after the first bounces fall by e each; the energy of all impacts is that of the fall."""
    run = pendulum(min=-1.0, restitution=0.5).simulate(4.0)
    lost = np.array([e.values["energy lost"] for e in run.events])
    total = 9.81 * np.sin(1.0)
    np.testing.assert_allclose(lost[:5], 0.75 * total * 0.25 ** np.arange(5), rtol=1e-6)
    assert lost.sum() == pytest.approx(total, rel=1e-9) and len(lost) < 20
    assert run["A"][-1] == pytest.approx(-1.0) and run["A.v"][-1] == 0.0
    assert run["A"].min() > -1.0 - 1e-8 and run.certificate.ok


def test_it_rests_until_the_stop_would_have_to_pull():
    """A torque grows at 4 N m/s: the arm leaves the stop when it balances the weight, 9.81 cos(1) = 5.3 N m."""
    m = lw.load({**PENDULUM, "stops": {"K": {"joint": "A", "min": -1.0}}, "start": {"A": -1.0}, "drive": {"A": {"torque": "4 N m/s * t"}}})
    run = m.simulate(2.0)
    (event,) = run.events
    assert event.name == "off stop K lower" and event.time == pytest.approx(9.81 * np.cos(1.0) / 4.0, rel=1e-9)
    resting = run.t <= event.time
    np.testing.assert_allclose(run["A.stop.torque"][resting], 9.81 * np.cos(1.0) - 4.0 * run.t[resting], atol=1e-9)
    np.testing.assert_allclose(run["A.torque"], 4.0 * run.t, atol=1e-12)  # the drive's own, beside the stop's
    assert run["A"][-1] > -1.0 and not run["A.stop.torque"][~resting].any()


@pytest.mark.slow
def test_a_loop_strikes_its_stop_and_leaves_it_again_and_again():
    """Of a four-bar: never beyond the end, never pulled, energy and loops kept, the same by another formulation."""
    d = {**LOOP, "stops": {"R": {"joint": "D", "range": [1.0, 1.9]}}, "drive": {"A": {"torque": "20 N m * sin(4 rad/s * t)"}}}
    run = lw.load(d).simulate(3.0)
    assert [e.values["did"] for e in run.events][:4] == ["reach R upper", "leave R upper", "reach R upper", "leave R upper"]
    assert run["D"].max() < 1.9 + 1e-9 and run["D"].min() > 1.0 - 1e-9
    push = run["D.stop.torque"]
    assert push.max() <= 1e-9 and push.min() < -10.0
    assert run.certificate.ok
    other = lw.load(d).simulate(3.0, formulation="kkt", tolerance=1e-10)
    np.testing.assert_allclose([e.time for e in other.events], [e.time for e in run.events], rtol=1e-6)
    resting = push < 0.0
    np.testing.assert_allclose(run["A.v"][resting], 0.0, atol=1e-9)  # one degree of freedom: all rests
    held = lw.compile(lw.load({**LOOP, "drive": ["A"]}))
    i = int(np.argmin(push))
    st = held.assemble({"A": run["A"][i]}, {"A": 1.0})
    still, torque = held.assemble({"A": run["A"][i]}), 20.0 * np.sin(4.0 * run.t[i])
    # virtual work at rest: the torques of drive and stop carry the weight, whose torque at A inverse dynamics knows
    assert torque + st["D.v"] * push[i] == pytest.approx(held.inverse(still).u[0], rel=1e-6)


def test_two_stops_at_once_and_a_controller():
    """Two arms on one hinge line strike their ends in the same instant; a controller pushes against an end and back off it."""
    arms = {
        "plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "B": [1, 0], "C": [3, 0], "D": [4, 0]},
        "bodies": {"ground": {"pins": ["A", "C"]},
                   "left": {"pins": ["A"], "points": ["B"], "mass": 1, "com": "B", "inertia": 0},
                   "right": {"pins": ["C"], "points": ["D"], "mass": 1, "com": "D", "inertia": 0}},
        "stops": {"A": {"min": -0.5}, "C": {"min": -0.5}},
    }  # fmt: skip
    run = lw.load(arms).simulate(1.0)
    np.testing.assert_allclose([run["A"][-1], run["C"][-1]], -0.5, atol=1e-12)
    assert run["A.stop.torque"][-1] == pytest.approx(9.81 * np.cos(0.5)) == run["C.stop.torque"][-1]
    m = lw.load({**PENDULUM, "gravity": [0, 0], "stops": {"A": {"max": 0.3}}, "drive": ["A"]})
    there = ([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    run = m.simulate(2.0, control=lw.control.pd({"A": lw.control.spline(*there)}, P=40.0, D=8.0))
    assert run["A"].max() == pytest.approx(0.3, abs=1e-9) and run["A"][-1] < 0.2
    np.testing.assert_allclose(run["A.torque"][run["A.stop.torque"] < 0.0], -run["A.stop.torque"][run["A.stop.torque"] < 0.0], rtol=1e-6)


def test_sliders_cylinders_and_single_coordinates():
    """A falling weight on a rail, on a cylinder, and in one coordinate of a planar joint: all stop at -0.2 m."""
    weight = {"plane": "xy", "gravity": [0, -9.81], "drawing": {"A": [0, 0], "O": [0, 1]},
              "bodies": {"ground": {"points": ["O"]}, "ram": {"points": ["A"], "mass": 2, "com": "A", "inertia": 0.1}}}  # fmt: skip
    rail = {"G": {"type": "prismatic", "between": ["ground", "ram"], "at": "A", "axis": [0, 1]}}
    when = np.sqrt(2 * 0.2 / 9.81)
    run = lw.load({**weight, "joints": rail, "stops": {"G": {"min": -0.2}}}).simulate(1.0)
    assert run.events[0].time == pytest.approx(when) and run["G.stop.force"][-1] == pytest.approx(2 * 9.81)
    hung = {**weight, "joints": rail, "cylinders": {"Z": {"between": ["ground.O", "ram.A"]}}, "stops": {"Z": {"max": 1.2}}}
    run = lw.load(hung).simulate(1.0)
    assert run.events[0].time == pytest.approx(when) and run["Z.stop.force"][-1] == pytest.approx(-2 * 9.81)
    flat = {"G": {"type": "planar", "between": ["ground", "ram"], "at": "A"}}
    run = lw.load({**weight, "joints": flat, "stops": {"y": {"joint": "G.y", "min": -0.2}}, "start": {"G.x.v": 1.0}}).simulate(1.0)
    assert run.events[0].time == pytest.approx(when) and run["G.x"][-1] == pytest.approx(1.0)
    assert run["G.y"][-1] == pytest.approx(-0.2)


@pytest.mark.slow
def test_prescribed_motions_pass_an_end_and_it_is_said():
    stopped = {**LOOP, "stops": {"K": {"joint": "D", "max": "100 deg"}}, "units": ["deg"]}
    m = lw.load({**stopped, "drive": {"A": "60 rpm"}})
    assert any("the stop of 'D'" in n for n in m.cycle().notes) and m.cycle()["D"].max() == pytest.approx(np.radians(100), abs=1e-9)
    program = lw.load({**stopped, "drive": {"A": {"position": "2 rad/s * t"}}})
    assert any("stop 'K': 'D' goes to" in n and "beyond its end at 100 deg" in n for n in program.cycle(duration=3.0).notes)
    assert not any("stop" in n for n in lw.load({**LOOP, "drive": {"A": "60 rpm"}}).cycle().notes)
    own = lw.load({**PENDULUM, "stops": {"A": {"max": 0.5}}, "drive": {"A": "1 rad/s"}})
    run = own.simulate(1.0)
    assert run["A"][-1] == pytest.approx(1.0) and any("beyond its end" in n for n in run.notes)
    with pytest.raises(SimulationError, match="a prescribed motion drives it on"):
        m.simulate(2.0)
    late = lw.load({**PENDULUM, "stops": {"A": {"min": -1.0}}, "start": {"A": -1.2}}).simulate(0.2)
    assert any("starts beyond its end" in n for n in late.notes)


def test_exports_say_what_they_leave_out(tmp_path):
    for name, options in (("arm.c", {}), ("arm.js", {}), ("arm.fmu", {"platforms": []})):
        with pytest.warns(LossWarning, match="'arm' loses A \\(a rigid stop"):
            lw.load({**PENDULUM, "name": "arm", "stops": {"A": {"min": -1.0}}}).export(tmp_path / name, **options)


def test_rigid_stops_are_written_and_wrong_ones_refused():
    for stop in ({"min": -1.0}, {"range": [-1, 2], "restitution": 0.3}, {"max": 1, "stiffness": 20, "damping": 0.1}):
        d = read({**PENDULUM, "stops": {"A": stop}})
        assert read_text(write(d)) == d
    m = pendulum(min=-1.0).with_(**{"A.lower": "-30 deg"})
    assert m.simulate(1.0)["A"][-1] == pytest.approx(-np.pi / 6)
    for stop, message in (({"min": 0, "damping": 1}, "a rigid stop has no damping"), ({"min": 0, "stiffness": 1, "restitution": 0.1},
                          "a springy stop has no restitution"), ({"min": 0, "restitution": 2}, "at most 1")):  # fmt: skip
        with pytest.raises(ModelError, match=message):
            read({**PENDULUM, "stops": {"A": stop}})


def passing_while_held():
    """A four-bar that passes its change point while a flap that has nothing to do with it rests on its stop."""
    drawing = {"A": [0, 0], "B": [0.48, 0.15], "C": [1.0, 0.7], "D": [1, 0], "E": [2, 0], "F": [2.3, 0]}
    bodies = {
        "ground": {"pins": ["A", "D", "E"], "points": {"A": [0, 0], "D": [1, 0]}},
        "crank": {"pins": ["A", "B"], "along": {"A": 0, "B": 0.5}, "mass": 0.5},
        "coupler": {"pins": ["B", "C"], "along": {"B": 0, "C": 0.8}, "mass": 0.8},
        "rocker": {"pins": ["D", "C"], "along": {"D": 0, "C": 0.7}, "mass": 0.7},
        "flap": {"pins": ["E"], "points": ["F"], "mass": 1, "com": "F", "inertia": 0.01},
    }
    model = {"plane": "xy", "gravity": [0, -9.81], "drawing": drawing, "bodies": bodies, "stops": {"E": {"min": -0.2}}}
    return lw.load({**model, "start": {"A": 0.3, "A.v": 12}})


def test_singular_positions_are_located_while_a_stop_holds():
    run = passing_while_held().simulate(1.0)
    free = lw.load("change-point-four-bar").simulate(1.0, drive={"A": lw.drives.torque(0.0)})
    assert [e.name for e in run.events] == ["stop E lower"] and run["E"][-1] == pytest.approx(-0.2, abs=1e-12)
    assert run.checks().ok and len(run.passages) == 2
    assert [p.time for p in run.passages] == pytest.approx([p.time for p in free.passages], abs=1e-7)


def test_a_step_that_is_too_long_is_named_while_a_stop_holds():
    with refused(SimulationError, name="open"):
        passing_while_held().simulate(2.0, integrator="rk4", step=0.08)
