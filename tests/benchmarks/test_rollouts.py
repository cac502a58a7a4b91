"""The driver of steps beside `mujoco.rollout`: what it times is the same motion. Times themselves are not judged."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from benchmarks import rollouts
from linkwright.api import compiled_of
from linkwright.mechanics.dynamics.tree import momentum


@pytest.mark.slow
def test_both_programs_move_alike() -> None:
    rows = rollouts.measured(["five-bar"], (8,), 1, lambda text: None)
    at = {r.engine: r for r in rows}
    assert at["linkwright rk4"].accuracy < 1e-8 and at["linkwright midpoint"].accuracy < 1e-5
    assert at["MuJoCo rollout"].accuracy > 50.0 * at["linkwright midpoint"].accuracy  # of first and of second order
    assert all(r.ns and r.ns > 0.0 for r in rows) and at["MuJoCo rollout"].ratio and at["linkwright rk4"].ratio is None
    assert {r.quantity for r in rows} == {"rollout of 8", "step from Python"}


@pytest.mark.slow
def test_the_leg_floats_on_one_loop() -> None:
    s = lw.compile(lw.load(rollouts.MECHANISMS["leg"]))
    assert s.mobility.freedoms == 11 and s.tree.cuts == ("F",) and s.mobility.rows == 3
    env = s.stepper(9, integrator="midpoint")
    env.step(rollouts.efforts("leg", s, 9, 1)[:, 0])
    assert env.ok.all()
    fall = s.start
    for _ in range(20):
        fall = s.step(fall)
    mass = sum(b.mass for b in s.description.bodies[1:])
    np.testing.assert_allclose(
        momentum(compiled_of(s).skel, s.motion(fall))[0], [0.0, 0.0, -9.81 * 0.02 * mass], rtol=1e-10, atol=1e-10
    )  # free fall
