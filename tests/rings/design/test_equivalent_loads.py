"""Equivalent loads of bearings are means over the way: closed forms, and a static cycle against a slow one."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.bearing_loads import Movement, equivalent


@pytest.mark.parametrize("p", [3.0, 10.0 / 3.0])
@pytest.mark.parametrize("moving", [False, True])
def test_a_load_that_grows_with_the_way(p: float, moving: bool) -> None:
    """F = F1 s / s1 over the way s gives P = F1 (1 / (p + 1))^(1/p), however the way is covered over time: here s = s1 t^2."""
    t = np.linspace(0.0, 1.0, 4001)
    way = 0.3 * t**2
    speed = 0.6 * t if moving else np.zeros(len(t))
    move = Movement("turns", 0.3, 0.3, 0.0, float(speed.max()), speed, way)
    # trapezoids of a smooth function over 4000 samples
    assert equivalent(t, 500.0 * way / 0.3, move, p) == pytest.approx(500.0 * (1.0 / (p + 1.0)) ** (1.0 / p), rel=1e-6)


def test_a_static_cycle_weighs_by_the_way_as_a_slow_one_does() -> None:
    """At 1e-3 rpm inertia forces are 1e-9 of the weights, so loads are alike; pins that swing unevenly need the way as weight."""
    m = lw.load("four-bar")
    static, slow = (m.cycle(speed=x, steps=180).bearings() for x in (0, "0.001 rpm"))
    differ = 0
    for one, other in zip(static, slow, strict=True):
        assert one.mean_speed == 0.0 < other.mean_speed or one.movement == "fixed"
        for name in ("P3", "P10_3"):
            # samples at 2 deg: differences of the way against speeds
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-3)
        size = m.cycle(speed=0, steps=180).load(one.pin, one.on).magnitude
        differ += abs(np.mean(size[:-1] ** 3) ** (1.0 / 3.0) / one.P3 - 1.0) > 0.01
    assert differ, "some means over time are others"
