"""Sentences of an import: the same of several joints is said once; losses are counted."""

from __future__ import annotations

import pytest

from linkwright.rings.exchange.reading.notes import ImportNotes


def test_the_same_of_several_joints_is_one_sentence() -> None:
    notes = ImportNotes("robot.urdf", "URDF")
    notes.infer("the root is the ground")
    notes.infer_of_joint("A", "equal limits (0) are none")
    notes.infer_of_joint("B", "universal, as in the YAML file")
    for name in "CDEFGHIJKLMNO":
        notes.infer_of_joint(name, "equal limits (0) are none")
    notes.infer("the root is the ground")
    assert notes.report().inferred == (
        "the root is the ground",
        "joints A, C, D, E, F, G, H, I, J, K, L, M, ... (14 in all): equal limits (0) are none",
        "joint 'B': universal, as in the YAML file",
    )


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
