"""Sine and cosine in machine code against exact values: random angles, neighbors of k pi/2, far angles, zeros, infinities, NaN."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest

from linkwright.compiler import llvm, sincos, state_lanes
from linkwright.compiler.cache import Processor, host
from linkwright.compiler.graph import trace
from linkwright.compiler.native import NativeCode

DIGITS = 80


def _arctan_of_inverse(n: int) -> Decimal:
    power = total = Decimal(1) / n
    k = 1
    while abs(power) > Decimal(10) ** -(DIGITS + 5):
        power = -power / (n * n)
        k += 2
        total += power / k
    return total


with localcontext() as context:
    context.prec = DIGITS + 10
    HALF_PI = 8 * _arctan_of_inverse(5) - 2 * _arctan_of_inverse(239)  # Machin


def exact(x: float) -> tuple[Decimal, Decimal]:
    """sin x and cos x to some 60 digits, by reduction and Taylor's series."""
    with localcontext() as c:
        c.prec = DIGITS
        k = int((Decimal(x) / HALF_PI).to_integral_value())
        r = Decimal(x) - k * HALF_PI
        c.prec = 45
        series = [Decimal(0), Decimal(0)]
        term, n = Decimal(1), 0
        while term and abs(term) > Decimal(10) ** -44 * abs(r):
            series[n % 2] += term if n % 4 < 2 else -term
            n += 1
            term = term * r / n
        cosine, sine = series
        return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][k % 4]


def ulps(value: float, true: Decimal) -> float:
    return float(abs(Decimal(float(value)) - true) / Decimal(math.ulp(float(true))))


def both(target: Processor) -> NativeCode:
    program = trace(lambda x: {"s": np.sin(x), "c": np.cos(x)}, x=1)
    make = {"one": llvm.compile_one, "many": state_lanes.compile_many}
    return NativeCode(lambda kind: make[kind](program, target))


def evaluated(code: NativeCode, angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    (s, c), _ = code.call_many([angles[:, None]])
    return s[:, 0], c[:, 0]


def worst(code: NativeCode, angles: np.ndarray) -> float:
    s, c = evaluated(code, angles)
    errors = []
    for x, sx, cx in zip(angles.tolist(), s, c, strict=True):
        true = exact(x)
        errors += [ulps(sx, true[0]), ulps(cx, true[1])]
    return max(errors)


@pytest.fixture(scope="module")
def code() -> NativeCode:
    return both(host())


def test_parts_of_half_pi_are_exact() -> None:
    with localcontext() as c:
        c.prec = DIGITS
        rest = HALF_PI
        for part in sincos.PI_2:
            assert part == float(rest)
            rest -= Decimal(part)
        assert abs(rest) < Decimal(2) ** -160
        assert float(1 / HALF_PI) == sincos.TWO_OVER_PI


# The polynomials, the tail and the last addition leave 0.5 ulp of rounding plus a little: below 0.8.
LIMIT = 0.8


def test_random_angles(code: NativeCode, rng: np.random.Generator) -> None:
    assert worst(code, rng.uniform(-10, 10, 1500)) < LIMIT
    assert worst(code, rng.uniform(-1e9, 1e9, 1000)) < LIMIT
    assert worst(code, 10.0 ** rng.uniform(-300, 9, 500)) < LIMIT


def test_neighbors_of_multiples_of_half_pi(code: NativeCode, rng: np.random.Generator) -> None:
    largest = int(sincos.FAR / (math.pi / 2)) - 1
    multiples = np.unique(np.r_[-40:41, rng.integers(-largest, largest, 300), largest])
    angles = []
    for k in multiples:
        x = float(int(k) * HALF_PI)
        for direction in (-math.inf, math.inf):
            y = x
            for _ in range(4):
                angles.append(y)
                y = math.nextafter(y, direction)
    assert worst(code, np.unique(angles)) < LIMIT


def test_halfway_between_quadrants(code: NativeCode, rng: np.random.Generator) -> None:
    odd = 2 * rng.integers(-(10**8), 10**8, 300) + 1
    angles = odd * (math.pi / 4)
    assert worst(code, np.r_[angles, np.nextafter(angles, np.inf), np.nextafter(angles, -np.inf)]) < LIMIT


def test_zero_keeps_its_sign(code: NativeCode) -> None:
    tiny = math.ulp(0.0)
    s, c = evaluated(code, np.array([0.0, -0.0, tiny, -tiny]))
    assert s.tolist() == [0.0, 0.0, tiny, -tiny] and np.signbit(s).tolist() == [False, True, False, True]
    assert c.tolist() == [1.0] * 4


def test_far_angles_are_the_librarys_and_leave_their_neighbors_alone(code: NativeCode, rng: np.random.Generator) -> None:
    far = np.array([2.0**30, -(2.0**30), 1e15, -1e300, 1.7e308, 2.0**30 * 1.25])
    angles = rng.uniform(-3, 3, 32)
    alone = evaluated(code, angles)
    mixed = angles.copy()
    mixed[::5][: len(far)] = far
    s, c = evaluated(code, mixed)
    changed = mixed != angles
    assert s[changed].tolist() == [math.sin(x) for x in mixed[changed]] and c[changed].tolist() == [math.cos(x) for x in mixed[changed]]
    assert np.array_equal(s[~changed], alone[0][~changed]) and np.array_equal(c[~changed], alone[1][~changed])


def test_infinite_and_missing_angles_give_nan(code: NativeCode) -> None:
    angles = np.array([np.inf, 1.0, -np.inf, np.nan, 2.0])
    (s, c), status = code.call_many([angles[:, None]])
    assert np.isnan(s[:, 0]).tolist() == np.isnan(c[:, 0]).tolist() == [True, False, True, True, False]
    assert status.tolist() == [1, 0, 1, 1, 0]


@pytest.mark.parametrize("lanes", [4, 8])
def test_every_lane_count_gives_the_same_bits(lanes: int, code: NativeCode, rng: np.random.Generator) -> None:
    angles = np.r_[rng.uniform(-10, 10, 60), rng.uniform(-1e9, 1e9, 60), 1e12, np.pi, -0.0]
    wide = evaluated(both(replace(host(), lanes=lanes)), angles)
    single = np.array([code.call([x])[0] for x in angles])
    assert np.array_equal(wide[0], single[:, 0]) and np.array_equal(wide[1], single[:, 1])


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 37])
def test_angles_of_one_state_are_packed_without_a_trace(lanes: int, n: int, code: NativeCode, rng: np.random.Generator) -> None:
    program = trace(lambda x: {"s": np.sin(x), "c": np.cos(x)}, x=n)
    packed = NativeCode(lambda kind: llvm.compile_one(program, replace(host(), lanes=lanes)))
    angles = rng.uniform(-50, 50, n)
    angles[n // 2] = 3e9  # one far angle among near ones
    y, status = packed.call(angles)
    s, c = evaluated(code, angles)
    assert np.array_equal(y, np.r_[s, c]) and status == 0


def test_without_fused_multiply_add_the_library_is_used(rng: np.random.Generator) -> None:
    here = host()
    plain = replace(here, cpu="x86-64", features="") if here.triple.startswith("x86_64") else here
    slow = both(plain)
    angles = rng.uniform(-10, 10, 50)
    s, c = evaluated(slow, angles)
    single = np.array([slow.call([x])[0] for x in angles])
    assert np.array_equal(np.c_[s, c], single)
    if not plain.fused:
        assert s.tolist() == [math.sin(x) for x in angles] and c.tolist() == [math.cos(x) for x in angles]
