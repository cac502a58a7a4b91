"""Mobility by rank: planar loops in space, over-constrained linkages, idle freedoms, singular starts."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of


def test_a_planar_four_bar_in_space_names_its_three_idle_rows():
    m = lw.load("four-bar", space=True)
    r = m.system.mobility
    assert (r.freedoms, r.rank, r.rows) == (1, 2, 5)
    (text,) = [str(x) for x in r.redundant]
    assert "rotation about x, y and translation along z are implied by the other joints" in text
    assert "redundant" in str(m.topology)


def test_the_same_four_bar_in_its_plane_says_nothing_of_it():
    r = lw.load("four-bar").system.mobility
    assert r.redundant == () and r.freedoms == 1


@pytest.mark.parametrize(("name", "freedoms", "redundant_rows"), [("bennett", 1, 3), ("parallelogram-middle", 1, 1), ("door", 1, 10)])
def test_over_constrained_mechanisms_move(name, freedoms, redundant_rows):
    r = lw.load(name).system.mobility
    assert r.freedoms == freedoms
    assert sum(x.count for x in r.redundant) == redundant_rows == r.rows - r.rank


def test_rods_on_two_ball_joints_spin_idly():
    r = lw.load("delta").system.mobility
    assert r.freedoms == 3 and len(r.idle) == 6
    assert all(len(group) == 1 and group[0].startswith("rod") for group in r.idle)


def test_stewart_has_six_freedoms_and_nothing_idle():
    r = lw.load("stewart").system.mobility
    assert (r.freedoms, r.idle, r.redundant) == (6, (), ())


def test_a_start_in_a_singular_position_does_not_gain_a_freedom():
    """A flat parallelogram: rank is lost there, but the generic rank counts."""
    m = lw.load("slider-crank-equal", start={"A": "90 deg"})
    r = m.system.mobility
    assert r.singular_start and r.freedoms == 1


def test_moved_by_a_kilometer_everything_stays_the_same():
    """Accelerations of a driven turn and of the open tree, here and 1 km away."""
    base = {
        "plane": "xy",
        "gravity": [0, -9.81],
        "bodies": {
            "ground": {"pins": ["A", "D"]},
            "crank": {"pins": ["A", "B"], "mass": 0.3},
            "coupler": {"pins": ["B", "C"], "mass": 0.9},
            "rocker": {"pins": ["D", "C"], "mass": 0.8},
        },
        "drive": {"A": "45 rpm"},
    }
    here = {"A": [0, 0], "B": [0.15, 0.26], "C": [0.905, 0.75], "D": [1.0, 0]}
    away = {k: [x + 800.0, y - 600.0] for k, (x, y) in here.items()}
    near, far = (lw.load({"name": "bar", "drawing": p, **base}) for p in (here, away))
    a, b = near.cycle(steps=24), far.cycle(steps=24)
    for channel in ("C.a", "D.a", "rocker.angle.a", "coupler.angle.v"):
        np.testing.assert_allclose(b[channel], a[channel], atol=1e-9)
    from linkwright.mechanics.dynamics.tree import forward_tree

    acc = []
    for m in (near, far):
        s = m.system
        st = s.assemble(v={"A": 4.0})
        acc.append(forward_tree(compiled_of(s).skel, s.motion(st), np.zeros(s.tree.nv), compiled_of(s).applied(st)))
    np.testing.assert_allclose(acc[1], acc[0], atol=1e-9)
