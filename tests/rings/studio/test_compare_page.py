"""The page of two designs: the values between them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UsageError
from linkwright.model.file.value_fitting import flat, missed
from linkwright.model.parameters import every_parameter, with_values
from linkwright.rings.studio import compare_page
from linkwright.rings.studio.compare_page import values_between
from tests.refusals import refused


def test_values_make_the_second_design_of_the_first_one() -> None:
    """A center, a mass and a length that follow from pins that moved as well."""
    m = lw.load("wiper")
    names = ["rocker.com.x", "crank.length", "C.x", "rocker.mass", "C.y"]
    best = m.with_(**{"C.x": 0.86, "C.y": 0.7}).with_(**{"crank.length": 0.31, "rocker.mass": 0.9, "rocker.com.x": 0.35})
    values = values_between(m.description, best.description, names)
    assert list(values) == names and values["C.x"] == 0.86
    known = every_parameter(m.description)
    made = with_values(m.description, [known[n] for n in names], list(values.values()))
    assert not [k for k in missed(flat(made), flat(best.description.numbers()), 1e-12) if k[0] != "parameters"]
    assert made.body("rocker").com[0] == pytest.approx(0.35, rel=1e-12)


def test_designs_that_differ_in_more_are_refused(tmp_path: Path) -> None:
    m = lw.load("wiper")
    best = m.with_(**{"C.x": 0.86, "crank.mass": 0.2})
    with refused(UsageError, name="names"):
        compare_page.write(m, best, tmp_path / "x.html", names=["C.x"])
    with refused(UsageError, name="names"):
        compare_page.write(m, best, tmp_path / "x.html", names=["Q"])
    with refused(UsageError, name="names"):
        compare_page.write(m, best, tmp_path / "x.html", names=[])
    with refused(UsageError, name="after"):
        compare_page.write(m, {"C.x": 0.86}, tmp_path / "x.html", names=["C.x"])
    with refused(LinkwrightError, file="x.txt"):
        compare_page.write(m, best, tmp_path / "x.txt", names=["C.x", "crank.mass"])
    assert not list(tmp_path.iterdir())


def test_another_mechanism_is_refused(tmp_path: Path) -> None:
    with refused(UsageError, name="names"):
        compare_page.write(lw.load("wiper"), lw.load("boot-lid"), tmp_path / "x.html", names=["C.x"])
