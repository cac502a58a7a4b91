"""Rigid-body guidance: known mechanisms recovered, poses met by the real engine, degenerate sets named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.numerics.monodromy import monodromy, normal_parameters
from linkwright.numerics.tracking import homotopy, newton_solve
from linkwright.rings.synthesis.burmester import PoseSet, curve, deviations, isolated, null_space
from linkwright.rings.synthesis.poses import guided
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.rings.synthesis.linkages import coupler_poses, engine_poses, slider_poses
from tests.sweeps import sweep

LENGTHS = (0.4, 0.15, 0.35, 0.3)
POINT = 0.12 + 0.08j
FIVE = coupler_poses(LENGTHS, POINT, np.deg2rad([20, 60, 110, 170, 230]))
EXACT = 1e-10  # m, for linkages of the order of 1 m: round-off times the condition of five poses


def drive_angles(s: SynthesizedLinkage, poses: np.ndarray) -> np.ndarray:
    """Angles of the crank in the wanted poses, one after the other."""
    d, e = poses[:, 0] + 1j * poses[:, 1], np.exp(1j * poses[:, 2])
    B = d + e * (s.linkage.pins["B"] - d[0]) / e[0]
    return np.unwrap(np.angle(B - s.linkage.pins["A"]))


def met(s: SynthesizedLinkage, poses: np.ndarray, tolerance: float = EXACT) -> None:
    """The engine passes the poses on the branch that is drawn."""
    found = engine_poses(s.linkage, drive_angles(s, poses))
    np.testing.assert_allclose(found[:, :2], poses[:, :2], atol=tolerance)
    turned = np.exp(1j * (found[:, 2] - poses[:, 2]))
    np.testing.assert_allclose(turned, turned[0], atol=10 * tolerance)


def test_five_poses_of_a_known_four_bar() -> None:
    found, facts, notes = guided(FIVE)
    best = found[0]
    pins = best.linkage.pins
    start = 0.15 * np.exp(1j * np.deg2rad(20))
    assert abs(pins["A"]) < EXACT and abs(pins["D"] - 0.4) < EXACT and abs(pins["B"] - start) < EXACT
    assert best.usable and best.measures["full turn"] == 1.0 and notes == ()
    assert (facts["links"], facts["pairs"], facts["complex dyads"], len(found)) == (4, 12, 0, 12)
    met(best, FIVE)
    for s in found:
        if s.usable:
            met(s, FIVE, 1e-8)  # pivots up to 5 m away


@pytest.mark.slow
def test_all_dyads_of_five_poses_against_path_tracking() -> None:
    # (X_i - a)(X_i^ - a^) is the same for all poses: four equations in x, x^, a, a^ whose parameters are d, d^, e. No quartic here.
    def products(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        d, d_, e = (p[:, 5 * k : 5 * k + 5] for k in range(3))
        return d + e * x[:, :1] - x[:, 2:3], d_ + x[:, 1:2] / e - x[:, 3:4], e

    def residual(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        u, w, _ = products(x, p)
        return (u * w)[:, 1:] - (u * w)[:, :1]

    def by_unknowns(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        u, w, e = products(x, p)
        slopes = np.stack([e * w, u / e, -w, -u], axis=-1)
        return slopes[:, 1:] - slopes[:, :1]

    def by_parameters(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        u, w, e = products(x, p)
        out = np.zeros((len(x), 5, 15), dtype=complex)
        for i in range(5):
            out[:, i, i], out[:, i, 5 + i] = w[:, i], u[:, i]
            out[:, i, 10 + i] = x[:, 0] * w[:, i] - u[:, i] * x[:, 1] / e[:, i] ** 2
        return out[:, 1:] - out[:, :1]

    solve = newton_solve(residual, by_unknowns, by_parameters)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((1, 4)) + 1j * rng.standard_normal((1, 4))
    p = rng.standard_normal(15) + 1j * rng.standard_normal(15)
    radius = rng.standard_normal() + 1j  # d^ such that x is a solution
    p[5:10] = radius / (p[:5] + p[10:15] * x[0, 0] - x[0, 2]) - x[0, 1] / p[10:15] + x[0, 3]
    generic = monodromy(solve, x, p, parameters=normal_parameters(15), seed=1, doubt=1e-4)
    assert len(generic.solutions) == 4
    for seed in range(4):
        poses = np.random.default_rng(seed).uniform(-1, 1, (5, 3)) * [1.0, 1.0, 2.0]
        wanted = PoseSet.of(poses)
        d, e = wanted.place, wanted.turn
        ends = homotopy(solve, generic.solutions, p, np.concatenate([d, d.conj(), e]), seed=seed)
        assert ends.lost == 0
        real = np.abs(ends.solutions[:, 0] - ends.solutions[:, 1].conj()) < 1e-7
        dyads, shared = isolated(null_space(wanted), seed)
        assert len(dyads) == real.sum() and not shared
        for moving, ground in zip(dyads.moving, dyads.ground, strict=True):
            away = np.abs(ends.solutions[:, 0] - moving) + np.abs(ends.solutions[:, 2] - ground)
            assert away.min() < 1e-8 * (1 + abs(moving) + abs(ground))
        assert deviations(wanted, dyads).max(initial=0.0) < 1e-11 * (1 + np.abs(dyads.ground).max(initial=0.0))


def test_a_slider_is_found_in_the_same_solve() -> None:
    angles = np.deg2rad([10, 50, 100, 160, 200])
    poses = slider_poses(0.1, 0.3, 0.02, 0.1 + 0.05j, angles)
    found, facts, _ = guided(poses)
    assert facts["guides"] == 1
    best = next(s for s in found if s.linkage.kind == "slider-crank" and abs(s.linkage.pins.get("A", 9.0)) < 1e-8)
    assert abs(best.linkage.pins["C"].imag - 0.02) < EXACT and best.usable
    assert abs(best.linkage.guides["guide"].direction.imag) < 1e-9
    met(best, poses)
    cycle = lw.load(best.document).cycle()
    assert cycle.full_turn and float(np.ptp(cycle["guide"])) == pytest.approx(_stroke(0.1, 0.3, 0.02), rel=1e-4)  # 360 samples


def _stroke(crank: float, coupler: float, offset: float) -> float:
    return float(np.sqrt((coupler + crank) ** 2 - offset**2) - np.sqrt((coupler - crank) ** 2 - offset**2))


@sweep("count", [2, 3, 4], now=2)
def test_families_meet_their_poses(count: int) -> None:
    poses = FIVE[:count]
    found, facts, _ = guided(poses)
    assert len(found) == 10 and facts["usable"] > 100 and not facts["family"]
    driven = [s for s in found if s.usable and s.linkage.drive == "A"]
    assert len(driven) >= 5
    for s in driven[:4]:
        met(s, poses)
    angles = [s.measures["least transmission angle"] for s in found if s.measures["link ratio"] <= 10]
    assert angles == sorted(angles, reverse=True)


def test_the_known_four_bar_is_on_the_curve_of_four_poses() -> None:
    wanted = PoseSet.of(FIVE[:4])
    links = curve(null_space(wanted), 3000)
    assert deviations(wanted, links).max() < 1e-9
    for x, a in ((-POINT, 0.0), (0.35 - POINT, 0.4)):
        away = np.abs(links.moving - x / wanted.size) + np.abs(links.ground - (a - wanted.center) / wanted.size)
        assert away.min() < 0.02  # samples of a curve: neighbors are this far apart


def test_ground_pivots_stay_within_a_box() -> None:
    for count in (3, 4):
        found, _, _ = guided(FIVE[:count], within=(-0.1, 0.5, -0.1, 0.1))
        pivots = [s.linkage.pins[name] for s in found for name in ("A", "D") if name in s.linkage.pins]
        assert len(pivots) > 3 and all(-0.1 <= z.real <= 0.5 and abs(z.imag) <= 0.1 for z in pivots)


@pytest.mark.parametrize(
    "given", [{"ground": [(0, 0), (0.4, 0)]}, {"moving": [(-0.12, -0.08), (0.23, -0.08)]}, {"ground": [(0, 0)], "moving": [(0.23, -0.08)]}]
)
def test_three_poses_with_pivots_of_the_known_four_bar(given: dict[str, Any]) -> None:
    found, _, _ = guided(FIVE[:3], **given)
    best = found[0]
    assert len(found) == 1 or not found[1].usable or found[1].linkage.drive == "A"
    assert abs(best.linkage.pins["A"]) < EXACT and abs(best.linkage.pins["D"] - 0.4) < EXACT
    met(best, FIVE[:3])


def test_one_given_pivot_is_used_and_the_other_sampled() -> None:
    for count in (2, 3):
        found, _, _ = guided(FIVE[:count], ground=[(0.05, -0.02)])
        pivots = [[s.linkage.pins.get(name, 9.0) for name in ("A", "D")] for s in found]
        assert found and all(min(abs(z - (0.05 - 0.02j)) for z in row) < EXACT for row in pivots)
        met(next(s for s in found if s.usable and s.linkage.drive == "A"), FIVE[:count])


def test_the_pole_of_two_poses() -> None:
    _, facts, notes = guided([(0, 0, 0), (1, 0, np.pi / 2)])
    np.testing.assert_allclose(facts["pole"], [0.5, 0.5], atol=1e-12)  # equal distances to both, turned by a right angle
    assert "hinge" in notes[0]


@pytest.mark.slow
def test_nine_poses_by_least_squares() -> None:
    crank = np.deg2rad(np.linspace(20, 230, 9))
    exact = coupler_poses(LENGTHS, POINT, crank)
    found, _, _ = guided(exact)
    assert found[0].error < 1e-9 and abs(found[0].linkage.pins["A"]) < 1e-8 and abs(found[0].linkage.pins["D"] - 0.4) < 1e-8
    noise = np.random.default_rng(0).standard_normal((9, 3)) * [1e-3, 1e-3, 5e-3]
    found, _, _ = guided(exact + noise)
    best = found[0]
    # 27 numbers, 10 dimensions and 9 crank angles: 8 degrees of freedom remain of the noise, rms about sqrt(8/9) of one component
    assert best.usable and 1e-4 < best.error < 2.5e-3
    assert abs(best.linkage.pins["A"]) < 0.05 and abs(best.linkage.pins["D"] - 0.4) < 0.05


def test_the_fit_is_stationary() -> None:
    from linkwright.rings.synthesis.poses import _dimensions, _projected, fitted_links, fitted_pair

    rng = np.random.default_rng(1)
    poses = PoseSet.of(coupler_poses(LENGTHS, POINT, np.deg2rad(np.linspace(20, 230, 9))) + 2e-3 * rng.standard_normal((9, 3)))
    best = fitted_pair(poses, fitted_links(poses).taken(np.array([0, 1])), 1.0)
    reached = PoseSet(best.place, best.turn, poses.center, poses.size)
    q = _dimensions(reached, best.dyads)
    kinds = np.array([False, False])

    def cost(z: np.ndarray) -> float:
        return float((_projected(poses, [z[:5], z[5:]], kinds, 1.0)[2] ** 2).sum())

    z = np.concatenate(q)
    slope = np.array([(cost(z + h) - cost(z - h)) / 2e-5 for h in 1e-5 * np.eye(10)])
    _, _, e, J = _projected(poses, q, kinds, 1.0)
    np.testing.assert_allclose(2 * J.T @ e, slope, atol=1e-8)  # envelope theorem against differences
    assert np.abs(slope).max() < 1e-5 * np.sqrt(cost(z))


CIRCLE = np.array([0.1, 0.7, 1.3, 2.2, 3.0])


@pytest.mark.parametrize(
    ("poses", "rank", "said"),
    [
        (np.column_stack([np.cos(CIRCLE), np.sin(CIRCLE), 0 * CIRCLE]), 3, "whole family"),  # parallelograms
        (np.column_stack([CIRCLE, 2 * CIRCLE, 0 * CIRCLE + 0.3]), 3, "whole family"),  # all points on parallel lines
        (np.column_stack([1 + 0.3 * np.cos(CIRCLE), 0.3 * np.sin(CIRCLE), CIRCLE]), 3, "hinge at the pole (1, 0)"),
        (np.column_stack([CIRCLE, CIRCLE**3, 0 * CIRCLE]), 4, "No link"),  # translations along a cubic
    ],
)
def test_degenerate_poses_are_named(poses: np.ndarray, rank: int, said: str) -> None:
    assert null_space(PoseSet.of(poses)).rank == rank
    _, facts, notes = guided(poses)
    assert facts["family"] and any(said in note for note in notes)


def test_repeated_poses_are_left_out() -> None:
    found, facts, notes = guided(FIVE[[0, 1, 1, 2]])
    assert facts["poses"] == 3 and "1 repeated pose" in notes[0] and found


@pytest.mark.parametrize(
    ("poses", "options", "said"),
    [
        (np.ones((3, 3)), {}, "all poses are equal"),
        (np.full((3, 3), np.nan), {}, "finite"),
        (np.ones((3, 2)), {}, "shape"),
        ("abc", {}, "three numbers"),
        (FIVE, {"ground": [(0, 0)]}, "two or three poses"),
        (FIVE[:3], {"ground": [(0, 0), (1, 0), (2, 0)]}, "at most two"),
        (FIVE[:3], {"within": (1, 0, 0, 1)}, "least x"),
    ],
)
def test_bad_input(poses: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        guided(poses, **options)
