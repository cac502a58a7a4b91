"""A law is traced and compiled once; later runs find it again, and never one that has become stale."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.control.projected import Projected
from linkwright.simulation.feedback.controller_program import is_traced


@pytest.fixture
def traces(monkeypatch) -> list[str]:
    """One entry for every time a projected law is worked out on traced values."""
    seen: list[str] = []
    plain = Projected.command

    def counted(self, at):
        seen.extend(["traced"] if is_traced(at.q) else [])
        return plain(self, at)

    monkeypatch.setattr(Projected, "command", counted)
    return seen


@pytest.mark.parametrize("every", [None, "5 ms"])
def test_a_law_is_traced_once_and_found_again(traces, every):
    """Once for what acts and what is recorded together; a run that asks for the same finds it, bit by bit the same."""
    s = lw.load("slider-crank-equal").system
    st = s.assemble(q={"A": "30 deg"})
    reference = {"A": lw.control.minimum_jerk("60 deg", "0.1 s")}

    def run(P: float = 25.0, **more):
        return s.simulate(
            st, 0.1, control=lw.control.projected(reference, P=P, drives=["A", "B"], every=every), sample_interval=0.01, **more
        )

    first = run()
    assert len(traces) == 1
    again = run()
    assert len(traces) == 1
    for channel in ("A", "A.torque", "B.torque", "control.A.reference"):
        assert np.array_equal(first[channel], again[channel]), channel

    stiffer = run(P=100.0)
    assert len(traces) == 2 and np.abs(stiffer["A.torque"] - first["A.torque"]).max() > 1e-9
    reference["A"] = lw.control.minimum_jerk("50 deg", "0.1 s")  # the caller's own dict, changed in place
    other = run()
    assert len(traces) == 3 and abs(other["control.A.reference"][-1] - np.radians(50.0)) < 1e-12
    st = s.assemble(q={"A": "31 deg"})  # the reference begins elsewhere
    assert abs(run()["control.A.reference"][0] - np.radians(31.0)) < 1e-12 and len(traces) == 4


def test_what_a_function_of_the_callers_does_is_never_remembered(traces):
    """It may do something else in the next run."""
    s = lw.load("slider-crank-equal").system
    st, law = s.assemble(q={"A": "30 deg"}), lw.control.projected({"A": "30 deg"}, P=25, drives=["A"])
    size = [1.0]
    runs = []
    for value in (1.0, 2.0):
        size[0] = value
        runs.append(s.simulate(st, 0.01, control=law, drive={"B": lw.drives.torque(lambda t: size[0] + 0.0 * t)}, sample_interval=0.01))
    assert len(traces) > 1
    assert np.allclose([r["B.torque"][-1] for r in runs], [1.0, 2.0])
