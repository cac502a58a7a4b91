"""Cognates: the same coupler curve in the engine, and what the theorem says of their pivots and speeds."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.rings.synthesis.defects import defects
from linkwright.rings.synthesis.linkage import Linkage, four_bar, slider_crank
from linkwright.rings.synthesis.motion_tracing import crank_linkage
from linkwright.rings.synthesis.paths import cognates
from tests.rings.synthesis.path_cases import engine_path

CRANK_ROCKER = four_bar(0j, 0.02 + 0.02j, 0.09 + 0.06j, 0.1 + 0j, 0.05 + 0.08j)


def test_a_crank_rocker_has_another_crank_with_the_same_timing() -> None:
    found = cognates(CRANK_ROCKER)
    assert len(found) == 2
    (again,) = (x for x in found if crank_linkage(x).circuits()[0].full)
    # the two cranks turn at one speed, so the points of the curves agree sample by sample; assembly is good to 1e-12
    own, other = engine_path(CRANK_ROCKER.document()), engine_path(again.document())
    assert np.abs(own - other).max() < 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_cognates_trace_the_same_circuit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    linkage = four_bar(*(complex(*z) for z in rng.standard_normal((5, 2))))
    traced = crank_linkage(linkage)
    points = traced.path(*traced.circuits()[0].at(np.arange(1, 12, 2) * 0.5))
    found = cognates(linkage)
    assert len(found) == 2
    for other in found:
        assert other.pins["P"] == linkage.pins["P"]
        # nearest points of the cognate's own circuit, found by golden section to 1e-8 of a step
        assert defects(other, points, full_turn=False, ordered=False).distance.max() < 1e-7


def test_the_fixed_pivots_form_the_coupler_triangle() -> None:
    at = CRANK_ROCKER.pins
    pivots = {complex(round(x.pins[n].real, 12), round(x.pins[n].imag, 12)) for x in cognates(CRANK_ROCKER) for n in "AD"}
    third = [z for z in pivots if min(abs(z - at["A"]), abs(z - at["D"])) > 1e-9]
    assert len(pivots) == 3 and len(third) == 1
    assert (third[0] - at["A"]) / (at["D"] - at["A"]) == pytest.approx((at["P"] - at["B"]) / (at["C"] - at["B"]))


def test_cognates_of_a_cognate_are_the_same_three_linkages() -> None:
    def key(x: Linkage) -> tuple[complex, ...]:
        return tuple(sorted((np.round(z, 9) for n, z in x.pins.items() if n != "P"), key=lambda z: (z.real, z.imag)))

    family = {key(x) for x in (CRANK_ROCKER, *cognates(CRANK_ROCKER))}
    assert len(family) == 3
    for x in cognates(CRANK_ROCKER):
        assert {key(y) for y in (x, *cognates(x))} == family


def test_a_slider_crank_has_one_cognate_which_is_a_slider_crank() -> None:
    linkage = slider_crank(0j, 0.03j, 0.1 + 0.01j, 1.0 + 0j, 0.05 + 0.04j)
    (other,) = cognates(linkage)
    assert other.kind == "slider-crank" and other.guides["guide"].direction != linkage.guides["guide"].direction
    points = engine_path(linkage.document(), steps=24)
    report = defects(other, points, full_turn=False, ordered=False, tolerance=1e-9)
    assert report.distance.max() < 1e-9
    # what was the coupler is now the link on the ground, and does not turn fully
    assert not crank_linkage(other).circuits()[0].full
    assert crank_linkage(other).lengths["crank"] == pytest.approx(abs(linkage.pins["P"] - linkage.pins["B"]))


def test_a_point_on_a_pin_has_no_cognate_with_links_of_length_zero() -> None:
    on_pin = four_bar(0j, 0.02 + 0.02j, 0.09 + 0.06j, 0.1 + 0j, 0.02 + 0.02j)
    assert all(min(crank_linkage(x).lengths.values()) > 1e-6 for x in cognates(on_pin))
    assert cognates(four_bar(0j, 0.02 + 0.02j, 0.09 + 0.06j, 0.1 + 0j)) == ()
