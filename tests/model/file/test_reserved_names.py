"""An element called `t` would be read as the time: by its event, its channels and expressions."""

from __future__ import annotations

import pytest

from linkwright import elements
from linkwright.errors import ModelError
from linkwright.model.file import read_text
from tests.elements.good_entries import BASES, GOOD, NAMELESS, helpers
from tests.refusals import refused

NAMED = {x.section: x for x in sorted(GOOD, key=lambda x: x.base == "plane") if x.name == NAMELESS}  # others are called like their joints


@pytest.mark.parametrize("section", NAMED)
def test_no_element_is_called_like_the_time(section: str) -> None:
    entry = NAMED[section]
    pairs = ", ".join(f"{key}: {value}" for key, value in entry.pairs)
    others = "".join(f"{key}: {text}\n" for key, text in helpers(entry.base, section).items())
    text = f"{BASES[entry.base]}{others}{section}:\n  %s: {{{pairs}}}\n"
    assert read_text(text % "u").name == "m"
    with refused(ModelError, name="t", line=text.count("\n")):
        read_text(text % "t")


def test_every_section_with_names_of_its_own_is_asked() -> None:
    assert set(NAMED) == {*elements.SECTIONS}


def test_no_pin_with_a_hinge_is_called_like_the_time() -> None:
    text = "plane: xy\ndrawing: {t: [0, 0], B: [1, 0]}\nbodies:\n  ground: {pins: [t]}\n  bar: {pins: [t], points: [B], mass: 1}\n"
    with refused(ModelError, name="t", line=5):
        read_text(text)
