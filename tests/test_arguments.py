"""Kinds of arguments against annotations: values of numpy count as Python's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from linkwright.errors.arguments import spelled, unfit


def call(quantity: str = "", exact: bool = False, n: int = 1, size: float = 1.0, names: str | Sequence[str] = ()) -> None:
    """A function with annotations of each kind."""


@pytest.mark.parametrize(
    "given",
    [{"exact": True}, {"exact": np.True_}, {"exact": np.array([1.0]) > 0}, {"n": np.int64(3)}, {"size": np.float64(0.5)}, {"names": "A"}],
)
def test_values_that_fit(given: dict[str, Any]) -> None:
    one = {name: x[0] if name == "exact" and np.ndim(x) else x for name, x in given.items()}
    assert unfit(call, "call", one) == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"quantity": ["lift"]}, "call: quantity is a text, not a list with 'lift'."),
        ({"quantity": True}, "call: quantity is a text, not True."),
        ({"size": np.True_}, "call: size is a number, not True."),
        ({"n": False}, "call: n is a whole number, not False."),
        ({"exact": 1}, "call: exact is True or False, not 1."),
        ({"exact": np.float64(0.5)}, "call: exact is True or False, not 0.5."),
        ({"exact": "yes"}, "call: exact is True or False, not 'yes'."),
    ],
)
def test_values_that_do_not_fit(given: dict[str, Any], said: str) -> None:
    assert unfit(call, "call", given) == said


def test_values_as_text() -> None:
    values = [None, {}, (1, 2), 3, np.float64(np.nan), print, object()]
    assert [spelled(x) for x in values] == ["None", "a dict", "a tuple with 1", "3", "nan", "a function", "an object of class object"]
