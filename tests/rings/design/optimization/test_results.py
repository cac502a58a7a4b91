"""Results of an optimization: the user's own file, the command, pages and plots, and what is said of wrong calls."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.refusals import refused
from tests.rings.design.optimization.models import ARM, SLIDER_CRANK

FILE = """# A press drive.   Numbers of the workshop.
name: drive
plane: xy
units: [mm, kg, deg, rpm]
parameters:
  r: {value: 40 mm, min: 20 mm, max: 8 cm}   # crank
  rod: 20 cm                                  # as bought
drawing: {A: [0, 0], B: [0, r], C: ["sqrt(rod^2 - r^2)", 0]}
bodies:
  ground: {pins: [A]}
  crank: {pins: [A, B], mass: 0.2}
  rod: {pins: [B, C], mass: 0.5}
  slider: {pins: [C], mass: 1.0}
joints:
  guide: {type: prismatic, between: [ground, slider], at: C, axis: [1, 0]}
drive: {A: 300 rpm}   # geared motor
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("optimize") / "drive.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(model: Path) -> lw.OptimizationResult:
    return lw.load(model).optimize("min rms A.torque", {"r": None, "rod": "150..250 mm"}, "range guide = 100 mm", count=32, starts=2)


def test_the_file_gets_new_numbers_and_nothing_else(found: lw.OptimizationResult, model: Path, tmp_path: Path) -> None:
    before, after = FILE.splitlines(), found.text.splitlines()
    changed = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert changed == [5, 6]  # r and rod, with their comments and units
    assert after[5].startswith("  r: {value: 50 mm, min: 20 mm, max: 8 cm}") and "# crank" in after[5]
    assert "cm" in after[6] and after[6].endswith("# as bought")
    assert model.read_text(encoding="utf-8") == FILE
    best = lw.load(found.mechanism.save(tmp_path / "best.yaml"))
    assert (tmp_path / "best.yaml").read_text(encoding="utf-8") == found.text
    assert abs(best.cycle().measure("range guide") - 0.1) < 1e-9
    with refused(lw.UsageError, file="best.yaml"):
        found.mechanism.save(tmp_path / "best.yaml")
    with refused(lw.UsageError, file="best.yaml"):
        found.save(tmp_path / "best.yaml")


def test_the_mechanism_is_the_one_that_was_found(found: lw.OptimizationResult) -> None:
    assert abs(found.mechanism.cycle().measure("rms A.torque") / found.value - 1.0) < 1e-9
    assert found.table().rows[0][0] == "min rms A.torque" and found.table().rows[1][4] in ("binds", "holds")
    assert "KKT residual" in str(found) and found.as_dict()["numbers"]["r"] == pytest.approx(0.05)


def test_a_residual_that_is_not_small_is_no_local_optimum(found: lw.OptimizationResult) -> None:
    sure = found.certificate
    assert sure is not None and sure.kkt < 1e-6 and "not certified" not in str(found)
    alone = replace(found, certificate=replace(sure, kkt=1.0, starts=1))
    assert "KKT residual 1.0e+00: not certified as a local optimum; one start" in str(alone) and "a local optimum\n" not in str(alone)


def test_pictures_and_pages(found: lw.OptimizationResult, tmp_path: Path) -> None:
    assert len(found.plot().axes) == 2  # torque and travel
    page = found.show(tmp_path / "compare.html")
    assert "Before" in page.read_text(encoding="utf-8")


def test_the_command(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimize", str(model), "--goal", "min rms A.torque", "--vary", "r", "--vary", "rod=150..250 mm"]
    words += ["--require", "range guide = 100 mm"]
    best = tmp_path / "best.yaml"
    assert cli.main([*words, "--count", "32", "--starts", "2", "-o", str(best), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["feasible"] and data["numbers"]["r"] == pytest.approx(0.05, abs=1e-9)
    assert "# crank" in best.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_command_without_a_feasible_design_fails(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["optimize", str(model), "--goal", "min rms A.torque", "--vary", "r", "--require", "range guide > 200 mm"]
    assert cli.main([*words, "--count", "16", "--starts", "1"]) == 1
    shown = capsys.readouterr().out
    assert "no design meets all constraints" in shown and "'range guide > 200 mm' by 40 mm" in shown and "bounds of r" in shown


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"goal": "min rms A.torqe"}, "A.torque"),
        ({"goal": "min A.torque"}, "is a curve"),
        ({"goal": []}, "goal is what to make best"),
        ({"goal": 3}, "a goal is a text"),
        ({"goal": "min rod"}, "does not vary"),
        ({"vary": {"rods": "1..2 m"}}, "Did you mean 'rod"),
        ({"vary": {"rod": None}}, "has no bounds"),
        ({"vary": {"rod": "250 mm"}}, "is not a range"),
        ({"vary": {"rod": "2..1 m"}}, "is empty"),
        ({"vary": {"r": "100..200 mm"}}, "is empty"),
        ({"vary": {"drive.A": "1..2"}}, "not a parameter of the mechanism"),
        ({"vary": {}}, "vary names the numbers"),
        ({"require": "guide < 3"}, "write the unit"),
        ({"require": "guide < 3 N"}, "is length"),
        ({"require": "max A.torque + max C.load < 3 N m"}, "max C.load is force"),
        ({"require": ["range guide = 1 mm", "stroke guide = 1 mm"]}, "cannot be met by 1 number"),
        ({"require": ["C.transmission_angle > 50 deg", "C.transmission_angle < 40 deg"]}, "exclude each other"),
        ({"search": "magic"}, "Known: sobol"),
        ({"solver": "magic"}, "Known: slsqp"),
        ({"starts": 0}, "at least 1"),
        ({"case": "settle"}, "an equilibrium has no exact gradients"),
    ],
)
def test_wrong_calls(call: dict[str, Any], said: str) -> None:
    good: dict[str, Any] = {"goal": "min rms A.torque", "vary": {"r": None}, "require": (), "count": 8, "starts": 1}
    with pytest.raises(lw.LinkwrightError, match=said):
        lw.load(SLIDER_CRANK).optimize(**{**good, **call})


@pytest.mark.slow
def test_a_model_that_does_not_turn_fully_is_closed_first() -> None:
    m = lw.load("four-bar", L1="0.9 m")  # longer than its ground link: it swings
    r = m.optimize(
        "max min C.transmission_angle", {"L1": "0.2..1 m", "L2": "0.6..1.4 m", "L3": "0.6..1.4 m"}, "full turn", count=64, starts=2
    )
    assert r.feasible and r.mechanism.cycle().full_turn and np.isnan(r.goals[0].before)
    # Grashof: the shortest and the longest link together are shorter than the other two
    lengths = sorted([*(r.numbers[name] for name in ("L1", "L2", "L3")), dict(m.description.numbers().parameters)["L4"]])
    assert lengths[0] + lengths[3] < lengths[1] + lengths[2]


def test_a_weighted_sum_lies_between_its_goals() -> None:
    m, vary = lw.load(SLIDER_CRANK), {"r": "30..60 mm", "rod": "150..250 mm"}
    best = m.optimize("min rms A.torque / 1 N m - range guide / 100 mm", vary, count=32, starts=2)
    both = m.optimize({"rms A.torque": 1.0, "range guide": -10.0}, vary, count=32, starts=2)
    assert np.allclose(list(best.numbers.values()), list(both.numbers.values()), rtol=1e-6)


@pytest.mark.slow
def test_numbers_of_the_model_are_goals() -> None:
    r = lw.load(SLIDER_CRANK).optimize("min mass", {"slider.mass": "0.5..2 kg", "r": None}, "max A.torque > 1 N m", count=32, starts=2)
    assert abs(r.value - 0.7 - r.numbers["slider.mass"]) < 1e-12 and r.limits[0].after > 1.0 - 1e-6
    arm = lw.load(ARM).optimize("min k", ["k"], "peak O.torque < 5 N m", case=lw.Cycle(speed=0, steps=45), count=16, starts=1)
    assert abs(arm.limits[0].after - 5.0) < 1e-8  # as soft as the torque allows
