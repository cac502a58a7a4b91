"""Ranges, tolerances and distributions: what is read, quantiles against scipy.stats, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from linkwright.errors import UsageError
from linkwright.rings.design.studies.variations import variation
from linkwright.text.ranges_and_tolerances import unit_written
from linkwright.text.units import KINDS
from tests.refusals import refused

U = np.linspace(0.001, 0.999, 501)


def test_values_of_ranges_and_lists_are_in_si() -> None:
    v = variation("rod", "180..260 mm / 5", KINDS["length"])
    np.testing.assert_allclose(v.values, [0.18, 0.2, 0.22, 0.24, 0.26], rtol=1e-15)
    v = variation("rod", ["180 mm", 0.2, "22 cm"], KINDS["length"])
    np.testing.assert_allclose(v.values, [0.18, 0.2, 0.22], rtol=1e-15)
    assert set(v.at(U)) == {0.18, 0.2, 0.22}
    assert variation("k", "1..2 N/m / 4", None).values.tolist() == np.linspace(1.0, 2.0, 4).tolist()
    assert unit_written("180..260 mm / 5") == unit_written("200 +- 0.1 mm") == unit_written("normal(200 mm, 1 mm)") == "mm"


def test_a_tolerance_about_the_number_of_the_file() -> None:
    v = variation("rod", "+- 0.3 mm", KINDS["length"], nominal=0.2)
    np.testing.assert_array_equal(v.at(U), variation("rod", "200 +- 0.3 mm", KINDS["length"]).at(U))
    assert v.as_text() == "0.2 +- 0.0003" and unit_written("+- 0.3 mm") == "mm"
    assert variation("k", "+- 5 %", None, nominal=-2.0).low == -2.1
    for text, said in (("+- 5 %", "present value is zero"), ("+- 0 mm", "must be positive"), ("+- 1 kg", "must be length")):
        with pytest.raises(UsageError, match=said):
            variation("rod", text, KINDS["length"], nominal=0.0)
    with refused(UsageError, name="rod"):
        variation("rod", "+- 0.3 mm", KINDS["length"])


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("normal(200 mm, 0.1 mm)", stats.norm(0.2, 1e-4)),
        ("uniform(1, 3)", stats.uniform(1, 2)),
        ("triangular(1, 1.5, 3)", stats.triang(0.25, 1, 2)),
        ("triangular(1, 1, 3)", stats.triang(0.0, 1, 2)),
        ("lognormal(2, 1.5)", stats.lognorm(np.log(1.5), scale=2)),
        ("200 +- 0.3 mm", stats.truncnorm(-3, 3, 0.2, 1e-4)),
    ],
)
def test_quantiles_are_those_of_scipy(text, law) -> None:
    v = variation("x", text, None)
    np.testing.assert_allclose(v.at(U), law.ppf(U), rtol=1e-12)  # both from the same special functions
    np.testing.assert_array_equal(variation("x", law, None).at(U), law.ppf(U))
    assert (v.at(np.array([0.0, 1.0])) >= v.low).all() and (v.at(np.array([0.0, 1.0])) <= v.high).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("3..2 mm", "is empty"),
        ("1..2 kg", "must be length"),
        ("1..2 mmm", "'mmm' is not a unit"),
        ("1..2 / 1", "1 value of a range"),
        ("2 +- 0", "must be positive"),
        ("gauss(1, 2)", "Known: normal"),
        ("normal(1)", "takes mean, deviation"),
        ("normal(1, -2)", "must be positive"),
        ("triangular(1, 5, 3)", "low <= mode <= high"),
        ("lognormal(-1, 2)", "positive median"),
        ("some words", "is not a range"),
        ([], "empty list"),
        ([1.0, float("nan")], "not a finite number"),
        ([object()], "not a number"),
        ({"a": 1}, "a dict is not a range"),
    ],
)
def test_what_is_no_range_is_refused_by_name(given, words) -> None:
    with pytest.raises(UsageError, match=words) as told:
        variation("rod", given, KINDS["length"])
    assert str(told.value).startswith("rod")


@pytest.mark.parametrize("text", ["180..260 mm / 7", "200 +- 0.1 mm", "normal(200 mm, 3 mm)", "triangular(1, 1.3, 2)", "lognormal(2, 1.7)"])
def test_numbers_without_units_are_read_as_the_same_again(text: str) -> None:
    v = variation("x", text, None)
    again = variation("x", v.as_text(), None)
    assert type(again) is type(v) and (again.at(U) == v.at(U)).all() and (again.low, again.high) == (v.low, v.high)
    assert v.values is None or (again.values == v.values).all()
