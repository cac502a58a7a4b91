"""Reference values again: quick ones in `make test`, all of them in `make check-slow`."""

from __future__ import annotations

import mpmath as mp
import pytest

from benchmarks.closed_loop_set import DATA, cases
from benchmarks.closed_loop_set.references import __main__ as command
from benchmarks.closed_loop_set.references import makers, writing
from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative

QUICK = ("four-bars-2", "rssr-0", "five-poses", "timed-points", "straight-line", "3-rpr")


@pytest.mark.parametrize("name", QUICK)
def test_quick_cases_are_as_computed(name: str) -> None:
    """Data and values of the file, digit by digit."""
    assert writing.text(makers()[name]()) == (DATA / "cases" / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "joint"), [("andrews", "O"), ("bricard", "P0"), ("spatial-slider-crank", "A")])
def test_accelerations_of_the_file_in_absolute_coordinates(name: str, joint: str) -> None:
    """Newton and Euler from the file alone, in extended precision; doubles of the file leave 1e-14."""
    case = cases.named(name)
    own = Absolute(case.raw)
    value = case.task("start").quantities[0].value
    assert abs(float(own.acceleration(own.start(), joint)) - value) < 1e-13 * abs(value)


def test_quadrature_of_a_pendulum() -> None:
    """Swing from rest at 1 rad: a quarter of the period is K(sin(1/2)^2), the angle then zero."""
    with mp.workdps(30):
        model = Conservative(lambda s: mp.mpf(1), lambda s: -mp.cos(s), 1, 0)
        angle, sign = model.swinging(5 * mp.ellipk(mp.sin(mp.mpf(1) / 2) ** 2), mp.mpf(-1), 6)
        assert abs(angle) < 1e-17 and sign == -1
        assert abs(model.acceleration(mp.mpf(1) / 2, 0) + mp.sin(mp.mpf(1) / 2)) < 1e-17


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
