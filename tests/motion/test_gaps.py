"""Assembly gaps: four-bars in closed form, other mechanisms against differences of sixth order; designs that close have none."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.errors import UsageError
from linkwright.system.cycles import CycleEvaluator
from tests.refusals import refused
from tests.sweeps import sweep

DIFFERENCES = np.array([-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60])  # of sixth order, at -3h .. 3h


def four_bar_gap(lengths: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gap (n, positions) of coupler and rocker between the crank's end and the rocker's pivot, and its derivatives by L1 .. L4."""
    a, b, c, d = (x[:, None] for x in lengths.T)
    r = np.sqrt(a * a + d * d - 2.0 * a * d * np.cos(angle))
    long, short = r - b - c, np.abs(b - c) - r
    gap = np.maximum(0.0, np.maximum(long, short))
    r_a, r_d = (a - d * np.cos(angle)) / r, (d - a * np.cos(angle)) / r
    sign = np.where(long > 0.0, 1.0, np.where(short > 0.0, -1.0, 0.0))
    side = np.sign(b - c)
    by_b = np.where(long > 0.0, -1.0, np.where(short > 0.0, side, 0.0))
    by_c = np.where(long > 0.0, -1.0, np.where(short > 0.0, -side, 0.0))
    return gap, np.stack([sign * r_a, by_b, by_c, sign * r_d], axis=2)


def test_gap_of_four_bars_is_the_missing_length() -> None:
    """The least sum of squares of the opened pin is the distance between the circles that its two ends can reach."""
    m, rng = lw.load("four-bar"), np.random.default_rng(4)
    e = CycleEvaluator(m.system, ["L1", "L2", "L3", "L4"], ["C"], steps=24)
    rows = e.nominal * np.exp(rng.normal(size=(40, 4)) * 0.5)
    rows[0] = e.nominal
    found = e.gaps(rows, positions=48)
    wanted, by = four_bar_gap(rows, found.drive[:, 0])
    assert found.gap.shape == (40, 48) and found.slopes.shape == (40, 48, 4)
    # the gap vanishes with the square root of its square, whose round-off is 1e-32
    assert np.abs(found.gap - wanted).max() <= 1e-12
    assert np.abs(found.slopes - wanted[..., None] * by).max() <= 1e-11
    assert (wanted.max(axis=1) > 0.01).sum() > 10 and found.gap[0].max() <= 1e-14
    closes = wanted.max(axis=1) == 0.0
    assert np.array_equal(e(rows).ok, closes)  # a crank that closes everywhere turns fully: the branch cannot change


def test_minimizing_the_gap_brings_a_design_back() -> None:
    """The ground link stretched to 1.75 of its length: by the gap alone, with its own gradient, the wiper closes again."""
    from scipy.optimize import minimize

    m = lw.load("wiper")
    e = CycleEvaluator(m.system, ["ground.D.x", "crank.B.x", "coupler.C.x"], ["C"], steps=24)
    begin = e.nominal * [1.75, 1.0, 1.0]
    assert not e(begin).ok[0] and (e.gaps(begin).gap > 1e-6).sum() > 30

    def mean(x: np.ndarray) -> tuple[float, np.ndarray]:
        found = e.gaps(x)
        return 1e3 * float(found.square.mean()), 1e3 * found.slopes[0].mean(axis=0)

    done = minimize(mean, begin, jac=True, method="L-BFGS-B", options={"ftol": 1e-30, "gtol": 1e-14})
    assert e.gaps(done.x).gap.max() <= 1e-6 and np.abs(done.x - begin).max() > 0.01


SPREAD = {
    "carpet-scraper": {"crank.A.x": 1.75, "ground.O2.x": 1.0},
    "3-rrr": {"ground.A2.x": 2.0, "platform.P2.x": 1.0},
    "five-bar": {"left.B.x": 2.5, "right_rod.C.x": 1.0},
    "rssr": {"ground.R0.x": 1.5, "coupler.B.x": 1.0},
}


@sweep("name", SPREAD, now=1)
def test_derivatives_of_the_gap_are_differences_of_sixth_order(name: str) -> None:
    """By the envelope theorem at the least gap; differences have round-off 1e-15/h and h^6 of the curvature."""
    m = lw.load(name)
    e = CycleEvaluator(m.system, list(SPREAD[name]), [compiled_of(m.system).drive_names[0]], steps=24)
    base = e.nominal * list(SPREAD[name].values())
    found = e.gaps(base, positions=24)
    assert found.gap.max() > 1e-3
    for j in range(2):
        h = 1e-4 * abs(base[j])
        rows = np.tile(base, (6, 1))
        rows[:, j] += h * np.array([-3, -2, -1, 1, 2, 3])
        around = e.gaps(rows, positions=24)
        steady = (around.gap > 1e-4).all(axis=0)  # at the border of closing the square has a kink in its second derivative
        slopes = np.tensordot(DIFFERENCES, around.square, axes=1) / h
        assert steady.any() and np.abs(slopes - found.slopes[0, :, j])[steady].max() <= 1e-7 * np.abs(slopes).max()


def test_gaps_of_one_design_do_not_depend_on_others() -> None:
    m = lw.load("wiper")
    e = CycleEvaluator(m.system, ["ground.D.x"], ["C"], derivatives=["rocker.C.x"], steps=24)
    rows = e.nominal * np.linspace(0.5, 2.5, 11)[:, None]
    many = e.gaps(rows, positions=20)
    for i in (0, 5, 10):
        one = e.gaps(rows[i], positions=20)
        assert np.array_equal(one.gap[0], many.gap[i]) and np.array_equal(one.slopes[0], many.slopes[i])
    assert many.slopes.shape == (11, 20, 1) and many.q.shape == (11, 20, 3)
    with refused(UsageError, name="designs"):
        e.gaps([[1.0, 2.0]])
