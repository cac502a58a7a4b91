"""Positions at the very end of a reach, where two branches meet: wishes that round-off puts on either side, and where the end is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import AssemblyError
from linkwright.mechanics.closing.continuation import dead_center, walk
from linkwright.motion.cycle import prepared
from tests.refusals import refused
from tests.sweeps import sweep

CRANK, ROD, DRAWN = 0.1, 0.35, 0.5  # m, m, rad


def slider(angle: float) -> float:
    return CRANK * math.cos(angle) + math.sqrt(ROD**2 - (CRANK * math.sin(angle)) ** 2)


MODEL = {
    "name": "in line", "plane": "xy",
    "drawing": {"A": [0, 0], "B": [CRANK * math.cos(DRAWN), CRANK * math.sin(DRAWN)], "C": [slider(DRAWN), 0]},
    "bodies": {"ground": {"pins": ["A"], "points": ["C"]}, "crank": {"pins": ["A", "B"]}, "rod": {"pins": ["B"], "points": ["C"]}},
    "joints": {"C": {"type": "pin_slot", "connect": ["ground.C", "rod.C"], "slot": [1, 0]}},
}  # fmt: skip


@sweep(("end", "inwards"), [(0.0, -1.0), (math.pi, 1.0)], now=1)
def test_a_slider_is_put_where_crank_and_rod_are_in_line(end: float, inwards: float) -> None:
    """The slider does not move with the crank there: a gap of round-off is an angle of its root, some 1e-7. A micrometer before it
    the angle is the one of the triangle, on the side it came from; a micrometer behind it there is none."""
    s = lw.load(MODEL).system
    reach = slider(end) - slider(DRAWN)
    assert s.assemble({"C.slide": reach})["A"] == pytest.approx(end, abs=2e-6)
    near = s.assemble({"C.slide": reach + 1e-6 * inwards})["A"]
    assert slider(near) == pytest.approx(slider(end) + 1e-6 * inwards, abs=1e-10) and 0.0 < near < math.pi
    with refused(AssemblyError, loop="C"):
        s.assemble({"C.slide": reach - 1e-6 * inwards})


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_dead_centers_are_folds_of_the_loops(way: float) -> None:
    """The equations of a fold, phi = 0, J n = 0, n.n = 1, solved at once, against what a walk that stops before it extrapolates to.

    The walk ends up to 3e-5 before the fold, where the least singular value is 1e-3: the series of four points leaves (3e-5)^2 or less.
    """
    m = lw.load("3-rrr-motors")
    core = compiled_of(m.system)
    ready = prepared(core.loops, core.start.instant, None, None, None)
    end = way * ready.plan.span
    last = walk(ready.tied, ready.begin, end, smallest_step=1e-7).at
    size, q = len(last.q), np.concatenate([last.q, [last.t], last.v / np.linalg.norm(last.v)])

    def fold(x: np.ndarray) -> np.ndarray:
        n = x[size + 1 :]
        c = ready.tied.at(x[:size], 0.0 * n, x[size], last.references)
        return np.concatenate([c.phi, c.J @ n, [n @ n - 1.0]])

    found = least_squares(fold, q, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-14
    assert abs(dead_center(ready.tied, last, end) - found.x[size]) < 1e-9
