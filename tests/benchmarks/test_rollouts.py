"""The driver of steps beside `mujoco.rollout`: what it times is the same motion. Times themselves are not judged."""

from __future__ import annotations

import resource

import numpy as np
import pytest

import linkwright as lw
from benchmarks import contact_rollouts, rollouts
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


@pytest.mark.slow
def test_both_programs_touch_the_ground_alike() -> None:
    """The biped with eight places that may touch: MuJoCo's soft contact sinks in, ours by round-off; both near the run by events."""
    rows = rollouts.measured(["walker"], (8,), 1, lambda text: None)
    ours, peer = (next(r for r in rows if r.engine == name) for name in ("linkwright midpoint", rollouts.PEER))
    assert ours.accuracy < 5e-4 and peer.accuracy < 1e-2 and " 0 of 8 failed" in ours.note
    assert ours.ns and peer.ns and peer.ratio


@pytest.mark.slow
def test_a_million_steps_of_the_biped() -> None:
    """64 bipeds under random torques, put back where they have fallen: every problem of impulses is solved, nothing sinks in, loops stay
    closed, and no memory is lost."""
    s = contact_rollouts.system("walker")
    q, v = contact_rollouts.start(s)
    n, rng = 64, np.random.default_rng(0)
    env, places = s.stepper(n, dt=1e-3), [i for i, x in enumerate(s.names.v) if x.endswith(("hip", "crank"))]
    env.reset(None, q, v)
    used = 0
    for k in range(1_000_000 // (n * 25)):
        tau = np.zeros((n, 25, len(v)))
        tau[..., places] = 5.0 * rng.normal(size=(n, 25, len(places)))
        env.rollout(tau)
        assert env.ok.all(), env.why
        assert np.isfinite(env.q).all() and np.abs(env.v).max() < 1e4
        fallen = (np.abs(env.q[:, 2]) > 0.8) | (env.q[:, 1] < -0.3)
        if fallen.any():
            env.reset(fallen, q, v)
        if k == 100:
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert env.law["depth"].max() < 1e-11 and env.law["residual"].max() < 1e-6
    assert max(float(np.abs(s.closure(env.state(k)).phi).max()) for k in range(n)) < 1e-14
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < used + 20_000  # kB
