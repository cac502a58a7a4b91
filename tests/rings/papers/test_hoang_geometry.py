"""Geometry of the nine singular positions of case 1, drawn from the printed equations."""

from __future__ import annotations

import re

import numpy as np

from linkwright.rings.papers import hoang, hoang_geometry


def test_texts_are_those_of_lines_and_legs_drawn_from_the_paper():
    found = hoang_geometry.passed()
    assert sum(x.kind == "Phi_x" for x in found) == 5 and sum(x.kind == "Phi_theta" for x in found) == 4
    for x in found:
        crank, rod, B = hoang_geometry.rods(x.q)
        if x.kind == "Phi_x":
            point = np.array([float(v) for v in re.findall(r"-?[\d.]+(?=[,)])", x.geometry)][-2:])
            assert x.geometry.startswith("the lines of r1, r2 and r3 meet in one point")
            # four digits of the point are written; a rod misses it by at most their round-off
            off = rod[:, 0] * (point - B)[:, 1] - rod[:, 1] * (point - B)[:, 0]
            assert np.abs(off).max() < 1e-3
        else:
            leg = int(np.abs(hoang_geometry.sines(x.q)).argmin())
            how = "stretched" if crank[leg] @ rod[leg] > 0.0 else "folded"
            assert x.geometry == f"crank{leg + 1} and r{leg + 1} are in line (A{leg + 1}, crank{leg + 1}.A, platform.B{leg + 1} {how})"


def test_a_sample_beside_a_zero_is_not_singular():
    """1 ms beside it the rods miss each other by far more than round-off, and no leg is in line."""
    run = hoang.exact(1)
    for x in hoang_geometry.passed():
        q = run.q[int(1000 * x.time) - 1]
        assert abs(hoang_geometry.lines(q)) > 1e-5 if x.kind == "Phi_x" else np.abs(hoang_geometry.sines(q)).min() > 1e-4
