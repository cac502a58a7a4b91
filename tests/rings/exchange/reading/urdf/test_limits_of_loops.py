"""Starts of robots with loops lie within the limits of their joints, where a closed position does."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.rings.exchange.import_report import ImportedModelWarning
from linkwright.rings.exchange.reading.start_pose import MOVED
from tests.rings.exchange.reading.urdf.robots import DIALECTS, joint, robot, tree


def limited(tmp_path: Path, turned: float = 0.0, **limits: tuple[float, float]) -> Path:
    """The four-bar with limits at joints of its tree; `turned`: the rocker in the file's pose."""
    text = DIALECTS["constraint"]
    for name, parent, child, at in (
        ("A", "ground", "crank", "0 0 0"),
        ("B", "crank", "coupler", "0 0.3 0"),
        ("D", "ground", "rocker", "0.8 0 0"),
    ):
        if name in limits:
            low, high = limits[name]
            ends = f'<limit lower="{low}" upper="{high}" effort="9" velocity="0"/>'
            text = text.replace(joint(name, parent, child, at), joint(name, parent, child, at, ends, kind="revolute"))
    path = tmp_path / "limited.urdf"
    path.write_text(robot(text.replace('<origin xyz="0.8 0 0"/>', f'<origin xyz="0.8 0 0" rpy="0 0 {turned}"/>')))
    return path


def test_a_closed_pose_outside_the_limits_is_left(tmp_path: Path) -> None:
    """Zero is closed, but not within 0.2 .. 1: the start is closed and within, 2 % of the range inside, and the report says so."""
    m = lw.load(limited(tmp_path, A=(0.2, 1.0)))
    assert 0.2 < float(m.system.start["A"]) < 0.25 and m.system.mobility.freedoms == 1
    assert m.imported is not None and MOVED in m.imported.inferred and not m.imported.notes
    assert abs(m.system.closure(m.system.start).phi).max() < 1e-12
    kept = lw.load(limited(tmp_path, A=(-0.2, 1.0)))
    assert kept.imported is not None and MOVED not in kept.imported.inferred and float(kept.system.start["A"]) == 0.0


def test_a_start_that_only_loses_round_off_is_not_called_moved(tmp_path: Path) -> None:
    """The file's pose is open by 6e-11 m, as nine digits leave it, and within its limits: closing it moves nothing into them."""
    m = lw.load(limited(tmp_path, 1e-10, A=(-0.2, 1.0)))
    assert m.imported is not None and m.imported.inferred.count(MOVED) == 0 and not m.imported.notes
    with pytest.warns(ImportedModelWarning, match="no closed position near it is within all of them"):
        m = lw.load(limited(tmp_path, 1e-10, A=(0.5, 1.0), D=(-0.001, 0.001)))
    assert m.imported is not None and MOVED not in m.imported.inferred


def test_a_loop_that_cannot_close_is_not_searched_for_limits(tmp_path: Path) -> None:
    """The rocker's bearing 9 m away: the loop stays open, so nothing is said about closed positions within limits."""
    path = limited(tmp_path, A=(0.5, 1.0))
    path.write_text(path.read_text().replace('xyz="0.8 0 0"', 'xyz="9 0 0"'))
    report = lw.load(path).imported
    assert report is not None and "stays open by" in report.stays_open and not report.notes


def test_an_open_pose_is_closed_within_the_limits(tmp_path: Path) -> None:
    """Of the closed positions near a pose whose rocker is turned by 0.1 rad one within the limits, not the nearest."""
    free = float(lw.load(limited(tmp_path, 0.1)).system.start["A"])
    for low, high in ((free - 1.0, free - 0.2), (free + 0.2, free + 1.0)):
        m = lw.load(limited(tmp_path, 0.1, A=(low, high)))
        assert low < float(m.system.start["A"]) < high
        assert m.imported is not None and m.imported.gaps[0][1] > 0.01


def test_limits_that_no_closed_position_meets_are_warned_of(tmp_path: Path) -> None:
    """The rocker follows the crank: with the crank turned by 0.5 and more it cannot stay within 1e-3 rad of where it is drawn."""
    with pytest.warns(ImportedModelWarning, match=r"the start is beyond limits of joints, .*: 'A' at 0 \(limit 0.5\)"):
        m = lw.load(limited(tmp_path, A=(0.5, 1.0), D=(-0.001, 0.001)))
    assert float(m.system.start["A"]) == 0.0


def test_velocity_limits_are_in_the_report(tmp_path: Path) -> None:
    """Of URDF and SDF, by joint in rad/s; zero, negative and enormous ones are none."""
    chain = tree()
    for name, speed in (("A", "7.5"), ("B", "0"), ("D", "1e12")):
        chain = chain.replace(
            f'name="{name}" type="continuous">', f'name="{name}" type="continuous"><limit effort="1" velocity="{speed}"/>'
        )
    path = tmp_path / "fast.urdf"
    path.write_text(robot(chain))
    report = lw.load(path).imported
    assert report is not None and report.speed_limits == (("A", 7.5),) and report.as_dict()["speed_limits"] == {"A": 7.5}
    assert "velocity limit of 1 joint, listed in m.imported.speed_limits" in report.dropped
    axis = "<axis><xyz>0 0 1</xyz><limit><velocity>{}</velocity></limit></axis>"
    hinge = f"<joint name='{{}}' type='revolute'><parent>{{}}</parent><child>{{}}</child>{axis}</joint>"
    text = "<link name='a'/><link name='b'/>" + hinge.format("J", "world", "a", 3.25) + hinge.format("K", "a", "b", -1)
    sdf = tmp_path / "fast.sdf"
    sdf.write_text(f"<sdf version='1.9'><model name='m'>{text}</model></sdf>")
    report = lw.load(sdf).imported
    assert report is not None and report.speed_limits == (("J", 3.25),)
