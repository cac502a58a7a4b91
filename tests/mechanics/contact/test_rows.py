"""Gaps, rows and rates of every pair of surfaces on a mechanism with a loop, against derivatives of the gap and of the speeds."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import LinkwrightError
from linkwright.mechanics.contact import contact_terms
from linkwright.mechanics.contact.rows import located
from linkwright.mechanics.kinematics.motion import motion, qdot
from tests.mechanics.contact.machines import LEG, ON_BOX, ON_LEG, leg
from tests.sweeps import sweep

STEP = 1e-30  # of a complex step
DEEP = 1e-3  # m: behind a row of edges, or so deep in a solid, nothing is said about which place is the nearest
PAIRS = [(a, b) for a in ON_LEG for b in ON_BOX]


def states(skel, count, seed=0):
    rng = np.random.default_rng(seed)
    n = skel.tree.nv
    return [(rng.normal(size=skel.tree.nq), rng.normal(size=n)) for _ in range(count)]


def distances(skel, q):
    """Signed distances of the nearest points of all touches."""
    found = [x.found for x in located(skel, motion(skel, q, np.zeros(skel.tree.nv)))]
    return np.array([(x.first - x.second) @ x.normal for x in found])


def possible(a, b):
    try:
        leg(a, b)
    except LinkwrightError:
        return False
    return True


POSSIBLE = [pair for pair in PAIRS if possible(*pair)]
FEW = [  # each kind on each side, and some more
    (a, b)
    for i, (a, b) in enumerate(POSSIBLE)
    if a not in {x for x, _ in POSSIBLE[:i]} or b not in {x for _, x in POSSIBLE[:i]} or i % 8 == 0
]


@sweep(("a", "b"), POSSIBLE, now=FEW)
def test_normal_row_is_the_rate_of_the_gap(a, b):
    skel = compiled_of(leg(a, b)).loops.skel
    for q, v in states(skel, 6):
        x = contact_terms(skel, q, v)
        rate = np.imag(distances(skel, q + 1j * STEP * qdot(skel, q, v))) / STEP
        np.testing.assert_allclose(x["J"][::2] @ v, rate, rtol=1e-12, atol=1e-13)
        # an end beyond the bar that it would touch is no place: its gap is larger than its distance
        apart = x["g"] - distances(skel, q)
        assert np.all(apart > -1e-14)
        assert distances(skel, q).min() < -DEEP or abs(apart[np.argmin(x["g"])]) < 1e-14


@sweep(("a", "b"), POSSIBLE, now=FEW)
def test_rates_are_differences_of_speeds(a, b):
    """Central differences along the motion at a = 0; their error is h^2 times third derivatives."""
    skel, h = compiled_of(leg(a, b)).loops.skel, 1e-5
    for q, v in states(skel, 4, seed=1):
        dq = qdot(skel, q, v)
        x = contact_terms(skel, q, v)
        ahead, back = (contact_terms(skel, q + s * h * dq, v)["J"] @ v for s in (1, -1))
        np.testing.assert_allclose(x["k"], (ahead - back) / (2 * h), rtol=1e-5, atol=1e-5)


@sweep(("a", "b"), POSSIBLE, now=FEW)
def test_kernel_is_the_float_path(a, b):
    s = leg(a, b)
    skel, terms, gaps = compiled_of(s).loops.skel, s.kernel("contact_terms"), s.kernel("contact_gaps")
    for q, v in states(skel, 3, seed=2):
        x, y = contact_terms(skel, q, v), terms(q, v)
        for name, value in x.items():
            np.testing.assert_allclose(getattr(y, name), value, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(value).max()))
        np.testing.assert_allclose(gaps(q).g, y.g, rtol=1e-13, atol=1e-14)


@sweep(("a", "b"), POSSIBLE, now=FEW)
def test_exchange_of_both_sides(a, b):
    surfaces = {"a": ON_LEG[a], "b": ON_BOX[b]}
    other = lw.load({**LEG, "surfaces": surfaces, "contacts": {"c": {"between": ["b", "a"], "mu": 0.3}}}).system
    one, two = (compiled_of(s).loops.skel for s in (leg(a, b), other))
    for q, v in states(one, 8, seed=3):
        x, y = contact_terms(one, q, v), contact_terms(two, q, v)
        if min(x["g"].min(), y["g"].min()) < -DEEP:
            continue
        there = 1  # of several places the smallest gap: others are listed from the other side
        order = np.argsort(x["g"])[:there], np.argsort(y["g"])[:there]
        for mine, theirs, sign in (("g", "g", 1), ("first", "second", 1), ("second", "first", 1), ("normal", "normal", -1)):
            np.testing.assert_allclose(x[mine][order[0]], sign * y[theirs][order[1]], rtol=1e-12, atol=1e-13)
        # u_n of both is the rate of the gap, and u_t as well: t turns with n, and so does the difference of speeds
        u, w = ((z["J"] @ v).reshape(-1, 2) for z in (x, y))
        np.testing.assert_allclose(u[order[0]], w[order[1]], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_rigid_motion_of_everything_changes_nothing(seed):
    """Ground and all bodies turned and moved together: gaps, rows and rates stay, places move along."""
    rng = np.random.default_rng(seed)
    a, b = POSSIBLE[int(rng.integers(len(POSSIBLE)))]
    skel = compiled_of(leg(a, b)).loops.skel
    names = [f"{n.joint.name}.{x}" if x else n.joint.name for n, t in zip(skel.tree.nodes, skel.types, strict=True) for x in t.q_names]
    q, v = rng.normal(size=skel.tree.nq), rng.normal(size=skel.tree.nv)
    turn, by = float(rng.normal()), rng.normal(size=2)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    q2, v2 = q.copy(), v.copy()
    floating = ("base", "box")  # every other coordinate is relative
    for body in floating:
        x, y, angle = (names.index(f"{body}.{c}") for c in ("x", "y", "angle"))
        q2[[x, y]], q2[angle], v2[[x, y]] = R @ q[[x, y]] + by, q[angle] + turn, R @ v[[x, y]]
    one, two = contact_terms(skel, q, v), contact_terms(skel, q2, v2)
    for name, turned in (("g", one["g"]), ("k", one["k"]), ("normal", one["normal"] @ R.T), ("first", one["first"] @ R.T + by)):
        np.testing.assert_allclose(two[name], turned, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(two["J"] @ v2, one["J"] @ v, rtol=1e-10, atol=1e-11)


def test_numbers_of_surfaces_are_inputs():
    """A gap falls by one for one of radius, and the code of one design serves the others."""
    surfaces = {"a": ON_LEG["circle"], "b": ON_BOX["line"]}
    model = lw.Mechanism(lw.load({**LEG, "surfaces": surfaces, "contacts": {"c": {"between": ["a", "b"]}}}).description)
    s = lw.compile(model, parameters=["a.radius"])
    q = np.array(s.start.q)
    found = s.kernel("contact_gaps", by=("parameters",))(q)
    assert np.ravel(found.g_parameters) == pytest.approx([-1.0], rel=1e-14)
    larger = s.kernel("contact_gaps")(q, parameters=[0.05]).g
    assert larger == pytest.approx(s.kernel("contact_gaps")(q).g - 0.03, rel=1e-12)
