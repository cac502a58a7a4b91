"""Surfaces in space: gaps against a search for the nearest points, rows against differences, kernels against floats."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import ModelError
from linkwright.mechanics.contact import contact_gaps, contact_terms, tangents, touches
from linkwright.mechanics.kinematics.motion import qdot
from tests.simulation.contact.models import flying_in_space

POINTS = {"P": [0.3, 0.2, 0.1], "Q": [-0.2, 0.1, 0.3]}
OWN = {
    "ball": {"sphere": "b.P", "radius": 0.1},
    "bar": {"capsule": ["b.P", "b.Q"], "radius": 0.05},
    "box": {"box": "b.P", "length": 0.2, "width": 0.3, "height": 0.4, "along": [1, 1, 0], "across": [0, 1, 1]},
    "wheel": {"disc": "b.P", "axis": [0, 1, 0.2], "radius": 0.3},
}
FIXED = {
    "knob": {"sphere": "ground.G", "radius": 0.2},
    "rail": {"capsule": ["ground.G", "ground.H"], "radius": 0.04},
    "post": {"box": "ground.H", "length": 0.5, "width": 0.2, "height": 0.3, "along": [0, 1, 0], "across": [1, 0, 1]},
}
PAIRS = [("ball", "floor"), ("bar", "floor"), ("box", "floor"), ("wheel", "floor"), ("ball", "knob"), ("ball", "rail"), ("ball", "post"),
         ("bar", "knob"), ("bar", "rail"), ("box", "knob")]  # fmt: skip


def system(pairs: list[tuple[str, str]]) -> Any:
    model = flying_in_space({f"{a}_{b}": {"between": [a, b]} for a, b in pairs}, {**OWN, **FIXED}, POINTS)
    model["bodies"]["ground"]["points"]["H"] = [0.5, 0.6, 0.1]
    return lw.compile(lw.load(model))


def places(seed: int) -> tuple[np.ndarray, np.ndarray]:
    r = np.random.default_rng(seed)
    q = r.standard_normal(7)
    q[:4] /= np.linalg.norm(q[:4])
    q[4:] += [0.0, 0.0, 2.0]
    return q, r.standard_normal(6)


def world(s: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    poses = s.kernel("poses")(q[None])
    return poses.R[0, 0], poses.p[0, 0]


def solid(x: dict[str, Any], R: np.ndarray, p: np.ndarray, named: dict[str, Any]) -> tuple[Any, int, float]:
    """Points of a convex shape by parameters in a unit cube, how many there are, and its radius."""
    kind = next(k for k in ("sphere", "capsule", "box", "disc") if k in x)
    refs = x[kind] if isinstance(x[kind], list) else [x[kind]]
    at = [R @ np.array(named[ref], dtype=float) + p for ref in refs]
    if kind == "sphere":
        return lambda u: at[0], 0, x["radius"]
    if kind == "capsule":
        return lambda u: at[0] + u[0] * (at[1] - at[0]), 1, x["radius"]
    if kind == "disc":
        axis = R @ (np.array(x["axis"]) / np.linalg.norm(x["axis"]))
        e = np.cross(axis, [0.3, 0.5, 0.9])
        e /= np.linalg.norm(e)
        f = np.cross(axis, e)
        return lambda u: at[0] + x["radius"] * (np.cos(2 * np.pi * u[0]) * e + np.sin(2 * np.pi * u[0]) * f), 1, 0.0
    e = np.array(x["along"]) / np.linalg.norm(x["along"])
    f = np.array(x["across"]) - (np.array(x["across"]) @ e) * e
    f /= np.linalg.norm(f)
    axes = R @ np.array([e, f, np.cross(e, f)]).T
    size = np.array([x["length"], x["width"], x["height"]])
    return lambda u: at[0] + axes @ (size * (np.array(u) - 0.5)), 3, 0.0


def nearest(s: Any, a: str, b: str, q: np.ndarray) -> float:
    """The gap by a search over both surfaces."""
    R, p = world(s, q)
    named = {**{f"b.{k}": v for k, v in {"O": [0, 0, 0], **POINTS}.items()}, "ground.G": [0, 0, 0], "ground.H": [0.5, 0.6, 0.1]}
    first, n, r = solid(OWN[a], R, p, named)
    if b == "floor":
        starts = product(*[(0.1, 0.4, 0.9)] * n)
        return min(minimize(lambda u: first(u)[2], x, bounds=[(0, 1)] * n).fun if n else first(())[2] for x in starts) - r
    second, m, r2 = solid(FIXED[b], np.eye(3), np.zeros(3), named)

    def square(u: np.ndarray) -> float:
        d = first(u[:n]) - second(u[n:])
        return float(d @ d)

    if not n + m:
        return float(np.sqrt(square(np.zeros(0)))) - r - r2
    found = minimize(square, np.full(n + m, 0.5), bounds=[(0, 1)] * (n + m), tol=1e-16)  # convex: any start
    return float(np.sqrt(found.fun)) - r - r2


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_smallest_gap_is_that_of_the_nearest_points(pair):
    s = system([pair])
    skel = compiled_of(s).loops.skel
    for seed in range(4):
        q, _ = places(seed)
        assert float(np.min(contact_gaps(skel, q)["g"])) == pytest.approx(nearest(s, *pair, q), abs=2e-6)  # of the search


def test_rows_are_the_rates_of_gaps_and_points():
    s = system(PAIRS)
    skel = compiled_of(s).loops.skel
    names = [x.name for x in touches(skel.tree.description)]
    crossing = [i for i, name in enumerate(names) if name.startswith("bar_rail")]  # those beyond an end have a larger gap
    for seed in range(3):
        q, v = places(seed)
        found, dq, h = contact_terms(skel, q, v), qdot(skel, q, v), 1e-6
        ahead, behind = (contact_terms(skel, q + by * dq, v) for by in (h, -h))
        u = (found["J"] @ v).reshape(-1, 3)
        rates = (ahead["g"] - behind["g"]) / (2.0 * h)
        own = np.delete(np.arange(len(names)), crossing)
        np.testing.assert_allclose(rates[own], u[own, 0], atol=1e-8)  # of differences
        np.testing.assert_allclose((ahead["J"] @ v - behind["J"] @ v) / (2.0 * h), found["k"], atol=1e-7 * np.abs(found["k"]).max())
        kernel = s.kernel("contact_terms")(q[None], v[None])
        for name in ("g", "J", "k", "first", "second", "normal"):
            np.testing.assert_allclose(getattr(kernel, name)[0], found[name], atol=1e-12)


def test_tangents_are_a_right_handed_frame_everywhere():
    r = np.random.default_rng(1)
    for n in [*r.standard_normal((50, 3)), np.array([0, 0, 1.0]), np.array([0, 0, -1.0])]:
        n = n / np.linalg.norm(n)
        t = tangents(n)
        np.testing.assert_allclose(np.array([*t, n]) @ np.array([*t, n]).T, np.eye(3), atol=1e-15)
    np.testing.assert_array_equal(tangents(np.array([0.0, 0.0, 1.0])), [[1, 0, 0], [0, 1, 0]])


def test_bars_side_by_side_touch_at_their_ends_alone():
    """The crossing of bars that are parallel is no place, and stays none within round-off."""
    model = flying_in_space(
        {"c": {"between": ["bar", "rail"]}},
        {"bar": {"capsule": ["b.O", "b.P"], "radius": 0.05}, "rail": {"capsule": ["ground.G", "ground.H"], "radius": 0.05}},
        {"P": [0.4, 0, 0]},
    )
    model["bodies"]["ground"]["points"]["H"] = [0.6, 0, 0]
    skel = compiled_of(lw.compile(lw.load(model))).loops.skel
    for turn in (0.0, 1e-17, 1e-15):
        q = np.array([1.0, 0.0, turn, 0.0, 0.1, 0.0, 0.1])
        g = np.asarray(contact_gaps(skel, q)["g"], dtype=float)
        np.testing.assert_allclose(g[:2], 0.0, atol=1e-14)
        assert g[4] > 0.5


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ({"circle": "b.O", "radius": 0.1}, "x"),  # of a plane
        ({"plane": "b.O", "normal": [0, 0, 0]}, "x"),
        ({"box": "b.O", "length": 1, "width": 1, "height": 1, "along": [1, 0, 0], "across": [2, 0, 0]}, "x"),
    ],
)
def test_surfaces_that_cannot_be_are_refused(surface, name):
    with pytest.raises(ModelError) as found:
        lw.load(flying_in_space({}, {"x": surface}))
    assert name in str(found.value)


@pytest.mark.parametrize("pair", [("box", "post"), ("wheel", "knob"), ("bar", "post")], ids="-".join)
def test_pairs_that_have_no_closed_form_are_refused(pair):
    with pytest.raises(ModelError) as found:
        system([pair])
    assert found.value.name == "_".join(pair)
