"""The certificate of an optimum at designs that are none: signs of multipliers and complementarity, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.design.optimization.certificate import ACTIVE, OptimumCertificate, certify
from linkwright.rings.design.optimization.local_search import LocalOptimum
from linkwright.rings.design.optimization.nonlinear_program import GoalProgram
from linkwright.rings.design.optimization.request import problem
from tests.rings.design.optimization.models import SLIDER_CRANK


def certified(u: float, limits: tuple[str, ...] = ()) -> tuple[OptimumCertificate, float]:
    """The certificate at a radius of the crank, 20 mm + u 60 mm, and the part that the whole gradient is.

    The goal is squared over its own value there: f = (x / x0)^2, whose gradient by u is 2 x' / x0."""
    p = problem(lw.load(SLIDER_CRANK).description, "min rms A.torque", {"r": None}, limits, "cycle")
    point = p.point(np.array([u]))
    terms = p.goals[0].terms
    program = GoalProgram(p, terms, point)
    quantity, h = terms[0][1], 1e-5
    x, near = quantity.value(point), [quantity.value(p.point(np.array([u + e]))) for e in (-h, 0.0, h, 2.0 * h)]
    slope = (near[2] - near[0]) / (2.0 * h) if u - h >= 0.0 else (-3.0 * near[1] + 4.0 * near[2] - near[3]) / (2.0 * h)
    size = abs(2.0 * slope / x)
    found = LocalOptimum(point, program, program.start(point), x, 0.0, True)
    return certify(found, 1, 1), size / max(size, 1.0)


def test_a_bound_holds_only_what_pushes_against_it() -> None:
    """The torque of masses grows with the crank: the smallest crank is the optimum, the largest is the worst design of all."""
    best, _ = certified(0.0)
    assert best.optimal and best.kkt < 1e-12 and [(b.what, b.end) for b in best.binding] == [("r", "min")]
    assert best.binding[0].gain > 0.0
    worst, whole = certified(1.0)
    assert worst.kkt == pytest.approx(whole, rel=1e-6) and not worst.optimal and worst.binding == ()


def test_a_limit_holds_only_what_pushes_against_it() -> None:
    """A stroke is twice the crank. At 50 mm both limits are active; one forbids smaller cranks and holds, the other larger ones."""
    held, _ = certified(0.5, ("range guide > 100 mm",))
    assert held.optimal and [b.what for b in held.binding] == ["range guide > 100 mm"]
    loose, whole = certified(0.5, ("range guide < 100 mm",))
    assert loose.kkt == pytest.approx(whole, rel=1e-6) and loose.binding == ()


@pytest.mark.parametrize("share", [0.25, 1.0, 4.0, 9.0, 11.0])
def test_a_multiplier_of_a_bound_that_is_not_reached_is_an_error(share: float) -> None:
    """At c ACTIVE from the bound: the least of (g - lam)^2 + (c lam)^2 is g^2 c^2 / (1 + c^2); beyond 10 ACTIVE nothing holds."""
    found, whole = certified(share * ACTIVE)
    left = share / np.hypot(1.0, share) if share <= 10.0 else 1.0
    assert found.kkt == pytest.approx(whole * left, rel=1e-5)  # differences of second order of the gradient
    assert not found.optimal
