"""The built-in models put together: every one closes, has its freedoms and turns; closed forms where there are some."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from linkwright.model import library as models
from linkwright.model.file import read
from linkwright.results.trajectory import Trajectory
from linkwright.system.mechanism import mechanism_of
from linkwright.system.system import System
from tests.reference import load
from tests.sweeps import led_by_drives, sweep

FREEDOMS = {  # all others 1
    "five-bar": 2, "ankle": 2, "3r-slider": 2, "3-rrr": 3, "3-rrr-motors": 3, "excavator": 3, "stewart": 6, "delta": 9
}  # fmt: skip
FULL_TURN = {
    "wiper", "four-bar", "slider-crank", "slider-crank-equal", "punch-press", "five-bar", "carpet-scraper", "carpet-scraper-2007", "rssr",
    "rssr-7r",
    "jansen-leg", "bennett", "cam-follower", "parallelogram-middle", "change-point-four-bar", "parallelogram-chain",
}  # fmt: skip


@cache
def system(name: str) -> System:
    return System(read(models.path(name)))


@cache
def turned(name: str) -> Trajectory:
    return mechanism_of(system(name)).cycle(steps=20 if name == "jansen-leg" else 8)


@sweep("name", led_by_drives(), now=["bennett", "boot-lid", "carpet-scraper", "excavator", "jansen-leg", "rssr", "scissor-lift", "stewart"])
def test_it_assembles_with_its_freedoms_and_turns(name: str) -> None:
    s = system(name)
    phi = s.closure(s.start).phi
    assert np.abs(phi).max(initial=0.0) < 1e-12  # round-off of lengths up to 10 m
    assert s.mobility.mobility == FREEDOMS.get(name, 1)
    assert turned(name).full_turn == (name in FULL_TURN)


@pytest.mark.parametrize("point", ["crank.A", "rocker.B", "coupler.S", "arm.P", "arm.Q", "tool.R", "tool.T"])
def test_scraper_assembles_on_the_papers_branch(point: str) -> None:
    """At crank angle 0 S stands above O2, and the pantograph makes T = O4 + 3.5 (S - O4)."""
    s = system("carpet-scraper")
    high = math.sqrt((2 * 0.1152) ** 2 - (0.038 + 0.089) ** 2)  # A, S and O2 lie on a circle about B: a right angle at O2
    O4 = np.array([0.038, 0.41])
    S = np.array([-0.089, high])
    reach = np.hypot(*(S - O4))
    along, across = (S - O4) / reach, np.array([-(S - O4)[1], (S - O4)[0]]) / reach
    half = (reach**2 + 0.0956**2 - 0.239**2) / (2 * reach)
    P = O4 + half * along + math.sqrt(0.0956**2 - half**2) * across
    Q = O4 + 3.5 * (P - O4)
    places = {
        "crank.A": [0.038, 0.0], "rocker.B": [(0.038 - 0.089) / 2, high / 2], "coupler.S": S, "arm.P": P, "arm.Q": Q,
        "tool.R": Q + S - P, "tool.T": O4 + 3.5 * (S - O4),
    }  # fmt: skip
    np.testing.assert_allclose(s.point(s.start, point)[:2], places[point], atol=1e-13)


def test_3rrr_start() -> None:
    s = system("3-rrr")
    np.testing.assert_allclose(s.point(s.start, "platform.P1")[:2], (0.6127687554304488, -0.09283938967869125), atol=1e-14)
    np.testing.assert_allclose([s.start["J8"], s.start["J9"]], [4.1883, 5.7637], atol=1e-14)


def test_motor_driven_3rrr_starts_where_the_paper_prints() -> None:
    s = system("3-rrr-motors")
    np.testing.assert_allclose(s.start["P"], (0.59363, 0.60145, 0.020707), atol=5e-6)  # half of the last printed digit


def test_three_hinge_arm_starts_on_its_task() -> None:
    """x = -0.075 + 0.225 sin(pi t + pi/9) m with the last link level [Aghili2005 IX], elbow with J2 negative."""
    s = system("3r-slider")
    st = s.start
    x, v = -0.075 + 0.225 * math.sin(math.pi / 9), 0.225 * math.pi * math.cos(math.pi / 9)
    reached = [st["tip.slide"], st["tip.angle"], st["tip.slide.v"], st["tip.angle.v"]]
    np.testing.assert_allclose(reached, [x, 0.0, v, 0.0], atol=1e-13)
    np.testing.assert_allclose(s.point(st, "hand.E")[:2], (x, -0.27), atol=1e-14)
    assert st["J2"] < 0.0 and s.tree.cuts == ("tip",)
    c = mechanism_of(s).cycle(steps=60)
    np.testing.assert_allclose([c["tip.slide"].min(), c["tip.slide"].max()], [-0.3, 0.15], atol=1e-3)  # the task's range
    assert np.abs(c["tip.angle"]).max() < 0.5
    stations = c["tip.angle"][[12, 27, 42, 60]]  # where one move ends: chosen with the hand level
    np.testing.assert_allclose(stations, 0.0, atol=1e-6)  # 1e-6 deg of two hinges on a hand of 0.1 m


@pytest.mark.slow
def test_three_hinge_arm_weighs_what_its_reference_weighs() -> None:
    """Along the task the efforts of least norm are the ideal projected control: RMS 0.9901 N m, peak 1.2432 N m, contact 3.3400 N.

    The reference holds efforts for 2 ms, which changes them by up to 6e-5 (RMS) and 2e-3 (peak).
    """
    known = load("aghili_hoang")["planar_3R_own_data"]["elbow-1 ideal PIDC delta=0"]
    s = system("3r-slider")
    c = mechanism_of(s).follow({"hand": lambda t: (-0.175 + 0.225 * math.sin(math.pi * t + math.pi / 9), -0.27, 0.0)},
        duration=2.0,
        steps=100,
        drives=["J1", "J2", "J3"],
    )
    tau = np.array([c[f"{j}.torque"] for j in ("J1", "J2", "J3")])[:, :-1]  # one period: the sum over equal steps is exact
    assert math.sqrt((tau**2).sum(axis=0).mean()) == pytest.approx(known["rms"], rel=1e-4)
    assert np.abs(tau).max() == pytest.approx(known["peak"], rel=3e-3)
    contact = np.asarray(c["tip.on.hand.y"])[:-1]
    assert math.sqrt((contact**2).mean()) == pytest.approx(known["lam_rms"], rel=1e-4)


@pytest.mark.parametrize("name", ["rssr", "rssr-7r"])
def test_rssr_rocker_follows_the_closed_form(name: str) -> None:
    """|B - A| = 0.4 with B = R0 + 0.25 (cos psi u1 + sin psi u2) is K1 cos psi + K2 sin psi = K3."""
    c = turned(name)
    R0, u1, u2 = np.array([0.35, 0.1, 0.2]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.8, -0.6])
    for theta, read_psi, B in zip(c["crank"], c["rocker"], np.asarray(c["rocker.B"]), strict=True):
        d = R0 - 0.1 * np.array([math.cos(theta), math.sin(theta), 0.0])
        K1, K2, K3 = 0.5 * d @ u1, 0.5 * d @ u2, 0.4**2 - d @ d - 0.25**2
        psi = math.atan2(K2, K1) + math.acos(K3 / math.hypot(K1, K2))
        assert read_psi == pytest.approx(psi, abs=1e-12)
        np.testing.assert_allclose(B, R0 + 0.25 * (math.cos(psi) * u1 + math.sin(psi) * u2), atol=1e-12)


def test_slider_crank_moves_as_its_closed_form() -> None:
    """C runs along x: its place is r cos A + sqrt(l^2 - (r sin A)^2), and its stroke is twice the crank."""
    c, r, rod = mechanism_of(system("slider-crank")).cycle(steps=72), 0.05, 0.18
    np.testing.assert_allclose(c["slider.C.x"], r * np.cos(c["A"]) + np.sqrt(rod**2 - (r * np.sin(c["A"])) ** 2), atol=1e-12)
    assert c.measure("stroke guide") == pytest.approx(2 * r, abs=1e-9)
    assert not c.singular and c["A.torque"].max() > 0.0


def test_slider_crank_stays_on_its_branch() -> None:
    c = turned("slider-crank-equal")
    np.testing.assert_allclose(np.asarray(c["B"]) + 2 * np.asarray(c["A"]), 2 * math.pi, atol=1e-9)


def test_change_point_branch() -> None:
    c = turned("change-point-four-bar")
    delta = math.pi - (np.asarray(c["rocker.angle"]) - np.asarray(c["coupler.angle"]))
    expected = math.sqrt(1 * 0.5 / (0.8 * 0.7)) * np.cos(np.asarray(c["A"]) / 2)
    np.testing.assert_allclose(np.sin(delta / 2), expected, atol=1e-9)


def test_bennett_angles_follow_the_closed_form() -> None:
    c = turned("bennett")
    A, B = np.asarray(c["A"]), np.asarray(c["B"])
    ratio = math.sin(math.radians(45)) / math.sin(math.radians(15))
    np.testing.assert_allclose(np.sin(A / 2) * np.sin(B / 2), ratio * np.cos(A / 2) * np.cos(B / 2), atol=1e-9)


@sweep("N", [1, 4], now=1)
def test_scissor_lift_height(N: int) -> None:
    s = System(read(models.path("scissor-lift"), N=N))
    c = mechanism_of(s).cycle(steps=6)
    base = 1.2 * math.cos(math.radians(20)) + np.asarray(c["slide"])
    height = np.asarray(c[f"table.L{N}"])[:, 1]
    np.testing.assert_allclose(height, N * np.sqrt(1.2**2 - base**2), atol=1e-10)


def test_delta_platform_stays_level() -> None:
    c = turned("delta")
    corners = [np.asarray(c[f"platform.P{i}"]) for i in range(1, 7)]
    for corner in corners[1:]:
        moved = corner - corners[0]
        np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-10)
    assert np.ptp(corners[0], axis=0).min() > 0.02  # and it does move, in all directions


def test_jansen_foot_walks() -> None:
    """The lower half of the foot's path is flat: over half of the step's length it rises by less than 3 % of it."""
    F = np.asarray(turned("jansen-leg")["shin.F"])
    length = np.ptp(F[:, 0])
    low = F[F[:, 1] < F[:, 1].min() + 0.03 * length]
    assert 0.5 < length < 0.8
    assert np.ptp(low[:, 0]) > 0.5 * length
