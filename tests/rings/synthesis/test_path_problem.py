"""Path problems: slack parameters are exactly the linkages with a full turn; derivatives against complex steps; inequalities."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.synthesis.coupler_chains import CHAINS, lengths
from linkwright.rings.synthesis.path_problem import PathChoices, PathLimits, PathProblem
from linkwright.rings.synthesis.path_search import AngleFollower
from tests.rings.synthesis.path_cases import coupler_point, slider_point

STEP = 1e-30
FORMS = {"four-bar": coupler_point, "slider-crank": slider_point}


def limits(chain: str, **more: object) -> PathLimits:
    links = len(CHAINS[chain].links)
    return PathLimits(tuple([0.01] * links), tuple([9.0] * links), **more)


def problem(chain: str, timed: bool, **more: object) -> PathProblem:
    points = np.exp(1j * np.arange(5)) + 0.3j
    return PathProblem(CHAINS[chain], points, np.linspace(0.0, 2.0, 5) if timed else None, limits(chain), **more)


def candidate(p: PathProblem, seed: int, kind: int, sigma: float, direction: float) -> tuple[np.ndarray, PathChoices]:
    rng = np.random.default_rng(seed)
    v = rng.uniform(0.2, 1.0, (1, p.variables))
    v[:, p.shapes + 6 :] = rng.uniform(0.1, 0.5, v[:, p.shapes + 6 :].shape)
    return v, PathChoices(np.array([kind]), np.array([sigma]), np.array([direction]))


def independent(p: PathProblem, v: np.ndarray, kind: int, sigma: float, direction: float) -> np.ndarray:
    """Points as x and y from variables that may be complex."""
    s = p.shapes
    size = p.chain.lengths_of[kind] @ v[:s]
    run = p.timing if p.timing is not None else np.concatenate([[0.0], np.cumsum(v[s + 6 :])])
    theta = v[s + 5] - (v[s + 4] if p.absolute else 0.0) + direction * run
    return np.stack(FORMS[p.chain.name](size, v[s : s + 2], v[s + 2 : s + 4], v[s + 4], theta, sigma))


@pytest.mark.parametrize("chain", ["four-bar", "slider-crank"])
@pytest.mark.parametrize(("timed", "absolute"), [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize(("sigma", "direction"), [(1.0, 1.0), (-1.0, -1.0)])
def test_points_and_derivatives_are_those_of_real_formulas(chain: str, timed: bool, absolute: bool, sigma: float, direction: float) -> None:
    p = problem(chain, timed, absolute=absolute)
    for kind in range(len(p.chain.kinds)):
        v, choices = candidate(p, 3 + kind, kind, sigma, direction)
        at, by_v = p.path(v, choices)
        known = independent(p, v[0], kind, sigma, direction)
        assert np.allclose(at[0], known[0] + 1j * known[1], atol=1e-13) and np.allclose(p.at(v, choices), at, atol=1e-14)
        for k in range(p.variables):
            moved = v[0].astype(complex)
            moved[k] += 1j * STEP
            slope = independent(p, moved, kind, sigma, direction).imag / STEP
            # a complex step is exact; the transmission angles here are above 10 deg
            assert np.allclose(by_v[0, :, k], slope[0] + 1j * slope[1], rtol=1e-10, atol=1e-11), (kind, k)


def test_slacks_are_exactly_the_linkages_with_a_full_turn() -> None:
    """For random lengths: all slacks are positive if and only if the crank can turn fully with the crank or the ground as shortest link."""
    rng = np.random.default_rng(0)
    r = rng.uniform(0.1, 2.0, (4000, 4))
    # the crank turns fully where the triangle (distance, coupler, rocker) exists at the longest and the shortest distance
    far, near = r[:, 0] + r[:, 1], np.abs(r[:, 0] - r[:, 1])
    turns = (far < r[:, 2] + r[:, 3]) & (near > np.abs(r[:, 2] - r[:, 3]))
    inverse = np.linalg.inv(CHAINS["four-bar"].lengths_of)
    shapes = np.einsum("ksl,nl->nks", inverse, r)
    positive = (shapes > 0.0).all(axis=2)
    assert np.array_equal(positive.any(axis=1), turns) and turns.sum() > 500 and positive[:, 0].any() and positive[:, 1].any()
    r = rng.uniform(0.1, 2.0, (4000, 3)) * [1.0, 1.0, 0.5]
    turns = r[:, 0] + np.abs(r[:, 2]) < r[:, 1]
    shapes = r @ np.linalg.inv(CHAINS["slider-crank"].lengths_of[0]).T
    assert np.array_equal((shapes > 0.0).all(axis=1), turns) and turns.sum() > 500


@pytest.mark.parametrize("chain", ["four-bar", "slider-crank"])
def test_inequalities_and_their_derivatives(chain: str) -> None:
    box = (complex(-0.5, -0.5), complex(0.6, 0.7))
    p = PathProblem(
        CHAINS[chain], np.exp(1j * np.arange(5)), None, limits(chain, ratio=2.0, other_pivot=box, transmission=np.deg2rad(50.0))
    )
    for kind in range(len(p.chain.kinds)):
        v, choices = candidate(p, 8, kind, 1.0, 1.0)
        g, by_v = p.inequalities(v, choices)
        h = 1e-6
        for k in range(p.variables):
            step = h * (np.arange(p.variables) == k)
            slope = (p.inequalities(v + step, choices)[0] - p.inequalities(v - step, choices)[0]) / (2.0 * h)
            assert np.allclose(by_v[0, :, k], slope[0], atol=1e-8)  # quadratics: central differences are exact up to rounding
        size = lengths(p.chain, v[:, : p.shapes], choices.kind)[0]
        assert g[0, 0] == pytest.approx(size[0] - 9.0)


def test_the_transmission_inequality_is_the_angle_over_the_turn() -> None:
    rng = np.random.default_rng(5)
    chain, least = CHAINS["four-bar"], np.deg2rad(35.0)
    shape = rng.uniform(0.05, 2.0, (300, 4))
    kind = rng.integers(0, 2, 300)
    r1, r2, r3, r4 = (x[:, None] for x in lengths(chain, shape, kind).T)
    square = r1**2 + r2**2 - 2.0 * r1 * r2 * np.cos(np.linspace(0.0, 2.0 * np.pi, 721))
    angle = np.arccos((r3**2 + r4**2 - square) / (2.0 * r3 * r4))
    smallest = np.minimum(angle, np.pi - angle).min(axis=1)
    allowed = (chain.transmission(shape, kind, least)[0] <= 0.0).all(axis=1)
    clear = np.abs(smallest - least) > 1e-6
    assert np.array_equal(allowed[clear], smallest[clear] >= least) and 20 < allowed.sum() < 280


def test_followed_angles_are_nearest_points_in_order() -> None:
    p = problem("four-bar", False)
    v, choices = candidate(p, 2, 0, 1.0, -1.0)
    p = p.through(p.at(v, choices)[0] * 1.01, None)  # near a curve that exists
    follower = AngleFollower(p, v, choices)
    rows = np.array([0])
    for _ in range(10):
        missed, derivative = follower.evaluated(v[:, : follower.core], rows)
    whole = follower.whole(v[:, : follower.core], rows)
    tangent = p.path(whole, choices)[1][0, :, p.place("t1")]
    assert np.abs((np.conj(tangent) * missed[0]).real).max() < 1e-9, "the curve is perpendicular to each distance"
    assert (np.diff(p.angles(whole, choices)[0]) < 0.0).all(), "in the direction of the crank"
    # envelope theorem: the total change of the sum of squares is that at fixed angles
    gradient = 2.0 * (np.conj(missed[0]) @ derivative[0]).real
    for k in (0, 2, 4, 6, 8):
        h = 1e-5
        moved = [v[:, : follower.core] + sign * h * (np.arange(follower.core) == k) for sign in (1.0, -1.0)]
        sums = []
        for x in moved:
            for _ in range(10):
                away, _ = follower.evaluated(x, rows)
            sums.append((np.abs(away) ** 2).sum())
        assert (sums[0] - sums[1]) / (2.0 * h) == pytest.approx(gradient[k], rel=1e-5, abs=1e-8)
