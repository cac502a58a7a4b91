"""Dimensions of links against distances of the drawing and of the moving mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.link_dimensions import link_dimensions


def test_four_bar_by_its_drawing() -> None:
    rows = {(r.body, r.first, r.second): r for r in link_dimensions(lw.load("wiper").description)}
    pins = {"A": (0.0, 0.0), "B": (0.15, 0.26), "C": (0.905, 0.75), "D": (1.0, 0.0), "P": (0.6, 0.76)}
    for (_, a, b), r in rows.items():
        assert r.distance == pytest.approx(np.hypot(*np.subtract(pins[b], pins[a])), rel=1e-12)  # round-off of one square root
    assert set(rows) == {("ground", "A", "D"), ("crank", "A", "B"), ("coupler", "B", "C"), ("coupler", "B", "P"), ("coupler", "C", "P"),
                         ("rocker", "D", "C")}  # fmt: skip
    x = np.subtract(pins["C"], pins["B"]) / rows["coupler", "B", "C"].distance
    to_P = np.subtract(pins["P"], pins["B"])
    assert rows["coupler", "B", "P"].along[:2] == pytest.approx([x @ to_P, x[0] * to_P[1] - x[1] * to_P[0]], abs=1e-12)


@pytest.mark.parametrize("name", ["delta", "excavator"])
def test_distances_stay_while_it_moves(name: str) -> None:
    """Distances between named points, of a state somewhere in the motion, in space as well."""
    m = lw.load(name)
    st = m.cycle(steps=12).state(5)
    known = {(b.name, p.name) for b in m.description.bodies for p in b.points}
    compared = 0
    for r in link_dimensions(m.description):
        if {(r.body, r.first), (r.body, r.second)} <= known and r.body != "ground":
            axes = m.description.plane or "xyz"
            a, b = (np.array([st[f"{r.body}.{p}.{x}"] for x in axes]) for p in (r.first, r.second))
            assert np.linalg.norm(b - a) == pytest.approx(r.distance, rel=1e-9)  # loops are closed to 1e-12 of the size
            assert float(np.linalg.norm(r.along)) > 0.0
            compared += 1
    assert compared > 5


def test_what_slides_has_no_length() -> None:
    assert all("J4" not in (r.first, r.second) for r in link_dimensions(lw.load("excavator").description))
