"""Straight lines with rounded corners as a reference."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.model.curves import Curve
from linkwright.model.curves.references import read_reference

POINTS = [("60 mm", "240 mm"), ("100 mm", "240 mm"), ("100 mm", "210 mm")]


def curve(reference: object) -> Curve:
    return read_reference(reference, ("length", "length"), (0.0, 0.0), "tip", lw.load("five-bar").description).curve


def test_lines_are_left_at_the_rounding_and_the_rate_stays_smooth() -> None:
    d, total = 0.015, 0.07
    c = curve(lw.control.polyline(POINTS, rounding=d))
    t = np.linspace(0.0, 1.0, 20001)
    (x, y), (vx, vy), (ax, ay) = (np.array(k) for k in c(t))
    np.testing.assert_allclose([x[0], y[0], x[-1], y[-1]], [0.06, 0.24, 0.1, 0.21], atol=1e-15)
    straight = (t * total < 0.04 - d) | (t * total > 0.04 + d)
    np.testing.assert_allclose(np.hypot(vx, vy)[straight], total)
    np.testing.assert_allclose(np.gradient(x, t, edge_order=2), vx, atol=1e-6)
    np.testing.assert_allclose(np.gradient(vy, t, edge_order=2)[1:-1], ay[1:-1], atol=2e-3)  # largest 0.25; second derivatives do not jump
    assert np.abs(np.diff(ax)).max() < 1e-3
    off = np.hypot(x - 0.1, y - 0.24).min()
    assert abs(off - 0.1875 * d * np.sqrt(2.0)) < 1e-6  # in the middle of the bend


def test_sharp_corners_and_durations() -> None:
    c = curve(lw.control.polyline(POINTS, duration="2 s"))
    (x, y), (vx, vy), _ = c(np.array([0.0, 8.0 / 7.0, 2.0, 3.0]))
    np.testing.assert_allclose(x, [0.06, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(y, [0.24, 0.24, 0.21, 0.21])
    np.testing.assert_allclose([vx[0], vy[2], vy[3]], [0.035, -0.035, 0.0])


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        (lw.control.polyline([(0, 0)]), "two or more points"),
        (lw.control.polyline([(0, 0), (0, 0)]), "same place"),
        (lw.control.polyline(POINTS, rounding="50 mm"), "rounding is"),
        (lw.control.polyline(POINTS, rounding="-1 mm"), "rounding is"),
        (lw.control.polyline(POINTS, duration=0), "duration"),
    ],
)
def test_bad_polylines_are_said(reference: object, text: str) -> None:
    with pytest.raises(lw.UsageError, match=text):
        curve(reference)
