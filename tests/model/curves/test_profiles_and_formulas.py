"""Motion laws: end conditions, derivatives by complex step, programmes of moves and dwells."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.model.curves.formula import Formula, need_smooth
from linkwright.model.curves.profiles import RISES, Programme
from linkwright.model.expressions import variable

STEP = 1e-30


@pytest.mark.parametrize("name", RISES)
def test_rises_go_from_rest_to_rest(name):
    rise = RISES[name]
    np.testing.assert_allclose(rise(0.0)[:2], (0.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(rise(1.0)[:2], (1.0, 0.0), atol=1e-13)
    np.testing.assert_allclose(rise(0.5)[0], 0.5, atol=1e-13)  # all are symmetric
    for x in np.linspace(0.03, 0.97, 23):
        s, ds, dds = rise(x + 1j * STEP)
        assert np.imag(s) / STEP == pytest.approx(np.real(ds), abs=1e-12)
        assert np.imag(ds) / STEP == pytest.approx(np.real(dds), abs=1e-12)


@pytest.mark.parametrize(("name", "peak"), [("cycloidal", 2 * np.pi), ("345", 5.7735), ("modified_sine", 5.5280), ("trapezoidal", 4.5)])
def test_peak_accelerations_are_the_known_ones(name, peak):
    x = np.linspace(0, 1, 20001)
    assert max(abs(RISES[name](float(t))[2]) for t in x[::4]) == pytest.approx(peak, rel=1e-4)


def test_moves_and_dwells_follow_each_other():
    law = Programme(1.0, ((0.4, 2.0, "cycloidal"), (0.2, 2.0, "cycloidal"), (0.5, -1.0, "345")))
    assert law.duration == pytest.approx(1.1)
    assert law(-1.0)[0] == 1.0 and law(0.4)[0] == pytest.approx(2.0) and law(0.5) == pytest.approx((2.0, 0.0, 0.0))
    assert law(0.85)[0] == pytest.approx(0.5) and law(1.1)[0] == pytest.approx(-1.0) and law(9.0) == pytest.approx((-1.0, 0.0, 0.0))


def test_expressions_are_differentiated_by_rule():
    t = variable("t")
    f = (1.0 + t * t).sqrt() * (3.0 * t).sin() / (2.0 + t.cos()) + (0.1 * t).exp() - t**3
    law = Formula(f, "f")
    for x in (0.0, 0.4, 1.7):
        value, first, second = law(x + 1j * STEP)
        assert np.imag(value) / STEP == pytest.approx(np.real(first), abs=1e-12)
        assert np.imag(first) / STEP == pytest.approx(np.real(second), abs=1e-12)
    with pytest.raises(UsageError, match="corner"):
        need_smooth(1.0 + abs(t))
