"""Function generation against closed forms, the real engine and the alternation theorem of Chebyshev."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.rings.synthesis.freudenstein import AngleForm, SlideForm, link_ratio, solved_for_three
from linkwright.rings.synthesis.function_generation import Generator, GeneratorTask, generated
from linkwright.rings.synthesis.results import SynthesizedLinkage
from tests.rings.synthesis.linkages import four_bar
from tests.sweeps import sweep

DEG = np.pi / 180


def engine_output(s: SynthesizedLinkage, travel: np.ndarray) -> np.ndarray:
    """Output travel of the linkage by the real engine, at travels of the crank from the drawn start."""
    system = lw.load(s.document).system
    start = float(system.start["A"])
    batch = system.assemble_batch({"A": start + travel})
    assert batch.ok.all()
    out = np.array([float(batch[k][s.linkage.output]) for k in range(len(travel))])
    return out - out[0] if s.linkage.output == "guide" else np.unwrap(out - out[0])


def wanted_log(count: int = 61) -> tuple[np.ndarray, np.ndarray]:
    """Crank travel 0..1 and log10 x from 1 to 2 as a share of its range."""
    u = np.linspace(0.0, 1.0, count)
    return u, np.log10(1.0 + u) / np.log10(2.0)


def test_three_pairs_of_a_known_four_bar() -> None:
    lengths = (1.0, 0.4, 0.9, 0.7)
    phi = np.array([0.3, 1.1, 2.0])
    _, C = four_bar(lengths, phi)
    K = solved_for_three(AngleForm(), phi[None], np.angle(C - 1.0)[None])[0]
    # K1 = ground/crank, K2 = ground/rocker, K3 = (a^2 - b^2 + c^2 + d^2)/(2 a c)
    np.testing.assert_allclose(K, [1 / 0.4, 1 / 0.7, (0.16 - 0.81 + 0.49 + 1.0) / (2 * 0.4 * 0.7)], atol=1e-12)
    np.testing.assert_allclose(np.sqrt(AngleForm().squares(K)), [1.0, 0.4, 0.9, 0.7], atol=1e-12)


def test_three_pairs_of_a_known_slider_crank() -> None:
    phi = np.array([0.3, 1.1, 2.0])
    slide = 0.3 * np.cos(phi) + np.sqrt(0.8**2 - (0.1 - 0.3 * np.sin(phi)) ** 2)
    K = solved_for_three(SlideForm(), phi[None], slide[None])[0]
    np.testing.assert_allclose(K, [0.6, 2 * 0.3 * 0.1, 0.64 - 0.09 - 0.01], atol=1e-12)
    assert link_ratio(SlideForm(), K) == pytest.approx(0.8 / 0.3)


@sweep("points", [[1.1, 1.5, 1.9], [1.05, 1.3, 1.6, 1.95], [1.03, 1.2, 1.5, 1.8, 1.97]], now=1)
def test_precision_points_are_met_exactly(points: list[float]) -> None:
    found, facts, _ = generated("log10(x)", (1, 2), 60 * DEG, 60 * DEG, precision=points)
    assert facts["precision points"] == points
    best = found[0]
    x = np.array([1.0, *points])
    out = engine_output(best, 60 * DEG * (x - 1.0))
    wanted = 60 * DEG * np.log10(x) / np.log10(2.0)
    away = out - wanted  # equal at all precision points; the start may differ
    np.testing.assert_allclose(away[1:], away[1], atol=1e-9)
    assert np.abs(away - away[1]).max() <= best.error + 1e-9


@sweep(("turn", "published"), [(90.0, 0.0360), (60.0, 0.0336)], now=1)
def test_logarithm(turn: float, published: float) -> None:
    found, _, notes = generated("log10(x)", (1, 2), turn * DEG, turn * DEG)
    best = found[0]
    u, v = wanted_log(241)
    out = engine_output(best, turn * DEG * u)
    away = out - turn * DEG * v
    away -= 0.5 * (away.max() + away.min())
    assert np.abs(away).max() / DEG < published and notes == ()
    assert best.error == pytest.approx(np.abs(away).max(), rel=2e-3) and best.measures["link ratio"] < 10
    # Chebyshev: a best approximation with five parameters has its largest error at six places at least, with signs in turn.
    peaks = np.flatnonzero(np.abs(away) > 0.98 * np.abs(away).max())
    signs = np.sign(away[peaks])
    assert 1 + np.count_nonzero(np.diff(signs)) >= 6


@pytest.mark.slow
def test_least_squares_through_many_points() -> None:
    x = np.linspace(1, 2, 15)
    found, _, _ = generated("log10(x)", (1, 2), 60 * DEG, 60 * DEG, precision=x)
    u, v = wanted_log(15)
    away = engine_output(found[0], 60 * DEG * u) - 60 * DEG * v
    rms = float(np.std(away))
    minimax, _, _ = generated("log10(x)", (1, 2), 60 * DEG, 60 * DEG)
    other = engine_output(minimax[0], 60 * DEG * u) - 60 * DEG * v
    assert rms <= float(np.sqrt(np.mean((other - 0.5 * (other.max() + other.min())) ** 2)))  # better in its own norm


def test_slider_crank_generates_a_parabola() -> None:
    found, _, _ = generated("x^2", (0, 1), 90 * DEG, 0.1, output="slide")
    best = found[0]
    u = np.linspace(0.0, 1.0, 61)
    away = engine_output(best, 90 * DEG * u) - 0.1 * u**2
    assert best.linkage.kind == "slider-crank" and best.error < 5e-5
    assert np.abs(away - 0.5 * (away.max() + away.min())).max() == pytest.approx(best.error, rel=1e-2)


@pytest.mark.slow
def test_text_callable_and_samples_agree() -> None:
    x = np.linspace(1, 2, 41)
    given: list[Any] = [("log10(x)", (1, 2)), (np.log10, (1, 2)), ((x, np.log10(x)), None)]
    text, function, samples = (generated(*pair, 60 * DEG, 60 * DEG)[0][0].error for pair in given)
    assert function == pytest.approx(text, rel=1e-6) and samples == pytest.approx(text, rel=0.02)  # a spline through 41 samples


def test_start_angles_that_are_given_are_used() -> None:
    found, _, _ = generated("sin(x)", (0, 1.2), (20 * DEG, 110 * DEG), 60 * DEG)
    for s in found:
        crank = s.linkage.pins["B"] - s.linkage.pins["A"]
        assert min(abs(np.angle(crank / np.exp(20j * DEG))), abs(np.angle(-crank / np.exp(20j * DEG)))) < 1e-9
    assert found


def test_bounds_are_met() -> None:
    found, _, _ = generated("log10(x)", (1, 2), 60 * DEG, 60 * DEG, least_transmission=40 * DEG, most_ratio=3.0)
    assert found
    for s in found:
        assert s.measures["least transmission angle"] >= 40 * DEG - 1e-5 and s.measures["link ratio"] <= 3.0 + 1e-5
        lengths = [s.linkage.length(*ends) for ends in ("AB", "BC", "CD", "AD")]
        assert max(lengths) / min(lengths) == pytest.approx(s.measures["link ratio"], rel=1e-9)


def test_linear_functions_of_equal_ranges_are_parallelograms() -> None:
    found, _, _ = generated("x", (0, 1), 60 * DEG, 60 * DEG)
    best = found[0].linkage
    assert found[0].error < 1e-9
    assert best.length("A", "B") == pytest.approx(best.length("C", "D")) and best.length("B", "C") == pytest.approx(best.length("A", "D"))


@pytest.mark.slow
def test_a_full_turn_is_a_demand() -> None:
    found, _, _ = generated("log10(x)", (1, 2), 60 * DEG, 60 * DEG, full_turn=True)
    for s in found:
        assert s.usable == bool(lw.load(s.document).cycle().full_turn)


@pytest.mark.parametrize("form", [AngleForm(), SlideForm()])
def test_derivatives_of_the_error(form: Any) -> None:
    u, v = wanted_log(7)
    z = np.array([2.1, 1.3, 1.2, 0.7, 0.4]) if not form.slides else np.array([0.9, 0.2, 1.5, 0.7, 0.4])
    task = GeneratorTask(form, u, v, u, v, (None, None), 10.0, 0.0)

    def error(z: np.ndarray) -> np.ndarray:
        return task.error_at(Generator(z, 1.0), u, v)

    differences = np.stack([(error(z + h) - error(z - h)) / 2e-6 for h in 1e-6 * np.eye(5)], axis=1)
    np.testing.assert_allclose(task.jacobian(Generator(z, 1.0), u, v), differences, atol=1e-8)
    slope = np.stack([(form.squares(z[:3] + h) - form.squares(z[:3] - h)) / 2e-6 for h in 1e-6 * np.eye(3)], axis=1)
    np.testing.assert_allclose(form.squares_slope(z[:3]), slope, atol=1e-8)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"function": "y + 1"}, "depend on x"),
        ({"function": "log10(x)", "x_range": (-1, 1)}, "no real value"),
        ({"function": "3"}, "depend on x"),
        ({"function": lambda x: 0 * x}, "constant"),
        ({"function": lambda x: float("nan")}, "finite number"),
        ({"function": [[1, 2], [3, 4]]}, "at least four"),
        ({"input_range": 0}, "zero"),
        ({"input_range": "a"}, "travel"),
        ({"precision": [1, 1, 1]}, "three different"),
        ({"precision": "best"}, "chebyshev"),
        ({"output": "force"}, "'angle' or 'slide'"),
        ({"most_ratio": 0.5}, "above 1"),
        ({"x_range": None}, "x_range"),
    ],
)
def test_bad_input(changes: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"function": "log10(x)", "x_range": (1, 2), "input_range": 1.0, "output_range": 1.0, **changes}
    with pytest.raises(LinkwrightError, match=said):
        generated(**given)


def test_nothing_found_is_said() -> None:
    found, _, notes = generated("sin(20*x)", (0, 1), 60 * DEG, 60 * DEG, most_ratio=1.001)
    assert found == [] and "most_ratio" in notes[0]
