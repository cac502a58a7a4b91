"""What users ran into: several events at one instant, free parameters in impacts and channels, early ends, wrong arguments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw


@pytest.fixture(scope="module")
def wiper():
    return lw.compile("wiper")


def test_events_at_one_instant_all_act(wiper):
    st = wiper.assemble(v={"A": 4.0})
    events = [lw.when("t", 0.1, do=lw.lock("A")), lw.when("t", 0.1, name="note"), lw.when("t", 0.1, do=lw.release(wiper.tree.cuts[0]))]
    run = wiper.simulate(st, 0.3, events=events, output=0.05)
    assert run.t[-1] == 0.3 and run.certificate.status == "finished"
    assert sorted(str(e.values.get("did")) for e in run.events) == ["None", "lock A", f"release {wiper.tree.cuts[0]}"]
    assert np.ptp(run["A"][run.t > 0.1]) < 1e-12 and (run[f"lam.{wiper.tree.cuts[0]}"][run.t > 0.1] == 0.0).all()
    both = wiper.simulate(st, 0.3, events=[lw.when("t", 0.1, name="note"), lw.when("t", 0.1, do="stop")])
    assert both.t[-1] == pytest.approx(0.1) and len(both.events) == 2


def test_impacts_and_channels_know_free_parameters():
    w = lw.compile("wiper", free=["crank.mass", "coupler.C.x"])
    length = w.free[1].value * 1.05
    free = {"crank.mass": 20.0, "coupler.C.x": length}
    law = lw.torque(lambda t, st: 0.5 * st["coupler.C.y"])
    run = w.simulate(w.assemble(v={"A": 4.0}), 0.4, free=free, drive={"A": law}, tolerance=1e-10, output=0.01)
    np.testing.assert_allclose(run["A.torque"], 0.5 * run["coupler.C.y"], atol=1e-12)
    locked = w.simulate(w.assemble(v={"A": 4.0}), 0.4, free=free, events=[lw.when("t", 0.1, do=lw.lock("A"))], tolerance=1e-10)
    assert locked.checks().ok and locked.events[0].values["energy lost"] > 0.5


def test_a_run_that_ends_early_has_its_end(wiper):
    run = wiper.simulate(wiper.assemble(v={"A": 4.0}), 2.0, events=[lw.when("A", "100 deg", do="stop")], output=[1.0, 2.0])
    assert run.t[-1] == run.events[-1].time and run["A", "deg"][-1] == pytest.approx(100.0, abs=1e-9)
    more = wiper.simulate(run.state(-1), 0.1)
    assert more.t[0] == run.t[-1]


def test_a_joint_goes_back_to_its_prescribed_motion(wiper):
    st = wiper.assemble(v={"A": 3.0})
    events = [lw.when("t", 0.2, do=lw.lock("A")), lw.when("t", 0.4, do=lw.unlock("A"))]
    run = wiper.simulate(st, 0.6, drive={"A": lw.speed(3.0)}, events=events, output=0.05)
    np.testing.assert_allclose(run["A.v"][run.t > 0.41], 3.0, atol=1e-9)
    assert run.events[1].values["energy lost"] < 0.0, "the drive gives what the start takes"
    assert run.checks().ok


def test_switching_does_not_shift_the_samples_of_a_controller(wiper):
    seen = []

    def law(t, st):
        seen.append(round(t, 6))
        return 0.1

    st = wiper.assemble(v={"A": 4.0})
    wiper.simulate(st, 0.05, drive={"A": lw.torque(law, every=0.01)}, events=[lw.when("t", 0.0234, do=lw.lock("D"))])
    assert set(seen) <= {0.0, 0.01, 0.02, 0.03, 0.04, 0.05} and len(set(seen)) >= 5


def test_what_stands_still_passes():
    assert lw.load("bennett").simulate(0.2, drive={}).checks().ok


def test_certify_does_not_run_a_memory_twice(wiper):
    asked = []
    drive = {"A": lw.torque(lambda t, st: asked.append(t) or 0.1 * len(asked), every=0.01)}
    run = wiper.simulate(wiper.assemble(v={"A": 4.0}), 0.05, drive=drive, certify=True)
    samples = list(asked)
    assert run.certificate.estimated_error is not None and run.certificate.estimated_error < 1e-6
    assert asked == samples and "values that were sampled" in str(run.checks())


def test_every_channel_of_a_run_can_be_read(wiper):
    run = wiper.simulate(wiper.assemble(v={"A": 4.0}), 0.1, output=0.05)
    assert "det.dependent" in run.channels and "det.independent" not in run.channels
    for values in run.read(run.channels).values():
        assert np.isfinite(values).all()


def test_batches_begin_together(wiper):
    states = [wiper.assemble(q={"A": x}, v={"A": 2.0}) for x in (0.5, 1.0)]
    with pytest.raises(lw.UsageError, match="first state"):
        wiper.simulate_batch(states, 1.0, drive={"A": lw.speed(2.0)}, output=0.5)
    with pytest.raises(lw.UsageError, match="times"):
        wiper.simulate_batch([states[0], replace(states[1], t=7.0)], 1.0, output=0.5)


def boom(*_):
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"drive": "A"}, "dict"),
        ({"wrench": [1]}, "dict"),
        ({"events": [3]}, "lw.when"),
        ({"events": 3}, "events"),
        ({"events": [lambda st: "x"]}, "one number|event function"),
        ({"events": [lambda st: boom()]}, "boom"),
        ({"drive": {"A": lw.torque(lambda t: boom())}}, "boom"),
        ({"tolerance": "x"}, "tolerance"),
        ({"tolerance": []}, "tolerance"),
        ({"most_steps": "a"}, "most_steps"),
        ({"most_steps": 0}, "most_steps"),
        ({"output": "foo"}, "output"),
        ({"output": ["10 ms", "foo"]}, "output"),
        ({"progress": 3}, "progress"),
    ],
)
def test_wrong_arguments_are_named(wiper, wrong, told):
    with pytest.raises(lw.UsageError, match=told):
        wiper.simulate(wiper.assemble(v={"A": 1.0}), 0.1, **wrong)


def test_other_wrong_calls(wiper):
    st = wiper.assemble(v={"A": 1.0})
    with pytest.raises(lw.UsageError, match="duration"):
        wiper.simulate(st, "abc")
    with pytest.raises(lw.UsageError, match="dict"):
        lw.load("wiper").simulate(1.0, drive="A")
    with pytest.raises(lw.UsageError, match="tears the loops"):
        wiper.simulate(wiper.state(st.q, st.v + np.array([0.5, 0.0, 0.0])), 0.1)
    run = wiper.simulate(st, 0.1, output=["50 ms", "0.1 s"])
    assert list(run.t) == [0.05, 0.1]
    for wrong in (1.5, None):
        with pytest.raises(lw.ChannelError, match="channel"):
            run[wrong]


def test_events_watch_what_only_a_run_has(wiper):
    """The drive's torque, a reaction and a multiplier: at the time of the event they have the value that was watched for."""
    st = wiper.assemble(v={"A": 4.0})
    drive = {"A": lw.speed(4.0)}
    dense = wiper.simulate(st, 0.5, drive=drive, output=0.001)
    for name, level in (("A.torque", 0.5), ("C.on.rocker.size", 1.01 * float(np.median(dense["C.on.rocker.size"])))):
        run = wiper.simulate(st, 0.5, drive=drive, events=[lw.when(name, level)], output=0.1)
        crossings = np.flatnonzero(np.diff(np.sign(dense[name] - level)))
        assert len(run.events) == len(crossings) > 0
        for e, i in zip(run.events, crossings, strict=True):
            assert dense.t[i] <= e.time <= dense.t[i + 1]
    stopped = wiper.simulate(st, 0.5, drive=drive, events=[lw.when("A.torque", "0.5 N m", do="stop")])
    assert stopped["A.torque"][-1] == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(lw.ChannelError, match="Q"):
        wiper.simulate(st, 0.1, events=["Q.torque"])


def test_the_work_of_a_prescribed_motion_has_a_say_in_the_steps():
    """A crank at constant speed could be followed in a handful of steps, which would leave its work wrong by a tenth."""
    s = lw.compile("slider-crank")
    run = s.simulate(s.assemble(q={"A": "120 deg"}, v={"A": 3.0}), 2.0, drive={"A": lw.speed(3.0)})
    assert run.checks().ok and run.certificate.energy_imbalance < 1e-6


def test_a_mechanism_far_from_the_origin_loses_no_digits():
    """The coordinates are multiples of 1/64 m, which a shift by 1024 m leaves exact."""
    drawn = {"A": (0.0, 0.0), "B": (0.125, 0.125), "C": (0.5, 0.3125), "D": (0.625, 0.0)}
    links = {"crank": ["A", "B"], "coupler": ["B", "C"], "rocker": ["C", "D"]}
    bodies = {"ground": {"pins": ["A", "D"]}, **{name: {"pins": pins, "mass": 1} for name, pins in links.items()}}
    here, there = (
        lw.load({"plane": "xy", "gravity": [0, -9.81], "drawing": {k: [x + s, y - s] for k, (x, y) in drawn.items()}, "bodies": bodies})
        for s in (0.0, 1024.0)
    )
    one, other = (m.simulate(0.5, output=0.1) for m in (here, there))
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.arrays["lam"], other.arrays["lam"])
