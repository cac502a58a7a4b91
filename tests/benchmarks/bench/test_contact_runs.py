"""What contact costs: the runs are those that are meant, and every one is timed."""

from __future__ import annotations

import pytest

from benchmarks.bench.contact_runs import CONTACT, contact_rows, gripper, leg


@pytest.mark.slow
def test_contact_is_timed_against_the_run_without() -> None:
    rows = contact_rows(repeats=1, share=0.1)
    assert [(r.mechanism, r.quantity) for r in rows] == [(name, CONTACT) for name in ("leg", "leg", "gripper", "gripper")]
    assert all(r.ns and r.ns > 0.0 for r in rows) and rows[1].note.endswith("times the run without contact")


@pytest.mark.slow
def test_the_leg_lands_and_the_gripper_holds_its_part() -> None:
    landed, falls = leg(True, 0.2), leg(False, 0.2)
    assert landed.events >= 1 and not falls.events
    assert gripper(True, 0.2).go()["free.y"][-1] > -0.2  # without friction it falls by 0.2 m in that time
