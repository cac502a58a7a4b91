"""Whole runs of other programs: errors fall with the step, missing programs give the reason."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks import casadi_code, pinocchio_run, run_peers, steppers
from benchmarks.bench.cases import BenchRow, Unavailable
from benchmarks.workshop import Workshop
from linkwright.integrators import INTEGRATORS
from tests.benchmarks.bench.samples import short


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
    offers = {r.engine: r for r in run_peers.offered(short(), shop, quick=True) if isinstance(r, BenchRow)}
    assert offers[run_peers.EXUDYN].note == "not measured: the package 'exudyn' is not installed"
    assert offers[run_peers.DRAKE].note == "not measured: the package 'drake' is not installed"
    assert "'mujoco' is not installed" in offers[run_peers.MUJOCO].note
    assert "ZeroDivisionError" in offers[pinocchio_run.ENGINE].note
    assert "'casadi' is not installed" in offers[pinocchio_run.GENERATED].note


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
