"""`min:` and `max:` of parameters, and parameters that a file writes without units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.model import file as modelfile
from linkwright.rings.studio.live import sliders
from tests.refusals import refused
from tests.rings.design.studies.models import SLIDER

BOUNDED: dict[str, Any] = {**SLIDER, "parameters": {"r": {"value": "50 mm", "min": "40 mm", "max": "60 mm"}, "l": "200 mm"}}
BARE: dict[str, Any] = {
    **SLIDER,
    "units": ["mm", "kg"],
    "gravity": [0, "-9.81 m/s^2"],
    "parameters": {"r": 50, "l": "200 mm"},
    "drawing": {"A": [0, 0], "B": [50, 0], "C": [250, 0]},
}


def test_bounds_are_read_written_and_shown_by_sliders() -> None:
    m = lw.load(BOUNDED)
    assert m.description.bounds == (("r", 0.04, 0.06),)
    assert modelfile.read_text(modelfile.write(m.description)).bounds == m.description.bounds
    assert lw.load(BOUNDED, r="45 mm").cycle()["slide"].size and np.isclose(np.ptp(m.cycle()["slide"]), 0.1)
    found = {s["name"]: s for s in sliders.sliders(m.system)}
    assert (found["r"]["low"], found["r"]["high"]) == (0.04, 0.06) and found["r"]["yaml"] == ["parameters", "r", "value"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"value": "50 mm", "min": "55 mm"}, "outside its bounds"),
        ({"value": "50 mm", "min": "1 kg"}, "must be length"),
        ({"value": "50 mm", "min": "60 mm", "max": "40 mm"}, "min must be below max"),
        ({"min": "1 mm"}, "lacks 'value'"),
        ({"value": "50 mm", "most": "60 mm"}, "most"),
    ],
)
def test_wrong_bounds_are_named_with_their_place(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(LinkwrightError, match=words) as said:
        lw.load({**SLIDER, "parameters": {"r": entry, "l": "200 mm"}})
    assert "parameters.r" in str(said.value)


def test_bounds_hold_for_changes_and_studies() -> None:
    m = lw.load(BOUNDED)
    with refused(LinkwrightError, name="r"):
        m.with_(r="70 mm")
    with refused(LinkwrightError, name="r"):
        lw.study(m, {"r": "45..65 mm / 3"}, "range slide")
    s = lw.study(m, {"r": "normal(50 mm, 10 mm)"}, "range slide", plan="sobol", count=32)
    inside = (s["r"] >= 0.04) & (s["r"] <= 0.06)
    assert 5 < inside.sum() < 32 and (s.ok == inside).all() and "outside the bounds" in next(iter(s.why.values()))
    np.testing.assert_allclose(s["range slide"][inside], 2 * s["r"][inside], rtol=1e-12)


def test_a_number_without_a_unit_is_one_in_the_units_of_the_file(tmp_path) -> None:
    m = lw.load(BARE)
    for given in ("45..55 mm / 3", "4.5..5.5 cm / 3", "45..55 / 3", [45.0, 50.0, "55 mm"]):
        s = lw.study(m, {"r": given}, "range slide")
        np.testing.assert_allclose(s["r"], [45, 50, 55], rtol=1e-12)
        np.testing.assert_allclose(s["range slide"], [0.09, 0.1, 0.11], rtol=1e-9)
    with refused(LinkwrightError, name="vary"):
        lw.study(m, {"r": "45..55 kg / 3"}, "range slide")
    lw.study(m, {"r": "45..55 mm / 3"}, "range slide", folder=tmp_path / "s")
    again = lw.load_result(tmp_path / "s")
    assert np.isclose(np.ptp(again.result(2)["slide"]), 0.11) and again.values(2) == {"r": 55.0}
