"""`linkwright time-optimal`, `identify` and `calibrate`: as their Python functions, JSON as documented, files where asked for, messages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.rings import cli
from tests.rings.cli.schemas import disagreements

TIP = ["--path", "left_rod.C=60 240, 140 220"]
TORQUE = ["--limit", "*.torque=1.5 N m", "--steps", "60"]


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the five-bar, at torques without noise."""
    m, path = lw.load("five-bar"), tmp_path_factory.mktemp("data") / "run.csv"
    c = m.follow({"A": "1.6 rad + 0.5 rad * sin(4 rad/s * t)", "E": "1.5 rad + 0.4 rad * sin(7 rad/s * t)"}, duration=2.0, steps=160)
    c.save(path, channels=["t", "A", "E", "A.v", "E.v", "A.a", "E.a", "A.torque", "E.torque"])
    return path


@pytest.fixture(scope="module")
def poses_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tips of a five-bar whose left link is 0.5 mm longer, the encoder of A 0.01 rad ahead."""
    true, path = lw.load("five-bar").with_(**{"left.length": 0.0805}).system, tmp_path_factory.mktemp("data") / "poses.csv"
    A, E = np.meshgrid(np.linspace(1.0, 2.0, 4), np.linspace(1.0, 2.0, 4))
    places = list(zip(A.ravel(), E.ravel(), strict=True))
    rows = [(a + 0.01, e, *true.point(true.assemble({"A": a, "E": e}), "left_rod.C")[:2] * 1e3) for a, e in places]
    np.savetxt(path, rows, delimiter=",", header="enc,E [rad],left_rod.C.x [mm],left_rod.C.y [mm]", comments="", fmt="%.15g")
    return path


def test_the_fastest_motion_is_that_of_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, plot = tmp_path / "motion.csv", tmp_path / "motion.png"
    assert cli.main(["time-optimal", "five-bar", *TIP, *TORQUE, "--channels", "A,A.torque", "-o", str(out), "--plot", str(plot)]) == 0
    text = capsys.readouterr().out
    m = lw.load("five-bar")
    there = m.time_optimal({"left_rod.C": lw.control.polyline([(0.06, 0.24), (0.14, 0.22)])}, {"*.torque": "1.5 N m"}, steps=60)
    assert f"fastest: {there.time:.6g} s" in text and "E.torque" in text
    data = np.loadtxt(out, delimiter=",", skiprows=1)
    assert out.read_text(encoding="utf-8").startswith('"t [s]","A [deg]","A.torque [N m]"')
    assert data[-1, 0] == pytest.approx(there.time, rel=1e-6)
    assert plot.stat().st_size > 10_000


def test_json_of_a_smooth_motion_of_two_joints_is_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["--path", "A=100, 80", "--path", "E=80 deg, 1.2 rad", "--limit", "A.torque=-1 N m..1.5 N m", "--limit", "E.v=60 rpm"]
    assert cli.main(["time-optimal", "five-bar", *call, "--law", "septic", "--steps", "40", "--channels", "A", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("time-optimal", data) == [] and data["ok"] and {x["name"] for x in data["limits"]} == {"A.torque", "E.v"}
    assert np.degrees(data["channels"]["A"]["values"])[[0, -1]] == pytest.approx([100, 80])


def test_paths_from_files_and_splines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A spline through places of a straight line at other distances is that line."""
    path = tmp_path / "line.csv"
    path.write_text("x [mm],y [m]\n60,0.24\n90,0.2325\n110,0.2275\n140,0.22\n", encoding="utf-8")
    times = []
    for more in (TIP, ["--path", f"left_rod.C={path}", "--spline"]):
        assert cli.main(["time-optimal", "five-bar", *more, *TORQUE, "--json"]) == 0
        times.append(json.loads(capsys.readouterr().out)["time"])
    assert times[1] == pytest.approx(times[0], rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--path", "left_rod.X=1 2, 3 4"], "no joint, cylinder or point 'left_rod.X'. Did you mean"),
        (["--path", "left_rod.C=60 240"], "two or more places"),
        (["--path", "left_rod.C=60, 240"], "not a place of 2 numbers"),
        (["--path", "left_rod.C=60 240, 900 900"], "s = "),
        (["--path", "left_rod.C=60 240, 60 240", "--spline"], "are the same"),
        ([*TIP, *TIP], "there twice"),
        ([*TIP, "--rounding", "5 mm", "--spline"], "--rounding"),
        ([*TIP, "--limit", "A.torqe=1 N m"], "A.torqe"),
    ],
)
def test_wrong_paths_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["time-optimal", "five-bar", *arguments, *TORQUE]) == 1
    assert message in capsys.readouterr().err


def test_masses_are_identified_from_a_file(run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without noise the torques of the identified model are those of the machine (1e-4 of 1 N m: the prior)."""
    out = tmp_path / "identified.yaml"
    call = ["identify", "five-bar", str(run_file), "--noise", "A=1 N mm", "--noise", "E=1 N mm", "--friction", "A=viscous", "-o", str(out)]
    assert cli.main([*call, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("identify", data) == []
    assert len(data["base"]) == 12 and max(data["residual"].values()) < 1e-4 and abs(data["values"]["A.viscous"]) < 1e-4
    assert lw.load(out).system.mobility.freedoms == 2


def test_geometry_is_calibrated_from_a_file(poses_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "calibrated.yaml"
    call = ["calibrate", "five-bar", str(poses_file), "--vary", "left.length", "--offsets", "A", "--column", "A=enc", "-o", str(out)]
    assert cli.main(call) == 0
    assert "0.0805" in capsys.readouterr().out
    assert np.linalg.norm(np.subtract(*(p.at for p in lw.load(out).description.body("left").points[:2]))) == pytest.approx(0.0805, abs=1e-9)
    assert cli.main([*call[:-2], "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert disagreements("calibrate", data) == []
    assert {x["name"]: x["value"] for x in data["values"]} == pytest.approx({"left.length": 0.0805, "offset A": 0.01}, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["identify", "five-bar", "none.csv"], "none.csv"),
        (["identify", "five-bar", "{run}", "--friction", "X"], "no joint 'X'"),
        (["identify", "five-bar", "{run}", "--friction", "*", "--friction", "A"], "Give it alone"),
        (["identify", "five-bar", "{run}", "--noise", "A=1 N mm"], "E is missing"),
        (["calibrate", "five-bar", "{run}", "--vary", "left.lenght"], "left.lenght"),
        (["calibrate", "five-bar", "{run}", "--vary", "left.length"], "column 'A.v' is not a joint"),
        (["calibrate", "five-bar", "{poses}", "--vary", "left.length", "--offsets", "X", "--column", "A=enc"], "not a measured encoder"),
        (["calibrate", "five-bar", "{poses}", "--vary", "left.length"], "column 'enc' is not a joint"),
    ],
)
def test_wrong_measurements_are_named(
    run_file: Path, poses_file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([x.format(run=run_file, poses=poses_file) for x in arguments]) == 1
    assert message in capsys.readouterr().err
