"""The estimated error of a run against the true one, and the growth of small changes against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.simulation.accuracy import LOOSER
from tests.sweeps import every_model

WITHIN = 30.0  # estimates scale a difference of two runs down by 31, which supposes errors proportional to the tolerance

PENDULUM = {
    "name": "pendulum", "plane": "xy", "gravity": [0, -9.81], "drawing": {"O": [0, 0], "P": [0, -1]},
    "bodies": {
        "ground": {"pins": ["O"]},
        "rod": {"pins": ["O"], "points": ["P"], "along": {"O": 0, "P": 1}, "mass": 1, "com": "P", "inertia": 0},
    },
}  # fmt: skip
DOUBLE = {
    "name": "double pendulum", "plane": "xy", "gravity": [0, -9.81], "drawing": {"O": [0, 0], "P": [1, 0], "Q": [2, 0]},
    "bodies": {
        "ground": {"pins": ["O"]},
        "upper": {"pins": ["O", "P"], "mass": 1, "com": "P", "inertia": 0},
        "lower": {"pins": ["P"], "points": ["Q"], "along": {"P": 0, "Q": 1}, "mass": 1, "com": "Q", "inertia": 0},
    },
}  # fmt: skip


def compared(s, st, duration, **how):
    """(estimated, true) error of positions, both in rad and of the size."""
    times = np.linspace(st.t, st.t + duration, 21)
    run, best = s.simulate(st, duration, sample_interval=times, **how), s.simulate(st, duration, sample_interval=times, tolerance=1e-14)
    size = np.array([compiled_of(s).loops.kappa if k == "length" else 1.0 for jt in run.skel.types for k in jt.coordinate_kinds])
    return run.certificate, float(np.abs((run.q - best.q) / size).max())


def check(c, true):
    """Within the factor, or both too small to matter: beside round-off of the reference an estimate means nothing."""
    assert c.estimated_error is not None
    assert true / WITHIN <= c.estimated_error + 2e-13 and c.estimated_error <= WITHIN * (true + 2e-13)
    assert true < 1e-3 or not c.ok


CASES = [{"tolerance": 1e-6}, {"tolerance": 1e-9}, {"integrator": "rk4", "step": 2e-3}, {"integrator": "rodas", "tolerance": 1e-7}]


@pytest.mark.parametrize("how", [*CASES, {"tolerance": 1e-4}], ids=lambda how: " ".join(map(str, how.values())))
def test_estimates_are_of_the_size_of_the_error(how):
    s = lw.compile(lw.load("four-bar"))
    check(*compared(s, s.assemble(v={"A": 3.0}), 1.5, **how))


def test_the_error_of_a_tabulated_load_is_estimated():
    s = lw.compile(lw.load("punch-press"))
    check(*compared(s, s.assemble(v={"E": 9.0}), 0.5, tolerance=2e-8))


@pytest.mark.parametrize("name", every_model("carpet-scraper"))
def test_estimates_on_every_model(name):
    """Nearly all within the factor; none silent about an error above 1e-3 (some are pessimistic beyond it)."""
    s = lw.compile(lw.load(name))
    for how in CASES[:3]:
        c, true = compared(s, s.start, 0.3, **how)
        assert c.estimated_error is not None and true <= WITHIN * c.estimated_error + 1e-11
        assert true < 1e-3 or not c.ok


def test_growth_of_an_upright_pendulum_is_an_exponential():
    """Beside the upright position both a tilt and its rate grow as cosh, sinh of sqrt(g) t: a factor between the smaller and the sum."""
    s = lw.compile(lw.load(PENDULUM))
    w, t = math.sqrt(9.81), 1.5
    c = s.simulate(s.assemble({"O": 0.5 * math.pi}), t).certificate
    assert math.sinh(w * t) / w < c.growth < math.cosh(w * t) + math.sinh(w * t) / w
    assert not c.amplifies and not c.growth_saturated and "change of the start grows" in str(c)


def test_growth_of_a_free_mass_is_that_of_its_speed():
    """A change of place and one of speed, both of size one: after t seconds 1 + t."""
    cart = {
        "name": "cart", "plane": "xy", "gravity": [0, 0], "drawing": {"C": [0, 0]},
        "bodies": {"ground": {}, "cart": {"points": ["C"], "mass": 2.0, "inertia": 0.0}},
        "joints": {"X": {"type": "prismatic", "between": ["ground", "cart"], "at": "C", "axis": [1, 0]}},
    }  # fmt: skip
    s = lw.compile(lw.load(cart))
    assert s.simulate(s.assemble(v={"X": 1.0}), 4.0).certificate.growth == pytest.approx(5.0, rel=1e-6)


def test_a_chaotic_motion_is_marked_and_does_not_pass():
    s = lw.compile(lw.load(DOUBLE))
    c, true = compared(s, s.assemble({"O": 0.5 * math.pi, "P": 0.5}), 15.0, tolerance=1e-9)
    assert true > 1e-3  # what was called trustworthy before
    assert c.amplifies and not c.ok and "compare statistics, not single values" in str(c)
    assert str(c).startswith("failed: error (estimated error of positions ")
    assert c.energy_imbalance < 1e-6 * c.energy_turned_over  # loops and energy say nothing of it


def test_a_prescribed_motion_has_nothing_that_grows():
    run = lw.load("wiper").simulate(1.0)
    assert run.certificate.growth == 0.0 and run.certificate.estimated_error < 1e-12
    assert "no degree of freedom" in str(run.checks())


def test_estimates_cost_about_the_run(monkeypatch):
    """Evaluations of both companions together: 1.3 times those of the run, by the orders of the methods."""
    from linkwright.simulation import time_stepping

    s = lw.compile(lw.load("four-bar"))
    run = s.simulate(s.assemble(v={"A": 3.0}), 3.0)
    done, go = [], time_stepping.go

    def counted(*args, **how):
        done.append(go(*args, **how))
        return done[-1]

    monkeypatch.setattr(time_stepping, "go", counted)
    c = run.certificate
    assert len(done) == 2 and sum(x.counters["evaluations"] for x in done) < 2.0 * LOOSER ** (-1 / 8) * 1.15 * c.evaluations
    assert run.certificate is c and len(done) == 2  # worked out once


def test_events_that_act_are_part_of_the_comparison():
    """The elbow of a double pendulum locks on the way; the error after it is estimated as well."""
    s = lw.compile(lw.load(DOUBLE))
    latch = [lw.events.when("O", -0.5, do=lw.events.lock("P"), name="latch")]
    st = s.assemble({"O": 0.0, "P": 0.3}, {"O": -1.0})
    run = s.simulate(st, 1.0, tolerance=1e-7, events=latch)
    best = s.simulate(st, 1.0, tolerance=1e-13, events=latch)
    assert [e.name for e in run.events] == ["latch"]
    check(run.certificate, float(np.abs(run.q - best.q).max()))


@pytest.mark.parametrize("certify", [False, True])
def test_sampled_functions_are_not_called_again(certify):
    """A function that counts its calls: the companions take what it gave. Against the same efforts, held as points over time."""
    s, calls = lw.compile(lw.load("four-bar")), []
    st = s.assemble(v={"A": 1.0})

    def law(t, here):
        calls.append(t)
        return 4.0 - here["A.v"] + 0.01 * len(calls)  # it remembers

    how = {"integrator": "rk4", "step": 0.01}
    run = s.simulate(st, 1.0, drive={"A": lw.drives.torque(law, every=0.05)}, sample_interval=0.05, certify=certify, **how)
    c = run.certificate
    assert len(calls) == 20 and "the values that were sampled" in str(c)
    efforts = dict(zip(np.round(calls, 9), run["A.torque"], strict=False))
    best = s.simulate(
        st, 1.0, drive={"A": lw.drives.torque(lambda t: efforts[round(t, 9)], every=0.05)}, sample_interval=0.05, tolerance=1e-13
    )
    check(c, float(np.abs(run.q - best.q).max()))


def test_certify_does_not_run_a_memory_twice():
    s = lw.compile("wiper")
    asked = []
    drive = {"A": lw.drives.torque(lambda t, st: asked.append(t) or 0.1 * len(asked), every=0.01)}
    run = s.simulate(s.assemble(v={"A": 4.0}), 0.05, drive=drive, certify=True)
    samples = list(asked)
    assert run.certificate.estimated_error is not None and run.certificate.estimated_error < 1e-6
    assert asked == samples and "values that were sampled" in str(run.checks())
