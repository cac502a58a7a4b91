"""Runs that turn round next to a singular position: a note with time and distance, and a branch that is not called known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation.certificate_evidence import REVERSAL_WAY, within
from tests.sweeps import sweep

LATEST = np.pi - 1.0, 1.0  # of the parallelogram: 1 rad before it is flat, at 1 rad/s; a constant torque stops it after 2 s


@cache
def crank():
    """Aghili's slider-crank without gravity: (3 - 2 cos 2A) A'^2 / 2 is its kinetic energy, singular with A at 270 deg."""
    s = lw.load("slider-crank-equal", g=0).system
    way = 1.5 * np.pi - 2.0 * np.pi / 3.0
    return s, s.assemble({"A": 2.0 * np.pi / 3.0}, {"A": 1.0}), 0.5 * (3.0 - 2.0 * np.cos(4.0 * np.pi / 3.0)), way, np.sqrt(5.0)


@cache
def parallelogram():
    """With a redundant middle bar, flat with A at 180 deg; three coordinates besides A turn with it, so that a way is 2 |dA|."""
    s = lw.load("parallelogram-middle", g=0).system
    st = s.assemble({"A": LATEST[0]}, {"A": LATEST[1]})
    return s, st, float(s.simulate(st, 0.0)["energy.kinetic"][0]), 1.0, 2.0


def stopped(case, d, **options):
    """A run that a constant torque stops d before the singular position (behind it where d is negative), and the way that is."""
    s, st, energy, way, length = case()
    return s.simulate(st, 6.0, drive={"A": lw.drives.torque(-energy / (way - d))}, **options), length * abs(d)


@sweep(
    ("case", "d"),
    [(crank, 1e-8), (parallelogram, -2e-7), (crank, -2e-7), (parallelogram, 1e-8), (crank, 2e-7), (parallelogram, 2e-7)],
    now=2,
)
def test_a_motion_that_turns_round_too_near_is_not_called_known(case, d, tmp_path):
    run, way = stopped(case, d)
    (note,) = [n for n in run.notes if "turns round" in n]
    (found,) = run.proof.sim.evidence.reversals
    # positions of a run at the default tolerance are known to some 1e-8
    assert found.distance == pytest.approx(way, abs=5e-8) and f"t = {found.time:.6g} s" in note and f"{found.distance:.1e}" in note
    # where the energy is used up, the time is that of the largest angle
    assert found.time == pytest.approx(run.t[np.argmax(run["A"])], abs=np.diff(run.t).max())
    c = run.certificate
    assert not c.ok and not c.checks()["branch"] and not run.checks()
    assert str(c).startswith("unknown: branch (")
    assert "the branch on which it continues is unknown" in str(c) and "passed: loops" not in str(c)
    assert c.notes.count(note) == 1 and c.branch_doubts == (note,)
    run.save(tmp_path / "run.npz")
    again = lw.load_result(tmp_path / "run.npz")
    assert again.certificate.branch_doubts == (note,) and not again.checks()


@sweep(
    ("case", "d"),
    [(crank, 1e-5), (parallelogram, -1e-2), (crank, 1e-2), (crank, -1e-2), (parallelogram, 1e-5), (parallelogram, 1e-2)],
    now=2,
)
def test_a_motion_that_turns_round_far_off_is(case, d):
    """Five times the threshold are far: 1e-5 is a thousand times what the run knows."""
    run, _ = stopped(case, d)
    assert not run.notes and not run.certificate.branch_doubts and run.certificate.checks()["branch"]


def test_a_passage_at_speed_and_far_reversals_have_no_note():
    s, st, energy, way, _ = crank()
    thrown = s.simulate(st, 6.0, drive={"A": lw.drives.torque(0.2)})
    assert thrown.certificate.rank_passages and not thrown.notes and thrown.certificate.ok
    back = s.simulate(st, 8.0, drive={"A": lw.drives.torque(-energy / (0.8 * way))})  # turns round early, then passes 90 deg at speed
    assert back.certificate.rank_passages and not back.notes and back.certificate.ok
    swinging = lw.load("wiper").system
    assert not swinging.simulate(swinging.start, 1.0, drive={}).notes


@sweep(
    "options",
    [{"formulation": "nullspace", "integrator": "rk4", "step": 0.01}, {"formulation": "nullspace"}, {"integrator": "rk4", "step": 0.01}],
    now=1,
)
def test_other_ways_to_integrate_say_the_same(options):
    run, _ = stopped(parallelogram, 1e-8, **options)
    assert len([n for n in run.notes if "turns round" in n]) == 1 and not run.certificate.ok


@pytest.mark.slow
def test_a_prescribed_motion_that_turns_round_there():
    """The law is exact, the branch is not: a crank that stops in the flat position may be followed either way."""
    s = parallelogram()[0]
    st = s.assemble({"A": np.pi - 0.5}, {"A": 1.0})
    run = s.simulate(st, 2.0, drive={"A": lw.drives.position(f"{np.pi} rad - 0.5 rad/s^2*(t - 1 s)^2")})
    assert "t = 1 s" in run.notes[0] and not run.certificate.checks()["branch"]


def test_a_motion_that_comes_to_rest_there():
    """The same run as one that turns round, ended when it stands: after 2 (1 - d) s."""
    s, st, energy, _, _ = parallelogram()
    run = s.simulate(st, 2.0 - 1e-5, drive={"A": lw.drives.torque(-energy / (1.0 - 1e-8))})
    assert any("comes to rest" in n for n in run.notes) and not run.certificate.ok


def test_looser_runs_know_less():
    assert within(None) == within(1e-12) == REVERSAL_WAY and within(1e-6) == pytest.approx(1e-3)
    run, _ = stopped(crank, 1e-5, tolerance=1e-7)
    assert run.notes and not run.certificate.checks()["branch"]
