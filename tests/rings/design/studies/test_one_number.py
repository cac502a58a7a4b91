"""One phrase is one number in every verb: measure, cycles, study, tolerances, optimize, report, tables, command line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings.cli.dispatch import main
from linkwright.rings.design.drive_duty import efforts
from linkwright.rings.studio.report_measures import read
from tests.rings.design.studies.models import SLIDER
from tests.sweeps import sweep

# a polynomial of degree 8 through samples 1 deg apart: below 1e-9 of these curves
SAME = 2e-7
EQUAL = 1e-12  # of the same samples: verbs differ by the order in which sums are taken
COARSE = 2e-3  # 36 samples of a cycle: the polynomial spans 80 deg, and curves with sharp tops are that far off
SHARP = ("min J1.torque",)  # a spike near a dead center, 1 deg wide: more samples find more of it

TABLE: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "wiper": ("wiper", "crank.mass", ("peak A.torque", "max A.power", "range rocker.angle", "stroke D", "rms C.load", "peak C.on.rocker")),
    "carpet-scraper": ("carpet-scraper", "crank.mass", ("peak J1.torque", "min J1.torque", "range arm.angle", "rms J1.power")),
    "slider": (SLIDER, "rod.mass", ("peak A.torque", "max piston.C.x", "min piston.C.ax", "stroke slide", "range slide while 20..140 deg")),
    "stewart": ("stewart", "platform.mass", ("peak leg1.force", "range platform.C.z")),
}


def numbers(given: Any, vary: str, phrases: tuple[str, ...], steps: int) -> dict[str, dict[str, float]]:
    """Every phrase in every verb, by phrase and verb."""
    m, case = lw.load(given), lw.Cycle(steps=steps)
    body = m.description.numbers().body(vary.split(".")[0])
    mass = float(body.mass)
    c = m.cycle(steps=steps)
    cycles = m.cycles({vary: [mass, 1.1 * mass]}, steps=steps)
    study = lw.study(m, {vary: [mass, 1.1 * mass]}, list(phrases), case)
    linear = m.tolerances([vary], [lw.Measure.parse(p) for p in phrases], case=case)
    corners = m.tolerances({vary: "1 %"}, list(phrases), method="corners", case=case)
    out = {}
    for phrase in phrases:
        best = m.optimize(f"min {phrase}", {vary: (mass, 1.1 * mass)}, search="none", starts=1, case=case)
        out[phrase] = {
            "measure": float(c.measure(phrase)),
            "object": float(c.measure(lw.Measure.parse(phrase))),
            "cycles": float(cycles.measure(phrase)[0]),
            "study": float(study[phrase][0]),
            "linear": linear[phrase].nominal,
            "corners": corners[phrase].nominal,
            "optimize": best.goals[0].before,
            "report": float(read(c, phrase, ())[1]),
        }
    return out


@sweep("name", [*TABLE], now=["wiper", "slider"])
@pytest.mark.parametrize("steps", [36, 360])
def test_every_verb_gives_the_same_number(name: str, steps: int) -> None:
    model, vary, phrases = TABLE[name]
    for phrase, found in numbers(model, vary, phrases, steps).items():
        assert found == pytest.approx(dict.fromkeys(found, found["measure"]), rel=EQUAL), (phrase, found)


@sweep("name", [*TABLE], now=["wiper", "slider"])
def test_coarse_samples_give_nearly_the_same_number(name: str) -> None:
    model, _, phrases = TABLE[name]
    m, close = lw.load(model), SAME if name in ("wiper", "slider") else COARSE  # the others have tops that are sharper
    fine, middle, coarse = (m.cycle(steps=n) for n in (360, 97, 36))
    for phrase in phrases:
        value, found = float(fine.measure(phrase)), coarse.measure(phrase)
        if phrase in SHARP:
            assert abs(found - value) < 0.02 * abs(value)
            continue
        assert float(found) == pytest.approx(value, rel=COARSE), phrase
        if "while" not in phrase:  # ends of a window are joined by lines to their samples
            assert float(middle.measure(phrase)) == pytest.approx(value, rel=close), phrase


def test_the_command_line_and_tables_print_the_same_number(capsys: pytest.CaptureFixture[str]) -> None:
    phrases = TABLE["wiper"][2]
    c = lw.load("wiper").cycle()
    assert main(["cycle", "wiper", "--json", *(x for p in phrases for x in ("--measure", p))]) == 0
    printed = {x["name"]: x for x in json.loads(capsys.readouterr().out)["measures"]}
    for phrase in phrases:
        value = c.measure(phrase)
        assert printed[phrase]["value"] == pytest.approx(value, rel=SAME) and printed[phrase]["grows_without_bound"] is None
    for phrase in ("peak A.torque", "max A.power", "range rocker.angle"):
        assert c.measure(phrase).error <= 1e-9 * abs(c.measure(phrase))
    assert abs(efforts(c)["A"].peak) == pytest.approx(c.measure("peak A.torque"), rel=SAME)  # the table of `linkwright cycle`


def test_optimize_ends_with_the_same_number() -> None:
    m = lw.load("wiper")
    best = m.optimize("min peak A.torque", {"crank.mass": "0.1..0.5"}, count=8, starts=1, case=lw.Cycle(steps=60))
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
