"""Revolutions per time mean the same wherever a speed of rotation is read: 3000 1/min, 50 Hz and 3000 rpm."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.model import file as modelfile
from linkwright.model.edits.drawing_draft import read_draft
from linkwright.model.edits.edit_sheet import EditSheet
from linkwright.rings.cli import main
from linkwright.rings.design.optimization.requirements import requirements
from linkwright.rings.robots.workspace import workspace
from linkwright.rings.studio.editor.drawing import drawing_json
from tests.refusals import refused

REVOLUTIONS = ("3000 1/min", "3000 min^-1", "50 Hz", "50 rev/s")
WANTED = pytest.approx(100.0 * math.pi, rel=1e-12)  # rad/s
CRANK = """\
name: sewing
plane: xy
units: [mm, kg, deg, rpm]
parameters: {n: 60 rpm}
drawing: {A: [0, 0], B: [0, 40], C: [0, 180]}
bodies:
  ground: {pins: [A]}
  crank: {pins: [A, B]}
  rod: {pins: [B, C]}
  needle: {pins: [C]}
joints:
  guide: {type: prismatic, between: [ground, needle], at: C, axis: [0, 1]}
drive: {A: SPEED}
"""


def model(folder: Path, speed: str) -> Any:
    path = folder / "crank.yaml"
    path.write_text(CRANK.replace("SPEED", speed))
    return lw.load(path)


@pytest.mark.parametrize("speed", REVOLUTIONS)
def test_a_speed_means_the_same_in_file_calls_command_line_editor_and_study(speed, tmp_path, capsys):
    text = CRANK.replace("SPEED", speed)
    assert model(tmp_path, speed).cycle(steps=4)["A.v"][0] == WANTED
    sheet = EditSheet(text, "crank.yaml")
    assert drawing_json(sheet, read_draft(sheet), None)["drives"][0]["value"] == WANTED
    slow = model(tmp_path, "n")
    assert slow.cycle(steps=4, speed=speed)["A.v"][0] == WANTED
    assert slow.with_(n=speed).cycle(steps=4)["A.v"][0] == WANTED
    assert dict(slow.with_(start={"A.v": speed}).description.start)["A.v"] == WANTED
    found = lw.study(slow, {"n": [speed]}, "max A.v", case=lw.Cycle(steps=4))
    assert found["max A.v"][0] == WANTED
    assert main(["cycle", str(tmp_path / "crank.yaml"), "--speed", speed, "--steps", "4", "--measure", "max A.v", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measures"][0]["value"] == WANTED


def test_results_are_measured_in_revolutions_too(tmp_path):
    c = model(tmp_path, "3000 rpm").cycle(steps=4)
    assert c._channel("A.v").size_of("Hz") == pytest.approx(2.0 * math.pi, rel=1e-15)
    found = requirements(c, ["max A.v < 51 Hz", "max A.v > 2999 1/min", "max A.v < 49 Hz", "max A < 460 deg while A.v > 49 Hz"])
    assert [r.met for r in found.rows] == [True, True, False, True]
    assert found.rows[0].value == pytest.approx(50.0, rel=1e-12)
    for text in ("max A.v < 50 1/s", "max A while A.v > 50 1/s", "max A.torque < 5 J"):
        with pytest.raises(lw.LinkwrightError):
            requirements(c, [text])


def test_an_edit_keeps_the_unit_of_a_speed(tmp_path):
    """Another value in the place of 60 1/min is written in 1/min."""
    m = model(tmp_path, "60 1/min")
    text = modelfile.edited(m.description, {"drive.A": 100.0 * math.pi})
    assert "drive: {A: 3000 1/min}" in text


@pytest.mark.parametrize("unit", ["N m/Hz", "N m min"])
def test_a_damping_by_revolutions_is_in_doubt(tmp_path, unit):
    """2 N m/Hz was read as 2 N m s/rad; by revolutions it is 6.28 times less."""
    path = tmp_path / "crank.yaml"
    path.write_text(CRANK.replace("SPEED", "60 rpm") + f"dampers: {{d: {{joint: A, coefficient: 2 {unit}}}}}\n")
    with refused(lw.ModelError, line=14):
        lw.load(path)
    path.write_text(CRANK.replace("SPEED", "60 rpm") + f"dampers: {{d: {{joint: A, coefficient: 2 {unit}/rev}}}}\n")
    scale = 1.0 if unit == "N m/Hz" else 60.0
    assert lw.load(path).description.dampers[0].coefficient == pytest.approx(scale / math.pi, rel=1e-12)


def test_a_motor_constant_by_revolutions_is_in_doubt():
    with refused(lw.UsageError, name="0.1 V/Hz"):
        lw.drives.dc_motor(Kt="0.1 V/Hz", R="1 ohm")
    assert lw.drives.dc_motor(Kt="1 V/rpm", R="1 ohm").Kt == pytest.approx(30.0 / math.pi, rel=1e-12)


OVER_A_FREQUENCY = [
    "1 N*(A.v/(1 Hz))", "1 N*min(1, A.v/(1 1/min))", "1 N*((1 1/min)/A.v)", "1 N*A.v/(1 Hz)", "1 N*(1 Hz)/A.v", "1 N*A.v*(1/(1 Hz))",
    "1 N*A.v*A.v/(1 Hz)^2", "1 N*A.v/n2",
]  # fmt: skip


@pytest.mark.parametrize("formula", OVER_A_FREQUENCY)
def test_an_angular_speed_over_a_frequency_is_in_doubt(tmp_path, formula):
    path = tmp_path / "crank.yaml"
    text = CRANK.replace("SPEED", "60 rpm").replace("n: 60 rpm", "n: 60 rpm, n2: 3 1/s")
    path.write_text(f'{text}loads: {{l: {{on: needle.C, force: [0, "{formula}"]}}}}\n')
    with refused(lw.ModelError, line=14):
        lw.load(path)


@pytest.mark.parametrize("formula", ["1 N*A.v/(1 rev/s)", "1 N*A.v*(1 s)/(1 rad)", "2 N*sin(A.v*t)", "1 N/s*A.v/(1 rad/s^2)*(2 Hz)*(1 s)"])
def test_speeds_over_speeds_and_times_are_plain(tmp_path, formula):
    path = tmp_path / "crank.yaml"
    path.write_text(CRANK.replace("SPEED", "60 rpm") + f'loads: {{l: {{on: needle.C, force: [0, "{formula}"]}}}}\n')
    assert lw.load(path).description.loads


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: lw.compile(m).assemble({"A": x}),
        lambda m, x: lw.compile(m).assemble({"A": 1.0}, guess={"C": x}),
        lambda m, x: lw.compile(m).branches({"A": x}),
        lambda m, x: m.cycle(start=0, stop=x),
        lambda m, x: m.follow({"A": x}),
        lambda m, x: m.simulate("1 ms", control=lw.control.pd({"A": lw.control.setpoint(x)}, P=1.0, D=0.1)),
        lambda m, x: m.tolerances({"L1": "+- 1 mm"}, "range D", limits=(None, x), count=4),
        lambda m, x: lw.synthesize(dwell={"stroke": "60 mm", "dwell_angle": x}),
    ],
)
@pytest.mark.parametrize("angle", [90, "90"])
def test_a_whole_angle_above_a_revolution_without_a_unit_is_asked_for_with_both_readings(call, angle):
    """100 is more often meant in deg than in rad."""
    with pytest.raises(lw.UsageError, match=r"= 90 has no unit: it could mean '90 deg' \(1\.571 rad\) or '90 rad'\. Write one"):
        call(lw.load("four-bar"), angle)


def test_angles_that_count_revolutions_are_taken():
    s = lw.compile("four-bar")
    for given, wanted in ((90.0, 90.0), ("90 rad", 90.0), ("90 deg", math.pi / 2), (6, 6.0), (-3, -3.0)):
        assert s.assemble({"A": given})["A"] == pytest.approx(wanted, rel=1e-12)
    c = lw.load("four-bar").follow({"A": "10 rad/s*t"})  # passes 7 rad, 8 rad, ... exactly
    assert c["A"][-1] == pytest.approx(10.0, rel=1e-9)


def test_ends_of_an_axis_in_si_are_asked_for_as_other_angles_are():
    s = lw.compile(lw.load("four-bar"))
    with refused(lw.UsageError, name="over: 'A'"):
        workspace(s, {"A": (0, 90)}, "A.torque")
    with refused(lw.UsageError, name="over: 'A'"):
        workspace(s, {"A": (0, "90")}, "A.torque")
