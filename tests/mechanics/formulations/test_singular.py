"""Singular positions: limits along the smooth branch, dropped rows, poles of lambda, undecided branches."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanics.formulations import FORMULATIONS
from tests.reference import load
from tests.refusals import refused
from tests.sweeps import sweep

NAMES = ["auto", *FORMULATIONS]
CROSSING = load("aghili_hoang")["slider_crank_aghili"]["g=0.0"]["singular_crossings"]["3pi/2"]


@pytest.fixture(scope="module")
def crank():
    return lw.load("slider-crank-equal", gravity=0).system


def on_branch(s, q1, speed):
    """q2 = 2 pi - 2 q1 and its rate: the smooth branch of equal links."""
    return s.state([q1, 2 * np.pi - 2 * q1], [speed, -2 * speed])


def exact(q1, speed, torque=1.0):
    """(3 - 2 cos 2q1) q1'' + 2 sin(2 q1) q1'^2 = f1, and q2'' = -2 q1''."""
    a = (torque - 2 * np.sin(2 * q1) * speed**2) / (3 - 2 * np.cos(2 * q1))
    return np.array([a, -2 * a])


@pytest.mark.parametrize("formulation", NAMES)
def test_exactly_at_the_crossing_the_acceleration_is_the_limit(crank, formulation):
    acc = crank.forward(on_branch(crank, 1.5 * np.pi, CROSSING["q1dot"]), tau={"A": 1.0}, formulation=formulation)
    np.testing.assert_allclose(acc.a, [0.2, -0.4], atol=1e-9)
    np.testing.assert_allclose(acc.force, [-0.8, -0.4], atol=1e-9)  # Aghili's F = [.8, .4] in the house sign
    assert acc.passages == 1 and acc.rank == 0 and not acc.unique["C"].any()
    assert np.isfinite(acc.lam["C"]).all() and acc.singular_values[-1] < 1e-9


@sweep("distance", [1e-4, 1e-8, 1e-12, 1e-3, 1e-6, 1e-10], now=3)
@pytest.mark.parametrize("center", [0.5 * np.pi, 1.5 * np.pi])
@pytest.mark.parametrize("formulation", NAMES)
def test_near_the_crossing_accelerations_and_force_are_smooth(crank, formulation, center, distance):
    for side in (-1, 1):
        q1 = center + side * distance
        acc = crank.forward(on_branch(crank, q1, 1.1), tau={"A": 1.0}, formulation=formulation)
        # the limit row is exact to first order in the distance; at 1e-3 that leaves terms of 1e-6
        np.testing.assert_allclose(acc.a, exact(q1, 1.1), atol=3e-6 if distance > 1e-5 else 1e-7)
        assert np.isfinite(acc.lam["C"]).all()


def test_lambda_has_a_pole_with_a_change_of_sign(crank):
    """lam = F1 / (2 l cos q1): the force stays, the multiplier grows without bound and flips."""
    seen = []
    for d in (-1e-2, -1e-3, 1e-3, 1e-2):
        acc = crank.forward(on_branch(crank, 1.5 * np.pi + d, 1.0233267), tau={"A": 1.0})
        lam = float(acc.lam["C"][0])
        assert lam == pytest.approx(acc.force[0] / (2 * np.cos(1.5 * np.pi + d)), rel=1e-5)
        seen.append(lam)
    assert seen[0] > 0 > seen[3] and abs(seen[1]) > 9 * abs(seen[0]) and abs(seen[2]) > 9 * abs(seen[3])


@pytest.mark.parametrize("formulation", [name for name, kind in FORMULATIONS.items() if kind.drops_lost_rows])
def test_the_papers_behavior_is_available_by_name(crank, formulation):
    """Dropping the lost row gives the free acceleration [1, 0] and no constraint force at exactly this point."""
    st = on_branch(crank, 1.5 * np.pi, 1.0)
    T = crank.terms(st)
    for drop in FORMULATIONS[formulation]().variants().values():
        acc = crank.forward(st, tau={"A": 1.0}, formulation=drop, limit="drop")
        np.testing.assert_allclose(acc.force, 0.0, atol=1e-9)
        np.testing.assert_allclose(acc.a, np.linalg.solve(T.M, [1.0, 0.0] - T.h), atol=1e-9)


def test_at_rest_the_branch_must_be_named(crank):
    st = crank.state([1.5 * np.pi, -np.pi])
    with refused(lw.SingularityError, name="branch") as info:
        crank.forward(st, tau={"A": 1.0})
    assert info.value.singular_values[-1] < 1e-9
    T = crank.terms(st)
    smooth = crank.forward(st, tau={"A": 1.0}, branch={"A": 1.0, "B": -2.0})
    np.testing.assert_allclose(smooth.a, [0.2, -0.4], atol=1e-9)
    folded = crank.forward(st, tau={"A": 1.0}, branch={"A": 1.0, "B": 0.0})
    np.testing.assert_allclose(folded.a, [1.0 / T.M[0, 0], 0.0], atol=1e-9)  # the links folded: B does not move


@sweep("formulation", NAMES, now=["auto", "augmented"])
def test_a_redundant_row_and_a_passing_row_at_once(formulation):
    """Parallelogram with a middle bar, flat: one row is implied for ever, one is lost on the way."""
    m = lw.load("parallelogram-middle", gravity=0)
    s = m.system
    c = m.cycle(steps=8, speed=2.0)
    a_of = {}
    drive = m.description.drives[0].joint
    for angle in (0.0, np.pi, 1e-5, 0.4):
        moving = s.assemble(q={drive: angle + 0.02}, v={drive: 2.0})
        q = {n: moving.q[i] for i, n in enumerate(s.names.q)}
        flat = s.state([q[n] - 0.02 * moving.v[i] / 2.0 for i, n in enumerate(s.names.q)], moving.v)
        assert np.abs(s.closure(flat).phi).max() < 1e-12  # parallel links: the motion is linear in the angle
        acc = s.forward(flat, tau={drive: 3.0}, formulation=formulation)
        a_of[angle] = float(acc[drive])
        assert acc.redundant == 1
    values = list(a_of.values())
    np.testing.assert_allclose(values, values[0], rtol=1e-5)  # no gravity: a parallelogram's inertia does not depend on its angle
    assert len(c) == 9


def test_states_that_are_always_weak_do_not_misfire():
    """A four-bar with one very short link has a small singular value everywhere; that is no passage."""
    bars = {
        "name": "weak", "plane": "xy",
        "drawing": {"A": [0, 0], "B": [0, 0.002], "C": [1, 0.3], "D": [1, 0]},
        "bodies": {
            "ground": {"pins": ["A", "D"]}, "crank": {"pins": ["A", "B"], "mass": 1}, "coupler": {"pins": ["B", "C"], "mass": 1},
            "rocker": {"pins": ["D", "C"], "mass": 1},
        },
        "drive": {"A": "1 rad/s"},
    }  # fmt: skip
    s = lw.load(bars).system
    for angle in (0.2, 1.0, 2.5, 4.0):
        st = s.assemble(q={"A": angle}, v={"A": 1.0})
        acc = s.forward(st, tau={"A": 0.001})
        assert acc.passages == 0
        assert np.abs(s.closure(st).J @ acc.a + s.closure(st).k).max() < 1e-8 * (1 + np.abs(acc.a).max())


def test_a_velocity_along_no_branch_is_refused(crank):
    st = crank.state([1.5 * np.pi, -np.pi], [0.0, 1.0])
    with refused(lw.SingularityError, name="v"):
        crank.forward(st, tau={"A": 1.0})
    at_rest = crank.state([1.5 * np.pi, -np.pi])
    with refused(lw.SingularityError, name="v"):
        crank.forward(at_rest, branch={"A": 0.0, "B": 0.0})


@pytest.mark.parametrize("distance", [0.0, 1e-10, 1e-8, 1e-6])
def test_assembling_in_a_singular_position_keeps_the_branch_it_came_along(crank, distance):
    st = crank.assemble(q={"A": 1.5 * np.pi + distance}, v={"A": 1.0})
    np.testing.assert_allclose(st.v, [1.0, -2.0], atol=1e-6)
    np.testing.assert_allclose(st["B"] + 2 * st["A"], 2 * np.pi, atol=1e-6)
