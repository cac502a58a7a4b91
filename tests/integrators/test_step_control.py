"""The next step after an accepted or a rejected one, by the formulas of Gustafsson as Hairer and Wanner print them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkwright.integrators import memory_layout
from linkwright.integrators.step_size import accepted, rejected

SAFETY, POWER, GROW, SHRINK = 0.9, 0.2, 10.0, 0.1


def planned() -> tuple[Any, np.ndarray, np.ndarray]:
    indices = [v for k, v in vars(memory_layout).items() if k.isupper() and isinstance(v, int)]
    floats, counts = np.zeros(max(indices) + 1), np.zeros(max(indices) + 1, dtype=int)
    floats[[memory_layout.SAFETY, memory_layout.EXPONENT, memory_layout.GROW, memory_layout.SHRINK]] = SAFETY, POWER, GROW, SHRINK
    return SimpleNamespace(n_error=1, n_watched=0, n_events=0), floats, counts


def take(plan: Any, floats: np.ndarray, counts: np.ndarray, error: float, used: float) -> float:
    """The step after one of this length and error."""
    floats[memory_layout.USED] = floats[memory_layout.STEP] = used
    accepted(plan, floats, counts, error)
    return float(floats[memory_layout.STEP])


@pytest.mark.parametrize("first", [0.5, 0.3, 0.02, 0.004])
def test_a_growing_error_is_expected_to_grow_on(first: float) -> None:
    """h_new = 0.9 h err^-k min(1, h / h_old (err_old / err)^k) with err_old at least 0.01 [Hairer1996, IV.8, (8.25)]."""
    plan, floats, counts = planned()
    assert take(plan, floats, counts, first, 0.1) == pytest.approx(0.1 * min(GROW, SAFETY * first**-POWER), rel=1e-14)
    second = 0.6
    remembered = max(first, 0.01)
    predicted = SAFETY * second**-POWER * min(1.0, 0.1 / 0.1 * (remembered / second) ** POWER)
    assert take(plan, floats, counts, second, 0.1) == pytest.approx(0.1 * max(SHRINK, predicted), rel=1e-14)


def test_no_step_grows_right_after_a_rejected_one() -> None:
    """The first step after a rejection holds its length however small its error is; the next may grow again."""
    plan, floats, counts = planned()
    floats[memory_layout.USED] = 0.1
    assert rejected(floats, counts, 0.25, 1) == memory_layout.REJECTED and floats[memory_layout.STEP] == pytest.approx(0.025)
    assert take(plan, floats, counts, 1e-6, 0.025) == 0.025
    assert take(plan, floats, counts, 1e-6, 0.025) > 0.05
