"""Sentences of an import: the same of several joints is said once."""

from __future__ import annotations

from linkwright.exchange.reading.notes import ImportNotes


def test_the_same_of_several_joints_is_one_sentence() -> None:
    notes = ImportNotes("robot.urdf", "URDF")
    notes.infer("the root is the ground")
    notes.infer_of_joint("A", "equal limits (0) are none")
    notes.infer_of_joint("B", "universal, as the YAML file says")
    for name in "CDEFGHIJKLMNO":
        notes.infer_of_joint(name, "equal limits (0) are none")
    notes.infer("the root is the ground")
    assert notes.report().inferred == (
        "the root is the ground",
        "joints A, C, D, E, F, G, H, I, J, K, L, M, ... (14 in all): equal limits (0) are none",
        "joint 'B': universal, as the YAML file says",
    )
