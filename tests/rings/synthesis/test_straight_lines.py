"""Straight-line linkages: Hoeken's table, minimax by the alternation of extremes, exact lines, all on the engine's turn."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UsageError
from linkwright.rings.synthesis.dual_arrays import Dual, constant, dimensions
from linkwright.rings.synthesis.results import SynthesizedLinkage
from linkwright.rings.synthesis.straight_lines import EXACT_LINES, LINE_FAMILIES, LineProblem, straight_lines
from tests.sweeps import sweep

# Norton, Design of Machinery, Table 3-1: crank range in deg, ground over crank, straightness in per cent of the line, length over crank
TABLE = [
    (20, 2.975, 0.00001, 0.601),
    (60, 2.900, 0.00027, 1.763),
    (100, 2.725, 0.004, 2.790),
    (140, 2.500, 0.023, 3.623),
    (180, 2.200, 0.096, 4.181),
]


def hoeken_path(ground: float, coupler: float, degrees: float, samples: int = 2001) -> np.ndarray:
    """The point of Hoeken's linkage by the law of cosines, written apart from the library; crank 1."""
    theta = np.pi + np.deg2rad(np.linspace(-degrees / 2, degrees / 2, samples))
    a = np.exp(1j * theta)
    s = ground - a
    along = np.abs(s) / 2.0  # coupler and rocker are equal: isosceles
    return a + 2.0 * s / np.abs(s) * (along + 1j * np.sqrt(coupler**2 - along**2))


@cache
def best(kind: str) -> SynthesizedLinkage:
    return straight_lines(0.1, kind=kind)[0][0]


@sweep(("degrees", "ground", "straightness", "length"), TABLE, now=TABLE[2:3])
def test_hoekens_table_is_reproduced_and_not_worse_than_printed(degrees: int, ground: float, straightness: float, length: float) -> None:
    family = LINE_FAMILIES["hoeken"]
    coupler = (3.0 * ground - 1.0) / 2.0
    x = {"L1": constant([ground]), "L3": constant([coupler])}
    path = family.moved(x, constant(np.deg2rad(np.linspace(-degrees / 2, degrees / 2, 2001))[None, :])).p.value[0]
    assert np.abs(path - hoeken_path(ground, coupler, degrees)).max() < 1e-13
    printed = 100.0 * np.ptp(path.imag) / np.ptp(path.real)
    last = 10.0 ** -len(np.format_float_positional(straightness).partition(".")[2])
    assert abs(printed - straightness) <= 0.5 * last  # half of the last printed digit
    assert np.ptp(path.real) == pytest.approx(length, abs=6e-4)
    x = straight_lines(1.0, share=degrees / 360.0)[0][0]
    crank = x.linkage.length("O", "A")
    found = (x.linkage.length("O", "C") / crank, x.linkage.length("A", "B") / crank)
    mine = hoeken_path(*found, degrees)
    assert 100.0 * np.ptp(mine.imag) / np.ptp(mine.real) == pytest.approx(100.0 * x.error, rel=1e-3)
    assert 100.0 * x.error < printed  # the table's proportions are rounded
    assert found[0] == pytest.approx(ground, rel=0.01)
    assert found[1] == pytest.approx((3.0 * found[0] - 1.0) / 2.0, rel=1e-4)  # the rule of the table holds at the optimum of both


def test_the_optimum_alternates() -> None:
    """Chebyshev: a least largest deviation is reached at more places than there are numbers to vary (two, and level): 5 by symmetry."""
    x = best("hoeken")
    crank = x.linkage.length("O", "A")
    y = hoeken_path(x.linkage.length("O", "C") / crank, x.linkage.length("A", "B") / crank, 180.0).imag
    y = (y - (y.max() + y.min()) / 2.0) / (np.ptp(y) / 2.0)
    extreme = np.flatnonzero((np.abs(y) > 0.995) & (np.abs(y) >= np.abs(np.roll(y, 1))) & (np.abs(y) >= np.abs(np.roll(y, -1))))
    signs = np.sign(y[extreme])
    changes = 1 + int((np.diff(signs) != 0).sum())
    assert changes >= 5


@sweep("kind", [*LINE_FAMILIES, *EXACT_LINES], now=1)
def test_the_engine_draws_the_line(kind: str) -> None:
    x = best(kind)
    linkage = x.linkage
    c = lw.load(x.document).cycle(steps=1440)
    path = c[f"{linkage.output}.x"] + 1j * c[f"{linkage.output}.y"]
    pivot, pin = linkage.bodies["crank"][:2]
    turned = np.angle(np.exp(1j * c["crank.angle"]) / (linkage.pins[pin] - linkage.pins[pivot]))
    on = (turned >= x.measures["line from"]) & (turned <= x.measures["line to"])
    assert on.sum() > 100
    line = path[on]
    # along x; the samples begin and end within one step of the ends of the line
    assert np.ptp(line.real) == pytest.approx(0.1, rel=0.02)
    exact = kind in EXACT_LINES
    assert np.ptp(line.imag) <= x.error * 1.001 + 1e-12
    assert np.ptp(line.imag) >= 0.9 * x.error or exact
    assert x.error < (1e-15 if exact else 1e-3 * 0.5)
    assert c.full_turn or any("cannot turn fully" in n for n in c.notes)
    assert (kind in ("hoeken", "scott-russell")) == c.full_turn


@pytest.mark.slow
@pytest.mark.parametrize("kind", [k for k in LINE_FAMILIES if k != "hoeken"])
def test_refined_proportions_are_not_worse_than_the_classical_ones(kind: str) -> None:
    family = LINE_FAMILIES[kind]
    problem = LineProblem(family, None, family.size)
    x = problem.start()
    beside, length, line = problem.beside(x, np.linspace(-1.0, 1.0, 201), slopes=False)
    classical = float(np.ptp(beside.value))
    size = max(float(r.value.max()) for r in line.lengths) / float(length.value[0, 0])
    found = straight_lines(1.0, kind=kind, size=size, transmission=0.05)[0][0]
    assert found.error < 0.8 * classical  # same size, less deviation
    assert found.measures["longest link"] < size * 1.001


def test_chebyshevs_linkage_has_three_exact_points() -> None:
    """4 : 5 : 2: the middle of the coupler has the height 4 in the middle and above both fixed pivots, where the coupler is upright."""
    family = LINE_FAMILIES["chebyshev"]
    x = {"r": constant([1.25]), "k": constant([0.5])}
    p = family.moved(x, constant(np.array([[-np.pi / 2, 0.0, np.pi / 2]]))).p.value[0]
    assert np.abs(p - np.array([1.0 + 1j, 0.5 + 1j, 1j])).max() < 1e-12


@pytest.mark.parametrize("kind", LINE_FAMILIES)
def test_derivatives_equal_differences(kind: str) -> None:
    family = LINE_FAMILIES[kind]
    problem = LineProblem(family, np.pi / 2.0 if kind == "hoeken" else None, None if kind == "hoeken" else 1.0, 0.5, 2.0, 0.5)
    x = problem.start()
    smooth = problem.smooth()
    r, jacobian, g, gradients = smooth(x, True)
    for k in range(len(x)):
        step = np.zeros(len(x))
        step[k] = 1e-6
        high, low = smooth(x + step, False), smooth(x - step, False)
        # central differences of step 1e-6: errors of 1e-9, divided by small lengths
        assert np.abs((high[0] - low[0]) / 2e-6 - jacobian[:, k]).max() < 1e-6 * (1.0 + np.abs(jacobian[:, k]).max())
        assert np.abs((high[2] - low[2]) / 2e-6 - gradients[:, k]).max() < 1e-6 * (1.0 + np.abs(gradients[:, k]).max())
    assert len(r) == 61 and len(g) == len(gradients)


def test_speed_variation_is_that_of_the_engine() -> None:
    x = best("hoeken")
    c = lw.load(x.document).cycle(steps=720)
    turned = (c["O"] - c["O"][0] + np.pi) % (2.0 * np.pi) - np.pi
    on = np.abs(turned) <= np.pi / 2.0
    v = c["coupler.P.vx"][on]
    mean = 0.1 / (np.pi / np.abs(c["O.v"][0]))
    assert np.ptp(v) / mean == pytest.approx(x.measures["speed variation"], rel=0.01)
    # the same from the derivative by the crank angle
    family = LINE_FAMILIES["hoeken"]
    crank = x.linkage.length("O", "A")
    x_ = np.array([[x.linkage.length("O", "C") / crank, x.linkage.length("A", "B") / crank]])
    angle = np.linspace(-np.pi / 2, np.pi / 2, 2001)[None, :]
    p = family.moved(dict(zip(family.names, dimensions(x_), strict=True)), Dual(angle, {2: np.ones_like(angle)})).p
    assert np.ptp(p.slope[2].real) / np.ptp(p.value.real) * np.pi == pytest.approx(x.measures["speed variation"], rel=0.01)


@pytest.mark.slow
def test_all_kinds_are_ranked_and_shares_need_a_crank_that_turns() -> None:
    found, facts, notes = straight_lines(0.05, count=3, kind=["hoeken", "watt", "hart", "peaucellier"])
    assert [x.linkage.kind in EXACT_LINES for x in found] == [True, True, False] and facts["families"] == 4 and notes == ()
    assert [x.linkage.kind for x in straight_lines(0.05, share=0.3)[0]] == ["hoeken"]


@pytest.mark.slow
def test_limits_that_cannot_be_met_are_said() -> None:
    found, _, notes = straight_lines(0.1, kind="roberts", longest=0.031)
    assert found == [] and len(notes) == 1 and "allow longer links" in notes[0]


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((0.0,), {}, "length"),
        ((float("nan"),), {}, "length"),
        ((0.1,), {"share": 0.9}, "share"),
        ((0.1,), {"kind": "wat"}, "Did you mean 'watt'"),
        ((0.1,), {"size": 0.1}, "size"),
        ((0.1,), {"most_ratio": 0.5}, "most_ratio"),
        ((0.1,), {"transmission": -1.0}, "between 0 and 90"),
        ((0.1,), {"count": 0}, "at least 1"),
    ],
)
def test_bad_input_is_explained(arguments: tuple[Any, ...], options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        straight_lines(*arguments, **options)
