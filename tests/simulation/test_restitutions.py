"""Impacts at several ends of different restitution: where Newton's rule would gain energy, all rebound with the smallest of them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.simulation.test_coupled_stops import BLOCKS


def struck(x: dict[str, float], y: dict[str, float], vx: float, vy: float) -> tuple[float, float, float]:
    """Speeds of both joints right after an impact at the start, and the energy it took: two masses of 1 kg, y between them."""
    run = lw.load({**BLOCKS, "stops": {"x": x, "y": y}, "start": {"x.v": vx, "y.v": vy}}).simulate(0.01, sample_interval=0.005)
    before = 0.5 * vx**2 + 0.5 * (vx + vy) ** 2
    return float(run["x.v"][-1]), float(run["y.v"][-1]), before - float(run["energy.total"][-1])


@pytest.mark.parametrize("e", [1.0, 0.95])
def test_the_smallest_restitution_holds_where_newtons_rule_gains_energy(e: float) -> None:
    """The first mass leaves its stop at 0.1 m/s, and the second strikes the end of y: it would throw the first back against the stop.

    Impulses P take the energy sum P (u- + u+) / 2 with u the speeds against the ends. The end of x, left before and at rest after, gives
    energy instead: the speeds 0 and -e have e^2 / 2 J, more than the 0.41 J before. With the smaller restitution, 0, both masses stop."""
    vx, vy = -0.1, 1.0
    before = 0.5 * vx**2 + 0.5 * (vx + vy) ** 2
    assert 0.5 * (e * vy) ** 2 > before, "a speed of -e after the impact is more energy than there was"
    found = struck({"max": 0.0, "restitution": e}, {"max": 0.0, "restitution": e}, vx, vy)
    np.testing.assert_allclose(found, [0.0, 0.0, before], atol=1e-9)


def test_each_end_has_its_own_restitution_where_no_energy_is_gained() -> None:
    """0.5 of 1 m/s and all of 1.2 m/s: 0.125 + 0.245 J of 0.52 J are left."""
    found = struck({"max": 0.0, "restitution": 0.5}, {"min": 0.0, "restitution": 1.0}, 1.0, -1.2)
    np.testing.assert_allclose(found, [-0.5, 1.2, 0.52 - 0.37], atol=1e-9)
