"""Six-bar function generators: errors below those of four-bars, and the engine's output follows the function between the inputs too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.results import SynthesizedLinkage
from linkwright.rings.synthesis.six_bar_functions import freudenstein, six_bar_functions

T = np.linspace(0.0, 1.0, 41)
RANGE = np.deg2rad(60.0)


def logarithm(t: np.ndarray) -> np.ndarray:
    """log10 x for x from 1 to 2, over 60 deg."""
    return RANGE * np.log10(1.0 + t) / np.log10(2.0)


def engine_error(x: SynthesizedLinkage, span: float, function: Any) -> float:
    """Half of the range of output minus wanted, over all positions of the engine's turn within the span of inputs."""
    c = lw.load(x.document).cycle(steps=1440)
    pins = x.linkage.pins
    turned = np.angle(np.exp(1j * c["crank.angle"]) / (pins["A"] - pins["O"]))
    on = (turned >= 0.0) & (turned <= span)
    assert on.sum() > 100
    error = np.exp(1j * (c[x.linkage.output][on] - function(turned[on] / span)))
    return float(np.ptp(np.angle(error * np.conj(error.mean()))) / 2.0)


def check_logarithm(kind: str, seed: int = 0) -> None:
    found, facts, notes = six_bar_functions(RANGE * T, logarithm(T), kind=kind, seed=seed)
    best = found[0]
    assert notes == () and facts["optima"] >= 1
    # the best four-bar has 0.0336 deg
    assert best.usable and np.rad2deg(best.error) < 0.005
    assert engine_error(best, RANGE, logarithm) == pytest.approx(best.error, rel=0.1)  # 41 inputs, and what lies between them
    assert best.linkage.length("O", "C") == pytest.approx(0.1)
    if kind != "stephenson II":
        assert best.measures["least transmission angle"] > np.deg2rad(19.9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["watt II", "stephenson III"])
def test_the_logarithm_is_followed_better_than_by_a_four_bar(kind: str) -> None:
    check_logarithm(kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("kind", ["watt II", "stephenson III", "stephenson II"])
def test_the_logarithm_from_several_seeds(kind: str, seed: int) -> None:
    check_logarithm(kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["watt II", "stephenson III", "stephenson II"])
@pytest.mark.parametrize(
    ("span", "function"),
    [
        (np.deg2rad(90.0), lambda t: np.deg2rad(90.0) * t**2),
        (np.deg2rad(90.0), lambda t: np.deg2rad(60.0) * np.sin(np.pi / 2.0 * t)),
        (np.deg2rad(120.0), lambda t: np.deg2rad(40.0) * (3.0 * t**2 - 2.0 * t**3)),
    ],
)
def test_other_functions(span: float, function: Any, kind: str) -> None:
    found, _, _ = six_bar_functions(span * T, function(T), kind=kind)
    assert np.rad2deg(found[0].error) < 0.02
    assert engine_error(found[0], span, function) == pytest.approx(found[0].error, rel=0.2)


@pytest.mark.slow
def test_a_decreasing_input_turns_the_crank_clockwise() -> None:
    found, _, _ = six_bar_functions(-RANGE * T, 0.5 * logarithm(T), kind="watt II", starts=512, count=1)
    assert str(found[0].speed).startswith("-") and np.rad2deg(found[0].error) < 0.01
    c = lw.load(found[0].document).cycle(steps=720)
    pins = found[0].linkage.pins
    turned = -np.angle(np.exp(1j * c["crank.angle"]) / (pins["A"] - pins["O"]))
    on = (turned >= 0.0) & (turned <= RANGE)
    error = np.exp(1j * (c[found[0].linkage.output][on] - 0.5 * logarithm(turned[on] / RANGE)))
    assert np.ptp(np.angle(error * np.conj(error.mean()))) / 2.0 == pytest.approx(found[0].error, rel=0.1)


def test_freudenstein_recovers_four_bars() -> None:
    rng = np.random.default_rng(1)
    crank, rocker, coupler = 0.4, 0.9, 1.1
    phi = rng.uniform(0.0, 6.0, (30, 1)) + np.linspace(0.0, 1.0, 7)
    away = crank * np.exp(1j * phi) - 1.0  # from the rocker's pivot to the crank's pin
    d = np.abs(away)
    inner = np.arccos((d**2 + rocker**2 - coupler**2) / (2.0 * d * rocker))
    r2, r3, r4, more, turned = freudenstein(phi, np.angle(away) + inner)
    # the ridge of 1e-10 over the least eigenvalue, which is some 1e-4 for a range of 1 rad
    assert np.abs(np.stack([r2 - crank, r3 - coupler, r4 - rocker])).max() < 1e-3
    assert np.median(np.abs(r2 - crank)) < 1e-6 and not more.any() and not turned.any()


@pytest.mark.parametrize(
    ("inputs", "outputs", "options", "says"),
    [
        ([0, 1, 2], [0, 1, 2], {}, "at least 4"),
        ([0, 1, 2, 3], [0, 1], {}, "same length"),
        (["a"] * 4, [0] * 4, {}, "numbers"),
        ([0, 1, 2, float("inf")], [0, 1, 2, 2.5], {}, "finite"),
        ([0, 1, 0.5, 2], [0, 1, 2, 2.5], {}, "increase"),
        ([0, 1, 2, 3], [1, 1, 1, 1], {}, "must move"),
        ([0, 1, 2, 3], [0, 1, 2, 4], {}, "170 deg"),
        ([0, 1, 2, 3], [0, 1, 1.5, 2], {"kind": "watt I"}, "unknown kind"),
        ([0, 1, 2, 3], [0, 1, 1.5, 2], {"size": -1.0}, "positive distance"),
        ([0, 1, 2, 3], [0, 1, 1.5, 2], {"transmission": 1.6}, "between 0 and 90"),
    ],
)
def test_bad_input_is_explained(inputs: Any, outputs: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        six_bar_functions(inputs, outputs, **options)
