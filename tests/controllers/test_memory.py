"""What a controller keeps in mind: references that began where things stood, commands on their way, integrals; across events."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.results import Trajectory
from linkwright.system import System

BESIDE = """
name: crank beside a double pendulum
plane: xy
gravity: [0, -9.81]
drawing: {A: [0, 0], B: [-0.5, 0.87], C: [-1, 0], Q: [5, 0], Z: [6, 0], Y: [7, 0]}
bodies:
  ground: {pins: [A, Q], points: [C]}
  crank: {pins: [A, B], along: {A: 0, B: 1 m}, mass: 1, com: B, inertia: 0}
  rod: {pins: [B], points: [C], along: {B: 0, C: 1 m}, mass: 1, com: C, inertia: 0}
  upper: {pins: [Q, Z], mass: 1}
  lower: {pins: [Z], points: [Y], mass: 0.1}
joints:
  C: {type: pin_slot, connect: [ground.C, rod.C], slot: [1, 0]}
start: {A: 30 deg}
"""


@pytest.fixture(scope="module")
def beside(tmp_path_factory) -> System:
    path = tmp_path_factory.mktemp("beside") / "beside.yaml"
    path.write_text(BESIDE)
    return lw.load(path).system


def run_of(s: System, every: str | None, **more) -> Trajectory:
    """The crank moves as told; of the double pendulum the upper part is held and the lower one swings."""
    law = lw.projected({"A": lw.minimum_jerk("60 deg", "1 s"), "Q": "0 deg"}, P=25, D=10, drives=["A", "Q"], every=every)
    return s.simulate(s.start, 0.5, control=law, output=0.01, tolerance=1e-10, **more)


@pytest.mark.parametrize(("every", "delay"), [(None, None), ("2 ms", None), ("2 ms", "4 ms")])
def test_a_lock_elsewhere_changes_nothing_for_the_crank(beside, every, delay):
    """The lower pendulum is locked at 0.3 s, the instant of a sample, and let go between two. Nothing of that reaches the crank:
    its reference does not begin anew, and a sample that is taken again does not push commands on their way along twice.
    Sampled, both runs do the same sums (1e-12); followed at all times they differ by their steps (tolerance 1e-10)."""
    options = {} if delay is None else {"delay": delay}
    switches = [lw.when("t", 0.3, do=lw.lock("Z")), lw.when("t", 0.401, do=lw.unlock("Z"))]
    plain, switched = run_of(beside, every, **options), run_of(beside, every, events=switches, **options)
    assert len(switched.events) == 2 and np.abs(switched["Z"] - plain["Z"]).max() > 1e-3
    for channel in ("A", "A.torque", "control.A.reference"):
        assert np.abs(switched[channel] - plain[channel]).max() < (1e-12 if every else 1e-7), channel


def test_runs_of_a_batch_begin_where_they_stand_or_not_at_all():
    """A batch is bound at its first state: a reference that begins there is no reference for the others."""
    s = lw.load("slider-crank").system
    states = [s.assemble({"A": f"{a} deg"}) for a in (30, 20)]
    begins = lw.projected({"A": lw.minimum_jerk("60 deg", "1 s")}, P=25, drives=["A"])
    with pytest.raises(UsageError, match=r"'A' begins where the first state stands.*one by one"):
        s.simulate_batch(states, 0.2, control=begins, output=0.1)
    same = s.simulate_batch([states[1], states[1]], 0.2, control=begins, output=0.1)
    given = lw.projected({"A": lw.minimum_jerk("60 deg", "1 s", start="30 deg")}, P=25, drives=["A"])
    both = s.simulate_batch(states, 0.2, control=given, output=0.1)
    for batch, i, law in ((same, 1, begins), (both, 0, given), (both, 1, given)):
        st = states[1] if batch is same else states[i]
        assert np.abs(batch["A"][i] - s.simulate(st, 0.2, control=law, output=0.1)["A"]).max() < 1e-12
