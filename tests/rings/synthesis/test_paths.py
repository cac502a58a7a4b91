"""Path synthesis: cases of the literature, linkages found again, bounds and held numbers, paths as the engine computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.synthesis.linkage import four_bar, slider_crank
from linkwright.rings.synthesis.motion_tracing import crank_linkage
from tests.rings.synthesis.path_cases import EIGHTEEN, FIVE_TIMED, VERTICAL, engine_path, missed_in_the_engine
from tests.sweeps import sweep

HELD = {"crank pivot": (0, 0), "ground angle": 0, "crank offset": 0}
CASES = {
    "six points of a vertical line": (
        {"path": VERTICAL, "bounds": {"links": (0, 60), "point": 60, "crank pivot": ((-60, -60), (60, 60))}},
        1e-26,
    ),
    "five timed points": (
        {
            "path": FIVE_TIMED, "timing": ["30 deg", "45 deg", "60 deg", "75 deg", "90 deg"], "hold": HELD,
            "bounds": {"links": (0, 50), "point": 50},
        },
        7.42e-7,
    ),
    "eighteen timed points": (
        {"path": EIGHTEEN, "timing": "equal", "bounds": {"links": (0, 50), "point": 50, "crank pivot": ((-50, -50), (50, 50))}},
        0.00903,
    ),
}  # fmt: skip
CRANK_ROCKER = four_bar(0j, 20 + 20j, 90 + 60j, 100 + 0j, 50 + 80j)
DRAG_LINK = four_bar(0j, 50 + 30j, 85 - 10j, 20 - 15j, 60 + 75j)


def along(linkage: Any, theta: np.ndarray) -> np.ndarray:
    """Coupler points at crank angles from the drawn position, by closed form."""
    traced = crank_linkage(linkage)
    return traced.path(theta + np.angle(traced.b - traced.a), np.full(len(theta), traced.sigma))


@sweep("case", CASES, now=["five timed points"])
@sweep("seed", range(6), now=1)
def test_cases_of_the_literature(case: str, seed: int) -> None:
    options, reached = CASES[case]
    found = lw.synthesize(unit="m", seed=seed, **options)
    best = found.best
    assert best.error < reached and best.usable
    # the same number from the engine's motion; cubics between its samples are good to 1e-9 of the path
    missed = missed_in_the_engine(best)
    assert (missed**2).sum() == pytest.approx(best.error, rel=1e-3, abs=1e-14)


@sweep("name", ["crank-rocker", "drag link"], now=1)
@sweep("clockwise", [True, False], now=1)
def test_a_linkage_is_found_again_from_its_timed_path(name: str, clockwise: bool) -> None:
    linkage = {"crank-rocker": CRANK_ROCKER, "drag link": DRAG_LINK}[name]
    theta = np.linspace(0.0, 5.0, 9) * (-1.0 if clockwise else 1.0)
    points = along(linkage, theta)
    found = lw.synthesize(path=points, timing=list(theta), types=[name])
    # nine timed points determine ten numbers: it is this linkage or its cognate with the same timing
    assert found.best.error < 1e-20 and found.best.usable
    family = [found.best.linkage, *found.best.cognates]
    pins = np.array([linkage.pins[n] for n in "ABCD"]) * 1e-3
    assert min(np.abs(np.array([x.pins[n] for n in "ABCD"]) - pins).max() for x in family) < 1e-6
    assert missed_in_the_engine(found.best).max() < 1e-8 and str(found.best.speed).startswith("-") == clockwise


@pytest.mark.slow
def test_a_path_without_timing_in_both_directions() -> None:
    theta = np.array([0.0, 0.4, 0.9, 1.1, 1.8, 2.6, 3.0])
    points = along(CRANK_ROCKER, theta)
    found = lw.synthesize(path=points, count=3)
    assert found.best.error < 1e-24 and found.best.usable, "seven points are met exactly by many four-bars"
    for x in found:
        assert missed_in_the_engine(x).max() < 1e-9
        assert (np.diff(x.at) > 0.0).all() or (np.diff(x.at) < 0.0).all()
    one_way = lw.synthesize(path=points, direction="clockwise", count=1).best
    assert (np.diff(one_way.at) < 0.0).all() and one_way.speed == "-60 rpm"


@pytest.mark.slow
def test_slider_cranks() -> None:
    known = slider_crank(0j, 20 + 25j, 110 + 12j, 1.0 + 0.1j, 60 + 55j)
    theta = 2.0 * np.pi * np.arange(12) / 12
    points = along(known, theta)
    found = lw.synthesize(path=points, timing="equal", kind="slider-crank")
    assert found.best.error < 1e-20 and missed_in_the_engine(found.best).max() < 1e-8
    pins = np.array([known.pins[n] for n in "ABC"]) * 1e-3
    assert np.abs(np.array([found.best.linkage.pins[n] for n in "ABC"]) - pins).max() < 1e-6
    assert len(found.best.cognates) == 1 and any("no cognate of four-bar type" in note for note in found.notes)
    guide = np.angle(known.guides["guide"].direction)
    held = lw.synthesize(path=points, kind="slider-crank", closed=True, hold={"ground angle": guide, "crank pivot": (0, 0)}, count=1).best
    assert held.error < 1e-15 and abs(held.linkage.pins["A"]) < 1e-12
    assert np.sin(np.angle(held.linkage.guides["guide"].direction) - guide) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_bounds_hold_and_are_named() -> None:
    t = 2.0 * np.pi * np.arange(11) / 11
    points = 30 * np.cos(t) + 18j * np.sin(t) + 6 * np.exp(2j * t)
    bounds = {"links": (12, 60), "ratio": 4, "pivots": ((-80, -50), (60, 20)), "transmission": "35 deg", "rocker": (0, 45)}
    found = lw.synthesize(path=points, closed=True, bounds=bounds)
    for x in found:
        traced = crank_linkage(x.linkage)
        size = {k: 1e3 * v for k, v in traced.lengths.items()}
        assert all(12 - 1e-6 <= v <= 60 + 1e-6 for k, v in size.items() if k != "rocker") and size["rocker"] <= 45 + 1e-6
        assert max(size.values()) <= 4 * min(size.values()) * (1 + 1e-9) and x.measures["least transmission angle"] >= np.deg2rad(35) - 1e-7
        for z in (1e3 * traced.a, 1e3 * traced.d):
            assert -80 - 1e-6 <= z.real <= 60 + 1e-6 and -50 - 1e-6 <= z.imag <= 20 + 1e-6
    assert found.best.notes, "what binds is said"


@pytest.mark.slow
def test_a_bound_optimum_is_that_of_an_independent_optimizer() -> None:
    """Timed points, links at most 45: SLSQP with differences from the answer's own start finds nothing better near it."""
    from scipy.optimize import minimize

    from tests.rings.synthesis.path_cases import coupler_point

    t = 2.0 * np.pi * np.arange(12) / 12
    points = 30 * np.cos(t) + 10j * np.sin(t) + 8 * np.exp(2j * t)
    best = lw.synthesize(path=points, timing="equal", bounds={"links": (1, 45)}, unit="m").best
    at = crank_linkage(best.linkage)
    frame = np.angle(at.d - at.a)
    r = np.array([at.lengths[n] for n in ("ground", "crank", "coupler", "rocker")])
    u = (at.p - at.b) * abs(at.c - at.b) / (at.c - at.b)
    x0 = np.array([*r, u.real, u.imag, at.a.real, at.a.imag, frame, np.angle(at.b - at.a) - frame])
    direction = 1.0 if best.at[1] > 0.0 else -1.0

    def error(x: np.ndarray) -> float:
        px, py = coupler_point(x[:4], x[4:6], x[6:8], x[8], x[9] + direction * t, at.sigma)
        return float(((px - points.real) ** 2 + (py - points.imag) ** 2).sum())

    assert error(x0) == pytest.approx(best.error, rel=1e-9) and r.max() > 45 - 1e-6
    limits = [(1, 45)] * 4 + [(None, None)] * 6
    other = minimize(error, x0, method="SLSQP", bounds=limits, options={"maxiter": 300, "ftol": 1e-14})
    assert other.fun > best.error * (1.0 - 1e-6)  # differences of 1e-8 leave it some digits short


def test_held_numbers_stay() -> None:
    theta = np.linspace(0.2, 3.0, 6)
    traced = crank_linkage(CRANK_ROCKER)
    points = traced.path(theta, np.full(6, traced.sigma))  # absolute crank angles: the ground link lies on the x axis
    for hold in (
        {"crank pivot": (0, 0), "ground angle": "0 deg", "crank offset": 0.0},
        {"crank_pivot": (0, 0), "crank_angle": 0.0},
    ):
        best = lw.synthesize(path=points, timing=list(theta), hold=hold, count=1).best
        assert best.error < 1e-18 and abs(best.linkage.pins["A"]) < 1e-15
        at = crank_linkage(best.linkage)
        assert np.angle(at.b - at.a) == pytest.approx(theta[0], abs=1e-9)
        if "ground angle" in hold:
            assert np.angle(at.d - at.a) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_a_long_closed_curve() -> None:
    points = along(CRANK_ROCKER, np.sort(np.random.default_rng(2).uniform(0.0, 2.0 * np.pi, 90)))
    found = lw.synthesize(path=points, closed=True, count=2)
    size = np.ptp(points.real) + np.ptp(points.imag)
    assert found.best.measures["largest deviation"] < 1e-6 * size * 1e-3 and found.best.usable and len(found.best.at) == 90
    curve = engine_path(found.best.document, 3600) * 1e3
    # samples of the cycle are 0.1 deg apart
    assert max(np.abs(curve - z).min() for z in points[::9]) < 0.2


@pytest.mark.slow
def test_what_cannot_be_reached_is_said_with_what_could_be_relaxed() -> None:
    star = np.array([(2.0 if k % 2 else 1.0) * np.exp(2j * np.pi * k / 14) for k in range(14)]) * 30
    found = lw.synthesize(path=star, timing="equal", bounds={"links": (5, 60)})
    (said,) = (note for note in found.notes if "misses a point" in note)
    assert "leave the timing free" in said and "take fewer points" in said and "mm" in said
    assert any("Least squares: 14 points are 28 demands for 10 unknowns" in note for note in found.notes)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answers() -> None:
    first, again = (lw.synthesize(path=VERTICAL, seed=3, count=2) for _ in range(2))
    assert [x.linkage.pins for x in first] == [x.linkage.pins for x in again]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [10, 60])
def test_a_closed_curve_at_link_bounds_from_several_seeds(seed: int, n: int) -> None:
    """An ellipse whose best four-bar has links at their bound of 80: all seeds end within a per mille of the best."""
    t = np.linspace(0.0, 2.0 * np.pi, n)
    points = 10 + 10 * np.cos(t) + 1j * (10 + 8 * np.sin(t))
    bounds = {"links": (0, 80), "point": 80, "crank pivot": ((-80, -80), (80, 80))}
    best = lw.synthesize(path=points, unit="m", bounds=bounds, seed=seed).best
    assert best.error < {10: 4.0557e-4, 60: 3.2336e-3}[n] and any("upper bound" in note for note in best.notes)


@pytest.mark.slow
def test_answers_are_drawn(tmp_path: Any) -> None:
    found = lw.synthesize(path=FIVE_TIMED, timing="60 deg", hold=HELD, count=2)
    assert found.plot(tmp_path / "linkages.png").stat().st_size > 10_000
    for _ in range(2):  # its own file may be replaced
        saved = lw.load(found.best.mechanism.save(tmp_path / "best.yaml"))
    at = found.best.linkage.pins["P"]
    assert saved.name == "best" and np.allclose(saved.cycle(steps=4)["coupler.P"][0], [at.real, at.imag], atol=1e-12)
    (tmp_path / "best.yaml").write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(lw.UsageError, match="already exists"):
        found.best.mechanism.save(tmp_path / "best.yaml")
    figure = found.plot(count=1)
    assert len(figure.axes) == 1
