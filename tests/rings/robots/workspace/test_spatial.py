"""Robots in space: reach and singularities against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.robots.workspace import workspace
from tests.rings.robots.workspace.robots import robot


def delta_margin(places: np.ndarray) -> np.ndarray:
    """Of the library's delta: distance by which the circle of each elbow meets the sphere of the rods' length; negative out of reach."""
    R, r, arm, rod = 0.2, 0.06, 0.35, 0.8
    out = np.array([[np.cos(t), np.sin(t), 0.0] for t in np.radians([0, 120, 240])])
    d = places[:, None, :] + (r - R) * out
    along, up = (d * out).sum(axis=2), d[:, :, 2]
    aside = (d**2).sum(axis=2) - along**2 - up**2
    far, near = (np.sqrt((np.hypot(along, up) + sign * arm) ** 2 + aside) for sign in (1.0, -1.0))
    return np.minimum(far - rod, rod - near).min(axis=1)


@pytest.mark.slow  # two seconds, most of them for code
def test_reach_of_a_delta_is_that_of_its_arms():
    a = workspace(robot("delta"), {"platform.x": (-0.93, 0.82, 5), "platform.y": (-0.81, 0.97, 5), "platform.z": (-1.1, -0.3, 4)}, "reach")
    assert np.array_equal(a.reach.ravel(), delta_margin(a.grid.poses) > 0.0) and a.reach.sum() > 20
    ends = [x for x in a.located if x.kind == "type I" and not a.reach.ravel()[x.edges].all(axis=1).any()]
    points = np.concatenate([x.points for x in ends])
    assert len(points) > 60 and np.abs(delta_margin(points)).max() < 1e-9


def test_a_symmetric_stewart_platform_is_singular_at_90_degrees_of_yaw():
    """Known of hexagonal platforms on hexagonal bases [Fichter1986]: parallel, and turned by a right angle, wherever they are."""
    a = workspace(robot("stewart"), {"platform.x": (-0.1, 0.1, 3), "platform.yaw": ("60 deg", "115 deg", 8)}, "reach")
    points = np.concatenate([c.points for c in a.curves if c.kind == "type II"])
    assert len(points) >= 3
    assert np.degrees(points[:, 1]) == pytest.approx(90.0, abs=1e-9)


def reachable_margin(places: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Of the library's 3-RRR: the best margin of its annuli over orientations."""
    base = np.array([0.0, 1.0, 0.5 + 0.5j * np.sqrt(3.0)])
    platform = np.array([0.0, 0.4, 0.2 + 0.2j * np.sqrt(3.0)])
    z = places[:, 0] + 1j * places[:, 1]
    best = np.full(len(z), -np.inf)
    for angle in angles:
        d = np.abs(z[:, None] + platform * np.exp(1j * angle) - base)
        best = np.maximum(best, np.minimum(1.0 - d, d - 0.2).min(axis=1))
    return best


@pytest.mark.slow  # two seconds: the best orientation of every end
def test_reachable_workspace_of_a_3rrr():
    """Ends are sought with one orientation along a line of 160 mm: nearly all are those of the closed form over many orientations,
    and where only a changing orientation leads farther, they are some millimeters inside it."""
    s = robot("3-rrr")
    over = {"platform.x": (-1.0, 1.4, 16), "platform.y": (-1.1, 1.3, 16)}
    a = workspace(s, over, orientations={"platform.angle": "-180..180 deg / 37"})
    turns = np.radians(np.linspace(-180, 180, 37))
    assert np.array_equal(a.reach.ravel(), reachable_margin(a.grid.poses, turns) > 0.0)
    inside = a.reach.ravel()
    counted = np.array([[m > 0.0 for m in reachable_margin(a.grid.poses[inside], np.array([t]))] for t in turns]).mean(axis=0)
    share = a["orientation_share"].ravel()[inside]
    assert (share <= counted + 1e-12).all()  # orientations that no neighbor leads to are left out
    assert np.isclose(share, counted).mean() > 0.9
    points = np.concatenate([x.points for x in a.located])
    assert len(points) > 15
    off = reachable_margin(points, np.linspace(-np.pi, np.pi, 20001))
    assert off.min() > -1e-4 and off.max() < 3e-3
    assert (off < 1e-9).mean() > 0.95
    with pytest.raises(lw.UsageError, match="orientations is a dict"):
        workspace(s, over, orientations="all")
    with pytest.raises(lw.UsageError, match="one working mode"):
        workspace(s, over, orientations={"platform.angle": (0, 1, 3)}, modes="all")


def test_reachable_workspace_within_limits():
    """A 3-RPR: places that the limits of the legs allow in any of three orientations."""
    s = robot("3-rpr")
    over = {"platform.x": (0.0, 0.7, 9), "platform.y": (-0.1, 0.6, 9)}
    limits = {f"leg{k}": "0.3..0.8 m" for k in (1, 2, 3)}
    a = workspace(s, over, orientations={"platform.angle": ("-20 deg", "20 deg", 3)}, limits=limits)
    single = [workspace(s, over, "reach", at={"platform.angle": f"{t} deg"}, limits=limits).reach for t in (-20, 0, 20)]
    assert np.array_equal(a.reach, np.logical_or.reduce(single))
    assert any("given orientations" in note for note in a.notes)
    assert {x.kind for x in a.located} == {"limit"}
