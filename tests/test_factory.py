"""Random mechanisms do not depend on the registry's other entries, and failing ones are made small."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.joints import JOINTS
from linkwright.mechanics.constraints.loops import Loops
from tests import factory, shrinking
from tests.factory import Drawn
from tests.joints.pin_arc import PinArc
from tests.mechanics.formulations.mechanisms import moving_mechanism
from tests.sweeps import sweep


def test_a_new_type_changes_only_the_joints_that_become_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JOINTS, "pin_arc", PinArc)
    same = 0
    for seed in range(30):
        one, two = (
            factory.random_tree(np.random.default_rng(seed), 6, kinds).skel.tree.description
            for kinds in (factory.SPATIAL, ("pin_arc", *factory.SPATIAL))
        )
        for a, b in zip(one.joints, two.joints, strict=True):
            assert (a.first, a.second, a.frame_first, a.frame_second) == (b.first, b.second, b.frame_first, b.frame_second)
            assert b.type in (a.type, "pin_arc") and (b.type == "pin_arc" or a.options == b.options)
        assert [(b.mass, b.com, b.inertia, b.points) for b in one.bodies] == [(b.mass, b.com, b.inertia, b.points) for b in two.bodies]
        untouched = all(j.type != "pin_arc" for j in two.joints)
        assert not untouched or one == two
        same += untouched
    assert 10 < same < 25  # (10/11)^6 of 30 are 17


def test_all_types_are_drawn_about_equally() -> None:
    drawn = [factory.pick(seed, "J0", factory.SPATIAL) for seed in range(2000)]
    counts = [drawn.count(kind) for kind in factory.SPATIAL]
    assert min(counts) > 140 and max(counts) < 260  # 200 each, 4.5 standard deviations
    twice = [factory.pick(seed, "J0", ("revolute", "planar", "revolute")) for seed in range(900)]
    assert 540 < twice.count("revolute") < 660


def joined(mech: Drawn) -> list[str]:
    return [j.type for j in mech.skel.tree.description.joints]


@sweep("kind", ["screw", "universal", "prismatic"], now=2)
def test_a_failure_of_one_joint_type_ends_at_one_joint(kind: str) -> None:
    mech = next(m for m in (moving_mechanism(seed)[0] for seed in range(40)) if kind in joined(m) and len(joined(m)) > 8)

    def check(m: Drawn) -> None:
        assert kind not in joined(m), "there it is"

    with pytest.raises(AssertionError, match=f"there it is\n(.*\n)*  [JC].* {kind}") as caught:
        shrinking.holds(check, mech)
    assert len([line for line in str(caught.value).splitlines() if " - " in line]) <= 2  # a cut one needs a body that is carried otherwise


@sweep("seed", range(6), later=[4])
def test_smaller_mechanisms_have_closed_loops_and_allowed_velocities(seed: int) -> None:
    mech, _ = moving_mechanism(seed)
    for m in shrinking.smaller_mechanisms(mech):
        loops = Loops.of(m.skel)
        closure = loops.at(m.q, m.v, 0.0, m.skel.start_coordinates)
        assert np.abs(closure.phi).max(initial=0.0) < 1e-9
        assert np.abs((closure.J @ m.v) / loops.row_scale).max(initial=0.0) < 1e-8 * (1.0 + np.abs(m.v / loops.columns).max(initial=0.0))


def test_a_loop_that_fails_stays_a_loop() -> None:
    mech = next(m for m in (moving_mechanism(seed)[0] for seed in range(20)) if len(m.skel.tree.cuts) > 4)

    def check(m: Drawn) -> None:
        assert not m.skel.tree.cuts

    small = shrinking.smallest(mech, lambda m: shrinking.failure(check, m) is not None)
    assert len(small.skel.tree.cuts) == 1 and len(small.skel.tree.nodes) == 1


def test_another_error_is_not_taken_for_the_failure() -> None:
    mech, _ = moving_mechanism(0)
    size = len(mech.skel.tree.nodes)

    def check(m: Drawn) -> None:
        if len(m.skel.tree.nodes) < size:
            raise ValueError("too small")
        raise AssertionError("as drawn")

    with pytest.raises(AssertionError, match="as drawn") as caught:
        shrinking.holds(check, mech)
    assert str(caught.value).count("  J") == size


def test_a_check_that_passes_is_left_alone() -> None:
    shrinking.holds(lambda m: None, moving_mechanism(1)[0])
