"""Places in text: numbers with blanks between them, places with commas, units and expressions as everywhere."""

from __future__ import annotations

import pytest

from linkwright.errors import UsageError
from linkwright.text.phrases import Phrase, amounts, places


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("60 240, 140 220", [["60", "240"], ["140", "220"]]),
        ("60 mm 240mm, 14 cm -22 cm", [["60 mm", "240 mm"], ["14 cm", "-22 cm"]]),
        ("2*30 mm +5 mm", [["60 mm", "5 mm"]]),
        ("1e2 .5 (1+2)*3", [["100", "0.5", "9"]]),
        ("30 deg, 90 deg", [["30 deg"], ["90 deg"]]),
    ],
)
def test_places_are_read(text: str, found: list[list[str]]) -> None:
    assert [[str(x) for x in place] for place in places(text)] == found


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("0 0, 10 x", 9, "'x' is not a unit"),
        ("0 0,, 1 1", 5, "a number is missing here"),
        ("1 2, 3 kgg", 8, "kgg"),
        ("a b", 1, "neither a number nor a unit"),
    ],
)
def test_errors_name_the_column(text: str, column: int, why: str) -> None:
    with pytest.raises(UsageError) as problem:
        places(text)
    assert f"column {column}: " in str(problem.value) and why in str(problem.value)


def test_a_slice_of_a_text_has_its_numbers() -> None:
    whole = Phrase.of("path 10 mm 20 mm")
    assert [x.si for x in amounts(whole.part(5))] == [0.01, 0.02]
