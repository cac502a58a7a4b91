"""`certify` of runs with a fixed step: Richardson's extrapolation is the error itself, not only its size."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.integrators import INTEGRATORS
from tests.simulation.test_accuracy_estimates import PENDULUM


@pytest.mark.parametrize(("integrator", "step"), [("rk4", 0.02), ("rk4", 0.01)])
def test_half_the_step_tells_the_error_itself(integrator: str, step: float) -> None:
    """An error C h^p leaves C h^p (1 - 2^-p) between a step and its half, so 1 / (1 - 2^-p) of the difference is the error, up to a
    share of the order of h from the next term. The true one is against the pendulum's closed form by elliptic functions."""
    from scipy.special import ellipj, ellipk

    assert INTEGRATORS[integrator].order == 4
    s = lw.compile(lw.load(PENDULUM))
    begin = 1.2  # from hanging; the coordinate counts from the drawing
    st = s.assemble({"O": float(s.start["O"]) + begin})
    times = np.linspace(0.0, 2.0, 21)
    run = s.simulate(st, 2.0, sample_interval=times, integrator=integrator, step=step, certify=True)
    m, w = np.sin(0.5 * begin) ** 2, np.sqrt(9.81)
    sn = ellipj(ellipk(m) - w * times, m)[0]
    swung = run["O"] - float(s.start["O"])
    true = float(np.abs(swung - 2.0 * np.arcsin(np.sqrt(m) * sn)).max())
    assert 1e-8 < true < 1e-4  # far above round-off
    assert run.certificate.estimated_error == pytest.approx(true, rel=0.05)
