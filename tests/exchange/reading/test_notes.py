"""Sentences about elements that an import leaves out."""

from __future__ import annotations

import pytest

from linkwright.exchange.reading.notes import ImportNotes


@pytest.mark.parametrize(
    ("kind", "one", "three"),
    [
        ("Gazebo plugin", "1 Gazebo plugin", "3 Gazebo plugins"),
        ("shape without a size", "1 shape without a size", "3 shapes without a size"),
        ("shape of a link with very many", "1 shape of a link with very many", "3 shapes of a link with very many"),
        ("collision mesh", "1 collision mesh", "3 collision meshes"),
    ],
)
def test_losses_are_counted_in_words_of_the_language(kind: str, one: str, three: str) -> None:
    notes = ImportNotes("r.urdf", "URDF")
    notes.drop(kind)
    assert notes.report().dropped == (one,)
    notes.drop(kind)
    notes.drop(kind)
    notes.speed_limits = {"A": 1.0, "B": 2.0}
    assert notes.report().dropped == (three, "velocity limits of 2 joints, listed in m.imported.speed_limits")
