"""One phrase is one number in every verb: measure, turns, study, tolerances, sensitivity, optimize, report, tables, command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.cli.dispatch import main
from linkwright.rings.design.drive_duty import efforts
from linkwright.rings.studio.report_measures import read

# a polynomial of degree 8 through samples 1 deg apart: below 1e-9 of these curves; sensitivity takes 72 samples and a golden section
SAME = 2e-7


@pytest.mark.parametrize(("name", "vary", "phrases"), [("wiper", "crank.mass", ("peak A.torque", "max A.power", "range rocker.angle"))])
def test_every_verb_gives_the_same_number(name: str, vary: str, phrases: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    m = lw.load(name)
    c, mass = m.cycle(), m.description.numbers().body(vary.split(".")[0]).mass
    turns = m.cycles({vary: [mass, 1.1 * mass]})
    study = lw.study(m, {vary: [mass, 1.1 * mass]}, list(phrases))
    tolerances = m.tolerances({vary: "+- 1 %"}, list(phrases), count=2)
    assert main(["cycle", name, "--json", *(x for p in phrases for x in ("--measure", p))]) == 0
    printed = {x["name"]: x for x in json.loads(capsys.readouterr().out)["measures"]}
    for phrase in phrases:
        value = c.measure(phrase)
        assert value.error <= 1e-9 * abs(value)
        found = {
            "steps": m.cycle(steps=97).measure(phrase),
            "turns": turns.measure(phrase)[0],
            "study": study[phrase][0],
            "tolerances": tolerances[phrase].nominal,
            "sensitivity": m.sensitivity(phrase, parameters=[vary]).value,
            "report": read(c, phrase, ())[1],
            "command line": printed[phrase]["value"],
        }
        assert found == pytest.approx(dict.fromkeys(found, float(value)), rel=SAME), phrase
        assert printed[phrase]["grows_without_bound"] is None
    assert abs(efforts(c)["A"].peak) == pytest.approx(c.measure("peak A.torque"), rel=SAME)  # the table of `linkwright cycle`


def test_optimize_begins_with_the_same_number() -> None:
    m = lw.load("wiper")
    best = m.optimize("min peak A.torque", {"crank.mass": "0.1..0.5"}, count=8, starts=1, of=lw.Cycle(steps=60))
    (goal,) = best.goals
    assert goal.before == pytest.approx(m.cycle(steps=60).measure("peak A.torque"), rel=1e-9)
    assert goal.after == pytest.approx(best.mechanism.cycle(steps=60).measure("peak A.torque"), rel=1e-9)


def test_info_and_balance_look_between_samples_too() -> None:
    """The pressure angle is 90 deg less the transmission angle where it is largest; peaks of 24 and of 360 samples agree."""
    info = lw.load("wiper").info()
    for angle in info.pressure_angles:
        least = next(r for r in info.transmission_angles if r.name == angle.name)
        assert angle.high == pytest.approx(0.5 * np.pi - least.low, abs=1e-6)
    coarse, fine = (lw.load("wiper").balance(steps=n).norms["force"]["peak_before"] for n in (72, 360))
    assert coarse == pytest.approx(fine, rel=1e-6)
