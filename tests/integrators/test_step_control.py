"""The next step after an accepted or a rejected one, by the formulas of Gustafsson as Hairer and Wanner print them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from linkwright.integrators.run_state import REJECTED
from linkwright.integrators.step import accepted, rejected

SAFETY, POWER, GROW, SHRINK = 0.9, 0.2, 10.0, 0.1


def planned() -> Any:
    """What step control needs of the record of a run."""
    table = SimpleNamespace(error=[0.0], safety=SAFETY, exponent=POWER, grow=GROW, shrink=SHRINK)
    tally = SimpleNamespace(steps=0, rejected=0, break_points=0)
    zero = dict.fromkeys(("grid", "off", "cut", "ticked", "held", "reason"), 0)
    times = dict.fromkeys(("step", "used", "used_before", "error_before"), 0.0)
    return SimpleNamespace(table=table, tally=tally, watched=SimpleNamespace(loose=[]), **zero, **times)


def take(s: Any, error: float, used: float) -> float:
    """The step after one of this length and error."""
    s.used = s.step = used
    accepted(s, error)
    return s.step


@pytest.mark.parametrize("first", [0.5, 0.3, 0.02, 0.004])
def test_a_growing_error_is_expected_to_grow_on(first: float) -> None:
    """h_new = 0.9 h err^-k min(1, h / h_old (err_old / err)^k) with err_old at least 0.01 [Hairer1996, IV.8, (8.25)]."""
    s = planned()
    assert take(s, first, 0.1) == pytest.approx(0.1 * min(GROW, SAFETY * first**-POWER), rel=1e-14)
    second = 0.6
    remembered = max(first, 0.01)
    predicted = SAFETY * second**-POWER * min(1.0, 0.1 / 0.1 * (remembered / second) ** POWER)
    assert take(s, second, 0.1) == pytest.approx(0.1 * max(SHRINK, predicted), rel=1e-14)


def test_no_step_grows_right_after_a_rejected_one() -> None:
    """The first step after a rejection holds its length however small its error is; the next may grow again."""
    s = planned()
    s.used = 0.1
    assert rejected(s, 0.25, 1) == REJECTED and s.step == pytest.approx(0.025)
    assert take(s, 1e-6, 0.025) == 0.025
    assert take(s, 1e-6, 0.025) > 0.05
