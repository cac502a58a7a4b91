"""Rates of the rows of loops along a motion where a cylinder's length is driven, against differences along the motion."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.kernels.kernels import Variant
from linkwright.kernels.rank_revealing import TracedPassage
from linkwright.mechanics.closing import singular_passage

BOOM = {
    "name": "boom",
    "plane": "xy",
    "drawing": {"A": [0, 0], "P": [0.4, 0.5], "K": [0.9, -0.3], "Q": [0.7, 0.9], "L": [1.3, 0.1]},
    "bodies": {
        "ground": {"pins": ["A"], "points": ["K"]},
        "boom": {"pins": ["A", "Q"], "points": ["P"], "mass": 2.0},
        "stick": {"pins": ["Q"], "points": ["L"], "mass": 1.0},
    },
    "cylinders": {"lift": {"between": ["ground.K", "boom.P"]}, "crowd": {"between": ["boom.P", "stick.L"]}},
}


@pytest.fixture(scope="module")
def moving():
    """Equations of two lengths that move with speed and acceleration, and a state off the loops."""
    s = lw.compile(lw.load(BOOM))
    k = s.kernels.variant(Variant(drivers=("lift", "crowd")))
    law = {"drive": np.array([0.9, 0.8]), "speed": np.array([0.4, -0.3]), "acceleration": np.array([1.1, 0.7])}
    rng = np.random.default_rng(5)
    return s, k, law, s.start.q + 0.1 * rng.normal(size=s.tree.nv), rng.normal(size=s.tree.nv), rng


def test_rows_differentiated_once_more_are_those_of_differences(moving):
    """With q' = v, v' = a and a held: d/dt (J a + k) = (Jdot + dk/dv) a + dk/dq . qdot + dk/dt, for every a."""
    s, k, law, q, v, rng = moving
    loops = k.equations().moved(*law.values(), at=0.3).loops
    assert any(getattr(c, "linear_in_v", False) for c in loops.constraints)
    found = singular_passage.along(loops, q, v, 0.3, dict(s.start.references))
    h = 1e-5

    def rows(t, a):
        c = loops.at(q + t * v + 0.5 * t * t * a, v + t * a, 0.3 + t, dict(s.start.references))
        return (c.J @ a + c.k) / loops.row_scale

    for a in (np.zeros(len(v)), *rng.normal(size=(3, len(v)))):
        difference = (8.0 * (rows(h, a) - rows(-h, a)) - (rows(2 * h, a) - rows(-2 * h, a))) / (12.0 * h)
        np.testing.assert_allclose(found.third @ (a / loops.columns) + found.kdot, difference, atol=1e-8)  # h^4, and round-off over h


def test_the_traced_rates_are_the_same(moving):
    s, k, law, q, v, _ = moving
    traced = TracedPassage(k).at({"q": q, "v": v, "t": np.array([0.3]), "tau": np.zeros(len(v)), "near": np.zeros(0), **law}).along
    right = singular_passage.along(k.equations().moved(*law.values(), at=0.3).loops, q, v, 0.3, dict(s.start.references))
    for name in ("Jdot", "kdot", "third"):
        np.testing.assert_allclose(getattr(traced, name), getattr(right, name), atol=1e-12)
