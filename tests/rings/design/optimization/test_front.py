"""Pareto fronts: their ends, their order, and that no design of them can be bettered."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.optimization.pareto_front import undominated
from tests.rings.design.optimization.models import SLIDER_CRANK

VARY = {"r": "30..60 mm", "rod": "120..250 mm", "slider.mass": "0.5..2 kg"}


def test_undominated_rows() -> None:
    rows = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [1.0, 1.0], [0.5, 3.0]])
    assert undominated(rows) == [0, 1, 3]


@pytest.fixture(scope="module")
def front() -> lw.ParetoFront:
    goals = ["max range guide", "min rms A.torque"]
    return lw.load(SLIDER_CRANK).optimize(goals, VARY, count=64, starts=2, points=6)


@pytest.mark.slow
def test_ends_are_the_optima_of_single_goals(front: lw.ParetoFront) -> None:
    m = lw.load(SLIDER_CRANK)
    longest = m.optimize("max range guide", VARY, count=64, starts=2)
    quietest = m.optimize("min rms A.torque", VARY, count=64, starts=2)
    # at an end its goal may be worse by 1e-6 for the sake of the others
    assert abs(front.values[:, 0].max() / longest.value - 1.0) < 2e-6
    assert abs(front.values[:, 1].min() / quietest.value - 1.0) < 2e-6


def test_one_goal_is_paid_for_with_the_other(front: lw.ParetoFront) -> None:
    assert len(front) >= 5
    stroke, torque = front.values.T
    order = np.argsort(stroke)
    assert (np.diff(torque[order]) > 0.0).all()
    # the stroke of an in-line slider-crank is twice its crank
    assert np.allclose(stroke, [2.0 * d.numbers["r"] for d in front], rtol=1e-9)
    assert all(d.kkt < 1e-4 for d in front)
    assert front.knee in list(front)


def test_a_front_is_a_table_and_a_picture(front: lw.ParetoFront, tmp_path: object) -> None:
    text = str(front)
    assert "knee" in text and "max range guide" in text
    assert front.as_dict()["goals"] == ["max range guide", "min rms A.torque"]
    figure = front.plot()
    assert len(figure.axes) == 1
