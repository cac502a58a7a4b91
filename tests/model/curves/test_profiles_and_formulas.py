"""Motion laws: end conditions, derivatives by complex step, programs of moves and dwells."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.errors import UsageError
from linkwright.model.curves.formula import Formula, need_smooth
from linkwright.model.curves.laws import LAWS, law_factors
from linkwright.model.curves.profiles import Program, repeated
from linkwright.model.curves.third_derivatives import third_derivatives
from linkwright.text.expressions import variable
from tests.refusals import refused

STEP = 1e-30


@pytest.mark.parametrize("name", [law for law in LAWS if law != "straight"])
def test_rises_go_from_rest_to_rest(name):
    rise = LAWS[name]
    np.testing.assert_allclose(rise(0.0)[:2], (0.0, 0.0), atol=1e-14)
    np.testing.assert_allclose(rise(1.0)[:2], (1.0, 0.0), atol=1e-13)
    np.testing.assert_allclose(rise(0.5)[0], 0.5, atol=1e-13)  # all are symmetric
    for x in np.linspace(0.03, 0.97, 23):
        s, ds, dds = rise(x + 1j * STEP)
        assert np.imag(s) / STEP == pytest.approx(np.real(ds), abs=1e-12)
        assert np.imag(ds) / STEP == pytest.approx(np.real(dds), abs=1e-12)


# peak factors as handbooks of cam design list them, to their digits
HANDBOOK = {
    "cycloidal": (2.0, 6.283, 39.48),
    "345": (1.875, 5.774, 60.0),
    "4567": (2.1875, 7.513, 52.5),
    "modified_sine": (1.760, 5.528, 69.47),
    "modified_trapezoid": (2.0, 4.888, 61.43),
    "harmonic": (1.571, 4.935, np.inf),
    "trapezoidal": (1.5, 4.5, np.inf),
    "straight": (1.0, np.inf, np.inf),
}


@pytest.mark.parametrize("name", LAWS)
def test_peak_factors_are_those_of_the_handbooks(name):
    found = law_factors(name)
    np.testing.assert_allclose((found.velocity, found.acceleration, found.jerk), HANDBOOK[name], rtol=3e-4)  # half of the last digit
    assert found.over(-0.02, 0.5)[0] == pytest.approx(found.velocity * 0.04)


@pytest.mark.parametrize("name", ["modified_sine", "modified_trapezoid", "trapezoidal"])
def test_laws_of_several_parts_are_continuous_inside(name):
    """Value and speed at the seams of the parts; the acceleration too, apart from the trapezoid's speed with corners."""
    orders = 2 if name == "trapezoidal" else 3
    for x in (0.125, 1 / 3, 0.375, 0.5, 0.625, 2 / 3, 0.875):
        left, right = LAWS[name](x - 1e-12)[:orders], LAWS[name](x + 1e-12)[:orders]
        np.testing.assert_allclose(left, right, atol=2e-10)  # jerk below 70 over a gap of 2e-12


def test_joints_of_pieces_are_continuous():
    """A polynomial meets the speed of the straight piece beside it without acceleration; 4-5-6-7 without jerk as well."""
    law = repeated(
        Program(
            0.0,
            ((0.3, 0.2, "4567"), (0.4, 1.0, "straight"), (0.2, 1.1, "345"), (0.1, 1.1, "dwell"), (0.5, 0.0, "cycloidal")),
            0.2,
            repeats=True,
        )
    )
    assert law(0.7)[1:] == pytest.approx((2.0, 0.0))
    for x in law.breaks:
        for near in (x, x + 1.5):
            np.testing.assert_allclose(law(near - 1e-12), law(near + 1e-12), atol=1e-8)  # jerk below 2e3 over a gap of 2e-12
    jerk = third_derivatives(law, np.array([0.5 - 1e-9, 0.5 + 1e-9, 0.9 + 1e-9]))[:, 0]
    assert abs(jerk[:2]).max() < 1e-4 and abs(jerk[2]) > 1.0
    assert law.gain == 0.0 and law(5.2)[0] == pytest.approx(law(0.7)[0])
    index = repeated(Program(0.0, ((0.5, 1.0, "modified_sine"), (0.5, 1.0, "dwell")), repeats=True))
    assert index(3.75)[0] == pytest.approx(4.0) and index(-0.25)[0] == pytest.approx(0.0)


def test_moves_and_dwells_follow_each_other():
    law = Program(1.0, ((0.4, 2.0, "cycloidal"), (0.2, 2.0, "cycloidal"), (0.5, -1.0, "345")))
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
    with refused(UsageError, name="abs"):
        need_smooth(1.0 + abs(t))
