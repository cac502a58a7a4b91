"""Defects by tracing: against continuation in configuration space, the engine's limits, and positions made to be wrong."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.defects import defects
from linkwright.rings.synthesis.linkage import GearPair, Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.motion_tracing import crank_linkage
from tests.refusals import refused
from tests.rings.synthesis.path_cases import configuration_trace
from tests.sweeps import sweep

CRANK_ROCKER = four_bar(0j, 0.02 + 0.02j, 0.09 + 0.06j, 0.1 + 0j, 0.05 + 0.08j)
TRIPLE_ROCKER = four_bar(0j, 0.03 + 0.04j, 0.07 + 0.05j, 0.11 + 0j, 0.05 + 0.07j)  # not Grashof
DOUBLE_ROCKER = four_bar(0j, 0.02 + 0.08j, 0.05 + 0.085j, 0.09 + 0j, 0.03 + 0.1j)  # coupler shortest


def random_linkage(seed: int) -> Linkage:
    rng = np.random.default_rng(seed)
    return four_bar(*(complex(*z) for z in rng.standard_normal((5, 2))))


@sweep("seed", range(8), now=[3, 5])
def test_circuits_are_those_of_continuation(seed: int) -> None:
    linkage = random_linkage(seed)
    traced = crank_linkage(linkage)
    path, crank = configuration_trace(*(linkage.pins[n] for n in "ABCDP"))
    report = defects(linkage, path[:: len(path) // 7], ordered=False)
    # the tracer's points are on the loop to rounding, so the drawn circuit has all of them, and no other one does
    assert report.distance.max() < 1e-8 and "circuit" not in report.names
    turned = np.ptp(np.unwrap(crank))
    assert (report.swing is None) == (turned > 2.0 * np.pi - 0.05)
    if report.swing is not None:
        away = np.unwrap(crank) - crank[0]
        # near a dead center a step of 0.005 in configuration space changes the crank by 1e-4
        assert report.swing[0] == pytest.approx(away.min(), abs=2e-4) and report.swing[1] == pytest.approx(away.max(), abs=2e-4)
        assert {"grashof", "branch"} == set(report.names)
    assert traced.circuits()[0].full == (report.swing is None)


@pytest.mark.parametrize("linkage", [CRANK_ROCKER, TRIPLE_ROCKER, DOUBLE_ROCKER, slider_crank(0j, 0.03j, 0.08 + 0.01j, 1.0, 0.05 + 0.03j)])
def test_the_range_of_the_drive_is_that_of_the_engine(linkage: Linkage) -> None:
    report = defects(linkage, angles=[0.0, 1e-3])
    found = lw.load(linkage.document()).limits("A")
    assert found.full_turn == (report.swing is None)
    if report.swing is not None:
        here = np.angle(linkage.pins["B"] - linkage.pins["A"])  # the engine's coordinate is the crank's angle from x
        # the engine stops 1e-6 rad or less from a dead center
        assert np.allclose(np.array(report.swing) + here, [found.low, found.high], atol=1e-6)


def test_positions_on_both_circuits() -> None:
    traced = crank_linkage(CRANK_ROCKER)
    theta = np.array([0.3, 1.0, 1.8, 2.9])
    good = traced.path(theta, np.full(4, traced.sigma))
    assert defects(CRANK_ROCKER, good).names == ()
    mixed = np.append(good[:3], traced.path(theta[3:], -traced.sigma * np.ones(1)))
    assert defects(CRANK_ROCKER, mixed).names == ("circuit",)
    # with the coupler's rotation given there is no choice either
    rotation = [
        np.angle((traced.closed(t, s)[1] - traced.closed(t, s)[0]) / (traced.c - traced.b)).item()
        for t, s in zip(theta[:, None], traced.sigma * np.array([[1], [1], [1], [-1]]), strict=True)
    ]
    assert defects(CRANK_ROCKER, mixed, rotations=rotation).names == ("circuit",)
    assert defects(CRANK_ROCKER, good[:3], rotations=rotation[:3]).names == ()


def test_positions_out_of_order() -> None:
    traced = crank_linkage(CRANK_ROCKER)
    theta = np.array([0.3, 1.0, 1.8, 2.9, 4.0])
    points = traced.path(theta, np.full(5, traced.sigma))
    for way in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 3, 4, 0, 1]):  # backwards, and from another start
        report = defects(CRANK_ROCKER, points[way])
        assert report.names == ()
        away = np.angle(np.exp(1j * (report.drive + np.angle(traced.b - traced.a) - theta[way])))
        assert np.abs(away).max() < 1e-6  # half of the digits: the distance is flat at its minimum
    assert defects(CRANK_ROCKER, points[[0, 2, 1, 3, 4]]).names == ("order",)
    assert defects(CRANK_ROCKER, points[[0, 2, 1, 3, 4]], ordered=False).names == ()


def test_positions_on_both_sides_of_a_dead_center() -> None:
    traced = crank_linkage(TRIPLE_ROCKER)
    (circuit,) = traced.circuits()
    s = np.array([0.5, 1.0, 2.0, 2.6])
    one_side = traced.path(*circuit.at(s))
    assert defects(TRIPLE_ROCKER, one_side).names == ("grashof",)
    assert defects(TRIPLE_ROCKER, one_side, full_turn=False).names == ()
    both = traced.path(*circuit.at(s + 1.5))
    assert defects(TRIPLE_ROCKER, both, full_turn=False).names == ("branch",)


def test_drive_angles_beyond_the_range() -> None:
    low, high = defects(TRIPLE_ROCKER, angles=[0.0]).swing
    inside = defects(TRIPLE_ROCKER, angles=np.linspace(0.9 * low, 0.9 * high, 5), full_turn=False)
    assert inside.names == () and np.isfinite(inside.drive).all()
    outside = defects(TRIPLE_ROCKER, angles=[0.0, 1.1 * high], full_turn=False)
    assert np.isnan(outside.drive[1])


def test_change_points_are_reported() -> None:
    parallelogram = four_bar(0j, 0.02j + 0.01, 0.06 + 0.02j, 0.05 + 0j, 0.03 + 0.05j)
    assert defects(parallelogram, angles=[0.0, 0.2]).change_point and not defects(CRANK_ROCKER, angles=[0.0]).change_point


def test_other_linkages_are_refused() -> None:
    with refused(UsageError, name="geared"):
        defects(Linkage("geared", CRANK_ROCKER.pins, CRANK_ROCKER.bodies, "A", gears=(GearPair("A", "D", 1.0),)), angles=[0.0])
    with refused(UsageError, name="wanted"):
        defects(CRANK_ROCKER)
    with refused(UsageError, name="rotation"):
        defects(CRANK_ROCKER, [0j, 1j], rotations=[0.0])


def test_places_within_the_tolerance_count_for_the_order() -> None:
    """Points off the curve whose nearest places are out of order, while places within the tolerance are in order."""
    traced = crank_linkage(CRANK_ROCKER)
    theta = np.array([0.3, 1.0, 1.05, 2.0])
    points = traced.path(theta, np.full(4, traced.sigma))
    swapped = points[[0, 2, 1, 3]]
    apart = abs(points[2] - points[1])
    assert defects(CRANK_ROCKER, swapped, tolerance=0.2 * apart).names == ("order",)
    assert defects(CRANK_ROCKER, swapped, tolerance=1.1 * apart).names == ()
