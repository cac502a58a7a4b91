"""The angle of a point in machine code against exact values: random points, neighbors of the octants' borders, zeros, infinities, NaN."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest

from linkwright.compiler import arctangent, llvm, state_lanes
from linkwright.compiler.cache import Processor, host
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode

SPECIAL = [0.0, -0.0, 1.0, -2.5, 5e-324, -1e-310, 1e308, -1.7e308, np.inf, -np.inf, np.nan]


def _series(x: Decimal) -> Decimal:
    """arctan x to 50 digits: halved until Taylor's series is short."""
    halvings = 0
    while abs(x) > Decimal("0.02"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    total = term = x
    k = 1
    while term and abs(term) > Decimal(10) ** -55 * abs(total):
        term = -term * x * x
        k += 2
        total += term / k
    return total * 2**halvings


def exact(y: float, x: float) -> Decimal:
    """Angle of (x, y), neither of them zero."""
    with localcontext() as c:
        c.prec = 60
        pi = 4 * _series(Decimal(1))
        a = _series(abs(Decimal(y)) / abs(Decimal(x)))
        a = pi - a if x < 0.0 else a
        return -a if y < 0.0 else a


def ulps(value: float, true: Decimal) -> float:
    return float(abs(Decimal(float(value)) - true) / Decimal(math.ulp(float(true))))


def code_for(target: Processor) -> NativeCode:
    program = trace(lambda p: {"angle": p[0].arctan2(p[1])}, p=2)
    make = {"one": llvm.compile_one, "many": state_lanes.compile_many}
    return NativeCode(lambda kind: make[kind](program, target))


def angles(code: NativeCode, at: np.ndarray) -> np.ndarray:
    (found,), _ = code.call_many([at])
    return found.ravel()


@pytest.fixture(scope="module")
def code() -> NativeCode:
    return code_for(host())


def test_parts_of_a_quarter_of_pi_are_exact() -> None:
    with localcontext() as c:
        c.prec = 60
        rest = _series(Decimal(1))
        for part in arctangent.PI_4:
            assert part == float(rest)
            rest -= Decimal(part)


# The polynomial, the tails of quotient and sum and the last addition leave 0.5 ulp of rounding plus a little.
LIMIT = 0.7


def test_angles_of_points_of_any_size(code: NativeCode, rng: np.random.Generator) -> None:
    plain = rng.normal(size=(500, 2)) * 10.0 ** rng.uniform(-280, 280, size=(500, 1))
    steep = rng.normal(size=(300, 2)) * 10.0 ** rng.uniform(-9, 9, size=(300, 2))
    border = np.arange(16) * np.pi / 8  # where formulas change
    near = (border[:, None] + 10.0 ** rng.uniform(-16, -2, size=(16, 40)) * rng.choice([-1.0, 1.0], size=(16, 40))).ravel()
    for at in (plain, steep, np.stack([np.sin(near), np.cos(near)], axis=1)):
        assert max(ulps(a, exact(*p)) for a, p in zip(angles(code, at), at.tolist(), strict=True)) < LIMIT


def test_zeros_infinities_and_nan_are_those_of_c(code: NativeCode) -> None:
    at = np.array([(y, x) for y in SPECIAL for x in SPECIAL])
    found, wanted = angles(code, at), [math.atan2(y, x) for y, x in at.tolist()]
    for a, b, (y, x) in zip(found.tolist(), wanted, at.tolist(), strict=True):
        same = (math.isnan(a) and math.isnan(b)) or (abs(a - b) <= math.ulp(b) and math.copysign(1.0, a) == math.copysign(1.0, b))
        assert same, (y, x, a, b)


def test_one_point_and_many_have_the_same_bits(code: NativeCode, rng: np.random.Generator) -> None:
    at = np.concatenate([rng.normal(size=(40, 2)), [(y, x) for y in SPECIAL for x in SPECIAL]])
    assert np.array_equal(angles(code, at), [code.call(p)[0][0] for p in at], equal_nan=True)


def test_without_fused_multiply_add_it_is_the_librarys(rng: np.random.Generator) -> None:
    here, at = host(), rng.normal(size=(30, 2))
    plain = replace(here, cpu="x86-64", features="") if here.triple.startswith("x86_64") else here
    found = angles(code_for(plain), at)
    if not plain.fused:
        assert found.tolist() == [math.atan2(y, x) for y, x in at.tolist()]
    assert np.abs(found - np.arctan2(at[:, 0], at[:, 1])).max() <= 2.0 * math.ulp(np.pi)
