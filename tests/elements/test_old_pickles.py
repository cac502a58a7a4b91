"""Pickles of an earlier version are read, and are the models that their texts say."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.api import compiled_of
from linkwright.kernels.kernels import tree_numbers
from linkwright.model.numbers import DesignNumbers
from tests.elements import old_pickles
from tests.elements.canonical import exact, text


@pytest.mark.parametrize("name", old_pickles.NAMES)
def test_a_description_is_the_one_of_its_text(name):
    found, now = old_pickles.stored(name, "description"), old_pickles.fresh(name)
    assert text(found, exact) == text(now, exact)
    assert found == now
    assert text(found.numbers(), exact) == text(now.numbers(), exact)
    assert [x.where for x in found.springs] == [x.where for x in now.springs]


@pytest.mark.parametrize("name", old_pickles.NAMES)
def test_a_mechanism_has_the_same_code_and_can_be_changed(name):
    found, now = old_pickles.stored(name, "mechanism"), old_pickles.fresh(name)
    system = found.system
    old = DesignNumbers.of(system.description, tree_numbers(compiled_of(system).loops))
    new = DesignNumbers.of(now.numbers(), tree_numbers(compiled_of(system).loops))
    assert old.structure == new.structure
    assert np.array_equal(old.values, new.values)
    assert found.with_(gravity=0).description.gravity == (0.0, 0.0, 0.0)
    assert found.description.document.text == old_pickles.text(name)
