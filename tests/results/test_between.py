"""States between samples: order of accuracy, on the loops, exact at samples, and what cannot be asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.results.trajectory import Trajectory
from tests.results.runs import CUTS, free_run, recorded, system
from tests.sweeps import sweep


@sweep("name", ["wiper", "rssr"], now=1)
def test_the_error_falls_with_the_sixth_power_of_the_spacing(name):
    fine = free_run(name, 0.1, cuts=CUTS.get(name))  # 61 samples of an integration to 1e-12
    errors = []
    for every in (12, 6):
        found = fine[::every].at(fine.t)
        errors.append([np.abs(getattr(found, x) - getattr(fine, x)).max() for x in "qva"])
        assert all((getattr(found, x)[::every] == getattr(fine, x)[::every]).all() for x in "qva")  # samples stay what they are
    coarse, finer = np.array(errors)
    rates = np.log2(coarse / finer)
    np.testing.assert_allclose(rates, [6.0, 5.0, 4.0], atol=0.4)  # the next order has its share at this spacing
    assert (finer < [1e-6, 1e-3, 1e-1]).all(), finer
    pin = {"wiper": "C.on.rocker", "rssr": "U.on.coupler"}[name]
    loads = [np.abs(fine[::every].at(fine.t)[pin] - fine[pin]).max() / np.abs(fine[pin]).max() for every in (6, 3)]
    assert loads[1] < 1e-5 and loads[1] < loads[0] / 12  # reactions follow the accelerations, order 4


def test_states_between_samples_are_on_the_loops():
    s, run = system("rssr", ("U",)), free_run("rssr", 0.1, cuts=("U",))[::6]
    times = np.linspace(0.001, 0.099, 23)
    c = run.at(times)
    assert isinstance(c, Trajectory) and len(c) == 23
    for i in (0, 11, 22):
        st, own = c.state(i), run.at(float(times[i]))
        assert np.abs(s.closure(st).phi / compiled_of(s).loops.row_scale).max() < 1e-12
        assert np.abs(s.closure(st).J @ st.v).max() < 1e-12 and np.abs(s.closure(st).J @ st.a + s.closure(st).k).max() < 1e-10
        np.testing.assert_allclose(own.q, st.q, rtol=0, atol=1e-13)  # one time or many
        assert own.t == times[i] and own["coupler.B.a"] == pytest.approx(c["coupler.B.a"][i], abs=1e-9)
        s.forward(st)  # taken for a state of the system
    n = next(n for n in s.tree.nodes if n.joint.type == "spherical")
    np.testing.assert_allclose(np.linalg.norm(c.q[:, n.q][:, :4], axis=1), 1.0, atol=1e-15)


def test_columns_go_straight_and_turns_stay_counted():
    s = system("four-bar", ("A",))
    run = recorded(s, s.assemble(v={"A": 25.0}), np.linspace(0.0, 1.0, 101))
    run = replace(run, columns={"x": (run.t**2, "none")})
    times = np.array([0.2025, run.t[95], 0.955])
    c = run.at(times)
    assert c["x"][0] == pytest.approx((0.2**2 + 0.21**2) / 2 * 0.5 + 0.2**2 * 0.5, abs=1e-12) and c["x"][1] == run["x"][95]
    np.testing.assert_allclose(c["A"], np.interp(times, run.t, run["A"]), atol=0.01)
    np.testing.assert_allclose(c["crank.angle"], np.interp(times, run.t, run["crank.angle"]), atol=0.01)
    assert c.settings["interpolated"] and c["C.on.rocker"][1] == pytest.approx(run["C.on.rocker"][95], rel=1e-9)


def test_a_loop_that_was_switched_off_is_left_open():
    s, run = system("wiper"), free_run("wiper")
    open_ = run.q + np.array([0.0, 0.01, 0.0])  # no longer closed
    off = replace(run, q=open_, arrays={"closed": np.zeros((len(run), 1))}, references=[{**x} for x in run.references])
    gap = np.abs(s.closure(off.at(0.1234)).phi).max()
    assert gap > 1e-4
    assert np.abs(s.closure(replace(off, arrays={}).at(0.1234)).phi).max() < 1e-12


def test_impacts_and_the_ends():
    run = free_run("wiper")
    v = np.concatenate([run.v[:31], 0.5 * run.v[30:31], run.v[31:]])
    rows = [*range(31), 30, *range(31, 61)]
    hit = replace(run, t=run.t[rows], q=run.q[rows], v=v, a=run.a[rows], references=[run.references[i] for i in rows], arrays={})
    assert (hit.at(float(run.t[30])).v == 0.5 * run.v[30]).all()  # a time that occurs twice is the later state
    assert run.at("0.5 s").t == 0.5 and run.at(0.5 * (1 + 2e-16)).t == 0.5
    assert (run[:1].at(0.0).q == run.q[0]).all()
    for t in (-0.1, 0.51, [0.1, 0.6], np.nan, []):
        with pytest.raises(UsageError, match=r"covers t = 0 \.\. 0\.5 s|finite"):
            run.at(t)
    with pytest.raises(lw.LinkwrightError):
        run.at("3 mm")
