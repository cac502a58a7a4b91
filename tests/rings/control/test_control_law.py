"""One function that drives several joints: against drives with a function each, and against the library's own laws."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UsageError
from tests.refusals import refused

DRIVES = ["A", "B"]


@pytest.fixture(scope="module")
def crank():
    s = lw.load("slider-crank-equal").system
    return s, s.assemble({"A": "30 deg"})


def springs(t, st):
    return {"B": 5 * np.sin(t), "A": -20 * st["A"] - 2 * st["A.v"]}


def test_a_function_of_the_state_drives_several_joints_as_drives_with_a_function_each(crank):
    s, st = crank
    run = s.simulate(st, 0.5, control=lw.control.control_law(springs, drives=DRIVES), sample_interval=0.05)
    each = {"A": lw.drives.torque(lambda t, st: -20 * st["A"] - 2 * st["A.v"]), "B": lw.drives.torque(lambda t: 5 * np.sin(t))}
    again = s.simulate(st, 0.5, drive=each, sample_interval=0.05)
    for name in ("A", "B", "A.torque", "B.torque"):
        assert np.abs(run[name] - again[name]).max() < 1e-12
    assert any("compiled" in n for n in run.notes)


def test_a_function_that_cannot_be_traced_is_called_back_and_refused_where_derivatives_are_needed(crank):
    s, st = crank

    def law(t, st):
        return np.array([10.0, -1.0]) if st["A"] < 9.0 else np.zeros(2)

    run = s.simulate(st, 0.1, control=lw.control.control_law(law, drives=DRIVES), sample_interval=0.05)
    plain = s.simulate(st, 0.1, drive={"A": lw.drives.torque(10), "B": lw.drives.torque(-1)}, sample_interval=0.05)
    assert np.abs(run["A"] - plain["A"]).max() < 1e-12 and any("cannot be traced" in n for n in run.notes)
    with pytest.raises(LinkwrightError):
        s.linearize(st, control=lw.control.control_law(law, drives=DRIVES, every="1 ms"))


def test_a_sampled_function_is_called_once_per_sample_and_may_remember(crank):
    """Every call gives twice its number: the held torques are 2, 4, 6 ...; the certificate's second run does not call it."""
    s, st = crank
    calls = []

    def law(t, st):
        calls.append(float(t))
        return {"A": 0.0, "B": 2.0 * len(calls)}

    halt = lw.events.when("t", equals=0.02, do=lw.events.unlock("B"))
    run = s.simulate(
        st, 0.05, control=lw.control.control_law(law, drives=DRIVES, every="10 ms"), sample_interval=0.01, certify=True, events=[halt]
    )
    assert np.allclose(calls, [0.0, 0.01, 0.02, 0.03, 0.04], atol=1e-12)
    assert np.allclose(run["B.torque"], [2, 4, 6, 8, 10, 10])
    assert "values that were sampled" in str(run.certificate)


def test_a_function_in_the_place_of_a_controller_has_the_drives_of_the_file():
    m = lw.load("slider-crank-equal")
    run = m.simulate(0.1, control=lambda t, st: -2.0 * st["A.v"], sample_interval=0.05)
    assert np.allclose(run["A.torque"], -2.0 * run["A.v"])
    compared = lw.control.compare(m, None, 0.1, {"mine": lambda t: 0.5, "theirs": lw.control.pd({"A": "60 deg"})}, sample_interval=0.05)
    assert not compared.why and compared.values("rms")["mine"] == pytest.approx(0.5)
    assert m.system.control(lambda t, st: {"A": 3.0}, m.system.start)(m.system.start) == {"A": 3.0}


def test_the_function_reads_what_is_measured_and_references_are_recorded_beside_it(crank):
    """PD by hand and lw.control.pd from the same noisy samples give the same torques, bit for bit but for the order of sums."""
    s, st = crank
    noise = lw.control.noise(angle="0.5 deg", angular_speed="2 deg/s", seed=4)

    def law(t, st):
        return [40 * (np.pi / 3 - st["A"]) - 5 * st["A.v"]]

    mine = lw.control.control_law(law, drives=["A"], every="2 ms", reference={"A": "60 deg"})
    theirs = lw.control.pd({"A": "60 deg"}, P=40, D=5, drives=["A"], every="2 ms")
    a, b = (s.simulate(st, 0.05, control=c, noise=noise, sample_interval=0.002) for c in (mine, theirs))
    assert np.abs(a["A.torque"] - b["A.torque"]).max() < 1e-9
    assert np.abs(a["control.A.error"] - b["control.A.error"]).max() < 1e-12


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (lambda t: {"A": 1.0}, "no effort of 'B'"),
        (lambda t: {"A": 1.0, "B": 1.0, "C": 0.0}, "effort of 'C'"),
        (lambda t: [1.0], "2 numbers"),
        (lambda t: [1.0, float("nan")], "finite"),
        (lambda t, st: [1 / 0, 0.0], "ZeroDivisionError"),
        (lambda t, st, more: 0.0, "t, or t and the state"),
        (lambda t, st: [st["nothing"], 0.0], "nothing"),
        (3, "a function"),
    ],
)
@pytest.mark.parametrize("every", [None, "5 ms"])
def test_what_a_function_must_not_do_is_said(crank, law, said, every):
    s, st = crank
    with pytest.raises(LinkwrightError, match=said):
        s.simulate(st, 0.02, control=lw.control.control_law(law, drives=DRIVES, every=every))


def test_what_is_no_controller_is_refused(crank):
    s, st = crank
    with refused(UsageError, value=3):
        s.simulate(st, 0.1, control=3)
