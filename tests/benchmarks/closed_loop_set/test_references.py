"""Reference values again: quick ones in `make test`, all of them in `make check-slow`."""

from __future__ import annotations

import pytest

from benchmarks.closed_loop_set import DATA, cases
from benchmarks.closed_loop_set.references import __main__ as command
from benchmarks.closed_loop_set.references import makers, writing

QUICK = ("four-bars-2", "rssr-0", "five-poses", "timed-points", "straight-line", "3-rpr")


@pytest.mark.parametrize("name", QUICK)
def test_quick_cases_are_as_computed(name: str) -> None:
    """Data and values of the file, digit by digit."""
    assert writing.text(makers()[name]()) == (DATA / "cases" / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_all_cases_are_as_computed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    assert capsys.readouterr().out.count("as in the file") == len(makers())


def test_two_ways_that_differ_are_an_error() -> None:
    with pytest.raises(ArithmeticError, match="differ by"):
        writing.quantity("x", "m", 1.0, None, other=1.0 + 1e-10)


def test_uncertainties_are_those_of_the_digits() -> None:
    """Twelve digits at least, and values agree with their digits (the reader checks both)."""
    for c in cases.every():
        for task in c.tasks:
            assert all(q.uncertainty <= 1e-12 * q.scale for q in task.quantities)
