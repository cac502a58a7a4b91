"""Every kind of curve: rates belong to values; numbers, arrays and traced values agree; corners are where a derivative jumps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwright.compiler.graph import TraceGraph
from linkwright.compiler.program import interpret
from linkwright.model.curves import Curve
from linkwright.model.curves.combined import ScaledCurve, Together
from linkwright.model.curves.differences import AdaptiveDifferences, Differences
from linkwright.model.curves.formula import Formula, Traced
from linkwright.model.curves.functions import JetFunction
from linkwright.model.curves.laws import LAWS
from linkwright.model.curves.polynomial import Constant, Line, Parabola, Polynomial
from linkwright.model.curves.profiles import MinimumJerkRise, Program, repeated, trapezoidal_rise
from linkwright.model.curves.sine import Sine
from linkwright.model.curves.tables import SampledSpline, clamped_spline, natural_spline, periodic_spline, polyline, table, through_motion
from linkwright.text.expressions import variable

T = np.array([0.0, 0.5, 0.9, 1.4, 2.0])
Y = np.array([0.2, 1.0, -0.3, 0.6, 0.2])
t = variable("t")

REST_TO_REST = [law for law in LAWS if law != "straight"]

EXACT: dict[str, Curve] = {
    "constant": Constant(0.3),
    "line": Line(0.1, -0.7),
    "parabola": Parabola(0.1, -0.7, 0.4, at=0.25),
    "polynomial": Polynomial((0.1, -0.7, 0.4, 0.3, -0.2)),
    "monotone": table(tuple(T), tuple(Y), straight=True),
    "periodic table": table(tuple(T), tuple(Y), "periodic"),
    "integral": natural_spline(T, Y).integral(),
    "integral of straight lines": polyline(T, Y).integral(),
    "integral of a period": periodic_spline(T, Y).integral(),
    "natural": natural_spline(T, Y),
    "clamped": clamped_spline(T, Y),
    "periodic": periodic_spline(T, Y),
    "motion": through_motion(T, np.array([0.0, 0.1, 0.3, 0.2, 0.2]), np.array([0.0, 0.5, 0.2, 0.1, 0.0]), np.zeros(5)),
    "program": Program(1.0, tuple((0.3, 1.0 - 0.4 * (i % 2), law) for i, law in enumerate(REST_TO_REST))),
    "straight between polynomials": Program(0.2, ((0.7, 0.5, "345"), (0.6, 1.4, "straight"), (0.5, 1.6, "4567")), 0.1),
    "repeated": repeated(Program(0.2, ((0.3, 0.5, "modified_trapezoid"), (0.2, 0.5, "dwell"), (0.3, 0.2, "345")), -0.1, repeats=True)),
    "indexing": repeated(Program(0.2, ((0.35, 0.5, "4567"), (0.21, 0.9, "straight"), (0.31, 1.1, "345")), 0.1, repeats=True)),
    "minimum jerk": MinimumJerkRise(0.2, 1.1),
    "trapezoid": trapezoidal_rise(0.2, 0.3, 0.5),
    "triangle": trapezoidal_rise(0.2, 0.3, 0.0),
    "sine": Sine(0.1, 0.5, 3.0, 0.2),
    "formula": Formula((2.0 * t).sin() * (1.0 + t * t).sqrt(), "a formula"),
    "function": Traced.of(lambda x: np.cos(x) * x),
    "scaled": ScaledCurve(natural_spline(T, Y), 0.3, -2.0),
    "components": Together((Line(0.0, 1.0), Together((Sine(0.0, 1.0, 1.0, 0.0), Constant(2.0))))),
}
CALLED: dict[str, Curve] = {
    "differences": Differences(math.sin, "a function"),
    "several": Differences(lambda x: [math.sin(x), x * x], "a function", -2.0, 2),
    "adaptive": AdaptiveDifferences(lambda x: np.array([math.sin(x), x * x]), -1.0, 3.0, 2),
    "jets": JetFunction(lambda x: (math.sin(x), math.cos(x), -math.sin(x))),
    "samples": SampledSpline(np.linspace(-1.0, 3.0, 401), np.sin(np.linspace(-1.0, 3.0, 401))[:, None]),
}
PLACES = np.linspace(-0.731, 2.617, 143)  # hits no break, where an acceleration may jump


def jets(curve: Curve, x: np.ndarray) -> np.ndarray:
    """(3, components, places)"""
    return np.array([[np.broadcast_to(y, x.shape) for y in (part if curve.size else [part])] for part in curve(x)], dtype=float)


@pytest.mark.parametrize("name", [*EXACT, *CALLED])
def test_rates_belong_to_values(name: str) -> None:
    """Central differences: truncation h^2 f'''/6 with f''' < 4e3, round-off eps/h; numeric second derivatives know 1e-8 themselves."""
    curve, h = {**EXACT, **CALLED}[name], 1e-5
    x = PLACES
    f, df, ddf = jets(curve, x)
    on, back = jets(curve, x + h), jets(curve, x - h)
    np.testing.assert_allclose(df, (on[0] - back[0]) / (2 * h), atol=3e-7)
    np.testing.assert_allclose(ddf, (on[1] - back[1]) / (2 * h), atol=1e-4 if name in CALLED else 3e-6)
    value = curve.value(x)
    np.testing.assert_allclose([np.broadcast_to(y, x.shape) for y in (value if curve.size else [value])], f, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", EXACT)
def test_numbers_arrays_and_traced_values_agree(name: str) -> None:
    curve = EXACT[name]
    assert curve.traceable
    known = jets(curve, PLACES)
    one = np.stack([np.array(curve(float(x)), dtype=float).reshape(3, -1) for x in PLACES], axis=-1)
    np.testing.assert_allclose(one, known, rtol=1e-13, atol=1e-13)
    g = TraceGraph()
    found = curve(g.input("t", 1)[0])
    program = g.program([("f", np.array(found, dtype=object))])
    traced = np.moveaxis(interpret(program, PLACES[:, None]), -1, 0).reshape(known.shape)
    np.testing.assert_allclose(traced, known, rtol=1e-13, atol=1e-13)


def test_called_functions_are_not_traced() -> None:
    assert not any(c.traceable for c in CALLED.values()) and not Together((Constant(1.0), CALLED["jets"])).traceable
    assert "differentiated numerically" in Together((Constant(1.0), CALLED["differences"])).notes[0]


def test_corners() -> None:
    trapezoid = Together((ScaledCurve(trapezoidal_rise(0.2, 0.3, 0.5), 1.0, 2.0), Constant(0.0)))
    np.testing.assert_allclose(trapezoid.corners(0.0, 2.0), [0.2, 0.5, 1.0, 1.3], atol=1e-15)
    np.testing.assert_allclose(polyline(T, Y).corners(0.1, 1.5), T[1:4])
    assert len(EXACT["sine"].corners(0.0, 9.0)) == 0
