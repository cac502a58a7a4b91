"""Inertia tensors of the model file: symmetric, with principal moments that a body can have."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.errors import ModelError
from linkwright.model.file import read
from linkwright.model.file.inertia import is_positive, why_impossible
from linkwright.text.units import UnitSystem
from tests.refusals import refused

SIZES = [1e-7, 1.0, 1e5]  # kg m^2: a watch, a machine, a bridge


def said(tensor: np.ndarray) -> tuple[bool, str]:
    return is_positive(tensor.tolist()), why_impossible(tensor.tolist(), False, UnitSystem([]))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("i", "j"), [(1, 0), (2, 0), (2, 1), (0, 1), (0, 2), (1, 2)])
def test_an_inertia_is_symmetric_in_every_pair(i: int, j: int, size: float) -> None:
    tensor = size * np.diag([2.0, 3.0, 4.0])
    assert said(tensor) == (True, "")
    tensor[i, j] = 0.1 * size
    assert said(tensor) == (False, "its inertia matrix is not symmetric")
    tensor[j, i] = 0.1 * size
    assert said(tensor) == (True, "")
    tensor[i, j] = tensor[j, i] = 5.0 * size  # determinant of the pair is negative
    assert said(tensor)[0] is False and "is negative" in said(tensor)[1]


@pytest.mark.parametrize("size", SIZES)
def test_round_off_is_allowed_and_no_more(size: float) -> None:
    """A flat plate from CAD has a moment of zero with errors of the last digits: 1e-9 of the largest."""
    assert said(size * np.array([[1.0, 1e-10, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1e-10]])) == (True, "")
    assert "is negative" in said(size * np.diag([1.0, 1.0, -1e-8]))[1] and not said(size * np.diag([1.0, 1.0, -1e-8]))[0]
    assert said(size * np.array([[1.0, 1e-8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])) == (False, "its inertia matrix is not symmetric")


@pytest.mark.parametrize("size", SIZES)
def test_no_body_has_a_moment_above_the_sum_of_the_others(size: float) -> None:
    assert said(size * np.diag([1.0, 2.0, 3.0])) == (True, "")  # flat
    positive, why = said(size * np.diag([1.0, 2.0, 3.001]))
    assert positive and "the largest exceeds the sum of the other two" in why


def test_coordinates_of_a_body_without_points_that_is_moved_by_a_guess_are_refused() -> None:
    """They could be in the drawing's axes or in the body's; with `points: {}` they are its own, as with any point."""
    frame = {"at": [0, 0, 0], "rpy": ["90 deg", 0, 0]}
    body = {"mass": 1.0, "com": [0.3, 0.1, 0.0], "inertia": [0.1, 0.1, 0.1]}

    def model(**more: object) -> dict[str, object]:
        joint = {"type": "revolute", "between": ["ground", "a"], "frames": [frame, frame]}
        guess = {"a": {"at": [0, 0, 0], "rpy": [0, "40 deg", 0]}}
        return {"bodies": {"ground": {}, "a": {**body, **more}}, "joints": {"J": joint}, "guess": guess}

    with refused(ModelError, name="a"):
        read(model())
    own, marked = (read(model(points=x)).body("a").com for x in ({}, {"P": [0, 0, 0]}))
    assert own == marked == (0.3, 0.1, 0.0)
    still = read({**model(), "guess": {}}).body("a").com  # not moved: both readings are one
    assert still == (0.3, 0.1, 0.0)
