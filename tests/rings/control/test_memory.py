"""What a controller keeps in mind: references that began where things stood, commands on their way, integrals; across events."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.results.trajectory import Trajectory
from linkwright.simulation.run_batch import run_batch
from linkwright.system.system import System
from tests.refusals import refused
from tests.sweeps import sweep

BESIDE = """
name: crank beside a double pendulum
plane: xy
gravity: [0, -9.81]
drawing: {A: [0, 0], B: [-0.5, 0.87], C: [-1, 0], Q: [5, 0], Z: [6, 0], Y: [7, 0]}
bodies:
  ground: {pins: [A, Q], points: [C]}
  crank: {pins: [A, B], along: {A: 0, B: 1 m}, mass: 1, com: B, inertia: 0}
  rod: {pins: [B], points: [C], along: {B: 0, C: 1 m}, mass: 1, com: C, inertia: 0}
  upper: {pins: [Q, Z], mass: 1}
  lower: {pins: [Z], points: [Y], mass: 0.1}
joints:
  C: {type: pin_slot, connect: [ground.C, rod.C], slot: [1, 0]}
start: {A: 30 deg}
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory) -> System:
    path = tmp_path_factory.mktemp("beside") / "beside.yaml"
    path.write_text(BESIDE)
    return lw.load(path).system


def run_of(s: System, every: str | None, **more) -> Trajectory:
    """The crank moves as told; of the double pendulum the upper part is held and the lower one swings."""
    law = lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "1 s"), "Q": "0 deg"}, P=25, D=10, drives=["A", "Q"], every=every)
    return s.simulate(s.start, 0.5, control=law, sample_interval=0.01, tolerance=1e-10, **more)


@sweep(("every", "delay"), [("2 ms", "4 ms"), (None, None), ("2 ms", None)], now=1)
def test_a_lock_elsewhere_changes_nothing_for_the_crank(beside, every, delay):
    """The lower pendulum is locked at 0.3 s, the instant of a sample, and let go between two. Nothing of that reaches the crank:
    its reference does not begin anew, and a sample that is taken again does not push commands on their way along twice.
    Sampled, both runs do the same sums (1e-12); followed at all times they differ by their steps (tolerance 1e-10)."""
    options = {} if delay is None else {"delay": delay}
    switches = [lw.events.when("t", 0.3, do=lw.events.lock("Z")), lw.events.when("t", 0.401, do=lw.events.unlock("Z"))]
    plain, switched = run_of(beside, every, **options), run_of(beside, every, events=switches, **options)
    assert len(switched.events) == 2 and np.abs(switched["Z"] - plain["Z"]).max() > 1e-3
    for channel in ("A", "A.torque", "control.A.reference"):
        assert np.abs(switched[channel] - plain[channel]).max() < (1e-12 if every else 1e-7), channel


def test_runs_of_a_batch_begin_where_they_stand_or_not_at_all():
    """A batch is bound at its first state: a reference that begins there is no reference for the others."""
    s = lw.load("slider-crank-equal").system
    states = [s.assemble({"A": f"{a} deg"}) for a in (30, 20)]
    begins = lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "1 s")}, P=25, drives=["A"])
    with refused(UsageError, name="A"):
        run_batch(compiled_of(s), states, 0.2, control=begins, sample_interval=0.1)
    same = run_batch(compiled_of(s), [states[1], states[1]], 0.2, control=begins, sample_interval=0.1)
    given = lw.control.projected({"A": lw.control.minimum_jerk("60 deg", "1 s", start="30 deg")}, P=25, drives=["A"])
    both = run_batch(compiled_of(s), states, 0.2, control=given, sample_interval=0.1)
    for batch, i, law in ((same, 1, begins), (both, 0, given), (both, 1, given)):
        st = states[1] if batch is same else states[i]
        assert np.abs(batch["A"][i] - s.simulate(st, 0.2, control=law, sample_interval=0.1)["A"]).max() < 1e-12


def test_a_state_is_held_across_a_switch_with_as_many_coordinates_as_can_move():
    """Let go, the arm has a freedom more, which is followed as well: e'' + 20 e' + 100 e = 0 leaves 9 exp(-8) = 0.3 % after 0.8 s."""
    arm = lw.compile("3r-slider")
    st = arm.state(arm.start.q)
    beside = arm.assemble({"J1": st["J1"] + 0.02, "J2": st["J2"]}, {"J1": 0.0, "J2": 0.0})
    law = lw.control.projected(st, P=100, drives=["J1", "J2", "J3"])
    for begin, off, event in ((beside, [], lw.events.release("tip")), (st, ["tip"], lw.events.engage("tip"))):
        run = arm.simulate(begin, 1.0, control=law, off=off, events=[lw.events.when("t", 0.1, do=event)], sample_interval=0.05)
        assert run.events and {n for n in run.columns if n.endswith(".error")} == {f"control.J{i}.error" for i in (1, 2, 3)}
        assert np.abs(run.q[-1] - st.q).max() <= 0.01 * np.abs(begin.q - st.q).max() + 1e-12
        assert not any("not followed" in note for note in run.notes)


@sweep("every", [None, "1 ms"], now=1)
def test_a_force_that_is_let_go_is_no_wish_any_more(every):
    """The motion goes on as before, and once the constraint holds again, so does the force: after 0.1 s, which are 2 time
    constants (1 + F) / I of its loop, no more is left of its error than of the jump that the switch made."""
    arm = lw.compile("3r-slider")
    motion = {"hand.E.x": lw.control.sinusoid("5 mm", "1 Hz"), "hand.angle": 0}
    law = lw.control.hybrid(motion, {"tip.ty": 2.0}, P=400, F=0.5, I=30, drives=["J1", "J2", "J3"], every=every)
    with refused(UsageError, name="tip.ty"):
        arm.simulate(arm.start, 0.1, control=law, off=["tip"])
    events = [lw.events.when("t", 0.05, do=lw.events.release("tip")), lw.events.when("t", 0.05001, do=lw.events.engage("tip"))]
    run = arm.simulate(arm.start, 0.15, control=law, events=events[:1], sample_interval=0.01)
    plain = arm.simulate(arm.start, 0.15, control=law, sample_interval=0.01)
    for name in ("hand.E.x", "hand.angle"):
        e, same = run[f"control.{name}.error"], plain[f"control.{name}.error"]
        assert np.abs(e - same).max() < (1e-8 if every is None else 2e-6), name  # sampled, they hold other efforts: 1e-6
    assert any("t = 0.05 s" in n and "tip.ty is no longer held" in n for n in run.notes)
    held = run.t < 0.0501
    assert np.all(run["control.tip.ty.wanted"] == np.where(held, 2.0, 0.0)) and not run["control.tip.ty.error"][~held].any()
    back = arm.simulate(arm.start, 0.15, control=law, events=events, sample_interval=0.001)
    assert len(back.events) == 2 and np.abs(back["lam.tip.ty"][-1] - 2.0) < 0.01


def test_references_begin_where_the_mechanism_of_the_run_stands():
    """With another length as parameter the slider stands elsewhere, and its reference begins there."""
    s = lw.compile(lw.load("slider-crank-equal"), parameters=["l"])
    law = lw.control.projected({"rod.C.x": lw.control.minimum_jerk("-0.9 m", "1 s")}, P=25, drives=["A"])
    run = s.simulate(s.assemble({"A": "120 deg"}), 0.1, control=law, parameters={"l": 1.2}, sample_interval=0.05)
    with refused(UsageError, name="rod.C.x"):
        run_batch(compiled_of(s), s.assemble({"A": "120 deg"}), 0.1, control=law, parameters={"l": [1.0, 1.2]}, sample_interval=0.05)
    assert run["rod.C.x"][0] == pytest.approx(-1.2) and np.abs(run["control.rod.C.x.error"]).max() < 1e-9


def test_freedoms_that_no_drive_reaches_do_not_count(beside):
    """Both motors of the crank share its work, though a pendulum beside it is free; and with a force for the second one."""
    for law in (
        lw.control.projected({"A": "31 deg"}, P=25, drives=["A", "B"]),
        lw.control.hybrid({"A": "31 deg"}, {"C.ty": 1.0}, P=25, drives=["A", "B"]),
    ):
        c = beside.control(law)
        assert c.notes and "degrees of freedom are not followed" in c.notes[0]
        a = beside.forward(beside.start, c(beside.start))
        assert float(a["A.a"]) == pytest.approx(25 * np.radians(1.0), rel=1e-9)
