"""Fifty random mechanisms that lose rank on the way, against reduced equations."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.random_passages import PLANNED, Case, case
from tests.sweeps import sweep

TOLERANCES = [1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]
FEW = [0, 18]  # kinds that compile quickly


def passes(given: Case, tolerances: list[float]) -> list[str]:
    """Runs that ended wrong: late or early by more than a thousand local errors, or without a singular position."""
    s = lw.compile(lw.load(given.model))
    st = s.assemble(v=given.speeds)
    wrong = []
    for tolerance in tolerances:
        run = s.simulate(st, given.seconds, tolerance=tolerance, sample_interval=[0.0, given.seconds])
        error = float(np.abs(run[given.channel][-1] - run[given.channel][0] - given.right).max())
        if not error < max(1000.0 * tolerance, 2e-8) or not run.certificate.rank_passages:
            wrong.append(f"{given.name} at {tolerance:.0e}: off by {error:.1e}, {run.certificate.rank_passages} passages")
    return wrong


@sweep("number", FEW, now=1)
def test_a_random_mechanism_passes(number):
    assert not passes(case(number), [1e-6, 1e-9, 1e-12])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(50))
def test_fifty_random_mechanisms_pass_at_every_tolerance(number):
    assert len(PLANNED) == 50 and not passes(case(number), TOLERANCES)
