"""Working modes, slices of volumes, and what is inscribed."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.robots.workspace import workspace
from tests.refusals import refused
from tests.rings.robots.workspace.robots import BASE, LEGS, PLATFORM, robot


def test_a_3rrr_has_eight_working_modes():
    """Each leg bends one way or the other; the reach is the same, the curves of type II are not."""
    every = workspace(robot("3-rrr"), {"platform.x": (0.2, 0.8, 8), "platform.y": (-0.3, 0.3, 8)}, "reach", modes="all")
    assert len(every) == 8
    assert all(np.array_equal(a.reach, every.reach) for a in every)
    states = np.stack([a.q[4, 4] for a in every])
    elbows = np.sin(states[:, [robot("3-rrr").names.q.index(n) for n in ("J2",)]])
    assert (elbows > 0.0).sum() == 4
    assert len({tuple(np.sign(np.nan_to_num(a["type2"])).ravel()) for a in every}) > 1
    assert "8 working modes" in str(every)


def test_slices_of_a_volume_are_those_computed_alone():
    s = robot("3-rpr")
    over = {"platform.x": (0.1, 0.6, 11), "platform.y": (0.1, 0.5, 11), "platform.angle": ("-20 deg", "20 deg", 5)}
    limits = {f"leg{k}": "0.3..0.8 m" for k in LEGS}
    volume = workspace(s, over, "dexterity", limits=limits)
    part = volume.slice({"platform.angle": "10 deg"})
    alone = workspace(s, {k: x for k, x in over.items() if "angle" not in k}, "dexterity", at={"platform.angle": "10 deg"}, limits=limits)
    assert part.fixed == pytest.approx(alone.fixed)
    assert np.array_equal(part.reach, alone.reach)
    assert part["dexterity"] == pytest.approx(alone["dexterity"], rel=1e-9, nan_ok=True)
    together, single = (np.concatenate([c.points for c in a.curves if c.kind == "limit"]) for a in (part, alone))
    assert sorted(map(tuple, np.round(together, 9))) == sorted(map(tuple, np.round(single, 9)))
    assert {x.kind for x in volume.surfaces} >= {"limit"}
    for x in volume.surfaces:
        if x.kind == "limit":
            c, s_ = np.cos(x.points[:, 2]), np.sin(x.points[:, 2])
            across, up = PLATFORM.T
            turned = np.stack([np.outer(c, across) - np.outer(s_, up), np.outer(s_, across) + np.outer(c, up)], axis=2)
            legs = np.sqrt(((x.points[:, None, :2] + turned - BASE) ** 2).sum(axis=2))
            assert np.abs(legs[:, :, None] - np.array([0.3, 0.8])).min(axis=(1, 2)).max() < 1e-12
    with refused(lw.UsageError, allowed=("platform.x", "platform.y", "platform.angle")):
        volume.slice({"platform.angle": 0.0, "platform.x": 0.3})
    with refused(lw.UsageError, name="platform.z", allowed=("platform.x", "platform.y", "platform.angle")):
        volume.slice({"platform.z": 0.0})


def test_inscribed_circle_touches_located_points_and_holds_none():
    a = workspace(robot("3-rrr"), {"platform.x": (0.0, 1.0, 26), "platform.y": (-0.5, 0.6, 26)}, "reach")
    for shape, norm in (("circle", 2), ("box", np.inf)):
        found = a.inscribed(shape)
        points = np.concatenate([x.points for x in a.located])
        off = np.linalg.norm(points - found.center, ord=norm, axis=1)
        assert off.min() >= found.radius - 1e-12
        assert off.min() == pytest.approx(found.radius, rel=0.05)  # the curve between two points may be nearer
        assert found.radius > 0.1
