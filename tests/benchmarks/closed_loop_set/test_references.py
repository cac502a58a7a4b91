"""Reference values again: quick ones in `make test`, all of them in `make test-all`."""

from __future__ import annotations

from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest

from benchmarks.closed_loop_set import DATA, cases
from benchmarks.closed_loop_set.references import __main__ as command
from benchmarks.closed_loop_set.references import makers, nine_points, scraper_energy, scrapers, synthesis, three_rrr, writing
from benchmarks.closed_loop_set.references.absolute import Absolute
from benchmarks.closed_loop_set.references.one_degree import Conservative
from tests.sweeps import sweep

QUICK = ("four-bars-2", "rssr-0", "five-poses", "timed-points", "straight-line", "3-rpr")


@sweep("name", QUICK, now=["rssr-0", "five-poses"])
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


def test_uncertainties_are_not_below_the_digits() -> None:
    """An uncertainty below half of the last digit would be a claim that the file does not hold; exact numbers are those of doubles."""
    for c in cases.every():
        for task in c.tasks:
            for q in task.quantities:
                last = Decimal(q.digits).as_tuple().exponent
                exact = q.uncertainty == 0.0 and Decimal(q.digits) == Decimal(q.value)
                assert exact or q.uncertainty >= 0.4 * 10.0 ** int(last), f"{c.name}, {task.id}, {q.name}: {q.digits} +- {q.uncertainty:g}"


def test_damping_in_absolute_coordinates() -> None:
    """The robot with motors at speeds of its cranks, against the equations in the plane; doubles of the file leave 1e-13."""
    made = three_rrr.hoang()
    with mp.workdps(30):
        x = three_rrr.start_hoang(made)
        v = made.speeds(x, [mp.mpf(1), mp.mpf("-0.5"), mp.mpf("0.25")])
        a = made.forward(x, v)[0]
    own = Absolute(cases.named("3-rrr-motors").raw)
    n, zero = len(made.links), mp.mpf(0)
    moving = own.moving(
        own.center[:-1], [np.eye(3)] * n, [[v[3 * k], v[3 * k + 1], zero] for k in range(n)], [[zero, zero, v[3 * k + 2]] for k in range(n)]
    )
    for k in range(3):
        assert float(own.acceleration(moving, f"A{k + 1}")) == pytest.approx(float(a[3 * k + 2]), rel=1e-12)
    driven = {f"A{k + 1}": float(a[3 * k + 2]) for k in range(3)}
    for k, torque in enumerate((50.0, -50.0, 50.0)):  # without the torques, with damping
        assert float(own.effort(moving, driven, f"A{k + 1}")) == pytest.approx(torque, rel=1e-11)


def test_the_scraper_in_closed_form() -> None:
    """Places, inertia and potential at an angle against Newton's method on all pins."""
    with mp.workdps(25):
        made = scrapers.koul()
        x = made.assembled([mp.mpf(1)], made.assembled([mp.mpf("0.5")], scrapers.at(made, 0, "1")[0]))
        found = scraper_energy.places(made, mp.mpf(1))
        assert abs(found["T"][0] - made.at(x, "tool", "T")) < 1e-20
        assert abs(scraper_energy.inertia(made, mp.mpf(1)) - made.reduced(x)[0, 0]) < 1e-20
        assert abs(scraper_energy.potential(made, mp.mpf(1)) - made.potential(x)) < 1e-20


def test_classes_of_nine_points_are_different_and_all_there() -> None:
    """Linkages of the file, without refinement: one less, or one twice in place of another, is an error."""
    listed = [{name: mp.mpc(z) for name, z in pins.items()} | {"P": mp.mpc(*synthesis.NINE[0])} for pins in synthesis.starts()]
    nine_points.all_different(listed, synthesis.CLASSES)
    for wrong, said in ((listed[1:], "63 classes"), ([*listed[1:], listed[5]], "are 0.0 m apart")):
        with pytest.raises(ArithmeticError, match=said):
            nine_points.all_different(wrong, synthesis.CLASSES)
