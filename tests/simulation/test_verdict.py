"""The limits of the verdict: what is measured is what happened, and each point fails where it must."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.integrators import INTEGRATORS


@pytest.fixture(scope="module")
def bar():
    s = lw.compile(lw.load("four-bar"))
    return s, s.assemble(v={"A": 3.0})


@pytest.fixture(scope="module")
def good(bar):
    s, st = bar
    return s.simulate(st, 0.5).certificate


LIMITS = {  # as documented in docs/how-to/check-a-result.md
    "position_residual": ("loops", 1e-9),
    "velocity_residual": ("velocities", 1e-9),
    "energy_imbalance": ("energy", 1e-6),  # of the energy turned over
    "estimated_error": ("error", 1e-3),
}


@pytest.mark.parametrize("field", LIMITS)
def test_each_limit_is_the_documented_one(good, field):
    """Just below it passes, just above it is named, and nothing else is."""
    point, limit = LIMITS[field]
    limit *= good.energy_turned_over if field == "energy_imbalance" else 1.0
    assert good.ok and replace(good, **{field: 0.9 * limit}).ok
    bad = replace(good, **{field: 1.1 * limit})
    assert not bad.ok and [k.name for k in bad.checks() if not k] == [point]
    assert str(bad).startswith(f"failed: {point} (")


@pytest.mark.parametrize("status", ["stuck", "open", "interrupted", "not finite"])
def test_a_run_that_did_not_finish_does_not_pass(good, status):
    bad = replace(good, status=status)
    assert not bad.ok and str(bad).startswith(f"failed: run ({status}: ")


def test_the_energy_of_a_loose_run_is_measured(bar):
    """rk4 with long steps loses energy: the certificate's imbalance is that of the channel, and above 1e-6 it does not pass."""
    s, st = bar
    run = s.simulate(st, 2.0, integrator="rk4", step=0.02, sample_interval="steps")
    c, E = run.certificate, run["energy.total"]
    assert c.energy_imbalance == pytest.approx(np.abs(E - E[0]).max(), rel=1e-9)  # the same sums, in another order
    assert 1e-6 * c.energy_turned_over < c.energy_imbalance < 1e-2 * c.energy_turned_over
    assert not c.checks()["energy"]


def test_the_gaps_of_an_unstabilized_run_are_measured(bar):
    """phi and J v of every step by the float path, over the size and the largest speed: both drift, both are named."""
    s, st = bar
    run = s.simulate(st, 2.0, integrator="rk4", step=0.01, stabilizer="none", sample_interval="steps")
    c = run.certificate
    phi, gap, speed = 0.0, 0.0, 1.0
    for q, v, near in zip(run.q, run.v, run.references, strict=True):
        at = compiled_of(s).loops.at(q, v, 0.0, near)
        phi = max(phi, np.abs(at.phi / compiled_of(s).loops.row_scale).max())
        gap = max(gap, np.abs((at.J @ v + at.b) / compiled_of(s).loops.row_scale).max())
        speed = max(speed, np.abs(v / compiled_of(s).loops.columns).max())
    assert c.position_residual == pytest.approx(phi, rel=1e-6) and c.velocity_residual == pytest.approx(gap / speed, rel=1e-6)
    failed = [k.name for k in c.checks() if not k]
    assert "loops" in failed and "velocities" in failed


@pytest.mark.parametrize(("method", "tolerance", "most"), [("dopri", 1e-9, 0.1), ("rodas", 1e-6, 0.05)])
def test_steps_are_planned_with_a_margin(method, tolerance, most):
    """The next step aims below the tolerance, so few are rejected: 1 to 4 % on smooth motions. Aimed at the tolerance itself,
    every fifth to tenth fails."""
    steps = rejected = 0
    for name in ("four-bar", "wiper", "carpet-scraper"):
        s = lw.compile(lw.load(name))
        counters = (
            s.simulate(s.start, 3.0, integrator=method, tolerance=tolerance, sample_interval=[3.0]).proof.sim.pieces[0].solution.counters
        )
        steps, rejected = steps + counters["steps"], rejected + counters["rejected"]
    assert rejected < most * steps


def test_margins_of_the_methods():
    """The factor by which a step stays below the one that would just do: 0.8 to 0.9 in the codes the methods are taken from."""
    assert all(0.75 <= m.table.safety <= 0.95 for m in INTEGRATORS.values() if m.adaptive)


@pytest.mark.slow
def test_what_stands_still_passes():
    assert lw.load("bennett").simulate(0.2, drive={}).certificate.ok


def test_the_work_of_a_prescribed_motion_has_a_say_in_the_steps():
    """A crank at constant speed could be followed in a handful of steps, which would leave its work wrong by a tenth."""
    s = lw.compile("slider-crank-equal")
    run = s.simulate(s.assemble(q={"A": "120 deg"}, v={"A": 3.0}), 2.0, drive={"A": lw.drives.speed(3.0)})
    assert run.checks().ok and run.certificate.energy_imbalance < 1e-6
