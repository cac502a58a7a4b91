"""Channels of touches in cycles, at states and in runs, against the disc that they belong to."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.file import read_text

MODEL = """\
name: m
plane: xy
drawing: {A: [0, 0], B: [0.1, 0.02], C: [0.3, 0.25], D: [0.35, 0]}
bodies:
  ground: {pins: [A, D], points: {F: [0, -0.5]}}
  crank: {pins: [A, B], mass: 1, inertia: 0.01}
  coupler: {pins: [B, C], mass: 1, inertia: 0.01}
  rocker: {pins: [D, C], mass: 1, inertia: 0.01}
surfaces:
  tip: {circle: coupler.C, radius: 30 mm}
  floor: {line: ground.F, normal: [0, 1]}
contacts: {step: {between: [tip, floor]}}
drive: {A: 6 rad/s}
"""


@pytest.fixture(scope="module")
def m():
    return lw.Mechanism(read_text(MODEL))


def test_in_a_cycle(m):
    """A disc above a floor: its gap and lowest point follow from its center, its slip from the center's speed and the turning."""
    c = m.cycle(steps=24)
    assert np.asarray(c["step.gap"]) == pytest.approx(np.asarray(c["coupler.C.y"]) + 0.5 - 0.03, abs=1e-12)
    assert np.asarray(c["step.x"]) == pytest.approx(np.asarray(c["coupler.C.x"]), abs=1e-12)
    assert np.asarray(c["step.y"]) == pytest.approx(np.asarray(c["coupler.C.y"]) - 0.03, abs=1e-12)
    slip = -(np.asarray(c["coupler.C.vx"]) + 0.03 * np.asarray(c["coupler.angle.v"]))  # t is to the left of the normal: along -x
    assert np.asarray(c["step.slip"]) == pytest.approx(slip, abs=1e-11)
    assert "step.gap" in c.channels


def test_at_a_state_and_with_other_numbers(m):
    st = m.system.assemble({"A": 0.7})
    assert st["step.gap"] == pytest.approx(st["coupler.C.y"] + 0.47, abs=1e-14)
    larger = m.with_(**{"tip.radius": 0.05}).system.assemble({"A": 0.7})
    assert larger["step.gap"] == pytest.approx(st["step.gap"] - 0.02, abs=1e-14)
    assert m.cycle().measure("min step.gap") == pytest.approx(float(np.min(m.cycle()["step.gap"])), abs=1e-4)
