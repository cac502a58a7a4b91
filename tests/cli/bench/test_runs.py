"""Whole runs, ours and others': errors that are errors, ratios at equal exactness, what is missing says so. Times only as positive."""

from __future__ import annotations

import argparse
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linkwright.cli.bench import casadi_code, command, free_run, known_motions, pinocchio_run, run_peers, runs, speed, steppers, table
from linkwright.cli.bench.cases import Contender, Row, Unavailable
from linkwright.cli.bench.workshop import Workshop
from linkwright.errors import LinkwrightError
from linkwright.integrators import INTEGRATORS
from tests.reference import load

SHORT = 0.05  # seconds
SAHA = load("saha")["carpet_scraper"]["forward_dynamics"]["A_R"]


@cache
def short() -> free_run.FreeRun:
    return free_run.free_run(SHORT)


@pytest.fixture
def shop(tmp_path: Path) -> Any:
    with Workshop(tmp_path / "built") as made:
        yield made


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


def test_mujoco_gets_nearer_with_shorter_steps() -> None:
    long, fine = (run_peers.with_mujoco(short(), h) for h in (1e-3, 1e-4))
    assert long.row.accuracy is not None and fine.row.accuracy is not None
    assert fine.row.accuracy < long.row.accuracy < 1e-2  # the same motion but for soft loops
    assert long.run(0.0) > 0.0 and "step 0.001 s" in long.row.note


def test_steps_of_first_and_second_order_come_nearer_as_they_should() -> None:
    """Errors at the end with steps of 1 ms and half of it; a program that is not here says so."""
    for program, make, order in (("exudyn", run_peers.with_exudyn, 2), ("pydrake", run_peers.with_drake, 1)):
        if not find_spec(program):
            with pytest.raises(Unavailable, match="is not installed"):
                make(short(), 1e-3)
            continue
        long, fine = (make(short(), h).row.accuracy for h in (1e-3, 5e-4))
        assert long and fine and long / fine == pytest.approx(2**order, rel=0.1)


def test_pinocchio_with_scipy_comes_to_the_same_end() -> None:
    found = run_peers.with_scipy(short(), 1e-10)
    assert found.row.accuracy is not None and found.row.accuracy < 1e-9
    assert found.run(0.0) > 0.0


def test_missing_programs_give_rows_with_the_reason(monkeypatch: pytest.MonkeyPatch, shop: Workshop) -> None:
    for module in (steppers, run_peers, casadi_code):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setattr(run_peers, "SCIPY_TOLERANCES", ())
    monkeypatch.setattr(pinocchio_run, "run_program", lambda shop: 1 / 0)
    offers = {r.engine: r for r in run_peers.offered(short(), shop, quick=True) if isinstance(r, Row)}
    assert offers[run_peers.EXUDYN].note == "not measured: the package 'exudyn' is not installed"
    assert offers[run_peers.DRAKE].note == "not measured: the package 'drake' is not installed"
    assert "'mujoco' is not installed" in offers[run_peers.MUJOCO].note
    assert "ZeroDivisionError" in offers[pinocchio_run.ENGINE].note
    assert "'casadi' is not installed" in offers[pinocchio_run.GENERATED].note


def test_slow_programs_run_a_few_times_only() -> None:
    times = [3.0, 2.0, 5.0]
    clock = free_run.a_few_times(lambda: times.pop(0), most=3, first=4.0)
    assert [clock(0.0) for _ in range(5)] == [3e9, 2e9, 2e9, 2e9, 2e9] and times == [5.0]


def test_the_sums_for_the_cpp_loop_are_the_method() -> None:
    """The generated expressions, evaluated as Python on random stages, against the table."""
    text, method = pinocchio_run.sums_text(), INTEGRATORS["dopri8"].table
    k = np.random.default_rng(5).normal(size=(method.stages + 1, 1))
    for row in range(1, method.stages + 1):
        expression = text.split(f"case {row}: LINKWRIGHT_SUM(")[1].split(") break;")[0]
        assert eval(expression, {"k": k, "i": 0}) == pytest.approx(method.a[row][: len(k)] @ k[:, 0], rel=1e-13)
    for name, weights in zip(("error_fifth", "error_third"), method.error, strict=True):
        expression = text.split(f"double {name}(")[1].split("return ")[1].split(";")[0]
        assert eval(expression, {"k": k, "i": 0}) == pytest.approx(weights[: len(k)] @ k[:, 0], rel=1e-13)


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


def test_passages_are_judged_by_what_is_known() -> None:
    four_bar, chain = runs.passages((2,), seconds=(0.4, 0.5))
    assert isinstance(four_bar, Contender) and isinstance(chain, Contender)
    assert four_bar.row.accuracy is not None and four_bar.row.accuracy < 1e-6 and "1 passages" in four_bar.row.note
    assert chain.row.accuracy is not None and chain.row.accuracy < 1e-8


def test_a_batch_is_the_same_on_all_cores() -> None:
    one, many = runs.batch_rows(count=8, seconds=0.2, repeats=1)
    assert one.ns and many.ns and one.accuracy is not None and one.accuracy < 1e-6
    assert "the same bits" in many.note and many.quantity == "batch of 8 runs"


# -------------------------------------------------------------------- ratios and the command


def test_a_run_is_compared_with_ours_of_no_larger_error() -> None:
    ours = [Row("linkwright time loop", "", "m", "run", ns=ns, accuracy=error) for ns, error in ((1.0, 1e-6), (2.0, 1e-9), (4.0, 1e-12))]
    theirs = [Row("other", "", "m", "run", ns=100.0, accuracy=error) for error in (1e-3, 1e-9, 5e-10, 1e-14)]
    assert [r.ratio for r in table.with_ratios([*ours, *theirs])] == [None, None, None, 100.0, 50.0, 25.0, None]


def test_the_command_adds_whole_runs_or_does_only_them(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = argparse.ArgumentParser()
    command.add_options(parser.add_subparsers())
    given = [parser.parse_args(["bench", *words]).runs for words in ([], ["--runs"], ["--runs", "only"])]
    assert given == [None, "too", "only"]
    asked: list[tuple[Any, ...]] = []

    def rows(turns: Any, shop: Any, rounds: int, quick: bool, say: Any) -> list[Row]:
        asked.append((shop, rounds, quick))
        return [Row("linkwright time loop", "", "m", "run", ns=1.0)]

    monkeypatch.setattr(runs, "rows", rows)
    assert [r.quantity for r in speed.run(quick=True, runs="only")] == ["run"]
    assert asked == [(None, speed.QUICK_ROUNDS, True)]
