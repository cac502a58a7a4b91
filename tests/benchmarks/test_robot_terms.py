"""The benchmark of robot terms compares what it times: Pinocchio's reduced terms are ours, to round-off."""

from __future__ import annotations

import pytest

import linkwright as lw
from benchmarks import robot_terms


def test_both_give_the_same_terms_before_anything_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    s = lw.load(robot_terms.BIPED).system
    st = s.assemble(v={name: 0.1 for name in s.named_terms().by})
    ours, theirs, note = robot_terms.compared(s, st, ["pelvis", "foot1", "foot2"])
    assert note.startswith("18 of 36 velocities, 18 rows of loops")
    assert ours()[0][0].shape == theirs()[0].shape == (18, 18)
    monkeypatch.setattr(robot_terms, "AGREE", 0.0)
    with pytest.raises(SystemExit, match="differ"):
        robot_terms.compared(s, st, ["pelvis", "foot1", "foot2"])
