"""Whole runs of ours: errors that are errors, ratios at equal exactness. Times only as positive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.bench import clocks, free_run, known_motions, runs, speed, table
from benchmarks.bench.cases import BenchRow, Contender
from linkwright.errors import LinkwrightError
from tests.benchmarks.bench.samples import SHORT, short
from tests.reference import load

SAHA = load("saha")["carpet_scraper"]["forward_dynamics"]["A_R"]


# -------------------------------------------------------------------- the reference


def test_the_reference_is_the_printed_one() -> None:
    assert dict(free_run.PRINTED) == {s["t"]: s["theta1"] for s in SAHA["states"]}
    assert SAHA["period_s"] == free_run.PERIOD
    run = free_run.free_run(1.0)
    assert run.doubt < 1e-12 and run.angle == pytest.approx(SAHA["states"][2]["theta1"], abs=1e-12)  # round-off of a thousand steps
    assert run.energy == pytest.approx(SAHA["energy_J"], abs=1e-12)


def test_a_reference_that_misses_the_printed_angles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_run, "PRINTED", ((0.04, 0.5),))
    with pytest.raises(LinkwrightError, match="errors against it would mean nothing"):
        free_run.free_run(SHORT)


def test_ends_are_judged_by_angle_and_energy() -> None:
    run = short()
    end = run.go(1e-12).y[-1]
    assert run.judged_state(end)[0] < 1e-12 and abs(run.judged_state(end)[1]) < 1e-11
    end[run.index] += 1e-3
    assert run.judged_state(end)[0] == pytest.approx(1e-3) and abs(run.judged_state(end)[1]) > 1e-5


# -------------------------------------------------------------------- contenders


def test_our_rows_get_more_exact_with_the_tolerance() -> None:
    offers = runs.offered(short(), None)
    assert all(isinstance(c, Contender) for c in offers)
    rows = [c.row for c in offers]
    loops = [r for r in rows if r.engine == runs.ENGINE]
    for row, tolerance in zip(loops, runs.TOLERANCES, strict=True):
        assert row.accuracy is not None and row.accuracy < 10 * tolerance  # errors per step, few steps
        assert f"tolerance {tolerance:g}" in row.note and row.note.startswith("energy drift ")
    assert rows[-1].engine == runs.CALL and rows[-1].accuracy == loops[1].accuracy  # the same loop at the same tolerance
    timed = speed.in_turns([c for c in offers if isinstance(c, Contender)], rounds=1, seconds=0.0)
    assert all(r.ns is not None and r.ns > 0.0 for r in timed)


def test_slow_programs_run_a_few_times_only() -> None:
    times = [3.0, 2.0, 5.0]
    clock = clocks.a_few_times(lambda: times.pop(0), most=3, first=4.0)
    assert [clock(0.0) for _ in range(5)] == [3e9, 2e9, 2e9, 2e9, 2e9] and times == [5.0]


# -------------------------------------------------------------------- known motions, passages, batches


def test_known_motions_agree_with_others() -> None:
    """The chain against scipy; the change-point four-bar against its energy as an equation of motion, differentiated numerically."""
    factor = 9.81 * 3 * 31 / (2 * 41)
    end = solve_ivp(lambda t, y: [y[1], factor * np.sin(y[0])], (0, 2), [0, 1], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    assert known_motions.chain_angle(10, 2.0) == pytest.approx(end, abs=1e-9)

    def rates(t: float, y: np.ndarray) -> list[float]:
        A = np.array([y[0] - 1e-5, y[0], y[0] + 1e-5])
        M, V = known_motions.change_point(A)
        return [y[1], -(0.5 * (M[2] - M[0]) * y[1] ** 2 + V[2] - V[0]) / 2e-5 / M[1]]

    end = solve_ivp(rates, (0, 0.5), [0.3, 12.0], "DOP853", rtol=1e-11, atol=1e-11).y[0, -1]
    assert abs(known_motions.change_point_error(0.3, 12.0, 0.5, end)) < 1e-7  # differences of 1e-5 leave 1e-9 of relative error
    assert known_motions.change_point_error(0.3, 12.0, 0.5, end + 1e-3) == pytest.approx(1e-3, rel=1e-2)


@pytest.mark.slow
def test_passages_are_judged_by_what_is_known() -> None:
    four_bar, chain = runs.passages((2,), seconds=(0.4, 0.5))
    assert isinstance(four_bar, Contender) and isinstance(chain, Contender)
    assert four_bar.row.accuracy is not None and four_bar.row.accuracy < 1e-6 and four_bar.row.note.endswith("1 passage")
    assert chain.row.accuracy is not None and chain.row.accuracy < 1e-8


@pytest.mark.slow
def test_a_batch_is_the_same_on_all_cores() -> None:
    one, many = runs.batch_rows(count=8, seconds=0.2, repeats=1)
    assert one.ns and many.ns and one.accuracy is not None and one.accuracy < 1e-6
    assert "the same bits" in many.note and many.quantity == "batch of 8 runs"


# -------------------------------------------------------------------- ratios and the command


def test_a_run_is_compared_with_ours_of_no_larger_error() -> None:
    ours = [
        BenchRow("linkwright time loop", "", "m", "run", ns=ns, accuracy=error) for ns, error in ((1.0, 1e-6), (2.0, 1e-9), (4.0, 1e-12))
    ]
    theirs = [BenchRow("other", "", "m", "run", ns=100.0, accuracy=error) for error in (1e-3, 1e-9, 5e-10, 1e-14)]
    assert [r.ratio for r in table.with_ratios([*ours, *theirs])] == [None, None, None, 100.0, 50.0, 25.0, None]


def test_runs_are_measured_in_place_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def rows(turns: Any, peers: Any, rounds: int, quick: bool, say: Any) -> list[BenchRow]:
        asked.append((peers, rounds, quick))
        return [BenchRow("linkwright time loop", "", "m", "run", ns=1.0)]

    monkeypatch.setattr(runs, "rows", rows)
    assert [r.quantity for r in speed.run(quick=True, runs=True)] == ["run"]
    assert asked == [(None, speed.QUICK_ROUNDS, True)]
