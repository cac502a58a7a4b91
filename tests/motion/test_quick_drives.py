"""Drives that turn many times while the leading one turns once."""

from __future__ import annotations

import yaml

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.model import library as models
from linkwright.motion.cycle import COARSE_SAMPLES
from tests.refusals import refused


def five_bar(ratio: float) -> lw.Mechanism:
    model = yaml.safe_load(models.path("five-bar").read_text(encoding="utf-8"))
    return lw.load({**model, "drive": {"A": "30 rpm", "E": f"{30 * ratio:g} rpm"}})


def test_a_cycle_says_how_many_samples_a_turn_of_the_quicker_drive_has() -> None:
    m = five_bar(10)
    (note,) = m.cycle(steps=360).notes
    assert note.startswith("drive 'E' turns 10 times in this cycle, 36 samples per cycle")
    assert m.cycle(steps=10 * COARSE_SAMPLES).notes == () and five_bar(2).cycle().notes == ()
    assert m.cycle(drive="E", steps=90).notes == (), "A is held, E turns once"


def test_a_drive_that_turns_thousands_of_times_is_refused_at_once() -> None:
    with refused(UsageError, name="E"):
        five_bar(2000).cycle()
