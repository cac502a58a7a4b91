"""Events of a run: several at one instant, watching channels of the run, ending it, locking beside drives, samples and parameters."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.refusals import refused


@pytest.fixture(scope="module")
def wiper():
    return lw.compile("wiper")


def test_events_at_one_instant_all_act(wiper):
    st = wiper.assemble(v={"A": 4.0})
    events = [
        lw.events.when("t", 0.1, do=lw.events.lock("A")),
        lw.events.when("t", 0.1, name="note"),
        lw.events.when("t", 0.1, do=lw.events.release(wiper.tree.cuts[0])),
    ]
    run = wiper.simulate(st, 0.3, events=events, sample_interval=0.05)
    assert run.t[-1] == 0.3 and run.certificate.status == "finished"
    assert sorted(str(e.values.get("did")) for e in run.events) == ["None", "lock A", f"release {wiper.tree.cuts[0]}"]
    assert np.ptp(run["A"][run.t > 0.1]) < 1e-12 and (run[f"lam.{wiper.tree.cuts[0]}"][run.t > 0.1] == 0.0).all()
    both = wiper.simulate(st, 0.3, events=[lw.events.when("t", 0.1, name="note"), lw.events.when("t", 0.1, do="stop")])
    assert both.t[-1] == pytest.approx(0.1) and len(both.events) == 2


def test_events_watch_what_only_a_run_has(wiper):
    """The drive's torque, a reaction and a multiplier: at the time of the event they have the value that was watched for."""
    st = wiper.assemble(v={"A": 4.0})
    drive = {"A": lw.drives.speed(4.0)}
    dense = wiper.simulate(st, 0.5, drive=drive, sample_interval=0.001)
    for name, level in (("A.torque", 0.5), ("C.on.rocker.magnitude", 1.01 * float(np.median(dense["C.on.rocker.magnitude"])))):
        run = wiper.simulate(st, 0.5, drive=drive, events=[lw.events.when(name, level)], sample_interval=0.1)
        crossings = np.flatnonzero(np.diff(np.sign(dense[name] - level)))
        assert len(run.events) == len(crossings) > 0
        for e, i in zip(run.events, crossings, strict=True):
            assert dense.t[i] <= e.time <= dense.t[i + 1]
    stopped = wiper.simulate(st, 0.5, drive=drive, events=[lw.events.when("A.torque", "0.5 N m", do="stop")])
    assert stopped["A.torque"][-1] == pytest.approx(0.5, abs=1e-6)
    with refused(lw.ChannelError, name="Q.torque"):
        wiper.simulate(st, 0.1, events=["Q.torque"])


def test_a_run_that_ends_early_has_its_end(wiper):
    run = wiper.simulate(wiper.assemble(v={"A": 4.0}), 2.0, events=[lw.events.when("A", "100 deg", do="stop")], sample_interval=[1.0, 2.0])
    assert run.t[-1] == run.events[-1].time and run["A", "deg"][-1] == pytest.approx(100.0, abs=1e-9)
    more = wiper.simulate(run.state(-1), 0.1)
    assert more.t[0] == run.t[-1]


def test_a_joint_goes_back_to_its_prescribed_motion(wiper):
    st = wiper.assemble(v={"A": 3.0})
    events = [lw.events.when("t", 0.2, do=lw.events.lock("A")), lw.events.when("t", 0.4, do=lw.events.unlock("A"))]
    run = wiper.simulate(st, 0.6, drive={"A": lw.drives.speed(3.0)}, events=events, sample_interval=0.05)
    np.testing.assert_allclose(run["A.v"][run.t > 0.41], 3.0, atol=1e-9)
    assert run.events[1].values["energy lost"] < 0.0, "the drive gives what the start takes"
    assert run.checks().ok


def test_switching_does_not_shift_the_samples_of_a_controller(wiper):
    seen = []

    def law(t, st):
        seen.append(round(t, 6))
        return 0.1

    st = wiper.assemble(v={"A": 4.0})
    wiper.simulate(st, 0.05, drive={"A": lw.drives.torque(law, every=0.01)}, events=[lw.events.when("t", 0.0234, do=lw.events.lock("D"))])
    assert set(seen) <= {0.0, 0.01, 0.02, 0.03, 0.04, 0.05} and len(set(seen)) >= 5


def test_impacts_and_channels_know_free_parameters():
    w = lw.compile("wiper", parameters=["crank.mass", "coupler.C.x"])
    length = w.parameters[1].value * 1.05
    free = {"crank.mass": 20.0, "coupler.C.x": length}
    law = lw.drives.torque(lambda t, st: 0.5 * st["coupler.C.y"])
    run = w.simulate(w.assemble(v={"A": 4.0}), 0.4, parameters=free, drive={"A": law}, tolerance=1e-10, sample_interval=0.01)
    np.testing.assert_allclose(run["A.torque"], 0.5 * run["coupler.C.y"], atol=1e-12)
    locked = w.simulate(
        w.assemble(v={"A": 4.0}), 0.4, parameters=free, events=[lw.events.when("t", 0.1, do=lw.events.lock("A"))], tolerance=1e-10
    )
    assert locked.checks().ok and locked.events[0].values["energy lost"] > 0.5
